import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import PresentationRules
import Processes
import TestSupport
import Testing
import TextFormats

@testable import CoordinatorDaemon

// Commands as presenters: the choice of their launcher, what they inherit, their results and ends, and their adoption (D3, D6, R2).

private let handle = Handle(1)

/// A launcher that starts nothing, and reports what the test says.
private final class ScriptedLauncher: CommandLauncher {
  private(set) var launches: [Launch] = []
  private(set) var adopted: [Handle: RememberedLaunch] = [:]
  private(set) var managerLeftCount = 0
  /// The error with which every launch fails at once.
  var error: String?
  /// The presentations whose commands `adopt` finds.
  var surviving: Set<Handle> = []
  /// Called by `adopt` before it finds the commands.
  var beforeFound: () -> Void = {}
  /// The calls of commands, such as `terminate 1`.
  fileprivate(set) var calls: [String] = []
  private weak var observer: (any LaunchObserver)?
  let isAllowed: Bool

  init(isAllowed: Bool = true) { self.isAllowed = isAllowed }

  func launch(_ launch: Launch, for observer: any LaunchObserver) -> (any RunningCommand)? {
    launches.append(launch)
    self.observer = observer
    if let error {
      observer.started(launch.handle, error: error)
      return nil
    }
    return ScriptedCommand(launch.handle, self)
  }

  func adopt(
    _ remembered: [Handle: RememberedLaunch], for observer: any LaunchObserver,
    found: @escaping ([Handle: any RunningCommand]) -> Void
  ) {
    adopted = remembered
    self.observer = observer
    beforeFound()
    found(remembered.filter { surviving.contains($0.key) }.mapValues { _ in ScriptedCommand(handle, self) })
  }

  func managerLeft() { managerLeftCount += 1 }

  func start(_ handle: Handle, error: String? = nil) { observer?.started(handle, error: error) }
  func end(_ handle: Handle, _ status: ProcessStatus, output: CapturedOutput? = nil) {
    for index in launches.indices where launches[index].handle == handle { launches[index].errors = nil }
    observer?.ended(handle, ProcessResult(status: status, output: output), nil)
  }
}

private final class ScriptedCommand: RunningCommand {
  private let handle: Handle
  private let launcher: ScriptedLauncher

  init(_ handle: Handle, _ launcher: ScriptedLauncher) {
    self.handle = handle
    self.launcher = launcher
  }

  func terminate() { launcher.calls.append("terminate \(handle)") }
  func kill() { launcher.calls.append("kill \(handle)") }
  func abandon() -> String {
    launcher.calls.append("abandon \(handle)")
    return "the processes [7]"
  }
  func includes(_ process: ProcessOrigin) -> Bool { false }
  var remembered: RememberedLaunch {
    RememberedLaunch(
      marker: "m", output: OutputCapture(path: "/nowhere", limit: 0), first: ProcessIdentity(pid: 7, startTime: 8))
  }
  var platform: Properties { ["pid": .uint64(7)] }
}

/// A command presenter with scripted launchers, on a bus with or without a manager.
private final class CommandFixture {
  let bus: BusFixture
  let manager: SystemdManager
  let direct: ScriptedLauncher
  let services = ScriptedLauncher()
  let presenter: CommandPresenter
  let errors: CommandErrors
  private let log = ReportLog()
  var reports: [Report] { log.reports }
  var memories: [Handle: Properties] { log.memories }
  private let directory = TemporaryDirectory()

  init(_ bus: BusFixture? = nil, mayStart: Bool = true) throws {
    self.bus = try bus ?? BusFixture()
    direct = ScriptedLauncher(isAllowed: mayStart)
    manager = SystemdManager(self.bus.connection)
    let runtime = try RuntimeDirectory(directory.path, bus: ("", ""))
    errors = CommandErrors(self.bus.loop, runtime, manager)
    presenter = CommandPresenter(
      CommandLaunchers(manager, direct: direct, services: services, log: self.bus.logger),
      CommandOutputs(self.bus.loop, runtime, token: "token", limit: 100),
      errors, log: self.bus.logger, reports: log)
  }

  /// A presenter that knows that there is no manager.
  static func withoutManager() throws -> CommandFixture {
    let fixture = try CommandFixture()
    try fixture.bus.settle()
    return fixture
  }

