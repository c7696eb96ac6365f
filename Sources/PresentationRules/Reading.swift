// Why this file exists: the state as others read it, without a way to change it.

import PresentationModel

extension StateMachine {
  /// A presentation that is not gone.
  public func presentation(_ handle: Handle) -> Presentation? { presentations[handle] }

  /// The presentation of what a slot should show; nil where it is nil.
  public func current(at binding: BindingID) -> Presentation? {
    slots[binding]?.current.flatMap { presentations[$0] }
  }

  /// What a presentation is presented from (C1); nil where there is none, or it is gone.
  public func parent(of handle: Handle) -> Presentation? {
    presentations[handle]?.parent.flatMap { presentations[$0] }
  }

  /// All presentations that are not gone, in the order of acceptance.
  public var allPresentations: [Presentation] { presentations.keys.sorted().map { presentations[$0]! } }

  public var count: Int { presentations.count }

  /// Whether an item is a client's, and not only something that goes already.
  public func ownsItem(_ client: Client) -> Bool { ownedBy[client]?.contains(where: isOwn) == true }

  /// How a presentation ended, as far as it is remembered.
  public func ending(of handle: Handle) -> Ending? { endings[handle] }

  /// The remembered endings, the oldest first.
  public var history: [Ending] { endings.inOrder.map(\.value) }

  /// A presentation's ending, its being there, or why neither is known.
  /// - Throws: `Refusal` with the code `unknownPresentation`.
  public func requireKnown(_ handle: Handle) throws(Refusal) {
    guard presentations[handle] == nil, endings[handle] == nil else { return }
    guard wasGivenOut(handle) else { throw unknown(handle) }
    throw Refusal(
      .unknownPresentation,
      "presentation \(handle) ended, and is no longer among the \(limits.endings) endings remembered")
  }

  /// The names of all groups of which something is known, in their order.
  public var groupNames: [BindingID] {
    Set(groups.keys).union(registry.declared.keys).sorted { $0.text < $1.text }
  }

  /// The tag that a group has selected; nil is none.
  public func selection(of group: BindingID) -> String? {
    groups[group]?.selected.flatMap { current(at: $0)?.item.membership?.tag }
  }

  /// The tags that a group knows, in their order.
  public func tags(of group: BindingID) -> [String] {
    (groups[group]?.remembered ?? []).union(registry.declared[group]?.keys.map(\.self) ?? []).sorted()
  }

  /// The tags that wait in a group's queue, the next one first.
  public func queuedTags(of group: BindingID) -> [String] { groups[group]?.queue.map(\.tag) ?? [] }

  /// The names of all stacks that are not empty, in their order.
  public var stackNames: [BindingID] {
    stacks.filter { !$0.value.path.isEmpty }.keys.sorted { $0.text < $1.text }
  }

  /// What stands on a stack, the bottom first (S1).
  public func path(of stack: BindingID) -> [PathElement] {
    stacks[stack]?.path.compactMap { binding in
      current(at: binding).map { PathElement(binding: binding.text, id: $0.item.id) }
    } ?? []
  }
}
