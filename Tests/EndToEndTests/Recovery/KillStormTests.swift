// Why this file exists: navd may be killed at any instant, and nobody must be able to tell but by the pause (R1–R6). Many
// clients keep journals of what they were told; what is there after each kill is held against them.

import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import TestSupport
import Testing
import TextFormats

private typealias Rows = CoordinatorInterface

/// How often navd is killed; the whole storm is for `NAVD_TEST_KILLS=300`.
private var kills: Int { getenv("NAVD_TEST_KILLS").flatMap { Int(String(cString: $0)) } ?? 40 }

@Test("R1–R6: under load, killed at random instants, navd loses nothing that it acknowledged and half does nothing")
func killStorm_underLoad_losesNothing() throws {
  var storm = try Storm(clients: 16)
  var pauses: [Duration] = []
  for _ in 0..<kills { pauses.append(try storm.strike()) }
  try storm.end()
  pauses.sort()
  print(
    """
    kill storm: \(kills) kills, \(storm.acknowledged) requests acknowledged, \(storm.unanswered) unanswered, of which \
    \(storm.carriedOut) were carried out; \(storm.waitsAskedAgain) waits asked again; \
    median pause \(pauses[pauses.count / 2] / .milliseconds(1)) ms
    """)
}

/// What a client was told of its own bindings.
private final class Journal {
  /// The id that each binding shows; nil is nothing.
  private(set) var shown: [String: String] = [:]
  /// What the request that is under way would make of them.
  private(set) var asked: [String: String?] = [:]
  private(set) var lastSerial: UInt64 = 0
  private(set) var handles: Set<UInt64> = []
  private(set) var faults: [String] = []

  func ask(_ effects: [String: String?]) { asked = effects }

  func acknowledge(_ serial: UInt64, _ handle: UInt64? = nil) {
    for (binding, id) in asked { shown[binding] = id }
    asked = [:]
    if serial < lastSerial { faults.append("R3: the serial was \(lastSerial), and is \(serial)") }
    lastSerial = max(lastSerial, serial)
    if let handle, !handles.insert(handle).inserted { faults.append("R3: \(handle) was given out twice") }
  }

  /// Takes what is there after a restart for true, if it may be.
  /// - Returns: whether the request that was under way has been carried out; nil where there was none.
  func settle(with actual: [String: String], of bindings: [String]) -> Bool? {
    defer { asked = [:] }
    let before = bindings.allSatisfy { actual[$0] == shown[$0] }
    let after = bindings.allSatisfy { actual[$0] == asked[$0, default: shown[$0]] }
    if !before, !after { faults.append("R1: \(actual), told \(shown), under way \(asked)") }
    guard !asked.isEmpty else { return nil }
    if after { for (binding, id) in asked { shown[binding] = id } }
    return after
  }

  func fail(_ what: String) { faults.append(what) }
}

/// Asks for one thing after the other, as fast as it is answered.
private final class Stormer {
  let connection: Connection
  let journal = Journal()
  let bindings: [String]
  private(set) var acknowledged = 0
  private(set) var unanswered = 0
  private(set) var waitsAskedAgain = 0
  private(set) var isBusy = false
  /// Presentations whose end it waits for, and whether the question is under way.
  private(set) var waits: [ObjectPath: Bool] = [:]
  private let root: String
  private var count = 0

  init(_ session: Session, _ number: Int) throws {
    connection = try session.connect()
    root = "client\(number)"
    bindings = ["state", "window", "left", "right", "screen"].map { "client\(number).\($0)" }
  }

