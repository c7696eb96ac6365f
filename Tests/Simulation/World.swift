import DBusValues
import PresentationModel

@testable import PresentationRules

/// A world: one simulated run from one seed. It decides time, order, presenters and clients, gives the machine and the naive
/// model the same inputs, and compares machine, model, log and watcher after every step.
struct World: ~Copyable {
  let seed: UInt64
  let generator: InputGenerator
  private(set) var machine: StateMachine
  /// The record of the navd that runs.
  private(set) var disk = RecordedState()
  private(set) var files: [Destination]
  private var restarts = 0
  /// The last handle before each registration that is left, by the names of the destination and of the client (D4).
  private var registered: [String: Handle] = [:]
  /// The settings of groups, of which the clock changes the fallbacks (K7).
  private var groups: [BindingID: GroupSettings]
  private var fallbacks: [BindingID: NaiveFallback] {
    groups.filter { $0.value.hasFallbacks }.mapValues { NaiveFallback(destination: $0.fallback) }
  }
  /// The number of commands that still reach presenters before navd is killed; nil if it is not to be killed.
  private var asked: Int?
  /// The presentations for which no command has reached a presenter.
  private var undelivered: Set<Handle> = []
  private(set) var model: NaiveModel
  private var watcher = Watcher()
  private var checker = OrderChecker()
  private var presenters = Presenters()
  /// The time in milliseconds.
  private var now: UInt64 = 1000
  private(set) var clients: [Client]
  private var lastClient = 3
  private(set) var handles: [Token: Handle] = [:]
  private var tokens: [Handle: Token] = [:]
  /// A copy of the machine that did not get a refused request; it has to behave like the other one.
  private var twin: Twin?
  /// The bindings that the model says to be served by another client than that of the input (D18).
  private var elsewhere: [BindingID] = []

  private struct Twin: ~Copyable {
    var machine: StateMachine
    var steps: Int
  }

  /// The events of the run, which are kept only if it is traced.
  private(set) var trace: [String] = []
  private let isTracing: Bool
  /// Gives each input that is not refused by mistake to a navd on a bus, with whether it is refused.
  var mirror: ((Input, Refusal?) throws(Violation) -> Void)?

  /// - Parameter isLive: whether all inputs can be given to a navd on a bus, too.
  init(seed: UInt64, isTracing: Bool = false, isLive: Bool = false) {
    self.seed = seed
    self.isTracing = isTracing
    var dice = SplitMix64(seed: seed, step: -1)
    generator = InputGenerator(&dice, isLive: isLive)
    do throws(RecordFault) {
      machine = try StateMachine(limits: generator.limits, restoring: disk)
    } catch {
      preconditionFailure("\(error)")
    }
    model = NaiveModel(limits: generator.limits)
    clients = (1...3).map { Client(":1.\($0)") }
    files = generator.files(&dice)
    model.load(files)
    model.holdsOfAll = generator.holdsOfAll
    machine.setHolds(generator.holdsOfAll)
    groups = generator.groupSettings(&dice)
    model.fallbacks = groups.filter { $0.value.hasFallbacks }.mapValues { NaiveFallback(destination: $0.fallback) }
    model.overlapping = Set(groups.filter { $0.value.replacement == .overlap }.keys)
    checker.overlapping = model.overlapping
    model.hasNewGroupSettings = true
    model.containerValueDefaults = ["badge": .int32(0)]
    do {
      try machine.declareContainerValue("badge", defaultValue: .int32(0))
      let outcome = machine.load(files)
      machine.load(groups: groups)
      // Swift 6.2 takes both for an access to the whole world, since its initializer is not over.
      var first = Watcher()
      try first.take(outcome.changes, from: machine, isOneChange: true)
      watcher = first
      disk.apply(machine.takeUnrecorded())
    } catch {
      preconditionFailure("\(error)")
    }
  }

  // MARK: What happens

  private enum Kind {
    case request, transaction, hear, nonsense, end, closeWindow, close, act, time, leave, register, rest, die, hold,
      release, fact, serve
  }

  /// The number of inputs.
  private(set) var inputs = 0

  /// Registers the presenters that are on the bus before the first step.
  mutating func start() throws(Violation) {
    var dice = SplitMix64(seed: seed, step: -3)
    if !fallbacks.isEmpty { try happen(.time, &dice) }
    guard generator.hasDestinations, dice.chance(70) else { return }
    for name in ["bus", "bus2"] {
      let client = dice.pick(clients)
      try happen(.register(generator.registration(of: name, by: client, &dice), client), &dice)
    }
  }

