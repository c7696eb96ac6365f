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
  /// The time at which it was queued in its group; nil if it is not queued.
  var queuedAt: Int?
  /// The time at which a request asked to queue it, unless a later one selected it (P15).
  var mayQueueAt: Int?
  /// The action of each hold for it (H3).
  var holds: [String: HoldAction] = [:]
  /// Whether it has given way to another member (K2).
  var isInterrupted = false
  /// Whether navd has selected it as a fallback (K7).
  var isOwnFallback = false
  /// The input that its command reads in its place (D16).
  var input: [UInt8]?

  /// Whether it comes before another item in the queue (G9, K2).
  func isBefore(_ other: NaiveItem) -> Bool {
    switch (isInterrupted, other.isInterrupted) {
    case (true, true): queuedAt! > other.queuedAt!
    case (true, false): true
    case (false, true): false
    case (false, false): priority != other.priority ? priority > other.priority : queuedAt! < other.queuedAt!
    }
  }

  /// Whether another item makes no difference (P2). The timeout makes none; the group says where it is in a queue.
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

struct NaiveFallback {
  /// The destination that the clock makes the fallback; nil for none (K7).
  let destination: String?
  var refusals = 0
  var due: UInt64?
  /// The fallback that has declined to give way (P15).
  var declining: Token?
}

/// The naive model: the rules a second time, as a plain state without regard to speed, and without code of the machine.
struct NaiveModel {
  struct Showing {
    let token: Token
    var item: NaiveItem
    let parent: Token?
    /// Whether a request said from what it is presented (C1).
    var hasNamedParent: Bool
    var again: Again?
    /// The client whose request presents it.
    var creator: Client?
  }

  /// The part of an item that is kept when it is presented again (K3).
  struct Again {
    var restarts: UInt32
    /// The time at which it may come; nil if it may come now.
    var due: UInt64?
    /// The rest of its timeout; nil for all of it.
    var timeLeft: UInt64?
  }

  /// G7: the last request for a tag.
  struct Memory {
    let group: BindingID
    let tag: String
    let binding: BindingID
    let id: String
    let options: ItemOptions
    /// Whether a trusted client has left it (L3).
    let isTrusted: Bool
  }

  /// A presentation that is being dismissed, with all that is restored if the dismissal is declined (P15).
  struct Going {
    let binding: BindingID
    var showing: Showing
    let place: (stack: BindingID, index: Int)?
    /// The element that stood below it in its stack.
    let below: Token?
    /// The time that was left of its timeout.
    var timeLeft: UInt64?
    var isForced: Bool

    var dependencies: [Token] { [showing.parent, below].compactMap(\.self) }
  }

  /// A holder, for whom a hold is in force (H1).
  struct Holder {
    let name: String
    /// The cookie of the holder; nil for a fact.
    let cookie: UInt64?
    let owner: Client?
    let end: UInt64?
  }

