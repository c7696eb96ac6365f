extension String {
  /// The number of columns on a terminal: 0 for combining marks, 2 for East Asian wide characters and emoji.
  var displayWidth: Int { unicodeScalars.reduce(0) { $0 + $1.displayWidth } }

  /// The beginning of the text that fits into `columns`, with “…” if the text is cut.
  func cut(to columns: Int) -> String {
    guard displayWidth > columns else { return self }
    var text = ""
    var rest = columns - 1
    // Whole characters are kept or cut, so that no combining mark is cut off.
    for character in self {
      rest -= String(character).displayWidth
      if rest < 0 { break }
      text.append(character)
    }
    return columns > 0 ? text + "…" : ""
  }
}

extension Unicode.Scalar {
  fileprivate var displayWidth: Int {
    if isASCII { return 1 }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark: return 0
    // Terminals show a soft hyphen.
    case .format: return value == 0xAD ? 1 : 0
    default: break
    }
    if (0x1160...0x11FF).contains(value) { return 0 }
    // Two regional indicators form a flag, which has two columns.
    if (0x1F1E6...0x1F1FF).contains(value) { return 1 }
    return properties.isEmojiPresentation || Self.wide.contains { $0.contains(value) } ? 2 : 1
  }

  /// Classes W and F of Unicode's EastAsianWidth.txt, without emoji.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4CF,
    0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
    0xFFE0...0xFFE6, 0x16FE0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x3FFFD,
  ]
}
