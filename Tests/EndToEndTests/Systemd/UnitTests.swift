import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Units of a real user manager as presenters: jobs, ends, restarts and adoption (D5).

private typealias Rows = CoordinatorInterface

extension Properties {
  fileprivate func text(_ name: String) -> String? { self[name].flatMap { String(value: $0) } }
}

extension Session {
  /// A session with a user manager that has these units.
  fileprivate convenience init(units: [String: String], destinations: [String: String]) throws {
    let files = units.map { ("config/systemd/user/\($0.key)", $0.value) }
    try self.init(destinations: destinations, managed: true, files: Dictionary(uniqueKeysWithValues: files))
  }
}

/// A unit that writes its start and end to the session's journal.
private let teller = """
  [Service]
  Type=exec
  ExecStart=/bin/sh -c 'echo "start %i" >>$NAVD_TEST_JOURNAL; exec sleep 60'
  ExecStopPost=/bin/sh -c 'echo "stop %i" >>$NAVD_TEST_JOURNAL'
  """

@Test("D5: a unit is started and stopped by jobs, and the end of a job is the acknowledgement")
func unit_presented_isStartedAndStopped() throws {
  let session = try Session(
    units: ["teller@.service": teller], destinations: ["tell": "unit = \"teller@{id}.service\"\n"])
  let watcher = try session.watch()
  let path = try session.present("fact", "a b", ["destination": .string("tell")])
  try session.wait("it is presented") { watcher.lines.last == "presented fact a b" }
  let unit = #"teller@a\x20b.service"#
  #expect(try session.isActive(unit))
  let item = try session.call(Rows.get, "fact").1
  #expect(item.text("unit") == unit)
  #expect(item["pid"] != nil)
  // The specifier %i is the instance as written in the unit's name.
  #expect(session.journalLines == [#"start a\x20b"#])

  // Another id means another unit, and the first unit stops before it starts (P3).
  let next = try session.present("fact", "c", ["destination": .string("tell")])
  #expect(try session.ending(of: path).reason == "replaced")
  try session.wait("the next is presented") { watcher.lines.last == "presented fact c" }
  // The unit is presented as soon as its process is executed, before the process writes anything.
  try session.wait("the next unit writes its start") {
    session.journalLines == [#"start a\x20b"#, #"stop a\x20b"#, "start c"]
  }
  try session.dismiss("fact")
  #expect(try session.ending(of: next).reason == "dismissed")
  #expect(try !session.isActive("teller@c.service"))
  #expect(session.journalLines.last == "stop c")
  #expect(
    watcher.lines.filter { $0.hasPrefix("dismissed") } == ["dismissed fact a b replaced", "dismissed fact c dismissed"])
}

@Test(
  "D5: a unit that becomes inactive by itself is closed, and a unit that fails has failed, with its result",
  arguments: [("USR1", "closed", nil), ("USR2", "failed", "exit-code"), ("KILL", "failed", "signal")]
    as [(String, String, String?)])
func unit_thatEndsByItself_isClosedOrFailed(signal: String, reason: String, result: String?) throws {
  let session = try Session(
    units: [
      "trap.service": """
      [Service]
      ExecStart=/bin/sh -c 'trap "exit 0" USR1; trap "exit 3" USR2; \\
        echo ready >>$NAVD_TEST_JOURNAL; while :; do sleep 0.05; done'
      """
    ], destinations: ["trap": "unit = \"trap.service\"\n"])
  let watcher = try session.watch()
  let path = try session.present("trap", "1")
  try session.wait("it is presented") { watcher.lines.last == "presented trap 1" }
  try session.wait("it runs") { session.journalLines == ["ready"] }
  #expect(try session.systemctl("kill", "--signal=\(signal)", "trap.service").exitCode == 0)
  let (said, given) = try session.ending(of: path)
  #expect(said == reason)
  #expect(given.text("error") == result.map { "the unit trap.service failed: \($0)" })
  #expect(watcher.lines.filter { $0.hasPrefix("dismissed") } == ["dismissed trap 1 \(reason)"])
  #expect(try session.call(Rows.get, "trap").0 == .root)
  // A unit that has failed can be started again.
  try session.present("trap", "2")
  try session.wait("it is presented again") { watcher.lines.last == "presented trap 2" }
}

@Test("D5: a unit that ends at once was presented and closed")
func unit_oneshot_isPresentedAndClosed() throws {
  let session = try Session(
    units: ["once.service": "[Service]\nType=oneshot\nExecStart=/bin/true\n"],
    destinations: ["once": "unit = \"once.service\"\n"])
  let watcher = try session.watch()
  #expect(try session.ending(of: session.present("once")).reason == "closed")
  #expect(watcher.lines == ["phase once presenting", "presented once", "dismissed once closed"])
}

