import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import NavigationTesting
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

extension Coordinator {
  /// The number of objects with which this program presents on the bus, as another client finds them.
  fileprivate func countOfPresenters(_ other: Connection) throws -> Int {
    let program = try #require(BusName(":" + client.replacing("-", with: ".")))
    let objects = try other.callAndWait(Introspection.introspect, on: program, at: "/org/navd/Navigation", ())
    return objects.split(separator: "<node name=").count - 1
  }
}

/// The coordinator as async calls: every method, refusals, cancellation, following, restarts of navd, and serving destinations.
@Suite @MainActor struct ClientTests {
  @Test("P1–P4, D8: items can be presented, updated, replaced and dismissed", arguments: bothKinds)
  func client_items_canBeChanged(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    defer { withExtendedLifetime(fixture) {} }
    let coordinator = fixture.coordinator
    let first = try await coordinator.present(
      "fact", id: "1", PresentationOptions(value: ["n": .int32(1)], style: "sheet", title: "Fact").asState)
    let handle = try #require(first.presentation)
    #expect(first.hasChanged)
    #expect(try await coordinator.present("fact", id: "1").hasChanged == false)
    let state = try #require(try await coordinator.presentation(at: "fact"))
    #expect(
      state.presentation == handle && state.style == "sheet" && state.title == "Fact" && state.phase == .presented)
    #expect(try await coordinator.update("fact", ["m": .string("x")], remove: ["n"]))
    #expect(try await coordinator.presentation(at: "fact")?.value == ["m": .string("x")])
    #expect(try await coordinator.waitUntilPresented(handle) == nil)
    #expect(try await coordinator.toggle("fact") == nil)
    #expect(try await coordinator.waitUntilGone(handle).reason == .dismissed)
    #expect(try await coordinator.presentation(at: "fact") == nil)
    let toggled = try #require(try await coordinator.toggle("fact", id: "2", .state))
    #expect(toggled > handle)
    #expect(try await coordinator.dismiss("fact", expecting: Expectation(presentation: toggled)))
    #expect(try await coordinator.dismiss("fact") == false)
    try await coordinator.present("a.b", .state)
    try await coordinator.present("a.c", .state)
    #expect(try await coordinator.dismissAll(.root("a")) == 2)
    #expect(try await coordinator.dismissAll(.everything) == 0)
    let history = try await coordinator.history(most: 2)
    #expect(history.map(\.reason) == ["dismissed", "dismissed"])
  }

  @Test("A history of no entries is empty", arguments: bothKinds)
  func history_mostIsZeroOrLess_isEmpty(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    defer { withExtendedLifetime(fixture) {} }
    let coordinator = fixture.coordinator
    for binding in ["a", "b"] {
      try await coordinator.present(binding, .state)
      try await coordinator.dismiss(binding)
    }
    var counts: [Int] = []
    for most in [0, -1, .min, 1, .max, nil] { counts.append(try await coordinator.history(most: most).count) }
    #expect(counts == [0, 0, 0, 1, 2, 2])
  }

  @Test("After the bus has ended, calls say that the coordinator cannot be reached, and why")
  func client_afterTheEndOfTheBus_isUnreachable() async throws {
    let fixture = try await NavigationFixture(.navd)
    let (session, coordinator) = (try #require(fixture.session), fixture.coordinator)
    kill(session.bus.processID, SIGKILL)
    let ended = NavigationError.unreachable("the connection to the bus ended")
    await #expect(throws: ended) { for try await _ in coordinator.following {} }
    await #expect(throws: ended) { try await coordinator.present("a") }
    await #expect(throws: ended) { try await coordinator.waitUntilGone(Handle(1)) }
    await #expect(throws: ended) { _ = try await coordinator.windowSystem.events() }
    await #expect(throws: ended) {
      try await fixture.navigator.serve("a") { _ in RecordingScreen("a", on: fixture.display) }
    }
    await coordinator.close()
    await #expect(throws: NavigationError.closed) { try await coordinator.present("a") }
  }

  @Test("G2–G4, S1–S5, T1: groups, stacks and transactions can be changed", arguments: bothKinds)
  func client_containers_canBeChanged(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    defer { withExtendedLifetime(fixture) {} }
    let coordinator = fixture.coordinator
    try await coordinator.select("wifi", in: "panels", .state)
    try await coordinator.select("volume", in: "panels", .state)
    var state = try await coordinator.state()
    #expect(state.groups["panels"]?.selection == "volume")
    #expect(try await coordinator.toggleSelection("volume", in: "panels") == false)
    #expect(try await coordinator.toggleSelection("wifi", in: "panels", .state))
    #expect(try await coordinator.deselect("volume", in: "panels") == false)
    #expect(try await coordinator.deselect(in: "panels"))
    #expect(try await coordinator.forget("volume", in: "panels"))

    try await coordinator.push("settings", onto: "main", .state)
    try await coordinator.push("network", onto: "main", id: "eth0", .state)
    state = try await coordinator.state()
    #expect(
      state.stacks["main"] == [PathElement(binding: "settings", id: ""), PathElement(binding: "network", id: "eth0")])
    #expect(try await coordinator.pop(from: "main") == 1)
    let path: [Coordinator.PathItem] = [.init(id: "a"), .init(id: "b"), .init(binding: "x", id: "c")]
    #expect(try await coordinator.setPath(path, of: "main", allowsState: true).count == 3)
    #expect(try await coordinator.pop(to: "main[0]", in: "main") == 2)
    #expect(try await coordinator.pop(to: nil, in: "main") == 1)

    let ((one, two, isDismissed, wifi, three), serial) = try await coordinator.apply {
      $0.present("one", .state)
      $0.present("two", id: "2", .state)
      $0.dismiss("one")
      $0.select("wifi", in: "panels", .state)
      $0.push("three", onto: "main", .state)
    }
    // The slot is set and set back, so it has not changed.
    #expect(one.presentation == nil)
    #expect(two.hasChanged && two.serial == serial)
    #expect(!isDismissed)
    #expect(two.presentation != nil && wifi.presentation != nil && three.presentation != nil)
    state = try await coordinator.state()
    #expect(state.serial == serial)
    #expect(Set(state.presentations.map(\.binding)) == ["two", "panels.wifi", "three"])
  }

  @Test("V1–V5: container values are declared and resolved", arguments: bothKinds)
  func client_containerValues_areResolved(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    defer { withExtendedLifetime(fixture) {} }
    let coordinator = fixture.coordinator
    try await coordinator.declare(Rank.self)
    try await coordinator.push("one", onto: "main", PresentationOptions.state.containerValue(\.isPinned, true))
    try await coordinator.push("two", onto: "main", PresentationOptions.state.containerValue(\.rank, 1))
    let members = try await coordinator.members(of: .stack("main"))
    #expect(members.map(\.binding) == ["one", "two"])
    #expect(members.map(\.containerValues.isPinned) == [true, false])
    #expect(members.map(\.containerValues.rank) == [7, 1])
    #expect(try await coordinator.containerValue(IsPinned.self, at: "one"))
    #expect(try await coordinator.containerValue(Rank.self, at: "one") == 7)
    #expect(try await coordinator.members(of: .everything).count == 2)
    #expect(try await coordinator.members(of: .parent("one")).isEmpty)
  }

  @Test("A refused call throws the error with its name and changes nothing", arguments: bothKinds)
  func client_refused_throwsTheName(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    defer { withExtendedLifetime(fixture) {} }
    let coordinator = fixture.coordinator
    await #expect(throws: NavigationError.self) { try await coordinator.present("no binding") }
    for (options, name) in [(PresentationOptions(destination: "nowhere"), "nowhere"), (PresentationOptions(), "fact")] {
      do throws(NavigationError) {
        try await coordinator.present("fact", options)
        Issue.record("it was accepted")
      } catch {
        #expect(error.refusal == .unknownDestination && "\(error)".contains("no destination “\(name)”"))
      }
    }
    do throws(NavigationError) {
      try await coordinator.apply {
        $0.present("fact", .state)
        $0.update("none", [:])
      }
      Issue.record("it was accepted")
    } catch {
      #expect(error.refusal == .notPresented && "\(error)".contains("request 1"))
    }
    #expect(try await coordinator.state().presentations.isEmpty)
    await #expect(throws: NavigationError.self) { try await coordinator.waitUntilGone(PresentationHandle(99)) }
  }

  @Test("Cancelling a task cancels its call", arguments: bothKinds)
  func client_cancelled_throwsCancelled(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    defer { withExtendedLifetime(fixture) {} }
    let coordinator = fixture.coordinator
    let handle = try #require(try await coordinator.present("fact", .state).presentation)
    let waiting = Task { () -> NavigationError? in
      do throws(NavigationError) {
        _ = try await coordinator.waitUntilGone(handle)
        return nil
      } catch { return error }
    }
    try await coordinator.present("other", .state)
    waiting.cancel()
    #expect(await waiting.value == .cancelled)
    #expect(try await coordinator.presentation(at: "fact") != nil)
  }

  @Test("W1, W2: following returns the state, then every event with consecutive serials", arguments: bothKinds)
  func following_changes_missesNone(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    defer { withExtendedLifetime(fixture) {} }
    let coordinator = fixture.coordinator
    var following = coordinator.following.makeAsyncIterator()
    guard case .state(let state) = try await following.next() else {
      throw NavigationFixture.Timeout(description: "no state")
    }
    var serial = state.serial
    for round in 1...50 {
      try await coordinator.present("fact", id: "\(round)", .state)
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

  @Test("W2: a reader that falls behind receives the state in place of the missed events")
  func following_fallsBehind_returnsTheState() async throws {
    let fixture = try await NavigationFixture(.embedded)
    defer { withExtendedLifetime(fixture) {} }
    let coordinator = fixture.coordinator
    var following = coordinator.following.makeAsyncIterator()
    _ = try await following.next()
    for round in 0..<Listeners.maxNotices { try await coordinator.present("fact", id: "\(round)", .state) }
    let element = try await following.next()
    guard case .state(let state) = element else {
      throw NavigationFixture.Timeout(description: "\(String(describing: element))")
    }
    #expect(state.presentation(at: "fact")?.id == "\(Listeners.maxNotices - 1)")
    try await coordinator.dismiss("fact")
    guard case .event(let event) = try await following.next() else {
      throw NavigationFixture.Timeout(description: "no event")
    }
    #expect(event.serial == state.serial + 1)
  }

  @Test("W2: a reader that falls behind a restart, after which serials are lower, reads the state")
  func following_restartIsDropped_returnsTheState() async throws {
    let backend = FloodedBackend()
    var following = Following(backend: backend).makeAsyncIterator()
    _ = try await following.next()
    backend.listeners.notify(.state(StateSnapshot([:]), Moment(coordinator: 1, serial: 1)))
    for serial in 2...UInt64(Listeners.maxNotices + 1) {
      backend.listeners.notify(.event(StateEvent(.hold("dnd", isInForce: true), serial: serial)))
    }
    // The end of the notices turns a wait for ever into an error.
    backend.listeners.end(.closed)
    guard case .state(let state) = try await following.next() else {
      throw NavigationFixture.Timeout(description: "no state")
    }
    #expect(state.serial == 0)
  }

  @Test("R1, W2: following and presenting continue after navd was killed and restarted")
  func navd_restarted_isFollowedAndPresents() async throws {
    let fixture = try await NavigationFixture(.navd)
    let display = fixture.display
    let session = try #require(fixture.session)
    let model = RestartModel()
    fixture.navigator.present(item: Bindable(model).note) {
      RecordingScreen("note \($0.wrappedValue.id)", on: display)
    }
    model.note = .init(id: 1)
    try await fixture.shows("note 1")
    await fixture.navigator.settle()
    var following = fixture.coordinator.following.makeAsyncIterator()
    _ = try await following.next()
    let handle = try #require(fixture.display["note 1"]?.showing?.presentation)
    let waiting = Task { try await fixture.coordinator.waitUntilGone(handle) }
    _ = try session.stop(SIGKILL)
    try session.start()
    guard case .state(let state) = try await following.next() else {
      throw NavigationFixture.Timeout(description: "no state")
    }
    #expect(state.presentations.map(\.presentation) == [handle])
    // The screen has stayed and is still presented.
    #expect(fixture.display.log == ["+note 1"])
    model.note = .init(id: 2)
    try await fixture.shows("note 2")
    #expect(try await waiting.value.reason == .replaced)
    #expect(fixture.display.log == ["+note 1", "-note 1", "+note 2"])
  }

  @Test("O1: presentations of a program end when it closes its coordinator")
  func coordinator_closed_endsWhatItOwns()
    async throws
  {
    let fixture = try await NavigationFixture(.navd)
    let address = try #require(fixture.session).bus.address
    let model = RestartModel()
    fixture.navigator.present(item: Bindable(model).note, to: nil, options: { _ in .state })
    model.note = .init(id: 1)
    let other = try await Coordinator.bus(address: address)
    let note = fixture.text(Bindable(model).note)
    for try await _ in other.following where try await other.presentation(at: note) != nil { break }
    var following = other.following.makeAsyncIterator()
    _ = try await following.next()
    await fixture.coordinator.close()
    while let element = try await following.next() {
      if case .event(let event) = element, case .dismissed(_, let reason) = event.kind {
        #expect(reason == .owner)
        return
      }
    }
  }

  @Test("T1: a transaction may contain every changing method, and its replies have types", arguments: bothKinds)
  func apply_everyChange_isAccepted(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    defer { withExtendedLifetime(fixture) {} }
    let coordinator = fixture.coordinator
    let ((one, two, isUpdated, wifi, isSelected, p, path, popped, poppedTo), serial) = try await coordinator.apply {
      $0.present("a.one", id: "1", PresentationOptions(value: ["x": 1, "y": 2]).asState)
      $0.toggle("a.two", .state)
      $0.update("a.one", ["z": 3], remove: ["x"])
      $0.select("wifi", in: "panels", .state)
      $0.toggleSelection("volume", in: "panels", .state)
      $0.push("p", onto: "main", .state)
      $0.setPath([.init(id: "1"), .init(id: "2")], of: "side", allowsState: true)
      $0.pop(from: "side")
      $0.pop(to: "p", in: "main")
    }
    var state = try await coordinator.state()
    #expect(state.serial == serial && state.groups["panels"]?.selection == "volume")
    #expect(state.presentation(at: "a.one")?.value == ["y": 2, "z": 3])
    #expect(Set(state.presentations.map(\.binding)) == ["a.one", "a.two", "panels.volume", "p", "side[0]"])
    #expect(one.presentation == state.presentation(at: "a.one")?.presentation && one.hasChanged && one.serial == serial)
    #expect(two != nil && two == state.presentation(at: "a.two")?.presentation)
    #expect(isUpdated && wifi.presentation == nil && isSelected && p.hasChanged)
    #expect(path.first == state.presentation(at: "side[0]")?.presentation && popped == 1 && poppedTo == 0)

    // An `if` has optional replies, and a `for` has an array of replies.
    let ((dismissed, isDeselected, others, forgotten), _) = try await coordinator.apply {
      $0.dismissAll(.root("a"))
      if isSelected { $0.deselect(in: "panels") }
      for binding in ["p", "none"] { $0.dismiss(binding) }
      if popped > 1 { $0.forget("wifi", in: "panels") }
    }
    #expect(dismissed == 2 && isDeselected == true && others == [true, false] && forgotten == nil)
    #expect(try await coordinator.apply { $0.dismissAll(.stack("side")) }.replies == 1)
    state = try await coordinator.state()
    #expect(state.presentations.isEmpty)
    // A request with an outdated expectation changes nothing (P10).
    await #expect(throws: NavigationError.self) {
      try await coordinator.apply(expecting: serial) { $0.present("b", .state) }
    }
  }

  @Test("The coordinator's properties can be read", arguments: bothKinds)
  func coordinator_properties_areRead(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    defer { withExtendedLifetime(fixture) {} }
    let coordinator = fixture.coordinator
    #expect(try await coordinator.interfaceVersion() == 2)
    #expect(try await coordinator.softwareVersion() == Release.version)
    #expect(try await coordinator.limits()["text"] == 4096)
    try await coordinator.present("a", .state)
    #expect(try await coordinator.serial() == coordinator.state().serial)
  }

  @Test("D1, D4, D7: a program can present the items of a destination for other programs", arguments: bothKinds)
  func navigator_servingADestination_presentsForOthers(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    let (coordinator, display) = (fixture.coordinator, fixture.display)
    try await fixture.navigator.serve("calendar", DestinationOptions(group: "panels", style: "popover")) {
      RecordingScreen("\($0.id) \($0.value["day"] ?? .string("none"))", on: display)
    }
    #expect(try await coordinator.destinations()["calendar"]?.style == "popover")
    let presented = try await coordinator.present(
      "cal", id: "1", PresentationOptions(destination: "calendar", value: ["day": .string("friday")]))
    try await fixture.until { display.names.count == 1 }
    let name = try #require(display.names.first)
    #expect(name.contains("friday") && name.hasPrefix("1"))
    #expect(try await coordinator.presentation(at: "cal")?.group == "panels")
    try await display.screens[0].close()
    #expect(try await coordinator.waitUntilGone(try #require(presented.presentation)).reason == .closed)
    try await fixture.navigator.stopServing("calendar")
    await #expect(throws: NavigationError.self) {
      try await coordinator.present("cal", PresentationOptions(destination: "calendar"))
    }
  }

  @Test("D1: a refused registration leaves the former one in effect, also at the next navd")
  func navigator_registrationRefused_keepsTheFormerOne() async throws {
    let fixture = try await NavigationFixture(.navd)
    let (session, coordinator, display) = (try #require(fixture.session), fixture.coordinator, fixture.display)
    try await fixture.navigator.serve("calendar") { _ in RecordingScreen("calendar", on: display) }
    await #expect(throws: NavigationError.self) {
      try await fixture.navigator.serve("calendar", DestinationOptions(group: "no name")) { _ in
        RecordingScreen("refused", on: display)
      }
    }
    // A navd with an empty record knows no registrations.
    try session.stop()
    try session.start(["--state-directory", session.path("empty")])
    try session.poll("it is registered again") {
      try session.call(CoordinatorInterface.destinations, ()).contains { $0.fields.0 == "calendar" }
    }
    try await coordinator.present("cal", PresentationOptions(destination: "calendar"))
    try await fixture.shows("calendar")
  }

  @Test("R4: a served screen is not taken for a later item to which a navd without its record gives its handle")
  func served_navdRecordLost_nextItemIsShown() async throws {
    let fixture = try await NavigationFixture(.navd)
    let (session, coordinator, display) = (try #require(fixture.session), fixture.coordinator, fixture.display)
    try await fixture.navigator.serve("calendar") { RecordingScreen($0.id, on: display) }
    let options = PresentationOptions(destination: "calendar")
    let first = try await coordinator.present("cal", id: "1", options)
    try await fixture.shows("1")
    try session.stop(SIGKILL)
    try session.start(["--state-directory", session.path("empty")])
    try session.poll("it is registered again") {
      try session.call(CoordinatorInterface.destinations, ()).contains { $0.fields.0 == "calendar" }
    }
    let second = try await coordinator.present("other", id: "2", options)
    #expect(second.presentation == first.presentation)
    try await fixture.shows("2")
  }

  @Test("R4: a served screen goes when navd has lost its record")
  func served_navdRecordLost_goes() async throws {
    let fixture = try await NavigationFixture(.navd)
    let (session, coordinator, display) = (try #require(fixture.session), fixture.coordinator, fixture.display)
    try await fixture.navigator.serve("calendar") { RecordingScreen($0.id, on: display) }
    try await coordinator.present("cal", id: "1", PresentationOptions(destination: "calendar"))
    try await fixture.isPresented()
    try session.stop(SIGKILL)
    try session.start(["--state-directory", session.path("empty")])
    try await fixture.shows()
  }

  @Test("D1: of two registrations of a name at once, one shows its items", arguments: bothKinds)
  func navigator_registersTwiceAtOnce_showsOnce(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    let (navigator, display) = (fixture.navigator, fixture.display)
    async let first: Void = navigator.serve("calendar") { _ in RecordingScreen("calendar", on: display) }
    async let second: Void = navigator.serve("calendar") { _ in RecordingScreen("calendar", on: display) }
    _ = try await (first, second)
    try await fixture.coordinator.present("cal", PresentationOptions(destination: "calendar"))
    try await fixture.isPresented()
    try await fixture.coordinator.dismiss("cal")
    try await fixture.shows()
    #expect(display.log == ["+calendar", "-calendar"])
    try await navigator.stopServing("calendar")
    #expect(try await fixture.coordinator.destinations().isEmpty)
  }

  @Test("D1: registrations for which there was no navd leave one object on the bus, which the next navd calls")
  func navigator_registersWithoutNavd_hasOneObject() async throws {
    let fixture = try await NavigationFixture(.navd)
    let (session, coordinator, display) = (try #require(fixture.session), fixture.coordinator, fixture.display)
    try session.stop()
    for _ in 0..<3 {
      await #expect(throws: NavigationError.self) {
        try await fixture.navigator.serve("calendar") { _ in RecordingScreen("calendar", on: display) }
      }
    }
    #expect(try coordinator.countOfPresenters(session.connect()) == 1)
    try session.start()
    try session.poll("it is registered again") {
      try session.call(CoordinatorInterface.destinations, ()).contains { $0.fields.0 == "calendar" }
    }
    try await coordinator.present("cal", PresentationOptions(destination: "calendar"))
    try await fixture.shows("calendar")
  }

  @Test("Navigators that are gone leave no objects on the bus, also those whose destinations others serve now")
  func navigator_released_leavesNoObject() async throws {
    let fixture = try await NavigationFixture(.navd)
    let (session, coordinator, display) = (try #require(fixture.session), fixture.coordinator, fixture.display)
    for _ in 0..<3 {
      var former: Navigator? = Navigator(coordinator)
      for destination in ["calendar", "clock", "clock"] {
        try await former?.serve(destination) { _ in RecordingScreen("former", on: display) }
      }
      try await fixture.navigator.serve("calendar") { _ in RecordingScreen("later", on: display) }
      former = nil
      while try await coordinator.destinations()["clock"] != nil { await Task.yield() }
      try await fixture.navigator.stopServing("calendar")
    }
    let client = try session.connect()
    // The fixture's navigator keeps one object for each time that it has served “calendar”.
    try session.poll("the objects of the others are gone") { try coordinator.countOfPresenters(client) == 3 }
  }

  @Test("D1: a registration that a later navd refuses is reported to the program")
  func navigator_registrationRefusedLater_isReported() async throws {
    let fixture = try await NavigationFixture(.navd)
    let (session, display) = (try #require(fixture.session), fixture.display)
    var refusals: [NavigationError] = []
    fixture.navigator.onRefused = { refusals.append($0) }
    try await fixture.navigator.serve("calendar") { _ in RecordingScreen("calendar", on: display) }
    try session.stop()
    let later = try session.connect()
    let refusing = ImplementedInterface(CoordinatorInterface.interface)
    refusing.implement(CoordinatorInterface.registerPresenter) { _, call in
      call.fail(DBusError(name: ErrorCode.accessDenied.errorName, message: "not here"))
    }
    later.export(CoordinatorNames.object, [refusing])
    later.requestName(CoordinatorNames.bus) { _ in }
    try await session.serve { refusals.contains { $0.refusal == .accessDenied } }
  }

  @Test("D1: a navigator that ends leaves the registration of a later one by the same name", arguments: bothKinds)
  func navigator_endsAfterAnotherServesItsDestination_leavesThatRegistered(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    let (coordinator, display) = (fixture.coordinator, fixture.display)
    var former: Navigator? = Navigator(coordinator)
    for destination in ["calendar", "clock"] {
      try await former?.serve(destination) { _ in RecordingScreen("former", on: display) }
    }
    try await fixture.navigator.serve("calendar") { _ in RecordingScreen("later", on: display) }
    try await former?.stopServing("calendar")
    #expect(try await coordinator.destinations()["calendar"] != nil)
    try await former?.serve("calendar") { _ in RecordingScreen("former", on: display) }
    try await fixture.navigator.serve("calendar") { _ in RecordingScreen("later", on: display) }
    former = nil
    // The former navigator unregisters the destination that it still serves.
    while try await coordinator.destinations()["clock"] != nil { await Task.yield() }
    try await coordinator.present("cal", PresentationOptions(destination: "calendar"))
    try await fixture.shows("later")
    #expect(try await coordinator.destinations().keys.sorted() == ["calendar"])
  }

  @Test func bus_isNotThere_saysSo() async {
    await #expect(throws: NavigationError.self) { try await Coordinator.bus(address: "unix:path=/nowhere/bus") }
  }

  @Test func coordinator_closed_refusesAll() async throws {
    for kind in CoordinatorKind.allCases {
      let fixture = try await NavigationFixture(kind)
      await fixture.coordinator.close()
      await #expect(throws: NavigationError.closed) { try await fixture.coordinator.state() }
      await #expect(throws: NavigationError.closed) { for try await _ in fixture.coordinator.following {} }
    }
  }

  @Test(
    "Closing a coordinator is not reported as a loss of connection, and the state becomes nil",
    arguments: bothKinds)
  func coordinator_closed_reportsNothing(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    let display = fixture.display
    let model = RestartModel()
    var refusals: [NavigationError] = []
    fixture.navigator.onRefused = { refusals.append($0) }
    fixture.navigator.present(item: Bindable(model).note) {
      RecordingScreen("note \($0.wrappedValue.id)", on: display)
    }
    model.note = .init(id: 1)
    try await fixture.shows("note 1")
    await fixture.navigator.settle()
    await fixture.coordinator.close()
    try await fixture.until { model.note == nil }
    #expect(refusals.isEmpty)
  }

  @Test(
    "Waiting for “presented” returns at once for an item that is being dismissed after it was presented",
    arguments: bothKinds)
  func wait_forPresentedDuringDismissal_returnsAtOnce(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    let display = fixture.display
    let model = RestartModel()
    fixture.navigator.present(item: Bindable(model).note) {
      RecordingScreen("note \($0.wrappedValue.id)", on: display)
    }
    model.note = .init(id: 1)
    try await fixture.shows("note 1")
    await fixture.navigator.settle()
    let handle = try #require(fixture.display["note 1"]?.showing?.presentation)
    #expect(try await fixture.coordinator.waitUntilPresented(handle) == nil)
    fixture.display.stuck = ["note 1"]
    model.note = nil
    try await fixture.until { fixture.display.disappearing == ["note 1"] }
    let waiting = Task { try await fixture.coordinator.waitUntilPresented(handle) }
    try await fixture.coordinator.present("other", .state)
    fixture.display.stuck = []
    #expect(try await waiting.value == nil)
    try await fixture.shows()
  }

  @Test(
    "A duration on the bus is in whole milliseconds, however long it is",
    arguments: [
      (.zero, 0), (.nanoseconds(1), 1), (.milliseconds(2), 2), (.microseconds(2001), 3), (.seconds(-5), 1),
      (.seconds(18_446_744_073_709_551) + .milliseconds(615), .max),
      (.seconds(18_446_744_073_709_551) + .milliseconds(999), .max), (.seconds(Int64.max), .max),
      (Duration(attoseconds: .max), .max), (Duration(attoseconds: .min), 1),
    ] as [(Duration, UInt64)])
  func duration_onTheBus_isInMilliseconds(_ duration: Duration, _ milliseconds: UInt64) {
    #expect(duration.milliseconds == milliseconds)
  }

  @Test("S2: a negative count of elements to pop is reported, and pops nothing", arguments: bothKinds)
  func pop_negativeCount_isReported(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    defer { withExtendedLifetime(fixture) {} }
    let coordinator = fixture.coordinator
    try await coordinator.push("page", onto: "main", .state)
    let (alone, inTransaction) = kind == .navd ? (-41, -42) : (-43, -44)
    #expect(try await coordinator.pop(alone, from: "main") == 0)
    #expect(try await coordinator.apply { $0.pop(inTransaction, from: "main") }.replies == 0)
    for count in [alone, inTransaction] {
      #expect(MisuseLog.shared.messages.filter { $0.contains("found \(count)") }.count == 1)
    }
    #expect(try await coordinator.pop(from: "main") == 1)
  }

  @Test func embedded_command_isRefused() async throws {
    var options = PresentationOptions()
    options.command.arguments = ["true"]
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

/// A coordinator whose notices the test makes itself.
private final class FloodedBackend: ForwardingBackend {
  let listeners = Listeners()
  let embedded: any CoordinatorBackend = EmbeddedBackend()

  func notices() async -> AsyncStream<Notice> {
    let (stream, listener) = listeners.add()
    listener?.yield(.state(StateSnapshot([:]), Moment(serial: 10_000)))
    return stream
  }
}
