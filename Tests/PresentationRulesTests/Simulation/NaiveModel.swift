import DBusValues
import PresentationModel
import PresentationRules

/// A refusal by the rules. If a request has several faults, the rules do not say which one is reported.
struct NaiveRefusal: Error {
  var codes: Set<ErrorCode>
  /// The index of the request; nil if only the whole transaction shows the fault.
  var index: Int?

  init(_ codes: Set<ErrorCode>) { self.codes = codes }
  init(_ code: ErrorCode) { codes = [code] }
}

/// The content of a slot that is not empty.
struct NaiveItem {
  var id: String
  var destination: Destination?
  var value: Properties = [:]
  var containerValues: Properties = [:]
  var style: String?
  var title: String?
  var timeout: UInt64?
  var owner: Client?
  var priority: Int32 = 0
  var group: BindingID?
  var tag: String?
  /// When it was queued in its group; nil if it is not.
  var queuedAt: Int?
  /// When a request asked to have it queued, unless a later one selected it (P15).
  var mayQueueAt: Int?

  /// P2: what counts as a difference. (The timeout does not; where it is in a queue, the group tells.)
  func looksLike(_ other: NaiveItem) -> Bool {
    id == other.id && value == other.value && containerValues == other.containerValues && style == other.style
      && title == other.title && owner == other.owner && priority == other.priority
  }
}

/// The identity of one showing of one item.
struct Token: Hashable, Comparable {
  let number: Int
  static func < (a: Token, b: Token) -> Bool { a.number < b.number }
}

struct NaiveModel {
  struct Showing {
    let token: Token
    var item: NaiveItem
    let parent: Token?
    /// C1: whether a request said from what it is presented.
    var hasNamedParent: Bool
  }

  /// G7: the last request for a tag.
  struct Memory {
    let group: BindingID
    let tag: String
    let binding: BindingID
    let id: String
    let options: ItemOptions
  }

  /// What is being dismissed, to be had back if that is declined (P15).
  struct Going {
    let binding: BindingID
    let showing: Showing
    let place: (stack: BindingID, index: Int)?
    /// What stood below it in its stack.
    let below: Token?
    /// What was left of its timeout.
    let left: UInt64?
    var isForced: Bool

    var dependencies: [Token] { [showing.parent, below].compactMap(\.self) }
  }

  let limits: Limits
  var slots: [BindingID: Showing] = [:]
  var going: [Token: Going] = [:]
  var paths: [BindingID: [BindingID]] = [:]
  /// The oldest first.
  var memory: [Memory] = []
  /// The last one of a name counts (D1).
  var registrations: [String: [Destination]] = [:]
  var containerValueDefaults: Properties = [:]
  var lastToken = 0
  var lastQueued = 0
  /// The reasons for which presentations ended, or are being dismissed.
  var reasons: [Token: Set<Reason>] = [:]
  /// The presentations on screen that end as `expired`, and when (O2).
  var presented: Set<Token> = []
  var expiries: [Token: UInt64] = [:]
  var isShutDown = false

  init(limits: Limits) { self.limits = limits }

  // MARK: Reading

  func isCurrent(_ token: Token) -> Bool { binding(of: token) != nil }

  func binding(of token: Token) -> BindingID? { slots.first { $0.value.token == token }?.key }

  func destination(_ name: String) -> Destination? { registrations[name]?.last }

  /// G7: the tags that destinations declare.
  func declaredTags(of group: BindingID) -> [String: (binding: BindingID, destination: String)] {
    var found: [String: (binding: BindingID, destination: String)] = [:]
    for (name, list) in registrations {
      guard list.last?.group == group, let binding = declaredBinding(name, in: group) else { continue }
      found[name] = (binding, name)
    }
    return found
  }

  /// G7: “at the binding of that name, else at `group.name`”.
  func declaredBinding(_ name: String, in group: BindingID) -> BindingID? {
    (try? BindingID(name)) ?? (try? BindingID(group.text + "." + name))
  }

  func tags(of group: BindingID) -> [String] {
    Set(memory.filter { $0.group == group }.map(\.tag)).union(declaredTags(of: group).keys).sorted()
  }

  func selection(of group: BindingID) -> String? {
    slots.values.first { $0.item.group == group && $0.item.queuedAt == nil }?.item.tag
  }

  /// G9: the highest priority first, then the oldest.
  func queue(of group: BindingID) -> [String] {
    slots.values.filter { $0.item.group == group && $0.item.queuedAt != nil }.map(\.item).sorted { a, b in
      a.priority != b.priority ? a.priority > b.priority : a.queuedAt! < b.queuedAt!
    }.map { $0.tag! }
  }

  func position(of binding: BindingID) -> (stack: BindingID, index: Int)? { place(of: binding, in: paths) }

  // MARK: What changes it

  /// Carries out a transaction, or nothing (T1).
  ///
  /// - Parameters:
  ///   - alive: the number of presentations that have not ended, in all and of this client; limits count dismissed ones, too.
  ///   - own: whether a presentation is of this client.
  mutating func perform(
    _ requests: [Request], by client: Client?, at now: UInt64, serials: (NaiveSubject) -> UInt64, serial: UInt64,
    tokens: (Handle) -> Token?, alive: (all: Int, ofClient: Int), own: (Token) -> Bool
  ) throws(NaiveRefusal) -> NaivePlan {
    guard !isShutDown else { throw NaiveRefusal(.shuttingDown) }
    var plan = NaivePlan(self, by: client)
    for (index, request) in requests.enumerated() {
      do throws(NaiveRefusal) {
        try plan.judge(request, serials: serials, serial: serial, tokens: tokens)
        try plan.carryOut(request.operation)
        if request.isForced { plan.forced.formUnion(plan.subjects(of: request.operation)) }
      } catch {
        var refusal = error
        refusal.index = index
        throw refusal
      }
    }
    try plan.settle()
    try plan.count(alive, own: own)
    self = plan.result(at: now)
    return plan
  }

