import NavigationTesting
import Observation
import Testing

@testable import Navigation

@MainActor @Observable
private final class Model {
  struct Fact: Codable, Identifiable {
    var id: Int
    var text = ""
  }
  var fact: Fact?
  var pushed: Fact?
  var path: [Int] = []
  var settings: Settings?
  var pushedSettings: Settings?
  var dialog: Dialog<String>?
}

@MainActor @Observable
private final class Settings: Identifiable {
  var isDark = false
}

/// Closures of content, which take a binding apart: `{ $fact in … }`.
@Suite @MainActor struct ProjectedParameterTests {
  @Test("Closures that get a binding can take it apart: { $fact in … }", arguments: bothKinds)
  func content_projectedParameter_isTheBinding(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let (display, bindable) = (fixture.display, Bindable(model))
    func screen(_ fact: Navigation.Binding<Model.Fact>) -> RecordingScreen {
      fact.wrappedValue.text += "shown"
      return RecordingScreen("\(fact.wrappedValue.id)", on: display)
    }
    let stack = fixture.navigator.stack(path: bindable.path)
    // Each presentation replaces the one before, since all have the same binding.
    fixture.navigator.present(item: bindable.fact, id: \.text) { _ in fatalError() }.cancel()
    fixture.navigator.present(item: bindable.fact, id: \.id) { $fact in screen($fact) }
    fixture.navigator.present(item: bindable.fact) { $fact in
      fact.text = "is "
      return screen($fact)
    }
    stack.push(item: bindable.pushed, id: \.id) { $fact in screen($fact) }
    stack.push(item: bindable.pushed) { $fact in
      fact.text = "was "
      return screen($fact)
    }
    (model.fact, model.pushed) = (.init(id: 1), .init(id: 2))
    try await fixture.until { Set(display.names) == ["1", "2"] }
    #expect(model.fact?.text == "is shown" && model.pushed?.text == "was shown")
  }

  @Test("Closures that get a model or a dialog can take its binding apart, too", arguments: bothKinds)
  func content_projectedParameterOfAModel_isTheBinding(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let (display, bindable) = (fixture.display, Bindable(model))
    let stack = fixture.navigator.stack(path: bindable.path)
    fixture.navigator.present(item: bindable.settings) { $settings in
      settings.isDark = true
      return RecordingScreen("settings", on: display)
    }
    stack.push(item: bindable.pushedSettings) { $settings in
      $settings.wrappedValue.isDark = true
      return RecordingScreen("pushed", on: display)
    }
    fixture.navigator.present(dialog: bindable.dialog) { _, _ in
    } content: { $dialog in
      dialog.message = "edited"
      return RecordingScreen(dialog.title, on: display)
    }
    (model.settings, model.pushedSettings, model.dialog) = (Settings(), Settings(), Dialog("Sure?") {})
    try await fixture.until { Set(display.names) == ["settings", "pushed", "Sure?"] }
    #expect(model.settings?.isDark == true && model.pushedSettings?.isDark == true && model.dialog?.message == "edited")
  }

  @Test("A function of the main actor is content, too") func content_functionOfTheMainActor_isTaken() async throws {
    let (fixture, model) = (try await NavigationFixture(.embedded), Model())
    let display = fixture.display
    let screen: @MainActor (Navigation.Binding<Model.Fact>) -> any Screen = {
      RecordingScreen("\($0.wrappedValue.id)", on: display)
    }
    fixture.navigator.present(item: Bindable(model).fact, content: screen)
    model.fact = .init(id: 1)
    try await fixture.shows("1")
  }
}
