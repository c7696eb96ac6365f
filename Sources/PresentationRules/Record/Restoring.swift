import DBusValues
import PresentationModel

/// A contradiction in a record, which therefore cannot be restored.
public struct RecordFault: Error, CustomStringConvertible, Sendable {
  public let description: String
  public init(_ description: String) { self.description = description }
}

/// The fate of a presentation that was live when navd ended.
public enum Survival: Hashable, Sendable {
  /// The presentation is on the screen, and its presenter knows it.
  case shown
  /// The presentation has to be shown, perhaps again: its presenter has not begun, or no longer knows it.
  case toBeShown
  /// The presenter had left the bus, and has not come back yet (D4).
  case awaited
  /// The presentation was shown and has ended, with the known part of its result.
  case gone(result: Properties)
}

extension StateMachine {
  /// Restores the state from a record. From now on `takeUnrecorded` returns the differences from the record.
  /// - Parameter destinations: the destinations that files registered, now and before; `load` announces differences.
  /// - Throws: `RecordFault` if the record contradicts itself.
  public init(
    limits: Limits = Limits(), restoring recorded: RecordedState, destinations: [Destination] = []
  ) throws(RecordFault) {
    try recorded.check(limits)
    var state = State(limits: limits, serial: recorded.numbers.serial, lastHandle: recorded.numbers.lastHandle)
    try state.restore(recorded, destinations)
    self.init(state)
  }

  /// Has everything recorded again, after a change that the record could not follow.
  public mutating func noteAll() {
    state.presentations.noteAll()
    state.endings.noteAll()
    state.parked.noteAll()
    state.recordedNumbers = nil
  }

  // MARK: Resuming

  /// The clients that own or registered something, that hold, or whose items are counted. Some may have left the bus.
  public var knownClients: Set<Client> {
    let holding = state.holders.values.filter(\.isOwned).compactMap(\.client)
    return Set(state.ownedBy.keys).union(state.registry.ofClients.keys).union(state.countsOfClients.keys).union(holding)
  }

  /// The presentations that a presenter may still show; `resume` needs the fate of each.
  public var survivors: [Presentation] {
    state.presentations.values.filter { $0.phase.isLive && $0.isShownByPresenter && !$0.isOver }
      .sorted { $0.handle < $1.handle }
  }

  /// Continues after a restart (R2, R6).
  ///
  /// - Parameters:
  ///   - survivals: the fate of each of the `survivors`; a missing one counts as gone.
  ///   - absent: the clients that are no longer on the bus; on another bus, all (R7).
  ///   - isOtherSession: whether the record is of another session; then only programs that still run count (R8).
  ///   - facts: the facts of the session that are known; others count as recorded (H5).
  public mutating func resume(
    _ survivals: [Handle: Survival], absent: Set<Client>, isOtherSession: Bool = false,
    facts: [SessionFact: Bool] = [:], at now: Instant
  ) -> Outcome {
    let found = survivors.map { presentation in
      let survival = survivals[presentation.handle] ?? .gone(result: [:])
      return (presentation, isOtherSession && survival != .shown ? .gone(result: [:]) : survival)
    }
    var former: [Handle] = []
    if isOtherSession {
      let shown = Set(found.map { $0.0.handle })
      former = state.presentations.values.filter { !shown.contains($0.handle) && !$0.phase.isDismissing }
        .map { $0.handle }
    }
    return process(at: now) { transition in
      let held = transition.resumeHolds(facts, isOtherSession: isOtherSession)
      transition.resume(
        found, former: former.sorted(), held: held, absent: absent, survivals, isOtherSession: isOtherSession)
    }
  }
}

