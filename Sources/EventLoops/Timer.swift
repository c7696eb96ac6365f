import HeapModule

/// A one-shot timer of an ``EventLoop``. It fires whether or not this object is retained.
public final class Timer {
  public let deadline: MonotonicInstant
  /// The number of the timer in the order of creation, in which timers with the same deadline fire.
  let sequence: UInt64
  /// The work of the timer; nil after it has fired or was cancelled.
  var handler: (() -> Void)?

  init(deadline: MonotonicInstant, sequence: UInt64, handler: @escaping () -> Void) {
    self.deadline = deadline
    self.sequence = sequence
    self.handler = handler
  }

  /// Whether the timer has neither fired nor been cancelled.
  public var isPending: Bool { handler != nil }

  /// Cancels the timer. The handler is not called afterwards, even if the timer is due in this turn.
  public func cancel() { handler = nil }
}

/// The timers of a loop in their order. Most are cancelled before they are due. A cancelled timer stays in the heap until it is the
/// first, or until the heap has doubled.
struct TimerHeap {
  private struct Entry: Comparable {
    let timer: Timer

    static func < (a: Entry, b: Entry) -> Bool {
      (a.timer.deadline.nanoseconds, a.timer.sequence) < (b.timer.deadline.nanoseconds, b.timer.sequence)
    }
    static func == (a: Entry, b: Entry) -> Bool { a.timer === b.timer }
  }

  private var heap = Heap<Entry>()
  /// The number of timers above which the cancelled ones are removed.
  private var limit = 64

  mutating func insert(_ timer: Timer) {
    if heap.count > limit {
      heap = Heap(heap.unordered.filter(\.timer.isPending))
      limit = max(64, 2 * heap.count)
    }
    heap.insert(Entry(timer: timer))
  }

  /// The first timer that is pending.
  mutating func first() -> Timer? {
    while let timer = heap.min?.timer {
      if timer.isPending { return timer }
      heap.removeMin()
    }
    return nil
  }
}
