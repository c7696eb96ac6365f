import DBusValues
import PresentationRules

/// Encodes values. Numbers are little-endian; texts, bytes and lists follow their length, a `u32`.
///
/// A D-Bus value is its signature, followed by its encoding in a message, without padding. A field is a byte with its code, followed by
/// its content.
struct PayloadWriter: ~Copyable {
  private var buffer = ByteBuffer()

  var count: Int { buffer.count }
  var bytes: [UInt8] { [UInt8](buffer.bytes) }

  /// Removes all bytes, but keeps the memory that most turns need.
  mutating func removeAll() { buffer.removeAll(keepingAtMost: 64 << 10) }

  mutating func append(_ some: some Collection<UInt8>) {
    let isContiguous: Void? = some.withContiguousStorageIfAvailable { buffer.append(UnsafeRawBufferPointer($0)) }
    if isContiguous == nil { for byte in some { buffer.append(byte) } }
  }

  @inline(__always)
  mutating func append(integer: some FixedWidthInteger) { buffer.append(integer.littleEndian) }

  mutating func put(_ value: some Recordable) { value.write(to: &self) }

  mutating func put(_ first: some Recordable, _ second: some Recordable) {
    put(first)
    put(second)
  }

  mutating func put(_ first: some Recordable, _ second: some Recordable, _ third: some Recordable) {
    put(first, second)
    put(third)
  }

  mutating func put(bytes some: some Collection<UInt8>) {
    put(UInt32(some.count))
    append(some)
  }

  mutating func set(_ number: UInt32, at index: Int) {
    buffer.set(number.littleEndian, at: index)
  }

  mutating func put(contentOf value: Value) {
    switch value {
    case .byte(let number): put(number)
    case .boolean(let bool): put(bool)
    case .int16(let number): put(number)
    case .uint16(let number): put(number)
    case .int32(let number): put(number)
    case .uint32(let number): put(number)
    case .int64(let number): put(number)
    case .uint64(let number): put(number)
    case .double(let number): put(number.bitPattern)
    case .string(let text): put(text)
    case .objectPath(let path): put(path.text)
    case .signature(let signature): put(signature.text)
    case .variant(let inner): put(inner)
    case .bytes(let some): put(bytes: some)
    case .array(_, let elements):
      put(UInt32(elements.count))
      for element in elements { put(contentOf: element) }
    case .dictionary(_, _, let entries):
      put(UInt32(entries.count))
      for (key, value) in entries {
        put(contentOf: key)
        put(contentOf: value)
      }
    case .properties(let entries): put(entries)
    case .structure(let fields): for field in fields { put(contentOf: field) }
    // The rules accept no descriptor.
    case .descriptor: break
    }
  }
}
