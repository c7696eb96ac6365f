import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import PresentationRecord
import PresentationRules
import Processes

/// The bus, boot and clock of a starting navd, against which the record is read (R2, R7).
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
    bus = try connection.callAndWait(Bus.getID, on: Bus.name, at: Bus.path, ())
    names = Set(try connection.callAndWait(Bus.listNames, on: Bus.name, at: Bus.path, ()))
    boot = ProcessIdentity.bootIdentifier() ?? ""
    clock = Int64(clamping: Self.wallClock) * 1000 - MonotonicInstant.now.nanoseconds
  }

  /// The wall clock's time, in microseconds since 1970.
  static var wallClock: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return UInt64(clamping: time.tv_sec) * 1_000_000 + UInt64(clamping: time.tv_nsec / 1000)
  }
}

/// What the previous navd recorded beside the state.
struct RecoveredSession {
  /// Data with which presenters identify what they showed.
  let memories: [Handle: Properties]
  /// Identifies a command together with its handle.
  let token: String
  /// Names on the bus that mean the same clients as in the record; empty on another bus.
  let names: Set<String>
  /// Whether process ids in the record are still valid.
  let isSameBoot: Bool
  let setAside: (path: String, reason: String)?
  /// The session data that this navd records.
  let session: Record.Session

  /// The clients that are no longer on the bus.
  func left(of clients: Set<Client>) -> Set<Client> { clients.filter { !names.contains($0.name) } }
}

extension RecoveredSession {
  init(_ content: Record.Content, in context: StartupContext) {
    let before = content.session
    isSameBoot = before?.boot == context.boot
    memories = content.memories
    token = before?.token ?? String(UInt64.random(in: .min ... .max), radix: 36)
    names = before?.bus == context.bus ? context.names : []
    setAside = content.setAside
    session = Record.Session(
      bus: context.bus, boot: context.boot, clock: context.clock, token: token)
  }
}

extension StateMachine {
  /// The state as it was when the previous navd ended.
  /// - Throws: `RecordFault` if the record contradicts itself.
  init(_ content: Record.Content, in context: StartupContext, limits: Limits) throws(RecordFault) {
    var state = content.state
    let before = content.session
    let isSameBoot = before?.boot == context.boot
    // The monotonic clock restarts at each boot; the wall clock tells how much time has passed.
    if let before, !isSameBoot { state = state.moved(by: before.clock &- context.clock) }
    // The unreadable record may have used any lower number (R4).
    if content.setAside != nil {
      state.numbers.serial = Serial(StartupContext.wallClock)
      state.numbers.lastHandle = Handle(StartupContext.wallClock)
    }
    try self.init(limits: limits, restoring: state)
    if !isSameBoot || content.setAside != nil { noteAll() }
  }
}