  /// Takes one step, with its own dice.
  mutating func step(_ number: Int) throws(Violation) {
    var dice = SplitMix64(seed: seed, step: number)
    // A navd on a bus has only presenters that the bus knows, and a clock of its own.
    let isLive = generator.isLive
    let kind = dice.pick(weighted: [
      (38, Kind.request), (generator.hasTransactions ? 12 : 0, .transaction), (generator.attention, .hear),
      (isLive ? 0 : 2, .nonsense),
      (4, .end), (isLive ? 0 : 4, .closeWindow), (isLive ? 0 : 3, .close), (isLive ? 0 : 1, .act),
      (isLive ? 0 : 9, .time), (generator.hasOwners ? 2 : 1, .leave),
      (2, .register), (isLive ? 0 : 1, .rest),
      (generator.isMortal ? 3 : 0, .die),
      (generator.hasHolds ? 4 : 0, .hold), (generator.hasHolds ? 4 : 0, .release), (generator.hasHolds ? 2 : 0, .fact),
      (generator.hasServing ? 6 : 0, .serve),
    ])
    switch kind {
    case .request: try ask(1, &dice)
    case .transaction: try ask(2 + dice.below(5), &dice)
    case .hear: if let input = presenters.next(&dice) { try happen(input, &dice) } else { try ask(1, &dice) }
    case .nonsense:
      let parked = model.listedParked
      let isShown = !parked.isEmpty && dice.chance(50)
      let report =
        isShown ? .parkedShown(dice.pick(parked)) : presenters.nonsense(checker.lastHandle.number, &dice)
      try happen(.report(report), &dice)
    case .end:
      // A presentation that is shown is closed by its user, or crashes.
      let shown = checker.alive.filter { !$0.isStateOnly && $0.hasStarted }
      guard !shown.isEmpty else { return }
      // The other worlds stay as they were.
      var other = dice
      if !isLive, other.chance(8) {
        return try happen(.report(.hung(other.pick(shown).handle, error: "hangs")), &other)
      }
      try happen(.report(presenters.end(dice.pick(shown).handle, failed: !generator.isLive && dice.chance(30))), &dice)
    case .closeWindow:
      let shown = checker.alive.filter { $0.followsWindows && $0.hasStarted }
      guard !shown.isEmpty else { return }
      try happen(.report(presenters.loseWindows(of: dice.pick(shown).handle, &dice)), &dice)
    case .close: try happen(.closed(someHandle(&dice), presenters.closing(), byPresenter: dice.chance(50)), &dice)
    case .act: try happen(.act(someHandle(&dice), byPresenter: dice.chance(50)), &dice)
    case .time:
      if groups.values.contains(where: { !$0.otherFallbacks.isEmpty }), dice.chance(20) { turnClock(&dice) }
      try pass(dice.pick([1, 2, 5, 20, 200]), isLate: dice.chance(50), &dice)
    case .leave: try leave(dice.below(clients.count), &dice)
    case .register:
      let client = dice.pick(clients)
      let destination = generator.registration(by: client, &dice)
      let takesBack = dice.chance(40)
      try happen(takesBack ? .unregister(destination.name, client) : .register(destination, client), &dice)
    case .rest: try rest(&dice)
    case .die: try die(&dice)
    case .hold:
      var request: HoldRequest?
      let name = dice.pick(InputGenerator.holds)
      let timeout: UInt64? = dice.chance(40) ? dice.pick([1, 5, 50]) : nil
      do throws(Refusal) {
        request = try HoldRequest(name, isOwned: dice.chance(50), timeout: timeout, toggles: dice.chance(20))
      } catch {}
      if let request { try happen(.hold(request, dice.pick(clients)), &dice) }
    case .release:
      let held = model.holders.filter { $0.cookie != nil }
      if held.isEmpty || dice.chance(10) {
        try happen(.release(dice.pick(InputGenerator.holds), cookie: UInt64(dice.below(9))), &dice)
      } else {
        let holder = dice.pick(held)
        try happen(.release(holder.name, cookie: dice.chance(70) ? holder.cookie : nil), &dice)
      }
    case .serve:
      let owned = model.registrations.keys.sorted().flatMap { name in
        model.registrations[name]!.compactMap { destination -> (String, Client)? in
          if case .client(let client) = destination.source { (name, client) } else { nil }
        }
      }
      let (name, client) =
        owned.isEmpty || dice.chance(5) ? ("bus", dice.pick(clients)) : owned[dice.below(owned.count)]
      try happen(.serve(name, generator.served(&dice), client), &dice)
    case .fact: try happen(.fact(dice.chance(70) ? .locked : .idle, dice.chance(50)), &dice)
    }
  }

  /// Lets time pass. Deadlines are served one after the other: each in time, or all late.
  private mutating func pass(_ span: UInt64, isLate: Bool, _ dice: inout SplitMix64) throws(Violation) {
    let end = now + span
    if isLate { now = end }
    var count = 0
    while let due = nextDeadline, due <= end {
      now = max(now, due)
      try happen(.time, &dice)
      count += 1
      try require(count < 1000, "P14", "what is due at \(due) was not done")
    }
    now = end
    try happen(.time, &dice)
  }

  /// The time in milliseconds at which navd wakes up next; nil for never.
  private var nextDeadline: UInt64? { machine.nextDeadline.map { $0.nanoseconds / 1_000_000 } }

  /// Kills navd after an input was recorded, when only some of its commands have reached presenters. Until the restart,
  /// presentations end and clients leave.
  private mutating func die(_ dice: inout SplitMix64) throws(Violation) {
    guard !model.isShutDown else { return }
    asked = dice.below(3)
    undelivered = []
    defer { asked = nil }
    try ask(1, &dice)
    asked = nil
    try restart(hearsPresenters: false, &dice)
    var absent: Set<Client> = []
    for index in clients.indices where dice.chance(15) {
      absent.insert(clients[index])
      lastClient += 1
      clients[index] = Client(":1.\(lastClient)")
    }
    now += dice.pick([0, 1, 20, 200])
    let unheard = presenters.forgetAll()
    var survivals: [Handle: Survival] = [:]
    for showing in checker.alive where showing.hasStarted && !showing.isStateOnly && !showing.hasDeparted {
      let isBus = showing.isBus
      var isGone = unheard.contains(showing.handle) || dice.chance(15)
      if case .bus(let name, _) = showing.presenter, absent.contains(Client(name)) { isGone = true }
      if case .presenting = showing.stage, undelivered.contains(showing.handle), !isGone || !isBus {
        survivals[showing.handle] = .toBeShown
      } else {
        let isAway = showing.isAway && dice.chance(70)
        survivals[showing.handle] =
          isAway ? .awaited : isGone ? .gone(result: presenters.closing()) : isBus ? .toBeShown : .shown
      }
    }
    let shown = survivals.keys.sorted()
    for program in model.listedParked where !dice.chance(20) { survivals[program] = .shown }
    try require(
      machine.survivors.map(\.handle) == shown, "R2",
      "looked after: \(machine.survivors.map(\.handle)), live: \(shown)")
    try happen(.resume(survivals, absent: absent), &dice)
  }

  private mutating func ask(_ count: Int, _ dice: inout SplitMix64) throws(Violation) {
    let view = InputGenerator.View(
      shown: checker.alive.filter { !$0.isGoing }, lastHandle: checker.lastHandle.number)
    let requests = generator.requests(count, view, &dice)
    try happen(.perform(requests, dice.pick(clients)), &dice)
  }

  private func someHandle(_ dice: inout SplitMix64) -> Handle {
    let last = checker.lastHandle.number
    return Handle(last + 1 - min(last + 1, UInt64(dice.below(12))))
  }

