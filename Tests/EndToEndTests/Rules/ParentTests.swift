import CoordinatorAPI
import DBus
import DBusValues
import TestSupport
import Testing
import TextFormats

// Parents and children that are commands (C2). The rules about them are tested on the state machine alone.

@Test("C2: a deep link applied by navctl starts commands outermost first")
func parent_ofADeepLinkOfCommands_isStartedBeforeItsChildren() throws {
  let session = try Session(destinations: ["actor": JournaledCommand.destination(endingAfter: 10)])
  let bindings = ["a.b.c.d", "a.b", "a", "a.b.c"]
  let list = bindings.map { "[\"Present\",\"\($0)\",\"\",{\"destination\":\"actor\"}]" }
  let watcher = try session.watch()
  #expect(try session.navctl("apply", "-", input: "[\(list.joined(separator: ","))]").exitCode == 0)
  try session.wait("all are presented") { watcher.lines.last == "presented a.b.c.d" }
  try session.wait("all have started") { session.journalLines.count == 4 }
  #expect(
    watcher.lines.filter { $0.hasPrefix("presented") }
      == ["presented a", "presented a.b", "presented a.b.c", "presented a.b.c.d"])
  #expect(try session.navctl("dismiss", "a").exitCode == 0)
  try session.wait("all have ended") { watcher.lines.last == "dismissed a dismissed" }
  #expect(
    session.journalLines.dropFirst(4).map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
      == ["a.b.c.d", "a.b.c", "a.b", "a"].flatMap { ["term \($0)", "end \($0)"] })
  #expect(watcher.hasAllSerials)
}
