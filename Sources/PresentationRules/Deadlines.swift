import DBusValues
import HeapModule
import PresentationModel

/// A time at which something may be due. A deadline that no longer holds is skipped.
struct Deadline: Comparable, Sendable {
  enum Kind: Sendable { case answer, expiry }
  let at: Instant
  let kind: Kind
  let handle: Handle

  func holds(for presentation: Presentation?) -> Bool {
    guard let presentation else { return false }
    return at == (kind == .answer ? presentation.answerDue : presentation.expires)
  }

  static func < (a: Deadline, b: Deadline) -> Bool { (a.at, a.handle) < (b.at, b.handle) }
  static func == (a: Deadline, b: Deadline) -> Bool { (a.at, a.handle) == (b.at, b.handle) }
}

extension StateMachine {
  /// When to call `expire` next; nil for never. It may have passed, and then there may be nothing to do.
  public var nextDeadline: Instant? { state.deadlines.min?.at }

  /// Carries out what is due first, as one change, so that each stack and group announces it once (W1). `nextDeadline`
  /// says whether more is due already.
  /// - Parameter most: the largest number of deadlines to carry out.
  public mutating func expire(at now: Instant, most: Int = .max) -> Outcome {
    process(at: now) { $0.expire(most: most) }
  }

  /// Gives a presenter its whole time, since it is asked later than it was to be.
  public mutating func restartAnswer(of handle: Handle, at now: Instant) {
    _ = process(at: now) { turn in
      guard let presentation = turn.state.presentations[handle], presentation.answerDue != nil,
        let destination = presentation.item.destination
      else { return }
      turn.expectAnswer(
        handle, for: presentation.phase.isDismissing ? destination.grace : destination.startTimeout)
    }
  }

  /// The presentation whose time is over next, if that is due.
  public func nextEnd(at now: Instant) -> End? {
    guard let deadline = state.deadlines.min, deadline.at <= now,
      deadline.holds(for: state.presentations[deadline.handle])
    else { return nil }
    return End(handle: deadline.handle, reason: .expired, isOver: true)
  }
}

extension State {
  mutating func schedule(_ at: Instant?, _ kind: Deadline.Kind, _ handle: Handle) {
    guard let at else { return }
    deadlines.insert(Deadline(at: at, kind: kind, handle: handle))
    // Keeps stale deadlines few: a timeout that is always set again leaves one each time.
    if deadlines.count > 4 * presentations.count + 64 {
      let holding = deadlines.unordered.filter { $0.holds(for: presentations[$0.handle]) }
      deadlines = Heap(holding)
    }
  }
}

extension Turn {
  /// Sets how long a presenter has for its answer (P14).
  mutating func expectAnswer(_ handle: Handle, for milliseconds: UInt64) {
    let due = now.after(milliseconds: milliseconds)
    state.presentations[handle]!.answerDue = due
    state.schedule(due, .answer, handle)
  }

  fileprivate mutating func expire(most: Int) {
    var ends: [End] = []
    var first: Instant?
    var count = 0
    while count < most, let deadline = state.deadlines.min, deadline.at <= first ?? now {
      state.deadlines.removeMin()
      guard deadline.holds(for: state.presentations[deadline.handle]) else { continue }
      first = deadline.at
      count += 1
      let handle = deadline.handle
      switch (deadline.kind, state.presentations[handle]!.phase) {
      case (.expiry, _): ends.append(End(handle: handle, reason: .expired))
      case (.answer, .presenting), (.answer, .presented):
        // It may still appear, so it is dismissed and not forgotten.
        let limit = state.presentations[handle]!.item.destination?.startTimeout ?? 0
        state.presentations[handle]!.result["error"] = .string("not shown within \(limit) ms (start-timeout)")
        ends.append(End(handle: handle, reason: .failed))
      case (.answer, _): dismissalUnanswered(by: handle)
      }
    }
    clear(ends)
  }

  private mutating func dismissalUnanswered(by handle: Handle) {
    guard var dismissal = state.presentations[handle]!.phase.dismissal else { return }
    let destination = state.presentations[handle]!.item.destination
    if dismissal.stage == .asked, let destination, destination.canBeKilled {
      dismissal.stage = .killed
      state.presentations[handle]!.phase = .dismissing(dismissal)
      expectAnswer(handle, for: destination.grace)
      outcome.commands.append(.kill(handle))
    } else {
      outcome.commands.append(.abandon(handle))
      end(handle, with: ["error": .string("no answer to its dismissal within its grace")])
      advance()
    }
  }
}
