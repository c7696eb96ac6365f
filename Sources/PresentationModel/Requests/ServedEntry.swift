import DBusValues

/// The ids and values that a program accepts at a binding that it serves, and the place of its items (D18).
public struct ServedEntry: TypedDictionary {
  public var properties: Properties
  public init(_ properties: Properties) { self.properties = properties }

  public static let keys = Keys()
  public final class Keys: Sendable {
    public let type = DictionaryKey<String>("type", doc: "The name of the type, for people.")
    public let id = DictionaryKey<String>(
      "id", doc: "The type of ids, such as Int or String. Absent: items have no id.")
    public let value = DictionaryKey<String>(
      "value",
      doc: "The type of values, such as {count: Int, name: String, note?: String}. Absent: items have no value.")
    public let identity = DictionaryKey<String>("identity", doc: "The key of the value that is also the id.")
    public let elements = DictionaryKey<Bool>(
      "elements", doc: "True for the path of a stack: the elements are binding[0], binding[1], …")
    public let types = DictionaryKey<[String: String]>(
      "types",
      doc:
        "For a path of several types: the types of values by their names. An id is the name, a space and the value as JSON."
    )
    public let own = DictionaryKey<Bool>(
      "own", doc: "True if only the program itself can make an item; others can dismiss it.")
    public let group = DictionaryKey<String>("group", doc: "The exclusive group of its items.")
    public let tag = DictionaryKey<String>("tag", doc: "The tag of its items in that group.")
    public let stack = DictionaryKey<String>("stack", doc: "The stack that its items are pushed on.")
    public let from = DictionaryKey<String>("from", doc: "The binding that its items are presented from.")
    public let waits = DictionaryKey<Bool>(
      "waits",
      doc: """
        True if an item may be requested while nothing is open under from, such as a tab that is not selected. The program \
        keeps the request, and presents the item with that (Requested).
        """)
  }
}

extension ServedEntry {
  /// The tag that items at a binding have in their group: without `tag`, the binding below the group, or else the whole binding.
  /// - Returns: nil without a group.
  package func tagInGroup(at binding: String) -> String? {
    guard let group = self.group else { return nil }
    let own = binding.hasPrefix("\(group).") ? String(binding.dropFirst(group.count + 1)) : nil
    return self.tag ?? own ?? binding
  }
}
