import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Objects of groups, stacks, holds and presentations, as clients of the bus see them.

private typealias Rows = CoordinatorInterface

extension Session {
  fileprivate func properties(of interface: InterfaceName, at path: ObjectPath) throws -> Properties {
    try call(PropertyAccessing.getAll, interface.text, at: path)
  }
}

@Test("Groups, stacks and holds are objects under the same ObjectManager, with the content of the state")
func containerObjects_haveTheState() throws {
  let session = try Session()
  try session.call(Rows.select, ("notes[3].panels", "a", .state))
  try session.call(Rows.select, ("notes[3].panels", "b", .state.merging(["if-busy": .string("queue")]) { $1 }))
  try session.call(Rows.push, ("main", "first", "1", .state))
  try session.call(Rows.push, ("main", "second", "2", .state))
  try session.call(Rows.hold, ("dnd", ["message": .string("A talk")]))
  let objects = try session.call(ObjectManagement.getManagedObjects, ())
  let group: ObjectPath = "/org/navd/Coordinator1/group/notes_5b3_5d_2epanels"
  let stack: ObjectPath = "/org/navd/Coordinator1/stack/main"
  let hold: ObjectPath = "/org/navd/Coordinator1/hold/dnd"
  #expect(
    objects[group]?[GroupInterface.name.text] == [
      "Name": .string("notes[3].panels"), "Selection": .string("a"), "Tags": ["a", "b"].value,
      "Titles": [String: String]().value, "Queue": ["b"].value,
      "Hidden": [String]().value,
    ])
  #expect(
    objects[stack]?[StackInterface.name.text] == [
      "Name": .string("main"), "Path": ["first", "second"].value, "Ids": ["1", "2"].value,
    ])
  let held = try #require(objects[hold]?[HoldInterface.name.text])
  #expect(held["Name"] == .string("dnd") && held["Holders"] == .uint32(1) && held["Messages"] == ["A talk"].value)
  #expect(UInt64(value: held["Since"] ?? .uint64(0)) ?? 0 > 0)
  for (interface, path) in [(GroupInterface.name, group), (StackInterface.name, stack), (HoldInterface.name, hold)] {
    #expect(try session.properties(of: interface, at: path) == objects[path]?[interface.text])
  }
  // No object has another spelling of its path, or a name that nothing has.
  for path in ["group/notes_5B3_5D_2epanels", "group/main", "stack/dnd", "hold/_", "hold/_64nd"] {
    let absent = try #require(ObjectPath("\(CoordinatorNames.object)/\(path)"))
    #expect(try session.error(PropertyAccessing.getAll, "", at: absent)?.name == .unknownObject, "\(path)")
  }
}

@Test(
  "The objects of groups, stacks and holds are announced to clients that never read them, and to those that have outlived a navd"
)
func containerObjects_areAnnounced() throws {
  let session = try Session()
  let watcher = try session.watch()
  func containers() -> [String] {
    defer { watcher.clear() }
    return watcher.log.filter { $0.contains("/group/") || $0.contains("/stack/") || $0.contains("/hold/") }
  }
  let (group, stack) = ("\(ContainerObjects.groups)/panels", "\(ContainerObjects.stacks)/main")
  let hold = "\(ContainerObjects.holds)/dnd"
  try session.call(Rows.select, ("panels", "a", .state))
  try session.call(Rows.push, ("main", "first", "1", .state))
  #expect(containers() == ["InterfacesAdded \(group) ", "InterfacesAdded \(stack) "])
  try session.stop(SIGKILL)
  try session.start()
  watcher.clear()
  try session.call(Rows.select, ("panels", "b", .state))
  #expect(
    containers() == ["PropertiesChanged \(group) org.navd.Group1 Queue=[] Selection=\"b\" Tags=[\"b\"]"])
  try session.call(Rows.push, ("main", "second", "2", .state))
  #expect(containers() == ["PropertiesChanged \(stack) org.navd.Stack1 Ids=[\"1\",\"2\"] Path=[\"first\",\"second\"]"])
  try session.call(Rows.popTo, ("main", "", [:]))
  #expect(containers() == ["InterfacesRemoved \(stack)"])
  try session.call(Rows.push, ("main", "first", "1", .state))
  #expect(containers() == ["InterfacesAdded \(stack) "])

  let cookie = try session.call(Rows.hold, ("dnd", [:]))
  #expect(containers() == ["InterfacesAdded \(hold) "])
  let second = try session.call(Rows.hold, ("dnd", ["message": .string("A talk")]))
  #expect(containers().first?.contains("Holders=2 Messages=[\"A talk\"]") == true)
  for cookie in [cookie, second] { try session.call(Rows.releaseHold, ("dnd", cookie)) }
  #expect(containers().last == "InterfacesRemoved \(hold)")

  try session.call(Rows.deselect, ("panels", "", [:]))
  #expect(containers().last == "InterfacesRemoved \(group)")
}

