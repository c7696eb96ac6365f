import DBusValues
import DequeModule
import PresentationModel

/// The end of a presentation that no request dismisses.
public struct PlannedEnd: Hashable, Sendable {
  public let handle: Handle
  public let reason: Reason
  /// Whether the presenter has already ended the presentation, so that it is not asked to.
  public let isOver: Bool
  /// Whether no presenter may decline the end, even if the presentation is being dismissed already (P15).
  public let isForced: Bool
  /// Whether the item is not presented again, whatever its destination defines (K3).
  public let isFinal: Bool

  public init(
    handle: Handle, reason: Reason, isOver: Bool = false, isForced: Bool = false, isFinal: Bool = false
  ) {
    (self.handle, self.reason, self.isOver, self.isFinal) = (handle, reason, isOver, isFinal)
    self.isForced = isForced || reason.isForced
  }
}

/// The processing of one input: it changes the state, and collects the outcome.
///
/// Presentations start and end here, each as soon as nothing delays it. This is the only place that decides about it (P13, C3, S2, G1).
struct Transition: ~Copyable {
  var machine: StateMachine
  private let time: Instant?
  var outcome = Outcome()
  /// The groups whose tags and queues were announced.
  private var toldGroups: Set<BindingID> = []

  var state: State {
    @inline(__always) _read { yield machine.state }
    @inline(__always) _modify { yield &machine.state }
  }

  var now: Instant {
    guard let time else { preconditionFailure("an input without a time started or ended a presentation") }
    return time
  }

  /// - Parameter now: the time; nil for inputs that neither start nor end a presentation.
  init(of machine: borrowing StateMachine, at now: Instant?) {
    self.machine = machine.lent()
    time = now
    // An item that replaces another one causes four changes.
    outcome.changes.reserveCapacity(4)
  }

  /// Settles the consequences of an input: the holds of presentations, and the fallbacks, which may
  /// hold, too (H8, K1).
  mutating func followUp() {
    applyHoldSettings()
    settleHolds()
    fallBack()
    settleHolds()
  }

  /// Ends the input, and announces phases.
  /// - Returns: the outcome of the input.
  consuming func finish() -> Outcome {
    announceParked()
    announcePhases()
    state.lists.finish()
    state.forgetStaleDeadlines()
    return outcome
  }

  /// Empties the slots of presentations, as one change. For a presentation that is not the current one of its slot, it only forces the
  /// dismissal if the end is forced.
  /// - Parameters:
  ///   - client: the client whose request causes the ends.
  ///   - postponed: members of groups that return to their queues in the same change (H4).
  mutating func clear(_ ends: [PlannedEnd], by client: Client? = nil, postponing postponed: [Handle] = []) {
    let current = ends.filter { machine.isCurrent($0.handle) }
    state.lists.mayForce += ends.filter(\.isForced).map { $0.handle }
    guard !current.isEmpty || !postponed.isEmpty else { return advance() }
    let continuations = machine.continuations(after: current, at: now)
    change(by: client) { planner in
      planner.clear(current, continuations)
      for handle in postponed { planner.postpone(handle) }
    }
  }

  /// Plans and makes a change that cannot be refused.
  /// - Parameter client: the client whose request causes the change.
  mutating func change(by client: Client? = nil, _ plan: (inout Planner) -> Void) {
    var planner = Planner(of: machine, at: now, by: client)
    plan(&planner)
    planner.settleEnds()
    commit(planner.draft)
  }

  // MARK: Announcing

  /// Adds a change to the outcome, under the next serial (W1).
  mutating func announce(_ event: Change.Event) {
    state.serial = Serial(state.serial.number + 1)
    outcome.changes.append(Change(serial: state.serial, event: event))
  }

  /// Announces tags that are declared or served from now on, or no longer. That of a member causes no event (W1).
  mutating func announce(_ differing: Set<GroupTag>) {
    outcome.destinationsChanged = true
    let visible = differing.filter {
      machine.selection(of: $0.group) != $0.tag && state.groups[$0.group]?.queue.binding(of: $0.tag) == nil
    }
    for group in Set(visible.map(\.group)).sorted(by: { $0.text < $1.text }) {
      announce(group: group)
    }
  }

  /// Announces that the tags or the queue of a group have changed. One event is enough for an input: watchers read them as they are
  /// after it (W1).
  mutating func announce(group: BindingID) {
    if toldGroups.insert(group).inserted { announce(.group(group)) }
  }

