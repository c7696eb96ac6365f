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

extension Session {
  fileprivate var navdMemory: Int { get throws { Session.memory(of: try #require(navd?.processID)) } }
}

extension RawClient {
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

@Test(
  "W3: a navd whose bus reads nothing, because a stopped watcher keeps much, ends and goes on with all that it had",
  .enabled(if: isThorough), arguments: BusProgram.allCases)
func unread_stoppedWatcher_makesNavdStartAnew(_ program: BusProgram) throws {
  let session = try Session(program: program)
  let data = Value.bytes([UInt8](repeating: 0x78, count: 1_000_000))
  try session.present("large", "", ["value": ["data": data].value])
  try session.present("program", "", ["command": ["sleep", "1000"].value])
  let stopped = try session.startNavctl("watch", "--events")
  try session.wait("the watcher has started") { stopped.lines.count == 1 }
  stopped.send(SIGSTOP)
  let memory = try session.navdMemory
  var (longest, peak, ends, failures) = (Duration.zero, 0, [String](), 0)
  // The events of one watcher have 1.2 GB. The requests are small.
  for number in 0..<1200 {
    let start = session.loop.now
    while true {
      let update = session.begin(Rows.update, ("large", ["number": .uint64(UInt64(number))], [:]))
      try session.wait("it is answered, or navd has ended", within: .seconds(60)) {
        update.result != nil || session.navd?.status != nil
      }
      if case .success? = update.result { break }
      failures += 1
      guard let navd = session.navd, navd.status != nil else { continue }
      let end = navd.errorText.split(separator: "\n").last.map(String.init) ?? ""
      ends.append("after \(number) MB: \(end)")
      #expect(try session.waitForEnd() == .exited(code: 1))
      // dbus-broker lets nobody of the user receive anything while it keeps that much.
      if program == .broker { stopped.send(SIGKILL) }
      try session.start()
    }
    longest = max(longest, session.loop.now - start)
    peak = max(peak, try session.navdMemory - memory)
  }
  let state = try session.call(Rows.get, "program").1
  #expect(state[StateEntry.keys.phase] == "presented")
  print(
    """
    \(program): another client waited \(longest) at most, with \(failures) failed calls; navd had \(memory >> 10) KiB, and up to \
    \(peak >> 10) KiB more; the bus has \(Session.memory(of: session.bus.processID) >> 20) MiB; the watcher is \
    \(stopped.status == nil ? "there" : "gone"); navd ended \(ends.count) times: \(ends)
    """)
  #expect(ends.count <= 1 && longest < .seconds(60) && peak < 48 << 20)
}

@Test("P6, L2: large results for many calls of Wait, unread for long, do not make navd grow; each is answered")
func unread_results_doNotMakeNavdGrow() throws {
  let session = try Session()
  let navd = try #require(session.navd?.processID)
  let path = try session.present("asked")
  let reader = try RawClient(session.bus)
  var body = Marshalled()
  body.string(path.text)
  body.string("gone")
  let count = 200
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