  /// Ends presentations for another reason than a request, if they are still current (P5).
  mutating func end(_ tokens: [Token], _ reason: Reason, at now: UInt64) {
    end(tokens.map { ($0, reason) }, at: now)
  }

  /// Ends presentations, each for its own reason, as one change.
  mutating func end(_ ends: [(token: Token, reason: Reason)], at now: UInt64) {
    force(ends.filter { [.owner, .shutdown].contains($0.reason) }.map(\.token))
    let ends = ends.compactMap { end in binding(of: end.token).map { (binding: $0, reason: end.reason) } }
    guard !ends.isEmpty else { return }
    var plan = NaivePlan(self, by: nil)
    plan.clearEach(ends)
    // There is no request, so there is nothing to refuse.
    try? plan.settle()
    self = plan.result(at: now)
  }

  /// O2: the timeout starts.
  mutating func becamePresented(_ token: Token, at now: UInt64) {
    presented.insert(token)
    guard let binding = binding(of: token) else { return }
    expiries[token] = slots[binding]!.item.timeout.map { saturatingSum(now, $0) }
  }

  /// O1: ends the items of a client that left.
  mutating func left(_ client: Client, at now: UInt64) {
    let owned = Array(slots.values) + going.values.map(\.showing)
    end(owned.filter { $0.item.owner == client }.map(\.token), .owner, at: now)
    for name in registrations.keys.sorted() { unregister(name, by: client) }
  }

  /// R5.
  mutating func shutDown(at now: UInt64) {
    isShutDown = true
    end(slots.values.map(\.token) + going.keys, .shutdown, at: now)
  }

  /// D1.
  mutating func register(_ destination: Destination, by client: Client) throws(NaiveRefusal) {
    if let group = destination.group, declaredBinding(destination.name, in: group) == nil {
      throw NaiveRefusal(.invalidConfiguration)
    }
    unregister(destination.name, by: client)
    registrations[destination.name, default: []].append(destination)
  }

  mutating func unregister(_ name: String, by client: Client) {
    registrations[name]?.removeAll { $0.source == .client(client) }
    if registrations[name]?.isEmpty == true { registrations[name] = nil }
  }

  mutating func load(_ destinations: [Destination]) {
    for name in registrations.keys.sorted() {
      registrations[name]!.removeAll { if case .file = $0.source { true } else { false } }
      if registrations[name]!.isEmpty { registrations[name] = nil }
    }
    for destination in destinations { registrations[destination.name, default: []].insert(destination, at: 0) }
  }
}

/// P15: what ends for one of these cannot be declined.
let reasonsThatForce: Set<Reason> = [.closed, .failed, .lost, .owner, .shutdown]

// MARK: P15

extension NaiveModel {
  /// Forces what is going, and what has to go before it.
  mutating func force(_ tokens: some Sequence<Token>) {
    for token in tokens where going[token] != nil { going[token]!.isForced = true }
    while let next = going.values.first(where: { other in
      !other.isForced && other.dependencies.contains { going[$0]?.isForced == true }
    }) {
      going[next.showing.token]!.isForced = true
    }
  }

  /// A presenter declines: what it shows stays, with everything going that this depends on.
  mutating func decline(_ token: Token, at now: UInt64) {
    // What it depends on comes first.
    var kept: [Going] = []
    func keep(_ token: Token) {
      guard let one = going[token], !kept.contains(where: { $0.showing.token == token }) else { return }
      for other in one.dependencies { keep(other) }
      kept.append(one)
    }
    keep(token)
    var plan = NaivePlan(self, by: nil)
    for one in kept.reversed() { plan.makeRoom(for: one) }
    try? plan.settle()
    self = plan.result(at: now)
    for one in kept {
      let token = one.showing.token
      slots[one.binding] = one.showing
      if let stack = one.place?.stack { paths[stack, default: []].append(one.binding) }
      presented.insert(token)
      expiries[token] = one.left.map { saturatingSum(now, $0) }
      reasons[token] = nil
      going[token] = nil
    }
  }
}

extension NaivePlan {
  mutating func makeRoom(for one: NaiveModel.Going) {
    clear(one.binding, .declined)
    if let group = one.showing.item.group {
      groupsOfKept.insert(group)
      let tag = one.showing.item.tag
      if let other = items.first(where: { $0.value.group == group && $0.value.queuedAt != nil && $0.value.tag == tag })
      {
        clear(other.key, .declined)
      }
      if let other = selected(in: group) {
        if let age = items[other]!.mayQueueAt, items[other]!.tag != tag {
          let children = before.slots.filter { $0.value.parent == before.slots[other]!.token }.keys
          clearEach(children.sorted { $0.text < $1.text }, .parent)
          items[other]!.queuedAt = age
        } else {
          clear(other, .declined)
        }
      }
    }
    if let place = one.place, let path = paths[place.stack], path.count > place.index {
      clear(path[place.index], .declined)
    }
  }
}

/// The subject of an expected serial (P10).
enum NaiveSubject: Hashable {
  case slot(BindingID)
  case group(BindingID)
  case stack(BindingID)
  case everything
}

func place(of binding: BindingID, in paths: [BindingID: [BindingID]]) -> (stack: BindingID, index: Int)? {
  for (stack, path) in paths {
    if let index = path.firstIndex(of: binding) { return (stack, index) }
  }
  return nil
}

func saturatingSum(_ a: UInt64, _ b: UInt64) -> UInt64 {
  let (sum, overflow) = a.addingReportingOverflow(b)
  return overflow ? .max : sum
}
