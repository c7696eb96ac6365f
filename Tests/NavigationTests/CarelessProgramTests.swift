import NavigationTesting
import Observation
import TestSupport
import Testing

@testable import Navigation

@MainActor @Observable
private final class Model {
  struct Sheet: Hashable, Codable, Identifiable {
    var id: Int
    var text = ""
  }
  /// A value whose identity is not equal to itself while it is not a number.
  struct Reading: Codable, Identifiable {
    var id: Double
    var text = ""
  }
  /// A value that JSON does not have as a whole.
  struct Draft: Hashable, Codable, Identifiable {
    var id: Int
    var text = ""
    private enum CodingKeys: CodingKey { case id }

    init(id: Int, text: String) { (self.id, self.text) = (id, text) }
  }

  var note: Sheet?
  var other: Sheet?
  var reading: Reading?
  var path: [Sheet] = []
  var drafts: [Draft] = []
  var first = false
}

/// The fields of screens, by the ids of their elements.
@MainActor
private final class Fields { var texts: [Int: Binding<String>] = [:] }

extension NavigationFixture {
  /// Shows the elements of the path, with a field each.
  fileprivate func showPath(of model: Model) -> Fields {
    let fields = Fields()
    navigator.stack(path: Bindable(model).path.named("path"))
      .navigationDestination(for: Binding<Model.Sheet>.self) { [display] $note in
        fields.texts[note.id] = $note.text
        return RecordingScreen("\(note.id)", on: display)
      }
    return fields
  }
}

/// Programs that are careless with state and with showings.
@Suite @MainActor struct CarelessProgramTests {
  // MARK: Showings that are used too late

  @Test(
    "An item that is presented from a screen that has ended is not shown, replaces no other item, and is not retained",
    arguments: bothKinds)
  func showing_usedAfterItsEnd_presentsNothing(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    let other = Bindable(model).other.named("other")
    fixture.navigator.present(item: Bindable(model).note.named("note")) { note in
      RecordingScreen("note \(note.wrappedValue.id)", on: display) { showing in
        showing.present(item: other) { RecordingScreen("other \($0.wrappedValue.id)", on: display) }
      }
    }
    model.note = .init(id: 1)
    try await fixture.shows("note 1")
    let late = try #require(display["note 1"]?.showing)
    model.note = .init(id: 2)
    try await fixture.shows("note 2")
    try await fixture.isPresented()

    weak var kept: Display?
    do {
      let used = Display()
      kept = used
      late.present(item: other) { _ in RecordingScreen("late", on: used) }
      late.stack(path: Bindable(model).path.named("path")).navigationDestination(for: Model.Sheet.self) { _ in
        RecordingScreen("late", on: used)
      }
    }
    #expect(kept == nil)
    model.path = [.init(id: 1)]
    model.other = .init(id: 3)
    try await fixture.shows("note 2", "other 3")
    await fixture.navigator.settle()
    #expect(display.names == ["note 2", "other 3"] && model.other?.id == 3)
  }

  @Test("A destination of a path that a screen declares after its end has no effect", arguments: bothKinds)
  func destination_declaredAfterTheEnd_hasNoEffect(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.navigator.stack(path: Bindable(model).path.named("path")).navigationDestination(for: Model.Sheet.self) {
      RecordingScreen("\($0.id)", on: display)
    }
    model.path = [.init(id: 1)]
    try await fixture.shows("1")
    let late = try #require(display["1"]?.showing)
    model.path = []
    try await fixture.shows()
    try await fixture.state { $0.presentations.isEmpty }
    await fixture.navigator.settle()
    late.navigationDestination(for: Model.Sheet.self) { _ in RecordingScreen("late", on: display) }
    model.path = [.init(id: 2)]
    try await fixture.shows("2")
    // Nor has a push from there.
    late.push(value: Model.Sheet(id: 3))
    late.push(item: Bindable(model).other.named("other")) { _ in RecordingScreen("late", on: display) }
    model.other = .init(id: 3)
    await fixture.navigator.settle()
    #expect(model.path.map(\.id) == [2] && model.other?.id == 3 && display.names == ["2"])
  }

  @Test(
    "A model with the name of one that is gone has a screen of its own, after that of the other one",
    arguments: bothKinds)
  func model_withTheNameOfOneThatIsGone_hasItsOwnScreen(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    let display = fixture.display
    @MainActor func present(_ model: Model, _ name: String) {
      let binding = Bindable(model, .own("successor")).first.named("window")
      model.first = true
      fixture.navigator.present(isPresented: binding) { RecordingScreen(name, on: display) }
    }
    present(Model(), "former")
    try await fixture.isPresented()
    // The screen of the former model has unsaved text, so that it stays until its user closes it.
    display.declining = ["former"]
    let model = Model()
    present(model, "next")
    try await fixture.until { display.disappearing == ["former"] }
    await fixture.navigator.settle()
    #expect(display.names == ["former"] && model.first)
    try await display["former"]?.close()
    try await fixture.shows("next")
    #expect(model.first && display.log == ["+former", "xformer", "+next"])
  }

