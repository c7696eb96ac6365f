import CoordinatorAPI
import PresentationModel
import TextFormats

/// Writes a line for the state, and then one for each event. If events had to be left out, the state is written again.
final class EventLines: WatchOutput {
  /// The limit in bytes. Above it, events are left out, and the state is written when the reader has caught up.
  private static let maxPending = 1 << 20
  /// The limit of held events, with the same effect.
  private static let maxHeld = 10_000

  private let filter: StateFilter
  private let format: OutputTemplate?
  /// Whether events were left out, so that the state must be written.
  private var isBehind = false
  /// The groups of presentations, for `--group`: the state and items contain a group, other events do not.
  private var groups: [UInt64: String?] = [:]
  /// Events that wait until the group of the first event's presentation is known.
  private var held: [StateEvent] = []

  init(_ filter: StateFilter, _ format: OutputTemplate?) {
    self.filter = filter
    self.format = format
  }

  func absent(_ writer: LineWriter) {
    if format == nil { writer.write(JSON.object(JSON.absentState.merging(["event": "state"]) { $1 }).text) }
  }

  func state(_ state: StateSnapshot, _ writer: LineWriter, _ follower: StateFollower) {
    held = []
    groups = [:]
    learnGroups(state)
    write(filter.apply(state).eventJSON, writer)
  }

  func event(_ event: StateEvent, _ writer: LineWriter, _ follower: StateFollower) {
    guard !isBehind else { return }
    guard writer.pendingCount < Self.maxPending, held.count < Self.maxHeld else {
      isBehind = true
      held = []
      // The writer calls `drained` only if bytes were pending.
      if writer.pendingCount == 0 { drained(writer, follower) }
      return
    }
    held.append(event)
    if held.count == 1 { release(writer, follower) }
  }

  func drained(_ writer: LineWriter, _ follower: StateFollower) {
    guard isBehind else { return }
    isBehind = false
    follower.resynchronize()
  }

  // MARK: Filtering

  /// Writes the held events, up to one whose group must be requested first.
  private func release(_ writer: LineWriter, _ follower: StateFollower) {
    while let event = held.first {
      if let unknown = presentationOfUnknownGroup(event) {
        follower.look { [weak self] found in
          guard let self, held.first == event else { return }
          if let found { learnGroups(StateSnapshot(found.state, serial: found.serial)) }
          // The presentation is already gone, so its group cannot be found.
          if groups[unknown] == nil { groups[unknown] = .some(nil) }
          release(writer, follower)
        }
        return
      }
      held.removeFirst()
      if includes(event) { write(event.json, writer) }
    }
  }

  /// The event's presentation, if its group is needed and unknown.
  private func presentationOfUnknownGroup(_ event: StateEvent) -> UInt64? {
    guard filter.group != nil, let number = event.presentationNumber else { return nil }
    switch event.kind {
    case .presented(_, let item), .updated(_, let item): groups[number] = .some(StateEntry(item).group)
    default: break
    }
    return groups[number] == nil ? number : nil
  }

  private func includes(_ event: StateEvent) -> Bool {
    let group: String?
    switch event.kind {
    case .selection(let name, _), .group(let name, _, _): group = name
    default: group = event.presentationNumber.flatMap { groups[$0] ?? nil }
    }
    if case .dismissed = event.kind, let number = event.presentationNumber { groups[number] = nil }
    return (filter.binding == nil || event.subject?.binding == filter.binding)
      && (filter.group == nil || group == filter.group)
  }

  private func learnGroups(_ state: StateSnapshot) {
    guard filter.group != nil else { return }
    for entry in state.entries {
      if let number = entry.presentation { groups[number] = .some(entry.group) }
    }
  }

  private func write(_ json: JSON, _ writer: LineWriter) { writer.write(format?.line(json) ?? json.text) }
}

extension StateEvent {
  /// The presentation of the event; nil for events about groups and stacks.
  fileprivate var subject: Subject? {
    switch kind {
    case .presented(let subject, _), .updated(let subject, _), .phase(let subject, _), .dismissed(let subject, _),
      .declined(let subject, _), .asking(let subject, _), .action(let subject, _, _):
      subject
    case .selection, .group, .path, .hold, .parked, .requested: nil
    }
  }

  fileprivate var presentationNumber: UInt64? { subject?.presentation.number }
}
