import PresentationModel

// MARK: Ownership (N1)

extension WindowTracker {
  /// Gives a window to the item whose it is, if that can be said.
  mutating func assign(_ id: String) {
    if let claimant = claimant(of: id) { return give(id, to: claimant.handle, as: claimant.guest) }
    seekGuestAgain(id)
    holdBack(id)
    let asking = followed.waiting(for: .dialog).filter { isDialog(id, of: $0) }
    if let handle = asking.min() { give(id, to: handle) }
  }

  /// Assigns the windows of nobody, the oldest first, because a fact that they waited for has come.
  mutating func assignAll(after rank: UInt64 = 0) {
    for id in windows.ranked where windows[id]!.rank > rank && windows[id]!.owner == .none { assign(id) }
  }

  /// Gives a window that may have been there under another id to the presentation of its parent, or to the program that takes all
  /// windows of its processes. The window belongs there in any case.
  mutating func assignIfProven(_ id: String) {
    let window = windows[id]!
    let proven = concerned(by: window).sorted().first { handle in
      switch facts(of: window, for: handle).verdict {
      case .item(.dialog): true
      case .item(.process), .item(.further): followed[handle]!.rule.takesAll
      default: false
      }
    }
    if let proven { give(id, to: proven) }
  }

  /// The programs whose window it may be: that of its parent, those of its process, and those that
  /// wait for their first one.
  func concerned(by window: TrackedWindow) -> Set<Handle> {
    let parent = window.properties.parent.flatMap { owner(of: $0) }
    let own = (window.process?.programs ?? []) + [parent].compactMap(\.self)
    return followed.waiting(for: .firstWindow).union(own.filter { followed[$0] != nil })
  }

  /// The item with the strongest proof that a window is its own, or that shows it as a guest; nil if the window is its user's alone, or a
  /// fact is still to come.
  private func claimant(of id: String) -> (handle: Handle, guest: WindowFollower.Guest?)? {
    let window = windows[id]!
    var best: (proof: OwnershipFacts.Proof, handle: Handle, guest: WindowFollower.Guest?)?
    var isUndecided = false
    func consider(_ proof: OwnershipFacts.Proof, _ handle: Handle, _ guest: WindowFollower.Guest? = nil) {
      guard let found = best else { return best = (proof, handle, guest) }
      let (began, before) = (followed[handle]!.beginning.order, followed[found.handle]!.beginning.order)
      if found.proof < proof || found.proof == proof && (began, handle) < (before, found.handle) {
        best = (proof, handle, guest)
      }
    }
    for handle in concerned(by: window) {
      let following = followed[handle]!
      switch facts(of: window, for: handle).verdict {
      case .item(.pattern) where isHeldBack(window, from: handle, following): isUndecided = true
      case .item(let proof): consider(proof, handle)
      case .guest:
        consider(.pattern, handle, following.rule.adopts ? nil : .init(isReplaceable: following.guest == nil))
      case .undecided: isUndecided = true
      case .user: break
      }
    }
    guard let best else { return nil }
    // Windows are taken in the order in which they opened, and not in the order in which their facts come.
    if best.proof == .pattern, isUndecided || hasUndecided(for: best.handle, before: window) { return nil }
    return (best.handle, best.guest)
  }

  /// Whether a window may be the first one of a program that its user has started just before the item. Then the command has a moment
  /// to open its own.
  private func isHeldBack(_ window: TrackedWindow, from handle: Handle, _ following: WindowFollower) -> Bool {
    guard following.holdingBack != .over, isGuess(window, of: handle, following), let process = window.process,
      mayBeOfUser(process, following), process.started < following.beginning.time
    else { return false }
    guard following.beginning.time.milliseconds - process.started.milliseconds < Self.timeOfSameMoment else {
      return false
    }
    // A program with an earlier window does not start.
    return isFirstWindow(window)
  }

  /// Begins the time in which the command of an item may open a window of its own, before one of another program counts.
  private mutating func holdBack(_ id: String) {
    let window = windows[id]!
    for handle in concerned(by: window).sorted() {
      let following = followed[handle]!
      guard following.holdingBack == .notBegun, isHeldBack(window, from: handle, following),
        facts(of: window, for: handle).verdict == .item(.pattern)
      else { continue }
      followed[handle]!.holdingBack = .running
      effects.append(.wait(handle, milliseconds: timeToHoldBack(following)))
    }
  }

  private func timeToHoldBack(_ following: WindowFollower) -> UInt64 {
    min(Self.timeOfDoubt, following.settings.startTimeout / 2)
  }

  /// Takes the windows that were held back, since the command has opened none of its own.
  /// - Returns: whether that was the reason to wait.
  mutating func endHoldingBack(_ handle: Handle) -> Bool {
    guard let following = followed[handle], following.holdingBack == .running, following.isRunning else {
      return false
    }
    followed[handle]!.holdingBack = .over
    assignAll()
    if followed[handle]?.isAwaiting == true, !following.settings.isStartLimited, !following.isLate {
      effects.append(
        .wait(handle, milliseconds: following.settings.startTimeout - timeToHoldBack(following)))
    }
    return true
  }

