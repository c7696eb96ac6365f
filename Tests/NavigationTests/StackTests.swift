import CoordinatorAPI
import DBusValues
import NavigationTesting
import Observation
import Synchronization
import TestSupport
import Testing
import TextFormats

@testable import Navigation

@MainActor @Observable
private final class Model {
  struct Note: Hashable, Codable, Identifiable {
    var id: Int
    var text: String?
  }
  var notes: [Note] = []
  var path: [Int] = []
  var reals: [Double] = []
  var mixed = NavigationPath()
  var note: Note? { didSet { changes.append(note?.id) } }
  var second: Note?
  var third: Note?
  @ObservationIgnored var changes: [Int?] = []
}

/// A value that counts how often it is encoded.
private struct Counted: Hashable, Codable {
  static let encodings = Mutex(0)
  var number: Int

  func encode(to encoder: any Encoder) throws {
    Self.encodings.withLock { $0 += 1 }
    try number.encode(to: encoder)
  }

  init(_ number: Int) { self.number = number }
  init(from decoder: any Decoder) throws { number = try Int(from: decoder) }
}

/// Stacks from paths: pushing, popping, editing, paths of several types, and paths that are saved.
@Suite struct StackTests {
  @Test("A value of a path is encoded only when its encoding is needed")
  @MainActor func pathValues_compared_areNotEncoded() {
    let values = (0..<400).map(Counted.init)
    let (path, longer) = (
      ArrayValues(values: values, type: "Counted"), ArrayValues(values: values + [Counted(400)], type: "Counted")
    )
    #expect(longer.kept(of: path, 400) == (400, []) && path.kept(of: longer, 401) == (400, []))
    #expect(Counted.encodings.withLock { $0 } == 0)
    #expect(longer.element(400).value == "400")
    #expect(Counted.encodings.withLock { $0 } == 1)
  }

  @Test("S1: appending to the path pushes, and shortening it pops", arguments: bothKinds)
  @MainActor func path_grownAndCut_pushesAndPops(_ kind: CoordinatorKind) async throws {
    let (fixture, model, _) = try await prepared(kind)
    model.path = [1]
    try await fixture.shows("1")
    model.path.append(2)
    try await fixture.shows("1", "2")
    model.path.removeLast()
    try await fixture.shows("1")
    #expect(fixture.display.log == ["+1", "+2", "-2"])
  }

