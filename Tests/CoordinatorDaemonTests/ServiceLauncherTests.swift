import DBusValues
import EventLoops
import Glibc
import PresentationModel
import PresentationRules
import TestSupport
import Testing

@testable import CoordinatorDaemon
@testable import DBus
@testable import Processes

// Commands as transient services of systemd: their start, their end, managers that leave, and adoption (D3, R2).

private let handle = Handle(1)
private let unit = try! UnitName("app-navd-panel@1.service")

/// A service launcher with a scripted manager.
private final class LauncherFixture: LaunchObserver {
  enum Event: Equatable {
    case started(Handle, error: String?)
    case ended(Handle, ProcessResult)
  }

  let bus: BusFixture
  let manager: SystemdManager
  let launcher: ServiceLauncher
  private(set) var systemd: FakeSystemd
  private(set) var events: [Event] = []
  let marker = ByteString("test-\(UInt64.random(in: .min ... .max))")
  private let directory = TemporaryDirectory()
  /// The processes in the command's service.
  private final class Members { var pids: Set<pid_t> = [] }
  private let members = Members()

  /// - Parameter mayStartDirectly: whether navd itself may start commands.
  init(mayStartDirectly: Bool = false) throws {
    bus = try BusFixture()
    systemd = try FakeSystemd(bus)
    manager = SystemdManager(bus.connection)
    var reader = ProcessReader()
    reader.controlGroups = { [members] in
      members.pids.contains($0) ? [ByteString(unit.text)] : []
    }
    let supervisor = ProcessSupervisor(
      loop: bus.loop, markerVariable: CommandPresenter.markerVariable, reader: reader)
    launcher = ServiceLauncher(
      loop: bus.loop, manager, direct: DirectLauncher(supervisor, isAllowed: mayStartDirectly), log: bus.logger)
    manager.onPresenceChanged = { [unowned self] in if manager.presence == .absent { launcher.managerLeft() } }
    try bus.wait { manager.isPresent }
  }

  func started(_ handle: Handle, error: String?) { events.append(.started(handle, error: error)) }
  func ended(_ handle: Handle, _ result: ProcessResult, _ cause: ManagerCause?) {
    events.append(.ended(handle, result))
  }

  var output: OutputCapture { OutputCapture(path: ByteString(directory.path(of: "output")), limit: 100) }

  func launch(
    _ arguments: [ByteString] = ["/bin/true", "$HOME"], scope: CommandScope = .tree
  ) throws -> (any RunningCommand)? {
    let command = Command(
      arguments, environment: ["NAVD_ID": "1", "PATH": "/bin"], directory: "/tmp", input: Array("{}\n".utf8))
    let running = launcher.launch(
      Launch(
        handle: handle, binding: try BindingID("panel"), id: "1", application: "panel", command: command, scope: scope,
        given: ["NAVD_ID"],
        marker: marker, output: output, grace: 2000), for: self)
    try bus.settle()
    return running
  }

  /// Adopts the command from its record, as a navd does after a restart.
  func adopt() throws -> (any RunningCommand)? {
    var found: [Handle: any RunningCommand]?
    let remembered = RememberedLaunch(marker: marker, output: output, unit: unit)
    launcher.adopt([handle: remembered], for: self) { found = $0 }
    try passTime { found != nil }
    return try #require(found)[handle]
  }

  /// Launches a command, and finishes the manager's job for it.
  func launchWhole(scope: CommandScope = .tree) throws -> any RunningCommand {
    let running = try #require(try launch(scope: scope))
    try systemd.finish(try systemd.accept())
    try bus.settle()
    return running
  }

  /// Launches a command that runs as a real process.
  func launchRunning(scope: CommandScope = .tree) throws -> (any RunningCommand, Program) {
    let running = try launchWhole(scope: scope)
    let process = try process()
    try announce(["ActiveState": .string("active"), "MainPID": .uint32(UInt32(process.processID))])
    // The process may not have executed its program yet.
    try waitForEvents(1)
    try #require(events == [.started(handle, error: nil)])
    events = []
    return (running, process)
  }

  /// A process of the service that sleeps, with or without the command's marker in its environment.
  func process(hasMarker: Bool = true) throws -> Program {
    let program = try Program(
      bus.loop, ["/bin/sleep", "1000"],
      environment: hasMarker ? ["\(CommandPresenter.markerVariable)": "\(marker)"] : [:])
    members.pids.insert(program.processID)
    return program
  }

