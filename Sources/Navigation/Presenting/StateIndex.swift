import PresentationModel

/// The whole state of a coordinator, in which drivers find presentations by their subjects.
struct StateIndex {
  let serial: UInt64
  private let bySubject: [DrivenSubject: [PresentationState]]
  private let handles: [DrivenSubject: Set<PresentationHandle>]

  init(_ state: NavigationState) {
    serial = state.serial
    var bySubject: [DrivenSubject: [PresentationState]] = [:]
    for entry in state.presentations {
      bySubject[.slot(entry.binding), default: []].append(entry)
      if let (stack, _) = StackElement.parts(of: entry.binding) {
        bySubject[.stack(stack), default: []].append(entry)
      }
    }
    self.bySubject = bySubject
    handles = bySubject.mapValues { Set($0.map(\.presentation)) }
  }

  /// The presentations of a subject.
  subscript(subject: DrivenSubject) -> [PresentationState] { bySubject[subject] ?? [] }

  /// Whether a presentation is one of a subject. A coordinator that has lost its record counts from the beginning, so that the
  /// presentation of another subject may have the handle of one that is lost.
  func contains(_ presentation: PresentationHandle, at subject: DrivenSubject) -> Bool {
    handles[subject]?.contains(presentation) == true
  }
}
