import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import TestSupport
import Testing

// The end and the start of navd on its bus: Quit, signals, kills, and the end of the bus (R3, R5, D9).

private typealias Rows = CoordinatorInterface

@Test("R5: Quit ends all presentations, children first, and then navd")
func leaving_quit_endsEverything() throws {
  let session = try Session(destinations: ["fact": JournaledCommand.destination(endingAfter: 50)])
  let watcher = try session.watch()
  let path = try session.present("fact", "1")
  try session.present("fact.child")
  try session.wait(for: "start 1", of: "fact")
  let waits = try (0..<2).map { _ in session.begin(Rows.wait, (path, "gone"), by: try session.connect()) }
  try session.call(Rows.quit, ())
  let refusal = try session.error(Rows.present, ("late", "", [:]))
  // While navd quits, it accepts no more requests; or it has ended already.
  #expect(refusal?.name == CoordinatorError.Name.shuttingDown.errorName || refusal?.name == .serviceUnknown)
  for wait in waits {
    let (reason, result) = try session.answer(to: wait)
    #expect(reason == "shutdown")
    #expect(result["status"] == .int32(0))
  }
  #expect(try session.waitForEnd() == .exited(code: 0))
  #expect(session.commandLog(of: "fact") == ["start 1", "term 1", "end 1"])
  #expect(session.processes() == [])
  #expect(
    watcher.lines.suffix(3) == [
      "dismissed fact.child shutdown", "phase fact 1 dismissing", "dismissed fact 1 shutdown",
    ]
      || watcher.lines.suffix(2) == ["dismissed fact.child shutdown", "dismissed fact 1 shutdown"])
}

@Test("R5: Quit without presentations ends navd at once")
func leaving_quitOfNothing_endsNavd() throws {
  let session = try Session()
  try session.call(Rows.quit, ())
  #expect(try session.waitForEnd() == .exited(code: 0))
}

@Test(
  "R5: SIGTERM ends navd, leaves the presentations running, and answers pending calls", arguments: [SIGTERM, SIGINT])
func leaving_bySignal_leavesWhatIsShown(signal: Int32) throws {
  let session = try Session(destinations: ["fact": JournaledCommand.destination(endingAfter: 0)])
  let watcher = try session.watch()
  let path = try session.present("fact", "1")
  try session.wait(for: "start 1", of: "fact")
  let wait = session.begin(Rows.wait, (path, "gone"))
  // navd answers this call only after the earlier one has arrived.
  _ = try session.call(Rows.get, "fact")
  let navd = try #require(session.navd)
  #expect(try session.stop(signal) == .exited(code: 0))
  let error = #expect(throws: DBusError.self) { try session.answer(to: wait) }
  #expect(error?.name == CoordinatorError.Name.shuttingDown.errorName)
  #expect(!watcher.lines.contains { $0.hasPrefix("dismissed") })
  #expect(session.commandLog(of: "fact") == ["start 1"])
  let processes = session.processes()
  #expect(processes.count == 1)
  #expect(navd.errorText.contains("presented items stay"), "\(navd.errorText)")

  try session.start()
  _ = try session.state()
  for process in processes { kill(process.pid, SIGTERM) }
  try session.wait(for: "end 1", of: "fact")
}

@Test("R5: a call of Wait that arrives after SIGTERM is answered, too")
func leaving_waitAfterTheSignal_isAnswered() throws {
  let session = try Session()
  let path = try session.present("note")
  let navd = try #require(session.navd)
  navd.send(SIGSTOP)
  navd.send(SIGTERM)
  let wait = session.begin(Rows.wait, (path, "gone"))
  session.client.flush()
  // The bus has passed on the call of Wait.
  _ = try session.client.callAndWait(Bus.getID, on: Bus.name, at: Bus.path, ())
  navd.send(SIGCONT)
  #expect(try session.waitForEnd() == .exited(code: 0))
  let error = #expect(throws: DBusError.self) { try session.answer(to: wait) }
  #expect(error?.name == CoordinatorError.Name.shuttingDown.errorName)
}

