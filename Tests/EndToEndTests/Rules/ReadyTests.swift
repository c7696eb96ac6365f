import CoordinatorAPI
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Programs that say themselves when they are on the screen (D19), and windows that settle (N2).

private typealias Rows = CoordinatorInterface

/// A command that says that it is ready when the test lets it.
private func page() -> String {
  let script = "until [ -e $HOME/go ]; do sleep 0.01; done; \(Session.program("navctl")) ready; exec sleep 1000"
  return "command = ['sh', '-c', '\(script)']\nready = 'notify'\n"
}

@Suite struct ReadyTests {
  @Test(
    "D19: an item is presented only once its command has called navctl ready, even if navd was started again meanwhile",
    arguments: [false, true])
  func ready_ofCommand_isPresented(managed: Bool) throws {
    let session = try Session(destinations: ["page": page()], managed: managed)
    let path = try session.present("page")
    try session.poll("it runs") { session.processes().contains { $0.binding == "page" } }
    #expect(try session.call(Rows.get, "page").1[StateEntry.keys.phase] == "presenting")
    try session.stop(SIGKILL)
    try session.start()
    #expect(try session.call(Rows.get, "page").1[StateEntry.keys.phase] == "presenting")
    try session.write("", to: "go")
    #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  }

  @Test("D19: a command that does not say so in its time to start has failed, and a wait says why")
  func ready_neverSaid_fails() throws {
    let session = try Session(destinations: ["page": page() + "start-timeout = '200ms'\n"])
    let shown = try session.navctl("present", "page", "--wait")
    #expect(shown.exitCode == 1)
    #expect(
      shown.errorText
        == "navctl: present page: it runs, but has not said that it is ready (navctl ready) within 200 ms (start-timeout)\n"
    )
    let outside = try session.navctl("ready")
    #expect(outside.exitCode == CommandStatus.usage.rawValue)
    #expect(outside.errorText.hasPrefix("navctl: ready: NAVD_PRESENTATION, which navd gives to commands, is not set"))
    #expect(try session.navctl("ready", "9").exitCode == CommandStatus.unknownName.rawValue)
    #expect(try session.navctl("ready", "1", "--json").json?["changed"] == false)
  }

  @Test(
    "D19: a program with windows is presented when its window is there and it has said so", arguments: [false, true])
  func ready_ofWindow_needsBoth(saysItFirst: Bool) throws {
    let files = try FollowedCommand(more: "ready = 'notify'")
    let (path, pid) = try files.present()
    func say() throws { #expect(try files.session.navctl("ready", "1", "--json").json?["changed"] == true) }
    func open() { files.adapter.open(Window("w1", appID: "files", pid: pid)) }
    if saysItFirst { try say() } else { open() }
    try files.session.poll("navd has seen it") { saysItFirst ? true : try files.windows() == ["w1"] }
    #expect(try files.phase() == "presenting")
    if saysItFirst { open() } else { try say() }
    #expect(try files.session.call(Rows.wait, (path, "presented")).0 == "")
  }

  @Test("D5, D19: a unit with a window is presented when it has also told systemd that it is ready")
  func ready_ofUnit_isToldToSystemd() throws {
    let session = try Session(
      destinations: ["slides": "unit = 'slides.service'\nready = 'notify'\nwindow = true\n"], managed: true,
      files: [
        "config/systemd/user/slides.service": """
        [Service]
        Type=notify
        NotifyAccess=all
        ExecStart=/bin/sh -c 'until [ -e $HOME/go ]; do sleep 0.01; done; systemd-notify --ready; exec sleep 1000'

        """
      ])
    let adapter = try ScriptedWindowSystem(session)
    let path = try session.present("slides")
    var pid: UInt64?
    try session.poll("the unit runs") {
      pid = try session.call(Rows.get, "slides").1[StateEntry.keys.pid]
      return pid != nil
    }
    adapter.open(Window("w1", appID: "slides", pid: pid))
    try session.poll("navd has seen the window") {
      StateEntry(try session.call(Rows.get, "slides").1).windows?.count == 1
    }
    #expect(try session.call(Rows.get, "slides").1[StateEntry.keys.phase] == "presenting")
    try session.write("", to: "go")
    #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  }

  @Test("N2: a window that settles is presented that long after it has opened")
  func settle_ofWindow_delaysPresented() throws {
    let files = try FollowedCommand(window: "window = { settle = '300ms' }")
    let (path, pid) = try files.present()
    let opened = ContinuousClock.now
    files.adapter.open(Window("w1", appID: "files", pid: pid))
    try files.session.poll("navd has seen it") { try files.windows() == ["w1"] }
    #expect(try files.session.call(Rows.wait, (path, "presented")).0 == "")
    #expect(ContinuousClock.now - opened >= .milliseconds(300))
    try files.session.dismiss("files")
  }

  @Test("N2: a window that closes while it settles was never presented")
  func settle_windowCloses_isNotPresented() throws {
    let files = try FollowedCommand(window: "window = { settle = '10s', linger = '0ms' }")
    let watcher = try files.session.watch()
    let (path, pid) = try files.present()
    files.adapter.open(Window("w1", appID: "files", pid: pid))
    try files.session.poll("navd has seen it") { try files.windows() == ["w1"] }
    files.adapter.close("w1")
    #expect(try files.session.ending(of: path).reason == "closed")
    #expect(!watcher.lines.contains("presented files"))
  }
}
