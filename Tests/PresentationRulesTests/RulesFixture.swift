import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules
@testable import Simulation

/// A state machine in which the test is everything else: clients, presenters, and a clock that only the test moves.
///
/// The log has one line for each event and each command; the events of an input are followed by its commands:
///
///     presented a 1          selection g x          present 1 a
///     dismissed a 1 closed   path s a=1 b           update 1 by anna
///     waiting a 1            group g x y · z        dismiss 2 replaced
///     updated a 1            action a 1 ok          kill 2
///     declined a 1 “unsaved” asking 1 “Save?”       dismiss 2 replaced forced
///     hold dnd               hold dnd over
///
/// Empty ids are left out. The destinations `cmd` (a command), `unit`, `bus` and `bare` (state only) are registered. After
/// every input the fixture checks the invariants of the state, and that exactly the differences were announced (W1).
final class RulesFixture {
  var machine: StateMachine
  private(set) var now = Instant(nanoseconds: 1_000_000_000)
  var log: [String] = []
  /// The new owners that were reported.
  private(set) var owners: [Client] = []
  /// The reasons for which fallbacks could not be selected.
  private(set) var refusedFallbacks: [String] = []
  /// All changes that were announced so far.
  private(set) var changes: [Change] = []
  private var lastHandle = Handle(0)
  private var watcher = Watcher()
  private var groups: Set<BindingID> = []
  private var stacks: Set<BindingID> = []

  init(limits: Limits = Limits(), destinations: [Destination] = [], fallbacks: [BindingID: String] = [:]) {
    machine = StateMachine(limits: limits)
    let standard = [
      Destination(
        name: "cmd", presenter: .command([Array("sleep".utf8), Array("9".utf8)]), source: RulesFixture.file("cmd")),
      Destination(name: "unit", presenter: .unit("sleeper@{id}.service"), source: RulesFixture.file("unit")),
      RulesFixture.bus("bus"),
      Destination(name: "bare", presenter: .none, source: RulesFixture.file("bare")),
    ]
    take(machine.load(standard + destinations))
    machine.load(groups: fallbacks.mapValues { GroupSettings(fallback: $0) })
    log = []
  }

  static func file(_ name: String) -> Destination.Source { .file(path: "/destinations/\(name).toml") }

  /// A destination on the bus, registered by a file.
  static func bus(_ name: String, group: BindingID? = nil, source: Destination.Source? = nil) -> Destination {
    Destination(
      name: name, presenter: .bus(name: "org.example.Bar", path: "/presenter"), group: group,
      source: source ?? file(name))
  }

  // MARK: What came of it

  /// Takes the lines logged since the last call.
  func taken() -> [String] {
    defer { log = [] }
    return log
  }

  func take(_ outcome: Outcome, from sourceLocation: SourceLocation = #_sourceLocation) {
    for handle in outcome.created {
      #expect(handle.number == lastHandle.number + 1, "handles have no holes (R3)", sourceLocation: sourceLocation)
      lastHandle = handle
    }
    #expect(machine.lastHandle == lastHandle, sourceLocation: sourceLocation)
    changes += outcome.changes
    refusedFallbacks += outcome.refusedFallbacks.map(\.refusal.message)
    owners += outcome.owners
    log += outcome.changes.map { line($0.event) } + outcome.commands.map(line)
    let faults = machine.brokenInvariants() + untold(outcome.changes)
    #expect(faults.isEmpty, "\(faults)", sourceLocation: sourceLocation)
  }

  /// The differences that were not announced, and the announcements without a difference (W1).
  private func untold(_ changes: [Change]) -> [String] {
    groups.formUnion(machine.groupNames)
    stacks.formUnion(machine.stackNames)
    do throws(Violation) {
      // A fallback is selected by a second change of the same input (K1).
      try watcher.take(changes, from: machine, isOneChange: machine.state.fallbacks.isEmpty)
      try watcher.compare(with: machine, groups: Array(groups), stacks: Array(stacks))
      return []
    } catch {
      return [error.description]
    }
  }

