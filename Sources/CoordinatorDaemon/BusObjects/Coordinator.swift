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
import TextFormats

/// The session's coordinator: hosts the service on the bus, with the presenters and the record. Use it on the loop's thread only.
final class Coordinator {
  let loop: EventLoop
  let connection: Connection
  let log: Logger
  private(set) var service: CoordinatorService<Coordinator>!
  private let record: RecordWriter
  /// What does not change while navd runs.
  private let ownFacts: Diagnosis
  private let configuration: LoadedConfiguration

  let authorization: Authorization
  private var presenters: PresenterTable!
  private let windowSystem: WindowSystem
  private let facts: SessionFacts
  private let inhibitors: Inhibitors
  private var hooks: HookRunner!
  private var clientWatcher: ClientWatcher!
  private var announcer: Announcer!
  private let entries = EncodedEntries()
  private let freeMemory: FreeMemory

  /// Commands for presenters, carried out at the end of the turn, after the announcements.
  private var commands: ArraySlice<Command> = []
  /// How many commands a turn carries out: starting a program takes milliseconds.
  private static let commandsPerTurn = 16
  /// How many of `commands`, at their beginning, were left over by an earlier turn.
  private var countOfLate = 0
  /// Ended presentations, removed from the presenters at the end of the turn.
  private var ended: [Handle] = []
  private var alarm: Timer?
  private var isQuitting = false
  /// Events that came while navd searched for the presentations of the previous one. They are taken in when these are
  /// resumed (R2); nil from then on.
  private var early: [() -> Void]? = []
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
    inhibitors = Inhibitors(facts, log: log)
    let windows = WindowPresenter(
      loop: loop, windowSystem, maxParked: limits.parked, log: log, remember: { record.note(memory: $1, of: $0) },
      report: { [unowned self] in take($0) })
    let report: (Report) -> Void = { [unowned self] in if !windows.take($0) { take($0) } }
    let commands = CommandPresenter(
      loop: loop, manager: manager, runtime: runtime, token: recovered.token, outputLimit: limits.output,
      log: log, remember: { if !windows.note($1, of: $0) { record.note(memory: $1, of: $0) } }, report: report)
    hooks = HookRunner(
      loop: loop, runtime: runtime, token: recovered.token, maxCount: limits.hooks, log: log,
      launcher: { commands.launcher })
    manager.onPresenceChanged = { commands.managerChanged() }
    presenters = PresenterTable(
      commands: commands, units: UnitPresenter(manager, log: log, report: report),
      bus: BusPresenter(connection, limits: limits, log: log) { [unowned self] in take($0) }, windows: windows
    )
    clientWatcher = ClientWatcher(connection) { [unowned self] in service.clientLeft($0) }
    service = CoordinatorService(machine, host: self)
    facts.onChange = { [unowned self] fact, isTrue in
      afterResuming { [unowned self] in service.set(fact, isTrue) }
    }
    self.configuration.onChange = { [unowned self] in loadConfiguration() }
    facts.onLogind = { [unowned self] in inhibitors.takeAll() }
    windows.onOtherFullscreen = { [unowned self] in facts.windows(areFullscreen: $0) }
    connection.onSignalsMissed = { [unowned self] in announcer.repeatLast(to: $0) }
    // Starts the next program before the end of the last one is announced, since the user waits for the new program. And who asks
    // for what has failed learns of that program, too.
    connection.hasMoreToCome = { [unowned self] in !self.commands.isEmpty }
    loop.atEndOfTurn { [unowned self] in finishTurn() }
    connection.export(CoordinatorNames.object, [coordinatorInterface()], isObjectManager: true)
    connection.exportSubtree(CoordinatorNames.presentations, PresentationObjects(service))
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

  /// Without the service, which makes an answer of values first.
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

  // MARK: Configuration

