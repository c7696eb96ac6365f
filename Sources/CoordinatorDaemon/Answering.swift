// Why this file exists: a refusal of the rules is an error of the contract, for every method alike.

import CoordinatorCore
import DBus
import PresentationRules

/// Answers a call with what the body gives, or with its refusal.
func answer<Output>(_ call: Call<Output>, _ body: () throws(Refusal) -> Output) {
  do throws(Refusal) {
    call.reply(try body())
  } catch {
    call.fail(DBusError(error))
  }
}
