// Why this file exists: after an update navd goes on with what the release before has left.

import Foundation
import GRDB
import PresentationModel
import PresentationRules
import TestSupport
import Testing

@testable import PresentationRecord

@Test("A record of the first schema is read as what it says")
func record_ofTheFirstSchema_isMigrated() throws {
  let directory = TemporaryDirectory()
  let ending = Ending(
    handle: Handle(101), binding: try BindingID("e"), id: "1", destination: "d", group: nil, stack: nil,
    reason: .closed, result: [:], serial: Serial(6), presentedAt: Instant(nanoseconds: 1),
    endedAt: Instant(nanoseconds: 2))
  do {
    let database = try DatabaseQueue(path: directory.path(of: "record.sqlite"))
    try Schema.migrator.migrate(database, upTo: "1: what is presented, and what is remembered")
    try database.write { database in
      try database.execute(sql: "INSERT INTO numbers VALUES (1, 7, 101, 0, 0)")
      // What it does not have stands in no field, so a body of today is one of then.
      try database.execute(
        sql: "INSERT INTO ending VALUES (101, 'e', '1', 'closed', 6, ?)", arguments: [Data(ending.body)])
    }
    try database.close()
  }
  let (_, content) = try Record.open(in: directory.path) { $0 }
  #expect(content.setAside == nil)
  #expect(content.state.numbers.serial == Serial(7))
  #expect(content.state.endings == [Handle(101): ending])
}

@Test("What the journal of an earlier release holds, a table then, is in the tables")
func record_withAJournalInATable_isMigrated() throws {
  let directory = TemporaryDirectory()
  var row = RecordedState.Presentation(
    handle: Handle(9), binding: try BindingID("b"), item: Shared(Item(id: "1")), phase: .presented)
  row.slotChanged = Serial(7)
  var changes = RecordChanges()
  changes.numbers = .init(serial: Serial(7), lastHandle: Handle(9))
  changes.presentations = [(Handle(9), row)]
  do {
    let database = try DatabaseQueue(path: directory.path(of: "record.sqlite"))
    try Schema.migrator.migrate(database, upTo: "4: since when presentations are shown")
    var turn = BodyWriter()
    for row in Record.Changes(state: changes).rows { row.write(to: &turn) }
    // The same twice: the later one holds.
    changes.numbers = .init(serial: Serial(6), lastHandle: Handle(8))
    var earlier = BodyWriter()
    for row in Record.Changes(state: changes).rows { row.write(to: &earlier) }
    try database.write { database in
      try database.execute(
        sql: "INSERT INTO turn (body) VALUES (?), (?)", arguments: [Data(earlier.bytes), Data(turn.bytes)])
    }
    try database.close()
  }
  let (_, content) = try Record.open(in: directory.path) { $0 }
  #expect(content.setAside == nil)
  #expect(content.state.numbers.serial == Serial(7))
  #expect(content.state.presentations == [Handle(9): row])
}
