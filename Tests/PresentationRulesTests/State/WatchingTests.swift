import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

/// Events for watchers: every difference is announced once, in order, with a serial (W1, W2).
@Suite struct WatchingTests {
  let fixture = RulesFixture()

  @Test("W1: every difference is one event with a serial, one more than the last")
  func changes_serials_noHoles() throws {
    try fixture.show("a", "1", .with(to: "bus", group: "g", stack: "s"))
    try fixture.present("b", "1", .with(group: "g", ifBusy: .queue))
    try fixture.present("a", "1", .with(title: "T"))
    try fixture.act(1, "ok", byPresenter: true)
    try fixture.present("a", "2", .with(to: "cmd"))
    fixture.goes(1)
    fixture.shows(3)
    fixture.ends(3)
    #expect(fixture.changes.map(\.serial.number) == Array(1...UInt64(fixture.changes.count)))
    #expect(fixture.machine.serial == fixture.changes.last?.serial)
    try fixture.clearAway()
  }

  @Test("W1: an event has the binding, the id, the handle, the item and the reason")
  func changes_carryWhole() throws {
    try fixture.present("a", "1", .with(to: "bare", value: ["x": .byte(1)], title: "T"))
    let item = try #require(fixture.item("a"))
    try fixture.present("a", "1", .with(title: "U"))
    let later = try #require(fixture.item("a"))
    try fixture.dismiss("a")
    #expect(
      fixture.changes.map(\.event) == [
        .presented(1, "a", id: "1", item), .updated(1, "a", id: "1", later, before: item),
        .dismissed(1, "a", id: "1", .dismissed, result: [:]),
      ])
  }

  @Test("W1: watchers see each property that an item has, and no other")
  func item_described_hasWhatItHas() throws {
    let options = ItemOptions.with(
      to: "cmd", value: ["v": .int32(1)], style: "sheet", title: "T", output: "left", group: "g", tag: "t", stack: "s")
    try fixture.present("a", "1", options)
    var properties: Properties = [:]
    try #require(fixture.item("a")).describe(in: &properties)
    #expect(
      properties == [
        "value": .properties(["v": .int32(1)]), "container-values": .properties([:]), "style": .string("sheet"),
        "title": .string("T"), "output": .string("left"), "destination": .string("cmd"), "group": .string("g"),
        "tag": .string("t"), "stack": .string("s"),
      ])
    try fixture.present("b")
    properties = [:]
    try #require(fixture.item("b")).describe(in: &properties)
    #expect(properties == ["value": .properties([:]), "container-values": .properties([:])])
    try fixture.clearAway()
  }

  @Test("P7: an item of which a request says nothing but its id has nothing else")
  func item_ofIDAlone_hasNothingElse() throws {
    try fixture.present("a", "1")
    #expect(fixture.item("a")?.content == Item(id: "1"))
    try fixture.clearAway()
  }

  @Test("W1: phases are announced only if the change is not immediate")
  func phases_onlyWhereNotAtOnce() throws {
    try fixture.present("a", "1")
    try fixture.present("a", "2")
    try fixture.dismiss("a")
    #expect(fixture.taken().allSatisfy { $0.hasPrefix("presented") || $0.hasPrefix("dismissed") })
    try fixture.present("b", "", .with(to: "cmd"))
    try fixture.present("b.c")
    try fixture.present("b.d", "", .with(to: "cmd"))
    #expect(fixture.taken() == ["presenting b", "present 3 b", "waiting b.c", "waiting b.d"])
    fixture.shows(3)
    #expect(fixture.taken() == ["presented b", "presented b.c", "presenting b.d", "present 5 b.d"])
    try fixture.clearAway()
  }

  @Test("W1: the end of every presentation is announced, shown or not")
  func dismissed_neverShown_told() throws {
    try fixture.show("a", "1")
    for id in ["2", "3", "4"] { try fixture.present("a", id, .with(to: "cmd")) }
    try fixture.clearAway()
    let ended = fixture.changes.compactMap { change -> Handle? in
      if case .dismissed(let handle, _, _, _, _) = change.event { handle } else { nil }
    }
    #expect(ended.sorted() == [1, 2, 3, 4])
  }

  @Test("W1: a request for the present state makes no change and has no serial")
  func requests_nothingNew_noEvent() throws {
    try fixture.present("a", "1", .with(group: "g", stack: "s"))
    try fixture.present("b", "1", .with(group: "g", ifBusy: .queue))
    let serial = fixture.machine.serial
    for operation: Request.Operation in [
      .present("a", id: "1", .with(group: "g", stack: "s")), .present("b", id: "1", .with(ifBusy: .queue)),
      .dismiss("c"), .deselect("g", tag: "b"), .deselect("h", tag: nil),
      .select("g", tag: "a", binding: nil, id: nil, .with()),
      .push("s", "a", id: "1", .with()), .pop("s", count: 0), .popTo("s", "a"), .setPath("s", [.at("a", "1")]),
      .setPath("r", []), .pop("r", count: 3), .popTo("r", nil), .dismissAll(.root("c")), .dismissAll(.group("h")),
      .dismissAll(.stack("r")), .update("a", value: [:], remove: ["x"], containerValues: [:], timeout: nil),
    ] {
      try fixture.ask(operation)
      #expect(fixture.machine.serial == serial, "\(operation)")
    }
    #expect(fixture.taken().count == 6)
    try fixture.clearAway()
  }

  @Test("W1: registering a destination that declares a tag tells the group's tags, once")
  func register_declaresTag_groupTold() throws {
    try fixture.register(RulesFixture.bus("volume", group: "panels", source: .client("bar")), by: "bar")
    #expect(fixture.taken() == ["group panels volume ·"])
    try fixture.register(RulesFixture.bus("volume", group: "panels", source: .client("bar")), by: "bar")
    #expect(fixture.taken() == [], "again the same is nothing new")
    try fixture.register(RulesFixture.bus("volume", group: "panels", source: .client("baz")), by: "baz")
    #expect(fixture.taken() == [])
    try fixture.present("volume")
    #expect(fixture.taken() == ["selection panels volume", "presenting volume", "present 1 volume"])
    fixture.leave("bar")
    fixture.leave("baz")
    #expect(fixture.taken() == [], "a member has the tag")
    try fixture.clearAway()
  }

  @Test("W1: a declared tag that was never requested ends with its destination")
  func leave_declaredTag_groupTold() throws {
    try fixture.register(RulesFixture.bus("volume", group: "panels", source: .client("bar")), by: "bar")
    try fixture.register(RulesFixture.bus("wifi", group: "panels", source: .client("bar")), by: "bar")
    #expect(fixture.taken() == ["group panels volume ·", "group panels volume wifi ·"])
    try fixture.unregister("wifi", by: "bar")
    #expect(fixture.taken() == ["group panels volume ·"])
    try fixture.register(RulesFixture.bus("volume", group: "others", source: .client("bar")), by: "bar")
    #expect(fixture.taken() == ["group others volume ·", "group panels ·"])
    fixture.load([RulesFixture.bus("x", group: "others"), RulesFixture.bus("y", group: "others")])
    #expect(fixture.taken() == ["group others volume x y ·"])
    fixture.leave("bar")
    #expect(fixture.taken() == ["group others x y ·"])
    fixture.load([])
    #expect(fixture.taken() == ["group others ·"])
    #expect(fixture.machine.groupNames == [])
  }

  @Test("W2: events are in the order in which things happened")
  func changes_inOrder() throws {
    try fixture.present("m", "", .with(group: "g"))
    try fixture.present("n", "", .with(group: "g"))
    #expect(
      fixture.taken() == [
        "selection g m", "group g m ·", "presented m", "selection g n", "group g n ·", "dismissed m deselected",
        "presented n",
      ])
    try fixture.clearAway()
  }
}
