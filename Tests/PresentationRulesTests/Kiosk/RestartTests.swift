import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules
@testable import Simulation

/// Restarts of items: an item that has ended by itself is presented again, with its delays and limits (K3).
struct RestartTests {
  private let fixture: RulesFixture

  init() { fixture = RulesFixture(destinations: Self.destinations) }

  private static let destinations = [
    destination("kiosk", RestartRule(.always)), destination("careful", RestartRule(.onFailure, limit: 2)),
    destination("brisk", RestartRule(.always, delay: 100, maxDelay: 4000)),
  ]

  private static func destination(_ name: String, _ rule: RestartRule) -> Destination {
    var settings = ItemSettings()
    settings.restart = rule
    return Destination(
      name: name, presenter: .command([Array("kiosk".utf8)]), source: RulesFixture.file(name),
      itemSettings: Shared(settings))
  }

  /// The milliseconds after which the item at a binding is presented again.
  private func pause(before next: Handle) -> UInt64? {
    for milliseconds: UInt64 in 1...200_000 {
      fixture.pass(1)
      if fixture.phase(next) != "waiting" { return milliseconds }
    }
    return nil
  }

  @Test("K3: an item that has failed waits in its slot under a new handle, and is presented after the delay")
  func failure_item_isPresentedAgain() throws {
    try fixture.show("kiosk", "1", ItemOptions())
    fixture.ends(1, failed: true)
    #expect(fixture.taken() == ["dismissed kiosk 1 failed", "waiting kiosk 1"])
    fixture.pass(999)
    #expect(fixture.taken() == [])
    fixture.pass(1)
    #expect(fixture.taken() == ["presenting kiosk 1", "present 2 kiosk"])
    fixture.shows(2)
    #expect(fixture.taken() == ["presented kiosk 1"])
    try fixture.clearAway()
  }

  @Test("D21: an item whose program hangs ends as failed, cannot decline, and is presented again")
  func hung_item_endsAsFailedAndComesAgain() throws {
    try fixture.show("kiosk", "1", ItemOptions())
    _ = fixture.taken()
    fixture.report(.hung(1, error: "it hangs"))
    #expect(fixture.machine.presentation(1)?.phase.dismissal?.isForced == true)
    // A later report of the same changes nothing.
    fixture.report(.hung(1, error: "it hangs"))
    fixture.goes(1)
    #expect(fixture.taken().contains("dismissed kiosk 1 failed"))
    #expect(fixture.phase(2) == "waiting")
    fixture.pass(1000)
    #expect(fixture.phase(2) == "presenting")
    // A report of a hung program is ignored unless the item is presented.
    fixture.report(.hung(2, error: "it hangs"))
    #expect(fixture.phase(2) == "presenting")
  }

  @Test("D1: an item that waits to be presented again starts as its file says then")
  func correctedFile_beforeTheRestart_counts() throws {
    try fixture.show("kiosk", "1", ItemOptions())
    fixture.ends(1, failed: true)
    var corrected = Self.destinations
    corrected[0].presenter = .command([Array("better".utf8)])
    fixture.load(corrected)
    fixture.pass(1000)
    #expect(fixture.item("kiosk")?.destination?.presenter == .command([Array("better".utf8)]))
    // A live item stays with what it started with.
    fixture.load(Self.destinations)
    #expect(fixture.item("kiosk")?.destination?.presenter == .command([Array("better".utf8)]))
    fixture.shows(2)
    try fixture.clearAway()
  }

  @Test("D1: an item that waits in a queue starts as its file says when its turn comes")
  func correctedFile_whileQueued_counts() throws {
    try fixture.show("kiosk", "1", .with(group: "g"))
    try fixture.present("brisk", "", .with(group: "g", ifBusy: .queue))
    var corrected = Self.destinations
    corrected[2].presenter = .command([Array("better".utf8)])
    fixture.load(corrected)
    try fixture.dismiss("kiosk")
    fixture.goes(1)
    #expect(fixture.item("brisk")?.destination?.presenter == .command([Array("better".utf8)]))
  }

  @Test("D1: an item that waits starts as its file says when its turn comes, even if a client has registered the name")
  func correctedFile_behindAClient_counts() throws {
    try fixture.show("kiosk", "1", .with(group: "g"))
    try fixture.present("brisk", "", .with(group: "g", ifBusy: .queue))
    var corrected = Self.destinations
    corrected[2].presenter = .command([Array("better".utf8)])
    fixture.load(corrected)
    try fixture.register(RulesFixture.bus("brisk", source: .client("bar")), by: "bar")
    try fixture.dismiss("kiosk")
    fixture.goes(1)
    #expect(fixture.item("brisk")?.destination?.presenter == .command([Array("better".utf8)]))
  }

