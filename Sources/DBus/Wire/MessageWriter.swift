// Why this file exists: the bus throws us out for what is misnested, too deep, too large or not of the type that it
// claims; so values become bytes here alone, checked against their types first.

import DBusValues
import Glibc

/// Writes a message from its first byte to its last ("D-Bus Specification", *Marshaling (Wire Format)*).
struct MessageWriter: ~Copyable {
  /// What an array may hold at most; a message holds twice that ("D-Bus Specification", *Message Protocol*).
  private static let most = 64 << 20
  /// How deep containers may be nested, variants counted ("D-Bus Specification", *Valid Signatures*).
  private static let deepest = 64
  /// What the kernel carries with one write (SCM_MAX_FD).
  private static let mostDescriptors = 253

  private var buffer = ByteBuffer()
  private(set) var descriptors: [Descriptor] = []
  private var depth = 0

  /// How many bytes have been written.
  var count: Int { buffer.count }
  var bytes: UnsafeRawBufferPointer { buffer.bytes }

  // MARK: Arguments

  /// Appends an argument of a contract row.
  /// - Throws: as ``append(_:)-(Value)`` does.
  mutating func append<T: ValueConvertible>(_ argument: T) throws(DBusError) {
    if T.self == Properties.self, let properties = argument as? Properties {
      try write(properties)
    } else {
      try write(argument.value, as: T.valueType)
    }
  }

  /// Appends a value by its own type.
  /// - Throws: `InvalidArgs` for a string with an embedded NUL, for a value that is not of the type it claims, for a
  ///   type that the specification forbids and for containers nested too deep; `LimitsExceeded` for more than a
  ///   message holds. The message is of no use then.
  mutating func append(_ value: Value) throws(DBusError) {
    try check(value.type)
    try write(value, as: value.type)
  }

  // MARK: Basic types

  /// Padding counts from the start of the message.
  mutating func align(_ boundary: Int) { buffer.align(boundary) }

  @inline(__always)
  mutating func integer<T: FixedWidthInteger>(_ number: T) {
    buffer.align(MemoryLayout<T>.size)
    buffer.append(number)
  }

  /// Sets an integer that was written before.
  mutating func set(_ number: UInt32, at index: Int) { buffer.set(number, at: index) }

  /// Puts bytes that were written before, at the same alignment.
  mutating func copy(_ bytes: [UInt8]) { bytes.withUnsafeBytes { buffer.append($0) } }

  mutating func text(_ text: String) throws(DBusError) {
    var text = text
    let isValid = text.withUTF8 { utf8 in
      let hasNUL = utf8.baseAddress.map { memchr($0, 0, utf8.count) != nil } ?? false
      guard utf8.count <= Self.most, !hasNUL else { return false }
      buffer.append(text: UnsafeRawBufferPointer(utf8))
      return true
    }
    guard isValid else {
      guard text.utf8.count <= Self.most else { throw .tooLarge() }
      throw DBusError(name: .invalidArgs, message: "a string on the bus cannot hold NUL")
    }
  }

  mutating func signature(_ text: String) {
    var text = text
    text.withUTF8 { utf8 in
      buffer.append(UInt8(utf8.count))
      buffer.append(UnsafeRawBufferPointer(utf8))
      buffer.append(UInt8(0))
    }
  }

  /// The signature of a type that is one letter.
  @inline(__always)
  private mutating func basicSignature(_ type: ValueType) {
    // Its length, the letter and NUL; the padding after it may be written again.
    buffer.append(UInt32(littleEndian: 1 | UInt32(type.code) << 8))
    buffer.removeLast()
  }

  private mutating func descriptor(_ descriptor: Descriptor) throws(DBusError) {
    guard fcntl(descriptor.number, F_GETFD) >= 0 else {
      throw DBusError(name: .invalidArgs, message: "a descriptor is closed")
    }
    guard descriptors.count < Self.mostDescriptors else { throw .tooLarge() }
    integer(UInt32(descriptors.count))
    descriptors.append(descriptor)
  }

