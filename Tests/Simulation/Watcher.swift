import PresentationModel
import PresentationRules

/// A broken rule, and what was observed.
struct Violation: Error, CustomStringConvertible {
  let rule: String
  let what: String

  init(_ rule: String, _ what: String) {
    self.rule = rule
    self.what = what
  }

  var description: String { "\(rule): \(what)" }
}

func require(_ holds: Bool, _ rule: String, _ what: @autoclosure () -> String) throws(Violation) {
  if !holds { throw Violation(rule, what()) }
}

/// A watcher, which knows only the first state and the events since (W1). Its view has to be the state.
struct Watcher {
  struct Entry {
    let binding: BindingID
    let id: String
    var phase: String
    /// The question of its presenter (P16).
    var asking: String?
    /// The item; nil until an event has it, since the phase event of a waiting presentation has none.
    var item: Shared<Item>?
  }

  struct Tags: Equatable {
    var known: [String] = []
    var queued: [String] = []
  }

  private(set) var serial = Serial(0)
  private(set) var entries: [Handle: Entry] = [:]
  private(set) var selections: [BindingID: String] = [:]
  private var tags: [BindingID: Tags] = [:]
  private var paths: [BindingID: [PathElement]] = [:]
  private var holds: Set<String> = []
  private var parked: [String] = []
  /// The last handle announced before this input; within one input, handles may be announced in any order.
  private var lastHandle = Handle(0)
  private var ended: Set<Handle> = []

  /// Takes in the events of one input.
  ///
  /// - Parameter isOneChange: whether the input makes one difference between two states; timeouts may make several.
  mutating func take(_ changes: [Change], from machine: borrowing StateMachine, isOneChange: Bool) throws(Violation) {
    var groups: Set<BindingID> = []
    var stacks: Set<BindingID> = []
    for change in changes {
      try require(
        change.serial.number == serial.number + 1, "W1", "the serial after \(serial) is \(change.serial)")
      serial = change.serial
      switch change.event {
      case .presented(let handle, let binding, let id, let item):
        try introduce(handle, binding, id, phase: "presented", item: item, mustDiffer: true)
      case .phase(let handle, let binding, let id, let word):
        try introduce(handle, binding, id, phase: word.rawValue, item: nil, mustDiffer: true)
      case .updated(let handle, let binding, let id, let item, _):
        let known = entries[handle]?.item
        try require(entries[handle] != nil, "W1", "\(handle) was updated before it was told of")
        try require(known != item, "W1", "\(handle) was updated, but nothing differs")
        try introduce(handle, binding, id, phase: entries[handle]!.phase, item: item, mustDiffer: false)
      case .dismissed(let handle, let binding, let id, _, _):
        try require(!ended.contains(handle), "P6", "\(handle) ended twice")
        guard let entry = entries.removeValue(forKey: handle) else {
          throw Violation("P6", "\(handle) ended before it was told of")
        }
        try require(entry.binding == binding && entry.id == id, "W1", "\(handle) ended as another than it was")
        ended.insert(handle)
      case .declined(let handle, let binding, let id, _):
        try require(
          entries[handle]?.phase == "dismissing", "P15", "\(handle) was declined, but was not being dismissed")
        try introduce(handle, binding, id, phase: "presented", item: nil, mustDiffer: true)
        entries[handle]!.asking = nil
      case .asking(let handle, _, _, let message):
        try require(entries[handle]?.phase == "dismissing", "P16", "\(handle) asks, but is not being dismissed")
        try require(entries[handle]?.asking != message, "W1", "\(handle) was told to ask, but that does not differ")
        entries[handle]!.asking = message
      case .action(let handle, _, _, _, _):
        try require(!ended.contains(handle), "P8", "\(handle) acted after its end")
      case .selection(let group, let tag):
        try require(selections[group] != tag, "W1", "the selection of \(group) was told, but does not differ")
        selections[group] = tag
      case .group(let group):
        try require(groups.insert(group).inserted, "W1", "\(group) was told twice in one input")
      case .path(let stack):
        try require(stacks.insert(stack).inserted || !isOneChange, "W1", "\(stack) was told twice in one change")
      case .hold(let name, let isInForce):
        if isInForce { holds.insert(name) } else { holds.remove(name) }
      case .parked:
        let now = Self.parked(machine)
        try require(parked != now || !isOneChange, "W1", "an event without a change of the parked programs: \(now)")
        parked = now
      case .requested(let items):
        try require(!items.isEmpty, "D20", "a request for no items was told")
      }
    }
    lastHandle = machine.lastHandle
    for group in groups.sorted(by: { $0.text < $1.text }) {
      let now = Tags(known: machine.tags(of: group), queued: machine.queuedTags(of: group))
      try require(
        tags[group, default: Tags()] != now || !isOneChange, "W1", "\(group) was told, but does not differ: \(now)")
      tags[group] = now
    }
    for stack in stacks.sorted(by: { $0.text < $1.text }) {
      let now = machine.path(of: stack)
      try require(
        paths[stack, default: []] != now || !isOneChange, "W1", "\(stack) was told, but does not differ: \(now)")
      paths[stack] = now
    }
  }

