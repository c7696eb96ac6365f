import DBusValues
import PresentationModel

/// A state machine for the windows of presentations: which windows belong to them, and how they begin and end with their windows
/// (N1–N8). Its inputs are events of the window system, ends of programs, dismissals and times that are over. Its outputs are
/// ``Effect``s. It does no I/O and has no clock.
public struct WindowTracker {
  /// The consequences of an input, in this order.
  public enum Effect: Hashable, Sendable {
    /// Tell the window system how to show the first window of a program that is about to start.
    case expect(Handle, ExpectedWindow)
    /// Tell the window system that this window has come, or will not.
    case stopExpecting(Handle)
    /// Start the program.
    case start(Handle)
    /// The presentation has its first window (N2).
    case presented(Handle)
    /// Report a change of a presentation or of the focus.
    case report(Report)
    /// Ask the window to close. A refusal is the input ``WindowTracker/closeRefused(_:_:)``.
    case close(window: String)
    /// Hide the window. The answer is the input ``WindowTracker/hidden(_:)`` or ``WindowTracker/hideRefused(_:_:)``.
    case hide(window: String)
    /// Show a window that was hidden.
    case show(window: String)
    /// A parked program was to end, but its windows stay.
    case parkedStays(Handle, message: String)
    /// Give up the program, which did not end even by SIGKILL.
    case abandon(Handle)
    /// Give the window the focus.
    case activate(window: String)
    /// Bring the window to the place in use, with the focus.
    case summon(window: String)
    /// Move the window to the output.
    case move(window: String, output: String)
    /// Show the window where and as its file says.
    case place(window: String, WindowPlacement)
    /// Call ``WindowTracker/focusTimeIsOver()`` after so many milliseconds.
    case waitForFocus(milliseconds: UInt64)
    /// Call ``WindowTracker/arrivalTimeIsOver()`` after so many milliseconds. This replaces the earlier timer.
    case waitForArrival(milliseconds: UInt64)
    /// Cancel the call of ``WindowTracker/focusTimeIsOver()``.
    case stopWaitingForFocus
    /// Ask the window system for a sign of life, since there may be windows that it has not reported. The answer is the input
    /// ``WindowTracker/confirmed(_:)`` or ``WindowTracker/unconfirmed(_:)``. `milliseconds`: the longest time to wait.
    case confirm(Handle, milliseconds: UInt64)
    /// Send SIGTERM to the program.
    case terminate(Handle)
    /// Send SIGKILL to the program.
    case kill(Handle)
    /// Call ``WindowTracker/timeIsOver(for:)`` after so many milliseconds. This replaces the earlier timer of the presentation.
    case wait(Handle, milliseconds: UInt64)
    /// Cancel the timer of the presentation.
    case stopWaiting(Handle)
    /// The windows of the presentation have changed; record them.
    case windowsChanged(Handle)
    /// Nothing is left of the presentation and its program.
    case released(Handle)
  }

  /// Milliseconds in which a program may end by itself after its last window, so that it gives its result: a dialog closes its window
  /// before it prints the answer.
  static let timeToEnd: UInt64 = 250
  /// Milliseconds for which a starting program may have no window, for instance between a splash screen and the next window.
  static let timeBetweenWindows: UInt64 = 2000
  /// Milliseconds for which a window may stay after its dialog has closed, before it counts as
  /// kept.
  static let timeAfterDialog: UInt64 = 500
  /// Milliseconds in which a program may close a window or ask its user, before a request that came
  /// while the program was starting counts as lost.
  static let timeToAnswer: UInt64 = 500
  /// Milliseconds before an item, in which its user may have started another program in the same moment (N1).
  static let timeOfSameMoment: UInt64 = 3000
  /// Milliseconds before an item, in which its user may have started a program by the same command line that has no window yet (N1).
  /// Slow programs take that long at a login.
  static let timeOfTwins: UInt64 = 60_000
  /// Milliseconds for which the first window of such a program waits for one of the item's command.
  static let timeOfDoubt: UInt64 = 1000
  /// Milliseconds for which the window system may leave a request unanswered before it counts as
  /// absent.
  public static let timeOfSilence: UInt64 = 3000
  /// Milliseconds after the first window for which a program counts as starting.
  public static let timeToStart: UInt64 = 1000
  /// Milliseconds without a focused window after which the focus counts as lost (N9).
  static let timeWithoutFocus: UInt64 = 250
  /// Milliseconds for which a window that was asked to come into view counts as being there, until the window system says where it is.
  static let timeToArrive: UInt64 = 500
  /// Cap of tracked windows. A user has hundreds; an adapter that reports more than this is broken.
  public static let maxWindows = 1024

