import DequeModule
import PresentationModel

// Declining a dismissal, forcing one, and asking the user first (P15, P16).

extension StateMachine {
  /// Notes that a presenter which was called to dismiss a presentation asks its user first (P16).
  ///
  /// - Throws: `Refusal`: `unknownPresentation`, `accessDenied`, `limitExceeded`.
  public mutating func asking(
    _ handle: Handle, message: String, byPresenter: Bool, at now: Instant
  ) throws(Refusal) -> Outcome {
    try limits.check(text: message, as: "message")
    guard state.presentations[handle] != nil else {
      try requireGivenOut(handle)
      return Outcome()
    }
    guard byPresenter else {
      throw Refusal(
        .accessDenied,
        "presentation \(handle) is dismissed by its presenter, and only that one may ask its user about it")
    }
    guard mayDecline(handle) else { return Outcome() }
    return process(at: now) { $0.ask(handle, message) }
  }

  /// Whether the presenter was called to dismiss the presentation, and may decline the dismissal.
  func mayDecline(_ handle: Handle) -> Bool {
    guard let presentation = state.presentations[handle], let dismissal = presentation.phase.dismissal,
      !dismissal.isForced
    else { return false }
    switch dismissal.stage {
    case .asked, .asking: return true
    // A presentation whose windows are still there after the grace period stays (N6). This is known only after the grace period.
    case .killed: return presentation.item.destination?.window != nil
    case .overtaken, .held, .departed, .settling: return false
    }
  }

  /// The presentations that are being dismissed and whose ends a slot, group or stack waits for.
  func awaited(by subject: Subject) -> [Handle] {
    switch subject {
    case .slot(let binding): state.slots[binding]?.dismissing ?? []
    case .group(let group): state.groups[group]?.live ?? []
    case .stack(let stack): state.stacks[stack].map { Array($0.dismissing) } ?? []
    }
  }

  /// The presentations that must end before another one can: those that directly depend on it (C7).
  fileprivate func dependents(of handle: Handle) -> [Handle] {
    guard let presentation = state.presentations[handle] else { return [] }
    var found = Array(presentation.children)
    if let position = presentation.item.position {
      // A dismissed element above a new one stands on the element that had this place before.
      let isLowest = dismissed(on: position.stack, at: position.index).map { $0 == handle } ?? true
      if isLowest, let above = dismissed(on: position.stack, at: position.index + 1) {
        found.append(above)
      } else if !presentation.phase.isDismissing, let above = current(on: position.stack, at: position.index + 1) {
        found.append(above)
      }
    }
    return found
  }

  private func current(on stack: BindingID, at index: Int) -> Handle? {
    guard let path = state.stacks[stack]?.path, path.indices.contains(index) else { return nil }
    return current(at: path[index])?.handle
  }

  /// The presentations whose dismissals are forced when others end by themselves; they may still be on the screen.
  func dismissed(before handles: [Handle]) -> [Handle] {
    var (found, open, seen) = ([Handle](), handles, Set<Handle>())
    while let handle = open.popLast() {
      guard let presentation = state.presentations[handle], seen.insert(handle).inserted else { continue }
      if presentation.phase.isDismissing { found.append(handle) } else { open += dependents(of: handle) }
    }
    return found
  }

  /// The presentation that is being dismissed at a position of a stack. Those that were shown are next to each other, in the order of
  /// their positions.
  private func dismissed(on stack: BindingID, at index: Int) -> Handle? {
    guard let dismissing = state.stacks[stack]?.dismissing else { return nil }
    // Presentations that were never shown come first.
    var (first, end) = (dismissing.startIndex, dismissing.endIndex)
    while first < end {
      let middle = (first + end) / 2
      let isOvertaken = state.presentations[dismissing[middle]]?.phase.dismissal?.stage == .overtaken
      if isOvertaken { first = middle + 1 } else { end = middle }
    }
    guard first < dismissing.endIndex, let top = state.presentations[dismissing[first]]?.item.position?.index else {
      return nil
    }
    let place = first + top - index
    return index <= top && place < dismissing.endIndex ? dismissing[place] : nil
  }

