public import EventLoops

/// Waiting for events in tests that have a loop, but no ``Session``.
extension EventLoop {
  /// Turns the loop until the condition holds.
  /// - Returns: whether the condition held within the limit; tests must require it.
  public func turn(until condition: () -> Bool, within limit: Duration = .seconds(30)) -> Bool {
    let end = MonotonicInstant.now + limit
    while !condition() {
      let left = end - MonotonicInstant.now
      guard left > .zero else { return false }
      turn(wait: left)
    }
    return true
  }
}
