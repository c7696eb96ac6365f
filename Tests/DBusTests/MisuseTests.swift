import DBusValues
import EventLoops
import Glibc
import TestSupport
import Testing

@testable import DBus

// libdbus-1 aborts the process, drops the connection or uses unlimited memory if it is misused or a client is malicious.
// Each such case has a test here. Run them with the debug build of the library too.

// MARK: Values given to libdbus-1

/// Random text, reproducible from a seed.
private struct RandomText: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
  mutating func text(of alphabet: [Character], maxCount: Int) -> String {
    String((0..<Int.random(in: 0...maxCount, using: &self)).map { _ in alphabet.randomElement(using: &self)! })
  }
}

@Test(arguments: [1, 2, 3] as [UInt64])
func names_random_areAcceptedAsByLibdbus(seed: UInt64) {
  var random = RandomText(seed: seed)
  let texts = (0..<20_000).map { _ in random.text(of: Array("/a.1_-:Zé "), maxCount: 8) }
  #expect(texts.filter { (ObjectPath($0) != nil) != LibDBus.isObjectPath($0) } == [])
  #expect(texts.filter { (InterfaceName($0) != nil) != LibDBus.isInterfaceName($0) } == [])
  #expect(texts.filter { (ErrorName($0) != nil) != LibDBus.isErrorName($0) } == [])
  #expect(texts.filter { (MemberName($0) != nil) != LibDBus.isMemberName($0) } == [])
  // libdbus-1 accepts some unique names that the specification forbids.
  #expect(texts.filter { BusName($0) != nil && !LibDBus.isBusName($0) } == [])
  #expect(texts.filter { BusName($0) == nil && LibDBus.isBusName($0) && !$0.hasPrefix(":") } == [])
}

@Test(arguments: [1, 2, 3] as [UInt64])
func signatures_random_areAcceptedAsByLibdbus(seed: UInt64) {
  var random = RandomText(seed: seed)
  var texts = (0..<20_000).map { _ in random.text(of: Array("aa(){}sivz"), maxCount: 9) }
  for depth in 1...70 {
    for (open, close) in [("a", ""), ("(", ")"), ("a(", ")"), ("a{s", "}"), ("a{s(", ")}"), ("aa{s", "}")] {
      texts.append(String(repeating: open, count: depth) + "y" + String(repeating: close, count: depth))
    }
  }
  #expect(texts.filter { (Signature($0) != nil) != LibDBus.isSignature($0) } == [])
}

private func nested(_ depth: Int) -> Value { (0..<depth).reduce(.byte(1)) { value, _ in .variant(value) } }

@Test func writer_nestingBeyond64_isRefused() throws {
  let fixture = try Fixture()
  // The argument is itself a variant, so this has 64 levels.
  let deepest = nested(63)
  #expect(try fixture.call(Echo.echo, deepest) == deepest)
  let error = #expect(throws: DBusError.self) { try fixture.call(Echo.echo, nested(64)) }
  #expect(error?.name == .invalidArgs)
  // A reply that cannot be sent becomes an error.
  fixture.implementation.implement(Echo.echo) { value, call in call.reply(.variant(value)) }
  #expect(throws: DBusError.self) { try fixture.call(Echo.echo, nested(63)) }
  try fixture.settle()
}