  /// The presentations that are being dismissed and that a presentation directly depends on (C7).
  private func dismissedDependencies(of handle: Handle) -> [Handle] {
    guard let presentation = state.presentations[handle] else { return [] }
    var found = [presentation.parent].compactMap(\.self)
    if let position = presentation.item.position, let below = dismissed(on: position.stack, at: position.index - 1) {
      found.append(below)
    }
    return found.filter { state.presentations[$0]?.phase.isDismissing == true }
  }

  /// The presentations that stay if one stays: itself, and all that are being dismissed and that it depends on. Dependencies come
  /// first.
  func givenBack(with handle: Handle) -> [Handle] {
    var found: [Handle] = []
    // No item depends on itself (C7).
    _ = visit([handle], dependencies: { dismissedDependencies(of: $0) }) { found.append($0) }
    return found
  }

  /// The message, cut off at its limit (L1).
  func limited(_ message: String) -> String {
    message.utf8.count <= limits.text ? message : String(decoding: message.utf8.prefix(limits.text), as: UTF8.self)
  }
}

extension Transition {
  // MARK: Asking

  mutating func ask(_ handle: Handle, _ message: String) {
    var dismissal = state.presentations[handle]!.phase.dismissal!
    guard dismissal.stage != .asking(message: message) else { return }
    dismissal.stage = .asking(message: message)
    state.presentations[handle]!.phase = .dismissing(dismissal)
    state.presentations[handle]!.answerDue = nil
    announceQuestion(of: handle, message)
  }

  /// Announces that a presenter has stopped asking, though its presentation is still being dismissed.
  mutating func stopAsking(_ handle: Handle) {
    guard case .asking? = state.presentations[handle]?.phase.dismissal?.stage else { return }
    announceQuestion(of: handle, nil)
  }

  private mutating func announceQuestion(of handle: Handle, _ message: String?) {
    let presentation = state.presentations[handle]!
    announce(.asking(handle, presentation.binding, id: presentation.item.id, message))
  }

  // MARK: Forcing

  /// Forces the dismissals in `mayForce`, and those of all presentations that must end before. A presenter that was called and may
  /// still decline is called again.
  mutating func force() {
    guard !state.lists.mayForce.isEmpty else { return }
    let forced = machine.force(state.lists.mayForce)
    state.lists.mayForce.removeAll(keepingCapacity: true)
    for handle in forced {
      let presentation = state.presentations[handle]!
      switch presentation.phase.dismissal?.stage {
      case .asked where presentation.item.destination?.isBus == true: askToDismiss(handle)
      case .asking:
        stopAsking(handle)
        askToDismiss(handle)
      default: break
      }
    }
  }

  // MARK: Declining

  /// Notes that a presenter declines a dismissal. The presentation stays, with those that it depends on. Items that waited for its end
  /// end.
  mutating func decline(_ handle: Handle, message: String) {
    guard machine.mayDecline(handle) else { return }
    let message = machine.limited(message)
    change { $0.giveBack(with: handle, message: message) }
  }

  /// Makes a presentation that was being dismissed `presented` again.
  /// - Parameter hasDeclined: whether it, or one that depends on it, has declined the dismissal.
  mutating func giveBack(_ handle: Handle, hasDeclined: Bool) {
    var presentation = state.presentations[handle]!
    let binding = presentation.binding
    presentation.expires = presentation.phase.dismissal?.timeLeft.map { now.after(nanoseconds: $0) }
    presentation.phase = .presented
    presentation.announced = .presented
    presentation.answerDue = nil
    presentation.endedBy = nil
    presentation.result = [:]
    state.presentations[handle] = presentation
    state.schedule(presentation.expires, .expiry, handle)
    state.slots[binding]!.dismissing.removeAll { $0 == handle }
    state.slots[binding]!.current = handle
    wakeOutlasting(presentation)
    if hasDeclined, let membership = presentation.item.membership { note(handle, staysIn: membership) }
    if let stack = presentation.item.position?.stack {
      // The lowest element is the last, and comes first.
      if let index = state.stacks[stack]!.dismissing.lastIndex(of: handle) {
        state.stacks[stack]!.dismissing.remove(at: index)
      }
      state.stacks[stack]!.started += 1
    }
  }

