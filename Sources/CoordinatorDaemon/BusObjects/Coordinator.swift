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
  let loop: EventLoop
  let connection: Connection
  let log: Logger
  private(set) var service: CoordinatorService<Coordinator>!
  let record: RecordWriter
  /// The facts that stay the same while navd runs.
  let ownFacts: Diagnosis
  let configuration: LoadedConfiguration

  let authorization: Authorization
  var presenters: PresenterTable!
  let windowSystem: WindowSystem
  let facts: SessionFacts
  let inhibitors: Inhibitors
  var hooks: HookRunner!
  var clientDepartures: ClientDepartures!
  var announcer: Announcer!
  /// The containers are exported after the presentations, because presentations are looked up most.
  private(set) var containers: Containers!
  private let entries = EncodedEntries()
  private let freeMemory: FreeMemory

  /// Commands for presenters, carried out at the end of the turn, after the announcements.
  var commands: ArraySlice<Command> = []
  /// The limit of commands in one turn: starting a program takes milliseconds.
  private static let commandsPerTurn = 16
  /// The number of commands at the beginning of `commands` that an earlier turn left over.
  private var countOfLate = 0
  /// Ended presentations, removed from the presenters at the end of the turn.
  var ended: [Handle] = []
  var alarm: Timer?
  var isQuitting = false
  /// Events that came while navd searched for the presentations of the previous navd. They are handled once the search is over
  /// (R2); nil from then on.
  var early: [() -> Void]? = []
  /// Called once, when everything has ended after `Quit`.
  var onQuit: (() -> Void)?

  /// - Parameters:
  ///   - connection: the bus. The coordinator requests its name later, when it is ready to serve.
  ///   - machine: the recorded state. `resume` puts it into effect.
  init(
    loop: EventLoop, connection: Connection, configuration: Configuration, runtime: RuntimeDirectory,
    record: RecordWriter, machine: consuming StateMachine, recovered: RecoveredSession, log: Logger
  ) {
    self.loop = loop
    self.connection = connection
    self.configuration = LoadedConfiguration(configuration, loop: loop, log: log)
    self.log = log
    self.record = record
    ownFacts = Diagnosis(of: runtime, recovered)
    let limits = machine.limits
    authorization = Authorization(connection)
    announcer = Announcer(connection, log: log)
    freeMemory = FreeMemory(loop)
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
    hooks = HookRunner(
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
    connection.onSignalsMissed = { [unowned self] in announcer.repeatLast(to: $0) }
    // The next program starts before the end of the last one is announced, because the user waits for the new program. A client
    // that asks about the failure then also finds the new program.
    connection.hasMoreToCome = { [unowned self] in !self.commands.isEmpty }
    loop.atEndOfTurn { [unowned self] in finishTurn() }
    connection.export(CoordinatorNames.object, [coordinatorInterface()], isObjectManager: true)
    connection.exportSubtree(CoordinatorNames.presentations, presentationObjects())
    containers = Containers(self)
  }

  private func presentationObjects() -> PresentationObjects {
    PresentationObjects(service) { [unowned self] in StateEntry(platform(of: $0)) }
  }

  private func coordinatorInterface() -> ImplementedInterface {
    ImplementedInterface(CoordinatorInterface.interface) { [unowned self] name, object in
      if name == "GetState" {
        implementGetState(object)
      } else {
        service.bindMethod(name, to: BusBinder(object: object))
      }
    } implementProperties: { [unowned self] object in
      service.bindProperties(to: BusBinder(object: object))
    }
  }

  /// Implements `GetState` without the service, which would build the answer from values first.
  private func implementGetState(_ object: ImplementedInterface) {
    let prepare = { [unowned self] (_: ObjectPath) in entries.prepare(service.machine) }
    object.implement(CoordinatorInterface.getState, preparing: prepare) { [unowned self] _, call in
      call.reply(writing: { [unowned self] writer throws(DBusError) in
        try entries.writeState(of: service.machine, platform: platform, to: &writer)
      })
    }
  }

  /// A short description of the state, for the service manager.
  var summary: String { "\(service.machine.count) presented or waiting, serial \(service.serial)" }

  /// Stops serving. Presentations stay as they are (R5).
  func leave() {
    service.refuseWaiters(
      Refusal(.shuttingDown, "navd is stopping; repeat the call with the same handle when it runs again"))
  }

  /// Records the changes of a turn before its messages are sent, so that a client only hears of recorded changes (R1).
  func recordChanges() {
    presenters.recordChanges()
    let changes = service.takeUnrecorded()
    if !changes.isEmpty {
      freeMemory.noteChange()
      entries.forget(changes.presentations.lazy.map { $0.key })
    }
    do throws(Refusal) {
      try record.write(changes, clock: service.machine.wallClockLead)
    } catch {
      connection.failReplies(with: DBusError(error))
    }
  }

  // MARK: Turns

  /// Ends a turn after its announcements: removes ended presentations, and carries out commands.
  private func finishTurn() {
    configuration.endTurn()
    freeMemory.endTurn()
    // No other code calls this when the bus is not connected.
    if !connection.isOpen { connection.beforeFlush?() }
    for handle in ended { presenters.forget(handle) }
    ended.removeAll(keepingCapacity: true)
    hooks.startSome(isLast: isQuitting)
    guard !commands.isEmpty else {
      if isQuitting, service.machine.isEmpty, hooks.isIdle {
        isQuitting = false
        onQuit?()
      }
      return
    }
    let ready = commands.prefix(Self.commandsPerTurn)
    commands.removeFirst(ready.count)
    for (index, command) in ready.enumerated() {
      if index < countOfLate { service.restartAnswer(of: command.handle) }
      carryOut(command)
    }
    countOfLate = commands.count
    // The next turn announces the answers that presenters gave at once.
    loop.soon {}
  }

  private func carryOut(_ command: Command) {
    switch command {
    case .present(let handle):
      guard let presentation = service.machine.presentation(handle) else { return }
      // The request may be older than the setting: it waited, its group remembered it, or it was recorded.
      if presentation.item.destination?.source == .request, let refusal = authorization.inlineCommands.refusal {
        // `ended` also completes an earlier dismissal.
        return service.report(.ended(handle, failed: true, result: ["error": .string(refusal.message)]))
      }
      presenters.presenter(for: presentation)?.present(
        presentation, service.machine.itemEntry(of: presentation).properties)
      announcePlatform(of: handle)
    case .update(let handle, let author):
      guard let presentation = service.machine.presentation(handle) else { return }
      presenters[handle]?.update(presentation, service.machine.itemEntry(of: presentation).properties, author: author)
    case .dismiss(let handle, let reason, let animated, let isForced):
      presenters[handle]?.dismiss(handle, reason, animated: animated, isForced: isForced)
    case .kill(let handle):
      presenters[handle]?.kill(handle)
    case .raise(let handle):
      presenters[handle]?.raise(handle)
    case .bring(let handle, let output):
      presenters[handle]?.bring(handle, to: output)
    case .move(let handle):
      guard let presentation = service.machine.presentation(handle) else { return }
      presenters[handle]?.move(presentation)
    // `carryOut(_:)` of the host has carried this out at once.
    case .abandon: break
    case .endParked(let program, let isForced):
      presenters.endParked(program, isForced: isForced)
    }
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
