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
  var sheet: EditedNote?
  var note: EditedNote?
  var path: [EditedNote] = []
  /// The question that a test answers with yes or no.
  @ObservationIgnored var answer: CheckedContinuation<Bool, Never>?
}

/// A screen that asks a question when it is dismissed.
private final class Editor: DecliningScreen {
  private let model: Model
  private let content: (Showing) -> Void

  init(_ model: Model, content: @escaping (Showing) -> Void = { _ in }) {
    (self.model, self.content) = (model, content)
  }

  func appear(_ showing: Showing) async throws { content(showing) }

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
    arguments: bothKinds)
  func edit_whileAsking_isKept(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let note = Bindable(model).note.named("note")
    fixture.navigator.present(item: note.published()) { _ in Editor(model) }
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
    "An item that was presented without its parent, and declines just as it is requested, stays without an error",
    arguments: bothKinds)
  func item_withoutParentDeclinesWhenRequested_stays(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let (sheet, note) = (Bindable(model).sheet.named("sheet"), Bindable(model).note.named("note"))
    fixture.navigator.present(item: sheet) { _ in Editor(model) { $0.present(item: note) { _ in Editor(model) } } }
    var refusals: [NavigationError] = []
    fixture.navigator.onRefused = { refusals.append($0) }
    let item = Model.EditedNote(id: 1, text: "typed")
    model.sheet = item
    try await fixture.isPresented()

    // The note is presented while the sheet asks. Both stay.
    model.sheet = nil
    try await fixture.state { $0.presentations.first?.asking == true }
    model.note = item
    try await fixture.state { $0.presentations.last?.phase == .presented }
    model.answer.take()?.resume(returning: false)
    try await fixture.state { $0.presentations.last?.asking == true && model.answer != nil }
    model.answer.take()?.resume(returning: false)
    try await fixture.until { model.sheet == item && model.note == item }

    // The request comes before navd knows of the decline, before the program hears of it, or after that.
    for pause in 0..<60 {
      model.note = nil
      try await fixture.state { $0.presentations.last?.asking == true }
      model.answer.take()?.resume(returning: false)
      for _ in 0..<pause { await Task.yield() }
      model.note = item
      await fixture.navigator.settle()
      try await fixture.until { model.note == item }
    }
    #expect(refusals.isEmpty)
  }

  @Test(
    "An edit of a page made while its screen asks reaches other clients, and is in the path again if the page was removed",
    arguments: bothKinds)
  func edit_whilePageAsks_isKept(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let path = Bindable(model).path.named("path")
    fixture.navigator.stack(path: path.published()).navigationDestination(for: Model.EditedNote.self) { _ in
      Editor(model)
    }
    model.path = [Model.EditedNote(id: 1, text: "")]
    try await fixture.isPresented()

    try await fixture.coordinator.dismiss("\(fixture.text(path))[0]")
    try await fixture.state { $0.presentations.first?.asking == true }
    model.path[0].text = "typed"
    await fixture.navigator.settle()
    model.answer?.resume(returning: false)
    try await fixture.state {
      $0.presentations.map { $0.value["text"] } == [.string("typed")] && $0.presentations[0].phase == .presented
    }

    try await fixture.coordinator.dismiss("\(fixture.text(path))[0]")
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
