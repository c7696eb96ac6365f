import PresentationModel

/// An item in a group's queue (G9).
struct QueueEntry: Hashable, Sendable {
  let priority: Int32
  /// The number of the acceptance: among equal priorities, the lowest is first.
  let age: UInt64
  let binding: BindingID
  let tag: String
  /// Whether the item was selected, and another member interrupted it (K2).
  var isInterrupted = false

  func comesBefore(_ other: QueueEntry) -> Bool { rank < other.rank }

  private var rank: QueueRank { QueueRank(isInterrupted: isInterrupted, priority: priority, age: age) }
}

/// The rank in a queue: first the items that gave way, the latest of them first (K2), then the highest priority, then the oldest (G9).
struct QueueRank: Comparable {
  let isInterrupted: Bool
  let priority: Int32
  let age: UInt64

  static func < (a: QueueRank, b: QueueRank) -> Bool {
    if a.isInterrupted || b.isInterrupted { return a.isInterrupted && (!b.isInterrupted || a.age > b.age) }
    return a.priority != b.priority ? a.priority > b.priority : a.age < b.age
  }
}

/// The state of one exclusive group.
///
/// The selection is one optional, so two members cannot be selected (G1).
struct Group: Sendable {
  var selected: BindingID?
  /// The queue, in the order in which its items will be selected.
  var queue: [QueueEntry] = []
  /// The tags that the group remembers from requests; the requests are in `State.tagMemory` (G7).
  var remembered: Set<String> = []
  /// The member that may be on screen (G1).
  var live: Handle?
  var changed = Serial(0)
}

/// The last request for a tag, as its group remembers it (G7).
struct TagMemory: Hashable, Sendable {
  var binding: BindingID
  var id: String
  var options: ItemOptions
  /// Whether no part of the request is from a client that may be in a sandbox (L3).
  var isTrusted: Bool

  /// The approximate size in memory, in bytes (L1).
  var byteCount: Int {
    let command = options.command?.arguments.reduce(0) { $0 + $1.count } ?? 0
    let environment = options.environment?.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } ?? 0
    return command + environment + id.utf8.count + (options.value?.byteCount ?? 0)
      + (options.containerValues?.byteCount ?? 0)
  }
}

/// A tag in a group: the membership of an item. It also serves as a key.
public struct GroupTag: Hashable, Sendable {
  public var group: BindingID
  public var tag: String
  public init(group: BindingID, tag: String) {
    (self.group, self.tag) = (group, tag)
  }
}
