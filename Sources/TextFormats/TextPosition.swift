/// A position in a text, for both JSON and TOML.
public struct TextPosition: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The line, from 1.
  public private(set) var line: Int
  /// The column in Unicode scalars, from 1.
  public private(set) var column: Int

  public init(line: Int = 1, column: Int = 1) {
    self.line = line
    self.column = column
  }

  /// The position of the byte at `offset`.
  public init(of offset: Int, in bytes: some Sequence<UInt8>) {
    self.init()
    for byte in bytes.prefix(offset) { advance(over: byte) }
  }

  /// Moves past a byte of UTF-8.
  public mutating func advance(over byte: UInt8) {
    if byte == UInt8(ascii: "\n") {
      line += 1
      column = 1
    } else if byte & 0xc0 != 0x80 {
      column += 1
    }
  }

  public var description: String { "line \(line), column \(column)" }

  public static func < (a: TextPosition, b: TextPosition) -> Bool { (a.line, a.column) < (b.line, b.column) }
}
