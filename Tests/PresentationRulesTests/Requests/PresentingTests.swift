import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules
@testable import Simulation

/// Presenting in one slot: setting, replacing, dismissing, ends, expectations and deadlines (P1 to P14).
@Suite struct PresentingTests {
  let fixture = RulesFixture()

  // MARK: P1

  @Test(
    "P1: an item set where nothing is live is presenting, and presented when its presenter acknowledges",
    arguments: ["cmd", "unit", "bus"])
  func present_nothingLive_presentingThenPresented(destination: String) throws {
    let reply = try fixture.present("a", "1", .with(to: destination))
    #expect(reply == .presentation(1, changed: true))
    #expect(fixture.taken() == ["presenting a 1", "present 1 a"])
    #expect(fixture.phase(1) == "presenting")
    fixture.shows(1)
    #expect(fixture.taken() == ["presented a 1"])
    #expect(fixture.phase(1) == "presented")
    fixture.shows(1)
    #expect(fixture.taken() == [], "an acknowledgement counts once")
    try fixture.clearAway()
  }

  @Test("P1: an item that is state only is presented at once", arguments: [nil, "bare"])
  func present_stateOnly_presentedAtOnce(destination: String?) throws {
    try fixture.present("a", "1", .with(to: destination))
    #expect(fixture.taken() == ["presented a 1"])
    try fixture.dismiss("a")
    #expect(fixture.taken() == ["dismissed a 1 dismissed"])
    #expect(fixture.leftovers == [])
  }

  @Test("P1: different bindings are presented side by side")
  func present_severalBindings_independent() throws {
    try fixture.show("a", "1")
    try fixture.show("b", "1")
    try fixture.dismiss("a")
    #expect(fixture.taken() == ["dismissing a 1", "dismiss 1 dismissed"])
    #expect(fixture.shown == ["b=1"])
    try fixture.clearAway()
  }

  // MARK: P2

