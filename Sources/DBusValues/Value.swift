/// A value of any D-Bus type.
///
/// Integers are equal by number, whatever their width; dictionaries are equal in any order; NaN
/// equals NaN; arrays are equal by their elements, whatever the declared element type (P2). Hashing
/// agrees with equality.
public enum Value: Sendable {
  case byte(UInt8)
  case boolean(Bool)
  case int16(Int16)
  case uint16(UInt16)
  case int32(Int32)
  case uint32(UInt32)
  case int64(Int64)
  case uint64(UInt64)
  case double(Double)
  case string(String)
  case objectPath(ObjectPath)
  case signature(Signature)
  indirect case variant(Value)
  /// `ay`.
  case bytes([UInt8])
  case array(element: ValueType, [Value])
  indirect case dictionary(key: ValueType, value: ValueType, [Value: Value])
  /// `a{sv}` in its usual form. Both forms with the same entries are equal. Swift compares strings by canonical equivalence, so keys
  /// that differ only for D-Bus need a ``dictionary(key:value:_:)``.
  case properties(Properties)
  case structure([Value])
  case descriptor(Descriptor)
}

/// The entries of an `a{sv}`, without the variants around the values.
public typealias Properties = [String: Value]

extension Value {
  /// Makes a dictionary, as ``properties(_:)`` if possible.
  public init(key: ValueType, value: ValueType, _ entries: [Value: Value]) {
    var properties: Properties = [:]
    if key == .string, value == .variant {
      for case (.string(let name), .variant(let inner)) in entries { properties[name] = inner }
      if properties.count == entries.count {
        self = .properties(properties)
        return
      }
    }
    self = .dictionary(key: key, value: value, entries)
  }

  public var type: ValueType {
    switch self {
    case .byte: .byte
    case .boolean: .boolean
    case .int16: .int16
    case .uint16: .uint16
    case .int32: .int32
    case .uint32: .uint32
    case .int64: .int64
    case .uint64: .uint64
    case .double: .double
    case .string: .string
    case .objectPath: .objectPath
    case .signature: .signature
    case .variant: .variant
    case .bytes: .array(.byte)
    case .array(let element, _): .array(element)
    case .dictionary(let key, let value, _): .dictionary(key: key, value: value)
    case .properties: .dictionary(key: .string, value: .variant)
    case .structure(let fields): .structure(fields.map(\.type))
    case .descriptor: .descriptor
    }
  }

  /// The number of an integer of any width; nil for other values.
  public var integer: Int128? {
    switch self {
    case .byte(let number): Int128(number)
    case .int16(let number): Int128(number)
    case .uint16(let number): Int128(number)
    case .int32(let number): Int128(number)
    case .uint32(let number): Int128(number)
    case .int64(let number): Int128(number)
    case .uint64(let number): Int128(number)
    default: nil
    }
  }

  /// The approximate size of the value in a message, in bytes: its content without padding.
  public var byteCount: Int {
    switch self {
    case .byte: 1
    case .int16, .uint16: 2
    case .boolean, .int32, .uint32, .descriptor: 4
    case .int64, .uint64, .double: 8
    case .string(let text): 5 + text.utf8.count
    case .objectPath(let path): 5 + path.text.utf8.count
    case .signature(let signature): 2 + signature.text.utf8.count
    case .variant(let inner): 3 + inner.byteCount
    case .bytes(let bytes): 4 + bytes.count
    case .array(_, let elements): elements.reduce(4) { $0 + $1.byteCount }
    case .dictionary(_, _, let entries): entries.reduce(4) { $0 + $1.key.byteCount + $1.value.byteCount }
    case .properties(let entries): entries.reduce(4) { $0 + 5 + $1.key.utf8.count + 3 + $1.value.byteCount }
    case .structure(let fields): fields.reduce(0) { $0 + $1.byteCount }
    }
  }

  /// The depth of nested containers, including the value itself and variants; 0 for a basic value. Messages allow 64.
  public var depth: Int {
    switch self {
    case .variant(let inner): 1 + inner.depth
    case .bytes: 1
    case .array(_, let elements): 1 + (elements.lazy.map(\.depth).max() ?? 0)
    case .dictionary(_, _, let entries): 2 + (entries.values.lazy.map(\.depth).max() ?? 0)
    case .properties(let entries): 2 + (entries.values.lazy.map { 1 + $0.depth }.max() ?? 0)
    case .structure(let fields): 1 + (fields.lazy.map(\.depth).max() ?? 0)
    default: 0
    }
  }
}

extension Value: Hashable {
  public static func == (a: Value, b: Value) -> Bool {
    switch (a, b) {
    case (.boolean(let a), .boolean(let b)): a == b
    case (.double(let a), .double(let b)): a == b || a.isNaN && b.isNaN
    case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
    case (.objectPath(let a), .objectPath(let b)): a == b
    case (.signature(let a), .signature(let b)): a == b
    case (.variant(let a), .variant(let b)): a == b
    case (.bytes(let a), .bytes(let b)): a == b
    case (.bytes(let a), .array(_, let b)), (.array(_, let b), .bytes(let a)):
      a.count == b.count && zip(a, b).allSatisfy { Int128($0) == $1.integer }
    case (.array(_, let a), .array(_, let b)): a == b
    case (.dictionary(_, _, let a), .dictionary(_, _, let b)): a == b
    case (.properties(let a), .properties(let b)): a == b
    case (.properties(let a), .dictionary(_, _, let b)), (.dictionary(_, _, let b), .properties(let a)):
      a.count == b.count && a.allSatisfy { b[.string($0.key)] == .variant($0.value) }
    case (.structure(let a), .structure(let b)): a == b
    case (.descriptor(let a), .descriptor(let b)): a == b
    default:
      if let a = a.integer, let b = b.integer { a == b } else { false }
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .byte, .int16, .uint16, .int32, .uint32, .int64, .uint64: hasher.combine(integer)
    case .boolean(let flag): hasher.combine(flag)
    case .double(let number): hasher.combine(number.isNaN ? .nan : number)
    case .string(let text):
      var text = text
      text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
      hasher.combine(UInt8(0xff))
    case .objectPath(let path): hasher.combine(path)
    case .signature(let signature): hasher.combine(signature)
    case .variant(let inner): hasher.combine(inner)
    case .bytes(let bytes):
      hasher.combine(bytes.count)
      for byte in bytes { hasher.combine(Value.byte(byte)) }
    case .array(_, let elements): hasher.combine(elements)
    case .dictionary(_, _, let entries): hasher.combine(unordered: entries.lazy.map { ($0.key, $0.value) })
    case .properties(let entries):
      hasher.combine(unordered: entries.lazy.map { (.string($0.key), .variant($0.value)) })
    case .structure(let fields): hasher.combine(fields)
    case .descriptor(let descriptor): hasher.combine(descriptor)
    }
  }
}

extension Hasher {
  /// Adds the entries. The hash is the same for every order, and for both forms of dictionaries.
  fileprivate mutating func combine(unordered entries: some Sequence<(Value, Value)>) {
    var combined = 0
    for (key, value) in entries {
      var entry = Hasher()
      entry.combine(key)
      entry.combine(value)
      combined ^= entry.finalize()
    }
    combine(combined)
  }
}
