import CoordinatorAPI
import CoordinatorCore
import DBus
import DBusValues
import PresentationModel
import PresentationRules
import TestSupport
import Testing

/// The service between the contract and the rules: reading, requests, authorization, waiting calls, time, clients and the end.
@Suite struct ServiceTests {
  private typealias Rows = CoordinatorInterface

  private static func request(_ method: String, _ arguments: Value...) -> TransactionRequest {
    TransactionRequest(method, arguments)
  }
  private static func present(_ binding: String) -> TransactionRequest {
    request("Present", .string(binding), .string(""), Properties.state.value)
  }

  // MARK: The contract

  @Test("Every property of the contract is bound at once, and a method when somebody asks for it by name")
  func contract_members_areBound() {
    let fixture = ServiceFixture()
    for member in Rows.interface.members {
      if case .method(let name, _, _, _, _) = member {
        let before = fixture.binder.names
        CoordinatorMethod(rawValue: name.text).map { fixture.service.bind($0, to: fixture.binder) }
        #expect(fixture.binder.names == before + [name])
      } else if case .property(let name, _, _, _, _, _) = member {
        #expect(fixture.binder.properties[name] != nil, "\(name)")
      }
    }
    let methods = fixture.binder.names.filter { fixture.binder.properties[$0] == nil }
    #expect(methods.map(\.text).sorted() == CoordinatorMethod.allCases.map(\.rawValue).sorted())
  }

  @Test("The properties have the current values, and Limits has those of the host")
  func properties_read_haveCurrentValues() throws {
    let fixture = ServiceFixture()
    func value(_ name: String) throws -> Value {
      try #require(fixture.binder.properties.first { $0.key.text == name }).value()
    }
    #expect(try value("Version") == .uint32(Rows.currentVersion))
    #expect(try value("Release") == .string(Release.version))
    let before = try value("Serial")
    try fixture.present("a")
    #expect(try value("Serial") == .uint64(fixture.service.serial))
    #expect(try value("Serial") != before)
    let limits = try #require([String: UInt64](value: try value("Limits")))
    #expect(limits["request"] == 7 && limits["text"] == 4096)
  }

  @Test("Reload has the refusal of the host")
  func reload_refused_isRefused() throws {
    let fixture = ServiceFixture()
    try fixture.call(Rows.reload, ()).output()
    fixture.reloadRefusal = Refusal(.invalidConfiguration, "a.toml:1:1")
    #expect(fixture.call(Rows.reload, ()).refusal?.code == .invalidConfiguration)
  }

  // MARK: Reading

  @Test("O2: Get has the time that is left of a timeout, which shrinks with the clock")
  func get_timeoutRuns_hasTimeLeft() throws {
    let fixture = ServiceFixture()
    try fixture.present("a", "", ["timeout": .uint64(1000)])
    #expect(try fixture.entry("a").timeoutLeft == 1000)
    fixture.pass(milliseconds: 300)
    #expect(try fixture.entry("a").timeoutLeft == 700)
    fixture.pass(milliseconds: 900)
    #expect(try fixture.entry("a").timeoutLeft == 0)
    try fixture.present("b")
    #expect(try fixture.entry("b").timeoutLeft == nil)
    // The timeout runs from when it is presented.
    let handle = try fixture.present("c", "", ["destination": .string("screen"), "timeout": .uint64(50)])
    #expect(try fixture.entry("c").timeoutLeft == nil)
    fixture.service.report(.presentAnswered(handle, error: nil))
    #expect(try fixture.entry("c").timeoutLeft == 50)
  }

  @Test("The reply of Get for an empty slot is “/” and an empty entry")
  func get_emptySlot_hasNoPresentation() throws {
    let fixture = ServiceFixture()
    let (path, item, serial) = try fixture.call(Rows.get, "a").output()
    #expect(path == .root && item.isEmpty && serial == fixture.service.serial)
    #expect(fixture.call(Rows.get, "a b").refusal?.code == .invalidBinding)
  }

