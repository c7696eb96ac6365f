import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

/// Requests for items whose parents are out of view, such as those of a tab that is not selected: their program keeps them (D20).
@Suite struct WaitingItemTests {
  private let fixture = RulesFixture()

  init() throws {
    try fixture.register(
      Destination(name: "app", presenter: .bus(name: ":1.7", path: "/app"), source: .client("app")), by: "app")
    let tab: Properties = ["from": .string("shop.tab.list"), "waits": .boolean(true)]
    let declared: [String: Properties] = [
      "shop.tab.list": ["group": .string("shop.tab")],
      "shop.tab.totals": ["group": .string("shop.tab")],
      "shop.item": tab.merging([
        "id": .string("Int"), "identity": .string("id"), "value": .string("{count: Int, id: Int}"),
      ]) { $1 },
      "shop.path": tab.merging(["elements": .boolean(true), "id": .string("Int")]) { $1 },
      "shop.hint": ["from": .string("shop.tab.list")],
    ]
    let served = try declared.sorted { $0.key < $1.key }.map { binding, entry in
      (try BindingID(binding), Optional(try ServedBinding(ServedEntry(entry))))
    }
    fixture.take(try fixture.machine.serve("app", served, by: "app").outcome)
    try select("totals")
    _ = fixture.taken()
  }

  private func select(_ tag: String) throws {
    try fixture.ask(.select("shop.tab", tag: tag, binding: nil, id: nil, ItemOptions()))
  }

  private func present(_ id: String, count: Int64 = 1) -> Request.Operation {
    .present("shop.item", id: id, .with(value: ["count": .int64(count)]))
  }

  private func path(_ ids: [String]) -> Request.Operation {
    .setPath("shop.path", ids.map { RequestedElement(binding: nil, id: $0, options: ItemOptions()) })
  }

  @Test("D20: an item of a tab that is not selected is told to its program, complete, and nothing is presented")
  func present_parentOutOfView_isTold() throws {
    #expect(try fixture.ask(present("3")) == .presentation(nil, changed: false))
    let told = fixture.changes.last?.event
    #expect(
      told
        == .requested([
          RequestedItem(
            binding: "shop.item", id: "3", destination: "app", value: ["id": .int64(3), "count": .int64(1)])
        ]))
    #expect(fixture.shown == ["shop.tab.totals"])
  }

  @Test("D20, P15: SetPath with force, while its tab is not selected, tells the program the path, and forces nothing")
  func setPath_forcedOutOfView_isTold() throws {
    #expect(try fixture.ask(path(["1", "2"]), isForced: true) == .path([nil, nil]))
    #expect(fixture.taken() == ["requested shop.path[0] 1 shop.path[1] 2"])
  }

  @Test("D20: an ill-typed item of a tab that is not selected is refused, with what was expected")
  func present_illTypedOutOfView_isRefused() throws {
    #expect(
      fixture.refusal(of: .present("shop.item", id: "3", .with(value: ["count": .string("many")])))?.message
        == "“shop.item”: expected count: Int, found “many”")
    #expect(
      fixture.refusal(of: path(["1", "x"]))?.message == "element 1: “shop.path[1]”: expected an id: Int, found “x”")
    #expect(
      fixture.refusal(of: .push("shop.path", "shop.path[1]", id: "1", ItemOptions()))?.message
        == "“shop.path[1]” is not the next element of “shop.path”; expected “shop.path[0]”")
    #expect(fixture.taken().isEmpty)
  }

  @Test("D20: a program that declares no waiting is asked for nothing whose parent is not there")
  func present_withoutWaiting_isRefused() throws {
    #expect(fixture.refusal(of: .present("shop.hint", id: "", ItemOptions()))?.code == .notPresented)
  }

  @Test("D20: a transaction tells everything at once, in the order of its requests")
  func apply_outOfView_isToldOnce() throws {
    try fixture.apply([Request(path(["1", "2"])), Request(present("3"))])
    #expect(fixture.taken() == ["requested shop.path[0] 1 shop.path[1] 2 shop.item 3"])
  }

  @Test("D20: a transaction that selects the tab presents from it")
  func apply_withTheTab_isPresented() throws {
    try fixture.apply([
      Request(.select("shop.tab", tag: "list", binding: nil, id: nil, ItemOptions())), Request(path(["1"])),
      Request(present("3")),
    ])
    #expect(!fixture.taken().contains { $0.hasPrefix("requested") })
    #expect(fixture.item("shop.item")?.id == "3")
    #expect(fixture.parent("shop.item") == fixture.handle("shop.tab.list"))
  }

  @Test("D20: a transaction that deselects the tab and requests its items leaves these to the program, in any order")
  func apply_thatDeselectsTheTab_isTold() throws {
    let leave = Request(.select("shop.tab", tag: "totals", binding: nil, id: nil, ItemOptions()))
    func test(_ requests: [Request], _ told: String) throws {
      try select("list")
      try fixture.apply([Request(path(["1", "2"])), Request(present("3"))])
      _ = fixture.taken()
      try fixture.apply(requests)
      #expect(fixture.taken().filter { $0.hasPrefix("requested") } == ["requested \(told)"])
      #expect(fixture.shown == ["shop.tab.totals"])
    }
    // The beginning of the path and the item are there already.
    try test([leave, Request(path(["1"])), Request(present("3"))], "shop.item 3 shop.path[0] 1")
    try test([Request(path(["1"])), Request(present("3")), leave], "shop.item 3 shop.path[0] 1")
    try test([leave, Request(path(["1", "4"])), Request(present("5"))], "shop.item 5 shop.path[0] 1 shop.path[1] 4")
    try test([Request(path(["1", "4"])), Request(present("5")), leave], "shop.item 5 shop.path[0] 1 shop.path[1] 4")
    try test([Request(.push("shop.path", "shop.path[2]", id: "6", ItemOptions())), leave], "shop.path[2] 6")
  }
}
