import CoordinatorAPI
public import PresentationModel
import TextFormats

/// A state derived from an earlier state and all events after it (W1).
public struct ReplayedState {
  private struct Entry {
    let binding: String
    let id: String
    var phase: String
    /// Whether the presenter asks its user (P16).
    var isAsking = false
    /// The item in the last event; nil if no event had one.
    var item: JSON?
  }

  private struct Group: Equatable {
    var selection: String?
    var tags: [String] = []
    var queue: [String] = []
  }

  public private(set) var serial: UInt64
  /// Events that contradict each other or the state.
  public private(set) var faults: [String] = []
  private var presentations: [UInt64: Entry] = [:]
  private var groups: [String: Group] = [:]
  private var paths: [String: JSON] = [:]
  private var holds: Set<String> = []

  /// - Parameter state: the answer of `GetState` as JSON.
  public init(_ state: JSON) {
    serial = state["serial"]?.unsigned ?? 0
    for entry in state["presentations"]?.array ?? [] {
      guard let number = entry["presentation"]?.unsigned, let binding = entry["binding"]?.string,
        let id = entry["id"]?.string, let phase = entry["phase"]?.string
      else {
        faults.append("the state has an entry \(entry.text)")
        continue
      }
      presentations[number] = Entry(
        binding: binding, id: id, phase: phase, isAsking: entry["asking"] == true, item: Self.item(entry))
    }
    for (name, group) in state["groups"]?.object ?? [:] {
      groups[name] = Group(
        selection: group["selection"]?.string, tags: group["tags"]?.array?.compactMap(\.string) ?? [],
        queue: group["queue"]?.array?.compactMap(\.string) ?? [])
    }
    paths = state["stacks"]?.object ?? [:]
    holds = Set(state["holds"]?.array?.compactMap(\.string) ?? [])
  }

  /// The members that a state's entry and an event's item have in common.
  private static func item(_ json: JSON) -> JSON {
    var members: [String: JSON] = [:]
    for name in ["value", "container-values", "style", "title", "destination", "group", "tag", "stack"] {
      members[name] = json[name]
    }
    return .object(members)
  }

  public mutating func apply(_ event: StateEvent) {
    if event.serial != serial + 1 { faults.append("serial \(event.serial) came after \(serial)") }
    serial = event.serial
    let json = event.json
    let kind = json["event"]?.string ?? ""
    if let number = json["presentation"]?.unsigned {
      apply(kind, number, json)
    } else if let name = json["group"]?.string {
      var group = groups[name] ?? Group()
      if kind == "selection" { group.selection = json["tag"]?.string }
      if let tags = json["tags"]?.array { group.tags = tags.compactMap(\.string) }
      if let queue = json["queue"]?.array { group.queue = queue.compactMap(\.string) }
      groups[name] = group == Group() ? nil : group
    } else if let name = json["stack"]?.string {
      paths[name] = json["path"]?.array == [] ? nil : json["path"]
    } else if let name = json["hold"]?.string {
      if json["in-force"] == true { holds.insert(name) } else { holds.remove(name) }
    }
  }

  private mutating func apply(_ kind: String, _ number: UInt64, _ json: JSON) {
    if kind == "asking" {
      if presentations[number]?.phase != "dismissing" { faults.append("\(number) asks, and is not being dismissed") }
      presentations[number]?.isAsking = json["asking"] == true
      return
    }
    let binding = json["binding"]?.string ?? ""
    let id = json["id"]?.string ?? ""
    var entry = presentations[number] ?? Entry(binding: binding, id: id, phase: "")
    if entry.binding != binding || entry.id != id {
      faults.append("presentation \(number) was of \(entry.binding) “\(entry.id)”, and is of \(binding) “\(id)”")
    }
    if let item = json["item"] { entry.item = Self.item(item) }
    switch kind {
    case "presented": entry.phase = kind
    case "declined": (entry.phase, entry.isAsking) = ("presented", false)
    case "phase": entry.phase = json["phase"]?.string ?? ""
    case "dismissed":
      presentations[number] = nil
      return
    default: break
    }
    if entry.phase.isEmpty { faults.append("\(kind) of \(number) came before its first phase") }
    presentations[number] = entry
  }

  /// Differences from a state returned by `GetState`; empty if there are none.
  public func differences(from state: JSON) -> [String] {
    var other = ReplayedState(state)
    var found = faults + other.faults
    if serial != other.serial { found.append("serial \(serial), but GetState has \(other.serial)") }
    for (number, entry) in presentations {
      guard let expected = other.presentations.removeValue(forKey: number) else {
        found.append("\(number) of \(entry.binding) is \(entry.phase), but missing in GetState")
        continue
      }
      if entry.binding != expected.binding || entry.id != expected.id || entry.phase != expected.phase
        || entry.isAsking != expected.isAsking
      {
        found.append("\(number) is \(entry), but GetState has \(expected)")
      }
      // Compare as text, because NaN is not equal to NaN.
      if let item = entry.item, item.text != expected.item?.text {
        found.append("\(number) has \(item.text), but GetState has \(expected.item?.text ?? "nothing")")
      }
    }
    found += other.presentations.map { "\($0.key) of \($0.value.binding) is only in GetState, as \($0.value.phase)" }
    if groups != other.groups { found.append("groups \(groups), but GetState has \(other.groups)") }
    if paths != other.paths { found.append("paths \(paths), but GetState has \(other.paths)") }
    if holds != other.holds { found.append("holds \(holds), but GetState has \(other.holds)") }
    return found
  }
}