  /// Reads the files. For a file with an error, the version loaded before stays in effect.
  /// - Parameter isStart: whether no client has been served yet. Then recorded declarations are from an earlier navd.
  func loadConfiguration(isStart: Bool = false) {
    guard isStart || early == nil else { return afterResuming { [unowned self] in loadConfiguration() } }
    let loaded = configuration.reload { declare($0, isStart: isStart) }
    service.load(
      loaded.destinations, mistakes: configuration.files.mistakes.mapValues { "\($0)" }, holds: loaded.holds)
    followWindows(for: loaded.destinations, loaded.holds)
    if !isStart {
      service.presentLateItems()
      loadFallbacks()
    }
    authorization.inlineCommands = loaded.inlineCommands
  }

  /// Follows windows if a hold for fullscreen windows does something (H2).
  private func followWindows(for destinations: [Destination], _ holds: [String: HoldAction]) {
    let all = [holds] + destinations.compactMap { $0.itemSettings?.holds }
    guard !windowSystem.isNeededForFullscreen, all.contains(where: { $0[SessionFact.fullscreen.rawValue] != nil })
    else { return }
    windowSystem.isNeededForFullscreen = true
    facts.expectWindows()
    windowSystem.whenKnown { [unowned self] in
      if !windowSystem.isPresent {
        log.notice(
          "no adapter for the window system is on the bus, so it cannot say whether a window is fullscreen; start navd-windows"
        )
      }
      facts.windowsAreKnown()
    }
  }

  private func loadFallbacks() {
    service.load(fallbacks: configuration.files.fallbacks)
    service.expire()
  }

  /// Carries out the transaction of the start (K4). One that is refused changes nothing.
  /// - Parameter completion: called once.
  private func carryOut(_ startup: StartupFile, _ completion: @escaping () -> Void) {
    func carryOut() {
      do throws(Refusal) {
        let requests = try startup.requests(service.machine.containerValueDefaults)
        guard !windowSystem.mustBeKnown(for: requests) else { return windowSystem.whenKnown(carryOut) }
        try authorization.inlineCommands.check(requests, inTransaction: true)
        try windowSystem.check(requests, inTransaction: true)
        try service.perform(windowSystem.placing(requests, inTransaction: true), by: nil)
        log.notice("startup carried out", metadata: ["requests": "\(requests.count)"])
      } catch {
        configuration.note(startup.fault(error))
        log.error("startup is not carried out: \(startup.fault(error))")
      }
      completion()
    }
    carryOut()
  }

  /// Presents again what was kept of an earlier session (K4). An item that is refused is not kept any longer.
  /// - Parameter completion: called once.
  private func present(
    again kept: ArraySlice<(binding: BindingID, item: KeptItem)>, _ completion: @escaping () -> Void
  ) {
    for (index, (binding, item)) in zip(kept.indices, kept) {
      guard let request = service.machine.request(presentingAgain: item, at: binding) else { continue }
      guard !windowSystem.mustBeKnown(for: [request]) else {
        return windowSystem.whenKnown { [unowned self] in present(again: kept[index...], completion) }
      }
      do throws(Refusal) {
        try windowSystem.check([request], inTransaction: false)
        try service.perform(windowSystem.placing([request], inTransaction: false), by: nil, isRestoring: true)
      } catch {
        log.warning(
          "an item of the last session is not presented again: \(error.message)", metadata: ["binding": "\(binding)"])
      }
    }
    service.forgetOtherKeptItems()
    completion()
  }

  /// Declares the container values of a file: all, or none if one contradicts an earlier declaration (V1). At the start the file's
  /// declarations replace the recorded ones.
  private func declare(_ values: [DeclaredContainerValue], isStart: Bool) -> [FileFault] {
    let refusals = service.declareContainerValues(
      values.map { (key: $0.key, defaultValue: $0.defaultValue) }, overridingRecord: isStart)
    return refusals.sorted { $0.key < $1.key }.map { index, refusal in
      let value = values[index]
      let known =
        isStart
        ? nil
        : service.machine.containerValueDefaults[value.key].map {
          "“\(value.key)” is declared with the type “\($0.type.signature)” and the default \(JSON($0).text) as long as "
            + "navd runs; use the same, or another key"
        }
      return FileFault(value.file, value.position, known ?? refusal.message)
    }
  }

  // MARK: The record

