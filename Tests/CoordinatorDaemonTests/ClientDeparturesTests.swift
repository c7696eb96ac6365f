import DBusValues
import PresentationModel
import PresentationRules
import Testing

@testable import CoordinatorDaemon
@testable import DBus

// The watcher of clients: each departure from the bus is reported once (O1).

/// The clients whose departures have come in.
private final class Departed: IncomingHandler {
  let inbox = Inbox()
  private(set) var clients: [Client] = []

  init() { _ = inbox.open(to: self) }

  func handle(_ incoming: Incoming) { if case .clientLeft(let client) = incoming { clients.append(client) } }
}

@Test("O1: a client that leaves is reported once, however often it is watched")
func clientDepartures_clientLeaves_isReportedOnce() throws {
  let bus = try BusFixture()
  let (leaving, staying) = (try bus.connect(), try bus.connect())
  let departed = Departed()
  let watcher = ClientDepartures(bus.connection, departed.inbox)
  var left: [Client] { departed.clients }
  defer { withExtendedLifetime(watcher) {} }
  for _ in 0..<2 { for client in [leaving, staying] { watcher.follow(Client(client.uniqueName.text)) } }
  try bus.settle()
  #expect(left == [])
  try bus.close(leaving)
  #expect(left == [Client(leaving.uniqueName.text)])
  #expect(bus.connection.rules.watchedNames.keys.map(\.text) == [staying.uniqueName.text])
}

@Test func clientDepartures_clientThatHasLeft_isReported() throws {
  let bus = try BusFixture()
  let client = try bus.connect()
  try bus.close(client)
  let departed = Departed()
  let watcher = ClientDepartures(bus.connection, departed.inbox)
  var left: [Client] { departed.clients }
  defer { withExtendedLifetime(watcher) {} }
  watcher.follow(Client(client.uniqueName.text))
  watcher.follow(Client("no unique name"))
  // The bus may notice the departure later than other calls.
  try bus.wait { !left.isEmpty }
  try bus.settle()
  #expect(left == [Client(client.uniqueName.text)])
}
