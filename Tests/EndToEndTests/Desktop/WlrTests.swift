import CoordinatorAPI
import DBusValues
import PresentationModel
import TestSupport
import Testing
import TextFormats

// The capabilities that navd-windows offers with wlr-foreign-toplevel-management only after it has seen them in a compositor.

private typealias Rows = WindowSystemInterface

extension RunningAdapter {
  fileprivate var capabilities: [String]? { [String](value: properties["Capabilities"] ?? .string("")) }
}

@Test("With wlr, outputs of windows are offered once a window was told to be on one")
private func windows_ofWlrOnNoOutput_offerNone() throws {
  let session = try Session(starting: false)
  let compositor = try FakeWlr(session)
  let adapter = try RunningAdapter(session, "--backend", "wlr", variables: ["WAYLAND_DISPLAY": compositor.socket])
  try compositor.tell("window = opened('one')")
  _ = try adapter.open("fake", "one")
  #expect(adapter.properties["Outputs"] == ["FAKE-1"].value)
  #expect(adapter.capabilities == ["close", "fullscreen", "focus"])
  #expect(adapter.windows.map(\.properties.output) == [nil])
  try compositor.tell("entered(window)")
  try adapter.wait("outputs are offered") { adapter.capabilities == ["close", "fullscreen", "output", "focus"] }
  try adapter.wait("its output is told") { adapter.windows.map(\.properties.output) == ["FAKE-1"] }
}

@Test("With wlr, hiding is offered once a window was told to be minimized")
private func windows_ofWlrMinimized_offerHiding() throws {
  let session = try Session(starting: false)
  let compositor = try FakeWlr(session)
  let adapter = try RunningAdapter(session, "--backend", "wlr", variables: ["WAYLAND_DISPLAY": compositor.socket])
  try compositor.tell("first = opened('one')", "entered(first)", "second = opened('two')")
  _ = try adapter.open("fake", "two")
  let window = try adapter.open("fake", "one")
  #expect(try adapter.refusal(Rows.hide, window.id) == .notSupported)
  #expect(adapter.windows.map(\.properties.hidden) == [nil, nil])

  // The user minimizes another window.
  try compositor.tell("minimized(second, True)")
  try adapter.wait("hiding is offered") { adapter.capabilities?.contains("hide") == true }
  try adapter.wait("what is hidden is told") { adapter.windows.map(\.properties.hidden) == [false, true] }
  try adapter.call(Rows.hide, window.id)
  try adapter.wait("it is hidden") {
    adapter.window("fake", "one")?.properties.hidden == true && adapter.window("fake", "one")?.properties.output == ""
  }
  try adapter.call(Rows.show, window.id)
  try adapter.wait("it is shown") {
    adapter.window("fake", "one")?.properties.hidden == false
      && adapter.window("fake", "one")?.properties.output == "FAKE-1"
  }
  try compositor.tell("minimized(second, False)")
  try adapter.wait("nothing is hidden") { adapter.windows.map(\.properties.hidden) == [false, false] }
  #expect(adapter.capabilities?.contains("hide") == true && adapter.isGapless)
}

@Test("N15: with wlr, fullscreen = true works, and the other keys of a place are left out", arguments: [true, false])
private func item_ofWlr_isFullscreen(_ fills: Bool) throws {
  let sign = "command = [\"sleep\", \"1000\"]\nwindow = { app-id = \"fake\", place = \"center\", fullscreen = true }\n"
  let session = try Session(destinations: ["sign": sign])
  let compositor = try FakeWlr(session)
  let adapter = try RunningAdapter(session, "--backend", "wlr", variables: ["WAYLAND_DISPLAY": compositor.socket])
  let without = { (key: String) in "“\(key)”: left out, since" }
  let checked =
    try session.navctl("check-config", "--json").json?["warnings"]?.array?.compactMap { $0["message"]?.string } ?? []
  #expect(
    checked.contains { $0.hasPrefix(without("place")) } && !checked.contains { $0.hasPrefix(without("fullscreen")) })

  try compositor.tell("fills = \(fills ? "True" : "False")")
  try session.runNavctl("present", "sign")
  try compositor.tell("opened('sign')")
  try session.runNavctl("wait", "sign", "--for", "presented")
  if fills {
    try adapter.wait("it is fullscreen") { adapter.window("fake", "sign")?.properties.fullscreen == true }
    return #expect(adapter.capabilities?.contains("fullscreen") == true)
  }
  // A compositor that ignores it is found out.
  try adapter.wait("it is no longer offered") { adapter.capabilities?.contains("fullscreen") == false }
  #expect(try session.navctl("doctor").outputText.contains(without("fullscreen")))
}