  func announce(_ properties: Properties) throws {
    try systemd.announce(unit, properties)
    try bus.settle()
  }

  /// Announces that the main process has exited.
  func announceExit(_ status: Int32, active: String = "inactive") throws {
    try announce([
      "ActiveState": .string(active), "MainPID": .uint32(0), "ExecMainCode": .int32(Int32(CLD_EXITED)),
      "ExecMainStatus": .int32(status), "Result": .string("success"),
    ])
  }

  /// Waits for events of real processes.
  func waitForEvents(_ count: Int) throws { try passTime { events.count >= count } }

  /// Lets time pass until a condition holds, for ten seconds at most. The supervisor searches for orphans in intervals.
  func passTime(until condition: () -> Bool) throws {
    for _ in 0..<500 where !condition() {
      bus.loop.turn(wait: .milliseconds(20))
      try bus.advance(by: .milliseconds(20))
    }
  }

  func leave() throws {
    systemd.connection.close()
    try bus.wait { !manager.isPresent }
  }

  func comeBack(_ prepare: (FakeSystemd) -> Void) throws {
    systemd = try FakeSystemd(bus)
    prepare(systemd)
    try bus.wait { manager.isPresent }
    try bus.settle()
  }
}

@Test("N1: a window of a service's first process belongs to it, even before the manager has told its process")
func serviceLauncher_processNotToldYet_isIncluded() throws {
  for scope in [CommandScope.tree, .process] {
    let fixture = try LauncherFixture()
    let running = try fixture.launchWhole(scope: scope)
    let process = try fixture.process()
    func includes(_ pid: pid_t, in group: String) -> Bool {
      running.includes(ProcessOrigin(of: pid) { _ in [ByteString(group)] })
    }
    #expect(includes(process.processID, in: unit.text) && !includes(process.processID, in: "other.service"))
    try fixture.announce(["ActiveState": .string("active"), "MainPID": .uint32(UInt32(process.processID))])
    try fixture.waitForEvents(1)
    #expect(includes(process.processID, in: unit.text))
    #expect(includes(1, in: unit.text) == (scope == .tree))
  }
}

@Test("D3: a command is a transient service, with the properties of docs/architecture.md")
func serviceLauncher_launch_asksForATransientService() throws {
  let fixture = try LauncherFixture()
  let running = try fixture.launch()
  #expect(fixture.systemd.calls == ["Subscribe", "StartTransientUnit \(unit)"])
  let properties = fixture.systemd.transientProperties
  #expect(properties["Description"] == .string("navd: panel 1"))
  #expect(properties["ExitType"] == .string("cgroup"))
  #expect(properties["TimeoutStopUSec"] == .uint64(2_000_000))
  #expect(properties["WorkingDirectory"] == .string("/tmp"))
  let environment = properties["Environment"].flatMap { [String](value: $0) } ?? []
  #expect(environment.sorted() == ["NAVD_ID=1", "NAVD_MARKER=\(fixture.marker)", "PATH=/bin"])
  #expect(properties["ExecStartEx"] == [Structure("/bin/true", ["/bin/true", "$HOME"], ["no-env-expand"])].value)
  #expect(properties["LimitLOCKSSoft"] == .uint64(DescentMark(fixture.marker).number))
  #expect(running?.platform == ["unit": .string(unit.text)])
  #expect(running?.remembered.unit == unit)
  #expect(fixture.events == [])
}

@Test("A command is started once its process executes the program; its result has status and output")
func serviceLauncher_executedProcess_isStartedAndEndsWithItsResult() throws {
  let fixture = try LauncherFixture()
  let (running, process) = try fixture.launchRunning()
  #expect(running.platform["pid"] == .uint64(UInt64(process.processID)))
  guard case .descriptor(let output)? = fixture.systemd.transientProperties["StandardOutputFileDescriptor"] else {
    Issue.record("no descriptor for output")
    return
  }
  #expect(write(output.number, "hello", 5) == 5)
  try fixture.announceExit(3)
  let result = ProcessResult(
    status: .exited(code: 3), output: CapturedOutput(bytes: Array("hello".utf8), isTruncated: false))
  #expect(fixture.events == [.ended(handle, result)])
  // Later signals and the departure of the manager change nothing.
  try fixture.announce(["ActiveState": .string("active")])
  try fixture.announceExit(0)
  try fixture.leave()
  try fixture.bus.advance(by: .seconds(10))
  #expect(fixture.events.count == 1)
  #expect(fixture.bus.connection.rules.subscriptions.isEmpty)
}

