import PresentationModel

// MARK: Places (N15)

extension WindowTracker {
  /// Tells the window system how to show the first window of a program that is about to start. Otherwise the window has
  /// the focus until it belongs to the presentation. Its place follows from its output, so that comes first.
  mutating func expectFirstWindow(of handle: Handle) {
    guard let following = followed[handle], capabilities?.contains(.expect) == true, !following.isOnOtherDisplay
    else { return }
    var placement = following.rule.placement.possible(with: capabilities ?? [])
    if following.output != nil { placement = WindowPlacement(takesFocus: placement.takesFocus) }
    guard placement != WindowPlacement() else { return }
    followed[handle]!.isExpected = true
    effects.append(.expect(handle, ExpectedWindow(placement, following.rule.pattern)))
  }

  mutating func stopExpecting(_ handle: Handle) {
    guard followed[handle]?.isExpected == true else { return }
    followed[handle]!.isExpected = false
    effects.append(.stopExpecting(handle))
  }

  /// Shows a window that has become a presentation's where and as the file says. Dialogs are left to the compositor.
  mutating func placeAsWritten(_ id: String, of handle: Handle) {
    guard let following = followed[handle], following.guest == nil, let window = windows[id]?.properties,
      window.parent ?? "" == "",
      case let placement = following.rule.placement.possible(with: capabilities ?? []),
      placement != WindowPlacement()
    else { return }
    let isFirst = following.windows.first == id
    guard isFirst || following.rule.takesAll else { return }
    followed[handle]!.placedOn[id] = window.output ?? ""
    effects.append(.place(window: id, placement))
  }

  /// Places the windows of a presentation anew if they are to be shown in another way than before. What their user has moved is moved, too.
  /// - Parameter placement: nil to leave it.
  public mutating func place(_ handle: Handle, _ placement: WindowPlacement?) {
    let program = program(of: handle)
    guard let placement, let following = followed[program], following.rule.placement != placement else { return }
    followed[program]!.rule.placement = placement
    for id in following.windows { placeAsWritten(id, of: program) }
  }

  /// Places a window again if it has come to another output while it was hidden. Elsewhere its user's choice stays.
  mutating func placeAgain(_ id: String, of handle: Handle, on output: String) {
    guard let former = followed[handle]?.placedOn[id], followed[handle]!.isReplacing.remove(id) != nil else { return }
    if former != output { placeAsWritten(id, of: handle) }
  }
}
