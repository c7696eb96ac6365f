import DBusValues
import PresentationModel

/// Which windows belong to which presentations, and how presentations that follow windows begin and end (N1–N8), as a state
/// machine. Input: events of the window system, ends of programs, dismissals and times that are over. Output: ``Effect``s. No
/// I/O, no clock.
public struct WindowTracker {
  /// What follows from an input, in this order.
  public enum Effect: Hashable, Sendable {
    /// It has its first window (N2).
    case presented(Handle)
    /// It has ended by itself.
    case ended(Handle, failed: Bool, result: Properties)
    /// Its dismissal is complete.
    case dismissed(Handle, result: Properties)
    /// Its windows stay (N6, P15).
    case declined(Handle, message: String)
    /// A window of it asks its user (N6, P16).
    case asking(Handle, message: String)
    /// Ask the window to close. A refusal is the input ``WindowTracker/closeRefused(_:_:)``.
    case close(window: String)
    /// Hide the window. The answer is the input ``WindowTracker/hidden(_:)`` or ``WindowTracker/hideRefused(_:_:)``.
    case hide(window: String)
    /// Show a window that was hidden.
    case show(window: String)
    /// Its dismissal is complete: its windows are hidden, and its program goes on (N8).
    case hidden(Handle)
    /// Give the window the focus.
    case activate(window: String)
    /// Move the window to the output.
    case move(window: String, output: String)
    /// The focus is at a window of a presentation, or at one that belongs to none. `isOwn`: navd has moved it.
    case focused(Handle?, isOwn: Bool)
    /// The output of its windows was unplugged (U3).
    case outputGone(Handle)
    /// Send SIGTERM to its program.
    case terminate(Handle)
    /// Send SIGKILL to its program.
    case kill(Handle)
    /// Call ``WindowTracker/timeIsOver(for:)`` after so many milliseconds; replaces the earlier timer of the presentation.
    case wait(Handle, milliseconds: UInt64)
    /// Its timer is not needed any more.
    case stopWaiting(Handle)
    /// Its windows are other ones now; record them.
    case windowsChanged(Handle)
    /// Nothing of it is left.
    case released(Handle)
  }

  /// How long a program may take to end by itself after its last window, in milliseconds. So it gives its result: a dialog closes
  /// its window before it prints the answer.
  static let timeToEnd: UInt64 = 250
  /// How long a window may stay after its dialog has closed, in milliseconds, before it counts as kept.
  static let timeAfterDialog: UInt64 = 500
  /// Windows that are tracked at most. A user has hundreds; an adapter that tells more is broken.
  public static let maxWindows = 10_000

  private var windows: [String: TrackedWindow] = [:]
  private var followed: [Handle: Following] = [:]
  /// Counts windows and presentations in their order.
  private var order: UInt64 = 0
  /// The capabilities of the window system; nil while there is none.
  private var capabilities: Set<WindowCapability>?
  /// Whether there has been a window system.
  private var wasThere = false
  /// The order of windows that open while there is no window system.
  private var orderOfAbsence: UInt64 = 0
  /// The focused window and its presentation, as reported last.
  private var focus: (window: String, handle: Handle?)?
  /// The window that navd itself has activated, until the focus is at some window.
  private var activated: String?
  /// The window that navd itself moves to another output, until it is there or the focus has left it.
  private var moved: String?
  private var effects: [Effect] = []
  /// How many programs may be parked; past that, windows are closed (N8).
  private let maxParked: Int

  public init(maxParked: Int = 64) { self.maxParked = maxParked }

  public mutating func takeEffects() -> [Effect] {
    defer { effects = [] }
    return effects
  }

  /// The windows of a presentation, in the order in which it got them.
  public func windows(of handle: Handle) -> [Window] {
    (followed[handle]?.windows ?? []).compactMap { id in windows[id].map { Window(id: id, $0.properties) } }
  }

