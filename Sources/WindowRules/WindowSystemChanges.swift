import PresentationModel

extension WindowTracker {
  /// Takes in that a window system is there, or what it tells after signals were missed.
  /// - Parameters:
  ///   - all: every window, in the order in which they opened.
  ///   - processes: what is known of the processes of new windows.
  public mutating func arrived(
    _ capabilities: Set<WindowCapability>, _ all: [Window], at now: BootTime, processes: (Window) -> WindowProcess?
  ) {
    let isNew = self.capabilities == nil
    self.capabilities = capabilities
    isAbsent = false
    let present = Dictionary(all.map { ($0.id, $0) }) { $1 }
    var missing = Dictionary(
      grouping: windows.filter { present[$0.key] == nil }.sorted { ($0.value.order, $0.key) < ($1.value.order, $1.key) }
    ) { Look($0.value.properties) }.mapValues { $0.map(\.key) }
    for window in all where windows[window.id] == nil {
      // An adapter that was started again may have new ids.
      let look = Look(window.properties)
      if let same = mostAlike(missing[look] ?? [], window.properties) {
        missing[look]!.removeAll { $0 == same }
        rename(same, to: window.id)
        changed(window.id, window.properties)
      } else {
        open(window, by: processes(window), in: isNew ? orderOfAbsence : nil)
      }
    }
    for window in all where windows[window.id] != nil { changed(window.id, window.properties) }
    for id in missing.values.joined().sorted() { closed(id, at: now) }
    // Windows that opened in the absence are strangers to presentations that began in it, also for the next navd.
    for (handle, following) in followed where isNew && following.isAwaiting && !following.isRestored {
      guard following.before == nil else { continue }
      followed[handle]!.before = matching(following)
      effects.append(.windowsChanged(handle))
    }
    // Requests to the former window system may be lost.
    for (handle, following) in followed.sorted(by: { $0.key < $1.key }) {
      switch following.stage {
      case .closing(let closing):
        if closing.isForced { askForeignWindows(of: handle) } else { askWindows(of: handle, but: closing.dialogs) }
      case .hiding: hide(handle, isForced: following.mustHide)
      default: break
      }
    }
  }

  /// Takes in that the window system is gone, and may come back. What navd cannot see any more stays as it was.
  public mutating func left() {
    guard capabilities != nil else { return }
    capabilities = nil
    order += 1
    orderOfAbsence = order
  }

  /// Takes in that no window system is expected after ``left()``: it did not come back, or it does not answer (N2).
  public mutating func becameAbsent() {
    guard capabilities == nil, !isAbsent else { return }
    isAbsent = true
    for (handle, following) in followed.sorted(by: { $0.key < $1.key }) {
      switch following.stage {
      case .awaiting: showUnseen(handle)
      case .closing(let closing) where !closing.isForced && !closing.hasAsked:
        keep(handle, "its windows cannot be asked to close: \(Self.absence)")
      case .hiding: keepShown(handle, "its windows cannot be hidden: \(Self.absence)")
      default: break
      }
    }
  }

  static let absence = "no window-system adapter is on the bus, or it does not answer"

  /// Without a window system, an item is on the screen while its program runs (N2). One that has left may come back, and its windows
  /// with it.
  mutating func showUnseen(_ handle: Handle) {
    guard let following = followed[handle], following.isAwaiting, following.isStarted, following.isRunning,
      capabilities == nil, isAbsent
    else { return }
    followed[handle]!.stage = .unseen
    effects.append(.presented(presentation(of: handle)))
  }

  /// Windows of one look that are compared with a new one, so that thousands of them do not take seconds.
  private static let maxCompared = 32

  /// By what an adapter with new ids tells its windows again.
  struct Look: Hashable {
    let appID: String?
    let title: String?
    let pid: UInt32?

    init(_ properties: WindowProperties) {
      (appID, title, pid) = (properties.appID, properties.title, properties.pid)
    }
  }

  /// The one of windows of one look that is the same in most properties; the first of several.
  func mostAlike(_ ids: [String], _ properties: WindowProperties) -> String? {
    ids.prefix(Self.maxCompared).map { (id: $0, likeness: windows[$0]!.properties.likeness(to: properties)) }
      .max { $0.likeness < $1.likeness }?.id
  }

  private mutating func rename(_ old: String, to new: String) {
    windows[new] = windows.removeValue(forKey: old)
    guard let handle = owner(of: new) else { return }
    followed[handle]!.windows = followed[handle]!.windows.map { $0 == old ? new : $0 }
    effects.append(.windowsChanged(handle))
  }

  /// Takes in that a window has opened.
  /// - Parameter process: what is known of its process; nil if nothing is.
  public mutating func opened(_ window: Window, by process: WindowProcess?) { open(window, by: process, in: nil) }

