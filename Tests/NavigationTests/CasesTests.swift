import NavigationTesting
import Observation
import Testing

@testable import Navigation

private struct Note: Codable, Hashable, Identifiable {
  var id: Int
  var text = ""
}

private enum Place: Hashable, HasCases, HasBoundCases {
  case edit(Note)
  case confirm(Int)
  case help

  struct Cases {
    let edit = EnumCase("edit", { Place.edit($0) }) { if case .edit(let note) = $0 { note } else { nil } }
    let confirm = EnumCase("confirm", { Place.confirm($0) }) { if case .confirm(let id) = $0 { id } else { nil } }
    let help = EnumCase("help", { Place.help }) { if case .help = $0 { () } else { nil } }
  }
  static let cases = Cases()

  enum BoundCase {
    case edit(Binding<Note>)
    case confirm(Binding<Int>)
    case help
  }
  static func bound(to place: Binding<Place>) -> BoundCase {
    switch place.wrappedValue {
    case .edit: .edit(place.edit!)
    case .confirm: .confirm(place.confirm!)
    case .help: .help
    }
  }
}

@MainActor @Observable
private final class Model: Navigable {
  static let memberNames: MemberNames<Model> = [\.place: "place", \.shape: "shape"]
  var place: Place?
  var shape = Place.help
}

/// Cases of enums as members of bindings, and presented as one group.
@Suite @MainActor struct CasesTests {
  @Test("Cases are members of the binding of an optional enum") func case_ofAnOptional_isAMember() {
    let model = Bindable(Model(), .shared("model"))
    #expect(model.place.edit == model.place.case(Place.cases.edit))
    #expect(model.place.edit.route.text(client: "1-7") == "model.place.edit")
    #expect(model.place.edit.wrappedValue == nil)
    model.wrappedValue.place = .edit(Note(id: 1))
    model.place.edit.text.wrappedValue = "a"
    #expect(model.wrappedValue.place == .edit(Note(id: 1, text: "a")))
    model.place.edit.wrappedValue = nil
    #expect(model.wrappedValue.place == nil)
    model.wrappedValue.place = .help
    #expect(Binding<Bool>(model.place.help).wrappedValue)
  }

  @Test("Cases are members of the binding of an enum") func case_ofAnEnum_isAMember() throws {
    let model = Bindable(Model())
    #expect(model.shape.edit == nil)
    model.wrappedValue.shape = .edit(Note(id: 1))
    let text = try #require(model.shape.edit).text
    text.wrappedValue = "a"
    #expect(model.wrappedValue.shape == .edit(Note(id: 1, text: "a")))
  }

  @Test("A switch over the cases of a binding has bindings of the payloads") func switch_overCases_bindsPayloads() {
    let model = Bindable(Model())
    model.wrappedValue.shape = .confirm(1)
    switch model.shape.cases {
    case .confirm(let $id): $id.wrappedValue += 1
    case .edit, .help: Issue.record("another case")
    }
    #expect(model.wrappedValue.shape == .confirm(2))
    guard case nil = model.place.cases else { return #expect(Bool(false)) }
    model.wrappedValue.place = .edit(Note(id: 1))
    switch model.place.cases {
    case .edit(let $note): $note.text.wrappedValue = "a"
    case .confirm, .help, nil: Issue.record("another case")
    }
    #expect(model.wrappedValue.place == .edit(Note(id: 1, text: "a")))
  }

  @Test("A case of an enum is read and modified as a value") func case_ofAValue_isReadAndModified() {
    let model = Model()
    #expect(!model.place.is(\.edit) && model.shape.is(\.help))
    model.place = .edit(Note(id: 1))
    #expect(model.place.is(\.edit) && !model.place.is(\.help))
    #expect(model.place?[case: \.edit]?.id == 1 && model.place?[case: \.confirm] == nil)
    model.place?.modify(\.edit) { $0.text = "a" }
    #expect(model.place == .edit(Note(id: 1, text: "a")))
    #expect(MisuseLog.messages { model.place?.modify(\.confirm) { $0 += 1 } }.count == 1)
    #expect(throws: CancellationError.self) {
      try model.place?.modify(\.edit) {
        $0.text = "b"
        throw CancellationError()
      }
    }
    #expect(model.place == .edit(Note(id: 1, text: "a")))
  }

  @Test("G1: cases as members are one group: each appears when the other is gone", arguments: bothKinds)
  func cases_presented_oneAtATime(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let (place, display) = (Bindable(model).place, fixture.display)
    fixture.navigator.present(item: place.edit) { $note in RecordingScreen("edit \(note.id)", on: display) }
    fixture.navigator.present(item: place.confirm, id: \.self) { $id in RecordingScreen("confirm \(id)", on: display) }
    fixture.navigator.present(isPresented: Binding(place.help)) { RecordingScreen("help", on: display) }
    model.place = .edit(Note(id: 1))
    try await fixture.shows("edit 1")
    model.place = .confirm(2)
    try await fixture.shows("confirm 2")
    model.place = .help
    try await fixture.shows("help")
    try await fixture.display["help"]?.close()
    try await fixture.until { model.place == nil }
    #expect(display.log == ["+edit 1", "-edit 1", "+confirm 2", "-confirm 2", "+help", "xhelp"])
  }
}
