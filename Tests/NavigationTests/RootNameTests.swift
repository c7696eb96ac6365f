import NavigationTesting
import Observation
import TestSupport
import Testing

@testable import Navigation

@MainActor @Observable
private final class Form {
  var isPresented = false
}

/// Names of models that share a name (B1).
@Suite @MainActor struct RootNameTests {
  @Test("B1: ten tests at once with a model of one name, each with its own coordinator, pass a hundred times")
  func tests_inParallel_haveTheirOwnNames() async throws {
    for _ in 1...100 {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 1...10 { group.addTask { try await Self.dismissedByOthers_isNotPresented() } }
        try await group.waitForAll()
      }
    }
  }

  /// Runs the test that the article “Testing presentations” shows.
  private static func dismissedByOthers_isNotPresented() async throws {
    let form = Form()
    let coordinator = Coordinator.embedded()
    let navigator = Navigator(coordinator)
    let display = Display()
    navigator.present(isPresented: Bindable(form, .shared("parallel")).isPresented.named("window")) {
      RecordingScreen("form", on: display)
    }
    form.isPresented = true
    try await navigator.settle(within: .seconds(20))
    #expect(navigator.screens.count == 1 && display.names == ["form"])
    try await coordinator.dismiss("parallel.window")
    try await navigator.settle(within: .seconds(20))
    #expect(!form.isPresented)
  }

  @Test("B1: a shared name that a living model has is reported, and the second model gets a number")
  func sharedName_ofALivingModel_isReported() {
    let coordinator = Coordinator.embedded()
    let forms = [Form(), Form()]
    var texts: [String] = []
    let messages = MisuseLog.messages {
      for form in forms + forms {
        texts.append(coordinator.text(of: Bindable(form, .shared("form")).isPresented.named("a")))
      }
    }
    #expect(texts == ["form.a", "form-2.a", "form.a", "form-2.a"])
    #expect(messages.count == 1 && messages.first?.contains("“form”") == true, "\(messages)")
    // An own name is for several models.
    #expect(
      MisuseLog.messages {
        for form in [Form(), Form()] { _ = coordinator.text(of: Bindable(form, .own("form")).isPresented) }
      }.isEmpty)
    withExtendedLifetime(forms) {}
  }

  @Test("B1: the name of a model that is gone is free again")
  func sharedName_ofAModelThatIsGone_isFree() {
    let coordinator = Coordinator.embedded()
    let messages = MisuseLog.messages {
      for _ in 1...3 {
        let form = Form()
        #expect(coordinator.text(of: Bindable(form, .shared("form")).isPresented.named("a")) == "form.a")
      }
    }
    #expect(messages.isEmpty)
  }
}
