// Why this file exists: one showing of one item, and the only things that it can be while it lasts.

import DBusValues

/// Why a presentation is gone.
public enum Reason: String, Sendable, CaseIterable {
  case dismissed, closed, replaced, deselected, popped, parent, expired, owner, failed, lost, shutdown
}

/// How far a dismissal has come.
public enum Dismissal: Hashable, Sendable {
  /// It was never shown; what was to be presented from it, or above it, ends first (C6).
  case overtaken
  /// What it holds up has to go first (C3, S2).
  case held
  /// Its presenter has ended it already, by itself; what it holds up has yet to go.
  case departed
  /// Its presenter was told; it has until the deadline (P14).
  case asked
  /// The grace is over, its processes were killed; it has until the deadline.
  case killed
}

/// A phase, and what belongs to it alone.
public enum Phase: Hashable, Sendable {
  case waiting
  case presenting
  case presented
  case dismissing(Dismissal, reason: Reason, animated: Bool)

  /// The word that the contract uses.
  public var word: String {
    switch self {
    case .waiting: "waiting"
    case .presenting: "presenting"
    case .presented: "presented"
    case .dismissing: "dismissing"
    }
  }

  /// Whether something of it may be on screen.
  public var isLive: Bool { if case .waiting = self { false } else { true } }

  var isDismissing: Bool { if case .dismissing = self { true } else { false } }
}

/// How far the telling of updates to a presenter is (D8: one under way, the latest follows).
enum UpdateState: Hashable, Sendable {
  case idle
  case underWay
  case underWayAndPending(author: Client?)
}

/// One showing of one item, from the moment a request for it is accepted until it is gone.
public struct Presentation: Sendable {
  public let handle: Handle
  public let binding: BindingID
  public internal(set) var item: Shared<Item>
  /// What it is presented from, fixed (C1).
  public let parent: Handle?
  /// Who asked for it.
  public let creator: Client?
  public internal(set) var phase = Phase.waiting
  /// What was presented from it and is not gone.
  public internal(set) var children: Set<Handle> = []
  /// When it became `presented`.
  public internal(set) var presentedAt: Instant?
  /// The same by the wall's clock, in milliseconds since 1970; nil if nobody has told that. Noted once: asked for
  /// later, the two clocks would give another answer each time, and the state would differ with no event to tell it (W1).
  public internal(set) var since: UInt64?
  /// When it ends as `expired` (O2).
  public internal(set) var expires: Instant?
  /// Until when its presenter has to answer.
  var answerDue: Instant?
  var updates = UpdateState.idle
  /// What is known of its result already.
  var result: Properties = [:]
  /// By whose request it goes.
  public internal(set) var endedBy: Requester?
  /// The phase that watchers were last told.
  var announced: Phase?

  init(handle: Handle, binding: BindingID, item: Shared<Item>, parent: Handle?, creator: Client?) {
    self.handle = handle
    self.binding = binding
    self.item = item
    self.parent = parent
    self.creator = creator
  }
}

/// A presentation that is gone, as far as it is remembered.
public struct Ending: Hashable, Sendable {
  public let handle: Handle
  public let binding: BindingID
  public let id: String
  public let destination: String?
  public let group: BindingID?
  public let stack: BindingID?
  public let reason: Reason
  /// For those who wait for that presentation, and for nobody else (D6).
  public let result: Properties
  public let serial: Serial
  public internal(set) var presentedAt: Instant?
  public internal(set) var endedAt: Instant
  /// The same by the wall's clock, in milliseconds since 1970; nil if nobody has told that.
  public var time: UInt64?
  /// By whose request; nil if by nobody's.
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
