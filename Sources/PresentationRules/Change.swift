import DBusValues
import PresentationModel

/// One difference between two states (W1).
public struct Change: Hashable, Sendable {
  /// Indirect, since an event is handed on several times: a copy counts one reference instead of each in it.
  public indirect enum Event: Hashable, Sendable {
    case presented(Handle, BindingID, id: String, Shared<Item>)
    /// - Parameter before: the item as it was.
    case updated(Handle, BindingID, id: String, Shared<Item>, before: Shared<Item>)
    case phase(Handle, BindingID, id: String, Phase)
    /// The result is only for clients that wait for this presentation (D6).
    case dismissed(Handle, BindingID, id: String, Reason, result: Properties)
    /// A presenter declined its dismissal, or that of a presentation that depends on it: it is `presented` again (P15).
    case declined(Handle, BindingID, id: String, message: String)
    /// Its presenter asks its user before it ends it; nil if it does not ask any more (P16).
    case asking(Handle, String?)
    case action(Handle, BindingID, id: String, action: String, parameters: Properties)
    case selection(BindingID, tag: String?)
    /// Its tags or its queue changed. Read them from the machine: with a list of 10⁵ tags here, every change of one tag
    /// would cost 10⁵.
    case group(BindingID)
    /// Its path changed; read it from the machine, for the same reason.
    case path(BindingID)
    /// One has begun to hold, or holds no longer (H1).
    case hold(String, isInForce: Bool)
    /// Other programs are parked (N8).
    case parked
  }
  public let serial: Serial
  public let event: Event
}

public enum Command: Hashable, Sendable {
  /// Show it; answered by `Report.presentAnswered`.
  case present(Handle)
  /// Show the changed item; answered by `Report.updateAnswered`. `author` made the change, and does not need it (D8).
  case update(Handle, author: Client?)
  /// End it; answered by `Report.dismissAnswered`, or by `Report.declined` unless it is forced (P15).
  case dismiss(Handle, Reason, animated: Bool, isForced: Bool)
  /// Its grace is over: send SIGKILL (P14). Answered like `dismiss`.
  case kill(Handle)
  /// Activate its windows (N7).
  case raise(Handle)
  /// Bring its windows to where its user is, with the focus (N11). `output`: the one that a request names; nil for the place in use.
  case bring(Handle, output: String?)
  /// Move its windows to its output (U2).
  case move(Handle)
  /// It counts as ended although it never answered (P14); release what is kept for it.
  case abandon(Handle)
  /// End a parked program (N8). Answered by `Report.parkedEnded`, or not at all if its user keeps it.
  case endParked(Handle, isForced: Bool)
}

extension Command {
  /// The presentation that it is about.
  public var handle: Handle {
    switch self {
    case .present(let handle), .update(let handle, _), .dismiss(let handle, _, _, _), .kill(let handle),
      .raise(let handle), .bring(let handle, _), .move(let handle), .abandon(let handle), .endParked(let handle, _):
      handle
    }
  }
}

public enum Report: Hashable, Sendable {
  /// The answer to `Command.present`; with an error if it could not be shown (D7).
  case presentAnswered(Handle, error: String?)
  /// The answer to `Command.update`.
  case updateAnswered(Handle)
  /// The answer to `Command.dismiss` and `Command.kill`; an error also counts as the end (P4).
  case dismissAnswered(Handle, result: Properties)
  /// The other answer to `Command.dismiss`: the presenter keeps it (P15).
  case declined(Handle, message: String)
  /// The window with the focus is another one: of a presentation, or of none. `isOwn`: the coordinator has moved the focus.
  case focused(Handle?, isOwn: Bool)
  /// The window with the focus has lost it. Another one may get it in a moment; else `noFocus` follows.
  case focusLost
  /// No window has had the focus for a quarter of a second. `isOwn`: the coordinator has caused it.
  case noFocus(isOwn: Bool)
  /// The other answer to `Command.dismiss`: its windows are hidden, and its program goes on (N8).
  case hidden(Handle)
  /// The output of its windows was unplugged (U3).
  case outputGone(Handle)
  /// Its windows are gone (N3, N5). `isFinal`: only `ended` follows, with its result; else another window may.
  case windowsGone(Handle, isFinal: Bool)
  /// It has a window again, after `windowsGone`.
  case windowsBack(Handle)
  /// A parked program has ended (N8).
  case parkedEnded(Handle)
  /// It asks its user before it answers `Command.dismiss` (P16).
  case asking(Handle, message: String)
  /// The presenter on the bus that shows it has left the bus (D4).
  case presenterLeft(Handle)
  /// The name of the presenter that has left belongs to a program again (D4).
  case presenterReturned(Handle)
  /// It ended, whether or not it was dismissed.
  case ended(Handle, failed: Bool, result: Properties)
}

/// The outcome of an input, in the order in which things happened.
public struct Outcome: Sendable {
  /// The new presentations; they may have ended again.
  public var created: [Handle] = []
  public var changes: [Change] = []
  public var commands: [Command] = []
  /// Whether the registered destinations changed (D1).
  public var destinationsChanged = false
  /// Clients that own an item and owned none before. Call `clientLeft` when they leave the bus (O1).
  public var owners: [Client] = []
  /// Whether more waits to be presented after the end of a hold. Call `presentHeld`, after others were served.
  public var hasHeld = false
  /// Unknown clients whose requests ended presentations. Call `identify` for each.
  public var requesters: [Client] = []
  /// Fallbacks that cannot be selected, each once for each cause (K1).
  public var refusedFallbacks: [RefusedFallback] = []
  public init() {}
}
