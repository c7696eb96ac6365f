import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Toggles of windows that others cover (N7, N11), on real window managers: a key shows what its user does not see, and closes only what
// he sees.

private typealias Rows = CoordinatorInterface

@Suite struct SeenTests {
  private static let tiling = [Desktop.Manager.sway, .i3]

  private let manager: Desktop.Manager
  private let desktop: WindowedDesktop
  private let film: Program
  private var session: Session { desktop.session }
  private var screen: ManagersWindows { desktop.screen }

  private static func command(_ name: String, on manager: Desktop.Manager) -> [String] {
    (manager == .sway ? ["foot", "--app-id=\(name)"] : ["xterm", "-class", name]) + ["-e", "sleep", "1000"]
  }

  /// - Parameter more: lines of the destination `plain`.
  private init(_ manager: Desktop.Manager, _ more: String = "") throws {
    self.manager = manager
    let words = Self.command("plain", on: manager).map { "'\($0)'" }.joined(separator: ", ")
    desktop = try WindowedDesktop(
      manager, destinations: ["plain": "command = [\(words)]\nwindow = { app-id = 'plain' }\n\(more)"])
    film = try desktop.session.start(program: "/usr/bin/env", Self.command("film", on: manager))
    try screen.poll("film", "has the focus") { $0?.isFocused == true }
  }

  init() throws { try self.init(.sway) }

  private func coverWithFilm() throws {
    let film = try #require(try screen.window("film"))
    try screen.focus(film)
    try screen.makeFullscreen(film)
    try screen.poll("film", "is fullscreen") { $0?.isFullscreen == true }
  }

  private func waitInView(_ expected: Bool) throws {
    try session.poll("navd knows whether it is in view: \(expected)") {
      try StateEntry(session.call(Rows.get, "plain").1).windows?.first?["in-view"] == .boolean(expected)
    }
  }

  private func isSeen() throws {
    // Elsewhere, a window may lie above a fullscreen one.
    if Self.tiling.contains(manager) { try screen.poll("film", "is out of the way") { $0?.isFullscreen == false } }
    try screen.poll("plain", "has the focus") { $0?.isFocused == true }
    try waitInView(true)
  }

  /// Presses the key twice: the first press shows the item that is open, and the second one closes it.
  private func keyShowsAndCloses(_ path: ObjectPath) throws {
    try session.runNavctl("toggle", "plain")
    try isSeen()
    #expect(try session.call(Rows.get, "plain").0 == path)
    try session.runNavctl("toggle", "plain")
    #expect(try session.ending(of: path).reason == "dismissed")
  }

  @Test("N11: a key shows what its user has swept away to see the desktop, and the next press closes it")
  func toggle_whileTheDesktopIsShown_shows() throws {
    let test = try SeenTests(.openbox)
    let (session, path) = (test.session, try test.session.open("plain"))
    try test.waitInView(true)
    try session.press("d", withLogo: true)
    try test.waitInView(false)
    try test.keyShowsAndCloses(path)
  }

  @Test(
    "N7, N11: a key shows what is under a fullscreen window, and the next press closes it",
    arguments: Self.tiling + [.openbox])
  func toggle_underFullscreen_shows(_ manager: Desktop.Manager) throws {
    let test = try SeenTests(manager)
    let (session, screen) = (test.session, test.screen)
    try test.coverWithFilm()
    try session.runNavctl("toggle", "plain")
    try test.isSeen()
    let first = try session.call(Rows.get, "plain").0
    for options in [[], ["--raise"], ["--here"]] {
      try test.coverWithFilm()
      try test.waitInView(false)
      let run = try session.run(program: session.executable("navctl"), ["toggle", "plain"] + options)
      #expect(run.exitCode == 0, "\(run.errorText)")
      try test.isSeen()
      #expect(try session.call(Rows.get, "plain").0 == first)
    }
    try session.runNavctl("toggle", "plain")
    #expect(try session.ending(of: first).reason == "dismissed")
    try screen.wait(for: ["film"])
  }

  @Test("N7: what a script presents stays under a fullscreen window, unless it says --raise", arguments: Self.tiling)
  func present_underFullscreen_staysThere(_ manager: Desktop.Manager) throws {
    let test = try SeenTests(manager)
    try test.coverWithFilm()
    let path = try test.session.open("plain")
    try test.waitInView(false)
    #expect(try test.screen.window("film")?.isFullscreen == true)
    try test.session.dismiss("plain")
    _ = try test.session.ending(of: path)
    try test.session.runNavctl("present", "plain", "--raise")
    try test.isSeen()
  }

  @Test("N11: a key shows a tab in the back, and the next press closes it", arguments: Self.tiling)
  func toggle_tabInBack_shows(_ manager: Desktop.Manager) throws {
    let test = try SeenTests(manager)
    let (session, screen) = (test.session, test.screen)
    try session.runTool(manager.messenger, ["layout tabbed"])
    let path = try session.open("plain")
    try screen.focus(try #require(try screen.window("film")))
    try test.waitInView(false)
    try test.keyShowsAndCloses(path)
  }

  @Test(
    "N11: a key goes to a tile under a floating window, and the next press closes it", arguments: Self.tiling)
  func toggle_underFloating_goesThere(_ manager: Desktop.Manager) throws {
    let test = try SeenTests(manager)
    let (session, screen) = (test.session, test.screen)
    // Terminals of X11 leave some pixels free.
    let program = try session.edit("cover")
    try screen.poll("cover", "is there") { $0 != nil }
    let path = try session.open("plain")
    try test.waitInView(true)
    let cover = try #require(try screen.window("cover"))
    try screen.makeFloating(cover)
    // The managers tell no event of another size, and sway gives a window that of a late frame.
    try session.poll("it is large") {
      for command in ["border none", "resize set 1280 720", "move absolute position 0 0"] {
        try session.runTool(manager.messenger, ["[con_id=\(cover.id)] \(command)"])
      }
      let tree = try session.run(program: manager.messenger, ["-t", "get_tree"]).outputText
      func isLarge(_ node: JSON) -> Bool {
        if node["id"]?.unsigned.map(String.init) == cover.id { return node["rect"]?["height"] == 720 }
        return ["nodes", "floating_nodes"].contains { node[$0]?.array?.contains(where: isLarge) == true }
      }
      return isLarge(try JSON.parse(tree))
    }
    try screen.focus(cover)
    try test.waitInView(false)
    try test.keyShowsAndCloses(path)
    withExtendedLifetime(program) {}
  }

  @Test("N8: a second key press right after a hidden window is shown hides it again")
  func toggle_rightAfterShowing_hides() throws {
    let test = try SeenTests(.sway, "dismissal = 'hide'\nhere = true\n")
    let session = test.session
    try session.runNavctl("toggle", "plain")
    try test.waitInView(true)
    for _ in 1...5 {
      try session.runNavctl("toggle", "plain")
      try session.poll("it is hidden") { try session.state()["parked"]?.array?.count == 1 }
      try session.runNavctl("toggle", "plain")
      try session.poll("it is presented") { try StateEntry(session.call(Rows.get, "plain").1).phase == "presented" }
    }
  }
}
