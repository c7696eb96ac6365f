import CoordinatorAPI
import DBusValues
import NavigationTesting
import Observation
import PresentationModel
import TestSupport
import Testing

@testable import Navigation

@MainActor @Observable
private final class Model {
  struct Fact: Hashable, Codable, Identifiable {
    var id: Int
    var text = ""
  }
  var isPresented = false
  var title = ""
  var fact: Fact? { didSet { if fact == nil { nilWrites += 1 } } }
  var second: Fact?
  var third: Fact?
  var fourth: Fact?
  @ObservationIgnored var nilWrites = 0
}

/// Presenting from state: booleans, items, nested items and selections, changed by the program, its users and other clients.
@Suite struct PresentingFromStateTests {
  @Test("P1, P4: present(isPresented:) presents while the state is true", arguments: bothKinds)
  @MainActor func present_isPresented_showsAndDismisses(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.navigator.present(isPresented: Bindable(model).isPresented) {
      RecordingScreen("panel", on: display)
    }
    model.isPresented = true
    try await fixture.shows("panel")
    model.isPresented = false
    try await fixture.shows()
    #expect(fixture.display.log == ["+panel", "-panel"])
  }

  @Test("P5: each of a hundred closes by the user writes nil once", arguments: bothKinds)
  @MainActor func present_closedByUser_writesNilOnceEachTime(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.presentFact(of: model)
    for round in 1...100 {
      model.fact = .init(id: 1)
      try await fixture.shows("fact 1")
      try await fixture.display["fact 1"]?.close()
      try await fixture.until { model.fact == nil }
      #expect(model.nilWrites == round)
    }
    #expect(fixture.display.log.count == 200)
  }

  @Test("P2: a changed value with the same id keeps the screen", arguments: bothKinds)
  @MainActor func present_valueChanges_stays(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let binding = Bindable(model).fact.named("fact")
    fixture.presentFact(of: model)
    model.fact = .init(id: 1)
    try await fixture.shows("fact 1")
    model.fact?.text = "later"
    await Task.yield()
    try await fixture.state { $0.presentation(at: fixture.text(binding))?.value["text"] == .string("later") }
    #expect(fixture.display.log == ["+fact 1"])
  }

  @Test("P3: if the id changes repeatedly during a dismissal, only the last is presented", arguments: bothKinds)
  @MainActor func present_changedWhileDismissing_showsTheLastOnly(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.presentFact(of: model).onDismiss(fixture.display.end)
    model.fact = .init(id: 1)
    try await fixture.shows("fact 1")
    fixture.display.stuck = ["fact 1"]
    model.fact = .init(id: 2)
    try await fixture.until { fixture.display.disappearing == ["fact 1"] }
    model.fact = .init(id: 3)
    await fixture.navigator.settle()
    fixture.display.stuck = []
    try await fixture.shows("fact 3")
    #expect(fixture.display.log == ["+fact 1", "-fact 1", "+fact 3"])
    #expect(model.fact?.id == 3 && model.nilWrites == 0)
    try await fixture.until { fixture.display.ends == [.replaced, .replaced] }
  }

  @Test(
    "P5, P11: state set to true, false and true during a dismissal is presented again, and the late end does not clear it",
    arguments: bothKinds)
  @MainActor func present_againWhileDismissing_isNotClearedByTheLateEnd(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.navigator.present(isPresented: Bindable(model).isPresented) {
      RecordingScreen("panel", on: display)
    }
    model.isPresented = true
    try await fixture.shows("panel")
    fixture.display.stuck = ["panel"]
    model.isPresented = false
    try await fixture.until { fixture.display.disappearing == ["panel"] }
    model.isPresented = true
    await fixture.navigator.settle()
    fixture.display.stuck = []
    try await fixture.until { fixture.display.log == ["+panel", "-panel", "+panel"] }
    #expect(model.isPresented)
  }

