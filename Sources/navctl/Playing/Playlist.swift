import EventLoops
import PresentationModel

/// The items that take turns in the queue of a group, again and again. It says what to ask for after what has happened, does no I/O, and
/// has no clock.
struct Playlist {
  struct Item: Hashable {
    let binding: String
    var id = ""
    /// The destination; nil for the one with the name of the binding.
    var destination: String?

    /// The item as its user has named it.
    var name: String { destination == nil ? binding : id }
  }

  enum Next: Equatable {
    /// Ask for these items: they have had their turn.
    case again([Item])
    /// Somebody has ended it: by something else in the group, or by dismissing its items.
    case over
    /// None of the items could be shown.
    case failed
  }

  let group: String
  /// Milliseconds that each item is shown; nil if that is left to its destination and its program.
  let time: UInt64?
  /// The items, without those that somebody has dismissed.
  private(set) var items: [Item]
  /// The ends since the last state, in their order.
  private var ends: [(binding: String, reason: Reason)] = []
  /// The bindings of the items that have ended last before their time was over.
  private var early: Set<String> = []
  /// How many items in a row were not shown.
  private var failures = 0
  /// The item whose time is over, and that is still on the screen.
  private var leaving: (binding: String, since: MonotonicInstant)?
  /// Milliseconds for which the item before was still on the screen when an item was asked for, by its binding.
  private var starts: [String: UInt64] = [:]

  init(_ items: [Item], in group: String, time: UInt64?) {
    (self.items, self.group, self.time) = (items, group, time)
  }

  /// Takes an event.
  /// - Returns: whether something has ended, so that the state says what follows.
  mutating func take(_ event: StateEvent.Kind, at now: MonotonicInstant) -> Bool {
    switch event {
    case .phase(let subject, .dismissing) where has(subject.binding): leaving = (subject.binding, now)
    case .presented(let subject, _) where has(subject.binding):
      failures = 0
      starts[subject.binding] = leaving.map { UInt64(max(0, (now - $0.since) / .milliseconds(1))) }
    case .dismissed(let subject, let reason) where has(subject.binding):
      if leaving?.binding == subject.binding { leaving = nil }
      if reason == .failed { failures += 1 }
      ends.append((subject.binding, reason))
      return true
    default: break
    }
    return false
  }

  /// Decides what to ask for next. An item that is neither shown nor queued, and whose end was not seen, has ended while navd was away.
  mutating func settle(_ state: StateSnapshot) -> Next {
    defer { ends = [] }
    let (count, members) = (items.count, state.entries.filter { $0.knownPhase != .dismissing })
    let here = Set(items.filter { item in members.contains { $0.binding == item.binding && ($0.id ?? "") == item.id } })
    var reasons: [String: Reason] = [:]
    for end in ends { reasons[end.binding] = end.reason }
    for (binding, reason) in reasons {
      if reason == .expired { early.remove(binding) } else { early.insert(binding) }
    }
    let gone = items.filter { !here.contains($0) }
    for item in gone {
      switch reasons[item.binding] {
      case .deselected:
        let selection = state.groupEntries[group]?.selection
        let selected = members.first { $0.group == group && $0.tag == selection }?.binding
        guard let selected, has(selected) else { return .over }
      case .dismissed, .replaced, .popped, .parent, .owner, .shutdown:
        items.removeAll { $0 == item }
        // Nobody else is left, or the others are asked for just now.
        if here.isEmpty { return .over }
      case .closed, .expired, .failed, .lost, .unfocused, .outputGone, .held, .declined, nil: break
      }
    }
    if items.isEmpty { return .over }
    if failures >= items.count { return .failed }
    let order = ends.map(\.binding)
    func turn(_ item: Item) -> Int { order.lastIndex(of: item.binding) ?? -1 }
    var again = gone.filter { items.contains($0) }.sorted { turn($0) < turn($1) }
    // The last one that is left stays.
    if items.count == 1, count > 1 { again = items }
    return .again(again)
  }

  /// Whether an item has ended last before its time was over, so that it may do so at once again.
  func endsEarly(_ item: Item) -> Bool { early.contains(item.binding) }

  /// Leaves out an item that navd refuses.
  mutating func drop(_ item: Item) { items.removeAll { $0 == item } }

  /// Milliseconds after which the item after it is asked for, so that this one has been shown for its time when that one is there; nil to
  /// leave it to its destination.
  func timeout(of item: Item) -> UInt64? {
    guard let time, items.count > 1, let index = items.firstIndex(of: item) else { return time.map { _ in 0 } }
    let start = starts[items[(index + 1) % items.count].binding] ?? 0
    return time - min(start, time / 2)
  }

  private func has(_ binding: String) -> Bool { items.contains { $0.binding == binding } }
}
