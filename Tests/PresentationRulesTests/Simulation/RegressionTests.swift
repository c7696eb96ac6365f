import DBusValues
import PresentationModel
import PresentationRules
import Testing

@testable import Simulation

/// Faults that the simulation has found, each as the shortest sequence that shows it.
@Suite struct RegressionTests {
  private let client = Client(":1.1")
  private let now = Instant(nanoseconds: 0)

  private func options(_ change: (inout ItemOptions) -> Void) -> ItemOptions {
    var options = ItemOptions()
    change(&options)
    return options
  }

  private func events(_ outcome: Outcome) -> [String] { outcome.changes.map(\.event.shown) }

  @Test("W1: a member with a declared tag does not change the tags of its group")
  func group_declaredTagIsPresented_isNotTold() throws {
    var machine = StateMachine()
    let destination = Destination(
      name: "wifi", presenter: .none, group: binding("panels"), source: .file(path: "wifi.toml"))
    _ = machine.load([destination])
    let (_, outcome) = try machine.perform(
      Request(.present(binding("wifi"), id: "", ItemOptions())), by: client, at: now)
    #expect(events(outcome) == ["selection panels wifi", "presented 1 wifi="])
    #expect(machine.tags(of: binding("panels")) == ["wifi"])
  }

  @Test("W1: a tag that pushes another out of the memory makes one event of its group")
  func group_tagForgottenForAnother_isToldOnce() throws {
    var limits = Limits()
    limits.remembered = 1
    var machine = StateMachine(limits: limits)
    _ = try machine.perform(
      Request(.select(binding("g"), tag: "m", binding: nil, id: nil, ItemOptions())), by: client, at: now)
    let (_, outcome) = try machine.perform(
      Request(.select(binding("g"), tag: "n", binding: nil, id: nil, ItemOptions())), by: client, at: now)
    #expect(events(outcome).filter { $0 == "group g" }.count == 1)
    #expect(machine.tags(of: binding("g")) == ["n"])
  }