  private mutating func open(_ window: Window, by process: WindowProcess?, in earlier: UInt64?) {
    guard windows[window.id] == nil, windows.count < Self.maxWindows else { return }
    order += 1
    var process = process
    // A parked program may show windows for others.
    if let program = process?.program, isResting(program) { process?.program = nil }
    windows[window.id] = TrackedWindow(properties: window.properties, order: earlier ?? order, process: process)
    assign(window.id)
    noteFocus(of: window.id)
  }

  /// Takes in that properties of a window have changed.
  public mutating func changed(_ id: String, _ properties: WindowProperties) {
    guard let window = windows[id] else { return }
    let changes = window.properties.changes(to: properties)
    guard !changes.properties.isEmpty else { return }
    windows[id]!.properties.merge(changes)
    switch window.owner {
    case .none:
      assign(id)
      if owner(of: id) == nil { adopt(id, after: changes) }
    case .presentation(let handle): if isDialog(id, of: handle) { askedUser(id, handle) }
    case .former: break
    }
    noteFocus(of: id)
    if moved == id, changes.output != nil { moved = nil }
  }

  /// Takes in that a window is gone.
  public mutating func closed(_ id: String, at now: BootTime) {
    noteNoFocus(after: id)
    guard let window = windows.removeValue(forKey: id), case .presentation(let handle) = window.owner,
      var following = followed[handle]
    else { return }
    following.windows.removeAll { $0 == id }
    followed[handle] = following
    effects.append(.windowsChanged(handle))
    switch following.stage {
    case .shown where following.windows.isEmpty:
      linger(handle, at: now)
    case .closing(var closing):
      let wasDialog = closing.dialogs.remove(id) != nil
      followed[handle]!.stage = .closing(closing)
      if following.windows.isEmpty {
        windowsClosed(handle, isForced: closing.isForced)
      } else if wasDialog, closing.dialogs.isEmpty, !closing.isForced {
        effects.append(.wait(handle, milliseconds: Self.timeAfterDialog))
      }
    case .hiding(var waiting):
      waiting.remove(id)
      followed[handle]!.stage = .hiding(waiting)
      if following.windows.isEmpty { windowsClosed(handle, isForced: false) } else { parkIfHidden(handle) }
    case .parked where following.windows.isEmpty: lastWindowClosed(handle)
    case .requested, .recovered, .awaiting, .withdrawing, .shown, .unseen, .parked, .lingering, .settling,
      .terminating, .leaving:
      break
    }
  }

  /// The last window of a presentation is gone. Another one may follow, such as after a splash screen (N3).
  private mutating func linger(_ handle: Handle, at now: BootTime) {
    let following = followed[handle]!
    let age = now.milliseconds - min(now.milliseconds, following.beganAt.milliseconds)
    let isStarting = following.isRunning && age < following.settings.startTimeout
    let time = following.rule.linger ?? (isStarting ? Self.timeBetweenWindows : 0)
    guard time > 0 else { return lastWindowClosed(handle) }
    followed[handle]!.stage = .lingering
    effects += [.windowsGone(presentation(of: handle), isFinal: false), .wait(handle, milliseconds: time)]
    // A window may have opened beside the splash screen.
    for id in windows.keys.sorted(by: { windows[$0]!.order < windows[$1]!.order })
    where windows[id]!.owner == .none && windows[id]!.process?.program == handle {
      assign(id)
    }
  }

  /// The user has closed the last window (N3).
  mutating func lastWindowClosed(_ handle: Handle) {
    let following = followed[handle]!
    guard following.isRunning else {
      return reportEnd(of: handle, failed: following.hasFailed, result: following.result)
    }
    settle(handle)
  }

  /// Its windows are gone, and its program has a moment to give its result.
  private mutating func settle(_ handle: Handle) {
    followed[handle]!.stage = .settling
    if !followed[handle]!.isParked { effects.append(.windowsGone(presentation(of: handle), isFinal: true)) }
    effects.append(.wait(handle, milliseconds: Self.timeToEnd))
  }

  /// The windows that were asked to close are gone (N5).
  private mutating func windowsClosed(_ handle: Handle, isForced: Bool) {
    let following = followed[handle]!
    guard following.isRunning else {
      effects.append(.stopWaiting(handle))
      return reportDismissal(of: handle, result: following.result)
    }
    if isForced {
      followed[handle]!.stage = .terminating
    } else {
      settle(handle)
    }
  }
}

extension WindowProperties {
  /// In how many properties, such as the focus and the output, two windows are the same. This tells two terminals from each other.
  fileprivate func likeness(to other: WindowProperties) -> Int {
    properties.count { other.properties[$0.key] == $0.value }
  }
}
