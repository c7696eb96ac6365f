import PresentationModel

// MARK: Dismissing (N5, N6)

extension WindowTracker {
  /// What ends a presentation.
  public enum Cause: Sendable {
    /// A request of its user's.
    case request
    /// A rule, and no request: its user may have unsaved text, or another window in the program.
    case rule
    /// Its program hangs, or no window of it has opened.
    case failure
    /// Everything ends, so that no program stays with hidden windows (N8).
    case quit
  }

  /// Begins the dismissal of a presentation.
  /// - Parameters:
  ///   - isForced: whether the presentation ends without a question.
  ///   - isNew: whether the presentation has had its first window for less than ``timeToStart``.
  public mutating func dismiss(
    _ handle: Handle, isForced: Bool, because cause: Cause = .request, isNew: Bool = false
  ) {
    if claims[handle] != nil, !isShown(handle) {
      giveUpClaim(handle)
      return report(.dismissAnswered(handle, result: [:]))
    }
    let presentation = handle
    let handle = program(of: presentation)
    guard let following = followed[handle] else { return report(.dismissAnswered(presentation, result: [:])) }
    func mustSpare() -> Bool { (!isForced || cause != .request) && showsWindowOfUser(handle) }
    // Only its user's own force loses what is not saved.
    func sparesUser() -> Bool { cause == .rule && !following.rule.kills || mustSpare() }
    switch following.stage {
    case .requested:
      report(.dismissAnswered(presentation, result: [:]))
      drop(handle)
    case .recovered: break
    case .awaiting where cause == .failure && !isForced && following.isStarted && following.isRunning:
      followed[handle]!.stage = .withdrawing
      followed[handle]!.isDoubtful = true
      confirm(handle)
    case .awaiting: withdraw(handle)
    case .withdrawing: break
    case .unseen where following.hasLost && !isForced: reportDeclining(of: handle, Self.lossMessage)
    case .unseen where following.hasHadWindow && mustSpare(), .shown where isGone && mustSpare():
      if isForced { leaveUnseen(handle) } else { reportDeclining(of: handle, Self.userMessage) }
    case .unseen: endProgram(handle)
    case .lingering: leave(handle)
    case .shown where following.guest != nil: dismissGuest(handle, isForced: isForced, isFinal: cause == .quit)
    case .shown where isGone && (isForced || !mayHide(following)): endUnseen(handle)
    case .shown:
      if cause != .quit, mayHide(following) {
        hide(handle, isForced: isForced)
      } else if isForced {
        force(handle, sparesUser: sparesUser())
      } else {
        askToClose(handle, isNew: isNew)
      }
    case .hiding where cause == .quit && following.guest != nil: letGuestGo(handle)
    case .hiding: if cause == .quit { force(handle) } else if isForced { followed[handle]!.mustHide = true }
    case .closing(let closing): if isForced, !closing.isForced { force(handle, sparesUser: sparesUser()) }
    // The result comes in a moment.
    case .parked, .settling, .terminating: break
    case .leaving: reportDismissal(of: handle, result: following.result)
    }
  }

  /// Withdraws a presentation without a window. Its command may have handed over, or be about to, and the window would then stay.
  private mutating func withdraw(_ handle: Handle) {
    let following = followed[handle]!
    effects.append(.stopWaiting(handle))
    if following.rule.pattern.isEmpty, !hasUntold { return endUnused(handle) }
    followed[handle]!.stage = .withdrawing
    if following.isRunning, !hasUntold { effects.append(.wait(handle, milliseconds: Self.timeToEnd)) }
  }

  /// Ends the program of a presentation that has no window, unless its user has one there.
  private mutating func endUnused(_ handle: Handle) {
    if followed[handle]!.isRunning, showsWindowOfUser(handle) { leaveUnseen(handle) } else { endProgram(handle) }
  }

  /// Ends the program of a presentation that has no window to ask.
  private mutating func endProgram(_ handle: Handle) {
    let following = followed[handle]!
    guard following.isRunning else { return reportDismissal(of: handle, result: following.result) }
    followed[handle]!.stage = .terminating
    effects.append(.terminate(handle))
  }

  /// Ends a presentation whose windows cannot be reached any more, as where there never was an adapter (N2).
  private mutating func endUnseen(_ handle: Handle) {
    effects.append(.stopWaiting(handle))
    endProgram(handle)
  }

  /// Ends a presentation that has no window left (N3). If its program still runs, the program goes on unseen, unless it is to end.
  mutating func leave(_ handle: Handle) {
    let following = followed[handle]!
    effects.append(.stopWaiting(handle))
    guard following.isRunning else {
      return reportEnd(of: handle, failed: following.hasFailed, result: following.result)
    }
    followed[handle]!.stage = .leaving
    reportEnd(of: handle, failed: false, result: [:])
    endLeftovers()
  }

