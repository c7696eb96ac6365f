import DBusValues
import EventLoops
import Glibc
import NavigationTesting
import Observation
import TestSupport
import Testing

@testable import Navigation

@MainActor @Observable
private final class Shop: Navigable {
  struct Item: Codable, Hashable, Identifiable {
    var id: Int
    var count: Int
  }

  enum Tab: String, Codable { case home, orders }

  static let memberNames: MemberNames<Shop> = [
    \.tab: "tab", \.inner: "inner", \.edited: "edited", \.isHinted: "isHinted", \.path: "path", \.mixed: "mixed",
  ]

  var tab: Tab? = .home
  var inner: String?
  var edited: Item?
  var isHinted = false
  var path: [Int] = []
  var mixed = NavigationPath()
}

/// A program with a tab that is not shown, and another program on the bus.
@MainActor
private final class Tabbed {
  let fixture: NavigationFixture
  let model = Shop()
  /// Another program on the bus; the same one, if the coordinator is embedded.
  let other: Coordinator
  let orders: Presence

  init(_ kind: CoordinatorKind) async throws {
    fixture = try await NavigationFixture(kind)
    other =
      if let session = fixture.session { try await .bus(address: session.bus.address) } else { fixture.coordinator }
    let (navigator, display) = (fixture.navigator, fixture.display)
    @Bindable(.shared("shop")) var model = model
    let (edited, isHinted, path, mixed) = ($model.edited, $model.isHinted, $model.path, $model.mixed)
    let inner = $model.inner
    navigator.present(tag: .home, selection: $model.tab) { RecordingScreen("home", on: display) }
    orders = navigator.present(
      tag: .orders, selection: $model.tab,
      presenting: [
        .item(edited), .isPresented(isHinted), .path(path), .path(mixed, of: Int.self, String.self),
        .tag("recent", in: inner),
      ]
    ) {
      RecordingScreen("orders", on: display) { showing in
        showing.present(item: edited) { item in RecordingScreen("edit \(item.id)", on: display) }
        showing.present(isPresented: isHinted) { RecordingScreen("hint", on: display) }
        showing.present(tag: "recent", selection: inner) { RecordingScreen("recent", on: display) }
        let stack = showing.stack(path: path)
        stack.navigationDestination(for: Int.self) { id in RecordingScreen("order \(id)", on: display) }
        let mixedStack = showing.stack(path: mixed)
        mixedStack.navigationDestination(for: String.self) { RecordingScreen($0, on: display) }
        mixedStack.navigationDestination(for: Int.self) { RecordingScreen("\($0)", on: display) }
      }
    }
    try await fixture.shows("home")
    try await settle()
  }

  func settle() async throws { try await fixture.navigator.settle(within: Session.limit) }

  /// The whole state.
  var whole: String {
    "\(model.tab?.rawValue ?? "-") \(model.edited?.id ?? 0)/\(model.edited?.count ?? 0) \(model.path) \(model.isHinted) "
      + (model.inner ?? "-")
  }

  /// The bindings and ids that should be presented.
  var inView: [String] {
    guard let tab = model.tab else { return [] }
    var all = ["shop.tab.\(tab.rawValue) "]
    guard tab == .orders else { return all }
    if let edited = model.edited { all.append("shop.edited \(edited.id)") }
    if model.isHinted { all.append("shop.isHinted ") }
    if let inner = model.inner { all.append("shop.inner.\(inner) ") }
    all += model.path.enumerated().map { "shop.path[\($0)] \($1)" }
    return all.sorted()
  }

  var edit: PresentationOptions { PresentationOptions(value: ["count": .int64(5)]) }

  var ids: [Coordinator.PathItem] { [1, 2].map { Coordinator.PathItem(id: "\($0)") } }
}

