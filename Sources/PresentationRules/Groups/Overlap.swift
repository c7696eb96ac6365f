import PresentationModel

// Replacement that overlaps: the next item is presented while the one before is still on the screen (G10).

extension StateMachine {
  /// Whether a presentation that is being dismissed stays on the screen until its successor is presented.
  func outlasts(_ presentation: Presentation) -> Bool {
    guard mayOutlast(presentation) else { return false }
    guard let next = next(after: presentation) else { return awaitsFallback(presentation) }
    guard next.item.position == nil else { return false }
    switch next.phase {
    // Nobody knows when a hold is over.
    case .waiting: return !next.item.isHeld(by: state.holdsInForce)
    case .presenting: return true
    case .presented, .dismissing: return false
    }
  }

  /// Whether the fallback of a presentation's group is still to be selected in this input (K1).
  private func awaitsFallback(_ presentation: Presentation) -> Bool {
    guard let group = presentation.item.membership?.group, state.overlapping.contains(group),
      state.groups[group]?.selected == nil, !state.isShuttingDown
    else { return false }
    return state.fallbacks.contains { $0.group == group && $0.due == nil && $0.destination != nil }
  }

  /// Whether a presentation may start beside those that still have its slot or its group: there is none, or it is the successor of the
  /// only one. So three are never on the screen.
  func allows(_ presentation: Presentation, beside others: [Handle]) -> Bool {
    guard let other = others.first else { return true }
    return others.count == 1
      && state.presentations[other].flatMap { successor(of: $0) }?.handle == presentation.handle
  }

  /// The presentation for which another one stays on the screen; nil if that one has been asked to go, has nothing to show, or replaces
  /// in sequence.
  private func successor(of presentation: Presentation) -> Presentation? {
    guard mayOutlast(presentation), let next = next(after: presentation), next.item.position == nil else { return nil }
    return next
  }

  /// Whether a presentation can still be seen, and was not asked to go yet.
  private func mayOutlast(_ presentation: Presentation) -> Bool {
    guard let dismissal = presentation.phase.dismissal, dismissal.stage == .held, !dismissal.hasHandedOver,
      dismissal.reason.handsOver
    else { return false }
    return presentation.presentedAt != nil && !presentation.isWithoutWindow && presentation.item.position == nil
      && parent(of: presentation.handle)?.phase.isDismissing != true
  }

  private func next(after presentation: Presentation) -> Presentation? {
    let own = current(at: presentation.binding)
    let next = selectedNext(after: presentation)
    // Another item waits for its slot, and the successor may be presented from that one.
    if let own, !own.item.isQueued, own.handle != next?.handle { return nil }
    return next
  }

  private func selectedNext(after presentation: Presentation) -> Presentation? {
    if let group = presentation.item.membership?.group, state.overlapping.contains(group) {
      return state.groups[group]?.selected.flatMap { current(at: $0) }
    }
    guard presentation.item.destination?.itemSettings?.replacement == .overlap,
      presentation.phase.dismissal?.reason == .replaced,
      let next = current(at: presentation.binding), !next.item.isQueued,
      next.item.destinationName == presentation.item.destinationName
    else { return nil }
    return next
  }

  /// The presentations that stay on the screen until the given one is presented: one of its group, one of its slot, or both.
  func outlasting(_ presentation: Presentation) -> [Presentation] {
    holders(ofPlaceOf: presentation).compactMap { state.presentations[$0] }
      .filter { successor(of: $0)?.handle == presentation.handle }
  }
}

extension StateMachine {
  /// The presentation that is still on the screen beside the one that takes its place; nil if there is none.
  package func replaced(by presentation: Presentation) -> Handle? {
    switch presentation.phase {
    case .waiting, .dismissing: return nil
    case .presenting, .presented: break
    }
    return holders(ofPlaceOf: presentation).first { $0 != presentation.handle }
  }

  /// The presentations that are on the screen in the group of a presentation, or are being dismissed from its slot.
  private func holders(ofPlaceOf presentation: Presentation) -> [Handle] {
    let ofGroup = presentation.item.membership.flatMap { state.groups[$0.group]?.live } ?? []
    let ofSlot = state.slots[presentation.binding]?.dismissing ?? []
    return ofGroup + ofSlot.filter { !ofGroup.contains($0) }
  }
}

extension Transition {
  /// Lets the presentations go whose successor is on the screen now.
  mutating func handOver(to presentation: Presentation) {
    for former in machine.outlasting(presentation) {
      guard var dismissal = former.phase.dismissal else { continue }
      dismissal.hasHandedOver = true
      state.presentations[former.handle]!.phase = .dismissing(dismissal)
    }
    wakeOutlasting(presentation)
  }

