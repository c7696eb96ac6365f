import Glibc
import TestSupport
import Testing
import TextFormats

/// The windows of a desktop as its window manager knows them: from its tree (sway, i3), its objects (GNOME Shell, KWin), or its
/// properties (other X window managers).
struct ManagersWindows {
  struct Frame: Equatable {
    var x: Int
    var y: Int
    var width: Int
    var height: Int
  }

  struct Window: Equatable {
    /// The manager's number of the window.
    let id: String
    /// The Wayland application ID or the X window class.
    let name: String
    var title = ""
    var output = ""
    /// The window's workspace; empty if the window is hidden.
    var workspace = ""
    var isFullscreen = false
    var isTiled = false
    var isHidden = false
    var isFocused = false
    /// Whether the window asks for attention.
    var isUrgent = false
    /// The X server's number of the window.
    var xWindow: String?
    /// The area with the frame, in logical pixels; nil if the desktop does not say.
    var frame: Frame?
    /// The window's process, as far as the tree contains it.
    var pid: pid_t?
  }

  let session: Session

  /// The windows in the order in which they were opened.
  func all() throws -> [Window] {
    switch session.desktop?.manager {
    case .gnome: try GnomeWindows(session: session).all()
    case .kwin: try KWinWindows(session: session).all()
    case .described: try DescribedWindows(session: session).all()
    default: try saysByX11 ? x11() : tree()
    }
  }

  private var saysByX11: Bool { session.desktop?.manager.saysByX11 == true }

  /// The windows of GNOME Shell; nil for another desktop.
  private var gnome: GnomeWindows? { session.desktop?.manager == .gnome ? GnomeWindows(session: session) : nil }

  /// The windows of KWin; nil for another desktop.
  private var kwin: KWinWindows? { session.desktop?.manager == .kwin ? KWinWindows(session: session) : nil }

  /// The windows of a described desktop; nil for another desktop.
  private var described: DescribedWindows? {
    session.desktop?.manager == .described ? DescribedWindows(session: session) : nil
  }

  func window(_ name: String) throws -> Window? { try all().first { $0.name == name } }

  /// A window as soon as the manager knows it. KWin's scripts do so a moment after its protocol has told it.
  func known(_ name: String) throws -> Window {
    var found: Window?
    try poll(name, "is known") { window in
      found = window
      return window != nil
    }
    return found!
  }

  /// Waits until a window meets a condition, according to the manager.
  func poll(_ name: String, _ what: String, until condition: (Window?) throws -> Bool) throws {
    var last: Window?
    do {
      try session.poll("the window \(name) \(what)") {
        last = try window(name)
        return try condition(last)
      }
    } catch {
      throw Session.Failure("\(error)\nthe window is \(last.map { "\($0)" } ?? "not there")")
    }
  }

  /// Waits until twenty looks in a row find a window in a place: a late answer of its program may still move it.
  func pollStaying(_ name: String, _ what: String, where isThere: (Frame) -> Bool) throws {
    var looks = 0
    try poll(name, "\(what), and stays there") { window in
      looks = (window?.frame).map(isThere) == true ? looks + 1 : 0
      return looks == 20
    }
  }

  /// Waits until there are windows whose names contain these parts, in any order, and no others. Toolkits write the names of one
  /// program with and without a capital letter.
  @discardableResult
  func wait(for parts: [String]) throws -> [Window] {
    var windows: [Window] = []
    do {
      try session.poll("the windows are \(parts)") {
        windows = try all()
        return windows.count == parts.count
          && zip(windows.map(\.name).sorted(), parts.sorted()).allSatisfy { $0.contains($1) }
      }
    } catch {
      throw Session.Failure("\(error)\nthe windows are \(windows)")
    }
    return windows
  }

  /// Closes a window as its user does: by the manager's command, or like a task list, which asks the program. A key could be lost:
  /// openbox releases and grabs its keys again whenever the keyboard map changes, as with the first key of xdotool.
  func close(_ window: Window) throws {
    if let gnome { return try gnome.close(window) }
    if let kwin { return try kwin.close(window) }
    if let described { return try described.close(window) }
    if session.desktop?.manager == .dwm {
      try focus(window)
      return try session.runTool("/usr/bin/xdotool", ["key", "alt+shift+c"])
    }
    if saysByX11 {
      return try session.runTool("/usr/bin/wmctrl", ["-i", "-c", window.id])
    }
    try ask("[con_id=\(window.id)] kill")
  }

