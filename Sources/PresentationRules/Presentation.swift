import DBusValues
import PresentationModel

/// The stage of a dismissal.
public enum Dismissal: Hashable, Sendable {
  /// It was never shown. Presentations from it, or above it, end first (C6).
  case overtaken
  /// Presentations that depend on it have to end first (C3, S2).
  case held
  /// Its presenter has ended it already. Presentations that depend on it have to end first.
  case departed
  /// Its presenter was asked to end it, by a deadline (P14).
  case asked
  /// Its grace was over and its processes were killed; the end is due by another deadline.
  case killed
}

/// The phase of a presentation with the data that only this phase has.
public enum Lifecycle: Hashable, Sendable {
  case waiting
  case presenting
  case presented
  case dismissing(Dismissal, reason: Reason, animated: Bool)

  /// The phase as clients see it.
  public var name: Phase {
    switch self {
    case .waiting: .waiting
    case .presenting: .presenting
    case .presented: .presented
    case .dismissing: .dismissing
    }
  }

  /// Whether it may be on screen.
  public var isLive: Bool { if case .waiting = self { false } else { true } }

  var isDismissing: Bool { if case .dismissing = self { true } else { false } }
}

/// The progress of updates to a presenter (D8: one is under way, the latest follows).
enum UpdateState: Hashable, Sendable {
  case idle
  case underWay
  case underWayAndPending(author: Client?)
}

/// One showing of one item, from the accepted request until its end.
public struct Presentation: Sendable {
  public let handle: Handle
  public let binding: BindingID
  public internal(set) var item: Shared<Item>
  /// The presentation from which it is presented; it never changes (C1).
  public let parent: Handle?
  /// The client that requested it.
  public let creator: Client?
  public internal(set) var phase = Lifecycle.waiting
  /// The presentations from it that have not ended.
  public internal(set) var children: Set<Handle> = []
  /// When it became `presented`.
  public internal(set) var presentedAt: Instant?
  /// When it became `presented`, in milliseconds since 1970; nil if the wall clock is unknown. Stored once: converted later,
  /// it would vary with the two clocks, and the state would change without an event (W1).
  public internal(set) var since: UInt64?
  /// When it ends as `expired` (O2).
  public internal(set) var expires: Instant?
  /// The deadline for its presenter's answer.
  var answerDue: Instant?
  var updates = UpdateState.idle
  /// The part of its result that is already known.
  var result: Properties = [:]
  /// The client whose request ends it.
  public internal(set) var endedBy: Requester?
  /// The phase announced last.
  var announced: Phase?

  init(handle: Handle, binding: BindingID, item: Shared<Item>, parent: Handle?, creator: Client?) {
    self.handle = handle
    self.binding = binding
    self.item = item
    self.parent = parent
    self.creator = creator
  }
}

/// The remembered end of a presentation.
public struct Ending: Hashable, Sendable {
  public let handle: Handle
  public let binding: BindingID
  public let id: String
  public let destination: String?
  public let group: BindingID?
  public let stack: BindingID?
  public let reason: Reason
  /// Only for clients that wait for this presentation (D6).
  public let result: Properties
  public let serial: Serial
  public internal(set) var presentedAt: Instant?
  public internal(set) var endedAt: Instant
  /// When it ended, in milliseconds since 1970; nil if the wall clock is unknown.
  public var time: UInt64?
  /// The client whose request ended it, if one did.
  public var by: Requester?

  public init(
    handle: Handle, binding: BindingID, id: String, destination: String?, group: BindingID?, stack: BindingID?,
    reason: Reason, result: Properties, serial: Serial, presentedAt: Instant?, endedAt: Instant, time: UInt64? = nil,
    by requester: Requester? = nil
  ) {
    self.handle = handle
    self.binding = binding
    self.id = id
    self.destination = destination
    self.group = group
    self.stack = stack
    self.reason = reason
    self.result = result
    self.serial = serial
    self.presentedAt = presentedAt
    self.endedAt = endedAt
    self.time = time
    by = requester
  }
}
