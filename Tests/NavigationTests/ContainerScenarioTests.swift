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
  struct Note: Hashable, Codable, Identifiable { var id: Int }
  enum Destination: Hashable {
    case edit(Note)
    case confirm(String)
    var name: String {
      switch self {
      case .edit(let note): "edit \(note.id)"
      case .confirm(let text): "confirm \(text)"
      }
    }
  }
  var sheet: Note?
  var note: Note?
  var outer: [Int] = []
  var inner: [Int] = []
  var isPresented = false
  var selection: String?
  var destination: Destination?
}

/// Groups, stacks and children of each other: what ends with what, and what is written back to the state.
@Suite @MainActor struct ContainerScenarioTests {
  @Test("C3, S2: a stack in a sheet in a stack ends with the sheet", arguments: bothKinds)
  func stackInSheetInStack_sheetDismissed_ends(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.presentStackInSheetInStack(model)
    (model.outer, model.sheet, model.inner) = ([1], .init(id: 5), [10, 11])
    try await fixture.shows("outer 1", "sheet 5", "inner 10", "inner 11")
    // A pop in the inner stack leaves the screens below.
    model.inner = [10]
    try await fixture.shows("outer 1", "sheet 5", "inner 10")
    model.sheet = nil
    try await fixture.shows("outer 1")
    #expect(fixture.display.log.suffix(3) == ["-inner 11", "-inner 10", "-sheet 5"])
    try await fixture.until { model.inner == [] }
    model.sheet = .init(id: 6)
    try await fixture.shows("outer 1", "sheet 6")
    model.inner = [12]
    try await fixture.shows("outer 1", "sheet 6", "inner 12")
    // The dismissal of the outermost screen dismisses everything in it.
    model.outer = []
    try await fixture.shows()
    try await fixture.until { model.sheet == nil && model.inner == [] }
  }

  @Test(
    "C3: screens pushed on a sheet's stack end with the sheet, and their state drives nothing afterwards",
    arguments: bothKinds)
  func pushedInSheet_sheetDismissed_ends(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.presentStackInSheetInStack(model)
    (model.outer, model.sheet) = ([1], .init(id: 5))
    try await fixture.shows("outer 1", "sheet 5")
    model.note = .init(id: 7)
    try await fixture.shows("outer 1", "sheet 5", "note 7")
    model.sheet = nil
    try await fixture.shows("outer 1")
    try await fixture.until { model.note == nil }
    await fixture.navigator.settle()
    model.note = .init(id: 8)
    await fixture.navigator.settle()
    #expect(try await fixture.coordinator.state().presentations.count == 1)
    model.sheet = .init(id: 6)
    try await fixture.shows("outer 1", "sheet 6", "note 8")
  }

  /// From a public thread: a sheet whose case changes becomes the other one, and is not dismissed
  /// (https://github.com/pointfreeco/swift-navigation/issues/75).
  @Test("One presentation handles all cases of an enum", arguments: bothKinds)
  func enumItem_anyCase_isPresented(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.navigator.present(item: Bindable(model).destination.named("destination"), id: \.name) {
      RecordingScreen($0.wrappedValue.name, on: display)
    }
    model.destination = .edit(.init(id: 1))
    try await fixture.shows("edit 1")
    model.destination = .confirm("all")
    try await fixture.shows("confirm all")
    try await fixture.display["confirm all"]?.close()
    try await fixture.until { model.destination == nil }
    #expect(fixture.display.log == ["+edit 1", "-edit 1", "+confirm all", "xconfirm all"])
  }

  /// From a public thread: whether `onDismiss` is called for a screen that another one of the same enum replaces
  /// (https://github.com/pointfreeco/swift-navigation/pull/238).
  @Test(
    "With one presentation for each case of an enum, only the ends of its own screens are reported",
    arguments: bothKinds)
  func enumCases_eachPresented_reportOnlyTheirEnds(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.presentCases(of: model)
    model.destination = .edit(.init(id: 1))
    try await fixture.shows("edit 1")
    model.destination = .confirm("all")
    try await fixture.until { fixture.display.names == ["confirm all"] && display.notes == ["edit dismissed"] }
    try await fixture.display["confirm all"]?.close()
    try await fixture.until { model.destination == nil && display.notes == ["edit dismissed", "confirm closed"] }
  }