extension Transition {
  fileprivate mutating func resume(
    _ found: [(Presentation, Survival)], former: [Handle], held: [PlannedEnd], absent: Set<Client>,
    _ survivals: [Handle: Survival], isOtherSession: Bool
  ) {
    var ends = former.map { PlannedEnd(handle: $0, reason: .lost) }
    var open: [(Presentation, Survival)] = []
    for (presentation, survival) in found {
      // A presenter that is asked to show the presentation again gets the latest item. If it declines a dismissal, it gets the item
      // then.
      if !presentation.phase.isDismissing { state.presentations[presentation.handle]!.updates = .idle }
      if case .gone(let result) = survival, !presentation.phase.isDismissing {
        state.presentations[presentation.handle]!.result = machine.limited(result)
        let isFinal = isOtherSession || presentation.item.owner.map(absent.contains) ?? false
        ends.append(PlannedEnd(handle: presentation.handle, reason: .lost, isOver: true, isFinal: isFinal))
      } else {
        open.append((presentation, survival))
      }
    }
    // Items that end only because their owners have left.
    let lost = Set(ends.map { $0.handle })
    let owned = absent.flatMap { state.ownedBy[$0] ?? [] }.filter { !lost.contains($0) }
    // Dismissals under way come first, since they are not begun again. A presenter is called only once, even for a dismissal that is
    // forced because another presentation is gone.
    let departed = open.filter { presentation, survival in
      if case .gone = survival { presentation.phase.dismissal?.stage == .held } else { false }
    }
    _ = machine.force(machine.dismissed(before: ends.map { $0.handle } + owned + departed.map { $0.0.handle }))
    for client in absent.sorted() { unregister(client) }
    // An item that waits for a presentation that is gone may end itself.
    state.lists.startsLater = true
    for (presentation, survival) in open { resumeDismissal(of: presentation, survival) }
    loseParked(survivals)
    // The result of a program whose windows were gone is lost (N3).
    for handle in state.presentations.filter({ $0.value.phase.dismissal?.stage == .settling }).keys.sorted() {
      end(handle, with: [:])
    }
    advance()
    let gone = Set(ends.map { $0.handle } + owned)
    clear(
      ends + owned.sorted().map { PlannedEnd(handle: $0, reason: .owner) } + held.filter { !gone.contains($0.handle) })
    state.lists.startsLater = false
    for client in absent.sorted() {
      releaseHolds(of: client)
      state.countsOfClients[client] = nil
    }
    for (presentation, survival) in open { resumeShowing(of: presentation, survival) }
    advance()
    // After a damaged record, presentations may wait for nothing; so may items that a hold has postponed.
    state.lists.mayEnd += state.presentations.values.filter { $0.phase.isDismissing }.map { $0.handle }.sorted()
    presentHeld()
  }

  /// Resumes a dismissal. If the presentation is gone, the dismissal has succeeded. Otherwise it is asked for again, since nobody knows
  /// whether the presenter was asked.
  private mutating func resumeDismissal(of presentation: Presentation, _ survival: Survival) {
    let handle = presentation.handle
    guard let dismissal = presentation.phase.dismissal else { return }
    switch (dismissal.stage, survival) {
    case (.held, .gone(let result)):
      take(endOf: handle, reason: dismissal.reason, result: result)
    case (_, .gone(let result)):
      end(handle, with: machine.limited(result))
    case (.asked, _), (.asking, _), (.killed, _):
      stopAsking(handle)
      askToDismiss(handle)
    case (.held, _), (.departed, _), (.overtaken, _), (.settling, _):
      break
    }
  }

  private mutating func resumeShowing(of presentation: Presentation, _ survival: Survival) {
    let handle = presentation.handle
    // The presentation may be dismissed by now, because another one was lost or its owner left.
    switch (state.presentations[handle]?.phase, survival) {
    case (.presenting?, .shown) where state.presentations[handle]!.awaitsReady:
      state.presentations.modifyDerived(handle) { $0.isStarted = true }
      expectStart(of: handle)
    case (.presenting?, .shown):
      becomePresented(handle)
    case (.presented?, .toBeShown):
      // It may have been kept just now (G10).
      presentAgain(handle)
    case (.presenting?, .toBeShown):
      expectStart(of: handle)
      outcome.commands.append(.present(handle))
    case (.presented?, .awaited):
      awaitPresenter(of: handle)
    default:
      break
    }
  }

