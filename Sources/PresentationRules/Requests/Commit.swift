import PresentationModel

extension Transition {
  /// Makes a settled draft the state, and starts and ends the presentations that can start or end
  /// now. Each difference is announced once (W1).
  mutating func commit(_ draft: borrowing Draft) {
    state.lastQueueAge = draft.lastQueueAge
    if !draft.requested.isEmpty { announce(.requested(draft.requested)) }
    for index in draft.slots.indices { commitEnd(ofDraftAt: index, draft) }
    for (stack, drafted) in draft.stacks { commit(stack, drafted, draft) }
    // All new presentations get their handles first, since a parent may be presented by a later
    // request than its child (C2).
    var new: [Int] = []
    for index in draft.slots.indices where draft.slots[index].isNew { new.append(index) }
    if new.count > 1 { new.sort { draft.slots[$0].accepted < draft.slots[$1].accepted } }
    for index in new { giveHandle(to: draft.slots.binding(at: index)) }
    for index in draft.slots.indices where draft.slots[index].resolution == .stays {
      commitUpdate(of: draft.slots[index])
    }
    // Presentations that stay come first: a new one may have one of them as its parent.
    for given in draft.givenBack {
      for handle in given.handles { giveBack(handle, hasDeclined: given.insteadOf == nil) }
      // The group's member comes first and is the one that is named; another one that stays has the binding of the request.
      if let missing = given.insteadOf, let kept = given.handles.last.flatMap({ state.presentations[$0]?.binding }),
        state.presentations[missing]?.result[PresentationResult.keys.kept] == nil
      {
        state.presentations[missing]?.result[PresentationResult.keys.kept] = kept.text
      }
    }
    for index in new { create(draft.slots.binding(at: index), draft.slots[index]) }
    for index in new { joinParent(draft.slots.binding(at: index)) }
    for (group, drafted) in draft.groups {
      state.groups[group, default: Group()].selected = drafted.selected
      state.groups[group]!.queue = drafted.queue
      state.lists.mayEnd += state.groups[group]!.live
    }
    rememberTags(draft)
    announceGroups(draft)
    if !draft.stacks.isEmpty {
      for stack in draft.stacks.keys.sorted(by: { $0.text < $1.text })
      where state.lists.changed.contains(.stack(stack)) {
        announce(.path(stack))
      }
    }
    for given in draft.givenBack {
      for handle in given.handles {
        announceGivenBack(handle, message: handle == given.handles.last ? given.message : "")
      }
    }
    for subject in draft.forced { state.lists.mayForce += machine.awaited(by: subject) }
    bring(draft.brought)
    raise(draft.raised, except: draft.brought)
    if draft.endsParked.isAsked { endParked(isForced: draft.endsParked.isForced) }
    advance()
  }

  private mutating func commitEnd(ofDraftAt index: Int, _ draft: borrowing Draft) {
    guard draft.slots[index].resolution == .replaced, let handle = draft.slots[index].before else { return }
    let binding = draft.slots.binding(at: index)
    state.lists.changed.insert(.slot(binding))
    state.slots[binding]!.current = nil
    wakeOutlasting(state.presentations[handle]!)
    let cause = draft.slots[index].effectiveCause
    begin(
      endOf: handle, reason: cause.reason, animated: cause.animated, isOver: draft.over.contains(handle),
      by: draft.endedBy)
  }

  private mutating func commit(_ stack: BindingID, _ drafted: StackDraft, _ draft: borrowing Draft) {
    let cut = Array(state.stacks[stack]?.path[drafted.unchanged...] ?? [])
    // The elements that stay with the same presentations, including those that were cut and put back unchanged.
    let same = zip(cut, drafted.added).prefix { $0 == $1 && draft.slots[$1]?.resolution == .stays }.count
    let looksTheSame = zip(cut, drafted.added).allSatisfy { old, new in
      old == new && draft.slots[old]?.before.flatMap { state.presentations[$0]?.item.id } == draft.slots[new]?.item?.id
    }
    if cut.count != drafted.added.count || !looksTheSame { state.lists.changed.insert(.stack(stack)) }
    // Replaced in place, so that a push onto a tall stack does not copy the path.
    state.stacks[stack, default: Stack()].path.replaceSubrange(
      (drafted.unchanged + same)..., with: drafted.added[same...])
    state.stacks[stack]!.started = min(state.stacks[stack]!.started, drafted.unchanged + same)
    state.dropIfUnused(stack: stack)
  }

  /// Gives a presentation that stays the drafted item.
  private mutating func commitUpdate(of slot: Shared<SlotDraft>) {
    guard let handle = slot.before else { return }
    var presentation = state.presentations[handle]!
    let before = presentation.item
    var item = slot.updated(before)
    if presentation.phase != .waiting { item.leaveQueue() }
    if before.owner != item.owner {
      if let owner = before.owner { state.disown(handle, owner) }
      own(handle, item.owner)
    }
    presentation.item = item
    if slot.restartsTimeout { presentation.continuation?.timeLeft = nil }
    if slot.from.isNamed { presentation.hasNamedParent = true }
    state.bytesOfItems += item.byteCount - before.byteCount
    if slot.restartsTimeout, presentation.phase == .presented {
      let expires = item.timeout.map { now.after(milliseconds: $0) }
      // Many requests may arrive at one instant; they share one deadline.
      if expires != presentation.expires { state.schedule(expires, .expiry, handle) }
      presentation.expires = expires
    }
    if let within = slot.within, presentation.phase == .waiting { expect(&presentation, within: within) }
    if before.isQueued != item.isQueued {
      state.lists.changed.insert(.slot(presentation.binding))
      state.lists.mayStart.append(handle)
      // It waits for its slot from now on, or does so no longer (G10).
      wakeOutlasting(presentation)
    }
    let differs = !item.content.looksLike(before.content)
    state.presentations[handle] = presentation
    guard differs else { return }
    state.lists.changed.insert(.slot(presentation.binding))
    announce(.updated(handle, presentation.binding, id: item.id, item, before: before))
    sendUpdate(of: handle, by: slot.author.client)
    if before.output != item.output || before.placement != item.placement { move(handle) }
  }

