import DBusValues
import PresentationModel
import TestSupport

@testable import WindowRules

/// A desktop with a user, programs and an adapter, as they may behave at worst: the adapter tells facts of windows late, in any order
/// and twice, tells of windows that there are not, dies, and comes back with the same ids or with others. Programs show windows at
/// once, after seconds, by another process, or never. navd is killed at any time.
///
/// It knows the truth: which window its user has opened. It leaves out only what nobody can tell apart, namely a user's window that
/// opens while an item still waits for one that looks the same, and two windows of one process with the same title.
final class RandomDesktop {
  struct Process {
    /// The item whose command it is; nil for a process of the user or of the session.
    let program: Handle?
    let ancestor: Handle?
    let started: UInt64
    var lives = true
  }

  struct RealWindow {
    var id: String
    let process: UInt32
    let isOfUser: Bool
    /// All facts.
    var facts: WindowProperties
    /// The names of the facts that the adapter has not told yet; all of them before it tells of the window.
    var untold: Set<String>
    var isTold = false
    var isHidden = false
  }

  enum Command: CaseIterable {
    case shows, showsTwo, handsOver, ends, fails, waits
  }

  struct Item {
    let rule: WindowFollowing
    let settings: FollowingSettings
    let command: Command
    let appID: String
    var process: UInt32?
    var isStarted = false
    /// The windows that its program has still to show.
    var toShow: [(isOfUser: Bool, byServer: Bool)] = []
    var isPresented = false
    var isDismissed = false
    /// The number of its dismissals.
    var dismissals = 0
    var isForced = false
    /// Whether navd has asked the user about the item, or has said why it stays.
    var isAnswered = false
    var isOver = false
    /// The time at which it must have a window.
    var limit: UInt64?
  }

  static let apps = ["app", "mail"]
  var numbers: SeededNumbers
  var tracker = WindowTracker()
  private(set) var violations: [String] = []
  private(set) var log: [String] = []
  private(set) var counts: [String: Int] = [:]
  private var now: UInt64 = 1_000_000
  private var processes: [UInt32: Process] = [:]
  /// The windows that are open, in the order in which they opened.
  private var windows: [RealWindow] = []
  var items: [Handle: Item] = [:]
  /// The programs that are parked, by their own handles.
  private var parked: Set<Handle> = []
  private var timers: [Handle: UInt64] = [:]
  /// What follows from a request to the adapter, or from a signal to a program.
  private var answers: [(ofAdapter: Bool, run: () -> Void)] = []
  private var toForget: [Handle] = []
  private var recorded:
    [Handle: (
      windows: [Window], before: Set<String>?, began: BootTime?, hidden: Set<String>, hasHad: Bool,
      showedOfUser: Bool, hasLost: Bool,
      isGuest: Bool
    )] = [:]
  private var isAdapterThere = false
  private var lastNumber: UInt32 = 0
  /// The processes that have shown a window.
  private var titled: Set<UInt32> = []

  init(seed: UInt64) {
    numbers = SeededNumbers(seed: seed)
    for _ in 0..<2 { _ = process(program: nil, ancestor: nil) }
    now += 10_000
    adapterArrives()
  }

  // MARK: Steps

  func step() {
    forgetEnded()
    now += UInt64.random(in: 1...400, using: &numbers)
    let kinds: [(weight: Int, run: () -> Void)] = [
      (8, present), (10, userOpens), (6, userCloses), (25, adapterTells), (4, adapterRepeats), (2, adapterChanges),
      (1, navdIsKilled), (6, dismiss), (25, programGoesOn), (20, answer), (3, endParked),
    ]
    var choice = Int.random(in: 0..<kinds.reduce(0) { $0 + $1.weight }, using: &numbers)
    for kind in kinds {
      choice -= kind.weight
      if choice < 0 {
        kind.run()
        break
      }
    }
    perform()
    passTime()
  }

  /// The end of an item is on record at the end of its turn.
  private func forgetEnded() {
    while let handle = toForget.popLast() {
      note("forget \(handle)")
      tracker.forget(handle)
      perform()
    }
  }

  private func note(_ line: String) {
    log.append("\(now) \(line)")
    counts[String(line.prefix { $0 != " " }), default: 0] += 1
  }

  private func violate(_ line: String) {
    note("VIOLATION \(line)")
    violations.append(line)
  }

