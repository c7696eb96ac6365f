import CoordinatorAPI
import DBusValues
import NavigationTesting
import Observation
import PresentationModel
import TestSupport
import Testing

@testable import Navigation

// Random orders of changes by the program, its users and other clients: afterwards the model, the screens and the coordinator must
// agree.

@MainActor @Observable
private final class Model {
  struct Item: Hashable, Codable, Identifiable {
    var id: Int
    var text = ""
  }
  var sheet: Item?
  /// A screen that is presented from the sheet.
  var note: Item?
  /// A screen that is presented from the note.
  var detail: Item?
  var path: [Int] = []
  /// A screen that is pushed on the stack of the path.
  var pushed: Item?
  var selection: String?
  var isPresented = false

  /// The screens that the model says should be shown.
  var screens: [String] {
    var screens = path.map { "page \($0)" }
    if let pushed { screens.append("pushed \(pushed.id)") }
    if let selection { screens.append("tag \(selection)") }
    if isPresented { screens.append("panel") }
    if let sheet {
      screens.append("sheet \(sheet.id)")
      if let note {
        screens.append("note \(note.id)")
        if let detail { screens.append("detail \(detail.id)") }
      }
    }
    return screens.sorted()
  }
}

@Suite @MainActor struct RandomTests {
  fileprivate static let tags = ["a", "b", "c"]
  /// The number of changes for each kind of coordinator.
  private static let operations = 2000

  @Test("After random changes, the model, the screens and the coordinator agree", arguments: bothKinds)
  func randomChanges_made_allAgree(_ kind: CoordinatorKind) async throws {
    let seed = SeededNumbers.chosenSeed
    var numbers = SeededNumbers(seed: seed)
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    var refusals: [NavigationError] = []
    fixture.navigator.onRefused = { refusals.append($0) }
    let bindings = fixture.present(model)
    // Every tag is selected once, because other clients can only select known tags.
    for tag in Self.tags {
      model.selection = tag
      await fixture.navigator.settle()
    }
    for _ in 0..<Self.operations {
      await fixture.change(model, bindings, &numbers)
      for _ in 0..<Int.random(in: 0..<6, using: &numbers) { await Task.yield() }
    }
    try await fixture.agrees(on: model.screens, seed)
    // A request that fails because its parent has just ended is not reported.
    #expect(refusals.isEmpty, "NAVD_SEED=\(seed)")
  }
}

extension NavigationFixture {
  /// The bus names of the bindings that other clients use.
  fileprivate struct Bindings {
    var items: [String]
    var group: String
    var stack: String
  }

  fileprivate func present(_ model: Model) -> Bindings {
    let (bindable, display) = (Bindable(model), display)
    let (note, detail) = (bindable.note.named("note"), bindable.detail.named("detail"))
    navigator.present(item: bindable.sheet.named("sheet")) { sheet in
      RecordingScreen("sheet \(sheet.wrappedValue.id)", on: display) { showing in
        showing.present(item: note) { note in
          RecordingScreen("note \(note.wrappedValue.id)", on: display) { showing in
            showing.present(item: detail) { RecordingScreen("detail \($0.wrappedValue.id)", on: display) }
          }
        }
      }
    }
    let stack = navigator.stack(path: bindable.path.named("path"))
    stack.navigationDestination(for: Int.self) { RecordingScreen("page \($0)", on: display) }
    stack.push(item: bindable.pushed.named("pushed")) { RecordingScreen("pushed \($0.wrappedValue.id)", on: display) }
    let selection = bindable.selection.named("selection")
    for tag in RandomTests.tags {
      navigator.present(tag: tag, selection: selection) { RecordingScreen("tag \(tag)", on: display) }
    }
    navigator.present(isPresented: bindable.isPresented.named("panel")) { RecordingScreen("panel", on: display) }
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
    // The user closes a screen.
    case 13, 14, 15: if !display.screens.isEmpty { try? await numbers.pick(display.screens).close() }
    // Another client makes a request.
    case 16: _ = try? await coordinator.dismiss(numbers.pick(bindings.items))
    case 17: _ = try? await coordinator.toggleSelection(numbers.pick(RandomTests.tags), in: bindings.group)
    case 18: _ = try? await coordinator.pop(Int.random(in: 1...2, using: &numbers), from: bindings.stack)
    // Screens become slow to appear or to disappear.
    default:
      let names = ["sheet", "note", "detail", "page", "pushed"].map {
        "\($0) \(Int.random(in: 1...3, using: &numbers))"
      }
      display.stuck = numbers.chance(0.5) ? [] : Set(names)
      display.slow = numbers.chance(0.5) ? [] : [numbers.pick(names)]
      // Screens decline to disappear, or ask before.
      let all = names + ["panel"] + RandomTests.tags.map { "tag \($0)" }
      display.declining = numbers.chance(0.5) ? [] : [numbers.pick(all), numbers.pick(all), numbers.pick(all)]
      display.asking = numbers.chance(0.5) ? [] : [numbers.pick(all)]
    }
  }

  /// Waits until the screens and the coordinator agree with the model five times in a row.
  /// - Parameter screens: the screens that the model says should be shown.
  func agrees(on screens: @autoclosure () -> [String], _ seed: UInt64) async throws {
    (display.stuck, display.slow, display.declining, display.asking) = ([], [], [], [])
    let end = ContinuousClock.now + .seconds(20)
    var times = 0
    var shown: [PresentationState] = []
    while ContinuousClock.now < end {
      await navigator.settle()
      // A navd that was killed may just be starting.
      shown = (try? await coordinator.state().presentations) ?? []
      let isSo =
        display.names.sorted() == screens() && shown.count == screens().count
        && shown.allSatisfy { $0.phase == .presented }
      times = isSo ? times + 1 : 0
      if times == 5 { return }
      await Task.yield()
    }
    throw Timeout(
      description: """
        NAVD_SEED=\(seed): the model has \(screens()), shown are \(display.names), the coordinator has \
        \(shown.map { "\($0.binding) \($0.id) \($0.phase)" })
        """)
  }
}
