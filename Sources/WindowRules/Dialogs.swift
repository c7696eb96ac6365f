import PresentationModel

// MARK: Dialogs

extension WindowTracker {
  /// Whether a window asks the user about a dismissal: it opened after the dismissal began, and is a dialog of one of the windows (N6).
  func isDialog(_ id: String, of handle: Handle) -> Bool {
    guard let following = followed[handle], let closing = following.closing, let window = windows[id],
      window.order > closing.since, !closing.dialogs.contains(id)
    else { return false }
    if let parent = window.properties.parent, !parent.isEmpty { return following.windows.contains(parent) }
    guard !closing.isForced, window.properties.parent == nil, window.properties.floating != false else { return false }
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

  /// Whether a window of nobody may be a dialog of a presentation, because it floats, and the window system tells no parents. That counts
  /// for the focus (N9): the window itself may be its user's.
  func mayBeDialog(_ id: String, of handle: Handle) -> Bool {
    guard let following = followed[handle], let window = windows[id], window.owner == .none else { return false }
    return window.properties.floating == true && capabilities?.contains(.parent) == false
      && following.windows.contains { isOfSameProgram(id, $0) }
  }

  private func isOfSameProgram(_ a: String, _ b: String) -> Bool {
    guard let a = windows[a], let b = windows[b], !isUntold(a), !isUntold(b) else { return false }
    if let pid = a.properties.pid, pid != 0 { return pid == b.properties.pid }
    return a.properties.appID != nil && a.properties.appID == b.properties.appID
  }

  /// Whether a window only counts as a dialog because it opened during the dismissal: its user may have opened it.
  private func isGuessedDialog(_ id: String, of following: WindowFollower, _ handle: Handle) -> Bool {
    guard let closing = following.closing, closing.dialogs.contains(id), let window = windows[id] else { return false }
    return window.properties.parent == nil && window.order > closing.since
      && (!following.rule.takesAll || window.process?.program != handle)
  }

  /// Whether a window only counts as a dialog, and may be its user's.
  func hasGuessedDialog(_ handle: Handle) -> Bool {
    guard let following = followed[handle] else { return false }
    return following.windows.contains { isGuessedDialog($0, of: following, handle) }
  }

  /// Gives back the windows that only counted as dialogs, if nothing is left that they could ask about.
  mutating func giveUpDialogsOfNothing(of handle: Handle) {
    guard let following = followed[handle] else { return }
    if following.windows.allSatisfy({ isGuessedDialog($0, of: following, handle) }) {
      giveUpGuessedDialogs(of: handle)
    }
  }

  /// Gives back the windows that only counted as dialogs.
  mutating func giveUpGuessedDialogs(of handle: Handle) {
    guard let following = followed[handle] else { return }
    for id in following.windows where isGuessedDialog(id, of: following, handle) {
      windows[id]!.owner = .none
      followed[handle]!.windows.removeAll { $0 == id }
      effects.append(.windowsChanged(handle))
    }
  }

  /// The windows of a program that are still the item's after its dismissal was declined, for the record.
  public func lastingWindows(of program: Handle) -> [Window] {
    guard let following = followed[program] else { return [] }
    return following.windows.filter { !isGuessedDialog($0, of: following, program) }
      .compactMap { id in windows[id].map { Window(id: id, $0.properties) } }
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