  @Test("K3: the delay doubles up to its maximum, and at the limit the item is given up with its last reason")
  func failure_again_waitsLongerUntilTheLimit() throws {
    try fixture.present("kiosk")
    var pauses: [UInt64?] = []
    for number in UInt64(1)...10 {
      fixture.fails(Handle(number))
      pauses.append(pause(before: Handle(number + 1)))
    }
    #expect(pauses == [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000])
    fixture.fails(11)
    #expect(fixture.shown == [])
    #expect(fixture.ending(11)?.reason == .failed)
  }

  @Test("K3: no delay is shorter than a millisecond, or longer than the greatest one, however many restarts there were")
  func delay_ofExtremeRules_staysInBounds() {
    let never = RestartRule(.always, delay: 0, maxDelay: 0)
    #expect([1, 2, 100].map { never.delay(before: $0) } == [1, 1, 1])
    let slow = RestartRule(.always, delay: .max / 2 + 1, maxDelay: .max)
    #expect([1, 2, .max].map { slow.delay(before: $0) } == [UInt64.max / 2 + 1, .max, .max])
    #expect(RestartRule(.always, delay: .max, maxDelay: 0).delay(before: 2) == 1)
    let patient = RestartRule(.always, delay: 1, maxDelay: 1 << 40)
    #expect([1, 11, 41, 42, .max].map { patient.delay(before: $0) } == [1, 1 << 10, 1 << 40, 1 << 40, 1 << 40])
  }

  @Test("K3: the count of restarts begins anew after an item was presented for ten seconds")
  func failure_afterLong_countsFromOne() throws {
    try fixture.show("careful", "", ItemOptions())
    fixture.ends(1, failed: true)
    #expect(pause(before: 2) == 1000)
    fixture.shows(2)
    fixture.pass(9999)
    fixture.ends(2, failed: true)
    #expect(pause(before: 3) == 2000)
    fixture.shows(3)
    fixture.pass(10_000)
    fixture.ends(3, failed: true)
    #expect(pause(before: 4) == 1000)
    try fixture.clearAway()
  }

  @Test("K3: the count of restarts begins anew after the longest delay, if that is shorter than ten seconds")
  func failure_afterShortLongestDelay_countsFromOne() throws {
    try fixture.show("brisk", "", ItemOptions())
    fixture.ends(1, failed: true)
    #expect(pause(before: 2) == 100)
    fixture.shows(2)
    fixture.pass(3999)
    fixture.ends(2, failed: true)
    #expect(pause(before: 3) == 200)
    fixture.shows(3)
    fixture.pass(4000)
    fixture.ends(3, failed: true)
    #expect(pause(before: 4) == 100)
    try fixture.clearAway()
  }

  @Test("K3: on-failure restarts an item that ended with a status other than 0, or by a signal, and no other")
  func close_onFailure_dependsOnTheResult() throws {
    try fixture.show("careful", "", ItemOptions())
    fixture.ends(1, result: ["status": .int32(1)])
    #expect(fixture.shown == ["careful"])
    fixture.pass(1000)
    fixture.shows(2)
    fixture.ends(2, result: ["signal": .string("SIGTERM")])
    #expect(fixture.shown == ["careful"])
    fixture.pass(2000)
    fixture.shows(3)
    fixture.pass(60_000)
    fixture.ends(3, result: ["status": .int32(0)])
    #expect(fixture.shown == [])
    #expect(fixture.ending(3)?.reason == .closed)
    // The status of a command that was adopted is not known.
    try fixture.show("careful", "", ItemOptions())
    fixture.ends(4)
    #expect(fixture.shown == [])
    try fixture.show("kiosk", "", ItemOptions())
    fixture.ends(5, result: ["status": .int32(0)])
    #expect(fixture.shown == ["kiosk"])
    try fixture.clearAway()
  }

  @Test("K3, D5: an item that its user has stopped by the service manager does not return")
  func close_stopped_doesNotReturn() throws {
    try fixture.show("kiosk", "", ItemOptions())
    fixture.ends(1, result: ["signal": .string("SIGTERM"), "stopped": .boolean(true)])
    #expect(fixture.shown == [])
    #expect(fixture.ending(1)?.reason == .closed)
  }

  @Test("K3: an item that is dismissed, replaced or expired, or loses its owner or its parent, does not return")
  func dismissal_item_doesNotReturn() throws {
    try fixture.show("kiosk", "1", ItemOptions())
    try fixture.present("kiosk", "2", .with(timeout: 10))
    fixture.goes(1)
    fixture.shows(2)
    fixture.pass(10)
    fixture.goes(2)
    #expect(fixture.shown == [])
    try fixture.show("kiosk", "3", .with(owned: true), by: "bert")
    fixture.leave("bert")
    fixture.goes(3)
    try fixture.show("a")
    try fixture.show("a.b", "", .with(to: "kiosk"))
    try fixture.dismiss("a")
    fixture.goes(5, 4)
    #expect(fixture.shown == [])
    // An item also does not return while it waits for its delay.
    try fixture.show("kiosk", "", ItemOptions())
    fixture.ends(6, failed: true)
    try fixture.dismiss("kiosk")
    fixture.pass(100_000)
    #expect(fixture.shown == [])
    #expect(fixture.ending(7)?.reason == .dismissed)
    try fixture.clearAway()
  }

