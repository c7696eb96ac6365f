import DBusValues
import HeapModule
import PresentationModel

@testable import PresentationRules
@testable import Simulation

/// The invariants of the state, which tests check after every input.
extension StateMachine {
  /// The invariants that the state breaks; it should break none between two inputs. They are written from the rules, not from the
  /// code that implements the rules.
  func brokenInvariants() -> [String] {
    slotFaults() + presentationFaults() + groupFaults() + stackFaults() + parentFaults() + indexFaults() + workFaults()
  }

  /// Work that an input has left.
  private func workFaults() -> [String] {
    let left = [state.lists.mayForce, state.lists.mayStart, state.lists.mayEnd, state.lists.touched].flatMap(\.self)
    return left.isEmpty && state.lists.changed.isEmpty ? [] : ["an input has left work about \(left)"]
  }

  // MARK: Slots

  private func slotFaults() -> [String] {
    var faults: [String] = []
    for (binding, slot) in state.slots {
      if slot.current == nil && slot.dismissing.isEmpty { faults.append("slot \(binding) is there without reason") }
      if let current = slot.current {
        if state.presentations[current]?.binding != binding {
          faults.append("slot \(binding) holds \(current), not its own")
        }
        if state.presentations[current]?.phase.isDismissing == true { faults.append("slot \(binding) holds what goes") }
      }
      if slot.dismissing.count > 2 { faults.append("slot \(binding) waits for \(slot.dismissing) (G10)") }
      for going in slot.dismissing {
        if state.presentations[going]?.binding != binding {
          faults.append("slot \(binding) waits for \(going), not its own")
        }
        if state.presentations[going]?.phase.isDismissing == false {
          faults.append("slot \(binding) waits for what stays")
        }
        if let current = slot.current, state.presentations[current]?.phase != .waiting,
          state.presentations[going]?.mayOverlap != true
        {
          faults.append("slot \(binding) shows \(current) while \(going) is not gone (P3)")
        }
      }
    }
    return faults
  }

  // MARK: Presentations

  private func presentationFaults() -> [String] {
    var faults: [String] = []
    for (handle, presentation) in state.presentations {
      let slot = state.slots[presentation.binding]
      if handle != presentation.handle || handle > lastHandle { faults.append("\(handle) was not given out") }
      let isPlaced = slot?.current == handle || slot?.dismissing.contains(handle) == true
      if isPlaced == isSettling(presentation) {
        faults.append("\(handle) is in no slot, or waits for its result in one")
      }
      if state.endings[handle] != nil { faults.append("\(handle) has an ending and is not gone (P6)") }
      if presentation.announced != presentation.phase.name {
        faults.append("\(handle) is \(presentation.phase.name.rawValue), which nobody was told")
      }
      let isShownByOthers = presentation.item.destination.map { $0.presenter != .none } ?? false
      let isAsked: Bool
      switch presentation.phase {
      case .waiting:
        isAsked = false
        if !hasToWait(presentation), holdsNow(on: presentation).isEmpty {
          faults.append("\(handle) waits for nothing (P13)")
        }
      case .presenting:
        isAsked = presentation.item.destination?.startLimit != nil || presentation.item.destination == nil
        if hasToWait(presentation) { faults.append("\(handle) started too early (P13)") }
      case .presented:
        // The presenter may be asked again (R2, D4), or may come back.
        isAsked = presentation.answerDue != nil && presentation.item.destination?.isBus == true
        if hasToWait(presentation) { faults.append("\(handle) is presented too early (P13)") }
      case .dismissing(let dismissal):
        if dismissal.isForced != hasToBeForced(presentation, dismissal) {
          faults.append("\(handle) is\(dismissal.isForced ? "" : " not") forced (P15)")
        }
        if case .asking = dismissal.stage {
          if dismissal.isForced { faults.append("\(handle) is forced, and its presenter asks (P16)") }
          isAsked = false
          if presentation.answerDue != nil { faults.append("\(handle) has a deadline, and its presenter asks (P16)") }
          if hasToStay(presentation) { faults.append("\(handle) is told to go too early (C3, S2)") }
          break
        }
        isAsked = dismissal.stage == .asked || dismissal.stage == .killed || dismissal.stage == .settling
        if dismissal.stage == .overtaken { faults.append("\(handle) was never shown, and is not gone (P3)") }
        if isAsked == hasToStay(presentation) {
          faults.append("\(handle) " + (isAsked ? "is told to go too early" : "goes, and is not told to") + " (C3, S2)")
        }
      }
      if isAsked && !isShownByOthers { faults.append("\(handle) waits for a presenter that it does not have") }
      if isAsked != (presentation.answerDue != nil) { faults.append("\(handle) waits without an end (P14)") }
      if presentation.expires != nil && presentation.phase != .presented {
        faults.append("\(handle) expires early (O2)")
      }
      if presentation.startsBy != nil && presentation.phase != .waiting {
        faults.append("\(handle) expires unseen, though it was seen (H6)")
      }
      let start = presentation.phase == .waiting ? presentation.continuation?.due : nil
      for due in [presentation.answerDue, presentation.expires, presentation.startsBy, start].compactMap(\.self)
      where nextDeadline.map({ $0 > due }) ?? true {
        faults.append("\(handle) has nobody to wake it")
      }
    }
    return faults
  }

