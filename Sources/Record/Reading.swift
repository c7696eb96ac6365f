// Why this file exists: the rows become the state that they are of, or an error that says which of them does not.

import DBusValues
import Foundation
import GRDB
import Presentation

extension Record.Content {
  init(_ database: Database) throws {
    if let row = try Row.fetchOne(database, sql: "SELECT serial, handle, queueAge, forgotten FROM numbers") {
      state.numbers = RecordedState.Numbers(
        serial: Serial(row.number(0)), lastHandle: Handle(row.number(1)), lastQueueAge: row.number(2),
        changesForgotten: Serial(row.number(3)))
    }
    if let row = try Row.fetchOne(database, sql: "SELECT bus, boot, clock, token FROM session") {
      session = Record.Session(bus: row[0], boot: row[1], clock: row[2], token: row[3])
    }
    for row in try Row.fetchAll(database, sql: "SELECT handle, binding, id, phase, body, memory FROM presentation") {
      let handle = Handle(row.number(0))
      state.presentations[handle] = try RecordedState.Presentation(
        handle: handle, binding: try row.binding(1), id: row[2], phase: row[3], body: row.bytes(4))
      var memory = BodyReader(row.bytes(5))
      if !row.hasNull(atIndex: 5) { memories[handle] = try memory.properties() }
    }
    for row in try Row.fetchAll(database, sql: "SELECT kind, name, serial, absent, stamp FROM changed") {
      let present: Int64? = row[2]
      let absent: Int64? = row[3]
      state.changed[try Subject(kind: row[0], name: try row.binding(1))] = RecordedState.Changed(
        present: present.map { Serial(UInt64(bitPattern: $0)) },
        absent: absent.map { (Serial(UInt64(bitPattern: $0)), row.number(4)) })
    }
    for row in try Row.fetchAll(database, sql: "SELECT groupName, tag, binding, id, body, stamp FROM tag") {
      state.tags[GroupTag(group: try row.binding(0), tag: row[1])] = RecordedState.Tag(
        binding: try row.binding(2), id: row[3], options: try ItemOptions(body: row.bytes(4)), stamp: row.number(5))
    }
    for row in try Row.fetchAll(database, sql: "SELECT handle, binding, id, reason, serial, body FROM ending") {
      let handle = Handle(row.number(0))
      state.endings[handle] = try Ending(
        handle: handle, binding: try row.binding(1), id: row[2], reason: try Reason(recorded: row[3]),
        serial: Serial(row.number(4)), body: row.bytes(5))
    }
    for row in try Row.fetchAll(database, sql: "SELECT key, body FROM containerValue") {
      state.containerValues[row[0]] = try Value(body: row.bytes(1))
    }
    let registrations = "SELECT destination, body FROM registration ORDER BY destination, place"
    for row in try Row.fetchAll(database, sql: registrations) {
      state.registrations[row[0], default: []].append(try Destination(body: row.bytes(1)))
    }
  }
}

extension Row {
  /// A number without a sign, which SQLite does not have.
  fileprivate func number(_ index: Int) -> UInt64 { UInt64(bitPattern: self[index]) }
  fileprivate func bytes(_ index: Int) -> [UInt8] { (self[index] as Data?).map { Array($0) } ?? [] }
  fileprivate func binding(_ index: Int) throws(Unreadable) -> BindingID { try BindingID(recorded: self[index]) }
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
