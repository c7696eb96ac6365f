import PresentationModel
import Testing

@testable import PresentationRules
@testable import Simulation

/// Variables of the session, for commands that navd starts without a request (K6).
struct SessionEnvironmentTests {
  private let fixture = RulesFixture(
    destinations: [
      Destination(name: "board", presenter: .command([[1]]), source: RulesFixture.file("board"))
    ], fallbacks: ["main": "board"])

  private func give(_ variables: [String: String]) throws(Refusal) -> Bool {
    let (changed, outcome) = try fixture.machine.importEnvironment(variables, at: fixture.now)
    fixture.take(outcome)
    return changed
  }

  @Test("K6: an item that waits for something else than its next attempt waits on")
  func variables_given_leaveOtherItemsWaiting() throws {
    try fixture.present("a", "", .with(command: ["true"]))
    try fixture.present("a.b")
    _ = fixture.taken()
    #expect(try give(["DISPLAY": ":0"]))
    #expect(fixture.phase(try #require(fixture.handle("a.b"))) == "waiting" && fixture.taken() == [])
  }

  @Test("K6: variables are kept by name, replaced, and removed by an empty value")
  func variables_given_areKept() throws {
    #expect(try give(["DISPLAY": ":0", "XAUTHORITY": "/x"]))
    #expect(try !give(["DISPLAY": ":0"]))
    #expect(try give(["DISPLAY": ":1", "XAUTHORITY": ""]))
    #expect(try !give(["NONE": ""]))
    #expect(fixture.machine.environment == ["DISPLAY": ":1"])
  }

  @Test(
    "K6: a name that is no variable of a session is refused, and nothing changes",
    arguments: ["", "1A", "a-b", "A=B", "é", "NAVD_ID", "NOTIFY_SOCKET"])
  func variable_invalid_isRefused(name: String) throws {
    do throws(Refusal) {
      _ = try give(["DISPLAY": ":0", name: "x"])
      Issue.record("it was accepted")
    } catch {
      #expect(error.code == .invalidArgument)
    }
    #expect(throws: Refusal.self) { try give(["DISPLAY": "a\0b"]) }
    #expect(fixture.machine.environment == [:])
  }

  @Test("L1: the number and the bytes of variables have limits")
  func variables_beyondLimit_areRefused() throws {
    let limits = Limits()
    let many = Dictionary(uniqueKeysWithValues: (0...limits.entries).map { ("V\($0)", "x") })
    #expect(throws: Refusal.self) { try give(many) }
    #expect(throws: Refusal.self) { try give(["BIG": String(repeating: "x", count: limits.value)]) }
    #expect(fixture.machine.environment == [:])
    let half = String(repeating: "x", count: limits.value / 2 - 1)
    #expect(throws: Refusal.self) { try give(["A": half, "B": half + "x"]) }
    #expect(try give(["A": half, "B": half]))
  }

  @Test("K6, R5: while navd quits, variables are refused")
  func variables_duringQuit_areRefused() throws {
    fixture.shutDown()
    let refusal = #expect(throws: Refusal.self) { try give(["DISPLAY": ":0"]) }
    #expect(refusal?.code == .shuttingDown && fixture.machine.environment == [:])
  }

  @Test(
    "K6, K1, K3: a new variable presents items that wait for their next attempt at once, and their delays begin anew")
  func restart_variableGiven_isAtOnce() throws {
    fixture.report(.updateAnswered(1))
    for handle: Handle in [1, 2, 3] {
      fixture.fails(handle)
      if handle < 3 { fixture.pass(10_000) }
    }
    #expect(fixture.phase(4) == "waiting")
    #expect(try give(["DISPLAY": ":0"]))
    #expect(fixture.phase(4) == "presenting")
    fixture.fails(4)
    fixture.pass(1000)
    #expect(fixture.phase(5) == "presenting")
    fixture.fails(5)
    #expect(try !give(["DISPLAY": ":0"]))
    #expect(fixture.phase(6) == "waiting")
  }

  @Test("K6, R2: variables are on record until they are forgotten")
  func variables_restart_areThere() throws {
    var disk = RecordedState()
    var machine = try StateMachine(restoring: disk)
    _ = try machine.importEnvironment(["A": "b", "C": "d"], at: fixture.now)
    _ = try machine.importEnvironment(["C": ""], at: fixture.now)
    disk.apply(machine.takeUnrecorded())
    #expect(disk.environment == ["A": "b"])
    machine = try StateMachine(restoring: disk)
    #expect(machine.environment == ["A": "b"])
    machine.forgetEnvironment()
    disk.apply(machine.takeUnrecorded())
    #expect(disk.environment == [:])
  }
}
