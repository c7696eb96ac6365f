import DBus
import DBusValues

/// `org.navd.Group1`, on the object of each group.
public enum GroupInterface {
  public static let name: InterfaceName = "org.navd.Group1"

  public static let interface = Interface(
    name,
    doc: """
      One exclusive group. The object exists while the group has a tag, a selection or a queue, under the ObjectManager of \
      the coordinator's object. \(ContainerObjects.doc)
      """,
    members: [groupName, selection, tags, titles, queue, hidden])
}

extension GroupInterface {
  public static let groupName = Property<String>(name, "Name", emitsChanged: .const, doc: "The name of the group.")
  public static let selection = Property<String>(
    name, "Selection", doc: "The selected tag; empty if no member is selected.")
  public static let tags = Property<[String]>(
    name, "Tags",
    doc: "Its tags, in their order: those that destinations declare or programs serve, and those of its members.")
  public static let titles = Property<[String: String]>(
    name, "Titles",
    doc:
      "By tags: the title of the member's item, or else of the destination that declares the tag. A tag without one is absent.",
    annotations: [Annotation(QtAnnotation.type, "NavdVariables")])
  public static let queue = Property<[String]>(name, "Queue", doc: "The queued tags, the next one first.")
  public static let hidden = Property<[String]>(
    name, "Hidden", doc: "The tags of the programs whose windows dismissals have hidden, the oldest first.")
}
