import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules
@testable import Simulation

/// A machine with its record, which can be restarted at any time.
private final class RestartableMachine {
  private(set) var machine: StateMachine
  private var record = RecordedState()
  private var now = Instant(nanoseconds: 1_000_000_000)

  init() throws {
    machine = try StateMachine(restoring: record)
    _ = machine.load([
      Destination(name: "cmd", presenter: .command([Array("sleep".utf8)]), source: .file(path: "cmd")),
      Destination(
        name: "bus", presenter: .bus(name: "org.example.Bar", path: "/p"), startTimeout: 100, grace: 50,
        source: .file(path: "bus")),
      Destination(
        name: "viewer", presenter: .command([Array("mpv".utf8)]), source: .file(path: "viewer"),
        window: WindowFollowing()),
      Destination(
        name: "files", presenter: .command([Array("nemo".utf8)]), source: .file(path: "files"),
        window: WindowFollowing(hides: true)),
    ])
    record.apply(machine.takeUnrecorded())
  }

  func present(
    _ text: String, _ id: String = "", to destination: String? = nil, by client: Client? = nil,
    _ change: (inout ItemOptions) -> Void = { _ in }
  ) throws -> Handle {
    var options = ItemOptions()
    options.destination = destination
    change(&options)
    let (reply, _) = try machine.perform(Request(.present(binding(text), id: id, options)), by: client, at: now)
    record.apply(machine.takeUnrecorded())
    guard case .presentation(let handle?, _) = reply else { throw Violation("P1", "\(reply)") }
    return handle
  }

  func register(_ name: String, by client: Client) throws {
    _ = try machine.register(RulesFixture.bus(name, source: .client(client)), by: client, at: now)
    record.apply(machine.takeUnrecorded())
  }

  func perform(_ operations: Request.Operation...) throws {
    _ = try machine.perform(operations.map { Request($0) }, by: nil, at: now)
    record.apply(machine.takeUnrecorded())
  }

  func change(_ text: String, title: String) throws -> [PresenterCommand] {
    let request = Request(.present(binding(text), id: "", .with(title: title)))
    defer { record.apply(machine.takeUnrecorded()) }
    return try machine.perform(request, by: nil, at: now).outcome.commands
  }

  func asks(_ handle: Handle, _ message: String) throws {
    _ = try machine.asking(handle, message: message, byPresenter: true, at: now)
    record.apply(machine.takeUnrecorded())
  }

  func leave(_ client: Client) {
    _ = machine.clientLeft(client, at: now)
    record.apply(machine.takeUnrecorded())
  }

  func dismiss(_ text: String) throws {
    _ = try machine.perform(Request(.dismiss(binding(text))), by: nil, at: now)
    record.apply(machine.takeUnrecorded())
  }

  @discardableResult
  func hear(_ report: Report) -> [PresenterCommand] {
    defer { record.apply(machine.takeUnrecorded()) }
    return machine.report(report, at: now).commands
  }

  /// Replaces the machine by one restored from the record, some milliseconds later.
  func restart(
    after milliseconds: UInt64 = 0, _ survivals: [Handle: Survival] = [:], absent: Set<Client> = [],
    isOtherSession: Bool = false
  ) throws -> [PresenterCommand] {
    now = Instant(nanoseconds: now.nanoseconds + milliseconds * 1_000_000)
    machine = try StateMachine(restoring: record)
    let outcome = machine.resume(survivals, absent: absent, isOtherSession: isOtherSession, at: now)
    record.apply(machine.takeUnrecorded())
    return outcome.commands
  }

  func pass(_ milliseconds: UInt64) -> [PresenterCommand] {
    now = Instant(nanoseconds: now.nanoseconds + milliseconds * 1_000_000)
    return machine.expire(at: now).commands
  }

  func phase(_ handle: Handle) -> String? { machine.presentation(handle)?.phase.name.rawValue }
  func reason(_ handle: Handle) -> Reason? { machine.ending(of: handle)?.reason }
}

/// Restoring after restarts and kills: what stays, what is lost, and what presenters are asked again (R2, R4, R6, R8).
@Suite struct RestoringTests {
  @Test("R2: a presentation that is found again stays as it is, and no presenter is asked")
  func restored_shown_isAsBefore() throws {
    let navd = try RestartableMachine()
    let command = try navd.present("a", to: "cmd")
    navd.hear(.presentAnswered(command, error: nil))
    let state = try navd.present("b")
    #expect(navd.machine.survivors.map(\.handle) == [command])
    let serial = navd.machine.serial
    #expect(try navd.restart([command: .shown]) == [])
    #expect(navd.machine.serial == serial)
    #expect([command, state].map(navd.phase) == ["presented", "presented"])
  }

