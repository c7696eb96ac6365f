// Why this file exists: what waits comes, and what must go goes, each as soon as nothing stands before it. This is the
// one place that says when that is (P13, C3, S2, G1).

import DBusValues
import DequeModule
import PresentationModel

/// The work that an input has still to do.
struct Progress: Sendable {
  var now = Instant(nanoseconds: 0)
  /// What may be able to start.
  var mayStart: [Handle] = []
  /// What may be able to go.
  var mayGo: [Handle] = []
  /// What came or changed its phase in this input.
  var touched: [Handle] = []
}

extension StateMachine {
  // MARK: When

  /// Whether `waiting` becomes `presenting` (P13): all that was before it has gone, and all that it depends on is there.
  private func mayStart(_ presentation: Presentation) -> Bool {
    guard presentation.phase == .waiting, !presentation.item.isQueued else { return false }
    guard let slot = slots[presentation.binding], slot.current == presentation.handle, slot.going == nil else {
      return false
    }
    if let membership = presentation.item.membership, groups[membership.group]?.live != nil { return false }
    if let parent = presentation.parent, presentations[parent]?.phase != .presented { return false }
    if let position = presentation.item.position, let stack = stacks[position.stack] {
      guard stack.started == position.index, stack.going.isEmpty else { return false }
      if position.index > 0 {
        guard let below = slots[stack.path[position.index - 1]]?.current, presentations[below]?.phase == .presented
        else { return false }
      }
    }
    return true
  }

  /// Whether what is to end may be told to: what was presented from it is gone (C3), and what stood above it (S2).
  private func mayGo(_ presentation: Presentation) -> Bool {
    guard presentation.children.isEmpty else { return false }
    if let position = presentation.item.position { return stacks[position.stack]?.going.first == presentation.handle }
    return true
  }

  /// Lets come and go whatever can, until nothing can any more.
  mutating func advance() {
    var gone = 0
    var started = 0
    while true {
      if gone < progress.mayGo.count {
        let handle = progress.mayGo[gone]
        gone += 1
        proceed(withEndOf: handle)
      } else if started < progress.mayStart.count {
        let handle = progress.mayStart[started]
        started += 1
        if let presentation = presentations[handle], mayStart(presentation) { start(presentation) }
      } else {
        break
      }
    }
    progress.mayGo.removeAll(keepingCapacity: true)
    progress.mayStart.removeAll(keepingCapacity: true)
  }

  // MARK: Coming

  private mutating func start(_ presentation: Presentation) {
    let handle = presentation.handle
    if let membership = presentation.item.membership { groups[membership.group]!.live = handle }
    if let position = presentation.item.position { stacks[position.stack]!.started += 1 }
    guard let destination = presentation.item.destination, destination.presenter != .none else {
      arrive(handle)
      return
    }
    presentations[handle]!.phase = .presenting
    expectAnswer(handle, for: destination.startTimeout)
    progress.touched.append(handle)
    outcome.commands.append(.present(handle))
  }

  /// It is on screen: those who waited for that may come (C2), and its timeout starts (O2).
  mutating func arrive(_ handle: Handle) {
    var presentation = presentations[handle]!
    presentation.phase = .presented
    presentation.announced = .presented
    presentation.answerDue = nil
    presentation.presentedAt = progress.now
    presentation.since = wallTime
    presentation.expires = presentation.item.timeout.map { progress.now.after(milliseconds: $0) }
    schedule(presentation.expires, .expiry, handle)
    presentations[handle] = presentation
    tell(.presented(handle, presentation.binding, id: presentation.item.id, presentation.item))
    progress.mayStart.append(contentsOf: presentation.children.sorted())
    if let position = presentation.item.position { wakeLowest(of: position.stack) }
  }

  /// The lowest of a stack that has not started is the one that may be able to.
  private mutating func wakeLowest(of name: BindingID) {
    guard let stack = stacks[name], stack.started < stack.path.count,
      let next = slots[stack.path[stack.started]]?.current
    else { return }
    progress.mayStart.append(next)
  }

  // MARK: Going

  /// The intention is that it ends; it does as soon as nothing that depends on it is left.
  mutating func begin(endOf handle: Handle, reason: Reason, animated: Bool) {
    var presentation = presentations[handle]!
    let stage: Dismissal =
      switch presentation.phase {
      case .waiting: .overtaken
      case .presenting, .presented: presentation.hasDeparted ? .departed : .held
      case .dismissing: preconditionFailure("an end is begun once")
      }
    presentation.phase = .dismissing(stage, reason: reason, animated: animated)
    presentation.endedBy = requester(ofTheEndOf: handle)
    presentation.answerDue = nil
    presentation.expires = nil
    presentations[handle] = presentation
    if stage != .overtaken { slots[presentation.binding]!.going = handle }
    if let position = presentation.item.position { queueForGoing(handle, at: position) }
    progress.touched.append(handle)
    progress.mayGo.append(handle)
  }

  /// Keeps the next to go first, in whatever order one input's ends are begun: what was never shown has nothing on screen
  /// to wait for (P3), and of the others the topmost is next (S2).
  private mutating func queueForGoing(_ handle: Handle, at position: StackPosition) {
    let index = index(of: handle, toGoAmong: stacks[position.stack]!.going)
    stacks[position.stack]!.going.insert(handle, at: index)
  }

