import CoordinatorAPI
import Glibc
import NavigationTesting
import Observation
import PresentationModel
import TestSupport
import Testing

@testable import Navigation

// Random orders in which screens are typed in, closed, asked, kept and presented again: no text that a screen has written is lost while
// its item stays.

@MainActor @Observable
private final class Model {
  struct Item: Hashable, Codable, Identifiable {
    var id: Int
    var text = ""
  }
  var sheet: Item?
  /// A screen that is presented from the sheet.
  var note: Item?
  var path: [Item] = []
  var selection: String?
  var isPresented = false
  @ObservationIgnored private(set) var lastID = 0
  /// The fields of the screens, and what was typed into them, by the names of the screens.
  @ObservationIgnored var fields: [String: Binding<String>] = [:]
  @ObservationIgnored var typed: [String: String] = [:]

  func next() -> Item {
    lastID += 1
    return Item(id: lastID)
  }

  func type(into screen: String) {
    guard let field = fields[screen] else { return }
    typed[screen, default: ""] += "x"
    field.wrappedValue = typed[screen]!
  }

  /// The screens that should be shown.
  var screens: [String] {
    var screens = texts.keys.map(\.self)
    if let selection { screens.append("tag \(selection)") }
    if isPresented { screens.append("panel") }
    return screens.sorted()
  }

  /// The texts of the screens that have one.
  var texts: [String: String] {
    var texts = Dictionary(uniqueKeysWithValues: path.map { ("page \($0.id)", $0.text) })
    if let sheet {
      texts["sheet \(sheet.id)"] = sheet.text
      if let note { texts["note \(note.id)"] = note.text }
    }
    return texts
  }
}

@Suite struct RandomTextTests {
  /// The number of times that all is compared, by default and with NAVD_TEST_THOROUGH, and the number of changes before each.
  private static let (rounds, changes) = (isThorough ? 300 : 30, 30)

  @Test("Random typing, closing and presenting again loses no text, and leaves no screen", arguments: bothKinds)
  func randomTexts_typed_areKept(_ kind: CoordinatorKind) async throws {
    try await RandomProgram(kind).run(rounds: Self.rounds, of: Self.changes, withKills: false)
  }

  @Test(
    "Random typing, while navd is killed and started again, loses no text, and leaves no screen",
    .enabled(if: isThorough))
  func randomTexts_navdKilled_areKept() async throws {
    try await RandomProgram(.navd).run(rounds: Self.rounds / 3, of: Self.changes, withKills: true)
  }
}

/// A program that does everything at random.
@MainActor
private final class RandomProgram {
  private let fixture: NavigationFixture
  private let model = Model()
  private let seed = SeededNumbers.chosenSeed
  private var numbers: SeededNumbers
  private var sheet: Presence?
  private var panel: Presence?
  private var tab: Presence?

  init(_ kind: CoordinatorKind) async throws {
    fixture = try await NavigationFixture(kind)
    numbers = SeededNumbers(seed: seed)
    (sheet, panel, tab) = (presentSheet(), presentPanel(), presentTab("a"))
    _ = presentTab("b")
    fixture.navigator.stack(path: bindable.path.named("path").published()).navigationDestination(
      for: Binding<Model.Item>.self
    ) {
      [unowned self] item in screen("page \(item.wrappedValue.id)", item.text)
    }
  }

  func run(rounds: Int, of changes: Int, withKills: Bool) async throws {
    for _ in 0..<rounds {
      for _ in 0..<changes {
        try await change(withKills: withKills)
        await pause(5)
      }
      try await fixture.agrees(on: model.screens, seed)
      for (screen, text) in model.texts {
        #expect(text == model.typed[screen, default: ""], "NAVD_SEED=\(seed): \(screen)")
      }
    }
  }

  // MARK: Screens

  private var bindable: Bindable<Model> { Bindable(model) }

  private func screen(
    _ name: String, _ text: Binding<String>, _ onAppear: (@MainActor (Showing) -> Void)? = nil
  ) -> RecordingScreen {
    model.fields[name] = text
    return RecordingScreen(name, on: fixture.display, onAppear: onAppear)
  }

