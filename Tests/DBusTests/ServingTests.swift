import DBusValues
import EventLoops
import Glibc
import TestSupport
import Testing

@testable import DBus

// Served objects: the methods and properties that clients use, replies, and calls that are suspended.

@Test func call_ofAContract_isServed() throws {
  let fixture = try Fixture()
  #expect(try fixture.call(Echo.join, ("a", 2, ["x": .boolean(true)])) == "a 2 [\"x\"]")
  #expect(try fixture.call(Echo.echo, .string("text")) == .string("text"))
}

@Test func call_allTypes_areEchoedUnchanged() throws {
  let fixture = try Fixture()
  let values: [Value] = [
    .byte(255), .boolean(true), .int16(-2), .uint16(3), .int32(-4), .uint32(5), .int64(.min), .uint64(.max),
    .double(1.5), .string("äöü 🎉"), .string(""), .objectPath("/a/b"), .signature("a{sv}"), .signature(""),
    .variant(.variant(.string("deep"))), .bytes([]), .bytes([0, 1, 255]), .array(element: .string, []),
    .array(element: .array(.variant), [.array(element: .variant, [.variant(.byte(1))])]),
    .array(element: .boolean, [.boolean(true), .boolean(false)]), Properties().value,
    ["a": Value.bytes([1]), "b": ["c": Value.double(2)].value].value,
    .dictionary(
      key: .uint32, value: .structure([.string, .int16]), [.uint32(1): .structure([.string("x"), .int16(2)])]),
    // The keys are equal for Swift.
    .dictionary(
      key: .string, value: .variant,
      [.string("\u{e9}"): .variant(.byte(1)), .string("e\u{301}"): .variant(.byte(2))]),
    .structure([.byte(1), .structure([.string("x")])]),
    .array(element: .structure([.string, .string, .properties]), []),
  ]
  for value in values {
    let back = try fixture.call(Echo.echo, value)
    #expect(back == value)
    #expect(back.type == value.type)
  }
}

@Test func call_descriptor_isReceivedAsADuplicate() throws {
  let fixture = try Fixture()
  let original = Descriptor(owning: open("/", O_RDONLY | O_CLOEXEC))
  let copy = try fixture.call(Echo.pass, original)
  #expect(copy.number != original.number)
  #expect(fcntl(copy.number, F_GETFD) & FD_CLOEXEC != 0)
  var a = stat()
  var b = stat()
  #expect(fstat(original.number, &a) == 0 && fstat(copy.number, &b) == 0)
  #expect(a.st_ino == b.st_ino && a.st_dev == b.st_dev)
}

@Test func call_withoutInterface_isFoundByItsMember() throws {
  let fixture = try Fixture()
  #expect(try fixture.call("Echo", of: nil, [.variant(.byte(1))]) == [.variant(.byte(1))])
  #expect(try fixture.call("Ping", of: nil) == [])
  #expect(fixture.error("Nothing", of: nil)?.name == .unknownMethod)
}