  @Test(
    "N3, R6: a presentation that only waits for its result has ended, beside the next one in its slot; no program is ended"
  )
  func restored_waitingForResult_hasEnded() throws {
    let navd = try RestartableMachine()
    let first = try navd.present("a", to: "viewer")
    navd.hear(.presentAnswered(first, error: nil))
    navd.hear(.windowsGone(first, isFinal: true))
    let second = try navd.present("a", to: "viewer")
    navd.hear(.presentAnswered(second, error: nil))
    #expect([first, second].map(navd.phase) == ["dismissing", "presented"])
    #expect(navd.machine.survivors.map(\.handle) == [second])
    #expect(try navd.restart([second: .shown]) == [])
    #expect(navd.reason(first) == .closed)
    #expect(navd.phase(second) == "presented")
  }

  @Test("R6: a presentation that its presenter has ended, and that waits for its child, is no survivor")
  func restored_departed_isNoSurvivor() throws {
    let navd = try RestartableMachine()
    let (parent, child) = (try navd.present("a", to: "bus"), try navd.present("a.b", to: "bus"))
    for handle in [parent, child] { navd.hear(.presentAnswered(handle, error: nil)) }
    #expect(navd.machine.survivors.map(\.handle) == [parent, child])
    navd.hear(.ended(parent, failed: false, result: [:]))
    #expect(navd.phase(parent) == "dismissing")
    #expect(navd.machine.survivors.map(\.handle) == [child])
  }

  @Test("R2: a presentation that ended in the meantime is lost, with the known result, and ends its children")
  func restored_gone_isLost() throws {
    let navd = try RestartableMachine()
    let command = try navd.present("a", to: "cmd")
    navd.hear(.presentAnswered(command, error: nil))
    let child = try navd.present("a.b")
    #expect(try navd.restart([command: .gone(result: ["output": .bytes([1])])]) == [])
    #expect(navd.reason(command) == .lost)
    #expect(navd.machine.ending(of: command)?.result == ["output": .bytes([1])])
    #expect(navd.reason(child) == .parent)
    #expect(navd.machine.current(at: binding("a")) == nil)
  }

  @Test("R8: of another session, only presentations that are still on the screen count")
  func restored_ofOtherSession_onlyWhatIsShown() throws {
    let navd = try RestartableMachine()
    let (shown, begun) = (try navd.present("a", to: "cmd"), try navd.present("b", to: "cmd"))
    navd.hear(.presentAnswered(shown, error: nil))
    let (state, child) = (try navd.present("c"), try navd.present("a.child"))
    let group: (inout ItemOptions) -> Void = { $0.group = binding("g") }
    let (selected, queued) = (
      try navd.present("m", "", to: "cmd", group),
      try navd.present("n", "", to: "cmd") {
        group(&$0)
        $0.ifBusy = .queue
      }
    )
    navd.hear(.presentAnswered(selected, error: nil))
    let survivals: [Handle: Survival] = [shown: .shown, begun: .toBeShown, selected: .gone(result: [:])]
    #expect(try navd.restart(survivals, isOtherSession: true) == [])
    #expect(navd.phase(shown) == "presented")
    #expect([begun, state, child, selected, queued].map(navd.reason) == Array(repeating: .lost, count: 5))
    #expect(navd.machine.count == 1)
  }

  @Test("R6: a presentation that was to be shown is shown once, whether or not that had begun")
  func restored_presenting_isShownOnce() throws {
    let navd = try RestartableMachine()
    let begun = try navd.present("a", to: "cmd")
    let not = try navd.present("b", to: "cmd")
    #expect(try navd.restart([begun: .shown, not: .toBeShown]) == [.present(not)])
    #expect([begun, not].map(navd.phase) == ["presented", "presenting"])
  }

  @Test("R6, P14: a dismissal under way is asked for again, with its whole grace, and keeps its reason")
  func restored_dismissing_isToldAgain() throws {
    let navd = try RestartableMachine()
    let command = try navd.present("a", to: "cmd")
    navd.hear(.presentAnswered(command, error: nil))
    try navd.dismiss("a")
    #expect(navd.pass(2000) == [.kill(command)])
    let again = PresenterCommand.dismiss(command, .dismissed, animated: true, isForced: false)
    #expect(try navd.restart(after: 10_000, [command: .shown]) == [again])
    #expect(navd.pass(1999) == [])
    #expect(navd.pass(1) == [.kill(command)])
    navd.hear(.dismissAnswered(command, result: [:]))
    #expect(navd.reason(command) == .dismissed)
  }

