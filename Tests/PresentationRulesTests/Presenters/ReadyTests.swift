import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules
@testable import Simulation

/// Items that are presented once their programs have said that they are on the screen (D19).
struct ReadyTests {
  private let fixture: RulesFixture

  init() {
    var settings = ItemSettings()
    settings.awaitsReady = true
    func destination(_ name: String, window: WindowFollowing? = nil) -> Destination {
      Destination(
        name: name, presenter: .command([Array("sleep".utf8)]), startTimeout: 500, source: RulesFixture.file(name),
        itemSettings: Shared(settings), window: window)
    }
    fixture = RulesFixture(destinations: [
      destination("page"), destination("slides", window: WindowFollowing()),
      destination("hidden", window: WindowFollowing(hides: true)),
    ])
    fixture.machine.load(groups: ["g": GroupSettings(replacement: .overlap)])
  }

  @discardableResult
  private func ready(_ handle: Handle, byPresenter: Bool = false) throws(Refusal) -> Bool {
    let (changed, outcome) = try fixture.machine.ready(handle, byPresenter: byPresenter, at: fixture.now)
    fixture.take(outcome)
    return changed
  }

  @Test("D19: an item is presented when its program runs and has said so, in either order", arguments: [false, true])
  func program_runsAndIsReady_isPresented(saysItFirst: Bool) throws {
    try fixture.present("a", "", .with(to: "page"))
    _ = fixture.taken()
    if saysItFirst { #expect(try ready(1)) } else { fixture.shows(1) }
    #expect(fixture.phase(1) == "presenting")
    #expect(fixture.taken() == [])
    if saysItFirst { fixture.shows(1) } else { #expect(try ready(1)) }
    #expect(fixture.taken() == ["presented a"])
    #expect(try !ready(1))
    try fixture.clearAway()
  }

  @Test("D19: a program that does not say so in its time to start has failed", arguments: ["page", "slides"])
  func program_silent_fails(destination: String) throws {
    try fixture.present("a", "", .with(to: destination))
    fixture.shows(1)
    fixture.pass(500)
    fixture.goes(1)
    #expect(fixture.ending(1)?.reason == .failed)
    #expect(
      fixture.ending(1)?.result[PresentationResult.keys.error]
        == "it runs, but has not said that it is ready (navctl ready) within 500 ms (start-timeout)")
  }

  @Test("D19: a program that says so and shows nothing has failed for that")
  func program_withoutWindow_failsForThat() throws {
    try fixture.present("a", "", .with(to: "slides"))
    #expect(try ready(1))
    fixture.pass(500)
    fixture.goes(1)
    #expect(
      fixture.ending(1)?.result[PresentationResult.keys.error] == "no window of it opened within 500 ms (start-timeout)"
    )
  }

  @Test("G10, D19: the former member stays until the next one is ready, and for good if it never is")
  func next_notReady_formerStays() throws {
    try fixture.show("a", "", .with(to: "cmd", group: "g"))
    try fixture.present("b", "", .with(to: "page", group: "g"))
    fixture.shows(2)
    fixture.pass(499)
    #expect(fixture.phase(1) == "dismissing")
    fixture.pass(1)
    #expect(fixture.phase(1) == "presented")
    fixture.goes(2)
    #expect(fixture.ending(2)?.result[PresentationResult.keys.kept] == "a")
    try fixture.present("b", "", .with(to: "page", group: "g"))
    fixture.shows(3)
    _ = fixture.taken()
    #expect(try ready(3))
    #expect(fixture.taken() == ["presented b", "dismiss 1 deselected"])
    try fixture.clearAway()
  }

  @Test(
    "G10, D19: the window of a next member comes to the front when its program is ready, before the former goes",
    arguments: [false, true])
  func next_readyBehind_comesForward(saysItFirst: Bool) throws {
    try fixture.show("a", "", .with(to: "cmd", group: "g"))
    try fixture.present("b", "", .with(to: "slides", group: "g"))
    _ = fixture.taken()
    if saysItFirst { #expect(try ready(2)) } else { fixture.shows(2) }
    #expect(fixture.taken() == [])
    if saysItFirst { fixture.shows(2) } else { #expect(try ready(2)) }
    #expect(fixture.taken() == ["present 2 b"] && fixture.machine.presentation(2)?.comesForward == true)
    fixture.shows(2)
    #expect(fixture.taken() == ["presented b", "dismiss 1 deselected"])
    try fixture.clearAway()
  }

  @Test("D19: what nobody awaits has no effect")
  func ready_unawaited_hasNoEffect() throws {
    try fixture.present("a", "", .with(to: "cmd"))
    #expect(try !ready(1))
    fixture.shows(1)
    #expect(try !ready(1))
    try fixture.present("b", "", .with(to: "page"))
    try fixture.dismiss("b")
    #expect(try !ready(2))
    fixture.goes(2)
    #expect(try !ready(2))
    #expect(throws: Refusal.self) { try ready(9) }
    try fixture.clearAway()
  }

  @Test("D11, D19: another client does not say it for a presenter on the bus")
  func ready_ofPresenterOnBus_isRefused() throws {
    try fixture.present("a", "", .with(to: "bus"))
    let refusal = #expect(throws: Refusal.self) { try ready(1) }
    #expect(refusal?.code == .accessDenied)
    #expect(try !ready(1, byPresenter: true))
    fixture.shows(1)
    try fixture.clearAway()
  }

  @Test("N8, D19: a parked program that is shown again has said so before")
  func program_parked_isReady() throws {
    try fixture.present("a", "", .with(to: "hidden"))
    fixture.shows(1)
    try ready(1)
    try fixture.dismiss("a")
    fixture.report(.hidden(1))
    try fixture.present("a", "", .with(to: "hidden"))
    _ = fixture.taken()
    fixture.shows(2)
    #expect(fixture.taken() == ["presented a"])
  }

  @Test(
    "R6, D19: after a restart a program that has said so is presented, and another one is awaited",
    arguments: [false, true])
  func restart_whileAwaited_goesOn(isReady: Bool) throws {
    var machine = try StateMachine(restoring: RecordedState())
    var destination = Destination(
      name: "page", presenter: .command([Array("sleep".utf8)]), startTimeout: 500, source: RulesFixture.file("page"))
    var settings = ItemSettings()
    settings.awaitsReady = true
    destination.itemSettings = Shared(settings)
    _ = machine.load([destination])
    let now = Instant(nanoseconds: 1_000_000_000)
    _ = try machine.perform(Request(.present("a", id: "", .with(to: "page"))), by: nil, at: now)
    if isReady { _ = try machine.ready(1, byPresenter: false, at: now) }
    var disk = RecordedState()
    disk.apply(machine.takeUnrecorded())
    machine = try StateMachine(restoring: disk, destinations: [destination])
    _ = machine.resume([1: .shown], absent: [], at: now.after(milliseconds: 400))
    #expect(machine.presentation(1)?.phase == (isReady ? .presented : .presenting))
    if !isReady {
      #expect(machine.nextDeadline == now.after(milliseconds: 900))
      _ = try machine.ready(1, byPresenter: false, at: now.after(milliseconds: 500))
      #expect(machine.presentation(1)?.phase == .presented)
    }
  }
}
