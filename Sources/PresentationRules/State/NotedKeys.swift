/// The keys of the entries that may differ from the record.
struct NotedKeys<Key: Hashable & Sendable>: Sendable {
  /// The keys written since they were last taken.
  private(set) var all: Set<Key> = []
  /// Whether there is a record. Without one, no write is noted.
  var isNoting = false

  var isEmpty: Bool { all.isEmpty }

  mutating func note(_ key: Key) {
    if isNoting { all.insert(key) }
  }

  mutating func note(all keys: some Sequence<Key>) { all = Set(keys) }

  /// Removes and returns the keys.
  mutating func take() -> Set<Key> {
    defer { all = [] }
    return all
  }

  /// Removes the keys, and returns one row for each.
  mutating func take<Row>(_ row: (Key) -> Row?) -> RecordChanges.Rows<Key, Row> { take().map { ($0, row($0)) } }
}
