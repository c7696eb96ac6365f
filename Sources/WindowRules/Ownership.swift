import PresentationModel

// MARK: Ownership (N1)

extension WindowTracker {
  mutating func assign(_ id: String) {
    let window = windows[id]!
    if let handle = program(of: id, window), takesOwnWindow(handle) { return give(id, to: handle) }
    if let parent = window.properties.parent, let handle = owner(of: parent) { return give(id, to: handle) }
    if let handle = candidate(for: id, window) { return give(id, to: handle) }
    if let handle = followed.keys.filter({ isDialog(id, of: $0) }).min() { give(id, to: handle) }
  }

  /// Gives a window that may have been there under another id to the presentation of its parent, or to the program that takes all
  /// windows of its processes. The window belongs there in any case.
  mutating func assignIfProven(_ id: String) {
    if let parent = windows[id]!.properties.parent, let handle = owner(of: parent) { return give(id, to: handle) }
    if let handle = program(of: id, windows[id]!), followed[handle]!.rule.takesAll, takesOwnWindow(handle) {
      give(id, to: handle)
    }
  }

  /// The program that shows a window: the one with the window's startup id, which is a proof, or else the one of its process.
  private func program(of id: String, _ window: TrackedWindow) -> Handle? {
    if let startupID = freshStartupID(of: window) {
      return followed.filter { $0.value.hasBegun && $0.value.settings.startupID == startupID }.keys.min()
    }
    return window.process?.program.flatMap { followed[$0]?.hasBegun == true ? $0 : nil }
  }

  /// The startup id of a window; nil if it has none, or one that proves nothing: a long-running program that navd did not start may
  /// use the id of its start for all its windows.
  private func freshStartupID(of window: TrackedWindow) -> String? {
    guard let startupID = window.properties.startupID, !startupID.isEmpty,
      !windows.values.contains(where: { earlier in
        earlier.properties.startupID == startupID && earlier.order < window.order && earlier.process?.program == nil
      })
    else { return nil }
    return startupID
  }

  /// Whether a new window of its own program belongs to a presentation. If the user opens more windows in the program, only the first
  /// one does.
  private func takesOwnWindow(_ handle: Handle) -> Bool {
    let following = followed[handle]!
    guard following.takesOwnWindows else { return false }
    return following.rule.takesAll || following.takesWindows && following.windows.isEmpty && !following.hasLost
  }

  /// The presentation whose pattern a window matches: the oldest one without a window.
  private func candidate(for id: String, _ window: TrackedWindow) -> Handle? {
    let isOfAnotherStart = freshStartupID(of: window) != nil
    return followed.filter { handle, following in
      guard following.takesWindows, following.windows.isEmpty, !following.hasLost, fits(window, following),
        !isDoubtful(id, window, handle, following),
        window.process?.ancestor == handle || !isOfAnotherStart && isHandedOver(window, to: following)
      else { return false }
      return window.order > following.beginning.order
        || following.beginning.isRestored && following.isAwaiting
          && following.beginning.earlierWindows?.contains(id) == false
    }.min { ($0.value.beginning.order, $0.key) < ($1.value.beginning.order, $1.key) }?.key
  }

  /// Whether a process that the command of a presentation has not started may show a window for it. A process that the user has started
  /// meanwhile may not.
  private func isHandedOver(_ window: TrackedWindow, to following: WindowFollower) -> Bool {
    guard let process = window.process else { return true }
    if process.started < following.beginning.time || following.hasHandedOver { return true }
    guard let left = process.ancestor.flatMap({ followed[$0] }), case .leaving = left.stage else { return false }
    return !left.settings.destination.isEmpty && left.settings.destination == following.settings.destination
  }

  /// Takes an earlier window as the first one if it comes forward after the program has handed over (N2).
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
    guard let stage = followed[handle]?.stage else { return }
    windows[id]!.owner = .presentation(handle)
    followed[handle]!.windows.append(id)
    let wasAwaiting = followed[handle]!.isAwaiting
    switch stage {
    case .awaiting, .unseen:
      followed[handle]!.stage = .shown
    case .lingering:
      followed[handle]!.stage = .shown
      effects += [.stopWaiting(handle), .report(.windowsBack(presentation(of: handle)))]
    case .hiding(let waiting):
      followed[handle]!.stage = .hiding(waiting.union([id]))
      effects.append(.hide(window: id))
    case .requested, .recovered, .withdrawing, .shown, .closing, .parked, .settling, .terminating, .leaving: break
    }
    effects.append(.windowsChanged(handle))
    if case .withdrawing = stage { return force(handle) }
    place(id, of: handle)
    if wasAwaiting { effects.append(.presented(presentation(of: handle))) }
    if isDialog(id, of: handle) { askedUser(id, handle) }
  }
}