  @Test("R6: a dismissal completed without navd keeps its reason, and waiting items are presented")
  func restored_dismissingAndGone_hasEnded() throws {
    let navd = try RestartableMachine()
    let first = try navd.present("a", "1", to: "cmd")
    navd.hear(.presentAnswered(first, error: nil))
    let second = try navd.present("a", "2", to: "cmd")
    #expect(try navd.restart([first: .gone(result: [:])]) == [.present(second)])
    #expect(navd.reason(first) == .replaced)
  }

  @Test("R6: a presentation that is gone while it waits for the end of its child is not told to end")
  func restored_goneWhileItsChildEnds_isNotTold() throws {
    let navd = try RestartableMachine()
    let (parent, child) = (try navd.present("a", to: "bus"), try navd.present("a.b", to: "bus"))
    for handle in [parent, child] { navd.hear(.presentAnswered(handle, error: nil)) }
    try navd.dismiss("a")
    let again = PresenterCommand.dismiss(child, .parent, animated: true, isForced: true)
    #expect(try navd.restart([parent: .gone(result: ["x": .byte(1)]), child: .toBeShown]) == [again])
    #expect(navd.hear(.dismissAnswered(child, result: [:])) == [])
    #expect(navd.reason(parent) == .dismissed && navd.machine.ending(of: parent)?.result == ["x": .byte(1)])
  }

  @Test("R2, P14: a presenter on the bus is asked to present again; an error, or no answer in time, is the end")
  func restored_onTheBus_isAskedAgain() throws {
    let navd = try RestartableMachine()
    let handles = try ["a", "b", "c"].map { try navd.present($0, to: "bus") }
    for handle in handles { navd.hear(.presentAnswered(handle, error: nil)) }
    let survivals = Dictionary(uniqueKeysWithValues: handles.map { ($0, Survival.toBeShown) })
    #expect(try navd.restart(survivals) == handles.map(PresenterCommand.present))
    #expect(handles.map(navd.phase) == ["presented", "presented", "presented"])
    navd.hear(.presentAnswered(handles[0], error: nil))
    navd.hear(.presentAnswered(handles[1], error: "no"))
    #expect(navd.reason(handles[1]) == .failed)
    #expect(navd.pass(100) == [.dismiss(handles[2], .failed, animated: true, isForced: true)])
    #expect(navd.phase(handles[0]) == "presented")
  }

  @Test(
    "R2, D8: a presenter that is asked to present again gets no update before it has answered"
  )
  func restored_onTheBus_isUpdatedAfterItsAnswer() throws {
    let navd = try RestartableMachine()
    let handle = try navd.present("a", to: "bus")
    navd.hear(.presentAnswered(handle, error: nil))
    #expect(try navd.restart([handle: .toBeShown]) == [.present(handle)])
    #expect(try navd.change("a", title: "T") == [])
    #expect(navd.hear(.presentAnswered(handle, error: nil)) == [.update(handle, author: nil)])
  }

  @Test("R2, P15, D8: a presenter that declines before it has presented again gets an update at once")
  func restored_declinedBeforeItsAnswer_isUpdated() throws {
    let navd = try RestartableMachine()
    let handle = try navd.present("a", to: "bus")
    navd.hear(.presentAnswered(handle, error: nil))
    #expect(try navd.restart([handle: .toBeShown]) == [.present(handle)])
    try navd.dismiss("a")
    #expect(navd.hear(.declined(handle, message: "")) == [.update(handle, author: nil)])
  }