  /// Asks a presenter to show a presentation again that it, or its predecessor, has shown (R2, D4).
  mutating func presentAgain(_ handle: Handle) {
    let presentation = state.presentations[handle]!
    state.presentations[handle]!.updates = .underWay
    state.presentations[handle]!.awaitsPresenter = false
    state.abandoned.remove(handle)
    expectAnswer(handle, for: presentation.item.destination?.startTimeout ?? 0)
    outcome.commands.append(.present(handle))
  }

  /// Handles the answer of a presenter that was asked to show a presentation again (R2, D4).
  mutating func presentedAgain(_ handle: Handle, error: String?) {
    guard let presentation = state.presentations[handle] else { return }
    if let error, presentation.phase.dismissal?.stage == .held {
      // A presentation that is not on the screen must not get its slot back (P15).
      return take(endOf: handle, reason: .failed, result: ["error": .string(error)])
    }
    guard presentation.phase == .presented, presentation.answerDue != nil, !presentation.awaitsPresenter else { return }
    state.presentations[handle]!.answerDue = nil
    if let error {
      take(endOf: handle, reason: .failed, result: ["error": .string(error)])
    } else {
      updateAnswered(handle)
    }
  }
}

extension PresentationFields {
  var isShownByPresenter: Bool { item.destination.map { $0.presenter != .none } ?? false }
  fileprivate var isOver: Bool { phase.dismissal?.stage == .departed || phase.dismissal?.stage == .settling }
  fileprivate var hasDeadline: Bool { answerDue != nil || expires != nil || startsBy != nil }
  /// Whether the next presentation may be on the screen before this one is gone (G10). The settings of groups are not known yet.
  var mayOverlap: Bool {
    item.position == nil && (item.membership != nil || item.destination?.itemSettings?.replacement == .overlap)
  }
  /// Whether other presentations are restored with this one, or its phase is checked against theirs.
  fileprivate var isRelated: Bool {
    parent != nil || item.membership != nil || item.position != nil || phase.isDismissing
  }
}

extension State {
  fileprivate mutating func restore(_ recorded: RecordedState, _ destinations: [Destination]) throws(RecordFault) {
    _ = registry.load(destinations, mistakes: [:])
    lastQueueAge = recorded.numbers.lastQueueAge
    recordedNumbers = recorded.numbers
    loginItemsOnRecord = recorded.loginItems
    loginHoldsOnRecord = recorded.loginHolds
    for (key, defaultValue) in recorded.containerValues {
      containerValueDeclarations[key] = ContainerValueDeclaration(type: defaultValue.type, defaultValue: defaultValue)
    }
    for (key, row) in recorded.tags.sorted(by: { $0.value.stamp < $1.value.stamp }) {
      let memory = TagMemory(binding: row.binding, id: row.id, options: row.options, isTrusted: row.isTrusted)
      tagMemory.put(key, memory, bytes: memory.byteCount, stamp: row.stamp)
    }
    // Serials follow the order of the ends.
    for ending in recorded.endings.values.sorted(by: { $0.serial < $1.serial }) {
      endings.put(ending.handle, Shared(ending), bytes: ending.result.byteCount, stamp: ending.serial.number)
    }
    for (_, registrations) in recorded.registrations.sorted(by: { $0.key < $1.key }) {
      for destination in registrations {
        if case .client(let client) = destination.source { _ = registry.register(destination, by: client) }
      }
    }
    for row in recorded.presentations.values where row.isParked {
      try recorded.check(row, limits)
      restore(parked: row)
    }
    // Sorted by their handles, since rows are too large to be moved around.
    let handles = recorded.presentations.compactMap { $0.value.isParked ? nil : $0.key }.sorted()
    presentations.reserveCapacity(handles.count)
    slots.reserveCapacity(handles.count)
    var related: [Presentation] = []
    for handle in handles {
      let row = recorded.presentations[handle]!
      try recorded.check(row, limits)
      try restore(row)
      if row.presentation.isRelated { related.append(row.presentation) }
    }
    try recorded.check(bytesOfItems: bytesOfItems, limits)
    try recorded.checkDependencies(of: related)
    for (key, holder) in recorded.holders {
      add(holder, key)
    }
    for (name, value) in recorded.environment { environment[name] = value }
    for presentation in presentations.values
    where presentation.phase.isLive && presentation.phase.dismissal?.stage != .settling {
      _ = beginHolding(presentation)
    }
    for presentation in related { try restoreRelations(of: presentation) }
    restoreClaims()
    try finishStacks()
    try finishGroups()
    try checkPhases(of: related.map(\.handle))
    beginNoting()
  }

