/// A dictionary that notes which of its entries may differ from the record.
///
/// The storage notes writes itself. So no write is forgotten, and recording costs as much as the
/// changes (R1).
struct NotedDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private var entries: [Key: Value] = [:]
  private var noted = NotedKeys<Key>()

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }
  var keys: Dictionary<Key, Value>.Keys { entries.keys }
  var values: Dictionary<Key, Value>.Values { entries.values }

  subscript(key: Key) -> Value? {
    get { entries[key] }
    _modify {
      noted.note(key)
      yield &entries[key]
    }
  }

  subscript(key: Key, default defaultValue: @autoclosure () -> Value) -> Value {
    get { entries[key, default: defaultValue()] }
    _modify {
      noted.note(key)
      yield &entries[key, default: defaultValue()]
    }
  }

  mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

  mutating func removeValue(forKey key: Key) -> Value? {
    noted.note(key)
    return entries.removeValue(forKey: key)
  }

  func filter(_ isIncluded: ((key: Key, value: Value)) -> Bool) -> [Key: Value] { entries.filter(isIncluded) }
  func mapValues<Other>(_ transform: (Value) -> Other) -> [Key: Other] { entries.mapValues(transform) }

  /// Changes an entry in place.
  /// - Precondition: the entry exists.
  mutating func modify<Result>(_ key: Key, _ body: (inout Value) -> Result) -> Result {
    noted.note(key)
    return body(&entries[key]!)
  }

  /// Changes a part of an entry that is not recorded, since it can be derived from other entries.
  mutating func modifyDerived(_ key: Key, _ body: (inout Value) -> Void) {
    guard entries[key] != nil else { return }
    body(&entries[key]!)
  }

  /// Whether there is a record. Without one, no write is noted.
  var isNoting: Bool {
    get { noted.isNoting }
    set { noted.isNoting = newValue }
  }

  mutating func noteAll() { noted.note(all: entries.keys) }

  var hasNoted: Bool { !noted.isEmpty }

  /// The keys that ``takeNotedKeys()`` returns.
  var notedKeys: Set<Key> { noted.all }

  /// Removes and returns the keys of the entries that were written since the last call of this or of ``takeNoted(_:)``.
  mutating func takeNotedKeys() -> [Key] { noted.take() }

  /// Returns a row for each entry that was written since the last call; nil for an entry that was removed.
  mutating func takeNoted<Row>(_ row: (Value) -> Row?) -> RecordChanges.Rows<Key, Row> {
    // The closure cannot read an entry of `self` while `noted` is written.
    noted.take { [entries] in entries[$0].flatMap(row) }
  }
}

extension NotedDictionary: Sequence {
  func makeIterator() -> Dictionary<Key, Value>.Iterator { entries.makeIterator() }
}
