import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import TestSupport
import Testing

// Programs whose bus misbehaves: they end like a program without a bus, or continue. They must not crash or hang.

/// The number of misbehaving buses of each kind; `make fuzz` uses more.
private var rounds: Int { getenv("NAVD_TEST_FAKE_BUSES").flatMap { Int(String(cString: $0)) } ?? 12 }

/// A distortion of the messages that a bus sends.
private struct Distortion {
  var numbers: SeededNumbers

  init(seed: UInt64) { numbers = SeededNumbers(seed: seed) }

  /// Random bytes.
  mutating func garbage() -> [UInt8] {
    (0..<Int.random(in: 1..<2000, using: &numbers)).map { _ in UInt8.random(in: 0...255, using: &numbers) }
  }

  /// A message with some bytes changed, removed or added.
  mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1..<4, using: &numbers) {
      let index = Int.random(in: 0..<bytes.count, using: &numbers)
      switch Int.random(in: 0..<6, using: &numbers) {
      case 0, 1: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
      case 2: bytes[index] = numbers.pick([0, 0xff, 0x7f, 0x80, UInt8(ascii: "v"), UInt8(ascii: "/")])
      case 3: bytes.removeLast(bytes.count - max(1, index))
      case 4: bytes.insert(contentsOf: garbage().prefix(8), at: index)
      // This case overwrites a length or a number.
      default:
        let start = index / 4 * 4
        guard start + 4 <= bytes.count else { continue }
        for offset in 0..<4 { bytes[start + offset] = numbers.pick([0, 0xff, 1, 0x40]) }
      }
    }
    return bytes
  }

  /// A well-formed message that no bus sends.
  mutating func unexpectedMessage(_ bus: FakeBus, _ message: FakeBus.Incoming) -> [UInt8] {
    let texts = [
      "", ":1.1", ":1.2", "org.navd.Coordinator1", "org.freedesktop.DBus", "org.freedesktop.systemd1", "x\u{1}'y", "ü",
      String(repeating: "x", count: 300),
    ]
    var body = Marshalled()
    let signature = numbers.pick(["", "s", "u", "sss", "ss", "t", "as", "a{sv}", "v", "o"])
    for type in signature {
      switch type {
      case "s", "o": body.string(type == "o" ? "/x" : numbers.pick(texts))
      case "u": body.uint32(numbers.pick([0, 1, 2, 3, 4, .max]))
      case "t":
        body.align(8)
        body.bytes += [UInt8](repeating: 0xff, count: 8)
      case "v":
        body.signature("s")
        body.string(numbers.pick(texts))
      default: break
      }
      if signature == "as" || signature == "a{sv}" {
        body.uint32(0)
        if signature == "a{sv}" { body.align(8) }
        break
      }
    }
    let names = ["org.freedesktop.DBus", ":1.2", ":1.1", "org.navd.Coordinator1", "org.freedesktop.systemd1"]
    let sender = numbers.chance(0.1) ? nil : numbers.pick(names)
    switch Int.random(in: 0..<4, using: &numbers) {
    case 0:
      return bus.message(answering: numbers.pick([message.serial, 1, .max]), sender: sender, signature, body.bytes)
    case 1:
      return bus.message(
        type: 3, answering: message.serial, sender: sender,
        error: numbers.pick(["org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Failed", "a.b"]),
        signature,
        body.bytes)
    case 2:
      return bus.message(
        type: 4, sender: sender, path: numbers.pick(["/org/freedesktop/DBus", "/x", "/org/freedesktop/DBus/Local"]),
        interface: numbers.pick(["org.freedesktop.DBus", "org.freedesktop.systemd1.Manager", "org.navd.Coordinator1"]),
        member: numbers.pick([
          "NameOwnerChanged", "NameLost", "NameAcquired", "Disconnected", "Dismissed", "JobRemoved",
        ]),
        signature, body.bytes)
    default:
      return bus.message(
        type: 1, sender: sender, path: numbers.pick(["/org/navd/Coordinator1", "/", "/x"]),
        interface: numbers.chance(0.5) ? "org.navd.Coordinator1" : nil,
        member: numbers.pick(["Present", "GetState", "Get", "Introspect", "Ping", "Quit", "X"]), signature, body.bytes)
    }
  }

  /// Answers correctly a number of times, and then sends distorted messages.
  mutating func answer(_ bus: FakeBus, _ message: FakeBus.Incoming, _ correctAnswers: inout Int) {
    guard let right = bus.answerBytes(message) else { return }
    if correctAnswers > 0 {
      correctAnswers -= 1
      return bus.write(right)
    }
    switch Int.random(in: 0..<20, using: &numbers) {
    case 0: bus.write(garbage())
    case 1, 2: bus.write(mutated(right))
    case 3: bus.hangUp()
    // Most distorted messages are well-formed, because any other ends the connection.
    default:
      for _ in 0..<Int.random(in: 1..<6, using: &numbers) { bus.write(unexpectedMessage(bus, message)) }
      if numbers.chance(0.7) { bus.write(right) }
    }
  }
}

