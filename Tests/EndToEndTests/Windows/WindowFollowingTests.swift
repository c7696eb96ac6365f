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

/// A session with a destination `files` that follows windows, and an adapter whose windows the test opens.
final class FollowedCommand {
  let session: Session
  var adapter: ScriptedWindowSystem!

  /// - Parameter command: the command of the destination, as a shell script.
  init(
    _ command: String = "exec sleep 1000", window: String = "window = true", more: String = "", managed: Bool = false,
    isThere: Bool = true
  ) throws {
    let words = "command = [\"sh\", \"-c\", \"\(command)\"]"
    session = try Session(destinations: ["files": "\(words)\n\(more)\n\(window)"], managed: managed)
    if isThere { adapter = try ScriptedWindowSystem(session) }
  }

  /// Presents the item, and waits until its process runs.
  func present() throws -> (path: ObjectPath, pid: UInt64) {
    let path = try session.present("files")
    return (path, try pid())
  }

  func pid() throws -> UInt64 {
    var pid: UInt64?
    try session.poll("the command runs") {
      pid = try session.call(Rows.get, "files").1["pid"].flatMap { UInt64(value: $0) }
      // The manager also tells a process that is yet to become the command.
      return pid.map { String(decoding: Files.contents(of: "/proc/\($0)/cmdline"), as: UTF8.self).contains("1000") }
        ?? false
    }
    return try #require(pid)
  }

  func show() throws -> ObjectPath {
    let (path, pid) = try present()
    adapter.open(Window("w1", appID: "files", title: "Home", pid: pid))
    #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
    return path
  }

  func phase() throws -> String? { try session.call(Rows.get, "files").1[StateEntry.keys.phase] }

  func windows() throws -> [String] {
    let entry = StateEntry(try session.call(Rows.get, "files").1)
    return (entry.windows ?? []).compactMap { $0["id"].flatMap { String(value: $0) } }
  }
}

