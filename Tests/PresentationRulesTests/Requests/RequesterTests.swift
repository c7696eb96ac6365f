import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules
@testable import Simulation

/// Requesters: the client whose request ended a presentation, and since when an item is shown.
@Suite struct RequesterTests {
  private let fixture = RulesFixture()

  private func ender(_ handle: Handle) -> String? { fixture.ending(handle)?.by?.client.name }

  @Test("By whom: the client that dismissed, replaced, deselected or popped the item or its parent")
  func end_byRequest_namesItsClient() throws {
    let dismissed = try fixture.show("a")
    try fixture.ask(.dismiss("a"), by: "berta")
    fixture.goes(dismissed)
    #expect(ender(dismissed) == "berta")

    try fixture.present("b", "1", by: "anna")
    try fixture.present("b", "2", by: "berta")
    #expect(ender(2) == "berta")
    try fixture.present("x", "", .with(group: "g"), by: "anna")
    try fixture.ask(.deselect("g", tag: nil), by: "carla")
    #expect(ender(4) == "carla")
    try fixture.ask(.push("s", "s1", id: "", ItemOptions()), by: "anna")
    try fixture.ask(.push("s", "s2", id: "", ItemOptions()), by: "anna")
    try fixture.ask(.pop("s", count: 1), by: "berta")
    #expect(ender(6) == "berta")
    try fixture.present("p", by: "anna")
    try fixture.present("p.child", by: "anna")
    try fixture.apply(.dismiss("p"), .present("q", id: "", ItemOptions()), by: "carla")
    #expect(["parent", "dismissed"] == [8, 7].map { fixture.ending($0)?.reason.rawValue })
    #expect([ender(7), ender(8)] == ["carla", "carla"])
    try fixture.clearAway()
  }

  @Test(
    "By whom: the owner that left, the client that reports it closed or has navd quit; nobody, if it ends by itself")
  func end_otherwise_namesWhoItWas() throws {
    try fixture.present("a", "", .with(owned: true), by: "anna")
    fixture.leave("anna")
    #expect(ender(1) == "anna")
    let bus = try fixture.show("b", "", .with(to: "bus"))
    #expect(try fixture.closed(bus, by: "bar", byPresenter: true))
    #expect(ender(bus) == "bar")
    let command = try fixture.show("c")
    fixture.ends(command)
    #expect(fixture.ending(command)?.reason == .closed)
    #expect(fixture.ending(command)?.by == nil)
    try fixture.present("d", "", .with(timeout: 10), by: "anna")
    fixture.pass(10)
    #expect(fixture.ending(4)?.reason == .expired)
    #expect(fixture.ending(4)?.by == nil)
    try fixture.present("e", by: "anna")
    fixture.shutDown(by: "berta")
    #expect(ender(5) == "berta")
  }

  @Test("By whom: the first client counts")
  func end_askedForTwice_namesTheFirst() throws {
    let handle = try fixture.show("a")
    try fixture.ask(.dismiss("a"), by: "berta")
    try fixture.ask(.dismissAll(.everything), by: "carla")
    fixture.goes(handle)
    #expect(ender(handle) == "berta")
  }

  @Test("By whom, P15: nobody ends a presentation that is kept")
  func end_declined_namesNobody() throws {
    let handle = try fixture.show("a", "", .with(to: "bus"))
    try fixture.ask(.dismiss("a"), by: "berta")
    let before = fixture.machine.presentation(handle)?.endedBy?.client
    fixture.declines(handle)
    let after = fixture.machine.presentation(handle)?.endedBy
    #expect(before == "berta" && after == nil)
    try fixture.clearAway()
  }

