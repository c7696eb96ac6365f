import Glibc
import TestSupport
import Testing

// Random requests of navctl to the example Inventory, well and ill typed.

/// The state of the example, as whoever sends the requests expects it.
private struct ExpectedState {
  private static let saved = ["1": ["name=Hammer", "count:=2"], "2": ["name=Saw", "count:=1"]]

  private(set) var tab = "items"
  private var path: [String] = []
  /// The case of the destination, and its id.
  private var destination = ""

  /// The bindings and ids that are presented.
  var presented: [String] {
    (tab == "items" ? path.enumerated().map { "path[\($0)] \($1)" } : [])
      + (destination.isEmpty ? [] : ["destination.\(destination)"])
  }

  var windows: [String] { destination.hasPrefix("edit") ? ["Inventory", "Item"] : ["Inventory"] }

  /// Makes a random request, and changes the state if it is to be accepted.
  /// - Returns: the words of navctl, and whether the request is to be accepted.
  mutating func ask(_ numbers: inout SeededNumbers) -> (words: [String], isAccepted: Bool) {
    let id = numbers.pick(["1", "2", "two", ""])
    let isItem = Self.saved[id] != nil
    switch Int.random(in: 0..<8, using: &numbers) {
    case 0, 1:
      let tag = numbers.pick(["items", "totals", "none"])
      if tag != "none" { tab = tag }
      return (["select", "inventory.tab", tag], tag != "none")
    case 2, 3:
      // A path that is out of view is replaced.
      let height = tab == "items" ? path.count : 0
      let index = numbers.chance(0.8) ? height : height + 1
      let isAccepted = isItem && index == height
      if isAccepted { path = path.prefix(height) + [id] }
      return (["push", "inventory.path", "inventory.path[\(index)]", id], isAccepted)
    case 4:
      let ids = (0..<Int.random(in: 0..<4, using: &numbers)).map { _ in numbers.pick(["1", "2", "1", "2", "x"]) }
      let isAccepted = !ids.contains("x")
      // navd has no path of a tab that is out of view, which it could end.
      if isAccepted, tab == "items" || !ids.isEmpty { path = ids }
      return (["set-path", "inventory.path"] + ids.enumerated().map { "inventory.path[\($0)]=\($1)" }, isAccepted)
    case 5:
      var value = Self.saved[id] ?? ["name=Axe", "count:=1"]
      if numbers.chance(0.2) { value.removeLast() }
      if numbers.chance(0.2) { value.append("count=many") }
      let isAccepted = Self.saved[id] == value
      if isAccepted { destination = "edit \(id)" }
      return (["present", "inventory.destination.edit", id] + value.flatMap { ["--value", $0] }, isAccepted)
    case 6:
      let hasID = numbers.chance(0.3)
      if !hasID { destination = "help " }
      return (["present", "inventory.destination.help"] + (hasID ? ["3"] : []), !hasID)
    default:
      // There may be nothing to end.
      if numbers.chance(0.5) {
        if tab == "items" { path = path.dropLast() }
        return (["pop", "inventory.path"], true)
      }
      let name = numbers.pick(["edit", "help"])
      if destination.hasPrefix(name) { destination = "" }
      return (["dismiss", "inventory.destination.\(name)"], true)
    }
  }
}

/// How many requests are sent: `NAVD_TEST_INVENTORY_REQUESTS`. `make check-gtk` sends thousands, which takes minutes.
private let requestCount = getenv("NAVD_TEST_INVENTORY_REQUESTS").flatMap { Int(String(cString: $0)) } ?? 40

@Test("After each random request of navctl, the example, its windows and navd agree, or the request was refused")
func inventory_randomRequests_agreeOrAreRefused() throws {
  let inventory = try Inventory()
  let seed = SeededNumbers.chosenSeed
  var numbers = SeededNumbers(seed: seed)
  var expected = ExpectedState()
  for step in 0..<requestCount {
    let (words, isAccepted) = expected.ask(&numbers)
    let refusal = try inventory.navctl(words)
    #expect((refusal == nil) == isAccepted, "seed \(seed), step \(step): \(words): \(refusal ?? "accepted")")
    do {
      try inventory.wait(presented: expected.presented, tab: expected.tab)
      try inventory.session.poll("the windows are \(expected.windows)") { inventory.program.titles == expected.windows }
    } catch {
      throw Session.Failure("seed \(seed), step \(step): \(words)\n\(error)")
    }
  }
  #expect(inventory.program.complaints == [])
}