@Test("N8: an item is hidden by a compositor that was seen to minimize, even if navd has been told that it cannot")
private func item_ofWlrSeenToMinimize_isHidden() throws {
  let notes = "command = [\"sleep\", \"1000\"]\nwindow = { app-id = \"fake\" }\ndismissal = \"hide\"\n"
  let session = try Session(destinations: ["notes": notes])
  let compositor = try FakeWlr(session)
  let adapter = try RunningAdapter(session, "--backend", "wlr", variables: ["WAYLAND_DISPLAY": compositor.socket])
  // navd reads the capabilities of the adapter, and refuses, also the first request.
  for _ in 0..<2 {
    let refused = try session.navctl("present", "notes")
    #expect(refused.exitCode != 0 && refused.errorText.contains("before a window was seen to be minimized"))
  }

  try compositor.tell("other = opened('other')", "minimized(other, True)")
  try adapter.wait("hiding is offered") { adapter.capabilities?.contains("hide") == true }
  try session.runNavctl("present", "notes")
  try compositor.tell("opened('notes')")
  try session.runNavctl("wait", "notes", "--for", "presented")
  try session.runNavctl("toggle", "notes")
  try adapter.wait("it is hidden") { adapter.window("fake", "notes")?.properties.hidden == true }
  try session.runNavctl("present", "notes")
  try adapter.wait("it is shown") { adapter.window("fake", "notes")?.properties.hidden == false }
}

@Test(
  "N1: where processes are not known, the window with the id of the item's program is the item's, if no other window has that id"
)
private func window_withTheNameOfItsProgram_isTheItemsAlone() throws {
  let session = try Session(
    destinations: [
      "panel": "command = [\"foot\", \"-e\", \"sleep\", \"1000\"]\nwindow = true\n",
      "script": "command = [\"sh\", \"-c\", \"foot -e sleep 1000\"]\nwindow = true\n",
    ], desktop: .sway)
  let adapter = try RunningAdapter(session, "--backend", "wlr")
  let screen = ManagersWindows(session: session)
  let path = try session.open("panel")
  try screen.wait(for: ["foot"])
  try session.runNavctl("toggle", "panel")
  #expect(try session.ending(of: path).reason == "dismissed")
  try screen.wait(for: [])

  // The user has such a window, too: nobody can know which of the two is the item's.
  let terminal = try session.start(program: "/usr/bin/foot", ["--title=mine", "-e", "sleep", "1000"])
  try screen.wait(for: ["foot"])
  try adapter.wait("it has its title") { adapter.window("foot", "mine") != nil }
  let (reason, result) = try session.ending(of: session.present("panel"))
  let without = "[window] without “app-id” and “title”"
  let advice = "write “app-id”, or give the command an id of its own"
  #expect(reason == "failed")
  #expect(
    result["error"]
      == .string(
        "\(without) needs “pid”, which the backend “wlr” does not offer on this desktop, and the window “mine” has the application "
          + "id “foot”, too; \(advice)"))
  try screen.wait(for: ["foot"])
  #expect(terminal.status == nil)

  // check-config and the doctor report the same.
  let expected = [
    "\(without) goes by the application id “foot” here, while no other window has it, since the backend “wlr” tells no processes; "
      + advice,
    "\(without) needs “pid”, which the backend “wlr” does not offer on sway",
  ]
  let warnings = try session.navctl("check-config", "--json").json?["warnings"]?.array?.compactMap {
    $0["message"]?.string
  }
  #expect(warnings == expected)
  let doctor = try session.navctl("doctor").outputText
  #expect(expected.allSatisfy(doctor.contains), "\(doctor)")
}
