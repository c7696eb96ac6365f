import DBusValues
import Glibc
import NavigationTesting
import Observation
import TestSupport
import Testing

@testable import Navigation

private enum Action: String, Codable { case delete, rename }

/// An action that can never be encoded.
private struct Secret: Hashable, Codable {
  func encode(to encoder: any Encoder) throws {
    throw EncodingError.invalidValue(self, .init(codingPath: [], debugDescription: "secret"))
  }
}

@MainActor @Observable
private final class Model: Navigable {
  static let memberNames: MemberNames<Model> = [\.dialog: "dialog"]
  var dialog: Dialog<Action>?
  var secret: Dialog<Secret>?

  func ask() {
    dialog = Dialog("Delete the note?", message: "It is gone then.", textField: .init("Why?", text: "because")) {
      Dialog.Button("Delete", role: .destructive, action: .delete)
      Dialog.Button("Cancel", role: .cancel)
    }
  }
}

/// Dialogs: presented by destinations and by screens of the program, and the actions that reach the program.
@Suite @MainActor struct DialogTests {
  @Test("A destination gets the dialog as the value, and its user's action reaches the program")
  func dialog_byADestination_reportsTheAction() async throws {
    for kind in CoordinatorKind.allCases {
      let (fixture, model) = (try await NavigationFixture(kind), Model())
      let (display, other) = (fixture.display, Navigator(fixture.coordinator))
      var items: [Properties] = []
      try await other.serve("dialogs") { item in
        items.append(item.value)
        return RecordingScreen(item.id, on: display)
      }
      fixture.navigator.present(
        dialog: Bindable(model, .shared("model")).dialog, to: "dialogs", onDismiss: { display.end($0) }
      ) { action, text in display.notes.append("\(action): \(text)") }
      model.ask()
      try await fixture.shows("Delete the note?")
      #expect(
        items == [
          [
            "title": .string("Delete the note?"), "message": .string("It is gone then."),
            "buttons": [Properties](
              [
                ["title": .string("Delete"), "role": .string("destructive"), "action": .string("delete")],
                ["title": .string("Cancel"), "role": .string("cancel")],
              ]
            ).value, "prompt": .string("Why?"), "text": .string("because"),
          ]
        ])
      let showing = try #require(display["Delete the note?"]?.showing)
      // This action belongs to no button.
      try await showing.act("explode")
      try await showing.act("delete", ["text": .string("old")])
      try await display["Delete the note?"]?.close()
      try await fixture.until { model.dialog == nil && display.ends == [.closed] }
      #expect(display.notes == ["delete: old"])
    }
  }

  @Test("A screen of the program shows a dialog, whose action sets the next one (P5)", arguments: bothKinds)
  func dialog_actionSetsTheNext_isNotLost(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.navigator.present(dialog: Bindable(model).dialog) { [weak model] action, _ in
      guard action == .delete else { return display.notes.append("\(action)") }
      model?.dialog = Dialog("Rename instead?") { Dialog.Button("Rename", action: .rename) }
    } content: { $dialog in
      RecordingScreen(dialog.title, on: display)
    }
    model.ask()
    for title in ["Delete the note?", "Rename instead?"] {
      try await fixture.shows(title)
      let (button, screen) = (try #require(model.dialog?.buttons.first), try #require(display[title]))
      display.screens.removeAll { $0 === screen }
      try await screen.showing?.choose(button)
    }
    try await fixture.until { model.dialog == nil }
    #expect(display.notes == ["rename"])
  }

  @Test(
    "The answer to a dialog reaches the program once while navd is away, and the next navd does not show the dialog")
  func dialog_answeredWithoutNavd_isAnswered() async throws {
    let (fixture, model) = (try await NavigationFixture(.navd), Model())
    let (display, session) = (fixture.display, try #require(fixture.session))
    fixture.navigator.present(dialog: Bindable(model).dialog, onDismiss: { display.end($0) }) { action, text in
      display.notes.append("\(action): \(text)")
    } content: { $dialog in
      RecordingScreen(dialog.title, on: display)
    }
    model.ask()
    try await fixture.shows("Delete the note?")
    let (button, showing) = (
      try #require(model.dialog?.buttons.first), try #require(display["Delete the note?"]?.showing)
    )
    try session.stop(SIGKILL)
    await #expect(throws: NavigationError.self) { try await showing.act("delete") }
    #expect(display.notes == [])
    try await showing.choose(button, text: "two pages of text")
    #expect(display.notes == ["delete: two pages of text"])
    #expect(display.names == [])
    try session.start()
    try await fixture.until { model.dialog == nil }
    #expect(display.notes == ["delete: two pages of text"] && display.ends.count == 1)
  }

  @Test("The button of a dialog whose successor is already in the state still has its action", arguments: bothKinds)
  func dialog_isReplaced_itsButtonStillActs(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.navigator.present(dialog: Bindable(model).dialog) { action, _ in
      display.notes.append("\(action)")
    } content: { $dialog in
      RecordingScreen(dialog.title, on: display)
    }
    model.ask()
    try await fixture.shows("Delete the note?")
    let showing = try #require(display["Delete the note?"]?.showing)
    display.stuck = ["Delete the note?"]
    model.dialog = Dialog("Rename instead?") { Dialog.Button("Rename", action: .rename) }
    await fixture.navigator.settle()
    try await showing.act("delete")
    try await fixture.until { display.notes == ["delete"] }
    display.stuck = []
    try await fixture.shows("Rename instead?")
  }

  @Test("An action that cannot be encoded is reported once, with the position of the state", arguments: bothKinds)
  func dialog_actionNotEncodable_isReported(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    let binding = Bindable(model, .own("secret-\(kind)"), file: "program.swift", line: 7).secret.named("dialog")
    fixture.navigator.present(dialog: binding) { _, _ in
      display.notes.append("pressed")
    } content: { $dialog in
      RecordingScreen(dialog.title, on: display)
    }
    model.secret = Dialog("Sure?") { Dialog.Button("Yes", action: Secret()) }
    try await fixture.shows("Sure?")
    try await display["Sure?"]?.showing?.choose(#require(model.secret?.buttons.first))
    try await fixture.until { model.secret == nil && display.notes == ["pressed"] }
    #expect(MisuseLog.shared.files(of: "at “secret-\(kind).dialog”") == ["program.swift"])
  }
}
