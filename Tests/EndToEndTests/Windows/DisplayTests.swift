import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

private typealias Rows = CoordinatorInterface

/// Several displays of one user on one bus, each with an adapter of its own (N14).
@Suite struct DisplayTests {
  private static func options(_ display: String) -> Properties {
    ["environment": ["WAYLAND_DISPLAY": display, "DISPLAY": ":0"].value]
  }

  @Test("N14: an item is followed by the adapter of its display, also after a restart of navd")
  func item_isFollowedOnItsDisplay() throws {
    let files = try FollowedCommand()
    files.adapter.displays = ["wayland-1", ":0"]
    let second = try ScriptedWindowSystem(files.session, display: "wayland-2")
    let path = try files.session.present("files", "", Self.options("wayland-2"))
    let pid = try files.pid()
    // The first adapter tells windows of its display only.
    files.adapter.open(Window("elsewhere", appID: "files", pid: UInt64(getpid())))
    second.open(Window("w1", appID: "files", pid: pid))
    #expect(try files.session.call(Rows.wait, (path, "presented")).0 == "")
    #expect(try files.windows() == ["w1"])

    try files.session.stop(SIGKILL)
    try files.session.start()
    #expect(try files.windows() == ["w1"])
    try files.session.runNavctl("dismiss", "files")
    #expect(try files.session.ending(of: path).reason == "dismissed")
    #expect(second.requests == ["close w1"])
    #expect(files.adapter.requests == [])
  }

  @Test("N14: an adapter that comes after the items of its display takes them over")
  func adapter_comingLater_takesItemsOver() throws {
    let files = try FollowedCommand()
    files.adapter.displays = ["wayland-1"]
    let path = try files.session.present("files", "", Self.options("wayland-2"))
    #expect(try files.session.call(Rows.wait, (path, "presented")).0 == "")
    #expect(try files.windows() == [])
    let second = try ScriptedWindowSystem(
      files.session, [Window("w1", appID: "files", pid: try files.pid())], display: "wayland-2")
    try files.session.poll("its window is known") { try files.windows() == ["w1"] }
    try files.session.dismiss("files")
    #expect(try files.session.ending(of: path).reason == "dismissed")
    #expect(second.requests == ["close w1"])
  }

  @Test("N14: an adapter of a second display that does not answer holds up the items there for a moment, and no others")
  func adapter_silentOnSecondDisplay_holdsUpNoOthers() throws {
    let files = try FollowedCommand()
    let session = files.session
    files.adapter.displays = ["wayland-1"]
    try session.write("command = ['sleep', '1000']\nwindow = { app-id = 'other' }", toDestination: "other")
    try session.runNavctl("reload")
    let second = try ScriptedWindowSystem(session, display: "wayland-2")
    second.isSilent = true
    var path: ObjectPath?
    let client = try session.connect()
    client.call(
      Rows.present, on: CoordinatorNames.bus, at: CoordinatorNames.object, ("files", "", Self.options("wayland-2")),
      timeout: .seconds(60)
    ) { path = try? $0.get().0 }
    try session.wait("the second adapter is asked") { second.reads > 0 }
    _ = try session.present("other", "", Self.options("wayland-1"))
    #expect(path == nil)

    try session.wait("the item is accepted") { path != nil }
    client.close()
    second.open(Window("w1", appID: "files", pid: try files.pid()))
    second.answer()
    #expect(try session.call(Rows.wait, (#require(path), "presented")).0 == "")
    #expect(try files.windows() == ["w1"])
  }

  @Test("check-config and doctor say on which display a destination cannot do what its file says")
  func checkConfig_ofTwoDisplays_namesTheOneThatCannot() throws {
    let files = try FollowedCommand(window: "window = { app-id = 'files', place = 'top' }\nhere = true")
    let session = files.session
    files.adapter.displays = ["wayland-1"]
    let without: Set<WindowCapability> = [.place, .summon]
    let second = try ScriptedWindowSystem(
      session, capabilities: Set(WindowCapability.allCases).subtracting(without), display: "wayland-2")
    func warnings() throws -> [String] {
      let report = try session.navctl("check-config", "--json").json
      return report?["warnings"]?.array?.compactMap { $0["message"]?.string } ?? []
    }
    let expected = [
      "on wayland-2: here = true needs “summon”, which the backend “scripted” does not offer on this desktop",
      "on wayland-2: “place”: left out, since placing a window needs “place”, which the backend “scripted” does not offer "
        + "on this desktop; “navctl windows --rules COMPOSITOR files” prints the compositor's own rule",
    ]
    #expect(try warnings() == expected)
    let doctor = try session.navctl("doctor").outputText
    #expect(expected.allSatisfy(doctor.contains), "\(doctor)")

    // A warning that holds on both displays is given once.
    files.adapter.connection.close()
    files.adapter = nil
    #expect(second.displays == ["wayland-2"])
    let third = try ScriptedWindowSystem(
      session, capabilities: Set(WindowCapability.allCases).subtracting([.place]), display: "wayland-3")
    #expect(try warnings() == [String(expected[1].dropFirst("on wayland-2: ".count)), expected[0]])
    third.connection.close()
  }

