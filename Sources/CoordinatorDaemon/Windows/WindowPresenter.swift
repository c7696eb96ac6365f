import CLinux
import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import Logging
import PresentationModel
import PresentationRules
import Processes
import TextFormats
import WindowRules

/// Shows items by their windows: filters the reports of presenters that start and end programs, and
/// carries out the decisions of the ``WindowTracker`` (N1–N6).
final class WindowPresenter: WindowArranger, ReportReceiver {
  private typealias Rows = WindowSystemInterface

  /// A program whose windows are followed, as this presenter keeps it. The tracker keeps its stage.
  private struct Program {
    /// The presenter that starts and ends the program.
    let presenter: any ProcessPresenter
    /// The presentation for which the program is to be started, and the item as every presenter receives it.
    var start: (presentation: Presentation, properties: Properties)?
    var timer: Timer?
    /// The time of the program's first window.
    var shown: EventLoop.Instant?
    /// Whether it was a window, and not only a program whose windows are not seen.
    var hasWindow = false
    /// Milliseconds from that time until the presentation counts as presented (N2), and what waits for it.
    var settle: UInt64 = 0
    var settling: Timer?
  }

  private let loop: EventLoop
  private let system: WindowSystem
  private let log: Logger
  private let facts: SessionFacts?
  private let focus: SessionFocus
  private let reports: any ReportReceiver
  private var tracker: WindowTracker
  /// The programs, by the handles for which they were started.
  private var programs: [Handle: Program] = [:]
  private var isPerforming = false
  private var record = WindowRecord()
  /// Runs while no window has the focus: another one may get it in a moment (N9).
  private var focusTimer: Timer?
  /// Runs while windows that navd has asked to come into view may not be there yet (N11).
  private var arrivalTimer: Timer?
  private var isOtherFullscreen = false

  /// - Parameters:
  ///   - maxParked: the limit of parked programs (N8).
  ///   - facts: learns whether the focused window is fullscreen and belongs to no presentation
  ///     (H2); nil if it is not to learn that.
  ///   - focus: knows whether the focus of this display counts.
  init(
    loop: EventLoop, _ system: WindowSystem, maxParked: Int, _ facts: SessionFacts?, _ focus: SessionFocus, log: Logger,
    reports: any ReportReceiver
  ) {
    self.loop = loop
    self.system = system
    tracker = WindowTracker(maxParked: maxParked)
    self.log = log
    self.facts = facts
    self.focus = focus
    self.reports = reports
    system.observer = self
  }

  /// Assigns the presenter that runs the program of a presentation.
  func follow(_ presentation: Presentation, runBy presenter: any ProcessPresenter) {
    let program = presentation.program ?? presentation.handle
    guard programs[program] == nil else { return }
    programs[program] = Program(presenter: presenter)
    programs[program]!.settle = presentation.item.content.following?.settle ?? 0
  }

  /// The known facts of the process that shows a window (N1).
  /// - Parameter awaiting: the tracker's, read before: the tracker asks for processes while it changes.
  private func process(of window: Window, _ awaiting: [Handle: BootTime]) -> WindowProcess? {
    guard let pid = window.properties.pid, pid > 1 else { return nil }
    let process = ProcessOrigin(of: pid_t(truncatingIfNeeded: pid))
    func first(where isOf: (any ProcessPresenter, Handle) -> Bool) -> Handle? {
      programs.filter { isOf($0.value.presenter, $0.key) }.keys.min()
    }
    let program = first { $0.runs($1, process) }
    guard let started = process.started else { return nil }
    return WindowProcess(
      program: program, ancestor: program ?? first { $0.hasStarted($1, process) },
      started: BootTime(milliseconds: started),
      activated: awaiting.values.min().flatMap { process.activated(since: $0.milliseconds) }
        .map { BootTime(milliseconds: $0) },
      twins: Set(awaiting.keys.filter { programs[$0]?.presenter.repeats($0, process) == true }))
  }

  /// Whether the windows of a program are followed here, or of the presentation that shows one.
  func follows(_ handle: Handle) -> Bool { programs[tracker.program(of: handle)] != nil }

  var isIdle: Bool { programs.isEmpty && tracker.windowsToShow.isEmpty }

  /// The presentation whose window has the focus on this display; nil if none has.
  var focused: Handle? { tracker.focused }

