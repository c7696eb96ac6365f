// Why this file exists: the rules of destinations and presenters, D1, D2, D7, D8, D10 and D11, as far as the core decides.

import DBusValues
import Testing

@testable import PresentationRules

@Suite struct DestinationTests {
  let desk = Desk()

  private func destination(_ name: String, by client: Client, style: String? = nil) -> Destination {
    Destination(name: name, presenter: .bus(name: client.name, path: "/"), style: style, source: .client(client))
  }

  // MARK: D1

  @Test("D1: the last registration of a name wins; when that client leaves, the one before is back")
  func register_again_lastWins() throws {
    func style() -> String? { desk.machine.destinations.first { $0.name == "cmd" }?.style }
    try desk.register(destination("cmd", by: "bert", style: "bert"), by: "bert")
    #expect(style() == "bert")
    try desk.register(destination("cmd", by: "carl", style: "carl"), by: "carl")
    #expect(style() == "carl")
    try desk.register(destination("cmd", by: "bert", style: "bert again"), by: "bert")
    #expect(style() == "bert again")
    desk.leave("bert")
    #expect(style() == "carl")
    desk.leave("carl")
    #expect(style() == nil)
    #expect(desk.machine.destinations.map(\.name) == ["bare", "bus", "cmd", "unit"])
    #expect(desk.machine.state.registry.ofClients.isEmpty)
  }

  @Test("D1: a client can take its registration back, and no other's")
  func unregister_own_backToTheOneBefore() throws {
    try desk.register(destination("x", by: "bert"), by: "bert")
    #expect(throws: Refusal.self) { try desk.unregister("x", by: "carl") }
    #expect(throws: Refusal.self) { try desk.unregister("cmd", by: "bert") }
    try desk.unregister("x", by: "bert")
    #expect(desk.refusal(.present("a", id: "", .with(to: "x"))) == .unknownDestination)
    #expect(throws: Refusal.self) { try desk.unregister("x", by: "bert") }
  }

  @Test("D1: what files registered is replaced by a reload, behind what clients did")
  func load_again_behindClients() throws {
    try desk.register(destination("cmd", by: "bert", style: "bert"), by: "bert")
    desk.load([
      Destination(name: "cmd", presenter: .none, style: "file", source: Desk.file("cmd")),
      Destination(name: "new", presenter: .none, source: Desk.file("new")),
    ])
    #expect(desk.machine.destinations.map(\.name) == ["cmd", "new"])
    #expect(desk.machine.destinations.first?.style == "bert")
    desk.leave("bert")
    #expect(desk.machine.destinations.first?.style == "file")
  }

  @Test("D1: what is live stays with the presenter that it began with")
  func register_whileLive_presenterStays() throws {
    try desk.show("a", "1", .with(to: "bus"))
    let before = desk.item("a")?.destination
    try desk.register(destination("bus", by: "bert"), by: "bert")
    try desk.present("a", "1", .with(to: "bus", title: "T"))
    #expect(desk.item("a")?.destination == before)
    try desk.present("a", "2", .with(to: "bus"))
    #expect(desk.item("a")?.destination?.source == .client("bert"))
    try desk.clearAway()
  }

  @Test("D1: what is live stays when its destination is registered no more")
  func unregister_whileLive_stays() throws {
    try desk.register(destination("x", by: "bert"), by: "bert")
    try desk.show("a", "1", .with(to: "x"))
    desk.leave("bert")
    #expect(desk.taken() == [])
    #expect(try desk.present("a", "1", .with(to: "x")) == .presentation(1, changed: false))
    try desk.dismiss("a")
    #expect(desk.taken() == ["dismissing a 1", "dismiss 1 dismissed"])
    try desk.clearAway()
  }

  @Test("D1: a destination gives its style to items that give none")
  func present_destinationStyle_taken() throws {
    try desk.register(destination("x", by: "bert", style: "popover"), by: "bert")
    try desk.present("a", "", .with(to: "x"))
    try desk.present("b", "", .with(to: "x", style: "sheet"))
    #expect(desk.item("a")?.style == "popover" && desk.item("b")?.style == "sheet")
    try desk.clearAway()
  }

  // MARK: D2

  @Test("D2: an item that names an unregistered destination is refused, and nothing changes")
  func present_unregistered_refused() throws {
    try desk.show("a", "1")
    #expect(desk.refusal(.present("a", id: "2", .with(to: "nobody"))) == .unknownDestination)
    #expect(desk.refusal(.push("s", "b", id: "", .with(to: "nobody"))) == .unknownDestination)
    #expect(desk.refusal(.select("g", tag: "t", binding: nil, id: nil, .with(to: "nobody"))) == .unknownDestination)
    #expect(desk.refusal(.toggle("b", id: "", .with(to: "nobody"), anyID: false)) == .unknownDestination)
    #expect(desk.shown == ["a=1"])
    try desk.clearAway()
  }