  /// Ends what is left of programs that are to end so, unless their user has a window there: then it ends with the last one.
  mutating func endLeftovers() {
    for handle in followed.waiting(for: .lastWindow).sorted() where !showsWindowOfUser(handle) {
      followed[handle]!.isLeftoverEnding = true
      confirm(handle)
    }
  }

  /// Checks that the window system still answers before the program gets a signal: without an answer, there may be a window that nobody
  /// has reported (N2).
  private mutating func confirm(_ handle: Handle) {
    let time = min(Self.timeOfSilence, followed[handle]!.settings.grace / 2)
    effects.append(.confirm(handle, milliseconds: time))
  }

  /// Notes that the window system has answered, after everything that it had to report.
  public mutating func confirmed(_ handle: Handle) {
    guard let following = followed[handle], following.isRunning else { return }
    switch following.stage {
    case .withdrawing where following.isDoubtful:
      followed[handle]!.isDoubtful = false
      if hasUntold { leaveUnseen(handle) } else { withdraw(handle) }
    case .closing(let closing) where !closing.isForced && following.rule.kills:
      if showsWindowOfUser(handle) || hasGuessedDialog(handle) {
        keep(handle, Self.userMessage)
      } else {
        endByForce(handle)
      }
    case .leaving where showsWindowOfUser(handle): followed[handle]!.isLeftoverEnding = false
    case .leaving: effects += [.terminate(handle), .wait(handle, milliseconds: following.settings.grace)]
    default: break
    }
  }

  /// Notes that the window system has not answered. The program goes on.
  public mutating func unconfirmed(_ handle: Handle) {
    guard let following = followed[handle] else { return }
    switch following.stage {
    case .withdrawing where following.isDoubtful: leaveUnseen(handle)
    case .closing(let closing) where !closing.isForced && following.rule.kills:
      keep(handle, "whether its windows are open is not known: \(Self.absence)")
    default: break
    }
  }

  static let userMessage = "its program still shows a window of its user's, and is not ended"

  /// Completes a dismissal and lets the program go on, since there may be a window that nobody has reported.
  private mutating func leaveUnseen(_ handle: Handle) {
    followed[handle]!.stage = .leaving
    reportDismissal(of: handle, result: followed[handle]!.result)
  }

  /// Checks that the window system has a capability that a dismissal needs, and declines the
  /// dismissal otherwise.
  mutating func isAble(to capability: WindowCapability, _ action: String, _ handle: Handle) -> Bool {
    if capabilities?.contains(capability) == true { return true }
    let why =
      capabilities == nil
      ? Self.absence : "the window-system adapter has no “\(capability.rawValue)”"
    reportDeclining(of: handle, "its windows cannot be \(action): \(why)")
    return false
  }

  mutating func askToClose(_ handle: Handle, isNew: Bool = false) {
    let following = followed[handle]!
    if following.guest != nil { return letGuestGo(handle) }
    guard isAble(to: .close, "asked to close", handle) else { return }
    let dialogs = following.windows.filter { isOpenDialog($0, of: handle) }
    followed[handle]!.stage = .closing(.init(isForced: false, dialogs: Set(dialogs), since: order))
    askWindows(of: handle, but: Set(dialogs))
    if isNew, dialogs.isEmpty {
      followed[handle]!.closing?.asksAgain = true
      effects.append(.wait(handle, milliseconds: Self.timeToAnswer))
    }
    limitParkedEnd(of: handle)
    if let dialog = dialogs.first { reportAsking(of: handle, windows[dialog]?.properties.title ?? "") }
  }

  mutating func askWindows(of handle: Handle, but dialogs: Set<String>) {
    for id in followed[handle]!.windows
    where !dialogs.contains(id) && !dialogs.contains(where: { isFor(id, dialog: $0) }) {
      followed[handle]!.closing?.unanswered.insert(id)
      effects.append(.close(window: id))
    }
  }

  mutating func askForeignWindows(of handle: Handle) {
    guard capabilities?.contains(.close) == true else { return }
    for id in followed[handle]!.windows where windows[id]?.process?.program != handle {
      effects.append(.close(window: id))
    }
  }

  /// - Parameter sparesUser: whether its windows are asked to close, and the program goes on.
  mutating func force(_ handle: Handle, sparesUser: Bool = false) {
    giveUpGuessedDialogs(of: handle)
    let following = followed[handle]!
    if following.guest != nil { return letGuestGo(handle) }
    if case .hiding = following.stage { followed[handle]!.mayBeHidden.formUnion(following.windows) }
    followed[handle]!.stage = .closing(.init(isForced: true, sparesUser: sparesUser, dialogs: [], since: order))
    effects.append(.stopWaiting(handle))
    if sparesUser {
      askWindows(of: handle, but: [])
    } else {
      askForeignWindows(of: handle)
      if following.isRunning { effects.append(.terminate(handle)) }
    }
    limitParkedEnd(of: handle)
  }

