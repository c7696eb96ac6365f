import DBusValues
import PresentationModel
import TextFormats

/// The rules of the coordinator: the state, and its changes by requests, reports and time.
///
/// Every input is one call. It returns an `Outcome`: the changes for watchers and the commands for presenters, in order.
/// The machine does no input or output and has no clock: the caller passes the time and carries out the outcome.
///
/// A machine is a reference to its state that cannot be copied. While it processes an input, it lends further ones: a `Transition` has
/// one in a variable, and may write the state; a `Planner` has one in a constant, and can only read it.
///
/// The machine is Sendable, since nothing else refers to its state between two inputs.
public struct StateMachine: ~Copyable, @unchecked Sendable {
  private final class Storage {
    var state: State
    init(_ state: State) { self.state = state }
  }

  private let storage: Storage

  var state: State {
    @inline(__always) _read { yield storage.state }
    @inline(__always) _modify { yield &storage.state }
  }

  public var limits: Limits { state.limits }
  /// The serial of the last change (W1).
  public var serial: Serial { state.serial }
  /// The last handle given out.
  public var lastHandle: Handle { state.lastHandle }
  /// Nanoseconds by which the wall clock is ahead of the clock of the inputs; nil if unknown. Only timestamps of endings and
  /// presentations use them: no rule depends on them.
  public var wallClockLead: Int64? {
    get { state.wallClockLead }
    set { state.wallClockLead = newValue }
  }

  /// - Parameter hasFiles: whether files can declare destinations.
  public init(limits: Limits = Limits(), hasFiles: Bool = true) {
    var state = State(limits: limits)
    state.registry.hasFiles = hasFiles
    self.init(state)
  }

  init(_ state: State) { storage = Storage(state) }

  private init(_ storage: Storage) { self.storage = storage }

  /// A further reference to the same state, for the time of an input.
  func lent() -> StateMachine { StateMachine(storage) }

  /// Processes one input.
  /// - Parameter now: the time; nil for inputs that neither start nor end a presentation.
  mutating func process(at now: Instant? = nil, _ body: (inout Transition) -> Void) -> Outcome {
    var transition = Transition(of: self, at: now)
    body(&transition)
    if now != nil { transition.followUp() }
    return transition.finish()
  }

  // MARK: Requests

  /// Carries out one request or a whole transaction, or changes nothing (T1).
  ///
  /// - Parameters:
  ///   - animated: whether changes are animated if a request does not decide it (T2).
  ///   - client: the client that sent the requests.
  ///   - trust: whether the client may reuse what trusted clients have given for running programs (L3).
  ///   - isRestoring: whether the items were accepted in an earlier session, so that no hold refuses them (H3, K4).
  /// - Returns: one reply for each request, describing the final state, and the outcome.
  /// - Throws: `Refusal`, with nothing changed; its `index` names the request.
  public mutating func perform(
    _ requests: [Request], animated: Bool = true, by client: Client?, trust: Trust = .trusted,
    isRestoring: Bool = false,
    at now: Instant
  ) throws(Refusal) -> (replies: [Reply], outcome: Outcome) {
    try limits.check("transaction", requests.count, limits.transaction, of: "requests")
    return try carryOut(by: client, isRestoring: isRestoring, at: now) { planner throws(Refusal) in
      var answers: [Answer] = []
      answers.reserveCapacity(requests.count)
      for (index, request) in requests.enumerated() {
        let author = Author(client: client, trust: trust, request: index, animated: request.animated ?? animated)
        answers.append(try planner.plan(request, by: author))
      }
      return answers
    } reply: { transition, answers in
      answers.map { transition.reply(to: $0) }
    }
  }

  /// Carries out one request.
  /// - Throws: `Refusal`, with nothing changed.
  public mutating func perform(
    _ request: Request, by client: Client?, trust: Trust = .trusted, at now: Instant
  ) throws(Refusal) -> (reply: Reply, outcome: Outcome) {
    do throws(Refusal) {
      return try carryOut(by: client, at: now) { planner throws(Refusal) in
        let author = Author(client: client, trust: trust, request: 0, animated: request.animated ?? true)
        return try planner.plan(request, by: author)
      } reply: { transition, answer in
        transition.reply(to: answer)
      }
    } catch {
      var refusal = error
      refusal.index = nil
      throw refusal
    }
  }

