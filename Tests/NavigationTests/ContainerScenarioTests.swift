// Why this file exists: screens present screens: a stack in a sheet, a sheet in a stack, one of many cases of an enum; what
// belongs to one goes with it, and nothing else does.

import CoordinatorAPI
import DBusValues
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

@Suite @MainActor struct ContainerScenarioTests {
  @Test("C3, S2: a stack in a sheet in a stack", arguments: Coordinating.allCases)
  func stackInSheetInStack_goesWithIt(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.presentStackInSheetInStack(model)
    (model.outer, model.sheet, model.inner) = ([1], .init(id: 5), [10, 11])
    try await stage.shows("outer 1", "sheet 5", "inner 10", "inner 11")
    // Popping inside leaves what it stands on.
    model.inner = [10]
    try await stage.shows("outer 1", "sheet 5", "inner 10")
    model.sheet = nil
    try await stage.shows("outer 1")
    #expect(stage.wall.log.suffix(3) == ["-inner 11", "-inner 10", "-sheet 5"])
    try await stage.until { model.inner == [] }
    model.sheet = .init(id: 6)
    try await stage.shows("outer 1", "sheet 6")
    model.inner = [12]
    try await stage.shows("outer 1", "sheet 6", "inner 12")
    // The outermost takes all of it.
    model.outer = []
    try await stage.shows()
    try await stage.until { model.sheet == nil && model.inner == [] }
  }

  @Test(
    "C3: what is pushed on a sheet's stack goes with the sheet, and drives nothing after",
    arguments: Coordinating.allCases)
  func pushedInSheet_sheetGoes_isOver(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.presentStackInSheetInStack(model)
    (model.outer, model.sheet) = ([1], .init(id: 5))
    try await stage.shows("outer 1", "sheet 5")
    model.note = .init(id: 7)
    try await stage.shows("outer 1", "sheet 5", "note 7")
    model.sheet = nil
    try await stage.shows("outer 1")
    try await stage.until { model.note == nil }
    await stage.navigator.settle()
    model.note = .init(id: 8)
    await stage.navigator.settle()
    #expect(try await stage.coordinator.state().presentations.count == 1)
    model.sheet = .init(id: 6)
    try await stage.shows("outer 1", "sheet 6", "note 8")
  }

  @Test("One function for all cases of an enum", arguments: Coordinating.allCases)
  func enumWithData_isOneItem(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.navigator.present(item: Bindable(model).destination.named("destination"), id: \.name) {
      Sign($0.wrappedValue.name, on: stage.wall)
    }
    model.destination = .edit(.init(id: 1))
    try await stage.shows("edit 1")
    model.destination = .confirm("all")
    try await stage.shows("confirm all")
    try await stage.wall["confirm all"]?.close()
    try await stage.until { model.destination == nil }
    #expect(stage.wall.log == ["+edit 1", "-edit 1", "+confirm all", "xconfirm all"])
  }

  @Test("A case of an enum: unrelated ends are not told", arguments: Coordinating.allCases)
  func enumCases_eachItsOwn_tellOnlyTheirEnds(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    let edit = EnumCase("edit", { Model.Destination.edit($0) }) { if case .edit(let note) = $0 { note } else { nil } }
    let confirm = EnumCase("confirm", { Model.Destination.confirm($0) }) {
      if case .confirm(let text) = $0 { text } else { nil }
    }
    let wall = stage.wall
    let destination = Bindable(model).destination.named("destination")
    stage.navigator.present(item: destination.case(edit), onDismiss: { wall.notes.append("edit \($0)") }) {
      Sign("edit \($0.wrappedValue.id)", on: stage.wall)
    }
    stage.navigator.present(
      item: destination.case(confirm), id: \.self, onDismiss: { wall.notes.append("confirm \($0)") }
    ) {
      Sign("confirm \($0.wrappedValue)", on: stage.wall)
    }
    model.destination = .edit(.init(id: 1))
    try await stage.shows("edit 1")
    model.destination = .confirm("all")
    try await stage.until { stage.wall.names == ["confirm all"] && wall.notes == ["edit dismissed"] }
    try await stage.wall["confirm all"]?.close()
    try await stage.until { model.destination == nil && wall.notes == ["edit dismissed", "confirm closed"] }
  }

