import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import TestSupport
import Testing
import TextFormats

// Random calls of every method of navd, with a check of its state, its memory and its answers to others (L2).

private typealias Rows = CoordinatorInterface

/// The number of calls in a run; `make fuzz` makes more.
private let calls = getenv("NAVD_TEST_FUZZ_CALLS").flatMap { Int(String(cString: $0)) } ?? 400

/// A session whose commands are harmless whatever their arguments: its PATH contains only programs that do nothing.
private func harmlessSession(on program: BusProgram) throws -> Session {
  let session = try Session(
    destinations: [
      "sleeper": "command = [\"sleep\", \"1000\"]\n", "short": "command = [\"true\"]\n",
      "missing": "command = [\"missing\"]\n", "grouped": "command = [\"sleep\", \"1000\"]\ngroup = \"panels\"\n",
      "hole": "bus = { name = \"org.example.Nobody\", path = \"/x\" }\nstart-timeout = \"100ms\"\ngrace = \"100ms\"\n",
    ], starting: false, program: program)
  mkdir(session.path("bin"), 0o700)
  for name in ["sleep", "true", "false"] { symlink("/usr/bin/" + name, session.path("bin/" + name)) }
  session.environment["PATH"] = session.path("bin")
  try session.start(["--log-level", "critical"])
  for (key, value) in [("badge", .string("")), ("weight", .int32(0)), ("list", .bytes([]))] as [(String, Value)] {
    try session.call(Rows.declareContainerValue, (key, value))
  }
  return session
}

extension Session {
  /// Ends all presentations, and fills navd's limited memory of endings and tags with known content, so that memory use
  /// can be compared. These limits are tested elsewhere (L1).
  /// - Parameter consistency: the check whose watcher has to keep up.
  fileprivate func clearAway(seenBy consistency: ConsistencyCheck) throws {
    try call(Rows.dismissAll, ["all": .boolean(true)])
    try poll("all presentations have ended") { try state()["presentations"]?.array == [] }
    let limits = try limits()
    // Buffers that once held a large value stay large, up to a limit.
    for _ in 0..<3 {
      try present("large", "", ["value": ["v": Value.bytes([UInt8](repeating: 7, count: 900_000))].value])
      _ = try state()
      try dismiss("large")
    }
    let endings = (0...(limits["remembered"] ?? 0)).map { begin(Rows.present, ("forget", "\($0)", .state)) }
    for ending in endings { _ = try answer(to: ending) }
    try dismiss("forget")
    // Each event contains all tags of the group.
    let tags = 128
    for group in 0...(limits["remembered"] ?? 0) / tags {
      let requests = (0..<tags).map { number -> TransactionRequest in
        TransactionRequest("Select", [.string("forget[\(group)]"), .string("tag\(number)"), Properties.state.value])
      }
      try call(Rows.apply, (requests, [:]))
      try consistency.catchUp()
    }
    try call(Rows.dismissAll, ["all": .boolean(true)])
    #expect(try state()["presentations"]?.array == [])
    #expect(processes() == [])
  }
}

extension Fuzzer {
  /// Makes calls in portions, so that the watcher of the test hears of the changes before there are more: a large item takes it
  /// longer than navd.
  fileprivate func run(_ count: Int, arbitrariness: Double, burst: Int = 1, _ consistency: ConsistencyCheck) throws {
    try run(count, arbitrariness: arbitrariness, burst: burst)
    try consistency.catchUp()
  }

  /// The answers to the calls, the most frequent first: `900 × success, 20 × InvalidArgument`.
  fileprivate var counts: String {
    answers.sorted { $0.value > $1.value }.map {
      "\($0.value) × \($0.key.isEmpty ? "success" : String($0.key.split(separator: ".").last ?? ""))"
    }.joined(separator: ", ")
  }
}

/// A navd that random calls meet, what it had before them, and clients that see what they do to others.
private final class FuzzedSession {
  /// The data that navd keeps between calls.
  struct Kept {
    let memory: Int
    let descriptors: Int
  }

  let session: Session
  let navd: Program
  private let seed: UInt64
  private(set) var consistency: ConsistencyCheck
  private let honest: HonestClient

  init(on program: BusProgram, seed: UInt64) throws {
    self.seed = seed
    session = try harmlessSession(on: program)
    navd = try #require(session.navd)
    consistency = try ConsistencyCheck(session)
    honest = try HonestClient(session)
  }

  private var keptNow: Kept {
    Kept(memory: Session.privateMemory(of: navd.processID), descriptors: Session.descriptors(of: navd.processID))
  }

  /// A debug build takes long for the longest transactions.
  private func fuzzer(seed: UInt64) throws -> Fuzzer {
    try Fuzzer(session, seed: seed, longestTransaction: isThorough ? nil : 64)
  }

  /// Makes the first calls, with which tables and buffers grow, and ends all that they have left.
  func warmUp() throws -> Kept {
    let first = try fuzzer(seed: seed &+ 1)
    while first.calls < max(300, calls / 10) { try first.run(40, arbitrariness: 0.3, burst: 40, consistency) }
    try end(first)
    return keptNow
  }