  /// The windows of the window system, by their ids.
  var windows = TrackedWindows()
  /// The presentations, by the handles for which their programs were started.
  var followed = FollowedPrograms()
  /// The windows that the previous navd has recorded, by the handles for which the programs were started.
  var recorded: [Handle: [Window]] = [:]
  /// The present ids of the recorded windows, found for all of them at once; nil before that.
  var namesOfRecorded: RecordedNames?
  /// The parked programs that presentations show again, or are about to, by the handles of these presentations (N8).
  var claims: [Handle: Handle] = [:]
  /// The number of the last window or presentation, in their common order.
  var order: UInt64 = 0
  /// The display of the window system; nil while it is not known.
  var display: DisplayNames?
  /// The capabilities of the window system; nil while there is none.
  var capabilities: Set<WindowCapability>?
  /// Whether no window system is there for now: there has been none, it did not come back, or it does not answer.
  var isAbsent = true
  /// Whether the window system that is absent is on the bus, but does not answer.
  var isSilent = false
  /// Whether the window system that is absent may be starting with navd.
  var isStarting = false
  /// Whether a window system is expected to come: the session starts one, or there was one (N13).
  var isExpected = false
  /// The order of windows that open while there is no window system.
  var orderOfAbsence: UInt64 = 0
  /// The focused window and its presentation, as last reported.
  var focus: (window: String, handle: Handle?)?
  /// Whether the window of `focus` has lost the focus, and no other window has it yet.
  var isWithoutFocus = false
  /// The window that navd itself has activated, until some window has the focus.
  var activated: String?
  /// The window that navd itself moves to another output, until it is there or has lost the focus.
  var moved: String?
  /// The windows that navd has asked to come into view, until the window system tells where they are (N11).
  var arriving: Set<String> = []
  /// The value of ``hasUntold`` at the end of the last input.
  var hadUntold = false
  /// The windows that the previous navd has given up, and that the first window system is to show (N8).
  var leftHidden: [Window] = []
  var effects: [Effect] = []
  /// The largest number of parked programs, beyond which windows are closed (N8).
  let maxParked: Int

  public init(maxParked: Int = 64) { self.maxParked = maxParked }

  public mutating func takeEffects() -> [Effect] {
    noteWindowsOfUsers()
    defer { effects = [] }
    return effects
  }

  /// The windows of a presentation, in the order in which the presentation got them.
  public func windows(of handle: Handle) -> [Window] {
    (followed[program(of: handle)]?.windows ?? []).compactMap { id in
      windows[id].map { Window(id: id, $0.properties) }
    }
  }

  /// The program to which a window belongs.
  func owner(of window: String) -> Handle? {
    if case .presentation(let handle)? = windows[window]?.owner { handle } else { nil }
  }

  /// The presentation whose window has the focus; nil if none has.
  public var focused: Handle? { isWithoutFocus ? nil : focus?.handle.map(presentation) }

  /// Whether the window with the focus is fullscreen, and belongs to no presentation (H2).
  public var isOtherFullscreen: Bool {
    guard capabilities != nil, let id = focus?.window, let window = windows[id], owner(of: id) == nil else {
      return false
    }
    return window.properties.focused == true && window.properties.fullscreen == true
  }

