import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

// The recipes in docs/recipes on real desktops, with real bars, menus and dialogs: what each recipe promises, it does.

private typealias Rows = CoordinatorInterface

/// The files of recipes, with the panels that all of them use.
private func files(of recipes: String...) throws -> [String: String] {
  var files: [String: String] = [:]
  for recipe in ["README"] + recipes {
    for (name, text) in try Markdown("recipes/\(recipe).md").files { files["config/\(name)"] = text }
  }
  // These programs run in the terminals of the panels.
  for program in ["pulsemixer", "nmtui", "calcurse", "man"] { files["bin/\(program)"] = "#!/bin/sh\nexec sleep 1000\n" }
  return files
}

/// The configuration of i3, without what it does at login, which a test that has begun would not expect.
private func i3(_ files: [String: String]) -> String {
  (files["config/i3/config"] ?? "").replacing("exec --no-startup-id navctl close --all", with: "")
}

extension Session {
  /// Waits until the desktop has run what its configuration does at login, which starts navd.
  fileprivate func waitForLogin() throws {
    var isOver = false
    let watch = client.watchName(CoordinatorNames.bus) { isOver = $0 != nil }
    try wait("navd was started at login") { isOver }
    watch.cancel()
  }

  /// Adds a line to a file of the session's home.
  fileprivate func append(_ line: String, to name: String) throws {
    let file = try #require(fopen(path(name), "a"))
    fputs(line + "\n", file)
    fclose(file)
  }

  /// Requires that sway finds no mistake in a configuration file.
  fileprivate func requireValid(_ configuration: String) throws {
    let valid = try run(program: "/usr/bin/sway", ["-C", "-c", path(configuration)])
    #expect(valid.exitCode == 0, "\(valid.errorText)")
  }
}

// MARK: GNOME

