import DBusValues
import EventLoops
import Glibc
import Logging
import PresentationModel
import PresentationRules
import Processes
import WindowRules

/// Shows items by their windows (N1–N6): it stands between a presenter that runs programs, which starts and ends them, and the
/// coordinator. Carries out what the ``WindowTracker`` says.
final class WindowPresenter: Presenter {
  private let loop: EventLoop
  private let system: WindowSystem
  private let log: Logger
  private let remember: (Handle, Properties) -> Void
  private let report: (Report) -> Void
  private var tracker: WindowTracker
  private var isPerforming = false
  private var timers: [Handle: Timer] = [:]
  /// The focused window has become fullscreen, and of no presentation, or no longer is (H2).
  var onOtherFullscreen: ((Bool) -> Void)?
  private var isOtherFullscreen = false
  /// Runs the programs of the presentations.
  private var programs: [Handle: any Presenter] = [:]
  /// Presentations to start once the windows are known that are there before them.
  private var waiting: [Handle: Presentation] = [:]
  /// Ends of programs of the previous navd, until it is known which windows are left.
  private var ended: [Handle: Properties] = [:]
  private var isAdopting: Set<Handle> = []
  /// Programs whose windows are hidden, and whose presentations have ended (N8).
  private var parked: Set<Handle> = []
  /// Where a program that was parked is shown again: its presentation by the handle for which it was started, and back.
  private var shownAs: [Handle: Handle] = [:]
  private var programOf: [Handle: Handle] = [:]
  /// Parked programs that are to end: the time for that.
  private var ends: [Handle: Timer] = [:]
  /// The data of the programs, recorded together with the windows.
  private var memories: [Handle: Properties] = [:]

  /// - Parameters:
  ///   - maxParked: how many programs may be parked (N8).
  ///   - remember: records the data with which the next navd finds the windows.
  init(
    loop: EventLoop, _ system: WindowSystem, maxParked: Int, log: Logger,
    remember: @escaping (Handle, Properties) -> Void,
    report: @escaping (Report) -> Void
  ) {
    self.loop = loop
    self.system = system
    tracker = WindowTracker(maxParked: maxParked)
    self.log = log
    self.remember = remember
    self.report = report
    system.onArrival = { [unowned self] capabilities, windows in
      tracker.arrived(capabilities, windows) { self.program(of: $0) }
      perform()
    }
    system.onDeparture = { [unowned self] in
      tracker.left()
      perform()
    }
    system.isNeeded = { [unowned self] in !programs.isEmpty || !isAdopting.isEmpty }
    system.onOutputsGone = { [unowned self] gone in
      tracker.outputsGone(gone)
      perform()
    }
    system.onEvent = { [unowned self] event in
      switch event {
      case .opened(let window): tracker.opened(window, program: program(of: window))
      case .changed(let id, let changed): tracker.changed(id, changed)
      case .closed(let id): tracker.closed(id)
      }
      perform()
    }
  }

  /// Assigns the presenter that runs the program of a presentation.
  func follow(_ presentation: Presentation, runBy program: any Presenter) {
    programs[presentation.program ?? presentation.handle] = program
  }

  /// The handle for which the program of a presentation was started.
  private func program(of handle: Handle) -> Handle { programOf[handle] ?? handle }

  /// The presentation that is shown by a program.
  private func shown(by program: Handle) -> Handle { shownAs[program] ?? program }

  /// The presentation whose program shows a window (N1).
  private func program(of window: Window) -> Handle? {
    guard let pid = window.properties.pid, pid > 1 else { return nil }
    let process = ProcessOrigin(of: pid_t(truncatingIfNeeded: pid))
    return programs.filter { $0.value.runs($0.key, process) }.keys.min()
  }

  // MARK: Presenting

  func present(_ presentation: Presentation, _ properties: Properties) {
    let handle = presentation.handle
    guard let following = presentation.item.destination?.window else { return }
    if let program = presentation.program { return show(presentation, by: program) }
    if tracker.follows.contains(handle) {
      // The previous navd has started it.
      if !tracker.windows(of: handle).isEmpty { report(.presentAnswered(handle, error: nil)) }
      return
    }
    waiting[handle] = presentation
    system.whenKnown { [self] in
      guard let presentation = waiting.removeValue(forKey: handle) else { return }
      if !system.isPresent {
        log.warning(
          "no adapter for the window system is on the bus, so windows are not seen; start navd-windows",
          metadata: ["presentation": "\(handle)"])
      }
      let output = presentation.item.output
      if let error = system.whyNot(following, on: output) { return report(.presentAnswered(handle, error: error)) }
      tracker.follow(
        handle, following, grace: presentation.item.destination?.grace ?? Destination.defaultGrace, output: output)
      perform()
      // The windows that are there before are on record then; a navd that is killed takes none of them for the item's.
      waiting[handle] = presentation
      loop.soon { [self] in
        guard let presentation = waiting.removeValue(forKey: handle) else { return }
        programs[handle]?.present(presentation, properties)
      }
    }
  }

