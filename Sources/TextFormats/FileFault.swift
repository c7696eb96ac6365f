// Why this file exists: whoever wrote a file must find the mistake in it without searching, so every mistake is one line
// that names the place as compilers do.

/// A mistake in a file, or a file that cannot be read.
public struct FileFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file's path, as ``displayed(_:)`` shows it.
  public let file: String
  /// Where in the file; nil where it is about the file as a whole.
  public let position: TextPosition?
  /// What is wrong, and what would do.
  public let message: String

  package init(_ file: String, _ position: TextPosition? = nil, _ message: String) {
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
package struct FileFaults: Error, Hashable, Sendable {
  package let all: [FileFault]

  package init(all: [FileFault]) { self.all = all }
}
