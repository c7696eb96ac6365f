import DBus
import DBusValues
import PresentationModel

/// `org.navd.Presenter1`, which presenters implement on the path that they register. The coordinator is its client.
public enum PresenterInterface {
  public static let name: InterfaceName = "org.navd.Presenter1"

  public static let interface = Interface(
    name,
    doc: """
      Shows the items of a destination. A program implements this interface at any path, and calls RegisterPresenter \
      of org.navd.Coordinator1 with that path. Each reply is the acknowledgement that the coordinator waits for: send \
      it when the work is done, not before. A presenter that closes an item by itself calls Closed.

      Everybody on the bus can call a presenter, so it should refuse all but the owner of the name org.navd.Coordinator1. A \
      coordinator that was restarted may call before it owns the name; such a call waits until somebody does.

      The item; a key without a value is absent:
      \(StateEntry.ofPresenter.doc)
      """,
    members: [present, update, dismiss])

  public static let present = Method(
    name, "Present", in: Arg<ObjectPath>("handle", doc: "The handle, which Update and Dismiss use."),
    Arg<String>("binding"), Arg<String>("id"), Arg<Properties>("item"),
    doc: """
      Shows the item. Reply when it is on the screen. An error, or no reply within the destination's start timeout, \
      ends the presentation as failed; so does a call past the limits “calls-per-presenter” and “calls”, which is not \
      made. With “restored” the coordinator or the presenter was restarted: an item that is still on the \
      screen stays.
      """)

  public static let update = Method(
    name, "Update", in: Arg<ObjectPath>("handle"),
    Arg<Properties>("item", doc: "The whole item in its new state."),
    doc: """
      Another client has changed the item. At most one Update of a presentation is pending; the next one carries the \
      latest state. An error ends nothing.
      """)

  public static let dismiss = Method(
    name, "Dismiss", in: Arg<ObjectPath>("handle"),
    Arg<String>("reason", doc: "The reason, as in the signal Dismissed."),
    Arg<Properties>("options"),
    out: Arg<Properties>("result", doc: "For clients that wait for the presentation."),
    doc: """
      Removes the item. Reply when it is gone. The error org.navd.Error.Declined keeps it, for the reason that its message \
      gives, unless the dismissal is forced. Any other error counts as gone, and so does no reply within the destination's \
      grace period. A presenter that asks its user first calls Asking, and then has any time. A dismissal that was not forced \
      may be called again as a forced one.

      Options:
      \(DismissalOptions.table.doc)
      """)
}

/// The options with which presenters are called to dismiss an item.
public struct DismissalOptions: TypedDictionary {
  public var properties: Properties
  public init(_ properties: Properties) { self.properties = properties }

  public init(animated: Bool, forced: Bool) {
    properties = [:]
    self.animated = animated
    self.forced = forced
  }

  public static let keys = Keys()
  public final class Keys: Sendable {
    public let animated = DictionaryKey<Bool>("animated", doc: "Whether the change is to be animated.")
    public let forced = DictionaryKey<Bool>("forced", doc: "Whether the presenter must not decline.")
  }
}
