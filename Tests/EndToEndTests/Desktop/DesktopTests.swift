import CoordinatorAPI
import Glibc
import TestSupport
import Testing

// Windows of items on a real desktop: they are open while their items are presented, and never together in one group.

private typealias Rows = CoordinatorInterface

/// A destination that opens a terminal window with this name.
private func terminal(_ name: String, _ more: String = "") -> String {
  "command = [\"foot\", \"--app-id=\(name)\", \"-e\", \"sleep\", \"1000\"]\n\(more)"
}

private let panels = ["mixer", "wifi", "calendar"]

extension Session {
  fileprivate func isPresented(_ binding: String) throws -> Bool {
    try navctl("is-presented", binding).exitCode == 0
  }
}

/// The destinations of the test, and the names of their windows.
private let programs = [
  ("foot", terminal("foot")),
  ("zenity", "command = [\"zenity\", \"--info\", \"--text=Saved.\"]\n"),
  ("Rofi", "command = [\"rofi\", \"-normal-window\", \"-show\", \"run\"]\n"),
]

@Test(
  "A window is on screen while its slot holds the item; an item closed by the user ends as “closed”",
  arguments: programs)
func desktop_window_isOnScreenExactlyWhileItIsPresented(_ name: String, _ destination: String) throws {
  let session = try Session(destinations: ["window": destination], desktop: .sway)
  let windows = try Windows(session)
  let watcher = try session.watch()
  #expect(windows.open == [])

  try session.runNavctl("present", "window", "1")
  try windows.wait(for: name)
  #expect(try windows.tree() == windows.open)
  #expect(try session.isPresented("window"))
  let handle = try session.call(Rows.get, "window").0

  // The same id keeps the window.
  try session.runNavctl("present", "window", "1", "--value", "a=b")
  try windows.catchUp()
  #expect(windows.log == ["new \(name)"])

  // The user closes the window.
  try windows.close(windows.open[0])
  #expect(try session.ending(of: handle).reason == "closed")
  try windows.wait()
  #expect(try windows.tree() == [])
  #expect(try !session.isPresented("window"))

  // navd closes the window.
  try session.runNavctl("present", "window", "2")
  try windows.wait(for: name)
  try session.runNavctl("dismiss", "window")
  try windows.wait()
  try session.wait("its end is announced") { watcher.lines.last == "dismissed window 2 dismissed" }
  #expect(windows.log == ["new \(name)", "close \(name)", "new \(name)", "close \(name)"])
}

@Test("P3: with another id, the old window closes before the new one opens")
func desktop_anotherID_isAnotherWindowAfterTheOld() throws {
  let session = try Session(
    destinations: ["fact": "command = [\"foot\", \"--app-id=fact-{id}\", \"-e\", \"sleep\", \"1000\"]\n"],
    desktop: .sway)
  let windows = try Windows(session)
  for id in 1...5 {
    try session.runNavctl("present", "fact", String(id))
    try windows.wait(for: "fact-\(id)")
  }
  #expect(windows.most == 1)
  // Of several quick replacements, each is never shown, or closes before the next; the last one stays.
  for id in 6...20 { try session.runNavctl("present", "fact", String(id)) }
  try windows.wait(for: "fact-20")
  #expect(windows.most == 1)
  #expect(try windows.tree() == windows.open)
}