  /// Fires the timers that are due.
  private func passTime() {
    for (handle, time) in timers.sorted(by: { $0.key < $1.key }) where time <= now {
      timers[handle] = nil
      note("timer \(handle)")
      tracker.timeIsOver(for: handle)
      perform()
    }
    for (handle, item) in items.sorted(by: { $0.key < $1.key }) {
      guard let limit = item.limit, limit <= now, !item.isOver, !item.isPresented, !item.isDismissed else { continue }
      items[handle]!.limit = nil
      items[handle]!.isDismissed = true
      note("late \(handle)")
      tracker.dismiss(handle, isForced: false, because: .failure)
      perform()
      awaitGrace(of: handle)
    }
  }

  private var active: [Handle] { items.filter { !$0.value.isOver }.keys.sorted() }

  private func present() {
    guard active.count < 6 else { return }
    if let program = parked.sorted().first, numbers.chance(0.5) { return showAgain(program) }
    lastNumber += 1
    let handle = Handle(UInt64(lastNumber))
    let appID = numbers.pick(Self.apps)
    let command = numbers.pick(Command.allCases)
    let isPatternNeeded = command == .handsOver || numbers.chance(0.5)
    let rule = WindowFollowing(
      isPatternNeeded ? WindowPattern(appID: appID) : WindowPattern(), takesAll: numbers.chance(0.5),
      linger: numbers.chance(0.2) ? 500 : nil, endsLeftover: numbers.chance(0.4), kills: numbers.chance(0.2),
      comesHere: numbers.chance(0.3), hides: numbers.chance(0.3))
    let startupID: StartupID? = numbers.chance(0.3) ? .made("navd-\(handle)") : nil
    let settings = FollowingSettings(
      destination: appID, grace: 2000, startTimeout: 10_000, startupID: startupID)
    items[handle] = Item(rule: rule, settings: settings, command: command, appID: appID)
    note("present \(handle) \(command) \(rule)")
    begin(handle)
  }

  private func begin(_ handle: Handle) {
    let item = items[handle]!
    if isAdapterThere { tellOpenings() }
    tracker.request(handle, item.rule, item.settings)
    tracker.begin(handle, at: BootTime(milliseconds: now))
    items[handle]!.limit = now + 10_000
  }

  private func showAgain(_ program: Handle) {
    guard isAdapterThere else { return }
    lastNumber += 1
    let handle = Handle(UInt64(lastNumber))
    note("again \(handle) \(program)")
    tracker.claim(program, for: handle)
    guard tracker.showAgain(handle) else { return tracker.drop(handle) }
    parked.remove(program)
    var item = items[program]!
    (item.isPresented, item.isDismissed, item.isOver, item.limit) = (true, false, false, nil)
    items[handle] = item
  }

  private func endParked() {
    guard let program = parked.sorted().first else { return }
    let isForced = numbers.chance(0.5)
    note("end-parked \(program) \(isForced)")
    if isForced { items[program]?.isForced = true }
    tracker.endParked(program, isForced: isForced)
  }

  private func dismiss() {
    guard !active.isEmpty else { return }
    let handle = numbers.pick(active)
    let isForced = numbers.chance(0.1)
    note("dismiss \(handle) \(isForced)")
    items[handle]!.isDismissed = true
    items[handle]!.isForced = items[handle]!.isForced || isForced
    if isForced { items[tracker.program(of: handle)]?.isForced = true }
    tracker.dismiss(handle, isForced: isForced)
    awaitGrace(of: handle)
  }

  /// The rules give each dismissal its grace period.
  private func awaitGrace(of handle: Handle) {
    items[handle]!.dismissals += 1
    let number = items[handle]!.dismissals
    func isStill() -> Bool {
      guard let item = items[handle] else { return false }
      return !item.isOver && item.isDismissed && item.dismissals == number
    }
    later { [self] in
      guard isStill() else { return }
      note("grace \(handle)")
      tracker.graceIsOver(for: handle)
      perform()
      // What does not even end by force is given up.
      later { [self] in
        guard isStill() else { return }
        note("abandon \(handle)")
        over(handle)
      }
    }
  }

  // MARK: The user

  /// Whether an item waits for a window that may look like one of this application.
  private func isAwaited(_ appID: String) -> Bool {
    tracker.followed.all.values.contains { following in
      let mayTake = following.takesWindows || !following.hasBegun
      let isWaiting = following.windows.isEmpty || following.guest?.isReplaceable == true
      return mayTake && isWaiting && following.rule.pattern.appID == appID
    }
  }

