import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Full, read-only and failing disks below navd's record (R1).

private typealias Rows = CoordinatorInterface

private func option(_ directory: String) -> [String] { ["--state-directory", directory] }

/// A value so large that the room which the disk has promised navd does not suffice for it.
private let large = Properties.state.merging([
  "value": (["text": Value.string(String(repeating: "x", count: 200_000))] as Properties).value
]) { $1 }

/// The record that navd finds when it starts.
enum FoundRecord: CaseIterable { case noDirectory, none, current }

/// The room that a disk has left.
enum Room: CaseIterable { case nothing, noInodes, mebibytes3, mebibytes8 }

extension Session {
  /// The ids of the presented items, by binding.
  fileprivate func presented() throws -> [String: String] {
    let list = try state()["presentations"]?.array ?? []
    return Dictionary(uniqueKeysWithValues: list.map { ($0["binding"]?.string ?? "", $0["id"]?.string ?? "") })
  }

  /// Leaves a record in a directory, with an item.
  fileprivate func leave(_ record: FoundRecord, on disk: SmallDisk) throws {
    wrapper = disk.prefix
    if record != .noDirectory { mkdir(disk.path + "/navd", 0o700) }
    switch record {
    case .noDirectory, .none: break
    case .current:
      try start(option(disk.inner + "/navd"))
      try present("note", "1")
      try stop(SIGKILL)
    }
  }
}

// MARK: Room

@Test(
  "R1: on a full disk, navd starts from the record that is there, refuses changes, and goes on when there is room",
  arguments: FoundRecord.allCases, Room.allCases)
func disk_fullAtStart_isServedFrom(record: FoundRecord, room: Room) throws {
  let (disk, session) = (try SmallDisk(megabytes: 16), try Session(starting: false))
  let directory = disk.inner + "/navd"
  try session.leave(record, on: disk)
  switch room {
  case .nothing: try disk.fill(leaving: 0)
  case .noInodes: try disk.fillWithFiles()
  case .mebibytes3: try disk.fill(leaving: 3 << 20)
  case .mebibytes8: try disk.fill(leaving: 8 << 20)
  }
  try session.start(option(directory))
  let before = try session.presented()
  #expect(before["note"] == (record == .current ? "1" : nil))
  // A record that is there already needs no other file.
  let isRefused = room == .nothing || room == .noInodes && record != .current
  if isRefused {
    #expect(try session.refusal(Rows.present, ("first", "", large))?.name == .notRecorded)
    let second = try session.refusal(Rows.present, ("second", "", large))
    #expect(second?.name == .notRecorded)
    #expect(second?.message.contains("nothing was changed") == true, "\(second?.message ?? "")")
    #expect(try session.refusal(Rows.dismiss, ("note", [:]))?.name == .notRecorded)
    #expect(try session.presented()["second"] == nil)
    #expect(session.navd?.errorText.contains("refused until the record can be written") == true)
    try disk.clear()
  }
  try session.present("after", "2", large)
  try session.stop(SIGKILL)
  try session.start(option(directory))
  #expect(try session.presented().merging(before) { $1 } == session.presented())
  #expect(try session.presented()["after"] == "2")
}

@Test(
  "navd serves from a record in a directory that cannot be written, until it can be", arguments: FoundRecord.allCases)
func disk_readOnlyAtStart_isServedFrom(record: FoundRecord) throws {
  let (disk, session) = (try SmallDisk(megabytes: 16), try Session(starting: false))
  let directory = disk.inner + "/navd"
  func remount(_ how: String) throws {
    let command = disk.inside("mount -o remount,\(how) \"$1\"")
    let run = try session.run(program: command[0], Array(command.dropFirst()))
    try #require(run.exitCode == 0, "\(run.errorText)")
  }
  try session.leave(record, on: disk)
  try remount("ro")
  guard record == .current else {
    let run = try session.run(
      program: disk.prefix[0], disk.prefix.dropFirst() + [Session.program("navd")] + option(directory))
    #expect(run.exitCode == 1)
    #expect(run.errorText.contains(directory) && run.errorText.contains("--state-directory"), "\(run.errorText)")
    return
  }
  try session.start(option(directory))
  let before = try session.presented()
  #expect(before["note"] == "1")
  #expect(try session.refusal(Rows.present, ("first", "", .state))?.name == .notRecorded)
  #expect(try session.presented() == before)
  try remount("rw")
  try session.present("after", "2")
  try session.stop(SIGKILL)
  try session.start(option(directory))
  #expect(try session.presented() == before.merging(["after": "2"]) { $1 })
}