@Test func serviceLauncher_processBeforeItsExecution_isCheckedAgain() throws {
  let fixture = try LauncherFixture()
  _ = try fixture.launchWhole()
  let (forked, executed) = (try fixture.process(hasMarker: false), try fixture.process())
  try fixture.announce(["ActiveState": .string("active"), "MainPID": .uint32(UInt32(forked.processID))])
  try fixture.bus.advance(by: .milliseconds(5))
  #expect(fixture.events == [])
  try fixture.announce(["MainPID": .uint32(UInt32(executed.processID))])
  #expect(fixture.events == [])
  try fixture.waitForEvents(1)
  #expect(fixture.events == [.started(handle, error: nil)])
  withExtendedLifetime((forked, executed)) {}
}

@Test(
  "A service that is reported inactive before its job is done has not ended, since the state of the new unit comes first"
)
func serviceLauncher_inactiveBeforeTheJob_isNoEnd() throws {
  let fixture = try LauncherFixture()
  _ = try fixture.launch()
  try fixture.announce(["ActiveState": .string("inactive")])
  #expect(fixture.events == [])
}

@Test func serviceLauncher_endedBeforeItWasSeen_isStartedAndEnded() throws {
  let fixture = try LauncherFixture()
  _ = try fixture.launch()
  let job = try fixture.systemd.accept()
  try fixture.announceExit(0)
  #expect(fixture.events == [])
  try fixture.systemd.finish(job)
  try fixture.bus.settle()
  let result = ProcessResult(status: .exited(code: 0), output: CapturedOutput(bytes: [], isTruncated: false))
  #expect(fixture.events == [.started(handle, error: nil), .ended(handle, result)])
}

@Test func serviceLauncher_serviceThatCouldNotStart_isAnErrorAndLeavesNoOutput() throws {
  let fixture = try LauncherFixture()
  _ = try fixture.launchWhole()
  try fixture.announce(["ActiveState": .string("failed"), "Result": .string("resources")])
  #expect(
    fixture.events == [
      .started(
        handle,
        error: "/bin/true: could not be started (resources); see “journalctl --user -u 'app-navd-panel@1.service'”")
    ])
  #expect(fixture.output.read() == nil)
}

@Test func serviceLauncher_missingProgram_isAnErrorAndAsksForNothing() throws {
  let fixture = try LauncherFixture()
  #expect(try fixture.launch(["/nowhere"]) == nil)
  #expect(fixture.events == [.started(handle, error: "/nowhere: there is no such program")])
  #expect(fixture.systemd.calls == [])
}

@Test func serviceLauncher_refused_isStartedDirectly() throws {
  let fixture = try LauncherFixture(mayStartDirectly: true)
  let running = try #require(try fixture.launch())
  try fixture.systemd.refuse(Systemd.unitExists, "Unit exists.")
  try fixture.bus.settle()
  #expect(fixture.events.first == .started(handle, error: nil))
  #expect(running.remembered.unit == nil)
  #expect(
    fixture.bus.log.lines == [
      "navd itself starts a command: the user manager does not start it: Unit exists. presentation=1"
    ])
  try fixture.waitForEvents(2)
  let result = ProcessResult(status: .exited(code: 0), output: CapturedOutput(bytes: [], isTruncated: false))
  #expect(fixture.events == [.started(handle, error: nil), .ended(handle, result)])
}

@Test func serviceLauncher_refusedAndNavdIsRestricted_isAnErrorWithBothReasons() throws {
  let fixture = try LauncherFixture()
  _ = try fixture.launch()
  try fixture.systemd.refuse(Systemd.unitExists, "Unit exists.")
  try fixture.bus.settle()
  let forbidden =
    "; navd cannot start it either, since the command would inherit the restrictions of navd's unit (hardening.conf)"
  #expect(
    fixture.events == [.started(handle, error: "the user manager does not start it: Unit exists.\(forbidden)")])
}