  /// The presentation to which a window belongs.
  public func owner(of window: String) -> Handle? {
    if case .presentation(let handle)? = windows[window]?.owner { handle } else { nil }
  }

  /// Whether the window with the focus is fullscreen, and belongs to no presentation (H2).
  public var isOtherFullscreen: Bool {
    capabilities != nil
      && windows.values.contains { window in
        if case .presentation = window.owner { return false }
        return window.properties.focused == true && window.properties.fullscreen == true
      }
  }

  /// The windows that match its pattern and were there before the presentation; nil if there has never been a window system.
  public func windowsBefore(_ handle: Handle) -> Set<String>? { followed[handle]?.before }

  /// Milliseconds between SIGTERM and SIGKILL.
  public func grace(of handle: Handle) -> UInt64 { followed[handle]?.grace ?? 0 }

  public var follows: some Collection<Handle> { followed.keys }

  // MARK: Presentations

  /// Begins a presentation, whose program starts.
  /// - Parameter output: where its windows are to appear (U1); nil to leave that to the window system.
  public mutating func follow(_ handle: Handle, _ rule: WindowFollowing, grace: UInt64, output: String? = nil) {
    order += 1
    var following = Following(rule, grace: grace, began: order)
    following.output = output
    // While the window system is away, windows may open that nobody knows.
    if capabilities != nil { following.before = matching(rule) }
    followed[handle] = following
    effects.append(.windowsChanged(handle))
  }

  private func matching(_ rule: WindowFollowing) -> Set<String> {
    Set(windows.filter { rule.pattern.matches($0.value.properties) }.keys)
  }

  /// Forgets a presentation whose program could not be started.
  public mutating func drop(_ handle: Handle) { release(handle) }

  /// The end of a presentation is on record. Its remaining processes still end.
  public mutating func forget(_ handle: Handle) {
    guard let following = followed[handle] else { return }
    if case .leaving = following.stage, following.isRunning {
      for window in following.windows { windows[window]?.owner = .former }
      followed[handle]!.windows = []
    } else {
      release(handle)
    }
  }

  private mutating func release(_ handle: Handle) {
    guard let following = followed.removeValue(forKey: handle) else { return }
    for window in following.windows { windows[window]?.owner = .former }
    effects += [.stopWaiting(handle), .released(handle)]
  }

  // MARK: Programs

  /// Takes in that the program of a presentation runs. Without a window system, nothing else can be known of its windows.
  public mutating func programStarted(_ handle: Handle) {
    // A window system that has left may come back, and its windows with it.
    guard let following = followed[handle], following.isAwaiting, capabilities == nil, !wasThere else { return }
    followed[handle]!.stage = .unseen
    effects.append(.presented(handle))
  }

  /// Takes in that all processes of a presentation's program have ended, or that it could not be started.
  /// - Parameter failed: whether it could not be started or has crashed.
  public mutating func programEnded(_ handle: Handle, failed: Bool, result: Properties) {
    guard var following = followed[handle] else { return }
    following.program = .ended(failed: failed, result)
    followed[handle] = following
    // The window system cannot tell that their windows are gone with them.
    if capabilities == nil {
      for window in following.windows where windows[window]?.program == handle { closed(window) }
    }
    guard followed[handle] != nil else { return }
    switch following.stage {
    case .awaiting: programEndedWithoutWindow(handle, failed: failed, result: result)
    case .withdrawing:
      effects.append(.stopWaiting(handle))
      if failed || result.hasExitedInError { effects.append(.dismissed(handle, result: result)) }
    case .shown, .lingering, .hiding, .parked: break
    case .unseen: effects.append(.ended(handle, failed: failed, result: result))
    case .ending: effects += [.stopWaiting(handle), .ended(handle, failed: failed, result: result)]
    case .closing: if followed[handle]!.windows.isEmpty { effects.append(.dismissed(handle, result: result)) }
    case .settling, .terminating: effects += [.stopWaiting(handle), .dismissed(handle, result: result)]
    case .leaving: release(handle)
    }
  }