@Test(
  "L2: on a full disk, changes that nobody can refuse do not make navd grow, and the last ones are recorded later"
)
func disk_fullWhileAsking_doesNotMakeNavdGrow() throws {
  let (disk, session) = (try SmallDisk(megabytes: 16), try Session(starting: false))
  let directory = disk.path + "/navd"
  try session.start(option(directory))
  let presenter = try BusPresenter(session, destination: "dialog")
  let options = large.merging(["destination": .string("dialog")]) { $1 }
  let path = try session.present("asked", "1", options)
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  presenter.isAnswering = false
  try session.dismiss("asked")
  try session.wait("the presenter is asked") { presenter.log.count == 2 }
  try disk.fill(leaving: 0)
  func ask(_ count: Int) throws {
    for number in 0..<count {
      let refusal = try session.refusal(Rows.asking, (path, "\(number)"), by: presenter.connection)
      #expect(refusal?.name == .notRecorded)
    }
  }
  try ask(20)
  let navd = try #require(session.navd?.processID)
  let before = Session.privateMemory(of: navd)
  try ask(200)
  #expect(Session.privateMemory(of: navd) - before < 8 << 20)
  try disk.clear()
  try session.present("after", "2")
  try session.stop(SIGKILL)
  try session.start(option(directory))
  #expect(try session.presented()["after"] == "2")
}

/// A navd whose record is on a small disk, and the destination “board”, whose command writes its process to the file `$STARTS`.
private struct Board {
  let disk: SmallDisk
  let session: Session

  init(_ destination: String) throws {
    disk = try SmallDisk(megabytes: 16)
    session = try Session(destinations: ["board": destination], starting: false)
    session.environment["STARTS"] = session.path("starts")
    try start()
  }

  func start() throws { try session.start(option(disk.path + "/navd")) }

  var processes: [pid_t] {
    String(decoding: Files.contents(of: session.path("starts")), as: UTF8.self).split(separator: "\n")
      .compactMap { pid_t($0) }
  }
}

@Test("R2: on a full disk, the restart of a program is on record, so the next navd does not start it again")
func disk_full_restartIsRecorded() throws {
  let board = try Board(
    """
    command = ["sh", "-c", "echo $$ >>$STARTS; exec sleep 1000"]
    restart = "always"
    restart-delay = "100ms"
    """)
  let (disk, session) = (board.disk, board.session)
  try session.present("board")
  try session.poll("it runs") { board.processes.count == 1 }
  try disk.fill(leaving: 0)
  var (count, refusal) = (0, CoordinatorError?.none)
  while refusal == nil {
    count += 1
    refusal = try session.refusal(Rows.present, ("other", "\(count)", .state))
  }
  #expect(refusal?.message.contains("nothing was changed") == true, "\(refusal?.message ?? "")")
  kill(board.processes[0], SIGKILL)
  try session.poll("it runs again") { board.processes.count == 2 }
  let path = try session.call(Rows.get, "board").0
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  try session.stop(SIGKILL)
  try board.start()
  #expect(try session.call(Rows.get, "board").0 == path)
  try disk.clear()
  try session.dismiss("board")
  _ = try session.ending(of: path)
  #expect(board.processes.count == 2)
}

@Test("R2: when a large request has used up the room, a program starts again as soon as there is some, and only once")
func disk_fullBeyondItsPromise_restartWaitsForRoom() throws {
  let board = try Board(
    """
    command = ["sh", "-c", "echo $$ >>$STARTS; exec sleep 1000"]
    restart = "always"
    restart-delay = "100ms"
    """)
  let (disk, session) = (board.disk, board.session)
  func isStartedAgain() -> Bool {
    // Answers in turns whose changes are not on record are errors.
    let item = (try? session.state())?["presentations"]?.array?.first { $0["binding"]?.string == "board" }
    return board.processes.count > 1 || item?["phase"]?.string == "presenting"
  }
  let first = try session.present("board")
  try session.poll("it runs") { board.processes.count == 1 }
  #expect(try session.call(Rows.wait, (first, "presented")).0 == "")
  try disk.fill(leaving: 0)
  let refusal = try session.refusal(Rows.present, ("other", "1", large))
  #expect(refusal?.message.contains("was carried out, but not recorded") == true, "\(refusal?.message ?? "")")
  kill(board.processes[0], SIGKILL)
  try session.poll("navd starts it again") { isStartedAgain() }
  try session.stop(SIGKILL)
  try board.start()
  try session.poll("navd starts it again") { isStartedAgain() }
  try disk.clear()
  try session.poll("it runs again") { board.processes.count >= 2 }
  let path = try session.call(Rows.get, "board").0
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  try session.stop(SIGKILL)
  try board.start()
  try session.dismiss("board")
  _ = try session.ending(of: path)
  #expect(board.processes.count == 2)
}

@Test("R2: when a large request has used up the room, programs still end, also those that ignore it at first")
func disk_fullBeyondItsPromise_programsEnd() throws {
  let board = try Board(
    """
    command = ["sh", "-c", "trap '' TERM; echo $$ >>$STARTS; while :; do sleep 1000; done"]
    grace = "200ms"
    """)
  let (disk, session) = (board.disk, board.session)
  let owner = try session.connect()
  try session.present("board", "1", ["owned": .boolean(true)], by: owner)
  try session.poll("it runs") { board.processes.count == 1 }
  try disk.fill(leaving: 0)
  #expect(try session.refusal(Rows.present, ("other", "1", large))?.name == .notRecorded)
  owner.close()
  try session.poll("it has ended") { kill(board.processes[0], 0) != 0 }
  #expect(try session.refusal(Rows.present, ("other", "2", .state))?.name == .notRecorded)
}

