import TextFormats

// Ids, titles and values are text of other programs, and are escaped for the format that is printed. `StandardOutput` and
// `ErrorOutput` also escape text for a terminal.

extension StringProtocol {
  /// One line without control characters, for menus and tab-separated columns.
  var printable: String { escapingControls { $0.isDirectionMark } }

  /// The text escaped for Pango and HTML, like g_markup_escape_text.
  var escapedForMarkup: String {
    let escapes: [Unicode.Scalar: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "'": "&#39;", "\"": "&quot;"]
    return replacingScalars { escapes[$0] }
  }

  /// The text escaped for a quoted label of Graphviz, in which a backslash begins an escape and `&` an HTML entity.
  var escapedForGraphviz: String {
    let escapes: [Unicode.Scalar: String] = ["\"": "\\\"", "\\": "\\\\", "&": "&amp;"]
    return printable.replacingScalars { escapes[$0] }
  }
}
