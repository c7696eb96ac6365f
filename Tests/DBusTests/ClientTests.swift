import DBusValues
import EventLoops
import Glibc
import TestSupport
import Testing

@testable import DBus

// Clients of the bus: names, watches, subscriptions, calls and blocking calls.

@Test func requestName_nameThatIsOwned_failsWithoutQueueing() throws {
  let fixture = try Fixture()
  let name: BusName = "org.example.Echo1"
  var first: Result<Void, DBusError>?
  var second: Result<Void, DBusError>?
  fixture.service.requestName(name) { first = $0 }
  try #require(fixture.loop.turn { first != nil })
  #expect(throws: Never.self) { try first?.get() }
  fixture.client.requestName(name) { second = $0 }
  try #require(fixture.loop.turn { second != nil })
  #expect(#expect(throws: DBusError.self) { try second?.get() }?.name == .addressInUse)
  #expect(try fixture.call(Echo.echo, .byte(1), on: name) == .byte(1))

  var owners: [BusName?] = []
  _ = fixture.client.watchName(name) { owners.append($0) }
  try #require(fixture.loop.turn { owners.count == 1 })
  var lost: [BusName] = []
  fixture.service.handlers.onNameLost = { lost.append($0) }
  fixture.service.releaseName(name)
  try #require(fixture.loop.turn { owners.count == 2 && !lost.isEmpty })
  // If the client had queued, it would own the name now.
  #expect(owners == [fixture.service.uniqueName, nil])
  #expect(lost == [name])
}

@Test func watchName_ownerThatDisconnects_isReportedOnce() throws {
  let fixture = try Fixture()
  let peer = try Connection.open(address: fixture.bus.address, loop: fixture.loop)
  var owners: [BusName?] = []
  let watch = fixture.service.watchName(peer.uniqueName) { owners.append($0) }
  try #require(fixture.loop.turn { owners.count == 1 })
  #expect(owners == [peer.uniqueName])
  peer.close()
  try #require(fixture.loop.turn { owners.count == 2 })
  #expect(owners == [peer.uniqueName, nil])
  watch.cancel()

  // The name has no owner when the watch begins.
  var late: [BusName?] = []
  let again = fixture.service.watchName(peer.uniqueName) { late.append($0) }
  try #require(fixture.loop.turn { late.count == 1 })
  #expect(late == [nil])
  again.cancel()
}

@Test func watchName_ownerThatDisconnectsDuringTheRequest_isReportedAsGone() throws {
  let fixture = try Fixture()
  for _ in 0..<20 {
    let peer = try Connection.open(address: fixture.bus.address, loop: fixture.loop)
    var owner: BusName?? = .none
    let watch = fixture.service.watchName(peer.uniqueName) { owner = $0 }
    // The peer disconnects while the match rule and the question for the owner are in transit.
    fixture.loop.soon { peer.close() }
    #expect(fixture.loop.turn { owner == .some(nil) })
    watch.cancel()
  }
}

@Test("O1: a client counts as having left only if the bus says so")
func watchName_busThatIsStopped_reportsTheOwnerWhenItContinues() throws {
  let bus = try PrivateBus()
  var lead = Duration.zero
  let loop = try EventLoop(clock: { .now + lead })
  let service = try Connection.open(address: bus.address, loop: loop)
  let peer = try Connection.open(address: bus.address, loop: loop)
  kill(bus.processID, SIGSTOP)
  defer { kill(bus.processID, SIGCONT) }
  var owners: [BusName?] = []
  let watch = service.watchName(peer.uniqueName) { owners.append($0) }
  loop.turn(wait: .zero)
  lead = defaultTimeout * 2
  loop.turn(wait: .zero)
  kill(bus.processID, SIGCONT)
  try #require(loop.turn { !owners.isEmpty })
  #expect(owners == [peer.uniqueName])
  watch.cancel()
}

@Test func watchName_severalForOneName_areAllNotifiedUntilCancelled() throws {
  let fixture = try Fixture()
  let peer = try Connection.open(address: fixture.bus.address, loop: fixture.loop)
  var first = 0
  var second = 0
  let watch = fixture.service.watchName(peer.uniqueName) { _ in first += 1 }
  try #require(fixture.loop.turn { first == 1 })
  let other = fixture.service.watchName(peer.uniqueName) { _ in second += 1 }
  try #require(fixture.loop.turn { second == 1 })
  watch.cancel()
  peer.close()
  try #require(fixture.loop.turn { second == 2 })
  #expect(first == 1)
  other.cancel()
  #expect(fixture.service.rules.watchedNames.isEmpty)
}

