import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import TestSupport
import Testing

// Timeouts of items with a real clock (O2).

private typealias Rows = CoordinatorInterface
private func timeout(_ milliseconds: UInt64) -> Properties { ["timeout": .uint64(milliseconds)] }

@Test("O2: a timeout ends the item, measured from its presentation")
func timeout_passed_endsTheItem() throws {
  let session = try Session(destinations: ["fact": JournaledCommand.destination(endingAfter: 20)])
  let start = session.loop.now
  let state = try session.present("note", "", timeout(150))
  let command = try session.present("fact", "1", timeout(150))
  #expect(try session.ending(of: state).reason == "expired")
  #expect(session.loop.now - start >= .milliseconds(150))
  let (reason, result) = try session.ending(of: command)
  #expect(reason == "expired")
  // The command received SIGTERM and ended.
  #expect(result["status"] == .int32(0) || result["signal"] == .string("SIGTERM"))
  #expect(session.processes() == [])
}

@Test("O2, P2: giving a timeout again restarts it, even if nothing else changes; an update without a timeout does not")
func timeout_givenAgain_restarts() throws {
  let session = try Session()
  let watcher = try session.watch()
  let path = try session.present("volume", "", timeout(400))
  let first = session.loop.now
  // A second item with a timeout measures the time.
  let mark = try session.present("mark", "", timeout(150))
  #expect(try session.ending(of: mark).reason == "expired")
  let again = session.loop.now
  watcher.clear()
  let (same, changed, _) = try session.call(Rows.present, ("volume", "", timeout(400)))
  #expect(same == path)
  #expect(!changed)
  #expect(watcher.events == [])
  try session.call(Rows.update, ("volume", ["level": .int32(1)], [:]))
  #expect(try session.ending(of: path).reason == "expired")
  #expect(session.loop.now - again >= .milliseconds(400))
  #expect(again - first >= .milliseconds(100))
}

@Test("O2: a timeout can be set later, and removed")
func timeout_zero_removesIt() throws {
  let session = try Session()
  let kept = try session.present("kept", "", timeout(100))
  try session.present("kept", "", timeout(0))
  let ended = try session.present("ended")
  try session.call(Rows.update, ("ended", [:], timeout(150)))
  #expect(try session.ending(of: ended).reason == "expired")
  #expect(try session.call(Rows.get, "kept").0 == kept)
  // The largest value is accepted.
  try session.present("long", "", timeout(.max))
  #expect(try session.call(Rows.get, "long").1["timeout"] == .uint64(.max))
}