  /// Removes tags of a group whose declarations a restart of navd has lost. The next event of the group follows when programs serve
  /// them again (D18).
  mutating func forget(_ lost: Set<String>, of group: BindingID) {
    tags[group]?.known.removeAll { lost.contains($0) }
  }

  private static func parked(_ machine: borrowing StateMachine) -> [String] {
    machine.parked.map { parked in
      let stays = machine.reasonToStay(of: parked.handle).map { " \($0)" } ?? ""
      return "\(parked.handle)" + (machine.isOutdated(parked.handle) ? " outdated" : "") + stays
    }
  }

  private mutating func introduce(
    _ handle: Handle, _ binding: BindingID, _ id: String, phase: String, item: Shared<Item>?, mustDiffer: Bool
  ) throws(Violation) {
    try require(!ended.contains(handle), "P6", "\(handle) is told of after its end")
    if let known = entries[handle] {
      try require(known.binding == binding && known.id == id, "W1", "\(handle) became another: \(binding)=\(id)")
      try require(!mustDiffer || known.phase != phase, "W1", "\(handle) was told to be \(phase) twice")
    } else {
      try require(handle > lastHandle, "R3", "\(handle) was used before; the last one was \(lastHandle)")
    }
    entries[handle] = Entry(
      binding: binding, id: id, phase: phase, asking: entries[handle]?.asking, item: item ?? entries[handle]?.item)
  }

  /// Compares what was announced with the state.
  func compare(with machine: borrowing StateMachine, groups: [BindingID], stacks: [BindingID]) throws(Violation) {
    try require(Self.parked(machine) == parked, "N8", "parked: \(Self.parked(machine)), but the events say \(parked)")
    try require(machine.serial == serial, "W1", "the serial is \(machine.serial), but \(serial) was told")
    try require(machine.count == entries.count, "W1", "\(machine.count) presentations, but \(entries.count) were told")
    for (handle, entry) in entries {
      guard let presentation = machine.presentation(handle) else {
        throw Violation("W1", "\(handle) is gone, but its end was not told")
      }
      try require(
        presentation.binding == entry.binding && presentation.item.id == entry.id, "W1",
        "\(handle) is another than told")
      try require(
        presentation.phase.name.rawValue == entry.phase, "W1",
        "\(handle) is \(presentation.phase), but \(entry.phase) was told")
      let asking: String? =
        if case .asking(let message)? = presentation.phase.dismissal?.stage { message } else { nil }
      try require(
        asking == entry.asking, "P16", "\(handle) asks “\(asking ?? "-")”, but “\(entry.asking ?? "-")” was told")
      if let told = entry.item, entry.phase == "presented" {
        // The timeout is on record without an event (P2).
        var item = presentation.item
        item.timeout = told.timeout
        // So is whether somebody has asked for what navd had selected as the fallback (K7).
        item.isOwnFallback = told.isOwnFallback
        // What holds do is in files, and no part of the item that watchers see (H3).
        item.holds = told.holds
        // A change of the presenter is not announced, either (D4).
        if item.destination?.name == told.destination?.name { item.destination = told.destination }
        try require(item == told, "W1", "\(handle) shows \(item), but \(told) was told")
      }
    }
    try require(
      machine.holdsInForce == holds.sorted(), "W1", "\(machine.holdsInForce) hold, but the events say \(holds.sorted())"
    )
    for group in groups {
      try require(
        machine.selection(of: group) == selections[group], "W1",
        "the selection of \(group) is \(machine.selection(of: group) ?? "nil"), but \(selections[group] ?? "nil") was told"
      )
      let now = Tags(known: machine.tags(of: group), queued: machine.queuedTags(of: group))
      try require(
        tags[group, default: Tags()] == now, "W1", "\(group) is \(now), but \(tags[group, default: Tags()]) was told")
    }
    for stack in stacks {
      let now = machine.path(of: stack)
      try require(
        paths[stack, default: []] == now, "W1", "\(stack) is \(now), but \(paths[stack, default: []]) was told")
    }
  }
}
