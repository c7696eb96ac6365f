import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Places and sizes of windows (N15), judged by what the window manager itself says of them.

private typealias Rows = CoordinatorInterface

@Suite struct PlacementTests {
  private typealias Frame = ManagersWindows.Frame
  private static let managers = [Desktop.Manager.sway, .i3, .openbox, .gnome, .kwin]

  private let desktop: WindowedDesktop
  private var session: Session { desktop.session }
  private var screen: ManagersWindows { desktop.screen }

  private static func command(_ name: String, on manager: Desktop.Manager) -> String {
    let words =
      [.sway, .gnome].contains(manager) ? ["foot", "--app-id=\(name)"] : ["xterm", "-class", name]
    return "command = [\(words.map { "'\($0)'" }.joined(separator: ", ")), '-e', 'sleep', '1000']\n"
  }

  /// - Parameters:
  ///   - windows: the tables `window` of destinations, by their names.
  ///   - settings: more lines of their files.
  private init(
    _ manager: Desktop.Manager, _ windows: [String: String], settings: String = "", configuration: String = ""
  ) throws {
    var destinations = ["plain": Self.command("plain", on: manager) + "window = { app-id = 'plain' }\n"]
    for (name, keys) in windows {
      destinations[name] = Self.command(name, on: manager) + "window = { app-id = '\(name)', \(keys) }\n\(settings)"
    }
    desktop = try WindowedDesktop(manager, destinations: destinations, configuration: configuration)
  }

  init() throws { try self.init(.sway, [:]) }

  /// The usable area of a screen of 1280×720.
  private func area(of manager: Desktop.Manager) throws -> Frame {
    guard manager == .gnome else { return Frame(x: 0, y: 0, width: 1280, height: 720) }
    let area = try session.evaluate(
      """
      (({x, y, width, height}) => ({x, y, width, height}))(
        global.workspace_manager.get_active_workspace().get_work_area_for_monitor(0))
      """)
    return try #require(Frame(area))
  }

  /// Waits until a window has a size, or one of its program near that, and is where it belongs.
  /// - Parameter size: a width and a height; terminals have whole cells, which are at most 20 pixels high.
  private func wait(
    for name: String, _ what: String, of size: (width: Int, height: Int), in area: Frame, x: (Frame) -> Int,
    y: (Frame) -> Int
  ) throws {
    try screen.poll(name, what) { window in
      guard let frame = window?.frame, abs(frame.width - size.width) <= 20, abs(frame.height - size.height) <= 20
      else { return false }
      return abs(frame.x - area.x - x(frame)) <= 1 && abs(frame.y - area.y - y(frame)) <= 1
    }
  }

  /// Waits for the display at the bottom, 40 pixels from the edge.
  private func waitForDisplay(in area: Frame) throws {
    try wait(
      for: "osd", "is at the bottom", of: (300, 100), in: area, x: { (area.width - $0.width) / 2 },
      y: { area.height - $0.height - 40 })
  }

