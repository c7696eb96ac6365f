// Why this file exists: what the navd before left on record means something only together with what is around the navd
// that reads it: on which bus, since which start of the machine, and who is there (R2, R7).

import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import PresentationRecord
import PresentationRules
import Processes

/// What is around a navd that starts.
struct StartupContext {
  /// The bus's own id.
  let bus: String
  /// Changes at each start of the machine.
  let boot: String
  /// By how many nanoseconds the wall clock is ahead of the monotonic one.
  let clock: Int64
  /// The names that somebody has on the bus.
  let names: Set<String>

  /// Asks the bus, and waits for it.
  init(_ connection: Connection) throws(DBusError) {
    bus = try connection.callAndWait(Bus.getID, on: Bus.name, at: Bus.path, ())
    names = Set(try connection.callAndWait(Bus.listNames, on: Bus.name, at: Bus.path, ()))
    boot = ProcessIdentity.bootIdentifier() ?? ""
    clock = Int64(clamping: Self.wallClock) * 1000 - MonotonicInstant.now.nanoseconds
  }

  /// In microseconds since 1970.
  static var wallClock: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return UInt64(clamping: time.tv_sec) * 1_000_000 + UInt64(clamping: time.tv_nsec / 1000)
  }
}

/// What the navd before left, beside the state.
struct RecoveredSession {
  /// What presenters need in order to know again what they showed.
  let memories: [Handle: Properties]
  /// By this and its handle each command is known again.
  let token: String
  /// The names of those on the bus who are those that the record speaks of: on another bus nobody is.
  let names: Set<String>
  /// Whether numbers of processes are those that the record speaks of.
  let isSameBoot: Bool
  let setAside: (path: String, reason: String)?
  /// What this navd is to leave in its turn.
  let session: Record.Session

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

  /// Those of some clients who are not on the bus any more.
  func left(of clients: Set<Client>) -> Set<Client> { clients.filter { !names.contains($0.name) } }
}

extension StateMachine {
  /// The state as it was when the navd before ended.
  /// - Throws: where the record contradicts itself.
  init(_ content: Record.Content, in context: StartupContext, limits: Limits) throws(RecordFault) {
    var state = content.state
    let before = content.session
    let isSameBoot = before?.boot == context.boot
    // The clock by which all is measured begins anew with the machine; by the wall's, time went on.
    if let before, !isSameBoot { state = state.moved(by: before.clock &- context.clock) }
    // Nobody knows which numbers the record that could not be read has given out (R4).
    if content.setAside != nil {
      state.numbers.serial = Serial(StartupContext.wallClock)
      state.numbers.lastHandle = Handle(StartupContext.wallClock)
    }
    try self.init(limits: limits, restoring: state)
    if !isSameBoot || content.setAside != nil { noteAll() }
  }
}
