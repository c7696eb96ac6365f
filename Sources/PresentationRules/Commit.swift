// Why this file exists: a settled draft becomes the state, and everybody is told of each difference once (W1).

import PresentationModel

extension StateMachine {
  /// Makes the settled draft the state, and lets come and go what then can.
  mutating func commit(at now: Instant) {
    progress.now = now
    for binding in draft.order { commitEnd(of: binding) }
    for (stack, drafted) in draft.stacks { commit(stack, drafted) }
    // Each new one may be presented from another that a later request asked for (C2), so all have their names first.
    let new = draft.order.filter { draft.slots[$0]!.resolution == .replaced && draft.slots[$0]!.item != nil }
      .sorted { draft.slots[$0]!.accepted < draft.slots[$1]!.accepted }
    for binding in new { name(binding) }
    for binding in draft.order { commitUpdate(of: binding) }
    for binding in new { create(binding, draft.slots[binding]!) }
    for binding in new { joinParent(binding) }
    for (group, drafted) in draft.groups {
      groups[group, default: Group()].selected = drafted.selected
      groups[group]!.queue = drafted.queue
    }
    tellOfGroups(rememberTags())
    for stack in draft.stacks.keys.sorted(by: { $0.text < $1.text }) where draft.changed.contains(.stack(stack)) {
      tell(.path(stack))
    }
    advance()
  }

  /// What does not stay begins to go.
  private mutating func commitEnd(of binding: BindingID) {
    guard let slot = draft.slots[binding], slot.resolution == .replaced, let handle = slot.before else { return }
    draft.changed.insert(.slot(binding))
    slots[binding]!.current = nil
    begin(endOf: handle, reason: slot.end.reason, animated: slot.end.animated)
  }

  private mutating func commit(_ stack: BindingID, _ drafted: StackDraft) {
    let cut = Array(stacks[stack]?.path[drafted.kept...] ?? [])
    // The common beginning in which nothing is another presentation; what was cut and put back as it was is in it.
    let same = zip(cut, drafted.rest).prefix { $0 == $1 && draft.slots[$1]?.resolution == .kept }.count
    let looksTheSame = zip(cut, drafted.rest).allSatisfy { old, new in
      old == new && draft.slots[old]?.before.flatMap { presentations[$0]?.item.id } == draft.slots[new]?.item?.id
    }
    if cut.count != drafted.rest.count || !looksTheSame { draft.changed.insert(.stack(stack)) }
    // In place, so that a push onto a tall stack does not copy it.
    stacks[stack, default: Stack()].path.replaceSubrange((drafted.kept + same)..., with: drafted.rest[same...])
    stacks[stack]!.started = min(stacks[stack]!.started, drafted.kept + same)
    dropIfUnused(stack: stack)
  }

  /// A presentation that stays takes over what differs.
  private mutating func commitUpdate(of binding: BindingID) {
    guard let slot = draft.slots[binding], slot.resolution == .kept, let item = slot.item, let handle = slot.before
    else {
      return
    }
    update(handle, with: item, slot)
  }

  private mutating func update(_ handle: Handle, with drafted: Shared<Item>, _ slot: SlotDraft) {
    var presentation = presentations[handle]!
    let before = presentation.item
    var item = drafted
    if slot.isFresh {
      item = Shared(before.content.applying(slot.given.content, by: slot.author))
      item.isQueued = drafted.isQueued
    }
    if before.owner != item.owner {
      disown(handle, before.owner)
      own(handle, item.owner)
    }
    presentation.item = item
    bytesOfItems += item.byteCount - before.byteCount
    if slot.restartsTimeout, presentation.phase == .presented {
      let expires = item.timeout.map { progress.now.after(milliseconds: $0) }
      // Many requests may come at one instant, and one deadline will do for it.
      if expires != presentation.expires { schedule(expires, .expiry, handle) }
      presentation.expires = expires
    }
    if before.isQueued != item.isQueued {
      draft.changed.insert(.slot(presentation.binding))
      progress.mayStart.append(handle)
    }
    let differs = !item.content.looksLike(before.content)
    presentations[handle] = presentation
    guard differs else { return }
    draft.changed.insert(.slot(presentation.binding))
    tell(.updated(handle, presentation.binding, id: item.id, item))
    sendUpdate(of: handle, by: slot.author.client)
  }

  /// Gives out the handle of what a slot is to show.
  private mutating func name(_ binding: BindingID) {
    lastHandle = Handle(lastHandle.number + 1)
    if slots[binding] == nil {
      slots[binding] = Slot()
      bindingsOfRoot[binding.root, default: []].insert(binding)
    }
    slots[binding]!.current = lastHandle
  }

  private mutating func joinParent(_ binding: BindingID) {
    guard let handle = slots[binding]!.current, let parent = presentations[handle]!.parent else { return }
    presentations.modifyDerived(parent) { $0.children.insert(handle) }
  }

