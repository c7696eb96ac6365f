import PresentationModel

extension WindowTracker {
  /// Notes that a window system is there, or takes over its whole state after signals were missed.
  /// - Parameters:
  ///   - all: every window, in the order in which they opened.
  ///   - isSameAdapter: whether the same program reported the windows before; it uses no id twice.
  ///   - processes: the known facts of the processes of new windows.
  public mutating func arrived(
    _ capabilities: Set<WindowCapability>, _ all: [Window], isSameAdapter: Bool = false, at now: BootTime,
    processes: (Window) -> WindowProcess?
  ) {
    let isNew = self.capabilities == nil
    self.capabilities = capabilities
    namesOfRecorded = nil
    (isAbsent, isSilent, isStarting) = (false, false, false)
    let present = Set(all.lazy.map(\.id))
    var missing = windows.ranked.filter { !present.contains($0) }.map { Window(id: $0, windows[$0]!.properties) }
    var unknown = all.filter { windows[$0.id] == nil }
    var doubt = Recognition.none
    if !isSameAdapter { dropEarlierWindowsOfOtherIDs(among: present) }
    // An adapter that was started again has new ids either for all windows or for none.
    if !isSameAdapter, !missing.isEmpty, missing.count == windows.count {
      let names = Recognition.names(of: missing, among: unknown, tellsProcesses: capabilities.contains(.pid))
      rename(names)
      missing.removeAll { names[$0.id] != nil }
      let known = Set(names.values)
      unknown.removeAll { known.contains($0.id) }
      doubt = Recognition(missing, unknown)
    }
    for window in unknown {
      open(window, by: processes(window), in: isNew ? orderOfAbsence : nil, isDoubtful: doubt.isAbout(window))
    }
    for window in all where windows[window.id] != nil {
      changed(window.id, window.properties, by: processes(window))
    }
    let doubtful = unknown.filter { windows[$0.id]?.owner == .former }
    doubt = Recognition(missing, doubtful)
    var losers: Set<Handle> = []
    showHidden(missing.filter { mayBeHidden($0.id) }, among: unknown)
    for window in missing {
      if doubt.isAbout(window), let handle = owner(of: window.id) {
        lose(window.id, of: handle)
        losers.insert(handle)
      } else {
        closed(window.id, at: now)
      }
    }
    for handle in losers.sorted() { hasLostWindows(handle) }
    // The next navd must also take them for windows of others.
    for (handle, following) in followed.all where !doubtful.isEmpty && following.beginning.earlierWindows != nil {
      followed[handle]!.beginning.earlierWindows!.formUnion(doubtful.lazy.map(\.id))
      effects.append(.windowsChanged(handle))
    }
    // Windows that opened in the absence do not belong to presentations that began in it, neither for this navd nor for the next one.
    for (handle, following) in followed.all
    where following.isAwaiting && !following.beginning.isRestored && following.beginning.earlierWindows == nil {
      followed[handle]!.beginning.earlierWindows = Set(windows.all.keys)
      effects.append(.windowsChanged(handle))
    }
    showGivenUp(among: all, unknown: unknown)
    // Another adapter may tell no processes.
    assignAll()
    adapterCame()
    // Requests to the earlier window system may be lost.
    for (handle, following) in followed.sorted {
      comeForward(handle)
      // It was not asked to show them.
      followed[handle]!.mayBeHidden.formUnion(following.showing)
      switch following.stage {
      case .closing(let closing):
        if closing.isForced { askForeignWindows(of: handle) } else { askWindows(of: handle, but: closing.dialogs) }
      case .hiding:
        followed[handle]!.stage = .shown
        hide(handle, isForced: following.mustHide)
      default: showLeftOver(handle)
      }
    }
  }

  /// Notes that the window system is gone, and may come back. Windows that navd can no longer see count as unchanged.
  public mutating func left() {
    guard capabilities != nil else { return }
    capabilities = nil
    order += 1
    orderOfAbsence = order
    // A compositor that ends takes programs and the adapter with it, in any order.
    for (handle, following) in followed.sorted where !following.isRunning { closeWindowsOfProcesses(of: handle) }
  }

