import DBusValues
import HeapModule
import PresentationModel

/// A time at which something may be due. A deadline that is out of date is skipped.
struct Deadline: Comparable, Sendable {
  enum Kind: Hashable, Sendable {
    case answer, expiry, restart
    /// The latest time at which the presentation may start (H6).
    case start
    /// The end of a holder (H1). The number of the holder stands in place of the handle.
    case hold(Holder.Key)
    /// The time until which an item that has ended by itself is kept, at the binding that it had (K4).
    case departure(BindingID)
  }
  let at: Instant
  let kind: Kind
  let handle: Handle

  static func < (a: Deadline, b: Deadline) -> Bool { (a.at, a.handle) < (b.at, b.handle) }
  static func == (a: Deadline, b: Deadline) -> Bool { (a.at, a.handle) == (b.at, b.handle) }
}

extension StateMachine {
  /// The time at which to call `expire` next; nil for never.
  public var nextDeadline: Instant? { [state.nextDeadline, nextFallback].compactMap(\.self).min() }

  /// Carries out what is due, the earliest first. It is one change, so each stack and group is announced once (W1). `nextDeadline`
  /// tells whether more is due.
  public mutating func expire(at now: Instant) -> Outcome { process(at: now) { $0.expire() } }

  /// Gives a presenter its whole time again, since it is called later than planned. This is no input and has no outcome: other things
  /// that are due wait for the next input.
  public mutating func restartAnswer(of handle: Handle, at now: Instant) {
    guard let presentation = state.presentations[handle], presentation.answerDue != nil, !presentation.awaitsPresenter,
      let destination = presentation.item.destination
    else { return }
    let time = presentation.phase.isDismissing ? destination.grace : destination.startTimeout
    state.expectAnswer(handle, by: now.after(milliseconds: time))
    state.forgetStaleDeadlines()
  }

}

extension State {
  /// The earliest deadline; nil if there is none.
  var nextDeadline: Instant? { deadlines.min?.at }

  mutating func schedule(_ at: Instant?, _ kind: Deadline.Kind, _ handle: Handle) {
    guard let at else { return }
    deadlines.insert(Deadline(at: at, kind: kind, handle: handle))
    // Keeps stale deadlines few: a timeout that is set again and again leaves one each time.
    if deadlines.count > 4 * (presentations.count + holders.count + departed.count) + 64 {
      let current = deadlines.unordered.filter { isCurrent($0) }
      deadlines = Heap(current)
    }
  }

  mutating func expectAnswer(_ handle: Handle, by due: Instant) {
    presentations[handle]!.answerDue = due
    schedule(due, .answer, handle)
  }

  /// Forgets the stale deadlines before the next valid one: the caller's timer would wake up for nothing.
  mutating func forgetStaleDeadlines() {
    while let next = deadlines.min, !isCurrent(next) { deadlines.removeMin() }
  }

  func isCurrent(_ deadline: Deadline) -> Bool {
    let presentation = presentations[deadline.handle]
    return switch deadline.kind {
    case .answer: deadline.at == presentation?.answerDue
    case .expiry: deadline.at == presentation?.expires
    case .start: deadline.at == presentation?.startsBy
    case .restart: deadline.at == presentation?.continuation?.due
    case .departure(let binding): deadline.at == departed[binding]?.until
    case .hold(let key): deadline.at == holders[key]?.expires
    }
  }
}

extension Transition {
  /// Sets the time that a presenter has for its answer (P14).
  mutating func expectAnswer(_ handle: Handle, for milliseconds: UInt64) {
    state.expectAnswer(handle, by: now.after(milliseconds: milliseconds))
  }

  /// Sets the time in which an item has to be shown, if there is one (P14, N2).
  mutating func expectStart(of handle: Handle) {
    if let limit = state.presentations[handle]?.item.destination?.startLimit { expectAnswer(handle, for: limit) }
  }

  fileprivate mutating func expire() {
    var ends: [PlannedEnd] = []
    var unanswered: [Deadline] = []
    var released: [Holder.Key] = []
    var first: Instant?
    while let deadline = state.deadlines.min, deadline.at <= first ?? now {
      state.deadlines.removeMin()
      guard state.isCurrent(deadline) else { continue }
      first = deadline.at
      let handle = deadline.handle
      if case .departure(let binding) = deadline.kind {
        state.departed[binding] = nil
        continue
      }
      if case .hold(let key) = deadline.kind {
        released.append(key)
        continue
      }
      guard let phase = state.presentations[handle]?.phase else { continue }
      switch (deadline.kind, phase) {
      case (.restart, _):
        state.presentations[handle]!.continuation!.due = nil
        state.lists.mayStart.append(handle)
      case (.expiry, _), (.start, _): ends.append(PlannedEnd(handle: handle, reason: .expired))
      case (.answer, .presenting), (.answer, .presented):
        // The item may still appear, so it is dismissed and not forgotten.
        state.presentations[handle]!.result[PresentationResult.keys.error] =
          state.presentations[handle]!.awaitsPresenter ? PresenterAbsence.error : lateness(of: handle)
        ends.append(PlannedEnd(handle: handle, reason: .failed))
      case (.answer, _): unanswered.append(deadline)
      case (.hold, _), (.departure, _): break
      }
    }
    // Items that have waited too long end first: the end of another presentation could let them be presented (H6).
    clear(ends)
    for deadline in unanswered where state.isCurrent(deadline) { dismissalUnanswered(by: deadline.handle) }
    release(released)
  }

  private func lateness(of handle: Handle) -> String {
    let presentation = state.presentations[handle]!
    let destination = presentation.item.destination
    let late =
      if presentation.isStarted {
        "it runs, but has not said that it is ready (navctl ready)"
      } else if let window = destination?.window {
        "no window of it opened" + (window.settle == 0 ? "" : " and settled for \(window.settle) ms")
      } else {
        "not shown"
      }
    return "\(late) within \(destination?.startTimeout ?? 0) ms (start-timeout)"
  }

  private mutating func dismissalUnanswered(by handle: Handle) {
    guard var dismissal = state.presentations[handle]!.phase.dismissal else { return }
    let destination = state.presentations[handle]!.item.destination
    if dismissal.stage == .asked, let destination, destination.canBeKilled {
      dismissal.stage = .killed
      state.presentations[handle]!.phase = .dismissing(dismissal)
      expectAnswer(handle, for: destination.grace)
      outcome.commands.append(.kill(handle))
    } else if dismissal.stage == .settling {
      end(handle, with: [:])
      advance()
    } else {
      outcome.commands.append(.abandon(handle))
      end(handle, with: ["error": .string("no answer to its dismissal within its grace period")])
      advance()
    }
  }
}
