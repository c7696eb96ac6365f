import TextFormats

/// The type of a value that a program accepts, as text: `{count: Int, name: String, note?: String}` (D18).
///
/// A type is `Bool`, `Int`, `UInt8` and the other integers of Swift, `Double`, `String`, `Any`, a list `[Int]`, a dictionary
/// `[String: Int]`, words (`"small" | "large"`), or a record of fields in braces. A field whose name ends with `?` may be absent.
public indirect enum ValueSchema: Hashable, Sendable {
  /// A field of a record.
  public struct Field: Hashable, Sendable {
    public let name: String
    public let isOptional: Bool
    public let schema: ValueSchema

    public init(_ name: String, _ schema: ValueSchema, isOptional: Bool = false) {
      (self.name, self.isOptional, self.schema) = (name, isOptional, schema)
    }
  }

  case any
  case boolean
  case integer(IntegerWidth)
  case real
  case text
  case words([String])
  case list(ValueSchema)
  case dictionary(ValueSchema)
  /// The fields in the order of their names.
  case record([Field])

  /// The integers of Swift, by their names.
  public enum IntegerWidth: String, Hashable, Sendable, CaseIterable {
    case int = "Int", int8 = "Int8", int16 = "Int16", int32 = "Int32", int64 = "Int64"
    case uint = "UInt", uint8 = "UInt8", uint16 = "UInt16", uint32 = "UInt32", uint64 = "UInt64"

    fileprivate var range: ClosedRange<Int128> {
      switch self {
      case .int, .int64: Int128(Int64.min)...Int128(Int64.max)
      case .int8: Int128(Int8.min)...Int128(Int8.max)
      case .int16: Int128(Int16.min)...Int128(Int16.max)
      case .int32: Int128(Int32.min)...Int128(Int32.max)
      case .uint, .uint64: 0...Int128(UInt64.max)
      case .uint8: 0...Int128(UInt8.max)
      case .uint16: 0...Int128(UInt16.max)
      case .uint32: 0...Int128(UInt32.max)
      }
    }
  }

  /// The text, which ``init(_:)`` reads.
  public var text: String {
    switch self {
    case .any: "Any"
    case .boolean: "Bool"
    case .integer(let width): width.rawValue
    case .real: "Double"
    case .text: "String"
    case .words(let words): words.map { JSON.string($0).text }.joined(separator: " | ")
    case .list(let element): "[\(element.text)]"
    case .dictionary(let value): "[String: \(value.text)]"
    case .record(let fields):
      "{" + fields.map { "\($0.name)\($0.isOptional ? "?" : ""): \($0.schema.text)" }.joined(separator: ", ") + "}"
    }
  }

  /// Whether an item's value has this type itself. Any other type is that of its key `value`.
  package var isWholeValue: Bool {
    switch self {
    case .record, .dictionary: true
    case .any, .boolean, .integer, .real, .text, .words, .list: false
    }
  }

  // MARK: Checking

  /// The reason why a value is not of this type; nil if it is.
  /// - Parameter name: the name of the value in the message.
  package func fault(in json: JSON?, named name: String) -> String? {
    guard let json else { return expected(name, found: "nothing") }
    switch (self, json) {
    case (.any, _), (.boolean, .boolean), (.text, .string), (.real, .real), (.real, .integer), (.real, .unsigned),
      (.real, .string("inf")), (.real, .string("-inf")), (.real, .string("nan")):
      return nil
    case (.integer(let width), .integer(let number)) where width.range.contains(Int128(number)): return nil
    case (.integer(let width), .unsigned(let number)) where width.range.contains(Int128(number)): return nil
    case (.words(let words), .string(let word)) where words.contains(word): return nil
    case (.list(let element), .array(let elements)):
      return elements.indices.lazy.compactMap { element.fault(in: elements[$0], named: "\(name)[\($0)]") }.first
    case (.dictionary(let value), .object(let members)):
      return members.sorted { $0.key < $1.key }.lazy.compactMap { value.fault(in: $1, named: Self.path(name, $0)) }
        .first
    case (.record(let fields), .object(let members)):
      if let unknown = members.keys.filter({ key in !fields.contains { $0.name == key } }).min() {
        return "expected \(fields.isEmpty ? "no keys" : text), found the key \(quoted(Self.path(name, unknown)))"
      }
      return fields.lazy.compactMap { field in
        if field.isOptional, members[field.name] == nil { return nil }
        return field.schema.fault(in: members[field.name], named: Self.path(name, field.name))
      }.first
    default: return expected(name, found: json.shown)
    }
  }

  /// The reason why a text is not an id of this type; nil if it is. An id is a word as it is, and any other value as JSON.
  package func fault(inID id: String) -> String? {
    switch self {
    case .any, .text: return nil
    case .words(let words): return words.contains(id) ? nil : expected("an id", found: quoted(id))
    default:
      guard let json = json(ofID: id), json.text == id, fault(in: json, named: "") == nil else {
        return expected("an id", found: quoted(id))
      }
      return nil
    }
  }

  /// The value of an id.
  package func json(ofID id: String) -> JSON? {
    switch self {
    case .any, .text, .words: .string(id)
    default: try? JSON.parse(id)
    }
  }

  private func expected(_ name: String, found: String) -> String {
    "expected \(name.isEmpty ? "" : "\(name): ")\(text), found \(found)"
  }

  private static func path(_ name: String, _ member: String) -> String { name.isEmpty ? member : "\(name).\(member)" }
}

