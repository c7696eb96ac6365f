/// Ids made of the numbers that a compositor gives to its windows. A window keeps its id when the adapter is restarted. A number that
/// the compositor uses once more gets another id.
struct NumberedIDs {
  /// The name of a run of the compositor.
  private let token: String
  private let ids: WindowIDs
  /// The numbers of closed windows.
  private var used: Set<UInt64> = []
  /// The number up to which all numbers count as used, so that the set stays small.
  private var floor: UInt64?
  /// Cap of the numbers in the set.
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

  /// Notes that the window with a number has closed.
  mutating func close(_ number: UInt64) {
    used.insert(number)
    guard used.count > remembered else { return }
    floor = max(floor ?? 0, used.max() ?? 0)
    used = []
  }
}
