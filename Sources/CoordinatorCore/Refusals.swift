// Why this file exists: a refusal of the rules is an error of the contract, whoever serves it.

import CoordinatorAPI
import DBus
import PresentationRules

extension CoordinatorError {
  /// The error that the contract has for a refusal; it names the request of a transaction that was refused (T1).
  package init(_ refusal: Refusal) {
    self.init(
      Name(rawValue: refusal.code.rawValue)!,
      refusal.index.map { "request \($0): \(refusal.message)" } ?? refusal.message)
  }
}

extension DBusError {
  /// The error of the contract, as it travels.
  package init(_ refusal: Refusal) {
    let error = CoordinatorError(refusal)
    self.init(name: error.name.errorName, message: error.message)
  }
}