/// Items that follow the windows of their commands: presented, dismissed, asking and killed (N2 to N6).
@Suite struct WindowFollowingTests {
  @Test(
    "N2, N4: an item is presented when a window of its command opens, and the state tells the window",
    arguments: [false, true])
  func window_ofCommand_isAwaited(managed: Bool) throws {
    let files = try FollowedCommand(managed: managed)
    let (path, pid) = try files.present()
    #expect(try files.phase() == "presenting")
    files.adapter.open(Window("stranger", appID: "files", pid: UInt64(getpid())))
    files.adapter.open(Window("w1", appID: "files", title: "Home", pid: pid))
    #expect(try files.session.call(Rows.wait, (path, "presented")).0 == "")
    let entry = StateEntry(try files.session.call(Rows.get, "files").1)
    #expect(
      entry.windows == [["id": .string("w1"), "app-id": .string("files"), "title": .string("Home")]])
    let list = try files.session.navctl("windows")
    #expect(list.outputText == "stranger\tfiles\t\t\t\(getpid())\t\t\nw1\tfiles\tHome\t\t\(pid)\t\tfiles\n")
  }

  @Test("N3: closing the last window ends the item, with the result of its command", arguments: [false, true])
  func window_closedByUser_endsItem(managed: Bool) throws {
    let files = try FollowedCommand(
      "trap 'kill $!; exit 7' USR1; echo ready >>$NAVD_TEST_JOURNAL; while :; do sleep 1000 & wait; done",
      managed: managed)
    let path = try files.show()
    let pid = try files.pid()
    try files.session.wait("the shell handles the signal") { files.session.journalLines == ["ready"] }
    files.adapter.close("w1")
    kill(pid_t(pid), SIGUSR1)
    let (reason, result) = try files.session.ending(of: path)
    #expect(reason == "closed")
    #expect(result["status"] == .int32(7))
  }

  @Test(
    "N3: a command that stays without its window goes on, or is ended with leftover = “end”", arguments: [false, true],
    [false, true])
  func command_stayingWithoutWindow_goesOnOrIsEnded(managed: Bool, isToEnd: Bool) throws {
    let files = try FollowedCommand(
      window: "window = { linger = '0ms', leftover = '\(isToEnd ? "end" : "leave")' }", managed: managed)
    let path = try files.show()
    let pid = try files.pid()
    files.adapter.close("w1")
    #expect(try files.session.ending(of: path).reason == "closed")
    if isToEnd {
      try files.session.poll("the command has ended") { kill(pid_t(pid), 0) != 0 }
    } else {
      #expect(kill(pid_t(pid), 0) == 0)
      let line = "“files” goes on without a window (\(managed ? "unit app-navd-files@1.service" : "process \(pid)"))"
      #expect(try files.session.navctl("doctor").outputText.contains("left\t\(line)"))
      let shown = try files.session.navctl("show", "files")
      #expect(shown.errorText == "navctl: show files: nothing is open under that name; \(line)\n")
      #expect(shown.exitCode == CommandStatus.notPresented.rawValue)
    }
  }

  @Test(
    "N3, D9: a command that goes on without its window can write even after a restart of navd",
    arguments: [false, true])
  func command_goingOn_canWriteAfterRestart(managed: Bool) throws {
    let files = try FollowedCommand(
      "trap 'head -c 200000 /dev/zero; echo written >>$NAVD_TEST_JOURNAL; exit' USR1; while :; do sleep 1000 & wait; done",
      window: "window = { linger = '0ms' }", managed: managed)
    let path = try files.show()
    let pid = try files.pid()
    files.adapter.close("w1")
    #expect(try files.session.ending(of: path).reason == "closed")
    try files.session.stop(SIGKILL)
    try files.session.start()
    kill(pid_t(pid), SIGUSR1)
    try files.session.wait("it has written more than a pipe holds") { files.session.journalLines == ["written"] }
  }

  @Test("N3: in the turn in which its last window goes, the item is gone, and the next request opens it again")
  func window_closed_freesItsNameAtOnce() throws {
    let files = try FollowedCommand("trap '' TERM; exec sleep 1000", window: "window = { linger = '0ms' }")
    let first = try files.show()
    let watcher = try files.session.watch()
    files.adapter.close("w1")
    try files.session.wait("it is being dismissed") { watcher.lines.contains("phase files dismissing") }
    #expect(try files.session.navctl("is-presented", "files").exitCode == 3)
    let (second, pid) = try files.present()
    files.adapter.open(Window("w2", appID: "files", pid: pid))
    #expect(try files.session.call(Rows.wait, (second, "presented")).0 == "")
    #expect(try files.session.ending(of: first).reason == "closed")
  }

  @Test(
    "N2: a command that hands over to a process that ran before is shown by that process's window",
    arguments: [false, true])
  func command_handingOver_isShownByItsWindow(managed: Bool) throws {
    let files = try FollowedCommand(
      "echo ran >>$NAVD_TEST_JOURNAL", window: "window = { app-id = 'files' }", managed: managed)
    files.adapter.open(Window("before", appID: "files", pid: UInt64(getpid())))
    let path = try files.session.present("files")
    try files.session.wait("the command has run") { !files.session.journalLines.isEmpty }
    #expect(try files.phase() == "presenting")
    files.adapter.open(Window("other", appID: "other", pid: UInt64(getpid())))
    files.adapter.open(Window("w1", appID: "files", pid: UInt64(getpid())))
    #expect(try files.session.call(Rows.wait, (path, "presented")).0 == "")
    #expect(try files.windows() == ["w1"])
    try files.session.dismiss("files")
    #expect(try files.session.ending(of: path).reason == "dismissed")
    #expect(files.adapter.requests == ["close w1"])
    #expect(files.adapter.windows.map(\.id) == ["before", "other"])
  }

  @Test("N2: no window within the start timeout is a failure that says so")
  func window_missing_failsItem() throws {
    let files = try FollowedCommand(more: "start-timeout = '100ms'")
    let (reason, result) = try files.session.ending(of: files.session.present("files"))
    #expect(reason == "failed")
    #expect(result["error"] == .string("no window of it opened within 100 ms (start-timeout)"))
  }

  @Test("N5: a dismissal asks the window to close; the leftover of its command goes on", arguments: [false, true])
  func dismissal_asksWindowToClose(managed: Bool) throws {
    let files = try FollowedCommand(managed: managed)
    let path = try files.show()
    let pid = try files.pid()
    try files.session.dismiss("files")
    let (reason, result) = try files.session.ending(of: path)
    #expect(reason == "dismissed")
    #expect(result["signal"] == nil)
    #expect(files.adapter.requests == ["close w1"])
    #expect(kill(pid_t(pid), 0) == 0)
  }

  @Test(
    "N5, P15: the end of a parent asks the child's window to close, and leaves one that stays to its user; by force, it ends the program",
    arguments: [false, true])
  func parent_ended_asksChildsWindow(isRequested: Bool) throws {
    let files = try FollowedCommand(more: "grace = '100ms'")
    let session = files.session
    _ = try files.show()
    try session.runNavctl("present", "child", "--to", "files", "--from", "files")
    let child = try session.call(Rows.get, "child").0
    var pid: pid_t?
    try session.poll("the command runs") {
      pid = try session.call(Rows.get, "child").1["pid"].flatMap { UInt64(value: $0) }.map { pid_t($0) }
      return pid != nil
    }
    let process = try #require(pid)
    files.adapter.open(Window("text", appID: "files", pid: UInt64(process)))
    #expect(try session.call(Rows.wait, (child, "presented")).0 == "")
    files.adapter.onClose = { _ in }
    if isRequested { try session.runNavctl("dismiss", "files", "--force") } else { files.adapter.close("w1") }
    if isRequested {
      try session.poll("its process has ended") { kill(process, 0) != 0 }
      files.adapter.close("text")
    }
    #expect(try session.ending(of: child).reason == "parent")
    if !isRequested {
      #expect(files.adapter.requests == ["close text"])
      #expect(kill(process, 0) == 0)
    }
  }

  @Test("N6, P16: while the window asks its user, the item is asking; if the window stays, it was declined")
  func window_askingItsUser_declines() throws {
    let files = try FollowedCommand()
    let path = try files.show()
    let watcher = try files.session.watch()
    let pid = try files.pid()
    files.adapter.onClose = { id in
      files.adapter.open(Window("dialog", title: "Save the changes?", pid: pid, parent: id))
    }
    try files.session.dismiss("files")
    try files.session.wait("it is asking") { watcher.events.contains { $0.json["message"] == "Save the changes?" } }
    #expect(try files.session.navctl("list").outputText.contains("dismissing (asking)"))
    files.adapter.close("dialog")
    try files.session.wait("it is kept") { watcher.lines.contains("declined files") }
    #expect(try files.session.call(Rows.get, "files").0 == path)
    #expect(try files.phase() == "presented")

    // A forced dismissal ends the window without a question.
    try files.session.dismiss("files", ["force": .boolean(true)])
    files.adapter.close("w1")
    #expect(try files.session.ending(of: path).reason == "dismissed")
    #expect(files.adapter.requests == ["close w1"])
  }

  @Test("N6: with kill = true, SIGKILL ends the processes of a window that hangs", arguments: [false, true])
  func window_hanging_isKilled(managed: Bool) throws {
    let files = try FollowedCommand(window: "window = { kill = true }", more: "grace = '1s'", managed: managed)
    let path = try files.show()
    let pid = try files.pid()
    files.adapter.onClose = { _ in }
    try files.session.dismiss("files")
    try files.session.poll("the command has ended") { kill(pid_t(pid), 0) != 0 }
    files.adapter.close("w1")
    let (reason, result) = try files.session.ending(of: path)
    #expect(reason == "dismissed")
    #expect(result["signal"] == .string("SIGKILL"))
  }
}

