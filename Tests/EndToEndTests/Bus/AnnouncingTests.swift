import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Announcements on the bus: the signals, objects and properties of one turn, in their order (W2).

private typealias Rows = CoordinatorInterface

@Test("W2: signals are sent before the reply, and an object is added with its final phase")
func announcing_ofARequest_isBeforeItsReply() throws {
  let session = try Session()
  let watcher = try session.watch()
  let (path, number, _, serial) = try session.call(Rows.present, ("fact", "1", .state))
  #expect(watcher.log == ["presented fact 1", "InterfacesAdded \(path) presented", "reply Present"])
  #expect(watcher.events.last?.serial == serial && Handle(path: path)?.number == number)

  watcher.clear()
  try session.present("fact", "1", ["title": .string("T"), "value": ["n": Value.int32(1)].value])
  let changed = "PropertiesChanged \(path) org.navd.Presentation1"
  // Each changed property comes once, with its value at the end of the turn, and no other property comes.
  #expect(
    watcher.log == ["updated fact 1", "\(changed) Title=\"T\" Value={\"n\":1}", "reply Present"])

  watcher.clear()
  try session.call(Rows.update, ("fact", ["n": .int32(2)], [:]))
  #expect(watcher.log == ["updated fact 1", "\(changed) Value={\"n\":2}", "reply Update"])

  watcher.clear()
  let (_, last) = try session.call(Rows.dismiss, ("fact", [:]))
  #expect(watcher.log == ["dismissed fact 1 dismissed", "InterfacesRemoved \(path)", "reply Dismiss"])
  #expect(watcher.events.last?.serial == last)

  watcher.clear()
  let (isChanged, same) = try session.call(Rows.dismiss, ("fact", [:]))
  #expect(!isChanged)
  #expect(same == last)
  #expect(watcher.log == ["reply Dismiss"])
}

@Test("W2: two clients receive the same signals in the same order")
func announcing_toTwoWatchers_isTheSame() throws {
  let session = try Session(destinations: ["sleeper": "command = [\"sleep\", \"60\"]\n"])
  let one = try session.watch()
  let other = try session.watch(on: try session.connect())
  for number in 0..<20 {
    try session.present("slot[\(number % 3)]", "\(number)", number % 2 == 0 ? ["destination": .string("sleeper")] : [:])
  }
  try session.call(Rows.dismissAll, ["all": .boolean(true)])
  func isOver(_ watcher: Watcher) -> Bool { watcher.lines.filter { $0.hasPrefix("dismissed") }.count == 20 }
  try session.wait("both have received all signals") { isOver(one) && isOver(other) }
  #expect(one.events == other.events)
  #expect(one.hasAllSerials)
  #expect(session.processes() == [])
}

@Test("An item that starts and ends within one turn is announced by its events, but never as an object")
func announcing_ofAnItemThatEndsInItsTurn_hasNoObject() throws {
  let session = try Session()
  let watcher = try session.watch()
  // Both requests are in the socket before navd reads.
  session.navd?.send(SIGSTOP)
  let present = session.begin(Rows.present, ("fact", "1", .state))
  let dismiss = session.begin(Rows.dismiss, ("fact", [:]))
  let get = session.begin(Rows.get, "fact")
  session.loop.turn(wait: .zero)
  // The bus has forwarded both requests when it answers a later call.
  var isTaken = false
  session.client.call(Bus.getID, on: Bus.name, at: Bus.path, ()) { _ in isTaken = true }
  try session.wait("the bus has forwarded them") { isTaken }
  session.navd?.send(SIGCONT)
  let (path, _, changed, first) = try session.answer(to: present)
  let (isDismissed, second) = try session.answer(to: dismiss)
  #expect(changed && isDismissed)
  #expect(second > first)
  #expect(try session.answer(to: get).0 == .root)
  #expect(watcher.lines == ["presented fact 1", "dismissed fact 1 dismissed"])
  #expect(
    watcher.log.filter { $0.contains("\(path)") }.isEmpty || watcher.log.filter { $0.contains("\(path)") }.count == 2)
  #expect(try session.ending(of: path).reason == "dismissed")
}

