// Why this file exists: what watchers are told, and what presenters are asked to do, as values that the shell carries
// out.

import DBusValues
import PresentationModel

/// One difference between two states (W1).
public struct Change: Hashable, Sendable {
  public enum Event: Hashable, Sendable {
    case presented(Handle, BindingID, id: String, Shared<Item>)
    case updated(Handle, BindingID, id: String, Shared<Item>)
    case phase(Handle, BindingID, id: String, Phase)
    /// The result is for those who wait for this presentation only (D6).
    case dismissed(Handle, BindingID, id: String, Reason, result: Properties)
    case action(Handle, BindingID, id: String, action: String, parameters: Properties)
    case selection(BindingID, tag: String?)
    /// Its tags or its queue; what they are now is read from the machine, since a list of 10⁵ tags would make every
    /// change of one cost 10⁵.
    case group(BindingID)
    /// Its path; what it is now is read from the machine, for the same reason.
    case path(BindingID)
  }
  public let serial: Serial
  public let event: Event
}

/// What a presenter is asked to do.
public enum Command: Hashable, Sendable {
  /// Show it; answered by `Report.presentAnswered`.
  case present(Handle)
  /// Its item changed; answered by `Report.updateAnswered`. `author` made the change, and is not told of it (D8).
  case update(Handle, author: Client?)
  /// End it; answered by `Report.dismissAnswered`.
  case dismiss(Handle, Reason, animated: Bool)
  /// It has had its grace: SIGKILL (P14). Answered as `dismiss`.
  case kill(Handle)
  /// It counts as gone although it never answered (P14); whatever is kept for it can go.
  case abandon(Handle)
}

/// What a presenter has to say.
public enum Report: Hashable, Sendable {
  /// The answer to `Command.present`; `error` where it could not be shown (D7).
  case presentAnswered(Handle, error: String?)
  /// The answer to `Command.update`.
  case updateAnswered(Handle)
  /// The answer to `Command.dismiss` and `Command.kill`; an error too is the end (P4).
  case dismissAnswered(Handle, result: Properties)
  /// It is gone, whether or not it was asked to go.
  case ended(Handle, failed: Bool, result: Properties)
}

/// What came of an input: in the order in which it happened.
public struct Outcome: Sendable {
  /// The presentations that are new; one of them may be gone again.
  public var created: [Handle] = []
  public var changes: [Change] = []
  public var commands: [Command] = []
  /// Whether other destinations can be named now, or the same ones in another way (D1).
  public var destinationsChanged = false
  /// Clients that own something and owned nothing before; it ends when they leave the bus (O1).
  public var owners: [Client] = []
  /// Clients whose requests made something end and of whom nothing is known; `identify` is to be told of each.
  public var requesters: [Client] = []
  public init() {}
}
