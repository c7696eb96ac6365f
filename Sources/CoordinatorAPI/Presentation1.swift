// Why this file exists: org.navd.Presentation1, a row a member; see Coordinator1.swift for what they give.

import DBus
import DBusValues
import PresentationModel

/// `org.navd.Presentation1`, on ``CoordinatorNames/presentation(_:)``.
public enum PresentationInterface {
  public static let name: InterfaceName = "org.navd.Presentation1"

  public static let interface = Interface(
    name,
    doc: """
      One presentation: one showing of one item. The object is there from the moment the request is accepted until the \
      presentation is gone, under the ObjectManager of the coordinator's object. Within one turn of the daemon \
      InterfacesAdded carries the final phase, and Dismissed comes before InterfacesRemoved.
      """,
    members: [
      binding, id, destination, group, tag, stack, parent, phase, value, containerValues, style, title, owner,
      dismiss, update, wait,
    ])
}

extension PresentationInterface {
  public static let binding = Property<String>(name, "Binding", emitsChanged: .const, doc: "The slot that it is of.")
  public static let id = Property<String>(
    name, "Id", emitsChanged: .const, doc: "Of its item; empty where that has none.")
  public static let destination = Property<String>(
    name, "Destination", emitsChanged: .const, doc: "How it is shown; empty for a command of its own, or state only.")
  public static let group = Property<String>(name, "Group", emitsChanged: .const, doc: "Empty where it is in none.")
  public static let tag = Property<String>(name, "Tag", emitsChanged: .const, doc: "In its group.")
  public static let stack = Property<String>(name, "Stack", emitsChanged: .const, doc: "Empty where it is in none.")
  public static let parent = Property<ObjectPath>(
    name, "Parent", emitsChanged: .const, doc: "The presentation that it is presented from, or “/”.")
  public static let phase = Property<String>(
    name, "Phase", doc: "waiting, presenting, presented or dismissing.")
  public static let value = Property<Properties>(name, "Value", doc: "What the item holds.")
  public static let containerValues = Property<Properties>(
    name, "ContainerValues", doc: "What the item sets, without the defaults.")
  public static let style = Property<String>(name, "Style", doc: "Handed to the presenter.")
  public static let title = Property<String>(name, "Title", doc: "What to call it where a name is shown.")
  public static let owner = Property<String>(
    name, "Owner", doc: "The unique name of the client with which it ends; empty where it has no owner.")

  public static let dismiss = Method(
    name, "Dismiss", in: Arg<Properties>("options"),
    out: Arg<Bool>("changed", doc: "False where it is not in its slot any more."),
    Arg<UInt64>("serial", doc: "After the request."),
    doc: """
      Sets its slot to nil, if the presentation is still the slot's own.

      Options:
      \(Options.ofDismiss.doc)
      """)

  public static let update = Method(
    name, "Update", in: Arg<Properties>("value", doc: "The keys to set in the item's value; the others stay."),
    Arg<Properties>("options"),
    out: Arg<Bool>("changed", doc: "Whether anything is different now."),
    Arg<UInt64>("serial", doc: "After the request."),
    doc: "As Update of org.navd.Coordinator1, if the presentation is still its slot's own (else NotPresented).")

  public static let wait = Method(
    name, "Wait", in: Arg<String>("phase", doc: "presented or gone."),
    out: Arg<String>("reason", doc: "Why it is gone; empty where it is presented."), Arg<Properties>("result"),
    doc: """
      As Wait of org.navd.Coordinator1; that one also answers for a presentation that has ended, whose object is not \
      there any more.
      """)
}