  /// The windows that were there before a presentation; nil if there has never been a window system.
  public func windowsBefore(_ handle: Handle) -> Set<String>? { followed[handle]?.beginning.earlierWindows }

  /// Whether a presentation has ever had a window.
  public func hasHadWindow(_ handle: Handle) -> Bool { followed[handle]?.hasHadWindow == true }

  /// Whether the program of a presentation shows a window of its user's, or did so when there was last a window system.
  public func showedWindowOfUser(_ handle: Handle) -> Bool { followed[handle]?.showedWindowOfUser == true }

  /// Whether the windows of a presentation are its user's again if the command opens one (N1).
  public func isGuessed(_ handle: Handle) -> Bool { followed[handle]?.isGuessed == true }

  /// Whether the last window of a presentation is gone, and another one may still open (N3).
  public func isBetweenWindows(_ handle: Handle) -> Bool {
    if case .lingering? = followed[program(of: handle)]?.stage { true } else { false }
  }

  /// Whether another presentation stays on the screen until this one is there, and its first window has not settled (G10).
  public func takesOver(_ handle: Handle) -> Bool { followed[program(of: handle)]?.takesOver == true }

  /// The programs that may still get their first window, and when they began. Only for these it matters who has started the process of a
  /// window (N1).
  public var awaiting: [Handle: BootTime] {
    followed.all.filter { handle, following in
      guard case .recovered = following.stage else { return following.interest == .firstWindow }
      // Its beginning is not known yet, and counts as long ago.
      return recorded[handle]?.isEmpty != false
    }.mapValues(\.beginning.time)
  }

  /// Whether the program of a presentation says when it is on the screen (D19).
  public func awaitsReady(_ handle: Handle) -> Bool { followed[program(of: handle)]?.settings.awaitsReady == true }

  /// Whether windows of a presentation were lost, since they cannot be told from others.
  public func hasLost(_ handle: Handle) -> Bool { followed[handle]?.hasLost == true }

  /// Whether only the program of a presentation is left, whose windows belong to no presentation.
  public func isLeft(_ program: Handle) -> Bool { if case .nobody? = followed[program]?.role { true } else { false } }

  /// The name of a program's destination; nil for a command of a request.
  public func destination(of program: Handle) -> String? {
    followed[program].flatMap { $0.settings.destination.isEmpty ? nil : $0.settings.destination }
  }

  /// The time at which a presentation began; nil if it has not begun.
  public func beginning(of program: Handle) -> BootTime? {
    followed[program].flatMap { $0.hasBegun ? $0.beginning.time : nil }
  }

  /// Whether a presentation, or a parked program, follows windows.
  public func follows(_ handle: Handle) -> Bool { followed[program(of: handle)] != nil }

  // MARK: Presentations

  /// Prepares a presentation to start. ``begin(_:)`` starts it, once the earlier windows are known.
  /// - Parameters:
  ///   - output: the output on which the windows are to appear; nil to leave it to the window system (U1).
  ///   - mustBeSeen: whether a key has asked for the presentation, so that its first window comes out from behind a fullscreen one (N7).
  ///   - takesOver: whether another presentation stays on the screen until this one is there, so that its first window comes out from
  ///     behind that one's when it has settled (G10).
  public mutating func request(
    _ handle: Handle, _ rule: WindowFollowing, _ settings: FollowingSettings, output: String? = nil,
    mustBeSeen: Bool = false, takesOver: Bool = false
  ) {
    followed[handle] = WindowFollower(.requested, rule, settings, output: output, for: .presentation(handle))
    followed[handle]!.mustBeSeen = mustBeSeen
    followed[handle]!.takesOver = takesOver
    findDisplay(of: handle)
  }