/// The focus and raising, with a scripted window system (N7, N9, N10).
@Suite struct WindowFocusTests {
  @Test("N7: a raising toggle raises an open item, and closes it if it has the focus")
  func toggle_raising_raisesOrCloses() throws {
    let files = try FollowedCommand()
    let path = try files.show()
    files.adapter.open(Window("stranger", focused: true))
    #expect(try files.session.navctl("toggle", "files", "--raise", "--json").json?["presented"] == true)
    try files.session.wait("it is raised") { files.adapter.requests == ["activate w1"] }
    files.adapter.change("w1") { $0.focused = true }
    try files.session.runNavctl("toggle", "files", "--raise")
    #expect(try files.session.ending(of: path).reason == "dismissed")
  }

  @Test("N7: with a backend that cannot raise, raising is refused with the reason")
  func raise_withoutCapability_isRefused() throws {
    let files = try FollowedCommand(isThere: false)
    files.adapter = try ScriptedWindowSystem(files.session, capabilities: [.pid, .close])
    _ = try files.show()
    let refused = try files.session.navctl("present", "files", "--raise")
    #expect(refused.exitCode == CommandStatus.refused.rawValue)
    #expect(
      refused.errorText
        == "navctl: present files: raising a window needs “activate”, which the backend “scripted” does not offer on this "
        + "desktop\n")
  }
}

