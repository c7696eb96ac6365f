// Why this file exists: what is presented in the session, and what changes, as Swift values.

import DBusValues
import PresentationModel

/// The phase of a presentation (docs/semantics.md, *Words*).
public typealias NavigationPhase = Phase

/// Why a presentation ended (docs/semantics.md, *Words*).
public typealias NavigationReason = Reason

/// One element of a stack's path (rule S1).
public typealias PathElement = PresentationModel.PathElement

/// One difference between two states (rule W1).
public typealias NavigationEvent = StateEvent

/// One presentation that is not gone. Every key of the state is a property: `presentation.since`.
@dynamicMemberLookup
public struct PresentationState: Hashable, Sendable {
  /// Names it, and nothing else ever.
  public let presentation: PresentationHandle
  /// Where its item is.
  public let binding: String
  /// The item's; empty for what has none (P7).
  public let id: String
  /// How far it is.
  public let phase: NavigationPhase
  /// nil is nothing but state, or a command that came with the request (D2).
  public let destination: String?
  /// Handed to its presenter: sheet, popover, alert, …
  public let style: String?
  /// What to call it where a name is shown.
  public let title: String?
  /// The group that it is a member of; its ``tag`` there.
  public let group: String?
  /// What its group selects it by.
  public let tag: String?
  /// The stack that it stands in.
  public let stack: String?
  /// What it is presented from; that does not go before it (C3).
  public let parent: PresentationHandle?
  /// The client whose leaving ends it (O1).
  public let owner: String?
  /// What the item holds.
  public let value: Properties
  /// What was set; ``Coordinator/members(of:)`` has the defaults, too.
  public let containerValues: Properties
  /// All that the coordinator says of it, by the names of its contract: `pid` and `unit` too.
  public let all: Properties

  /// - Returns: nil where it is no entry of the state.
  init?(_ entry: StateEntry) {
    guard let binding = entry.binding, let id = entry.id, let phase = entry.knownPhase, let number = entry.presentation
    else { return nil }
    presentation = PresentationHandle(number)
    self.binding = binding
    self.id = id
    self.phase = phase
    destination = entry.destination
    style = entry.style
    title = entry.title
    group = entry.group
    tag = entry.tag
    stack = entry.stack
    parent = entry.parent.map(PresentationHandle.init)
    owner = entry.owner
    value = entry.value ?? [:]
    containerValues = entry.containerValues ?? [:]
    all = entry.properties
  }

  /// The value of a key of the state; nil where it is absent.
  public subscript<T>(dynamicMember key: KeyPath<StateEntry.Keys, DictionaryKey<T>>) -> T? {
    all[StateEntry.keys[keyPath: key]]
  }

  /// - Parameter client: a ``Coordinator/client``.
  func isOwned(by client: String) -> Bool { owner.map(clientName) == client }
}

/// What tells a client from others in the names of its own things: a name (B1), made of what the bus calls it.
func clientName(_ uniqueName: String) -> String {
  String(uniqueName.drop { $0 == ":" }.map { $0 == "." ? "-" : $0 })
}

/// An exclusive group (rules G1–G9).
public struct GroupState: Hashable, Sendable {
  /// The tag that is selected; nil where none is.
  public let selection: String?
  /// Those that it knows: declared by destinations, or asked for.
  public let tags: [String]
  /// The tags that wait for their turn, the next one first (G9).
  public let queue: [String]
}

/// The whole state of a session.
public struct NavigationState: Hashable, Sendable {
  /// Of the last difference between two states (W1).
  public let serial: UInt64
  /// In the order of acceptance. A binding may stand here twice: the one that is going first.
  public let presentations: [PresentationState]
  /// By name.
  public let groups: [String: GroupState]
  /// The paths by the stacks' names, the bottom first.
  public let stacks: [String: [PathElement]]

  /// What a binding should show; nil where that is nothing.
  public func presentation(at binding: String) -> PresentationState? {
    presentations.last { $0.binding == binding && $0.phase != .dismissing }
  }

  init(_ state: StateSnapshot, serial: UInt64) {
    self.serial = serial
    presentations = state.entries.compactMap(PresentationState.init)
    groups = state.groupEntries.mapValues { group in
      GroupState(selection: group.selection, tags: group.tags ?? [], queue: group.queue ?? [])
    }
    stacks = state.paths
  }
}