  @Test("C2: four nested items set at once appear outermost first", arguments: bothKinds)
  @MainActor func nested_allSetAtOnce_appearOutermostFirst(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    (model.fact, model.second, model.third, model.fourth) = (.init(id: 1), .init(id: 2), .init(id: 3), .init(id: 4))
    fixture.presentNested(model)
    try await fixture.shows("fact 1", "second 2", "third 3", "fourth 4")
    #expect(fixture.display.log == ["+fact 1", "+second 2", "+third 3", "+fourth 4"])
  }

  @Test("P5: an alert whose action sets the next alert does not clear that when it closes", arguments: bothKinds)
  @MainActor func present_actionSetsTheNext_isNotLost(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.presentFact(of: model)
    for id in 1...20 {
      model.fact = .init(id: id)
      try await fixture.shows("fact \(id)")
      // The button of the alert sets the next alert and closes this one.
      let screen = try #require(fixture.display["fact \(id)"])
      model.fact = .init(id: id + 1)
      try await screen.close()
      try await fixture.shows("fact \(id + 1)")
      #expect(model.fact?.id == id + 1)
    }
    #expect(model.nilWrites == 0)
  }

  @Test("D7: a screen that throws in appear writes nil", arguments: bothKinds)
  @MainActor func present_screenFails_writesNil(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.display.refused = ["fact 1"]
    fixture.presentFact(of: model).onDismiss(fixture.display.end)
    model.fact = .init(id: 1)
    try await fixture.until { model.fact == nil }
    #expect(model.nilWrites == 1 && fixture.display.ends == [.failed] && fixture.display.log.isEmpty)
  }

  @Test("A refused request sets only the state that caused it to nil", arguments: bothKinds)
  @MainActor func present_refused_setsTheStateToNil(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    var refusals: [NavigationError] = []
    fixture.navigator.onRefused = { refusals.append($0) }
    fixture.presentFact(of: model)
    fixture.navigator.present(item: Bindable(model).second, to: "nowhere")
    (model.fact, model.second) = (.init(id: 1), .init(id: 2))
    try await fixture.shows("fact 1")
    try await fixture.until { model.second == nil }
    #expect(refusals.map(\.refusal) == [.unknownDestination])
    #expect(model.fact?.id == 1)
  }

  @Test("A cancelled presence dismisses its screen", arguments: bothKinds)
  @MainActor func presence_cancelled_dismisses(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let presence = fixture.presentFact(of: model)
    model.fact = .init(id: 1)
    try await fixture.shows("fact 1")
    presence.cancel()
    try await fixture.shows()
    #expect(model.fact?.id == 1)
  }

  @Test("P5: a dismissal by another client writes nil", arguments: bothKinds)
  @MainActor func present_dismissedByOthers_writesNil(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.presentFact(of: model)
    model.fact = .init(id: 1)
    try await fixture.shows("fact 1")
    try await fixture.coordinator.dismiss(fixture.text(Bindable(model).fact.named("fact")))
    try await fixture.until { model.fact == nil }
    #expect(model.nilWrites == 1 && fixture.display.log == ["+fact 1", "-fact 1"])
  }

  @Test("Several writes in one turn are one request with the last value", arguments: bothKinds)
  @MainActor func present_manyWrites_onePresentation(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.presentFact(of: model)
    for id in 1...50 { model.fact = .init(id: id) }
    try await fixture.shows("fact 50")
    for id in 51...99 { model.fact = .init(id: id) }
    try await fixture.shows("fact 99")
    #expect(fixture.display.log == ["+fact 50", "-fact 50", "+fact 99"])
  }

  /// From a public thread: a screen appears without animation, but is always dismissed with one
  /// (https://github.com/hmlongco/Navigator/issues/62).
  @Test("T2: a transaction without animation reaches the screen", arguments: bothKinds)
  @MainActor func transaction_notAnimated_reachesTheScreen(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.presentFact(of: model)
    model.fact = .init(id: 1)
    try await fixture.shows("fact 1")
    withTransaction(Transaction(animated: false)) { model.fact = nil }
    try await fixture.shows()
    #expect(fixture.display.log == ["+fact 1", "-!fact 1"])
  }

