import Navigation
import NavigationTesting
import TestSupport
import Testing

/// Values of the bus as literals of Swift.
@Suite @MainActor struct ValueLiteralTests {
  @Test("Values are literals, and a program needs no other import", arguments: bothKinds)
  func value_ofLiterals_isPresented(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    defer { withExtendedLifetime(fixture) {} }
    let value: Properties = [
      "text": "a", "count": 3, "isNew": true, "size": 1.5, "tags": ["x", "y"], "more": ["z": 1],
    ]
    var options = PresentationOptions(value: value)
    options.window.output = "DP-1"
    options.request.allowsState = true
    try await fixture.coordinator.present("literal", options)
    let presented = try await fixture.coordinator.presentation(at: "literal")
    #expect(presented?.value == value && presented?.windows == [:] && presented?.output == "DP-1")
    guard case .properties(let more)? = presented?.value["more"] else { return #expect(Bool(false)) }
    #expect(more["z"] == 1)
  }
}
