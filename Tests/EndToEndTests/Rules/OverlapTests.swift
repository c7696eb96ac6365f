import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Groups in which one item hands over to the next (G10), with real programs and real windows. PresentationRulesTests has the rules.

private typealias Rows = CoordinatorInterface

private let sign = ["config/navd/navd.toml": "[groups.sign]\nreplacement = 'overlap'\n"]

extension Session {
  /// The entry of a binding's presentation in the state.
  fileprivate func entry(_ binding: String, _ phase: String) throws -> JSON? {
    try state()["presentations"]?.array?.first { $0["binding"]?.string == binding && $0["phase"]?.string == phase }
  }
}

@Test("G10: a presenter is asked to end the former item when it has shown the next one")
func overlap_ofPresenter_asksFormerToGoWhenNextIsShown() throws {
  let session = try Session(files: sign)
  let presenter = try BusPresenter(session, destination: "page", ["group": .string("sign")])
  var calls: [String] = []
  presenter.hear = { calls.append($0) }
  try session.runNavctl("present", "a", "--to", "page")
  try session.runNavctl("wait", "a", "--for", "presented")
  presenter.isAnswering = false
  try session.runNavctl("present", "b", "--to", "page")
  try session.wait("the next one is asked for") { calls.last == "present b" }
  let next = try #require(try session.entry("b", "presenting"))
  #expect(try session.entry("a", "dismissing")?["presentation"] == next["replacing"])
  presenter.isAnswering = true
  try session.wait("the former one is gone") { calls.last == "gone a" }
  #expect(
    calls == ["present a", "shown a", "present b", "shown b", "dismiss a deselected", "gone a"])
  try session.poll("nothing is replaced") {
    let entry = try session.entry("b", "presented")
    return entry != nil && entry?["replacing"] == nil
  }
}

@Test("G10: a next item that fails leaves the former one as it is, and says so")
func overlap_nextFails_formerStays() throws {
  let session = try Session(files: sign)
  let presenter = try BusPresenter(session, destination: "page", ["group": .string("sign")])
  try session.runNavctl("present", "a", "--to", "page")
  try session.runNavctl("wait", "a", "--for", "presented")
  presenter.refusal = DBusError(name: .failed, message: "there is no such page")
  let next = try session.navctl("present", "b", "--to", "page", "--wait", "--json")
  #expect(next.exitCode == 1)
  let result = try JSON.parse(next.outputText)
  #expect(result["reason"] == "failed")
  #expect(result["kept"] == "a")
  #expect(result["error"]?.string?.contains("there is no such page") == true)
  #expect(try session.navctl("selection", "sign").outputText == "a\n")
  #expect(try session.entry("a", "presented") != nil)
  #expect(presenter.log == ["present a ", "present b "])
}

@Test("G10, R6: windows hand over without a gap, and a navd that is killed meanwhile finds both")
func overlap_ofWindows_survivesKill() throws {
  func page(_ name: String, after: String = "") -> String {
    "command = ['sh', '-c', '\(after) exec foot --app-id=\(name) -e sleep 1000']\nwindow = { app-id = '\(name)' }\ngroup = 'sign'\n"
  }
  let desktop = try WindowedDesktop(
    .sway,
    destinations: [
      "a": page("a"), "b": page("b", after: "until [ -e \"$HOME/go\" ]; do sleep 0.01; done;"),
      "c": page("c"), "broken": "command = ['sh', '-c', 'exit 3']\nwindow = true\ngroup = 'sign'\n",
    ], files: sign)
  let (session, screen) = (desktop.session, desktop.screen)
  _ = try session.open("a")
  try screen.wait(for: ["a"])
  try session.runNavctl("present", "b")
  try session.poll("both programs run") { Set(session.processes().map(\.binding)).count == 2 }
  let former = try #require(session.processes().first { $0.binding == "a" && $0.name == "foot" })
  let number = try #require(try session.entry("b", "presenting"))["presentation"]
  // Killed in the middle of it.
  try session.stop(SIGKILL)
  try session.start()
  let next = try #require(try session.entry("b", "presenting"))
  #expect(try session.entry("a", "dismissing")?["presentation"] == next["replacing"])
  #expect(next["presentation"] == number)
  #expect(session.processes().contains(former))
  #expect(try screen.all().map(\.name) == ["a"])
  let watcher = try session.watch()
  try session.write("", to: "go")
  try session.poll("one has handed over to the other") {
    let names = try screen.all().map(\.name)
    #expect(!names.isEmpty, "there is a gap")
    return names == ["b"]
  }
  try session.wait("the former one has ended") { watcher.lines.last == "dismissed a deselected" }
  let order = watcher.lines.filter { $0 == "presented b" || $0 == "dismissed a deselected" }
  #expect(order == ["presented b", "dismissed a deselected"])
  // A program that ends without a window leaves the window that is there.
  let broken = try session.navctl("present", "broken", "--wait", "--json")
  #expect(try JSON.parse(broken.outputText)["kept"] == "b")
  #expect(try screen.all().map(\.name) == ["b"])
  #expect(try session.entry("b", "presented") != nil)
  // The next one is found, too, if navd is killed while it comes.
  try session.runNavctl("present", "c")
  try session.stop(SIGKILL)
  try session.start()
  try screen.wait(for: ["c"])
  try session.poll("c alone is left") {
    try session.entry("c", "presented") != nil && session.state()["presentations"]?.array?.count == 1
  }
}
