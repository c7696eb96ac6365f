import DBusValues
import EventLoops
import TestSupport
import Testing

@testable import DBus

// The messages of a turn: their order, which of them wait, and how long turns are spread.

/// The signals and replies that the client has received, in order.
private final class Log {
  var lines: [String] = []
}

extension Fixture {
  /// Logs all signals of the service.
  fileprivate func listen() throws -> Log {
    let log = Log()
    client.subscribe(MatchRule(sender: service.uniqueName)) { message in
      let body = (try? message.body()) ?? []
      switch message.member {
      case "PropertiesChanged":
        let changed = Properties(value: body[1]) ?? [:]
        let invalidated = [String](value: body[2]) ?? []
        log.lines.append("changed \(message.path!) \(changed.keys.sorted()) \(invalidated)")
      case "InterfacesAdded":
        let values = [String: Properties](value: body[1])?[Item.name.text] ?? [:]
        log.lines.append("added \(ObjectPath(value: body[0])!) \(values["Phase"].flatMap(String.init(value:)) ?? "")")
      case "InterfacesRemoved":
        log.lines.append("removed \(ObjectPath(value: body[0])!) \([String](value: body[1])!)")
      default:
        log.lines.append("\(message.member!) \(String(value: body[0])!)")
      }
    }
    try settle()
    return log
  }
}

private enum Item {
  static let name: InterfaceName = "org.example.Item1"
  static let phase = Property<String>(name, "Phase")
  static let parent = Property<ObjectPath>(name, "Parent", emitsChanged: .const)
  static let interface = Interface(name, members: [phase, parent])
}

/// Objects `/org/example/Echo1/item/<number>`.
private final class Items: ObjectProvider {
  static let prefix: ObjectPath = "/org/example/Echo1/item"
  var phases: [UInt64: String] = [:]
  /// Called once, when a phase is read.
  var onRead: (() -> Void)?
  private let implementation = ImplementedInterface(Item.interface)

  init() {
    implementation.implement(Item.phase) { [unowned self] path in phase(path) }
    implementation.implement(Item.parent) { _ in .root }
  }

  private func phase(_ path: ObjectPath) -> String? {
    onRead.take()?()
    return path.number(below: Self.prefix).flatMap { phases[$0] }
  }

  var interfaces: [ImplementedInterface] { [implementation] }
  func contains(_ path: ObjectPath) -> Bool { phase(path) != nil }
  var paths: [ObjectPath] { phases.keys.sorted().map(Self.prefix.appending) }
}

extension Fixture {
  fileprivate func exportItems() -> Items {
    let items = Items()
    service.export(Echo.path, [implementation], isObjectManager: true)
    service.exportSubtree(Items.prefix, items)
    return items
  }
}

@Test("W2: the signals of a request are sent before its reply")
func turn_messagesMadeInAnyOrder_areSentAsSignalsThenChangesThenReplies() throws {
  let fixture = try Fixture()
  let items = fixture.exportItems()
  items.phases = [1: "old", 2: "old"]
  let log = try fixture.listen()
  fixture.implementation.implement(Echo.later) { [unowned fixture] input, call in
    call.reply(input)
    items.phases[1] = nil
    fixture.service.objectRemoved(Items.prefix.appending(1))
    items.phases[2] = "changing"
    fixture.service.propertyChanged(Items.prefix.appending(2), Item.phase)
    items.phases[3] = "waiting"
    fixture.service.objectAdded(Items.prefix.appending(3))
    try? fixture.service.emit(Echo.happened, from: Echo.path, ("one", 1))
    fixture.count += 1
    fixture.service.propertyChanged(Echo.path, Echo.count)
    fixture.service.propertyChanged(Echo.path, Echo.hint)
    fixture.service.propertyChanged(Echo.path, Echo.birth)
    items.phases[3] = "presented"
    fixture.service.propertyChanged(Items.prefix.appending(3), Item.phase)
    items.phases[2] = "changed"
    fixture.service.propertyChanged(Items.prefix.appending(2), Item.phase)
    fixture.service.propertyChanged(Echo.path, Echo.count)
    try? fixture.service.emit(Echo.happened, from: Echo.path, ("two", 2))
    fixture.service.handlers.beforeFlush = { [unowned fixture] in
      // A signal made at this point is sent with the others, once.
      fixture.service.handlers.beforeFlush = nil
      try? fixture.service.emit(Echo.happened, from: Echo.path, ("hook", 3))
    }
  }
  var replies = 0
  fixture.start(Echo.later, "") { _ in
    log.lines.append("reply")
    replies += 1
  }
  try #require(fixture.loop.turn { replies == 1 })
  #expect(
    log.lines == [
      "Happened one", "Happened two", "Happened hook", "added /org/example/Echo1/item/3 presented",
      #"changed /org/example/Echo1/item/2 ["Phase"] []"#, #"changed /org/example/Echo1 ["Count"] ["Hint"]"#,
      #"removed /org/example/Echo1/item/1 ["org.example.Item1"]"#, "reply",
    ])
}