  private mutating func restore(_ row: RecordedState.PresentationRow) throws(RecordFault) {
    var presentation = row.presentation
    // Only differences are written, since a write copies the presentation.
    if presentation.announced != presentation.phase.name { presentation.announced = presentation.phase.name }
    if !presentation.children.isEmpty { presentation.children = [] }
    // A damaged record may say of a dismissal that it can be declined, although it is one that cannot (P15).
    if var dismissal = presentation.phase.dismissal, !dismissal.isForced,
      presentation.content.isForced(by: dismissal.reason, at: dismissal.stage)
    {
      dismissal.isForced = true
      presentation.phase = .dismissing(dismissal)
    }
    if presentation.awaitsPresenter {
      presentation.awaitsPresenter =
        presentation.phase == .presented && presentation.isShownByPresenter && presentation.answerDue != nil
      if presentation.awaitsPresenter { abandoned.insert(presentation.handle) }
    }
    if presentation.hasDeadline {
      // Deadlines of other phases are damage.
      switch (presentation.phase, presentation.phase.dismissal?.stage) {
      case (.presented, _): if !presentation.isShownByPresenter { presentation.answerDue = nil }
      case (.presenting, _), (_, .asked), (_, .settling), (_, .killed): presentation.expires = nil
      case (.waiting, _), (.dismissing, _): (presentation.answerDue, presentation.expires) = (nil, nil)
      }
      if presentation.phase != .waiting { presentation.startsBy = nil }
    }
    presentations[presentation.handle] = presentation
    schedule(presentation.answerDue, .answer, presentation.handle)
    schedule(presentation.expires, .expiry, presentation.handle)
    schedule(presentation.startsBy, .start, presentation.handle)
    if presentation.phase == .waiting { schedule(presentation.continuation?.due, .restart, presentation.handle) }
    bytesOfItems += presentation.item.byteCount
    beginConcern(of: presentation)
    if let owner = presentation.item.owner { ownedBy[owner, default: []].insert(presentation.handle) }
    if let creator = presentation.creator { countsOfClients[creator, default: 0] += 1 }
    // The slot, the group and the stack do not wait for this presentation.
    if presentation.phase.dismissal?.stage == .settling { return }
    bindingsOfRoot[presentation.binding.root, default: []].insert(presentation.binding)
    var slot = slots[presentation.binding] ?? Slot()
    if case .dismissing = presentation.phase {
      guard slot.dismissing.count < 2 else {
        throw RecordFault("three presentations are being dismissed at “\(presentation.binding)”")
      }
      slot.dismissing.append(presentation.handle)
    } else {
      guard slot.current == nil else { throw RecordFault("two presentations are current at “\(presentation.binding)”") }
      slot.current = presentation.handle
    }
    slots[presentation.binding] = slot
  }

  /// Restores the relations of a presentation to its parent, group and stack.
  private mutating func restoreRelations(of presentation: Presentation) throws(RecordFault) {
    if let parent = presentation.parent {
      presentations.modifyDerived(parent) { $0.children.insert(presentation.handle) }
    }
    if presentation.phase.dismissal?.stage == .settling { return }
    let isGoing = presentation.phase.isDismissing
    if let membership = presentation.item.membership {
      var group = groups[membership.group] ?? Group()
      if presentation.phase.isLive {
        guard group.live.count < 2 else { throw RecordFault("three members of “\(membership.group)” are live") }
        group.live.append(presentation.handle)
      }
      if presentation.item.isQueued, !isGoing {
        group.queue.insert(
          QueueEntry(
            priority: presentation.item.priority, age: presentation.item.queueAge ?? 0, binding: presentation.binding,
            tag: membership.tag, isInterrupted: presentation.item.isInterrupted))
      } else if !isGoing {
        guard group.selected == nil else { throw RecordFault("two members of “\(membership.group)” are selected") }
        group.selected = presentation.binding
      }
      groups[membership.group] = group
    }
    guard let position = presentation.item.position else { return }
    var stack = stacks[position.stack] ?? Stack()
    if isGoing { stack.dismissing.append(presentation.handle) } else { stack.path.append(presentation.binding) }
    stacks[position.stack] = stack
  }

