import DBusValues
import PresentationModel
import TextFormats

/// Entries of the state for tests, made from the JSON that navctl prints.
extension TypedDictionary {
  /// The dictionary that navctl prints as this JSON.
  init(json: JSON) { self.init(Properties(value: sent(json)) ?? [:]) }
}

/// The value with the types in which navd sends it.
private func sent(_ json: JSON) -> Value {
  switch json {
  case .integer(let number): .uint64(UInt64(number))
  case .unsigned(let number): .uint64(number)
  case .boolean(let flag): .boolean(flag)
  case .object(let members): .properties(members.mapValues(sent))
  case .array(let elements):
    .array(element: elements.first.map { sent($0).type } ?? .string, elements.map(sent))
  default: .string(json.string ?? json.text)
  }
}
