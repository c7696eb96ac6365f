import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Clients that make wrong, huge or malformed calls, which end nothing and delay nobody (L2).

extension Session {
  /// Calls any method with any arguments.
  fileprivate func error(_ member: MemberName, _ body: [Value]) throws -> DBusError? {
    let message = try OutgoingMessage.call(
      member, of: CoordinatorInterface.name, on: CoordinatorNames.bus, at: CoordinatorNames.object, body)
    var result: Result<Message, DBusError>?
    client.call(message, timeout: nil) { result = $0 }
    try wait("\(member) is answered") { result != nil }
    guard case .failure(let error)? = result else { return nil }
    return error
  }
}

@Test("L2: calls with wrong signatures, methods and objects fail with errors that say what is allowed")
func badClient_wrongSignatures_areClearErrors() throws {
  let session = try Session()
  let concurrent = try ConcurrentClient(session)
  let watcher = try session.watch()
  let none = Properties().value
  for body in [
    [], [.string("a")], [.string("a"), .string("b")], [.string("a"), .int32(1), none],
    [.string("a"), .string("b"), none, none], [.string("a"), .string("b"), ["a": "b"].value],
    [.variant(.string("a")), .string("b"), none],
  ] as [[Value]] {
    let error = try session.error("Present", body)
    #expect(error?.name == .invalidArgs)
    #expect(error?.message.contains("binding") == true, "\(error?.message ?? "")")
  }
  for method in CoordinatorInterface.interface.members {
    guard case .method(let name, let inputs, _, _, _) = method, !inputs.isEmpty else { continue }
    #expect(try session.error(name, [.double(0)])?.name == .invalidArgs, "\(name)")
  }
  #expect(try session.error("Nothing", [])?.name == .unknownMethod)
  let client = session.client
  for (path, interface, name) in [
    ("/", CoordinatorInterface.name, ErrorName.unknownInterface),
    ("/nowhere", CoordinatorInterface.name, .unknownObject),
    ("/org/navd/Coordinator1", "org.example.Nothing", .unknownInterface),
    ("/org/navd/Coordinator1/presentation/1", PresentationInterface.name, .unknownObject),
    ("/org/navd/Coordinator1/presentation/99999999999999999999999", PresentationInterface.name, .unknownObject),
    ("/org/navd/Coordinator1/presentation/x", PresentationInterface.name, .unknownObject),
  ] as [(ObjectPath, InterfaceName, ErrorName)] {
    var result: Result<Message, DBusError>?
    client.call(
      try OutgoingMessage.call("Dismiss", of: interface, on: CoordinatorNames.bus, at: path, [none]), timeout: nil
    ) {
      result = $0
    }
    try session.wait("the call is answered") { result != nil }
    #expect(throws: DBusError.self) { try result?.get() }
    if case .failure(let error)? = result { #expect(error.name == name, "\(path)") }
  }
  #expect(watcher.events.allSatisfy { $0.json["binding"]?.string?.hasPrefix("concurrent") == true })
  try concurrent.stop(session)
}

@Test("L2: unknown options, and options of another type, are refused by name")
func badClient_unknownOptions_areRefusedByName() throws {
  let session = try Session()
  let serial = try session.state()["serial"]
  func check(_ refusal: CoordinatorError?, _ word: String) {
    #expect(refusal?.name == .invalidArgument)
    #expect(refusal?.message.contains(word) == true, "\(refusal?.message ?? "none")")
  }
  typealias Rows = CoordinatorInterface
  let unknown: Properties = ["colour": .string("red")]
  check(try session.refusal(Rows.present, ("a", "", unknown)), "colour")
  check(try session.refusal(Rows.toggle, ("a", "", unknown)), "colour")
  check(try session.refusal(Rows.update, ("a", [:], unknown)), "colour")
  check(try session.refusal(Rows.dismiss, ("a", unknown)), "colour")
  check(try session.refusal(Rows.dismissAll, ["colour": .string("red"), "all": .boolean(true)]), "colour")
  check(try session.refusal(Rows.select, ("a", "b", unknown)), "colour")
  check(try session.refusal(Rows.deselect, ("a", "b", unknown)), "colour")
  check(try session.refusal(Rows.toggleSelection, ("a", "b", unknown)), "colour")
  check(try session.refusal(Rows.push, ("a", "b", "", unknown)), "colour")
  check(try session.refusal(Rows.pop, ("a", 1, unknown)), "colour")
  check(try session.refusal(Rows.popTo, ("a", "b", unknown)), "colour")
  check(try session.refusal(Rows.setPath, ("a", [], unknown)), "colour")
  check(try session.refusal(Rows.setPath, ("a", [Structure("b", "", unknown)], [:])), "colour")
  check(try session.refusal(Rows.apply, ([], unknown)), "colour")
  check(try session.refusal(Rows.registerPresenter, ("a", "/a", unknown)), "colour")
  check(try session.refusal(Rows.history, (0, unknown)), "colour")
  for (name, value) in [
    ("destination", .int32(1)), ("value", .string("x")), ("value", ["a": "b"].value), ("timeout", .int32(-1)),
    ("timeout", .string("3s")), ("owned", .uint32(1)), ("if-busy", .string("maybe")), ("if-busy", .boolean(true)),
    ("priority", .int64(1 << 40)), ("command", .string("true")), ("command", [String]().value), ("command", [""].value),
    ("environment", ["": "x"].value), ("environment", ["a=b": "x"].value), ("expected-presentation", .string("/")),
    ("animated", .string("yes")), ("tag", .string("")), ("tag", .string("a")),
    ("destination", .string("")), ("destination", .string("../up")), ("destination", .string(".hidden")),
  ] as [(String, Value)] {
    check(try session.refusal(Rows.present, ("a", "", .state.merging([name: value]) { $1 })), name)
  }
  check(try session.refusal(Rows.present, ("a", "", .state.merging(["from": .string("a")]) { $1 })), "from")
  for (binding, word) in [
    ("", "empty"), ("1a", "1"), ("a..b", "."), ("a.", "."), ("a[01]", "01"), ("a[", "["), ("a[-1]", "-"), ("ä", "ä"),
    ("a b", " "), ("a\nb", ""), (String(repeating: "a", count: 256), "255"),
  ] {
    let refusal = try session.refusal(Rows.present, (binding, "", [:]))
    #expect(refusal?.name == .invalidBinding, "\(binding)")
    #expect(refusal?.message.contains(word) == true, "\(refusal?.message ?? "none")")
  }
  #expect(try session.state()["serial"] == serial)
}

@Test("L2: errors that quote an argument are short, however long the argument")
func badClient_longNames_areShortInErrors() throws {
  let session = try Session()
  typealias Rows = CoordinatorInterface
  // The argument may also be a single character with an unlimited number of combining marks.
  for unit in ["x", "e\u{301}", "\u{301}"] {
    let long = String(repeating: unit, count: 100_000)
    let path = try #require(ObjectPath("/a" + String(repeating: "/b", count: 50_000)))
    let refused: [CoordinatorError?] = [
      try session.refusal(Rows.present, ("a", "", [long: .byte(1)])),
      try session.refusal(Rows.present, ("a", "", ["if-busy": .string(long)])),
      try session.refusal(Rows.present, (long, "", [:])),
      try session.refusal(Rows.present, ("a", "", ["expected-id": .string(long)])),
      try session.refusal(Rows.dismissAll, ["root": .string(long)]),
      try session.refusal(Rows.dismissAll, ["root": .string("a" + String(repeating: ".b", count: 100))]),
      try session.refusal(Rows.members, (long, "")), try session.refusal(Rows.members, ("all", long)),
      try session.refusal(Rows.wait, (path, long)), try session.refusal(Rows.wait, (path, "gone")),
      try session.refusal(Rows.apply, ([TransactionRequest(long, [])], [:])),
      try session.refusal(Rows.containerValue, ("", long)), try session.refusal(Rows.unregisterPresenter, long),
      try session.refusal(Rows.registerPresenter, (long, "/x", [:])),
      try session.refusal(Rows.history, (0, [long: .byte(1)])),
    ]
    for refusal in refused {
      #expect((1...1500).contains(refusal?.message.utf8.count ?? 0), "\(String(describing: refusal).prefix(200))")
    }
    let errors: [DBusError?] = [
      try session.error(PropertyAccessing.get, (Rows.name.text, long)),
      try session.error(PropertyAccessing.getAll, long), try session.error(Rows.getState, (), at: path),
    ]
    for error in errors {
      #expect((1...1500).contains(error?.message.utf8.count ?? 0), "\(String(describing: error).prefix(200))")
    }
  }
}

@Test("L2: values of 10 MB are refused with the name of the limit, and other clients are served")
func badClient_hugeValues_areRefused() throws {
  let session = try Session()
  let concurrent = try ConcurrentClient(session)
  let memory = Session.memory(of: try #require(session.navd?.processID))
  for value in [
    .bytes([UInt8](repeating: 7, count: 10 << 20)), .string(String(repeating: "x", count: 10 << 20)),
    .bytes([UInt8](repeating: 7, count: 2 << 20)),
  ] as [Value] {
    for _ in 0..<3 {
      let refusal = try session.refusal(
        CoordinatorInterface.present, ("a", "", .state.merging(["value": ["large": value].value]) { $1 }))
      #expect(refusal?.name == .limitExceeded)
      #expect(refusal?.message.contains("limit “") == true, "\(refusal?.message ?? "none")")
    }
  }
  let refusal = try session.refusal(
    CoordinatorInterface.present, ("a", String(repeating: "x", count: 10 << 20), .state))
  #expect(refusal?.name == .limitExceeded)
  #expect(try session.refusal(CoordinatorInterface.present, (String(repeating: "x", count: 10 << 20), "", [:])) != nil)
  #expect(
    try session.refusal(CoordinatorInterface.closed, ("/", ["x": .bytes([UInt8](repeating: 7, count: 10 << 20))]))
      != nil)
  #expect(Session.memory(of: try #require(session.navd?.processID)) - memory < 64 << 20)
  try concurrent.stop(session)
}

@Test("L2, W1: deeply nested values leave the state readable")
func badClient_deepValues_leaveTheStateReadable() throws {
  let session = try Session()
  let watcher = try session.watch()
  var refused = 0
  for depth in 1...62 {
    let value = (0..<depth).reduce(Value.byte(1)) { value, _ in .variant(value) }
    let options = Properties.state.merging(["value": ["x": value].value]) { $1 }
    let answer = session.begin(CoordinatorInterface.present, ("deep[\(depth)]", "", options))
    do {
      _ = try session.answer(to: answer)
      #expect(watcher.lines.last == "presented deep[\(depth)]")
    } catch let error as DBusError {
      // The value is too deep for the library of the sender, or navd refuses it.
      refused += 1
      #expect([.invalidArgs, CoordinatorError.Name.limitExceeded.errorName].contains(error.name), "\(error)")
    }
    _ = try session.state()
    _ = try session.call(ObjectManagement.getManagedObjects, ())
    _ = try session.call(CoordinatorInterface.get, "deep[\(depth)]")
  }
  #expect(watcher.hasAllSerials)
  #expect(refused > 0)
  // A message would be as large as D-Bus allows, or larger, if there were no limit.
  #expect(watcher.log.filter { $0.hasPrefix("InterfacesAdded") }.count == watcher.events.count)
}

@Test("L2: 65 levels of nesting, invalid names and invalid text disconnect their sender and no other client")
func badClient_againstTheProtocol_isDisconnected() throws {
  let session = try Session()
  let concurrent = try ConcurrentClient(session)
  var nested: [UInt8] = []
  for _ in 0..<65 { nested += [1, UInt8(ascii: "v"), 0] }
  nested += [1, UInt8(ascii: "y"), 0, 7]
  var text = Marshalled()
  text.uint32(2)
  text.bytes += [0xff, 0xfe, 0]
  for (member, interface, path, signature, body) in [
    ("Present", "org.navd.Coordinator1", "/org/navd/Coordinator1", "v", nested),
    ("Get", "org.navd.Coordinator1", "/org/navd/Coordinator1", "s", text.bytes),
    ("No.Member", "org.navd.Coordinator1", "/org/navd/Coordinator1", "", []),
    ("Get", "nointerface", "/org/navd/Coordinator1", "", []),
    ("Get", "org.navd.Coordinator1", "no/path//at/all", "", []),
    ("Get", "org.navd.Coordinator1", "/org/navd/Coordinator1", "(((", []),
  ] as [(String, String, String, String, [UInt8])] {
    let client = try RawClient(session.bus)
    _ = try? client.send(
      member: member, interface: interface, to: "org.navd.Coordinator1", at: path, signature: signature, body: body)
    #expect(client.isThrownOut(), "\(member) \(signature)")
  }
  try concurrent.stop(session)
}

@Test("L2: calls with NO_REPLY_EXPECTED are executed and not answered")
func badClient_expectingNoReply_getsNone() throws {
  let session = try Session(destinations: ["quiet": "state = true\n"])
  let watcher = try session.watch()
  let client = try RawClient(session.bus)
  var empty = Marshalled()
  empty.string("quiet")
  empty.string("1")
  empty.uint32(0)
  empty.align(8)
  let destination = "org.navd.Coordinator1"
  try client.send(
    flags: 1, member: "Present", interface: destination, to: destination, at: "/org/navd/Coordinator1",
    signature: "ssa{sv}", body: empty.bytes)
  try client.send(flags: 1, member: "Nonsense", interface: nil, to: destination, at: "/org/navd/Coordinator1")
  try client.send(flags: 1, member: "Wait", interface: nil, to: destination, at: "/org/navd/Coordinator1")
  let last = try client.send(member: "Ping", interface: nil, to: destination, at: "/org/navd/Coordinator1")
  // The first reply that is received belongs to the last call.
  try session.wait("the call is executed") { watcher.lines == ["presented quiet 1"] }
  #expect(try client.answer().replySerial == last)
}

@Test("L2: navd survives clients that disconnect in the middle of a message or of a pending call")
func badClient_disconnectingInTheMiddle_isSurvived() throws {
  let session = try Session()
  let concurrent = try ConcurrentClient(session)
  let presentation = try session.present("long")
  var get = Marshalled()
  get.string("long")
  let message = RawClient.message(
    serial: 2, member: "Get", interface: "org.navd.Coordinator1", to: "org.navd.Coordinator1",
    at: "/org/navd/Coordinator1", signature: "s", body: get.bytes)
  for share in stride(from: 0, through: message.count, by: 16) {
    try RawClient(session.bus).write(Array(message[..<share]))
  }
  for _ in 0..<50 {
    let client = try session.connect()
    try client.send(
      CoordinatorInterface.getState, on: CoordinatorNames.bus, at: CoordinatorNames.object, ())
    client.call(
      CoordinatorInterface.wait, on: CoordinatorNames.bus, at: CoordinatorNames.object, (presentation, "gone"),
      timeout: nil
    ) { _ in }
    client.close()
  }
  let end = session.begin(CoordinatorInterface.wait, (presentation, "gone"))
  try session.dismiss("long")
  #expect(try session.answer(to: end).0 == "dismissed")
  try concurrent.stop(session)
}