@Test func call_ofAMissingObjectInterfaceOrMethod_failsWithItsError() throws {
  let fixture = try Fixture()
  #expect(fixture.error("Echo", of: Echo.name, at: "/org/example/Other")?.name == .unknownObject)
  #expect(fixture.error("Echo", of: "org.example.Other1")?.name == .unknownInterface)
  #expect(fixture.error("Other", of: Echo.name)?.name == .unknownMethod)
  #expect(fixture.error("Get", of: "org.freedesktop.DBus.Properties", at: "/org")?.name == .unknownInterface)
  #expect(fixture.error("GetManagedObjects", of: ObjectManagement.name)?.name == .unknownInterface)
  let long = ObjectPath("/" + String(repeating: "x", count: 100_000))
  let error = fixture.error("Echo", of: Echo.name, at: try #require(long))
  #expect(error?.name == .unknownObject)
  #expect(error?.message.utf8.count ?? 0 < 1000)
}

@Test func call_wrongSignature_namesTheArgument() throws {
  let fixture = try Fixture()
  let error = fixture.error("Join", of: Echo.name, [.string("a"), .int32(1), Properties().value])
  #expect(error?.name == .invalidArgs)
  #expect(error?.message == "argument 2, “second”: expected u (s first, u second, a{sv} options), found i")
  #expect(fixture.error("Join", of: Echo.name)?.name == .invalidArgs)
  #expect(fixture.error("Ping", of: Peer.name, [.byte(1)])?.name == .invalidArgs)
}

private enum Word: String, ValueConvertible {
  case yes, no
  static var valueType: ValueType { .string }
  init?(value: Value) {
    guard let text = String(value: value) else { return nil }
    self.init(rawValue: text)
  }
  var value: Value { .string(rawValue) }
}

@Test func call_argumentThatIsNotAllowed_isNamed() throws {
  let fixture = try Fixture()
  let name: InterfaceName = "org.example.Words1"
  let choose = Method(name, "Choose", in: Arg<UInt32>("number"), Arg<Word>("word"), out: Arg<Word>("word"))
  let words = ImplementedInterface(Interface(name, members: [choose]))
  words.implement(choose) { input, call in call.reply(input.1) }
  fixture.service.export(Echo.path, [words])
  #expect(try fixture.call(choose, (1, .no)) == .no)
  let error = fixture.error("Choose", of: name, [.uint32(1), .string("perhaps")])
  #expect(error == DBusError(name: .invalidArgs, message: "argument 2, “word”: “perhaps” is not an allowed value"))
}

@Test func member_implementedWhenUsed_isAskedForOnce() throws {
  let fixture = try Fixture()
  let name: InterfaceName = "org.example.Later1"
  let twice = Method(name, "Twice", in: Arg<UInt32>("number"), out: Arg<UInt32>("result"))
  let size = Property<UInt32>(name, "Size")
  var asked: [String] = []
  let later = ImplementedInterface(Interface(name, members: [twice, size])) { name, object in
    asked.append(name)
    if name == "Twice" { object.implement(twice) { input, call in call.reply(2 * input) } }
  } implementProperties: { object in
    asked.append("properties")
    object.implement(size, get: { _ in 7 })
  }
  fixture.service.export(Echo.path, [later])
  #expect(try fixture.call(Introspection.introspect, (), at: Echo.path).contains("Twice"))
  #expect(asked == ["properties"])
  #expect(fixture.error("Thrice", of: name)?.name == .unknownMethod)
  #expect(try fixture.call(twice, 3) == 6)
  #expect(try fixture.call(twice, 4) == 8)
  for _ in 1...2 {
    #expect(try fixture.call(PropertyAccessing.get, (name.text, "Size")) == .uint32(7))
    #expect(try fixture.call(PropertyAccessing.getAll, name.text) == ["Size": .uint32(7)])
  }
  #expect(asked.filter { $0 != "Thrice" } == ["properties", "Twice"])
}

@Test func peer_onAnyPath_isImplemented() throws {
  let fixture = try Fixture()
  for path: ObjectPath in ["/", "/org", Echo.path, "/nothing/here"] {
    #expect(try fixture.call("Ping", of: Peer.name, at: path) == [])
    let id = try fixture.call(Peer.getMachineID, (), at: path)
    #expect(id.utf8.count == 32)
  }
}

@Test func introspection_ofParentPaths_leadsToTheObject() throws {
  let fixture = try Fixture()
  let root = try fixture.call(Introspection.introspect, (), at: "/")
  #expect(root.contains(#"<node name="org"/>"#))
  #expect(root.contains(#"<interface name="org.freedesktop.DBus.Introspectable">"#))
  #expect(!root.contains("Properties"))
  #expect(try fixture.call(Introspection.introspect, (), at: "/org").contains(#"<node name="example"/>"#))
  let object = try fixture.call(Introspection.introspect, (), at: Echo.path)
  for name in ["org.example.Echo1", "org.freedesktop.DBus.Properties", "org.freedesktop.DBus.Peer"] {
    #expect(object.contains("  <interface name=\"\(name)\">"))
  }
  #expect(object.contains("For tests."))
  #expect(fixture.error("Introspect", of: Introspection.name, at: "/other")?.name == .unknownObject)
}

@Test func properties_getSetAndGetAll_followTheContract() throws {
  let fixture = try Fixture()
  let name = Echo.name.text
  #expect(try fixture.call(PropertyAccessing.get, (name, "Label")) == .string("first"))
  #expect(try fixture.call(PropertyAccessing.get, ("", "Label")) == .string("first"))
  #expect(try fixture.call(PropertyAccessing.get, (name, "Hint")) == .variant(.variant(.int32(7))))
  try fixture.call(PropertyAccessing.set, (name, "Label", .string("second")))
  let all: Properties = [
    "Count": .uint32(0), "Label": .string("second"), "Hint": .variant(.variant(.int32(7))), "Birth": .uint64(1),
  ]
  #expect(try fixture.call(PropertyAccessing.getAll, name) == all)
  #expect(try fixture.call(PropertyAccessing.getAll, "") == all)
  #expect(try fixture.call(PropertyAccessing.getAll, Peer.name.text) == [:])

  func error<Input, Output>(_ method: Method<Input, Output>, _ input: Input) -> ErrorName? {
    #expect(throws: DBusError.self) { try fixture.call(method, input) }?.name
  }
  #expect(error(PropertyAccessing.get, (name, "Other")) == .unknownProperty)
  #expect(error(PropertyAccessing.get, ("org.example.Other1", "Label")) == .unknownInterface)
  #expect(error(PropertyAccessing.getAll, "not even a name") == .unknownInterface)
  #expect(error(PropertyAccessing.set, (name, "Count", .uint32(1))) == .propertyReadOnly)
  #expect(error(PropertyAccessing.set, (name, "Label", .uint32(1))) == .invalidArgs)
  #expect(error(PropertyAccessing.set, (name, "Label", .string(""))) == .invalidArgs)
  #expect(error(PropertyAccessing.set, (name, "Other", .string(""))) == .unknownProperty)
}

@Test func reply_later_isSentOnce() throws {
  let fixture = try Fixture()
  var answers: [Result<String, DBusError>] = []
  for key in ["a", "b", "c"] {
    fixture.start(Echo.later, key) { answers.append($0) }
  }
  try #require(fixture.loop.turn { fixture.waiting.count == 3 })
  #expect(fixture.waiting[0].sender == fixture.client.uniqueName)
  try fixture.settle()
  #expect(answers.isEmpty)

  fixture.waiting[1].reply("second")
  fixture.waiting[0].fail(DBusError(name: "org.example.Error.No", message: "why"))
  // The third call ends without a reply.
  fixture.waiting = []
  try #require(fixture.loop.turn { answers.count == 3 })
  #expect(answers[0] == .success("second"))
  #expect(answers[1] == .failure(DBusError(name: "org.example.Error.No", message: "why")))
  #expect(throws: DBusError(name: .failed, message: "the service dropped the call without a reply")) {
    try answers[2].get()
  }
}

