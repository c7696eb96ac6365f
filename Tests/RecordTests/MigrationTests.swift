// Why this file exists: after an update navd goes on with what the release before has left.
import Foundation
import GRDB
import Presentation
import TestSupport
import Testing

@testable import Record

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
