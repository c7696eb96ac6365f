/// The methods of ``CoordinatorInterface``, by their names.
package enum CoordinatorMethod: String, CaseIterable, Sendable {
  case present = "Present"
  case toggle = "Toggle"
  case update = "Update"
  case dismiss = "Dismiss"
  case dismissAll = "DismissAll"
  case select = "Select"
  case deselect = "Deselect"
  case toggleSelection = "ToggleSelection"
  case forget = "Forget"
  case push = "Push"
  case pop = "Pop"
  case popTo = "PopTo"
  case setPath = "SetPath"
  case apply = "Apply"
  case wait = "Wait"
  case get = "Get"
  case getState = "GetState"
  case members = "Members"
  case hold = "Hold"
  case releaseHold = "ReleaseHold"
  case holds = "Holds"
  case declareContainerValue = "DeclareContainerValue"
  case containerValue = "ContainerValue"
  case registerPresenter = "RegisterPresenter"
  case unregisterPresenter = "UnregisterPresenter"
  case serve = "Serve"
  case destinations = "Destinations"
  case closed = "Closed"
  case asking = "Asking"
  case ready = "Ready"
  case act = "Act"
  case history = "History"
  case diagnosis = "Diagnosis"
  case mistakes = "Mistakes"
  case reload = "Reload"
  case importEnvironment = "ImportEnvironment"
  case quit = "Quit"

  /// The method as a request of `Apply`; nil if it cannot be one.
  package var changing: (any AnyChangingMethod)? {
    switch self {
    case .present: CoordinatorInterface.present
    case .toggle: CoordinatorInterface.toggle
    case .update: CoordinatorInterface.update
    case .dismiss: CoordinatorInterface.dismiss
    case .dismissAll: CoordinatorInterface.dismissAll
    case .select: CoordinatorInterface.select
    case .deselect: CoordinatorInterface.deselect
    case .toggleSelection: CoordinatorInterface.toggleSelection
    case .forget: CoordinatorInterface.forget
    case .push: CoordinatorInterface.push
    case .pop: CoordinatorInterface.pop
    case .popTo: CoordinatorInterface.popTo
    case .setPath: CoordinatorInterface.setPath
    case .apply, .wait, .get, .getState, .members, .hold, .releaseHold, .holds, .declareContainerValue, .containerValue,
      .registerPresenter, .unregisterPresenter, .serve, .destinations, .closed, .asking, .ready, .act, .history,
      .diagnosis, .mistakes, .reload, .importEnvironment, .quit:
      nil
    }
  }
}
