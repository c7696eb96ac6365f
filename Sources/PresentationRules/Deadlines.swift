// Why this file exists: no wait is for ever (P14), and an item may have an end of its own (O2); the machine says until
// when it is to be woken, and is told the time.

import DBusValues
import HeapModule
import PresentationModel

/// A point at which something may have to be done; one that no longer holds is passed over.
struct Deadline: Comparable, Sendable {
  enum Kind: Sendable { case answer, expiry }
  let at: Instant
  let kind: Kind
  let handle: Handle

  static func < (a: Deadline, b: Deadline) -> Bool { (a.at, a.handle) < (b.at, b.handle) }
  static func == (a: Deadline, b: Deadline) -> Bool { (a.at, a.handle) == (b.at, b.handle) }
}

extension StateMachine {
  /// When `expire` is to be called next; nil is never. It may be past, and there may turn out to be nothing to do.
  public var nextDeadline: Instant? { deadlines.min?.at }

  mutating func schedule(_ at: Instant?, _ kind: Deadline.Kind, _ handle: Handle) {
    guard let at else { return }
    deadlines.insert(Deadline(at: at, kind: kind, handle: handle))
    // Those that no longer hold are few, or they are thrown out: a timeout that is always set again leaves one a time.
    if deadlines.count > 4 * presentations.count + 64 {
      let holding = deadlines.unordered.filter(holds)
      deadlines = Heap(holding)
    }
  }

  /// Sets how long a presenter has for its answer.
  mutating func expectAnswer(_ handle: Handle, for milliseconds: UInt64) {
    let due = progress.now.after(milliseconds: milliseconds)
    presentations[handle]!.answerDue = due
    schedule(due, .answer, handle)
  }

  private func holds(_ deadline: Deadline) -> Bool {
    guard let presentation = presentations[deadline.handle] else { return false }
    return deadline.at == (deadline.kind == .answer ? presentation.answerDue : presentation.expires)
  }

  /// Does what is due first, as one change, so that each stack and group tells of it once (W1); `nextDeadline` says whether
  /// more is due already.
  public mutating func expire(at now: Instant) -> Outcome {
    progress.now = now
    var ends: [(Handle, Reason)] = []
    var first: Instant?
    while let deadline = deadlines.min, deadline.at <= first ?? now {
      deadlines.removeMin()
      guard holds(deadline) else { continue }
      first = deadline.at
      switch (deadline.kind, presentations[deadline.handle]!.phase) {
      case (.expiry, _): ends.append((deadline.handle, .expired))
      case (.answer, .presenting), (.answer, .presented):
        // It may yet come up, so it is told to go rather than forgotten.
        let limit = presentations[deadline.handle]!.item.destination?.startTimeout ?? 0
        presentations[deadline.handle]!.result["error"] = .string("not shown within \(limit) ms (start-timeout)")
        ends.append((deadline.handle, .failed))
      case (.answer, _): dismissalUnanswered(by: deadline.handle)
      }
    }
    clear(ends, at: now)
    return finish()
  }

  private mutating func dismissalUnanswered(by handle: Handle) {
    guard case .dismissing(let stage, let reason, let animated) = presentations[handle]!.phase else { return }
    let destination = presentations[handle]!.item.destination
    if stage == .asked, let destination, destination.canBeKilled {
      presentations[handle]!.phase = .dismissing(.killed, reason: reason, animated: animated)
      expectAnswer(handle, for: destination.grace)
      outcome.commands.append(.kill(handle))
    } else {
      outcome.commands.append(.abandon(handle))
      end(handle, with: ["error": .string("no answer to its dismissal within its grace")])
      advance()
    }
  }
}