  private func line(_ event: Change.Event) -> String {
    func item(_ binding: BindingID, _ id: String) -> String { id.isEmpty ? binding.text : "\(binding) \(id)" }
    return switch event {
    case .presented(_, let binding, let id, _): "presented " + item(binding, id)
    case .updated(_, let binding, let id, _, _): "updated " + item(binding, id)
    case .phase(_, let binding, let id, let word): "\(word) " + item(binding, id)
    case .dismissed(_, let binding, let id, let reason, _): "dismissed \(item(binding, id)) \(reason)"
    case .declined(_, let binding, let id, let message):
      "declined " + item(binding, id) + (message.isEmpty ? "" : " “\(message)”")
    case .asking(let handle, _, _, let message): "asking \(handle)" + (message.map { " “\($0)”" } ?? " no more")
    case .action(_, let binding, let id, let action, _): "action \(item(binding, id)) \(action)"
    case .selection(let group, let tag): "selection \(group) \(tag ?? "-")"
    case .group(let group):
      (["group", group.text] + machine.tags(of: group) + ["·"] + machine.queuedTags(of: group)).joined(separator: " ")
    case .path(let stack): (["path", stack.text] + path(stack)).joined(separator: " ")
    case .hold(let name, let isInForce): "hold \(name)" + (isInForce ? "" : " over")
    case .parked: (["parked"] + machine.parked.map { item($0.binding, $0.item.id) }).joined(separator: " ")
    case .requested(let items): (["requested"] + items.map { item($0.binding, $0.id) }).joined(separator: " ")
    }
  }

  private func line(_ command: PresenterCommand) -> String {
    switch command {
    case .present(let handle): "present \(handle) \(machine.presentation(handle)?.binding.text ?? "?")"
    case .update(let handle, let author): "update \(handle)" + (author.map { " by \($0)" } ?? "")
    case .dismiss(let handle, let reason, let animated, let isForced):
      "dismiss \(handle) \(reason.rawValue)" + (animated ? "" : " unanimated") + (isForced ? " forced" : "")
    case .kill(let handle): "kill \(handle)"
    case .abandon(let handle): "abandon \(handle)"
    case .raise(let handle): "raise \(handle)"
    case .bring(let handle, let output): "bring \(handle)" + (output.map { " to \($0)" } ?? "")
    case .move(let handle): "move \(handle)"
    case .releaseParked(let program): "release parked \(program)"
    case .endParked(let program, let isForced): "end parked \(program)" + (isForced ? " forced" : "")
    }
  }

  /// The path of a stack, as the log writes it.
  func path(_ stack: BindingID) -> [String] {
    machine.path(of: stack).map { $0.id.isEmpty ? $0.binding : "\($0.binding)=\($0.id)" }
  }

  func phase(_ handle: Handle) -> String? { machine.presentation(handle)?.phase.name.rawValue }
  func item(_ binding: BindingID) -> Shared<Item>? { machine.current(at: binding)?.item }
  func handle(_ binding: BindingID) -> Handle? { machine.current(at: binding)?.handle }
  func parent(_ binding: BindingID) -> Handle? { machine.current(at: binding)?.parent }
  func ending(_ handle: Handle) -> Ending? { machine.ending(of: handle)?.content }

  /// The bindings that hold items, with their ids, as the log writes them.
  var shown: [String] {
    machine.state.slots.keys.sorted { $0.text < $1.text }.compactMap { binding in
      item(binding).map { $0.id.isEmpty ? binding.text : "\(binding)=\($0.id)" }
    }
  }

  /// Everything that is left in the state, except what it remembers.
  var leftovers: [String] {
    var found: [String] = []
    func expectNone(_ name: String, _ count: Int) { if count > 0 { found.append("\(count) \(name)") } }
    expectNone("slots", machine.state.slots.count)
    expectNone("presentations", machine.state.presentations.count)
    expectNone("stacks", machine.state.stacks.count)
    expectNone("roots", machine.state.bindingsOfRoot.count)
    expectNone("owners", machine.state.ownedBy.count)
    expectNone("counts of clients", machine.state.countsOfClients.count)
    expectNone("presentations that await their presenters", machine.state.abandoned.count)
    expectNone("groups", machine.state.groups.count)
    return found
  }