@Test("W2: a client that reads gets the earlier changes before the reply, and the later ones of the turn after it")
func turn_changesBeforeAndAfterAReading_areSentBeforeAndAfterItsReply() throws {
  let fixture = try Fixture()
  let items = fixture.exportItems()
  items.phases = [1: "old", 2: "old"]
  let log = try fixture.listen()
  let (first, second) = (Items.prefix.appending(1), Items.prefix.appending(2))

  /// Makes changes when a phase is read, and others at the end of that turn.
  func changeWhenRead(before: @escaping () -> Void, after: @escaping () -> Void) {
    items.onRead = { [unowned fixture] in
      before()
      fixture.service.handlers.beforeFlush = { [unowned fixture] in
        fixture.service.handlers.beforeFlush = nil
        try? fixture.service.emit(Echo.happened, from: Echo.path, ("after", 2))
        after()
      }
    }
  }
  changeWhenRead { [unowned fixture] in
    try? fixture.service.emit(Echo.happened, from: Echo.path, ("before", 1))
    fixture.service.propertyChanged(Echo.path, Echo.count)
  } after: { [unowned fixture] in
    items.phases[2] = "new"
    fixture.service.propertyChanged(second, Item.phase)
  }
  fixture.client.call(PropertyAccessing.getAll, on: fixture.service.uniqueName, at: second, Item.name.text) {
    log.lines.append("read \((try? $0.get()["Phase"].flatMap(String.init(value:))) ?? "")")
  }
  try #require(fixture.loop.turn { log.lines.count == 5 })
  #expect(
    log.lines == [
      "Happened before", #"changed /org/example/Echo1 ["Count"] []"#, "read old", "Happened after",
      #"changed \#(second) ["Phase"] []"#,
    ])

  log.lines = []
  changeWhenRead {
  } after: { [unowned fixture] in
    items.phases[1] = nil
    fixture.service.objectRemoved(first)
  }
  fixture.start(ObjectManagement.getManagedObjects, ()) {
    log.lines.append("read \((try? $0.get().keys.sorted()) ?? [])")
  }
  try #require(fixture.loop.turn { log.lines.count == 3 })
  #expect(
    log.lines == ["read \([first, second])", "Happened after", #"removed \#(first) ["org.example.Item1"]"#])
}

@Test("W2: a reply about the state is sent before later changes, even in a turn with very many messages")
func turn_readingReplyInAFullTurn_isSentBeforeLaterChanges() throws {
  var limits = Connection.Limits()
  limits.outgoingBytesPerTurn = 1000
  let fixture = try Fixture(serviceLimits: limits)
  var calls: [Call<[String]>] = []
  fixture.implementation.implement(Echo.list) { _, call in calls.append(call) }
  let log = try fixture.listen()
  fixture.start(Echo.list, ()) { log.lines.append("read \((try? $0.get()) ?? [])") }
  try #require(fixture.loop.turn { !calls.isEmpty })
  fixture.loop.soon { [unowned fixture] in
    for _ in 0..<20 { try? fixture.service.emit(Echo.happened, from: Echo.path, ("before", 1)) }
    calls.removeFirst().reply(["old"])
    try? fixture.service.emit(Echo.happened, from: Echo.path, ("after", 2))
  }
  try #require(fixture.loop.turn { log.lines.count == 22 })
  #expect(log.lines.suffix(2) == [#"read ["old"]"#, "Happened after"])
}

@Test("L2: replies that are more than a turn may send are made in later turns, in their order, each once")
func turn_repliesOfManyBytes_areMadeInLaterTurns() throws {
  var limits = Connection.Limits()
  limits.outgoingBytesPerTurn = 10_000
  let fixture = try Fixture(serviceLimits: limits)
  var calls: [Call<Value>] = []
  fixture.implementation.implement(Echo.echo) { _, call in calls.append(call) }
  let texts = (0..<30).map { String(repeating: "x", count: 3000) + "\($0)" }
  var answers: [String] = []
  for _ in texts { fixture.start(Echo.echo, .byte(1)) { answers.append((try? String(value: $0.get())) ?? "") } }
  try #require(fixture.loop.turn { calls.count == texts.count })
  var madeBytes = 0
  fixture.loop.soon { [unowned fixture] in
    for (call, text) in zip(calls, texts) { call.reply(.string(text)) }
    madeBytes = fixture.service.outbox.size
  }
  try #require(fixture.loop.turn { answers.count == texts.count })
  #expect(answers == texts)
  #expect(madeBytes > limits.outgoingBytesPerTurn && madeBytes < limits.outgoingBytesPerTurn + 5000)
}

