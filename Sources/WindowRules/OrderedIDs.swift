/// The ids of windows, each once, in the order in which they were appended. To find or remove one takes constant time.
struct OrderedIDs: Sequence {
  /// The ids; nil in place of a removed one.
  private var places: [String?] = []
  private var indices: [String: Int] = [:]
  private var firstIndex = 0

  init() {}

  init(_ ids: some Sequence<String>) { for id in ids { append(id) } }

  var isEmpty: Bool { indices.isEmpty }
  var first: String? { isEmpty ? nil : places[firstIndex...].lazy.compactMap(\.self).first }
  var last: String? { places.last ?? nil }

  func makeIterator() -> AnyIterator<String> { AnyIterator(places.lazy.compactMap(\.self).makeIterator()) }

  func contains(_ id: String) -> Bool { indices[id] != nil }

  mutating func append(_ id: String) {
    guard indices[id] == nil else { return }
    indices[id] = places.count
    places.append(id)
  }

  mutating func remove(_ id: String) {
    guard let index = indices.removeValue(forKey: id) else { return }
    places[index] = nil
    while places.last == .some(nil) { places.removeLast() }
    if isEmpty { firstIndex = 0 }
    while firstIndex < places.count, places[firstIndex] == nil { firstIndex += 1 }
    guard places.count > 2 * indices.count + 16 else { return }
    self = OrderedIDs(self)
  }
}