@Test func serviceLauncher_commandThatIsNotUTF8_isNotForTheManager() throws {
  let fixture = try LauncherFixture()
  #expect(try fixture.launch(["/bin/true", ByteString([0xff])]) == nil)
  guard case .started(handle, let error?)? = fixture.events.first else {
    Issue.record("unexpected events: \(fixture.events)")
    return
  }
  #expect(error.hasPrefix("the user manager accepts only UTF-8"))
  #expect(fixture.systemd.calls == [])
}

@Test("Without an answer the manager may have started the service, so it is stopped")
func serviceLauncher_noAnswer_isAnErrorAndStopsTheService() throws {
  let fixture = try LauncherFixture()
  _ = try fixture.launch()
  fixture.systemd.set(unit, active: "active", of: fixture.marker)
  try fixture.bus.advance(by: .seconds(25))
  guard case .started(handle, let error?)? = fixture.events.first else {
    Issue.record("unexpected events: \(fixture.events)")
    return
  }
  #expect(error.hasPrefix("the user manager did not start it: "))
  #expect(fixture.systemd.calls.last == "StopUnit \(unit)")
  #expect(fixture.output.read() == nil)
  try fixture.systemd.finish(try fixture.systemd.accept())
  try fixture.announce(["ActiveState": .string("active")])
  #expect(fixture.events.count == 1)
}

// MARK: Ending

@Test func serviceLauncher_terminatedAndKilled_asksTheManager() throws {
  let fixture = try LauncherFixture()
  let (running, _) = try fixture.launchRunning()
  running.terminate()
  try fixture.bus.settle()
  #expect(fixture.systemd.calls.last == "StopUnit \(unit)")
  running.kill()
  try fixture.bus.settle()
  #expect(fixture.systemd.calls.last == "KillUnit \(unit) all 9")
  try fixture.announce([
    "ActiveState": .string("failed"), "MainPID": .uint32(0), "ExecMainCode": .int32(Int32(CLD_KILLED)),
    "ExecMainStatus": .int32(9),
  ])
  let result = ProcessResult(status: .signaled(signal: 9), output: CapturedOutput(bytes: [], isTruncated: false))
  #expect(fixture.events == [.ended(handle, result)])
}

@Test("D3: the manager ends only the first process of a command with the scope process")
func serviceLauncher_scopeOfAProcess_isThatOfItsUnit() throws {
  let fixture = try LauncherFixture()
  let (running, process) = try fixture.launchRunning(scope: .process)
  let properties = fixture.systemd.transientProperties
  #expect(properties["ExitType"] == .string("main"))
  #expect(properties["KillMode"] == .string("process"))
  #expect(properties["StandardOutput"] == .string("journal"))
  #expect(properties["StandardOutputFileDescriptor"] == nil)
  #expect(running.remembered.first == ProcessIdentity(of: process.processID))
  #expect(running.remembered.scope == .process)
  running.kill()
  try fixture.bus.settle()
  #expect(fixture.systemd.calls.last == "KillUnit \(unit) main 9")
  try fixture.announceExit(3)
  #expect(fixture.events == [.ended(handle, ProcessResult(status: .exited(code: 3), output: nil))])
}

@Test func serviceLauncher_stoppedWhileStarting_isNoError() throws {
  let fixture = try LauncherFixture()
  let running = try fixture.launchWhole()
  running.terminate()
  try fixture.announce(["ActiveState": .string("inactive")])
  let result = ProcessResult(status: .unknown, output: CapturedOutput(bytes: [], isTruncated: false))
  #expect(fixture.events == [.started(handle, error: nil), .ended(handle, result)])
}

@Test func serviceLauncher_abandoned_reportsNoEnd() throws {
  let fixture = try LauncherFixture()
  let (running, _) = try fixture.launchRunning()
  #expect(running.abandon() == "the unit app-navd-panel@1.service")
  try fixture.announceExit(0)
  #expect(fixture.events == [])
  #expect(fixture.bus.connection.rules.subscriptions.isEmpty)
}

// MARK: A manager that leaves

@Test func serviceLauncher_managerBackWithinFiveSeconds_isAskedAgain() throws {
  let fixture = try LauncherFixture()
  let (_, process) = try fixture.launchRunning()
  try fixture.leave()
  try fixture.bus.advance(by: .milliseconds(4999))
  try fixture.comeBack { $0.set(unit, active: "active", process: UInt32(process.processID)) }
  try fixture.bus.advance(by: .seconds(10))
  #expect(fixture.events == [])
  try fixture.announceExit(4)
  let result = ProcessResult(status: .exited(code: 4), output: CapturedOutput(bytes: [], isTruncated: false))
  #expect(fixture.events == [.ended(handle, result)])
}