  /// Whether a presentation waits only for its result, and nothing waits for it (N3).
  private func isSettling(_ presentation: Presentation) -> Bool { presentation.phase.dismissal?.stage == .settling }

  /// The presentations that are in slots, groups and stacks.
  private var placed: [Presentation] { state.presentations.values.filter { !isSettling($0) } }

  /// The holds in force that keep a presentation from starting (H4): those of clients, facts, and live presentations (H8).
  private func holdsNow(on presentation: Presentation) -> [String] {
    let all = placed.filter { $0.phase.isLive }
    let names = state.holders.keys.map(\.name) + all.compactMap { $0.item.destination?.itemSettings?.hold }
    return names.filter { presentation.item.holds[$0] != nil }
  }

  /// Whether something else keeps a presentation from starting (P13).
  private func hasToWait(_ presentation: Presentation) -> Bool {
    if presentation.item.isQueued { return true }
    if presentation.phase == .waiting, presentation.continuation?.due != nil { return true }
    let all = placed
    // While it waits, it may only start beside one that stays for it; what is on the screen may be beside one that goes (G10).
    func isInItsWay(_ other: Presentation) -> Bool {
      presentation.phase == .waiting ? !staysForSuccessor(other) : !(other.mayOverlap && other.phase.isDismissing)
    }
    let others = all.filter {
      guard $0.handle != presentation.handle, $0.phase.isLive else { return false }
      let group = presentation.item.membership?.group
      return $0.binding == presentation.binding && $0.handle < presentation.handle
        || group != nil && $0.item.membership?.group == group
    }
    if others.count > 1 && presentation.phase == .waiting || others.contains(where: isInItsWay) { return true }
    if let group = presentation.item.membership?.group {
      if state.groups[group]?.selected != presentation.binding { return true }
    }
    if let parent = presentation.parent, state.presentations[parent]?.phase != .presented { return true }
    if let position = presentation.item.position {
      if all.contains(where: {
        guard let other = $0.item.position else { return false }
        guard $0.phase.isDismissing && other.stack == position.stack else { return false }
        // A live element does not wait for those above it, which may be going.
        return presentation.phase == .waiting ? other.index >= position.index : other.index == position.index
      }) {
        return true
      }
      if position.index > 0 {
        let below = all.first {
          $0.item.position == StackPosition(stack: position.stack, index: position.index - 1) && !$0.phase.isDismissing
        }
        if below?.phase != .presented { return true }
      }
    }
    return false
  }

