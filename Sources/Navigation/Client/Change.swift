import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel

extension Coordinator {
  /// A change, to be made with others at once by ``Coordinator/apply(_:animated:expectedSerial:)`` (rule T1).
  public struct Change: Hashable, Sendable {
    let method: String
    let arguments: [Value]
    /// Whether it does nothing but end presentations.
    let isRemoval: Bool
    /// The container values that it sets, with their defaults.
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