/// Runs a program on misbehaving buses, several at once, and requires that it ends when they have closed the
/// connection.
/// - Returns: the runs, counted by exit code and last line of standard error.
private func runOnMisbehavingBuses(
  _ seed: UInt64, _ rounds: Int, _ start: (EventLoop, FakeBus, _ directory: String) throws -> Program
) throws -> [String: Int] {
  let loop = try EventLoop()
  var distortion = Distortion(seed: seed)
  var said: [String: Int] = [:]
  for round in stride(from: 0, to: rounds, by: 4) {
    let lives = try (round..<round + 4).map { number in
      let bus = try FakeBus(loop)
      let directory = TemporaryDirectory()
      // The bus misbehaves from the first line of the authentication on, or later.
      var correctAnswers = Int.random(in: 0..<12, using: &distortion.numbers)
      if correctAnswers == 0 { bus.authenticate = { _ in distortion.garbage() } }
      bus.take = { distortion.answer($0, $1, &correctAnswers) }
      // The program may be idle until the bus closes the connection.
      bus.lifetime = .milliseconds(300)
      return (program: try start(loop, bus, directory.path), bus: bus, directory: directory, number: number)
    }
    for life in lives {
      let what = "NAVD_SEED=\(seed), bus \(life.number)"
      let program = life.program
      try #require(loop.turn(until: { program.hasEnded }, within: .seconds(20)), "\(what): it does not end")
      guard case .exited(let code)? = program.status, (0...8).contains(code) else {
        Issue.record("\(what): \(String(describing: program.status)): \(program.errorText)")
        continue
      }
      let last = program.errorText.split(separator: "\n").last.map(String.init) ?? "nothing"
      said["\(code): \(last)", default: 0] += 1
    }
  }
  return said
}

private let commandLines = [
  ["list"], ["list", "--json"], ["present", "a"], ["show", "a"], ["watch", "--events"], ["watch", "--waybar"],
  ["present", "a", "--wait"], ["history"], ["destinations"], ["members", "--all"], ["introspect"], ["wait", "a"],
  ["value", "get", "a", "badge"], ["is-presented", "a"], ["path", "s"], ["selection", "g"], ["dismiss", "a"],
]

private func environment(_ bus: FakeBus, _ directory: String) -> [String: String] {
  var environment = [
    "PATH": "/usr/bin:/bin", "HOME": directory, "XDG_RUNTIME_DIR": directory, "LANG": "C.UTF-8",
    "DBUS_SESSION_BUS_ADDRESS": bus.address,
  ]
  for name in ["LD_LIBRARY_PATH", "DBUS_FATAL_WARNINGS"] {
    if let value = getenv(name) { environment[name] = String(cString: value) }
  }
  return environment
}

@Test("L2: a misbehaving bus ends navd like a lost connection, or does not end it")
func fakeBus_misbehaving_endsNavdProperly() throws {
  let seed = SeededNumbers.chosenSeed
  let said = try runOnMisbehavingBuses(seed, rounds * 4) { loop, bus, directory in
    try Program(loop, [Session.program("navd"), "--log-level", "error"], environment: environment(bus, directory))
  }
  print("misbehaving buses: NAVD_SEED=\(seed), navd ended with", said.sorted { $0.value > $1.value })
}

@Test("L2: navctl on a misbehaving bus ends with one of its documented exit codes")
func fakeBus_misbehaving_endsNavctlProperly() throws {
  let seed = SeededNumbers.chosenSeed
  var numbers = SeededNumbers(seed: seed)
  let said = try runOnMisbehavingBuses(seed, rounds * 2) { loop, bus, directory in
    try Program(
      loop, [Session.program("navctl"), "--within", "3"] + numbers.pick(commandLines),
      environment: environment(bus, directory))
  }
  let codes = Dictionary(said.map { ($0.key.prefix(1), $0.value) }, uniquingKeysWith: +)
  print("misbehaving buses: NAVD_SEED=\(seed), navctl ended with", codes.sorted { $0.key < $1.key })
}