  /// Takes in that a program ended before it had a window: it failed, or it has handed over to a process that ran before (N2).
  private mutating func programEndedWithoutWindow(_ handle: Handle, failed: Bool, result: Properties) {
    if failed { return effects.append(.ended(handle, failed: true, result: result)) }
    if result.hasExitedInError, let status = result[PresentationResult.keys.status] {
      var result = result
      result[PresentationResult.keys.error] = "it ended with status \(status) before it had a window"
      return effects.append(.ended(handle, failed: true, result: result))
    }
    let rule = followed[handle]!.rule
    guard rule.adopts else { return }
    let forward = windows.filter { _, window in
      window.owner == .none && (window.properties.focused == true || window.properties.urgent == true)
        && rule.pattern.matches(window.properties)
    }
    // That with the focus comes before one that only asks for it.
    let first = forward.min { a, b in
      (a.value.properties.focused == true ? 0 : 1, a.key) < (b.value.properties.focused == true ? 0 : 1, b.key)
    }
    if let first { give(first.key, to: handle) }
  }

  // MARK: The window system

  /// Takes in that a window system is there, or what it tells after signals were missed.
  /// - Parameters:
  ///   - all: every window, in the order in which they opened.
  ///   - programs: the presentations whose programs show new windows.
  public mutating func arrived(
    _ capabilities: Set<WindowCapability>, _ all: [Window], programs: (Window) -> Handle?
  ) {
    let isNew = self.capabilities == nil
    self.capabilities = capabilities
    wasThere = true
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
        open(window, program: programs(window), at: isNew ? orderOfAbsence : nil)
      }
    }
    for window in all where windows[window.id] != nil { changed(window.id, window.properties) }
    for id in missing.values.joined().sorted() { closed(id) }
    // Windows that opened in the absence are strangers to presentations that began in it, also for the next navd.
    for (handle, following) in followed where isNew && following.isAwaiting && !following.isRestored {
      guard following.before == nil else { continue }
      followed[handle]!.before = matching(following.rule)
      effects.append(.windowsChanged(handle))
    }
    // Requests to the former window system may be lost.
    for (handle, following) in followed.sorted(by: { $0.key < $1.key }) {
      switch following.stage {
      case .closing(let closing):
        if closing.isForced { askForeignWindows(of: handle) } else { askWindows(of: handle, but: closing.dialogs) }
      case .hiding: hide(handle)
      default: break
      }
    }
  }

  /// Takes in that the window system is gone. What navd cannot see any more stays as it was.
  public mutating func left() {
    guard capabilities != nil else { return }
    capabilities = nil
    order += 1
    orderOfAbsence = order
  }

  /// Windows of one look that are compared with a new one, so that thousands of them do not take seconds.
  private static let maxCompared = 32

  /// By what an adapter with new ids tells its windows again.
  private struct Look: Hashable {
    let appID: String?
    let title: String?
    let pid: UInt32?

    init(_ properties: WindowProperties) {
      (appID, title, pid) = (properties.appID, properties.title, properties.pid)
    }
  }

  /// The one of windows of one look that is the same in most properties; the first of several.
  private func mostAlike(_ ids: [String], _ properties: WindowProperties) -> String? {
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
  /// - Parameter program: the presentation whose program shows it.
  public mutating func opened(_ window: Window, program: Handle?) { open(window, program: program, at: nil) }

  private mutating func open(_ window: Window, program: Handle?, at earlier: UInt64?) {
    guard windows[window.id] == nil, windows.count < Self.maxWindows else { return }
    order += 1
    // A parked program may show windows for others.
    let program = program.flatMap { isResting($0) ? nil : $0 }
    windows[window.id] = TrackedWindow(
      properties: window.properties, order: earlier ?? order, program: program)
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
  public mutating func closed(_ id: String) {
    guard let window = windows.removeValue(forKey: id), case .presentation(let handle) = window.owner,
      var following = followed[handle]
    else { return }
    following.windows.removeAll { $0 == id }
    followed[handle] = following
    effects.append(.windowsChanged(handle))
    switch following.stage {
    case .shown where following.windows.isEmpty:
      if following.rule.linger > 0 {
        followed[handle]!.stage = .lingering
        effects.append(.wait(handle, milliseconds: following.rule.linger))
      } else {
        lastWindowClosed(handle)
      }
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
    case .awaiting, .withdrawing, .shown, .unseen, .parked, .lingering, .ending, .settling, .terminating, .leaving:
      break
    }
  }

  /// The user has closed the last window (N3).
  private mutating func lastWindowClosed(_ handle: Handle) {
    let following = followed[handle]!
    guard following.isRunning else {
      return effects.append(.ended(handle, failed: following.hasFailed, result: following.result))
    }
    followed[handle]!.stage = .ending
    effects.append(.wait(handle, milliseconds: Self.timeToEnd))
  }

  /// The windows that were asked to close are gone (N5).
  private mutating func windowsClosed(_ handle: Handle, isForced: Bool) {
    let following = followed[handle]!
    guard following.isRunning else {
      return effects += [.stopWaiting(handle), .dismissed(handle, result: following.result)]
    }
    if isForced {
      followed[handle]!.stage = .terminating
    } else {
      followed[handle]!.stage = .settling
      effects.append(.wait(handle, milliseconds: Self.timeToEnd))
    }
  }

  // MARK: Focus (N7, N9)

  /// Brings the windows of a presentation to the front: the last one, which may be a dialog of the others.
  public mutating func raise(_ handle: Handle) {
    guard let id = followed[handle]?.windows.last else { return }
    activated = id
    effects.append(.activate(window: id))
  }

  /// Reports the focus if it is at another window, or if that belongs to a presentation now.
  private mutating func noteFocus(of id: String) {
    guard windows[id]?.properties.focused == true else { return }
    let owner = owner(of: id)
    if let focus, focus == (id, owner) { return }
    let isMoved = moved != nil && moved == focus?.window && moved != id
    if isMoved { moved = nil }
    let isOwn = activated == id || isMoved
    activated = nil
    focus = (id, owner)
    effects.append(.focused(owner, isOwn: isOwn))
  }

  // MARK: Outputs (U1, U2)

  /// Takes in that the windows of a presentation are to appear on another output.
  public mutating func move(_ handle: Handle, to output: String?) {
    guard followed[handle] != nil else { return }
    followed[handle]!.output = output
    for id in followed[handle]!.windows { place(id, of: handle) }
  }

  /// Takes in that outputs are there no longer, before their windows move to others (U3).
  public mutating func outputsGone(_ gone: Set<String>) {
    for (handle, following) in followed.sorted(by: { $0.key < $1.key }) {
      guard case .shown = following.stage, following.rule.endsWithOutput else { continue }
      let known = following.windows.compactMap { windows[$0]?.properties.output }
      let places = known.isEmpty ? [following.output].compactMap(\.self) : known
      if !gone.isDisjoint(with: places) { effects.append(.outputGone(handle)) }
    }
  }

  /// Moves a window to the output of its presentation. A dialog appears where its parent is.
  private mutating func place(_ id: String, of handle: Handle) {
    guard let output = followed[handle]?.output, capabilities?.contains(.move) == true,
      let window = windows[id]?.properties, window.output != output, window.parent ?? "" == ""
    else { return }
    moved = id
    effects.append(.move(window: id, output: output))
  }

  // MARK: Ownership (N1)

  private mutating func assign(_ id: String) {
    let window = windows[id]!
    if let handle = window.program, followed[handle] != nil { return give(id, to: handle) }
    if let parent = window.properties.parent, let handle = owner(of: parent) { return give(id, to: handle) }
    if let handle = candidate(for: id, window) { return give(id, to: handle) }
    if let handle = followed.keys.filter({ isDialog(id, of: $0) }).min() { give(id, to: handle) }
  }

  /// The presentation whose pattern a window matches: the oldest that has no window, or else the oldest.
  private func candidate(for id: String, _ window: TrackedWindow) -> Handle? {
    let matching = followed.filter { handle, following in
      guard following.takesWindows, following.rule.pattern.matches(window.properties) else { return false }
      return window.order > following.began
        || following.isRestored && following.isAwaiting && following.before?.contains(id) == false
    }
    let waiting = matching.filter { $0.value.windows.isEmpty }
    return (waiting.isEmpty ? matching : waiting).min { ($0.value.began, $0.key) < ($1.value.began, $1.key) }?.key
  }

  /// A window that was there before counts as the first one if it comes forward after its program has handed over (N2).
  private mutating func adopt(_ id: String, after changes: WindowProperties) {
    let window = windows[id]!
    guard changes.focused == true || changes.urgent == true || changes.title != nil else { return }
    let waiting = followed.filter { _, following in
      following.rule.adopts && following.isAwaiting && !following.isRunning
        && following.rule.pattern.matches(window.properties)
    }
    if let handle = waiting.keys.min() { give(id, to: handle) }
  }

  private mutating func give(_ id: String, to handle: Handle) {
    guard var following = followed[handle] else { return }
    windows[id]!.owner = .presentation(handle)
    following.windows.append(id)
    let wasAwaiting = following.isAwaiting
    switch following.stage {
    case .awaiting, .unseen: following.stage = .shown
    case .lingering, .ending:
      following.stage = .shown
      effects.append(.stopWaiting(handle))
    case .hiding(let waiting):
      following.stage = .hiding(waiting.union([id]))
      effects.append(.hide(window: id))
    case .withdrawing, .shown, .closing, .parked, .settling, .terminating, .leaving: break
    }
    followed[handle] = following
    effects.append(.windowsChanged(handle))
    if case .withdrawing = following.stage { return force(handle) }
    place(id, of: handle)
    if wasAwaiting { effects.append(.presented(handle)) }
    if isDialog(id, of: handle) { askedUser(id, handle) }
  }

  // MARK: Dismissing (N5, N6)

  /// Takes in that a presentation is to end.
  /// - Parameter isForced: whether its windows and programs end without a question.
  public mutating func dismiss(_ handle: Handle, isForced: Bool) {
    guard let following = followed[handle] else {
      return effects.append(.dismissed(handle, result: [:]))
    }
    switch following.stage {
    case .awaiting: withdraw(handle)
    case .withdrawing: break
    case .unseen, .lingering, .ending: endProgram(handle)
    case .shown where isForced: force(handle)
    case .shown: if mayHide(following) { hide(handle) } else { askToClose(handle) }
    case .hiding: if isForced { force(handle) }
    case .parked: break
    case .closing(let closing): if isForced, !closing.isForced { force(handle) }
    case .settling: endProgram(handle)
    case .terminating: break
    case .leaving: effects.append(.dismissed(handle, result: following.result))
    }
  }

  /// A command may have handed over already, or be about to: its window would stay behind.
  private mutating func withdraw(_ handle: Handle) {
    let following = followed[handle]!
    if following.rule.pattern.isEmpty { return endProgram(handle) }
    followed[handle]!.stage = .withdrawing
    if following.isRunning { effects.append(.wait(handle, milliseconds: Self.timeToEnd)) }
  }

  /// There is no window left to ask.
  private mutating func endProgram(_ handle: Handle) {
    let following = followed[handle]!
    effects.append(.stopWaiting(handle))
    guard following.isRunning else {
      return effects.append(.dismissed(handle, result: following.result))
    }
    followed[handle]!.stage = .terminating
    effects.append(.terminate(handle))
  }

  /// Whether the window system has a capability that a dismissal needs. Without it, the dismissal is declined.
  private mutating func isAble(to capability: WindowCapability, _ action: String, _ handle: Handle) -> Bool {
    if capabilities?.contains(capability) == true { return true }
    let why =
      capabilities == nil
      ? "no window-system adapter is on the bus" : "the window-system adapter has no “\(capability.rawValue)”"
    effects.append(.declined(handle, message: "its windows cannot be \(action): \(why)"))
    return false
  }

  private mutating func askToClose(_ handle: Handle) {
    guard isAble(to: .close, "asked to close", handle) else { return }
    let following = followed[handle]!
    let dialogs = following.windows.filter { isOpenDialog($0, of: handle) }
    order += 1
    followed[handle]!.stage = .closing(.init(isForced: false, dialogs: Set(dialogs), since: order))
    askWindows(of: handle, but: Set(dialogs))
    if let dialog = dialogs.first { effects.append(.asking(handle, message: windows[dialog]?.properties.title ?? "")) }
  }

  private mutating func askWindows(of handle: Handle, but dialogs: Set<String>) {
    for id in followed[handle]!.windows
    where !dialogs.contains(id) && !dialogs.contains(where: { isFor(id, dialog: $0) }) {
      effects.append(.close(window: id))
    }
  }

  private mutating func askForeignWindows(of handle: Handle) {
    guard capabilities?.contains(.close) == true else { return }
    for id in followed[handle]!.windows where windows[id]?.program != handle { effects.append(.close(window: id)) }
  }

  private mutating func force(_ handle: Handle) {
    let following = followed[handle]!
    order += 1
    followed[handle]!.stage = .closing(.init(isForced: true, dialogs: [], since: order))
    effects.append(.stopWaiting(handle))
    askForeignWindows(of: handle)
    if following.isRunning { effects.append(.terminate(handle)) }
  }

  /// Takes in that a window cannot be asked to close.
  public mutating func closeRefused(_ id: String, _ message: String) {
    guard let handle = owner(of: id), let closing = followed[handle]?.closing, !closing.isForced else { return }
    keep(handle, "\(name(of: id)) cannot be asked to close: \(message)")
  }

  /// Takes in that the grace of a dismissal is over.
  public mutating func graceIsOver(for handle: Handle) {
    guard let following = followed[handle] else { return }
    if let closing = following.closing, !closing.isForced, !following.rule.kills, let id = following.windows.first {
      keep(handle, "\(name(of: id)) is still open")
    } else if case .hiding(let waiting) = following.stage, let id = waiting.min() {
      keepShown(handle, "\(name(of: id)) was not hidden")
    } else if following.isRunning {
      effects.append(.kill(handle))
    } else if case .withdrawing = following.stage {
      effects.append(.dismissed(handle, result: following.result))
    }
  }

  /// Its windows stay, and so does the presentation.
  private mutating func keep(_ handle: Handle, _ message: String) {
    followed[handle]!.stage = followed[handle]!.isParked ? .parked : .shown
    effects += [.stopWaiting(handle), .declined(handle, message: message)]
  }

  /// Takes in that the time of ``Effect/wait(_:milliseconds:)`` is over.
  public mutating func timeIsOver(for handle: Handle) {
    guard let following = followed[handle] else { return }
    switch following.stage {
    case .lingering: lastWindowClosed(handle)
    case .ending:
      followed[handle]!.stage = .leaving
      effects += [
        .ended(handle, failed: false, result: [:]), .terminate(handle), .wait(handle, milliseconds: following.grace),
      ]
    case .settling, .withdrawing: endProgram(handle)
    case .closing(let closing) where !closing.isForced && closing.dialogs.isEmpty:
      if let id = following.windows.first { keep(handle, "\(name(of: id)) was kept open") }
    case .leaving: effects.append(.kill(handle))
    case .awaiting, .shown, .unseen, .closing, .hiding, .parked, .terminating: break
    }
  }

  private func name(of id: String) -> String {
    guard let title = windows[id]?.properties.title, !title.isEmpty else { return "a window" }
    return "the window “\(title.prefix(80))”"
  }

  // MARK: Hiding (N8)

  /// Whether a dismissal hides its windows.
  private func mayHide(_ following: Following) -> Bool {
    following.rule.hides && followed.values.count { $0.isParked } < maxParked
  }

  /// Whether its windows are hidden, and nothing is asked of them.
  private func isResting(_ handle: Handle) -> Bool {
    if case .parked? = followed[handle]?.stage { true } else { false }
  }

  private mutating func hide(_ handle: Handle) {
    guard isAble(to: .hide, "hidden", handle) else { return }
    let windows = followed[handle]!.windows
    followed[handle]!.stage = .hiding(Set(windows))
    effects += windows.map { .hide(window: $0) }
  }

  /// Takes in that a window is hidden.
  public mutating func hidden(_ id: String) {
    guard let handle = owner(of: id), case .hiding(var waiting)? = followed[handle]?.stage else { return }
    waiting.remove(id)
    followed[handle]!.stage = .hiding(waiting)
    parkIfHidden(handle)
  }

  private mutating func parkIfHidden(_ handle: Handle) {
    guard case .hiding(let waiting)? = followed[handle]?.stage, waiting.isEmpty else { return }
    followed[handle]!.stage = .parked
    followed[handle]!.isParked = true
    effects.append(.hidden(handle))
  }

  /// Takes in that a window cannot be hidden.
  public mutating func hideRefused(_ id: String, _ message: String) {
    guard let handle = owner(of: id), case .hiding? = followed[handle]?.stage else { return }
    keepShown(handle, "\(name(of: id)) cannot be hidden: \(message)")
  }

  private mutating func keepShown(_ handle: Handle, _ message: String) {
    effects += followed[handle]!.windows.map { .show(window: $0) }
    keep(handle, message)
  }

  /// Shows the windows of a parked program again, with the focus.
  /// - Parameter output: as for ``follow(_:_:grace:output:)``.
  /// - Returns: whether there are windows.
  public mutating func showAgain(_ handle: Handle, on output: String? = nil) -> Bool {
    guard let following = followed[handle], following.isParked, !following.windows.isEmpty else { return false }
    followed[handle]!.isParked = false
    followed[handle]!.stage = .shown
    effects.append(.stopWaiting(handle))
    effects += following.windows.map { .show(window: $0) }
    move(handle, to: output)
    effects.append(.presented(handle))
    if capabilities?.contains(.activate) == true { raise(handle) }
    return true
  }

  /// Takes in that a parked program is to end.
  /// - Parameter isForced: whether without a question.
  public mutating func endParked(_ handle: Handle, isForced: Bool) {
    guard let following = followed[handle], following.isParked else { return }
    if isForced {
      if following.closing?.isForced != true { force(handle) }
    } else if isResting(handle) {
      askToClose(handle)
    }
  }

  // MARK: Dialogs

  /// Whether a window asks the user about a dismissal: it has opened since, and is a dialog of one of the windows (N6).
  private func isDialog(_ id: String, of handle: Handle) -> Bool {
    guard let following = followed[handle], let closing = following.closing, let window = windows[id],
      window.order > closing.since, !closing.dialogs.contains(id)
    else { return false }
    if let parent = window.properties.parent, !parent.isEmpty { return following.windows.contains(parent) }
    guard window.properties.parent == nil, window.properties.floating != false else { return false }
    return following.windows.contains { $0 != id && isOfSameProgram(id, $0) }
  }

  /// Whether a window was open as a dialog before the dismissal.
  private func isOpenDialog(_ id: String, of handle: Handle) -> Bool {
    guard let following = followed[handle], let window = windows[id]?.properties else { return false }
    if let parent = window.parent { return following.windows.contains(parent) }
    return window.floating == true
      && following.windows.contains { isOfSameProgram(id, $0) && windows[$0]!.properties.floating == false }
  }

  /// Whether a dialog is about a window.
  private func isFor(_ id: String, dialog: String) -> Bool {
    guard let parent = windows[dialog]?.properties.parent else { return isOfSameProgram(id, dialog) }
    return parent == id
  }

  private func isOfSameProgram(_ a: String, _ b: String) -> Bool {
    guard let a = windows[a]?.properties, let b = windows[b]?.properties else { return false }
    if let pid = a.pid { return pid == b.pid }
    return a.appID != nil && a.appID == b.appID
  }

  private mutating func askedUser(_ id: String, _ handle: Handle) {
    guard var closing = followed[handle]?.closing, !closing.isForced else { return }
    closing.dialogs.insert(id)
    followed[handle]!.closing = closing
    effects += [.stopWaiting(handle), .asking(handle, message: windows[id]?.properties.title ?? "")]
  }

  // MARK: After a restart

  /// Takes over a presentation of the previous navd. Call it when the windows are known, or when there is no window system.
  /// - Parameters:
  ///   - output: as for ``follow(_:_:grace:output:)``.
  ///   - recorded: the windows that it had.
  ///   - before: as ``windowsBefore(_:)`` of the previous navd; nil if it has not recorded them. Then windows that are there now
  ///     may be strangers'.
  ///   - end: the result of its program, if that has ended.
  ///   - isPresented: whether it was on the screen.
  ///   - isParked: whether its windows are hidden (N8).
  /// - Returns: whether it has windows now.
  public mutating func restore(
    _ handle: Handle, _ rule: WindowFollowing, grace: UInt64, output: String? = nil, windows recorded: [Window],
    before: Set<String>?,
    end: Properties?, isPresented: Bool = false, isParked: Bool = false
  ) -> Bool {
    var following = Following(rule, grace: grace, began: order)
    following.output = output
    following.before = before
    following.isRestored = true
    if let end { following.program = .ended(failed: false, end) }
    for window in recorded {
      let id: String?
      if capabilities == nil {
        windows[window.id] = TrackedWindow(properties: window.properties, order: 0, program: nil)
        id = window.id
      } else if windows[window.id] != nil {
        id = window.id
      } else {
        let alike = windows.filter { $0.value.owner == .none && Look($0.value.properties) == Look(window.properties) }
        id = mostAlike(
          alike.sorted { ($0.value.order, $0.key) < ($1.value.order, $1.key) }.map(\.key), window.properties)
      }
      guard let id, windows[id]!.owner == .none else { continue }
      windows[id]!.owner = .presentation(handle)
      following.windows.append(id)
    }
    following.isParked = isParked
    if !following.windows.isEmpty {
      following.stage = isParked ? .parked : .shown
    } else if !recorded.isEmpty, following.isRunning {
      following.stage = .ending
      effects.append(.wait(handle, milliseconds: Self.timeToEnd))
    } else if isPresented {
      following.stage = .unseen
    }
    followed[handle] = following
    effects.append(.windowsChanged(handle))
    if recorded.isEmpty, following.takesWindows {
      for id in windows.keys.sorted() where windows[id]?.owner == TrackedWindow.Owner.none { assign(id) }
    }
    return !(followed[handle]?.windows.isEmpty ?? true)
  }
}

extension WindowProperties {
  /// In how many properties, such as the focus and the output, two windows are the same. This tells two terminals from each other.
  fileprivate func likeness(to other: WindowProperties) -> Int {
    properties.count { other.properties[$0.key] == $0.value }
  }
}

extension Properties {
  /// Whether a command has ended with another status than 0, and so has not handed over (N2).
  fileprivate var hasExitedInError: Bool { self[PresentationResult.keys.status].map { $0 != 0 } ?? false }
}
