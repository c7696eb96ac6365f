// Why this file exists: what presents state does not keep it, and what is let go takes with it all that it had: threads,
// descriptors, destinations, and what was shown.

import DBusValues
import Glibc
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

@Suite @MainActor struct LifetimeTests {
  @Test("Observation retains no model, whatever is driven", arguments: Coordinating.allCases)
  func model_goes_isRetainedByNothing(_ coordinating: Coordinating) async throws {
    let stage = try await Stage(coordinating)
    let wall = stage.wall
    weak var observed: Model?
    var bindings: [Navigation.Binding<Model.Note?>] = []
    var observing: Observing?
    do {
      let model = Model()
      observed = model
      let bindable = Bindable(model)
      let stack = stage.navigator.stack(path: bindable.path.named("path"))
      stack.navigationDestination(for: Int.self) { Sign("\($0)", on: wall) }
      stage.navigator.stack(path: bindable.mixed.named("mixed"))
        .navigationDestination(for: Int.self) { Sign("mixed \($0)", on: wall) }
      let second = bindable.second
      stack.push(item: bindable.note) { _ in
        Sign("note", on: wall) { $0.present(item: second) { _ in Sign("second", on: wall) } }
      }
      stage.navigator.present(tag: "a", selection: bindable.selection) { Sign("a", on: wall) }
      observing = observe { [weak model] in _ = model?.note }
      bindings = [bindable.note, bindable.second]
      (model.path, model.note, model.second, model.selection) = ([1], .init(id: 1), .init(id: 1), "a")
      try await stage.until { Set(wall.names) == ["1", "note", "second", "a"] }
      #expect(bindings.map { $0.wrappedValue?.id } == [1, 1])
    }
    #expect(observed == nil)
    // They hold what was there last.
    #expect(bindings.map { $0.wrappedValue?.id } == [1, 1])
    withExtendedLifetime(observing) {}
  }

  @Test("Observing ends with who holds it") func observing_letGo_isOver() async {
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

  @Test(
    "A navigator that is let go dismisses what others show, and takes its destination back",
    arguments: Coordinating.allCases)
  func navigator_letGo_takesAllBack(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    let wall = stage.wall
    var navigator: Navigator? = Navigator(stage.coordinator)
    weak let observed = navigator
    navigator?.present(item: Bindable(model).note, to: nil)
    navigator?.present(item: Bindable(model).second) { _ in Sign("second", on: wall) }
    model.second = .init(id: 1)
    try await stage.shows("second")
    try await wall["second"]?.close()
    try await stage.until { model.second == nil }
    model.note = .init(id: 1)
    await navigator?.settle()
    #expect(try await stage.coordinator.destinations().count == 1)
    navigator = nil
    try await stage.state { $0.presentations.isEmpty }
    try await stage.until { observed == nil }
    for _ in 0..<1000 where try await !stage.coordinator.destinations().isEmpty {}
    #expect(try await stage.coordinator.destinations().isEmpty)
    // What the program shows itself is its model's still.
    #expect(model.note?.id == 1)
  }

  @Test("Coordinators that are let go leave no threads and no descriptors")
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
    // Other tests use some, too; 200 of ours would be a thousand.
    let end = ContinuousClock.now + .seconds(20)
    while Self.used() > before + 400, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
    #expect(Self.used() <= before + 400, "before: \(before)")
  }

  /// Threads and descriptors of this process.
  private static func used() -> Int {
    let status = String(decoding: Session.contents(of: "/proc/self/status"), as: UTF8.self)
    let threads = status.split(separator: "\n").first { $0.hasPrefix("Threads:") }
    return Session.descriptors(of: getpid())
      + (threads?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
  }
}
