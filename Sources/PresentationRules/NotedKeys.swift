/// The keys of the entries that may differ from the record.
struct NotedKeys<Key: Hashable & Sendable>: Sendable {
  /// The keys written since they were last taken; a key may be there more than once.
  private var keys: [Key] = []
  /// Whether there is a record; without one, nothing is noted.
  var isNoting = false

  var isEmpty: Bool { keys.isEmpty }
  var all: Set<Key> { Set(keys) }

  mutating func note(_ key: Key) {
    // Consecutive writes are mostly to one entry.
    if isNoting, keys.last != key { keys.append(key) }
  }

  mutating func note(all keys: some Sequence<Key>) { self.keys = Array(keys) }

  /// Hands over each key once, and forgets it.
  mutating func take(_ body: (Key) -> Void) { keys.takeDistinct(body) }
}

extension Array where Element: Hashable {
  /// Hands over its elements without repetitions, and removes them. It keeps its memory for the next few.
  ///
  /// An input changes few entries, and comparing few is faster than hashing them.
  mutating func takeDistinct(_ body: (Element) -> Void) {
    guard !isEmpty else { return }
    if count > 8 {
      for element in Set(self) { body(element) }
    } else {
      for index in indices where !self[..<index].contains(self[index]) { body(self[index]) }
    }
    removeAll(keepingCapacity: count <= 64)
  }
}
