import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import TestSupport
import Testing

// Very many calls of Wait (L1, L2).

private typealias Rows = CoordinatorInterface

@Test("L1, L2: four clients with all the calls of Wait that navd takes delay nobody, and get all their answers")
func hostile_massOfWaits_isAnsweredBesideOthers() throws {
  let session = try Session()
  let navd = try #require(session.navd?.processID)
  let honest = try HonestClient(session)
  let clients = try (0..<4).map { _ in try session.connect() }
  let limits = try session.limits()
  let count = try #require(limits["waits"])
  // The first rounds fill buffers that stay.
  var memory = 0
  for round in 0...4 {
    let path = try session.present("awaited")
    var answered = 0
    for client in clients {
      for _ in 0..<count {
        client.call(
          Rows.wait, on: CoordinatorNames.bus, at: CoordinatorNames.object, (path, "gone"), timeout: nil
        ) { if case .success(("dismissed", _)) = $0 { answered += 1 } }
      }
      // navd has received all earlier calls before this one.
      let refusal = try session.refusal(Rows.wait, (path, "gone"), by: client)
      #expect(refusal?.name == .limitExceeded)
    }
    #expect(try session.refusal(Rows.wait, (path, "gone"))?.name == .limitExceeded, "these are all")
    #expect(answered == 0)
    let waiting = try honest.measure(100, session) { session.loop.turn(wait: .milliseconds(2)) }
    let ending = try honest.times {
      try session.dismiss("awaited")
      try session.wait("all calls are answered", within: .seconds(120)) { answered == clients.count * count }
    }
    try honest.pause(session)
    print(
      """
      \(clients.count) × \(count) calls of Wait: while they waited, an honest client's median \(waiting.median), longest \
      \(waiting.longest); while they were answered, longest \(ending.longest); \
      navd has \(Session.privateMemory(of: navd) >> 10) KiB
      """)
    if round == 1 { memory = Session.privateMemory(of: navd) }
  }
  // The allocator keeps a megabyte more or less, until a turn that comes a second after a change. A hundred bytes for each call of the
  // last three rounds would be more.
  try session.pollMemory("navd has the memory that it had after the second round") {
    Session.privateMemory(of: navd) < memory + 3 * clients.count * count * 100
  }
  try honest.stop(session)
}
