// Why this file exists: who follows events wants each of them, in order, or to know that some are missing.

import CoordinatorAPI
import PresentationModel
import TextFormats

/// A line for the state, then one for each event.
final class EventLines: WatchLines {
  /// Bytes; with more waiting for the reader, events are left out and the state is written when it has caught up.
  private static let mostPending = 1 << 20
  /// Events; with more held back the same happens.
  private static let mostHeld = 10_000

  private let filter: StateFilter
  private let format: Template?
  /// Whether events were left out, and the state will be written.
  private var isBehind = false
  /// By presentation: events do not say its group, the state and the items do.
  private var groups: [UInt64: String?] = [:]
  /// Events that wait for the group of the first one's presentation to be known.
  private var held: [StateEvent] = []

  init(_ filter: StateFilter, _ format: Template?) {
    self.filter = filter
    self.format = format
  }

  func state(_ state: StateView, _ writer: LineWriter, _ follower: StateFollower) {
    held = []
    groups = [:]
    learn(state)
    guard case .object(var members) = filter.apply(state).json else { return }
    members["event"] = "state"
    write(.object(members), writer)
  }

  func event(_ event: StateEvent, _ writer: LineWriter, _ follower: StateFollower) {
    guard !isBehind else { return }
    guard writer.pendingCount < Self.mostPending, held.count < Self.mostHeld else {
      isBehind = true
      held = []
      // Otherwise there is nothing that would be drained.
      if writer.pendingCount == 0 { drained(writer, follower) }
      return
    }
    held.append(event)
    if held.count == 1 { release(writer, follower) }
  }

  func drained(_ writer: LineWriter, _ follower: StateFollower) {
    guard isBehind else { return }
    isBehind = false
    follower.resynchronise()
  }

  // MARK: Filtering

  /// Writes what is held, up to an event whose group has to be asked for.
  private func release(_ writer: LineWriter, _ follower: StateFollower) {
    while let event = held.first {
      if let unknown = unknownGroup(of: event.json) {
        follower.look { [weak self] found in
          guard let self, held.first == event else { return }
          if let found { learn(StateView(found.state, serial: found.serial)) }
          // Gone before we could ask: then it was never shown, and nobody can say whose it was.
          if groups[unknown] == nil { groups[unknown] = .some(nil) }
          release(writer, follower)
        }
        return
      }
      held.removeFirst()
      if includes(event.json) { write(event.json, writer) }
    }
  }

  /// The presentation that an event is of, where its group matters and is not known.
  private func unknownGroup(of event: JSON) -> UInt64? {
    guard filter.group != nil, let number = event["presentation"]?.unsigned else { return nil }
    if let item = event["item"] { groups[number] = .some(item["group"]?.string) }
    return groups[number] == nil ? number : nil
  }

  private func includes(_ event: JSON) -> Bool {
    let number = event["presentation"]?.unsigned
    let group = event["group"]?.string ?? number.flatMap { groups[$0] ?? nil }
    if event["event"]?.string == "dismissed", let number { groups[number] = nil }
    return (filter.binding == nil || event["binding"]?.string == filter.binding)
      && (filter.group == nil || group == filter.group)
  }

  private func learn(_ state: StateView) {
    guard filter.group != nil else { return }
    for presentation in state.presentations {
      guard let number = presentation["presentation"]?.unsigned else { continue }
      groups[number] = .some(presentation["group"]?.string)
    }
  }

  private func write(_ json: JSON, _ writer: LineWriter) { writer.write(format?.line(json) ?? json.text) }
}