@Test func watchName_cancelled_removesItsMatchRule() throws {
  let fixture = try Fixture()
  let getAllMatchRules = Method(
    "org.freedesktop.DBus.Debug.Stats", "GetAllMatchRules", out: Arg<[String: [String]]>("rules"))
  func rules() throws -> [String] {
    let all = try fixture.call(getAllMatchRules, (), at: Bus.path, on: Bus.name)
    return all[fixture.service.uniqueName.text] ?? []
  }
  let watches = (1...5).map { fixture.service.watchName(BusName("org.example.N\($0)")!) { _ in } }
  let subscription = fixture.service.subscribe(to: Echo.happened, from: "org.example.N1", arg0: "it's") { _, _ in }
  try fixture.settle()
  #expect(try rules().count == 6)
  for watch in watches { watch.cancel() }
  subscription.cancel()
  try fixture.settle()
  #expect(try rules().isEmpty)
}

@Test func credentials_ofOurConnection_areOfThisProcess() throws {
  let fixture = try Fixture()
  var result: Result<Credentials, DBusError>?
  fixture.service.credentials(of: fixture.client.uniqueName) { result = $0 }
  try #require(fixture.loop.turn { result != nil })
  let credentials = try #require(result).get()
  #expect(credentials.processID == UInt32(getpid()))
  #expect(credentials.userID == getuid())
  result = nil
  fixture.service.credentials(of: ":1.99999") { result = $0 }
  try #require(fixture.loop.turn { result != nil })
  #expect(#expect(throws: DBusError.self) { try result?.get() }?.name == .nameHasNoOwner)
}

@Test func subscribe_byArgumentAndSender_receivesNoOtherSignals() throws {
  let fixture = try Fixture()
  var heard: [UInt64] = []
  let subscription = fixture.client.subscribe(
    to: Echo.happened, from: fixture.service.uniqueName, at: Echo.path, arg0: "it's"
  ) { arguments, _ in heard.append(arguments.1) }
  // The bus must have the rule before the signal is sent.
  try fixture.settle()
  try fixture.service.emit(Echo.happened, from: Echo.path, ("other", 1))
  try fixture.service.emit(Echo.happened, from: "/other", ("it's", 2))
  try fixture.client.emit(Echo.happened, from: Echo.path, ("it's", 3))
  try fixture.service.emit(Echo.happened, from: Echo.path, ("it's", 4))
  try #require(fixture.loop.turn { !heard.isEmpty })
  try fixture.settle()
  #expect(heard == [4])
  subscription.cancel()
  try fixture.service.emit(Echo.happened, from: Echo.path, ("it's", 5))
  try fixture.settle()
  #expect(heard == [4])
}

@Test func subscribe_toAWellKnownName_receivesOnlyFromItsOwner() throws {
  let fixture = try Fixture()
  let name: BusName = "org.example.Echo1"
  var heard: [UInt64] = []
  fixture.client.subscribe(to: Echo.happened, from: name) { arguments, _ in heard.append(arguments.1) }
  var isTaken = false
  fixture.service.requestName(name) { _ in isTaken = true }
  try #require(fixture.loop.turn { isTaken })
  try fixture.settle()
  try fixture.service.emit(Echo.happened, from: Echo.path, ("by the owner", 1))
  // Anyone may send a signal directly to any connection.
  let header = MessageHeader(
    kind: .signal,
    fields: HeaderFields(
      interface: Echo.name, member: Echo.happened.name, signature: Echo.happened.list.signature), path: Echo.path,
    destination: fixture.client.uniqueName)
  var arguments = ("forged", UInt64(2))
  let forged = try OutgoingMessage(header) { writer throws(DBusError) in
    try Echo.happened.list.write(&arguments, &writer)
  }
  try fixture.forge(.message(forged))
  #expect(heard == [1])
}

@Test func subscribe_ruleThatTheBusRefuses_reportsTheError() throws {
  let fixture = try Fixture()
  var refused: DBusError?
  let long = String(repeating: "x", count: 2000)
  fixture.client.subscribe(MatchRule(arg0: long), ready: { refused = $0 }) { _ in }
  try #require(fixture.loop.turn { refused != nil })
  #expect(refused?.name.text == "org.freedesktop.DBus.Error.LimitsExceeded" || refused?.message.isEmpty == false)
}

@Test func call_withoutReply_timesOutAndALateReplyIsIgnored() throws {
  let fixture = try Fixture()
  var results: [Result<String, DBusError>] = []
  fixture.start(Echo.later, "x", timeout: .milliseconds(50)) { results.append($0) }
  try #require(fixture.loop.turn { results.count == 1 })
  #expect(#expect(throws: DBusError.self) { try results[0].get() }?.name == .timedOut)
  try #require(fixture.loop.turn { fixture.waiting.count == 1 })
  fixture.waiting.removeFirst().reply("late")
  try fixture.settle()
  #expect(results.count == 1)
  #expect(fixture.client.openCalls.unmatchedReplies == 1)
}

