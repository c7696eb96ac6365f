// Why this file exists: what is presented in the session, and what changes, as Swift values.

import CoordinatorAPI
import DBusValues

/// How far a presentation is (docs/semantics.md, *Words*).
public enum NavigationPhase: String, Hashable, Sendable, CaseIterable {
  /// Something has to go, or to come, first (P13).
  case waiting
  /// Its presenter was told, and has not answered.
  case presenting
  /// It is on screen.
  case presented
  /// Its presenter was told to let it go.
  case dismissing
}

/// Why a presentation is gone (docs/semantics.md, *Words*).
public enum NavigationReason: String, Hashable, Sendable, CaseIterable {
  /// Somebody asked for it.
  case dismissed
  /// Its user closed it, or it ended by itself.
  case closed
  /// Its binding holds another id.
  case replaced
  /// Its group's selection is another, or nil.
  case deselected
  /// Its stack was cut below it, or at it.
  case popped
  /// What it was presented from went.
  case parent
  /// Its time was over.
  case expired
  /// The client that it belonged to left the bus.
  case owner
  /// It could not be shown, or its presenter crashed.
  case failed
  /// It went while no coordinator was running.
  case lost
  /// The coordinator was told to quit.
  case shutdown
}

/// One screen of a stack's path (rule S1).
public struct PathElement: Hashable, Sendable {
  /// Where the screen's item is.
  public let binding: String
  /// The item's.
  public let id: String

  /// A screen of a path.
  public init(binding: String, id: String) {
    self.binding = binding
    self.id = id
  }
}

/// One presentation that is not gone.
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
  init?(_ all: Properties) {
    func text(_ key: String) -> String? { all[key].flatMap(String.init(value:)) }
    func properties(_ key: String) -> Properties { all[key].flatMap(Properties.init(value:)) ?? [:] }
    guard let binding = text("binding"), let id = text("id"), let phase = text("phase").flatMap(NavigationPhase.init),
      let number = all["presentation"].flatMap(UInt64.init(value:))
    else { return nil }
    presentation = PresentationHandle(number)
    self.binding = binding
    self.id = id
    self.phase = phase
    destination = text("destination")
    style = text("style")
    title = text("title")
    group = text("group")
    tag = text("tag")
    stack = text("stack")
    parent = all["parent"].flatMap(UInt64.init(value:)).map(PresentationHandle.init)
    owner = text("owner")
    value = properties("value")
    containerValues = properties("container-values")
    self.all = all
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

  init(_ state: Properties, serial: UInt64) {
    self.serial = serial
    presentations =
      state["presentations"].flatMap([Properties].init(value:))?.compactMap(PresentationState.init) ?? []
    groups = (state["groups"].flatMap(Properties.init(value:)) ?? [:]).compactMapValues { value in
      Properties(value: value).map { group in
        GroupState(
          selection: group["selection"].flatMap(String.init(value:)),
          tags: group["tags"].flatMap([String].init(value:)) ?? [],
          queue: group["queue"].flatMap([String].init(value:)) ?? [])
      }
    }
    stacks = (state["stacks"].flatMap(Properties.init(value:)) ?? [:]).compactMapValues { value in
      [Properties](value: value)?.compactMap { element in
        guard let binding = element["binding"].flatMap(String.init(value:)),
          let id = element["id"].flatMap(String.init(value:))
        else { return nil }
        return PathElement(binding: binding, id: id)
      }
    }
  }
}

/// One difference between two states (rule W1).
public struct NavigationEvent: Hashable, Sendable {
  /// The presentation that something happened to.
  public struct Subject: Hashable, Sendable {
    /// Where its item is, or was.
    public let binding: String
    /// The item's.
    public let id: String
    /// Which one.
    public let presentation: PresentationHandle
  }

  /// What happened.
  public enum Kind: Hashable, Sendable {
    /// It is on screen; `item` by the names of the contract.
    case presented(Subject, item: Properties)
    /// It was changed in place.
    case updated(Subject, item: Properties)
    /// It is on its way, where that took more than the request.
    case phase(Subject, NavigationPhase)
    /// It is gone, and why; told for every presentation, shown or not, once (P6).
    case dismissed(Subject, NavigationReason)
    /// Something was done in it (P8).
    case action(Subject, String, parameters: Properties)
    /// A group's selection is another; nil where nothing is selected.
    case selection(group: String, tag: String?)
    /// A group has other tags, or another queue.
    case group(String, tags: [String], queue: [String])
    /// A stack's path is another.
    case path(stack: String, [PathElement])
  }

  /// Of the state after it; one more than the event's before it.
  public let serial: UInt64
  /// What happened.
  public let kind: Kind

  /// - Returns: nil where the coordinator speaks of what this library does not know.
  init?(_ event: CoordinatorEvent) {
    func subject(_ subject: CoordinatorEvent.Subject) -> Subject {
      Subject(
        binding: subject.binding, id: subject.id, presentation: PresentationHandle(subject.presentation))
    }
    serial = event.serial
    switch event.kind {
    case .presented(let about, let item): kind = .presented(subject(about), item: item)
    case .updated(let about, let item): kind = .updated(subject(about), item: item)
    case .phase(let about, let word):
      guard let phase = NavigationPhase(rawValue: word) else { return nil }
      kind = .phase(subject(about), phase)
    case .dismissed(let about, let word):
      guard let reason = NavigationReason(rawValue: word) else { return nil }
      kind = .dismissed(subject(about), reason)
    case .action(let about, let action, let parameters):
      kind = .action(subject(about), action, parameters: parameters)
    case .selection(let group, let tag): kind = .selection(group: group, tag: tag)
    case .group(let group, let tags, let queue): kind = .group(group, tags: tags, queue: queue)
    case .path(let stack, let path):
      kind = .path(stack: stack, path.map { PathElement(binding: $0.binding, id: $0.id) })
    }
  }
}
