import PresentationModel
import PresentationRules

/// A program whose windows are hidden (N8).
struct NaiveParked {
  let binding: BindingID
  let id: String
  let destination: String?
  let presenter: Destination.Presenter?
  /// Whether its destination hid its windows, so that they are no guests (N12).
  let isOfHiding: Bool
  /// The presentation that is to show it again.
  var claimant: Handle?
  /// Whether it must end without a question.
  var isEnding = false
  /// Why it stays, since it was asked to end.
  var stays: String?

  func isOutdated(by destination: Destination) -> Bool {
    presenter != destination.presenter || destination.window == nil || isOfHiding && destination.window?.hides != true
  }
}

/// Parking in the naive model (N8).
extension NaiveModel {
  var listedParked: [Handle] { parked.filter { $0.value.claimant == nil }.keys.sorted() }

  /// Parks the program of a presentation whose windows are hidden.
  /// - Parameter isGuest: whether its user had the window before (N12).
  /// - Returns: whether its windows can be hidden.
  mutating func park(_ showing: OrderChecker.Showing, as handle: Handle, isGuest: Bool) -> Bool {
    guard let item = going[showing.token]?.showing.item, let window = item.destination?.window,
      isGuest || window.hides
    else { return false }
    parked[programs[handle] ?? handle] = NaiveParked(
      binding: showing.binding, id: showing.id, destination: item.destination?.name,
      presenter: item.destination?.presenter, isOfHiding: window.hides)
    return true
  }

  /// Has a parked program of the same destination, binding and id show a presentation that starts.
  /// - Returns: the program that shows it.
  mutating func claimParked(_ presentation: Presentation) -> Handle? {
    let (handle, item) = (presentation.handle, presentation.item)
    if let program = programs[handle] { return program }
    guard let window = item.destination?.window else { return nil }
    let program = listedParked.first { program in
      let other = parked[program]!
      return !other.isEnding && other.binding == presentation.binding && other.id == item.id
        && other.destination == item.destination?.name && other.presenter == item.destination?.presenter
        && (window.hides || !other.isOfHiding)
    }
    guard let program else { return nil }
    programs[handle] = program
    (parked[program]!.claimant, parked[program]!.stays) = (handle, nil)
    return program
  }

  /// The request by which a parked program is presented again whose user has shown its windows; nil if it stays parked.
  func request(forShown program: Handle) -> Request? {
    guard let other = parked[program], other.claimant == nil, !other.isEnding, slots[other.binding] == nil,
      !isOutdated(other)
    else { return nil }
    var options = ItemOptions()
    options.destination = other.destination
    return Request(.present(other.binding, id: other.id, options))
  }

  /// Whether the file of a parked program says now that another program shows its item, or that none is to be hidden.
  private func isOutdated(_ program: NaiveParked) -> Bool {
    let written = program.destination.flatMap { registrations[$0] }?.first { destination in
      if case .file = destination.source { true } else { false }
    }
    return written.map { program.isOutdated(by: $0) } ?? false
  }

  /// The parked programs that navd tells to end when a presentation starts, since the file has another command now.
  func outdatedParked(_ presentation: Presentation) -> [Handle] {
    guard let destination = presentation.item.destination, programs[presentation.handle] == nil,
      case .file = destination.source
    else { return [] }
    return listedParked.filter { program in
      let other = parked[program]!
      return !other.isEnding && other.binding == presentation.binding && other.id == presentation.item.id
        && other.destination == destination.name && other.isOutdated(by: destination.content)
    }
  }

  mutating func leaveParking(_ handle: Handle) {
    for (program, other) in parked where other.claimant == handle { parked[program] = nil }
  }

  /// Leaves the windows of a program hidden, since the presentation has ended before they were shown again.
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