@Test func reply_thatCannotBeSent_isAnErrorToTheCaller() throws {
  let fixture = try Fixture()
  fixture.implementation.implement(Echo.later) { _, call in call.reply("a\0b") }
  let error = #expect(throws: DBusError.self) { try fixture.call(Echo.later, "x") }
  #expect(error?.name == .failed)
  #expect(error?.message.contains("NUL") == true)
  try fixture.settle()
}

@Test func reply_notExpected_isNotSent() throws {
  let fixture = try Fixture()
  try fixture.client.send(Echo.echo, on: fixture.service.uniqueName, at: Echo.path, .byte(1))
  try fixture.client.send(Echo.later, on: fixture.service.uniqueName, at: "/nothing", "x")
  try fixture.client.send(Echo.later, on: fixture.service.uniqueName, at: Echo.path, "x")
  try #require(fixture.loop.turn { !fixture.waiting.isEmpty })
  #expect(!fixture.waiting[0].isReplyExpected)
  fixture.waiting[0].reply("unheard")
  fixture.waiting = []
  // A reply would arrive before the next one, and be counted.
  let before = fixture.client.openCalls.unmatchedReplies
  try fixture.settle()
  #expect(fixture.client.openCalls.unmatchedReplies == before)
}

@Test func export_twoInterfacesAtOnePath_servesBoth() throws {
  let fixture = try Fixture()
  let other = ImplementedInterface(Sample.interface)
  other.implement(Sample.pop) { input, call in call.reply(input.1) }
  fixture.service.export("/both", [fixture.implementation, other])
  #expect(try fixture.call(Sample.pop, ("main", 3), at: "/both") == 3)
  #expect(try fixture.call(Echo.echo, .byte(1), at: "/both") == .byte(1))
  #expect(try fixture.call("Pop", of: nil, at: "/both", [.string(""), .uint32(9)]) == [.uint32(9)])
  // The method is in the contract, but not implemented.
  #expect(fixture.error("Nothing", of: Sample.name, at: "/both")?.name == .unknownMethod)
  fixture.service.unexport("/both")
  #expect(fixture.error("Pop", of: Sample.name, at: "/both")?.name == .unknownObject)
}

