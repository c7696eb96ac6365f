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
        return RecordingScreen(item.value["title"].flatMap(String.init(value:)) ?? "", on: display)
      }
      fixture.navigator.present(dialog: Bindable(model, .shared("model")).dialog, to: "dialogs") { action, text in
        display.notes.append("\(action): \(text)")
      }.onDismiss(display.end)
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

  /// From a public thread: an alert that the button of another one sets is never shown, since the end of the first writes nil
  /// (https://github.com/pointfreeco/swift-composable-architecture/issues/3272).
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
    fixture.navigator.present(dialog: Bindable(model).dialog) { action, text in
      display.notes.append("\(action): \(text)")
    } content: { $dialog in
      RecordingScreen(dialog.title, on: display)
    }.onDismiss(display.end)
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

  /// From a public thread: an alert whose identity changes stays as it was
  /// (https://github.com/pointfreeco/swift-navigation/pull/352).
  @Test(
    "A second dialog with the same title is another one: the answer to the first is not that to the second",
    arguments: bothKinds)
  func dialog_sameTitle_isAnotherDialog(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.navigator.present(dialog: Bindable(model).dialog) { _, _ in
      display.notes.append("acted")
    } content: { $dialog in
      RecordingScreen(dialog.message, on: display)
    }.onDismiss(display.end)
    model.dialog = Dialog("Delete?", message: "Hammer") { Dialog.Button("Delete", action: .delete) }
    try await fixture.shows("Hammer")
    try await fixture.isPresented()
    let former = try #require(display["Hammer"]?.showing)
    model.dialog = Dialog("Delete?", message: "Saw") { Dialog.Button("Delete", action: .delete) }
    try await fixture.shows("Saw")
    #expect(display.log == ["+Hammer", "-Hammer", "+Saw"] && display.ends == [.replaced])
    // A late press of the former one does not delete the other one.
    try await former.choose(Dialog<Action>.Button("Delete", action: .delete))
    await fixture.navigator.settle()
    #expect(model.dialog?.message == "Saw" && display.names == ["Saw"])
    // The same question about another saw is another dialog.
    model.dialog = Dialog("Delete?", message: "Saw") { Dialog.Button("Delete", action: .delete) }
    try await fixture.until { display.log == ["+Hammer", "-Hammer", "+Saw", "-Saw", "+Saw"] }
  }

  @Test("The text of a secret field reaches the program alone, once, and watchers get the action", arguments: bothKinds)
  func dialog_secretText_reachesTheProgramAlone(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.navigator.present(dialog: Bindable(model).dialog) { action, text in
      display.notes.append("\(action): \(text)")
    } content: { $dialog in
      RecordingScreen(dialog.title, on: display)
    }
    let button = Dialog<Action>.Button("Rename", action: .rename)
    model.dialog = Dialog("Password?", textField: .init("Password", isSecret: true)) { button }
    try await fixture.shows("Password?")
    try await fixture.isPresented()
    let watching = Task { [coordinator = fixture.coordinator] () -> Properties? in
      for try await case .event(let event) in coordinator.following {
        if case .action(_, "rename", let parameters) = event.kind { return parameters }
      }
      return nil
    }
    await fixture.navigator.settle()
    try await display["Password?"]?.showing?.choose(button, text: "sesame", isSecret: true)
    try await fixture.until { model.dialog == nil }
    await fixture.navigator.settle()
    #expect(display.notes == ["rename: sesame"])
    #expect(try await watching.value == [:])
  }

  @Test("The actions of a dialog are mapped, and its identity, texts and style stay")
  func dialog_mapped_isTheSame() {
    let dialog = Dialog<Action>(
      "Rename?", message: "To what?", textField: .init("Name", text: "a"), style: .confirmation
    ) {
      Dialog.Button("Rename", action: .rename)
      Dialog.Button("Cancel", role: .cancel)
    }
    let mapped = dialog.map { "\($0)!" }
    #expect(mapped.id == dialog.id && mapped.buttons.map(\.action) == ["rename!", nil])
    #expect(mapped.map { Action(rawValue: String($0.dropLast()))! } == dialog)
    #expect(mapped.value["message"] == .string("To what?") && mapped.buttons[1].role == .cancel)
  }

  @Test("A confirmation has a style of its own", arguments: bothKinds)
  func dialog_confirmation_hasItsStyle(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    try await fixture.navigator.serve("dialogs") { _ in RecordingScreen("dialog", on: display) }
    fixture.navigator.present(dialog: Bindable(model).dialog, to: "dialogs") { _, _ in }
    model.dialog = Dialog("What now?", style: .confirmation) { Dialog.Button("Delete", action: .delete) }
    try await fixture.state { $0.presentations.map(\.style) == ["confirmation"] }
  }

  @Test("An edited dialog is the same one, and another one with the same texts and buttons is not equal to it")
  func dialog_edited_isTheSame() {
    let model = Model()
    model.ask()
    let first = model.dialog
    model.dialog?.message = "Really."
    #expect(model.dialog?.id == first?.id && model.dialog != first)
    model.ask()
    #expect(model.dialog != first && model.dialog?.id != first?.id && model.dialog?.title == first?.title)
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
