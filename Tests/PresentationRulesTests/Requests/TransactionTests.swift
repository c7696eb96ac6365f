import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

/// Transactions: all or none, only the last state counts, and animation (T1, T2).
@Suite struct TransactionTests {
  let fixture = RulesFixture()

  // MARK: T1, all or none

  @Test("T1: a transaction whose 40th of 50 requests is wrong changes nothing, and the refusal says which and why")
  func apply_fortiethWrong_nothing() throws {
    try fixture.show("a[7]", "1")
    var requests = (0..<50).map { index -> Request in
      let binding = BindingID("a").appending(index: index)!
      return Request(.present(binding, id: "2", .with(to: "cmd", group: index % 5 == 0 ? "g" : nil)))
    }
    requests[10] = Request(.dismiss("a[3]"))
    requests[20] = Request(.setPath("s", .values("1", "2", to: "cmd")))
    requests[30] = Request(.select("g", tag: "t", binding: nil, id: nil, .with(ifBusy: .queue)))
    requests[39] = Request(.present("a[39]", id: "2", .with(to: "nobody")))
    let refusal = fixture.refusal(of: requests)
    #expect(refusal?.index == 39)
    #expect(refusal?.code == .unknownDestination)
    #expect(refusal?.message.contains("nobody") == true)
    #expect(fixture.shown == ["a[7]=1"])
    #expect(fixture.taken() == [])
    try fixture.clearAway()
  }

  @Test("T1: faults of the transaction as a whole are refused, too, with the index of the request")
  func apply_wrongAsAWhole_namesRequest() throws {
    let missing = fixture.refusal(of: .present("x", id: "", .with()), .present("a", id: "", .with(from: "p")))
    #expect(missing?.index == 1 && missing?.code == .notPresented)
    let gone = fixture.refusal(
      of: .present("p", id: "", .with()), .present("a", id: "", .with(from: "p")), .dismiss("p"))
    #expect(gone?.index == 1 && gone?.code == .notPresented)
  }

