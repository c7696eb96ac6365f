// Why this file exists: what people know from presenting sheets, popovers and alerts from state holds here, with a coordinator
// inside the program and with navd alike.

import CoordinatorAPI
import DBusValues
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
  var fact: Fact? { didSet { if fact == nil { nilWrites += 1 } } }
  var second: Fact?
  var third: Fact?
  var fourth: Fact?
  @ObservationIgnored var nilWrites = 0
}

@Suite struct PresentingFromStateTests {
  @Test("P1, P4: present(isPresented:)", arguments: Coordinating.allCases)
  @MainActor func present_truth_showsAndDismisses(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.navigator.present(isPresented: Bindable(model).isPresented) { Sign("panel", on: stage.wall) }
    model.isPresented = true
    try await stage.shows("panel")
    model.isPresented = false
    try await stage.shows()
    #expect(stage.wall.log == ["+panel", "-panel"])
  }

  @Test("P1, P4: present(item:)", arguments: Coordinating.allCases)
  @MainActor func present_item_showsAndDismisses(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.presentFact(of: model)
    model.fact = .init(id: 1)
    try await stage.shows("fact 1")
    model.fact = nil
    try await stage.shows()
  }

  @Test("P5: closed by its user a hundred times", arguments: Coordinating.allCases)
  @MainActor func present_closedByUser_writesNilOnceEachTime(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.presentFact(of: model)
    for round in 1...100 {
      model.fact = .init(id: 1)
      try await stage.shows("fact 1")
      try await stage.wall["fact 1"]?.close()
      try await stage.until { model.fact == nil }
      #expect(model.nilWrites == round)
    }
    #expect(stage.wall.log.count == 200)
  }

  @Test("P3: another id", arguments: Coordinating.allCases)
  @MainActor func present_idChanges_dismissesThenPresents(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.presentFact(of: model)
    model.fact = .init(id: 1)
    try await stage.shows("fact 1")
    model.fact = .init(id: 2)
    try await stage.shows("fact 2")
    #expect(stage.wall.log == ["+fact 1", "-fact 1", "+fact 2"])
    #expect(model.fact?.id == 2 && model.nilWrites == 0)
  }

  @Test("P2: the same id, another value", arguments: Coordinating.allCases)
  @MainActor func present_valueChanges_stays(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    let binding = Bindable(model).fact.named("fact")
    stage.presentFact(of: model)
    model.fact = .init(id: 1)
    try await stage.shows("fact 1")
    model.fact?.text = "later"
    await Task.yield()
    try await stage.state { $0.presentation(at: stage.text(binding))?.value["text"] == .string("later") }
    #expect(stage.wall.log == ["+fact 1"])
  }

  @Test("P3: represented while it is being dismissed", arguments: Coordinating.allCases)
  @MainActor func present_changedWhileDismissing_showsTheLastOnly(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.presentFact(of: model) { stage.wall.ends.append($0) }
    model.fact = .init(id: 1)
    try await stage.shows("fact 1")
    stage.wall.stuck = ["fact 1"]
    model.fact = .init(id: 2)
    try await stage.until { stage.wall.leaving == ["fact 1"] }
    model.fact = .init(id: 3)
    await stage.navigator.settle()
    stage.wall.stuck = []
    try await stage.shows("fact 3")
    #expect(stage.wall.log == ["+fact 1", "-fact 1", "+fact 3"])
    #expect(model.fact?.id == 3 && model.nilWrites == 0)
    try await stage.until { stage.wall.ends == [.replaced, .replaced] }
  }

  @Test("P5, P11: true, false, true while the first is going", arguments: Coordinating.allCases)
  @MainActor func present_againWhileDismissing_isNotClearedByTheLateFarewell(_ coordinating: Coordinating) async throws
  {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.navigator.present(isPresented: Bindable(model).isPresented) { Sign("panel", on: stage.wall) }
    model.isPresented = true
    try await stage.shows("panel")
    stage.wall.stuck = ["panel"]
    model.isPresented = false
    try await stage.until { stage.wall.leaving == ["panel"] }
    model.isPresented = true
    await stage.navigator.settle()
    stage.wall.stuck = []
    try await stage.until { stage.wall.log == ["+panel", "-panel", "+panel"] }
    #expect(model.isPresented)
  }

