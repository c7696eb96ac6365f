// Why this file exists: turns are on record as a journal before they are in the tables; whichever of both holds what, what
// is read is the same.
import DBusValues
import Foundation
import GRDB
import Presentation
import TestSupport
import Testing

@testable import Record

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
  return try queue.read { database in
    try ["turn", "presentation"].map { try Int.fetchOne(database, sql: "SELECT count(*) FROM \($0)") }
  }
}

@Test("R1: a turn is in the journal once it is committed, and in the tables when the record is opened again")
func journal_openedAgain_isFolded() throws {
  let directory = TemporaryDirectory()
  do {
    let record = try Record.open(in: directory.path) { _ in }.record
    for number in 2...20 {
      record.note(try turn(UInt64(number)))
      try record.commit()
    }
  }
  #expect(try counts(directory) == [19, 0])
  let state = try Record.open(in: directory.path) { $0.state }.restored
  #expect(state.numbers.serial == Serial(20))
  #expect(Set(state.presentations.keys) == [Handle(1), Handle(20)])
  #expect(state.presentations[Handle(1)]?.slotChanged == Serial(20))
  #expect(try counts(directory) == [0, 2])
}

@Test("A journal that has become long is folded into the tables, and what is read is the same")
func journal_long_isFolded() throws {
  let directory = TemporaryDirectory()
  do {
    let record = try Record.open(in: directory.path) { _ in }.record
    for number in 2...9999 {
      record.note(try turn(UInt64(number)))
      try record.commit()
    }
  }
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

@Test("R4: a turn that cannot be read is no reason to lose it: the record is set aside")
func journal_unreadable_isSetAside() throws {
  for body in [
    "x'ff'", "x'0101'", "x'010100000000000000000000000000000005'", "x'030100000000000000000000000000000000'",
  ] {
    let directory = TemporaryDirectory()
    do {
      let record = try Record.open(in: directory.path) { _ in }.record
      record.note(try turn(2))
      try record.commit()
    }
    do {
      let queue = try DatabaseQueue(path: directory.path(of: "record.sqlite"))
      try queue.write { try $0.execute(sql: "INSERT INTO turn (body) VALUES (\(body))") }
    }
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
