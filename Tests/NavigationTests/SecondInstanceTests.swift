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
    var name: String
  }

  static let memberNames: MemberNames<Shop> = [
    \.isOpen: "isOpen", \.item: "item", \.tab: "tab", \.path: "path", \.items: "items", \.mixed: "mixed",
    \.elsewhere: "elsewhere",
  ]

  var isOpen = false
  var item: Item?
  var tab: String?
  var path: [Int] = []
  var items: [Item] = []
  var mixed = NavigationPath()
  /// Presented by nobody.
  var elsewhere = false

  /// The state as a line.
  var line: String { "\(isOpen) \(item?.name ?? "-") \(tab ?? "-") \(path) \(items.map(\.id)) \(mixed.count)" }
}

/// One of several instances of a program.
@MainActor
private final class Instance {
  let navigator: Navigator
  let model = Shop()
  let display = Display()
  let shop: Bindable<Shop>

  init(_ coordinator: Coordinator) async throws {
    navigator = Navigator(coordinator, startTimeout: Session.limit, grace: Session.limit)
    shop = Bindable(model, .shared("shop"))
    let (display, shop) = (display, shop)
    navigator.present(isPresented: shop.isOpen) {
      RecordingScreen("shop", on: display) { window in
        window.present(item: shop.item) { item in RecordingScreen(item.wrappedValue.name, on: display) }
      }
    }.onDismiss(display.end)
    for tag in ["list", "map"] {
      navigator.present(tag: tag, selection: shop.tab) { RecordingScreen(tag, on: display) }
    }
    navigator.stack(path: shop.path).navigationDestination(for: Int.self) { RecordingScreen("\($0)", on: display) }
    navigator.stack(path: shop.items).navigationDestination(for: Shop.Item.self) {
      RecordingScreen($0.name, on: display)
    }
    navigator.stack(path: shop.mixed).navigationDestination(for: Int.self) {
      RecordingScreen("mixed \($0)", on: display)
    }
    try await navigator.settle(within: Session.limit)
  }

  /// A link to everything.
  var link: [DeepLink] {
    [
      .isPresented(shop.isOpen), .item(.init(id: 3, name: "Saw"), in: shop.item), .tag("map", in: shop.tab),
      .path([1, 2], in: shop.path), .path([.init(id: 4, name: "Axe")], in: shop.items),
      .path(NavigationPath([5]), in: shop.mixed),
    ]
  }
}

/// A program of which an instance runs already: it finds that out, hands over what it was to open, and ends.
@Suite @MainActor struct SecondInstanceTests {
  /// Two instances on one navd. The first one shows its window.
  private func instances() async throws -> (fixture: NavigationFixture, first: Instance, second: Instance) {
    let fixture = try await NavigationFixture(.navd)
    let session = try #require(fixture.session)
    let first = try await Instance(.bus(address: session.bus.address))
    first.model.isOpen = true
    try await fixture.until { first.display.names == ["shop"] }
    return (fixture, first, try await Instance(.bus(address: session.bus.address)))
  }

  @Test("D18: a second instance finds out that the first one shows its state, and the first one that nobody else does")
  func isShownElsewhere_isTrueForTheSecond() async throws {
    let (fixture, first, second) = try await instances()
    for (instance, isElsewhere) in [(first, false), (second, true)] {
      #expect(try await instance.navigator.isShownElsewhere(instance.shop.isOpen) == isElsewhere)
      #expect(try await instance.navigator.isShownElsewhere(instance.shop.tab) == isElsewhere)
      #expect(try await instance.navigator.isShownElsewhere(instance.shop.path) == isElsewhere)
      #expect(try await instance.navigator.isShownElsewhere(instance.shop.elsewhere) == false)
    }
    await first.navigator.coordinator.close()
    try await fixture.state { $0.presentations.isEmpty }
    #expect(try await second.navigator.isShownElsewhere(second.shop.isOpen) == false)
  }

