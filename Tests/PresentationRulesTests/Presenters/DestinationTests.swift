import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

/// Destinations and presenters: registrations, presenters that leave and come back, results, updates and reports (D1 to D11).
@Suite struct DestinationTests {
  let fixture = RulesFixture()

  private func destination(_ name: String, by client: Client, style: String? = nil) -> Destination {
    Destination(name: name, presenter: .bus(name: client.name, path: "/"), style: style, source: .client(client))
  }

  // MARK: D1

  @Test("D1: the last registration of a name wins; when that client leaves, the one before is back")
  func register_again_lastWins() throws {
    func style() -> String? { fixture.machine.destinations.first { $0.name == "cmd" }?.style }
    try fixture.register(destination("cmd", by: "bert", style: "bert"), by: "bert")
    #expect(style() == "bert")
    try fixture.register(destination("cmd", by: "carl", style: "carl"), by: "carl")
    #expect(style() == "carl")
    try fixture.register(destination("cmd", by: "bert", style: "bert again"), by: "bert")
    #expect(style() == "bert again")
    fixture.leave("bert")
    #expect(style() == "carl")
    fixture.leave("carl")
    #expect(style() == nil)
    #expect(fixture.machine.destinations.map(\.name) == ["bare", "bus", "cmd", "unit"])
    #expect(fixture.machine.state.registry.ofClients.isEmpty)
  }

  @Test("D1: a client can take back its own registration, and no other")
  func unregister_own_backToTheOneBefore() throws {
    try fixture.register(destination("x", by: "bert"), by: "bert")
    #expect(throws: Refusal.self) { try fixture.unregister("x", by: "carl") }
    #expect(throws: Refusal.self) { try fixture.unregister("cmd", by: "bert") }
    try fixture.unregister("x", by: "bert")
    #expect(fixture.refusal(.present("a", id: "", .with(to: "x"))) == .unknownDestination)
    #expect(throws: Refusal.self) { try fixture.unregister("x", by: "bert") }
    #expect(fixture.machine.knownClients == [])
  }

  @Test("D1, G7: a tag whose destination is gone is refused with the tag, until it is forgotten")
  func select_destinationGone_namesTheTag() throws {
    try fixture.register(destination("own", by: "bert"), by: "bert")
    try fixture.ask(.select("g", tag: "t", binding: nil, id: nil, .with(to: "own")))
    fixture.leave("bert")
    fixture.fails(1)
    let select = Request.Operation.select("g", tag: "t", binding: nil, id: nil, ItemOptions())
    let refusal = fixture.refusal(of: select)
    #expect(refusal?.code == .unknownDestination)
    let message = "the tag “t” was last presented by the destination “own”, which is gone; "
    #expect(refusal?.message.contains(message) == true, "\(refusal?.message ?? "")")
    #expect(fixture.refusal(.select("g", tag: "t", binding: nil, id: nil, .with(to: "nobody"))) == .unknownDestination)
    try fixture.ask(.forget("g", tag: "t"))
    try fixture.ask(select)
  }

  @Test("D1, G9: a queued item whose destination is gone is selected all the same, since it keeps the destination")
  func select_queuedWithDestinationGone_isSelected() throws {
    try fixture.register(destination("own", by: "bert"), by: "bert")
    try fixture.present("note", "", .with(group: "g"))
    try fixture.present("t", "", .with(to: "own", group: "g", ifBusy: .queue))
    fixture.leave("bert")
    try fixture.ask(.select("g", tag: "t", binding: nil, id: nil, ItemOptions()))
    #expect(fixture.machine.selection(of: "g") == "t")
    try fixture.clearAway()
  }

  @Test("D1: a reload replaces registrations from files, behind those of clients")
  func load_again_behindClients() throws {
    try fixture.register(destination("cmd", by: "bert", style: "bert"), by: "bert")
    fixture.load([
      Destination(name: "cmd", presenter: .none, style: "file", source: RulesFixture.file("cmd")),
      Destination(name: "new", presenter: .none, source: RulesFixture.file("new")),
    ])
    #expect(fixture.machine.destinations.map(\.name) == ["cmd", "new"])
    #expect(fixture.machine.destinations.first?.style == "bert")
    fixture.leave("bert")
    #expect(fixture.machine.destinations.first?.style == "file")
  }

