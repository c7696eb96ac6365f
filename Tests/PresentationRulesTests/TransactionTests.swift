// Why this file exists: the rules of transactions, T1 and T2.

import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

@Suite struct TransactionTests {
  let desk = Desk()

  // MARK: T1, all or none

  @Test("T1: a transaction whose 40th of 50 requests is wrong changes nothing, and says which and why")
  func apply_fortiethWrong_nothing() throws {
    try desk.show("a[7]", "1")
    var requests = (0..<50).map { index -> Request in
      let binding = BindingID("a").appending(index: index)!
      return Request(.present(binding, id: "2", .with(to: "cmd", group: index % 5 == 0 ? "g" : nil)))
    }
    requests[10] = Request(.dismiss("a[3]"))
    requests[20] = Request(.setPath("s", .values("1", "2", to: "cmd")))
    requests[30] = Request(.select("g", tag: "t", binding: nil, id: nil, .with(ifBusy: .queue)))
    requests[39] = Request(.present("a[39]", id: "2", .with(to: "nobody")))
    let refusal = desk.refusal(of: requests)
    #expect(refusal?.index == 39)
    #expect(refusal?.code == .unknownDestination)
    #expect(refusal?.message.contains("nobody") == true)
    #expect(desk.shown == ["a[7]=1"])
    #expect(desk.taken() == [])
    try desk.clearAway()
  }

  @Test("T1: what only the whole can tell is refused too, naming the request")
  func apply_wrongAsAWhole_namesRequest() throws {
    let missing = desk.refusal(of: .present("x", id: "", .with()), .present("a", id: "", .with(from: "p")))
    #expect(missing?.index == 1 && missing?.code == .notPresented)
    let gone = desk.refusal(
      of: .present("p", id: "", .with()), .present("a", id: "", .with(from: "p")), .dismiss("p"))
    #expect(gone?.index == 1 && gone?.code == .notPresented)
  }