@Test("A manager that has never started the service reports it as inactive; its processes show that it runs")
func serviceLauncher_anotherManager_isReplacedByTheProcesses() throws {
  let fixture = try LauncherFixture()
  let (running, process) = try fixture.launchRunning()
  try fixture.leave()
  try fixture.comeBack { $0.set(unit, active: "inactive") }
  try fixture.bus.advance(by: .zero)
  #expect(fixture.events == [])
  #expect(running.platform == ["pid": .uint64(UInt64(process.processID))])
  running.terminate()
  try fixture.waitForEvents(1)
  #expect(process.status != nil)
}

@Test func serviceLauncher_managerForgetsTheStart_isAskedToStartItAgain() throws {
  let fixture = try LauncherFixture()
  let running = try fixture.launch()
  _ = try fixture.systemd.accept()
  try fixture.bus.settle()
  try fixture.leave()
  try fixture.comeBack { $0.set(unit, active: "inactive") }
  try fixture.passTime { fixture.systemd.calls.last == "StartTransientUnit \(unit)" }
  #expect(fixture.systemd.calls.last == "StartTransientUnit \(unit)")
  #expect(fixture.events == [])
  try fixture.systemd.finish(try fixture.systemd.accept())
  let process = try fixture.process()
  try fixture.announce(["ActiveState": .string("active"), "MainPID": .uint32(UInt32(process.processID))])
  try fixture.waitForEvents(1)
  #expect(fixture.events == [.started(handle, error: nil)])
  #expect(running?.platform["pid"] == .uint64(UInt64(process.processID)))
}

@Test("D3: a command that is dismissed while the manager is away, and started by it after that, is stopped")
func serviceLauncher_dismissedBeforeTheManagerIsBack_isStopped() throws {
  let fixture = try LauncherFixture()
  let running = try #require(try fixture.launch())
  try fixture.leave()
  running.terminate()
  try fixture.waitForEvents(2)
  guard case .ended(handle, _)? = fixture.events.last else {
    Issue.record("unexpected events: \(fixture.events)")
    return
  }
  try fixture.comeBack { $0.set(unit, active: "inactive") }
  try fixture.bus.wait { fixture.systemd.calls.last == "StartTransientUnit \(unit)" }
  try fixture.systemd.finish(try fixture.systemd.accept())
  try fixture.bus.wait { fixture.systemd.calls.last == "StopUnit \(unit)" }
  #expect(fixture.events.count == 2)
}

@Test func serviceLauncher_managerGoneForFiveSeconds_isReplacedByTheProcesses() throws {
  let fixture = try LauncherFixture()
  let (running, process) = try fixture.launchRunning()
  try fixture.leave()
  try fixture.bus.advance(by: .seconds(5))
  #expect(fixture.events == [])
  #expect(running.platform == ["pid": .uint64(UInt64(process.processID))])
  running.terminate()
  try fixture.waitForEvents(1)
  guard case .ended(handle, _)? = fixture.events.first else {
    Issue.record("unexpected events: \(fixture.events)")
    return
  }
  #expect(process.status != nil)
}

@Test func serviceLauncher_managerAndProcessesGone_hasEndedWithAnUnknownStatus() throws {
  let fixture = try LauncherFixture()
  let (_, process) = try fixture.launchRunning()
  process.send(SIGKILL)
  try fixture.bus.wait { process.status != nil }
  try fixture.leave()
  try fixture.bus.advance(by: .seconds(5))
  // The search is repeated while processes of other tests are in the middle of execve.
  try fixture.waitForEvents(1)
  let result = ProcessResult(status: .unknown, output: CapturedOutput(bytes: [], isTruncated: false))
  #expect(fixture.events == [.ended(handle, result)])
}

// MARK: After a restart

