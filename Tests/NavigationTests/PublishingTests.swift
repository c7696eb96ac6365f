import DBusValues
import NavigationTesting
import Observation
import TestSupport
import Testing

@testable import Navigation

@MainActor @Observable
private final class Model {
  struct Login: Hashable, Codable, Identifiable {
    var id: Int
    var password = ""
  }
  var login: Login?
  var path: [Login] = []
  var dialog: Dialog<String>?
}

/// The values of items: other clients get them if the binding is published, or if another destination shows the item.
@Suite @MainActor struct PublishingTests {
  @Test(
    "A value that a screen of the program shows reaches no other client, whatever its user types", arguments: bothKinds)
  func value_notPublished_isSecret(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    present(model, in: fixture)
    model.login = .init(id: 1, password: "s")
    model.path = [.init(id: 2, password: "s")]
    try await fixture.until { Set(fixture.display.names) == ["login 1", "page 2"] }
    try await fixture.state { $0.presentations.map(\.phase) == [.presented, .presented] }
    let serial = try await fixture.coordinator.serial()
    for _ in 1...3 {
      model.login?.password += "ecret"
      model.path[0].password += "ecret"
      await fixture.navigator.settle()
    }
    // No event has told of the texts.
    #expect(try await fixture.coordinator.serial() == serial)
    #expect(try await fixture.coordinator.state().presentations.map(\.value) == [[:], [:]])
    // The state keeps them if the screens decline.
    fixture.display.declining = ["login 1", "page 2"]
    (model.login, model.path) = (nil, [])
    try await fixture.until { model.login != nil && !model.path.isEmpty }
    #expect(model.login?.password == "secretecretecret" && model.path[0].password == "secretecretecret")
  }

  @Test("A value of more than 1 MiB is shown by a screen of the program", arguments: bothKinds)
  func value_ofMoreThanOneMebibyte_isShown(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    present(model, in: fixture)
    let long = String(repeating: "x", count: 3 << 20)
    model.login = .init(id: 1, password: long)
    model.path = [.init(id: 2, password: long)]
    try await fixture.until { Set(fixture.display.names) == ["login 1", "page 2"] }
    model.login?.password += "y"
    await fixture.navigator.settle()
    #expect(model.login?.password.utf8.count == long.utf8.count + 1)
  }

  @Test("Values of published bindings, and those that other destinations show, are in the state", arguments: bothKinds)
  func value_published_isInTheState(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let (display, bindable) = (fixture.display, Bindable(model, .shared("program")))
    // A published binding is the same place.
    #expect(bindable.login.published() == bindable.login)
    fixture.navigator.present(item: bindable.login.published().named("login")) {
      RecordingScreen("login \($0.wrappedValue.id)", on: display)
    }
    fixture.navigator.stack(path: bindable.path.named("path").published())
      .navigationDestination(for: Model.Login.self) { RecordingScreen("page \($0.id)", on: display) }
    try await fixture.navigator.serve("dialogs") { _ in RecordingScreen("dialog", on: display) }
    fixture.navigator.present(dialog: bindable.dialog.named("dialog"), to: "dialogs") { _, _ in }
    model.login = .init(id: 1, password: "a")
    model.path = [.init(id: 2, password: "b")]
    model.dialog = Dialog("Sure?") {}
    try await fixture.state { state in
      state.presentation(at: "program.login")?.value["password"] == .string("a")
        && state.presentation(at: "program.path[0]")?.value["password"] == .string("b")
        && state.presentation(at: "program.dialog")?.value["title"] == .string("Sure?")
    }
    model.login?.password = "c"
    try await fixture.state { $0.presentation(at: "program.login")?.value["password"] == .string("c") }
    try await fixture.coordinator.update("program.login", ["password": "of another"])
    try await fixture.until { model.login?.password == "of another" }
  }

  private func present(_ model: Model, in fixture: NavigationFixture) {
    let display = fixture.display
    fixture.navigator.present(item: Bindable(model).login.named("login")) {
      RecordingScreen("login \($0.wrappedValue.id)", on: display)
    }
    fixture.navigator.stack(path: Bindable(model).path.named("path"))
      .navigationDestination(for: Model.Login.self) { RecordingScreen("page \($0.id)", on: display) }
  }
}