  /// Notes that no window system is expected after ``left()``: it did not come back, or does not answer (N2).
  /// - Parameters:
  ///   - isSilent: whether it is on the bus, and does not answer.
  ///   - isExpected: whether one may come (N13).
  ///   - isStarting: whether it may be starting with navd.
  public mutating func becameAbsent(isSilent: Bool = false, isExpected: Bool = false, isStarting: Bool = false) {
    self.isExpected = isExpected
    guard capabilities == nil else { return }
    (self.isSilent, self.isStarting) = (isSilent, isStarting)
    guard !isAbsent else { return }
    isAbsent = true
    for (handle, following) in followed.sorted {
      switch following.stage {
      case .awaiting: showUnseen(handle)
      case .closing(let closing) where !closing.isForced && !closing.hasAsked:
        keep(handle, "its windows cannot be asked to close: \(Self.absence)")
      case .hiding: keepShown(handle, "its windows cannot be hidden: \(Self.absence)")
      default: break
      }
    }
  }

  /// Whether there is no window system, as if there had never been one.
  var isGone: Bool { capabilities == nil && isAbsent && !isSilent && !isStarting }

  static let absence = "no window-system adapter is on the bus, or it does not answer"

  /// Shows a presentation without a window system: it is on the screen while its program runs (N2). A window system that has left may
  /// come back, with its windows.
  mutating func showUnseen(_ handle: Handle) {
    guard let following = followed[handle], following.isAwaiting, following.isStarted,
      isAbsent || following.isOnOtherDisplay
    else { return }
    guard following.isRunning else {
      // Nobody will tell of the window that the command has left to another program.
      if following.isOnOtherDisplay {
        reportEnd(of: handle, failed: following.hasFailed, result: following.result)
      }
      return
    }
    followed[handle]!.stage = .unseen
    effects += [.stopWaiting(handle), .presented(presentation(of: handle))]
    awaitAdapter(for: handle)
  }

  /// Notes that a window has opened.
  /// - Parameter process: the known facts of its process; nil if there are none.
  public mutating func opened(_ window: Window, by process: WindowProcess?) { open(window, by: process) }

  /// Notes that a window has opened, now or earlier.
  /// - Parameters:
  ///   - earlier: the order of a window that opened before it was reported.
  ///   - isDoubtful: whether the window may have been there before, under another id.
  private mutating func open(
    _ window: Window, by process: WindowProcess?, in earlier: UInt64? = nil, isDoubtful: Bool = false
  ) {
    guard windows[window.id] == nil, windows.count < Self.maxWindows else { return }
    order += 1
    let process = process.map(withoutParkedProgram)
    windows[window.id] = TrackedWindow(
      id: window.id, properties: window.properties, order: earlier ?? order, rank: order, process: process)
    if isDoubtful {
      windows[window.id]!.owner = .former
      assignIfProven(window.id)
    } else {
      assign(window.id)
    }
    noteFocus(of: window.id)
  }

  /// The facts of a process, without its program if that is parked: it may show windows for other items.
  private func withoutParkedProgram(_ process: WindowProcess) -> WindowProcess {
    guard let program = process.program, isResting(program) else { return process }
    var process = process
    process.program = nil
    return process
  }

  /// Notes that properties of a window have changed.
  /// - Parameter process: the known facts of the process, asked for if the change is the first to
  ///   name it; nil if there are none.
  public mutating func changed(
    _ id: String, _ properties: WindowProperties, by process: @autoclosure () -> WindowProcess? = nil
  ) {
    guard let window = windows[id] else { return }
    let changes = window.properties.changes(to: properties)
    guard !changes.properties.isEmpty else { return }
    windows[id]!.properties.merge(changes)
    let wasUntold = isUntold(window)
    if !window.hasProcess, changes.pid != nil { windows[id]!.process = process().map(withoutParkedProgram) }
    switch window.owner {
    case .none:
      assign(id)
      if owner(of: id) == nil { adopt(id, after: changes) }
    case .presentation(let handle): if isDialog(id, of: handle) { askedUser(id, handle) }
    case .former: break
    }
    if wasUntold, let window = windows[id], !isUntold(window) { processWasTold(of: window) }
    if changes.hidden == false { noteShown(id) }
    noteArrival(of: id, changes)
    if let handle = owner(of: id), let output = changes.output, output != "" { placeAgain(id, of: handle, on: output) }
    if let handle = owner(of: id) { raiseIfUnseen(handle) }
    noteFocus(of: id)
    if moved == id, changes.output != nil { moved = nil }
  }

