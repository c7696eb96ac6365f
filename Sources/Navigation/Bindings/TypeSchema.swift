import FoundationEssentials
import PresentationModel

/// The types that `Decodable` values are read from, as a program declares them for what it serves (D18). They are found by decoding a
/// value from nothing, which tells the keys and the types that are asked for. What does not tell them, such as an enum with payloads,
/// counts as any value.
enum TypeSchema {
  static func of(_ type: Any.Type) -> ValueSchema {
    func schema<T: Decodable>(_ type: T.Type) -> ValueSchema {
      var finder = Finder()
      return finder.found(type).schema
    }
    return (type as? any Decodable.Type).map { schema($0) } ?? .any
  }

  /// A type, and any value of it; nil if none could be made.
  fileprivate struct Found<Value> {
    let schema: ValueSchema
    let value: Value?
  }

  fileprivate struct Finder {
    /// The types that are being decoded, which contain the next one.
    var open: [ObjectIdentifier] = []

    mutating func found<T: Decodable>(_ type: T.Type) -> Found<T> {
      if let basic = basic(type) { return basic }
      let id = ObjectIdentifier(type)
      // A type that contains itself.
      if open.contains(id) { return Found(schema: .any, value: nil) }
      open.append(id)
      defer { open.removeLast() }
      if let container = type as? any SchemaContainer.Type {
        let (schema, value) = container.found(&self)
        return Found(schema: schema, value: value as? T)
      }
      let decoder = SchemaDecoder(self)
      guard let value = try? T(from: decoder) else {
        return words(type) ?? Found(schema: decoder.singleSchema ?? .any, value: nil)
      }
      // A text or a number that has words is one of them.
      if let words = words(type) { return words }
      return Found(schema: decoder.schema ?? .any, value: value)
    }

    private func basic<T>(_ type: T.Type) -> Found<T>? {
      func found(_ schema: ValueSchema, _ value: Any) -> Found<T> { Found(schema: schema, value: value as? T) }
      return switch type {
      case is Bool.Type: found(.boolean, false)
      case is Int.Type: found(.integer(.int), 0 as Int)
      case is Int8.Type: found(.integer(.int8), 0 as Int8)
      case is Int16.Type: found(.integer(.int16), 0 as Int16)
      case is Int32.Type: found(.integer(.int32), 0 as Int32)
      case is Int64.Type: found(.integer(.int64), 0 as Int64)
      case is UInt.Type: found(.integer(.uint), 0 as UInt)
      case is UInt8.Type: found(.integer(.uint8), 0 as UInt8)
      case is UInt16.Type: found(.integer(.uint16), 0 as UInt16)
      case is UInt32.Type: found(.integer(.uint32), 0 as UInt32)
      case is UInt64.Type: found(.integer(.uint64), 0 as UInt64)
      case is Double.Type: found(.real, 0 as Double)
      case is Float.Type: found(.real, 0 as Float)
      case is String.Type: found(.text, "")
      // JSON has these as texts, whatever their own decoding says.
      case is UUID.Type: found(.text, UUID())
      case is URL.Type: found(.text, URL(string: "a") as Any)
      case is Data.Type: found(.text, Data())
      default: nil
      }
    }

    /// The words of an enum of strings.
    private func words<T>(_ type: T.Type) -> Found<T>? {
      guard let cases = (type as? any CaseIterable.Type)?.texts, !cases.isEmpty else { return nil }
      return Found(schema: .words(cases.map(\.text)), value: cases[0].value as? T)
    }
  }
}

extension CaseIterable {
  /// The cases with their strings; empty if they have other raw values, or none.
  fileprivate static var texts: [(text: String, value: Any)] {
    allCases.compactMap { value in ((value as? any RawRepresentable)?.rawValue as? String).map { ($0, value) } }
  }
}

/// A type whose values contain others, and may be empty.
private protocol SchemaContainer {
  static func found(_ finder: inout TypeSchema.Finder) -> (ValueSchema, Any)
}

extension Array: SchemaContainer where Element: Decodable {
  fileprivate static func found(_ finder: inout TypeSchema.Finder) -> (ValueSchema, Any) {
    (.list(finder.found(Element.self).schema), [] as Self)
  }
}

extension Set: SchemaContainer where Element: Decodable {
  fileprivate static func found(_ finder: inout TypeSchema.Finder) -> (ValueSchema, Any) {
    (.list(finder.found(Element.self).schema), [] as Self)
  }
}

extension Dictionary: SchemaContainer where Key: Decodable, Value: Decodable {
  fileprivate static func found(_ finder: inout TypeSchema.Finder) -> (ValueSchema, Any) {
    // Keys of other types are encoded as a list.
    (Key.self == String.self ? .dictionary(finder.found(Value.self).schema) : .any, [:] as Self)
  }
}

extension Optional: SchemaContainer where Wrapped: Decodable {
  fileprivate static func found(_ finder: inout TypeSchema.Finder) -> (ValueSchema, Any) { (.any, Self.none as Any) }
}

/// Decodes any value from nothing, and notes what is asked for.
private final class SchemaDecoder: Decoder {
  /// No value can be made.
  struct NoValue: Error {}

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }
  fileprivate var finder: TypeSchema.Finder
  private var fields: [ValueSchema.Field]?
  private var single: ValueSchema?
  /// Whether something was asked for that has no schema.
  private var isUnclear = false

  init(_ finder: TypeSchema.Finder) { self.finder = finder }

  /// The type that was asked for; nil if that is unclear.
  var schema: ValueSchema? {
    if isUnclear { return nil }
    if let fields { return single == nil ? .record(fields.sorted { $0.name < $1.name }) : nil }
    return single
  }

  /// The type that was asked for as a whole, although some of its values may not decode.
  var singleSchema: ValueSchema? { isUnclear || fields != nil ? nil : single }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    fields = fields ?? []
    return KeyedDecodingContainer(Keyed<Key>(decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw NoValue() }

  func singleValueContainer() -> any SingleValueDecodingContainer { Single(decoder: self) }

  fileprivate func value<T: Decodable>(_ type: T.Type, for key: (any CodingKey)?, isOptional: Bool) throws -> T {
    let found = finder.found(type)
    if let key {
      // A key that is read twice may have two types.
      if fields?.contains(where: { $0.name == key.stringValue }) == true { isUnclear = true }
      fields?.append(ValueSchema.Field(key.stringValue, found.schema, isOptional: isOptional))
    } else {
      if single != nil { isUnclear = true }
      single = found.schema
    }
    guard let value = found.value else { throw NoValue() }
    return value
  }

  private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: SchemaDecoder
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) -> Bool { false }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
      try decoder.value(type, for: key, isOptional: false)
    }
    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
      _ = try? decoder.value(type, for: key, isOptional: true)
      return nil
    }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try absent(type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try absent(type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try absent(type, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try absent(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try absent(type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try absent(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try absent(type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try absent(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try absent(type, key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try absent(type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try absent(type, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try absent(type, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try absent(type, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try absent(type, key) }

    /// The concrete overloads of the protocol have defaults of their own, which ask whether the key is there.
    private func absent<T: Decodable>(_ type: T.Type, _ key: Key) throws -> T? {
      _ = try decoder.value(type, for: key, isOptional: true)
      return nil
    }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw NoValue() }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw NoValue() }
    func superDecoder() throws -> any Decoder { throw NoValue() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw NoValue() }
  }

  private struct Single: SingleValueDecodingContainer {
    let decoder: SchemaDecoder
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try decoder.value(type, for: nil, isOptional: false) }
  }
}