  @Test("P4: nil while it is being dismissed for another", arguments: Coordinating.allCases)
  @MainActor func present_changedThenNil_showsNothing(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.presentFact(of: model)
    model.fact = .init(id: 1)
    try await stage.shows("fact 1")
    stage.wall.stuck = ["fact 1"]
    model.fact = .init(id: 2)
    try await stage.until { stage.wall.leaving == ["fact 1"] }
    model.fact = nil
    await stage.navigator.settle()
    stage.wall.stuck = []
    try await stage.state { $0.presentations.isEmpty }
    #expect(stage.wall.log == ["+fact 1", "-fact 1"])
  }

  @Test("C4: A ⊃ B, B becomes C", arguments: Coordinating.allCases)
  @MainActor func nested_childChanges_leavesTheParent(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.presentNested(model)
    (model.fact, model.second) = (.init(id: 1), .init(id: 2))
    try await stage.shows("fact 1", "second 2")
    model.second = .init(id: 3)
    try await stage.shows("fact 1", "second 3")
    #expect(stage.wall.log == ["+fact 1", "+second 2", "-second 2", "+second 3"])
    #expect(model.fact?.id == 1 && model.nilWrites == 0)
  }

  @Test("C2: a deep link of four", arguments: Coordinating.allCases)
  @MainActor func nested_allSetAtOnce_appearOutermostFirst(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    (model.fact, model.second, model.third, model.fourth) = (.init(id: 1), .init(id: 2), .init(id: 3), .init(id: 4))
    stage.presentNested(model)
    try await stage.shows("fact 1", "second 2", "third 3", "fourth 4")
    #expect(stage.wall.log == ["+fact 1", "+second 2", "+third 3", "+fourth 4"])
  }

  @Test("C3: the outermost goes", arguments: Coordinating.allCases)
  @MainActor func nested_outermostNil_allGoDeepestFirst(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.presentNested(model)
    (model.fact, model.second, model.third) = (.init(id: 1), .init(id: 2), .init(id: 3))
    try await stage.shows("fact 1", "second 2", "third 3")
    model.fact = nil
    try await stage.shows()
    #expect(stage.wall.log.suffix(3) == ["-third 3", "-second 2", "-fact 1"])
  }

  @Test("C4: the leaf is closed by its user", arguments: Coordinating.allCases)
  @MainActor func nested_leafClosed_leavesTheOthers(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.presentNested(model)
    (model.fact, model.second, model.third) = (.init(id: 1), .init(id: 2), .init(id: 3))
    try await stage.shows("fact 1", "second 2", "third 3")
    try await stage.wall["third 3"]?.close()
    try await stage.until { model.third == nil }
    #expect(stage.wall.names == ["fact 1", "second 2"])
    #expect(model.fact != nil && model.second != nil)
  }

  @Test("C4: the middle goes", arguments: Coordinating.allCases)
  @MainActor func nested_middleNil_takesWhatStandsOnIt(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.presentNested(model)
    (model.fact, model.second, model.third) = (.init(id: 1), .init(id: 2), .init(id: 3))
    try await stage.shows("fact 1", "second 2", "third 3")
    model.second = nil
    try await stage.shows("fact 1")
    #expect(stage.wall.log.suffix(2) == ["-third 3", "-second 2"])
    #expect(model.fact?.id == 1)
  }

  @Test("C3: the parent's id changes", arguments: Coordinating.allCases)
  @MainActor func nested_parentChanges_childrenGoFirst(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.presentNested(model)
    (model.fact, model.second) = (.init(id: 1), .init(id: 2))
    try await stage.shows("fact 1", "second 2")
    // What is presented from the new one is said with it.
    (model.fact, model.second) = (.init(id: 5), nil)
    try await stage.shows("fact 5")
    #expect(stage.wall.log == ["+fact 1", "+second 2", "-second 2", "-fact 1", "+fact 5"])
  }

