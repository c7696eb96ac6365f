/// Ids for windows to which the window system gives no unique name.
final class WindowIDs {
  /// The prefix, which differs between runs of the adapter.
  let token = String(UInt64.random(in: .min ... .max), radix: 36)
  private var last: UInt64 = 0

  func next() -> String {
    last += 1
    return "\(token)-\(last)"
  }
}
