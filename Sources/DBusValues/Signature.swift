/// A signature: any number of complete types, at most 255 bytes, nested at most 32 deep in each kind of container
/// ("D-Bus Specification", *Valid Signatures*).
public struct Signature: ValidatedText {
  public let text: String

  public init?(_ text: String) {
    guard Parser.types(of: text) != nil else { return nil }
    self.text = text
  }

  /// - Returns: nil if the specification forbids one of the types, or their number.
  public init?(types: [ValueType]) { self.init(types.reduce(into: "") { $0 += $1.signature }) }

  package init(unchecked text: String) { self.text = text }

  /// The complete types, in order.
  public var types: [ValueType] { Parser.types(of: text) ?? [] }
}

/// Accepts the same signatures as libdbus-1.
private struct Parser {
  private static let maxLength = 255
  private static let maxDepth = 32

  private var rest: Substring.UTF8View

  static func types(of text: String) -> [ValueType]? {
    guard text.utf8.count <= maxLength else { return nil }
    var parser = Parser(rest: text[...].utf8)
    var types: [ValueType] = []
    while !parser.rest.isEmpty {
      guard let type = parser.next(arrays: 0, structures: 0, entries: 0) else { return nil }
      types.append(type)
    }
    return types
  }

  /// - Parameters: the number of containers of each kind around the type. As in libdbus-1, a structure or an entry resets the number of
  ///   arrays.
  private mutating func next(arrays: Int, structures: Int, entries: Int) -> ValueType? {
    guard let code = rest.popFirst() else { return nil }
    switch code {
    case UInt8(ascii: "a"):
      guard arrays < Self.maxDepth else { return nil }
      if rest.first == UInt8(ascii: "{") {
        rest.removeFirst()
        return entry(structures: structures, entries: entries)
      }
      return next(arrays: arrays + 1, structures: structures, entries: entries).map { .array($0) }
    case UInt8(ascii: "("):
      guard structures < Self.maxDepth else { return nil }
      var fields: [ValueType] = []
      while rest.first != UInt8(ascii: ")") {
        guard let field = next(arrays: 0, structures: structures + 1, entries: entries) else { return nil }
        fields.append(field)
      }
      rest.removeFirst()
      return fields.isEmpty ? nil : .structure(fields)
    default: return ValueType(code: code)
    }
  }

  private mutating func entry(structures: Int, entries: Int) -> ValueType? {
    guard entries < Self.maxDepth,
      let key = next(arrays: 0, structures: structures, entries: entries + 1), key.isBasic,
      let value = next(arrays: 0, structures: structures, entries: entries + 1),
      rest.popFirst() == UInt8(ascii: "}")
    else { return nil }
    return .dictionary(key: key, value: value)
  }
}
