import CoordinatorAPI
import DBusValues
import PresentationModel
import TestSupport
import Testing

@testable import Navigation

/// Holds by the library (H1).
@Suite @MainActor struct HoldTests {
  @Test("H1: a program can hold, read who holds, and release", arguments: bothKinds)
  func client_holds_canBeChanged(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    defer { withExtendedLifetime(fixture) {} }
    let coordinator = fixture.coordinator
    let cookie = try await coordinator.hold("dnd", message: "a talk")
    let second = try await coordinator.hold("dnd", isOwned: false, timeout: .seconds(3600))
    #expect(try await coordinator.state().holds == ["dnd"])
    let holds = try await coordinator.holds()
    #expect(holds.map(\.cookie) == [cookie, second] && holds.map(\.name) == ["dnd", "dnd"])
    #expect(holds[0].message == "a talk" && holds[0].client != nil && holds[0].isOwned && holds[0].timeoutLeft == nil)
    #expect(!holds[1].isOwned && holds[1].timeoutLeft.map { $0 <= .seconds(3600) && $0 > .zero } == true)
    #expect(holds[0].since.map { $0 > 1_000_000_000_000 } == true)
    var following = coordinator.following.makeAsyncIterator()
    _ = try await following.next()
    try await coordinator.release(hold: "dnd", cookie)
    guard case .event(let event)? = try await following.next() else { throw CancellationError() }
    #expect(event.kind == .hold("dnd", isInForce: true))
    try await coordinator.release(hold: "dnd", second)
    #expect(try await coordinator.state().holds == [])
    #expect(try await coordinator.release(hold: "dnd", second) == 0)
    await #expect(throws: NavigationError.self) { _ = try await coordinator.hold("a.b") }
  }
}
