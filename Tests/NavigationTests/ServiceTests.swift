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

/// The answers of the embedded coordinator and of navd, which are alike, since both have the same service.
@Suite @MainActor struct ServiceTests {
  /// The wall clock in milliseconds since 1970.
  private static var wallClock: UInt64 { WallClock.microseconds / 1000 }

  private static func isRecent(_ time: UInt64?, since start: UInt64) -> Bool {
    // One clock is read after the other, so the limits have a second to spare.
    time.map { (start - 1000...wallClock + 1000).contains($0) } ?? false
  }

  @Test("O2: while a timeout runs, a presentation has the time that is left", arguments: bothKinds)
  func presentation_timeoutRuns_hasTimeLeft(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    defer { withExtendedLifetime(fixture) {} }
    let coordinator = fixture.coordinator
    func timeLeft(_ binding: String) async throws -> UInt64? {
      StateEntry(try #require(try await coordinator.presentation(at: binding)).all).timeoutLeft
    }
    try await coordinator.present("toast", PresentationOptions(timeout: .seconds(600)).asState)
    let first = try #require(try await timeLeft("toast"))
    #expect(first > 500_000 && first <= 600_000)
    try await Task.sleep(for: .milliseconds(10))
    let second = try #require(try await timeLeft("toast"))
    #expect(second < first)
    try await coordinator.present("dialog", .state)
    #expect(try await timeLeft("dialog") == nil)
  }

  @Test(
    "The state has the time at which an item was presented, and the history the time of its end",
    arguments: bothKinds)
  func stateAndHistory_haveTimes(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    defer { withExtendedLifetime(fixture) {} }
    let (coordinator, start) = (fixture.coordinator, Self.wallClock)
    try await coordinator.present("fact", .state)
    let presented = try #require(try await coordinator.state().presentation(at: "fact"))
    #expect(Self.isRecent(StateEntry(presented.all).since, since: start))
    #expect(try await coordinator.presentation(at: "fact")?.all["since"] == presented.all["since"])
    try await Task.sleep(for: .milliseconds(20))
    try await coordinator.dismiss("fact")
    let ending = try #require(try await coordinator.history().first)
    #expect(Self.isRecent(ending.time, since: start))
    let shownFor = try #require(ending.shownFor)
    #expect((20...60_000).contains(shownFor))
  }

  @Test("The client whose request ended a presentation is identified, each time", arguments: bothKinds)
  func history_endedByRequest_identifiesTheClient(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    defer { withExtendedLifetime(fixture) {} }
    let coordinator = fixture.coordinator
    for round in 0..<100 { try await coordinator.present("fact", id: "\(round)", .state) }
    try await coordinator.dismiss("fact")
    // navd asks the bus about the client, and does not wait for the answer.
    var requesters: [RequesterEntry?] = []
    try await poll {
      requesters = try await coordinator.history().map(\.requester)
      return requesters.allSatisfy { $0?.pid != nil }
    }
    #expect(requesters.count == 100)
    let (pid, program) = (UInt64(getpid()), ProcessName.of(UInt32(getpid())))
    #expect(requesters.allSatisfy { $0?.pid == pid && $0?.program == program && $0?.client?.isEmpty == false })
  }

  @Test("D6, D7: an entry of the history has an error if its presentation failed, and only then", arguments: bothKinds)
  func history_failedEnding_hasItsError(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    defer { withExtendedLifetime(fixture) {} }
    let coordinator = fixture.coordinator
    try await coordinator.backend.serve("broken", DestinationOptions(), by: FailingHost())
    for id in ["1", "2"] {
      let handle = try #require(
        try await coordinator.present("fact", id: id, PresentationOptions(destination: "broken")).presentation)
      #expect(try await coordinator.waitUntilGone(handle).reason == .failed)
    }
    try await coordinator.present("note", .state)
    try await coordinator.dismiss("note")
    let endings = try await coordinator.history()
    #expect(endings.map(\.reason) == ["dismissed", "failed", "failed"])
    #expect(endings.map(\.hasFailed) == [false, true, true])
    #expect(endings[0].error == nil)
    for (ending, id) in zip(endings.dropFirst(), [2, 1]) {
      #expect(ending.error == "there is no room for \(id)")
    }
    #expect(try await coordinator.history(most: 1, ["binding": .string("fact")]).map(\.error) == [endings[1].error])
    await coordinator.close()
    await #expect(throws: NavigationError.self) { try await coordinator.history() }
  }

  @Test("Closing a coordinator ends the calls that wait", arguments: bothKinds)
  func wait_coordinatorClosed_throwsClosed(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    defer { withExtendedLifetime(fixture) {} }
    let coordinator = fixture.coordinator
    let handle = try #require(try await coordinator.present("fact", .state).presentation)
    let waiting = (0..<3).map { _ in
      Task { () -> NavigationError? in
        do throws(NavigationError) {
          _ = try await coordinator.waitUntilGone(handle)
          return nil
        } catch { return error }
      }
    }
    try await coordinator.present("other", .state)
    waiting[0].cancel()
    #expect(await waiting[0].value == .cancelled)
    await coordinator.close()
    for call in waiting.dropFirst() { #expect(await call.value == .closed) }
  }

  @Test("A call that is not answered when its coordinator is closed says so", arguments: bothKinds)
  func call_coordinatorClosed_throwsClosed(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    defer { withExtendedLifetime(fixture) {} }
    let coordinator = fixture.coordinator
    let host = RecordingHost()
    host.isHeld = true
    defer { host.isHeld = false }
    try await coordinator.backend.serve("slow", DestinationOptions(), by: host)
    let handle = try #require(
      try await coordinator.present("fact", PresentationOptions(destination: "slow")).presentation)
    let call = Task { () -> NavigationError? in
      do throws(NavigationError) {
        try await coordinator.waitUntilPresented(handle)
        return nil
      } catch { return error }
    }
    try await coordinator.present("other", .state)
    await coordinator.close()
    #expect(await call.value == .closed)
  }