  @Test("G2: others select what others show", arguments: Coordinating.allCases)
  func selection_byOthersToADestination_isWritten(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    let selection = Bindable(model).selection.named("selection")
    for tag in ["wifi", "volume"] { stage.navigator.present(tag: tag, selection: selection, to: nil) }
    model.selection = "wifi"
    try await stage.state { $0.groups[stage.text(selection)]?.selection == "wifi" }
    model.selection = "volume"
    try await stage.state { $0.groups[stage.text(selection)]?.selection == "volume" }
    try await stage.coordinator.select(stage.text(selection), "wifi")
    try await stage.until { model.selection == "wifi" }
    // Once more, and the other way.
    try await stage.coordinator.toggleSelection(stage.text(selection), "wifi")
    try await stage.until { model.selection == nil }
    try await stage.coordinator.toggleSelection(stage.text(selection), "wifi")
    try await stage.until { model.selection == "wifi" }
    model.selection = nil
    try await stage.state { $0.presentations.isEmpty }
  }

  @Test("G2, S1: a link of many is pushed", arguments: Coordinating.allCases)
  func link_tagSelected_isPushed(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    let selection = Bindable(model).selection.named("selection")
    let stack = stage.navigator.stack(path: Bindable(model).outer.named("outer"))
    stack.navigationDestination(for: Int.self) { Sign("outer \($0)", on: stage.wall) }
    for tag in ["wifi", "volume"] { stack.push(tag: tag, selection: selection) { Sign(tag, on: stage.wall) } }
    model.outer = [1]
    model.selection = "wifi"
    try await stage.shows("outer 1", "wifi")
    model.selection = "volume"
    try await stage.shows("outer 1", "volume")
    #expect(try await stage.coordinator.state().stacks[stage.text(Bindable(model).outer.named("outer"))]?.count == 2)
    // What it stands on goes, and it with that.
    model.outer = []
    try await stage.shows()
    try await stage.until { model.selection == nil }
    #expect(stage.wall.log.suffix(2) == ["-volume", "-outer 1"])
  }

  @Test("P5: closed and shown again by others at once", arguments: Coordinating.allCases)
  func selection_reselectedByOthers_isNotCleared(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    let selection = Bindable(model).selection.named("selection")
    stage.navigator.present(tag: "wifi", selection: selection) { Sign("wifi", on: stage.wall) }
    model.selection = "wifi"
    try await stage.shows("wifi")
    for _ in 1...20 {
      try await stage.coordinator.toggleSelection(stage.text(selection), "wifi")
      try await stage.coordinator.toggleSelection(stage.text(selection), "wifi")
      let serial = try await stage.coordinator.state().serial
      #expect(serial > 0)
      try await stage.until { model.selection == "wifi" && stage.wall.names == ["wifi"] }
    }
    try await stage.state { $0.groups[stage.text(selection)]?.selection == "wifi" }
    model.selection = nil
    try await stage.shows()
  }

  @Test("The same binding presented twice: the last counts", arguments: Coordinating.allCases)
  func present_sameBindingTwice_oneScreen(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    let binding = Bindable(model).sheet.named("sheet")
    let first = stage.navigator.present(item: binding) { _ in Sign("first", on: stage.wall) }
    stage.navigator.present(item: binding) { _ in Sign("last", on: stage.wall) }
    model.sheet = .init(id: 1)
    try await stage.shows("last")
    // What was overtaken has nothing to end.
    first.cancel()
    await stage.navigator.settle()
    #expect(stage.wall.names == ["last"] && model.sheet?.id == 1)
    try await stage.wall["last"]?.close()
    try await stage.until { model.sheet == nil }
    #expect(stage.wall.log == ["+last", "xlast"])
  }