  let limits: Limits
  var holders: [Holder] = []
  var holdsOfAll: [String: HoldAction] = [:]
  /// The end of the time to get on the screen, of an item that was not yet started (H6).
  var patience: [Token: UInt64] = [:]
  var slots: [BindingID: Showing] = [:]
  var going: [Token: Going] = [:]
  var paths: [BindingID: [BindingID]] = [:]
  /// The last requests for tags, the oldest first.
  var memory: [Memory] = []
  /// The registrations of each name, of which the last one counts (D1).
  var registrations: [String: [Destination]] = [:]
  /// The bindings that clients serve, in the order of their declarations (D18).
  var served: [NaiveServed] = []
  /// The presentations whose presenters have left the bus, and may come back (D4).
  var away: Set<Token> = []
  var containerValueDefaults: Properties = [:]
  var lastToken = 0
  var lastQueued = 0
  /// The reasons for which presentations ended, or are being dismissed.
  var reasons: [Token: Set<Reason>] = [:]
  /// The presentations on screen that end as `expired`, and when (O2).
  var presented: Set<Token> = []
  /// The presentations that do not wait any more.
  var started: Set<Token> = []
  var presentedAt: [Token: UInt64] = [:]
  var expiries: [Token: UInt64] = [:]
  var isShutDown = false
  /// The parked programs, by the presentation for which each was started (N8).
  var parked: [Handle: NaiveParked] = [:]
  /// The programs that show a presentation after having been parked.
  var programs: [Handle: Handle] = [:]
  /// The presentations that have started.
  var live: Set<Token> = []
  /// The presentations that had windows, and have none (N3).
  var withoutWindow: Set<Token> = []
  /// The presentations whose programs run without a window after the start timeout (N2).
  var late: Set<Token> = []
  /// The fallbacks of groups, by the names of their destinations (K1).
  var fallbacks: [BindingID: NaiveFallback] = [:]
  /// Whether a member may have been selected before it became the fallback.
  var hasNewGroupSettings = false
  /// The groups whose members overlap (G10).
  var overlapping: Set<BindingID> = []
  /// The presentations that stay until others are there, by these others, and whether each goes only for the other one (G10).
  var outlasting: [Token: [(token: Token, isReplaced: Bool)]] = [:]
  /// The state before the input at hand, and the states after each of its changes.
  var goals: [OrderChecker.Goal] = []
  /// The groups whose fallback this input has selected.
  var fellBack: Set<BindingID> = []
  /// Whether this input has ended a fallback because the clock leaves its group without one (K7).
  var hasLetFallbackGo = false

  init(limits: Limits) { self.limits = limits }

  // MARK: Reading

  func isCurrent(_ token: Token) -> Bool { binding(of: token) != nil }

  func binding(of token: Token) -> BindingID? { slots.first { $0.value.token == token }?.key }

  func destination(_ name: String) -> Destination? { registrations[name]?.last }

  /// The tags that destinations declare (G7).
  func declaredTags(of group: BindingID) -> [String: (binding: BindingID, destination: String)] {
    var found: [String: (binding: BindingID, destination: String)] = [:]
    for (name, list) in registrations {
      guard list.last?.group == .named(group), let binding = declaredBinding(name, in: group) else { continue }
      found[name] = (binding, name)
    }
    return found
  }

  /// The binding of a declared tag: “at the binding of that name, else at `group.name`” (G7).
  func declaredBinding(_ name: String, in group: BindingID) -> BindingID? {
    (try? BindingID(name)) ?? (try? BindingID(group.text + "." + name))
  }

  /// “The tags of a group are those that destinations declare or programs serve, and those of its members” (G7).
  func tags(of group: BindingID) -> [String] {
    Set(declaredTags(of: group).keys).union(servedTags(of: group).keys).union(queue(of: group))
      .union([selection(of: group)].compactMap(\.self)).sorted()
  }

  func selection(of group: BindingID) -> String? {
    slots.values.first { $0.item.group == group && $0.item.queuedAt == nil }?.item.tag
  }

  /// The queue of a group: the highest priority first, then the oldest (G9).
  func queue(of group: BindingID) -> [String] {
    slots.values.filter { $0.item.group == group && $0.item.queuedAt != nil }.map(\.item).sorted { $0.isBefore($1) }
      .map { $0.tag! }
  }

  func position(of binding: BindingID) -> (stack: BindingID, index: Int)? { place(of: binding, in: paths) }

  // MARK: What changes it

