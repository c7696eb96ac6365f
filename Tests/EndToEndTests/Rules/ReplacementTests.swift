import CoordinatorAPI
import DBusValues
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Replacements of commands at one binding, whose processes never run together (P2, P3, P11).

private func session() throws -> Session {
  try Session(destinations: ["fact": JournaledCommand.destination(endingAfter: 300)])
}

@Test("P3: the processes of two ids on one binding never run at the same time")
func replacement_ofASlowProcess_neverRunsBoth() throws {
  let session = try session()
  let watcher = try session.watch()
  let a = try session.present("fact", "a")
  try session.wait(for: "start a", of: "fact")
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

@Test("P3: a replacement that is itself replaced while it waits is never started")
func replacement_replacedWhileItWaits_isNeverStarted() throws {
  let session = try session()
  let watcher = try session.watch()
  try session.present("fact", "a")
  try session.wait(for: "start a", of: "fact")
  let b = try session.present("fact", "b")
  let c = try session.present("fact", "c")
  // The item ends at once, because it was never presented.
  #expect(try session.ending(of: b).reason == "replaced")
  #expect(!watcher.lines.contains("dismissed fact a replaced"))

  try session.wait(for: "start c", of: "fact")
  #expect(session.commandLog(of: "fact") == ["start a", "term a", "end a", "start c"])
  #expect(try session.call(CoordinatorInterface.get, "fact").0 == c)
  try session.wait("c is announced") { watcher.lines.last == "presented fact c" }
  #expect(
    watcher.lines(of: "fact") == [
      "phase a presenting", "presented a", "phase a dismissing", "phase b waiting", "dismissed b replaced",
      "phase c waiting", "dismissed a replaced", "phase c presenting", "presented c",
    ])
}

@Test("P3: the last of several requests decides: after A, B, nil nothing is presented; after A, B, A it is A again")
func replacement_severalInARow_endsWithTheLast() throws {
  let session = try session()
  let first = try session.present("fact", "a")
  try session.wait(for: "start a", of: "fact")
  try session.present("fact", "b")
  #expect(try session.dismiss("fact"))
  #expect(try session.ending(of: first).reason == "replaced")
  #expect(try session.state()["presentations"]?.array == [])
  #expect(session.commandLog(of: "fact") == ["start a", "term a", "end a"])

  let second = try session.present("fact", "a")
  try session.wait("the second has started") { session.commandLog(of: "fact").count == 4 }
  try session.present("fact", "b")
  let third = try session.present("fact", "a")
  #expect(Set([first, second, third]).count == 3)
  try session.wait("the third has started") { session.commandLog(of: "fact").count == 7 }
  #expect(session.commandLog(of: "fact").suffix(4) == ["start a", "term a", "end a", "start a"])
  #expect(try session.call(CoordinatorInterface.get, "fact").0 == third)
}

@Test("P11: an item that is being dismissed is not revived")
func replacement_ofTheSameIDWhileItGoes_isANewPresentation() throws {
  let session = try session()
  let first = try session.present("fact", "a")
  try session.wait(for: "start a", of: "fact")
  try session.dismiss("fact")
  #expect(try session.call(CoordinatorInterface.get, "fact").0 == .root)
  let (presented, second, _) = try session.call(CoordinatorInterface.toggle, ("fact", "a", [:]))
  #expect(presented)
  #expect(second != first)
  try session.wait("it has started again") { session.commandLog(of: "fact").count == 4 }
  #expect(session.commandLog(of: "fact") == ["start a", "term a", "end a", "start a"])
  // The end of the first item has not removed the second (P5).
  #expect(try session.call(CoordinatorInterface.get, "fact").0 == second)
}

@Test("P2: presenting the same id again does not dismiss the item")
func replacement_bySameID_keepsTheProcess() throws {
  let session = try session()
  let watcher = try session.watch()
  let first = try session.present("fact", "a", ["value": ["n": Value.int32(1)].value])
  try session.wait(for: "start a", of: "fact")
  let pids = session.processes().map(\.pid)

  let (same, changed, serial) = try session.call(
    CoordinatorInterface.present, ("fact", "a", ["value": ["n": Value.uint64(1)].value]))
  #expect(same == first)
  #expect(!changed)
  let (again, changedNow, serialNow) = try session.call(
    CoordinatorInterface.present, ("fact", "a", ["value": ["n": Value.uint64(2)].value]))
  #expect(again == first)
  #expect(changedNow)
  #expect(serialNow == serial + 1)
  #expect(watcher.lines.last == "updated fact a")
  #expect(session.processes().map(\.pid) == pids)
  #expect(session.commandLog(of: "fact") == ["start a"])

  for (option, value) in [
    ("destination", "other"), ("from", "fact"), ("group", "panels"), ("stack", "main"),
  ] {
    // The other destination must exist, so that the request is refused for this reason.
    try session.write(JournaledCommand.destination(endingAfter: 0), toDestination: "other")
    try session.call(CoordinatorInterface.reload, ())
    let refusal = try session.refusal(CoordinatorInterface.present, ("fact", "a", [option: .string(value)]))
    #expect(refusal?.name == .invalidArgument, "\(option)")
  }
  #expect(session.commandLog(of: "fact") == ["start a"])
}
