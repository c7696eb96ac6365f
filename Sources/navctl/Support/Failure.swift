// Why this file exists: whatever goes wrong in navctl becomes one line on standard error and one exit status.
import CoordinatorAPI
import DBus
import DBusValues

/// Why a verb could not do what it was asked for.
struct Failure: Error, Equatable {
  /// The verb and what it was about.
  var what: String
  var why: String
  /// What to do next, where that is not said in `why`.
  var next: String?
  var status: CommandStatus

  init(_ what: String, _ why: String, next: String? = nil, status: CommandStatus = .failed) {
    self.what = what
    self.why = why
    self.next = next
    self.status = status
  }

  /// What a call brought back.
  init(_ what: String, _ error: DBusError) {
    let status = CommandStatus(error.name)
    // The daemon's own messages say what would do.
    guard CoordinatorError.Name(error.name) == nil else {
      self.init(what, error.message, status: status)
      return
    }
    switch error.name {
    case .serviceUnknown, .nameHasNoOwner:
      self.init(
        what, "navd is not running",
        next: "the first request that changes something starts it, “navctl present” for example", status: status)
    case .noReply:
      self.init(what, "navd ended before it answered", next: "“navctl list” shows what came of it", status: status)
    case .timedOut:
      self.init(what, "navd did not answer in time", next: "give it longer with --within SECONDS", status: status)
    default:
      self.init(what, error.description, next: status == .unreachable ? Self.unreachableBus : nil, status: status)
    }
  }

  /// The line for standard error.
  var line: String {
    "navctl: \(UsageText.abridged(what)): \(why)" + (next.map { "; \($0)" } ?? "")
  }

  static let unreachableBus = "is this a desktop session? DBUS_SESSION_BUS_ADDRESS or --address says which bus"
}