@Test func signals_thatMayWait_areSentWithTheNextTurn() throws {
  let fixture = try Fixture()
  let log = try fixture.listen()
  fixture.service.handlers.hasMoreToCome = { true }
  let before = fixture.service.transport.sentSize
  var afterOne: Int?
  var afterTwo: Int?
  fixture.loop.soon { [unowned fixture] in
    try? fixture.service.emit(Echo.happened, from: Echo.path, ("one", 1))
    fixture.loop.soon { [unowned fixture] in
      afterOne = fixture.service.transport.sentSize
      try? fixture.service.emit(Echo.happened, from: Echo.path, ("two", 2))
      fixture.loop.soon { [unowned fixture] in
        afterTwo = fixture.service.transport.sentSize
        fixture.loop.stop()
      }
    }
  }
  fixture.loop.run()
  try #require(fixture.loop.turn { log.lines == ["Happened one", "Happened two"] })
  #expect(afterOne == before)
  // The signals wait for one turn at most.
  #expect(try #require(afterTwo) > before)
}

@Test("W2: the signals of a request are sent with its reply") func signals_withAReply_doNotWait() throws {
  let fixture = try Fixture()
  let log = try fixture.listen()
  fixture.service.handlers.hasMoreToCome = { true }
  fixture.implementation.implement(Echo.later) { [unowned fixture] input, call in
    try? fixture.service.emit(Echo.happened, from: Echo.path, ("one", 1))
    call.reply(input)
  }
  var before: [String]?
  fixture.client.call(Echo.later, on: fixture.service.uniqueName, at: Echo.path, "") { _ in before = log.lines }
  try #require(fixture.loop.turn { before != nil })
  #expect(before == ["Happened one"])
}

@Test func signals_thatWait_areSentBeforeTheConnectionEnds() throws {
  let fixture = try Fixture()
  let log = try fixture.listen()
  fixture.service.handlers.hasMoreToCome = { true }
  fixture.loop.soon { [unowned fixture] in
    try? fixture.service.emit(Echo.happened, from: Echo.path, ("one", 1))
    fixture.loop.soon { [unowned fixture] in fixture.service.close() }
  }
  try #require(fixture.loop.turn { log.lines == ["Happened one"] })
}

@Test func turn_objectAddedAndRemoved_isNotAnnounced() throws {
  let fixture = try Fixture()
  let items = fixture.exportItems()
  let log = try fixture.listen()
  let path = Items.prefix.appending(1)
  items.phases[1] = "x"
  fixture.service.objectAdded(path)
  fixture.service.propertyChanged(path, Item.phase)
  items.phases[1] = nil
  fixture.service.objectRemoved(path)
  try fixture.settle()
  #expect(log.lines == [])

  // The object is removed and added again: the removal is announced first.
  items.phases[1] = "y"
  fixture.service.objectRemoved(path)
  fixture.service.objectAdded(path)
  fixture.service.propertyChanged(path, Item.phase)
  try fixture.settle()
  #expect(log.lines == [#"removed \#(path) ["org.example.Item1"]"#, "added \(path) y"])

  // The object is removed, added and removed again.
  log.lines = []
  fixture.service.objectRemoved(path)
  fixture.service.objectAdded(path)
  fixture.service.objectRemoved(path)
  fixture.service.propertyChanged(path, Item.phase)
  try fixture.settle()
  #expect(log.lines == [#"removed \#(path) ["org.example.Item1"]"#])
}

@Test func turn_propertySetByAClient_isAnnouncedBeforeTheReply() throws {
  let fixture = try Fixture()
  let log = try fixture.listen()
  let input = (Echo.name.text, "Label", Value.string("new"))
  fixture.start(PropertyAccessing.set, input) { _ in
    log.lines.append("reply")
  }
  try #require(fixture.loop.turn { log.lines.contains("reply") })
  #expect(log.lines == [#"changed /org/example/Echo1 ["Label"] []"#, "reply"])
}

@Test func objectManager_listsTheObjectsBelowIt() throws {
  let fixture = try Fixture()
  let items = fixture.exportItems()
  items.phases = [7: "a", 10: "b"]
  let objects = try fixture.call(ObjectManagement.getManagedObjects, ())
  #expect(Set(objects.keys) == [Items.prefix.appending(7), Items.prefix.appending(10)])
  #expect(objects[Items.prefix.appending(7)]?[Item.name.text]?["Phase"] == .string("a"))

  let node = try fixture.call(Introspection.introspect, (), at: Echo.path)
  #expect(node.contains(#"<node name="item"/>"#))
  #expect(node.contains(#"<interface name="org.freedesktop.DBus.ObjectManager">"#))
  let list = try fixture.call(Introspection.introspect, (), at: Items.prefix)
  #expect(list.contains(#"<node name="10"/>"#) && list.contains(#"<node name="7"/>"#))
  let item = try fixture.call(Introspection.introspect, (), at: Items.prefix.appending(7))
  #expect(item.contains("org.example.Item1"))
  #expect(!item.contains("ObjectManager"))
  #expect(
    try fixture.call(PropertyAccessing.get, (Item.name.text, "Phase"), at: Items.prefix.appending(7)) == .string("a"))
  #expect(fixture.error("Introspect", of: Introspection.name, at: Items.prefix.appending(8))?.name == .unknownObject)
  items.phases = [:]
  #expect(try fixture.call(ObjectManagement.getManagedObjects, ()).isEmpty)
  #expect(try !fixture.call(Introspection.introspect, (), at: Items.prefix).contains("<node name"))
}

