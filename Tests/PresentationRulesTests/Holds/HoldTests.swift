import PresentationModel
import Testing

@testable import PresentationRules
@testable import Simulation

/// Holds: what begins, dismisses, postpones and releases one (H1 to H6, H8).
struct HoldTests {
  private let fixture = RulesFixture(destinations: [
    HoldTests.destination("note", ["dnd": .postpone, "locked": .dismiss]),
    HoldTests.destination("offer", ["dnd": .refuse]),
    HoldTests.destination("secret", ["locked": .dismiss, "dnd": .dismiss]),
    HoldTests.destination("alarm", ["dnd": .show]),
    Destination(
      name: "guard", presenter: .command([[1]]), source: RulesFixture.file("guard"), isProtected: true,
      itemSettings: HoldTests.settings(["locked": .dismiss])),
  ])

  private static func settings(_ holds: [String: HoldAction]) -> Shared<ItemSettings> {
    var settings = ItemSettings()
    settings.holds = holds
    return Shared(settings)
  }

  private static func destination(_ name: String, _ holds: [String: HoldAction]) -> Destination {
    var destination = RulesFixture.bus(name)
    destination.itemSettings = settings(holds)
    return destination
  }

  private func note(_ options: ItemOptions = ItemOptions()) -> ItemOptions {
    var options = options
    options.destination = "note"
    return options
  }

  // MARK: Files

  @Test("H3: a corrected file counts for what is on the screen: a hold in force dismisses it")
  func correctedFile_ofAShownItem_counts() throws {
    try fixture.show("alarm", "", .with(to: "alarm"))
    _ = try fixture.hold("dnd")
    _ = fixture.taken()
    fixture.load([Self.destination("alarm", ["dnd": .dismiss])])
    fixture.report(.updateAnswered(99))
    fixture.goes(1)
    #expect(fixture.shown == [])
    #expect(fixture.taken().last == "dismissed alarm held")
  }

  @Test("H3: a corrected file counts for what waits: a hold that no longer postpones it lets it come")
  func correctedFile_ofAWaitingItem_counts() throws {
    _ = try fixture.hold("dnd")
    try fixture.present("note", "", note())
    #expect(fixture.phase(1) == "waiting")
    fixture.load([Self.destination("note", [:])])
    fixture.report(.updateAnswered(99))
    #expect(fixture.phase(1) == "presenting")
  }

  @Test("H3: what navd.toml says for all items counts for those that are there")
  func holdsOfAll_changed_countForWhatIsThere() throws {
    try fixture.show("memo", "", .with(to: "bare"))
    try fixture.hold("night")
    fixture.machine.setHolds(["night": .dismiss])
    fixture.report(.updateAnswered(99))
    #expect(fixture.taken().last == "dismissed memo held")
    fixture.machine.setHolds(["night": .postpone])
    try fixture.present("memo", "", .with(to: "bare"))
    #expect(fixture.phase(2) == "waiting")
    fixture.machine.setHolds([:])
    fixture.report(.updateAnswered(99))
    #expect(fixture.phase(2) == "presented")
  }

  // MARK: H1

  @Test("H1: a hold is in force while there is a holder, and each holder that comes or leaves is an event")
  func hold_withTwoHolders_endsWithTheLast() throws {
    let first = try fixture.hold("dnd")
    let second = try fixture.hold("dnd", by: "berta")
    #expect(first != second)
    #expect(fixture.machine.holdsInForce == ["dnd"])
    try fixture.release(first)
    #expect(fixture.machine.holdsInForce == ["dnd"])
    try fixture.release(second)
    #expect(fixture.machine.holdsInForce == [])
    #expect(fixture.taken() == ["hold dnd", "hold dnd", "hold dnd", "hold dnd over"])
    #expect(try fixture.release(second) == false)
  }

  @Test("H1: a holder has the time of its beginning, its message and its client")
  func holder_beginning_isDated() throws {
    fixture.machine.wallClockLead = 5_000_000_000
    let request = try HoldRequest("dnd", message: "a talk")
    _ = try fixture.machine.hold(request, by: "berta", at: Instant(nanoseconds: 1_000_000_000))
    let holder = try #require(fixture.machine.holders.first).holder
    #expect(holder.since == 6000 && holder.message == "a talk" && holder.client == "berta")
    #expect(holder.expires == nil && !holder.isOwned)
  }

  @Test("H1: an owned hold ends with its client, another one does not")
  func hold_ownerLeaves_ends() throws {
    try fixture.hold("dnd", owned: true, by: "berta")
    try fixture.hold("quiet", by: "berta")
    #expect(fixture.owners == ["berta"])
    try fixture.present("note")
    #expect(fixture.phase(1) == "waiting")
    fixture.leave("berta")
    #expect(fixture.machine.holdsInForce == ["quiet"])
    #expect(fixture.phase(1) == "presenting")
  }

  @Test("H1: a hold with a timeout ends by itself")
  func hold_timeout_ends() throws {
    try fixture.hold("dnd", timeout: 100)
    try fixture.present("note")
    fixture.pass(99)
    #expect(fixture.phase(1) == "waiting")
    fixture.pass(1)
    #expect(fixture.phase(1) == "presenting")
    #expect(fixture.machine.holders.isEmpty)
  }