  /// Whether an item without a pattern waits for a window of a process that its command has started.
  private func isAwaited(_ process: Process) -> Bool {
    guard let following = process.ancestor.flatMap({ tracker.followed[$0] }) else { return false }
    return following.interest == .firstWindow && following.rule.pattern.isEmpty
  }

  private func userOpens() {
    let appID = numbers.pick(Self.apps)
    let owns = processes.filter { $0.value.lives && $0.value.program == nil && !isAwaited($0.value) }.keys.sorted()
    let shown = active.filter { handle in
      let program = tracker.program(of: handle)
      guard let process = items[handle]!.process, processes[process]?.lives == true else { return false }
      return items[handle]!.isPresented && items[handle]!.toShow.isEmpty
        && tracker.followed[program]?.windows.isEmpty == false
    }
    if numbers.chance(0.4), let handle = shown.randomElement(using: &numbers) {
      let item = items[handle]!
      // What the program shows is the item's, if its file says so. Nobody opens a further window in a process that has none.
      guard !item.rule.takesAll, item.rule.linger == nil, !isAwaited(item.appID),
        windows.contains(where: { $0.process == item.process })
      else { return }
      return open(by: item.process!, item.appID, isOfUser: true)
    }
    // A new program of the user's own can be told from one to which a command has handed over.
    if numbers.chance(0.3) { return open(by: process(program: nil, ancestor: nil), appID, isOfUser: true) }
    guard !isAwaited(appID) else { return }
    if numbers.chance(0.3), let handle = shown.randomElement(using: &numbers) {
      // A program that the user has started from the item's.
      return open(by: process(program: nil, ancestor: tracker.program(of: handle)), appID, isOfUser: true)
    }
    let process = numbers.chance(0.5) ? process(program: nil, ancestor: nil) : numbers.pick(owns)
    open(by: process, appID, isOfUser: true)
  }

  private func userCloses() {
    let visible = windows.indices.filter { !windows[$0].isHidden }
    guard let index = visible.randomElement(using: &numbers) else { return }
    note("user-closes \(windows[index].id)")
    close(at: index)
  }

  // MARK: Programs

  private func process(program: Handle?, ancestor: Handle?) -> UInt32 {
    lastNumber += 1
    processes[lastNumber + 100] = Process(program: program, ancestor: ancestor, started: now)
    return lastNumber + 100
  }

  private func open(by process: UInt32, _ appID: String, isOfUser: Bool, startupID: String? = nil) {
    lastNumber += 1
    var facts = WindowProperties()
    // Two windows of one process with one title look the same after both navd and the adapter were away.
    let isFirst = titled.insert(process).inserted
    (facts.appID, facts.title, facts.pid) = (appID, isFirst ? "Home" : "Text \(lastNumber)", process)
    facts.startupID = startupID
    let window = RealWindow(
      id: "w\(lastNumber)", process: process, isOfUser: isOfUser, facts: facts, untold: Set(facts.properties.keys))
    windows.append(window)
    note("opens \(window.id) by \(process) \(appID)\(isOfUser ? " of the user" : "")")
  }

  private func close(at index: Int) {
    if isAdapterThere { tellOpenings() }
    let window = windows.remove(at: index)
    guard isAdapterThere else { return }
    tracker.closed(window.id, at: BootTime(milliseconds: now))
  }

  private func programGoesOn() {
    let running = items.filter { $0.value.process.map { processes[$0]!.lives } == true }.keys.sorted()
    guard let handle = running.randomElement(using: &numbers), tracker.program(of: handle) == handle else { return }
    let item = items[handle]!
    guard item.isStarted else {
      items[handle]!.isStarted = true
      note("runs \(handle)")
      return tracker.programStarted(handle)
    }
    if let next = item.toShow.first {
      items[handle]!.toShow.removeFirst()
      let server = processes.filter { $0.value.lives && $0.value.program == nil && $0.value.started < now - 5000 }.keys
        .min()
      let by = next.byServer ? server ?? process(program: nil, ancestor: handle) : item.process!
      return open(by: by, item.appID, isOfUser: false, startupID: item.settings.startupID?.text)
    }
    switch item.command {
    case .handsOver, .ends: ends(handle, status: 0)
    case .fails: ends(handle, status: 1)
    case .shows, .showsTwo: if numbers.chance(0.05) { ends(handle, status: 0) }
    case .waits: if numbers.chance(0.2) { ends(handle, status: 0) }
    }
  }

