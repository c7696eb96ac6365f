// Ids, titles and values are text of other programs: it is escaped for the terminal or format that it is printed in.

extension StringProtocol {
  /// One line without control characters, for terminals and tab-separated columns: they are spelled as in C.
  var printable: String {
    replacingScalars { scalar in
      switch scalar {
      case "\n": "\\n"
      case "\t": "\\t"
      case "\r": "\\r"
      case _ where scalar.isControl: "\\u{" + String(scalar.value, radix: 16) + "}"
      default: nil
      }
    }
  }

  /// For Pango and HTML, like g_markup_escape_text.
  var escapedForMarkup: String {
    replacingScalars { scalar in
      switch scalar {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      case "'": "&#39;"
      case "\"": "&quot;"
      default: nil
      }
    }
  }

  /// For a quoted label of Graphviz, in which a backslash begins an escape and `&` an HTML entity.
  var escapedForGraphviz: String {
    printable.replacingScalars { scalar in
      switch scalar {
      case "\"": "\\\""
      case "\\": "\\\\"
      case "&": "&amp;"
      default: nil
      }
    }
  }

  private func replacingScalars(_ replacement: (Unicode.Scalar) -> String?) -> String {
    guard unicodeScalars.contains(where: { replacement($0) != nil }) else { return String(self) }
    var text = ""
    for scalar in unicodeScalars {
      if let replacement = replacement(scalar) { text += replacement } else { text.unicodeScalars.append(scalar) }
    }
    return text
  }
}

extension Unicode.Scalar {
  /// C0, DEL, C1, the line and paragraph separators, and characters that change the direction of text.
  fileprivate var isControl: Bool {
    switch value {
    case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
