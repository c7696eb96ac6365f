import CLinux
import Glibc
import Testing

@testable import EventLoops

// Clocks and durations at the ends of their range.

@Test("The wall clock saturates before 1970 and after the time whose nanoseconds fit into an Int64")
func wallClock_anyTime_saturates() {
  func microseconds(_ seconds: Int, _ nanoseconds: Int = 0) -> UInt64 {
    WallClock.microseconds(timespec(tv_sec: seconds, tv_nsec: nanoseconds))
  }
  #expect(microseconds(-1, 999_999_999) == 0)
  #expect(microseconds(.min) == 0)
  #expect(microseconds(0, 1999) == 1)
  #expect(microseconds(1_700_000_000, 5000) == 1_700_000_000_000_005)
  for seconds in [9_223_372_036, 9_223_372_037, 1 << 40, .max] {
    let last = microseconds(seconds, 999_999_999)
    #expect(last <= UInt64(Int64.max / 1000) && last > 9_223_372_035_000_000, "\(seconds): \(last)")
  }
}

@Test("Milliseconds of a duration are rounded up, and saturate")
func duration_milliseconds_saturate() {
  #expect(Duration.nanoseconds(1).saturatingMilliseconds == 1)
  #expect(Duration.milliseconds(5).saturatingMilliseconds == 5)
  #expect(Duration.seconds(-1).saturatingMilliseconds == 0)
  for long in [Duration.nanoseconds(Int64.max), .seconds(Int64.max), .milliseconds(UInt64.max)] {
    #expect(long.saturatingMilliseconds == .max)
  }
}
