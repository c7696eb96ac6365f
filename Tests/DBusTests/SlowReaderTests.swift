import EventLoops
import TestSupport
import Testing

@testable import DBus

// Clients that do not read what the bus keeps for them (W3).

/// A service that sends to a client that never reads, and what it tells of that client.
private final class SlowReaderFixture {
  let fixture: Fixture
  /// The client, whose loop makes no turn.
  private let reader: Connection
  private let readersLoop = try? EventLoop()
  private(set) var observers: [Connection] = []
  /// Whether the client counted as one that reads, after each change.
  private(set) var changes: [Bool] = []
  var mayConnect = true

  init() throws {
    var limits = Connection.Limits()
    limits.unreadBytes = 1 << 20
    fixture = try Fixture(serviceLimits: limits)
    reader = try .open(address: fixture.bus.address, loop: try #require(readersLoop))
    _ = reader.subscribe(to: Echo.happened, from: fixture.service.uniqueName, at: Echo.path) { _, _ in }
    reader.flush()
    fixture.service.observeReaders { [unowned self] in
      guard mayConnect, let one = try? Connection.open(address: fixture.bus.address, loop: fixture.loop) else {
        return nil
      }
      observers.append(one)
      return one
    } onChange: { [unowned self] client, reads in
      if client == reader.uniqueName { changes.append(reads) }
    }
  }

  /// Sends signals until the client counts as one that does not read.
  func stall() throws {
    let text = String(repeating: "x", count: 100_000)
    let count = changes.count
    for _ in 0..<100 where changes.count == count {
      try fixture.service.emit(Echo.happened, from: Echo.path, (text, 0))
      fixture.loop.turn(wait: .milliseconds(1))
    }
    try #require(fixture.loop.turn { changes.count > count })
    #expect(changes.last == false)
  }
}

@Test("W3: a client counts as one that reads when nobody can tell any more, and is observed again when somebody can")
func slowReader_observerIsGone_isNoLongerHeld() throws {
  let slow = try SlowReaderFixture()
  try slow.stall()
  slow.mayConnect = false
  slow.observers.last?.close()
  try #require(slow.fixture.loop.turn { slow.changes == [false, true] })
  slow.mayConnect = true
  try slow.stall()
  #expect(slow.changes == [false, true, false] && slow.observers.count == 2)
}
