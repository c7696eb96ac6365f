/// A growing buffer of bytes. A message consists of hundreds of small pieces; an `Array` does more work to append one
/// than the piece itself needs.
struct ByteBuffer: ~Copyable {
  private var start: UnsafeMutableRawPointer
  private var capacity: Int
  private(set) var count = 0

  init(capacity: Int = 512) {
    start = .allocate(byteCount: capacity, alignment: 8)
    self.capacity = capacity
  }

  deinit { start.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

  @inline(__always)
  mutating func append<T: FixedWidthInteger>(_ number: T) {
    reserve(MemoryLayout<T>.size)
    (start + count).storeBytes(of: number, as: T.self)
    count += MemoryLayout<T>.size
  }

  @inline(__always)
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    reserve(bytes.count)
    UnsafeMutableRawBufferPointer(start: start + count, count: bytes.count).copyMemory(from: bytes)
    count += bytes.count
  }

  /// Appends padding to a multiple of 4, the length, the text and a NUL.
  @inline(__always)
  mutating func append(text: UnsafeRawBufferPointer) {
    reserve(text.count + 12)
    (start + count).storeBytes(of: 0, as: UInt32.self)
    count = (count + 3) & -4
    (start + count).storeBytes(of: UInt32(text.count), as: UInt32.self)
    count += 4
    UnsafeMutableRawBufferPointer(start: start + count, count: text.count).copyMemory(from: text)
    count += text.count
    (start + count).storeBytes(of: 0, as: UInt8.self)
    count += 1
  }

  /// Appends zeroes up to a multiple of `boundary`, a power of 2 of at most 8.
  @inline(__always)
  mutating func align(_ boundary: Int) {
    reserve(8)
    // Writes 8 zeroes at once; the next append overwrites those beyond `count`.
    (start + count).storeBytes(of: 0, as: UInt64.self)
    count = (count + boundary - 1) & -boundary
  }

  /// Overwrites an integer that was appended before.
  mutating func set(_ number: UInt32, at index: Int) {
    precondition(index >= 0 && index + 4 <= count)
    (start + index).storeBytes(of: number, as: UInt32.self)
  }

  @inline(__always)
  mutating func removeLast() { count -= 1 }

  @inline(__always)
  private mutating func reserve(_ more: Int) {
    if capacity - count < more { grow(more) }
  }

  @inline(never)
  private mutating func grow(_ more: Int) {
    let larger = max(2 * capacity, count + more)
    let new = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
    new.copyMemory(from: start, byteCount: count)
    start.deallocate()
    start = new
    capacity = larger
  }
}
