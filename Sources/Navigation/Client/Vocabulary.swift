// These exports are types of other modules that appear in the library's API under their own names. Through one of them, a program
// that imports only `Navigation` also sees the members of the other types, such as the cases of `NavigationPhase`.

@_exported public import struct CoordinatorAPI.CoordinatorError
@_exported public import typealias DBusValues.Properties
@_exported public import enum DBusValues.Value
@_exported public import enum PresentationModel.BusyPolicy
@_exported public import struct PresentationModel.DestinationEntry
@_exported public import struct PresentationModel.EndingEntry
@_exported public import struct PresentationModel.Expectation
@_exported public import struct PresentationModel.PathElement
@_exported public import struct PresentationModel.WindowProperties

extension Value: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// A text (`s`).
  ///
  ///     let title: Value = "Milk"
  public init(stringLiteral text: String) { self = .string(text) }
  /// A boolean (`b`).
  ///
  ///     let isDone: Value = true
  public init(booleanLiteral flag: Bool) { self = .boolean(flag) }
  /// An integer (`x`). Integers are equal by their numbers, whatever their types are.
  ///
  ///     let level: Value = 40
  public init(integerLiteral number: Int64) { self = .int64(number) }
  /// A floating-point number (`d`).
  ///
  ///     let share: Value = 0.5
  public init(floatLiteral number: Double) { self = .double(number) }
  /// An array of variants (`av`).
  ///
  ///     let choices: Value = ["tea", "coffee"]
  public init(arrayLiteral elements: Value...) { self = elements.value }
  /// A dictionary of variants (`a{sv}`).
  ///
  ///     let note: Value = ["text": "Milk", "isDone": false]
  public init(dictionaryLiteral entries: (String, Value)...) { self = .properties(Properties(entries) { $1 }) }
}
