import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Windows that come to their user, on real window managers (N11): a key shows a window where its user is, and the manager's own
// tree of windows is the judge.

private typealias Rows = CoordinatorInterface

@Suite struct HereTests {
  /// The command of a destination whose window has its name.
  private static func command(_ name: String, on manager: Desktop.Manager) -> String {
    let terminal = manager == .sway ? ["foot", "--app-id=\(name)"] : ["xterm", "-class", name]
    let words = (terminal + ["-e", "sleep", "1000"]).map { "'\($0)'" }.joined(separator: ", ")
    return "command = [\(words)]\nwindow = { app-id = '\(name)' }\n"
  }

  private static func desktop(_ manager: Desktop.Manager, _ more: [String: String]) throws -> WindowedDesktop {
    let destinations = Dictionary(uniqueKeysWithValues: more.map { ($0, command($0, on: manager) + $1) })
    return try WindowedDesktop(manager, destinations: destinations)
  }

  @Test(
    "N11: a toggle on another workspace brings the window there, and the next one closes it",
    arguments: [Desktop.Manager.sway, .i3, .openbox])
  func toggle_onOtherWorkspace_brings(_ manager: Desktop.Manager) throws {
    let desktop = try Self.desktop(manager, ["plain": ""])
    let (session, screen) = (desktop.session, desktop.screen)
    try screen.show(workspace: 1)
    let path = try session.open("plain")
    try session.poll("navd knows that it is in view") { try session.isInView("plain") == true }
    try screen.show(workspace: 3)
    try session.poll("navd knows that it is not") { try session.isInView("plain") == false }
    try session.runNavctl("toggle", "plain")
    try screen.poll("plain", "has come") { $0?.workspace == "3" && $0?.isFocused == true }
    #expect(try session.call(Rows.get, "plain").0 == path)
    try session.poll("navd knows that it is here") { try session.isInView("plain") == true }

    // The user goes to the window with --raise.
    try screen.show(workspace: 1)
    try session.poll("navd knows that it is not") { try session.isInView("plain") == false }
    let raised = try session.navctl("toggle", "plain", "--raise", "--json")
    #expect(raised.json?["presented"] == true, "\(raised.outputText)")
    try session.poll("its workspace is shown") { try screen.workspace() == "3" }
    try session.poll("navd knows that it is in view") { try session.isInView("plain") == true }
    try session.runNavctl("toggle", "plain")
    #expect(try session.ending(of: path).reason == "dismissed")
    try screen.wait(for: [])
  }

  @Test("N11: with here, the window comes from another screen, where it is in view")
  func here_onOtherOutput_brings() throws {
    let desktop = try Self.desktop(.sway, ["plain": "", "pad": "here = true\n"])
    let (session, screen) = (desktop.session, desktop.screen)
    try session.addOutput()
    try session.focus(output: "HEADLESS-1")
    let (plain, pad) = (try session.open("plain"), try session.open("pad"))
    try session.focus(output: "HEADLESS-2")
    try session.runNavctl("toggle", "plain", "--here")
    try session.runNavctl("present", "pad")
    for name in ["plain", "pad"] { try screen.poll(name, "has come") { $0?.output == "HEADLESS-2" } }
    try session.poll("navd knows") { try session.output(of: "plain") == "HEADLESS-2" }
    try session.runNavctl("toggle", "plain", "--here")
    #expect(try session.ending(of: plain).reason == "dismissed")
    // A window that is in view anywhere is closed without here.
    try session.focus(output: "HEADLESS-1")
    try session.poll("navd knows") { try session.output(of: "pad") == "HEADLESS-2" }
    let run = try session.navctl("toggle", "pad", "--json")
    #expect(run.json?["presented"] == true, "\(run.errorText)")
    try screen.poll("pad", "has come") { $0?.output == "HEADLESS-1" }
    #expect(try session.call(Rows.get, "pad").0 == pad)
  }

  @Test("N11, U3: a panel of a group for each output opens on the screen where its key is pressed")
  func toggle_inGroupPerOutput_opensOnScreenOfKey() throws {
    let desktop = try Self.desktop(
      .sway, ["mixer": "group = 'panels-{output}'\n", "wifi": "group = 'panels-{output}'\n", "plain": ""])
    let (session, screen) = (desktop.session, desktop.screen)
    try session.addOutput()
    func press(_ name: String, on output: String, _ more: String...) throws {
      try session.focus(output: output)
      let arguments = ["toggle", name, "--output", "focused"] + more
      let run = try session.run(program: session.executable("navctl"), arguments)
      try #require(run.exitCode == 0, "\(run.errorText)")
    }
    func isOn(_ name: String, _ output: String?) throws {
      try screen.poll(name, "is on \(output ?? "no screen")") { $0?.output == output }
      try session.poll("navd knows") { try session.output(of: name) == output }
    }
    try press("mixer", on: "HEADLESS-2")
    try isOn("mixer", "HEADLESS-2")
    try press("wifi", on: "HEADLESS-1")
    try isOn("wifi", "HEADLESS-1")
    try press("mixer", on: "HEADLESS-1")
    try isOn("mixer", "HEADLESS-1")
    try isOn("wifi", nil)
    #expect(try session.call(Rows.get, "mixer").1["group"] == "panels-HEADLESS-1".value)
    try press("mixer", on: "HEADLESS-1")
    try isOn("mixer", nil)

    // A window without a group is moved, with the focus.
    try press("plain", on: "HEADLESS-2")
    try isOn("plain", "HEADLESS-2")
    let path = try session.call(Rows.get, "plain").0
    try press("plain", on: "HEADLESS-1", "--raise")
    try isOn("plain", "HEADLESS-1")
    try screen.poll("plain", "has the focus") { $0?.isFocused == true }
    #expect(try session.call(Rows.get, "plain").0 == path)
  }

  @Test("N11: where no adapter can bring windows, here is refused with the reason")
  func here_withoutCapability_isRefused() throws {
    let session = try Session(
      destinations: ["files": "command = ['sleep', '1000']\nwindow = { app-id = 'files' }"])
    let adapter = try ScriptedWindowSystem(session, capabilities: [.pid, .close, .activate])
    adapter.open(Window("stranger"))
    let refused = try session.navctl("present", "files", "--here")
    #expect(refused.exitCode == CommandStatus.refused.rawValue)
    #expect(
      refused.errorText.contains(
        "bringing a window to the place in use needs “summon”, which the backend “scripted” does not offer on this desktop"
      ),
      "\(refused.errorText)")
    #expect(try session.navctl("present", "files", "--raise", "--here").exitCode == CommandStatus.refused.rawValue)
  }
}

extension Session {
  private func window(of binding: String) throws -> Properties? {
    StateEntry(try call(Rows.get, binding).1).windows?.first
  }

  fileprivate func isInView(_ binding: String) throws -> Bool? {
    try window(of: binding)?["in-view"].flatMap { Bool(value: $0) }
  }

  fileprivate func output(of binding: String) throws -> String? {
    try window(of: binding)?["output"].flatMap { String(value: $0) }
  }
}
