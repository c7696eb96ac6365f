import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Outputs that are unplugged, on a real sway (U3).

private typealias Rows = CoordinatorInterface

/// A sway with two outputs, which are windows of another sway. Closing one of them unplugs the output.
private final class NestedSway {
  let session: Session
  private let outer: Windows
  private var environment: [String] = []
  /// The programs, which run as long as these objects exist.
  private var programs: [Program] = []

  init(destinations: [String: String]) throws {
    session = try Session(
      destinations: destinations, desktop: .sway,
      files: ["inner.conf": ""])
    outer = try Windows(session)
    let desktop = try #require(session.desktop)
    let (socket, displays) = ("\(desktop.directory)/inner", session.path("inner.displays"))
    try session.write(
      "xwayland disable\nexec sh -c 'echo $WAYLAND_DISPLAY >\(displays).new && mv \(displays).new \(displays)'\n",
      to: "inner.conf")
    let sway = try session.start(
      program: "/usr/bin/env",
      [
        "-u", "DISPLAY", "WLR_BACKENDS=wayland", "WLR_WL_OUTPUTS=2", "WLR_RENDERER=pixman", "SWAYSOCK=\(socket)",
        "sway", "-c",
        session.path("inner.conf"),
      ])
    programs.append(sway)
    try session.poll("the nested sway has started; \(sway.errorText)") {
      try session.run(program: "/usr/bin/test", ["-s", displays]).exitCode == 0
    }
    let display = try session.run(program: "/bin/cat", [displays]).outputText.filter { $0 != "\n" }
    environment = ["SWAYSOCK=\(socket)", "WAYLAND_DISPLAY=\(display)"]
    var owner: BusName?
    let watch = session.client.watchName(WindowSystemInterface.bus) { owner = $0 }
    defer { watch.cancel() }
    let adapter = try session.start(program: "/usr/bin/env", environment + [session.executable("navd-windows")])
    programs.append(adapter)
    try session.wait("the adapter is there") { owner == nil ? adapter.hasEnded : true }
    try #require(!adapter.hasEnded, "\(adapter.errorText)")
  }

  func run(_ program: String, _ arguments: String...) throws -> Program {
    try session.run(program: "/usr/bin/env", environment + [program] + arguments)
  }

  /// The outputs; none if the compositor does not answer in the time of swaymsg.
  func outputs() throws -> [String] {
    let answer = try run("swaymsg", "-r", "-t", "get_outputs").outputText
    return ((try? JSON.parse(answer))?.array ?? []).compactMap { $0["name"]?.string }
  }

  /// Presents an item on an output, and waits until its window is there.
  func open(_ binding: String, on output: String) throws -> ObjectPath {
    let run = try run(session.executable("navctl"), "present", binding, "--output", output)
    try #require(run.exitCode == 0, "\(run.errorText)")
    let path = try session.call(Rows.get, binding).0
    try #require(try session.call(Rows.wait, (path, "presented")).0 == "", "\(session.navd?.errorText ?? "")")
    try session.poll("\(binding) is on \(output)") { try self.output(of: binding) == output }
    return path
  }

  func output(of binding: String) throws -> String? {
    let windows = StateEntry(try session.call(Rows.get, binding).1).windows
    return windows?.first?["output"].flatMap { String(value: $0) }
  }

  /// The usable area of an output, which has no bar.
  func area(of output: String) throws -> ManagersWindows.Frame? {
    let outputs = try JSON.parse(try run("swaymsg", "-r", "-t", "get_outputs").outputText).array ?? []
    return outputs.first { $0["name"]?.string == output }?["rect"].flatMap(ManagersWindows.Frame.init)
  }

  /// The area of the window of a program, without its title bar.
  func frame(of appID: String) throws -> ManagersWindows.Frame? {
    func find(_ node: JSON) -> ManagersWindows.Frame? {
      if node["app_id"]?.string == appID { return node["rect"].flatMap(ManagersWindows.Frame.init) }
      return ((node["nodes"]?.array ?? []) + (node["floating_nodes"]?.array ?? [])).lazy.compactMap(find).first
    }
    return find(try JSON.parse(try run("swaymsg", "-r", "-t", "get_tree").outputText))
  }

  func unplug(_ output: String) throws {
    let window = try #require(try outer.tree().first { try self.title(of: $0).hasSuffix(output) })
    try outer.close(window)
    try session.poll("\(output) is unplugged") {
      let names = try outputs()
      return !names.isEmpty && !names.contains(output)
    }
  }

