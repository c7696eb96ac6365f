import DBusValues
import PresentationModel
import PresentationRules

/// Settling in the naive model: what follows from the requests of a transaction, once all are known.
extension NaivePlan {
  mutating func settle() throws(NaiveRefusal) {
    stays = Set(before.slots.keys.filter(isSameAsBefore))
    let standing = standingOnChildren()
    takeAlong()
    if leaveToPrograms() { takeAlong() }
    while letFallbacksGiveWay() { takeAlong() }
    while keepWhatIsShown() { takeAlong() }
    takeOver()
    let refused = refused().union(queueHeld())
    serveQueues()
    // Of several faults, the rules do not say which is reported.
    let faults = standing.union(refused).union(findParents()).union(cycles())
    guard faults.isEmpty else { throw NaiveRefusal(faults) }
  }

  /// The fault of a new item that would stand on a child of its predecessor: it would go with that child (C7).
  private func standingOnChildren() -> Set<ErrorCode> {
    for binding in items.keys where before.slots[binding] != nil && given[binding] != nil && !stays.contains(binding) {
      let token = before.slots[binding]!.token
      let hadChildren = (before.slots.values + before.going.values.map(\.showing)).contains { $0.parent == token }
      guard hadChildren, let place = place(of: binding, in: paths), place.index > 0 else { continue }
      if closure([paths[place.stack]![place.index - 1]]).contains(binding) { return [.invalidArgument] }
    }
    return []
  }

  /// The fault of an item that a hold refuses (H3).
  private func refused() -> Set<ErrorCode> {
    !isOwn && isNew.contains { asked.contains($0) && before.hold(on: items[$0]!) == .refuse } ? [.held] : []
  }

  /// Checks the limits of items. Items that are going count until they are gone, and new items for the client that asks for them
  /// (L1).
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

