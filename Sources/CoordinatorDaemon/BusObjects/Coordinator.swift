// Why this file exists: the rules decide, this carries out. It hands what comes in to the state machine, and what comes
// of it to watchers, to those who wait, and to presenters.

import CoordinatorAPI
import CoordinatorCore
import DBus
import DBusValues
import EventLoops
import Glibc
import Logging
import PresentationRecord
import PresentationRules
import TextFormats

/// The daemon's body: one state machine and what is around it, on one thread.
final class Coordinator {
  let loop: EventLoop
  let connection: Connection
  let log: Logger
  /// The state. It is read where it is: behind an accessor, all of it would be copied each time.
  private(set) var machine: StateMachine
  private let record: Record
  private var configuration: Configuration

  let authorization: Authorization
  private var presenters: PresenterTable!
  private var waiters = Waiters()
  private var clientWatcher: ClientWatcher!
  private var announcer: Announcer!

  /// What presenters are to be asked, once what was decided is told.
  private var commands: [Command] = []
  /// What ended; presenters keep nothing for it once they have done what they were asked.
  private var gone: [Handle] = []
  private var alarm: (timer: Timer, at: Instant)?
  private var isQuitting = false
  /// Called once, when everything is gone after `Quit`.
  var onQuit: (() -> Void)?

  /// - Parameters:
  ///   - connection: on which the coordinator is to be found; its name is asked for when it is ready.
  ///   - machine: what was on record, with the recovered; none of it is looked after before `resume`.
  init(
    loop: EventLoop, connection: Connection, configuration: Configuration, runtime: RuntimeDirectory, record: Record,
    machine restored: StateMachine, recovered: RecoveredSession, log: Logger
  ) {
    self.loop = loop
    self.connection = connection
    self.configuration = configuration
    self.log = log
    self.record = record
    machine = restored
    authorization = Authorization(connection)
    announcer = Announcer(coordinator: self)
    let manager = SystemdManager(connection)
    let commands = CommandPresenter(
      loop: loop, manager: manager, runtime: runtime, token: recovered.token, outputLimit: restored.limits.output,
      log: log, remember: { record.note(memory: $1, of: $0) }, report: { [unowned self] in report($0) })
    manager.onPresenceChanged = { commands.managerChanged() }
    presenters = PresenterTable(
      commands: commands, units: UnitPresenter(manager, log: log) { [unowned self] in report($0) },
      bus: BusPresenter(connection, limits: restored.limits) { [unowned self] in report($0) })
    clientWatcher = ClientWatcher(connection) { [unowned self] client in
      if let name = BusName(client.name) { waiters.forget(name) }
      clientLeft(client)
    }
    connection.beforeFlush = { [unowned self] in putOnRecord() }
    loop.atEndOfTurn { [unowned self] in carryOut() }
    connection.export(
      CoordinatorNames.object, [coordinatorInterface()], isObjectManager: true)
    connection.exportSubtree(CoordinatorNames.presentations, PresentationObjects(self))
  }

  // What is asked for at each request is asked here, in place: who asks for it elsewhere copies the state for it.

  /// The serial of the last difference.
  var serial: UInt64 { machine.serial.number }

  func presentation(_ handle: Handle) -> Presentation? { machine.presentation(handle) }

  /// The binding that a presentation is presented from.
  func parent(of handle: Handle) -> BindingID? { machine.parent(of: handle)?.binding }

  var now: Instant { Instant(nanoseconds: UInt64(clamping: loop.now.nanoseconds)) }

  /// The time for what is about to change; both clocks of it, since between turns the machine may have slept.
  private func tick() -> Instant {
    let now = now
    machine.wallClockLead = Int64(clamping: StartupContext.wallClock) * 1000 - Int64(clamping: now.nanoseconds)
    return now
  }

  // MARK: What comes in

  /// Carries requests out, all or none (T1).
  func perform(_ requests: [Request], animated: Bool = true, by client: Client) throws(Refusal) -> [Reply] {
    try requireRecord()
    let (replies, outcome) = try machine.perform(requests, animated: animated, by: client, at: tick())
    take(outcome)
    return replies
  }

  func perform(_ request: Request, by client: Client) throws(Refusal) -> Reply {
    try requireRecord()
    let (reply, outcome) = try machine.perform(request, by: client, at: tick())
    take(outcome)
    return reply
  }

  /// What a client owned ends, not more of it in a turn than others can wait for.
  private func clientLeft(_ client: Client) {
    take(machine.clientLeft(client, at: tick(), most: 500))
    if machine.ownsItem(client) { loop.soon { [unowned self] in clientLeft(client) } }
  }

  /// A presenter has something to say.
  func report(_ report: Report) { take(machine.report(report, at: tick())) }

  func closed(_ handle: Handle, result: Properties, by client: Client) throws(Refusal) -> Bool {
    let (changed, outcome) = try machine.closed(
      handle, result: result, by: client, byPresenter: presenters[handle]?.shows(handle, as: client) ?? false,
      at: tick())
    take(outcome)
    return changed
  }