  @Test(
    "N15: a window is where its file says, of the size that its file says; one that is larger is wholly in view",
    arguments: managers)
  func place_ofFile_isThatOfTheWindow(_ manager: Desktop.Manager) throws {
    let test = try PlacementTests(
      manager,
      [
        "mixer": "place = 'top-right', size = '640 400', margin = 20", "clock": "place = 'center', size = '50% 30%'",
        "point": "place = '100 50', size = '300 200'", "far": "place = '9000 9000', size = '300 200'",
        "huge": "place = 'left', size = '9000 200'",
      ])
    let (session, screen) = (test.session, test.screen)
    _ = try session.open("plain")
    let area = try test.area(of: manager)
    _ = try session.open("mixer")
    try test.wait(
      for: "mixer", "is at the top right", of: (640, 400), in: area, x: { area.width - $0.width - 20 }, y: { _ in 20 })
    _ = try session.open("clock")
    try test.wait(
      for: "clock", "is in the center", of: (area.width / 2, area.height * 3 / 10), in: area,
      x: { (area.width - $0.width) / 2 },
      y: { (area.height - $0.height) / 2 })
    _ = try session.open("point")
    try test.wait(for: "point", "is at its point", of: (300, 200), in: area, x: { _ in 100 }, y: { _ in 50 })
    for name in ["mixer", "clock", "point"] { #expect(try screen.window(name)?.isTiled == false) }
    _ = try session.open("far")
    try test.wait(
      for: "far", "is in the corner", of: (300, 200), in: area, x: { area.width - $0.width },
      y: { area.height - $0.height })
    _ = try session.open("huge")
    try test.wait(
      for: "huge", "is as wide as the screen", of: (area.width, 200), in: area, x: { _ in 0 },
      y: { (area.height - $0.height) / 2 })
  }

  @Test("N15: with focus = false, the window that has the focus keeps it", arguments: managers)
  func place_withoutFocus_leavesTheFocus(_ manager: Desktop.Manager) throws {
    let test = try PlacementTests(
      manager, ["osd": "place = 'bottom', size = '300 100', margin = 40, focus = false"])
    let (session, screen) = (test.session, test.screen)
    _ = try session.open("plain")
    try screen.poll("plain", "has the focus") { $0?.isFocused == true }
    let area = try test.area(of: manager)
    for id in 1...3 {
      try session.runNavctl("present", "osd", "\(id)")
      try test.waitForDisplay(in: area)
      try screen.poll("plain", "has the focus again") { $0?.isFocused == true }
    }
  }

  @Test("N15: with focus = false, a window is seen above the one that keeps the focus", arguments: managers)
  func place_withoutFocus_isInView(_ manager: Desktop.Manager) throws {
    // Tiles fill the screen of themselves.
    let film = [.sway, .i3].contains(manager) ? "float = false" : "place = 'center', size = '100% 100%'"
    let test = try PlacementTests(
      manager, ["film": film, "osd": "place = 'bottom', size = '300 100', margin = 40, focus = false"])
    let (session, screen) = (test.session, test.screen)
    _ = try session.open("film")
    try screen.poll("film", "has the focus") { $0?.isFocused == true }
    let area = try test.area(of: manager)
    _ = try session.open("osd")
    try test.waitForDisplay(in: area)
    try session.poll("it is in view") {
      let shown = try session.state()["presentations"]?.array?.first { $0["binding"] == "osd" }
      return shown?["windows"]?.array?.first?["in-view"] == true
    }
    try screen.poll("film", "has the focus still") { $0?.isFocused == true }
  }

  @Test(
    "N15: none of 200 keys is lost that are typed while a display opens and closes twenty times",
    arguments: [Desktop.Manager.sway, .i3, .openbox])
  func keys_typedWhileADisplayOpens_areNotLost(_ manager: Desktop.Manager) throws {
    let test = try PlacementTests(manager, ["osd": "place = 'bottom', size = '300 100', margin = 40, focus = false"])
    let (session, screen) = (test.session, test.screen)
    let file = session.path("typed")
    let words = manager == .sway ? ["foot", "--app-id=editor"] : ["xterm", "-class", "editor", "-e"]
    let editor = try session.start(program: "/usr/bin/env", words + ["sh", "-c", "exec cat >\(file)"])
    try screen.poll("editor", "has the focus") { $0?.isFocused == true }
    let typed = String(repeating: "x", count: 200)
    // sway may lose the first key of a keyboard that is only just there.
    let keys = try session.start(
      program: manager == .sway ? "/usr/bin/wtype" : "/usr/bin/xdotool",
      manager == .sway
        ? ["-s", "500", "-d", "30", typed, "-s", "500", "-k", "Return"]
        : ["type", "--delay", "30", typed + "\n"])
    for _ in 1...20 {
      _ = try session.open("osd")
      try session.runNavctl("close", "osd")
    }
    try session.wait("all keys are typed") { keys.hasEnded }
    try session.poll("the line has come to its end") { Files.contents(of: file).last == UInt8(ascii: "\n") }
    #expect(Files.contents(of: file).count { $0 == UInt8(ascii: "x") } == 200)
    #expect(!editor.hasEnded)
  }

  @Test("N15: on sway, what is alone on its workspace has the focus, and a window that was not expected gets it")
  func focus_ofOtherWindows_isTheirs() throws {
    let test = try PlacementTests(.sway, ["osd": "focus = false"])
    let (session, screen) = (test.session, test.screen)
    _ = try session.open("osd")
    try screen.poll("osd", "has the focus") { $0?.isFocused == true }
    try session.runNavctl("close", "osd")
    try screen.poll("osd", "is gone") { $0 == nil }
    _ = try session.open("plain")
    try screen.poll("plain", "has the focus") { $0?.isFocused == true }
    let other = try session.start(program: "/usr/bin/foot", ["--app-id=osd", "sleep", "1000"])
    try screen.poll("osd", "has the focus") { $0?.isFocused == true }
    #expect(!other.hasEnded)
  }

  @Test("N15: what its user moves stays, also when navd comes back", arguments: [Desktop.Manager.sway, .i3])
  func place_movedByItsUser_stays(_ manager: Desktop.Manager) throws {
    let test = try PlacementTests(manager, ["mixer": "place = 'top-right', size = '300 200'"])
    let (session, screen) = (test.session, test.screen)
    let area = try test.area(of: manager)
    _ = try session.open("mixer")
    try test.wait(
      for: "mixer", "is at the top right", of: (300, 200), in: area, x: { area.width - $0.width }, y: { _ in 0 })
    let id = try #require(try screen.window("mixer")?.id)
    try session.runTool(manager.messenger, ["[con_id=\(id)] move absolute position 30 px 40 px"])
    try test.wait(for: "mixer", "is where its user put it", of: (300, 200), in: area, x: { _ in 30 }, y: { _ in 40 })
    try session.stop(SIGKILL)
    try session.start()
    _ = try session.open("plain")
    try test.wait(for: "mixer", "is where its user put it", of: (300, 200), in: area, x: { _ in 30 }, y: { _ in 40 })
  }

  @Test(
    "N15: a request says where a window is, of a file or of a command, and another one moves it",
    arguments: [Desktop.Manager.sway, .openbox])
  func place_ofRequest_isThatOfTheWindow(_ manager: Desktop.Manager) throws {
    let test = try PlacementTests(manager, ["mixer": "place = 'top-right', size = '300 200'"])
    let (session, area) = (test.session, try test.area(of: manager))
    try session.runNavctl("present", "mixer", "--place", "left", "--margin", "10")
    try test.wait(
      for: "mixer", "is at the left", of: (300, 200), in: area, x: { _ in 10 }, y: { (area.height - $0.height) / 2 })
    // The program already has the size of whole cells that is nearest.
    try session.runNavctl("present", "mixer", "--place", "right", "--margin", "10")
    try test.wait(
      for: "mixer", "is at the right", of: (300, 200), in: area, x: { area.width - $0.width - 10 },
      y: { (area.height - $0.height) / 2 })
    try session.runNavctl("present", "mixer", "--place", "bottom-right", "--size", "50% 300")
    try test.wait(
      for: "mixer", "is at the bottom right", of: (640, 300), in: area, x: { area.width - $0.width },
      y: { area.height - $0.height })
    try session.runNavctl(
      "present", "clock", "--place", "100 50", "--size", "300 200", "--",
      manager == .sway ? "foot" : "xterm", manager == .sway ? "-a" : "-class", "clock", "-e", "sleep", "1000")
    try test.wait(for: "clock", "is at its point", of: (300, 200), in: area, x: { _ in 100 }, y: { _ in 50 })
  }

  @Test("N15: on an output with scale 2, places and sizes are logical, and what is too large is wholly in view")
  func place_onScaledOutput_isLogical() throws {
    let test = try PlacementTests(
      .sway,
      [
        "mixer": "place = 'top-right', size = '300 200', margin = 20",
        "huge": "place = 'bottom-right', size = '900 50%'",
      ], configuration: "output HEADLESS-1 scale 2\n")
    let area = Frame(x: 0, y: 0, width: 640, height: 360)
    _ = try test.session.open("mixer")
    try test.wait(
      for: "mixer", "is at the top right", of: (300, 200), in: area, x: { area.width - $0.width - 20 }, y: { _ in 20 })
    _ = try test.session.open("huge")
    try test.wait(
      for: "huge", "is as wide as the screen", of: (640, 180), in: area, x: { area.width - $0.width },
      y: { area.height - $0.height })
  }

  /// Waits until a window is wholly in an area, and has a size near the one of its file, or that of the area.
  private func waitInView(of name: String, _ what: String, _ size: (width: Int, height: Int), in area: Frame) throws {
    let (width, height) = (min(size.width, area.width), min(size.height, area.height))
    try screen.poll(name, what) { window in
      guard let frame = window?.frame else { return false }
      return frame.x >= area.x && frame.y >= area.y && frame.x + frame.width <= area.x + area.width
        && frame.y + frame.height <= area.y + area.height && abs(frame.width - width) <= 20
        && abs(frame.height - height) <= 20
    }
  }

  @Test("N15: a window that only floats has the size that its program gives it, not that of a tile, and is in view")
  func place_withoutSize_isThatOfTheProgram() throws {
    let test = try PlacementTests(
      .sway,
      ["osd": "float = true", "clock": "sticky = true", "mixer": "place = 'top-right'", "low": "size = '300 30'"])
    let (session, area) = (test.session, try test.area(of: .sway))
    // foot has 700 × 500 pixels, in a frame with a title bar.
    for name in ["osd", "clock"] {
      _ = try session.open(name)
      try test.waitInView(of: name, "has the size of its program", (704, 527), in: area)
    }
    _ = try session.open("mixer")
    try test.wait(
      for: "mixer", "is at the top right", of: (704, 527), in: area, x: { area.width - $0.width }, y: { _ in 0 })
    // sway shows no window that is lower than 50 pixels.
    try session.runNavctl("present", "low", "--place", "bottom")
    try test.wait(
      for: "low", "is at the bottom", of: (300, 70), in: area, x: { (area.width - $0.width) / 2 },
      y: { area.height - $0.height })
  }

  @Test("N15: a window that opens on another output has the size and the place of its file there")
  func place_onOtherOutput_isInItsArea() throws {
    let test = try PlacementTests(
      .sway, ["mixer": "place = 'top-right', size = '640 400', margin = 20", "clock": "place = 'top-right'"],
      configuration: "output HEADLESS-1 position 0 0\noutput HEADLESS-2 resolution 800x600 position 1280 0\n")
    let session = test.session
    try session.addOutput()
    let area = Frame(x: 1280, y: 0, width: 800, height: 600)
    for _ in 1...3 {
      try session.focus(output: "HEADLESS-1")
      try session.runNavctl("present", "mixer", "--output", "HEADLESS-2")
      try test.wait(
        for: "mixer", "is at the top right", of: (640, 400), in: area, x: { area.width - $0.width - 20 }, y: { _ in 20 }
      )
      try session.runNavctl("close", "mixer")
      try test.screen.poll("mixer", "is gone") { $0 == nil }
    }
    try session.focus(output: "HEADLESS-1")
    try session.runNavctl("present", "clock", "--output", "HEADLESS-2")
    try test.wait(
      for: "clock", "is at the top right", of: (704, 527), in: area, x: { area.width - $0.width }, y: { _ in 0 })
  }

  @Test("N15: a window that is brought to another output, or sent there, has its place on it")
  func place_broughtToOtherOutput_isPlacedAgain() throws {
    let test = try PlacementTests(
      .sway, ["mixer": "place = 'top-right', size = '50% 50%'"],
      configuration: "output HEADLESS-1 position 0 0\noutput HEADLESS-2 resolution 800x600 position 1280 0\n")
    let (session, area) = (test.session, try test.area(of: .sway))
    try session.addOutput()
    let other = Frame(x: 1280, y: 0, width: 800, height: 600)
    func wait(in area: Frame) throws {
      try test.wait(
        for: "mixer", "is at the top right", of: (area.width / 2, area.height / 2), in: area,
        x: { area.width - $0.width }, y: { _ in 0 })
    }
    try session.focus(output: "HEADLESS-1")
    _ = try session.open("mixer")
    try wait(in: area)
    try session.focus(output: "HEADLESS-2")
    try session.runNavctl("toggle", "mixer", "--here")
    try wait(in: other)
    try session.runNavctl("present", "mixer", "--output", "HEADLESS-1")
    try wait(in: area)
  }

  @Test("N15: what is fullscreen fills the screen, whatever else its file says, and another request ends that")
  func place_fullscreenAndFloating_fillsTheScreen() throws {
    let test = try PlacementTests(
      .sway,
      [
        "film": "fullscreen = true, above = true", "clock": "fullscreen = true, place = 'top', size = '50% 50%'",
        "mixer": "place = 'left', size = '300 200'",
      ])
    let (session, screen, area) = (test.session, test.screen, try test.area(of: .sway))
    _ = try session.open("plain")
    func waitForAll(_ name: String) throws {
      try screen.poll(name, "fills the screen") { $0?.frame == area && $0?.isFullscreen == true }
    }
    for name in ["film", "clock"] {
      _ = try session.open(name)
      try waitForAll(name)
      try session.runNavctl("close", name)
      try screen.poll(name, "is gone") { $0 == nil }
    }
    _ = try session.open("mixer")
    for undoing in ["--no-fullscreen", "--place=left"] {
      try session.runNavctl("present", "mixer", "--fullscreen")
      try waitForAll("mixer")
      try session.runNavctl("present", "mixer", undoing)
      try test.wait(
        for: "mixer", "is at the left", of: (300, 200), in: area, x: { _ in 0 }, y: { (area.height - $0.height) / 2 })
      #expect(try screen.window("mixer")?.isFullscreen == false)
    }
  }

  @Test("N15: the only window of an output that is scaled is wholly in view")
  func place_outputScaledBesideNothing_isInView() throws {
    let test = try PlacementTests(.sway, ["mixer": "place = 'bottom-right', size = '300 200', margin = 20"])
    let (session, area) = (test.session, try test.area(of: .sway))
    _ = try session.open("mixer")
    try test.wait(
      for: "mixer", "is at the bottom right", of: (300, 200), in: area, x: { area.width - $0.width - 20 },
      y: { area.height - $0.height - 20 })
    try session.runTool("/usr/bin/swaymsg", ["output HEADLESS-1 scale 2"])
    let scaled = Frame(x: 0, y: 0, width: 640, height: 360)
    try test.wait(
      for: "mixer", "is at the bottom right of the scaled output", of: (300, 200), in: scaled,
      x: { scaled.width - $0.width - 20 }, y: { scaled.height - $0.height - 20 })
  }

  @Test("N15: a window whose output is scaled is wholly in view, and what its user moved stays where it is in view")
  func place_outputScaled_isInView() throws {
    let test = try PlacementTests(
      .sway,
      [
        "mixer": "place = 'bottom-right', size = '300 200', margin = 20", "huge": "place = 'center', size = '900 400'",
        "clock": "place = 'bottom-left', size = '200 100'",
      ])
    let (session, area) = (test.session, try test.area(of: .sway))
    for name in ["huge", "mixer", "clock"] { _ = try session.open(name) }
    try test.wait(
      for: "mixer", "is at the bottom right", of: (300, 200), in: area, x: { area.width - $0.width - 20 },
      y: { area.height - $0.height - 20 })
    try test.waitInView(of: "huge", "has its size", (900, 400), in: area)
    try test.wait(
      for: "clock", "is at the bottom left", of: (200, 100), in: area, x: { _ in 0 }, y: { area.height - $0.height })
    let id = try #require(try test.screen.window("clock")?.id)
    try session.runTool("/usr/bin/swaymsg", ["[con_id=\(id)] move absolute position 30 px 40 px"])
    try test.wait(for: "clock", "is where its user put it", of: (200, 100), in: area, x: { _ in 30 }, y: { _ in 40 })
    try session.runTool("/usr/bin/swaymsg", ["output HEADLESS-1 scale 2"])
    let scaled = Frame(x: 0, y: 0, width: 640, height: 360)
    try test.waitInView(of: "mixer", "is in view of the scaled output", (300, 200), in: scaled)
    try test.waitInView(of: "huge", "is in view of the scaled output", (640, 360), in: scaled)
    try test.wait(for: "clock", "is where its user put it", of: (200, 100), in: scaled, x: { _ in 30 }, y: { _ in 40 })
  }
}