  private mutating func giveHandle(to binding: BindingID) {
    state.lastHandle = Handle(state.lastHandle.number + 1)
    if state.slots[binding] == nil {
      state.slots[binding] = Slot()
      state.bindingsOfRoot[binding.root, default: []].insert(binding)
    }
    state.slots[binding]!.current = state.lastHandle
  }

  private mutating func joinParent(_ binding: BindingID) {
    guard let handle = state.slots[binding]!.current, let parent = state.presentations[handle]!.parent else { return }
    state.presentations.modifyDerived(parent) { $0.children.insert(handle) }
  }

  private mutating func create(_ binding: BindingID, _ slot: Shared<SlotDraft>) {
    let item = slot.item!
    let handle = state.slots[binding]!.current!
    let parent = slot.from.binding.flatMap { state.slots[$0]?.current }
    var presentation = Presentation(
      handle: handle, binding: binding, item: item, parent: parent, creator: slot.author.client)
    presentation.hasNamedParent = slot.from.isNamed
    (presentation.mustBeSeen, presentation.bringsHere) = (slot.mustBeSeen, slot.bringsHere)
    if let within = slot.within { expect(&presentation, within: within) }
    if var continuation = slot.continuation {
      if slot.restartsTimeout { continuation.timeLeft = nil }
      // The items of a client that has left are not counted any more.
      let creator = slot.before.flatMap { state.presentations[$0]?.creator }
      presentation.creator = creator.flatMap { state.countsOfClients[$0] == nil ? nil : $0 }
      presentation.continuation = continuation
      state.schedule(continuation.due, .restart, handle)
    }
    state.presentations[handle] = presentation
    state.beginConcern(of: presentation)
    if state.departed[binding] != nil { state.departed[binding] = nil }
    state.bytesOfItems += item.byteCount
    own(handle, item.owner)
    // The earlier presentation at this position may have started; the new one has not.
    if let position = item.position {
      state.stacks[position.stack]!.started = min(state.stacks[position.stack]!.started, position.index)
    }
    if let client = presentation.creator { state.countsOfClients[client, default: 0] += 1 }
    state.lists.changed.insert(.slot(binding))
    outcome.created.append(handle)
    state.lists.touched.append(handle)
    state.lists.mayStart.append(handle)
    wakeOutlasting(presentation)
  }

  /// Sets the time for which a presentation may wait (H6).
  private mutating func expect(_ presentation: inout Presentation, within milliseconds: UInt64) {
    presentation.startsBy = milliseconds == 0 ? nil : now.after(milliseconds: milliseconds)
    state.schedule(presentation.startsBy, .start, presentation.handle)
  }

  private mutating func own(_ handle: Handle, _ owner: Client?) {
    if let owner, state.own(handle, owner) { outcome.owners.append(owner) }
  }

  // MARK: Groups

  private mutating func rememberTags(_ draft: borrowing Draft) {
    for key in draft.forgotten { state.tagMemory.remove(key) }
    let bytes = draft.learned.mapValues(\.byteCount)
    for key in draft.learnOrder where draft.learned[key] != nil {
      _ = state.tagMemory.set(key, draft.learned[key]!, bytes: bytes[key]!)
    }
  }

  /// Announces the changes of groups: the selection, and the tags and the queue if watchers can see
  /// a difference (W1).
  private mutating func announceGroups(_ draft: borrowing Draft) {
    for name in draft.groups.keys.sorted(by: { $0.text < $1.text }) {
      let drafted = draft.groups[name]!
      let tag = machine.selection(of: name)
      if tag != drafted.tagBefore {
        state.lists.changed.insert(.group(name))
        announce(.selection(name, tag: tag))
      }
      if drafted.hasOtherQueue || hasOtherTags(name, drafted, selected: tag) {
        state.lists.changed.insert(.group(name))
        announce(group: name)
      }
      state.dropIfUnused(group: name)
    }
  }

  /// Whether a group has gained or lost a member whose tag nobody declares (G7).
  private func hasOtherTags(_ name: BindingID, _ drafted: GroupDraft, selected tag: String?) -> Bool {
    guard tag != drafted.tagBefore || drafted.queue != drafted.queueBefore else { return false }
    let before = Set(drafted.queueBefore.tags + [drafted.tagBefore].compactMap(\.self))
    let now = Set(drafted.queue.tags + [tag].compactMap(\.self))
    return before.symmetricDifference(now).contains { !state.registry.knows($0, in: name) }
  }

  // MARK: Replies

  /// The reply to a request: the state after the transaction, and whether it changed what the request names (T1).
  func reply(to answer: Answer) -> Reply {
    switch answer {
    case .presentation(let binding):
      return .presentation(state.slots[binding]?.current, changed: state.lists.changed.contains(.slot(binding)))
    case .toggled(let binding):
      let current = state.slots[binding]?.current
      return .toggled(presented: current != nil, current)
    case .selected(let group, let tag): return .selected(machine.selection(of: group) == tag)
    case .changed(let subject): return .changed(state.lists.changed.contains(subject))
    case .forgotten(let isForgotten): return .changed(isForgotten)
    case .count(let count): return .count(count)
    case .path(let bindings): return .path(bindings.map { state.slots[$0]?.current })
    }
  }
}
