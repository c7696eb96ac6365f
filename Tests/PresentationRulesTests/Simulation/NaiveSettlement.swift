import DBusValues
import PresentationModel
import PresentationRules

extension NaivePlan {
  mutating func settle() throws(NaiveRefusal) {
    stays = Set(before.slots.keys.filter(isSameAsBefore))
    let standing = standingOnChildren()
    takeAlong()
    while letFallbacksGiveWay() { takeAlong() }
    takeOver()
    let refused = refused().union(queueHeld())
    serveQueues()
    // Of several faults, the rules do not say which is told.
    let faults = standing.union(refused).union(findParents()).union(cycles())
    guard faults.isEmpty else { throw NaiveRefusal(faults) }
  }

  /// C7: what is new and would stand on what was presented from the one before it would go with that.
  private func standingOnChildren() -> Set<ErrorCode> {
    for binding in items.keys where before.slots[binding] != nil && given[binding] != nil && !stays.contains(binding) {
      let token = before.slots[binding]!.token
      let hadChildren = (before.slots.values + before.going.values.map(\.showing)).contains { $0.parent == token }
      guard hadChildren, let place = place(of: binding, in: paths), place.index > 0 else { continue }
      if closure([paths[place.stack]![place.index - 1]]).contains(binding) { return [.invalidArgument] }
    }
    return []
  }

  /// H3.
  private func refused() -> Set<ErrorCode> {
    !isOwn && isNew.contains { asked.contains($0) && before.hold(on: items[$0]!) == .refuse } ? [.held] : []
  }

  /// L1: what is going counts until it is gone, and what is new for whoever asked for it.
  ///
  /// - Parameter own: whether a presentation is one of this client's.
  func count(_ alive: (all: Int, ofClient: Int), own: (Token) -> Bool) throws(NaiveRefusal) {
    let added = items.count - before.slots.count
    let gone = before.slots.filter { !stays.contains($0.key) && own($0.value.token) }.count
    let addedOwn = isNew.count { continued($0) == nil || own(before.slots[$0]!.token) } - gone
    if added > 0 && alive.all + added > before.limits.items
      || addedOwn > 0 && client != nil && alive.ofClient + addedOwn > before.limits.itemsPerClient
    {
      throw NaiveRefusal(.limitExceeded)
    }
  }

  /// T1: “a slot whose final item P2 would take as an update keeps its presentation” — at the same place, with the same
  /// tag, and not back in the queue that it had left.
  func isSameAsBefore(_ binding: BindingID) -> Bool {
    guard let old = before.slots[binding], let item = items[binding], again[binding] == nil else { return false }
    if interrupted[binding] != nil, item.queuedAt != nil { return false }
    guard var options = given[binding] else { return true }
    // N3: it comes anew, though nothing else makes a difference.
    guard !before.isUnseen(old.token) else { return false }
    let place = place(of: binding, in: paths)
    let oldPlace = before.position(of: binding)
    guard item.id == old.item.id, place?.stack == oldPlace?.stack, place?.index == oldPlace?.index,
      item.group == old.item.group, item.tag == old.item.tag, item.queuedAt == nil || old.item.queuedAt != nil
    else { return false }
    if case .named(let parent) = from[binding], parent != old.parent.flatMap(before.binding) { return false }
    options.from = nil
    return isUpdate(options, of: old.item, from: nil, in: oldPlace?.stack)
  }

  /// C3, S2: the children of what goes go, and so does what stands above it; where a request of this transaction presents
  /// them, they come anew.
  private mutating func takeAlong() {
    var hasChanged = true
    while hasChanged {
      hasChanged = false
      for (binding, slot) in before.slots where stays.contains(binding) {
        guard let parent = slot.parent.flatMap(before.binding), !stays.contains(parent) else { continue }
        hasChanged = true
        if asked.contains(binding) { stays.remove(binding) } else { takeOut([binding], .parent) }
      }
      // K3: what is to come again, and loses what it depends on, does not.
      for binding in Array(again.keys) + interrupted.keys.filter({ !asked.contains($0) && !stays.contains($0) }) {
        guard let parent = before.slots[binding]!.parent.flatMap(before.binding), !stays.contains(parent) else {
          continue
        }
        hasChanged = true
        takeOut([binding], .parent)
      }
      for path in paths.values {
        let lowest = path.first { !stays.contains($0) }
        let above = path.drop { stays.contains($0) }.dropFirst()
        if !stays.isDisjoint(with: above) { hasChanged = true }
        stays.subtract(above)
        takeOut(
          path.filter { !stays.contains($0) && !asked.contains($0) && (again[$0] == nil || $0 != lowest) }, .popped)
      }
    }
  }

  /// Writes nil to slots; what stands above one in a stack and is asked for comes anew, on what is left (T1).
  private mutating func takeOut(_ bindings: [BindingID], _ reason: Reason) {
    for binding in bindings {
      if let place = place(of: binding, in: paths) {
        stays.subtract(paths[place.stack]!.dropFirst(place.index))
        paths[place.stack]!.remove(at: place.index)
      }
      remove(binding, reason)
    }
  }

