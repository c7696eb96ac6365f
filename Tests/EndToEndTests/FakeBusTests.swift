// Why this file exists: whatever comes out of the socket that should be the bus, navd and navctl end as programs do that
// have no bus, or carry on; they do not crash, and they do not hang.
import CoordinatorAPI
import EventLoop
import Glibc
import TestSupport
import Testing

/// How many mad buses there are of each kind; `make fuzz` has more.
private var rounds: Int { getenv("NAVD_TEST_FAKE_BUSES").flatMap { Int(String(cString: $0)) } ?? 12 }

/// What a bus does to the messages that it should send.
private struct Madness {
  var numbers: SeededNumbers

  init(seed: UInt64) { numbers = SeededNumbers(seed: seed) }

  /// Bytes that mean nothing.
  mutating func garbage() -> [UInt8] {
    (0..<Int.random(in: 1..<2000, using: &numbers)).map { _ in UInt8.random(in: 0...255, using: &numbers) }
  }

  /// A message with some bytes of it changed, missing, or more of them.
  mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1..<4, using: &numbers) {
      let index = Int.random(in: 0..<bytes.count, using: &numbers)
      switch Int.random(in: 0..<6, using: &numbers) {
      case 0, 1: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
      case 2: bytes[index] = numbers.pick([0, 0xff, 0x7f, 0x80, UInt8(ascii: "v"), UInt8(ascii: "/")])
      case 3: bytes.removeLast(bytes.count - max(1, index))
      case 4: bytes.insert(contentsOf: garbage().prefix(8), at: index)
      // A length, or a number.
      default:
        let start = index / 4 * 4
        guard start + 4 <= bytes.count else { continue }
        for offset in 0..<4 { bytes[start + offset] = numbers.pick([0, 0xff, 1, 0x40]) }
      }
    }
    return bytes
  }

  /// A message that is one, and that no bus sends.
  mutating func lie(_ bus: FakeBus, _ message: FakeBus.Incoming) -> [UInt8] {
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

  /// What a bus says that goes mad after so many answers.
  mutating func answer(_ bus: FakeBus, _ message: FakeBus.Incoming, _ sane: inout Int) {
    guard let right = bus.answerBytes(message) else { return }
    if sane > 0 {
      sane -= 1
      return bus.write(right)
    }
    switch Int.random(in: 0..<12, using: &numbers) {
    case 0: bus.write(garbage())
    case 1...5: bus.write(mutated(right))
    case 6: bus.hangUp()
    default:
      for _ in 0..<Int.random(in: 1..<6, using: &numbers) { bus.write(lie(bus, message)) }
      bus.write(right)
    }
  }
}

/// Has a program live on mad buses, several at once, and requires that it ends by itself when they have gone.
private func survive(
  _ seed: UInt64, _ rounds: Int, _ start: (EventLoop, FakeBus, _ directory: String) throws -> Program
) throws {
  let loop = try EventLoop()
  var madness = Madness(seed: seed)
  for round in stride(from: 0, to: rounds, by: 4) {
    let pairs = try (round..<round + 4).map { number in
      let bus = try FakeBus(loop)
      let directory = TemporaryDirectory()
      // From the first line of the authentication on, or later.
      var sane = Int.random(in: 0..<16, using: &madness.numbers)
      if sane == 0 { bus.authenticate = { _ in madness.garbage() } }
      sane = max(0, sane - 1)
      bus.take = { madness.answer($0, $1, &sane) }
      bus.lifetime = .milliseconds(400)
      return (bus, try start(loop, bus, directory.path), directory, number)
    }
    for (_, program, _, number) in pairs {
      let what = "NAVD_SEED=\(seed), bus \(number)"
      let hasEnded = loop.turn(until: { program.status != nil }, within: .seconds(20))
      try #require(hasEnded, "\(what): it does not end")
      guard case .exited(let code)? = program.status, (0...8).contains(code) else {
        Issue.record("\(what): \(String(describing: program.status)): \(program.errorText)")
        continue
      }
      #expect(code != 0 || !program.outputText.isEmpty || program.errorText.isEmpty, "\(what): \(program.errorText)")
    }
  }
}

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

@Test("L2: a bus that has gone mad ends navd as one that has gone away, or does not end it")
func fakeBus_goneMad_endsNavdProperly() throws {
  let seed = SeededNumbers.chosenSeed
  try survive(seed, rounds * 4) { loop, bus, directory in
    try Program(
      loop, [Session.program("navd"), "--log-level", "critical"], environment: environment(bus, directory))
  }
}

@Test("L2: navctl on a bus that has gone mad ends with one of its exit codes")
func fakeBus_goneMad_endsNavctlProperly() throws {
  let seed = SeededNumbers.chosenSeed
  var numbers = SeededNumbers(seed: seed)
  let commandLines = [
    ["list"], ["list", "--json"], ["present", "a"], ["show", "a"], ["watch", "--events"], ["watch", "--waybar"],
    ["present", "a", "--wait"], ["history"], ["destinations"], ["members", "--all"], ["introspect"], ["wait", "a"],
    ["value", "get", "a", "badge"], ["is-presented", "a"],
  ]
  try survive(seed, rounds * 4) { loop, bus, directory in
    try Program(
      loop, [Session.program("navctl"), "--within", "3"] + numbers.pick(commandLines),
      environment: environment(bus, directory))
  }
}