  /// Lets a client leave the bus, with the presentations that it shows (D4). Its name is never used again.
  private mutating func leave(_ index: Int, _ dice: inout SplitMix64) throws(Violation) {
    let client = clients[index]
    let isToldFirst = dice.chance(50)
    // A shell may register its destinations anew, as it has read them, before it lets go of the earlier ones (D4).
    for name in model.registrations.keys.sorted() where dice.chance(20) {
      let successor = dice.pick(clients)
      guard successor != client else { continue }
      try happen(.register(generator.registration(of: name, by: successor, &dice), successor), &dice)
    }
    if isToldFirst { try tell(ofLeaving: index, &dice) }
    for showing in checker.alive {
      guard case .bus(name: client.name, _) = showing.presenter, showing.hasStarted else { continue }
      presenters.forget(showing.handle)
      try happen(.report(.presenterLeft(showing.handle)), &dice)
    }
    if !isToldFirst { try tell(ofLeaving: index, &dice) }
  }

  /// Tells navd that a client has left. Until then, a navd that starts anew counts the client as present.
  private mutating func tell(ofLeaving index: Int, _ dice: inout SplitMix64) throws(Violation) {
    let client = clients[index]
    lastClient += 1
    clients[index] = Client(":1.\(lastClient)")
    try happen(.left(client), &dice)
  }

  /// Lets everything under way end, by answers or timeouts, without further requests.
  mutating func rest(_ dice: inout SplitMix64) throws(Violation) {
    for _ in 0..<2000 {
      if let input = presenters.next(&dice) {
        try happen(input, &dice)
      } else if let due =
        (checker.alive.compactMap { $0.due ?? $0.startDue } + model.patience.values.filter { $0 < .max / 2 }).min()
      {
        if due > now { try pass(due - now, isLate: true, &dice) } else { try happen(.time, &dice) }
      } else {
        try checker.checkRest(machine: machine)
        try compareMembers()
        return
      }
    }
    throw Violation("P14", "it does not come to rest")
  }

  /// Ends the run.
  mutating func finish() throws(Violation) {
    var dice = SplitMix64(seed: seed, step: -2)
    if dice.chance(30) {
      try happen(.shutDown, &dice)
      try ask(1, &dice)
    }
    try rest(&dice)
    if model.isShutDown { try require(machine.isEmpty, "R5", "something is left after all was told to end") }
  }

  // MARK: Both sides

  /// Compares the items that programs are told to keep (D20).
  private func compare(_ outcome: Outcome, _ plan: NaivePlan?) throws(Violation) {
    let told = outcome.changes.flatMap { change in
      if case .requested(let items) = change.event {
        items.map { "\($0.binding)=\($0.id) \($0.value)" }
      } else {
        [String]()
      }
    }
    let expected = (plan?.requested ?? []).map { "\($0.binding)=\($0.id) \($0.value)" }
    try require(told == expected, "D20", "told to keep \(told), not \(expected)")
  }

  private mutating func happen(_ input: Input, _ dice: inout SplitMix64) throws(Violation) {
    inputs += 1
    if isTracing { trace.append("\(now) ms: \(input)") }
    (model.fellBack, model.hasLetFallbackGo) = ([], false)
    model.goals = [model.goal]
    checker.groupsWithFallback =
      model.isShutDown ? [] : Set(model.fallbacks.filter { $0.value.due == nil && $0.value.destination != nil }.keys)
    model.live = Set(checker.alive.filter(\.hasStarted).map(\.token))
    model.away = Set(checker.alive.filter(\.isAway).map(\.token))
    elsewhere = []
    model.outlasting = checker.outlasting
    let before = (model: model, serial: machine.serial, handle: machine.lastHandle, deadline: machine.nextDeadline)
    let copy: StateMachine? = twin == nil && dice.chance(2) ? machine.copy() : nil
    let expected = modelled(input)
    var actual: Result<Input.Effect, Refusal>
    do throws(Refusal) {
      actual = .success(try input.happen(to: &machine, at: now))
    } catch {
      actual = .failure(error)
      if isTracing { trace.append("    refused: \(error)") }
    }
    try compareTwin(input, actual)
    switch (actual, expected) {
    case (.success(let effect), .success(let plan)):
      try require(effect.elsewhere == elsewhere, "D18", "served elsewhere: \(effect.elsewhere), not \(elsewhere)")
      try compare(effect.outcome, plan)
      try take(effect.outcome, of: input, &dice)
      if case .perform(let requests, _) = input {
        if let plan { try compare(effect.replies, plan.answers, before.model) }
        try judgeLast(
          requests, effect.replies, isExcused: plan?.hasGivenWay == true || plan?.requested.isEmpty == false)
      }
    case (.success, .failure(let refusal)):
      throw Violation("refusals", "accepted, but the rules refuse it: \(refusal)")
    case (.failure(let refusal), .success):
      throw Violation("refusals", "refused, but the rules accept it: \(refusal)")
    case (.failure(let refusal), .failure(let expected)):
      try require(expected.codes.contains(refusal.code), "refusals", "\(refusal), but the rules say \(expected.codes)")
      if let index = expected.index {
        try require(refusal.index == index, "T1", "request \(index) is wrong, not \(refusal.index ?? -1): \(refusal)")
      }
      try require(
        machine.serial == before.serial && machine.lastHandle == before.handle
          && machine.nextDeadline == before.deadline, "T1", "a refused request changed something")
      if let copy = consume copy { twin = Twin(machine: copy, steps: 8) }
    }
    try compare()
    if let mirror {
      if case .failure(let refusal) = actual { try mirror(input, refusal) } else { try mirror(input, nil) }
    }
    disk.apply(machine.takeUnrecorded())
    let faults = machine.keptFaults(disk.loginItems)
    try require(faults.isEmpty, "K4", "\(faults)")
    if !model.isShutDown, dice.chance(2) {
      try restart(&dice)
      if !fallbacks.isEmpty { try happen(.time, &dice) }
    }
  }

