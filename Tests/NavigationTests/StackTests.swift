// Why this file exists: what people know from navigation stacks that follow a path holds here.

import CoordinatorAPI
import Observation
import TestSupport
import Testing
import TextFormats

@testable import Navigation

@MainActor @Observable
private final class Model {
  struct Note: Hashable, Codable, Identifiable { var id: Int }
  var path: [Int] = []
  var mixed = NavigationPath()
  var note: Note? { didSet { changes.append(note?.id) } }
  var second: Note?
  var third: Note?
  @ObservationIgnored var changes: [Int?] = []
}

@Suite struct StackTests {
  @Test("S1: pushed and popped by the path", arguments: Coordinating.allCases)
  @MainActor func path_grownAndCut_pushesAndPops(_ coordinating: Coordinating) async throws {
    let (stage, model, _) = try await prepared(coordinating)
    model.path = [1]
    try await stage.shows("1")
    model.path.append(2)
    try await stage.shows("1", "2")
    model.path.removeLast()
    try await stage.shows("1")
    #expect(stage.wall.log == ["+1", "+2", "-2"])
  }

  @Test("C2, S1: a deep link", arguments: Coordinating.allCases)
  @MainActor func path_setBefore_isShownInOrder(_ coordinating: Coordinating) async throws {
    let stage = try await Stage(coordinating)
    let model = Model()
    model.path = [1, 2, 3, 4]
    stage.numbers(model)
    try await stage.shows("1", "2", "3", "4")
    #expect(stage.wall.log == ["+1", "+2", "+3", "+4"])
  }

  @Test("S5: equal values stand in it twice", arguments: Coordinating.allCases)
  @MainActor func path_duplicates_areTwoScreens(_ coordinating: Coordinating) async throws {
    let (stage, model, _) = try await prepared(coordinating)
    model.path = [1, 1, 1]
    try await stage.shows("1", "1", "1")
    model.path.removeLast(2)
    try await stage.shows("1")
  }

  @Test("S2: several popped at once go from the top", arguments: Coordinating.allCases)
  @MainActor func path_severalRemoved_goFromTheTop(_ coordinating: Coordinating) async throws {
    let (stage, model, _) = try await prepared(coordinating)
    model.path = [1, 2, 3, 4]
    try await stage.shows("1", "2", "3", "4")
    model.path.removeLast(3)
    try await stage.shows("1")
    #expect(stage.wall.log.suffix(3) == ["-4", "-3", "-2"])
    model.path = []
    try await stage.shows()
  }

  @Test("S5: reordered", arguments: Coordinating.allCases)
  @MainActor func path_reordered_keepsTheCommonBeginning(_ coordinating: Coordinating) async throws {
    let (stage, model, _) = try await prepared(coordinating)
    model.path = [1, 2, 3]
    try await stage.shows("1", "2", "3")
    model.path = [1, 3, 2]
    try await stage.shows("1", "3", "2")
    #expect(stage.wall.log.suffix(4) == ["-3", "-2", "+3", "+2"])
    #expect(model.path == [1, 3, 2])
  }

  @Test("S3: the top is closed by its user", arguments: Coordinating.allCases)
  @MainActor func path_topClosed_isCut(_ coordinating: Coordinating) async throws {
    let (stage, model, _) = try await prepared(coordinating)
    model.path = [1, 2, 3]
    try await stage.shows("1", "2", "3")
    try await stage.wall["3"]?.close()
    try await stage.until { model.path == [1, 2] }
    try await stage.wall["2"]?.close()
    try await stage.until { model.path == [1] }
    #expect(stage.wall.names == ["1"])
  }

  @Test("S3: the middle is closed by its user", arguments: Coordinating.allCases)
  @MainActor func path_middleClosed_popsWhatIsAbove(_ coordinating: Coordinating) async throws {
    let (stage, model, _) = try await prepared(coordinating)
    model.path = [1, 2, 3, 4]
    try await stage.shows("1", "2", "3", "4")
    try await stage.wall["2"]?.close()
    try await stage.until { model.path == [1] }
    try await stage.shows("1")
    model.path.append(5)
    try await stage.shows("1", "5")
  }

