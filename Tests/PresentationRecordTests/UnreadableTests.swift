import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing

@testable import PresentationRecord
@testable import PresentationRules

// Records that cannot be read: they are set aside, or lose only the rows that are wrong (R4).

func put(_ bytes: [UInt8], _ path: String) throws {
  let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
  try #require(file >= 0)
  defer { close(file) }
  #expect(bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) } == bytes.count)
}

/// A record with tags of a group in its snapshot, as bytes.
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
  let path = directory.path(of: "record.journal")
  try #require(try RecordFile.open(path)).file.checkpoint()
  return Files.contents(of: path)
}

@Test("R4: a file that is no record is kept under another name, as it was")
func unreadable_garbage_isSetAside() throws {
  let record = try someRecord()
  let garbage: [[UInt8]] = [
    Array("nonsense".utf8), [UInt8](repeating: 0, count: 4096), [], record.dropLast(), Array(record.prefix(500)),
  ]
  for bytes in garbage {
    let directory = TemporaryDirectory()
    try put(bytes, directory.path(of: "record.journal"))
    let (record, content) = try Record.open(in: directory.path) { $0 }
    let (path, reason) = try #require(content.setAside)
    #expect(content.state == RecordedState())
    #expect(Files.contents(of: path) == bytes)
    #expect(path.hasSuffix(".journal"))
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
  try put(try someRecord(), directory.path(of: "record.journal"))
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

@Test("R4: reading a snapshot of any bytes gives a state or an error")
func unreadable_anyByte_isNoTrap() throws {
  // Checksums would find all damage, so the payload is damaged and the file is made anew.
  let record = try someRecord()
  let payload = try #require(try RecordFile.frames(in: record.dropFirst(16)).payloads.first)
  var dice = SystemRandomNumberGenerator()
  for _ in 0..<2000 {
    var bytes = Array(payload)
    for _ in 0..<Int.random(in: 1...4, using: &dice) {
      bytes[Int.random(in: bytes.indices, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
    }
    do {
      _ = try StateMachine(restoring: LiveRows([bytes[...]]).content().state)
    } catch is Unreadable {
    } catch is RecordFault {}
  }
}

@Test("R4: a bad text of one row keeps no other row from being read; a copy of the record keeps all rows")
func unreadable_texts_loseTheirRowsOnly() throws {
  let directory = TemporaryDirectory()
  let (good, bad) = (Handle(1), Handle(2))
  func row(_ handle: Handle, _ binding: String, title: String) throws -> RecordedState.PresentationRow {
    var item = Item(id: "")
    item.title = title
    let presentation = Presentation(
      handle: handle, binding: try BindingID(binding), item: Shared(item), phase: .presented)
    return RecordedState.PresentationRow(presentation, slotChanged: Serial(1))
  }
  func tag(_ tag: String) throws -> RecordedState.Tag {
    RecordedState.Tag(binding: try BindingID("a"), id: tag, options: ItemOptions(), stamp: 1)
  }
  let group = try BindingID("g")
  do {
    let record = try Record.open(in: directory.path) { _ in }.record
    var changes = RecordChanges()
    changes.numbers = .init(serial: Serial(9), lastHandle: Handle(9))
    changes.presentations = [(good, try row(good, "a", title: "é")), (bad, try row(bad, "b", title: "a\0b"))]
    changes.tags = [
      (GroupTag(group: group, tag: "good"), try tag("x")), (GroupTag(group: group, tag: "nul"), try tag("x\0")),
      (GroupTag(group: group, tag: "a\nb"), try tag("x")),
    ]
    changes.containerValues = [("good", .string("x")), ("bad", .string("\0"))]
    changes.environment = [("GOOD", "x"), ("BAD", "x\0"), ("WOR=SE", "x")]
    record.note(changes)
    try record.commit()
  }
  let path = directory.path(of: "record.journal")
  let before = Files.contents(of: path)
  let (record, content) = try Record.open(in: directory.path) { $0 }
  #expect(content.setAside == nil)
  #expect(Files.contents(of: try #require(content.copy)) == before)
  #expect(content.faults.count == 6, "\(content.faults)")
  #expect(content.state.presentations.keys.sorted() == [good, bad])
  #expect(content.state.unreadable.keys.sorted() == [bad])
  #expect(content.state.presentations[bad]?.presentation.item.title == "a\u{FFFD}b")
  #expect(content.state.tags.keys.map(\.tag) == ["good"])
  #expect(content.state.containerValues == ["good": .string("x")])
  #expect(content.state.environment == ["GOOD": "x"])
  var machine = try StateMachine(restoring: content.state)
  _ = machine.resume([:], left: [], at: Instant(nanoseconds: 1))
  #expect(machine.current(at: try BindingID("a"))?.handle == good && machine.ending(of: bad)?.reason == .lost)
  record.note(machine.takeUnrecorded())
  try record.commit()
  withExtendedLifetime(record) {}
}

@Test("R4: a row that was left out of a record for a bad text is gone from the next record")
func unreadable_textsThatWereLeftOut_areGone() throws {
  let directory = TemporaryDirectory()
  var changes = RecordChanges()
  changes.containerValues = [("good", .string("x")), ("bad", .string("\0"))]
  do {
    let record = try Record.open(in: directory.path) { _ in }.record
    record.note(changes)
    try record.commit()
  }
  for hasFaults in [true, false] {
    let (record, content) = try Record.open(in: directory.path) { $0 }
    #expect(content.faults.isEmpty == !hasFaults && content.state.containerValues == ["good": .string("x")])
    try record.commit()
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
