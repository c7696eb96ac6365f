import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing

@testable import PresentationRecord
@testable import PresentationRules

// The file of the record: turns, snapshots, files that another program removes or changes, losses of power, and damage.

/// The changes of a turn, after which the presentations 1 and `number` exist.
private func turn(_ number: UInt64) throws -> RecordChanges {
  var changes = RecordChanges()
  changes.numbers = .init(serial: Serial(number), lastHandle: Handle(number))
  for handle in [1, number] {
    let row = RecordedState.PresentationRow(
      Presentation(
        handle: Handle(handle), binding: try BindingID("b[\(handle)]"), item: Shared(Item(id: "i")), phase: .presented))
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
  try RecordFile.open(path).map { try Rows.read($0.lines).content.state }
}

/// The length of the file of a record that is new.
private func newLength() throws -> Int {
  let directory = TemporaryDirectory()
  _ = try Record.open(in: directory.path) { _ in }
  return Files.contents(of: directory.path(of: "record.jsonl")).count
}

@Test("R1: a turn is on record once it is committed")
func recordFile_committed_isReadAgain() throws {
  let directory = try record(of: 2...20)
  let state = try Record.open(in: directory.path) { $0.state }.restored
  #expect(state.numbers.serial == Serial(20))
  #expect(Set(state.presentations.keys) == [Handle(1), Handle(20)])
}

@Test("A file that has become long is replaced by a snapshot, and its content is the same")
func recordFile_long_isReplaced() throws {
  let path = "record.jsonl"
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
  symlink(text, directory.path(of: "record.jsonl-new"))
  _ = try Record.open(in: directory.path) { _ in }
  #expect(Files.contents(of: text) == Array("mine".utf8))
  #expect(try state(of: directory.path(of: "record.jsonl")) != nil)
}

@Test("A snapshot that a kill has interrupted changes nothing")
func recordFile_snapshotInterrupted_isTheSame() throws {
  let directory = try record(of: 2...20)
  let path = directory.path(of: "record.jsonl")
  let before = try state(of: path)
  // A navd that was killed before it renamed the new file has left this one.
  try put(Array("{\"navd-rec".utf8), path + "-new")
  let (record, found) = try Record.open(in: directory.path) { $0.state }
  #expect(found == before)
  record.note(try turn(21))
  try record.commit()
  #expect(try state(of: path)?.numbers.serial == Serial(21))
}

@Test("R1: a record that each commit replaces has only a snapshot")
func recordFile_replaced_isASnapshot() throws {
  let directory = TemporaryDirectory()
  let path = directory.path(of: "record.jsonl")
  let record = try Record.open(in: directory.path, isReplaced: true) { _ in }.record
  for number in UInt64(2)...5 {
    record.note(try turn(number))
    #expect(try !record.commit())
    #expect(try RecordFile.open(path)?.lines.count == 1)
  }
  #expect(try state(of: path)?.numbers.serial == Serial(5))
}

/// What another program does to the record of a running navd.
enum Removal: CaseIterable { case file, directory, replacedFile, cutFile, overwrittenFile }

@Test(
  "R1: a record that another program removes, cuts or overwrites is whole again with the next turn",
  arguments: Removal.allCases)
func recordFile_removed_isMadeAgain(removal: Removal) throws {
  let parent = TemporaryDirectory()
  let directory = parent.path(of: "navd")
  let path = directory + "/record.jsonl"
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
    try put(Array("{}\n".utf8), path + ".other")
    rename(path + ".other", path)
  case .cutFile: truncate(path, off_t(Files.contents(of: path).count - 5))
  case .overwrittenFile: try put(Array("{}\n".utf8), path)
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
  unlink(directory + "/record.jsonl")
  rmdir(directory)
  rmdir(parent.path(of: "session"))
  for number in UInt64(3)...4 {
    record.note(try turn(number))
    #expect(throws: Record.Failure.self) { try record.commit() }
  }
  mkdir(parent.path(of: "session"), 0o700)
  record.note(try turn(5))
  try record.commit()
  let state = try #require(try state(of: directory + "/record.jsonl"))
  #expect(state.numbers.serial == Serial(5))
  #expect(Set(state.presentations.keys) == [Handle(1), Handle(5)])
}

@Test("R1: a file that is cut off anywhere has every complete turn, and later turns follow the last complete one")
func recordFile_cutOff_hasWhatIsComplete() throws {
  let directory = try record(of: 2...4)
  let path = directory.path(of: "record.jsonl")
  let bytes = Files.contents(of: path)
  let ends = bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
  try #require(ends.count == 4)
  for count in bytes.indices {
    try put(Array(bytes[..<count]), path)
    let (record, content) = try Record.open(in: directory.path) { $0 }
    // A file is renamed only when it has its whole snapshot, so a shorter one is damaged.
    #expect((content.setAside == nil) == (count >= ends[0]), "\(count)")
    let complete = UInt64(ends.lastIndex { $0 <= count } ?? 0)
    #expect(content.state.numbers.serial == Serial(complete == 0 ? 0 : complete + 1), "\(count)")
    // The line of this turn is shorter than the rest that may be left there.
    var changes = RecordChanges()
    changes.numbers = .init(serial: Serial(77))
    record.note(changes)
    #expect(try !record.commit(), "\(count)")
    let state = try #require(try state(of: path))
    #expect(state.numbers.serial == Serial(77), "\(count)")
    #expect(state.presentations.count == (complete == 0 ? 0 : 2), "\(count)")
  }
}

@Test("A file that ends with zeros, as after a loss of power, has the turns before them")
func recordFile_zerosAtItsEnd_hasWhatIsBefore() throws {
  let directory = try record(of: 2...4)
  let path = directory.path(of: "record.jsonl")
  let (bytes, last) = (Files.contents(of: path), try state(of: path))
  for count in [1, 16, 5000] {
    try put(bytes + [UInt8](repeating: 0, count: count), path)
    #expect(try state(of: path) == last, "\(count)")
  }
  // Zeros in place of a part of the last turn.
  for count in [1, 2, 30] {
    try put(bytes.dropLast(count) + [UInt8](repeating: 0, count: count), path)
    let (record, found) = try Record.open(in: directory.path) { $0.state }
    #expect(found.numbers.serial == Serial(3), "\(count)")
    record.note(try turn(9))
    #expect(try !record.commit())
    #expect(try state(of: path)?.numbers.serial == Serial(9), "\(count)")
  }
}

@Test("R1: a record whose file is removed right after navd looked for it is whole again with the next turn")
func recordFile_removedAfterALook_isMadeAgain() throws {
  let directory = TemporaryDirectory()
  let path = directory.path(of: "record.jsonl")
  let record = try Record.open(in: directory.path) { _ in }.record
  record.lookInterval = .seconds(3600)
  record.note(try turn(2))
  #expect(try !record.commit())
  unlink(path)
  record.note(try turn(3))
  #expect(try record.commit())
  #expect(try state(of: path)?.numbers.serial == Serial(3))
}

@Test("R4: a file with any changed byte is read, or set aside as it was")
func recordFile_damaged_isReadOrSetAside() throws {
  let directory = try record(of: 2...3)
  let path = directory.path(of: "record.jsonl")
  let bytes = Files.contents(of: path)
  for index in bytes.indices {
    var damaged = bytes
    damaged[index] ^= 1 << UInt8.random(in: 0..<8)
    try put(damaged, path)
    let content = try Record.open(in: directory.path) { $0 }.restored
    guard let aside = content.setAside else { continue }
    #expect(content.state == RecordedState())
    #expect(Files.contents(of: aside.path) == damaged)
    unlink(aside.path)
  }
}

@Test("R4: a file of a later format is set aside")
func recordFile_later_isSetAside() throws {
  let directory = TemporaryDirectory()
  try put(Array("{\"navd-record\":2}\n".utf8), directory.path(of: "record.jsonl"))
  let content = try Record.open(in: directory.path) { $0 }.restored
  #expect(content.setAside?.reason.contains("later release") == true)
  #expect(content.state == RecordedState())
}

@Test(
  "R4: a file with a line that no navd writes is set aside",
  arguments: [
    "nonsense", "[]", "{\"navd-record\":1}", "{\"others\":{}}", "{\"numbers\":{}}", "{\"numbers\":null,\"tags\":[]}",
    #"{"presentations":{"x":{}}}"#, #"{"presentations":{"01":{}}}"#, #"{"presentations":{"9":{"binding":"b"}}}"#,
    #"{"presentations":{"9":{"binding":"b","id":"","phase":"dismissing"}}}"#,
    #"{"presentations":{"9":{"binding":"b","id":"","phase":"waiting","group":"g"}}}"#,
    #"{"presentations":{"9":{"binding":"b","id":"","phase":"waiting","other":1}}}"#,
    #"{"presentations":{"9":{"binding":"b","id":"a\u0000b","phase":"waiting"}}}"#,
    #"{"presentations":{"9":{"binding":"b!","id":"","phase":"waiting"}}}"#,
    #"{"presentations":{"9":{"binding":"b","id":"","phase":"waiting","timeout":-1}}}"#,
    #"{"holds":{"dnd":{}}}"#, #"{"container-values":{"x":["zz",1]}}"#, #"{"container-values":{"x":["y",256]}}"#,
    #"{"environment":{"A":1}}"#,
  ])
func recordFile_strangeLine_isSetAside(line: String) throws {
  let directory = try record(of: 2...2)
  let path = directory.path(of: "record.jsonl")
  let bytes = Files.contents(of: path) + line.utf8 + "\n".utf8
  try put(bytes, path)
  let content = try Record.open(in: directory.path) { $0 }.restored
  #expect(Files.contents(of: try #require(content.setAside?.path, "\(line)")) == bytes)
  #expect(content.setAside?.reason.contains("not one of this release") == line.contains("other\""))
  #expect(content.state == RecordedState())
}

@Test("A snapshot can be read if the only row of a table was removed", arguments: ["numbers", "session"])
func recordFile_rowIsRemoved_snapshotIsReadAgain(table: String) throws {
  let lines = ["{\"navd-record\":1}", "{\"\(table)\":null}"].map { Array($0.utf8)[...] }
  let rows = try Rows.read(lines).rows
  #expect(try Rows.read([rows.snapshot.dropLast()]).content.state == RecordedState())
}
