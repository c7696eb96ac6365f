import CLinux
import Glibc

/// Waits for descriptors, timers, signals and ends of processes on one thread, with one epoll descriptor.
///
/// The loop runs in *turns*. A turn waits for an event and then calls handlers in this order: the work that was given to ``soon(_:)``
/// before the turn; each ready descriptor, once; each timer that is due; the hooks of ``atEndOfTurn(of:_:)``. Handlers limit their own
/// work, so that none starves another. A handler that was cancelled is not called, even later in the same turn.
///
/// If the program was stopped, or kept from running, input that came in time may be behind other input. So timers that are late wait
/// for turns without input, but not for long.
///
/// Use the loop, and everything that belongs to it, only on the thread that runs it. Its descriptors are close-on-exec.
public final class EventLoop {
  public typealias Instant = MonotonicInstant

  /// The largest number of ready descriptors per turn. The kernel rotates among the others, so none starves.
  private static let batch = 128

  private let epoll: Int32
  private let timerDescriptor: Int32
  /// The timerfd's number in events; those of watches begin with 1.
  private static let timerToken: UInt64 = 0
  private var events: [epoll_event]

  private var watches: [UInt64: Watch] = [:]
  private var lastToken: UInt64 = 0

  private var timers = TimerHeap()
  private var lastSequence: UInt64 = 0
  /// The time at which the timerfd fires; nil if it is disarmed. It may be before the first timer: an occasional turn without work
  /// costs less than a system call for each timer that is set and cancelled.
  private var armed: Instant?
  /// The latest time for late timers to fire; nil if none is late.
  private var patience: Instant?

  /// The lateness of a timer that shows that the program was stopped, or kept from running.
  private static let stop = Duration.milliseconds(100)
  /// The time that input may keep late timers waiting. It is shorter than what others may have to wait (L2).
  private static let longestPatience = Duration.milliseconds(200)

  private var soonWork: [() -> Void] = []
  /// The hooks; each returns whether its owner still lives.
  private var endOfTurnHooks: [() -> Bool] = []
  private var isStopping = false
  private var isInTurn = false

  private let clock: () -> Instant