  @Test(
    "The third model of a name has its screen after that of the first, which has unsaved text",
    arguments: bothKinds, [true, false])
  func model_thirdOfAName_hasItsOwnScreen(_ kind: CoordinatorKind, _ isCancelled: Bool) async throws {
    let fixture = try await NavigationFixture(kind)
    let display = fixture.display
    @MainActor func present(_ model: Model, _ name: String) -> Presence {
      let binding = Bindable(model, .own("successor")).first.named("window")
      model.first = true
      return fixture.navigator.present(isPresented: binding) { RecordingScreen(name, on: display) }
    }
    _ = present(Model(), "first")
    try await fixture.isPresented()
    display.declining = ["first"]
    let second = present(Model(), "second")
    try await fixture.until { display.disappearing == ["first"] }
    if isCancelled { second.cancel() }
    let model = Model()
    _ = present(model, "third")
    await fixture.navigator.settle()
    #expect(display.names == ["first"] && model.first)
    try await display["first"]?.close()
    try await fixture.shows("third")
    await fixture.navigator.settle()
    #expect(model.first && display.log == ["+first", "xfirst", "+third"])
  }

  // MARK: Texts

  @Test(
    "P15: a text that a screen writes in the turn in which its item is set to nil stays, if the screen declines",
    arguments: bothKinds)
  func item_writtenInTheTurnOfItsEnd_isWrittenBack(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    var text: Binding<String>?
    fixture.navigator.present(item: Bindable(model).note.named("note")) { $note in
      text = $note.text
      return RecordingScreen("note", on: display)
    }
    model.note = .init(id: 1)
    try await fixture.isPresented()
    display.declining = ["note"]
    text?.wrappedValue = "typed"
    #expect(text?.wrappedValue == "typed")
    model.note = nil
    try await fixture.until { model.note != nil }
    #expect(model.note?.text == "typed" && text?.wrappedValue == "typed")
  }

  @Test(
    "P15: a text that a screen of a path writes when its element is removed, and while it is asked, stays",
    arguments: bothKinds)
  func element_writtenWhileItLeaves_isWrittenBack(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let (display, fields) = (fixture.display, fixture.showPath(of: model))
    model.path = [.init(id: 1), .init(id: 2)]
    try await fixture.state { $0.presentations.map(\.phase) == [.presented, .presented] }
    (display.asking, display.declining) = (["2"], ["2"])
    fields.texts[2]?.wrappedValue = "typed"
    model.path = []
    try await fixture.until { display.disappearing == ["2"] }
    #expect(fields.texts[2]?.wrappedValue == "typed")
    fields.texts[2]?.wrappedValue = "typed further"
    display.asking = []
    try await fixture.until { model.path.count == 2 }
    #expect(model.path.map(\.text) == ["", "typed further"] && fields.texts[2]?.wrappedValue == "typed further")
    // The binding still is that of the element.
    fields.texts[2]?.wrappedValue = "and more"
    #expect(model.path.map(\.text) == ["", "and more"])
  }

  @Test(
    "P15: a text that the screen of an element writes as it goes is not that of a later element in its place",
    arguments: bothKinds)
  func element_goneAndThereAgain_hasItsOwnText(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    var text: Binding<String>?
    fixture.navigator.stack(path: Bindable(model).path.named("path"))
      .navigationDestination(for: Binding<Model.Sheet>.self) { $note in
        text = $note.text
        return RecordingScreen("\(note.id)", on: display)
      }
    model.path = [.init(id: 1)]
    try await fixture.isPresented()
    display.asking = ["1"]
    model.path = []
    try await fixture.until { display.disappearing == ["1"] }
    text?.wrappedValue = "typed"
    display.asking = []
    try await fixture.state { $0.presentations.isEmpty }
    await fixture.navigator.settle()
    model.path = [.init(id: 1)]
    try await fixture.isPresented()
    display.declining = ["1"]
    model.path = []
    try await fixture.until { model.path.count == 1 }
    #expect(model.path.map(\.text) == [""])
  }