@Test("The recipe for GNOME: its keys open and close panels, and keys of others stay")
func recipe_gnome_keysTogglePanels() throws {
  let session = try Session(desktop: .gnome, files: files(of: "gnome"))
  try session.enableExtension()
  let screen = ManagersWindows(session: session)
  // The programs that read the settings differ from the one that writes them.
  session.environment["GSETTINGS_BACKEND"] = "keyfile"
  session.environment["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=\(session.bus.directory)/system-bus"
  let settings = ["org.gnome.settings-daemon.plugins.media-keys", "custom-keybindings"]
  let directory = "/org/gnome/settings-daemon/plugins/media-keys/custom-keybindings"
  try session.runTool("/usr/bin/gsettings", ["set"] + settings + ["['\(directory)/other/']"])
  for _ in 1...2 {
    try session.runTool("/bin/sh", [session.path("config/navd/gnome-keys.sh")])
    let paths = try session.run(program: "/usr/bin/gsettings", ["get"] + settings).outputText
    let names = ["other", "navd-mixer", "navd-wifi", "navd-calendar", "navd-files", "navd-close"]
    #expect(paths == "[\(names.map { "'\(directory)/\($0)/'" }.joined(separator: ", "))]\n")
  }
  let keys = try session.start(
    program: "/usr/bin/env", ["G_MESSAGES_DEBUG=all", "/usr/libexec/gsd-media-keys", "--verbose"], mayFail: true)
  try session.wait("the keys are grabbed") {
    (keys.outputText + keys.errorText).contains("Grab call completed") || keys.hasEnded
  }
  try session.press("x", withLogo: true)
  try screen.wait(for: ["mixer"])
  try session.press("w", withLogo: true)
  try screen.wait(for: ["wifi"])
  try session.press("w", withLogo: true)
  try screen.wait(for: [])
  try session.press("c", withLogo: true)
  try screen.wait(for: ["calendar"])
  try session.press("BackSpace", withLogo: true)
  try screen.wait(for: [])
}

// MARK: labwc

@Test(
  "The recipe for labwc: its keys open and close panels, and bring one to the front",
  .enabled(if: DescribedDesktop.path?.hasSuffix("/labwc") == true, "make check-desktops has labwc"))
func recipe_labwc_keysTogglePanels() throws {
  let session = try Session(desktop: .described, files: files(of: "labwc"))
  let screen = ManagersWindows(session: session)
  func press(_ key: String) throws { try session.runTool("/usr/bin/wtype", ["-M", "logo", "-k", key]) }
  func shows(_ names: String...) throws {
    try session.poll("the panels \(names) are open") { try screen.all().map(\.name) == names }
  }
  try session.poll("the adapter was started at login") { try session.navctl("windows").exitCode == 0 }
  try press("x")
  try shows("mixer")
  try press("n")
  try shows("wifi")
  try press("x")
  try shows("mixer")
  try press("x")
  try shows()
  try press("c")
  try shows("calendar")
  let other = try session.start(program: "/usr/bin/foot", ["--app-id=other", "sleep", "1000"])
  try screen.poll("other", "has the focus") { $0?.isFocused == true }
  try press("c")
  try screen.poll("calendar", "has the focus") { $0?.isFocused == true }
  try press("c")
  try shows("other")
  try press("x")
  try shows("other", "mixer")
  try press("BackSpace")
  try shows("other")
  #expect(other.status == nil)
}

// MARK: waybar

/// Two bars of one waybar: the recipe's on top, and at the bottom a copy whose modules are fed by the test. The copy
/// shows how the recipe's bar should look.
private final class Bars {
  let session: Session
  private let waybar: Program

  init(_ session: Session) throws {
    self.session = session
    let recipe = try JSON.parse(Markdown("recipes/waybar.md").files["waybar/config"] ?? "")
    guard case .object(var twin) = recipe else { throw Session.Failure("no bar: \(recipe)") }
    twin["position"] = "bottom"
    for (name, value) in twin {
      guard case .object(var module) = value else { continue }
      try session.write("", to: "twin/\(name)")
      module["exec"] = .string("tail -n +1 -f \(session.path("twin/\(name)"))")
      twin[name] = .object(module)
    }
    try session.write(JSON.array([recipe, .object(twin)]).text, to: "config/waybar/config")
    waybar = try session.start(program: "/usr/bin/waybar", [])
  }

  private func top() throws -> [UInt8] { try session.picture("0,0 1280x30") }
  private func bottom() throws -> [UInt8] { try session.picture("0,690 1280x30") }

  /// Changes the texts of the bottom bar.
  /// - Parameter lines: the line of each module.
  func say(_ lines: [String: JSON]) throws {
    let before = try bottom()
    for (module, line) in lines { try session.append(line.text, to: "twin/custom/\(module)") }
    // The bar reads the lines one after the other.
    var last: [UInt8] = []
    var same = 0
    try session.poll("the bottom bar shows \(lines)") {
      let picture = try bottom()
      same = picture == last && picture != before ? same + 1 : 0
      last = picture
      return same == 3
    }
  }

  /// Waits until both bars look the same.
  /// - Returns: their pixels.
  func agree() throws -> [UInt8] {
    var picture: [UInt8] = []
    try session.poll("the bars look the same; waybar's errors: \(waybar.errorText)") {
      try #require(waybar.status == nil, "\(waybar.errorText)")
      picture = try top()
      return try picture == bottom()
    }
    return picture
  }

  var areDifferent: Bool { get throws { try top() != bottom() } }
}

@Test("The recipe for waybar: the bar follows the presented items")
func recipe_waybar_showsWhatIsPresented() throws {
  let session = try Session(desktop: .sway, files: files(of: "waybar"))
  try session.requireValid("config/sway/config")
  let windows = try Windows(session)
  let bars = try Bars(session)
  let none: JSON = ["text": "", "alt": "", "tooltip": "", "class": ["none"], "percentage": 0]
  func line(_ tag: String, text: String? = nil) -> JSON {
    ["text": .string(text ?? tag), "alt": .string(tag), "tooltip": "", "class": ["presented", .string(tag)]]
  }

  try bars.say(["mixer": none, "wifi": none, "panel": none, "dnd": none])
  let nothing = try bars.agree()
  #expect(Set(nothing.dropFirst(16)).count > 8, "there should be letters, with soft edges")

  // Each panel is opened twice, in turn.
  var pictures: [String: [UInt8]] = [:]
  for tag in ["mixer", "wifi", "mixer", "wifi"] {
    let lit = ["mixer": none, "wifi": none].merging([tag: line(tag)]) { $1 }
    try bars.say(lit.merging(["panel": line(tag)]) { $1 })
    #expect(try bars.areDifferent)
    try session.runNavctl("toggle", tag)
    try windows.wait(for: tag)
    let picture = try bars.agree()
    #expect(pictures[tag] == nil || pictures[tag] == picture)
    pictures[tag] = picture
  }
  #expect(Set([nothing] + pictures.values).count == 3)

  // Do not disturb is one press: the button is lit while somebody holds.
  try bars.say(["dnd": ["text": "", "class": ["none", "hold-dnd"]]])
  #expect(try bars.areDifferent)
  try session.runNavctl("hold", "dnd", "--toggle")
  #expect(try bars.agree() != pictures["wifi"])
  try bars.say(["dnd": none])
  #expect(try bars.areDifferent)
  try session.runNavctl("hold", "dnd", "--toggle")
  #expect(try bars.agree() == pictures["wifi"])

  // The title has Pango markup; the user closes the item; the bar outlives navd.
  try bars.say(["mixer": none, "wifi": none, "panel": line("calendar", text: "Mai &amp; &lt;Juni&gt;")])
  try session.runNavctl("present", "calendar", "--title", "Mai & <Juni>")
  try windows.wait(for: "calendar")
  #expect(try ![nothing, pictures["mixer"], pictures["wifi"]].contains(bars.agree()))
  try bars.say(["panel": none])
  #expect(try bars.areDifferent)
  try windows.close(windows.open[0])
  #expect(try bars.agree() == nothing)
  try session.stop(SIGKILL)
  try session.start()
  try bars.say(["mixer": line("mixer"), "panel": line("mixer")])
  try session.runNavctl("toggle", "mixer")
  #expect(try bars.agree() == pictures["mixer"])
}

// MARK: Keys

/// Requires that a panel opens as a floating window, and is replaced by another.
private func panelsFollowKeys(_ session: Session, _ windows: Windows) throws {
  try session.press("x", withLogo: true)
  try windows.wait(for: "mixer")
  try session.poll("the mixer floats") {
    try windows.ask("-t", "get_tree").outputText.contains("\"floating_con\"")
  }
  try session.press("n", withLogo: true)
  try windows.wait(for: "wifi")
}

/// A sway with the configuration of its recipe, whose user presses the keys.
private struct SwayRecipe {
  let session: Session
  let windows: Windows

  init() throws {
    var files = try files(of: "sway")
    files["bin/pactl"] = "#!/bin/sh\necho 'Volume: 40%'\n"
    session = try Session(
      starting: false, activatable: true, desktop: .sway, configuration: files["config/sway/config"] ?? "",
      files: files)
    try session.requireValid("config/sway/config")
    try session.waitForLogin()
    windows = try Windows(session)
  }

  /// Opens and closes panels by keys, one at a time.
  func togglePanels() throws {
    try panelsFollowKeys(session, windows)
    try session.press("c", withLogo: true)
    try windows.wait(for: "calendar")
    try session.press("c", withLogo: true)
    try windows.wait()
    try session.press("x", withLogo: true)
    try windows.wait(for: "mixer")
    try session.press("Escape", withLogo: true)
    try windows.wait()
    #expect(windows.most == 1)
  }

  /// Presses the keys of the volume, whose display ends by itself after the last of them.
  func changeVolume(_ watcher: Watcher) throws {
    try session.press("XF86AudioRaiseVolume")
    try session.press("XF86AudioLowerVolume")
    try windows.wait(for: "osd")
    try windows.wait()
    try session.wait("its timeout has passed") { watcher.lines(of: "osd").last == "dismissed expired" }
    #expect(watcher.lines(of: "osd").filter { $0 == "presented" }.count == 1)
  }

  func toggleLauncher(_ watcher: Watcher) throws {
    try session.press("d", withLogo: true)
    try session.wait("the launcher is presented") { watcher.lines(of: "launcher").last == "presented" }
    try session.press("d", withLogo: true)
    try session.wait("the launcher has ended") { watcher.lines(of: "launcher").last?.hasPrefix("dismissed") == true }
  }

  /// Pushes and pops pages of the manual, of which only the top one is visible.
  func pushAndPopPages() throws {
    try session.runNavctl("push", "manual", "page1", "bash", "--to", "page")
    try waitUntilVisible(["Page bash": true])
    try session.runNavctl("push", "manual", "page2", "sh", "--to", "page")
    try waitUntilVisible(["Page bash": false, "Page sh": true])
    try session.runNavctl("pop", "manual")
    try waitUntilVisible(["Page bash": true])
  }

  /// Shows another workspace, on which the panel is, too, and the page is not.
  func openPanelAndChangeWorkspace() throws {
    try session.press("x", withLogo: true)
    try windows.wait(for: "page", "mixer")
    try session.poll("the mixer is on every workspace") { try isSticky("mixer", in: tree()) }
    #expect(try windows.ask("workspace 2").exitCode == 0)
    try waitUntilVisible(["Page bash": false])
    try session.poll("the mixer is visible") { try isVisible("mixer", by: "app_id", in: tree()) == true }
  }

  private func tree() throws -> JSON { try JSON.parse(windows.ask("-t", "get_tree").outputText) }

  /// Waits until pages are visible or not, by their titles.
  private func waitUntilVisible(_ pages: [String: Bool]) throws {
    try session.poll("the pages are visible: \(pages)") {
      let tree = try tree()
      return pages.allSatisfy { isVisible($0.key, by: "name", in: tree) == $0.value }
    }
  }

  private func isSticky(_ appID: String, in node: JSON) -> Bool {
    if node["app_id"]?.string == appID { return node["sticky"] == true }
    return ((node["nodes"]?.array ?? []) + (node["floating_nodes"]?.array ?? [])).contains {
      isSticky(appID, in: $0)
    }
  }

  /// Whether a window is visible; nil if it does not exist.
  private func isVisible(_ text: String, by key: String, in node: JSON) -> Bool? {
    if node[key]?.string == text { return node["visible"] == true }
    return ((node["nodes"]?.array ?? []) + (node["floating_nodes"]?.array ?? [])).lazy
      .compactMap { isVisible(text, by: key, in: $0) }.first
  }
}

@Test("The recipe for sway: its keys open and close panels where their files say")
func recipe_sway_keysOpenAndClosePanels() throws {
  let sway = try SwayRecipe()
  try sway.togglePanels()
  let watcher = try sway.session.watch()
  try sway.changeVolume(watcher)
  try sway.toggleLauncher(watcher)
  try sway.pushAndPopPages()
  try sway.openPanelAndChangeWorkspace()
}

@Test("The recipe for i3: its keys open and close panels where their files say")
func recipe_i3_keysOpenAndClosePanels() throws {
  let files = try files(of: "i3")
  let session = try Session(
    starting: false, activatable: true, desktop: .i3, configuration: files["config/i3/config"] ?? "", files: files)
  let valid = try session.run(program: "/usr/bin/i3", ["-C", "-c", session.path("config/i3/config")])
  #expect(valid.exitCode == 0, "\(valid.outputText)\(valid.errorText)")
  try session.waitForLogin()
  let windows = try Windows(session)
  try panelsFollowKeys(session, windows)
  let handle = try session.call(Rows.get, "wifi").0
  try windows.close(windows.open[0])
  #expect(try session.ending(of: handle).reason == "closed")
  try session.press("c", withLogo: true)
  try windows.wait(for: "calendar")
  try session.press("Escape", withLogo: true)
  try windows.wait()
  #expect(windows.most == 1)
}

// MARK: polybar

@Test("The recipe for polybar: the bar follows the presented items, and can be clicked")
func recipe_polybar_showsWhatIsPresented() throws {
  var files = try files(of: "i3", "polybar")
  let recipe = files["config/polybar/config.ini"] ?? ""
  // The bar at the bottom is fed by the test, as with waybar.
  files["config/polybar/twin.ini"] = recipe.split(separator: "\n").map { line in
    if line == "[bar/top]" { return "[bar/twin]\nbottom = true" }
    return line.hasPrefix("exec = navctl") ? "exec = tail -n +1 -f ~/twin" : String(line)
  }.joined(separator: "\n")
  files["twin"] = "\n"
  let session = try Session(desktop: .i3, configuration: i3(files), files: files)
  let windows = try Windows(session)
  let bar = try session.start(program: "/usr/bin/polybar", ["top"])
  let configuration = session.path("config/polybar/twin.ini")
  let twin = try session.start(program: "/usr/bin/polybar", ["-c", configuration, "twin"])
  func say(_ line: String) throws { try session.append(line, to: "twin") }
  func agree(_ otherThan: [[UInt8]]) throws -> [UInt8] {
    var shown: [UInt8] = []
    try session.poll("the bars agree on other than \(otherThan.count)") {
      try #require(bar.status == nil && twin.status == nil, "\(bar.errorText)\(twin.errorText)")
      let (top, bottom) = session.desktop?.rows(top: 28, bottom: 28) ?? ([], [])
      shown = top
      return top == bottom && !otherThan.contains(top) && Set(top).count > 8
    }
    return shown
  }

  // The bars are windows, too.
  let nothing = try agree([])
  // This is a click on the button.
  try session.click(10, 14)
  try windows.wait(for: "Polybar", "Polybar", "mixer")
  try say("mixer")
  let mixer = try agree([nothing])
  try session.runNavctl("select", "panels", "wifi")
  try windows.wait(for: "Polybar", "Polybar", "wifi")
  try say("wifi")
  let wifi = try agree([nothing, mixer])
  try session.click(10, 14)
  try windows.wait(for: "Polybar", "Polybar", "mixer")
  try say("mixer")
  #expect(try agree([nothing, wifi]) == mixer)
  // The user closes the window.
  try windows.close(windows.open[2])
  try say("")
  #expect(try agree([mixer, wifi]) == nothing)
}

// MARK: rofi

@Test("The recipe for rofi: choosing an item in the menu opens it, and open items are marked")
func recipe_rofi_opensWhatIsChosen() throws {
  var files = try files(of: "i3", "rofi")
  files["bin/loginctl"] = "#!/bin/sh\necho \"$@\" >>\"$NAVD_TEST_JOURNAL\"\n"
  let session = try Session(desktop: .i3, configuration: i3(files), files: files)
  let windows = try Windows(session)
  for name in ["wifi", "mixer"] {
    let rofi = try session.start(program: session.path("config/rofi/panels.sh"), [])
    try session.waitForUnmanaged("rofi")
    try session.type(name)
    try session.press("Return")
    try session.wait("rofi ends") { rofi.hasEnded }
    try windows.wait(for: name)
  }
  // The same choice closes the item. The mode for all items works as well.
  for (mode, closing) in [("panels:navctl rofi --group panels", "mixer"), ("navd:navctl rofi", "note")] {
    try session.runNavctl("present", "--state", "note")
    let rofi = try session.start(program: "/usr/bin/rofi", ["-modi", mode, "-show", String(mode.prefix { $0 != ":" })])
    try session.waitForUnmanaged("rofi")
    try session.type(closing)
    try session.press("Return")
    try session.wait("rofi ends") { rofi.hasEnded }
    try session.poll("\(closing) has ended") { try session.call(Rows.get, closing).0 == .root }
  }
  try windows.wait()

  // The first menu returns an answer; the second one is closed by the same key.
  let power = try session.start(program: session.path("config/rofi/power.sh"), [])
  try session.waitForUnmanaged("rofi")
  try session.type("Lo")
  try session.press("Return")
  try session.wait("the script ends") { power.hasEnded }
  #expect(session.journalLines == ["lock-session"])
  let again = try session.start(program: session.path("config/rofi/power.sh"), [], mayFail: true)
  try session.waitForUnmanaged("rofi")
  #expect(try session.run(program: session.path("config/rofi/power.sh"), []).exitCode == 0)
  try session.wait("the script ends") { again.hasEnded }
  #expect(session.journalLines == ["lock-session"])
}

// MARK: zenity

@Test("The recipe for zenity: a script asks, and receives an answer or learns that there was none")
func recipe_zenity_isAnswered() throws {
  let files = try files(of: "i3", "zenity")
  let session = try Session(desktop: .i3, configuration: i3(files), files: files)
  let windows = try Windows(session)
  let script = session.path("config/scripts/ask.sh")
  let answered = try session.start(program: script, [])
  try windows.waitForFocus(on: "Zenity")
  try session.type("Blob")
  try session.press("Return")
  let watcher = try session.watch()
  try session.wait("the second question") {
    watcher.lines(of: "ask.sure").last?.hasPrefix("presented") == true || answered.hasEnded
  }
  try windows.waitForFocus(on: "Zenity")
  try session.press("Return")
  try session.wait("the script ends") { answered.hasEnded }
  #expect(answered.outputText == "Blob\n")
  #expect(answered.exitCode == 0)

  // Another client closes the dialog.
  let alone = try session.start(program: script, [], mayFail: true)
  // The window of the question before may still have the focus.
  try session.wait("it asks") { watcher.lines(of: "ask").last?.hasPrefix("presented") == true }
  try windows.waitForFocus(on: "Zenity")
  try session.runNavctl("dismiss", "ask")
  try session.wait("the script ends") { alone.hasEnded }
  #expect(alone.outputText == "")

  // The first answer is taken back.
  let doubtful = try session.start(program: script, [], mayFail: true)
  try session.wait("it asks") { watcher.lines(of: "ask").last?.hasPrefix("presented") == true }
  try windows.waitForFocus(on: "Zenity")
  try session.type("Blob")
  try session.press("Return")
  try session.wait("the second question") { watcher.lines(of: "ask.sure").last?.hasPrefix("presented") == true }
  try windows.waitForFocus(on: "Zenity")
  try session.press("Escape")
  try session.wait("the script ends") { doubtful.hasEnded }
  #expect(doubtful.outputText == "")
  #expect(doubtful.exitCode == 1)
}

// MARK: Dialogs of Swift programs

@Test(
  "The destinations for dialogs of Swift programs, with zenity and with GTK, report the pressed button before they end",
  arguments: [("dialog", "zenity"), ("gtk-dialog", "navd-dialog")])
func recipe_dialog_reportsTheButton(_ destination: String, _ window: String) throws {
  var files = ["config/navd/dialog.js": try Files.text(inPackage: "docs/recipes/dialog.js")]
  for (name, text) in try Markdown("swift.md").files where name.hasPrefix("navd/") { files["config/\(name)"] = text }
  let session = try Session(desktop: .sway, files: files)
  let (windows, watcher, keyboard) = (try Windows(session), try session.watch(), try WaylandKeyboard(session))
  // The value is that of `Dialog` in Swift; `dialog_byADestination_reportsTheAction` compares it.
  let buttons = #"[{"title":"Delete","role":"destructive","action":"delete"},{"title":"Cancel","role":"cancel"}]"#
  func ask(_ id: String, _ more: [String] = []) throws {
    watcher.clear()
    let value = ["title=Delete <b>this</b> & that?", "message=It is gone then.", "buttons:=\(buttons)"] + more
    let arguments = ["present", "question", id, "--to", destination] + value.flatMap { ["--value", $0] }
    let run = try session.run(program: session.executable("navctl"), arguments)
    try #require(run.exitCode == 0, "\(run.errorText)")
    try windows.waitForFocus(on: window)
  }
  func waitForEnd(_ lines: String..., line: Int = #line) throws {
    try session.wait("the question of line \(line) has ended; \(watcher.lines)") {
      watcher.lines(of: "question").last?.hasPrefix("dismissed") == true
    }
    let found = watcher.events.map { "\($0.line) \($0.json["parameters"]?["text"]?.string ?? "-")" }
    #expect(found.filter { $0.hasPrefix("action") || $0.hasPrefix("dismissed") } == lines, "line \(line)")
    try windows.wait()
  }

  try ask("1")
  try keyboard.press("Return")
  try waitForEnd("action question 1 delete ", "dismissed question 1 closed -")
  try ask("2")
  try keyboard.press("Tab")
  try keyboard.press("Return")
  try waitForEnd("dismissed question 2 closed -")
  try ask("3")
  try keyboard.press("Escape")
  try waitForEnd("dismissed question 3 closed -")
  try ask("4", ["prompt=Why?", "text=old"])
  try keyboard.press("b")
  try keyboard.press("Return")
  try waitForEnd("action question 4 delete b", "dismissed question 4 closed -")
  // Another client ends the dialog.
  try ask("5", ["prompt=Why?", "text=old"])
  try session.runNavctl("dismiss", "question")
  try waitForEnd("dismissed question 5 dismissed -")
}

// MARK: Presenters

/// A presenter of the recipes that runs, and prints a line for each call.
private final class PrintingPresenter {
  let program: Program
  private let session: Session
  /// The keyboard of its user.
  private let keys: InputPipe

  /// The files that the presenters need.
  static func files() throws -> [String: String] {
    let interface = "org.navd.Presenter1.xml"
    return try [
      "presenter.py": Files.text(inPackage: "docs/recipes/presenter.py"),
      ".local/share/dbus-1/interfaces/\(interface)": Files.text(inPackage: "dbus/\(interface)"),
    ]
  }

  init(_ session: Session, in language: String, _ options: String = "") throws {
    self.session = session
    keys = try InputPipe(session, "keys")
    let command =
      language == "Python"
      ? "/usr/bin/python3 \"$HOME/presenter.py\" board \(options)" : "\(Session.program("presenter")) board"
    program = try session.start(program: "/bin/sh", ["-c", "exec \(command) <\"$HOME/keys\""])
    try waitUntilRegistered()
  }

  func pressReturn() { #expect(keys.write("")) }

  func waitUntilRegistered() throws {
    try session.poll("it is registered") {
      try session.call(Rows.destinations, ()).contains { $0.fields.0 == "board" }
    }
  }

  /// Waits until the last line that the presenter has printed begins with a text.
  /// - Returns: the line.
  @discardableResult
  func line(_ beginning: String) throws -> String {
    let program = program
    try session.wait("the presenter prints \(beginning); it has printed \(program.lines) \(program.errorText)") {
      program.lines.last?.hasPrefix(beginning) == true
    }
    return program.lines.last ?? ""
  }
}

@Test(
  "The presenters in Python and in Swift present, update and dismiss items, and report those that their user closes",
  arguments: ["Python", "Swift"])
func recipe_presenter_showsItems(_ language: String) throws {
  let session = try Session(files: PrintingPresenter.files())
  let presenter = try PrintingPresenter(session, in: language)
  func present(_ id: String, _ value: String...) throws -> ObjectPath {
    try session.runTool(
      session.executable("navctl"), ["present", "note", id, "--to", "board"] + value.flatMap { ["--value", $0] })
    return try session.call(Rows.get, "note").0
  }

  // Clients present, update and dismiss.
  let first = try present("1", "text=Hello")
  #expect(try presenter.line("+ note 1").contains("Hello"))
  try session.runNavctl("update", "note", "text=Bye")
  #expect(try presenter.line("~ note 1").contains("Bye"))
  try session.runNavctl("dismiss", "note")
  try presenter.line("- note 1 dismissed")
  let (reason, result) = try session.ending(of: first)
  #expect(reason == "dismissed")
  #expect(result == ["answer": .string("bye")])

  // The user closes the item.
  let second = try present("2")
  try presenter.line("+ note 2")
  presenter.pressReturn()
  #expect(try session.ending(of: second).reason == "closed")
  try presenter.line("x note 2")

  // With another navd, the presenter's items stay, and it receives later calls.
  _ = try present("3")
  try presenter.line("+ note 3")
  try session.stop()
  try session.start()
  try presenter.line("= note 3")
  try presenter.waitUntilRegistered()
  _ = try present("4")
  try presenter.line("+ note 4")
  #expect(presenter.program.lines.contains { $0.hasPrefix("- note 3 replaced") })

  // The presenter ends with the session, and so does navd.
  session.navd?.mayFail = true
  kill(session.bus.processID, SIGKILL)
  try session.wait("the presenter has ended") { presenter.program.status != nil }
}

@Test("The presenter in Python serves what it declares, and the next navd, too; it says why a declaration was refused")
func recipe_presenterInPython_serves() throws {
  let session = try Session(files: PrintingPresenter.files())
  let note = "'board.note:={\"id\": \"Int\", \"value\": \"{text: String}\"}'"
  let presenter = try PrintingPresenter(session, in: "Python", "--serve \(note)")
  func waitUntilServed() throws {
    try session.poll("it serves") { try session.navctl("destinations").outputText.contains("board.note") }
  }
  try waitUntilServed()
  try session.runNavctl("present", "board.note", "1", "--value", "text=Hello")
  #expect(try presenter.line("+ board.note 1").contains("Hello"))
  let refused = try session.navctl("present", "board.note", "2", "--value", "text:=7")
  #expect(refused.errorText == "navctl: present board.note: “board.note”: expected text: String, found 7\n")
  let failed = try session.present("board.note", "2", ["value": ["text": Value.string("")].value])
  let (reason, result) = try session.ending(of: failed)
  #expect(reason == "failed" && "\(result)".contains("expected a text that is not empty"), "\(reason) \(result)")
  try session.stop()
  try session.start()
  try waitUntilServed()
  try session.runNavctl("present", "board.note", "3", "--value", "text=Bye")
  #expect(try presenter.line("+ board.note 3").contains("Bye"))

  // A text that is no type.
  let other = try session.start(
    program: "/bin/sh",
    ["-c", "exec /usr/bin/python3 \"$HOME/presenter.py\" other --serve 'x:={\"id\": \"{\"}' </dev/null"])
  try session.wait("it is refused; \(other.lines)") { other.errorText.hasPrefix("refused: “x”: the type") }
}

/// The editor of the recipe on a desktop, whose user types and answers its question.
private final class AskingEditor {
  private let session: Session
  private let windows: Windows
  private let keyboard: WaylandKeyboard?
  private let editor: Program
  /// The name of the editor's window. The class of an X window begins with a capital letter.
  private let name: String
  private let notes: String

  /// - Parameter text: the text that is on the disk.
  init(on manager: Desktop.Manager, text: String) throws {
    let interface = try Files.text(inPackage: "dbus/org.navd.Presenter1.xml")
    let session = try Session(
      desktop: manager,
      files: [
        "editor.py": Files.text(inPackage: "docs/recipes/editor.py"), "notes.txt": text,
        ".local/share/dbus-1/interfaces/org.navd.Presenter1.xml": interface,
      ])
    self.session = session
    windows = try Windows(session)
    keyboard = manager == .sway ? try WaylandKeyboard(session) : nil
    name = manager == .sway ? "editor" : "Editor"
    notes = session.path("notes.txt")
    let editor = try session.start(
      program: "/usr/bin/python3", [session.path("editor.py"), "editor", "--group", "panels"])
    self.editor = editor
    try session.poll("it is registered; \(editor.errorText)") {
      try session.call(Rows.destinations, ()).contains { $0.fields.0 == "editor" }
    }
  }

  /// The text on the disk.
  var text: String { String(decoding: Files.contents(of: notes), as: UTF8.self) }

  func press(_ key: String) throws { try keyboard?.press(key) ?? session.press(key) }

  func open() throws {
    try session.runNavctl("present", "editor", "--value", "file=\(notes)")
    try waitUntilOpen()
  }

  func waitUntilOpen() throws { try windows.wait(for: name) }

  func waitUntilClosed() throws { try windows.wait() }

  /// Opens the editor and types a letter, so that it is not saved.
  func openAndType(_ key: String) throws {
    try open()
    try windows.waitForFocus(on: name)
    try press(key)
    try session.poll("the key has arrived; \(editor.errorText)") {
      try windows.ask("-t", "get_tree").outputText.contains("Editor (not saved)")
    }
  }

  /// Selects the other member of the group.
  func selectOther(_ options: String...) throws {
    try session.runTool(session.executable("navctl"), ["select", "panels", "mixer"] + options)
  }

  /// Selects the other member of the group, and waits for the question.
  func leave() throws {
    try selectOther("--state")
    try session.poll("it asks; \(editor.errorText)") {
      try session.navctl("list").outputText.contains("dismissing (asking)")
    }
    try windows.wait(for: name, name)
    try session.poll("the question has the focus") {
      try windows.catchUp()
      return windows.focused == windows.open.last
    }
  }

  /// Waits until the group has a selection.
  /// - Parameter key: a key that is pressed again and again, since a window that has just appeared may miss one.
  func waitForSelection(_ tag: String, pressing key: String? = nil) throws {
    try session.poll("\(tag) is selected and presented; \(editor.errorText)") {
      if let key { try press(key) }
      let state = try session.state()
      return state["groups"]?["panels"]?["selection"]?.string == tag
        && state["presentations"]?.array?.map { $0["phase"]?.string } == ["presented"]
    }
  }
}

@Test(
  "P15, P16: an editor with unsaved text asks its user, who may stay, save or discard",
  arguments: [Desktop.Manager.i3, .sway])
func recipe_editor_asksBeforeItCloses(_ manager: Desktop.Manager) throws {
  let editor = try AskingEditor(on: manager, text: "a")

  // The user stays.
  try editor.openAndType("b")
  try editor.leave()
  try editor.waitForSelection("editor", pressing: "Escape")
  try editor.waitUntilOpen()
  #expect(editor.text == "a")

  // The user saves.
  try editor.leave()
  try editor.waitForSelection("mixer", pressing: "Return")
  try editor.waitUntilClosed()
  let saved = editor.text
  #expect(saved.count == 2 && saved.contains("b"))

  // The user discards.
  try editor.openAndType("c")
  try editor.leave()
  try editor.waitForSelection("mixer", pressing: "alt+d")
  try editor.waitUntilClosed()
  #expect(editor.text == saved)

  // The editor asks nobody when it is forced.
  try editor.openAndType("d")
  try editor.leave()
  try editor.selectOther("--force")
  try editor.waitForSelection("mixer")
  try editor.waitUntilClosed()
  #expect(editor.text == saved)

  // An editor without changes closes at once.
  try editor.open()
  try editor.selectOther("--state")
  try editor.waitForSelection("mixer")
}

@Test(
  "The recipes for sway and i3 can be added to the configuration of a fresh home", arguments: ["sway", "i3"])
func recipe_ofADesktop_fitsIntoAFreshHome(_ name: String) throws {
  let document = try Markdown("recipes/\(name).md")
  let command = try #require(document.lines.first { $0.hasPrefix("    ") && $0.contains("~/.config/\(name)/config") })
  let session = try Session(starting: false)
  let file = ".config/\(name)/config"
  if name == "i3" {
    // i3-config-wizard writes the configuration so, for the logo key.
    let own = String(decoding: Files.contents(of: "/etc/i3/config"), as: UTF8.self)
    try session.write("set $mod Mod4\n" + own.replacing("Mod1", with: "$mod"), to: file)
  }
  #expect(try session.run(program: "/bin/sh", ["-c", command]).exitCode == 0)
  let own = String(decoding: Files.contents(of: session.path(file)), as: UTF8.self)
  #expect(own.contains("$mod+Return"))
  let added = try #require(document.files["\(name)/config"])
  #expect(keys(boundBy: added).count > 4)
  #expect(keys(boundBy: own).isDisjoint(with: keys(boundBy: added)))
  try session.write(own + "\n" + added, to: file)
  guard name == "i3" else { return }
  let valid = try session.run(program: "/usr/bin/i3", ["-C", "-c", session.path(file)])
  #expect(valid.exitCode == 0, "\(valid.outputText)\(valid.errorText)")
}

/// The keys of `bindsym` in a configuration of sway or i3, with the values of its variables, in lower case.
private func keys(boundBy configuration: String) -> Set<String> {
  var variables: [(name: Substring, value: Substring)] = []
  var keys: Set<String> = []
  for line in configuration.split(separator: "\n") {
    let words = line.split(separator: " ")
    if words.first == "set", words.count > 2 { variables.append((words[1], words[2])) }
    guard words.first == "bindsym", let key = words.dropFirst().first(where: { !$0.hasPrefix("--") }) else { continue }
    keys.insert(variables.reduce(String(key)) { $0.replacing($1.name, with: $1.value) }.lowercased())
  }
  return keys
}

// MARK: Well-known programs

@Test(
  "The destination files of docs/programs.md have no mistakes, and those that start other programs have the scope for it"
)
func programs_destinationFiles_haveNoMistakes() throws {
  let files = try Markdown("programs.md").files
  #expect(files.count > 20)
  let session = try Session(
    starting: false, files: .init(uniqueKeysWithValues: files.map { ("config/\($0.key)", $0.value) }))
  let run = try session.navctl("check-config", "--json")
  #expect(run.json?["faults"]?.array == [], "\(run.outputText)")
  for warning in run.json?["warnings"]?.array ?? [] {
    #expect(warning["message"]?.string?.contains("not found in PATH") == true, "\(warning)")
  }
}

@Test("The first line of each recipe, after its title and its purpose, installs its programs")
func recipes_programs_areInstalledFirst() throws {
  for name in ["sway", "i3", "waybar", "polybar", "rofi", "zenity", "mqtt", "README", "../kiosk"] {
    let document = try Markdown("recipes/\(name).md")
    let install = try #require(document.lines.firstIndex { $0.hasPrefix("    sudo apt install ") }, "\(name)")
    #expect(document.lines.firstIndex { $0.hasPrefix("```") }! > install, "\(name)")
    let packages = document.lines[install].split(separator: " ").dropFirst(3)
    let terminals = document.files.filter { $0.key.hasSuffix(".toml") }.compactMap { file in
      ["foot", "xterm", "rofi", "swaylock"].first { file.value.contains("command = [\"\($0)\"") }
    }
    for terminal in Set(terminals) { #expect(packages.contains(Substring(terminal)), "\(name): \(terminal)") }
  }
}

// MARK: Index

@Test("Every recipe is in the index and says so if it was not tried")
func recipes_index_isComplete() throws {
  let names = Set(
    try Files.names(in: "\(Files.package)/docs/recipes").filter { $0.contains(".") })
  let index = try Markdown("recipes/README.md").lines
  let untried: Set = ["niri.md", "eww.md", "ags.md"]
  #expect(untried.isSubset(of: names))
  for name in names.subtracting(["README.md"]) {
    #expect(index.contains { $0.contains("(\(name))") }, "\(name)")
    let text = try Files.text(inPackage: "docs/recipes/\(name)")
    #expect(text.contains("**Not tried**") == untried.contains(name), "\(name)")
    // These are small files to copy.
    if name.lowercased().hasPrefix("navd.") { #expect(text.split(separator: "\n").count < 110, "\(name)") }
  }
}