  @Test("S2: popped by others", arguments: Coordinating.allCases)
  @MainActor func path_poppedByOthers_isCut(_ coordinating: Coordinating) async throws {
    let (stage, model, stack) = try await prepared(coordinating)
    model.path = [1, 2, 3]
    try await stage.shows("1", "2", "3")
    try await stage.coordinator.pop(stack.driver.name, 2)
    try await stage.until { model.path == [1] }
    try await stage.shows("1")
  }

  @Test("S8: a leaf that is not in the path", arguments: Coordinating.allCases)
  @MainActor func push_itemAboveThePath_livesAndGoesWithIt(_ coordinating: Coordinating) async throws {
    let (stage, model, stack) = try await prepared(coordinating)
    stack.push(item: Bindable(model).note) { Sign("note \($0.wrappedValue.id)", on: stage.wall) }
    model.path = [1]
    try await stage.shows("1")
    model.note = .init(id: 9)
    try await stage.shows("1", "note 9")
    // More of the path goes above it.
    model.path.append(2)
    try await stage.shows("1", "note 9", "2")
    model.path = [1]
    try await stage.shows("1", "note 9")
    model.path = []
    try await stage.shows()
    try await stage.until { model.note == nil }
    #expect(model.changes == [9, nil])
  }

  @Test(
    "S2: a screen pushes the next by its own state; popping several sets none in between",
    arguments: Coordinating.allCases)
  @MainActor func push_nestedItems_popSeveral(_ coordinating: Coordinating) async throws {
    let (stage, model, stack) = try await prepared(coordinating)
    let (bindable, wall) = (Bindable(model), stage.wall)
    stack.push(item: bindable.note) { note in
      Sign("note \(note.wrappedValue.id)", on: wall) { showing in
        showing.push(item: bindable.second) { second in
          Sign("second \(second.wrappedValue.id)", on: wall) { showing in
            showing.push(item: bindable.third) { Sign("third \($0.wrappedValue.id)", on: wall) }
          }
        }
      }
    }
    (model.note, model.second, model.third) = (.init(id: 1), .init(id: 2), .init(id: 3))
    try await stage.shows("note 1", "second 2", "third 3")
    try await stage.wall["note 1"]?.close()
    try await stage.until { model.note == nil }
    try await stage.shows()
    #expect(model.changes == [1, nil])
    #expect(model.second == nil && model.third == nil)
    // And again.
    model.note = .init(id: 4)
    try await stage.shows("note 4")
  }

  @Test("S4: a pushed item's id changes", arguments: Coordinating.allCases)
  @MainActor func push_idChanges_presentsAgain(_ coordinating: Coordinating) async throws {
    let (stage, model, stack) = try await prepared(coordinating)
    stack.push(item: Bindable(model).note) { Sign("note \($0.wrappedValue.id)", on: stage.wall) }
    model.note = .init(id: 1)
    try await stage.shows("note 1")
    model.note = .init(id: 2)
    try await stage.shows("note 2")
    #expect(stage.wall.log == ["+note 1", "-note 1", "+note 2"])
  }

  @Test("A value pushed from a screen goes on its stack's path", arguments: Coordinating.allCases)
  @MainActor func push_value_isAppended(_ coordinating: Coordinating) async throws {
    let (stage, model, _) = try await prepared(coordinating)
    model.path = [1]
    try await stage.shows("1")
    stage.wall["1"]?.showing?.push(value: 2)
    try await stage.shows("1", "2")
    #expect(model.path == [1, 2])
  }