  @Test("T1: each request is checked against what the ones before it leave")
  func apply_laterOnEarlier_judged() throws {
    #expect(desk.refusal(of: .pop("s", count: 1), .popTo("s", "a"))?.index == 1)
    try desk.apply(.push("s", "a", id: "", .with()), .push("s", "b", id: "", .with()), .popTo("s", "a"))
    #expect(desk.path("s") == ["a"])
    let update = Request.Operation.update("n", value: ["x": .byte(1)], remove: [], containerValues: nil, timeout: nil)
    #expect(desk.refusal(of: update, .present("n", id: "", .with()))?.index == 0)
    try desk.apply(.present("n", id: "", .with()), update)
    #expect(desk.item("n")?.value == ["x": .byte(1)])
    #expect(
      desk.refusal(
        of: .present("m", id: "", .with(group: "g")), .present("o", id: "", .with(group: "g", ifBusy: .refuse))
      )
      .map { "\($0.index ?? -1) \($0.code)" } == "1 busy")
    try desk.clearAway()
  }

  @Test("T1: expectations of an id are judged request by request")
  func apply_expectationsInside_judged() throws {
    try desk.present("a", "1")
    let requests = [
      Request(.present("a", id: "2", .with()), expecting: Expected(id: "1")),
      Request(.present("a", id: "3", .with()), expecting: Expected(id: "2")),
    ]
    try desk.apply(requests)
    #expect(desk.shown == ["a=3"])
    let refusal = desk.refusal(of: requests)
    #expect(refusal?.code == .stale && refusal?.index == 0)
    let second = desk.refusal(of: [
      Request(.dismiss("a"), expecting: Expected(id: "3")), Request(.dismiss("a"), expecting: Expected(id: "3")),
    ])
    #expect(second?.code == .stale && second?.index == 1)
    try desk.clearAway()
  }

  @Test("T1: an empty transaction is nothing")
  func apply_empty_nothing() throws {
    #expect(try desk.apply([Request]()) == [])
    #expect(desk.taken() == [])
  }

  // MARK: T1, only the last state is acted on

  @Test("T1: X→nil→X is nothing at all")
  func apply_awayAndBack_nothing() throws {
    try desk.show(
      "x", "1", .with(to: "bus", value: ["v": .byte(1)], style: "sheet", title: "T", owned: true, priority: 2))
    try desk.show("x.y", "1")
    let item = desk.item("x")
    #expect(
      try desk.apply(.dismiss("x"), .present("x", id: "1", .with())) == [
        .changed(false), .presentation(1, changed: false),
      ])
    #expect(desk.taken() == [])
    #expect(desk.item("x") == item)
    try desk.apply(.dismiss("x"), .present("x", id: "1", .with(to: "bus")))
    try desk.apply(.present("x", id: "2", .with()), .present("x", id: "1", .with(to: "bus")))
    try desk.apply(
      .toggle("x", id: "1", .with(), anyID: false), .toggle("x", id: "1", .with(to: "bus"), anyID: false))
    #expect(desk.taken() == [])
    #expect(desk.item("x") == item && desk.handle("x") == 1)
    try desk.clearAway()
  }

  @Test("T1: X→nil→X with something else given is an update")
  func apply_awayAndBackChanged_updated() throws {
    try desk.show("x", "1", .with(to: "bus", value: ["v": .byte(1)], title: "T"))
    #expect(
      try desk.apply(.dismiss("x"), .present("x", id: "1", .with(to: "bus", value: ["v": .byte(2)]))) == [
        .changed(true), .presentation(1, changed: true),
      ])
    #expect(desk.taken() == ["updated x 1", "update 1 by anna"])
    #expect(desk.item("x")?.value == ["v": .byte(2)] && desk.item("x")?.title == "T")
    try desk.clearAway()
  }

  @Test(
    "T1: X→nil→X with an update in it: the value is what the update leaves of what the request gave; the rest stays")
  func apply_awayAndBackEdited_updated() throws {
    try desk.machine.declareContainerValue("k", defaultValue: .byte(0))
    try desk.show("x", "1", .with(to: "bus", value: ["v": .byte(1)], containerValues: ["k": .byte(1)], timeout: 1000))
    try desk.apply(
      .dismiss("x"), .present("x", id: "1", .with(value: ["w": .byte(1)])),
      .update("x", value: ["u": .byte(2)], remove: [], containerValues: nil, timeout: nil))
    #expect(desk.item("x")?.value == ["w": .byte(1), "u": .byte(2)])
    #expect(desk.item("x")?.containerValues == ["k": .byte(1)])
    #expect(desk.item("x")?.timeout == 1000)
    #expect(desk.taken() == ["updated x 1", "update 1 by anna"])
    try desk.clearAway()
  }

  @Test("T1: a slot whose final item is another replaces it, whatever came between")
  func apply_awayAndOther_replaced() throws {
    try desk.show("x", "1")
    try desk.apply(.dismiss("x"), .present("x", id: "2", .with(to: "cmd")))
    #expect(desk.taken() == ["dismissing x 1", "waiting x 2", "dismiss 1 replaced"])
    desk.goes(1)
    desk.shows(2)
    _ = desk.taken()
    try desk.apply(.dismiss("x"), .present("x", id: "2", .with(to: "bus")))
    #expect(desk.taken() == ["dismissing x 2", "waiting x 2", "dismiss 2 replaced"])
    try desk.clearAway()
  }

  @Test("T1: what comes and goes within a transaction was never there")
  func apply_comesAndGoes_nothing() throws {
    #expect(
      try desk.apply(.present("x", id: "1", .with(to: "cmd")), .dismiss("x")) == [
        .presentation(nil, changed: false), .changed(false),
      ])
    #expect(desk.taken() == [])
    #expect(desk.leftovers == [] && desk.machine.lastHandle == 0)
    try desk.apply(.push("s", "a", id: "", .with()), .push("s", "b", id: "", .with()), .popTo("s", nil))
    #expect(desk.taken() == [])
    #expect(desk.leftovers == [])
    try desk.apply(.push("s", "a", id: "", .with()), .dismiss("a"))
    #expect(desk.leftovers == [])
  }

  @Test("P10: a stack that comes and goes within a transaction has not changed, but had before")
  func apply_stackComesAndGoes_changedWhenItDid() throws {
    let seen = desk.machine.serial
    try desk.ask(.push("s", "a", id: "", .with()))
    try desk.ask(.popTo("s", nil))
    let gone = desk.machine.serial
    try desk.apply(.push("s", "a", id: "", .with()), .pop("s", count: 1))
    #expect(desk.refusal(.push("s", "a", id: "", .with()), expecting: Expected(serial: seen)) == .stale)
    try desk.ask(.push("s", "a", id: "", .with()), expecting: Expected(serial: gone))
    try desk.clearAway()
  }

  @Test("T1: A→B→C within a transaction is A→C")
  func apply_severalIDs_lastOne() throws {
    try desk.show("x", "A")
    try desk.apply(.present("x", id: "B", .with(to: "cmd")), .present("x", id: "C", .with(to: "cmd")))
    #expect(desk.taken() == ["dismissing x A", "waiting x C", "dismiss 1 replaced"])
    #expect(desk.machine.lastHandle == 2)
    try desk.clearAway()
  }

  @Test("T1: a selection that comes back within a transaction is nothing")
  func apply_selectionAwayAndBack_nothing() throws {
    try desk.show("m", "", .with(to: "cmd", group: "g"))
    try desk.show("n", "", .with(to: "cmd", group: "g"))
    desk.goes(1)
    desk.shows(2)
    _ = desk.taken()
    try desk.apply(
      .select("g", tag: "m", binding: nil, id: nil, .with()), .select("g", tag: "n", binding: nil, id: nil, .with()))
    #expect(desk.taken() == [])
    #expect(desk.handle("n") == 2)
    try desk.apply(.deselect("g", tag: nil), .select("g", tag: "n", binding: nil, id: nil, .with()))
    #expect(desk.taken() == [])
    try desk.clearAway()
  }

  @Test("T1: a path that comes back within a transaction is nothing")
  func apply_pathAwayAndBack_nothing() throws {
    try desk.ask(.setPath("s", .values("1", "2", "3", to: "cmd")))
    desk.shows(1, 2, 3)
    _ = desk.taken()
    try desk.apply(.popTo("s", nil), .setPath("s", .values("1", "2", "3", to: "cmd")))
    #expect(desk.taken() == [])
    try desk.apply(.pop("s", count: 2), .push("s", "s[1]", id: "2", .with()), .push("s", "s[2]", id: "3", .with()))
    #expect(desk.taken() == [])
    #expect(desk.handle("s[2]") == 3)
    try desk.clearAway()
  }

  @Test("T1: stacks follow request by request: what a push goes over stays below it")
  func apply_popAndPush_inOrder() throws {
    try desk.ask(.setPath("s", .values("1", "2", to: "cmd")))
    desk.shows(1, 2)
    _ = desk.taken()
    try desk.apply(
      .push("s", "x", id: "", .with(to: "cmd")), .dismiss("s[1]"), .push("s", "y", id: "", .with(to: "cmd")))
    #expect(desk.path("s") == ["s[0]=1", "y"])
    #expect(desk.taken() == ["path s s[0]=1 y", "dismissing s[1] 2", "waiting y", "dismiss 2 dismissed"])
    try desk.clearAway()
  }

  // MARK: T1, parents, children and queues once

  @Test("T1: children of what stays in the end stay")
  func apply_parentAwayAndBack_childrenStay() throws {
    try desk.show("a", "1")
    try desk.show("a.b", "1")
    try desk.apply(.dismiss("a"), .present("a", id: "1", .with()))
    #expect(desk.taken() == [])
    #expect(desk.shown == ["a=1", "a.b=1"])
    try desk.clearAway()
  }

  @Test("T1: children of what went go, unless the transaction asks for them: then they come anew")
  func apply_parentReplacedChildAsked_childAnew() throws {
    try desk.show("a", "1")
    try desk.show("a.b", "1")
    try desk.show("a.c", "1")
    try desk.apply(.present("a.b", id: "1", .with()), .present("a", id: "2", .with(to: "cmd")))
    #expect(
      desk.taken() == [
        "dismissing a.b 1", "dismissing a 1", "dismissing a.c 1", "waiting a.b 1", "waiting a 2", "dismiss 2 parent",
        "dismiss 3 parent",
      ])
    #expect(desk.shown == ["a=2", "a.b=1"])
    #expect(desk.parent("a.b") == desk.handle("a"))
    try desk.clearAway()
  }

  @Test("T1: the replies describe the final state; what is not there then has no handle")
  func apply_goneInTheEnd_repliesWithout() throws {
    try desk.show("a", "1")
    #expect(
      try desk.apply(
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
    try desk.clearAway()
  }

  @Test("T1: a child asked for after its parent was dismissed has none")
  func apply_childAfterParentDismissed_none() throws {
    try desk.show("a", "1")
    try desk.show("a.b", "1")
    try desk.apply(.dismiss("a"), .present("a.b", id: "1", .with()))
    #expect(desk.taken() == ["dismissing a 1", "dismissing a.b 1", "waiting a.b 1", "dismiss 2 parent"])
    #expect(desk.parent("a.b") == nil)
    desk.goes(2)
    #expect(desk.taken() == ["dismissed a.b 1 parent", "presenting a.b 1", "dismiss 1 dismissed", "present 3 a.b"])
    try desk.clearAway()
  }

  @Test("C1: a parent that is named must hold an item in the end, also where the item is there already")
  func apply_namedParentOfKeptDismissed_refused() throws {
    try desk.show("p")
    try desk.show("a", "1", .with(to: "cmd", from: "p"))
    let after = desk.refusal(of: .dismiss("p"), .present("a", id: "1", .with(from: "p")))
    #expect(after?.code == .notPresented && after?.index == 1)
    let before = desk.refusal(of: .present("a", id: "1", .with(from: "p")), .dismiss("p"))
    #expect(before?.code == .notPresented && before?.index == 0)
    try desk.apply(.present("a", id: "1", .with(from: "p")), .present("p", id: "2", .with()))
    #expect(desk.parent("a") == desk.handle("p"))
    try desk.clearAway()
  }

  @Test("T1: one of a stack that loses its parent and is asked for comes anew at its place, when that is free")
  func apply_stackElementLosesParent_comesAnew() throws {
    try desk.show("p", "1")
    try desk.show("a", "", .with(to: "cmd", from: "p", stack: "s"))
    try desk.apply(.present("a", id: "", .with()), .present("p", id: "2", .with()))
    #expect(desk.taken() == ["dismissing a", "dismissing p 1", "waiting a", "waiting p 2", "dismiss 2 parent"])
    desk.goes(2)
    #expect(desk.taken() == ["dismissed a parent", "dismiss 1 replaced"])
    desk.goes(1)
    #expect(desk.taken() == ["dismissed p 1 replaced", "presented p 2", "presenting a", "present 3 a"])
    #expect(desk.path("s") == ["a"])
    try desk.clearAway()
  }

  @Test("T1: what stands above it goes, and comes anew where it is asked for")
  func apply_stackElementLosesParent_aboveToo() throws {
    try desk.show("p", "1")
    for binding: BindingID in ["a", "b", "c"] {
      try desk.show(binding, "", .with(to: "cmd", from: binding == "a" ? "p" : nil, stack: "s"))
    }
    try desk.apply(.setPath("s", [.at("a"), .at("b")]), .present("p", id: "2", .with()))
    #expect(
      desk.taken() == [
        "path s a b", "dismissing c", "dismissing a", "dismissing b", "dismissing p 1", "waiting a", "waiting b",
        "waiting p 2", "dismiss 4 popped",
      ])
    desk.goes(4, 3, 2)
    #expect(
      desk.taken() == [
        "dismissed c popped", "dismiss 3 popped", "dismissed b popped", "dismiss 2 parent", "dismissed a parent",
        "dismiss 1 replaced",
      ])
    desk.goes(1)
    desk.shows(5, 6)
    #expect(
      desk.taken() == [
        "dismissed p 1 replaced", "presented p 2", "presenting a", "present 5 a", "presented a", "presenting b",
        "present 6 b", "presented b",
      ])
    try desk.clearAway()
  }

  @Test("T1: queues are served once, after the last request")
  func apply_selectionFreeBetween_queueNotServed() throws {
    try desk.present("m", "", .with(group: "g"))
    try desk.present("q", "", .with(group: "g", ifBusy: .queue))
    _ = desk.taken()
    try desk.apply(.dismiss("m"), .present("n", id: "", .with(group: "g")))
    #expect(desk.taken() == ["selection g n", "group g m n q · q", "dismissed m dismissed", "presented n"])
    try desk.apply(.dismiss("n"), .present("n", id: "", .with(group: "g", ifBusy: .queue)))
    #expect(desk.taken() == [])
    try desk.clearAway()
  }

  @Test("T1: a queued item taken out and queued again within a transaction keeps its place, and its priority")
  func apply_queuedAwayAndBack_nothing() throws {
    try desk.present("m", "", .with(group: "g"))
    for (binding, priority): (BindingID, Int32) in [("x", 5), ("y", 5), ("z", 0)] {
      try desk.present(binding, "", .with(group: "g", ifBusy: .queue, priority: priority))
    }
    _ = desk.taken()
    try desk.apply(.dismiss("x"), .present("x", id: "", .with(group: "g", ifBusy: .queue)))
    #expect(desk.taken() == [])
    #expect(desk.machine.queuedTags(of: "g") == ["x", "y", "z"])
    try desk.apply(.dismiss("x"), .present("x", id: "", .with(group: "g", ifBusy: .queue, priority: 1)))
    #expect(desk.machine.queuedTags(of: "g") == ["y", "x", "z"])
    #expect(desk.taken() == ["updated x", "group g m x y z · y x z"])
    try desk.clearAway()
  }

  @Test("T1: one that was selected and is queued in the end is another presentation")
  func apply_selectedThenQueued_another() throws {
    try desk.show("m", "", .with(to: "cmd", group: "g"))
    try desk.apply(
      .dismiss("m"), .present("n", id: "", .with(to: "cmd", group: "g")),
      .present("m", id: "", .with(to: "cmd", group: "g", ifBusy: .queue)))
    #expect(desk.taken().last == "dismiss 1 replaced")
    #expect(desk.machine.queuedTags(of: "g") == ["m"] && desk.machine.selection(of: "g") == "n")
    try desk.clearAway()
  }

  @Test("T1: a queue that is filled and a selection that is cleared in one leave the first of the queue selected")
  func apply_queueAndDismiss_selected() throws {
    try desk.present("m", "", .with(group: "g"))
    _ = desk.taken()
    try desk.apply(.present("q", id: "", .with(group: "g", ifBusy: .queue)), .dismiss("m"))
    #expect(desk.taken() == ["selection g q", "group g m q ·", "dismissed m dismissed", "presented q"])
    try desk.clearAway()
  }

  // MARK: T2

  @Test("T2: changes are animated, unless the request or its transaction says otherwise; the innermost wins")
  func animated_innermostWins() throws {
    func dismissals(_ own: Bool?, _ all: Bool) throws -> [String] {
      try desk.show("a", "1")
      try desk.apply([Request(.dismiss("a"), animated: own)], animated: all)
      defer { desk.goes(desk.machine.lastHandle) }
      return desk.taken().suffix(1).map { $0.contains("unanimated") ? "no" : "yes" }
    }
    #expect(try dismissals(nil, true) == ["yes"])
    #expect(try dismissals(nil, false) == ["no"])
    #expect(try dismissals(true, false) == ["yes"])
    #expect(try dismissals(false, true) == ["no"])
    try desk.present("b")
    #expect(desk.item("b")?.animated == true)
    try desk.apply([Request(.present("c", id: "", .with()))], animated: false)
    #expect(desk.item("c")?.animated == false)
    try desk.apply([Request(.present("d", id: "", .with()), animated: true)], animated: false)
    #expect(desk.item("d")?.animated == true)
    try desk.clearAway()
  }

  @Test("T2: a replacement uses one setting for both halves", arguments: [true, false])
  func animated_replacement_bothHalves(animated: Bool) throws {
    try desk.show("a", "1")
    try desk.ask(.present("a", id: "2", .with(to: "cmd")), animated: animated)
    #expect(desk.taken().last == "dismiss 1 replaced" + (animated ? "" : " unanimated"))
    #expect(desk.item("a")?.animated == animated)
    desk.goes(1)
    desk.shows(2)
    _ = desk.taken()
    try desk.apply([
      Request(.dismiss("a"), animated: !animated),
      Request(.present("a", id: "3", .with(to: "cmd")), animated: !animated),
      Request(.present("a", id: "4", .with(to: "cmd")), animated: animated),
    ])
    #expect(desk.taken().last == "dismiss 2 replaced" + (animated ? "" : " unanimated"))
    #expect(desk.item("a")?.animated == animated)
    try desk.clearAway()
  }

  @Test("T2: what goes along with something goes as that does, whatever the other requests say")
  func animated_children_asTheirParent() throws {
    try desk.show("a")
    try desk.show("a.b")
    try desk.show("a.b.c")
    try desk.apply([Request(.dismiss("a"), animated: false), Request(.present("z", id: "", .with()), animated: true)])
    desk.goes(3, 2)
    #expect(
      desk.taken().filter { $0.hasPrefix("dismiss ") } == [
        "dismiss 3 parent unanimated", "dismiss 2 parent unanimated", "dismiss 1 dismissed unanimated",
      ])
    try desk.clearAway()
  }

  @Test("T2: in a stack too")
  func animated_popped_asTheRequest() throws {
    try desk.ask(.setPath("s", .values("1", "2", "3", to: "cmd")))
    desk.shows(1, 2, 3)
    _ = desk.taken()
    try desk.ask(.popTo("s", "s[0]"), animated: false)
    desk.goes(3)
    #expect(
      desk.taken().filter { $0.hasPrefix("dismiss ") } == [
        "dismiss 3 popped unanimated", "dismiss 2 popped unanimated",
      ])
    try desk.clearAway()
  }
}
