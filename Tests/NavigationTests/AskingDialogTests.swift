import DBusValues
import NavigationTesting
import Observation
import PresentationModel
import TestSupport
import Testing

@testable import Navigation

private enum Answer: String, Codable { case discard, keep }

/// A note, and the question whether to discard what was typed in it.
@MainActor @Observable
private final class Model {
  var note: String?
  var path: [String] = []
  var question: Dialog<Answer>?
  /// The buttons that the user has pressed; nil if the question ended without a button.
  var answers: [Answer?] = []
}

/// A screen that asks with a dialog, presented from its own showing.
@MainActor
private final class Editor: DecliningScreen {
  private let model: Model
  private let display: Display
  private let name: String

  init(_ name: String, _ model: Model, _ display: Display) {
    self.name = name
    self.model = model
    self.display = display
  }

  func appear(_ showing: Showing) async throws {
    display.log.append("+\(name)")
    showing.present(dialog: Bindable(model).question.named("question")) { [model, display] in
      if model.answers.isEmpty { model.answers.append(nil) }
      display.log.append("answered")
    } onAction: { [model] answer, _ in
      model.answers.append(answer)
    } content: { [display] $dialog in
      RecordingScreen(dialog.title, on: display)
    }
  }

  func prepareToDisappear(_ showing: Showing) async throws {
    model.answers = []
    model.question = Dialog("Discard “\(name)”?") {
      Dialog.Button("Discard", role: .destructive, action: .discard)
      Dialog.Button("Keep", role: .cancel, action: .keep)
    }
    try? await until(within: .seconds(20)) { [model] in !model.answers.isEmpty || Task.isCancelled }
    if model.answers.first != .discard { throw Declined("the text is not saved") }
  }

  func disappear(_ showing: Showing, animated: Bool) async -> Properties {
    display.log.append(showing.isForced ? "-!\(name)" : "-\(name)")
    return [:]
  }
}

extension NavigationFixture {
  fileprivate func press(_ number: Int, of model: Model) async throws {
    try await until { model.question != nil && self.display.names.count == 1 }
    let (screen, button) = (try #require(display.screens.first), try #require(model.question?.buttons[number]))
    try await screen.showing?.choose(button)
  }
}

/// Screens that ask their users with dialogs while they are being dismissed. Each dialog is presented from the screen itself.
@Suite @MainActor struct AskingDialogTests {
  @Test(
    "C3, P16: a dialog from a screen that is being dismissed is shown, and ends before the screen does",
    arguments: bothKinds)
  func dialog_fromAScreenBeingDismissed_isShown(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.navigator.present(item: Bindable(model).note.named("note"), id: { $0 }) {
      Editor($0.wrappedValue, model, display)
    }.onDismiss(display.end)
    model.note = "a"
    try await fixture.isPresented()
    model.note = nil
    try await fixture.state { $0.presentations.contains { $0.asking == true && $0.message == "Discard “a”?" } }
    try await fixture.shows("Discard “a”?")
    try await fixture.press(1, of: model)
    try await fixture.until { model.note == "a" && model.question == nil && display.names == [] }
    #expect(display.ends == [])

    // The next dismissals put another item in its place, and come from another client.
    model.note = "b"
    try await fixture.press(1, of: model)
    try await fixture.until { model.note == "a" && display.ends == [.declined] }
    try await fixture.coordinator.dismiss(fixture.text(Bindable(model).note.named("note")))
    try await fixture.press(0, of: model)
    try await fixture.until { model.note == nil && display.ends == [.declined, .dismissed] }
    let title = "Discard “a”?"
    let round = ["+\(title)", "-\(title)", "answered"]
    let expected: [String] = ["+a"] + round + round + round + ["-a"]
    #expect(display.log == expected)
    try await fixture.state { $0.presentations.isEmpty }
  }

  @Test("P15: a dialog whose screen is forced ends with it", arguments: bothKinds)
  func dialog_screenIsForced_ends(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.navigator.present(item: Bindable(model).note.named("note"), id: { $0 }) {
      Editor($0.wrappedValue, model, display)
    }
    model.note = "a"
    try await fixture.isPresented()
    model.note = nil
    try await fixture.shows("Discard “a”?")
    try await fixture.coordinator.dismiss(fixture.text(Bindable(model).note.named("note")), force: true)
    try await fixture.state { $0.presentations.isEmpty }
    try await fixture.until { model.question == nil && display.names == [] }
    #expect(display.log.contains("-!a"))
  }

  @Test("S3: an element of a path asks with a dialog, and its path is written back", arguments: bothKinds)
  func dialog_fromAnElementBeingPopped_isShown(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.navigator.stack(path: Bindable(model).path.named("path"))
      .navigationDestination(for: String.self) { Editor($0, model, display) }
    model.path = ["a"]
    try await fixture.isPresented()
    model.path = []
    try await fixture.press(1, of: model)
    try await fixture.until { model.path == ["a"] && display.names == [] }
    model.path = []
    try await fixture.press(0, of: model)
    try await fixture.until { display.log.last == "-a" }
    try await fixture.state { $0.presentations.isEmpty }
    #expect(model.path == [])
  }

  @Test("A push from a screen that is being dismissed is reported, since it is impossible", arguments: bothKinds)
  func push_fromAScreenBeingDismissed_isReported(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    var refusals: [NavigationError] = []
    fixture.navigator.onRefused = { refusals.append($0) }
    fixture.navigator.stack(path: Bindable(model).path.named("path"))
      .navigationDestination(for: String.self) { element in
        RecordingScreen(element, on: display) { showing in
          showing.push(item: Bindable(model).note.named("note"), id: { $0 }) {
            RecordingScreen($0.wrappedValue, on: display)
          }
        }
      }
    model.path = ["a"]
    try await fixture.isPresented()
    display.asking = ["a"]
    model.path = []
    try await fixture.state { $0.presentations.contains { $0.asking == true } }
    model.note = "b"
    try await fixture.until { model.note == nil && refusals.count == 1 }
    #expect(refusals.first?.refusal == .notPresented, "\(refusals)")
    display.asking = []
    try await fixture.shows()
  }
}
