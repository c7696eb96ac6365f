import PresentationModel

// Which requests are about items that follow windows.

extension StateMachine {
  /// Whether a request may start a program whose windows are followed.
  public func mayFollowWindows(_ operation: Request.Operation) -> Bool {
    func follows(_ name: String) -> Bool {
      // A parked program may be shown although its file is gone (N8).
      if let destination = state.registry[name] { return destination.window != nil }
      return state.parked.contains { $0.value.presentation.item.destination?.name == name }
    }
    switch operation {
    case .present(let binding, _, let options), .toggle(let binding, _, let options, _),
      .push(_, let binding, _, let options):
      return options.command == nil ? follows(options.destination ?? binding.text) : options.placement != nil
    // The destination may be that of a remembered request.
    case .select, .toggleSelection, .setPath: return state.registry.all.contains { $0.window != nil }
    case .update, .dismiss, .dismissAll, .deselect, .forget, .pop, .popTo: return false
    }
  }
}
