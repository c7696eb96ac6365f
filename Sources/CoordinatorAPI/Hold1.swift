import DBus
import DBusValues

/// `org.navd.Hold1`, on the object of each hold.
public enum HoldInterface {
  public static let name: InterfaceName = "org.navd.Hold1"

  public static let interface = Interface(
    name,
    doc: """
      One hold. The object exists while the hold is in force, under the ObjectManager of the coordinator's object. \
      \(ContainerObjects.doc)
      """,
    members: [holdName, since, holders, messages])
}

extension HoldInterface {
  public static let holdName = Property<String>(
    name, "Name", emitsChanged: .const,
    doc: "The name of the hold; locked, idle, fullscreen and sleep are facts of the session.")
  public static let since = Property<UInt64>(
    name, "Since",
    doc: "When the first of those began that hold now, in milliseconds since 1970; 0 if that is not known.")
  public static let holders = Property<UInt32>(name, "Holders", doc: "How many clients, facts and presentations hold.")
  public static let messages = Property<[String]>(
    name, "Messages", doc: "Why they do, for people: the messages that they gave, the oldest first.")
}
