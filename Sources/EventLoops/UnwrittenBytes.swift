/// Bytes that wait until a descriptor takes them. Taking some away costs the time of these, however many follow.
package struct UnwrittenBytes {
  private var bytes: [UInt8] = []
  /// The number of `bytes` that were written.
  private var written = 0

  package init() {}

  package var count: Int { bytes.count - written }
  package var isEmpty: Bool { written == bytes.count }

  package mutating func append(_ more: some Collection<UInt8>) { bytes.append(contentsOf: more) }

  /// Hands the bytes to a function that writes from their beginning, and takes away as many as it says to have written.
  /// - Parameter write: its result is less than zero if it failed.
  /// - Returns: its result.
  package mutating func write(_ write: (UnsafeRawBufferPointer) -> Int) -> Int {
    let count = bytes.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[written...])) }
    written += max(count, 0)
    // Moves the rest when it is less than what was written.
    if written > bytes.count / 2 {
      bytes = Array(bytes[written...])
      written = 0
    }
    return count
  }
}
