// Why this file exists: a destination may be a unit of systemd's, which is started and stopped as a job (D5).

import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

private typealias Rows = CoordinatorInterface

extension Properties {
  fileprivate func text(_ name: String) -> String? { self[name].flatMap { String(value: $0) } }
}

extension Session {
  /// A session with a manager that has these units.
  fileprivate convenience init(units: [String: String], destinations: [String: String]) throws {
    try self.init(destinations: destinations, starting: false, managed: true)
    for directory in ["config/systemd", "config/systemd/user"] { mkdir(path(directory), 0o700) }
    for (name, text) in units {
      let file = try #require(fopen(path("config/systemd/user/\(name)"), "w"))
      fputs(text, file)
      fclose(file)
    }
    try #require(try systemctl("daemon-reload").exitCode == 0)
    try start()
  }

  fileprivate func isActive(_ unit: String) throws -> Bool { try systemctl("is-active", unit).exitCode == 0 }
}

/// Says what it does in the session's journal.
private let teller = """
  [Service]
  Type=exec
  ExecStart=/bin/sh -c 'echo "start %i" >>$NAVD_TEST_JOURNAL; exec sleep 60'
  ExecStopPost=/bin/sh -c 'echo "stop %i" >>$NAVD_TEST_JOURNAL'
  """

@Test("D5: a unit is started and stopped as a job, and the job's end is the acknowledgement")
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
  // %i is the instance as it stands in the name.
  #expect(session.journalLines == [#"start a\x20b"#])

  // P3: another id is another unit, and the first is gone before it comes.
  let next = try session.present("fact", "c", ["destination": .string("tell")])
  #expect(try session.ending(of: path).reason == "replaced")
  try session.wait("the next is presented") { watcher.lines.last == "presented fact c" }
  // It is executed when it is presented, and has yet to say so.
  try session.wait("the next says that it starts") {
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
  "D5: a unit that becomes inactive by itself is closed, and one that fails has failed, with its result",
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
  // Having failed is no reason not to come again.
  try session.present("trap", "2")
  try session.wait("it is presented again") { watcher.lines.last == "presented trap 2" }
}

@Test("D5: a unit that ends by itself at once was presented")
func unit_oneshot_isPresentedAndClosed() throws {
  let session = try Session(
    units: ["once.service": "[Service]\nType=oneshot\nExecStart=/bin/true\n"],
    destinations: ["once": "unit = \"once.service\"\n"])
  let watcher = try session.watch()
  #expect(try session.ending(of: session.present("once")).reason == "closed")
  #expect(watcher.lines == ["phase once presenting", "presented once", "dismissed once closed"])
}

@Test("D5, D7: a unit that cannot be started has failed, and says why")
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

@Test("D5: a unit that runs already is taken over, and shown for one presentation at a time")
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

  // Stopped by somebody else, it went by itself.
  #expect(try session.systemctl("stop", "teller@a.service").exitCode == 0)
  #expect(try session.ending(of: path).reason == "closed")
  #expect(session.journalLines == ["start a", "stop a"])
}

@Test("D5: units may be shown and taken away as often as one likes")
func unit_toggledOften_isNotHeldUp() throws {
  let session = try Session(
    units: ["teller@.service": teller], destinations: ["tell": "unit = \"teller@{id}.service\"\n"])
  for _ in 0..<8 {
    let path = try session.present("tell", "a")
    #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
    try session.dismiss("tell")
    #expect(try session.ending(of: path).reason == "dismissed")
  }
}

@Test("D11: a unit that somebody reports closed is stopped, with that result")
func unit_reportedClosed_isStopped() throws {
  let session = try Session(
    units: ["teller@.service": teller], destinations: ["tell": "unit = \"teller@{id}.service\"\n"])
  let path = try session.present("tell", "a")
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  #expect(try session.call(Rows.closed, (path, ["answer": .int32(42)])).0)
  let (reason, result) = try session.ending(of: path)
  #expect(reason == "closed")
  #expect(result["answer"] == .int32(42))
  #expect(try !session.isActive("teller@a.service"))
}

@Test("P4: a unit that is still being started is stopped")
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

@Test("P14: a unit that does not stop is killed after the grace; one that does not start has failed in its time")
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

@Test("D5: without a user manager a unit has failed, and says why")
func unit_withoutAManager_isFailed() throws {
  let session = try Session(destinations: ["mixer": "unit = \"mixer.service\"\n"])
  let (reason, result) = try session.ending(of: session.present("mixer"))
  #expect(reason == "failed")
  #expect(result.text("error")?.contains("no user manager on the bus") == true, "\(result)")
}

@Test("R2: a unit that is still active is adopted, one that became inactive meanwhile is lost")
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