  /// Lets the presentations go that a presentation has kept on the screen.
  mutating func wakeOutlasting(_ presentation: Presentation) {
    for former in state.slots[presentation.binding]?.dismissing ?? [] {
      state.lists.mayEnd.append(former)
      // The selected member of its group may come beside it, once no other item waits for this slot.
      if let group = state.presentations[former]?.item.membership?.group { wake(group) }
    }
    if let group = presentation.item.membership?.group { state.lists.mayEnd += state.groups[group]?.live ?? [] }
  }

  /// Lets the members of a group go for which no fallback comes.
  mutating func letGo(in group: BindingID) {
    state.lists.mayEnd += state.groups[group]?.live ?? []
    advance()
  }

  /// Lets go what has stayed until items are there that a hold keeps waiting from now on.
  mutating func letGo(forHold name: String) {
    for handle in (state.concerned[name] ?? []).sorted() {
      if let presentation = state.presentations[handle], presentation.phase == .waiting { wakeOutlasting(presentation) }
    }
  }

  /// Applies changed settings of groups to the presentations that are being dismissed.
  mutating func applyGroupSettings() {
    for group in state.groups.keys.sorted(by: { $0.text < $1.text }) { wake(group) }
    advance()
  }

  /// Lets the members of a group go, and the selected one come, as soon as they may.
  mutating func wake(_ group: BindingID) {
    guard let members = state.groups[group] else { return }
    state.lists.mayEnd += members.live
    if let next = members.selected.flatMap({ state.slots[$0]?.current }) { state.lists.mayStart.append(next) }
  }
}

extension Planner {
  /// Plans that what is still on the screen stays, if its successor does not come and nothing else does (G10).
  /// - Returns: whether anything stays.
  mutating func keepWhatIsShown() -> Bool {
    var kept: [(Presentation, insteadOf: Presentation)] = []
    for index in draft.slots.indices where draft.slots[index].resolution == .replaced {
      guard let before = draft.slots[index].before.flatMap({ state.presentations[$0] }), !before.phase.isDismissing,
        before.phase != .presented
      else { continue }
      for shown in machine.outlasting(before) {
        guard let dismissal = shown.phase.dismissal, dismissal.reason.isOfReplacement, !dismissal.isForced,
          mayKeep(shown, insteadOf: before, endingAs: draft.slots[index].effectiveCause.reason)
        else { continue }
        kept.append((shown, insteadOf: before))
      }
    }
    for (shown, other) in kept {
      giveBack(
        with: shown.handle, message: "“\(other.binding)” has not come", insteadOf: other.handle)
    }
    return !kept.isEmpty
  }

  private func mayKeep(_ shown: Presentation, insteadOf other: Presentation, endingAs reason: Reason) -> Bool {
    guard !state.isShuttingDown else { return false }
    // Its parent ends, too.
    let parent = machine.parent(of: shown.handle).flatMap { draft.slots[$0.binding] }
    if parent?.resolution == .replaced { return false }
    // Its own owner leaves, too (O1).
    if reason == .owner, let owner = shown.item.owner, owner == draft.endedBy { return false }
    guard let group = shown.item.membership?.group else { return item(at: shown.binding) == nil && !reason.isChoice }
    guard selected(in: group) == nil else { return false }
    if let next = nextInQueue(of: group) {
      // It gave way to what has not come, so it need not begin again (K2).
      return next.binding == shown.binding && next.isInterrupted && item(at: next.binding)?.id == shown.item.id
    }
    return item(at: shown.binding) == nil && !reason.isChoice
  }
}

extension Reason {
  /// Whether a presentation that ends for this reason stays until its successor is presented (G10).
  fileprivate var handsOver: Bool {
    switch self {
    case .deselected, .replaced, .dismissed, .expired: true
    case .closed, .failed, .lost, .popped, .parent, .owner, .shutdown, .unfocused, .outputGone, .held, .declined:
      false
    }
  }

  /// Whether a presentation ends for this reason only because another one comes.
  fileprivate var isOfReplacement: Bool { self == .deselected || self == .replaced }

  /// Whether somebody has asked for the end, so that nothing else stays in its place.
  fileprivate var isChoice: Bool {
    switch self {
    case .dismissed, .deselected, .replaced, .popped, .shutdown, .unfocused: true
    case .closed, .failed, .lost, .expired, .parent, .owner, .outputGone, .held, .declined: false
    }
  }
}