  /// Gives a window the focus.
  func focus(_ window: Window) throws {
    if let gnome {
      try gnome.focus(window)
    } else if let kwin {
      try kwin.focus(window)
    } else if let described {
      try described.focus(window)
    } else if session.desktop?.manager == .dwm {
      // The focus follows the pointer when it enters a window.
      let (bar, inside) = (["mousemove", "5", "5"], ["mousemove", "--window", window.id, "50", "50"])
      try session.runTool("/usr/bin/xdotool", bar + inside)
    } else if saysByX11 {
      _ = try session.run(program: "/usr/bin/xdotool", ["windowactivate", window.id])
    } else {
      try ask("[con_id=\(window.id)] focus")
    }
    try session.poll("\(window.name) has the focus") { try all().first { $0.id == window.id }?.isFocused == true }
  }

  /// The workspace in view on the output with the focus.
  func workspace() throws -> String {
    if let gnome { return try gnome.workspace() }
    if let kwin { return try kwin.workspace() }
    if let described { return try described.workspace() }
    if saysByX11 {
      let number = try xprop("-root", "_NET_CURRENT_DESKTOP").split { " \n".contains($0) }.last.flatMap { Int($0) }
      return number.map { String($0 + 1) } ?? ""
    }
    let run = try session.run(program: session.desktop!.manager.messenger, ["-t", "get_workspaces"])
    return try JSON.parse(run.outputText).array?.first { $0["focused"] == true }?["name"]?.string ?? ""
  }

  /// Shows a workspace, as its user does. All managers except sway and i3 have four workspaces.
  func show(workspace: Int) throws {
    if let gnome {
      try gnome.show(workspace: workspace)
    } else if let kwin {
      try kwin.show(workspace: workspace)
    } else if let described {
      try described.show(workspace: workspace)
    } else if saysByX11 {
      try session.runTool("/usr/bin/xdotool", ["set_desktop", String(workspace - 1)])
    } else {
      try ask("workspace \(workspace)")
    }
    try session.poll("workspace \(workspace) is shown") {
      if try self.workspace() == String(workspace) { return true }
      // KWin goes back to the desktop of a window that it activates a moment later.
      try kwin?.show(workspace: workspace)
      return false
    }
  }

  /// Makes a window fill its output, as its user does.
  func makeFullscreen(_ window: Window) throws {
    if let gnome { return try gnome.makeFullscreen(window) }
    if let kwin { return try kwin.makeFullscreen(window) }
    if saysByX11 {
      return try session.runTool("/usr/bin/wmctrl", ["-i", "-r", window.id, "-b", "add,fullscreen"])
    }
    try ask("[con_id=\(window.id)] fullscreen enable")
  }

  /// Makes a window of sway or i3 float.
  func makeFloating(_ window: Window) throws { try ask("[con_id=\(window.id)] floating enable") }

  /// Makes a window ask for attention.
  func makeUrgent(_ window: Window) throws {
    if let kwin { return try kwin.makeUrgent(window) }
    guard let id = window.xWindow else { return try ask("[con_id=\(window.id)] urgent enable") }
    try session.runTool("/usr/bin/xdotool", ["set_window", "--urgency", "1", id])
  }

  /// The process of a window; nil if the window's program does not report it.
  func process(of window: Window) throws -> pid_t? {
    if let pid = window.pid { return pid }
    guard let id = window.xWindow else { return nil }
    return try xprop("-id", id, "_NET_WM_PID").split { " \n".contains($0) }.last.flatMap { pid_t($0) }
  }

  private func ask(_ command: String) throws {
    let run = try session.run(program: session.desktop!.manager.messenger, [command])
    try #require(run.exitCode == 0, "\(run.outputText)\(run.errorText)")
  }

  // MARK: sway and i3

  private func tree() throws -> [Window] {
    func visit(_ node: JSON, _ place: Window) -> [Window] {
      var place = place
      switch node["type"]?.string {
      case "output": place.output = node["name"]?.string ?? ""
      case "workspace":
        place.isHidden = node["name"] == "__i3_scratch"
        place.workspace = place.isHidden ? "" : node["name"]?.string ?? ""
      case "floating_con": place.isTiled = false
      default: break
      }
      let inner = [node["nodes"], node["floating_nodes"]].flatMap { $0?.array ?? [] }
      if inner.isEmpty, case .integer(let id)? = node["id"],
        let name = node["app_id"]?.string ?? node["window_properties"]?["class"]?.string
      {
        return [
          Window(
            id: String(id), name: name, title: node["name"]?.string ?? "", output: place.output,
            workspace: place.workspace, isFullscreen: node["fullscreen_mode"]?.number ?? 0 > 0, isTiled: place.isTiled,
            isHidden: place.isHidden, isFocused: node["focused"] == true, isUrgent: node["urgent"] == true,
            xWindow: node["window"]?.number.map(String.init), frame: frame(node),
            pid: node["pid"]?.number.map(pid_t.init))
        ]
      }
      return inner.flatMap { visit($0, place) }
    }
    let run = try session.run(program: session.desktop!.manager.messenger, ["-t", "get_tree"])
    let windows = visit(try JSON.parse(run.outputText), Window(id: "", name: "", isTiled: true))
    // i3's numbers are addresses.
    return session.desktop?.manager == .sway ? windows.sorted { (Int($0.id) ?? 0) < (Int($1.id) ?? 0) } : windows
  }

