// Why this file exists: time-outs must not move with the wall clock, and must not overflow whatever a client asks for.

import CLinux
import Glibc

/// A point on CLOCK_MONOTONIC, which stands still while the machine sleeps.
public struct MonotonicInstant: InstantProtocol, Sendable {
  /// Nanoseconds since the clock's start; never negative when read from the clock.
  public let nanoseconds: Int64

  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  public static var now: MonotonicInstant {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicInstant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
  }

  /// The instant that much later; the last or first one that there is, if that is beyond it.
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
  /// Whole nanoseconds, towards zero; the largest or smallest `Int64` where there are more (about 292 years).
  public var saturatingNanoseconds: Int64 {
    // `components` traps on what has more seconds than an Int64 counts, so the bounds come first.
    if self >= .nanoseconds(Int64.max) { return .max }
    if self <= .nanoseconds(Int64.min) { return .min }
    let (seconds, attoseconds) = components
    return seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
  }
}
