/// The standard library's own search for a text brings the engine of its regular expressions into a program: a tenth of navd's
/// file, and more work at each start. `make build` does not know it.
extension StringProtocol {
  /// What is before and after the first place of a text in this one; nil if it is not in it.
  /// - Parameter part: the text; its bytes in UTF-8 count, not its characters.
  package func parted(at part: String) -> (before: SubSequence, after: SubSequence)? {
    var rest = utf8[...]
    while true {
      if rest.starts(with: part.utf8) {
        return (self[..<rest.startIndex], self[utf8.index(rest.startIndex, offsetBy: part.utf8.count)...])
      }
      guard rest.popFirst() != nil else { return nil }
    }
  }

  /// The text with another in each place of a part that is not empty.
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
