import DBus
import DBusValues
import EventLoops
import Glibc
import Logging
import PresentationModel
import PresentationRules
import TestSupport
import Testing

@testable import CoordinatorDaemon
@testable import Processes

/// Services whose manager leaves the bus and does not come back: few searches of the process table serve many of them.
@Suite(.timeLimit(.minutes(3))) struct HandOverTests {
  @Test("Services whose manager has left are searched for in one scan, and a few of them are handed over in each turn")
  func handOver_manyServices_scansOnceAndReportsAFewPerTurn() throws {
    let fixture = try ServiceFixture()
    let count = ProcessSupervisor.adoptionsPerTurn + 8
    let running = try (0..<count).map { try fixture.launch(Handle(UInt64($0 + 1)), isAlive: true) }
    let ended = try (count..<2 * count).map { try fixture.launch(Handle(UInt64($0 + 1)), isAlive: false) }
    try fixture.finishLaunching()
    try #require(fixture.observer.ended.isEmpty && fixture.scans == 0)

    fixture.manager.close()
    // The condition is looked at after each turn.
    var (before, most) = (0, 0)
    try fixture.wait {
      most = max(most, fixture.observer.ended.count - before)
      before = fixture.observer.ended.count
      return before == ended.count
    }
    // The second scan confirms that no process is left of the services that have ended.
    #expect(fixture.scans == 2)
    #expect(most <= ProcessSupervisor.adoptionsPerTurn)
    #expect(running.map(\.platform) == fixture.processes.map { ["pid": .uint64(UInt64($0))] })

    // The services are dismissed together, with a few searches for all.
    let scans = fixture.scans
    for command in running { command.terminate() }
    try fixture.wait { fixture.observer.ended.count == 2 * count }
    #expect(fixture.scans - scans <= 10)
  }

  @Test(
    "For services that end together, or are dismissed together, all processes are looked through once for those that have moved"
  )
  func terminate_manyServices_looksThroughAllProcessesOnce() throws {
    let fixture = try ServiceFixture()
    let count = 40
    let services = try (1...count).map { try fixture.launch(Handle(UInt64($0)), isAlive: false) }
    try fixture.finishLaunching()
    try #require(fixture.observer.ended.isEmpty && fixture.looks == 0)
    for service in services { service.terminate() }
    fixture.loop.turn(wait: .zero)
    #expect(fixture.looks == 1)
    try fixture.endServices()
    try fixture.wait { fixture.observer.ended.count == count }
    // The services end in a few turns.
    #expect(fixture.looks <= 8, "\(fixture.looks)")
  }

  @Test("A dismissal during the search for the processes ends those that are found")
  func terminate_whileTheProcessesAreSearchedFor_endsThem() throws {
    let fixture = try ServiceFixture()
    let command = try fixture.launch(Handle(1), isAlive: true)
    try fixture.finishLaunching()
    fixture.manager.close()
    // The manager has left and cannot stop the service, so the search begins. The second request comes while the search goes on.
    try fixture.wait {
      guard fixture.observer.ended[Handle(1)] == nil else { return true }
      command.terminate()
      return false
    }
  }
}

/// A launcher of services, a manager that starts nothing, and processes that the test starts in their place.
private final class ServiceFixture {
  final class Observer: LaunchObserver {
    private(set) var ended: [Handle: ProcessResult] = [:]
    func started(_ handle: Handle, error: String?) { #expect(error == nil) }
    func ended(_ handle: Handle, _ result: ProcessResult, _ cause: ManagerCause?) {
      #expect(ended[handle] == nil)
      ended[handle] = result
    }
  }

  let loop: EventLoop
  let manager: Connection
  let observer = Observer()
  private(set) var scans = 0
  /// The number of times that all processes were looked through for those that have moved.
  private(set) var looks = 0
  private let bus: PrivateBus
  private let directory = TemporaryDirectory()
  private let connection: Connection
  private var launcher: ServiceLauncher?
  private var systemd: SystemdManager?
  /// The processes of the services.
  private var programs: [Program] = []
  var processes: [pid_t] { programs.map(\.processID) }
  /// The services in which the processes seem to be.
  private var services: [pid_t: ByteString] = [:]
  /// The services whose first process has ended; the manager reported nothing else before it left.
  private var ended: [UnitName] = []
  private var jobs = 0
  private var launches = 0

  private static let manager: InterfaceName = "org.freedesktop.systemd1.Manager"
  private static let version = Property<String>(manager, "Version", emitsChanged: .const)

