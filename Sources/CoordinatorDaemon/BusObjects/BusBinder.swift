import CoordinatorAPI
import CoordinatorCore
import DBus
import DBusValues
import PresentationModel

/// Serves the contract's methods and properties on the bus.
struct BusBinder: ServiceBinder {
  let object: ImplementedInterface

  func bind<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ body: @escaping (Input, any ServiceCall<Output>) -> Void
  ) {
    object.implement(method) { input, call in body(input, call) }
  }

  func bind<T>(_ property: Property<T>, _ get: @escaping () -> T) {
    object.implement(property, get: { _ in get() })
  }
}

extension Call: ServiceCall {
  package var client: Client { Client(sender.text) }

  package func fail(_ refusal: Refusal) { fail(DBusError(refusal)) }
}
