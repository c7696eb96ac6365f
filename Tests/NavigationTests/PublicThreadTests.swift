import NavigationTesting
import Observation
import TestSupport
import Testing

@testable import Navigation

@MainActor @Observable
private final class Model {
  struct Fact: Hashable, Codable, Identifiable { var id: Int }

  enum Destination: HasCases {
    case edit(Fact), alert(String)

    struct Cases {
      let edit = EnumCase("edit", Destination.edit) { if case .edit(let fact) = $0 { fact } else { nil } }
      let alert = EnumCase("alert", Destination.alert) { if case .alert(let title) = $0 { title } else { nil } }
    }
    static let cases = Cases()
  }

  var sheet: Fact?
  var detail: Fact?
  var question: Fact?
  var hasHelp = false
  var path: [Int] = []
  var destination: Destination?
}

/// The model of one screen.
@MainActor @Observable
private final class SheetModel { var detail: Model.Fact? }

/// Scenarios from public threads, in which other libraries showed something else than the state of the program. Those about changes of
/// identity and about cancelled tasks are in the suites of these subjects, as are some others: their comments begin in the same way.
@Suite @MainActor struct PublicThreadTests {
  // MARK: Nested sheets

  /// From a public thread: the third screen dismisses the first one, and its own dismissal then finds no state
  /// (https://github.com/pointfreeco/swift-composable-architecture/issues/3031).
  @Test(
    "C3: when the innermost of three sheets dismisses the outermost, each ends once, from the inside",
    arguments: bothKinds)
  func nestedSheets_outermostIsDismissed_endOnceFromTheInside(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.presentNested(model)
    (model.sheet, model.detail, model.question) = (.init(id: 1), .init(id: 2), .init(id: 3))
    try await fixture.shows("sheet 1", "detail 2", "question 3")
    model.sheet = nil
    try await fixture.until { model.detail == nil && model.question == nil && display.notes.count == 3 }
    await fixture.navigator.settle()
    #expect(display.log.suffix(3) == ["-question 3", "-detail 2", "-sheet 1"])
    #expect(display.notes.sorted() == ["detail", "question", "sheet"])
  }

  /// From a public thread: a screen that is presented while the one before it goes takes the presenting screen along
  /// (https://github.com/pointfreeco/swift-navigation/pull/295).
  @Test("C3: a child that is presented while the former one goes leaves its parent on the screen", arguments: bothKinds)
  func nestedSheets_childIsPresentedWhileTheFormerGoes_parentStays(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.presentNested(model)
    (model.sheet, model.detail) = (.init(id: 1), .init(id: 2))
    try await fixture.shows("sheet 1", "detail 2")
    display.stuck = ["detail 2"]
    model.detail = nil
    try await fixture.until { display.disappearing == ["detail 2"] }
    model.detail = .init(id: 3)
    await fixture.navigator.settle()
    display.stuck = []
    try await fixture.shows("sheet 1", "detail 3")
    await fixture.navigator.settle()
    #expect(display.log == ["+sheet 1", "+detail 2", "-detail 2", "+detail 3"])
    #expect(model.sheet?.id == 1 && model.detail?.id == 3)
  }

  // MARK: Popped middles

  /// From a public thread: which screens are made anew when one in the middle of a stack is removed
  /// (https://github.com/hmlongco/Navigator/issues/68).
  @Test("S5: the screens below a removed element stay, and those above it are pushed again", arguments: bothKinds)
  func path_middleIsRemoved_keepsTheScreensBelow(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.presentPath(model)
    model.path = [1, 2, 3]
    try await fixture.shows("1", "2", "3")
    let lowest = display["1"]
    model.path.remove(at: 1)
    try await fixture.shows("1", "3")
    await fixture.navigator.settle()
    #expect(display.log.suffix(3) == ["-3", "-2", "+3"] && display["1"] === lowest)
    #expect(model.path == [1, 3])
  }

  /// From a public thread: one way back is counted twice, by the program and by the screen that goes
  /// (https://github.com/canopas/UIPilot/issues/34).
  @Test("S3: the top of a path that the program and its user remove at once is removed once", arguments: bothKinds)
  func path_topIsRemovedTwice_keepsTheElementBelow(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.presentPath(model)
    model.path = [1, 2, 3]
    try await fixture.shows("1", "2", "3")
    await fixture.navigator.settle()
    let top = try #require(display["3"])
    model.path.removeLast()
    try await top.close()
    try await fixture.state { $0.presentations.count == 2 }
    await fixture.navigator.settle()
    #expect(model.path == [1, 2] && display.names == ["1", "2"])
  }

  // MARK: Several presentations in one turn

  /// From a public thread: of two screens that are pushed in one update, only the first one is shown
  /// (https://github.com/johnpatrickmorgan/FlowStacks/issues/3).
  @Test("S1: elements that are pushed and popped in one turn are all shown, in their order", arguments: bothKinds)
  func path_changedSeveralTimesInATurn_showsAll(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.presentPath(model)
    model.path.append(1)
    model.path.append(2)
    try await fixture.shows("1", "2")
    model.path.removeLast()
    model.path.append(3)
    model.path.append(4)
    try await fixture.shows("1", "3", "4")
    #expect(fixture.display.log == ["+1", "+2", "-2", "+3", "+4"])
  }