  @Test("K3: the children of a failed item end, and the elements above it are popped; it keeps its group and its place")
  func failure_inContainers_keepsItsPlace() throws {
    try fixture.present("kiosk", "", .with(group: "main"))
    fixture.shows(1)
    try fixture.show("kiosk.menu", "", .with(to: "bare"))
    fixture.ends(1, failed: true)
    #expect(fixture.ending(2)?.reason == .parent)
    #expect(fixture.machine.selection(of: "main") == "kiosk")
    try fixture.present("other", "", .with(to: "bare", group: "main", ifBusy: .queue))
    #expect(fixture.machine.queuedTags(of: "main") == ["other"])
    try fixture.clearAway()

    try fixture.ask(.setPath("s", [.at("one", "", .with(to: "kiosk")), .at("two")]))
    let one = try #require(fixture.handle("one"))
    fixture.shows(one)
    fixture.ends(one, failed: true)
    #expect(fixture.path("s") == ["one"])
    fixture.pass(1000)
    #expect(fixture.phase(try #require(fixture.handle("one"))) == "presenting")
    try fixture.clearAway()
  }

  @Test("K3: a child of an item that is presented again ends for good, even if both were lost at once")
  func lost_withItsParent_endsForGood() throws {
    try fixture.show("kiosk", "", ItemOptions())
    try fixture.show("kiosk.menu", "", .with(to: "careful"))
    fixture.ends(1, failed: true)
    fixture.goes(2)
    #expect(fixture.shown == ["kiosk"])
    try fixture.clearAway()
  }

  @Test("K3: the timeout goes on with the time that was left; one that a request gives starts anew")
  func failure_timeout_goesOn() throws {
    try fixture.show("kiosk", "", .with(timeout: 10_000))
    fixture.pass(6000)
    fixture.ends(1, failed: true)
    fixture.pass(1000)
    fixture.shows(2)
    let timeLeft = fixture.machine.presentation(2)?.continuation?.timeLeft
    #expect(timeLeft == nil, "it is running")
    fixture.pass(3999)
    #expect(fixture.phase(2) == "presented")
    fixture.ends(2, failed: true)
    try fixture.present("kiosk", "", .with(timeout: 5000))
    fixture.pass(2000)
    fixture.shows(3)
    fixture.pass(4999)
    #expect(fixture.phase(3) == "presented")
    fixture.pass(1)
    #expect(fixture.phase(3) == "dismissing")
    try fixture.clearAway()
  }

  @Test("K3, L1: an item that is presented again counts for the client that asked for it, until that leaves")
  func failure_item_countsForItsClient() throws {
    try fixture.show("kiosk", "", ItemOptions(), by: "bert")
    fixture.ends(1, failed: true)
    let before = fixture.machine.presentation(2)?.creator
    fixture.pass(1000)
    fixture.shows(2)
    fixture.leave("bert")
    fixture.ends(2, failed: true)
    let after = fixture.machine.presentation(3)?.creator
    #expect(before == "bert" && after == nil)
    try fixture.clearAway()
  }

  @Test("K3: no item is presented again after Quit")
  func quit_failure_isTheEnd() throws {
    try fixture.show("kiosk", "", ItemOptions())
    fixture.shutDown()
    fixture.ends(1, failed: true)
    #expect(fixture.machine.allPresentations == [])
  }

  @Test("K3: the delay and the number of restarts are on record; an item that was lost is presented again")
  func restart_ofNavd_goesOn() throws {
    var disk = RecordedState()
    func restored() throws -> StateMachine {
      try StateMachine(restoring: disk, destinations: Self.destinations)
    }
    let at = { (seconds: UInt64) in Instant(nanoseconds: seconds * 1_000_000_000) }
    var machine = try restored()
    _ = try machine.perform(Request(.present("kiosk", id: "", ItemOptions())), by: nil, at: at(1))
    _ = machine.report(.presentAnswered(1, error: nil), at: at(1))
    disk.apply(machine.takeUnrecorded())

    machine = try restored()
    _ = machine.resume([:], absent: [], at: at(5))
    let lost = machine.ending(of: 1)?.reason
    var next = machine.nextDeadline
    #expect(lost == .lost)
    #expect(next == at(6))
    disk.apply(machine.takeUnrecorded())

    machine = try restored()
    let early = machine.resume([:], absent: [], at: at(5)).commands
    #expect(early == [])
    let due = machine.expire(at: at(6)).commands
    #expect(due == [.present(2)])
    _ = machine.report(.presentAnswered(2, error: "no screen"), at: at(6))
    next = machine.nextDeadline
    #expect(next == at(8))
    disk.apply(machine.takeUnrecorded())

    // Of another session, only items that still run count (R8).
    machine = try restored()
    _ = machine.resume([:], absent: [], isOtherSession: true, at: at(7))
    let isEmpty = machine.isEmpty
    #expect(isEmpty)
  }
}