@Test func call_cancelled_neverCompletes() throws {
  let fixture = try Fixture()
  var answered = 0
  let sent = fixture.start(Echo.later, "x") { _ in answered += 1 }
  try #require(fixture.loop.turn { fixture.waiting.count == 1 })
  sent.cancel()
  // The bus keeps it until the answer.
  #expect(fixture.client.openCallCount(to: fixture.service.uniqueName) == 1)
  fixture.waiting.removeFirst().reply("x")
  fixture.start(Echo.later, "unsent") { _ in answered += 1 }
    .cancel()
  try fixture.settle()
  #expect(answered == 0)
  #expect(fixture.waiting.isEmpty)
  #expect(fixture.client.openCalls.pending.isEmpty && fixture.client.openCallCount == 0)
}

@Test func call_toANameWithoutOwner_failsWithServiceUnknown() throws {
  let fixture = try Fixture()
  let error = #expect(throws: DBusError.self) { try fixture.call(Echo.echo, .byte(1), on: "org.example.Nobody") }
  #expect(error?.name == .serviceUnknown)
}

@Test func call_forgedReply_isIgnored() throws {
  let fixture = try Fixture()
  var results: [Result<String, DBusError>] = []
  fixture.start(Echo.later, "x") { results.append($0) }
  try #require(fixture.loop.turn { fixture.waiting.count == 1 })
  let serial = try #require(fixture.client.openCalls.pending.keys.first)
  let address = ReplyAddress(caller: fixture.client.uniqueName, serial: serial, isWanted: true)
  let forged = try address.reply(HeaderFields(signature: "s")) { writer throws(DBusError) in
    try writer.append("forged")
  }
  try fixture.forge(.message(forged))
  fixture.waiting.removeFirst().reply("real")
  try #require(fixture.loop.turn { !results.isEmpty })
  #expect(results == [.success("real")])
}

@Test func call_replyThatDoesNotMatchTheContract_fails() throws {
  let fixture = try Fixture()
  let wrong = Method(Echo.name, "Echo", in: Arg<Value>("value"), out: Arg<String>("value"))
  let error = #expect(throws: DBusError.self) { try fixture.call(wrong, .byte(1)) }
  #expect(error?.name == .invalidArgs)
  #expect(error?.message.contains("org.example.Echo1.Echo") == true)
}

@Test func callAndWait_messagesReceivedMeanwhile_areHandledInTheNextTurn() throws {
  let fixture = try Fixture()
  var heard: [UInt64] = []
  fixture.client.subscribe(to: Echo.happened) { arguments, _ in heard.append(arguments.1) }
  try fixture.settle()
  for number in 1...3 { try fixture.service.emit(Echo.happened, from: Echo.path, ("", UInt64(number))) }
  fixture.service.flush()
  _ = try fixture.service.callAndWait(Bus.getID, on: Bus.name, at: Bus.path, ())
  // The bus has sent the signals to the client by now; waiting for this reply reads them from the socket.
  #expect(try fixture.client.callAndWait(Bus.getID, on: Bus.name, at: Bus.path, ()).utf8.count == 32)
  #expect(heard == [])
  fixture.loop.turn(wait: .zero)
  #expect(heard == [1, 2, 3])
}

@Test func callAndWait_ofTwoMethods_returnsBothRepliesOrAnError() throws {
  let fixture = try Fixture()
  let (id, names) = try fixture.client.callAndWait(Bus.getID, Bus.listNames, on: Bus.name, at: Bus.path)
  #expect(id.utf8.count == 32)
  #expect(names.contains(fixture.service.uniqueName.text))
  let unknown = Method("org.freedesktop.DBus", "NoSuchMethod", out: Arg<String>("id"))
  let error = #expect(throws: DBusError.self) {
    try fixture.client.callAndWait(unknown, Bus.listNames, on: Bus.name, at: Bus.path)
  }
  #expect(error?.name == .unknownMethod)
  // The reply to the other call is not taken for one to the next.
  #expect(try fixture.client.callAndWait(Bus.getID, on: Bus.name, at: Bus.path, ()) == id)
}

@Test func callAndWait_errorAndTimeout_areThrown() throws {
  let fixture = try Fixture()
  let unknown = #expect(throws: DBusError.self) {
    try fixture.client.callAndWait(Echo.echo, on: "org.example.Nobody", at: "/", .byte(1), autoStart: false)
  }
  #expect(unknown?.name == .serviceUnknown || unknown?.name == .nameHasNoOwner)
  // The service is on the same loop, which does not run, so it cannot reply.
  let late = #expect(throws: DBusError.self) {
    try fixture.client.callAndWait(
      Echo.echo, on: fixture.service.uniqueName, at: Echo.path, .byte(1), timeout: .milliseconds(20))
  }
  #expect(late?.name == .timedOut)
}

@Test func open_addressWithoutABus_failsWithTheReason() throws {
  let loop = try EventLoop()
  let missing = #expect(throws: DBusError.self) {
    try Connection.open(address: "unix:path=/nonexistent/bus", loop: loop)
  }
  #expect(missing?.name.text == "org.freedesktop.DBus.Error.FileNotFound")
  let nonsense = #expect(throws: DBusError.self) { try Connection.open(address: "nonsense", loop: loop) }
  #expect(nonsense?.name.text == "org.freedesktop.DBus.Error.BadAddress")
}
