import DBusValues
import Glibc

/// Writes a message ("D-Bus Specification", *Marshaling (Wire Format)*). The bus disconnects senders of invalid messages,
/// so every value is checked against its type.
package struct MessageWriter: ~Copyable {
  /// The largest size in bytes. The specification allows an array of this size, and a message of twice this size (*Message Protocol*).
  private static let maxSize = 64 << 20
  /// The limit of nested containers, variants included ("D-Bus Specification", *Valid Signatures*).
  private static let maxDepth = 64
  /// The limit of the kernel for one write (SCM_MAX_FD).
  private static let maxDescriptors = 253

  private var buffer = ByteBuffer()
  private(set) var descriptors: [Descriptor] = []
  private var depth = 0

  package init() {}

  /// The number of bytes that have been written.
  var count: Int { buffer.count }
  package var bytes: UnsafeRawBufferPointer { buffer.bytes }

  // MARK: Arguments

  /// Appends an argument of a contract.
  /// - Throws: the errors of ``append(_:)-(Value)``.
  package mutating func append<T: ValueConvertible>(_ argument: T) throws(DBusError) {
    // A fast path for the most frequent type.
    if T.self == Properties.self, let properties = argument as? Properties { return try write(properties) }
    let value = argument.value
    switch value {
    case .string(let text): try self.text(text)
    case .objectPath(let path): try text(path.text)
    case .uint64(let number): integer(number)
    default: try write(value, as: T.valueType)
    }
  }

  /// Appends a value with its own type.
  /// - Throws: `InvalidArgs` for a string with an embedded NUL, a value that does not match its declared type, a type that the
  ///   specification forbids, and containers that are nested too deep; `LimitsExceeded` for a message that is too large. Then the
  ///   message cannot be used.
  mutating func append(_ value: Value) throws(DBusError) {
    try check(value.type)
    try write(value, as: value.type)
  }

  // MARK: Basic types

  /// Pads with zeroes, from the start of the message to a multiple of `boundary`.
  package mutating func align(_ boundary: Int) { buffer.align(boundary) }

  @inline(__always)
  package mutating func integer<T: FixedWidthInteger>(_ number: T) {
    buffer.align(MemoryLayout<T>.size)
    buffer.append(number)
  }

  /// Overwrites an integer that was written before.
  mutating func set(_ number: UInt32, at index: Int) { buffer.set(number, at: index) }

  /// Appends bytes that were written elsewhere at the same alignment.
  package mutating func copy(_ bytes: [UInt8]) { bytes.withUnsafeBytes { buffer.append($0) } }

  package mutating func text(_ text: String) throws(DBusError) {
    func append(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
      let hasNUL = utf8.baseAddress.map { memchr($0, 0, utf8.count) != nil } ?? false
      guard utf8.count <= Self.maxSize, !hasNUL else { return false }
      buffer.append(text: UnsafeRawBufferPointer(utf8))
      return true
    }
    // Every text on Linux is contiguous; to ensure this would take a reference to it.
    let isValid = text.utf8.withContiguousStorageIfAvailable(append) ?? Array(text.utf8).withUnsafeBufferPointer(append)
    guard isValid else {
      guard text.utf8.count <= Self.maxSize else { throw .tooLarge() }
      throw DBusError(name: .invalidArgs, message: "a D-Bus string cannot contain NUL")
    }
  }

  package mutating func signature(_ text: String) {
    var text = text
    text.withUTF8 { utf8 in
      buffer.append(UInt8(utf8.count))
      buffer.append(UnsafeRawBufferPointer(utf8))
      buffer.append(UInt8(0))
    }
  }

  /// Appends the signature of a type of one letter.
  @inline(__always)
  private mutating func basicSignature(_ type: ValueType) {
    // The length, the letter and NUL are 3 bytes, so the fourth is removed again.
    buffer.append(UInt32(littleEndian: 1 | UInt32(type.code) << 8))
    buffer.removeLast()
  }

  private mutating func descriptor(_ descriptor: Descriptor) throws(DBusError) {
    guard fcntl(descriptor.number, F_GETFD) >= 0 else {
      throw DBusError(name: .invalidArgs, message: "file descriptor \(descriptor.number) is not open")
    }
    guard descriptors.count < Self.maxDescriptors else { throw .tooLarge() }
    integer(UInt32(descriptors.count))
    descriptors.append(descriptor)
  }

  // MARK: Containers

  /// - Parameter alignment: the alignment of the elements.
  @inline(__always)
  package mutating func array(
    alignment: Int, _ elements: (inout MessageWriter) throws(DBusError) -> Void
  ) throws(DBusError) {
    try nested { writer throws(DBusError) in
      writer.integer(UInt32(0))
      let start = writer.count
      // The array's length does not include the padding before its first element.
      writer.align(alignment)
      let first = writer.count
      try elements(&writer)
      try writer.checkSize()
      writer.set(UInt32(writer.count - first), at: start - 4)
    }
  }

  /// Appends a structure, or an entry of a dictionary.
  @inline(__always)
  mutating func structure(_ fields: (inout MessageWriter) throws(DBusError) -> Void) throws(DBusError) {
    try nested { writer throws(DBusError) in
      writer.align(8)
      try fields(&writer)
    }
  }

  mutating func variant(_ inner: Value) throws(DBusError) {
    try nested { writer throws(DBusError) in
      // Fast paths for the most frequent types.
      switch inner {
      case .properties(let properties):
        writer.signature("a{sv}")
        return try writer.write(properties)
      case .uint64(let number):
        writer.basicSignature(.uint64)
        return writer.integer(number)
      default: break
      }
      let type = inner.type
      if type.isBasic || type == .variant {
        writer.basicSignature(type)
      } else {
        try writer.check(type)
        writer.signature(type.signature)
      }
      try writer.write(inner, as: type)
    }
  }

  package mutating func write(_ properties: Properties) throws(DBusError) {
    try array(alignment: 8) { writer throws(DBusError) in
      for (name, value) in properties { try writer.property(name, value) }
    }
  }

  /// Appends an entry of `a{sv}` with a known name and type.
  mutating func property(_ header: PropertyHeader, _ value: Value) throws(DBusError) {
    buffer.align(8)
    copy(header.bytes)
    switch (value, header.type) {
    // The most frequent types need no check of the depth.
    case (.string(let text), .string): try self.text(text)
    case (.uint64(let number), .uint64): integer(number)
    case (.uint32(let number), .uint32): integer(number)
    case (.boolean(let flag), .boolean): integer(UInt32(flag ? 1 : 0))
    default:
      try nested { writer throws(DBusError) in
        try writer.nested { writer throws(DBusError) in try writer.write(value, as: header.type) }
      }
    }
  }

  /// Appends an entry of `a{sv}`.
  package mutating func property(_ name: String, _ value: Value) throws(DBusError) {
    buffer.align(8)
    try text(name)
    if case .string(let text) = value {
      // A fast path for the most frequent type. A string needs no check of the depth.
      basicSignature(.string)
      try self.text(text)
    } else {
      try nested { writer throws(DBusError) in try writer.variant(value) }
    }
  }

  @inline(__always)
  private mutating func nested(_ body: (inout MessageWriter) throws(DBusError) -> Void) throws(DBusError) {
    guard depth < Self.maxDepth else {
      throw DBusError(name: .invalidArgs, message: "expected at most \(Self.maxDepth) nested containers, found more")
    }
    depth += 1
    try body(&self)
    depth -= 1
  }

  // MARK: Values

  private mutating func write(_ value: Value, as type: ValueType) throws(DBusError) {
    switch (type, value) {
    case (.byte, .byte(let number)): integer(number)
    case (.boolean, .boolean(let flag)): integer(UInt32(flag ? 1 : 0))
    case (.int16, .int16(let number)): integer(number)
    case (.uint16, .uint16(let number)): integer(number)
    case (.int32, .int32(let number)): integer(number)
    case (.uint32, .uint32(let number)): integer(number)
    case (.int64, .int64(let number)): integer(number)
    case (.uint64, .uint64(let number)): integer(number)
    case (.double, .double(let number)): integer(number.bitPattern)
    case (.descriptor, .descriptor(let descriptor)): try self.descriptor(descriptor)
    case (.string, .string(let text)): try self.text(text)
    case (.objectPath, .objectPath(let path)): try text(path.text)
    case (.signature, .signature(let signature)): self.signature(signature.text)
    case (.variant, .variant(let inner)): try variant(inner)
    case (.array(.byte), .bytes(let bytes)):
      try array(alignment: 1) { writer throws(DBusError) in
        guard bytes.count <= Self.maxSize else { throw .tooLarge() }
        bytes.withUnsafeBytes { writer.buffer.append($0) }
      }
    case (.array(let element), .array(_, let elements)):
      try array(alignment: element.alignment) { writer throws(DBusError) in
        for value in elements { try writer.write(value, as: element) }
      }
    case (.dictionary(let keyType, let valueType), .dictionary(_, _, let entries)):
      try array(alignment: 8) { writer throws(DBusError) in
        for (key, value) in entries {
          try writer.structure { writer throws(DBusError) in
            try writer.write(key, as: keyType)
            try writer.write(value, as: valueType)
          }
        }
      }
    case (.dictionary(.string, .variant), .properties(let properties)): try write(properties)
    case (.structure(let types), .structure(let fields)) where types.count == fields.count:
      try structure { writer throws(DBusError) in
        for (type, field) in zip(types, fields) { try writer.write(field, as: type) }
      }
    default:
      throw DBusError(name: .invalidArgs, message: "expected a value of the type \(type), found \(value.type)")
    }
    try checkSize()
  }

  // MARK: Checks

  private func check(_ type: ValueType) throws(DBusError) {
    if !type.isBasic, type != .variant, Signature(types: [type]) == nil {
      throw DBusError(name: .invalidArgs, message: "\(type) is not a valid type")
    }
  }

  private func checkSize() throws(DBusError) {
    if count > Self.maxSize { throw .tooLarge() }
  }
}

/// The name and the type of a property, in the form in which they precede its value in `a{sv}`.
@usableFromInline
final class PropertyHeader: Sendable {
  let name: String
  let type: ValueType
  /// The bytes, written at an alignment of 8.
  fileprivate let bytes: [UInt8]

  /// - Precondition: the type is valid.
  init(_ name: MemberName, _ type: ValueType) {
    self.name = name.text
    self.type = type
    var writer = MessageWriter()
    // This cannot fail, since a name contains no NUL.
    try? writer.text(name.text)
    writer.signature(type.signature)
    bytes = [UInt8](writer.bytes)
  }
}

extension ValueType {
  /// The boundary on which a value of this type starts.
  fileprivate var alignment: Int {
    switch self {
    case .byte, .signature, .variant: 1
    case .int16, .uint16: 2
    case .boolean, .int32, .uint32, .string, .objectPath, .descriptor, .array, .dictionary: 4
    case .int64, .uint64, .double, .structure: 8
    }
  }
}

extension DBusError {
  fileprivate static func tooLarge() -> DBusError {
    DBusError(name: .limitsExceeded, message: "the message is larger than D-Bus allows")
  }
}
