// Why this file exists: what one client does to navd must not be what another has to wait for (L2).

import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import TestSupport
import Testing

/// Another client's calls, one after the other, while something else goes on.
final class Bystander {
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
    let slot = "bystander[\(answers % 10)]"
    connection.call(
      CoordinatorInterface.toggle, on: CoordinatorNames.bus, at: CoordinatorNames.object, (slot, "", [:]), timeout: nil
    ) { [weak self] result in
      guard let self else { return }
      answers += 1
      slowest = max(slowest, connection.loop.now - start)
      if case .failure(let error) = result { errors.append(error) }
      ask()
    }
  }

  /// Requires that it was served all the time.
  func stop(_ session: Session) throws {
    let before = answers
    try session.wait("the bystander is served") { self.answers > before + 10 }
    isStopped = true
    #expect(errors == [])
    #expect(slowest < .seconds(5))
  }
}