  /// What stays shows what P2 makes of it: X→nil→X is nothing at all, in a queue, too, and its parent is fixed (C1).
  private mutating func takeOver() {
    for binding in stays {
      if case .named = from[binding] { named.insert(binding) }
      from[binding] = nil
    }
    for (binding, options) in given where stays.contains(binding) {
      let old = before.slots[binding]!.item
      var item = old.taking(options, from: client)
      // H4: what is held goes on to wait.
      let isHeld = before.hold(on: item) != .show && !before.isFallback(item)
      if items[binding]!.queuedAt == nil, !isHeld { item.queuedAt = nil }
      item.isStateMeant = items[binding]!.isStateMeant
      let isPlaced = items[binding]!.mayQueueAt == nil && item.queuedAt == nil
      item.mayQueueAt = isPlaced ? nil : old.mayQueueAt ?? items[binding]!.mayQueueAt
      items[binding] = item
    }
  }

  /// K2: what the item of a member that gave way has of before.
  private func continued(_ binding: BindingID) -> NaiveModel.Again? {
    guard !stays.contains(binding), var again = interrupted[binding] else { return nil }
    if timeoutGiven.contains(binding) { again.left = nil }
    return again
  }

  private var isNew: [BindingID] { items.keys.filter { !stays.contains($0) }.sorted { $0.text < $1.text } }

  /// C1. An item that is presented again keeps its parent only if a request named that parent and it holds an item.
  private mutating func findParents() -> Set<ErrorCode> {
    var faults: Set<ErrorCode> = []
    for binding in isNew {
      if case .named(let parent) = from[binding] {
        if !canBeParent(parent) { faults.formUnion(fault(of: parent, for: binding)) }
        parents[binding] = parent
        named.insert(binding)
      } else if from[binding] == nil, named.contains(binding), let old = parent(of: binding), canBeParent(old) {
        parents[binding] = old
      } else {
        parents[binding] = impliedParent(of: binding)
        named.remove(binding)
      }
    }
    return faults
  }

  /// C1 says `NotPresented`; where the parent is gone because it depended on what it should be the parent of, C7 says
  /// `InvalidArgument`.
  private func fault(of parent: BindingID, for binding: BindingID) -> Set<ErrorCode> {
    var old = NaivePlan(before, by: nil)
    old.stays = Set(before.slots.keys)
    return old.closure([parent]).contains(binding) ? [.notPresented, .invalidArgument] : [.notPresented]
  }

  /// C7: nothing depends on itself, or on a member of its own group.
  private func cycles() -> Set<ErrorCode> {
    for binding in isNew {
      let all = closure(dependencies(of: binding))
      if all.contains(binding) { return [.invalidArgument] }
      if let group = items[binding]!.group, all.contains(where: { items[$0]?.group == group }) {
        return [.invalidArgument]
      }
    }
    return []
  }

  /// K1: whoever has selected a fallback, it gives way to those who wait and may come.
  /// - Returns: whether one did.
  private mutating func letFallbacksGiveWay() -> Bool {
    guard !before.isShutDown else { return false }
    for (binding, item) in items where item.queuedAt == nil && !groupsOfKept.contains(item.group ?? binding) {
      let token = stays.contains(binding) ? before.slots[binding]?.token : nil
      let waits = items.contains {
        $0.value.group == item.group && $0.value.queuedAt != nil && before.hold(on: itsHolder($0.key)) == .show
      }
      guard before.givesWay(token, item), waits else { continue }
      clear(binding, .deselected)
      hasGivenWay = true
      return true
    }
    return false
  }

  /// H3: what stays keeps what was said when it began.
  private func itsHolder(_ binding: BindingID) -> NaiveItem {
    stays.contains(binding) && given[binding] != nil ? before.slots[binding]!.item : items[binding]!
  }

  /// H4: what is new because it is presented again, and is held, waits before the others.
  private mutating func queueHeld() -> Set<ErrorCode> {
    var faults: Set<ErrorCode> = []
    for binding in isNew {
      let item = items[binding]!
      guard item.group != nil, item.queuedAt == nil, before.hold(on: item) != .show, !before.isFallback(item) else {
        continue
      }
      if place(of: binding, in: paths) != nil { faults.insert(.held) } else { queueFirst(binding) }
    }
    return faults
  }

  /// G9: “when the selection becomes nil, by whatever way, the next in the queue is selected”.
  private mutating func serveQueues() {
    guard !before.isShutDown else { return }
    // H4: they pass over what is held.
    let waiting = items.filter { $0.value.queuedAt != nil && before.hold(on: $0.value) == .show }
    for group in Set(waiting.values.map { $0.group! }).subtracting(groupsOfKept) where selected(in: group) == nil {
      let next = waiting.filter { $0.value.group == group }.min { $0.value.isBefore($1.value) }
      items[next!.key]!.queuedAt = nil
    }
  }