  /// Whether the manager of a program's unit has a job with it.
  private func isInJob(_ program: Handle) -> Bool { programs[program]?.presenter.isInJob(program) == true }

  // MARK: Observing the window system

  /// True if a presentation follows windows, or if windows are to be shown again; otherwise the window system need not be observed.
  var needsWindows: Bool { programs.keys.contains { !tracker.isLeft($0) } || !tracker.windowsToShow.isEmpty }

  /// Receives every window after the window system has appeared, or after signals were missed.
  /// - Parameter isSameAdapter: whether the same adapter reported the windows before.
  func windowSystemArrived(_ capabilities: Set<WindowCapability>, _ windows: [Window], isSameAdapter: Bool) {
    let awaiting = tracker.awaiting
    track {
      $0.setDisplay(system.display)
      $0.arrived(capabilities, windows, isSameAdapter: isSameAdapter, at: .now) { process(of: $0, awaiting) }
    }
  }

  func windowSystemLeft() { track { $0.left() } }

  /// Handles the absence of the adapter: there has been none, it has left and not come back, or it does not answer.
  func windowSystemBecameAbsent(isSilent: Bool, isExpected: Bool, isStarting: Bool) {
    track { $0.becameAbsent(isSilent: isSilent, isExpected: isExpected, isStarting: isStarting) }
  }

  /// Handles the loss of outputs. Events of their windows follow.
  func outputsGone(_ gone: Set<String>) { track { $0.outputsGone(gone) } }

  func windowChanged(_ event: WindowEvent.Kind) {
    switch event {
    case .opened(let window):
      let process = process(of: window, tracker.awaiting)
      track { $0.opened(window, by: process) }
    case .changed(let id, let changed):
      let awaiting = changed.pid == nil ? [:] : tracker.awaiting
      track { $0.changed(id, changed, by: process(of: Window(id: id, changed), awaiting)) }
    case .closed(let id): track { $0.closed(id, at: .now, isInJob: isInJob) }
    }
  }

  // MARK: Presenting

  func present(_ presentation: Presentation, _ properties: Properties) {
    let handle = presentation.handle
    guard let following = presentation.item.content.following else { return }
    if let program = presentation.program {
      tracker.claim(program, for: handle)
      return system.whenKnown { [self] in showAgain(presentation) }
    }
    if tracker.follows(handle) {
      if presentation.comesForward { return settled(handle) }
      // The previous navd has started the program.
      if !tracker.windows(of: handle).isEmpty { reports.take(.presentAnswered(handle, error: nil)) }
      return
    }
    programs[handle]?.start = (presentation, properties)
    tracker.request(
      handle, following, settings(of: presentation), output: presentation.item.output,
      mustBeSeen: presentation.mustBeSeen, takesOver: presentation.takesOver)
    system.whenKnown { [self] in begin(handle, following) }
  }

  private func settings(of presentation: Presentation) -> FollowingSettings {
    let destination = presentation.item.destination
    return FollowingSettings(
      destination: destination?.name ?? "", grace: destination?.grace ?? Destination.defaultGrace,
      startTimeout: destination?.startTimeout ?? Destination.defaultStartTimeout,
      isStartLimited: destination?.startLimit != nil,
      awaitsReady: destination?.itemSettings?.awaitsReady == true,
      startupID: programs[presentation.program ?? presentation.handle]?.presenter.startupID(of: presentation),
      display: presentation.item.content.display)
  }

  private func begin(_ handle: Handle, _ following: WindowFollowing) {
    guard tracker.isRequested(handle), let presentation = programs[handle]?.start?.presentation else { return }
    if !system.isPresent {
      log.warning(
        "no adapter for the window system is on the bus, so windows are not seen; start navd-windows",
        metadata: ["presentation": "\(handle)"])
    }
    suggest(handle, presentation)
    if system.isPresent, tracker.isOnOtherDisplay(handle) {
      log.notice(
        "the adapter is on another display, so windows of this item are not seen",
        metadata: ["presentation": "\(handle)"])
      return track { $0.begin(handle, at: .now) }
    }
    if let error = system.whyNot(following, on: presentation.item.output, tracker.suggestion(for: handle)) {
      return refuse(handle, error)
    }
    track { $0.begin(handle, at: .now) }
    // A window system that does not answer would let the program wait in vain for its window (N2).
    if system.isPresent { system.confirm() }
  }

