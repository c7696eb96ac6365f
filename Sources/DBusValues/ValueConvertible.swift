/// A Swift type that is sent as one D-Bus type.
public protocol ValueConvertible: Sendable {
  static var valueType: ValueType { get }
  /// - Returns: nil if `value` does not have the type ``valueType``, or is not a valid value of this Swift type.
  init?(value: Value)
  /// The value as a D-Bus value of the type ``valueType``.
  var value: Value { get }
}

extension Bool: ValueConvertible {
  public static var valueType: ValueType { .boolean }
  public init?(value: Value) { if case .boolean(let flag) = value { self = flag } else { return nil } }
  public var value: Value { .boolean(self) }
}

extension UInt8: ValueConvertible {
  public static var valueType: ValueType { .byte }
  public init?(value: Value) { if case .byte(let number) = value { self = number } else { return nil } }
  public var value: Value { .byte(self) }
}

extension Int16: ValueConvertible {
  public static var valueType: ValueType { .int16 }
  public init?(value: Value) { if case .int16(let number) = value { self = number } else { return nil } }
  public var value: Value { .int16(self) }
}

extension UInt16: ValueConvertible {
  public static var valueType: ValueType { .uint16 }
  public init?(value: Value) { if case .uint16(let number) = value { self = number } else { return nil } }
  public var value: Value { .uint16(self) }
}

extension Int32: ValueConvertible {
  public static var valueType: ValueType { .int32 }
  public init?(value: Value) { if case .int32(let number) = value { self = number } else { return nil } }
  public var value: Value { .int32(self) }
}

extension UInt32: ValueConvertible {
  public static var valueType: ValueType { .uint32 }
  public init?(value: Value) { if case .uint32(let number) = value { self = number } else { return nil } }
  public var value: Value { .uint32(self) }
}

extension Int64: ValueConvertible {
  public static var valueType: ValueType { .int64 }
  public init?(value: Value) { if case .int64(let number) = value { self = number } else { return nil } }
  public var value: Value { .int64(self) }
}

extension UInt64: ValueConvertible {
  public static var valueType: ValueType { .uint64 }
  public init?(value: Value) { if case .uint64(let number) = value { self = number } else { return nil } }
  public var value: Value { .uint64(self) }
}

extension Double: ValueConvertible {
  public static var valueType: ValueType { .double }
  public init?(value: Value) { if case .double(let number) = value { self = number } else { return nil } }
  public var value: Value { .double(self) }
}

extension String: ValueConvertible {
  public static var valueType: ValueType { .string }
  public init?(value: Value) { if case .string(let text) = value { self = text } else { return nil } }
  public var value: Value { .string(self) }
}

extension ObjectPath: ValueConvertible {
  public static var valueType: ValueType { .objectPath }
  public init?(value: Value) { if case .objectPath(let path) = value { self = path } else { return nil } }
  public var value: Value { .objectPath(self) }
}

extension Signature: ValueConvertible {
  public static var valueType: ValueType { .signature }
  public init?(value: Value) { if case .signature(let signature) = value { self = signature } else { return nil } }
  public var value: Value { .signature(self) }
}

extension Descriptor: ValueConvertible {
  public static var valueType: ValueType { .descriptor }
  public init?(value: Value) { if case .descriptor(let descriptor) = value { self = descriptor } else { return nil } }
  public var value: Value { .descriptor(self) }
}

/// A value of any type is sent as a variant that holds it.
extension Value: ValueConvertible {
  public static var valueType: ValueType { .variant }
  public init?(value: Value) { if case .variant(let inner) = value { self = inner } else { return nil } }
  public var value: Value { .variant(self) }
}

extension Array: ValueConvertible where Element: ValueConvertible {
  public static var valueType: ValueType { .array(Element.valueType) }
  public init?(value: Value) {
    switch value {
    case .bytes(let bytes):
      guard Element.self == UInt8.self, let bytes = bytes as? [Element] else { return nil }
      self = bytes
    case .array(Element.valueType, let values):
      self.init()
      reserveCapacity(values.count)
      for value in values {
        guard let element = Element(value: value) else { return nil }
        append(element)
      }
    default: return nil
    }
  }
  /// Inlining specializes this for its type: every presentation has an array among its properties.
  @inlinable
  public var value: Value {
    if Element.self == UInt8.self, let bytes = self as? [UInt8] { return .bytes(bytes) }
    return .array(element: Element.valueType, map { $0.value })
  }
}

extension Dictionary: ValueConvertible where Key: ValueConvertible, Value: ValueConvertible {
  public static var valueType: ValueType { .dictionary(key: Key.valueType, value: Value.valueType) }
  public init?(value: DBusValues.Value) {
    if case .properties(let properties) = value {
      guard Self.self == Properties.self else { return nil }
      // A cast would convert entry by entry.
      self = unsafeBitCast(properties, to: Self.self)
      return
    }
    guard case .dictionary(Key.valueType, Value.valueType, let entries) = value else { return nil }
    self.init(minimumCapacity: entries.count)
    for (key, value) in entries {
      guard let key = Key(value: key), let value = Value(value: value) else { return nil }
      self[key] = value
    }
  }
  /// Inlining specializes this for its types: every presentation makes two dictionaries.
  @inlinable
  public var value: DBusValues.Value {
    // A cast would convert entry by entry.
    if Self.self == Properties.self { return .properties(unsafeBitCast(self, to: Properties.self)) }
    var entries: [DBusValues.Value: DBusValues.Value] = .init(minimumCapacity: count)
    for (key, value) in self { entries[key.value] = value.value }
    return .dictionary(key: Key.valueType, value: Value.valueType, entries)
  }
}

/// A D-Bus structure with at least one field, as in `Structure("fact", "1", properties)` for `(ssa{sv})`.
public struct Structure<each Field: ValueConvertible>: ValueConvertible {
  public let fields: (repeat each Field)

  public init(_ fields: repeat each Field) { self.fields = (repeat each fields) }

  public static var valueType: ValueType {
    var types: [ValueType] = []
    repeat types.append((each Field).valueType)
    return .structure(types)
  }

  public init?(value: Value) {
    guard case .structure(let values) = value, let decoded = try? Self(decoding: values) else { return nil }
    self = decoded
  }

  public var value: Value {
    var values: [Value] = []
    repeat values.append((each fields).value)
    return .structure(values)
  }

  private struct Mismatch: Error {}

  private init(decoding values: [Value]) throws {
    var rest = values[...]
    self.init(repeat try Self.next((each Field).self, of: &rest))
    guard rest.isEmpty else { throw Mismatch() }
  }

  private static func next<T: ValueConvertible>(_: T.Type, of rest: inout ArraySlice<Value>) throws -> T {
    guard let value = rest.popFirst(), let field = T(value: value) else { throw Mismatch() }
    return field
  }
}
