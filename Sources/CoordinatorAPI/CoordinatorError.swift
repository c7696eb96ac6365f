// Why this file exists: what can go wrong has one name on the bus, and one exit code in navctl.

import DBus
import DBusValues
import PresentationModel

/// An error of the contract: `org.navd.Error.*`. The message says which argument, what it was, and what would do.
public struct CoordinatorError: Error, Hashable, Sendable {
  public typealias Name = ErrorCode

  public var name: Name
  public var message: String

  public init(_ name: Name, _ message: String) {
    self.name = name
    self.message = message
  }

  /// The refusal as clients get it; the message names the refused request of a transaction (T1).
  package init(_ refusal: Refusal) {
    self.init(refusal.code, refusal.index.map { "request \($0): \(refusal.message)" } ?? refusal.message)
  }
}

extension DBusError {
  /// The refusal as an error reply.
  package init(_ refusal: Refusal) {
    let error = CoordinatorError(refusal)
    self.init(name: error.name.errorName, message: error.message)
  }
}