  private mutating func finishStacks() throws(RecordFault) {
    func position(_ handle: Handle?) -> Int { handle.flatMap { presentations[$0]?.item.position?.index } ?? -1 }
    for name in Array(stacks.keys) {
      var stack = stacks[name]!
      stack.path.sort { position(slots[$0]?.current) < position(slots[$1]?.current) }
      for (index, binding) in stack.path.enumerated() where position(slots[binding]?.current) != index {
        throw RecordFault("the stack “\(name)” has no presentation at position \(index), or two")
      }
      let going = Set(stack.dismissing.map { position($0) })
      guard going.count == stack.dismissing.count else {
        throw RecordFault("two presentations are being dismissed at one position of the stack “\(name)”")
      }
      var isBelowPresented = true
      for (index, binding) in stack.path.enumerated() {
        let phase = slots[binding]?.current.flatMap { presentations[$0]?.phase } ?? .waiting
        if phase.isLive, !isBelowPresented || going.contains(index) {
          throw RecordFault("“\(binding)” is shown before its turn in the stack “\(name)”")
        }
        isBelowPresented = phase == .presented
      }
      stack.started = stack.path.prefix { slots[$0]?.current.flatMap { presentations[$0] }?.phase.isLive == true }.count
      stack.dismissing.sort { position($0) > position($1) }
      guard going == Set(stack.started..<stack.started + going.count) else {
        throw RecordFault("a presentation of the stack “\(name)” ends before another one above it")
      }
      stacks[name] = stack
    }
  }

  private mutating func finishGroups() throws(RecordFault) {
    for name in groups.keys {
      let (queue, selected) = (groups[name]!.queue.entries, groups[name]!.selected)
      let tag = selected.flatMap { slots[$0]?.current }.flatMap { presentations[$0]?.item.membership?.tag }
      guard Set(queue.map(\.age)).count == queue.count, Set(queue.map(\.tag) + [tag ?? ""]).count == queue.count + 1
      else {
        throw RecordFault("two members of “\(name)” have the same tag, or the same age in its queue")
      }
    }
  }

  /// Refuses presentations that were shown or asked to end before their turn (P13, C2, C3, S2).
  /// - Parameter handles: the handles of the related presentations. If a slot has two, they include the one that is being dismissed.
  private func checkPhases(of handles: [Handle]) throws(RecordFault) {
    for handle in handles {
      let presentation = presentations[handle]!
      let parent = presentation.parent.flatMap { presentations[$0]?.phase } ?? .presented
      let isAllowed: Bool
      switch presentation.phase {
      case .waiting: isAllowed = true
      case .presenting, .presented: isAllowed = parent == .presented
      case .dismissing(let dismissal):
        let stack = presentation.item.position.flatMap { stacks[$0.stack] }
        let current = slots[presentation.binding]?.current.flatMap { presentations[$0] }
        // Neither the slot nor the stack waits for it any more (N3).
        let isSettling = dismissal.stage == .settling
        let mayEnd =
          presentation.children.isEmpty && (isSettling || stack?.dismissing.first ?? handle == handle)
        isAllowed =
          (parent == .presented || parent.isDismissing)
          && (mayEnd || dismissal.stage == .held || dismissal.stage == .departed)
          && (isSettling || presentation.mayOverlap || current?.phase.isLive != true
            // It has not come in the place of that one, which stays (G10).
            || current?.mayOverlap == true)
      }
      guard isAllowed else { throw RecordFault("presentation \(handle) is shown, or asked to end, before its turn") }
    }
  }

}
