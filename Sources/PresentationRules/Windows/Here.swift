import PresentationModel

// Bringing items that are shown elsewhere to where their user is (N11).

/// A slot whose windows a request brings to where its user is.
struct Brought: Sendable {
  let binding: BindingID
  /// The output to which they come; nil for the place in use.
  let output: String?
}

extension Planner {
  /// Whether an item is on the screen, but not at the place that a request asks for.
  func isElsewhere(_ binding: BindingID, _ options: ItemOptions) -> Bool {
    guard let presentation = standing(at: binding) else { return false }
    let (named, earlier) = (options.namedOutput, presentation.item.output)
    let isOnOtherOutput = named != nil && earlier != nil && named != earlier
    guard let place = place(of: presentation), let window = presentation.item.destination?.window else {
      return isOnOtherOutput
    }
    let comesHere = bringsHere ?? window.comesHere
    if place.isOutOfView { return comesHere || named != nil || !raises }
    if place.outputs.isEmpty { return isOnOtherOutput }
    guard let wanted = named ?? (comesHere ? places?.focusedOutput : nil) else { return false }
    return !place.outputs.contains(wanted)
  }

  private func place(of presentation: Presentation) -> WindowPlaces.Place? {
    presentation.phase == .presented ? places?.ofPresentations[presentation.handle] : nil
  }

  /// Whether the window system knows windows of an item; true if it is not known what the window system knows. An item that is shown as
  /// without an adapter cannot be raised (N2).
  func hasKnownWindows(_ binding: BindingID) -> Bool {
    guard let places, let presentation = standing(at: binding), presentation.phase == .presented else { return true }
    return places.ofPresentations[presentation.handle] != nil
  }

  /// Whether an item is on the screen, but its user does not see it.
  func isOutOfView(_ binding: BindingID) -> Bool {
    standing(at: binding).flatMap { place(of: $0) }?.isOutOfView ?? false
  }

  /// Notes that the windows of an item come to where their user is, if the request asks for it.
  /// - Parameter isToggle: whether the request is a toggle, which shows an item that is elsewhere.
  mutating func noteBringing(_ binding: BindingID, _ options: ItemOptions, isToggle: Bool) {
    let comesHere = bringsHere ?? item(at: binding)?.destination?.window?.comesHere ?? false
    guard isToggle || comesHere, isElsewhere(binding, options) else { return }
    let output = options.namedOutput == places?.focusedOutput ? nil : options.namedOutput
    draft.brought.append(Brought(binding: binding, output: output))
  }

  /// Whether a request names another output than the one to whose group the item belongs (U3).
  func isOfOtherOutput(_ binding: BindingID, _ options: ItemOptions) -> Bool {
    guard let output = options.namedOutput, let current = item(at: binding), output != current.output,
      let membership = current.membership, case .perOutput? = current.destination?.group,
      let group = current.destination?.group,
      (try? group.binding(on: current.output)) == membership.group, let other = try? group.binding(on: output)
    else { return false }
    return other != membership.group
  }
}

extension Transition {
  /// Brings the windows of items that were open before the requests.
  mutating func bring(_ brought: [Brought]) {
    for one in brought where machine.isShownInWindows(one.binding) {
      outcome.commands.append(.bring(state.slots[one.binding]!.current!, output: one.output))
    }
  }
}
