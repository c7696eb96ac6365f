import EventLoops
import TestSupport
import Testing

/// The order, the cancellation and the range of timers.
@Suite struct TimerTests {
  @Test func timers_severalDue_fireByDeadlineThenByCreation() throws {
    let loop = try EventLoop()
    var fired: [String] = []
    let base = loop.now
    loop.timer(at: base + .milliseconds(3)) { fired.append("later") }
    loop.timer(at: base + .milliseconds(2)) { fired.append("first of two") }
    loop.timer(at: base + .milliseconds(2)) { fired.append("second of two") }
    loop.timer(at: base - .seconds(1)) { fired.append("overdue") }
    try #require(loop.turn(until: { fired.count == 4 }))
    #expect(fired == ["overdue", "first of two", "second of two", "later"])
  }

  /// A program that was stopped has unread input that came before a deadline.
  @Test(arguments: [false, true])
  func timer_late_waitsForInput(isEndless: Bool) throws {
    var now = MonotonicInstant.now
    let loop = try EventLoop(clock: { now })
    var order: [String] = []
    loop.timer(after: .milliseconds(10)) { order.append("timer") }
    func work(_ rest: Int) {
      order.append("input")
      now = now + .milliseconds(1)
      if rest > 1 || isEndless { loop.soon { work(rest - 1) } }
    }
    loop.soon { work(3) }
    now = now + .seconds(1)
    while !order.contains("timer") { loop.turn(wait: .zero) }
    #expect(order.count == (isEndless ? 202 : 4) && order.last == "timer")
  }

  @Test func timer_late_waitsForNoInputIfItIsNotVeryLate() throws {
    var now = MonotonicInstant.now
    let loop = try EventLoop(clock: { now })
    var order: [String] = []
    loop.timer(after: .milliseconds(10)) { order.append("timer") }
    loop.soon {
      order.append("input")
      loop.soon { order.append("input") }
    }
    now = now + .milliseconds(50)
    for _ in 0..<2 { loop.turn(wait: .zero) }
    #expect(order == ["input", "timer", "input"])
  }

  @Test func timer_due_firesOnceAndNotBeforeItsDeadline() throws {
    let loop = try EventLoop()
    let start = loop.now
    var fired: [MonotonicInstant] = []
    let timer = loop.timer(after: .milliseconds(20)) { fired.append(loop.now) }
    #expect(timer.isPending)
    try #require(loop.turn(until: { !fired.isEmpty }))
    #expect(fired[0] - start >= .milliseconds(20))
    #expect(!timer.isPending)
    #expect(!loop.turn(wait: .zero))
    #expect(fired.count == 1)
  }

  @Test func timer_earlierThanTheArmedOne_firesOnTime() throws {
    let loop = try EventLoop()
    var fired = false
    loop.timer(after: .seconds(3600)) {}
    loop.turn(wait: .zero)
    loop.timer(after: .milliseconds(1)) { fired = true }
    #expect(loop.turn(until: { fired }))
  }

  @Test func timer_afterACancelledEarlierOne_stillFires() throws {
    let loop = try EventLoop()
    var fired = false
    let earlier = loop.timer(after: .milliseconds(5)) { Issue.record("cancelled, and called") }
    loop.turn(wait: .zero)
    earlier.cancel()
    loop.timer(after: .milliseconds(10)) { fired = true }
    #expect(loop.turn(until: { fired }))
  }

  @Test func timer_cancelledByAnotherOfTheTurn_isNotCalled() throws {
    let loop = try EventLoop()
    var second: Timer?
    var fired = false
    loop.timer(after: .zero) {
      second?.cancel()
      fired = true
    }
    second = loop.timer(after: .zero) { Issue.record("cancelled, and called") }
    try #require(loop.turn(until: { fired }))
    loop.turn(wait: .zero)
  }

  @Test func timer_renewedByItsHandler_doesNotStarveOthers() throws {
    let loop = try EventLoop()
    var turns = 0
    func again() {
      turns += 1
      loop.timer(after: .zero, again)
    }
    again()
    var other = false
    loop.timer(after: .zero) { loop.timer(after: .zero) { other = true } }
    try #require(loop.turn(until: { other }))
    #expect(turns <= 10)
  }

  @Test(arguments: [Duration.milliseconds(UInt64.max), .seconds(Int64.max), .nanoseconds(Int64.max)])
  func timer_beyondTheRangeOfTheClock_isPending(_ delay: Duration) throws {
    let loop = try EventLoop()
    let timer = loop.timer(after: delay) { Issue.record("fired early") }
    #expect(timer.deadline.nanoseconds == .max)
    #expect(!loop.turn(wait: .zero))
    timer.cancel()
    #expect(loop.now - .seconds(Int64.max) < loop.now)
  }

  @Test func timers_manyCancelledBehindAPendingOne_areReleased() throws {
    struct Reference { weak var timer: Timer? }
    let loop = try EventLoop()
    let pending = Reference(timer: loop.timer(after: .seconds(1)) {})
    let cancelled = Reference(timer: loop.timer(after: .seconds(3600)) {})
    cancelled.timer?.cancel()
    for _ in 0..<100 {
      let timer = loop.timer(after: .seconds(3600)) {}
      timer.cancel()
    }
    #expect(cancelled.timer == nil)
    #expect(pending.timer?.isPending == true)
  }

  @Test func timers_halfOfManyCancelled_othersFireInOrder() throws {
    let loop = try EventLoop()
    var random = SystemRandomNumberGenerator()
    let base = loop.now
    var fired: [MonotonicInstant] = []
    var timers: [Timer] = []
    for _ in 0..<5_000 {
      let deadline = base - .microseconds(Int64.random(in: 0...1_000, using: &random))
      timers.append(loop.timer(at: deadline) { fired.append(deadline) })
    }
    timers.shuffle(using: &random)
    let cancelled = timers.prefix(2_500)
    for timer in cancelled { timer.cancel() }
    for timer in cancelled { timer.cancel() }
    try #require(loop.turn(until: { fired.count == 2_500 }))
    #expect(fired == timers.dropFirst(2_500).map(\.deadline).sorted())
  }
}
