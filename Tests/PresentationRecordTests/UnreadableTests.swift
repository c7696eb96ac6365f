// Why this file exists: what lies where the record should be may be anything; navd starts all the same, and nothing is
// thrown away (R4).

import GRDB
import Glibc
import PresentationRules
import TestSupport
import Testing

@testable import PresentationRecord

private struct Fault: Error {}

func put(_ bytes: [UInt8], _ path: String) throws {
  let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
  try #require(file >= 0)
  defer { close(file) }
  #expect(bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) } == bytes.count)
}

/// A record with something in it, as bytes.
private func someRecord() throws -> [UInt8] {
  let directory = TemporaryDirectory()
  do {
    let record = try Record.open(in: directory.path) { _ in }.record
    var machine = try StateMachine(restoring: RecordedState())
    for index in 0..<20 {
      _ = try machine.perform(
        Request(.select(try BindingID("g"), tag: "t\(index)", binding: nil, id: nil, ItemOptions())), by: nil,
        at: Instant(nanoseconds: 1))
    }
    record.note(machine.takeUnrecorded())
    try record.commit()
  }
  // Opened once more, so that all of it is in the tables. The last one to close it leaves nothing beside it.
  _ = try Record.open(in: directory.path) { _ in }
  return Files.contents(of: directory.path(of: "record.sqlite"))
}

@Test("R4: what is no record is kept under another name, as it was")
func unreadable_garbage_isSetAside() throws {
  let garbage: [[UInt8]] = [
    Array("nonsense".utf8), [UInt8](repeating: 0, count: 4096), Array(try someRecord().prefix(5000)),
  ]
  for bytes in garbage {
    let directory = TemporaryDirectory()
    try put(bytes, directory.path(of: "record.sqlite"))
    let (record, content) = try Record.open(in: directory.path) { $0 }
    let (path, reason) = try #require(content.setAside)
    #expect(content.state == RecordedState())
    #expect(Files.contents(of: path) == bytes)
    #expect(!reason.isEmpty)
    // The new one is one.
    var changes = RecordChanges()
    changes.numbers = .init(serial: Serial(5))
    record.note(changes)
    try record.commit()
  }
}

@Test("R4: a record of a later release, one that contradicts itself, and one with a broken body are set aside")
func unreadable_otherwiseWrong_isSetAside() throws {
  func check(_ break: (Database) throws -> Void) throws {
    let directory = TemporaryDirectory()
    try put(try someRecord(), directory.path(of: "record.sqlite"))
    do {
      let queue = try DatabaseQueue(path: directory.path(of: "record.sqlite"))
      try queue.write(`break`)
    }
    let content = try Record.open(in: directory.path) { content in
      _ = try StateMachine(restoring: content.state)
      return content
    }.restored
    #expect(content.setAside != nil)
    #expect(content.state == RecordedState())
  }
  try check { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99: much later')") }
  try check { try $0.execute(sql: "UPDATE presentation SET body = x'ff'") }
  try check { try $0.execute(sql: "UPDATE presentation SET body = x'04ffffffff'") }
  try check { try $0.execute(sql: "UPDATE presentation SET phase = 'sleeping'") }
  try check { try $0.execute(sql: "UPDATE presentation SET binding = '..'") }
  try check { try $0.execute(sql: "UPDATE numbers SET handle = 1") }
  try check { try $0.execute(sql: "DROP TABLE ending") }
}

@Test("R4: whichever byte of a record is wrong, opening it ends in a state or in a record that is set aside")
func unreadable_anyByte_isNoTrap() throws {
  let whole = try someRecord()
  var dice = SystemRandomNumberGenerator()
  for _ in 0..<150 {
    let directory = TemporaryDirectory()
    var bytes = whole
    for _ in 0..<Int.random(in: 1...4, using: &dice) {
      bytes[Int.random(in: bytes.indices, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
    }
    try put(bytes, directory.path(of: "record.sqlite"))
    _ = try Record.open(in: directory.path) { try StateMachine(restoring: $0.state) }
  }
}

@Test("A record that another has open is not touched")
func unreadable_inUse_isRefused() throws {
  let directory = TemporaryDirectory()
  let first = try Record.open(in: directory.path) { _ in }.record
  var changes = RecordChanges()
  changes.numbers = .init(serial: Serial(5))
  first.note(changes)
  try first.commit()
  let failure = #expect(throws: Record.Failure.self) { try Record.open(in: directory.path, patience: 0.1) { _ in } }
  #expect(failure?.description.contains("another navd") == true, "\(failure?.description ?? "")")
  withExtendedLifetime(first) {}
}