  /// Whether nobody may decline a dismissal: it is forced by itself, or something that depends on the presentation is (P15).
  /// Requests and shutting down force other dismissals.
  private func hasToBeForced(_ presentation: Presentation, _ dismissal: PendingDismissal) -> Bool {
    dismissal.isForced || presentation.presentedAt == nil
      || [.closed, .failed, .lost, .owner, .shutdown, .declined].contains(dismissal.reason)
      || dismissal.stage == .departed
      || dependencies(of: presentation).contains { state.presentations[$0]?.phase.dismissal?.isForced == true }
      || state.stacks.values.contains { stack in
        stack.dismissing.contains { other in
          guard let below = state.presentations[other], let position = presentation.item.position,
            let lower = below.item.position, lower.stack == position.stack, lower.index == position.index - 1
          else { return false }
          return below.phase.dismissal?.isForced == true
        }
      }
  }

  /// Whether a presentation that was seen and gave way stays until its successor is presented (G10).
  private func staysForSuccessor(_ presentation: Presentation) -> Bool {
    guard let dismissal = presentation.phase.dismissal, dismissal.stage == .held, !dismissal.hasHandedOver,
      presentation.presentedAt != nil, [.deselected, .replaced, .dismissed, .expired].contains(dismissal.reason),
      !presentation.isWithoutWindow, presentation.item.position == nil,
      presentation.parent.flatMap({ state.presentations[$0] })?.phase.isDismissing != true
    else { return false }
    let ofGroup = presentation.item.membership.flatMap { membership in
      state.overlapping.contains(membership.group) ? membership.group : nil
    }
    let next =
      if let ofGroup {
        state.groups[ofGroup]?.selected.flatMap { current(at: $0) }
      } else if presentation.item.destination?.itemSettings?.replacement == .overlap, dismissal.reason == .replaced {
        current(at: presentation.binding).flatMap {
          $0.item.destinationName == presentation.item.destinationName && !$0.item.isQueued ? $0 : nil
        }
      } else {
        Presentation?.none
      }
    guard let next, next.item.position == nil else { return false }
    if let own = current(at: presentation.binding), !own.item.isQueued, own.handle != next.handle { return false }
    return next.phase == .waiting && holdsNow(on: next).isEmpty || next.phase == .presenting
  }

  /// Whether a presentation may not be asked to go yet: another one has to end first (C3, S2), or its successor has to come (G10).
  private func hasToStay(_ presentation: Presentation) -> Bool {
    if staysForSuccessor(presentation) { return true }
    return state.presentations.values.contains { other in
      if other.parent == presentation.handle { return true }
      guard let position = presentation.item.position, let above = other.item.position, other.phase.isDismissing,
        !isSettling(other)
      else {
        return false
      }
      return above.stack == position.stack && above.index > position.index
    }
  }

  // MARK: Groups

  /// The mistakes of a selected member that waits though it may not, or that keeps others waiting though it should not.
  private func selectionFaults(of name: BindingID, _ group: Group) -> [String] {
    guard let presentation = group.selected.flatMap({ current(at: $0) }), !state.isShuttingDown else { return [] }
    guard isFallback(presentation.item.membership) else {
      // One that navd has selected as the fallback gives way to the next fallback alone (K7).
      return presentation.phase == .waiting && !presentation.item.isOwnFallback && !holdsNow(on: presentation).isEmpty
        ? ["group \(name) has “\(presentation.binding)” selected, which is held (H4)"] : []
    }
    let hasToStay = presentation.isProtected || state.fallbacks.contains { $0.declining == presentation.handle }
    let others = group.queue.entries.filter { current(at: $0.binding).map { holdsNow(on: $0).isEmpty } == true }
    return hasToStay || others.isEmpty || state.hasNewGroupSettings
      ? [] : ["group \(name) has its fallback selected, and \(others.map(\.tag)) wait (K1)"]
  }

