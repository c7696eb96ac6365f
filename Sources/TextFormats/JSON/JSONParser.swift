extension JSON {
  /// A mistake in a text that is not JSON.
  public struct Mistake: Error, Hashable, Sendable, CustomStringConvertible {
    public var position: TextPosition
    public var why: String
    public init(position: TextPosition, why: String) {
      self.position = position
      self.why = why
    }
    public var description: String { "\(position): \(why)" }
  }

  /// The largest depth of nested arrays and objects, which bounds the recursion. D-Bus carries no deeper ones.
  public static let maximumDepth = 64

  /// Reads one value and nothing after it.
  ///
  /// The rules are stricter than RFC 8259: an object cannot have two members of one name, text must be UTF-8 without unpaired
  /// surrogates, and numbers must fit (integers −2⁶³ … 2⁶⁴−1, reals finite).
  /// - Throws: the first `Mistake`.
  public static func parse(_ text: String) throws(Mistake) -> JSON { try parse(Array(text.utf8)) }

  /// Reads one value from bytes. It is a mistake if they are not UTF-8.
  /// - Parameter depth: the largest depth of nested arrays and objects.
  public static func parse(_ bytes: [UInt8], depth: Int = maximumDepth) throws(Mistake) -> JSON {
    var parser = JSONParser(bytes)
    parser.maximumDepth = depth
    return try parser.document()
  }

  /// The position of the value at `path`, in a text that parses. Values keep no positions, so the text is read again if a mistake is
  /// found after parsing, such as a value of the wrong type.
  public static func position(of path: [Step], in bytes: [UInt8]) -> TextPosition {
    var parser = JSONParser(bytes)
    parser.wanted = path
    _ = try? parser.document()
    return parser.position(at: parser.found ?? 0)
  }
}

/// A recursive-descent parser over bytes.
struct JSONParser {
  private let bytes: [UInt8]
  private var index = 0
  private var path: [JSON.Step] = []
  private var depth = 0
  /// The path of the value whose offset will be stored in `found`.
  var wanted: [JSON.Step]?
  private(set) var found: Int?
  var maximumDepth = JSON.maximumDepth

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func document() throws(JSON.Mistake) -> JSON {
    let value = try self.value()
    skipSpace()
    guard index == bytes.count else { throw mistake("expected the end, found \(here)") }
    return value
  }

  func position(at offset: Int) -> TextPosition { TextPosition(of: offset, in: bytes) }

  private mutating func value() throws(JSON.Mistake) -> JSON {
    skipSpace()
    if let wanted, found == nil, wanted == path { found = index }
    guard let byte = peek else { throw mistake("expected a value, found \(here)") }
    switch byte {
    case ascii("{"): return try nested { parser throws(JSON.Mistake) in try parser.object() }
    case ascii("["): return try nested { parser throws(JSON.Mistake) in try parser.array() }
    case ascii("\""): return .string(try string())
    case ascii("-"), ascii("0")...ascii("9"): return try number()
    default:
      if take(word: "true") { return .boolean(true) }
      if take(word: "false") { return .boolean(false) }
      if take(word: "null") { return .null }
      throw mistake("expected a value, found \(here)")
    }
  }

  /// Reads a value inside another.
  private mutating func value(_ step: JSON.Step) throws(JSON.Mistake) -> JSON {
    // Only a search for a position needs a path.
    guard wanted != nil else { return try value() }
    path.append(step)
    defer { path.removeLast() }
    return try value()
  }

  private mutating func nested(
    _ body: (inout JSONParser) throws(JSON.Mistake) -> JSON
  ) throws(JSON.Mistake) -> JSON {
    guard depth < maximumDepth else { throw mistake("nested more than \(maximumDepth) levels deep") }
    depth += 1
    defer { depth -= 1 }
    index += 1  // the opening bracket
    return try body(&self)
  }

  private mutating func array() throws(JSON.Mistake) -> JSON {
    var elements: [JSON] = []
    if take("]") { return .array([]) }
    while true {
      elements.append(try value(.element(elements.count)))
      if take("]") { return .array(elements) }
      guard take(",") else { throw mistake("expected ',' or ']' after an element of a list, found \(here)") }
    }
  }

  private mutating func object() throws(JSON.Mistake) -> JSON {
    if take("}") { return .object([:]) }
    // The capacity fits most objects, so that their members are hashed only once.
    var members = [String: JSON](minimumCapacity: 12)
    while true {
      skipSpace()
      let start = index
      guard peek == ascii("\"") else { throw mistake("expected a name in quotes, found \(here)") }
      let name = try string()
      guard take(":") else { throw mistake("expected ':' after a name, found \(here)") }
      guard members.updateValue(try value(.member(name)), forKey: name) == nil else {
        throw mistake("the object has \(JSON.string(name).text) twice", at: start)
      }
      if take("}") { return .object(members) }
      guard take(",") else { throw mistake("expected ',' or '}' after a member of an object, found \(here)") }
    }
  }