  private func presentSheet() -> Presence {
    fixture.navigator.present(item: bindable.sheet.named("sheet").published()) { [unowned self] sheet in
      screen("sheet \(sheet.wrappedValue.id)", sheet.text) { [unowned self] showing in
        showing.present(item: bindable.note.named("note").published()) { [unowned self] note in
          screen("note \(note.wrappedValue.id)", note.text)
        }
      }
    }
  }

  private func presentPanel() -> Presence {
    fixture.navigator.present(isPresented: bindable.isPresented.named("panel")) { [display = fixture.display] in
      RecordingScreen("panel", on: display)
    }
  }

  private func presentTab(_ tag: String) -> Presence {
    fixture.navigator.present(tag: tag, selection: bindable.selection.named("selection")) {
      [display = fixture.display] in RecordingScreen("tag \(tag)", on: display)
    }
  }

  // MARK: Changes

  private func change(withKills: Bool) async throws {
    let display = fixture.display
    switch Int.random(in: 0..<22, using: &numbers) {
    case 0, 1: model.sheet = numbers.chance(0.4) ? nil : model.next()
    case 2, 3: model.note = numbers.chance(0.4) ? nil : model.next()
    case 4, 5: model.path.append(model.next())
    case 6: if !model.path.isEmpty { model.path.removeLast(Int.random(in: 1...model.path.count, using: &numbers)) }
    case 7: if !model.path.isEmpty { model.path[model.path.count - 1] = model.next() }
    case 8: model.selection = numbers.chance(0.3) ? nil : numbers.pick(["a", "b"])
    case 9: model.isPresented.toggle()
    case 10, 11, 12: if let screen = display.screens.randomElement(using: &numbers) { model.type(into: screen.name) }
    // The user closes a screen.
    case 13: if !display.screens.isEmpty { try? await numbers.pick(display.screens).close() }
    // Another client dismisses one.
    case 14:
      let names = [fixture.text(bindable.sheet.named("sheet")), fixture.text(bindable.note.named("note"))]
      _ = try? await fixture.coordinator.dismiss(numbers.pick(names))
    // The program ends a presence, and presents the same state again.
    case 15:
      await presentAgain(\.panel) {
        model.isPresented = true
      } by: {
        presentPanel()
      }
    case 16:
      let isChanged = numbers.chance(0.5)
      await presentAgain(\.sheet) {
        if isChanged { model.sheet = model.next() }
      } by: {
        presentSheet()
      }
    case 17:
      await presentAgain(\.tab) {
      } by: {
        presentTab("a")
      }
    case 18: try? await display.screens.randomElement(using: &numbers)?.showing?.dismiss()
    case 19: if withKills, numbers.chance(0.2) { try await killNavd() }
    // Screens become slow, decline, or ask before.
    default:
      let all = display.names + model.screens + ["panel", "tag a", "tag b"]
      let next = model.lastID + 1
      display.stuck = numbers.chance(0.6) ? [] : [numbers.pick(all)]
      display.slow = numbers.chance(0.6) ? [] : ["page \(next)", "sheet \(next)"]
      display.declining = numbers.chance(0.4) ? [] : [numbers.pick(all), numbers.pick(all), numbers.pick(all)]
      display.asking = numbers.chance(0.4) ? [] : [numbers.pick(all)]
    }
  }

  private func presentAgain(
    _ presence: ReferenceWritableKeyPath<RandomProgram, Presence?>, after change: () -> Void, by present: () -> Presence
  ) async {
    // A screen that declines before the next presence is there stays without one.
    (fixture.display.declining, fixture.display.asking) = ([], [])
    await fixture.navigator.settle()
    change()
    await pause(3)
    self[keyPath: presence]?.cancel()
    await pause(3)
    self[keyPath: presence] = present()
    await fixture.navigator.settle()
  }

  private func killNavd() async throws {
    guard let session = fixture.session else { return }
    try session.stop(SIGKILL)
    await pause(20)
    if numbers.chance(0.5) { model.sheet = numbers.chance(0.4) ? nil : model.next() }
    if numbers.chance(0.5) { model.path = [] }
    try session.start()
  }

  private func pause(_ most: Int) async {
    for _ in 0..<Int.random(in: 0...most, using: &numbers) { await Task.yield() }
  }
}