extension JSON {
  /// The value for messages.
  fileprivate var shown: String {
    switch self {
    case .null, .boolean, .integer, .unsigned, .real: text
    case .string(let text): quoted(text)
    case .array, .object: kind
    }
  }
}

// MARK: Reading

extension ValueSchema {
  /// The depth of nested types that is read.
  private static let maxDepth = 32

  /// Reads the text of a type.
  /// - Throws: `Refusal` with the code `invalidArgument`, and the byte at which something else was expected.
  public init(_ text: String) throws(Refusal) {
    var reader = Reader(text)
    self = try reader.schema(depth: 0)
    guard reader.isAtEnd else { throw reader.fault("the end") }
  }

  private struct Reader {
    private let text: String
    private let bytes: [UInt8]
    private var offset = 0

    init(_ text: String) { (self.text, bytes) = (text, Array(text.utf8)) }

    var isAtEnd: Bool {
      mutating get {
        skipSpace()
        return offset == bytes.count
      }
    }

    func fault(_ wanted: String) -> Refusal {
      Refusal(.invalidArgument, "the type \(quoted(text)): expected \(wanted) at byte \(offset)")
    }

    private mutating func skipSpace() { while offset < bytes.count, bytes[offset] == UInt8(ascii: " ") { offset += 1 } }

    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
      skipSpace()
      guard offset < bytes.count, bytes[offset] == UInt8(ascii: byte) else { return false }
      offset += 1
      return true
    }

    private mutating func expect(_ byte: Unicode.Scalar) throws(Refusal) {
      guard take(byte) else { throw fault("“\(byte)”") }
    }

    private mutating func name() throws(Refusal) -> String {
      skipSpace()
      let rest = bytes[offset...].prefix { byte in
        ![" ", ":", ",", "?", "{", "}", "[", "]", "|", "\""].contains(Unicode.Scalar(byte))
      }
      guard !rest.isEmpty else { throw fault("a name") }
      offset += rest.count
      return String(decoding: rest, as: UTF8.self)
    }

    private mutating func word() throws(Refusal) -> String {
      let start = offset
      offset += 1
      while offset < bytes.count, bytes[offset] != UInt8(ascii: "\"") {
        offset += bytes[offset] == UInt8(ascii: "\\") ? 2 : 1
      }
      guard offset < bytes.count else { throw fault("“\"”") }
      offset += 1
      guard let word = (try? JSON.parse(Array(bytes[start..<offset])))?.string else { throw fault("a word") }
      return word
    }

    mutating func schema(depth: Int) throws(Refusal) -> ValueSchema {
      guard depth < maxDepth else { throw fault("at most \(maxDepth) nested types") }
      skipSpace()
      if offset < bytes.count, bytes[offset] == UInt8(ascii: "\"") {
        var words = [try word()]
        while take("|") {
          skipSpace()
          words.append(try word())
        }
        return .words(words)
      }
      if take("[") {
        let first = try schema(depth: depth + 1)
        guard take(":") else {
          try expect("]")
          return .list(first)
        }
        guard first == .text else { throw fault("String as the type of keys") }
        let value = try schema(depth: depth + 1)
        try expect("]")
        return .dictionary(value)
      }
      if take("{") { return .record(try fields(depth: depth)) }
      let name = try name()
      switch name {
      case "Any": return .any
      case "Bool": return .boolean
      case "Double": return .real
      case "String": return .text
      default:
        guard let width = IntegerWidth(rawValue: name) else {
          throw Refusal(
            .invalidArgument,
            "the type \(quoted(text)): \(quoted(name)) is unknown; expected Bool, Int, Double, String, Any, a list, a record or words"
          )
        }
        return .integer(width)
      }
    }

    private mutating func fields(depth: Int) throws(Refusal) -> [Field] {
      var fields: [Field] = []
      if take("}") { return [] }
      repeat {
        let name = try name()
        guard !fields.contains(where: { $0.name == name }) else {
          throw fault("each field once, after \(quoted(name))")
        }
        let isOptional = take("?")
        try expect(":")
        fields.append(Field(name, try schema(depth: depth + 1), isOptional: isOptional))
      } while take(",")
      try expect("}")
      return fields.sorted { $0.name < $1.name }
    }
  }
}