  func act(_ handle: Handle, action: String, parameters: Properties, by client: Client) throws(Refusal) {
    take(
      try machine.act(
        handle, action: action, parameters: parameters,
        byPresenter: presenters[handle]?.shows(handle, as: client) ?? false))
  }

  func declareContainerValue(_ key: String, defaultValue: Value) throws(Refusal) {
    try requireRecord()
    try machine.declareContainerValue(key, defaultValue: defaultValue)
  }

  func register(_ destination: Destination, by client: Client) throws(Refusal) {
    try requireRecord()
    take(try machine.register(destination, by: client))
    clientWatcher.follow(client)
  }

  func unregister(_ name: String, by client: Client) throws(Refusal) {
    take(try machine.unregister(name, by: client))
  }

  /// Reads all files; of what has a mistake the former reading stays.
  /// - Throws: `Refusal` with the code `invalidConfiguration`, naming every file and line.
  func reload() throws(Refusal) {
    let faults = loadConfiguration()
    guard faults.isEmpty else {
      throw Refusal(.invalidConfiguration, faults.map(\.description).joined(separator: "\n"))
    }
  }

  /// - Parameter isStart: whether nobody has been served yet, so that what is on record is from before.
  @discardableResult
  func loadConfiguration(isStart: Bool = false) -> [FileFault] {
    let loaded = configuration.reload()
    let faults = loaded.faults + declare(loaded.containerValues, isStart: isStart)
    for fault in faults { log.error("\(fault)") }
    take(machine.load(loaded.destinations))
    authorization.inlineCommands = loaded.inlineCommands
    log.info("destinations loaded", metadata: ["count": "\(loaded.destinations.count)", "faults": "\(faults.count)"])
    return faults
  }

  /// Declares what a file declares: all of it, or none where one of it contradicts what has been declared (V1). At the
  /// start the file comes first, as it does where there is no record.
  private func declare(_ values: [DeclaredContainerValue], isStart: Bool) -> [FileFault] {
    var declaring = machine
    let faults = values.compactMap { value -> FileFault? in
      do throws(Refusal) {
        if isStart {
          try declaring.redeclareContainerValue(value.key, defaultValue: value.defaultValue)
        } else {
          try declaring.declareContainerValue(value.key, defaultValue: value.defaultValue)
        }
        return nil
      } catch {
        let known =
          isStart
          ? nil
          : machine.containerValueDefaults[value.key].map {
            "“\(value.key)” is declared with the type “\($0.type.signature)” and the default \(JSON($0).text), and stays so "
              + "as long as navd runs; the same, or another key, would do"
          }
        return FileFault(value.file, value.position, known ?? error.message)
      }
    }
    if faults.isEmpty { machine = declaring }
    return faults
  }

  /// Answers when a presentation has come as far as asked for, or has ended before.
  func wait(_ path: ObjectPath, for word: String, _ call: Waiters.WaitCall) {
    do throws(Refusal) {
      switch try machine.wait(for: path, until: word) {
      case .now(let reason, let result): call.reply((reason, result))
      case .later(let handle, let phase): try wait(until: phase, of: handle, call)
      }
    } catch {
      call.fail(DBusError(error))
    }
  }

  private func wait(until phase: WaitPhase, of handle: Handle, _ call: Waiters.WaitCall) throws(Refusal) {
    // Of one who wants no answer nothing is kept.
    guard call.isReplyExpected else { return call.reply(("", [:])) }
    try machine.limits.checkWaits(waiters.count(of: call.sender) + 1)
    waiters.add(call, for: handle, until: phase)
    clientWatcher.follow(Client(call.sender.text))
  }

  /// How things are, in a few words.
  var summary: String { "\(machine.count) presented or waiting, serial \(machine.serial)" }

  /// What is known of a presentation beside what the rules know: its process, its unit.
  func platform(of handle: Handle) -> Properties { presenters[handle]?.platform(of: handle) ?? [:] }

  // MARK: The record

  /// Goes on where the navd before stopped (R2). Nobody is served until it is known what has become of what that one showed.
  /// - Parameter completion: called once.
  func resume(_ recovered: RecoveredSession, _ completion: @escaping () -> Void) {
    connection.isServing = false
    presenters.adopt(machine.survivors, from: recovered) { [unowned self] survivals in
      let clients = machine.knownClients
      let left = recovered.left(of: clients)
      record.note(recovered.session)
      let before = machine.count
      take(machine.resume(survivals, left: left, at: tick()))
      for client in clients.subtracting(left) { clientWatcher.follow(client) }
      if before > 0 {
        log.notice(
          "goes on where the last navd stopped",
          metadata: ["presentations": "\(machine.count)", "gone meanwhile": "\(before - machine.count)"])
      }
      connection.isServing = true
      completion()
    }
  }

