/// A path for messages, on one line. Control characters are shown as `\xNN`; in a path that is not UTF-8, so is every byte that is not
/// ASCII.
package func displayed(_ path: [UInt8]) -> String {
  guard let text = String(validating: path, as: UTF8.self) else {
    return path.map { (0x20..<0x7f).contains($0) ? String(UnicodeScalar($0)) : escaped($0) }.joined()
  }
  return inBytes(text.unicodeScalars[...])
}

/// A text from a file or a client for messages: in quotation marks, on one line, with at most 80 characters.
package func quoted(_ text: String) -> String {
  let scalars = text.unicodeScalars
  let shown = inBytes(scalars.prefix(80))
  return scalars.dropFirst(80).isEmpty ? "“\(shown)”" : "“\(shown)…”"
}

/// The text with its control characters as bytes.
private func inBytes(_ scalars: Substring.UnicodeScalarView) -> String {
  guard scalars.contains(where: \.isControl) else { return String(scalars) }
  return scalars.map { $0.isControl ? String($0).utf8.map(escaped).joined() : String($0) }.joined()
}

private func escaped(_ byte: UInt8) -> String { "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16) }
