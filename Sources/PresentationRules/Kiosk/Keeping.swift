import PresentationModel

// Items that are kept beyond the session, and presented again at the next login (K4).

/// A request that presents an item again at the next login, without options that belong to one session.
public struct LoginItem: Hashable, Sendable {
  public var id: String
  /// The options, without a command, a directory, an environment, an owner and platform data.
  public var options: ItemOptions
  /// The handle of the presentation. Items are presented again in the order of their handles.
  public var handle: Handle
  /// The age in the queue of the group; nil if the item does not wait there.
  public var queueAge: UInt64?
  public var isInterrupted = false
  /// The index in the stack; 0 without a stack.
  public var index: UInt32 = 0

  public init(id: String, options: ItemOptions, handle: Handle) {
    (self.id, self.options, self.handle) = (id, options, handle)
  }

  /// Compares two items of a group by the order of the requests that present them: first the selected one. The requests give the ages
  /// in the queue, from which their places follow.
  fileprivate func isQueued(before other: LoginItem) -> Bool {
    guard let queueAge else { return other.queueAge != nil }
    return other.queueAge.map { queueAge < $0 } ?? false
  }
}

/// An item that has ended by itself. It is kept until it is certain that the session did not end at the same time.
struct DepartedItem: Sendable {
  let item: LoginItem
  let until: Instant
}

extension Reason {
  /// Whether an item ends for this reason without a request: at a logout, many programs end before navd does.
  var isByItself: Bool {
    switch self {
    case .closed, .failed, .lost: true
    case .dismissed, .replaced, .deselected, .popped, .parent, .expired, .owner, .shutdown, .unfocused, .outputGone,
      .held, .declined:
      false
    }
  }
}

extension StateMachine {
  /// The milliseconds for which an item that has ended by itself is still kept.
  static let departedTime: UInt64 = 5000

  /// The items on record, ordered so that each finds its parent, its place in its stack and its group as they were.
  public var loginItems: [(binding: BindingID, item: LoginItem)] {
    let kept = state.loginItemsOnRecord
    // The items of each stack and group that have yet to be added, in order: so each item is looked at once.
    var (stacks, groups): ([BindingID: ArraySlice<BindingID>], [BindingID: ArraySlice<BindingID>]) = ([:], [:])
    for (binding, item) in kept {
      if let stack = item.options.stack { stacks[stack, default: []].append(binding) }
      if let group = item.options.group { groups[group, default: []].append(binding) }
    }
    for stack in stacks.keys { stacks[stack]!.sort { kept[$0]!.index < kept[$1]!.index } }
    for group in groups.keys { groups[group]!.sort { kept[$0]!.isQueued(before: kept[$1]!) } }
    var (ordered, seen): ([BindingID], Set<BindingID>) = ([], [])
    func add(_ binding: BindingID) {
      guard let item = kept[binding], seen.insert(binding).inserted else { return }
      if let from = item.options.from { add(from) }
      var parent = binding.deriving
      while let next = parent {
        add(next)
        parent = next.deriving
      }
      if let stack = item.options.stack {
        while let below = stacks[stack]?.first, kept[below]!.index < item.index {
          stacks[stack]!.removeFirst()
          add(below)
        }
      }
      if item.queueAge != nil, let group = item.options.group {
        while let earlier = groups[group]?.first, kept[earlier]!.isQueued(before: item) {
          groups[group]!.removeFirst()
          add(earlier)
        }
      }
      ordered.append(binding)
    }
    for (binding, _) in kept.sorted(by: { $0.value.handle < $1.value.handle }) { add(binding) }
    return ordered.map { ($0, kept[$0]!) }
  }

  /// The request that presents a kept item again; nil if the slot is not empty, or if the destination no longer restores its items.
  public func request(presentingAgain item: LoginItem, at binding: BindingID) -> Request? {
    guard current(at: binding) == nil,
      item.options.destination.flatMap({ state.registry[$0] })?.itemSettings?.restoresAtLogin == true
    else { return nil }
    return Request(.present(binding, id: item.id, item.options))
  }

  /// Keeps only the items of the state from now on. Call it when the kept items have been presented again, or at a start in the same
  /// session, in which none is presented again.
  public mutating func forgetOtherLoginItems() { state.comparesLoginItems = true }

