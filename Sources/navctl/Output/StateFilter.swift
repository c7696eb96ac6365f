import PresentationModel

/// The part of the state that a verb prints.
struct StateFilter: Equatable {
  var group: String?
  var binding: String?
  var stack: String?

  var isEmpty: Bool { self == StateFilter() }

  func includes(_ entry: StateEntry) -> Bool {
    (group == nil || entry.group == group) && (binding == nil || entry.binding == binding)
      && (stack == nil || entry.stack == stack)
  }

  /// The matching presentations, with their groups and stacks.
  func apply(_ state: StateSnapshot) -> StateSnapshot {
    guard !isEmpty else { return state }
    let entries = state.entries.filter(includes)
    return state.keeping(
      entries, groups: Set(group.map { [$0] } ?? entries.compactMap(\.group)),
      stacks: Set(stack.map { [$0] } ?? entries.compactMap(\.stack)))
  }

  /// The presentation for a status line: the latest that should be shown, otherwise the latest one that is closing.
  func shown(_ state: StateSnapshot) -> StateEntry? {
    let candidates = state.entries.filter(includes)
    let wanted = candidates.filter { $0.knownPhase != .dismissing }
    if let group {
      // Only the selected member of a group is visible; queued members are not.
      if let selection = state.groupEntries[group]?.selection,
        let selected = wanted.last(where: { $0.tag == selection })
      {
        return selected
      }
      return candidates.last { $0.knownPhase == .dismissing }
    }
    return wanted.last { $0.knownPhase != .waiting } ?? wanted.last ?? candidates.last
  }
}
