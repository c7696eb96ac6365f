import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import TextFormats

private typealias Rows = WindowSystemInterface

/// The scenarios of conformance: what an adapter tells, what it is asked to do, and restarts.
extension Conformance {
  static var scenarios: [Scenario] {
    [
      Scenario(name: "opened, and closed by its user") { try $0.openAndClose() },
      Scenario(name: "title") { try $0.title() },
      Scenario(name: "pid", capabilities: [.pid]) { try $0.process() },
      Scenario(name: "parent", capabilities: [.parent]) { try $0.parent() },
      Scenario(name: "focus", capabilities: [.focus]) { try $0.focus() },
      Scenario(name: "no window has the focus", capabilities: [.focus]) { try $0.noFocus() },
      Scenario(name: "close", capabilities: [.close]) { try $0.close() },
      Scenario(name: "close is declined", capabilities: [.close]) { try $0.declined() },
      Scenario(name: "activate", capabilities: [.activate]) { try $0.activate() },
      Scenario(name: "minimized by its user") { try $0.minimized() },
      Scenario(name: "hide and show", capabilities: [.hide]) { try $0.hide() },
      Scenario(name: "output", capabilities: [.output]) { try $0.output() },
      Scenario(name: "move", capabilities: [.move, .output]) { try $0.move() },
      Scenario(name: "in view", capabilities: [.inView]) { try $0.inView() },
      Scenario(name: "summon", capabilities: [.summon]) { try $0.summon() },
      Scenario(name: "place", capabilities: [.place]) { try $0.place() },
      Scenario(name: "fullscreen", capabilities: [.fullscreen]) { try $0.fullscreen() },
      Scenario(name: "expect", capabilities: [.expect]) { try $0.expected() },
      Scenario(name: "behind", capabilities: [.behind, .fullscreen, .inView]) { try $0.behind() },
      Scenario(name: "startup id", capabilities: [.startupID]) { try $0.startupID() },
      Scenario(name: "what is not claimed is refused") { try $0.refusals() },
      Scenario(name: "restarted adapter") { try $0.restart() },
      Scenario(name: "navd: toggled, closed by its user", capabilities: [.close]) { try $0.toggled() },
      Scenario(name: "navd: toggle --raise", capabilities: [.close, .activate, .focus]) {
        try $0.raised()
      },
      Scenario(name: "navd: killed and started again", capabilities: [.close]) { try $0.outlived() },
      Scenario(name: "serials and answers") { try $0.serials() },
    ]
  }

  // MARK: What is told

  private func openAndClose() throws {
    let (program, window) = try open("editor")
    try expect(adapter.windows.count == 1, "one window")
    try screen.close(screen.window("editor") ?? { throw Session.Failure("the window is gone") }())
    try adapter.wait("it is closed") { adapter.windows.isEmpty }
    try session.wait("its program ends") { program.hasEnded }
    try expect(screen.window("editor") == nil, "no window")
    try expect(
      adapter.log.filter { $0.contains("editor") }.suffix(2) == ["opened editor one", "closed editor"], "two signals")
    try expect(
      refusal(Rows.close, window.id) == (claimed.contains(.close) ? .unknownWindow : .notSupported), "an error")
  }

  private func title() throws {
    let (_, window) = try open("editor")
    try tell("editor", "title two")
    // Some compositors tell only the first title.
    do {
      try session.poll("the compositor has its title", within: .seconds(5)) {
        try screen.window("editor")?.title == "two"
      }
    } catch {
      throw Unjudged()
    }
    try wait("editor", "has another title") { $0.title == "two" }
    try expect(adapter.window("editor")?.id == window.id, "the same id")
  }

  private func process() throws {
    let (first, _) = try open("editor")
    let (second, _) = try open("other")
    for (name, program) in [("editor", first), ("other", second)] {
      try wait(name, "has its process") { $0.pid == UInt32(program.processID) }
      if let pid = try screen.window(name)?.pid { try expect(pid == program.processID, "the judge knows that process") }
    }
  }

  private func parent() throws {
    let (_, window) = try open("editor")
    try expect(window.properties.parent == "", "no parent")
    try tell("editor", "dialog")
    _ = try opened("editor", "dialog")
    try adapter.wait("its parent is told") { adapter.window("editor", "dialog")?.properties.parent == window.id }
    try expect(adapter.window("editor", "one")?.properties.parent == "", "its parent has none")
  }