@Test func writer_valueThatDoesNotMatchItsType_isRefused() throws {
  let fixture = try Fixture()
  let wrong: [Value] = [
    .string("a\0b"), .array(element: .string, [.string("a"), .int32(1)]), .array(element: .byte, [.string("x")]),
    .array(element: .string, [.bytes([1])]), .structure([]), .array(element: .structure([]), []),
    .dictionary(key: .variant, value: .string, [:]),
    .dictionary(key: .string, value: .string, [.int32(1): .string("x")]),
    .dictionary(key: .string, value: .string, [.string("x"): .int32(1)]),
    .array(element: .structure([.string, .string]), [.structure([.string("x")])]),
    .structure([.string("fine"), .array(element: .properties, [["key": Value.string("a\0b")].value])]),
    .descriptor(Descriptor(owning: -1)), .array(element: (0..<33).reduce(.byte) { type, _ in .array(type) }, []),
    .structure(Array(repeating: .byte(1), count: 254)),
  ]
  for value in wrong {
    let error = #expect(throws: DBusError.self) { try fixture.call(Echo.echo, value) }
    #expect(error?.name == .invalidArgs, "\(value.type)")
    // The value is an argument of its own type here, and a value of a dictionary below.
    #expect(throws: DBusError.self) { try OutgoingMessage.call("X", of: nil, on: "a.b", at: "/", [value]) }
    #expect(throws: DBusError.self) { try fixture.call(Echo.join, ("", 0, ["x": value])) }
  }
  #expect(try fixture.call(Echo.echo, .string("still here")) == .string("still here"))
}

@Test func writer_messageThatIsTooLarge_isRefused() throws {
  var writer = MessageWriter()
  let large = Value.bytes([UInt8](repeating: 0, count: 40 << 20))
  try writer.append(large)
  let error = #expect(throws: DBusError.self) { try writer.append(large) }
  #expect(error?.name == .limitsExceeded)
}

