// Why this file exists: the rules of parents and children, C1 to C7.

import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

@Suite struct ParentTests {
  let desk = Desk()

  // MARK: C1

  @Test("C1: an item is presented from the binding that the request names")
  func present_fromNamed_parent() throws {
    try desk.present("p")
    try desk.present("a", "", .with(from: "p"))
    #expect(desk.parent("a") == 1)
    try desk.clearAway()
  }

  @Test("C1: the binding named must hold an item")
  func present_fromEmpty_refused() throws {
    #expect(desk.refusal(.present("a", id: "", .with(from: "p"))) == .notPresented)
    try desk.present("p")
    try desk.dismiss("p")
    #expect(desk.refusal(.present("a", id: "", .with(from: "p"))) == .notPresented)
  }

  @Test("C1: without that, the parent is at the nearest binding it derives from that holds an item")
  func present_derived_nearestParent() throws {
    try desk.present("a")
    try desk.present("a.b.c[1]")
    #expect(desk.parent("a.b.c[1]") == 1)
    try desk.present("a.b.c")
    #expect(desk.parent("a.b.c") == 1)
    try desk.present("a.b.c[2].d")
    #expect(desk.parent("a.b.c[2].d") == 3)
    try desk.present("a.bc")
    #expect(desk.parent("a.bc") == 1)
    try desk.present("ab.c")
    #expect(desk.parent("ab.c") == nil)
    try desk.clearAway()
  }

  @Test("C1: a parent named goes before one that is implied")
  func present_derivedAndNamed_named() throws {
    try desk.present("a")
    try desk.present("p")
    try desk.present("a.b", "", .with(from: "p"))
    #expect(desk.parent("a.b") == 2)
    try desk.dismiss("a")
    #expect(desk.shown == ["a.b", "p"])
    try desk.clearAway()
  }

  @Test("C1: the parent is fixed from then on: one that comes later is not put between")
  func present_nearerLater_parentStays() throws {
    try desk.present("a")
    try desk.present("a.b.c")
    try desk.present("a.b")
    #expect(desk.parent("a.b.c") == 1)
    try desk.present("a.b.c", "", .with(title: "T"))
    #expect(desk.parent("a.b.c") == 1)
    try desk.dismiss("a.b")
    #expect(desk.shown == ["a", "a.b.c"])
    try desk.present("x.y")
    try desk.present("x")
    #expect(desk.parent("x.y") == nil)
    try desk.clearAway()
  }

  @Test("C1: the parent is a presentation: the next one at its binding is not the parent")
  func present_parentReplaced_childOfOldOne() throws {
    try desk.show("a", "1")
    try desk.show("b", "", .with(to: "cmd", from: "a"))
    try desk.present("a", "2", .with(to: "cmd"))
    try desk.present("c", "", .with(to: "cmd", from: "a"))
    #expect(desk.parent("c") == 3)
    #expect(desk.machine.presentation(2)?.parent == 1)
    try desk.clearAway()
  }

  @Test("C1: judged once the request is applied: what the request itself sends away is no parent")
  func present_impliedParentGoesByRequest_none() throws {
    try desk.present("g", "", .with(group: "h"))
    try desk.present("g.x", "", .with(group: "h"))
    #expect(desk.parent("g.x") == nil)
    #expect(desk.shown == ["g.x"])
    try desk.clearAway()
  }

  @Test("C1: an id change finds its parent anew")
  func present_otherID_parentAnew() throws {
    try desk.present("a")
    try desk.present("p")
    try desk.present("a.b", "1", .with(from: "p"))
    try desk.present("a.b", "2")
    #expect(desk.parent("a.b") == 1)
    try desk.clearAway()
  }

  // MARK: C2

  @Test("C2: a child is presented only once its parent is")
  func present_childOfPresenting_waits() throws {
    try desk.present("a", "", .with(to: "cmd"))
    try desk.present("a.b", "", .with(to: "cmd"))
    #expect(desk.taken() == ["presenting a", "present 1 a", "waiting a.b"])
    desk.shows(1)
    #expect(desk.taken() == ["presented a", "presenting a.b", "present 2 a.b"])
    try desk.clearAway()
  }

