/// Reads TOML 1.0 (https://toml.io/en/v1.0.0) by recursive descent, with the position of every value and mistake.
///
/// Differences from the specification:
/// - Dates and times are recognized by their first part and not checked further.
/// - U+0000 is refused, since neither D-Bus nor a command can carry it.
/// - Two keys of a table that are canonically equivalent in Unicode are refused.
/// - Tables and arrays that are nested deeper than ``maximumDepth`` are refused.
/// - A byte order mark at the start is skipped.
package struct TOMLParser {
  /// The largest depth of nested tables and arrays. It bounds the recursion here and in everything that is made of the document.
  static let maximumDepth = 64

  private let file: String
  private let bytes: [UInt8]
  private var index = 0
  private var here = TextPosition()
  /// The number of tables and arrays around the current position.
  private var depth = 0

  /// Reads a whole document.
  /// - Parameter file: the file's name in faults.
  /// - Throws: the first mistake.
  package static func document(_ bytes: [UInt8], file: String) throws(FileFault) -> [String: TOMLNode] {
    var parser = TOMLParser(bytes, file: file)
    return try parser.document()
  }

  private init(_ bytes: [UInt8], file: String) {
    self.bytes = bytes
    self.file = file
  }

  private mutating func document() throws(FileFault) -> [String: TOMLNode] {
    do {
      _ = try UTF8Span(validating: bytes.span)
    } catch {
      throw fault("expected UTF-8, found other bytes", at: TextPosition(of: error.byteOffsets.lowerBound, in: bytes))
    }
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { index = 3 }
    let document = TOMLTable()
    var table = document
    while true {
      try skipLines()
      guard let byte else { return document.content }
      if byte == ascii("[") {
        advance()
        let isElement = take("[")
        let path = try keys(atMost: Self.maximumDepth)
        try expect("]", "after the keys of a header")
        if isElement { try expect("]", "right after the first “]”") }
        table = try reportingConflict { () throws(TOMLTable.Conflict) in
          isElement ? try document.element(at: path) : try document.table(at: path)
        }
        depth = path.count
      } else {
        try keyAndValue(into: table)
      }
      skipBlanks()
      try skipComment()
      guard self.byte == nil || isLineEnd else { throw fault("expected the end of the line, found \(found)") }
    }
  }

  // MARK: Keys

  private mutating func keyAndValue(into table: TOMLTable) throws(FileFault) {
    let path = try keys(atMost: Self.maximumDepth + 1 - depth)
    try expect("=", "after a key")
    skipBlanks()
    depth += path.count - 1
    let content = try value()
    depth -= path.count - 1
    try reportingConflict { () throws(TOMLTable.Conflict) in try table.set(content, at: path) }
  }

  private func reportingConflict<Result>(
    _ body: () throws(TOMLTable.Conflict) -> Result
  ) throws(FileFault) -> Result {
    do throws(TOMLTable.Conflict) {
      return try body()
    } catch {
      throw FileFault(file, error.position, error.message)
    }
  }

  private mutating func keys(atMost maxCount: Int) throws(FileFault) -> [TOMLTable.Key] {
    var path: [TOMLTable.Key] = []
    repeat {
      skipBlanks()
      guard path.count < maxCount else { throw nestedTooDeep }
      let position = here
      path.append(TOMLTable.Key(name: try key(), position: position))
      skipBlanks()
    } while take(".")
    return path
  }

  private mutating func key() throws(FileFault) -> String {
    let start = index
    if byte == ascii("\"") || byte == ascii("'") {
      guard !bytes[index...].starts(with: [bytes[index], bytes[index], bytes[index]]) else {
        throw fault("expected a key, found a multi-line string; write the key in single or double quotes")
      }
      return try string()
    }
    while let byte, isKeyByte(byte) { advance() }
    guard index > start else {
      let comment = byte == ascii("/") || byte == ascii(";") ? "; a comment begins with “#”" : ""
      throw fault(
        "expected a key, found \(found); a key is letters, digits, “_” and “-”, or a string in quotes\(comment)")
    }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  // MARK: Values

  private mutating func value() throws(FileFault) -> TOMLNode.Content {
    switch byte {
    case ascii("\""), ascii("'"): return .string(try string())
    case ascii("["): return try nested { parser throws(FileFault) in try parser.array() }
    case ascii("{"): return try nested { parser throws(FileFault) in try parser.inlineTable() }
    default: return try word()
    }
  }

  private mutating func nested(
    _ body: (inout TOMLParser) throws(FileFault) -> TOMLNode.Content
  ) throws(FileFault) -> TOMLNode.Content {
    guard depth < Self.maximumDepth else { throw nestedTooDeep }
    depth += 1
    defer { depth -= 1 }
    advance()  // the opening bracket
    return try body(&self)
  }

  private var nestedTooDeep: FileFault { fault("nested more than \(Self.maximumDepth) levels deep") }

  private mutating func array() throws(FileFault) -> TOMLNode.Content {
    var elements: [TOMLNode] = []
    while true {
      try skipLines()
      if take("]") { return .array(elements) }
      let position = here
      elements.append(TOMLNode(position: position, content: try value()))
      try skipLines()
      if take("]") { return .array(elements) }
      try expect(",", "or “]” after an element of an array")
    }
  }

  private mutating func inlineTable() throws(FileFault) -> TOMLNode.Content {
    let table = TOMLTable()
    skipBlanks()
    if take("}") { return .table([:]) }
    while true {
      skipBlanks()
      guard !isLineEnd, byte != ascii("#") else {
        throw fault(
          "expected a key, found \(found): a table in braces is on one line; or end the file with a line such as “[window]”, "
            + "and write the keys on lines below it")
      }
      try keyAndValue(into: table)
      skipBlanks()
      if take("}") { return .table(table.content) }
      let hint = byte.map(isKeyByte) == true ? "; write a text with blanks in quotes" : ""
      try expect(",", "or “}” on the same line, after a value in braces", hint)
    }
  }

  /// Reads a number, a date, `true` or `false`.
  private mutating func word() throws(FileFault) -> TOMLNode.Content {
    let position = here
    let start = index
    while let byte, isKeyByte(byte) || byte == ascii("+") || byte == ascii(".") || byte == ascii(":") { advance() }
    let word = String(decoding: bytes[start..<index], as: UTF8.self)
    switch word {
    case "": throw fault("expected a value, found \(found)" + (isLineEnd ? "" : #"; write strings in quotes, " or '"#))
    case "True", "TRUE", "False", "FALSE":
      throw fault("\(quoted(word)) is not a value; write \(word.lowercased())", at: position)
    case "true": return .boolean(true)
    case "false": return .boolean(false)
    case "inf", "+inf": return .real(.infinity)
    case "-inf": return .real(-.infinity)
    case "nan", "+nan", "-nan": return .real(.nan)
    default: break
    }
    if Self.isDate(word.utf8) {
      // A space may separate the date and the time.
      let rest = bytes[index...].dropFirst()
      if byte == 0x20, word.utf8.count == 10, Self.isDate(rest.prefix(3)) {
        advance()
        while let byte, isDigit(byte) || "+-:.Zz".utf8.contains(byte) { advance() }
      }
      return .date
    }
    if let number = Self.number(word) { return number }
    let isDecimal = word.utf8.allSatisfy { isDigit($0) || "+-_".utf8.contains($0) }
    if isDecimal || ["0x", "0o", "0b"].contains(where: word.hasPrefix) {
      throw fault("expected an integer from \(Int64.min) to \(Int64.max), found \(quoted(word))", at: position)
    }
    throw fault("\(quoted(word)) is not a value; write strings in quotes", at: position)
  }

  /// Whether a word begins with a year and `-`, or an hour and `:`.
  private static func isDate(_ word: some Collection<UInt8>) -> Bool {
    let digits = word.prefix(while: isDigit)
    let next = word.dropFirst(digits.count).first
    return digits.count == 4 && next == ascii("-") || digits.count == 2 && next == ascii(":")
  }

  private static func number(_ word: String) -> TOMLNode.Content? {
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where word.hasPrefix(prefix) {
      let digits = word.utf8.dropFirst(2)
      guard digits.first != ascii("+"), digits.first != ascii("-") else { return nil }
      return withoutUnderscores(digits, isDigit: isHexadecimal).flatMap { Int64($0, radix: radix) }.map { .integer($0) }
    }
    var rest = Substring(word).utf8[...]
    if rest.first == ascii("+") || rest.first == ascii("-") { rest.removeFirst() }
    let isInteger = rest.allSatisfy { isDigit($0) || $0 == ascii("_") }
    // A leading zero is not followed by a digit. Both sides of a point are digits, and so is an exponent after its sign.
    if rest.first == ascii("0"), let second = rest.dropFirst().first, isDigit(second) || second == ascii("_") {
      return nil
    }
    let parts = rest.split(separator: ascii("e"), maxSplits: 1, omittingEmptySubsequences: false)
      .flatMap { $0.split(separator: ascii("E"), maxSplits: 1, omittingEmptySubsequences: false) }
    guard parts.count <= 2, let mantissa = parts.first else { return nil }
    let sides = mantissa.split(separator: ascii("."), omittingEmptySubsequences: false)
    guard sides.count <= 2, sides.allSatisfy({ withoutUnderscores($0, isDigit: isDigit) != nil }) else { return nil }
    if parts.count == 2 {
      var exponent = parts[1]
      if exponent.first == ascii("+") || exponent.first == ascii("-") { exponent.removeFirst() }
      guard withoutUnderscores(exponent, isDigit: isDigit) != nil else { return nil }
    }
    let plain = String(word.filter { $0 != "_" })
    return isInteger ? Int64(plain).map { .integer($0) } : Double(plain).map { .real($0) }
  }

  /// The digits without underscores; nil if there are none, or if an underscore is not between two digits.
  private static func withoutUnderscores(
    _ text: Substring.UTF8View, isDigit: (UInt8) -> Bool
  ) -> String? {
    let groups = text.split(separator: ascii("_"), omittingEmptySubsequences: false)
    guard groups.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isDigit) }) else { return nil }
    return groups.map { String(Substring($0)) }.joined()
  }

  // MARK: Strings

  private mutating func string() throws(FileFault) -> String {
    let start = here
    guard let quote = byte else { throw fault("expected a string, found \(found)") }
    let isBasic = quote == ascii("\"")
    let end = [UInt8](repeating: quote, count: bytes[index...].starts(with: [quote, quote, quote]) ? 3 : 1)
    let isMultiline = end.count == 3
    advance(by: end.count)
    if isMultiline { skipLineEnd() }
    var text: [UInt8] = []
    while let byte {
      if bytes[index...].starts(with: end) {
        advance(by: end.count)
        // The string may end with up to two quotes, right before the three that close it.
        for _ in 0..<(isMultiline ? 2 : 0) where self.byte == quote {
          text.append(quote)
          advance()
        }
        return String(decoding: text, as: UTF8.self)
      }
      switch byte {
      case ascii("\\") where isBasic:
        try escape(into: &text, isMultiline)
      case _ where isMultiline && isLineEnd:
        text.append(ascii("\n"))
        skipLineEnd()
      default:
        if !isMultiline, byte == 0x0a || byte == 0x0d {
          throw fault("the string has no closing quote on its line", at: start)
        }
        try refuseControl(byte)
        text.append(byte)
        advance()
      }
    }
    throw fault("the string has no closing quote", at: start)
  }

  private mutating func escape(into text: inout [UInt8], _ isMultiline: Bool) throws(FileFault) {
    let start = here
    advance()
    if isMultiline, let rest = bytes[index...].first(where: { $0 != 0x20 && $0 != 0x09 }), rest == 0x0a || rest == 0x0d
    {
      // A backslash at the end of a line removes the line end and all blanks and empty lines after it.
      skipBlanks()
      if let byte, !isLineEnd { try refuseControl(byte) }
      while isLineEnd {
        skipLineEnd()
        skipBlanks()
      }
      return
    }
    let letter = byte
    advance()
    switch letter {
    case ascii("b"): text.append(0x08)
    case ascii("t"): text.append(0x09)
    case ascii("n"): text.append(0x0a)
    case ascii("f"): text.append(0x0c)
    case ascii("r"): text.append(0x0d)
    case ascii("\""), ascii("\\"): text.append(bytes[index - 1])
    case ascii("u"), ascii("U"):
      let (name, count) = letter == ascii("u") ? ("\\u", 4) : ("\\U", 8)
      let digits = bytes[index...].prefix(count)
      guard digits.count == count, digits.allSatisfy(isHexadecimal),
        let number = UInt32(String(decoding: digits, as: UTF8.self), radix: 16), let scalar = Unicode.Scalar(number)
      else {
        let found = quoted(name + String(decoding: digits, as: UTF8.self))
        throw fault(
          "expected \(name) and the \(count) hexadecimal digits of a Unicode scalar value, found \(found)", at: start)
      }
      guard number != 0 else {
        throw fault("U+0000 is not allowed: text on the bus and in commands cannot contain NUL", at: start)
      }
      advance(by: count)
      text += Array(String(scalar).utf8)
    default:
      let found = letter.map { quoted("\\" + String(decoding: [$0], as: UTF8.self)) } ?? self.found
      throw fault(
        #"expected one of \b \t \n \f \r \" \\ \uXXXX \UXXXXXXXX, found \#(found); in single quotes, “\” is itself"#,
        at: start)
    }
  }

  // MARK: Bytes

  private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

  private var isLineEnd: Bool { byte == 0x0a || bytes[index...].starts(with: [0x0d, 0x0a]) }

  private mutating func advance(by count: Int = 1) {
    for _ in 0..<count where index < bytes.count {
      here.advance(over: bytes[index])
      index += 1
    }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard byte == ascii(character) else { return false }
    advance()
    return true
  }

  /// - Parameters:
  ///   - context: the middle of the message, as in `after a key`.
  ///   - hint: its end.
  private mutating func expect(
    _ character: Unicode.Scalar, _ context: String, _ hint: String = ""
  ) throws(FileFault) {
    guard take(character) else { throw fault("expected “\(character)” \(context), found \(found)\(hint)") }
  }

  private mutating func skipBlanks() { while byte == 0x20 || byte == 0x09 { advance() } }

  private mutating func skipLineEnd() { if isLineEnd { advance(by: byte == 0x0d ? 2 : 1) } }

  private mutating func skipComment() throws(FileFault) {
    guard byte == ascii("#") else { return }
    while let byte, !isLineEnd {
      try refuseControl(byte)
      advance()
    }
  }

  /// Skips blanks, comments and line ends.
  private mutating func skipLines() throws(FileFault) {
    while true {
      skipBlanks()
      try skipComment()
      guard isLineEnd else { return }
      skipLineEnd()
    }
  }

  private func refuseControl(_ byte: UInt8) throws(FileFault) {
    if byte < 0x20 && byte != 0x09 || byte == 0x7f {
      throw fault("the control character \(displayed([byte])) is not allowed here")
    }
  }

  /// The next character in quotation marks, for messages.
  private var found: String {
    if isLineEnd { return "the end of the line" }
    return character(at: index, of: bytes).map(quoted) ?? "the end of the file"
  }

  private func fault(_ message: String, at position: TextPosition? = nil) -> FileFault {
    FileFault(file, position ?? here, message)
  }
}

/// Whether a key without quotes may contain the byte.
private func isKeyByte(_ byte: UInt8) -> Bool {
  isDigit(byte) || (ascii("a")...ascii("z")).contains(byte | 0x20) || byte == ascii("_") || byte == ascii("-")
}
