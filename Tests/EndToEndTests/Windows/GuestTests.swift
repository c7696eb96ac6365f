import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import TestSupport
import Testing

private typealias Rows = CoordinatorInterface

/// Programs that run already, start slowly, or start without an adapter (N2, N12, N13, N14), with a scripted window system.
@Suite struct GuestTests {
  @Test("N12: navd shows and hides the window of a running program, and never closes it, even after a restart")
  func window_ofRunningProgram_isGuest() throws {
    let files = try FollowedCommand("exit 0", window: "window = { app-id = 'music' }")
    files.adapter.open(Window("music", appID: "music", pid: UInt64(getpid())))
    let first = try files.session.present("files")
    #expect(try files.session.call(Rows.wait, (first, "presented")).0 == "")
    #expect(StateEntry(try files.session.call(Rows.get, "files").1).windows?.first?["guest"] == .boolean(true))
    try files.session.wait("it is brought") { files.adapter.requests == ["summon music"] }

    try files.session.stop(SIGKILL)
    try files.session.start()
    try files.session.dismiss("files", ["force": .boolean(true)])
    #expect(try files.session.ending(of: first).reason == "dismissed")
    #expect(files.adapter.requests.last == "hide music")
    #expect(try files.session.navctl("list").outputText.contains("parked"))

    let second = try files.session.present("files")
    #expect(try files.session.call(Rows.wait, (second, "presented")).0 == "")
    try files.session.dismiss("files")
    #expect(try files.session.ending(of: second).reason == "dismissed")
    try files.session.runNavctl("dismiss", "--parked", "--force")
    try files.session.poll("it is let go") { try !files.session.navctl("list").outputText.contains("parked") }
    try files.session.wait("it is shown") { files.adapter.requests.last == "show music" }
    #expect(!files.adapter.requests.contains("close music"))
  }

  @Test("R9, N12: navctl quit leaves no window hidden that navd has not opened, and that nothing can show")
  func quit_hiddenGuestWithoutAdapter_isRefused() throws {
    let files = try FollowedCommand("exit 0", window: "window = { app-id = 'music' }")
    let session = files.session
    let music = Window("music", appID: "music", pid: UInt64(getpid()))
    files.adapter.open(music)
    let path = try session.present("files")
    #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
    try session.dismiss("files")
    #expect(try session.ending(of: path).reason == "dismissed")
    files.adapter.connection.close()
    let refused = try session.navctl("quit")
    #expect(refused.exitCode == 1 && refused.errorText.contains("“files” is hidden"), "\(refused.errorText)")
    let adapter = try ScriptedWindowSystem(session, [music])
    let quit = try session.startNavctl("quit")
    try session.wait("it is shown, and navd ends") { adapter.requests == ["show music"] && quit.hasEnded }
    #expect(try session.waitForEnd() == .exited(code: 0))
  }

