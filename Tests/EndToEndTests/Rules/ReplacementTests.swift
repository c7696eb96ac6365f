// Why this file exists: two ids on one binding are the heart of the matter: the one goes, and only then comes the other.

import CoordinatorAPI
import DBusValues
import PresentationModel
import TestSupport
import Testing
import TextFormats

private func session() throws -> Session {
  try Session(destinations: ["fact": Actor.destination(dying: 300)])
}

@Test("P3: of two ids on one binding the process table never shows both")
func replacement_ofAProcessThatTakesItsTime_neverShowsBoth() throws {
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
    return session.acts(of: "fact").contains("start b")
  }
  #expect(sightings.allSatisfy { $0.count <= 1 }, "\(sightings)")
  #expect(sightings.first == ["a"])
  #expect(session.acts(of: "fact") == ["start a", "term a", "end a", "start b"])
  #expect(try session.ending(of: a).reason == "replaced")
  #expect(
    watcher.lines(of: "fact") == [
      "phase a presenting", "presented a", "phase a dismissing", "phase b waiting", "dismissed a replaced",
      "phase b presenting", "presented b",
    ])
  #expect(watcher.hasAllSerials)
}

@Test("P3: A→B→C while A is going starts A and C only")
func replacement_overtaken_isNeverStarted() throws {
  let session = try session()
  let watcher = try session.watch()
  try session.present("fact", "a")
  try session.wait(for: "start a", of: "fact")
  let b = try session.present("fact", "b")
  let c = try session.present("fact", "c")
  // At once: it was never shown, so there is nothing to wait for.
  #expect(try session.ending(of: b).reason == "replaced")
  #expect(!watcher.lines.contains("dismissed fact a replaced"))

  try session.wait(for: "start c", of: "fact")
  #expect(session.acts(of: "fact") == ["start a", "term a", "end a", "start c"])
  #expect(try session.call(CoordinatorInterface.get, "fact").0 == c)
  try session.wait("c is told") { watcher.lines.last == "presented fact c" }
  #expect(
    watcher.lines(of: "fact") == [
      "phase a presenting", "presented a", "phase a dismissing", "phase b waiting", "dismissed b replaced",
      "phase c waiting", "dismissed a replaced", "phase c presenting", "presented c",
    ])
}

@Test("P3: A→B→nil presents nothing, A→B→A presents A again")
func replacement_backAndForth_endsWhereTheLastRequestSays() throws {
  let session = try session()
  let first = try session.present("fact", "a")
  try session.wait(for: "start a", of: "fact")
  try session.present("fact", "b")
  #expect(try session.dismiss("fact"))
  #expect(try session.ending(of: first).reason == "replaced")
  #expect(try session.state()["presentations"]?.array == [])
  #expect(session.acts(of: "fact") == ["start a", "term a", "end a"])

  let second = try session.present("fact", "a")
  try session.wait("the second has started") { session.acts(of: "fact").count == 4 }
  try session.present("fact", "b")
  let third = try session.present("fact", "a")
  #expect(Set([first, second, third]).count == 3)
  try session.wait("the third has started") { session.acts(of: "fact").count == 7 }
  #expect(session.acts(of: "fact").suffix(4) == ["start a", "term a", "end a", "start a"])
  #expect(try session.call(CoordinatorInterface.get, "fact").0 == third)
}

@Test("P11: what is being dismissed is never revived")
func replacement_ofTheSameIDWhileItGoes_isANewPresentation() throws {
  let session = try session()
  let first = try session.present("fact", "a")
  try session.wait(for: "start a", of: "fact")
  try session.dismiss("fact")
  #expect(try session.call(CoordinatorInterface.get, "fact").0 == .root)
  let (presented, second, _) = try session.call(CoordinatorInterface.toggle, ("fact", "a", [:]))
  #expect(presented)
  #expect(second != first)
  try session.wait("it has started again") { session.acts(of: "fact").count == 4 }
  #expect(session.acts(of: "fact") == ["start a", "term a", "end a", "start a"])
  // P5: the farewell of the first has not cleared the second.
  #expect(try session.call(CoordinatorInterface.get, "fact").0 == second)
}

@Test("P2: the same id dismisses nothing")
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
  #expect(session.acts(of: "fact") == ["start a"])

  for (option, value) in [
    ("destination", "other"), ("from", "fact"), ("group", "panels"), ("stack", "main"),
  ] {
    // The other destination has to be there to be refused for this reason.
    try session.write(Actor.destination(dying: 0), toDestination: "other")
    try session.call(CoordinatorInterface.reload, ())
    let refusal = try session.refusal(CoordinatorInterface.present, ("fact", "a", [option: .string(value)]))
    #expect(refusal?.name == .invalidArgument, "\(option)")
  }
  #expect(session.acts(of: "fact") == ["start a"])
}
