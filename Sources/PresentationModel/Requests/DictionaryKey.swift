import DBusValues

/// A key of an `a{sv}` dictionary: its name, the type of its value and its meaning. The dictionary is read and written as
/// `dictionary[key]`.
public struct DictionaryKey<T: ValueConvertible>: Sendable {
  public let name: String
  /// Types that are accepted besides that of `T`.
  public let alternatives: [ValueType]
  public let doc: String

  public init(_ name: String, alternatives: [ValueType] = [], doc: String) {
    self.name = name
    self.alternatives = alternatives
    self.doc = doc
  }

  /// The key as an option of a method.
  public var row: OptionTable.Row { row(doc: doc) }

  /// The key as an option of a method that gives it another meaning.
  public func row(doc: String) -> OptionTable.Row {
    OptionTable.Row(name: name, types: [T.valueType] + alternatives, doc: doc)
  }
}

/// A key without its Swift type.
protocol DocumentedKey {
  var row: OptionTable.Row { get }
}

extension DictionaryKey: DocumentedKey {}

extension Properties {
  /// The key's value; nil if it is absent or has one of the alternative types. A number of another type is converted if its value fits.
  @inlinable public subscript<T>(key: DictionaryKey<T>) -> T? {
    get { self[key.name].flatMap { T(value: $0) ?? $0.integer(as: T.valueType).flatMap(T.init(value:)) } }
    set { self[key.name] = newValue?.value }
  }
}
