import DBusValues

/// One difference between two states (rule W1).
public struct StateEvent: Hashable, Sendable {
  /// The presentation of an event.
  public struct Subject: Hashable, Sendable {
    /// The binding that holds its item, or held it.
    public let binding: String
    /// The id of the item; empty where it has none.
    public let id: String
    public let presentation: Handle
    /// The object path of the presentation, made once for the messages about an event.
    package let path: ObjectPath

    public init(binding: String, id: String, presentation: Handle) {
      self.binding = binding
      self.id = id
      self.presentation = presentation
      path = presentation.path
    }
  }

  /// Indirect, since an event is handed on several times: a copy counts one reference instead of each in it.
  public indirect enum Kind: Hashable, Sendable {
    /// It is on screen; `item` has the keys of `StateEntry`.
    case presented(Subject, item: Properties)
    /// Its item changed in place.
    case updated(Subject, item: Properties)
    /// Its phase changed, and it did not become `presented` at once.
    case phase(Subject, Phase)
    /// It ended; one event for every presentation, shown or not (P6).
    case dismissed(Subject, Reason)
    /// Its presenter declined to dismiss it, or something that depends on it: it is `presented` again (P15).
    /// - Parameter message: why; empty unless its own presenter gave a reason.
    case declined(Subject, message: String)
    /// Its presenter asks its user before it dismisses it, or does not ask any more (P16).
    /// - Parameter message: the question; nil if it does not ask.
    case asking(Handle, message: String?)
    /// Its presenter reports an action, such as a pressed button (P8).
    case action(Subject, String, parameters: Properties)
    /// A group has another selection; nil if no member is selected.
    case selection(group: String, tag: String?)
    /// A group has other tags or another queue.
    case group(String, tags: [String], queue: [String])
    /// A stack has another path.
    case path(stack: String, [PathElement])
    /// One more client or fact holds, or one less (H1).
    case hold(String, isInForce: Bool)
    /// Other programs are parked (N8), the oldest first.
    case parked([ParkedEntry])
  }

  /// The serial of the state after the event; one more than that of the event before.
  public let serial: UInt64
  public let kind: Kind

  public init(_ kind: Kind, serial: UInt64) {
    self.serial = serial
    self.kind = kind
  }
}