@Test("P9: the error for a call that cannot be served comes after the answers to earlier calls of its client")
func call_unknown_isAnsweredInOrder() throws {
  let fixture = try Fixture()
  let unknown = Method(Echo.name, "Nothing", in: Arg<Value>("value"), out: Arg<Value>("value"))
  var answers: [String] = []
  for method in [Echo.echo, unknown, Echo.echo] {
    fixture.client.call(method, on: fixture.service.uniqueName, at: Echo.path, .string("a"), timeout: nil) { result in
      if case .failure = result { answers.append("error") } else { answers.append("answer") }
    }
  }
  #expect(fixture.loop.turn { answers.count == 3 })
  #expect(answers == ["answer", "error", "answer"])
}

@Test("P9, L2: suspended calls of a client are served later in their order; other clients are served meanwhile")
func suspend_laterCallsOfTheClient_waitInOrder() throws {
  let fixture = try Fixture()
  let other = try Connection.open(address: fixture.bus.address, loop: fixture.loop)
  var answers: [String] = []
  func ask(_ key: String, _ client: Connection) {
    client.call(
      Echo.echo, on: fixture.service.uniqueName, at: Echo.path, .string(key), timeout: nil
    ) { answers.append((try? $0.get()).flatMap { String(value: $0) } ?? "error") }
  }
  fixture.service.suspend(fixture.client.uniqueName)
  for number in 0..<200 { ask("\(number)", fixture.client) }
  ask("other", other)
  #expect(fixture.loop.turn { answers == ["other"] })
  try fixture.settle(by: other)
  #expect(answers == ["other"])
  fixture.service.resume(fixture.client.uniqueName)
  // Calls made while the suspended ones are served wait behind them.
  for number in 200..<300 { ask("\(number)", fixture.client) }
  #expect(fixture.loop.turn { answers.count == 301 })
  #expect(answers == ["other"] + (0..<300).map { "\($0)" })
  ask("after", fixture.client)
  #expect(fixture.loop.turn { answers.last == "after" })
  #expect(fixture.service.rounds.isEmpty)
}

@Test("P9: a call that was suspended may suspend the client again again")
func suspend_bySuspendedCall_suspendsTheRest() throws {
  let fixture = try Fixture()
  var answers: [String] = []
  fixture.implementation.implement(Echo.later) { key, call in
    if key == "suspend" { fixture.service.suspend(call.sender) }
    call.reply(key)
  }
  fixture.service.suspend(fixture.client.uniqueName)
  for key in ["a", "suspend", "b"] {
    fixture.start(Echo.later, key) { answers.append((try? $0.get()) ?? "error") }
  }
  let other = try Connection.open(address: fixture.bus.address, loop: fixture.loop)
  try fixture.settle(by: other)
  fixture.service.resume(fixture.client.uniqueName)
  #expect(fixture.loop.turn { answers.count == 2 })
  try fixture.settle(by: other)
  #expect(answers == ["a", "suspend"])
  fixture.service.resume(fixture.client.uniqueName)
  #expect(fixture.loop.turn { answers.count == 3 })
  #expect(answers == ["a", "suspend", "b"])
}

