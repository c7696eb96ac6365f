// Why this file exists: every method of the contract has a typed call, and who follows the state misses nothing.

import CoordinatorAPI
import DBusValues
import EventLoops
import Glibc
import Observation
import PresentationModel
import TestSupport
import Testing

@testable import Navigation

private struct IsPinned: ContainerValueKey {
  static let defaultValue = false
  static let name = "is-pinned"
}
private struct Rank: ContainerValueKey { static let defaultValue: Int32 = 7 }
extension ContainerValues {
  fileprivate var isPinned: Bool {
    get { self[IsPinned.self] }
    set { self[IsPinned.self] = newValue }
  }
  fileprivate var rank: Int32 {
    get { self[Rank.self] }
    set { self[Rank.self] = newValue }
  }
}

@Suite @MainActor struct ClientTests {
  @Test("P1–P4, D8: items", arguments: Coordinating.allCases)
  func client_items_areDriven(_ coordinating: Coordinating) async throws {
    let stage = try await Stage(coordinating)
    defer { withExtendedLifetime(stage) {} }
    let coordinator = stage.coordinator
    let first = try await coordinator.present(
      "fact", id: "1", PresentationOptions(value: ["n": .int32(1)], style: "sheet", title: "Fact"))
    let handle = try #require(first.presentation)
    #expect(first.changed)
    #expect(try await coordinator.present("fact", id: "1").changed == false)
    let state = try #require(try await coordinator.presentation(at: "fact"))
    #expect(
      state.presentation == handle && state.style == "sheet" && state.title == "Fact" && state.phase == .presented)
    #expect(try await coordinator.update("fact", ["m": .string("x")], remove: ["n"]))
    #expect(try await coordinator.presentation(at: "fact")?.value == ["m": .string("x")])
    #expect(try await coordinator.waitUntilPresented(handle) == nil)
    #expect(try await coordinator.toggle("fact") == nil)
    #expect(try await coordinator.waitUntilGone(handle).reason == .dismissed)
    #expect(try await coordinator.presentation(at: "fact") == nil)
    let toggled = try #require(try await coordinator.toggle("fact", id: "2"))
    #expect(toggled > handle)
    #expect(try await coordinator.dismiss("fact", expecting: Expectation(presentation: toggled)))
    #expect(try await coordinator.dismiss("fact") == false)
    try await coordinator.present("a.b")
    try await coordinator.present("a.c")
    #expect(try await coordinator.dismissAll(.root("a")) == 2)
    #expect(try await coordinator.dismissAll(.everything) == 0)
    let history = try await coordinator.history(most: 2)
    #expect(history.map { $0["reason"] } == [.string("dismissed"), .string("dismissed")])
  }

  @Test("G2–G4, S1–S5, T1: groups, stacks, transactions", arguments: Coordinating.allCases)
  func client_containers_areDriven(_ coordinating: Coordinating) async throws {
    let stage = try await Stage(coordinating)
    defer { withExtendedLifetime(stage) {} }
    let coordinator = stage.coordinator
    try await coordinator.select("panels", "wifi")
    try await coordinator.select("panels", "volume")
    var state = try await coordinator.state()
    #expect(state.groups["panels"]?.selection == "volume")
    #expect(try await coordinator.toggleSelection("panels", "volume") == false)
    #expect(try await coordinator.toggleSelection("panels", "wifi"))
    #expect(try await coordinator.deselect("panels", "volume") == false)
    #expect(try await coordinator.deselect("panels"))

    try await coordinator.push("main", "settings")
    try await coordinator.push("main", "network", id: "eth0")
    state = try await coordinator.state()
    #expect(
      state.stacks["main"] == [PathElement(binding: "settings", id: ""), PathElement(binding: "network", id: "eth0")])
    #expect(try await coordinator.pop("main") == 1)
    #expect(
      try await coordinator.setPath("main", [.init(id: "a"), .init(id: "b"), .init(binding: "x", id: "c")]).count == 3)
    #expect(try await coordinator.popTo("main", "main[0]") == 2)
    #expect(try await coordinator.popTo("main", nil) == 1)

    let (replies, serial) = try await coordinator.apply([
      .present("one"), .present("two", id: "2"), .dismiss("one"), .select("panels", "wifi"), .push("main", "three"),
    ])
    #expect(replies.count == 5)
    state = try await coordinator.state()
    #expect(state.serial == serial)
    #expect(Set(state.presentations.map(\.binding)) == ["two", "panels.wifi", "three"])
  }

  @Test("V1–V5: container values", arguments: Coordinating.allCases)
  func client_containerValues_areResolved(_ coordinating: Coordinating) async throws {
    let stage = try await Stage(coordinating)
    defer { withExtendedLifetime(stage) {} }
    let coordinator = stage.coordinator
    try await coordinator.declare(Rank.self)
    try await coordinator.push("main", "one", PresentationOptions().containerValue(\.isPinned, true))
    try await coordinator.push("main", "two", PresentationOptions().containerValue(\.rank, 1))
    let members = try await coordinator.members(of: .stack("main"))
    #expect(members.map(\.binding) == ["one", "two"])
    #expect(members.map(\.containerValues.isPinned) == [true, false])
    #expect(members.map(\.containerValues.rank) == [7, 1])
    #expect(try await coordinator.containerValue(IsPinned.self, at: "one"))
    #expect(try await coordinator.containerValue(Rank.self, at: "one") == 7)
    #expect(try await coordinator.members(of: .everything).count == 2)
    #expect(try await coordinator.members(of: .parent("one")).isEmpty)
  }

  @Test("A refusal says which argument, and changes nothing", arguments: Coordinating.allCases)
  func client_refused_throwsTheName(_ coordinating: Coordinating) async throws {
    let stage = try await Stage(coordinating)
    defer { withExtendedLifetime(stage) {} }
    let coordinator = stage.coordinator
    await #expect(throws: NavigationError.self) { try await coordinator.present("no binding") }
    do throws(NavigationError) {
      try await coordinator.present("fact", PresentationOptions(destination: "nowhere"))
      Issue.record("it was accepted")
    } catch {
      #expect(error.refusal == .unknownDestination && "\(error)".contains("nowhere"))
    }
    do throws(NavigationError) {
      try await coordinator.apply([.present("fact"), .update("none", [:])])
      Issue.record("it was accepted")
    } catch {
      #expect(error.refusal == .notPresented && "\(error)".contains("request 1"))
    }
    #expect(try await coordinator.state().presentations.isEmpty)
    await #expect(throws: NavigationError.self) { try await coordinator.waitUntilGone(PresentationHandle(99)) }
  }

  @Test("Cancelling a task gives up its call", arguments: Coordinating.allCases)
  func client_cancelled_throwsCancelled(_ coordinating: Coordinating) async throws {
    let stage = try await Stage(coordinating)
    defer { withExtendedLifetime(stage) {} }
    let coordinator = stage.coordinator
    let handle = try #require(try await coordinator.present("fact").presentation)
    let waiting = Task { () -> NavigationError? in
      do throws(NavigationError) {
        _ = try await coordinator.waitUntilGone(handle)
        return nil
      } catch { return error }
    }
    try await coordinator.present("other")
    waiting.cancel()
    #expect(await waiting.value == .cancelled)
    #expect(try await coordinator.presentation(at: "fact") != nil)
  }

  @Test("W1, W2: the state, then each event, its serial one more than the last", arguments: Coordinating.allCases)
  func following_changes_missesNone(_ coordinating: Coordinating) async throws {
    let stage = try await Stage(coordinating)
    defer { withExtendedLifetime(stage) {} }
    let coordinator = stage.coordinator
    var following = coordinator.following.makeAsyncIterator()
    guard case .state(let state) = try await following.next() else { throw Stage.Timeout(description: "no state") }
    var serial = state.serial
    for round in 1...50 {
      try await coordinator.present("fact", id: "\(round)")
      while let element = try await following.next() {
        guard case .event(let event) = element else {
          Issue.record("a state, where nothing was missing")
          return
        }
        serial += 1
        #expect(event.serial == serial)
        if case .presented(let subject, _) = event.kind, subject.id == "\(round)" { break }
      }
    }
  }

  @Test("W2: who reads too slowly is told the state instead") func following_fallsBehind_isToldTheState() async throws {
    let stage = try await Stage(.embedded)
    defer { withExtendedLifetime(stage) {} }
    let coordinator = stage.coordinator
    var following = coordinator.following.makeAsyncIterator()
    _ = try await following.next()
    for round in 0..<mostNotices { try await coordinator.present("fact", id: "\(round)") }
    let element = try await following.next()
    guard case .state(let state) = element else { throw Stage.Timeout(description: "\(String(describing: element))") }
    #expect(state.presentation(at: "fact")?.id == "\(mostNotices - 1)")
    try await coordinator.dismiss("fact")
    guard case .event(let event) = try await following.next() else { throw Stage.Timeout(description: "no event") }
    #expect(event.serial == state.serial + 1)
  }

  @Test("R1, W2: navd is killed, and another comes") func navd_restarted_isFollowedAndShowsOn() async throws {
    let stage = try await Stage(.navd)
    let session = try #require(stage.session)
    let model = RestartModel()
    stage.navigator.present(item: Bindable(model).note) { Sign("note \($0.wrappedValue.id)", on: stage.wall) }
    model.note = .init(id: 1)
    try await stage.shows("note 1")
    await stage.navigator.settle()
    var following = stage.coordinator.following.makeAsyncIterator()
    _ = try await following.next()
    let handle = try #require(stage.wall["note 1"]?.showing?.presentation)
    let waiting = Task { try await stage.coordinator.waitUntilGone(handle) }
    _ = try session.stop(SIGKILL)
    try session.start()
    guard case .state(let state) = try await following.next() else { throw Stage.Timeout(description: "no state") }
    #expect(state.presentations.map(\.presentation) == [handle])
    // What was on screen stayed, and goes on.
    #expect(stage.wall.log == ["+note 1"])
    model.note = .init(id: 2)
    try await stage.shows("note 2")
    #expect(try await waiting.value.reason == .replaced)
    #expect(stage.wall.log == ["+note 1", "-note 1", "+note 2"])
  }

  @Test("O1: what a program shows ends when it leaves") func coordinator_closed_endsWhatItOwns() async throws {
    let stage = try await Stage(.navd)
    let address = try #require(stage.session).bus.address
    let model = RestartModel()
    stage.navigator.present(item: Bindable(model).note, to: nil)
    model.note = .init(id: 1)
    let other = try await Coordinator.bus(address: address)
    let note = stage.text(Bindable(model).note)
    for try await _ in other.following where try await other.presentation(at: note) != nil { break }
    var following = other.following.makeAsyncIterator()
    _ = try await following.next()
    await stage.coordinator.close()
    while let element = try await following.next() {
      if case .event(let event) = element, case .dismissed(_, let reason) = event.kind {
        #expect(reason == .owner)
        return
      }
    }
  }

  @Test("T1: every changing method may stand in a transaction", arguments: Coordinating.allCases)
  func apply_everyChange_isAccepted(_ coordinating: Coordinating) async throws {
    let stage = try await Stage(coordinating)
    defer { withExtendedLifetime(stage) {} }
    let coordinator = stage.coordinator
    let changes: [Coordinator.Change] = [
      .present("a.one", id: "1", PresentationOptions(value: ["x": .int32(1), "y": .int32(2)])), .toggle("a.two"),
      .update("a.one", ["z": .int32(3)], remove: ["x"]), .select("panels", "wifi"),
      .toggleSelection("panels", "volume"),
      .push("main", "p"), .setPath("side", [.init(id: "1"), .init(id: "2")]), .pop("side"), .popTo("main", "p"),
    ]
    let (replies, serial) = try await coordinator.apply(changes, expectedSerial: nil)
    #expect(replies.count == changes.count)
    var state = try await coordinator.state()
    #expect(state.serial == serial && state.groups["panels"]?.selection == "volume")
    #expect(state.presentation(at: "a.one")?.value == ["y": .int32(2), "z": .int32(3)])
    #expect(Set(state.presentations.map(\.binding)) == ["a.one", "a.two", "panels.volume", "p", "side[0]"])
    try await coordinator.apply([
      .dismissAll(.root("a")), .deselect("panels"), .dismiss("p"), .dismissAll(.stack("side")),
    ])
    state = try await coordinator.state()
    #expect(state.presentations.isEmpty)
    // What has moved on since is left alone (P10).
    await #expect(throws: NavigationError.self) { try await coordinator.apply([.present("b")], expectedSerial: serial) }
  }

  @Test("The coordinator tells of itself", arguments: Coordinating.allCases)
  func coordinator_properties_areRead(_ coordinating: Coordinating) async throws {
    let stage = try await Stage(coordinating)
    defer { withExtendedLifetime(stage) {} }
    let coordinator = stage.coordinator
    #expect(try await coordinator.interfaceVersion() == 1)
    #expect(try await coordinator.release() == Release.version)
    #expect(try await coordinator.limits()["id"] == 4096)
    try await coordinator.present("a")
    #expect(try await coordinator.serial() == coordinator.state().serial)
  }

  @Test("D1, D4, D7: a program shows what others present", arguments: Coordinating.allCases)
  func navigator_serves_showsForOthers(_ coordinating: Coordinating) async throws {
    let stage = try await Stage(coordinating)
    let (coordinator, wall) = (stage.coordinator, stage.wall)
    try await stage.navigator.serve("calendar", DestinationOptions(group: "panels", style: "popover")) {
      Sign("\($0.id) \($0.value["day"] ?? .string("none"))", on: wall)
    }
    #expect(try await coordinator.destinations()["calendar"]?["style"] == .string("popover"))
    let presented = try await coordinator.present(
      "cal", id: "1", PresentationOptions(destination: "calendar", value: ["day": .string("friday")]))
    try await stage.until { wall.names.count == 1 }
    #expect(wall.names[0].contains("friday") && wall.names[0].hasPrefix("1"))
    #expect(try await coordinator.presentation(at: "cal")?.group == "panels")
    try await wall.signs[0].close()
    #expect(try await coordinator.waitUntilGone(try #require(presented.presentation)).reason == .closed)
    try await stage.navigator.stopServing("calendar")
    await #expect(throws: NavigationError.self) {
      try await coordinator.present("cal", PresentationOptions(destination: "calendar"))
    }
  }

  @Test func bus_isNotThere_saysSo() async {
    await #expect(throws: NavigationError.self) { try await Coordinator.bus(address: "unix:path=/nowhere/bus") }
  }

  @Test func coordinator_closed_refusesAll() async throws {
    for coordinating in Coordinating.allCases {
      let stage = try await Stage(coordinating)
      await stage.coordinator.close()
      await #expect(throws: NavigationError.closed) { try await stage.coordinator.state() }
      await #expect(throws: NavigationError.closed) { for try await _ in stage.coordinator.following {} }
    }
  }

  @Test("Who closes a coordinator is not told that it is gone; state says what is so", arguments: Coordinating.allCases)
  func coordinator_closed_isNoNews(_ coordinating: Coordinating) async throws {
    let stage = try await Stage(coordinating)
    let model = RestartModel()
    var told: [NavigationError] = []
    stage.navigator.onRefused = { told.append($0) }
    stage.navigator.present(item: Bindable(model).note) { Sign("note \($0.wrappedValue.id)", on: stage.wall) }
    model.note = .init(id: 1)
    try await stage.shows("note 1")
    await stage.navigator.settle()
    await stage.coordinator.close()
    try await stage.until { model.note == nil }
    #expect(told.isEmpty)
  }

  @Test("What was shown was presented, also while it goes", arguments: Coordinating.allCases)
  func wait_forPresented_whileItGoes_isAnsweredAtOnce(_ coordinating: Coordinating) async throws {
    let stage = try await Stage(coordinating)
    let model = RestartModel()
    stage.navigator.present(item: Bindable(model).note) { Sign("note \($0.wrappedValue.id)", on: stage.wall) }
    model.note = .init(id: 1)
    try await stage.shows("note 1")
    await stage.navigator.settle()
    let handle = try #require(stage.wall["note 1"]?.showing?.presentation)
    #expect(try await stage.coordinator.waitUntilPresented(handle) == nil)
    stage.wall.stuck = ["note 1"]
    model.note = nil
    try await stage.until { stage.wall.leaving == ["note 1"] }
    let waiting = Task { try await stage.coordinator.waitUntilPresented(handle) }
    try await stage.coordinator.present("other")
    stage.wall.stuck = []
    #expect(try await waiting.value == nil)
    try await stage.shows()
  }

  @Test func embedded_command_isRefused() async throws {
    var options = PresentationOptions()
    options.command = ["true"]
    let coordinator = Coordinator.embedded()
    do throws(NavigationError) {
      try await coordinator.present("fact", options)
      Issue.record("it was accepted")
    } catch {
      #expect(error.refusal == .invalidArgument && "\(error)".contains("command"))
    }
  }
}

@MainActor @Observable
private final class RestartModel {
  struct Note: Hashable, Codable, Identifiable { var id: Int }
  var note: Note?
}
