import CoordinatorAPI
import DBus
import TestSupport

extension Session {
  /// Waits until navd's memory is as expected. navd returns free memory to the system in the first turn that comes a second after a
  /// change, and nothing else wakes it up for that.
  func pollMemory(_ expectation: String, _ isMet: () throws -> Bool) throws {
    try poll(expectation) {
      try call(Peer.ping, ())
      return try isMet()
    }
  }
}
