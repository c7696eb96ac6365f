import DBusValues
import PresentationModel

// Presenting an item again after its presentation ended by itself (K3).

/// The condition, the delays and the limit for presenting an item again (K3).
public struct RestartRule: Hashable, Sendable {
  public enum Condition: String, CaseIterable, Sendable {
    /// The presentation failed or was lost, or its command ended by a signal or with another exit status than 0.
    case onFailure = "on-failure"
    /// The presentation ended by itself, in whatever way.
    case always
  }

  public static let defaultDelay: UInt64 = 1000
  public static let defaultMaxDelay: UInt64 = 60_000
  public static let defaultLimit: UInt32 = 10
  /// Milliseconds after which a presented item counts as one that works.
  private static let longEnough: UInt64 = 10_000

  public var condition: Condition
  /// Milliseconds before the first restart. Each further delay is twice as long.
  public var delay: UInt64
  /// The longest delay in milliseconds. An item that was presented for as long, or for ten seconds, begins with the first delay again.
  public var maxDelay: UInt64
  /// The number of restarts before the item is given up.
  public var limit: UInt32

  public init(
    _ condition: Condition, delay: UInt64 = defaultDelay, maxDelay: UInt64 = defaultMaxDelay,
    limit: UInt32 = defaultLimit
  ) {
    (self.condition, self.delay, self.maxDelay, self.limit) = (condition, delay, maxDelay, limit)
  }

  /// Milliseconds after which an item that was presented begins with the first delay again.
  var longEnough: UInt64 { min(maxDelay, Self.longEnough) }

  /// Milliseconds before a restart; the first one is number 1.
  func delay(before number: UInt32) -> UInt64 {
    // A delay of zero would allow endless restarts in one turn.
    let (longer, overflow) = max(1, delay).multipliedReportingOverflow(by: 1 << min(UInt64(number) - 1, 40))
    return overflow ? max(1, maxDelay) : min(longer, max(1, maxDelay))
  }

  func applies(to reason: Reason, _ result: Properties) -> Bool {
    switch reason {
    case .failed, .lost: true
    case .closed: PresentationResult(result).stopped != true && (condition == .always || result.isOfFailure)
    case .dismissed, .replaced, .deselected, .popped, .parent, .expired, .owner, .shutdown, .unfocused, .outputGone,
      .held, .declined:
      false
    }
  }
}

extension Properties {
  /// Whether a command has ended by a signal or with another exit status than 0.
  fileprivate var isOfFailure: Bool {
    let result = PresentationResult(self)
    return result.signal != nil || result.status.map { $0 != 0 } ?? false
  }
}

/// The state that a presentation takes over from the earlier one of its item (K3).
public struct Continuation: Hashable, Sendable {
  /// The number of restarts since the item was last presented for long.
  public package(set) var restarts: UInt32
  /// The time from which the presentation may start; nil if it may start now.
  public package(set) var due: Instant?
  /// Nanoseconds of the timeout that are left; nil for all of them.
  public package(set) var timeLeft: UInt64?

  package init(restarts: UInt32 = 0, due: Instant? = nil, timeLeft: UInt64? = nil) {
    (self.restarts, self.due, self.timeLeft) = (restarts, due, timeLeft)
  }
}

extension StateMachine {
  /// The continuations of the items of presentations that end. An item without a continuation ends.
  func continuations(after ends: [PlannedEnd], at now: Instant) -> [Handle: Continuation] {
    guard !state.isShuttingDown else { return [:] }
    var found: [Handle: Continuation] = [:]
    for end in ends {
      guard !end.isFinal, let presentation = state.presentations[end.handle], presentation.phase.isLive,
        let rule = restartRule(of: presentation.item),
        rule.applies(to: end.reason, presentation.result), !hasSuccessorInQueue(presentation.item),
        !isHeldInStack(presentation.item)
      else { continue }
      found[end.handle] = continuation(of: presentation, by: rule, at: now)
    }
    return found
  }

  private func continuation(of presentation: Presentation, by rule: RestartRule, at now: Instant) -> Continuation? {
    // The timeout has passed, too.
    if let expires = presentation.expires, expires <= now { return nil }
    let wasLong = presentation.presentedAt.map { $0.after(milliseconds: rule.longEnough) <= now } ?? false
    let earlier = wasLong ? 0 : presentation.continuation?.restarts ?? 0
    guard earlier < rule.limit else { return nil }
    return Continuation(
      restarts: earlier + 1, due: now.after(milliseconds: rule.delay(before: earlier + 1)),
      timeLeft: presentation.content.timeLeft(at: now))
  }
}

extension PresentationFields {
  /// Nanoseconds of the timeout that are left; nil for all of them.
  func timeLeft(at now: Instant) -> UInt64? {
    expires?.nanoseconds(since: now) ?? continuation?.timeLeft
  }
}

extension Planner {
  /// Plans that a presentation ends, and that its item waits for the next presentation in its slot, group and stack position.
  mutating func present(again binding: BindingID, _ continuation: Continuation, after reason: Reason) {
    guard let item = item(at: binding) else { return }
    if let position = item.position { cut(position.stack, to: position.index + 1) }
    let author = author
    withSlot(binding) { slot in
      slot.change = .continued
      slot.continuation = continuation
      slot.ends(reason, by: author)
    }
    reopen(binding)
  }
}
