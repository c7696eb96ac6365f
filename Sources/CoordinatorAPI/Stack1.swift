import DBus
import DBusValues

/// `org.navd.Stack1`, on the object of each stack.
public enum StackInterface {
  public static let name: InterfaceName = "org.navd.Stack1"

  public static let interface = Interface(
    name,
    doc: """
      One stack. The object exists while the stack has elements, under the ObjectManager of the coordinator's object. \
      \(ContainerObjects.doc)
      """,
    members: [stackName, path, ids])
}

extension StackInterface {
  public static let stackName = Property<String>(name, "Name", emitsChanged: .const, doc: "The name of the stack.")
  public static let path = Property<[String]>(
    name, "Path", doc: "The bindings of its elements, from the bottom to the top.")
  public static let ids = Property<[String]>(name, "Ids", doc: "The ids of their items, in the same order.")
}