  init() throws {
    bus = try PrivateBus()
    loop = try EventLoop()
    manager = try Connection.open(address: bus.address, loop: loop)
    connection = try Connection.open(address: bus.address, loop: loop)
    try startManager()
    try startLauncher()
  }

  private func startManager() throws {
    let members: [any InterfaceMember] = [
      Self.version, Systemd.Manager.subscribe, Systemd.Manager.startTransientUnit, Systemd.Manager.stopUnit,
    ]
    let object = ImplementedInterface(Interface(Self.manager, members: members))
    object.implement(Self.version) { _ in "252" }
    object.implement(Systemd.Manager.subscribe) { _, call in call.reply() }
    // The job never ends, so the launcher waits for what becomes of the unit.
    object.implement(Systemd.Manager.startTransientUnit, takesDescriptors: true) { [unowned self] _, call in
      jobs += 1
      call.reply(ObjectPath("\(Systemd.path)/job/\(jobs)")!)
    }
    object.implement(Systemd.Manager.stopUnit) { [unowned self] _, call in
      jobs += 1
      call.reply(ObjectPath("\(Systemd.path)/job/\(jobs)")!)
    }
    manager.export(Systemd.path, [object])
    var isOwner = false
    manager.requestName(Systemd.name) { result in isOwner = (try? result.get()) != nil }
    try #require(loop.turn(until: { isOwner }))
  }

  private func startLauncher() throws {
    var reader = ProcessReader()
    reader.processes = { [unowned self] in
      scans += 1
      return ProcessTable.all()
    }
    reader.controlGroups = { [unowned self] in services[$0].map { ["app.slice", $0] } ?? [] }
    let supervisor = ProcessSupervisor(
      loop: loop, markerVariable: CommandPresenter.markerVariable, reader: reader)
    let direct = DirectLauncher(supervisor, isAllowed: true)
    let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let systemd = SystemdManager(connection, absenceLimit: .milliseconds(50))
    let launcher = ServiceLauncher(loop: loop, systemd, direct: direct, log: log) { [unowned self] marks in
      looks += 1
      return DescentMark.processes(carrying: marks)
    }
    systemd.onPresenceChanged = { [unowned systemd, unowned launcher] in
      if systemd.presence == .absent { launcher.managerLeft() }
    }
    (self.systemd, self.launcher) = (systemd, launcher)
    try #require(loop.turn(until: { systemd.isPresent }))
  }

  func wait(until condition: () -> Bool) throws {
    let holds = loop.turn(until: condition, within: .seconds(60), lookingEvery: .milliseconds(1))
    try #require(holds)
  }

  /// Starts a service.
  /// - Parameter isAlive: whether the service has a process, as a started one has.
  func launch(_ handle: Handle, isAlive: Bool) throws -> any RunningCommand {
    let marker = ByteString("\(directory.path)-\(handle)")
    let launch = Launch(
      handle: handle, binding: try BindingID("fact"), id: "1", application: "fact",
      command: Command(["sleep", "1000"], environment: ["PATH": "/usr/bin:/bin"]), scope: .tree, given: ["PATH"],
      marker: marker, output: OutputCapture(path: ByteString(directory.path(of: "\(handle)")), limit: 100), grace: 1000)
    if isAlive {
      let program = try Program(
        loop, ["/bin/sleep", "1000"], environment: ["\(CommandPresenter.markerVariable)": "\(marker)"])
      programs.append(program)
      services[program.processID] = ByteString(launch.unit.text)
    }
    launches += 1
    let command = try #require(launcher?.launch(launch, for: observer))
    if !isAlive { ended.append(launch.unit) }
    return command
  }

  /// Makes the manager report the services whose first process has ended.
  func endServices() throws {
    for unit in ended {
      let state: Properties = ["ActiveState": .string("inactive"), "Result": .string("success")]
      try manager.emit(PropertyAccessing.propertiesChanged, from: unit.path, (Systemd.unit.text, state, []))
    }
  }

  /// Waits until the launcher has the answers of the manager.
  func finishLaunching() throws {
    try #require(loop.turn(until: { self.jobs == self.launches }))
    for unit in ended {
      // The manager reports that the service has started, since a command that never started would be started again.
      let state: Properties = [
        "ActiveState": .string("active"), "ExecMainCode": .int32(Int32(CLD_EXITED)), "ExecMainStatus": .int32(0),
      ]
      try manager.emit(PropertyAccessing.propertiesChanged, from: unit.path, (Systemd.unit.text, state, []))
    }
    loop.turn(wait: .zero)
    for client in [manager, connection] { _ = try client.callAndWait(Bus.getID, on: Bus.name, at: Bus.path, ()) }
    loop.turn(wait: .zero)
  }
}