  /// From a public thread: a screen that is pushed in the turn in which a sheet closes closes itself
  /// (https://github.com/johnpatrickmorgan/FlowStacks/issues/82).
  @Test("A page that is pushed in the turn in which a sheet is dismissed stays", arguments: bothKinds)
  func path_pushedWhileASheetIsDismissed_stays(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.presentNested(model)
    fixture.presentPath(model)
    model.sheet = .init(id: 1)
    try await fixture.shows("sheet 1")
    (model.sheet, model.path) = (nil, [2])
    try await fixture.shows("2")
    await fixture.navigator.settle()
    #expect(fixture.display.names == ["2"] && model.path == [2] && model.sheet == nil)
  }

  /// From a public thread: of two sheets of one screen, only one can be shown at a time
  /// (https://github.com/Infomaniak/ios-kMail/pull/1050).
  @Test("C1: two sheets that one screen presents in one turn are both shown, and end one by one", arguments: bothKinds)
  func sheets_twoOfOneScreenInATurn_areBothShown(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.presentNested(model)
    model.sheet = .init(id: 1)
    try await fixture.shows("sheet 1")
    (model.detail, model.hasHelp) = (.init(id: 2), true)
    try await fixture.until { Set(display.names) == ["sheet 1", "detail 2", "help"] }
    try await display["detail 2"]?.close()
    try await fixture.until { model.detail == nil }
    await fixture.navigator.settle()
    #expect(model.hasHelp && display.names == ["sheet 1", "help"])
  }

  // MARK: An enum's case that changes

  /// From a public thread: an alert that follows a sheet of the same enum appears and dismisses itself
  /// (https://github.com/pointfreeco/swift-composable-architecture/issues/3894).
  @Test("P5: the case that onDismiss sets after the end of another one stays", arguments: bothKinds)
  func enumCase_setByOnDismissOfAnother_stays(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    let destination = Bindable(model).destination
    fixture.navigator.present(item: destination.edit, onDismiss: { model.destination = .alert("Saved") }) {
      RecordingScreen("edit \($0.wrappedValue.id)", on: display)
    }
    fixture.navigator.present(item: destination.alert, id: \.self) { RecordingScreen($0.wrappedValue, on: display) }
    model.destination = .edit(.init(id: 1))
    try await fixture.shows("edit 1")
    try await display["edit 1"]?.close()
    try await fixture.shows("Saved")
    await fixture.navigator.settle()
    #expect(display.log == ["+edit 1", "xedit 1", "+Saved"] && model.destination.is(\.alert))
  }

  // MARK: Leaks

  /// From a public thread: the model of a screen that presents from it is never released
  /// (https://github.com/pointfreeco/swift-navigation/issues/283).
  @Test("The model of a screen that presents from it and observes it is released with the screen", arguments: bothKinds)
  func model_ofAScreenThatPresents_isReleasedWithIt(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    weak var observed: SheetModel?
    var drawn: [Int?] = []
    fixture.navigator.present(item: Bindable(model).sheet) { _ in
      let sheet = SheetModel()
      observed = sheet
      return RecordingScreen("sheet", on: display) { showing in
        showing.observe { drawn.append(sheet.detail?.id) }
        showing.present(item: Bindable(sheet).detail) { _ in RecordingScreen("detail", on: display) }
      }
    }
    model.sheet = .init(id: 1)
    try await fixture.shows("sheet")
    observed?.detail = .init(id: 2)
    try await fixture.shows("sheet", "detail")
    try await poll { drawn == [nil, 2] }
    model.sheet = nil
    try await fixture.shows()
    try await poll { observed == nil }
  }

  // MARK: Transactions

  /// From a public thread: pages that the program removes from a path go without the animation that it asked for, or with one
  /// (https://github.com/pointfreeco/swift-navigation/pull/222).
  @Test("T2: a page is popped in the transaction in which it was removed from the path", arguments: bothKinds)
  func path_cutInATransaction_isPoppedInIt(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.presentPath(model)
    model.path = [1, 2, 3]
    try await fixture.shows("1", "2", "3")
    withTransaction(\.animated, false) { model.path = [1, 2] }
    try await fixture.shows("1", "2")
    model.path = [1]
    try await fixture.shows("1")
    withTransaction(\.animated, false) { model.path = [] }
    try await fixture.shows()
    #expect(fixture.display.log.suffix(3) == ["-!3", "-2", "-!1"])
  }
}

extension NavigationFixture {
  /// Presents a sheet, from which the detail and the help are presented, and a question from the detail.
  fileprivate func presentNested(_ model: Model) {
    let (bindable, display) = (Bindable(model), display)
    navigator.present(item: bindable.sheet, onDismiss: { display.notes.append("sheet") }) { sheet in
      RecordingScreen("sheet \(sheet.wrappedValue.id)", on: display) { showing in
        showing.present(isPresented: bindable.hasHelp) { RecordingScreen("help", on: display) }
        showing.present(item: bindable.detail, onDismiss: { display.notes.append("detail") }) { detail in
          RecordingScreen("detail \(detail.wrappedValue.id)", on: display) { showing in
            showing.present(item: bindable.question, onDismiss: { display.notes.append("question") }) { question in
              RecordingScreen("question \(question.wrappedValue.id)", on: display)
            }
          }
        }
      }
    }
  }

  fileprivate func presentPath(_ model: Model) {
    navigator.stack(path: Bindable(model).path.named("path"))
      .navigationDestination(for: Int.self) { [display] in RecordingScreen("\($0)", on: display) }
  }
}
