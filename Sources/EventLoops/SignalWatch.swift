import CLinux
import Glibc

/// Signals that an ``EventLoop`` reads from a descriptor, until the watch is cancelled. So their handlers are ordinary code, not
/// limited to async-signal-safe functions.
public final class SignalWatch {
  private let descriptor: Int32
  private var watch: Watch?
  /// The signals to unblock on cancel: those that were not blocked before.
  private var blocked: sigset_t

  fileprivate init(descriptor: Int32, blocked: sigset_t) {
    self.descriptor = descriptor
    self.blocked = blocked
  }

  fileprivate func start(_ loop: EventLoop, _ handler: @escaping (Int32) -> Void) throws(SystemError) {
    watch = try loop.watch(descriptor, .read) { [self] _ in
      var info = signalfd_siginfo()
      // One signal per turn, so that many signals do not delay other events.
      guard read(descriptor, &info, MemoryLayout<signalfd_siginfo>.size) == MemoryLayout<signalfd_siginfo>.size
      else { return }
      handler(Int32(bitPattern: info.ssi_signo))
    }
  }

  /// Unblocks the signals. Call this on the loop's thread.
  public func cancel() {
    guard let watch else { return }
    watch.cancel()
    self.watch = nil
    close(descriptor)
    pthread_sigmask(SIG_UNBLOCK, &blocked, nil)
  }
}

extension EventLoop {
  /// Blocks the signals on the calling thread, which must be the loop's, and calls the handler with the number of each signal that
  /// arrives. A program with other threads blocks the signals there too, since any thread can receive a process's signals.
  /// - Throws: ``SystemError`` with `EINVAL` for an invalid number, `EMFILE`, `ENFILE` or `ENOMEM`.
  @discardableResult
  public func onSignal(
    _ signals: [Int32], _ handler: @escaping (Int32) -> Void
  ) throws(SystemError) -> SignalWatch {
    var (set, before) = try block(signals)
    var blocked = sigset_t()
    sigemptyset(&blocked)
    for signal in signals where sigismember(&before, signal) == 0 { sigaddset(&blocked, signal) }

    var descriptor: Int32 = -1
    do throws(SystemError) {
      descriptor = try check("signalfd") {
        signalfd(-1, &set, Int32(SFD_CLOEXEC) | Int32(SFD_NONBLOCK))
      }
      let signalWatch = SignalWatch(descriptor: descriptor, blocked: blocked)
      try signalWatch.start(self, handler)
      return signalWatch
    } catch {
      if descriptor >= 0 { close(descriptor) }
      pthread_sigmask(SIG_UNBLOCK, &blocked, nil)
      throw error
    }
  }
}

extension EventLoop {
  /// Does the same as ``onSignal(_:_:)`` for signals that end the process, and for a loop whose handlers may wait for another program
  /// for ever.
  ///
  /// A separate thread receives the signals. Call this before there are other threads; it lasts as long as the process.
  /// - Parameter timeout: the time after the first signal. If the process still runs then, it exits with status 0.
  /// - Throws: the errors of ``onSignal(_:_:)``, and `EAGAIN` if no thread can be made.
  public func onEndingSignal(
    _ signals: [Int32], timeout: Duration, _ handler: @escaping () -> Void
  ) throws(SystemError) {
    let set = try block(signals).set
    let event = try check("eventfd") { eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK)) }
    try watch(event, .read) { _ in
      var count: UInt64 = 0
      _ = read(event, &count, MemoryLayout<UInt64>.size)
      handler()
    }
    let state = Unmanaged.passRetained(SignalThread(set, event: event, milliseconds: timeout.saturatingMilliseconds))
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil, { Unmanaged<SignalThread>.fromOpaque($0!).takeRetainedValue().run() }, state.toOpaque())
    if code != 0 {
      state.release()
      throw SystemError(code: code, operation: "pthread_create")
    }
    pthread_detach(thread)
  }
}

/// Blocks signals on the calling thread.
/// - Returns: the set of these signals, and the set of the signals that were blocked before.
private func block(_ signals: [Int32]) throws(SystemError) -> (set: sigset_t, before: sigset_t) {
  var (set, before) = (sigset_t(), sigset_t())
  sigemptyset(&set)
  for signal in signals {
    if sigaddset(&set, signal) != 0 { throw SystemError("sigaddset \(signal)") }
  }
  let failure = pthread_sigmask(SIG_BLOCK, &set, &before)
  if failure != 0 { throw SystemError(code: failure, operation: "pthread_sigmask") }
  return (set, before)
}

/// The thread that receives the signals.
private final class SignalThread: Sendable {
  private let signals: sigset_t
  private let event: Int32
  private let milliseconds: Int32

  init(_ signals: sigset_t, event: Int32, milliseconds: Int32) {
    (self.signals, self.event, self.milliseconds) = (signals, event, milliseconds)
  }

  func run() -> Never {
    var (signals, number, one) = (signals, Int32(0), UInt64(1))
    while sigwait(&signals, &number) != 0 {}
    _ = write(event, &one, MemoryLayout<UInt64>.size)
    poll(nil, 0, milliseconds)
    _exit(0)
  }
}