  @Test(
    "An element of a path that its user edits and closes in one turn is removed, and not shown again",
    arguments: bothKinds)
  func element_writtenInTheTurnOfItsClose_isRemoved(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let (display, fields) = (fixture.display, fixture.showPath(of: model))
    for turns in 0..<8 {
      model.path = [.init(id: 1), .init(id: 2)]
      try await fixture.state { $0.presentations.map(\.phase) == [.presented, .presented] }
      let closing = Task { try await display["2"]?.close() }
      for _ in 0..<turns { await Task.yield() }
      fields.texts[2]?.wrappedValue = "typed"
      try await closing.value
      try await fixture.until { model.path.map(\.id) == [1] }
      await fixture.navigator.settle()
      try await fixture.shows("1")
      #expect(model.path.map(\.id) == [1] && display.log == ["+1", "+2", "x2"], "after \(turns) turns")
      model.path = []
      try await fixture.shows()
      display.log = []
    }
  }

  @Test(
    "P15: a text that a screen writes while it is asked is written back by a later presence of its state, too",
    arguments: bothKinds, [true, false])
  func item_presentedAgainWhileShown_isWrittenBack(_ kind: CoordinatorKind, _ isCancelled: Bool) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    var text: Binding<String>?
    func present() -> Presence {
      fixture.navigator.present(item: Bindable(model).note.named("note")) { $note in
        text = $note.text
        return RecordingScreen("note", on: display)
      }
    }
    let presence = present()
    model.note = .init(id: 1)
    try await fixture.isPresented()
    if isCancelled { presence.cancel() }
    _ = present()
    await fixture.navigator.settle()
    #expect(display.log == ["+note"])
    (display.asking, display.declining) = (["note"], ["note"])
    model.note = nil
    try await fixture.until { display.disappearing == ["note"] }
    text?.wrappedValue = "typed"
    display.asking = []
    try await fixture.until { model.note != nil }
    #expect(model.note?.text == "typed")
  }

  @Test("P15: a value of a path is written back as it was, with what JSON does not have", arguments: bothKinds)
  func element_notWholeInJSON_isWrittenBackWhole(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.navigator.stack(path: Bindable(model).drafts.named("drafts"))
      .navigationDestination(for: Model.Draft.self) { RecordingScreen("\($0.id)", on: display) }
    let drafts = [Model.Draft(id: 1, text: "one"), Model.Draft(id: 2, text: "two")]
    model.drafts = drafts
    try await fixture.state { $0.presentations.map(\.phase) == [.presented, .presented] }
    display.declining = ["2"]
    model.drafts = []
    try await fixture.until { model.drafts.count == 2 }
    #expect(model.drafts == drafts)
  }

  @Test("A second stack of one path is reported, and declares its screens on the first", arguments: bothKinds)
  func path_hasTwoStacks_isReported(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let (display, path) = (fixture.display, Bindable(model).path.named("path-\(kind)"))
    _ = fixture.navigator.stack(path: path)
    let messages = MisuseLog.messages {
      fixture.navigator.stack(path: path)
        .navigationDestination(for: Model.Sheet.self) { RecordingScreen("\($0.id)", on: display) }
    }
    #expect(messages.count == 1 && messages[0].contains("has two stacks, of which the first counts"))
    model.path = [Model.Sheet(id: 1), Model.Sheet(id: 2)]
    try await fixture.shows("1", "2")
    model.path = []
    try await fixture.shows()
  }

  @Test("A screen edits an item whose id is not a number (NaN)", arguments: bothKinds)
  func item_idIsNotANumber_isEdited(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let (display, binding) = (fixture.display, Bindable(model).reading.named("reading").published())
    var text: Binding<String>?
    fixture.navigator.present(item: binding) { $reading in
      text = $reading.text
      return RecordingScreen("reading", on: display)
    }
    model.reading = .init(id: .nan)
    try await fixture.isPresented()
    text?.wrappedValue = "typed"
    #expect(model.reading?.text == "typed")
    await fixture.navigator.settle()
    try await fixture.coordinator.update(fixture.text(binding), ["text": .string("of another")])
    try await fixture.until { model.reading?.text == "of another" }
    display.declining = ["reading"]
    model.reading = nil
    try await fixture.until { display.disappearing == ["reading"] && model.reading != nil }
    #expect(model.reading?.text == "of another" && display.log == ["+reading"])
  }

  @Test("Two bindings with a number that is none (NaN) are kept equal by either")
  func bind_notANumber_takesTheLaterWrite() async {
    let first = Binding(wrappedValue: Double.nan)
    let second = Binding(wrappedValue: 0.0)
    let connection = bind(first, to: second)
    #expect(second.wrappedValue.isNaN)
    second.wrappedValue = 5
    for _ in 0..<10 { await Task.yield() }
    #expect(first.wrappedValue == 5 && second.wrappedValue == 5)
    withExtendedLifetime(connection) {}
  }
}
