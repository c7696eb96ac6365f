// Why this file exists: the rows become the state that they are of, or an error that says which of them does not.

import DBusValues
import Foundation
import GRDB
import PresentationModel
import PresentationRules

extension Record.Content {
  init(_ database: Database) throws {
    if let row = try Row.fetchOne(database, sql: "SELECT serial, handle, queueAge, forgotten FROM numbers") {
      state.numbers = RecordedState.Numbers(
        serial: Serial(try row.number(0)), lastHandle: Handle(try row.number(1)), lastQueueAge: try row.number(2),
        changesForgotten: Serial(try row.number(3)))
    }
    if let row = try Row.fetchOne(database, sql: "SELECT bus, boot, clock, token FROM session") {
      session = Record.Session(
        bus: try row.value(0), boot: try row.value(1), clock: try row.value(2), token: try row.value(3))
    }
    try database.forEachRow("SELECT handle, binding, id, phase, body, memory FROM presentation") { row in
      let handle = Handle(try row.number(0))
      state.presentations[handle] = try RecordedState.Presentation(
        handle: handle, binding: try row.binding(1), id: try row.value(2), phase: try row.value(3),
        body: try row.bytes(4))
      if !row.hasNull(atIndex: 5) {
        var memory = BodyReader(try row.bytes(5))
        memories[handle] = try memory.properties()
      }
    }
    try database.forEachRow("SELECT kind, name, serial, absent, stamp FROM changed") { row in
      let present: Int64? = try row.optional(2)
      let absent: Int64? = try row.optional(3)
      state.changed[try Subject(kind: try row.value(0), name: try row.binding(1))] = RecordedState.Changed(
        present: present.map { Serial(UInt64(bitPattern: $0)) },
        absent: try absent.map { (Serial(UInt64(bitPattern: $0)), try row.number(4)) })
    }
    try database.forEachRow("SELECT groupName, tag, binding, id, body, stamp FROM tag") { row in
      state.tags[GroupTag(group: try row.binding(0), tag: try row.value(1))] = RecordedState.Tag(
        binding: try row.binding(2), id: try row.value(3), options: try ItemOptions(body: try row.bytes(4)),
        stamp: try row.number(5))
    }
    try database.forEachRow("SELECT handle, binding, id, reason, serial, body FROM ending") { row in
      let handle = Handle(try row.number(0))
      state.endings[handle] = try Ending(
        handle: handle, binding: try row.binding(1), id: try row.value(2),
        reason: try Reason(recorded: try row.value(3)),
        serial: Serial(try row.number(4)), body: try row.bytes(5))
    }
    try database.forEachRow("SELECT key, body FROM containerValue") { row in
      state.containerValues[try row.value(0)] = try Value(body: try row.bytes(1))
    }
    try database.forEachRow("SELECT destination, body FROM registration") { row in
      state.registrations[try row.value(0)] = try [Destination](body: try row.bytes(1))
    }
  }
}

extension Database {
  /// Hands on each row where SQLite has it, without a copy of it.
  fileprivate func forEachRow(_ sql: String, _ body: (Row) throws -> Void) throws {
    let rows = try Row.fetchCursor(self, sql: sql)
    while let row = try rows.next() { try body(row) }
  }
}

extension Row {
  /// GRDB's own subscripts trap where a column holds something else than asked for.
  fileprivate func optional<Column: DatabaseValueConvertible>(_ index: Int) throws(Unreadable) -> Column? {
    let held: DatabaseValue = self[index]
    guard !held.isNull else { return nil }
    guard let value = Column.fromDatabaseValue(held) else { throw Unreadable("a column holds \(held)") }
    return value
  }

  fileprivate func value<Column: DatabaseValueConvertible>(_ index: Int) throws(Unreadable) -> Column {
    guard let value: Column = try optional(index) else { throw Unreadable("a column holds nothing") }
    return value
  }

  /// A number without a sign, which SQLite does not have.
  fileprivate func number(_ index: Int) throws(Unreadable) -> UInt64 { UInt64(bitPattern: try value(index)) }
  func bytes(_ index: Int) throws(Unreadable) -> [UInt8] { Array(try value(index) as Data) }
  fileprivate func binding(_ index: Int) throws(Unreadable) -> BindingID {
    try BindingID(recorded: try value(index))
  }
}

extension Subject {
  var kind: Int {
    switch self {
    case .slot: 0
    case .group: 1
    case .stack: 2
    }
  }

  var name: String {
    switch self {
    case .slot(let binding), .group(let binding), .stack(let binding): binding.text
    }
  }

  init(kind: Int, name: BindingID) throws(Unreadable) {
    switch kind {
    case 0: self = .slot(name)
    case 1: self = .group(name)
    case 2: self = .stack(name)
    default: throw Unreadable("there is no subject of the kind \(kind)")
    }
  }
}
