// Why this file exists: what can go wrong between a program and its coordinator is one type, so that `catch` is complete.

import CoordinatorAPI
import DBus
import PresentationModel

/// Why a request came to nothing.
public enum NavigationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The coordinator refused it, and changed nothing. The name is one of docs/semantics.md's; the message says which
  /// argument, what it was, and what would do.
  case refused(CoordinatorError)
  /// The coordinator cannot be reached, or went away before it answered; what was asked may have been done.
  case unreachable(String)
  /// The program has closed its coordinator.
  case closed
  /// The task was cancelled; what was asked may have been done.
  case cancelled

  public var description: String {
    switch self {
    case .refused(let error): "\(error.name.rawValue): \(error.message)"
    case .unreachable(let why): "the coordinator cannot be reached: \(why)"
    case .closed: "the coordinator was closed"
    case .cancelled: "cancelled"
    }
  }

  /// The name of the refusal, nil where it is none.
  public var refusal: CoordinatorError.Name? { if case .refused(let error) = self { error.name } else { nil } }

  init(_ error: DBusError) {
    if let name = CoordinatorError.Name(error.name) {
      // It is leaving, not refusing.
      self = name == .shuttingDown ? .unreachable(error.message) : .refused(CoordinatorError(name, error.message))
      return
    }
    switch error.name {
    // Of the protocol or the bus, and the same when it is asked again.
    case .accessDenied: self = .refused(CoordinatorError(.accessDenied, error.message))
    case .invalidArgs, .limitsExceeded, .failed, .notSupported, .unknownMethod, .unknownInterface, .unknownObject:
      self = .refused(CoordinatorError(.invalidArgument, error.description))
    default: self = .unreachable(error.description)
    }
  }
}
