/// Searches for a text in a text. Those of the standard library link the engine of its regular expressions into a program, which was
/// a tenth of navd's file and work at each start, so `make build` hides their module.
extension StringProtocol {
  /// Splits the text at the first occurrence of `part`.
  /// - Parameter part: compared as UTF-8 bytes, not as characters.
  /// - Returns: the text before and after it; nil if `part` does not occur.
  package func parted(at part: String) -> (before: SubSequence, after: SubSequence)? {
    var rest = utf8[...]
    while true {
      if rest.starts(with: part.utf8) {
        return (self[..<rest.startIndex], self[utf8.index(rest.startIndex, offsetBy: part.utf8.count)...])
      }
      guard rest.popFirst() != nil else { return nil }
    }
  }

  /// Returns the text in which `other` replaces each occurrence of `part`.
  /// - Precondition: `part` is not empty.
  package func replacingAll(_ part: String, with other: String) -> String {
    var text = ""
    var rest = self[...]
    while let (before, after) = rest.parted(at: part) {
      text += before + other
      rest = after[...]
    }
    return text + rest
  }
}
