import CoordinatorAPI
import DBusValues
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Replacements of commands at one binding, whose processes never run together (P3).

@Test("P3: the processes of two ids on one binding never run at the same time", arguments: [false, true])
func replacement_ofASlowProcess_neverRunsBoth(managed: Bool) throws {
  let session = try Session(
    destinations: ["fact": JournaledCommand.destination(endingAfter: 300)], managed: managed)
  let watcher = try session.watch()
  let a = try session.present("fact", "a")
  try session.wait(for: "start a", of: "fact")
  // A service manager tells that a command has started after the command itself may have run.
  try session.poll("a is presented") { watcher.lines(of: "fact").contains("presented a") }
  let b = try session.present("fact", "b")
  #expect(a != b)

  var sightings: [Set<String?>] = []
  try session.poll("b has started") {
    let seen = Set(session.processes().map(\.id))
    if seen != sightings.last { sightings.append(seen) }
    return session.commandLog(of: "fact").contains("start b")
  }
  #expect(sightings.allSatisfy { $0.count <= 1 }, "\(sightings)")
  #expect(sightings.first == ["a"])
  #expect(session.commandLog(of: "fact") == ["start a", "term a", "end a", "start b"])
  #expect(try session.ending(of: a).reason == "replaced")
  #expect(
    watcher.lines(of: "fact") == [
      "phase a presenting", "presented a", "phase a dismissing", "phase b waiting", "dismissed a replaced",
      "phase b presenting", "presented b",
    ])
  #expect(watcher.hasAllSerials)
}
