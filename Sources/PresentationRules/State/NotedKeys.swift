/// The keys of the entries that may differ from the record.
struct NotedKeys<Key: Hashable & Sendable>: Sendable {
  /// The keys written since they were last taken; a key may be there more than once.
  private var keys: [Key] = []
  /// Whether there is a record. Without one, no write is noted.
  var isNoting = false

  var isEmpty: Bool { keys.isEmpty }
  var all: Set<Key> { Set(keys) }

  mutating func note(_ key: Key) {
    // Consecutive writes are mostly to the same entry.
    if isNoting, keys.last != key { keys.append(key) }
  }

  mutating func note(all keys: some Sequence<Key>) { self.keys = Array(keys) }

  /// Removes and returns the keys, each once.
  mutating func take() -> [Key] {
    guard !keys.isEmpty else { return [] }
    // Copied to new memory, so that the next few keys reuse the old memory.
    var taken = Array(keys[...])
    keys.removeAll(keepingCapacity: keys.count <= 64)
    taken.removeRepetitions()
    return taken
  }

  /// Removes the keys, and returns one row for each.
  mutating func take<Row>(_ row: (Key) -> Row?) -> RecordChanges.Rows<Key, Row> { take().map { ($0, row($0)) } }
}

extension Array where Element: Hashable {
  /// Keeps each element once, in any order.
  ///
  /// An input changes few entries, and a few are compared faster than they are hashed.
  mutating func removeRepetitions() {
    if count > 8 {
      self = Array(Set(self))
    } else if count > 1 {
      var end = 1
      for index in 1..<count where !self[..<end].contains(self[index]) {
        self[end] = self[index]
        end += 1
      }
      removeLast(count - end)
    }
  }
}