  /// Goes on until it is told to stop.
  func go(_ isStopped: @escaping () -> Bool) {
    guard !isBusy, !isStopped() else { return }
    isBusy = true
    count += 1
    let id = "\(count)"
    switch Int.random(in: 0..<10) {
    case 0...2:
      present(
        "state", id, ["value": (["text": .string(String(repeating: "x", count: count % 700))] as Properties).value],
        isStopped)
    case 3, 4: present("window", id, ["destination": .string("window")], isStopped)
    case 5:
      let binding = root + (Bool.random() ? ".state" : ".window")
      journal.ask([binding: nil])
      call(Rows.dismiss, (binding, [:]), isStopped) { [journal] in journal.acknowledge($0.1) }
    case 6, 7:
      // Both or neither.
      journal.ask([root + ".left": id, root + ".right": id])
      let requests = ["left", "right"].map { name -> Structure<String, [Value]> in
        Structure("Present", [.string("\(root).\(name)"), .string(id), ([:] as Properties).value])
      }
      call(Rows.apply, (requests, [:]), isStopped) { [journal] in journal.acknowledge($0.1) }
    case 8:
      // Nothing of it is in the journal but that the bindings of others are left alone.
      journal.ask([:])
      let tag = Bool.random() ? "one" : "two"
      call(Rows.select, ("panels", tag, ["destination": .string("panel")]), isStopped) { [journal] in
        journal.acknowledge($0.2)
      }
    default:
      journal.ask([root + ".screen": id])
      call(Rows.push, (root + ".stack", root + ".screen", id, [:]), isStopped) { [journal] in
        journal.acknowledge($0.2, CoordinatorNames.number(of: $0.0))
      }
    }
  }

  private func present(_ name: String, _ id: String, _ options: Properties, _ isStopped: @escaping () -> Bool) {
    journal.ask(["\(root).\(name)": id])
    call(Rows.present, ("\(root).\(name)", id, options), isStopped) { [self] in
      journal.acknowledge($0.2, CoordinatorNames.number(of: $0.0))
      if waits.count < 4 { wait(for: $0.0) }
    }
  }

  private func call<Input, Output>(
    _ method: Method<Input, Output>, _ input: Input, _ isStopped: @escaping () -> Bool,
    _ take: @escaping (Output) -> Void
  ) {
    connection.call(method, on: CoordinatorNames.bus, at: CoordinatorNames.object, input, timeout: nil) {
      [weak self] result in
      guard let self else { return }
      isBusy = false
      switch result {
      case .success(let output):
        acknowledged += 1
        take(output)
        go(isStopped)
      case .failure(let error) where error.isKill: unanswered += 1
      case .failure(let error): journal.fail("\(method.name): \(error)")
      }
    }
  }

  // MARK: Waiting

  private func wait(for presentation: ObjectPath) {
    waits[presentation] = true
    connection.call(
      Rows.wait, on: CoordinatorNames.bus, at: CoordinatorNames.object, (presentation, "gone"), timeout: nil
    ) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let (reason, _)):
        waits[presentation] = nil
        if !["replaced", "dismissed"].contains(reason) { journal.fail("\(presentation) ended as \(reason)") }
      case .failure(let error) where error.isKill: waits[presentation] = false
      case .failure(let error): journal.fail("Wait for \(presentation): \(error)")
      }
    }
  }

  /// Asks again what the navd that was killed did not answer.
  func askAgain() {
    for (presentation, isAsked) in waits where !isAsked {
      waitsAskedAgain += 1
      wait(for: presentation)
    }
  }
}

extension DBusError {
  fileprivate var isKill: Bool { [.noReply, .serviceUnknown, .nameHasNoOwner].contains(name) }
}

private struct Storm {
  let session: Session
  private let stormers: [Stormer]
  private let navctls: [Program]
  private(set) var carriedOut = 0
  private var serial: UInt64 = 0

  var acknowledged: Int { stormers.reduce(0) { $0 + $1.acknowledged } }
  var unanswered: Int { stormers.reduce(0) { $0 + $1.unanswered } }
  var waitsAskedAgain: Int { stormers.reduce(0) { $0 + $1.waitsAskedAgain } }

  init(clients: Int) throws {
    let session = try Session(destinations: [
      "window": "command = [\"sleep\", \"1000\"]\n", "panel": "command = [\"sleep\", \"1000\"]\ngroup = \"panels\"\n",
    ])
    self.session = session
    stormers = try (0..<clients).map { try Stormer(session, $0) }
    navctls = try (0..<3).map {
      try session.startNavctl("present", "navctl[\($0)]", "1", "--to", "window", "--wait", "--json")
    }
    try session.wait("navctl has presented") {
      (0..<3).allSatisfy { (try? session.call(Rows.get, "navctl[\($0)]").0) != .root }
    }
  }