@Test("An object is added with its current phase, and each later phase is a property change")
func announcing_ofACommand_announcesEachPhase() throws {
  let session = try Session(destinations: ["fact": JournaledCommand.destination(endingAfter: 50)])
  let watcher = try session.watch()
  let path = try session.present("fact", "1")
  try session.wait(for: "start 1", of: "fact")
  // The property would change only once if the item were dismissed in the turn in which it is presented.
  try session.wait("it is presented") { watcher.log.last?.contains("Phase=\"presented\"") == true }
  try session.dismiss("fact")
  _ = try session.ending(of: path)
  let changed = "PropertiesChanged \(path) org.navd.Presentation1 Phase="
  // The process and the time differ at each run.
  let log = watcher.log.map { line in
    line.split(separator: " ").filter { !$0.hasPrefix("Pid=") && !$0.hasPrefix("Since=") }.joined(separator: " ")
  }
  #expect(
    log == [
      "phase fact 1 presenting", "InterfacesAdded \(path) presenting", "reply Present",
      "presented fact 1", "\(changed)\"presented\"",
      "phase fact 1 dismissing", "\(changed)\"dismissing\"", "reply Dismiss",
      "dismissed fact 1 dismissed", "InterfacesRemoved \(path)", "reply Wait",
    ])
}

@Test("GetManagedObjects and the properties agree with GetState")
func announcing_objects_agreeWithTheState() throws {
  let session = try Session()
  let other = try session.connect()
  let parent = try session.present("counter", "", ["title": .string("Counter"), "style": .string("sheet")])
  let child = try session.present(
    "counter.fact", "7", ["value": ["n": Value.int32(7)].value, "owned": .boolean(true)], by: other)
  let objects = try session.call(ObjectManagement.getManagedObjects, ())
  #expect(Set(objects.keys) == [parent, child])
  let properties = try #require(objects[child]?[PresentationInterface.name.text])
  #expect(properties["Binding"] == .string("counter.fact"))
  #expect(properties["Id"] == .string("7"))
  #expect(properties["Parent"] == .objectPath(parent))
  #expect(properties["Phase"] == .string("presented"))
  #expect(properties["Owner"] == .string(other.uniqueName.text))
  #expect(properties["Value"].flatMap { Properties(value: $0) } == ["n": .int32(7)])
  #expect(properties.count == 23)
  #expect(try session.call(PropertyAccessing.getAll, PresentationInterface.name.text, at: child) == properties)
  #expect(
    try session.call(PropertyAccessing.getAll, PresentationInterface.name.text, at: parent)["Parent"]
      == .objectPath(.root))
  for (name, value) in properties {
    #expect(try session.call(PropertyAccessing.get, (PresentationInterface.name.text, name), at: child) == value)
  }
  let entries = try session.state()["presentations"]?.array
  #expect(entries?.count == 2)
  #expect(entries?.last?["parent"]?.unsigned == CoordinatorNames.number(of: parent))
  #expect(entries?.last?["owner"]?.string == other.uniqueName.text)
  #expect(entries?.first?["style"]?.string == "sheet")

  let error = try session.error(
    PropertyAccessing.set, (PresentationInterface.name.text, "Title", .string("X")), at: child)
  #expect(error?.name == .propertyReadOnly)
  #expect(
    try session.error(PropertyAccessing.get, (PresentationInterface.name.text, "Nothing"), at: child)?.name
      == .unknownProperty)
  #expect(try session.error(PropertyAccessing.getAll, "org.example.Nothing", at: child)?.name == .unknownInterface)
}

@Test("The coordinator's properties are those of the contract")
func announcing_coordinatorProperties_areThoseOfTheContract() throws {
  let session = try Session()
  try session.present("fact")
  let all = try session.call(PropertyAccessing.getAll, CoordinatorInterface.name.text)
  #expect(all["Version"] == .uint32(2))
  #expect(all["Release"].flatMap { String(value: $0) } == Release.version)
  #expect(all["Serial"] == .uint64(1))
  let limits = try #require(all["Limits"].flatMap { [String: UInt64](value: $0) })
  for name in [
    "text", "value", "request", "transaction", "items", "items-per-client", "state", "stack", "queue", "defaults",
    "entries", "remembered", "waits", "parked",
  ] {
    #expect(limits[name] ?? 0 > 0, "\(name)")
  }
  let diagnosis = try session.call(Rows.diagnosis, ())
  #expect(diagnosis[Diagnosis.keys.limits] == limits.mapValues(\.value))
  #expect(Set(all.keys) == ["Version", "Release", "Serial", "Limits"])
}

@Test("Match rules can select the binding: it is the first argument of its signals")
func announcing_signals_canBeMatchedByTheirBinding() throws {
  let session = try Session()
  let other = try session.connect()
  var seen: [String] = []
  var isReady = false
  other.subscribe(
    MatchRule(sender: CoordinatorNames.bus, path: CoordinatorNames.object, arg0: "b"), ready: { _ in isReady = true }
  ) {
    seen.append($0.member?.text ?? "")
  }
  try session.wait("the match rule is installed") { isReady }
  for binding in ["a", "b", "c"] { try session.present(binding, "", [:], by: other) }
  for binding in ["a", "b", "c"] { try session.dismiss(binding, [:], by: other) }
  #expect(seen == ["Presented", "Dismissed"])
}