  @Test("A path of many types", arguments: Coordinating.allCases)
  @MainActor func path_ofManyTypes_showsEachWithItsOwn(_ coordinating: Coordinating) async throws {
    let stage = try await Stage(coordinating)
    let model = Model()
    let stack = stage.navigator.stack(path: Bindable(model).mixed.named("mixed"))
    stack.navigationDestination(for: Int.self) { Sign("number \($0)", on: stage.wall) }
    stack.navigationDestination(for: String.self) { Sign("text \($0)", on: stage.wall) }
    model.mixed.append(1)
    model.mixed.append("1")
    try await stage.shows("number 1", "text 1")
    model.mixed.append(Model.Note(id: 3))
    model.mixed.append(4)
    await stage.navigator.settle()
    // What nobody makes screens of waits, with what is above it.
    #expect(stage.wall.names == ["number 1", "text 1"])
    stack.navigationDestination(for: Model.Note.self) { Sign("note \($0.id)", on: stage.wall) }
    try await stage.shows("number 1", "text 1", "note 3", "number 4")
    model.mixed.removeLast(3)
    try await stage.shows("number 1")
  }

  @Test("A path decoded from JSON is decoded further when somebody knows its types", arguments: Coordinating.allCases)
  @MainActor func path_decoded_isShownWhenItsTypesAreKnown(_ coordinating: Coordinating) async throws {
    var path = NavigationPath()
    path.append(Model.Note(id: 1))
    path.append(2)
    let text = try Coding.json(of: path).text
    let stage = try await Stage(coordinating)
    let model = Model()
    model.mixed = try #require(Coding.decode(NavigationPath.self, try JSON.parse(text)))
    #expect(model.mixed == path && model.mixed.count == 2)
    let stack = stage.navigator.stack(path: Bindable(model).mixed.named("mixed"))
    stack.navigationDestination(for: Int.self) { Sign("number \($0)", on: stage.wall) }
    await stage.navigator.settle()
    #expect(stage.wall.log.isEmpty)
    stack.navigationDestination(for: Model.Note.self) { Sign("note \($0.id)", on: stage.wall) }
    try await stage.shows("note 1", "number 2")
  }

  @Test("A type that is given twice: the last counts", arguments: Coordinating.allCases)
  @MainActor func destination_givenTwice_lastCounts(_ coordinating: Coordinating) async throws {
    let (stage, model, stack) = try await prepared(coordinating)
    stack.navigationDestination(for: Int.self) { Sign("again \($0)", on: stage.wall) }
    model.path = [1]
    try await stage.shows("again 1")
  }

  @Test("T1: path and item change at once", arguments: Coordinating.allCases)
  @MainActor func path_replacedAtOnce_endsAsItWasSet(_ coordinating: Coordinating) async throws {
    let (stage, model, _) = try await prepared(coordinating)
    for length in [3, 1, 5, 0, 4, 2] {
      model.path = (0..<length).map { $0 * 10 + length }
    }
    try await stage.shows("2", "12")
    #expect(stage.wall.log == ["+2", "+12"])
  }

  @Test("Misuse is told, and changes nothing") @MainActor func push_withoutAStack_isTold() async throws {
    let stage = try await Stage(.embedded)
    let (model, told) = (Model(), Told())
    // Nothing is awaited until it is taken back, so that no other test is heard.
    Misuse.report { message, _, _ in told.add(message) }
    defer { Misuse.report(to: nil) }
    stage.navigator.push(item: Bindable(model).note) { _ in Sign("never", on: stage.wall) }
    stage.navigator.push(value: 1)
    let stack = stage.navigator.stack(path: Bindable(model).path.named("path"))
    stack.push(value: "text")
    #expect(told.messages.count == 3)
    #expect(model.path.isEmpty)
  }

  @MainActor private func prepared(_ coordinating: Coordinating) async throws -> (Stage, Model, NavigationStack) {
    let (stage, model) = (try await Stage(coordinating), Model())
    return (stage, model, stage.numbers(model))
  }
}

extension Stage {
  @discardableResult
  fileprivate func numbers(_ model: Model) -> NavigationStack {
    let stack = navigator.stack(path: Bindable(model).path.named("path"))
    stack.navigationDestination(for: Int.self) { [wall] in Sign("\($0)", on: wall) }
    return stack
  }
}
