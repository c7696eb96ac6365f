import DBusValues
import NavigationTesting
import Observation
import PresentationModel
import TestSupport
import Testing

@testable import Navigation

@MainActor @Observable
private final class Model: Navigable {
  static let memberNames: MemberNames<Model> = [\.sheet: "sheet", \.tab: "tab"]
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
