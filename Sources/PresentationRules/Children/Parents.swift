import PresentationModel

// Parents of items, and the items on which others depend (C1, C7).

// MARK: Reading the draft

extension Planner {
  /// Whether items can be presented from a slot: whether it has an item that is not queued (G9).
  func canBeParent(_ binding: BindingID) -> Bool { item(at: binding).map { !$0.isQueued } ?? false }

  /// The nearest binding that the given one derives from and that can be a parent (C1).
  func impliedParent(of binding: BindingID) -> BindingID? {
    var ancestor = binding.deriving
    while let candidate = ancestor {
      if canBeParent(candidate) { return candidate }
      ancestor = candidate.deriving
    }
    return nil
  }

  /// The binding from which the item of another binding is, or would be, presented.
  func parent(of binding: BindingID) -> BindingID? {
    let before: Handle?
    if let drafted = draft.slots[binding] {
      switch drafted.from {
      case .named(let parent), .implied(let parent?): return parent
      case .implied(nil): return impliedParent(of: binding)
      case .asBefore: before = drafted.before
      }
    } else {
      before = state.slots[binding]?.current
    }
    return before.flatMap { machine.parent(of: $0)?.binding }
  }

  /// Whether `sought` is among `bindings` or their dependencies, at any depth (C7).
  /// - Throws: `Refusal` with the code `limitExceeded` if the transaction searches very often and very deep (L2).
  mutating func depends(_ bindings: [BindingID], on sought: BindingID) throws(Refusal) -> Bool {
    var seen: Set<BindingID> = []
    var open = bindings
    while let binding = open.popLast() {
      if binding == sought { return true }
      guard seen.insert(binding).inserted else { continue }
      try countSteps(1 + (draft.slots[binding]?.from == .implied(nil) ? binding.projections : 0), of: "searches")
      open.append(contentsOf: dependencies(of: binding))
    }
    return false
  }

  /// The direct dependencies of an item: its parent, and the item below it in its stack (C7).
  func dependencies(of binding: BindingID) -> [BindingID] {
    guard let item = item(at: binding) else { return [] }
    var found: [BindingID] = []
    if let parent = parent(of: binding) { found.append(parent) }
    if let position = item.position, position.index > 0 {
      found.append(self.binding(on: position.stack, at: position.index - 1))
    }
    return found
  }
}

// MARK: Settling

extension Planner {
  /// Finds the parent of each new item (C1).
  mutating func findParents() throws(Refusal) {
    for index in draft.slots.indices where draft.slots[index].isNew {
      let parent = try parent(ofNew: draft.slots[index], at: draft.slots.binding(at: index))
      draft.slots[index].content.from = parent
    }
    for index in draft.slots.indices where draft.slots[index].isNew {
      let (binding, slot) = (draft.slots.binding(at: index), draft.slots[index])
      if let item = slot.item, item.isQueued, let parent = slot.from.binding, let group = item.membership?.group,
        try dependsOnMember([parent], of: group)
      {
        throw Refusal(
          .invalidArgument,
          "“\(binding)” would be presented from “\(parent)”, which is or depends on a member of its own group “\(group)”; "
            + "use another parent or group"
        ).about(slot.author)
      }
    }
  }

  private func parent(ofNew slot: Shared<SlotDraft>, at binding: BindingID) throws(Refusal) -> SlotDraft.From {
    if case .named(let named) = slot.from, !canBeParent(named) { throw unfit(named, for: binding, slot) }
    // A protected item has no implied parent, with which it would end.
    if slot.item?.destination?.isProtected == true { return .implied(nil) }
    let named = slot.from == .asBefore ? namedParent(before: slot) : slot.from.binding
    if let named, canBeParent(named) { return .named(named) }
    return .implied(impliedParent(of: binding))
  }

  /// The parent that an earlier request named for the slot's presentation.
  private func namedParent(before slot: Shared<SlotDraft>) -> BindingID? {
    guard let before = slot.before, state.presentations[before]?.hasNamedParent == true else { return nil }
    return machine.parent(of: before)?.binding
  }