  @Test("L1: holders have a limit")
  func holders_beyondLimit_areRefused() throws {
    var limits = Limits()
    limits.entries = 1
    let fixture = RulesFixture(limits: limits)
    try fixture.hold("dnd")
    #expect(throws: Refusal.self) { try fixture.hold("quiet") }
  }

  @Test(
    "H1: the name of a hold is one name",
    arguments: ["", "a.b", "a[0]", "1", "a b", String(repeating: "a", count: 256)])
  func hold_name_isChecked(name: String) {
    #expect(throws: Refusal.self) { try HoldRequest(name) }
  }

  // MARK: H2

  @Test("H2: a fact of the session is a hold that nobody can release")
  func fact_ofSession_isHold() throws {
    fixture.set(.locked, true)
    fixture.set(.locked, true)
    #expect(fixture.taken() == ["hold locked"])
    #expect(fixture.machine.holders.map(\.key) == [Holder.Key(.locked)])
    #expect(try fixture.release("locked", 0) == 0)
    #expect(try fixture.release("locked") == 0)
    let own = try fixture.hold("locked")
    fixture.set(.locked, false)
    #expect(fixture.machine.holdsInForce == ["locked"])
    try fixture.release(own)
    #expect(fixture.machine.holdsInForce == [])
  }

  @Test("H2, R5: while navd quits, facts of the session change nothing")
  func fact_duringQuit_changesNothing() throws {
    try fixture.show("guard", "", ItemOptions())
    fixture.shutDown()
    _ = fixture.taken()
    fixture.set(.locked, true)
    #expect(fixture.taken() == [] && fixture.machine.facts == [])
  }

  // MARK: H3

  @Test("H3: a destination's word about a hold counts before that for all; an item without either is shown")
  func action_ofDestination_countsFirst() throws {
    fixture.machine.setHolds(["dnd": .postpone])
    try fixture.hold("dnd")
    try fixture.present("alarm")
    try fixture.present("plain", "", .with(to: "cmd"))
    #expect([1, 2].map { fixture.phase($0) } == ["presenting", "waiting"])
    #expect(fixture.machine.heldBy(fixture.machine.presentation(2)!) == ["dnd"])
  }

  @Test("H3: refuse refuses new presentations, and lets updates and removals pass")
  func refuse_inForce_refusesNewOnes() throws {
    let offer = try fixture.show("offer", "1", ItemOptions())
    try fixture.hold("dnd")
    try fixture.present("offer", "1", .with(title: "T"))
    #expect(fixture.refusal(.present("offer", id: "2", ItemOptions())) == .held)
    #expect(fixture.refusal(of: .dismiss("offer"), .present("offer", id: "2", ItemOptions()))?.index == 1)
    try fixture.dismiss("offer")
    fixture.goes(offer)
    #expect(fixture.refusal(.present("offer", id: "", ItemOptions())) == .held)
    #expect(fixture.shown == [])
  }

  @Test("H3: of several holds, refuse precedes dismiss, and dismiss precedes postpone")
  func actions_several_strongestCounts() throws {
    fixture.machine.setHolds(["a": .postpone, "b": .refuse, "c": .dismiss])
    try fixture.hold("a")
    let b = try fixture.hold("b")
    try fixture.hold("c")
    #expect(fixture.refusal(.present("x", id: "", ItemOptions())) == .held)
    try fixture.release(b)
    try fixture.present("x")
    #expect(fixture.phase(1) == "waiting")
  }

  @Test("H3: an item that was accepted before refuse is postponed")
  func refuse_queuedBefore_waits() throws {
    fixture.machine.setHolds(["dnd": .refuse])
    try fixture.present("a", "", .with(group: "g"))
    try fixture.present("b", "", .with(group: "g", ifBusy: .queue))
    let cookie = try fixture.hold("dnd")
    try fixture.dismiss("a")
    #expect(fixture.phase(2) == "waiting")
    #expect(fixture.machine.queuedTags(of: "g") == ["b"])
    try fixture.release(cookie)
    #expect(fixture.phase(2) == "presented")
  }

  @Test("H3: the refusal names the holds that refuse, and no other")
  func refuse_severalHolds_areNamed() throws {
    let fixture = RulesFixture(destinations: [
      Self.destination("call", ["dnd": .refuse, "quiet": .refuse, "game": .postpone, "locked": .refuse])
    ])
    for name in ["dnd", "quiet", "game", "other"] { try fixture.hold(name) }
    let refusal = fixture.refusal(of: .present("call", id: "", ItemOptions()))
    #expect(refusal?.message == "“call” is held by “dnd” and “quiet”; wait until that ends, or release it")
  }

  // MARK: H4

