import CLinux
import Glibc

/// The way in which a process ended.
public enum ProcessStatus: Hashable, Sendable {
  case exited(code: Int32)
  case signaled(signal: Int32)
  /// The process was not a child of this one, or another call has taken its status.
  case unknown
}

/// Watches for the end of one process, until the end or until the watch is cancelled. It uses a pidfd, which refers to this process
/// even after its number is reused.
public final class ExitWatch {
  /// The pidfd of the process. It is open until the end is reported or the watch is cancelled.
  public let pidfd: Int32
  private var watch: Watch?

  fileprivate init(pidfd: Int32) { self.pidfd = pidfd }

  fileprivate func start(_ loop: EventLoop, _ handler: @escaping (ProcessStatus) -> Void) throws(SystemError) {
    watch = try loop.watch(pidfd, .read) { [self] _ in
      let status = reap(pidfd: pidfd)
      cancel()
      handler(status)
    }
  }

  /// Sends a signal to this process and no other.
  /// - Returns: whether it was sent; false if the process has ended.
  @discardableResult
  public func send(_ signal: Int32) -> Bool {
    watch != nil && pidfd_send_signal(pidfd, signal, nil, 0) == 0
  }

  /// Whether the process has ended, even if the end has not been reported yet.
  public var hasEnded: Bool {
    var ready = pollfd(fd: pidfd, events: Int16(POLLIN), revents: 0)
    return watch == nil || poll(&ready, 1, 0) > 0
  }

  /// Ends the watch. If the process is a child of this one, the caller has to reap it.
  public func cancel() {
    guard let watch else { return }
    self.watch = nil
    watch.close()
  }
}

/// Takes the status of a child that has ended.
private func reap(pidfd: Int32) -> ProcessStatus {
  var info = siginfo_t()
  while linux_wait_pidfd(pidfd, &info, WEXITED | WNOHANG) != 0 {
    if errno != EINTR { return .unknown }
  }
  guard linux_siginfo_pid(&info) != 0 else { return .unknown }
  let status = linux_siginfo_status(&info)
  switch Int32(info.si_code) {
  case Int32(CLD_EXITED): return .exited(code: status)
  case Int32(CLD_KILLED), Int32(CLD_DUMPED): return .signaled(signal: status)
  default: return .unknown
  }
}

extension EventLoop {
  /// Calls the handler once, when the process has ended. A child of this process is reaped first. The caller makes sure that the number
  /// belongs to the process: to a child that was not reaped, or to a process whose start time is compared after this call.
  /// - Throws: ``SystemError`` with `ESRCH` if there is no such process, `EMFILE`, `ENFILE` or `ENOMEM`.
  @discardableResult
  public func onExit(
    of pid: pid_t, _ handler: @escaping (ProcessStatus) -> Void
  ) throws(SystemError) -> ExitWatch {
    try onExit(pidfd: try check("pidfd_open \(pid)") { pidfd_open(pid, 0) }, handler)
  }

  /// Does the same for a process of which the caller has a pidfd. The watch closes the pidfd, even if this throws.
  public func onExit(
    pidfd: Int32, _ handler: @escaping (ProcessStatus) -> Void
  ) throws(SystemError) -> ExitWatch {
    let exitWatch = ExitWatch(pidfd: pidfd)
    do throws(SystemError) {
      try exitWatch.start(self, handler)
    } catch {
      close(exitWatch.pidfd)
      throw error
    }
    return exitWatch
  }
}