  /// Announces that a presentation has got its slot back.
  mutating func announceGivenBack(_ handle: Handle, message: String) {
    let presentation = state.presentations[handle]!
    announce(.declined(handle, presentation.binding, id: presentation.item.id, message: message))
    guard presentation.updates != .idle else { return }
    if presentation.awaitsUpdateAnswer {
      // The update follows the answer to the one that was sent before the dismissal (D8).
      state.presentations[handle]!.updates = .underWayAndPending(author: nil)
    } else {
      state.presentations[handle]!.updates = .idle
      sendUpdate(of: handle, by: nil)
    }
  }
}

extension Planner {
  /// Plans that a presentation stays, with all that are being dismissed and that it depends on (P15). Items that took their places end.
  /// - Parameters:
  ///   - message: the reason, in words.
  ///   - missing: the successor that has not come (G10); nil if the presentation has declined.
  mutating func giveBack(with handle: Handle, message: String, insteadOf missing: Handle? = nil) {
    let handles = machine.givenBack(with: handle)
    draft.givenBack.append(GivenBack(handles: handles, message: message, insteadOf: missing))
    for handle in handles.reversed() { vacate(state.presentations[handle]!) }
    for handle in handles {
      let (binding, item) = (state.presentations[handle]!.binding, state.presentations[handle]!.item)
      withSlot(binding) { slot in
        slot.item = item
        slot.change = .givenBack
      }
      reopen(binding)
      if let membership = item.membership { withGroup(membership.group) { $0.selected = binding } }
      if let position = item.position { withStack(position.stack) { $0.added.append(binding) } }
    }
  }

  /// Empties the slot, the group and the stack position of a presentation that gets them back.
  private mutating func vacate(_ presentation: Presentation) {
    clear(presentation.binding, reason: .declined)
    if let membership = presentation.item.membership {
      if let other = queue(of: membership.group).binding(of: membership.tag) {
        clear(other, reason: .declined)
      }
      if let other = selected(in: membership.group), let item = item(at: other) {
        if item.queueAge != nil, item.membership?.tag != membership.tag {
          requeue(other, item)
        } else {
          clear(other, reason: .declined)
        }
      }
    }
    if let position = presentation.item.position, height(of: position.stack) > position.index {
      clear(binding(on: position.stack, at: position.index), reason: .declined)
    }
  }

  /// Puts the selected member back into its queue, whatever the limit of the queue.
  private mutating func requeue(_ binding: BindingID, _ item: Shared<Item>) {
    loseChildren(of: binding)
    moveIntoQueue(binding, item, item.membership!)
    reopen(binding)
  }

  /// Ends the children of an item that is queued again: a queued item cannot be a parent (G9).
  mutating func loseChildren(of binding: BindingID) {
    let children = state.slots[binding]?.current.flatMap { state.presentations[$0]?.children } ?? []
    for child in children.sorted() { lose(child) }
  }
}

extension StateMachine {
  /// Marks dismissals as forced, and those of all presentations that must end before. Presentations that were never shown delay
  /// nothing.
  /// - Returns: the presentations whose dismissals were not forced before.
  mutating func force(_ handles: [Handle]) -> [Handle] {
    var forced: [Handle] = []
    // A dismissal that was forced from its beginning has not yet forced those of its dependents.
    var open = handles.map { (handle: $0, isNamed: true) }
    while let (handle, isNamed) = open.popLast() {
      guard var dismissal = state.presentations[handle]?.phase.dismissal, dismissal.stage != .overtaken,
        isNamed || !dismissal.isForced
      else { continue }
      if !dismissal.isForced {
        dismissal.isForced = true
        state.presentations[handle]!.phase = .dismissing(dismissal)
        forced.append(handle)
      }
      open += dependents(of: handle).map { ($0, false) }
    }
    return forced
  }
}

extension Reason {
  /// Whether no presenter may decline a dismissal for this reason: the presentation has ended by itself, its owner has left, everything
  /// ends, or the one that it was to replace has declined, so that both would decline in turns (P15, G10).
  var isForced: Bool {
    switch self {
    case .closed, .failed, .lost, .owner, .shutdown, .declined: true
    case .dismissed, .replaced, .deselected, .popped, .parent, .expired, .unfocused, .outputGone, .held: false
    }
  }
}