@Test("R2: a running service is found by its unit, an ended one is not")
func serviceLauncher_adopted_isFoundIfItsUnitRuns() throws {
  let fixture = try LauncherFixture()
  fixture.systemd.set(unit, active: "active", of: fixture.marker)
  let other = try UnitName("app-navd-panel@2.service")
  fixture.systemd.set(other, active: "inactive")
  let ended = OutputCapture(path: fixture.output.path + "-2", limit: 100)
  var found: [Handle: any RunningCommand]?
  fixture.launcher.adopt(
    [
      handle: RememberedLaunch(marker: fixture.marker, output: fixture.output, unit: unit),
      Handle(2): RememberedLaunch(marker: fixture.marker + "-2", output: ended, unit: other),
    ], for: fixture
  ) { found = $0 }
  try fixture.bus.wait { found != nil }
  #expect(found?.keys.sorted() == [handle])
  try fixture.announceExit(0)
  #expect(fixture.events.count == 1)
  guard case .ended(handle, let result)? = fixture.events.first else {
    Issue.record("unexpected events: \(fixture.events)")
    return
  }
  #expect(result.status == .exited(code: 0))
}

@Test("R2: a unit whose mark the user's file changes is recognized by the variable that its processes have")
func serviceLauncher_adoptedWithoutAMark_isFoundByItsVariable() throws {
  let fixture = try LauncherFixture()
  fixture.systemd.set(unit, active: "active", of: fixture.marker, isMarked: false)
  #expect(try fixture.adopt()?.remembered.unit == unit)
}

@Test("R2: a unit with a command's name is left alone if a navd with another record has started it")
func serviceLauncher_adoptedUnitOfAnotherNavd_isLeftAlone() throws {
  for isMarked in [true, false] {
    let fixture = try LauncherFixture()
    fixture.systemd.set(unit, active: "active", of: "another-1", isMarked: isMarked)
    // The process is the other navd's, and may have dropped its mark.
    let process = try fixture.process(hasMarker: false)
    #expect(try fixture.adopt() == nil)
    #expect(fixture.systemd.calls.allSatisfy { $0 == "Subscribe" }, "\(fixture.systemd.calls)")
    #expect(process.status == nil && fixture.events.isEmpty)
    #expect(fixture.bus.connection.rules.subscriptions.isEmpty)
  }
}

@Test("A command that is dismissed before the manager has accepted its start ends no other unit of its name")
func serviceLauncher_dismissedBeforeItsUnitExists_endsNoOther() throws {
  let fixture = try LauncherFixture(mayStartDirectly: true)
  let running = try #require(try fixture.launch())
  // The unit of another navd becomes active under the same name.
  try fixture.announce(["ActiveState": .string("active"), "MainPID": .uint32(1)])
  running.terminate()
  running.kill()
  try fixture.announce(["ActiveState": .string("inactive"), "MainPID": .uint32(0)])
  try fixture.systemd.refuse(Systemd.unitExists, "Unit exists.")
  try fixture.bus.settle()
  #expect(fixture.systemd.calls == ["Subscribe", "StartTransientUnit \(unit)"])
  let result = ProcessResult(status: .unknown, output: nil)
  #expect(fixture.events == [.started(handle, error: nil), .ended(handle, result)])
  #expect(fixture.output.read() == nil)
}

@Test("A command that is dismissed before the manager has accepted its start is stopped afterwards")
func serviceLauncher_dismissedBeforeItsUnitExists_isStoppedThen() throws {
  let fixture = try LauncherFixture()
  let running = try #require(try fixture.launch())
  running.terminate()
  try fixture.systemd.accept()
  try fixture.bus.settle()
  #expect(fixture.systemd.calls.last == "StopUnit \(unit)")
}

@Test("After a start without an answer, a unit of that name that belongs to another navd is not stopped")
func serviceLauncher_noAnswerAndAnotherNavdsUnit_isNotStopped() throws {
  let fixture = try LauncherFixture()
  _ = try fixture.launch()
  fixture.systemd.set(unit, active: "active", of: "another-1")
  try fixture.bus.advance(by: .seconds(25))
  #expect(fixture.events.count == 1)
  #expect(fixture.systemd.calls == ["Subscribe", "StartTransientUnit \(unit)"])
}

@Test func serviceLauncher_adoptedNothing_isAnsweredAtOnce() throws {
  let fixture = try LauncherFixture()
  var found: [Handle: any RunningCommand]?
  fixture.launcher.adopt([:], for: fixture) { found = $0 }
  #expect(found?.isEmpty == true)
}
