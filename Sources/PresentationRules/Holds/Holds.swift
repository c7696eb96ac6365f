import DBusValues
import PresentationModel
import TextFormats

// Holds: named facts during which items wait, end or are refused (H1–H6, H8).

/// A client or a fact that keeps a hold in force.
public struct Holder: Hashable, Sendable {
  /// The name of the hold, and the number by which it is released.
  public struct Key: Hashable, Sendable {
    public let name: String
    /// The serial of the holder's event, so that it is never used twice (R3). It is 0 for a fact of
    /// the session.
    public let cookie: UInt64

    package init(name: String, cookie: UInt64) { (self.name, self.cookie) = (name, cookie) }
    init(_ fact: SessionFact) { self.init(name: fact.rawValue, cookie: 0) }
  }

  /// The client that asked for the hold; nil for a fact of the session.
  public package(set) var client: Client?
  /// Whether the holder ends when its client leaves the bus.
  public package(set) var isOwned = false
  public package(set) var message = ""
  /// The time of the beginning, in milliseconds since 1970; nil if the wall clock is unknown.
  public package(set) var since: UInt64?
  public package(set) var expires: Instant?
  /// Whether the hold is in force again after the next login (K4).
  public package(set) var restoresAtLogin = false

  package init() {}
}

extension Shared where Value == Item {
  /// The effect of the holds in force on the item: the strongest of their effects (H3).
  func hold(by holdsInForce: Set<String>) -> HoldAction {
    // The common case: there is no hold, or the item has no rule for one.
    guard !holdsInForce.isEmpty, !self.holds.isEmpty else { return .show }
    var strongest = HoldAction.show
    for (name, action) in self.holds where holdsInForce.contains(name) { strongest = max(strongest, action) }
    return strongest
  }

  /// Whether a hold keeps the item from being presented (H4).
  func isHeld(by holdsInForce: Set<String>) -> Bool { hold(by: holdsInForce) != .show }
}

extension State {
  /// Whether an item in a queue is not held.
  func isReady(_ queue: Queue) -> Bool {
    queue.entries.contains {
      slots[$0.binding]?.current.flatMap { presentations[$0] }.map { !$0.item.isHeld(by: holdsInForce) } == true
    }
  }

  private func hasHolder(_ name: String) -> Bool { holding[name] != nil || countsOfHolders[name] != nil }

  /// Adds a holder, which puts its hold in force.
  mutating func add(_ holder: Holder, _ key: Holder.Key) {
    if holders[key] == nil { countsOfHolders[key.name, default: 0] += 1 }
    holders[key] = holder
    holdsInForce.insert(key.name)
    schedule(holder.expires, .hold(key), Handle(key.cookie))
  }

  /// Removes a holder.
  /// - Returns: whether its hold is still in force.
  fileprivate mutating func removeHolder(_ key: Holder.Key) -> Bool {
    if holders[key] != nil {
      holders[key] = nil
      let count = countsOfHolders[key.name]! - 1
      countsOfHolders[key.name] = count == 0 ? nil : count
    }
    let isInForce = hasHolder(key.name)
    if !isInForce { holdsInForce.remove(key.name) }
    return isInForce
  }

  /// Notes the holds that have an effect on the item of a presentation (H3).
  mutating func beginConcern(of presentation: Presentation) {
    for name in presentation.item.holds.keys { concerned[name, default: []].insert(presentation.handle) }
  }

  mutating func endConcern(of presentation: Presentation) {
    for name in presentation.item.holds.keys {
      concerned[name]?.remove(presentation.handle)
      if concerned[name]?.isEmpty == true { concerned[name] = nil }
    }
  }

  /// Notes that a live presentation holds, if its destination has a hold (H8).
  /// - Returns: the name of the hold; nil if there is none.
  mutating func beginHolding(_ presentation: Presentation) -> String? {
    guard let name = presentation.item.destination?.itemSettings?.hold else { return nil }
    holding[name, default: []].insert(presentation.handle)
    holdsInForce.insert(name)
    return name
  }

  /// Notes that a presentation is gone, and holds no longer.
  /// - Returns: the name of the hold; nil if the presentation did not hold.
  fileprivate mutating func endHolding(_ presentation: Presentation) -> String? {
    guard let name = presentation.item.destination?.itemSettings?.hold,
      holding[name]?.remove(presentation.handle) != nil
    else { return nil }
    if holding[name]?.isEmpty == true { holding[name] = nil }
    if !hasHolder(name) { holdsInForce.remove(name) }
    return name
  }
}

