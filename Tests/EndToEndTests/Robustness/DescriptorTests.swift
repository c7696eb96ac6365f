import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Messages with descriptors, and a navd that has few or none left (L2).

private typealias Rows = CoordinatorInterface

extension Marshalled {
  /// Appends a dictionary with one entry.
  fileprivate mutating func entry(_ key: String, _ write: (inout Marshalled) -> Void) {
    uint32(0)
    let index = bytes.count - 4
    align(8)
    let start = bytes.count
    string(key)
    write(&self)
    withUnsafeBytes(of: UInt32(bytes.count - start).littleEndian) { bytes.replaceSubrange(index..<index + 4, with: $0) }
  }
}

extension RawClient {
  /// Presents an item with one option, without waiting for the answer.
  fileprivate func present(
    _ binding: String, descriptors: Int = 0, _ option: String, _ write: (inout Marshalled) -> Void
  )
    throws
  {
    var body = Marshalled()
    body.string(binding)
    body.string("")
    body.entry(option, write)
    try send(
      member: "Present", interface: Rows.interface.name.text, to: CoordinatorNames.bus.text,
      at: CoordinatorNames.object.text, signature: "ssa{sv}", body: body.bytes, descriptors: descriptors)
  }

  /// Presents an item whose value has as many descriptors as the bus allows in a message.
  fileprivate func presentDescriptors(_ binding: String) throws {
    try present(binding, descriptors: 16, "value") { body in
      body.signature("a{sv}")
      body.entry("files") { body in
        body.signature("ah")
        body.uint32(16 * 4)
        for index in 0..<16 { body.uint32(UInt32(index)) }
      }
    }
  }

  /// Waits until the bus has passed on all messages.
  fileprivate func settle() throws {
    let serial = try send(
      member: "GetId", interface: Bus.name.text, to: Bus.name.text, at: Bus.path.text)
    while try answer().replySerial != serial {}
  }
}

extension Session {
  fileprivate var descriptors: Int { get throws { Session.descriptors(of: try #require(navd?.processID)) } }

  /// Limits the descriptors of navd.
  func limitDescriptors(_ soft: Int, _ hard: Int) throws {
    let pid = try #require(navd?.processID)
    let run = try run(program: "/usr/bin/prlimit", ["--pid", "\(pid)", "--nofile=\(soft):\(hard)"])
    try #require(run.exitCode == 0, "\(run.errorText)")
  }
}

@Test("L2: navd starts, whatever clients send to it before it serves", arguments: ["descriptors", "bytes", "signals"])
func descriptors_callsBeforeNavdServes_doNotKeepItFromStarting(what: String) throws {
  let session = try Session(starting: false)
  let attacker = try RawClient(session.bus)
  var attacks = 0
  let large = [UInt8](repeating: 0, count: 4 << 20)
  session.client.subscribe(to: Bus.nameOwnerChanged, from: Bus.name) { [unowned session] arguments, _ in
    let (name, old, _) = arguments
    guard name.hasPrefix(":"), old.isEmpty, let navd = session.navd else { return }
    // navd has asked the bus nothing yet, or has not read the answer.
    navd.send(SIGSTOP)
    attacks += 1
    for _ in 0..<8 {
      var body = Marshalled()
      if what != "descriptors" {
        body.uint32(UInt32(large.count))
        body.bytes += large
      }
      _ = try? attacker.send(
        type: what == "signals" ? 4 : 1, member: "GetState", interface: Rows.interface.name.text, to: name,
        at: CoordinatorNames.object.text, signature: body.bytes.isEmpty ? "" : "ay", body: body.bytes,
        descriptors: what == "descriptors" ? 16 : 0)
    }
    try? attacker.settle()
    navd.send(SIGCONT)
  }
  for round in 1...3 {
    try session.start()
    #expect(attacks == round)
    try session.present("a")
    try session.stop()
  }
}

@Test("L2: calls with more descriptors than navd may have are refused, and end nothing")
func descriptors_moreThanNavdMayHave_areRefused() throws {
  let session = try Session()
  try session.limitDescriptors(1024, 1024)
  let concurrent = try ConcurrentClient(session)
  let before = try session.descriptors
  let attacker = try RawClient(session.bus)
  let count = 100
  // All calls arrive in few turns, behind a call for which navd asks the bus about the client.
  session.navd?.send(SIGSTOP)
  try attacker.present("asks", "command") { body in
    body.signature("as")
    body.uint32(9)
    body.string("true")
  }
  for number in 0..<count { try attacker.presentDescriptors("files[\(number)]") }
  session.navd?.send(SIGCONT)
  var refused = 0
  for _ in 0...count where try attacker.answer().type == 3 { refused += 1 }
  #expect(refused == count)
  #expect(try session.call(Rows.get, "files[0]").0 == .root)
  #expect(try session.error(Rows.present, ("own", "", ["value": ["x": Value.descriptor(.null)].value])) != nil)
  try session.poll("no descriptor is kept") { try session.descriptors <= before }
  try concurrent.stop(session)
}

extension Descriptor {
  fileprivate static var null: Descriptor { Descriptor(owning: open("/dev/null", O_RDONLY | O_CLOEXEC)) }
}

@Test("L2: descriptors that arrive when commands have taken all others do not end navd")
func descriptors_whenNavdHasNoneLeft_doNotEndIt() throws {
  let session = try Session()
  try session.limitDescriptors(200, 200)
  for number in 0..<60 { try session.present("command[\(number)]", "", ["command": ["sleep", "1000"].value]) }
  try session.poll("commands fail for lack of descriptors") {
    try session.call(Rows.history, (0, [:])).contains { JSON($0)["reason"]?.string == "failed" }
  }
  let attacker = try RawClient(session.bus)
  for number in 0..<40 { try attacker.presentDescriptors("files[\(number)]") }
  for _ in 0..<40 { #expect(try attacker.answer().type == 3) }
  try session.dismiss("command[0]")
}
