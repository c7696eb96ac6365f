// Why this file exists: after a restart the state is made of what is on record, and then of what became of it meanwhile
// (R2, R6, R7); both as pure as the rest, so that a simulation can end navd anywhere.

import DBusValues
import PresentationModel

/// Why a record cannot be the state: it contradicts itself.
public struct RecordFault: Error, CustomStringConvertible, Sendable {
  public let description: String
  public init(_ description: String) { self.description = description }
}

/// What has become of a presentation that was live when navd ended.
public enum Survival: Hashable, Sendable {
  /// It is shown, and its presenter knows it.
  case shown
  /// It has to be shown, or shown again: its presenter has not begun, or has to be asked in order to know it.
  case toBeShown
  /// It was shown, and is gone. The result is what is known of it.
  case gone(result: Properties)
}

extension StateMachine {
  /// The machine that a record is of. What it keeps an account of from now on, `takeUnrecorded` hands out.
  /// - Parameter destinations: what files registered, and had registered before; what differs is for `load`.
  /// - Throws: where the record contradicts itself.
  public init(
    limits: Limits = Limits(), restoring state: RecordedState, destinations: [Destination] = []
  ) throws(RecordFault) {
    self.init(limits: limits, serial: state.numbers.serial, lastHandle: state.numbers.lastHandle)
    _ = registry.load(destinations)
    lastQueueAge = state.numbers.lastQueueAge
    changesForgotten = state.numbers.changesForgotten
    recordedNumbers = state.numbers
    for (key, defaultValue) in state.containerValues {
      containerValueDeclarations[key] = ContainerValueDeclaration(type: defaultValue.type, defaultValue: defaultValue)
    }
    for (key, row) in state.tags.sorted(by: { $0.value.stamp < $1.value.stamp }) {
      let memory = TagMemory(binding: row.binding, id: row.id, options: row.options)
      tagMemory.put(key, memory, bytes: memory.byteCount, stamp: row.stamp)
      groups[key.group, default: Group()].remembered.insert(key.tag)
    }
    // The order of their serials is that of their ends.
    for ending in state.endings.values.sorted(by: { $0.serial < $1.serial }) {
      endings.put(ending.handle, ending, bytes: ending.result.byteCount, stamp: ending.serial.number)
    }
    for (_, registrations) in state.registrations.sorted(by: { $0.key < $1.key }) {
      for destination in registrations {
        if case .client(let client) = destination.source { _ = registry.register(destination, by: client) }
      }
    }
    for row in state.presentations.values.sorted(by: { $0.handle < $1.handle }) { try restore(row) }
    for row in state.presentations.values { try restorePlace(of: row) }
    try finishStacks()
    for name in groups.keys { groups[name]!.queue.sort { $0.comesBefore($1) } }
    restoreChanges(state.changed)
    beginNoting()
  }

  private mutating func restore(_ row: RecordedState.Presentation) throws(RecordFault) {
    var presentation = Presentation(
      handle: row.handle, binding: row.binding, item: row.item, parent: row.parent, creator: row.creator)
    presentation.phase = row.phase
    presentation.announced = row.phase.name
    presentation.presentedAt = row.presentedAt
    presentation.since = row.since
    presentation.expires = row.expires
    presentation.answerDue = row.answerDue
    presentation.result = row.result
    presentation.hasDeparted = row.hasDeparted
    presentation.endedBy = row.endedBy
    switch row.update {
    case .underWay?: presentation.updates = .underWay
    case .underWayAndPending(let author)?: presentation.updates = .underWayAndPending(author: author)
    case nil: break
    }
    presentations[row.handle] = presentation
    schedule(row.answerDue, .answer, row.handle)
    schedule(row.expires, .expiry, row.handle)
    bytesOfItems += row.item.byteCount
    if let owner = row.item.owner { ownedBy[owner, default: []].insert(row.handle) }
    if let creator = row.creator { countsOfClients[creator, default: 0] += 1 }
    bindingsOfRoot[row.binding.root, default: []].insert(row.binding)
    guard row.handle <= lastHandle else { throw RecordFault("presentation \(row.handle) was not given out yet") }
    var slot = slots[row.binding] ?? Slot()
    if case .dismissing = row.phase {
      guard slot.going == nil else { throw RecordFault("two presentations go at “\(row.binding)”") }
      slot.going = row.handle
    } else {
      guard slot.current == nil else { throw RecordFault("two presentations are shown at “\(row.binding)”") }
      slot.current = row.handle
    }
    slot.changed = max(slot.changed, row.slotChanged)
    slots[row.binding] = slot
  }

