/// A path for messages, on one line: control characters, and all bytes but ASCII if it is not UTF-8, are shown as `\xNN`.
package func displayed(_ path: [UInt8]) -> String {
  guard let text = String(validating: path, as: UTF8.self) else {
    return path.map { (0x20..<0x7f).contains($0) ? String(UnicodeScalar($0)) : escaped($0) }.joined()
  }
  return escapingControls(text.unicodeScalars)
}

/// A text from a file or a client for messages: in quotation marks, on one line, at most 80 characters.
package func quoted(_ text: String) -> String {
  let scalars = text.unicodeScalars
  let shown = escapingControls(scalars.prefix(80))
  return scalars.dropFirst(80).isEmpty ? "“\(shown)”" : "“\(shown)…”"
}

private func escapingControls(_ scalars: some Sequence<Unicode.Scalar>) -> String {
  scalars.map { scalar in
    scalar.properties.generalCategory == .control ? String(scalar).utf8.map(escaped).joined() : String(scalar)
  }.joined()
}

private func escaped(_ byte: UInt8) -> String { "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16) }
