/// Ids made of the numbers that a compositor gives its windows. A window keeps its id when the adapter is started again; a number
/// that the compositor uses once more makes another id.
struct NumberedIDs {
  /// That of a run of the compositor.
  private let token: String
  private let ids: WindowIDs
  /// Numbers of windows that have closed.
  private var used: Set<UInt64> = []
  /// Numbers up to this one count as used: the set does not grow for ever.
  private var floor: UInt64?
  /// How many numbers are remembered one by one.
  private let remembered: Int

  init(token: String, _ ids: WindowIDs, remembered: Int = 1 << 16) {
    self.token = token
    self.ids = ids
    self.remembered = remembered
  }

  /// The id of a window that has opened.
  func id(of number: UInt64) -> String {
    let id = "\(token)-\(number)"
    return used.contains(number) || floor.map { number <= $0 } == true ? "\(id)-\(ids.next())" : id
  }

  /// Notes that the window with that number has closed.
  mutating func close(_ number: UInt64) {
    used.insert(number)
    guard used.count > remembered else { return }
    floor = max(floor ?? 0, used.max() ?? 0)
    used = []
  }
}
