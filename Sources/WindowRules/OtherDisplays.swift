import PresentationModel

// MARK: Several displays (N14)

extension WindowTracker {
  /// Notes of which display the window system tells the windows. Call it before
  /// ``arrived(_:_:isSameAdapter:at:processes:)``.
  public mutating func setDisplay(_ display: DisplayNames) {
    self.display = display
    for handle in followed.all.keys { findDisplay(of: handle) }
  }

  /// Finds out whether the windows of a presentation are on another display than the one that the
  /// window system sees.
  mutating func findDisplay(of handle: Handle) {
    guard let following = followed[handle], following.windows.isEmpty else { return }
    followed[handle]!.isOnOtherDisplay = display.map { following.settings.display?.isOther(than: $0) == true } ?? false
    showUnseen(handle)
  }

  /// Whether the window system does not see the windows of a presentation, since they are on
  /// another display.
  public func isOnOtherDisplay(_ handle: Handle) -> Bool { followed[program(of: handle)]?.isOnOtherDisplay == true }
}