/// Outputs of items, with a scripted window system (U1 to U3).
@Suite struct WindowOutputTests {
  @Test(
    "U1, U2: --output focused is the output's name in state and command; the window is moved there, and moved again by another output",
    arguments: [false, true])
  func output_focused_isNamedAndMovedTo(managed: Bool) throws {
    let files = try FollowedCommand("echo $NAVD_OUTPUT $1 >>$NAVD_TEST_JOURNAL; exec sleep 1000", managed: managed)
    // navd does not know the window system yet without an earlier presentation.
    try files.session.runNavctl("present", "files", "--output", "focused")
    let (path, pid) = (try files.session.call(Rows.get, "files").0, try files.pid())
    try files.session.wait("the command has its output") { files.session.journalLines == ["one"] }
    #expect(StateEntry(try files.session.call(Rows.get, "files").1).output == "one")
    files.adapter.open(Window("w0", pid: pid, output: "one"))
    files.adapter.open(Window("w1", pid: pid, output: "two"))
    #expect(try files.session.call(Rows.wait, (path, "presented")).0 == "")
    try files.session.wait("the other window is moved") { files.adapter.requests == ["move w1 one"] }

    // The user goes to the other output.
    files.adapter.focusedOutput = "two"
    try files.session.poll("the output has the focus") {
      try files.session.navctl("present", "files", "--output", "focused", "--json").json?["changed"] == true
    }
    #expect(try files.session.call(Rows.get, "files").0 == path)
    #expect(StateEntry(try files.session.call(Rows.get, "files").1).output == "two")
    try files.session.wait("both are moved") {
      files.adapter.requests == ["move w1 one", "move w0 two", "move w1 two"]
    }
    try files.session.poll("the state tells where they are") {
      let windows = StateEntry(try files.session.call(Rows.get, "files").1).windows ?? []
      return windows.map { $0["output"] } == [.string("two"), .string("two")]
    }
  }

  @Test("U1: with a backend that cannot move, an output is refused with the reason for items that follow windows")
  func output_withoutMove_isRefused() throws {
    let files = try FollowedCommand(isThere: false)
    files.adapter = try ScriptedWindowSystem(files.session, capabilities: [.pid, .close])
    _ = try files.show()
    let why =
      "moving a window to an output needs “move”, which the backend “scripted” does not offer on this desktop"
    let refused = try files.session.navctl("present", "files", "--output", "two")
    #expect(refused.exitCode == CommandStatus.refused.rawValue)
    #expect(refused.errorText == "navctl: present files: \(why)\n")
    // Items that follow no windows get the output.
    try files.session.runNavctl("present", "--state", "fact", "--output", "focused")
    #expect(StateEntry(try files.session.call(Rows.get, "fact").1).output == "one")
  }

  @Test("U1: the output with the focus is refused with the reason if nobody tells which one it is")
  func outputFocused_unknown_isRefused() throws {
    let files = try FollowedCommand(isThere: false)
    func refusal() throws -> String {
      let refused = try files.session.navctl("present", "--state", "fact", "--output", "focused")
      #expect(refused.exitCode == CommandStatus.refused.rawValue)
      return refused.errorText
    }
    #expect(
      try refusal()
        == "navctl: present fact: output: no window-system adapter is on the bus that tells which output has the focus; name "
        + "an output instead of “focused”\n")
    files.adapter = try ScriptedWindowSystem(files.session)
    files.adapter.focusedOutput = ""
    try files.session.poll("the adapter is known") { try refusal().contains("(backend “scripted”) does not tell") }
  }
}

/// Adapters that come, go, do not answer or lose signals (N2).
@Suite struct WindowSystemTests {
  @Test(
    "N2: an adapter that comes later shows the windows that have opened meanwhile",
    arguments: ["window = true", "window = { app-id = 'files' }"])
  func adapter_comingLater_showsWindows(window: String) throws {
    let files = try FollowedCommand(window: window, isThere: false)
    let (path, pid) = try files.present()
    files.adapter = try ScriptedWindowSystem(files.session, [Window("w1", appID: "files", pid: pid)])
    #expect(try files.session.call(Rows.wait, (path, "presented")).0 == "")
    try files.session.poll("its window is known") { try files.windows() == ["w1"] }
    files.adapter.close("w1")
    #expect(try files.session.ending(of: path).reason == "closed")
  }

