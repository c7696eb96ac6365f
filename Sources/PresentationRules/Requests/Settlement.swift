import PresentationModel

extension Planner {
  /// Settles the draft after the last request: decides which presentations stay, which end with others
  /// and which items queues supply, and finds the parent of each new item (T1).
  /// - Throws: `Refusal` if the draft cannot become the state.
  mutating func settle() throws(Refusal) {
    try refuseStandingOnChildren()
    resolve()
    if leaveToPrograms() { resolve() }
    while letFallbacksGiveWay() { resolve() }
    while keepWhatIsShown() { resolve() }
    try keepWhatCameBack()
    try requireTrustForWhatCameBack()
    nameOverStacks()
    try refuseHeld()
    try queueHeld()
    // An item that a queue supplies can be a parent (C1).
    serveQueues()
    try findParents()
    try refuseCycles()
    try checkCounts()
  }

  /// Settles a draft without requests. Such a draft names no parent and adds no item, so it cannot be refused.
  mutating func settleEnds() {
    do throws(Refusal) { try settle() } catch { preconditionFailure("presentations cannot end: \(error)") }
  }

  // MARK: Resolutions

  /// Decides for every touched slot whether its presentation stays. A presentation that ends takes along its children and the elements
  /// above it in its stack, so the list grows during the iteration. A decision only changes from staying to replaced.
  private mutating func resolve() {
    var next = 0
    while next < unresolved.count {
      let index = unresolved[next]
      next += 1
      guard draft.slots[index].resolution == .undecided else { continue }
      let binding = draft.slots.binding(at: index)
      let stays =
        draft.slots[index].item == nil ? draft.slots[index].before == nil : self.stays(binding, draft.slots[index])
      // No other reference to the draft is held here, so it changes in place.
      draft.slots[index].content.resolution = stays ? .stays : .replaced
      guard !stays else {
        loseChildrenIfQueued(at: index)
        continue
      }
      // Presentations that end with this one end in the same way (T2).
      author = draft.slots[index].author
      author.animated = draft.slots[index].effectiveCause.animated
      if let before = draft.slots[index].before {
        // Most presentations have no children, and some have very many.
        if let children = state.presentations[before]?.children, !children.isEmpty {
          for child in children.sorted() { lose(child) }
        }
      }
      // The position is read now, since the end of a child may have changed it.
      if let position = draft.slots[index].item?.position {
        loseElements(of: position.stack, from: position.index + 1, reason: .popped)
      }
    }
  }

  /// Ends what is presented from an item that stays, but waits in its queue now: there it is nobody's parent (G9).
  private mutating func loseChildrenIfQueued(at index: Int) {
    guard draft.slots[index].item?.isQueued == true,
      let before = draft.slots[index].before.flatMap({ state.presentations[$0] }), !before.item.isQueued
    else { return }
    for child in before.children.sorted() { lose(child) }
  }

  /// Whether a slot's presentation stays with the drafted item: whether the change is an update at
  /// the same position (P2).
  func stays(_ binding: BindingID, _ slot: Shared<SlotDraft>) -> Bool {
    guard let item = slot.item, let before = slot.before.flatMap({ state.presentations[$0] }) else { return false }
    let given: ItemOptions
    switch slot.change {
    case .edited, .refreshed: return true
    case .continued, .recreated, .cleared, .givenBack: return false
    case .renewed(let options): given = options
    }
    // The user sees nothing of the presentation (N3).
    if before.isWithoutWindow, before.phase == .presented { return false }
    guard item.id == before.item.id, item.position == before.item.position, item.membership == before.item.membership,
      !item.isQueued || before.item.isQueued
    else { return false }
    if case .named(let named) = slot.from, machine.parent(of: before.handle)?.binding != named {
      return false
    }
    var options = given
    options.from = nil
    return difference(of: options, from: before.item, at: binding) == nil
  }

  /// Ends a presentation that loses its parent. If a request of this transaction presents it, it is presented again.
  mutating func lose(_ child: Handle) {
    guard let binding = state.presentations[child]?.binding, state.slots[binding]?.current == child else { return }
    // If another presentation gets the slot back, this one ends already.
    let index = draft.slots.index(of: binding)
    if let index, case .givenBack = draft.slots[index].change { return }
    if let index, draft.slots[index].isRequested {
      presentAnew(binding, reason: .parent)
    } else if let position = item(at: binding)?.position {
      loseElements(of: position.stack, from: position.index, reason: .parent)
    } else {
      clear(binding, reason: .parent)
    }
  }

  /// Ends the presentations at and above a position of the drafted path, from the top (S2). Those that requests of this transaction
  /// present are presented again, on the rest of the path.
  /// - Parameter reason: the reason of the lowest one; those above it are popped.
  private mutating func loseElements(of stack: BindingID, from index: Int, reason: Reason) {
    // Once is enough: if an element is presented again, so are those above it.
    guard index < height(of: stack), !isPresentedAnew(binding(on: stack, at: index)) else { return }
    var requested: [BindingID] = []
    while height(of: stack) > index {
      let top = binding(on: stack, at: height(of: stack) - 1)
      if draft.slots[top]?.isRequested == true {
        requested.append(top)
        withStack(stack) { $0.removeTop() }
      } else {
        clear(top, reason: height(of: stack) == index + 1 ? reason : .popped)
      }
    }
    for binding in requested.reversed() {
      let position = StackPosition(stack: stack, index: height(of: stack))
      withSlot(binding) { $0.item!.position = position }
      withStack(stack) { $0.added.append(binding) }
      presentAnew(binding, reason: .popped)
    }
  }

