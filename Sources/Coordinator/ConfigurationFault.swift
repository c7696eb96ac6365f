// Why this file exists: whoever wrote a file must find the mistake in it without searching, so every mistake is one line
// that names the place as compilers do.

import CoordinatorAPI

/// A mistake in a file, or a file that cannot be read.
public struct ConfigurationFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file's path, as ``displayed(_:)`` shows it.
  public let file: String
  /// Where in the file; nil where it is about the file as a whole.
  public let position: TextPosition?
  /// What is wrong, and what would do.
  public let message: String

  init(_ file: String, _ position: TextPosition? = nil, _ message: String) {
    self.file = file
    self.position = position
    self.message = message
  }

  /// `file:line:column: message`, as far as there is a place.
  public var description: String {
    position.map { "\(file):\($0.line):\($0.column): \(message)" } ?? "\(file): \(message)"
  }
}

/// All that is wrong with one file; never empty.
struct ConfigurationFaults: Error, Hashable, Sendable {
  let all: [ConfigurationFault]
}

/// A path as text of one line: what is no UTF-8, or would break the line, is written as `\xNN`.
func displayed(_ path: [UInt8]) -> String {
  guard let text = String(validating: path, as: UTF8.self) else {
    return path.map { (0x20..<0x7f).contains($0) ? String(UnicodeScalar($0)) : escaped($0) }.joined()
  }
  return escapingControls(text.unicodeScalars)
}

/// A text from a file or a client in quotation marks, on one line, and no longer than a message can bear.
func quoted(_ text: String) -> String {
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
