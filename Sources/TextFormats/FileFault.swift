/// A mistake in a file, or a file that cannot be read, on one line as compilers show it.
public struct FileFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file's path, as ``displayed(_:)`` shows it.
  public let file: String
  /// The position of the mistake; nil if the whole file is at fault.
  public let position: TextPosition?
  /// The mistake: what was expected and what was found.
  public let message: String

  package init(_ file: String, _ position: TextPosition? = nil, _ message: String) {
    self.file = file
    self.position = position
    self.message = message
  }

  /// `file:line:column: message`, or `file: message` without a position.
  public var description: String {
    position.map { "\(file):\($0.line):\($0.column): \(message)" } ?? "\(file): \(message)"
  }
}

/// All mistakes in one file; never empty.
package struct FileFaults: Error, Hashable, Sendable {
  package let all: [FileFault]

  package init(all: [FileFault]) { self.all = all }
}