  @Test("D2: one that names none uses the destination called like its binding, if there is one")
  func present_namesNone_likeBinding() throws {
    try desk.register(destination("panels.volume", by: "bert"), by: "bert")
    try desk.present("panels.volume")
    #expect(desk.item("panels.volume")?.destination?.name == "panels.volume")
    try desk.present("cmd")
    #expect(desk.item("cmd")?.destination?.name == "cmd")
    #expect(desk.taken() == ["presenting panels.volume", "present 1 panels.volume", "presenting cmd", "present 2 cmd"])
    try desk.present("cmd.x")
    #expect(desk.item("cmd.x")?.destination == nil)
    try desk.clearAway()
  }

  @Test("D2: naming it then is naming what it has")
  func present_namesLikeBindingLater_unchanged() throws {
    try desk.show("cmd", "", .with())
    #expect(try desk.present("cmd", "", .with(to: "cmd")) == .presentation(1, changed: false))
    try desk.clearAway()
  }

  @Test("D2: an item with a command uses that, whatever its binding is called")
  func present_command_used() throws {
    try desk.present("cmd", "", .with(command: ["foot"]))
    #expect(desk.item("cmd")?.destination?.presenter == .command([Array("foot".utf8)]))
    #expect(desk.refusal(.present("b", id: "", .with(to: "cmd", command: ["foot"]))) == .invalidArgument)
    #expect(desk.refusal(.present("b", id: "", .with(command: []))) == .invalidArgument)
    #expect(desk.refusal(.present("b", id: "", .with(command: [""]))) == .invalidArgument)
    #expect(desk.refusal(.present("b", id: "", .with(command: ["a", "b\0c"]))) == .invalidArgument)
    #expect(desk.refusal(.present("b", id: "", .with(command: ["a"], environment: ["A=B": "c"]))) == .invalidArgument)
    #expect(desk.refusal(.present("b", id: "", .with(command: ["a"], environment: ["": "c"]))) == .invalidArgument)
    try desk.clearAway()
  }

  // MARK: D3, D4, D5: by itself

  @Test("D3: ending by itself is closed, by a signal that was not ours failed", arguments: [false, true])
  func ended_byItself_reason(failed: Bool) throws {
    try desk.show("a", "1")
    desk.ends(1, failed: failed, result: ["status": .int32(3)])
    #expect(desk.taken() == ["dismissed a 1 \(failed ? "failed" : "closed")"])
    #expect(desk.ending(1)?.result == ["status": .int32(3)])
  }

  // MARK: D6

  @Test("D6: a result is in the ending and in what waiters hear, and in no item")
  func ended_result_inEndingOnly() throws {
    try desk.show("a", "1", .with(to: "bus"))
    try desk.dismiss("a")
    desk.goes(1, result: ["answer": .string("yes")])
    #expect(desk.ending(1)?.result == ["answer": .string("yes")])
  }

  // MARK: D7

  @Test("D7: a presenter that cannot show an item ends it as failed, with a text that says why; the slot is nil")
  func present_failed_slotNil() throws {
    try desk.present("a", "1", .with(to: "cmd"))
    _ = desk.taken()
    desk.fails(1, "foot: not found")
    #expect(desk.taken() == ["dismissed a 1 failed"])
    #expect(desk.ending(1)?.result == ["error": .string("foot: not found")])
    #expect(desk.ending(1)?.presentedAt == nil)
    #expect(desk.leftovers == [])
  }

  // MARK: D8

  private func edit(_ value: UInt8, by client: Client) throws {
    try desk.ask(
      .update("a", value: ["x": .byte(value)], remove: [], containerValues: nil, timeout: nil), by: client)
  }

