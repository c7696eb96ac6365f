// Why this file exists: a refusal of the rules is an error of the contract, for every method alike.

import CoordinatorAPI
import DBus
import DBusValues
import Presentation

/// Answers a call with what the body gives, or with its refusal.
func answer<Output>(_ call: Call<Output>, _ body: () throws(Refusal) -> Output) {
  do throws(Refusal) {
    call.reply(try body())
  } catch {
    call.fail(DBusError(error))
  }
}

extension DBusError {
  /// The error that the contract has for a refusal; it names the request of a transaction that was refused (T1).
  init(_ refusal: Refusal) {
    let name = CoordinatorError.Name(rawValue: refusal.code.rawValue)!.errorName
    self.init(name: name, message: refusal.index.map { "request \($0): \(refusal.message)" } ?? refusal.message)
  }
}
