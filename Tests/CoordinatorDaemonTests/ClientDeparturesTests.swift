import DBusValues
import PresentationModel
import PresentationRules
import Testing

@testable import CoordinatorDaemon
@testable import DBus

// The watcher of clients: each departure from the bus is reported once (O1).

@Test("O1: a client that leaves is reported once, however often it is watched")
func clientDepartures_clientLeaves_isReportedOnce() throws {
  let bus = try BusFixture()
  let (leaving, staying) = (try bus.connect(), try bus.connect())
  var left: [Client] = []
  let watcher = ClientDepartures(bus.connection) { left.append($0) }
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
  var left: [Client] = []
  let watcher = ClientDepartures(bus.connection) { left.append($0) }
  defer { withExtendedLifetime(watcher) {} }
  watcher.follow(Client(client.uniqueName.text))
  watcher.follow(Client("no unique name"))
  // The bus may notice the departure later than other calls.
  try bus.wait { !left.isEmpty }
  try bus.settle()
  #expect(left == [Client(client.uniqueName.text)])
}