@Test("A presentation's object has its output, question, time, process and holds, and tells when they change")
func presentationObject_hasWhatTheStateHas() throws {
  let session = try Session(destinations: ["fact": "command = [\"sleep\", \"60\"]\nholds = { dnd = \"postpone\" }\n"])
  let watcher = try session.watch()
  func changes(at path: ObjectPath) -> [String] {
    watcher.log.filter { $0.hasPrefix("PropertiesChanged \(path) ") }
  }
  let cookie = try session.call(Rows.hold, ("dnd", [:]))
  let path = try session.present("fact", "1", ["output": .string("DP-1")])
  let waiting = try session.properties(of: PresentationInterface.name, at: path)
  #expect(waiting["Phase"] == .string("waiting") && waiting["HeldBy"] == ["dnd"].value)
  #expect(waiting["Output"] == .string("DP-1") && waiting["Since"] == .uint64(0) && waiting["Pid"] == .uint64(0))
  #expect(waiting["Asking"] == .boolean(false) && waiting["Message"] == .string("") && waiting["Unit"] == .string(""))
  try session.call(Rows.releaseHold, ("dnd", cookie))
  try session.wait("it is presented") { changes(at: path).contains { $0.contains("Phase=\"presented\"") } }
  #expect(changes(at: path).contains { $0.contains("HeldBy=[]") })
  let presented = try session.properties(of: PresentationInterface.name, at: path)
  let entry = try session.state()["presentations"]?.array?.first
  #expect(presented["Since"].flatMap { UInt64(value: $0) } == entry?["since"]?.unsigned)
  let pid = try #require(entry?["pid"]?.unsigned)
  #expect(presented["Pid"] == .uint64(pid) && presented["HeldBy"] == [String]().value)
  #expect(changes(at: path).contains { $0.contains("Pid=\(pid)") && !$0.contains("Unit=") })
  #expect(changes(at: path).contains { $0.contains("Since=\(entry?["since"]?.unsigned ?? 0)") })
  watcher.clear()
  try session.present("fact", "1", ["output": .string("DP-2")])
  #expect(changes(at: path) == ["PropertiesChanged \(path) org.navd.Presentation1 Output=\"DP-2\""])
}

