// Why this file exists: a message's arguments become Swift values in one place, which reads no further than is there
// and makes no more of a message than it may cost.

import CDBus
import DBusValues
import Glibc

/// Reads the arguments of a message in order.
public struct MessageReader {
  /// What the values made of a message may cost: about their bytes, and at least 8 for each.
  public static let defaultBudget = 64 << 20

  private let message: Message
  private var iterator = DBusMessageIter()
  private var decoder: Decoder
  /// Whether the whole signature has been found to be what will be read.
  private let isChecked: Bool
  /// How many arguments have been read.
  private(set) var position = 0
  /// What the rest of the values may cost.
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

  /// The next argument, as a contract row wants it.
  /// - Throws: `InvalidArgs` if it is of another type or means nothing to `T`, else as ``next(_:)-(ValueType)`` does.
  public mutating func next<T: ValueConvertible>(_: T.Type) throws(DBusError) -> T {
    // The one dictionary that most calls carry is made at once, not by way of another.
    if T.self == Properties.self, isNext(.properties) {
      let properties = try decoder.properties(&iterator)
      advance()
      return properties as! T
    }
    let value = try peek(T.valueType)
    guard let result = T(value: value) else {
      let what = String(value: value).map { "“\(shortened($0))”" } ?? "this value of the type \(T.valueType)"
      throw DBusError(name: .invalidArgs, message: "\(what) means nothing here")
    }
    advance()
    return result
  }

  /// The next argument.
  /// - Throws: `InvalidArgs` if there is none of this type, `LimitsExceeded` past the budget, `Failed` where a
  ///   descriptor could not be had.
  public mutating func next(_ type: ValueType) throws(DBusError) -> Value {
    let value = try peek(type)
    advance()
    return value
  }

  private mutating func peek(_ type: ValueType) throws(DBusError) -> Value {
    guard isNext(type) else {
      throw DBusError(name: .invalidArgs, message: "an argument of the type \(type) is missing")
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

/// The signature of what an iterator stands at, to the end of that.
private func signature(at iterator: inout DBusMessageIter) -> String {
  guard let text = dbus_message_iter_get_signature(&iterator) else { return "" }
  defer { dbus_free(text) }
  return String(cString: text)
}

/// Reads values whose type is known: libdbus-1 has validated the message, and a type comes from its signature.
private struct Decoder {
  var budget: Int

  private mutating func spend(_ cost: Int) throws(DBusError) {
    budget -= 8 + cost
    if budget < 0 { throw DBusError(name: .limitsExceeded, message: "the message holds too much") }
  }

  private func basic<T: BitwiseCopyable>(_ iterator: inout DBusMessageIter, _ initial: T) -> T {
    var value = initial
    dbus_message_iter_get_basic(&iterator, &value)
    return value
  }

  private mutating func text(_ iterator: inout DBusMessageIter) throws(DBusError) -> String {
    guard let pointer = basic(&iterator, UnsafePointer<CChar>?.none) else { return "" }
    let text = UnsafeBufferPointer(start: pointer, count: strlen(pointer))
    try spend(text.count)
    return text.withMemoryRebound(to: UInt8.self) { String(decoding: $0, as: UTF8.self) }
  }

  /// `a{sv}`.
  private mutating func properties(_ iterator: inout DBusMessageIter) throws(DBusError) -> Value {
    var properties: Properties = [:]
    // Where keys differ for the bus, and Swift does not tell them apart.
    var entries: [Value: Value]?
    try each(&iterator) { decoder, iterator throws(DBusError) in
      var entry = DBusMessageIter()
      dbus_message_iter_recurse(&iterator, &entry)
      let key = try decoder.text(&entry)
      dbus_message_iter_next(&entry)
      try decoder.spend(0)
      let value = try decoder.variant(&entry)
      if let former = properties.updateValue(value, forKey: key), entries == nil {
        entries = Dictionary(uniqueKeysWithValues: properties.map { (.string($0.key), .variant($0.value)) })
        entries?[.string(properties.keys[properties.index(forKey: key)!])] = .variant(former)
      }
      entries?[.string(key)] = .variant(value)
    }
    guard let entries, entries.count > properties.count else { return .properties(properties) }
    return .dictionary(key: .string, value: .variant, entries)
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
      try each(&iterator) { decoder, iterator throws(DBusError) in
        elements.append(try decoder.value(of: element, &iterator))
      }
      return .array(element: element, elements)
    case .dictionary(.string, .variant):
      return try properties(&iterator)
    case .dictionary(let keyType, let valueType):
      var entries: [Value: Value] = [:]
      try each(&iterator) { decoder, iterator throws(DBusError) in
        var entry = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &entry)
        let key = try decoder.value(of: keyType, &entry)
        dbus_message_iter_next(&entry)
        entries[key] = try decoder.value(of: valueType, &entry)
      }
      return .dictionary(key: keyType, value: valueType, entries)
    case .structure(let types):
      var fields: [Value] = []
      fields.reserveCapacity(types.count)
      var inside = DBusMessageIter()
      dbus_message_iter_recurse(&iterator, &inside)
      for type in types {
        fields.append(try value(of: type, &inside))
        dbus_message_iter_next(&inside)
      }
      return .structure(fields)
    case .string, .objectPath, .signature: preconditionFailure("read above")
    }
  }

  /// Where a key stands twice the later one counts, as for the other implementations.
  mutating func properties(_ iterator: inout DBusMessageIter) throws(DBusError) -> Properties {
    var properties: Properties = [:]
    try each(&iterator) { decoder, iterator throws(DBusError) in
      var entry = DBusMessageIter()
      dbus_message_iter_recurse(&iterator, &entry)
      let key = try decoder.text(&entry)
      dbus_message_iter_next(&entry)
      properties[key] = try decoder.variant(&entry)
    }
    return properties
  }

  private mutating func variant(_ iterator: inout DBusMessageIter) throws(DBusError) -> Value {
    var inside = DBusMessageIter()
    dbus_message_iter_recurse(&iterator, &inside)
    let code = UInt8(truncatingIfNeeded: dbus_message_iter_get_arg_type(&inside))
    if let type = ValueType(code: code) { return try value(of: type, &inside) }
    guard let type = Signature(unchecked: signature(at: &inside)).types.first else {
      throw DBusError(name: .invalidSignature, message: "a variant of an unknown type")
    }
    return try value(of: type, &inside)
  }

  private mutating func bytes(_ iterator: inout DBusMessageIter) throws(DBusError) -> [UInt8] {
    var inside = DBusMessageIter()
    dbus_message_iter_recurse(&iterator, &inside)
    var start: UnsafePointer<UInt8>?
    var count: Int32 = 0
    dbus_message_iter_get_fixed_array(&inside, &start, &count)
    try spend(Int(count))
    return [UInt8](UnsafeBufferPointer(start: start, count: Int(count)))
  }

  private mutating func each(
    _ iterator: inout DBusMessageIter,
    _ body: (inout Decoder, inout DBusMessageIter) throws(DBusError) -> Void
  ) throws(DBusError) {
    var inside = DBusMessageIter()
    dbus_message_iter_recurse(&iterator, &inside)
    while dbus_message_iter_get_arg_type(&inside) != 0 {
      try body(&self, &inside)
      dbus_message_iter_next(&inside)
    }
  }
}