  /// Notes that a window was asked to close.
  public mutating func closeAnswered(_ id: String) {
    if let handle = owner(of: id) { followed[handle]?.closing?.unanswered.remove(id) }
  }

  /// Notes that a window cannot be asked to close.
  public mutating func closeRefused(_ id: String, _ message: String) {
    guard let handle = owner(of: id), let closing = followed[handle]?.closing, !closing.isForced else { return }
    keep(handle, "\(name(of: id)) cannot be asked to close: \(message)")
  }

  /// Notes that the grace period of a dismissal is over.
  public mutating func graceIsOver(for handle: Handle) {
    let handle = program(of: handle)
    guard let following = followed[handle] else { return }
    if let closing = following.closing, !closing.isForced, !following.rule.kills || following.hasLost,
      let id = following.windows.first
    {
      keep(handle, "\(name(of: id)) is still open")
    } else if let closing = following.closing, !closing.isForced, following.isRunning, let id = following.windows.first
    {
      guard capabilities != nil, closing.unanswered.isDisjoint(with: following.windows) else {
        return keep(handle, "\(name(of: id)) cannot be asked to close: \(Self.absence)")
      }
      confirm(handle)
    } else if following.isRunning, following.isDoubtful || isWithdrawing(following) && hasUntold {
      leaveUnseen(handle)
    } else if case .settling = following.stage {
      leave(handle)
    } else if case .hiding(let waiting) = following.stage, let id = waiting.min() {
      keepShown(handle, "\(name(of: id)) was not hidden")
    } else if following.closing?.sparesUser == true
      || following.isRunning && following.closing?.isForced != true && following.hasHadWindow
        && showsWindowOfUser(handle)
    {
      leaveUnseen(handle)
    } else if following.isRunning {
      endByForce(handle)
    } else if case .withdrawing = following.stage {
      reportDismissal(of: handle, result: following.result)
    }
  }

  private func isWithdrawing(_ following: WindowFollower) -> Bool {
    if case .withdrawing = following.stage { true } else { false }
  }

  private mutating func endByForce(_ handle: Handle) {
    followed[handle]!.isKilled = true
    effects.append(.kill(handle))
    limitParkedEnd(of: handle)
  }

  /// Keeps a presentation and its windows, and declines the dismissal.
  mutating func keep(_ handle: Handle, _ message: String) {
    giveUpGuessedDialogs(of: handle)
    let wasAsked = followed[handle]!.closing?.isForced == false
    followed[handle]!.stage = followed[handle]!.isParked ? .parked : .shown
    effects.append(.stopWaiting(handle))
    reportDeclining(of: handle, message)
    if wasAsked { presentParked(handle) }
  }

  /// Notes that the time of ``Effect/wait(_:milliseconds:)`` is over.
  /// - Parameter isInJob: whether the service manager has a job with the program's unit.
  public mutating func timeIsOver(for handle: Handle, isInJob: Bool = false) {
    guard let following = followed[handle] else { return }
    switch following.stage {
    case .lingering where following.isRestarting && isInJob:
      effects.append(.wait(handle, milliseconds: following.settings.startTimeout))
    case .lingering: lastWindowClosed(handle)
    case .settling: leave(handle)
    case .withdrawing: if !hasUntold { endUnused(handle) }
    case .awaiting: if !endHoldingBack(handle) { windowIsLate(handle) }
    case .unseen: adapterIsLate(for: handle)
    case .shown: followed[handle]!.guest?.isReplaceable = false
    case .closing(let closing) where !closing.isForced && closing.asksAgain:
      followed[handle]!.closing?.asksAgain = false
      askWindows(of: handle, but: closing.dialogs)
    case .closing(let closing) where following.isParked && (closing.isForced || !closing.hasAsked):
      limitIsOver(for: handle)
    case .terminating where following.isParked: limitIsOver(for: handle)
    case .closing(let closing) where !closing.isForced && closing.dialogs.isEmpty:
      if let id = following.windows.first { keep(handle, "\(name(of: id)) was kept open") }
    case .leaving: effects.append(.kill(handle))
    case .requested, .recovered, .closing, .hiding, .parked, .terminating: break
    }
  }

  /// Sets the grace period for the dismissal of a parked program, after which it ends or gets SIGKILL, like others (P14).
  private mutating func limitParkedEnd(of program: Handle) {
    guard let following = followed[program], following.isParked else { return }
    effects.append(.wait(program, milliseconds: following.settings.grace))
  }

  private mutating func limitIsOver(for program: Handle) {
    let following = followed[program]!
    if !following.isRunning, let id = following.windows.first { return keep(program, "\(name(of: id)) is still open") }
    guard following.isKilled else { return graceIsOver(for: program) }
    effects.append(.abandon(program))
    reportDismissal(of: program, result: [:])
  }

  func name(of id: String) -> String {
    guard let title = windows[id]?.properties.title, !title.isEmpty else { return "a window" }
    return "the window “\(title.prefix(80))”"
  }
}