  /// The refusal of a named parent that has no item, or that ends with the requested change (C7).
  private func unfit(_ parent: BindingID, for binding: BindingID, _ slot: Shared<SlotDraft>) -> Refusal {
    if item(at: parent)?.isQueued == true {
      return Refusal(.notPresented, "from: “\(parent)” waits in a queue; use a binding that is presented").about(
        slot.author)
    }
    if let before = slot.before, let current = state.slots[parent]?.current, depended(current, on: before) {
      return Refusal(
        .invalidArgument, "from: “\(parent)” depends on “\(binding)” itself; use another parent"
      ).about(slot.author)
    }
    return Refusal(.notPresented, "from: nothing is open under the name “\(parent)”; open it first, or leave from out")
      .about(slot.author)
  }

  /// Whether a presentation depended on another one before the transaction (C7).
  private func depended(_ handle: Handle, on sought: Handle) -> Bool {
    var seen: Set<Handle> = []
    var open = [handle]
    while let next = open.popLast() {
      if next == sought { return true }
      guard seen.insert(next).inserted, let presentation = state.presentations[next] else { continue }
      open += dependencies(of: presentation)
    }
    return false
  }

  /// The direct dependencies of a presentation before the transaction (C7).
  private func dependencies(of presentation: Presentation) -> [Handle] {
    var found = [presentation.parent].compactMap(\.self)
    if let position = presentation.item.position, position.index > 0,
      let below = state.stacks[position.stack].flatMap({ state.slots[$0.path[position.index - 1]]?.current })
    {
      found.append(below)
    }
    return found
  }

  private mutating func dependsOnMember(_ bindings: [BindingID], of group: BindingID) throws(Refusal) -> Bool {
    guard let selected = selected(in: group) else { return false }
    return try depends(bindings, on: selected)
  }

  /// Refuses items that would depend on themselves (C7). Only new items can do so: others do not depend on new ones.
  func refuseCycles() throws(Refusal) {
    guard draft.slots.count > 1 else { return }
    let new = draft.slots.indices.filter { draft.slots[$0].isNew }.map { draft.slots.binding(at: $0) }
    guard let binding = visit(new, dependencies: { newDependencies(of: $0) }) else { return }
    throw Refusal(
      .invalidArgument, "“\(binding)” would depend on itself, through parents or stacks; use another parent"
    ).about(draft.slots[existing: binding].author)
  }

  /// The new items that a new item directly depends on. Its parent must be known.
  private func newDependencies(of binding: BindingID) -> [BindingID] {
    let slot = draft.slots[existing: binding]
    var found: [BindingID] = []
    if let parent = slot.from.binding, isNew(parent) { found.append(parent) }
    if let position = slot.item?.position, position.index > 0 {
      let below = self.binding(on: position.stack, at: position.index - 1)
      if isNew(below) { found.append(below) }
    }
    return found
  }

  private func isNew(_ binding: BindingID) -> Bool {
    draft.slots.index(of: binding).map { draft.slots[$0].isNew } ?? false
  }

  /// Refuses an item above another one that ends because of it, since that one depends on it (C7).
  mutating func refuseStandingOnChildren() throws(Refusal) {
    let candidates = draft.slots.indices.filter { mayStandOnChildren(draft.slots[$0], at: draft.slots.binding(at: $0)) }
    // A search for each one would take long where many are on one stack, and hardly any is in a circle.
    let bindings = candidates.map { draft.slots.binding(at: $0) }
    guard visit(bindings, dependencies: { dependencies(of: $0) }) != nil else { return }
    for (index, binding) in zip(candidates, bindings) {
      let position = draft.slots[index].item!.position!
      let below = self.binding(on: position.stack, at: position.index - 1)
      guard try depends([below], on: binding) else { continue }
      throw Refusal(
        .invalidArgument,
        "“\(binding)” would be above “\(below)”, which depends on it; use another stack or position"
      ).about(draft.slots[index].author)
    }
  }

  /// Whether a slot has a new item above another one, and its earlier presentation, which ends, has children.
  private func mayStandOnChildren(_ slot: Shared<SlotDraft>, at binding: BindingID) -> Bool {
    guard case .renewed = slot.change, let position = slot.item?.position, position.index > 0, let before = slot.before,
      state.presentations[before]?.children.isEmpty == false
    else { return false }
    return !stays(binding, slot)
  }
}