  /// Gives the tracker the application id that the command suggests, where processes are not known.
  private func suggest(_ handle: Handle, _ presentation: Presentation) {
    guard let destination = presentation.item.destination, destination.window?.pattern.isEmpty == true,
      system.whyNot(.pid, for: "") != nil
    else { return }
    tracker.suggest(SuggestedAppID(of: destination.content, system.desktopEntries), for: handle)
  }

  /// Shows the windows of a parked program again (N8).
  private func showAgain(_ presentation: Presentation) {
    let handle = presentation.handle
    guard tracker.isRequested(handle) else { return }
    guard system.isPresent else {
      return refuse(
        handle, "its windows cannot be shown again: no window-system adapter is on the bus; start navd-windows")
    }
    if let why = system.whyNot(.hide, for: "showing its hidden windows again") { return refuse(handle, why) }
    let (output, placement) = (presentation.item.output, presentation.item.content.following?.placement)
    guard tracker.showAgain(handle, on: output, comesHere: presentation.bringsHere, placement) else {
      return refuse(handle, "its hidden program has just ended; present it again")
    }
    perform()
  }

  private func refuse(_ handle: Handle, _ error: String) {
    track { $0.drop(handle) }
    reports.take(.presentAnswered(handle, error: error))
  }

  /// Starts a program once the windows that exist before it are on record: after a crash of navd,
  /// none of them is taken for the item's window.
  private func start(_ handle: Handle) {
    loop.soon { [self] in
      guard let start = programs[handle]?.start else { return }
      programs[handle]!.start = nil
      programs[handle]!.presenter.present(start.presentation, start.properties)
    }
  }

  /// Does nothing: a program that was started gets its item once (D8).
  func update(_ presentation: Presentation, _ properties: Properties, author: Client?) {}

  // MARK: Reports of programs

  /// Takes the report of a presenter that runs programs, and passes on what it says about an item.
  func take(_ report: Report) {
    switch report {
    case .presentAnswered(let handle, error: nil) where tracker.follows(handle):
      // A program that runs has no window yet.
      track { $0.programStarted(handle) }
    case .presentAnswered(let handle, _) where tracker.follows(handle):
      tracker.drop(handle)
      reports.take(report)
      perform()
    case .dismissAnswered(let handle, let result) where tracker.follows(handle):
      track { $0.programEnded(handle, failed: false, result: result) }
    case .ended(let handle, let failed, let result) where tracker.follows(handle):
      track { $0.programEnded(handle, failed: failed, result: result) }
    default: reports.take(report)
    }
  }

  /// Records the data of a program's presenter, together with the program's windows if they are followed.
  func remember(_ memory: Properties, of handle: Handle) {
    if tracker.follows(handle) { record.note(memory, of: handle) } else { reports.remember(memory, of: handle) }
  }

  /// Records the windows that changed in a turn.
  func recordChanges() {
    let display = system.name == Rows.bus ? nil : system.name
    for (handle, memory) in record.takeChanges(tracker, on: display) { reports.remember(memory, of: handle) }
  }

  // MARK: Ending

  func dismiss(_ handle: Handle, _ reason: Reason, isRequested: Bool, animated: Bool, isForced: Bool) {
    // A program that has not been asked to start is not asked to end.
    if programs[handle]?.start != nil {
      track { $0.drop(handle) }
      return reports.take(.dismissAnswered(handle, result: [:]))
    }
    let isNew = programs[tracker.program(of: handle)]?.shown.map {
      loop.now - $0 < .milliseconds(WindowTracker.timeToStart)
    }
    let cause = reason.cause(isRequested: isRequested)
    track { $0.dismiss(handle, isForced: isForced, because: cause, isNew: isNew ?? false) }
  }

  func kill(_ handle: Handle) { track { $0.graceIsOver(for: handle) } }

  func raise(_ handle: Handle) { track { $0.raise(handle) } }

  func bring(_ handle: Handle, to output: String?) { track { $0.bring(handle, to: output) } }

  func move(_ presentation: Presentation) {
    let handle = presentation.handle
    if let start = programs[handle]?.start { programs[handle]!.start = (presentation, start.properties) }
    track {
      $0.move(handle, to: presentation.item.output)
      $0.place(handle, presentation.item.content.following?.placement)
    }
  }