  @Test(
    "P15: a case whose screen declines to disappear gets its payload back, instead of the other case",
    arguments: bothKinds)
  func enumCase_declines_isWrittenBack(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.presentCases(of: model)
    model.destination = .edit(.init(id: 1))
    try await fixture.shows("edit 1")
    fixture.display.declining = ["edit 1"]
    model.destination = .confirm("all")
    try await fixture.until { model.destination == .edit(.init(id: 1)) && !fixture.display.disappearing.isEmpty }
    await fixture.navigator.settle()
    #expect(fixture.display.log == ["+edit 1"] && model.destination == .edit(.init(id: 1)))
    fixture.display.declining = []
    model.destination = .confirm("none")
    try await fixture.shows("confirm none")
  }

  @Test(
    "G2: a selection by other programs is written to the state, for members shown by a destination",
    arguments: bothKinds)
  func selection_byOthersToADestination_isWritten(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let selection = Bindable(model).selection.named("selection")
    for tag in ["wifi", "volume"] {
      fixture.navigator.present(tag: tag, selection: selection, to: nil, options: { .state })
    }
    model.selection = "wifi"
    try await fixture.state { $0.groups[fixture.text(selection)]?.selection == "wifi" }
    model.selection = "volume"
    try await fixture.state { $0.groups[fixture.text(selection)]?.selection == "volume" }
    try await fixture.coordinator.select("wifi", in: fixture.text(selection), .state)
    try await fixture.until { model.selection == "wifi" }
    // The selection now goes in the other direction.
    try await fixture.coordinator.toggleSelection("wifi", in: fixture.text(selection), .state)
    try await fixture.until { model.selection == nil }
    try await fixture.coordinator.toggleSelection("wifi", in: fixture.text(selection), .state)
    try await fixture.until { model.selection == "wifi" }
    model.selection = nil
    try await fixture.state { $0.presentations.isEmpty }
  }

