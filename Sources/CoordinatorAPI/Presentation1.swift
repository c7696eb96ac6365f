import DBus
import DBusValues
import PresentationModel

/// `org.navd.Presentation1`, on the object of each presentation.
public enum PresentationInterface {
  public static let name: InterfaceName = "org.navd.Presentation1"

  public static let interface = Interface(
    name,
    doc: """
      One presentation: one showing of one item. The object exists from the acceptance of the request until the \
      presentation is gone, under the ObjectManager of the coordinator's object. Within one turn of the daemon, \
      InterfacesAdded carries the final phase, and Dismissed precedes InterfacesRemoved.
      """,
    members: [
      number, binding, id, destination, group, tag, stack, parent, phase, value, containerValues, style, title, owner,
      output, asking, message, since, pid, unit, queued, heldBy, restartAt,
      dismiss, update, wait,
    ])
}

extension PresentationInterface {
  public static let number = Property<UInt64>(
    name, "Presentation", emitsChanged: .const,
    doc:
      "Its number, with which the path of its object ends. A later one has a greater number: the order of the objects.")
  public static let queued = Property<UInt32>(
    name, "Queued", doc: "Its place in the queue of its group, 1 for the next one; 0 if it is not queued.")
  public static let binding = Property<String>(name, "Binding", emitsChanged: .const, doc: "The binding of its slot.")
  public static let id = Property<String>(
    name, "Id", emitsChanged: .const, doc: "The id of its item; empty if that has none.")
  public static let destination = Property<String>(
    name, "Destination", emitsChanged: .const,
    doc: "The destination that shows it; empty for a command of its own, or state only.")
  public static let group = Property<String>(name, "Group", emitsChanged: .const, doc: "Empty if it is in none.")
  public static let tag = Property<String>(name, "Tag", emitsChanged: .const, doc: "Its tag in its group.")
  public static let stack = Property<String>(name, "Stack", emitsChanged: .const, doc: "Empty if it is in none.")
  public static let parent = Property<ObjectPath>(
    name, "Parent", emitsChanged: .const, doc: "The presentation of its parent, or “/”.",
    // Not `parent`: QObject has a function of that name.
    annotations: [Annotation(QtAnnotation.propertyGetter, "parentPath")])
  public static let phase = Property<String>(
    name, "Phase", doc: "waiting, presenting, presented or dismissing.")
  public static let value = Property<Properties>(name, "Value", doc: "The item's value.")
  public static let containerValues = Property<Properties>(
    name, "ContainerValues", doc: "The values that the item sets, without the defaults.")
  public static let style = Property<String>(name, "Style", doc: "Passed to the presenter.")
  public static let title = Property<String>(name, "Title", doc: "A name for people.")
  public static let owner = Property<String>(
    name, "Owner", doc: "The unique name of its owner: when this client leaves the bus, it ends. Empty if it has none.")

  public static let output = Property<String>(
    name, "Output", doc: "The output that it was asked to appear on; empty for none in particular.")
  public static let asking = Property<Bool>(
    name, "Asking", doc: "Whether it is dismissing, and its presenter asks its user whether to end it.")
  public static let message = Property<String>(
    name, "Message", doc: "While it asks: the question; empty if it is not known.")
  public static let since = Property<UInt64>(
    name, "Since", doc: "When it was presented, in milliseconds since 1970; 0 if it was not, or if that is not known.")
  public static let pid = Property<UInt64>(
    name, "Pid",
    doc:
      "The process that shows it; 0 if there is none, or it is not known. Announced when its program was started, and when it is presented."
  )
  public static let unit = Property<String>(
    name, "Unit", doc: "The systemd unit that shows it; empty if there is none. Announced as Pid.")
  public static let heldBy = Property<[String]>(
    name, "HeldBy", doc: "While it waits: the holds in force that keep it from being presented.")

  public static let restartAt = Property<UInt64>(
    name, "RestartAt",
    doc: "While it waits to be presented again after it had ended by itself: when, in milliseconds since 1970; else 0.")

  public static let dismiss = Method(
    name, "Dismiss", in: Arg<Properties>("options"),
    out: Arg<Bool>("changed", doc: "False if it is no longer in its slot."),
    Arg<UInt64>("serial", doc: "The serial after the request."),
    doc: """
      Sets its slot to nil if the slot still holds this presentation.

      Options:
      \(Options.ofDismiss.doc)
      """)

  public static let update = Method(
    name, "Update", in: Arg<Properties>("value", doc: "The keys to set in the item's value; the others stay."),
    Arg<Properties>("options"),
    out: Arg<Bool>("changed", doc: "Whether the request changed anything."),
    Arg<UInt64>("serial", doc: "The serial after the request."),
    doc: "As Update of org.navd.Coordinator1, if its slot still holds this presentation (else NotPresented).")

  public static let wait = Method(
    name, "Wait", in: Arg<String>("phase", doc: "presented, gone or settled, as in Wait of org.navd.Coordinator1."),
    out: Arg<String>("reason", doc: "Why it ended; empty if it is presented."), Arg<Properties>("result"),
    doc: """
      As Wait of org.navd.Coordinator1. Use that one for a presentation that may have ended: its object no longer \
      exists.
      """)
}