@Test("A group tells the titles of its tags, and what is queued says so: a panel switcher needs nothing else")
func containerObjects_group_hasTitles() throws {
  let session = try Session(destinations: [
    "mixer": "state = true\ngroup = \"panels\"\ntitle = \"Sound\"\n", "wifi": "state = true\ngroup = \"panels\"\n",
  ])
  let group: ObjectPath = "/org/navd/Coordinator1/group/panels"
  func titles() throws -> Value? { try session.properties(of: GroupInterface.name, at: group)["Titles"] }
  #expect(try titles() == ["mixer": "Sound"].value)
  let watcher = try session.watch()
  try session.present("mixer")
  let wifi = try session.present("wifi", "", ["title": .string("Net"), "if-busy": .string("queue")])
  #expect(try titles() == ["mixer": "Sound", "wifi": "Net"].value)
  #expect(watcher.log.contains { $0.hasPrefix("PropertiesChanged \(group) ") && $0.contains("Titles={") })

  let entry = try #require(try session.state()["presentations"]?.array?.last)
  #expect(entry["queued"] == 1 && entry["handle"] == .string(wifi.text))
  let object = try session.properties(of: PresentationInterface.name, at: wifi)
  #expect(object["Queued"] == .uint32(1) && object["Presentation"] == .uint64(2))

  watcher.clear()
  try session.present("wifi", "", ["title": .string("Networks"), "if-busy": .string("queue")])
  #expect(watcher.log.contains { $0.hasPrefix("PropertiesChanged \(group) ") && $0.contains("Networks") })
  // A queued tag is selected, as the text of the method says.
  #expect(try session.call(Rows.toggleSelection, ("panels", "wifi", [:])).0)
  #expect(try session.state()["groups"]?["panels"]?["selection"] == "wifi")
  #expect(try session.state()["presentations"]?.array?.first?["queued"] == nil)
}

@Test("A queued item announces its place when others come before it, when it moves up, and when it is shown")
func presentationObject_queued_isAnnounced() throws {
  let session = try Session()
  let watcher = try session.watch()
  func told() -> [String] { watcher.log.filter { $0.hasPrefix("PropertiesChanged ") && $0.contains("Queued=") } }
  func places(_ places: KeyValuePairs<ObjectPath, Int>) -> Bool {
    let told = told()
    return told.count == places.count
      && places.allSatisfy { path, place in
        told.contains { $0.hasPrefix("PropertiesChanged \(path) ") && $0.contains("Queued=\(place)") }
      }
  }
  let queued: Properties = ["group": .string("panels"), "if-busy": .string("queue")]
  try session.present("a", "", queued)
  let b = try session.present("b", "", queued)
  let c = try session.present("c", "", queued)
  #expect(told() == [], "InterfacesAdded has the first place")
  let d = try session.present("d", "", queued.merging(["priority": .int32(1)]) { $1 })
  #expect(places([b: 2, c: 3]), "\(told())")
  watcher.clear()
  try session.dismiss("a")
  #expect(places([d: 0, b: 1, c: 2]), "\(told())")
  watcher.clear()
  try session.dismiss("b")
  #expect(places([c: 1]), "\(told())")
}

@Test("An item that has ended by itself announces when it is presented again, and when it stops waiting for that")
func presentationObject_restartAt_isAnnounced() throws {
  let restart = "restart = 'always'\nrestart-delay = '1h'\nrestart-delay-max = '1h'\n"
  let session = try Session(destinations: ["again": "command = ['/none']\nholds = { dnd = 'postpone' }\n" + restart])
  func entry() throws -> JSON? { try session.state()["presentations"]?.array?.first }
  let watcher = try session.watch()
  try session.present("again")
  try session.poll("it waits") { try entry()?["restart-at"] != nil }
  let waiting = try #require(try entry())
  let path = try #require(waiting["handle"]?.string.flatMap { ObjectPath($0) })
  let time = try #require(waiting["restart-at"]?.unsigned)
  #expect(try session.properties(of: PresentationInterface.name, at: path)["RestartAt"] == .uint64(time))

  // It is tried at once with the variables of a new compositor, but a hold postpones it.
  try session.call(Rows.hold, ("dnd", [:]))
  watcher.clear()
  try session.call(Rows.importEnvironment, ["WAYLAND_DISPLAY": "wayland-9"])
  #expect(watcher.log.contains("PropertiesChanged \(path) org.navd.Presentation1 RestartAt=0"))
  #expect(try entry()?["restart-at"] == nil)
}
