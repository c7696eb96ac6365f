import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Restarts of navd: what stays, what is lost, and what goes on, with and without a user manager (R1 to R8).

private typealias Rows = CoordinatorInterface

extension Session {
  /// Ends navd, by default with SIGKILL, and starts it again.
  fileprivate func restart(_ signal: Int32 = SIGKILL, _ arguments: [String] = []) throws {
    try stop(signal)
    try start(arguments)
  }

  /// The entry of a binding in the state.
  fileprivate func entry(_ binding: String) throws -> JSON? {
    try state()["presentations"]?.array?.first { $0["binding"]?.string == binding }
  }
}

// MARK: State only

@Test("R1, R2: items without a presenter survive the end of navd unchanged", arguments: [SIGKILL, SIGTERM])
func restart_stateOnly_isAsBefore(signal: Int32) throws {
  let session = try Session()
  try session.call(Rows.declareContainerValue, ("badge", .int32(0)))
  try session.present(
    "outbox", "1",
    [
      "value": (["level": .int32(40), "name": .string("a"), "list": [Value.string("x")].value] as Properties).value,
      "container-values": (["badge": .int32(3)] as Properties).value, "title": .string("Out"),
      "style": .string("sheet"),
    ])
  try session.present("outbox.child", "2")
  try session.call(Rows.push, ("main", "screen", "1", .state))
  try session.call(Rows.push, ("main", "other", "2", .state))
  try session.call(Rows.select, ("panels", "volume", .state))
  try session.present("panels.wifi", "", ["group": .string("panels"), "if-busy": .string("queue")])
  try session.present(
    "panels.late", "", ["group": .string("panels"), "if-busy": .string("queue"), "priority": .int32(3)])
  let before = try session.state()
  try session.restart(signal)
  #expect(try session.state() == before)
  #expect(try session.call(Rows.containerValue, ("outbox", "badge")) == .int32(3))
  // The queue continues.
  try session.call(Rows.deselect, ("panels", "", [:]))
  #expect(try session.state()["groups"]?["panels"]?["selection"]?.string == "late")
  // Dismissing the parent still dismisses the child.
  try session.dismiss("outbox")
  #expect(try session.entry("outbox.child") == nil)
}

@Test("R1: a remembered tag, and an ending with its result, survive a kill")
func restart_remembered_isRemembered() throws {
  let session = try Session()
  let level: Properties = ["level": .int32(40)]
  try session.call(Rows.select, ("panels", "volume", .state.merging(["value": level.value]) { $1 }))
  try session.call(Rows.deselect, ("panels", "", [:]))
  let path = try session.present("question", "", ["command": ["sh", "-c", "echo yes; exit 3"].value])
  let ending = try session.ending(of: path)
  let history = try session.call(Rows.history, (0, [:]))
  try session.restart()
  let again = try session.ending(of: path)
  #expect(again.reason == "closed" && ending.reason == "closed")
  #expect(again.result == ending.result)
  #expect(again.result["output"] == .bytes(Array("yes\n".utf8)))
  #expect(try session.call(Rows.history, (0, [:])) == history)
  try session.call(Rows.select, ("panels", "volume", .state))
  #expect(try session.entry("panels.volume")?["value"]?["level"] == .integer(40))
}

// MARK: Commands

@Test(
  "R2: a command that still runs is adopted without being disturbed", arguments: [SIGKILL, SIGTERM], [false, true])
func restart_command_isAdopted(signal: Int32, managed: Bool) throws {
  let session = try Session(destinations: ["fact": JournaledCommand.destination(endingAfter: 0)], managed: managed)
  let path = try session.present("fact", "1")
  try session.wait(for: "start 1", of: "fact")
  try session.poll("it is presented") { try session.entry("fact")?["phase"]?.string == "presented" }
  let before = try session.entry("fact")
  #expect((before?["unit"] != nil) == managed)
  let processes = session.processes()
  try session.restart(signal)
  #expect(try session.entry("fact") == before)
  #expect(session.processes() == processes)
  #expect(session.commandLog(of: "fact") == ["start 1"])
  // The adopted command can be dismissed like any other.
  try session.dismiss("fact")
  let (reason, result) = try session.ending(of: path)
  #expect(reason == "dismissed")
  #expect(managed || result["status"] == nil)
  #expect(session.commandLog(of: "fact") == ["start 1", "term 1", "end 1"])
  try session.poll("its output files are removed") { try session.leftovers() == [] }
}

