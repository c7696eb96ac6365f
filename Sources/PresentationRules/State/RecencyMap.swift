import DequeModule

/// A dictionary of limited size that drops the entries set longest ago (L1).
struct RecencyMap<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The largest number of entries.
  let limit: Int
  /// The largest number of bytes of all entries.
  let byteLimit: Int
  private var values: [Key: (value: Value, stamp: UInt64, bytes: Int)] = [:]
  private var bytes = 0
  /// Keys in the order of setting. An entry is out of date if its stamp differs from that of the value.
  private var order: Deque<(key: Key, stamp: UInt64)> = []
  private var lastStamp: UInt64 = 0
  private var noted = NotedKeys<Key>()

  init(limit: Int, byteLimit: Int = .max) {
    self.limit = limit
    self.byteLimit = byteLimit
  }

  var count: Int { values.count }

  subscript(key: Key) -> Value? { values[key]?.value }

  /// All keys and values, the oldest first.
  var inOrder: [(key: Key, value: Value)] {
    order.compactMap { entry in value(of: entry).map { (entry.key, $0) } }
  }

  /// All values, the newest first.
  var fromNewest: some Sequence<Value> { order.lazy.reversed().compactMap { value(of: $0) } }

  /// The value of an entry of `order`; nil if the entry is out of date.
  private func value(of entry: (key: Key, stamp: UInt64)) -> Value? {
    values[entry.key].flatMap { $0.stamp == entry.stamp ? $0.value : nil }
  }

  /// Sets a value as the newest. It is kept even if it exceeds the limit of bytes alone.
  /// - Returns: the dropped entries, the oldest first.
  mutating func set(_ key: Key, _ value: Value, bytes count: Int = 0) -> [(key: Key, value: Value)] {
    put(key, value, bytes: count, stamp: lastStamp + 1)
    var dropped: [(key: Key, value: Value)] = []
    while values.count > limit || bytes > byteLimit, values.count > 1, let oldest = order.popFirst() {
      guard let entry = values[oldest.key], entry.stamp == oldest.stamp else { continue }
      values[oldest.key] = nil
      bytes -= entry.bytes
      noted.note(oldest.key)
      dropped.append((oldest.key, entry.value))
    }
    return dropped
  }

  mutating func remove(_ key: Key) {
    guard let removed = values.removeValue(forKey: key) else { return }
    bytes -= removed.bytes
    noted.note(key)
  }

  /// Restores a value with its stamp, which has to be greater than all others.
  mutating func put(_ key: Key, _ value: Value, bytes count: Int = 0, stamp: UInt64) {
    lastStamp = stamp
    bytes += count - (values.updateValue((value, lastStamp, count), forKey: key)?.bytes ?? 0)
    order.append((key, lastStamp))
    noted.note(key)
    if order.count > 2 * values.count + 64 {
      order.removeAll { entry in values[entry.key]?.stamp != entry.stamp }
    }
  }

  /// Changes a value without changing its age or its counted bytes.
  mutating func modify(_ key: Key, _ change: (inout Value) -> Void) {
    guard values[key] != nil else { return }
    change(&values[key]!.value)
    noted.note(key)
  }

  /// A value and its stamp; the lowest stamp is the oldest.
  func stamped(_ key: Key) -> (value: Value, stamp: UInt64)? { values[key].map { ($0.value, $0.stamp) } }

  /// Whether there is a record. Without one, no write is noted.
  var isNoting: Bool {
    get { noted.isNoting }
    set { noted.isNoting = newValue }
  }

  mutating func noteAll() { noted.note(all: values.keys) }

  var hasNoted: Bool { !noted.isEmpty }

  /// Returns a row for each entry that was set or dropped since the last call; nil for an entry that was dropped.
  mutating func takeNoted<Row>(_ row: (Value, _ stamp: UInt64) -> Row?) -> RecordChanges.Rows<Key, Row> {
    noted.take { [values] key in values[key].flatMap { row($0.value, $0.stamp) } }
  }
}
