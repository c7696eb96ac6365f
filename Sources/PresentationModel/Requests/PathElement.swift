import DBusValues

/// One element of a stack's path (rule S1).
public struct PathElement: Hashable, Sendable {
  /// The binding that holds the element's item.
  public let binding: String
  /// The id of the item; empty where it has none.
  public let id: String

  public init(binding: String, id: String) {
    self.binding = binding
    self.id = id
  }
}

extension PathElement {
  private static let bindingKey = DictionaryKey<String>("binding", doc: "The binding of the element.")
  private static let idKey = DictionaryKey<String>("id", doc: "The id of the element's item.")

  /// The keys of an element, for documentation.
  package static let table = OptionTable([bindingKey.row, idKey.row])

  /// The element as `GetState` returns it.
  package var properties: Properties {
    var properties: Properties = [:]
    properties[Self.bindingKey] = binding
    properties[Self.idKey] = id
    return properties
  }

  /// - Returns: nil if a key is missing.
  package init?(_ properties: Properties) {
    guard let binding = properties[Self.bindingKey], let id = properties[Self.idKey] else { return nil }
    self.init(binding: binding, id: id)
  }
}
