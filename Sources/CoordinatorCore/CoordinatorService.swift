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
  private var alarm: Instant?
  /// Whether presentations are ending over several turns because the time of one is over.
  private var isExpiring = false
  /// Facts of the session that have become true. Their holds begin when the items that they dismiss have ended. The value is whether
  /// the fact is still true.
  private var beginningFacts: [SessionFact: Bool] = [:]

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

  /// Carries out one request. If it ends very many presentations, most of them end in turns of their own, and the call is answered
  /// after that. Until then the client's later calls wait, but no other client's (L2).
  /// - Parameter resume: carries out the rest of the request after these turns; nil to carry it out as any request.
  /// - Returns: the answer; nil if the call is answered later.
  /// - Throws: `Refusal`, with nothing changed.
  package func perform<Output>(
    _ request: Request, for call: some ServiceCall<Output>, trust: Trust,
    resume: ((Request) throws(Refusal) -> Output?)? = nil, _ answer: @escaping (Reply) -> Output
  ) throws(Refusal) -> Output? {
    try host.requireRecord()
    // The rest of the request may need trust. It is too late to look the client up when these ends have changed the state.
    if trust == .unknown, machine.mayBeMass { throw Refusal.needsTrust("a request that may end many presentations") }
    let now = tick()
    let mass = machine.massEnds(of: request, by: call.client, trust: trust, at: now)
    guard !mass.isEmpty else {
      let (reply, outcome) = try machine.perform(request, by: call.client, trust: trust, at: now)
      take(outcome)
      return answer(reply)
    }
    host.hold(call.client)
    endSoon(mass.ends[...], by: call.client) { [self] in
      do throws(Refusal) {
        let output: Output?
        if mass.countOfNamed > 0 {
          // A request that names all these ends is complete.
          output = answer(.count(mass.countOfNamed))
        } else if let resume {
          output = try resume(request)
        } else {
          output = try perform(request, for: call, trust: trust, answer)
        }
        if let output { call.reply(output) }
      } catch {
        call.fail(error)
      }
      host.release(call.client)
    }
    return nil
  }

  /// Dismisses a presentation if its slot still holds it (P5, P10).
  package func dismiss(_ path: ObjectPath, _ options: Properties, _ call: some ServiceCall<(Bool, UInt64)>) {
    authorize(call) { [unowned self] trust throws(Refusal) in
      guard let presentation = machine.presentation(try Handle(path)) else { return (false, serial) }
      let request = try CoordinatorInterface.dismiss.read((presentation.binding.text, options))
      return try dismiss(presentation, request, for: call, trust: trust)
    }
  }

  private func dismiss(
    _ presentation: Presentation, _ request: Request, for call: some ServiceCall<(Bool, UInt64)>, trust: Trust
  ) throws(Refusal) -> (Bool, UInt64)? {
    let handle = presentation.handle
    guard machine.current(at: presentation.binding)?.handle == handle else {
      if request.isForced {
        take(machine.end([End(handle: handle, reason: .dismissed, isForced: true)], by: call.client, at: tick()))
      }
      return (false, serial)
    }
    // Another presentation may have taken the slot while the children of this one ended.
    return try perform(request, for: call, trust: trust) { [unowned self] rest throws(Refusal) in
      try dismiss(presentation, rest, for: call, trust: trust)
    } _: { [unowned self] in
      ($0 == .changed(true), serial)
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
        try perform(requests[0], for: call, trust: trust) { [unowned self] in method.answer($0, serial) }
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
        let words = WaitPhase.allCases.map(\.rawValue).joined(separator: " or ")
        throw Refusal(.invalidArgument, "phase: expected \(words), found \(quoted(phase))")
      }
      let handle = try Handle(path)
      try machine.requireKnown(handle)
      if let ending = machine.ending(of: handle) { return (ending.reason.rawValue, ending.result) }
      if awaited == .presented, machine.presentation(handle)?.presentedAt != nil { return ("", [:]) }
      guard call.isReplyExpected else { return ("", [:]) }
      try machine.limits.checkWaits(waiters.count(of: call.client) + 1, all: waiters.count + 1)
      waiters.add(call, for: handle, until: awaited)
      host.follow(call.client)
      return nil
    }
  }

  /// Removes a cancelled call of `Wait`.
  /// - Returns: whether it was waiting.
  package func giveUp(_ call: any ServiceCall) -> Bool { waiters.remove(call) }

  /// Refuses every waiting call (R5).
  package func refuseWaiters(_ refusal: Refusal) { waiters.refuseAll(refusal) }

  // MARK: Reports

  /// Processes the report of a presenter.
  package func report(_ report: Report) {
    let now = tick()
    let mass = machine.massEnds(of: report, at: now)
    guard mass.isEmpty else { return endSoon(mass.ends[...], by: nil) { [unowned self] in self.report(report) } }
    take(machine.report(report, at: now))
  }

  // MARK: Destinations and container values

  /// Registers a presenter for a destination (D1).
  package func register(_ destination: Destination, by client: Client) throws(Refusal) {
    try host.requireRecord()
    take(try machine.register(destination, by: client, at: tick()))
    host.follow(client)
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
  /// - Returns: the number by which the hold is released; nil if the call is answered later.
  func hold(_ request: HoldRequest, _ call: some ServiceCall<UInt64>) throws(Refusal) -> UInt64? {
    try host.requireRecord()
    let client = call.client
    func begin() throws(Refusal) -> UInt64 {
      let (cookie, outcome) = try machine.hold(request, by: client, at: tick())
      take(outcome)
      return cookie
    }
    host.hold(client)
    let isLater = endBefore(hold: request.name) { [self] in
      answer(call, begin)
      host.release(client)
    }
    if isLater { return nil }
    host.release(client)
    return try begin()
  }

  /// Sets whether a fact of the session is true (H2).
  package func set(_ fact: SessionFact, _ isTrue: Bool) {
    guard beginningFacts[fact] == nil else { return beginningFacts[fact] = isTrue }
    let isLater =
      isTrue
      && endBefore(hold: fact.rawValue) { [self] in
        let isStillTrue = beginningFacts.removeValue(forKey: fact) ?? true
        // Watchers learn why the items have ended, even if the fact is no longer true.
        take(machine.set(fact, true, at: tick()))
        if !isStillTrue { take(machine.set(fact, false, at: tick())) }
      }
    if isLater { beginningFacts[fact] = true } else { take(machine.set(fact, isTrue, at: tick())) }
  }

  /// Ends the items that a hold ends, before it begins, if they are too many for one turn.
  /// - Parameter completion: called after the ends.
  /// - Returns: whether they are too many.
  private func endBefore(hold name: String, _ completion: @escaping () -> Void) -> Bool {
    let ends = machine.ends(ofHold: name)
    guard ends.count <= Self.endsPerTurn else {
      end(ends[...], by: nil, completion)
      return true
    }
    return endBefore(ends, completion)
  }

  /// Replaces the fallbacks of groups (K1); the next input selects those that are missing.
  package func load(fallbacks: [BindingID: String]) { machine.load(fallbacks: fallbacks) }

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

  // MARK: Many ends

  /// The number of presentations that end in one turn, if their ends take several turns.
  private static var endsPerTurn: Int { 500 }

  /// Ends presentations over several turns, the last ones first.
  func end(_ ends: ArraySlice<End>, by client: Client?, _ completion: @escaping () -> Void) {
    take(machine.end(Array(ends.suffix(Self.endsPerTurn)), by: client, at: tick()))
    let rest = ends.dropLast(Self.endsPerTurn)
    host.soon { [self] in if rest.isEmpty { completion() } else { end(rest, by: client, completion) } }
  }

  /// Ends presentations as `end` does, but from the next turn on, since the search for them has taken long.
  private func endSoon(_ ends: ArraySlice<End>, by client: Client?, _ completion: @escaping () -> Void) {
    host.soon { [self] in end(ends, by: client, completion) }
  }

  /// Ends the presentations that would end because of others, if they are too many for one turn.
  /// - Parameter completion: called after the ends.
  /// - Returns: whether they are too many.
  func endBefore(_ ends: [End], by client: Client? = nil, _ completion: @escaping () -> Void) -> Bool {
    let mass = machine.massEnds(of: ends, by: client)
    if !mass.isEmpty { endSoon(mass.ends[...], by: client, completion) }
    return !mass.isEmpty
  }

  // MARK: Clients

  /// Ends the items of a client that left the bus (O1), over several turns if they are many.
  package func clientLeft(_ client: Client) {
    waiters.forget(client)
    let ends = machine.ends(ofItemsOf: client, most: Self.endsPerTurn)
    if endBefore(ends, by: client, { [unowned self] in clientLeft(client) }) { return }
    take(machine.clientLeft(client, at: tick(), most: Self.endsPerTurn))
    if machine.ownsItem(client) { host.soon { [unowned self] in clientLeft(client) } }
  }

  /// Stores the process of a client for the history.
  package func identify(_ requester: Requester) { machine.identify(requester) }

  // MARK: Start, recording and time

  /// Resumes the recorded state (R2).
  /// - Parameters:
  ///   - survivals: the fate of each presentation, as its presenter reports it.
  ///   - left: recorded clients that have left the bus in the meantime.
  ///   - facts: the facts of the session that are known (H5).
  package func resume(
    _ survivals: [Handle: Survival], left: Set<Client>, isOtherSession: Bool = false, facts: [SessionFact: Bool] = [:]
  ) {
    take(machine.resume(survivals, left: left, isOtherSession: isOtherSession, facts: facts, at: tick()))
  }

  /// Completes the presenting of kept items: items that the state does not have are forgotten.
  package func forgetOtherLoginItems() { machine.forgetOtherLoginItems() }

  /// Removes and returns the changes that have not been recorded.
  package func takeUnrecorded() -> RecordChanges { machine.takeUnrecorded() }

  /// Processes the deadlines that have passed. Call it at the time given to `CoordinatorHost.setAlarm`.
  package func expire() {
    alarm = nil
    guard !isExpiring else { return }
    let now = tick()
    isExpiring = true
    let next = machine.nextEnd(at: now).map { [$0] } ?? []
    let isMass = endBefore(next) { [unowned self] in
      isExpiring = false
      expire()
    }
    if isMass { return }
    isExpiring = false
    // One deadline at a time, if each may end many presentations.
    let most = machine.count > machine.limits.ends ? 1 : Self.endsPerTurn
    take(machine.expire(at: now, most: most))
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
      guard waiters.count > 0 else { continue }
      switch change.event {
      case .presented(let handle, _, _, _): waiters.presented(handle)
      case .dismissed(let handle, _, _, let reason, let result): waiters.ended(handle, reason, result)
      default: break
      }
    }
    if outcome.destinationsChanged { host.announceDestinations() }
    if !outcome.commands.isEmpty { host.carryOut(outcome.commands) }
    for client in outcome.owners { host.follow(client) }
    for client in outcome.requesters { host.identify(client) }
    if outcome.hasHeld { host.soon { [unowned self] in take(machine.presentHeld(at: tick())) } }
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
