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
final class Coordinator {
  let connection: Connection
  let log: Logger
  private(set) var service: CoordinatorService<Coordinator>!
  let record: RecordWriter
  /// The facts that stay the same while navd runs.
  let ownFacts: Diagnosis
  let configuration: LoadedConfiguration

  let authorization: Authorization
  private(set) var presenters: PresenterTable!
  let windowSystem: WindowSystem
  let facts: SessionFacts
  let inhibitors: Inhibitors
  private(set) var clientDepartures: ClientDepartures!
  private(set) var objects: CoordinatorObjects!
  private(set) var turns: CoordinatorTurns!
  /// Events that came while navd searched for the presentations of the previous navd. They are handled once the search is over
  /// (R2); nil from then on.
  var early: [() -> Void]? = []

  var loop: EventLoop { connection.loop }

  /// - Parameters:
  ///   - connection: the bus. The coordinator requests its name later, when it is ready to serve.
  ///   - machine: the recorded state. `resume` puts it into effect.
  init(
    connection: Connection, configuration: Configuration, runtime: RuntimeDirectory, record: RecordWriter,
    machine: consuming StateMachine, recovered: RecoveredSession, log: Logger
  ) {
    let loop = connection.loop
    self.connection = connection
    self.configuration = LoadedConfiguration(configuration, loop: loop, log: log)
    self.log = log
    self.record = record
    ownFacts = Diagnosis(of: runtime, recovered)
    let limits = machine.limits
    authorization = Authorization(connection)
    let manager = SystemdManager(connection)
    windowSystem = WindowSystem(connection, log: log)
    facts = SessionFacts(connection, log: log)
    inhibitors = Inhibitors(facts.logind, log: log)
    let windows = WindowPresenter(
      loop: loop, windowSystem, maxParked: limits.parked, log: log, remember: { record.note(memory: $1, of: $0) },
      report: { [unowned self] in take($0) })
    let report: (Report) -> Void = { [unowned self] in if !windows.take($0) { take($0) } }
    let launchers = CommandLaunchers(manager, loop: loop, log: log)
    let commands = CommandPresenter(
      launchers, CommandOutputs(loop, runtime, token: recovered.token, limit: limits.output),
      CommandErrors(loop, runtime, manager), environment: { [unowned self] in service.machine.environment }, log: log,
      remember: { if !windows.note($1, of: $0) { record.note(memory: $1, of: $0) } }, report: report)
    let hooks = HookRunner(
      loop: loop, runtime: runtime, token: recovered.token, maxCount: limits.hooks,
      environment: { [unowned self] in service.machine.environment }, log: log,
      launcher: { launchers.current })
    presenters = PresenterTable(
      commands: commands, units: UnitPresenter(manager, log: log, report: report),
      bus: BusPresenter(connection, limits: limits, log: log) { [unowned self] in take($0) }, windows: windows
    )
    clientDepartures = ClientDepartures(connection) { [unowned self] in service.clientLeft($0) }
    service = CoordinatorService(machine, host: self)
    facts.onChange = { [unowned self] fact, isTrue in
      afterResuming { [unowned self] in service.set(fact, isTrue) }
    }
    self.configuration.onChange = { [unowned self] in loadConfiguration(isSettled: $0) }
    facts.logind.onArrival = { [unowned self] in inhibitors.takeAll() }
    windows.onOtherFullscreen = { [unowned self] in facts.set(.fullscreen, $0, by: .windows) }
    turns = CoordinatorTurns(of: self, hooks)
    objects = CoordinatorObjects(of: self)
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
    self.record = runtime.name
    self.setAside = recovered.setAside.map { "\($0.path): \($0.reason)" }
  }
}