  /// Announces the phases after this input that differ from those announced last.
  private mutating func announcePhases() {
    for index in state.lists.touched.indices {
      let handle = state.lists.touched[index]
      guard let presentation = state.presentations[handle],
        presentation.announced != presentation.phase.name
      else { continue }
      state.presentations[handle]!.announced = presentation.phase.name
      announce(.phase(handle, presentation.binding, id: presentation.item.id, presentation.phase.name))
    }
  }

  /// Removes the registrations of a client that left. Presentations that begin because of that are shown by the remaining ones (D1).
  mutating func unregister(_ client: Client) {
    guard let names = state.registry.ofClients[client] else { return }
    var differing: Set<GroupTag> = []
    for name in names { differing.formSymmetricDifference(state.registry.unregister(name, by: client) ?? []) }
    announce(differing)
  }

  // MARK: When

  /// Whether `waiting` becomes `presenting`: its predecessors have ended, and the presentations
  /// that it depends on are presented (P13).
  func canStart(_ presentation: Presentation) -> Bool {
    guard presentation.phase == .waiting, !presentation.item.isQueued, presentation.continuation?.due == nil
    else { return false }
    let formerOnes = state.slots[presentation.binding]?.dismissing ?? []
    let members = presentation.item.membership.flatMap { state.groups[$0.group]?.live } ?? []
    guard machine.allows(presentation, beside: formerOnes), machine.allows(presentation, beside: members) else {
      return false
    }
    if let parent = presentation.parent, state.presentations[parent]?.phase != .presented { return false }
    if presentation.item.isHeld(by: state.holdsInForce) { return false }
    if let position = presentation.item.position, let stack = state.stacks[position.stack] {
      guard stack.started == position.index, stack.dismissing.isEmpty else { return false }
      if position.index > 0 {
        guard machine.current(at: stack.path[position.index - 1])?.phase == .presented else { return false }
      }
    }
    return true
  }

  /// Whether a presentation may be dismissed: its children have ended, so have those above it in its stack (C3, S2), and it waits for no
  /// successor (G10).
  private func canEnd(_ presentation: Presentation) -> Bool {
    guard presentation.children.isEmpty, !machine.outlasts(presentation) else { return false }
    guard let position = presentation.item.position else { return true }
    return state.stacks[position.stack]?.dismissing.first == presentation.handle
  }

  /// Starts and ends all presentations that can. After the end of a presentation's hold, the items
  /// that waited for that end are considered before any other starts, since one of them may come
  /// instead (H8). After a restart, all that is gone ends before anything starts (R2).
  mutating func advance() {
    force()
    var (ended, started) = (0, 0)
    while true {
      if ended < state.lists.mayEnd.count {
        let handle = state.lists.mayEnd[ended]
        ended += 1
        proceed(withEndOf: handle)
      } else if started < state.lists.mayStart.count, state.lists.endedHolds.isEmpty, !state.lists.startsLater {
        let handle = state.lists.mayStart[started]
        started += 1
        if let presentation = state.presentations[handle], canStart(presentation) { start(presentation) }
      } else {
        break
      }
    }
    state.lists.mayEnd.removeAll(keepingCapacity: true)
    state.lists.mayStart.removeFirst(started)
  }

  // MARK: Starting

  private mutating func start(_ presentation: Presentation) {
    let handle = presentation.handle
    if presentation.startsBy != nil { state.presentations[handle]!.startsBy = nil }
    // The presentation cannot return to the queue: nothing that it waited for can come back.
    if presentation.item.queueAge != nil {
      state.presentations[handle]!.item.leaveQueue()
      // Its key was pressed long ago.
      state.presentations[handle]!.mustBeSeen = false
    }
    if let membership = presentation.item.membership { state.groups[membership.group]!.live.append(handle) }
    if let position = presentation.item.position { state.stacks[position.stack]!.started += 1 }
    beginHold(of: presentation)
    findPresenter(of: handle)
    guard let destination = state.presentations[handle]!.item.destination, destination.presenter != .none else {
      becomePresented(handle)
      return
    }
    state.presentations[handle]!.phase = .presenting
    if !machine.outlasting(presentation).isEmpty { state.presentations.modifyDerived(handle) { $0.takesOver = true } }
    claimParked(for: handle)
    expectStart(of: handle)
    state.lists.touched.append(handle)
    outcome.commands.append(.present(handle))
  }