  @Test("An entry has the time at which it was presented, and the facts that its presenter knows")
  func entry_presented_hasSinceAndPlatform() throws {
    let fixture = ServiceFixture()
    let handle = try fixture.present("a", "", ["destination": .string("screen")])
    #expect(try fixture.entry("a").since == nil)
    fixture.pass(milliseconds: 250)
    fixture.service.report(.presentAnswered(handle, error: nil))
    let time = fixture.wallClock / 1000
    fixture.pass(milliseconds: 250)
    #expect(try fixture.entry("a").since == time)
    #expect(try fixture.entry("a").pid == handle.number + 1000)
    let state = StateSnapshot(try fixture.call(Rows.getState, ()).output().0)
    #expect(state.entries.map(\.since) == [time] && state.entries.map(\.pid) == [handle.number + 1000])
  }

  @Test("The item of a signal has the keys that the contract lists, and no others")
  func signal_item_hasTheKeysOfTheContract() throws {
    let fixture = ServiceFixture()
    _ = try fixture.call(Rows.declareContainerValue, ("badge", .int32(0))).output()
    try fixture.present("desk")
    let values: Properties = ["text": .string("7 is prime")]
    let badge: Properties = ["badge": .int32(3)]
    let options: Properties = [
      "destination": .string("screen"), "value": values.value, "container-values": badge.value,
      "style": .string("sheet"), "title": .string("Fact"), "output": .string("DP-1"), "from": .string("desk"),
      "group": .string("panels"), "tag": .string("fact"), "timeout": .uint64(5000), "owned": .boolean(true),
    ]
    fixture.service.report(.presentAnswered(try fixture.present("fact", "1", options), error: nil))
    try fixture.present("page", "", ["stack": .string("main")])
    _ = try fixture.call(Rows.update, ("fact", ["text": .string("8 is not")], [:])).output()
    var presented: Set<String> = []
    var updated: Set<String> = []
    for event in fixture.events {
      switch event.kind {
      case .presented(_, let item): presented.formUnion(item.keys)
      case .updated(_, let item): updated.formUnion(item.keys)
      default: break
      }
    }
    let declared = Set(StateEntry.ofSignal.rows.map(\.name))
    #expect(presented == declared)
    #expect(updated == declared.subtracting(["stack"]))
  }

  @Test("D15: files that have changed are read before a request is carried out, or a question about them is answered")
  func request_filesHaveChanged_readsThemFirst() throws {
    let fixture = ServiceFixture()
    func destination(_ name: String, group: String? = nil) -> Destination {
      Destination(
        name: name, presenter: .bus(name: "org.example.Screen", path: "/presenter"),
        group: group.flatMap { try? BindingID($0) },
        source: .file(path: name))
    }
    #expect(fixture.call(Rows.present, ("fresh", "", [:])).refusal?.code == .unknownDestination)
    fixture.changedFiles = [destination("fresh")]
    #expect(fixture.call(Rows.present, ("other", "", [:])).refusal?.code == .unknownDestination)
    #expect(fixture.taken().contains("read files") && fixture.changedFiles == nil)
    _ = try fixture.call(Rows.present, ("fresh", "", [:])).output()
    #expect(!fixture.taken().contains("read files"))
    // A name that is known already is read again, too.
    fixture.changedFiles = [destination("fresh", group: "panels"), destination("mixer", group: "panels")]
    _ = try fixture.call(Rows.present, ("fresh", "2", [:])).output()
    #expect(fixture.changedFiles == nil && fixture.taken().contains("selection panels fresh"))
    fixture.changedFiles = [destination("later")]
    _ = try fixture.call(Rows.apply, ([Self.request("Present", "later".value, "".value, Properties().value)], [:]))
      .output()
    #expect(fixture.bindings.contains("later"))
    fixture.changedFiles = [destination("last")]
    #expect(try fixture.call(Rows.destinations, ()).output().map(\.fields.0) == ["last"])
    #expect(fixture.changedFiles == nil)
  }

