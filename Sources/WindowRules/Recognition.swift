import PresentationModel

/// The recognition of windows after an adapter has reported new ids for all of them (N1).
struct Recognition {
  /// The properties by which an adapter with new ids describes the same window again.
  private struct Look: Hashable {
    let appID: String?
    let title: String?
    let pid: UInt32?
  }

  static let none = Recognition([], [])

  /// The looks, without titles, which change, of windows that may be there under another id, or may have been there.
  private let shared: Set<Look>
  private let hasPIDs: Bool

  init(_ before: [Window], _ now: [Window]) {
    let hasPIDs = Self.tellPIDs(before + now)
    func looks(_ windows: [Window]) -> Set<Look> { Set(windows.map { Self.look($0, hasPIDs, withTitle: false) }) }
    shared = looks(before).intersection(looks(now))
    self.hasPIDs = hasPIDs
  }

  /// Whether a window may be both an earlier one and a present one.
  func isAbout(_ window: Window) -> Bool {
    shared.contains(Self.look(window, hasPIDs, withTitle: false))
  }

  /// The new ids of earlier windows, by the old ones, if they are certain: just one earlier and one present window have the same look.
  /// - Parameter tellsProcesses: whether the adapter tells processes, even if it still has to tell that of a window.
  static func names(of before: [Window], among now: [Window], tellsProcesses: Bool) -> [String: String] {
    let hasPIDs = tellPIDs(before + now)
    let comparesPIDs = tellsProcesses && before.contains { $0.properties.pid != nil }
    func byLook(_ windows: [Window]) -> [Look: [Window]] {
      Dictionary(grouping: windows) { look($0, hasPIDs, withTitle: true) }
    }
    let now = byLook(now)
    return byLook(before).reduce(into: [:]) { names, looking in
      guard looking.value.count == 1, let same = now[looking.key], same.count == 1,
        !comparesPIDs || same[0].properties.pid != nil && looking.value[0].properties.pid == same[0].properties.pid
      else { return }
      names[looking.value[0].id] = same[0].id
    }
  }

  private static func tellPIDs(_ windows: [Window]) -> Bool { windows.allSatisfy { $0.properties.pid != nil } }

  private static func look(_ window: Window, _ hasPIDs: Bool, withTitle: Bool) -> Look {
    let properties = window.properties
    return Look(
      appID: properties.appID, title: withTitle ? properties.title : nil, pid: hasPIDs ? properties.pid : nil)
  }
}

// MARK: After an adapter was started again (N1)

extension WindowTracker {
  /// Gives windows other ids, everywhere.
  mutating func rename(_ names: [String: String]) {
    guard !names.isEmpty else { return }
    func name(_ id: String) -> String { names[id] ?? id }
    let renamed = names.map { ($1, windows.removeValue(forKey: $0)) }
    for (new, window) in renamed {
      windows[new] = window
      windows[new]?.id = new
    }
    for (handle, following) in followed.all {
      followed[handle]!.windows = following.windows.map(name)
      followed[handle]!.beginning.earlierWindows = following.beginning.earlierWindows.map { Set($0.map(name)) }
      followed[handle]!.showing = Set(following.showing.map(name))
      followed[handle]!.mayBeHidden = Set(following.mayBeHidden.map(name))
      if var closing = following.closing {
        closing.dialogs = Set(closing.dialogs.map(name))
        followed[handle]!.closing = closing
      }
      effects.append(.windowsChanged(handle))
    }
    if let focus { self.focus = (name(focus.window), focus.handle) }
    activated = activated.map(name)
    moved = moved.map(name)
    arriving = Set(arriving.map(name))
  }

  /// Shows what may be lost windows that were hidden: nobody could show them otherwise.
  mutating func showHidden(_ lost: [Window], among present: [Window]) {
    guard !lost.isEmpty else { return }
    let doubt = Recognition(lost, present)
    effects += present.filter { window in
      // The adapter may still have to tell what it looks like.
      window.properties.hidden == true && (window.properties.appID == nil || doubt.isAbout(window))
    }.map { .show(window: $0.id) }
  }

  /// Notes that a window is no longer there under its id. It may be there under another one, but it is not known which.
  mutating func lose(_ id: String, of handle: Handle) {
    noteNoFocus(after: id)
    windows[id] = nil
    followed[handle]!.windows.removeAll { $0 == id }
    followed[handle]!.hasLost = true
    guard var closing = followed[handle]!.closing else { return }
    if closing.dialogs.remove(id) != nil, closing.dialogs.isEmpty, !closing.isForced {
      effects.append(.wait(handle, milliseconds: Self.timeAfterDialog))
    }
    followed[handle]!.closing = closing
  }

  mutating func hasLostWindows(_ handle: Handle) {
    guard let following = followed[handle] else { return }
    effects.append(.windowsChanged(handle))
    guard following.windows.isEmpty else { return }
    switch following.stage {
    case .shown, .parked: unfollow(handle)
    case .closing(let closing) where closing.isForced:
      if !following.isRunning { reportDismissal(of: handle, result: following.result) }
    case .closing, .hiding:
      keep(handle, Self.lossMessage)
      unfollow(handle)
    default: break
    }
  }

  static let lossMessage =
    "its windows cannot be told from others since the window-system adapter was started again"

  /// Handles a presentation that has no known window left: it stays on the screen while its program runs, as without an adapter (N2).
  mutating func unfollow(_ handle: Handle) {
    let following = followed[handle]!
    if following.isRunning {
      followed[handle]!.stage = following.isParked ? .leaving : .unseen
      guard following.isParked else { return }
    }
    reportEnd(of: handle, failed: following.hasFailed, result: following.result)
  }
}