@Test func reader_beyondTheLastArgument_throws() throws {
  let message = try OutgoingMessage.call("X", of: nil, on: "a.b", at: "/", [.int32(1)])
  var reader = MessageReader(try #require(LibDBus.read(message)))
  #expect(throws: DBusError.self) { try reader.next(String.self) }
  #expect(try reader.next(Int32.self) == 1)
  #expect(throws: DBusError.self) { try reader.next(Int32.self) }
  #expect(throws: DBusError.self) { try reader.next(Properties.self) }
  #expect(throws: DBusError.self) { try reader.next(Value.self) }
  var empty = MessageReader(try #require(LibDBus.read(try OutgoingMessage.call("X", of: nil, on: "a.b", at: "/"))))
  #expect(throws: DBusError.self) { try empty.next(UInt8.self) }
}

@Test func error_messageWithNUL_isSentUpToIt() throws {
  let fixture = try Fixture()
  fixture.implementation.implement(Echo.later) { _, call in
    call.fail(DBusError(name: .failed, message: "before\0after"))
  }
  let error = #expect(throws: DBusError.self) { try fixture.call(Echo.later, "") }
  #expect(error == DBusError(name: .failed, message: "before"))
}

// MARK: The connection

@Test func connection_isPrivate() throws {
  let fixture = try Fixture()
  #expect(fixture.service.uniqueName != fixture.client.uniqueName)
  fixture.client.close()
  #expect(fixture.service.isOpen)
  #expect(try fixture.service.callAndWait(Bus.getID, on: Bus.name, at: Bus.path, ()).utf8.count == 32)
}

@Test func connection_opened_doesNotChangeSIGPIPE() throws {
  var before = sigaction()
  sigaction(SIGPIPE, nil, &before)
  let fixture = try Fixture()
  try fixture.settle()
  var after = sigaction()
  sigaction(SIGPIPE, nil, &after)
  #expect(
    unsafeBitCast(before.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(after.__sigaction_handler.sa_handler, to: Int.self))
}

@Test func connection_busKilled_isReportedOnceAndTheProcessContinues() throws {
  let fixture = try Fixture()
  var disconnections = 0
  var results: [Result<String, DBusError>] = []
  fixture.client.handlers.onDisconnected = { disconnections += 1 }
  fixture.start(Echo.later, "sent") { results.append($0) }
  try #require(fixture.loop.turn { fixture.waiting.count == 1 })
  kill(fixture.bus.processID, SIGKILL)
  try #require(fixture.loop.turn { disconnections == 1 && results.count == 1 && !fixture.service.isOpen })
  #expect(#expect(throws: DBusError.self) { try results[0].get() }?.name == .disconnected)

  // All further use of the connection has no effect, or fails in a later turn.
  fixture.waiting.removeFirst().reply("too late")
  try fixture.client.emit(Echo.happened, from: Echo.path, ("", 0))
  fixture.client.objectAdded(Echo.path)
  var late: Result<String, DBusError>?
  fixture.client.call(Echo.later, on: Bus.name, at: Echo.path, "late") { late = $0 }
  try #require(fixture.loop.turn { late != nil })
  #expect(#expect(throws: DBusError.self) { try late?.get() }?.name == .disconnected)
  #expect(throws: DBusError.self) { try fixture.client.callAndWait(Bus.getID, on: Bus.name, at: Bus.path, ()) }
  fixture.client.close()
  fixture.client.close()
  #expect(disconnections == 1)
}

@Test func connection_close_sendsPendingMessagesAndFailsPendingCalls() throws {
  let fixture = try Fixture()
  var answer: Result<String, DBusError>?
  fixture.start(Echo.later, "x") { answer = $0 }
  var unsent: [Result<String, DBusError>] = []
  try #require(fixture.loop.turn { fixture.waiting.count == 1 })
  fixture.service.call(Bus.getID, on: Bus.name, at: Bus.path, ()) { unsent.append($0) }
  fixture.waiting.removeFirst().fail(DBusError(name: "org.example.Error.ShuttingDown", message: "bye"))
  fixture.service.close()
  #expect(unsent.count == 1)
  try #require(fixture.loop.turn { answer != nil })
  #expect(#expect(throws: DBusError.self) { try answer?.get() }?.message == "bye")
}

@Test func watches_largeMessagesInBothDirections_areExchanged() throws {
  let fixture = try Fixture()
  let large = Value.bytes([UInt8](repeating: 7, count: 3 << 20))
  var answers: [Bool] = []
  for _ in 0..<4 {
    fixture.start(Echo.echo, large) {
      answers.append((try? $0.get()) == large)
    }
    fixture.service.call(Bus.getID, on: Bus.name, at: Bus.path, ()) { _ in }
  }
  try #require(fixture.loop.turn { answers.count == 4 })
  #expect(answers == [true, true, true, true])
}

@Test func watches_idleConnection_doesNotWatchForWriting() throws {
  let fixture = try Fixture()
  try fixture.settle()
  fixture.loop.turn(wait: .zero)
  // If it did, every turn would find the socket ready at once.
  #expect(!fixture.loop.turn(wait: .milliseconds(1)))
}

@Test("W3: messages that are not read do not use unlimited memory")
func outgoing_busThatDoesNotRead_dropsSignalsAndPausesReading() throws {
  var limits = Connection.Limits()
  limits.outgoingBytes = 1 << 20
  let fixture = try Fixture(serviceLimits: limits)
  try fixture.settle()
  var dropped = 0
  fixture.service.handlers.onSignalsDropped = { dropped += $0 }
  kill(fixture.bus.processID, SIGSTOP)
  let text = String(repeating: "x", count: 10_000)
  for number in 0..<1000 {
    try fixture.service.emit(Echo.happened, from: Echo.path, (text, UInt64(number)))
    if number % 10 == 9 { fixture.loop.turn(wait: .zero) }
  }
  #expect(dropped > 0)
  #expect(dropped < 1000)
  #expect(fixture.service.outgoingSize < 2 << 20)
  #expect(!fixture.service.transport.isReading)
  kill(fixture.bus.processID, SIGCONT)
  try fixture.settle()
  #expect(fixture.service.transport.isReading)
  #expect(fixture.service.outgoingSize == 0)
}

@Test("W3: suspended calls wait until the bus reads, and then all are answered")
func outgoing_busThatDoesNotRead_suspendedCallsWait() throws {
  var limits = Connection.Limits()
  limits.outgoingBytes = 1 << 20
  let fixture = try Fixture(serviceLimits: limits)
  var served = 0
  fixture.implementation.implement(Echo.later) { key, call in
    served += 1
    call.reply(String(repeating: key, count: 100_000))
  }
  fixture.service.suspend(fixture.client.uniqueName)
  var answers = 0
  for _ in 0..<100 { fixture.start(Echo.later, "x") { if case .success = $0 { answers += 1 } } }
  try fixture.settle(by: Connection.open(address: fixture.bus.address, loop: fixture.loop))
  kill(fixture.bus.processID, SIGSTOP)
  fixture.service.resume(fixture.client.uniqueName)
  for _ in 0..<200 { fixture.loop.turn(wait: .zero) }
  // The bus has not answered, so there is one burst.
  #expect(served > 0 && served < 20)
  // The suspended calls do not keep the loop busy meanwhile.
  #expect(!fixture.loop.turn(wait: .milliseconds(1)))
  kill(fixture.bus.processID, SIGCONT)
  #expect(fixture.loop.turn { answers == 100 })
  #expect(fixture.service.rounds.isEmpty)
}

@Test("L2: large replies are made in rounds, and a round waits until the bus has read those of the last one")
func outgoing_largeReplies_areMadeInRounds() throws {
  let fixture = try Fixture()
  let others = try (0..<2).map { _ in try Connection.open(address: fixture.bus.address, loop: fixture.loop) }
  var served: [BusName] = []
  fixture.implementation.implement(Echo.later) { key, call in
    served.append(call.sender)
    call.reply(String(repeating: key, count: 2 << 20))
  }
  let clients = [fixture.client] + others
  var answers = 0
  for client in clients {
    fixture.service.suspend(client.uniqueName)
    for _ in 0..<10 {
      client.call(Echo.later, on: fixture.service.uniqueName, at: Echo.path, "x", timeout: nil) {
        if case .success = $0 { answers += 1 }
      }
    }
  }
  #expect(fixture.loop.turn { fixture.service.rounds.size >= 30 * 256 })
  kill(fixture.bus.processID, SIGSTOP)
  for client in clients { fixture.service.resume(client.uniqueName) }
  for _ in 0..<20 { fixture.loop.turn(wait: .zero) }
  // A burst is over with one of these replies.
  #expect(served.count == 1 && fixture.service.outgoingSize > 1 << 20)
  #expect(!fixture.loop.turn(wait: .milliseconds(1)))
  kill(fixture.bus.processID, SIGCONT)
  var most = 0
  #expect(
    fixture.loop.turn {
      most = max(most, fixture.service.outgoingSize)
      return answers == 30
    })
  #expect(most < 3 << 20)
  for round in 0..<10 { #expect(Set(served[round * 3..<round * 3 + 3]).count == 3) }
  #expect(fixture.service.rounds.isEmpty)
}

@Test("W3: a service learns that its bus has read nothing for a time, once, and only while bytes wait")
func outgoing_busThatReadsNothing_isReported() throws {
  var limits = Connection.Limits()
  limits.longestSilence = .milliseconds(100)
  let fixture = try Fixture(serviceLimits: limits)
  try fixture.settle()
  var reports = 0
  fixture.service.handlers.onBusSilent = { reports += 1 }
  kill(fixture.bus.processID, SIGSTOP)
  // Nothing waits to be written.
  #expect(!fixture.loop.turn(wait: .milliseconds(150)))
  let text = String(repeating: "x", count: 100_000)
  for _ in 0..<20 { try fixture.service.emit(Echo.happened, from: Echo.path, (text, 0)) }
  #expect(fixture.loop.turn { reports == 1 })
  #expect(!fixture.loop.turn(wait: .milliseconds(150)))
  kill(fixture.bus.processID, SIGCONT)
  try fixture.settle()
  #expect(reports == 1)
}

@Test("W3: a name is free when its owner has ended, even if the bus has stopped reading from the owner before")
func requestName_ownerThatTheBusDoesNotRead_isNoticedToHaveEnded() throws {
  let bus = try PrivateBus(limits: ["max_incoming_bytes": 1 << 20])
  let loop = try EventLoop()
  func own(_ connection: Connection) throws {
    var result: Result<Void, DBusError>?
    connection.requestName("org.example.Owner") { result = $0 }
    #expect(loop.turn { result != nil })
    try #require(result).get()
  }
  let owner = try Connection.open(address: bus.address, loop: loop)
  try own(owner)
  // A loop that does not run reads nothing.
  let silent = try Connection.open(address: bus.address, loop: EventLoop())
  silent.subscribe(to: Echo.happened) { _, _ in }
  silent.flush()
  _ = try silent.callAndWait(Bus.getID, on: Bus.name, at: Bus.path, ())
  let text = String(repeating: "x", count: 1 << 20)
  for _ in 0..<8 { try owner.emit(Echo.happened, from: Echo.path, (text, 0)) }
  while loop.turn(wait: .milliseconds(100)) {}
  #expect(owner.outgoingSize > 1 << 20)
  owner.close(flushing: .zero)
  try own(Connection.open(address: bus.address, loop: loop))
}

@Test("W3: a bus that reads again in time is not reported") func outgoing_busThatReadsInTime_isNotReported() throws {
  let fixture = try Fixture()
  try fixture.settle()
  fixture.service.handlers.onBusSilent = { Issue.record("reported") }
  kill(fixture.bus.processID, SIGSTOP)
  let text = String(repeating: "x", count: 100_000)
  for _ in 0..<20 { try fixture.service.emit(Echo.happened, from: Echo.path, (text, 0)) }
  fixture.loop.turn(wait: .zero)
  #expect(fixture.service.outgoingSize > 0)
  kill(fixture.bus.processID, SIGCONT)
  try fixture.settle()
  // No timer is left that would wake the service up.
  #expect(!fixture.loop.turn(wait: .milliseconds(1)))
}

@Test func outgoing_busKilledWithUnwrittenBytes_isReportedOnce() throws {
  var limits = Connection.Limits()
  limits.outgoingBytes = 1 << 20
  let fixture = try Fixture(serviceLimits: limits)
  var disconnections = 0
  fixture.service.handlers.onDisconnected = { disconnections += 1 }
  kill(fixture.bus.processID, SIGSTOP)
  while fixture.service.transport.isReading {
    try fixture.service.emit(Echo.happened, from: Echo.path, (String(repeating: "x", count: 100_000), 1))
    fixture.loop.turn(wait: .zero)
  }
  kill(fixture.bus.processID, SIGKILL)
  try #require(fixture.loop.turn { disconnections == 1 && !fixture.client.isOpen })
  #expect(!fixture.service.isOpen)
}

// MARK: Messages from clients

@Test("L2: a request that is too large disconnects nobody")
func input_tooLarge_isRefused() throws {
  let fixture = try Fixture()
  for size in [10 << 20, 60 << 20] {
    let large = Value.bytes([UInt8](repeating: 0, count: size))
    let error = #expect(throws: DBusError.self) { try fixture.call(Echo.echo, large) }
    #expect(error?.name == .limitsExceeded)
  }
  // The array is small as a message, and much larger as values.
  let many = Value.array(element: .boolean, Array(repeating: .boolean(true), count: 2 << 20))
  let error = #expect(throws: DBusError.self) { try fixture.call(Echo.echo, many) }
  #expect(error?.name == .limitsExceeded)
  #expect(try fixture.call(Echo.echo, .byte(1)) == .byte(1))
}

@Test("L2: hundreds of descriptors disconnect nobody")
func input_manyDescriptors_doesNotEndTheService() throws {
  let fixture = try Fixture()
  let client = try RawClient(fixture.bus)
  var body = Marshalled()
  body.uint32(0)
  for count in [1, 16, 100, 253] {
    _ = try? client.send(
      member: "Pass", interface: Echo.name.text, to: fixture.service.uniqueName.text, at: Echo.path.text,
      signature: "h", body: body.bytes, descriptors: count)
  }
  try fixture.settle()
  // Thousands of descriptors come in calls that expect no reply.
  if let other = try? RawClient(fixture.bus) {
    for _ in 0..<200 {
      _ = try? other.send(
        flags: 1, member: "Nothing", interface: Echo.name.text, to: fixture.service.uniqueName.text, at: Echo.path.text,
        signature: "h", body: body.bytes, descriptors: 10)
    }
  }
  try fixture.settle()
  #expect(try fixture.call(Echo.echo, .byte(1)) == .byte(1))
  #expect(fixture.service.isOpen)
}

extension RawClient {
  /// Calls a method with descriptors, and waits until the bus has passed on the call.
  fileprivate func pass(
    _ member: String, _ signature: String, _ body: [UInt8], descriptors: Int, to service: Connection, times: Int = 1
  ) throws {
    for _ in 0..<times {
      try send(
        flags: 1, member: member, interface: Echo.name.text, to: service.uniqueName.text, at: Echo.path.text,
        signature: signature, body: body, descriptors: descriptors)
    }
    try send(member: "GetId", interface: Bus.name.text, to: Bus.name.text, at: Bus.path.text)
    _ = try answer()
  }
}

@Test("L2: calls with descriptors that wait do not keep a blocking call from its reply")
func input_descriptorsDuringABlockingCall_areRefused() throws {
  let fixture = try Fixture()
  var body = Marshalled()
  body.uint32(0)
  let client = try RawClient(fixture.bus)
  try client.pass("Pass", "h", body.bytes, descriptors: 16, to: fixture.service, times: 20)
  _ = try fixture.service.callAndWait(Bus.getID, on: Bus.name, at: Bus.path, (), timeout: .seconds(5))
  try fixture.settle()
}

@Test("L2: a call with descriptors is refused if its method declares none")
func input_undeclaredDescriptors_areRefused() throws {
  let fixture = try Fixture()
  let directory = TemporaryDirectory()
  let opened = open(directory.path(of: "passed"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
  let file = Value.descriptor(Descriptor(owning: opened))
  let error = #expect(throws: DBusError.self) { try fixture.call(Echo.echo, file) }
  #expect(error?.name == .invalidArgs)
  #expect(error?.message.contains("descriptors") == true, "\(error?.message ?? "")")
  // An undeclared descriptor in a reply is not received, either.
  fixture.implementation.implement(Echo.echo) { _, call in call.reply(file) }
  let late = #expect(throws: DBusError.self) { try fixture.call(Echo.echo, .byte(1)) }
  #expect(late?.name == .invalidArgs)
  #expect(try descriptors(ofTheFileOf: opened) == [opened])
}

@Test(
  "L2: a socket that would keep its closer waiting until its data is sent keeps nobody waiting",
  arguments: [true, false])
func input_lingeringSocket_isClosedAtOnce(isCall: Bool) throws {
  let fixture = try Fixture()
  let socket = Descriptor(owning: Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
  var lingering = linger(l_onoff: 1, l_linger: 60)
  let size = socklen_t(MemoryLayout<linger>.size)
  try check("setsockopt") { setsockopt(socket.number, SOL_SOCKET, SO_LINGER, &lingering, size) }
  if !isCall { fixture.implementation.implement(Echo.echo) { _, call in call.reply(.descriptor(socket)) } }
  #expect(throws: DBusError.self) { try fixture.call(Echo.echo, isCall ? .descriptor(socket) : .byte(1)) }
  // The option belongs to the socket, not to the descriptor.
  var left = size
  try check("getsockopt") { getsockopt(socket.number, SOL_SOCKET, SO_LINGER, &lingering, &left) }
  #expect(lingering.l_onoff == 0)
}

/// The descriptors of this process for a file. The process has others, since other tests open some.
private func descriptors(ofTheFileOf descriptor: Int32) throws -> [Int32] {
  func file(_ descriptor: Int32) -> [UInt]? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? [UInt(status.st_dev), UInt(status.st_ino)] : nil
  }
  let wanted = file(descriptor)
  return try Files.names(in: "/proc/self/fd").compactMap { Int32($0) }.filter { file($0) == wanted }
}

@Test("L2: 65 levels of nesting disconnect only their sender")
func input_nestedTooDeep_disconnectsOnlyTheSender() throws {
  let fixture = try Fixture()
  let client = try RawClient(fixture.bus)
  var body: [UInt8] = []
  for _ in 0..<65 { body += [1, UInt8(ascii: "v"), 0] }
  body += [1, UInt8(ascii: "y"), 0, 7]
  _ = try? client.send(
    member: "Echo", interface: Echo.name.text, to: fixture.service.uniqueName.text, at: Echo.path.text, signature: "v",
    body: body)
  #expect(client.isThrownOut())
  try fixture.settle()
}

@Test(
  "L2: invalid text disconnects only its sender",
  arguments: [
    [0xff, 0xfe, 0], [0, 0, 0], Array("a\u{0}".utf8),
  ] as [[UInt8]])
func input_invalidText_disconnectsOnlyTheSender(text: [UInt8]) throws {
  let fixture = try Fixture()
  let client = try RawClient(fixture.bus)
  var body = Marshalled()
  body.uint32(UInt32(text.count))
  body.bytes += text + [0]
  _ = try? client.send(
    member: "Later", interface: Echo.name.text, to: fixture.service.uniqueName.text, at: Echo.path.text,
    signature: "s", body: body.bytes)
  #expect(client.isThrownOut())
  try fixture.settle()
  #expect(fixture.waiting.isEmpty)
}

@Test func input_unknownMessageType_isIgnored() throws {
  let fixture = try Fixture()
  let client = try RawClient(fixture.bus)
  try client.send(
    type: 77, member: "Echo", interface: Echo.name.text, to: fixture.service.uniqueName.text, at: Echo.path.text)
  try fixture.settle()
  #expect(fixture.service.isOpen)
}

@Test func input_incompleteMessage_doesNotEndTheService() throws {
  let fixture = try Fixture()
  for share in [1, 16, 40, 100] {
    let client = try RawClient(fixture.bus)
    var body = Marshalled()
    body.string(String(repeating: "x", count: 1000))
    let message = RawClient.message(
      serial: 2, member: "Later", interface: Echo.name.text, to: fixture.service.uniqueName.text, at: Echo.path.text,
      signature: "s", body: body.bytes)
    try client.write(Array(message[..<(message.count * share / 101)]))
  }
  // This client sends its calls and disconnects before the replies.
  let client = try Connection.open(address: fixture.bus.address, loop: fixture.loop)
  try client.send(Echo.later, on: fixture.service.uniqueName, at: Echo.path, "x")
  client.call(Echo.later, on: fixture.service.uniqueName, at: Echo.path, "x") { _ in }
  client.close()
  try #require(fixture.loop.turn { fixture.waiting.count == 2 })
  for call in fixture.waiting { call.reply("unheard") }
  fixture.waiting = []
  try fixture.settle()
}

@Test func input_noReplyFlag_receivesNoReply() throws {
  let fixture = try Fixture()
  let client = try RawClient(fixture.bus)
  let destination = fixture.service.uniqueName.text
  for member in ["Ping", "Nothing", "Introspect"] {
    try client.send(flags: 1, member: member, interface: nil, to: destination, at: Echo.path.text)
  }
  let last = try client.send(member: "Ping", interface: nil, to: destination, at: Echo.path.text)
  // The first message received must be the reply to the last call.
  try fixture.settle()
  #expect(try client.answer().replySerial == last)
}

@Test func input_callsWithoutReplies_doNotPauseReading() throws {
  var limits = Connection.Limits()
  limits.receivedBytes = 64 << 10
  let fixture = try Fixture(serviceLimits: limits)
  // The calls have more bytes than `receivedBytes`; a call that waits for its reply does not keep its message.
  let key = String(repeating: "k", count: 10_000)
  for _ in 0..<50 {
    fixture.start(Echo.later, key) { _ in }
  }
  try #require(fixture.loop.turn { fixture.waiting.count == 50 })
  try fixture.settle()
}