@Test("A record whose directory becomes read-only goes on in the file that is open")
func disk_readOnlyLater_isRecorded() throws {
  let (disk, session) = (try SmallDisk(megabytes: 64), try Session(starting: false))
  let directory = disk.path + "/navd"
  try session.start(option(directory))
  let command = disk.inside("mount --bind \"$1/navd\" \"$1/navd\" && mount -o remount,bind,ro \"$1/navd\"")
  let run = try session.run(program: command[0], Array(command.dropFirst()))
  try #require(run.exitCode == 0, "\(run.errorText)")
  #expect(open(directory + "/other", O_WRONLY | O_CREAT, 0o600) < 0 && errno == EROFS)
  // The values are more than navd writes before a checkpoint is due.
  for id in 0..<40 { try session.present("note", "\(id)", large) }
  #expect(Files.contents(of: directory + "/record.jsonl").count > 4_000_000)
  try session.stop(SIGKILL)
  let undo = disk.inside("umount \"$1/navd\"")
  try #require(try session.run(program: undo[0], Array(undo.dropFirst())).exitCode == 0)
  try session.start(option(directory))
  #expect(try session.presented() == ["note": "39"])
}

// MARK: Errors of the device

extension Session {
  /// Makes system calls on the record fail with EIO.
  /// - Parameters:
  ///   - calls: a regular expression of their names.
  ///   - when: which of the calls fail, in the syntax of strace(1).
  fileprivate func injection(
    _ calls: String, _ when: String, _ directory: String, alsoDirectory: Bool = true
  ) -> [String] {
    (["/record.jsonl", "/record.jsonl-new"] + (alsoDirectory ? [""] : [])).flatMap { ["-P", directory + $0] } + [
      "-f", "-e", "trace=/\(calls)", "-e", "inject=/\(calls):error=EIO:when=\(when)",
    ]
  }
}

@Test(
  "R1: whichever call on the device fails, every acknowledged change is on record, and the others are refused",
  arguments: ["pwrite", "ftruncate", "^rename", "^openat", "fstat|statx", "unlink"])
func disk_failingDevice_losesNothing(calls: String) throws {
  let session = try Session()
  let directory = session.bus.directory + "/navd"
  var refusals = 0
  for when in ["1", "1+2", "2..4", "1+"] {
    let navd = try #require(session.navd)
    let tracer = try session.start(
      program: "/usr/bin/strace", session.injection(calls, when, directory) + ["-p", "\(navd.processID)"])
    try session.wait("strace has attached") { tracer.errorText.contains("attached") || tracer.hasEnded }
    try #require(!tracer.hasEnded, "\(tracer.errorText)")
    var recorded: [String: String] = [:]
    // The requests are so many that a checkpoint is due at least once.
    for number in 0..<30 {
      let (binding, id) = ("note[\(number % 3)]", "\(when)-\(number)")
      if let refusal = try session.refusal(Rows.present, (binding, id, large)) {
        #expect(refusal.name == .notRecorded, "\(refusal.message)")
        refusals += 1
        recorded[binding] = nil
      } else {
        recorded[binding] = id
      }
    }
    tracer.send(SIGINT)
    try session.wait("strace has ended") { tracer.hasEnded }
    try session.present("after", when)
    recorded["after"] = when
    try session.stop(SIGKILL)
    try session.start()
    let presented = try session.presented()
    for (binding, id) in recorded { #expect(presented[binding] == id, "\(calls) \(when)") }
  }
  // Only pwrite writes lines. When other calls fail, there are only fewer checkpoints.
  #expect((refusals > 0) == ["pwrite"].contains(calls), "\(refusals) refused")
}

@Test(
  "R1: a record that cannot be read now is not taken for an empty one",
  arguments: ["^openat", "^read$", "fstat|statx"], [true, false])
func disk_unreadableAtStart_isKept(calls: String, alsoDirectory: Bool) throws {
  let session = try Session()
  let directory = session.bus.directory + "/navd"
  try session.present("note", "1")
  try session.stop(SIGKILL)
  let before = Files.contents(of: directory + "/record.jsonl")
  let run = try session.run(
    program: "/usr/bin/strace",
    session.injection(calls, "1+", directory, alsoDirectory: alsoDirectory) + [Session.program("navd")])
  #expect(run.exitCode == 1)
  #expect(run.errorText.contains("Input/output error"), "\(run.errorText)")
  #expect(Files.contents(of: directory + "/record.jsonl") == before)
  try session.start()
  #expect(try session.presented() == ["note": "1"])
}
