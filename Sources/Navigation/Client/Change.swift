import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel

extension Coordinator {
  /// A request of a transaction, ``Coordinator/apply(_:animated:expectedSerial:)`` (rule T1).
  public struct Change: Hashable, Sendable {
    let method: String
    let arguments: [Value]
    /// Whether it only ends presentations.
    let isRemoval: Bool
    /// The defaults of the container values that it sets, by name.
    let declarations: Properties

    init<Input, Output>(
      _ method: ChangingMethod<Input, Output>, _ input: Input, declaring declarations: Properties = [:]
    ) {
      self.method = method.name.text
      arguments = method.arguments(input)
      isRemoval = method.isRemoval
      self.declarations = declarations
    }
  }
}