  @Test("By whom: each client is identified once, for all presentations that it ended and will end")
  func identify_once_fillsInWhatItEnded() throws {
    var machine = StateMachine()
    _ = machine.load([
      Destination(name: "cmd", presenter: .command([Array("sleep".utf8)]), source: .file(path: "cmd"))
    ])
    func ask(_ operation: Request.Operation, _ client: Client) throws -> [Client] {
      try machine.perform(Request(operation), by: client, at: Instant(nanoseconds: 5_000_000)).outcome.requesters
    }
    machine.wallClockLead = 1_000_000_000_000
    #expect(try ask(.present("a", id: "", ItemOptions()), ":1.1") == [])
    #expect(try ask(.present("b", id: "", .with(to: "cmd")), ":1.1") == [])
    #expect(try ask(.present("c", id: "", ItemOptions()), ":1.1") == [])
    #expect(try ask(.dismiss("a"), ":1.2") == [":1.2"])
    #expect(try ask(.dismiss("b"), ":1.2") == [])
    #expect(machine.ending(of: 1)?.by == Requester(":1.2"))
    #expect(machine.ending(of: 1)?.time == 1_000_005)
    let requester = Requester(":1.2", process: 7, program: "navctl")
    machine.identify(requester)
    #expect(machine.ending(of: 1)?.by == requester)
    #expect(machine.presentation(2)?.endedBy == requester)
    _ = machine.report(.ended(2, failed: false, result: [:]), at: Instant(nanoseconds: 5_000_000))
    #expect(machine.ending(of: 2)?.by == requester)
    #expect(try ask(.dismiss("c"), ":1.2") == [])
    #expect(machine.ending(of: 3)?.by == requester)
    // The history has the order of the ends.
    #expect(machine.history.map(\.handle) == [1, 2, 3])
  }

  @Test("By whom: no ending waits any longer for a client that left before it was identified")
  func identify_clientLeft_changesNothing() throws {
    var machine = StateMachine()
    let now = Instant(nanoseconds: 1)
    func dismiss(_ binding: BindingID) throws -> [Client] {
      _ = try machine.perform(Request(.present(binding, id: "", ItemOptions())), by: nil, at: now)
      return try machine.perform(Request(.dismiss(binding)), by: ":1.2", at: now).outcome.requesters
    }
    #expect(try dismiss("a") == [":1.2"])
    _ = machine.clientLeft(":1.2", at: now)
    #expect(try dismiss("b") == [":1.2"])
    machine.identify(Requester(":1.2", process: 7))
    #expect([1, 2].map { machine.ending(of: $0)?.by?.process } == [nil, 7])
    #expect(try dismiss("c") == [])
    // The facts about a client are forgotten when it leaves.
    _ = machine.clientLeft(":1.2", at: now)
    #expect(try dismiss("d") == [":1.2"])
  }

  @Test("Since when: by the wall clock of that moment, and the same after a restart")
  func since_presented_isNotedOnce() throws {
    var machine = try StateMachine(restoring: RecordedState())
    _ = machine.load([
      Destination(name: "cmd", presenter: .command([Array("sleep".utf8)]), source: .file(path: "cmd"))
    ])
    machine.wallClockLead = 1_000_000_000_000
    let now = Instant(nanoseconds: 5_000_000)
    _ = try machine.perform(Request(.present("a", id: "", ItemOptions())), by: nil, at: now)
    _ = try machine.perform(Request(.present("b", id: "", .with(to: "cmd"))), by: nil, at: now)
    #expect(machine.presentation(1)?.since == 1_000_005)
    #expect(machine.presentation(2)?.since == nil)
    _ = machine.report(.presentAnswered(2, error: nil), at: Instant(nanoseconds: 7_000_000))
    #expect(machine.presentation(2)?.since == 1_000_007)
    // The wall clock is set, which does not change how long an item has been shown.
    machine.wallClockLead = 0
    _ = try machine.perform(Request(.present("a", id: "", .with(title: "A"))), by: nil, at: now)
    #expect(machine.presentation(1)?.since == 1_000_005)
    var record = RecordedState()
    record.apply(machine.takeUnrecorded())
    let restored = try StateMachine(restoring: record)
    #expect(restored.presentation(2)?.since == 1_000_007)
  }

  @Test("R6: the client whose request ends a presentation is known even after a restart")
  func restored_going_knowsBecauseOfWhom() throws {
    var machine = try StateMachine(restoring: RecordedState())
    var record = RecordedState()
    _ = machine.load([
      Destination(name: "cmd", presenter: .command([Array("sleep".utf8)]), source: .file(path: "cmd"))
    ])
    let now = Instant(nanoseconds: 1)
    _ = try machine.perform(Request(.present("a", id: "", .with(to: "cmd"))), by: ":1.1", at: now)
    _ = try machine.perform(Request(.present("b", id: "", ItemOptions())), by: ":1.1", at: now)
    _ = try machine.perform(Request(.dismissAll(.everything)), by: ":1.2", at: now)
    record.apply(machine.takeUnrecorded())
    let requester = Requester(":1.2", process: 7)
    machine.identify(requester)
    record.apply(machine.takeUnrecorded())
    machine = try StateMachine(restoring: record)
    _ = machine.resume([1: .gone(result: [:])], absent: [], at: now)
    #expect([1, 2].map { machine.ending(of: $0)?.by } == [requester, requester])
  }
}
