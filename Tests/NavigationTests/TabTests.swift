import DBusValues
import NavigationTesting
import Observation
import PresentationModel
import TestSupport
import Testing

@testable import Navigation

@MainActor @Observable
private final class Model: Navigable {
  static let memberNames: MemberNames<Model> = [
    \.sheet: "sheet", \.tab: "tab", \.note: "note", \.path: "path", \.inner: "inner",
  ]
  struct Note: Codable, Identifiable { var id: Int }
  var note: Note?
  var inner: Note?
  var path: [Int] = []
  var sheet = false
  var tab: Tag?
  var unread = 0
  enum Tag: String, Codable { case inbox, sent, drafts }
}

@MainActor @Observable
private final class Bar {
  var tabs: [String] = []
}

private struct Badge: ContainerValueKey { static let defaultValue = 0 }
extension ContainerValues {
  fileprivate var badge: Int {
    get { self[Badge.self] }
    set { self[Badge.self] = newValue }
  }
}

/// Tags of a selection as tabs: the badges that a bar shows, and the selected tab of a sheet that closes.
@Suite @MainActor struct TabTests {
  @Test("V3: a bar sees the badges of all tabs and their changes, whichever tab is selected")
  func tabs_ofASelection_areObserved() async throws {
    let (fixture, model, bar) = (try await NavigationFixture(.embedded), Model(), Bar())
    let (navigator, display) = (fixture.navigator, fixture.display)
    let tab = Bindable(model, .own("tabs")).tab
    let observing = observe {
      bar.tabs = navigator.tabs(of: tab).map {
        "\($0.title ?? "") \($0.containerValues.badge)\($0.isSelected ? " *" : "")"
      }
    }
    let inbox = navigator.present(tag: .inbox, selection: tab, options: { badge("Inbox", model.unread) }) {
      RecordingScreen("inbox", on: display)
    }
    navigator.present(tag: .sent, selection: tab, options: { badge("Sent", 0) }) {
      RecordingScreen("sent", on: display)
    }
    try await fixture.until { bar.tabs == ["Inbox 0", "Sent 0"] }
    model.tab = .sent
    try await fixture.until { bar.tabs == ["Inbox 0", "Sent 0 *"] }
    model.unread = 3
    try await fixture.until { bar.tabs == ["Inbox 3", "Sent 0 *"] }
    inbox.cancel()
    try await fixture.until { bar.tabs == ["Sent 0 *"] }
    withExtendedLifetime((observing, model)) {}
  }

  @Test(
    "What a tab presents is out of view with it, keeps its state, and comes back with it", arguments: bothKinds)
  func tab_isNotSelected_keepsItsNavigation(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let (display, binding) = (fixture.display, Bindable(model, .own("tabs")))
    fixture.navigator.present(tag: .inbox, selection: binding.tab) {
      RecordingScreen("inbox", on: display) { tab in
        let stack = tab.stack(path: binding.path)
        stack.navigationDestination(for: Int.self) { RecordingScreen("page \($0)", on: display) }
        tab.present(item: binding.note) { note in
          RecordingScreen("note \(note.id)", on: display) { showing in
            showing.present(item: binding.inner) { RecordingScreen("inner \($0.id)", on: display) }
          }
        }
      }
    }
    fixture.navigator.present(tag: .sent, selection: binding.tab) { RecordingScreen("sent", on: display) }
    (model.tab, model.path, model.note, model.inner) = (.inbox, [1, 2], .init(id: 3), .init(id: 4))
    try await fixture.until { display.names.count == 5 }
    for _ in 0..<2 {
      model.tab = .sent
      try await fixture.shows("sent")
      await fixture.navigator.settle()
      #expect(model.path == [1, 2] && model.note?.id == 3 && model.inner?.id == 4)
      model.tab = .inbox
      try await fixture.until { Set(display.names) == ["inbox", "page 1", "page 2", "note 3", "inner 4"] }
    }
    // Another client selects the tab.
    try await fixture.coordinator.select("sent", in: fixture.text(binding.tab))
    try await fixture.shows("sent")
    await fixture.navigator.settle()
    #expect(model.tab == .sent && model.path == [1, 2] && model.note?.id == 3 && model.inner?.id == 4)
    try await fixture.coordinator.select("inbox", in: fixture.text(binding.tab))
    try await fixture.until { display.names.count == 5 }
    // What is dismissed itself is not out of view.
    model.note = nil
    try await fixture.until { model.inner == nil && display.names.count == 3 }
    #expect(model.path == [1, 2])
  }

  @Test(
    "C3: a sheet that closes leaves its selected tab selected, and shows it when it opens again",
    arguments: bothKinds)
  func selection_ofASheet_isKept(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let (display, binding) = (fixture.display, Bindable(model, .own("tabs")))
    fixture.navigator.present(isPresented: binding.sheet) {
      RecordingScreen("sheet", on: display) { sheet in
        for tag in [Model.Tag.inbox, .drafts] {
          sheet.present(tag: tag, selection: binding.tab) { RecordingScreen("\(tag)", on: display) }
        }
      }
    }
    (model.sheet, model.tab) = (true, .drafts)
    try await fixture.shows("sheet", "drafts")
    model.sheet = false
    try await fixture.shows()
    await fixture.navigator.settle()
    #expect(model.tab == .drafts)
    model.sheet = true
    try await fixture.shows("sheet", "drafts")
    // A tab that its user closes is selected no longer.
    try await display["drafts"]?.close()
    try await fixture.until { model.tab == nil }
    #expect(model.sheet)
  }

  @Test("A tag that is presented twice is one tab, and none when the later presence has ended")
  func tag_presentedTwice_isOneTab() async throws {
    let (fixture, model) = (try await NavigationFixture(.embedded), Model())
    let (display, tab) = (fixture.display, Bindable(model, .own("twice")).tab)
    let presences = (1...2).map { number in
      fixture.navigator.present(tag: .inbox, selection: tab, options: { PresentationOptions(title: "\(number)") }) {
        RecordingScreen("inbox", on: display)
      }
    }
    #expect(fixture.navigator.tabs(of: tab).map(\.title) == ["2"])
    for presence in presences { presence.cancel() }
    #expect(fixture.navigator.tabs(of: tab).isEmpty)
  }

  private func badge(_ title: String, _ number: Int) -> PresentationOptions {
    PresentationOptions(title: title).containerValue(\.badge, number)
  }
}
