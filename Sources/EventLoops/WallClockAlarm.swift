import CLinux
import Glibc

/// A timer of the wall clock. It calls its handler when the clock reaches a time, even if the machine slept meanwhile, and whenever
/// the clock is set.
package final class WallClockAlarm {
  private let descriptor: Int32
  private var watch: Watch?

  /// - Throws: ``SystemError`` if the system has no descriptors or memory left.
  package init(_ loop: EventLoop, _ handler: @escaping () -> Void) throws(SystemError) {
    descriptor = try check("timerfd_create") {
      timerfd_create(CLOCK_REALTIME, Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK))
    }
    watch = try loop.watch(descriptor, .read) { [descriptor] _ in
      var count: UInt64 = 0
      // The read fails with `ECANCELED` if the clock was set.
      _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
      handler()
    }
  }

  /// - Parameter seconds: the time since 1970.
  package func set(at seconds: Int64) {
    var setting = itimerspec()
    setting.it_value.tv_sec = time_t(max(1, seconds))
    timerfd_settime(descriptor, Int32(TFD_TIMER_ABSTIME) | Int32(TFD_TIMER_CANCEL_ON_SET), &setting, nil)
  }

  deinit {
    watch?.cancel()
    close(descriptor)
  }
}