  /// A presenter whose commands the manager runs.
  static func withManager() throws -> CommandFixture {
    let bus = try BusFixture()
    _ = try FakeSystemd(bus)
    let fixture = try CommandFixture(bus)
    try bus.wait { fixture.manager.isPresent }
    return fixture
  }

  func presentation(_ number: UInt64 = 1, phase: Lifecycle = .presenting) throws -> Presentation {
    try .example(
      number, .command([Array("sh".utf8), Array("{value.file}".utf8)]), value: ["file": .string("a b")], phase: phase
    ) {
      $0.environment = ["NAVD_ID": "forged", "DISPLAY": ":7"]
      $0.directory = "/tmp"
    }
  }

  func present(_ number: UInt64 = 1) throws { presenter.present(try presentation(number), ["title": .string("t")]) }

  func path(_ name: String) -> String { directory.path(of: name) }
  func makeFile(_ name: String) { close(creat(path(name), 0o600)) }
  func exists(_ name: String) -> Bool { access(path(name), F_OK) == 0 }

  func adopt(_ presentations: [Presentation], isSameBoot: Bool = true) throws -> [Handle: Survival] {
    var survivals: [Handle: Survival]?
    presenter.adopt(
      presentations.map {
        Remembered(presentation: $0, memory: ["pid": .int32(7), "start-time": .uint64(8)], shownAs: $0.handle)
      }, from: .example(isSameBoot: isSameBoot)
    ) { survivals = $0 }
    try bus.wait { survivals != nil }
    return survivals ?? [:]
  }
}

// MARK: Choosing the launcher

@Test func commandPresenter_presenceUnknown_startsNothing() throws {
  let bus = try BusFixture()
  let systemd = try FakeSystemd(bus, isSilent: true)
  let fixture = try CommandFixture(bus)
  try fixture.present(1)
  try fixture.present(2)
  fixture.presenter.dismiss(Handle(2), .dismissed, isRequested: true, animated: true, isForced: false)
  try bus.settle()
  #expect(fixture.reports == [.dismissAnswered(Handle(2), result: [:])])
  #expect(fixture.services.launches.isEmpty)
  systemd.answerCalls()
  try bus.wait { !fixture.services.launches.isEmpty }
  #expect(fixture.services.launches.map(\.handle) == [handle])
}

@Test func commandPresenter_noManager_startsDirectlyAndSaysSo() throws {
  let fixture = try CommandFixture.withoutManager()
  try fixture.present()
  #expect(fixture.direct.launches.count == 1)
  #expect(fixture.bus.log.lines == ["commands run as processes of navd's own; the bus has no user manager"])
}

@Test func commandPresenter_noManagerAndRestrictedUnit_saysThatCommandsCannotStart() throws {
  let fixture = try CommandFixture(mayStart: false)
  try fixture.bus.settle()
  #expect(
    fixture.bus.log.lines == [
      "commands cannot be started, since navd's unit restricts navd; the bus has no user manager"
    ])
}

@Test(arguments: ["249.11", "unknown"])
func commandPresenter_oldManager_isNotUsed(version: String) throws {
  let bus = try BusFixture()
  _ = try FakeSystemd(bus, version: version)
  let fixture = try CommandFixture(bus)
  try bus.wait { fixture.manager.isPresent }
  try fixture.present()
  #expect(fixture.direct.launches.count == 1)
  #expect(bus.log.contains("the user manager is older than systemd 250"))
}

@Test func commandPresenter_managerLeaves_isReportedToTheServicesOnce() throws {
  let bus = try BusFixture()
  let systemd = try FakeSystemd(bus)
  let fixture = try CommandFixture(bus)
  try bus.wait { fixture.manager.isPresent }
  try fixture.present(1)
  systemd.connection.close()
  try bus.wait { !fixture.manager.isPresent }
  // The manager may come back and start this command.
  try fixture.present(2)
  #expect(fixture.services.managerLeftCount == 0 && fixture.direct.launches.isEmpty)
  try bus.advance(by: .seconds(5))
  #expect(fixture.services.managerLeftCount == 1)
  #expect(fixture.services.launches.map(\.handle) == [handle])
  #expect(fixture.direct.launches.map(\.handle) == [Handle(2)])
}

// MARK: The command

