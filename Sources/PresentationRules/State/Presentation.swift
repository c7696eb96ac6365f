import DBusValues
import PresentationModel

/// A dismissal that has not completed.
public struct PendingDismissal: Hashable, Sendable {
  public enum Stage: Hashable, Sendable {
    /// The presentation was never shown. Presentations from it, or above it, end first (C6).
    case overtaken
    /// Presentations that depend on this one have to end first (C3, S2).
    case held
    /// The presenter has ended the presentation already. Presentations that depend on it have to end first.
    case departed
    /// The presenter was asked to end the presentation, with a deadline (P14).
    case asked
    /// The presenter asks its user, without a time limit (P16).
    case asking(message: String)
    /// The windows are gone, and the result of the program is still to come (N3). Neither the slot nor the group waits for it.
    case settling
    /// The grace period was over, and the processes were killed. The end has another deadline.
    case killed
  }

  public package(set) var stage: Stage
  public package(set) var reason: Reason
  public package(set) var animated: Bool
  /// Whether no presenter may decline the dismissal (P15). If so, the dismissals that have to complete before it are forced, too.
  public package(set) var isForced: Bool
  /// Nanoseconds of the timeout that were left when the dismissal began; nil if there was no
  /// timeout (P15).
  public package(set) var timeLeft: UInt64?
  /// Whether its successor has been on the screen meanwhile: it goes, whatever comes next (G10).
  public package(set) var hasHandedOver: Bool

  package init(
    _ stage: Stage, reason: Reason, animated: Bool = true, isForced: Bool = false, timeLeft: UInt64? = nil,
    hasHandedOver: Bool = false
  ) {
    self.stage = stage
    self.reason = reason
    self.animated = animated
    self.isForced = isForced
    self.timeLeft = timeLeft
    self.hasHandedOver = hasHandedOver
  }
}

/// The phase of a presentation, with the data of this phase.
public enum Lifecycle: Hashable, Sendable {
  case waiting
  case presenting
  case presented
  case dismissing(PendingDismissal)

  /// The phase as clients see it.
  public var name: Phase {
    switch self {
    case .waiting: .waiting
    case .presenting: .presenting
    case .presented: .presented
    case .dismissing: .dismissing
    }
  }

  /// Whether the presentation may be on the screen.
  public var isLive: Bool { if case .waiting = self { false } else { true } }

  var isDismissing: Bool { dismissal != nil }

  /// The dismissal under way; nil in every other phase.
  public var dismissal: PendingDismissal? { if case .dismissing(let dismissal) = self { dismissal } else { nil } }
}

/// The progress of updates to a presenter: one is under way, and the latest follows (D8).
public enum UpdateState: Hashable, Sendable {
  case idle
  case underWay
  case underWayAndPending(author: Client?)
}

/// One showing of one item, from the accepted request until its end. Shared, since it is passed on and read far more often than it
/// changes.
public typealias Presentation = Shared<PresentationFields>