  /// Shows the windows of a parked program again (N8).
  private func show(_ presentation: Presentation, by program: Handle) {
    let handle = presentation.handle
    waiting[handle] = presentation
    system.whenKnown { [self] in
      guard let presentation = waiting.removeValue(forKey: handle) else { return }
      guard system.isPresent else {
        return report(
          .presentAnswered(
            handle,
            error: "its windows cannot be shown again: no window-system adapter is on the bus; start navd-windows"))
      }
      if let why = system.whyNot(.hide, for: "showing its hidden windows again") {
        return report(.presentAnswered(handle, error: why))
      }
      link(handle, to: program)
      guard tracker.showAgain(program, on: presentation.item.output) else {
        unlink(handle)
        return report(.presentAnswered(handle, error: "its hidden program has just ended; present it again"))
      }
      parked.remove(program)
      ends.removeValue(forKey: program)?.cancel()
      record(program)
      perform()
    }
  }

  private func link(_ handle: Handle, to program: Handle) {
    programOf[handle] = program
    shownAs[program] = handle
  }

  private func unlink(_ handle: Handle) {
    if let program = programOf.removeValue(forKey: handle) { shownAs[program] = nil }
  }

  /// Takes in the report of a presenter that runs programs.
  /// - Returns: whether the report was about a presentation that follows windows.
  func take(_ report: Report) -> Bool {
    switch report {
    case .presentAnswered(let handle, let error):
      guard tracker.follows.contains(handle) else { return false }
      // A program that runs has no window yet.
      if error == nil {
        tracker.programStarted(handle)
        perform()
        return true
      }
      tracker.drop(handle)
      self.report(report)
    case .dismissAnswered(let handle, let result):
      guard programEnded(handle, failed: false, result) else { return false }
    case .ended(let handle, let failed, let result):
      guard programEnded(handle, failed: failed, result) else { return false }
    case .updateAnswered, .declined, .hidden, .parkedEnded, .outputGone, .asking, .focused: return false
    }
    perform()
    return true
  }

  private func programEnded(_ handle: Handle, failed: Bool, _ result: Properties) -> Bool {
    if isAdopting.contains(handle) {
      ended[handle] = result
      return true
    }
    guard tracker.follows.contains(handle) else { return false }
    tracker.programEnded(handle, failed: failed, result: result)
    return true
  }

  // MARK: Ending

  func dismiss(_ handle: Handle, _ reason: Reason, animated: Bool, isForced: Bool) {
    if waiting.removeValue(forKey: handle) != nil {
      tracker.drop(handle)
      perform()
      return report(.dismissAnswered(handle, result: [:]))
    }
    guard tracker.follows.contains(program(of: handle)) else {
      return report(.dismissAnswered(handle, result: [:]))
    }
    tracker.dismiss(program(of: handle), isForced: isForced)
    perform()
  }

  func kill(_ handle: Handle) {
    tracker.graceIsOver(for: program(of: handle))
    perform()
  }

  func raise(_ handle: Handle) {
    tracker.raise(program(of: handle))
    perform()
  }

  func move(_ presentation: Presentation) {
    if waiting[presentation.handle] != nil { waiting[presentation.handle] = presentation }
    tracker.move(program(of: presentation.handle), to: presentation.item.output)
    perform()
  }

  func abandon(_ handle: Handle) {
    let handle = program(of: handle)
    let windows = tracker.windows(of: handle).map { $0.properties.title ?? $0.id }
    if windows.isEmpty {
      programs[handle]?.abandon(handle)
    } else {
      log.error("windows could not be closed, and count as gone: \(windows)", metadata: ["presentation": "\(handle)"])
    }
  }

  func forget(_ handle: Handle) {
    waiting[handle] = nil
    let program = program(of: handle)
    unlink(handle)
    if parked.contains(program) { return }
    guard tracker.follows.contains(program) else { return release(program) }
    tracker.forget(program)
    perform()
  }

  /// Ends a parked program (N8).
  func endParked(_ program: Handle, isForced: Bool) {
    guard parked.contains(program) else { return report(.parkedEnded(program)) }
    limitEnd(of: program, isForced: isForced)
    tracker.endParked(program, isForced: isForced)
    perform()
  }