@Test("G1: three panels switched as fast as navctl can are never on screen together")
func desktop_groupOfPanels_showsOneAtATime() throws {
  let session = try Session(
    destinations: Dictionary(uniqueKeysWithValues: panels.map { ($0, terminal($0, "group = \"panels\"\n")) }),
    desktop: .sway)
  let windows = try Windows(session)
  // The panels are selected one after the other, each when the one before is open.
  for tag in panels + panels {
    try session.runNavctl("select", "panels", tag)
    try windows.wait(for: tag)
    #expect(try windows.tree().map(\.name) == [tag])
  }
  // The user closes a panel: nothing is selected, and the next one opens as before.
  let closed = try session.call(Rows.get, "calendar").0
  try windows.close(windows.open[0])
  #expect(try session.ending(of: closed).reason == "closed")
  #expect(try session.navctl("selection", "panels").exitCode == 3)
  try session.runNavctl("toggle-selection", "panels", "wifi")
  try windows.wait(for: "wifi")
  try session.runNavctl("toggle-selection", "panels", "wifi")
  try windows.wait()

  // Several clients select panels at once, and do not wait.
  var runs: [Program] = []
  for round in 0..<60 {
    let verb = round % 4 == 3 ? "toggle-selection" : "select"
    runs.append(try session.startNavctl(verb, "panels", panels[round * 7 % 3]))
    if round % 6 == 5 {
      for run in runs { try session.wait("navctl ends") { run.hasEnded } }
      #expect(runs.allSatisfy { $0.exitCode == 0 })
      runs = []
      // On a slow machine no panel of a round is shown. One is now, and the user closes it while the next are selected.
      if round % 12 == 5 {
        try session.runNavctl("select", "panels", panels[round % 3])
        try windows.wait(for: panels[round % 3])
        _ = try? windows.close(windows.open[0])
      }
    }
  }
  try session.runNavctl("deselect", "panels")
  try session.runNavctl("select", "panels", "mixer")
  try windows.wait(for: "mixer")
  #expect(windows.most == 1, "\(windows.log)")
  #expect(windows.log.count > 16, "\(windows.log)")
  #expect(try windows.tree().map(\.name) == ["mixer"])
  #expect(try session.navctl("selection", "panels").outputText == "mixer\n")
}

@Test("C3: a dialog closes before the window that presented it; closing the window also closes the dialog")
func desktop_dialog_closesBeforeItsParent() throws {
  let session = try Session(
    destinations: ["editor": terminal("editor"), "question": programs[1].1], desktop: .sway)
  let windows = try Windows(session)
  try session.runNavctl("present", "editor")
  // On a busy machine the dialog's window could open first.
  try windows.wait(for: "editor")
  try session.runNavctl("present", "editor.sure", "--to", "question")
  try windows.wait(for: "editor", "zenity")
  try session.runNavctl("dismiss", "editor")
  try windows.wait()
  #expect(windows.log == ["new editor", "new zenity", "close zenity", "close editor"])

  try session.runNavctl("present", "editor")
  try windows.wait(for: "editor")
  try session.runNavctl("present", "editor.sure", "--to", "question")
  try windows.wait(for: "editor", "zenity")
  let dialog = try session.call(Rows.get, "editor.sure").0
  try windows.close(windows.open[0])
  #expect(try session.ending(of: dialog).reason == "parent")
  try windows.wait()
}

@Test("R5: windows survive a kill of navd and are adopted by the next one")
func desktop_navdKilled_windowsStay() throws {
  let session = try Session(destinations: ["notes": terminal("notes")], desktop: .sway)
  let windows = try Windows(session)
  try session.runNavctl("present", "notes")
  try windows.wait(for: "notes")
  let handle = try session.call(Rows.get, "notes").0
  try session.stop(SIGKILL)
  try windows.catchUp()
  #expect(windows.open.map(\.name) == ["notes"])
  try session.start()
  #expect(try session.isPresented("notes"))
  try windows.close(windows.open[0])
  #expect(try session.ending(of: handle).reason == "closed")
  #expect(windows.most == 1)
}

@Test("A key bound to navctl opens and closes a panel, and its first press starts navd")
func desktop_keyBinding_togglesAPanel() throws {
  let session = try Session(
    destinations: ["mixer": terminal("mixer")], starting: false, activatable: true, desktop: .sway,
    configuration: "bindsym Mod4+v exec navctl toggle mixer\n")
  let windows = try Windows(session)
  for _ in 0..<3 {
    try session.press("v", withLogo: true)
    try windows.wait(for: "mixer")
    try session.press("v", withLogo: true)
    try windows.wait()
  }
  #expect(windows.most == 1)
}

@Test("Nothing of a test's desktop survives the test", arguments: [Desktop.Manager.sway, .i3])
func desktop_end_leavesNoProcess(_ manager: Desktop.Manager) throws {
  func home() throws -> String {
    let session = try Session(
      destinations: ["question": programs[1].1], starting: false, activatable: true, desktop: manager)
    let windows = try Windows(session)
    // A navd that the bus has activated starts one process, and no object here holds the other one.
    try session.runNavctl("present", "question")
    try windows.wait(for: manager == .sway ? "zenity" : "Zenity")
    try windows.ask("exec rofi -normal-window -show run")
    try windows.wait(for: manager == .sway ? "zenity" : "Zenity", "Rofi")
    let home = String(session.path("").dropLast())
    #expect(Session.remains(of: home).count >= 6)
    return home
  }
  #expect(try Session.remains(of: home()) == [])
}
