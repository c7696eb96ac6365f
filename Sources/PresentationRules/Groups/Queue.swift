import PresentationModel

/// An item in a group's queue (G9).
struct QueueEntry: Hashable, Sendable {
  let priority: Int32
  /// The number of the acceptance: among equal priorities, the lowest is first.
  let age: UInt64
  let binding: BindingID
  let tag: String
  /// Whether the item was selected, and another member interrupted it (K2).
  let isInterrupted: Bool

  /// First come the items that gave way, the latest of them first (K2), then the highest priority, then the oldest (G9).
  func comesBefore(_ other: QueueEntry) -> Bool {
    if isInterrupted || other.isInterrupted { return isInterrupted && (!other.isInterrupted || age > other.age) }
    return priority != other.priority ? priority > other.priority : age < other.age
  }
}
