import PresentationModel

// MARK: Places (N15)

extension WindowTracker {
  /// Tells the window system how to show the first window of a program that is about to start. Otherwise the window has
  /// the focus until it belongs to the presentation. Its place follows from its output, so that comes first.
  mutating func expectFirstWindow(of handle: Handle) {
    guard let following = followed[handle], capabilities?.contains(.expect) == true, !following.isOnOtherDisplay
    else { return }
    var placement = possiblePlacement(of: following)
    if following.output != nil { placement = WindowPlacement(takesFocus: placement.takesFocus) }
    guard placement != WindowPlacement() else { return }
    followed[handle]!.isExpected = true
    effects.append(.expect(handle, ExpectedWindow(placement, following.rule.pattern)))
  }

  private func possiblePlacement(
    of following: WindowFollower, replacing former: WindowPlacement = .init()
  ) -> WindowPlacement {
    var placement = following.rule.placement.replacing(former).possible(with: capabilities ?? [])
    if following.staysBehind { placement.isFullscreen = nil }
    return placement
  }

  /// Decides whether the first window of a program stays behind the one that it takes over from while it paints: a window that is
  /// fullscreen is in front, and its user would see how it paints.
  mutating func stayBehind(_ handle: Handle) {
    guard let following = followed[handle], let capabilities else { return }
    followed[handle]!.staysBehind =
      following.takesOver && following.paintsBehind && capabilities.isSuperset(of: [.behind, .fullscreen])
  }

  /// Makes the first window of a program fullscreen that has stayed behind, and has painted, or that is in view in any case.
  mutating func comeForward(_ handle: Handle) {
    guard let following = followed[handle], following.staysBehind, capabilities != nil,
      let first = following.windows.first, following.hasSettled || windows[first]?.properties.inView == true
    else { return }
    followed[handle]!.staysBehind = false
    placeAsWritten(first, of: handle)
  }

  mutating func stopExpecting(_ handle: Handle) {
    guard followed[handle]?.isExpected == true else { return }
    followed[handle]!.isExpected = false
    effects.append(.stopExpecting(handle))
  }

  /// Shows a window that has become a presentation's where and as the file says. Dialogs are left to the compositor.
  /// - Parameter former: the placement by which it was shown until now.
  mutating func placeAsWritten(_ id: String, of handle: Handle, replacing former: WindowPlacement = .init()) {
    guard let following = followed[handle], following.guest == nil, let window = windows[id]?.properties,
      window.parent ?? "" == "",
      case let placement = possiblePlacement(of: following, replacing: former),
      placement != WindowPlacement()
    else { return }
    // A further window that floats as it opens may be a dialog, if the adapter does not tell the parents of windows.
    let mayBeDialog =
      following.placedOn[id] == nil && window.floating == true && capabilities?.contains(.parent) != true
    let isFirst = following.windows.first == id
    guard isFirst || following.rule.takesAll && !mayBeDialog else { return }
    followed[handle]!.placedOn[id] = window.output ?? ""
    effects.append(.place(window: id, placement))
  }

  /// Places the windows of a presentation anew if they are to be shown in another way than before. What their user has moved is moved, too.
  /// - Parameter placement: nil to leave it.
  public mutating func place(_ handle: Handle, _ placement: WindowPlacement?) {
    let program = program(of: handle)
    guard let placement, let following = followed[program], following.rule.placement != placement else { return }
    followed[program]!.rule.placement = placement
    for id in following.windows { placeAsWritten(id, of: program, replacing: following.rule.placement) }
  }

  /// Places a window again if it has come to another output while it was hidden, or since navd has brought it there. Elsewhere its user's
  /// choice stays.
  mutating func placeAgain(_ id: String, of handle: Handle, on output: String) {
    guard let former = followed[handle]?.placedOn[id], followed[handle]!.isReplacing.remove(id) != nil else { return }
    if former != output { placeAsWritten(id, of: handle) }
  }

  /// Notes that a window that was placed is being brought to its user or to an output.
  mutating func noteBrought(_ id: String, of handle: Handle) {
    if followed[handle]!.placedOn[id] != nil { followed[handle]!.isReplacing.insert(id) }
  }

  /// Notes that windows that were brought are where they are.
  mutating func noteArrived(_ ids: Set<String>) {
    for id in ids {
      guard let handle = owner(of: id), followed[handle]?.showing.contains(id) == false else { continue }
      followed[handle]!.isReplacing.remove(id)
    }
  }
}
