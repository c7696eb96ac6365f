import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// The items of navd and navd-windows on real window managers. The manager's own tree says which windows there are.

private typealias Rows = CoordinatorInterface

/// Hidden windows in the scratchpad (N8).
@Suite struct HiddenProgramTests {
  @Test(
    "N8: a hidden window is in the scratchpad, and comes back as it was, of the same process",
    arguments: [Desktop.Manager.sway, .i3])
  func window_hidden_comesBack(_ manager: Desktop.Manager) throws {
    let terminal =
      manager == .sway
      ? "['foot', '--app-id=notes', '-e', 'sleep', '1000']" : "['xterm', '-class', 'notes', '-e', 'sleep', '1000']"
    let desktop = try WindowedDesktop(
      manager, destinations: ["notes": "command = \(terminal)\nwindow = true\ndismissal = 'hide'"])
    let session = desktop.session
    let windows = try Windows(session)
    let first = try session.open("notes")
    try desktop.screen.wait(for: ["notes"])
    try windows.catchUp()
    let window = windows.open[0]
    func tree() throws -> String { try windows.ask("-t", "get_tree").outputText.filter { $0 != " " && $0 != "\n" } }
    func isHidden() throws -> Bool {
      try windows.ask("-t", "get_tree").json?.scratchpad?.contains("notes") == true
    }
    try session.runNavctl("toggle", "notes")
    #expect(try session.ending(of: first).reason == "dismissed")
    #expect(try isHidden())
    #expect(try tree().contains("floating_con"))

    let second = try session.open("notes")
    try session.poll("it is shown") { try !isHidden() }
    try desktop.screen.wait(for: ["notes"])
    #expect(windows.open == [window])
    // The window was tiled.
    #expect(try !tree().contains("\"floating_con\""))
    try windows.waitForFocus(on: window.name)
    try session.runNavctl("dismiss", "notes")
    #expect(try session.ending(of: second).reason == "dismissed")
    try session.runNavctl("dismiss", "--parked")
    try desktop.screen.wait(for: [])
    try session.poll("it is parked no longer") { try session.state()["parked"] == nil }
  }

  @Test(
    "N8: a window in a floating container with its user's is not hidden, since both would be",
    arguments: [Desktop.Manager.sway, .i3])
  func window_inFloatingContainerOfOthers_stays(_ manager: Desktop.Manager) throws {
    let (terminal, name, property) =
      manager == .sway ? ("foot", "--app-id", "app_id") : ("xterm", "-class", "class")
    func arguments(_ id: String) -> [String] {
      (manager == .sway ? ["\(name)=\(id)"] : [name, id]) + ["-e", "sleep", "1000"]
    }
    let words = ([terminal] + arguments("notes")).map { "'\($0)'" }.joined(separator: ", ")
    let desktop = try WindowedDesktop(
      manager, destinations: ["notes": "command = [\(words)]\nwindow = true\ndismissal = 'hide'"])
    let session = desktop.session
    let windows = try Windows(session)
    let users = try ["other", "mine"].map { id in
      let program = try session.start(program: "/usr/bin/\(terminal)", arguments(id), mayFail: true)
      try session.poll("it is there") { try desktop.screen.all().contains { $0.name == id } }
      return program
    }
    _ = try windows.ask("[\(property)=mine] focus; split v; focus parent; floating enable; focus child")
    _ = try session.open("notes")
    try desktop.screen.wait(for: ["mine", "notes", "other"])
    let watcher = try session.watch()
    try session.dismiss("notes")
    try session.wait("it stays") { watcher.lines.contains("declined notes") }
    #expect(
      watcher.events.contains {
        $0.json["message"]?.string?.hasSuffix(
          "it is in a floating container with other windows, which would be hidden, too")
          == true
      })
    #expect(try windows.ask("-t", "get_tree").json?.scratchpad?.contains("mine") != true)
    for program in users { program.send(SIGKILL) }
  }
}

extension JSON {
  /// The content of the scratchpad of a tree, as text.
  fileprivate var scratchpad: String? {
    if self["name"] == "__i3_scratch" { return self["floating_nodes"]?.text }
    return self["nodes"]?.array?.lazy.compactMap(\.scratchpad).first
  }
}