  /// The facts of a window for the item of a program.
  /// - Parameter takes: the windows that the item takes; nil for those that its stage says.
  func facts(
    of window: TrackedWindow, for handle: Handle, takes: OwnershipFacts.Takes? = nil
  ) -> OwnershipFacts {
    let following = followed[handle]!
    let takes = takes ?? (disprovesGuess(window, of: handle, following) ? .further : following.takes)
    return OwnershipFacts(
      isDialog: window.properties.parent.flatMap { owner(of: $0) } == handle,
      process: takes == .nothing ? .none : process(of: window, for: handle, following),
      origin: takes == .nothing ? .none : origin(of: window, for: following),
      pattern: takes == .nothing ? .unwritten : pattern(of: window, for: handle, following),
      isNewer: isNewer(window, than: following), takes: takes)
  }

  /// Whether the window opened after the item began.
  private func isNewer(_ window: TrackedWindow, than following: WindowFollower) -> Bool {
    window.order > following.beginning.order
      || window.rank > following.beginning.order && !following.beginning.isUnknown
        && window.process.map { $0.started >= following.beginning.time } == true
      || following.beginning.isRestored && following.isAwaiting
        && following.beginning.earlierWindows?.contains(window.id) == false
  }

  private func process(
    of window: TrackedWindow, for handle: Handle, _ following: WindowFollower
  ) -> OwnershipFacts.Process {
    guard let process = window.process else { return isUntold(window) ? .untold : .none }
    if process.program == handle { return .own }
    if process.ancestor == handle { return .descendant }
    if process.started < following.beginning.time, !following.isUnlikelyToHandOver {
      if case .withdrawing = following.stage, hasEarlierOfUser(window, following) { return .foreign }
      guard isTwin(process, of: handle, following) else { return .handedOver }
      return isFirstWindow(window) ? .twin : .twinsNext
    }
    if following.hasHandedOver, let activated = process.activated, activated >= following.beginning.time {
      return .handedOver
    }
    return isOfSameDestination(process, following) ? .handedOver : .foreign
  }

  /// Whether a process is one that an earlier item of the destination has left.
  private func isOfSameDestination(_ process: WindowProcess, _ following: WindowFollower) -> Bool {
    guard let left = process.ancestor.flatMap({ followed[$0] }), case .leaving = left.stage else { return false }
    return !left.settings.destination.isEmpty && left.settings.destination == following.settings.destination
  }

  /// Whether its user may have started a process: also in a terminal or launcher that navd has opened.
  private func mayBeOfUser(_ process: WindowProcess, _ following: WindowFollower) -> Bool {
    process.program == nil && !isOfSameDestination(process, following)
  }

  /// Whether a program is one that its user has just started by the same command, as at a login, or in a terminal of another item.
  private func isTwin(_ process: WindowProcess, of handle: Handle, _ following: WindowFollower) -> Bool {
    process.twins.contains(handle) && mayBeOfUser(process, following)
      && following.beginning.time.milliseconds - process.started.milliseconds < Self.timeOfTwins
  }

  /// Whether there is no earlier window of the same process.
  private func isFirstWindow(_ window: TrackedWindow) -> Bool {
    !windows.all.values.contains { $0.rank < window.rank && $0.properties.pid == window.properties.pid }
  }

  /// Whether there is an earlier window of the same process that its user has, and that fits, too: the command may have asked for that one.
  private func hasEarlierOfUser(_ window: TrackedWindow, _ following: WindowFollower) -> Bool {
    windows.all.values.contains {
      $0.rank < window.rank && $0.owner == .none && $0.properties.pid == window.properties.pid && fits($0, following)
    }
  }

  /// Whether the adapter still has to tell the window's process.
  func isUntold(_ window: TrackedWindow) -> Bool {
    window.properties.pid == nil && capabilities?.contains(.pid) == true
  }

  private func origin(of window: TrackedWindow, for following: WindowFollower) -> OwnershipFacts.Origin {
    guard let id = freshStartupID(of: window) else { return .none }
    switch following.settings.startupID {
    case .made(id): return .made
    case .given(id): return .given
    default: return .another
    }
  }

  /// The startup id of a window; nil if it has none, or one that proves nothing: a long-running program that navd did not start may
  /// use the id of its start for all its windows.
  private func freshStartupID(of window: TrackedWindow) -> String? {
    guard let startupID = window.properties.startupID, !startupID.isEmpty else { return nil }
    let isOld = windows.byStartupID[startupID]?.contains { other in
      guard let earlier = windows[other] else { return false }
      return earlier.order < window.order && earlier.process?.program == nil
    }
    return isOld == true ? nil : startupID
  }

  private func pattern(
    of window: TrackedWindow, for handle: Handle, _ following: WindowFollower
  ) -> OwnershipFacts.Pattern {
    if fits(window, following), !isDoubtful(window, handle, following) { return .fits }
    return following.rule.pattern.isEmpty ? .unwritten : .doesNotFit
  }

