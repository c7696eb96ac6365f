import NavigationTesting
import Observation
import Testing

@testable import Navigation

@MainActor @Observable
private final class Model: Navigable {
  static let memberNames: MemberNames<Model> = [
    \.isOpen: "isOpen", \.tab: "tab", \.path: "path", \.sheet: "sheet", \.note: "note", \.inner: "inner",
    \.destination: "destination",
  ]
  struct Note: Codable, Identifiable { var id: Int }
  enum Destination: HasCases {
    case edit(Note), help(Note)

    struct Cases {
      let edit = EnumCase("edit", Destination.edit) { if case .edit(let note) = $0 { note } else { nil } }
      let help = EnumCase("help", Destination.help) { if case .help(let note) = $0 { note } else { nil } }
    }
    static let cases = Cases()
  }
  var isOpen = true
  var tab: String?
  var path: [Int] = []
  var sheet: Note?
  var note: Note?
  var inner: Note?
  var destination: Destination?
}

/// A screen that stays although it was being dismissed has what was presented from it: it ended only with that dismissal.
@Suite(.serialized) @MainActor struct KeptParentTests {
  private static let all: Set = ["window", "items", "page 1", "page 2", "sheet", "note", "inner", "edit"]

  @Test("P15: a window that a sheet keeps presents its other children again", arguments: bothKinds)
  func window_keptByASheet_keepsWhatItPresents(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = try await opened(kind)
    let display = fixture.display
    display.declining = ["sheet"]
    for _ in 0..<2 {
      display.disappearing = []
      model.isOpen = false
      try await fixture.until { display.disappearing.contains("sheet") && model.isOpen }
      try await fixture.until { Set(display.names) == Self.all }
    }
    #expect(model.tab == "items" && model.path == [1, 2] && model.note?.id == 2 && model.inner?.id == 3)
    #expect(model.destination.is(\.edit))
    display.declining = []
    model.isOpen = false
    try await fixture.shows()
    await fixture.navigator.settle()
    #expect(model.path == [] && model.note == nil && model.inner == nil && model.destination == nil)
    // The next window does not present again what the former one did.
    model.isOpen = true
    try await fixture.shows("window", "items")
  }

  @Test("P15: a window that declines itself presents its children again", arguments: bothKinds)
  func window_thatDeclines_keepsWhatItPresents(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = try await opened(kind)
    let display = fixture.display
    display.declining = ["window"]
    try await fixture.coordinator.dismiss(fixture.text(Bindable(model, .own("kept")).isOpen))
    try await fixture.until { display.disappearing.contains("window") && display.names == ["window"] }
    try await fixture.until { Set(display.names) == Self.all }
    #expect(model.path == [1, 2] && model.sheet?.id == 1 && model.inner?.id == 3)
  }

  @Test("P15: what the program has set while a sheet was asked is not overwritten", arguments: bothKinds)
  func state_setWhileAParentIsAsked_isKept(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = try await opened(kind)
    let display = fixture.display
    (display.declining, display.asking) = (["sheet"], ["sheet"])
    model.isOpen = false
    try await fixture.until {
      display.disappearing.contains("sheet") && Set(display.names) == ["window", "sheet"] && model.destination == nil
    }
    (model.destination, model.path) = (.help(.init(id: 5)), [7])
    // Nothing is presented from a window that may go, so the request for the item is refused.
    await fixture.navigator.settle()
    #expect(model.destination == nil)
    display.asking = []
    try await fixture.until {
      Set(display.names) == ["window", "items", "page 7", "sheet", "note", "inner", "help"]
    }
    #expect(model.path == [7] && model.destination.is(\.help))
  }

