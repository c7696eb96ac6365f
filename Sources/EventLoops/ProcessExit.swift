// Why this file exists: a pidfd tells the end of exactly one process, whatever becomes of its number.

import CLinux
import Glibc

/// How a process ended.
public enum ProcessStatus: Hashable, Sendable {
  case exited(code: Int32)
  case signaled(signal: Int32)
  /// It was not our child, or somebody else has taken its status.
  case unknown
}

/// A process whose end an ``EventLoop`` waits for, until it has come or the wait is cancelled.
public final class ExitWatch {
  /// The process, for `pidfd_send_signal`; open until its end was told or the wait cancelled.
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

  /// Sends a signal to this process and no other. A process that has ended is no failure.
  /// - Returns: whether it was sent.
  @discardableResult
  public func send(_ signal: Int32) -> Bool {
    watch != nil && pidfd_send_signal(pidfd, signal, nil, 0) == 0
  }

  /// Waits no longer. If the process is our child, somebody else has to reap it.
  public func cancel() {
    guard let watch else { return }
    self.watch = nil
    watch.cancel()
    close(pidfd)
  }
}

/// Takes the status of a process that has ended.
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
  /// Calls the handler once, when the process has ended; a child of ours is reaped then. The number must be sure to be
  /// the process's: a child that was not yet reaped, or one whose start time is compared after this call.
  /// - Throws: `ESRCH` if there is no such process, `EMFILE` and the like.
  @discardableResult
  public func onExit(
    of pid: pid_t, _ handler: @escaping (ProcessStatus) -> Void
  ) throws(SystemError) -> ExitWatch {
    let exitWatch = ExitWatch(pidfd: try check("pidfd_open \(pid)") { pidfd_open(pid, 0) })
    do throws(SystemError) {
      try exitWatch.start(self, handler)
    } catch {
      close(exitWatch.pidfd)
      throw error
    }
    return exitWatch
  }
}
