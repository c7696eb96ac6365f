import CDBus
import DBusValues
import Glibc

/// Reads the arguments of a message in order. The memory for their values is limited.
public struct MessageReader {
  /// The size that is allowed for the values of a message: approximately their bytes, and at least 8 for each value.
  public static let defaultBudget = 64 << 20

  private let message: Message
  private var iterator = DBusMessageIter()
  private var decoder: Decoder
  /// Whether the types to be read are known to match the message's signature.
  private let isChecked: Bool
  /// The number of arguments that have been read.
  private(set) var position = 0
  /// The size that is left for further values.
  var budget: Int { decoder.budget }

  public init(_ message: Message, budget: Int = defaultBudget) {
    self.init(message, budget: budget, isChecked: false)
  }

  init(_ message: Message, budget: Int, isChecked: Bool) {
    self.message = message
    self.isChecked = isChecked
    decoder = Decoder(budget: budget)
    dbus_message_iter_init(message.raw, &iterator)
  }

  /// Reads the next argument as a Swift type.
  /// - Throws: `InvalidArgs` if it has another type or is not a valid `T`; the errors of ``next(_:)-(ValueType)``.
  public mutating func next<T: ValueConvertible>(_: T.Type) throws(DBusError) -> T {
    // A fast path for `a{sv}`, which most calls have.
    if T.self == Properties.self, isNext(.properties) {
      let properties = try decoder.properties(&iterator).read
      advance()
      return properties as! T
    }
    // A fast path for texts.
    if T.self == String.self, isNext(.string) {
      let text = try decoder.text(&iterator)
      advance()
      return text as! T
    }
    return try convertNext()
  }

  /// Separate from the fast paths, since the runtime looks up the type of an optional `T` at each call.
  @inline(never)
  private mutating func convertNext<T: ValueConvertible>() throws(DBusError) -> T {
    let value = try peek(T.valueType)
    guard let result = T(value: value) else {
      let found = String(value: value).map { "“\(shortened($0))”" } ?? "this value of the type \(T.valueType)"
      throw DBusError(name: .invalidArgs, message: "\(found) is not an allowed value")
    }
    advance()
    return result
  }

  /// Reads the next argument.
  /// - Throws: `InvalidArgs` if it is missing or has another type, `LimitsExceeded` beyond the budget, `Failed` if a
  ///   descriptor could not be received.
  public mutating func next(_ type: ValueType) throws(DBusError) -> Value {
    let value = try peek(type)
    advance()
    return value
  }

  private mutating func peek(_ type: ValueType) throws(DBusError) -> Value {
    guard isNext(type) else {
      throw DBusError(name: .invalidArgs, message: "expected an argument of the type \(type), found none")
    }
    return try decoder.value(of: type, &iterator)
  }

  private mutating func advance() {
    dbus_message_iter_next(&iterator)
    position += 1
  }

  private mutating func isNext(_ type: ValueType) -> Bool {
    if isChecked { return true }
    guard dbus_message_iter_get_arg_type(&iterator) == Int32(type.code) else { return false }
    return type.isBasic || signature(at: &iterator) == type.signature
  }
}

private func signature(at iterator: inout DBusMessageIter) -> String {
  guard let text = dbus_message_iter_get_signature(&iterator) else { return "" }
  defer { dbus_free(text) }
  return String(cString: text)
}

/// Reads values of known types. libdbus-1 has validated the message, and the types are from its signature.
private struct Decoder {
  var budget: Int

  private mutating func spend(_ size: Int) throws(DBusError) {
    budget -= 8 + size
    if budget < 0 { throw DBusError(name: .limitsExceeded, message: "the message's arguments are too large") }
  }

  private func basic<T: BitwiseCopyable>(_ iterator: inout DBusMessageIter, _ initial: T) -> T {
    var value = initial
    dbus_message_iter_get_basic(&iterator, &value)
    return value
  }

  mutating func text(_ iterator: inout DBusMessageIter) throws(DBusError) -> String {
    guard let pointer = basic(&iterator, UnsafePointer<CChar>?.none) else { return "" }
    let text = UnsafeBufferPointer(start: pointer, count: strlen(pointer))
    try spend(text.count)
    return text.withMemoryRebound(to: UInt8.self) { String(decoding: $0, as: UTF8.self) }
  }