  /// Asks what the session is like. The bus works on it while navd reads its files.
  func askSession() {
    facts.begin()
    connection.flush()
  }

  /// Resumes the recorded state (R2). Clients are served after the presenters have searched for their presentations.
  /// - Parameter completion: called once.
  func resume(_ recovered: RecoveredSession, _ completion: @escaping () -> Void) {
    // What ended with another session has ended long ago.
    if !recovered.isOfOtherSession { service.machine.forEachPresentation(hooks.follow) }
    facts.whenKnown { [unowned self] known in resume(recovered, known, completion) }
  }

  /// Takes in what a presenter reports.
  private func take(_ report: Report) { afterResuming { [unowned self] in service.report(report) } }

  private func afterResuming(_ event: @escaping () -> Void) {
    if early == nil { event() } else { early?.append(event) }
  }

  private func resume(
    _ recovered: RecoveredSession, _ known: [SessionFact: Bool], _ completion: @escaping () -> Void
  ) {
    // Until now the record is the previous navd's: changes of this one, with its clock, belong to its session.
    connection.beforeFlush = { [unowned self] in recordChanges() }
    // The presentations of another session end, and its fallbacks with them.
    let isFresh = service.machine.isEmpty || recovered.isOfOtherSession
    presenters.adopt(service.machine.survivors, parked: service.machine.parked, from: recovered) {
      [unowned self] survivals in
      if !isFresh { service.load(fallbacks: configuration.files.fallbacks) }
      let clients = service.machine.knownClients
      let left = recovered.left(of: clients)
      record.note(recovered.session)
      // What ends now is among it.
      let kept = recovered.isFirst ? service.machine.keptItems : []
      let before = service.machine.count
      let early = self.early ?? []
      self.early = nil
      service.resume(survivals, left: left, isOtherSession: recovered.isOfOtherSession, facts: known)
      inhibitors.follow(service.machine)
      for client in clients.subtracting(left) { clientWatcher.follow(client) }
      if before > 0 {
        log.notice(
          "resumed the state of the previous navd",
          metadata: [
            "presentations": "\(service.machine.count)", "ended meanwhile": "\(before - service.machine.count)",
          ])
      }
      for event in early { event() }
      connection.refusal = nil
      service.presentLateItems()
      if !kept.isEmpty { log.notice("presenting what was kept for this login", metadata: ["count": "\(kept.count)"]) }
      present(again: kept[...]) { [unowned self] in
        guard isFresh else { return completion() }
        // The fallbacks come after it, so that none is started for a moment (K1).
        func finish() {
          loadFallbacks()
          completion()
        }
        if let startup = configuration.files.startup { carryOut(startup, finish) } else { finish() }
      }
    }
  }

  /// Records the changes of a turn before its messages are sent, so that a client only hears of recorded changes (R1).
  private func recordChanges() {
    let changes = service.takeUnrecorded()
    if !changes.isEmpty {
      freeMemory.noteChange()
      entries.forget(changes.presentations.lazy.map { $0.key })
    }
    do throws(Refusal) { try record.write(changes) } catch { connection.failReplies(with: DBusError(error)) }
  }

  // MARK: Turns

  /// Ends a turn after its announcements: removes ended presentations, and carries out commands.
  private func finishTurn() {
    configuration.endTurn()
    freeMemory.endTurn()
    // Nobody else calls it when the bus is not connected.
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
    // Announces the answers that presenters gave at once, in another turn.
    loop.soon {}
  }