  /// - Parameter clock: the time for timers and ``now``; a test may pass its own clock.
  public init(clock: @escaping () -> Instant = { .now }) throws(SystemError) {
    self.clock = clock
    epoll = try check("epoll_create1") { epoll_create1(Int32(EPOLL_CLOEXEC)) }
    do throws(SystemError) {
      timerDescriptor = try check("timerfd_create") {
        timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK))
      }
    } catch {
      close(epoll)
      throw error
    }
    events = Array(repeating: epoll_event(), count: Self.batch)
    // `deinit` closes both descriptors if this throws from here on.
    var event = epoll_event()
    event.events = EPOLLIN.rawValue
    event.data.u64 = Self.timerToken
    try check("epoll_ctl on the timer") { epoll_ctl(epoll, EPOLL_CTL_ADD, timerDescriptor, &event) }
  }

  deinit {
    close(epoll)
    close(timerDescriptor)
  }

  // MARK: Descriptors

  /// Watches a descriptor until the watch is cancelled. A descriptor can have one watch at a time.
  /// - Throws: ``SystemError`` with `EEXIST` if the descriptor is watched already, `EPERM` if it cannot be watched (a regular
  ///   file), `EBADF`, `ENOMEM` or `ENOSPC`.
  @discardableResult
  public func watch(
    _ descriptor: Int32, _ interest: Interest, _ handler: @escaping (Readiness) -> Void
  ) throws(SystemError) -> Watch {
    lastToken += 1
    let watch = Watch(descriptor: descriptor, token: lastToken, interest: interest, loop: self, handler: handler)
    if !interest.isEmpty { try control(EPOLL_CTL_ADD, watch) }
    watches[watch.token] = watch
    return watch
  }

  func interestChanged(of watch: Watch, from old: Interest) {
    guard watches[watch.token] === watch else { return }
    do throws(SystemError) {
      if watch.interest.isEmpty {
        try control(EPOLL_CTL_DEL, watch)
      } else {
        try control(old.isEmpty ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, watch)
      }
    } catch {
      soon { watch.handler?(.error) }
    }
  }

  func forget(_ watch: Watch) {
    guard watches.removeValue(forKey: watch.token) != nil, !watch.interest.isEmpty else { return }
    // The call fails only for a descriptor that was closed before; epoll has then removed it
    // already.
    try? control(EPOLL_CTL_DEL, watch)
  }

  func forgetClosing(_ watch: Watch) { watches[watch.token] = nil }

  private func control(_ operation: Int32, _ watch: Watch) throws(SystemError) {
    var event = epoll_event()
    if watch.interest.contains(.read) { event.events |= EPOLLIN.rawValue }
    if watch.interest.contains(.write) { event.events |= EPOLLOUT.rawValue }
    event.data.u64 = watch.token
    try check("epoll_ctl on descriptor \(watch.descriptor)") { epoll_ctl(epoll, operation, watch.descriptor, &event) }
  }

  // MARK: Time

  /// The time now, read anew each time.
  public var now: Instant { clock() }

  /// Calls the handler once, after the delay. With a delay of zero or less, the timer is due at the end of this turn, or in the next
  /// turn if the timers of this turn have been called.
  @discardableResult
  public func timer(after delay: Duration, _ handler: @escaping () -> Void) -> Timer {
    timer(at: now + max(delay, .zero), handler)
  }

  /// Calls the handler once, at the deadline or in the first turn after it.
  @discardableResult
  public func timer(at deadline: Instant, _ handler: @escaping () -> Void) -> Timer {
    lastSequence += 1
    let timer = Timer(deadline: deadline, sequence: lastSequence, handler: handler)
    timers.insert(timer)
    return timer
  }

  private func acknowledgeTimer() {
    var expirations: UInt64 = 0
    _ = read(timerDescriptor, &expirations, MemoryLayout<UInt64>.size)
    armed = nil
  }

  /// - Returns: whether a timer is due already. If so, the turn must not wait.
  private func armTimer() -> Bool {
    guard let first = timers.first() else { return false }
    if let armed, armed <= first.deadline { return first.deadline <= now }
    if first.deadline <= now { return true }
    // A time of zero would disarm the timerfd.
    let nanoseconds = max(first.deadline.nanoseconds, 1)
    var setting = itimerspec()
    setting.it_value.tv_sec = Int(nanoseconds / 1_000_000_000)
    setting.it_value.tv_nsec = Int(nanoseconds % 1_000_000_000)
    timerfd_settime(timerDescriptor, Int32(TFD_TIMER_ABSTIME), &setting, nil)
    armed = first.deadline
    return false
  }

  /// - Parameter hasInput: whether the turn had work or a ready descriptor.
  /// - Returns: whether a timer has fired.
  private func fireTimers(hasInput: Bool) -> Bool {
    guard let first = timers.first() else { return false }
    let now = self.now
    if hasInput, now - first.deadline >= Self.stop {
      let end = patience ?? now + Self.longestPatience
      patience = end
      if now < end { return false }
    }
    patience = nil
    let newest = lastSequence
    var isDue = false
    // A timer that a handler creates waits for the next turn, so that a timer which renews itself starves none.
    while let timer = timers.first(), timer.deadline <= now, timer.sequence <= newest {
      isDue = true
      let handler = timer.handler
      timer.handler = nil
      handler?()
    }
    return isDue
  }

  // MARK: Work

  /// Calls the work in the next turn, which does not wait for an event.
  public func soon(_ work: @escaping () -> Void) { soonWork.append(work) }

  /// Adds a hook for as long as its owner lives. Hooks run at the end of each turn, in the order in which they were added. Work that they
  /// give to ``soon(_:)`` runs in the next turn.
  public func atEndOfTurn<Owner: AnyObject>(of owner: Owner, _ hook: @escaping (Owner) -> Void) {
    endOfTurnHooks.append { [weak owner] in
      guard let owner else { return false }
      hook(owner)
      return true
    }
  }

  private func runHooks() {
    // The loop uses an index, since a hook may add a hook.
    var index = 0
    while index < endOfTurnHooks.count {
      if endOfTurnHooks[index]() { index += 1 } else { endOfTurnHooks.remove(at: index) }
    }
  }

  // MARK: Turns

  /// Runs turns until ``stop()``.
  public func run() {
    isStopping = false
    runHooks()
    while !isStopping { _ = step(wait: nil) }
  }

  /// Makes ``run()`` return at the end of the current turn.
  public func stop() { isStopping = true }

  /// Runs one turn. Hooks also run before the wait, for changes that were made between turns.
  /// - Parameter wait: the longest time to wait for an event; nil for no limit.
  /// - Returns: whether there was an event or work.
  @discardableResult
  public func turn(wait: Duration?) -> Bool {
    runHooks()
    return step(wait: wait)
  }

  private func step(wait: Duration?) -> Bool {
    precondition(!isInTurn, "a handler may not run a turn of the loop that called it")
    isInTurn = true
    defer { isInTurn = false }

    let isTimerDue = armTimer()
    let count = epoll_wait(epoll, &events, Int32(Self.batch), isTimerDue ? 0 : waitMilliseconds(wait))
    // Errors other than an interruption (EBADF, EINVAL) are bugs, and continuing would spin.
    precondition(count >= 0 || errno == EINTR, "epoll_wait failed")

    let work = soonWork
    soonWork = []
    for item in work { item() }

    var hasInput = !work.isEmpty
    for index in 0..<max(0, Int(count)) {
      let event = events[index]
      guard event.data.u64 != Self.timerToken else {
        acknowledgeTimer()
        continue
      }
      hasInput = true
      watches[event.data.u64]?.handler?(Readiness(epoll: event.events))
    }
    let hasFired = fireTimers(hasInput: hasInput)
    runHooks()
    return count > 0 || !work.isEmpty || hasFired
  }

  private func waitMilliseconds(_ wait: Duration?) -> Int32 {
    if !soonWork.isEmpty { return 0 }
    return wait?.saturatingMilliseconds ?? -1
  }
}

extension Readiness {
  fileprivate init(epoll events: UInt32) {
    self = []
    if events & EPOLLIN.rawValue != 0 { insert(.read) }
    if events & EPOLLOUT.rawValue != 0 { insert(.write) }
    if events & EPOLLHUP.rawValue != 0 { insert(.hangUp) }
    if events & EPOLLERR.rawValue != 0 { insert(.error) }
  }
}