  /// Makes a presentation `presented`: presentations that wait for it may start, and its timeout
  /// starts (C2, O2).
  mutating func becomePresented(_ handle: Handle) {
    let (now, wallTime) = (now, wallTime)
    let presentation = state.presentations.modify(handle) { presentation in
      presentation.content.becomePresented(at: now, wallTime)
      return presentation
    }
    state.schedule(presentation.expires, .expiry, handle)
    announce(.presented(handle, presentation.binding, id: presentation.item.id, presentation.item))
    state.presentations[handle]!.presentedSerial = state.serial
    if !presentation.children.isEmpty { state.lists.mayStart.append(contentsOf: presentation.children.sorted()) }
    if let position = presentation.item.position { wakeLowest(of: position.stack) }
    handOver(to: presentation)
    leaveParking(handle)
  }

  /// Tries the lowest presentation of a stack that has not started, since only this one can start.
  private mutating func wakeLowest(of name: BindingID) {
    guard let stack = state.stacks[name], stack.started < stack.path.count,
      let next = state.slots[stack.path[stack.started]]?.current
    else { return }
    state.lists.mayStart.append(next)
  }

  // MARK: Ending

  /// Begins the dismissal of a presentation. It ends as soon as its dependents have ended.
  /// - Parameter isOver: whether the presenter has ended it already.
  mutating func begin(
    endOf handle: Handle, reason: Reason, animated: Bool, isOver: Bool, by client: Client?
  ) {
    let (now, endedBy) = (now, client.map { requester($0, ofTheEndOf: handle) })
    let presentation = state.presentations.modify(handle) { presentation in
      presentation.content.beginDismissal(reason: reason, animated: animated, isOver: isOver, by: endedBy, at: now)
      return presentation
    }
    state.abandoned.remove(handle)
    let stage = presentation.phase.dismissal?.stage
    if reason.isForced || stage == .departed { state.lists.mayForce.append(handle) }
    if stage != .overtaken { state.slots[presentation.binding]!.dismissing.append(handle) }
    if let position = presentation.item.position { insert(handle, intoDismissalsOf: position.stack) }
    state.lists.touched.append(handle)
    // A child that stays until its successor is presented does not keep its parent (G10).
    state.lists.mayEnd += presentation.children.filter { state.presentations[$0]?.phase.isDismissing == true }.sorted()
    state.lists.mayEnd.append(handle)
  }

  /// Inserts a presentation into a stack's order of dismissals, in whatever order one input begins them. Presentations that were never
  /// shown are first, since nothing on the screen delays them (P3). The topmost follows (S2).
  private mutating func insert(_ handle: Handle, intoDismissalsOf stack: BindingID) {
    let index = index(for: handle, in: state.stacks[stack]!.dismissing)
    state.stacks[stack]!.dismissing.insert(handle, at: index)
  }

