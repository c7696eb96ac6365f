import CoordinatorAPI
import DBus
import PresentationModel

/// The error of a request.
///
///     do throws(NavigationError) {
///       try await coordinator.present("note")
///     } catch {
///       switch error {
///       case .refused(let refusal): print(refusal.name, refusal.message)
///       case .unreachable(let why): print("there is no coordinator: \(why)")
///       case .closed, .cancelled: break
///       }
///     }
public enum NavigationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The coordinator refused the request, and nothing has changed. docs/semantics.md lists the names. The message contains the
  /// argument, the value found and the value expected.
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
  ///
  ///     navigator.onRefused = { error in if error.refusal == .limitExceeded { print("there are too many") } }
  public var refusal: CoordinatorError.Name? { if case .refused(let error) = self { error.name } else { nil } }

  /// Converts the error of a call of the window-system adapter.
  init(ofWindowSystem error: DBusError) {
    switch error.name {
    case .serviceUnknown, .nameHasNoOwner:
      self = .refused(CoordinatorError(.notSupported, "no program on the bus tells the windows, such as navd-windows"))
    default: self.init(error)
    }
  }

  init(_ error: DBusError) {
    if let name = CoordinatorError.Name(error.name) {
      // The coordinator stops; the request is not at fault.
      self = name == .shuttingDown ? .unreachable(error.message) : .refused(CoordinatorError(name, error.message))
      return
    }
    switch error.name {
    // A repetition changes nothing about these errors of the protocol or the bus.
    case .accessDenied: self = .refused(CoordinatorError(.accessDenied, error.message))
    case .limitsExceeded: self = .refused(CoordinatorError(.limitExceeded, error.description))
    case .invalidArgs, .failed, .notSupported, .unknownMethod, .unknownInterface, .unknownObject:
      self = .refused(CoordinatorError(.invalidArgument, error.description))
    case .serviceUnknown:
      self = .unreachable("no navd runs on the bus, and the bus cannot start one: \(error.message)")
    case .nameHasNoOwner: self = .unreachable("no navd runs on the bus: \(error.message)")
    default: self = .unreachable(error.description)
    }
  }
}

extension CoordinatorError {
  /// The error without the position in the list of requests, which the program did not write.
  var withoutIndex: CoordinatorError {
    guard message.hasPrefix("request "), let end = message.utf8.firstIndex(of: UInt8(ascii: ":")),
      Int(message[..<end].dropFirst("request ".count)) != nil
    else { return self }
    return CoordinatorError(name, String(message[end...].dropFirst(2)))
  }
}