/// Clicks on other windows, which end popups (N9, N10).
@Suite struct ClickTests {
  @Test(
    "N9, N10: a real click on another window, or pointing at it, ends a popup, and a toggle by it opens nothing",
    arguments: [Desktop.Manager.sway, .i3], [false, true])
  func click_onStranger_endsPopup(_ manager: Desktop.Manager, followsMouse: Bool) throws {
    let terminal = manager == .sway ? ["foot", "--app-id=popup"] : ["xterm", "-class", "popup"]
    let words = (terminal + ["-e", "sleep", "1000"]).map { "'\($0)'" }.joined(separator: ", ")
    let desktop = try WindowedDesktop(
      manager, destinations: ["popup": "command = [\(words)]\nwindow = true\nunfocus = 'dismiss'"],
      configuration: "focus_follows_mouse \(followsMouse ? "yes" : "no")\nworkspace_layout default\n")
    let session = desktop.session
    let windows = try Windows(session)
    let watcher = try session.watch()
    let stranger = manager == .sway ? ["foot", "--app-id=stranger"] : ["xterm", "-class", "stranger"]
    let other = try session.start(
      program: "/usr/bin/\(stranger[0])", stranger.dropFirst() + ["-e", "sleep", "1000"])
    try desktop.screen.wait(for: ["stranger"])
    let mouse = manager == .sway ? try WaylandKeyboard(session) : nil
    func point(_ x: Int) throws {
      if let mouse { return try mouse.point(x, 360) }
      _ = try session.run(program: "/usr/bin/xdotool", ["mousemove", "\(x)", "360"])
    }
    func click() throws {
      if let mouse { return try mouse.click() }
      _ = try session.run(program: "/usr/bin/xdotool", ["click", "1"])
    }

    // The popup is on the right.
    let path = try session.open("popup")
    try point(960)
    try windows.waitForFocus(on: "popup")
    try session.poll("navd knows the focus") {
      StateEntry(try session.call(Rows.get, "popup").1).windows?.first?["focused"] == true.value
    }
    watcher.clear()
    try click()
    try point(320)
    if !followsMouse {
      // All effects of the click have arrived.
      try windows.catchUp()
      #expect(windows.focused?.name.hasSuffix("popup") == true)
      #expect(try session.call(Rows.get, "popup").0 == path)
      try click()
    }
    try session.wait("the popup ends") { watcher.lines.contains("phase popup dismissing") }
    #expect(try session.call(Rows.toggle, ("popup", "", [:])).0 == false)
    #expect(try session.ending(of: path).reason == "unfocused")
    try desktop.screen.wait(for: ["stranger"])
    #expect(!other.hasEnded)
  }
}

/// Outputs of windows on a real sway (U1, U2).
@Suite struct WindowOutputProgramTests {
  @Test("U1, U2: a window opens on the output that its request names, with the focus left where it was")
  func window_withOutput_isThere() throws {
    let desktop = try WindowedDesktop(
      .sway, destinations: ["notes": "command = ['foot', '--app-id=notes', '-e', 'sleep', '1000']\nwindow = true"])
    let session = desktop.session
    let windows = try Windows(session)
    #expect(try session.run(program: "/usr/bin/swaymsg", ["create_output"]).exitCode == 0)
    try session.runNavctl("present", "notes", "--output", "HEADLESS-2")
    let path = try session.call(Rows.get, "notes").0
    func isOn(_ output: String) throws {
      try session.poll("the window is on \(output)") {
        let tree = try windows.ask("-t", "get_tree").json
        return tree?["nodes"]?.array?.first { $0["name"] == .string(output) }.map(\.text)?.contains("\"notes\"") == true
      }
      try session.poll("the state says so") {
        let entry = StateEntry(try session.call(Rows.get, "notes").1)
        return entry.output == output && entry.windows?.map { $0["output"] } == [.string(output)]
      }
    }
    #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
    try isOn("HEADLESS-2")
    try session.runNavctl("present", "notes", "--output", "HEADLESS-1")
    try isOn("HEADLESS-1")
    #expect(try session.call(Rows.get, "notes").0 == path)

    // The user goes to the other output.
    #expect(try session.run(program: "/usr/bin/swaymsg", ["focus", "output", "HEADLESS-2"]).exitCode == 0)
    try session.poll("it follows") {
      try session.navctl("present", "notes", "--output", "focused", "--json").json?["changed"] == true
    }
    try isOn("HEADLESS-2")
  }
}