  private func carryOut(_ command: Command) {
    switch command {
    case .present(let handle):
      guard let presentation = service.machine.presentation(handle) else { return }
      // The request may be older than the setting: it waited, its group remembered it, or it was recorded.
      if presentation.item.destination?.source == .request, let refusal = authorization.inlineCommands.refusal {
        // It also completes a dismissal that came before.
        return service.report(.ended(handle, failed: true, result: ["error": .string(refusal.message)]))
      }
      presenters.presenter(for: presentation)?.present(
        presentation, service.machine.itemEntry(of: presentation).properties)
    case .update(let handle, let author):
      guard let presentation = service.machine.presentation(handle) else { return }
      presenters[handle]?.update(presentation, service.machine.itemEntry(of: presentation).properties, author: author)
    case .dismiss(let handle, let reason, let animated, let isForced):
      presenters[handle]?.dismiss(handle, reason, animated: animated, isForced: isForced)
    case .kill(let handle):
      presenters[handle]?.kill(handle)
    case .raise(let handle):
      presenters[handle]?.raise(handle)
    case .move(let handle):
      guard let presentation = service.machine.presentation(handle) else { return }
      presenters[handle]?.move(presentation)
    // `carryOut(_:)` of the host does not let it wait.
    case .abandon: break
    case .endParked(let program, let isForced):
      presenters.endParked(program, isForced: isForced)
    }
  }
}

// MARK: The host of the service

extension Coordinator: CoordinatorHost {
  var now: Instant { Instant(nanoseconds: UInt64(clamping: loop.now.nanoseconds)) }

  var wallClock: UInt64 { WallClock.microseconds }

  var limits: [String: UInt64] {
    ["request": UInt64(connection.limits.requestBytes), "unread": UInt64(connection.limits.unreadBytes)]
  }

  var diagnosis: Diagnosis {
    /// A client reads them all in one message.
    let most = 100
    var diagnosis = ownFacts
    diagnosis.commands = presenters.commandSummary
    diagnosis.recordError = record.error
    diagnosis.directories = configuration.files.directories.map(displayed)
    diagnosis.mistakes = configuration.faults.prefix(most).map(\.description)
    let unfit = windowSystem.isPresent ? windowSystem.faults(of: service.machine.destinations) : []
    diagnosis.warnings = (configuration.warnings(most: most) + unfit).prefix(most).map(\.description)
    return diagnosis
  }

  func requireRecord() throws(Refusal) { try record.requireComplete() }

  func authorize<Output>(
    _ requests: [Request], isTransaction: Bool, _ call: some ServiceCall<Output>,
    _ body: @escaping (Trust, [Request]) throws(Refusal) -> Output?
  ) throws(Refusal) {
    let privilege = try authorization.privilege(for: requests, inTransaction: isTransaction)
    guard windowSystem.mustBeKnown(for: requests) else {
      try windowSystem.check(requests, inTransaction: isTransaction)
      return authorization.authorize(privilege, call) { [unowned self] trust throws(Refusal) in
        try body(trust, windowSystem.placing(requests, inTransaction: isTransaction))
      }
    }
    hold(call.client)
    windowSystem.whenKnown { [unowned self] in
      do throws(Refusal) {
        try authorize(requests, isTransaction: isTransaction, call, body)
      } catch {
        call.fail(error)
      }
      release(call.client)
    }
  }

  func authorizeHold<Output>(
    _ call: some ServiceCall<Output>, _ body: @escaping () throws(Refusal) -> Output?
  ) {
    authorization.authorize(.holding, call) { _ throws(Refusal) in try body() }
  }

  func authorizePresenter<Output>(
    _ call: some ServiceCall<Output>, _ body: @escaping () throws(Refusal) -> Output?
  ) {
    authorization.authorize(.registeringPresenters, call) { _ throws(Refusal) in try body() }
  }

  func reload() throws(Refusal) {
    loadConfiguration()
    guard configuration.faults.isEmpty else {
      throw Refusal(.invalidConfiguration, configuration.faults.map(\.description).joined(separator: "\n"))
    }
  }

  func readChangedFiles() -> Bool { configuration.noticeChanges() }

  func willQuit() {
    log.notice("quitting: every presentation ends")
    isQuitting = true
  }

  func follow(_ client: Client) { clientWatcher.follow(client) }

  /// Sends the query before the client gets its answer and leaves the bus.
  func identify(_ client: Client) {
    let identify = { [unowned self] (process: UInt32?) in
      service.identify(Requester(client, process: process, program: process.flatMap(ProcessName.of)))
    }
    if let process = authorization.process(of: client) { return identify(process) }
    guard let name = BusName(client.name) else { return identify(nil) }
    connection.credentials(of: name) { identify(try? $0.get().processID) }
  }

