// Why this file exists: the rules of watching, W1 and W2. That no event is missing and none tells of nothing is looked
// after by the desk, after every input of every test.

import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

@Suite struct WatchingTests {
  let desk = Desk()

  @Test("W1: every difference is one event with a serial, one more than the last")
  func changes_serials_noHoles() throws {
    try desk.show("a", "1", .with(to: "bus", group: "g", stack: "s"))
    try desk.present("b", "1", .with(group: "g", ifBusy: .queue))
    try desk.present("a", "1", .with(title: "T"))
    try desk.act(1, "ok", byPresenter: true)
    try desk.present("a", "2", .with(to: "cmd"))
    desk.goes(1)
    desk.shows(3)
    desk.ends(3)
    #expect(desk.changes.map(\.serial.number) == Array(1...UInt64(desk.changes.count)))
    #expect(desk.machine.serial == desk.changes.last?.serial)
    try desk.clearAway()
  }

  @Test("W1: an event carries what a watcher needs: binding, id, handle, item, reason")
  func changes_carryWhole() throws {
    try desk.present("a", "1", .with(to: "bare", value: ["x": .byte(1)], title: "T"))
    let item = try #require(desk.item("a"))
    try desk.present("a", "1", .with(title: "U"))
    let later = try #require(desk.item("a"))
    try desk.dismiss("a")
    #expect(
      desk.changes.map(\.event) == [
        .presented(1, "a", id: "1", item), .updated(1, "a", id: "1", later),
        .dismissed(1, "a", id: "1", .dismissed, result: [:]),
      ])
  }

  @Test("W1: phases are told only where something else than at once happened")
  func phases_onlyWhereNotAtOnce() throws {
    try desk.present("a", "1")
    try desk.present("a", "2")
    try desk.dismiss("a")
    #expect(desk.taken().allSatisfy { $0.hasPrefix("presented") || $0.hasPrefix("dismissed") })
    try desk.present("b", "", .with(to: "cmd"))
    try desk.present("b.c")
    try desk.present("b.d", "", .with(to: "cmd"))
    #expect(desk.taken() == ["presenting b", "present 3 b", "waiting b.c", "waiting b.d"])
    desk.shows(3)
    #expect(desk.taken() == ["presented b", "presented b.c", "presenting b.d", "present 5 b.d"])
    try desk.clearAway()
  }

  @Test("W1: for every presentation an end is told, shown or not")
  func dismissed_neverShown_told() throws {
    try desk.show("a", "1")
    for id in ["2", "3", "4"] { try desk.present("a", id, .with(to: "cmd")) }
    try desk.clearAway()
    let ended = desk.changes.compactMap { change -> Handle? in
      if case .dismissed(let handle, _, _, _, _) = change.event { handle } else { nil }
    }
    #expect(ended.sorted() == [1, 2, 3, 4])
  }

  @Test("W1: what asks for what is so already is no difference, and has no serial")
  func requests_nothingNew_noEvent() throws {
    try desk.present("a", "1", .with(group: "g", stack: "s"))
    try desk.present("b", "1", .with(group: "g", ifBusy: .queue))
    let serial = desk.machine.serial
    for operation: Request.Operation in [
      .present("a", id: "1", .with(group: "g", stack: "s")), .present("b", id: "1", .with(ifBusy: .queue)),
      .dismiss("c"), .deselect("g", tag: "b"), .deselect("h", tag: nil),
      .select("g", tag: "a", binding: nil, id: nil, .with()),
      .push("s", "a", id: "1", .with()), .pop("s", count: 0), .popTo("s", "a"), .setPath("s", [.at("a", "1")]),
      .setPath("r", []), .pop("r", count: 3), .popTo("r", nil), .dismissAll(.root("c")), .dismissAll(.group("h")),
      .dismissAll(.stack("r")), .update("a", value: [:], remove: ["x"], containerValues: [:], timeout: nil),
    ] {
      try desk.ask(operation)
      #expect(desk.machine.serial == serial, "\(operation)")
    }
    #expect(desk.taken().count == 6)
    try desk.clearAway()
  }

  @Test("W1: registering a destination that declares a tag tells the group's tags, once")
  func register_declaresTag_groupTold() throws {
    try desk.register(Desk.bus("volume", group: "panels", source: .client("bar")), by: "bar")
    #expect(desk.taken() == ["group panels volume ·"])
    try desk.register(Desk.bus("volume", group: "panels", source: .client("bar")), by: "bar")
    #expect(desk.taken() == [], "again the same is nothing new")
    try desk.register(Desk.bus("volume", group: "panels", source: .client("baz")), by: "baz")
    #expect(desk.taken() == [])
    try desk.present("volume")
    #expect(desk.taken() == ["selection panels volume", "presenting volume", "present 1 volume"])
    desk.leave("bar")
    desk.leave("baz")
    #expect(desk.taken() == [], "the group has learned the tag from the request")
    try desk.clearAway()
  }

  @Test("W1: a declared tag that nobody asked for goes with its destination")
  func leave_declaredTag_groupTold() throws {
    try desk.register(Desk.bus("volume", group: "panels", source: .client("bar")), by: "bar")
    try desk.register(Desk.bus("wifi", group: "panels", source: .client("bar")), by: "bar")
    #expect(desk.taken() == ["group panels volume ·", "group panels volume wifi ·"])
    try desk.unregister("wifi", by: "bar")
    #expect(desk.taken() == ["group panels volume ·"])
    try desk.register(Desk.bus("volume", group: "others", source: .client("bar")), by: "bar")
    #expect(desk.taken() == ["group others volume ·", "group panels ·"])
    desk.load([Desk.bus("x", group: "others"), Desk.bus("y", group: "others")])
    #expect(desk.taken() == ["group others volume x y ·"])
    desk.leave("bar")
    #expect(desk.taken() == ["group others x y ·"])
    desk.load([])
    #expect(desk.taken() == ["group others ·"])
    #expect(desk.machine.groupNames == [])
  }

  @Test("W2: events stand in the order in which things happened")
  func changes_inOrder() throws {
    try desk.present("m", "", .with(group: "g"))
    try desk.present("n", "", .with(group: "g"))
    #expect(
      desk.taken() == [
        "selection g m", "group g m ·", "presented m", "selection g n", "group g m n ·", "dismissed m deselected",
        "presented n",
      ])
    try desk.clearAway()
  }
}
