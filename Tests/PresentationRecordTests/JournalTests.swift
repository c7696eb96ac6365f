// Why this file exists: turns are on record as a journal before they are in the tables; whichever of both holds what, what
// is read is the same.

import DBusValues
import Foundation
import GRDB
import Glibc
import PresentationRules
import TestSupport
import Testing

@testable import PresentationRecord

private func turn(_ number: UInt64) throws -> RecordChanges {
  var changes = RecordChanges()
  changes.numbers = .init(serial: Serial(number), lastHandle: Handle(number))
  // One stays, one comes, one goes.
  for handle in [1, number] {
    var row = RecordedState.Presentation(
      handle: Handle(handle), binding: try BindingID("b[\(handle)]"), item: Shared(Item(id: "i")), phase: .presented)
    row.slotChanged = Serial(number)
    changes.presentations.append((Handle(handle), row))
  }
  if number > 2 { changes.presentations.append((Handle(number - 1), nil)) }
  return changes
}

/// How many turns are in the journal, and how many presentations in the table.
private func counts(_ directory: TemporaryDirectory) throws -> [Int?] {
  let queue = try DatabaseQueue(path: directory.path(of: "record.sqlite"))
  return [
    try journal(of: directory).bodies().count,
    try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM presentation") },
  ]
}

private func journal(of directory: TemporaryDirectory) throws -> JournalFile {
  try JournalFile(directory.path(of: "record.journal"))
}

/// The record of some turns, as navd leaves it when it is killed.
private func record(of turns: ClosedRange<UInt64>) throws -> TemporaryDirectory {
  let directory = TemporaryDirectory()
  let record = try Record.open(in: directory.path) { _ in }.record
  for number in turns {
    record.note(try turn(number))
    try record.commit()
  }
  return directory
}

@Test("R1: a turn is in the journal once it is committed, and in the tables when the record is opened again")
func journal_openedAgain_isFolded() throws {
  let directory = try record(of: 2...20)
  #expect(try counts(directory) == [19, 0])
  let state = try Record.open(in: directory.path) { $0.state }.restored
  #expect(state.numbers.serial == Serial(20))
  #expect(Set(state.presentations.keys) == [Handle(1), Handle(20)])
  #expect(state.presentations[Handle(1)]?.slotChanged == Serial(20))
  #expect(try counts(directory) == [0, 2])
}

@Test("A journal that has become long is folded into the tables, and what is read is the same")
func journal_long_isFolded() throws {
  let directory = try record(of: 2...9999)
  let left = try counts(directory)
  #expect(try #require(left[0]) < 5000)
  #expect(left[1] == 2)
  let state = try Record.open(in: directory.path) { $0.state }.restored
  #expect(state.numbers.serial == Serial(9999))
  #expect(Set(state.presentations.keys) == [Handle(1), Handle(9999)])
}

@Test("A record that was closed has all in its tables, for people to look at")
func journal_closed_isFolded() throws {
  let directory = TemporaryDirectory()
  do {
    let record = try Record.open(in: directory.path) { _ in }.record
    record.note(try turn(2))
    record.close()
  }
  #expect(try counts(directory) == [0, 2])
}

@Test("R1: a journal that navd was killed over gives every turn that was written, and goes on after the last of them")
func journal_cutOff_givesWhatIsWhole() throws {
  let directory = try record(of: 2...4)
  let path = directory.path(of: "record.journal")
  let bytes = Files.contents(of: path)
  let turns = try journal(of: directory).bodies()
  let ends = turns.reduce(into: [0]) { $0.append($0.last! + 16 + $1.count) }
  for count in bytes.indices {
    try put(Array(bytes[..<count]), path)
    let file = try journal(of: directory)
    let whole = ends.lastIndex { $0 <= count }!
    #expect(try file.bodies() == Array(turns[..<whole]), "\(count)")
    #expect(file.length == ends[whole])
    // Shorter than what may be left there.
    try file.append([1])
    #expect(try file.bodies() == turns[..<whole] + [[1]], "\(count)")
    #expect(try journal(of: directory).bodies() == turns[..<whole] + [[1]], "\(count)")
  }
}