extension StateMachine {
  /// The holders, by name and in the order of their beginnings.
  public var holders: [(key: Holder.Key, holder: Holder)] {
    state.holders.map { (key: $0.key, holder: $0.value) }
      .sorted { ($0.key.name, $0.key.cookie) < ($1.key.name, $1.key.cookie) }
  }

  /// The presentations that hold, by the names of their holds and in the order in which they were presented (H8).
  public var holding: [(name: String, presentation: Presentation)] {
    state.holding.sorted { $0.key < $1.key }.flatMap { name, handles in
      handles.sorted().compactMap { handle in state.presentations[handle].map { (name, $0) } }
    }
  }

  /// The facts of the session that are true.
  public var facts: Set<SessionFact> { Set(SessionFact.allCases.filter { state.holders[Holder.Key($0)] != nil }) }

  /// The names of the holds in force, sorted.
  public var holdsInForce: [String] { state.holdsInForce.sorted() }

  /// Whether the hold with this name is in force.
  public func isInForce(_ name: String) -> Bool { state.holdsInForce.contains(name) }

  /// Whether a hold is in force.
  public var isHolding: Bool { !state.holdsInForce.isEmpty }

  /// The names of the holds for which an item waits, sorted; empty if it does not wait.
  public func heldBy(_ presentation: Presentation) -> [String] {
    guard presentation.phase == .waiting, !state.holdsInForce.isEmpty else { return [] }
    return presentation.item.holds.keys.filter(state.holdsInForce.contains).sorted()
  }

  /// Sets the effects of holds on items whose destinations do not define them (H3). The next input that has a time applies them to the
  /// items that are there.
  public mutating func setHolds(_ holds: [String: HoldAction]) {
    state.holdsOfAll = holds
    state.hasNewHoldSettings = true
  }

  /// The effects of holds on an item: those of its destination take precedence over those for all (H3).
  func holds(for destination: Shared<Destination>?) -> [String: HoldAction] {
    let own = destination?.itemSettings?.holds ?? [:]
    guard !own.isEmpty || !state.holdsOfAll.isEmpty else { return [:] }
    // The item's own hold has no effect on it: it would keep the item from being presented for ever (H8).
    let itsOwn = destination?.itemSettings?.hold
    return state.holdsOfAll.merging(own) { $1 }.filter { $0.value != .show && $0.key != itsOwn }
  }

  // MARK: Inputs

  /// Puts a hold in force, or ends it if the request toggles and a client holds by its name (H1).
  /// - Returns: the number of the holder; 0 if the hold was ended.
  /// - Throws: `Refusal`: `limitExceeded`, `shuttingDown`.
  public mutating func hold(
    _ request: HoldRequest, by client: Client, at now: Instant
  ) throws(Refusal) -> (cookie: UInt64, outcome: Outcome) {
    guard !state.isShuttingDown else {
      throw Refusal(.shuttingDown, "navd is quitting; start it again, and repeat the request")
    }
    let others = request.toggles ? clientHolders(of: request.name) : []
    guard others.isEmpty else { return (0, process(at: now) { $0.release(others) }) }
    try limits.check(text: request.message, as: "message")
    try limits.check("entries", state.holders.count + 1, limits.entries, of: "holders in all")
    let key = Holder.Key(name: request.name, cookie: serial.number + 1)
    let outcome = process(at: now) { transition in
      var holder = Holder()
      (holder.client, holder.isOwned, holder.message) = (client, request.isOwned, request.message)
      holder.expires = request.timeout.map { transition.now.after(milliseconds: $0) }
      holder.restoresAtLogin = request.restoresAtLogin
      if request.isOwned { transition.outcome.owners.append(client) }
      transition.hold(key, holder)
    }
    return (key.cookie, outcome)
  }

  /// Ends what clients hold by a name (H1).
  /// - Parameter cookie: the number of the only holder to end; nil for all of them.
  /// - Returns: how many have ended.
  public mutating func releaseHold(
    _ name: String, cookie: UInt64? = nil, at now: Instant
  ) -> (count: Int, outcome: Outcome) {
    let keys = clientHolders(of: name, cookie: cookie)
    guard !keys.isEmpty else { return (0, Outcome()) }
    return (keys.count, process(at: now) { $0.release(keys) })
  }

