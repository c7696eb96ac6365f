/// Searches for a text in another one. The searches of the standard library link its regular expressions into a program. They were a
/// tenth of navd's file and cost time at each start, so `make build` hides their module.
extension StringProtocol where SubSequence == Substring {
  /// Splits the text at the first occurrence of `part`.
  /// - Parameter part: compared as UTF-8 bytes, not as characters.
  /// - Returns: the text before and after it; nil if `part` does not occur.
  package func parted(at part: String) -> (before: Substring, after: Substring)? {
    TextFormats.parted(self[...], at: part.utf8)
  }

  /// Returns the text in which `other` replaces each occurrence of `part`.
  /// - Precondition: `part` is not empty.
  package func replacingAll(_ part: String, with other: String) -> String {
    var text = ""
    var rest = self[...]
    while let (before, after) = rest.parted(at: part) {
      text += String(before) + other
      rest = after
    }
    return text + String(rest)
  }
}

/// Splits a text of a known type. In a generic text, the same search takes a hundred times as long.
private func parted(_ text: Substring, at part: String.UTF8View) -> (before: Substring, after: Substring)? {
  guard let first = part.first else { return (text.prefix(0), text) }
  var rest = text.utf8
  while let start = rest.firstIndex(of: first) {
    rest = rest[start...]
    if rest.starts(with: part) { return (text[..<start], text[rest.index(start, offsetBy: part.count)...]) }
    rest.removeFirst()
  }
  return nil
}
