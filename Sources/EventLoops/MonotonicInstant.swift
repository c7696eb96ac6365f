import CLinux
import Glibc

/// A point in time on CLOCK_MONOTONIC. Changes of the wall clock do not affect this clock, and it stops while the machine sleeps.
/// Arithmetic saturates, since clients choose timeouts.
public struct MonotonicInstant: InstantProtocol, Sendable {
  /// Nanoseconds since the start of the clock; not negative if read from the clock.
  public let nanoseconds: Int64

  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  public static var now: MonotonicInstant {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicInstant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
  }

  /// The instant after a duration; the last or the first instant if it would be out of range.
  public func advanced(by duration: Duration) -> MonotonicInstant {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.saturatingNanoseconds)
    if overflow { return MonotonicInstant(nanoseconds: duration < .zero ? .min : .max) }
    return MonotonicInstant(nanoseconds: sum)
  }

  public func duration(to other: MonotonicInstant) -> Duration {
    .nanoseconds(other.nanoseconds) - .nanoseconds(nanoseconds)
  }

  public static func < (a: Self, b: Self) -> Bool { a.nanoseconds < b.nanoseconds }
  public static func + (instant: Self, duration: Duration) -> Self { instant.advanced(by: duration) }
  public static func - (instant: Self, duration: Duration) -> Self { instant.advanced(by: .zero - duration) }
  public static func - (later: Self, earlier: Self) -> Duration { earlier.duration(to: later) }
}

extension Duration {
  /// Whole nanoseconds, rounded towards zero; `Int64.max` or `Int64.min` if out of range (about 292 years).
  public var saturatingNanoseconds: Int64 {
    // `components` traps if the seconds overflow an Int64, so the bounds are checked first.
    if self >= .nanoseconds(Int64.max) { return .max }
    if self <= .nanoseconds(Int64.min) { return .min }
    let (seconds, attoseconds) = components
    return seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
  }

  /// Whole milliseconds, as system calls expect a limit. They are rounded up, since a shorter wait would end before the requested time;
  /// 0 for a negative duration, and `Int32.max` if out of range.
  public var saturatingMilliseconds: Int32 {
    let nanoseconds = max(0, saturatingNanoseconds)
    return Int32(clamping: nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1))
  }
}
