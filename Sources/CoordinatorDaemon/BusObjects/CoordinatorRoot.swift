import CoordinatorAPI
import CoordinatorCore
import DBus
import DBusValues
import EventLoops
import Glibc
import Logging
import PresentationModel
import PresentationRecord
import PresentationRules

/// The session's coordinator: it serves on the bus, with the presenters and the record. Use it on the loop's thread only.
final class CoordinatorRoot: IncomingHandler {
  let connection: Connection
  let log: Logger
  /// The recorded state, until the service has it.
  private var machine: StateMachine?
  private(set) lazy var service = CoordinatorService(machine.take()!, host: self)
  let record: RecordWriter
  /// The facts that stay the same while navd runs.
  let ownFacts: Diagnosis
  let configuration: LoadedConfiguration
  let recordID: String?

  let authorization: Authorization
  let presenters: PresenterTable
  let facts: SessionFacts
  let hooks: HookRunner
  let checks: CheckRunner
  let clientDepartures: ClientDepartures
  let fallbackClock = FallbackClock()
  private(set) lazy var turns = CoordinatorTurns(of: self)
  let inbox = Inbox()
  /// The parts that follow what happens, in the order in which they hear of it.
  private var features: [any Feature] = []

  var loop: EventLoop { connection.loop }
  var windows: WindowDisplays { presenters.windows }

  /// - Parameters:
  ///   - connection: the bus. The coordinator requests its name later, when it is ready to serve.
  ///   - machine: the recorded state. `resume` puts it into effect.
  init(
    connection: Connection, configuration: Configuration, runtime: RuntimeDirectory, record: RecordWriter,
    machine: consuming StateMachine, recovered: RecoveredSession, log: Logger
  ) {
    let loop = connection.loop
    self.connection = connection
    self.configuration = LoadedConfiguration(configuration, loop: loop, inbox, log: log)
    self.log = log
    self.record = record
    ownFacts = Diagnosis(of: runtime, recovered)
    recordID = recovered.recordID
    let limits = machine.limits
    self.machine = consume machine
    authorization = Authorization(connection)
    let manager = SystemdManager(connection)
    facts = SessionFacts(connection, inbox, log: log)
    let windows = WindowDisplays(
      connection, maxParked: limits.parked, facts, hadAdapter: recovered.session.hadAdapter, log: log, reports: inbox
    ) { [record] in record.noteAdapter() }
    windows.show(recovered.session.windowsToShow)
    let launchers = CommandLaunchers(manager, loop: loop, log: log)
    let commands = CommandPresenter(
      launchers, CommandOutputs(loop, runtime, token: recovered.token, limit: limits.output),
      CommandErrors(loop, runtime, manager), log: log, reports: windows)
    hooks = HookRunner(
      loop: loop, runtime: runtime, token: recovered.token, maxCount: limits.entries, log: log,
      launcher: { launchers.current }, environment: { commands.environment })
    checks = CheckRunner(
      loop: loop, runtime: runtime, token: recovered.token, log: log, reports: inbox,
      launcher: { launchers.current }, environment: { commands.environment })
    presenters = PresenterTable(
      commands: commands, units: UnitPresenter(manager, log: log, reports: windows),
      bus: BusPresenter(connection, limits: limits, log: log, reports: inbox), windows: windows
    )
    clientDepartures = ClientDepartures(connection, inbox)
    features = [
      CoordinatorObjects(of: self),
      hooks,
      checks,
      Inhibitors(facts.logind, log: log),
      EventLog(log),
      FreeMemory(loop),
      self.configuration,
    ]
    fallbackClock.start(loop, log: log) { [inbox] in inbox.take(.clock) }
    turns.begin()
  }

  func tell(_ happening: Happening) {
    for feature in features { feature.note(happening, in: service.machine) }
  }

  /// Handles what comes in besides the calls of clients.
  func handle(_ incoming: Incoming) {
    switch incoming {
    case .report(let report): service.report(report)
    case .memory(let memory, let handle): record.note(memory: memory, of: handle)
    case .fact(let fact, let isTrue): service.set(fact, isTrue)
    case .alarm: turns.expire()
    case .clock: chooseFallbacks()
    case .files(let isSettled): loadConfiguration(isSettled: isSettled)
    case .clientLeft(let client): service.clientLeft(client)
    }
  }

  /// A short description of the state, for the service manager.
  var summary: String { "\(service.machine.count) presented or waiting, serial \(service.serial)" }

  /// Stops serving. Presentations stay as they are (R5).
  func leave() {
    service.refuseWaiters(
      Refusal(.shuttingDown, "navd is stopping; repeat the call with the same handle when it runs again"))
  }
}

extension Diagnosis {
  fileprivate init(of runtime: RuntimeDirectory, _ recovered: RecoveredSession) {
    self.init([:])
    self.pid = UInt64(getpid())
    self.since = WallClock.microseconds / 1000
    // The parent is read now, because the parent that navd gets after its end says nothing about the start.
    self.startedBy = getppid() > 0 ? ProcessName.of(UInt32(getppid())) : nil
    self.sessionSince = recovered.session.began
    self.record = runtime.name
    self.setAside = recovered.setAside.map { "\($0.path): \($0.reason)" }
  }
}