  /// Ends the dismissal of a parked program after its grace, or has SIGKILL end it, as of others (P14).
  private func limitEnd(of program: Handle, isForced: Bool, isKilled: Bool = false) {
    ends[program]?.cancel()
    ends[program] = loop.timer(after: .milliseconds(Int64(clamping: tracker.grace(of: program)))) { [weak self] in
      guard let self, parked.contains(program) else { return }
      guard !isKilled else {
        programs[program]?.abandon(program)
        return unpark(program)
      }
      if isForced { limitEnd(of: program, isForced: true, isKilled: true) }
      tracker.graceIsOver(for: program)
      perform()
    }
  }

  /// A parked program is gone, or is to end after its last window.
  private func unpark(_ program: Handle) {
    parked.remove(program)
    ends.removeValue(forKey: program)?.cancel()
    report(.parkedEnded(program))
    tracker.forget(program)
    perform()
  }

  private func release(_ handle: Handle) {
    timers.removeValue(forKey: handle)?.cancel()
    memories[handle] = nil
    programs.removeValue(forKey: handle)?.forget(handle)
    system.restIfUnneeded()
  }

  // MARK: Carrying out

  private func perform() {
    guard !isPerforming else { return }
    isPerforming = true
    defer { isPerforming = false }
    while case let effects = tracker.takeEffects(), !effects.isEmpty {
      for effect in effects { perform(effect) }
    }
    guard tracker.isOtherFullscreen != isOtherFullscreen else { return }
    isOtherFullscreen = tracker.isOtherFullscreen
    onOtherFullscreen?(isOtherFullscreen)
  }

  private func perform(_ effect: WindowTracker.Effect) {
    switch effect {
    case .ended(let handle, _, _) where parked.contains(handle),
      .dismissed(let handle, _) where parked.contains(handle):
      unpark(handle)
    case .declined(let handle, let message) where parked.contains(handle),
      .asking(let handle, let message) where parked.contains(handle):
      ends.removeValue(forKey: handle)?.cancel()
      log.notice("a hidden program does not end: \(message)", metadata: ["presentation": "\(handle)"])
    case .presented(let handle): report(.presentAnswered(shown(by: handle), error: nil))
    case .ended(let handle, let failed, let result):
      report(.ended(shown(by: handle), failed: failed, result: result))
    case .dismissed(let handle, let result): report(.dismissAnswered(shown(by: handle), result: result))
    case .declined(let handle, let message): report(.declined(shown(by: handle), message: message))
    case .asking(let handle, let message): report(.asking(shown(by: handle), message: message))
    case .hidden(let handle):
      parked.insert(handle)
      let presentation = shown(by: handle)
      unlink(presentation)
      record(handle)
      report(.hidden(presentation))
    case .hide(let id):
      system.hide(id) { [weak self] in
        self?.tracker.hidden(id)
        self?.perform()
      } refused: { [weak self] message in
        self?.tracker.hideRefused(id, message)
        self?.perform()
      }
    case .show(let id):
      system.show(id) { [log] message in log.warning("a window could not be shown again: \(message)") }
    case .close(let id):
      system.close(id) { [weak self] message in
        self?.tracker.closeRefused(id, message)
        self?.perform()
      }
    case .terminate(let handle):
      programs[handle]?.dismiss(handle, .dismissed, animated: false, isForced: true)
    case .kill(let handle): programs[handle]?.kill(handle)
    case .wait(let handle, let milliseconds):
      timers[handle]?.cancel()
      timers[handle] = loop.timer(after: .milliseconds(Int64(clamping: milliseconds))) { [weak self] in
        self?.tracker.timeIsOver(for: handle)
        self?.perform()
      }
    case .activate(let id):
      system.activate(id) { [log] message in log.warning("a window could not be raised: \(message)") }
    case .move(let id, let output):
      system.move(id, to: output) { [log] message in log.warning("a window could not be moved: \(message)") }
    case .focused(let handle, let isOwn): report(.focused(handle.map(shown), isOwn: isOwn))
    case .outputGone(let handle): report(.outputGone(shown(by: handle)))
    case .stopWaiting(let handle): timers.removeValue(forKey: handle)?.cancel()
    case .windowsChanged(let handle): record(handle)
    case .released(let handle): release(handle)
    }
  }

  // MARK: State

