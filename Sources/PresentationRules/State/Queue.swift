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
