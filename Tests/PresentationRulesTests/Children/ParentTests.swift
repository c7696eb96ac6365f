import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

/// Parents and children: which item is the parent, what waits for what, and what ends with what (C1 to C7).
@Suite struct ParentTests {
  let fixture = RulesFixture()

  // MARK: C1

  @Test("C1: an item is presented from the binding that the request names")
  func present_fromNamed_parent() throws {
    try fixture.present("p")
    try fixture.present("a", "", .with(from: "p"))
    #expect(fixture.parent("a") == 1)
    try fixture.clearAway()
  }

  @Test("C1: the binding named must hold an item")
  func present_fromEmpty_refused() throws {
    #expect(fixture.refusal(.present("a", id: "", .with(from: "p"))) == .notPresented)
    try fixture.present("p")
    try fixture.dismiss("p")
    #expect(fixture.refusal(.present("a", id: "", .with(from: "p"))) == .notPresented)
  }

  @Test("C1: without a named parent, the parent is the item at the nearest binding from which this one derives")
  func present_derived_nearestParent() throws {
    try fixture.present("a")
    try fixture.present("a.b.c[1]")
    #expect(fixture.parent("a.b.c[1]") == 1)
    try fixture.present("a.b.c")
    #expect(fixture.parent("a.b.c") == 1)
    try fixture.present("a.b.c[2].d")
    #expect(fixture.parent("a.b.c[2].d") == 3)
    try fixture.present("a.bc")
    #expect(fixture.parent("a.bc") == 1)
    try fixture.present("ab.c")
    #expect(fixture.parent("ab.c") == nil)
    try fixture.clearAway()
  }

  @Test("C1: a named parent has precedence over an implied one")
  func present_derivedAndNamed_named() throws {
    try fixture.present("a")
    try fixture.present("p")
    try fixture.present("a.b", "", .with(from: "p"))
    #expect(fixture.parent("a.b") == 2)
    try fixture.dismiss("a")
    #expect(fixture.shown == ["a.b", "p"])
    try fixture.clearAway()
  }

  @Test("C1: the parent never changes: a later item is not inserted in between")
  func present_nearerLater_parentStays() throws {
    try fixture.present("a")
    try fixture.present("a.b.c")
    try fixture.present("a.b")
    #expect(fixture.parent("a.b.c") == 1)
    try fixture.present("a.b.c", "", .with(title: "T"))
    #expect(fixture.parent("a.b.c") == 1)
    try fixture.dismiss("a.b")
    #expect(fixture.shown == ["a", "a.b.c"])
    try fixture.present("x.y")
    try fixture.present("x")
    #expect(fixture.parent("x.y") == nil)
    try fixture.clearAway()
  }

  @Test("C1: the parent is a presentation: the next one at its binding is not the parent")
  func present_parentReplaced_childOfOldOne() throws {
    try fixture.show("a", "1")
    try fixture.show("b", "", .with(to: "cmd", from: "a"))
    try fixture.present("a", "2", .with(to: "cmd"))
    try fixture.present("c", "", .with(to: "cmd", from: "a"))
    #expect(fixture.parent("c") == 3)
    #expect(fixture.machine.presentation(2)?.parent == 1)
    try fixture.clearAway()
  }

  @Test("C1: an item that the request itself ends is no parent")
  func present_impliedParentGoesByRequest_none() throws {
    try fixture.present("g", "", .with(group: "h"))
    try fixture.present("g.x", "", .with(group: "h"))
    #expect(fixture.parent("g.x") == nil)
    #expect(fixture.shown == ["g.x"])
    try fixture.clearAway()
  }

  @Test("C1: with another id, the parent is determined again")
  func present_otherID_parentAnew() throws {
    try fixture.present("a")
    try fixture.present("p")
    try fixture.present("a.b", "1", .with(from: "p"))
    try fixture.present("a.b", "2")
    #expect(fixture.parent("a.b") == 1)
    try fixture.clearAway()
  }