  @Test("D8: an edit of the value is seen by everybody, the id does not change")
  func update_presented_updated() throws {
    try desk.show("a", "1", .with(to: "bus", value: ["x": .byte(1), "y": .byte(1), "z": .byte(1)]))
    #expect(
      try desk.ask(
        .update("a", value: ["x": .byte(2), "w": .byte(3)], remove: ["y", "x"], containerValues: nil, timeout: nil),
        by: "bar") == .changed(true))
    #expect(desk.item("a")?.value == ["x": .byte(2), "z": .byte(1), "w": .byte(3)])
    #expect(desk.item("a")?.id == "1")
    #expect(desk.taken() == ["updated a 1", "update 1 by bar"])
    #expect(
      try desk.ask(.update("a", value: ["x": .int64(2)], remove: ["q"], containerValues: nil, timeout: nil))
        == .changed(false))
    #expect(desk.taken() == [])
    try desk.clearAway()
  }

  @Test("D8: an edit of what holds no item is refused")
  func update_nothingThere_refused() throws {
    let update = Request.Operation.update("a", value: [:], remove: [], containerValues: nil, timeout: nil)
    #expect(desk.refusal(update) == .notPresented)
    try desk.show("a")
    try desk.dismiss("a")
    #expect(desk.refusal(update) == .notPresented)
    try desk.clearAway()
  }

  @Test("D8: at most one update is under way; the latest follows when it is answered")
  func update_underWay_latestFollows() throws {
    try desk.show("a", "1", .with(to: "bus"))
    try edit(1, by: "anna")
    try edit(2, by: "anna")
    try edit(3, by: "anna")
    #expect(desk.taken() == ["updated a 1", "update 1 by anna", "updated a 1", "updated a 1"])
    desk.updates(1)
    #expect(desk.taken() == ["update 1 by anna"])
    #expect(desk.item("a")?.value == ["x": .byte(3)])
    desk.updates(1)
    #expect(desk.taken() == [])
    try desk.clearAway()
  }

  @Test("D8: the latest that follows has an author only if nobody else changed it meanwhile")
  func update_severalAuthors_toldToAll() throws {
    try desk.show("a", "1", .with(to: "bus"))
    try edit(1, by: "anna")
    try edit(2, by: "bar")
    try edit(3, by: "bar")
    _ = desk.taken()
    desk.updates(1)
    #expect(desk.taken() == ["update 1 by bar"])
    try edit(4, by: "anna")
    try edit(5, by: "bar")
    _ = desk.taken()
    desk.updates(1)
    #expect(desk.taken() == ["update 1"])
    try desk.clearAway()
  }

  @Test("D8: an update waits for the answer to Present")
  func update_presenting_afterShown() throws {
    try desk.present("a", "1", .with(to: "bus"))
    _ = desk.taken()
    try edit(1, by: "anna")
    try edit(2, by: "anna")
    #expect(desk.taken() == ["updated a 1", "updated a 1"])
    desk.shows(1)
    #expect(desk.taken() == ["presented a 1", "update 1 by anna"])
    desk.updates(1)
    #expect(desk.taken() == [])
    try desk.clearAway()
  }

  @Test("D8: what waits is told nothing of updates: it will be presented as it then stands")
  func update_waiting_notTold() throws {
    try desk.show("a", "0", .with(to: "bus"))
    try desk.present("a", "1", .with(to: "bus"))
    try edit(1, by: "anna")
    _ = desk.taken()
    desk.goes(1)
    #expect(desk.taken() == ["dismissed a 0 replaced", "presenting a 1", "present 2 a"])
    desk.shows(2)
    #expect(desk.taken() == ["presented a 1"])
    try desk.clearAway()
  }

  @Test("D8: no update is sent to what is going, nor after it was told to go")
  func update_going_notTold() throws {
    try desk.show("a", "1", .with(to: "bus"))
    try edit(1, by: "anna")
    try edit(2, by: "anna")
    try desk.dismiss("a")
    _ = desk.taken()
    desk.updates(1)
    #expect(desk.taken() == [])
    desk.goes(1)
    #expect(desk.taken() == ["dismissed a 1 dismissed"])
  }

  @Test("D8: an owner, a title and a priority that change are told as well")
  func update_otherParts_told() throws {
    try desk.show("a", "1", .with(to: "bus"))
    for options: ItemOptions in [.with(title: "T"), .with(style: "S"), .with(owned: true), .with(priority: 2)] {
      try desk.present("a", "1", options)
      #expect(desk.taken() == ["updated a 1", "update 1 by anna"])
      desk.updates(1)
    }
    try desk.clearAway()
  }

  // MARK: D10

  @Test("D10: commands and units are not told of an update; watchers are", arguments: ["cmd", "unit", "bare"])
  func update_notBus_eventOnly(destination: String) throws {
    try desk.present("a", "1", .with(to: destination))
    desk.shows(1)
    _ = desk.taken()
    try edit(1, by: "anna")
    #expect(desk.taken() == ["updated a 1"])
    try desk.clearAway()
  }

  // MARK: D11

  @Test("D11: only a presentation's own D-Bus presenter may report for it")
  func closed_bus_ownPresenterOnly() throws {
    try desk.show("a", "1", .with(to: "bus"))
    #expect(throws: Refusal.self) { try desk.closed(1) }
    #expect(throws: Refusal.self) { try desk.act(1, "ok") }
    #expect(desk.taken() == [])
    try desk.act(1, "ok", byPresenter: true)
    #expect(try desk.closed(1, result: ["x": .byte(1)], byPresenter: true))
    #expect(desk.taken() == ["action a 1 ok", "dismissed a 1 closed"])
    #expect(desk.ending(1)?.result == ["x": .byte(1)])
    #expect(desk.leftovers == [])
  }

  @Test(
    "D11: for a command or unit anyone may; it starts its dismissal, with reason closed and that result",
    arguments: ["cmd", "unit"])
  func closed_command_dismissed(destination: String) throws {
    try desk.show("a", "1", .with(to: destination))
    try desk.act(1, "ok")
    #expect(try desk.closed(1, result: ["answer": .string("yes")]))
    #expect(desk.taken() == ["action a 1 ok", "dismissing a 1", "dismiss 1 closed"])
    #expect(desk.shown == [])
    desk.goes(1, result: ["status": .int32(0), "answer": .string("no")])
    #expect(desk.taken() == ["dismissed a 1 closed"])
    #expect(desk.ending(1)?.result == ["answer": .string("yes"), "status": .int32(0)])
  }

  @Test("D11: for state only anyone may, and it is gone", arguments: [nil, "bare"])
  func closed_stateOnly_gone(destination: String?) throws {
    try desk.present("a", "1", .with(to: destination))
    try desk.act(1, "ok", ["x": .byte(1)])
    #expect(try desk.closed(1, result: ["x": .byte(1)]))
    #expect(desk.taken() == ["presented a 1", "action a 1 ok", "dismissed a 1 closed"])
    #expect(desk.ending(1)?.result == ["x": .byte(1)])
    #expect(desk.leftovers == [])
  }

  @Test("D11: a report that comes too late succeeds and does nothing")
  func closed_late_nothing() throws {
    for destination in ["cmd", "bus", "bare"] {
      let handle = try desk.show("a", "1", .with(to: destination))
      try desk.dismiss("a")
      desk.goes(handle)
      try desk.present("a", "1", .with(to: destination))
      _ = desk.taken()
      #expect(try desk.closed(handle, result: ["x": .byte(1)]) == false)
      try desk.act(handle, "ok")
      #expect(desk.taken() == [])
      #expect(desk.ending(handle)?.result == [:])
      try desk.clearAway()
    }
  }

  @Test("D11: while a command is going already, Closed changes nothing; of a presenter on the bus it is the farewell")
  func closed_going_completesAtMost() throws {
    try desk.show("a", "1", .with(to: "cmd"))
    try desk.show("b", "1", .with(to: "bus"))
    try desk.ask(.dismissAll(.all))
    _ = desk.taken()
    #expect(try desk.closed(1, result: ["x": .byte(1)]) == false)
    #expect(desk.taken() == [])
    #expect(try desk.closed(2, result: ["x": .byte(1)], byPresenter: true))
    #expect(desk.taken() == ["dismissed b 1 dismissed"])
    #expect(desk.ending(2)?.result == ["x": .byte(1)])
    desk.goes(1)
    #expect(desk.ending(1)?.result == [:])
  }

  @Test("D11: a handle that was never given out is unknown")
  func closed_neverGivenOut_refused() throws {
    for handle: Handle in [0, 1, 7] {
      #expect(throws: Refusal.self) { try desk.closed(handle, byPresenter: true) }
      #expect(throws: Refusal.self) { try desk.act(handle, "ok", byPresenter: true) }
    }
  }

  @Test("D11: what waits may be reported closed by whoever may report it", arguments: ["cmd", "bus"])
  func closed_waiting_gone(destination: String) throws {
    try desk.show("a", "1")
    try desk.present("a", "2", .with(to: destination))
    _ = desk.taken()
    #expect(try desk.closed(2, result: ["x": .byte(1)], byPresenter: destination == "bus"))
    #expect(desk.taken() == ["dismissed a 2 closed"])
    #expect(desk.ending(2)?.result == ["x": .byte(1)])
    try desk.clearAway()
  }

  @Test("D11: what is presenting and is reported closed by its presenter is gone; a late answer to Present is ignored")
  func closed_presenting_gone() throws {
    try desk.present("a", "1", .with(to: "bus"))
    _ = desk.taken()
    #expect(try desk.closed(1, byPresenter: true))
    #expect(desk.taken() == ["dismissed a 1 closed"])
    desk.shows(1)
    #expect(desk.taken() == [])
    #expect(desk.leftovers == [])
  }

  @Test("B5: the keys of a result and of an action's parameters are names, and hold no descriptors")
  func closed_badKeys_refused() throws {
    try desk.present("a", "1")
    #expect(throws: Refusal.self) { try desk.closed(1, result: ["a b": .byte(1)]) }
    #expect(throws: Refusal.self) { try desk.act(1, "ok", ["": .byte(1)]) }
    #expect(desk.shown == ["a=1"])
    try desk.clearAway()
  }
}
