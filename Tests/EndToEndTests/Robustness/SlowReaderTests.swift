import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import TestSupport
import Testing
import TextFormats

// Watchers that stop reading while items change without a pause (W3).

private typealias Rows = CoordinatorInterface

/// Clients that update items as fast as they are answered.
private final class Load {
  private let connections: [Connection]
  private(set) var answers = 0
  private var isStopped = false

  init(_ session: Session, clients: Int) throws {
    connections = try (0..<clients).map { _ in try session.connect() }
    for index in connections.indices { try session.present("load[\(index)]") }
    for index in connections.indices { update(index) }
  }

  private func update(_ index: Int) {
    guard !isStopped else { return }
    let text = String(repeating: "x", count: 16000) + "\(answers)"
    connections[index].call(
      Rows.update, on: CoordinatorNames.bus, at: CoordinatorNames.object,
      ("load[\(index)]", ["text": .string(text)], [:]),
      timeout: nil
    ) { [weak self] _ in
      self?.answers += 1
      self?.update(index)
    }
  }

  /// Waits for `count` more answers.
  /// - Returns: the time that the answers took.
  func run(_ count: Int, _ session: Session) throws -> Duration {
    let start = session.loop.now
    let target = answers + count
    try session.wait("\(count) updates are answered", within: .seconds(120)) { self.answers >= target }
    return session.loop.now - start
  }

  func stop() { isStopped = true }
}

/// The duration of the test; `NAVD_TEST_SLOW_READER_SECONDS=60` runs the full minute.
private var rounds: (count: Int, duration: Duration) {
  let seconds = getenv("NAVD_TEST_SLOW_READER_SECONDS").flatMap { Int(String(cString: $0)) } ?? 0
  return (4, .seconds(seconds))
}

@Test("W3: watchers that stop reading do not slow down navd or other clients, and do not make navd grow")
func slowReader_underLoad_growsNothing() throws {
  let session = try Session()
  let navd = try #require(session.navd?.processID)
  // The watchers are one of each kind whose pipe is not read, and one that does not even read from the bus.
  let unread = [try session.startNavctl("watch", "--events"), try session.startNavctl("watch")]
  let stopped = try session.startNavctl("watch", "--events")
  let all = unread + [stopped]
  try session.wait("all watchers have started") { all.allSatisfy { $0.lines.count == 1 } }
  let load = try Load(session, clients: 4)
  _ = try load.run(50, session)
  let before = try load.run(150, session)
  let memory = Session.memory(of: navd)
  let memories = unread.map { Session.memory(of: $0.processID) }

  for program in unread { program.isRead = false }
  stopped.send(SIGSTOP)
  var during = Duration.zero
  let start = session.loop.now
  repeat {
    for _ in 0..<rounds.count { during = max(during, try load.run(150, session)) }
    #expect(Session.memory(of: navd) - memory < 6 << 20)
    for (program, before) in zip(unread, memories) {
      #expect(Session.memory(of: program.processID) - before < 6 << 20)
    }
  } while session.loop.now - start < rounds.duration
  expectSpeed(during < before * 3 + .seconds(1))

  // The watchers have all events when they read again, or report the gap.
  for program in unread { program.isRead = true }
  stopped.send(SIGCONT)
  load.stop()
  try session.present("last", "one")
  let serial = try #require(try session.state()["serial"]?.unsigned)
  try session.wait("all have the last event", within: .seconds(60)) {
    all.allSatisfy { $0.lines.last.flatMap { try? JSON.parse($0) }?["serial"]?.unsigned == serial }
  }
  for program in [unread[0], stopped] {
    var last: UInt64?
    var gaps = 0
    for line in program.lines {
      guard let json = try? JSON.parse(line), let serial = json["serial"]?.unsigned else { continue }
      if json["event"] != "state", let last, serial != last + 1 { gaps += 1 }
      last = serial
    }
    #expect(gaps == 0)
  }
}
