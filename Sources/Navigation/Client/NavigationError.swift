import CoordinatorAPI
import DBus
import PresentationModel

/// The error of a request.
public enum NavigationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The coordinator refused the request, and nothing has changed. docs/semantics.md lists the names. The message gives the argument,
  /// the value found and the value expected.
  case refused(CoordinatorError)
  /// The coordinator cannot be reached, or left the bus before it answered. The request may have been carried out.
  case unreachable(String)
  /// The program has closed its coordinator.
  case closed
  /// The task was cancelled. The request may have been carried out.
  case cancelled

  public var description: String {
    switch self {
    case .refused(let error): "\(error.name.rawValue): \(error.message)"
    case .unreachable(let why): "the coordinator cannot be reached: \(why)"
    case .closed: "the coordinator was closed"
    case .cancelled: "cancelled"
    }
  }

  /// The name of the refusal; nil for other errors.
  public var refusal: CoordinatorError.Name? { if case .refused(let error) = self { error.name } else { nil } }

  init(_ error: DBusError) {
    if let name = CoordinatorError.Name(error.name) {
      // The coordinator stops; the request is not at fault.
      self = name == .shuttingDown ? .unreachable(error.message) : .refused(CoordinatorError(name, error.message))
      return
    }
    switch error.name {
    // Errors of the protocol or the bus that a repetition cannot change.
    case .accessDenied: self = .refused(CoordinatorError(.accessDenied, error.message))
    case .invalidArgs, .limitsExceeded, .failed, .notSupported, .unknownMethod, .unknownInterface, .unknownObject:
      self = .refused(CoordinatorError(.invalidArgument, error.description))
    default: self = .unreachable(error.description)
    }
  }
}