  @Test("P2: the same id dismisses nothing; given options are replaced, and the presenter gets an update")
  func present_sameID_updated() throws {
    try fixture.machine.declareContainerValue("k", defaultValue: .int32(0))
    try fixture.machine.declareContainerValue("l", defaultValue: .int32(0))
    try fixture.show(
      "a", "1",
      .with(
        to: "bus", value: ["x": .int32(1), "y": .int32(2)], containerValues: ["k": .int32(1)], style: "sheet",
        title: "One", owned: true, priority: 1))
    func expect(_ options: ItemOptions, _ change: (inout Shared<Item>) -> Void) throws {
      var item = try #require(fixture.item("a"))
      change(&item)
      #expect(try fixture.present("a", "1", options, by: "bert") == .presentation(1, changed: true))
      #expect(fixture.taken() == ["updated a 1", "update 1 by bert"])
      fixture.updates(1)
      #expect(fixture.item("a") == item)
      #expect(fixture.taken() == [])
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
    #expect(fixture.phase(1) == "presented")
    try fixture.clearAway()
  }

  @Test("P2: options that the request does not give stay")
  func present_sameIDGivesNothing_stays() throws {
    let options = ItemOptions.with(
      to: "bus", value: ["x": .int32(1)], style: "sheet", title: "One", timeout: 1000, owned: true, priority: 1)
    try fixture.show("a", "1", options)
    let before = fixture.item("a")
    #expect(try fixture.present("a", "1", by: "bert") == .presentation(1, changed: false))
    #expect(fixture.item("a") == before)
    #expect(fixture.taken() == [])
    try fixture.clearAway()
  }

  @Test("P2: if nothing differs nothing happens, and the reply says so")
  func present_nothingDiffers_unchanged() throws {
    let options = ItemOptions.with(
      to: "bus", value: ["x": .int32(1), "n": .double(.nan), "d": .dictionary(key: .string, value: .variant, [:])],
      style: "sheet", title: "One", owned: true, priority: 1)
    try fixture.show("a", "1", options)
    let serial = fixture.machine.serial
    #expect(try fixture.present("a", "1", options) == .presentation(1, changed: false))
    #expect(fixture.taken() == [])
    #expect(fixture.machine.serial == serial)
    try fixture.clearAway()
  }

  @Test("P2: integers compare by number whatever their width, dictionaries without order, NaN equals NaN")
  func present_equalValues_unchanged() throws {
    let words: [Value: Value] = [.string("p"): .byte(1), .string("q"): .byte(2)]
    let others: [Value: Value] = [.string("q"): .int64(2), .string("p"): .uint16(1)]
    try fixture.show(
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
    #expect(try fixture.present("a", "1", .with(value: same)) == .presentation(1, changed: false))
    #expect(fixture.taken() == [])
    for (key, value): (String, Value) in [("i", .int64(8)), ("i", .double(7)), ("i", .string("7")), ("n", .double(0))] {
      var different = same
      different[key] = value
      #expect(try fixture.present("a", "1", .with(value: different)) == .presentation(1, changed: true))
      fixture.updates(1)
      #expect(fixture.taken() == ["updated a 1", "update 1 by anna"])
      try fixture.present("a", "1", .with(value: same))
      fixture.updates(1)
      #expect(fixture.taken() == ["updated a 1", "update 1 by anna"])
    }
    try fixture.clearAway()
  }

  @Test("P2: a timeout given starts again and is on record, without an event")
  func present_onlyTimeoutGiven_restartsWithoutEvent() throws {
    try fixture.show("a", "1", .with(to: "cmd", timeout: 1000))
    fixture.pass(900)
    let serial = fixture.machine.serial
    #expect(try fixture.present("a", "1", .with(timeout: 2000)) == .presentation(1, changed: false))
    #expect(fixture.item("a")?.timeout == 2000)
    #expect(fixture.machine.serial == serial)
    fixture.pass(1999)
    #expect(fixture.taken() == [])
    fixture.pass(1)
    #expect(fixture.taken() == ["dismissing a 1", "dismiss 1 expired"])
    try fixture.clearAway()
  }

  @Test("P2: the same id with another destination, command, parent, group, tag or stack is refused")
  func present_sameIDOtherPlace_refused() throws {
    try fixture.present("p")
    try fixture.present("q")
    try fixture.show("a", "1", .with(to: "cmd", from: "p", group: "g", tag: "t", stack: "s"))
    for options: ItemOptions in [
      .with(to: "bus"), .with(command: ["sleep", "9"]), .with(from: "q"), .with(group: "h"),
      .with(group: "g", tag: "u"),
      .with(tag: "u"), .with(stack: "r"), .with(from: "a"), .with(value: ["x": .byte(1)], stack: "r"),
    ] {
      #expect(fixture.refusal(.present("a", id: "1", options)) == .invalidArgument, "\(options)")
    }
    #expect(
      try fixture.present("a", "1", .with(to: "cmd", from: "p", group: "g", tag: "t", stack: "s"))
        == .presentation(3, changed: false))
    #expect(try fixture.present("a", "1", .with(group: "g")) == .presentation(3, changed: false))
    try fixture.clearAway()
  }

  @Test("P2: a request with the same id cannot add a destination, command, parent, group or stack")
  func present_sameIDNewPlace_refused() throws {
    try fixture.present("p")
    try fixture.present("a", "1")
    for options: ItemOptions in [
      .with(to: "cmd"), .with(command: ["sleep", "9"]), .with(from: "p"), .with(group: "h"), .with(stack: "r"),
    ] {
      #expect(fixture.refusal(.present("a", id: "1", options)) == .invalidArgument, "\(options)")
    }
    try fixture.clearAway()
  }

  @Test("P2: the same command again is an update, another is refused")
  func present_sameIDCommand_comparedWhole() throws {
    try fixture.show("a", "1", .with(command: ["foot", "-e", "top"]))
    #expect(try fixture.present("a", "1", .with(command: ["foot", "-e", "top"])) == .presentation(1, changed: false))
    for command in [["foot", "-e"], ["foot", "-e top"], ["foot", "-e", "top", ""], ["top", "-e", "foot"]] {
      #expect(fixture.refusal(.present("a", id: "1", .with(command: command))) == .invalidArgument)
    }
    #expect(fixture.refusal(.present("a", id: "1", .with(to: "cmd"))) == .invalidArgument)
    try fixture.show("b", "1", .with(to: "cmd"))
    for (binding, shown) in [("a", "“foot -e top”"), ("b", "“the destination cmd”")] as [(BindingID, String)] {
      let refusal = fixture.refusal(of: .present(binding, id: "1", .with(command: ["top"])))
      #expect(refusal?.message.contains("at “\(binding)” has \(shown)") == true)
    }
    try fixture.clearAway()
  }

  @Test("P2: options that only matter at the start make no difference afterwards")
  func present_sameIDOtherEnvironment_unchanged() throws {
    try fixture.show(
      "a", "1", .with(to: "cmd", directory: "/", environment: ["A": "1"], platformData: ["output": .string("DP-1")]))
    let options = ItemOptions.with(
      directory: "/tmp", environment: ["A": "2"], platformData: ["output": .string("DP-2")])
    #expect(try fixture.present("a", "1", options) == .presentation(1, changed: false))
    #expect(fixture.taken() == [])
    try fixture.clearAway()
  }

  @Test("P2: waiting and presenting items are updated, too, and keep their phase")
  func present_sameIDWhileWaiting_updated() throws {
    try fixture.show("a", "1")
    try fixture.present("a", "2", .with(to: "cmd", value: ["x": .byte(1)]))
    #expect(fixture.taken() == ["dismissing a 1", "waiting a 2", "dismiss 1 replaced"])
    #expect(try fixture.present("a", "2", .with(value: ["x": .byte(2)])) == .presentation(2, changed: true))
    #expect(fixture.taken() == ["updated a 2"])
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed a 1 replaced", "presenting a 2", "present 2 a"])
    #expect(try fixture.present("a", "2", .with(value: ["x": .byte(3)])) == .presentation(2, changed: true))
    #expect(fixture.taken() == ["updated a 2"])
    #expect(fixture.phase(2) == "presenting")
    try fixture.clearAway()
  }

  // MARK: P3

  @Test("P3: another id dismisses the old item first, and presents the new one when that has ended")
  func present_otherID_replacedAfterwards() throws {
    try fixture.show("a", "A")
    #expect(try fixture.present("a", "B", .with(to: "cmd")) == .presentation(2, changed: true))
    #expect(fixture.taken() == ["dismissing a A", "waiting a B", "dismiss 1 replaced"])
    #expect(fixture.item("a")?.id == "B")
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed a A replaced", "presenting a B", "present 2 a"])
    fixture.shows(2)
    #expect(fixture.taken() == ["presented a B"])
    try fixture.clearAway()
  }

  @Test("P3: A→B→C while A is being dismissed presents C and never B")
  func present_overtaken_neverShown() throws {
    try fixture.show("a", "A")
    try fixture.present("a", "B", .with(to: "cmd"))
    fixture.pass(100)
    #expect(try fixture.present("a", "C", .with(to: "cmd")) == .presentation(3, changed: true))
    #expect(
      fixture.taken() == [
        "dismissing a A", "waiting a B", "dismiss 1 replaced", "dismissed a B replaced", "waiting a C",
      ])
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed a A replaced", "presenting a C", "present 3 a"])
    fixture.shows(3)
    #expect(fixture.taken() == ["presented a C"])
    #expect(fixture.ending(2)?.reason == .replaced && fixture.ending(2)?.presentedAt == nil)
    try fixture.clearAway()
  }

