import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing

@testable import PresentationRecord
@testable import PresentationRules

// The file of the record: turns, snapshots, files that another program removes, losses of power, and damage.

/// The changes of a turn, after which the presentations 1 and `number` exist.
private func turn(_ number: UInt64) throws -> RecordChanges {
  var changes = RecordChanges()
  changes.numbers = .init(serial: Serial(number), lastHandle: Handle(number))
  for handle in [1, number] {
    let row = RecordedState.PresentationRow(
      Presentation(
        handle: Handle(handle), binding: try BindingID("b[\(handle)]"), item: Shared(Item(id: "i")), phase: .presented),
      slotChanged: Serial(number))
    changes.presentations.append((Handle(handle), row))
  }
  if number > 2 { changes.presentations.append((Handle(number - 1), nil)) }
  return changes
}

/// The record after some turns, as a killed navd leaves it.
private func record(of turns: ClosedRange<UInt64>) throws -> TemporaryDirectory {
  let directory = TemporaryDirectory()
  let record = try Record.open(in: directory.path) { _ in }.record
  for number in turns {
    record.note(try turn(number))
    try record.commit()
  }
  return directory
}

/// The state that a file has on record; nil if there is no file.
private func state(of path: String) throws -> RecordedState? {
  try RecordFile.open(path).map { try $0.rows.content().state }
}

/// The changes of a turn, as the payload of a frame.
private func payload(of turn: RecordChanges) -> [UInt8] {
  var payload = PayloadWriter()
  payload.rows(of: turn)
  return payload.bytes
}

/// The length of the file of a record that is new.
private func newLength() throws -> Int {
  let directory = TemporaryDirectory()
  _ = try Record.open(in: directory.path) { _ in }
  return Files.contents(of: directory.path(of: "record.journal")).count
}

@Test("R1: a turn is on record once it is committed")
func recordFile_committed_isReadAgain() throws {
  let directory = try record(of: 2...20)
  let state = try Record.open(in: directory.path) { $0.state }.restored
  #expect(state.numbers.serial == Serial(20))
  #expect(Set(state.presentations.keys) == [Handle(1), Handle(20)])
  #expect(state.presentations[Handle(1)]?.slotChanged == Serial(20))
}

@Test("A file that has become long is replaced by a snapshot, and its content is the same")
func recordFile_long_isReplaced() throws {
  let path = "record.journal"
  let short = try record(of: 2...1000)
  let perTurn = (Files.contents(of: short.path(of: path)).count - (try newLength())) / 999
  let directory = try record(of: 2...UInt64(4 << 20) / UInt64(perTurn))
  let length = Files.contents(of: directory.path(of: path)).count
  #expect(length < 3 << 20)
  #expect(access(directory.path(of: path + "-new"), F_OK) != 0)
  let last = Handle(UInt64(4 << 20) / UInt64(perTurn))
  let state = try Record.open(in: directory.path) { $0.state }.restored
  #expect(state.numbers.lastHandle == last)
  #expect(Set(state.presentations.keys) == [Handle(1), last])
}

@Test("R1: a link in the place of the new file is replaced, and its target is left alone")
func recordFile_linkInPlaceOfNewFile_isNotFollowed() throws {
  let directory = TemporaryDirectory()
  let text = directory.path(of: "text")
  try Files.write("mine", to: text)
  symlink(text, directory.path(of: "record.journal-new"))
  _ = try Record.open(in: directory.path) { _ in }
  #expect(Files.contents(of: text) == Array("mine".utf8))
  #expect(try state(of: directory.path(of: "record.journal")) != nil)
}

