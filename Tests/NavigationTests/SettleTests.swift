import DBusValues
import NavigationTesting
import Observation
import TestSupport
import Testing

@testable import Navigation

/// A screen that notes the transactions in which it appears and disappears, and that of its own changes.
@MainActor
private final class NotedScreen: Screen {
  private let display: Display

  init(_ display: Display) { self.display = display }

  func appear(_ showing: Showing) async throws { note("+", showing) }

  func disappear(_ showing: Showing, animated: Bool) async -> Properties {
    note("-", showing)
    return [:]
  }

  private func note(_ what: String, _ showing: Showing) {
    display.notes.append("\(what)\(showing.transaction.haste) \(Transaction.current.haste)")
  }
}

@MainActor @Observable
private final class Model: Navigable {
  static let memberNames: MemberNames<Model> = [\.isOpen: "isOpen", \.path: "path"]
  var isOpen = false
  var path: [Int] = []
}

/// The function settle(), which tests use to wait for the end of all changes, and the screens that a navigator lists.
@Suite @MainActor struct SettleTests {
  @Test("settle() includes the earlier changes of other clients", arguments: bothKinds)
  func settle_afterAnotherClient_stateHasFollowed(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let (display, navigator) = (fixture.display, fixture.navigator)
    let binding = Bindable(model, .shared("settle")).isOpen
    navigator.present(isPresented: binding) { RecordingScreen("a", on: display) }
    for _ in 1...20 {
      model.isOpen = true
      try await navigator.settle(within: .seconds(20))
      #expect(navigator.screens.count == 1 && display.names == ["a"])
      try await fixture.coordinator.dismiss("settle.isOpen")
      try await navigator.settle(within: .seconds(20))
      #expect(!model.isOpen && navigator.screens.isEmpty && display.names == [])
    }
  }

  @Test("P15: settle(within:) waits until a decline is written back", arguments: bothKinds)
  func settle_declined_stateIsWrittenBack(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    let (display, navigator) = (fixture.display, fixture.navigator)
    let model = Bindable(Model(), .own("declined"))
    navigator.present(isPresented: model.isOpen) { RecordingScreen("open", on: display) }
    navigator.stack(path: model.path)
      .navigationDestination(for: Int.self) { RecordingScreen("\($0)", on: display) }
    (model.wrappedValue.isOpen, model.wrappedValue.path) = (true, [1, 2])
    try await navigator.settle(within: .seconds(20))
    display.declining = ["open", "2"]
    var lost = (items: 0, paths: 0)
    for _ in 1...30 {
      model.wrappedValue.isOpen = false
      try await navigator.settle(within: .seconds(20))
      if !model.wrappedValue.isOpen { lost.items += 1 }
      try await fixture.until { model.wrappedValue.isOpen }
      model.wrappedValue.path = []
      try await navigator.settle(within: .seconds(20))
      if model.wrappedValue.path != [1, 2] { lost.paths += 1 }
      try await fixture.until { model.wrappedValue.path == [1, 2] }
    }
    #expect(lost == (0, 0), "of 30 items and 30 paths: \(lost)")
  }

  @Test("The error of a time limit names the bindings that have not settled", arguments: bothKinds)
  func settle_screenIsSlow_failsAtItsLimit(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    display.slow = ["slow"]
    fixture.navigator.present(isPresented: Bindable(model, .shared("limit")).isOpen) {
      RecordingScreen("slow", on: display)
    }
    model.isOpen = true
    try await fixture.until { display.appearing == ["slow"] }
    let error = await #expect(throws: TimeLimitExceeded.self) {
      try await fixture.navigator.settle(within: .milliseconds(10))
    }
    #expect(error?.description.contains("limit.isOpen") == true, "\(error?.description ?? "")")
    display.slow = []
    try await fixture.navigator.settle(within: .seconds(20))
    #expect(display.names == ["slow"])
  }

  @Test("A closed screen is not on the screen", arguments: bothKinds)
  func screens_closed_areLeftOut(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.navigator.stack(path: Bindable(model).path)
      .navigationDestination(for: Int.self) { RecordingScreen("\($0)", on: display) }
    model.path = [1, 2]
    try await fixture.navigator.settle(within: .seconds(20))
    #expect(fixture.navigator.screens.compactMap { ($0 as? RecordingScreen)?.name } == ["1", "2"])
    try await display["2"]?.close()
    #expect(fixture.navigator.screens.count == 1)
    try await fixture.navigator.settle(within: .seconds(20))
    #expect(model.path == [1])
  }

  @Test("T2: the transaction of a change in the turn of present() is not lost", arguments: bothKinds)
  func transaction_inTheTurnOfPresent_reachesTheScreen(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.navigator.present(isPresented: Bindable(model).isOpen) { NotedScreen(display) }
    withTransaction(\.haste, 5) { model.isOpen = true }
    try await fixture.until { display.notes == ["+5 1"] }
    withTransaction(\.haste, 6) { model.isOpen = false }
    try await fixture.until { display.notes == ["+5 1", "-6 1"] }
    // A dismissal by another client has no values of the program's transaction.
    withTransaction(\.haste, 7) { model.isOpen = true }
    try await fixture.until { display.notes.last == "+7 1" }
    try await fixture.coordinator.dismiss(fixture.text(Bindable(model).isOpen))
    try await fixture.until { display.notes.last == "-1 1" && !model.isOpen }
  }
}
