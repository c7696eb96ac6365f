import DBusValues

/// One difference between two states (rule W1).
public struct StateEvent: Hashable, Sendable {
  /// The presentation of an event.
  public struct Subject: Hashable, Sendable {
    /// The binding that holds the item, or held it.
    public let binding: String
    /// The id of the item; empty where it has none.
    public let id: String
    public let presentation: Handle
    /// The title of the item, in events that do not carry the item: other phases, and questions; nil if it has none.
    public let title: String?
    /// The object path of the presentation, made once for the messages about an event.
    package let path: ObjectPath
    package var number: UInt64 { presentation.number }

    public init(binding: String, id: String, presentation: Handle, title: String? = nil) {
      self.binding = binding
      self.id = id
      self.presentation = presentation
      self.title = title
      path = presentation.path
    }
  }

  /// Indirect, since an event is passed on several times: a copy costs one reference count instead of one for each part.
  public indirect enum Kind: Hashable, Sendable {
    /// The presentation is on screen; `item` has the keys of `StateEntry`.
    case presented(Subject, item: Properties)
    /// The item of the presentation changed in place.
    case updated(Subject, item: Properties)
    /// The phase changed, and the presentation did not become `presented` at once.
    case phase(Subject, Phase)
    /// The presentation ended; one event for every presentation, shown or not (P6).
    case dismissed(Subject, Reason)
    /// The presentation is `presented` again, since its presenter declined, or the presenter of one that depends on it (P15).
    /// - Parameter message: the reason that its own presenter gave; empty if none.
    case declined(Subject, message: String)
    /// The presenter asks its user before it dismisses the presentation, or has stopped asking (P16).
    /// - Parameter message: the question; nil if the presenter does not ask.
    case asking(Subject, message: String?)
    /// The presenter reports an action, such as a pressed button (P8).
    case action(Subject, String, parameters: Properties)
    /// A group has another selection; nil if no member is selected.
    case selection(group: String, tag: String?)
    /// A group has other tags or another queue.
    case group(String, tags: [String], queue: [String])
    /// A stack has another path.
    case path(stack: String, [PathElement])
    /// The number of clients and facts that hold has changed by one (H1).
    case hold(String, isInForce: Bool)
    /// Other programs are parked, the oldest first (N8).
    case parked([ParkedEntry])
    /// A transaction asks for items whose parents are out of view: their program keeps them, and presents them with those (D20).
    case requested([RequestedEntry])
  }

  /// The serial of the state after the event; one more than that of the event before.
  public let serial: UInt64
  public let kind: Kind

  public init(_ kind: Kind, serial: UInt64) {
    self.serial = serial
    self.kind = kind
  }
}
