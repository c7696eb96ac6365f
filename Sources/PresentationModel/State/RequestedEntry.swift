import DBusValues

/// An item that a client has requested at a binding that a program serves, while its parent is out of view (D20).
public struct RequestedEntry: TypedDictionary {
  public var properties: Properties
  public init(_ properties: Properties) { self.properties = properties }

  public init(_ binding: String, id: String, destination: String, value: Properties) {
    self.init([:])
    (self.binding, self.id, self.destination, self.value) = (binding, id, destination, value)
  }

  public static let keys = Keys()
  public final class Keys: Sendable {
    public let binding = DictionaryKey<String>("binding", doc: "The binding.")
    public let id = DictionaryKey<String>("id", doc: "The id of the item; empty if it has none.")
    public let destination = DictionaryKey<String>(
      "destination", doc: "The destination by which the program serves it.")
    public let value = DictionaryKey<Properties>("value", doc: "The item's value.")
  }
}
