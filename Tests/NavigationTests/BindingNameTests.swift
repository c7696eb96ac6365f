import Observation
import Testing

@testable import Navigation

/// Names of bindings that are made of any text (B1).
@Suite @MainActor struct BindingNameTests {
  @Test(
    "B1: a name is made of any text, the same in every run, and other texts have others",
    arguments: [
      ("wifi", "wifi"), ("my notes", "my_notes-e2b7c07e8b4adb9c"), ("2nd", "_2nd"), ("", "_"), ("a…b", "a_b"),
      ("{\"b\":{\"_0\":\"x\"}}", "_b_0_x_"),
    ])
  func name_ofAnyText_isAName(_ text: String, _ start: String) {
    let name = BindingName.name(for: text)
    #expect(BindingName.isName(name) && name.hasPrefix(start.split(separator: "-")[0]), "\(name)")
    #expect(name.utf8.count <= 64)
    #expect(BindingName.name(for: text + " ") != name)
  }

  @Test("B1: a text that is not a name is reported once, and ends no program")
  func name_thatIsNone_isReportedOnce() {
    let reports = MisuseLog()
    Misuse.reporting(to: { message, file, _ in reports.add(message, file) }) {
      let (coordinator, model) = (Coordinator.embedded(), Settings())
      for _ in 1...3 {
        let settings = Bindable(model, .shared("my settings"))
        let text = coordinator.text(of: settings.isOpen.named("is open"))
        #expect(text == "\(BindingName.name(for: "my settings")).\(BindingName.name(for: "is open"))")
      }
    }
    let all = reports.messages
    #expect(all.count == 2 && all[0].contains("“my settings” cannot be a name"), "\(all)")
    #expect(all.last?.contains("“is open”") == true)
    #expect(reports.files(of: "is open") == ["NavigationTests/BindingNameTests.swift"])
  }

  @Test("B1: a case without a payload has its name as id, as tag and in its binding")
  func tag_caseWithoutAPayload_isItsName() {
    enum Tab: Codable, Hashable { case wifi, notes(Int) }
    #expect(Coding.id(of: Tab.wifi) {} == "wifi")
    #expect(Coding.id(of: Tab.notes(1)) {} == #"{"notes":{"_0":1}}"#)
    @Binding(.shared("tabs")) var tab: Tab? = nil
    #expect(Binding($tab, tag: .wifi).route.text(client: "") == "tabs.wifi")
    #expect(Binding($tab, tag: .notes(1)).route.text(client: "").hasPrefix("tabs._notes_0_1_"))
  }

  @Test("Tests that run at the same time get their own reports", arguments: 1...10)
  func misuse_reporting_isOfTheTask(_ number: Int) async {
    let reports = MisuseLog()
    await Misuse.reporting(to: { message, file, _ in reports.add(message, file) }) {
      let navigator = Navigator(.embedded())
      await Task.yield()
      navigator.push(value: number)
      await Task { navigator.push(value: "\(number)") }.value
    }
    #expect(reports.messages.count == 2)
  }
}

@MainActor @Observable
private final class Settings {
  var isOpen = false
}