  private func ends(_ handle: Handle, status: Int32?) {
    guard let process = items[handle]?.process, processes[process]?.lives == true else { return }
    note("ends \(handle) \(status.map(String.init) ?? "signal")")
    processes[process]!.lives = false
    while let index = windows.firstIndex(where: { $0.process == process }) { close(at: index) }
    perform()
    let result: Properties = status.map { ["status": .int32($0)] } ?? [:]
    tracker.programEnded(handle, failed: false, result: result)
  }

  private func later(ofAdapter: Bool = false, _ run: @escaping () -> Void) { answers.append((ofAdapter, run)) }

  private func answer() {
    guard !answers.isEmpty else { return }
    answers.remove(at: Int.random(in: answers.indices, using: &numbers)).run()
  }

  // MARK: The adapter

  private func facts(of pid: UInt32?) -> WindowProcess? {
    guard let pid, let process = processes[pid], process.lives else { return nil }
    return WindowProcess(
      program: process.program, ancestor: process.ancestor ?? process.program,
      started: BootTime(milliseconds: process.started))
  }

  private func facts(of window: Window) -> WindowProcess? { facts(of: window.properties.pid) }

  private func told(_ window: RealWindow) -> Window {
    Window(id: window.id, WindowProperties(window.facts.properties.filter { !window.untold.contains($0.key) }))
  }

  /// The signals of an adapter keep their order.
  private func tellOpenings() { for index in windows.indices where !windows[index].isTold { tellOpening(index) } }

  private func tellOpening(_ index: Int) {
    windows[index].isTold = true
    for name in windows[index].untold.sorted() where numbers.chance(0.6) { windows[index].untold.remove(name) }
    let window = told(windows[index])
    note("tells-opening \(window.id) \(window.properties.properties.keys.sorted())")
    tracker.opened(window, by: facts(of: window))
  }

  private func adapterTells() {
    guard isAdapterThere else { return }
    let late = windows.indices.filter { windows[$0].isTold && !windows[$0].untold.isEmpty }
    if numbers.chance(0.6), let index = windows.firstIndex(where: { !$0.isTold }) { return tellOpening(index) }
    guard let index = late.randomElement(using: &numbers) else { return }
    let name = numbers.pick(windows[index].untold.sorted())
    windows[index].untold.remove(name)
    let change = WindowProperties(windows[index].facts.properties.filter { $0.key == name })
    note("tells \(windows[index].id) \(name)")
    tracker.changed(windows[index].id, change, by: facts(of: change.pid))
  }

  /// Tells what is known already, and what is wrong.
  private func adapterRepeats() {
    guard isAdapterThere else { return }
    var nonsense = WindowProperties()
    (nonsense.appID, nonsense.pid) = (numbers.pick(Self.apps), 1)
    switch Int.random(in: 0..<4, using: &numbers) {
    case 0: tracker.closed("none", at: BootTime(milliseconds: now))
    case 1: tracker.changed("none", nonsense, by: nil)
    case 2: tracker.hidden("none")
    default:
      guard let window = windows.filter(\.isTold).randomElement(using: &numbers) else { return }
      tracker.opened(told(window), by: facts(of: told(window)))
      tracker.changed(window.id, told(window).properties, by: facts(of: told(window)))
    }
  }

  private func adapterChanges() {
    if isAdapterThere {
      isAdapterThere = false
      answers.removeAll { $0.ofAdapter }
      note("adapter leaves")
      tracker.left()
      if numbers.chance(0.3) { tracker.becameAbsent() }
    } else {
      adapterArrives()
    }
  }

  private func adapterArrives() {
    isAdapterThere = true
    if numbers.chance(0.5) {
      for index in windows.indices {
        lastNumber += 1
        windows[index].id = "w\(lastNumber)"
      }
    }
    note("adapter arrives \(windows.map(\.id))")
    for index in windows.indices { windows[index].isTold = true }
    tracker.arrived(
      Set(WindowCapability.allCases), windows.map(told), at: BootTime(milliseconds: now), processes: facts)
  }

  // MARK: navd

