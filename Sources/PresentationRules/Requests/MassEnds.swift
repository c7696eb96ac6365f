import PresentationModel

/// Ends of many presentations that take several turns, so that other clients are served in between (L2).
///
/// An input that would end more presentations than ``Limits/ends`` is carried out last. Before it, the caller ends the presentations
/// that end only because of it, with ``StateMachine/end(_:by:at:)``, some in each turn.
public struct MassEnds: Sendable {
  /// The ends to carry out before the input, each with its reason; take them from the end of the array.
  public fileprivate(set) var ends: [End] = []
  /// The number of ends that the request itself names, which its answer counts.
  public fileprivate(set) var countOfNamed = 0
  public var isEmpty: Bool { ends.isEmpty }
  /// Whether the ends that the request itself names may happen before it, since they depend on too many presentations for its turn.
  fileprivate(set) var endsMore = false
}

extension StateMachine {
  /// The ends to carry out before a request; none for a request that is refused, and for nearly all others.
  public mutating func massEnds(
    of request: Request, by client: Client?, trust: Trust = .trusted, at now: Instant
  ) -> MassEnds {
    guard mayBeMass, !state.isShuttingDown else { return MassEnds() }
    return plan(by: client, at: now) { transaction throws(Refusal) in
      _ = try transaction.plan(
        request, by: Author(client: client, trust: trust, request: 0, animated: request.animated ?? true))
      return request
    }
  }

  /// The ends to carry out before presentations end that no request dismisses.
  public mutating func massEnds(of ends: [End], by client: Client? = nil) -> MassEnds {
    guard mayBeMass else { return MassEnds() }
    let current = ends.filter { isCurrent($0.handle) }
    return plan(by: client) { transaction in
      transaction.clear(current)
      return nil
    }
  }

  /// The ends to carry out before a presenter's report.
  public mutating func massEnds(of report: Report, at now: Instant) -> MassEnds {
    switch report {
    case .presenterLeft(let handle) where hasPresenterOnBus(handle) && !mayReturn(to: handle, at: now):
      massEnds(of: [End(handle: handle, reason: .failed)])
    // A late report about a presentation that waits changes nothing (P5).
    case .ended(let handle, _, _) where state.presentations[handle]?.phase != .waiting:
      massEnds(of: [End(handle: handle, reason: .closed)])
    case .windowsGone(let handle, isFinal: true)
    where state.presentations[handle]?.phase != .waiting && mayEndWithWindows(handle):
      massEnds(of: [End(handle: handle, reason: .closed)])
    case .presentAnswered(let handle, error: .some) where state.presentations[handle]?.answerDue != nil:
      massEnds(of: [End(handle: handle, reason: .closed)])
    case .declined(let handle, let message) where mayBeMass && mayDecline(handle):
      plan(by: nil) { transaction in
        transaction.giveBack(with: handle, message: message)
        return nil
      }
    case .outputGone(let handle): massEnds(of: ends(withOutputOf: handle))
    case .focused(let handle, let isOwn): massEnds(of: ends(ofFocusGoingTo: handle, isOwn: isOwn))
    case .noFocus(let isOwn): massEnds(of: ends(ofFocusGoingTo: nil, isOwn: isOwn))
    case .presenterLeft, .ended, .presentAnswered, .updateAnswered, .dismissAnswered, .declined, .asking, .hidden,
      .parkedEnded, .focusLost, .windowsGone, .windowsBack, .presenterReturned:
      MassEnds()
    }
  }

  /// Ends presentations, as one change. Those that are no longer the current ones of their slots are skipped.
  /// - Parameter client: the client that asked for it.
  public mutating func end(_ ends: [End], by client: Client?, at now: Instant) -> Outcome {
    process(at: now) { $0.clear(ends, by: client) }
  }

  /// Sorts presentations that end over several turns, the last ones first. Queued items end before their group serves its queue.
  /// Handles grow, and few presentations are older than those that they depend on.
  func sortedForTurns(_ ends: [End]) -> [End] {
    func isQueued(_ end: End) -> Bool { state.presentations[end.handle]?.item.isQueued == true }
    let shown = ends.filter { !isQueued($0) }
    return shown.sorted { $0.handle < $1.handle } + ends.filter(isQueued).sorted { $0.handle < $1.handle }
  }

