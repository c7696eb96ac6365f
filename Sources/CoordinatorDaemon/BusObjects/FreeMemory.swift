import CLinux
import EventLoops

/// Gives memory back to the system that requests have needed. glibc does so by itself only at the end of the heap, so that
/// what is free between two blocks in use would stay with navd for hours.
final class FreeMemory {
  /// Free bytes that stay for the next requests.
  private static let reserve = 1 << 19
  /// The least time between two walks through the heap.
  private static let interval = Duration.seconds(1)

  private let loop: EventLoop
  private var due: EventLoop.Instant?

  init(_ loop: EventLoop) { self.loop = loop }

  func noteChange() {
    if due == nil { due = loop.now + Self.interval }
  }

  /// Gives it back with the first turn that comes a second after a change: no timer wakes navd up for it.
  func endTurn() {
    guard let due, loop.now >= due else { return }
    self.due = nil
    if mallinfo2().fordblks > Self.reserve { malloc_trim(0) }
  }
}
