// Why this file exists: what is shown can carry values for whoever contains it, with a default for what carries none
// (rules V1–V5).

import DBusValues

/// A value that items carry for what contains them: a group, a stack, a parent, the coordinator.
///
///     struct IsPinned: ContainerValueKey { static let defaultValue = false }
///     extension ContainerValues {
///       var isPinned: Bool { get { self[IsPinned.self] } set { self[IsPinned.self] = newValue } }
///     }
public protocol ContainerValueKey {
  /// What it is; its type on the bus is fixed by the first declaration (V1).
  associatedtype Value: ValueConvertible
  /// What it is for items that carry none.
  static var defaultValue: Value { get }
  /// What the key is called on the bus, a name (B5). Without one of your own: the type's.
  static var name: String { get }
}

extension ContainerValueKey {
  /// The type's name.
  public static var name: String { BindingName.name(for: "\(Self.self)") }
}

/// The values that an item carries for its container; extend it by a property for each of your keys.
public struct ContainerValues: Hashable, Sendable {
  /// What is set, by the names of the bus.
  public internal(set) var properties: Properties
  /// The defaults of the keys that were set, to be declared (V1).
  var declarations: Properties = [:]

  /// Nothing set: every key has its default.
  public init() { properties = [:] }

  init(resolved properties: Properties) { self.properties = properties }

  /// The key's value: what was set, else its default (V3).
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
  /// Where it is.
  public let binding: String
  /// The item's; empty for what has none (P7).
  public let id: String
  /// Its presentation.
  public let presentation: PresentationHandle
  /// What it carries, with defaults for what it does not.
  public let containerValues: ContainerValues
}