  @Test("D18: a deep link of a second instance is one change of the first one, and none of its own")
  func open_bySecond_changesTheFirst() async throws {
    let (fixture, first, second) = try await instances()
    var seen: [String] = []
    let observing = observe { seen.append(first.model.line) }
    defer { observing.cancel() }
    #expect(try await second.navigator.open(second.link))
    try await fixture.until { Set(first.display.names) == ["shop", "Saw", "map", "1", "2", "Axe", "mixed 5"] }
    #expect(seen == ["true - - [] [] 0", "true Saw map [1, 2] [4] 1"])
    #expect(second.model.line == "false - - [] [] 0" && second.display.log == [])
    try await second.navigator.settle(within: Session.limit)
    await second.navigator.waitUntilAllGone()
  }

  @Test("A deep link is set here, if no other program shows the state", arguments: bothKinds)
  func open_byTheOnlyOne_setsItsState(kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    let instance = try await Instance(fixture.coordinator)
    #expect(try await instance.navigator.open(instance.link) == false)
    #expect(instance.model.line == "true Saw map [1, 2] [4] 1")
    try await fixture.until {
      Set(instance.display.names) == ["shop", "Saw", "map", "1", "2", "Axe", "mixed 5"]
    }
  }

  @Test("A deep link to what the first instance does not serve is refused, and sets nothing")
  func open_unserved_isRefused() async throws {
    let (fixture, first, second) = try await instances()
    let error = await #expect(throws: NavigationError.self) {
      try await second.navigator.open([.tag("map", in: second.shop.tab), .isPresented(second.shop.elsewhere)])
    }
    #expect(error?.refusal == .unknownDestination)
    #expect(first.model.line == "true - - [] [] 0" && second.model.line == "false - - [] [] 0")
    #expect(fixture.display.log == [])
  }

  @Test("D18: a window of a second instance is refused, and its end is told with the reason")
  func present_bySecond_endsAsFailed() async throws {
    let (fixture, first, second) = try await instances()
    var refusals: [String] = []
    second.navigator.onRefused = { refusals.append("\($0)") }
    second.model.isOpen = true
    await second.navigator.waitUntilAllGone()
    #expect(!second.model.isOpen && second.display.ends == [.failed] && second.display.log == [])
    #expect(refusals == ["Busy: another program shows “shop.isOpen” already"])
    #expect(second.display.errors == refusals)
    try await fixture.until { first.display.names == ["shop"] }
  }

  @Test("A program goes on until its last screen is really gone, and not only while it asks", arguments: bothKinds)
  func waitUntilAllGone_whileAScreenAsks_waits(kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    let instance = try await Instance(fixture.coordinator)
    let (model, display) = (instance.model, instance.display)
    await instance.navigator.waitUntilAllGone()
    model.isOpen = true
    let end = Task {
      await instance.navigator.waitUntilAllGone(); display.log.append("end")
    }
    try await fixture.until { display.names == ["shop"] }
    try await fixture.isPresented()
    display.asking = ["shop"]
    display.declining = ["shop"]
    model.isOpen = false
    try await fixture.until { display.disappearing == ["shop"] }
    try await instance.navigator.settle(within: Session.limit)
    display.asking = []
    try await fixture.until { model.isOpen }
    try await fixture.isPresented()
    display.declining = []
    display.stuck = ["shop"]
    model.isOpen = false
    try await fixture.until { display.disappearing == ["shop", "shop"] }
    await instance.navigator.settle()
    #expect(display.log == ["+shop"])
    display.stuck = []
    await end.value
    #expect(display.log == ["+shop", "-shop", "end"])
  }

  @Test("A screen that stays when the bus ends keeps its program until its user closes it")
  func waitUntilAllGone_afterTheBus_waitsForTheUser() async throws {
    let fixture = try await NavigationFixture(.navd)
    let session = try #require(fixture.session)
    let instance = try await Instance(fixture.coordinator)
    let display = instance.display
    instance.model.isOpen = true
    try await fixture.until { display.names == ["shop"] }
    try await fixture.isPresented()
    display.declining = ["shop"]
    let end = Task {
      await instance.navigator.waitUntilAllGone(); display.log.append("end")
    }
    kill(session.bus.processID, SIGKILL)
    try await fixture.until { !instance.model.isOpen && display.disappearing == ["shop"] }
    try await instance.navigator.settle(within: Session.limit)
    #expect(display.log == ["+shop"])
    try await display["shop"]?.close()
    await end.value
    #expect(display.log == ["+shop", "xshop", "end"])
  }
}
