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
