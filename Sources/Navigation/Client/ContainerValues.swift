import DBusValues
import TextFormats

/// A key of container values: values that an item passes to its containers (V1–V5).
///
///     struct IsPinned: ContainerValueKey { static let defaultValue = false }
///     extension ContainerValues {
///       var isPinned: Bool { get { self[IsPinned.self] } set { self[IsPinned.self] = newValue } }
///     }
public protocol ContainerValueKey {
  /// The type of the value. The first declaration fixes the type on the bus (V1):
  ///
  /// | in Swift | on the bus |
  /// |---|---|
  /// | `Bool`, `String`, `Double`, integers with a size, arrays and dictionaries of them | that type |
  /// | `Int`, `UInt`, `Float` | `x`, `t`, `d` |
  /// | a type whose default is encoded as text, such as an enum of strings | `s` |
  /// | an optional, and anything else | `a{sv}`, with the key `value` unless it is a structure; empty for nil |
  associatedtype Value: Codable
  /// The value of items that set no other.
  static var defaultValue: Value { get }
  /// The key's name on the bus, which is valid for the whole session (B5). The default is the
  /// module's name and the type's name, as in `Facts-IsPinned`, so that two programs do not share a
  /// key.
  static var name: String { get }
}

extension ContainerValueKey {
  /// The names of the module and the type.
  ///
  ///     print(Badge.name)      // Facts-Badge, in a program named Facts.
  public static var name: String {
    let parts = TypeName.of(Self.self).split(separator: ".").filter { $0 != TypeName.hidden }
    return BindingName.name(for: parts.joined(separator: "-"))
  }

  /// The default in the form in which it is declared.
  static var declaredDefault: DBusValues.Value {
    ContainerValueCoding.value(of: defaultValue, like: nil) ?? .properties([:])
  }
}

/// The container values of an item. Declare a property for each of your keys in an extension.
///
///     navigator.present(tag: .items, selection: $model.tab, options: { badged("Items", model.count) }) { Window() }
///
///     func badged(_ title: String, _ count: Int) -> PresentationOptions {
///       var values = ContainerValues()
///       values.badge = count
///       var options = PresentationOptions(title: title)
///       options.containerValues = values
///       return options
///     }
public struct ContainerValues: Hashable, Sendable {
  /// The values that were set, by their names on the bus.
  ///
  ///     let names = options.containerValues.properties.keys
  public internal(set) var properties: Properties
  /// The defaults of the keys that were set, for their declaration (V1).
  var declarations: Properties = [:]

  /// Creates container values in which every key has its default.
  ///
  ///     var values = ContainerValues()
  ///     values.badge = 3
  public init() { properties = [:] }

  init(resolved properties: Properties) { self.properties = properties }

  /// The value that was set for the key, or its default (V3). A value that cannot be encoded is not set, and is reported as misuse.
  ///
  ///     var values = ContainerValues()
  ///     values[Badge.self] += 1
  public subscript<Key: ContainerValueKey>(
    key: Key.Type, file: StaticString = #fileID, line: UInt = #line
  ) -> Key.Value {
    get {
      guard let value = properties[key.name], let decoded: Key.Value = ContainerValueCoding.decode(value) else {
        return key.defaultValue
      }
      return decoded
    }
    set {
      let declared = key.declaredDefault
      guard let value = ContainerValueCoding.value(of: newValue, like: declared) else {
        return reportMisuse(
          "the container value \(newValue) of “\(key.name)” cannot be encoded as \(declared.type), like its default",
          file: file,
          line: line)
      }
      properties[key.name] = value
      declarations[key.name] = declared
    }
  }
}

/// Converts container values to the types of the bus. Each key has one type.
enum ContainerValueCoding {
  /// - Parameter declared: the default, which has the required type; nil to convert the default itself.
  /// - Returns: nil if the value cannot be encoded as this type.
  static func value<T: Encodable>(of value: T, like declared: Value?) -> Value? {
    if !(T.self is any OptionalValue.Type) {
      switch value {
      case let value as any ValueConvertible: return value.value
      case let value as Int: return .int64(Int64(value))
      case let value as UInt: return .uint64(UInt64(value))
      case let value as Float: return .double(Double(value))
      default: break
      }
      if declared == nil || declared?.type == .string, let text = (try? Coding.json(of: value))?.string {
        return .string(text)
      }
    }
    if let value = value as? any OptionalValue, value.isNil { return .properties([:]) }
    guard declared?.type != .string else { return nil }
    return Coding.properties(of: value).map(Value.properties)
  }

  static func decode<T: Decodable>(_ value: Value) -> T? {
    if let type = T.self as? any OptionalValue.Type {
      guard let properties = Properties(value: value) else { return nil }
      return properties.isEmpty ? type.none as? T : Coding.value(T.self, of: properties)
    }
    switch T.self {
    case let type as any ValueConvertible.Type: return type.init(value: value) as? T
    case is Int.Type: return Int64(value: value).flatMap(Int.init(exactly:)) as? T
    case is UInt.Type: return UInt64(value: value).flatMap(UInt.init(exactly:)) as? T
    case is Float.Type: return Double(value: value).map(Float.init) as? T
    default: break
    }
    if case .string(let text) = value { return Coding.decode(T.self, .string(text)) }
    return Properties(value: value).flatMap { Coding.value(T.self, of: $0) }
  }
}

/// An optional of any type.
private protocol OptionalValue {
  static var none: Self { get }
  var isNil: Bool { get }
}

extension Optional: OptionalValue {
  fileprivate var isNil: Bool { self == nil }
}

/// One member of a container, with all declared values (V5).
///
///     for member in try await coordinator.members(of: .group("tabs")) {
///       print(member.binding, member.id, member.presentation, member.containerValues.badge)
///     }
public struct Member: Hashable, Sendable {
  /// The binding that holds the member's item.
  public let binding: String
  /// The item's id; empty if it has none (P7).
  public let id: String
  /// The presentation of the item.
  public let presentation: PresentationHandle
  /// All declared container values, set or default.
  public let containerValues: ContainerValues
}