  /// Where it stands among the others: its parent's children, its group, its stack.
  private mutating func restorePlace(of row: RecordedState.Presentation) throws(RecordFault) {
    if let parent = row.parent {
      guard presentations[parent] != nil else {
        throw RecordFault("presentation \(row.handle) is presented from \(parent), which is not there")
      }
      presentations.modifyDerived(parent) { $0.children.insert(row.handle) }
    }
    let isGoing = if case .dismissing = row.phase { true } else { false }
    if let membership = row.item.membership {
      var group = groups[membership.group] ?? Group()
      if row.phase.isLive {
        guard group.live == nil else { throw RecordFault("two members of “\(membership.group)” are live") }
        group.live = row.handle
      }
      if row.item.isQueued, !isGoing {
        group.queue.append(
          QueueEntry(
            priority: row.item.priority, age: row.queueAge ?? 0, binding: row.binding, tag: membership.tag))
      } else if !isGoing {
        guard group.selected == nil else { throw RecordFault("two members of “\(membership.group)” are selected") }
        group.selected = row.binding
      }
      groups[membership.group] = group
    }
    guard let position = row.item.position else { return }
    var stack = stacks[position.stack] ?? Stack()
    if isGoing { stack.going.append(row.handle) } else { stack.path.append(row.binding) }
    stacks[position.stack] = stack
  }

  private mutating func finishStacks() throws(RecordFault) {
    func position(_ handle: Handle?) -> Int { handle.flatMap { presentations[$0]?.item.position?.index } ?? -1 }
    for name in Array(stacks.keys) {
      var stack = stacks[name]!
      stack.path.sort { position(slots[$0]?.current) < position(slots[$1]?.current) }
      for (index, binding) in stack.path.enumerated() where position(slots[binding]?.current) != index {
        throw RecordFault("in the stack “\(name)” nothing stands at \(index), or two do")
      }
      stack.started = stack.path.prefix { slots[$0]?.current.flatMap { presentations[$0] }?.phase.isLive == true }.count
      stack.going.sort { position($0) > position($1) }
      stacks[name] = stack
    }
  }

  private mutating func restoreChanges(_ changed: [Subject: RecordedState.Changed]) {
    for (subject, row) in changed.sorted(by: { ($0.value.absent?.stamp ?? 0) < ($1.value.absent?.stamp ?? 0) }) {
      if let absent = row.absent { changesOfAbsent.put(subject, absent.serial, stamp: absent.stamp) }
      guard let serial = row.present else { continue }
      switch subject {
      case .slot: break
      case .group(let group): groups.modifyDerived(group) { $0.changed = serial }
      case .stack(let stack): stacks.modifyDerived(stack) { $0.changed = serial }
      }
    }
  }

  /// Has all of it put on record again, for one that said the same otherwise.
  public mutating func noteAll() {
    presentations.noteAll()
    endings.noteAll()
    recordedNumbers = nil
  }

  // MARK: What became of it

  /// Whoever is known by name, and may have left.
  public var knownClients: Set<Client> {
    Set(ownedBy.keys).union(registry.ofClients.keys).union(countsOfClients.keys)
  }

  /// The presentations of which something may be on screen, by a presenter; `resume` has to be told of each.
  public var survivors: [Presentation] {
    presentations.values.filter { $0.phase.isLive && $0.isShownByPresenter && !$0.isGoneAlready }
      .sorted { $0.handle < $1.handle }
  }

