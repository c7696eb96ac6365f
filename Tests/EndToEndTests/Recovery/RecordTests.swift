import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Records that a started navd finds: damaged ones, and those of another time (R1, R4, O2).

private typealias Rows = CoordinatorInterface

private func put(_ bytes: [UInt8], _ path: String) throws {
  let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
  try #require(file >= 0)
  defer { close(file) }
  try #require(bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) } == bytes.count)
}

@Test("A relative XDG_RUNTIME_DIR counts as unset, as its specification demands")
func record_relativeRuntimeDirectory_isIgnored() throws {
  let session = try Session(starting: false)
  session.environment["XDG_RUNTIME_DIR"] = "relative"
  try session.start()
  let navd = try #require(session.navd)
  try session.wait("it says so") {
    navd.errorText.contains("the record is in /tmp/navd-") && navd.errorText.contains("; set XDG_RUNTIME_DIR")
  }
  try session.stop()
}

// MARK: Damage

@Test("R4: navd serves, whatever its record contains")
func recordFuzz_damaged_navdServes() throws {
  let session = try Session(destinations: ["sleeper": "command = [\"sleep\", \"1000\"]\n"])
  let path = session.bus.directory + "/navd/record.jsonl"
  try session.call(Rows.declareContainerValue, ("badge", .int32(0)))
  try session.present("sleeper")
  try session.present(
    "note", "1", ["value": (["text": Value.string("x")] as Properties).value, "owned": .boolean(true)])
  try session.present("note.child", "2", ["timeout": .uint64(100_000)])
  try session.call(Rows.push, ("main", "list", "1", .state))
  try session.call(Rows.push, ("main", "detail", "2", .state))
  for tag in ["volume", "late", "later"] {
    try session.present("panels.\(tag)", "", ["group": .string("panels"), "if-busy": .string("queue")])
  }
  try session.present("gone")
  try session.dismiss("gone")
  try session.stop(SIGKILL)
  let parts = try #require(RecordLines(Files.contents(of: path)))
  let seed = SeededNumbers.chosenSeed
  let rounds = getenv("NAVD_TEST_RECORDS").flatMap { Int(String(cString: $0)).map { $0 / 200 } } ?? 15
  var setAside = 0
  for round in 0..<rounds {
    let seed = seed &+ UInt64(round)
    var dice = SeededNumbers(seed: seed)
    try put(parts.damaged(&dice), path)
    do {
      try session.start()
      _ = try session.state()
      _ = try session.call(Rows.history, (0, [:]))
      _ = try session.call(Rows.destinations, ())
      try session.present("fresh")
      if session.navd?.errorText.contains("cannot be read") == true { setAside += 1 }
      try session.stop(SIGKILL)
    } catch {
      Issue.record("NAVD_SEED=\(seed): \(error)")
      break
    }
  }
  print("record fuzz: NAVD_SEED=\(seed), \(rounds) records, \(setAside) set aside")
}

// MARK: Clocks

extension Session {
  /// Sets the wall clock of navd, by libfaketime. This sets the timers of navd to another time, too, so that none of them ends. A
  /// timer lets a client wait after a request that took long; so each request is another client's.
  fileprivate func setClock(_ time: String) throws { try write(time + "\n", to: "clock") }

  fileprivate func startWithClock() throws {
    environment["LD_PRELOAD"] = "/usr/$LIB/faketime/libfaketime.so.1"
    environment["FAKETIME_TIMESTAMP_FILE"] = path("clock")
    environment["FAKETIME_NO_CACHE"] = "1"
    environment["FAKETIME_DONT_FAKE_MONOTONIC"] = "1"
    defer { environment["LD_PRELOAD"] = nil }
    try start()
  }
}

@Test("navd starts and serves, whatever time the wall clock has", arguments: ["1960", "2262", "2300", "9999"])
func clock_anyTime_navdServes(year: String) throws {
  let session = try Session(starting: false)
  try session.setClock("@\(year)-06-01 00:00:00")
  try session.startWithClock()
  try session.present("note", "1", ["timeout": .uint64(.max)])
  for verb in ["list", "history", "show note"] {
    let run = try session.run(program: session.executable("navctl"), verb.split(separator: " ").map(String.init))
    #expect(run.exitCode == 0, "\(run.errorText)")
  }
  // The clock is set to another time while navd runs, and before the next start.
  for time in ["@2024-01-01 00:00:00", "@2299-01-01 00:00:00", "@1965-01-01 00:00:00"] {
    try session.setClock(time)
    try session.present("other", time, by: session.connect())
    try session.dismiss("other", by: session.connect())
    try session.stop(SIGKILL)
    try session.startWithClock()
    #expect(try session.call(Rows.get, "note").1["id"] == .string("1"))
  }
  #expect(try session.call(Rows.history, (0, [:])).count == 3)
}

@Test(
  "O2: After a restart of the machine, a timeout has its rest, even if the clock was set or the computer slept before",
  arguments: [SIGKILL, SIGTERM])
func clock_setBeforeTheMachineRestarts_timeoutHasItsRest(signal: Int32) throws {
  let (disk, session) = (try SmallDisk(megabytes: 1), try Session(starting: false))
  try session.setClock("+0s")
  try session.startWithClock()
  try session.present("note", "1", ["timeout": .uint64(3_600_000)])
  try session.setClock("+8h")
  // A navd that is killed has recorded the time of its last change.
  if signal == SIGKILL { try session.present("other", by: session.connect()) }
  try session.stop(signal)
  let boot = disk.inside("echo another >\"$1/boot\"; mount --bind \"$1/boot\" /proc/sys/kernel/random/boot_id")
  let run = try session.run(program: boot[0], Array(boot.dropFirst()))
  try #require(run.exitCode == 0, "\(run.errorText)")
  session.wrapper = disk.prefix
  try session.startWithClock()
  let left = try session.call(Rows.get, "note").1["timeout-left"]
  #expect((3_500_000...3_600_000).contains(UInt64(value: try #require(left)) ?? 0), "\(left as Any)")
}
