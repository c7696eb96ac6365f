import Glibc

/// A growing buffer of bytes. Messages consist of many small pieces, and to append one to an `Array` costs more
/// than the piece itself.
public struct ByteBuffer: ~Copyable {
  @usableFromInline var start: UnsafeMutableRawPointer
  @usableFromInline var capacity: Int
  @usableFromInline var length = 0

  /// The number of bytes.
  @inlinable
  public var count: Int { length }

  @inlinable
  public init(capacity: Int = 512) {
    start = malloc(capacity)!
    self.capacity = capacity
  }

  @inlinable
  deinit { free(start) }

  @inlinable
  public var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: length) }

  @inlinable @inline(__always)
  public mutating func append<T: FixedWidthInteger>(_ number: T) {
    reserve(MemoryLayout<T>.size)
    (start + length).storeBytes(of: number, as: T.self)
    length += MemoryLayout<T>.size
  }

  @inlinable @inline(__always)
  public mutating func append(_ bytes: UnsafeRawBufferPointer) {
    reserve(bytes.count)
    UnsafeMutableRawBufferPointer(start: start + length, count: bytes.count).copyMemory(from: bytes)
    length += bytes.count
  }

  /// Appends padding to a multiple of 4, the length, the text and a NUL.
  @inlinable @inline(__always)
  public mutating func append(text: UnsafeRawBufferPointer) {
    reserve(text.count + 12)
    (start + length).storeBytes(of: 0, as: UInt32.self)
    length = (length + 3) & -4
    (start + length).storeBytes(of: UInt32(text.count), as: UInt32.self)
    length += 4
    UnsafeMutableRawBufferPointer(start: start + length, count: text.count).copyMemory(from: text)
    length += text.count
    (start + length).storeBytes(of: 0, as: UInt8.self)
    length += 1
  }

  /// Appends zeroes up to a multiple of `boundary`, a power of 2 of at most 8.
  @inlinable @inline(__always)
  public mutating func align(_ boundary: Int) {
    reserve(8)
    // Writes 8 zeroes at once; the next append overwrites those beyond `length`.
    (start + length).storeBytes(of: 0, as: UInt64.self)
    length = (length + boundary - 1) & -boundary
  }

  /// Overwrites an integer that was appended before.
  @inlinable
  public mutating func set(_ number: UInt32, at index: Int) {
    precondition(index >= 0 && index + 4 <= length)
    (start + index).storeBytes(of: number, as: UInt32.self)
  }

  @inlinable @inline(__always)
  public mutating func removeLast() { length -= 1 }

  /// Removes all bytes, and keeps the memory if it has at most `most` bytes.
  public mutating func removeAll(keepingAtMost most: Int) {
    if capacity > most { self = ByteBuffer() } else { length = 0 }
  }

  @inlinable @inline(__always)
  mutating func reserve(_ more: Int) {
    if capacity - length < more { grow(more) }
  }

  @usableFromInline @inline(never)
  mutating func grow(_ more: Int) {
    let larger = max(2 * capacity, length + more)
    // The kernel moves a large block without copying it.
    start = realloc(start, larger)!
    capacity = larger
  }
}