  /// At the end of a turn, before what it made goes out: what is told to anybody is on record before (R1).
  private func putOnRecord() {
    let changes = machine.takeUnrecorded()
    record.note(changes)
    let wasBehind = record.isBehind
    do throws(Record.Failure) {
      try commitRecord()
    } catch {
      if !wasBehind {
        log.critical(
          """
          \(error); what is presented goes on, but what changes from now on would be forgotten if navd were killed, and \
          requests are refused
          """)
      }
      guard !changes.isEmpty else { return }
      connection.failReplies(
        with: DBusError(
          Refusal(
            .notRecorded,
            "this was done, but it would be forgotten if navd were killed, for it could not be put on record: \(error)")
        ))
    }
  }

  private func commitRecord() throws(Record.Failure) {
    let wasBehind = record.isBehind
    try record.commit()
    if wasBehind { log.notice("the record can be written again, and is complete") }
  }

  /// Refuses what could not be put on record. What it is behind with is tried once more first.
  private func requireRecord() throws(Refusal) {
    guard record.isBehind else { return }
    do throws(Record.Failure) {
      try commitRecord()
    } catch {
      throw Refusal(.notRecorded, "nothing was done, for it could not be put on record: \(error)")
    }
  }

  // MARK: Ends

  /// Ends everything, then calls `onQuit` (R5).
  func quit(by client: Client) {
    log.notice("told to quit: everything that is presented ends")
    isQuitting = true
    take(machine.shutDown(by: client, at: tick()))
  }

  /// Leaves everything as it is; nobody is left waiting (R5).
  func leave() {
    waiters.refuseAll()
  }

  // MARK: What comes of it

  private func take(_ outcome: Outcome) {
    for handle in outcome.created { connection.objectAdded(handle.path) }
    for change in outcome.changes {
      announcer.announce(change)
      note(change)
    }
    if outcome.destinationsChanged { announcer.destinationsChanged() }
    commands += outcome.commands
    for client in outcome.owners { clientWatcher.follow(client) }
    for client in outcome.requesters { identify(client) }
    setAlarm()
  }

  /// Finds out who made something end, for the history. Asked now, before the client has its answer, and leaves.
  private func identify(_ client: Client) {
    guard let name = BusName(client.name) else { return machine.identify(Requester(client)) }
    connection.credentials(of: name) { [unowned self] result in
      let process = try? result.get().processID
      machine.identify(Requester(client, process: process, program: process.flatMap(ProcessName.of)))
    }
  }

  private func note(_ change: Change) {
    switch change.event {
    case .presented(let handle, let binding, _, _):
      waiters.arrived(handle)
      log.debug("presented", metadata: ["binding": "\(binding)", "presentation": "\(handle)"])
    case .dismissed(let handle, let binding, _, let reason, let result):
      waiters.ended(handle, reason, result)
      gone.append(handle)
      // Made only for who reads it.
      func metadata() -> Logger.Metadata {
        ["binding": "\(binding)", "presentation": "\(handle)", "reason": "\(reason.rawValue)"]
      }
      if reason == .failed, case .string(let error)? = result["error"] {
        log.warning("\(error)", metadata: metadata())
      } else {
        log.debug("dismissed", metadata: metadata())
      }
    default: break
    }
  }

  /// At the end of a turn, when all has been told: presenters are asked (R6: the intention is known before the act).
  private func carryOut() {
    // The bus is gone, and nothing goes out any more.
    if !connection.isOpen { putOnRecord() }
    // What ends while this is carried out is put on record, and told, in another turn.
    for handle in gone { presenters.forget(handle) }
    gone.removeAll(keepingCapacity: true)
    guard !commands.isEmpty else {
      if isQuitting, machine.isEmpty {
        isQuitting = false
        onQuit?()
      }
      return
    }
    let ready = commands
    commands = []
    for command in ready { carryOut(command) }
    // What they answered at once is told in another turn.
    loop.soon {}
  }

  private func carryOut(_ command: Command) {
    switch command {
    case .present(let handle):
      guard let presentation = machine.presentation(handle) else { return }
      // It may be from when there were such commands: it waited, its tag was remembered, it was on record.
      if presentation.item.destination?.source == .request, let refusal = authorization.inlineCommands.refusal {
        return report(.presentAnswered(handle, error: refusal.message))
      }
      presenters.presenter(for: presentation)?.present(presentation, machine.properties(of: presentation))
    case .update(let handle, let author):
      guard let presentation = machine.presentation(handle) else { return }
      presenters[handle]?.update(presentation, machine.properties(of: presentation), author: author)
    case .dismiss(let handle, let reason, let animated):
      presenters[handle]?.dismiss(handle, reason, animated: animated)
    case .kill(let handle):
      presenters[handle]?.kill(handle)
    case .abandon(let handle):
      presenters[handle]?.abandon(handle)
    }
  }

  private func setAlarm() {
    guard let next = machine.nextDeadline else { return }
    if let alarm, alarm.timer.isPending, alarm.at <= next { return }
    alarm?.timer.cancel()
    let at = MonotonicInstant(nanoseconds: Int64(clamping: next.nanoseconds))
    // What is due after that is seen to by `take`.
    let timer = loop.timer(at: at) { [unowned self] in take(machine.expire(at: tick())) }
    alarm = (timer, next)
  }
}
