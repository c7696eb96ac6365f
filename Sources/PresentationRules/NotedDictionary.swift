// Why this file exists: what changed in a turn is to be put on record for the price of what changed (R1), and nothing may
// be forgotten; so the state's own storage notes what was written, instead of each place that writes.

/// A dictionary that knows which of its entries may be others than those on record.
struct NotedDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private var entries: [Key: Value] = [:]
  /// The keys that were written since they were last taken; one may stand there more than once.
  private var noted: [Key] = []
  /// Whether there is a record; without one nothing is noted.
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

  subscript(key: Key, default standard: @autoclosure () -> Value) -> Value {
    get { entries[key, default: standard()] }
    _modify {
      note(key)
      yield &entries[key, default: standard()]
    }
  }

  mutating func removeValue(forKey key: Key) -> Value? {
    note(key)
    return entries.removeValue(forKey: key)
  }

  func filter(_ isIncluded: ((key: Key, value: Value)) -> Bool) -> [Key: Value] { entries.filter(isIncluded) }
  func mapValues<Other>(_ transform: (Value) -> Other) -> [Key: Other] { entries.mapValues(transform) }

  /// Changes what of an entry is not on record, since it follows from other entries.
  mutating func modifyDerived(_ key: Key, _ body: (inout Value) -> Void) {
    guard entries[key] != nil else { return }
    body(&entries[key]!)
  }

  /// Most writes in a row are to one entry.
  private mutating func note(_ key: Key) {
    if isNoting, noted.last != key { noted.append(key) }
  }

  /// Notes all there is.
  mutating func noteAll() { noted = Array(entries.keys) }

  /// What was noted since this was last called.
  mutating func takeNoted() -> [Key] {
    guard !noted.isEmpty else { return [] }
    defer { noted.removeAll(keepingCapacity: noted.count < 64) }
    return noted.count == 1 ? noted : Array(Set(noted))
  }
}

extension NotedDictionary: Sequence {
  func makeIterator() -> Dictionary<Key, Value>.Iterator { entries.makeIterator() }
}