  private func focus() throws {
    for name in ["editor", "other"] { _ = try open(name) }
    try needs("focused")
    for name in ["editor", "other", "editor"] {
      try screen.focus(screen.window(name) ?? { throw Session.Failure("the window is gone") }())
      for known in ["editor", "other"] {
        try wait(known, "has the focus: \(known == name)") { $0.focused == (known == name) }
      }
    }
  }

  private func noFocus() throws {
    try needsWorkspaces()
    try screen.show(workspace: 1)
    _ = try open("editor")
    try wait("editor", "has the focus") { $0.focused == true }
    try screen.show(workspace: 3)
    try judge("editor", "has not the focus") { $0?.isFocused == false }
    try wait("editor", "has not the focus") { $0.focused == false }
    try screen.show(workspace: 1)
  }

  private func output() throws {
    let outputs = [String](value: adapter.properties["Outputs"] ?? .string("")) ?? []
    _ = try open("editor")
    try wait("editor", "is on one of \(outputs)") { $0.output.map(outputs.contains) == true }
    try needs("output")
    guard setup.backend != "x11" else { return }
    try judge("editor", "is on the same") { $0?.output == adapter.window("editor")?.properties.output }
  }

  private func inView() throws {
    try needsWorkspaces()
    try screen.show(workspace: 1)
    _ = try open("editor")
    try wait("editor", "is in view") { $0.inView == true }
    try screen.show(workspace: 3)
    try wait("editor", "is not in view") { $0.inView == false && $0.hidden != true }
    try screen.show(workspace: 1)
    try wait("editor", "is in view") { $0.inView == true }
  }

  /// Minimizes a window as its user does. Some adapters claim to hide windows only after they have seen that.
  private func minimized() throws {
    guard setup.manager == .described else { throw Unjudged() }
    let described = DescribedWindows(session: session)
    _ = try open("editor")
    guard let window = try screen.window("editor"), try described.can("minimize") else { throw Unjudged() }
    try described.minimize(window)
    do {
      try session.poll("it is minimized", within: .seconds(5)) { try screen.window("editor")?.isHidden == true }
    } catch {
      throw Unjudged()
    }
    try wait("editor", "is minimized") { $0.minimized == true || $0.hidden == true }
  }

  private func startupID() throws {
    guard session.desktop?.displays["DISPLAY"]?.isEmpty == false else { throw Unjudged() }
    _ = try open("with", ["DESKTOP_STARTUP_ID": "navd-test-1_TIME0", "GDK_BACKEND": "x11"])
    _ = try open("without", ["GDK_BACKEND": "x11"])
    try wait("with", "has its startup id") { $0.startupID == "navd-test-1_TIME0" }
    try expect(adapter.window("without")?.properties.startupID == nil, "no startup id without one")
  }

  // MARK: What is asked

  private func close() throws {
    let (program, window) = try open("editor")
    let (other, _) = try open("other")
    try adapter.call(Rows.close, window.id)
    try session.wait("its program ends") { program.hasEnded }
    try adapter.wait("it is closed") { adapter.window("editor") == nil }
    try expect(screen.window("editor") == nil && other.status == nil, "the other window stays")
    try expect(refusal(Rows.close, window.id) == .unknownWindow, "an error")
  }

  private func declined() throws {
    let (program, window) = try open("editor")
    try tell("editor", "unsaved")
    try session.wait("its text is unsaved") { program.lines.contains("unsaved") }
    for answer in ["cancel", "discard"] {
      try adapter.call(Rows.close, window.id)
      let dialog = try opened("editor", "Save?")
      if claimed.contains(.parent) {
        try adapter.wait("its parent is told") { adapter.window("editor", "Save?")?.properties.parent == window.id }
      }
      if setup.backend == "sway" {
        try adapter.wait("it floats") { adapter.window("editor", "Save?")?.properties.floating == true }
        try expect(adapter.window("editor", "one")?.properties.floating == false, "its parent does not")
      }
      try expect(dialog.id != window.id && adapter.window("editor", "one")?.id == window.id, "both windows")
      try tell("editor", answer)
      try adapter.wait("the dialog is closed") { adapter.window("editor", "Save?") == nil }
      if answer == "cancel" { try expect(adapter.windows.map(\.id) == [window.id], "the window stays") }
    }
    try adapter.wait("it is closed") { adapter.windows.isEmpty }
    try session.wait("its program ends") { program.hasEnded }
  }

