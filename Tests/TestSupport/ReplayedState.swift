// Why this file exists: a watcher that was told the state once, and every event since, has to know the state (W1).

public import CoordinatorAPI
import TextFormats

/// The state as it follows from an earlier one and the events after it.
public struct FoldedState {
  private struct Entry {
    let binding: String
    let id: String
    var phase: String
    /// What the last event told of the item; nil where none has told of it yet.
    var item: JSON?
  }

  private struct Group: Equatable {
    var selection: String?
    var tags: [String] = []
    var queue: [String] = []
  }

  public private(set) var serial: UInt64
  /// What no sequence of events may say.
  public private(set) var faults: [String] = []
  private var presentations: [UInt64: Entry] = [:]
  private var groups: [String: Group] = [:]
  private var paths: [String: JSON] = [:]

  /// - Parameter state: as GetState tells it.
  public init(_ state: JSON) {
    serial = state["serial"]?.unsigned ?? 0
    for entry in state["presentations"]?.array ?? [] {
      guard let number = entry["presentation"]?.unsigned, let binding = entry["binding"]?.string,
        let id = entry["id"]?.string, let phase = entry["phase"]?.string
      else {
        faults.append("the state has an entry \(entry.text)")
        continue
      }
      presentations[number] = Entry(binding: binding, id: id, phase: phase, item: Self.item(entry))
    }
    for (name, group) in state["groups"]?.object ?? [:] {
      groups[name] = Group(
        selection: group["selection"]?.string, tags: group["tags"]?.array?.compactMap(\.string) ?? [],
        queue: group["queue"]?.array?.compactMap(\.string) ?? [])
    }
    paths = state["stacks"]?.object ?? [:]
  }

  /// What is the same in a state's entry and in an event's item.
  private static func item(_ json: JSON) -> JSON {
    var members: [String: JSON] = [:]
    for name in ["value", "container-values", "style", "title", "destination", "group", "tag", "stack"] {
      members[name] = json[name]
    }
    return .object(members)
  }

  public mutating func take(_ event: CoordinatorEvent) {
    if event.serial != serial + 1 { faults.append("serial \(event.serial) came after \(serial)") }
    serial = event.serial
    let json = event.json
    let kind = json["event"]?.string ?? ""
    if let number = json["presentation"]?.unsigned {
      take(kind, number, json)
    } else if let name = json["group"]?.string {
      var group = groups[name] ?? Group()
      if kind == "selection" { group.selection = json["tag"]?.string }
      if let tags = json["tags"]?.array { group.tags = tags.compactMap(\.string) }
      if let queue = json["queue"]?.array { group.queue = queue.compactMap(\.string) }
      groups[name] = group == Group() ? nil : group
    } else if let name = json["stack"]?.string {
      paths[name] = json["path"]?.array == [] ? nil : json["path"]
    }
  }

  private mutating func take(_ kind: String, _ number: UInt64, _ json: JSON) {
    let binding = json["binding"]?.string ?? ""
    let id = json["id"]?.string ?? ""
    var entry = presentations[number] ?? Entry(binding: binding, id: id, phase: "")
    if entry.binding != binding || entry.id != id {
      faults.append("presentation \(number) was of \(entry.binding) “\(entry.id)”, and is of \(binding) “\(id)”")
    }
    if let item = json["item"] { entry.item = Self.item(item) }
    switch kind {
    case "presented": entry.phase = kind
    case "phase": entry.phase = json["phase"]?.string ?? ""
    case "dismissed":
      presentations[number] = nil
      return
    default: break
    }
    if entry.phase.isEmpty { faults.append("\(kind) of \(number) is told before that has a phase") }
    presentations[number] = entry
  }

  /// What is otherwise in a state as GetState tells it; empty where nothing is.
  public func differences(from state: JSON) -> [String] {
    var other = FoldedState(state)
    var found = faults + other.faults
    if serial != other.serial { found.append("serial \(serial), told \(other.serial)") }
    for (number, entry) in presentations {
      guard let told = other.presentations.removeValue(forKey: number) else {
        found.append("\(number) of \(entry.binding) is \(entry.phase), told nothing")
        continue
      }
      if entry.binding != told.binding || entry.id != told.id || entry.phase != told.phase {
        found.append("\(number) is \(entry), told \(told)")
      }
      // As text, where NaN equals NaN.
      if let item = entry.item, item.text != told.item?.text {
        found.append("\(number) has \(item.text), told \(told.item?.text ?? "nothing")")
      }
    }
    found += other.presentations.map { "\($0.key) of \($0.value.binding) is told to be \($0.value.phase)" }
    if groups != other.groups { found.append("groups \(groups), told \(other.groups)") }
    if paths != other.paths { found.append("paths \(paths), told \(other.paths)") }
    return found
  }
}