  @Test("T1: each request is checked against the result of those before it")
  func apply_laterOnEarlier_judged() throws {
    #expect(fixture.refusal(of: .pop("s", count: 1), .popTo("s", "a"))?.index == 1)
    try fixture.apply(.push("s", "a", id: "", .with()), .push("s", "b", id: "", .with()), .popTo("s", "a"))
    #expect(fixture.path("s") == ["a"])
    let update = Request.Operation.update("n", value: ["x": .byte(1)], remove: [], containerValues: nil, timeout: nil)
    #expect(fixture.refusal(of: update, .present("n", id: "", .with()))?.index == 0)
    try fixture.apply(.present("n", id: "", .with()), update)
    #expect(fixture.item("n")?.value == ["x": .byte(1)])
    #expect(
      fixture.refusal(
        of: .present("m", id: "", .with(group: "g")), .present("o", id: "", .with(group: "g", ifBusy: .refuse))
      )
      .map { "\($0.index ?? -1) \($0.code)" } == "1 busy")
    try fixture.clearAway()
  }

  @Test("T1: an expected id is checked request by request")
  func apply_expectationsInside_judged() throws {
    try fixture.present("a", "1")
    let requests = [
      Request(.present("a", id: "2", .with()), expecting: Expected(id: "1")),
      Request(.present("a", id: "3", .with()), expecting: Expected(id: "2")),
    ]
    try fixture.apply(requests)
    #expect(fixture.shown == ["a=3"])
    let refusal = fixture.refusal(of: requests)
    #expect(refusal?.code == .stale && refusal?.index == 0)
    let second = fixture.refusal(of: [
      Request(.dismiss("a"), expecting: Expected(id: "3")), Request(.dismiss("a"), expecting: Expected(id: "3")),
    ])
    #expect(second?.code == .stale && second?.index == 1)
    try fixture.clearAway()
  }

  @Test("T1: an empty transaction is nothing")
  func apply_empty_nothing() throws {
    #expect(try fixture.apply([Request]()) == [])
    #expect(fixture.taken() == [])
  }

  // MARK: T1, only the last state is acted on

  @Test("T1: X→nil→X is nothing at all")
  func apply_awayAndBack_nothing() throws {
    try fixture.show(
      "x", "1", .with(to: "bus", value: ["v": .byte(1)], style: "sheet", title: "T", owned: true, priority: 2))
    try fixture.show("x.y", "1")
    let item = fixture.item("x")
    #expect(
      try fixture.apply(.dismiss("x"), .present("x", id: "1", .with())) == [
        .changed(false), .presentation(1, changed: false),
      ])
    #expect(fixture.taken() == [])
    #expect(fixture.item("x") == item)
    try fixture.apply(.dismiss("x"), .present("x", id: "1", .with(to: "bus")))
    try fixture.apply(.present("x", id: "2", .with()), .present("x", id: "1", .with(to: "bus")))
    try fixture.apply(
      .toggle("x", id: "1", .with(), anyID: false), .toggle("x", id: "1", .with(to: "bus"), anyID: false))
    #expect(fixture.taken() == [])
    #expect(fixture.item("x") == item && fixture.handle("x") == 1)
    try fixture.clearAway()
  }

  @Test("T1: X→nil→X with something else given is an update")
  func apply_awayAndBackChanged_updated() throws {
    try fixture.show("x", "1", .with(to: "bus", value: ["v": .byte(1)], title: "T"))
    #expect(
      try fixture.apply(.dismiss("x"), .present("x", id: "1", .with(to: "bus", value: ["v": .byte(2)]))) == [
        .changed(true), .presentation(1, changed: true),
      ])
    #expect(fixture.taken() == ["updated x 1", "update 1 by anna"])
    #expect(fixture.item("x")?.value == ["v": .byte(2)] && fixture.item("x")?.title == "T")
    try fixture.clearAway()
  }

  @Test(
    "T1: X→nil→X with an update: the update edits the given value; the rest stays")
  func apply_awayAndBackEdited_updated() throws {
    try fixture.machine.declareContainerValue("k", defaultValue: .byte(0))
    try fixture.show(
      "x", "1", .with(to: "bus", value: ["v": .byte(1)], containerValues: ["k": .byte(1)], timeout: 1000))
    try fixture.apply(
      .dismiss("x"), .present("x", id: "1", .with(value: ["w": .byte(1)])),
      .update("x", value: ["u": .byte(2)], remove: [], containerValues: nil, timeout: nil))
    #expect(fixture.item("x")?.value == ["w": .byte(1), "u": .byte(2)])
    #expect(fixture.item("x")?.containerValues == ["k": .byte(1)])
    #expect(fixture.item("x")?.timeout == 1000)
    #expect(fixture.taken() == ["updated x 1", "update 1 by anna"])
    try fixture.clearAway()
  }

  @Test("T1, C1: an item that is dismissed and presented from another parent is presented anew")
  func item_presentedFromAnotherParent_isNew() throws {
    let fixture = RulesFixture()
    try fixture.present("p")
    try fixture.present("q")
    try fixture.present("x", "", .with(from: "p"))
    let before = fixture.handle("x")
    try fixture.apply(.dismiss("x"), .present("x", id: "", .with(from: "p")))
    #expect(fixture.handle("x") == before)
    try fixture.apply(.dismiss("x"), .present("x", id: "", .with(from: "q")))
    #expect(fixture.handle("x") != before)
    #expect(fixture.parent("x") == fixture.handle("q"))
    try fixture.clearAway()
  }

  @Test("T1: a slot whose final item is another one is replaced, whatever was in between")
  func apply_awayAndOther_replaced() throws {
    try fixture.show("x", "1")
    try fixture.apply(.dismiss("x"), .present("x", id: "2", .with(to: "cmd")))
    #expect(fixture.taken() == ["dismissing x 1", "waiting x 2", "dismiss 1 replaced"])
    fixture.goes(1)
    fixture.shows(2)
    _ = fixture.taken()
    try fixture.apply(.dismiss("x"), .present("x", id: "2", .with(to: "bus")))
    #expect(fixture.taken() == ["dismissing x 2", "waiting x 2", "dismiss 2 replaced"])
    try fixture.clearAway()
  }

  @Test("T1: an item presented and dismissed within a transaction leaves no trace")
  func apply_comesAndGoes_nothing() throws {
    #expect(
      try fixture.apply(.present("x", id: "1", .with(to: "cmd")), .dismiss("x")) == [
        .presentation(nil, changed: false), .changed(false),
      ])
    #expect(fixture.taken() == [])
    #expect(fixture.leftovers == [] && fixture.machine.lastHandle == 0)
    try fixture.apply(.push("s", "a", id: "", .with()), .push("s", "b", id: "", .with()), .popTo("s", nil))
    #expect(fixture.taken() == [])
    #expect(fixture.leftovers == [])
    try fixture.apply(.push("s", "a", id: "", .with()), .dismiss("a"))
    #expect(fixture.leftovers == [])
  }

  @Test("T1: A→B→C within a transaction is A→C")
  func apply_severalIDs_lastOne() throws {
    try fixture.show("x", "A")
    try fixture.apply(.present("x", id: "B", .with(to: "cmd")), .present("x", id: "C", .with(to: "cmd")))
    #expect(fixture.taken() == ["dismissing x A", "waiting x C", "dismiss 1 replaced"])
    #expect(fixture.machine.lastHandle == 2)
    try fixture.clearAway()
  }

  @Test("T1: a selection restored within a transaction changes nothing")
  func apply_selectionAwayAndBack_nothing() throws {
    try fixture.show("m", "", .with(to: "cmd", group: "g"))
    try fixture.show("n", "", .with(to: "cmd", group: "g"))
    fixture.goes(1)
    fixture.shows(2)
    _ = fixture.taken()
    try fixture.apply(
      .select("g", tag: "m", binding: nil, id: nil, .with()), .select("g", tag: "n", binding: nil, id: nil, .with()))
    #expect(fixture.taken() == [])
    #expect(fixture.handle("n") == 2)
    try fixture.apply(.deselect("g", tag: nil), .select("g", tag: "n", binding: nil, id: nil, .with()))
    #expect(fixture.taken() == [])
    try fixture.clearAway()
  }

  @Test("T1: a path restored within a transaction changes nothing")
  func apply_pathAwayAndBack_nothing() throws {
    try fixture.ask(.setPath("s", .values("1", "2", "3", to: "cmd")))
    fixture.shows(1, 2, 3)
    _ = fixture.taken()
    try fixture.apply(.popTo("s", nil), .setPath("s", .values("1", "2", "3", to: "cmd")))
    #expect(fixture.taken() == [])
    try fixture.apply(.pop("s", count: 2), .push("s", "s[1]", id: "2", .with()), .push("s", "s[2]", id: "3", .with()))
    #expect(fixture.taken() == [])
    #expect(fixture.handle("s[2]") == 3)
    try fixture.clearAway()
  }

  @Test("T1: stacks change request by request: a push keeps the items below it")
  func apply_popAndPush_inOrder() throws {
    try fixture.ask(.setPath("s", .values("1", "2", to: "cmd")))
    fixture.shows(1, 2)
    _ = fixture.taken()
    try fixture.apply(
      .push("s", "x", id: "", .with(to: "cmd")), .dismiss("s[1]"), .push("s", "y", id: "", .with(to: "cmd")))
    #expect(fixture.path("s") == ["s[0]=1", "y"])
    #expect(fixture.taken() == ["path s s[0]=1 y", "dismissing s[1] 2", "waiting y", "dismiss 2 dismissed"])
    try fixture.clearAway()
  }

  // MARK: T1, parents, children and queues once

  @Test("T1: children of an item that stays in the end stay")
  func apply_parentAwayAndBack_childrenStay() throws {
    try fixture.show("a", "1")
    try fixture.show("a.b", "1")
    try fixture.apply(.dismiss("a"), .present("a", id: "1", .with()))
    #expect(fixture.taken() == [])
    #expect(fixture.shown == ["a=1", "a.b=1"])
    try fixture.clearAway()
  }

  @Test("T1: children of an ended item end; if the transaction requests them, they are presented again")
  func apply_parentReplacedChildAsked_childAnew() throws {
    try fixture.show("a", "1")
    try fixture.show("a.b", "1")
    try fixture.show("a.c", "1")
    try fixture.apply(.present("a.b", id: "1", .with()), .present("a", id: "2", .with(to: "cmd")))
    #expect(
      fixture.taken() == [
        "dismissing a.b 1", "dismissing a 1", "dismissing a.c 1", "waiting a.b 1", "waiting a 2", "dismiss 2 parent",
        "dismiss 3 parent",
      ])
    #expect(fixture.shown == ["a=2", "a.b=1"])
    #expect(fixture.parent("a.b") == fixture.handle("a"))
    try fixture.clearAway()
  }

  @Test("T1: the replies describe the final state; an item that is not presented then has no handle")
  func apply_goneInTheEnd_repliesWithout() throws {
    try fixture.show("a", "1")
    #expect(
      try fixture.apply(
        .present("a.b", id: "1", .with()), .push("s", "p", id: "", .with()),
        .toggle("t", id: "", .with(), anyID: false),
        .toggleSelection("g", tag: "m", binding: nil, id: nil, .with()),
        .select("g", tag: "n", binding: nil, id: nil, .with()), .setPath("s", .values("1")), .dismiss("t"),
        .dismiss("a.b"), .present("a", id: "1", .with())
      ) == [
        .presentation(nil, changed: false), .presentation(nil, changed: false), .toggled(presented: false, nil),
        .selected(false), .presentation(2, changed: true), .path([3]), .changed(false), .changed(false),
        .presentation(1, changed: false),
      ])
    try fixture.clearAway()
  }

  @Test("T1: a child asked for after its parent was dismissed has none")
  func apply_childAfterParentDismissed_none() throws {
    try fixture.show("a", "1")
    try fixture.show("a.b", "1")
    try fixture.apply(.dismiss("a"), .present("a.b", id: "1", .with()))
    #expect(fixture.taken() == ["dismissing a 1", "dismissing a.b 1", "waiting a.b 1", "dismiss 2 parent"])
    #expect(fixture.parent("a.b") == nil)
    fixture.goes(2)
    #expect(fixture.taken() == ["dismissed a.b 1 parent", "presenting a.b 1", "dismiss 1 dismissed", "present 3 a.b"])
    try fixture.clearAway()
  }

  @Test("C1: a parent that is named must hold an item in the end, also where the item is there already")
  func apply_namedParentOfKeptDismissed_refused() throws {
    try fixture.show("p")
    try fixture.show("a", "1", .with(to: "cmd", from: "p"))
    let after = fixture.refusal(of: .dismiss("p"), .present("a", id: "1", .with(from: "p")))
    #expect(after?.code == .notPresented && after?.index == 1)
    let before = fixture.refusal(of: .present("a", id: "1", .with(from: "p")), .dismiss("p"))
    #expect(before?.code == .notPresented && before?.index == 0)
    try fixture.apply(.present("a", id: "1", .with(from: "p")), .present("p", id: "2", .with()))
    #expect(fixture.parent("a") == fixture.handle("p"))
    try fixture.clearAway()
  }

  @Test("T1: a requested item of a stack that loses its parent is presented again at its position")
  func apply_stackElementLosesParent_comesAnew() throws {
    try fixture.show("p", "1")
    try fixture.show("a", "", .with(to: "cmd", from: "p", stack: "s"))
    try fixture.apply(.present("a", id: "", .with()), .present("p", id: "2", .with()))
    #expect(fixture.taken() == ["dismissing a", "dismissing p 1", "waiting a", "waiting p 2", "dismiss 2 parent"])
    fixture.goes(2)
    #expect(fixture.taken() == ["dismissed a parent", "dismiss 1 replaced"])
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed p 1 replaced", "presented p 2", "presenting a", "present 3 a"])
    #expect(fixture.path("s") == ["a"])
    try fixture.clearAway()
  }

  @Test("T1: items above it end, and are presented again if requested")
  func apply_stackElementLosesParent_aboveToo() throws {
    try fixture.show("p", "1")
    for binding: BindingID in ["a", "b", "c"] {
      try fixture.show(binding, "", .with(to: "cmd", from: binding == "a" ? "p" : nil, stack: "s"))
    }
    try fixture.apply(.setPath("s", [.at("a"), .at("b")]), .present("p", id: "2", .with()))
    #expect(
      fixture.taken() == [
        "path s a b", "dismissing c", "dismissing a", "dismissing b", "dismissing p 1", "waiting a", "waiting b",
        "waiting p 2", "dismiss 4 popped",
      ])
    fixture.goes(4, 3, 2)
    #expect(
      fixture.taken() == [
        "dismissed c popped", "dismiss 3 popped", "dismissed b popped", "dismiss 2 parent", "dismissed a parent",
        "dismiss 1 replaced",
      ])
    fixture.goes(1)
    fixture.shows(5, 6)
    #expect(
      fixture.taken() == [
        "dismissed p 1 replaced", "presented p 2", "presenting a", "present 5 a", "presented a", "presenting b",
        "present 6 b", "presented b",
      ])
    try fixture.clearAway()
  }

  @Test(
    "T1: an item pushed onto one that ends with the transaction is kept, and stands on the elements that are left",
    arguments: [true, false])
  func apply_pushOntoChildOfDeselected_isKept(pushedLast: Bool) throws {
    try fixture.show("n", "", .with(to: "cmd", group: "h"))
    try fixture.show("n.body", "", .with(to: "cmd", stack: "s"))
    let select = Request.Operation.select("h", tag: "y", binding: nil, id: nil, .with())
    let push = Request.Operation.push("s", "x", id: "", .with())
    try fixture.apply(pushedLast ? [select, push].map { Request($0) } : [push, select].map { Request($0) })
    #expect(fixture.path("s") == ["x"] && fixture.shown == ["h.y", "x"])
    fixture.goes(2, 1)
    #expect(fixture.phase(try #require(fixture.handle("x"))) == "presented")
    #expect(fixture.ending(2)?.reason == .parent)
    try fixture.clearAway()
  }

  @Test("T1: of the items above one that ends, those that the transaction presents are kept, and the others are popped")
  func apply_lowerElementEnds_requestedAreKept() throws {
    try fixture.show("p", "1")
    for binding: BindingID in ["a", "b", "c"] {
      try fixture.show(binding, "", .with(to: "cmd", from: binding == "a" ? "p" : nil, stack: "s"))
    }
    try fixture.apply(
      .present("c", id: "", .with()), .push("s", "d", id: "", .with()), .present("p", id: "2", .with()))
    #expect(fixture.path("s") == ["c", "d"] && fixture.shown == ["c", "d", "p=2"])
    fixture.goes(4, 3, 2, 1)
    #expect([4, 3, 2].map { fixture.ending($0)?.reason } == [.popped, .popped, .parent])
    fixture.shows(5)
    #expect(fixture.phase(5) == "presented" && fixture.phase(6) == "presented")
    try fixture.clearAway()
  }

  @Test("T1: queues are served once, after the last request")
  func apply_selectionFreeBetween_queueNotServed() throws {
    try fixture.present("m", "", .with(group: "g"))
    try fixture.present("q", "", .with(group: "g", ifBusy: .queue))
    _ = fixture.taken()
    try fixture.apply(.dismiss("m"), .present("n", id: "", .with(group: "g")))
    #expect(fixture.taken() == ["selection g n", "group g n q · q", "dismissed m dismissed", "presented n"])
    try fixture.apply(.dismiss("n"), .present("n", id: "", .with(group: "g", ifBusy: .queue)))
    #expect(fixture.taken() == [])
    try fixture.clearAway()
  }

  @Test("T1: a queued item taken out and queued again within a transaction keeps its place, and its priority")
  func apply_queuedAwayAndBack_nothing() throws {
    try fixture.present("m", "", .with(group: "g"))
    for (binding, priority): (BindingID, Int32) in [("x", 5), ("y", 5), ("z", 0)] {
      try fixture.present(binding, "", .with(group: "g", ifBusy: .queue, priority: priority))
    }
    _ = fixture.taken()
    let age = fixture.item("x")?.queueAge
    try fixture.apply(.dismiss("x"), .present("x", id: "", .with(group: "g", ifBusy: .queue)))
    #expect(fixture.taken() == [] && age != nil && fixture.item("x")?.queueAge == age)
    #expect(fixture.machine.queuedTags(of: "g") == ["x", "y", "z"])
    try fixture.apply(.dismiss("x"), .present("x", id: "", .with(group: "g", ifBusy: .queue, priority: 1)))
    #expect(fixture.machine.queuedTags(of: "g") == ["y", "x", "z"])
    #expect(fixture.taken() == ["updated x", "group g m x y z · y x z"])
    try fixture.clearAway()
  }

  @Test("T1: an item that was selected and is queued in the end is another presentation")
  func apply_selectedThenQueued_another() throws {
    try fixture.show("m", "", .with(to: "cmd", group: "g"))
    try fixture.apply(
      .dismiss("m"), .present("n", id: "", .with(to: "cmd", group: "g")),
      .present("m", id: "", .with(to: "cmd", group: "g", ifBusy: .queue)))
    #expect(fixture.taken().last == "dismiss 1 replaced")
    #expect(fixture.machine.queuedTags(of: "g") == ["m"] && fixture.machine.selection(of: "g") == "n")
    try fixture.clearAway()
  }

  @Test("T1: filling a queue and clearing the selection in one transaction leaves the first of the queue selected")
  func apply_queueAndDismiss_selected() throws {
    try fixture.present("m", "", .with(group: "g"))
    _ = fixture.taken()
    try fixture.apply(.present("q", id: "", .with(group: "g", ifBusy: .queue)), .dismiss("m"))
    #expect(fixture.taken() == ["selection g q", "group g q ·", "dismissed m dismissed", "presented q"])
    try fixture.clearAway()
  }

  @Test("T1, G9: an item on the screen that is dismissed and queued again stays there, without an age in the queue")
  func apply_shownAwayAndQueued_isSelected() throws {
    try fixture.present("m", "", .with(group: "g"))
    try fixture.apply(.dismiss("m"), .present("m", id: "", .with(title: "M", group: "g", ifBusy: .queue)))
    #expect(fixture.handle("m") == 1 && fixture.item("m")?.title == "M" && fixture.item("m")?.queueAge == nil)
    try fixture.clearAway()
  }

  // MARK: T2

  @Test("T2: changes are animated, unless the request or its transaction says otherwise; the innermost wins")
  func animated_innermostWins() throws {
    func dismissals(_ own: Bool?, _ all: Bool) throws -> [String] {
      try fixture.show("a", "1")
      try fixture.apply([Request(.dismiss("a"), animated: own)], animated: all)
      defer { fixture.goes(fixture.machine.lastHandle) }
      return fixture.taken().suffix(1).map { $0.contains("unanimated") ? "no" : "yes" }
    }
    #expect(try dismissals(nil, true) == ["yes"])
    #expect(try dismissals(nil, false) == ["no"])
    #expect(try dismissals(true, false) == ["yes"])
    #expect(try dismissals(false, true) == ["no"])
    try fixture.present("b")
    #expect(fixture.item("b")?.animated == true)
    try fixture.apply([Request(.present("c", id: "", .with()))], animated: false)
    #expect(fixture.item("c")?.animated == false)
    try fixture.apply([Request(.present("d", id: "", .with()), animated: true)], animated: false)
    #expect(fixture.item("d")?.animated == true)
    try fixture.clearAway()
  }

  @Test("T2: a replacement uses one setting for both halves", arguments: [true, false])
  func animated_replacement_bothHalves(animated: Bool) throws {
    try fixture.show("a", "1")
    try fixture.ask(.present("a", id: "2", .with(to: "cmd")), animated: animated)
    #expect(fixture.taken().last == "dismiss 1 replaced" + (animated ? "" : " unanimated"))
    #expect(fixture.item("a")?.animated == animated)
    fixture.goes(1)
    fixture.shows(2)
    _ = fixture.taken()
    try fixture.apply([
      Request(.dismiss("a"), animated: !animated),
      Request(.present("a", id: "3", .with(to: "cmd")), animated: !animated),
      Request(.present("a", id: "4", .with(to: "cmd")), animated: animated),
    ])
    #expect(fixture.taken().last == "dismiss 2 replaced" + (animated ? "" : " unanimated"))
    #expect(fixture.item("a")?.animated == animated)
    try fixture.clearAway()
  }

  @Test("T2: items that end with another one are animated as that one, whatever other requests say")
  func animated_children_asTheirParent() throws {
    try fixture.show("a")
    try fixture.show("a.b")
    try fixture.show("a.b.c")
    try fixture.apply([
      Request(.dismiss("a"), animated: false), Request(.present("z", id: "", .with()), animated: true),
    ])
    fixture.goes(3, 2)
    #expect(
      fixture.taken().filter { $0.hasPrefix("dismiss ") } == [
        "dismiss 3 parent unanimated", "dismiss 2 parent unanimated", "dismiss 1 dismissed unanimated",
      ])
    try fixture.clearAway()
  }

  @Test("T2: elements that are popped are animated as the request says")
  func animated_popped_asTheRequest() throws {
    try fixture.ask(.setPath("s", .values("1", "2", "3", to: "cmd")))
    fixture.shows(1, 2, 3)
    _ = fixture.taken()
    try fixture.ask(.popTo("s", "s[0]"), animated: false)
    fixture.goes(3)
    #expect(
      fixture.taken().filter { $0.hasPrefix("dismiss ") } == [
        "dismiss 3 popped unanimated", "dismiss 2 popped unanimated",
      ])
    try fixture.clearAway()
  }
}