  private func activate() throws {
    let windows = try ["editor", "other"].map { try open($0).window }
    try needs("focused")
    for (index, name) in [(0, "editor"), (1, "other"), (0, "editor")] {
      try adapter.call(Rows.activate, windows[index].id)
      try judge(name, "has the focus") { $0?.isFocused == true }
    }
  }

  private func hide() throws {
    _ = try open("other")
    let (program, window) = try open("editor")
    try needs("hidden")
    let isTiled = try screen.known("editor").isTiled
    for shows in [Rows.show, Rows.activate] {
      guard shows.name != Rows.activate.name || claimed.contains(.activate) else { continue }
      try adapter.call(Rows.hide, window.id)
      try judge("editor", "is hidden") { $0?.isHidden == true }
      try wait("editor", "is hidden") { $0.hidden == true && $0.inView != true }
      try adapter.call(shows, window.id)
      try judge("editor", "is shown") { $0?.isHidden == false && $0?.isTiled == isTiled }
      try wait("editor", "is shown") { $0.hidden == false && $0.output != "" }
    }
    try expect(program.status == nil && adapter.window("editor")?.id == window.id, "the same window")
  }

  private func move() throws {
    let outputs = [String](value: adapter.properties["Outputs"] ?? .string("")) ?? []
    guard outputs.count > 1 else { throw Unjudged() }
    let windows = try ["editor", "other"].map { try open($0).window }
    try needs("output")
    try wait("editor", "is on an output") { $0.output.map(outputs.contains) == true }
    let here = adapter.window("editor")?.properties.output ?? ""
    let there = outputs.first { $0 != here } ?? ""
    // The other window has the focus, and keeps it, even when it is moved itself.
    for (index, name, output) in [(0, "editor", there), (1, "other", there), (0, "editor", here)] {
      try adapter.call(Rows.moveToOutput, (windows[index].id, output))
      try judge(name, "is on \(output)") { $0?.output == output }
      try wait(name, "is on \(output)") { $0.output == output }
      try judge("other", "has the focus") { $0?.isFocused == true }
    }
    try adapter.wait("the output with the focus is told") { adapter.properties["FocusedOutput"] == .string(there) }
    try expect(refusal(Rows.moveToOutput, (windows[0].id, "no such output")) == .invalidArgument, "an error")
  }

  private func summon() throws {
    try needsWorkspaces()
    try screen.show(workspace: 1)
    let (_, window) = try open("editor")
    _ = try open("other")
    try screen.show(workspace: 3)
    try adapter.call(Rows.summon, window.id)
    try judge("editor", "has come") { $0?.workspace == "3" && $0?.isFocused == true }
    try wait("editor", "has come") { claimed.contains(.inView) ? $0.inView == true : true }
    try expect(screen.workspace() == "3" && screen.window("other")?.workspace == "1", "the other window stays")
    try screen.show(workspace: 1)
  }

  private func place() throws {
    _ = try open("other")
    let (program, window) = try open("editor")
    guard try screen.window("editor")?.frame != nil else { throw Unjudged() }
    let outputs = [String](value: adapter.properties["Outputs"] ?? .string("")) ?? []
    func place(at place: String, _ isThere: (ManagersWindows.Frame) -> Bool) throws -> ManagersWindows.Frame {
      try adapter.call(Rows.place, (window.id, ["place": .string(place), "size": .string("400 300")]))
      try judge("editor", "is at \(place)") { window in
        guard let frame = window?.frame else { return false }
        return abs(frame.width - 400) <= 1 && abs(frame.height - 300) <= 1 && isThere(frame)
      }
      return try screen.window("editor")!.frame!
    }
    // There may be a bar at the left or at the top, or an output at the left of the window's.
    let corner = try place(at: "top-left") { frame in
      outputs.count > 1 || (0...100).contains(frame.x) && (0...100).contains(frame.y)
    }
    _ = try place(at: "100 50") { abs($0.x - corner.x - 100) <= 1 && abs($0.y - corner.y - 50) <= 1 }
    _ = try place(at: "bottom-right") { $0.x > corner.x + 200 && $0.y > corner.y + 100 }
    try expect(
      refusal(Rows.place, (window.id, ["size": .string("50%x400")])) == .invalidArgument
        && refusal(Rows.place, (window.id, ["place": .string("middle")])) == .invalidArgument, "an error")
    try expect(program.status == nil && adapter.window("editor")?.id == window.id, "the same window")
  }

