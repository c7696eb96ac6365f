/// A dictionary that notes which of its entries may differ from the record.
///
/// The storage notes writes itself, so that recording costs no more than what changed (R1) and no write is forgotten.
struct NotedDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private var entries: [Key: Value] = [:]
  /// The keys written since they were last taken; a key may be there more than once.
  private var noted: [Key] = []
  /// Whether there is a record; without one, nothing is noted.
  var isNoting = false

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }
  var keys: Dictionary<Key, Value>.Keys { entries.keys }
  var values: Dictionary<Key, Value>.Values { entries.values }

  subscript(key: Key) -> Value? {
    get { entries[key] }
    _modify {
      note(key)
      yield &entries[key]
    }
  }

  subscript(key: Key, default defaultValue: @autoclosure () -> Value) -> Value {
    get { entries[key, default: defaultValue()] }
    _modify {
      note(key)
      yield &entries[key, default: defaultValue()]
    }
  }

  mutating func removeValue(forKey key: Key) -> Value? {
    note(key)
    return entries.removeValue(forKey: key)
  }

  func filter(_ isIncluded: ((key: Key, value: Value)) -> Bool) -> [Key: Value] { entries.filter(isIncluded) }
  func mapValues<Other>(_ transform: (Value) -> Other) -> [Key: Other] { entries.mapValues(transform) }

  /// Changes an entry in place.
  /// - Precondition: there is one.
  mutating func modify<Result>(_ key: Key, _ body: (inout Value) -> Result) -> Result {
    note(key)
    return body(&entries[key]!)
  }

  /// Changes a part of an entry that is not recorded, since it follows from other entries.
  mutating func modifyDerived(_ key: Key, _ body: (inout Value) -> Void) {
    guard entries[key] != nil else { return }
    body(&entries[key]!)
  }

  private mutating func note(_ key: Key) {
    // Consecutive writes are mostly to one entry.
    if isNoting, noted.last != key { noted.append(key) }
  }

  mutating func noteAll() { noted = Array(entries.keys) }

  var hasNoted: Bool { !noted.isEmpty }

  /// The keys that ``takeNoted(_:)`` hands over.
  var notedKeys: Set<Key> { Set(noted) }

  /// Hands over each entry that was written since this was last called; nil if it was removed.
  mutating func takeNoted(_ body: (Key, Value?) -> Void) {
    guard !noted.isEmpty else { return }
    var keys: [Key] = []
    swap(&keys, &noted)
    keys.takeDistinct { body($0, entries[$0]) }
    swap(&keys, &noted)
  }
}

extension NotedDictionary: Sequence {
  func makeIterator() -> Dictionary<Key, Value>.Iterator { entries.makeIterator() }
}

extension Array where Element: Hashable {
  /// Hands over its elements without repetitions, and removes them. It keeps its memory for the next few.
  mutating func takeDistinct(_ body: (Element) -> Void) {
    guard !isEmpty else { return }
    if count > 8 {
      for element in distinct { body(element) }
    } else {
      for index in indices where !self[..<index].contains(self[index]) { body(self[index]) }
    }
    removeAll(keepingCapacity: count <= 64)
  }

  /// Its elements without repetitions. An input changes few entries, and comparing few is faster than hashing them.
  var distinct: [Element] {
    guard count > 1 else { return self }
    guard count > 8 else {
      var found: [Element] = []
      found.reserveCapacity(count)
      for element in self where !found.contains(element) { found.append(element) }
      return found
    }
    return Array(Set(self))
  }
}