  /// Goes on after a restart (R2, R6).
  ///
  /// - Parameters:
  ///   - survivals: what became of the `survivors`; one that is not among them counts as gone.
  ///   - left: the clients that are not on the bus any more (R7: on another bus, all).
  public mutating func resume(_ survivals: [Handle: Survival], left: Set<Client>, at now: Instant) -> Outcome {
    progress.now = now
    var ends: [(Handle, Reason)] = []
    var open: [(Presentation, Survival)] = []
    for presentation in survivors {
      let survival = survivals[presentation.handle] ?? .gone(result: [:])
      presentations[presentation.handle]!.updates = .idle
      if case .gone(let result) = survival {
        switch presentation.phase {
        case .presenting, .presented:
          presentations[presentation.handle]!.result = limited(result)
          presentations[presentation.handle]!.hasDeparted = true
          ends.append((presentation.handle, .lost))
        default:
          open.append((presentation, survival))
        }
      } else {
        open.append((presentation, survival))
      }
    }
    // One that nobody ended, but whose owner has left, ends for that.
    let owned = left.flatMap { ownedBy[$0] ?? [] }.filter { handle in !ends.contains { $0.0 == handle } }
    // Before that, what was asked to go already: it is not asked twice.
    for (presentation, survival) in open { resumeEnd(of: presentation, survival) }
    advance()
    clear(ends + owned.sorted().map { ($0, .owner) }, at: now)
    for client in left { forget(client) }
    for (presentation, survival) in open { resumeShowing(of: presentation, survival) }
    advance()
    return finish()
  }

  /// Of what was told to go: what is gone has ended, what is not is told again, since nobody knows whether it heard.
  private mutating func resumeEnd(of presentation: Presentation, _ survival: Survival) {
    let handle = presentation.handle
    guard case .dismissing(let stage, let reason, let animated) = presentation.phase else { return }
    switch (stage, survival) {
    case (.held, .gone(let result)):
      depart(handle, reason: reason, result: result, at: progress.now)
    case (_, .gone(let result)):
      end(handle, with: limited(result))
    case (.asked, _), (.killed, _):
      guard let destination = presentation.item.destination else { return }
      presentations[handle]!.phase = .dismissing(.asked, reason: reason, animated: animated)
      expectAnswer(handle, for: destination.grace)
      outcome.commands.append(.dismiss(handle, reason, animated: animated))
    case (.held, _), (.departed, _), (.overtaken, _):
      break
    }
  }

  private mutating func resumeShowing(of presentation: Presentation, _ survival: Survival) {
    let handle = presentation.handle
    // What ends with something that was lost, or whose owner left, is on its way out by now.
    switch (presentations[handle]?.phase, survival) {
    case (.presenting?, .shown):
      arrive(handle)
    case (.presenting?, .toBeShown), (.presented?, .toBeShown):
      if presentation.phase == .presented { presentations[handle]!.updates = .underWay }
      expectAnswer(handle, for: presentation.item.destination?.startTimeout ?? 0)
      outcome.commands.append(.present(handle))
    default:
      break
    }
  }

  /// What was presented before a restart of navd is known to its presenter again, or could not be shown (R2).
  mutating func shownAgain(_ handle: Handle, error: String?, at now: Instant) {
    guard let presentation = presentations[handle], presentation.phase == .presented, presentation.answerDue != nil
    else { return }
    presentations[handle]!.answerDue = nil
    if let error {
      depart(handle, reason: .failed, result: ["error": .string(error)], at: now)
    } else {
      updateAnswered(handle)
    }
  }
}

extension Presentation {
  fileprivate var isShownByPresenter: Bool { item.destination.map { $0.presenter != .none } ?? false }
  fileprivate var isGoneAlready: Bool {
    if case .dismissing(.departed, _, _) = phase { true } else { hasDeparted }
  }
}