@Test("D3: arguments, environment, directory and input of a command")
func commandPresenter_launch_hasTheItem() throws {
  let fixture = try CommandFixture.withoutManager()
  try fixture.present()
  let launch = try #require(fixture.direct.launches.first)
  #expect(launch.command.arguments == ["sh", "a b"])
  #expect(launch.command.directory == "/tmp")
  let environment = launch.command.environment
  #expect(environment["NAVD_ID"] == "1")
  #expect(environment["NAVD_BINDING"] == "panel")
  #expect(environment["NAVD_PRESENTATION"] == "1")
  #expect(environment["DISPLAY"] == ":7")
  #expect(environment["NOTIFY_SOCKET"] == nil)
  #expect(environment["PATH"] != nil)
  #expect(environment["DESKTOP_STARTUP_ID"] == "navd-token-1")
  #expect(launch.given == ["NAVD_BINDING", "NAVD_ID", "NAVD_PRESENTATION", "DISPLAY", "DESKTOP_STARTUP_ID"])
  #expect(launch.marker == "token-1")
  #expect(launch.output.path == ByteString(fixture.path("token-1")))
  #expect(
    String(decoding: launch.command.input, as: UTF8.self)
      == #"{"binding":"panel","id":"1","presentation":1,"title":"t"}"# + "\n")
}

// MARK: Results

@Test func commandPresenter_started_isPresentedAndRemembersItsProcess() throws {
  let fixture = try CommandFixture.withoutManager()
  try fixture.present()
  #expect(fixture.memories == [handle: ["pid": .int32(7), "start-time": .uint64(8)]])
  #expect(fixture.reports == [])
  fixture.direct.start(handle)
  #expect(fixture.reports == [.presentAnswered(handle, error: nil)])
  #expect(fixture.presenter.platform(of: handle) == ["pid": .uint64(7)])
}

@Test func commandPresenter_notStarted_hasFailedAndIsForgotten() throws {
  let fixture = try CommandFixture.withoutManager()
  fixture.direct.error = "sh: there is no such program"
  try fixture.present()
  #expect(
    fixture.reports == [
      .ended(handle, failed: true, result: ["error": .string("could not be started: sh: there is no such program")])
    ])
  #expect(fixture.presenter.platform(of: handle) == [:])
  #expect(fixture.memories == [:])
}

@Test(
  "D6: the result of a command has its status or signal and its output; only a signal is a failure",
  arguments: [
    (.exited(code: 3), nil, false, ["status": .int32(3)]),
    (.signaled(signal: SIGSEGV), nil, true, ["signal": .string("SIGSEGV")]),
    (.signaled(signal: 99), nil, true, ["signal": .string("99")]),
    (
      .unknown, CapturedOutput(bytes: [97], isTruncated: true), false,
      ["output": .bytes([97]), "output-truncated": .boolean(true)]
    ),
  ] as [(ProcessStatus, CapturedOutput?, Bool, Properties)])
func commandPresenter_ended_isReportedWithItsResult(
  status: ProcessStatus, output: CapturedOutput?, failed: Bool, result: Properties
) throws {
  let fixture = try CommandFixture.withoutManager()
  try fixture.present()
  fixture.direct.start(handle)
  fixture.direct.end(handle, status, output: output)
  #expect(fixture.reports.last == .ended(handle, failed: failed, result: result))
  #expect(fixture.presenter.platform(of: handle) == [:])
}

@Test("L1: nothing of a service's errors stays when it has ended")
func commandPresenter_serviceEnded_leavesNoErrors() throws {
  let fixture = try CommandFixture.withManager()
  fixture.services.surviving = [Handle(2)]
  _ = try fixture.adopt([try fixture.presentation(2)])
  try fixture.present(1)
  #expect(fixture.errors.count == 1)
  for number: UInt64 in [1, 2] { fixture.services.end(Handle(number), .exited(code: 0)) }
  try fixture.bus.wait { fixture.errors.count == 0 }
}