  @Test("C5: two alerts at once", arguments: Coordinating.allCases)
  @MainActor func present_severalFromOne_areThereTogether(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.presentFact(of: model)
    stage.navigator.present(item: Bindable(model).second) { Sign("alert \($0.wrappedValue.id)", on: stage.wall) }
    (model.fact, model.second) = (.init(id: 1), .init(id: 2))
    try await stage.until { Set(stage.wall.names) == ["fact 1", "alert 2"] }
    try await stage.wall["fact 1"]?.close()
    try await stage.until { model.fact == nil }
    #expect(stage.wall.names == ["alert 2"] && model.second?.id == 2)
  }

  @Test("P5: an alert whose action shows another alert", arguments: Coordinating.allCases)
  @MainActor func present_actionSetsTheNext_isNotLost(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.presentFact(of: model)
    for id in 1...20 {
      model.fact = .init(id: id)
      try await stage.shows("fact \(id)")
      // Its button sets the next, and closes it.
      let sign = try #require(stage.wall["fact \(id)"])
      model.fact = .init(id: id + 1)
      try await sign.close()
      try await stage.shows("fact \(id + 1)")
      #expect(model.fact?.id == id + 1)
    }
    #expect(model.nilWrites == 0)
  }

  @Test("D7: a screen that cannot be shown", arguments: Coordinating.allCases)
  @MainActor func present_screenFails_writesNil(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.wall.refused = ["fact 1"]
    stage.presentFact(of: model) { stage.wall.ends.append($0) }
    model.fact = .init(id: 1)
    try await stage.until { model.fact == nil }
    #expect(model.nilWrites == 1 && stage.wall.ends == [.failed] && stage.wall.log.isEmpty)
  }

  @Test("A request that is refused changes the state that asked for it, and no other", arguments: Coordinating.allCases)
  @MainActor func present_refused_stateSaysSo(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    var refusals: [NavigationError] = []
    stage.navigator.onRefused = { refusals.append($0) }
    stage.presentFact(of: model)
    stage.navigator.present(item: Bindable(model).second, to: "nowhere")
    (model.fact, model.second) = (.init(id: 1), .init(id: 2))
    try await stage.shows("fact 1")
    try await stage.until { model.second == nil }
    #expect(refusals.map(\.refusal) == [.unknownDestination])
    #expect(model.fact?.id == 1)
  }

  @Test("What state drives no more is dismissed", arguments: Coordinating.allCases)
  @MainActor func presence_cancelled_dismisses(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    let presence = stage.presentFact(of: model)
    model.fact = .init(id: 1)
    try await stage.shows("fact 1")
    presence.cancel()
    try await stage.shows()
    #expect(model.fact?.id == 1)
  }

  @Test("P5: dismissed by another client", arguments: Coordinating.allCases)
  @MainActor func present_dismissedByOthers_writesNil(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.presentFact(of: model)
    model.fact = .init(id: 1)
    try await stage.shows("fact 1")
    try await stage.coordinator.dismiss(stage.text(Bindable(model).fact.named("fact")))
    try await stage.until { model.fact == nil }
    #expect(model.nilWrites == 1 && stage.wall.log == ["+fact 1", "-fact 1"])
  }

  @Test("Many writes in a turn are one, with the last value", arguments: Coordinating.allCases)
  @MainActor func present_manyWrites_onePresentation(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.presentFact(of: model)
    for id in 1...50 { model.fact = .init(id: id) }
    try await stage.shows("fact 50")
    for id in 51...99 { model.fact = .init(id: id) }
    try await stage.shows("fact 99")
    #expect(stage.wall.log == ["+fact 50", "-fact 50", "+fact 99"])
  }

  @Test("T2: without animation", arguments: Coordinating.allCases)
  @MainActor func transaction_notAnimated_reachesTheScreen(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.presentFact(of: model)
    model.fact = .init(id: 1)
    try await stage.shows("fact 1")
    withTransaction(Transaction(animated: false)) { model.fact = nil }
    try await stage.shows()
    #expect(stage.wall.log == ["+fact 1", "-!fact 1"])
  }

