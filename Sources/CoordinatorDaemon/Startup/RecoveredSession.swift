import DBus
import DBusValues
import EventLoops
import PresentationModel
import PresentationRecord
import PresentationRules
import Processes
import TextFormats

/// The bus, boot and clock of a starting navd, with which the record is compared (R2, R7).
struct StartupContext {
  /// The bus's id.
  let bus: String
  /// The boot's id.
  let boot: String
  /// The lead of the wall clock over the monotonic clock, in nanoseconds.
  let clock: Int64
  /// The names owned on the bus.
  let names: Set<String>

  /// Blocks until the bus has answered.
  init(_ connection: Connection) throws(DBusError) {
    let owned: [String]
    (bus, owned) = try connection.callAndWait(Bus.getID, Bus.listNames, on: Bus.name, at: Bus.path)
    names = Set(owned)
    boot = ProcessIdentity.bootIdentifier() ?? ""
    clock = Self.wallClockLead
  }

  /// The lead of the wall clock now.
  static var wallClockLead: Int64 {
    Instant(nanoseconds: UInt64(clamping: MonotonicInstant.now.nanoseconds)).lead(ofWallClock: WallClock.microseconds)
  }
}

/// The data that the previous navd recorded beside the state.
struct RecoveredSession {
  /// The data by which presenters find the items that they showed.
  let memories: [Handle: Properties]
  /// The part of a command's marker that is unique to the record; the handle is the other part.
  let token: String
  /// The names on the bus that belong to the same clients as in the record; empty on another bus.
  let names: Set<String>
  /// Whether process ids in the record are still valid.
  let isSameBoot: Bool
  /// Whether the record belongs to another session (R8).
  let isOfOtherSession: Bool
  /// True for the first navd of a session: the record is empty, or of an earlier session (K4).
  let isFirst: Bool
  let setAside: (path: String, reason: String)?
  /// The session data that this navd records.
  let session: Record.Session

  /// The id of the record, to which serials belong. The token itself is not for clients: it marks the commands of navd.
  var recordID: String {
    // FNV-1a.
    let hash = token.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return String(hash, radix: 16)
  }

  /// The clients that are no longer on the bus.
  func absent(of clients: Set<Client>) -> Set<Client> { clients.filter { !names.contains($0.name) } }
}

extension RecoveredSession {
  init(_ content: Record.Content, in context: StartupContext, _ lifetime: RuntimeDirectory.Lifetime) {
    let before = content.session
    isOfOtherSession = lifetime == .session && before.map { $0.bus != context.bus } ?? false
    isFirst = before?.bus != context.bus
    isSameBoot = before?.boot == context.boot
    memories = content.memories
    token = before?.token ?? String(UInt64.random(in: .min ... .max), radix: 36)
    names = before?.bus == context.bus ? context.names : []
    setAside = content.setAside
    session = Record.Session(
      bus: context.bus, boot: context.boot, clock: context.clock, token: token,
      hadAdapter: before?.bus == context.bus && before?.hadAdapter == true,
      windowsToShow: before?.bus == context.bus ? before?.windowsToShow ?? [:] : [:],
      began: before?.bus == context.bus ? before?.began ?? 0 : WallClock.microseconds / 1000)
  }
}

extension StateMachine {
  /// The state as it was when the previous navd ended.
  /// - Throws: `RecordFault` if the record contradicts itself.
  init(_ content: Record.Content, in context: StartupContext, limits: Limits) throws(RecordFault) {
    var state = content.state
    let before = content.session
    let isSameBoot = before?.boot == context.boot
    if let token = before?.token, !Self.isToken(token) {
      throw RecordFault("expected a token of letters and digits, found \(quoted(token))")
    }
    // The monotonic clock restarts at each boot; the wall clock tells how much time has passed.
    if let before, !isSameBoot { state = state.moved(from: before.clock, to: context.clock) }
    // The unreadable record may have used any lower number (R4).
    if content.setAside != nil {
      state.numbers.serial = Serial(WallClock.microseconds)
      state.numbers.lastHandle = Handle(WallClock.microseconds)
    }
    try self.init(limits: limits, restoring: state)
    if !isSameBoot || content.setAside != nil { noteAll() }
  }

  /// Whether a text can be a token, which is a part of the names of files and variables.
  private static func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 64 && text.utf8.allSatisfy { $0.isAlphanumeric }
  }
}
