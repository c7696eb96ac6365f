import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel

/// An error of a verb: one line on standard error, and the exit status.
struct Failure: Error, Equatable {
  /// The verb and its main argument.
  var operation: String
  var why: String
  /// The next step for the user, unless `why` contains it.
  var hint: String?
  var status: CommandStatus

  init(_ operation: String, _ why: String, hint: String? = nil, status: CommandStatus = .failed) {
    self.operation = operation
    self.why = why
    self.hint = hint
    self.status = status
  }

  /// The error of a call.
  /// - Parameter starts: whether the bus was asked to start navd.
  init(_ operation: String, _ error: DBusError, starts: Bool = false) {
    let status = CommandStatus(error.name)
    // navd's own messages contain hints.
    guard CoordinatorError.Name(error.name) == nil else {
      self.init(operation, error.message, status: status)
      return
    }
    switch error.name {
    case .serviceUnknown where starts:
      self.init(
        operation, "navd is not running, and the bus cannot start it",
        hint: "install it by “make install” or from a package, or start “navd” in this session", status: status)
    case DaemonClient.givenUp.name where error == DaemonClient.givenUp:
      self.init(
        operation, "navd is not running, and \(error.message)", hint: Self.givenUpHint, status: .unreachable)
    case let name where starts && name.text.hasPrefix("org.freedesktop.DBus.Error.Spawn."):
      self.init(
        operation, "navd could not be started: \(error.message)",
        hint: "run “navd” in a terminal, or “journalctl --user -u navd”, to see the cause", status: status)
    case .serviceUnknown, .nameHasNoOwner:
      self.init(
        operation, "navd is not running", hint: "verbs that change something start it, e.g. “navctl open”",
        status: status)
    case .noReply:
      self.init(
        operation, "navd ended before it replied", hint: "“navctl list” shows the current state", status: status)
    case .timedOut:
      self.init(
        operation, "navd did not answer in time",
        hint: "give it longer with --within SECONDS, or restart it: systemctl --user restart navd", status: status)
    default:
      self.init(
        operation, error.description, hint: status == .unreachable ? Self.unreachableBus : nil, status: status)
    }
  }

  /// Creates a failure with exit status 3 and an explanation.
  /// - Parameter left: the processes that outlive the last item there (N3).
  init(notPresented operation: String, left: String? = nil) {
    self.init(
      operation, "nothing is open under that name", hint: left ?? "“navctl list” shows what is open",
      status: .notPresented)
  }

  /// The line for standard error.
  var line: String {
    "navctl: \(UsageText.abridged(operation)): \(why)" + (hint.map { "; \($0)" } ?? "")
  }

  static let givenUpHint =
    "“journalctl --user -u navd” shows the cause; then run: systemctl --user reset-failed navd"
  static let unreachableBus = "run navctl in a desktop session, or set DBUS_SESSION_BUS_ADDRESS or --address"
  static let listed = "“navctl list” shows what there is"
  static let disconnected = "the connection to the bus was lost"
}
