// Why this file exists: thousands of time-outs share one timerfd, and most are cancelled before they are due, so a
// timer has to leave the heap in O(log n) from wherever it stands.

/// A one-shot timer of an ``EventLoop``. It runs whether or not anybody holds this object.
public final class Timer {
  public let deadline: MonotonicInstant
  /// Ties are broken by age, so that timers of one deadline fire in the order in which they were made.
  let sequence: UInt64
  var handler: (() -> Void)?
  /// Where it stands in the heap; nil once it has fired or was cancelled.
  fileprivate(set) var position: Int?
  private weak var loop: EventLoop?

  init(deadline: MonotonicInstant, sequence: UInt64, loop: EventLoop, handler: @escaping () -> Void) {
    self.deadline = deadline
    self.sequence = sequence
    self.loop = loop
    self.handler = handler
  }

  /// Whether it is still to fire.
  public var isPending: Bool { position != nil }

  /// After this the handler is not called, even if the timer was due in this very turn.
  public func cancel() {
    loop?.timers.remove(self)
    handler = nil
  }

  func isBefore(_ other: Timer) -> Bool {
    (deadline.nanoseconds, sequence) < (other.deadline.nanoseconds, other.sequence)
  }
}

/// A binary heap in which each timer knows its place.
struct TimerHeap {
  private var timers: [Timer] = []

  var first: Timer? { timers.first }
  var count: Int { timers.count }

  mutating func insert(_ timer: Timer) {
    timers.append(timer)
    timer.position = timers.count - 1
    siftUp(timers.count - 1)
  }

  mutating func remove(_ timer: Timer) {
    guard let position = timer.position else { return }
    timer.position = nil
    let last = timers.removeLast()
    guard position < timers.count else { return }
    place(last, at: position)
    siftUp(position)
    if last.position == position { siftDown(position) }
  }

  private mutating func place(_ timer: Timer, at position: Int) {
    timers[position] = timer
    timer.position = position
  }

  private mutating func siftUp(_ start: Int) {
    var position = start
    let timer = timers[position]
    while position > 0 {
      let parent = (position - 1) / 2
      guard timer.isBefore(timers[parent]) else { break }
      place(timers[parent], at: position)
      position = parent
    }
    place(timer, at: position)
  }

  private mutating func siftDown(_ start: Int) {
    var position = start
    let timer = timers[position]
    while true {
      var child = 2 * position + 1
      guard child < timers.count else { break }
      if child + 1 < timers.count, timers[child + 1].isBefore(timers[child]) { child += 1 }
      guard timers[child].isBefore(timer) else { break }
      place(timers[child], at: position)
      position = child
    }
    place(timer, at: position)
  }
}
