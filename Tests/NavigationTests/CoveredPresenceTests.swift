import NavigationTesting
import Observation
import TestSupport
import Testing

@testable import Navigation

@MainActor @Observable
private final class Model {
  struct Sheet: Hashable, Codable, Identifiable { var id: Int }
  enum Tab: String, Codable { case inbox }
  var path: [Int] = []
  var sheet: Sheet?
  var tab: Tab?
}

/// Two pages that present the same state: the later one counts until it ends.
@Suite @MainActor struct CoveredPresenceTests {
  @Test("When the later of two pages that present the same state ends, the earlier counts again", arguments: bothKinds)
  func page_laterOneEnds_earlierCountsAgain(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    presentPages(of: model, in: fixture)
    model.path = [1, 2, 3]
    try await fixture.shows("page 1", "page 2", "page 3")
    for number in [3, 2, 1] {
      model.path = Array(1...number)
      try await fixture.until { display.names.last == "page \(number)" }
      model.sheet = .init(id: number)
      try await fixture.until { display.names.last == "sheet of \(number)" }
      if number > 1 {
        model.path.removeLast()
        try await fixture.until { model.sheet == nil }
      }
    }
    #expect(display.names == ["page 1", "sheet of 1"])
    model.sheet = nil
    try await fixture.shows("page 1")
  }

  @Test(
    "A sheet of the earlier page stays when the later one comes and goes, and ends with the earlier",
    arguments: bothKinds)
  func sheet_ofTheEarlierPage_outlivesTheLater(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    presentPages(of: model, in: fixture)
    model.path = [1]
    model.sheet = .init(id: 7)
    try await fixture.shows("page 1", "sheet of 1")
    for _ in 1...3 {
      model.path = [1, 2]
      try await fixture.shows("page 1", "sheet of 1", "page 2")
      model.path = [1]
      try await fixture.shows("page 1", "sheet of 1")
      await fixture.navigator.settle()
    }
    #expect(model.sheet?.id == 7 && !display.log.contains("-sheet of 1"))
    model.path = []
    try await fixture.shows()
    try await fixture.until { model.sheet == nil }
  }

  @Test("A presence that was cancelled while a later one counted does not count again", arguments: bothKinds)
  func presence_cancelledWhileCovered_isOver(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let (display, binding) = (fixture.display, Bindable(model).sheet.named("sheet"))
    let presences = (1...3).map { number in
      fixture.navigator.present(item: binding) { _ in RecordingScreen("\(number)", on: display) }
    }
    presences[1].cancel()
    model.sheet = .init(id: 1)
    try await fixture.shows("3")
    presences[2].cancel()
    await fixture.navigator.settle()
    // It stays with the first, since the state still has it.
    try await fixture.shows("3")
    model.sheet = .init(id: 2)
    try await fixture.shows("1")
    presences[0].cancel()
    try await fixture.shows()
    try await fixture.state { $0.presentations.isEmpty }
  }

  @Test("A tag is a tab again when the later presence of it has ended")
  func tag_laterPresenceEnds_isATabAgain() async throws {
    let (fixture, model) = (try await NavigationFixture(.embedded), Model())
    let (display, tab) = (fixture.display, Bindable(model, .own("covered")).tab)
    let presences = (1...2).map { number in
      fixture.navigator.present(tag: .inbox, selection: tab, options: { PresentationOptions(title: "\(number)") }) {
        RecordingScreen("inbox \(number)", on: display)
      }
    }
    presences[1].cancel()
    #expect(fixture.navigator.tabs(of: tab).map(\.title) == ["1"])
    model.tab = .inbox
    try await fixture.shows("inbox 1")
  }

  @Test("A function of a presence is called each time that a screen has ended", arguments: bothKinds)
  func onDismiss_eachEnd_isCalled(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.navigator.present(
      item: Bindable(model).sheet.named("sheet"), onDismiss: { display.notes.append("gone") }
    ) { _ in RecordingScreen("sheet", on: display) }
    .onDismiss(display.end).onDismiss { display.notes.append("really") }
    for round in 1...2 {
      model.sheet = .init(id: round)
      try await fixture.shows("sheet")
      model.sheet = nil
      try await fixture.until { display.ends.count == round }
      #expect(display.notes == ["gone", "really"])
      display.notes = []
    }
  }

  private func presentPages(of model: Model, in fixture: NavigationFixture) {
    let display = fixture.display
    fixture.navigator.stack(path: Bindable(model).path.named("path")).navigationDestination(for: Int.self) { number in
      RecordingScreen("page \(number)", on: display) { showing in
        showing.present(item: Bindable(model).sheet.named("sheet")) { _ in
          RecordingScreen("sheet of \(number)", on: display)
        }
      }
    }
  }
}
