/// The times at which failed work is repeated: ever less often, until the time is over.
package struct Retries {
  private var delay = Duration.milliseconds(500)
  private var left: Duration
  private static let longestDelay = Duration.seconds(15)

  package init(for time: Duration) { left = time }

  /// The pause before the next attempt; nil if the time is over.
  package mutating func next() -> Duration? {
    guard left > .zero else { return nil }
    let next = min(delay, left)
    left -= next
    delay = min(delay * 2, Self.longestDelay)
    return next
  }
}