  @Test("D8: edited by others", arguments: Coordinating.allCases)
  @MainActor func present_valueUpdatedByOthers_isWrittenToTheState(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    let binding = Bindable(model).fact.named("fact")
    stage.navigator.present(item: binding, to: nil)
    model.fact = .init(id: 1, text: "mine")
    try await stage.state { $0.presentation(at: stage.text(binding)) != nil }
    try await stage.coordinator.update(stage.text(binding), ["text": .string("theirs")])
    try await stage.until { model.fact?.text == "theirs" }
    #expect(model.fact?.id == 1)
  }

  @Test("G1–G6: one of many", arguments: Coordinating.allCases)
  @MainActor func selection_changes_oneAtATime(_ coordinating: Coordinating) async throws {
    let stage = try await Stage(coordinating)
    let panels = Panels()
    let selection = Bindable(panels).selection.named("selection")
    for tag in ["wifi", "volume"] {
      stage.navigator.present(tag: tag, selection: selection) { Sign(tag, on: stage.wall) }
    }
    panels.selection = "wifi"
    try await stage.shows("wifi")
    panels.selection = "volume"
    try await stage.shows("volume")
    try await stage.wall["volume"]?.close()
    try await stage.until { panels.selection == nil }
    // Others select it, too.
    try await stage.coordinator.select(stage.text(selection), "wifi")
    try await stage.until { panels.selection == "wifi" }
    try await stage.shows("wifi")
    try await stage.coordinator.deselect(stage.text(selection))
    try await stage.until { panels.selection == nil }
    #expect(stage.wall.log == ["+wifi", "-wifi", "+volume", "xvolume", "+wifi", "-wifi"])
  }

  @Test("Observation retains no model", arguments: Coordinating.allCases)
  @MainActor func present_modelGoes_isNotRetained(_ coordinating: Coordinating) async throws {
    let stage = try await Stage(coordinating)
    var model: Model? = Model()
    weak let observed = model
    stage.navigator.present(item: Bindable(model!).fact) { _ in Sign("fact", on: stage.wall) }
    stage.navigator.present(isPresented: Bindable(model!).isPresented) { Sign("panel", on: stage.wall) }
    model?.isPresented = true
    try await stage.shows("panel")
    model = nil
    #expect(observed == nil)
  }

  @Test("Two models of one type", arguments: Coordinating.allCases)
  @MainActor func present_twoModels_doNotCollide(_ coordinating: Coordinating) async throws {
    let (stage, one, two) = (try await Stage(coordinating), Model(), Model())
    for model in [one, two] {
      stage.navigator.present(isPresented: Bindable(model).isPresented) {
        Sign(model === one ? "one" : "two", on: stage.wall)
      }
    }
    (one.isPresented, two.isPresented) = (true, true)
    try await stage.until { Set(stage.wall.names) == ["one", "two"] }
    one.isPresented = false
    try await stage.shows("two")
  }
}

@MainActor @Observable
private final class Panels {
  var selection: String?
}

extension Stage {
  @discardableResult
  fileprivate func presentFact(of model: Model, onDismiss: OnDismiss? = nil) -> Presence {
    navigator.present(item: Bindable(model).fact.named("fact"), onDismiss: onDismiss) { [wall] in
      Sign("fact \($0.wrappedValue.id)", on: wall)
    }
  }

  /// Each screen presents the next.
  fileprivate func presentNested(_ model: Model) {
    let (model, wall) = (Bindable(model), wall)
    navigator.present(item: model.fact.named("fact")) { fact in
      Sign("fact \(fact.wrappedValue.id)", on: wall) { showing in
        showing.present(item: model.second) { second in
          Sign("second \(second.wrappedValue.id)", on: wall) { showing in
            showing.present(item: model.third) { third in
              Sign("third \(third.wrappedValue.id)", on: wall) { showing in
                showing.present(item: model.fourth) { fourth in Sign("fourth \(fourth.wrappedValue.id)", on: wall) }
              }
            }
          }
        }
      }
    }
  }
}
