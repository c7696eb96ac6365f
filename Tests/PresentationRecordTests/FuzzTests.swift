import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

@testable import PresentationRecord
@testable import PresentationRules

/// A record with rows of each kind, in its snapshot and in turns after it, that a machine accepts.
private func livelyRecord(in directory: TemporaryDirectory) throws {
  let record = try Record.open(in: directory.path) { _ in }.record
  var machine = try StateMachine(restoring: RecordedState())
  machine.wallClockLead = 1_700_000_000_000_000_000
  let (now, client) = (Instant(nanoseconds: 1_000_000_000), Client(":1.7"))
  func binding(_ text: String) throws -> BindingID { try BindingID(text) }
  func commit() throws {
    record.note(machine.takeUnrecorded())
    try record.commit()
  }
  func perform(_ operation: Request.Operation) throws {
    _ = try machine.perform(Request(operation), by: client, at: now)
    try commit()
  }
  func options(_ change: (inout ItemOptions) throws -> Void) rethrows -> ItemOptions {
    var options = ItemOptions()
    try change(&options)
    return options
  }
  record.note(Record.Session(bus: "5eed", boot: "b007", clock: 1_700_000_000_000_000_000, token: "t0ken"))
  try machine.declareContainerValue("badge", defaultValue: .int32(0))
  for name in ["bar", "dock"] {
    _ = try machine.register(
      Destination(
        name: name, presenter: .bus(name: ":1.7", path: "/p"), group: name == "dock" ? binding("panels") : nil,
        source: .client(client)), by: client, at: now)
  }
  try commit()
  try perform(
    .present(
      binding("outbox"), id: "1",
      options {
        $0.value = ["level": .int32(40), "list": .array(element: .variant, [.variant(.string("x"))])]
        $0.containerValues = ["badge": .int32(3)]
        ($0.title, $0.style, $0.timeout, $0.owned, $0.priority) = ("Out", "sheet", 600_000, true, 3)
      }))
  try perform(.present(binding("outbox.child"), id: "2", ItemOptions()))
  try perform(.present(binding("outbox.child.child"), id: "2", ItemOptions()))
  try perform(
    .present(
      binding("command"), id: "",
      options {
        $0.command = InlineCommand(arguments: [Array("sleep".utf8), Array("9".utf8)])
        ($0.directory, $0.environment, $0.platformData) = ("/", ["A": "b"], ["output": .string("HDMI")])
      }))
  try perform(.present(binding("bar"), id: "", ItemOptions()))
  for name in ["one", "two", "three"] {
    try perform(.push(binding("main"), binding(name), id: name, ItemOptions()))
  }
  for tag in ["volume", "wifi", "late"] {
    try perform(
      .present(
        binding("panels.\(tag)"), id: "",
        options {
          ($0.group, $0.ifBusy) = (try binding("panels"), tag == "volume" ? .replace : .queue)
        }))
  }
  try perform(.select(binding("others"), tag: "a b", binding: binding("other"), id: "5", ItemOptions()))
  try perform(.present(binding("note"), id: "1", ItemOptions()))
  try perform(.dismiss(binding("note")))
  for handle in machine.survivors.map(\.handle) {
    _ = machine.report(.presentAnswered(handle, error: nil), at: now)
    record.note(memory: ["pid": .int32(77), "start-time": .uint64(5)], of: handle)
  }
  try commit()
  // One presentation waits for its presenter while it is dismissed.
  try perform(.dismiss(binding("bar")))
}

/// Opens the record of a directory as navd does, and ends all its presentations.
/// - Returns: whether the record was set aside.
private func open(_ directory: TemporaryDirectory) throws -> Bool {
  try Record.open(in: directory.path) { content in
    var machine = try StateMachine(restoring: content.state)
    try settle(&machine)
    return content.setAside != nil
  }.restored
}