  @Test("G2, S1: selecting a tag pushes its screen", arguments: bothKinds)
  func link_tagSelected_isPushed(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    let selection = Bindable(model).selection.named("selection")
    let stack = fixture.navigator.stack(path: Bindable(model).outer.named("outer"))
    stack.navigationDestination(for: Int.self) { RecordingScreen("outer \($0)", on: display) }
    for tag in ["wifi", "volume"] {
      stack.push(tag: tag, selection: selection) { RecordingScreen(tag, on: display) }
    }
    model.outer = [1]
    model.selection = "wifi"
    try await fixture.shows("outer 1", "wifi")
    model.selection = "volume"
    try await fixture.shows("outer 1", "volume")
    #expect(
      try await fixture.coordinator.state().stacks[fixture.text(Bindable(model).outer.named("outer"))]?.count == 2)
    // The selected screen ends with the screen below it.
    model.outer = []
    try await fixture.shows()
    try await fixture.until { model.selection == nil }
    #expect(fixture.display.log.suffix(2) == ["-volume", "-outer 1"])
  }

  @Test("If one binding is presented twice, the last presentation counts", arguments: bothKinds)
  func present_sameBindingTwice_oneScreen(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    let binding = Bindable(model).sheet.named("sheet")
    let first = fixture.navigator.present(item: binding) { _ in RecordingScreen("first", on: display) }
    fixture.navigator.present(item: binding) { _ in RecordingScreen("last", on: display) }
    model.sheet = .init(id: 1)
    try await fixture.shows("last")
    // The first presentation has nothing left to dismiss.
    first.cancel()
    await fixture.navigator.settle()
    #expect(fixture.display.names == ["last"] && model.sheet?.id == 1)
    try await fixture.display["last"]?.close()
    try await fixture.until { model.sheet == nil }
    #expect(fixture.display.log == ["+last", "xlast"])
  }

  @Test("Two navigators of one coordinator do not affect each other")
  func navigators_two_doNotDisturbEachOther()
    async throws
  {
    for kind in CoordinatorKind.allCases {
      let (fixture, one, two) = (try await NavigationFixture(kind), Model(), Model())
      let display = fixture.display
      let other = Navigator(fixture.coordinator)
      fixture.navigator.present(item: Bindable(one).sheet) {
        RecordingScreen("one \($0.wrappedValue.id)", on: display)
      }
      other.present(item: Bindable(two).sheet) { RecordingScreen("two \($0.wrappedValue.id)", on: display) }
      (one.sheet, two.sheet) = (.init(id: 1), .init(id: 2))
      try await fixture.until { Set(fixture.display.names) == ["one 1", "two 2"] }
      try await fixture.display["one 1"]?.close()
      try await fixture.until { one.sheet == nil }
      #expect(two.sheet?.id == 2 && fixture.display.names == ["two 2"])
    }
  }

  @Test("onDismiss is called once for every kind of end", arguments: bothKinds)
  func onDismiss_everyEnd_isCalledOnce(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    let binding = Bindable(model).sheet.named("sheet")
    let presence = fixture.navigator.present(
      item: binding, options: { PresentationOptions(timeout: $0.id == 5 ? .milliseconds(20) : nil) }
    ) { RecordingScreen("sheet \($0.wrappedValue.id)", on: display) }.onDismiss(display.end)
    func shown(_ id: Int) async throws {
      model.sheet = .init(id: id)
      try await fixture.shows("sheet \(id)")
    }
    func ended(_ reason: NavigationReason, line: Int = #line) async throws {
      try await fixture.until({ display.ends == [reason] }, #fileID, line)
      display.ends = []
    }
    try await shown(1)
    model.sheet = nil
    try await ended(.dismissed)
    try await shown(2)
    try await display["sheet 2"]?.close()
    try await ended(.closed)
    try await shown(3)
    try await shown(4)
    try await ended(.replaced)
    try await fixture.coordinator.dismiss(fixture.text(binding))
    try await ended(.dismissed)
    model.sheet = .init(id: 5)
    try await ended(.expired)
    display.refused = ["sheet 6"]
    model.sheet = .init(id: 6)
    try await ended(.failed)
    try await shown(7)
    presence.cancel()
    try await ended(.dismissed)
    #expect(model.sheet?.id == 7)
    await fixture.navigator.settle()
    #expect(display.ends == [])
  }
}

extension NavigationFixture {
  /// Presents each case of the destination.
  fileprivate func presentCases(of model: Model) {
    let edit = EnumCase("edit", { Model.Destination.edit($0) }) { if case .edit(let note) = $0 { note } else { nil } }
    let confirm = EnumCase("confirm", { Model.Destination.confirm($0) }) {
      if case .confirm(let text) = $0 { text } else { nil }
    }
    let destination = Bindable(model).destination.named("destination")
    let display = display
    navigator.present(item: destination.case(edit)) {
      RecordingScreen("edit \($0.wrappedValue.id)", on: display)
    }.onDismiss { display.notes.append("edit \($0.reason)") }
    navigator.present(item: destination.case(confirm), id: \.self) {
      RecordingScreen("confirm \($0.wrappedValue)", on: display)
    }.onDismiss { display.notes.append("confirm \($0.reason)") }
  }

  fileprivate func presentStackInSheetInStack(_ model: Model) {
    let (bindable, display) = (Bindable(model), display)
    let outer = navigator.stack(path: bindable.outer.named("outer"))
    outer.navigationDestination(for: Int.self) { number in
      RecordingScreen("outer \(number)", on: display) { showing in
        showing.present(item: bindable.sheet.named("sheet")) { sheet in
          RecordingScreen("sheet \(sheet.wrappedValue.id)", on: display) { showing in
            let inner = showing.stack(path: bindable.inner.named("inner"))
            inner.navigationDestination(for: Int.self) { RecordingScreen("inner \($0)", on: display) }
            inner.push(item: bindable.note.named("note")) { RecordingScreen("note \($0.wrappedValue.id)", on: display) }
          }
        }
      }
    }
  }
}