  func abandon(_ handle: Handle) {
    let windows = tracker.windows(of: handle).map { $0.properties.title ?? $0.id }
    let program = tracker.program(of: handle)
    if windows.isEmpty {
      programs[program]?.presenter.abandon(program)
    } else {
      log.error("windows could not be closed, and count as gone: \(windows)", metadata: ["presentation": "\(handle)"])
    }
  }

  func forget(_ handle: Handle) {
    track { $0.forget(handle) }
    system.restIfUnneeded()
  }

  func endParked(_ program: Handle, isForced: Bool) { track { $0.endParked(program, isForced: isForced) } }

  func releaseParked(_ program: Handle) { track { $0.releaseParked(program) } }

  private func release(_ program: Handle) {
    guard let released = programs.removeValue(forKey: program) else { return }
    released.timer?.cancel()
    released.settling?.cancel()
    record.forget(program)
    released.presenter.forget(program)
    system.restIfUnneeded()
  }

  // MARK: Carrying out

  /// Gives an input to the tracker, and carries out what follows.
  private func track(_ change: (inout WindowTracker) -> Void) {
    change(&tracker)
    perform()
  }

  private func perform() {
    guard !isPerforming else { return }
    isPerforming = true
    defer { isPerforming = false }
    while case let effects = tracker.takeEffects(), !effects.isEmpty {
      for effect in effects { perform(effect) }
    }
    guard let facts, tracker.isOtherFullscreen != isOtherFullscreen else { return }
    isOtherFullscreen = tracker.isOtherFullscreen
    facts.set(.fullscreen, isOtherFullscreen, by: .windows)
  }

  private func perform(_ effect: WindowTracker.Effect) {
    switch effect {
    case .expect(let program, let window): expect(program, window.options)
    case .stopExpecting(let program): expect(program, [:])
    case .start(let program): start(program)
    case .presented(let handle):
      let program = tracker.program(of: handle)
      guard programs[program]?.shown == nil else { return reports.take(.presentAnswered(handle, error: nil)) }
      programs[program]?.shown = loop.now
      programs[program]?.hasWindow = !tracker.windows(of: handle).isEmpty
      settle(handle)
    case .report(let report): if focus.counts(report, on: system.name) { reports.take(noting(report)) }
    case .parkedStays(let program, let message):
      log.notice("a hidden program does not end: \(message)", metadata: ["presentation": "\(program)"])
      reports.take(.parkedStays(program, message: message))
    case .abandon(let program): programs[program]?.presenter.abandon(program)
    case .hide(let id):
      system.request(Rows.hide, id) { [weak self] in
        self?.track { $0.hidden(id) }
      } refused: { [weak self] message in
        self?.track { $0.hideRefused(id, message) }
      }
    case .show(let id): show(id, by: Rows.show, "shown again")
    case .close(let id):
      system.request(Rows.close, id) { [weak self] in
        self?.tracker.closeAnswered(id)
      } refused: { [weak self] message in
        self?.track { $0.closeRefused(id, message) }
      }
    case .terminate(let handle):
      programs[handle]?.presenter.dismiss(
        handle, .dismissed, isRequested: true, animated: false, isForced: true)
    case .confirm(let handle, let milliseconds):
      system.confirm(within: .milliseconds(Int64(clamping: milliseconds))) { [weak self] hasAnswered in
        self?.track { if hasAnswered { $0.confirmed(handle) } else { $0.unconfirmed(handle) } }
      }
    case .kill(let handle): programs[handle]?.presenter.kill(handle)
    case .wait(let handle, let milliseconds):
      programs[handle]?.timer?.cancel()
      programs[handle]?.timer = loop.timer(after: .milliseconds(Int64(clamping: milliseconds))) { [weak self] in
        guard let self else { return }
        track { $0.timeIsOver(for: handle, isInJob: isInJob(handle)) }
      }
    case .activate(let id):
      system.request(Rows.activate, id) { [log] message in log.warning("a window could not be raised: \(message)") }
    case .summon(let id): show(id, by: Rows.summon, "brought into view")
    case .move(let id, let output):
      system.request(Rows.moveToOutput, (id, output)) { [log] message in
        log.warning("a window could not be moved: \(message)")
      }
    case .place(let id, let placement):
      system.request(Rows.place, (id, placement.options.properties)) { [log] message in
        log.warning("a window could not be placed: \(message)")
      }
    case .waitForFocus(let milliseconds):
      focusTimer?.cancel()
      focusTimer = loop.timer(after: .milliseconds(Int64(clamping: milliseconds))) { [weak self] in
        self?.track { $0.focusTimeIsOver() }
      }
    case .stopWaitingForFocus: focusTimer?.cancel()
    case .waitForArrival(let milliseconds):
      arrivalTimer?.cancel()
      arrivalTimer = loop.timer(after: .milliseconds(Int64(clamping: milliseconds))) { [weak self] in
        self?.tracker.arrivalTimeIsOver()
      }
    case .stopWaiting(let handle):
      programs[handle]?.timer?.cancel()
      programs[handle]?.timer = nil
    case .windowsChanged(let handle): if programs[handle] != nil { record.windowsChanged(of: handle) }
    case .released(let handle): release(handle)
    }
  }