  // MARK: Clients

  /// Sends one request.
  @discardableResult
  func ask(
    _ operation: Request.Operation, expecting expectation: Expected = Expected(), animated: Bool? = nil,
    isForced: Bool = false, by client: Client? = "anna", trust: Trust = .trusted,
    from sourceLocation: SourceLocation = #_sourceLocation
  ) throws(Refusal) -> Reply {
    let request = Request(operation, expecting: expectation, animated: animated, isForced: isForced)
    return try keepingWhole(sourceLocation) { () throws(Refusal) in
      let (reply, outcome) = try machine.perform(request, by: client, trust: trust, at: now)
      take(outcome, from: sourceLocation)
      return reply
    }
  }

  /// Sends a transaction (T1).
  @discardableResult
  func apply(
    _ requests: [Request], animated: Bool = true, by client: Client? = "anna", trust: Trust = .trusted,
    from sourceLocation: SourceLocation = #_sourceLocation
  ) throws(Refusal) -> [Reply] {
    try keepingWhole(sourceLocation) { () throws(Refusal) in
      let (replies, outcome) = try machine.perform(
        requests, animated: animated, by: client, trust: trust, at: now)
      take(outcome, from: sourceLocation)
      return replies
    }
  }

  @discardableResult
  func apply(
    _ operations: Request.Operation..., by client: Client? = "anna",
    from sourceLocation: SourceLocation = #_sourceLocation
  ) throws(Refusal) -> [Reply] {
    try apply(operations.map { Request($0) }, by: client, from: sourceLocation)
  }

  /// The code of the refusal of a request that has to be refused without any change.
  func refusal(
    _ operation: Request.Operation, expecting expectation: Expected = Expected(), by client: Client? = "anna",
    from sourceLocation: SourceLocation = #_sourceLocation
  ) -> ErrorCode? {
    do throws(Refusal) {
      let reply = try ask(operation, expecting: expectation, by: client, from: sourceLocation)
      Issue.record("was not refused but answered \(reply)", sourceLocation: sourceLocation)
      return nil
    } catch {
      #expect(error.index == nil, sourceLocation: sourceLocation)
      return error.code
    }
  }

  /// The refusal of a transaction that has to be refused without any change.
  func refusal(
    of requests: [Request], by client: Client? = "anna", from sourceLocation: SourceLocation = #_sourceLocation
  ) -> Refusal? {
    do throws(Refusal) {
      let replies = try apply(requests, by: client, from: sourceLocation)
      Issue.record("was not refused but answered \(replies)", sourceLocation: sourceLocation)
      return nil
    } catch {
      return error
    }
  }

  func refusal(
    of operations: Request.Operation..., by client: Client? = "anna",
    from sourceLocation: SourceLocation = #_sourceLocation
  ) -> Refusal? {
    refusal(of: operations.map { Request($0) }, by: client, from: sourceLocation)
  }

  /// Checks that a refusal changes nothing of the whole state.
  private func keepingWhole<Result>(
    _ sourceLocation: SourceLocation, _ body: () throws(Refusal) -> Result
  ) throws(Refusal) -> Result {
    let before = machine.state
    do throws(Refusal) {
      return try body()
    } catch {
      let differing = Mirror(reflecting: machine.state).children.map { ($0.label ?? "", picture(of: $0.value)) }
        .filter { name, after in after != picture(of: Mirror(reflecting: before).descendant(name) ?? "") }.map(\.0)
      #expect(differing == [], "what is refused changes nothing", sourceLocation: sourceLocation)
      throw error
    }
  }

  // MARK: Holds

  @discardableResult
  func hold(
    _ name: String, owned: Bool = false, timeout: UInt64? = nil, toggle: Bool = false, by client: Client = "anna",
    from sourceLocation: SourceLocation = #_sourceLocation
  ) throws(Refusal) -> UInt64 {
    try keepingWhole(sourceLocation) { () throws(Refusal) in
      let (cookie, outcome) = try machine.hold(
        HoldRequest(name, isOwned: owned, timeout: timeout, toggles: toggle), by: client, at: now)
      take(outcome, from: sourceLocation)
      return cookie
    }
  }