  @Test(
    "G9: a queued item whose request is forgotten is selected as it is, even if a destination declares its tag")
  func group_queuedTagForgottenAndDeclared_isSelectedAsItIs() throws {
    var limits = Limits()
    limits.remembered = 1
    var machine = StateMachine(limits: limits)
    let declared = Destination(name: "wifi", presenter: .none, group: binding("g"), source: .file(path: "wifi.toml"))
    let other = Destination(name: "other", presenter: .none, source: .file(path: "other.toml"))
    _ = machine.load([declared, other])
    func perform(_ operation: Request.Operation) throws -> Reply {
      try machine.perform(Request(operation), by: client, at: now).reply
    }
    let queued = options {
      $0.ifBusy = .queue
      $0.destination = "other"
    }
    _ = try perform(.select(binding("g"), tag: "m", binding: nil, id: nil, ItemOptions()))
    _ = try perform(.select(binding("g"), tag: "wifi", binding: nil, id: "7", queued))
    _ = try perform(.select(binding("g"), tag: "n", binding: nil, id: nil, options { $0.ifBusy = .queue }))
    #expect(
      try perform(.select(binding("g"), tag: "wifi", binding: nil, id: nil, ItemOptions()))
        == .presentation(Handle(2), changed: true))
    #expect(machine.current(at: binding("wifi"))?.item.id == "7")
  }

  @Test("W1: a destination registered again as it was makes no event of its group; another one, a single event")
  func group_destinationRegisteredAgain_isNotTold() throws {
    var machine = StateMachine()
    func destination(_ name: String) -> Destination {
      Destination(name: name, presenter: .none, group: binding("g"), source: .client(client))
    }
    #expect(events(try machine.register(destination("m"), by: client, at: now)) == ["group g"])
    #expect(events(try machine.register(destination("m"), by: client, at: now)).isEmpty)
    #expect(events(try machine.register(destination("n"), by: client, at: now)) == ["group g"])
    #expect(events(machine.clientLeft(client, at: now)) == ["group g"])
  }

  @Test("C2: a child requested before its parent in one transaction is presented from it, after it")
  func transaction_childBeforeParent_appearsAfterIt() throws {
    var machine = StateMachine()
    let (replies, outcome) = try machine.perform(
      [
        Request(.present(binding("a.x"), id: "", ItemOptions())),
        Request(.present(binding("b"), id: "", options { $0.from = binding("a.x") })),
        Request(.present(binding("a"), id: "", ItemOptions())),
      ], by: client, at: now)
    #expect(events(outcome) == ["presented 3 a=", "presented 1 a.x=", "presented 2 b="])
    #expect(machine.presentation(Handle(1))?.parent == Handle(3))
    #expect(machine.presentation(Handle(2))?.parent == Handle(1))
    #expect(replies.count == 3)
  }

  /// A machine with a stack whose only item is being dismissed.
  private func machineWithSlowScreen() throws -> StateMachine {
    var machine = StateMachine()
    let command = options { $0.command = InlineCommand(arguments: [Array("screen".utf8)]) }
    _ = try machine.perform(Request(.push(binding("s"), binding("a"), id: "", command)), by: client, at: now)
    _ = machine.report(.presentAnswered(Handle(1), error: nil), at: now)
    _ = try machine.perform(Request(.pop(binding("s"), count: 1)), by: client, at: now)
    return machine
  }

  @Test("P3: an item that is popped while it waits for its position ends at once, never shown")
  func stack_waitingIsPopped_endsAtOnce() throws {
    var machine = try machineWithSlowScreen()
    _ = try machine.perform(
      Request(
        .setPath(
          binding("s"), [RequestedElement(binding: binding("b"), id: ""), RequestedElement(binding: nil, id: "")])),
      by: client, at: now)
    let (_, outcome) = try machine.perform(Request(.pop(binding("s"), count: 2)), by: client, at: now)
    #expect(events(outcome) == ["path s", "dismissed 3 s[1]= popped", "dismissed 2 b= popped"])
    #expect(machine.count == 1)
  }

  @Test("P6: a binding that is popped twice while its stack waits ends twice")
  func stack_sameBindingOvertakenTwice_endsEachOnce() throws {
    var machine = try machineWithSlowScreen()
    for _ in 0..<2 {
      _ = try machine.perform(Request(.push(binding("s"), binding("b"), id: "", ItemOptions())), by: client, at: now)
      _ = try machine.perform(Request(.pop(binding("s"), count: 1)), by: client, at: now)
    }
    _ = machine.report(.dismissAnswered(Handle(1), result: [:]), at: now)
    #expect(machine.count == 0)
    #expect(machine.history.map(\.handle) == [Handle(2), Handle(3), Handle(1)])
  }

  @Test("G7: selecting a tag repeats the item of the last request for it, not options of an earlier item")
  func select_lastItemWasAnother_repeatsThatOne() throws {
    var machine = StateMachine()
    let given = options {
      $0.group = binding("g")
      $0.title = "old"
    }
    _ = try machine.perform(Request(.present(binding("g.m"), id: "", given)), by: client, at: now)
    _ = try machine.perform(Request(.dismiss(binding("g.m"))), by: client, at: now)
    let plain = options { $0.group = binding("g") }
    _ = try machine.perform(Request(.present(binding("g.m"), id: "", plain)), by: client, at: now)
    _ = try machine.perform(Request(.dismiss(binding("g.m"))), by: client, at: now)
    _ = try machine.perform(
      Request(.select(binding("g"), tag: "m", binding: nil, id: nil, ItemOptions())), by: client, at: now)
    #expect(machine.current(at: binding("g.m"))?.item.title == nil)
  }

  @Test("G7, L1: the first requested tag of one transaction is forgotten first")
  func tags_pastTheLimit_oldestRequestIsForgotten() throws {
    var limits = Limits()
    limits.remembered = 1
    var machine = StateMachine(limits: limits)
    _ = try machine.perform(
      ["h", "g"].map { Request(.select(binding($0), tag: "m", binding: nil, id: nil, ItemOptions())) },
      by: client, at: now)
    for (group, isRemembered) in [("g", true), ("h", false)] {
      let (reply, _) = try machine.perform(Request(.forget(binding(group), tag: "m")), by: client, at: now)
      #expect(reply == .changed(isRemembered))
    }
  }

  @Test("P14: an item of a stack whose parent was replaced is presented again")
  func stack_elementLosesItsParentAndIsAsked_isPresentedAgain() throws {
    var machine = StateMachine()
    _ = try machine.perform(Request(.present(binding("a"), id: "1", ItemOptions())), by: client, at: now)
    let push = Request(.push(binding("s"), binding("a.x"), id: "", ItemOptions()))
    _ = try machine.perform(push, by: client, at: now)
    let (_, outcome) = try machine.perform(
      [Request(.present(binding("a"), id: "2", ItemOptions())), push], by: client, at: now)
    #expect(
      events(outcome) == ["dismissed 2 a.x= parent", "dismissed 1 a=1 replaced", "presented 3 a=2", "presented 4 a.x="])
  }

  @Test("T1: an update after X→nil→X in one transaction edits the earlier value of X")
  func update_afterTheItemCameBack_keepsItsOtherKeys() throws {
    var machine = StateMachine()
    let given = options { $0.value = ["j": .int32(1)] }
    _ = try machine.perform(Request(.present(binding("a"), id: "", given)), by: client, at: now)
    _ = try machine.perform(
      [
        Request(.dismiss(binding("a"))), Request(.present(binding("a"), id: "", ItemOptions())),
        Request(.update(binding("a"), value: ["k": .int32(2)], remove: [], containerValues: nil, timeout: nil)),
      ], by: client, at: now)
    #expect(machine.current(at: binding("a"))?.handle == Handle(1))
    #expect(machine.current(at: binding("a"))?.item.value == ["j": .int32(1), "k": .int32(2)])
  }

  @Test("T1, G9: X→nil→X in one transaction keeps the position of X in its queue")
  func queue_itemCameBack_keepsItsPlace() throws {
    var machine = StateMachine()
    func present(_ tag: String, _ priority: Int32?) -> Request {
      Request(
        .present(
          binding("g." + tag), id: "",
          options {
            $0.group = binding("g")
            $0.ifBusy = .queue
            $0.priority = priority
          }))
    }
    for (tag, priority) in [("shown", Int32(0)), ("first", 1), ("second", 1)] {
      _ = try machine.perform(present(tag, priority), by: client, at: now)
    }
    let (_, outcome) = try machine.perform(
      [Request(.dismiss(binding("g.first"))), present("first", nil)], by: client, at: now)
    #expect(events(outcome) == [])
    #expect(machine.queuedTags(of: binding("g")) == ["first", "second"])
  }

  @Test("C7, T1: an item restored in one transaction keeps its parent, so that its child is not refused")
  func cycle_itemCameBack_isJudgedByItsOldParent() throws {
    var machine = StateMachine()
    _ = try machine.perform(Request(.present(binding("a.x"), id: "", ItemOptions())), by: client, at: now)
    // If “a.x” were new, its parent would be “a”, a member of the group in which its child waits.
    let member = options { $0.group = binding("g") }
    let queued = options {
      $0.group = binding("g")
      $0.from = binding("a.x")
      $0.ifBusy = .queue
    }
    _ = try machine.perform(
      [
        Request(.present(binding("a"), id: "", member)), Request(.dismiss(binding("a.x"))),
        Request(.present(binding("a.x"), id: "", ItemOptions())), Request(.present(binding("b"), id: "", queued)),
      ], by: client, at: now)
    #expect(machine.current(at: binding("a.x"))?.handle == Handle(1))
    #expect(machine.current(at: binding("b"))?.parent == Handle(1))
  }

  // MARK: Items whose windows are gone (N3)

  /// Items that follow windows: “office” in no group, “mixer” and “wifi” in “panels”, and “browser”, which is presented again.
  private func fixtureWithWindows(_ limits: Limits = Limits()) -> RulesFixture {
    func destination(_ name: String, group: BindingID? = nil, restart: RestartRule? = nil) -> Destination {
      var settings = ItemSettings()
      settings.restart = restart
      return Destination(
        name: name, presenter: .command([[1]]), group: group, source: RulesFixture.file(name),
        itemSettings: restart == nil ? nil : Shared(settings), window: WindowFollowing())
    }
    return RulesFixture(
      limits: limits,
      destinations: [
        destination("office"), destination("mixer", group: "panels"), destination("wifi", group: "panels"),
        destination("browser", restart: RestartRule(.onFailure)),
      ])
  }

  @Test(
    "N3, G7: selecting the selected tag between two windows repeats the remembered request", arguments: [false, true])
  func select_betweenWindows_repeatsWhatIsRemembered(isToggle: Bool) throws {
    let fixture = fixtureWithWindows()
    let given = options {
      $0.destination = "office"
      $0.group = "panels"
      $0.tag = "text"
      $0.title = "T"
    }
    let first = try fixture.show("note", "7", given)
    fixture.report(.windowsGone(first, isFinal: false))
    try fixture.ask(
      isToggle
        ? .toggleSelection("panels", tag: "text", binding: nil, id: nil, ItemOptions())
        : .select("panels", tag: "text", binding: nil, id: nil, ItemOptions()))
    #expect(fixture.handle("note") == 2)
    #expect(fixture.item("note")?.id == "7")
    #expect(fixture.item("note")?.title == "T")
    #expect(fixture.item("note")?.destination?.name == "office")
    fixture.report(.ended(first, failed: false, result: [:]))
    #expect(fixture.ending(first)?.reason == .closed)
  }

  @Test("N3, T1: an item that a transaction opens anew between two windows is there for its later requests")
  func transaction_opensAnewBetweenWindows_goesOnWithThat() throws {
    let fixture = fixtureWithWindows()
    let first = try fixture.show("mixer", "", ItemOptions())
    fixture.report(.windowsGone(first, isFinal: false))
    let titled = options { $0.title = "T" }
    try fixture.apply(
      .present("mixer", id: "", titled), .present("mixer", id: "", options { $0.value = ["k": .int32(1)] }),
      .present("wifi", id: "", options { $0.ifBusy = .queue }))
    #expect(fixture.item("mixer")?.title == "T")
    #expect(fixture.item("mixer")?.value == ["k": .int32(1)])
    #expect(fixture.machine.queuedTags(of: "panels") == ["wifi"])
    try fixture.apply(.present("office", id: "", titled), .toggle("office", id: "", ItemOptions(), anyID: false))
    #expect(fixture.handle("office") == nil)
  }

  @Test("N3, P15: an item that lost its window while it was to end is still without it when it is kept")
  func item_losesWindowAndIsKept_isOpenedAnew() throws {
    let fixture = fixtureWithWindows()
    let parent = try fixture.show("office", "", ItemOptions())
    let child = try fixture.show("office.dialog", "", .with(to: "bus"))
    try fixture.dismiss("office")
    fixture.report(.windowsGone(parent, isFinal: false))
    fixture.declines(child)
    #expect(fixture.phase(parent) == "presented")
    try fixture.present("office")
    #expect(fixture.handle("office") == 3)
  }

  @Test("N3: a report on windows of an item that follows none changes nothing")
  func item_withoutWindows_losesNone() throws {
    let fixture = fixtureWithWindows()
    try fixture.present("a", "", .with(to: "bare"))
    fixture.report(.windowsGone(1, isFinal: true))
    fixture.report(.windowsGone(1, isFinal: false))
    try fixture.ask(.toggle("a", id: "", ItemOptions(), anyID: false))
    #expect(fixture.handle("a") == nil)
  }

  @Test("N3, P14: after a restart, a presentation that waits for its result still ends after its grace")
  func restored_settling_hasItsDeadline() throws {
    var machine = try StateMachine(restoring: RecordedState())
    _ = machine.load([
      Destination(
        name: "office", presenter: .command([[1]]), source: RulesFixture.file("office"), window: WindowFollowing())
    ])
    let (reply, _) = try machine.perform(
      Request(.present(binding("office"), id: "", ItemOptions())), by: client, at: now)
    #expect(reply == .presentation(Handle(1), changed: true))
    _ = machine.report(.presentAnswered(Handle(1), error: nil), at: now)
    _ = machine.report(.windowsGone(Handle(1), isFinal: true), at: now)
    var record = RecordedState()
    record.apply(machine.takeUnrecorded())
    let restored = try StateMachine(restoring: record)
    let due = Instant(nanoseconds: Destination.defaultGrace * 1_000_000)
    #expect(machine.nextDeadline == due)
    #expect(restored.nextDeadline == due)
  }

  @Test("R2, G10: after a restart, an item whose next one did not come is still there while that one ends")
  func restored_nextEndsBesideFormer_formerIsThere() throws {
    var machine = try StateMachine(restoring: RecordedState())
    // The file says no more that the items overlap when the next one is presented.
    for (id, replacement) in [("1", Replacement.overlap), ("2", .sequential)] {
      var settings = ItemSettings()
      settings.replacement = replacement
      _ = machine.load([
        Destination(
          name: "page", presenter: .command([[1]]), source: RulesFixture.file("page"), itemSettings: Shared(settings))
      ])
      _ = try machine.perform(Request(.present(binding("page"), id: id, ItemOptions())), by: client, at: now)
      if id == "1" { _ = machine.report(.presentAnswered(Handle(1), error: nil), at: now) }
    }
    #expect(machine.presentation(Handle(2))?.phase == .presenting)
    let startTimeout = machine.nextDeadline
    _ = machine.expire(at: try #require(startTimeout))
    #expect(machine.presentation(Handle(1))?.phase == .presented)
    #expect(machine.presentation(Handle(2))?.phase.name == .dismissing)
    var record = RecordedState()
    record.apply(machine.takeUnrecorded())
    let restored = try StateMachine(restoring: record)
    #expect(restored.current(at: binding("page"))?.handle == Handle(1))
    #expect(restored.presentation(Handle(2))?.phase.name == .dismissing)
  }
}
