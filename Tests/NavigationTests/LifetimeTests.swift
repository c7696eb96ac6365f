import DBusValues
import Glibc
import NavigationTesting
import Observation
import TestSupport
import Testing

@testable import Navigation

@MainActor @Observable
private final class Model {
  struct Note: Hashable, Codable, Identifiable { var id: Int }
  var note: Note?
  var second: Note?
  var path: [Int] = []
  var mixed = NavigationPath()
  var selection: String?
}

/// Lifetimes of models, observations, navigators and coordinators, and what remains after them.
@Suite @MainActor struct LifetimeTests {
  @Test("Presenting state retains no model", arguments: bothKinds)
  func model_released_isRetainedByNothing(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    let display = fixture.display
    weak var observed: Model?
    var bindings: [Navigation.Binding<Model.Note?>] = []
    var observing: Observing?
    do {
      let model = Model()
      observed = model
      let bindable = Bindable(model)
      let stack = fixture.navigator.stack(path: bindable.path.named("path"))
      stack.navigationDestination(for: Int.self) { RecordingScreen("\($0)", on: display) }
      fixture.navigator.stack(path: bindable.mixed.named("mixed"))
        .navigationDestination(for: Int.self) { RecordingScreen("mixed \($0)", on: display) }
      let second = bindable.second
      stack.push(item: bindable.note) { _ in
        RecordingScreen("note", on: display) {
          $0.present(item: second) { _ in RecordingScreen("second", on: display) }
        }
      }
      fixture.navigator.present(tag: "a", selection: bindable.selection) { RecordingScreen("a", on: display) }
      observing = observe { [weak model] in _ = model?.note }
      bindings = [bindable.note, bindable.second]
      (model.path, model.note, model.second, model.selection) = ([1], .init(id: 1), .init(id: 1), "a")
      try await fixture.until { Set(display.names) == ["1", "note", "second", "a"] }
      #expect(bindings.map { $0.wrappedValue?.id } == [1, 1])
    }
    #expect(observed == nil)
    // Each binding keeps its last value.
    #expect(bindings.map { $0.wrappedValue?.id } == [1, 1])
    withExtendedLifetime(observing) {}
  }

  @Test("Observing ends when its handle is released") func observing_released_ends() async {
    let model = Model()
    var count = 0
    var observing: Observing? = observe {
      _ = model.note
      count += 1
    }
    weak let observed = observing
    observing = nil
    model.note = .init(id: 1)
    for _ in 0..<10 { await Task.yield() }
    #expect(observed == nil && count == 1)
  }

  @Test("An observation that is cancelled in the turn of a change does not run again")
  func observing_cancelledAfterAChange_doesNotRun() async {
    let model = Model()
    var count = 0
    let observing = observe {
      _ = model.note
      count += 1
    }
    model.note = .init(id: 1)
    observing.cancel()
    for _ in 0..<10 { await Task.yield() }
    #expect(count == 1)
  }

  @Test(
    "A released navigator dismisses the items of destinations, and removes its own destination",
    arguments: bothKinds)
  func navigator_released_dismissesAll(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    var navigator: Navigator? = Navigator(fixture.coordinator)
    weak let observed = navigator
    navigator?.present(item: Bindable(model).note, to: nil, options: { _ in .state })
    navigator?.present(item: Bindable(model).second) { _ in RecordingScreen("second", on: display) }
    model.second = .init(id: 1)
    try await fixture.shows("second")
    try await display["second"]?.close()
    try await fixture.until { model.second == nil }
    model.note = .init(id: 1)
    await navigator?.settle()
    #expect(try await fixture.coordinator.destinations().count == 1)
    navigator = nil
    try await fixture.state { $0.presentations.isEmpty }
    try await fixture.until { observed == nil }
    for _ in 0..<1000 where try await !fixture.coordinator.destinations().isEmpty {}
    #expect(try await fixture.coordinator.destinations().isEmpty)
    // A screen that the program showed itself keeps its state.
    #expect(model.note?.id == 1)
  }

  @Test("A coordinator keeps nothing of navigators that are released")
  func navigator_released_isForgottenByItsCoordinator() async throws {
    let (coordinator, model) = (Coordinator.embedded(), Model())
    for _ in 0..<3 {
      let navigator = Navigator(coordinator)
      navigator.present(item: Bindable(model).note, to: nil)
      await navigator.settle()
    }
    #expect(coordinator.navigators.isEmpty)
  }

  @Test("A coordinator keeps no names of models that are gone")
  func names_ofModelsThatAreGone_areForgotten() {
    let coordinator = Coordinator.embedded()
    for number in 0..<1000 { _ = coordinator.text(of: Bindable(Model(), .own("model\(number)")).note) }
    #expect(coordinator.names.count <= 20)
  }

  @Test("R6: when a navigator is released while navd is down, its presentations are dismissed by the next navd")
  func navigator_releasedWhileNavdIsDown_dismissesAllLater() async throws {
    let (fixture, model) = (try await NavigationFixture(.navd), Model())
    let session = try #require(fixture.session)
    var navigator: Navigator? = Navigator(fixture.coordinator)
    navigator?.present(item: Bindable(model).note, to: nil, options: { _ in .state })
    model.note = .init(id: 1)
    await navigator?.settle()
    try await fixture.state { !$0.presentations.isEmpty }
    try session.stop(SIGKILL)
    navigator = nil
    // Each of these calls is answered after those of the navigator.
    for _ in 0..<20 { _ = try? await fixture.coordinator.state() }
    try session.start()
    try await fixture.state { $0.presentations.isEmpty }
  }

  @Test("Released coordinators leave no threads and no descriptors")
  func coordinators_opened_leaveNothing() async throws {
    let session = try Session()
    let address = session.bus.address
    let before = Self.used()
    for round in 0..<200 {
      let coordinator = try await Coordinator.bus(address: address)
      if round % 4 == 0 { _ = try await coordinator.state() }
      if round % 4 == 1 { for try await _ in coordinator.following { break } }
      if round % 4 == 2 { await coordinator.close() }
    }
    // Other tests run at the same time and use some threads and descriptors; 200 leaked coordinators would use a thousand.
    try await poll { Self.used() <= before + 400 }
  }

  /// The number of threads and descriptors of this process.
  private static func used() -> Int {
    let status = String(decoding: Files.contents(of: "/proc/self/status"), as: UTF8.self)
    let threads = status.split(separator: "\n").first { $0.hasPrefix("Threads:") }
    return Session.descriptors(of: getpid())
      + (threads?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
  }
}