  @Test("An ending has its time, how long it was shown, and the client whose request it was")
  func ending_byRequest_hasTimeAndRequester() throws {
    let fixture = ServiceFixture()
    try fixture.present("a")
    fixture.pass(milliseconds: 400)
    try fixture.dismiss("a", by: "berta")
    let time = fixture.wallClock / 1000
    fixture.pass(milliseconds: 100)
    var ending = try #require(try fixture.history().first)
    #expect(ending.time == time && ending.shownFor == 400 && ending.reason == "dismissed")
    #expect(ending.requester?.client == "berta" && ending.requester?.pid == nil)
    fixture.service.identify(Requester(Client("berta"), process: 42, program: "panel"))
    ending = try #require(try fixture.history().first)
    #expect(ending.requester?.pid == 42 && ending.requester?.program == "panel")
  }

  @Test("A client is identified once, for all that it ended and will end")
  func requester_ofManyEndings_isIdentifiedOnce() throws {
    let fixture = ServiceFixture()
    for index in 0..<20 {
      try fixture.present("a", "\(index)")
      if index == 10 { fixture.service.identify(Requester(Client("anna"), process: 42, program: "panel")) }
    }
    #expect(fixture.identified == [Client("anna")])
    #expect(try fixture.history().map(\.requester?.pid) == Array(repeating: 42, count: 19))
  }

  // MARK: Requests

  @Test("P8, W1: the announcements of a request precede its commands, and those its answer")
  func request_accepted_isAnnouncedThenCarriedOutThenAnswered() throws {
    let fixture = ServiceFixture()
    let handle = try fixture.present("a", "", ["destination": .string("screen")])
    #expect(fixture.taken() == ["created 1", "presenting a", "command present 1", "answer Present"])
    let waiting = fixture.wait(handle, "presented")
    fixture.service.report(.presentAnswered(handle, error: nil))
    #expect(fixture.taken() == ["presented a", "answer Wait"])
    #expect(try waiting.output().0 == "")
    try fixture.dismiss("a")
    #expect(fixture.taken() == ["dismissing a", "command dismiss 1 dismissed", "answer Dismiss"])
  }