@Test("A checkpoint changes no state, and neither does one that is interrupted by a kill")
func recordFile_checkpoint_isTheSame() throws {
  let directory = try record(of: 2...20)
  let path = directory.path(of: "record.journal")
  let before = try state(of: path)
  let length = Files.contents(of: path).count
  // A navd that was killed before it renamed the new file has left this one.
  try put(Array("navd rec".utf8), path + "-new")
  #expect(try state(of: path) == before)
  let file = try #require(try RecordFile.open(path)).file
  try file.checkpoint()
  #expect(try state(of: path) == before)
  #expect(Files.contents(of: path).count < length / 4)
  try file.append(payload(of: turn(21)))
  #expect(try state(of: path)?.numbers.serial == Serial(21))
}

@Test("A file that another program has cut off is not replaced by a snapshot of the rest")
func recordFile_cutOffBeforeCheckpoint_isKept() throws {
  let directory = try record(of: 2...20)
  let path = directory.path(of: "record.journal")
  let file = try #require(try RecordFile.open(path)).file
  let bytes = Array(Files.contents(of: path).dropLast())
  try put(bytes, path)
  #expect(throws: Unreadable.self) { try file.checkpoint() }
  #expect(Files.contents(of: path) == bytes)
}

/// The thing that another program removes under a running navd.
enum Removal: CaseIterable { case file, directory, replacedFile }

@Test("R1: a record that another program removes is whole again with the next turn", arguments: Removal.allCases)
func recordFile_removed_isMadeAgain(removal: Removal) throws {
  let parent = TemporaryDirectory()
  let directory = parent.path(of: "navd")
  let path = directory + "/record.journal"
  mkdir(directory, 0o700)
  let record = try Record.open(in: directory) { _ in }.record
  record.lookInterval = .zero
  for number in UInt64(2)...4 {
    record.note(try turn(number))
    #expect(try !record.commit())
  }
  switch removal {
  case .file: unlink(path)
  case .directory:
    unlink(path)
    rmdir(directory)
  case .replacedFile:
    try put(Array("navd record\n".utf8), path + ".other")
    rename(path + ".other", path)
  }
  record.note(try turn(5))
  #expect(try record.commit())
  record.note(try turn(6))
  #expect(try !record.commit())
  #expect(throws: Record.Failure.self) { try Record.open(in: directory, timeout: 0) { _ in } }
  let state = try #require(try state(of: path))
  #expect(state.numbers.serial == Serial(6))
  #expect(Set(state.presentations.keys) == [Handle(1), Handle(6)])
}

@Test("R1: a removed record that cannot be made again refuses turns until it can be made, and then has them all")
func recordFile_removedWithWhatContainsIt_isMadeLater() throws {
  let parent = TemporaryDirectory()
  let directory = parent.path(of: "session/navd")
  mkdir(parent.path(of: "session"), 0o700)
  mkdir(directory, 0o700)
  let record = try Record.open(in: directory) { _ in }.record
  record.lookInterval = .zero
  record.note(try turn(2))
  try record.commit()
  unlink(directory + "/record.journal")
  rmdir(directory)
  rmdir(parent.path(of: "session"))
  for number in UInt64(3)...4 {
    record.note(try turn(number))
    #expect(throws: Record.Failure.self) { try record.commit() }
  }
  mkdir(parent.path(of: "session"), 0o700)
  record.note(try turn(5))
  try record.commit()
  let state = try #require(try state(of: directory + "/record.journal"))
  #expect(state.numbers.serial == Serial(5))
  #expect(Set(state.presentations.keys) == [Handle(1), Handle(5)])
}

