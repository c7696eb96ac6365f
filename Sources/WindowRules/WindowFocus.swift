import PresentationModel

// MARK: Focus (N7, N9)

extension WindowTracker {
  /// Brings the windows of a presentation to the front, by the last one, which may be a dialog of the others.
  public mutating func raise(_ handle: Handle) {
    guard let id = followed[program(of: handle)]?.windows.last else { return }
    activated = id
    expect([id])
    effects.append(.activate(window: id))
  }

  /// Notes that the first window of a presentation counts as painted (N2).
  public mutating func settled(_ handle: Handle) {
    let program = program(of: handle)
    guard followed[program] != nil else { return }
    followed[program]!.hasSettled = true
    raiseIfUnseen(program)
  }

  /// Raises the first window of a presentation that a key has asked for, if it has opened behind a fullscreen one, or if its user sees
  /// no window at all, as in an overview of the windows; and that of one that takes over, if that of another presentation hides it.
  mutating func raiseIfUnseen(_ handle: Handle) {
    comeForward(handle)
    guard let following = followed[handle], following.mustBeSeen || following.takesOver && following.hasSettled,
      !following.staysBehind, following.rule.placement.takesFocus != false, case .shown = following.stage,
      let first = following.windows.first.flatMap({ windows[$0]?.properties }), let isInView = first.inView
    else { return }
    followed[handle]!.mustBeSeen = false
    if following.hasSettled { followed[handle]!.takesOver = false }
    guard !isInView, capabilities?.contains(.activate) == true else { return }
    let seen = windows.all.values.lazy.filter { $0.properties.inView == true }
    let covers = seen.filter { $0.properties.fullscreen == true && $0.properties.output == first.output }
    if following.mustBeSeen ? seen.isEmpty || !covers.isEmpty : covers.contains(where: \.isOfPresentation) {
      raise(handle)
    }
  }

  /// Reports the focus if it has moved to another window, if its window now belongs to a presentation, or if no window has it any more.
  mutating func noteFocus(of id: String) {
    guard let isFocused = windows[id]?.properties.focused else { return }
    guard isFocused else { return noteNoFocus(after: id) }
    let owner = owner(of: id) ?? focus?.handle.flatMap { mayBeDialog(id, of: $0) ? $0 : nil }
    if isWithoutFocus { effects.append(.stopWaitingForFocus) }
    if let focus, focus == (id, owner), !isWithoutFocus { return }
    isWithoutFocus = false
    let isMoved = moved != nil && moved == focus?.window && moved != id
    if isMoved { moved = nil }
    let isOwn = activated == id || isMoved
    activated = nil
    focus = (id, owner)
    report(.focused(owner.map(presentation), isOwn: isOwn))
  }

  /// Notes that a window has lost the focus. The loss counts only if no other window gets the focus in a moment (N9).
  mutating func noteNoFocus(after id: String) {
    guard focus?.window == id, !isWithoutFocus else { return }
    isWithoutFocus = true
    effects += [.report(.focusLost), .waitForFocus(milliseconds: Self.timeWithoutFocus)]
  }

  /// Notes that the time of ``Effect/waitForFocus(milliseconds:)`` is over: no window has the focus.
  public mutating func focusTimeIsOver() {
    guard isWithoutFocus, let before = focus else { return }
    isWithoutFocus = false
    focus = nil
    report(.noFocus(isOwn: moved == before.window))
    if moved == before.window { moved = nil }
  }
}