  @Test("N2: without an adapter, an item is presented while its command runs", arguments: [false, true])
  func item_withoutAdapter_isShownByItsCommand(managed: Bool) throws {
    let files = try FollowedCommand(managed: managed, isThere: false)
    let session = files.session
    let (path, pid) = try files.present()
    #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
    try session.stop(SIGKILL)
    try session.start()
    #expect(try files.phase() == "presented")
    try session.dismiss("files")
    #expect(try session.ending(of: path).reason == "dismissed")
    let next = try files.present()
    #expect(next.pid != pid)
    kill(pid_t(next.pid), SIGTERM)
    #expect(try session.ending(of: next.path).reason != "dismissed")
  }

  @Test(
    "after the last presentation that follows windows, navd leaves the signals; the next one reads all windows again")
  func adapter_notNeeded_isLeftAlone() throws {
    let files = try FollowedCommand()
    let session = files.session
    for round in 1...2 {
      let (path, pid) = try files.present()
      files.adapter.open(Window("w\(round)", appID: "files", pid: pid))
      #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
      #expect(files.adapter.reads == round)
      // A second window needs no other reading.
      files.adapter.open(Window("stranger\(round)", appID: "stranger"))
      files.adapter.close("w\(round)")
      #expect(try session.ending(of: path).reason == "closed")
    }
    #expect(
      try session.navctl("windows", "--app-id", "strange?", "--json").json?.array?.compactMap { $0["id"]?.string }
        == ["stranger1", "stranger2"])
  }

  @Test("check-config and the doctor warn about keys that cannot work with the adapter of the session")
  func checkConfig_warnsAboutMissingCapabilities() throws {
    let files = try FollowedCommand(more: "dismissal = 'hide'", isThere: false)
    func warnings() throws -> [String] {
      try files.session.navctl("check-config", "--json").json?["warnings"]?.array?.compactMap { $0["message"]?.string }
        ?? []
    }
    #expect(try warnings() == [])
    files.adapter = try ScriptedWindowSystem(files.session, capabilities: [.close, .activate])
    let end = "which the backend “scripted” does not offer on this desktop"
    #expect(
      try warnings() == [
        "[window] without “app-id” and “title” needs “pid”, \(end)", "dismissal = \"hide\" needs “hide”, \(end)",
      ])
  }

  @Test("N2: a window that opens while navd reads all windows is not missed, though its signal overtakes their answer")
  func window_openingWhileWindowsAreRead_isNotMissed() throws {
    let files = try FollowedCommand("true", window: "window = { app-id = 'files', adopt = true }")
    let adapter = try #require(files.adapter)
    adapter.onRead = { [unowned adapter] in adapter.open(Window("w1", appID: "files", focused: true)) }
    let path = try files.session.present("files")
    #expect(try files.session.call(Rows.wait, (path, "presented")).0 == "")
    #expect(try files.windows() == ["w1"])
    #expect(adapter.reads == 1)
  }

  @Test("N2: an adapter that does not answer in time is asked again; meanwhile, items are shown by their commands")
  func adapter_answeringTooLate_isAskedAgain() throws {
    let files = try FollowedCommand()
    files.adapter.isSilent = true
    let (path, pid) = try files.present()
    #expect(try files.session.call(Rows.wait, (path, "presented")).0 == "")
    files.adapter.isSilent = false
    try files.session.wait("it is asked again") { files.adapter.reads > 1 }
    files.adapter.open(Window("w1", appID: "files", pid: pid))
    try files.session.poll("its window is known") { try files.windows() == ["w1"] }
  }

  @Test("N2, N6: with a stopped adapter, items are presented by their programs, and none is ended, even with “kill”")
  func adapter_stopped_endsNoProgram() throws {
    let files = try FollowedCommand(window: "window = { kill = true }")
    _ = try files.show()
    let pid = try files.pid()
    let watcher = try files.session.watch()
    try files.adapter.stop()
    let second = try files.session.present("second", "", ["destination": .string("files")])
    try files.session.dismiss("files")
    try files.session.wait("it is kept after its grace") { watcher.lines.contains("declined files") }
    #expect(
      watcher.events.contains {
        $0.json["message"]
          == "the window “Home” cannot be asked to close: no window-system adapter is on the bus, or it does not answer"
      })
    #expect(kill(pid_t(pid), 0) == 0)
    #expect(try files.session.call(Rows.wait, (second, "presented")).0 == "")
    // While the adapter is stopped, the next item waits for nothing.
    let third = try files.session.present("third", "", ["destination": .string("files")])
    #expect(try files.session.call(Rows.wait, (third, "presented")).0 == "")
    files.adapter.goOn()
    files.adapter.close("w1")
    try files.session.wait("what it tells counts again") { watcher.lines.contains("phase files dismissing") }
    try files.session.wait("it gets what it was asked") { files.adapter.requests.first == "close w1" }
  }

  @Test("while the adapter is away every item stays; when it is back, items whose windows have closed end")
  func adapter_away_keepsItems() throws {
    let files = try FollowedCommand()
    let path = try files.show()
    let watcher = try files.session.watch()
    files.adapter.connection.close()
    try files.session.wait("navd has noticed") { files.session.navd?.errorText.contains("has left the bus") == true }
    #expect(try files.windows() == ["w1"])
    try files.session.dismiss("files")
    try files.session.wait("it is kept") { watcher.lines.contains("declined files") }
    files.adapter = try ScriptedWindowSystem(files.session)
    #expect(try files.session.ending(of: path).reason == "closed")
  }

  @Test(
    "N1, R6: navd waits for an adapter that is away for a moment, even if no item followed windows; windows that opened meanwhile are strangers', even for the next navd"
  )
  func adapter_awayWhileNotNeeded_isWaitedFor() throws {
    let files = try FollowedCommand("echo ran >>$NAVD_TEST_JOURNAL", window: "window = { app-id = 'files' }")
    let session = files.session
    let first = try session.present("files")
    try session.wait("the command has run") { session.journalLines == ["ran"] }
    files.adapter.open(Window("w1", appID: "files", pid: 0))
    #expect(try session.call(Rows.wait, (first, "presented")).0 == "")
    files.adapter.close("w1")
    #expect(try session.ending(of: first).reason == "closed")
    files.adapter.connection.close()
    try session.wait("navd has noticed") { session.navd?.errorText.contains("has left the bus") == true }
    // The request waits until it is known whether there is an adapter.
    let request = session.begin(Rows.present, ("files", "", [:]))
    files.adapter = try ScriptedWindowSystem(session, [Window("stranger", appID: "files", pid: 0)])
    let second = try session.answer(to: request).0
    try session.wait("the command has run") { session.journalLines == ["ran", "ran"] }
    try session.poll("navd knows that it has ended") { try session.call(Rows.get, "files").1["pid"] == nil }
    #expect(try files.phase() == "presenting")
    #expect(session.navd?.errorText.contains("windows are not seen") == false)
    try session.stop(SIGKILL)
    try session.start()
    #expect(try files.phase() == "presenting")
    files.adapter.open(Window("w2", appID: "files", pid: 0))
    #expect(try session.call(Rows.wait, (second, "presented")).0 == "")
    #expect(try files.windows() == ["w2"])
  }

  @Test("lost signals are noticed by their serials, and signals about unknown windows change nothing")
  func adapter_losingSignals_isReadAgain() throws {
    let files = try FollowedCommand()
    let path = try files.show()
    files.adapter.lie()
    #expect(try files.windows() == ["w1"])
    files.adapter.lose { $0.removeAll { $0.id == "w1" } }
    files.adapter.open(Window("other"))
    #expect(try files.session.ending(of: path).reason == "closed")
  }

  @Test("an adapter at its last serial does not end navd")
  func adapter_atLastSerial_isFollowed() throws {
    let files = try FollowedCommand()
    files.adapter.serial = .max
    let path = try files.show()
    files.adapter.close("w1")
    #expect(try files.session.ending(of: path).reason == "closed")
  }

  @Test("N2: a backend without processes refuses [window] without app-id and title")
  func adapter_withoutProcesses_needsPattern() throws {
    let files = try FollowedCommand(isThere: false)
    files.adapter = try ScriptedWindowSystem(files.session, capabilities: [.close, .activate])
    let (reason, result) = try files.session.ending(of: files.session.present("files"))
    #expect(reason == "failed")
    #expect(
      result["error"]
        == .string(
          "[window] without “app-id” and “title” needs “pid”, which the backend “scripted” does not offer on this desktop"
        ))
  }

  @Test("without an adapter, navctl windows says what is missing")
  func windows_withoutAdapter_saysWhatIsMissing() throws {
    let session = try Session()
    let windows = try session.navctl("windows")
    #expect(windows.status == .exited(code: CommandStatus.unreachable.rawValue))
    #expect(
      windows.errorText
        == "navctl: windows: nothing on the bus knows the windows; start navd-windows, e.g. systemctl --user enable --now navd-windows\n"
    )
  }
}