  func platform(of handle: Handle) -> Properties {
    let handle = program(of: handle)
    var all = programs[handle]?.platform(of: handle) ?? [:]
    guard tracker.follows.contains(handle) else { return all }
    all[StateEntry.keys.windows] = tracker.windows(of: handle).map { window in
      var entry = window.properties.properties.filter { Self.keysOfState.contains($0.key) }
      entry["id"] = .string(window.id)
      return entry
    }
    return all
  }

  private static let keysOfState: Set<String> = [
    WindowProperties.keys.appID.name, WindowProperties.keys.title.name, WindowProperties.keys.output.name,
    WindowProperties.keys.focused.name,
  ]

  // MARK: Record

  private static let windowsKey = DictionaryKey<[String: Properties]>("windows", doc: "")
  private static let beforeKey = DictionaryKey<[String]>("before", doc: "")

  /// Records data of the presenter that runs the program.
  /// - Returns: whether the presentation follows windows.
  func note(_ memory: Properties, of handle: Handle) -> Bool {
    guard tracker.follows.contains(handle) else { return false }
    memories[handle] = memory
    record(handle)
    return true
  }

  private func record(_ handle: Handle) {
    guard tracker.follows.contains(handle) else { return }
    var memory = memories[handle] ?? [:]
    memory[Self.windowsKey] = Dictionary(
      tracker.windows(of: handle).map { ($0.id, $0.properties.properties) }, uniquingKeysWith: { $1 })
    memory[Self.beforeKey] = tracker.windowsBefore(handle)?.sorted()
    remember(shown(by: handle), memory)
  }

  // MARK: After a restart

  /// Announces presentations of the previous navd. Ends of their programs wait until it is known which windows are left.
  func prepare(_ remembered: [Remembered]) { isAdopting = Set(remembered.map { $0.presentation.handle }) }

  /// Takes over the presentations whose programs were taken over.
  /// - Parameters:
  ///   - survivals: what became of their programs.
  ///   - completion: as for ``ProgramPresenter/adopt(_:from:_:)``.
  func adopt(
    _ remembered: [Remembered], _ survivals: [Handle: Survival], _ completion: @escaping ([Handle: Survival]) -> Void
  ) {
    guard !remembered.isEmpty else { return completion([:]) }
    system.whenKnown { [self] in
      var all: [Handle: Survival] = [:]
      for one in remembered {
        let handle = one.presentation.handle
        all[handle] = survival(of: one, survivals[handle] ?? .gone(result: [:]))
      }
      isAdopting = []
      completion(all)
      perform()
    }
  }

  /// Assigns the program of a presentation of the previous navd that was parked before.
  func adopt(_ presentation: Presentation) {
    if let program = presentation.program, presentation.presentedAt != nil { link(presentation.handle, to: program) }
  }

  private func survival(of remembered: Remembered, _ program: Survival) -> Survival {
    let (presentation, memory) = (remembered.presentation, remembered.memory)
    let handle = presentation.handle
    let destination = presentation.item.destination
    var end = ended.removeValue(forKey: handle)
    switch program {
    case .toBeShown: return .toBeShown
    case .gone(let result): end = result
    case .shown: break
    }
    let windows = (memory[Self.windowsKey] ?? [:]).map { Window(id: $0.key, WindowProperties(reading: $0.value)) }
    memories[handle] = memory
    let hasWindows = tracker.restore(
      handle, destination?.window ?? WindowFollowing(), grace: destination?.grace ?? Destination.defaultGrace,
      output: presentation.item.output, windows: windows.sorted { $0.id < $1.id },
      before: memory[Self.beforeKey].map { Set($0) }, end: end,
      isPresented: presentation.presentedAt != nil, isParked: remembered.isParked)
    if remembered.isParked {
      guard hasWindows || end == nil else {
        tracker.drop(handle)
        return .gone(result: end ?? [:])
      }
      parked.insert(handle)
      return presentation.phase == .presenting ? .toBeShown : .shown
    }
    if hasWindows { return .shown }
    // It still waits for its first window, or was dismissed while it did.
    if windows.isEmpty, presentation.presentedAt == nil {
      return presentation.phase == .presenting ? .toBeShown : .shown
    }
    guard let end else { return .shown }
    tracker.drop(handle)
    return .gone(result: end)
  }
}

extension WindowSystem {
  /// Why a presentation cannot follow windows here; nil if it can, or if that is not known.
  fileprivate func whyNot(_ following: WindowFollowing, on output: String?) -> String? {
    if output != nil, let why = whyNot(.move, for: "moving a window to an output") { return why }
    return following.needs.lazy.compactMap { self.whyNot($0.capability, for: $0.key) }.first
  }
}
