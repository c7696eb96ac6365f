import CLinux
import EventLoops
import PresentationRules

/// Returns free memory to the system. glibc does so by itself only at the end of the heap, so free memory between two used blocks
/// would stay with navd for hours.
final class FreeMemory: Feature {
  /// The number of free bytes that stay for the next requests.
  private static let reserve = 1 << 19
  /// The least time between two walks through the heap.
  private static let interval = Duration.seconds(1)

  private let loop: EventLoop
  private var due: EventLoop.Instant?

  init(_ loop: EventLoop) { self.loop = loop }

  func note(_ happening: Happening, in machine: borrowing StateMachine) {
    switch happening {
    case .changed: if due == nil { due = loop.now + Self.interval }
    case .turnEnded: endTurn()
    default: break
    }
  }

  /// Returns free memory in the first turn that ends at least a second after a change, so that no timer wakes navd up.
  private func endTurn() {
    guard let due, loop.now >= due else { return }
    self.due = nil
    if mallinfo2().fordblks > Self.reserve { malloc_trim(0) }
  }
}
