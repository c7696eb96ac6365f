import DBusValues
import PresentationModel

/// One difference between two states (W1).
public struct Change: Hashable, Sendable {
  /// Indirect, since an event is passed on several times: a copy costs one reference count instead of one for each part.
  public indirect enum Event: Hashable, Sendable {
    case presented(Handle, BindingID, id: String, Shared<Item>)
    /// - Parameter before: the item as it was.
    case updated(Handle, BindingID, id: String, Shared<Item>, before: Shared<Item>)
    case phase(Handle, BindingID, id: String, Phase)
    /// The result is only for clients that wait for this presentation (D6).
    case dismissed(Handle, BindingID, id: String, Reason, result: Properties)
    /// The presentation is `presented` again, since its presenter declined, or the presenter of one that depends on it (P15).
    case declined(Handle, BindingID, id: String, message: String)
    /// The question that the presenter asks its user before it ends the presentation; nil if it has stopped asking (P16).
    case asking(Handle, BindingID, id: String, String?)
    case action(Handle, BindingID, id: String, action: String, parameters: Properties)
    case selection(BindingID, tag: String?)
    /// The tags or the queue changed. Read them from the machine: if the event had all tags, a change of one tag among 10⁵ would cost
    /// 10⁵ steps.
    case group(BindingID)
    /// The path changed. Read it from the machine, for the same reason.
    case path(BindingID)
    /// A holder of the hold has begun or ended (H1).
    case hold(String, isInForce: Bool)
    /// Other programs are parked (N8).
    case parked
    /// Items are requested whose parents are out of view (D20).
    case requested([RequestedItem])
  }
  public let serial: Serial
  public let event: Event
}

/// An item that a client requests at a binding that a program serves, while its parent is out of view (D20).
public struct RequestedItem: Hashable, Sendable {
  public let binding: BindingID
  public let id: String
  /// The destination by which the program serves the binding.
  public let destination: String
  public let value: Properties
}

/// An instruction to a presenter, which the caller of the state machine carries out.
public enum PresenterCommand: Hashable, Sendable {
  /// Show the presentation; answered by `Report.presentAnswered`. If it runs already and `comesForward`, bring its window to the front.
  case present(Handle)
  /// Show the changed item; answered by `Report.updateAnswered`. `author` made the change, and gets
  /// no update if it is the presenter (D8).
  case update(Handle, author: Client?)
  /// End the presentation; answered by `Report.dismissAnswered`, or by `Report.declined` unless it is forced (P15).
  case dismiss(Handle, Reason, animated: Bool, isForced: Bool)
  /// The grace period is over: send SIGKILL (P14). Answered like `dismiss`.
  case kill(Handle)
  /// Activate the windows (N7).
  case raise(Handle)
  /// Bring the windows to where their user is, with the focus (N11). `output`: the one that a request names; nil for the place in use.
  case bring(Handle, output: String?)
  /// Move the windows to the output of the item (U2), and place them (N15).
  case move(Handle)
  /// The presentation counts as ended although its presenter never answered (P14). Release what is kept for it.
  case abandon(Handle)
  /// End a parked program (N8). Answered by `Report.parkedEnded`, or not at all if its user keeps it.
  case endParked(Handle, isForced: Bool)
  /// Show the windows of a parked program that does not end, and leave them to their user: navd quits (N8).
  case releaseParked(Handle)
}

extension PresenterCommand {
  /// The presentation that the command is about.
  public var handle: Handle {
    switch self {
    case .present(let handle), .update(let handle, _), .dismiss(let handle, _, _, _), .kill(let handle),
      .raise(let handle), .bring(let handle, _), .move(let handle), .abandon(let handle), .endParked(let handle, _),
      .releaseParked(let handle):
      handle
    }
  }
}

/// The outcome of an input, in the order of the events.
public struct Outcome: Sendable {
  /// The new presentations; some may have ended again.
  public var created: [Handle] = []
  public var changes: [Change] = []
  public var commands: [PresenterCommand] = []
  /// Whether the registered destinations changed (D1).
  public var destinationsChanged = false
  /// The clients that own an item and owned none before. Call `clientLeft` when one of them leaves the bus (O1).
  public var owners: [Client] = []
  /// The unknown clients whose requests ended presentations. Call `identify` for each.
  public var requesters: [Client] = []
  /// The fallbacks that cannot be selected, each once for each cause (K1).
  public var refusedFallbacks: [RefusedFallback] = []
  public init() {}
}
