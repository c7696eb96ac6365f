public import EventLoops

/// Waiting for events in tests that have a loop, but no ``Session``.
extension EventLoop {
  /// Turns the loop until the condition holds.
  /// - Parameter pause: the longest time between two looks at a condition without an event, such as the contents of a file; nil if an
  ///   event of the loop tells each change of it.
  /// - Returns: whether the condition held within the limit; tests must require it.
  public func turn(
    until condition: () throws -> Bool, within limit: Duration = .seconds(30), lookingEvery pause: Duration? = nil
  ) rethrows -> Bool {
    let end = MonotonicInstant.now + limit
    while try !condition() {
      let left = end - MonotonicInstant.now
      guard left > .zero else { return false }
      turn(wait: min(left, pause ?? left))
    }
    return true
  }
}
