import CoordinatorAPI
import DBus
import EventLoops
import PresentationModel
import TestSupport
import Testing

@testable import Navigation

/// Windows, outputs and parked programs by the library (N1, N4, N8).
@Suite @MainActor struct WindowSystemTests {
  /// Runs the session's loop while `body` waits for the answers of the adapter.
  private func whileServing<T: Sendable>(
    _ session: Session, line: Int = #line, _ body: @escaping @Sendable () async throws -> T
  ) async throws -> T {
    var result: Result<T, any Error>?
    Task { result = await Task.detached { try await body() }.result }
    try await session.serve(line: line) { result != nil }
    return try result!.get()
  }

  @Test("N1: a program reads the windows and outputs, and asks the adapter to close, show and move them")
  func windowSystem_ofABus_isReadAndAsked() async throws {
    let fixture = try await NavigationFixture(.navd)
    let session = try #require(fixture.session)
    let adapter = try ScriptedWindowSystem(
      session, [Window("w1", appID: "editor", title: "one", output: "one"), Window("w2", appID: "viewer")])
    let windowSystem = fixture.coordinator.windowSystem
    let (windows, serial, outputs, focused, capabilities) = try await whileServing(session) {
      let (windows, serial) = try await windowSystem.windows()
      return (
        windows, serial, try await windowSystem.outputs(), try await windowSystem.focusedOutput(),
        try await windowSystem.capabilities()
      )
    }
    #expect(windows == adapter.windows && windows[0].properties.title == "one" && serial == 0)
    #expect(outputs == ["one", "two"] && focused == "one" && capabilities == Set(WindowCapability.allCases))

    let events = try await whileServing(session) {
      var events = try await windowSystem.events().makeAsyncIterator()
      try await windowSystem.move("w1", to: "two")
      try await windowSystem.activate("w1")
      try await windowSystem.hide("w2")
      try await windowSystem.show("w2")
      try await windowSystem.summon("w2")
      try await windowSystem.close("w2")
      return [await events.next(), await events.next()]
    }
    #expect(adapter.requests == ["move w1 two", "activate w1", "hide w2", "show w2", "summon w2", "close w2"])
    guard case .changed("w1", let changed)? = events[0]?.kind, case .closed("w2")? = events[1]?.kind else {
      Issue.record("\(events)")
      return
    }
    #expect(changed.output == "two" && events.map { $0?.serial } == [1, 2])

    adapter.refusal = .init(name: ErrorCode.unknownWindow.errorName, message: "w9")
    let error = try await whileServing(session) { () -> NavigationError? in
      do throws(NavigationError) {
        try await windowSystem.close("w9")
        return nil
      } catch { return error }
    }
    #expect(error?.refusal == .unknownWindow)
  }

  @Test("N4, N8: the windows of a presentation and the parked programs are typed, and parking is an event")
  func windows_ofAPresentation_areTyped() async throws {
    let fixture = try await NavigationFixture(.navd)
    let (session, coordinator) = (try #require(fixture.session), fixture.coordinator)
    try session.write(
      "command = ['sleep', '1000']\nwindow = { app-id = 'files' }\ndismissal = 'hide'\n", toDestination: "files")
    try await coordinator.reload()
    let adapter = try ScriptedWindowSystem(session)
    var (isFollowing, events): (Bool, [NavigationEvent]) = (false, [])
    let following = Task {
      for try await element in coordinator.following {
        if case .event(let event) = element { events.append(event) } else { isFollowing = true }
      }
    }
    defer { following.cancel() }
    try await session.serve { isFollowing }

    let presentation = try #require(
      try await whileServing(session) { try await coordinator.present("files").presentation })
    let pid = try await whileServing(session) { () -> UInt64 in
      while true { if let pid = try await coordinator.presentation(at: "files")?.pid { return pid } }
    }
    adapter.open(Window("w1", appID: "files", title: "Home", pid: pid, output: "one"))
    _ = try await whileServing(session) { try await coordinator.waitUntilPresented(presentation) }
    let window = try await whileServing(session) { try await coordinator.presentation(at: "files")?.windows["w1"] }
    #expect(window?.title == "Home" && window?.output == "one" && window?.appID == "files")

    // The dismissal hides the window, so that its program is parked.
    func parked() -> [ParkedEntry]? {
      for event in events.reversed() { if case .parked(let parked) = event.kind { return parked } }
      return nil
    }
    let isDismissed = try await whileServing(session) { try await coordinator.dismiss("files") }
    #expect(isDismissed)
    try await session.serve { parked()?.map(\.binding) == ["files"] }
    #expect(parked()?.first?.presentation == presentation.number && parked()?.first?.destination == "files")
    let state = try await whileServing(session) { try await coordinator.state() }
    #expect(state.parked == parked() && state.presentations.isEmpty)
    let count = try await whileServing(session) { try await coordinator.dismissAll(.parked, force: true) }
    #expect(count == 1)
    adapter.close("w1")
    try await session.serve { parked() == [] }
  }

  @Test("Without an adapter the windows are not supported", arguments: bothKinds)
  func windowSystem_absent_isNotSupported(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    defer { withExtendedLifetime(fixture) {} }
    let windowSystem = fixture.coordinator.windowSystem
    func refusal(_ body: () async throws(NavigationError) -> Void) async -> CoordinatorError.Name? {
      do throws(NavigationError) { try await body() } catch { return error.refusal }
      return nil
    }
    #expect(await refusal { () throws(NavigationError) in _ = try await windowSystem.windows() } == .notSupported)
    #expect(await refusal { () throws(NavigationError) in _ = try await windowSystem.outputs() } == .notSupported)
    #expect(await refusal { () throws(NavigationError) in _ = try await windowSystem.events() } == .notSupported)
    #expect(await refusal { () throws(NavigationError) in try await windowSystem.close("w1") } == .notSupported)
  }
}