  /// Whether a window that opened before another one may turn out to be the first one of an item.
  private func hasUndecided(for handle: Handle, before window: TrackedWindow) -> Bool {
    let following = followed[handle]!
    return windows.withoutProcess.contains { id in
      guard let other = windows[id], other.rank < window.rank, other.owner == .none, isUntold(other) else {
        return false
      }
      return isNewer(other, than: following) && pattern(of: other, for: handle, following) != .doesNotFit
    }
  }

  /// Whether there is a window of nobody whose process the adapter still has to tell.
  var hasUntold: Bool {
    guard capabilities?.contains(.pid) == true else { return false }
    return windows.withoutProcess.contains { windows[$0].map { $0.owner == .none } == true }
  }

  /// Whether a program shows a window that is not its item's, or may show one. A signal could end what its user does there.
  func showsWindowOfUser(_ program: Handle) -> Bool {
    guard let capabilities else { return followed[program]?.showedWindowOfUser == true }
    func isOfUser(_ id: String) -> Bool { windows[id].map { $0.owner != .presentation(program) } == true }
    if windows.byProgram[program]?.contains(where: isOfUser) == true { return true }
    return capabilities.contains(.pid) && windows.withoutProcess.contains(where: isOfUser)
  }

  /// Keeps in mind which programs show windows of their users, for a time without a window system, even after a restart of navd.
  mutating func noteWindowsOfUsers() {
    guard capabilities != nil else { return }
    var changed = windows.takeChangedPrograms()
    // An untold window may be of any program.
    if hasUntold != hadUntold {
      hadUntold.toggle()
      changed.formUnion(followed.all.keys)
    }
    for program in changed {
      guard let noted = followed[program]?.showedWindowOfUser, noted != showsWindowOfUser(program) else { continue }
      followed[program]!.showedWindowOfUser = !noted
      effects.append(.windowsChanged(program))
    }
  }

  /// Whether a window is one that the command opens as it starts, after a window of another program counted as its first one.
  private func disprovesGuess(_ window: TrackedWindow, of handle: Handle, _ following: WindowFollower) -> Bool {
    guard following.isGuessed, case .shown = following.stage, following.isRunning, following.guest == nil,
      let process = window.process, process.program == handle
    else { return false }
    return process.started.milliseconds < following.beginning.time.milliseconds + following.settings.startTimeout
  }

  /// Whether a window may be one that its user has just opened, and not one to which the command has handed over.
  private func isGuess(_ window: TrackedWindow, of handle: Handle, _ following: WindowFollower) -> Bool {
    guard following.isAwaiting, following.isRunning, origin(of: window, for: following) != .made else { return false }
    return process(of: window, for: handle, following) == .handedOver
  }

  /// Takes an earlier window as the first one if it comes forward after the program has handed over (N2).
  mutating func adopt(_ id: String, after changes: WindowProperties) {
    let window = windows[id]!
    guard changes.focused == true || changes.urgent == true || changes.title != nil else { return }
    let waiting = followed.waiting(for: .firstWindow).filter { handle in
      guard let following = followed[handle] else { return false }
      return following.rule.adopts && following.isAwaiting && !following.isRunning
        && following.rule.pattern.matches(window.properties)
    }
    if let handle = waiting.min() { give(id, to: handle) }
  }

  /// - Parameter guest: not nil for a window that stays its user's.
  mutating func give(_ id: String, to handle: Handle, as guest: WindowFollower.Guest? = nil) {
    guard let stage = followed[handle]?.stage else { return }
    if !isDialog(id, of: handle), windows[id]!.properties.parent.flatMap({ owner(of: $0) }) != handle {
      dropGuest(of: handle)
      if disprovesGuess(windows[id]!, of: handle, followed[handle]!) { dropGuess(of: handle) }
    }
    if isGuess(windows[id]!, of: handle, followed[handle]!) { followed[handle]!.isGuessed = true }
    if let guest { followed[handle]!.guest = guest }
    windows[id]!.owner = .presentation(handle)
    followed[handle]!.windows.append(id)
    followed[handle]!.hasHadWindow = true
    followed[handle]!.isRestarting = false
    let wasAwaiting = followed[handle]!.isAwaiting
    switch stage {
    case .awaiting, .unseen:
      followed[handle]!.stage = .shown
      effects.append(.stopWaiting(handle))
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
    stopExpecting(handle)
    place(id, of: handle)
    placeAsWritten(id, of: handle)
    if wasAwaiting { effects.append(.presented(presentation(of: handle))) }
    if guest?.isReplaceable == true {
      effects.append(.wait(handle, milliseconds: followed[handle]!.settings.startTimeout))
    }
    raiseIfUnseen(handle)
    if isDialog(id, of: handle) { askedUser(id, handle) }
    guard wasAwaiting, followed[handle]?.holdingBack == .running else { return }
    // Another item may have handed over to the program whose window was held back.
    followed[handle]!.holdingBack = .over
    assignAll()
  }
}