  func isPresenter(_ client: Client, of handle: Handle) -> Bool {
    presenters[handle]?.shows(handle, as: client) ?? false
  }

  func platform(of handle: Handle) -> Properties { presenters[handle]?.platform(of: handle) ?? [:] }

  func carryOut(_ commands: [Command]) {
    for command in commands {
      // A presentation that is given up has ended, so at the end of this turn its presenter is forgotten.
      if case .abandon(let handle) = command {
        presenters[handle]?.abandon(handle)
      } else {
        self.commands.append(command)
      }
    }
  }

  func announceCreation(of handle: Handle) { connection.objectAdded(handle.path) }

  func announce(_ event: StateEvent, _ change: Change) {
    announcer.announce(event)
    hooks.note(change.event)
    inhibitors.note(change.event, in: service.machine)
    switch change.event {
    case .presented(let handle, let binding, _, _):
      log.debug("presented", metadata: ["binding": "\(binding)", "presentation": "\(handle)"])
    case .dismissed(let handle, let binding, _, let reason, let result):
      ended.append(handle)
      // Computed only for log levels that are enabled.
      func metadata() -> Logger.Metadata {
        ["binding": "\(binding)", "presentation": "\(handle)", "reason": "\(reason.rawValue)"]
      }
      if let next = service.machine.current(at: binding)?.continuation, next.restarts > 0 {
        note(restart: next, after: result, metadata)
      } else if reason == .failed, let error = PresentationResult(result).error {
        log.warning("\(error)", metadata: metadata())
      } else {
        log.debug("dismissed", metadata: metadata())
      }
    default: break
    }
  }

  /// Logs that an item is presented again (K3): once, so that a program that never runs for long does not fill the log.
  private func note(restart: Continuation, after result: Properties, _ metadata: () -> Logger.Metadata) {
    let cause = PresentationResult(result).error ?? "the item ended by itself"
    if restart.restarts == 1 {
      log.notice("\(cause); it is presented again", metadata: metadata())
    } else {
      log.debug("\(cause); it is presented again, for the \(restart.restarts)th time", metadata: metadata())
    }
  }

  func note(_ refused: RefusedFallback) {
    log.warning(
      "the fallback cannot be presented, and is tried again: \(refused.refusal.message)",
      metadata: ["group": "\(refused.group)", "fallback": "\(refused.destination)"])
  }

  func announceDestinations() { announcer.emit(CoordinatorInterface.destinationsChanged, ()) }

  func setAlarm(at time: Instant) {
    alarm?.cancel()
    alarm = loop.timer(at: MonotonicInstant(nanoseconds: Int64(clamping: time.nanoseconds))) { [unowned self] in
      afterResuming { [unowned self] in expire() }
    }
  }

  private func expire() {
    // No presenter is late for what it was not asked yet.
    for command in commands {
      let due = service.machine.presentation(command.handle)?.answerDue
      if let due, due <= now { service.restartAnswer(of: command.handle) }
    }
    service.expire()
  }

  var isCongested: Bool { connection.outgoingSize > connection.limits.outgoingBytes / 2 }

  /// While the bus does not read, a turn without an event would come after the other without a pause.
  func soon(_ work: @escaping () -> Void) {
    if isCongested { loop.timer(after: .milliseconds(10), work) } else { loop.soon(work) }
  }

  func hold(_ client: Client) {
    guard let name = BusName(client.name) else { return }
    connection.hold(name, refusing: connection.limits.requestTooLarge)
  }

  func release(_ client: Client) { BusName(client.name).map(connection.release) }
}

extension Diagnosis {
  fileprivate init(of runtime: RuntimeDirectory, _ recovered: RecoveredSession) {
    self.init([:])
    self.pid = UInt64(getpid())
    self.since = WallClock.microseconds / 1000
    // Whose child navd becomes when that has ended says nothing.
    self.startedBy = getppid() > 0 ? ProcessName.of(UInt32(getppid())) : nil
    self.record = runtime.name
    self.setAside = recovered.setAside.map { "\($0.path): \($0.reason)" }
  }
}
