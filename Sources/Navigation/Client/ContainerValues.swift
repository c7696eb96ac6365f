import DBusValues

/// A key of container values: values that an item passes to its containers (rules V1–V5).
///
///     struct IsPinned: ContainerValueKey { static let defaultValue = false }
///     extension ContainerValues {
///       var isPinned: Bool { get { self[IsPinned.self] } set { self[IsPinned.self] = newValue } }
///     }
public protocol ContainerValueKey {
  /// The type of the value. The first declaration fixes its type on the bus (V1).
  associatedtype Value: ValueConvertible
  /// The value of items that set none.
  static var defaultValue: Value { get }
  /// The key's name on the bus (B5). The default is the name of the type.
  static var name: String { get }
}

extension ContainerValueKey {
  /// The name of the type.
  public static var name: String { BindingName.name(for: "\(Self.self)") }
}

/// The container values of an item. Declare a property for each of your keys in an extension.
public struct ContainerValues: Hashable, Sendable {
  /// The values that are set, by their names on the bus.
  public internal(set) var properties: Properties
  /// The defaults of the keys that are set, for their declaration (V1).
  var declarations: Properties = [:]

  /// Creates container values in which every key has its default.
  public init() { properties = [:] }

  init(resolved properties: Properties) { self.properties = properties }

  /// The value that is set for the key, else its default (V3).
  public subscript<Key: ContainerValueKey>(key: Key.Type) -> Key.Value {
    get { properties[key.name].flatMap(Key.Value.init(value:)) ?? key.defaultValue }
    set {
      properties[key.name] = newValue.value
      declarations[key.name] = key.defaultValue.value
    }
  }
}

/// One member of a container, with all declared values (V5).
public struct Member: Hashable, Sendable {
  /// The binding that holds its item.
  public let binding: String
  /// The id of the item; empty if it has none (P7).
  public let id: String
  /// The presentation of the item.
  public let presentation: PresentationHandle
  /// All declared container values, set or default.
  public let containerValues: ContainerValues
}