  /// Restarts navd at once: the machine restored from the record has to behave like the one before.
  /// - Parameter hearsPresenters: whether presenters answer the questions of the navd before.
  private mutating func restart(hearsPresenters: Bool = true, _ dice: inout SplitMix64) throws(Violation) {
    if isTracing { trace.append("    navd starts anew, with \(disk.tags.map { "\($0.key.tag) \($0.value.stamp)" })") }
    // The record does not have these values; the machine before has them in memory.
    for handle in disk.presentations.keys {
      let before = hearsPresenters ? machine.presentation(handle) : nil
      disk.presentations[handle]!.presentation.awaitsUpdateAnswer = before?.awaitsUpdateAnswer ?? false
      disk.presentations[handle]!.presentation.awaitsResult = before?.awaitsResult ?? false
      disk.presentations[handle]!.presentation.isWithoutWindow = before?.isWithoutWindow ?? false
      disk.presentations[handle]!.presentation.isLate = before?.isLate ?? false
      disk.presentations[handle]!.presentation.isStarted = before?.isStarted ?? false
    }
    if !hearsPresenters { (model.withoutWindow, model.late) = ([], []) }
    do throws(RecordFault) {
      machine = try StateMachine(limits: generator.limits, restoring: disk, destinations: files)
      machine.setHolds(generator.holdsOfAll)
    } catch {
      throw Violation("R2", "the record cannot be the state: \(error)")
    }
    // The machine finds out that these clients have left.
    for client in machine.knownClients.subtracting(clients).sorted() {
      let outcome = machine.clientLeft(client, at: Instant(nanoseconds: now * 1_000_000))
      try require(outcome.changes.isEmpty, "R2", "\(client) has left before, and makes a difference")
    }
    // Items that had ended by themselves did so while the session went on.
    machine.forgetOtherLoginItems()
    turnClock(&dice)
    twin = nil
    registered = [:]
    let served = generator.groups.map { (group: $0, tags: Set(model.servedTags(of: $0).keys)) }
    model.served = []
    for (group, tags) in served { watcher.forget(tags.subtracting(model.tags(of: group)), of: group) }
    checker.forgetAbsences()
    // The record does not have the requests to programs to end.
    for program in model.parked.keys { model.parked[program]!.isEnding = false }
    restarts += 1
    if restarts.isMultiple(of: 2) { try editFile() }
  }

  /// Lets the clock make another destination the fallback of groups, or none (K7), and navd take the settings of groups.
  private mutating func turnClock(_ dice: inout SplitMix64) {
    for (group, settings) in groups.sorted(by: { $0.key.text < $1.key.text }) where !settings.otherFallbacks.isEmpty {
      let all = settings.otherFallbacks.union([settings.fallback].compactMap(\.self))
      let next = dice.chance(20) ? nil : dice.pick(all.sorted())
      groups[group]!.fallback = next
      groups[group]!.otherFallbacks = all.subtracting([next].compactMap(\.self))
      if isTracing, next != settings.fallback {
        trace.append("    the clock makes \(next ?? "nothing") the fallback of \(group)")
      }
    }
    machine.load(groups: groups)
    twin?.machine.load(groups: groups)
    model.fallbacks = fallbacks
    model.hasNewGroupSettings = true
  }

  /// Gives the destination that hides its windows another command, as its user edits the file.
  private mutating func editFile() throws(Violation) {
    guard let hider = files.firstIndex(where: { $0.name == "hider" }) else { return }
    files[hider].presenter = .command([Array("editor \(restarts % 4)".utf8)])
    model.load(files)
    let outcome = machine.load(files)
    disk.apply(machine.takeUnrecorded())
    try watcher.take(outcome.changes, from: machine, isOneChange: true)
  }

  /// Gives the input to the model. The log decides the effect of inputs that are not requests.
  private mutating func modelled(_ input: Input) -> Result<NaivePlan?, NaiveRefusal> {
    do throws(NaiveRefusal) {
      switch input {
      case .perform(let requests, let client): return .success(try perform(requests, by: client))
      case .report(.parkedShown(let program)):
        // What cannot be presented stays parked.
        return .success(try? model.request(forShown: program).map { request in try perform([request], by: nil) })
      case .report(let report):
        hear(report)
      case .closed(let handle, let result, let byPresenter):
        guard let showing = try reported(handle, byPresenter) else { return .success(nil) }
        if showing.isBus, showing.hasStarted {
          hear(.ended(handle, failed: false, result: result))
        } else if model.isCurrent(showing.token) {
          checker.note(result, of: handle)
          model.end([showing.token], .closed, at: now, results: liveResults)
        }
      case .asking(let handle, let byPresenter):
        guard let showing = try reported(handle, true) else { return .success(nil) }
        guard byPresenter else { throw NaiveRefusal(.accessDenied) }
        guard mayDecline(showing) else { return .success(nil) }
        checker.asks(handle)
      case .act(let handle, let byPresenter):
        _ = try reported(handle, byPresenter)
      case .time:
        // A deadline that is later has an input of its own. The next attempt to present a fallback has none.
        let due = min(now, machine.state.nextDeadline.map { $0.nanoseconds / 1_000_000 } ?? now)
        checker.pass(to: due)
        model.pass(to: due)
        let late = checker.alive.filter { showing in
          let answer: UInt64? = if case .presenting(let answer) = showing.stage { answer } else { showing.againDue }
          return answer.map { $0 <= due } ?? false && !showing.isGoing
        }
        let expired = (Array(model.expiries) + Array(model.patience)).filter { $0.value <= due }
        model.end(
          late.map { ($0.token, .failed) } + expired.map { ($0.key, .expired) }, at: now, results: liveResults)
        model.release(at: now) { $0.end.map { $0 <= due } ?? false }
      case .left(let client): model.left(client, at: now)
      case .register(let destination, let client):
        try model.register(destination, by: client)
        registered["\(destination.name) \(client)"] = checker.lastHandle
        for showing in checker.alive where showing.isAway && showing.destination == destination.name {
          comesBack(showing, as: destination)
        }
      case .unregister(let name, let client):
        guard model.registrations[name]?.contains(where: { $0.source == .client(client) }) == true else {
          throw NaiveRefusal(.unknownDestination)
        }
        model.unregister(name, by: client)
      case .serve(let destination, let entries, let client):
        elsewhere = try model.serve(destination, entries, by: client)
      case .hold(let request, let client):
        guard !model.isShutDown else { throw NaiveRefusal(.shuttingDown) }
        if request.toggles, model.holders.contains(where: { $0.name == request.name && $0.cookie != nil }) {
          model.release(at: now) { $0.name == request.name && $0.cookie != nil }
        } else {
          let end = request.timeout.map { saturatingSum(now, $0) }
          begin(request.name, cookie: machine.serial.number + 1, owner: request.isOwned ? client : nil, until: end)
        }
      case .release(let name, let cookie):
        model.release(at: now) { $0.name == name && $0.cookie != nil && (cookie == nil || $0.cookie == cookie) }
      case .fact(let fact, let isTrue):
        let isKnown = model.holders.contains { $0.name == fact.rawValue && $0.cookie == nil }
        guard isKnown != isTrue, !model.isShutDown else { return .success(nil) }
        if isTrue {
          begin(fact.rawValue, cookie: nil, owner: nil, until: nil)
        } else {
          model.release(at: now) { $0.name == fact.rawValue && $0.cookie == nil }
        }
      case .shutDown: model.shutDown(at: now)
      case .resume(let survivals, let absent):
        model.loseParked(survivals)
        let lost = checker.note(survivals, at: now)
        model.outlasting = checker.outlasting
        model.force(checker.alive.filter { $0.isGoing && $0.hasDeparted }.map(\.token))
        model.force(model.going.filter { absent.contains($0.value.showing.item.owner ?? Client("")) }.keys)
        let owned = model.slots.values.filter { absent.contains($0.item.owner ?? Client("")) }.map(\.token)
        model.end(
          lost.map { ($0, .lost) } + owned.filter { !lost.contains($0) }.map { ($0, .owner) }, at: now,
          results: liveResults.filter { !owned.contains($0.key) })
        for client in absent.sorted() { model.left(client, at: now) }
        model.serveQueues(at: now)
      }
      switch input {
      case .register, .unregister, .serve, .act: break
      default: model.fallBack(at: now)
      }
      endAbsences()
      return .success(nil)
    } catch {
      return .failure(error)
    }
  }