  @Test("D1: every registration, and every end of one, is a change of the destinations")
  func destinations_changed_areTold() throws {
    let loaded = fixture.machine.load([RulesFixture.bus("x")])
    let registered = try fixture.machine.register(destination("y", by: "bert"), by: "bert", at: fixture.now)
    let unregistered = try fixture.machine.unregister("y", by: "bert")
    _ = try fixture.machine.register(destination("z", by: "bert"), by: "bert", at: fixture.now)
    let left = fixture.machine.clientLeft("bert", at: fixture.now)
    #expect([loaded, registered, unregistered, left].allSatisfy { $0.destinationsChanged })
    let other = fixture.machine.clientLeft("carl", at: fixture.now)
    #expect(!other.destinationsChanged)
  }

  @Test("D1: a live presentation keeps the presenter that it started with")
  func register_whileLive_presenterStays() throws {
    try fixture.show("a", "1", .with(to: "bus"))
    let before = fixture.item("a")?.destination
    try fixture.register(destination("bus", by: "bert"), by: "bert")
    try fixture.present("a", "1", .with(to: "bus", title: "T"))
    #expect(fixture.item("a")?.destination == before)
    try fixture.present("a", "2", .with(to: "bus"))
    #expect(fixture.item("a")?.destination?.source == .client("bert"))
    try fixture.clearAway()
  }

  // MARK: Presenters that leave and come back

  private func showOnBus(_ fixture: RulesFixture, _ id: String = "1") throws -> Handle {
    try fixture.register(destination("shell", by: "bert"), by: "bert")
    try fixture.show("a", id, .with(to: "shell"))
    let handle = try #require(fixture.handle("a"))
    fixture.leave("bert")
    fixture.report(.presenterLeft(handle))
    return handle
  }

  @Test("D4: a presenter that registers its destination again is asked to present again, with the latest item")
  func presenter_returns_presentsAgain() throws {
    let handle = try showOnBus(fixture)
    #expect(fixture.taken() == [])
    try fixture.present("a", "1", .with(title: "T"))
    #expect(fixture.taken() == ["updated a 1"])
    try fixture.register(destination("shell", by: "anna"), by: "anna")
    #expect(fixture.taken() == ["present \(handle) a"])
    #expect(fixture.item("a")?.destination?.source == .client("anna"))
    // The presenter is asked with the item as it is after the earlier change.
    try fixture.present("a", "1", .with(title: "U"))
    fixture.report(.presentAnswered(handle, error: nil))
    #expect(fixture.taken() == ["updated a 1", "update \(handle) by anna"])
    try fixture.clearAway()
  }

