import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Questions on the bus: GetState, Wait, Destinations and History.

private typealias Rows = CoordinatorInterface

@Test("GetState returns the structure that the contract defines")
func asking_state_hasTheContractsStructure() throws {
  let session = try Session()
  let empty = try session.state()
  let record = try #require(empty["record"])
  #expect(empty == ["serial": 0, "record": record, "presentations": [], "groups": [:], "stacks": [:]])
  try session.present(
    "volume", "", ["group": .string("panels"), "title": .string("Volume"), "value": ["level": Value.int32(40)].value])
  try session.call(Rows.push, ("main", "settings", "1", .state))
  let state = try session.state()
  let first = try #require(state["presentations"]?.array?.first)
  let since = try #require(first["since"]?.unsigned)
  #expect(
    first == [
      "binding": "volume", "id": "", "presentation": 1, "handle": "/org/navd/Coordinator1/presentation/1",
      "phase": "presented", "title": "Volume", "group": "panels",
      "tag": "volume", "value": ["level": 40], "container-values": [:], "since": JSON(since), "presented-serial": 3,
    ])
  #expect(
    state["groups"] == [
      "panels": ["selection": "volume", "tags": ["volume"], "titles": ["volume": "Volume"], "queue": []]
    ])
  #expect(state["stacks"] == ["main": [["binding": "settings", "id": "1"]]])
  let (_, serial) = try session.call(Rows.getState, ())
  #expect(state["serial"]?.unsigned == serial)
}

@Test("Wait returns at once if the phase is reached, and otherwise once when it is")
func asking_wait_isAnsweredOnce() throws {
  let session = try Session(destinations: ["slow": JournaledCommand.destination(endingAfter: 20)])
  let path = try session.present("slow", "1")
  let others = try (0..<3).map { _ in try session.connect() }
  let gone = others.map { session.begin(Rows.wait, (path, "gone"), by: $0) }
  let (reason, result) = try session.call(Rows.wait, (path, "presented"))
  #expect(reason.isEmpty && result.isEmpty)
  // The object's own method answers, too, and repeatedly.
  #expect(try session.call(PresentationInterface.wait, "presented", at: path).0 == "")
  let byObject = session.begin(PresentationInterface.wait, "gone", at: path)
  #expect(gone.allSatisfy { $0.result == nil })
  try session.wait(for: "start 1", of: "slow")
  try session.dismiss("slow")
  for call in gone + [byObject] {
    let (reason, result) = try session.answer(to: call)
    #expect(reason == "dismissed")
    #expect(result["status"] == .int32(0))
  }
  for phase in ["gone", "presented"] {
    let (reason, result) = try session.call(Rows.wait, (path, phase))
    #expect(reason == "dismissed")
    #expect(result["status"] == .int32(0))
  }
  #expect(try session.refusal(Rows.wait, (path, "dismissing"))?.name == .invalidArgument)
  for path in ["/", "/org/navd/Coordinator1/presentation/99", "/org/navd/Coordinator1/presentation/0", "/x"]
    as [ObjectPath]
  {
    #expect(try session.refusal(Rows.wait, (path, "gone"))?.name == .unknownPresentation, "\(path)")
  }
}

@Test("L2: the pending Wait calls of clients that have left are dropped")
func asking_waitersWhoLeft_areForgotten() throws {
  let session = try Session()
  let path = try session.present("fact")
  let memory = Session.memory(of: try #require(session.navd?.processID))
  for _ in 0..<20 {
    let client = try session.connect()
    for _ in 0..<500 {
      try client.send(Rows.wait, on: CoordinatorNames.bus, at: CoordinatorNames.object, (path, "gone"))
      client.call(
        Rows.wait, on: CoordinatorNames.bus, at: CoordinatorNames.object, (path, "gone"), timeout: nil
      ) { _ in }
    }
    // Its answer comes after all of these were served.
    _ = try session.call(Rows.get, "fact", by: client)
    client.close()
    _ = try session.call(Rows.get, "fact")
  }
  let growth = Session.memory(of: try #require(session.navd?.processID)) - memory
  #expect(growth < 3 << 20)
  #expect(try session.dismiss("fact"))
}

@Test("Destinations returns the registrations, each with its client")
func asking_destinations_areReturned() throws {
  let session = try Session(destinations: [
    "volume": "command = [\"pulsemixer\", \"{id}\"]\ngroup = \"panels\"\nstyle = \"popover\"\ngrace = \"500ms\"\n",
    "state": "style = \"sheet\"\n",
  ])
  try session.call(Rows.registerPresenter, ("osd", "/presenter", ["style": .string("toast")]))
  let all = try session.call(Rows.destinations, ()).map(\.fields)
  #expect(all.map(\.0) == ["osd", "state", "volume"])
  let volume = all[2].1
  #expect(volume["command"].flatMap { [String](value: $0) } == ["pulsemixer", "{id}"])
  #expect(volume["group"] == .string("panels"))
  #expect(volume["style"] == .string("popover"))
  #expect(volume["grace"] == .uint64(500))
  #expect(volume["file"] == .string(session.destinationPath("volume")))
  #expect(all[0].1["bus"] == .string(session.client.uniqueName.text))
  #expect(all[0].1["path"] == .objectPath("/presenter"))
  #expect(all[1].1["command"] == nil)
}

@Test("History returns the endings, the latest first, and filters them")
func asking_history_isTheEndings() throws {
  let session = try Session()
  try session.present("a", "1")
  try session.present("a", "2")
  try session.dismiss("a")
  let closed = try session.present("b", "", ["group": .string("g")])
  try session.call(Rows.closed, (closed, ["secret": .string("x")]))
  func endings(_ most: UInt32, _ filter: Properties = [:]) throws -> [String] {
    try session.call(Rows.history, (most, filter)).map {
      [$0["binding"], $0["id"], $0["reason"]].map { $0.flatMap { String(value: $0) } ?? "?" }.joined(separator: " ")
    }
  }
  #expect(try endings(0) == ["b  closed", "a 2 dismissed", "a 1 replaced"])
  #expect(try endings(2) == ["b  closed", "a 2 dismissed"])
  #expect(try endings(0, ["binding": .string("a")]) == ["a 2 dismissed", "a 1 replaced"])
  #expect(try endings(1, ["reason": .string("replaced")]) == ["a 1 replaced"])
  #expect(try endings(0, ["group": .string("g")]) == ["b  closed"])
  #expect(try endings(0, ["destination": .string("nothing")]) == [])
  let first = try #require(try session.call(Rows.history, (1, [:])).first)
  #expect(first["presentation"]?.integer == CoordinatorNames.number(of: closed).map { Int128($0) })
  #expect(first["secret"] == nil)
}