  @Test(
    "W1: an immediate answer of a presenter is announced before the reply to the request, and the serial of the reply counts it"
  )
  func request_commandAnsweredAtOnce_isAnnouncedBeforeTheAnswer() throws {
    let fixture = ServiceFixture()
    fixture.answerAtOnce = { command in
      if case .present(let handle) = command { .presentAnswered(handle, error: "no screen") } else { nil }
    }
    let output = try fixture.call(Rows.present, ("a", "", ["destination": .string("screen")])).output()
    #expect(
      fixture.taken()
        == ["created 1", "presenting a", "command present 1", "dismissed a failed", "answer Present"])
    #expect(output.3 == fixture.service.serial && fixture.events.last?.serial == output.3)
    #expect(fixture.events.map(\.serial) == Array(1...output.3))
    #expect(fixture.bindings.isEmpty)
  }

  @Test("T1: a transaction is carried out as a whole, with a reply to each request")
  func apply_accepted_repliesToEach() throws {
    let fixture = ServiceFixture()
    let (replies, serial) = try fixture.call(
      Rows.apply,
      ([Self.present("a"), Self.present("b"), Self.request("Dismiss", .string("c"), Properties().value)], [:])
    ).output()
    #expect(
      replies == [
        [.objectPath(Handle(1).path), .uint64(1), .boolean(true)],
        [.objectPath(Handle(2).path), .uint64(2), .boolean(true)], [.boolean(false)],
      ])
    #expect(serial == fixture.service.serial && fixture.bindings == ["a", "b"])
  }

  @Test("T1: a transaction with a refused request changes nothing, and the refusal names its index")
  func apply_requestRefused_changesNothing() {
    let fixture = ServiceFixture()
    let refused: [(TransactionRequest, ErrorCode)] = [
      (Self.request("Update", .string("none"), Properties().value, Properties().value), .notPresented),
      (Self.present("a b"), .invalidBinding), (Self.request("Fetch"), .invalidArgument),
      (Self.request("Present", .string("a")), .invalidArgument),
    ]
    for (request, code) in refused {
      let call = fixture.call(Rows.apply, ([Self.present("a"), Self.present("b"), request, Self.present("c")], [:]))
      #expect(call.refusal?.code == code && call.refusal?.index == 2, "\(request)")
    }
    #expect(fixture.bindings.isEmpty && fixture.service.serial == 0 && fixture.events.isEmpty)
  }

  @Test("R1: while nothing can be recorded, every change is refused, and nothing changes")
  func change_recordCannotBeWritten_isRefused() throws {
    let fixture = ServiceFixture()
    try fixture.present("a")
    let serial = fixture.service.serial
    fixture.recordRefusal = Refusal(.notRecorded, "the disk is full")
    let refusals = [
      fixture.call(Rows.present, ("b", "", .state)).refusal, fixture.call(Rows.dismiss, ("a", [:])).refusal,
      fixture.call(Rows.apply, ([Self.present("b")], [:])).refusal,
      fixture.call(Rows.declareContainerValue, ("rank", .int32(1))).refusal,
      fixture.call(Rows.registerPresenter, ("other", "/presenter", [:])).refusal,
    ]
    #expect(refusals == Array(repeating: fixture.recordRefusal, count: 5))
    #expect(fixture.bindings == ["a"] && fixture.service.serial == serial && fixture.followed.isEmpty)
    let defaults = fixture.service.machine.containerValueDefaults
    #expect(defaults["rank"] == nil)
    #expect(try fixture.call(Rows.destinations, ()).output().map(\.fields.0) == ["screen"])
    // Changes that happen by themselves are taken in all the same.
    #expect(try fixture.call(Rows.closed, (Handle(1).path, [:])).output().0)
    #expect(fixture.bindings.isEmpty)
  }

  // MARK: Authorization

  @Test("L3: a call is answered when its authorization is decided, and only then is anything done")
  func authorization_decidedLater_answersLater() throws {
    let fixture = ServiceFixture()
    fixture.decision = .later
    let calls = (
      one: fixture.call(Rows.present, ("a", "", .state)), all: fixture.call(Rows.apply, ([Self.present("b")], [:]))
    )
    let presenter = fixture.call(Rows.registerPresenter, ("other", "/presenter", [:]))
    #expect(calls.one.result == nil && calls.all.result == nil && presenter.result == nil && fixture.bindings.isEmpty)
    fixture.decide()
    #expect(try calls.one.output().2 && calls.all.output().0.count == 1)
    try presenter.output()
    #expect(fixture.bindings == ["a", "b"] && Set(fixture.followed) == [Client("anna")])
  }

  @Test("L3: a call without authorization is refused, at once or later, and changes nothing")
  func authorization_refused_changesNothing() {
    let fixture = ServiceFixture()
    let refusal = Refusal(.accessDenied, "in a sandbox")
    fixture.decision = .later
    let calls = (fixture.call(Rows.present, ("a", "", .state)), fixture.call(Rows.registerPresenter, ("x", "/p", [:])))
    fixture.decide(refusal)
    #expect(calls.0.refusal == refusal && calls.1.refusal == refusal)
    fixture.decision = .refuse(refusal)
    #expect(fixture.call(Rows.present, ("a", "", .state)).refusal == refusal)
    #expect(fixture.call(Rows.apply, ([Self.present("b")], [:])).refusal?.index == 0)
    #expect(fixture.call(Rows.registerPresenter, ("x", "/p", [:])).refusal == refusal)
    #expect(fixture.bindings.isEmpty && fixture.service.serial == 0 && fixture.followed.isEmpty)
  }

  @Test("P10, L3: the serial that a transaction expects is compared when it is carried out, not when it arrives")
  func apply_stateMovedBeforeAuthorization_isStale() throws {
    let fixture = ServiceFixture()
    fixture.decision = .later
    let call = fixture.call(Rows.apply, ([Self.present("b")], ["expected-serial": .uint64(fixture.service.serial)]))
    fixture.decision = .allow
    try fixture.present("a", by: "berta")
    fixture.decide()
    #expect(call.refusal?.code == .stale)
    #expect(fixture.bindings == ["a"])
  }

  // MARK: Waiting

  @Test("D6: Wait answers at once for a phase that was reached, and after the end with its result")
  func wait_phaseReached_answersAtOnce() throws {
    let fixture = ServiceFixture()
    let handle = try fixture.present("a")
    #expect(try fixture.wait(handle, "presented").output() == ("", [:]))
    _ = try fixture.call(Rows.closed, (handle.path, ["choice": .string("yes")])).output()
    for phase in ["presented", "gone"] {
      let ended = try fixture.wait(handle, phase).output()
      #expect(ended == ("closed", ["choice": .string("yes"), "status-known": .boolean(false)]))
    }
    // The service follows owners, not who has presented or waits.
    #expect(fixture.followed.isEmpty)
  }

  @Test("D6: Wait answers when the phase is reached, for every waiting call")
  func wait_phaseToCome_answersThen() throws {
    let fixture = ServiceFixture()
    let handle = try fixture.present("a", "", ["destination": .string("screen")])
    let calls = [fixture.wait(handle, "presented"), fixture.wait(handle), fixture.wait(handle, by: "berta")]
    #expect(calls.allSatisfy { $0.result == nil } && Set(fixture.followed) == [Client("anna"), Client("berta")])
    fixture.service.report(.presentAnswered(handle, error: nil))
    #expect(try calls[0].output().0 == "" && calls[1].result == nil && calls[2].result == nil)
    fixture.service.report(.ended(handle, failed: true, result: ["error": .string("it crashed")]))
    for call in calls.dropFirst() {
      let ended = try call.output()
      #expect(ended == ("failed", ["error": .string("it crashed"), "status-known": .boolean(false)]))
    }
  }

  @Test("Wait refuses an unknown phase and a handle that was never given out")
  func wait_unknownPhaseOrHandle_isRefused() throws {
    let fixture = ServiceFixture()
    let handle = try fixture.present("a")
    let refusal = try #require(fixture.wait(handle, "shown").refusal)
    #expect(refusal.code == .invalidArgument && refusal.message.contains("presented, gone or settled"))
    #expect(fixture.wait(Handle(99)).refusal?.code == .unknownPresentation)
    #expect(fixture.call(Rows.wait, ("/elsewhere", "gone")).refusal != nil)
  }

  @Test("L1: the waiting calls of a client are limited, and stop counting when they are answered or given up")
  func wait_pastItsLimit_isRefused() throws {
    var limits = Limits()
    limits.waits = 2
    let fixture = ServiceFixture(limits: limits)
    let (a, b) = (try fixture.present("a"), try fixture.present("b"))
    let first = fixture.wait(a)
    _ = fixture.wait(b)
    let refusal = try #require(fixture.wait(b).refusal)
    #expect(refusal.code == .limitExceeded && refusal.message.contains("“waits”"))
    #expect(fixture.wait(b, by: "berta").result == nil)
    #expect(fixture.service.giveUp(first) && !fixture.service.giveUp(first))
    #expect(first.result == nil && fixture.wait(b).result == nil)
    try fixture.dismiss("b")
    #expect(fixture.wait(a).result == nil)
  }

  @Test("L1: the waiting calls of all clients are limited, and stop counting when they are answered")
  func wait_pastTheLimitOfAll_isRefused() throws {
    var limits = Limits()
    limits.waits = 1
    let fixture = ServiceFixture(limits: limits)
    let handle = try fixture.present("a")
    for client in ["anna", "berta", "dora", "emma"] { #expect(fixture.wait(handle, by: client).result == nil) }
    let refusal = try #require(fixture.wait(handle, by: "clara").refusal)
    #expect(refusal.code == .limitExceeded && refusal.message.contains("“waits”"))
    try fixture.dismiss("a")
    #expect(fixture.wait(try fixture.present("a"), by: "clara").result == nil)
  }

  @Test("A caller of Wait that wants no reply does not wait")
  func wait_noReplyExpected_doesNotWait() throws {
    var limits = Limits()
    limits.waits = 1
    let fixture = ServiceFixture(limits: limits)
    let handle = try fixture.present("a")
    for _ in 0..<3 { #expect(fixture.wait(handle, isReplyExpected: false).result != nil) }
    #expect(fixture.wait(handle).result == nil)
  }

  @Test("R5: calls that wait are refused when the host leaves")
  func wait_hostLeaves_isRefused() throws {
    let fixture = ServiceFixture()
    let waiting = fixture.wait(try fixture.present("a"))
    fixture.service.refuseWaiters(Refusal(.shuttingDown, "ask again"))
    #expect(waiting.refusal == Refusal(.shuttingDown, "ask again"))
    #expect(fixture.bindings == ["a"])
  }

  // MARK: Time

  @Test(
    "O2: a new alarm is set only for an earlier time; an alarm ends the items that are due, and the next one is set")
  func alarm_deadlines_areServedInTime() throws {
    let fixture = ServiceFixture()
    func present(_ binding: String, _ timeout: UInt64) throws {
      try fixture.present(binding, "", ["timeout": .uint64(timeout)])
    }
    let start = fixture.now
    func after(_ milliseconds: UInt64) -> Instant { Instant(nanoseconds: start.nanoseconds + milliseconds * 1_000_000) }
    try present("a", 1000)
    try present("b", 5000)
    #expect(fixture.alarms == [after(1000)])
    try present("c", 100)
    #expect(fixture.alarms == [after(1000), after(100)])
    // An alarm that goes off early ends nothing and is set again.
    fixture.pass(milliseconds: 50)
    fixture.service.expire()
    #expect(fixture.bindings == ["a", "b", "c"] && fixture.alarms.last == after(100) && fixture.alarms.count == 3)
    fixture.pass(milliseconds: 50)
    fixture.service.expire()
    #expect(fixture.bindings == ["a", "b"] && fixture.alarms.last == after(1000))
    #expect(try fixture.history().first?.reason == "expired")
    // An item that is due at another time ends in another change, with an alarm of its own, whose time may have passed.
    fixture.pass(milliseconds: 10_000)
    fixture.service.expire()
    #expect(fixture.bindings == ["b"] && fixture.alarms.last == after(5000))
    fixture.service.expire()
    #expect(fixture.bindings.isEmpty && fixture.alarms.count == 5)
  }

  @Test("D4: a presenter that does not answer in time has failed")
  func alarm_presenterSilent_fails() throws {
    let fixture = ServiceFixture()
    let handle = try fixture.present("a", "", ["destination": .string("screen")])
    let waiting = fixture.wait(handle, "presented")
    fixture.pass(milliseconds: Destination.defaultStartTimeout)
    #expect(fixture.alarms == [fixture.now])
    fixture.service.expire()
    #expect(fixture.taken().contains("command dismiss 1 failed") && waiting.result == nil)
    fixture.service.report(.dismissAnswered(handle, result: [:]))
    #expect(try waiting.output().0 == "failed")
  }

  // MARK: Clients

  @Test("O1: the items of a client that left end, and its calls wait no longer")
  func client_left_endsWhatItOwned() throws {
    let fixture = ServiceFixture()
    let kept = try fixture.present("kept")
    for index in 0..<1000 { try fixture.present("a\(index)", "", ["owned": .boolean(true)]) }
    #expect(Set(fixture.followed) == [Client("anna")])
    let (annas, bertas) = (fixture.wait(kept), fixture.wait(kept, by: "berta"))
    fixture.service.clientLeft(Client("anna"))
    #expect(fixture.bindings == ["kept"])
    #expect(annas.refusal?.code == .shuttingDown && bertas.result == nil)
    #expect(try fixture.history().allSatisfy { $0.reason == "owner" && $0.requester?.client == "anna" })
  }

  @Test("D1: the registrations of a client that left are removed")
  func client_left_unregistersItsDestinations() throws {
    let fixture = ServiceFixture()
    try fixture.call(Rows.registerPresenter, ("other", "/presenter", [:])).output()
    #expect(fixture.taken() == ["destinations", "answer RegisterPresenter"])
    #expect(fixture.call(Rows.unregisterPresenter, "other", by: "berta").refusal?.code == .unknownDestination)
    fixture.service.clientLeft(Client("anna"))
    #expect(try fixture.call(Rows.destinations, ()).output().map(\.fields.0) == ["screen"])
  }

  @Test("D11, P8: only its presenter on the bus reports a presentation closed or acts for it")
  func presenterReports_byOthers_areRefused() throws {
    let fixture = ServiceFixture()
    let handle = try fixture.present("a", "", ["destination": .string("screen")])
    fixture.service.report(.presentAnswered(handle, error: nil))
    #expect(fixture.call(Rows.closed, (handle.path, [:])).refusal?.code == .accessDenied)
    #expect(fixture.call(Rows.act, (handle.path, "ok", [:])).refusal?.code == .accessDenied)
    #expect(fixture.call(Rows.ready, handle.path).refusal?.code == .accessDenied)
    fixture.presented = [handle]
    #expect(try fixture.call(Rows.act, (handle.path, "ok", [:])).output() == fixture.service.serial)
    #expect(try fixture.call(Rows.closed, (handle.path, [:])).output() == (true, fixture.service.serial))
    #expect(try fixture.call(Rows.closed, (handle.path, [:])).output().0 == false)
  }

  // MARK: The end

  @Test("R5: Quit ends everything, answers, and refuses requests from then on")
  func quit_asked_endsEverything() throws {
    let fixture = ServiceFixture()
    let (shown, bare) = (try fixture.present("a", "", ["destination": .string("screen")]), try fixture.present("b"))
    fixture.service.report(.presentAnswered(shown, error: nil))
    let calls = [fixture.wait(shown), fixture.wait(bare)]
    _ = fixture.taken()
    try fixture.call(Rows.quit, (), by: "berta").output()
    let log = fixture.taken()
    #expect(log.first == "quit" && log.last == "answer Quit" && fixture.quits == 1)
    #expect(log.contains("command dismiss 1 shutdown"))
    #expect(try calls[1].output().0 == "shutdown" && calls[0].result == nil)
    #expect(fixture.call(Rows.present, ("c", "", [:])).refusal?.code == .shuttingDown)
    fixture.service.report(.dismissAnswered(shown, result: ["saved": .boolean(true)]))
    #expect(try calls[0].output() == ("shutdown", ["saved": .boolean(true), "status-known": .boolean(false)]))
    let isEmpty = fixture.service.machine.isEmpty
    #expect(isEmpty)
    #expect(try fixture.history().allSatisfy { $0.requester?.client == "berta" })
  }
}

/// Inputs that end as many items as there may be (L2).
@Suite struct ManyEndsTests {
  private typealias Rows = CoordinatorInterface

  private func fixture(_ count: Int = 1023, from parent: String? = nil) throws -> ServiceFixture {
    let fixture = ServiceFixture()
    if let parent { try fixture.present(parent) }
    for index in 0..<count { try fixture.present("a\(index)", "", parent.map { ["from": .string($0)] } ?? [:]) }
    _ = fixture.taken()
    return fixture
  }

  @Test("L2: DismissAll of many is answered with their number when all have ended")
  func dismissAll_many_endsAll() throws {
    let fixture = try fixture()
    #expect(try fixture.call(Rows.dismissAll, ["all": .boolean(true)]).output().0 == 1023 && fixture.bindings.isEmpty)
  }

  @Test(
    "C3, L2: many children end before their parent",
    arguments: ["Dismiss", "Toggle", "Present", "Closed", "expire", "report"])
  func parent_ofMany_endsLast(_ how: String) throws {
    let fixture = try fixture(from: "p")
    let handle = try #require(Handle(path: try fixture.call(Rows.get, "p").output().0))
    switch how {
    case "Dismiss": #expect(try fixture.call(Rows.dismiss, ("p", ["expected-id": .string("")])).output().0)
    case "Toggle": #expect(try !fixture.call(Rows.toggle, ("p", "", [:])).output().0)
    case "Present": #expect(try fixture.call(Rows.present, ("p", "2", .state)).output().2)
    case "Closed":
      #expect(try fixture.call(Rows.closed, (handle.path, ["n": .int32(1)])).output().0)
      #expect(try fixture.wait(handle).output().1 == ["n": .int32(1), "status-known": .boolean(false)])
    case "expire":
      _ = try fixture.call(Rows.update, ("p", [:], ["timeout": .uint64(5)])).output()
      fixture.pass(milliseconds: 5)
      fixture.service.expire()
    default: fixture.service.report(.ended(handle, failed: false, result: [:]))
    }
    #expect(fixture.bindings == (how == "Present" ? ["p"] : []))
    #expect(try fixture.history().filter { $0.binding != "p" }.allSatisfy { $0.reason == "parent" })
    #expect(fixture.taken().filter { $0.hasPrefix("dismissed") }.last?.hasPrefix("dismissed p ") == true)
  }

  @Test(
    "L3: a request that ends many is refused and ends none, or is carried out", arguments: [Trust.trusted, .confined])
  func parent_ofManyWithTheCommandOfAnother_endsOnlyForTheTrusted(verdict: Trust) throws {
    let fixture = try fixture(0)
    let editor: Properties = ["binding": .string("p"), "id": .string("1"), "command": ["editor"].value]
    _ = try fixture.call(Rows.select, ("g", "t", editor)).output()
    _ = try fixture.call(Rows.select, ("g", "u", .state)).output()
    try fixture.present("p")
    for index in 0..<150 { try fixture.present("a\(index)", "", ["from": .string("p"), "owned": .boolean(true)]) }
    _ = fixture.taken()
    (fixture.trust, fixture.verdict) = (.unknown, verdict)
    let call = fixture.call(Rows.select, ("g", "t", ["id": .string("2")]), by: "mallory")
    #expect(fixture.log.first == "find out")
    #expect(call.refusal?.code == (verdict == .trusted ? nil : .accessDenied))
    #expect(fixture.bindings.count { $0.hasPrefix("a") } == (verdict == .trusted ? 0 : 150))
  }

  @Test(
    "G9, L2: a queued item that ends with the selected member is not presented in between",
    arguments: ["DismissAll", "Dismiss", "clientLeft"])
  func queued_endingWithTheSelected_isNotPresented(_ how: String) throws {
    let fixture = try fixture(0)
    try fixture.present("p", by: "berta")
    let options: Properties = ["from": .string("p"), "owned": .boolean(true)]
    let member = options.merging(["group": .string("g")]) { $1 }
    try fixture.present("first", "", member)
    for name in ["next", "last"] { try fixture.present(name, "", member.merging(["if-busy": .string("queue")]) { $1 }) }
    for index in 0..<600 { try fixture.present("a\(index)", "", options) }
    try fixture.present("urgent", "", member)
    _ = fixture.taken()
    switch how {
    case "DismissAll": _ = fixture.call(Rows.dismissAll, ["all": .boolean(true)])
    case "Dismiss": _ = fixture.call(Rows.dismiss, ("p", [:]))
    default: fixture.service.clientLeft(Client("anna"))
    }
    #expect(fixture.taken().filter { $0.hasPrefix("presented") } == [])
    #expect(fixture.bindings == (how == "clientLeft" ? ["p"] : []))
  }

  @Test("G9, L2: a request that ends many and replaces a member of a group leaves the queue of the group unchanged")
  func queue_memberReplacedByARequestThatEndsMany_isUnchanged() throws {
    let fixture = try fixture(0)
    try fixture.present("p")
    try fixture.present("b", "", ["from": .string("p")])
    try fixture.present("c", "", ["from": .string("b"), "group": .string("g")])
    try fixture.present("queued", "", ["group": .string("g"), "if-busy": .string("queue")])
    for index in 0..<600 { try fixture.present("a\(index)", "", ["from": .string("p")]) }
    #expect(try fixture.call(Rows.present, ("p", "2", .state.merging(["group": .string("g")]) { $1 })).output().2)
    #expect(fixture.bindings == ["queued", "p"])
    #expect(try fixture.service.machine.queuedTags(of: BindingID("g")) == ["queued"])
    #expect(try fixture.history().first { $0.binding == "c" }?.reason == "deselected")
  }
}