  /// The clients that hold by a name, in the order in which they began. A fact of the session is none.
  private func clientHolders(of name: String, cookie: UInt64? = nil) -> [Holder.Key] {
    if let cookie {
      let key = Holder.Key(name: name, cookie: cookie)
      return cookie != 0 && state.holders[key] != nil ? [key] : []
    }
    guard state.countsOfHolders[name] != nil else { return [] }
    return state.holders.keys.filter { $0.name == name && $0.cookie != 0 }.sorted { $0.cookie < $1.cookie }
  }

  /// Sets whether a fact of the session is true (H2).
  public mutating func set(_ fact: SessionFact, _ isTrue: Bool, at now: Instant) -> Outcome {
    let key = Holder.Key(fact)
    guard (state.holders[key] != nil) != isTrue, !state.isShuttingDown else { return Outcome() }
    return process(at: now) { transition in
      if isTrue { transition.hold(key, Holder()) } else { transition.release([key]) }
    }
  }

  /// The items that end when a hold begins (H5). Neither a request nor a hold ends a protected item (D12).
  func ends(ofHold name: String) -> [PlannedEnd] {
    guard !state.holdsInForce.contains(name) else { return [] }
    return dismissals(by: [name])
  }

  /// Whether a hold postpones a member of a group that is in a stack. Such a member cannot wait in the queue (H4).
  func isHeldInStack(_ item: Shared<Item>) -> Bool {
    item.membership != nil && item.position != nil && item.isHeld(by: state.holdsInForce)
  }

  /// The selected members of groups that a hold keeps from being presented (H4). They were selected before the hold began. Those in
  /// stacks end, and are first, so none of them ends because its parent returns to the queue. The topmost of a stack is first, so none is
  /// popped by the end of another.
  var heldSelections: [Handle] {
    presentations(concernedBy: state.holdsInForce).filter { presentation in
      presentation.phase == .waiting && presentation.item.membership != nil && !presentation.item.isQueued
        && presentation.item.isHeld(by: state.holdsInForce) && !isFallback(presentation.item.membership)
        && !presentation.item.isOwnFallback
    }.sorted { a, b in
      let (height, other) = (a.item.position?.index ?? -1, b.item.position?.index ?? -1)
      return height != other ? height > other : a.handle < b.handle
    }.map { $0.handle }
  }

  /// The presentations on whose items some of the holds have an effect, and others, in the order of their handles.
  fileprivate func presentations(concernedBy names: Set<String>, besides others: Set<Handle> = []) -> [Presentation] {
    var handles = others
    for name in names { handles.formUnion(state.concerned[name] ?? []) }
    return handles.sorted().compactMap { state.presentations[$0] }
  }

  fileprivate func dismissals(by names: Set<String>) -> [PlannedEnd] {
    let locked = SessionFact.locked.rawValue
    return presentations(concernedBy: names).compactMap { presentation in
      let dismissing = presentation.item.holds.filter { $0.value == .dismiss && names.contains($0.key) }
      guard !dismissing.isEmpty, presentation.phase.isLive, presentation.item.destination?.isProtected != true else {
        return nil
      }
      return PlannedEnd(handle: presentation.handle, reason: .held, isForced: dismissing[locked] != nil)
    }
  }
}

extension Transition {
  // MARK: Beginning and ending

  fileprivate mutating func hold(_ key: Holder.Key, _ holder: Holder) {
    let ends = machine.ends(ofHold: key.name)
    begin(key, holder)
    clear(ends, postponing: machine.heldSelections)
  }

  /// Puts a hold of an earlier session in force again, unless its time is over.
  mutating func restore(_ hold: LoginHold, named name: String) {
    var holder = Holder()
    (holder.message, holder.restoresAtLogin) = (hold.message, true)
    if let until = hold.until {
      guard let wallTime, until > wallTime else { return }
      holder.expires = now.after(milliseconds: until - wallTime)
    }
    self.hold(Holder.Key(name: name, cookie: state.serial.number + 1), holder)
  }