  private func fullscreen() throws {
    if setup.manager == .described { throw Unjudged() }
    let (program, window) = try open("editor")
    try adapter.call(Rows.place, (window.id, ["fullscreen": .boolean(true)]))
    try judge("editor", "is fullscreen") { $0?.isFullscreen == true }
    try wait("editor", "is fullscreen") { $0.fullscreen == true }
    try expect(program.status == nil && adapter.window("editor")?.id == window.id, "the same window")
  }

  private func behind() throws {
    let (_, film) = try open("film")
    try adapter.call(Rows.place, (film.id, ["fullscreen": .boolean(true)]))
    try wait("film", "is fullscreen") { $0.fullscreen == true }
    let (_, next) = try open("next")
    try wait("next", "opens behind it") { $0.inView == false }
    try judge("film", "is still fullscreen") { $0?.isFullscreen == true }
    try adapter.call(Rows.place, (next.id, ["fullscreen": .boolean(true)]))
    try wait("next", "is in front once it is fullscreen") { $0.inView == true }
    try wait("film", "is behind it") { $0.inView == false }
  }

  private func expected() throws {
    _ = try open("other")
    guard try screen.window("other")?.frame != nil else { throw Unjudged() }
    // The pattern fits the windows that are not expected, too: those get the focus all the same.
    let options: Properties = [
      "place": .string("center"), "size": .string("400 300"), "focus": .boolean(false), "app-id": .string("[wus]*"),
    ]
    for (name, presentation) in [("wanted", "100"), ("withdrawn", "101"), ("unknown", "102")] {
      if name != "unknown" { try adapter.call(Rows.expect, (presentation, options)) }
      if name == "withdrawn" { try adapter.call(Rows.expect, (presentation, [:])) }
    }
    _ = try open("wanted", [CoordinatorNames.presentationVariable: "100"])
    func isPlaced(_ window: ManagersWindows.Window?) -> Bool {
      window?.frame.map { abs($0.width - 400) <= 1 && abs($0.height - 300) <= 1 } ?? false
    }
    try judge("wanted", "has the size that was expected", until: isPlaced)
    if claimed.contains(.focus) { try judge("other", "has the focus") { $0?.isFocused != false } }
    for (name, presentation) in [("withdrawn", "101"), ("unknown", "102"), ("second", "100")] {
      _ = try open(name, [CoordinatorNames.presentationVariable: presentation])
      // The answer to a further call shows that the adapter has done all that it would have done for the window.
      try adapter.call(Rows.expect, ("103", [:]))
      try judge(name, "is where the compositor puts it") { !isPlaced($0) }
      if claimed.contains(.focus) { try judge(name, "has the focus") { $0?.isFocused != false } }
    }
    try expect(refusal(Rows.expect, ("103", ["size": .string("50%x400")])) == .invalidArgument, "an error")
  }

  private func refusals() throws {
    let (program, window) = try open("editor")
    let output = [String](value: adapter.properties["Outputs"] ?? .string(""))?.first ?? ""
    for (capability, method) in [
      (WindowCapability.close, Rows.close), (.activate, Rows.activate), (.hide, Rows.hide), (.summon, Rows.summon),
    ] where !claimed.contains(capability) {
      try expect(refusal(method, window.id) == .notSupported, "\(method.name) is refused")
    }
    if !claimed.contains(.move) {
      try expect(refusal(Rows.moveToOutput, (window.id, output)) == .notSupported, "MoveToOutput is refused")
    }
    if !claimed.contains(.place) {
      try expect(refusal(Rows.place, (window.id, [:])) == .notSupported, "Place is refused")
      let both: Properties = ["place": .string("center"), "fullscreen": .boolean(true)]
      try expect(refusal(Rows.place, (window.id, both)) == .notSupported, "a place is refused")
    }
    if !claimed.contains(.fullscreen) {
      let filled: Properties = ["fullscreen": .boolean(true)]
      try expect(refusal(Rows.place, (window.id, filled)) == .notSupported, "making it fullscreen is refused")
    }
    if !claimed.contains(.expect) {
      try expect(refusal(Rows.expect, ("1", [:])) == .notSupported, "Expect is refused")
    }
    try expect(program.status == nil && adapter.window("editor") != nil, "the window stays")
  }