  private func navdIsKilled() {
    note("navd is killed")
    let followed = tracker.followed.all.filter { recorded[$0.key] != nil }
    let shownAs = followed.mapValues { following in
      if case .presentation(let handle) = following.role { handle } else { Handle?.none }
    }
    // The record has what is open or parked.
    let programs = followed.filter { $0.value.isParked || shownAs[$0.key]!.map { items[$0]?.isOver == false } == true }
      .keys.sorted()
    let toShow = tracker.windowsToShow
    tracker = WindowTracker()
    tracker.showLater(toShow)
    (timers, answers) = ([:], [])
    for program in programs {
      let item = items[program]!
      tracker.recover(program, item.rule, item.settings, for: shownAs[program]!, windows: recorded[program]!.windows)
    }
    if isAdapterThere { adapterArrives() } else if numbers.chance(0.5) { tracker.becameAbsent() }
    for program in programs { restore(program, as: shownAs[program]!) }
    note("navd has \(programs.map { "\($0): \(tracker.followed[$0]?.windows ?? [])" })")
    recorded = recorded.filter { programs.contains($0.key) }
    for handle in items.keys where !programs.contains(tracker.program(of: handle)) { items[handle]!.isOver = true }
  }

  private func restore(_ program: Handle, as presentation: Handle?) {
    guard let process = items[program]!.process else { return tracker.notStarted(program) }
    let lives = processes[process]!.lives
    let record = recorded[program]!
    let isDismissed = presentation.map { items[$0]!.isDismissed } ?? false
    let hasWindows = tracker.restore(
      program, windows: record.windows, before: isDismissed ? nil : record.before, beganAt: record.began,
      hidden: record.hidden, hasHadWindow: record.hasHad,
      showedWindowOfUser: record.showedOfUser, hasLost: record.hasLost, end: lives ? nil : [:],
      isPresented: presentation.map { items[$0]!.isPresented } ?? true, isGuest: record.isGuest)
    if hasWindows, let presentation { items[presentation]!.isPresented = true }
    if !hasWindows, !lives, presentation.map({ items[$0]!.isPresented }) ?? true {
      tracker.drop(program)
      parked.remove(program)
      if let presentation { items[presentation]!.isOver = true }
    } else if let presentation, isDismissed {
      tracker.dismiss(presentation, isForced: items[presentation]!.isForced)
      awaitGrace(of: presentation)
    }
  }

  // MARK: What navd does

  private func window(_ id: String) -> Int? { windows.firstIndex { $0.id == id && $0.isTold } }

  private func perform() {
    while case let effects = tracker.takeEffects(), !effects.isEmpty { for effect in effects { perform(effect) } }
    for program in tracker.followed.all.keys where items[program] != nil {
      recorded[program] = (
        tracker.lastingWindows(of: program), tracker.windowsBefore(program), tracker.beginning(of: program),
        tracker.hiddenWindows(of: program), tracker.hasHadWindow(program),
        tracker.showedWindowOfUser(program), tracker.hasLost(program),
        tracker.isGuest(program)
      )
    }
  }

  private func perform(_ effect: WindowTracker.Effect) {
    switch effect {
    case .start(let handle): start(handle)
    case .presented(let handle):
      note("presented \(handle)")
      items[handle]?.isPresented = true
    case .report(let report): take(report)
    case .close(let id): asksToClose(id)
    case .hide(let id):
      guard isAdapterThere, let index = window(id) else { return }
      note("hide \(id)")
      // A guest is hidden until it is shown again (N12).
      if windows[index].isOfUser, tracker.owner(of: id).map({ tracker.isGuest($0) }) != true {
        violate("a window of the user is hidden: \(id)")
      }
      let isRefused = numbers.chance(0.1)
      hide(index, !isRefused)
      later(ofAdapter: true) { [self] in isRefused ? tracker.hideRefused(id, "no") : tracker.hidden(id) }
    case .show(let id), .summon(let id):
      guard isAdapterThere, let index = window(id) else { return }
      note("show \(id)")
      hide(index, false)
      later(ofAdapter: true) { [self] in tracker.shown(id) }
    case .place(let id, _):
      guard let index = window(id) else { return }
      note("place \(id)")
      if windows[index].isOfUser { violate("a window of the user is placed: \(id)") }
    case .terminate(let handle): signals(handle, isFinal: false)
    case .kill(let handle): signals(handle, isFinal: true)
    case .wait(let handle, let milliseconds): timers[handle] = now + milliseconds
    case .stopWaiting(let handle): timers[handle] = nil
    case .confirm(let handle, _):
      later { [self] in
        if isAdapterThere {
          tellOpenings()
          tracker.confirmed(handle)
        } else {
          tracker.unconfirmed(handle)
        }
      }
    case .released(let handle):
      recorded[handle] = nil
      timers[handle] = nil
    case .expect, .stopExpecting, .parkedStays, .abandon, .activate, .move, .waitForFocus, .stopWaitingForFocus,
      .waitForArrival, .windowsChanged:
      break
    }
  }

