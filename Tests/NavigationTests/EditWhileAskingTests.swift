import Observation
import TestSupport
import Testing

@testable import Navigation

@MainActor @Observable
private final class Model {
  struct EditedNote: Hashable, Codable, Identifiable {
    let id: Int
    var text: String
  }
  var note: EditedNote?
  var path: [EditedNote] = []
  /// The question that a test answers with yes or no.
  @ObservationIgnored var answer: CheckedContinuation<Bool, Never>?
}

/// A screen that asks a question when it is dismissed.
private final class Editor: DecliningScreen {
  private let model: Model
  init(_ model: Model) { self.model = model }

  func appear(_ showing: Showing) async throws {}

  func prepareToDisappear(_ showing: Showing) async throws {
    try await showing.ask("Discard the text?")
    guard await withCheckedContinuation({ model.answer = $0 }) else { throw Declined() }
  }

  func disappear(_ showing: Showing, animated: Bool) async -> Properties { [:] }
}

/// An item that is edited while its screen asks its user.
@Suite @MainActor struct EditWhileAskingTests {
  @Test(
    "An edit made while its screen asks reaches other clients after the screen has declined, and stays in the state",
    arguments: CoordinatorKind.allCases)
  func edit_whileAsking_isKept(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let note = Bindable(model).note.named("note")
    fixture.navigator.present(item: note) { _ in Editor(model) }
    model.note = Model.EditedNote(id: 1, text: "")
    try await fixture.isPresented()

    // Another client dismisses the item, so the state keeps its note.
    try await fixture.coordinator.dismiss(fixture.text(note))
    try await fixture.state { $0.presentations.first?.asking == true }
    model.note?.text = "typed"
    await fixture.navigator.settle()
    model.answer?.resume(returning: false)
    try await fixture.state {
      $0.presentations.first.map { $0.phase == .presented && $0.value["text"] == .string("typed") } ?? false
    }

    model.note = nil
    try await fixture.state { $0.presentations.first?.asking == true }
    model.answer?.resume(returning: false)
    try await fixture.until { model.note?.text == "typed" }
  }

  @Test(
    "An edit of a page made while its screen asks reaches other clients, and is in the path again if the page was removed",
    arguments: CoordinatorKind.allCases)
  func edit_whilePageAsks_isKept(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let path = Bindable(model).path.named("path")
    fixture.navigator.stack(path: path).navigationDestination(for: Model.EditedNote.self) { _ in Editor(model) }
    model.path = [Model.EditedNote(id: 1, text: "")]
    try await fixture.isPresented()

    try await fixture.coordinator.dismiss(fixture.text(path[0]))
    try await fixture.state { $0.presentations.first?.asking == true }
    model.path[0].text = "typed"
    await fixture.navigator.settle()
    model.answer?.resume(returning: false)
    try await fixture.state {
      $0.presentations.map { $0.value["text"] } == [.string("typed")] && $0.presentations[0].phase == .presented
    }

    try await fixture.coordinator.dismiss(fixture.text(path[0]))
    try await fixture.state { $0.presentations.first?.asking == true }
    model.path[0].text = "typed further"
    await fixture.navigator.settle()
    model.path = []
    await fixture.navigator.settle()
    model.answer?.resume(returning: false)
    try await fixture.until { model.path.map(\.text) == ["typed further"] }
    try await fixture.state { $0.presentations.map { $0.value["text"] } == [.string("typed further")] }
  }
}
