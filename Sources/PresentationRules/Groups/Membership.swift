import PresentationModel
import TextFormats

extension Planner {
  /// The group and tag of a request: those that it names, or those of its destination (G7).
  func membership(
    for binding: BindingID, _ options: ItemOptions, _ destination: Shared<Destination>?
  ) throws(Refusal) -> GroupTag? {
    var group = options.group
    if group == nil { group = try destination?.group?.binding(on: options.namedOutput) }
    guard let group else {
      if let tag = options.tag {
        throw Refusal(.invalidArgument, "tag \(quoted(tag)) is given without a group; give a group, or leave tag out")
      }
      return nil
    }
    let own = binding.text.hasPrefix(group.text + ".") ? String(binding.text.dropFirst(group.text.count + 1)) : nil
    let membership = GroupTag(group: group, tag: options.tag ?? own ?? binding.text)
    if let holder = holder(of: membership), holder != binding {
      throw Refusal(
        .invalidArgument,
        "the item at “\(holder)” already has the tag \(quoted(membership.tag)) of the group “\(group)”; use another tag for "
          + "“\(binding)”")
    }
    try checkServed(membership, at: binding, destination?.name)
    return membership
  }

  /// The binding of the item with a tag, selected or queued.
  func holder(of membership: GroupTag) -> BindingID? {
    if let selected = selected(in: membership.group), item(at: selected)?.membership?.tag == membership.tag {
      return selected
    }
    return queue(of: membership.group).binding(of: membership.tag)
  }

  /// Selects an item in its group, queues it, or refuses it (G6, G8, G9). An item that is held displaces no other member (H4).
  ///
  /// - Parameter dependencies: the bindings on which the item would directly depend (C7).
  mutating func take(
    _ membership: GroupTag, for binding: BindingID, item: inout Shared<Item>, in stack: BindingID?, policy: BusyPolicy,
    dependencies: [BindingID]
  ) throws(Refusal) {
    let group = membership.group
    let other = selected(in: group)
    // A fallback gives way (K1). An item that has no window left does so, too (N3).
    let isIdle =
      other.map { machine.isFallback(self.item(at: $0)?.membership) || isWithoutWindow($0) } ?? true
    if other == binding {
      if policy != .queue { (item.queueAge, item.isInterrupted) = (nil, false) }
      return
    }
    if let other, policy == .queue || policy == .interrupt, machine.isFallback(membership) {
      throw Refusal(
        .invalidArgument,
        "“\(binding)” is the fallback of “\(group)”, which neither waits nor interrupts: it comes when nothing else is "
          + "selected, after \(quoted(self.item(at: other)?.membership?.tag ?? "")); leave if-busy out")
    }
    if let other, !isIdle, policy == .refuse {
      throw Refusal(
        .busy,
        "group “\(group)” has \(quoted(self.item(at: other)?.membership?.tag ?? "")) selected; deselect it, or use "
          + "if-busy “replace” or “queue”")
    }
    let isHeld = (other != nil || item.isQueued) && item.isHeld(by: state.holdsInForce)
    if isHeld, other != nil, machine.isFallback(membership) {
      throw held(
        item, at: binding, .postpone, ", another member of “\(group)” is selected, and a fallback is never queued")
    }
    if isHeld, stack != nil { throw heldInStack(item, at: binding) }
    if isHeld && !machine.isFallback(membership) || (!isIdle && policy == .queue) {
      return try enqueue(&item, membership, for: binding)
    }
    if let other {
      if try depends(dependencies, on: other) {
        throw Refusal(
          .invalidArgument,
          "“\(binding)” would depend on “\(other)”, a member of its own group “\(group)”; use another group, parent or "
            + "stack")
      }
      if policy == .interrupt, !isIdle { try interrupt(other) } else { clear(other, reason: .deselected) }
    }
    item.isQueued = false
    item.isInterrupted = false
    if policy != .queue || other != nil {
      item.queueAge = nil
    } else if item.queueAge == nil {
      draft.lastQueueAge += 1
      item.queueAge = draft.lastQueueAge
    }
    withGroup(group) { draft in
      draft.queue.remove(binding)
      draft.selected = binding
    }
  }

  /// Queues a new item that was selected, if a hold postpones it (H4). An item that is on the
  /// screen already stays selected (T1). So does a fallback, since it blocks no other member (K1).
  mutating func queueIfHeld(_ binding: BindingID) throws(Refusal) {
    guard !state.holdsInForce.isEmpty, var item = item(at: binding), let membership = item.membership, !item.isQueued,
      item.isHeld(by: state.holdsInForce), !machine.isFallback(membership), !staysLive(binding)
    else { return }
    if item.position != nil { throw heldInStack(item, at: binding) }
    withGroup(membership.group) { $0.selected = nil }
    try enqueue(&item, membership, for: binding)
    withSlot(binding) { [item] in $0.item = item }
  }

  /// Whether the presentation of a drafted slot is on the screen and stays there.
  private func staysLive(_ binding: BindingID) -> Bool {
    let slot = draft.slots[existing: binding]
    return slot.before.flatMap { state.presentations[$0] }?.phase.isLive == true && stays(binding, slot)
  }

  /// Has the group remember the last request for a tag, merged with earlier requests for the same
  /// item (P2, G7).
  mutating func learn(
    _ membership: GroupTag, _ binding: BindingID, id: String, _ options: ItemOptions, isTrusted: Bool,
    addingToEarlier: Bool
  ) throws(Refusal) {
    var memory = TagMemory(binding: binding, id: id, options: options.repeatable, isTrusted: isTrusted)
    memory.options.group = membership.group
    memory.options.tag = membership.tag
    if let earlier = remembered(membership), earlier.binding == binding, earlier.id == id {
      if addingToEarlier {
        memory.options = earlier.options.overridden(by: memory.options)
        guard try mayAdd(to: earlier, memory.options) else { return }
      }
      if memory.options == earlier.options {
        memory.isTrusted = earlier.isTrusted
      } else if addingToEarlier {
        memory.isTrusted = isTrusted && earlier.isTrusted
      }
    }
    draft.learned[membership] = memory
    draft.forgotten.remove(membership)
    draft.learnOrder.append(membership)
  }
}
