import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

// Launchers, whose items are only their first process (D3).

private typealias Rows = CoordinatorInterface

/// A launcher that has started a program in a session of its own, as rofi does.
private func launcher(_ rest: String = "exec sleep 1000", _ more: String = "") -> String {
  """
  command = ["sh", "-c", "setsid sleep 1000 & echo child $! >>$NAVD_TEST_JOURNAL; \(rest)"]
  scope = "process"
  \(more)
  """
}

extension Session {
  /// The process that the launcher has started.
  fileprivate func child() throws -> pid_t {
    try wait("the launcher has started a program") { !journalLines.isEmpty }
    return try #require(journalLines.first?.split(separator: " ").last.flatMap { pid_t($0) })
  }

  fileprivate func firstProcess() throws -> pid_t {
    try #require(try call(Rows.get, "launcher").1["pid"].flatMap { UInt64(value: $0) }.map { pid_t($0) })
  }

  /// Ends navd, and starts it again.
  fileprivate func restart() throws {
    try stop(SIGKILL)
    try start()
  }
}

private func isAlive(_ pid: pid_t) -> Bool { kill(pid, 0) == 0 }

@Test(
  "D3: the dismissal of a launcher ends the launcher, and not the program that it has started",
  arguments: [false, true])
func scope_process_dismissed_leavesItsChildren(managed: Bool) throws {
  let session = try Session(destinations: ["launcher": launcher()], managed: managed)
  let path = try session.present("launcher")
  let child = try session.child()
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  let first = try session.firstProcess()
  try session.dismiss("launcher")
  let (reason, result) = try session.ending(of: path)
  #expect(reason == "dismissed")
  #expect(result["signal"] == .string("SIGTERM"))
  // The manager takes the status of a process after it has announced its end.
  try session.poll("the launcher is gone") { !isAlive(first) }
  #expect(isAlive(child))
  // The next launcher is another unit, and the rest of the last one is not in its way.
  let next = try session.present("launcher")
  #expect(try session.call(Rows.wait, (next, "presented")).0 == "")
  try session.dismiss("launcher")
  #expect(try session.ending(of: next).reason == "dismissed")
  #expect(isAlive(child))
}

@Test(
  "D3: a launcher that ends by itself is closed at once, while the program that it has started runs",
  arguments: [false, true])
func scope_process_ended_isClosed(managed: Bool) throws {
  let session = try Session(destinations: ["launcher": launcher("exit 3")], managed: managed)
  let (reason, result) = try session.ending(of: session.present("launcher"))
  #expect(reason == "closed")
  #expect(result["status"] == .int32(3))
  #expect(result["output"] == nil)
  #expect(isAlive(try session.child()))
  #expect(try session.call(Rows.get, "launcher").1.isEmpty)
}

@Test(
  "P14: a launcher that ignores SIGTERM is killed after its grace time, and no other process is",
  arguments: [false, true])
func scope_process_killed_leavesItsChildren(managed: Bool) throws {
  let script = "trap '' TERM; echo ready >>$NAVD_TEST_JOURNAL; while :; do sleep 0.1; done"
  let session = try Session(destinations: ["launcher": launcher(script, "grace = '100ms'")], managed: managed)
  let path = try session.present("launcher")
  let child = try session.child()
  try session.wait("it ignores SIGTERM") { session.journalLines.contains("ready") }
  try session.dismiss("launcher")
  let (reason, result) = try session.ending(of: path)
  #expect(reason == "dismissed")
  #expect(result["signal"] == .string("SIGKILL"))
  #expect(isAlive(child))
}

@Test("R2: a launcher is adopted with its scope", arguments: [false, true])
func scope_process_afterARestart_isKept(managed: Bool) throws {
  let session = try Session(destinations: ["launcher": launcher()], managed: managed)
  let path = try session.present("launcher")
  let child = try session.child()
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  // The scope belongs to the item, whatever the file says now.
  try session.write("command = ['sleep', '1000']\n", toDestination: "launcher")
  try session.restart()
  #expect(try session.call(Rows.get, "launcher").0 == path)
  try session.dismiss("launcher")
  #expect(try session.ending(of: path).reason == "dismissed")
  #expect(isAlive(child))
}

@Test(
  "R2: a launcher that ended while navd was away is lost, though the program that it started runs",
  arguments: [false, true])
func scope_process_endedMeanwhile_isLost(managed: Bool) throws {
  let session = try Session(destinations: ["launcher": launcher()], managed: managed)
  let path = try session.present("launcher")
  let child = try session.child()
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  let first = try session.firstProcess()
  try session.stop(SIGKILL)
  kill(first, SIGKILL)
  try session.poll("it has ended") { !isAlive(first) }
  try session.start()
  #expect(try session.ending(of: path).reason == "lost")
  #expect(isAlive(child))
}

@Test("A launcher keeps its scope when the user manager leaves")
func scope_process_withoutItsManager_isKept() throws {
  let session = try Session(destinations: ["launcher": launcher()], managed: true)
  let path = try session.present("launcher")
  let child = try session.child()
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  kill(try #require(session.manager).processID, SIGKILL)
  try session.wait("navd has noticed") {
    session.navd?.errorText.contains("commands run as processes of navd's own") == true
  }
  try session.dismiss("launcher")
  #expect(try session.ending(of: path).reason == "dismissed")
  #expect(isAlive(child))
}
