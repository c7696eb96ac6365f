import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import PresentationRules
import TestSupport
import Testing
import TextFormats

// Kills of navd at random instants (R1 to R6). Each client keeps a log of the replies that it received, and the recovered state is
// compared with these logs.

private typealias Rows = CoordinatorInterface

/// The number of kills; the full storm runs with `NAVD_TEST_KILLS=300`.
private var kills: Int { getenv("NAVD_TEST_KILLS").flatMap { Int(String(cString: $0)) } ?? 16 }

@Test(
  "R1–R6: killed at random instants under load, navd loses no acknowledged request and executes no request by half",
  arguments: Replacement.allCases)
func killStorm_underLoad_losesNothing(replacement: Replacement) throws {
  var storm = try KillStorm(clients: 16, replacement)
  var pauses: [Duration] = []
  for _ in 0..<kills { pauses.append(try storm.killAndRestart()) }
  try storm.end()
  pauses.sort()
  print(
    """
    kill storm: \(kills) kills, \(storm.acknowledged) requests acknowledged, \(storm.unanswered) unanswered, of which \
    \(storm.carriedOut) were carried out; \(storm.waitsAskedAgain) waits asked again; \
    median pause \(pauses[pauses.count / 2] / .milliseconds(1)) ms
    """)
}

/// The answers that a client has received about its own bindings.
private final class ClientLog {
  /// The id of each binding; a binding without an item has none.
  private(set) var shown: [String: String] = [:]
  /// The ids after the pending request.
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

  /// Compares the bindings after a restart, and takes them over.
  /// - Returns: whether the pending request was executed; nil if there was none.
  func settle(with actual: [String: String], of bindings: [String]) -> Bool? {
    defer { asked = [:] }
    let before = bindings.allSatisfy { actual[$0] == shown[$0] }
    let after = bindings.allSatisfy { actual[$0] == asked[$0, default: shown[$0]] }
    if !before, !after { faults.append("R1: found \(actual), acknowledged \(shown), pending \(asked)") }
    guard !asked.isEmpty else { return nil }
    if after { for (binding, id) in asked { shown[binding] = id } }
    return after
  }

  func fail(_ what: String) { faults.append(what) }
}

/// A client that makes one request after another, as fast as they are answered.
private final class LoadClient {
  let connection: Connection
  let log = ClientLog()
  let bindings: [String]
  private(set) var acknowledged = 0
  private(set) var unanswered = 0
  private(set) var waitsAskedAgain = 0
  private(set) var isBusy = false
  /// The presentations whose end it awaits, and whether a call of Wait is pending.
  private(set) var waits: [ObjectPath: Bool] = [:]
  private let root: String
  private var count = 0

  init(_ session: Session, _ number: Int) throws {
    connection = try session.connect()
    root = "client\(number)"
    bindings = ["state", "window", "left", "right", "screen"].map { "client\(number).\($0)" }
  }

  /// Makes requests until `isStopped` returns true.
  func run(_ isStopped: @escaping () -> Bool) {
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
      log.ask([binding: nil])
      call(Rows.dismiss, (binding, [:]), isStopped) { [log] in log.acknowledge($0.1) }
    case 6, 7:
      // The request makes both items or none.
      log.ask([root + ".left": id, root + ".right": id])
      let requests = ["left", "right"].map { name -> TransactionRequest in
        TransactionRequest("Present", [.string("\(root).\(name)"), .string(id), Properties.state.value])
      }
      call(Rows.apply, (requests, [:]), isStopped) { [log] in log.acknowledge($0.1) }
    case 8:
      // The request only shows that other bindings are not affected.
      log.ask([:])
      let tag = Bool.random() ? "one" : "two"
      call(Rows.select, ("panels", tag, ["destination": .string("panel")]), isStopped) { [log] in
        log.acknowledge($0.3)
      }
    default:
      log.ask([root + ".screen": id])
      call(Rows.push, (root + ".stack", root + ".screen", id, .state), isStopped) { [log] in
        log.acknowledge($0.3, CoordinatorNames.number(of: $0.0))
      }
    }
  }

  private func present(_ name: String, _ id: String, _ options: Properties, _ isStopped: @escaping () -> Bool) {
    log.ask(["\(root).\(name)": id])
    call(Rows.present, ("\(root).\(name)", id, .state.merging(options) { $1 }), isStopped) { [self] in
      log.acknowledge($0.3, CoordinatorNames.number(of: $0.0))
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
        run(isStopped)
      case .failure(let error) where error.isKill: unanswered += 1
      case .failure(let error): log.fail("\(method.name): \(error)")
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
        if !["replaced", "dismissed"].contains(reason) { log.fail("\(presentation) ended as \(reason)") }
      case .failure(let error) where error.isKill: waits[presentation] = false
      case .failure(let error): log.fail("Wait for \(presentation): \(error)")
      }
    }
  }

  /// Repeats the Wait calls that the killed navd did not answer.
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

