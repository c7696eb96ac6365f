import EventLoops

/// The duration of one run, in nanoseconds.
func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
  let start = MonotonicInstant.now
  try body()
  return Double(MonotonicInstant.now.nanoseconds - start.nanoseconds)
}

/// The median duration of `count` runs, in nanoseconds.
func medianNanoseconds(of count: Int, _ body: (Int) throws -> Void) rethrows -> Double {
  median(try (0..<count).map { index in try nanoseconds { try body(index) } })
}

/// Makes the measurements in turn, round after round, so that a change of the machine's speed affects all of them. Each is made once
/// before, without a result.
/// - Returns: for each measurement, the results of the rounds.
func alternating(_ rounds: Int, _ measurements: [() throws -> Double]) throws -> [[Double]] {
  var results = [[Double]](repeating: [], count: measurements.count)
  for measurement in measurements { _ = try measurement() }
  for _ in 0..<rounds {
    for (index, measurement) in measurements.enumerated() { results[index].append(try measurement()) }
  }
  return results
}
