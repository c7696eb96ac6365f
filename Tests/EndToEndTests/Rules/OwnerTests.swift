import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing

// Owners that leave the bus, and whose items end (O1).

private typealias Rows = CoordinatorInterface
private let owned: Properties = ["owned": .boolean(true)]

@Test("O1: items owned by a client end when the client leaves the bus")
func owner_leaving_endsWhatItOwns() throws {
  let session = try Session(destinations: ["fact": JournaledCommand.destination(endingAfter: 20)])
  let watcher = try session.watch()
  let owner = try session.connect()
  let command = try session.present("fact", "1", owned, by: owner)
  let state = try session.present("note", "", owned, by: owner)
  let other = try session.present("other", "", [:], by: owner)
  try session.wait(for: "start 1", of: "fact")
  owner.close()
  #expect(try session.ending(of: command).reason == "owner")
  #expect(try session.ending(of: state).reason == "owner")
  #expect(session.commandLog(of: "fact") == ["start 1", "term 1", "end 1"])
  #expect(try session.call(Rows.get, "other").0 == other)
  #expect(
    watcher.lines.filter { $0.hasPrefix("dismissed") }.sorted() == ["dismissed fact 1 owner", "dismissed note owner"])
}

@Test("O1: items owned by a program end when the program is killed")
func owner_killed_endsWhatItOwns() throws {
  let session = try Session()
  let watcher = try session.watch()
  let navctl = try session.startNavctl("present", "--state", "fact", "--owned")
  try session.wait("it is presented") { watcher.lines.last == "presented fact" }
  navctl.send(SIGKILL)
  try session.wait("it has ended") { watcher.lines.last == "dismissed fact owner" }
}

@Test("O1: a later request with owned=true makes its sender the owner; with owned=false the item has no owner")
func owner_givenAgain_isTheSender() throws {
  let session = try Session()
  let watcher = try session.watch()
  let one = try session.connect()
  let other = try session.connect()
  try session.present("fact", "", owned, by: one)
  let (_, changed, _) = try session.call(Rows.present, ("fact", "", owned), by: other)
  #expect(changed)
  #expect(try session.call(Rows.get, "fact").1["owner"] == .string(other.uniqueName.text))
  one.close()
  // The test waits for an event that comes after the client has left, since the bus announces departures to all clients in one
  // order.
  let third = try session.connect()
  try session.present("mark", "", owned, by: third)
  third.close()
  try session.wait("the third has left") { watcher.lines.last == "dismissed mark owner" }
  #expect(try session.call(Rows.get, "fact").0 != .root)

  try session.present("fact", "", ["owned": .boolean(false)])
  #expect(try session.call(Rows.get, "fact").1["owner"] == nil)
  other.close()
  let fourth = try session.connect()
  try session.present("mark", "2", owned, by: fourth)
  fourth.close()
  try session.wait("the fourth has left") { watcher.lines.last == "dismissed mark 2 owner" }
  #expect(try session.call(Rows.get, "fact").0 != .root)
}

@Test("O1: items owned by a client that leaves before navd has looked it up end too")
func owner_leavingAtOnce_endsWhatItOwns() throws {
  let session = try Session()
  let watcher = try session.watch()
  session.navd?.send(SIGSTOP)
  let owner = try session.connect()
  let call = session.begin(Rows.present, ("fact", "", owned), by: owner)
  owner.close()
  session.navd?.send(SIGCONT)
  try session.wait("it was presented and has ended") { watcher.lines == ["presented fact", "dismissed fact owner"] }
  #expect(throws: DBusError.self) { try session.answer(to: call) }
}