/// Kills of navd while items follow windows (R2, R6).
@Suite struct WindowRecoveryTests {
  @Test("R2: a killed navd finds the windows again, and their later ends", arguments: [false, true])
  func navd_killed_findsWindowsAgain(managed: Bool) throws {
    let files = try FollowedCommand(managed: managed)
    let path = try files.show()
    try files.session.stop(SIGKILL)
    try files.session.start()
    #expect(try files.session.call(Rows.get, "files").0 == path)
    #expect(try files.windows() == ["w1"])
    files.adapter.close("w1")
    #expect(try files.session.ending(of: path).reason == "closed")
  }

  @Test("N2, R2: when the adapter and navd are started again, navd first, no program is ended for want of the adapter")
  func dismissal_beforeAdapterIsBack_endsNoProgram() throws {
    let files = try FollowedCommand()
    let session = files.session
    let path = try files.show()
    let pid = try files.pid()
    let window = try #require(files.adapter.windows.first)
    files.adapter.connection.close()
    try session.stop(SIGKILL)
    try session.start()
    let watcher = try session.watch()
    try session.runNavctl("toggle", "files")
    try session.wait("it is kept") { watcher.lines.contains("declined files") }
    #expect(kill(pid_t(pid), 0) == 0)
    files.adapter = try ScriptedWindowSystem(session, [window])
    try session.poll("its window is asked") {
      try session.runNavctl("dismiss", "files")
      return files.adapter.requests == ["close w1"]
    }
    #expect(try session.ending(of: path).reason == "dismissed")
  }

