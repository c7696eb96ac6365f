import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

private typealias Rows = CoordinatorInterface

/// Dismissals that hide windows and park programs, with and without a user manager (N8).
@Suite struct HidingTests {
  private static let hide = "dismissal = 'hide'"

  @Test(
    "N8: a dismissal hides the window, and presenting again shows it, by the same process", arguments: [false, true])
  func dismissal_hidesWindow_andPresentingShowsIt(managed: Bool) throws {
    let files = try FollowedCommand(more: Self.hide, managed: managed)
    let session = files.session
    let first = try files.show()
    let pid = try files.pid()
    try session.dismiss("files")
    #expect(try session.ending(of: first).reason == "dismissed")
    #expect(files.adapter.requests == ["hide w1"])
    #expect(kill(pid_t(pid), 0) == 0)
    #expect(try session.navctl("list").outputText == "1\tfiles\t\tparked\tfiles\t\t\t\t\n")
    #expect(
      try session.state()["parked"]
        == [
          [
            "binding": "files", "destination": "files", "id": "", "handle": "/org/navd/Coordinator1/presentation/1",
            "presentation": 1,
          ]
        ])

    let second = try session.present("files")
    #expect(try session.call(Rows.wait, (second, "presented")).0 == "")
    #expect(second != first)
    #expect(try files.pid() == pid)
    #expect(files.adapter.requests == ["hide w1", "show w1", "activate w1"])
    #expect(try session.state()["parked"] == nil)
    #expect(try files.windows() == ["w1"])
    // The user closes the window.
    files.adapter.close("w1")
    #expect(try session.ending(of: second).reason == "closed")
  }

  @Test(
    "N8: a hidden window that its user shows by the desktop's own means is open, and the next press hides it",
    arguments: [Desktop.Manager.sway, .i3, .openbox])
  func hidden_shownByItsUser_isPresented(_ manager: Desktop.Manager) throws {
    let words = manager == .sway ? "'foot', '--app-id=plain'" : "'xterm', '-class', 'plain'"
    let desktop = try WindowedDesktop(
      manager,
      destinations: [
        "plain": "command = [\(words), '-e', 'sleep', '1000']\nwindow = { app-id = 'plain' }\n\(Self.hide)\n"
      ])
    let (session, screen) = (desktop.session, desktop.screen)
    let first = try session.open("plain")
    let window = try #require(try screen.window("plain"))
    try session.runNavctl("toggle", "plain")
    #expect(try session.ending(of: first).reason == "dismissed")
    try session.poll("the adapter tells that it is hidden") {
      try session.state()["parked"]?.array?.count == 1
        && session.navctl("windows").outputText.contains("plain")
    }
    if manager == .openbox {
      try session.runTool("/usr/bin/wmctrl", ["-i", "-a", window.id])
    } else {
      try session.runTool(manager.messenger, ["scratchpad show"])
    }
    try session.poll("it is presented") {
      try session.state()["presentations"]?.array?.contains { $0["binding"] == "plain" && $0["phase"] == "presented" }
        == true
    }
    #expect(try session.state()["parked"] == nil)
    try session.runNavctl("toggle", "plain")
    try session.poll("it is hidden again") { try session.state()["parked"]?.array?.count == 1 }
  }

  @Test("N8: a parked program whose file has another command now is outdated, and gives way to the new one")
  func parked_afterEdit_givesWay() throws {
    let files = try FollowedCommand(more: Self.hide)
    let (session, adapter) = (files.session, files.adapter!)
    let first = try files.show()
    try session.dismiss("files")
    _ = try session.ending(of: first)
    let text = String(decoding: Files.contents(of: session.destinationPath("files")), as: UTF8.self)
    try session.write(text.replacingAll("sleep 1000", with: "sleep 10001"), toDestination: "files")
    try session.runNavctl("reload")
    #expect(try session.navctl("list").outputText == "1\tfiles\t\tparked (outdated)\tfiles\t\t\t\t\n")
    // The program keeps its window for a while, as one does that asks its user.
    adapter.onClose = { _ in }
    let (second, pid) = try files.present()
    try session.wait("the old one is asked to close") { adapter.requests.last == "close w1" }
    adapter.open(Window("w2", appID: "files", pid: pid))
    #expect(try session.call(Rows.wait, (second, "presented")).0 == "")
    #expect(try session.state()["parked"]?.array?.first?["outdated"] == true)
    adapter.close("w1")
    try session.poll("the old one has ended") { try session.state()["parked"] == nil }
    #expect(try files.windows() == ["w2"])
  }

  @Test(
    "N8, R2: a parked program outlives navd, is shown again by the next navd, and outlives that one",
    arguments: [false, true])
  func parked_outlivesNavd(managed: Bool) throws {
    let files = try FollowedCommand(more: Self.hide, managed: managed)
    let session = files.session
    let first = try files.show()
    let pid = try files.pid()
    try session.dismiss("files")
    #expect(try session.ending(of: first).reason == "dismissed")
    try session.stop(SIGKILL)
    try session.start()
    #expect(try session.state()["parked"]?.array?.count == 1)
    let second = try session.present("files")
    #expect(try session.call(Rows.wait, (second, "presented")).0 == "")
    try session.stop(SIGKILL)
    try session.start()
    #expect(try session.call(Rows.get, "files").0 == second)
    #expect(try files.pid() == pid)
    #expect(try files.windows() == ["w1"])
    try session.dismiss("files")
    #expect(try session.ending(of: second).reason == "dismissed")
    #expect(try session.state()["parked"]?.array?.map { $0["presentation"] } == [1])
    // A program that ends while navd does not run is parked no longer.
    try session.stop(SIGKILL)
    kill(pid_t(pid), SIGKILL)
    try session.poll("its process has ended") { kill(pid_t(pid), 0) != 0 }
    files.adapter.close("w1")
    try session.start()
    try session.poll("it is parked no longer") { try session.state()["parked"] == nil }
  }

  @Test(
    "N8: dismiss --parked asks the window to close; a program that stays is shown, and --force ends it",
    arguments: [false, true])
  func dismissParked_closesWindow(managed: Bool) throws {
    let files = try FollowedCommand(more: "\(Self.hide)\ngrace = '100ms'", managed: managed)
    let session = files.session
    let first = try files.show()
    let pid = try files.pid()
    try session.dismiss("files")
    _ = try session.ending(of: first)
    files.adapter.onClose = { _ in }
    #expect(try session.navctl("dismiss", "--parked", "--json").json?["count"] == 1)
    try session.wait("it is asked") { files.adapter.requests.last == "close w1" }
    try session.wait("it is kept") { session.navd?.errorText.contains("“Home” is still open") == true }
    try session.poll("it is shown") { try files.phase() == "presented" }
    #expect(files.adapter.requests.suffix(2) == ["show w1", "activate w1"])
    let second = try session.call(Rows.get, "files").0
    try session.dismiss("files")
    _ = try session.ending(of: second)
    try session.runNavctl("dismiss", "--parked", "--force")
    try session.poll("its process has ended") { kill(pid_t(pid), 0) != 0 }
    files.adapter.close("w1")
    try session.poll("it is parked no longer") { try session.state()["parked"] == nil }
  }

  @Test("N8: a hidden program that asks its user as it is to end is shown, and the state says why it stays")
  func dismissParked_asking_isPresented() throws {
    let files = try FollowedCommand(more: Self.hide)
    let session = files.session
    let first = try files.show()
    let pid = try files.pid()
    try session.dismiss("files")
    _ = try session.ending(of: first)
    let watcher = try session.watch()
    files.adapter.onClose = { files.adapter.open(Window("dialog", title: "Save?", pid: pid, parent: $0)) }
    try session.runNavctl("dismiss", "--parked")
    try session.wait("it is shown") { watcher.lines.contains("presented files") }
    #expect(watcher.events.contains { $0.json["parked"]?.array?.first?["stays"] == "Save?" })
    try session.wait("its windows are shown") {
      files.adapter.requests.suffix(4) == ["close w1", "show w1", "show dialog", "activate dialog"]
    }
    #expect(try session.state()["parked"] == nil)
    // Its user goes on.
    files.adapter.close("dialog")
    try session.poll("only its window is left") { try files.windows() == ["w1"] }
    #expect(try files.pid() == pid)
  }

  @Test(
    "R9, N8: navctl quit asks what is hidden, and what it would hide; it stays, and is shown, if its user is asked",
    arguments: [false, true])
  func quit_hidingProgram_isAsked(isHidden: Bool) throws {
    let files = try FollowedCommand(more: Self.hide)
    let session = files.session
    let first = try files.show()
    let pid = try files.pid()
    if isHidden {
      try session.dismiss("files")
      _ = try session.ending(of: first)
    }
    files.adapter.onClose = { files.adapter.open(Window("dialog", title: "Save?", pid: pid, parent: $0)) }
    let refused = try session.navctl("quit")
    #expect(refused.exitCode == 1)
    #expect(
      refused.errorText == "navctl: quit: “files” stays: Save?; “navctl quit --force” closes it without asking\n")
    try session.poll("it is shown") { try session.call(Rows.get, "files").1[StateEntry.keys.phase] == "presented" }
    #expect(kill(pid_t(pid), 0) == 0)
    files.adapter.close("dialog")
    files.adapter.onClose = { files.adapter.close($0) }
    let quit = try session.startNavctl("quit")
    #expect(try session.waitForEnd() == .exited(code: 0))
    try session.wait("quit returns") { quit.hasEnded }
  }

  private static let music = Window("music", appID: "music", title: "Song", pid: UInt64(getpid()))

  /// A session whose adapter has gone, with a hidden guest.
  private func hiddenGuestWithoutAdapter() throws -> Session {
    let files = try FollowedCommand("exit 0", window: "window = { app-id = 'music' }")
    files.adapter.open(Self.music)
    let path = try files.session.present("files")
    #expect(try files.session.call(Rows.wait, (path, "presented")).0 == "")
    try files.session.dismiss("files")
    #expect(try files.session.ending(of: path).reason == "dismissed")
    files.adapter.connection.close()
    try files.session.wait("navd has noticed") { files.session.navd?.errorText.contains("has left the bus") == true }
    return files.session
  }

  @Test("R9, N8: what is hidden when navd quits without an adapter is shown when the next navd has one")
  func quitForced_guestWithoutAdapter_isShownByNextNavd() throws {
    let session = try hiddenGuestWithoutAdapter()
    let quit = try session.startNavctl("quit", "--force")
    #expect(try session.waitForEnd() == .exited(code: 0))
    try session.wait("quit returns") { quit.hasEnded }
    try session.start()
    var music = Self.music.properties
    music.hidden = true
    let adapter = try ScriptedWindowSystem(session, [Window(id: "music", music)])
    try session.wait("it is shown") { adapter.requests == ["show music"] }
  }

  @Test("R9, N12: navctl quit ends, also if an event comes together with the answer that is before it")
  func quit_hiddenGuest_endsEachTime() throws {
    let files = try FollowedCommand("exit 0", window: "window = { app-id = 'music' }")
    let session = files.session
    files.adapter.open(Self.music)
    for round in 1...12 {
      let path = try session.present("files")
      #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
      try session.dismiss("files")
      #expect(try session.ending(of: path).reason == "dismissed")
      let quit = try session.startNavctl("quit")
      try session.wait("quit \(round) returns") { quit.hasEnded }
      #expect(try session.waitForEnd() == .exited(code: 0))
      try session.start()
    }
  }

  @Test("N8: a guest that is let go without an adapter is shown by the next one, though nothing else follows windows")
  func dismissParked_guestWithoutAdapter_isShownByNextAdapter() throws {
    let session = try hiddenGuestWithoutAdapter()
    try session.runNavctl("dismiss", "--parked")
    try session.poll("it is parked no longer") { try session.state()["parked"] == nil }
    let adapter = try ScriptedWindowSystem(session, [Self.music])
    try session.wait("it is shown") { adapter.requests == ["show music"] }
  }

  @Test("N8, R5: Quit ends parked programs")
  func quit_endsParked() throws {
    let files = try FollowedCommand(more: Self.hide)
    let first = try files.show()
    let pid = try files.pid()
    try files.session.dismiss("files")
    _ = try files.session.ending(of: first)
    let quit = try files.session.startNavctl("quit", "--force")
    try files.session.poll("its process has ended") { kill(pid_t(pid), 0) != 0 }
    files.adapter.close("w1")
    #expect(try files.session.waitForEnd() == .exited(code: 0))
    try files.session.wait("quit returns") { quit.hasEnded }
  }

  @Test("N8: a forced dismissal hides, too; with kill = true it ends the program, and hides nothing")
  func dismissal_forced_hides_unlessItKills() throws {
    for kills in [false, true] {
      let files = try FollowedCommand(window: "window = { kill = \(kills) }", more: Self.hide)
      let path = try files.show()
      let pid = try files.pid()
      try files.session.dismiss("files", ["force": .boolean(true)])
      if kills {
        try files.session.poll("its process has ended") { kill(pid_t(pid), 0) != 0 }
        files.adapter.close("w1")
      }
      #expect(try files.session.ending(of: path).reason == "dismissed")
      #expect(files.adapter.requests == (kills ? [] : ["hide w1"]))
      #expect((kill(pid_t(pid), 0) == 0) == !kills)
    }
  }

  @Test("N8: with a backend that cannot hide, the item is refused with the reason")
  func present_withoutCapability_isRefused() throws {
    let files = try FollowedCommand(more: Self.hide, isThere: false)
    files.adapter = try ScriptedWindowSystem(files.session, capabilities: [.pid, .close])
    let why = "dismissal = \"hide\" needs “hide”, which the backend “scripted” does not offer on this desktop"
    // The first request waits until navd knows the adapter.
    for _ in 1...2 {
      let refused = try files.session.navctl("present", "files")
      #expect(refused.exitCode == CommandStatus.refused.rawValue)
      #expect(refused.errorText == "navctl: present files: \(why)\n")
    }
  }

  @Test("N8: without the adapter, a parked program is not shown again, and stays parked")
  func adapter_absent_leavesAllAsItIs() throws {
    let files = try FollowedCommand(more: Self.hide)
    let session = files.session
    let first = try files.show()
    try session.dismiss("files")
    _ = try session.ending(of: first)
    files.adapter.connection.close()
    try session.wait("navd has noticed") { session.navd?.errorText.contains("has left the bus") == true }
    files.adapter = nil
    let (reason, result) = try session.ending(of: session.present("files"))
    #expect(reason == "failed")
    #expect(
      result["error"]
        == .string("its windows cannot be shown again: no window-system adapter is on the bus; start navd-windows"))
    #expect(try session.state()["parked"]?.array?.count == 1)
  }
}