  /// The item of a slot that is to be kept; nil if there is none.
  private func loginItem(at binding: BindingID) -> LoginItem? {
    guard !state.isShuttingDown else { return nil }
    guard let slot = state.slots[binding] else { return state.departed[binding]?.item }
    if let current = slot.current {
      guard let presentation = state.presentations[current] else { return nil }
      return loginItem(of: presentation)
    }
    if let going = slot.dismissing.last.flatMap({ state.presentations[$0] }),
      going.phase.dismissal?.reason.isByItself == true
    {
      return loginItem(of: going)
    }
    return state.departed[binding]?.item
  }

  /// The kept form of a presentation's item; nil for an item that is not kept. Items with an owner,
  /// items that wait for a limited time and fallbacks are not kept (H6, K1).
  func loginItem(of presentation: Presentation) -> LoginItem? {
    let item = presentation.item
    guard presentation.restoresAtLogin, item.owner == nil, presentation.startsBy == nil,
      !isFallback(item.membership)
    else { return nil }
    var options = options(presentingAgain: presentation)
    options.timeout = item.timeout ?? 0
    var kept = LoginItem(id: item.id, options: options, handle: presentation.handle)
    kept.queueAge = item.isQueued ? item.queueAge ?? 0 : nil
    kept.isInterrupted = item.isInterrupted
    kept.index = UInt32(clamping: item.position?.index ?? 0)
    return kept
  }

  /// The options of a request that presents an item again at its place. They leave out what belongs to the client that asked for it: a
  /// command, a directory, an environment, an owner and platform data.
  func options(presentingAgain presentation: Presentation) -> ItemOptions {
    let item = presentation.item
    var options = ItemOptions()
    options.destination = item.destinationName
    options.value = item.value
    options.containerValues = item.containerValues.isEmpty ? nil : item.containerValues
    (options.style, options.title, options.output) = (item.style, item.title, item.output)
    options.placement = item.placement
    if presentation.hasNamedParent { options.from = presentation.parent.flatMap { state.presentations[$0]?.binding } }
    (options.group, options.tag) = (item.membership?.group, item.membership?.tag)
    options.stack = item.position?.stack
    options.timeout = item.timeout
    options.priority = item.priority == 0 ? nil : item.priority
    options.ifBusy = item.isQueued ? .queue : nil
    return options
  }

  /// The rows of items that are kept or no longer kept, for slots and presentations that may have changed.
  mutating func takeUnrecordedLoginItems(
    _ slots: [BindingID], _ handles: [Handle]
  ) -> RecordChanges.Rows<BindingID, LoginItem> {
    var bindings = Set(state.departed.takeNotedKeys())
    if !state.loginItemsOnRecord.isEmpty { bindings.formUnion(slots) }
    for handle in handles {
      guard let presentation = state.presentations[handle], presentation.restoresAtLogin else { continue }
      bindings.insert(presentation.binding)
    }
    if state.comparesLoginItems {
      bindings.formUnion(state.loginItemsOnRecord.keys)
      for presentation in state.presentations.values where presentation.restoresAtLogin {
        bindings.insert(presentation.binding)
      }
      state.comparesLoginItems = false
    }
    var rows: RecordChanges.Rows<BindingID, LoginItem> = []
    for binding in bindings {
      let item = loginItem(at: binding)
      guard item != state.loginItemsOnRecord[binding] else { continue }
      state.loginItemsOnRecord[binding] = item
      rows.append((binding, item))
    }
    return rows
  }
}

extension PresentationFields {
  fileprivate var restoresAtLogin: Bool { item.destination?.itemSettings?.restoresAtLogin == true }
}

extension Transition {
  /// Keeps an item that has ended by itself for a while, unless its slot holds another one.
  mutating func keepForAWhile(_ presentation: Presentation, _ reason: Reason) {
    guard reason.isByItself, state.slots[presentation.binding]?.current == nil, !state.isShuttingDown,
      state.departed.count < state.limits.remembered, let item = machine.loginItem(of: presentation)
    else { return }
    let until = now.after(milliseconds: StateMachine.departedTime)
    state.departed[presentation.binding] = DepartedItem(item: item, until: until)
    state.schedule(until, .departure(presentation.binding), presentation.handle)
  }
}
