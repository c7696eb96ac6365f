// Why this file exists: navd is one thread that waits in one place; here is the place, and the order in which what
// has happened is handled.

import CLinux
import Glibc

/// One thread's wait for descriptors, timers, signals and ends of processes, on one epoll descriptor.
///
/// Time goes in *turns*. A turn waits, then calls the handlers of `soon` from before it, of every descriptor that is
/// ready (each once: handlers bound their own work, so none starves another), of every timer that is due, and at its
/// end the hooks of ``atEndOfTurn(_:)``. What a handler cancels is not called any more, in the same turn either.
///
/// Everything happens on the thread that runs the loop, and nothing here may be touched from another. Descriptors are
/// made close-on-exec.
public final class EventLoop {
  public typealias Instant = MonotonicInstant

  /// How many ready descriptors one turn takes. The kernel goes round those that are left, so it is fair.
  private static let batch = 128

  private let epoll: Int32
  private let timerDescriptor: Int32
  private var events: [epoll_event]

  private var watches: [UInt64: Watch] = [:]
  private var lastToken: UInt64 = 0

  var timers = TimerHeap()
  private var lastSequence: UInt64 = 0
  /// When the timerfd will fire; nil if it will not. It may be earlier than the first timer: a wasted turn now and
  /// then costs less than a system call for each time-out that is set and cancelled.
  private var armed: Instant?

  private var soonWork: [() -> Void] = []
  private var endOfTurnHooks: [() -> Void] = []
  private var isStopping = false
  private var isInTurn = false

  private let clock: () -> Instant

  /// - Parameter clock: the time for timers and ``now``; a test may hand in a clock of its own.
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
    // From here on, deinit closes them if this throws.
    try watch(timerDescriptor, .read) { [unowned self] _ in acknowledgeTimer() }
  }

  deinit {
    close(epoll)
    close(timerDescriptor)
  }

  // MARK: Descriptors

  /// Watches a descriptor until the watch is cancelled. A descriptor has one watch at a time.
  /// - Throws: `EEXIST` if it is watched already, `EPERM` if it is of a kind that is always ready (a regular file),
  ///   `EBADF`, or `ENOMEM`/`ENOSPC`.
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
    // It fails only if the descriptor was closed before the watch was cancelled, and then there is nothing to take out.
    try? control(EPOLL_CTL_DEL, watch)
  }

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

  /// Calls the handler once, that long after now (in the next turn at the earliest, also for nothing or less).
  @discardableResult
  public func timer(after delay: Duration, _ handler: @escaping () -> Void) -> Timer {
    timer(at: now + max(delay, .zero), handler)
  }

  /// Calls the handler once, at that instant or as soon as it is over.
  @discardableResult
  public func timer(at deadline: Instant, _ handler: @escaping () -> Void) -> Timer {
    lastSequence += 1
    let timer = Timer(deadline: deadline, sequence: lastSequence, loop: self, handler: handler)
    timers.insert(timer)
    return timer
  }

  private func acknowledgeTimer() {
    var expirations: UInt64 = 0
    _ = read(timerDescriptor, &expirations, MemoryLayout<UInt64>.size)
    armed = nil
  }

  private func armTimer() {
    guard let first = timers.first else { return }
    if let armed, armed <= first.deadline { return }
    // A time of nothing would disarm it.
    let nanoseconds = max(first.deadline.nanoseconds, 1)
    var setting = itimerspec()
    setting.it_value.tv_sec = Int(nanoseconds / 1_000_000_000)
    setting.it_value.tv_nsec = Int(nanoseconds % 1_000_000_000)
    timerfd_settime(timerDescriptor, Int32(TFD_TIMER_ABSTIME), &setting, nil)
    armed = first.deadline
  }

  private func fireTimers() {
    guard timers.first != nil else { return }
    let now = self.now
    let newest = lastSequence
    // A timer that is made meanwhile waits for the next turn, so that one which sets itself anew starves nobody.
    while let timer = timers.first, timer.deadline <= now, timer.sequence <= newest {
      timers.remove(timer)
      let handler = timer.handler
      timer.handler = nil
      handler?()
    }
  }

  // MARK: Work

  /// Does the work in the next turn, which then does not wait.
  public func soon(_ work: @escaping () -> Void) { soonWork.append(work) }

  /// Adds a hook for good: hooks run at the end of each turn, before the next wait, in the order of their adding. What
  /// they hand to ``soon(_:)`` is done in the next turn, and their hooks after that.
  public func atEndOfTurn(_ hook: @escaping () -> Void) { endOfTurnHooks.append(hook) }

  private func runHooks() {
    // By index: a hook may add a hook.
    var index = 0
    while index < endOfTurnHooks.count {
      endOfTurnHooks[index]()
      index += 1
    }
  }

  // MARK: Turns

  /// Turns until ``stop()``.
  public func run() {
    isStopping = false
    runHooks()
    while !isStopping { _ = step(wait: nil) }
  }

  /// Makes ``run()`` return at the end of the turn that it is in.
  public func stop() { isStopping = true }

  /// One turn, for who drives the loop by hand. The hooks run before the wait too, since what was done between turns
  /// may have left them something.
  /// - Parameter wait: how long to wait for something to happen at most; nil for ever.
  /// - Returns: whether anything happened.
  @discardableResult
  public func turn(wait: Duration?) -> Bool {
    runHooks()
    return step(wait: wait)
  }

  private func step(wait: Duration?) -> Bool {
    precondition(!isInTurn, "a handler may not turn the loop that called it")
    isInTurn = true
    defer { isInTurn = false }

    armTimer()
    let count = epoll_wait(epoll, &events, Int32(Self.batch), waitMilliseconds(wait))
    // Anything else than being interrupted would be a fault of ours (EBADF, EINVAL), and going on would spin.
    precondition(count >= 0 || errno == EINTR, "epoll_wait failed")

    let work = soonWork
    soonWork = []
    for item in work { item() }

    for index in 0..<max(0, Int(count)) {
      let event = events[index]
      watches[event.data.u64]?.handler?(Readiness(epoll: event.events))
    }
    fireTimers()
    runHooks()
    return count > 0 || !work.isEmpty
  }

  private func waitMilliseconds(_ wait: Duration?) -> Int32 {
    if !soonWork.isEmpty { return 0 }
    guard let wait else { return -1 }
    let nanoseconds = max(0, wait.saturatingNanoseconds)
    // Rounded up: a shorter wait would end before the time that was asked for.
    let milliseconds = nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1)
    return Int32(clamping: milliseconds)
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