  @Test("C2: a deep link of four asked for in the wrong order appears outermost first")
  func apply_deepLink_outermostFirst() throws {
    func present(_ binding: BindingID) -> Request.Operation { .present(binding, id: "", .with(to: "cmd")) }
    #expect(
      try desk.apply(present("a.b.c.d"), present("a.b"), present("a"), present("a.b.c")) == [
        .presentation(1, changed: true), .presentation(2, changed: true), .presentation(3, changed: true),
        .presentation(4, changed: true),
      ])
    #expect(desk.taken() == ["waiting a.b.c.d", "waiting a.b", "presenting a", "waiting a.b.c", "present 3 a"])
    #expect(desk.parent("a.b.c.d") == 4 && desk.parent("a.b.c") == 2 && desk.parent("a.b") == 3)
    #expect(desk.parent("a") == nil)
    desk.shows(3)
    #expect(desk.taken() == ["presented a", "presenting a.b", "present 2 a.b"])
    desk.shows(2)
    #expect(desk.taken() == ["presented a.b", "presenting a.b.c", "present 4 a.b.c"])
    desk.shows(4)
    #expect(desk.taken() == ["presented a.b.c", "presenting a.b.c.d", "present 1 a.b.c.d"])
    desk.shows(1)
    #expect(desk.taken() == ["presented a.b.c.d"])
    try desk.dismiss("a")
    desk.goes(1, 4, 2, 3)
    #expect(
      desk.taken() == [
        "dismissing a", "dismissing a.b", "dismissing a.b.c", "dismissing a.b.c.d", "dismiss 1 parent",
        "dismissed a.b.c.d parent", "dismiss 4 parent", "dismissed a.b.c parent", "dismiss 2 parent",
        "dismissed a.b parent", "dismiss 3 dismissed", "dismissed a dismissed",
      ])
    #expect(desk.leftovers == [])
  }

  @Test("C2: a deep link by named parents, innermost first, of state only, comes whole")
  func apply_deepLinkNamedStateOnly_outermostFirst() throws {
    try desk.apply(
      .present("c", id: "", .with(from: "b")), .present("b", id: "", .with(from: "a")), .present("a", id: "", .with()))
    #expect(desk.taken() == ["presented a", "presented b", "presented c"])
    #expect(desk.parent("c") == 2 && desk.parent("b") == 3)
    try desk.clearAway()
  }

  @Test("C2: a deep link whose outermost replaces another is presented from the new one")
  func apply_deepLinkReplacing_newParent() throws {
    try desk.show("a", "1")
    try desk.show("a.b", "1")
    try desk.apply(.present("a.b", id: "2", .with(to: "cmd")), .present("a", id: "2", .with(to: "cmd")))
    #expect(
      desk.taken() == [
        "dismissing a.b 1", "dismissing a 1", "waiting a.b 2", "waiting a 2", "dismiss 2 replaced",
      ])
    #expect(desk.parent("a.b") == desk.handle("a"))
    desk.goes(2, 1)
    #expect(
      desk.taken() == [
        "dismissed a.b 1 replaced", "dismiss 1 replaced", "dismissed a 1 replaced", "presenting a 2", "present 4 a",
      ])
    desk.shows(4)
    #expect(desk.taken() == ["presented a 2", "presenting a.b 2", "present 3 a.b"])
    try desk.clearAway()
  }

  // MARK: C3

  @Test("C3: when a parent goes its children go first, the deepest first, each acknowledged before the next")
  func dismiss_parent_deepestFirst() throws {
    try desk.show("a")
    try desk.show("a.b")
    try desk.show("a.b.c")
    try desk.dismiss("a")
    #expect(desk.taken() == ["dismissing a", "dismissing a.b", "dismissing a.b.c", "dismiss 3 parent"])
    #expect(desk.shown == [], "their slots are nil")
    desk.goes(3)
    #expect(desk.taken() == ["dismissed a.b.c parent", "dismiss 2 parent"])
    desk.goes(2)
    #expect(desk.taken() == ["dismissed a.b parent", "dismiss 1 dismissed"])
    desk.goes(1)
    #expect(desk.taken() == ["dismissed a dismissed"])
    #expect(desk.leftovers == [])
  }

  @Test("C3: siblings go together, and the parent after the last of them")
  func dismiss_parentOfSiblings_together() throws {
    try desk.show("a")
    for child: BindingID in ["a.b", "a.c", "a.d"] { try desk.show(child) }
    try desk.show("a.c.x")
    try desk.dismiss("a")
    #expect(
      desk.taken() == [
        "dismissing a", "dismissing a.b", "dismissing a.c", "dismissing a.d", "dismissing a.c.x", "dismiss 2 parent",
        "dismiss 4 parent", "dismiss 5 parent",
      ])
    desk.goes(4, 5)
    #expect(desk.taken() == ["dismissed a.d parent", "dismissed a.c.x parent", "dismiss 3 parent"])
    desk.goes(3)
    #expect(desk.taken() == ["dismissed a.c parent"])
    desk.goes(2)
    #expect(desk.taken() == ["dismissed a.b parent", "dismiss 1 dismissed"])
    try desk.clearAway()
  }

  @Test(
    "C3: whatever makes the parent go, its children go before it",
    arguments: ["closed", "expired", "owner", "replaced"])
  func end_parent_childrenFirst(how: String) throws {
    try desk.show("a", "1", .with(to: "bus", timeout: how == "expired" ? 10 : nil, owned: how == "owner"), by: "bert")
    try desk.show("a.b", "", .with(to: "bus"))
    switch how {
    case "expired": desk.pass(10)
    case "owner": desk.leave("bert")
    case "replaced": try desk.present("a", "2", .with(to: "cmd"))
    default: desk.ends(1)
    }
    let waiting = how == "replaced" ? ["waiting a 2"] : []
    #expect(desk.taken().filter { $0 != "waiting a 2" } == ["dismissing a 1", "dismissing a.b", "dismiss 2 parent"])
    desk.goes(2)
    let then = how == "closed" ? "dismissed a 1 closed" : "dismiss 1 \(how)"
    #expect(desk.taken() == ["dismissed a.b parent", then])
    #expect(desk.shown == (waiting.isEmpty ? [] : ["a=2"]))
    try desk.clearAway()
  }

  @Test("C3: a child that does not acknowledge delays its parent no longer than its grace")
  func dismiss_childSilent_parentAfterGrace() throws {
    try desk.show("a")
    try desk.show("a.b", "", .with(to: "bus"))
    try desk.dismiss("a")
    _ = desk.taken()
    desk.pass(Destination.standardGrace)
    #expect(desk.taken() == ["dismissed a.b parent", "abandon 2", "dismiss 1 dismissed"])
    try desk.clearAway()
  }

  @Test("C3: a child that goes by itself while its parent is going lets the parent go")
  func ended_childWhileParentGoes_parentGoes() throws {
    try desk.show("a")
    try desk.show("a.b")
    try desk.dismiss("a")
    _ = desk.taken()
    desk.ends(2, failed: true)
    #expect(desk.taken() == ["dismissed a.b parent", "dismiss 1 dismissed"])
    try desk.clearAway()
  }

  @Test("C3: a parent that goes by itself while its children are going is gone after them")
  func ended_parentWhileChildrenGo_goneAfterThem() throws {
    try desk.show("a", "", .with(to: "bus"))
    try desk.show("a.b")
    try desk.dismiss("a")
    _ = desk.taken()
    desk.ends(1, result: ["x": .byte(1)])
    #expect(desk.taken() == [])
    desk.goes(2)
    #expect(desk.taken() == ["dismissed a.b parent", "dismissed a dismissed"])
    #expect(desk.ending(1)?.result == ["x": .byte(1)])
    #expect(desk.leftovers == [])
  }

  @Test("C3: A ⊃ B, A→D: B and A go, then D comes")
  func replace_parent_childThenParentThenNew() throws {
    try desk.show("a", "A")
    try desk.show("a.b", "B")
    try desk.present("a", "D", .with(to: "cmd"))
    #expect(desk.taken() == ["dismissing a A", "dismissing a.b B", "waiting a D", "dismiss 2 parent"])
    desk.goes(2)
    #expect(desk.taken() == ["dismissed a.b B parent", "dismiss 1 replaced"])
    desk.goes(1)
    #expect(desk.taken() == ["dismissed a A replaced", "presenting a D", "present 3 a"])
    #expect(desk.shown == ["a=D"])
    try desk.clearAway()
  }

  // MARK: C4

  @Test("C4: A ⊃ B, B→C: A is untouched")
  func replace_child_parentUntouched() throws {
    try desk.show("a", "A")
    try desk.show("a.b", "B")
    try desk.show("a.x", "X")
    try desk.present("a.b", "C", .with(to: "cmd"))
    #expect(desk.taken() == ["dismissing a.b B", "waiting a.b C", "dismiss 2 replaced"])
    desk.goes(2)
    #expect(desk.taken() == ["dismissed a.b B replaced", "presenting a.b C", "present 4 a.b"])
    desk.shows(4)
    #expect(desk.taken() == ["presented a.b C"])
    #expect(desk.parent("a.b") == 1 && desk.phase(1) == "presented" && desk.phase(3) == "presented")
    try desk.clearAway()
  }

  @Test("C4: A ⊃ B ⊃ C, B dismissed: C then B go, A stays")
  func dismiss_middle_outerStays() throws {
    try desk.show("a")
    try desk.show("a.b")
    try desk.show("a.b.c")
    try desk.dismiss("a.b")
    #expect(desk.taken() == ["dismissing a.b", "dismissing a.b.c", "dismiss 3 parent"])
    desk.goes(3)
    #expect(desk.taken() == ["dismissed a.b.c parent", "dismiss 2 dismissed"])
    desk.goes(2)
    #expect(desk.taken() == ["dismissed a.b dismissed"])
    #expect(desk.shown == ["a"] && desk.phase(1) == "presented")
    try desk.clearAway()
  }

  // MARK: C5

  @Test("C5: two alerts from one parent are presented at the same time")
  func present_twoChildren_together() throws {
    try desk.show("a")
    try desk.present("alert[0]", "x", .with(to: "bus", style: "alert", from: "a"))
    try desk.present("alert[1]", "y", .with(to: "bus", style: "alert", from: "a"))
    #expect(
      desk.taken() == [
        "presenting alert[0] x", "present 2 alert[0]", "presenting alert[1] y", "present 3 alert[1]",
      ])
    desk.shows(3, 2)
    #expect(desk.taken() == ["presented alert[1] y", "presented alert[0] x"])
    desk.ends(2)
    #expect(desk.taken() == ["dismissed alert[0] x closed"])
    #expect(desk.phase(3) == "presented" && desk.phase(1) == "presented")
    try desk.clearAway()
  }

  // MARK: C6

  @Test("C6: the parent going while a child is still to be presented: the child is never shown, and told `parent`")
  func dismiss_parentOfWaiting_childNeverShown() throws {
    try desk.present("a", "", .with(to: "cmd"))
    try desk.present("a.b", "", .with(to: "cmd"))
    try desk.present("a.b.c", "", .with(to: "cmd"))
    _ = desk.taken()
    try desk.dismiss("a")
    #expect(
      desk.taken() == ["dismissed a.b.c parent", "dismissed a.b parent", "dismissing a", "dismiss 1 dismissed"])
    #expect(desk.shown == [])
    desk.shows(1)
    desk.goes(1)
    #expect(desk.taken() == ["dismissed a dismissed"])
    #expect(desk.leftovers == [])
  }

  @Test("C6: the parent that cannot be shown takes its children along")
  func fail_parentOfWaiting_childNeverShown() throws {
    try desk.present("a", "", .with(to: "bus"))
    try desk.present("a.b", "", .with(to: "cmd"))
    _ = desk.taken()
    desk.fails(1)
    #expect(desk.taken() == ["dismissed a.b parent", "dismissed a failed"])
    #expect(desk.leftovers == [])
  }

  // MARK: C7

  @Test("C7: an item cannot be presented from itself")
  func present_fromItself_refused() throws {
    #expect(desk.refusal(.present("a", id: "1", .with(from: "a"))) == .invalidArgument)
    try desk.present("a", "1")
    #expect(desk.refusal(.present("a", id: "2", .with(from: "a"))) == .invalidArgument)
    #expect(desk.refusal(.present("a", id: "1", .with(from: "a"))) == .invalidArgument)
    try desk.clearAway()
  }

  @Test("C7: nor from what is presented from it, however far")
  func present_fromDescendant_refused() throws {
    try desk.present("a", "1")
    try desk.present("b", "", .with(from: "a"))
    try desk.present("c", "", .with(from: "b"))
    #expect(desk.refusal(.present("a", id: "2", .with(from: "b"))) == .invalidArgument)
    #expect(desk.refusal(.present("a", id: "2", .with(from: "c"))) == .invalidArgument)
    try desk.clearAway()
  }

  @Test("C7: nor from what stands above it in its stack")
  func present_fromAbove_refused() throws {
    try desk.ask(.setPath("s", [.at("a", "1"), .at("b"), .at("c")]))
    #expect(desk.refusal(.present("a", id: "2", .with(from: "b"))) == .invalidArgument)
    #expect(desk.refusal(.present("a", id: "2", .with(from: "c"))) == .invalidArgument)
    try desk.present("d", "", .with(from: "c"))
    #expect(desk.refusal(.present("a", id: "2", .with(from: "d"))) == .invalidArgument)
    try desk.clearAway()
  }

  @Test("C7: nor pushed onto what is presented from it")
  func push_ontoDescendant_refused() throws {
    try desk.present("a", "1")
    try desk.ask(.push("s", "b", id: "", .with(from: "a")))
    #expect(desk.refusal(.push("s", "a", id: "2", .with())) == .invalidArgument)
    #expect(desk.shown == ["a=1", "b"])
    try desk.ask(.push("s", "c", id: "", .with()))
    #expect(desk.refusal(.push("s", "a", id: "2", .with())) == .invalidArgument)
    try desk.clearAway()
  }

  @Test("C7: a circle of new ones is refused, by parents or by stacks")
  func apply_circle_refused() throws {
    let byParents = desk.refusal(
      of: .present("a", id: "", .with(from: "b")), .present("b", id: "", .with(from: "c")),
      .present("c", id: "", .with(from: "a")))
    #expect(byParents?.code == .invalidArgument)
    let byStack = desk.refusal(
      of: .push("s", "a", id: "", .with(from: "b")), .push("s", "b", id: "", .with()))
    #expect(byStack?.code == .invalidArgument)
    let byImplied = desk.refusal(of: .present("a", id: "", .with(from: "a.b")), .present("a.b", id: "", .with()))
    #expect(byImplied?.code == .invalidArgument)
  }

  @Test("C7: an item cannot depend on a member of its own group, as its parent or below it")
  func present_dependsOnOwnGroup_refused() throws {
    try desk.present("m", "", .with(group: "g"))
    #expect(desk.refusal(.present("a", id: "", .with(from: "m", group: "g"))) == .invalidArgument)
    try desk.present("x", "", .with(from: "m"))
    #expect(desk.refusal(.present("a", id: "", .with(from: "x", group: "g"))) == .invalidArgument)
    #expect(
      desk.refusal(.present("a", id: "", .with(from: "x", group: "g", ifBusy: .queue))) == .invalidArgument)
    #expect(desk.refusal(.select("g", tag: "a", binding: "a", id: nil, .with(from: "x"))) == .invalidArgument)
    try desk.ask(.push("s", "y", id: "", .with(from: "x")))
    #expect(desk.refusal(.push("s", "a", id: "", .with(group: "g"))) == .invalidArgument)
    try desk.present("a", "", .with(from: "x", group: "h"))
    try desk.clearAway()
  }

  @Test("C7: nor on its own group by what it derives from, if it is to be queued")
  func present_derivedFromOwnGroupQueued_refused() throws {
    try desk.present("m", "", .with(group: "g"))
    #expect(desk.refusal(.present("m.a", id: "", .with(group: "g", ifBusy: .queue))) == .invalidArgument)
    try desk.clearAway()
  }
}