  private mutating func number() throws(JSON.Mistake) -> JSON {
    let start = index
    let negative = peek == ascii("-")
    if negative { index += 1 }
    if peek == ascii("0") {
      index += 1
      guard peek.map(isDigit) != true else { throw mistake("a number may not begin with a zero", at: start) }
    } else {
      try digits()
    }
    var isReal = false
    if peek == ascii(".") {
      isReal = true
      index += 1
      try digits()
    }
    if peek == ascii("e") || peek == ascii("E") {
      isReal = true
      index += 1
      if peek == ascii("+") || peek == ascii("-") { index += 1 }
      try digits()
    }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    if isReal {
      guard let real = Double(text), real.isFinite else { throw mistake("the number is out of range", at: start) }
      return .real(real)
    }
    if let integer = Int64(text) { return .integer(integer) }
    if let integer = UInt64(text) { return .unsigned(integer) }
    throw mistake("the integer is out of range (\(Int64.min) to \(UInt64.max))", at: start)
  }

  private mutating func digits() throws(JSON.Mistake) {
    guard let byte = peek, isDigit(byte) else { throw mistake("expected a digit, found \(here)") }
    while let byte = peek, isDigit(byte) { index += 1 }
  }

  private mutating func string() throws(JSON.Mistake) -> String {
    let start = index
    index += 1
    var text = ""
    while true {
      // Text without escapes is copied as it is.
      let plain = index..<endOfPlainText(from: index)
      guard let part = self.text(at: plain) else { throw mistake("the string is not valid UTF-8", at: start) }
      index = plain.upperBound
      switch peek {
      case ascii("\""):
        index += 1
        // A string without escapes, as most are, is its first part.
        return text.isEmpty ? part : text + part
      case ascii("\\"):
        text += part
        text.unicodeScalars.append(try escaped())
      case nil: throw mistake("the string has no closing quote", at: start)
      default: throw mistake("a control character in a string must be escaped")
      }
    }
  }

  /// The offset of the first quotation mark, backslash or control character; the end of the text if there is none.
  private func endOfPlainText(from start: Int) -> Int {
    let bytes = bytes.span
    var end = start
    while end < bytes.count, bytes[end] >= 0x20, bytes[end] != ascii("\""), bytes[end] != ascii("\\") { end += 1 }
    return end
  }

  /// The bytes as text; nil if they are not UTF-8.
  private func text(at range: Range<Int>) -> String? {
    // `UTF8Span` is faster than String(validating:as:), which looks up the type of its encoding at
    // each call.
    guard let text = try? UTF8Span(validating: bytes.span.extracting(range)) else { return nil }
    return String(copying: text)
  }

  private mutating func escaped() throws(JSON.Mistake) -> Unicode.Scalar {
    let start = index
    index += 1
    let letter = peek
    index += 1
    switch letter {
    case ascii("\""): return "\""
    case ascii("\\"): return "\\"
    case ascii("/"): return "/"
    case ascii("b"): return "\u{8}"
    case ascii("f"): return "\u{c}"
    case ascii("n"): return "\n"
    case ascii("r"): return "\r"
    case ascii("t"): return "\t"
    case ascii("u"):
      let unit = try codeUnit(of: start)
      if let scalar = Unicode.Scalar(unit) { return scalar }
      // A surrogate is only a character if it is a high one followed by a low one.
      guard unit < 0xDC00, peek == ascii("\\"), bytes.dropFirst(index + 1).first == ascii("u") else {
        throw mistake("an unpaired surrogate", at: start)
      }
      index += 2
      let low = try codeUnit(of: start)
      guard (0xDC00...0xDFFF).contains(low),
        let scalar = Unicode.Scalar(0x10000 + (UInt32(unit - 0xD800) << 10) + UInt32(low - 0xDC00))
      else { throw mistake("an unpaired surrogate", at: start) }
      return scalar
    default:
      throw mistake(#"unknown escape; expected one of \" \\ \/ \b \f \n \r \t \uXXXX"#, at: start)
    }
  }

  private mutating func codeUnit(of escape: Int) throws(JSON.Mistake) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw mistake("\\u must be followed by four hexadecimal digits", at: escape)
      }
      unit = unit << 4 | UInt16(digit)
      index += 1
    }
    return unit
  }

  private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

  private mutating func skipSpace() {
    while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    skipSpace()
    guard peek == ascii(character) else { return false }
    index += 1
    return true
  }

  private mutating func take(word: StaticString) -> Bool {
    let count = word.utf8CodeUnitCount
    guard bytes.count - index >= count, (0..<count).allSatisfy({ bytes[index + $0] == word.utf8Start[$0] }) else {
      return false
    }
    index += count
    return true
  }

  /// The next character in quotation marks, for messages.
  private var here: String {
    character(at: min(index, bytes.count), of: bytes).map { JSON.string($0).text } ?? "the end"
  }

  private func mistake(_ why: String, at offset: Int? = nil) -> JSON.Mistake {
    JSON.Mistake(position: position(at: min(offset ?? index, bytes.count)), why: why)
  }
}
