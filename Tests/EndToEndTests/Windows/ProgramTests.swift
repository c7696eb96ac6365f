import CoordinatorAPI
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Real programs on real window managers, with navd-windows. The tree of the manager says which windows there are, and
// docs/windows.md what was seen.

private typealias Rows = CoordinatorInterface

/// A program that shows a window, in a destination that follows it.
struct WindowedProgram: Sendable, CustomTestStringConvertible {
  let name: String
  /// The destination file.
  let destination: String
  /// A part of the window's app-id, or of its class on X11.
  let window: String
  /// A shell script that runs before the program, with windows that belong to nobody.
  var before = ""
  /// Parts of the names of the windows of `before`.
  var strangers: [String] = []
  /// The window managers on which it cannot run, with the reasons.
  var unable: [Desktop.Manager: String] = [:]
  var files: [String: String] = [:]
  /// Whether only `make check-programs` installs its packages.
  var isHeavy = false
  /// The peculiarity of the program, for the table.
  let note: String
  var testDescription: String { name }

  private static let waylandOnly: [Desktop.Manager: String] = [.i3: "Wayland only", .openbox: "Wayland only"]
  /// The reason for foot: 1.13 crashes on the virtual output of KWin; foot 1.21 does not on that of KWin 6.3.
  private static let footUnable = waylandOnly.merging([.kwin: "foot 1.13 crashes without a screen"]) { $1 }
  private static let software = "LIBGL_ALWAYS_SOFTWARE=1"
  private static let kitty =
    "env \(software) kitty --single-instance --instance-group=\\\"$HOME\\\" -o confirm_os_window_close=0"
  private static let firefox = "MOZ_ENABLE_WAYLAND=1 firefox-esr --profile \\\"$HOME/firefox\\\""

  private static func quoted(_ script: String) -> String { script.filter { $0 != "\\" } }

  static let all = [
    WindowedProgram(
      name: "foot", destination: "command = ['foot', '--app-id=notes', '-e', 'sleep', '1000']\nwindow = true",
      window: "notes", unable: footUnable, note: "`window = true`"),
    WindowedProgram(
      name: "footclient",
      destination:
        "command = ['footclient', '--no-wait', '--app-id=notes', '-e', 'sleep', '1000']\nwindow = { app-id = 'notes' }",
      window: "notes",
      before: """
        foot --server &
        while footclient --app-id=stranger -e sleep 1000; [ $? = 220 ]; do sleep 0.05; done &
        wait
        """,
      strangers: ["stranger"], unable: footUnable, note: "`--no-wait`, `foot --server` runs before it"),
    WindowedProgram(
      name: "xterm", destination: "command = ['xterm', '-class', 'Notes', '-e', 'sleep', '1000']\nwindow = true",
      window: "otes", note: "`window = true`"),
    WindowedProgram(
      name: "gnome-terminal",
      destination: "command = ['gnome-terminal', '--', 'sleep', '1000']\nwindow = { app-id = '[Gg]nome-terminal*' }",
      window: "nome-terminal",
      before: "dbus-update-activation-environment --all && exec gnome-terminal -- sleep 1000",
      strangers: ["nome-terminal"], isHeavy: true, note: "one process has all windows"),
    WindowedProgram(
      name: "kitty --single-instance",
      destination: "command = ['sh', '-c', \"exec \(kitty) --class=notes sleep 1000\"]\nwindow = { app-id = 'notes' }",
      window: "notes", before: "exec \(quoted(kitty)) --class=stranger sleep 1000", strangers: ["stranger"],
      isHeavy: true, note: "one process has all windows"),
    WindowedProgram(
      name: "thunar", destination: "command = ['thunar', '/usr']\nwindow = { app-id = '[Tt]hunar', title = 'usr*' }",
      window: "hunar", before: "exec thunar /etc", strangers: ["hunar"], note: "a Thunar runs before it"),
    WindowedProgram(
      name: "firefox-esr",
      destination:
        "command = ['sh', '-c', \"exec env \(firefox) --new-window about:blank\"]\nwindow = { app-id = 'firefox-esr' }",
      window: "irefox-esr", before: "exec env \(quoted(firefox)) about:blank", strangers: ["irefox-esr"],
      files: [
        "firefox/user.js": """
        user_pref("browser.shell.checkDefaultBrowser", false);
        user_pref("browser.aboutwelcome.enabled", false);
        user_pref("datareporting.policy.dataSubmissionEnabled", false);
        user_pref("browser.startup.homepage_override.mstone", "ignore");

        """
      ], isHeavy: true, note: "the second window of one that runs"),
    WindowedProgram(
      name: "emacsclient -c",
      destination:
        "command = ['emacsclient', '-c', '-F', '((title . \"notes\"))']\nwindow = { app-id = '[Ee]macs', title = 'notes' }",
      window: "macs",
      before: """
        emacs -Q --fg-daemon &
        until emacsclient -c -F '((title . "stranger"))'; do sleep 0.1; done &
        wait
        """, strangers: ["macs"], isHeavy: true, note: "an X11 program; the client waits until its frame is closed"),
    WindowedProgram(
      name: "zenity", destination: "command = ['zenity', '--info', '--text=Saved.']\nwindow = true", window: "enity",
      note: "its answer is in the result"),
    WindowedProgram(
      name: "mousepad", destination: "command = ['mousepad', '--disable-server']\nwindow = true", window: "ousepad",
      note: "`--disable-server`"),
    WindowedProgram(
      name: "a wrapper script",
      destination: "command = ['sh', '-c', 'zenity --info --text=Saved. & wait']\nwindow = true", window: "enity",
      note: "the window of a child process"),
    WindowedProgram(
      name: "gtk-launch",
      destination: "command = ['gtk-launch', 'notes']\nscope = 'process'\nwindow = { app-id = '[Zz]enity' }",
      window: "enity",
      files: [
        ".local/share/applications/notes.desktop": """
        [Desktop Entry]
        Type=Application
        Name=Notes
        Exec=zenity --info --text=Saved.

        """
      ], note: "starts the program of a `.desktop` file; `scope = \"process\"`"),
  ]

