// Why this file exists: the rules of presenting, P1 to P14.

import DBusValues
import Testing

@testable import PresentationRules

@Suite struct PresentingTests {
  let desk = Desk()

  // MARK: P1

  @Test(
    "P1: an item set where nothing is live is presenting, and presented when its presenter acknowledges",
    arguments: ["cmd", "unit", "bus"])
  func present_nothingLive_presentingThenPresented(destination: String) throws {
    let reply = try desk.present("a", "1", .with(to: destination))
    #expect(reply == .presentation(1, changed: true))
    #expect(desk.taken() == ["presenting a 1", "present 1 a"])
    #expect(desk.phase(1) == "presenting")
    desk.shows(1)
    #expect(desk.taken() == ["presented a 1"])
    #expect(desk.phase(1) == "presented")
    desk.shows(1)
    #expect(desk.taken() == [], "an acknowledgement counts once")
    try desk.clearAway()
  }

  @Test("P1: what is nothing but state is presented at once", arguments: [nil, "bare"])
  func present_stateOnly_presentedAtOnce(destination: String?) throws {
    try desk.present("a", "1", .with(to: destination))
    #expect(desk.taken() == ["presented a 1"])
    try desk.dismiss("a")
    #expect(desk.taken() == ["dismissed a 1 dismissed"])
    #expect(desk.leftovers == [])
  }

  @Test("P1: different bindings are presented side by side")
  func present_severalBindings_independent() throws {
    try desk.show("a", "1")
    try desk.show("b", "1")
    try desk.dismiss("a")
    #expect(desk.taken() == ["dismissing a 1", "dismiss 1 dismissed"])
    #expect(desk.shown == ["b=1"])
    try desk.clearAway()
  }

  // MARK: P2

  @Test("P2: the same id dismisses nothing; what is given is replaced whole, and the presenter is told")
  func present_sameID_updated() throws {
    try desk.machine.declareContainerValue("k", defaultValue: .int32(0))
    try desk.machine.declareContainerValue("l", defaultValue: .int32(0))
    try desk.show(
      "a", "1",
      .with(
        to: "bus", value: ["x": .int32(1), "y": .int32(2)], containerValues: ["k": .int32(1)], style: "sheet",
        title: "One", owned: true, priority: 1))
    func expect(_ options: ItemOptions, _ change: (inout Shared<Item>) -> Void) throws {
      var item = try #require(desk.item("a"))
      change(&item)
      #expect(try desk.present("a", "1", options, by: "bert") == .presentation(1, changed: true))
      #expect(desk.taken() == ["updated a 1", "update 1 by bert"])
      desk.updates(1)
      #expect(desk.item("a") == item)
      #expect(desk.taken() == [])
    }
    try expect(.with(value: ["x": .int32(3)])) { $0.value = ["x": .int32(3)] }
    try expect(.with(containerValues: ["l": .int32(1)])) { $0.containerValues = ["l": .int32(1)] }
    try expect(.with(style: "popover")) { $0.style = "popover" }
    try expect(.with(title: "Two")) { $0.title = "Two" }
    try expect(.with(owned: true)) { $0.owner = "bert" }
    try expect(.with(owned: false)) { $0.owner = nil }
    try expect(.with(priority: -1)) { $0.priority = -1 }
    try expect(.with(value: [:])) { $0.value = [:] }
    try expect(.with(value: ["x": .int32(4)], title: "Three")) {
      $0.value = ["x": .int32(4)]
      $0.title = "Three"
    }
    #expect(desk.phase(1) == "presented")
    try desk.clearAway()
  }

  @Test("P2: what the request does not give stays")
  func present_sameIDGivesNothing_stays() throws {
    let options = ItemOptions.with(
      to: "bus", value: ["x": .int32(1)], style: "sheet", title: "One", timeout: 1000, owned: true, priority: 1)
    try desk.show("a", "1", options)
    let before = desk.item("a")
    #expect(try desk.present("a", "1", by: "bert") == .presentation(1, changed: false))
    #expect(desk.item("a") == before)
    #expect(desk.taken() == [])
    try desk.clearAway()
  }

  @Test("P2: if nothing differs nothing happens, and the caller is told so")
  func present_nothingDiffers_unchanged() throws {
    let options = ItemOptions.with(
      to: "bus", value: ["x": .int32(1), "n": .double(.nan), "d": .dictionary(key: .string, value: .variant, [:])],
      style: "sheet", title: "One", owned: true, priority: 1)
    try desk.show("a", "1", options)
    let serial = desk.machine.serial
    #expect(try desk.present("a", "1", options) == .presentation(1, changed: false))
    #expect(desk.taken() == [])
    #expect(desk.machine.serial == serial)
    try desk.clearAway()
  }

  @Test("P2: integers compare by number whatever their width, dictionaries without order, NaN equals NaN")
  func present_equalValues_unchanged() throws {
    let words: [Value: Value] = [.string("p"): .byte(1), .string("q"): .byte(2)]
    let others: [Value: Value] = [.string("q"): .int64(2), .string("p"): .uint16(1)]
    try desk.show(
      "a", "1",
      .with(
        to: "bus",
        value: [
          "i": .byte(7), "n": .double(.nan), "d": .dictionary(key: .string, value: .byte, words),
          "l": .array(element: .int32, [.int32(1)]),
        ]))
    let same: Properties = [
      "l": .array(element: .uint64, [.uint64(1)]), "d": .dictionary(key: .string, value: .int64, others),
      "n": .double(-.nan), "i": .int64(7),
    ]
    #expect(try desk.present("a", "1", .with(value: same)) == .presentation(1, changed: false))
    #expect(desk.taken() == [])
    for (key, value): (String, Value) in [("i", .int64(8)), ("i", .double(7)), ("i", .string("7")), ("n", .double(0))] {
      var different = same
      different[key] = value
      #expect(try desk.present("a", "1", .with(value: different)) == .presentation(1, changed: true))
      desk.updates(1)
      #expect(desk.taken() == ["updated a 1", "update 1 by anna"])
      try desk.present("a", "1", .with(value: same))
      desk.updates(1)
      #expect(desk.taken() == ["updated a 1", "update 1 by anna"])
    }
    try desk.clearAway()
  }