  @Test("P3: A→B→nil presents nothing; B ends with the reason of the last request")
  func dismiss_whileWaiting_nothingShown() throws {
    try fixture.show("a", "A")
    try fixture.present("a", "B", .with(to: "cmd"))
    #expect(fixture.taken() == ["dismissing a A", "waiting a B", "dismiss 1 replaced"])
    #expect(try fixture.dismiss("a") == .changed(true))
    #expect(fixture.taken() == ["dismissed a B dismissed"])
    #expect(fixture.shown == [])
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed a A replaced"])
    #expect(fixture.leftovers == [])
  }

  @Test("P3: A→B→A dismisses A and presents A again, as a new presentation")
  func present_firstIDAgain_newPresentation() throws {
    try fixture.show("a", "A")
    try fixture.present("a", "B", .with(to: "cmd"))
    #expect(try fixture.present("a", "A", .with(to: "cmd")) == .presentation(3, changed: true))
    #expect(
      fixture.taken() == [
        "dismissing a A", "waiting a B", "dismiss 1 replaced", "dismissed a B replaced", "waiting a A",
      ])
    fixture.goes(1)
    fixture.shows(3)
    #expect(fixture.taken() == ["dismissed a A replaced", "presenting a A", "present 3 a", "presented a A"])
    try fixture.clearAway()
  }

  @Test("P3: a presenting item is dismissed at once when another id is set")
  func present_otherIDWhilePresenting_cancelled() throws {
    try fixture.present("a", "A", .with(to: "bus"))
    try fixture.present("a", "B", .with(to: "cmd"))
    #expect(
      fixture.taken() == [
        "presenting a A", "present 1 a", "dismissing a A", "waiting a B", "dismiss 1 replaced forced",
      ])
    fixture.shows(1)
    #expect(fixture.taken() == [], "a late answer to the first is ignored")
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed a A replaced", "presenting a B", "present 2 a"])
    try fixture.clearAway()
  }

  @Test("P3: the item is presented as it is by then")
  func present_editedWhileWaiting_presentedAsItStands() throws {
    try fixture.show("a", "A")
    try fixture.present("a", "B", .with(to: "cmd", value: ["x": .byte(1)]))
    try fixture.ask(.update("a", value: ["x": .byte(2)], remove: [], containerValues: nil, timeout: nil))
    fixture.goes(1)
    #expect(fixture.machine.presentation(2)?.item.value == ["x": .byte(2)])
    try fixture.clearAway()
  }

  @Test("P3: an id change is another item: nothing of the old one is taken over")
  func present_otherID_startsAfresh() throws {
    try fixture.show(
      "a", "A",
      .with(to: "cmd", value: ["x": .byte(1)], style: "sheet", title: "One", timeout: 1, owned: true, priority: 3))
    try fixture.present("a", "B")
    let item = try #require(fixture.item("a"))
    #expect(item.destination == nil && item.value == [:] && item.style == nil && item.title == nil)
    #expect(item.timeout == nil && item.owner == nil && item.priority == 0)
    try fixture.clearAway()
  }

  @Test("P3: an item that is state only is replaced with no moment in between")
  func present_otherIDStateOnly_replacedAtOnce() throws {
    try fixture.present("a", "A")
    try fixture.present("a", "B")
    #expect(fixture.taken() == ["presented a A", "dismissed a A replaced", "presented a B"])
    try fixture.clearAway()
  }

  // MARK: P4

  @Test("P4: nil dismisses the presentation")
  func dismiss_presented_dismissed() throws {
    try fixture.show("a", "1")
    #expect(try fixture.dismiss("a") == .changed(true))
    #expect(fixture.taken() == ["dismissing a 1", "dismiss 1 dismissed"])
    #expect(fixture.shown == [])
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed a 1 dismissed"])
    #expect(fixture.leftovers == [])
  }

  @Test("P4: a presenting item is cancelled: dismissed at once, and a late answer to Present is ignored")
  func dismiss_presenting_cancelled() throws {
    try fixture.present("a", "1", .with(to: "bus"))
    try fixture.dismiss("a")
    #expect(fixture.taken() == ["presenting a 1", "present 1 a", "dismissing a 1", "dismiss 1 dismissed forced"])
    fixture.shows(1)
    fixture.fails(1)
    #expect(fixture.taken() == [])
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed a 1 dismissed"])
    #expect(fixture.ending(1)?.result == [:])
    #expect(fixture.leftovers == [])
    fixture.shows(1)
    #expect(fixture.taken() == [])
  }

  @Test("P4: an error as the answer to a dismissal is the end, too")
  func dismiss_answeredByError_gone() throws {
    try fixture.show("a", "1", .with(to: "bus"))
    try fixture.dismiss("a")
    fixture.goes(1, result: ["error": .string("no such method")])
    #expect(fixture.ending(1)?.reason == .dismissed)
    #expect(fixture.ending(1)?.result == ["error": .string("no such method")])
    #expect(fixture.leftovers == [])
  }

  @Test("P4: nil where nil is already changes nothing")
  func dismiss_nothingThere_unchanged() throws {
    #expect(try fixture.dismiss("a") == .changed(false))
    try fixture.show("a")
    try fixture.dismiss("a")
    _ = fixture.taken()
    #expect(try fixture.dismiss("a") == .changed(false), "it is going already (P11)")
    #expect(fixture.taken() == [])
    try fixture.clearAway()
  }

  @Test("P4: a dismissal leaves nothing behind, and no later item of the slot appears")
  func dismiss_waitingOnes_nothingLater() throws {
    try fixture.show("a", "A")
    for id in ["B", "C", "D"] { try fixture.present("a", id, .with(to: "cmd")) }
    try fixture.dismiss("a")
    _ = fixture.taken()
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed a A replaced"])
    #expect(fixture.leftovers == [] && fixture.machine.nextDeadline.map { $0 <= fixture.now } != true)
    fixture.pass(100_000)
    #expect(fixture.taken() == [])
  }

  // MARK: P5

  @Test("P5: an item that ends by itself empties its slot")
  func ended_byItself_slotNil() throws {
    try fixture.show("a", "1")
    fixture.ends(1, result: ["status": .int32(3)])
    #expect(fixture.taken() == ["dismissed a 1 closed"])
    #expect(fixture.ending(1)?.result == ["status": .int32(3)])
    #expect(fixture.leftovers == [])
  }

  @Test("P5: true→false→true while the first is closing: the late report of its end does not clear the second")
  func ended_lateFarewell_secondStays() throws {
    try fixture.show("a", "1")
    try fixture.dismiss("a")
    try fixture.present("a", "1", .with(to: "cmd"))
    #expect(fixture.taken() == ["dismissing a 1", "dismiss 1 dismissed", "waiting a 1"])
    fixture.ends(1)
    #expect(fixture.taken() == ["dismissed a 1 dismissed", "presenting a 1", "present 2 a"])
    fixture.ends(1)
    fixture.goes(1)
    fixture.ends(1, failed: true)
    #expect(fixture.taken() == [])
    #expect(fixture.handle("a") == 2)
    try fixture.clearAway()
  }

  @Test("P5: a report of an end is compared by handle, not by id", arguments: [false, true])
  func ended_afterReplacement_replacementStays(failed: Bool) throws {
    try fixture.show("a", "1")
    try fixture.present("a", "2", .with(to: "cmd"))
    _ = fixture.taken()
    fixture.ends(1, failed: failed)
    #expect(fixture.taken() == ["dismissed a 1 replaced", "presenting a 2", "present 2 a"])
    #expect(fixture.item("a")?.id == "2")
    try fixture.clearAway()
  }

  @Test("P5: an item that ends while it is still presenting writes nil, too")
  func ended_presenting_slotNil() throws {
    try fixture.present("a", "1", .with(to: "cmd"))
    fixture.ends(1, failed: true)
    #expect(fixture.taken() == ["presenting a 1", "present 1 a", "dismissed a 1 failed"])
    #expect(fixture.leftovers == [])
  }

  @Test("P5: a report that a waiting item has ended is ignored")
  func ended_waiting_ignored() throws {
    try fixture.show("a", "1")
    try fixture.present("a", "2", .with(to: "cmd"))
    _ = fixture.taken()
    fixture.ends(2)
    fixture.goes(2)
    fixture.shows(2)
    fixture.fails(2)
    #expect(fixture.taken() == [])
    #expect(fixture.phase(2) == "waiting")
    try fixture.clearAway()
  }

  // MARK: P6

  @Test("P6: a presentation ends once, however often its end is reported")
  func end_toldAgain_once() throws {
    try fixture.show("a", "1", .with(to: "bus"))
    try fixture.dismiss("a")
    _ = fixture.taken()
    fixture.goes(1, result: ["x": .byte(1)])
    fixture.goes(1, result: ["x": .byte(2)])
    fixture.ends(1, failed: true, result: ["x": .byte(3)])
    fixture.fails(1)
    fixture.pass(60_000)
    #expect(try fixture.closed(1, result: ["x": .byte(4)], byPresenter: true) == false)
    #expect(fixture.taken() == ["dismissed a 1 dismissed"])
    #expect(fixture.ending(1)?.result == ["x": .byte(1)])
  }

  @Test("P6: every way to end has its reason, and ends exactly once")
  func end_everyWay_oneReason() throws {
    func end(_ reason: Reason, _ options: ItemOptions = .with(to: "cmd"), _ body: (Handle) throws -> Void) throws {
      let fixture = self.fixture
      let binding: BindingID = "a"
      try fixture.present("p")
      let handle = try fixture.show(binding, "1", options)
      try body(handle)
      fixture.goes(handle)
      let ends = fixture.changes.filter {
        if case .dismissed(handle, _, _, _, _) = $0.event { true } else { false }
      }
      #expect(ends.count == 1)
      #expect(fixture.ending(handle)?.reason == reason)
      #expect(fixture.ending(handle)?.presentedAt != nil)
      try fixture.clearAway()
    }
    try end(.dismissed) { _ in try fixture.dismiss("a") }
    try end(.closed) { fixture.ends($0) }
    try end(.closed) { try fixture.closed($0) }
    try end(.replaced) { _ in try fixture.present("a", "2") }
    try end(.deselected, .with(to: "cmd", group: "g")) { _ in try fixture.ask(.deselect("g", tag: nil)) }
    try end(.popped, .with(to: "cmd", stack: "s")) { _ in try fixture.ask(.pop("s", count: 1)) }
    try end(.parent, .with(to: "cmd", from: "p")) { _ in try fixture.dismiss("p") }
    try end(.expired, .with(to: "cmd", timeout: 5)) { _ in fixture.pass(5) }
    try end(.owner, .with(to: "cmd", owned: true)) { _ in fixture.leave("anna") }
    try end(.failed) { fixture.ends($0, failed: true) }
    try end(.shutdown) { _ in
      fixture.shutDown()
      fixture.machine.state.isShuttingDown = false
    }
  }

  @Test("P6: an ending is remembered with binding, id, destination, reason, result, serial and times")
  func end_remembered() throws {
    try fixture.show("a", "1")
    let shownAt = fixture.now
    fixture.pass(10)
    fixture.ends(1, result: ["status": .int32(0)])
    #expect(
      fixture.ending(1)
        == Ending(
          handle: 1, binding: "a", id: "1", destination: "cmd", group: nil, stack: nil, reason: .closed,
          result: ["status": .int32(0)],
          serial: 3, presentedAt: shownAt, endedAt: fixture.now))
    #expect(fixture.machine.history.map(\.handle) == [1])
    try fixture.machine.requireKnown(1)
    try fixture.machine.requireKnown(try fixture.show("b"))
    do throws(Refusal) {
      try fixture.machine.requireKnown(3)
      Issue.record("3 was never given out")
    } catch {
      #expect(error.code == .unknownPresentation && error.message.hasPrefix("there was no presentation 3"))
    }
  }

  @Test("K5: the endings after a serial are those that follow it, the latest first")
  func endings_afterSerial_areTheLaterOnes() throws {
    for binding in ["a", "b", "c"] as [BindingID] {
      try fixture.show(binding)
      fixture.ends(fixture.machine.lastHandle)
    }
    let first = try #require(fixture.ending(1))
    let later = fixture.machine.endings(after: first.serial).map(\.handle)
    #expect(later == [3, 2])
  }

  @Test("P6: a handle is given out at once and never again")
  func handles_neverUsedAgain() throws {
    var given: [Handle] = []
    for _ in 0..<5 {
      guard case .presentation(let handle?, _) = try fixture.present("a", "1", .with(to: "cmd")) else {
        Issue.record("no handle")
        return
      }
      given.append(handle)
      try fixture.dismiss("a")
      fixture.goes(handle)
    }
    #expect(given == [1, 2, 3, 4, 5])
  }

  // MARK: P7

  @Test("P7: an item without an id has the empty id, which is never replaced by itself")
  func present_emptyID_equalsItself() throws {
    try fixture.show("a")
    #expect(try fixture.present("a", "", .with(to: "cmd")) == .presentation(1, changed: false))
    #expect(fixture.taken() == [])
    #expect(try fixture.present("a", "1", .with(to: "cmd")) == .presentation(2, changed: true))
    #expect(try fixture.present("a", "", .with(to: "cmd")) == .presentation(3, changed: true))
    try fixture.clearAway()
  }

  // MARK: P8

  @Test("P8: an action of a presentation is announced before its end")
  func act_thenEnd_inOrder() throws {
    try fixture.show("a", "1", .with(to: "bus"))
    try fixture.act(1, "ok", ["x": .byte(1)], byPresenter: true)
    fixture.ends(1, result: ["answer": .string("yes")])
    #expect(fixture.taken() == ["action a 1 ok", "dismissed a 1 closed"])
    guard case .action(1, "a", "1", "ok", ["x": .byte(1)]) = fixture.changes[fixture.changes.count - 2].event else {
      Issue.record("the action was not told whole")
      return
    }
  }

  @Test("P8: an action is announced during the dismissal, and ignored after the end")
  func act_whileGoing_told() throws {
    try fixture.show("a", "1", .with(to: "bus"))
    try fixture.dismiss("a")
    try fixture.act(1, "saved", byPresenter: true)
    fixture.goes(1)
    try fixture.act(1, "late", byPresenter: true)
    #expect(
      fixture.taken() == ["dismissing a 1", "dismiss 1 dismissed", "action a 1 saved", "dismissed a 1 dismissed"])
  }

  @Test("P8: the result is in the announced ending")
  func end_carriesResult() throws {
    try fixture.show("a", "1", .with(to: "bus"))
    fixture.ends(1, result: ["answer": .string("yes")])
    guard case .dismissed(1, "a", "1", .closed, ["answer": .string("yes")]) = fixture.changes.last?.event else {
      Issue.record("the end was told without its result")
      return
    }
  }

  // MARK: P9

  @Test("P9: requests are carried out in the order of their arrival")
  func requests_inOrder() throws {
    try fixture.present("a", "1")
    try fixture.present("b", "1")
    try fixture.dismiss("a")
    try fixture.present("a", "2")
    try fixture.dismiss("b")
    #expect(
      fixture.taken() == [
        "presented a 1", "presented b 1", "dismissed a 1 dismissed", "presented a 2", "dismissed b 1 dismissed",
      ])
    try fixture.clearAway()
  }

  // MARK: P10

  @Test("P10: an expected id holds while the slot holds it")
  func expectedID_movedOn_refused() throws {
    try fixture.present("a", "1")
    #expect(fixture.refusal(.dismiss("a"), expecting: Expected(id: "2")) == .stale)
    #expect(fixture.refusal(.present("a", id: "3", .with()), expecting: Expected(id: "")) == .stale)
    #expect(
      fixture.refusal(.present("b", id: "3", .with()), expecting: Expected(id: "")) == .stale, "nil is no empty id")
    #expect(try fixture.ask(.dismiss("a"), expecting: Expected(id: "1")) == .changed(true))
    #expect(fixture.refusal(.dismiss("a"), expecting: Expected(id: "1")) == .stale)
  }

  @Test("P10: a late timer cannot close the replacement: an expected presentation is compared by handle")
  func expectedPresentation_replaced_refused() throws {
    try fixture.show("a", "1")
    try fixture.dismiss("a")
    try fixture.present("a", "1", .with(to: "cmd"))
    #expect(fixture.refusal(.dismiss("a"), expecting: Expected(presentation: 1)) == .stale)
    #expect(fixture.refusal(.dismiss("b"), expecting: Expected(presentation: 1)) == .stale)
    #expect(fixture.refusal(.present("a", id: "2", .with()), expecting: .emptySlot) == .stale)
    try fixture.ask(.dismiss("a"), expecting: Expected(presentation: 2))
    try fixture.ask(.present("a", id: "2", .with()), expecting: .emptySlot)
    fixture.goes(1)
    try fixture.clearAway()
  }

  @Test("P10: a double click: the second toggle with the same expectation is refused")
  func expectedPresentation_doubleClick_refused() throws {
    let toggle = Request.Operation.toggle("a", id: "", .with(), anyID: false)
    try fixture.ask(toggle, expecting: .emptySlot)
    #expect(fixture.refusal(toggle, expecting: .emptySlot) == .stale)
    #expect(fixture.shown == ["a"])
    try fixture.clearAway()
  }

  @Test(
    "P10: an expectation of a slot from a request that names none is refused",
    arguments: [
      Request.Operation.deselect("g", tag: nil), .pop("s", count: 1), .setPath("s", []), .dismissAll(.everything),
      .select("g", tag: "t", binding: nil, id: nil, .with()), .popTo("s", nil),
    ])
  func expectedID_noSlotNamed_refused(operation: Request.Operation) {
    #expect(fixture.refusal(operation, expecting: Expected(id: "1")) == .invalidArgument)
    #expect(fixture.refusal(operation, expecting: Expected(presentation: 1)) == .invalidArgument)
  }

  // MARK: P11

  @Test("P11: a dismissed item is never revived: the same id makes a new presentation that waits")
  func present_sameIDWhileGoing_newOneWaits() throws {
    try fixture.show("a", "1")
    try fixture.dismiss("a")
    _ = fixture.taken()
    #expect(try fixture.present("a", "1", .with(to: "cmd")) == .presentation(2, changed: true))
    #expect(fixture.taken() == ["waiting a 1"])
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed a 1 dismissed", "presenting a 1", "present 2 a"])
    try fixture.clearAway()
  }

  @Test("P11: a toggle after a dismissal makes a new presentation, too")
  func toggle_whileGoing_newOneWaits() throws {
    try fixture.show("a", "1")
    let toggle = Request.Operation.toggle("a", id: "1", .with(to: "cmd"), anyID: false)
    #expect(try fixture.ask(toggle) == .toggled(presented: false, nil))
    #expect(try fixture.ask(toggle) == .toggled(presented: true, 2))
    #expect(fixture.taken() == ["dismissing a 1", "dismiss 1 dismissed", "waiting a 1"])
    #expect(try fixture.ask(toggle) == .toggled(presented: false, nil))
    #expect(try fixture.ask(toggle) == .toggled(presented: true, 3))
    #expect(fixture.taken() == ["dismissed a 1 dismissed", "waiting a 1"])
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed a 1 dismissed", "presenting a 1", "present 3 a"])
    try fixture.clearAway()
  }

  @Test("P11: toggle of another id presents it; with any id it dismisses whatever is shown")
  func toggle_otherID_presents() throws {
    try fixture.show("a", "1")
    #expect(try fixture.ask(.toggle("a", id: "2", .with(), anyID: false)) == .toggled(presented: true, 2))
    #expect(try fixture.ask(.toggle("a", id: "", .with(), anyID: true)) == .toggled(presented: false, nil))
    #expect(fixture.shown == [])
    #expect(try fixture.ask(.toggle("a", id: "3", .with(), anyID: true)) == .toggled(presented: true, 3))
    #expect(fixture.shown == ["a=3"])
    try fixture.clearAway()
  }

  @Test("P11: a group whose only member is being dismissed is not busy")
  func refuse_onlyMemberGoing_notBusy() throws {
    try fixture.show("x", "", .with(to: "cmd", group: "g"))
    #expect(fixture.refusal(.present("y", id: "", .with(to: "cmd", group: "g", ifBusy: .refuse))) == .busy)
    try fixture.dismiss("x")
    _ = fixture.taken()
    try fixture.present("y", "", .with(to: "cmd", group: "g", ifBusy: .refuse))
    #expect(fixture.taken() == ["selection g y", "group g y ·", "waiting y"])
    try fixture.clearAway()
  }

  @Test("P11: the common beginning of a path does not include items that are being dismissed")
  func setPath_beginningGoing_pushedAnew() throws {
    try fixture.ask(.setPath("s", .values("1", "2", to: "cmd")))
    fixture.shows(1, 2)
    try fixture.ask(.popTo("s", nil))
    _ = fixture.taken()
    #expect(try fixture.ask(.setPath("s", .values("1", "2", to: "cmd"))) == .path([3, 4]))
    #expect(fixture.taken() == ["path s s[0]=1 s[1]=2", "waiting s[0] 1", "waiting s[1] 2"])
    try fixture.clearAway()
  }

  @Test("P11: an item that is being dismissed is no parent")
  func present_fromGoing_refused() throws {
    try fixture.show("p")
    try fixture.dismiss("p")
    #expect(fixture.refusal(.present("a", id: "", .with(from: "p"))) == .notPresented)
    try fixture.present("p.x")
    #expect(fixture.parent("p.x") == nil)
    fixture.goes(1)
    #expect(fixture.shown == ["p.x"])
    try fixture.clearAway()
  }

  // MARK: P12

  @Test("P12: the first cause fixes the reason; errors, crashes and reports during a dismissal only complete it")
  func end_secondCause_firstReason() throws {
    for complete: (Handle) -> Void in [
      { fixture.ends($0) }, { fixture.ends($0, failed: true, result: ["signal": .string("SEGV")]) },
      { fixture.goes($0) },
    ] {
      let handle = try fixture.show("a", "1", .with(to: "cmd", timeout: 10, owned: true))
      try fixture.present("a", "2", .with(to: "cmd"))
      fixture.pass(20)
      try fixture.dismiss("a")
      fixture.leave("anna")
      complete(handle)
      #expect(fixture.ending(handle)?.reason == .replaced)
      try fixture.clearAway()
    }
  }

  @Test("P12: a timeout, an owner that leaves and a deselection do not change a dismissal under way")
  func end_whileGoing_nothing() throws {
    try fixture.show("a", "1", .with(to: "cmd", group: "g", timeout: 10, owned: true))
    try fixture.dismiss("a")
    _ = fixture.taken()
    fixture.pass(20)
    fixture.leave("anna")
    try fixture.ask(.deselect("g", tag: nil))
    #expect(fixture.taken() == [])
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed a 1 dismissed"])
  }

  @Test("P12: an item that cannot be shown and is then dismissed ends as failed")
  func end_failedFirst_failed() throws {
    try fixture.show("a", "1")
    try fixture.show("b", "1", .with(to: "cmd", from: "a"))
    fixture.ends(1, failed: true, result: ["signal": .string("SEGV")])
    #expect(fixture.taken() == ["dismissing a 1", "dismissing b 1", "dismiss 2 parent forced"])
    #expect(try fixture.dismiss("a") == .changed(false))
    fixture.goes(2)
    #expect(fixture.taken() == ["dismissed b 1 parent", "dismissed a 1 failed"])
    #expect(
      fixture.ending(1)?.result == [
        "signal": .string("SEGV"), "error": .string("its program was ended by SEGV, which navd did not send"),
      ])
  }

  // MARK: P13

  @Test(
    "P13: an item waits for the previous one of its slot and group, its parent, and the items above it, in any order")
  func start_severalWaits_startsAfterTheLast() throws {
    let ends: [(RulesFixture) -> Void] = [{ $0.goes(1) }, { $0.goes(2) }, { $0.goes(4) }, { $0.shows(5) }]
    func permutations(_ list: [Int]) -> [[Int]] {
      list.isEmpty ? [[]] : list.flatMap { first in permutations(list.filter { $0 != first }).map { [first] + $0 } }
    }
    for order in permutations(Array(ends.indices)) {
      let fixture = RulesFixture()
      try fixture.show("x", "old")
      try fixture.show("m", "", .with(to: "cmd", group: "g"))
      try fixture.show("b", "", .with(to: "cmd", stack: "s"))
      try fixture.show("t", "", .with(to: "cmd", stack: "s"))
      try fixture.present("p", "", .with(to: "cmd"))
      try fixture.ask(.pop("s", count: 1))
      try fixture.ask(.push("s", "x", id: "new", .with(to: "cmd", from: "p", group: "g")))
      #expect(fixture.taken().suffix(2) == ["dismiss 2 deselected", "dismiss 1 replaced"])
      for wait in order {
        #expect(fixture.phase(6) == "waiting")
        ends[wait](fixture)
      }
      #expect(fixture.taken().suffix(2) == ["presenting x new", "present 6 x"])
      try fixture.clearAway()
    }
  }

  @Test("P13: an item waits for the stack element below it")
  func start_belowNotPresented_waits() throws {
    try fixture.ask(.setPath("s", [.at("a", "", .with(to: "cmd")), .at("b"), .at("c", "", .with(to: "cmd"))]))
    #expect(fixture.taken() == ["path s a b c", "presenting a", "waiting b", "waiting c", "present 1 a"])
    fixture.shows(1)
    #expect(fixture.taken() == ["presented a", "presented b", "presenting c", "present 3 c"])
    try fixture.clearAway()
  }

  @Test("P13: an item waits while those at and above its position are dismissed, though the one below is presented")
  func start_aboveGoing_waits() throws {
    try fixture.ask(.setPath("s", .values("1", "2", "3", to: "cmd")))
    fixture.shows(1, 2, 3)
    try fixture.ask(.setPath("s", .values("1", "9", to: "cmd")))
    _ = fixture.taken()
    fixture.goes(3)
    #expect(fixture.taken() == ["dismissed s[2] 3 popped", "dismiss 2 popped"])
    fixture.goes(2)
    #expect(fixture.taken() == ["dismissed s[1] 2 popped", "presenting s[1] 9", "present 4 s[1]"])
    try fixture.clearAway()
  }

  @Test("P13: an item in a queue is not the selected one, and waits")
  func start_queued_waits() throws {
    try fixture.present("x", "", .with(group: "g"))
    try fixture.present("y", "", .with(group: "g", ifBusy: .queue))
    #expect(fixture.phase(2) == "waiting")
    try fixture.dismiss("x")
    #expect(fixture.phase(2) == "presented")
    try fixture.clearAway()
  }

  // MARK: P14

  @Test("P14: a process that outlives its grace is killed, and after another grace it counts as ended")
  func dismiss_commandDoesNotGo_killedThenGone() throws {
    try fixture.show("a", "1")
    try fixture.present("a", "2", .with(to: "cmd"))
    _ = fixture.taken()
    fixture.pass(Destination.defaultGrace - 1)
    #expect(fixture.taken() == [])
    fixture.pass(1)
    #expect(fixture.taken() == ["kill 1"])
    fixture.pass(Destination.defaultGrace - 1)
    #expect(fixture.taken() == [])
    fixture.pass(1)
    #expect(fixture.taken() == ["dismissed a 1 replaced", "presenting a 2", "abandon 1", "present 2 a"])
    #expect(fixture.ending(1)?.reason == .replaced, "the reason stays")
    #expect(fixture.ending(1)?.result["error"] != nil, "it is told")
    fixture.goes(1)
    fixture.ends(1)
    #expect(fixture.taken() == [])
    try fixture.clearAway()
  }

  @Test("P14: a process or unit that ends when killed has ended", arguments: ["cmd", "unit"])
  func dismiss_killed_gone(destination: String) throws {
    try fixture.show("a", "1", .with(to: destination))
    try fixture.dismiss("a")
    fixture.pass(Destination.defaultGrace)
    fixture.ends(1, failed: true, result: ["signal": .string("KILL")])
    #expect(fixture.taken() == ["dismissing a 1", "dismiss 1 dismissed", "kill 1", "dismissed a 1 dismissed"])
    #expect(fixture.ending(1)?.result == ["signal": .string("KILL")])
    fixture.pass(10_000)
    #expect(fixture.taken() == [])
  }

  @Test("P14: a presentation on the bus counts as ended after one grace")
  func dismiss_otherDoesNotGo_gone() throws {
    try fixture.show("a", "1", .with(to: "bus"))
    try fixture.dismiss("a")
    fixture.pass(Destination.defaultGrace - 1)
    #expect(fixture.taken() == ["dismissing a 1", "dismiss 1 dismissed"])
    fixture.pass(1)
    #expect(fixture.taken() == ["dismissed a 1 dismissed", "abandon 1"])
    #expect(fixture.leftovers == [])
  }

  @Test("P14: the grace is the destination's, and starts with the dismissal")
  func dismiss_heldUp_graceStartsWhenTold() throws {
    fixture.load([
      Destination(
        name: "slow", presenter: .bus(name: "org.example.Slow", path: "/"), grace: 5000,
        source: RulesFixture.file("slow")),
      RulesFixture.bus("bus"),
    ])
    try fixture.show("a", "1", .with(to: "slow"))
    try fixture.show("b", "1", .with(to: "slow", from: "a"))
    try fixture.dismiss("a")
    fixture.pass(4999)
    #expect(fixture.taken() == ["dismissing a 1", "dismissing b 1", "dismiss 2 parent"])
    fixture.pass(1)
    #expect(fixture.taken() == ["dismissed b 1 parent", "abandon 2", "dismiss 1 dismissed"])
    fixture.pass(4999)
    #expect(fixture.taken() == [])
    fixture.pass(1)
    #expect(fixture.taken() == ["dismissed a 1 dismissed", "abandon 1"])
  }

  @Test("P14: an item not shown within the start timeout has failed, and is dismissed, since it may still appear")
  func present_notShownInTime_failed() throws {
    try fixture.present("a", "1", .with(to: "bus"))
    _ = fixture.taken()
    fixture.pass(Destination.defaultStartTimeout - 1)
    #expect(fixture.taken() == [])
    fixture.pass(1)
    #expect(fixture.taken() == ["dismissing a 1", "dismiss 1 failed forced"])
    fixture.shows(1)
    #expect(fixture.taken() == [])
    fixture.goes(1, result: ["x": .byte(1)])
    #expect(fixture.taken() == ["dismissed a 1 failed"])
    #expect(fixture.ending(1)?.result["error"] != nil)
    #expect(fixture.leftovers == [])
  }

  @Test("P14: everything ends even if no presenter answers")
  func everybodySilent_allGone() throws {
    try fixture.present("p", "", .with(to: "bus"))
    try fixture.ask(.setPath("s", .values("1", "2", to: "cmd")))
    fixture.shows(1, 2, 3)
    try fixture.present("p.q", "", .with(to: "cmd", group: "g"))
    fixture.shows(4)
    try fixture.present("m", "", .with(to: "unit", group: "g", ifBusy: .queue))
    try fixture.ask(.dismissAll(.everything))
    fixture.pass(60_000)
    #expect(fixture.leftovers == [])
    #expect(fixture.machine.nextDeadline == nil)
  }
}
