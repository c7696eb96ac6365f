// Why this file exists: what is remembered of things that are gone (tags, endings, changes of empty slots) has a limit,
// and past it the oldest is dropped (L1).

import DequeModule

/// A dictionary of limited size that drops what was set longest ago.
struct RecencyMap<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// How many there may be.
  let limit: Int
  /// How many bytes all of them may take.
  let byteLimit: Int
  private var values: [Key: (value: Value, stamp: UInt64, bytes: Int)] = [:]
  private var bytes = 0
  /// In the order of setting; an entry whose stamp is not the key's own has been overtaken.
  private var order: Deque<(key: Key, stamp: UInt64)> = []
  private var lastStamp: UInt64 = 0
  /// The keys that were set or dropped since they were last taken.
  private var noted: Set<Key> = []
  /// Whether there is a record; without one nothing is noted.
  var isNoting = false

  init(limit: Int, byteLimit: Int = .max) {
    self.limit = limit
    self.byteLimit = byteLimit
  }

  var count: Int { values.count }

  subscript(key: Key) -> Value? { values[key]?.value }

  /// All keys and values, the oldest first.
  var inOrder: [(key: Key, value: Value)] {
    order.compactMap { entry in
      guard let kept = values[entry.key], kept.stamp == entry.stamp else { return nil }
      return (entry.key, kept.value)
    }
  }

  /// Sets a value as the newest; it stays, however many bytes it takes.
  /// - Returns: what was dropped for it, the oldest first.
  mutating func set(_ key: Key, _ value: Value, bytes count: Int = 0) -> [(key: Key, value: Value)] {
    put(key, value, bytes: count, stamp: lastStamp + 1)
    var dropped: [(key: Key, value: Value)] = []
    while values.count > limit || bytes > byteLimit, values.count > 1, let oldest = order.popFirst() {
      guard let kept = values[oldest.key], kept.stamp == oldest.stamp else { continue }
      values[oldest.key] = nil
      bytes -= kept.bytes
      if isNoting { noted.insert(oldest.key) }
      dropped.append((oldest.key, kept.value))
    }
    return dropped
  }

  /// Sets a value that was set before with a stamp that is greater than all there are.
  mutating func put(_ key: Key, _ value: Value, bytes count: Int = 0, stamp: UInt64) {
    lastStamp = stamp
    bytes += count - (values[key]?.bytes ?? 0)
    values[key] = (value, lastStamp, count)
    order.append((key, lastStamp))
    if isNoting { noted.insert(key) }
    if order.count > 2 * values.count + 64 {
      order.removeAll { entry in values[entry.key]?.stamp != entry.stamp }
    }
  }

  /// Changes a value, which stays as old as it is and takes as many bytes.
  mutating func modify(_ key: Key, _ change: (inout Value) -> Void) {
    guard values[key] != nil else { return }
    change(&values[key]!.value)
    if isNoting { noted.insert(key) }
  }

  /// A value and when it was set: the least stamp is the oldest.
  func stamped(_ key: Key) -> (value: Value, stamp: UInt64)? { values[key].map { ($0.value, $0.stamp) } }

  /// Notes all there is.
  mutating func noteAll() { noted = Set(values.keys) }

  /// The keys that were set or dropped since this was last called.
  mutating func takeNoted() -> Set<Key> {
    guard !noted.isEmpty else { return [] }
    defer { noted = [] }
    return noted
  }
}
