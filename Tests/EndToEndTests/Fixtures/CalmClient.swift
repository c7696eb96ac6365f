// Why this file exists: what others do to a client that behaves can only be measured where nothing else delays it: on a
// thread of its own.

import CoordinatorAPI
import DBus
import EventLoops
import Glibc
import PresentationModel
import Synchronization
import TestSupport

/// A client that makes one call after the other, and measures how long each answer takes, while it is asked to.
final class CalmClient: Sendable {
  private struct State {
    var isStopped = false
    var isMeasured = false
    var isPausing = true
    var hasEnded = false
    var answers: [Int64] = []
    var faults: [String] = []
  }

  private let address: String
  private let state = Mutex(State())

  init(_ session: Session) throws {
    address = session.bus.address
    var thread = pthread_t()
    let own = Unmanaged.passRetained(self)
    let code = pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<CalmClient>.fromOpaque(context).takeRetainedValue().work()
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
        guard
          state.withLock({
            $0.isPausing = !$0.isMeasured; return $0.isMeasured
          })
        else {
          usleep(1000)
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

  private func toggle(_ connection: Connection) throws(DBusError) {
    do throws(DBusError) {
      _ = try connection.callAndWait(
        CoordinatorInterface.toggle, on: CoordinatorNames.bus, at: CoordinatorNames.object, ("calm", "", [:]))
    } catch {
      // Where others have filled the state, that is the answer.
      if CoordinatorError.Name(error.name) != .limitExceeded { throw error }
    }
  }

  /// Waits for so many more answers, doing something meanwhile.
  /// - Returns: the median time of theirs, and the longest.
  func measure(
    _ count: Int, _ session: Session, while doing: () throws -> Void
  ) throws -> (median: Duration, longest: Duration) {
    let start = state.withLock { state in
      state.isMeasured = true
      return state.answers.count
    }
    let limit = session.loop.now + Session.limit
    while state.withLock({ $0.answers.count < start + count && !$0.hasEnded }) {
      guard session.loop.now < limit else { throw Session.Failure("a client that behaves has waited in vain") }
      try doing()
    }
    let (answers, faults) = state.withLock { (Array($0.answers[start...]), $0.faults) }
    guard faults.isEmpty, !answers.isEmpty else { throw Session.Failure("a client that behaves was told: \(faults)") }
    let sorted = answers.sorted()
    return (.nanoseconds(sorted[sorted.count / 2]), .nanoseconds(sorted[sorted.count - 1]))
  }

  /// The median of its answers while others are hostile, beside that while they are not, as the median ratio of some
  /// rounds of both; and the longest answer.
  func compare(
    rounds: Int, answers: Int, _ session: Session, _ hostile: () throws -> Void
  ) throws -> (ratio: Double, longest: Duration) {
    var ratios: [Double] = []
    var longest = Duration.zero
    for _ in 0..<rounds {
      let calm = try measure(answers, session) { session.loop.turn(wait: .milliseconds(2)) }
      let harried = try measure(answers, session, while: hostile)
      ratios.append(harried.median / calm.median)
      longest = max(longest, harried.longest)
    }
    try pause(session)
    ratios.sort()
    return (ratios[ratios.count / 2], longest)
  }

  /// Has it ask for nothing more until it is measured again.
  private func pause(_ session: Session) throws {
    state.withLock { $0.isMeasured = false }
    try session.poll("the client that behaves pauses") { state.withLock { $0.isPausing || $0.hasEnded } }
  }

  /// Ends it, and waits until it has gone.
  func stop(_ session: Session) throws {
    state.withLock { $0.isStopped = true }
    try session.poll("the client that behaves has ended") { state.withLock { $0.hasEnded } }
  }

  deinit { state.withLock { $0.isStopped = true } }
}