  /// The area of a window in the tree. sway has the title bar above the area, i3 in it.
  private func frame(_ node: JSON) -> Frame? {
    guard var frame = node["rect"].flatMap(Frame.init) else { return nil }
    if session.desktop?.manager == .sway, let bar = node["deco_rect"].flatMap(Frame.init) {
      (frame.y, frame.height) = (frame.y - bar.height, frame.height + bar.height)
    }
    return frame
  }

  // MARK: Other X window managers

  private func xprop(_ arguments: String...) throws -> String {
    try session.run(program: "/usr/bin/xprop", arguments).outputText
  }

  private func ids(_ property: String) throws -> [String] {
    try xprop("-root", property).split { " ,\n".contains($0) }.filter { $0.hasPrefix("0x") }.map(String.init)
  }

  /// - Parameter extents: the widths of the frame at the left, right, top and bottom.
  private func frame(_ id: String, _ extents: [Int]) throws -> Frame? {
    let text = try session.run(program: "/usr/bin/xwininfo", ["-id", id]).outputText
    let numbers = text.split(separator: "\n").reduce(into: [String: Int]()) { numbers, line in
      let words = line.split(separator: ":").map { String($0.drop { $0 == " " }) }
      if words.count == 2 { numbers[words[0]] = Int(words[1]) }
    }
    guard let x = numbers["Absolute upper-left X"], let y = numbers["Absolute upper-left Y"],
      let width = numbers["Width"], let height = numbers["Height"]
    else { return nil }
    guard extents.count == 4 else { return Frame(x: x, y: y, width: width, height: height) }
    return Frame(
      x: x - extents[0], y: y - extents[2], width: width + extents[0] + extents[1],
      height: height + extents[2] + extents[3])
  }

  private func x11() throws -> [Window] {
    let focused = try ids("_NET_ACTIVE_WINDOW").first
    return try ids("_NET_CLIENT_LIST").compactMap { id in
      let text = try xprop(
        "-id", id, "WM_CLASS", "_NET_WM_STATE", "_NET_WM_NAME", "_NET_WM_DESKTOP", "_NET_FRAME_EXTENTS")
      let words = text.split(separator: "\n").reduce(into: [:]) { words, line in
        words[line.prefix { $0 != "(" }] = line.split(separator: "\"", omittingEmptySubsequences: false).map(
          String.init)
      }
      // A window may end between the two requests.
      guard let names = words["WM_CLASS"], names.count > 3 else { return nil }
      let desktop = text.split(separator: "\n").first { $0.hasPrefix("_NET_WM_DESKTOP") }
        .flatMap { Int($0.split(separator: " ").last ?? "") }
      let extents = text.split(separator: "\n").first { $0.hasPrefix("_NET_FRAME_EXTENTS") }
        .map { $0.split { " =,".contains($0) }.compactMap { Int($0) } }
      return Window(
        id: id, name: names[3], title: words["_NET_WM_NAME"]?.dropFirst().first ?? "", output: "screen",
        workspace: desktop.map { String($0 + 1) } ?? "", isFullscreen: text.contains("_NET_WM_STATE_FULLSCREEN"),
        isHidden: text.contains("_NET_WM_STATE_HIDDEN"), isFocused: id == focused,
        isUrgent: text.contains("_NET_WM_STATE_DEMANDS_ATTENTION"), xWindow: id, frame: try frame(id, extents ?? []))
    }
  }
}

extension ManagersWindows.Frame {
  /// - Parameter json: an object with `x`, `y`, `width` and `height`.
  init?(_ json: JSON) {
    guard let x = json["x"]?.number, let y = json["y"]?.number, let width = json["width"]?.number,
      let height = json["height"]?.number
    else { return nil }
    self.init(x: x, y: y, width: width, height: height)
  }
}

extension JSON {
  fileprivate var number: Int? { if case .integer(let number) = self { Int(number) } else { nil } }
}

extension Session {
  /// The processes of the window manager.
  func managers() -> [pid_t] {
    guard let desktop else { return [] }
    return Session.remains(of: environment["NAVD_TEST_SESSION"] ?? "").filter {
      Files.contents(of: "/proc/\($0)/comm").elementsEqual((desktop.manager.rawValue + "\n").utf8)
    }
  }
}
