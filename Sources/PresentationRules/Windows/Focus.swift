import DBusValues
import PresentationModel

// The windows of open items: raising and moving them, and ending items that have lost the focus or
// their output (N7, U2, N9, N10, U3).

/// When presentations ended because another window took the focus. The focus may have moved by a click on the button that toggles one
/// of them (N10).
struct UnfocusedItems: Sendable {
  fileprivate var slots: [BindingID: Instant] = [:]
  fileprivate var tags: [GroupTag: Instant] = [:]
}

extension State {
  /// Nanoseconds in which a toggle counts as part of the click that took the focus (N10).
  private static let clickTime: UInt64 = 300_000_000

  /// Whether a slot, or the member with a tag, has just ended because another window took the focus.
  func wasJustUnfocused(_ binding: BindingID?, _ tag: GroupTag? = nil, at now: Instant) -> Bool {
    [binding.flatMap { unfocused.slots[$0] }, tag.flatMap { unfocused.tags[$0] }].contains { ended in
      ended.map { $0.after(nanoseconds: Self.clickTime) >= now } == true
    }
  }

  fileprivate mutating func noteUnfocused(_ presentations: [Presentation], at now: Instant) {
    guard !presentations.isEmpty else { return }
    unfocused.slots = unfocused.slots.filter { $0.value.after(nanoseconds: Self.clickTime) >= now }
    unfocused.tags = unfocused.tags.filter { $0.value.after(nanoseconds: Self.clickTime) >= now }
    for presentation in presentations {
      unfocused.slots[presentation.binding] = now
      if let tag = presentation.item.membership { unfocused.tags[tag] = now }
    }
  }
}

extension StateMachine {
  /// The ends that a move of the focus causes: to a window of a presentation, to one that belongs to none, or to no window (N9).
  func ends(ofFocusGoingTo handle: Handle?, isOwn: Bool) -> [PlannedEnd] {
    guard !isOwn, let before = state.focused, before != handle else { return [] }
    let focused = Set(ancestors(of: handle))
    return ancestors(of: before).compactMap { loser in
      guard !focused.contains(loser), isCurrent(loser), let presentation = state.presentations[loser],
        presentation.phase == .presented, presentation.item.destination?.window?.endsUnfocused == true
      else { return nil }
      return PlannedEnd(handle: loser, reason: .unfocused)
    }
  }

  /// A presentation and its ancestors, itself first.
  private func ancestors(of handle: Handle?) -> [Handle] {
    var all: [Handle] = []
    var next = handle
    while let handle = next {
      all.append(handle)
      next = state.presentations[handle]?.parent
    }
    return all
  }

  /// Whether an item follows windows, and is on the screen.
  func isShownInWindows(_ binding: BindingID) -> Bool {
    guard let presentation = state.slots[binding]?.current.flatMap({ state.presentations[$0] }) else { return false }
    return presentation.phase == .presented && presentation.item.destination?.window != nil
  }

  /// Whether an item follows windows, is on the screen and does not have the focus.
  func canBeRaised(_ binding: BindingID) -> Bool {
    isShownInWindows(binding) && (state.slots[binding]?.current != state.focused || state.hasLostFocus)
  }
}

extension Transition {
  /// Notes that a window has the focus: one of a presentation, or one that belongs to none.
  mutating func take(focusOf handle: Handle?, isOwn: Bool) {
    let ends = machine.ends(ofFocusGoingTo: handle, isOwn: isOwn)
    state.noteUnfocused(ends.map { state.presentations[$0.handle]! }, at: now)
    state.focused = handle
    state.hasLostFocus = false
    clear(ends)
  }

  /// Notes that no window has the focus. A click on a button did not cause this: it would be long over (N10).
  mutating func takeNoFocus(isOwn: Bool) {
    let ends = machine.ends(ofFocusGoingTo: nil, isOwn: isOwn)
    state.focused = nil
    clear(ends)
  }

  /// Activates the windows of items that were open before the requests. Windows that are brought get the focus anyway.
  mutating func raise(_ bindings: [BindingID], except brought: [Brought]) {
    guard !bindings.isEmpty else { return }
    let brought = Set(brought.map(\.binding))
    for binding in bindings where machine.isShownInWindows(binding) && !brought.contains(binding) {
      outcome.commands.append(.raise(state.slots[binding]!.current!))
    }
  }
}

extension Transition {
  /// Moves the windows that an item follows, now or when they open. An item that has not started begins on its output.
  mutating func move(_ handle: Handle) {
    guard let presentation = state.presentations[handle], presentation.item.destination?.window != nil else { return }
    switch presentation.phase {
    case .presenting, .presented: outcome.commands.append(.move(handle))
    case .waiting, .dismissing: break
    }
  }
}

extension StateMachine {
  /// The end of an item whose output was unplugged, if it ends then (U3).
  func ends(withOutputOf handle: Handle) -> [PlannedEnd] {
    guard isCurrent(handle), let presentation = state.presentations[handle], presentation.phase == .presented,
      presentation.item.destination?.window?.endsWithOutput == true
    else { return [] }
    return [PlannedEnd(handle: handle, reason: .outputGone)]
  }
}

extension Transition {
  mutating func take(outputOf handle: Handle) { clear(machine.ends(withOutputOf: handle)) }
}

extension Planner {
  /// Whether the request raises the open item: a toggle then does nothing else (N7). X11 may report that a window is out of view before
  /// it reports the loss of the focus.
  func raisesWindows(of binding: BindingID) -> Bool {
    raises && hasKnownWindows(binding) && (machine.canBeRaised(binding) || isOutOfView(binding))
  }
}