  private mutating func perform(_ requests: [Request], by client: Client?) throws(NaiveRefusal) -> NaivePlan {
    let tokens = tokens
    let plan = try model.perform(
      requests, by: client, at: now, tokens: { tokens[$0] },
      alive: (checker.alive.count, checker.alive.count { $0.creator == client }),
      own: { token in checker.alive.contains { $0.token == token && $0.creator == client } })
    model.fallBack(at: now)
    endAbsences()
    return plan
  }

  private mutating func begin(_ name: String, cookie: UInt64?, owner: Client?, until end: UInt64?) {
    let live = checker.alive.filter(\.hasStarted).map(\.token)
    model.begin(NaiveModel.Holder(name: name, cookie: cookie, owner: owner, end: end), live: live, at: now)
  }

  private mutating func hear(_ report: Report) {
    if case .declined(let handle, _) = report, let showing = checker.showing(handle), mayDecline(showing) {
      model.decline(showing.token, at: now)
    }
    if case .parkedEnded(let program) = report { model.parked[program] = nil }
    if case .parkedStays(let program, let message) = report, let parked = model.parked[program] {
      model.parked[program]!.isEnding = false
      model.parked[program]!.stays = message
      // A navd that quits gives the program back to its user.
      if parked.isEnding, model.isShutDown { model.parked[program] = nil }
    }
    switch report {
    case .windowsGone(let handle, let isFinal):
      guard let showing = checker.showing(handle), showing.followsWindows, showing.hasStarted else { return }
      guard isFinal, showing.isGoing || !model.mayComeAgain(showing.token) else {
        model.withoutWindow.insert(showing.token)
        return
      }
    case .startsSlowly(let handle):
      if let showing = checker.showing(handle), case .presenting = showing.stage, !showing.isGoing {
        model.late.insert(showing.token)
      }
    case .windowsBack(let handle): if let token = tokens[handle] { model.withoutWindow.remove(token) }
    case .ended(let handle, failed: true, _):
      if let showing = checker.showing(handle), showing.awaitsResult { model.crash(showing.token) }
    default: break
    }
    if let end = checker.hear(report, at: now), let token = tokens[end.handle] {
      model.end([token], end.reason, at: now, results: liveResults)
      // A program that hangs cannot be asked (D21).
      if case .hung = report { model.force([token]) }
    }
    switch report {
    case .hidden(let handle), .guestHidden(let handle):
      if let showing = checker.showing(handle), case .asked = showing.stage,
        model.park(showing, as: handle, isGuest: report == .guestHidden(handle))
      {
        checker.hides(handle)
      }
    default: break
    }
    model.force(checker.alive.filter { $0.isGoing && $0.hasDeparted }.map(\.token))
    if case .presenterLeft(let handle) = report, let showing = checker.showing(handle), showing.isAway,
      let name = showing.destination, let last = model.destination(name), case .client(let client) = last.source,
      registered["\(name) \(client)"].map({ $0 >= handle }) == true
    {
      comesBack(showing, as: last)
    }
  }

  /// Has the presenter of a destination show a presentation that the former presenter has left behind (D4).
  private mutating func comesBack(_ showing: OrderChecker.Showing, as destination: Destination) {
    checker.comesBack(showing.handle)
    handOver(showing, to: destination)
  }

  /// Finds the presenter of a presentation that has waited: the one that counts when its turn comes (D1).
  private mutating func findPresenter(of handle: Handle) {
    guard let showing = checker.showing(handle), showing.isBus, !showing.hasStarted, let name = showing.destination,
      let last = model.destination(name), case .bus = last.presenter
    else { return }
    handOver(showing, to: last)
  }