@Test("R1: a file that is cut off anywhere has every complete turn, and later turns follow the last complete one")
func recordFile_cutOff_hasWhatIsComplete() throws {
  let directory = try record(of: 2...4)
  let path = directory.path(of: "record.journal")
  let bytes = Files.contents(of: path)
  var ends = [try newLength()]
  for number in UInt64(2)...4 { ends.append(ends.last! + 16 + payload(of: try turn(number)).count) }
  #expect(ends.last == bytes.count)
  for count in bytes.indices {
    try put(Array(bytes[..<count]), path)
    guard count >= ends[0] else {
      // A file is renamed only when it has its whole snapshot, so this one is damaged.
      let content = try Record.open(in: directory.path) { $0 }.restored
      #expect(content.setAside != nil, "\(count)")
      #expect(content.state == RecordedState(), "\(count)")
      continue
    }
    let complete = UInt64(ends.lastIndex { $0 <= count }!)
    let (file, rows) = try #require(try RecordFile.open(path))
    #expect(try rows.content().state.numbers.serial == Serial(complete == 0 ? 0 : complete + 1), "\(count)")
    // The frame of this turn is shorter than the rest that may be left there.
    var changes = RecordChanges()
    changes.numbers = .init(serial: Serial(77))
    try file.append(payload(of: changes))
    let state = try #require(try state(of: path))
    #expect(state.numbers.serial == Serial(77), "\(count)")
    #expect(state.presentations.count == (complete == 0 ? 0 : 2), "\(count)")
  }
}

@Test("A file that ends with zeros, as after a loss of power, has the turns before them")
func recordFile_zerosAtItsEnd_hasWhatIsBefore() throws {
  let directory = try record(of: 2...4)
  let path = directory.path(of: "record.journal")
  let before = try state(of: path)
  for count in [1, 15, 16, 17, 5000] {
    try put(Files.contents(of: path) + [UInt8](repeating: 0, count: count), path)
    #expect(try state(of: path) == before, "\(count)")
    _ = try Record.open(in: directory.path) { _ in }
  }
}

/// The changes of a turn whose frame is several sectors of a disk long.
private func longTurn(_ number: UInt64) throws -> RecordChanges {
  var changes = try turn(number)
  for handle in 1000...1040 as ClosedRange<UInt64> {
    let row = RecordedState.PresentationRow(
      Presentation(
        handle: Handle(handle), binding: try BindingID("b[\(handle)]"), item: Shared(Item(id: "i")), phase: .presented),
      slotChanged: Serial(number))
    changes.presentations.append((Handle(handle), row))
  }
  return changes
}

@Test("A file that has lost a part of its last frame to a loss of power has the frames before, and a copy is kept")
func recordFile_tornFrameAtItsEnd_hasWhatIsBefore() throws {
  let directory = try record(of: 2...4)
  let path = directory.path(of: "record.journal")
  let before = (bytes: Files.contents(of: path), state: try state(of: path))
  let record = try Record.open(in: directory.path) { _ in }.record
  record.note(try longTurn(5))
  try record.commit()
  let bytes = Files.contents(of: path)
  #expect(bytes.count > before.bytes.count + 4 * 512)
  let sectors = stride(from: before.bytes.count / 512 * 512, to: bytes.count, by: 512)
  for sector in sectors {
    let taken = max(sector, before.bytes.count)..<min(sector + 512, bytes.count)
    // A few zeros may have been written by navd, so they are no sign of damage.
    guard taken.count >= 64 else { continue }
    var torn = bytes
    torn.replaceSubrange(taken, with: [UInt8](repeating: 0, count: taken.count))
    let other = TemporaryDirectory()
    try put(torn, other.path(of: "record.journal"))
    let (later, content) = try Record.open(in: other.path) { $0 }
    #expect(content.setAside == nil && content.state == before.state, "\(taken)")
    #expect(content.faults.count == 1 && content.copy.map { Files.contents(of: $0) } == torn, "\(taken)")
    later.note(try turn(6))
    try later.commit()
    #expect(try state(of: other.path(of: "record.journal"))?.numbers.serial == Serial(6), "\(taken)")
  }
}