  private func index(of handle: Handle, toGoAmong going: Deque<Handle>) -> Int {
    let own = turn(toGo: handle)
    var (low, high) = (going.startIndex, going.endIndex)
    while low < high {
      let middle = (low + high) / 2
      if own < turn(toGo: going[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  private func turn(toGo handle: Handle) -> (wasShown: Int, below: Int) {
    let presentation = presentations[handle]!
    let wasShown = if case .dismissing(.overtaken, _, _) = presentation.phase { 0 } else { 1 }
    return (wasShown, -(presentation.item.position?.index ?? 0))
  }

  private mutating func proceed(withEndOf handle: Handle) {
    guard let presentation = presentations[handle],
      case .dismissing(let stage, let reason, let animated) = presentation.phase,
      mayGo(presentation)
    else { return }
    switch stage {
    case .overtaken, .departed:
      end(handle, with: [:])
    case .held:
      guard let destination = presentation.item.destination, destination.presenter != .none else {
        end(handle, with: [:])
        return
      }
      presentations[handle]!.phase = .dismissing(.asked, reason: reason, animated: animated)
      expectAnswer(handle, for: destination.grace)
      outcome.commands.append(.dismiss(handle, reason, animated: animated))
    case .asked, .killed:
      break
    }
  }

  /// It is gone: exactly once, with one reason (P6). Those who waited for that come or go now.
  mutating func end(_ handle: Handle, with last: Properties) {
    guard let presentation = presentations.removeValue(forKey: handle),
      case .dismissing(_, let reason, _) = presentation.phase
    else { return }
    let result = presentation.result.merging(last) { first, _ in first }
    tell(.dismissed(handle, presentation.binding, id: presentation.item.id, reason, result: result))
    _ = endings.set(
      handle,
      Ending(
        handle: handle, binding: presentation.binding, id: presentation.item.id,
        destination: presentation.item.destinationName, group: presentation.item.membership?.group,
        stack: presentation.item.position?.stack, reason: reason, result: result, serial: serial,
        presentedAt: presentation.presentedAt, endedAt: progress.now, time: wallTime, by: presentation.endedBy),
      bytes: result.byteCount)
    bytesOfItems -= presentation.item.byteCount
    disown(handle, presentation.item.owner)
    uncount(presentation.creator)
    if let parent = presentation.parent, presentations[parent] != nil {
      presentations.modifyDerived(parent) { $0.children.remove(handle) }
      progress.mayGo.append(parent)
    }
    leaveGroup(presentation)
    leaveStack(presentation)
    leaveSlot(presentation)
  }

  /// In milliseconds since 1970.
  private var wallTime: UInt64? {
    wallClockLead.map { lead in
      UInt64(clamping: Int64(clamping: progress.now.nanoseconds).addingReportingOverflow(lead).partialValue / 1_000_000)
    }
  }

  private mutating func uncount(_ creator: Client?) {
    guard let creator, let count = countsOfClients[creator] else { return }
    countsOfClients[creator] = count > 1 ? count - 1 : nil
  }

  private mutating func leaveGroup(_ presentation: Presentation) {
    guard let name = presentation.item.membership?.group, groups[name]?.live == presentation.handle else { return }
    groups[name]!.live = nil
    if let next = groups[name]!.selected.flatMap({ slots[$0]?.current }) { progress.mayStart.append(next) }
    dropIfUnused(group: name)
  }

  private mutating func leaveStack(_ presentation: Presentation) {
    guard let name = presentation.item.position?.stack else { return }
    if stacks[name]!.going.first == presentation.handle { stacks[name]!.going.removeFirst() }
    if let next = stacks[name]!.going.first {
      progress.mayGo.append(next)
    } else {
      wakeLowest(of: name)
      dropIfUnused(stack: name)
    }
  }

  private mutating func leaveSlot(_ presentation: Presentation) {
    let binding = presentation.binding
    if slots[binding]!.going == presentation.handle { slots[binding]!.going = nil }
    if let next = slots[binding]!.current {
      progress.mayStart.append(next)
    } else if slots[binding]!.going == nil {
      rememberChange(of: .slot(binding), at: slots.removeValue(forKey: binding)!.changed)
      let root = binding.root
      bindingsOfRoot[root]?.remove(binding)
      if bindingsOfRoot[root]?.isEmpty == true { bindingsOfRoot[root] = nil }
    }
  }

  // MARK: Updates, and telling of phases

  /// Tells a presenter of the latest item, one at a time, once it has answered (D8).
  mutating func sendUpdate(of handle: Handle, by author: Client?) {
    guard let presentation = presentations[handle], presentation.item.destination?.isTold == true else { return }
    switch (presentation.phase, presentation.updates) {
    case (.presented, .idle):
      presentations[handle]!.updates = .underWay
      outcome.commands.append(.update(handle, author: author))
    case (.presented, .underWay), (.presenting, .underWay), (.presenting, .idle):
      presentations[handle]!.updates = .underWayAndPending(author: author)
    case (.presented, .underWayAndPending(let other)), (.presenting, .underWayAndPending(let other)):
      presentations[handle]!.updates = .underWayAndPending(author: other == author ? author : nil)
    case (.waiting, _), (.dismissing, _):
      break
    }
  }

  /// Tells the phases in which this input leaves things, where they are not what was told before.
  mutating func tellPhases() {
    for handle in progress.touched {
      guard let presentation = presentations[handle], presentation.announced != presentation.phase.name else {
        continue
      }
      presentations[handle]!.announced = presentation.phase.name
      tell(.phase(handle, presentation.binding, id: presentation.item.id, presentation.phase.name))
    }
    progress.touched.removeAll(keepingCapacity: true)
  }
}
