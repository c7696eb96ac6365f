/// The screens that a navigator shows, and those that it is asked to show.
@MainActor
struct ShownScreens {
  private(set) var showings: [PresentationHandle: Showing] = [:]
  /// Presentations that the coordinator has asked for and not dismissed, until they have appeared.
  private var wanted: Set<PresentationHandle> = []
  /// Presentations whose screens have appeared, while the report of that is on its way to the coordinator.
  private var unreported: Set<PresentationHandle> = []
  /// The errors of presentations that this program could not show, until they end.
  private var failures: [PresentationHandle: any Error] = [:]
  private var placesOfVisible: [ObjectIdentifier: (place: Int, showing: Showing)] = [:]
  private var lastPlace = 0

  subscript(presentation: PresentationHandle) -> Showing? { showings[presentation] }

  /// The last screen of a binding.
  func last(at binding: String) -> Showing? {
    showings.values.filter { $0.binding == binding }.max { $0.presentation < $1.presentation }
  }

  /// The screens that have appeared, in the order of their appearance.
  var visible: [Showing] { placesOfVisible.sorted { $0.value.place < $1.value.place }.map(\.value.showing) }

  /// Whether no screen is there, and none is to appear.
  var isEmpty: Bool { showings.isEmpty && wanted.isEmpty && placesOfVisible.isEmpty }

  func isWanted(_ presentation: PresentationHandle) -> Bool { wanted.contains(presentation) }

  mutating func want(_ presentation: PresentationHandle) { wanted.insert(presentation) }

  mutating func unwant(_ presentation: PresentationHandle) {
    wanted.remove(presentation)
    unreported.remove(presentation)
  }

  /// Whether there is a screen of which the coordinator does not know that it has appeared. Such a screen cannot decline to disappear
  /// (P15).
  var hasUnreported: Bool { !unreported.isEmpty }

  mutating func show(_ showing: Showing) { showings[showing.presentation] = showing }

  mutating func appeared(_ showing: Showing) {
    if isWanted(showing.presentation) { unreported.insert(showing.presentation) }
    lastPlace += 1
    placesOfVisible[ObjectIdentifier(showing)] = (lastPlace, showing)
  }

  mutating func vanished(_ showing: Showing) { placesOfVisible[ObjectIdentifier(showing)] = nil }

  /// The error with which a screen could not be shown.
  func failure(of presentation: PresentationHandle) -> (any Error)? { failures[presentation] }

  mutating func failed(_ presentation: PresentationHandle, _ error: any Error) {
    unwant(presentation)
    failures[presentation] = error
  }

  /// Forgets a presentation that has ended.
  /// - Returns: its screen, which may still be there.
  mutating func remove(_ presentation: PresentationHandle) -> Showing? {
    unwant(presentation)
    failures[presentation] = nil
    return showings.removeValue(forKey: presentation)
  }

  /// Forgets a presentation that the coordinator does not know. It may have asked for another one of this handle.
  /// - Returns: its screen, which is still there.
  mutating func lose(_ presentation: PresentationHandle) -> Showing? {
    showings[presentation] == nil ? remove(presentation) : showings.removeValue(forKey: presentation)
  }
}
