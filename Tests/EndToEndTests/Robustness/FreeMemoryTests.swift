import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import TestSupport
import Testing

// Memory that navd gives back to the system.

private typealias Rows = CoordinatorInterface

@Test("L2: memory that many items have needed is given back to the system when they are gone")
func freeMemory_afterManyItems_isGivenBack() throws {
  let session = try Session()
  let navd = try #require(session.navd?.processID)
  let other = try session.connect()
  func apply(_ numbers: some Sequence<Int>, by client: Connection, _ request: (Int) -> TransactionRequest) throws {
    try session.call(Rows.apply, (numbers.map(request), [:]), by: client)
  }
  let value: Properties = ["text": .string(String(repeating: "x", count: 2000))]
  let options = Properties.state.merging(["value": value.value]) { $1 }
  for start in stride(from: 0, to: 2000, by: 250) {
    try apply(start..<(start + 250), by: start < 1000 ? session.client : other) { number in
      TransactionRequest("Present", [.string("many[\(number)]"), .string(""), options.value])
    }
  }
  let memory = Session.privateMemory(of: navd)
  for start in stride(from: 0, to: 2000, by: 250) {
    try apply((start..<(start + 250)).filter { $0 % 50 > 0 }, by: session.client) { number in
      TransactionRequest("Dismiss", [.string("many[\(number)]"), ([:] as Properties).value])
    }
  }
  // A part of the memory keeps the endings, and tables that have grown.
  try session.pollMemory("navd, which had \(memory >> 10) KiB, has given a third of it back") {
    Session.privateMemory(of: navd) < memory * 2 / 3
  }
}
