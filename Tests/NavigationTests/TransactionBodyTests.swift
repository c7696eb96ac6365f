import NavigationTesting
import Observation
import TestSupport
import Testing

@testable import Navigation

@MainActor @Observable
private final class Model {
  struct Letter: Hashable, Codable, Identifiable {
    var id: String
    var text = ""
  }
  var note: Letter?
  var path: [Letter] = []

  /// Saves the note, and closes it when that is done.
  func save() {
    note?.text = "saved"
    Task { note = nil }
  }
}

private struct Fault: Error {}

/// A transaction counts for the synchronous body, and for nothing that the body starts.
@Suite @MainActor struct TransactionBodyTests {
  @Test("P15: what a task of a forced body changes is not forced: its screen is asked", arguments: bothKinds)
  func forced_taskOfTheBody_isAsked(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = try await presented(kind)
    withTransaction(\.isForced, true) { _ = Task { model.note = nil } }
    try await isAsked(fixture, model)
  }

  @Test("P15: nor if the body has changed the same item", arguments: bothKinds)
  func forced_taskAfterAChangeOfTheBody_isAsked(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = try await presented(kind)
    withTransaction(\.isForced, true) { model.save() }
    try await isAsked(fixture, model)
    #expect(model.note?.text == "saved")
  }

  @Test("P15: a change after a forced body is not forced, even in the same turn", arguments: bothKinds)
  func forced_changeAfterTheBody_isAsked(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = try await presented(kind)
    withTransaction(\.isForced, true) { model.note?.text = "edited" }
    model.note = nil
    try await isAsked(fixture, model)
    #expect(model.note?.text == "edited")
  }

  @Test("P15: a page that is removed after a forced body is asked, too", arguments: bothKinds)
  func forced_pageRemovedAfterTheBody_isAsked(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.navigator.stack(path: Bindable(model).path.named("path"))
      .navigationDestination(for: Model.Letter.self) { RecordingScreen($0.id, on: display) }
    model.path = [.init(id: "a")]
    try await fixture.isPresented()
    display.declining = ["a"]
    withTransaction(\.isForced, true) { model.path[0].text = "edited" }
    model.path = []
    try await fixture.until { display.disappearing == ["a"] && model.path.count == 1 }
    withTransaction(\.isForced, true) { model.path = [] }
    try await fixture.shows()
  }

  @Test("A forced body that ends an item forces it, whatever follows", arguments: bothKinds)
  func forced_endOfTheBody_isForced(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = try await presented(kind)
    withTransaction(\.isForced, true) { model.note = nil }
    fixture.display.log.append("after")
    try await fixture.until { fixture.display.log == ["+a", "after", "-a"] && model.note == nil }
  }

  @Test("A task has no transaction, whichever body has started it, and whenever it runs")
  func task_ofABody_hasNoTransaction() async {
    let tasks = withTransaction(\.haste, 2) {
      withTransaction(\.haste, 3) {
        [Task { Transaction.current.haste }, Task.detached { Transaction.current.haste }, Task { await inATask() }]
      }
    }
    for task in tasks { #expect(await task.value == 1) }
    // The task of this test is the one that has started them.
    #expect(Transaction.current.isEmpty)
  }

  @Test("A body in a task of a body has its own transaction alone")
  func body_inATaskOfABody_hasItsOwn() async {
    let task = withTransaction(\.haste, 2) {
      Task { withTransaction(\.animated, false) { (Transaction.current.haste, Transaction.current.animated) } }
    }
    let (haste, animated) = await task.value
    #expect(haste == 1 && animated == false)
  }

  @Test("A body that throws ends its transaction, and an outer one goes on")
  func body_throws_endsItsTransaction() {
    withTransaction(\.haste, 2) {
      #expect(throws: Fault.self) { try withTransaction(\.haste, 3) { throw Fault() } }
      #expect(Transaction.current.haste == 2)
    }
    #expect(throws: Fault.self) { try withTransaction(\.isForced, true) { throw Fault() } }
    #expect(Transaction.current.isEmpty)
  }

  // MARK: Helpers

  /// Shows the note “a”, whose screen declines.
  private func presented(_ kind: CoordinatorKind) async throws -> (NavigationFixture, Model) {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.navigator.present(item: Bindable(model).note.named("note")) { [display = fixture.display] in
      RecordingScreen($0.wrappedValue.id, on: display)
    }
    model.note = .init(id: "a")
    try await fixture.isPresented()
    fixture.display.declining = ["a"]
    return (fixture, model)
  }

  /// Waits until the screen was asked, and has stayed.
  private func isAsked(_ fixture: NavigationFixture, _ model: Model) async throws {
    try await fixture.until { fixture.display.disappearing == ["a"] && model.note != nil }
    #expect(fixture.display.log == ["+a"])
  }
}

/// The transaction of a task that is started by a task.
private func inATask() async -> Int { await Task { Transaction.current.haste }.value }
