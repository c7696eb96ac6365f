import DBusValues
import PresentationModel

/// The exit statuses of navctl. Scripts depend on them, so they belong to the contract.
public enum CommandStatus: Int32, CaseIterable, Sendable {
  case ok = 0
  case failed = 1
  case usage = 2
  case notPresented = 3
  case unknownName = 4
  case timedOut = 5
  case refused = 6
  case unanswered = 7
  case unreachable = 8
  case ownFailure = 125

  /// The meaning, as in all documents, with code in backticks.
  public var doc: String {
    switch self {
    case .ok: "done, already so, or yes"
    case .failed: "failed: what was to be opened, a configuration file, or navctl"
    case .usage: "wrong usage, binding or argument"
    case .notPresented: "nothing is open there, or no"
    case .unknownName: "there is no such destination, tag, number or container value"
    case .timedOut: "not in the time that `-w` gave"
    case .refused: "refused: busy, held, stale, past a limit, already in a stack, not allowed"
    case .unanswered: "with `--wait`, it was closed for another reason than by itself, so there is no answer"
    case .unreachable: "navd, or the bus, cannot be reached"
    case .ownFailure:
      "with `--propagate`, navctl's own failures, where every other status is the command's; a command that `hold` cannot start"
    }
  }

  /// The status for the error of a call.
  public init(_ error: ErrorName) {
    if let name = CoordinatorError.Name(error) {
      self =
        switch name {
        case .invalidBinding, .invalidArgument, .containerValueType: .usage
        case .notPresented: .notPresented
        case .unknownDestination, .unknownTag, .unknownPresentation, .unknownContainerValue, .unknownWindow:
          .unknownName
        case .stale, .busy, .alreadyInStack, .limitExceeded, .accessDenied, .declined, .notSupported, .held:
          .refused
        case .invalidConfiguration, .notRecorded: .failed
        case .shuttingDown: .unreachable
        }
      return
    }
    let prefix = "org.freedesktop.DBus.Error."
    guard error.text.hasPrefix(prefix) else {
      self = .failed
      return
    }
    self =
      switch error.text.dropFirst(prefix.count) {
      case "Timeout", "TimedOut": .timedOut
      // The bus replies NoReply if the callee has left it.
      case "NoReply", "ServiceUnknown", "NameHasNoOwner", "NoServer", "Disconnected", "NoNetwork", "AuthFailed",
        "FileNotFound", "BadAddress":
        .unreachable
      case let rest where rest.hasPrefix("Spawn."): .unreachable
      case "AccessDenied", "LimitsExceeded": .refused
      case "InvalidArgs", "InvalidSignature": .usage
      default: .failed
      }
  }
}
