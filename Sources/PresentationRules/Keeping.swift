import PresentationModel

// Items that are kept beyond the session, and presented again at the next login (K4).

/// What presents an item again at the next login: its request, without what belongs to one session.
public struct KeptItem: Hashable, Sendable {
  public var id: String
  /// Without a command, a directory, an environment, an owner and platform data.
  public var options: ItemOptions
  /// Its presentation. Items are presented again in the order of these.
  public var handle: Handle
  /// Its age in the queue of its group; nil if it does not wait there.
  public var queueAge: UInt64?
  public var isInterrupted = false
  /// Its index in its stack; 0 without one.
  public var index: UInt32 = 0

  public init(id: String, options: ItemOptions, handle: Handle) {
    (self.id, self.options, self.handle) = (id, options, handle)
  }

  /// Compares two items of a group. A request that queues one gives its priority; the order of these requests gives its age.
  fileprivate func isQueued(before other: KeptItem) -> Bool {
    guard let rank else { return other.rank != nil }
    return other.rank.map { rank < $0 } ?? false
  }

  private var rank: QueueRank? { queueAge.map { QueueRank(isInterrupted: isInterrupted, priority: 0, age: $0) } }
}

/// An item that has ended by itself, and is kept until it is certain that the session has not ended with it.
struct DepartedItem: Sendable {
  let item: KeptItem
  let until: Instant
}

extension Reason {
  /// Whether an item ends so without anybody's request: at a logout, many programs end before navd does.
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
  /// How long what has ended by itself is still kept, in milliseconds.
  static let departedTime: UInt64 = 5000

  /// The items on record, in an order in which each finds its parent, its place in its stack and its group as they were.
  public var keptItems: [(binding: BindingID, item: KeptItem)] {
    let kept = state.keptOnRecord
    // Of each, in its order, what has yet to be added: so each item is looked at once.
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

  /// The request that presents a kept item again; nil if its slot is not empty, or its destination does not ask for that any
  /// more.
  public func request(presentingAgain item: KeptItem, at binding: BindingID) -> Request? {
    guard current(at: binding) == nil,
      item.options.destination.flatMap({ state.registry[$0] })?.itemSettings?.restoresAtLogin == true
    else { return nil }
    return Request(.present(binding, id: item.id, item.options))
  }

  /// From now on, only what the state has is kept. Call it when what was kept has been presented again, or in the same session,
  /// where nothing is.
  public mutating func forgetOtherKeptItems() { state.comparesKeptItems = true }

  /// The item of a slot as it is to be kept; nil if it is not.
  private func keptItem(at binding: BindingID) -> KeptItem? {
    guard !state.isShuttingDown else { return nil }
    guard let slot = state.slots[binding] else { return state.departed[binding]?.item }
    if let current = slot.current {
      guard let presentation = state.presentations[current] else { return nil }
      return keptItem(of: presentation)
    }
    if let going = slot.dismissing.flatMap({ state.presentations[$0] }),
      going.phase.dismissal?.reason.isByItself == true
    {
      return keptItem(of: going)
    }
    return state.departed[binding]?.item
  }

  /// A presentation's item as it is kept; nil if it is not: what its owner ends, what waits for a short time only (H6), and what
  /// navd presents by itself (K1).
  func keptItem(of presentation: Presentation) -> KeptItem? {
    let item = presentation.item
    guard presentation.restoresAtLogin, item.owner == nil, presentation.startsBy == nil,
      !isFallback(item.membership)
    else { return nil }
    var options = options(presentingAgain: presentation)
    options.timeout = item.timeout ?? 0
    var kept = KeptItem(id: item.id, options: options, handle: presentation.handle)
    kept.queueAge = item.isQueued ? item.queueAge ?? 0 : nil
    kept.isInterrupted = item.isInterrupted
    kept.index = UInt32(clamping: item.position?.index ?? 0)
    return kept
  }

  /// The options of a request that presents an item again where it is, without what belongs to the client that asked for it: a command,
  /// a directory, an environment, an owner and platform data.
  func options(presentingAgain presentation: Presentation) -> ItemOptions {
    let item = presentation.item
    var options = ItemOptions()
    options.destination = item.destinationName
    options.value = item.value
    options.containerValues = item.containerValues.isEmpty ? nil : item.containerValues
    (options.style, options.title, options.output) = (item.style, item.title, item.output)
    if presentation.hasNamedParent { options.from = presentation.parent.flatMap { state.presentations[$0]?.binding } }
    (options.group, options.tag) = (item.membership?.group, item.membership?.tag)
    options.stack = item.position?.stack
    options.timeout = item.timeout
    options.priority = item.priority == 0 ? nil : item.priority
    options.ifBusy = item.isQueued ? .queue : nil
    return options
  }

  /// The rows of items that are kept, or not any more, of slots and presentations that may have changed.
  mutating func takeUnrecordedKeptItems(
    _ slots: [BindingID], _ handles: [Handle]
  ) -> RecordChanges.Rows<BindingID, KeptItem> {
    var bindings = Set(state.departed.takeNotedKeys())
    if !state.keptOnRecord.isEmpty { bindings.formUnion(slots) }
    for handle in handles {
      guard let presentation = state.presentations[handle],
        !state.keptOnRecord.isEmpty || presentation.restoresAtLogin
      else { continue }
      bindings.insert(presentation.binding)
    }
    if state.comparesKeptItems {
      bindings.formUnion(state.keptOnRecord.keys)
      for presentation in state.presentations.values where presentation.restoresAtLogin {
        bindings.insert(presentation.binding)
      }
      state.comparesKeptItems = false
    }
    var rows: RecordChanges.Rows<BindingID, KeptItem> = []
    for binding in bindings {
      let item = keptItem(at: binding)
      guard item != state.keptOnRecord[binding] else { continue }
      state.keptOnRecord[binding] = item
      rows.append((binding, item))
    }
    return rows
  }
}

extension PresentationFields {
  fileprivate var restoresAtLogin: Bool { item.destination?.itemSettings?.restoresAtLogin == true }
}

extension Turn {
  /// Keeps what has ended by itself for a while, unless its slot holds something else.
  mutating func keepForAWhile(_ presentation: Presentation, _ reason: Reason) {
    guard reason.isByItself, state.slots[presentation.binding]?.current == nil, !state.isShuttingDown,
      state.departed.count < state.limits.endings, let item = machine.keptItem(of: presentation)
    else { return }
    let until = now.after(milliseconds: StateMachine.departedTime)
    state.departed[presentation.binding] = DepartedItem(item: item, until: until)
    state.schedule(until, .departure(presentation.binding), presentation.handle)
  }
}