  /// The programs of this run, each with each window manager.
  static let onManagers = all.filter { ProgramTable.isWritten || !$0.isHeavy }
    .flatMap { program in ProgramTable.tried.map { (program, $0) } }
}

/// A program with a splash screen, and then a window with a dialog.
private let splash = """
  import gi
  gi.require_version("Gdk", "3.0")
  gi.require_version("GLib", "2.0")
  gi.require_version("Gtk", "3.0")
  from gi.repository import Gdk, GLib, Gtk
  GLib.set_prgname("notes")
  Gdk.set_program_class("notes")
  def show(title):
      window = Gtk.Window(title=title)
      window.set_default_size(300, 200)
      window.show_all()
      return window
  def ask(window):
      dialog = Gtk.Dialog(title="find", transient_for=window)
      dialog.set_default_size(100, 100)
      dialog.connect("delete-event", lambda *_: dialog.destroy())
      dialog.show_all()
  def start():
      window = show("main")
      window.connect("destroy", Gtk.main_quit)
      GLib.timeout_add(200, ask, window)
  splash = show("splash")
  GLib.timeout_add(300, splash.destroy)
  GLib.timeout_add(800, start)
  Gtk.main()
  """

@Suite struct ProgramTests {
  @Test("docs/windows.md has a result for each program on each window manager")
  func documents_listThePrograms() throws {
    guard !ProgramTable.isWritten else { return }
    let cells = try ProgramTable.cells()
    #expect(cells.keys.sorted() == ProgramTable.rows.map(\.name).sorted())
    for (name, row) in cells {
      #expect(
        row.allSatisfy { !["", ProgramTable.failed].contains($0) }, "the row \(name) has no cell without a sight")
    }
  }

  @Test(
    "N1–N5: a program's item is on the screen exactly while its window is, and other windows stay",
    arguments: WindowedProgram.onManagers)
  func program_window_isItem(_ program: WindowedProgram, _ manager: Desktop.Manager) throws {
    try ProgramTable.note(program.name, on: manager) {
      if let reason = program.unable[manager] { return "not run: \(reason)" }
      let desktop = try WindowedDesktop(
        manager, destinations: ["notes": program.destination], files: program.files)
      let (session, screen) = (desktop.session, desktop.screen)
      let before = try program.before.isEmpty ? nil : session.start(program: "/bin/sh", ["-c", program.before])
      let strangers = try screen.wait(for: program.strangers)
      // GNOME's adapter tells a window after its first frame.
      try session.poll("they are told") { try session.navctl("windows").lines.count == strangers.count }

      // The user closes the window.
      let first = try session.open("notes")
      let all = try screen.wait(for: program.strangers + [program.window])
      let shown = try #require(all.first { window in !strangers.contains { $0.id == window.id } })
      let sight = try sight(of: shown, session)
      try waitForItsOwn(session)
      try screen.close(shown)
      #expect(try screen.wait(for: program.strangers).map(\.id) == strangers.map(\.id))
      #expect(try session.ending(of: first).reason == "closed")

      // navd closes the window.
      let second = try session.open("notes")
      try screen.wait(for: program.strangers + [program.window])
      try waitForItsOwn(session)
      try session.dismiss("notes")
      #expect(try session.ending(of: second).reason == "dismissed")
      #expect(try screen.wait(for: program.strangers).map(\.id) == strangers.map(\.id))
      #expect(before?.status == nil || before?.status == .exited(code: 0))
      return sight
    }
  }

  /// Waits until the item has the window that its command has opened. If a program that runs before takes its time, the item has a guest
  /// until that window is told (N12).
  private func waitForItsOwn(_ session: Session) throws {
    try session.poll("the item has its own window") {
      let windows = StateEntry(try session.call(Rows.get, "notes").1).windows ?? []
      return windows.count == 1 && windows[0]["guest"] == nil
    }
  }

  /// The owner of a window, by the process table.
  private func sight(of window: ManagersWindows.Window, _ session: Session) throws -> String {
    let own = session.processes().map(\.pid)
    guard let pid = try ManagersWindows(session: session).process(of: window) else {
      return own.isEmpty ? "handed over" : "its window"
    }
    return own.contains(pid) ? "its window" : "handed over"
  }

  @Test(
    "N3, N5: with linger, the window after a splash screen belongs to the item; an open dialog asks its user",
    arguments: ProgramTable.tried)
  func splashScreen_followedByWindow_isOneItem(_ manager: Desktop.Manager) throws {
    try ProgramTable.note(ProgramTable.splash, on: manager) {
      let desktop = try WindowedDesktop(
        manager,
        destinations: [
          "notes": "command = ['sh', '-c', 'exec python3 \"$HOME/splash.py\"']\nwindow = { linger = '5s' }"
        ],
        files: ["splash.py": splash])
      let (session, screen) = (desktop.session, desktop.screen)
      let watcher = try session.watch()
      let path = try session.open("notes")
      try session.poll("the window after the splash screen is there, with its dialog") {
        try screen.all().map(\.title).sorted() == ["find", "main"]
      }
      #expect(try session.call(Rows.get, "notes").0 == path)
      try session.poll("navd knows both") {
        StateEntry(try session.call(Rows.get, "notes").1).windows?.count == 2
      }
      try session.dismiss("notes")
      try session.poll("it asks") { try session.navctl("list").outputText.contains("dismissing (asking)") }
      let dialog = try #require(try screen.all().first { $0.title == "find" })
      try screen.close(dialog)
      try session.wait("it is kept") { watcher.lines.contains("declined notes") }
      #expect(try screen.all().map(\.title) == ["main"])
      try session.dismiss("notes")
      #expect(try session.ending(of: path).reason == "dismissed")
      try screen.wait(for: [])
      return "its windows, asked"
    }
  }

  @Test(
    "N5, N6: unsaved text survives a dismissal that its user cancels, and not one that is agreed to or forced",
    arguments: ProgramTable.tried)
  func editor_unsaved_asksItsUser(_ manager: Desktop.Manager) throws {
    try ProgramTable.note(ProgramTable.unsaved, on: manager) {
      let editor = try UnsavedEditor(on: manager)
      let (session, screen, watcher) = (editor.session, editor.screen, editor.watcher)

      // The user cancels, and the state has the editor again.
      let first = try editor.open()
      try editor.leave()
      watcher.clear()
      try editor.answer(with: "Escape", until: "it is kept") { watcher.lines.contains("declined notes") }
      #expect(try session.call(Rows.get, "notes").0 == first)
      #expect(try session.navctl("selection", "panels").outputText == "notes\n")
      #expect(try screen.wait(for: ["ousepad"])[0].title.contains("*Untitled"))

      // The user discards the text, and the other member is shown.
      try editor.leave()
      try editor.answer(with: "alt+d", until: "it is gone") {
        try session.call(Rows.get, "notes").0 == .root
          && session.state()["presentations"]?.array?.map { $0["binding"] } == ["panels.other"]
      }
      #expect(try session.ending(of: first).reason == "deselected")
      try screen.wait(for: [])

      // The editor asks nobody.
      let second = try editor.open()
      try session.runNavctl("dismiss", "notes", "--force")
      #expect(try session.ending(of: second).reason == "dismissed")
      try screen.wait(for: [])
      return manager == .kwin ? "asked, as an X window" : "asked"
    }
  }

  @Test(
    "R9, N8: navctl quit loses no unsaved text of a program that a dismissal hides, and shows its question",
    arguments: [Desktop.Manager.sway, .i3, .openbox], [false, true])
  func hiddenEditor_unsaved_outlivesQuit(_ manager: Desktop.Manager, isHidden: Bool) throws {
    let editor = try UnsavedEditor(on: manager, "dismissal = 'hide'")
    let (session, screen) = (editor.session, editor.screen)
    let first = try editor.open()
    if isHidden {
      try session.runNavctl("toggle", "notes")
      _ = try session.ending(of: first)
    }
    let refused = try session.navctl("quit")
    #expect(refused.exitCode == 1 && refused.errorText.contains("“notes” stays"), "\(refused.errorText)")
    try session.poll("the text and the question are seen") {
      try session.call(Rows.get, "notes").1[StateEntry.keys.phase] == "presented" && screen.all().count == 2
    }
    try session.poll("the question has the focus", until: editor.isAsked)
    try editor.answer(with: "alt+d", until: "it is gone") { try session.call(Rows.get, "notes").0 == .root }
    try session.runNavctl("quit")
    #expect(try session.waitForEnd() == .exited(code: 0))
  }
}