  @Test("P2: an element of a path that is edited stays, and is updated", arguments: bothKinds)
  @MainActor func path_elementEdited_staysOnTheScreen(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.navigator.stack(path: Bindable(model).notes.named("notes").published())
      .navigationDestination(for: Model.Note.self) { RecordingScreen("\($0.id)", on: display) }
    model.notes = [.init(id: 1, text: "a"), .init(id: 2, text: "b")]
    try await fixture.shows("1", "2")
    #expect(try await fixture.coordinator.state().presentations.map(\.id) == ["1", "2"])
    // Another element is pushed above the edited one in the same turn.
    model.notes[0].text = "edited"
    model.notes.append(.init(id: 3, text: "c"))
    try await fixture.shows("1", "2", "3")
    await fixture.navigator.settle()
    #expect(
      try await fixture.coordinator.state().presentations.map { $0.value["text"] } == [
        .string("edited"), .string("b"), .string("c"),
      ])
    // An element with another id is another screen, even with the same text.
    model.notes[1] = .init(id: 4, text: "b")
    try await fixture.shows("1", "4", "3")
    #expect(display.log == ["+1", "+2", "+3", "-3", "-2", "+4", "+3"])
    // An element that stays has the value that it had when it was shown or edited.
    display.declining = ["1"]
    model.notes = []
    try await fixture.until { model.notes == [.init(id: 1, text: "edited")] }
  }

  @Test("P2: a screen edits its element of a path by its binding, until it is gone", arguments: bothKinds)
  @MainActor func path_bindingOfAnElement_editsIt(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    var texts: [Int: Binding<String?>] = [:]
    fixture.navigator.stack(path: Bindable(model).notes.named("notes").published())
      .navigationDestination(for: Binding<Model.Note>.self) { $note in
        texts[note.id] = $note.text
        return RecordingScreen("\(note.id)", on: display)
      }
    model.notes = [.init(id: 1, text: "a"), .init(id: 2, text: "b")]
    try await fixture.shows("1", "2")
    texts[2]?.wrappedValue = "bc"
    texts[2]?.wrappedValue?.append("d")
    #expect(model.notes.map(\.text) == ["a", "bcd"])
    await fixture.navigator.settle()
    #expect(
      try await fixture.coordinator.state().presentations.map { $0.value["text"] } == [.string("a"), .string("bcd")])
    model.notes[1] = .init(id: 3, text: "e")
    texts[2]?.wrappedValue = "of a note that is gone"
    #expect(texts[2]?.wrappedValue == "of a note that is gone" && model.notes.map(\.text) == ["a", "e"])
    try await fixture.shows("1", "3")
    #expect(display.log == ["+1", "+2", "-2", "+3"])
  }

  @Test("P2: an edited value of a path of several types is another one", arguments: bothKinds)
  @MainActor func path_bindingOfAMixedElement_presentsAnother(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    var numbers: [Binding<Int>] = []
    fixture.navigator.stack(path: Bindable(model).mixed.named("mixed"))
      .navigationDestination(for: Binding<Int>.self) { $number in
        numbers.append($number)
        return RecordingScreen("\(number)", on: display)
      }
    model.mixed = NavigationPath([1, 2])
    try await fixture.shows("1", "2")
    numbers[1].wrappedValue += 1
    numbers[1].wrappedValue += 1
    #expect(model.mixed == NavigationPath([1, 4]))
    try await fixture.shows("1", "4")
    #expect(display.log == ["+1", "+2", "-2", "+4"])
  }

  @Test("A value that is not a number (NaN) stays on the screen", arguments: bothKinds)
  @MainActor func path_notANumber_stays(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.navigator.stack(path: Bindable(model).reals.named("reals"))
      .navigationDestination(for: Double.self) { [display = fixture.display] in RecordingScreen("\($0)", on: display) }
    model.reals = [.nan]
    try await fixture.shows("nan")
    model.reals.append(1)
    try await fixture.shows("nan", "1.0")
    #expect(fixture.display.log == ["+nan", "+1.0"])
  }

  @Test("A path that differs at each reading is read once before it is written")
  @MainActor func path_differsAtEachReading_isWrittenAsItWasRead() {
    var readings = [[1]]
    var written: [[Int]] = []
    let path = PathState(
      Binding(
        named: .own("restless"), get: { readings.count > 1 ? readings.removeFirst() : readings[0] },
        set: { written.append($0) }))
    let number = path.binding(0, of: Int.self)
    readings = [[1], [], []]
    number?.wrappedValue = 2
    #expect(written == [])
    readings = [[1, 2, 3], [], [1, 2, 3], []]
    path.truncate(1)
    #expect(written == [[1]])
  }

  @Test("S3: closing the top screen removes its element from the path", arguments: bothKinds)
  @MainActor func path_topClosed_isCut(_ kind: CoordinatorKind) async throws {
    let (fixture, model, _) = try await prepared(kind)
    model.path = [1, 2, 3]
    try await fixture.shows("1", "2", "3")
    try await fixture.display["3"]?.close()
    try await fixture.until { model.path == [1, 2] }
    try await fixture.display["2"]?.close()
    try await fixture.until { model.path == [1] }
    #expect(fixture.display.names == ["1"])
  }

  @Test("S2: a pop by another client shortens the path", arguments: bothKinds)
  @MainActor func path_poppedByOthers_isCut(_ kind: CoordinatorKind) async throws {
    let (fixture, model, stack) = try await prepared(kind)
    model.path = [1, 2, 3]
    try await fixture.shows("1", "2", "3")
    try await fixture.coordinator.pop(2, from: stack.driver.name)
    try await fixture.until { model.path == [1] }
    try await fixture.shows("1")
  }

  @Test("S8: an item pushed above the path has its own state and ends with the screen below", arguments: bothKinds)
  @MainActor func push_itemAboveThePath_endsWithTheScreenBelow(_ kind: CoordinatorKind) async throws {
    let (fixture, model, stack) = try await prepared(kind)
    let display = fixture.display
    stack.push(item: Bindable(model).note) { RecordingScreen("note \($0.wrappedValue.id)", on: display) }
    model.path = [1]
    try await fixture.shows("1")
    model.note = .init(id: 9)
    try await fixture.shows("1", "note 9")
    // The new element of the path is pushed above the item.
    model.path.append(2)
    try await fixture.shows("1", "note 9", "2")
    model.path = [1]
    try await fixture.shows("1", "note 9")
    model.path = []
    try await fixture.shows()
    try await fixture.until { model.note == nil }
    #expect(model.changes == [9, nil])
  }

  @Test("S2: screens that push the next by their own state can be popped several at a time", arguments: bothKinds)
  @MainActor func push_nestedItems_popSeveral(_ kind: CoordinatorKind) async throws {
    let (fixture, model, stack) = try await prepared(kind)
    let (bindable, display) = (Bindable(model), fixture.display)
    stack.push(item: bindable.note) { note in
      RecordingScreen("note \(note.wrappedValue.id)", on: display) { showing in
        showing.push(item: bindable.second) { second in
          RecordingScreen("second \(second.wrappedValue.id)", on: display) { showing in
            showing.push(item: bindable.third) { RecordingScreen("third \($0.wrappedValue.id)", on: display) }
          }
        }
      }
    }
    (model.note, model.second, model.third) = (.init(id: 1), .init(id: 2), .init(id: 3))
    try await fixture.shows("note 1", "second 2", "third 3")
    try await fixture.display["note 1"]?.close()
    try await fixture.until { model.note == nil }
    try await fixture.shows()
    #expect(model.changes == [1, nil])
    #expect(model.second == nil && model.third == nil)
    // The first item can be pushed again afterwards.
    model.note = .init(id: 4)
    try await fixture.shows("note 4")
  }

  @Test("A value pushed by a screen is appended to the path of its stack", arguments: bothKinds)
  @MainActor func push_value_isAppended(_ kind: CoordinatorKind) async throws {
    let (fixture, model, _) = try await prepared(kind)
    model.path = [1]
    try await fixture.shows("1")
    fixture.display["1"]?.showing?.push(value: 2)
    try await fixture.shows("1", "2")
    #expect(model.path == [1, 2])
  }

  @Test("A path of several types shows each with its own screen", arguments: bothKinds)
  @MainActor func path_ofSeveralTypes_showsEachWithItsScreen(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    let display = fixture.display
    let model = Model()
    let stack = fixture.navigator.stack(path: Bindable(model).mixed.named("mixed"))
    stack.navigationDestination(for: Int.self) { RecordingScreen("number \($0)", on: display) }
    stack.navigationDestination(for: String.self) { RecordingScreen("text \($0)", on: display) }
    model.mixed.append(1)
    model.mixed.append("1")
    try await fixture.shows("number 1", "text 1")
    model.mixed.append(Model.Note(id: 3))
    model.mixed.append(4)
    await fixture.navigator.settle()
    // The path is cut at a value without a destination.
    #expect(fixture.display.names == ["number 1", "text 1"] && model.mixed.count == 2)
    stack.navigationDestination(for: Model.Note.self) { RecordingScreen("note \($0.id)", on: display) }
    model.mixed.append(Model.Note(id: 3))
    model.mixed.append(4)
    try await fixture.shows("number 1", "text 1", "note 3", "number 4")
    model.mixed.removeLast(3)
    try await fixture.shows("number 1")
  }

  @Test(
    "Decoded elements of a path are shown by destinations that are registered in the turn of their stack",
    arguments: bothKinds)
  @MainActor func path_decoded_isShownWhenItsTypesAreKnown(_ kind: CoordinatorKind) async throws {
    var path = NavigationPath()
    path.append(Model.Note(id: 1))
    path.append(2)
    let text = try Coding.json(of: path).text
    let fixture = try await NavigationFixture(kind)
    let display = fixture.display
    let model = Model()
    model.mixed = try #require(Coding.decode(NavigationPath.self, try JSON.parse(text)))
    #expect(model.mixed == path && model.mixed.count == 2)
    let stack = fixture.navigator.stack(path: Bindable(model).mixed.named("mixed"))
    stack.navigationDestination(for: Int.self) { RecordingScreen("number \($0)", on: display) }
    stack.navigationDestination(for: Model.Note.self) { RecordingScreen("note \($0.id)", on: display) }
    try await fixture.shows("note 1", "number 2")
  }

  @Test("If a destination for a type is registered twice, the last counts", arguments: bothKinds)
  @MainActor func destination_registeredTwice_lastCounts(_ kind: CoordinatorKind) async throws {
    let (fixture, model, stack) = try await prepared(kind)
    let display = fixture.display
    stack.navigationDestination(for: Int.self) { RecordingScreen("again \($0)", on: display) }
    model.path = [1]
    try await fixture.shows("again 1")
  }

  @Test("A push without a stack is reported as misuse and changes nothing") @MainActor
  func push_withoutAStack_isReported() async throws {
    let fixture = try await NavigationFixture(.embedded)
    let display = fixture.display
    let model = Model()
    let messages = MisuseLog.messages {
      fixture.navigator.push(item: Bindable(model).note) { _ in RecordingScreen("never", on: display) }
      fixture.navigator.push(value: 1)
      let stack = fixture.navigator.stack(path: Bindable(model).path.named("path"))
      stack.push(value: "text")
    }
    #expect(messages.count == 3)
    #expect(model.path.isEmpty)
  }

  @MainActor private func prepared(_ kind: CoordinatorKind) async throws -> (NavigationFixture, Model, ScreenStack) {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    return (fixture, model, fixture.numbers(model))
  }

  @Test("A saved path of private and local types can be read in another run, since their names have no address")
  func path_ofPrivateTypes_canBeRead() throws {
    struct Note: Hashable, Codable { var id: Int }
    let path = NavigationPath([Note(id: 1)])
    let text = try Coding.json(of: path).text
    #expect(text == #"[{"type":"NavigationTests.StackTests.(private).(private).Note","value":"{\"id\":1}"}]"#)
    #expect(Coding.decode(NavigationPath.self, try JSON.parse(text)) == path)
    #expect(path.elements[0].decoded(Note.self) == Note(id: 1))
  }

  @Test("Values of two private types of one name are told apart, and a path of both is not saved, but an error")
  func path_ofPrivateTypesOfOneName_isNotSaved() throws {
    func one() -> NavigationPath {
      struct Same: Hashable, Codable { var id: Int }
      return NavigationPath([Same(id: 1)])
    }
    func other() -> NavigationPath {
      struct Same: Hashable, Codable { var id: Int }
      return NavigationPath([Same(id: 1)])
    }
    let (first, second) = (one(), other())
    #expect(first != second)
    _ = try Coding.json(of: first)
    #expect(throws: EncodingError.self) { try Coding.json(of: second) }
  }
}

extension NavigationFixture {
  @discardableResult
  fileprivate func numbers(_ model: Model) -> ScreenStack {
    let stack = navigator.stack(path: Bindable(model).path.named("path"))
    stack.navigationDestination(for: Int.self) { [display] in RecordingScreen("\($0)", on: display) }
    return stack
  }
}
