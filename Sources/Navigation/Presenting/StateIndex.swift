import PresentationModel

/// The whole state of a coordinator, in which drivers find presentations by their subjects.
struct StateIndex {
  let serial: UInt64
  private let handles: Set<PresentationHandle>
  private let byBinding: [String: [PresentationState]]
  private let byStack: [String: [PresentationState]]

  init(_ state: NavigationState) {
    serial = state.serial
    handles = Set(state.presentations.map(\.presentation))
    byBinding = Dictionary(grouping: state.presentations, by: \.binding)
    let elements = state.presentations.compactMap { entry in
      StackElement.parts(of: entry.binding).map { (stack: $0.stack, entry: entry) }
    }
    byStack = Dictionary(grouping: elements, by: \.stack).mapValues { $0.map(\.entry) }
  }

  func contains(_ presentation: PresentationHandle) -> Bool { handles.contains(presentation) }

  /// The presentations of a subject.
  subscript(subject: DrivenSubject) -> [PresentationState] {
    switch subject {
    case .slot(let binding): byBinding[binding] ?? []
    case .stack(let stack): byStack[stack] ?? []
    }
  }
}