  @Test("C3: the parent's id changes, and the child's state with it", arguments: Coordinating.allCases)
  func nested_bothChangeAtOnce_agreeInTheEnd(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    let wall = stage.wall
    let bindable = Bindable(model)
    stage.navigator.present(item: bindable.sheet.named("sheet")) { sheet in
      Sign("sheet \(sheet.wrappedValue.id)", on: wall) { showing in
        showing.present(item: bindable.note.named("note")) { Sign("note \($0.wrappedValue.id)", on: wall) }
      }
    }
    (model.sheet, model.note) = (.init(id: 1), .init(id: 1))
    try await stage.shows("sheet 1", "note 1")
    for id in 2...12 {
      model.sheet = .init(id: id)
      // The child's state is nil by its parent's end, or is shown on the new one: never one without the other.
      try await stage.until { wall.names.first == "sheet \(id)" }
      await stage.navigator.settle()
      try await stage.until { wall.names.count == 1 + (model.note == nil ? 0 : 1) && model.note == nil }
      model.note = .init(id: id)
      try await stage.shows("sheet \(id)", "note \(id)")
    }
  }

  @Test("Two navigators of one coordinator") func navigators_two_doNotDisturbEachOther() async throws {
    for coordinating in Coordinating.allCases {
      let (stage, one, two) = (try await Stage(coordinating), Model(), Model())
      let other = Navigator(stage.coordinator)
      stage.navigator.present(item: Bindable(one).sheet) { Sign("one \($0.wrappedValue.id)", on: stage.wall) }
      other.present(item: Bindable(two).sheet) { Sign("two \($0.wrappedValue.id)", on: stage.wall) }
      (one.sheet, two.sheet) = (.init(id: 1), .init(id: 2))
      try await stage.until { Set(stage.wall.names) == ["one 1", "two 2"] }
      try await stage.wall["one 1"]?.close()
      try await stage.until { one.sheet == nil }
      #expect(two.sheet?.id == 2 && stage.wall.names == ["two 2"])
    }
  }

  @Test("onDismiss is called once for every way to go", arguments: Coordinating.allCases)
  func onDismiss_everyWay_once(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    let wall = stage.wall
    let binding = Bindable(model).sheet.named("sheet")
    let presence = stage.navigator.present(
      item: binding, options: { PresentationOptions(timeout: $0.id == 5 ? .milliseconds(20) : nil) },
      onDismiss: { wall.ends.append($0) }
    ) { Sign("sheet \($0.wrappedValue.id)", on: wall) }
    func shown(_ id: Int) async throws {
      model.sheet = .init(id: id)
      try await stage.shows("sheet \(id)")
    }
    func ended(_ reason: NavigationReason, line: Int = #line) async throws {
      try await stage.until({ wall.ends == [reason] }, #fileID, line)
      wall.ends = []
    }
    try await shown(1)
    model.sheet = nil
    try await ended(.dismissed)
    try await shown(2)
    try await wall["sheet 2"]?.close()
    try await ended(.closed)
    try await shown(3)
    try await shown(4)
    try await ended(.replaced)
    try await stage.coordinator.dismiss(stage.text(binding))
    try await ended(.dismissed)
    model.sheet = .init(id: 5)
    try await ended(.expired)
    wall.refused = ["sheet 6"]
    model.sheet = .init(id: 6)
    try await ended(.failed)
    try await shown(7)
    presence.cancel()
    try await ended(.dismissed)
    #expect(model.sheet?.id == 7)
    await stage.navigator.settle()
    #expect(wall.ends == [])
  }
}

extension Stage {
  fileprivate func presentStackInSheetInStack(_ model: Model) {
    let (bindable, wall) = (Bindable(model), wall)
    let outer = navigator.stack(path: bindable.outer.named("outer"))
    outer.navigationDestination(for: Int.self) { number in
      Sign("outer \(number)", on: wall) { showing in
        showing.present(item: bindable.sheet.named("sheet")) { sheet in
          Sign("sheet \(sheet.wrappedValue.id)", on: wall) { showing in
            let inner = showing.stack(path: bindable.inner.named("inner"))
            inner.navigationDestination(for: Int.self) { Sign("inner \($0)", on: wall) }
            inner.push(item: bindable.note.named("note")) { Sign("note \($0.wrappedValue.id)", on: wall) }
          }
        }
      }
    }
  }
}
