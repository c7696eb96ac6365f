import PresentationModel

/// The windows of the window system, by their ids and by other properties that are looked up. So no event needs a search through
/// thousands of windows.
struct TrackedWindows: Sequence {
  private(set) var byID: [String: TrackedWindow] = [:]
  /// The windows of programs that navd did not start, by their startup ids.
  private var byStartupID: [String: Set<String>] = [:]
  /// The windows with the focus that are fullscreen.
  private(set) var focusedFullscreen: Set<String> = []

  var count: Int { byID.count }
  var keys: Dictionary<String, TrackedWindow>.Keys { byID.keys }

  func makeIterator() -> Dictionary<String, TrackedWindow>.Iterator { byID.makeIterator() }

  func filter(_ isIncluded: ((key: String, value: TrackedWindow)) -> Bool) -> [String: TrackedWindow] {
    byID.filter(isIncluded)
  }

  subscript(id: String) -> TrackedWindow? {
    get { byID[id] }
    set {
      let former = byID[id]
      byID[id] = newValue
      let (before, now) = (former?.properties, newValue?.properties)
      if isFocusedFullscreen(now) { focusedFullscreen.insert(id) } else { focusedFullscreen.remove(id) }
      guard before?.startupID != now?.startupID else { return }
      if let startupID = before?.startupID {
        byStartupID[startupID]?.remove(id)
        if byStartupID[startupID]?.isEmpty == true { byStartupID[startupID] = nil }
      }
      if let startupID = now?.startupID, newValue?.process?.program == nil {
        byStartupID[startupID, default: []].insert(id)
      }
    }
  }

  mutating func removeValue(forKey id: String) -> TrackedWindow? {
    defer { self[id] = nil }
    return byID[id]
  }

  /// Whether a window of a program that navd did not start has opened before another one, with the same startup id.
  func hasEarlier(withStartupID startupID: String, than order: UInt64) -> Bool {
    byStartupID[startupID]?.contains { byID[$0]!.order < order } == true
  }

  private func isFocusedFullscreen(_ properties: WindowProperties?) -> Bool {
    properties?.focused == true && properties?.fullscreen == true
  }
}