  @Test("D4: two seconds after its presenter has left, a presentation has failed")
  func presenter_staysAway_hasFailed() throws {
    let handle = try showOnBus(fixture)
    fixture.pass(1999)
    #expect(fixture.taken() == [])
    fixture.pass(1)
    #expect(fixture.taken() == ["dismissed a 1 failed"])
    #expect(
      fixture.ending(handle)?.result["error"].flatMap { String(value: $0) }?.contains("did not come back") == true)
  }

  @Test("D4: an item that ends while its presenter is away needs no answer; its children cannot keep it (P15)")
  func presenter_away_dismissalEndsAtOnce() throws {
    let handle = try showOnBus(fixture)
    try fixture.show("a.b", "", .with(to: "bus"))
    _ = fixture.taken()
    try fixture.dismiss("a")
    let child = try #require(fixture.machine.allPresentations.first { $0.handle != handle }).handle
    #expect(fixture.taken() == ["dismissing a 1", "dismissing a.b", "dismiss \(child) parent forced"])
    fixture.report(.dismissAnswered(child, result: [:]))
    #expect(fixture.taken() == ["dismissed a.b parent", "dismissed a 1 dismissed"])
    #expect(fixture.leftovers == [])
  }

  @Test("D4, P15: a presenter that leaves while its dismissal waits for others has ended the item, and forces those")
  func presenter_leavesWhileItsDismissalWaits_forcesWhatIsAbove() throws {
    try fixture.show("a", "", .with(to: "bus", stack: "s"))
    try fixture.show("b", "", .with(to: "bus", stack: "s"))
    try fixture.ask(.pop("s", count: 2))
    _ = fixture.taken()
    fixture.report(.presenterLeft(1))
    #expect(fixture.taken() == ["dismiss 2 popped forced"])
    fixture.report(.dismissAnswered(2, result: [:]))
    #expect(fixture.taken() == ["dismissed b popped", "dismissed a popped"])
    #expect(fixture.leftovers == [])
  }

  @Test("D4: a registration is a return only if it is newer than the item; an earlier one of another client is none")
  func presenter_leaves_earlierRegistrationIsNoReturn() throws {
    try fixture.register(destination("shell", by: "anna"), by: "anna")
    let handle = try showOnBus(fixture)
    #expect(fixture.taken() == [])
    fixture.pass(2000)
    #expect(fixture.ending(handle)?.reason == .failed)
  }

  @Test("D4: a presenter that registers before the former one leaves is asked at once")
  func presenter_registersBeforeTheOtherLeaves_presentsAgain() throws {
    try fixture.register(destination("shell", by: "bert"), by: "bert")
    try fixture.show("a", "1", .with(to: "shell"))
    try fixture.register(destination("shell", by: "anna"), by: "anna")
    fixture.leave("bert")
    _ = fixture.taken()
    fixture.report(.presenterLeft(fixture.handle("a")!))
    #expect(fixture.taken() == ["present 1 a"])
    try fixture.clearAway()
  }

  @Test(
    "D1: an item that waited when its destination was registered anew is presented by the presenter that counts now")
  func presenter_registersWhileItsItemWaits_presentsIt() throws {
    try fixture.register(destination("shell", by: "bert"), by: "bert")
    try fixture.show("a", "1", .with(to: "shell"))
    try fixture.present("a", "2", .with(to: "shell"))
    try fixture.register(destination("shell", by: "anna"), by: "anna")
    fixture.leave("bert")
    _ = fixture.taken()
    fixture.report(.dismissAnswered(1, result: [:]))
    #expect(fixture.taken() == ["dismissed a 1 replaced", "presenting a 2", "present 2 a"])
    #expect(fixture.item("a")?.destination?.source == .client("anna"))
    try fixture.clearAway()
  }

  @Test("D1: an item that begins while its client leaves is not shown by the registrations of that client")
  func client_leavingWithItsItem_showsNothingMore() throws {
    try fixture.register(destination("shell", by: "bert"), by: "bert")
    try fixture.register(destination("shell", by: "anna"), by: "anna")
    try fixture.present("a", "1", .with(group: "g", owned: true), by: "anna")
    try fixture.present("b", "", .with(to: "shell", group: "g", ifBusy: .queue), by: "bert")
    fixture.leave("anna")
    #expect(fixture.item("b")?.destination?.source == .client("bert"))
    #expect(fixture.phase(2) == "presenting")
    try fixture.clearAway()
  }

  @Test("D1: an item that waited when its presenter registered again has the times of the new registration")
  func presenter_registersAgainWhileItsItemWaits_givesItItsTimes() throws {
    try fixture.register(destination("shell", by: "bert"), by: "bert")
    try fixture.show("a", "1", .with(to: "shell"))
    try fixture.present("a", "2", .with(to: "shell"))
    var patient = destination("shell", by: "bert")
    patient.startTimeout = 60_000
    try fixture.register(patient, by: "bert")
    fixture.report(.dismissAnswered(1, result: [:]))
    fixture.pass(59_999)
    #expect(fixture.phase(2) == "presenting")
    fixture.pass(1)
    #expect(fixture.phase(2) == "dismissing")
    try fixture.clearAway()
  }

  @Test("D4: a presenter that leaves ends no item that it does not show: one that waits, or one of a command")
  func presenter_leavesWithoutShowing_endsNothing() throws {
    try fixture.show("a", "1", .with(to: "cmd"))
    try fixture.present("a.b", "", .with(to: "bus"))
    try fixture.present("c", "", .with(to: "cmd"))
    try fixture.present("c.d", "", .with(to: "bus"))
    fixture.shows(2)
    _ = fixture.taken()
    for handle in [Handle(1), 3, 4] { fixture.report(.presenterLeft(handle)) }
    #expect(fixture.taken() == [])
    fixture.report(.presenterLeft(2))
    fixture.report(.presenterLeft(2))
    #expect(fixture.taken() == [] && fixture.phase(2) == "presented")
    try fixture.clearAway()
  }

  @Test("D4: a presenter of a file's destination is asked again when its name has an owner again")
  func presenter_nameReturns_presentsAgain() throws {
    try fixture.show("a", "1", .with(to: "bus"))
    _ = fixture.taken()
    fixture.report(.presenterLeft(1))
    fixture.report(.presenterReturned(1))
    fixture.report(.presenterReturned(1))
    #expect(fixture.taken() == ["present 1 a"])
    #expect(fixture.machine.state.abandoned == [])
    fixture.report(.presentAnswered(1, error: "no"))
    #expect(fixture.taken() == ["dismissed a 1 failed"])
  }

  @Test("D4, C3: a presenter that cannot show an item again is not asked to dismiss it when its children have ended")
  func presenter_failsAgainWhileChildrenEnd_isNotAsked() throws {
    try fixture.show("a", "", .with(to: "bus"))
    try fixture.show("a.b", "", .with(to: "cmd"))
    fixture.report(.presenterLeft(1))
    fixture.report(.presenterReturned(1))
    try fixture.dismiss("a")
    fixture.report(.presentAnswered(1, error: "no screen"))
    fixture.goes(2)
    #expect(fixture.ending(1)?.reason == .dismissed && fixture.ending(1)?.result["error"] == .string("no screen"))
  }

  @Test("D4: a presenter that is away gets no more time when navd calls presenters later than planned")
  func presenter_away_getsNoMoreTime() throws {
    try fixture.show("a", "", .with(to: "bus"))
    fixture.report(.presenterLeft(1))
    fixture.machine.restartAnswer(of: 1, at: fixture.now.after(milliseconds: 1000))
    fixture.pass(2000)
    #expect(fixture.ending(1)?.reason == .failed)
  }

  @Test("D4: a late answer of a presenter that has left counts neither as an end nor as a return")
  func presenter_away_lateAnswerIsNone() throws {
    for error in [nil, "no screen"] {
      let handle = try fixture.show("a", "", .with(to: "bus"))
      fixture.report(.presenterLeft(handle))
      fixture.report(.presentAnswered(handle, error: error))
      #expect(fixture.taken() == [] && fixture.phase(handle) == "presented")
      fixture.pass(2000)
      #expect(fixture.ending(handle)?.reason == .failed)
      _ = fixture.taken()
    }
  }

  @Test("D4: a presenter that leaves for the sixth time within ten seconds has failed")
  func presenter_leavesForEver_hasFailed() throws {
    try fixture.show("a", "1", .with(to: "bus"))
    for _ in 1...5 {
      fixture.report(.presenterLeft(1))
      fixture.report(.presenterReturned(1))
      fixture.report(.presentAnswered(1, error: nil))
    }
    fixture.pass(9_999)
    #expect(fixture.phase(1) == "presented")
    fixture.report(.presenterLeft(1))
    #expect(fixture.ending(1)?.reason == .failed)
    let often = "the presenter has left the bus 6 times within 10 seconds"
    #expect(fixture.ending(1)?.result["error"] == .string(often))
    // A presenter that leaves now and then has not failed.
    try fixture.show("a", "2", .with(to: "bus"))
    for _ in 1...8 {
      fixture.report(.presenterLeft(2))
      fixture.report(.presenterReturned(2))
      fixture.report(.presentAnswered(2, error: nil))
      fixture.pass(2000)
    }
    #expect(fixture.phase(2) == "presented")
    // One that leaves before it has shown the item has.
    try fixture.present("b", "", .with(to: "bus"))
    fixture.report(.presenterLeft(3))
    #expect(fixture.ending(3)?.result["error"] == .string("the presenter left the bus"))
  }

  @Test("D1: a live presentation stays when its destination is unregistered")
  func unregister_whileLive_stays() throws {
    try fixture.register(destination("x", by: "bert"), by: "bert")
    try fixture.show("a", "1", .with(to: "x"))
    fixture.leave("bert")
    #expect(fixture.taken() == [])
    #expect(try fixture.present("a", "1", .with(to: "x")) == .presentation(1, changed: false))
    try fixture.dismiss("a")
    #expect(fixture.taken() == ["dismissing a 1", "dismiss 1 dismissed"])
    try fixture.clearAway()
  }

  @Test("D1: a destination gives its style to items that give none")
  func present_destinationStyle_taken() throws {
    try fixture.register(destination("x", by: "bert", style: "popover"), by: "bert")
    try fixture.present("a", "", .with(to: "x"))
    try fixture.present("b", "", .with(to: "x", style: "sheet"))
    #expect(fixture.item("a")?.style == "popover" && fixture.item("b")?.style == "sheet")
    try fixture.clearAway()
  }

  // MARK: D2

  @Test("D2: an item that names an unregistered destination is refused, and nothing changes")
  func present_unregistered_refused() throws {
    try fixture.show("a", "1")
    #expect(fixture.refusal(.present("a", id: "2", .with(to: "nobody"))) == .unknownDestination)
    #expect(fixture.refusal(.push("s", "b", id: "", .with(to: "nobody"))) == .unknownDestination)
    #expect(fixture.refusal(.select("g", tag: "t", binding: nil, id: nil, .with(to: "nobody"))) == .unknownDestination)
    #expect(fixture.refusal(.toggle("b", id: "", .with(to: "nobody"), anyID: false)) == .unknownDestination)
    #expect(fixture.shown == ["a=1"])
    try fixture.clearAway()
  }

  @Test("D2: an embedded coordinator, which reads no files, asks for a program that serves the destination")
  func present_unregisteredWithoutFiles_namesNoFile() throws {
    func refusal(by machine: inout StateMachine) -> String {
      do throws(Refusal) {
        _ = try machine.perform(Request(.present("a", id: "", .with(to: "nowhere"))), by: nil, at: fixture.now)
        return "none"
      } catch {
        return error.message
      }
    }
    let file = "write “navd/destinations/nowhere.toml”"
    var machine = StateMachine()
    #expect(refusal(by: &machine).contains(file))
    machine = try StateMachine(restoring: RecordedState())
    #expect(refusal(by: &machine).contains(file))
    machine = StateMachine(hasFiles: false)
    #expect(refusal(by: &machine).contains("let the program serve it"))
  }

  @Test("D2: an item that names no destination uses the one called like its binding, if there is one")
  func present_namesNone_likeBinding() throws {
    try fixture.register(destination("panels.volume", by: "bert"), by: "bert")
    try fixture.present("panels.volume")
    #expect(fixture.item("panels.volume")?.destination?.name == "panels.volume")
    try fixture.present("cmd")
    #expect(fixture.item("cmd")?.destination?.name == "cmd")
    #expect(
      fixture.taken() == ["presenting panels.volume", "present 1 panels.volume", "presenting cmd", "present 2 cmd"])
    try fixture.present("cmd.x")
    #expect(fixture.item("cmd.x")?.destination == nil)
    try fixture.clearAway()
  }

  @Test("D2: naming that destination later makes no difference")
  func present_namesLikeBindingLater_unchanged() throws {
    try fixture.show("cmd", "", .with())
    #expect(try fixture.present("cmd", "", .with(to: "cmd")) == .presentation(1, changed: false))
    try fixture.clearAway()
  }

  @Test("D2: an item with a command uses that, whatever its binding is called")
  func present_command_used() throws {
    try fixture.present("cmd", "", .with(command: ["foot"]))
    #expect(fixture.item("cmd")?.destination?.presenter == .command([Array("foot".utf8)]))
    #expect(fixture.refusal(.present("b", id: "", .with(to: "cmd", command: ["foot"]))) == .invalidArgument)
    #expect(fixture.refusal(.present("b", id: "", .with(command: []))) == .invalidArgument)
    #expect(fixture.refusal(.present("b", id: "", .with(command: [""]))) == .invalidArgument)
    #expect(fixture.refusal(.present("b", id: "", .with(command: ["a", "b\0c"]))) == .invalidArgument)
    #expect(
      fixture.refusal(.present("b", id: "", .with(command: ["a"], environment: ["A=B": "c"]))) == .invalidArgument)
    #expect(fixture.refusal(.present("b", id: "", .with(command: ["a"], environment: ["": "c"]))) == .invalidArgument)
    try fixture.clearAway()
  }

  // MARK: D3, D4, D5: by itself

  @Test(
    "D3: a command that ends by itself is closed; one that ends by a signal that navd has not sent has failed",
    arguments: [false, true])
  func ended_byItself_reason(failed: Bool) throws {
    try fixture.show("a", "1")
    fixture.ends(1, failed: failed, result: ["status": .int32(3)])
    #expect(fixture.taken() == ["dismissed a 1 \(failed ? "failed" : "closed")"])
    // An item that has failed says why (D7).
    let error: Properties = failed ? ["error": .string("it failed, and gave no reason")] : [:]
    #expect(fixture.ending(1)?.result == error.merging(["status": .int32(3)]) { $1 })
  }

  // MARK: D6

  @Test("D6: a result is in the ending and in replies to waiters, and in no item")
  func ended_result_inEndingOnly() throws {
    try fixture.show("a", "1", .with(to: "bus"))
    try fixture.dismiss("a")
    fixture.goes(1, result: ["answer": .string("yes")])
    #expect(fixture.ending(1)?.result == ["answer": .string("yes")])
  }

  // MARK: D7

  @Test("D7: a presenter that cannot show an item ends it as failed, with a text that says why; the slot is nil")
  func present_failed_slotNil() throws {
    try fixture.present("a", "1", .with(to: "cmd"))
    _ = fixture.taken()
    fixture.fails(1, "foot: not found")
    #expect(fixture.taken() == ["dismissed a 1 failed"])
    #expect(fixture.ending(1)?.result == ["error": .string("foot: not found")])
    #expect(fixture.ending(1)?.presentedAt == nil)
    #expect(fixture.leftovers == [])
  }

  // MARK: D8

  private func edit(_ value: UInt8, by client: Client) throws {
    try fixture.ask(
      .update("a", value: ["x": .byte(value)], remove: [], containerValues: nil, timeout: nil), by: client)
  }

  @Test("D8: an edit of the value is seen by everybody, the id does not change")
  func update_presented_updated() throws {
    try fixture.show("a", "1", .with(to: "bus", value: ["x": .byte(1), "y": .byte(1), "z": .byte(1)]))
    #expect(
      try fixture.ask(
        .update("a", value: ["x": .byte(2), "w": .byte(3)], remove: ["y", "x"], containerValues: nil, timeout: nil),
        by: "bar") == .changed(true))
    #expect(fixture.item("a")?.value == ["x": .byte(2), "z": .byte(1), "w": .byte(3)])
    #expect(fixture.item("a")?.id == "1")
    #expect(fixture.taken() == ["updated a 1", "update 1 by bar"])
    #expect(
      try fixture.ask(.update("a", value: ["x": .int64(2)], remove: ["q"], containerValues: nil, timeout: nil))
        == .changed(false))
    #expect(fixture.taken() == [])
    try fixture.clearAway()
  }

  @Test("D8: an edit of an empty slot is refused")
  func update_nothingThere_refused() throws {
    let update = Request.Operation.update("a", value: [:], remove: [], containerValues: nil, timeout: nil)
    #expect(fixture.refusal(update) == .notPresented)
    try fixture.show("a")
    try fixture.dismiss("a")
    #expect(fixture.refusal(update) == .notPresented)
    try fixture.clearAway()
  }

  @Test("D8: at most one update is under way; the latest follows when it is answered")
  func update_underWay_latestFollows() throws {
    try fixture.show("a", "1", .with(to: "bus"))
    try edit(1, by: "anna")
    try edit(2, by: "anna")
    try edit(3, by: "anna")
    #expect(fixture.taken() == ["updated a 1", "update 1 by anna", "updated a 1", "updated a 1"])
    fixture.updates(1)
    #expect(fixture.taken() == ["update 1 by anna"])
    #expect(fixture.item("a")?.value == ["x": .byte(3)])
    fixture.updates(1)
    #expect(fixture.taken() == [])
    try fixture.clearAway()
  }

  @Test("D8: the update that follows has an author only if no other client changed the item in between")
  func update_severalAuthors_toldToAll() throws {
    try fixture.show("a", "1", .with(to: "bus"))
    try edit(1, by: "anna")
    try edit(2, by: "bar")
    try edit(3, by: "bar")
    _ = fixture.taken()
    fixture.updates(1)
    #expect(fixture.taken() == ["update 1 by bar"])
    try edit(4, by: "anna")
    try edit(5, by: "bar")
    _ = fixture.taken()
    fixture.updates(1)
    #expect(fixture.taken() == ["update 1"])
    try fixture.clearAway()
  }

  @Test("D8: an update waits for the answer to Present")
  func update_presenting_afterShown() throws {
    try fixture.present("a", "1", .with(to: "bus"))
    _ = fixture.taken()
    try edit(1, by: "anna")
    try edit(2, by: "anna")
    #expect(fixture.taken() == ["updated a 1", "updated a 1"])
    fixture.shows(1)
    #expect(fixture.taken() == ["presented a 1", "update 1 by anna"])
    fixture.updates(1)
    #expect(fixture.taken() == [])
    try fixture.clearAway()
  }

  @Test("D8: a waiting item gets no updates: it is presented as it is by then")
  func update_waiting_notTold() throws {
    try fixture.show("a", "0", .with(to: "bus"))
    try fixture.present("a", "1", .with(to: "bus"))
    try edit(1, by: "anna")
    _ = fixture.taken()
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed a 0 replaced", "presenting a 1", "present 2 a"])
    fixture.shows(2)
    #expect(fixture.taken() == ["presented a 1"])
    try fixture.clearAway()
  }

  @Test("D8: no update is sent for an item that is being dismissed")
  func update_going_notTold() throws {
    try fixture.show("a", "1", .with(to: "bus"))
    try edit(1, by: "anna")
    try edit(2, by: "anna")
    try fixture.dismiss("a")
    _ = fixture.taken()
    fixture.updates(1)
    #expect(fixture.taken() == [])
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed a 1 dismissed"])
  }

  @Test("D8: changes of owner, title and priority are announced, too")
  func update_otherParts_told() throws {
    try fixture.show("a", "1", .with(to: "bus"))
    for options: ItemOptions in [.with(title: "T"), .with(style: "S"), .with(owned: true), .with(priority: 2)] {
      try fixture.present("a", "1", options)
      #expect(fixture.taken() == ["updated a 1", "update 1 by anna"])
      fixture.updates(1)
    }
    try fixture.clearAway()
  }

  // MARK: D10

  @Test(
    "D10: updates are not sent to commands and units, but announced to watchers", arguments: ["cmd", "unit", "bare"])
  func update_notBus_eventOnly(destination: String) throws {
    try fixture.present("a", "1", .with(to: destination))
    fixture.shows(1)
    _ = fixture.taken()
    try edit(1, by: "anna")
    #expect(fixture.taken() == ["updated a 1"])
    try fixture.clearAway()
  }

  // MARK: D11

  @Test("D11: only a presentation's own D-Bus presenter may report for it")
  func closed_bus_ownPresenterOnly() throws {
    try fixture.show("a", "1", .with(to: "bus"))
    #expect(throws: Refusal.self) { try fixture.closed(1) }
    #expect(throws: Refusal.self) { try fixture.act(1, "ok") }
    #expect(fixture.taken() == [])
    try fixture.act(1, "ok", byPresenter: true)
    #expect(try fixture.closed(1, result: ["x": .byte(1)], byPresenter: true))
    #expect(fixture.taken() == ["action a 1 ok", "dismissed a 1 closed"])
    #expect(fixture.ending(1)?.result == ["x": .byte(1)])
    #expect(fixture.leftovers == [])
  }

  @Test(
    "D11: anyone may report a command or a unit closed, which starts its dismissal with the reason closed and that result",
    arguments: ["cmd", "unit"])
  func closed_command_dismissed(destination: String) throws {
    try fixture.show("a", "1", .with(to: destination))
    try fixture.act(1, "ok")
    #expect(try fixture.closed(1, result: ["answer": .string("yes")]))
    #expect(fixture.taken() == ["action a 1 ok", "dismissing a 1", "dismiss 1 closed forced"])
    #expect(fixture.shown == [])
    fixture.goes(1, result: ["status": .int32(0), "answer": .string("no")])
    #expect(fixture.taken() == ["dismissed a 1 closed"])
    #expect(fixture.ending(1)?.result == ["answer": .string("yes"), "status": .int32(0)])
  }

  @Test("D11: any client may report an item that is state only closed, and it ends", arguments: [nil, "bare"])
  func closed_stateOnly_gone(destination: String?) throws {
    try fixture.present("a", "1", .with(to: destination))
    try fixture.act(1, "ok", ["x": .byte(1)])
    #expect(try fixture.closed(1, result: ["x": .byte(1)]))
    #expect(fixture.taken() == ["presented a 1", "action a 1 ok", "dismissed a 1 closed"])
    #expect(fixture.ending(1)?.result == ["x": .byte(1)])
    #expect(fixture.leftovers == [])
  }

  @Test("D11: a late report succeeds and changes nothing")
  func closed_late_nothing() throws {
    for destination in ["cmd", "bus", "bare"] {
      let handle = try fixture.show("a", "1", .with(to: destination))
      try fixture.dismiss("a")
      fixture.goes(handle)
      try fixture.present("a", "1", .with(to: destination))
      _ = fixture.taken()
      #expect(try fixture.closed(handle, result: ["x": .byte(1)]) == false)
      try fixture.act(handle, "ok")
      #expect(fixture.taken() == [])
      #expect(fixture.ending(handle)?.result == [:])
      try fixture.clearAway()
    }
  }

  @Test(
    "D11: Closed changes nothing while a command is being dismissed; from a presenter on the bus it completes the dismissal"
  )
  func closed_going_completesAtMost() throws {
    try fixture.show("a", "1", .with(to: "cmd"))
    try fixture.show("b", "1", .with(to: "bus"))
    try fixture.ask(.dismissAll(.everything))
    _ = fixture.taken()
    #expect(try fixture.closed(1, result: ["x": .byte(1)]) == false)
    #expect(fixture.taken() == [])
    #expect(try fixture.closed(2, result: ["x": .byte(1)], byPresenter: true))
    #expect(fixture.taken() == ["dismissed b 1 dismissed"])
    #expect(fixture.ending(2)?.result == ["x": .byte(1)])
    fixture.goes(1)
    #expect(fixture.ending(1)?.result == [:])
  }

  @Test("D11: a handle that was never given out is unknown")
  func closed_neverGivenOut_refused() throws {
    for handle: Handle in [0, 1, 7] {
      #expect(throws: Refusal.self) { try fixture.closed(handle, byPresenter: true) }
      #expect(throws: Refusal.self) { try fixture.act(handle, "ok", byPresenter: true) }
    }
  }

  @Test("D11: a waiting item may be reported closed", arguments: ["cmd", "bus"])
  func closed_waiting_gone(destination: String) throws {
    try fixture.show("a", "1")
    try fixture.present("a", "2", .with(to: destination))
    _ = fixture.taken()
    #expect(try fixture.closed(2, result: ["x": .byte(1)], byPresenter: destination == "bus"))
    #expect(fixture.taken() == ["dismissed a 2 closed"])
    #expect(fixture.ending(2)?.result == ["x": .byte(1)])
    try fixture.clearAway()
  }

  @Test("D11: an item reported closed by its presenter while presenting ends; a late answer to Present is ignored")
  func closed_presenting_gone() throws {
    try fixture.present("a", "1", .with(to: "bus"))
    _ = fixture.taken()
    #expect(try fixture.closed(1, byPresenter: true))
    #expect(fixture.taken() == ["dismissed a 1 closed"])
    fixture.shows(1)
    #expect(fixture.taken() == [])
    #expect(fixture.leftovers == [])
  }

  @Test("B5: the keys of a result and of an action's parameters are names, and hold no descriptors")
  func closed_badKeys_refused() throws {
    try fixture.present("a", "1")
    #expect(throws: Refusal.self) { try fixture.closed(1, result: ["a b": .byte(1)]) }
    #expect(throws: Refusal.self) { try fixture.act(1, "ok", ["": .byte(1)]) }
    #expect(fixture.shown == ["a=1"])
    try fixture.clearAway()
  }
}