  /// Puts a hold in force. The presentations that end because of it are still there.
  private mutating func begin(_ key: Holder.Key, _ holder: Holder) {
    var holder = holder
    holder.since = wallTime
    state.add(holder, key)
    announce(.hold(key.name, isInForce: true))
    letGo(forHold: key.name)
  }

  /// Ends holders. When a hold has none left, the items that waited for its end are presented.
  mutating func release(_ keys: [Holder.Key]) {
    guard !keys.isEmpty else { return }
    for key in keys { finish(key) }
    presentReleased(by: Set(keys.map(\.name)))
  }

  private mutating func finish(_ key: Holder.Key) {
    let isInForce = state.removeHolder(key)
    announce(.hold(key.name, isInForce: isInForce))
  }

  /// Ends the owned holds of a client that has left the bus.
  mutating func releaseHolds(of client: Client) {
    release(state.sortedHolders { $0.isOwned && $0.client == client })
  }

  /// Presents the items that waited for the end of holds. Groups without a selected member, or with a fallback that gives way, serve their
  /// queues (H4).
  /// - Parameter others: presentations on which holds have another effect now.
  private mutating func presentReleased(by names: Set<String>, besides others: Set<Handle> = []) {
    presentHeld(machine.presentations(concernedBy: names, besides: others))
  }

  /// Has selected members wait in their queues that a hold keeps from being presented (H4), and presents all items that may be, as at a
  /// start or with other fallbacks.
  mutating func presentHeld() {
    clear([], postponing: machine.heldSelections)
    presentHeld(state.presentations.keys.sorted().map { state.presentations[$0]! })
  }

  private mutating func presentHeld(_ candidates: [Presentation]) {
    for presentation in candidates where canStart(presentation) { state.lists.mayStart.append(presentation.handle) }
    // A fallback that has declined to give way is asked again.
    let declining = state.fallbacks.compactMap { $0.declining == nil ? nil : $0.group }
    let groups = Set(candidates.compactMap { $0.item.isQueued ? $0.item.membership?.group : nil } + declining)
      .filter { canServe($0) }
    guard !groups.isEmpty else { return advance() }
    forgetDeclining(in: groups)
    change { planner in for group in groups { planner.withGroup(group) { _ in } } }
  }

  /// Whether a group has room for a member of its queue, and a member that no hold keeps.
  private func canServe(_ binding: BindingID) -> Bool {
    guard let group = state.groups[binding] else { return false }
    return machine.isIdle(group) && state.isReady(group.queue)
  }

  // MARK: Presentations that hold

  /// Puts the hold of a presentation in force that goes on the screen (H8). The consequences are settled at the end of the input.
  mutating func beginHold(of presentation: Presentation) {
    guard let name = state.beginHolding(presentation) else { return }
    state.lists.begunHolds.insert(name)
    announce(.hold(name, isInForce: true))
    letGo(forHold: name)
  }

  /// Ends the hold of a presentation that is gone.
  mutating func endHold(of presentation: Presentation) {
    guard let name = state.endHolding(presentation) else { return }
    state.lists.endedHolds.insert(name)
    announce(.hold(name, isInForce: state.holdsInForce.contains(name)))
  }

  /// Gives the items that are there the effects of holds that files say now (H3). What follows from holds in force is settled as if they
  /// had begun and ended in this input.
  mutating func applyHoldSettings() {
    guard state.hasNewHoldSettings else { return }
    state.hasNewHoldSettings = false
    for handle in state.presentations.keys.sorted() {
      let presentation = state.presentations[handle]!
      let effects = machine.holds(for: machine.destinationAsWritten(of: presentation.item))
      let before = presentation.item.holds
      guard effects != before else { continue }
      state.endConcern(of: presentation)
      state.presentations[handle]!.item.holds = effects
      state.beginConcern(of: state.presentations[handle]!)
      state.lists.otherHolds.insert(handle)
      state.lists.begunHolds.formUnion(effects.keys.filter { effects[$0] != before[$0] })
    }
  }

