import PresentationModel

// MARK: Dialogs

extension WindowTracker {
  /// Whether a window asks the user about a dismissal: it opened after the dismissal began, and is a dialog of one of the windows (N6).
  func isDialog(_ id: String, of handle: Handle) -> Bool {
    guard let following = followed[handle], let closing = following.closing, let window = windows[id],
      window.order > closing.since, !closing.dialogs.contains(id)
    else { return false }
    if let parent = window.properties.parent, !parent.isEmpty { return following.windows.contains(parent) }
    guard window.properties.parent == nil, window.properties.floating != false else { return false }
    return following.windows.contains { $0 != id && isOfSameProgram(id, $0) }
  }

  /// Whether a window was open as a dialog before the dismissal.
  func isOpenDialog(_ id: String, of handle: Handle) -> Bool {
    guard let following = followed[handle], let window = windows[id]?.properties else { return false }
    if let parent = window.parent { return following.windows.contains(parent) }
    return window.floating == true
      && following.windows.contains { isOfSameProgram(id, $0) && windows[$0]!.properties.floating == false }
  }

  /// Whether a dialog is about a window.
  func isFor(_ id: String, dialog: String) -> Bool {
    guard let parent = windows[dialog]?.properties.parent else { return isOfSameProgram(id, dialog) }
    return parent == id
  }

  private func isOfSameProgram(_ a: String, _ b: String) -> Bool {
    guard let a = windows[a]?.properties, let b = windows[b]?.properties else { return false }
    if let pid = a.pid, pid != 0 { return pid == b.pid }
    return a.appID != nil && a.appID == b.appID
  }

  mutating func askedUser(_ id: String, _ handle: Handle) {
    guard var closing = followed[handle]?.closing, !closing.isForced else { return }
    closing.dialogs.insert(id)
    closing.hasAsked = true
    closing.asksAgain = false
    followed[handle]!.closing = closing
    effects.append(.stopWaiting(handle))
    reportAsking(of: handle, windows[id]?.properties.title ?? "")
  }
}
