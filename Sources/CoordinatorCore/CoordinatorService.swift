import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import PresentationRules
import TextFormats

/// Serves every method of the contract with a state machine. Use it on one thread only.
package final class CoordinatorService<Host: CoordinatorHost> {
  package private(set) var machine: StateMachine
  private unowned let host: Host
  private var waiters = Waiters()
  private var alarm: Instant?
  /// Whether presentations end, over several turns, because of one whose time is over.
  private var isExpiring = false
  /// Facts of the session that have become true, and whose holds begin when what they dismiss has ended: whether they still are.
  private var beginningFacts: [SessionFact: Bool] = [:]
  /// Whether calls of `Wait` are answered in later turns.
  private var isAnswering = false

  package init(_ machine: consuming StateMachine, host: Host) {
    self.machine = machine
    self.host = host
  }

  /// The serial of the last difference.
  package var serial: UInt64 { machine.serial.number }

  /// The time of an input. Reads both clocks each time, since the computer may have been suspended in between.
  private func tick() -> Instant {
    let now = host.now
    machine.wallClockLead = now.lead(ofWallClock: host.wallClock)
    return now
  }

  // MARK: Requests

  /// Carries out one request. One that ends very many presentations has most of them ended in turns of their own; the call is
  /// answered after that. The client's later calls wait until then, and no other client's (L2).
  /// - Parameter resume: carries out the rest of a request after these turns; nil for as it is.
  /// - Returns: the answer; nil if the call is answered later.
  /// - Throws: `Refusal`, with nothing changed.
  package func perform<Output>(
    _ request: Request, for call: some ServiceCall<Output>, trust: Trust,
    resume: ((Request) throws(Refusal) -> Output?)? = nil, _ answer: @escaping (Reply) -> Output
  ) throws(Refusal) -> Output? {
    try host.requireRecord()
    // The rest of the request may need trust. Once these ends have changed the state, it is too late to look the client up.
    if trust == .unknown, machine.mayBeMass { throw Refusal.needsTrust("a request that may end many presentations") }
    let now = tick()
    let mass = machine.massEnds(of: request, by: call.client, trust: trust, at: now)
    guard !mass.isEmpty else {
      let (reply, outcome) = try machine.perform(request, by: call.client, trust: trust, at: now)
      take(outcome)
      return answer(reply)
    }
    var rest = request
    // These ends may change what the serial is about.
    rest.expectation.serial = nil
    host.hold(call.client)
    endSoon(mass.ends[...], by: call.client) { [self] in
      do throws(Refusal) {
        let output: Output?
        if mass.countOfNamed > 0 {
          // Of a request that names them all, nothing is left to be done.
          output = answer(.count(mass.countOfNamed))
        } else if let resume {
          output = try resume(rest)
        } else {
          output = try perform(rest, for: call, trust: trust, answer)
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
    // While what is presented from it ends, somebody may have put another presentation into its slot.
    return try perform(request, for: call, trust: trust) { [unowned self] rest throws(Refusal) in
      try dismiss(presentation, rest, for: call, trust: trust)
    } _: { [unowned self] in
      ($0 == .changed(true), serial)
    }
  }

  /// Carries out a transaction.
  /// - Parameters:
  ///   - client: nil for one of the host's own.
  ///   - isRestoring: whether it presents items of an earlier session again (K4).
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

  fileprivate func perform<Input, Output>(
    _ method: ChangingMethod<Input, Output>, _ input: Input, _ call: some ServiceCall<Output>
  ) {
    do throws(Refusal) {
      let request = try method.read(input)
      try host.authorize([request], isTransaction: false, call) { [unowned self] trust, requests throws(Refusal) in
        try withCurrentFiles { () throws(Refusal) in
          try perform(requests[0], for: call, trust: trust) { [unowned self] in method.answer($0, serial) }
        }
      }
    } catch {
      call.fail(error)
    }
  }

  /// Carries out requests; once more if they name what nothing knows, and files have changed that may declare it.
  private func withCurrentFiles<Output>(_ body: () throws(Refusal) -> Output) throws(Refusal) -> Output {
    do throws(Refusal) { return try body() } catch {
      let isUnknown = error.code == .unknownDestination || error.code == .unknownTag
      guard isUnknown, host.readChangedFiles() else { throw error }
      return try body()
    }
  }

  /// Answers a call with the value of `body`, which may carry out requests that give nothing about running programs.
  package func authorize<Output>(
    _ call: some ServiceCall<Output>, _ body: @escaping (Trust) throws(Refusal) -> Output?
  ) {
    do throws(Refusal) {
      try host.authorize([], isTransaction: false, call) { trust, _ throws(Refusal) in try body(trust) }
    } catch {
      call.fail(error)
    }
  }

  private func apply(
    _ requests: [TransactionRequest], _ options: Properties, _ call: some ServiceCall<([[Value]], UInt64)>
  ) {
    do throws(Refusal) {
      let transaction = try TransactionCall(requests, options)
      let animated = options[Options.animated] ?? true
      try host.authorize(transaction.requests, isTransaction: true, call) {
        [unowned self] trust, requests throws(Refusal) in
        // Others may have changed the state before this client was authorized.
        try transaction.requireCurrent(at: machine.serial)
        let replies = try withCurrentFiles { () throws(Refusal) in
          try perform(requests, animated: animated, by: call.client, trust: trust)
        }
        return (transaction.values(replies), serial)
      }
    } catch {
      call.fail(error)
    }
  }

  /// Answers when a presentation has reached the phase or has ended.
  package func wait(_ path: ObjectPath, until phase: String, _ call: some ServiceCall<(String, Properties)>) {
    do throws(Refusal) {
      guard let awaited = WaitPhase(rawValue: phase) else {
        let words = WaitPhase.allCases.map(\.rawValue).joined(separator: " or ")
        throw Refusal(.invalidArgument, "phase: expected \(words), found \(quoted(phase))")
      }
      let handle = try Handle(path)
      try machine.requireKnown(handle)
      if let ending = machine.ending(of: handle) { return call.reply((ending.reason.rawValue, ending.result)) }
      if awaited == .presented, machine.presentation(handle)?.presentedAt != nil { return call.reply(("", [:])) }
      guard call.isReplyExpected else { return call.reply(("", [:])) }
      try machine.limits.checkWaits(waiters.count(of: call.client) + 1, all: waiters.count + 1)
      waiters.add(call, for: handle, until: awaited)
      host.follow(call.client)
    } catch {
      call.fail(error)
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
    let mass = machine.massEnds(of: report)
    guard mass.isEmpty else { return endSoon(mass.ends[...], by: nil) { [unowned self] in self.report(report) } }
    take(machine.report(report, at: tick()))
  }

  // MARK: Destinations and container values

  /// Registers a presenter for a destination (D1).
  package func register(_ destination: Destination, by client: Client) throws(Refusal) {
    try host.requireRecord()
    take(try machine.register(destination, by: client))
    let late = machine.lateItems(of: [destination.name])
    // A presenter expects calls when its registration is answered.
    if !late.isEmpty { host.soon { [unowned self] in present(late) } }
    host.follow(client)
  }

  /// Replaces the destinations that files declare.
  /// - Parameter holds: what holds do with items whose destinations do not say it (H3).
  package func load(
    _ destinations: [Destination], mistakes: [String: String] = [:], holds: [String: HoldAction] = [:]
  ) {
    machine.setHolds(holds)
    take(machine.load(destinations, mistakes: mistakes))
  }

  /// Presents what was state only because the destinations of files were not there yet (D1). Call it when requests are carried out.
  package func presentLateItems() { present(machine.lateItems(of: machine.destinations.map(\.name))) }

  private func present(_ late: [LateItem]) {
    do throws(Refusal) { if !late.isEmpty { try host.requireRecord() } } catch { return }
    for item in late { take(machine.present(item, at: tick())) }
  }

  // MARK: Holds

  /// Begins to hold (H1).
  /// - Returns: the number by which it is released; nil if the call is answered later.
  private func hold(_ request: HoldRequest, _ call: some ServiceCall<UInt64>) throws(Refusal) -> UInt64? {
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

  /// Takes in whether a fact of the session is true (H2).
  package func set(_ fact: SessionFact, _ isTrue: Bool) {
    guard beginningFacts[fact] == nil else { return beginningFacts[fact] = isTrue }
    let isLater =
      isTrue
      && endBefore(hold: fact.rawValue) { [self] in
        let isStillTrue = beginningFacts.removeValue(forKey: fact) ?? true
        // Watchers learn why the items have ended, also if the fact is over.
        take(machine.set(fact, true, at: tick()))
        if !isStillTrue { take(machine.set(fact, false, at: tick())) }
      }
    if isLater { beginningFacts[fact] = true } else { take(machine.set(fact, isTrue, at: tick())) }
  }

  /// Ends what a hold ends when it begins, if that is too much for one turn.
  /// - Parameter completion: called after that.
  /// - Returns: whether it is.
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

  /// Declares container values: all, or none if one is refused (V1).
  /// - Parameter overridingRecord: whether a declaration replaces a recorded one.
  /// - Returns: the refusals by the index of the declaration.
  package func declareContainerValues(
    _ values: [(key: String, defaultValue: Value)], overridingRecord: Bool
  ) -> [Int: Refusal] {
    machine.declareContainerValues(values, overridingRecord: overridingRecord)
  }

  // MARK: Many ends

  /// How many presentations a turn ends of those that take several turns.
  private static var endsPerTurn: Int { 500 }

  /// Ends presentations over several turns, the last ones first.
  private func end(_ ends: ArraySlice<End>, by client: Client?, _ completion: @escaping () -> Void) {
    take(machine.end(Array(ends.suffix(Self.endsPerTurn)), by: client, at: tick()))
    let rest = ends.dropLast(Self.endsPerTurn)
    host.soon { [self] in if rest.isEmpty { completion() } else { end(rest, by: client, completion) } }
  }

  /// The same from the next turn on: to find what ends has taken long.
  private func endSoon(_ ends: ArraySlice<End>, by client: Client?, _ completion: @escaping () -> Void) {
    host.soon { [self] in end(ends, by: client, completion) }
  }

  /// Ends what would end because of some presentations, if that is too much for one turn.
  /// - Parameter completion: called after that.
  /// - Returns: whether it is.
  private func endBefore(_ ends: [End], by client: Client? = nil, _ completion: @escaping () -> Void) -> Bool {
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
  ///   - survivals: results of the presenters' search for their presentations.
  ///   - left: recorded clients that left the bus in the meantime.
  ///   - facts: the facts of the session that are known (H5).
  package func resume(
    _ survivals: [Handle: Survival], left: Set<Client>, isOtherSession: Bool = false, facts: [SessionFact: Bool] = [:]
  ) {
    take(machine.resume(survivals, left: left, isOtherSession: isOtherSession, facts: facts, at: tick()))
  }

  /// Ends the presenting of kept items: those that the state does not have are forgotten.
  package func forgetOtherKeptItems() { machine.forgetOtherKeptItems() }

  /// Removes and returns the changes that have not been recorded.
  package func takeUnrecorded() -> RecordChanges { machine.takeUnrecorded() }

  /// Processes the deadlines that have passed. Call at the time given to `CoordinatorHost.setAlarm`.
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
    // One at a time where each may end many others.
    let most = machine.count > machine.limits.ends ? 1 : Self.endsPerTurn
    take(machine.expire(at: now, most: most))
  }

  /// Gives a presenter its whole time for its answer, since it is asked later than in the turn of its command.
  package func restartAnswer(of handle: Handle) {
    machine.restartAnswer(of: handle, at: tick())
    setAlarm()
  }

  // MARK: Outcomes

  private func take(_ outcome: Outcome) {
    for handle in outcome.created {
      host.announceCreation(of: handle)
      if let client = machine.keeper(of: handle) { host.follow(client) }
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
    answerRestOfWaiters()
    setAlarm()
  }

  /// Answers the other calls of `Wait` over several turns, as the bus reads.
  private func answerRestOfWaiters() {
    guard waiters.hasRest, !isAnswering else { return }
    isAnswering = true
    host.soon { [unowned self] in
      isAnswering = false
      if !host.isCongested { waiters.answerRest() }
      answerRestOfWaiters()
    }
  }

  private func setAlarm() {
    guard let next = machine.nextDeadline else { return }
    // An earlier alarm stays: it sets the next one when it fires.
    if let alarm, alarm <= next { return }
    alarm = next
    host.setAlarm(at: next)
  }
}

// MARK: The contract

/// Makes methods and properties of the contract callable.
package protocol ServiceBinder {
  func bind<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ body: @escaping (Input, any ServiceCall<Output>) -> Void)
  func bind<T>(_ property: Property<T>, _ get: @escaping () -> T)
}

extension CoordinatorService {
  private typealias Rows = CoordinatorInterface

  /// Binds the method of ``CoordinatorInterface`` with this name, if there is one. Hosts bind a method when it is first called: the
  /// types of all methods are a quarter of navd's start.
  package func bindMethod(_ name: String, to binder: some ServiceBinder) {
    _ =
      bindChanging(name, to: binder) || bindReading(name, to: binder) || bindPresenting(name, to: binder)
      || bindManagement(name, to: binder) || bindHolds(name, to: binder)
  }

  package func bindProperties(to binder: some ServiceBinder) {
    binder.bind(Rows.version) { Rows.currentVersion }
    binder.bind(Rows.release) { Release.version }
    binder.bind(Rows.serial) { [unowned self] in serial }
    binder.bind(Rows.diagnosis) { [unowned self] in host.diagnosis.properties }
    binder.bind(Rows.limits) { [unowned self] in machine.limits.byName.merging(host.limits) { $1 } }
  }

  private func bindChanging(_ name: String, to binder: some ServiceBinder) -> Bool {
    if name == "Apply" {
      binder.bind(Rows.apply) { [unowned self] input, call in apply(input.0, input.1, call) }
    } else if let method = Rows.changingMethod(named: name) {
      method.accept(ChangingMethodBinder(service: self, binder: binder))
    } else {
      return false
    }
    return true
  }

  private func bindHolds(_ name: String, to binder: some ServiceBinder) -> Bool {
    switch name {
    case "Hold":
      binder.bind(Rows.hold) { [unowned self] input, call in
        do throws(Refusal) {
          let request = try HoldRequest(input.0, input.1)
          host.authorizeHold(call) { [unowned self] () throws(Refusal) in try hold(request, call) }
        } catch {
          call.fail(error)
        }
      }
    case "ReleaseHold":
      binder.bind(Rows.releaseHold) { [unowned self] cookie, call in
        host.authorizeHold(call) { [unowned self] () throws(Refusal) in
          try host.requireRecord()
          take(try machine.releaseHold(cookie, at: tick()))
        }
      }
    case "Holds":
      binder.bind(Rows.holds) { [unowned self] _, call in
        call.reply(machine.holdEntries(at: host.now).map(\.properties))
      }
    default: return false
    }
    return true
  }

  private func bindReading(_ name: String, to binder: some ServiceBinder) -> Bool {
    switch name {
    case "Get":
      binder.bind(Rows.get) { [unowned self] binding, call in
        answer(call) { () throws(Refusal) in
          guard let presentation = machine.current(at: try BindingID(binding)) else { return (.root, [:], serial) }
          var entry = machine.entry(presentation, platform: host.platform(of: presentation.handle))
          entry.timeoutLeft = machine.timeLeft(of: presentation, at: host.now)
          return (presentation.handle.path, entry.properties, serial)
        }
      }
    case "GetState":
      binder.bind(Rows.getState) { [unowned self] _, call in call.reply((snapshot().properties, serial)) }
    case "Members":
      binder.bind(Rows.members) { [unowned self] input, call in
        answer(call) { () throws(Refusal) in
          try machine.members(of: Container(kind: input.0, name: input.1)).map {
            Structure($0.binding.text, $0.id, $0.presentation.path, $0.containerValues)
          }
        }
      }
    case "Wait":
      binder.bind(Rows.wait) { [unowned self] input, call in wait(input.0, until: input.1, call) }
    case "ContainerValue":
      binder.bind(Rows.containerValue) { [unowned self] input, call in
        answer(call) { () throws(Refusal) in
          try machine.containerValue(input.1, at: try BindingID(optional: input.0.isEmpty ? nil : input.0))
        }
      }
    case "History":
      binder.bind(Rows.history) { [unowned self] input, call in
        answer(call) { () throws(Refusal) in try machine.history(input.0, filter: input.1) }
      }
    case "Destinations":
      binder.bind(Rows.destinations) { [unowned self] _, call in
        call.reply(machine.destinations.map { Structure($0.name, $0.entry.properties) })
      }
    default: return false
    }
    return true
  }

  /// The answer of `GetState`.
  package func snapshot() -> StateSnapshot { machine.snapshot(platform: host.platform) }

  private func bindPresenting(_ name: String, to binder: some ServiceBinder) -> Bool {
    switch name {
    case "RegisterPresenter":
      binder.bind(Rows.registerPresenter) { [unowned self] input, call in
        do throws(Refusal) {
          let destination = try Destination(name: input.0, path: input.1, options: input.2, client: call.client)
          host.authorizePresenter(call) { [unowned self] () throws(Refusal) in
            try register(destination, by: call.client)
          }
        } catch {
          call.fail(error)
        }
      }
    case "UnregisterPresenter":
      binder.bind(Rows.unregisterPresenter) { [unowned self] name, call in
        answer(call) { () throws(Refusal) in take(try machine.unregister(name, by: call.client)) }
      }
    case "Closed":
      binder.bind(Rows.closed) { [unowned self] input, call in
        answer(call) { () throws(Refusal) in
          let handle = try Handle(input.0)
          let byPresenter = host.isPresenter(call.client, of: handle)
          func close() throws(Refusal) -> (Bool, UInt64) {
            let (changed, outcome) = try machine.closed(
              handle, result: input.1, by: call.client, byPresenter: byPresenter, at: tick())
            take(outcome)
            return (changed, serial)
          }
          guard try machine.canClose(handle, result: input.1, byPresenter: byPresenter) else { return try close() }
          let end = End(handle: handle, reason: .closed, isOver: true)
          return endBefore([end], by: call.client) { answer(call, close) } ? nil : try close()
        }
      }
    case "Asking":
      binder.bind(Rows.asking) { [unowned self] input, call in
        answer(call) { () throws(Refusal) in
          let handle = try Handle(input.0)
          take(
            try machine.asking(
              handle, message: input.1, byPresenter: host.isPresenter(call.client, of: handle), at: tick()))
          return serial
        }
      }
    case "Act":
      binder.bind(Rows.act) { [unowned self] input, call in
        answer(call) { () throws(Refusal) in
          let handle = try Handle(input.0)
          take(
            try machine.act(
              handle, action: input.1, parameters: input.2, byPresenter: host.isPresenter(call.client, of: handle)))
          return serial
        }
      }
    default: return false
    }
    return true
  }

  private func bindManagement(_ name: String, to binder: some ServiceBinder) -> Bool {
    switch name {
    case "DeclareContainerValue":
      binder.bind(Rows.declareContainerValue) { [unowned self] input, call in
        answer(call) { () throws(Refusal) in
          try host.requireRecord()
          try machine.declareContainerValue(input.0, defaultValue: input.1)
        }
      }
    case "Reload":
      binder.bind(Rows.reload) { [unowned self] _, call in
        answer(call) { () throws(Refusal) in try host.reload() }
      }
    case "Quit":
      binder.bind(Rows.quit) { [unowned self] _, call in
        answer(call) { () throws(Refusal) in
          try machine.checkShutDown()
          host.willQuit()
          take(machine.endParked(isForced: true))
          end(machine.beginShutDown()[...], by: call.client) {}
        }
      }
    default: return false
    }
    return true
  }
}

/// Binds changing methods: all are read, carried out and answered in the same way.
private struct ChangingMethodBinder<Host: CoordinatorHost, Binder: ServiceBinder>: ChangingMethodVisitor {
  let service: CoordinatorService<Host>
  let binder: Binder

  func visit<Input: Sendable, Output: Sendable>(_ method: ChangingMethod<Input, Output>) {
    binder.bind(method) { [unowned service] input, call in service.perform(method, input, call) }
  }
}
