// Why this file exists: the rules of exclusive groups, G1 to G9.

import DBusValues
import Testing

@testable import PresentationRules

@Suite struct GroupTests {
  let desk = Desk()

  private func select(
    _ tag: String, _ options: ItemOptions = .with(), at binding: BindingID? = nil, id: String? = nil
  ) -> Request.Operation { .select("g", tag: tag, binding: binding, id: id, options) }

  private func toggle(_ tag: String, _ options: ItemOptions = .with()) -> Request.Operation {
    .toggleSelection("g", tag: tag, binding: nil, id: nil, options)
  }

  private var selection: String? { desk.machine.selection(of: "g") }
  private var queue: [String] { desk.machine.queuedTags(of: "g") }

  // MARK: G1

  @Test("G1: the next member starts only after the last one's end was acknowledged")
  func present_other_afterTheLastIsGone() throws {
    try desk.show("x", "", .with(to: "cmd", group: "g"))
    try desk.present("y", "", .with(to: "cmd", group: "g"))
    #expect(
      desk.taken() == ["selection g y", "group g x y ·", "dismissing x", "waiting y", "dismiss 1 deselected"])
    desk.goes(1)
    #expect(desk.taken() == ["dismissed x deselected", "presenting y", "present 2 y"])
    desk.shows(2)
    #expect(desk.taken() == ["presented y"])
    try desk.clearAway()
  }

  @Test("G1: or after it was given up")
  func present_otherSilent_afterGrace() throws {
    try desk.show("x", "", .with(to: "bus", group: "g"))
    try desk.present("y", "", .with(to: "cmd", group: "g"))
    _ = desk.taken()
    desk.pass(Destination.standardGrace)
    #expect(desk.taken() == ["dismissed x deselected", "presenting y", "abandon 1", "present 2 y"])
    try desk.clearAway()
  }

  @Test("G1: a member that is still presenting is live already")
  func present_otherPresenting_waits() throws {
    try desk.present("x", "", .with(to: "cmd", group: "g"))
    try desk.present("y", "", .with(to: "cmd", group: "g"))
    _ = desk.taken()
    desk.shows(1)
    #expect(desk.taken() == [])
    desk.ends(1)
    #expect(desk.taken() == ["dismissed x deselected", "presenting y", "present 2 y"])
    try desk.clearAway()
  }

  @Test("G1: the children of the last one go first, too")
  func present_otherWithChildren_afterThem() throws {
    try desk.show("x", "", .with(to: "cmd", group: "g"))
    try desk.show("x.c")
    try desk.present("y", "", .with(to: "cmd", group: "g"))
    desk.goes(2)
    #expect(
      desk.taken() == [
        "selection g y", "group g x y ·", "dismissing x", "dismissing x.c", "waiting y", "dismiss 2 parent",
        "dismissed x.c parent", "dismiss 1 deselected",
      ])
    desk.goes(1)
    #expect(desk.taken() == ["dismissed x deselected", "presenting y", "present 3 y"])
    try desk.clearAway()
  }

  @Test(
    "G1: 50 members selected at random 20 ms apart, with a presenter that takes 120 ms to go: one at a time, the last wins"
  )
  func select_fifty_oneAtATime() throws {
    var random: UInt64 = 42
    var going: [(handle: Handle, at: Instant)] = []
    var told = 0
    var live: Set<Handle> = []
    var mostLive = 0
    var last = ""
    /// What the presenter does: shows at once, and goes after 120 ms.
    func play() {
      while told < desk.log.count {
        let words = desk.log[told].split(separator: " ").map(String.init)
        told += 1
        if words[0] == "present" {
          let handle = Handle(UInt64(words[1])!)
          live.insert(handle)
          mostLive = max(mostLive, live.count)
          desk.shows(handle)
        } else if words[0] == "dismiss" {
          going.append((Handle(UInt64(words[1])!), desk.now.after(milliseconds: 120)))
        }
      }
    }
    for step in 0..<200 {
      if step < 50 {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        last = "t\(random >> 33 & 7)"
        try desk.ask(select(last, .with(to: "cmd")))
      }
      play()
      desk.pass(20)
      for (handle, _) in going.filter({ $0.at <= desk.now }) {
        desk.goes(handle)
        live.remove(handle)
      }
      going.removeAll { $0.at <= desk.now }
      play()
    }
    #expect(mostLive == 1)
    #expect(
      desk.shown == ["g.\(last)"]
        && desk.handle(BindingID("g").appending(name: last)!).flatMap(desk.phase) == "presented")
    #expect(desk.log.filter { $0.hasPrefix("present ") }.count < 12, "the ones between are never shown")
    try desk.clearAway()
  }

  // MARK: G2

  @Test("G2: selecting makes the tag the selection, the others' slots nil")
  func select_other_deselected() throws {
    try desk.ask(select("x"))
    #expect(desk.taken() == ["selection g x", "group g x ·", "presented g.x"])
    #expect(try desk.ask(select("y")) == .presentation(2, changed: true))
    #expect(
      desk.taken() == ["selection g y", "group g x y ·", "dismissed g.x deselected", "presented g.y"])
    #expect(desk.shown == ["g.y"])
    try desk.clearAway()
  }

  @Test("G2: while one is going the latest selection wins, and the ones between are never shown")
  func select_whileGoing_latestWins() throws {
    for tag in ["a", "b", "c", "d"] { try desk.ask(select(tag, .with(to: "cmd"))) }
    #expect(
      desk.taken() == [
        "selection g a", "group g a ·", "presenting g.a", "present 1 g.a",  //
        "selection g b", "group g a b ·", "dismissing g.a", "waiting g.b", "dismiss 1 deselected",
        "selection g c", "group g a b c ·", "dismissed g.b deselected", "waiting g.c",
        "selection g d", "group g a b c d ·", "dismissed g.c deselected", "waiting g.d",
      ])
    desk.goes(1)
    #expect(desk.taken() == ["dismissed g.a deselected", "presenting g.d", "present 4 g.d"])
    try desk.clearAway()
  }

  @Test("G2: selecting what is going makes a new one")
  func select_going_newOne() throws {
    try desk.ask(select("a", .with(to: "cmd")))
    desk.shows(1)
    try desk.ask(select("b", .with(to: "cmd")))
    try desk.ask(select("a"))
    _ = desk.taken()
    desk.goes(1)
    #expect(desk.taken() == ["dismissed g.a deselected", "presenting g.a", "present 3 g.a"])
    try desk.clearAway()
  }

  @Test("G2: a selection concerns its own group only")
  func select_otherGroup_untouched() throws {
    try desk.present("x", "", .with(group: "g"))
    try desk.present("y", "", .with(group: "h"))
    try desk.present("z")
    #expect(desk.shown == ["x", "y", "z"])
    try desk.ask(.deselect("h", tag: nil))
    #expect(desk.shown == ["x", "z"])
    try desk.clearAway()
  }

  // MARK: G3

  @Test("G3: deselecting makes the selection nil; with a tag only where that is selected")
  func deselect_tag_onlyThat() throws {
    try desk.ask(select("x"))
    _ = desk.taken()
    #expect(try desk.ask(.deselect("g", tag: "y")) == .changed(false))
    #expect(desk.taken() == [])
    #expect(try desk.ask(.deselect("g", tag: "x")) == .changed(true))
    #expect(desk.taken() == ["selection g -", "dismissed g.x deselected"])
    #expect(try desk.ask(.deselect("g", tag: nil)) == .changed(false))
    try desk.ask(select("y"))
    #expect(try desk.ask(.deselect("g", tag: nil)) == .changed(true))
    #expect(desk.shown == [])
    #expect(desk.leftovers == [])
  }

  @Test("G3: deselecting does nothing to what is queued")
  func deselect_queuedTag_stays() throws {
    try desk.ask(select("x"))
    try desk.ask(select("y", .with(ifBusy: .queue)))
    #expect(try desk.ask(.deselect("g", tag: "y")) == .changed(false))
    #expect(queue == ["y"])
    try desk.clearAway()
  }

  @Test("G3: what ends because a selection changed ends deselected; by a dismiss or toggle of its binding dismissed")
  func end_reasons() throws {
    func reason(_ operation: Request.Operation) throws -> Reason? {
      try desk.ask(select("x"))
      let handle = try #require(desk.handle("g.x"))
      try desk.ask(operation)
      return desk.ending(handle)?.reason
    }
    #expect(try reason(select("y")) == .deselected)
    #expect(try reason(.present("z", id: "", .with(group: "g"))) == .deselected)
    #expect(try reason(.deselect("g", tag: nil)) == .deselected)
    #expect(try reason(toggle("x")) == .deselected)
    #expect(try reason(.dismiss("g.x")) == .dismissed)
    #expect(try reason(.toggle("g.x", id: "", .with(), anyID: false)) == .dismissed)
    #expect(try reason(.dismissAll(.group("g"))) == .dismissed)
    #expect(try reason(.dismissAll(.all)) == .dismissed)
    #expect(try reason(.present("g.x", id: "2", .with(group: "g"))) == .replaced)
    try desk.clearAway()
  }

  // MARK: G4

  @Test("G4: toggling the selected one deselects, else it selects")
  func toggle_selectedOrNot() throws {
    #expect(try desk.ask(toggle("x")) == .selected(true))
    #expect(try desk.ask(toggle("x")) == .selected(false))
    #expect(selection == nil)
    try desk.ask(select("y"))
    #expect(try desk.ask(toggle("x")) == .selected(true))
    #expect(desk.shown == ["g.x"])
    try desk.clearAway()
  }

  @Test(
    "G4: 30 toggles of one tag leave the state that 30 in a row would, whatever the presenter's pace",
    arguments: [30, 31])
  func toggle_thirty_parity(count: Int) throws {
    try desk.show("g.x", "", .with(to: "cmd", group: "g"))
    for index in 0..<count {
      #expect(try desk.ask(toggle("x", .with(to: "cmd"))) == .selected(index % 2 == 1))
    }
    #expect(selection == (count % 2 == 0 ? "x" : nil))
    #expect(desk.log.filter { $0.hasPrefix("present ") } == [], "nothing is shown while the first is going")
    desk.goes(1)
    #expect(desk.log.filter { $0.hasPrefix("present ") }.count == (count % 2 == 0 ? 1 : 0))
    try desk.clearAway()
  }

  // MARK: G5

  @Test("G5: a member closed by its user clears the selection")
  func ended_selected_cleared() throws {
    try desk.show("x", "", .with(to: "cmd", group: "g"))
    desk.ends(1)
    #expect(desk.taken() == ["selection g -", "dismissed x closed"])
    #expect(desk.leftovers == [])
  }

  @Test("G5: closed by the user in the very moment of a deselection: the new selection stays")
  func ended_deselected_selectionStays() throws {
    try desk.show("x", "", .with(to: "cmd", group: "g"))
    try desk.present("y", "", .with(to: "cmd", group: "g"))
    _ = desk.taken()
    desk.ends(1)
    #expect(desk.taken() == ["dismissed x deselected", "presenting y", "present 2 y"])
    desk.goes(1)
    #expect(selection == "y")
    try desk.clearAway()
  }

  @Test("G5: the same tag selected again while it is closing: the farewell of the first does not clear the second")
  func ended_reselected_selectionStays() throws {
    try desk.show("x", "", .with(to: "cmd", group: "g"))
    try desk.ask(toggle("x"))
    try desk.ask(toggle("x"))
    _ = desk.taken()
    desk.ends(1)
    #expect(desk.taken() == ["dismissed x deselected", "presenting x", "present 2 x"])
    #expect(selection == "x")
    try desk.clearAway()
  }

  // MARK: G6

  @Test("G6: presenting a member's binding selects it, setting it to nil deselects it, by whatever verb")
  func present_member_selected() throws {
    try desk.present("x", "", .with(group: "g", tag: "t"))
    #expect(selection == "t")
    try desk.dismiss("x")
    #expect(selection == nil)
    try desk.ask(.toggle("x", id: "", .with(group: "g", tag: "t"), anyID: false))
    #expect(selection == "t")
    try desk.ask(.toggle("x", id: "", .with(), anyID: true))
    #expect(selection == nil)
    try desk.ask(.push("s", "x", id: "", .with(group: "g")))
    #expect(selection == "x")
    try desk.ask(.pop("s", count: 1))
    #expect(selection == nil)
    try desk.present("x", "", .with(group: "g", timeout: 5))
    desk.pass(5)
    #expect(selection == nil)
    try desk.present("x", "", .with(group: "g", owned: true))
    desk.leave("anna")
    #expect(selection == nil)
    #expect(desk.leftovers == [])
  }

  @Test("G6: an id change of the selected one keeps the selection where the new item is a member")
  func present_otherID_selectionStays() throws {
    try desk.present("x", "1", .with(group: "g"))
    _ = desk.taken()
    try desk.present("x", "2", .with(group: "g"))
    #expect(desk.taken() == ["dismissed x 1 replaced", "presented x 2"])
    #expect(selection == "x")
    try desk.present("x", "3", .with(group: "g", tag: "t"))
    #expect(desk.taken() == ["selection g t", "group g t x ·", "dismissed x 2 replaced", "presented x 3"])
    try desk.clearAway()
  }

  @Test("G6, G7: an id change without a group leaves the group, as its item says")
  func present_otherIDWithoutGroup_leaves() throws {
    try desk.present("x", "1", .with(group: "g"))
    try desk.present("q", "", .with(group: "g", ifBusy: .queue))
    try desk.present("x", "2")
    #expect(selection == "q" && desk.shown == ["q", "x=2"])
    try desk.clearAway()
  }

  // MARK: G7, tags

  @Test("G7: a member's tag is what the request gives, else the text of its binding less a leading group")
  func tag_givenOrDerived() throws {
    for (binding, tag, expected): (BindingID, String?, String) in [
      ("x", "t", "t"), ("x.y", nil, "x.y"), ("g.x", nil, "x"), ("g.x.y", nil, "x.y"), ("g[1]", nil, "g[1]"),
      ("gx", nil, "gx"), ("g", nil, "g"), ("g.x", "u", "u"),
    ] {
      try desk.present(binding, "", .with(group: "g", tag: tag))
      #expect(selection == expected)
      try desk.dismiss(binding)
    }
    try desk.clearAway()
  }

  @Test("G7: a tag without a group is refused")
  func tag_withoutGroup_refused() {
    #expect(desk.refusal(.present("x", id: "", .with(tag: "t"))) == .invalidArgument)
  }

  @Test("G7: the group of an item comes from its options, else from its destination")
  func group_optionsThenDestination() throws {
    let desk = Desk(destinations: [Desk.bus("volume", group: "panels")])
    try desk.present("x", "", .with(to: "volume"))
    #expect(desk.item("x")?.membership == Membership(group: "panels", tag: "x"))
    try desk.present("y", "", .with(to: "volume", group: "others"))
    #expect(desk.item("y")?.membership == Membership(group: "others", tag: "y"))
    try desk.present("z", "", .with(to: "volume", tag: "t"))
    #expect(desk.item("z")?.membership == Membership(group: "panels", tag: "t"))
    #expect(desk.shown == ["y", "z"])
    try desk.clearAway()
  }

  @Test("G7: a destination with a group declares its name as a tag, at the binding of that name")
  func destination_declaresTag() throws {
    let desk = Desk(destinations: [Desk.bus("volume", group: "panels"), Desk.bus("panels.wifi", group: "panels")])
    #expect(desk.machine.tags(of: "panels") == ["panels.wifi", "volume"])
    try desk.ask(.select("panels", tag: "volume", binding: nil, id: nil, .with()))
    #expect(desk.taken() == ["selection panels volume", "presenting volume", "present 1 volume"])
    #expect(desk.item("volume")?.membership == Membership(group: "panels", tag: "volume"))
    desk.shows(1)
    _ = desk.taken()
    try desk.ask(.select("panels", tag: "panels.wifi", binding: nil, id: nil, .with()))
    #expect(desk.handle("panels.wifi") == 2)
    try desk.clearAway()
  }

  @Test("G7: a destination whose name can be no binding cannot have a group", arguments: ["Wi-Fi 5", "5g", "x..y"])
  func destination_noBinding_refused(name: String) throws {
    do throws(Refusal) {
      try desk.register(Desk.bus(name, group: "panels", source: .client("bar")), by: "bar")
      Issue.record("“\(name)” was registered")
    } catch { #expect(error.code == .invalidConfiguration) }
    try desk.register(Desk.bus(name, source: .client("bar")), by: "bar")
  }

  @Test("G7: a tag that another binding's item holds is refused")
  func tag_heldByOther_refused() throws {
    try desk.present("x", "", .with(group: "g", tag: "t"))
    #expect(desk.refusal(.present("y", id: "", .with(group: "g", tag: "t"))) == .invalidArgument)
    #expect(desk.refusal(.present("y", id: "", .with(group: "g", tag: "t", ifBusy: .queue))) == .invalidArgument)
    #expect(desk.refusal(select("t", at: "y")) == .invalidArgument)
    try desk.present("z", "", .with(group: "g", tag: "u", ifBusy: .queue))
    #expect(desk.refusal(.present("y", id: "", .with(group: "g", tag: "u"))) == .invalidArgument)
    #expect(desk.refusal(select("u", at: "y")) == .invalidArgument)
    try desk.present("y", "", .with(group: "h", tag: "t"))
    try desk.dismiss("z")
    try desk.present("y2", "", .with(group: "g", tag: "u"))
    try desk.present("y3", "", .with(group: "g", tag: "t"))
    try desk.clearAway()
  }

  @Test("G7: the same binding in two groups: the same id is refused, another id is moved")
  func present_otherGroup_refusedOrMoved() throws {
    try desk.present("x", "1", .with(group: "g"))
    #expect(desk.refusal(.present("x", id: "1", .with(group: "h"))) == .invalidArgument)
    #expect(desk.refusal(.select("h", tag: "x", binding: "x", id: "1", .with())) == .invalidArgument)
    _ = desk.taken()
    try desk.present("x", "2", .with(group: "h"))
    #expect(
      desk.taken() == ["selection g -", "selection h x", "group h x ·", "dismissed x 1 replaced", "presented x 2"])
    try desk.clearAway()
  }

  // MARK: G7, memory

  @Test("G7: selecting a tag repeats the last request for it: binding, id and item")
  func select_remembered_repeated() throws {
    try desk.machine.declareContainerValue("k", defaultValue: .byte(0))
    try desk.present("p")
    let options = ItemOptions.with(
      to: "cmd", value: ["x": .byte(1)], containerValues: ["k": .byte(2)], style: "sheet", title: "T", from: "p",
      group: "g", tag: "t", timeout: 1000, directory: "/", environment: ["A": "b"])
    try desk.present("x", "7", options)
    let item = desk.item("x")
    try desk.dismiss("x")
    desk.goes(2)
    #expect(try desk.ask(select("t")) == .presentation(3, changed: true))
    #expect(desk.item("x") == item)
    #expect(desk.parent("x") == 1)
    try desk.clearAway()
  }

  @Test("G7: but never owned, if-busy, priority, expectations, animated or platform-data")
  func select_remembered_notAll() throws {
    try desk.ask(
      .present(
        "x", id: "7",
        .with(
          group: "g", tag: "t", owned: true, ifBusy: .queue, priority: 5, platformData: ["output": .string("DP-1")])),
      expecting: Expected(presentation: .some(nil)), animated: false)
    #expect(desk.item("x")?.owner == "anna" && desk.item("x")?.animated == false)
    try desk.dismiss("x")
    try desk.ask(select("o"))
    try desk.ask(select("t"))
    let item = try #require(desk.item("x"))
    #expect(item.owner == nil && item.priority == 0 && item.platformData == [:] && item.animated && !item.isQueued)
    try desk.clearAway()
  }

  @Test("G7: what the selecting request gives wins, and is remembered then")
  func select_givesMore_wins() throws {
    try desk.present("x", "7", .with(to: "cmd", value: ["x": .byte(1)], title: "T", group: "g", tag: "t"))
    try desk.dismiss("x")
    desk.goes(1)
    try desk.ask(select("t", .with(to: "bare", title: "U"), id: "8"))
    var item = try #require(desk.item("x"))
    #expect(item.id == "8" && item.title == "U" && item.value == ["x": .byte(1)] && item.destination?.name == "bare")
    try desk.dismiss("x")
    try desk.ask(select("t"))
    item = try #require(desk.item("x"))
    #expect(item.id == "8" && item.title == "U" && item.value == ["x": .byte(1)] && item.destination?.name == "bare")
    try desk.dismiss("x")
    try desk.ask(select("t", .with(command: ["foot"]), at: "y"))
    #expect(desk.item("y")?.destination?.presenter == .command([Array("foot".utf8)]))
    #expect(desk.item("y")?.id == "8")
    try desk.clearAway()
  }

  @Test("G7: the last request is remembered, not the ones before it")
  func present_again_lastRemembered() throws {
    try desk.present("x", "7", .with(value: ["x": .byte(1)], title: "T", group: "g", tag: "t"))
    try desk.dismiss("x")
    try desk.present("x", "7", .with(style: "sheet", group: "g", tag: "t"))
    #expect(desk.item("x")?.value == [:])
    try desk.dismiss("x")
    try desk.ask(select("t"))
    #expect(desk.item("x")?.value == [:] && desk.item("x")?.title == nil && desk.item("x")?.style == "sheet")
    try desk.clearAway()
  }

  @Test("G7: a request for what is shown adds to what is remembered: it is the item that is repeated")
  func present_updated_rememberedToo() throws {
    try desk.present("x", "7", .with(value: ["x": .byte(1)], group: "g", tag: "t"))
    try desk.present("x", "7", .with(title: "T"))
    try desk.dismiss("x")
    try desk.ask(select("t"))
    #expect(desk.item("x")?.value == ["x": .byte(1)] && desk.item("x")?.title == "T")
    try desk.clearAway()
  }

  @Test("G7: selecting what is selected applies only what it gives")
  func select_selected_appliesGiven() throws {
    try desk.present("x", "7", .with(value: ["x": .byte(1)], title: "T", group: "g", tag: "t", timeout: 1000))
    try desk.ask(.update("x", value: ["x": .byte(2)], remove: [], containerValues: nil, timeout: nil))
    desk.pass(900)
    _ = desk.taken()
    #expect(try desk.ask(select("t")) == .presentation(1, changed: false))
    #expect(desk.taken() == [])
    #expect(try desk.ask(select("t", .with(title: "U"))) == .presentation(1, changed: true))
    #expect(desk.item("x")?.value == ["x": .byte(2)] && desk.item("x")?.title == "U")
    desk.pass(100)
    #expect(selection == nil, "the timeout was not given again")
    try desk.clearAway()
  }

  @Test("G7: selecting what is selected with another id replaces it, with what is given and no more")
  func select_selectedOtherID_replaced() throws {
    try desk.present("x", "7", .with(title: "T", group: "g", tag: "t"))
    try desk.ask(select("t", id: "8"))
    #expect(desk.item("x")?.id == "8" && desk.item("x")?.title == nil && selection == "t")
    try desk.clearAway()
  }

  @Test("G7: a selection's own group or tag may be given, others not")
  func select_otherGroupOption_refused() throws {
    #expect(desk.refusal(select("t", .with(group: "h"))) == .invalidArgument)
    #expect(desk.refusal(select("t", .with(tag: "u"))) == .invalidArgument)
    try desk.ask(select("t", .with(group: "g", tag: "t")))
    try desk.clearAway()
  }

  @Test("G7: a tag that nobody declared or asked for presents state only, at group.tag")
  func select_unknown_stateOnly() throws {
    try desk.ask(select("t"))
    #expect(desk.taken() == ["selection g t", "group g t ·", "presented g.t"])
    #expect(desk.item("g.t")?.destination == nil && desk.item("g.t")?.id == "")
    try desk.clearAway()
  }

  @Test(
    "G7: where group.tag is no binding, the tag is unknown; a binding given helps",
    arguments: ["a b", "1", "x..y", "é"])
  func select_noBinding_unknown(tag: String) throws {
    #expect(desk.refusal(select(tag)) == .unknownTag)
    #expect(desk.refusal(toggle(tag)) == .unknownTag)
    try desk.ask(select(tag, at: "x"))
    #expect(selection == tag && desk.shown == ["x"])
    try desk.ask(.deselect("g", tag: tag))
    try desk.ask(select(tag))
    #expect(desk.shown == ["x"])
    try desk.clearAway()
  }

  @Test("G7: a remembered stack is pushed onto again, a parent presented from again")
  func select_rememberedStack_pushed() throws {
    try desk.ask(.push("s", "a", id: "", .with()))
    try desk.ask(.push("s", "x", id: "", .with(group: "g", tag: "t")))
    try desk.ask(.deselect("g", tag: nil))
    #expect(desk.path("s") == ["a"])
    try desk.ask(select("t"))
    #expect(desk.path("s") == ["a", "x"])
    try desk.clearAway()
  }

  @Test("G7: tags with dots lead to bindings below the group")
  func select_dottedTag_binding() throws {
    try desk.ask(select("a.b[1]"))
    #expect(desk.shown == ["g.a.b[1]"] && selection == "a.b[1]")
    try desk.clearAway()
  }

  // MARK: G8

  @Test("G8: replace is the default; refuse is Busy, and nothing changes")
  func present_busy_policies() throws {
    try desk.present("x", "", .with(group: "g"))
    try desk.present("y", "", .with(group: "g", ifBusy: .replace))
    #expect(desk.shown == ["y"])
    #expect(desk.refusal(.present("z", id: "", .with(group: "g", ifBusy: .refuse))) == .busy)
    #expect(desk.refusal(select("z", .with(ifBusy: .refuse))) == .busy)
    #expect(desk.refusal(toggle("z", .with(ifBusy: .refuse))) == .busy)
    #expect(desk.refusal(.toggle("z", id: "", .with(group: "g", ifBusy: .refuse), anyID: false)) == .busy)
    #expect(desk.shown == ["y"])
    try desk.present("y", "", .with(title: "T", ifBusy: .refuse))
    try desk.present("y", "2", .with(group: "g", ifBusy: .refuse))
    try desk.ask(toggle("y", .with(ifBusy: .refuse)))
    try desk.present("z", "", .with(group: "g", ifBusy: .refuse))
    #expect(desk.shown == ["z"])
    try desk.clearAway()
  }

  // MARK: G9

  @Test("G9: a queued item holds its slot as waiting, is not selected and not shown")
  func queue_waiting() throws {
    try desk.show("x", "", .with(to: "cmd", group: "g"))
    #expect(try desk.present("y", "1", .with(to: "cmd", group: "g", ifBusy: .queue)) == .presentation(2, changed: true))
    #expect(desk.taken() == ["group g x y · y", "waiting y 1"])
    #expect(selection == "x" && desk.shown == ["x", "y=1"])
    #expect(try desk.present("y", "1", .with(ifBusy: .queue)) == .presentation(2, changed: false))
    try desk.ask(.update("y", value: ["v": .byte(1)], remove: [], containerValues: nil, timeout: nil))
    #expect(desk.taken() == ["updated y 1"])
    try desk.clearAway()
  }

  @Test("G9: when nobody is selected, queue selects at once")
  func queue_notBusy_selected() throws {
    try desk.present("y", "1", .with(group: "g", ifBusy: .queue))
    #expect(selection == "y")
    try desk.clearAway()
  }

  @Test("G9: when the selection becomes nil the next is selected: highest priority first, then the oldest")
  func queue_served_byPriorityThenAge() throws {
    try desk.ask(select("x"))
    for (tag, priority): (String, Int32) in [("a", 0), ("b", 5), ("c", -1), ("d", 5), ("e", 0)] {
      try desk.ask(select(tag, .with(ifBusy: .queue, priority: priority)))
    }
    #expect(queue == ["b", "d", "a", "e", "c"])
    var served: [String?] = []
    for _ in 0..<6 {
      try desk.ask(.deselect("g", tag: nil))
      served.append(selection)
    }
    #expect(served == ["b", "d", "a", "e", "c", nil])
    try desk.clearAway()
  }

  @Test(
    "G9: by whatever way the selection became nil",
    arguments: [
      "dismiss", "deselect", "toggle", "close", "fail", "expire", "owner", "parent", "pop", "other group", "root",
    ])
  func queue_served_whateverWay(way: String) throws {
    try desk.present("p")
    try desk.ask(.push("s", "b", id: "", .with()))
    try desk.show(
      "x", "1",
      .with(to: "cmd", from: "p", group: "g", stack: "s", timeout: 100, owned: true), by: "bert")
    try desk.present("y", "", .with(to: "cmd", group: "g", ifBusy: .queue))
    _ = desk.taken()
    switch way {
    case "dismiss": try desk.dismiss("x")
    case "deselect": try desk.ask(.deselect("g", tag: "x"))
    case "toggle": try desk.ask(toggle("x"))
    case "close": try desk.closed(3)
    case "fail": desk.ends(3, failed: true)
    case "expire": desk.pass(100)
    case "owner": desk.leave("bert")
    case "parent": try desk.dismiss("p")
    case "pop": try desk.ask(.popTo("s", nil))
    case "root": try desk.ask(.dismissAll(.root("x")))
    default: try desk.present("x", "2", .with(group: "h"))
    }
    #expect(selection == "y" && queue == [])
    desk.goes(3)
    #expect(desk.taken().suffix(2) == ["presenting y", "present 4 y"])
    try desk.clearAway()
  }

  @Test("G9: the queue is served as soon as nothing is selected; it starts when the last is gone")
  func queue_servedWhileGoing_waits() throws {
    try desk.show("x", "", .with(to: "cmd", group: "g"))
    try desk.present("y", "", .with(to: "cmd", group: "g", ifBusy: .queue))
    _ = desk.taken()
    try desk.dismiss("x")
    #expect(desk.taken() == ["selection g y", "group g x y ·", "dismissing x", "dismiss 1 dismissed"])
    desk.goes(1)
    #expect(desk.taken() == ["dismissed x dismissed", "presenting y", "present 2 y"])
    try desk.clearAway()
  }

  @Test("G9: a higher priority never closes what is shown")
  func queue_higherPriority_waits() throws {
    try desk.ask(select("x", .with(priority: 0)))
    try desk.ask(select("y", .with(ifBusy: .queue, priority: 100)))
    #expect(selection == "x" && queue == ["y"])
    try desk.clearAway()
  }

  @Test("G9: replace leaves the queue as it is")
  func queue_replace_stays() throws {
    try desk.ask(select("x"))
    try desk.ask(select("y", .with(ifBusy: .queue)))
    try desk.ask(select("z"))
    #expect(selection == "z" && queue == ["y"])
    try desk.clearAway()
  }

  @Test(
    "G9: a queued item asked for without queue or refuse is selected: the same handle, changed",
    arguments: ["present", "select", "toggle", "present replace"])
  func queue_askedAgain_selected(verb: String) throws {
    try desk.ask(select("x"))
    try desk.ask(select("y", .with(ifBusy: .queue)))
    try desk.ask(select("z", .with(ifBusy: .queue)))
    _ = desk.taken()
    switch verb {
    case "present": #expect(try desk.present("g.y") == .presentation(2, changed: true))
    case "present replace":
      #expect(try desk.present("g.y", "", .with(ifBusy: .replace)) == .presentation(2, changed: true))
    case "select": #expect(try desk.ask(select("y")) == .presentation(2, changed: true))
    default: #expect(try desk.ask(toggle("y")) == .selected(true))
    }
    #expect(
      desk.taken() == ["selection g y", "group g x y z · z", "dismissed g.x deselected", "presented g.y"])
    #expect(selection == "y" && queue == ["z"] && desk.handle("g.y") == 2)
    try desk.clearAway()
  }

  @Test("G9: with refuse it is Busy, with queue it stays")
  func queue_askedAgainPolicies() throws {
    try desk.ask(select("x"))
    try desk.ask(select("y", .with(ifBusy: .queue)))
    #expect(desk.refusal(select("y", .with(ifBusy: .refuse))) == .busy)
    #expect(desk.refusal(.present("g.y", id: "", .with(ifBusy: .refuse))) == .busy)
    #expect(try desk.ask(select("y", .with(ifBusy: .queue))) == .presentation(2, changed: false))
    #expect(try desk.ask(toggle("y", .with(ifBusy: .queue))) == .selected(false))
    #expect(queue == ["y"])
    try desk.clearAway()
  }

  @Test("G9: asked for again with queue, another priority moves it, and it keeps its age")
  func queue_otherPriority_moves() throws {
    try desk.ask(select("x"))
    for tag in ["a", "b", "c"] { try desk.ask(select(tag, .with(ifBusy: .queue))) }
    _ = desk.taken()
    #expect(try desk.ask(select("b", .with(ifBusy: .queue, priority: 1))) == .presentation(3, changed: true))
    #expect(desk.taken() == ["updated g.b", "group g a b c x · b a c"])
    try desk.ask(select("b", .with(ifBusy: .queue, priority: 0)))
    #expect(queue == ["a", "b", "c"])
    try desk.clearAway()
  }

  @Test("G9: with another id it is another item, at the end of its priority")
  func queue_otherID_atTheEnd() throws {
    try desk.ask(select("x"))
    for tag in ["a", "b"] { try desk.ask(select(tag, .with(ifBusy: .queue))) }
    _ = desk.taken()
    try desk.ask(select("a", .with(ifBusy: .queue), id: "2"))
    #expect(desk.taken() == ["group g a b x · b a", "dismissed g.a replaced", "waiting g.a 2"])
    try desk.clearAway()
  }

  @Test("G9: dismiss and toggle of its binding take it out")
  func queue_dismissed_out() throws {
    try desk.ask(select("x"))
    for tag in ["a", "b"] { try desk.ask(select(tag, .with(ifBusy: .queue))) }
    _ = desk.taken()
    try desk.dismiss("g.a")
    #expect(desk.taken() == ["group g a b x · b", "dismissed g.a dismissed"])
    #expect(try desk.ask(.toggle("g.b", id: "", .with(), anyID: false)) == .toggled(presented: false, nil))
    #expect(desk.taken() == ["group g a b x ·", "dismissed g.b dismissed"])
    #expect(selection == "x")
    try desk.clearAway()
  }

  @Test("G9: dismissing the group empties the queue")
  func queue_dismissGroup_empty() throws {
    try desk.show("x", "", .with(to: "cmd", group: "g"))
    for binding: BindingID in ["a", "b"] { try desk.present(binding, "", .with(to: "cmd", group: "g", ifBusy: .queue)) }
    _ = desk.taken()
    #expect(try desk.ask(.dismissAll(.group("g"))) == .count(3))
    #expect(
      desk.taken() == [
        "selection g -", "group g a b x ·", "dismissed a dismissed", "dismissed b dismissed", "dismissing x",
        "dismiss 1 dismissed",
      ])
    desk.goes(1)
    #expect(desk.leftovers == [])
  }

  @Test("G9: a queued item is nobody's parent: naming it is refused, an implied one passes over it")
  func queue_nobodysParent() throws {
    try desk.present("a")
    try desk.present("x", "", .with(group: "g"))
    try desk.present("a.q", "", .with(group: "g", ifBusy: .queue))
    #expect(desk.refusal(.present("c", id: "", .with(from: "a.q"))) == .notPresented)
    try desk.present("a.q.c")
    #expect(desk.parent("a.q.c") == 1)
    try desk.dismiss("x")
    #expect(selection == "a.q" && desk.parent("a.q.c") == 1)
    try desk.present("a.q.d")
    #expect(desk.parent("a.q.d") == 3)
    try desk.clearAway()
  }

  @Test("G9: a queued item has a parent, and goes with it")
  func queue_parentGoes_goes() throws {
    try desk.present("a")
    try desk.present("x", "", .with(group: "g"))
    try desk.present("a.q", "", .with(group: "g", ifBusy: .queue))
    _ = desk.taken()
    try desk.dismiss("a")
    #expect(desk.taken() == ["group g a.q x ·", "dismissed a.q parent", "dismissed a dismissed"])
    try desk.clearAway()
  }

  @Test("G9: it stands in no stack: queue with a stack is refused, whether or not the group is busy")
  func queue_withStack_refused() throws {
    #expect(desk.refusal(.push("s", "q", id: "", .with(group: "g", ifBusy: .queue))) == .invalidArgument)
    try desk.present("x", "", .with(group: "g"))
    #expect(desk.refusal(.push("s", "q", id: "", .with(group: "g", ifBusy: .queue))) == .invalidArgument)
    #expect(desk.refusal(.present("q", id: "", .with(group: "g", stack: "s", ifBusy: .queue))) == .invalidArgument)
    try desk.ask(.push("s", "b", id: "", .with()))
    #expect(desk.refusal(.present("b", id: "2", .with(group: "g", ifBusy: .queue))) == .invalidArgument)
    #expect(
      desk.refusal(.setPath("s", [.at("b"), .at("q", "", .with(group: "g", ifBusy: .queue))])) == .invalidArgument)
    try desk.clearAway()
  }

  @Test("G9: what is queued cannot be pushed; taken out first it can")
  func queue_pushed_refused() throws {
    try desk.ask(select("x"))
    try desk.ask(select("q", .with(ifBusy: .queue)))
    #expect(desk.refusal(.push("s", "g.q", id: "", .with())) == .invalidArgument)
    try desk.apply(.dismiss("g.q"), .push("s", "g.q", id: "", .with()))
    try desk.clearAway()
  }

  @Test("G9: the owner of a queued item leaves: it is out; a closed report of it too")
  func queue_ends_out() throws {
    try desk.ask(select("x"))
    try desk.ask(select("q", .with(owned: true, ifBusy: .queue)), by: "bert")
    try desk.ask(select("r", .with(ifBusy: .queue)))
    desk.leave("bert")
    #expect(queue == ["r"])
    try desk.closed(3)
    #expect(queue == [] && selection == "x")
    try desk.clearAway()
  }

  @Test("G9: an alert that is never shown for its group's sake does not expire")
  func queue_timeout_startsWhenPresented() throws {
    try desk.ask(select("x"))
    try desk.ask(select("q", .with(timeout: 100, ifBusy: .queue)))
    desk.pass(1000)
    #expect(queue == ["q"])
    try desk.ask(.deselect("g", tag: nil))
    desk.pass(99)
    #expect(selection == "q")
    desk.pass(1)
    #expect(selection == nil)
    try desk.clearAway()
  }

  @Test("G9: when all goes down, no queue is served")
  func shutDown_queue_notServed() throws {
    try desk.show("x", "", .with(to: "cmd", group: "g"))
    try desk.present("q", "", .with(to: "cmd", group: "g", ifBusy: .queue))
    _ = desk.taken()
    desk.shutDown()
    desk.goes(1)
    #expect(
      desk.taken() == [
        "selection g -", "group g q x ·", "dismissed q shutdown", "dismissing x", "dismiss 1 shutdown",
        "dismissed x shutdown",
      ])
    #expect(desk.machine.count == 0)
    #expect(desk.refusal(.present("a", id: "", .with())) == .shuttingDown)
  }
}
