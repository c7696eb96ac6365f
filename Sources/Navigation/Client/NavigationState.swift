import DBusValues
import PresentationModel

/// The number of a presentation: one showing of one item, from the request to its end (docs/semantics.md, *Words*).
///
///     let note: PresentationHandle? = try await coordinator.present("note").presentation
public typealias PresentationHandle = Handle

/// The phase of a presentation (docs/semantics.md, *Words*).
///
///     let phase: NavigationPhase? = try await coordinator.presentation(at: "note")?.phase
///     if phase == .presented { print("it is on the screen") }
public typealias NavigationPhase = Phase

/// The reason why a presentation ended (docs/semantics.md, *Words*).
///
///     let reason: NavigationReason? = try await coordinator.waitUntilGone(presentation).reason
///     if reason == .expired { print("nobody has seen it") }
public typealias NavigationReason = Reason

/// One element of a stack's path (S1).
///
///     let path: [PathElement] = try await coordinator.state().stacks["inventory.path"] ?? []
///     for element in path { print(element.binding, element.id) }
public typealias PathElement = PresentationModel.PathElement

/// A program whose windows a dismissal has hidden (N8).
///
///     let oldest: ParkedEntry? = try await coordinator.state().parked.first
///     print(oldest?.binding ?? "", oldest?.id ?? "")
public typealias ParkedEntry = PresentationModel.ParkedEntry

/// An item that a client has requested while its parent was out of view (D20).
///
///     func kept(_ event: NavigationEvent) -> [RequestedEntry] {
///       if case .requested(let items) = event.kind { items } else { [] }
///     }
public typealias RequestedEntry = PresentationModel.RequestedEntry

/// One difference between two states (W1).
///
///     func log(_ event: NavigationEvent) {
///       if case .dismissed(let subject, let reason) = event.kind { print(event.serial, subject.binding, reason) }
///     }
public typealias NavigationEvent = StateEvent

/// An ended presentation (``Coordinator/history(most:_:)``).
///
///     let last: EndedPresentation? = try await coordinator.history(most: 1).first
///     print(last?.binding ?? "", last?.reason ?? "")
public typealias EndedPresentation = EndingEntry

/// A destination that items can name (``Coordinator/destinations()``).
///
///     let mixer: DestinationState? = try await coordinator.destinations()["mixer"]
///     print(mixer?.group ?? "it is in no group")
public typealias DestinationState = DestinationEntry

/// A window of a presentation, as far as it is known (N4). Every key of the contract is a property: `window.title`.
///
///     let windows: [String: WindowState] = try await coordinator.presentation(at: "mixer")?.windows ?? [:]
///     for (id, window) in windows { print(id, window.title ?? "") }
public typealias WindowState = WindowProperties

/// A presentation that has not ended. Every key of the state is a property: `presentation.title`, `presentation.since`.
///
///     if let note = try await coordinator.presentation(at: "note") {
///       print(note.presentation, note.binding, note.id, note.phase, note.title ?? "")
///       print(note.value["text"] ?? "", note.windows.keys, note.containerValues.keys, note.all.keys)
///       if let parent = note.parent { print(try await coordinator.waitUntilGone(parent)) }
///     }
@dynamicMemberLookup
public struct PresentationState: Hashable, Sendable {
  /// The presentation's handle, which is never used twice.
  public let presentation: PresentationHandle
  /// The binding that holds the item.
  public let binding: String
  /// The item's id; empty if it has none (P7).
  public let id: String
  /// The phase.
  public let phase: NavigationPhase
  /// The parent, which ends after the presentation (C3).
  public let parent: PresentationHandle?
  /// The item's value.
  public let value: Properties
  /// The windows by their ids, if the presentation follows windows (N4).
  public let windows: [String: WindowState]
  /// The container values set by the item; ``Coordinator/members(of:)`` also returns the defaults.
  public let containerValues: Properties
  /// The whole entry of the state, by the keys of the contract, including `pid` and `unit`.
  public let all: Properties

  /// - Returns: nil if a required key is missing.
  init?(_ entry: StateEntry) {
    guard let binding = entry.binding, let id = entry.id, let phase = entry.knownPhase, let number = entry.presentation
    else { return nil }
    presentation = PresentationHandle(number)
    self.binding = binding
    self.id = id
    self.phase = phase
    parent = entry.parent.map(PresentationHandle.init)
    value = entry.value ?? [:]
    containerValues = entry.containerValues ?? [:]
    windows = Dictionary(
      (entry.windows ?? []).compactMap { window in
        guard case .string(let id)? = window["id"] else { return nil }
        return (id, WindowState(reading: window))
      }, uniquingKeysWith: { $1 })
    all = entry.properties
  }

  /// The value for a key of the state; nil if it is absent.
  public subscript<T>(dynamicMember key: KeyPath<StateEntry.Keys, DictionaryKey<T>>) -> T? {
    all[StateEntry.keys[keyPath: key]]
  }

  /// - Parameter client: the value of a ``Coordinator/client``.
  func isOwned(by client: String) -> Bool { self.owner.map(clientName) == client }
}

/// A client's unique name on the bus, converted to a name that a binding can contain (B1).
func clientName(_ uniqueName: String) -> String {
  String(uniqueName.drop { $0 == ":" }.map { $0 == "." ? "-" : $0 })
}

/// An exclusive group (G1–G10).
///
///     if let panels = try await coordinator.state().groups["panels"] {
///       for tag in panels.tags { print(panels.titles[tag] ?? tag, tag == panels.selection, panels.queue.contains(tag)) }
///     }
public struct GroupState: Hashable, Sendable {
  /// The selected tag; nil if no member is selected.
  public let selection: String?
  /// The tags that destinations declare or programs serve, and those of the group's members.
  public let tags: [String]
  /// The titles by tags: that of the member's item, or else of the destination that declares the tag. A tag without a title is absent.
  public let titles: [String: String]
  /// The queued tags, the next one first (G9).
  public let queue: [String]
}

/// The whole state of a session.
///
///     let state = try await coordinator.state()
///     print(state.serial, state.presentations.map(\.binding), state.groups.keys, state.stacks["inventory.path"]?.count ?? 0)
///     print(state.holds, state.parked.map(\.properties))
public struct NavigationState: Hashable, Sendable {
  /// The serial of the last event (W1).
  public let serial: UInt64
  /// The presentations in the order of acceptance. While a binding's item is replaced, the old presentation precedes the new one.
  public let presentations: [PresentationState]
  /// The groups by name.
  public let groups: [String: GroupState]
  /// The paths by the names of their stacks, from the bottom to the top.
  public let stacks: [String: [PathElement]]

  /// The sorted names of the holds in force (H1).
  public let holds: [String]
  /// The programs whose windows dismissals have hidden, the oldest first (N8).
  public let parked: [ParkedEntry]

  /// The presentation in a slot; nil if the slot is empty.
  ///
  ///     let note = try await coordinator.state().presentation(at: "note")
  public func presentation(at binding: String) -> PresentationState? {
    presentations.last { $0.binding == binding && $0.phase != .dismissing }
  }

  /// The state of a coordinator without presentations.
  static let empty = NavigationState(StateSnapshot([:]), serial: .max)

  init(_ state: StateSnapshot, serial: UInt64) {
    self.serial = serial
    presentations = state.entries.compactMap(PresentationState.init)
    groups = state.groupEntries.mapValues { group in
      GroupState(
        selection: group.selection, tags: group.tags ?? [], titles: group.titles ?? [:], queue: group.queue ?? [])
    }
    stacks = state.paths
    holds = state.holds ?? []
    parked = state.parkedEntries
  }
}