  /// Settles the consequences of holds that presentations have begun or ended in this input: dismisses, postpones, and presents items
  /// that waited. These may begin and end holds in turn. Each round has begun or ended at least one presentation, and none begins or ends
  /// twice in one input.
  mutating func settleHolds() {
    while !state.lists.begunHolds.isEmpty || !state.lists.endedHolds.isEmpty || !state.lists.otherHolds.isEmpty {
      let begun = state.lists.begunHolds.intersection(state.holdsInForce)
      let (ended, others) = (state.lists.endedHolds, state.lists.otherHolds)
      state.lists.begunHolds = []
      state.lists.endedHolds = []
      state.lists.otherHolds = []
      if !begun.isEmpty { clear(machine.dismissals(by: begun), postponing: machine.heldSelections) }
      if !ended.isEmpty || !others.isEmpty { presentReleased(by: ended, besides: others) }
    }
  }

  // MARK: Restarts

  /// Updates the facts of the session after a restart, and drops the holds of another session's
  /// clients (H5, R8).
  /// - Returns: the ends of items because of facts that have become true meanwhile.
  mutating func resumeHolds(_ facts: [SessionFact: Bool], isOtherSession: Bool) -> [PlannedEnd] {
    var ends: [PlannedEnd] = []
    for (fact, isTrue) in facts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      let key = Holder.Key(fact)
      guard (state.holders[key] != nil) != isTrue else { continue }
      if isTrue {
        ends += machine.ends(ofHold: key.name)
        begin(key, Holder())
      } else {
        finish(key)
      }
    }
    if isOtherSession { for key in state.sortedHolders({ $0.client != nil || $0.restoresAtLogin }) { finish(key) } }
    return ends
  }
}

extension State {
  fileprivate func sortedHolders(_ isIncluded: (Holder) -> Bool) -> [Holder.Key] {
    holders.filter { isIncluded($0.value) }.keys.sorted { $0.cookie < $1.cookie }
  }
}

extension Planner {
  /// Refuses new presentations if a hold in force refuses their items (H3). Presentations that stay or are removed pass, and so do
  /// those that navd presents by itself.
  func refuseHeld() throws(Refusal) {
    guard !state.holdsInForce.isEmpty, !isRestoring else { return }
    for index in draft.slots.indices where draft.slots[index].isNew {
      let (binding, slot) = (draft.slots.binding(at: index), draft.slots[index])
      guard slot.isRequested, let item = slot.item, item.hold(by: state.holdsInForce) == .refuse else { continue }
      // A fallback that nobody has asked for (K1).
      if slot.author.client == nil, machine.isFallback(item.membership) { continue }
      throw held(item, at: binding, .refuse, "").about(slot.author)
    }
  }

  /// Plans that a selected member waits in the queue. Its children end.
  mutating func postpone(_ handle: Handle) {
    guard let binding = state.presentations[handle]?.binding, let item = item(at: binding) else { return }
    guard item.position == nil else { return clear(binding, reason: .held) }
    loseChildren(of: binding)
    queueFirst(binding, item, item.membership!)
    reopen(binding)
  }

  /// Queues new items that are selected and that a hold postpones, before all others of their groups (H4). They are items that are
  /// presented again after the end of their presentations.
  mutating func queueHeld() throws(Refusal) {
    guard !state.holdsInForce.isEmpty else { return }
    for index in draft.slots.indices where draft.slots[index].isNew {
      let (binding, slot) = (draft.slots.binding(at: index), draft.slots[index])
      guard let item = slot.item, let membership = item.membership, !item.isQueued,
        item.isHeld(by: state.holdsInForce), !machine.isFallback(membership)
      else { continue }
      if item.position != nil { throw heldInStack(item, at: binding).about(slot.author) }
      queueFirst(binding, item, membership)
    }
  }

  func heldInStack(_ item: Shared<Item>, at binding: BindingID) -> Refusal {
    held(
      item, at: binding, .postpone,
      ", and what is in a stack cannot wait in the queue of “\(item.membership?.group.text ?? "")”")
  }

  /// The refusal of an item that holds keep from being presented.
  /// - Parameter cause: the reason why the item cannot wait.
  func held(_ item: Shared<Item>, at binding: BindingID, _ action: HoldAction, _ cause: String) -> Refusal {
    let names = item.holds.filter { $0.value >= action && state.holdsInForce.contains($0.key) }.keys.sorted()
    return Refusal(
      .held,
      "“\(binding)” is held by \(names.map(quoted).joined(separator: " and "))\(cause); wait until that ends, or release it"
    )
  }
}
