// Why this file exists: how long something took is measured in one way.

import EventLoop

/// How long a body takes, in nanoseconds.
func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
  let start = MonotonicInstant.now
  try body()
  return Double(MonotonicInstant.now.nanoseconds - start.nanoseconds)
}

/// The median of how long each of a number of runs takes, in nanoseconds.
func medianNanoseconds(of count: Int, _ body: (Int) throws -> Void) rethrows -> Double {
  median(try (0..<count).map { index in try nanoseconds { try body(index) } })
}
