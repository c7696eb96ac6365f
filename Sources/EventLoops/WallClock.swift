import CLinux
import Glibc

/// The time of day, which may be set to anything while a program runs. It saturates, so that its nanoseconds and its distance to a
/// monotonic clock fit into an `Int64`.
public enum WallClock {
  /// Microseconds since 1970: 0 before 1970, and the largest value, in April 2262, after that.
  public static var microseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return microseconds(time)
  }

  static func microseconds(_ time: timespec) -> UInt64 {
    guard time.tv_sec >= 0 else { return 0 }
    let last = UInt64(Int64.max / 1000)
    let (whole, isPast) = UInt64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000)
    return isPast ? last : min(whole, last - 999_999) + UInt64(clamping: time.tv_nsec) / 1000
  }
}
