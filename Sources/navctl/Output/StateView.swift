import PresentationModel
import CoordinatorAPI
import DBusValues
import TextFormats

/// The state as `GetState` returns it. navctl reads it only through the properties in this file; `--json` prints `json`.
struct StateView {
  let json: JSON

  init(_ json: JSON) { self.json = json }

  init(_ state: Properties, serial: UInt64) {
    var state = state
    state["serial"] = .uint64(serial)
    json = JSON(state)
  }

  var serial: UInt64? { json["serial"]?.unsigned }

  /// In the order in which they were requested.
  var presentations: [PresentationEntry] { (json["presentations"]?.array ?? []).map { PresentationEntry($0) } }

  /// By name.
  var groups: [String: GroupEntry] { (json["groups"]?.object ?? [:]).mapValues { GroupEntry($0) } }

  /// Paths from bottom to top, by the stack's name.
  var stacks: [String: [PathElement]] {
    (json["stacks"]?.object ?? [:]).mapValues { ($0.array ?? []).map { .init($0) } }
  }

  /// Line for this state among lines for events.
  var eventJSON: JSON { json.replacing(["event": "state"]) }

  /// For comparison: the serial also grows with changes that a filter leaves out.
  var jsonWithoutSerial: JSON { json.replacing(["serial": nil]) }

  /// The same state with only these presentations, groups and stacks.
  func keeping(_ presentations: [PresentationEntry], groups: Set<String>, stacks: Set<String>) -> StateView {
    func kept(_ member: String, _ names: Set<String>) -> JSON {
      .object((json[member]?.object ?? [:]).filter { names.contains($0.key) })
    }
    return StateView(
      json.replacing([
        "presentations": .array(presentations.map(\.json)), "groups": kept("groups", groups),
        "stacks": kept("stacks", stacks),
      ]))
  }
}

/// One presentation in the state. `Get` returns the same members.
struct PresentationEntry: JSONEntry, Equatable {
  enum Phase: String {
    case waiting, presenting, presented, dismissing
  }

  /// Names of the members, in the order in which `show` prints them.
  enum Member: String, CaseIterable {
    case binding, id, presentation, phase, since, title, destination
    case destinationKind = "destination-kind"
    case pid, unit, group, tag, stack, parent, children, owner
    case ownerPID = "owner-pid"
    case ownerProgram = "owner-program"
    case timeout
    case timeoutLeft = "timeout-left"
    case containerValues = "container-values"
    case priority, style, value, serial

    /// Members that only `show` prints, not the state.
    static let ofShow: Set<Member> = [
      .destinationKind, .children, .ownerPID, .ownerProgram, .timeoutLeft, .serial,
    ]
  }

  var members: [String: JSON]

  init(_ json: JSON = [:]) { members = json.object ?? [:] }

  var number: UInt64? { self[.presentation]?.unsigned }
  var binding: String { text(.binding) }
  /// Empty if the item has none.
  var id: String { text(.id) }
  var phase: Phase? { Phase(rawValue: text(.phase)) }
  /// When it was presented, in milliseconds since 1970.
  var since: UInt64? { self[.since]?.unsigned }
  /// Empty if it has none.
  var title: String { text(.title) }
  var destination: String? { self[.destination]?.string }
  var group: String? { self[.group]?.string }
  var tag: String? { self[.tag]?.string }
  var stack: String? { self[.stack]?.string }
  /// Number of the presentation that it was presented from.
  var parent: UInt64? { self[.parent]?.unsigned }
  /// Unique name on the bus.
  var owner: String? { self[.owner]?.string }
  /// Whether it is known to be shown by a process or a unit of systemd.
  var hasProcess: Bool { self[.pid] != nil || self[.unit] != nil }
  /// The item's own values.
  var value: JSON? { self[.value] }

  /// Binding and id, for people.
  var name: String { id.isEmpty ? binding : "\(binding) \(id)" }

  /// All members in the order of `Member`, then those that this release does not know.
  var orderedMembers: [(name: String, value: JSON)] {
    let known = Member.allCases.map(\.rawValue)
    let unknown = Set(members.keys).subtracting(known).sorted()
    return (known + unknown).compactMap { name in members[name].map { (name, $0) } }
  }
}

/// One exclusive group in the state.
struct GroupEntry {
  /// nil if nothing is selected.
  let selection: String?
  let tags: [String]
  /// Tags that wait, the next one first.
  let queue: [String]

  init(_ json: JSON) {
    func list(_ member: String) -> [String] { (json[member]?.array ?? []).compactMap(\.string) }
    selection = json["selection"]?.string
    tags = list("tags")
    queue = list("queue")
  }
}

extension PathElement {
  init(_ json: JSON) {
    self.init(binding: json["binding"]?.string ?? "", id: json["id"]?.string ?? "")
  }

  var json: JSON { ["binding": .string(binding), "id": .string(id)] }
}

extension JSON {
  /// The same object with these members set, or removed where nil.
  fileprivate func replacing(_ changes: [String: JSON?]) -> JSON {
    guard case .object(var members) = self else { return self }
    for (name, value) in changes { members[name] = value }
    return .object(members)
  }
}