  /// Goes on with what has waited for the process of a window: later windows, and dismissals.
  private mutating func processWasTold(of window: TrackedWindow) {
    // A window waits only for the sake of an item that may take it.
    if WindowFollower.Interest.allCases.contains(where: { $0 != .lastWindow && !followed.waiting(for: $0).isEmpty }) {
      assignAll(after: window.rank)
    }
    if !hasUntold {
      for handle in followed.waiting(for: .firstWindow).sorted() {
        guard let following = followed[handle], following.isRunning else { continue }
        if case .withdrawing = following.stage { effects.append(.wait(handle, milliseconds: Self.timeToEnd)) }
      }
    }
    endLeftovers()
  }

  /// Notes that a window is gone.
  /// - Parameter isInJob: whether the service manager has a job with the unit of a program, and may
  ///   be restarting it.
  public mutating func closed(_ id: String, at now: BootTime, isInJob: (Handle) -> Bool = { _ in false }) {
    noteNoFocus(after: id)
    arriving.remove(id)
    guard let window = windows.removeValue(forKey: id) else { return }
    if isUntold(window) { processWasTold(of: window) }
    guard case .presentation(let handle) = window.owner, followed[handle] != nil else { return endLeftovers() }
    followed[handle]!.windows.removeAll { $0 == id }
    followed[handle]!.placedOn[id] = nil
    followed[handle]!.isReplacing.remove(id)
    let following = followed[handle]!
    effects.append(.windowsChanged(handle))
    switch following.stage {
    case .shown where following.windows.isEmpty && following.hasLost: unfollow(handle)
    case .shown where following.windows.isEmpty:
      linger(handle, at: now, isRestarting: following.isRunning && isInJob(handle))
    case .closing(var closing):
      let wasDialog = closing.dialogs.remove(id) != nil
      followed[handle]!.stage = .closing(closing)
      if !closing.isForced { giveUpDialogsOfNothing(of: handle) }
      if followed[handle]!.windows.isEmpty {
        windowsClosed(handle, isForced: closing.isForced && !closing.sparesUser)
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

  /// Waits after the last window of a presentation is gone, since another one may follow, for instance after a splash screen (N3).
  private mutating func linger(_ handle: Handle, at now: BootTime, isRestarting: Bool) {
    followed[handle]!.isRestarting = isRestarting
    let following = followed[handle]!
    let age = now.milliseconds - min(now.milliseconds, following.beginning.time.milliseconds)
    let isStarting = following.isRunning && age < following.settings.startTimeout
    let time =
      isRestarting
      ? following.settings.startTimeout : following.rule.linger ?? (isStarting ? Self.timeBetweenWindows : 0)
    guard time > 0 else { return lastWindowClosed(handle) }
    followed[handle]!.stage = .lingering
    // A window that was there beside the last one does not follow it.
    order += 1
    followed[handle]!.beginning.order = order
    effects += [.report(.windowsGone(presentation(of: handle), isFinal: false)), .wait(handle, milliseconds: time)]
    // A window may have opened while the splash screen was there.
    for id in windows.ranked where windows[id]!.owner == .none && windows[id]!.process?.program == handle {
      assign(id)
    }
  }

  /// Ends a presentation whose user has closed the last window (N3).
  mutating func lastWindowClosed(_ handle: Handle) {
    let following = followed[handle]!
    guard following.isRunning else {
      return reportEnd(of: handle, failed: following.hasFailed, result: following.result)
    }
    settle(handle)
  }

  /// Waits for the result of a program whose windows are gone.
  private mutating func settle(_ handle: Handle) {
    followed[handle]!.stage = .settling
    if !followed[handle]!.isParked { report(.windowsGone(presentation(of: handle), isFinal: true)) }
    effects.append(.wait(handle, milliseconds: Self.timeToEnd))
  }

  /// Completes a dismissal whose windows are gone (N5).
  private mutating func windowsClosed(_ handle: Handle, isForced: Bool) {
    let following = followed[handle]!
    guard following.isRunning else {
      effects.append(.stopWaiting(handle))
      return reportDismissal(of: handle, result: following.result)
    }
    if !isForced { settle(handle) }
  }
}
