import PresentationModel
import TextFormats

// The item that a group shows while it has no other (K1).

/// The fallback of a group.
struct Fallback: Sendable {
  let group: BindingID
  /// The destination that is the fallback now; nil for none (K7).
  let destination: String?
  /// The destinations that are the fallback at other times (K7).
  let others: Set<String>
  /// The number of refused selections since the last one that succeeded.
  var refusals: UInt32 = 0
  /// The time of the next attempt; nil if no selection was refused.
  var due: Instant?
  /// The last reason that was reported for a refusal.
  var told: String?
  /// The presentation of the fallback that has declined to give way (P15). navd does not ask it again by itself.
  var declining: Handle?
}

/// A fallback that cannot be selected.
public struct RefusedFallback: Sendable {
  public let group: BindingID
  public let destination: String
  public let refusal: Refusal
}

extension StateMachine {
  /// Replaces the settings of groups (K1, G10). The next input that has a time selects fallbacks, and applies the settings to what is
  /// being dismissed.
  public mutating func load(groups: [BindingID: GroupSettings]) {
    state.overlapping = Set(groups.filter { $0.value.replacement == .overlap }.keys)
    state.fallbacks = groups.sorted { $0.key.text < $1.key.text }.compactMap { group, settings in
      guard settings.hasFallbacks else { return nil }
      return Fallback(group: group, destination: settings.fallback, others: settings.otherFallbacks)
    }
    // The selected item may be a fallback now, and then gives way.
    state.hasNewGroupSettings = true
    // A fallback is not kept (K4).
    forgetOtherLoginItems()
  }

  /// The time at which a refused fallback is tried again; nil for never.
  var nextFallback: Instant? { state.isShuttingDown ? nil : state.fallbacks.compactMap(\.due).min() }

  /// Whether a tag is that of its group's fallback.
  func isFallback(_ membership: GroupTag?) -> Bool {
    guard let membership else { return false }
    return state.fallbacks.contains { $0.group == membership.group && $0.destination == membership.tag }
  }

  /// The selected member of a fallback's group if navd has selected it as the fallback, and another one is that now (K7); nil if it has
  /// declined to give way, or is protected (D12).
  func outdated(_ fallback: Fallback) -> Presentation? {
    guard let current = state.groups[fallback.group]?.selected.flatMap({ current(at: $0) }),
      current.item.isOwnFallback, !isFallback(current.item.membership), !current.isProtected,
      fallback.declining != current.handle
    else { return nil }
    return current
  }

  /// Whether a group has no selected member, or only its fallback, which gives way unless it is protected (D12).
  func isIdle(_ group: Group) -> Bool {
    guard let selected = group.selected.flatMap({ current(at: $0) }) else { return true }
    return isFallback(selected.item.membership) && !selected.isProtected
  }

  /// Whether a presentation is a fallback that does not give way: it has declined to, or is protected.
  func isStayingFallback(_ presentation: Presentation) -> Bool {
    presentation.isProtected || state.fallbacks.contains { $0.declining == presentation.handle }
  }

  /// Whether an item is a fallback, and a member in its group's queue could be presented (K1).
  func hasSuccessorInQueue(_ item: Shared<Item>) -> Bool {
    guard let membership = item.membership, isFallback(membership), let group = state.groups[membership.group] else {
      return false
    }
    return state.isReady(group.queue)
  }

  /// The rule for presenting an item again that ended by itself (K3). For a fallback: always, and without a limit.
  func restartRule(of item: Shared<Item>) -> RestartRule? {
    let own = item.destination?.itemSettings?.restart
    guard isFallback(item.membership) else { return own }
    var rule = own ?? RestartRule(.always)
    (rule.condition, rule.limit) = (.always, .max)
    return rule
  }
}

extension Transition {
  /// Selects the fallbacks of groups without a selected member, after their queues were served. A refused selection ends and changes
  /// nothing. The next attempt follows after a delay, so that inputs until then cost nothing.
  mutating func fallBack() {
    guard !state.isShuttingDown else { return }
    if state.hasNewGroupSettings {
      state.hasNewGroupSettings = false
      applyGroupSettings()
      presentHeld()
    }
    for index in state.fallbacks.indices {
      let fallback = state.fallbacks[index]
      let outdated = machine.outdated(fallback)
      guard outdated != nil || state.groups[fallback.group]?.selected == nil else {
        if fallback.due != nil { (state.fallbacks[index].due, state.fallbacks[index].refusals) = (nil, 0) }
        continue
      }
      guard let destination = fallback.destination else {
        if let outdated { clear([PlannedEnd(handle: outdated.handle, reason: .deselected)]) }
        continue
      }
      if let due = fallback.due, due > now { continue }
      if let refusal = select(destination, in: fallback.group) {
        note(refusal, of: index)
        letGo(in: fallback.group)
      } else {
        state.fallbacks[index] = Fallback(
          group: fallback.group, destination: fallback.destination, others: fallback.others)
      }
    }
  }