  @Test("T2: a transaction reaches the screen although an earlier change was not read yet", arguments: bothKinds)
  @MainActor func transaction_afterAChangeNotReadYet_reachesTheScreen(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.navigator.present(
      isPresented: Bindable(model).isPresented, options: { PresentationOptions(title: model.title) }
    ) { RecordingScreen("panel", on: display) }
    for turns in 1...20 {
      model.isPresented = true
      try await fixture.shows("panel")
      try await fixture.navigator.settle(within: .seconds(10))
      model.title = "\(turns)"
      for _ in 0..<turns { await Task.yield() }
      withTransaction(Transaction(animated: false)) { model.isPresented = false }
      try await fixture.shows()
      #expect(display.log.last == "-!panel", "after \(turns) turns")
    }
  }

  @Test("D8: an update by another client is written to the state", arguments: bothKinds)
  @MainActor func present_valueUpdatedByOthers_isWrittenToTheState(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let binding = Bindable(model).fact.named("fact")
    fixture.navigator.present(item: binding, to: nil, options: { _ in .state })
    model.fact = .init(id: 1, text: "mine")
    try await fixture.state { $0.presentation(at: fixture.text(binding)) != nil }
    try await fixture.coordinator.update(fixture.text(binding), ["text": .string("theirs")])
    try await fixture.until { model.fact?.text == "theirs" }
    #expect(model.fact?.id == 1)
  }

  @Test("G1–G6: of all tags of a selection at most one is shown", arguments: bothKinds)
  @MainActor func selection_changes_oneAtATime(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    let display = fixture.display
    let panels = Panels()
    let selection = Bindable(panels).selection.named("selection")
    for tag in ["wifi", "volume"] {
      fixture.navigator.present(tag: tag, selection: selection) { RecordingScreen(tag, on: display) }
    }
    panels.selection = "wifi"
    try await fixture.shows("wifi")
    panels.selection = "volume"
    try await fixture.shows("volume")
    try await fixture.display["volume"]?.close()
    try await fixture.until { panels.selection == nil }
    // Another client can select, too.
    try await fixture.coordinator.select("wifi", in: fixture.text(selection))
    try await fixture.until { panels.selection == "wifi" }
    try await fixture.shows("wifi")
    try await fixture.coordinator.deselect(in: fixture.text(selection))
    try await fixture.until { panels.selection == nil }
    #expect(fixture.display.log == ["+wifi", "-wifi", "+volume", "xvolume", "+wifi", "-wifi"])
  }

  @Test("Two models of one type have different bindings", arguments: bothKinds)
  @MainActor func present_twoModels_doNotCollide(_ kind: CoordinatorKind) async throws {
    let (fixture, one, two) = (try await NavigationFixture(kind), Model(), Model())
    let display = fixture.display
    for model in [one, two] {
      fixture.navigator.present(isPresented: Bindable(model).isPresented) {
        RecordingScreen(model === one ? "one" : "two", on: display)
      }
    }
    (one.isPresented, two.isPresented) = (true, true)
    try await fixture.until { Set(fixture.display.names) == ["one", "two"] }
    one.isPresented = false
    try await fixture.shows("two")
  }
}

@MainActor @Observable
private final class Panels {
  var selection: String?
}

extension NavigationFixture {
  @discardableResult
  fileprivate func presentFact(of model: Model) -> Presence {
    navigator.present(item: Bindable(model).fact.named("fact").published()) { [display] in
      RecordingScreen("fact \($0.wrappedValue.id)", on: display)
    }
  }

  /// Presents four items, each from the screen of the one before.
  fileprivate func presentNested(_ model: Model) {
    let (model, display) = (Bindable(model), display)
    navigator.present(item: model.fact.named("fact")) { fact in
      RecordingScreen("fact \(fact.wrappedValue.id)", on: display) { showing in
        showing.present(item: model.second) { second in
          RecordingScreen("second \(second.wrappedValue.id)", on: display) { showing in
            showing.present(item: model.third) { third in
              RecordingScreen("third \(third.wrappedValue.id)", on: display) { showing in
                showing.present(item: model.fourth) { fourth in
                  RecordingScreen("fourth \(fourth.wrappedValue.id)", on: display)
                }
              }
            }
          }
        }
      }
    }
  }
}
