/// A JSON value (RFC 8259). Integers keep all their digits; only a number with a fraction or an exponent is real.
///
/// Foundation's coder would cost more start-up time than the rest of navctl, and gives no positions
/// of mistakes.
public enum JSON: Hashable, Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  /// An integer greater than `Int64.max`. Every other integer is `integer`.
  case unsigned(UInt64)
  case real(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  /// Makes `integer` if the number fits, so that equal numbers are equal values.
  public init(_ number: some BinaryInteger) {
    if let small = Int64(exactly: number) {
      self = .integer(small)
    } else if let large = UInt64(exactly: number) {
      self = .unsigned(large)
    } else {
      self = .real(Double(number))
    }
  }

  /// The member with this name; nil if this is not an object, or has no such member.
  public subscript(name: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }

  /// The text of a string; nil for other values.
  public var string: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// The elements of an array; nil for other values.
  public var array: [JSON]? {
    guard case .array(let elements) = self else { return nil }
    return elements
  }

  /// The members of an object; nil for other values.
  public var object: [String: JSON]? {
    guard case .object(let members) = self else { return nil }
    return members
  }

  /// The number of an integer that is not negative; nil for other values.
  public var unsigned: UInt64? {
    switch self {
    case .integer(let number): UInt64(exactly: number)
    case .unsigned(let number): number
    default: nil
    }
  }

  /// The type in words for messages: `an integer`, `a string`, …
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

extension JSON {
  /// One step from a value to a value inside it.
  public enum Step: Hashable, Sendable {
    case member(String)
    case element(Int)
  }

  /// A JSON value that cannot be converted to the declared type, and the reason.
  public struct Mismatch: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path from the value to be converted to the one at fault.
    public var path: [Step]
    public var why: String
    public var description: String {
      let steps = path.map { step in
        switch step {
        case .member(let name): "[\(JSON.string(name).text)]"
        case .element(let index): "[\(index)]"
        }
      }
      return steps.isEmpty ? why : "\(steps.joined()): \(why)"
    }

    public init(path: [Step] = [], why: String) {
      self.path = path
      self.why = why
    }

    /// The same mismatch, with a path that begins one step further out.
    package func inside(_ step: Step) -> Mismatch { Mismatch(path: [step] + path, why: why) }
  }
}