  /// - Returns: the refusal, if the fallback cannot be selected; then nothing has changed.
  private mutating func select(_ fallback: String, in group: BindingID) -> Refusal? {
    var planner = Planner(of: machine, at: now, by: nil)
    do throws(Refusal) {
      try planner.select(fallback, in: group)
      try planner.settle()
    } catch {
      return error
    }
    commit(planner.draft)
    return nil
  }

  private mutating func note(_ refusal: Refusal, of index: Int) {
    var fallback = state.fallbacks[index]
    fallback.refusals += 1
    let destination = fallback.destination ?? ""
    let rule = state.registry[destination]?.itemSettings?.restart ?? RestartRule(.always)
    fallback.due = now.after(milliseconds: rule.delay(before: fallback.refusals))
    if fallback.told != refusal.message {
      fallback.told = refusal.message
      outcome.refusedFallbacks.append(
        RefusedFallback(group: fallback.group, destination: destination, refusal: refusal))
    }
    state.fallbacks[index] = fallback
  }
}

extension Transition {
  /// Notes that a presentation has declined and stays in its group, if it is the group's fallback.
  mutating func note(_ handle: Handle, staysIn membership: GroupTag) {
    for index in state.fallbacks.indices
    where state.fallbacks[index].group == membership.group
      && (state.fallbacks[index].destination == membership.tag
        || state.fallbacks[index].others.contains(membership.tag))
    {
      state.fallbacks[index].declining = handle
    }
  }

  /// Allows the queues of groups to ask fallbacks again that have declined to give way.
  mutating func forgetDeclining(in groups: some Sequence<BindingID>) {
    guard !state.fallbacks.isEmpty else { return }
    let groups = Set(groups)
    for index in state.fallbacks.indices where groups.contains(state.fallbacks[index].group) {
      state.fallbacks[index].declining = nil
    }
  }
}

extension Planner {
  /// Makes fallbacks give way to queued members that can be presented, whoever has selected the
  /// fallbacks (K1).
  /// - Returns: whether a fallback gave way.
  mutating func letFallbacksGiveWay() -> Bool {
    guard !state.fallbacks.isEmpty, !state.isShuttingDown, !draft.groups.isEmpty else { return false }
    var haveGivenWay = false
    for group in draft.groups.keys.sorted(by: { $0.text < $1.text }) {
      guard let selected = selected(in: group), givesWay(selected), nextInQueue(of: group) != nil else { continue }
      clear(selected, reason: .deselected)
      haveGivenWay = true
    }
    return haveGivenWay
  }

  private func givesWay(_ binding: BindingID) -> Bool {
    guard machine.isFallback(item(at: binding)?.membership) else { return false }
    let slot = draft.slots[binding]
    if case .givenBack? = slot?.change { return false }
    // A new presentation has declined nothing yet.
    guard slot?.isNew != true, let current = machine.current(at: binding) else { return true }
    return !machine.isStayingFallback(current)
  }

  /// Plans to present a fallback as its group's member. No other presentation ends for it, but an outdated fallback (K7).
  fileprivate mutating func select(_ name: String, in group: BindingID) throws(Refusal) {
    guard let binding = (try? BindingID(name)) ?? group.appending(name: name) else {
      throw Refusal(
        .invalidBinding,
        "neither \(quoted(name)) nor \(quoted("\(group).\(name)")) is a binding; give the destination the name of one"
      )
    }
    if let item = item(at: binding) {
      let group = item.membership.map { "in the group “\($0.group)”" } ?? "in no group"
      throw Refusal(.busy, "“\(binding)” is presented already, \(group); dismiss it, or use another fallback")
    }
    var options = ItemOptions()
    options.destination = name
    options.group = group
    options.tag = name
    try set(binding, id: "", options)
    withSlot(binding) { $0.item?.isOwnFallback = true }
  }
}