  @Test("C1, C2: a parent that was only implied is not taken over: the nearest one after the transaction counts")
  func apply_askedAgainWithNearerParent_presentedFromThat() throws {
    try fixture.present("a", "1")
    try fixture.present("a.b.c")
    _ = fixture.taken()
    try fixture.apply(
      .present("a", id: "2", .with()), .present("a.b.c", id: "", .with()), .present("a.b", id: "", .with()))
    #expect(fixture.parent("a.b.c") == fixture.handle("a.b"))
    #expect(
      fixture.taken() == [
        "dismissed a.b.c parent", "dismissed a 1 replaced", "presented a 2", "presented a.b", "presented a.b.c",
      ])
    try fixture.dismiss("a.b")
    #expect(fixture.shown == ["a=2"])
    try fixture.clearAway()
  }

  @Test("C1: a parent that a request named stays named, by whichever request", arguments: ["first", "again", "back"])
  func apply_askedAgainNamedBefore_presentedFromNamed(when: String) throws {
    try fixture.present("a", "1")
    if when == "first" { try fixture.present("a.b") }
    try fixture.present("a.b.c", "", .with(from: when == "first" ? "a" : nil))
    switch when {
    case "again": try fixture.present("a.b.c", "", .with(from: "a"))
    case "back": try fixture.apply(.dismiss("a.b.c"), .present("a.b.c", id: "", .with(from: "a")))
    default: break
    }
    try fixture.apply(
      .present("a", id: "2", .with()), .present("a.b.c", id: "", .with()), .present("a.b", id: "", .with()))
    #expect(fixture.parent("a.b.c") == fixture.handle("a"))
    try fixture.clearAway()
  }

  @Test("C1: a named parent that has no item any more is not looked for again")
  func apply_askedAgainNamedGone_implied() throws {
    try fixture.present("p")
    try fixture.present("a.b", "", .with(from: "p"))
    try fixture.apply(.dismiss("p"), .present("a.b", id: "", .with()))
    #expect(fixture.parent("a.b") == nil)
    try fixture.present("p")
    try fixture.present("a", "1")
    try fixture.apply(.present("a", id: "2", .with()), .present("a.b", id: "", .with()))
    #expect(fixture.parent("a.b") == nil, "it stays, since nothing ended that it depended on")
    try fixture.clearAway()
  }

  @Test("C1, G9: an item that its queue supplies in the same transaction is a parent, implied or named")
  func apply_parentFromQueue_isParent() throws {
    try fixture.present("m", "", .with(group: "g"))
    try fixture.present("b", "", .with(group: "g", ifBusy: .queue))
    _ = fixture.taken()
    try fixture.apply(.dismiss("m"), .present("b.x", id: "", .with()), .present("c", id: "", .with(from: "b")))
    #expect(
      fixture.taken() == [
        "selection g b", "group g b ·", "dismissed m dismissed", "presented b", "presented b.x", "presented c",
      ])
    #expect(fixture.parent("b.x") == 2 && fixture.parent("c") == 2)
    try fixture.clearAway()
  }

  @Test("C7, G9: an item cannot wait in a queue for the one that the queue supplies as its parent")
  func apply_parentFromOwnQueue_refused() throws {
    try fixture.present("m", "", .with(group: "g"))
    try fixture.present("b", "", .with(group: "g", ifBusy: .queue))
    let refusal = fixture.refusal(
      of: .present("b.x", id: "", .with(group: "g", ifBusy: .queue)), .dismiss("m"))
    #expect(refusal?.code == .invalidArgument && refusal?.index == 0)
    try fixture.clearAway()
  }

  // MARK: C2

  @Test("C2: a child is presented only once its parent is")
  func present_childOfPresenting_waits() throws {
    try fixture.present("a", "", .with(to: "cmd"))
    try fixture.present("a.b", "", .with(to: "cmd"))
    #expect(fixture.taken() == ["presenting a", "present 1 a", "waiting a.b"])
    fixture.shows(1)
    #expect(fixture.taken() == ["presented a", "presenting a.b", "present 2 a.b"])
    try fixture.clearAway()
  }

  @Test("C2: a deep link of four asked for in the wrong order appears outermost first")
  func apply_deepLink_outermostFirst() throws {
    func present(_ binding: BindingID) -> Request.Operation { .present(binding, id: "", .with(to: "cmd")) }
    #expect(
      try fixture.apply(present("a.b.c.d"), present("a.b"), present("a"), present("a.b.c")) == [
        .presentation(1, changed: true), .presentation(2, changed: true), .presentation(3, changed: true),
        .presentation(4, changed: true),
      ])
    #expect(fixture.taken() == ["waiting a.b.c.d", "waiting a.b", "presenting a", "waiting a.b.c", "present 3 a"])
    #expect(fixture.parent("a.b.c.d") == 4 && fixture.parent("a.b.c") == 2 && fixture.parent("a.b") == 3)
    #expect(fixture.parent("a") == nil)
    fixture.shows(3)
    #expect(fixture.taken() == ["presented a", "presenting a.b", "present 2 a.b"])
    fixture.shows(2)
    #expect(fixture.taken() == ["presented a.b", "presenting a.b.c", "present 4 a.b.c"])
    fixture.shows(4)
    #expect(fixture.taken() == ["presented a.b.c", "presenting a.b.c.d", "present 1 a.b.c.d"])
    fixture.shows(1)
    #expect(fixture.taken() == ["presented a.b.c.d"])
    try fixture.dismiss("a")
    fixture.goes(1, 4, 2, 3)
    #expect(
      fixture.taken() == [
        "dismissing a", "dismissing a.b", "dismissing a.b.c", "dismissing a.b.c.d", "dismiss 1 parent",
        "dismissed a.b.c.d parent", "dismiss 4 parent", "dismissed a.b.c parent", "dismiss 2 parent",
        "dismissed a.b parent", "dismiss 3 dismissed", "dismissed a dismissed",
      ])
    #expect(fixture.leftovers == [])
  }

  @Test("C2: a deep link of state-only items with named parents, innermost first, is presented whole")
  func apply_deepLinkNamedStateOnly_outermostFirst() throws {
    try fixture.apply(
      .present("c", id: "", .with(from: "b")), .present("b", id: "", .with(from: "a")), .present("a", id: "", .with()))
    #expect(fixture.taken() == ["presented a", "presented b", "presented c"])
    #expect(fixture.parent("c") == 2 && fixture.parent("b") == 3)
    try fixture.clearAway()
  }

  @Test("C2: a deep link whose outermost replaces another is presented from the new one")
  func apply_deepLinkReplacing_newParent() throws {
    try fixture.show("a", "1")
    try fixture.show("a.b", "1")
    try fixture.apply(.present("a.b", id: "2", .with(to: "cmd")), .present("a", id: "2", .with(to: "cmd")))
    #expect(
      fixture.taken() == [
        "dismissing a.b 1", "dismissing a 1", "waiting a.b 2", "waiting a 2", "dismiss 2 replaced",
      ])
    #expect(fixture.parent("a.b") == fixture.handle("a"))
    fixture.goes(2, 1)
    #expect(
      fixture.taken() == [
        "dismissed a.b 1 replaced", "dismiss 1 replaced", "dismissed a 1 replaced", "presenting a 2", "present 4 a",
      ])
    fixture.shows(4)
    #expect(fixture.taken() == ["presented a 2", "presenting a.b 2", "present 3 a.b"])
    try fixture.clearAway()
  }

  // MARK: C3

  @Test("C3: before a parent, its children are dismissed, the deepest first, each acknowledged before the next")
  func dismiss_parent_deepestFirst() throws {
    try fixture.show("a")
    try fixture.show("a.b")
    try fixture.show("a.b.c")
    try fixture.dismiss("a")
    #expect(fixture.taken() == ["dismissing a", "dismissing a.b", "dismissing a.b.c", "dismiss 3 parent"])
    #expect(fixture.shown == [], "their slots are nil")
    fixture.goes(3)
    #expect(fixture.taken() == ["dismissed a.b.c parent", "dismiss 2 parent"])
    fixture.goes(2)
    #expect(fixture.taken() == ["dismissed a.b parent", "dismiss 1 dismissed"])
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed a dismissed"])
    #expect(fixture.leftovers == [])
  }

  @Test("C3: siblings are dismissed together, and the parent after the last of them")
  func dismiss_parentOfSiblings_together() throws {
    try fixture.show("a")
    for child: BindingID in ["a.b", "a.c", "a.d"] { try fixture.show(child) }
    try fixture.show("a.c.x")
    try fixture.dismiss("a")
    #expect(
      fixture.taken() == [
        "dismissing a", "dismissing a.b", "dismissing a.c", "dismissing a.d", "dismissing a.c.x", "dismiss 2 parent",
        "dismiss 4 parent", "dismiss 5 parent",
      ])
    fixture.goes(4, 5)
    #expect(fixture.taken() == ["dismissed a.d parent", "dismissed a.c.x parent", "dismiss 3 parent"])
    fixture.goes(3)
    #expect(fixture.taken() == ["dismissed a.c parent"])
    fixture.goes(2)
    #expect(fixture.taken() == ["dismissed a.b parent", "dismiss 1 dismissed"])
    try fixture.clearAway()
  }

  @Test(
    "C3: whatever ends the parent, its children end before it",
    arguments: ["closed", "expired", "owner", "replaced"])
  func end_parent_childrenFirst(how: String) throws {
    try fixture.show(
      "a", "1", .with(to: "bus", timeout: how == "expired" ? 10 : nil, owned: how == "owner"), by: "bert")
    try fixture.show("a.b", "", .with(to: "bus"))
    switch how {
    case "expired": fixture.pass(10)
    case "owner": fixture.leave("bert")
    case "replaced": try fixture.present("a", "2", .with(to: "cmd"))
    default: fixture.ends(1)
    }
    let waiting = how == "replaced" ? ["waiting a 2"] : []
    let forced = ["closed", "owner"].contains(how) ? " forced" : ""
    #expect(
      fixture.taken().filter { $0 != "waiting a 2" }
        == ["dismissing a 1", "dismissing a.b", "dismiss 2 parent\(forced)"])
    fixture.goes(2)
    let then = how == "closed" ? "dismissed a 1 closed" : "dismiss 1 \(how)\(forced)"
    #expect(fixture.taken() == ["dismissed a.b parent", then])
    #expect(fixture.shown == (waiting.isEmpty ? [] : ["a=2"]))
    try fixture.clearAway()
  }

  @Test("C3: a child that does not acknowledge delays its parent no longer than its grace")
  func dismiss_childSilent_parentAfterGrace() throws {
    try fixture.show("a")
    try fixture.show("a.b", "", .with(to: "bus"))
    try fixture.dismiss("a")
    _ = fixture.taken()
    fixture.pass(Destination.defaultGrace)
    #expect(fixture.taken() == ["dismissed a.b parent", "abandon 2", "dismiss 1 dismissed"])
    try fixture.clearAway()
  }

  @Test("C3: a child that ends by itself lets its dismissed parent end")
  func ended_childWhileParentGoes_parentGoes() throws {
    try fixture.show("a")
    try fixture.show("a.b")
    try fixture.dismiss("a")
    _ = fixture.taken()
    fixture.ends(2, failed: true)
    #expect(fixture.taken() == ["dismissed a.b parent", "dismiss 1 dismissed"])
    try fixture.clearAway()
  }

  @Test("C3: a parent that ends by itself while its children are dismissed ends after them")
  func ended_parentWhileChildrenGo_goneAfterThem() throws {
    try fixture.show("a", "", .with(to: "bus"))
    try fixture.show("a.b")
    try fixture.dismiss("a")
    _ = fixture.taken()
    fixture.ends(1, result: ["x": .byte(1)])
    #expect(fixture.taken() == [])
    fixture.goes(2)
    #expect(fixture.taken() == ["dismissed a.b parent", "dismissed a dismissed"])
    #expect(fixture.ending(1)?.result == ["x": .byte(1)])
    #expect(fixture.leftovers == [])
  }

  @Test("C3: A ⊃ B, A→D: B and A end, then D is presented")
  func replace_parent_childThenParentThenNew() throws {
    try fixture.show("a", "A")
    try fixture.show("a.b", "B")
    try fixture.present("a", "D", .with(to: "cmd"))
    #expect(fixture.taken() == ["dismissing a A", "dismissing a.b B", "waiting a D", "dismiss 2 parent"])
    fixture.goes(2)
    #expect(fixture.taken() == ["dismissed a.b B parent", "dismiss 1 replaced"])
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed a A replaced", "presenting a D", "present 3 a"])
    #expect(fixture.shown == ["a=D"])
    try fixture.clearAway()
  }

  // MARK: C4

  @Test("C4: A ⊃ B, B→C: A is untouched")
  func replace_child_parentUntouched() throws {
    try fixture.show("a", "A")
    try fixture.show("a.b", "B")
    try fixture.show("a.x", "X")
    try fixture.present("a.b", "C", .with(to: "cmd"))
    #expect(fixture.taken() == ["dismissing a.b B", "waiting a.b C", "dismiss 2 replaced"])
    fixture.goes(2)
    #expect(fixture.taken() == ["dismissed a.b B replaced", "presenting a.b C", "present 4 a.b"])
    fixture.shows(4)
    #expect(fixture.taken() == ["presented a.b C"])
    #expect(fixture.parent("a.b") == 1 && fixture.phase(1) == "presented" && fixture.phase(3) == "presented")
    try fixture.clearAway()
  }

  @Test("C4: A ⊃ B ⊃ C, B dismissed: C and then B end, A stays")
  func dismiss_middle_outerStays() throws {
    try fixture.show("a")
    try fixture.show("a.b")
    try fixture.show("a.b.c")
    try fixture.dismiss("a.b")
    #expect(fixture.taken() == ["dismissing a.b", "dismissing a.b.c", "dismiss 3 parent"])
    fixture.goes(3)
    #expect(fixture.taken() == ["dismissed a.b.c parent", "dismiss 2 dismissed"])
    fixture.goes(2)
    #expect(fixture.taken() == ["dismissed a.b dismissed"])
    #expect(fixture.shown == ["a"] && fixture.phase(1) == "presented")
    try fixture.clearAway()
  }

  // MARK: C5

  @Test("C5: two alerts from one parent are presented at the same time")
  func present_twoChildren_together() throws {
    try fixture.show("a")
    try fixture.present("alert[0]", "x", .with(to: "bus", style: "alert", from: "a"))
    try fixture.present("alert[1]", "y", .with(to: "bus", style: "alert", from: "a"))
    #expect(
      fixture.taken() == [
        "presenting alert[0] x", "present 2 alert[0]", "presenting alert[1] y", "present 3 alert[1]",
      ])
    fixture.shows(3, 2)
    #expect(fixture.taken() == ["presented alert[1] y", "presented alert[0] x"])
    fixture.ends(2)
    #expect(fixture.taken() == ["dismissed alert[0] x closed"])
    #expect(fixture.phase(3) == "presented" && fixture.phase(1) == "presented")
    try fixture.clearAway()
  }

  // MARK: C6

  @Test("C6: a child that waits while its parent is dismissed is never shown, and ends as parent")
  func dismiss_parentOfWaiting_childNeverShown() throws {
    try fixture.present("a", "", .with(to: "cmd"))
    try fixture.present("a.b", "", .with(to: "cmd"))
    try fixture.present("a.b.c", "", .with(to: "cmd"))
    _ = fixture.taken()
    try fixture.dismiss("a")
    #expect(
      fixture.taken() == [
        "dismissed a.b.c parent", "dismissed a.b parent", "dismissing a", "dismiss 1 dismissed forced",
      ])
    #expect(fixture.shown == [])
    fixture.shows(1)
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed a dismissed"])
    #expect(fixture.leftovers == [])
  }

  @Test("C6: the parent that cannot be shown takes its children along")
  func fail_parentOfWaiting_childNeverShown() throws {
    try fixture.present("a", "", .with(to: "bus"))
    try fixture.present("a.b", "", .with(to: "cmd"))
    _ = fixture.taken()
    fixture.fails(1)
    #expect(fixture.taken() == ["dismissed a.b parent", "dismissed a failed"])
    #expect(fixture.leftovers == [])
  }

  // MARK: C7

  @Test("C7: an item cannot be presented from itself")
  func present_fromItself_refused() throws {
    #expect(fixture.refusal(.present("a", id: "1", .with(from: "a"))) == .invalidArgument)
    try fixture.present("a", "1")
    #expect(fixture.refusal(.present("a", id: "2", .with(from: "a"))) == .invalidArgument)
    #expect(fixture.refusal(.present("a", id: "1", .with(from: "a"))) == .invalidArgument)
    try fixture.clearAway()
  }

  @Test("C7: an item cannot be presented from its descendants")
  func present_fromDescendant_refused() throws {
    try fixture.present("a", "1")
    try fixture.present("b", "", .with(from: "a"))
    try fixture.present("c", "", .with(from: "b"))
    #expect(fixture.refusal(.present("a", id: "2", .with(from: "b"))) == .invalidArgument)
    #expect(fixture.refusal(.present("a", id: "2", .with(from: "c"))) == .invalidArgument)
    try fixture.clearAway()
  }

  @Test("C7: an item cannot be presented from an item above it in its stack")
  func present_fromAbove_refused() throws {
    try fixture.ask(.setPath("s", [.at("a", "1"), .at("b"), .at("c")]))
    #expect(fixture.refusal(.present("a", id: "2", .with(from: "b"))) == .invalidArgument)
    #expect(fixture.refusal(.present("a", id: "2", .with(from: "c"))) == .invalidArgument)
    try fixture.present("d", "", .with(from: "c"))
    #expect(fixture.refusal(.present("a", id: "2", .with(from: "d"))) == .invalidArgument)
    try fixture.clearAway()
  }

  @Test("C7: an item cannot be pushed onto its descendants")
  func push_ontoDescendant_refused() throws {
    try fixture.present("a", "1")
    try fixture.ask(.push("s", "b", id: "", .with(from: "a")))
    #expect(fixture.refusal(.push("s", "a", id: "2", .with())) == .invalidArgument)
    #expect(fixture.shown == ["a=1", "b"])
    try fixture.ask(.push("s", "c", id: "", .with()))
    #expect(fixture.refusal(.push("s", "a", id: "2", .with())) == .invalidArgument)
    try fixture.clearAway()
  }

  @Test("C7: a circle of new items, by parents or by stacks, is refused")
  func apply_circle_refused() throws {
    let byParents = fixture.refusal(
      of: .present("a", id: "", .with(from: "b")), .present("b", id: "", .with(from: "c")),
      .present("c", id: "", .with(from: "a")))
    #expect(byParents?.code == .invalidArgument)
    let byStack = fixture.refusal(
      of: .push("s", "a", id: "", .with(from: "b")), .push("s", "b", id: "", .with()))
    #expect(byStack?.code == .invalidArgument)
    let byImplied = fixture.refusal(of: .present("a", id: "", .with(from: "a.b")), .present("a.b", id: "", .with()))
    #expect(byImplied?.code == .invalidArgument)
  }

  @Test("C7: an item cannot depend on a member of its own group, as its parent or below it")
  func present_dependsOnOwnGroup_refused() throws {
    try fixture.present("m", "", .with(group: "g"))
    #expect(fixture.refusal(.present("a", id: "", .with(from: "m", group: "g"))) == .invalidArgument)
    try fixture.present("x", "", .with(from: "m"))
    #expect(fixture.refusal(.present("a", id: "", .with(from: "x", group: "g"))) == .invalidArgument)
    #expect(
      fixture.refusal(.present("a", id: "", .with(from: "x", group: "g", ifBusy: .queue))) == .invalidArgument)
    #expect(fixture.refusal(.select("g", tag: "a", binding: "a", id: nil, .with(from: "x"))) == .invalidArgument)
    try fixture.ask(.push("s", "y", id: "", .with(from: "x")))
    #expect(fixture.refusal(.push("s", "a", id: "", .with(group: "g"))) == .invalidArgument)
    try fixture.present("a", "", .with(from: "x", group: "h"))
    try fixture.clearAway()
  }

  @Test("C7: an item that is to be queued cannot depend on its own group through its implied parent")
  func present_derivedFromOwnGroupQueued_refused() throws {
    try fixture.present("m", "", .with(group: "g"))
    #expect(fixture.refusal(.present("m.a", id: "", .with(group: "g", ifBusy: .queue))) == .invalidArgument)
    try fixture.clearAway()
  }
}

@Test("C7: a circle of dependencies is found wherever the search begins")
func visit_circleBehindTheStart_isFound() {
  var visits = 0
  let found = visit([1]) { node in
    visits += 1
    // An endless search ends here.
    return visits < 100 ? [node == 3 ? 2 : node + 1] : []
  }
  #expect(found == 2)
}