  private mutating func handOver(_ showing: OrderChecker.Showing, to destination: Destination) {
    checker.handOver(showing.handle, to: destination)
    guard let binding = model.binding(of: showing.token), var own = model.slots[binding]?.item.destination else {
      return
    }
    (own.presenter, own.source) = (destination.presenter, destination.source)
    (own.startTimeout, own.grace) = (destination.startTimeout, destination.grace)
    model.slots[binding]!.item.destination = own
  }

  /// Ends presentations that are to go while their presenters are away. They need no answer, so nothing can keep them (D4).
  private mutating func endAbsences() {
    model.force(checker.endAbsences { [model] in model.isCurrent($0) })
  }

  /// The known results of the started programs.
  private var liveResults: [Token: Properties] {
    Dictionary(uniqueKeysWithValues: checker.alive.filter(\.hasStarted).map { ($0.token, $0.result ?? [:]) })
  }

  /// Whether its presenter was told to end a presentation, and may decline (P15).
  private func mayDecline(_ showing: OrderChecker.Showing) -> Bool {
    showing.isAsked && model.going[showing.token]?.isForced == false
  }

  /// The presentation that is reported closed; nil if the report is too late (D11).
  private func reported(_ handle: Handle, _ byPresenter: Bool) throws(NaiveRefusal) -> OrderChecker.Showing? {
    guard handle.number > 0, handle <= checker.lastHandle else { throw NaiveRefusal(.unknownPresentation) }
    guard let showing = checker.showing(handle) else { return nil }
    guard byPresenter || !showing.isBus else { throw NaiveRefusal(.accessDenied) }
    return showing
  }

  /// Takes in the outcome of an input, as watchers and presenters do.
  private mutating func take(_ outcome: Outcome, of input: Input, _ dice: inout SplitMix64) throws(Violation) {
    if isTracing {
      trace += outcome.changes.map { "    → \($0.serial) \($0.event.shown)" }
      trace += outcome.commands.map { "    ⇒ \($0)" }
    }
    // A fallback is selected, or ends, by a second change of the same input (K1, K7).
    let isOneChange = input.isOneChange && model.fellBack.isEmpty && !model.hasLetFallbackGo
    try introduce(isOneChange: isOneChange)
    checker.unseen = model.withoutWindow
    checker.goals = isOneChange ? [model.goal] : model.goals + [model.goal]
    try watcher.take(outcome.changes, from: machine, isOneChange: isOneChange)
    for case .present(let handle) in outcome.commands {
      model.start(tokens[handle]!)
      findPresenter(of: handle)
    }
    for case .presented(let handle, _, _, _) in outcome.changes.map(\.event) { model.becameSeen(tokens[handle]!) }
    let forced = Set(model.going.filter(\.value.isForced).keys)
    try checker.take(outcome, at: now, forced: forced, isOneChange: isOneChange, machine: machine)
    for change in outcome.changes {
      switch change.event {
      case .presented(let handle, _, _, _):
        model.becamePresented(tokens[handle]!, at: now)
        model.leaveParking(handle)
      case .phase(let handle, _, _, .presenting): model.start(tokens[handle]!)
      case .dismissed(let handle, _, _, let reason, _):
        try checkReason(reason, of: handle)
        model.giveUpParked(handle)
        model.going[tokens[handle]!] = nil
      default: break
      }
    }
    let isResuming = if case .resume = input { true } else { false }
    var outdated: Set<Handle> = []
    for command in outcome.commands {
      if case .present(let handle) = command, let presentation = machine.presentation(handle) {
        if !isResuming { outdated.formUnion(model.outdatedParked(presentation)) }
        let program = model.claimParked(presentation)
        try require(
          presentation.program == program, "N8",
          "\(handle) is shown by \(presentation.program?.description ?? "no") "
            + "program, not \(program?.description ?? "none")")
      }
    }
    for case .endParked(let program, isForced: false) in outcome.commands { outdated.remove(program) }
    try require(outdated.isEmpty, "N8", "\(outdated.sorted()) are of an earlier command, and are not told to end")
    try require(
      machine.parked.map(\.handle) == model.listedParked, "N8",
      "parked: \(machine.parked.map(\.handle)), not \(model.listedParked)")
    for command in outcome.commands {
      if case .endParked(let program, let isForced) = command {
        try require(model.parked[program] != nil, "N8", "\(program) is to end, and is not parked")
        if isForced { model.parked[program]!.isEnding = true }
        model.parked[program]!.stays = nil
      }
      if let left = asked {
        guard left > 0 else {
          if case .present(let handle) = command { undelivered.insert(handle) }
          continue
        }
        asked = left - 1
      }
      presenters.take(
        command, faults: generator.presenterFaults, wishes: generator.presenterWishes,
        window: machine.presentation(command.handle)?.item.destination?.window, &dice)
      if case .present(let handle) = command,
        machine.presentation(handle)?.item.destination?.itemSettings?.awaitsReady == true
      {
        presenters.sayReady(handle, &dice)
      }
    }
    for program in model.listedParked {
      let (told, expected) = (machine.reasonToStay(of: program), model.parked[program]!.stays)
      try require(
        told == expected, "N8", "\(program) stays because of \(told ?? "nothing"), not \(expected ?? "nothing")")
    }
    try checker.checkWaits(now: now, nextDeadline: nextDeadline)
    if let expiry = model.expiries.values.min() {
      try require(nextDeadline.map { $0 <= expiry } ?? false, "O2", "nobody wakes up at \(expiry)")
    }
  }

  private mutating func introduce(isOneChange: Bool) throws(Violation) {
    let first = checker.lastHandle.number + 1
    guard first <= machine.lastHandle.number else { return }
    for number in first...machine.lastHandle.number {
      let handle = Handle(number)
      guard let presentation = machine.presentation(handle) else {
        guard !isOneChange, try introduceEnded(handle) else {
          throw Violation("P6", "\(handle) was given out, and is not there")
        }
        continue
      }
      guard let slot = model.slots[presentation.binding], handles[slot.token] == nil else {
        throw Violation("P3", "\(handle) is new at \(presentation.binding), but the rules want nothing new there")
      }
      handles[slot.token] = handle
      tokens[handle] = slot.token
      try checker.introduce(
        presentation, token: slot.token, hasNamedParent: slot.hasNamedParent, startDue: slot.again?.due)
    }
  }