  /// Ends the holder with a number.
  /// - Returns: whether there is one.
  @discardableResult
  func release(_ cookie: UInt64, from sourceLocation: SourceLocation = #_sourceLocation) throws(Refusal) -> Bool {
    let name = machine.holders.first { $0.key.cookie == cookie }?.key.name ?? "dnd"
    return try release(name, cookie, from: sourceLocation) == 1
  }

  /// Ends what clients hold by a name.
  /// - Returns: how many have ended.
  @discardableResult
  func release(
    _ name: String, _ cookie: UInt64? = nil, from sourceLocation: SourceLocation = #_sourceLocation
  ) throws(Refusal) -> Int {
    try keepingWhole(sourceLocation) { () throws(Refusal) in
      let (count, outcome) = machine.releaseHold(name, cookie: cookie, at: now)
      take(outcome, from: sourceLocation)
      return count
    }
  }

  func set(_ fact: SessionFact, _ isTrue: Bool, from sourceLocation: SourceLocation = #_sourceLocation) {
    take(machine.set(fact, isTrue, at: now), from: sourceLocation)
  }

  func leave(_ client: Client, from sourceLocation: SourceLocation = #_sourceLocation) {
    take(machine.clientLeft(client, at: now), from: sourceLocation)
  }

  func register(
    _ destination: Destination, by client: Client, from sourceLocation: SourceLocation = #_sourceLocation
  ) throws(Refusal) {
    try keepingWhole(sourceLocation) { () throws(Refusal) in
      take(try machine.register(destination, by: client, at: now), from: sourceLocation)
    }
  }

  func unregister(
    _ name: String, by client: Client, from sourceLocation: SourceLocation = #_sourceLocation
  ) throws(Refusal) {
    try keepingWhole(sourceLocation) { () throws(Refusal) in
      take(try machine.unregister(name, by: client), from: sourceLocation)
    }
  }

  func load(
    _ destinations: [Destination], mistakes: [String: String] = [:],
    from sourceLocation: SourceLocation = #_sourceLocation
  ) {
    take(machine.load(destinations, mistakes: mistakes), from: sourceLocation)
  }

  func shutDown(by client: Client? = "anna", from sourceLocation: SourceLocation = #_sourceLocation) {
    take(machine.shutDown(by: client, at: now), from: sourceLocation)
  }

  // MARK: Presenters

  func report(_ report: Report, from sourceLocation: SourceLocation = #_sourceLocation) {
    take(machine.report(report, at: now), from: sourceLocation)
  }

  /// Has presenters report that they show presentations.
  func shows(_ handles: Handle..., from sourceLocation: SourceLocation = #_sourceLocation) {
    for handle in handles { report(.presentAnswered(handle, error: nil), from: sourceLocation) }
  }

  /// Has a presenter report that it cannot show a presentation.
  func fails(_ handle: Handle, _ error: String = "no screen", from sourceLocation: SourceLocation = #_sourceLocation) {
    report(.presentAnswered(handle, error: error), from: sourceLocation)
  }

  /// Has presenters answer dismissals.
  func goes(
    _ handles: Handle..., result: Properties = [:], from sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for handle in handles { report(.dismissAnswered(handle, result: result), from: sourceLocation) }
  }

  /// Has a presenter decline a dismissal (P15).
  func declines(_ handle: Handle, _ message: String = "", from sourceLocation: SourceLocation = #_sourceLocation) {
    report(.declined(handle, message: message), from: sourceLocation)
  }

  /// Has a presenter say that it asks its user (P16).
  func asks(
    _ handle: Handle, _ message: String = "", byPresenter: Bool = true,
    from sourceLocation: SourceLocation = #_sourceLocation
  ) throws(Refusal) {
    try keepingWhole(sourceLocation) { () throws(Refusal) in
      take(
        try machine.asking(handle, message: message, byPresenter: byPresenter, at: now), from: sourceLocation)
    }
  }

