import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules
@testable import Simulation

/// Interruptions: members that give way to another one, and return (K2).
struct InterruptionTests {
  private let fixture = RulesFixture()

  private func member(
    _ ifBusy: BusyPolicy? = nil, to destination: String = "bare", timeout: UInt64? = nil, priority: Int32? = nil
  ) -> ItemOptions {
    .with(to: destination, group: "g", timeout: timeout, ifBusy: ifBusy, priority: priority)
  }

  private var selection: String? { fixture.machine.selection(of: "g") }
  private var queue: [String] { fixture.machine.queuedTags(of: "g") }

  @Test("K2: a member that gives way ends, waits under a new handle, and returns with its item")
  func interrupt_member_returns() throws {
    try fixture.show("film", "1", member(to: "cmd"))
    try fixture.present("alarm", "", member(.interrupt))
    #expect(queue == ["film"])
    fixture.goes(1)
    #expect(fixture.ending(1)?.reason == .deselected)
    #expect(fixture.phase(2) ?? fixture.phase(3) == "waiting")
    try fixture.dismiss("alarm")
    #expect(selection == "film")
    #expect(fixture.item("film")?.id == "1")
    #expect(fixture.phase(try #require(fixture.handle("film"))) == "presenting")
    try fixture.clearAway()
  }

  @Test("K2, O2: a member that gets a timeout in the transaction in which it gives way has the whole of it afterwards")
  func interrupt_timeoutGivenMeanwhile_isWhole() throws {
    try fixture.show("film", "", member(to: "cmd", timeout: 1000))
    fixture.pass(900)
    try fixture.apply(
      .update("film", value: [:], remove: [], containerValues: nil, timeout: 1000),
      .present("alarm", id: "", member(.interrupt)))
    fixture.goes(1)
    try fixture.dismiss("alarm")
    fixture.shows(try #require(fixture.handle("film")))
    fixture.pass(999)
    #expect(fixture.shown == ["film"])
    fixture.pass(1)
    #expect(fixture.shown == [])
    try fixture.clearAway()
  }

  @Test("K2: a member that was never live keeps its handle")
  func interrupt_waiting_keepsItsHandle() throws {
    try fixture.show("a", "", member(to: "cmd"))
    try fixture.present("b", "", member())
    let handle = fixture.handle("b")
    try fixture.present("c", "", member(.interrupt))
    #expect(fixture.handle("b") == handle)
    #expect(queue == ["b"])
    fixture.goes(1)
    try fixture.dismiss("c")
    #expect(fixture.handle("b") == handle)
    #expect(selection == "b")
    try fixture.clearAway()
  }

  @Test("K2: the latest member that gave way is first in the queue, before every priority, and even past the limit")
  func interrupt_several_latestFirst() throws {
    var limits = Limits()
    limits.queue = 1
    let fixture = RulesFixture(limits: limits)
    try fixture.present("a", "", member())
    try fixture.present("q", "", member(.queue, priority: 9))
    try fixture.present("b", "", member(.interrupt))
    try fixture.present("c", "", member(.interrupt))
    #expect(fixture.machine.queuedTags(of: "g") == ["b", "a", "q"])
    #expect(fixture.refusal(.present("r", id: "", member(.queue))) == .limitExceeded)
    try fixture.dismiss("c")
    #expect(fixture.machine.selection(of: "g") == "b")
    try fixture.clearAway()
  }

  @Test("K2: the timeout of a member that gave way stands still while it waits, and then goes on")
  func interrupt_timeout_goesOn() throws {
    try fixture.present("film", "", member(timeout: 1000))
    fixture.pass(600)
    try fixture.present("alarm", "", member(.interrupt))
    fixture.pass(5000)
    try fixture.dismiss("alarm")
    fixture.pass(399)
    #expect(selection == "film")
    fixture.pass(1)
    #expect(fixture.shown == [])
    try fixture.clearAway()
  }

  @Test("K2: the children of a member that gives way end, and do not return")
  func interrupt_children_end() throws {
    try fixture.present("film", "", member())
    try fixture.present("film.menu")
    try fixture.present("alarm", "", member(.interrupt))
    #expect(fixture.ending(2)?.reason == .parent)
    try fixture.dismiss("alarm")
    #expect(fixture.shown == ["film"])
    try fixture.clearAway()
  }

  @Test("K2: an element of a stack cannot be interrupted")
  func interrupt_elementOfAStack_isRefused() throws {
    try fixture.ask(.push("s", "one", id: "", member()))
    #expect(fixture.refusal(.present("alarm", id: "", member(.interrupt))) == .invalidArgument)
    try fixture.clearAway()
  }

  @Test("K2, P15: a presenter may decline; then it stays, and the alarm ends")
  func interrupt_declined_alarmEnds() throws {
    try fixture.show("film", "", member(to: "bus"))
    try fixture.present("alarm", "", member(.interrupt))
    fixture.declines(1)
    #expect(fixture.shown == ["film"])
    #expect(selection == "film" && queue == [])
    #expect(fixture.phase(1) == "presented")
    try fixture.clearAway()
  }

  @Test(
    "K2, P3: another id at the same binding, later in the transaction, takes over nothing of the member that gave way")
  func interrupt_replacedInTheTransaction_isForgotten() throws {
    try fixture.present("film", "1", member(timeout: 1000))
    fixture.pass(600)
    try fixture.apply(
      .present("alarm", id: "", member(.interrupt)), .present("film", id: "2", member(timeout: 1000)))
    let film = try #require(fixture.handle("film"))
    #expect(selection == "film")
    #expect(fixture.machine.presentation(film)?.continuation == nil)
    fixture.pass(999)
    #expect(selection == "film")
    fixture.pass(1)
    #expect(selection == nil)
    try fixture.clearAway()
  }

  @Test("K2, T1: a member that a transaction interrupts and selects again stays as it is")
  func interrupt_andBack_changesNothing() throws {
    try fixture.show("film", "", member(to: "cmd"))
    try fixture.apply(.present("alarm", id: "", member(.interrupt)), .present("film", id: "", ItemOptions()))
    #expect(fixture.handle("film") == 1)
    #expect(fixture.phase(1) == "presented")
    #expect(queue == [] && fixture.item("film")?.isInterrupted == false)
    try fixture.clearAway()
  }

  @Test("K2, T1: a member that gave way, and that a transaction dismisses and presents again, waits no more")
  func interrupted_dismissedAndBack_isSelected() throws {
    try fixture.present("film", "", member())
    try fixture.present("alarm", "", member(.interrupt))
    let film = fixture.handle("film")
    #expect(fixture.item("film")?.isInterrupted == true)
    try fixture.apply(.dismiss("alarm"), .dismiss("film"), .present("film", id: "", member()))
    #expect(fixture.handle("film") == film && selection == "film")
    #expect(fixture.item("film")?.isInterrupted == false)
    try fixture.clearAway()
  }

  @Test("K2: the place in the queue is on record")
  func interrupt_restart_keepsTheOrder() throws {
    var disk = RecordedState()
    var machine = try StateMachine(restoring: disk)
    let now = Instant(nanoseconds: 1)
    for (binding, policy) in [("a", BusyPolicy.replace), ("q", .queue), ("b", .interrupt), ("c", .interrupt)] {
      let options = ItemOptions.with(group: "g", ifBusy: policy)
      _ = try machine.perform(Request(.present(BindingID(stringLiteral: binding), id: "", options)), by: nil, at: now)
    }
    disk.apply(machine.takeUnrecorded())
    machine = try StateMachine(restoring: disk)
    let queue = machine.queuedTags(of: "g")
    #expect(queue == ["b", "a", "q"])
  }
}