@Test("D5, D7: a unit that cannot be started fails with an error")
func unit_thatCannotBeStarted_isFailed() throws {
  let session = try Session(
    units: [
      "broken.service": "[Service]\nType=exec\nExecStart=/nowhere/nothing\n",
      "failing.service": "[Service]\nType=oneshot\nExecStart=/bin/false\n",
      "refusing.service": "[Unit]\nRefuseManualStart=yes\n[Service]\nExecStart=/bin/sleep 60\n",
      "teller@.service": teller,
    ],
    destinations: [
      "broken": "unit = \"broken.service\"\n", "failing": "unit = \"failing.service\"\n",
      "refusing": "unit = \"refusing.service\"\n", "missing": "unit = \"missing.service\"\n",
      "tell": "unit = \"teller@{id}.service\"\n",
    ])
  for (name, id, words) in [
    ("broken", "", ["broken.service", "“failed”", "exit-code"]), ("failing", "", ["failing.service", "“failed”"]),
    ("refusing", "", ["refusing.service"]), ("missing", "", ["missing.service", "not found"]),
    ("tell", "", ["teller@.service", "instance"]), ("tell", String(repeating: "x", count: 250), ["found 265"]),
  ] {
    let (reason, result) = try session.ending(of: session.present(name, id))
    #expect(reason == "failed")
    let error = result.text("error") ?? ""
    for word in words { #expect(error.contains(word), "\(error)") }
  }
  #expect(try session.state()["presentations"]?.array == [])
}

@Test("D5: a running unit is taken over, and shown for one presentation at a time")
func unit_thatRuns_isTakenOver() throws {
  let session = try Session(
    units: ["teller@.service": teller], destinations: ["tell": "unit = \"teller@{id}.service\"\n"])
  #expect(try session.systemctl("start", "teller@a.service").exitCode == 0)
  let watcher = try session.watch()
  let path = try session.present("fact", "a", ["destination": .string("tell")])
  try session.wait("it is presented") { watcher.lines.last == "presented fact a" }
  #expect(try session.call(Rows.get, "fact").1["pid"] != nil)
  let (reason, result) = try session.ending(of: session.present("other", "a", ["destination": .string("tell")]))
  #expect(reason == "failed")
  #expect(result.text("error")?.contains("is shown already, by presentation 1") == true, "\(result)")
  #expect(try session.call(Rows.get, "fact").0 == path)

  // A unit that another client has stopped counts as closed.
  #expect(try session.systemctl("stop", "teller@a.service").exitCode == 0)
  #expect(try session.ending(of: path).reason == "closed")
  #expect(session.journalLines == ["start a", "stop a"])
}

@Test("P4: a unit that is dismissed while it starts is stopped")
func unit_dismissedWhileItStarts_isStopped() throws {
  let session = try Session(
    units: ["slow.service": "[Service]\nType=notify\nExecStart=/bin/sleep 60\n"],
    destinations: ["slow": "unit = \"slow.service\"\n"])
  let watcher = try session.watch()
  let path = try session.present("slow", "1")
  try session.poll("it is being started") {
    try session.systemctl("is-active", "slow.service").outputText == "activating\n"
  }
  try session.dismiss("slow")
  #expect(try session.ending(of: path).reason == "dismissed")
  #expect(watcher.lines == ["phase slow 1 presenting", "phase slow 1 dismissing", "dismissed slow 1 dismissed"])
  #expect(try !session.isActive("slow.service"))
}

@Test("P14: a unit that does not stop is killed after the grace time, and a unit that does not start in time fails")
func unit_thatDoesNotStop_isKilled() throws {
  let session = try Session(
    units: [
      "deaf.service": """
      [Service]
      ExecStart=/bin/sh -c 'trap "" TERM; echo ready >>$NAVD_TEST_JOURNAL; while :; do sleep 0.05; done'
      """,
      "slow.service": "[Service]\nType=notify\nExecStart=/bin/sleep 60\n",
    ],
    destinations: [
      "deaf": "unit = \"deaf.service\"\ngrace = \"200ms\"\n",
      "slow": "unit = \"slow.service\"\nstart-timeout = \"200ms\"\n",
    ])
  let path = try session.present("deaf", "1")
  try session.wait("it runs") { session.journalLines == ["ready"] }
  try session.dismiss("deaf")
  #expect(try session.ending(of: path).reason == "dismissed")
  #expect(try !session.isActive("deaf.service"))
  let (reason, result) = try session.ending(of: session.present("slow", "1"))
  #expect(reason == "failed")
  #expect(result.text("error")?.contains("start-timeout") == true)
  #expect(try session.systemctl("is-active", "slow.service").outputText != "activating\n")
}

@Test("R2: a unit that is still active is adopted, and a unit that has become inactive is lost")
func unit_afterARestart_isAdoptedOrLost() throws {
  let session = try Session(
    units: ["teller@.service": teller], destinations: ["tell": "unit = \"teller@{id}.service\"\n"])
  let stays = try session.present("stays", "a", ["destination": .string("tell")])
  let goes = try session.present("goes", "b", ["destination": .string("tell")])
  for path in [stays, goes] { _ = try session.call(Rows.wait, (path, "presented")) }
  try session.stop(SIGKILL)
  try #require(try session.systemctl("stop", "teller@b.service").exitCode == 0)
  try session.start()
  #expect(try session.ending(of: goes).reason == "lost")
  #expect(try session.call(Rows.get, "stays").1.text("unit") == "teller@a.service")
  #expect(try session.isActive("teller@a.service"))
  try session.dismiss("stays")
  #expect(try session.ending(of: stays).reason == "dismissed")
  #expect(Set(session.journalLines.prefix(2)) == ["start a", "start b"])
  #expect(session.journalLines.dropFirst(2) == ["stop b", "stop a"])
}

@Test("D5: a unit that is restarted keeps its item, and a unit whose restart fails ends it")
func unit_restarted_keepsItsItem() throws {
  let session = try Session(
    units: [
      "teller@.service": teller,
      "once.service": """
      [Service]
      Type=exec
      ExecStartPre=/usr/bin/test ! -e %t/again
      ExecStart=/bin/sh -c 'echo start >>$NAVD_TEST_JOURNAL; exec sleep 60'
      """,
    ], destinations: ["tell": "unit = \"teller@{id}.service\"\n", "once": "unit = \"once.service\"\n"])
  let watcher = try session.watch()
  let path = try session.present("fact", "a", ["destination": .string("tell")])
  try session.wait("it is presented") { watcher.lines.last == "presented fact a" }
  let pid = try session.call(Rows.get, "fact").1["pid"]
  try session.wait("it has started") { session.journalLines == ["start a"] }
  #expect(try session.systemctl("restart", "teller@a.service").exitCode == 0)
  try session.wait("it has started again") { session.journalLines == ["start a", "stop a", "start a"] }
  try session.poll("the new process is known") {
    let item = try session.call(Rows.get, "fact")
    return item.0 == path && item.1["pid"] != nil && item.1["pid"] != pid
  }
  try session.dismiss("fact")
  #expect(try session.ending(of: path).reason == "dismissed")
  #expect(try !session.isActive("teller@a.service"))

  let once = try session.present("once")
  #expect(try session.call(Rows.wait, (once, "presented")).0 == "")
  mkdir(session.bus.directory + "/again", 0o700)
  #expect(try session.systemctl("restart", "once.service").exitCode != 0)
  #expect(try session.ending(of: once).reason == "failed")
}

@Test("D5, K3: a unit or a command that its user stops is closed, also with an error, and is not presented again")
func unit_stoppedByItsUser_isNotPresentedAgain() throws {
  let session = try Session(
    units: [
      "unwilling.service": """
      [Service]
      Type=exec
      ExecStart=/bin/sh -c 'trap "exit 3" TERM; echo ready >>$NAVD_TEST_JOURNAL; while :; do sleep 0.05; done'
      """
    ],
    destinations: [
      "unit": "unit = \"unwilling.service\"\n",
      "command": "command = ['sleep', '1000']\nrestart = \"always\"\nrestart-delay = \"100ms\"\n",
    ])
  for binding in ["unit", "command"] {
    let path = try session.present(binding)
    #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
    if binding == "unit" { try session.wait("it runs") { session.journalLines == ["ready"] } }
    let unit = try #require(try session.call(Rows.get, binding).1.text("unit"))
    _ = try session.systemctl("stop", unit)
    let (reason, result) = try session.ending(of: path)
    #expect(reason == "closed", "\(unit)")
    #expect(result["stopped"] == .boolean(true))
    #expect(try session.call(Rows.get, binding).0 == .root)
  }
}

@Test("D3: the unit of a command that is restarted keeps its item")
func service_restarted_keepsItsItem() throws {
  let session = try Session(destinations: ["fact": JournaledCommand.destination(endingAfter: 0)], managed: true)
  let path = try session.present("fact", "1")
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  try session.wait(for: "start 1", of: "fact")
  let unit = try #require(try session.call(Rows.get, "fact").1.text("unit"))
  #expect(try session.systemctl("restart", unit).exitCode == 0)
  try session.wait("it has started again") {
    session.commandLog(of: "fact") == ["start 1", "term 1", "end 1", "start 1"]
  }
  #expect(try session.call(Rows.get, "fact").0 == path)
  try session.dismiss("fact")
  #expect(try session.ending(of: path).reason == "dismissed")
  #expect(try !session.isActive(unit))
}

@Test(
  "N3: an item stays between the windows of a unit or a command that is restarted, and has the new one",
  arguments: ["all", "first"], ["unit = \"editor.service\"", "command = ['sleep', '1000']"])
func unit_restarted_keepsItsItemBetweenWindows(takes: String, program: String) throws {
  // The program closes its window when it is told to end, before its unit has stopped.
  let stop = "[Service]\nExecStop=/bin/sh -c 'echo stopping >>$NAVD_TEST_JOURNAL; read line <$HOME/gate'\n"
  let session = try Session(
    units: [
      "editor.service": "[Service]\nType=exec\nExecStart=/bin/sleep 1000\n",
      "editor.service.d/stop.conf": stop, "app-navd-editor@1.service.d/stop.conf": stop,
    ],
    destinations: ["editor": "\(program)\nwindow = { windows = '\(takes)', linger = '0ms' }"])
  #expect(mkfifo(session.path("gate"), 0o600) == 0)
  let adapter = try ScriptedWindowSystem(session)
  func pid() throws -> UInt64? { try session.call(Rows.get, "editor").1["pid"].flatMap { UInt64(value: $0) } }
  let path = try session.present("editor")
  try session.poll("it runs") { try pid() != nil }
  let first = try pid()
  adapter.open(Window("first", appID: "editor", pid: first))
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  let unit = try #require(try session.call(Rows.get, "editor").1.text("unit"))
  let restart = try session.start(program: "/usr/bin/systemctl", ["--user", "restart", unit])
  try session.wait("it stops") { session.journalLines == ["stopping"] }
  adapter.close("first")
  try session.poll("the window is gone") {
    StateEntry(try session.call(Rows.get, "editor").1).windows?.isEmpty == true
  }
  #expect(try session.run(program: "/bin/sh", ["-c", "echo >\"$1\"", "sh", session.path("gate")]).exitCode == 0)
  try session.wait("it is restarted") { restart.hasEnded }
  #expect(restart.exitCode == 0, "\(restart.errorText)")
  try session.poll("the new process is known") { try pid() != nil && pid() != first }
  adapter.open(Window("second", appID: "editor", pid: try pid()))
  try session.poll("it has the new window") {
    StateEntry(try session.call(Rows.get, "editor").1).windows?.first?["id"] == .string("second")
  }
  #expect(try session.call(Rows.get, "editor").0 == path)

  adapter.close("second")
  let end = try session.ending(of: path)
  #expect(end.reason == "closed", "\(end)")
}

@Test("D5: a unit whose condition is not met has failed, and the error names the condition")
func unit_conditionNotMet_isFailed() throws {
  let session = try Session(
    units: [
      "conditional.service": """
      [Unit]
      ConditionPathExists=/none/here
      ConditionPathExists=!/none/there
      [Service]
      ExecStart=/bin/sleep 60
      """
    ], destinations: ["conditional": "unit = \"conditional.service\"\n"])
  let (reason, result) = try session.ending(of: session.present("conditional"))
  #expect(reason == "failed")
  #expect(result.text("error")?.contains("ConditionPathExists=/none/here") == true, "\(result)")
  #expect(try session.navctl("list", "--failed").outputText.contains("a condition of its file is not met"))
}

@Test(
  "D3, D5: the reason of a failure names a time limit and the watchdog",
  arguments: ["RuntimeMaxSec=100ms", "WatchdogSec=100ms"])
func unit_endedByItsManager_saysWhy(limit: String) throws {
  let session = try Session(
    units: ["limited.service": "[Service]\nType=exec\nExecStart=/bin/sleep 60\n\(limit)\n"],
    destinations: ["limited": "unit = \"limited.service\"\n"])
  let (reason, result) = try session.ending(of: session.present("limited"))
  #expect(reason == "failed")
  let expected = limit.hasPrefix("Watchdog") ? "watchdog" : "a time limit of its unit has passed"
  #expect(result.text("error")?.contains(expected) == true, "\(result)")
}