/// Resumes the state of a record, and ends all its presentations.
private func settle(_ machine: inout StateMachine) throws {
  let now = Instant(nanoseconds: 1 << 40)
  let survivals = Dictionary(uniqueKeysWithValues: machine.survivors.map { ($0.handle, Survival.shown) })
  var commands = machine.resume(survivals, absent: [], at: now).commands
  commands += machine.endParked(isForced: true).commands
  commands += machine.end(machine.beginShutDown(), by: nil, at: now).commands
  while let command = commands.popLast() {
    guard case .dismiss(let handle, _, _, _) = command else { continue }
    commands += machine.report(.dismissAnswered(handle, result: [:]), at: now).commands
  }
  let count = machine.count
  try #require(count == 0)
}

private let rounds = getenv("NAVD_TEST_RECORDS").flatMap { Int(String(cString: $0)) }

/// Damaged records: each is read or set aside (R4).
@Suite struct FuzzTests {
  @Test("A record with rows of each kind is read, and the machine accepts it")
  func recordFuzz_undamaged_isRead() throws {
    let directory = TemporaryDirectory()
    try livelyRecord(in: directory)
    let bytes = Files.contents(of: directory.path(of: "record.jsonl"))
    let lines = try #require(RecordLines(bytes)).lines
    var tables: Set<String> = []
    for case .object(let members) in lines { tables.formUnion(members.keys) }
    let expected: Set = [
      "numbers", "session", "presentations", "memories", "tags", "endings", "container-values", "registrations",
    ]
    #expect(expected.isSubset(of: tables))
    #expect(try !open(directory))
  }

  @Test("R4: a record with any rows is read or set aside")
  func recordFuzz_damaged_isReadOrSetAside() throws {
    let directory = TemporaryDirectory()
    try livelyRecord(in: directory)
    let parts = try #require(RecordLines(Files.contents(of: directory.path(of: "record.jsonl"))))
    let seed = SeededNumbers.chosenSeed
    var (read, refused) = (0, 0)
    for round in 0..<(rounds ?? 600) {
      var dice = SeededNumbers(seed: seed &+ UInt64(round))
      let bytes = parts.damaged(&dice)
      do {
        var machine = try StateMachine(restoring: content(of: bytes).state)
        // The state that was read can be written, and read again.
        machine.noteAll()
        let written = try content(of: machine.takeUnrecorded())
        #expect(throws: Never.self, "NAVD_SEED=\(seed &+ UInt64(round))") {
          var again = try StateMachine(restoring: written)
          again.noteAll()
          #expect(try content(of: again.takeUnrecorded()).presentations == written.presentations)
        }
        try settle(&machine)
        read += 1
      } catch is Unreadable {
        refused += 1
      } catch is RecordFault {
        refused += 1
      }
    }
    print("record fuzz: NAVD_SEED=\(seed), \(read) read, \(refused) refused")
    #expect(read > 0 && refused > 0)
  }

  private func content(of bytes: [UInt8]) throws -> Record.Content {
    try Rows.read(bytes.split(separator: UInt8(ascii: "\n"))).content
  }

  /// The state after changes were written and read.
  private func content(of changes: RecordChanges) throws -> RecordedState {
    let directory = TemporaryDirectory()
    let record = try Record.open(in: directory.path) { _ in }.record
    record.note(changes)
    try record.commit()
    return try content(of: Files.contents(of: directory.path(of: "record.jsonl"))).state
  }

  @Test("R4: a damaged file is read or set aside, and the next turn is on record")
  func recordFuzz_files_areReadOrSetAside() throws {
    let original = TemporaryDirectory()
    try livelyRecord(in: original)
    let parts = try #require(RecordLines(Files.contents(of: original.path(of: "record.jsonl"))))
    let seed = SeededNumbers.chosenSeed
    for round in 0..<(rounds.map { $0 / 100 } ?? 50) {
      var dice = SeededNumbers(seed: seed &+ UInt64(round))
      let directory = TemporaryDirectory()
      try put(parts.damaged(&dice), directory.path(of: "record.jsonl"))
      let isSetAside = try open(directory)
      #expect(try !open(directory), "NAVD_SEED=\(seed &+ UInt64(round)), set aside: \(isSetAside)")
    }
  }
}