@Test func objectManager_ofManyObjects_listsAll() throws {
  let fixture = try Fixture()
  let items = fixture.exportItems()
  for number in 0..<2048 { items.phases[UInt64(number)] = "presented" }
  #expect(try fixture.call(ObjectManagement.getManagedObjects, ()).count == 2048)
}

@Test("L2: no input delays the replies to other clients")
func turn_manyCalls_areSpreadOverTurns() throws {
  let fixture = try Fixture()
  var answered = 0
  for _ in 0..<2000 {
    fixture.start(Echo.echo, .byte(1)) { _ in answered += 1 }
  }
  var answeredWhenDue: Int?
  var turns = 0
  func again() {
    turns += 1
    if answered < 2000 { fixture.loop.soon(again) }
  }
  fixture.loop.soon(again)
  fixture.loop.timer(after: .milliseconds(1)) { answeredWhenDue = answered }
  try #require(fixture.loop.turn { answered == 2000 && answeredWhenDue != nil })
  // Runs the last closure, which otherwise keeps the fixture alive.
  fixture.loop.turn(wait: .zero)
  // Each connection handles at most 64 messages in a turn, so this takes many turns, with the timer in between.
  #expect(turns > 2000 / 64)
  #expect(answeredWhenDue ?? 2000 < 2000)
}

/// The cost of a call: the time to serve it, a large reply, or that time and large arguments.
private enum LongCall: CaseIterable { case time, reply, timeAndArguments }

@Test(
  "L2: a client that makes many long calls at once is overtaken by others, and answered in order",
  arguments: LongCall.allCases)
private func turn_longCallsOfOneClient_areOvertaken(_ kind: LongCall) throws {
  let fixture = try Fixture()
  let other = try Connection.open(address: fixture.bus.address, loop: fixture.loop)
  fixture.implementation.implement(Echo.later) { [unowned fixture] key, call in
    let end = fixture.loop.now + (kind == .reply ? .zero : .milliseconds(5))
    while fixture.loop.now < end {}
    call.reply(key.prefix { $0 != "x" } + String(repeating: "x", count: kind == .reply ? 100_000 : 0))
  }
  // The arguments have more bytes than the sockets between the bus and its clients hold, and fewer than the limit of a client.
  let rest = String(repeating: "x", count: kind == .timeAndArguments ? 70_000 : 0)
  var answers: [Substring] = []
  var before: Int?
  for number in 0..<50 {
    fixture.start(Echo.later, "\(number)" + rest) { answers.append(((try? $0.get()) ?? "").prefix { $0 != "x" }) }
  }
  other.call(Echo.echo, on: fixture.service.uniqueName, at: Echo.path, .byte(1), timeout: nil) { _ in
    before = answers.count
  }
  for client in [fixture.client, other] {
    client.flush()
    // The bus has passed on the earlier calls.
    _ = try client.callAndWait(Bus.getID, on: Bus.name, at: Bus.path, ())
  }
  #expect(fixture.loop.turn { answers.count == 50 && before != nil })
  #expect(answers == (0..<50).map { "\($0)" })
  #expect(before ?? 50 < 25)
}

@Test("L2: an answer comes after the calls that its sender has made before it, although those wait")
func turn_answerBehindCalls_isHandledAfterThem() throws {
  let fixture = try Fixture()
  let other = ImplementedInterface(Echo.interface)
  var order: [String] = []
  // The client calls twice while it serves a call, and then answers it.
  other.implement(Echo.echo) { [unowned fixture] value, call in
    for key in ["a", "b"] { fixture.start(Echo.later, key) { _ in } }
    call.reply(value)
  }
  fixture.client.export(Echo.path, [other])
  fixture.implementation.implement(Echo.later) { key, call in
    order.append(key)
    call.reply(key)
  }
  fixture.service.call(Echo.echo, on: fixture.client.uniqueName, at: Echo.path, .byte(1)) { _ in order.append("answer")
  }
  #expect(fixture.loop.turn { order.count == 3 })
  #expect(order == ["a", "b", "answer"])
}