  @Test("P15: a page that the program has pushed while a sheet was asked is shown", arguments: bothKinds)
  func path_setWhileAParentIsAsked_isShown(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let (display, binding) = (fixture.display, Bindable(model, .own("kept")))
    fixture.navigator.present(isPresented: binding.isOpen) {
      RecordingScreen("window", on: display) { window in
        let stack = window.stack(path: binding.path)
        stack.navigationDestination(for: Int.self) { RecordingScreen("page \($0)", on: display) }
        window.present(item: binding.sheet) { _ in RecordingScreen("sheet", on: display) }
      }
    }
    model.sheet = .init(id: 1)
    try await fixture.shows("window", "sheet")
    (display.declining, display.asking) = (["sheet"], ["sheet"])
    model.isOpen = false
    try await fixture.until { display.disappearing.contains("sheet") }
    model.path = [1]
    await fixture.navigator.settle()
    #expect(display.names == ["window", "sheet"])
    display.asking = []
    try await fixture.until { model.isOpen && display.names == ["window", "sheet", "page 1"] }
    withExtendedLifetime(model) {}
  }

  @Test(
    "P15: a question of a window ends with the window's answer, and the items around it come back", arguments: bothKinds
  )
  func question_ofWindowThatDeclines_endsAndItemsComeBack(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = try await opened(kind)
    let display = fixture.display
    (display.declining, display.asking) = (["window"], ["window"])
    model.isOpen = false
    try await fixture.until {
      display.disappearing.contains("window") && display.names == ["window"] && model.destination == nil
    }
    (model.destination, model.path) = (.help(.init(id: 5)), [7])
    try await fixture.until { display.names == ["window", "help"] }
    display.asking = []
    try await fixture.until {
      Set(display.names) == ["window", "items", "page 7", "sheet", "note", "inner", "edit"]
    }
    #expect(model.path == [7] && model.destination.is(\.edit))
  }

  @Test("P15: a tab that one of its sheets keeps selected presents the others again", arguments: bothKinds)
  func tab_keptByASheet_keepsWhatItPresents(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let (display, binding) = (fixture.display, Bindable(model, .own("kept")))
    fixture.navigator.present(tag: "items", selection: binding.tab) {
      RecordingScreen("items", on: display) { tab in
        let stack = tab.stack(path: binding.path)
        stack.navigationDestination(for: Int.self) { RecordingScreen("page \($0)", on: display) }
        tab.present(item: binding.sheet) { _ in RecordingScreen("sheet", on: display) }
        tab.present(item: binding.note) { _ in RecordingScreen("note", on: display) }
      }
    }
    fixture.navigator.present(tag: "orders", selection: binding.tab) { RecordingScreen("orders", on: display) }
    (model.tab, model.path, model.sheet, model.note) = ("items", [1], .init(id: 1), .init(id: 2))
    try await fixture.until { display.names.count == 4 }
    display.declining = ["sheet"]
    model.tab = "orders"
    try await fixture.until { display.disappearing.contains("sheet") && model.tab == "items" }
    try await fixture.until { Set(display.names) == ["items", "page 1", "sheet", "note"] }
    withExtendedLifetime(model) {}
  }

  /// Opens a window with a tab that has pages, a sheet, a note that presents another one, and a case of an enum.
  private func opened(_ kind: CoordinatorKind) async throws -> (NavigationFixture, Model) {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let (display, binding) = (fixture.display, Bindable(model, .own("kept")))
    fixture.navigator.present(isPresented: binding.isOpen) {
      RecordingScreen("window", on: display) { window in
        window.present(tag: "items", selection: binding.tab) {
          RecordingScreen("items", on: display) { tab in
            let stack = tab.stack(path: binding.path)
            stack.navigationDestination(for: Int.self) { RecordingScreen("page \($0)", on: display) }
          }
        }
        window.present(item: binding.sheet) { _ in RecordingScreen("sheet", on: display) }
        window.present(item: binding.note) { _ in
          RecordingScreen("note", on: display) { note in
            note.present(item: binding.inner) { _ in RecordingScreen("inner", on: display) }
          }
        }
        window.present(item: binding.destination.edit) { _ in RecordingScreen("edit", on: display) }
        window.present(item: binding.destination.help) { _ in RecordingScreen("help", on: display) }
      }
    }
    (model.tab, model.path, model.sheet, model.note) = ("items", [1, 2], .init(id: 1), .init(id: 2))
    (model.inner, model.destination) = (.init(id: 3), .edit(.init(id: 4)))
    try await fixture.until { Set(display.names) == Self.all }
    return (fixture, model)
  }
}
