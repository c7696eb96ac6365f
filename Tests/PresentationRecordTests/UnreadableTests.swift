import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing

@testable import PresentationRecord
@testable import PresentationRules

// Records that cannot be used: they are set aside (R4).

func put(_ bytes: [UInt8], _ path: String) throws {
  let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
  try #require(file >= 0)
  defer { close(file) }
  #expect(bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) } == bytes.count)
}

/// A record with tags of a group, as bytes.
private func someRecord() throws -> [UInt8] {
  let directory = TemporaryDirectory()
  let record = try Record.open(in: directory.path) { _ in }.record
  var machine = try StateMachine(restoring: RecordedState())
  for index in 0..<20 {
    _ = try machine.perform(
      Request(.select(try BindingID("g"), tag: "t\(index)", binding: nil, id: nil, ItemOptions())), by: nil,
      at: Instant(nanoseconds: 1))
  }
  record.note(machine.takeUnrecorded())
  try record.commit()
  return Files.contents(of: directory.path(of: "record.jsonl"))
}

@Test("R4: a file that is no record is kept under another name, as it was")
func unreadable_garbage_isSetAside() throws {
  let record = try someRecord()
  let garbage: [[UInt8]] = [
    Array("nonsense".utf8), [UInt8](repeating: 0, count: 4096), [], Array(record.prefix(5)), Array(record.dropFirst(1)),
  ]
  for bytes in garbage {
    let directory = TemporaryDirectory()
    try put(bytes, directory.path(of: "record.jsonl"))
    let (record, content) = try Record.open(in: directory.path) { $0 }
    let (path, reason) = try #require(content.setAside)
    #expect(content.state == RecordedState())
    #expect(Files.contents(of: path) == bytes)
    #expect(path.hasSuffix(".jsonl"))
    #expect(!reason.isEmpty)
    // The new file is a record.
    var changes = RecordChanges()
    changes.numbers = .init(serial: Serial(5))
    record.note(changes)
    try record.commit()
  }
}

@Test("R4: a record that contradicts itself is set aside")
func unreadable_contradictory_isSetAside() throws {
  let directory = TemporaryDirectory()
  try put(try someRecord(), directory.path(of: "record.jsonl"))
  do {
    let record = try Record.open(in: directory.path) { _ in }.record
    var changes = RecordChanges()
    changes.numbers = .init(serial: Serial(30), lastHandle: Handle(1))
    record.note(changes)
    try record.commit()
  }
  let content = try Record.open(in: directory.path) { content in
    _ = try StateMachine(restoring: content.state)
    return content
  }.restored
  #expect(content.setAside != nil)
  #expect(content.state == RecordedState())
}

@Test("R4: reading any bytes gives a state or an error")
func unreadable_anyByte_isNoTrap() throws {
  let record = try someRecord()
  var dice = SystemRandomNumberGenerator()
  for _ in 0..<500 {
    var bytes = record
    for _ in 0..<Int.random(in: 1...4, using: &dice) {
      bytes[Int.random(in: bytes.indices, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
    }
    do {
      _ = try StateMachine(restoring: Rows.read(bytes.split(separator: UInt8(ascii: "\n"))).content.state)
    } catch is Unreadable {
    } catch is RecordFault {}
  }
}

@Test("A record that another process has open is not touched")
func unreadable_inUse_isRefused() throws {
  let directory = TemporaryDirectory()
  let first = try Record.open(in: directory.path) { _ in }.record
  var changes = RecordChanges()
  changes.numbers = .init(serial: Serial(5))
  first.note(changes)
  try first.commit()
  let failure = #expect(throws: Record.Failure.self) { try Record.open(in: directory.path, timeout: 0.1) { _ in } }
  #expect(failure?.description.contains("another navd") == true, "\(failure?.description ?? "")")
  withExtendedLifetime(first) {}
}
