import CSQLite
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing

@testable import PresentationRecord
@testable import PresentationRules

// Records of earlier releases: their content is read, replaced by a record of this release, or set aside (R1, R4).

private let fixtures = #filePath.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/Fixtures"

/// A directory with the files of a fixture. The last release with tables wrote the state of `fullState`, and closed its record;
/// then it made other changes, and was killed (“killed”), or closed its record once more (“closed”). Release 0.1 wrote
/// “release-0.1”.
private func copy(of fixture: String) throws -> TemporaryDirectory {
  let directory = TemporaryDirectory()
  for name in ["record.sqlite", "record.sqlite-wal", "record.journal"] {
    let bytes = Files.contents(of: "\(fixtures)/\(fixture)/\(name)")
    if !bytes.isEmpty { try put(bytes, directory.path(of: name)) }
  }
  return directory
}

/// The state that “killed” and “closed” have on record.
private func expectedState() throws -> RecordedState {
  var state = try fullState()
  state.numbers = .init(serial: Serial(1003), lastHandle: Handle(1003))
  state.presentations[Handle(2)] = nil
  state.presentations[Handle(3)]?.presentation.phase = .presented
  state.presentations[Handle(3)]?.presentation.item.value = [:]
  // The earlier release did not record which parents were named, nor which tags a trusted client has left.
  for tag in state.tags.keys { state.tags[tag]!.isTrusted = false }
  for handle in state.presentations.keys {
    state.presentations[handle]!.presentation.hasNamedParent = false
    // The earlier release had no continuations.
    state.presentations[handle]!.presentation.continuation = nil
    state.presentations[handle]!.presentation.item.isInterrupted = false
    state.presentations[handle]!.presentation.item.isStateMeant = false
  }
  // The earlier release knew no dismissals that are asked about or forced, no declined, unfocused or held endings, and no outputs.
  for handle in [Handle(6), Handle(7), Handle(111), Handle(112), Handle(113), Handle(114)] {
    state.presentations[handle] = nil
    state.endings[handle] = nil
  }
  state.changed[.slot(try BindingID("a"))] = nil
  state.tags[GroupTag(group: try BindingID("g"), tag: "bare")] = nil
  state.endings[Handle(100)] = nil
  state.registrations = ["two": try #require(state.registrations["two"]?.reversed())]
  for handle in [Handle(1000), Handle(1003)] {
    state.presentations[handle] = RecordedState.PresentationRow(
      Presentation(
        handle: handle, binding: try BindingID("b[\(handle)]"), item: Shared(Item(id: "i")), phase: .presented),
      slotChanged: Serial(1003))
  }
  return state
}

/// The state that “release-0.1” has on record, as this release says it: the state of `fullState`, and each setting of release 0.1.
private func expectedStateOf01() throws -> RecordedState {
  var state = try fullState()
  func set(_ number: UInt64, _ change: (inout Destination) -> Void) {
    var destination = state.presentations[Handle(number)]!.presentation.item.destination!.content
    change(&destination)
    state.presentations[Handle(number)]!.presentation.item.destination = Shared(destination)
  }
  var settings = ItemSettings()
  settings.id = "main"
  settings.options.title = "Volume"
  settings.options.timeout = 2000
  settings.onDismiss = [Array("b".utf8)]
  settings.holds = ["dnd": .postpone]
  settings.restart = RestartRule(.onFailure)
  settings.inhibits = [.idle]
  set(2) {
    $0.presenter = .command([[1]], scope: .process)
    $0.isProtected = true
    $0.itemSettings = Shared(settings)
    // Release 0.1 ended leftovers with `kill`, and only the scope said which windows belong to an item.
    $0.window = WindowFollowing(
      WindowPattern(appID: "a*", title: "t?"), takesAll: false, adopts: true, linger: 7, endsLeftover: true,
      kills: true, endsUnfocused: true, endsWithOutput: true, hides: true)
  }
  set(3) { $0.window = WindowFollowing() }
  set(6) { $0.window = WindowFollowing(endsLeftover: true, kills: true) }
  state.presentations[Handle(4)]!.isParked = true
  state.presentations[Handle(5)]!.presentation.program = Handle(4)
  for (number, stage) in [(8, .overtaken), (9, .departed)] as [(UInt64, Dismissal.Stage)] {
    var item = Item(id: "")
    // The `linger` of release 0.1 was 0, which stood for none.
    item.destination = Shared(
      Destination(
        name: "w", presenter: .command([[2]], scope: .process), source: .file(path: "/w"),
        window: WindowFollowing(takesAll: false, linger: nil)))
    state.presentations[Handle(number)] = RecordedState.PresentationRow(
      Presentation(
        handle: Handle(number), binding: try BindingID("w.x\(number)"), item: Shared(item),
        phase: .dismissing(Dismissal(stage, reason: .closed))), slotChanged: Serial(5))
  }
  var holder = Holder()
  (holder.client, holder.message) = (Client(":1.4"), "é")
  state.holders[Holder.Key(name: "dnd", cookie: 4)] = holder
  return state
}

/// Runs statements on a database.
private func execute(_ sql: String, in path: String) throws {
  var database: OpaquePointer?
  defer { sqlite3_close(database) }
  try #require(sqlite3_open(path, &database) == SQLITE_OK)
  try #require(sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK, "\(String(cString: sqlite3_errmsg(database)))")
}

/// A record of an earlier schema, made by its SQL statements.
func record(ofSchema name: String) throws -> TemporaryDirectory {
  let directory = TemporaryDirectory()
  let sql = String(decoding: Files.contents(of: "\(fixtures)/\(name).sql"), as: UTF8.self)
  try execute(sql, in: directory.path(of: "record.sqlite"))
  return directory
}

private func names(in directory: TemporaryDirectory) -> [String] {
  ["record.sqlite", "record.sqlite-wal", "record.sqlite-shm", "record.journal", "record.journal-new"]
    .filter { access(directory.path(of: $0), F_OK) == 0 }
}

@Test("R1: an updated navd goes on with everything that the release before has left", arguments: ["killed", "closed"])
func earlierRelease_record_isReadAndReplaced(fixture: String) throws {
  let directory = try copy(of: fixture)
  for _ in 0..<2 {
    let content = try Record.open(in: directory.path) { $0 }.restored
    #expect(content.setAside == nil)
    #expect(content.state == (try expectedState()))
    #expect(content.session == Record.Session(bus: "b2", boot: "c", clock: -6, token: "t"))
    #expect(content.memories == [Handle(3): ["pid": .int32(6)], Handle(1003): ["turn": .uint64(1003)]])
    #expect(names(in: directory) == ["record.journal"])
  }
}

@Test(
  "R1: a record of release 0.1 is read, and its windows are followed as before, where the settings of this release can say it"
)
func release01_record_isRead() throws {
  let directory = try copy(of: "release-0.1")
  for _ in 0..<2 {
    let (record, content) = try Record.open(in: directory.path) { $0 }
    #expect(content.setAside == nil)
    let expected = try expectedStateOf01()
    #expect(content.state == expected)
    #expect(content.session == Record.Session(bus: "b", boot: "c", clock: -5, token: "t"))
    #expect(content.memories == [Handle(2): ["pid": .int32(5)]])
    // The record now has the rows of this release.
    record.note(changes(to: content.state))
    try record.commit()
  }
}

@Test("R1: an update that is killed after the new record is there, and before the old one is removed, is no damage")
func earlierRelease_killedBeforeRemoval_isTheSame() throws {
  let directory = try copy(of: "killed")
  let old = ["record.sqlite", "record.sqlite-wal"].map {
    (directory.path(of: $0), Files.contents(of: directory.path(of: $0)))
  }
  do {
    let record = try Record.open(in: directory.path) { _ in }.record
    var changes = RecordChanges()
    changes.numbers = .init(serial: Serial(2000))
    record.note(changes)
    try record.commit()
  }
  for (path, bytes) in old where !bytes.isEmpty { try put(bytes, path) }
  #expect(try Record.open(in: directory.path) { $0.state.numbers.serial }.restored == Serial(2000))
  #expect(names(in: directory) == ["record.journal"])
}

@Test("R1: a turn that a killed navd of an earlier release wrote in part is dropped")
func earlierRelease_journalCutOff_hasWhatIsComplete() throws {
  let directory = try copy(of: "killed")
  let path = directory.path(of: "record.journal")
  try put(Files.contents(of: path).dropLast(), path)
  let content = try Record.open(in: directory.path) { $0 }.restored
  #expect(content.setAside == nil)
  // The turn that was cut off recorded a later session, so this session is an earlier turn's.
  #expect(content.session == Record.Session(bus: "b", boot: "c", clock: -5, token: "t"))
  #expect(content.state == (try expectedState()))
}

@Test("R4: an earlier release's record that cannot be read is set aside, with all its files")
func earlierRelease_unreadable_isSetAside() throws {
  func check(_ damage: (TemporaryDirectory) throws -> Void) throws {
    let directory = try copy(of: "killed")
    try damage(directory)
    let content = try Record.open(in: directory.path) { $0 }.restored
    let aside = try #require(content.setAside)
    #expect(content.state == RecordedState())
    #expect(names(in: directory) == ["record.journal"])
    #expect(access(aside.path, F_OK) == 0)
  }
  func check(sql: String) throws { try check { try execute(sql, in: $0.path(of: "record.sqlite")) } }
  try check(sql: "INSERT INTO grdb_migrations VALUES ('99: much later')")
  try check(sql: "DELETE FROM grdb_migrations; DROP TABLE grdb_migrations")
  try check(sql: "UPDATE presentation SET body = x'ff' WHERE handle = 1")
  try check(sql: "UPDATE presentation SET body = x'04ffffffff' WHERE handle = 1")
  try check(sql: "UPDATE presentation SET phase = 'sleeping' WHERE handle = 1")
  try check(sql: "UPDATE presentation SET binding = '..' WHERE handle = 1")
  try check(sql: "UPDATE changed SET kind = 7 WHERE kind = 2")
  try check(sql: "DROP TABLE ending")
  try check { unlink($0.path(of: "record.sqlite")) }
  try check { directory in
    let path = directory.path(of: "record.journal")
    var bytes = Files.contents(of: path)
    bytes[20] ^= 1
    try put(bytes, path)
  }
}

@Test(
  "R4: an earlier release's record with any wrong byte opens as a state, or is set aside")
func earlierRelease_anyByte_isNoTrap() throws {
  var dice = SystemRandomNumberGenerator()
  for _ in 0..<100 {
    let directory = try copy(of: "closed")
    let path = directory.path(of: "record.sqlite")
    var bytes = Files.contents(of: path)
    for _ in 0..<Int.random(in: 1...4, using: &dice) {
      bytes[Int.random(in: bytes.indices, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
    }
    try put(bytes, path)
    _ = try Record.open(in: directory.path) { _ = try StateMachine(restoring: $0.state) }
  }
}

@Test("A record that a navd of an earlier release has open is not touched")
func earlierRelease_inUse_isRefused() throws {
  let directory = try copy(of: "closed")
  var database: OpaquePointer?
  defer { sqlite3_close(database) }
  try #require(sqlite3_open(directory.path(of: "record.sqlite"), &database) == SQLITE_OK)
  try #require(
    sqlite3_exec(database, "PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT", nil, nil, nil) == SQLITE_OK)
  let failure = #expect(throws: Record.Failure.self) { try Record.open(in: directory.path, timeout: 0.1) { _ in } }
  #expect(failure?.description.contains("another navd") == true, "\(failure?.description ?? "")")
}

@Test("A record of the first schema is read, with all that clients registered")
func earlierRelease_schema1_isRead() throws {
  let directory = try record(ofSchema: "schema-1")
  let content = try Record.open(in: directory.path) { $0 }.restored
  let ending = Ending(
    handle: Handle(101), binding: try BindingID("e"), id: "1", destination: "d", group: nil, stack: nil,
    reason: .closed, result: [:], serial: Serial(6), presentedAt: Instant(nanoseconds: 1),
    endedAt: Instant(nanoseconds: 2))
  let registered = (1...3).map {
    Destination(name: "d", presenter: .bus(name: ":1.\($0)", path: "/p"), source: .client(Client(":1.\($0)")))
  }
  #expect(content.setAside == nil)
  #expect(
    content.state.numbers
      == .init(serial: Serial(7), lastHandle: Handle(101), lastQueueAge: 9, changesForgotten: Serial(10)))
  #expect(content.state.endings == [Handle(101): ending])
  #expect(content.state.registrations == ["d": registered])
}

@Test("A record of the fourth schema is read, with the turns in its table")
func earlierRelease_schema4_isRead() throws {
  let directory = try record(ofSchema: "schema-4")
  let content = try Record.open(in: directory.path) { $0 }.restored
  let row = RecordedState.PresentationRow(
    Presentation(
      handle: Handle(9), binding: try BindingID("b"), item: Shared(Item(id: "1")), phase: .presented),
    slotChanged: Serial(7))
  #expect(content.setAside == nil)
  #expect(content.state.numbers.serial == Serial(7))
  #expect(content.state.presentations == [Handle(9): row])
}

@Test("H4, K1: a record of release 0.1 with groups that a held item, or a fallback, blocks is put right")
func earlierRelease_blockedGroups_areServed() throws {
  // In “notes”, the held “memo” is selected, and “alarm” waits behind it. In “kiosk”, the fallback “home” is selected, and “film”
  // waits behind it.
  let directory = try copy(of: "0.1-held")
  let content = try Record.open(in: directory.path) { $0 }.restored
  #expect(content.setAside == nil)
  var machine = try StateMachine(restoring: content.state)
  let (notes, kiosk) = (try BindingID("notes"), try BindingID("kiosk"))
  #expect(machine.selection(of: notes) == "memo" && machine.selection(of: kiosk) == "home")
  machine.load(fallbacks: [kiosk: "home"])
  _ = machine.resume([:], left: [], at: Instant(nanoseconds: .max / 2))
  #expect(machine.selection(of: notes) == "alarm" && machine.selection(of: kiosk) == "film")
  #expect(machine.queuedTags(of: notes) == ["memo"])
  #expect(machine.current(at: try BindingID("alarm"))?.phase == .presented)
}
