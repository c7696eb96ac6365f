import DBusValues
import PresentationRules

/// The reason why bytes are no record of this release.
struct Unreadable: Error, CustomStringConvertible {
  let description: String
  /// Whether only a text is bad, so that the rest can be read.
  let isOfText: Bool
  init(_ description: String, isOfText: Bool = false) { (self.description, self.isOfText) = (description, isOfText) }
}

/// Decodes what `PayloadWriter` encodes. Any bytes give values or an error, since a record may be damaged or from another release.
struct PayloadReader {
  private var rest: ArraySlice<UInt8>
  /// The largest depth of a value. It is more than navd accepts, and keeps damage from causing endless recursion.
  private static let maxDepth = 80
  /// Whether characters that a text cannot have are replaced by U+FFFD, so that the rest can be read.
  private let mendsTexts: Bool

  init(_ bytes: ArraySlice<UInt8>, mendsTexts: Bool = false) { (rest, self.mendsTexts) = (bytes, mendsTexts) }

  /// A reader of bytes that are part of this payload.
  func reader(of bytes: ArraySlice<UInt8>) -> PayloadReader { PayloadReader(bytes, mendsTexts: mendsTexts) }

  mutating func text() throws(Unreadable) -> String {
    let bytes = try bytes()
    // Faster than String(validating:as:), which looks up the type of its encoding at each call.
    if let text = try? UTF8Span(validating: bytes.span), !bytes.contains(0) { return String(copying: text) }
    if mendsTexts {
      let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars
      return String(String.UnicodeScalarView(scalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }))
    }
    throw Unreadable(
      bytes.contains(0) ? "a text has a NUL, which the bus cannot carry" : "a text is not UTF-8", isOfText: true)
  }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func bytes(_ count: Int) throws(Unreadable) -> ArraySlice<UInt8> {
    guard count <= rest.count else { throw Unreadable("expected \(count) bytes, found \(rest.count)") }
    defer { rest.removeFirst(count) }
    return rest.prefix(count)
  }

  mutating func bytes() throws(Unreadable) -> ArraySlice<UInt8> { try bytes(Int(get(UInt32.self))) }

  mutating func get<Content: Recordable>(_: Content.Type = Content.self) throws(Unreadable) -> Content {
    try Content(from: &self)
  }

  /// Reads a byte, if it is the next one.
  /// - Returns: whether it was.
  mutating func isNext(_ byte: UInt8) -> Bool {
    guard rest.first == byte else { return false }
    rest.removeFirst()
    return true
  }

  /// - Throws: `Unreadable` if a field is left.
  func finish() throws(Unreadable) {
    guard let code = rest.first else { return }
    throw Unreadable("a row has a field \(code), which this release does not know")
  }

  mutating func path() throws(Unreadable) -> ObjectPath {
    let text: String = try get()
    guard let path = ObjectPath(text) else { throw Unreadable("expected an object path, found “\(text)”") }
    return path
  }

  /// Reads a value, after its type.
  mutating func value(depth: Int = 0) throws(Unreadable) -> Value {
    let text: String = try get()
    guard let types = Signature(text)?.types, types.count == 1 else {
      throw Unreadable("expected the signature of one type, found “\(text)”")
    }
    return try value(of: types[0], depth: depth)
  }

  private mutating func value(of type: ValueType, depth: Int) throws(Unreadable) -> Value {
    guard depth < Self.maxDepth else { throw Unreadable("a value is nested more than \(Self.maxDepth) deep") }
    switch type {
    case .byte: return .byte(try get())
    case .boolean: return .boolean(try get())
    case .int16: return .int16(try get())
    case .uint16: return .uint16(try get())
    case .int32: return .int32(try get())
    case .uint32: return .uint32(try get())
    case .int64: return .int64(try get())
    case .uint64: return .uint64(try get())
    case .double: return .double(Double(bitPattern: try get()))
    case .string: return .string(try get())
    case .objectPath: return .objectPath(try path())
    case .signature:
      guard let signature = Signature(try get()) else { throw Unreadable("a signature is not valid") }
      return .signature(signature)
    case .variant: return .variant(try value(depth: depth + 1))
    case .descriptor: throw Unreadable("expected a value, found a descriptor")
    case .array(.byte): return .bytes(Array(try bytes()))
    case .array(let element):
      var elements: [Value] = []
      for _ in 0..<(try get(UInt32.self)) { elements.append(try value(of: element, depth: depth + 1)) }
      return .array(element: element, elements)
    case .dictionary(let keyType, let valueType):
      var entries: [Value: Value] = [:]
      for _ in 0..<(try get(UInt32.self)) {
        let key = try value(of: keyType, depth: depth + 1)
        entries[key] = try value(of: valueType, depth: depth + 1)
      }
      return Value(key: keyType, value: valueType, entries)
    case .structure(let types):
      var fields: [Value] = []
      for type in types { fields.append(try value(of: type, depth: depth + 1)) }
      return .structure(fields)
    }
  }
}