@Test("L1: a suspended call counts until it is served, even if the client always has others")
func suspend_servedCalls_giveTheirSizeBack() throws {
  var limits = Connection.Limits()
  limits.waitingBytes = 200_000
  let fixture = try Fixture(serviceLimits: limits)
  fixture.service.suspend(fixture.client.uniqueName)
  let text = String(repeating: "x", count: 10_000)
  var (served, refused) = (0, 0)
  func ask() {
    fixture.start(Echo.echo, .string(text)) { result in
      if case .success = result { served += 1 } else { refused += 1 }
      if served < 100 { ask() }
    }
  }
  for _ in 0..<4 { ask() }
  try fixture.settle(by: Connection.open(address: fixture.bus.address, loop: fixture.loop))
  // One call is left each time, so that the queue never ends.
  fixture.implementation.implement(Echo.echo) { value, call in
    fixture.service.suspend(call.sender)
    call.reply(value)
    fixture.loop.timer(after: .milliseconds(1)) { fixture.service.resume(fixture.client.uniqueName) }
  }
  fixture.service.resume(fixture.client.uniqueName)
  #expect(fixture.loop.turn { served >= 100 || refused > 0 })
  #expect(refused == 0)
}

@Test("L1, L2: the suspended calls of a client are limited together to the size of one request")
func suspend_callsBeyondTheLimit_areRefused() throws {
  var limits = Connection.Limits()
  limits.waitingBytes = 8192
  limits.tooManyCalls = DBusError(name: "org.example.TooMuch", message: "too much")
  let fixture = try Fixture(serviceLimits: limits)
  fixture.service.suspend(fixture.client.uniqueName)
  var served = 0
  var refused = 0
  for number in 0..<100 {
    fixture.start(Echo.echo, .string(String(repeating: "x", count: number * 10))) { result in
      switch result {
      case .success: served += 1
      case .failure(let error):
        #expect(error == limits.tooManyCalls)
        refused += 1
      }
    }
  }
  #expect(fixture.loop.turn { refused >= 85 })
  #expect(served == 0)
  fixture.service.resume(fixture.client.uniqueName)
  #expect(fixture.loop.turn { served + refused == 100 })
  #expect(served > 4)
}

/// A service whose interface only the owner of a name may call, and two clients.
private struct RestrictedService {
  static let name: BusName = "org.example.Owner"
  let fixture: Fixture
  let other: Connection

  init() throws {
    fixture = try Fixture()
    other = try Connection.open(address: fixture.bus.address, loop: fixture.loop)
    let restricted = ImplementedInterface(Echo.interface, calledBy: Self.name)
    restricted.implement(Echo.echo) { value, call in call.reply(value) }
    fixture.service.export("/restricted", [restricted])
  }

  func ask(_ client: Connection, _ completion: @escaping (Result<Value, DBusError>) -> Void) {
    client.call(
      Echo.echo, on: fixture.service.uniqueName, at: "/restricted", .boolean(true), timeout: nil, completion)
  }
}

@Test("An interface for the owner of a name refuses others, and lets calls wait while nobody owns it")
func restricted_callsOfOthers_areRefusedOnceTheNameHasAnOwner() throws {
  let service = try RestrictedService()
  let (fixture, other) = (service.fixture, service.other)
  var answers: [String] = []
  for number in 1...2 {
    service.ask(other) { result in
      let error = #expect(throws: DBusError.self) { try result.get() }
      #expect(error?.name == .accessDenied)
      answers.append("other \(number)")
    }
  }
  service.ask(fixture.client) { answers.append((try? $0.get()) == .boolean(true) ? "owner" : "refused owner") }
  try fixture.settle(by: Connection.open(address: fixture.bus.address, loop: fixture.loop))
  #expect(answers == [])
  fixture.client.requestName(RestrictedService.name) { _ in }
  #expect(fixture.loop.turn { answers.count == 3 })
  #expect(answers.filter { $0.hasPrefix("other") } == ["other 1", "other 2"] && answers.contains("owner"))
  service.ask(other) { _ in answers.append("late") }
  #expect(fixture.loop.turn { answers.last == "late" })
  #expect(fixture.service.rounds.isEmpty && fixture.service.rounds.size == 0)
}

@Test("L2: calls that wait for the owner of a name are forgotten with their client")
func restricted_callerThatLeaves_isForgotten() throws {
  let service = try RestrictedService()
  let fixture = service.fixture
  for _ in 1...3 { service.ask(service.other) { _ in } }
  #expect(
    fixture.loop.turn { fixture.service.rounds.size > 512 })
  service.other.close()
  #expect(fixture.loop.turn { fixture.service.rounds.isEmpty })
  #expect(fixture.service.rounds.size == 0)
}