  @Test("D4, R6: a presentation whose presenter was away waits for it again, and is asked when it comes back")
  func restored_presenterAway_isAwaited() throws {
    let navd = try RestartableMachine()
    let handles = try ["a", "b", "c"].map { try navd.present($0, to: "bus") }
    for handle in handles {
      navd.hear(.presentAnswered(handle, error: nil))
      navd.hear(.presenterLeft(handle))
    }
    #expect(
      try navd.restart(after: 1900, [handles[0]: .awaited, handles[1]: .awaited, handles[2]: .toBeShown]) == [
        .present(handles[2])
      ])
    #expect(navd.hear(.presenterReturned(handles[1])) == [.present(handles[1])])
    for handle in handles[1...] { navd.hear(.presentAnswered(handle, error: nil)) }
    _ = navd.pass(1999)
    #expect(handles.map(navd.phase) == ["presented", "presented", "presented"])
    _ = navd.pass(1)
    #expect(navd.reason(handles[0]) == .failed)
    #expect(handles[1...].map(navd.phase) == ["presented", "presented"])
    // On another bus, no presenter comes back (R8).
    navd.hear(.presenterLeft(handles[1]))
    _ = try navd.restart([handles[1]: .awaited, handles[2]: .toBeShown], isOtherSession: true)
    #expect(navd.reason(handles[1]) == .lost)
  }

  @Test("D4, R2: a registration from before the restart is no return of a presenter that leaves after it")
  func restored_registration_isNoReturn() throws {
    let navd = try RestartableMachine()
    try navd.register("shell", by: "anna")
    let handle = try navd.present("a", to: "shell")
    navd.hear(.presentAnswered(handle, error: nil))
    _ = try navd.restart([handle: .shown])
    #expect(navd.hear(.presenterLeft(handle)) == [])
  }

  @Test("N8, R2: a parked program that was about to show an item again is parked again if it cannot")
  func restored_programAboutToShow_isParkedAfterFailure() throws {
    let navd = try RestartableMachine()
    let files = try navd.present("a", to: "files")
    navd.hear(.presentAnswered(files, error: nil))
    try navd.dismiss("a")
    navd.hear(.hidden(files))
    let again = try navd.present("a", to: "files")
    #expect(try navd.restart([again: .toBeShown]) == [.present(again)])
    #expect(navd.machine.parked.isEmpty)
    navd.hear(.presentAnswered(again, error: "no"))
    #expect(navd.machine.parked.map(\.handle) == [files])
  }

  @Test("N8, R2: a program that ended while it was about to show an item again is not parked, and others still are")
  func restored_programThatEnded_isNotParked() throws {
    let navd = try RestartableMachine()
    let parked = try ["a", "b"].map { text in
      let handle = try navd.present(text, to: "files")
      navd.hear(.presentAnswered(handle, error: nil))
      try navd.dismiss(text)
      navd.hear(.hidden(handle))
      return handle
    }
    let again = try navd.present("a", to: "files")
    navd.hear(.parkedEnded(parked[0]))
    #expect(try navd.restart([again: .toBeShown, parked[1]: .shown]) == [.present(again)])
    navd.hear(.presentAnswered(again, error: "no"))
    #expect(navd.machine.parked.map(\.handle) == [parked[1]])
  }

  @Test("R2, C1: a parent stays named", arguments: [true, false])
  func restored_parent_staysNamedOrImplied(isNamed: Bool) throws {
    let navd = try RestartableMachine()
    _ = try navd.present("a", "1")
    _ = try navd.present("a.b.c") { $0.from = isNamed ? "a" : nil }
    _ = try navd.restart()
    try navd.perform(
      .present("a", id: "2", .with()), .present("a.b.c", id: "", .with()), .present("a.b", id: "", .with()))
    #expect(navd.machine.current(at: "a.b.c")?.parent == navd.machine.current(at: isNamed ? "a" : "a.b")?.handle)
  }

  @Test("R2: items of clients that left end as owner, and their registrations are removed")
  func restored_owned_endsForItsOwner() throws {
    let navd = try RestartableMachine()
    let owned = try navd.present("a", by: "anna") { $0.owned = true }
    let others = try navd.present("b", by: "bert") { $0.owned = true }
    #expect(navd.machine.knownClients == ["anna", "bert"])
    _ = try navd.restart(absent: ["anna"])
    #expect(navd.reason(owned) == .owner)
    #expect(navd.phase(others) == "presented")
    #expect(navd.machine.knownClients == ["bert"])
  }

  @Test("R2: an item whose owner or parent is gone is not started because the one before it is gone, too")
  func restored_waitingForOneThatIsGone_isNotStarted() throws {
    let navd = try RestartableMachine()
    let parent = try navd.present("p", to: "cmd")
    let former = [try navd.present("a", "1", to: "cmd"), try navd.present("b", "1", to: "cmd")]
    for handle in [parent] + former { navd.hear(.presentAnswered(handle, error: nil)) }
    let owned = try navd.present("a", "2", to: "cmd", by: "anna") { $0.owned = true }
    let child = try navd.present("b", "2", to: "cmd") { $0.from = "p" }
    #expect([owned, child].map(navd.phase) == ["waiting", "waiting"])
    #expect(try navd.restart(absent: ["anna"]) == [])
    #expect(([parent] + former + [owned, child]).map(navd.reason) == [.lost, .replaced, .replaced, .owner, .parent])
  }

  @Test("O2: a timeout that passed without navd ends the item at once; another one continues")
  func restored_timeout_runsOn() throws {
    let navd = try RestartableMachine()
    let short = try navd.present("a") { $0.timeout = 50 }
    let long = try navd.present("b") { $0.timeout = 500 }
    _ = try navd.restart(after: 200)
    _ = navd.pass(0)
    #expect(navd.reason(short) == .expired)
    _ = navd.pass(299)
    #expect(navd.phase(long) == "presented")
    _ = navd.pass(1)
    #expect(navd.reason(long) == .expired)
  }

  @Test("O2: instants are moved to a clock that started again, within its bounds")
  func recorded_moved_keepsWhatRemains() throws {
    var presentation = Presentation(
      handle: Handle(1), binding: binding("a"), item: Shared(Item(id: "")), phase: .presented)
    presentation.presentedAt = Instant(nanoseconds: 100)
    presentation.expires = Instant(nanoseconds: 5_000)
    presentation.answerDue = Instant(nanoseconds: .max)
    var state = RecordedState()
    state.presentations[Handle(1)] = .init(presentation)
    let back = try #require(state.moved(from: 0, to: 1_000).presentations[Handle(1)]?.presentation)
    #expect(back.presentedAt == Instant(nanoseconds: 0))
    #expect(back.expires == Instant(nanoseconds: 4_000))
    #expect(back.answerDue == Instant(nanoseconds: .max))
    let late = state.moved(from: .max, to: .min).presentations[Handle(1)]?.presentation.expires
    #expect(late == Instant(nanoseconds: 5_000 + UInt64(Int64.max)))
  }

  @Test("R4: a record that contradicts itself is refused")
  func restored_contradiction_isRefused() throws {
    func row(_ number: UInt64, _ text: String, _ phase: Lifecycle = .presented) -> Presentation {
      Presentation(
        handle: Handle(number), binding: binding(text), item: Shared(Item(id: "")), phase: phase)
    }
    func check(_ rows: [Presentation], last: UInt64 = 9, isRefused: Bool = true) {
      var state = RecordedState(numbers: .init(serial: Serial(1), lastHandle: Handle(last)))
      for row in rows { state.presentations[row.handle] = .init(row) }
      #expect(((try? StateMachine(restoring: state)) == nil) == isRefused)
    }
    check([row(1, "a"), row(2, "b")], isRefused: false)
    check([row(1, "a"), row(2, "a")])
    check([row(5, "a")], last: 4)
    var orphan = row(2, "b")
    orphan.parent = Handle(7)
    check([orphan])
    var (one, two) = (row(1, "a"), row(2, "b"))
    one.item.membership = GroupTag(group: binding("g"), tag: "1")
    two.item.membership = GroupTag(group: binding("g"), tag: "2")
    check([one, two])
    (one, two) = (row(1, "a"), row(2, "b"))
    one.item.position = StackPosition(stack: binding("s"), index: 0)
    two.item.position = StackPosition(stack: binding("s"), index: 2)
    check([one, two])
    // An item cannot be shown while the one before it is dismissed, or before its parent.
    let going = Lifecycle.dismissing(PendingDismissal(.held, reason: .replaced))
    (one, two) = (row(1, "a", going), row(2, "b", going))
    (one.item.position, two.item.position) = (StackPosition(stack: "s", index: 0), StackPosition(stack: "s", index: 1))
    check([one, two], isRefused: false)
    two.item.position = one.item.position
    check([one, two])
    check([row(1, "a", going), row(2, "a")])
    check([row(1, "a"), row(2, "a", going)])
    (one, two) = (row(1, "a", .waiting), row(2, "a.b"))
    two.parent = one.handle
    check([one, two])
  }

  @Test("R4, L1: a record with more than four times as many holders as the limit is refused", arguments: [8, 9])
  func restored_manyHolders_isRefused(count: UInt64) {
    var limits = Limits()
    limits.entries = 2
    var state = RecordedState(numbers: .init(serial: Serial(1), lastHandle: Handle(1)))
    for cookie in 1...count {
      var holder = Holder()
      holder.client = "anna"
      state.holders[Holder.Key(name: "dnd", cookie: cookie)] = holder
    }
    #expect(((try? StateMachine(limits: limits, restoring: state)) == nil) == (count > 8))
  }

  @Test("R6, P15: a recorded decline counts; after one that was not recorded, the dismissal is asked for again")
  func restored_afterDecline_isPresented() throws {
    let navd = try RestartableMachine()
    let parent = try navd.present("a", to: "bus") { $0.timeout = 1000 }
    let child = try navd.present("a.b", to: "bus")
    for handle in [parent, child] { navd.hear(.presentAnswered(handle, error: nil)) }
    let both: [Handle: Survival] = [parent: .toBeShown, child: .toBeShown]
    try navd.perform(.present(binding("a"), id: "next", .with()))
    // This decline was not recorded.
    let again = PresenterCommand.dismiss(child, .parent, animated: true, isForced: false)
    #expect(try navd.restart(after: 5000, both) == [again])
    navd.hear(.declined(child, message: "unsaved"))
    // This decline was recorded, and nobody was told.
    #expect(Set(try navd.restart(both)) == [.present(parent), .present(child)])
    #expect([parent, child].map(navd.phase) == ["presented", "presented"])
    #expect(navd.machine.current(at: binding("a"))?.handle == parent)
    for handle in [parent, child] { navd.hear(.presentAnswered(handle, error: nil)) }
    #expect(navd.pass(999) == [])
    #expect(navd.pass(1) == [.dismiss(child, .parent, animated: true, isForced: false)])
  }

  @Test("R6, P16: a presenter that asks its user is told again, and no longer counts as asking")
  func restored_asking_isToldAgain() throws {
    let navd = try RestartableMachine()
    let handle = try navd.present("a", to: "bus")
    navd.hear(.presentAnswered(handle, error: nil))
    try navd.dismiss("a")
    try navd.asks(handle, "Save?")
    #expect(navd.machine.presentation(handle)?.phase.dismissal?.stage == .asking(message: "Save?"))
    let again = PresenterCommand.dismiss(handle, .dismissed, animated: true, isForced: false)
    #expect(try navd.restart(after: 10_000, [handle: .toBeShown]) == [again])
    #expect(navd.machine.presentation(handle)?.phase.dismissal?.stage == .asked)
    #expect(navd.pass(49) == [])
    #expect(navd.pass(1) == [.abandon(handle)])
  }

  @Test(
    "R6, P15: a dismissal under way is asked for once, by force, if something it depends on is gone or has lost its owner",
    arguments: ["child of what is gone", "child of what was owned", "above what is gone"])
  func restored_dependsOnWhatIsGone_isForcedOnce(_ relation: String) throws {
    let navd = try RestartableMachine()
    let isStack = relation.hasPrefix("above")
    let lowest = try navd.present("a", to: "bus", by: Client(":1.1")) {
      if relation.hasSuffix("owned") { $0.owned = true }
      if isStack { $0.stack = binding("s") }
    }
    navd.hear(.presentAnswered(lowest, error: nil))
    // Only the stack makes these items depend on each other.
    let names = isStack ? ["b", "c"] : ["a.b", "a.b.c"]
    let others = try names.map { text in
      let handle = try navd.present(text, to: "bus") { if isStack { $0.stack = binding("s") } }
      navd.hear(.presentAnswered(handle, error: nil))
      return handle
    }
    try navd.dismiss(names[1])
    var survivals = Dictionary(uniqueKeysWithValues: ([lowest] + others).map { ($0, Survival.toBeShown) })
    if relation.hasSuffix("gone") { survivals[lowest] = nil }
    #expect(
      try navd.restart(survivals, absent: [Client(":1.1")])
        == [.dismiss(others[1], .dismissed, animated: true, isForced: true)])
  }

  @Test("R6, P15: an element whose owner has left does not force elements that stood above the element before it")
  func restored_ownedTookPlaceInStack_doesNotForceOthers() throws {
    let navd = try RestartableMachine()
    let shown = try ["a", "b", "c"].map { text in
      let handle = try navd.present(text, to: "bus") { $0.stack = binding("s") }
      navd.hear(.presentAnswered(handle, error: nil))
      return handle
    }
    try navd.dismiss("b")
    _ = try navd.present("d", to: "bus", by: Client(":1.1")) {
      $0.owned = true
      $0.stack = binding("s")
    }
    let survivals = Dictionary(uniqueKeysWithValues: shown.map { ($0, Survival.toBeShown) })
    let again = PresenterCommand.dismiss(shown[2], .popped, animated: true, isForced: false)
    #expect(try navd.restart(survivals, absent: [Client(":1.1")]).first == again)
  }
}