  /// Carries out a transaction, or nothing (T1).
  ///
  /// - Parameters:
  ///   - alive: the number of presentations that have not ended, in all and of this client; limits count dismissed ones, too.
  ///   - own: whether a presentation is of this client.
  mutating func perform(
    _ requests: [Request], by client: Client?, at now: UInt64,
    tokens: (Handle) -> Token?, alive: (all: Int, ofClient: Int), own: (Token) -> Bool
  ) throws(NaiveRefusal) -> NaivePlan {
    guard !isShutDown else { throw NaiveRefusal(.shuttingDown) }
    var plan = NaivePlan(self, by: client, at: now)
    for (index, request) in requests.enumerated() {
      do throws(NaiveRefusal) {
        try plan.judge(request, tokens: tokens)
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
  /// - Parameter results: the results of presentations that have started, and may be presented again (K3).
  mutating func end(
    _ tokens: [Token], _ reason: Reason, at now: UInt64, results: [Token: Properties] = [:]
  ) {
    end(tokens.map { ($0, reason) }, at: now, results: results)
  }

  /// Ends presentations, each for its own reason, as one change.
  mutating func end(
    _ ends: [(token: Token, reason: Reason)], at now: UInt64, results: [Token: Properties] = [:]
  ) {
    force(ends.filter { [.owner, .shutdown].contains($0.reason) }.map(\.token))
    let ends = ends.compactMap { end in
      binding(of: end.token).map { binding in
        let again = results[end.token].flatMap { self.again(slots[binding]!, end.reason, $0, at: now) }
        return (binding: binding, reason: end.reason, again: again)
      }
    }
    guard !ends.isEmpty else { return }
    var plan = NaivePlan(self, by: nil)
    plan.clearEach(ends)
    // There is no request, so there is nothing to refuse.
    try? plan.settle()
    self = plan.result(at: now)
  }

  /// The rest of an item with which it is presented again; nil if it is not (K3).
  private func again(_ slot: Showing, _ reason: Reason, _ result: Properties, at now: UInt64) -> Again? {
    var own = slot.item.destination?.itemSettings?.restart
    if isFallback(slot.item) {
      own = own ?? RestartRule(.always)
      own!.condition = .always
      own!.limit = .max
    }
    guard !isShutDown, let rule = own else { return nil }
    // The rule K1 says: “if somebody in the queue may come, after that”.
    let others = slots.values.filter { $0.item.group == slot.item.group && $0.item.queuedAt != nil }
    if isFallback(slot.item), others.contains(where: { hold(on: $0.item) == .show }) { return nil }
    // An element of a stack cannot wait in a queue (H4).
    let isInStack = binding(of: slot.token).flatMap { position(of: $0) } != nil
    if slot.item.group != nil, isInStack, hold(on: slot.item) != .show { return nil }
    let hasFailed = reason == .failed || reason == .lost || result["status"] == .int32(1)
    guard reason == .failed || reason == .lost || reason == .closed, hasFailed || rule.condition == .always else {
      return nil
    }
    let expiry = expiries[slot.token]
    if let expiry, expiry <= now { return nil }
    var restarts = slot.again?.restarts ?? 0
    if let since = presentedAt[slot.token], now - since >= min(10_000, rule.maxDelay) { restarts = 0 }
    guard restarts < rule.limit else { return nil }
    var delay = rule.delay
    for _ in 0..<restarts { delay = min(2 * delay, rule.maxDelay) }
    return Again(restarts: restarts + 1, due: now + delay, timeLeft: expiry.map { $0 - now } ?? slot.again?.timeLeft)
  }

  /// Whether an item is the fallback of its group (K1).
  func isFallback(_ item: NaiveItem) -> Bool { item.group.map { fallbacks[$0]?.destination == item.tag } ?? false }

  /// Whether a presentation is a fallback that gives way to members who may come: it has not declined that (K1).
  func givesWay(_ token: Token?, _ item: NaiveItem) -> Bool {
    isFallback(item) && (token == nil || fallbacks[item.group!]!.declining != token)
  }

  /// The selected member of a group that navd has selected as the fallback, and that the clock has made an ordinary one (K7).
  private func outdated(in group: BindingID) -> Token? {
    slots.values.first {
      $0.item.group == group && $0.item.queuedAt == nil && $0.item.isOwnFallback && !isFallback($0.item)
        && $0.token != fallbacks[group]!.declining
    }?.token
  }

  /// Selects the fallback of each group that has nothing selected (K1), or only an outdated one (K7).
  mutating func fallBack(at now: UInt64) {
    (fellBack, hasLetFallbackGo) = ([], false)
    guard !isShutDown else { return }
    if hasNewGroupSettings {
      hasNewGroupSettings = false
      postponeSelected(clearing: [], at: now)
      serveQueues(at: now)
    }
    for group in fallbacks.keys.sorted(by: { $0.text < $1.text }) {
      let fallback = fallbacks[group]!
      let former = outdated(in: group)
      guard former != nil || selection(of: group) == nil else {
        if fallback.due != nil { (fallbacks[group]!.due, fallbacks[group]!.refusals) = (nil, 0) }
        continue
      }
      guard let name = fallback.destination else {
        if let former {
          end([former], .deselected, at: now)
          hasLetFallbackGo = true
        }
        continue
      }
      if let due = fallback.due, due > now { continue }
      var options = ItemOptions()
      options.destination = name
      options.group = group
      options.tag = name
      var plan = NaivePlan(self, by: nil)
      plan.isOwn = true
      do throws(NaiveRefusal) {
        let binding = try? BindingID(name)
        guard let binding, slots[binding] == nil else { throw NaiveRefusal(.busy) }
        try plan.carryOut(.present(binding, id: "", options))
        plan.items[binding]!.isOwnFallback = true
        try plan.settle()
        let before = self
        self = plan.result(at: now)
        fellBack = before.fellBack.union([group])
        fallbacks[group] = NaiveFallback(destination: name)
      } catch {
        let rule = destination(name)?.itemSettings?.restart ?? RestartRule(.always)
        var delay = rule.delay
        for _ in 0..<fallback.refusals { delay = min(2 * delay, rule.maxDelay) }
        fallbacks[group]!.refusals += 1
        fallbacks[group]!.due = now + delay
      }
    }
  }

  /// Whether an item waits for the result of its program, which may say that the item comes again (N3).
  func mayComeAgain(_ token: Token) -> Bool {
    slots.values.contains {
      $0.token == token && ($0.item.destination?.itemSettings?.restart != nil || isFallback($0.item))
    }
  }

  /// Notes that a program has crashed whose item its user seemed to have closed (N3).
  mutating func crash(_ token: Token) {
    if reasons[token]?.remove(.closed) != nil { reasons[token]!.insert(.failed) }
  }

  /// Whether its user sees nothing of an item that should be on the screen (N3).
  func isUnseen(_ token: Token) -> Bool { withoutWindow.contains(token) && presented.contains(token) }

  /// Starts the timeout, or lets it go on (O2, K3).
  mutating func becamePresented(_ token: Token, at now: UInt64) {
    withoutWindow.remove(token)
    late.remove(token)
    presented.insert(token)
    start(token)
    presentedAt[token] = now
    guard let binding = binding(of: token) else {
      // Another change of the same input ends it, with all of its time left.
      if let item = going[token]?.showing.item {
        going[token]!.timeLeft = item.timeout.map { going[token]!.showing.again?.timeLeft ?? $0 }
      }
      return
    }
    let timeLeft = slots[binding]!.again?.timeLeft
    slots[binding]!.again?.timeLeft = nil
    expiries[token] = slots[binding]!.item.timeout.map { saturatingSum(now, timeLeft ?? $0) }
  }

  /// Lets the items come whose time has passed (K3).
  mutating func pass(to now: UInt64) {
    for (binding, slot) in slots where slot.again?.due.map({ $0 <= now }) == true { slots[binding]!.again!.due = nil }
  }

  /// Ends for good the time that an item has to be shown, and gives it the destination of its file (H6, D1).
  mutating func start(_ token: Token) {
    patience[token] = nil
    guard started.insert(token).inserted else { return }
    if let binding = binding(of: token) { slots[binding]!.item.destination = asWritten(slots[binding]!.item) }
    // Another change of the same input may end it.
    if let item = going[token]?.showing.item { going[token]!.showing.item.destination = asWritten(item) }
  }

  /// Ends the items of a client that left (O1).
  mutating func left(_ client: Client, at now: UInt64) {
    let owned = Array(slots.values) + going.values.map(\.showing)
    end(owned.filter { $0.item.owner == client }.map(\.token), .owner, at: now)
    release(at: now) { $0.owner == client }
    for name in registrations.keys.sorted() { unregister(name, by: client) }
    served.removeAll { $0.client == client }
  }

  // MARK: Holds

  /// The strongest action of the holds in force for an item (H3).
  func hold(on item: NaiveItem) -> HoldAction {
    let order: [HoldAction] = [.refuse, .dismiss, .postpone]
    return order.first { action in holders.contains { item.holds[$0.name] == action } } ?? .show
  }

  /// What should be shown now.
  var goal: OrderChecker.Goal {
    OrderChecker.Goal(
      selected: Dictionary(uniqueKeysWithValues: slots.values.map { ($0.token, $0.item.queuedAt == nil) }),
      held: Set(slots.values.filter { hold(on: $0.item) != .show }.map(\.token)))
  }

  /// Begins a hold, which ends the items that it dismisses (H5).
  /// - Parameter live: the presentations that may be on the screen.
  mutating func begin(_ holder: Holder, live: [Token], at now: UInt64) {
    let isNew = !holders.contains { $0.name == holder.name }
    holders.append(holder)
    guard isNew else { return }
    let items = Dictionary(
      uniqueKeysWithValues: slots.values.map { ($0.token, $0.item) } + going.map { ($0, $1.showing.item) })
    let ends = live.filter { items[$0]?.holds[holder.name] == .dismiss }
    let current = ends.compactMap { token in binding(of: token).map { ($0, Reason.held, NaiveModel.Again?.none) } }
    postponeSelected(clearing: current, at: now)
    if holder.name == "locked" { force(ends) }
  }

  /// Deselects the members that a hold postpones. An element of a stack cannot wait in a queue, and ends (H4).
  /// - Parameter ends: the presentations that the same hold dismisses.
  private mutating func postponeSelected(
    clearing ends: [(binding: BindingID, reason: Reason, again: Again?)], at now: UInt64
  ) {
    let held = slots.filter { _, slot in
      slot.item.group != nil && slot.item.queuedAt == nil && !self.live.contains(slot.token)
        && hold(on: slot.item) != .show && !isFallback(slot.item) && !slot.item.isOwnFallback
    }
    guard !held.isEmpty || !ends.isEmpty else { return }
    var plan = NaivePlan(self, by: nil, at: now)
    plan.clearEach(ends)
    let elementsFirst = held.sorted { a, b in
      let (height, other) = (position(of: a.key)?.index ?? -1, position(of: b.key)?.index ?? -1)
      return height != other ? height > other : a.value.token < b.value.token
    }
    for (binding, _) in elementsFirst where plan.items[binding] != nil {
      if position(of: binding) != nil {
        plan.clear(binding, .held)
      } else {
        plan.loseChildren(of: binding)
        plan.queueFirst(binding)
      }
    }
    try? plan.settle()
    self = plan.result(at: now)
  }

  /// Ends the holds of some holders (H4).
  mutating func release(at now: UInt64, where isOver: (Holder) -> Bool) {
    guard holders.contains(where: isOver) else { return }
    holders.removeAll(where: isOver)
    serveQueues(at: now)
  }

  /// Selects the next members of queues where nothing but a fallback is selected (H4, K1).
  mutating func serveQueues(at now: UInt64) {
    for (group, fallback) in fallbacks {
      // “One that declines to give way is not asked again before the next change” (K7), unless it is the fallback now (K1).
      let isOutdated = slots.values.contains { $0.token == fallback.declining && !isFallback($0.item) }
      if !isOutdated { fallbacks[group]!.declining = nil }
    }
    var plan = NaivePlan(self, by: nil)
    try? plan.settle()
    self = plan.result(at: now)
  }

  /// Ends everything (R5).
  mutating func shutDown(at now: UInt64) {
    isShutDown = true
    end(slots.values.map(\.token) + going.keys, .shutdown, at: now)
  }

  /// Registers a destination (D1).
  mutating func register(_ destination: Destination, by client: Client) throws(NaiveRefusal) {
    if case .named(let group) = destination.group, declaredBinding(destination.name, in: group) == nil {
      throw NaiveRefusal(.invalidConfiguration)
    }
    registrations[destination.name]?.removeAll { $0.source == .client(client) }
    registrations[destination.name, default: []].append(destination)
  }

  mutating func unregister(_ name: String, by client: Client) {
    registrations[name]?.removeAll { $0.source == .client(client) }
    if registrations[name]?.isEmpty == true { registrations[name] = nil }
    served.removeAll { $0.destination == name && $0.client == client }
  }

  mutating func load(_ destinations: [Destination]) {
    for name in registrations.keys.sorted() {
      registrations[name]!.removeAll { if case .file = $0.source { true } else { false } }
      if registrations[name]!.isEmpty { registrations[name] = nil }
    }
    for destination in destinations { registrations[destination.name, default: []].insert(destination, at: 0) }
  }

  /// The destination of an item as its file says now: “it starts as its file says when its turn comes” (D1).
  private func asWritten(_ item: NaiveItem) -> Destination? {
    guard let own = item.destination, case .file = own.source, let written = registrations[own.name]?.first,
      case .file = written.source
    else { return item.destination }
    return written
  }
}

/// The reasons that force: a dismissal for one of them cannot be declined (P15).
let reasonsThatForce: Set<Reason> = [.closed, .failed, .lost, .owner, .shutdown, .declined]

// MARK: P15

extension NaiveModel {
  /// Forces dismissals, and those that have to come before them.
  mutating func force(_ tokens: some Sequence<Token>) {
    for token in tokens where going[token] != nil { going[token]!.isForced = true }
    while let next = going.values.first(where: { other in
      !other.isForced && other.dependencies.contains { going[$0]?.isForced == true }
    }) {
      going[next.showing.token]!.isForced = true
    }
  }

  /// Notes that a presentation was on the screen before another change of the same input ended it, which is no longer forced then.
  mutating func becameSeen(_ token: Token) {
    guard let one = going[token] else { return }
    going[token]!.isForced =
      !reasons[token, default: []].isDisjoint(with: reasonsThatForce)
      || one.dependencies.contains { going[$0]?.isForced == true }
  }

  /// Declines a dismissal: the item stays, with everything that it depends on and that is going.
  mutating func decline(_ token: Token, at now: UInt64) {
    // The presentations on which it depends come first.
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
      giveBack(one, at: now)
      if let group = one.showing.item.group, isFallback(one.showing.item) || one.showing.item.isOwnFallback {
        fallbacks[group]?.declining = one.showing.token
      }
    }
    goals.append(goal)
  }

  /// Gives a slot back to a presentation that was going.
  mutating func giveBack(_ one: Going, at now: UInt64) {
    let token = one.showing.token
    slots[one.binding] = one.showing
    if let stack = one.place?.stack { paths[stack, default: []].append(one.binding) }
    presented.insert(token)
    expiries[token] = one.timeLeft.map { saturatingSum(now, $0) }
    reasons[token] = nil
    going[token] = nil
  }
}

extension NaivePlan {
  /// Takes the children away from a queued item, which is nobody's parent (G9).
  mutating func loseChildren(of binding: BindingID) {
    let children = before.slots.filter { $0.value.parent == before.slots[binding]!.token }.keys
    clearEach(children.sorted { $0.text < $1.text }, .parent)
  }

  /// Puts an item before all others in its queue (K2, H4).
  mutating func queueFirst(_ binding: BindingID) {
    lastQueued += 1
    items[binding]!.queuedAt = lastQueued
    items[binding]!.mayQueueAt = lastQueued
    items[binding]!.isInterrupted = true
  }

  mutating func makeRoom(for one: NaiveModel.Going) {
    clear(one.binding, .declined)
    itemsOfKept[one.binding] = one.showing.item
    if let group = one.showing.item.group {
      groupsOfKept.insert(group)
      let tag = one.showing.item.tag
      if let other = items.first(where: { $0.value.group == group && $0.value.queuedAt != nil && $0.value.tag == tag })
      {
        clear(other.key, .declined)
      }
      if let other = selected(in: group) {
        // A member that is on the screen already does not return to the queue (G10).
        let isLive = before.slots[other].map { before.live.contains($0.token) } ?? false
        if let age = items[other]!.mayQueueAt, items[other]!.tag != tag, !isLive {
          loseChildren(of: other)
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

/// What a request forces (P15).
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