  /// The program runs once; a second start ends at once.
  @Test(
    "N12: a program that its user has just started by the same command is never closed",
    arguments: [
      ("the program itself", "shows"), ("a wrapper that adds arguments", "exec ~/lib/music --added \"$@\" --last"),
      ("a program that joins its arguments", #"exec bash -c 'exec -a "$0" sh ~/lib/music' "music --added $* --last""#),
      ("a wrapper that stays", "~/lib/player &\nwait"),
    ])
  func window_ofProgramStartedInTheSameWay_isGuest(_ kind: String, _ script: String) throws {
    let program = "#!/bin/sh\necho $$ >~/pid.new\nmv ~/pid.new ~/pid\nsleep 1000\n"
    let session = try Session(
      destinations: ["music": "command = ['~/music', '--quiet']\nwindow = { app-id = 'music' }"],
      files: [
        "music": "#!/bin/sh\nmkdir ~/lock || exit 0\nshows() { . ~/lib/music; }\n\(script)\n",
        "lib/music": program, "lib/player": program,
      ])
    for file in ["music", "lib/music", "lib/player"] { #expect(chmod(session.path(file), 0o755) == 0) }
    let adapter = try ScriptedWindowSystem(session)
    let users = try session.start(program: session.path("music"), ["--quiet"], mayFail: true)
    try session.poll("it runs") { access(session.path("pid"), F_OK) == 0 }
    let pid = try #require(
      UInt64(String(decoding: Files.contents(of: session.path("pid")).dropLast(), as: UTF8.self)))
    let path = try session.present("music")
    try session.poll("the command has ended") { session.processes().isEmpty }
    adapter.open(Window("music", appID: "music", pid: pid))
    #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
    try session.dismiss("music")
    #expect(try session.ending(of: path).reason == "dismissed")
    #expect(adapter.requests == ["summon music", "hide music"])
    kill(pid_t(pid), SIGKILL)
    users.send(SIGKILL)
  }

  @Test(
    "N1: after a command has handed over, a program that the bus has started shows its window, and no program of its user's",
    arguments: [BusProgram.daemon, .broker], [false, true])
  func window_afterHandingOver_isThatOfTheActivatedProgram(_ program: BusProgram, takesName: Bool) throws {
    let note = "echo $$ >$HOME/pid.new\nmv $HOME/pid.new $HOME/pid\n"
    let owner = """
      from gi.repository import Gio, GLib
      Gio.bus_own_name(Gio.BusType.SESSION, "org.example.Music", 0, None, None, None)
      GLib.MainLoop().run()
      """
    let session = try Session(
      destinations: ["music": "command = ['~/command']\nwindow = { app-id = 'music' }"],
      services: ["org.example.Music": "/bin/sh $HOME/music"], program: program,
      files: [
        "command": """
        #!/bin/sh
        until [ -e ~/go ]; do sleep 0.01; done
        exec dbus-send --session --type=method_call --dest=org.freedesktop.DBus /org/freedesktop/DBus \\
          org.freedesktop.DBus.StartServiceByName string:org.example.Music uint32:0
        """,
        "music": note + (takesName ? "exec python3 $HOME/owner\n" : "sleep 1000\n"), "owner": owner,
      ])
    #expect(chmod(session.path("command"), 0o755) == 0)
    let adapter = try ScriptedWindowSystem(session)
    let path = try session.present("music")
    // The kernel counts the start times of processes in hundredths of a second.
    let began = session.loop.now
    try session.poll("what starts now is younger than the item") { session.loop.now - began > .milliseconds(20) }
    try Files.write("", to: session.path("go"))
    try session.poll("the bus has started it") { access(session.path("pid"), F_OK) == 0 }
    let pid = try #require(
      UInt64(String(decoding: Files.contents(of: session.path("pid")).dropLast(), as: UTF8.self)))
    try session.poll("the command has ended") { session.processes().isEmpty }
    if takesName, program == .daemon {
      try session.poll("dbus-daemon has let go of the program that has its name") {
        let status = String(decoding: Files.contents(of: "/proc/\(pid)/status"), as: UTF8.self)
        let parent = status.split(separator: "\n").first { $0.hasPrefix("PPid:") }?.split(separator: "\t").last ?? ""
        return !Files.contents(of: "/proc/\(parent)/comm").starts(with: "dbus-daemon".utf8)
      }
    }
    let users = try session.start(program: "/bin/sleep", ["1000"], mayFail: true)
    adapter.open(Window("users", appID: "music", pid: UInt64(users.processID)))
    adapter.open(Window("own", appID: "music", pid: pid))
    #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
    #expect(
      StateEntry(try session.call(Rows.get, "music").1).windows?.map { $0["id"] } == [.string("own")])
    users.send(SIGKILL)
    kill(pid_t(pid), SIGKILL)
  }

  @Test("N2: a slow start stays, says why, and is left alone by a toggle; it ends with its program")
  func start_slow_saysWhy() throws {
    let files = try FollowedCommand()
    let watcher = try files.session.watch()
    let notifications = try Notifications(of: files.session)
    let notified = try files.session.startNavctl("toggle", "files", "--notify")
    let pid = try files.pid()
    let path = try files.session.call(Rows.get, "files").0
    try files.session.poll("it is late", within: .seconds(30)) {
      try files.session.call(Rows.get, "files").1["late"]
        == .string("no window within 10000 ms; its program runs")
    }
    #expect(try files.session.navctl("list").outputText.contains("presenting (no window within 10000 ms"))
    #expect(try files.session.navctl("doctor").outputText.contains("no window within 10000 ms"))
    try files.session.wait("navctl has told it") { notified.hasEnded }
    #expect(notified.exitCode == 0)
    let text = "toggle files: no window within 10000 ms; its program runs"
    #expect(notified.errorText == "navctl: \(text)\n")
    #expect(notifications.shown.count == 1 && notifications.shown[0] == "navctl \(text)", "\(notifications.shown)")
    try files.session.runNavctl("toggle", "files")
    #expect(try files.session.call(Rows.get, "files").0 == path)
    #expect(try files.phase() == "presenting")
    kill(pid_t(pid), SIGTERM)
    #expect(try files.session.ending(of: path).reason == "failed")
    #expect(watcher.lines.filter { $0.hasPrefix("phase files presenting") }.count == 1)
  }

  @Test("N2: every request says that its program is not installed, also the first one, with and without an adapter")
  func program_missing_isSaidAtOnce() throws {
    for hasAdapter in [false, true] {
      let session = try Session(destinations: ["missing": "command = ['no-such-program']\nwindow = { app-id = 'x' }"])
      let adapter = hasAdapter ? try ScriptedWindowSystem(session) : nil
      for _ in 1...3 {
        let run = try session.navctl("toggle", "missing")
        #expect(run.exitCode != 0)
        #expect(run.errorText.contains("no-such-program: not found in PATH"))
      }
      withExtendedLifetime(adapter) {}
    }
  }

  @Test("N2, N7: two seconds after the adapter was killed, a toggle that raises opens and closes as without one")
  func toggle_withoutAdapter_opensAndCloses() throws {
    let files = try FollowedCommand()
    let path = try files.show()
    files.adapter.connection.close()
    try files.session.wait("navd has noticed") { files.session.navd?.errorText.contains("has left the bus") == true }
    try files.session.runNavctl("toggle", "files", "--raise")
    #expect(try files.session.ending(of: path).reason == "dismissed")
    let opened = try files.session.navctl("toggle", "files", "--raise")
    #expect(opened.exitCode == 0)
    #expect(
      opened.errorText == "navctl: toggle files: nothing raises windows here, since no adapter is running; "
        + "“navctl doctor” says how to start it\n")
    #expect(try files.session.navctl("present", "files", "--raise", "-q").errorText == "")
    let second = try files.session.call(Rows.get, "files").0
    #expect(try files.session.call(Rows.wait, (second, "presented")).0 == "")
    try files.session.runNavctl("toggle", "files", "--raise")
    #expect(try files.session.ending(of: second).reason == "dismissed")
  }

  @Test("N7: with an adapter, a request that raises says nothing; without one, it says so once")
  func raise_withAdapter_isSilent() throws {
    let files = try FollowedCommand()
    _ = try files.show()
    let raised = try files.session.navctl("toggle", "files", "--raise")
    #expect(raised.exitCode == 0 && raised.errorText == "", "\(raised.errorText)")
    try files.session.wait("it is raised") { files.adapter.requests.contains("activate w1") }
  }

  @Test("N13: the end of a command that hands over before the adapter is back waits for it")
  func command_beforeAdapter_isJudgedLater() throws {
    let files = try FollowedCommand("exit 0", window: "window = { app-id = 'music' }")
    _ = try files.session.navctl("toggle", "nothing", "--state")
    let before = try files.session.present("files")
    files.adapter.connection.close()
    try files.session.wait("navd has noticed") { files.session.navd?.errorText.contains("has left the bus") == true }
    try files.session.dismiss("files", ["force": .boolean(true)])
    _ = try files.session.ending(of: before)
    let path = try files.session.present("files")
    #expect(try files.session.call(Rows.wait, (path, "presented")).0 == "")
    files.adapter = try ScriptedWindowSystem(
      files.session, [Window("music", appID: "music", pid: UInt64(getpid()))])
    try files.session.poll("its window is known") { try files.windows() == ["music"] }
  }

  @Test("N13: an adapter that was there is expected also by the next navd")
  func command_beforeAdapter_isJudgedLaterAfterRestart() throws {
    let files = try FollowedCommand("exit 0", window: "window = { app-id = 'music' }")
    // navd looks for the adapter when a program needs it.
    let before = try files.session.present("files")
    try files.session.wait("navd reads the windows") { files.adapter.reads > 0 }
    _ = try files.session.navctl("list")
    files.adapter.connection.close()
    try files.session.stop(SIGKILL)
    try files.session.start()
    try files.session.dismiss("files", ["force": .boolean(true)])
    _ = try files.session.ending(of: before)
    let path = try files.session.present("files")
    #expect(try files.session.call(Rows.wait, (path, "presented")).0 == "")
    files.adapter = try ScriptedWindowSystem(
      files.session, [Window("music", appID: "music", pid: UInt64(getpid()))])
    try files.session.poll("its window is known") { try files.windows() == ["music"] }
  }

  /// GNOME Shell on a session's bus, as far as it tells the state of its extensions.
  private func shell(_ session: Session, telling info: Properties) throws -> Connection {
    let method = Method(
      "org.gnome.Shell.Extensions" as InterfaceName, "GetExtensionInfo", in: Arg<String>("uuid"),
      out: Arg<Properties>("info"))
    let object = ImplementedInterface(Interface("org.gnome.Shell.Extensions", members: [method]))
    object.implement(method) { uuid, call in call.reply(uuid == GnomeShell.extensionID ? info : [:]) }
    let connection = try session.connect()
    connection.export("/org/gnome/Shell", [object])
    var isOwner = false
    connection.requestName("org.gnome.Shell") { isOwner = (try? $0.get()) != nil }
    try session.wait("the shell is there") { isOwner }
    return connection
  }

  /// Presents a program that hands over its window, before an adapter comes that tells the window.
  private func presentBeforeAdapter(_ files: FollowedCommand) throws {
    let path = try files.session.present("files")
    #expect(try files.session.call(Rows.wait, (path, "presented")).0 == "")
    files.adapter = try ScriptedWindowSystem(
      files.session, [Window("music", appID: "music", pid: UInt64(getpid()))])
    try files.session.poll("its window is known") { try files.windows() == ["music"] }
  }

  private func handingOver(managed: Bool = false) throws -> FollowedCommand {
    try FollowedCommand("exit 0", window: "window = { app-id = 'music' }", managed: managed, isThere: false)
  }

  @Test(
    "N13: at login, the extension of GNOME Shell is expected if it is enabled, before it is there", arguments: 1...4)
  func command_beforeExtension_isJudgedLater(_ sign: Int) throws {
    let files = try handingOver()
    let info: Properties =
      switch sign {
      case 1: ["state": .double(1)]
      case 2: ["state": .double(8)]
      case 3: ["state": .double(3), "error": .string(""), "enabled": .boolean(true)]
      default: ["state": .double(6), "enabled": .boolean(true)]
      }
    let shell = try shell(files.session, telling: info)
    try presentBeforeAdapter(files)
    shell.close()
  }

  @Test("N13: a GNOME Shell that is just starting, and answers nobody, may have the extension")
  func command_beforeShell_isJudgedLater() throws {
    let files = try handingOver()
    let shell = try files.session.startBlackHole("org.gnome.Shell")
    try presentBeforeAdapter(files)
    shell.send(SIGKILL)
  }

  @Test("N13: at login, navd-windows is expected if its unit is enabled")
  func command_beforeUnit_isJudgedLater() throws {
    let files = try handingOver(managed: true)
    let unit = "[Service]\nExecStart=/bin/sleep 1000\n[Install]\nWantedBy=graphical-session.target\n"
    try files.session.write(unit, toUnit: "navd-windows.service")
    try #require(try files.session.systemctl("enable", "navd-windows.service").exitCode == 0)
    try presentBeforeAdapter(files)
  }

  @Test(
    "N13: an extension that is disabled, has failed or is for other releases is not expected",
    arguments: [2.0, 3.0, 4.0, 6.0])
  func command_withoutExtension_endsItem(_ state: Double) throws {
    let files = try handingOver()
    let isEnabled = state == 3 || state == 4
    let error = state == 3 ? "SyntaxError" : ""
    let shell = try shell(
      files.session,
      telling: ["state": .double(state), "error": .string(error), "enabled": .boolean(isEnabled)])
    let path = try files.session.present("files")
    let (reason, result) = try files.session.ending(of: path)
    #expect(reason == "closed", "\(result)")
    shell.close()
  }

  @Test("N2: an item whose program ends with the adapter away is over at once", arguments: [false, true])
  func program_endingWithoutAdapter_endsItem(managed: Bool) throws {
    let files = try FollowedCommand(managed: managed)
    let path = try files.show()
    let pid = try files.pid()
    files.adapter.connection.close()
    try files.session.wait("navd has noticed") { files.session.navd?.errorText.contains("has left the bus") == true }
    kill(pid_t(pid), SIGKILL)
    #expect(try files.session.ending(of: path).reason == "failed")
  }

  @Test("N14: an item of another display is shown as without an adapter, and one of the adapter's by its window")
  func item_ofOtherDisplay_isShownByItsProgram() throws {
    let files = try FollowedCommand()
    files.adapter.displays = ["wayland-1", ":0"]
    let other = try files.session.present("files", "", ["environment": ["WAYLAND_DISPLAY": "wayland-2"].value])
    #expect(try files.session.call(Rows.wait, (other, "presented")).0 == "")
    #expect(try files.windows() == [])
    try files.session.dismiss("files")
    #expect(try files.session.ending(of: other).reason == "dismissed")
    let own = try files.session.present("files", "", ["environment": ["WAYLAND_DISPLAY": "wayland-1"].value])
    files.adapter.open(Window("w1", appID: "files", pid: try files.pid()))
    #expect(try files.session.call(Rows.wait, (own, "presented")).0 == "")
    #expect(try files.windows() == ["w1"])
  }
}
