import DBusValues
import PresentationModel

// MARK: After a restart

extension WindowTracker {
  /// Takes over a presentation of the previous navd. Call it when the windows are known, or when there is no window system.
  /// - Parameters:
  ///   - output: as for ``follow(_:_:grace:output:)``.
  ///   - recorded: the windows that it had.
  ///   - before: as ``windowsBefore(_:)`` of the previous navd; nil if it has not recorded them. Then windows that are there now
  ///     may be strangers'.
  ///   - end: the result of its program, if that has ended.
  ///   - isPresented: whether it was on the screen.
  ///   - isParked: whether its windows are hidden (N8).
  /// - Returns: whether it has windows now.
  public mutating func restore(
    _ handle: Handle, _ rule: WindowFollowing, grace: UInt64, output: String? = nil, windows recorded: [Window],
    before: Set<String>?,
    end: Properties?, isPresented: Bool = false, isParked: Bool = false
  ) -> Bool {
    var following = Following(rule, grace: grace, began: order)
    following.output = output
    following.before = before
    following.isRestored = true
    if let end { following.program = .ended(failed: false, end) }
    for window in recorded {
      let id: String?
      if capabilities == nil {
        windows[window.id] = TrackedWindow(properties: window.properties, order: 0, program: nil)
        id = window.id
      } else if windows[window.id] != nil {
        id = window.id
      } else {
        let alike = windows.filter { $0.value.owner == .none && Look($0.value.properties) == Look(window.properties) }
        id = mostAlike(
          alike.sorted { ($0.value.order, $0.key) < ($1.value.order, $1.key) }.map(\.key), window.properties)
      }
      guard let id, windows[id]!.owner == .none else { continue }
      windows[id]!.owner = .presentation(handle)
      following.windows.append(id)
    }
    following.isParked = isParked
    if !following.windows.isEmpty {
      following.stage = isParked ? .parked : .shown
    } else if !recorded.isEmpty, following.isRunning {
      following.stage = .ending
      effects.append(.wait(handle, milliseconds: Self.timeToEnd))
    } else if isPresented {
      following.stage = .unseen
    }
    followed[handle] = following
    effects.append(.windowsChanged(handle))
    if recorded.isEmpty, following.takesWindows {
      for id in windows.keys.sorted() where windows[id]?.owner == TrackedWindow.Owner.none { assign(id) }
    }
    return !(followed[handle]?.windows.isEmpty ?? true)
  }
}
