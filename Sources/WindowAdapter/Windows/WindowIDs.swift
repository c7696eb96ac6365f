/// Ids for windows of which the window system has no name that is never used twice.
final class WindowIDs {
  /// Differs between runs of the adapter.
  let token = String(UInt64.random(in: .min ... .max), radix: 36)
  private var last: UInt64 = 0

  func next() -> String {
    last += 1
    return "\(token)-\(last)"
  }
}