/// An editor of texts in a group, with a user who types and answers its question.
private struct UnsavedEditor {
  let session: Session
  let screen: ManagersWindows
  let watcher: Watcher
  private let desktop: WindowedDesktop
  private let keyboard: WaylandKeyboard?

  init(on manager: Desktop.Manager, _ more: String = "group = 'panels'") throws {
    // xdotool types only in X windows.
    let display = manager == .kwin ? "'env', 'GDK_BACKEND=x11', " : ""
    desktop = try WindowedDesktop(
      manager,
      destinations: [
        "notes": "command = [\(display)'mousepad', '--disable-server']\nwindow = true\n\(more)"
      ])
    (session, screen) = (desktop.session, desktop.screen)
    watcher = try session.watch()
    // GTK finds the key of a mnemonic only with an ordinary layout.
    keyboard = manager == .sway ? try WaylandKeyboard(session) : nil
  }

  private func press(_ key: String) throws { try keyboard?.press(key) ?? session.press(key) }

  /// Opens the editor and types a letter, so that it is not saved.
  func open() throws -> ObjectPath {
    let path = try session.open("notes")
    let window = try screen.wait(for: ["ousepad"])[0]
    try session.poll("it has the focus") { try screen.window(window.name)?.isFocused == true }
    try session.poll("a letter is typed") {
      try press("b")
      return try screen.window(window.name)?.title.contains("*Untitled") == true
    }
    return path
  }

  /// Selects another member, and waits for the question.
  func leave() throws {
    try session.runNavctl("select", "panels", "other", "--state")
    try session.poll("it asks") { try session.navctl("list").outputText.contains("dismissing (asking)") }
    try session.poll("the question has the focus", until: isAsked)
  }

  /// Whether the question has the focus.
  func isAsked() throws -> Bool {
    let windows = try screen.all()
    return windows.count == 2 && windows.contains { $0.isFocused && !$0.title.contains("*Untitled") }
  }

  /// Presses a key while the question has the focus, until it has an effect: a window that has just appeared may miss it.
  func answer(with key: String, until what: String, _ condition: () throws -> Bool) throws {
    try session.poll(what) {
      if try isAsked() { try press(key) }
      return try condition()
    }
  }
}