  private func index(for handle: Handle, in dismissing: Deque<Handle>) -> Int {
    let own = rank(handle)
    var (low, high) = (dismissing.startIndex, dismissing.endIndex)
    while low < high {
      let middle = (low + high) / 2
      if own < rank(dismissing[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  private func rank(_ handle: Handle) -> (wasShown: Int, below: Int) {
    let presentation = state.presentations[handle]!
    let wasShown = presentation.phase.dismissal?.stage == .overtaken ? 0 : 1
    return (wasShown, -(presentation.item.position?.index ?? 0))
  }

  private mutating func proceed(withEndOf handle: Handle) {
    guard let presentation = state.presentations[handle], let dismissal = presentation.phase.dismissal,
      canEnd(presentation)
    else { return }
    switch dismissal.stage {
    case .departed where presentation.awaitsResult:
      settle(handle)
    case .overtaken, .departed:
      end(handle, with: [:])
    case .held:
      guard let destination = presentation.item.destination, destination.presenter != .none else {
        end(handle, with: [:])
        return
      }
      askToDismiss(handle)
    case .asked, .asking, .settling, .killed:
      break
    }
  }

  /// Lets a presentation's successors begin when its windows are gone, and only the result of its program is still to come (N3).
  mutating func settle(_ handle: Handle) {
    stopAsking(handle)
    var presentation = state.presentations[handle]!
    guard var dismissal = presentation.phase.dismissal else { return }
    dismissal.stage = .settling
    presentation.phase = .dismissing(dismissal)
    state.presentations[handle] = presentation
    expectAnswer(handle, for: presentation.item.destination?.grace ?? Destination.defaultGrace)
    leave(presentation)
    keepForAWhile(presentation, dismissal.reason)
  }

  /// Asks the presenter to end a presentation within its grace period (P14).
  mutating func askToDismiss(_ handle: Handle) {
    let presentation = state.presentations[handle]!
    guard var dismissal = presentation.phase.dismissal, let destination = presentation.item.destination else { return }
    dismissal.stage = .asked
    state.presentations[handle]!.phase = .dismissing(dismissal)
    expectAnswer(handle, for: destination.grace)
    outcome.commands.append(
      .dismiss(handle, dismissal.reason, animated: dismissal.animated, isForced: dismissal.isForced))
  }

  /// Removes a presentation: exactly once, with one reason (P6). Presentations that waited for its end start or end now.
  mutating func end(_ handle: Handle, with last: Properties) {
    guard let presentation = state.presentations.removeValue(forKey: handle),
      let reason = presentation.phase.dismissal?.reason
    else { return }
    let result = presentation.result.merging(last) { first, _ in first }
    // Watchers hear of a presentation before they hear of its end, even if both happen in one input.
    if presentation.announced == nil {
      announce(.phase(handle, presentation.binding, id: presentation.item.id, .waiting))
    }
    announce(.dismissed(handle, presentation.binding, id: presentation.item.id, reason, result: result))
    _ = state.endings.set(
      handle,
      Shared(
        Ending(
          handle: handle, binding: presentation.binding, id: presentation.item.id,
          destination: presentation.item.destinationName, group: presentation.item.membership?.group,
          stack: presentation.item.position?.stack, reason: reason, result: result, serial: state.serial,
          presentedAt: presentation.presentedAt, endedAt: now, time: wallTime, by: presentation.endedBy)),
      bytes: result.byteCount)
    state.bytesOfItems -= presentation.item.byteCount
    state.endConcern(of: presentation)
    if let owner = presentation.item.owner { state.disown(handle, owner) }
    if let creator = presentation.creator { state.uncount(creator) }
    if let parent = presentation.parent, state.presentations[parent] != nil {
      state.presentations.modifyDerived(parent) { $0.children.remove(handle) }
      state.lists.mayEnd.append(parent)
    }
    giveUpClaim(of: presentation)
    guard presentation.phase.dismissal?.stage != .settling else { return }
    leave(presentation)
    keepForAWhile(presentation, reason)
  }

  /// Removes a presentation from its group, its stack and its slot, and ends its hold.
  private mutating func leave(_ presentation: Presentation) {
    leaveGroup(presentation)
    leaveStack(presentation)
    leaveSlot(presentation)
    endHold(of: presentation)
  }

  /// The time in milliseconds since 1970.
  var wallTime: UInt64? {
    state.wallClockLead.map { now.moved(by: $0).nanoseconds / 1_000_000 }
  }

  private mutating func leaveGroup(_ presentation: Presentation) {
    guard let name = presentation.item.membership?.group,
      let index = state.groups[name]?.live.firstIndex(of: presentation.handle)
    else { return }
    state.groups[name]!.live.remove(at: index)
    wake(name)
    state.dropIfUnused(group: name)
  }

  private mutating func leaveStack(_ presentation: Presentation) {
    guard let name = presentation.item.position?.stack else { return }
    if state.stacks[name]!.dismissing.first == presentation.handle { state.stacks[name]!.dismissing.removeFirst() }
    if let next = state.stacks[name]!.dismissing.first {
      state.lists.mayEnd.append(next)
    } else {
      wakeLowest(of: name)
      state.dropIfUnused(stack: name)
    }
  }

  private mutating func leaveSlot(_ presentation: Presentation) {
    let binding = presentation.binding
    state.slots[binding]?.dismissing.removeAll { $0 == presentation.handle }
    state.lists.mayEnd += state.slots[binding]?.dismissing ?? []
    if let next = state.slots[binding]?.current {
      state.lists.mayStart.append(next)
    } else {
      state.dropIfUnused(slot: binding)
    }
  }

  // MARK: Updates

  /// Sends a presenter the latest item: one update at a time, the next one after its answer (D8).
  mutating func sendUpdate(of handle: Handle, by author: Client?) {
    guard let presentation = state.presentations[handle], presentation.item.destination?.isBus == true else {
      return
    }
    // A presenter that comes back gets the latest item anyway.
    if presentation.awaitsPresenter { return }
    switch (presentation.phase, presentation.updates) {
    case (.presented, .idle):
      state.presentations[handle]!.updates = .underWay
      state.presentations.modifyDerived(handle) { $0.awaitsUpdateAnswer = true }
      outcome.commands.append(.update(handle, author: author))
    case (.presented, .underWay), (.presenting, .underWay), (.presenting, .idle):
      state.presentations[handle]!.updates = .underWayAndPending(author: author)
    case (.presented, .underWayAndPending(let other)), (.presenting, .underWayAndPending(let other)):
      state.presentations[handle]!.updates = .underWayAndPending(author: other == author ? author : nil)
    case (.waiting, _), (.dismissing, _):
      break
    }
  }
}