@Test("R4: a frame whose two words of length are swapped is damage, and not an incomplete frame")
func recordFile_swappedLength_isSetAside() throws {
  let directory = try record(of: 2...4)
  let path = directory.path(of: "record.journal")
  let bytes = Files.contents(of: path)
  var start = try newLength()
  for number in UInt64(2)...4 {
    var swapped = bytes
    swapped.replaceSubrange(start..<start + 8, with: bytes[start + 4..<start + 8] + bytes[start..<start + 4])
    try put(swapped, path)
    #expect(throws: Unreadable.self, "\(number)") { try state(of: path) }
    start += 16 + payload(of: try turn(number)).count
  }
}

@Test("R1: a record whose file is removed right after navd looked for it is whole again with the next turn")
func recordFile_removedAfterALook_isMadeAgain() throws {
  let directory = TemporaryDirectory()
  let path = directory.path(of: "record.journal")
  let record = try Record.open(in: directory.path) { _ in }.record
  record.lookInterval = .seconds(3600)
  record.note(try turn(2))
  #expect(try !record.commit())
  unlink(path)
  record.note(try turn(3))
  #expect(try record.commit())
  #expect(try state(of: path)?.numbers.serial == Serial(3))
}

@Test("R4: a file with any changed bit is set aside as it was")
func recordFile_damaged_isSetAside() throws {
  let directory = try record(of: 2...4)
  let path = directory.path(of: "record.journal")
  let bytes = Files.contents(of: path)
  for index in bytes.indices {
    var damaged = bytes
    damaged[index] ^= 1 << UInt8.random(in: 0..<8)
    try put(damaged, path)
    #expect(throws: Unreadable.self, "\(index)") { try state(of: path) }
    let content = try Record.open(in: directory.path) { $0 }.restored
    #expect(content.state == RecordedState())
    #expect(Files.contents(of: try #require(content.setAside?.path)) == damaged)
  }
  let garbage = bytes + Array("this is no frame, and was never one".utf8)
  try put(garbage, path)
  let content = try Record.open(in: directory.path) { $0 }.restored
  #expect(content.state == RecordedState())
  #expect(Files.contents(of: try #require(content.setAside?.path)) == garbage)
}

@Test("R4: a file of a later format is set aside")
func recordFile_later_isSetAside() throws {
  let directory = try record(of: 2...4)
  let path = directory.path(of: "record.journal")
  var bytes = Files.contents(of: path)
  bytes[12] = 2
  try put(bytes, path)
  let content = try Record.open(in: directory.path) { $0 }.restored
  #expect(content.setAside?.reason.contains("later release") == true)
  #expect(content.state == RecordedState())
}

@Test("R4: a file with a complete frame that has no rows is set aside")
func recordFile_unreadableRows_isSetAside() throws {
  func row(key: [UInt8], _ payload: [UInt8]?) -> [UInt8] {
    var row = PayloadWriter()
    row.put(UInt32(key.count), payload.map { UInt32($0.count) } ?? .max)
    row.append(key)
    row.append(payload ?? [])
    return row.bytes
  }
  let handle: [UInt8] = [9, 0, 0, 0, 0, 0, 0, 0]
  let text: [UInt8] = [1, 0, 0, 0, 0x62]
  let payloads: [[UInt8]] = [
    [0xff], [1, 0, 0, 0, 1, 0, 0, 0, 1], row(key: [0], []), row(key: [10], []), row(key: [], []),
    row(key: [1], [1]), row(key: [3] + handle, []), row(key: [3] + handle, text + text + text),
    row(key: [3] + handle, text + text + [7, 0, 0, 0] + Array("waiting".utf8) + [16]),
    row(key: [6] + text, [0xff, 0xff, 0xff, 0xff]), row(key: [5, 3] + text, []),
    row(key: [8] + text, [1, 0, 0, 0, 0x68]),
  ]
  for payload in payloads {
    let directory = try record(of: 2...2)
    try #require(try RecordFile.open(directory.path(of: "record.journal"))).file.append(payload)
    let content = try Record.open(in: directory.path) { $0 }.restored
    #expect(content.setAside != nil, "\(payload)")
    #expect(content.state == RecordedState())
  }
}