  @Test(
    "N2, R2: what shows a window of its user's, too, is not ended after the adapter and navd have been killed",
    arguments: [false, true], [false, true])
  func program_withUsersWindow_outlivesAdapterAndNavd(managed: Bool, isHidden: Bool) throws {
    let files = try FollowedCommand(
      window: "window = { windows = 'first' }", more: isHidden ? "dismissal = 'hide'" : "", managed: managed)
    let session = files.session
    let path = try files.show()
    let pid = try files.pid()
    files.adapter.open(Window("users", appID: "files", pid: pid))
    try session.poll("navd knows it") { try session.navctl("windows").outputText.contains("users") }
    if isHidden {
      try session.dismiss("files")
      _ = try session.ending(of: path)
    }
    files.adapter.connection.close()
    try session.stop(SIGKILL)
    try session.start()
    let watcher = try session.watch()
    let message = "its program still shows a window of its user's, and is not ended"
    // For two seconds, the adapter may be starting with navd.
    try session.poll("it says why it stays") {
      if isHidden {
        try session.runNavctl("dismiss", "--parked", "--force")
        return try session.state()["parked"]?.array?.first?["stays"] == .string(message)
      }
      try session.runNavctl("toggle", "files")
      return watcher.events.contains { $0.json["message"] == .string(message) }
    }
    #expect(kill(pid_t(pid), 0) == 0)
    let quit = try session.navctl("quit")
    #expect(quit.exitCode == 1)
    #expect(kill(pid_t(pid), 0) == 0)
  }

  @Test(
    "R6: an item that was not yet on the screen gets its window after the restart, and its command is not run again")
  func window_openedMeanwhile_showsItem() throws {
    let files = try FollowedCommand("echo started >>$NAVD_TEST_JOURNAL; exec sleep 1000")
    let (path, pid) = try files.present()
    try files.session.stop(SIGKILL)
    files.adapter.open(Window("w1", appID: "files", pid: pid))
    try files.session.start()
    #expect(try files.session.call(Rows.wait, (path, "presented")).0 == "")
    #expect(files.session.journalLines == ["started"])
    #expect(try files.pid() == pid)
  }
}
