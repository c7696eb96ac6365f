// Why this file exists: ids, titles and values are text of other programs, and a terminal obeys control characters.

extension StringProtocol {
  /// The text on one line, with control characters spelled as in C, for people and for tab-separated columns.
  var printable: String {
    guard unicodeScalars.contains(where: \.isControl) else { return String(self) }
    var text = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "\n": text += "\\n"
      case "\t": text += "\\t"
      case "\r": text += "\\r"
      case _ where scalar.isControl: text += "\\u{" + String(scalar.value, radix: 16) + "}"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}

extension Unicode.Scalar {
  /// C0, DEL, C1, the line and paragraph separators, and what turns the direction of the text around.
  fileprivate var isControl: Bool {
    switch value {
    case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