  /// Whether a presentation is to start, or to show a parked program again, and has neither begun nor been dismissed.
  public func isRequested(_ handle: Handle) -> Bool {
    if claims[handle] != nil { return !isShown(handle) }
    if case .requested? = followed[handle]?.stage { return true }
    return false
  }

  /// Begins a presentation that was requested, and starts its program.
  public mutating func begin(_ handle: Handle, at now: BootTime) {
    guard var following = followed[handle], case .requested = following.stage else { return }
    order += 1
    (following.beginning.order, following.beginning.time) = (order, now)
    following.stage = .awaiting
    // While the window system is away, unknown windows may open.
    if capabilities != nil { following.beginning.earlierWindows = Set(windows.all.keys) }
    followed[handle] = following
    effects.append(.windowsChanged(handle))
    stayBehind(handle)
    expectFirstWindow(of: handle)
    effects.append(.start(handle))
    expectWindow(of: handle)
  }

  /// Forgets a presentation that could not be started.
  public mutating func drop(_ handle: Handle) {
    if claims[handle] != nil { giveUpClaim(handle) } else { release(handle) }
  }

  /// Notes that the end of a presentation is on record. Its remaining processes still end.
  public mutating func forget(_ handle: Handle) {
    let program = program(of: handle)
    claims[handle] = nil
    guard let following = followed[program] else { return effects.append(.released(program)) }
    if following.isParked { return }
    letEndOrRelease(program)
  }

  /// Leaves a running program alone until its end; releases one that does not run.
  private mutating func letEndOrRelease(_ program: Handle) {
    guard let following = followed[program] else { return }
    if case .leaving = following.stage, following.isRunning {
      uncoverWindows(of: program)
      (followed[program]!.showing, followed[program]!.mayBeHidden) = ([], [])
      followed[program]!.role = .nobody
    } else {
      release(program)
    }
  }

  mutating func release(_ program: Handle) {
    guard let following = followed[program] else { return }
    uncoverWindows(of: program)
    stopExpecting(program)
    followed[program] = nil
    for window in following.windows { windows[window]?.owner = following.guest == nil ? .former : .none }
    effects += [.stopWaiting(program), .released(program)]
  }

  // MARK: Reports

  /// The program of a presentation, by the handle for which the program was started.
  public func program(of handle: Handle) -> Handle { claims[handle] ?? handle }

  /// The presentation that a program is shown for; for a parked program, the one that it was started for.
  public func presentation(of program: Handle) -> Handle {
    if case .presentation(let handle)? = followed[program]?.role { handle } else { program }
  }

  mutating func nextRank() -> UInt64 {
    order += 1
    return order
  }

  mutating func report(_ report: Report) { effects.append(.report(report)) }

  mutating func reportEnd(of program: Handle, failed: Bool, result: Properties) {
    if !endedParked(program) { report(.ended(presentation(of: program), failed: failed, result: result)) }
  }

  mutating func reportDismissal(of program: Handle, result: Properties) {
    if !endedParked(program) { report(.dismissAnswered(presentation(of: program), result: result)) }
  }

  mutating func reportDeclining(of program: Handle, _ message: String) {
    guard followed[program]?.isParked == true else {
      return report(.declined(presentation(of: program), message: message))
    }
    effects += [.stopWaiting(program), .parkedStays(program, message: message)]
  }

  mutating func reportAsking(of program: Handle, _ message: String) {
    guard followed[program]?.isParked == true else {
      return report(.asking(presentation(of: program), message: message))
    }
    effects += [.stopWaiting(program), .parkedStays(program, message: message)]
    presentParked(program)
  }

  /// Has a parked program presented again that was asked to end, and stays: it may ask its user, who has to see that (N8).
  mutating func presentParked(_ program: Handle) {
    if capabilities != nil, followed[program]?.isParked == true { report(.parkedShown(program)) }
  }

