import CLinux
import CoordinatorAPI
import DBus
import EventLoops
import Glibc
import PresentationModel
import Synchronization
import TestSupport

/// A well-behaved client that makes one call after another and measures the time of each answer. It has its own thread, so that
/// only navd and the bus can delay it.
final class HonestClient: Sendable {
  private struct State {
    var isStopped = false
    var isMeasured = false
    var isPausing = true
    var hasEnded = false
    var answers: [Int64] = []
    /// The number of answers at which the client pauses.
    var most = Int.max
    var faults: [String] = []

    var hasToPause: Bool { !isStopped && (!isMeasured || answers.count >= most) }
  }

  private let address: String
  private let state = Mutex(State())
  /// An eventfd that ends a pause of the thread when it is written. Writers never block.
  private let resumption: Int32

  init(_ session: Session) throws {
    address = session.bus.address
    resumption = try check("eventfd") { eventfd(0, Int32(EFD_CLOEXEC)) }
    var thread = pthread_t()
    let own = Unmanaged.passRetained(self)
    let code = pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<HonestClient>.fromOpaque(context).takeRetainedValue().work()
        return nil
      }, own.toOpaque())
    guard code == 0 else {
      own.release()
      throw SystemError(code: code, operation: "pthread_create")
    }
    pthread_detach(thread)
  }

  private func work() {
    do {
      let loop = try EventLoop()
      let connection = try Connection.open(address: address, loop: loop)
      while !state.withLock({ $0.isStopped }) {
        let isPausing = state.withLock { state in
          state.isPausing = state.hasToPause
          return state.isPausing
        }
        guard !isPausing else {
          var count: eventfd_t = 0
          eventfd_read(resumption, &count)
          continue
        }
        let start = loop.now
        try toggle(connection)
        let duration = (loop.now - start).saturatingNanoseconds
        state.withLock { $0.answers.append(duration) }
      }
      connection.close()
    } catch {
      state.withLock { $0.faults.append("\(error)") }
    }
    state.withLock { $0.hasEnded = true }
  }

  private func resume() { eventfd_write(resumption, 1) }

  private func toggle(_ connection: Connection) throws(DBusError) {
    do throws(DBusError) {
      _ = try connection.callAndWait(
        CoordinatorInterface.toggle, on: CoordinatorNames.bus, at: CoordinatorNames.object, ("honest", "", .state))
    } catch {
      // This error is expected if other clients have filled the state.
      if CoordinatorError.Name(error.name) != .limitExceeded { throw error }
    }
  }

  /// The times of answers.
  struct Times {
    private let sorted: [Int64]

    fileprivate init(_ answers: some Sequence<Int64>) { sorted = answers.sorted() }

    /// The times of several measurements.
    init(_ several: [Times]) { self.init(several.flatMap(\.sorted)) }

    var count: Int { sorted.count }
    var median: Duration { percentile(50) }
    var longest: Duration { .nanoseconds(sorted.last ?? 0) }

    /// The time that a given percentage of the answers does not exceed.
    func percentile(_ percent: Double) -> Duration {
      .nanoseconds(sorted[min(sorted.count - 1, Int(Double(sorted.count) * percent / 100))])
    }
  }

  /// Measures all answers while a body runs, and at least one.
  func times(while doing: () throws -> Void) throws -> Times { try times(atMost: nil) { _ in try doing() } }

  /// - Parameters:
  ///   - most: the number of answers after which the client pauses.
  ///   - doing: called with the number of answers before.
  private func times(atMost most: Int?, while doing: (_ start: Int) throws -> Void) throws -> Times {
    let start = state.withLock { state in
      state.isMeasured = true
      state.most = most.map { state.answers.count + $0 } ?? .max
      return state.answers.count
    }
    resume()
    try doing(start)
    let limit = MonotonicInstant.now + Session.limit
    while state.withLock({ $0.answers.count == start && !$0.hasEnded }), MonotonicInstant.now < limit { sched_yield() }
    let (answers, faults) = state.withLock { ($0.answers[start...], $0.faults) }
    guard faults.isEmpty, !answers.isEmpty else {
      throw Session.Failure("the honest client received errors: \(faults)")
    }
    return Times(answers)
  }

  /// Waits for `count` more answers and calls `doing` repeatedly in the meantime. If that takes long, the client makes no more than ten
  /// times as many, since each changes the state: navd leaves out a watcher of the test that comes to read too late (W3).
  func times(_ count: Int, _ session: Session, while doing: () throws -> Void) throws -> Times {
    try times(atMost: 10 * count) { start in
      let limit = session.loop.now + Session.limit
      while state.withLock({ $0.answers.count < start + count && !$0.hasEnded }) {
        guard session.loop.now < limit else {
          throw Session.Failure("timed out after \(Session.limit) waiting for answers to the honest client")
        }
        try doing()
      }
    }
  }

  /// Waits for `count` more answers and calls `doing` repeatedly in the meantime.
  /// - Returns: the median time and the longest time of an answer.
  func measure(
    _ count: Int, _ session: Session, while doing: () throws -> Void
  ) throws -> (median: Duration, longest: Duration) {
    let times = try times(count, session, while: doing)
    return (times.median, times.longest)
  }

  /// Compares the answers during hostile calls with the answers without them.
  /// - Returns: the median over all rounds of the ratio of both medians, and the longest time of an answer.
  func compare(
    rounds: Int, answers: Int, _ session: Session, _ hostile: () throws -> Void
  ) throws -> (ratio: Double, longest: Duration) {
    var ratios: [Double] = []
    var longest = Duration.zero
    for _ in 0..<rounds {
      let unhindered = try measure(answers, session) { session.loop.turn(wait: .milliseconds(2)) }
      let hindered = try measure(answers, session, while: hostile)
      ratios.append(hindered.median / unhindered.median)
      longest = max(longest, hindered.longest)
    }
    try pause(session)
    ratios.sort()
    return (ratios[ratios.count / 2], longest)
  }

  /// Makes the client pause until it is measured again.
  func pause(_ session: Session) throws {
    state.withLock { $0.isMeasured = false }
    try session.poll("the honest client pauses") { state.withLock { $0.isPausing || $0.hasEnded } }
  }

  /// Ends the client and waits until its thread has ended.
  func stop(_ session: Session) throws {
    state.withLock { $0.isStopped = true }
    resume()
    try session.poll("the honest client has ended") { state.withLock { $0.hasEnded } }
  }

  deinit { close(resumption) }
}
