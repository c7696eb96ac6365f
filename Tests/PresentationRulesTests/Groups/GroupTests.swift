import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

/// Exclusive groups: selecting, memory, policies and queues (G1 to G9).
@Suite struct GroupTests {
  let fixture = RulesFixture()

  private func select(
    _ tag: String, _ options: ItemOptions = .with(), at binding: BindingID? = nil, id: String? = nil
  ) -> Request.Operation { .select("g", tag: tag, binding: binding, id: id, options) }

  private func toggle(_ tag: String, _ options: ItemOptions = .with()) -> Request.Operation {
    .toggleSelection("g", tag: tag, binding: nil, id: nil, options)
  }

  private var selection: String? { fixture.machine.selection(of: "g") }
  private var queue: [String] { fixture.machine.queuedTags(of: "g") }

  // MARK: G1

  @Test("G1: the next member starts only after the last one's end was acknowledged")
  func present_other_afterTheLastIsGone() throws {
    try fixture.show("x", "", .with(to: "cmd", group: "g"))
    try fixture.present("y", "", .with(to: "cmd", group: "g"))
    #expect(
      fixture.taken() == ["selection g y", "group g y ·", "dismissing x", "waiting y", "dismiss 1 deselected"])
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed x deselected", "presenting y", "present 2 y"])
    fixture.shows(2)
    #expect(fixture.taken() == ["presented y"])
    try fixture.clearAway()
  }

  @Test("G1, G7: a member that still ends delays the next one, even if its group has forgotten everything else")
  func present_otherAfterForgotten_waits() throws {
    try fixture.show("x", "", .with(to: "cmd", group: "g"))
    try fixture.apply(.forget("g", tag: "x"), .deselect("g", tag: nil))
    try fixture.present("y", "", .with(to: "cmd", group: "g"))
    #expect(fixture.phase(2) == "waiting")
    fixture.goes(1)
    #expect(fixture.phase(2) == "presenting")
    try fixture.clearAway()
  }

  @Test("G1: the next member also starts after the last one was given up")
  func present_otherSilent_afterGrace() throws {
    try fixture.show("x", "", .with(to: "bus", group: "g"))
    try fixture.present("y", "", .with(to: "cmd", group: "g"))
    _ = fixture.taken()
    fixture.pass(Destination.defaultGrace)
    #expect(fixture.taken() == ["dismissed x deselected", "presenting y", "abandon 1", "present 2 y"])
    try fixture.clearAway()
  }

  @Test("G1: a member that is still presenting is live already")
  func present_otherPresenting_waits() throws {
    try fixture.present("x", "", .with(to: "cmd", group: "g"))
    try fixture.present("y", "", .with(to: "cmd", group: "g"))
    _ = fixture.taken()
    fixture.shows(1)
    #expect(fixture.taken() == [])
    fixture.ends(1)
    #expect(fixture.taken() == ["dismissed x deselected", "presenting y", "present 2 y"])
    try fixture.clearAway()
  }

  @Test("G1: the children of the previous member end first, too")
  func present_otherWithChildren_afterThem() throws {
    try fixture.show("x", "", .with(to: "cmd", group: "g"))
    try fixture.show("x.c")
    try fixture.present("y", "", .with(to: "cmd", group: "g"))
    fixture.goes(2)
    #expect(
      fixture.taken() == [
        "selection g y", "group g y ·", "dismissing x", "dismissing x.c", "waiting y", "dismiss 2 parent",
        "dismissed x.c parent", "dismiss 1 deselected",
      ])
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed x deselected", "presenting y", "present 3 y"])
    try fixture.clearAway()
  }

  @Test(
    "G1: 50 members selected at random 20 ms apart, with a presenter that takes 120 ms to dismiss: one at a time, the last one wins"
  )
  func select_fifty_oneAtATime() throws {
    var random: UInt64 = 42
    var going: [(handle: Handle, at: Instant)] = []
    var told = 0
    var live: Set<Handle> = []
    var mostLive = 0
    var last = ""
    /// Presents at once, and takes 120 ms for a dismissal, as the presenter does.
    func play() {
      while told < fixture.log.count {
        let words = fixture.log[told].split(separator: " ").map(String.init)
        told += 1
        if words[0] == "present" {
          let handle = Handle(UInt64(words[1])!)
          live.insert(handle)
          mostLive = max(mostLive, live.count)
          fixture.shows(handle)
        } else if words[0] == "dismiss" {
          going.append((Handle(UInt64(words[1])!), fixture.now.after(milliseconds: 120)))
        }
      }
    }
    for step in 0..<200 {
      if step < 50 {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        last = "t\(random >> 33 & 7)"
        try fixture.ask(select(last, .with(to: "cmd")))
      }
      play()
      fixture.pass(20)
      for (handle, _) in going.filter({ $0.at <= fixture.now }) {
        fixture.goes(handle)
        live.remove(handle)
      }
      going.removeAll { $0.at <= fixture.now }
      play()
    }
    #expect(mostLive == 1)
    #expect(
      fixture.shown == ["g.\(last)"]
        && fixture.handle(BindingID("g").appending(name: last)!).flatMap(fixture.phase) == "presented")
    #expect(fixture.log.filter { $0.hasPrefix("present ") }.count < 12, "the ones between are never shown")
    try fixture.clearAway()
  }

  // MARK: G2

  @Test("G2: selecting makes the tag the selection, the others' slots nil")
  func select_other_deselected() throws {
    try fixture.ask(select("x"))
    #expect(fixture.taken() == ["selection g x", "group g x ·", "presented g.x"])
    #expect(try fixture.ask(select("y")) == .presentation(2, changed: true))
    #expect(
      fixture.taken() == ["selection g y", "group g y ·", "dismissed g.x deselected", "presented g.y"])
    #expect(fixture.shown == ["g.y"])
    try fixture.clearAway()
  }

  @Test("G2: while a member is being dismissed the latest selection wins, and those in between are never shown")
  func select_whileGoing_latestWins() throws {
    for tag in ["a", "b", "c", "d"] { try fixture.ask(select(tag, .with(to: "cmd"))) }
    #expect(
      fixture.taken() == [
        "selection g a", "group g a ·", "presenting g.a", "present 1 g.a",  //
        "selection g b", "group g b ·", "dismissing g.a", "waiting g.b", "dismiss 1 deselected forced",
        "selection g c", "group g c ·", "dismissed g.b deselected", "waiting g.c",
        "selection g d", "group g d ·", "dismissed g.c deselected", "waiting g.d",
      ])
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed g.a deselected", "presenting g.d", "present 4 g.d"])
    try fixture.clearAway()
  }

  @Test("G2: selecting a member that is being dismissed makes a new presentation")
  func select_going_newOne() throws {
    try fixture.ask(select("a", .with(to: "cmd")))
    fixture.shows(1)
    try fixture.ask(select("b", .with(to: "cmd")))
    try fixture.ask(select("a"))
    _ = fixture.taken()
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed g.a deselected", "presenting g.a", "present 3 g.a"])
    try fixture.clearAway()
  }

  @Test("G2: a selection concerns its own group only")
  func select_otherGroup_untouched() throws {
    try fixture.present("x", "", .with(group: "g"))
    try fixture.present("y", "", .with(group: "h"))
    try fixture.present("z")
    #expect(fixture.shown == ["x", "y", "z"])
    try fixture.ask(.deselect("h", tag: nil))
    #expect(fixture.shown == ["x", "z"])
    try fixture.clearAway()
  }

  // MARK: G3

  @Test("G3: deselecting makes the selection nil; with a tag only where that is selected")
  func deselect_tag_onlyThat() throws {
    try fixture.ask(select("x"))
    _ = fixture.taken()
    #expect(try fixture.ask(.deselect("g", tag: "y")) == .changed(false))
    #expect(fixture.taken() == [])
    #expect(try fixture.ask(.deselect("g", tag: "x")) == .changed(true))
    #expect(fixture.taken() == ["selection g -", "group g ·", "dismissed g.x deselected"])
    #expect(try fixture.ask(.deselect("g", tag: nil)) == .changed(false))
    try fixture.ask(select("y"))
    #expect(try fixture.ask(.deselect("g", tag: nil)) == .changed(true))
    #expect(fixture.shown == [])
    #expect(fixture.leftovers == [])
  }

  @Test("G3: deselecting does not affect queued items")
  func deselect_queuedTag_stays() throws {
    try fixture.ask(select("x"))
    try fixture.ask(select("y", .with(ifBusy: .queue)))
    #expect(try fixture.ask(.deselect("g", tag: "y")) == .changed(false))
    #expect(queue == ["y"])
    try fixture.clearAway()
  }

  @Test("G3: a changed selection ends the member as deselected; a dismiss or toggle of its binding, as dismissed")
  func end_reasons() throws {
    func reason(_ operation: Request.Operation) throws -> Reason? {
      try fixture.ask(select("x"))
      let handle = try #require(fixture.handle("g.x"))
      try fixture.ask(operation)
      return fixture.ending(handle)?.reason
    }
    #expect(try reason(select("y")) == .deselected)
    #expect(try reason(.present("z", id: "", .with(group: "g"))) == .deselected)
    #expect(try reason(.deselect("g", tag: nil)) == .deselected)
    #expect(try reason(toggle("x")) == .deselected)
    #expect(try reason(.dismiss("g.x")) == .dismissed)
    #expect(try reason(.toggle("g.x", id: "", .with(), anyID: false)) == .dismissed)
    #expect(try reason(.dismissAll(.group("g"))) == .dismissed)
    #expect(try reason(.dismissAll(.everything)) == .dismissed)
    #expect(try reason(.present("g.x", id: "2", .with(group: "g"))) == .replaced)
    try fixture.clearAway()
  }

  // MARK: G4

  @Test("G4: toggling the selected one deselects, else it selects")
  func toggle_selectedOrNot() throws {
    #expect(try fixture.ask(toggle("x")) == .selected(true))
    #expect(try fixture.ask(toggle("x")) == .selected(false))
    #expect(selection == nil)
    try fixture.ask(select("y"))
    #expect(try fixture.ask(toggle("x")) == .selected(true))
    #expect(fixture.shown == ["g.x"])
    try fixture.clearAway()
  }

  @Test(
    "G4: 30 toggles of one tag leave the state that 30 in a row would, whatever the presenter's pace",
    arguments: [30, 31])
  func toggle_thirty_parity(count: Int) throws {
    try fixture.show("g.x", "", .with(to: "cmd", group: "g"))
    for index in 0..<count {
      #expect(try fixture.ask(toggle("x", .with(to: "cmd"))) == .selected(index % 2 == 1))
    }
    #expect(selection == (count % 2 == 0 ? "x" : nil))
    #expect(fixture.log.filter { $0.hasPrefix("present ") } == [], "nothing is shown while the first is going")
    fixture.goes(1)
    #expect(fixture.log.filter { $0.hasPrefix("present ") }.count == (count % 2 == 0 ? 1 : 0))
    try fixture.clearAway()
  }

  // MARK: G5

  @Test("G5: a member closed by its user clears the selection")
  func ended_selected_cleared() throws {
    try fixture.show("x", "", .with(to: "cmd", group: "g"))
    fixture.ends(1)
    #expect(fixture.taken() == ["selection g -", "group g ·", "dismissed x closed"])
    #expect(fixture.leftovers == [])
  }

  @Test("G5: a member that its user closes in the moment of a deselection leaves the new selection")
  func ended_deselected_selectionStays() throws {
    try fixture.show("x", "", .with(to: "cmd", group: "g"))
    try fixture.present("y", "", .with(to: "cmd", group: "g"))
    _ = fixture.taken()
    fixture.ends(1)
    #expect(fixture.taken() == ["dismissed x deselected", "presenting y", "present 2 y"])
    fixture.goes(1)
    #expect(selection == "y")
    try fixture.clearAway()
  }

  @Test("G5: the end of a closing member does not clear the same tag, selected again meanwhile")
  func ended_reselected_selectionStays() throws {
    try fixture.show("x", "", .with(to: "cmd", group: "g"))
    try fixture.ask(toggle("x"))
    try fixture.ask(toggle("x"))
    _ = fixture.taken()
    fixture.ends(1)
    #expect(fixture.taken() == ["dismissed x deselected", "presenting x", "present 2 x"])
    #expect(selection == "x")
    try fixture.clearAway()
  }

  // MARK: G6

  @Test("G6: presenting a member's binding selects it, setting it to nil deselects it, by whatever verb")
  func present_member_selected() throws {
    try fixture.present("x", "", .with(group: "g", tag: "t"))
    #expect(selection == "t")
    try fixture.dismiss("x")
    #expect(selection == nil)
    try fixture.ask(.toggle("x", id: "", .with(group: "g", tag: "t"), anyID: false))
    #expect(selection == "t")
    try fixture.ask(.toggle("x", id: "", .with(), anyID: true))
    #expect(selection == nil)
    try fixture.ask(.push("s", "x", id: "", .with(group: "g")))
    #expect(selection == "x")
    try fixture.ask(.pop("s", count: 1))
    #expect(selection == nil)
    try fixture.present("x", "", .with(group: "g", timeout: 5))
    fixture.pass(5)
    #expect(selection == nil)
    try fixture.present("x", "", .with(group: "g", owned: true))
    fixture.leave("anna")
    #expect(selection == nil)
    #expect(fixture.leftovers == [])
  }

  @Test("G6: an id change of the selected one keeps the selection where the new item is a member")
  func present_otherID_selectionStays() throws {
    try fixture.present("x", "1", .with(group: "g"))
    _ = fixture.taken()
    try fixture.present("x", "2", .with(group: "g"))
    #expect(fixture.taken() == ["dismissed x 1 replaced", "presented x 2"])
    #expect(selection == "x")
    try fixture.present("x", "3", .with(group: "g", tag: "t"))
    #expect(fixture.taken() == ["selection g t", "group g t ·", "dismissed x 2 replaced", "presented x 3"])
    try fixture.clearAway()
  }

  @Test("G6, G7: an id change without a group leaves the group, as its item says")
  func present_otherIDWithoutGroup_leaves() throws {
    try fixture.present("x", "1", .with(group: "g"))
    try fixture.present("q", "", .with(group: "g", ifBusy: .queue))
    try fixture.present("x", "2")
    #expect(selection == "q" && fixture.shown == ["q", "x=2"])
    try fixture.clearAway()
  }

  // MARK: G7, tags

  @Test("G7: a member's tag is that of the request, or the text of its binding without a leading group")
  func tag_givenOrDerived() throws {
    for (binding, tag, expected): (BindingID, String?, String) in [
      ("x", "t", "t"), ("x.y", nil, "x.y"), ("g.x", nil, "x"), ("g.x.y", nil, "x.y"), ("g[1]", nil, "g[1]"),
      ("gx", nil, "gx"), ("g", nil, "g"), ("g.x", "u", "u"),
    ] {
      try fixture.present(binding, "", .with(group: "g", tag: tag))
      #expect(selection == expected)
      try fixture.dismiss(binding)
    }
    try fixture.clearAway()
  }

  @Test("G7: a tag without a group is refused")
  func tag_withoutGroup_refused() {
    #expect(fixture.refusal(.present("x", id: "", .with(tag: "t"))) == .invalidArgument)
  }

  @Test("G7: the group of an item is that of its options, or of its destination")
  func group_optionsThenDestination() throws {
    let fixture = RulesFixture(destinations: [RulesFixture.bus("volume", group: "panels")])
    try fixture.present("x", "", .with(to: "volume"))
    #expect(fixture.item("x")?.membership == GroupTag(group: "panels", tag: "x"))
    try fixture.present("y", "", .with(to: "volume", group: "others"))
    #expect(fixture.item("y")?.membership == GroupTag(group: "others", tag: "y"))
    try fixture.present("z", "", .with(to: "volume", tag: "t"))
    #expect(fixture.item("z")?.membership == GroupTag(group: "panels", tag: "t"))
    #expect(fixture.shown == ["y", "z"])
    try fixture.clearAway()
  }

  @Test("G7: a destination with a group declares its name as a tag, at the binding of that name")
  func destination_declaresTag() throws {
    let fixture = RulesFixture(destinations: [
      RulesFixture.bus("volume", group: "panels"), RulesFixture.bus("panels.wifi", group: "panels"),
    ])
    #expect(fixture.machine.tags(of: "panels") == ["panels.wifi", "volume"])
    try fixture.ask(.select("panels", tag: "volume", binding: nil, id: nil, .with()))
    #expect(fixture.taken() == ["selection panels volume", "presenting volume", "present 1 volume"])
    #expect(fixture.item("volume")?.membership == GroupTag(group: "panels", tag: "volume"))
    fixture.shows(1)
    _ = fixture.taken()
    try fixture.ask(.select("panels", tag: "panels.wifi", binding: nil, id: nil, .with()))
    #expect(fixture.handle("panels.wifi") == 2)
    try fixture.clearAway()
  }

  @Test("W1, G7: the tag of a member is no news when a destination declares it, nor when that is gone")
  func destination_declaresTagOfMember_isNoNews() throws {
    try fixture.show("g.volume", "", .with(to: "cmd", group: "g"))
    _ = fixture.taken()
    try fixture.register(RulesFixture.bus("volume", group: "g", source: .client("bar")), by: "bar")
    #expect(fixture.taken() == [])
    try fixture.register(RulesFixture.bus("wifi", group: "g", source: .client("bar")), by: "bar")
    #expect(fixture.taken() == ["group g volume wifi ·"])
    fixture.leave("bar")
    #expect(fixture.taken() == ["group g volume ·"])
    try fixture.dismiss("g.volume")
    #expect(fixture.taken().prefix(2) == ["selection g -", "group g ·"])
  }

  @Test("G7: a destination whose name gives no binding cannot have a group", arguments: ["Wi-Fi 5", "5g", "x..y"])
  func destination_noBinding_refused(name: String) throws {
    do throws(Refusal) {
      try fixture.register(RulesFixture.bus(name, group: "panels", source: .client("bar")), by: "bar")
      Issue.record("“\(name)” was registered")
    } catch { #expect(error.code == .invalidConfiguration) }
    try fixture.register(RulesFixture.bus(name, source: .client("bar")), by: "bar")
  }

  @Test("G7: a tag that another binding's item holds is refused")
  func tag_heldByOther_refused() throws {
    try fixture.present("x", "", .with(group: "g", tag: "t"))
    #expect(fixture.refusal(.present("y", id: "", .with(group: "g", tag: "t"))) == .invalidArgument)
    #expect(fixture.refusal(.present("y", id: "", .with(group: "g", tag: "t", ifBusy: .queue))) == .invalidArgument)
    #expect(fixture.refusal(select("t", at: "y")) == .invalidArgument)
    try fixture.present("z", "", .with(group: "g", tag: "u", ifBusy: .queue))
    #expect(fixture.refusal(.present("y", id: "", .with(group: "g", tag: "u"))) == .invalidArgument)
    #expect(fixture.refusal(select("u", at: "y")) == .invalidArgument)
    try fixture.present("y", "", .with(group: "h", tag: "t"))
    try fixture.dismiss("z")
    try fixture.present("y2", "", .with(group: "g", tag: "u"))
    try fixture.present("y3", "", .with(group: "g", tag: "t"))
    try fixture.clearAway()
  }

  @Test("G7: the same binding in two groups: the same id is refused, another id is moved")
  func present_otherGroup_refusedOrMoved() throws {
    try fixture.present("x", "1", .with(group: "g"))
    #expect(fixture.refusal(.present("x", id: "1", .with(group: "h"))) == .invalidArgument)
    #expect(fixture.refusal(.select("h", tag: "x", binding: "x", id: "1", .with())) == .invalidArgument)
    _ = fixture.taken()
    try fixture.present("x", "2", .with(group: "h"))
    #expect(
      fixture.taken() == [
        "selection g -", "group g ·", "selection h x", "group h x ·", "dismissed x 1 replaced", "presented x 2",
      ])
    try fixture.clearAway()
  }

  // MARK: G7, memory

  @Test("G7: selecting a tag repeats the last request for it: binding, id and item")
  func select_remembered_repeated() throws {
    try fixture.machine.declareContainerValue("k", defaultValue: .byte(0))
    try fixture.present("p")
    let options = ItemOptions.with(
      to: "cmd", value: ["x": .byte(1)], containerValues: ["k": .byte(2)], style: "sheet", title: "T", from: "p",
      group: "g", tag: "t", timeout: 1000, directory: "/", environment: ["A": "b"])
    try fixture.present("x", "7", options)
    let item = fixture.item("x")
    try fixture.dismiss("x")
    fixture.goes(2)
    #expect(try fixture.ask(select("t")) == .presentation(3, changed: true))
    #expect(fixture.item("x") == item)
    #expect(fixture.parent("x") == 1)
    try fixture.clearAway()
  }

  @Test("G7: the memory never has owned, if-busy, priority, expectations, animated or platform-data")
  func select_remembered_notAll() throws {
    try fixture.ask(
      .present(
        "x", id: "7",
        .with(
          group: "g", tag: "t", owned: true, ifBusy: .queue, priority: 5, platformData: ["output": .string("DP-1")])),
      expecting: .emptySlot, animated: false)
    #expect(fixture.item("x")?.owner == "anna" && fixture.item("x")?.animated == false)
    try fixture.dismiss("x")
    try fixture.ask(select("o"))
    try fixture.ask(select("t"))
    let item = try #require(fixture.item("x"))
    #expect(item.owner == nil && item.priority == 0 && item.platformData == [:] && item.animated && !item.isQueued)
    try fixture.clearAway()
  }

  @Test("G7: options of the selecting request win, and are remembered")
  func select_givesMore_wins() throws {
    try fixture.present("x", "7", .with(to: "cmd", value: ["x": .byte(1)], title: "T", group: "g", tag: "t"))
    try fixture.dismiss("x")
    fixture.goes(1)
    try fixture.ask(select("t", .with(to: "bare", title: "U"), id: "8"))
    var item = try #require(fixture.item("x"))
    #expect(item.id == "8" && item.title == "U" && item.value == ["x": .byte(1)] && item.destination?.name == "bare")
    try fixture.dismiss("x")
    try fixture.ask(select("t"))
    item = try #require(fixture.item("x"))
    #expect(item.id == "8" && item.title == "U" && item.value == ["x": .byte(1)] && item.destination?.name == "bare")
    try fixture.dismiss("x")
    try fixture.ask(select("t", .with(command: ["foot"]), at: "y"))
    #expect(fixture.item("y")?.destination?.presenter == .command([Array("foot".utf8)]))
    #expect(fixture.item("y")?.id == "8")
    try fixture.clearAway()
  }

  @Test("G7: the last request is remembered, not the ones before it")
  func present_again_lastRemembered() throws {
    try fixture.present("x", "7", .with(value: ["x": .byte(1)], title: "T", group: "g", tag: "t"))
    try fixture.dismiss("x")
    try fixture.present("x", "7", .with(style: "sheet", group: "g", tag: "t"))
    #expect(fixture.item("x")?.value == [:])
    try fixture.dismiss("x")
    try fixture.ask(select("t"))
    #expect(fixture.item("x")?.value == [:] && fixture.item("x")?.title == nil && fixture.item("x")?.style == "sheet")
    try fixture.clearAway()
  }

  @Test("G7: a request for the shown item adds to the remembered options: selecting repeats the item")
  func present_updated_rememberedToo() throws {
    try fixture.present("x", "7", .with(value: ["x": .byte(1)], group: "g", tag: "t"))
    try fixture.present("x", "7", .with(title: "T"))
    try fixture.dismiss("x")
    try fixture.ask(select("t"))
    #expect(fixture.item("x")?.value == ["x": .byte(1)] && fixture.item("x")?.title == "T")
    try fixture.clearAway()
  }

  @Test("G7: selecting the selected tag applies only the given options")
  func select_selected_appliesGiven() throws {
    try fixture.present("x", "7", .with(value: ["x": .byte(1)], title: "T", group: "g", tag: "t", timeout: 1000))
    try fixture.ask(.update("x", value: ["x": .byte(2)], remove: [], containerValues: nil, timeout: nil))
    fixture.pass(900)
    _ = fixture.taken()
    #expect(try fixture.ask(select("t")) == .presentation(1, changed: false))
    #expect(fixture.taken() == [])
    #expect(try fixture.ask(select("t", .with(title: "U"))) == .presentation(1, changed: true))
    #expect(fixture.item("x")?.value == ["x": .byte(2)] && fixture.item("x")?.title == "U")
    fixture.pass(100)
    #expect(selection == nil, "the timeout was not given again")
    try fixture.clearAway()
  }

  @Test("G7: selecting the selected tag with another id replaces the item, with the given options only")
  func select_selectedOtherID_replaced() throws {
    try fixture.present("x", "7", .with(title: "T", group: "g", tag: "t"))
    try fixture.ask(select("t", id: "8"))
    #expect(fixture.item("x")?.id == "8" && fixture.item("x")?.title == nil && selection == "t")
    try fixture.clearAway()
  }

  @Test("G7: a selection's own group or tag may be given, others not")
  func select_otherGroupOption_refused() throws {
    #expect(fixture.refusal(select("t", .with(group: "h"))) == .invalidArgument)
    #expect(fixture.refusal(select("t", .with(tag: "u"))) == .invalidArgument)
    try fixture.ask(select("t", .with(group: "g", tag: "t")))
    try fixture.clearAway()
  }

  @Test("G7: a tag that is neither declared nor remembered presents state only, at group.tag")
  func select_unknown_stateOnly() throws {
    try fixture.ask(select("t"))
    #expect(fixture.taken() == ["selection g t", "group g t ·", "presented g.t"])
    #expect(fixture.item("g.t")?.destination == nil && fixture.item("g.t")?.id == "")
    try fixture.clearAway()
  }

  @Test(
    "G7: where group.tag is not a binding, the tag is unknown, unless a binding is given",
    arguments: ["a b", "1", "x..y", "é"])
  func select_noBinding_unknown(tag: String) throws {
    #expect(fixture.refusal(select(tag)) == .unknownTag)
    #expect(fixture.refusal(toggle(tag)) == .unknownTag)
    try fixture.ask(select(tag, at: "x"))
    #expect(selection == tag && fixture.shown == ["x"])
    try fixture.ask(.deselect("g", tag: tag))
    try fixture.ask(select(tag))
    #expect(fixture.shown == ["x"])
    try fixture.clearAway()
  }

  @Test("G7: a remembered stack is pushed onto again, a parent presented from again")
  func select_rememberedStack_pushed() throws {
    try fixture.ask(.push("s", "a", id: "", .with()))
    try fixture.ask(.push("s", "x", id: "", .with(group: "g", tag: "t")))
    try fixture.ask(.deselect("g", tag: nil))
    #expect(fixture.path("s") == ["a"])
    try fixture.ask(select("t"))
    #expect(fixture.path("s") == ["a", "x"])
    try fixture.clearAway()
  }

  @Test("G7: tags with dots lead to bindings below the group")
  func select_dottedTag_binding() throws {
    try fixture.ask(select("a.b[1]"))
    #expect(fixture.shown == ["g.a.b[1]"] && selection == "a.b[1]")
    try fixture.clearAway()
  }

  // MARK: G8

  @Test("G8: replace is the default; refuse is Busy, and nothing changes")
  func present_busy_policies() throws {
    try fixture.present("x", "", .with(group: "g"))
    try fixture.present("y", "", .with(group: "g", ifBusy: .replace))
    #expect(fixture.shown == ["y"])
    #expect(fixture.refusal(.present("z", id: "", .with(group: "g", ifBusy: .refuse))) == .busy)
    #expect(fixture.refusal(select("z", .with(ifBusy: .refuse))) == .busy)
    #expect(fixture.refusal(toggle("z", .with(ifBusy: .refuse))) == .busy)
    #expect(fixture.refusal(.toggle("z", id: "", .with(group: "g", ifBusy: .refuse), anyID: false)) == .busy)
    #expect(fixture.shown == ["y"])
    try fixture.present("y", "", .with(title: "T", ifBusy: .refuse))
    try fixture.present("y", "2", .with(group: "g", ifBusy: .refuse))
    try fixture.ask(toggle("y", .with(ifBusy: .refuse)))
    try fixture.present("z", "", .with(group: "g", ifBusy: .refuse))
    #expect(fixture.shown == ["z"])
    try fixture.clearAway()
  }

  // MARK: G9

  @Test("G9: a queued item holds its slot as waiting, is not selected and not shown")
  func queue_waiting() throws {
    try fixture.show("x", "", .with(to: "cmd", group: "g"))
    #expect(
      try fixture.present("y", "1", .with(to: "cmd", group: "g", ifBusy: .queue)) == .presentation(2, changed: true))
    #expect(fixture.taken() == ["group g x y · y", "waiting y 1"])
    #expect(selection == "x" && fixture.shown == ["x", "y=1"])
    #expect(try fixture.present("y", "1", .with(ifBusy: .queue)) == .presentation(2, changed: false))
    try fixture.ask(.update("y", value: ["v": .byte(1)], remove: [], containerValues: nil, timeout: nil))
    #expect(fixture.taken() == ["updated y 1"])
    try fixture.clearAway()
  }

  @Test("G9: with nothing selected, queue selects at once")
  func queue_notBusy_selected() throws {
    try fixture.present("y", "1", .with(group: "g", ifBusy: .queue))
    #expect(selection == "y")
    try fixture.clearAway()
  }

  @Test("G9: when the selection becomes nil the next is selected: highest priority first, then the oldest")
  func queue_served_byPriorityThenAge() throws {
    try fixture.ask(select("x"))
    for (tag, priority): (String, Int32) in [("a", 0), ("b", 5), ("c", -1), ("d", 5), ("e", 0)] {
      try fixture.ask(select(tag, .with(ifBusy: .queue, priority: priority)))
    }
    #expect(queue == ["b", "d", "a", "e", "c"])
    var served: [String?] = []
    for _ in 0..<6 {
      try fixture.ask(.deselect("g", tag: nil))
      served.append(selection)
    }
    #expect(served == ["b", "d", "a", "e", "c", nil])
    try fixture.clearAway()
  }

  @Test(
    "G9: the next in the queue is selected, however the selection ended",
    arguments: [
      "dismiss", "deselect", "toggle", "close", "fail", "expire", "owner", "parent", "pop", "other group", "root",
    ])
  func queue_served_whateverWay(way: String) throws {
    try fixture.present("p")
    try fixture.ask(.push("s", "b", id: "", .with()))
    try fixture.show(
      "x", "1",
      .with(to: "cmd", from: "p", group: "g", stack: "s", timeout: 100, owned: true), by: "bert")
    try fixture.present("y", "", .with(to: "cmd", group: "g", ifBusy: .queue))
    _ = fixture.taken()
    switch way {
    case "dismiss": try fixture.dismiss("x")
    case "deselect": try fixture.ask(.deselect("g", tag: "x"))
    case "toggle": try fixture.ask(toggle("x"))
    case "close": try fixture.closed(3)
    case "fail": fixture.ends(3, failed: true)
    case "expire": fixture.pass(100)
    case "owner": fixture.leave("bert")
    case "parent": try fixture.dismiss("p")
    case "pop": try fixture.ask(.popTo("s", nil))
    case "root": try fixture.ask(.dismissAll(.root("x")))
    default: try fixture.present("x", "2", .with(group: "h"))
    }
    #expect(selection == "y" && queue == [])
    fixture.goes(3)
    #expect(fixture.taken().suffix(2) == ["presenting y", "present 4 y"])
    try fixture.clearAway()
  }

  @Test("G9: the next item is selected as soon as nothing is; it starts when the previous one has ended")
  func queue_servedWhileGoing_waits() throws {
    try fixture.show("x", "", .with(to: "cmd", group: "g"))
    try fixture.present("y", "", .with(to: "cmd", group: "g", ifBusy: .queue))
    _ = fixture.taken()
    try fixture.dismiss("x")
    #expect(fixture.taken() == ["selection g y", "group g y ·", "dismissing x", "dismiss 1 dismissed"])
    #expect(fixture.item("y")?.queueAge != nil, "it may have to return to the queue")
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed x dismissed", "presenting y", "present 2 y"])
    #expect(fixture.item("y")?.queueAge == nil)
    try fixture.clearAway()
  }

  @Test("G9: a higher priority never ends the shown item")
  func queue_higherPriority_waits() throws {
    try fixture.ask(select("x", .with(priority: 0)))
    try fixture.ask(select("y", .with(ifBusy: .queue, priority: 100)))
    #expect(selection == "x" && queue == ["y"])
    try fixture.clearAway()
  }

  @Test("G9: replace leaves the queue as it is")
  func queue_replace_stays() throws {
    try fixture.ask(select("x"))
    try fixture.ask(select("y", .with(ifBusy: .queue)))
    try fixture.ask(select("z"))
    #expect(selection == "z" && queue == ["y"])
    try fixture.clearAway()
  }

  @Test(
    "G9: a queued item asked for without queue or refuse is selected: the same handle, changed",
    arguments: ["present", "select", "toggle", "present replace"])
  func queue_askedAgain_selected(verb: String) throws {
    try fixture.ask(select("x"))
    try fixture.ask(select("y", .with(ifBusy: .queue)))
    try fixture.ask(select("z", .with(ifBusy: .queue)))
    _ = fixture.taken()
    switch verb {
    case "present": #expect(try fixture.present("g.y") == .presentation(2, changed: true))
    case "present replace":
      #expect(try fixture.present("g.y", "", .with(ifBusy: .replace)) == .presentation(2, changed: true))
    case "select": #expect(try fixture.ask(select("y")) == .presentation(2, changed: true))
    default: #expect(try fixture.ask(toggle("y")) == .selected(true))
    }
    #expect(
      fixture.taken() == ["selection g y", "group g y z · z", "dismissed g.x deselected", "presented g.y"])
    #expect(selection == "y" && queue == ["z"] && fixture.handle("g.y") == 2)
    try fixture.clearAway()
  }

  @Test("G9, G7: a queued item whose tag was forgotten is remembered again when it is selected, and may get a command")
  func queue_forgottenAndSelected_isRemembered() throws {
    try fixture.present("m", "", .with(group: "g"))
    try fixture.present("x", "1", .with(group: "g", tag: "t", ifBusy: .queue))
    try fixture.ask(.forget("g", tag: "t"))
    try fixture.ask(select("t"))
    try fixture.ask(.deselect("g", tag: nil))
    try fixture.ask(select("t", .with(command: ["foot"])))
    #expect(fixture.item("x")?.id == "1" && fixture.item("x")?.destination?.source == .request)
    try fixture.clearAway()
  }

  @Test("G9: a queued item asked for again is Busy with refuse, and stays with queue")
  func queue_askedAgainPolicies() throws {
    try fixture.ask(select("x"))
    try fixture.ask(select("y", .with(ifBusy: .queue)))
    #expect(fixture.refusal(select("y", .with(ifBusy: .refuse))) == .busy)
    #expect(fixture.refusal(.present("g.y", id: "", .with(ifBusy: .refuse))) == .busy)
    #expect(try fixture.ask(select("y", .with(ifBusy: .queue))) == .presentation(2, changed: false))
    #expect(try fixture.ask(toggle("y", .with(ifBusy: .queue))) == .selected(false))
    #expect(queue == ["y"])
    try fixture.clearAway()
  }

  @Test("G9: a queued item asked for again with another priority moves in the queue, and keeps its age")
  func queue_otherPriority_moves() throws {
    try fixture.ask(select("x"))
    for tag in ["a", "b", "c"] { try fixture.ask(select(tag, .with(ifBusy: .queue))) }
    _ = fixture.taken()
    #expect(try fixture.ask(select("b", .with(ifBusy: .queue, priority: 1))) == .presentation(3, changed: true))
    #expect(fixture.taken() == ["updated g.b", "group g a b c x · b a c"])
    try fixture.ask(select("b", .with(ifBusy: .queue, priority: 0)))
    #expect(queue == ["a", "b", "c"])
    try fixture.clearAway()
  }

  @Test("G9: a queued item asked for with another id is another item, at the end of its priority")
  func queue_otherID_atTheEnd() throws {
    try fixture.ask(select("x"))
    for tag in ["a", "b"] { try fixture.ask(select(tag, .with(ifBusy: .queue))) }
    _ = fixture.taken()
    try fixture.ask(select("a", .with(ifBusy: .queue), id: "2"))
    #expect(fixture.taken() == ["group g a b x · b a", "dismissed g.a replaced", "waiting g.a 2"])
    try fixture.clearAway()
  }

  @Test("G9: dismissing or toggling its binding takes an item out of the queue")
  func queue_dismissed_out() throws {
    try fixture.ask(select("x"))
    for tag in ["a", "b"] { try fixture.ask(select(tag, .with(ifBusy: .queue))) }
    _ = fixture.taken()
    try fixture.dismiss("g.a")
    #expect(fixture.taken() == ["group g b x · b", "dismissed g.a dismissed"])
    #expect(try fixture.ask(.toggle("g.b", id: "", .with(), anyID: false)) == .toggled(presented: false, nil))
    #expect(fixture.taken() == ["group g x ·", "dismissed g.b dismissed"])
    #expect(selection == "x")
    try fixture.clearAway()
  }

  @Test("G9: dismissing the group empties the queue")
  func queue_dismissGroup_empty() throws {
    try fixture.show("x", "", .with(to: "cmd", group: "g"))
    for binding: BindingID in ["a", "b"] {
      try fixture.present(binding, "", .with(to: "cmd", group: "g", ifBusy: .queue))
    }
    _ = fixture.taken()
    #expect(try fixture.ask(.dismissAll(.group("g"))) == .count(3))
    #expect(
      fixture.taken() == [
        "selection g -", "group g ·", "dismissed a dismissed", "dismissed b dismissed", "dismissing x",
        "dismiss 1 dismissed",
      ])
    fixture.goes(1)
    #expect(fixture.leftovers == [])
  }

  @Test("G9: a queued item is no parent: naming it is refused, and an implied parent skips it")
  func queue_nobodysParent() throws {
    try fixture.present("a")
    try fixture.present("x", "", .with(group: "g"))
    try fixture.present("a.q", "", .with(group: "g", ifBusy: .queue))
    let refusal = fixture.refusal(of: .present("c", id: "", .with(from: "a.q")))
    #expect(refusal?.code == .notPresented && refusal?.message.contains("waits in a queue") == true)
    try fixture.present("a.q.c")
    #expect(fixture.parent("a.q.c") == 1)
    try fixture.dismiss("x")
    #expect(selection == "a.q" && fixture.parent("a.q.c") == 1)
    try fixture.present("a.q.d")
    #expect(fixture.parent("a.q.d") == 3)
    try fixture.clearAway()
  }

  @Test("G9: a queued item has a parent, and ends with it")
  func queue_parentGoes_goes() throws {
    try fixture.present("a")
    try fixture.present("x", "", .with(group: "g"))
    try fixture.present("a.q", "", .with(group: "g", ifBusy: .queue))
    _ = fixture.taken()
    try fixture.dismiss("a")
    #expect(fixture.taken() == ["group g x ·", "dismissed a.q parent", "dismissed a dismissed"])
    try fixture.clearAway()
  }

  @Test("G9: a queued item is in no stack: queue with a stack is refused, even if the group is not busy")
  func queue_withStack_refused() throws {
    #expect(fixture.refusal(.push("s", "q", id: "", .with(group: "g", ifBusy: .queue))) == .invalidArgument)
    try fixture.present("x", "", .with(group: "g"))
    #expect(fixture.refusal(.push("s", "q", id: "", .with(group: "g", ifBusy: .queue))) == .invalidArgument)
    #expect(fixture.refusal(.present("q", id: "", .with(group: "g", stack: "s", ifBusy: .queue))) == .invalidArgument)
    try fixture.ask(.push("s", "b", id: "", .with()))
    #expect(fixture.refusal(.present("b", id: "2", .with(group: "g", ifBusy: .queue))) == .invalidArgument)
    #expect(
      fixture.refusal(.setPath("s", [.at("b"), .at("q", "", .with(group: "g", ifBusy: .queue))])) == .invalidArgument)
    try fixture.clearAway()
  }

  @Test("G9: a queued item cannot be pushed, unless it is dismissed first")
  func queue_pushed_refused() throws {
    try fixture.ask(select("x"))
    try fixture.ask(select("q", .with(ifBusy: .queue)))
    #expect(fixture.refusal(.push("s", "g.q", id: "", .with())) == .invalidArgument)
    try fixture.apply(.dismiss("g.q"), .push("s", "g.q", id: "", .with()))
    try fixture.clearAway()
  }

  @Test("G9: a queued item leaves the queue when its owner leaves, or when it is reported closed")
  func queue_ends_out() throws {
    try fixture.ask(select("x"))
    try fixture.ask(select("q", .with(owned: true, ifBusy: .queue)), by: "bert")
    try fixture.ask(select("r", .with(ifBusy: .queue)))
    fixture.leave("bert")
    #expect(queue == ["r"])
    try fixture.closed(3)
    #expect(queue == [] && selection == "x")
    try fixture.clearAway()
  }

  @Test("G9: an alert that is never shown for its group's sake does not expire")
  func queue_timeout_startsWhenPresented() throws {
    try fixture.ask(select("x"))
    try fixture.ask(select("q", .with(timeout: 100, ifBusy: .queue)))
    fixture.pass(1000)
    #expect(queue == ["q"])
    try fixture.ask(.deselect("g", tag: nil))
    fixture.pass(99)
    #expect(selection == "q")
    fixture.pass(1)
    #expect(selection == nil)
    try fixture.clearAway()
  }

  @Test("G7, W1: a declared tag is announced for a group that is there, unless a member has it already")
  func register_tagOfKnownGroup_isAnnounced() throws {
    try fixture.present("a", "", .with(group: "g"))
    _ = fixture.taken()
    try fixture.register(RulesFixture.bus("b", group: "g", source: .client("bar")), by: "bar")
    #expect(fixture.taken() == ["group g a b ·"])
    try fixture.register(RulesFixture.bus("a", group: "g", source: .client("bar")), by: "bar")
    #expect(fixture.taken() == [])
    fixture.leave("bar")
    try fixture.clearAway()
  }

  @Test("G9, R5: no queue is served during Quit, even if it takes several turns")
  func shutDown_inTurns_queueNotServed() throws {
    try fixture.present("p", "", .with(to: "cmd"))
    try fixture.present("p.a", "", .with(group: "g"))
    // It is newer than the one that waits, and ends before that one.
    try fixture.present("b", "", .with(group: "g", ifBusy: .interrupt))
    #expect(fixture.machine.queuedTags(of: "g") == ["p.a"])
    for end in fixture.machine.beginShutDown().reversed() {
      fixture.take(fixture.machine.end([end], by: nil, at: fixture.now))
      #expect(fixture.machine.selection(of: "g") != "p.a")
    }
  }

  @Test("G9: at a shutdown, no queued item is selected")
  func shutDown_queue_notServed() throws {
    try fixture.show("x", "", .with(to: "cmd", group: "g"))
    try fixture.present("q", "", .with(to: "cmd", group: "g", ifBusy: .queue))
    _ = fixture.taken()
    fixture.shutDown()
    fixture.goes(1)
    #expect(
      fixture.taken() == [
        "selection g -", "group g ·", "dismissed q shutdown", "dismissing x", "dismiss 1 shutdown forced",
        "dismissed x shutdown",
      ])
    #expect(fixture.machine.count == 0)
    #expect(fixture.refusal(.present("a", id: "", .with())) == .shuttingDown)
  }
}
