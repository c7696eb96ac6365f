import PresentationModel

// Interruption: a member gives way to another one, and returns (K2).

extension Planner {
  /// Plans that a selected member gives way. It waits in its group's queue before all others, the latest first. A presentation on the
  /// screen ends, and its item waits under a new handle.
  /// - Throws: `Refusal` with the code `invalidArgument` for an element of a stack.
  mutating func interrupt(_ binding: BindingID) throws(Refusal) {
    guard let item = item(at: binding), let membership = item.membership else { return }
    if let position = item.position {
      throw Refusal(
        .invalidArgument,
        "“\(binding)” is in the stack “\(position.stack)”, and what is in a stack cannot be interrupted; use if-busy “replace”"
      )
    }
    queueFirst(binding, item, membership)
    let (author, now) = (author, now)
    let shown = before(binding).flatMap { $0.phase.isLive || !$0.children.isEmpty ? $0 : nil }
    withSlot(binding) { slot in
      if case .renewed = slot.change { return }
      guard let shown else { return }
      slot.change = slot.isRequested ? .recreated : .continued
      slot.continuation = Continuation(
        restarts: shown.continuation?.restarts ?? 0, due: shown.phase.isLive ? nil : shown.continuation?.due,
        timeLeft: shown.content.timeLeft(at: now))
      slot.ends(.deselected, by: author)
    }
    reopen(binding)
  }

  /// The slot's presentation before the transaction.
  private func before(_ binding: BindingID) -> Presentation? {
    let handle = draft.slots[binding].map(\.before) ?? state.slots[binding]?.current
    return handle.flatMap { state.presentations[$0] }
  }
}