  private func isPresentedAnew(_ binding: BindingID) -> Bool {
    guard let slot = draft.slots[binding] else { return false }
    switch slot.change {
    case .recreated, .givenBack: return true
    case .edited, .refreshed, .renewed, .cleared: return slot.resolution == .replaced
    // The item ends for good with the presentation that it depends on.
    case .continued: return false
    }
  }

  private mutating func presentAnew(_ binding: BindingID, reason: Reason) {
    guard draft.slots[existing: binding].resolution != .replaced else { return }
    let author = author
    withSlot(binding) { slot in
      slot.change = .recreated
      slot.ends(reason, by: author)
    }
    reopen(binding)
  }

  /// Gives `popped` precedence over `parent` within one stack: a presentation that ends with its
  /// parent while the one below it ends too is popped (S8).
  private mutating func nameOverStacks() {
    for index in draft.slots.indices
    where draft.slots[index].resolution == .replaced && draft.slots[index].cause?.reason == .parent {
      guard let position = draft.slots[index].before.flatMap({ state.presentations[$0]?.item.position }),
        position.index > 0,
        let below = state.stacks[position.stack]?.path[position.index - 1],
        draft.slots[below]?.resolution == .replaced
      else { continue }
      draft.slots[index].cause!.reason = .popped
    }
  }

  /// Applies “X→nil→X changes nothing”: an item dismissed and presented again in one transaction
  /// keeps its parent and its age in the queue (T1). An item that was held in the queue stays
  /// there, whatever the request in between asked for (H4).
  private mutating func keepWhatCameBack() throws(Refusal) {
    for index in draft.slots.indices where draft.slots[index].resolution == .stays {
      let (binding, slot) = (draft.slots.binding(at: index), draft.slots[index])
      guard case .renewed(let given) = slot.change, let item = slot.item else { continue }
      if !slot.from.isNamed { draft.slots[index].from = .asBefore }
      if let before = slot.before.flatMap({ state.presentations[$0]?.item }) { try checkEdits(of: slot, before) }
      guard let membership = item.membership,
        let earlier = state.groups[membership.group]?.queue[binding],
        item.isQueued || isHeld(binding) && !machine.isFallback(membership)
      else { continue }
      let entry = QueueEntry(
        priority: given.priority ?? earlier.priority, age: earlier.age, binding: binding, tag: membership.tag,
        isInterrupted: earlier.isInterrupted)
      draft.slots[index].item!.isQueued = true
      draft.slots[index].item!.queueAge = entry.age
      draft.slots[index].item!.isInterrupted = entry.isInterrupted
      withGroup(membership.group) { group in
        if group.selected == binding { group.selected = nil }
        group.queue.insert(entry)
      }
    }
  }

  // MARK: Counts

  /// Whether a hold keeps the item of a slot from being presented. A presentation that stays keeps the effects that holds had when it
  /// began (H3).
  func isHeld(_ binding: BindingID) -> Bool {
    guard !state.holdsInForce.isEmpty else { return false }
    if let slot = draft.slots[binding], slot.resolution == .stays, case .renewed = slot.change,
      let before = slot.before.flatMap({ state.presentations[$0] })
    {
      return before.item.isHeld(by: state.holdsInForce)
    }
    return item(at: binding)?.isHeld(by: state.holdsInForce) == true
  }

  /// Refuses too many items, in all or of one client, and too many bytes of items (L1).
  private func checkCounts() throws(Refusal) {
    let client = author.client
    var (added, ofClient, bytes) = (0, 0, 0)
    var last: Int?
    for index in draft.slots.indices {
      let slot = draft.slots[index]
      // A presentation that returns to its slot has stayed in the count. The one that gives up the slot for it ends, and leaves the count.
      let isGivenBack = if case .givenBack = slot.change { true } else { false }
      if let item = slot.item, !isGivenBack { bytes += item.byteCount }
      if let before = slot.before { bytes -= state.presentations[before]?.item.byteCount ?? 0 }
      if slot.item != nil, !isGivenBack { last = index }
      guard slot.resolution == .replaced else { continue }
      let creator = slot.before.flatMap { state.presentations[$0]?.creator }
      if slot.isNew {
        added += 1
        // A presentation that continues another one has the creator of that one.
        if slot.continuation == nil || creator == client { ofClient += 1 }
      }
      if slot.before != nil {
        added -= 1
        if creator == client { ofClient -= 1 }
      }
    }
    guard let last else { return }
    do throws(Refusal) {
      if added > 0 {
        try state.limits.check("items", state.presentations.count + added, state.limits.items, of: "items in all")
      }
      if bytes > 0 {
        try state.limits.check("state", state.bytesOfItems + bytes, state.limits.state, of: "bytes of all items")
      }
      if let client, ofClient > 0 {
        try state.limits.check(
          "items-per-client", (state.countsOfClients[client] ?? 0) + ofClient, state.limits.itemsPerClient,
          of: "items of this client")
      }
    } catch {
      throw error.about(draft.slots[last].author)
    }
  }
}
