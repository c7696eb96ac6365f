extension JSON {
  /// The value as JSON without spaces; members are sorted by name.
  ///
  /// Control characters, U+2028 and U+2029 are escaped, so that every reader sees one line. NaN and the infinities, which JSON does not
  /// have, become `null`, as in JavaScript.
  public var text: String {
    var writer = JSONWriter()
    writer.write(self)
    return writer.text
  }
}

private struct JSONWriter {
  var text = ""

  mutating func write(_ value: JSON) {
    switch value {
    case .null: text += "null"
    case .boolean(let flag): text += flag ? "true" : "false"
    case .integer(let number): text += String(number)
    case .unsigned(let number): text += String(number)
    case .real(let number): text += number.isFinite ? String(number) : "null"
    case .string(let string): write(string)
    case .array(let elements):
      text += "["
      var separator = ""
      for element in elements {
        text += separator
        write(element)
        separator = ","
      }
      text += "]"
    case .object(let members):
      text += "{"
      var separator = ""
      for (name, member) in members.sorted(by: { $0.key < $1.key }) {
        text += separator
        write(name)
        text += ":"
        write(member)
        separator = ","
      }
      text += "}"
    }
  }

  private mutating func write(_ string: String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case "\u{0}"..<"\u{20}", "\u{7F}"..<"\u{A0}", "\u{2028}", "\u{2029}":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