  /// Carries out a plan, or changes nothing (T1).
  @inline(__always)
  private mutating func carryOut<Plan, Result>(
    by client: Client?, isRestoring: Bool = false, at now: Instant,
    plan: (inout Planner) throws(Refusal) -> Plan, reply: (borrowing Transition, Plan) -> Result
  ) throws(Refusal) -> (Result, outcome: Outcome) {
    guard !state.isShuttingDown else {
      throw Refusal(.shuttingDown, "navd is quitting; start it again, and repeat the request")
    }
    var planner = Planner(of: self, at: now, by: client)
    planner.isRestoring = isRestoring
    let planned = try plan(&planner)
    try planner.settle()
    try planner.checkProtected()
    var transition = Transition(of: self, at: now)
    transition.commit(planner.draft)
    transition.followUp()
    let result = reply(transition, planned)
    return (result, transition.finish())
  }

  // MARK: Clients and shutting down

  /// Ends the items of a client that left the bus, and removes its registrations (O1, D1).
  public mutating func clientLeft(_ client: Client, at now: Instant) -> Outcome {
    let ends = (state.ownedBy[client] ?? []).sorted().map { PlannedEnd(handle: $0, reason: .owner) }
    return process(at: now) { transition in
      transition.unregister(client)
      transition.clear(ends, by: client)
      transition.releaseHolds(of: client)
      if transition.state.ownedBy[client] == nil { transition.state.requesters.forget(client) }
      transition.state.countsOfClients[client] = nil
    }
  }

  /// Ends presentations, as one change. For a presentation that is not the current one of its slot, only the dismissal is forced, if the
  /// end is.
  /// - Parameter client: the client that asked for it.
  public mutating func end(_ ends: [PlannedEnd], by client: Client?, at now: Instant) -> Outcome {
    process(at: now) { $0.clear(ends, by: client) }
  }

  /// Refuses requests from now on, since navd quits (R5).
  /// - Returns: the ends of all presentations.
  public mutating func beginShutDown() -> [PlannedEnd] {
    state.isShuttingDown = true
    // No item is kept any more, whether or not it is in a slot (K4).
    state.comparesLoginItems = true
    return state.presentations.keys.sorted().map { PlannedEnd(handle: $0, reason: .shutdown) }
  }

  /// Whether there are no presentations and no parked programs. navd that quits waits for this.
  public var isEmpty: Bool { state.presentations.isEmpty && state.parked.isEmpty }

  // MARK: Destinations

  /// Registers a presenter for a destination name. The last registration of a name counts (D1). The
  /// presenter is asked to show what an earlier presenter of that name has left behind (D4).
  /// - Throws: `Refusal`: `invalidConfiguration` (G7), `invalidArgument` (B5), `limitExceeded` (L1).
  public mutating func register(
    _ destination: Destination, by client: Client, at now: Instant
  ) throws(Refusal) -> Outcome {
    try check(destination: destination.name)
    if let style = destination.style { try limits.check(text: style, as: "style") }
    if case .bus(_, let path) = destination.presenter { try limits.check(text: path.text, as: "path") }
    _ = try destination.declaredTag()
    if state.registry.ofClients[client]?.contains(destination.name) != true {
      try limits.check(
        "entries", state.registry.countOfClients + 1, limits.entries,
        of: "destinations registered by clients"
      )
    }
    return process(at: now) { transition in
      transition.announce(
        transition.state.registry.register(destination, by: client, after: transition.state.lastHandle))
      transition.presenterReturned(toItemsOf: destination.name)
    }
  }

  /// Removes a client's registration; an earlier registration of the name counts again (D1).
  /// - Throws: `Refusal` with the code `unknownDestination` if the client has not registered the name.
  public mutating func unregister(_ name: String, by client: Client) throws(Refusal) -> Outcome {
    guard let tags = state.registry.unregister(name, by: client) else {
      throw Refusal(
        .unknownDestination,
        "destination \(quoted(name)) was not registered by this client; only its own registrations can be removed")
    }
    return process { transition in transition.announce(tags) }
  }

  /// Replaces all destinations from files. The caller has checked them.
  /// - Parameter mistakes: the mistakes of files that could not be loaded, with their positions, by the names of their destinations.
  public mutating func load(_ destinations: [Destination], mistakes: [String: String] = [:]) -> Outcome {
    process { transition in transition.announce(transition.state.registry.load(destinations, mistakes: mistakes)) }
  }

  /// The mistakes of files, by the names of their destinations (D2).
  public var mistakes: [String: String] { state.registry.mistakes }

  /// The registrations that count, in the order of their names.
  public var destinations: [Destination] { state.registry.all }
}
