import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import TestSupport
import Testing

/// An uninvolved client that makes one call after another on the test's own loop, while the test does something to navd (L2). It
/// shows that nobody has to wait for ever; to measure times use ``HonestClient``.
final class ConcurrentClient {
  private let connection: Connection
  private(set) var answers = 0
  private(set) var errors: [DBusError] = []
  private(set) var slowest = Duration.zero
  private var isStopped = false

  init(_ session: Session) throws {
    connection = try session.connect()
    ask()
  }

  private func ask() {
    guard !isStopped else { return }
    let start = connection.loop.now
    let slot = "concurrent[\(answers % 10)]"
    connection.call(
      CoordinatorInterface.toggle, on: CoordinatorNames.bus, at: CoordinatorNames.object, (slot, "", .state),
      timeout: nil
    ) { [weak self] result in
      guard let self else { return }
      answers += 1
      slowest = max(slowest, connection.loop.now - start)
      if case .failure(let error) = result { errors.append(error) }
      ask()
    }
  }

  /// Requires that every call succeeded, and that none took 10 seconds or longer.
  func stop(_ session: Session) throws {
    let before = answers
    try session.wait("the concurrent client is answered") { self.answers > before + 10 }
    isStopped = true
    #expect(errors == [])
    #expect(slowest < .seconds(10))
  }
}