  private func groupFaults() -> [String] {
    var faults: [String] = []
    for (name, group) in state.groups {
      if let selected = group.selected {
        let item = state.slots[selected]?.current.flatMap { state.presentations[$0]?.item }
        if item?.membership?.group != name || item?.isQueued != false {
          faults.append("group \(name) has “\(selected)” selected, which says otherwise (G6)")
        }
        faults += selectionFaults(of: name, group)
      } else if !state.isShuttingDown,
        group.queue.entries.contains(where: { entry in
          guard let presentation = current(at: entry.binding) else { return false }
          return holdsNow(on: presentation).isEmpty
        })
      {
        faults.append("group \(name) has a queue and nothing selected (G9)")
      }
      let live = placed.filter { $0.item.membership?.group == name && $0.phase.isLive }.map(
        \.handle)
      let staying = live.filter { state.presentations[$0]?.phase.isDismissing == false }
      if live.count > 2 || staying.count > 1 { faults.append("group \(name) has \(live.count) live members (G1, G10)") }
      if Set(group.live) != Set(live) { faults.append("group \(name) is wrong about what is live") }
      for entry in group.queue.entries {
        let item = state.slots[entry.binding]?.current.flatMap { state.presentations[$0]?.item }
        if item?.isQueued != true || item?.membership != GroupTag(group: name, tag: entry.tag)
          || item?.priority != entry.priority
        {
          faults.append("group \(name) queues “\(entry.binding)”, which says otherwise (G9)")
        }
      }
      if zip(group.queue.entries, group.queue.entries.dropFirst()).contains(where: { !$0.comesBefore($1) }) {
        faults.append("group \(name) has its queue out of order (G9)")
      }
      let held = group.queue.tags + [selection(of: name)].compactMap(\.self)
      if Set(held).count != held.count { faults.append("group \(name) has a tag held twice (G7)") }
      if group.selected == nil && live.isEmpty && group.queue.isEmpty {
        faults.append("group \(name) is there without reason")
      }
    }
    for presentation in state.presentations.values {
      guard let membership = presentation.item.membership else {
        if presentation.item.isQueued { faults.append("\(presentation.handle) is queued without a group") }
        continue
      }
      guard state.slots[presentation.binding]?.current == presentation.handle else { continue }
      let group = state.groups[membership.group]
      let isSelected = group?.selected == presentation.binding
      let isQueued = group?.queue[presentation.binding] != nil
      if isSelected == isQueued || presentation.item.isQueued != isQueued {
        faults.append("\(presentation.handle) is neither selected nor queued, or both (G6)")
      }
      if isQueued && presentation.phase != .waiting { faults.append("\(presentation.handle) is queued and shown (G9)") }
      if isQueued && presentation.item.position != nil {
        faults.append("\(presentation.handle) is queued in a stack (G9)")
      }
    }
    return faults
  }

  // MARK: Stacks

  private func stackFaults() -> [String] {
    var faults: [String] = []
    for (name, stack) in state.stacks {
      if stack.path.isEmpty && stack.dismissing.isEmpty { faults.append("stack \(name) is there without reason (S7)") }
      for (position, binding) in stack.path.enumerated() {
        let presentation = state.slots[binding]?.current.flatMap { state.presentations[$0] }
        if presentation?.item.position != StackPosition(stack: name, index: position) {
          faults.append("stack \(name) has “\(binding)” at \(position), which says otherwise (S1)")
        }
        if presentation.map({ ($0.phase != .waiting) != (position < stack.started) }) ?? false {
          faults.append("stack \(name) has \(stack.started) started, but “\(binding)” at \(position) says otherwise")
        }
      }
      let going = placed.filter { $0.item.position?.stack == name && $0.phase.isDismissing }
        .sorted { $0.item.position!.index > $1.item.position!.index }.map(\.handle)
      if Array(stack.dismissing) != going {
        faults.append("stack \(name) is wrong about what goes: \(stack.dismissing), \(going)")
      }
    }
    for presentation in state.presentations.values {
      guard let position = presentation.item.position, state.slots[presentation.binding]?.current == presentation.handle
      else {
        continue
      }
      let path = state.stacks[position.stack]?.path ?? []
      if !path.indices.contains(position.index) || path[position.index] != presentation.binding {
        faults.append("\(presentation.handle) is not at \(position.index) of \(position.stack), as it says (S1)")
      }
    }
    return faults
  }