  // MARK: Containers

  /// - Parameter alignment: of an element.
  mutating func array(
    alignment: Int, _ elements: (inout MessageWriter) throws(DBusError) -> Void
  ) throws(DBusError) {
    try nested { writer throws(DBusError) in
      writer.integer(UInt32(0))
      let start = writer.count
      // The padding does not count as the array's.
      writer.align(alignment)
      let first = writer.count
      try elements(&writer)
      try writer.checkSize()
      writer.set(UInt32(writer.count - first), at: start - 4)
    }
  }

  /// A structure, or an entry of a dictionary.
  mutating func structure(_ fields: (inout MessageWriter) throws(DBusError) -> Void) throws(DBusError) {
    try nested { writer throws(DBusError) in
      writer.align(8)
      try fields(&writer)
    }
  }

  mutating func variant(_ inner: Value) throws(DBusError) {
    try nested { writer throws(DBusError) in
      // What most are, for which no type has to be made.
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

  mutating func write(_ properties: Properties) throws(DBusError) {
    try array(alignment: 8) { writer throws(DBusError) in
      for (name, value) in properties { try writer.property(name, value) }
    }
  }

  /// An entry of `a{sv}` whose name and type are known beforehand.
  mutating func property(_ head: PropertyHead, _ value: Value) throws(DBusError) {
    buffer.align(8)
    copy(head.bytes)
    if case .string(let text) = value, case .string = head.type {
      try self.text(text)
    } else {
      try nested { writer throws(DBusError) in
        try writer.nested { writer throws(DBusError) in try writer.write(value, as: head.type) }
      }
    }
  }

  /// An entry of `a{sv}`.
  mutating func property(_ name: String, _ value: Value) throws(DBusError) {
    buffer.align(8)
    try text(name)
    if case .string(let text) = value {
      // What most are, in an entry that nests nothing.
      basicSignature(.string)
      try self.text(text)
    } else {
      try nested { writer throws(DBusError) in try writer.variant(value) }
    }
  }

  @inline(__always)
  private mutating func nested(_ body: (inout MessageWriter) throws(DBusError) -> Void) throws(DBusError) {
    guard depth < Self.deepest else {
      throw DBusError(name: .invalidArgs, message: "containers are nested deeper than \(Self.deepest)")
    }
    depth += 1
    try body(&self)
    depth -= 1
  }

  // MARK: Values

  private mutating func write(_ value: Value, as type: ValueType) throws(DBusError) {
    switch (type, value) {
    case (.byte, .byte(let number)): integer(number)
    case (.boolean, .boolean(let truth)): integer(UInt32(truth ? 1 : 0))
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
        guard bytes.count <= Self.most else { throw .tooLarge() }
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
      throw DBusError(name: .invalidArgs, message: "a value of the type \(value.type) cannot stand for one of \(type)")
    }
    try checkSize()
  }

  // MARK: Checks

  private func check(_ type: ValueType) throws(DBusError) {
    if !type.isBasic, type != .variant, Signature(types: [type]) == nil {
      throw DBusError(name: .invalidArgs, message: "\(type) is no valid type")
    }
  }

  private func checkSize() throws(DBusError) {
    if count > Self.most { throw .tooLarge() }
  }
}

/// What stands before the value of a property in `a{sv}`, its name and its type, written once.
@usableFromInline
final class PropertyHead: Sendable {
  let name: String
  let type: ValueType
  /// For a place that is aligned to 8.
  fileprivate let bytes: [UInt8]

  /// - Precondition: the type is valid.
  init(_ name: MemberName, _ type: ValueType) {
    self.name = name.text
    self.type = type
    var writer = MessageWriter()
    // Names hold no NUL, and nothing else would be refused.
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
    DBusError(name: .limitsExceeded, message: "more than a message holds")
  }
}
