import PresentationModel

// Items that are state only because their destinations were not there yet (D1). A request that needs a known name (D2) presents the
// item by the destination that is there now. Items that nobody keeps are presented when their destinations appear.

/// An item that nobody keeps, and for whose name or tag there is a destination now.
public struct LateItem: Sendable {
  let handle: Handle
  /// The binding at which the destination shows the item: its own, or the one that the destination declares for its tag (G7).
  let target: BindingID
  let destination: String
}

extension StateMachine {
  /// Whether an item is state only and nobody keeps it so: no request has meant it as state, it has no owner, and the client that asked
  /// for it has left the bus.
  func isNobodys(_ presentation: Presentation) -> Bool {
    let item = presentation.item
    guard item.destination == nil, !item.isStateMeant, item.owner == nil else { return false }
    return presentation.creator.map { state.countsOfClients[$0] == nil } ?? true
  }

  /// The client that keeps an item as state only until it leaves the bus; nil if the item has a destination, or is kept for another
  /// reason.
  public func keeper(of handle: Handle) -> Client? {
    guard let presentation = presentation(handle), presentation.item.destination == nil,
      !presentation.item.isStateMeant, presentation.item.owner == nil
    else { return nil }
    return presentation.creator
  }

  /// The items that nobody keeps and that destinations show by their names or tags; the oldest first.
  public func lateItems(of names: [String]) -> [LateItem] {
    guard !state.isShuttingDown else { return [] }
    var found: [Handle: LateItem] = [:]
    for name in names {
      guard let destination = state.registry[name] else { continue }
      if let binding = try? BindingID(name), let presentation = current(at: binding), isNobodys(presentation) {
        let handle = presentation.handle
        found[handle] = LateItem(handle: handle, target: binding, destination: name)
      }
      if let declared = try? destination.content.declaredTag(),
        let presentation = member(GroupTag(group: declared.group, tag: declared.tag)), isNobodys(presentation),
        found[presentation.handle] == nil, state.registry[presentation.binding.text] == nil
      {
        let handle = presentation.handle
        found[handle] = LateItem(handle: handle, target: declared.binding, destination: name)
      }
    }
    return found.values.sorted { $0.handle < $1.handle }
  }

  /// Presents an item by its destination, as a new presentation that displaces no other member of a group, or else ends it.
  public mutating func present(_ late: LateItem, at now: Instant) -> Outcome {
    guard let presentation = presentation(late.handle), isCurrent(late.handle) else { return Outcome() }
    if late.target == presentation.binding || current(at: late.target) == nil {
      var options = options(presentingAgain: presentation)
      options.destination = late.destination
      // The destination gives what the item does not (D13).
      if options.value?.isEmpty == true { options.value = nil }
      options.ifBusy = options.ifBusy ?? .refuse
      let requests = [
        Request(.dismiss(presentation.binding)), Request(.present(late.target, id: presentation.item.id, options)),
      ]
      do throws(Refusal) {
        // The client may have been in a sandbox. An item that was accepted is not refused by a hold (H3).
        return try perform(requests, by: nil, trust: .confined, isRestoring: true, at: now).outcome
      } catch {
        // The group is busy, or the destination refuses the item.
      }
    }
    return end([End(handle: late.handle, reason: .replaced)], by: nil, at: now)
  }

  /// The presentation that has a tag in its group, selected or queued.
  fileprivate func member(_ key: GroupTag) -> Presentation? {
    guard let group = state.groups[key.group] else { return nil }
    if let selected = group.selected.flatMap({ state.slots[$0]?.current }),
      let presentation = state.presentations[selected], presentation.item.membership?.tag == key.tag
    {
      return presentation
    }
    guard let queued = group.queue.first(where: { $0.tag == key.tag })?.binding else { return nil }
    return current(at: queued)
  }
}

extension Transaction {
  /// Whether a request that needs a known name is about an item that nothing shows, though there is a destination of its name now.
  func isOutdated(_ binding: BindingID, _ options: ItemOptions) -> Bool {
    guard needsKnownName, let item = item(at: binding), item.destination == nil, options.command == nil,
      options.destination == nil || options.destination == binding.text
    else { return false }
    return state.registry[binding.text] != nil
  }

  /// The declaration for the tag of such an item; nil if the item is shown, or if no destination would show it.
  func outdated(_ key: GroupTag, at binding: BindingID, _ options: ItemOptions) -> TagMemory? {
    guard needsKnownName, let item = item(at: binding), item.destination == nil, options.command == nil,
      options.destination == nil
    else { return nil }
    if state.registry[binding.text] != nil {
      return TagMemory(binding: binding, id: item.id, options: ItemOptions(), isTrusted: true)
    }
    return declared(key.group, key.tag)
  }
}

extension Turn {
  /// The tags of items that nobody keeps and that end, if their groups would forget only the names (G7).
  func nobodysTags(_ draft: borrowing Draft) -> Set<GroupTag> {
    var tags: Set<GroupTag> = []
    // The common case: no group has learned a tag.
    guard state.tagMemory.count > 0 else { return tags }
    for index in draft.slots.indices where draft.slots[index].resolution == .replaced {
      let (binding, slot) = (draft.slots.binding(at: index), draft.slots[index])
      guard let before = slot.before.flatMap({ state.presentations[$0] }), let key = before.item.membership,
        machine.isNobodys(before), draft.learned[key] == nil, let memory = state.tagMemory[key],
        memory.binding == binding, memory.saysNothing(of: key)
      else { continue }
      // The item may be presented again, or another item with its tag may be kept (P15).
      if machine.member(key) == nil { tags.insert(key) }
    }
    return tags
  }
}

extension TagMemory {
  /// Whether no program shows the item of this request, unless there is a destination of the binding's name.
  var showsNothing: Bool { options.destination == nil && options.command == nil }

  /// Whether the tag would be selected in the same way without this request.
  fileprivate func saysNothing(of key: GroupTag) -> Bool {
    var named = ItemOptions()
    (named.group, named.tag) = (key.group, key.tag)
    return id.isEmpty && options == named && binding == key.group.appending(name: key.tag)
  }
}