  /// Makes valid requests, outdated ones and arbitrary ones, and checks the state after each part of them.
  /// - Returns: the fuzzer, and the times of answers to the honest client meanwhile.
  func fuzz() throws -> (fuzzer: Fuzzer, times: HonestClient.Times) {
    let fuzzer = try fuzzer(seed: seed)
    let parts = max(1, calls / 500)
    var measured: [HonestClient.Times] = []
    for part in 0..<parts {
      let arbitrariness = [0, 0.05, 0.3, 1][part % 4]
      let burst = part % 3 == 0 ? 40 : 1
      let start = fuzzer.calls
      // Only some calls are measured, since the watcher of the test cannot keep up with so many events.
      measured.append(
        try honest.times(100, session) { try fuzzer.run(5, arbitrariness: arbitrariness, burst: burst, consistency) })
      try honest.pause(session)
      while case let left = calls / parts + start - fuzzer.calls, left > 0 {
        try fuzzer.run(min(left, 40), arbitrariness: arbitrariness, burst: burst, consistency)
      }
      let faults = try consistency.faults() + fuzzer.faults
      try #require(faults.isEmpty, "NAVD_SEED=\(seed), part \(part): \(faults)")
      try #require(navd.status == nil, "NAVD_SEED=\(seed), part \(part): \(navd.errorText)")
    }
    return (fuzzer, HonestClient.Times(measured))
  }

  /// The median time of an answer to the honest client during calls of the fuzzer, as a multiple of the one without them.
  func slowness(during fuzzer: Fuzzer) throws -> Double {
    func measure() throws -> Double {
      try honest.compare(rounds: 5, answers: 150, session) { try fuzzer.run(5, arbitrariness: 0.3, consistency) }.ratio
    }
    var ratio = try measure()
    // The time measurement may be disturbed, but not three times in a row.
    for _ in 0..<2 where isThorough && ratio > 2 { ratio = try measure() }
    return ratio
  }

  /// Ends all clients and all that they have left, and requires that the state is consistent then.
  func leave(_ fuzzer: Fuzzer) throws {
    try honest.stop(session)
    try end(fuzzer)
    let faults = try consistency.faults()
    #expect(faults == [], "NAVD_SEED=\(seed)")
  }

  private func end(_ fuzzer: Fuzzer) throws {
    fuzzer.leave()
    try session.clearAway(seenBy: consistency)
    try session.wait("all calls are answered") { fuzzer.isAnswered }
  }

  /// Requires that navd has as much memory and as many descriptors as before, a little more excepted.
  /// - Returns: what it has.
  func expectNoMore(than before: Kept) -> Kept {
    // Its tables still grow after few calls.
    let most = before.memory + before.memory / 10 + (isThorough ? 0 : 1 << 20)
    try? session.pollMemory("navd has at most \(most >> 10) KiB") { keptNow.memory <= most }
    let after = keptNow
    #expect(
      after.memory <= most, "NAVD_SEED=\(seed): \(before.memory >> 10) KiB, then \(after.memory >> 10) KiB")
    #expect(after.descriptors <= before.descriptors)
    return after
  }
}

@Test(
  "L2: calling every method with arbitrary arguments leaves navd, its memory use and other clients as before",
  .serialized, arguments: BusProgram.named(by: "NAVD_TEST_FUZZ_BUS") ?? BusProgram.allCases)
func fuzz_everyMethod_leavesNavdAsBefore(on program: BusProgram) throws {
  let seed = SeededNumbers.chosenSeed
  let fuzzed = try FuzzedSession(on: program, seed: seed)
  let before = try fuzzed.warmUp()
  print("fuzz on \(program.rawValue): NAVD_SEED=\(seed)")
  let (fuzzer, times) = try fuzzed.fuzz()
  let uncalled = fuzzer.known.subtracting(fuzzer.called).map { "\($0.interface).\($0.name)" }
  #expect(uncalled == ["org.navd.Coordinator1.Quit"])
  let slowness = try fuzzed.slowness(during: fuzzer)
  expectSpeed(slowness <= 2)
  #expect(fuzzer.faults == [])
  try fuzzed.leave(fuzzer)
  let after = fuzzed.expectNoMore(than: before)
  print(
    """
    fuzz on \(program.rawValue): NAVD_SEED=\(seed), \(fuzzer.calls) calls, answered by \(fuzzer.counts); \
    memory \(before.memory >> 10) KiB, then \(after.memory >> 10) KiB; \(times.count) answers to an honest client, median \
    \(times.median), 99.9 % within \(times.percentile(99.9)), longest \(times.longest); its median × \(slowness); \
    \(fuzzed.consistency.gaps) gaps of the watcher
    """)
  // Other programs delay the answers of a debug build too much on a machine with few processors.
  #if !DEBUG
    expectSpeed(times.percentile(99.9) <= .milliseconds(100), "NAVD_SEED=\(seed)")
  #endif
  #expect(fuzzed.navd.status == nil)
  try fuzzed.session.call(Rows.quit, ())
  #expect(try fuzzed.session.waitForEnd() == .exited(code: 0))
}
