import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Presenters, clients and commands that flood navd, never read or never answer (L2, W3).

private typealias Rows = CoordinatorInterface

extension Session {
  fileprivate var memory: Int { get throws { Session.memory(of: try #require(navd?.processID)) } }
  fileprivate var descriptors: Int { get throws { Session.descriptors(of: try #require(navd?.processID)) } }

  /// Presents `count` items, many of them at once: `name[0]`, `name[1]`, ….
  fileprivate func present(_ count: Int, _ name: String, _ options: Properties, by client: Connection) throws {
    for start in stride(from: 0, to: count, by: 250) {
      let requests = (start..<min(count, start + 250)).map { number -> TransactionRequest in
        TransactionRequest(
          "Present", [.string("\(name)[\(number)]"), .string(""), Properties.state.merging(options) { $1 }.value])
      }
      try call(Rows.apply, (requests, [:]), by: client)
    }
  }
}

@Test("L2, D4: items of a presenter that reads nothing fail, and no other client is affected")
func hostile_presenterThatNeverReads_isGivenUp() throws {
  let session = try Session(destinations: [
    "hole": """
    bus = { name = "org.example.Hole", path = "/x" }
    start-timeout = "200ms"
    grace = "200ms"

    """
  ])
  let hole = try session.start(
    program: "/usr/bin/dbus-test-tool", ["black-hole", "--no-read", "--name=org.example.Hole"])
  try session.poll("the presenter has registered") {
    try session.client.callAndWait(Bus.listNames, on: Bus.name, at: Bus.path, ()).contains("org.example.Hole")
  }
  let concurrent = try ConcurrentClient(session)
  let options: Properties = ["destination": .string("hole")]
  let large: Properties = ["value": ["text": Value.string(String(repeating: "x", count: 500_000))].value]
  let memory = try session.memory
  let paths = try (0..<10).map { try session.present("a[\($0)]", "", options.merging(large) { $1 }) }
  for path in paths {
    let (reason, result) = try session.ending(of: path)
    #expect(reason == "failed")
    #expect(result["error"].flatMap { String(value: $0) }?.contains("200 ms") == true, "\(result)")
  }
  // The calls are as many as are allowed, two for each item; then there are no more until the presenter has left.
  let most = try #require(try session.limits()["calls-per-presenter"])
  for _ in 0...most / 2000 {
    try session.present(1000, "b", options, by: session.client)
    // Items that are ending count, too.
    try session.poll("all items have failed") { try !session.state().text.contains("b[") }
  }
  let (reason, result) = try session.ending(of: try session.present("c", "", options))
  #expect(reason == "failed")
  #expect(result["error"].flatMap { String(value: $0) }?.contains("“calls-per-presenter”") == true, "\(result)")
  #expect(try session.memory - memory < 24 << 20)
  hole.send(SIGKILL)
  try session.wait("the presenter has ended") { hole.status != nil }
  let another = try session.start(program: "/usr/bin/dbus-test-tool", ["echo", "--name=org.example.Hole"])
  try session.poll("another presenter is called again") {
    let path = try session.present("c", "", options)
    return try session.call(Rows.wait, (path, "presented")).0.isEmpty
  }
  another.send(SIGKILL)
  try concurrent.stop(session)
}

@Test(
  "L2, L1: 13 presenters that never answer any call leave room for another one and for the service manager",
  .enabled(if: isThorough, "the limit has one size"))
func hostile_presentersThatNeverAnswer_leaveRoomForOthers() throws {
  let session = try Session()
  let most = try session.limits()
  let perPresenter = try #require(most["items"]) / 16
  let silent = try (0..<13).map { number in
    let presenter = try BusPresenter(session, destination: "silent\(number)", ["start-timeout": .uint64(600_000)])
    presenter.isAnswering = false
    return presenter
  }
  for (number, presenter) in silent.enumerated() {
    // Half of the items count for the presenter, and half for the test's client, since each may have as many as the limit.
    try session.present(
      perPresenter, "of\(number)", ["destination": .string("silent\(number)")],
      by: number % 2 == 0 ? session.client : presenter.connection)
  }
  try session.poll("navd has made its calls", within: .seconds(120)) {
    let called = silent.map(\.log.count)
    return called.first == perPresenter && called.last.map { $0 > 0 } == true
  }
  print("calls to each:", silent.map(\.log.count))
  #expect(silent.map(\.log.count).reduce(0, +) <= most["calls"] ?? 0)
  let honest = try BusPresenter(session, destination: "honest")
  let paths = try (0..<500).map { try session.present("honest[\($0)]", "", ["destination": .string("honest")]) }
  for path in paths { #expect(try session.call(Rows.wait, (path, "presented")).0.isEmpty) }
  #expect(honest.log.count == 500)
}

@Test("W3, L2: clients that watch or call and never read do not make navd grow")
func hostile_clientsThatNeverRead_doNotMakeNavdGrow() throws {
  let session = try Session()
  let concurrent = try ConcurrentClient(session)
  let readers = try (0..<4).map { _ in try RawClient(session.bus) }
  var rule = Marshalled()
  rule.string("type='signal',sender='org.navd.Coordinator1'")
  var ask = Marshalled()
  ask.string("large")
  for reader in readers {
    try reader.send(
      member: "AddMatch", interface: "org.freedesktop.DBus", to: "org.freedesktop.DBus", at: "/org/freedesktop/DBus",
      signature: "s", body: rule.bytes)
  }
  let text = String(repeating: "x", count: 64 << 10)
  try session.present("large", "", ["value": ["text": Value.string(text)].value])
  let memory = try session.memory
  for round in 0..<40 {
    try session.call(Rows.update, ("large", ["text": .string(text + "\(round)")], [:]))
    for reader in readers {
      for _ in 0..<4 {
        try reader.send(
          member: "Get", interface: nil, to: "org.navd.Coordinator1", at: "/org/navd/Coordinator1", signature: "s",
          body: ask.bytes)
      }
    }
  }
  _ = try session.state()
  #expect(try session.memory - memory < 8 << 20)
  try concurrent.stop(session)
}

@Test(
  "O1, L2: when the owner of as many items as a client may have leaves, other clients wait no longer than for any request"
)
func hostile_ownerOfMany_leaves() throws {
  let session = try Session()
  let watcher = try session.watch(on: try session.connect())
  let owner = try session.connect()
  let limits = try session.limits()
  let most = try #require(limits["items-per-client"])
  let count = most
  let owned = Properties.state.merging(["owned": .boolean(true)]) { $1 }
  try session.present(count, "many", owned, by: owner)
  let refusal = try session.refusal(Rows.present, ("more", "", owned), by: owner)
  #expect(refusal?.name == .limitExceeded && refusal?.message.contains("“items-per-client”") == true)
  // Two clients fill the limit of presentations, and then every client is refused.
  let other = try session.connect()
  try session.present(try #require(limits["items"]) - count, "other", owned, by: other)
  let last = try session.refusal(Rows.present, ("more", "", .state))
  #expect(last?.name == .limitExceeded && last?.message.contains("“items”") == true)
  other.close()
  try session.waitForEnd(of: "other")
  watcher.clear()
  owner.close()
  let honest = try HonestClient(session)
  let (_, longest) = try honest.measure(50, session) { session.loop.turn(wait: .milliseconds(2)) }
  try honest.stop(session)
  try session.waitForEnd(of: "many")
  // Some of the last endings belong to the honest client, and more on a slow machine.
  let endings = try session.call(Rows.history, (0, [:])).map(JSON.init)
  let reasons = endings.filter { $0["binding"]?.string?.hasPrefix("many") == true }.map { $0["reason"]?.string }
  #expect(!reasons.isEmpty && reasons.allSatisfy { $0 == "owner" })
  // navd sends so many events at once that the watcher may fall behind. Then it sees a gap, and the last event (W3).
  let (_, serial) = try session.call(Rows.getState, ())
  try session.wait("the watcher has the last event") { watcher.events.last.map { $0.serial >= serial } == true }
  let lines = watcher.lines(ending: "many")
  #expect(lines.allSatisfy { $0.hasSuffix(" owner") })
  #expect(lines.count == count || !watcher.hasAllSerials)
  #expect(longest < .seconds(10))
  print("an owner of \(count) left, and another waited \(longest) at most")
}

extension Session {
  /// Waits until the last of many items has ended. The first item ends last.
  fileprivate func waitForEnd(of name: String) throws {
    try poll("\(name) ends", within: .seconds(120)) { try call(Rows.get, name + "[0]").0 == .root }
  }
}

extension Watcher {
  /// The items of a root that have ended.
  fileprivate func lines(ending root: String) -> [String] { lines.filter { $0.hasPrefix("dismissed \(root)") } }
}

@Test("L2: a thousand clients connect, call and disconnect, and navd keeps nothing of them")
func hostile_aThousandClients_leaveNothing() throws {
  let session = try Session()
  let concurrent = try ConcurrentClient(session)
  /// Has clients visit, each of which leaves something that ends with it.
  func visit(_ count: Int) throws {
    for start in stride(from: 0, to: count, by: 50) {
      let clients = try (start..<start + 50).map { _ in try session.connect() }
      var answers = 0
      for (number, client) in clients.enumerated() {
        func call<Input, Output>(_ method: Method<Input, Output>, _ input: Input, isAwaited: Bool = true) {
          client.call(method, on: CoordinatorNames.bus, at: CoordinatorNames.object, input, timeout: nil) { result in
            if isAwaited, case .success = result { answers += 1 }
          }
        }
        let name = "visitor[\(start + number)]"
        let owned = Properties.state.merging(["owned": .boolean(true)]) { $1 }
        call(Rows.present, (name, "", owned))
        switch number % 5 {
        case 0: call(Rows.registerPresenter, ("visitor\(number)", "/x", [:]))
        case 1: client.subscribe(MatchRule(sender: CoordinatorNames.bus)) { _ in }
        case 2:
          call(
            Rows.present, ("visitors.\(number)x", "", ["command": ["sleep", "1000"].value, "owned": .boolean(true)]))
        case 3: call(Rows.push, ("visitors", "screen[\(start + number)]", "", owned))
        default: call(Rows.wait, ("/org/navd/Coordinator1/presentation/1", "gone"), isAwaited: false)
        }
      }
      // Some calls have been answered at this point, and some have not.
      try session.wait("some are answered") { answers > 50 }
      for client in clients { client.close() }
    }
    try session.poll("nothing of the clients is left") {
      let state = try session.state()
      return state["presentations"]?.array?.allSatisfy { $0["binding"]?.string?.hasPrefix("concurrent") == true }
        == true
        && state["stacks"]?.object?.isEmpty == true
    }
    #expect(try session.call(Rows.destinations, ()).isEmpty)
    try session.poll("no command is left") { session.processes().isEmpty }
  }
  // The first round fills the buffers that exist from then on.
  try visit(500)
  let (memory, descriptors) = try (session.memory, session.descriptors)
  try visit(1000)
  try session.pollMemory("navd has at most a tenth more than \(memory >> 10) KiB") {
    Double(try session.memory) <= Double(memory) * 1.1
  }
  #expect(try session.descriptors <= descriptors)
  try concurrent.stop(session)
}

@Test("P14, O2: while presenters are called without a pause, time passes for everything else")
func hostile_updatesWithoutEnd_deadlinesPass() throws {
  let session = try Session()
  let presenter = try BusPresenter(session, destination: "dialog")
  let count = 1000
  for number in 0..<count { _ = try session.present("many[\(number)]", "", ["destination": .string("dialog")]) }
  let last = try session.call(Rows.get, "many[\(count - 1)]").0
  #expect(try session.call(Rows.wait, (last, "presented")).0 == "")
  var applied = 0
  var isStopped = false
  func update() {
    guard !isStopped else { return }
    applied += 1
    let requests = (0..<count).map { number in
      let value: Properties = ["n": .int32(Int32(applied))]
      return TransactionRequest("Update", [.string("many[\(number)]"), value.value, Properties().value])
    }
    presenter.connection.call(
      Rows.apply, on: CoordinatorNames.bus, at: CoordinatorNames.object, (requests, [:]), timeout: nil
    ) { _ in update() }
  }
  for _ in 0..<4 { update() }
  try session.wait("updates are under way") { applied > 8 }
  let brief = try session.present("brief", "", ["timeout": .uint64(1)])
  #expect(try session.ending(of: brief).reason == "expired")
  print("ended after \(applied) times \(count) updates")
  #expect(applied < 50)
  isStopped = true
}

@Test("L2, P6: a presenter that floods Closed and Act, for its own and other items, ends each of its items once")
func hostile_presenterThatFloods_isAnswered() throws {
  let session = try Session()
  let concurrent = try ConcurrentClient(session)
  let watcher = try session.watch()
  let presenter = try BusPresenter(session, destination: "dialog")
  let own = try session.present("own", "", ["destination": .string("dialog")])
  let others = try session.present("others", "", ["command": ["sleep", "1000"].value])
  let state = try session.present("state")
  try session.call(Rows.wait, (own, "presented"))
  let memory = try session.memory
  let count = 1500
  var refused = 0
  var answered = 0
  for number in 0..<count {
    for path in [own, state, number % 2 == 0 ? .root : CoordinatorNames.presentation(UInt64(number) << 32)] {
      let act = number < count / 2
      func take<Output>(_ result: Result<Output, DBusError>) {
        answered += 1
        if case .failure = result { refused += 1 }
      }
      if act {
        presenter.connection.call(
          Rows.act, on: CoordinatorNames.bus, at: CoordinatorNames.object, (path, "pressed", [:]), timeout: nil, take)
      } else {
        presenter.connection.call(
          Rows.closed, on: CoordinatorNames.bus, at: CoordinatorNames.object, (path, ["n": .int32(Int32(number))]),
          timeout: nil, take)
      }
    }
  }
  try session.wait("all are answered") { answered == 3 * count }
  // The refused calls are those with an unknown handle.
  #expect(refused == count)
  #expect(try session.refusal(Rows.act, (others, "x", [:]), by: presenter.connection) == nil)
  #expect(watcher.lines.count { $0 == "action own pressed" } == count / 2)
  #expect(watcher.lines.count { $0 == "action state pressed" } == count / 2)
  #expect(
    watcher.lines.filter { $0.hasPrefix("dismissed o") || $0.hasPrefix("dismissed s") } == [
      "dismissed own closed", "dismissed state closed",
    ])
  #expect(try session.ending(of: own).result["n"] == .int32(Int32(count / 2)))
  #expect(try session.memory - memory < 16 << 20)
  try session.dismiss("others")
  #expect(try session.ending(of: others).reason == "dismissed")
  try concurrent.stop(session)
}

@Test("L2, D6: the output of a command that writes without end is cut, and no client is delayed")
func hostile_commandThatWritesWithoutEnd_isCut() throws {
  let session = try Session()
  let honest = try HonestClient(session)
  let paths = try (0..<3).map { try session.present("endless[\($0)]", "", ["command": ["yes"].value]) }
  for path in paths { try session.call(Rows.wait, (path, "presented")) }
  let memory = try session.memory
  let (median, longest) = try honest.measure(300, session) { session.loop.turn(wait: .milliseconds(2)) }
  print("with three commands that write without end: median \(median), longest \(longest)")
  #expect(longest < .seconds(10))
  #expect(try session.memory - memory < 4 << 20)
  for path in paths {
    try session.call(Rows.dismiss, ("endless[\(paths.firstIndex(of: path) ?? 0)]", [:]))
    let (reason, result) = try session.ending(of: path)
    #expect(reason == "dismissed")
    #expect(result["output-truncated"] == .boolean(true))
  }
  try honest.stop(session)
  #expect(session.processes() == [])
}

@Test("P14, L2: a command whose processes multiply at SIGTERM is killed completely after the grace time")
func hostile_forkBomb_isKilledCompletely() throws {
  // Each process starts two more at SIGTERM, in sessions of their own. The number is bounded: each takes a byte out of a pipe
  // before it forks, and the pipe contains 300.
  let script = """
    use POSIX;
    pipe my $tokens, my $bank;
    syswrite $bank, "x" x 300; close $bank;
    sub multiply {
      for (1..2) {
        return unless sysread $tokens, my $token, 1;
        my $pid = fork;
        next if !defined $pid || $pid;
        setsid;
        return;
      }
    }
    $SIG{TERM} = sub { multiply };
    multiply for 1..40;
    open my $journal, ">>", $ENV{NAVD_TEST_JOURNAL}; syswrite $journal, "x\\n";
    select undef, undef, undef, 0.2 while 1;
    """
  let session = try Session()
  let concurrent = try ConcurrentClient(session)
  try session.write(
    "command = [\"perl\", \"-e\", '''\(script.withoutPlaceholders)''']\ngrace = \"500ms\"\n", toDestination: "bomb")
  try session.call(Rows.reload, ())
  let path = try session.present("bomb")
  try session.wait("there are more than 100 processes") { session.journalLines.count > 100 }
  try session.dismiss("bomb")
  #expect(try session.ending(of: path).reason == "dismissed")
  // Killing all processes takes longer than the grace time on a slow machine, and the last ones end a little later.
  try session.poll("nothing of it is left") { session.processes().isEmpty }
  try concurrent.stop(session)
}
