import DBusValues
import PresentationModel

/// A dismissal that has not completed.
public struct Dismissal: Hashable, Sendable {
  public enum Stage: Hashable, Sendable {
    /// It was never shown. Presentations from it, or above it, end first (C6).
    case overtaken
    /// Presentations that depend on it have to end first (C3, S2).
    case held
    /// Its presenter has ended it already. Presentations that depend on it have to end first.
    case departed
    /// Its presenter was asked to end it, by a deadline (P14).
    case asked
    /// Its presenter asks its user, for as long as that takes (P16).
    case asking(message: String)
    /// Its windows are gone, and the result of its program is to come (N3). Neither its slot nor its group waits for that.
    case settling
    /// Its grace was over and its processes were killed; the end is due by another deadline.
    case killed
  }

  public package(set) var stage: Stage
  public package(set) var reason: Reason
  public let animated: Bool
  /// Whether no presenter may decline it (P15). Then the same is true of everything that has to end before it.
  public package(set) var isForced: Bool
  /// Nanoseconds of its timeout that were left when the dismissal began; nil if none was running (P15).
  public package(set) var timeLeft: UInt64?

  package init(
    _ stage: Stage, reason: Reason, animated: Bool = true, isForced: Bool = false, timeLeft: UInt64? = nil
  ) {
    self.stage = stage
    self.reason = reason
    self.animated = animated
    self.isForced = isForced
    self.timeLeft = timeLeft
  }
}

/// The phase of a presentation with the data that only this phase has.
public enum Lifecycle: Hashable, Sendable {
  case waiting
  case presenting
  case presented
  case dismissing(Dismissal)

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

  var isDismissing: Bool { dismissal != nil }

  /// The dismissal under way; nil in every other phase.
  public var dismissal: Dismissal? { if case .dismissing(let dismissal) = self { dismissal } else { nil } }
}

/// The progress of updates to a presenter (D8: one is under way, the latest follows).
public enum UpdateState: Hashable, Sendable {
  case idle
  case underWay
  case underWayAndPending(author: Client?)
}

/// One showing of one item, from the accepted request until its end. Shared, since it is handed on and read far more often than
/// it changes.
public typealias Presentation = Shared<PresentationFields>

/// What a ``Presentation`` consists of.
public struct PresentationFields: Hashable, Sendable {
  public let handle: Handle
  public let binding: BindingID
  public package(set) var item: Shared<Item>
  /// The presentation from which it is presented; it never changes (C1).
  public package(set) var parent: Handle?
  /// Whether a request named the parent. One that was only implied is found anew if the item is presented again (C1).
  public package(set) var hasNamedParent = false
  /// The client that requested it.
  public package(set) var creator: Client?
  public package(set) var phase: Lifecycle
  /// The presentations from it that have not ended.
  @Unrecorded public internal(set) var children: Set<Handle> = []
  /// When it became `presented`.
  public package(set) var presentedAt: Instant?
  /// When it became `presented`, in milliseconds since 1970; nil if the wall clock is unknown. Stored once: converted later,
  /// it would vary with the two clocks, and the state would change without an event (W1).
  public package(set) var since: UInt64?
  /// When it ends as `expired` (O2).
  public package(set) var expires: Instant?
  /// When it ends as `expired` if it still waits then (H6).
  public package(set) var startsBy: Instant?
  /// The deadline for its presenter's answer, or for its presenter's return.
  public package(set) var answerDue: Instant?
  /// Whether its presenter has left the bus, and may come back until `answerDue` (D4).
  public package(set) var awaitsPresenter = false
  /// When its presenter has left the bus, as far as that counts for the next time (D4).
  @Unrecorded var absences: [Instant] = []
  public package(set) var updates = UpdateState.idle
  /// Whether the answer to an update is to come, which it may do during a dismissal. None comes after a restart.
  @Unrecorded var awaitsUpdateAnswer = false
  /// The part of its result that is already known.
  public package(set) var result: Properties = [:]
  /// Whether its windows are gone, and another one may follow (N3).
  @Unrecorded public package(set) var isWithoutWindow = false
  /// Whether its windows are gone, and the result of its program is to come (N3). None comes after a restart.
  @Unrecorded var awaitsResult = false
  /// The client whose request ends it.
  public package(set) var endedBy: Requester?
  /// The presentation for which its program was started, if that was parked since (N8).
  public package(set) var program: Handle?
  /// The count, delay and timeout that it takes over from the presentation before; nil if it is the first one of its item.
  public package(set) var continuation: Continuation?
  /// The phase that watchers have last heard of.
  @Unrecorded package var announced: Phase?
}

/// A part of a value that no record has, and that makes no difference between two values.
@propertyWrapper
public struct Unrecorded<Value: Sendable>: Hashable, Sendable {
  public var wrappedValue: Value
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
  public static func == (a: Unrecorded, b: Unrecorded) -> Bool { true }
  public func hash(into hasher: inout Hasher) {}
}

extension PresentationFields {
  /// - Parameter wallTime: milliseconds since 1970; nil if unknown.
  mutating func becomePresented(at now: Instant, _ wallTime: UInt64?) {
    phase = .presented
    announced = .presented
    isWithoutWindow = false
    answerDue = nil
    presentedAt = now
    since = wallTime
    expires = item.timeout.map { timeout in
      continuation?.timeLeft.map { now.after(nanoseconds: $0) } ?? now.after(milliseconds: timeout)
    }
    continuation?.timeLeft = nil
  }

  /// - Parameter isOver: whether its presenter has ended it already.
  mutating func beginDismissal(reason: Reason, animated: Bool, isOver: Bool, by requester: Requester?, at now: Instant)
  {
    let stage: Dismissal.Stage =
      switch phase {
      case .waiting: .overtaken
      // Nobody is there to be asked.
      case .presenting, .presented: isOver || awaitsPresenter ? .departed : .held
      case .dismissing: preconditionFailure("a dismissal begins once")
      }
    phase = .dismissing(
      Dismissal(
        stage, reason: reason, animated: animated,
        isForced: reason.isForced || presentedAt == nil || stage == .departed,
        timeLeft: expires.flatMap { $0 > now ? $0.nanoseconds(since: now) : nil }))
    endedBy = requester
    answerDue = nil
    awaitsPresenter = false
    expires = nil
    startsBy = nil
  }
}

extension Presentation {
  package init(
    handle: Handle, binding: BindingID, item: Shared<Item>, phase: Lifecycle = .waiting, parent: Handle? = nil,
    creator: Client? = nil
  ) {
    self.init(
      PresentationFields(handle: handle, binding: binding, item: item, parent: parent, creator: creator, phase: phase))
  }
}

/// The remembered end of a presentation.
public struct Ending: Hashable, Sendable {
  public let handle: Handle
  public let binding: BindingID
  public let id: String
  public package(set) var destination: String?
  public package(set) var group: BindingID?
  public package(set) var stack: BindingID?
  public let reason: Reason
  /// Only for clients that wait for this presentation (D6).
  public package(set) var result: Properties = [:]
  public let serial: Serial
  public package(set) var presentedAt: Instant?
  public package(set) var endedAt = Instant(nanoseconds: 0)
  /// When it ended, in milliseconds since 1970; nil if the wall clock is unknown.
  public package(set) var time: UInt64?
  /// The client whose request ended it, if one did.
  public package(set) var by: Requester?
}

extension Ending {
  package init(_ handle: Handle, _ binding: BindingID, id: String, reason: Reason, serial: Serial) {
    self.init(handle: handle, binding: binding, id: id, reason: reason, serial: serial)
  }
}
