import DBusValues
import TextFormats

extension JSON {
  /// Converts a D-Bus value to JSON.
  ///
  /// `ay` becomes a string, with U+FFFD for bytes that are not UTF-8. A variant becomes its content, a structure an array, and a
  /// descriptor null. A dictionary becomes an object whose names are the keys as text.
  public init(_ value: DBusValues.Value) { self.init(value, isTyped: false) }

  /// - Parameter isTyped: whether the types of variants, bytes that are no text, and numbers that JSON does not have are kept.
  package init(_ value: DBusValues.Value, isTyped: Bool) {
    switch value {
    case .boolean(let flag): self = .boolean(flag)
    case .double(let number):
      self = isTyped && !number.isFinite ? .string(number.isNaN ? "nan" : "\(number)") : .real(number)
    case .string(let text): self = .string(text)
    case .objectPath(let path): self = .string(path.text)
    case .signature(let signature): self = .string(signature.text)
    case .variant(let inner): self = isTyped ? JSON(typed: inner) : JSON(inner)
    case .bytes(let bytes):
      if isTyped, String(validating: bytes, as: UTF8.self) == nil {
        self = .array(bytes.map { JSON($0) })
      } else {
        self = .string(String(decoding: bytes, as: UTF8.self))
      }
    case .array(_, let elements), .structure(let elements):
      self = .array(elements.map { JSON($0, isTyped: isTyped) })
    case .dictionary(_, _, let entries):
      var members: [String: JSON] = [:]
      for (key, value) in entries { members[name(of: key)] = JSON(value, isTyped: isTyped) }
      self = .object(members)
    case .properties(let properties):
      self = .object(properties.mapValues { isTyped ? JSON(typed: $0) : JSON($0) })
    case .descriptor: self = .null
    case .byte, .int16, .uint16, .int32, .uint32, .int64, .uint64: self = value.integer.map { JSON($0) } ?? .null
    }
  }

  /// A list of the signature and the content of a variant, as `["u",7]`.
  private init(typed value: DBusValues.Value) {
    self = [.string(value.type.signature), JSON(value, isTyped: true)]
  }

  public init(_ properties: Properties) { self = JSON(.properties(properties), isTyped: false) }
}

/// Returns the name of a member for the key of a dictionary; two keys have two names. JSON has no infinite numbers and no NaN.
private func name(of key: Value) -> String {
  if case .double(let number) = key, !number.isFinite { return "\(number)" }
  let key = JSON(key)
  return key.string ?? key.text
}
