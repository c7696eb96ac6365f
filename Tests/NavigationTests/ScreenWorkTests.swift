import DBusValues
import NavigationTesting
import Observation
import TestSupport
import Testing

@testable import Navigation

@MainActor @Observable
private final class Model {
  struct Note: Hashable, Codable, Identifiable {
    var id: Int
    var text = ""
  }
  var note: Note?
  /// The text that is drawn, and what has become of the task.
  @ObservationIgnored var drawn: [String] = []
  var task = "none"
}

/// A screen that draws the text of its note, and has a task.
@MainActor
private final class DrawingScreen: DecliningScreen {
  private let model: Model
  private let note: Binding<Model.Note>
  private let declines: Bool
  private(set) var showing: Showing?

  init(_ model: Model, _ note: Binding<Model.Note>, declines: Bool = false) {
    (self.model, self.note, self.declines) = (model, note, declines)
  }

  func appear(_ showing: Showing) async throws {
    self.showing = showing
    showing.observe { [model, note] in model.drawn.append(note.wrappedValue.text) }
    showing.task { [model] in
      model.task = "running"
      // The wait ends when the task is cancelled.
      try? await Task.sleep(for: .seconds(3600))
      model.task = Task.isCancelled ? "cancelled" : "ended"
    }
  }

  func prepareToDisappear(_ showing: Showing) async throws { if declines { throw Declined() } }

  func disappear(_ showing: Showing, animated: Bool) async -> Properties {
    note.wrappedValue.text += " gone"
    return [:]
  }
}

/// Observations and tasks of a screen, which end with it.
@Suite @MainActor struct ScreenWorkTests {
  /// From public threads: effects go on when their screen is closed by its user
  /// (https://github.com/pointfreeco/swift-composable-architecture/issues/3636), and one begins after the end of its screen
  /// (https://github.com/pointfreeco/swift-composable-architecture/issues/3663).
  @Test(
    "Observations and tasks of a screen end when it disappears, and when its user closes it", arguments: bothKinds,
    [true, false])
  func work_screenEnds_isCancelled(_ kind: CoordinatorKind, _ isClosed: Bool) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    var screen: DrawingScreen?
    fixture.navigator.present(item: Bindable(model).note.named("note")) {
      let made = DrawingScreen(model, $0)
      screen = made
      return made
    }
    model.note = .init(id: 1, text: "a")
    try await fixture.isPresented()
    try await fixture.until { model.task == "running" }
    model.note?.text = "b"
    await fixture.navigator.settle()
    #expect(model.drawn == ["a", "b"])
    let showing = try #require(screen?.showing)
    if isClosed { try await showing.reportClosed() } else { try await showing.dismiss() }
    try await fixture.until { model.task == "cancelled" && model.note == nil }
    await fixture.navigator.settle()
    #expect(model.drawn == ["a", "b"])
    // After the end, nothing begins.
    showing.observe { model.drawn.append("late") }
    await showing.task { model.task = Task.isCancelled ? "late, cancelled" : "late" }.value
    #expect(model.drawn == ["a", "b"] && model.task == "late, cancelled")
  }

  @Test("Observations and tasks of a screen go on when it declines to disappear", arguments: bothKinds)
  func work_screenDeclines_goesOn(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.navigator.present(item: Bindable(model).note.named("note")) { DrawingScreen(model, $0, declines: true) }
    model.note = .init(id: 1, text: "a")
    try await fixture.isPresented()
    try await fixture.until { model.task == "running" }
    model.note = nil
    try await fixture.until { model.note != nil }
    model.note?.text = "b"
    await fixture.navigator.settle()
    #expect(model.drawn.last == "b" && model.task == "running")
    withTransaction(\.isForced, true) { model.note = nil }
    try await fixture.until { model.task == "cancelled" }
  }

  @Test("Observations that are stored end with their collection") func observings_stored_endWithTheCollection() async {
    let model = Model()
    var (array, set): ([Observing], Set<Observing>) = ([], [])
    observe { model.drawn.append("array \(model.task)") }.store(in: &array)
    observe { model.drawn.append("set \(model.task)") }.store(in: &set)
    #expect(array.count == 1 && set.count == 1)
    array = []
    model.task = "changed"
    for _ in 1...10 { await Task.yield() }
    #expect(model.drawn == ["array none", "set none", "set changed"])
  }
}