/// The fields of a ``Presentation``, a plain record.
public struct PresentationFields: Hashable, Sendable {
  public package(set) var handle: Handle
  public package(set) var binding: BindingID
  public package(set) var item: Shared<Item>
  /// The parent (C1). It never changes.
  public package(set) var parent: Handle?
  /// Whether a request named the parent. A parent that was only implied is found anew if the item is presented again (C1).
  public package(set) var hasNamedParent = false
  /// The client that requested the presentation.
  public package(set) var creator: Client?
  public package(set) var phase: Lifecycle
  /// The children that have not ended.
  @Unrecorded public internal(set) var children: Set<Handle> = []
  /// The time at which the presentation became `presented`.
  public package(set) var presentedAt: Instant?
  /// The time at which the presentation became `presented`, in milliseconds since 1970; nil if the wall clock is unknown. Stored once:
  /// a later conversion would vary with the two clocks, and the state would change without an event (W1).
  public package(set) var since: UInt64?
  /// The serial of the event of its presentation; nil if it was not presented yet (K5).
  public package(set) var presentedSerial: Serial?
  /// The time at which the presentation ends as `expired` (O2).
  public package(set) var expires: Instant?
  /// The time at which the presentation ends as `expired` if it still waits then (H6).
  public package(set) var startsBy: Instant?
  /// The deadline for the presenter's answer, or for its return.
  public package(set) var answerDue: Instant?
  /// Whether the presenter has left the bus, and may come back until `answerDue` (D4).
  public package(set) var awaitsPresenter = false
  /// The times at which the presenter has left the bus, as far as they count (D4).
  @Unrecorded var absences: [Instant] = []
  public package(set) var updates = UpdateState.idle
  /// Whether the answer to an update is still to come, perhaps during a dismissal. After a restart, none comes.
  @Unrecorded var awaitsUpdateAnswer = false
  /// The part of the result that is already known.
  public package(set) var result: Properties = [:]
  /// Whether the program has said that it is on the screen, which counts before the presenter's answer, too (D19).
  public package(set) var isReady = false
  /// Whether the presenter has answered, and the program has not said yet that it is on the screen (D19).
  @Unrecorded var isStarted = false
  /// Whether the windows are gone, and another one may follow (N3).
  @Unrecorded public package(set) var isWithoutWindow = false
  /// Whether the start timeout is over, and the program runs without a window (N2).
  @Unrecorded public package(set) var isLate = false
  /// Whether the windows are gone, and the result of the program is still to come (N3). After a restart, none comes.
  @Unrecorded var awaitsResult = false
  /// The client whose request ends the presentation.
  public package(set) var endedBy: Requester?
  /// The presentation for which the program was started, if the program was parked since (N8).
  public package(set) var program: Handle?
  /// The restarts, the delay and the timeout that are taken over from the presentation before; nil for the first one of its item.
  public package(set) var continuation: Continuation?
  /// Whether a key has asked for the presentation: a toggle, or a request with `raise`. Its first window is to be seen (N7).
  @Unrecorded public package(set) var mustBeSeen = false
  /// Whether another one is still on the screen when it comes, so that its first window has to come before that (G10).
  @Unrecorded public package(set) var takesOver = false
  /// Whether its presenter was asked to bring its window to the front, since its program is ready (G10, D19).
  @Unrecorded public package(set) var comesForward = false
  /// Whether the request says that windows come to where their user is; nil if it leaves that to the destination (N11).
  @Unrecorded public package(set) var bringsHere: Bool?
  /// The phase that was last announced to watchers.
  @Unrecorded package var announced: Phase?
}

/// A part of a value that is in no record and does not count when two values are compared.
@propertyWrapper
public struct Unrecorded<Value: Sendable>: Hashable, Sendable {
  public var wrappedValue: Value
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
  public static func == (a: Unrecorded, b: Unrecorded) -> Bool { true }
  public func hash(into hasher: inout Hasher) {}
}

extension PresentationFields {
  /// Whether the program still has to say that it is on the screen (D19). One that was parked has said so before.
  var awaitsReady: Bool { item.destination?.itemSettings?.awaitsReady == true && !isReady && program == nil }

  /// Whether the window still has to come to the front before that of another presentation, now that the program is ready. One whose
  /// program does not say so comes as soon as it has settled.
  var hasToComeForward: Bool {
    takesOver && !comesForward && program == nil && item.destination?.itemSettings?.awaitsReady == true
      && item.content.following != nil
  }

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

  /// Whether no presenter may decline the dismissal for a reason, at a stage (P15).
  func isForced(by reason: Reason, at stage: PendingDismissal.Stage) -> Bool {
    reason.isForced || presentedAt == nil || stage == .departed
  }

  /// - Parameter isOver: whether the presenter has ended the presentation already.
  mutating func beginDismissal(reason: Reason, animated: Bool, isOver: Bool, by requester: Requester?, at now: Instant)
  {
    let stage: PendingDismissal.Stage =
      switch phase {
      case .waiting: .overtaken
      // Without a presenter, nobody can be asked.
      case .presenting, .presented: isOver || awaitsPresenter ? .departed : .held
      case .dismissing: preconditionFailure("a dismissal begins once")
      }
    phase = .dismissing(
      PendingDismissal(
        stage, reason: reason, animated: animated,
        isForced: isForced(by: reason, at: stage),
        timeLeft: expires.flatMap { $0 > now ? $0.nanoseconds(since: now) : nil }))
    endedBy = requester
    answerDue = nil
    awaitsPresenter = false
    expires = nil
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
  public package(set) var handle: Handle
  public package(set) var binding: BindingID
  public package(set) var id: String
  public package(set) var destination: String?
  public package(set) var group: BindingID?
  public package(set) var stack: BindingID?
  public package(set) var reason: Reason
  /// The result, only for clients that wait for this presentation (D6).
  public package(set) var result: Properties = [:]
  public package(set) var serial: Serial
  public package(set) var presentedAt: Instant?
  public package(set) var endedAt = Instant(nanoseconds: 0)
  /// The time of the end, in milliseconds since 1970; nil if the wall clock is unknown.
  public package(set) var time: UInt64?
  /// The client whose request ended the presentation; nil if none did.
  public package(set) var by: Requester?
}

extension Ending {
  package init(_ handle: Handle, _ binding: BindingID, id: String, reason: Reason, serial: Serial) {
    self.init(handle: handle, binding: binding, id: id, reason: reason, serial: serial)
  }
}
