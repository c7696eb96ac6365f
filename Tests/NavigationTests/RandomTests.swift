// Why this file exists: nobody thinks of every order in which a program, its users and other clients can change the same
// state; whatever they did, in the end the model, the wall and the coordinator say the same.

import CoordinatorAPI
import DBusValues
import Observation
import PresentationModel
import TestSupport
import Testing

@testable import Navigation

@MainActor @Observable
private final class Model {
  struct Item: Hashable, Codable, Identifiable {
    var id: Int
    var text = ""
  }
  var sheet: Item?
  /// Presented from the sheet.
  var note: Item?
  /// Presented from the note.
  var detail: Item?
  var path: [Int] = []
  /// On the same stack.
  var pushed: Item?
  var selection: String?
  var isPresented = false

  /// What is to be on the wall.
  var signs: [String] {
    var signs = path.map { "page \($0)" }
    if let pushed { signs.append("pushed \(pushed.id)") }
    if let selection { signs.append("tag \(selection)") }
    if isPresented { signs.append("panel") }
    if let sheet {
      signs.append("sheet \(sheet.id)")
      if let note {
        signs.append("note \(note.id)")
        if let detail { signs.append("detail \(detail.id)") }
      }
    }
    return signs.sorted()
  }
}

@Suite @MainActor struct RandomTests {
  fileprivate static let tags = ["a", "b", "c"]
  /// In each of the two worlds.
  private static let operations = 2000

  @Test("Whatever is done, all agree in the end", arguments: Coordinating.allCases)
  func anything_done_allAgree(_ coordinating: Coordinating) async throws {
    let seed = SeededNumbers.chosenSeed
    var numbers = SeededNumbers(seed: seed)
    let (stage, model) = (try await Stage(coordinating), Model())
    var refusals: [NavigationError] = []
    stage.navigator.onRefused = { refusals.append($0) }
    let bindings = stage.present(model)
    // Others can select by name what was asked for once.
    for tag in Self.tags {
      model.selection = tag
      await stage.navigator.settle()
    }
    for _ in 0..<Self.operations {
      await stage.change(model, bindings, &numbers)
      for _ in 0..<Int.random(in: 0..<6, using: &numbers) { await Task.yield() }
    }
    (stage.wall.stuck, stage.wall.slow) = ([], [])
    try await stage.agrees(model, seed)
    // That a parent has just gone is nobody's mistake.
    #expect(refusals.isEmpty, "NAVD_SEED=\(seed)")
  }
}

extension Stage {
  /// The names of what others change.
  fileprivate struct Bindings {
    var items: [String]
    var group: String
    var stack: String
  }

  fileprivate func present(_ model: Model) -> Bindings {
    let (bindable, wall) = (Bindable(model), wall)
    let (note, detail) = (bindable.note.named("note"), bindable.detail.named("detail"))
    navigator.present(item: bindable.sheet.named("sheet")) { sheet in
      Sign("sheet \(sheet.wrappedValue.id)", on: wall) { showing in
        showing.present(item: note) { note in
          Sign("note \(note.wrappedValue.id)", on: wall) { showing in
            showing.present(item: detail) { Sign("detail \($0.wrappedValue.id)", on: wall) }
          }
        }
      }
    }
    let stack = navigator.stack(path: bindable.path.named("path"))
    stack.navigationDestination(for: Int.self) { Sign("page \($0)", on: wall) }
    stack.push(item: bindable.pushed.named("pushed")) { Sign("pushed \($0.wrappedValue.id)", on: wall) }
    let selection = bindable.selection.named("selection")
    for tag in RandomTests.tags { navigator.present(tag: tag, selection: selection) { Sign("tag \(tag)", on: wall) } }
    navigator.present(isPresented: bindable.isPresented.named("panel")) { Sign("panel", on: wall) }
    let items = [text(bindable.sheet.named("sheet")), text(note), text(detail), text(bindable.pushed.named("pushed"))]
    return Bindings(items: items, group: text(selection), stack: text(bindable.path.named("path")))
  }

  fileprivate func change(_ model: Model, _ bindings: Bindings, _ numbers: inout SeededNumbers) async {
    func item() -> Model.Item? {
      numbers.chance(0.3) ? nil : .init(id: Int.random(in: 1...3, using: &numbers))
    }
    switch Int.random(in: 0..<20, using: &numbers) {
    case 0, 1: model.sheet = item()
    case 2, 3: model.note = item()
    case 4: model.detail = item()
    case 5: model.pushed = item()
    case 6: model.path.append(Int.random(in: 1...3, using: &numbers))
    case 7: if !model.path.isEmpty { model.path.removeLast(Int.random(in: 1...model.path.count, using: &numbers)) }
    case 8:
      model.path = (0..<Int.random(in: 0..<4, using: &numbers)).map { _ in Int.random(in: 1...3, using: &numbers) }
    case 9, 10: model.selection = numbers.chance(0.3) ? nil : numbers.pick(RandomTests.tags)
    case 11: model.isPresented.toggle()
    case 12: model.sheet?.text += "."
    // A user.
    case 13, 14, 15: if !wall.signs.isEmpty { try? await numbers.pick(wall.signs).close() }
    // Another client.
    case 16: _ = try? await coordinator.dismiss(numbers.pick(bindings.items))
    case 17: _ = try? await coordinator.toggleSelection(bindings.group, numbers.pick(RandomTests.tags))
    case 18: _ = try? await coordinator.pop(bindings.stack, Int.random(in: 1...2, using: &numbers))
    // A screen takes its time.
    default:
      let names = ["sheet", "note", "detail", "page", "pushed"].map {
        "\($0) \(Int.random(in: 1...3, using: &numbers))"
      }
      wall.stuck = numbers.chance(0.5) ? [] : Set(names)
      wall.slow = numbers.chance(0.5) ? [] : [numbers.pick(names)]
    }
  }

  /// Waits until the model, the wall and the coordinator say the same, and go on doing so.
  fileprivate func agrees(_ model: Model, _ seed: UInt64) async throws {
    let end = ContinuousClock.now + .seconds(20)
    var times = 0
    var shown: [PresentationState] = []
    while ContinuousClock.now < end {
      await navigator.settle()
      shown = try await coordinator.state().presentations
      let isSo =
        wall.names.sorted() == model.signs && shown.count == model.signs.count
        && shown.allSatisfy { $0.phase == .presented }
      times = isSo ? times + 1 : 0
      if times == 5 { return }
      await Task.yield()
    }
    throw Timeout(
      description: """
        NAVD_SEED=\(seed): the model says \(model.signs), on the wall is \(wall.names), the coordinator has \
        \(shown.map { "\($0.binding) \($0.id) \($0.phase)" }), slow: \(wall.slow)
        """)
  }
}