  /// - Returns: whether the program was parked.
  private mutating func endedParked(_ program: Handle) -> Bool {
    guard let following = followed[program], following.isParked else { return false }
    report(.parkedEnded(program))
    letEndOrRelease(program)
    return true
  }

  // MARK: Programs

  /// Notes that the program of a presentation runs. Without a window system, this is all that can be known of its windows.
  public mutating func programStarted(_ handle: Handle) {
    guard followed[handle] != nil else { return }
    followed[handle]!.isStarted = true
    showUnseen(handle)
  }

  /// Notes that all processes of a presentation's program have ended, or that the program could not be started.
  /// - Parameter failed: whether the program could not be started or has crashed.
  public mutating func programEnded(_ handle: Handle, failed: Bool, result: Properties) {
    guard var following = followed[handle] else { return }
    following.program = .ended(failed: failed, result)
    followed[handle] = following
    if capabilities == nil { closeWindowsOfProcesses(of: handle) }
    guard followed[handle] != nil else { return }
    switch following.stage {
    case .awaiting: programEndedWithoutWindow(handle, failed: failed, result: result)
    case .withdrawing:
      effects.append(.stopWaiting(handle))
      if failed || result.hasExitedInError || following.isKilled {
        reportDismissal(of: handle, result: result)
      } else {
        // The window that the command has left to another program may be there already.
        assignAll()
      }
    // No window follows a splash screen any more.
    case .lingering where following.rule.linger == nil: leave(handle)
    case .requested, .recovered, .shown, .lingering, .hiding, .parked: break
    case .unseen: programEndedUnseen(handle, failed: failed, result: result)
    case .closing: if followed[handle]!.windows.isEmpty { reportDismissal(of: handle, result: result) }
    case .settling:
      effects.append(.stopWaiting(handle))
      reportEnd(of: handle, failed: failed, result: result)
    case .terminating: reportDismissal(of: handle, result: result)
    case .leaving: release(handle)
    }
  }

  /// Closes the windows of a program whose processes have ended: no window system reports that they are gone.
  mutating func closeWindowsOfProcesses(of handle: Handle) {
    guard let following = followed[handle] else { return }
    for window in following.windows where windows[window]?.process?.program == handle {
      closed(window, at: following.beginning.time)
    }
  }

  /// Handles the end of a program before it had a window: it failed, or has handed over to a process that ran before (N2).
  private mutating func programEndedWithoutWindow(_ handle: Handle, failed: Bool, result: Properties) {
    if failed { return reportEnd(of: handle, failed: true, result: result) }
    if result.hasExitedInError, let status = result[PresentationResult.keys.status] {
      var result = result
      let lastLine = result[PresentationResult.keys.error].map { ": \($0)" } ?? ""
      result[PresentationResult.keys.error] =
        "its program ended with status \(status) before it had a window\(lastLine)"
      return reportEnd(of: handle, failed: true, result: result)
    }
    // A window that has opened since the start timeout may be its user's, so it can only be a guest.
    if followed[handle]!.isLate { followed[handle]!.beginning.order = order }
    // A program that the bus has started for the command may have shown its window before the command ended.
    assignAll()
    guard let following = followed[handle], following.isAwaiting else { return }
    awaitHandedOver(handle)
    guard following.rule.adopts else { return }
    let rule = following.rule
    let forward = windows.all.filter { _, window in
      window.owner == .none && (window.properties.focused == true || window.properties.urgent == true)
        && rule.pattern.matches(window.properties)
    }
    // A window with the focus comes before one that only asks for it.
    let first = forward.min { a, b in
      (a.value.properties.focused == true ? 0 : 1, a.key) < (b.value.properties.focused == true ? 0 : 1, b.key)
    }
    if let first { give(first.key, to: handle) }
  }
}

extension Properties {
  /// Whether a command has ended with another status than 0, and so has not handed over (N2).
  var hasExitedInError: Bool { self[PresentationResult.keys.status].map { $0 != 0 } ?? false }
}
