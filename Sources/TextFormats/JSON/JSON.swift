// Why this file exists: navctl reads and writes JSON, and Foundation's coder would cost more start-up time than the rest
// of navctl together. This is the value; `JSONParser` reads it, `JSONWriter` writes it.

/// A JSON value (RFC 8259). Integers keep all their digits; a number is real only where it is written as one.
public indirect enum JSON: Hashable, Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  /// An integer greater than `Int64.max`; every other one is `integer`.
  case unsigned(UInt64)
  case real(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  /// The one way to a case of integers.
  public init(_ number: some BinaryInteger) {
    if let small = Int64(exactly: number) {
      self = .integer(small)
    } else if let large = UInt64(exactly: number) {
      self = .unsigned(large)
    } else {
      self = .real(Double(number))
    }
  }

  /// The member of that name, nil where this is no object or has none.
  public subscript(name: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }

  /// The text, where this is a string.
  public var string: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// The elements, where this is an array.
  public var array: [JSON]? {
    guard case .array(let elements) = self else { return nil }
    return elements
  }

  /// The members, where this is an object.
  public var object: [String: JSON]? {
    guard case .object(let members) = self else { return nil }
    return members
  }

  /// The number, where this is an integer that is not negative.
  public var unsigned: UInt64? {
    switch self {
    case .integer(let number): UInt64(exactly: number)
    case .unsigned(let number): number
    default: nil
    }
  }

  /// What it is, in words for messages: `an integer`, `a string`, …
  public var kind: String {
    switch self {
    case .null: "null"
    case .boolean: "a boolean"
    case .integer, .unsigned: "an integer"
    case .real: "a real number"
    case .string: "a string"
    case .array: "a list"
    case .object: "an object"
    }
  }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(arrayLiteral elements: JSON...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSON)...) {
    self = .object(Dictionary(elements, uniquingKeysWith: { _, last in last }))
  }
}
