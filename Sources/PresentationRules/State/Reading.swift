import PresentationModel

extension StateMachine {
  public func presentation(_ handle: Handle) -> Presentation? { state.presentations[handle] }

  /// The presentation that a slot should show; nil for an empty slot.
  public func current(at binding: BindingID) -> Presentation? {
    state.slots[binding]?.current.flatMap { state.presentations[$0] }
  }

  /// The presentation from which another one is presented; nil if there is none, or it has ended
  /// (C1).
  public func parent(of handle: Handle) -> Presentation? {
    state.presentations[handle]?.parent.flatMap { state.presentations[$0] }
  }

  /// All presentations that have not ended, in the order of acceptance.
  public var allPresentations: [Presentation] { state.presentations.keys.sorted().map { state.presentations[$0]! } }

  /// Visits all presentations that have not ended, in any order: sorting many of them takes longer than most visits.
  public func forEachPresentation(_ visit: (Presentation) -> Void) { state.presentations.values.forEach(visit) }

  /// The handles of all presentations that have not ended, in any order.
  public var handles: some Collection<Handle> { state.presentations.keys }

  public var count: Int { state.presentations.count }

  /// The remembered ending of a presentation; nil if there is none.
  public func ending(of handle: Handle) -> Shared<Ending>? { state.endings[handle] }

  /// The remembered endings, the oldest first.
  public var history: [Shared<Ending>] { state.endings.inOrder.map(\.value) }

  /// The remembered endings after a serial, the latest first.
  public func endings(after serial: Serial) -> some Sequence<Shared<Ending>> {
    state.endings.fromNewest.prefix { $0.serial > serial }
  }

  /// Refuses a handle if neither its presentation nor its ending is known.
  /// - Throws: `Refusal` with the code `unknownPresentation`.
  public func requireKnown(_ handle: Handle) throws(Refusal) {
    guard state.presentations[handle] == nil, state.endings[handle] == nil else { return }
    try requireGivenOut(handle)
    throw Refusal(
      .unknownPresentation,
      "presentation \(handle) ended, and is no longer among the \(limits.remembered) endings remembered")
  }

  /// Refuses a handle that was never given out, as far as this is known.
  func requireGivenOut(_ handle: Handle) throws(Refusal) {
    guard handle.number > 0, handle <= lastHandle else {
      throw Refusal(
        .unknownPresentation,
        "there was no presentation \(handle); “navctl list” and “navctl history” show the numbers")
    }
  }

  /// The names of the groups that have a tag, in their order.
  public var groupNames: [BindingID] {
    Set(state.groups.keys).union(state.registry.declared.keys).union(state.registry.served.groups)
      .filter { hasTags($0) }.sorted { $0.text < $1.text }
  }

  /// Whether a group has a tag.
  public func hasTags(_ group: BindingID) -> Bool {
    let members = state.groups[group]
    return members?.selected != nil || members?.queue.isEmpty == false || state.registry.declared[group] != nil
      || state.registry.served.tags(of: group) != nil
  }

  /// The selected tag of a group; nil if nothing is selected.
  public func selection(of group: BindingID) -> String? {
    state.groups[group]?.selected.flatMap { current(at: $0)?.item.membership?.tag }
  }

  /// The tags of a group, in their order: those that destinations declare or programs serve, and those of its members (G7).
  public func tags(of group: BindingID) -> [String] {
    var tags = Set(state.registry.declared[group]?.keys.map(\.self) ?? [])
    if let served = state.registry.served.tags(of: group) { tags.formUnion(served.keys) }
    tags.formUnion(queuedTags(of: group))
    if let selected = selection(of: group) { tags.insert(selected) }
    return tags.sorted()
  }

  /// The tags in a group's queue, the next one first.
  public func queuedTags(of group: BindingID) -> [String] { state.groups[group]?.queue.tags ?? [] }

  /// The place of a presentation in the queue of its group: 1 for the next one; nil if it is not queued.
  public func queuedPlace(of presentation: Presentation) -> UInt32? {
    guard presentation.item.isQueued, let group = presentation.item.membership?.group else { return nil }
    return state.groups[group]?.queue.index(of: presentation.binding).map { UInt32(clamping: $0 + 1) }
  }

  /// The presentations in a group's queue, the next one first.
  public func queued(in group: BindingID) -> [Handle] {
    state.groups[group]?.queue.entries.compactMap { state.slots[$0.binding]?.current } ?? []
  }

  /// The titles of a group's tags: those of its members' items, or else of the destinations that declare the tags.
  public func titles(of group: BindingID) -> [String: String] {
    var titles: [String: String] = [:]
    for (tag, declared) in state.registry.declared[group] ?? [:] {
      titles[tag] = state.registry[declared.destination]?.itemSettings?.options.title
    }
    let members = state.groups[group]
    for binding in (members?.queue.entries.map(\.binding) ?? []) + [members?.selected].compactMap(\.self) {
      guard let item = current(at: binding)?.item, let tag = item.membership?.tag, let title = item.title else {
        continue
      }
      titles[tag] = title
    }
    return titles
  }

  /// The names of all stacks that are not empty, in their order.
  public var stackNames: [BindingID] {
    state.stacks.filter { !$0.value.path.isEmpty }.keys.sorted { $0.text < $1.text }
  }

  /// The path of a stack, the bottom first (S1).
  public func path(of stack: BindingID) -> [PathElement] {
    state.stacks[stack]?.path.compactMap { binding in
      current(at: binding).map { PathElement(binding: binding.text, id: $0.item.id) }
    } ?? []
  }

  /// Whether a presentation is the current one of its slot.
  func isCurrent(_ handle: Handle) -> Bool {
    state.presentations[handle].map { state.slots[$0.binding]?.current == handle } ?? false
  }

}
