import DBus
import DBusValues
import PresentationModel

/// An error of the contract: `org.navd.Error.*`. The message gives the argument, the value found and the value expected.
public struct CoordinatorError: Error, Hashable, Sendable {
  public typealias Name = ErrorCode

  public var name: Name
  public var message: String

  public init(_ name: Name, _ message: String) {
    self.name = name
    self.message = message
  }

  /// The error for a refusal; the message gives the index of the refused request in its transaction (T1).
  package init(_ refusal: Refusal) {
    self.init(refusal.code, refusal.index.map { "request \($0): \(refusal.message)" } ?? refusal.message)
  }
}

extension DBusError {
  /// The error reply for a refusal.
  package init(_ refusal: Refusal) {
    let error = CoordinatorError(refusal)
    self.init(name: error.name.errorName, message: error.message)
  }
}
