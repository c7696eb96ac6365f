import PresentationModel

// MARK: Ownership (N1)

extension WindowTracker {
  mutating func assign(_ id: String) {
    let window = windows[id]!
    if let handle = window.program, followed[handle]?.hasBegun == true { return give(id, to: handle) }
    if let parent = window.properties.parent, let handle = owner(of: parent) { return give(id, to: handle) }
    if let handle = candidate(for: id, window) { return give(id, to: handle) }
    if let handle = followed.keys.filter({ isDialog(id, of: $0) }).min() { give(id, to: handle) }
  }

  /// The presentation whose pattern a window matches: the oldest that has no window, or else the oldest.
  private func candidate(for id: String, _ window: TrackedWindow) -> Handle? {
    let matching = followed.filter { handle, following in
      guard following.takesWindows, following.rule.pattern.matches(window.properties) else { return false }
      return window.order > following.began
        || following.isRestored && following.isAwaiting && following.before?.contains(id) == false
    }
    let waiting = matching.filter { $0.value.windows.isEmpty }
    return (waiting.isEmpty ? matching : waiting).min { ($0.value.began, $0.key) < ($1.value.began, $1.key) }?.key
  }

  /// A window that was there before counts as the first one if it comes forward after its program has handed over (N2).
  mutating func adopt(_ id: String, after changes: WindowProperties) {
    let window = windows[id]!
    guard changes.focused == true || changes.urgent == true || changes.title != nil else { return }
    let waiting = followed.filter { _, following in
      following.rule.adopts && following.isAwaiting && !following.isRunning
        && following.rule.pattern.matches(window.properties)
    }
    if let handle = waiting.keys.min() { give(id, to: handle) }
  }

  mutating func give(_ id: String, to handle: Handle) {
    guard var following = followed[handle] else { return }
    windows[id]!.owner = .presentation(handle)
    following.windows.append(id)
    let wasAwaiting = following.isAwaiting
    switch following.stage {
    case .awaiting, .unseen: following.stage = .shown
    case .lingering, .ending:
      following.stage = .shown
      effects.append(.stopWaiting(handle))
    case .hiding(let waiting):
      following.stage = .hiding(waiting.union([id]))
      effects.append(.hide(window: id))
    case .requested, .recovered, .withdrawing, .shown, .closing, .parked, .settling, .terminating, .leaving: break
    }
    followed[handle] = following
    effects.append(.windowsChanged(handle))
    if case .withdrawing = following.stage { return force(handle) }
    place(id, of: handle)
    if wasAwaiting { effects.append(.presented(presentation(of: handle))) }
    if isDialog(id, of: handle) { askedUser(id, handle) }
  }
}
