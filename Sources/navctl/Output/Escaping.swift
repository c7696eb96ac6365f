// Ids, titles and values are text of other programs: it is escaped for the terminal or format that it is printed in.

extension StringProtocol {
  /// One line without control characters, for terminals and tab-separated columns: they are spelled as in C.
  var printable: String {
    replacingScalars { scalar in
      guard scalar.isControl else { return nil }
      let escapes: [Unicode.Scalar: String] = ["\n": "\\n", "\t": "\\t", "\r": "\\r"]
      return escapes[scalar] ?? "\\u{" + String(scalar.value, radix: 16) + "}"
    }
  }

  /// For Pango and HTML, like g_markup_escape_text.
  var escapedForMarkup: String {
    let escapes: [Unicode.Scalar: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "'": "&#39;", "\"": "&quot;"]
    return replacingScalars { escapes[$0] }
  }

  /// For a quoted label of Graphviz, in which a backslash begins an escape and `&` an HTML entity.
  var escapedForGraphviz: String {
    let escapes: [Unicode.Scalar: String] = ["\"": "\\\"", "\\": "\\\\", "&": "&amp;"]
    return printable.replacingScalars { escapes[$0] }
  }

  private func replacingScalars(_ replacement: (Unicode.Scalar) -> String?) -> String {
    guard unicodeScalars.contains(where: { replacement($0) != nil }) else { return String(self) }
    return unicodeScalars.map { replacement($0) ?? String($0) }.joined()
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
