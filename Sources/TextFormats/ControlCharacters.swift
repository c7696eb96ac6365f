// Ids, titles, values and outputs are texts of other programs. Characters that a terminal would take for commands are spelled out.

extension Unicode.Scalar {
  /// Whether a terminal or a reader may take the character for a command: it begins a control sequence, moves the cursor, ends a line
  /// or changes the direction of text. These are C0, DEL, C1, the line and paragraph separators, and Unicode's controls of direction.
  package var isControl: Bool {
    switch value {
    case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// Whether the character only affects the direction of its neighbours, as right-to-left text needs it.
  package var isDirectionMark: Bool { [0x061C, 0x200E, 0x200F].contains(value) }

  /// The spelling in JSON, `\u001b`.
  fileprivate var jsonEscape: String {
    let digits = String(value, radix: 16)
    return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}

extension StringProtocol {
  /// The text with its control characters spelled as in Swift: `\n`, `\u{1b}`.
  /// - Parameter isKept: whether a control character is left in.
  package func escapingControls(except isKept: (Unicode.Scalar) -> Bool = { _ in false }) -> String {
    replacingScalars { scalar in
      guard scalar.isControl, !isKept(scalar) else { return nil }
      let escapes: [Unicode.Scalar: String] = ["\n": "\\n", "\t": "\\t", "\r": "\\r"]
      return escapes[scalar] ?? "\\u{" + String(scalar.value, radix: 16) + "}"
    }
  }

  /// The JSON without control characters in its strings, with the same meaning.
  package var escapingControlsInJSON: String { replacingScalars { $0.isControl ? $0.jsonEscape : nil } }

  /// - Parameter replacement: the text for a scalar; nil if it stays.
  package func replacingScalars(_ replacement: (Unicode.Scalar) -> String?) -> String {
    // The conversion to `String` saves time: a text of a generic type takes ten times as long.
    let scalars = String(self).unicodeScalars
    guard scalars.contains(where: { replacement($0) != nil }) else { return String(scalars) }
    return scalars.reduce(into: "") { $0 += replacement($1) ?? String($1) }
  }
}