@Test(
  "R2: a process that has only the variables of a command is neither adopted nor ended", arguments: [SIGKILL, SIGTERM])
func restart_strangerWithTheMarker_isLeftAlone(signal: Int32) throws {
  let session = try Session(destinations: ["fact": JournaledCommand.destination(endingAfter: 0)])
  let path = try session.present("fact", "1")
  try session.wait(for: "start 1", of: "fact")
  let command = try #require(session.processes().first?.pid)
  let variables = Files.contents(of: "/proc/\(command)/environ").split(separator: 0)
    .map { String(decoding: $0, as: UTF8.self) }.filter { $0.hasPrefix("NAVD_") }
  try #require(variables.contains { $0.hasPrefix("NAVD_MARKER=") })
  // The strangers have the variables as services of a manager get them from “import-environment”: the parent of one lives, and the
  // other is an orphan.
  let stranger = try session.start(program: "/usr/bin/env", variables + ["setsid", "sleep", "1000"])
  let file = session.path("orphan")
  let daemon = "setsid sh -c 'echo $$ >\"$0\"; exec sleep 1000' \(file) >/dev/null 2>&1 &"
  _ = try session.run(program: "/usr/bin/env", variables + ["sh", "-c", daemon])
  var orphan: pid_t?
  try session.poll("the orphan runs") {
    orphan = pid_t(String(decoding: Files.contents(of: file), as: UTF8.self).dropLast())
    return orphan != nil
  }
  defer { if let orphan { kill(orphan, SIGKILL) } }

  try session.restart(signal)
  try session.dismiss("fact")
  #expect(try session.ending(of: path).reason == "dismissed")
  #expect(session.commandLog(of: "fact") == ["start 1", "term 1", "end 1"])
  #expect(stranger.status == nil)
  #expect(orphan.map { kill($0, 0) } == 0)
}

@Test("R2: a daemon that a command has started is ended with the command after a restart, whatever it has dropped")
func restart_daemonOfACommand_isEndedWithIt() throws {
  let session = try Session()
  let file = session.path("daemon")
  let daemon = "(env -i setsid sh -c 'echo $$ >\"$0\"; exec sleep 1000' \(file) &); exec sleep 1000"
  let path = try session.present("fact", "", ["command": ["sh", "-c", daemon].value])
  var pid: pid_t?
  try session.poll("the daemon runs") {
    pid = pid_t(String(decoding: Files.contents(of: file), as: UTF8.self).dropLast())
    return pid != nil
  }
  defer { if let pid { kill(pid, SIGKILL) } }
  try session.restart()
  try session.dismiss("fact")
  #expect(try session.ending(of: path).reason == "dismissed")
  // The process is a zombie, which has no command line, until the process above it takes its status.
  #expect(Files.contents(of: "/proc/\(pid ?? 0)/cmdline").isEmpty)
}