@Test("L2: navctl reports or prints random values of the right types in the answers of navd")
func fakeBus_navdWithRandomAnswers_isSurvivedByNavctl() throws {
  let seed = SeededNumbers.chosenSeed
  let session = try Session(starting: false)
  let liar = RandomNavd(seed: seed)
  session.client.export(CoordinatorNames.object, [liar.object])
  var isThere = false
  session.client.requestName(CoordinatorNames.bus) { isThere = (try? $0.get()) != nil }
  try session.wait("the fake navd owns the bus name") { isThere }
  var codes: [Int32: Int] = [:]
  for _ in 0..<rounds {
    let runs = try commandLines.map {
      ($0, try session.start(program: Session.program("navctl"), ["--within", "1"] + $0, mayFail: true))
    }
    // A navctl that watches does not end by itself.
    for (line, run) in runs where line[0] != "watch" {
      try session.wait("navctl \(line) ends", within: .seconds(20)) { run.hasEnded }
      guard let code = run.exitCode, (0...8).contains(code) else {
        Issue.record("NAVD_SEED=\(seed): navctl \(line): \(String(describing: run.status)): \(run.errorText)")
        continue
      }
      codes[code, default: 0] += 1
    }
    for (line, run) in runs where line[0] == "watch" {
      guard let status = run.status else { continue }
      if case .exited = status { continue }
      Issue.record("NAVD_SEED=\(seed): navctl \(line): \(status): \(run.errorText)")
    }
  }
  print("a lying navd: NAVD_SEED=\(seed), navctl ended with", codes.sorted { $0.key < $1.key })
}

/// A program that implements navd's interface with random answers.
private final class RandomNavd {
  let object = ImplementedInterface(CoordinatorInterface.interface)
  private var arguments: RandomArguments

  init(seed: UInt64) {
    arguments = RandomArguments(seed: seed)
    typealias Rows = CoordinatorInterface
    answerRandomly(Rows.get)
    answerRandomly(Rows.present)
    answerRandomly(Rows.dismiss)
    answerRandomly(Rows.members)
    answerRandomly(Rows.history)
    answerRandomly(Rows.destinations)
    answerRandomly(Rows.wait)
    answerRandomly(Rows.containerValue)
    object.implement(Rows.getState) { [unowned self] _, call in
      // These are existing members with random values.
      let entries = (0..<3).map { _ in
        some([
          "binding", "id", "presentation", "phase", "destination", "style", "title", "group", "tag", "parent", "value",
          "container-values", "pid",
        ])
      }
      var state = some(["serial", "presentations", "groups", "stacks"])
      if arguments.numbers.chance(0.5) { state["presentations"] = entries.value }
      if arguments.numbers.chance(0.5) {
        state["groups"] = ["g": some(["selection", "tags", "titles", "queue"]).value].value
      }
      if arguments.numbers.chance(0.5) { state["stacks"] = ["s": [some(["binding", "id"])].value].value }
      call.reply((state, 1))
    }
  }

  private func some(_ names: [String]) -> Properties {
    var properties: Properties = [:]
    for name in names where arguments.numbers.chance(0.8) {
      properties[name] = arguments.numbers.chance(0.5) ? .string("a") : arguments.anyValue()
    }
    return properties
  }

  private func answerRandomly<Input, each Output: ValueConvertible>(_ method: Method<Input, (repeat each Output)>) {
    object.implement(method) { [unowned self] _, call in call.reply((repeat value((each Output).self))) }
  }

  private func value<T: ValueConvertible>(_: T.Type) -> T {
    while true {
      // Not every value of some types is valid.
      if let value = T(value: arguments.anyValue(of: T.valueType)) { return value }
    }
  }
}

@Test("L2: clients that write malformed or mutated messages to the bus disconnect at most themselves")
func fakeBus_mutatedClients_disconnectThemselves() throws {
  let seed = SeededNumbers.chosenSeed
  var distortion = Distortion(seed: seed)
  let session = try Session()
  let concurrent = try ConcurrentClient(session)
  try session.present("a", "1", ["value": ["n": Value.int32(1)].value])
  var body = Marshalled()
  body.string("a")
  body.string("1")
  body.uint32(16)
  body.align(8)
  body.string("title")
  body.signature("s")
  body.string("T")
  for _ in 0..<rounds * 20 {
    let client = try RawClient(session.bus)
    let message = RawClient.message(
      serial: 2, member: distortion.numbers.pick(["Present", "Toggle", "Get"]), interface: "org.navd.Coordinator1",
      to: "org.navd.Coordinator1", at: "/org/navd/Coordinator1", signature: distortion.numbers.pick(["ssa{sv}", "s"]),
      body: body.bytes)
    try? client.write(distortion.numbers.chance(0.1) ? distortion.garbage() : distortion.mutated(message))
  }
  _ = try session.state()
  #expect(session.navd?.status == nil)
  try concurrent.stop(session)
}
