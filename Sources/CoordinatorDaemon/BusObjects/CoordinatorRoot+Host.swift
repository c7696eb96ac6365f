import CoordinatorAPI
import CoordinatorCore
import DBus
import DBusValues
import EventLoops
import Logging
import PresentationModel
import PresentationRules
import TextFormats

extension CoordinatorRoot: CoordinatorHost {
  var now: Instant { Instant(nanoseconds: UInt64(clamping: loop.now.nanoseconds)) }

  var wallClock: UInt64 { WallClock.microseconds }

  var limits: [String: UInt64] {
    ["request": UInt64(connection.limits.requestBytes)]
  }

  var diagnosis: Diagnosis {
    /// The limit of each list, because a client reads them all in one message.
    let most = 100
    var diagnosis = ownFacts
    diagnosis.commands = presenters.commands.launchers.summary
    let names = service.machine.environment.keys.sorted()
    if !names.isEmpty { diagnosis.environment = names }
    diagnosis.recordError = record.error
    diagnosis.left = presenters.windows.left.prefix(most).map(\.description)
    var fallbacks: Properties = [:]
    for (group, entry) in fallbackClock.entries { fallbacks[group.text] = entry.properties.value }
    if !fallbacks.isEmpty { diagnosis.fallbacks = fallbacks }
    diagnosis.directories = configuration.files.directories.map(displayed)
    diagnosis.mistakes = configuration.faults.prefix(most).map(\.description)
    let unfit = windows.faults(of: service.machine.destinations)
    diagnosis.warnings = (configuration.warnings(most: most) + unfit).prefix(most).map(\.description)
    return diagnosis
  }

  func requireRecord() throws(Refusal) { try record.requireComplete() }

  func authorize<Output>(
    _ requests: [Request], isTransaction: Bool, _ call: some ServiceCall<Output>,
    _ body: @escaping (Trust, [Request]) throws(Refusal) -> Output?
  ) throws(Refusal) {
    let privilege = try authorization.privilege(for: requests, inTransaction: isTransaction)
    let unknown = windows.systemToBeKnown(for: requests, hides: hidesWindows) { [self] in
      service.machine.mayFollowWindows($0.operation)
    }
    guard let unknown else {
      try windows.check(requests, inTransaction: isTransaction)
      return authorization.authorize(privilege, call) { [self] trust throws(Refusal) in
        try body(trust, windows.placing(requests, inTransaction: isTransaction))
      }
    }
    suspend(call.client)
    unknown.whenKnown { [self] in
      do throws(Refusal) {
        try authorize(requests, isTransaction: isTransaction, call, body)
      } catch {
        call.fail(error)
      }
      resume(call.client)
    }
  }

  /// Whether any destination hides its windows.
  private var hidesWindows: Bool { service.machine.destinations.contains { $0.window?.hides == true } }

  func authorize<Output>(
    _ privilege: ServicePrivilege, _ call: some ServiceCall<Output>, _ body: @escaping () throws(Refusal) -> Output?
  ) {
    authorization.authorize(Authorization.Privilege(privilege), call) { _ throws(Refusal) in try body() }
  }

  func reload() throws(Refusal) {
    loadConfiguration()
    guard configuration.faults.isEmpty else {
      throw Refusal(.invalidConfiguration, configuration.faults.map(\.description).joined(separator: "\n"))
    }
  }

  func takeInChanges() {
    facts.tell()
    configuration.noticeChanges()
  }

  func willQuit() {
    log.notice("quitting: every presentation ends")
    turns.quit()
  }

  func follow(_ client: Client) { clientDepartures.follow(client) }

  /// Sends the query before the client gets its answer and leaves the bus.
  func identify(_ client: Client) {
    let identify = { [self] (process: UInt32?) in
      service.identify(Requester(client, process: process, program: process.flatMap(ProcessName.of)))
    }
    if let process = authorization.process(of: client) { return identify(process) }
    guard let name = BusName(client.name) else { return identify(nil) }
    connection.credentials(of: name) { identify(try? $0.get().processID) }
  }

  func isPresenter(_ client: Client, of handle: Handle) -> Bool {
    presenters.isPresenter(client, of: handle)
  }

  func platform(of handle: Handle) -> Properties { presenters[handle]?.platform(of: handle) ?? [:] }

  func carryOut(_ commands: [PresenterCommand]) {
    for command in commands {
      // An abandoned presentation has ended, and its presenter is forgotten at the end of this turn.
      if case .abandon(let handle) = command {
        presenters[handle]?.abandon(handle)
      } else {
        turns.append(command)
      }
    }
  }

  func announceCreation(of handle: Handle) { tell(.created(handle)) }

  func announce(_ event: StateEvent, _ change: Change) {
    tell(.event(event, change))
    turns.note(change.event)
  }

  func note(_ refused: RefusedFallback) {
    log.warning(
      "the fallback cannot be presented, and is tried again: \(refused.refusal.message)",
      metadata: ["group": "\(refused.group)", "fallback": "\(refused.destination)"])
  }

  func announceDestinations() { tell(.destinationsChanged) }

  func setAlarm(at time: Instant) { turns.setAlarm(at: time) }

  /// Lets the later calls of a client wait until `resume`.
  private func suspend(_ client: Client) { BusName(client.name).map(connection.suspend) }

  private func resume(_ client: Client) { BusName(client.name).map(connection.resume) }
}
