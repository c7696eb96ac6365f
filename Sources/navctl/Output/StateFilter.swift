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

  /// The matching presentations, with the groups and stacks that they are in.
  func apply(_ state: StateSnapshot) -> StateSnapshot {
    guard !isEmpty else { return state }
    let entries = state.entries.filter(includes)
    return state.keeping(
      entries, groups: Set(group.map { [$0] } ?? entries.compactMap(\.group)),
      stacks: Set(stack.map { [$0] } ?? entries.compactMap(\.stack)))
  }

  /// The presentation for a status line: the latest that should be shown, otherwise the latest that is closing.
  func shown(_ state: StateSnapshot) -> StateEntry? {
    let candidates = state.entries.filter(includes)
    let wanted = candidates.filter { $0.knownPhase != .dismissing }
    if let group {
      // Queued members of a group are not visible, only the selected one is.
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
