import Glibc
import NavigationTesting
import Observation
import PresentationModel
import TestSupport
import Testing

@testable import Navigation

@MainActor @Observable
private final class Model {
  struct Note: Hashable, Codable, Identifiable { var id: String }
  var note: Note?
  var isOpen = false
  var selection: String?
}

/// Programs that present the same bindings, such as two copies of one.
@Suite @MainActor struct CopiesTests {
  /// A program with a connection of its own to the navd of a fixture.
  @MainActor private struct Copy {
    let model = Model()
    let navigator: Navigator
    let display = Display()

    init(_ fixture: NavigationFixture) async throws {
      let session = try #require(fixture.session)
      navigator = Navigator(try await .bus(address: session.bus.address))
      let (display, bindable) = (display, Bindable(model, .shared("copies")))
      navigator.present(item: bindable.note.named("note")) {
        RecordingScreen($0.wrappedValue.id, on: display)
      }.onDismiss(display.end)
      navigator.present(isPresented: bindable.isOpen.named("isOpen")) {
        RecordingScreen("open", on: display)
      }.onDismiss(display.end)
      navigator.present(tag: "a", selection: bindable.selection.named("selection")) {
        RecordingScreen("a", on: display)
      }.onDismiss(display.end)
    }
  }

  @Test("A presentation of one copy of a program is not taken over by another copy")
  func copy_begins_takesNothingOver() async throws {
    let fixture = try await NavigationFixture(.navd)
    let first = try await Copy(fixture)
    (first.model.note, first.model.isOpen, first.model.selection) = (.init(id: "n"), true, "a")
    try await first.navigator.settle(within: Session.limit)
    let second = try await Copy(fixture)
    for copy in [second, first] { try await copy.navigator.settle(within: Session.limit) }
    #expect(Set(first.display.names) == ["n", "open", "a"] && first.display.log.count == 3 && first.display.ends == [])
    #expect(second.display.log == [] && !second.model.isOpen && second.model.selection == nil)
  }

  @Test("A binding that one copy of a program presents is refused to another copy, even after a restart of navd")
  func copy_wantsTheSame_isRefused() async throws {
    let fixture = try await NavigationFixture(.navd)
    let session = try #require(fixture.session)
    let (first, second) = (try await Copy(fixture), try await Copy(fixture))
    var refusals: [NavigationError] = []
    second.navigator.onRefused = { if case .refused = $0 { refusals.append($0) } }
    first.model.note = .init(id: "n")
    try await first.navigator.settle(within: Session.limit)
    second.model.note = .init(id: "n")
    try await fixture.until { second.model.note == nil }
    try session.stop(SIGKILL)
    second.model.note = .init(id: "n")
    await second.navigator.settle()
    try session.start()
    try await fixture.until { second.model.note == nil }
    for copy in [second, first] { try await copy.navigator.settle(within: Session.limit) }
    #expect(refusals.map(\.refusal) == [.busy, .busy])
    #expect(first.display.log == ["+n"] && first.display.ends == [] && second.display.log == [])
    #expect(second.display.ends == [.failed, .failed])
    #expect(second.display.errors.last == "Busy: another program shows “copies.note” already")
  }

  @Test(
    "D18: an item of another copy with another id does not end what the first copy shows, even after a restart of navd")
  func copy_wantsAnotherItem_endsNothing() async throws {
    let fixture = try await NavigationFixture(.navd)
    let session = try #require(fixture.session)
    let (first, second) = (try await Copy(fixture), try await Copy(fixture))
    (first.model.note, first.model.selection) = (.init(id: "n"), "a")
    try await first.navigator.settle(within: Session.limit)
    for isRestarted in [false, true] {
      if isRestarted { try session.stop(); try session.start() }
      (second.model.note, second.model.selection) = (.init(id: "m"), "a")
      try await fixture.until { second.model.note == nil && second.model.selection == nil }
    }
    for copy in [second, first] { try await copy.navigator.settle(within: Session.limit) }
    #expect(Set(first.display.log) == ["+n", "+a"] && first.model.note?.id == "n" && first.model.selection == "a")
    #expect(second.display.log == [])
  }

  @Test("A presentation of another client without a destination is taken over", arguments: bothKinds)
  func presentation_withoutADestination_isTakenOver(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let (display, binding) = (fixture.display, Bindable(model).isOpen.named("isOpen"))
    fixture.navigator.present(isPresented: binding) { RecordingScreen("open", on: display) }
    try await fixture.coordinator.present(fixture.text(binding), .state)
    try await fixture.shows("open")
    #expect(model.isOpen)
  }

  @Test("A presentation of another client that has ended is not dismissed later")
  func competitor_hasEnded_isForgotten() {
    let (driver, model) = Self.driver()
    func removals() -> [Bool] { driver.changes(Transaction(), driver.noted.tracking {}).map(\.isRemoval) }
    model.note = .init(id: "n")
    #expect(removals() == [false])
    driver.appeared(Handle(1), id: "n", value: [:], destination: nil)
    #expect(driver.refused(CoordinatorError(.invalidConfiguration, "")) && model.note == nil)
    driver.ended(Handle(1), Dismissal(reason: .dismissed, error: nil))
    model.note = .init(id: "n")
    #expect(removals() == [false])
  }

  @Test("An item whose request comes after the end of the presentation that it was to replace is requested again")
  func competitor_endsBeforeTheRequest_doesNotEndTheItem() {
    let (driver, model) = Self.driver()
    var isToBeReadAgain = false
    driver.onDifference = { isToBeReadAgain = true }
    func removals() -> [Bool] { driver.changes(Transaction(), driver.noted.tracking {}).map(\.isRemoval) }
    model.note = .init(id: "n")
    driver.appeared(Handle(1), id: "n", value: [:], destination: nil)
    #expect(removals() == [true, false])
    #expect(!driver.refused(CoordinatorError(.stale, "")))
    #expect(model.note?.id == "n" && isToBeReadAgain)
    #expect(removals() == [false])
  }

  @Test("R4: a presentation is lost if a navd without its record has given its handle to another binding")
  func handle_givenToAnotherBinding_isLost() async throws {
    let (driver, model) = Self.driver()
    model.note = .init(id: "n")
    driver.appeared(Handle(1), id: "n", value: [:], destination: "own")
    let coordinator = Coordinator.embedded()
    #expect(try await coordinator.present("other", .state).presentation == Handle(1))
    let (read, moment) = try await coordinator.stateAndMoment()
    let state = StateIndex(read, at: moment)
    #expect(driver.reconcile(state, client: "embedded", givenUp: []) == [Handle(1)])
    #expect(model.note == nil)
  }

  /// A driver of the note of a model.
  private static func driver() -> (ItemDriver, Model) {
    let model = Model()
    let content = DrivenContent.item(
      Bindable(model).note, id: \.id, options: { _ in PresentationOptions() }
    ) { RecordingScreen($0.wrappedValue.id, on: Display()) }
    return (ItemDriver(content, at: ItemPlace(.presented, binding: "note", ownDestination: "own")), model)
  }
}