@Test("R2: an adopted command that exits is closed, without a status, with its complete output")
func restart_adopted_endsAsClosed() throws {
  let session = try Session()
  let path = try session.presentCommand(
    handlingSignals: #"$SIG{USR1} = sub { print "two\n"; exit 7 }; $| = 1; print "one\n";"#)
  try session.restart()
  let pid = try #require(session.processes().first?.pid)
  let wait = session.begin(Rows.wait, (path, "gone"))
  kill(pid, SIGUSR1)
  let (reason, result) = try session.answer(to: wait)
  #expect(reason == "closed")
  #expect(result == ["output": .bytes(Array("one\ntwo\n".utf8)), "status-known": .boolean(false)])
  try session.poll("its output files are removed") { try session.leftovers() == [] }
}

@Test(
  "R2: a command that ended while navd was down is lost, its slot is empty, and the next item is presented",
  arguments: [false, true])
func restart_endedMeanwhile_isLost(managed: Bool) throws {
  let session = try Session(destinations: ["fact": JournaledCommand.destination(endingAfter: 0)], managed: managed)
  let path = try session.present("fact", "1", ["group": .string("panels"), "tag": .string("one")])
  try session.present("other", "", ["group": .string("panels"), "tag": .string("two"), "if-busy": .string("queue")])
  try session.wait(for: "start 1", of: "fact")
  try session.poll("it is presented") { try session.entry("fact")?["phase"]?.string == "presented" }
  try session.stop(SIGKILL)
  for process in session.processes() { kill(process.pid, SIGKILL) }
  try session.poll("it has ended") { session.processes().isEmpty }
  try session.start()
  #expect(try session.ending(of: path).reason == "lost")
  #expect(try session.entry("fact") == nil)
  #expect(try session.state()["groups"]?["panels"]?["selection"]?.string == "two")
  try session.poll("its output files are removed") { try session.leftovers() == [] }
}

@Test("The output of a command whose end is on record is removed by the next navd, even if it has no command to adopt")
func restart_killedBeforeItRemovedOutput_outputIsRemoved() throws {
  let session = try Session()
  let path = try session.presentWritingCommand()
  let names = try session.leftovers()
  try #require(!names.isEmpty)
  try session.dismiss("fact")
  _ = try session.ending(of: path)
  try session.poll("its output files are removed") { try session.leftovers() == [] }
  try session.stop(SIGKILL)
  for name in names { close(open(session.bus.directory + "/navd/" + name, O_WRONLY | O_CREAT, 0o600)) }
  try session.start()
  #expect(try session.leftovers() == [])
}

@Test("D9: output written while navd was down is part of the result")
func restart_output_isKept() throws {
  let session = try Session()
  let path = try session.presentWritingCommand()
  try session.stop(SIGKILL)
  try session.writeOutput()
  try session.start()
  try session.dismiss("fact")
  #expect(try session.ending(of: path).result["output"] == .bytes(Array(repeating: UInt8(ascii: "x"), count: 10_000)))
}

// MARK: Clients

@Test("R2: an item ends if its owner left while navd was down, and stays if the owner is still there")
func restart_owned_followsItsOwner() throws {
  let session = try Session()
  var leaver: Connection? = try session.connect()
  let stayer = try session.connect()
  let left = try session.present("left", "", ["owned": .boolean(true)], by: leaver)
  let stays = try session.present("stays", "", ["owned": .boolean(true)], by: stayer)
  try session.stop(SIGKILL)
  leaver?.close()
  leaver = nil
  try session.start()
  #expect(try session.ending(of: left).reason == "owner")
  #expect(try session.entry("stays") != nil)
  stayer.close()
  #expect(try session.ending(of: stays).reason == "owner")
}

@Test("R2: a presenter that is still on the bus is asked to present again, with the same handle")
func restart_busPresenter_presentsAgain() throws {
  let session = try Session()
  let presenter = try BusPresenter(session, destination: "panel")
  let path = try session.present("fact", "1", ["destination": .string("panel")])
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  try session.restart()
  try session.wait("it presents again") { presenter.log == ["present fact 1", "present fact 1"] }
  #expect(presenter.items.map { $0["restored"] } == [nil, .boolean(true)])
  #expect(try session.call(Rows.get, "fact").0 == path)
  // The presenter is still registered, and later items are presented without “restored”.
  try session.present("other", "2", ["destination": .string("panel")])
  try session.wait("it presents another") { presenter.log.last == "present other 2" }
  #expect(presenter.items.last?["restored"] == nil)
  // The presenter may report about its presentations.
  #expect(try session.call(Rows.closed, (path, ["answer": .string("yes")]), by: presenter.connection).0)
  #expect(try session.ending(of: path).result["answer"] == .string("yes"))
}

@Test("R5: a waiting navctl repeats its Wait after a kill and receives the end")
func restart_navctl_waitsOn() throws {
  let session = try Session(destinations: ["fact": JournaledCommand.destination(endingAfter: 0)])
  // The answer to Present is sent before the command starts.
  let wait = try session.startNavctl("present", "--state", "fact", "1", "--wait", "--json")
  try session.wait(for: "start 1", of: "fact")
  for signal in [SIGKILL, SIGTERM, SIGKILL] { try session.restart(signal) }
  try session.dismiss("fact")
  try session.wait("it has ended") { wait.hasEnded }
  #expect(wait.outputText.contains("dismissed"), "\(wait.errorText)")
}

extension Session {
  /// The output files that remain in navd's directory.
  fileprivate func leftovers() throws -> [String] {
    try Files.names(in: bus.directory + "/navd").filter { !$0.hasPrefix(".") && !$0.hasPrefix("record.") }
  }
}

// MARK: Failures

@Test("R4: an unreadable record is renamed, and navd starts with an empty state and new numbers")
func restart_unreadable_isSetAside() throws {
  let session = try Session()
  let before = try session.present("fact")
  try session.stop(SIGTERM)
  let directory = session.bus.directory + "/navd"
  let garbage = Array("this is no record\n".utf8)
  try #require(overwrite(directory + "/record.jsonl", with: garbage))
  try session.start()
  #expect(try session.state()["presentations"]?.array?.isEmpty == true)
  let after = try session.present("fact")
  // The serial begins at the wall clock in microseconds.
  #expect(try #require(CoordinatorNames.number(of: after)) > 1_600_000_000_000_000)
  #expect(after != before)
  #expect(try session.call(Rows.getState, ()).1 > 1_600_000_000_000_000)
  let aside = try #require(try session.leftovers().first { $0.hasPrefix("unreadable-") && $0.hasSuffix(".jsonl") })
  #expect(session.navd?.errorText.contains(aside) == true, "\(session.navd?.errorText ?? "")")
  // The next navd reads the new record and continues its numbers.
  try session.restart()
  #expect(try session.call(Rows.get, "fact").0 == after)
}

@Test("R1: while the record cannot be written, requests are refused with the reason; later all changes are recorded")
func restart_fullDisk_isRefused() throws {
  let session = try Session()
  let navd = try #require(session.navd)
  try session.present("before")
  // Allow no file to grow.
  func limit(_ size: String) throws {
    let run = try session.run(program: "/usr/bin/prlimit", ["--pid", "\(navd.processID)", "--fsize=\(size):unlimited"])
    try #require(run.exitCode == 0, "\(run.errorText)")
  }
  try limit("0")
  // The first request is executed before the failure is noticed, and the error says so.
  let first = try session.refusal(Rows.present, ("first", "", .state))
  #expect(first?.name == .notRecorded)
  #expect(first?.message.contains("the request was carried out, but not recorded") == true, "\(first?.message ?? "")")
  let second = try session.refusal(Rows.present, ("second", "", .state))
  #expect(second?.name == .notRecorded)
  #expect(second?.message.contains("nothing was changed") == true, "\(second?.message ?? "")")
  #expect(try session.entry("second") == nil)
  #expect(try session.entry("before") != nil)
  #expect(navd.errorText.contains("lost if navd is killed"), "\(navd.errorText)")
  // Some bytes of a line can be written, and then no more.
  let length = Files.contents(of: session.bus.directory + "/navd/record.jsonl").count
  try limit("\(length + 10)")
  #expect(try session.refusal(Rows.present, ("second", "", .state))?.name == .notRecorded)
  try limit("unlimited")
  try session.present("third")
  try session.restart()
  #expect(try session.entry("before") != nil && session.entry("first") != nil && session.entry("third") != nil)
}

@Test("R1: a record that another program removes with its directory is whole again, and commands start")
func restart_removedRecord_isMadeAgain() throws {
  let session = try Session()
  let directory = session.bus.directory + "/navd"
  try session.present("before")
  unlink(directory + "/record.jsonl")
  try #require(rmdir(directory) == 0)
  var id = 0
  try session.poll("the record is made again") {
    id += 1
    try session.present("note", "\(id)")
    return access(directory + "/record.jsonl", F_OK) == 0
  }
  let command = try session.present("command", "1", ["command": ["sleep", "1000"].value])
  #expect(try session.call(Rows.wait, (command, "presented")).0 == "")
  #expect(session.navd?.errorText.contains("another program had removed or changed the record") == true)
  try session.restart()
  #expect(try session.entry("before") != nil && session.entry("command") != nil)
}

@Test("If the record cannot be created, navd does not start and names the option for another directory")
func restart_noDirectoryForTheRecord_isReported() throws {
  let session = try Session(starting: false)
  mkdir(session.path("read-only"), 0o500)
  // Root can write anywhere except in the process table.
  let readOnly = getuid() == 0 ? "/proc/1" : session.path("read-only")
  for directory in [readOnly, session.path("missing/inside"), session.path("journal")] {
    let run = try session.run(program: Session.program("navd"), ["--state-directory", directory])
    #expect(run.exitCode == 1)
    #expect(run.errorText.contains(directory), "\(run.errorText)")
    #expect(run.errorText.contains("--state-directory"), "\(run.errorText)")
  }
}

@Test("R7: on another bus all clients are gone; running commands and items without a presenter stay")
func restart_onAnotherBus_hasNoClients() throws {
  let session = try Session(destinations: ["fact": JournaledCommand.destination(endingAfter: 0)])
  let presenter = try BusPresenter(session, destination: "panel")
  try session.present("owned", "", ["owned": .boolean(true)])
  try session.present("state")
  try session.present("shown", "", ["destination": .string("panel")])
  try session.present("fact", "1")
  try session.wait(for: "start 1", of: "fact")
  try session.wait("it is presented") { presenter.log == ["present shown "] }
  let other = try Session(starting: false)
  // These clients include one with the same unique name that is not the same client.
  let namesakes = try (0..<8).map { _ in try other.connect() }
  try session.stop(SIGKILL)
  try other.start(["--state-directory", session.bus.directory + "/navd"])
  #expect(try other.entry("owned") == nil && other.entry("shown") == nil)
  #expect(try other.entry("state")?["phase"]?.string == "presented")
  #expect(try other.entry("fact")?["phase"]?.string == "presented")
  let reasons = try other.call(Rows.history, (0, [:])).map { $0["reason"] }
  #expect(Set(reasons) == [.string("owner"), .string("lost")])
  #expect(session.commandLog(of: "fact") == ["start 1"])
  withExtendedLifetime(namesakes) {}
  try other.call(Rows.quit, ())
  try session.wait(for: "end 1", of: "fact")
}

@Test("R8: in a later session, an item that was state only is gone; a command that still runs stays")
func restart_inALaterSession_keepsOnlyWhatRuns() throws {
  let session = try Session(destinations: ["fact": JournaledCommand.destination(endingAfter: 0)])
  try session.present("state")
  let path = try session.present("fact", "1")
  try session.wait(for: "start 1", of: "fact")
  try session.stop(SIGKILL)
  // The runtime directory outlives the session of a user who lingers.
  let later = try Session(starting: false)
  try #require(rename(session.bus.directory + "/navd", later.bus.directory + "/navd") == 0)
  try later.start()
  #expect(try later.call(Rows.get, "fact").0 == path)
  #expect(try later.entry("state") == nil)
  #expect(try later.call(Rows.history, (0, [:])).map { $0["reason"] } == [.string("lost")])
  try later.call(Rows.quit, ())
  try session.wait(for: "end 1", of: "fact")
}

@Test("A session in a session has a navd and a record of its own, which ends with its bus")
func restart_sessionInASession_hasItsOwnRecord() throws {
  let session = try Session()
  try session.present("outer")
  let inner = try Session(starting: false)
  let runtime = session.bus.directory
  let navd = try inner.start(program: "/usr/bin/env", ["XDG_RUNTIME_DIR=\(runtime)", inner.executable("navd")])
  try inner.poll("navd serves the inner session") { (try? inner.present("inner")) != nil }
  #expect(try session.entry("inner") == nil && inner.entry("outer") == nil)
  let id = try inner.client.callAndWait(Bus.getID, on: Bus.name, at: Bus.path, ())
  func directories() throws -> [String] { try Files.names(in: runtime).filter { $0.hasPrefix("navd") }.sorted() }
  #expect(try directories() == ["navd", "navd-\(id)"])
  kill(inner.bus.processID, SIGKILL)
  try inner.wait("it ends with its bus") { navd.hasEnded }
  #expect(navd.exitCode == 1)
  #expect(try directories() == ["navd"])
  #expect(try session.entry("outer") != nil)
}

@Test("A navd that starts while the bus still knows a killed one waits for the name")
func restart_nameOfAKilledNavd_isWaitedFor() throws {
  let session = try Session(starting: false)
  // The bus knows a killed navd for as long as a child of it has the connection.
  let killed = try session.startBlackHole(CoordinatorNames.bus)
  let navd = try session.start(program: session.executable("navd"), ["--log-level", "info"])
  try session.wait("navd waits") { navd.errorText.contains("waiting for its end") }
  killed.send(SIGKILL)
  try session.wait("navd has the name") { navd.errorText.contains("ready") || navd.hasEnded }
  #expect(!navd.hasEnded, "\(navd.errorText)")
  navd.send(SIGTERM)
  try session.wait("navd ends") { navd.hasEnded }
  #expect(navd.exitCode == 0, "\(navd.errorText)")
}

@Test("Two navds cannot use the same record: the second exits and names the reason")
func restart_recordInUse_isReported() throws {
  let session = try Session()
  let other = try Session(starting: false)
  let run = try other.run(
    program: Session.program("navd"), ["--state-directory", session.bus.directory + "/navd"])
  #expect(run.exitCode == 1)
  #expect(run.errorText.contains("another navd"), "\(run.errorText)")
}

@Test("After the bus has ended, navd on another bus restores the recorded state")
func restart_afterTheBusWent_isAsBefore() throws {
  let session = try Session(destinations: ["fact": JournaledCommand.destination(endingAfter: 0)])
  let path = try session.present("fact", "1")
  try session.wait(for: "start 1", of: "fact")
  let wait = session.begin(Rows.wait, (path, "gone"))
  kill(session.bus.processID, SIGKILL)
  // navd ends with a failure status, so that a service manager starts it again.
  #expect(try session.waitForEnd() == .exited(code: 1))
  #expect(throws: DBusError.self) { try session.answer(to: wait) }
  let other = try Session(starting: false)
  try other.start(["--state-directory", session.bus.directory + "/navd"])
  #expect(try other.call(Rows.get, "fact").0 == path)
  try other.call(Rows.quit, ())
  try session.wait(for: "end 1", of: "fact")
}

private func overwrite(_ path: String, with bytes: [UInt8]) -> Bool {
  let file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
  guard file >= 0 else { return false }
  defer { close(file) }
  return bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) } == bytes.count
}