  // MARK: What comes of it

  /// The model with the plan carried out.
  func result(at now: UInt64) -> NaiveModel {
    var model = before
    model.lastQueued = lastQueued
    model.paths = paths.filter { !$0.value.isEmpty }
    model.memory = memory.filter { !isForgotten($0) }.suffix(before.limits.tags)
    for (binding, slot) in before.slots where !stays.contains(binding) {
      model.slots[binding] = nil
      model.going[slot.token] = going(binding, slot, at: now)
      model.reasons[slot.token] = reasons(of: binding)
      model.presented.remove(slot.token)
      model.expiries[slot.token] = nil
      model.patience[slot.token] = nil
    }
    for binding in isNew {
      model.lastToken += 1
      model.slots[binding] = NaiveModel.Showing(
        token: Token(number: model.lastToken), item: items[binding]!, parent: nil,
        hasNamedParent: named.contains(binding), again: again[binding] ?? continued(binding),
        creator: again[binding] ?? continued(binding) == nil ? client : before.slots[binding]?.creator)
    }
    for binding in isNew {
      let slot = model.slots[binding]!
      let parent = parents[binding]!.map { model.slots[$0]!.token }
      model.slots[binding] = NaiveModel.Showing(
        token: slot.token, item: slot.item, parent: parent, hasNamedParent: slot.hasNamedParent, again: slot.again,
        creator: slot.creator)
      if let within = within[binding], within > 0 { model.patience[slot.token] = saturatingSum(now, within) }
    }
    for binding in stays {
      model.slots[binding]!.item = items[binding]!
      model.slots[binding]!.hasNamedParent = named.contains(binding)
      let token = model.slots[binding]!.token
      if let within = within[binding], !before.started.contains(token) {
        model.patience[token] = within == 0 ? nil : saturatingSum(now, within)
      }
      if timeoutGiven.contains(binding) { model.slots[binding]!.again?.left = nil }
      if timeoutGiven.contains(binding), model.presented.contains(token) {
        model.expiries[token] = items[binding]!.timeout.map { saturatingSum(now, $0) }
      }
    }
    model.force(
      model.going.filter { token, one in
        forced.contains { subject in
          switch subject {
          case .everything: true
          case .slot(let binding): one.binding == binding
          case .group(let group): one.showing.item.group == group
          case .stack(let stack): one.place?.stack == stack
          }
        }
      }.keys)
    return model
  }

  /// G7: whether it is of an item that nobody keeps and that ends, and says nothing but its name.
  private func isForgotten(_ memory: NaiveModel.Memory) -> Bool {
    let (group, tag) = (memory.group, memory.tag)
    guard let slot = before.slots[memory.binding], !stays.contains(memory.binding), before.isNobodys(slot),
      slot.item.group == group, slot.item.tag == tag, !learned.contains(GroupTag(group: group, tag: tag))
    else { return false }
    let others = Array(items.values) + Array(itemsOfKept.values)
    if others.contains(where: { $0.group == group && $0.tag == tag }) { return false }
    var named = ItemOptions()
    named.group = group
    named.tag = tag
    return memory.id == "" && memory.options == named && memory.binding.text == "\(group).\(tag)"
  }

  private func going(_ binding: BindingID, _ slot: NaiveModel.Showing, at now: UInt64) -> NaiveModel.Going {
    let place = before.position(of: binding)
    let below = place.flatMap { $0.index > 0 ? before.paths[$0.stack]![$0.index - 1] : nil }
    let expiry = causes[binding] == .expired ? nil : before.expiries[slot.token]
    return NaiveModel.Going(
      binding: binding, showing: slot, place: place, below: below.flatMap { before.slots[$0]?.token },
      left: expiry.flatMap { $0 > now ? $0 - now : nil },
      isForced: !before.presented.contains(slot.token) || causes[binding].map(reasonsThatForce.contains) ?? false)
  }

  /// P12: the first cause. What went only when all was settled was popped where what was below it goes (S8), else it lost
  /// its parent. Whether what another replaces in one transaction ends for that or for the request in between, the rules
  /// leave open.
  private func reasons(of binding: BindingID) -> Set<Reason> {
    let place = before.position(of: binding)
    let below = place.flatMap { $0.index > 0 ? before.paths[$0.stack]![$0.index - 1] : nil }
    let isPopped = below.map { !stays.contains($0) } ?? false
    var reasons: Set<Reason> = []
    switch causes[binding] {
    case .parent, nil: reasons.insert(isPopped ? .popped : .parent)
    case .some(let cause): reasons.insert(cause)
    }
    if items[binding] != nil, again[binding] == nil, causes[binding] != .closed { reasons.insert(.replaced) }
    return reasons
  }
}