  /// Reads `a{sv}`. Of two equal keys the later one counts, as in other implementations.
  /// - Returns: the properties; and all entries, if two keys differ for D-Bus, but not for Swift.
  mutating func properties(
    _ iterator: inout DBusMessageIter
  ) throws(DBusError) -> (read: Properties, all: [Value: Value]?) {
    var properties: Properties = [:]
    // Set if two keys are equal for Swift.
    var entries: [Value: Value]?
    try forEachElement(&iterator) { decoder, iterator throws(DBusError) in
      var entry = inside(&iterator)
      let key = try decoder.text(&entry)
      dbus_message_iter_next(&entry)
      let value = try decoder.variant(&entry)
      if let former = properties.updateValue(value, forKey: key), entries == nil {
        entries = Dictionary(uniqueKeysWithValues: properties.map { (.string($0.key), .variant($0.value)) })
        entries?[.string(properties.keys[properties.index(forKey: key)!])] = .variant(former)
      }
      entries?[.string(key)] = .variant(value)
    }
    return (properties, entries.flatMap { $0.count > properties.count ? $0 : nil })
  }

  mutating func value(of type: ValueType, _ iterator: inout DBusMessageIter) throws(DBusError) -> Value {
    switch type {
    case .string: return .string(try text(&iterator))
    case .objectPath: return .objectPath(ObjectPath(unchecked: try text(&iterator)))
    case .signature: return .signature(Signature(unchecked: try text(&iterator)))
    default: try spend(0)
    }
    switch type {
    case .byte: return .byte(basic(&iterator, 0))
    case .boolean: return .boolean(basic(&iterator, dbus_bool_t(0)) != 0)
    case .int16: return .int16(basic(&iterator, 0))
    case .uint16: return .uint16(basic(&iterator, 0))
    case .int32: return .int32(basic(&iterator, 0))
    case .uint32: return .uint32(basic(&iterator, 0))
    case .int64: return .int64(basic(&iterator, 0))
    case .uint64: return .uint64(basic(&iterator, 0))
    case .double: return .double(basic(&iterator, 0))
    case .descriptor:
      let number = basic(&iterator, Int32(-1))
      guard number >= 0 else { throw DBusError(name: .failed, message: "a descriptor could not be received") }
      return .descriptor(Descriptor(owning: number))
    case .variant: return .variant(try variant(&iterator))
    case .array(.byte): return .bytes(try bytes(&iterator))
    case .array(let element):
      var elements: [Value] = []
      try forEachElement(&iterator) { decoder, iterator throws(DBusError) in
        elements.append(try decoder.value(of: element, &iterator))
      }
      return .array(element: element, elements)
    case .dictionary(.string, .variant):
      let (properties, entries) = try properties(&iterator)
      return entries.map { .dictionary(key: .string, value: .variant, $0) } ?? .properties(properties)
    case .dictionary(let keyType, let valueType):
      var entries: [Value: Value] = [:]
      try forEachElement(&iterator) { decoder, iterator throws(DBusError) in
        var entry = inside(&iterator)
        let key = try decoder.value(of: keyType, &entry)
        dbus_message_iter_next(&entry)
        entries[key] = try decoder.value(of: valueType, &entry)
      }
      return .dictionary(key: keyType, value: valueType, entries)
    case .structure(let types):
      var fields: [Value] = []
      fields.reserveCapacity(types.count)
      var field = inside(&iterator)
      for type in types {
        fields.append(try value(of: type, &field))
        dbus_message_iter_next(&field)
      }
      return .structure(fields)
    case .string, .objectPath, .signature: preconditionFailure("read above")
    }
  }

  private mutating func variant(_ iterator: inout DBusMessageIter) throws(DBusError) -> Value {
    var content = inside(&iterator)
    let code = UInt8(truncatingIfNeeded: dbus_message_iter_get_arg_type(&content))
    if let type = ValueType(code: code) { return try value(of: type, &content) }
    guard let type = Signature(unchecked: signature(at: &content)).types.first else {
      throw DBusError(name: .invalidSignature, message: "a variant has a value of an unknown type")
    }
    return try value(of: type, &content)
  }

  private mutating func bytes(_ iterator: inout DBusMessageIter) throws(DBusError) -> [UInt8] {
    var elements = inside(&iterator)
    var start: UnsafePointer<UInt8>?
    var count: Int32 = 0
    dbus_message_iter_get_fixed_array(&elements, &start, &count)
    try spend(Int(count))
    return [UInt8](UnsafeBufferPointer(start: start, count: Int(count)))
  }

  private mutating func forEachElement(
    _ iterator: inout DBusMessageIter,
    _ body: (inout Decoder, inout DBusMessageIter) throws(DBusError) -> Void
  ) throws(DBusError) {
    var element = inside(&iterator)
    while dbus_message_iter_get_arg_type(&element) != 0 {
      try body(&self, &element)
      dbus_message_iter_next(&element)
    }
  }
}

/// An iterator at the first value inside the container at `iterator`.
@inline(__always)
private func inside(_ iterator: inout DBusMessageIter) -> DBusMessageIter {
  var inside = DBusMessageIter()
  dbus_message_iter_recurse(&iterator, &inside)
  return inside
}
