import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import PresentationModel
import TestSupport
import TextFormats

/// A comparison of navd's five ways to read the state with each other (GetState, Members, Get, GetManagedObjects, properties), and
/// with the state derived from its events.
struct ConsistencyCheck {
  private let session: Session
  private let watcher: Watcher
  private var replayed: ReplayedState
  /// The number of times that the watcher has missed events, because it left very much unread (W3).
  private(set) var gaps = 0
  /// The limit of gaps: in a run of an hour, this process may stand still for some seconds.
  private static let maxGaps = isThorough ? 5 : 0

  init(_ session: Session) throws {
    self.session = session
    watcher = try session.watch(on: try session.connect())
    replayed = ReplayedState(watcher.start)
  }

  /// Waits until every event so far has arrived: the answer comes after them.
  func catchUp() throws { _ = try session.call(CoordinatorInterface.get, "nothing.here", by: watcher.connection) }

  /// The contradictions found; empty if there are none.
  mutating func faults() throws -> [String] {
    // Items that end by themselves may change the state during a comparison, which is then repeated.
    for _ in 0..<200 {
      if let faults = try look() { return faults }
      session.loop.turn(wait: .milliseconds(5))
    }
    return ["the state does not come to rest"]
  }

  /// - Returns: nil if the state changed during the comparison.
  private mutating func look() throws -> [String]? {
    typealias Rows = CoordinatorInterface
    let (state, serial) = try session.call(Rows.getState, (), by: watcher.connection)
    let json = JSON(state)
    var events = watcher.events
    let hasGap = !watcher.hasAllSerials
    watcher.clear()
    if hasGap {
      gaps += 1
      if gaps > Self.maxGaps { return ["the watcher missed events \(gaps) times"] }
      // It asks for the state again, as any client does.
      replayed = ReplayedState(.object((json.object ?? [:]).merging(["serial": JSON(serial)]) { $1 }))
      events.removeAll { $0.serial <= serial }
    }
    for event in events where event.serial <= serial { replayed.apply(event) }
    var faults = replayed.differences(from: json)
    for event in events where event.serial > serial { replayed.apply(event) }

    let entries = json["presentations"]?.array ?? []
    let members = try session.call(Rows.members, ("all", ""))
    let objects = try session.call(ObjectManagement.getManagedObjects, ())
    var slots: [(String, ObjectPath, Properties)] = []
    for binding in Set(entries.compactMap { $0["binding"]?.string }).sorted() + ["nothing.here"] {
      let (path, item, _) = try session.call(Rows.get, binding)
      slots.append((binding, path, item))
    }
    var stacks: [(String, [String])] = []
    for name in json["stacks"]?.object?.keys.sorted() ?? [] {
      stacks.append((name, try session.call(Rows.members, ("stack", name)).map { $0.fields.0 + "=" + $0.fields.1 }))
    }
    guard try session.call(PropertyAccessing.get, (Rows.name.text, "Serial")) == .uint64(serial) else { return nil }

    let held = entries.filter { $0["phase"]?.string != "dismissing" }
    if Set(members.map { $0.fields.2 }) != Set(held.compactMap(path)) || members.count != held.count {
      faults.append("Members returns \(members.map { $0.fields.2 }), GetState \(held.compactMap(path))")
    }
    let presentations = objects.keys.filter { CoordinatorNames.number(of: $0) != nil }
    if Set(presentations) != Set(entries.compactMap(path)) {
      faults.append(
        "GetManagedObjects returns \(presentations.sorted()), GetState \(entries.compactMap(path).sorted())")
    }
    faults += containerFaults(objects, json)
    for entry in entries {
      guard let path = path(entry), let object = objects[path]?[PresentationInterface.name.text] else { continue }
      for (property, member) in [
        ("Binding", "binding"), ("Id", "id"), ("Phase", "phase"), ("Group", "group"), ("Tag", "tag"),
        ("Stack", "stack"), ("Owner", "owner"), ("Title", "title"), ("Style", "style"), ("Output", "output"),
        ("Message", "message"),
      ] where object[property] != .string(entry[member]?.string ?? "") {
        faults.append("\(path) has \(property) \(String(describing: object[property])), and \(member) \(entry.text)")
      }
    }
    for (binding, path, item) in slots {
      // The remaining time is not part of the state, nor is the process, which the manager reports at any time.
      func constant(_ entry: JSON?) -> String {
        JSON.object((entry?.object ?? [:]).filter { $0.key != "timeout-left" && $0.key != "pid" }).text
      }
      let entry = held.first { $0["binding"]?.string == binding }
      if path != entry.flatMap(self.path) ?? .root || constant(JSON(item)) != constant(entry) {
        faults.append("Get returns \(path) \(JSON(item).text) of \(binding), GetState \(entry?.text ?? "nothing")")
      }
    }
    for (name, members) in stacks {
      let path = json["stacks"]?[name]?.array?.map { "\($0["binding"]?.string ?? "")=\($0["id"]?.string ?? "")" }
      if path != members { faults.append("Members returns \(members) of the stack \(name), GetState \(path ?? [])") }
    }
    // P3, G1: at most one presentation is live in a slot and in a group.
    let live = entries.filter { $0["phase"]?.string != "waiting" }
    for member in ["binding", "group"] {
      let names = live.compactMap { $0[member]?.string }
      for name in Set(names) where names.count(where: { $0 == name }) > 1 {
        faults.append("several are live in the \(member) \(name): \(live.map(\.text))")
      }
    }
    return faults
  }

  /// Contradictions between the objects of groups, stacks and holds, and the state.
  private func containerFaults(_ objects: [ObjectPath: [String: Properties]], _ state: JSON) -> [String] {
    func texts(_ list: JSON?) -> Value { (list?.array ?? []).compactMap(\.string).value }
    var expected: [ObjectPath: Properties] = [:]
    for (name, group) in state["groups"]?.object ?? [:]
    where group["selection"] != nil || group["tags"]?.array != [] || group["queue"]?.array != [] {
      expected[ContainerObjects.groups.appending(encoding: name)] = [
        "Name": .string(name), "Selection": .string(group["selection"]?.string ?? ""), "Tags": texts(group["tags"]),
        "Titles": (group["titles"]?.object ?? [:]).compactMapValues(\.string).value, "Queue": texts(group["queue"]),
      ]
    }
    for (name, path) in state["stacks"]?.object ?? [:] {
      let elements = path.array ?? []
      expected[ContainerObjects.stacks.appending(encoding: name)] = [
        "Name": .string(name), "Path": elements.map { $0["binding"]?.string ?? "" }.value,
        "Ids": elements.map { $0["id"]?.string ?? "" }.value,
      ]
    }
    for name in (state["holds"]?.array ?? []).compactMap(\.string) {
      expected[ContainerObjects.holds.appending(encoding: name)] = ["Name": .string(name)]
    }
    let found = objects.filter { CoordinatorNames.number(of: $0.key) == nil }
    guard Set(found.keys) == Set(expected.keys) else {
      return ["GetManagedObjects returns \(found.keys.sorted()), GetState \(expected.keys.sorted())"]
    }
    return found.compactMap { path, interfaces in
      let properties = interfaces.values.reduce(into: Properties()) { $0.merge($1) { $1 } }
      let differs = expected[path]?.contains { properties[$0.key] != $0.value } == true
      return differs ? "\(path) has \(JSON(properties).text), GetState \(JSON(expected[path] ?? [:]).text)" : nil
    }
  }

  private func path(_ entry: JSON) -> ObjectPath? {
    entry["presentation"]?.unsigned.map { CoordinatorNames.presentation($0) }
  }
}
