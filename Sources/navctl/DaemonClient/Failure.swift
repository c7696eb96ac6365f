// Why this file exists: whatever goes wrong in navctl becomes one line on standard error and one exit status.

import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel

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
  /// - Parameter starts: whether the bus was to start navd for it.
  init(_ what: String, _ error: DBusError, starts: Bool = false) {
    let status = CommandStatus(error.name)
    // The daemon's own messages say what would do.
    guard CoordinatorError.Name(error.name) == nil else {
      self.init(what, error.message, status: status)
      return
    }
    switch error.name {
    case .serviceUnknown where starts:
      self.init(
        what, "navd is not running, and the bus does not know how to start it",
        next: "“make install” or a package tells it; or start “navd” in the session", status: status)
    case let name where starts && name.text.hasPrefix("org.freedesktop.DBus.Error.Spawn."):
      self.init(
        what, "navd could not be started: \(error.message)",
        next: "“navd” in a terminal, or “journalctl --user -u navd”, says more", status: status)
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
