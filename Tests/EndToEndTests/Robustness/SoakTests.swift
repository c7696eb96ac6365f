import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import TestSupport
import Testing

// A mixed load for some time. Many clients use the whole interface correctly, so every error is a mistake of navd. The load reveals
// rare errors, and memory or descriptors that grow with each request. `make soak` runs it for minutes.

private typealias Rows = CoordinatorInterface

/// How long the load takes, and then the time without a request.
private let duration = Duration.seconds(getenv("NAVD_TEST_SOAK_SECONDS").flatMap { Int(String(cString: $0)) } ?? 2)
/// The permitted growth of navd's memory: a share, and bytes for buffers.
private let growth = (share: 0.1, bytes: 2 << 20)

@Test("A mixed load finds no error and no growth, and navd sleeps when it is over")
func soak_ofAMixedLoad_findsNothing() throws {
  let session = try Session()
  let navd = try #require(session.navd).processID
  let watcher = try SerialWatcher(session)
  let presenter = try registerPresenter(session)
  let clients = try (0..<8).map { try SoakClient(session, $0) }

  // This fills navd's caches.
  try load(session, clients, for: min(duration / 5, .seconds(20)))
  let before = (memory: Session.privateMemory(of: navd), descriptors: Session.descriptors(of: navd))
  let (events, operations) = (watcher.count, clients.reduce(0) { $0 + $1.tally.operations })
  try load(session, clients, for: duration)
  let after = (memory: Session.privateMemory(of: navd), descriptors: Session.descriptors(of: navd))
  #expect(Double(after.memory) <= Double(before.memory) * (1 + growth.share) + Double(growth.bytes))
  // One more is the connection that navd opens after its first 4 MiB, to ask for the bytes that the bus keeps for clients.
  #expect(after.descriptors <= before.descriptors + 1)
  #expect(clients.flatMap(\.tally.errors) == [] && watcher.gaps == [])

  // The event loop sets its timer again only when it goes off, which saves a system call for each request.
  let wakeUps = try countWakeUps(session, of: navd)
  #expect(wakeUps <= 1)
  let made = clients.reduce(0) { $0 + $1.tally.operations } - operations
  #expect(made > 100 && watcher.count > events + 100)
  print("soak: \(made) operations, \(before) before, \(after) after, \(wakeUps) wake-ups")
  withExtendedLifetime(presenter) {}
}

/// Counts navd's events, and those that were left out. A `Watcher` would keep them all.
private final class SerialWatcher {
  private(set) var count = 0
  private(set) var gaps: [UInt64] = []
  private let connection: Connection
  private var serial: UInt64?

  init(_ session: Session) throws {
    connection = try session.connect()
    connection.subscribe(MatchRule(sender: CoordinatorNames.bus, path: CoordinatorNames.object)) {
      [unowned self] in
      guard let event = try? StateEvent($0) else { return }
      count += 1
      if let serial, event.serial != serial + 1 { gaps.append(event.serial) }
      serial = event.serial
    }
    // The bus handles the subscription before the call.
    try session.call(Rows.getState, (), by: connection)
  }
}

private func registerPresenter(_ session: Session) throws -> Connection {
  let presenter = try session.connect()
  let object = ImplementedInterface(PresenterInterface.interface)
  object.implement(PresenterInterface.present) { _, call in call.reply() }
  object.implement(PresenterInterface.update) { _, call in call.reply() }
  object.implement(PresenterInterface.dismiss) { _, call in call.reply(["answer": .string("yes")]) }
  presenter.export("/soak", [object])
  try session.call(Rows.declareContainerValue, ("badge", .string("")), by: presenter)
  try session.call(Rows.registerPresenter, ("soak", "/soak", [:]), by: presenter)
  return presenter
}

/// Runs all clients for some time, and then ends all presentations.
private func load(_ session: Session, _ clients: [SoakClient], for time: Duration) throws {
  for client in clients { client.begin() }
  _ = session.loop.turn(until: { false }, within: time)
  for client in clients { client.finish() }
  try session.wait("all requests have replies") { clients.allSatisfy(\.isIdle) }
  try session.call(Rows.dismissAll, ["all": .boolean(true)])
  try session.poll("all presentations have ended") {
    try session.call(Rows.members, ("all", "")).isEmpty
      && session.call(ObjectManagement.getManagedObjects, ()).keys.allSatisfy { Handle(path: $0) == nil }
  }
  try session.wait("all calls of Wait have replies") { clients.allSatisfy { $0.waiting == 0 } }
  try fillHistory(session)
}

/// Fills navd's record of endings to its limit, so that its memory at the start and at the end can be compared.
private func fillHistory(_ session: Session) throws {
  let limits = try session.call(PropertyAccessing.get, (Rows.name.text, "Limits"))
  let endings = [String: UInt64](value: limits)?["remembered"] ?? 0
  var replies = 0
  for number in 0...endings {
    session.client.callNavd(Rows.present, ("soak.fill", String(number), .state)) { _ in replies += 1 }
  }
  try session.wait("navd's record of endings is full") { replies > endings }
  _ = try session.dismiss("soak.fill")
}

/// Counts how often navd wakes up while 100 presentations are open and no client calls it.
private func countWakeUps(_ session: Session, of navd: pid_t) throws -> Int {
  for number in 0..<100 {
    // The first timeout no longer holds when its time has come.
    for timeout in [UInt64(duration / .milliseconds(2)), 86_400_000] {
      try session.present(
        "soak.idle[\(number)]", "open",
        ["group": .string("soak.idle.group\(number % 10)"), "timeout": .uint64(timeout)])
    }
  }
  // The last answer arrives before navd has gone to sleep, and on a busy machine it may wait long for a processor.
  var before: Int
  repeat {
    before = Session.wakeUps(of: navd)
    _ = session.loop.turn(until: { false }, within: .milliseconds(50))
  } while !Session.isAsleep(navd) || Session.wakeUps(of: navd) != before
  _ = session.loop.turn(until: { false }, within: duration)
  return Session.wakeUps(of: navd) - before
}