  /// Kills navd at a random instant under load, starts the next one, and holds it against the journals.
  /// - Returns: how long there was no navd.
  mutating func strike() throws -> Duration {
    var isStopped = false
    var isKilled = false
    for stormer in stormers { stormer.go { isStopped } }
    session.loop.timer(after: .microseconds(Int.random(in: 500...200_000))) { [session] in
      session.navd?.send(SIGKILL)
      isKilled = true
    }
    try session.wait("navd is killed") { isKilled }
    let start = session.loop.now
    isStopped = true
    try session.waitForEnd()
    // Now and then the next one does not get far, either.
    if Int.random(in: 0..<4) == 0 {
      let next = try Program(session.loop, [Session.program("navd")], environment: session.environment)
      session.loop.timer(after: .microseconds(Int.random(in: 0...120_000))) { next.send(SIGKILL) }
      try session.wait("the next one is killed") { next.status != nil }
    }
    // The bus may hear of an end a little later than we do.
    try session.poll("the name is free") {
      try !session.client.callAndWait(Bus.listNames, on: Bus.name, at: Bus.path, ()).contains(CoordinatorNames.bus.text)
    }
    try session.start()
    let pause = session.loop.now - start
    try session.wait("all know that it was killed") { stormers.allSatisfy { !$0.isBusy } }
    try compare()
    for stormer in stormers { stormer.askAgain() }
    return pause
  }

  private mutating func compare() throws {
    let (state, serial) = try session.call(Rows.getState, ())
    let told = stormers.map(\.journal.lastSerial).max() ?? 0
    try require(serial >= max(told, self.serial), "R3: the serial is \(serial), after \(told) and \(self.serial)")
    self.serial = serial
    var ids: [String: String] = [:]
    for entry in JSON(state)["presentations"]?.array ?? [] where entry["phase"]?.string != "dismissing" {
      ids[entry["binding"]?.string ?? ""] = entry["id"]?.string
    }
    for stormer in stormers {
      let own = ids.filter { stormer.bindings.contains($0.key) }
      if stormer.journal.settle(with: own, of: stormer.bindings) == true { carriedOut += 1 }
      try require(stormer.journal.faults.isEmpty, "\(stormer.journal.faults)")
    }
    try settle()
  }

  /// Every window on screen is known, and everything known as a window is on screen; when all that is under way has come
  /// to its end.
  private func settle() throws {
    var problem = ""
    do {
      try session.poll("what is known is what is on screen") {
        let entries = try session.state()["presentations"]?.array ?? []
        problem = "\(entries.filter { $0["phase"]?.string != "presented" }.count) under way"
        guard entries.allSatisfy({ $0["phase"]?.string == "presented" }) else { return false }
        let windows = entries.filter { ["window", "panel"].contains($0["destination"]?.string) }
        let known = windows.map { "\($0["binding"]?.string ?? "") \($0["id"]?.string ?? "")" }.sorted()
        let seen = session.processes().map { "\($0.binding ?? "") \($0.id ?? "")" }.sorted()
        problem = "known: \(known), on screen: \(seen)"
        return known == seen && seen.count { $0.hasPrefix("panels") } <= 1
      }
    } catch {
      throw Session.Failure("\(error)\n\(problem)")
    }
  }

  /// Everything is dismissed, and everybody who waits is told.
  func end() throws {
    try session.call(Rows.dismissAll, ["all": .boolean(true)])
    try session.wait("all who wait are answered") {
      stormers.allSatisfy { $0.waits.isEmpty || !$0.journal.faults.isEmpty } && navctls.allSatisfy(\.hasEnded)
    }
    for stormer in stormers { try require(stormer.journal.faults.isEmpty, "\(stormer.journal.faults)") }
    for navctl in navctls {
      try require(navctl.outputText.contains("dismissed"), "navctl said: \(navctl.outputText) \(navctl.errorText)")
    }
    try session.poll("nothing is left on screen") { session.processes().isEmpty }
    try session.call(Rows.quit, ())
    try session.waitForEnd()
  }

  private func require(_ holds: Bool, _ what: @autoclosure () -> String) throws {
    if !holds { throw Session.Failure(what()) }
  }
}