/// State that is presented from a tab that was never shown, or is out of view, is served all the same (D20).
@MainActor struct HiddenTabTests {
  @Test("D20: one request selects a tab that was never shown, and opens what it presents", arguments: bothKinds)
  func apply_tabAndItems_areShown(kind: CoordinatorKind) async throws {
    let test = try await Tabbed(kind)
    var seen: [String] = []
    let observing = observe {
      seen.append("\(test.model.tab?.rawValue ?? "-") \(test.model.edited?.count ?? 0) \(test.model.path)")
    }
    defer { observing.cancel() }
    let (edit, ids) = (test.edit, test.ids)
    try await test.other.apply {
      $0.select("orders", in: "shop.tab")
      $0.setPath(ids, of: "shop.path")
      $0.present("shop.edited", id: "7", edit)
    }
    try await test.fixture.until { Set(test.fixture.display.names) == ["orders", "order 1", "order 2", "edit 7"] }
    #expect(seen == ["home 0 []", "orders 5 [1, 2]"])
    try await test.settle()
    let state = try await test.other.state()
    #expect(
      Set(state.presentations.map(\.binding))
        == ["shop.tab.orders", "shop.path[0]", "shop.path[1]", "shop.edited"])
    let tab = state.presentation(at: "shop.tab.orders")?.presentation
    #expect(state.presentation(at: "shop.edited")?.parent == tab)
    #expect(test.model.path == [1, 2] && test.model.edited == Shop.Item(id: 7, count: 5))
    // The state is the program's from here.
    try await test.other.dismiss("shop.edited")
    try await test.fixture.until { test.model.edited == nil }
    test.model.path = []
    try await test.fixture.shows("orders")
  }

  @Test(
    "D20: what is requested of a tab that is not selected waits in the state, and comes with the tab",
    arguments: bothKinds)
  func present_tabOutOfView_waits(kind: CoordinatorKind) async throws {
    let test = try await Tabbed(kind)
    func request() async throws {
      try await test.other.apply {
        $0.setPath([Coordinator.PathItem(id: "1")], of: "shop.path")
        $0.push("shop.path[1]", onto: "shop.path", id: "2")
        $0.push("shop.mixed[0]", onto: "shop.mixed", id: "Swift.String \"first\"")
        $0.present("shop.edited", id: "7", PresentationOptions(value: ["count": .int64(5)]))
        $0.present("shop.isHinted")
        $0.select("recent", in: "shop.inner")
      }
      try await test.fixture.until { test.model.edited != nil }
      #expect(test.model.path == [1, 2] && test.model.mixed == NavigationPath(["first"]))
      #expect(test.model.edited == Shop.Item(id: 7, count: 5) && test.model.isHinted && test.model.inner == "recent")
      try await test.settle()
      #expect(test.model.tab == .home && test.fixture.display.names == ["home"])
      #expect(try await test.other.state().presentations.map(\.binding) == ["shop.tab.home"])
      test.model.tab = .orders
      let all: Set = ["orders", "order 1", "order 2", "first", "edit 7", "hint", "recent"]
      try await test.fixture.until { Set(test.fixture.display.names) == all }
      try await test.settle()
    }
    try await request()
    // The same once the tab was shown.
    (test.model.edited, test.model.isHinted, test.model.inner) = (nil, false, nil)
    (test.model.path, test.model.mixed) = ([9], NavigationPath())
    try await test.fixture.until { Set(test.fixture.display.names) == ["orders", "order 9"] }
    test.model.tab = .home
    try await test.fixture.shows("home")
    try await test.settle()
    try await request()
  }

  @Test("D20: an ill-typed request of a tab that is not selected is refused, and nothing changes", arguments: bothKinds)
  func present_illTypedOutOfView_isRefused(kind: CoordinatorKind) async throws {
    let test = try await Tabbed(kind)
    func refusal(_ body: () async throws(NavigationError) -> Void) async -> String? {
      do throws(NavigationError) { try await body() } catch {
        if case .refused(let refusal) = error { return refusal.message }
      }
      return nil
    }
    let found = [
      await refusal { () async throws(NavigationError) in
        try await test.other.present("shop.edited", id: "7", PresentationOptions(value: ["count": .string("many")]))
      },
      await refusal { () async throws(NavigationError) in
        try await test.other.push("shop.path[0]", onto: "shop.path", id: "one")
      },
      await refusal { () async throws(NavigationError) in
        try await test.other.push("shop.path[1]", onto: "shop.path", id: "1")
      },
    ]
    #expect(
      found == [
        "“shop.edited”: expected count: Int, found “many”", "“shop.path[0]”: expected an id: Int, found “one”",
        "“shop.path[1]” is not the next element of “shop.path”; expected “shop.path[0]”",
      ])
    try await test.settle()
    #expect(test.model.edited == nil && test.model.path.isEmpty)
  }

  @Test("D20: a tab that has ended serves nothing any more", arguments: bothKinds)
  func present_endedTab_isNotServed(kind: CoordinatorKind) async throws {
    let test = try await Tabbed(kind)
    func serves() async throws -> Bool {
      try await test.other.destinations().values.contains { $0.serves?["shop.edited"] != nil }
    }
    #expect(try await serves())
    test.orders.cancel()
    try await poll { try await !serves() }
  }

  @Test(
    "D20: a tab that goes before what was requested of it has appeared leaves that in the state", arguments: bothKinds)
  func dismiss_tabBeforeItsItems_keepsTheState(kind: CoordinatorKind) async throws {
    let test = try await Tabbed(kind)
    let edit = test.edit
    test.fixture.display.slow = ["orders"]
    try await test.other.apply {
      $0.select("orders", in: "shop.tab")
      $0.present("shop.edited", id: "7", edit)
    }
    try await test.fixture.until { test.model.edited?.id == 7 }
    try await test.other.select("home", in: "shop.tab")
    test.fixture.display.slow = []
    try await test.fixture.shows("home")
    try await test.settle()
    #expect(test.model.edited?.id == 7)
    test.model.tab = .orders
    try await test.fixture.shows("orders", "edit 7")
  }

  @Test(
    "D20: what is requested of a tab that the same request leaves is in its state, in any order", arguments: bothKinds,
    [true, false])
  func apply_thatLeavesTheTab_waits(kind: CoordinatorKind, isSelectedFirst: Bool) async throws {
    let test = try await Tabbed(kind)
    let (model, edit) = (test.model, test.edit)
    (model.tab, model.path, model.edited) = (.orders, [2, 1, 2], Shop.Item(id: 9, count: 1))
    try await test.fixture.until { test.fixture.display.names.count == 5 }
    try await test.settle()
    try await test.other.apply {
      if isSelectedFirst { $0.select("home", in: "shop.tab") }
      $0.present("shop.edited", id: "2", edit)
      $0.setPath([Coordinator.PathItem(id: "2")], of: "shop.path")
      if !isSelectedFirst { $0.select("home", in: "shop.tab") }
    }
    try await test.fixture.shows("home")
    try await test.settle()
    #expect(model.tab == .home && model.path == [2] && model.edited == Shop.Item(id: 2, count: 5))
    #expect(try await test.other.state().presentations.map(\.binding) == ["shop.tab.home"])
    #expect(try await test.other.destinations().values.contains { $0.serves?["shop.path"] != nil })
    model.tab = .orders
    try await test.fixture.until { Set(test.fixture.display.names) == ["orders", "order 2", "edit 2"] }
  }

  /// The number of random requests: some seconds of them in `make test`, and minutes in `make fuzz`.
  private static let steps = getenv("NAVD_TEST_SERVED_REQUESTS").flatMap { Int(String(cString: $0)) } ?? 150

  @Test(
    "C8, D20: after random requests of another program and changes of its own, state in view and out of view, screens and coordinator agree",
    arguments: bothKinds)
  func fuzz_tabs_allAgree(kind: CoordinatorKind) async throws {
    let test = try await Tabbed(kind)
    let (model, seed) = (test.model, SeededNumbers.chosenSeed)
    var numbers = SeededNumbers(seed: seed)
    for step in 0..<Self.steps {
      let before = test.whole
      // The step in words, for messages of failures.
      var done = "changed its state"
      var refusal: CoordinatorError?
      var isWritten: (() -> Bool)?
      do throws(NavigationError) {
        let id = numbers.pick(["1", "2", "x", ""])
        let count: Value = numbers.chance(0.8) ? .int64(5) : .string("many")
        let options = PresentationOptions(value: ["count": count])
        let ids = (0..<Int.random(in: 1..<4, using: &numbers)).map { _ in numbers.pick(["1", "2", "1", "x"]) }
        let path = ids.map { Coordinator.PathItem(id: $0) }
        let tag = numbers.pick(["home", "orders", "orders", "none"])
        switch Int.random(in: 0..<13, using: &numbers) {
        case 0, 1:
          done = "select \(tag)"
          try await test.other.select(tag, in: "shop.tab")
          isWritten = { model.tab?.rawValue == tag }
        case 2, 3:
          done = "edit \(id) \(count)"
          try await test.other.present("shop.edited", id: id, options)
          isWritten = { model.edited == Shop.Item(id: Int(id) ?? 0, count: 5) }
        case 4:
          try await test.other.present("shop.isHinted", id: numbers.chance(0.8) ? "" : "1")
          isWritten = { model.isHinted }
        case 5:
          let index = Int.random(in: 0..<2, using: &numbers)
          done = "push [\(index)] \(id)"
          try await test.other.push("shop.path[\(index)]", onto: "shop.path", id: id)
          isWritten = { model.path.count == index + 1 && model.path[index] == Int(id) }
        case 6:
          done = "set path \(ids)"
          try await test.other.setPath(path, of: "shop.path")
          isWritten = { model.path == ids.compactMap { Int($0) } }
        case 7, 8:
          let isSelectedFirst = numbers.chance(0.5)
          done = "select \(tag) \(isSelectedFirst ? "before" : "after") edit \(id) \(count), set path \(ids)"
          try await test.other.apply {
            if isSelectedFirst { $0.select(tag, in: "shop.tab") }
            $0.present("shop.edited", id: id, options)
            $0.setPath(path, of: "shop.path")
            if !isSelectedFirst { $0.select(tag, in: "shop.tab") }
          }
          isWritten = {
            model.tab?.rawValue == tag && model.edited?.id == Int(id) && model.path == ids.compactMap { Int($0) }
          }
        case 9: try await test.other.dismiss(numbers.pick(["shop.edited", "shop.path[0]", "shop.isHinted"]))
        case 10:
          try await test.other.select(numbers.pick(["recent", "none"]), in: "shop.inner")
          isWritten = { model.inner == "recent" }
        case 11: _ = try await test.other.toggle("shop.isHinted")
        default:
          // The program goes on itself.
          switch Int.random(in: 0..<5, using: &numbers) {
          case 0: model.tab = numbers.pick([nil, .home, .orders])
          case 1: model.edited = numbers.pick([nil, Shop.Item(id: 9, count: 1)])
          case 2: model.path = numbers.pick([[], [7], [7, 8]])
          case 3: model.inner = numbers.pick([nil, "recent"])
          default: model.isHinted.toggle()
          }
        }
      } catch {
        guard case .refused(let error) = error else { throw error }
        refusal = error
      }
      try await test.settle()
      if let refusal {
        #expect(test.whole == before, "seed \(seed), step \(step): \(refusal)")
      } else if let isWritten {
        #expect(isWritten(), "seed \(seed), step \(step), \(done): \(before) became \(test.whole)")
      }
      let held = try await test.other.state().presentations.map { "\($0.binding) \($0.id)" }.sorted()
      #expect(held == test.inView, "seed \(seed), step \(step), \(done): \(before) became \(test.whole)")
      #expect(test.fixture.display.names.count == test.inView.count, "seed \(seed), step \(step)")
      let served = try await test.other.destinations().values.contains { $0.serves?["shop.path"] != nil }
      #expect(served, "seed \(seed), step \(step), \(done): \(before) became \(test.whole)")
      // The first difference is the one to mend.
      if held != test.inView || test.fixture.display.names.count != test.inView.count || !served { break }
    }
  }
}