  @Test("P2: a timeout given starts again and is on record, without an event")
  func present_onlyTimeoutGiven_restartsWithoutEvent() throws {
    try desk.show("a", "1", .with(to: "cmd", timeout: 1000))
    desk.pass(900)
    let serial = desk.machine.serial
    #expect(try desk.present("a", "1", .with(timeout: 2000)) == .presentation(1, changed: false))
    #expect(desk.item("a")?.timeout == 2000)
    #expect(desk.machine.serial == serial)
    desk.pass(1999)
    #expect(desk.taken() == [])
    desk.pass(1)
    #expect(desk.taken() == ["dismissing a 1", "dismiss 1 expired"])
    try desk.clearAway()
  }

  @Test("P2: the same id with another destination, command, parent, group, tag or stack is refused")
  func present_sameIDOtherPlace_refused() throws {
    try desk.present("p")
    try desk.present("q")
    try desk.show("a", "1", .with(to: "cmd", from: "p", group: "g", tag: "t", stack: "s"))
    for options: ItemOptions in [
      .with(to: "bus"), .with(command: ["sleep", "9"]), .with(from: "q"), .with(group: "h"),
      .with(group: "g", tag: "u"),
      .with(tag: "u"), .with(stack: "r"), .with(from: "a"), .with(value: ["x": .byte(1)], stack: "r"),
    ] {
      #expect(desk.refusal(.present("a", id: "1", options)) == .invalidArgument, "\(options)")
    }
    #expect(
      try desk.present("a", "1", .with(to: "cmd", from: "p", group: "g", tag: "t", stack: "s"))
        == .presentation(3, changed: false))
    #expect(try desk.present("a", "1", .with(group: "g")) == .presentation(3, changed: false))
    try desk.clearAway()
  }

  @Test("P2: what had no destination, command, parent, group or stack is not given one by the same id")
  func present_sameIDNewPlace_refused() throws {
    try desk.present("p")
    try desk.present("a", "1")
    for options: ItemOptions in [
      .with(to: "cmd"), .with(command: ["sleep", "9"]), .with(from: "p"), .with(group: "h"), .with(stack: "r"),
    ] {
      #expect(desk.refusal(.present("a", id: "1", options)) == .invalidArgument, "\(options)")
    }
    try desk.clearAway()
  }

  @Test("P2: the same command again is an update, another is refused")
  func present_sameIDCommand_comparedWhole() throws {
    try desk.show("a", "1", .with(command: ["foot", "-e", "top"]))
    #expect(try desk.present("a", "1", .with(command: ["foot", "-e", "top"])) == .presentation(1, changed: false))
    for command in [["foot", "-e"], ["foot", "-e top"], ["foot", "-e", "top", ""], ["top", "-e", "foot"]] {
      #expect(desk.refusal(.present("a", id: "1", .with(command: command))) == .invalidArgument)
    }
    #expect(desk.refusal(.present("a", id: "1", .with(to: "cmd"))) == .invalidArgument)
    try desk.clearAway()
  }

  @Test("P2: what is only told when it starts makes no difference afterwards")
  func present_sameIDOtherEnvironment_unchanged() throws {
    try desk.show(
      "a", "1", .with(to: "cmd", directory: "/", environment: ["A": "1"], platformData: ["output": .string("DP-1")]))
    let options = ItemOptions.with(
      directory: "/tmp", environment: ["A": "2"], platformData: ["output": .string("DP-2")])
    #expect(try desk.present("a", "1", options) == .presentation(1, changed: false))
    #expect(desk.taken() == [])
    try desk.clearAway()
  }

  @Test("P2: what waits, or is presenting, is updated too, and stays in its phase")
  func present_sameIDWhileWaiting_updated() throws {
    try desk.show("a", "1")
    try desk.present("a", "2", .with(to: "cmd", value: ["x": .byte(1)]))
    #expect(desk.taken() == ["dismissing a 1", "waiting a 2", "dismiss 1 replaced"])
    #expect(try desk.present("a", "2", .with(value: ["x": .byte(2)])) == .presentation(2, changed: true))
    #expect(desk.taken() == ["updated a 2"])
    desk.goes(1)
    #expect(desk.taken() == ["dismissed a 1 replaced", "presenting a 2", "present 2 a"])
    #expect(try desk.present("a", "2", .with(value: ["x": .byte(3)])) == .presentation(2, changed: true))
    #expect(desk.taken() == ["updated a 2"])
    #expect(desk.phase(2) == "presenting")
    try desk.clearAway()
  }

  // MARK: P3

  @Test("P3: another id dismisses the old one first, and presents the new one when it is gone")
  func present_otherID_replacedAfterwards() throws {
    try desk.show("a", "A")
    #expect(try desk.present("a", "B", .with(to: "cmd")) == .presentation(2, changed: true))
    #expect(desk.taken() == ["dismissing a A", "waiting a B", "dismiss 1 replaced"])
    #expect(desk.item("a")?.id == "B")
    desk.goes(1)
    #expect(desk.taken() == ["dismissed a A replaced", "presenting a B", "present 2 a"])
    desk.shows(2)
    #expect(desk.taken() == ["presented a B"])
    try desk.clearAway()
  }

  @Test("P3: A→B→C while A is going presents C and never B")
  func present_overtaken_neverShown() throws {
    try desk.show("a", "A")
    try desk.present("a", "B", .with(to: "cmd"))
    desk.pass(100)
    #expect(try desk.present("a", "C", .with(to: "cmd")) == .presentation(3, changed: true))
    #expect(
      desk.taken() == [
        "dismissing a A", "waiting a B", "dismiss 1 replaced", "dismissed a B replaced", "waiting a C",
      ])
    desk.goes(1)
    #expect(desk.taken() == ["dismissed a A replaced", "presenting a C", "present 3 a"])
    desk.shows(3)
    #expect(desk.taken() == ["presented a C"])
    #expect(desk.ending(2)?.reason == .replaced && desk.ending(2)?.presentedAt == nil)
    try desk.clearAway()
  }

  @Test("P3: A→B→nil presents nothing; what was waiting ends with the reason of what overtook it")
  func dismiss_whileWaiting_nothingShown() throws {
    try desk.show("a", "A")
    try desk.present("a", "B", .with(to: "cmd"))
    #expect(desk.taken() == ["dismissing a A", "waiting a B", "dismiss 1 replaced"])
    #expect(try desk.dismiss("a") == .changed(true))
    #expect(desk.taken() == ["dismissed a B dismissed"])
    #expect(desk.shown == [])
    desk.goes(1)
    #expect(desk.taken() == ["dismissed a A replaced"])
    #expect(desk.leftovers == [])
  }

  @Test("P3: A→B→A dismisses A and presents A again, as a new presentation")
  func present_firstIDAgain_newPresentation() throws {
    try desk.show("a", "A")
    try desk.present("a", "B", .with(to: "cmd"))
    #expect(try desk.present("a", "A", .with(to: "cmd")) == .presentation(3, changed: true))
    #expect(
      desk.taken() == [
        "dismissing a A", "waiting a B", "dismiss 1 replaced", "dismissed a B replaced", "waiting a A",
      ])
    desk.goes(1)
    desk.shows(3)
    #expect(desk.taken() == ["dismissed a A replaced", "presenting a A", "present 3 a", "presented a A"])
    try desk.clearAway()
  }

  @Test("P3: what was still presenting is dismissed at once when another id is set")
  func present_otherIDWhilePresenting_cancelled() throws {
    try desk.present("a", "A", .with(to: "bus"))
    try desk.present("a", "B", .with(to: "cmd"))
    #expect(desk.taken() == ["presenting a A", "present 1 a", "dismissing a A", "waiting a B", "dismiss 1 replaced"])
    desk.shows(1)
    #expect(desk.taken() == [], "a late answer to the first is ignored")
    desk.goes(1)
    #expect(desk.taken() == ["dismissed a A replaced", "presenting a B", "present 2 a"])
    try desk.clearAway()
  }

  @Test("P3: the item is presented as it then stands")
  func present_editedWhileWaiting_presentedAsItStands() throws {
    try desk.show("a", "A")
    try desk.present("a", "B", .with(to: "cmd", value: ["x": .byte(1)]))
    try desk.ask(.update("a", value: ["x": .byte(2)], remove: [], containerValues: nil, timeout: nil))
    desk.goes(1)
    #expect(desk.machine.presentation(2)?.item.value == ["x": .byte(2)])
    try desk.clearAway()
  }

  @Test("P3: an id change is another item: nothing of the old one is taken over")
  func present_otherID_startsAfresh() throws {
    try desk.show(
      "a", "A",
      .with(to: "cmd", value: ["x": .byte(1)], style: "sheet", title: "One", timeout: 1, owned: true, priority: 3))
    try desk.present("a", "B")
    let item = try #require(desk.item("a"))
    #expect(item.destination == nil && item.value == [:] && item.style == nil && item.title == nil)
    #expect(item.timeout == nil && item.owner == nil && item.priority == 0)
    try desk.clearAway()
  }

  @Test("P3: state only is replaced without a moment between")
  func present_otherIDStateOnly_replacedAtOnce() throws {
    try desk.present("a", "A")
    try desk.present("a", "B")
    #expect(desk.taken() == ["presented a A", "dismissed a A replaced", "presented a B"])
    try desk.clearAway()
  }

  // MARK: P4

  @Test("P4: nil dismisses the presentation")
  func dismiss_presented_dismissed() throws {
    try desk.show("a", "1")
    #expect(try desk.dismiss("a") == .changed(true))
    #expect(desk.taken() == ["dismissing a 1", "dismiss 1 dismissed"])
    #expect(desk.shown == [])
    desk.goes(1)
    #expect(desk.taken() == ["dismissed a 1 dismissed"])
    #expect(desk.leftovers == [])
  }

  @Test("P4: what is presenting is cancelled: told to dismiss at once, and a late answer to the first is ignored")
  func dismiss_presenting_cancelled() throws {
    try desk.present("a", "1", .with(to: "bus"))
    try desk.dismiss("a")
    #expect(desk.taken() == ["presenting a 1", "present 1 a", "dismissing a 1", "dismiss 1 dismissed"])
    desk.shows(1)
    desk.fails(1)
    #expect(desk.taken() == [])
    desk.goes(1)
    #expect(desk.taken() == ["dismissed a 1 dismissed"])
    #expect(desk.ending(1)?.result == [:])
    #expect(desk.leftovers == [])
    desk.shows(1)
    #expect(desk.taken() == [])
  }

  @Test("P4: an error for an answer to the dismissal is the end too")
  func dismiss_answeredByError_gone() throws {
    try desk.show("a", "1", .with(to: "bus"))
    try desk.dismiss("a")
    desk.goes(1, result: ["error": .string("no such method")])
    #expect(desk.ending(1)?.reason == .dismissed)
    #expect(desk.ending(1)?.result == ["error": .string("no such method")])
    #expect(desk.leftovers == [])
  }

  @Test("P4: nil where nil is already changes nothing")
  func dismiss_nothingThere_unchanged() throws {
    #expect(try desk.dismiss("a") == .changed(false))
    try desk.show("a")
    try desk.dismiss("a")
    _ = desk.taken()
    #expect(try desk.dismiss("a") == .changed(false), "it is going already (P11)")
    #expect(desk.taken() == [])
    try desk.clearAway()
  }

  @Test("P4: nothing stays behind, and nothing queued for it shows up later")
  func dismiss_waitingOnes_nothingLater() throws {
    try desk.show("a", "A")
    for id in ["B", "C", "D"] { try desk.present("a", id, .with(to: "cmd")) }
    try desk.dismiss("a")
    _ = desk.taken()
    desk.goes(1)
    #expect(desk.taken() == ["dismissed a A replaced"])
    #expect(desk.leftovers == [] && desk.machine.nextDeadline.map { $0 <= desk.now } != true)
    desk.pass(100_000)
    #expect(desk.taken() == [])
  }

  // MARK: P5

  @Test("P5: gone without having been asked: nil is written to the slot")
  func ended_byItself_slotNil() throws {
    try desk.show("a", "1")
    desk.ends(1, result: ["status": .int32(3)])
    #expect(desk.taken() == ["dismissed a 1 closed"])
    #expect(desk.ending(1)?.result == ["status": .int32(3)])
    #expect(desk.leftovers == [])
  }

  @Test("P5: true→false→true while the first is closing: its late farewell does not clear the second")
  func ended_lateFarewell_secondStays() throws {
    try desk.show("a", "1")
    try desk.dismiss("a")
    try desk.present("a", "1", .with(to: "cmd"))
    #expect(desk.taken() == ["dismissing a 1", "dismiss 1 dismissed", "waiting a 1"])
    desk.ends(1)
    #expect(desk.taken() == ["dismissed a 1 dismissed", "presenting a 1", "present 2 a"])
    desk.ends(1)
    desk.goes(1)
    desk.ends(1, failed: true)
    #expect(desk.taken() == [])
    #expect(desk.handle("a") == 2)
    try desk.clearAway()
  }

  @Test("P5: a farewell is compared by handle, not by id", arguments: [false, true])
  func ended_afterReplacement_replacementStays(failed: Bool) throws {
    try desk.show("a", "1")
    try desk.present("a", "2", .with(to: "cmd"))
    _ = desk.taken()
    desk.ends(1, failed: failed)
    #expect(desk.taken() == ["dismissed a 1 replaced", "presenting a 2", "present 2 a"])
    #expect(desk.item("a")?.id == "2")
    try desk.clearAway()
  }

  @Test("P5: one that ends while it is still presenting writes nil too")
  func ended_presenting_slotNil() throws {
    try desk.present("a", "1", .with(to: "cmd"))
    desk.ends(1, failed: true)
    #expect(desk.taken() == ["presenting a 1", "present 1 a", "dismissed a 1 failed"])
    #expect(desk.leftovers == [])
  }

  @Test("P5: nobody can say of what waits that it is gone")
  func ended_waiting_ignored() throws {
    try desk.show("a", "1")
    try desk.present("a", "2", .with(to: "cmd"))
    _ = desk.taken()
    desk.ends(2)
    desk.goes(2)
    desk.shows(2)
    desk.fails(2)
    #expect(desk.taken() == [])
    #expect(desk.phase(2) == "waiting")
    try desk.clearAway()
  }

  // MARK: P6

  @Test("P6: a presentation ends once, however often its end is told")
  func end_toldAgain_once() throws {
    try desk.show("a", "1", .with(to: "bus"))
    try desk.dismiss("a")
    _ = desk.taken()
    desk.goes(1, result: ["x": .byte(1)])
    desk.goes(1, result: ["x": .byte(2)])
    desk.ends(1, failed: true, result: ["x": .byte(3)])
    desk.fails(1)
    desk.pass(60_000)
    #expect(try desk.closed(1, result: ["x": .byte(4)], byPresenter: true) == false)
    #expect(desk.taken() == ["dismissed a 1 dismissed"])
    #expect(desk.ending(1)?.result == ["x": .byte(1)])
  }

  @Test("P6: every way to end has its reason, and ends exactly once")
  func end_everyWay_oneReason() throws {
    func end(_ reason: Reason, _ options: ItemOptions = .with(to: "cmd"), _ body: (Handle) throws -> Void) throws {
      let desk = self.desk
      let binding: BindingID = "a"
      try desk.present("p")
      let handle = try desk.show(binding, "1", options)
      try body(handle)
      desk.goes(handle)
      let ends = desk.changes.filter {
        if case .dismissed(handle, _, _, _, _) = $0.event { true } else { false }
      }
      #expect(ends.count == 1)
      #expect(desk.ending(handle)?.reason == reason)
      #expect(desk.ending(handle)?.presentedAt != nil)
      try desk.clearAway()
    }
    try end(.dismissed) { _ in try desk.dismiss("a") }
    try end(.closed) { desk.ends($0) }
    try end(.closed) { try desk.closed($0) }
    try end(.replaced) { _ in try desk.present("a", "2") }
    try end(.deselected, .with(to: "cmd", group: "g")) { _ in try desk.ask(.deselect("g", tag: nil)) }
    try end(.popped, .with(to: "cmd", stack: "s")) { _ in try desk.ask(.pop("s", count: 1)) }
    try end(.parent, .with(to: "cmd", from: "p")) { _ in try desk.dismiss("p") }
    try end(.expired, .with(to: "cmd", timeout: 5)) { _ in desk.pass(5) }
    try end(.owner, .with(to: "cmd", owned: true)) { _ in desk.leave("anna") }
    try end(.failed) { desk.ends($0, failed: true) }
    try end(.shutdown) { _ in
      desk.shutDown()
      desk.machine.state.isShuttingDown = false
    }
  }

  @Test("P6: an ending is remembered with binding, id, destination, reason, result, serial and times")
  func end_remembered() throws {
    try desk.show("a", "1")
    let shownAt = desk.now
    desk.pass(10)
    desk.ends(1, result: ["status": .int32(0)])
    #expect(
      desk.ending(1)
        == Ending(
          handle: 1, binding: "a", id: "1", destination: "cmd", group: nil, stack: nil, reason: .closed,
          result: ["status": .int32(0)],
          serial: 3, presentedAt: shownAt, endedAt: desk.now))
    #expect(desk.machine.history.map(\.handle) == [1])
    try desk.machine.requireKnown(1)
    do throws(Refusal) {
      try desk.machine.requireKnown(2)
      Issue.record("2 was never given out")
    } catch { #expect(error.code == .unknownPresentation) }
  }

  @Test("P6: a handle is given out at once and never again")
  func handles_neverUsedAgain() throws {
    var given: [Handle] = []
    for _ in 0..<5 {
      guard case .presentation(let handle?, _) = try desk.present("a", "1", .with(to: "cmd")) else {
        Issue.record("no handle")
        return
      }
      given.append(handle)
      try desk.dismiss("a")
      desk.goes(handle)
    }
    #expect(given == [1, 2, 3, 4, 5])
  }

  // MARK: P7

  @Test("P7: an item without an id has the empty id, which is never replaced by itself")
  func present_emptyID_equalsItself() throws {
    try desk.show("a")
    #expect(try desk.present("a", "", .with(to: "cmd")) == .presentation(1, changed: false))
    #expect(desk.taken() == [])
    #expect(try desk.present("a", "1", .with(to: "cmd")) == .presentation(2, changed: true))
    #expect(try desk.present("a", "", .with(to: "cmd")) == .presentation(3, changed: true))
    try desk.clearAway()
  }

  // MARK: P8

  @Test("P8: an action of a presentation is told before its end")
  func act_thenEnd_inOrder() throws {
    try desk.show("a", "1", .with(to: "bus"))
    try desk.act(1, "ok", ["x": .byte(1)], byPresenter: true)
    desk.ends(1, result: ["answer": .string("yes")])
    #expect(desk.taken() == ["action a 1 ok", "dismissed a 1 closed"])
    guard case .action(1, "a", "1", "ok", ["x": .byte(1)]) = desk.changes[desk.changes.count - 2].event else {
      Issue.record("the action was not told whole")
      return
    }
  }

  @Test("P8: while it is going, an action is still told; when it is gone, it is too late and nothing happens")
  func act_whileGoing_told() throws {
    try desk.show("a", "1", .with(to: "bus"))
    try desk.dismiss("a")
    try desk.act(1, "saved", byPresenter: true)
    desk.goes(1)
    try desk.act(1, "late", byPresenter: true)
    #expect(desk.taken() == ["dismissing a 1", "dismiss 1 dismissed", "action a 1 saved", "dismissed a 1 dismissed"])
  }

  @Test("P8: a result stands in the ending that tells of the end")
  func end_carriesResult() throws {
    try desk.show("a", "1", .with(to: "bus"))
    desk.ends(1, result: ["answer": .string("yes")])
    guard case .dismissed(1, "a", "1", .closed, ["answer": .string("yes")]) = desk.changes.last?.event else {
      Issue.record("the end was told without its result")
      return
    }
  }

  // MARK: P9

  @Test("P9: requests are carried out in the order of their arrival")
  func requests_inOrder() throws {
    try desk.present("a", "1")
    try desk.present("b", "1")
    try desk.dismiss("a")
    try desk.present("a", "2")
    try desk.dismiss("b")
    #expect(
      desk.taken() == [
        "presented a 1", "presented b 1", "dismissed a 1 dismissed", "presented a 2", "dismissed b 1 dismissed",
      ])
    try desk.clearAway()
  }

  // MARK: P10

  @Test("P10: an expected id holds while the slot holds it")
  func expectedID_movedOn_refused() throws {
    try desk.present("a", "1")
    #expect(desk.refusal(.dismiss("a"), expecting: Expected(id: "2")) == .stale)
    #expect(desk.refusal(.present("a", id: "3", .with()), expecting: Expected(id: "")) == .stale)
    #expect(desk.refusal(.present("b", id: "3", .with()), expecting: Expected(id: "")) == .stale, "nil is no empty id")
    #expect(try desk.ask(.dismiss("a"), expecting: Expected(id: "1")) == .changed(true))
    #expect(desk.refusal(.dismiss("a"), expecting: Expected(id: "1")) == .stale)
  }

  @Test("P10: a late timer cannot close the replacement: an expected presentation is compared by handle")
  func expectedPresentation_replaced_refused() throws {
    try desk.show("a", "1")
    try desk.dismiss("a")
    try desk.present("a", "1", .with(to: "cmd"))
    #expect(desk.refusal(.dismiss("a"), expecting: Expected(presentation: 1)) == .stale)
    #expect(desk.refusal(.dismiss("b"), expecting: Expected(presentation: 1)) == .stale)
    #expect(desk.refusal(.present("a", id: "2", .with()), expecting: Expected(presentation: .some(nil))) == .stale)
    try desk.ask(.dismiss("a"), expecting: Expected(presentation: 2))
    try desk.ask(.present("a", id: "2", .with()), expecting: Expected(presentation: .some(nil)))
    desk.goes(1)
    try desk.clearAway()
  }

  @Test("P10: a double click: the second toggle with the same expectation is refused")
  func expectedSerial_doubleClick_refused() throws {
    let seen = desk.machine.serial
    try desk.ask(.toggle("a", id: "", .with(), anyID: false), expecting: Expected(serial: seen))
    #expect(desk.refusal(.toggle("a", id: "", .with(), anyID: false), expecting: Expected(serial: seen)) == .stale)
    #expect(desk.shown == ["a"])
    try desk.clearAway()
  }

  @Test("P10: an expected serial is about the slot that the request names, and no other")
  func expectedSerial_otherSlotChanged_holds() throws {
    try desk.present("a", "1")
    let seen = desk.machine.serial
    try desk.present("b", "1")
    try desk.ask(
      .update("a", value: [:], remove: [], containerValues: nil, timeout: nil), expecting: Expected(serial: seen))
    try desk.ask(.dismiss("a"), expecting: Expected(serial: seen))
    let gone = desk.machine.serial
    #expect(desk.refusal(.present("a", id: "1", .with()), expecting: Expected(serial: seen)) == .stale)
    try desk.ask(.present("a", id: "1", .with()), expecting: Expected(serial: gone))
    #expect(desk.refusal(.dismiss("b"), expecting: Expected(serial: seen)) == .stale)
    try desk.clearAway()
  }

  @Test("P10: every change of the item moves the slot on; a phase does not, since requests are not judged by phases")
  func expectedSerial_changesOfItem_moveOn() throws {
    func isStale(after body: () throws -> Void) throws -> Bool {
      let seen = desk.machine.serial
      try body()
      do throws(Refusal) {
        var machine = desk.machine.copy()
        _ = try machine.perform(
          Request(.dismiss("a"), expecting: Expected(serial: seen)), by: nil, at: desk.now)
        return false
      } catch {
        #expect(error.code == .stale)
        return true
      }
    }
    #expect(try isStale { try desk.present("a", "1", .with(to: "bus")) })
    #expect(try !isStale { desk.shows(1) })
    #expect(try isStale { try desk.present("a", "1", .with(title: "T")) })
    #expect(try !isStale { desk.updates(1) })
    #expect(try !isStale { try desk.act(1, "x", byPresenter: true) })
    #expect(try isStale { try desk.present("a", "2", .with(to: "cmd")) })
    #expect(try !isStale { desk.goes(1) })
    #expect(try !isStale { try desk.present("a", "2", .with(timeout: 5)) })
    #expect(try isStale { desk.ends(2) })
    try desk.clearAway()
  }

  @Test("P10: groups and stacks have serials of their own")
  func expectedSerial_groupAndStack_movedOn() throws {
    try desk.present("x", "", .with(group: "g"))
    try desk.present("y", "", .with(stack: "s"))
    let seen = desk.machine.serial
    try desk.ask(.update("x", value: ["v": .byte(1)], remove: [], containerValues: nil, timeout: nil))
    try desk.ask(.update("y", value: ["v": .byte(1)], remove: [], containerValues: nil, timeout: nil))
    try desk.ask(.select("g", tag: "z", binding: nil, id: nil, .with()), expecting: Expected(serial: seen))
    try desk.ask(.push("s", "z2", id: "", .with()), expecting: Expected(serial: seen))
    #expect(desk.refusal(.deselect("g", tag: nil), expecting: Expected(serial: seen)) == .stale)
    #expect(
      desk.refusal(.select("g", tag: "q", binding: nil, id: nil, .with()), expecting: Expected(serial: seen)) == .stale)
    #expect(
      desk.refusal(.toggleSelection("g", tag: "q", binding: nil, id: nil, .with()), expecting: Expected(serial: seen))
        == .stale)
    #expect(desk.refusal(.dismissAll(.group("g")), expecting: Expected(serial: seen)) == .stale)
    for operation: Request.Operation in [
      .pop("s", count: 1), .popTo("s", nil), .setPath("s", []), .push("s", "w", id: "", .with()),
      .dismissAll(.stack("s")),
    ] {
      #expect(desk.refusal(operation, expecting: Expected(serial: seen)) == .stale)
    }
    let later = desk.machine.serial
    try desk.ask(.deselect("g", tag: nil), expecting: Expected(serial: later))
    try desk.ask(.pop("s", count: 1), expecting: Expected(serial: later))
    try desk.clearAway()
  }

  @Test("P10: of a root, or of everything, a serial is that of the whole state")
  func expectedSerial_everything_movedOn() throws {
    try desk.present("a")
    let seen = desk.machine.serial
    try desk.present("b")
    #expect(desk.refusal(.dismissAll(.root("a")), expecting: Expected(serial: seen)) == .stale)
    #expect(desk.refusal(.dismissAll(.all), expecting: Expected(serial: seen)) == .stale)
    try desk.ask(.dismissAll(.all), expecting: Expected(serial: desk.machine.serial))
  }

  @Test(
    "P10: an expectation of a slot from a request that names none is refused",
    arguments: [
      Request.Operation.deselect("g", tag: nil), .pop("s", count: 1), .setPath("s", []), .dismissAll(.all),
      .select("g", tag: "t", binding: nil, id: nil, .with()), .popTo("s", nil),
    ])
  func expectedID_noSlotNamed_refused(operation: Request.Operation) {
    #expect(desk.refusal(operation, expecting: Expected(id: "1")) == .invalidArgument)
    #expect(desk.refusal(operation, expecting: Expected(presentation: 1)) == .invalidArgument)
  }

  @Test("P10: what is gone so long that its change is forgotten is taken to have changed as late as it can have")
  func expectedSerial_forgotten_refused() throws {
    var limits = Limits()
    limits.endings = 1
    let desk = Desk(limits: limits)
    for index in 0..<20 {
      let binding = try #require(BindingID("a").appending(index: index))
      try desk.present(binding)
      try desk.dismiss(binding)
    }
    #expect(desk.refusal(.present("a[0]", id: "", .with()), expecting: Expected(serial: 1)) == .stale)
    try desk.ask(.present("a[0]", id: "", .with()), expecting: Expected(serial: desk.machine.serial))
    try desk.clearAway()
  }

  // MARK: P11

  @Test("P11: what is being dismissed is never revived: the same id makes a new one that waits")
  func present_sameIDWhileGoing_newOneWaits() throws {
    try desk.show("a", "1")
    try desk.dismiss("a")
    _ = desk.taken()
    #expect(try desk.present("a", "1", .with(to: "cmd")) == .presentation(2, changed: true))
    #expect(desk.taken() == ["waiting a 1"])
    desk.goes(1)
    #expect(desk.taken() == ["dismissed a 1 dismissed", "presenting a 1", "present 2 a"])
    try desk.clearAway()
  }

  @Test("P11: toggle after dismiss makes a new one too")
  func toggle_whileGoing_newOneWaits() throws {
    try desk.show("a", "1")
    let toggle = Request.Operation.toggle("a", id: "1", .with(to: "cmd"), anyID: false)
    #expect(try desk.ask(toggle) == .toggled(presented: false, nil))
    #expect(try desk.ask(toggle) == .toggled(presented: true, 2))
    #expect(desk.taken() == ["dismissing a 1", "dismiss 1 dismissed", "waiting a 1"])
    #expect(try desk.ask(toggle) == .toggled(presented: false, nil))
    #expect(try desk.ask(toggle) == .toggled(presented: true, 3))
    #expect(desk.taken() == ["dismissed a 1 dismissed", "waiting a 1"])
    desk.goes(1)
    #expect(desk.taken() == ["dismissed a 1 dismissed", "presenting a 1", "present 3 a"])
    try desk.clearAway()
  }

  @Test("P11: toggle of another id presents it; with any id it dismisses whatever is shown")
  func toggle_otherID_presents() throws {
    try desk.show("a", "1")
    #expect(try desk.ask(.toggle("a", id: "2", .with(), anyID: false)) == .toggled(presented: true, 2))
    #expect(try desk.ask(.toggle("a", id: "", .with(), anyID: true)) == .toggled(presented: false, nil))
    #expect(desk.shown == [])
    #expect(try desk.ask(.toggle("a", id: "3", .with(), anyID: true)) == .toggled(presented: true, 3))
    #expect(desk.shown == ["a=3"])
    try desk.clearAway()
  }

  @Test("P11: a group whose only member is going is not busy")
  func refuse_onlyMemberGoing_notBusy() throws {
    try desk.show("x", "", .with(to: "cmd", group: "g"))
    #expect(desk.refusal(.present("y", id: "", .with(to: "cmd", group: "g", ifBusy: .refuse))) == .busy)
    try desk.dismiss("x")
    _ = desk.taken()
    try desk.present("y", "", .with(to: "cmd", group: "g", ifBusy: .refuse))
    #expect(desk.taken() == ["selection g y", "group g x y ·", "waiting y"])
    try desk.clearAway()
  }

  @Test("P11: a path's common beginning leaves out what is going")
  func setPath_beginningGoing_pushedAnew() throws {
    try desk.ask(.setPath("s", .values("1", "2", to: "cmd")))
    desk.shows(1, 2)
    try desk.ask(.popTo("s", nil))
    _ = desk.taken()
    #expect(try desk.ask(.setPath("s", .values("1", "2", to: "cmd"))) == .path([3, 4]))
    #expect(desk.taken() == ["path s s[0]=1 s[1]=2", "waiting s[0] 1", "waiting s[1] 2"])
    try desk.clearAway()
  }

  @Test("P11: an item that is going is nobody's parent")
  func present_fromGoing_refused() throws {
    try desk.show("p")
    try desk.dismiss("p")
    #expect(desk.refusal(.present("a", id: "", .with(from: "p"))) == .notPresented)
    try desk.present("p.x")
    #expect(desk.parent("p.x") == nil)
    desk.goes(1)
    #expect(desk.shown == ["p.x"])
    try desk.clearAway()
  }

  // MARK: P12

  @Test("P12: the first cause fixes the reason; errors, crashes and farewells while dismissing only complete it")
  func end_secondCause_firstReason() throws {
    for complete: (Handle) -> Void in [
      { desk.ends($0) }, { desk.ends($0, failed: true, result: ["signal": .string("SEGV")]) }, { desk.goes($0) },
    ] {
      let handle = try desk.show("a", "1", .with(to: "cmd", timeout: 10, owned: true))
      try desk.present("a", "2", .with(to: "cmd"))
      desk.pass(20)
      try desk.dismiss("a")
      desk.leave("anna")
      complete(handle)
      #expect(desk.ending(handle)?.reason == .replaced)
      try desk.clearAway()
    }
  }

  @Test("P12: a timeout, an owner's leaving and a deselection of what is going already change nothing")
  func end_whileGoing_nothing() throws {
    try desk.show("a", "1", .with(to: "cmd", group: "g", timeout: 10, owned: true))
    try desk.dismiss("a")
    _ = desk.taken()
    desk.pass(20)
    desk.leave("anna")
    try desk.ask(.deselect("g", tag: nil))
    #expect(desk.taken() == [])
    desk.goes(1)
    #expect(desk.taken() == ["dismissed a 1 dismissed"])
  }

  @Test("P12: what fails to show and is then dismissed by its client has failed")
  func end_failedFirst_failed() throws {
    try desk.show("a", "1")
    try desk.show("b", "1", .with(to: "cmd", from: "a"))
    desk.ends(1, failed: true, result: ["signal": .string("SEGV")])
    #expect(desk.taken() == ["dismissing a 1", "dismissing b 1", "dismiss 2 parent"])
    #expect(try desk.dismiss("a") == .changed(false))
    desk.goes(2)
    #expect(desk.taken() == ["dismissed b 1 parent", "dismissed a 1 failed"])
    #expect(desk.ending(1)?.result == ["signal": .string("SEGV")])
  }

  // MARK: P13

  @Test("P13: it waits for its slot's previous, its group's previous, its parent, and what stood above, in any order")
  func start_severalWaits_startsAfterTheLast() throws {
    let ends: [(Desk) -> Void] = [{ $0.goes(1) }, { $0.goes(2) }, { $0.goes(4) }, { $0.shows(5) }]
    func permutations(_ list: [Int]) -> [[Int]] {
      list.isEmpty ? [[]] : list.flatMap { first in permutations(list.filter { $0 != first }).map { [first] + $0 } }
    }
    for order in permutations(Array(ends.indices)) {
      let desk = Desk()
      try desk.show("x", "old")
      try desk.show("m", "", .with(to: "cmd", group: "g"))
      try desk.show("b", "", .with(to: "cmd", stack: "s"))
      try desk.show("t", "", .with(to: "cmd", stack: "s"))
      try desk.present("p", "", .with(to: "cmd"))
      try desk.ask(.pop("s", count: 1))
      try desk.ask(.push("s", "x", id: "new", .with(to: "cmd", from: "p", group: "g")))
      #expect(desk.taken().suffix(2) == ["dismiss 2 deselected", "dismiss 1 replaced"])
      for wait in order {
        #expect(desk.phase(6) == "waiting")
        ends[wait](desk)
      }
      #expect(desk.taken().suffix(2) == ["presenting x new", "present 6 x"])
      try desk.clearAway()
    }
  }

  @Test("P13: it waits for the stack element below it")
  func start_belowNotPresented_waits() throws {
    try desk.ask(.setPath("s", [.at("a", "", .with(to: "cmd")), .at("b"), .at("c", "", .with(to: "cmd"))]))
    #expect(desk.taken() == ["path s a b c", "presenting a", "waiting b", "waiting c", "present 1 a"])
    desk.shows(1)
    #expect(desk.taken() == ["presented a", "presented b", "presenting c", "present 3 c"])
    try desk.clearAway()
  }

  @Test("P13: while what stood at and above its place goes, it waits, though what is below it is presented")
  func start_aboveGoing_waits() throws {
    try desk.ask(.setPath("s", .values("1", "2", "3", to: "cmd")))
    desk.shows(1, 2, 3)
    try desk.ask(.setPath("s", .values("1", "9", to: "cmd")))
    _ = desk.taken()
    desk.goes(3)
    #expect(desk.taken() == ["dismissed s[2] 3 popped", "dismiss 2 popped"])
    desk.goes(2)
    #expect(desk.taken() == ["dismissed s[1] 2 popped", "presenting s[1] 9", "present 4 s[1]"])
    try desk.clearAway()
  }

  @Test("P13: one in a queue is not the selected one, and waits")
  func start_queued_waits() throws {
    try desk.present("x", "", .with(group: "g"))
    try desk.present("y", "", .with(group: "g", ifBusy: .queue))
    #expect(desk.phase(2) == "waiting")
    try desk.dismiss("x")
    #expect(desk.phase(2) == "presented")
    try desk.clearAway()
  }

  // MARK: P14

  @Test("P14: a process that outlives its grace is killed, and after another grace it counts as gone")
  func dismiss_commandDoesNotGo_killedThenGone() throws {
    try desk.show("a", "1")
    try desk.present("a", "2", .with(to: "cmd"))
    _ = desk.taken()
    desk.pass(Destination.standardGrace - 1)
    #expect(desk.taken() == [])
    desk.pass(1)
    #expect(desk.taken() == ["kill 1"])
    desk.pass(Destination.standardGrace - 1)
    #expect(desk.taken() == [])
    desk.pass(1)
    #expect(desk.taken() == ["dismissed a 1 replaced", "presenting a 2", "abandon 1", "present 2 a"])
    #expect(desk.ending(1)?.reason == .replaced, "the reason stays")
    #expect(desk.ending(1)?.result["error"] != nil, "it is told")
    desk.goes(1)
    desk.ends(1)
    #expect(desk.taken() == [])
    try desk.clearAway()
  }

  @Test("P14: a process or unit that goes when it is killed is gone", arguments: ["cmd", "unit"])
  func dismiss_killed_gone(destination: String) throws {
    try desk.show("a", "1", .with(to: destination))
    try desk.dismiss("a")
    desk.pass(Destination.standardGrace)
    desk.ends(1, failed: true, result: ["signal": .string("KILL")])
    #expect(desk.taken() == ["dismissing a 1", "dismiss 1 dismissed", "kill 1", "dismissed a 1 dismissed"])
    #expect(desk.ending(1)?.result == ["signal": .string("KILL")])
    desk.pass(10_000)
    #expect(desk.taken() == [])
  }

  @Test("P14: a presenter that nothing can kill counts as gone after one grace")
  func dismiss_otherDoesNotGo_gone() throws {
    try desk.show("a", "1", .with(to: "bus"))
    try desk.dismiss("a")
    desk.pass(Destination.standardGrace - 1)
    #expect(desk.taken() == ["dismissing a 1", "dismiss 1 dismissed"])
    desk.pass(1)
    #expect(desk.taken() == ["dismissed a 1 dismissed", "abandon 1"])
    #expect(desk.leftovers == [])
  }

  @Test("P14: the grace is the destination's, and starts when it is told to go")
  func dismiss_heldUp_graceStartsWhenTold() throws {
    desk.load([
      Destination(
        name: "slow", presenter: .bus(name: "org.example.Slow", path: "/"), grace: 5000, source: Desk.file("slow")),
      Desk.bus("bus"),
    ])
    try desk.show("a", "1", .with(to: "slow"))
    try desk.show("b", "1", .with(to: "slow", from: "a"))
    try desk.dismiss("a")
    desk.pass(4999)
    #expect(desk.taken() == ["dismissing a 1", "dismissing b 1", "dismiss 2 parent"])
    desk.pass(1)
    #expect(desk.taken() == ["dismissed b 1 parent", "abandon 2", "dismiss 1 dismissed"])
    desk.pass(4999)
    #expect(desk.taken() == [])
    desk.pass(1)
    #expect(desk.taken() == ["dismissed a 1 dismissed", "abandon 1"])
  }

  @Test("P14: what is not shown within its time has failed, and is told to go, since it may yet come up")
  func present_notShownInTime_failed() throws {
    try desk.present("a", "1", .with(to: "bus"))
    _ = desk.taken()
    desk.pass(Destination.standardStartTimeout - 1)
    #expect(desk.taken() == [])
    desk.pass(1)
    #expect(desk.taken() == ["dismissing a 1", "dismiss 1 failed"])
    desk.shows(1)
    #expect(desk.taken() == [])
    desk.goes(1, result: ["x": .byte(1)])
    #expect(desk.taken() == ["dismissed a 1 failed"])
    #expect(desk.ending(1)?.result["error"] != nil)
    #expect(desk.leftovers == [])
  }

  @Test("P14: everything that a machine waits for has an end, if all presenters are silent")
  func everybodySilent_allGone() throws {
    try desk.present("p", "", .with(to: "bus"))
    try desk.ask(.setPath("s", .values("1", "2", to: "cmd")))
    desk.shows(1, 2, 3)
    try desk.present("p.q", "", .with(to: "cmd", group: "g"))
    desk.shows(4)
    try desk.present("m", "", .with(to: "unit", group: "g", ifBusy: .queue))
    try desk.ask(.dismissAll(.all))
    desk.pass(60_000)
    #expect(desk.leftovers == [])
    #expect(desk.machine.nextDeadline == nil)
  }
}
