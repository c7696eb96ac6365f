import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Messages that clients of the bus do not read, and what navd and the bus keep for them (W3).

private typealias Rows = CoordinatorInterface

/// The bytes that the bus keeps for its clients in these tests before it refuses messages or no longer reads.
private let kept = 128 << 20

extension Session {
  /// A session in which the bus keeps little for clients that do not read; in a thorough test, as much as usual.
  fileprivate convenience init(keepingLittle program: BusProgram, function: String = #function) throws {
    var limits = ["max_incoming_bytes": kept, "max_outgoing_bytes": kept]
    // dbus-broker multiplies both limits.
    if program == .broker { limits["max_connections_per_user"] = 1 }
    try self.init(program: program, busLimits: isThorough ? [:] : limits, function: function)
  }

  fileprivate var navdMemory: Int { get throws { Session.memory(of: try #require(navd?.processID)) } }

  /// Sets the value of `large` some times, each time to 1 MB that ends with another number. Each update is a signal for watchers,
  /// and one for clients that follow objects.
  /// - Parameter watcher: a watcher that has each event before the next update.
  /// - Returns: the time that the updates took.
  fileprivate func update(_ count: Int, _ watcher: Watcher? = nil) throws -> Duration {
    let start = loop.now
    for number in 0..<count {
      // Bytes, since debug programs take long to check so much text.
      let bytes = [UInt8](repeating: 0x78, count: 1_000_000) + "\(number) \(start)".utf8
      let (_, serial) = try call(Rows.update, ("large", ["data": .bytes(bytes)], [:]))
      guard let watcher else { continue }
      try wait("the watcher has the event") { watcher.events.last?.serial == serial }
      #expect(watcher.events.count == 1)
      watcher.clear()
    }
    return loop.now - start
  }
}

extension RawClient {
  fileprivate func subscribe() throws {
    var rule = Marshalled()
    rule.string("type='signal',sender='org.navd.Coordinator1'")
    try send(
      member: "AddMatch", interface: "org.freedesktop.DBus", to: "org.freedesktop.DBus", at: "/org/freedesktop/DBus",
      signature: "s", body: rule.bytes)
  }

  fileprivate func ask(_ member: String, of interface: String = "org.navd.Coordinator1", about text: String? = nil)
    throws
  {
    var body = Marshalled()
    if let text { body.string(text) }
    try send(
      member: member, interface: interface, to: "org.navd.Coordinator1", at: "/org/navd/Coordinator1",
      signature: text == nil ? "" : "s", body: body.bytes)
  }
}

@Test("W3: signals that a watcher never reads stop neither navd nor another watcher", arguments: BusProgram.allCases)
func unread_signals_stopNobodyElse(_ program: BusProgram) throws {
  let session = try Session(keepingLittle: program)
  let count = isThorough ? 1000 : 80
  try session.present("large")
  let watcher = try session.watch(on: try session.connect())
  let before = try session.update(20, watcher)
  let memory = try session.navdMemory
  let reader = try RawClient(session.bus)
  try reader.subscribe()
  let during = try session.update(count, watcher)
  let ratio = during / before * 20 / Double(count)
  let busMemory = Session.memory(of: session.bus.processID) >> 20
  print(
    "\(program): an update beside a client that never reads took \(ratio) of its time; the bus has \(busMemory) MiB")
  expectSpeed(ratio < 2)
  #expect(try session.navdMemory - memory < 40 << 20)
  if program == .daemon { #expect(Session.memory(of: session.bus.processID) < 112 << 20) }
}

@Test(
  "W3: a watcher that reads again after many signals were dropped has the last event", arguments: BusProgram.allCases)
func unread_watcherThatReadsAgain_seesTheGap(_ program: BusProgram) throws {
  let session = try Session(keepingLittle: program)
  try session.present("large")
  let stopped = try session.startNavctl("watch", "--events")
  try session.wait("the watcher has started") { stopped.lines.count == 1 }
  stopped.send(SIGSTOP)
  _ = try session.update(60)
  stopped.send(SIGCONT)
  let serial = try #require(try session.state()["serial"]?.unsigned)
  try session.wait("it has the last event, or the state after it", within: .seconds(60)) {
    stopped.lines.last?.contains("\"serial\":\(serial)") == true
  }
}

@Test("W3: answers that a client never reads stop no other client", arguments: BusProgram.allCases)
func unread_answers_stopNobodyElse(_ program: BusProgram) throws {
  let session = try Session(keepingLittle: program)
  let count = isThorough ? 1200 : 200
  try session.present("large")
  _ = try session.update(1)
  let memory = try session.navdMemory
  let reader = try RawClient(session.bus)
  for _ in 0..<count { try reader.ask("Get", about: "large") }
  for number in 0..<100 { try session.present("honest", "\(number)") }
  #expect(try session.navdMemory - memory < 40 << 20)
  if program == .daemon { #expect(Session.memory(of: session.bus.processID) < 112 << 20) }
  // A client that reads after all has every answer.
  for _ in 0..<count { #expect(try reader.answer().type == 2) }
}

@Test("W3: calls that are refused because their caller does not read are answered when it reads")
func unread_refusals_areAnsweredLater() throws {
  let session = try Session(keepingLittle: .daemon)
  try session.present("large")
  _ = try session.update(1)
  let reader = try RawClient(session.bus)
  let count = 200
  for _ in 0..<count { try reader.ask("Get", about: "large") }
  for number in 0..<100 { try session.present("honest", "\(number)") }
  // The first calls are more than navd keeps for a client, and the others cause more errors than navd sends to a client that does
  // not read.
  for _ in 0..<1100 { try reader.ask("Get", about: String(repeating: "x", count: 4000)) }
  for _ in 0..<10_000 { try reader.ask("Get", about: "large") }
  for number in 0..<100 { try session.present("honest", "\(number)") }
  for _ in 0..<count + 11_100 { _ = try reader.answer() }
}

@Test("P6, L2: large results for many calls of Wait, unread for long, do not make navd grow; each is answered")
func unread_results_doNotMakeNavdGrow() throws {
  let session = try Session(keepingLittle: .daemon)
  let navd = try #require(session.navd?.processID)
  let path = try session.present("asked")
  let reader = try RawClient(session.bus)
  var body = Marshalled()
  body.string(path.text)
  body.string("gone")
  // Errors take the place of most results. They are more than navd otherwise sends to a client that does not read.
  let count = 500
  for _ in 0..<count {
    try reader.send(
      member: "Wait", interface: "org.navd.Coordinator1", to: "org.navd.Coordinator1", at: "/org/navd/Coordinator1",
      signature: "os", body: body.bytes)
  }
  // This call is answered when all earlier messages have been read.
  try reader.ask("Get", about: "asked")
  #expect(try reader.answer().type == 2)
  try Session.forgetPeak(of: navd)
  let memory = Session.peakMemory(of: navd)
  try session.call(Rows.closed, (path, ["text": .string(String(repeating: "x", count: 500_000))]))
  for number in 0..<100 { try session.present("honest", "\(number)") }
  #expect(Session.peakMemory(of: navd) - memory < 48 << 20)
  for _ in 0..<count { _ = try reader.answer() }
}

@Test("L2: large answers to a client's many calls are made one by one, and others are answered in between")
func unread_largeAnswers_areMadeOneByOne() throws {
  let session = try Session()
  let navd = try #require(session.navd?.processID)
  let text = String(repeating: "x", count: 10_000)
  for number in 0..<300 { try session.present("item[\(number)]", "", ["value": ["text": Value.string(text)].value]) }
  for (member, interface) in [
    ("GetState", "org.navd.Coordinator1"), ("GetManagedObjects", "org.freedesktop.DBus.ObjectManager"),
  ] {
    let reader = try RawClient(session.bus)
    try reader.ask(member, of: interface)
    let size = try reader.answer().bytes.count
    try Session.forgetPeak(of: navd)
    let memory = Session.peakMemory(of: navd)
    for _ in 0..<64 { try reader.ask(member, of: interface) }
    // The later answers are larger.
    try session.present("another.\(member)")
    // One answer has 3 MB.
    #expect(Session.peakMemory(of: navd) - memory < 48 << 20)
    let before = try (0..<64).count { _ in
      let answer = try reader.answer()
      #expect(answer.type == 2)
      return answer.bytes.count == size
    }
    print("\(before) of 64 answers of \(member) were made before another client was answered")
    #expect(before < 16)
    #expect(Session.peakMemory(of: navd) - memory < 48 << 20)
  }
}
