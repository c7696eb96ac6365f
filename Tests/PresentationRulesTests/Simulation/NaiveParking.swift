import PresentationModel
import PresentationRules

/// A program whose windows are hidden (N8).
struct NaiveParked {
  let binding: BindingID
  let id: String
  let destination: String?
  /// The presentation that is to show it again.
  var claimant: Handle?
  /// True if it must end without a question.
  var isEnding = false
}

/// N8.
extension NaiveModel {
  var listedParked: [Handle] { parked.filter { $0.value.claimant == nil }.keys.sorted() }

  /// - Returns: whether what is shown so can be hidden.
  mutating func park(_ showing: OrderChecker.Showing, as handle: Handle) -> Bool {
    guard let item = going[showing.token]?.showing.item, item.destination?.window?.hides == true else { return false }
    parked[programs[handle] ?? handle] = NaiveParked(
      binding: showing.binding, id: showing.id, destination: item.destination?.name)
    return true
  }

  /// What starts is shown by what is parked under the same destination, binding and id.
  /// - Returns: the program that shows it.
  mutating func claimParked(_ presentation: Presentation) -> Handle? {
    let (handle, item) = (presentation.handle, presentation.item)
    if let program = programs[handle] { return program }
    guard item.destination?.window?.hides == true else { return nil }
    let program = listedParked.first { program in
      let other = parked[program]!
      return !other.isEnding && other.binding == presentation.binding && other.id == item.id
        && other.destination == item.destination?.name
    }
    guard let program else { return nil }
    programs[handle] = program
    parked[program]!.claimant = handle
    return program
  }

  mutating func leaveParking(_ handle: Handle) {
    for (program, other) in parked where other.claimant == handle { parked[program] = nil }
  }

  /// What ended before its windows were shown again leaves them hidden.
  mutating func giveUpParked(_ handle: Handle) {
    for (program, other) in parked where other.claimant == handle { parked[program]!.claimant = nil }
  }

  mutating func loseParked(_ survivals: [Handle: Survival]) {
    for (program, other) in parked {
      switch survivals[other.claimant ?? program] {
      case .shown, .toBeShown, .awaited: parked[program]!.isEnding = false
      case .gone, nil: parked[program] = nil
      }
    }
  }
}
