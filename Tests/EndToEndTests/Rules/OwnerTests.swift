import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing

// Owners that leave the bus, and whose items end (O1).

private typealias Rows = CoordinatorInterface
private let owned = Properties.state.merging(["owned": .boolean(true)]) { $1 }

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
