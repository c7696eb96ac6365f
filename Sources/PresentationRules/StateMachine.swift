// Why this file exists: the whole state of what is presented, and the few doors through which it changes. It is pure:
// it does no input or output and has no clock; whoever holds it tells it the time and carries out what it says.

import DBusValues
import HeapModule
import PresentationModel

/// A slot of the dictionary: what one binding should show, and what of it is still going.
struct Slot: Sendable {
  /// The presentation of the item that the slot holds; nil is nil.
  var current: Handle?
  /// The presentation before it, that is not gone yet. There is at most one, since the next one waits for its end.
  var going: Handle?
  /// When the item last changed (P10).
  var changed = Serial(0)
}

/// What an expectation of a serial is about (P10).
public enum Subject: Hashable, Sendable {
  case slot(BindingID)
  case group(BindingID)
  case stack(BindingID)
}

/// The coordinator's rules: the state, and how requests, reports and time change it.
///
/// Every input is one call; it gives back what watchers are to be told and presenters to be asked, in order.
public struct StateMachine: Sendable {
  public let limits: Limits
  /// The serial of the last change (W1).
  public internal(set) var serial: Serial
  /// The last handle given out.
  public internal(set) var lastHandle: Handle

  var slots = NotedDictionary<BindingID, Slot>()
  var presentations = NotedDictionary<Handle, Presentation>()
  var groups = NotedDictionary<BindingID, Group>()
  var stacks = NotedDictionary<BindingID, Stack>()
  var bindingsOfRoot: [String: Set<BindingID>] = [:]
  var registry = Registry()
  var containerValueDeclarations = NotedDictionary<String, ContainerValueDeclaration>()
  var tagMemory: RecencyMap<GroupTag, TagMemory>
  var endings: RecencyMap<Handle, Ending>
  /// When slots, groups and stacks that are no more last changed.
  var changesOfAbsent: RecencyMap<Subject, Serial>
  /// The newest of what `changesOfAbsent` had to drop; whoever is not in there has not changed since.
  var changesForgotten = Serial(0)
  var ownedBy: [Client: Set<Handle>] = [:]
  var countsOfClients: [Client: Int] = [:]
  /// Of the items of all presentations that are not gone (L1).
  var bytesOfItems = 0
  var lastQueueAge: UInt64 = 0
  var deadlines = Heap<Deadline>()
  var isShuttingDown = false
  var requesters = Requesters()
  /// By how many nanoseconds the wall's clock is ahead of the one that the machine is told of, by which nothing is decided
  /// and only endings are told; nil: nobody knows.
  public var wallClockLead: Int64?
  /// What of the numbers is on record.
  var recordedNumbers: RecordedState.Numbers?

  /// What the input that is being processed has come to so far.
  var outcome = Outcome()
  /// What the input that is being processed asks for, before it is agreed to.
  var draft = Draft()
  var progress = Progress()

  /// - Parameters:
  ///   - serial: the last serial that was used before; 0 where there was none.
  ///   - lastHandle: the last handle that was used before.
  public init(limits: Limits = Limits(), serial: Serial = Serial(0), lastHandle: Handle = Handle(0)) {
    self.limits = limits
    self.serial = serial
    self.lastHandle = lastHandle
    tagMemory = RecencyMap(limit: limits.tags, byteLimit: limits.remembered)
    endings = RecencyMap(limit: limits.endings, byteLimit: limits.remembered)
    changesOfAbsent = RecencyMap(limit: 4 * limits.endings)
  }

  // MARK: Requests

  /// Carries out one request, or all of a transaction, or nothing (T1).
  ///
  /// - Parameters:
  ///   - animated: whether changes are animated where a request does not say (T2).
  ///   - client: who asks.
  /// - Returns: a reply a request, describing the final state, and what came of it.
  /// - Throws: `Refusal`, with nothing changed; its `index` names the request.
  public mutating func perform(
    _ requests: [Request], animated: Bool = true, by client: Client?, at now: Instant
  ) throws(Refusal) -> (replies: [Reply], outcome: Outcome) {
    guard !isShuttingDown else {
      throw Refusal(.shuttingDown, "navd was told to quit; start it again and ask then")
    }
    try limits.check("transaction", requests.count, limits.transaction, of: "requests")
    draft = Draft()
    draft.ender = client
    let queueAge = lastQueueAge
    do throws(Refusal) {
      var answers: [Answer] = []
      answers.reserveCapacity(requests.count)
      for (index, request) in requests.enumerated() {
        draft.author = Author(client: client, request: index, animated: request.animated ?? animated)
        do throws(Refusal) {
          try check(request.expectation, of: request.operation)
          answers.append(try plan(request.operation))
        } catch {
          throw Refusal(error, at: index)
        }
      }
      try settle()
      commit(at: now)
      let replies = answers.map { reply(to: $0) }
      return (replies, finish())
    } catch {
      draft = Draft()
      lastQueueAge = queueAge
      throw error
    }
  }

  /// Carries out one request.
  /// - Throws: `Refusal`, with nothing changed.
  public mutating func perform(
    _ request: Request, by client: Client?, at now: Instant
  ) throws(Refusal) -> (reply: Reply, outcome: Outcome) {
    do throws(Refusal) {
      let (replies, outcome) = try perform([request], by: client, at: now)
      return (replies[0], outcome)
    } catch {
      var refusal = error
      refusal.index = nil
      throw refusal
    }
  }

