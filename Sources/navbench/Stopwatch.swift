// Why this file exists: how long something took is measured in one way, in rounds that alternate.

import EventLoops

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

/// Measures several things in turn, so that a mood of the machine meets all of them.
/// - Returns: what each came to in each round.
func alternating(_ rounds: Int, _ measurements: [() throws -> Double]) throws -> [[Double]] {
  var results = [[Double]](repeating: [], count: measurements.count)
  for measurement in measurements { _ = try measurement() }
  for _ in 0..<rounds {
    for (index, measurement) in measurements.enumerated() { results[index].append(try measurement()) }
  }
  return results
}
