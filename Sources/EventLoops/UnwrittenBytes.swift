/// Bytes that wait until a descriptor takes them. The cost of a write grows with the bytes written, and not with those that remain.
package struct UnwrittenBytes {
  private var bytes: [UInt8] = []
  /// The number of `bytes` that were written.
  private var written = 0

  package init() {}

  package var count: Int { bytes.count - written }
  package var isEmpty: Bool { written == bytes.count }

  package mutating func append(_ more: some Collection<UInt8>) { bytes.append(contentsOf: more) }

  /// Passes the bytes to a function that writes them from the beginning, and removes the number that it returns.
  /// - Parameter write: returns the number of written bytes; less than zero if it failed.
  /// - Returns: the function's result.
  package mutating func write(_ write: (UnsafeRawBufferPointer) -> Int) -> Int {
    let count = bytes.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[written...])) }
    written += max(count, 0)
    // The rest is moved only when it is smaller than the part that was written.
    if written > bytes.count / 2 {
      bytes = Array(bytes[written...])
      written = 0
    }
    return count
  }
}