@Test("A journal whose end is nothing but zeros, as a loss of power leaves it, gives what is before")
func journal_zerosAtItsEnd_givesWhatIsWhole() throws {
  let directory = try record(of: 2...4)
  let path = directory.path(of: "record.journal")
  let turns = try journal(of: directory).bodies()
  try put(Files.contents(of: path) + [UInt8](repeating: 0, count: 5000), path)
  #expect(try journal(of: directory).bodies() == turns)
}

@Test("R1: a journal that navd was killed over after it was folded, and before it was emptied, is folded once more")
func journal_foldedTwice_isTheSame() throws {
  let directory = try record(of: 2...20)
  let path = directory.path(of: "record.journal")
  let bytes = Files.contents(of: path)
  let before = try Record.open(in: directory.path) { $0.state }.restored
  try put(bytes, path)
  #expect(try Record.open(in: directory.path) { $0.state }.restored == before)
  #expect(try counts(directory) == [0, 2])
}

@Test("R4: a journal that is not as it was written is no reason to lose it: the record is set aside with it")
func journal_damaged_isSetAside() throws {
  let directory = try record(of: 2...4)
  let path = directory.path(of: "record.journal")
  let bytes = Files.contents(of: path)
  for index in bytes.indices {
    var damaged = bytes
    damaged[index] ^= 1 << UInt8.random(in: 0..<8)
    try put(damaged, path)
    #expect(throws: Unreadable.self, "\(index)") { try journal(of: directory).bodies() }
  }
  let garbage = bytes + Array("this is no turn, and was never one".utf8)
  try put(garbage, path)
  let content = try Record.open(in: directory.path) { $0 }.restored
  let aside = try #require(content.setAside?.path)
  #expect(content.state == RecordedState())
  #expect(Files.contents(of: aside.replacing(".sqlite", with: ".journal")) == garbage)
  #expect(try counts(directory) == [0, 0])
}

@Test("R4: a journal without the tables that it belongs to is set aside")
func journal_withoutTables_isSetAside() throws {
  let directory = try record(of: 2...4)
  let bytes = Files.contents(of: directory.path(of: "record.journal"))
  for name in ["record.sqlite", "record.sqlite-wal"] { unlink(directory.path(of: name)) }
  let content = try Record.open(in: directory.path) { $0 }.restored
  let aside = try #require(content.setAside?.path)
  #expect(content.state == RecordedState())
  #expect(Files.contents(of: aside.replacing(".sqlite", with: ".journal")) == bytes)
}

@Test("R4: a turn of which no row can be made is no reason to lose it: the record is set aside")
func journal_unreadable_isSetAside() throws {
  let bodies: [[UInt8]] = [
    [0xff], [1, 1], [1, 1] + [UInt8](repeating: 0, count: 15) + [5], [3, 1] + [UInt8](repeating: 0, count: 16),
  ]
  for body in bodies {
    let directory = try record(of: 2...2)
    let file = try journal(of: directory)
    _ = try file.bodies()
    try file.append(body)
    let content = try Record.open(in: directory.path) { $0 }.restored
    #expect(content.setAside != nil, "\(body)")
    #expect(content.state == RecordedState())
  }
}

@Test("A record of the first schema becomes one of this release, with all that clients registered")
func schema_first_isMigrated() throws {
  let directory = TemporaryDirectory()
  let names = (1...3).map { ":1.\($0)" }
  let registered = names.map {
    Destination(name: "d", presenter: .bus(name: $0, path: "/p"), source: .client(Client($0)))
  }
  do {
    let queue = try DatabaseQueue(path: directory.path(of: "record.sqlite"))
    try Schema.migrator.migrate(queue, upTo: "1: what is presented, and what is remembered")
    try queue.write { database in
      try database.execute(sql: "INSERT INTO numbers VALUES (1, 7, 8, 9, 10)")
      for (place, destination) in registered.enumerated() {
        try database.execute(
          sql: "INSERT INTO registration VALUES ('d', ?, ?, ?)",
          arguments: [place, names[place], Data([destination].body)])
      }
    }
  }
  let content = try Record.open(in: directory.path) { $0 }.restored
  #expect(content.setAside == nil)
  #expect(content.state.numbers.serial == Serial(7))
  #expect(content.state.registrations == ["d": registered])
}
