import CoordinatorAPI
import DBusValues
import PresentationModel
import PresentationRules
import TextFormats

/// Serves every method of the contract with a state machine. Use it on one thread only.
package final class CoordinatorService<Host: CoordinatorHost> {
  package internal(set) var machine: StateMachine
  unowned let host: Host
  private var waiters = Waiters()
  /// Why presenters keep presentations that clients wanted to dismiss, until the next dismissal (P15).
  private var declines: [Handle: String] = [:]
  private var alarm: Instant?
  package init(_ machine: consuming StateMachine, host: Host) {
    self.machine = machine
    self.host = host
  }

  /// The serial of the last difference.
  package var serial: UInt64 { machine.serial.number }

  /// The time of an input. Both clocks are read each time, since the computer may have been suspended in between.
  func tick() -> Instant {
    let now = host.now
    machine.wallClockLead = now.lead(ofWallClock: host.wallClock)
    return now
  }

  // MARK: Requests

  /// Carries out one request.
  /// - Returns: the answer.
  /// - Throws: `Refusal`, with nothing changed.
  package func perform<Output>(
    _ request: Request, by client: Client, trust: Trust, _ answer: (Reply) -> Output
  ) throws(Refusal) -> Output {
    try host.requireRecord()
    let (reply, outcome) = try machine.perform(request, by: client, trust: trust, at: tick())
    take(outcome)
    return answer(reply)
  }

  /// Dismisses a presentation if its slot still holds it (P5, P10).
  package func dismiss(_ path: ObjectPath, _ options: Properties, _ call: some ServiceCall<(Bool, UInt64)>) {
    authorize(call) { [unowned self] trust throws(Refusal) in
      guard let presentation = machine.presentation(try Handle(path)) else { return (false, serial) }
      let request = try CoordinatorInterface.dismiss.read((presentation.binding.text, options))
      let handle = presentation.handle
      guard machine.current(at: presentation.binding)?.handle == handle else {
        if request.isForced {
          take(
            machine.end([PlannedEnd(handle: handle, reason: .dismissed, isForced: true)], by: call.client, at: tick()))
        }
        return (false, serial)
      }
      return try perform(request, by: call.client, trust: trust) { ($0 == .changed(true), serial) }
    }
  }

  /// Carries out a transaction.
  /// - Parameters:
  ///   - client: the client that sent the requests; nil for the host itself.
  ///   - isRestoring: whether the requests present items of an earlier session again (K4).
  /// - Throws: `Refusal`, with nothing changed.
  @discardableResult
  package func perform(
    _ requests: [Request], animated: Bool = true, by client: Client?, trust: Trust = .trusted, isRestoring: Bool = false
  ) throws(Refusal) -> [Reply] {
    try host.requireRecord()
    let (replies, outcome) = try machine.perform(
      requests, animated: animated, by: client, trust: trust, isRestoring: isRestoring, at: tick())
    take(outcome)
    return replies
  }

  func perform<Input, Output>(
    _ method: ChangingMethod<Input, Output>, _ input: Input, _ call: some ServiceCall<Output>
  ) {
    do throws(Refusal) {
      let request = try method.read(input)
      host.takeInChanges()
      try host.authorize([request], isTransaction: false, call) { [unowned self] trust, requests throws(Refusal) in
        try perform(requests[0], by: call.client, trust: trust) { method.answer($0, serial) }
      }
    } catch {
      call.fail(error)
    }
  }

  /// Answers a call with the value of `body`, which may carry out requests without options for running programs.
  package func authorize<Output>(
    _ call: some ServiceCall<Output>, _ body: @escaping (Trust) throws(Refusal) -> Output?
  ) {
    do throws(Refusal) {
      try host.authorize([], isTransaction: false, call) { trust, _ throws(Refusal) in try body(trust) }
    } catch {
      call.fail(error)
    }
  }

  func apply(
    _ requests: [TransactionRequest], _ options: Properties, _ call: some ServiceCall<([[Value]], UInt64)>
  ) {
    do throws(Refusal) {
      let transaction = try TransactionCall(requests, options)
      let animated = options[Options.animated] ?? true
      host.takeInChanges()
      try host.authorize(transaction.requests, isTransaction: true, call) {
        [unowned self] trust, requests throws(Refusal) in
        // Other clients may have changed the state before this client was authorized.
        try transaction.requireCurrent(at: machine.serial)
        let replies = try perform(requests, animated: animated, by: call.client, trust: trust)
        return (transaction.values(replies), serial)
      }
    } catch {
      call.fail(error)
    }
  }

  /// Answers a call when a presentation has reached a phase or has ended.
  package func wait(_ path: ObjectPath, until phase: String, _ call: some ServiceCall<(String, Properties)>) {
    answer(call) { () throws(Refusal) in
      guard let awaited = WaitPhase(rawValue: phase) else {
        throw Refusal(.invalidArgument, "phase: expected \(WaitPhase.words), found \(quoted(phase))")
      }
      let handle = try Handle(path)
      try machine.requireKnown(handle)
      if let ending = machine.ending(of: handle) { return (ending.reason.rawValue, ending.result.withStatusKnown) }
      if awaited == .presented, machine.presentation(handle)?.presentedAt != nil { return ("", [:]) }
      if awaited == .settled, machine.presentation(handle)?.phase.name != .dismissing {
        return ("", Self.result(ofDecline: declines[handle]))
      }
      guard call.isReplyExpected else { return ("", [:]) }
      try machine.limits.checkWaits(waiters.count(of: call.client) + 1, all: waiters.count + 1)
      waiters.add(call, for: handle, until: awaited)
      host.follow(call.client)
      return nil
    }
  }

  /// The result for clients that wait for the end of a dismissal which the presenter has declined; nil if it has not.
  private static func result(ofDecline message: String?) -> Properties {
    var result = PresentationResult([:])
    result.declined = message
    return result.properties
  }

  /// Removes a cancelled call of `Wait`.
  /// - Returns: whether it was waiting.
  package func giveUp(_ call: any ServiceCall) -> Bool { waiters.remove(call) }

  /// Refuses every waiting call (R5).
  package func refuseWaiters(_ refusal: Refusal) { waiters.refuseAll(refusal) }

  // MARK: Reports

  /// Processes the report of a presenter.
  package func report(_ report: Report) {
    take(machine.report(report, at: tick()))
  }

  // MARK: Destinations and container values

  /// Registers a presenter for a destination (D1).
  package func register(_ destination: Destination, by client: Client) throws(Refusal) {
    try host.requireRecord()
    take(try machine.register(destination, by: client, at: tick()))
    host.follow(client)
  }

  /// Notes which bindings a client serves by a destination (D18).
  /// - Returns: the bindings that another client serves.
  package func serve(
    _ destination: String, _ bindings: [Structure<String, Properties>], by client: Client
  ) throws(Refusal) -> [String] {
    var served: [(BindingID, ServedBinding?)] = []
    for binding in bindings {
      let (text, accepts) = binding.fields
      let name = try BindingID(text)
      do throws(Refusal) {
        served.append((name, accepts.isEmpty ? nil : try ServedBinding(ServedEntry(accepts))))
      } catch {
        throw error.of("“\(name)”")
      }
    }
    let (elsewhere, outcome) = try machine.serve(destination, served, by: client)
    take(outcome)
    return elsewhere.map(\.text)
  }

  /// Replaces the destinations that files declare.
  /// - Parameter holds: the effects of holds on items whose destinations do not define them (H3).
  package func load(
    _ destinations: [Destination], mistakes: [String: String] = [:], holds: [String: HoldAction] = [:]
  ) {
    machine.setHolds(holds)
    take(machine.load(destinations, mistakes: mistakes))
  }

  // MARK: Holds

  /// Puts a hold in force (H1).
  /// - Returns: the number by which the hold is released.
  func hold(_ request: HoldRequest, by client: Client) throws(Refusal) -> UInt64 {
    try host.requireRecord()
    let (cookie, outcome) = try machine.hold(request, by: client, at: tick())
    take(outcome)
    return cookie
  }

  /// Puts the holds in force that were kept for this login (K4).
  package func restore(_ holds: [String: LoginHold]) { take(machine.restore(holds, at: tick())) }

  /// Sets whether a fact of the session is true (H2).
  package func set(_ fact: SessionFact, _ isTrue: Bool) { take(machine.set(fact, isTrue, at: tick())) }

  /// Replaces the settings of groups. The next input selects fallbacks that are missing, and applies the rest (K1, G10).
  package func load(groups: [BindingID: GroupSettings]) { machine.load(groups: groups) }

  /// Forgets the variables for commands, which belonged to another session.
  package func forgetEnvironment() { machine.forgetEnvironment() }

  /// Declares container values: all, or none if one is refused (V1).
  /// - Parameter overridingRecord: whether a declaration replaces a recorded one.
  /// - Returns: the refusals by the index of the declaration.
  package func declareContainerValues(
    _ values: [(key: String, defaultValue: Value)], overridingRecord: Bool
  ) -> [Int: Refusal] {
    machine.declareContainerValues(values, overridingRecord: overridingRecord)
  }

  // MARK: Clients

  /// Ends the items of a client that left the bus (O1).
  package func clientLeft(_ client: Client) {
    waiters.forget(client)
    take(machine.clientLeft(client, at: tick()))
  }

  /// Stores the process of a client for the history.
  package func identify(_ requester: Requester) { machine.identify(requester) }

  // MARK: Start, recording and time

  /// Resumes the recorded state (R2).
  /// - Parameters:
  ///   - survivals: the fate of each presentation, as its presenter reports it.
  ///   - absent: recorded clients that have left the bus in the meantime.
  ///   - facts: the facts of the session that are known (H5).
  package func resume(
    _ survivals: [Handle: Survival], absent: Set<Client>, isOtherSession: Bool = false, facts: [SessionFact: Bool] = [:]
  ) {
    take(machine.resume(survivals, absent: absent, isOtherSession: isOtherSession, facts: facts, at: tick()))
  }

  /// Completes the presenting of kept items: items that the state does not have are forgotten.
  package func forgetOtherLoginItems() { machine.forgetOtherLoginItems() }

  /// Removes and returns the changes that have not been recorded.
  package func takeUnrecorded() -> RecordChanges { machine.takeUnrecorded() }

  /// Processes the deadlines that have passed. Call it at the time given to `CoordinatorHost.setAlarm`.
  package func expire() {
    alarm = nil
    take(machine.expire(at: tick()))
  }

  /// Gives a presenter its whole time again, since it is called later than in the turn of its command.
  package func restartAnswer(of handle: Handle) {
    machine.restartAnswer(of: handle, at: tick())
    setAlarm()
  }

  // MARK: Outcomes

  func take(_ outcome: Outcome) {
    for handle in outcome.created {
      host.announceCreation(of: handle)
    }
    for change in outcome.changes {
      host.announce(StateEvent(change, in: machine), change)
      switch change.event {
      case .presented(let handle, _, _, _): waiters.presented(handle)
      case .dismissed(let handle, _, _, let reason, let result):
        declines[handle] = nil
        if waiters.count > 0 { waiters.ended(handle, reason, result.withStatusKnown) }
      case .phase(let handle, _, _, .dismissing): declines[handle] = nil
      case .declined(let handle, _, _, let message):
        declines[handle] = message
        waiters.kept(handle, Self.result(ofDecline: message))
      default: break
      }
    }
    if outcome.destinationsChanged { host.announceDestinations() }
    if !outcome.commands.isEmpty { host.carryOut(outcome.commands) }
    for client in outcome.owners { host.follow(client) }
    for client in outcome.requesters { host.identify(client) }
    for refused in outcome.refusedFallbacks { host.note(refused) }
    setAlarm()
  }

  private func setAlarm() {
    guard let next = machine.nextDeadline else { return }
    // An earlier alarm stays: it sets the next one when it fires.
    if let alarm, alarm <= next { return }
    alarm = next
    host.setAlarm(at: next)
  }
}

extension Properties {
  /// The result of a presentation as clients get it: without a status, it says that there is none.
  fileprivate var withStatusKnown: Properties {
    var result = PresentationResult(self)
    result.statusKnown = self[PresentationResult.keys.status.name] != nil
    return result.properties
  }
}
