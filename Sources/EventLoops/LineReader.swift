/// Reads lines from bytes as they arrive.
package struct LineReader {
  /// A whole line, without its end; nil if it was longer than the limit.
  package typealias Line = [UInt8]?

  /// The limit in bytes of a line; a longer line is skipped.
  private let limit: Int
  private var buffer: [UInt8] = []
  private var start = 0
  /// The number of bytes in which no line ends.
  private var searched = 0
  private var isPassing = false

  package init(limit: Int) { self.limit = limit }

  package mutating func take(_ bytes: some Sequence<UInt8>) {
    buffer.removeFirst(start)
    searched -= start
    start = 0
    buffer += bytes
  }

  /// - Returns: nil if no whole line has arrived yet.
  package mutating func next() -> Line? {
    guard let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) else {
      if buffer.count - start > limit {
        isPassing = true
        buffer = []
        start = 0
      }
      searched = buffer.count
      return nil
    }
    defer { (start, searched, isPassing) = (end + 1, end + 1, false) }
    return isPassing || end - start > limit ? .some(nil) : Array(buffer[start..<end])
  }

  /// The line that ends with the bytes, after ``next()`` has returned nil; nil if the last line has an end.
  package var rest: Line? {
    if isPassing { return .some(nil) }
    if start == buffer.count { return nil }
    return Array(buffer[start...])
  }
}