  /// Whether a slot stays as it was: “a slot whose final item P2 would take as an update keeps its presentation”, at the same
  /// place, with the same tag, and not back in the queue that it had left (T1).
  func isSameAsBefore(_ binding: BindingID) -> Bool {
    guard let old = before.slots[binding], let item = items[binding], again[binding] == nil else { return false }
    if interrupted[binding] != nil, item.queuedAt != nil { return false }
    guard var options = given[binding] else { return true }
    // An item that its user does not see comes anew, though nothing else makes a difference (N3).
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

  /// Takes along the children of presentations that go, and the elements above these. They come anew if a request of this
  /// transaction presents them (C3, S2).
  private mutating func takeAlong() {
    var hasChanged = true
    while hasChanged {
      hasChanged = false
      for (binding, slot) in before.slots where stays.contains(binding) {
        guard let parent = slot.parent.flatMap(before.binding), !stays.contains(parent) || isQueuedNow(parent) else {
          continue
        }
        hasChanged = true
        if asked.contains(binding) { stays.remove(binding) } else { takeOut([binding], .parent) }
      }
      // An item that is to come again does not if it loses what it depends on (K3).
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

  /// Whether an item waits in a queue from now on: it is nobody's parent any more (G9).
  private func isQueuedNow(_ binding: BindingID) -> Bool {
    items[binding]?.queuedAt != nil && before.slots[binding]?.item.queuedAt == nil
  }

  /// “If the transaction itself closes what its items are presented from, the program keeps these items, too” (D20).
  /// - Returns: whether there are any.
  private mutating func leaveToPrograms() -> Bool {
    let left = isNew.filter(asked.contains).compactMap { binding -> (place: String, index: Int, binding: BindingID)? in
      guard let (served, path, index) = before.servingOne(binding), served.entry.waits == true,
        asksProgram.contains(binding),
        let parent = served.entry.from.flatMap({ try? BindingID($0) }), !canBeParent(parent)
      else { return nil }
      return ((path ?? binding).text, index, binding)
    }.sorted { ($0.place, $0.index) < ($1.place, $1.index) }
    requested += left.map { ($0.binding, items[$0.binding]!.id, items[$0.binding]!.value) }
    for one in left { clear(one.binding, .parent) }
    return !left.isEmpty
  }

  /// Writes nil to slots. An element above one of them comes anew, on what is left, if it is asked for (T1).
  private mutating func takeOut(_ bindings: [BindingID], _ reason: Reason) {
    for binding in bindings {
      if let place = place(of: binding, in: paths) {
        stays.subtract(paths[place.stack]!.dropFirst(place.index))
        paths[place.stack]!.remove(at: place.index)
      }
      remove(binding, reason)
    }
  }

  /// Updates the presentations that stay, as P2 says: X→nil→X changes nothing, even in a queue, and keeps the parent (C1).
  private mutating func takeOver() {
    for binding in stays {
      if case .named = from[binding] { named.insert(binding) }
      from[binding] = nil
    }
    for (binding, options) in given where stays.contains(binding) {
      let old = before.slots[binding]!.item
      var item = old.taking(options, from: client)
      // A held member goes on waiting (H4).
      let isHeld = before.hold(on: item) != .show && !before.isFallback(item)
      if items[binding]!.queuedAt == nil, !isHeld { item.queuedAt = nil }
      let isPlaced = items[binding]!.mayQueueAt == nil && item.queuedAt == nil
      item.mayQueueAt = isPlaced ? nil : old.mayQueueAt ?? items[binding]!.mayQueueAt
      items[binding] = item
    }
  }

  /// The rest of an item that gave way, with which it goes on (K2).
  private func continued(_ binding: BindingID) -> NaiveModel.Again? {
    guard !stays.contains(binding), var again = interrupted[binding] else { return nil }
    if timeoutGiven.contains(binding) { again.timeLeft = nil }
    return again
  }

  private var isNew: [BindingID] { items.keys.filter { !stays.contains($0) }.sorted { $0.text < $1.text } }

  /// Finds the parents of items (C1). An item that is presented again keeps its parent only if a request named that parent and it
  /// holds an item.
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

  /// The fault of a missing parent: C1 says `NotPresented`, or C7 says `InvalidArgument` if the parent is gone because it depended
  /// on its future child.
  private func fault(of parent: BindingID, for binding: BindingID) -> Set<ErrorCode> {
    var old = NaivePlan(before, by: nil)
    old.stays = Set(before.slots.keys)
    return old.closure([parent]).contains(binding) ? [.notPresented, .invalidArgument] : [.notPresented]
  }

  /// The fault of an item that depends on itself, or on a member of its own group (C7).
  private func cycles() -> Set<ErrorCode> {
    for binding in isNew {
      let all = closure(dependencies(of: binding))
      if all.contains(binding) { return [.invalidArgument] }
      guard let group = items[binding]!.group else { continue }
      let isMember = all.contains { items[$0]?.group == group }
      if isMember || kept.contains(where: { all.contains($0.binding) && $0.showing.item.group == group }) {
        return [.invalidArgument]
      }
    }
    return []
  }

  /// Has fallbacks give way to members who wait and may come, whoever has selected the fallback (K1).
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

  /// Keeps what is on the screen until another item is there, if that one does not come and nothing else does (G10).
  /// - Returns: whether anything stays.
  private mutating func keepWhatIsShown() -> Bool {
    guard !before.isShutDown else { return false }
    for (binding, slot) in before.slots where !stays.contains(binding) {
      for other in before.outlasting[slot.token, default: []] where other.isReplaced {
        guard let one = before.going[other.token], mayStay(one, insteadOf: binding) else { continue }
        makeRoom(for: one)
        kept.append(one)
        return true
      }
    }
    return false
  }

  /// Whether something that is on the screen stays, since the item at a binding does not come (G10).
  private func mayStay(_ one: NaiveModel.Going, insteadOf binding: BindingID) -> Bool {
    if one.isForced || kept.contains(where: { $0.showing.token == one.showing.token }) { return false }
    // Another one gets its slot back (P15).
    if itemsOfKept[one.binding] != nil { return false }
    if let parent = one.showing.parent {
      guard let parent = before.binding(of: parent), stays.contains(parent) else { return false }
    }
    let wasAsked = causes[binding].map {
      [.dismissed, .deselected, .replaced, .popped, .shutdown, .unfocused].contains($0)
    }
    if let group = one.showing.item.group {
      if selected(in: group) != nil || groupsOfKept.contains(group) { return false }
      let next = first(
        of: items.filter {
          $0.value.group == group && $0.value.queuedAt != nil && before.hold(on: itsHolder($0.key)) == .show
        })
      // The member that was interrupted for it stays, and is not presented again (K2).
      if let next {
        return next.key == one.binding && next.value.isInterrupted && next.value.id == one.showing.item.id
      }
    }
    return items[one.binding] == nil && wasAsked == false
  }

  /// The item as it began, for a presentation that stays: it keeps the actions of holds (H3).
  private func itsHolder(_ binding: BindingID) -> NaiveItem {
    stays.contains(binding) && given[binding] != nil ? before.slots[binding]!.item : items[binding]!
  }

  /// Puts items that are presented again while they are held before all others in their queues (H4).
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

  /// Serves queues: “when the selection becomes nil, by whatever way, the next in the queue is selected” (G9).
  private mutating func serveQueues() {
    guard !before.isShutDown else { return }
    // Queues pass over held members (H4).
    let waiting = items.filter { $0.value.queuedAt != nil && before.hold(on: $0.value) == .show }
    for group in Set(waiting.values.map { $0.group! }).subtracting(groupsOfKept) where selected(in: group) == nil {
      let next = first(of: waiting.filter { $0.value.group == group })
      items[next!.key]!.queuedAt = nil
    }
  }

  /// The item of a queue that is selected first. One that has become the fallback meanwhile comes last: “if somebody in the queue may
  /// come, the fallback does not come” (K1).
  private func first(of waiting: [BindingID: NaiveItem]) -> (key: BindingID, value: NaiveItem)? {
    waiting.min {
      let (isFallback, isOtherFallback) = (before.isFallback($0.value), before.isFallback($1.value))
      return isFallback != isOtherFallback ? isOtherFallback : $0.value.isBefore($1.value)
    }
  }

  // MARK: What comes of it

  /// The model with the plan carried out.
  func result(at now: UInt64) -> NaiveModel {
    var model = before
    model.lastQueued = lastQueued
    model.paths = paths.filter { !$0.value.isEmpty }
    model.memory = memory.suffix(before.limits.remembered)
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
    for one in kept { model.giveBack(one, at: now) }
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
      if timeoutGiven.contains(binding) { model.slots[binding]!.again?.timeLeft = nil }
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
    model.goals.append(model.goal)
    return model
  }

  private func going(_ binding: BindingID, _ slot: NaiveModel.Showing, at now: UInt64) -> NaiveModel.Going {
    let place = before.position(of: binding)
    let below = place.flatMap { $0.index > 0 ? before.paths[$0.stack]![$0.index - 1] : nil }
    let expiry = causes[binding] == .expired ? nil : before.expiries[slot.token]
    return NaiveModel.Going(
      binding: binding, showing: slot, place: place, below: below.flatMap { before.slots[$0]?.token },
      timeLeft: expiry.flatMap { $0 > now ? $0 - now : nil },
      isForced: !before.presented.contains(slot.token) || causes[binding].map(reasonsThatForce.contains) ?? false)
  }

  /// The possible reasons for an end, of which the first cause counts (P12). A presentation that went only when all was settled was
  /// popped if the element below it went (S8); otherwise it lost its parent. If one transaction replaces an item after another
  /// request has ended it, the rules leave the reason open.
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
