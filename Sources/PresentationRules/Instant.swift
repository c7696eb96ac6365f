/// A point in time on a monotonic clock. The state machine has no clock of its own: each input carries the time.
public struct Instant: Hashable, Comparable, Sendable {
  public let nanoseconds: UInt64
  public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }
  public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }

  /// The point some milliseconds later; the end of time where that overflows.
  func after(milliseconds: UInt64) -> Instant {
    let (span, tooLong) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
    let (sum, tooLate) = nanoseconds.addingReportingOverflow(span)
    return Instant(nanoseconds: tooLong || tooLate ? .max : sum)
  }
}
