import PresentationModel

/// The whole state of a coordinator, in which drivers find presentations by their subjects.
struct StateIndex {
  let moment: Moment
  private let bySubject: [DrivenSubject: [PresentationState]]
  private let ids: [DrivenSubject: [PresentationHandle: String]]

  init(_ state: NavigationState, at moment: Moment) {
    self.moment = moment
    var bySubject: [DrivenSubject: [PresentationState]] = [:]
    for entry in state.presentations {
      bySubject[.slot(entry.binding), default: []].append(entry)
      if let (stack, _) = StackElement.parts(of: entry.binding) {
        bySubject[.stack(stack), default: []].append(entry)
      }
    }
    self.bySubject = bySubject
    ids = bySubject.mapValues { Dictionary($0.map { ($0.presentation, $0.id) }) { $1 } }
  }

  /// The presentations of a subject.
  subscript(subject: DrivenSubject) -> [PresentationState] { bySubject[subject] ?? [] }

  /// Whether a presentation belongs to a subject and has this id. A coordinator that has lost its record counts from the beginning, so
  /// another presentation may have the handle of a lost one.
  func contains(_ presentation: PresentationHandle, of id: String, at subject: DrivenSubject) -> Bool {
    ids[subject]?[presentation] == id
  }
}
