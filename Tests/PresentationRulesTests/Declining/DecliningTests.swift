import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

/// Declined dismissals: what stays, what ends instead, and who cannot decline (P15, P16).
@Suite struct DecliningTests {
  let fixture = RulesFixture()

  private func member(_ group: BindingID = "g", _ ifBusy: BusyPolicy? = nil, priority: Int32? = nil) -> ItemOptions {
    .with(to: "bus", group: group, ifBusy: ifBusy, priority: priority)
  }

  private func show(_ binding: BindingID, _ id: String = "", _ options: ItemOptions = .with(to: "bus")) throws {
    try fixture.show(binding, id, options)
  }

  @Test("P15, S5: an item that is pushed onto a kept element is presented")
  func push_ontoKept_isPresented() throws {
    try show("a", "", .with(to: "bus", stack: "s"))
    try fixture.dismiss("a")
    fixture.declines(1)
    try fixture.ask(.push("s", "b", id: "", .with(to: "cmd")))
    #expect(fixture.phase(2) == "presenting")
    #expect(fixture.path("s") == ["a", "b"])
    try fixture.clearAway()
  }

  // MARK: One slot

  @Test("P15: a dismissal that is declined leaves the item in its slot, under its handle")
  func dismiss_declined_keepsTheItem() throws {
    try show("a", "1")
    try fixture.dismiss("a")
    #expect(fixture.taken() == ["dismissing a 1", "dismiss 1 dismissed"])
    fixture.declines(1, "not saved")
    #expect(fixture.taken() == ["declined a 1 “not saved”"])
    #expect(fixture.handle("a") == 1 && fixture.phase(1) == "presented" && fixture.ending(1) == nil)
    try fixture.clearAway()
  }

  @Test("P15: the item that waited for the slot ends as declined, unseen")
  func replace_declined_endsTheNext() throws {
    try show("a", "1")
    try fixture.present("a", "2")
    _ = fixture.taken()
    fixture.declines(1)
    #expect(fixture.taken() == ["declined a 1", "dismissed a 2 declined"])
    #expect(fixture.handle("a") == 1)
    try fixture.clearAway()
  }