  /// An item on each of two displays, both with the focus there, the second one last.
  private func twoFocused() throws -> (files: FollowedCommand, second: ScriptedWindowSystem) {
    let files = try FollowedCommand()
    files.adapter.displays = ["wayland-1"]
    let second = try ScriptedWindowSystem(files.session, display: "wayland-2")
    try files.session.write(
      "command = ['sleep', '1000']\nwindow = { app-id = 'other' }", toDestination: "other")
    try files.session.runNavctl("reload")
    for (name, adapter) in [("files", files.adapter!), ("other", second)] {
      let path = try files.session.present(name, "", Self.options(adapter.displays[0]))
      try files.session.poll("its program runs") {
        try files.session.call(Rows.get, name).1["pid"] != nil
      }
      let pid = try files.session.call(Rows.get, name).1["pid"].flatMap { UInt64(value: $0) }
      adapter.open(Window("\(name) window", appID: name, pid: pid, focused: true))
      #expect(try files.session.call(Rows.wait, (path, "presented")).0 == "")
    }
    return (files, second)
  }

  @Test("N7, N14: a key that is pressed on a display finds the focus there")
  func toggle_findsFocusOfItsDisplay() throws {
    let (files, second) = try twoFocused()
    let path = try files.session.call(Rows.get, "files").0
    let options = Self.options("wayland-1").merging(["raise": .boolean(true)]) { $1 }
    _ = try files.session.call(Rows.toggle, ("files", "", options))
    #expect(try files.session.ending(of: path).reason == "dismissed")
    #expect(files.adapter.requests == ["close files window"])
    #expect(second.requests == [])
  }

  @Test("N9, N14: the loss of the focus on a display that its user does not use is none")
  func focus_lostOnOtherDisplay_doesNotCount() throws {
    let (files, second) = try twoFocused()
    try files.session.write(
      "command = ['sleep', '1000']\nunfocus = 'dismiss'\nwindow = { app-id = 'popup' }",
      toDestination: "popup")
    try files.session.runNavctl("reload")
    let popup = try files.session.present("popup", "", Self.options("wayland-1"))
    try files.session.poll("its program runs") {
      try files.session.call(Rows.get, "popup").1["pid"] != nil
    }
    files.adapter.open(Window("popup", appID: "popup", pid: UInt64(getpid()), focused: true))
    #expect(try files.session.call(Rows.wait, (popup, "presented")).0 == "")
    // The item ends two seconds after its window, long after the time in which a loss counts.
    let watcher = try files.session.watch()
    second.close("other window")
    try files.session.wait("the other one ends") {
      watcher.lines.contains { $0.hasPrefix("dismissed other") }
    }
    #expect(try files.session.call(Rows.get, "popup").0 == popup)
  }

  @Test("N14: two sways of one user each have an adapter, and a key acts on the display where it is pressed")
  func toggle_onTwoSways_showsAndClosesThere() throws {
    let desktop = try WindowedDesktop(
      .sway,
      destinations: [
        "plain": "command = ['foot', '--app-id=plain']\nwindow = { app-id = 'plain' }",
        "own": "command = ['foot', '--app-id=own']\nwindow = true\nscope = 'process'",
      ])
    let session = desktop.session
    let second = try SecondSway(session)
    let inner = second.variables

    func innerWindows() throws -> String {
      try session.run(program: "/usr/bin/env", inner + ["swaymsg", "-t", "get_tree"]).outputText
    }
    for name in ["plain", "own"] {
      for isInner in [false, true] {
        func toggle() throws {
          let run = try session.run(
            program: "/usr/bin/env", (isInner ? inner : []) + [session.executable("navctl"), "toggle", name])
          #expect(run.exitCode == 0, "\(run.errorText)")
        }
        try toggle()
        let path = try session.call(Rows.get, name).0
        #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
        try session.poll("its window is known") {
          StateEntry(try session.call(Rows.get, name).1).windows?.count == 1
        }
        #expect(try innerWindows().contains("\"app_id\": \"\(name)\"") == isInner)
        #expect(try (desktop.screen.window(name) != nil) == !isInner)
        try toggle()
        #expect(try session.ending(of: path).reason == "dismissed")
        #expect(try !innerWindows().contains("\"app_id\": \"\(name)\""))
        #expect(try desktop.screen.window(name) == nil)
      }
    }

    // A further adapter of either display ends.
    #expect(!second.sway.hasEnded)
    for variables in [[], inner] {
      let third = try session.run(program: "/usr/bin/env", variables + [session.executable("navd-windows")])
      #expect(third.exitCode == 3, "\(third.errorText)")
      #expect(third.errorText.contains("navd-windows already runs (pid "), "\(third.errorText)")
      let allowed = try session.run(
        program: "/usr/bin/env", variables + [session.executable("navd-windows"), "--if-not-running"])
      #expect(allowed.exitCode == 0 && allowed.errorText == "", "\(allowed.errorText)")
    }
  }