  // MARK: Restarts

  private func restart() throws {
    let before = try ["editor", "other"].map { try open($0).window }
    try restartAdapter()
    let after = try ["editor", "other"].map { try opened($0, "one") }
    try expect(adapter.windows.count == 2, "two windows")
    try expect(
      after.map(\.id) == before.map(\.id) || Set(after.map(\.id)).isDisjoint(with: before.map(\.id)),
      "the same ids, or new ones")
    if claimed.contains(.pid) {
      try expect(after.map(\.properties.pid) == before.map(\.properties.pid), "the same facts")
    }
  }

  private func serials() throws {
    _ = try open("editor")
    let (answer, serial) = try adapter.call(Rows.getWindows, ())
    try adapter.wait("all signals before the answer have come") { adapter.serial >= serial }
    try expect(answer.map(\.fields.0) == adapter.windows.map(\.id), "the answer has the windows of the signals")
    try expect(adapter.isGapless, "serials without gaps")
  }

  // MARK: navd

  /// Starts navd with a destination for the editor, and its follower.
  private func startNavd() throws {
    let window = claimed.contains(.pid) ? "true" : "{ app-id = 'panel' }"
    try session.write(
      "command = ['sh', '-c', 'exec python3 \"$HOME/bin/editor.py\" panel \"$HOME/bin/panel.pipe\"']\nwindow = \(window)\n",
      toDestination: "panel")
    if session.navd == nil {
      // An adapter need not give navd the variables of the desktop.
      session.environment.merge(session.desktop?.displays ?? [:]) { $1 }
      try session.start()
    }
    try session.poll("navd knows the adapter") {
      try session.navctl("windows").exitCode == 0
    }
  }

  private func toggled() throws {
    try startNavd()
    let first = try session.open("panel")
    try judge("panel", "is there") { $0 != nil }
    try session.runNavctl("toggle", "panel")
    try expect(session.ending(of: first).reason == "dismissed", "dismissed")
    try judge("panel", "is gone") { $0 == nil }

    try session.runNavctl("toggle", "panel")
    let second = try session.open("panel")
    try judge("panel", "is there") { $0 != nil }
    try screen.close(screen.window("panel") ?? { throw Session.Failure("the window is gone") }())
    try expect(session.ending(of: second).reason == "closed", "closed by its user")
  }

  private func raised() throws {
    try startNavd()
    let path = try session.open("panel")
    try judge("panel", "is there") { $0 != nil }
    _ = try open("other")
    try needs("focused")
    try screen.focus(screen.window("other") ?? { throw Session.Failure("the window is gone") }())
    try wait("other", "has the focus") { $0.focused == true }
    try session.poll("navd knows the focus") {
      try session.navctl("windows", "--json").json?.array?
        .first { $0["app-id"]?.string == "panel" }?["focused"] != true
    }
    try session.runNavctl("toggle", "panel", "--raise")
    try judge("panel", "has the focus") { $0?.isFocused == true }
    try session.poll("navd knows the focus") {
      try session.navctl("windows", "--json").json?.array?
        .first { $0["app-id"]?.string == "panel" }?["focused"] == true
    }
    try session.runNavctl("toggle", "panel", "--raise")
    try expect(session.ending(of: path).reason == "dismissed", "dismissed")
  }

  private func outlived() throws {
    try startNavd()
    let path = try session.open("panel")
    try session.stop(SIGKILL)
    try session.start()
    try startNavd()
    try session.poll("it is presented as before") { try session.call(CoordinatorInterface.get, "panel").0 == path }
    try session.runNavctl("toggle", "panel")
    try expect(session.ending(of: path).reason == "dismissed", "dismissed")
    try judge("panel", "is gone") { $0 == nil }
  }
}