  /// Ends a presentation, whether or not it was dismissed.
  func ends(
    _ handle: Handle, failed: Bool = false, result: Properties = [:],
    from sourceLocation: SourceLocation = #_sourceLocation
  ) {
    report(.ended(handle, failed: failed, result: result), from: sourceLocation)
  }

  /// Has a presenter answer an update.
  func updates(_ handle: Handle, from sourceLocation: SourceLocation = #_sourceLocation) {
    report(.updateAnswered(handle), from: sourceLocation)
  }

  /// Has a client report that a presentation was closed (D11).
  @discardableResult
  func closed(
    _ handle: Handle, result: Properties = [:], by client: Client? = "anna", byPresenter: Bool = false,
    from sourceLocation: SourceLocation = #_sourceLocation
  ) throws(Refusal) -> Bool {
    try keepingWhole(sourceLocation) { () throws(Refusal) in
      let (changed, outcome) = try machine.closed(
        handle, result: result, by: client, byPresenter: byPresenter, at: now)
      take(outcome, from: sourceLocation)
      return changed
    }
  }

  func act(
    _ handle: Handle, _ action: String, _ parameters: Properties = [:], byPresenter: Bool = false,
    from sourceLocation: SourceLocation = #_sourceLocation
  ) throws(Refusal) {
    try keepingWhole(sourceLocation) { () throws(Refusal) in
      take(
        try machine.act(handle, action: action, parameters: parameters, byPresenter: byPresenter), from: sourceLocation)
    }
  }

  // MARK: Time

  /// Lets time pass, and calls `expire` whenever something is due.
  func pass(_ milliseconds: UInt64, from sourceLocation: SourceLocation = #_sourceLocation) {
    let end = now.after(milliseconds: milliseconds)
    while let due = machine.nextDeadline, due <= end {
      now = max(now, due)
      take(machine.expire(at: now), from: sourceLocation)
    }
    now = end
  }

  // MARK: Shorter

  @discardableResult
  func present(
    _ binding: BindingID, _ id: String = "", _ options: ItemOptions = ItemOptions(), by client: Client? = "anna",
    from sourceLocation: SourceLocation = #_sourceLocation
  ) throws(Refusal) -> Reply {
    try ask(.present(binding, id: id, options), by: client, from: sourceLocation)
  }

  /// Presents an item that its presenter shows at once, without entries in the log.
  @discardableResult
  func show(
    _ binding: BindingID, _ id: String = "", _ options: ItemOptions = .with(to: "cmd"), by client: Client? = "anna",
    from sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Handle {
    try present(binding, id, options, by: client, from: sourceLocation)
    let handle = try #require(self.handle(binding), sourceLocation: sourceLocation)
    shows(handle, from: sourceLocation)
    log = []
    return handle
  }

  @discardableResult
  func dismiss(_ binding: BindingID, from sourceLocation: SourceLocation = #_sourceLocation) throws(Refusal) -> Reply {
    try ask(.dismiss(binding), from: sourceLocation)
  }

  /// Dismisses everything, answers all dismissals, and checks that nothing is left.
  func clearAway(from sourceLocation: SourceLocation = #_sourceLocation) throws {
    try ask(.dismissAll(.everything), from: sourceLocation)
    while let going = machine.state.presentations.values.first(where: { $0.answerDue != nil }) {
      goes(going.handle, from: sourceLocation)
    }
    #expect(leftovers == [], sourceLocation: sourceLocation)
    log = []
  }
}

/// The whole content of a value as text, with dictionaries and sets sorted.
func picture(of value: Any) -> String {
  let mirror = Mirror(reflecting: value)
  let children = mirror.children.map { (label: $0.label, text: picture(of: $0.value)) }
  switch mirror.displayStyle {
  case .dictionary, .set: return "{\(children.map(\.text).sorted().joined(separator: ", "))}"
  case .collection: return "[\(children.map(\.text).joined(separator: ", "))]"
  default:
    if children.isEmpty { return "\(value)" }
    return "\(mirror.subjectType)(\(children.map { ($0.label ?? "") + ": " + $0.text }.joined(separator: ", ")))"
  }
}