@Test("D6: the output stays until the result is on record")
func commandPresenter_forgotten_removesTheOutput() throws {
  let fixture = try CommandFixture.withoutManager()
  try fixture.present()
  for name in ["token-1.output", "token-1.fifo", "token-1.started"] { fixture.makeFile(name) }
  fixture.direct.end(handle, .exited(code: 0))
  #expect(fixture.exists("token-1.output"))
  fixture.presenter.forget(handle)
  for name in ["token-1.output", "token-1.fifo", "token-1.started"] { #expect(!fixture.exists(name)) }
  // Forgetting again is harmless.
  fixture.presenter.forget(handle)
}

// MARK: Ending

@Test("P14: a command is terminated, killed, and then given up")
func commandPresenter_dismissed_isTerminatedKilledAndAbandoned() throws {
  let fixture = try CommandFixture.withoutManager()
  try fixture.present()
  fixture.direct.start(handle)
  fixture.presenter.dismiss(handle, .dismissed, isRequested: true, animated: true, isForced: false)
  fixture.presenter.kill(handle)
  fixture.presenter.abandon(handle)
  fixture.presenter.abandon(handle)
  fixture.presenter.kill(handle)
  #expect(fixture.direct.calls == ["terminate 1", "kill 1", "abandon 1"])
  #expect(fixture.reports == [.presentAnswered(handle, error: nil)])
  #expect(
    fixture.bus.log.lines.last
      == "a command could not be ended, not even by SIGKILL, and counts as gone: the processes [7] presentation=1")
}

@Test func commandPresenter_dismissedAfterItsEnd_isAnswered() throws {
  let fixture = try CommandFixture.withoutManager()
  try fixture.present()
  fixture.direct.end(handle, .exited(code: 0))
  fixture.presenter.dismiss(handle, .dismissed, isRequested: true, animated: true, isForced: false)
  #expect(fixture.reports.last == .dismissAnswered(handle, result: [:]))
  #expect(fixture.direct.calls == [])
}

// MARK: After a restart

@Test("R2, R6: a command that runs is shown; one that ended is gone; one that never started is to be shown")
func commandPresenter_adopted_isShownGoneOrToBeShown() throws {
  let fixture = try CommandFixture()
  fixture.direct.surviving = [handle]
  fixture.makeFile("token-3.started")
  let survivals = try fixture.adopt([
    fixture.presentation(1, phase: .presented), fixture.presentation(2, phase: .presented),
    fixture.presentation(3), fixture.presentation(4),
  ])
  #expect(
    survivals == [
      handle: .shown, Handle(2): .gone(result: [:]), Handle(3): .gone(result: [:]), Handle(4): .toBeShown,
    ])
  #expect(fixture.direct.adopted[handle]?.marker == "token-1")
  #expect(fixture.direct.adopted[handle]?.unit?.text == "app-navd-panel@1.service")
  #expect(fixture.direct.adopted[handle]?.first == ProcessIdentity(pid: 7, startTime: 8))
  fixture.direct.end(handle, .unknown)
  #expect(fixture.reports == [.ended(handle, failed: false, result: [:])])
}

@Test("R2: a command that ends while others are adopted is shown until its end is on record, and leaves nothing")
func commandPresenter_endedWhileAdopting_leavesNothing() throws {
  let fixture = try CommandFixture.withManager()
  fixture.services.surviving = [handle]
  fixture.services.beforeFound = { [unowned fixture] in fixture.services.end(handle, .exited(code: 0)) }
  #expect(try fixture.adopt([try fixture.presentation()]) == [handle: .shown])
  #expect(fixture.reports == [.ended(handle, failed: false, result: ["status": .int32(0)])])
  #expect(fixture.presenter.platform(of: handle) == [:])
  #expect(fixture.errors.count == 0)
}

@Test func commandPresenter_adoptedAfterAReboot_hasNoProcess() throws {
  let fixture = try CommandFixture()
  _ = try fixture.adopt([fixture.presentation(phase: .presented)], isSameBoot: false)
  #expect(fixture.direct.adopted[handle]?.first == nil)
}

@Test("The output of commands whose ends are on record is removed, and nothing else")
func commandPresenter_adopted_removesOutputsWithoutPresentation() throws {
  let fixture = try CommandFixture()
  for name in ["token-1.output", "token-2.output", "token-2.fifo", "another-2.output", "record.jsonl"] {
    fixture.makeFile(name)
  }
  _ = try fixture.adopt([fixture.presentation(phase: .presented)])
  #expect(fixture.exists("token-1.output"))
  #expect(!fixture.exists("token-2.output") && !fixture.exists("token-2.fifo"))
  #expect(fixture.exists("another-2.output") && fixture.exists("record.jsonl"))
}