  /// Introduces presentations that came and went in one input, with the end of something else.
  private mutating func introduceEnded(_ handle: Handle) throws(Violation) -> Bool {
    guard let ending = machine.ending(of: handle),
      let going = model.going.values.filter({ $0.binding == ending.binding && handles[$0.showing.token] == nil })
        .min(by: { $0.showing.token < $1.showing.token })
    else { return false }
    let showing = going.showing
    handles[showing.token] = handle
    tokens[handle] = showing.token
    var item = Item(id: showing.item.id)
    item.destination = showing.item.destination.map { Shared($0) }
    item.membership = showing.item.group.map { GroupTag(group: $0, tag: showing.item.tag ?? "") }
    item.position = going.place.map { StackPosition(stack: $0.stack, index: $0.index) }
    try checker.introduce(
      Presentation(
        handle: handle, binding: going.binding, item: Shared(item), parent: showing.parent.flatMap { handles[$0] }),
      token: showing.token, hasNamedParent: showing.hasNamedParent, startDue: showing.again?.due)
    return true
  }

  private func checkReason(_ reason: Reason, of handle: Handle) throws(Violation) {
    let expected = tokens[handle].flatMap { model.reasons[$0] } ?? []
    try require(expected.contains(reason), "P12", "\(handle) ends as \(reason), but the rules say \(expected)")
  }

  // MARK: Comparing

  private func compare() throws(Violation) {
    try watcher.compare(with: machine, groups: generator.groups, stacks: generator.stacks)
    var count = 0
    for presentation in machine.allPresentations {
      let (handle, binding) = (presentation.handle, presentation.binding)
      guard let slot = model.slots[binding], handles[slot.token] == handle else {
        guard let dismissal = presentation.phase.dismissal else {
          throw Violation(
            "P3", "\(handle) at \(binding) is \(presentation.phase.name.rawValue), but should not be shown")
        }
        try checkReason(dismissal.reason, of: handle)
        // Nobody can decline the dismissal of a presentation that only waits for its result (N3).
        try require(
          dismissal.stage == .settling || dismissal.isForced == model.going[tokens[handle]!]?.isForced, "P15",
          "\(handle) is\(dismissal.isForced ? "" : " not") forced, but the rules say otherwise")
        continue
      }
      count += 1
      try require(machine.current(at: binding)?.handle == handle, "P3", "\(binding) should show \(handle)")
      try compare(presentation, slot)
    }
    if count != model.slots.count {
      let missing = model.slots.filter { machine.current(at: $0.key) == nil }.keys.map(\.text).sorted()
      throw Violation("P3", "nothing is shown at \(missing)")
    }
    for group in generator.groups {
      try require(
        machine.selection(of: group) == model.selection(of: group), "G6",
        "\(group) has \(machine.selection(of: group) ?? "nil"), not \(model.selection(of: group) ?? "nil") selected")
      try require(
        machine.queuedTags(of: group) == model.queue(of: group), "G9",
        "in \(group) wait \(machine.queuedTags(of: group)), not \(model.queue(of: group))")
      try require(
        machine.tags(of: group) == model.tags(of: group), "G7",
        "\(group) knows \(machine.tags(of: group)), not \(model.tags(of: group))")
    }
    for stack in generator.stacks {
      let path = machine.path(of: stack).compactMap { try? BindingID($0.binding) }
      try require(
        path == model.paths[stack, default: []], "S1", "\(stack) is \(path), not \(model.paths[stack, default: []])")
    }
  }

  private func compare(_ presentation: Presentation, _ slot: NaiveModel.Showing) throws(Violation) {
    let (item, expected) = (presentation.item, slot.item)
    let position = model.position(of: presentation.binding)
    let isEqual =
      item.id == expected.id && item.destination?.content == expected.destination && item.value == expected.value
      && item.containerValues == expected.containerValues && item.style == expected.style
      && item.title == expected.title && item.input == expected.input
      && item.timeout == expected.timeout && item.owner == expected.owner && item.priority == expected.priority
      && item.membership?.group == expected.group && item.membership?.tag == expected.tag
      && item.isQueued == (expected.queuedAt != nil) && item.position?.stack == position?.stack
      && item.position?.index == position?.index
      && item.holds == expected.holds.filter { $0.value != .show }
    try require(
      isEqual, "P2", "\(presentation.handle) is \(item), not \(expected) at \(position.map { "\($0)" } ?? "no place")")
    try require(
      presentation.parent == slot.parent.map { handles[$0]! }, "C1",
      "\(presentation.handle) is presented from \(presentation.parent?.description ?? "nothing"), not "
        + (slot.parent.map { "\(handles[$0]!)" } ?? "nothing"))
    try require(
      presentation.continuation?.due?.nanoseconds == slot.again?.due.map { $0 * 1_000_000 }
        && presentation.continuation?.restarts == slot.again?.restarts, "K3",
      "\(presentation.handle) continues as \(presentation.continuation as Any), not as \(slot.again as Any)")
    if presentation.phase.name.rawValue == "presented" {
      let expiry = model.expiries[slot.token].map { $0.multipliedReportingOverflow(by: 1_000_000) }
      try require(
        presentation.expires?.nanoseconds == expiry.map { $0.overflow ? .max : $0.partialValue }, "O2",
        "\(presentation.handle) ends at \(presentation.expires?.nanoseconds ?? 0) ns, not \(expiry?.partialValue ?? 0)")
    }
    let patience = model.patience[slot.token].map { $0.multipliedReportingOverflow(by: 1_000_000) }
    try require(
      presentation.startsBy?.nanoseconds == patience.map { $0.overflow ? .max : $0.partialValue }, "H6",
      "\(presentation.handle) waits until \(presentation.startsBy?.nanoseconds ?? 0) ns")
    if case .dismissing = presentation.phase {
      throw Violation("P11", "\(presentation.handle) is its slot's own, but is going")
    }
  }

