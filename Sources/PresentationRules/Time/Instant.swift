/// A point in time on a monotonic clock. The state machine has no clock of its own: each input carries the time. Arithmetic saturates,
/// since clients choose timeouts and the wall clock may be set to anything.
public struct Instant: Hashable, Comparable, Sendable {
  public let nanoseconds: UInt64
  public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }
  public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }

  /// The nanoseconds by which a wall clock is ahead of this clock.
  /// - Parameter microseconds: the wall clock's time at this instant, since 1970.
  public func lead(ofWallClock microseconds: UInt64) -> Int64 {
    Int64(clamping: Int128(microseconds) * 1000 - Int128(nanoseconds))
  }

  /// The instant some milliseconds later; the end of time on overflow.
  func after(milliseconds: UInt64) -> Instant {
    let (span, tooLong) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
    return tooLong ? Instant(nanoseconds: .max) : after(nanoseconds: span)
  }

  /// The instant some nanoseconds later; the end of time on overflow.
  func after(nanoseconds span: UInt64) -> Instant {
    let (sum, tooLate) = nanoseconds.addingReportingOverflow(span)
    return Instant(nanoseconds: tooLate ? .max : sum)
  }

  /// The nanoseconds since an earlier instant; 0 if the other is later.
  package func nanoseconds(since other: Instant) -> UInt64 { nanoseconds - min(nanoseconds, other.nanoseconds) }

  /// The whole milliseconds since an earlier instant; 0 if the other is later.
  package func milliseconds(since other: Instant) -> UInt64 { nanoseconds(since: other) / 1_000_000 }

  /// The instant some nanoseconds later or earlier.
  package func moved(by span: Int64) -> Instant {
    Instant(nanoseconds: UInt64(clamping: Int128(nanoseconds) + Int128(span)))
  }
}
