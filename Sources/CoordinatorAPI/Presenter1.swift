// Why this file exists: org.navd.Presenter1, a row a member; see Coordinator1.swift for what they give. This one is
// implemented by others: the coordinator is its client.

import DBus
import DBusValues

/// `org.navd.Presenter1`, on the path that a presenter registered.
public enum PresenterInterface {
  public static let name: InterfaceName = "org.navd.Presenter1"

  public static let interface = Interface(
    name,
    doc: """
      What shows the items of a destination. A program implements it at a path of its own, and calls RegisterPresenter \
      of org.navd.Coordinator1 with that path. Each reply is the acknowledgement that the coordinator waits for, so it \
      is sent when the thing is done, not before. A presenter that closes something by itself calls Closed.

      The item: value (a{sv}), container-values (a{sv}), style (s), title (s), group (s), tag (s), stack (s), from (s), \
      animated (b), restored (b), platform-data (a{sv}); absent where there is none.
      """,
    members: [present, update, dismiss])

  public static let present = Method(
    name, "Present", in: Arg<ObjectPath>("presentation", doc: "The handle, by which it is updated and dismissed."),
    Arg<String>("binding"), Arg<String>("id"), Arg<Properties>("item"),
    doc: """
      Shows the item. The reply says: it is on screen. An error, or no reply in the destination's time, ends the \
      presentation as failed. With “restored” the coordinator was restarted, and what is on screen already stays.
      """)

  public static let update = Method(
    name, "Update", in: Arg<ObjectPath>("presentation"), Arg<Properties>("item", doc: "Whole, as it is now."),
    doc: """
      The item was changed by somebody else. At most one Update of a presentation is under way; the next one carries \
      the latest. An error ends nothing.
      """)

  public static let dismiss = Method(
    name, "Dismiss", in: Arg<ObjectPath>("presentation"),
    Arg<String>("reason", doc: "Why, in the words of the signal Dismissed."),
    Arg<Bool>("animated", doc: "Whether the change is to be animated."),
    out: Arg<Properties>("result", doc: "For those who wait for the presentation."),
    doc: """
      Takes the item away. The reply says: it is gone. An error counts as gone, and so does no reply in the \
      destination's grace time.
      """)
}
