// Why this file exists: what has changed goes into the tables by statements that are prepared once, since it does so in
// every turn.

import DBusValues
import GRDB
import Presentation

/// The statements of one database.
final class Writer {
  private let begin: PreparedStatement
  private let end: PreparedStatement
  private let undo: PreparedStatement
  private let setNumbers: PreparedStatement
  private let setSession: PreparedStatement
  private let setPresentation: PreparedStatement
  private let setMemory: PreparedStatement
  private let dropPresentation: PreparedStatement
  private let setChanged: PreparedStatement
  private let dropChanged: PreparedStatement
  private let setTag: PreparedStatement
  private let dropTag: PreparedStatement
  private let setEnding: PreparedStatement
  private let dropEnding: PreparedStatement
  private let setContainerValue: PreparedStatement
  private let addRegistration: PreparedStatement
  private let dropRegistrations: PreparedStatement

  init(_ database: Database) throws {
    begin = try PreparedStatement(database, "BEGIN IMMEDIATE")
    end = try PreparedStatement(database, "COMMIT")
    undo = try PreparedStatement(database, "ROLLBACK")
    setNumbers = try PreparedStatement(
      database, "INSERT OR REPLACE INTO numbers VALUES (1, ?, ?, ?, ?)")
    setSession = try PreparedStatement(
      database, "INSERT OR REPLACE INTO session VALUES (1, ?, ?, ?, ?)")
    setPresentation = try PreparedStatement(
      database,
      """
      INSERT INTO presentation (handle, binding, id, phase, body) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (handle) DO UPDATE SET phase = excluded.phase, body = excluded.body
      """)
    setMemory = try PreparedStatement(
      database, "UPDATE presentation SET memory = ? WHERE handle = ?")
    dropPresentation = try PreparedStatement(
      database, "DELETE FROM presentation WHERE handle = ?")
    setChanged = try PreparedStatement(
      database, "INSERT OR REPLACE INTO changed VALUES (?, ?, ?, ?, ?)")
    dropChanged = try PreparedStatement(
      database, "DELETE FROM changed WHERE kind = ? AND name = ?")
    setTag = try PreparedStatement(
      database, "INSERT OR REPLACE INTO tag VALUES (?, ?, ?, ?, ?, ?)")
    dropTag = try PreparedStatement(
      database, "DELETE FROM tag WHERE groupName = ? AND tag = ?")
    setEnding = try PreparedStatement(
      database, "INSERT OR REPLACE INTO ending VALUES (?, ?, ?, ?, ?, ?)")
    dropEnding = try PreparedStatement(
      database, "DELETE FROM ending WHERE handle = ?")
    setContainerValue = try PreparedStatement(
      database, "INSERT OR REPLACE INTO containerValue VALUES (?, ?)")
    addRegistration = try PreparedStatement(
      database, "INSERT INTO registration VALUES (?, ?, ?, ?)")
    dropRegistrations = try PreparedStatement(
      database, "DELETE FROM registration WHERE destination = ?")
  }

  /// Writes all or none.
  func commit(_ changes: Record.Changes) throws {
    try begin.run()
    do {
      try write(changes)
      try end.run()
    } catch {
      // After some errors SQLite has done so itself.
      try? undo.run()
      throw error
    }
  }

  private func write(_ changes: Record.Changes) throws {
    let state = changes.state
    if let session = changes.session {
      try setSession.run(.text(session.bus), .text(session.boot), .integer(session.clock), .text(session.token))
    }
    if let numbers = state.numbers {
      try setNumbers.run(
        .bits(numbers.serial.number), .bits(numbers.lastHandle.number), .bits(numbers.lastQueueAge),
        .bits(numbers.changesForgotten.number))
    }
    for (handle, row) in state.presentations { try write(handle, row) }
    for (handle, memory) in changes.memories {
      var body = BodyWriter()
      body.put(memory)
      try setMemory.run(.blob(body.bytes), .bits(handle.number))
    }
    for (subject, row) in state.changed { try write(subject, row) }
    for (key, row) in state.tags { try write(key, row) }
    for (handle, row) in state.endings { try write(handle, row) }
    for (key, value) in state.containerValues {
      if let value { try setContainerValue.run(.text(key), .blob(value.body)) }
    }
    for (name, registrations) in state.registrations { try write(registrations ?? [], of: name) }
  }

  private func write(_ handle: Handle, _ row: RecordedState.Presentation?) throws {
    guard let row else { return try dropPresentation.run(.bits(handle.number)) }
    try setPresentation.run(
      .bits(handle.number), .text(row.binding.text), .text(row.item.id), .text(row.phase.word), .blob(row.body))
  }

  private func write(_ subject: Subject, _ row: RecordedState.Changed?) throws {
    guard let row else { return try dropChanged.run(.integer(Int64(subject.kind)), .text(subject.name)) }
    try setChanged.run(
      .integer(Int64(subject.kind)), .text(subject.name), .bits(row.present?.number),
      .bits(row.absent?.serial.number), .bits(row.absent?.stamp))
  }

  private func write(_ key: GroupTag, _ row: RecordedState.Tag?) throws {
    guard let row else { return try dropTag.run(.text(key.group.text), .text(key.tag)) }
    try setTag.run(
      .text(key.group.text), .text(key.tag), .text(row.binding.text), .text(row.id), .blob(row.options.body),
      .bits(row.stamp))
  }

  private func write(_ handle: Handle, _ ending: Ending?) throws {
    guard let ending else { return try dropEnding.run(.bits(handle.number)) }
    try setEnding.run(
      .bits(handle.number), .text(ending.binding.text), .text(ending.id), .text(ending.reason.rawValue),
      .bits(ending.serial.number), .blob(ending.body))
  }

  private func write(_ registrations: [Destination], of name: String) throws {
    try dropRegistrations.run(.text(name))
    for (place, destination) in registrations.enumerated() {
      guard case .client(let client) = destination.source else { continue }
      try addRegistration.run(
        .text(name), .integer(Int64(place)), .text(client.name), .blob(destination.body))
    }
  }
}
