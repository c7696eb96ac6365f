// Why this file exists: what has changed goes into the tables by statements that are prepared once, since it does so in
// every turn.

import DBusValues
import Foundation
import GRDB
import Presentation

/// The statements of one database.
final class Writer {
  private let setNumbers: Statement
  private let setSession: Statement
  private let setPresentation: Statement
  private let setMemory: Statement
  private let dropPresentation: Statement
  private let setChanged: Statement
  private let dropChanged: Statement
  private let setTag: Statement
  private let dropTag: Statement
  private let setEnding: Statement
  private let dropEnding: Statement
  private let setContainerValue: Statement
  private let addRegistration: Statement
  private let dropRegistrations: Statement

  init(_ database: Database) throws {
    setNumbers = try database.makeStatement(sql: "INSERT OR REPLACE INTO numbers VALUES (1, ?, ?, ?, ?)")
    setSession = try database.makeStatement(sql: "INSERT OR REPLACE INTO session VALUES (1, ?, ?, ?, ?)")
    setPresentation = try database.makeStatement(
      sql: """
        INSERT INTO presentation (handle, binding, id, phase, body) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (handle) DO UPDATE SET phase = excluded.phase, body = excluded.body
        """)
    setMemory = try database.makeStatement(sql: "UPDATE presentation SET memory = ? WHERE handle = ?")
    dropPresentation = try database.makeStatement(sql: "DELETE FROM presentation WHERE handle = ?")
    setChanged = try database.makeStatement(sql: "INSERT OR REPLACE INTO changed VALUES (?, ?, ?, ?, ?)")
    dropChanged = try database.makeStatement(sql: "DELETE FROM changed WHERE kind = ? AND name = ?")
    setTag = try database.makeStatement(sql: "INSERT OR REPLACE INTO tag VALUES (?, ?, ?, ?, ?, ?)")
    dropTag = try database.makeStatement(sql: "DELETE FROM tag WHERE groupName = ? AND tag = ?")
    setEnding = try database.makeStatement(sql: "INSERT OR REPLACE INTO ending VALUES (?, ?, ?, ?, ?, ?)")
    dropEnding = try database.makeStatement(sql: "DELETE FROM ending WHERE handle = ?")
    setContainerValue = try database.makeStatement(sql: "INSERT OR REPLACE INTO containerValue VALUES (?, ?)")
    addRegistration = try database.makeStatement(sql: "INSERT INTO registration VALUES (?, ?, ?, ?)")
    dropRegistrations = try database.makeStatement(sql: "DELETE FROM registration WHERE destination = ?")
  }

  func write(_ changes: Record.Changes) throws {
    let state = changes.state
    if let session = changes.session {
      try run(setSession, [session.bus, session.boot, session.clock, session.token])
    }
    if let numbers = state.numbers {
      try run(
        setNumbers,
        [
          bits(numbers.serial.number), bits(numbers.lastHandle.number), bits(numbers.lastQueueAge),
          bits(numbers.changesForgotten.number),
        ])
    }
    for (handle, row) in state.presentations { try write(handle, row) }
    for (handle, memory) in changes.memories {
      var body = BodyWriter()
      body.put(memory)
      try run(setMemory, [Data(body.bytes), bits(handle.number)])
    }
    for (subject, row) in state.changed { try write(subject, row) }
    for (key, row) in state.tags { try write(key, row) }
    for (handle, row) in state.endings { try write(handle, row) }
    for (key, value) in state.containerValues {
      if let value { try run(setContainerValue, [key, Data(value.body)]) }
    }
    for (name, registrations) in state.registrations { try write(registrations ?? [], of: name) }
  }

  private func write(_ handle: Handle, _ row: RecordedState.Presentation?) throws {
    guard let row else { return try run(dropPresentation, [bits(handle.number)]) }
    try run(
      setPresentation, [bits(handle.number), row.binding.text, row.item.id, row.phase.word, Data(row.body)])
  }

  private func write(_ subject: Subject, _ row: RecordedState.Changed?) throws {
    guard let row else { return try run(dropChanged, [subject.kind, subject.name]) }
    try run(
      setChanged,
      [
        subject.kind, subject.name, row.present.map { bits($0.number) }, row.absent.map { bits($0.serial.number) },
        row.absent.map { bits($0.stamp) },
      ])
  }

  private func write(_ key: GroupTag, _ row: RecordedState.Tag?) throws {
    guard let row else { return try run(dropTag, [key.group.text, key.tag]) }
    try run(setTag, [key.group.text, key.tag, row.binding.text, row.id, Data(row.options.body), bits(row.stamp)])
  }

  private func write(_ handle: Handle, _ ending: Ending?) throws {
    guard let ending else { return try run(dropEnding, [bits(handle.number)]) }
    try run(
      setEnding,
      [
        bits(handle.number), ending.binding.text, ending.id, ending.reason.rawValue, bits(ending.serial.number),
        Data(ending.body),
      ])
  }

  private func write(_ registrations: [Destination], of name: String) throws {
    try run(dropRegistrations, [name])
    for (place, destination) in registrations.enumerated() {
      guard case .client(let client) = destination.source else { continue }
      try run(addRegistration, [name, place, client.name, Data(destination.body)])
    }
  }

  /// The number of arguments is that of the statement, as every test of it shows.
  private func run(_ statement: Statement, _ arguments: [(any DatabaseValueConvertible)?]) throws {
    statement.setUncheckedArguments(StatementArguments(arguments))
    try statement.execute()
  }
}

/// A number without a sign, as SQLite keeps it.
private func bits(_ number: UInt64) -> Int64 { Int64(bitPattern: number) }