  /// Notes in the result of a program that has ended with an error whether its user may have closed its window (D3): terminals and
  /// dialogs end so then, too.
  private func noting(_ report: Report) -> Report {
    guard case .ended(let handle, failed: false, var result) = report,
      let status = result[PresentationResult.keys.status], status != 0,
      let program = programs[tracker.program(of: handle)], program.hasWindow, let shown = program.shown,
      loop.now - shown >= Self.timeToClose
    else { return report }
    result[PresentationResult.keys.windowSeen] = true
    return .ended(handle, failed: false, result: result)
  }

  /// The least time in which a person sees a window and closes it.
  private static var timeToClose: Duration { .milliseconds(200) }

  /// - Parameter options: empty if the window is no longer expected.
  private func expect(_ program: Handle, _ options: Properties) {
    system.request(Rows.expect, (program.description, options)) { [log] message in
      log.warning("a window that opens could not be announced: \(message)")
    }
  }

  /// Reports that a presentation is on the screen, once its program has had time to paint its first window (N2).
  private func settle(_ handle: Handle) {
    let program = tracker.program(of: handle)
    guard let time = programs[program]?.settle, time > 0 else { return hasPainted(handle) }
    programs[program]!.settling = loop.timer(after: .milliseconds(Int64(clamping: time))) { [weak self] in
      guard let self else { return }
      // The next window paints anew.
      if tracker.isBetweenWindows(handle) { settle(handle) } else { hasPainted(handle) }
    }
  }

  /// Brings a window to the front that has painted; later, if its program has still to say that it is ready (D19).
  private func hasPainted(_ handle: Handle) {
    if tracker.awaitsReady(handle) { reports.take(.presentAnswered(handle, error: nil)) } else { settled(handle) }
  }

  private func settled(_ handle: Handle) {
    let takesOver = tracker.takesOver(handle)
    track { $0.settled(handle) }
    let program = tracker.program(of: handle)
    guard takesOver, programs[program] != nil else { return reports.take(.presentAnswered(handle, error: nil)) }
    programs[program]!.settling = loop.timer(after: Self.timeToShow) { [weak self] in
      self?.reports.take(.presentAnswered(handle, error: nil))
    }
  }

  /// The time in which a compositor shows which window is in front (G10). sway goes on showing the one before until the next one has
  /// drawn itself in its size, for 200 ms at most, and shows nothing if the one before goes meanwhile.
  private static var timeToShow: Duration { .milliseconds(250) }

  /// Asks for a window to be shown. The tracker asks again only if the adapter leaves before its answer.
  private func show(_ id: String, by method: Method<String, Void>, _ action: String) {
    system.request(method, id) { [weak self] in
      self?.track { $0.shown(id) }
    } refused: { [weak self] message in
      self?.track { $0.showRefused(id) }
      self?.log.warning("a window could not be \(action): \(message)")
    }
  }

  // MARK: Windows that were given up

  /// The windows that the next adapter shows again (N8): their properties, by their ids.
  var toShow: [String: Properties] {
    Dictionary(tracker.windowsToShow.map { ($0.id, $0.properties.properties) }, uniquingKeysWith: { $1 })
  }

  /// Has the next adapter show windows that the previous navd has given up.
  func show(_ windows: [String: Properties]) {
    track { $0.showLater(windows.map { Window(id: $0.key, WindowProperties(reading: $0.value)) }) }
    system.whenKnown { [weak self] in self?.system.restIfUnneeded() }
  }