  @Test("P15: of A→B→C, B ends as replaced and C as declined")
  func replaceTwice_declined_endsBoth() throws {
    try show("a", "1")
    try fixture.present("a", "2")
    try fixture.present("a", "3")
    #expect(
      fixture.taken() == [
        "dismissing a 1", "waiting a 2", "dismiss 1 replaced", "dismissed a 2 replaced", "waiting a 3",
      ])
    fixture.declines(1)
    #expect(fixture.taken() == ["declined a 1", "dismissed a 3 declined"])
    try fixture.clearAway()
  }

  @Test("P15: the children of the next item end with it")
  func replace_declined_endsWhatDependsOnTheNext() throws {
    try show("a", "1")
    try fixture.present("a", "2")
    try fixture.present("a.b")
    _ = fixture.taken()
    fixture.declines(1)
    #expect(fixture.taken() == ["declined a 1", "dismissed a.b parent", "dismissed a 2 declined"])
    try fixture.clearAway()
  }

  // MARK: Answers that come twice, late, or unasked

  @Test("P15: a second decline changes nothing")
  func decline_twice_countsOnce() throws {
    try show("a")
    try fixture.dismiss("a")
    fixture.declines(1)
    _ = fixture.taken()
    fixture.declines(1)
    #expect(fixture.taken() == [])
    try fixture.clearAway()
  }

  @Test("P15: a decline after the end changes nothing, whether the grace or anything else was the end")
  func decline_afterItsEnd_changesNothing() throws {
    try show("a")
    try fixture.dismiss("a")
    fixture.pass(Destination.defaultGrace)
    #expect(fixture.taken() == ["dismissing a", "dismiss 1 dismissed", "dismissed a dismissed", "abandon 1"])
    fixture.declines(1)
    #expect(fixture.taken() == [])
    try fixture.clearAway()
  }

  @Test("N6, P15: a command is kept after its grace only if it follows windows, which are still there")
  func decline_afterTheGrace_keepsOnlyWindows() throws {
    let fixture = RulesFixture(destinations: [
      Destination(
        name: "viewer", presenter: .command([[1]]), source: RulesFixture.file("viewer"), window: WindowFollowing())
    ])
    for (destination, isKept) in [("viewer", true), ("cmd", false)] {
      let handle = try fixture.show("a", "", .with(to: destination))
      try fixture.dismiss("a")
      fixture.pass(Destination.defaultGrace)
      #expect(fixture.taken().last == "kill \(handle)")
      fixture.declines(handle)
      #expect(fixture.taken() == (isKept ? ["declined a"] : []))
      try fixture.clearAway()
    }
  }

  @Test("P15: a presenter can decline only a dismissal that it was told")
  func decline_unasked_changesNothing() throws {
    try show("a")
    try show("a.b")
    fixture.declines(1)
    try fixture.dismiss("a")
    #expect(fixture.taken() == ["dismissing a", "dismissing a.b", "dismiss 2 parent"])
    fixture.declines(1)
    fixture.declines(9)
    #expect(fixture.taken() == [])
    #expect(fixture.phase(1) == "dismissing")
    try fixture.clearAway()
  }

  @Test("P15, P4: the dismissal of an item that was never presented cannot be declined")
  func decline_neverPresented_isNoAnswer() throws {
    try fixture.present("a", "", .with(to: "bus"))
    try fixture.dismiss("a")
    #expect(fixture.taken() == ["presenting a", "present 1 a", "dismissing a", "dismiss 1 dismissed forced"])
    fixture.declines(1)
    #expect(fixture.taken() == [])
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed a dismissed"])
    try fixture.clearAway()
  }

  // MARK: Groups

  @Test("P15: a member that declines is selected again, and the member selected in its place ends as declined")
  func select_declined_restoresTheSelection() throws {
    try show("x", "", member())
    try fixture.present("y", "", member())
    _ = fixture.taken()
    fixture.declines(1, "unsaved")
    #expect(
      fixture.taken() == ["selection g x", "group g x ·", "declined x “unsaved”", "dismissed y declined"])
    #expect(fixture.machine.selection(of: "g") == "x")
    try fixture.clearAway()
  }

  @Test("P15: a member that came from the queue returns to it, by its priority and age")
  func deselect_declined_queuesTheNextAgain() throws {
    try show("x", "", member())
    try fixture.present("low", "", member("g", .queue))
    try fixture.present("first", "", member("g", .queue, priority: 1))
    try fixture.present("second", "", member("g", .queue, priority: 1))
    try fixture.ask(.deselect("g", tag: nil))
    #expect(fixture.machine.selection(of: "g") == "first")
    try fixture.present("third", "", member("g", .queue, priority: 1))
    _ = fixture.taken()
    fixture.declines(1)
    #expect(
      fixture.taken() == [
        "selection g x", "group g first low second third x · first second third low", "declined x",
      ])
    try fixture.dismiss("x")
    fixture.goes(1)
    #expect(fixture.machine.selection(of: "g") == "first")
    try fixture.clearAway()
  }

  @Test("P15: a member returns to the queue behind one of higher priority that was queued meanwhile")
  func deselect_declined_queuesByPriority() throws {
    try show("x", "", member())
    try fixture.present("low", "", member("g", .queue))
    try fixture.dismiss("x")
    try fixture.present("high", "", member("g", .queue, priority: 9))
    fixture.declines(1)
    #expect(fixture.machine.queuedTags(of: "g") == ["high", "low"])
    try fixture.clearAway()
  }

  @Test("P15: a member that was asked for with `queue` while the selected one goes is queued, whatever the limit")
  func queue_whileGoing_declined_isQueued() throws {
    var limits = Limits()
    limits.queue = 1
    let fixture = RulesFixture(limits: limits)
    try fixture.show("x", "", member())
    try fixture.dismiss("x")
    try fixture.present("y", "", member("g", .queue))
    #expect(fixture.machine.selection(of: "g") == "y")
    try fixture.present("z", "", member("g", .queue))
    fixture.declines(1)
    #expect(fixture.machine.selection(of: "g") == "x" && fixture.machine.queuedTags(of: "g") == ["y", "z"])
    try fixture.clearAway()
  }

  @Test("P15: a queued member that a later request selects ends as declined")
  func select_ofQueued_declined_endsIt() throws {
    try show("x", "", member())
    try fixture.present("y", "", member("g", .queue))
    try fixture.present("y", "", member())
    _ = fixture.taken()
    fixture.declines(1)
    #expect(
      fixture.taken() == ["selection g x", "group g x ·", "declined x", "dismissed y declined"])
    try fixture.clearAway()
  }

  @Test(
    "P15: a member that came from the queue, and that is asked for again, returns to the queue only if that request says so",
    arguments: [BusyPolicy.queue, .replace])
  func present_ofServed_declined_isQueuedByPolicy(_ policy: BusyPolicy) throws {
    try show("x", "", member())
    try fixture.present("y", "", member("g", .queue))
    try fixture.dismiss("x")
    try fixture.present("y", "", member("g", policy))
    fixture.declines(1)
    #expect(fixture.machine.queuedTags(of: "g") == (policy == .queue ? ["y"] : []))
    try fixture.clearAway()
  }

  @Test("P15, G9: the children of a member that returns to the queue end as parent")
  func deselect_declined_endsChildrenOfTheQueued() throws {
    try show("x", "", member())
    try fixture.present("y", "", member("g", .queue))
    try fixture.dismiss("x")
    try fixture.present("y.child")
    _ = fixture.taken()
    fixture.declines(1)
    #expect(
      fixture.taken() == [
        "selection g x", "group g x y · y", "declined x", "dismissed y.child parent",
      ])
    try fixture.clearAway()
  }

  @Test(
    "P15, G7: an item that reuses the tag ends as declined, selected or queued",
    arguments: [BusyPolicy.replace, .queue])
  func tag_reused_declined_endsTheOther(_ policy: BusyPolicy) throws {
    try show("x", "", .with(to: "bus", group: "g", tag: "t"))
    try fixture.dismiss("x")
    if policy == .queue { try fixture.present("z", "", member()) }
    try fixture.present("y", "", .with(to: "bus", group: "g", tag: "t", ifBusy: policy))
    _ = fixture.taken()
    fixture.declines(1)
    let events = fixture.taken()
    #expect(events.contains("dismissed y declined"), "\(events)")
    #expect(fixture.machine.selection(of: "g") == "t" && fixture.machine.queuedTags(of: "g") == [])
    #expect(fixture.handle("x") == 1 && fixture.handle("y") == nil)
    try fixture.clearAway()
  }

  @Test("P15: a group that loses its selection to a decline elsewhere serves its queue")
  func decline_endsAMember_servesItsQueue() throws {
    try show("a", "1")
    try fixture.present("a", "2", member("h"))
    try fixture.present("w", "", member("h", .queue))
    _ = fixture.taken()
    fixture.declines(1)
    #expect(
      fixture.taken() == [
        "selection h w", "group h w ·", "declined a 1", "dismissed a 2 declined", "presenting w", "present 3 w",
      ])
    try fixture.clearAway()
  }

  // MARK: Parents

  @Test("P15: a child that declines keeps its parent; siblings that went stay gone")
  func dismissParent_childDeclines_bothStay() throws {
    try show("a")
    try show("a.b")
    try show("a.c")
    try fixture.dismiss("a")
    #expect(
      fixture.taken() == [
        "dismissing a", "dismissing a.b", "dismissing a.c", "dismiss 2 parent", "dismiss 3 parent",
      ])
    fixture.goes(2)
    fixture.declines(3)
    #expect(fixture.taken() == ["dismissed a.b parent", "declined a", "declined a.c"])
    #expect(fixture.shown == ["a", "a.c"])
    try fixture.clearAway()
  }

  @Test("P15: one sibling declines, and another one ends all the same")
  func dismissParent_oneChildDeclines_otherEnds() throws {
    try show("a")
    try show("a.b")
    try show("a.c")
    try fixture.dismiss("a")
    _ = fixture.taken()
    fixture.declines(3, "b")
    #expect(fixture.taken() == ["declined a", "declined a.c “b”"])
    fixture.goes(2)
    #expect(fixture.taken() == ["dismissed a.b parent"])
    #expect(fixture.phase(1) == "presented")
    try fixture.clearAway()
  }

  @Test("P15: both of two siblings may decline")
  func dismissParent_bothDecline_allStay() throws {
    try show("a")
    try show("a.b")
    try show("a.c")
    try fixture.dismiss("a")
    fixture.declines(2)
    fixture.declines(3)
    #expect(fixture.shown == ["a", "a.b", "a.c"])
    try fixture.clearAway()
  }

  @Test("P15: a grandchild that declines keeps the parent that was replaced")
  func replaceParent_grandchildDeclines_allStay() throws {
    try show("a", "1")
    try show("a.b")
    try show("a.b.c")
    try fixture.present("a", "2")
    try fixture.present("a.b", "new")
    _ = fixture.taken()
    fixture.declines(3, "unsaved")
    #expect(
      fixture.taken() == [
        "declined a 1", "declined a.b", "declined a.b.c “unsaved”", "dismissed a.b new declined",
        "dismissed a 2 declined",
      ])
    #expect(fixture.shown == ["a=1", "a.b", "a.b.c"])
    try fixture.clearAway()
  }

  @Test("P15: a parent that its user closed takes along the child that asks, and that declines")
  func closedParent_childDeclines_bothEnd() throws {
    try show("a")
    try show("a.b")
    try fixture.dismiss("a")
    try fixture.asks(2, "Save?")
    _ = fixture.taken()
    fixture.ends(1)
    #expect(fixture.taken() == ["asking 2 no more", "dismiss 2 parent forced"])
    fixture.declines(2)
    #expect(fixture.taken() == [])
    fixture.goes(2)
    #expect(fixture.taken() == ["dismissed a.b parent", "dismissed a dismissed"])
    try fixture.clearAway()
  }

  // MARK: Stacks

  @Test("P15: of a stack of three that is popped, the second declines: two stay")
  func popAll_secondDeclines_twoStay() throws {
    for binding in ["x", "y", "z"] as [BindingID] { try show(binding, "", .with(to: "bus", stack: "s")) }
    try fixture.ask(.pop("s", count: 3))
    _ = fixture.taken()
    fixture.goes(3)
    #expect(fixture.taken() == ["dismissed z popped", "dismiss 2 popped"])
    fixture.declines(2, "unsaved")
    #expect(fixture.taken() == ["path s x y", "declined x", "declined y “unsaved”"])
    #expect(fixture.path("s") == ["x", "y"])
    try fixture.clearAway()
  }

  @Test("P15: another continuation of the path ends where an element declines")
  func setPath_declined_endsTheContinuation() throws {
    for binding in ["x", "y"] as [BindingID] { try show(binding, "", .with(to: "bus", stack: "s")) }
    try fixture.ask(.setPath("s", [.at("x"), .at("v", "", .with(to: "bus")), .at("w", "", .with(to: "bus"))]))
    _ = fixture.taken()
    fixture.declines(2)
    #expect(
      fixture.taken() == ["path s x y", "declined y", "dismissed w popped", "dismissed v declined"])
    #expect(fixture.path("s") == ["x", "y"])
    try fixture.clearAway()
  }

  @Test("P15, W1: a path that holds the same item again after a decline is not announced")
  func pushAgain_declined_pathIsTheSame() throws {
    try show("x", "1", .with(to: "bus", stack: "s"))
    try fixture.dismiss("x")
    try fixture.present("x", "1", .with(to: "bus", stack: "s"))
    _ = fixture.taken()
    fixture.declines(1)
    #expect(fixture.taken() == ["declined x 1", "dismissed x 1 declined"])
    try fixture.clearAway()
  }

  @Test("P15: an element stays while another one above it goes on ending")
  func popAll_childOfTheLowerDeclines_upperEnds() throws {
    for binding in ["x", "y"] as [BindingID] { try show(binding, "", .with(to: "bus", stack: "s")) }
    try show("x.child")
    try fixture.ask(.pop("s", count: 2))
    #expect(
      fixture.taken() == [
        "path s", "dismissing y", "dismissing x", "dismissing x.child", "dismiss 2 popped", "dismiss 3 parent",
      ])
    fixture.declines(3)
    #expect(fixture.taken() == ["path s x", "declined x", "declined x.child"])
    fixture.goes(2)
    #expect(fixture.taken() == ["dismissed y popped"])
    #expect(fixture.path("s") == ["x"])
    try fixture.clearAway()
  }

  // MARK: Transactions

  @Test("P15, T1: of a transaction of ten, the third dismissal is declined, and the others go on")
  func transactionOfTen_thirdDeclined_othersGoOn() throws {
    let bindings = (0..<10).map { BindingID("n").appending(index: $0)! }
    for binding in bindings { try show(binding) }
    try fixture.apply(bindings.map { Request(.dismiss($0)) })
    _ = fixture.taken()
    for number in 1...10 as ClosedRange<UInt64> {
      if number == 3 { fixture.declines(3) } else { fixture.goes(Handle(number)) }
    }
    #expect(fixture.shown == ["n[2]"])
    #expect(fixture.taken().count { $0.hasPrefix("dismissed") } == 9)
    try fixture.clearAway()
  }

  // MARK: Timeouts

  @Test("P15, O2: a timeout goes on with the time that was left")
  func timeout_declined_goesOn() throws {
    try show("a", "", .with(to: "bus", timeout: 1000))
    fixture.pass(400)
    try fixture.dismiss("a")
    fixture.pass(1500)
    fixture.declines(1)
    _ = fixture.taken()
    fixture.pass(599)
    #expect(fixture.taken() == [])
    fixture.pass(1)
    #expect(fixture.taken() == ["dismissing a", "dismiss 1 expired"])
    try fixture.clearAway()
  }

  @Test("P15, O2: a timeout that has passed does not start again")
  func timeout_expiredAndDeclined_staysOff() throws {
    try show("a", "", .with(to: "bus", timeout: 1000))
    fixture.pass(1000)
    fixture.declines(1)
    _ = fixture.taken()
    fixture.pass(1_000_000)
    #expect(fixture.taken() == [] && fixture.phase(1) == "presented")
    try fixture.ask(.update("a", value: [:], remove: [], containerValues: nil, timeout: 10))
    fixture.pass(10)
    #expect(fixture.taken() == ["dismissing a", "dismiss 1 expired"])
    try fixture.clearAway()
  }

  // MARK: Updates

  @Test("P15, D8: an update that was under way or pending is sent again", arguments: [1, 2])
  func update_declined_isSentAgain(_ count: Int) throws {
    try show("a")
    for number in 1...count { try edit(number) }
    try fixture.dismiss("a")
    _ = fixture.taken()
    fixture.declines(1)
    // The answer to the earlier update is still due.
    #expect(fixture.taken() == ["declined a"])
    fixture.updates(1)
    #expect(fixture.taken() == ["update 1"])
    fixture.updates(1)
    #expect(fixture.taken() == [])
    try fixture.clearAway()
  }

  private func edit(_ number: Int) throws {
    try fixture.ask(
      .update("a", value: ["n": .int32(Int32(number))], remove: [], containerValues: nil, timeout: nil), by: "anna")
  }

  @Test("P15, D8: an update that was answered while the dismissal was under way is sent again at once; one at a time")
  func update_answeredBeforeDecline_isSentAgainAtOnce() throws {
    try show("a")
    try edit(1)
    try fixture.dismiss("a")
    fixture.updates(1)
    _ = fixture.taken()
    fixture.declines(1)
    #expect(fixture.taken() == ["declined a", "update 1"])
    try edit(2)
    #expect(fixture.taken() == ["updated a"])
    fixture.updates(1)
    #expect(fixture.taken() == ["update 1 by anna"])
    try fixture.clearAway()
  }

  @Test("P15, D8: the late answer to an update from before a declined dismissal lets no second update be under way")
  func update_answeredAfterDecline_isAloneUnderWay() throws {
    try show("a")
    try edit(1)
    try fixture.dismiss("a")
    fixture.declines(1)
    fixture.updates(1)
    _ = fixture.taken()
    try edit(2)
    #expect(fixture.taken() == ["updated a"])
    fixture.updates(1)
    #expect(fixture.taken() == ["update 1 by anna"])
    try fixture.clearAway()
  }

  // MARK: Force

  @Test("P15: a forced dismissal is not declined, and any other answer is the end")
  func dismiss_forced_isNotDeclined() throws {
    try show("a")
    try fixture.ask(.dismiss("a"), isForced: true)
    #expect(fixture.taken() == ["dismissing a", "dismiss 1 dismissed forced"])
    fixture.declines(1)
    #expect(fixture.taken() == [])
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed a dismissed"])
    try fixture.clearAway()
  }

  @Test("P15: a request with force forces the dismissal that its slot still waits for, and changes nothing else")
  func dismiss_forcedWhileAsking_isToldAgain() throws {
    try show("a")
    try fixture.dismiss("a")
    try fixture.asks(1, "Save?")
    _ = fixture.taken()
    fixture.pass(60_000)
    #expect(try fixture.ask(.dismiss("a"), isForced: true) == .changed(false))
    #expect(fixture.taken() == ["asking 1 no more", "dismiss 1 dismissed forced"])
    try fixture.ask(.dismiss("a"), isForced: true)
    #expect(fixture.taken() == [])
    fixture.pass(Destination.defaultGrace)
    #expect(fixture.taken() == ["dismissed a dismissed", "abandon 1"])
    try fixture.clearAway()
  }

  @Test("P15: forcing a parent while its child asks forces the child, too")
  func dismissParent_forcedWhileChildAsks_isForced() throws {
    try show("a")
    try show("a.b")
    try fixture.dismiss("a")
    try fixture.asks(2)
    _ = fixture.taken()
    try fixture.ask(.dismiss("a"), isForced: true)
    #expect(fixture.taken() == ["asking 2 no more", "dismiss 2 parent forced"])
    fixture.goes(2)
    #expect(fixture.taken() == ["dismissed a.b parent", "dismiss 1 dismissed forced"])
    try fixture.clearAway()
  }

  @Test("P15: a forced request about a group or a stack forces the dismissals that it waits for")
  func groupAndStack_forced_forceWhatTheyWaitFor() throws {
    try show("x", "", member())
    try fixture.present("y", "", member())
    for binding in ["p", "q"] as [BindingID] { try show(binding, "", .with(to: "bus", stack: "s")) }
    try fixture.ask(.pop("s", count: 2))
    _ = fixture.taken()
    try fixture.ask(.select("g", tag: "y", binding: nil, id: nil, .with()), isForced: true)
    #expect(fixture.taken() == ["dismiss 1 deselected forced"])
    try fixture.ask(.pop("s", count: 0), isForced: true)
    #expect(fixture.taken() == ["dismiss 4 popped forced"])
    fixture.goes(4)
    #expect(fixture.taken() == ["dismissed q popped", "dismiss 3 popped forced"])
    try fixture.clearAway()
  }

  @Test("P15: a forced request for an element of a stack forces what that element waits for")
  func present_forcedElement_forcesWhatItWaitsFor() throws {
    for binding in ["p", "q"] as [BindingID] { try show(binding, "", .with(to: "bus", stack: "s")) }
    try fixture.dismiss("q")
    try fixture.present("r", "", .with(stack: "s"))
    _ = fixture.taken()
    try fixture.ask(.present("r", id: "", .with()), isForced: true)
    #expect(fixture.taken() == ["dismiss 2 dismissed forced"])
    try fixture.clearAway()
  }

  @Test(
    "P15: a forced selection of an item that has to queue forces the item that it replaces", arguments: [false, true])
  func select_forcedIntoTheQueue_forcesWhatItReplaces(isToggle: Bool) throws {
    try show("x", "", member())
    try show("y", "1")
    let options = member("g", .queue)
    try fixture.ask(
      isToggle
        ? .toggleSelection("g", tag: "y", binding: "y", id: "2", options)
        : .select("g", tag: "y", binding: "y", id: "2", options), isForced: true)
    #expect(
      fixture.taken() == ["group g x y · y", "dismissing y 1", "waiting y 2", "dismiss 2 replaced forced"])
    try fixture.clearAway()
  }

  @Test("P15: a selection that queues names neither the slot nor the group of the member that stays selected")
  func select_forcedIntoTheQueue_forcesNoOther() throws {
    try show("y", "1")
    try fixture.present("y", "2", member())
    _ = fixture.taken()
    try fixture.ask(.select("g", tag: "x", binding: "x", id: nil, member("g", .queue)), isForced: true)
    #expect(fixture.taken() == ["group g x y · x", "waiting x"])
    fixture.declines(1)
    #expect(
      fixture.taken() == [
        "selection g x", "group g x ·", "declined y 1", "dismissed y 2 declined", "presenting x", "present 3 x",
      ])
    try fixture.clearAway()
  }

  @Test("P15: a forced request forces no dismissal that it does not wait for")
  func present_forced_forcesNoOther() throws {
    try show("a")
    try show("a.b")
    try fixture.dismiss("a.b")
    _ = fixture.taken()
    try fixture.ask(.present("a", id: "", .with()), isForced: true)
    #expect(fixture.taken() == [])
    fixture.declines(2)
    #expect(fixture.taken() == ["declined a.b"])
    try fixture.clearAway()
  }

  @Test("P15, R5: Quit while a presenter asks ends it by force")
  func shutDown_whileAsking_forces() throws {
    try show("a")
    try fixture.dismiss("a")
    try fixture.asks(1)
    _ = fixture.taken()
    fixture.shutDown()
    #expect(fixture.taken() == ["asking 1 no more", "dismiss 1 dismissed forced"])
    fixture.declines(1)
    fixture.goes(1)
    #expect(fixture.machine.isEmpty == true)
  }

  @Test("P15, O1: an item whose owner leaves is not declined", arguments: [false, true])
  func owner_left_forces(isDismissedBefore: Bool) throws {
    try show("a", "", .with(to: "bus", owned: true))
    if isDismissedBefore {
      try fixture.dismiss("a")
      try fixture.asks(1)
    }
    _ = fixture.taken()
    fixture.leave("anna")
    #expect(
      fixture.taken()
        == (isDismissedBefore
          ? ["asking 1 no more", "dismiss 1 dismissed forced"] : ["dismissing a", "dismiss 1 owner forced"]))
    fixture.declines(1)
    #expect(fixture.taken() == [])
    try fixture.clearAway()
  }

  @Test("P15: a command is not told twice, since it cannot decline")
  func dismiss_commandForcedLater_isToldOnce() throws {
    try fixture.show("a", "", .with(to: "cmd"))
    try fixture.dismiss("a")
    _ = fixture.taken()
    try fixture.ask(.dismiss("a"), isForced: true)
    #expect(fixture.taken() == [])
    try fixture.clearAway()
  }

  // MARK: Asking (P16)

  @Test("P16: the grace of a presenter that asks stands still, and another question is announced")
  func asking_stopsTheGrace() throws {
    try show("a")
    try fixture.dismiss("a")
    _ = fixture.taken()
    fixture.pass(Destination.defaultGrace - 1)
    try fixture.asks(1, "Save?")
    fixture.pass(1_000_000)
    try fixture.asks(1, "Save?")
    try fixture.asks(1, "Really?")
    #expect(fixture.taken() == ["asking 1 “Save?”", "asking 1 “Really?”"])
    fixture.goes(1, result: ["saved": .boolean(true)])
    #expect(fixture.taken() == ["dismissed a dismissed"])
    #expect(fixture.ending(1)?.result == ["saved": .boolean(true)])
  }

  @Test("P16: a presenter that asks may decline, too")
  func asking_declined_isPresented() throws {
    try show("a")
    try fixture.dismiss("a")
    try fixture.asks(1)
    _ = fixture.taken()
    fixture.declines(1)
    #expect(fixture.taken() == ["declined a"])
    try fixture.clearAway()
  }

  @Test("P16, D11: only the presenter may ask, and a late or early call does nothing")
  func asking_byOthersOrLate_doesNothing() throws {
    try show("a")
    try fixture.asks(1)
    try fixture.dismiss("a")
    _ = fixture.taken()
    do throws(Refusal) {
      try fixture.asks(1, byPresenter: false)
      Issue.record("another client asked")
    } catch { #expect(error.code == .accessDenied) }
    do throws(Refusal) {
      try fixture.asks(7)
      Issue.record("a presentation that never was asked")
    } catch { #expect(error.code == .unknownPresentation) }
    fixture.goes(1)
    _ = fixture.taken()
    try fixture.asks(1)
    #expect(fixture.taken() == [])
  }

  @Test("L1: a question that is too long is refused, and a reason that is too long is cut off")
  func messages_tooLong_areRefusedOrCut() throws {
    var limits = Limits()
    limits.text = 4
    let fixture = RulesFixture(limits: limits)
    try fixture.show("a", "", .with(to: "bus"))
    try fixture.dismiss("a")
    do throws(Refusal) {
      try fixture.asks(1, "12345")
      Issue.record("the question was accepted")
    } catch { #expect(error.code == .limitExceeded) }
    _ = fixture.taken()
    fixture.declines(1, "12345")
    #expect(fixture.taken() == ["declined a “1234”"])
    try fixture.clearAway()
  }
}