  @Test("H4: a postponed item waits, and so do its children, until the hold ends")
  func postponed_holdEnds_comes() throws {
    let cookie = try fixture.hold("dnd")
    try fixture.present("note")
    try fixture.present("note.child")
    #expect(fixture.taken() == ["hold dnd", "waiting note", "waiting note.child"])
    try fixture.release(cookie)
    fixture.shows(1)
    #expect(
      fixture.taken() == [
        "hold dnd over", "presenting note", "present 1 note", "presented note", "presented note.child",
      ])
  }

  @Test("H4: a held member displaces no other, and waits in the queue")
  func heldMember_otherSelected_isQueued() throws {
    try fixture.present("a", "", .with(group: "g"))
    let cookie = try fixture.hold("dnd")
    try fixture.present("note", "", note(.with(group: "g")))
    #expect(fixture.machine.selection(of: "g") == "a")
    #expect(fixture.machine.queuedTags(of: "g") == ["note"])
    // Selecting the held member makes no difference.
    try fixture.ask(.select("g", tag: "note", binding: nil, id: nil, ItemOptions()))
    #expect(fixture.machine.selection(of: "g") == "a")
    try fixture.release(cookie)
    #expect(fixture.machine.selection(of: "g") == "a")
    try fixture.dismiss("a")
    #expect(fixture.machine.selection(of: "g") == "note")
  }

  @Test(
    "H4: a held member is never selected; others come at once, and it is not dropped for them",
    arguments: BusyPolicy.allCases)
  func heldMember_othersCome_itWaits(policy: BusyPolicy) throws {
    let cookie = try fixture.hold("dnd")
    try fixture.present("note", "1", note(.with(group: "g")))
    try fixture.present("offer", "", .with(to: "note", group: "g"))
    #expect(fixture.machine.selection(of: "g") == nil)
    #expect(fixture.machine.queuedTags(of: "g") == ["note", "offer"])
    #expect(fixture.machine.heldBy(fixture.machine.presentation(1)!) == ["dnd"])
    try fixture.present("a", "", .with(group: "g", ifBusy: policy))
    #expect(fixture.machine.selection(of: "g") == "a")
    #expect(fixture.phase(3) == "presented")
    try fixture.release(cookie)
    #expect(fixture.machine.queuedTags(of: "g") == ["note", "offer"])
    try fixture.dismiss("a")
    #expect(fixture.machine.selection(of: "g") == "note")
    #expect(fixture.phase(1) == "presenting")
    fixture.shows(1)
    try fixture.dismiss("note")
    fixture.goes(1)
    #expect(fixture.machine.selection(of: "g") == "offer")
  }

  @Test("H4, G7: a group whose only members wait for a hold stays, though it remembers no tag")
  func heldMembers_withoutRememberedTags_stay() throws {
    try fixture.hold("dnd")
    try fixture.present("a", "", .with(to: "bare", group: "g"))
    try fixture.present("b", "", note(.with(group: "g")))
    for tag in ["a", "b"] { try fixture.ask(.forget("g", tag: tag)) }
    try fixture.dismiss("a")
    #expect(fixture.machine.queuedTags(of: "g") == ["b"] && fixture.machine.selection(of: "g") == nil)
    try fixture.dismiss("b")
    #expect(fixture.machine.groupNames == [])
  }

  @Test("H4, P15: a forced selection of a held member forces the item that it replaces")
  func heldMember_selectedByForce_forcesWhatItReplaces() throws {
    try fixture.show("y", "1", .with(to: "alarm"))
    try fixture.hold("dnd")
    _ = fixture.taken()
    try fixture.ask(.select("g", tag: "y", binding: "y", id: "2", .with(to: "note", group: "g")), isForced: true)
    #expect(fixture.taken() == ["group g y · y", "dismissing y 1", "waiting y 2", "dismiss 1 replaced forced"])
  }

  @Test("H4: a member that comes after a held one in a transaction neither waits for it nor drops it")
  func heldMember_inTransaction_blocksNobody() throws {
    try fixture.hold("dnd")
    try fixture.apply(
      .present("note", id: "", note(.with(group: "g"))), .present("a", id: "", .with(group: "g", ifBusy: .refuse)))
    #expect(fixture.machine.selection(of: "g") == "a")
    #expect(fixture.machine.queuedTags(of: "g") == ["note"])
  }

  @Test("H4, T1: a member on the screen stays selected, even if one transaction dismisses and presents it")
  func liveMember_holdBegins_staysSelected() throws {
    try fixture.present("note", "", note(.with(group: "g")))
    fixture.shows(1)
    try fixture.hold("dnd")
    try fixture.apply(.dismiss("note"), .present("note", id: "", note(.with(group: "g"))))
    #expect(fixture.machine.selection(of: "g") == "note")
    #expect(fixture.phase(1) == "presented")
    try fixture.apply(.dismiss("note"), .present("note", id: "2", note(.with(group: "g"))))
    #expect(fixture.machine.selection(of: "g") == nil)
    #expect(fixture.machine.queuedTags(of: "g") == ["note"])
  }

  @Test(
    "H4: a selected member that waits when the hold begins returns to the queue, before all others; its children end")
  func waitingMember_holdBegins_isQueuedFirst() throws {
    try fixture.show("old", "", .with(to: "bus", group: "g"))
    try fixture.present("a", "", .with(group: "g", ifBusy: .queue))
    try fixture.present("note", "", note(.with(group: "g")))
    try fixture.present("note.child")
    #expect(fixture.machine.selection(of: "g") == "note")
    let cookie = try fixture.hold("dnd")
    #expect(fixture.ending(4)?.reason == .parent)
    #expect(fixture.machine.selection(of: "g") == "a")
    #expect(fixture.machine.queuedTags(of: "g") == ["note"])
    fixture.goes(1)
    #expect(fixture.phase(2) == "presented")
    try fixture.present("b", "", .with(group: "g", ifBusy: .queue))
    try fixture.release(cookie)
    #expect(fixture.machine.queuedTags(of: "g") == ["note", "b"])
    try fixture.dismiss("a")
    #expect(fixture.machine.selection(of: "g") == "note")
  }

  @Test("H4, K3: a member that is to be presented again while it is held waits in the queue, before all others")
  func heldMember_restarts_isQueuedFirst() throws {
    var destination = Destination(
      name: "board", presenter: .command([[1]]), source: RulesFixture.file("board"))
    var settings = ItemSettings()
    (settings.restart, settings.holds) = (RestartRule(.always), ["dnd": .postpone])
    destination.itemSettings = Shared(settings)
    let fixture = RulesFixture(destinations: [destination])
    try fixture.show("board", "", .with(group: "g"))
    try fixture.hold("dnd")
    fixture.ends(1, failed: true)
    #expect(fixture.machine.selection(of: "g") == nil)
    #expect(fixture.machine.queuedTags(of: "g") == ["board"])
    try fixture.present("a", "", .with(group: "g", ifBusy: .queue))
    #expect(fixture.machine.selection(of: "g") == "a")
  }

  @Test("H4: a queued member that is held keeps its place, whoever asks for it again; a toggle of its tag ends it")
  func heldMember_askedForAgain_keepsItsPlace() throws {
    try fixture.hold("dnd")
    try fixture.present("note", "1", note(.with(group: "g")))
    try fixture.present("offer", "", .with(to: "note", group: "g"))
    try fixture.present("note", "1", .with(title: "T"))
    try fixture.ask(.select("g", tag: "note", binding: nil, id: nil, ItemOptions()))
    #expect(fixture.machine.queuedTags(of: "g") == ["note", "offer"])
    #expect(fixture.handle("note") == 1)
    try fixture.ask(.toggleSelection("g", tag: "note", binding: nil, id: nil, ItemOptions()))
    #expect(fixture.machine.queuedTags(of: "g") == ["offer"])
    #expect(fixture.ending(1)?.reason == .deselected)
  }

  @Test(
    "H4, T1: a held member that one transaction dismisses and presents keeps its place, whatever is said for all"
  )
  func heldMember_cameBack_keepsItsPlace() throws {
    try fixture.hold("dnd")
    try fixture.present("note", "1", note(.with(group: "g")))
    try fixture.present("offer", "", .with(to: "note", group: "g"))
    // Without a destination, the item of this request would not be held; but the presentation of the held one stays.
    try fixture.present("x", "", .with(to: "note", group: "g"))
    try fixture.apply(.dismiss("x"), .present("x", id: "", .with(group: "g")))
    #expect(fixture.machine.selection(of: "g") == nil)
    #expect(fixture.machine.queuedTags(of: "g") == ["note", "offer", "x"])
    #expect(fixture.handle("x") == 3)
  }

  @Test("H4: a held member of a stack cannot wait in a queue, and is refused")
  func heldMember_inStack_isRefused() throws {
    try fixture.hold("dnd")
    #expect(fixture.refusal(.push("s", "note", id: "", note(.with(group: "g")))) == .held)
    try fixture.present("a", "", .with(group: "g"))
    #expect(fixture.refusal(.push("s", "note", id: "", note(.with(group: "g")))) == .held)
    try fixture.ask(.push("s", "note", id: "", note()))
    #expect(fixture.phase(2) == "waiting")
  }

  @Test("H4: an element of a stack that is its group's selection, and waits when the hold begins, ends as held")
  func waitingElement_holdBegins_ends() throws {
    try fixture.show("old", "", .with(to: "bus", group: "g"))
    try fixture.ask(.push("s", "note", id: "", note(.with(group: "g"))))
    try fixture.ask(.push("s", "above", id: "", ItemOptions()))
    try fixture.hold("dnd")
    #expect([2, 3].map { fixture.ending($0)?.reason } == [.held, .popped])
    #expect(fixture.machine.selection(of: "g") == nil)
  }

  @Test("H4: several elements of a stack that wait when the hold begins each end as held")
  func waitingElements_holdBegins_endAsHeld() throws {
    try fixture.show("old", "", .with(to: "bus", group: "g"))
    try fixture.show("other", "", .with(to: "bus", group: "h"))
    try fixture.ask(.push("s", "note", id: "", note(.with(group: "g"))))
    try fixture.ask(.push("s", "upper", id: "", note(.with(group: "h"))))
    try fixture.hold("dnd")
    #expect([3, 4].map { fixture.ending($0)?.reason } == [.held, .held])
  }

  @Test("H4: an element of a stack ends as held, although its parent returns to the queue by the same hold")
  func waitingElement_itsParentWaits_endsAsHeld() throws {
    try fixture.show("old", "", .with(to: "bus", group: "h"))
    try fixture.present("parent", "", note(.with(group: "h")))
    try fixture.ask(.push("s", "note", id: "", note(.with(from: "parent", group: "g"))))
    try fixture.hold("dnd")
    #expect(fixture.ending(3)?.reason == .held)
    #expect(fixture.machine.queuedTags(of: "h") == ["parent"])
  }

  @Test("H4, K1: a fallback that is held stays selected, and blocks nobody")
  func heldFallback_isSelected_blocksNobody() throws {
    let fixture = RulesFixture(
      destinations: [HoldTests.destination("note", ["dnd": .postpone])], fallbacks: ["g": "note"])
    try fixture.hold("dnd")
    #expect(fixture.machine.selection(of: "g") == "note")
    #expect(fixture.phase(1) == "waiting")
    try fixture.present("a", "", .with(group: "g", ifBusy: .refuse))
    #expect(fixture.machine.selection(of: "g") == "a")
  }

  @Test("H4, K1: a held member that is the fallback no longer waits in the queue")
  func heldMember_noLongerFallback_waitsInQueue() throws {
    let fixture = RulesFixture(
      destinations: [HoldTests.destination("note", ["dnd": .postpone])], fallbacks: ["g": "note"])
    try fixture.hold("dnd")
    try fixture.present("note", "2", note(.with(group: "g")))
    #expect(fixture.machine.selection(of: "g") == "note")
    fixture.machine.load(groups: ["g": GroupSettings(fallback: "bare")])
    fixture.take(fixture.machine.expire(at: fixture.now))
    #expect(fixture.machine.selection(of: "g") == "bare" && fixture.machine.queuedTags(of: "g") == ["note"])
  }

  @Test("H3, K1: a fallback that a hold refuses to clients comes all the same, and waits")
  func refusedFallback_isSelected_waits() throws {
    let fixture = RulesFixture(
      destinations: [HoldTests.destination("offer", ["dnd": .refuse])], fallbacks: ["g": "offer"])
    try fixture.hold("dnd")
    #expect(fixture.machine.selection(of: "g") == "offer" && fixture.refusedFallbacks == [])
    #expect(fixture.phase(1) == "waiting")
    try fixture.dismiss("offer")
    #expect(fixture.machine.selection(of: "g") == "offer" && fixture.refusedFallbacks == [])
    #expect(fixture.refusal(.present("offer", id: "2", .with(group: "g"))) == .held)
  }

  @Test("H4: queues pass over held members, and are served when the hold ends")
  func queue_ofHeld_isPassedOver() throws {
    try fixture.present("a", "", .with(group: "g"))
    try fixture.present("note", "", note(.with(group: "g", ifBusy: .queue)))
    try fixture.present("c", "", .with(group: "g", ifBusy: .queue))
    let cookie = try fixture.hold("dnd")
    try fixture.dismiss("a")
    #expect(fixture.machine.selection(of: "g") == "c")
    try fixture.dismiss("c")
    #expect(fixture.machine.selection(of: "g") == nil)
    #expect(fixture.machine.queuedTags(of: "g") == ["note"])
    fixture.log.removeAll()
    try fixture.release(cookie)
    #expect(
      fixture.taken() == [
        "hold dnd over", "selection g note", "group g note ·", "presenting note", "present 2 note",
      ])
  }

  // MARK: H5

  @Test("H5: a hold ends the items that it dismisses, once; nobody may decline that for a lock")
  func dismiss_holdBegins_endsLiveOnes() throws {
    let secret = try fixture.show("secret", "", ItemOptions())
    try fixture.hold("dnd")
    #expect(fixture.taken() == ["hold dnd", "dismissing secret", "dismiss 1 held"])
    fixture.declines(secret)
    #expect(fixture.phase(secret) == "presented")
    fixture.log.removeAll()
    try fixture.hold("dnd")
    #expect(fixture.taken() == ["hold dnd"])
    fixture.set(.locked, true)
    #expect(fixture.taken() == ["hold locked", "dismissing secret", "dismiss 1 held forced"])
    fixture.goes(secret)
    #expect(fixture.ending(secret)?.reason == .held)
    fixture.set(.locked, false)
    #expect(fixture.shown == [])
  }

  @Test("H5: a lock also forces a dismissal that is under way")
  func dismissal_underWay_isForcedByLock() throws {
    let secret = try fixture.show("secret", "", ItemOptions())
    try fixture.dismiss("secret")
    try fixture.asks(secret)
    fixture.log.removeAll()
    fixture.set(.locked, true)
    #expect(fixture.taken() == ["hold locked", "asking 1 no more", "dismiss 1 dismissed forced"])
  }

  @Test("H5: a waiting item stays, and is presented when the hold ends")
  func dismiss_waiting_isPostponed() throws {
    fixture.set(.locked, true)
    try fixture.present("secret")
    #expect(fixture.phase(1) == "waiting")
    fixture.set(.locked, false)
    #expect(fixture.phase(1) == "presenting")
  }

  @Test("H5, D12: no hold ends a protected item")
  func dismiss_protected_stays() throws {
    let guardian = try fixture.show("guard", "", ItemOptions())
    fixture.set(.locked, true)
    #expect(fixture.phase(guardian) == "presented")
  }

  // MARK: H6

  @Test("H6: an item that waits too long ends unseen")
  func within_held_expires() throws {
    try fixture.hold("dnd")
    try fixture.present("note", "", .with(within: 100))
    fixture.pass(99)
    #expect(fixture.shown == ["note"])
    fixture.pass(1)
    #expect(fixture.ending(1)?.reason == .expired)
  }

  @Test("H6: a request for the same id with `within` starts the time again, one without lets it go on, and 0 ends it")
  func within_repeated_startsAgain() throws {
    try fixture.hold("dnd")
    try fixture.present("note", "", .with(within: 100))
    fixture.pass(50)
    try fixture.present("note", "", .with(within: 100))
    fixture.pass(60)
    try fixture.present("note")
    fixture.pass(39)
    #expect(fixture.shown == ["note"])
    fixture.pass(1)
    #expect(fixture.shown == [])
    try fixture.present("note", "", .with(within: 100))
    try fixture.present("note", "", .with(within: 0))
    fixture.pass(1000)
    #expect(fixture.shown == ["note"])
  }

  @Test("H6: the time to wait ends for good when the item is presented")
  func within_presented_isOver() throws {
    let handle = try fixture.show("note", "", .with(within: 100))
    try fixture.present("note", "", .with(within: 10))
    fixture.pass(1000)
    #expect(fixture.phase(handle) == "presented")
  }

  // MARK: H8

  /// A locker, whose destination holds “locked”.
  private static func locker(_ holds: [String: HoldAction] = [:]) -> Destination {
    var locker = RulesFixture.bus("locker")
    var settings = ItemSettings()
    (settings.hold, settings.holds) = ("locked", holds)
    locker.itemSettings = Shared(settings)
    return locker
  }

  private func withLocker() throws -> RulesFixture {
    let fixture = RulesFixture(destinations: [
      Self.locker(), HoldTests.destination("note", ["locked": .postpone]),
      HoldTests.destination("secret", ["locked": .dismiss]),
    ])
    return fixture
  }

  @Test("H8: a hold is in force while the item of its destination is live, and does what every hold does")
  func hold_ofItem_isInForceWhileItIsLive() throws {
    let fixture = try withLocker()
    let secret = try fixture.show("secret", "", ItemOptions())
    try fixture.present("locker")
    #expect(
      fixture.taken() == [
        "hold locked", "presenting locker", "dismissing secret", "present 2 locker", "dismiss \(secret) held forced",
      ])
    try fixture.present("note")
    #expect(fixture.phase(3) == "waiting")
    #expect(fixture.machine.holding.map(\.name) == ["locked"])
    fixture.shows(2)
    try fixture.dismiss("locker")
    #expect(fixture.machine.holdsInForce == ["locked"])
    fixture.log.removeAll()
    fixture.goes(2)
    #expect(fixture.taken() == ["dismissed locker dismissed", "hold locked over", "presenting note", "present 3 note"])
    #expect(fixture.machine.holdsInForce == [] && fixture.machine.holders.isEmpty)
  }

  @Test("H8: an item that ends before its turn has held nothing")
  func hold_ofItemThatWaited_neverBegan() throws {
    let fixture = try withLocker()
    try fixture.show("slot", "1", .with(to: "cmd"))
    try fixture.present("slot", "2", .with(to: "locker"))
    _ = fixture.taken()
    try fixture.dismiss("slot")
    #expect(fixture.taken() == ["dismissed slot 2 dismissed"])
    let isHolding = fixture.machine.isHolding
    #expect(!isHolding)
  }

  @Test("H4, H8: an item waits for holds only while it is not on the screen")
  func heldBy_shownItem_isNothing() throws {
    let fixture = try withLocker()
    let note = try fixture.show("note", "", ItemOptions())
    try fixture.present("locker")
    try fixture.present("late", "", .with(to: "note"))
    let held = try [note, fixture.machine.lastHandle].map { handle in
      let presentation = fixture.machine.presentation(handle)
      return fixture.machine.heldBy(try #require(presentation))
    }
    let isHolding = fixture.machine.isHolding
    #expect(held == [[], ["locked"]] && isHolding)
  }

  @Test("H8: an item is one of several holders, and ends only its own hold, even if it could not be shown")
  func hold_ofItem_amongOthers_endsForItself() throws {
    let fixture = try withLocker()
    let cookie = try fixture.hold("locked")
    try fixture.present("locker")
    fixture.fails(1)
    #expect(fixture.machine.holdsInForce == ["locked"])
    try fixture.present("locker")
    try fixture.release(cookie)
    #expect(fixture.machine.holdsInForce == ["locked"])
    fixture.shows(2)
    fixture.ends(2)
    #expect(fixture.machine.holdsInForce == [])
  }

  @Test("H8: an item is not held by its own hold, whoever holds under that name, and whatever is said for all")
  func hold_itsOwn_doesNotHoldIt() throws {
    let fixture = try withLocker()
    fixture.machine.setHolds(["locked": .postpone])
    fixture.set(.locked, true)
    try fixture.present("other")
    try fixture.present("locker", "", .with(group: "g"))
    #expect([1, 2].map { fixture.phase($0) } == ["waiting", "presenting"])
    #expect(fixture.machine.selection(of: "g") == "locker")
  }

  @Test("H8, K1: what waited for the hold of an item comes when that is gone, and no fallback is started before it")
  func hold_ofItem_ends_queueComesBeforeTheFallback() throws {
    let locker = Self.locker()
    let fixture = RulesFixture(
      destinations: [locker, HoldTests.destination("note", ["locked": .postpone]), RulesFixture.bus("home")],
      fallbacks: ["main": "home"])
    try fixture.show("locker", "", .with(group: "main"))
    try fixture.present("note", "", .with(group: "main"))
    try fixture.dismiss("locker")
    let home = try #require(fixture.handle("home"))
    #expect(fixture.phase(home) == "waiting")
    fixture.log.removeAll()
    fixture.goes(try #require(fixture.machine.allPresentations.first { $0.binding == "locker" }).handle)
    #expect(
      fixture.taken() == [
        "dismissed locker dismissed", "hold locked over", "selection main note", "group main note ·",
        "dismissed home deselected", "presenting note", "present 2 note",
      ])
  }

  @Test("H8: two fallbacks that dismiss each other, and return, do not go on for ever in one input")
  func holds_ofFallbacks_thatDismissEachOther_areBounded() throws {
    func destination(_ name: String, hold: String, dismissedBy other: String) -> Destination {
      var settings = ItemSettings()
      (settings.hold, settings.holds) = (hold, [other: .dismiss])
      return Destination(
        name: name, presenter: .none, source: RulesFixture.file(name), itemSettings: Shared(settings))
    }
    let fixture = RulesFixture(
      destinations: [
        destination("a", hold: "x", dismissedBy: "y"), destination("b", hold: "y", dismissedBy: "x"),
      ], fallbacks: ["g": "a", "h": "b"])
    fixture.report(.updateAnswered(1))
    #expect(fixture.machine.selection(of: "g") == "a" && fixture.machine.selection(of: "h") == "b")
  }

  @Test("H8, L2: items whose holds end one another in a long row do so in one input")
  func holds_ofItems_endingOneAnother_areSettled() throws {
    // Each one ends the one before, which has postponed all after the next one.
    let last = 30
    let destinations = (0...last).map { number in
      var settings = ItemSettings()
      settings.hold = "h\(number)"
      for earlier in 0..<max(0, number - 1) { settings.holds["h\(earlier)"] = .postpone }
      settings.holds["h\(number + 1)"] = .dismiss
      return Destination(
        name: "i\(number)", presenter: .none, source: RulesFixture.file("i\(number)"), itemSettings: Shared(settings))
    }
    let fixture = RulesFixture(destinations: destinations)
    for number in [0] + Array(2...last) { try fixture.present(try BindingID("i\(number)")) }
    #expect(fixture.machine.holdsInForce == ["h0"])
    try fixture.present("i1")
    #expect(fixture.shown == ["i\(last)"])
    #expect(fixture.machine.holdsInForce == ["h\(last)"])
    try fixture.clearAway()
  }

  @Test("H8, R2: after a restart, an item's hold is in force from the start, and ends once, with the item")
  func restart_holdingItem_holds() throws {
    var disk = RecordedState()
    let now = Instant(nanoseconds: 1_000_000_000)
    var machine = try StateMachine(restoring: disk)
    _ = machine.load([Self.locker(), HoldTests.destination("note", ["locked": .postpone])])
    _ = try machine.perform(Request(.present("locker", id: "", ItemOptions())), by: nil, at: now)
    _ = try machine.perform(Request(.present("note", id: "", ItemOptions())), by: nil, at: now)
    disk.apply(machine.takeUnrecorded())
    #expect(disk.holders.isEmpty)
    machine = try StateMachine(restoring: disk)
    #expect(machine.holdsInForce == ["locked"])
    _ = machine.resume([1: .shown], absent: [], at: now)
    #expect(machine.holdsInForce == ["locked"] && machine.presentation(2)?.phase == .waiting)
    disk.apply(machine.takeUnrecorded())
    machine = try StateMachine(restoring: disk)
    let outcome = machine.resume([1: .gone(result: [:])], absent: [], at: now)
    #expect(outcome.changes.filter { $0.event == .hold("locked", isInForce: false) }.count == 1)
    #expect(machine.holdsInForce == [] && machine.presentation(2)?.phase == .presenting)
  }

  @Test("H8, R2: after a restart, an item that still waits does not hold")
  func restart_waitingItem_doesNotHold() throws {
    var machine = try StateMachine(restoring: RecordedState())
    _ = machine.load([Self.locker()])
    let now = Instant(nanoseconds: 1_000_000_000)
    _ = try machine.perform(Request(.present("p", id: "", .with(command: ["foot"]))), by: nil, at: now)
    _ = try machine.perform(Request(.present("p.lock", id: "", .with(to: "locker"))), by: nil, at: now)
    var disk = RecordedState()
    disk.apply(machine.takeUnrecorded())
    machine = try StateMachine(restoring: disk)
    #expect(machine.holdsInForce == [] && machine.presentation(2)?.phase == .waiting)
  }

  // MARK: Restarts

  /// A machine that can be restarted from its record.
  private final class Recorded {
    var machine: StateMachine
    var disk = RecordedState()
    let now = Instant(nanoseconds: 1_000_000_000)

    init() throws {
      machine = try StateMachine(restoring: disk)
      _ = machine.load([HoldTests.destination("note", ["dnd": .postpone, "locked": .dismiss])])
    }

    func restart() throws {
      disk.apply(machine.takeUnrecorded())
      machine = try StateMachine(restoring: disk)
    }
  }

  @Test("H4, C1: a held member of an empty group waits in the queue, though it has a parent")
  func heldMember_withParent_isQueued() throws {
    let fixture = RulesFixture()
    try fixture.present("p")
    fixture.machine.setHolds(["dnd": .postpone])
    let cookie = try fixture.hold("dnd")
    try fixture.present("p.m", "", .with(group: "g", tag: "m"))
    #expect(fixture.machine.queuedTags(of: "g") == ["m"] && fixture.parent("p.m") == fixture.handle("p"))
    try fixture.release(cookie)
    #expect(fixture.machine.selection(of: "g") == "m")
    try fixture.clearAway()
  }

  @Test("H1, R2: holds, cookies and the items that wait for them survive a restart")
  func restart_heldItem_waits() throws {
    let recorded = try Recorded()
    let (cookie, _) = try recorded.machine.hold(HoldRequest("dnd"), by: "anna", at: recorded.now)
    _ = try recorded.machine.hold(HoldRequest("quiet", isOwned: true), by: "berta", at: recorded.now)
    var options = ItemOptions()
    options.within = 100
    _ = try recorded.machine.perform(Request(.present("note", id: "", options)), by: nil, at: recorded.now)
    try recorded.restart()
    #expect(recorded.machine.knownClients == ["berta"])
    _ = recorded.machine.resume([:], absent: ["berta"], at: recorded.now)
    #expect(recorded.machine.holdsInForce == ["dnd"])
    #expect(recorded.machine.current(at: "note")?.phase == .waiting)
    #expect(recorded.machine.nextDeadline == recorded.now.after(milliseconds: 100))
    let (_, outcome) = recorded.machine.releaseHold("dnd", cookie: cookie, at: recorded.now)
    #expect(outcome.commands == [.present(1)])
  }

  @Test("H5: facts count as recorded until they are known; items that they end by then are not presented again")
  func restart_facts_areBroughtUpToDate() throws {
    let recorded = try Recorded()
    _ = recorded.machine.set(.locked, true, at: recorded.now)
    _ = try recorded.machine.perform(Request(.present("note", id: "", ItemOptions())), by: nil, at: recorded.now)
    try recorded.restart()
    #expect(recorded.machine.resume([:], absent: [], at: recorded.now).commands == [])
    try recorded.restart()
    #expect(
      recorded.machine.resume([:], absent: [], facts: [.locked: false], at: recorded.now).commands == [.present(1)])
    try recorded.restart()
    let outcome = recorded.machine.resume([1: .toBeShown], absent: [], facts: [.locked: true], at: recorded.now)
    #expect(outcome.commands == [.dismiss(1, .held, animated: true, isForced: true)])
    #expect(outcome.changes.first?.event == .hold("locked", isInForce: true))
    try recorded.restart()
    let again = recorded.machine.resume(
      [1: .shown], absent: [], facts: [.locked: true, .idle: false], at: recorded.now)
    #expect(again.changes.isEmpty, "nothing has changed since")
  }

  @Test("H4: a held item that is recorded as its group's selection is put into the queue")
  func restart_heldSelection_isQueued() throws {
    let recorded = try Recorded()
    var member = ItemOptions()
    (member.group, member.ifBusy) = ("g", .queue)
    _ = try recorded.machine.perform(Request(.present("note", id: "", member)), by: nil, at: recorded.now)
    _ = try recorded.machine.perform(Request(.present("alarm", id: "", member)), by: nil, at: recorded.now)
    #expect(recorded.machine.queuedTags(of: "g") == ["alarm"])
    recorded.disk.apply(recorded.machine.takeUnrecorded())
    // The hold began while the item was selected.
    recorded.disk.presentations[1]!.presentation.phase = .waiting
    var holder = Holder()
    holder.client = "anna"
    recorded.disk.holders[Holder.Key(name: "dnd", cookie: 1)] = holder
    recorded.machine = try StateMachine(restoring: recorded.disk)
    _ = recorded.machine.resume([:], absent: [], at: recorded.now)
    #expect(recorded.machine.brokenInvariants() == [])
    #expect(recorded.machine.selection(of: "g") == "alarm")
    #expect(recorded.machine.queuedTags(of: "g") == ["note"])
  }

  @Test("R8: holds of clients do not outlive their session")
  func restart_otherSession_dropsHolds() throws {
    let recorded = try Recorded()
    _ = try recorded.machine.hold(HoldRequest("dnd"), by: "anna", at: recorded.now)
    _ = recorded.machine.set(.idle, true, at: recorded.now)
    try recorded.restart()
    _ = recorded.machine.resume([:], absent: [], isOtherSession: true, at: recorded.now)
    #expect(recorded.machine.holdsInForce == ["idle"])
  }
}
