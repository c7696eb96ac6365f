/// The part of the state that a verb prints.
struct StateFilter: Equatable {
  var group: String?
  var binding: String?
  var stack: String?

  var isEmpty: Bool { self == StateFilter() }

  func includes(_ presentation: PresentationEntry) -> Bool {
    (group == nil || presentation.group == group) && (binding == nil || presentation.binding == binding)
      && (stack == nil || presentation.stack == stack)
  }

  /// The matching presentations, with the groups and stacks that they are in.
  func apply(_ state: StateView) -> StateView {
    guard !isEmpty else { return state }
    let presentations = state.presentations.filter(includes)
    return state.keeping(
      presentations, groups: Set(group.map { [$0] } ?? presentations.compactMap(\.group)),
      stacks: Set(stack.map { [$0] } ?? presentations.compactMap(\.stack)))
  }

  /// The presentation for a status line: the latest that should be shown, otherwise the latest that is closing.
  func shown(_ state: StateView) -> PresentationEntry? {
    let candidates = state.presentations.filter(includes)
    let wanted = candidates.filter { $0.phase != .dismissing }
    if let group {
      // Queued members of a group are not visible, only the selected one is.
      if let selection = state.groups[group]?.selection, let selected = wanted.last(where: { $0.tag == selection }) {
        return selected
      }
      return candidates.last { $0.phase == .dismissing }
    }
    return wanted.last { $0.phase != .waiting } ?? wanted.last ?? candidates.last
  }
}