  /// Whether there are so many presentations that a request may end too many for one turn.
  public var mayBeMass: Bool { state.presentations.count > limits.ends }

  private mutating func plan(
    by client: Client?, at now: Instant? = nil, _ body: (inout Transaction) throws(Refusal) -> Request?
  ) -> MassEnds {
    var transaction = Transaction(in: Turn(of: consume self, at: now), by: client)
    var mass = MassEnds()
    do throws(Refusal) {
      let request = try body(&transaction)
      try transaction.settle()
      if request != nil { try transaction.checkProtected() }
      if transaction.countOfEnds > transaction.state.limits.ends { mass = transaction.massEnds(of: request) }
    } catch {
      // The caller meets the same refusal.
    }
    self = transaction.turn.machine
    return mass
  }
}

extension Transaction {
  /// The number of presentations that the settled draft ends.
  var countOfEnds: Int {
    draft.slots.indices.count { draft.slots[$0].resolution == .replaced && draft.slots[$0].before != nil }
  }

  /// Refuses to end too many presentations in one turn (L2).
  func checkEnds() throws(Refusal) {
    // Most requests touch few slots.
    guard draft.slots.count > state.limits.ends else { return }
    try state.limits.check("ends", countOfEnds, state.limits.ends, of: "presentations that end")
  }

  fileprivate func massEnds(of request: Request?) -> MassEnds {
    var mass = MassEnds()
    var stack: BindingID?
    var isOfAll = false
    switch request?.operation {
    case .push(let name, _, _, _), .pop(let name, _), .popTo(let name, _), .setPath(let name, _): stack = name
    case .dismissAll: isOfAll = true
    default: break
    }
    // The presentations that end with the rest of the request.
    var last: [Handle] = []
    for index in draft.slots.indices where draft.slots[index].resolution == .replaced {
      let slot = draft.slots[index]
      guard let handle = slot.before else { continue }
      let reason = slot.cause?.reason
      let isBefore =
        switch reason {
        case _ where slot.item != nil: false
        case .parent: true
        case .popped: stack == nil || state.presentations[handle]?.item.position?.stack != stack
        default: isOfAll
        }
      guard isBefore, let reason else {
        last.append(handle)
        continue
      }
      if reason != .parent, reason != .popped { mass.countOfNamed += 1 }
      mass.ends.append(End(handle: handle, reason: reason, isForced: request?.isForced == true))
    }
    if !isOfAll { leave(last + rivals, in: &mass) }
    // No part of such a request is carried out later, so the dismissals that its scope still waits for are forced now (P15).
    if isOfAll, request?.isForced == true {
      let awaited = Set(draft.forced.flatMap { turn.machine.awaited(by: $0) })
      mass.ends += awaited.filter { state.presentations[$0]?.phase.isDismissing == true }
        .map { End(handle: $0, reason: .dismissed, isForced: true) }
    }
    mass.ends = turn.machine.sortedForTurns(mass.ends)
    return mass
  }

  /// The selected members of the groups of the request's new items, whose places these take or wait for.
  private var rivals: [Handle] {
    draft.renewed.compactMap { binding in
      let selected = item(at: binding)?.membership.flatMap { state.groups[$0.group]?.selected }
      return selected.flatMap { state.slots[$0]?.current }
    }
  }

  /// Leaves to the request the presentations that its own ends and its rivals depend on, unless they are too many for one turn. If they
  /// ended earlier, groups would serve their queues, or be free, before the request takes the places.
  private func leave(_ own: [Handle], in mass: inout MassEnds) {
    var left: Set<Handle> = []
    var open = own
    while let next = open.popLast() {
      guard left.insert(next).inserted, let presentation = state.presentations[next] else { continue }
      open += dependencies(of: presentation)
    }
    let ends = mass.ends.filter { !left.contains($0.handle) }
    if countOfEnds - ends.count <= state.limits.ends { mass.ends = ends } else { mass.endsMore = true }
  }
}
