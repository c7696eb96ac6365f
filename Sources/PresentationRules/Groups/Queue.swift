import PresentationModel

/// An item in a group's queue (G9).
struct QueueEntry: Hashable, Sendable {
  let priority: Int32
  /// The number of the acceptance: among equal priorities, the lowest is first. No two entries of a queue have the same.
  let age: UInt64
  let binding: BindingID
  let tag: String
  /// Whether the item was selected, and another member interrupted it (K2).
  let isInterrupted: Bool

  /// Whether the entry is selected before another one: first the items that gave way, the latest of
  /// them first; then the highest priority; then the oldest (K2, G9).
  func comesBefore(_ other: QueueEntry) -> Bool {
    if isInterrupted || other.isInterrupted { return isInterrupted && (!other.isInterrupted || age > other.age) }
    return priority != other.priority ? priority > other.priority : age < other.age
  }
}

/// The queue of a group (G9). A search by binding or by tag takes the same time in every queue: a transaction may queue as many items
/// as a queue can have.
struct Queue: Sendable {
  /// The entries in the order in which they will be selected.
  private(set) var entries: [QueueEntry] = []
  private var byBinding: [BindingID: QueueEntry] = [:]
  private var bindings: [String: BindingID] = [:]
  /// The number of items that did not give way. Only these count for the limit (K2).
  private(set) var countOfQueued = 0

  init() {}

  /// Makes a queue of entries in any order.
  init(_ entries: [QueueEntry]) { for entry in entries { insert(entry) } }

  var isEmpty: Bool { entries.isEmpty }
  var tags: [String] { entries.map(\.tag) }

  subscript(binding: BindingID) -> QueueEntry? { byBinding[binding] }

  /// The binding of the item with a tag.
  func binding(of tag: String) -> BindingID? { bindings[tag] }

  /// The index of the item of a binding; nil if it is not in the queue.
  func index(of binding: BindingID) -> Int? { byBinding[binding].map(place) }

  /// Inserts an entry at its place; an earlier one of its binding leaves the queue.
  mutating func insert(_ entry: QueueEntry) {
    remove(entry.binding)
    entries.insert(entry, at: place(of: entry))
    byBinding[entry.binding] = entry
    bindings[entry.tag] = entry.binding
    if !entry.isInterrupted { countOfQueued += 1 }
  }

  mutating func remove(_ binding: BindingID) {
    guard let entry = byBinding.removeValue(forKey: binding) else { return }
    entries.remove(at: place(of: entry))
    if bindings[entry.tag] == binding { bindings[entry.tag] = nil }
    if !entry.isInterrupted { countOfQueued -= 1 }
  }

  /// The index of the first entry that does not come before the given one.
  private func place(of entry: QueueEntry) -> Int {
    var (low, high) = (entries.startIndex, entries.endIndex)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].comesBefore(entry) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension Queue: Equatable {
  static func == (a: Queue, b: Queue) -> Bool { a.entries == b.entries }
}

// MARK: In a transaction

/// The plan for one group.
struct GroupDraft: Sendable {
  var selected: BindingID?
  var queue: Queue
  let tagBefore: String?
  let queueBefore: Queue

  /// Whether the queue has other items, or another order.
  var hasOtherQueue: Bool { queue != queueBefore && queue.tags != queueBefore.tags }
}

extension Planner {
  /// Puts an item into its queue. If it is there already, it keeps its age (G6).
  mutating func enqueue(
    _ item: inout Shared<Item>, _ membership: GroupTag, for binding: BindingID
  ) throws(Refusal) {
    let group = membership.group
    let earlier = queue(of: group)[binding]
    // An item that had given way at the end of its session waits as such at the next login, too (K4). It does not count for the limit
    // (K2).
    let isInterrupted =
      earlier?.isInterrupted ?? (isRestoring && state.loginItemsOnRecord[binding]?.isInterrupted == true)
    if earlier == nil {
      if !isInterrupted {
        try state.limits.check(
          "queue", queue(of: group).countOfQueued + 1, state.limits.queue, of: "items in the queue of “\(group)”")
      }
      draft.lastQueueAge += 1
    }
    let age = earlier?.age ?? draft.lastQueueAge
    item.isQueued = true
    item.queueAge = age
    let entry = QueueEntry(
      priority: item.priority, age: age, binding: binding, tag: membership.tag, isInterrupted: isInterrupted)
    item.isInterrupted = isInterrupted
    if entry != earlier { withGroup(group) { $0.queue.insert(entry) } }
  }

  /// Moves the selected member of a group into its queue, before all others.
  mutating func queueFirst(_ binding: BindingID, _ item: Shared<Item>, _ membership: GroupTag) {
    draft.lastQueueAge += 1
    var item = item
    item.queueAge = draft.lastQueueAge
    item.isInterrupted = true
    moveIntoQueue(binding, item, membership)
  }

  /// Moves the selected member of a group into its queue, to the place that its priority and age give.
  mutating func moveIntoQueue(_ binding: BindingID, _ item: Shared<Item>, _ membership: GroupTag) {
    withGroup(membership.group) { group in
      group.selected = nil
      group.queue.insert(
        QueueEntry(
          priority: item.priority, age: item.queueAge ?? 0, binding: binding, tag: membership.tag,
          isInterrupted: item.isInterrupted))
    }
    var queued = item
    queued.isQueued = true
    withSlot(binding) { [queued] in $0.item = queued }
  }

  /// Selects the next item of each queue whose group has lost its selection (G9). Items that are held are skipped (H4).
  mutating func serveQueues() {
    guard !state.isShuttingDown, !draft.groups.isEmpty else { return }
    for group in draft.groups.keys.sorted(by: { $0.text < $1.text }) {
      guard selected(in: group) == nil, let next = nextInQueue(of: group) else { continue }
      withGroup(group) { draft in
        draft.queue.remove(next.binding)
        draft.selected = next.binding
      }
      withSlot(next.binding) { slot in
        slot.item?.isQueued = false
        if slot.resolution == .undecided { slot.resolution = .stays }
      }
    }
  }

  /// The first entry of a queue that is not held; nil if there is none. A member that was queued before it became the fallback comes
  /// after all others (K1).
  func nextInQueue(of group: BindingID) -> QueueEntry? {
    var fallback: QueueEntry?
    for entry in queue(of: group).entries where item(at: entry.binding) != nil && !isHeld(entry.binding) {
      guard machine.isFallback(GroupTag(group: group, tag: entry.tag)) else { return entry }
      fallback = entry
    }
    return fallback
  }
}