  private func title(of window: Windows.Window) throws -> String {
    func find(_ node: JSON) -> String? {
      if node["id"] == .integer(window.id) { return node["name"]?.string ?? "" }
      return ((node["nodes"]?.array ?? []) + (node["floating_nodes"]?.array ?? [])).lazy.compactMap(find).first
    }
    return try outer.ask("-r", "-t", "get_tree").json.flatMap(find) ?? ""
  }
}

@Test("U3: an item on an unplugged output ends with output-gone; without that, the compositor moves its window")
func output_unplugged_endsOrMovesItem() throws {
  func destination(_ name: String, _ more: String) -> String {
    "command = ['foot', '--app-id=\(name)', '-e', 'sleep', '1000']\nwindow = true\n\(more)"
  }
  let sway = try NestedSway(destinations: [
    "panel": destination("panel", "output-gone = 'dismiss'"), "notes": destination("notes", ""),
    "other": destination("other", "output-gone = 'dismiss'"),
  ])
  var names: [String] = []
  try sway.session.poll("there are two outputs") {
    names = try sway.outputs().sorted()
    return names.count == 2
  }
  let panel = try sway.open("panel", on: names[1])
  let notes = try sway.open("notes", on: names[1])
  let other = try sway.open("other", on: names[0])
  try sway.unplug(names[1])
  #expect(try sway.session.ending(of: panel).reason == "output-gone")
  try sway.session.poll("the other window has moved") { try sway.output(of: "notes") == names[0] }
  #expect(try sway.session.call(Rows.get, "notes").0 == notes)
  #expect(try sway.session.call(Rows.get, "other").0 == other)
  #expect(
    try sway.session.state()["presentations"]?.array?.compactMap { $0["binding"]?.string } == ["notes", "other"])
}

@Test("N15: a window whose output is unplugged is wholly in view on the remaining one, as one that is asked for there")
func place_outputUnplugged_isInView() throws {
  func destination(_ name: String, _ placement: String) -> String {
    "command = ['foot', '--app-id=\(name)', '-e', 'sleep', '1000']\nwindow = { app-id = '\(name)', \(placement) }\n"
  }
  let sway = try NestedSway(destinations: [
    "mixer": destination("mixer", "place = 'bottom-right', size = '300 200', margin = 20"),
    "wide": destination("wide", "place = 'top', size = '90% 300'"),
  ])
  var names: [String] = []
  // Each is a window, which shrinks when the other one comes.
  try sway.session.poll("there are two outputs of the same width") {
    names = try sway.outputs().sorted()
    return try names.count == 2 && Set(names.map { try sway.area(of: $0)?.width }).count == 1
  }
  /// Waits until a window is wholly on an output.
  /// - Parameter isPlaced: whether it is at most 40 pixels from the edges that its file names.
  func wait(for name: String, on output: String, isPlaced: Bool = true) throws {
    var frames: (window: ManagersWindows.Frame?, output: ManagersWindows.Frame?)
    do {
      try sway.session.poll("\(name) is in view on \(output)") {
        frames = (try sway.frame(of: name), try sway.area(of: output))
        guard let frame = frames.window, let area = frames.output else { return false }
        let right = area.x + area.width - frame.x - frame.width
        let bottom = area.y + area.height - frame.y - frame.height
        let isNear = name == "mixer" ? right <= 40 && bottom <= 40 : frame.y <= area.y + 40
        return frame.x >= area.x && frame.y >= area.y && right >= 0 && bottom >= 0 && (isNear || !isPlaced)
      }
    } catch {
      throw Session.Failure("\(error)\nit is at \(frames)")
    }
  }
  for name in ["mixer", "wide"] {
    _ = try sway.open(name, on: names[1])
    try wait(for: name, on: names[1])
  }
  try sway.unplug(names[1])
  // The remaining one grows, so that a window in view is no longer at its edge.
  for name in ["mixer", "wide"] { try wait(for: name, on: names[0], isPlaced: false) }

  // A window for an output that there is not stays where it opens (U1).
  try sway.session.runNavctl("dismiss", "mixer")
  try sway.session.poll("it is closed") { try sway.frame(of: "mixer") == nil }
  let run = try sway.run(sway.session.executable("navctl"), "present", "mixer", "--output", names[1])
  #expect(run.exitCode == 0, "\(run.errorText)")
  try wait(for: "mixer", on: names[0])
}