  @Test(
    "More tasks than the limit of waits can wait for the same presentation, one after the other and together",
    arguments: bothKinds)
  func wait_tasksMoreThanTheLimit_areAnswered(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    defer { withExtendedLifetime(fixture) {} }
    let coordinator = fixture.coordinator
    let handle = try #require(try await coordinator.present("fact", .state).presentation)
    func wait() -> Task<Result<NavigationReason?, NavigationError>, Never> {
      Task {
        do throws(NavigationError) {
          return .success(try await coordinator.waitUntilGone(handle).reason)
        } catch { return .failure(error) }
      }
    }
    let cancelled = (0..<600).map { _ in wait() }
    for round in 0..<10 { try await coordinator.present("other", id: "\(round)", .state) }
    for wait in cancelled { wait.cancel() }
    for wait in cancelled { #expect(await wait.value == .failure(.cancelled)) }
    let others = (0..<600).map { _ in wait() }
    for round in 0..<10 { try await coordinator.present("other", id: "\(round)", .state) }
    try await coordinator.dismiss("fact")
    for wait in others { #expect(await wait.value == .success(.dismissed)) }
  }

  @Test("A closed coordinator serves no destination", arguments: bothKinds)
  func serve_coordinatorClosed_throwsClosed(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    let (navigator, display) = (fixture.navigator, fixture.display)
    await fixture.coordinator.close()
    await #expect(throws: NavigationError.closed) {
      try await navigator.serve("calendar") { RecordingScreen($0.id, on: display) }
    }
  }

  @Test("R5: after Quit, requests are refused as ShuttingDown; this does not close the coordinator")
  func embedded_quit_refusesRequests() async throws {
    let coordinator = Coordinator.embedded()
    let handle = try #require(try await coordinator.present("fact", .state).presentation)
    try await coordinator.quit()
    #expect(try await coordinator.waitUntilGone(handle).reason == .shutdown)
    do throws(NavigationError) {
      try await coordinator.present("fact")
      Issue.record("it was accepted")
    } catch {
      #expect(error.refusal == .shuttingDown)
    }
    #expect(try await coordinator.state().presentations.isEmpty)
  }

  @Test("A property that the contract does not have is refused by name")
  func embedded_unknownProperty_isNamed() async throws {
    let coordinator = Coordinator.embedded()
    do throws(NavigationError) {
      _ = try await coordinator.read(PropertyAccessing.get, (CoordinatorInterface.name.text, "Colour"))
      Issue.record("it was accepted")
    } catch {
      #expect(error.refusal == .invalidArgument && "\(error)".contains("“Colour”"))
    }
  }

  @Test("D4, D7: presenters are asked in order, even when the first of them has gone")
  func embedded_presenterGone_keepsTheOrderOfTheOthers() async throws {
    let coordinator = Coordinator.embedded()
    let host = RecordingHost()
    for name in ["here", "gone"] { try await coordinator.backend.serve(name, DestinationOptions(), by: host) }
    func options(_ destination: String, from: String? = nil, group: String? = nil) -> PresentationOptions {
      var options = PresentationOptions(destination: destination)
      (options.from, options.group) = (from, .init(group, ifBusy: group == nil ? nil : .queue))
      return options
    }
    host.isHeld = true
    try await coordinator.present("p", options("here"))
    try await coordinator.present("first", options("gone", from: "p", group: "g"))
    try await coordinator.present("second", options("here", from: "p"))
    let queued = try #require(try await coordinator.present("queued", options("here", group: "g")).presentation)
    try await coordinator.backend.stopServing("gone", by: host)
    host.isHeld = false
    try await coordinator.waitUntilPresented(queued)
    #expect(host.presented == ["p", "second", "queued"])
  }
}

/// A presenter that records what it is asked to show, in order.
@MainActor
private final class RecordingHost: PresenterHost {
  var isHeld = false
  private(set) var presented: [String] = []

  func present(_ item: PresentedItem) async throws(ShowingError) {
    presented.append(item.binding)
    while isHeld { await Task.yield() }
  }

  func update(_ presentation: PresentationHandle, item: Properties) async {}

  func dismiss(
    _ presentation: PresentationHandle, _ options: DismissalOptions
  ) async throws(Declined) -> Properties { [:] }

  var isOver: Bool { false }

  func registrationRefused(_ error: NavigationError) async {}
}

/// A presenter that can show nothing.
private final class FailingHost: PresenterHost {
  func present(_ item: PresentedItem) async throws(ShowingError) {
    throw ShowingError(why: "there is no room for \(item.id)")
  }

  func update(_ presentation: PresentationHandle, item: Properties) async {}

  func dismiss(
    _ presentation: PresentationHandle, _ options: DismissalOptions
  ) async throws(Declined) -> Properties { [:] }

  var isOver: Bool { false }

  func registrationRefused(_ error: NavigationError) async {}
}