@Test("D9: a command outlives a navd that is killed, and can still write output", arguments: [false, true])
func leaving_killed_leavesWhatIsShown(managed: Bool) throws {
  let session = try Session(managed: managed)
  try session.presentWritingCommand()
  #expect(try session.stop(SIGKILL) == .signaled(signal: SIGKILL))
  let pid = try session.writeOutput()
  try session.start()
  #expect(session.processes().map(\.pid) == [pid])
}

@Test("R3: after a kill, navd reuses no handle and no serial")
func leaving_killed_reusesNoNumber() throws {
  let session = try Session()
  let before = try session.present("fact")
  let serial = try session.call(Rows.getState, ()).1
  #expect(try session.stop(SIGKILL) == .signaled(signal: SIGKILL))
  try session.start()
  let after = try session.present("other")
  let number = CoordinatorNames.number(of:)
  #expect(try #require(number(after)) > #require(number(before)))
  #expect(try session.call(Rows.getState, ()).1 > serial)
}

@Test("A second navd on the same bus exits with an error and does not disturb the first")
func leaving_second_doesNotStart() throws {
  let session = try Session()
  let path = try session.present("fact")
  let second = try session.run(program: Session.program("navd"), [])
  #expect(second.exitCode == 1)
  let first = try #require(session.navd).processID
  #expect(second.errorText.contains("navd already runs (pid \(first)); “navctl quit” ends it"), "\(second.errorText)")
  #expect(try session.call(Rows.get, "fact").0 == path)
}

@Test("Without a bus, navd exits with an error that says how to name one")
func leaving_withoutABus_explainsTheOption() throws {
  let session = try Session(starting: false)
  let navd = Session.program("navd")
  for variables in [
    [:], ["XDG_RUNTIME_DIR": session.path("nowhere")],
    ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(session.path("nobus"))"],
    ["DBUS_SESSION_BUS_ADDRESS": "nonsense"],
  ] as [[String: String]] {
    var environment = session.environment
    environment["DBUS_SESSION_BUS_ADDRESS"] = nil
    environment["XDG_RUNTIME_DIR"] = nil
    environment.merge(variables) { $1 }
    let program = try Program(session.loop, [navd], environment: environment)
    try session.wait("navd ends") { program.hasEnded }
    #expect(program.exitCode == 1)
    #expect(program.errorText.contains("cannot connect to the bus"), "\(program.errorText)")
    #expect(program.errorText.contains("--address"), "\(program.errorText)")
  }
}

@Test("A relative path in XDG_RUNTIME_DIR is ignored, and not looked up in the directory of each program")
func leaving_withARelativeRuntimeDirectory_findsNoBus() throws {
  let session = try Session()
  let run = try session.run(
    program: "/usr/bin/env",
    [
      "-u", "DBUS_SESSION_BUS_ADDRESS", "-C", session.bus.directory, "XDG_RUNTIME_DIR=.", Session.program("navctl"),
      "list",
    ])
  #expect(run.exitCode == 8)
  #expect(run.errorText.contains("a full path in XDG_RUNTIME_DIR"), "\(run.errorText)")
}

@Test("When the bus ends, navd ends, and its commands keep running")
func leaving_ofTheBus_endsNavdAlone() throws {
  let session = try Session(destinations: ["fact": JournaledCommand.destination(endingAfter: 0)])
  try session.present("fact", "1")
  try session.wait(for: "start 1", of: "fact")
  let navd = try #require(session.navd)
  kill(session.bus.processID, SIGKILL)
  #expect(try session.waitForEnd() == .exited(code: 1))
  #expect(navd.errorText.contains("the connection to the bus is lost"))
  #expect(session.processes().count == 1)
  #expect(session.commandLog(of: "fact") == ["start 1"])
}

@Test("The bus activates navd at the first call")
func leaving_absent_isStartedByTheBus() throws {
  let session = try Session(starting: false, activatable: true)
  try session.present("fact", "1")
  #expect(try session.call(Rows.get, "fact").1["id"] == .string("1"))
  try session.call(Rows.quit, ())
}