  private func hide(_ index: Int, _ isHidden: Bool) {
    windows[index].isHidden = isHidden
    windows[index].facts.hidden = isHidden
  }

  private func start(_ handle: Handle) {
    note("start \(handle)")
    items[handle]!.process = process(program: handle, ancestor: handle)
    switch items[handle]!.command {
    case .shows: items[handle]!.toShow = [(false, false)]
    case .showsTwo: items[handle]!.toShow = [(false, false), (false, false)]
    case .handsOver: items[handle]!.toShow = [(false, true)]
    case .ends, .fails, .waits: break
    }
  }

  private func asksToClose(_ id: String) {
    guard isAdapterThere, let index = window(id) else { return }
    note("close \(id)")
    if windows[index].isOfUser { violate("a window of the user is closed: \(id)") }
    later(ofAdapter: true) { [self] in
      guard numbers.chance(0.9) else { return tracker.closeRefused(id, "no") }
      tracker.closeAnswered(id)
      perform()
      if numbers.chance(0.8), let index = window(id) { close(at: index) }
    }
  }

  private func signals(_ handle: Handle, isFinal: Bool) {
    note("\(isFinal ? "kill" : "terminate") \(handle)")
    guard let item = items[handle], let process = item.process, processes[process]?.lives == true else { return }
    // What its user forces ends without a question. A window of which no adapter has told is not known.
    if !item.isForced,
      let window = windows.first(where: { $0.isOfUser && $0.process == process && $0.isTold })
    {
      violate("a program that shows a window of the user gets a signal: \(handle), \(window.id)")
    }
    later { [self] in if isFinal || numbers.chance(0.8) { ends(handle, status: nil) } }
  }

  private func take(_ report: Report) {
    note("reports \(report)")
    switch report {
    case .ended(let handle, _, _), .dismissAnswered(let handle, _), .presentAnswered(let handle, .some): over(handle)
    case .hidden(let handle):
      items[handle]?.isOver = true
      if let program = tracker.followed.all.first(where: { $0.value.isParked && !parked.contains($0.key) })?.key {
        parked.insert(program)
      }
    case .parkedShown(let program): later { [self] in if parked.contains(program) { showAgain(program) } }
    case .parkedEnded(let program): parked.remove(program)
    case .declined(let handle, _):
      items[handle]?.isDismissed = false
      items[handle]?.isAnswered = true
    case .asking(let handle, _): items[handle]?.isAnswered = true
    default: break
    }
  }

  private func over(_ handle: Handle) {
    guard items[handle]?.isOver == false else { return }
    items[handle]!.isOver = true
    toForget.append(handle)
  }

  // MARK: The judge

  /// Lets everything that is under way come to its end, and looks at what is left.
  func settle() {
    if !isAdapterThere { adapterArrives() }
    for handle in items.keys.sorted() where items[handle]!.command == .waits { ends(handle, status: 0) }
    for _ in 0..<2000 {
      perform()
      forgetEnded()
      now += 500
      let isBusy = !answers.isEmpty || !timers.isEmpty || windows.contains { !$0.untold.isEmpty || !$0.isTold }
      guard
        isBusy || items.values.contains(where: { !$0.isOver && !$0.isPresented && !$0.isDismissed && $0.limit != nil })
      else { break }
      adapterTells()
      answer()
      programGoesOn()
      passTime()
    }
    perform()
    for window in windows where window.isHidden {
      guard let owner = tracker.owner(of: window.id), tracker.followed[owner]?.isParked == true else {
        violate("a window stays hidden, and no item shows it: \(window.id)")
        continue
      }
    }
    for handle in active where !items[handle]!.isPresented && tracker.followed[tracker.program(of: handle)] != nil {
      let item = items[handle]!
      let stage = tracker.followed[tracker.program(of: handle)]!.stage
      if !item.isAnswered {
        violate("what was asked for is neither shown nor refused: \(handle) \(item.command) \(stage)")
      }
    }
  }
}