  // MARK: What others do

  /// A client left the bus: what it owned ends (O1), what it registered is no more (D1).
  /// - Parameter most: how many end by this; while it still owns an item, this has to be called again.
  public mutating func clientLeft(_ client: Client, at now: Instant, most: Int = .max) -> Outcome {
    // The latest first: more often than not it stands on the earlier.
    let owned = (ownedBy[client] ?? []).filter(isOwn).sorted().suffix(most)
    clear(Array(owned), reason: .owner, by: client, at: now)
    if ownedBy[client] == nil { requesters.forget(client) }
    forget(client)
    return finish()
  }

  /// A client that left registers nothing any more, and nothing is counted for it.
  mutating func forget(_ client: Client) {
    countsOfClients[client] = nil
    guard let names = registry.ofClients[client] else { return }
    var differing: Set<GroupTag> = []
    for name in names { differing.formSymmetricDifference(registry.unregister(name, by: client) ?? []) }
    announce(differing)
  }

  /// navd was told to quit: everything ends (R5).
  /// - Parameter client: who told it.
  public mutating func shutDown(by client: Client? = nil, at now: Instant) -> Outcome {
    isShuttingDown = true
    clear(presentations.keys.sorted(), reason: .shutdown, by: client, at: now)
    return finish()
  }

  /// Whether everything that was shown is gone after `shutDown`.
  public var isEmpty: Bool { presentations.isEmpty }

  /// Whether a presentation is still its slot's own.
  func isOwn(_ handle: Handle) -> Bool {
    presentations[handle].map { slots[$0.binding]?.current == handle } ?? false
  }

  /// Writes nil to the slots of presentations that are still their slots' own, as one change.
  mutating func clear(_ handles: [Handle], reason: Reason, by client: Client? = nil, at now: Instant) {
    clear(handles.map { ($0, reason) }, by: client, at: now)
  }

  mutating func clear(_ ends: [(Handle, Reason)], by client: Client? = nil, at now: Instant) {
    draft = Draft()
    draft.ender = client
    draft.author = Author(client: nil, request: 0, animated: true)
    var reasons: [BindingID: Reason] = [:]
    let own = ends.compactMap { handle, reason -> BindingID? in
      guard isOwn(handle), let binding = presentations[handle]?.binding else { return nil }
      reasons[binding] = reason
      return binding
    }
    for binding in topmostFirst(own) { clear(binding, reason: reasons[binding]!) }
    guard !draft.isEmpty else { return }
    // Nothing is refused here: no request, so no parent is named and no limit can be passed.
    try? settle()
    commit(at: now)
  }

  // MARK: Destinations

  /// Registers a presenter for a destination name; the last registration of a name counts (D1).
  /// - Throws: `Refusal`: `invalidConfiguration` (G7), `invalidArgument` (B5), `limitExceeded` (L1).
  public mutating func register(_ destination: Destination, by client: Client) throws(Refusal) -> Outcome {
    guard Destination.isName(destination.name) else {
      throw Refusal(
        .invalidArgument,
        "destination “\(abridged(destination.name))” is no name; 1 to \(limits.destination) bytes without “/” and without a "
          + "leading “.” would do")
    }
    _ = try destination.declaredTag()
    if registry.ofClients[client]?.contains(destination.name) != true {
      try limits.check(
        "registrations", registry.countOfClients + 1, limits.registrations, of: "destinations registered by clients")
    }
    announce(registry.register(destination, by: client))
    return finish()
  }

  /// Takes a registration back; the one before is back (D1).
  /// - Throws: `Refusal` with the code `unknownDestination` where the client registered none of that name.
  public mutating func unregister(_ name: String, by client: Client) throws(Refusal) -> Outcome {
    guard let tags = registry.unregister(name, by: client) else {
      throw Refusal(.unknownDestination, "destination “\(abridged(name))” was not registered by this client")
    }
    announce(tags)
    return finish()
  }

  /// Replaces all destinations that files registered; they were checked by whoever read them.
  public mutating func load(_ destinations: [Destination]) -> Outcome {
    announce(registry.load(destinations))
    return finish()
  }

  /// The destinations that count, in the order of their names.
  public var destinations: [Destination] { registry.all }

  /// The tags that destinations declare changed; those that a group remembers anyway make no difference (W1).
  private mutating func announce(_ differing: Set<GroupTag>) {
    outcome.destinationsChanged = true
    let changed = Set(differing.filter { groups[$0.group]?.remembered.contains($0.tag) != true }.map(\.group))
    for group in changed.sorted(by: { $0.text < $1.text }) {
      draft.changed.insert(.group(group))
      tell(.group(group))
    }
  }

  // MARK: Telling

  /// Puts a difference on the list, under the next serial (W1).
  mutating func tell(_ event: Change.Event) {
    serial = Serial(serial.number + 1)
    outcome.changes.append(Change(serial: serial, event: event))
  }

  /// Ends an input: tells phases, stamps what changed, and hands out what came of it.
  mutating func finish() -> Outcome {
    tellPhases()
    stamp()
    draft = Draft()
    defer { outcome = Outcome() }
    return outcome
  }
}

extension Refusal {
  fileprivate init(_ refusal: Refusal, at index: Int) {
    self = refusal
    self.index = index
  }
}