  // MARK: State

  var places: [Handle: WindowPlaces.Place] { tracker.places }

  func platform(of handle: Handle) -> Properties {
    let program = tracker.program(of: handle)
    var all = programs[program]?.presenter.platform(of: program) ?? [:]
    guard tracker.beginning(of: program) != nil else { return all }
    all[StateEntry.keys.late] = tracker.lateness(of: handle)
    let isGuest = tracker.isGuest(handle)
    all[StateEntry.keys.windows] = tracker.windows(of: handle).map { window in
      var entry = window.properties.properties.filter { Self.keysOfState.contains($0.key) }
      entry["id"] = .string(window.id)
      if isGuest { entry["guest"] = .boolean(true) }
      return entry
    }
    return all
  }

  /// The programs that outlive the last windows of their items, the oldest first (N3).
  var left: [LeftProgram] {
    programs.filter { tracker.isLeft($0.key) }.sorted { $0.key < $1.key }.map { handle, program in
      LeftProgram(
        destination: tracker.destination(of: handle), platform: StateEntry(program.presenter.platform(of: handle)))
    }
  }

  private static let keysOfState: Set<String> = [
    WindowProperties.keys.appID.name, WindowProperties.keys.title.name, WindowProperties.keys.output.name,
    WindowProperties.keys.focused.name, WindowProperties.keys.inView.name,
  ]

  // MARK: After a restart

  /// Announces presentations of the previous navd. The ends of their programs wait until the remaining windows are known.
  func prepare(_ remembered: [Remembered]) {
    for one in remembered {
      tracker.recover(
        one.presentation.handle, one.presentation.item.content.following ?? WindowFollowing(),
        settings(of: one.presentation), for: one.shownAs, windows: WindowMemory(one.memory).windows)
    }
  }

  /// Takes over the presentations whose programs were taken over.
  /// - Parameters:
  ///   - survivals: the fates of their programs.
  ///   - completion: as for ``ProgramPresenter/adopt(_:from:_:)``.
  func adopt(
    _ remembered: [Remembered], _ survivals: [Handle: Survival], _ completion: @escaping ([Handle: Survival]) -> Void
  ) {
    guard !remembered.isEmpty else { return completion([:]) }
    system.whenKnown { [self] in
      var all: [Handle: Survival] = [:]
      for one in remembered {
        let handle = one.presentation.handle
        let item = WindowRestart(one, survivals[handle] ?? .gone(result: [:]))
        if item.wasStarted {
          record.restore(one.memory, of: handle)
          suggest(handle, one.presentation)
        }
        all[handle] = item.survival(in: &tracker)
      }
      completion(all)
      perform()
    }
  }
}

extension WindowSystem {
  /// The reason why a presentation cannot follow windows here; nil if it can, or if that is not known.
  ///
  /// An unknown place is no reason, because such an item ends with the output that it was asked for
  /// (U3).
  /// - Parameter suggestion: the application id that the command suggests, and a window that may be mistaken for the item's (N1).
  fileprivate func whyNot(
    _ following: WindowFollowing, on output: String?, _ suggestion: (appID: SuggestedAppID, rival: Window?)?
  ) -> String? {
    if output != nil, let why = whyNot(.move, for: "moving a window to an output") { return why }
    for need in following.needs where need.capability != .output {
      guard let why = whyNot(need.capability, for: need.key) else { continue }
      guard need.capability == .pid, let suggestion else { return why }
      guard let rival = suggestion.rival else { continue }
      return "\(why), and the window \(quoted(rival.properties.title ?? "")) has the application id "
        + "\(quoted(rival.properties.appID ?? "")), too; write “app-id”, or give the command an id of its own"
    }
    return nil
  }
}

extension BootTime {
  fileprivate static var now: BootTime {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return BootTime(milliseconds: UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000)
  }
}

extension Reason {
  fileprivate func cause(isRequested: Bool) -> WindowTracker.Cause {
    switch self {
    case .dismissed, .replaced, .deselected, .popped, .parent: isRequested ? .request : .rule
    case .closed, .lost, .owner, .declined, .expired, .unfocused, .outputGone, .held: .rule
    case .failed: .failure
    case .shutdown: .quit
    }
  }
}