  /// Compares the replies, which describe the final state (T1).
  private func compare(_ replies: [Reply], _ answers: [NaivePlan.Answer], _ before: NaiveModel) throws(Violation) {
    try require(replies.count == answers.count, "T1", "\(replies.count) replies to \(answers.count) requests")
    for (reply, answer) in zip(replies, answers) {
      let expected = expected(answer, like: reply, since: before)
      try require(
        reply == expected, "T1",
        "the reply is \(reply), not \(expected.map { "\($0)" } ?? "of the kind that answers"), to \(answer)")
    }
  }

  /// The reply that the rules want; nil if they want another kind of reply.
  private func expected(_ answer: NaivePlan.Answer, like reply: Reply, since before: NaiveModel) -> Reply? {
    switch (reply, answer) {
    case (.presentation, .slot(let binding)):
      return .presentation(handle(at: binding), changed: isChanged(binding, since: before))
    case (.toggled, .slot(let binding)):
      let handle = handle(at: binding)
      return .toggled(presented: handle != nil, handle)
    case (.changed, .slot(let binding)): return .changed(isChanged(binding, since: before))
    case (.changed, .forgotten(let isForgotten)): return .changed(isForgotten)
    case (.changed, .group(let group)): return .changed(isGroupChanged(group, since: before))
    case (.selected, .tag(let group, let tag)): return .selected(model.selection(of: group) == tag)
    case (.count, .count(let count)): return .count(count)
    case (.path, .slots(let bindings)): return .path(bindings.map { handle(at: $0) })
    default: return nil
    }
  }

  /// Checks that the last request of a transaction is presented. Only a fallback gives way, with all that depends on it (T1, K1), and
  /// what is out of view is not there (D20).
  private func judgeLast(
    _ requests: [Request], _ replies: [Reply], isExcused: Bool
  ) throws(Violation) {
    let isThere =
      switch (requests.last?.operation, replies.last) {
      case (.present, .presentation(let handle, _)), (.push, .presentation(let handle, _)),
        (.select, .presentation(let handle, _)):
        handle != nil
      case (.setPath, .path(let handles)): !handles.contains(nil)
      default: true
      }
    try require(isThere || isExcused, "T1", "the last request has nothing to show: \(replies)")
  }

  private func handle(at binding: BindingID) -> Handle? { model.slots[binding].flatMap { handles[$0.token] } }

  private func isChanged(_ binding: BindingID, since before: NaiveModel) -> Bool {
    let (old, new) = (before.slots[binding], model.slots[binding])
    guard let old, let new, old.token == new.token else { return old?.token != new?.token }
    return !old.item.looksLike(new.item) || (old.item.queuedAt == nil) != (new.item.queuedAt == nil)
  }

  private func isGroupChanged(_ group: BindingID, since before: NaiveModel) -> Bool {
    model.fellBack.contains(group) || model.selection(of: group) != before.selection(of: group)
      || model.queue(of: group) != before.queue(of: group)
      || model.tags(of: group) != before.tags(of: group)
  }

  /// Compares the members of containers (V5).
  private func compareMembers() throws(Violation) {
    func expect(_ container: Container<BindingID>, _ bindings: [BindingID]) throws(Violation) {
      let members = machine.members(of: container)
      try require(
        members.map(\.binding) == bindings, "V5", "\(container) has \(members.map(\.binding)), not \(bindings)")
      for member in members {
        let expected = model.containerValueDefaults.merging(model.slots[member.binding]!.item.containerValues) { $1 }
        try require(member.containerValues == expected, "V3", "\(member) should have \(expected)")
      }
    }
    func accepted(_ isMember: (NaiveModel.Showing) -> Bool) -> [BindingID] {
      model.slots.filter { isMember($0.value) }.sorted { handles[$0.value.token]! < handles[$1.value.token]! }.map(
        \.key)
    }
    try expect(.everything, accepted { _ in true })
    for group in generator.groups { try expect(.group(group), accepted { $0.item.group == group }) }
    for stack in generator.stacks { try expect(.stack(stack), model.paths[stack, default: []]) }
    for (binding, slot) in model.slots { try expect(.parent(binding), accepted { $0.parent == slot.token }) }
  }

  /// Compares the machine with its twin: a refused request leaves no trace, not even one that shows later (T1).
  private mutating func compareTwin(_ input: Input, _ actual: Result<Input.Effect, Refusal>) throws(Violation) {
    guard var other = twin.take() else { return }
    var same: Bool
    do throws(Refusal) {
      let effect = try input.happen(to: &other.machine, at: now)
      if case .success(let seen) = actual {
        same =
          effect.replies == seen.replies && effect.outcome.changes == seen.outcome.changes
          && effect.outcome.commands == seen.outcome.commands
      } else {
        same = false
      }
    } catch {
      if case .failure(let seen) = actual { same = error == seen } else { same = false }
    }
    try require(same, "T1", "a request refused earlier makes a difference")
    if other.steps > 1 {
      other.steps -= 1
      twin = consume other
    }
  }
}

extension Change.Event {
  var shown: String {
    switch self {
    case .presented(let handle, let binding, let id, _): "presented \(handle) \(binding)=\(id)"
    case .updated(let handle, let binding, let id, _, _): "updated \(handle) \(binding)=\(id)"
    case .phase(let handle, let binding, let id, let word): "\(word) \(handle) \(binding)=\(id)"
    case .dismissed(let handle, let binding, let id, let reason, _): "dismissed \(handle) \(binding)=\(id) \(reason)"
    case .declined(let handle, let binding, let id, _): "declined \(handle) \(binding)=\(id)"
    case .asking(let handle, _, _, let message): "asking \(handle) \(message ?? "no more")"
    case .action(let handle, _, _, let action, _): "action \(handle) \(action)"
    case .selection(let group, let tag): "selection \(group) \(tag ?? "nil")"
    case .group(let group): "group \(group)"
    case .path(let stack): "path \(stack)"
    case .hold(let name, let isInForce): "hold \(name) \(isInForce)"
    case .parked: "parked"
    case .requested(let items): "requested " + items.map { "\($0.binding)=\($0.id)" }.joined(separator: " ")
    }
  }
}