  // MARK: Parents

  private func parentFaults() -> [String] {
    var faults: [String] = []
    for (handle, presentation) in state.presentations {
      for child in presentation.children where state.presentations[child]?.parent != handle {
        faults.append("\(handle) has the child \(child), which says otherwise")
      }
      guard let name = presentation.parent else {
        if presentation.hasNamedParent { faults.append("\(handle) has no parent, and says that one was named (C1)") }
        continue
      }
      guard let parent = state.presentations[name] else {
        faults.append("\(handle) has lost its parent \(name) (C3)")
        continue
      }
      if !parent.children.contains(handle) { faults.append("\(handle) is not among the children of \(name)") }
      if !presentation.hasNamedParent, !derives(presentation.binding, from: parent.binding) {
        faults.append("\(handle) is presented from \(parent.binding), which no request named (C1)")
      }
      if parent.item.isQueued { faults.append("\(handle) is presented from what is queued (G9)") }
      if parent.phase.isDismissing && !presentation.phase.isDismissing {
        faults.append("\(handle) stays while its parent goes (C3)")
      }
    }
    for presentation in state.presentations.values where !presentation.phase.isDismissing {
      if dependsOnItself(presentation) {
        faults.append("\(presentation.handle) depends on itself (C7)")
      }
    }
    return faults
  }

  private func dependsOnItself(_ presentation: Presentation) -> Bool {
    var seen: Set<Handle> = []
    var open = dependencies(of: presentation)
    while let next = open.popLast() {
      if next == presentation.handle { return true }
      if seen.insert(next).inserted { open += state.presentations[next].map { dependencies(of: $0) } ?? [] }
    }
    return false
  }

  /// The handles of the parent, and of the presentation below in the stack.
  private func dependencies(of presentation: Presentation) -> [Handle] {
    let below = state.presentations.values.first { other in
      guard let position = presentation.item.position else { return false }
      return other.item.position == StackPosition(stack: position.stack, index: position.index - 1)
        && !other.phase.isDismissing
    }
    return [presentation.parent, below?.handle].compactMap(\.self)
  }

  // MARK: Derived data

  private func indexFaults() -> [String] {
    var faults: [String] = []
    var owned: [Client: Set<Handle>] = [:]
    var counts: [Client: Int] = [:]
    for (handle, presentation) in state.presentations {
      if let owner = presentation.item.owner { owned[owner, default: []].insert(handle) }
      if let creator = presentation.creator { counts[creator, default: 0] += 1 }
    }
    if owned != state.ownedBy { faults.append("owned are \(owned), not \(state.ownedBy) (O1)") }
    // Clients that have left are counted no longer.
    if state.countsOfClients.contains(where: { counts[$0.key] != $0.value }) {
      faults.append("counts of clients are \(counts), not \(state.countsOfClients) (L1)")
    }
    if state.holdsInForce != Set(state.holders.keys.map(\.name)).union(state.holding.keys) {
      faults.append("holds are in force without holders (H1)")
    }
    for (key, holder) in state.holders
    where holder.expires.map({ due in nextDeadline.map { $0 > due } ?? true }) == true {
      faults.append("nobody ends the holder \(key) (H1)")
    }
    var holding: [String: Set<Handle>] = [:]
    for (handle, presentation) in state.presentations where presentation.phase.isLive && !isSettling(presentation) {
      guard let name = presentation.item.destination?.itemSettings?.hold else { continue }
      holding[name, default: []].insert(handle)
      if presentation.item.holds[name] != nil { faults.append("\(handle) is held by its own hold (H8)") }
    }
    if holding != state.holding { faults.append("\(state.holding) hold, not \(holding) (H8)") }
    if let next = state.deadlines.min, !state.isCurrent(next) { faults.append("the next deadline is out of date") }
    if Dictionary(grouping: state.slots.keys, by: \.root).mapValues(Set.init) != state.bindingsOfRoot {
      faults.append("the bindings of the roots are not those of the slots")
    }
    return faults
  }
}