  @Test("navctl windows and doctor tell of all displays, and of which one each window is")
  func windows_ofTwoSways_areThoseOfBoth() throws {
    let desktop = try WindowedDesktop(
      .sway,
      destinations: [
        "plain": "command = ['foot', '--app-id=plain', '-e', 'sleep', '1000']\nwindow = { app-id = 'plain' }"
      ])
    let session = desktop.session
    _ = try session.open("plain")
    // A line has no column for the display while there is only one.
    func rows() throws -> [[String]] {
      try session.navctl("windows").lines.map {
        $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      }
    }
    #expect(try rows().map(\.count) == [7])
    #expect(try session.navctl("doctor").lines.contains("ok\twindows\tknown by the backend “sway”"))

    let second = try SecondSway(session)
    try session.runTool(
      "/usr/bin/env", second.variables + ["swaymsg", "exec", "foot --app-id=inner -e sleep 1000"])
    try session.poll("both windows are listed") { try rows().count == 2 }
    let first = try #require(session.desktop?.displays["WAYLAND_DISPLAY"])
    #expect(try rows().map { [$0[1], $0[6], $0[7]] } == [["plain", "plain", first], ["inner", "", second.display]])
    #expect(
      try session.navctl("windows", "--json").json?.array?.map { $0["display"]?.string } == [first, second.display])
    #expect(
      try session.navctl("doctor").lines.filter { $0.contains("\twindows\t") } == [
        "ok\twindows\tthose of \(first): known by the backend “sway”",
        "ok\twindows\tthose of \(second.display): known by the backend “sway”",
      ])

    // An adapter that hangs hides only its own windows.
    second.adapter.send(SIGSTOP)
    defer { second.adapter.send(SIGCONT) }
    let silence =
      "the adapter of \(second.display) does not answer; start it again, e.g. systemctl --user restart navd-windows"
    let listed = try session.navctl("windows")
    #expect(listed.lines.map { $0.split(separator: "\t").last.map(String.init) } == [first])
    #expect(listed.exitCode == CommandStatus.unreachable.rawValue)
    #expect(listed.errorText == "navctl: windows: \(silence)\n")
    #expect(
      try session.navctl("doctor").lines.filter { $0.contains("\twindows\t") } == [
        "ok\twindows\tthose of \(first): known by the backend “sway”", "!!\twindows\t\(silence)",
      ])
    #expect(
      try session.navctl("status").outputText.contains(
        "followed by the backend “sway”; the adapter of \(second.display) does not answer"))
  }
}

/// A second sway of the user, with an adapter of its own.
private struct SecondSway {
  let sway: Program
  let adapter: Program
  let display: String
  /// The variables of its programs, as assignments.
  let variables: [String]

  init(_ session: Session) throws {
    let variables: [String: String]
    (sway, display, variables) = try session.startInnerSway(outputs: nil)
    self.variables = variables.merging(["WAYLAND_DISPLAY": display, "DISPLAY": ""]) { $1 }.map {
      "\($0.key)=\($0.value)"
    }
    let watched = try #require(WindowSystemInterface.bus(of: display))
    var owner: BusName?
    let watch = session.client.watchName(watched) { owner = $0 }
    defer { watch.cancel() }
    let adapter = try session.start(
      program: "/usr/bin/env", self.variables + [session.executable("navd-windows")])
    self.adapter = adapter
    try session.wait("the second adapter is there") { owner != nil || adapter.hasEnded }
    try #require(!adapter.hasEnded, "\(adapter.errorText)")
  }
}
