/// A one-shot timer of an ``EventLoop``. It fires whether or not this object is retained.
public final class Timer {
  public let deadline: MonotonicInstant
  /// The number of the timer in the order of creation, in which timers with the same deadline fire.
  let sequence: UInt64
  var handler: (() -> Void)?
  /// The index in the heap; nil after the timer has fired or was cancelled.
  fileprivate(set) var index: Int?
  private weak var loop: EventLoop?

  init(deadline: MonotonicInstant, sequence: UInt64, loop: EventLoop, handler: @escaping () -> Void) {
    self.deadline = deadline
    self.sequence = sequence
    self.loop = loop
    self.handler = handler
  }

  /// Whether the timer has neither fired nor been cancelled.
  public var isPending: Bool { index != nil }

  /// Cancels the timer. The handler is not called afterwards, even if the timer is due in this turn.
  public func cancel() {
    loop?.timers.remove(self)
    handler = nil
  }

  func isBefore(_ other: Timer) -> Bool {
    (deadline.nanoseconds, sequence) < (other.deadline.nanoseconds, other.sequence)
  }
}

/// A binary heap in which each timer knows its index. Most timers are cancelled before they are due; they leave the heap in O(log n)
/// from any index.
struct TimerHeap {
  private var timers: [Timer] = []

  var first: Timer? { timers.first }
  var count: Int { timers.count }

  mutating func insert(_ timer: Timer) {
    timers.append(timer)
    timer.index = timers.count - 1
    siftUp(timers.count - 1)
  }

  mutating func remove(_ timer: Timer) {
    guard let index = timer.index else { return }
    timer.index = nil
    let last = timers.removeLast()
    guard index < timers.count else { return }
    put(last, at: index)
    siftUp(index)
    if last.index == index { siftDown(index) }
  }

  private mutating func put(_ timer: Timer, at index: Int) {
    timers[index] = timer
    timer.index = index
  }

  private mutating func siftUp(_ start: Int) {
    var index = start
    let timer = timers[index]
    while index > 0 {
      let parent = (index - 1) / 2
      guard timer.isBefore(timers[parent]) else { break }
      put(timers[parent], at: index)
      index = parent
    }
    put(timer, at: index)
  }

  private mutating func siftDown(_ start: Int) {
    var index = start
    let timer = timers[index]
    while true {
      var child = 2 * index + 1
      guard child < timers.count else { break }
      if child + 1 < timers.count, timers[child + 1].isBefore(timers[child]) { child += 1 }
      guard timers[child].isBefore(timer) else { break }
      put(timers[child], at: index)
      index = child
    }
    put(timer, at: index)
  }
}