// MARK: With an adapter

@Test("R2, S4: an item that ends while navd searches for earlier programs gives way to the next one, which runs once")
func restart_endDuringTheSearch_isTakenInAfterIt() throws {
  let session = try Session(destinations: [
    "deaf": JournaledCommand.destination(endingAfter: nil, "grace = \"1m\""),
    "windowed": "command = [\"sleep\", \"600\"]\nwindow = { app-id = \"none\" }\n",
  ])
  #expect(try session.call(Rows.wait, (session.present("windowed"), "presented")).0 == "")
  _ = try session.present("deaf", "1")
  try session.wait(for: "start 1", of: "deaf")
  let next = try session.present("deaf", "2")
  let first = try #require(session.processes().first { $0.binding == "deaf" }?.pid)
  try session.stop(SIGKILL)

  // An adapter that does not answer makes the search take seconds.
  let monitor = try session.start(
    program: "/usr/bin/dbus-monitor", ["--session", "type='method_call',destination='org.navd.WindowSystem1'"])
  try session.wait("the monitor is listening") { monitor.outputText.contains("NameLost") }
  let adapter = try session.startBlackHole("org.navd.WindowSystem1")
  defer { adapter.send(SIGKILL) }
  func endWhenSearching() {
    guard !monitor.outputText.contains("destination=org.navd.WindowSystem1") else {
      _ = kill(first, SIGKILL)
      return
    }
    session.loop.timer(after: .milliseconds(5)) { endWhenSearching() }
  }
  endWhenSearching()
  try session.start()
  #expect(try session.call(Rows.wait, (next, "presented")).0 == "")
  try session.wait(for: "start 2", of: "deaf")
  #expect(try session.call(Rows.get, "deaf").0 == next)
  #expect(session.processes().filter { $0.binding == "deaf" }.map(\.id) == ["2"])
  #expect(session.commandLog(of: "deaf").count { $0 == "start 2" } == 1)
}
