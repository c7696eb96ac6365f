import PresentationModel

// MARK: Hiding (N8)

extension WindowTracker {
  /// Whether a dismissal hides its windows.
  func mayHide(_ following: Following) -> Bool {
    following.rule.hides && followed.values.count { $0.isParked } < maxParked
  }

  /// Whether its windows are hidden, and nothing is asked of them.
  func isResting(_ handle: Handle) -> Bool {
    if case .parked? = followed[handle]?.stage { true } else { false }
  }

  mutating func hide(_ handle: Handle) {
    guard isAble(to: .hide, "hidden", handle) else { return }
    let windows = followed[handle]!.windows
    followed[handle]!.stage = .hiding(Set(windows))
    effects += windows.map { .hide(window: $0) }
  }

  /// Takes in that a window is hidden.
  public mutating func hidden(_ id: String) {
    guard let handle = owner(of: id), case .hiding(var waiting)? = followed[handle]?.stage else { return }
    waiting.remove(id)
    followed[handle]!.stage = .hiding(waiting)
    parkIfHidden(handle)
  }

  mutating func parkIfHidden(_ handle: Handle) {
    guard case .hiding(let waiting)? = followed[handle]?.stage, waiting.isEmpty else { return }
    followed[handle]!.stage = .parked
    followed[handle]!.isParked = true
    effects.append(.hidden(handle))
  }

  /// Takes in that a window cannot be hidden.
  public mutating func hideRefused(_ id: String, _ message: String) {
    guard let handle = owner(of: id), case .hiding? = followed[handle]?.stage else { return }
    keepShown(handle, "\(name(of: id)) cannot be hidden: \(message)")
  }

  mutating func keepShown(_ handle: Handle, _ message: String) {
    effects += followed[handle]!.windows.map { .show(window: $0) }
    keep(handle, message)
  }

  /// Shows the windows of a parked program again, with the focus.
  /// - Parameter output: as for ``follow(_:_:grace:output:)``.
  /// - Returns: whether there are windows.
  public mutating func showAgain(_ handle: Handle, on output: String? = nil) -> Bool {
    guard let following = followed[handle], following.isParked, !following.windows.isEmpty else { return false }
    followed[handle]!.isParked = false
    followed[handle]!.stage = .shown
    effects.append(.stopWaiting(handle))
    effects += following.windows.map { .show(window: $0) }
    move(handle, to: output)
    effects.append(.presented(handle))
    if capabilities?.contains(.activate) == true { raise(handle) }
    return true
  }

  /// Takes in that a parked program is to end.
  /// - Parameter isForced: whether without a question.
  public mutating func endParked(_ handle: Handle, isForced: Bool) {
    guard let following = followed[handle], following.isParked else { return }
    if isForced {
      if following.closing?.isForced != true { force(handle) }
    } else if isResting(handle) {
      askToClose(handle)
    }
  }
}