/// Windows that a destination adopts after a handing over (N2).
@Suite struct AdoptingTests {
  @Test(
    "N2: with adopt, a window that asks for attention after a handing over is the item's",
    arguments: [Desktop.Manager.sway, .i3, .openbox, .gnome, .kwin])
  func window_urgentAfterHandingOver_isAdopted(_ manager: Desktop.Manager) throws {
    let desktop = try WindowedDesktop(
      manager,
      destinations: ["notes": "command = ['true']\nscope = 'process'\nwindow = { app-id = 'notes', adopt = true }"])
    let (session, screen) = (desktop.session, desktop.screen)
    func terminal(_ name: String) -> [String] {
      manager == .sway ? ["foot", "--app-id=\(name)"] : ["xterm", "-class", name]
    }
    var programs: [Program] = []
    for name in ["notes", "stranger"] {
      let words = terminal(name)
      programs.append(
        try session.start(
          program: "/usr/bin/\(words[0])", words.dropFirst() + ["-e", "sleep", "1000"], mayFail: true))
      try screen.poll(name, "has the focus") { $0?.isFocused == true }
    }
    let window = try #require(try screen.window("notes"))
    try session.runNavctl("present", "notes")
    let path = try session.call(Rows.get, "notes").0
    try session.poll("its command has handed over") { session.processes().isEmpty }
    #expect(try session.call(Rows.get, "notes").1[StateEntry.keys.phase] == "presenting")
    try screen.makeUrgent(window)
    try screen.poll("notes", "is urgent") { $0?.isUrgent == true }
    #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
    #expect(StateEntry(try session.call(Rows.get, "notes").1).windows?.count == 1)
    #expect(try session.navctl("windows").outputText.contains("urgent"))
    try screen.close(window)
    #expect(try session.ending(of: path).reason == "closed")
    try screen.wait(for: ["stranger"])
  }
}

/// Dismissals right after the start of a program (N5).
@Suite struct EarlyDismissalTests {
  /// A program that loses the first request to close its window, as a program may that still starts.
  private static let forgetful = """
    import gi
    gi.require_version("Gtk", "3.0")
    from gi.repository import Gtk
    window = Gtk.Window(title="forgetful")
    asked = []
    def delete(*_):
        asked.append(1)
        return len(asked) == 1
    window.connect("delete-event", delete)
    window.connect("destroy", Gtk.main_quit)
    window.show_all()
    Gtk.main()
    """

  @Test(
    "N5: a program that loses the request to close, since it still starts, is asked once more",
    arguments: [Desktop.Manager.sway, .openbox] + (AdapterSetup.isEverywhere ? [.gnome, .kwin] : []))
  func window_dismissedWhileItsProgramStarts_isAskedOnceMore(_ manager: Desktop.Manager) throws {
    let desktop = try WindowedDesktop(
      manager,
      destinations: [
        "panel": "command = ['sh', '-c', 'exec python3 \"$HOME/forgetful.py\"']\n"
          + "window = true\ngrace = '20s'"
      ],
      files: ["forgetful.py": Self.forgetful])
    let path = try desktop.session.open("panel")
    try desktop.session.dismiss("panel")
    #expect(try desktop.session.ending(of: path).reason == "dismissed")
  }

  /// xterm shows its window before the program in it can get the SIGHUP with which xterm ends it, so some of these dismissals were
  /// lost.
  @Test("N5: a terminal that is dismissed as soon as it is presented closes, each time")
  func terminal_dismissedAtOnce_closes() throws {
    let count = isThorough ? 500 : 20
    let desktop = try WindowedDesktop(
      .openbox, destinations: ["terminal": "command = ['xterm']\nwindow = true\ngrace = '1500ms'"])
    let session = desktop.session
    var kept = 0
    let watcher = try session.watch()
    for _ in 1...count {
      let path = try session.open("terminal")
      try session.dismiss("terminal")
      try session.wait("it has closed, or stays") {
        watcher.lines.contains { $0.hasPrefix("dismissed") || $0.hasPrefix("declined") }
      }
      if watcher.lines.contains(where: { $0.hasPrefix("declined") }) {
        kept += 1
        try session.dismiss("terminal", ["force": .boolean(true)])
      }
      _ = try session.ending(of: path)
      watcher.clear()
    }
    #expect(kept == 0, "\(kept) of \(count) were lost")
  }
}