private struct KillStorm {
  let session: Session
  private let clients: [LoadClient]
  private let navctls: [Program]
  private(set) var carriedOut = 0
  private var serial: UInt64 = 0
  /// How many panels may be live at once (G1, G10).
  private let panels: Int

  var acknowledged: Int { clients.reduce(0) { $0 + $1.acknowledged } }
  var unanswered: Int { clients.reduce(0) { $0 + $1.unanswered } }
  var waitsAskedAgain: Int { clients.reduce(0) { $0 + $1.waitsAskedAgain } }

  init(clients count: Int, _ replacement: Replacement) throws {
    let session = try Session(
      destinations: [
        "window": "command = [\"sleep\", \"1000\"]\n", "panel": "command = [\"sleep\", \"1000\"]\ngroup = \"panels\"\n",
      ], files: ["config/navd/navd.toml": "[groups.panels]\nreplacement = '\(replacement.rawValue)'\n"])
    self.session = session
    panels = replacement == .overlap ? 2 : 1
    clients = try (0..<count).map { try LoadClient(session, $0) }
    navctls = try (0..<3).map {
      try session.startNavctl("present", "navctl[\($0)]", "1", "--to", "window", "--wait", "--json")
    }
    try session.wait("navctl has presented") {
      (0..<3).allSatisfy { (try? session.call(Rows.get, "navctl[\($0)]").0) != .root }
    }
  }

  /// Kills navd at a random instant under load, starts it again, and compares the state with the answers.
  /// - Returns: the time without a navd.
  mutating func killAndRestart() throws -> Duration {
    var isStopped = false
    var isKilled = false
    for client in clients { client.run { isStopped } }
    session.loop.timer(after: .microseconds(Int.random(in: 500...200_000))) { [session] in
      session.navd?.send(SIGKILL)
      isKilled = true
    }
    try session.wait("navd is killed") { isKilled }
    let start = session.loop.now
    isStopped = true
    try session.waitForEnd()
    // Sometimes the next navd is killed early, too.
    if Int.random(in: 0..<4) == 0 {
      let next = try Program(session.loop, [Session.program("navd")], environment: session.environment)
      session.loop.timer(after: .microseconds(Int.random(in: 0...120_000))) { next.send(SIGKILL) }
      try session.wait("the next navd is killed") { next.status != nil }
    }
    // The bus may notice the end later than this process.
    try session.poll("the bus name is free") {
      try !session.client.callAndWait(Bus.listNames, on: Bus.name, at: Bus.path, ()).contains(CoordinatorNames.bus.text)
    }
    try session.start()
    let pause = session.loop.now - start
    try session.wait("all clients have noticed the kill") { clients.allSatisfy { !$0.isBusy } }
    try compare()
    for client in clients { client.askAgain() }
    return pause
  }

  private mutating func compare() throws {
    let (state, serial) = try session.call(Rows.getState, ())
    let acknowledged = clients.map(\.log.lastSerial).max() ?? 0
    try require(
      serial >= max(acknowledged, self.serial), "R3: the serial is \(serial), after \(acknowledged) and \(self.serial)")
    self.serial = serial
    var ids: [String: String] = [:]
    let entries = JSON(state)["presentations"]?.array ?? []
    let live = entries.filter { $0["group"] == "panels" && $0["phase"] != "waiting" }
    try require(live.count <= panels, "G1, G10: \(live.map(\.text)) are live")
    for entry in entries where entry["phase"]?.string != "dismissing" {
      ids[entry["binding"]?.string ?? ""] = entry["id"]?.string
    }
    for client in clients {
      let own = ids.filter { client.bindings.contains($0.key) }
      if client.log.settle(with: own, of: client.bindings) == true { carriedOut += 1 }
      try require(client.log.faults.isEmpty, "\(client.log.faults)")
    }
    try settle()
  }

  /// Waits until every presentation has settled, and exactly the processes of the presented commands run.
  private func settle() throws {
    var problem = ""
    do {
      try session.poll("the presented commands are the running ones") {
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

  /// Dismisses everything, and requires that every Wait is answered.
  func end() throws {
    try session.call(Rows.dismissAll, ["all": .boolean(true)])
    try session.wait("all Wait calls are answered") {
      clients.allSatisfy { $0.waits.isEmpty || !$0.log.faults.isEmpty } && navctls.allSatisfy(\.hasEnded)
    }
    for client in clients { try require(client.log.faults.isEmpty, "\(client.log.faults)") }
    for navctl in navctls {
      try require(navctl.outputText.contains("dismissed"), "navctl said: \(navctl.outputText) \(navctl.errorText)")
    }
    try session.poll("no command runs") { session.processes().isEmpty }
    try session.call(Rows.quit, ())
    try session.waitForEnd()
  }

  private func require(_ holds: Bool, _ what: @autoclosure () -> String) throws {
    if !holds { throw Session.Failure(what()) }
  }
}
