import PresentationModel

@testable import PresentationRules

/// The state that an input leaves, for comparing one turn with several (L2). Presentations that the input makes may have other
/// handles if its ends take several turns.
struct Aftermath: CustomStringConvertible {
  /// The refusal of a request that ends many.
  var refusal: Refusal?
  private var slots: [String] = []
  private var groups: [String] = []
  private var paths: [String] = []
  /// The reasons for which presentations have ended, or are being dismissed, and whether they were presented.
  private var ends: [Handle: String] = [:]

  init(of machine: borrowing StateMachine) {
    for presentation in machine.allPresentations {
      if machine.isCurrent(presentation.handle) { slots.append("\(presentation.binding)=\(presentation.item.id)") }
      if let dismissal = presentation.phase.dismissal {
        note(presentation.handle, dismissal.reason, presentation.presentedAt)
      }
    }
    slots.sort()
    for group in machine.groupNames {
      let (selection, queue) = (machine.selection(of: group), machine.queuedTags(of: group))
      if selection != nil || !queue.isEmpty { groups.append("\(group) \(selection ?? "-") \(queue)") }
    }
    for stack in machine.stackNames {
      let path = machine.path(of: stack).map(\.binding)
      if !path.isEmpty { paths.append("\(stack) \(path)") }
    }
    for (handle, ending) in machine.state.endings.inOrder { note(handle, ending.reason, ending.presentedAt) }
  }

  private mutating func note(_ handle: Handle, _ reason: Reason, _ presentedAt: Instant?) {
    ends[handle] = reason.rawValue + (presentedAt == nil ? " unseen" : "")
  }

  func agrees(with other: Aftermath) -> Bool {
    slots == other.slots && groups == other.groups && paths == other.paths && refusal == other.refusal
      && ends.allSatisfy { other.ends[$0.key] ?? $0.value == $0.value }
  }

  var description: String {
    let ends = ends.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    return "\(slots) \(groups) \(paths) \(ends) \(refusal.map { "\($0)" } ?? "")"
  }
}

extension StateMachine {
  /// Processes an input on a copy, with each of the ends that it leads to in a turn of its own (L2).
  /// - Returns: nil if it ends too few, if its own ends are too many for a turn, or if the input may not be taken so.
  func aftermath(ofSlow input: Input, most: Int, at milliseconds: UInt64) -> Aftermath? {
    let now = Instant(nanoseconds: milliseconds * 1_000_000)
    var copy = copy()
    copy.state.limits.ends = most
    var isSlow = false
    while true {
      let mass: MassEnds
      var client: Client?
      switch input {
      case .perform(let requests, let sender) where requests.count == 1:
        client = sender
        mass = copy.massEnds(of: requests[0], by: sender, at: now)
      case .report(let report): mass = copy.massEnds(of: report, at: now)
      default: return nil
      }
      // A presentation that the request itself ends may then end earlier with another one, and one that ends after its parent, with
      // that.
      if mass.endsMore || copy.endsSomeParentFirst(mass.ends) { return nil }
      for end in mass.ends.reversed() { _ = copy.end([end], by: client, at: now) }
      if mass.countOfNamed > 0 { return Aftermath(of: copy) }
      if mass.isEmpty { break }
      isSlow = true
    }
    guard isSlow else { return nil }
    copy.state.limits.ends = limits.ends
    var refusal: Refusal?
    do throws(Refusal) { _ = try input.happen(to: &copy, at: milliseconds) } catch { refusal = error }
    // A presentation that ends in an earlier turn counts until it is gone (L1); in one turn, a new one takes its place.
    if refusal?.code == .limitExceeded { return nil }
    var aftermath = Aftermath(of: copy)
    aftermath.refusal = refusal
    return aftermath
  }
}

extension StateMachine {
  /// Whether a parent ends before its child: it is younger, or waits in a queue.
  fileprivate func endsSomeParentFirst(_ ends: [End]) -> Bool {
    var ended: Set<Handle> = []
    return ends.reversed().contains { end in
      ended.insert(end.handle)
      return parent(of: end.handle).map { ended.contains($0.handle) } ?? false
    }
  }
}