  private mutating func create(_ binding: BindingID, _ slot: SlotDraft) {
    let item = slot.item!
    let handle = slots[binding]!.current!
    let parent = slot.parent.flatMap { slots[$0]?.current }
    presentations[handle] = Presentation(
      handle: handle, binding: binding, item: item, parent: parent, creator: slot.author.client)
    bytesOfItems += item.byteCount
    own(handle, item.owner)
    // Its place had started with the one before, and has not with this one.
    if let position = item.position {
      stacks[position.stack]!.started = min(stacks[position.stack]!.started, position.index)
    }
    if let client = slot.author.client { countsOfClients[client, default: 0] += 1 }
    draft.changed.insert(.slot(binding))
    outcome.created.append(handle)
    progress.touched.append(handle)
    progress.mayStart.append(handle)
  }

  /// - Returns: the tags that groups know now and did not before, or the other way round.
  private mutating func rememberTags() -> Set<GroupTag> {
    var differing: Set<GroupTag> = []
    for key in draft.learnOrder {
      if groups[key.group, default: Group()].remembered.insert(key.tag).inserted {
        differing.formSymmetricDifference([key])
      }
      let memory = draft.learned[key]!
      for (dropped, _) in tagMemory.set(key, memory, bytes: memory.byteCount) {
        if groups[dropped.group]?.remembered.remove(dropped.tag) != nil { differing.formSymmetricDifference([dropped]) }
      }
    }
    return differing
  }

  /// Tells of each group's selection, and of its tags and queue where others can see a difference (W1).
  private mutating func tellOfGroups(_ differing: Set<GroupTag>) {
    let visible = differing.filter { registry.declared[$0.group]?[$0.tag] == nil }
    let names = Set(differing.map(\.group)).union(draft.groups.keys)
    let otherTags = Set(visible.map(\.group))
    for name in names.sorted(by: { $0.text < $1.text }) {
      let drafted = draft.groups[name]
      if let drafted {
        let tag = drafted.selected.flatMap { current(at: $0)?.item.membership?.tag }
        if tag != drafted.selectedBefore?.tag {
          draft.changed.insert(.group(name))
          tell(.selection(name, tag: tag))
        }
      }
      if otherTags.contains(name) || drafted?.hasOtherQueue == true {
        draft.changed.insert(.group(name))
        tell(.group(name))
      }
      dropIfUnused(group: name)
    }
  }

  /// A group exists while something is selected in it, waits in it, goes in it, or is known of it.
  mutating func dropIfUnused(group name: BindingID) {
    guard let group = groups[name], group.selected == nil, group.live == nil, group.queue.isEmpty,
      group.remembered.isEmpty
    else { return }
    groups[name] = nil
    rememberChange(of: .group(name), at: group.changed)
  }

  /// A stack exists while something is on it, or goes from it (S7).
  mutating func dropIfUnused(stack name: BindingID) {
    guard let stack = stacks[name], stack.path.isEmpty, stack.going.isEmpty else { return }
    stacks[name] = nil
    rememberChange(of: .stack(name), at: stack.changed)
  }

  private mutating func own(_ handle: Handle, _ owner: Client?) {
    guard let owner else { return }
    if ownedBy[owner] == nil { outcome.owners.append(owner) }
    ownedBy[owner, default: []].insert(handle)
  }

  mutating func disown(_ handle: Handle, _ owner: Client?) {
    guard let owner else { return }
    ownedBy[owner]?.remove(handle)
    if ownedBy[owner]?.isEmpty == true { ownedBy[owner] = nil }
  }

  mutating func rememberChange(of subject: Subject, at serial: Serial) {
    let serial = max(serial, changesOfAbsent[subject] ?? serial)
    for (_, dropped) in changesOfAbsent.set(subject, serial) { changesForgotten = max(changesForgotten, dropped) }
  }

  /// Notes the serial of this input on what changed in it, for later expectations (P10).
  mutating func stamp() {
    for subject in draft.changed {
      switch subject {
      case .slot(let binding) where slots[binding] != nil: slots[binding]!.changed = serial
      case .group(let group) where groups[group] != nil: groups[group]!.changed = serial
      case .stack(let stack) where stacks[stack] != nil: stacks[stack]!.changed = serial
      default: rememberChange(of: subject, at: serial)
      }
    }
  }

  // MARK: Replies

  /// What a request is answered: the state as it is now, and whether the transaction changed what it names (T1).
  func reply(to answer: Answer) -> Reply {
    switch answer {
    case .presentation(let binding):
      return .presentation(slots[binding]?.current, changed: draft.changed.contains(.slot(binding)))
    case .toggled(let binding):
      let current = slots[binding]?.current
      return .toggled(presented: current != nil, current)
    case .selected(let group, let tag): return .selected(selectedTag(in: group) == tag)
    case .changed(let subject): return .changed(draft.changed.contains(subject))
    case .count(let count): return .count(count)
    case .path(let bindings): return .path(bindings.map { slots[$0]?.current })
    }
  }
}
