import PresentationModel
import TextFormats

/// The answer to a request, as far as it is known before the commit. `Transition.reply` completes it.
enum Answer: Sendable {
  case presentation(BindingID)
  case toggled(BindingID)
  case selected(BindingID, tag: String)
  case changed(Subject)
  /// - Parameter isForgotten: whether the group remembered a request for the tag.
  case forgotten(_ isForgotten: Bool)
  case count(Int)
  case path([BindingID])
}

extension Planner {
  /// Plans one operation with the three primitives `set`, `clear` and `edit`.
  mutating func plan(_ operation: Request.Operation) throws(Refusal) -> Answer {
    switch operation {
    case .present(let binding, let id, let options):
      try set(binding, id: id, options)
      return .presentation(binding)

    case .toggle(let binding, let id, let options, let anyID):
      if let current = item(at: binding), !isWithoutWindow(binding), !isElsewhere(binding, options),
        anyID || current.id == requestedID(id, at: binding, options)
      {
        if !raisesWindows(of: binding), !isOnItsWay(binding) { clear(binding, reason: .dismissed) }
      } else if item(at: binding) != nil || !state.wasJustUnfocused(binding, at: now) {
        try requireTrust(of: author, toRunBy: options)
        try set(binding, id: id, options)
      }
      return .toggled(binding)

    case .update(let binding, let value, let remove, let containerValues, let timeout):
      try edit(binding, value: value, remove: remove, containerValues: containerValues, timeout: timeout)
      return .changed(.slot(binding))

    case .dismiss(let binding):
      clear(binding, reason: .dismissed)
      return .changed(.slot(binding))

    case .dismissAll(.parked):
      draft.endsParked.isAsked = true
      return .count(machine.countOfParked)

    case .dismissAll(let scope):
      return .count(dismissAll(scope))

    case .select(let group, let tag, let binding, let id, let options):
      return .presentation(try select(group, tag, binding, id, options))

    case .deselect(let group, let tag):
      deselect(group, tag)
      return .changed(.group(group))

    case .toggleSelection(let group, let tag, let binding, let id, let options):
      try machine.check(tag: tag)
      if let selected = selected(in: group), selectedTag(in: group) == tag,
        !isWithoutWindow(selected), !isElsewhere(selected, options)
      {
        if !raisesWindows(of: selected), !isOnItsWay(selected) { deselect(group, tag) }
      } else if let held = heldInQueue(GroupTag(group: group, tag: tag)) {
        clear(held, reason: .deselected)
      } else if !state.wasJustUnfocused(binding, GroupTag(group: group, tag: tag), at: now) {
        try requireTrust(of: author, toRunBy: options)
        _ = try select(group, tag, binding, id, options)
      }
      return .selected(group, tag: tag)

    case .forget(let group, let tag):
      try machine.check(tag: tag)
      let key = GroupTag(group: group, tag: tag)
      guard remembered(key) != nil else { return .forgotten(false) }
      draft.learned[key] = nil
      draft.forgotten.insert(key)
      return .forgotten(true)

    case .push(let stack, let binding, let id, var options):
      if let position = item(at: binding)?.position,
        position.stack != stack || position.index != height(of: stack) - 1
      {
        throw Refusal(
          .alreadyInStack,
          "“\(binding)” is already at position \(position.index) of the stack “\(position.stack)”; pop it first, or push "
            + "another binding"
        )
      }
      if let given = options.stack, given != stack {
        throw Refusal(
          .invalidArgument, "the option stack is “\(given)”, but the push is onto “\(stack)”; leave the option out")
      }
      options.stack = stack
      try set(binding, id: id, options)
      return .presentation(binding)

    case .pop(let stack, let count):
      let height = height(of: stack)
      let popped = min(height, Int(count))
      cut(stack, to: height - popped)
      return .count(popped)

    case .popTo(let stack, let binding):
      let height = height(of: stack)
      var remaining = 0
      if let binding {
        guard let position = item(at: binding)?.position, position.stack == stack else {
          throw Refusal(
            .notPresented, "“\(binding)” is not in the stack “\(stack)”; use a binding that is in it, or none")
        }
        remaining = position.index + 1
      }
      cut(stack, to: remaining)
      return .count(height - remaining)

    case .setPath(let stack, let elements):
      return .path(try setPath(stack, elements))
    }
  }

  /// The slot that a request presents in.
  func presented(by answer: Answer) -> BindingID? {
    switch answer {
    case .presentation(let binding), .toggled(let binding): binding
    case .selected(let group, let tag): holder(of: GroupTag(group: group, tag: tag))
    case .changed, .forgotten, .count, .path: nil
    }
  }

  /// The slots, groups and stacks that a request names, directly or by the item that it presents.
  mutating func forced(by operation: Request.Operation) -> Set<Subject> {
    func subjects(of binding: BindingID?) -> Set<Subject> {
      guard let binding else { return [] }
      var found: Set<Subject> = [.slot(binding)]
      let item = item(at: binding)
      if let group = item?.membership?.group { found.insert(.group(group)) }
      if let stack = item?.position?.stack { found.insert(.stack(stack)) }
      return found
    }
    switch operation {
    case .present(let binding, _, _), .toggle(let binding, _, _, _), .dismiss(let binding): return subjects(of: binding)
    case .update, .forget: return []
    case .dismissAll(.parked):
      draft.endsParked.isForced = true
      return []
    case .dismissAll(.group(let group)), .deselect(let group, _): return [.group(group)]
    // The item may have to wait in a queue, or for a hold.
    case .select(let group, let tag, _, _, _), .toggleSelection(let group, let tag, _, _, _):
      return subjects(of: holder(of: GroupTag(group: group, tag: tag))).union([.group(group)])
    case .dismissAll(.stack(let stack)), .pop(let stack, _), .popTo(let stack, _): return [.stack(stack)]
    case .push(let stack, let binding, _, _): return subjects(of: binding).union([.stack(stack)])
    case .setPath(let stack, _):
      // Elements out of view are not on the path: their program keeps them (D20).
      return (0..<height(of: stack)).reduce(into: [.stack(stack)]) {
        $0.formUnion(subjects(of: binding(on: stack, at: $1)))
      }
    case .dismissAll(.root(let root)):
      return slots(state.bindingsOfRoot[root] ?? [], forcedBy: .root(root))
    case .dismissAll(.everything): return slots(state.slots.keys, forcedBy: .everything)
    }
  }

  /// The slots of a scope; none if an earlier request of the transaction has forced them.
  private mutating func slots(
    _ bindings: some Sequence<BindingID>, forcedBy scope: Scope<BindingID>
  ) -> Set<Subject> {
    draft.forcedScopes.insert(scope).inserted ? Set(bindings.map { .slot($0) }) : []
  }

  func selectedTag(in group: BindingID) -> String? {
    selected(in: group).flatMap { item(at: $0)?.membership?.tag }
  }

  /// The binding of a member that waits in its group's queue for the end of a hold. No request can select it before (H4).
  private func heldInQueue(_ member: GroupTag) -> BindingID? {
    guard let queued = queue(of: member.group).binding(of: member.tag) else { return nil }
    return item(at: queued)?.isHeld(by: state.holdsInForce) == true ? queued : nil
  }

  private mutating func dismissAll(_ scope: Scope<BindingID>) -> Int {
    let bindings: [BindingID]
    switch scope {
    case .root(let root):
      bindings = candidates(scope, state.bindingsOfRoot[root] ?? []) { $0.root == root }
    case .everything:
      bindings = candidates(scope, state.slots.keys) { _ in true }
    case .group(let group):
      bindings = queue(of: group).entries.map(\.binding) + (selected(in: group).map { [$0] } ?? [])
    case .parked: bindings = []
    case .stack(let stack):
      bindings = (0..<height(of: stack)).reversed().map { binding(on: stack, at: $0) }
    }
    var count = 0
    for binding in bindings where item(at: binding) != nil {
      clear(binding, reason: .dismissed)
      count += 1
    }
    return count
  }

  /// The slots of a scope that hold an item; the caller empties them. However often a transaction empties the scope, it looks at each
  /// slot once, and once more for each new item in it.
  private mutating func candidates(
    _ scope: Scope<BindingID>, _ known: some Collection<BindingID>, where fits: (BindingID) -> Bool
  ) -> [BindingID] {
    let emptied = draft.emptied.updateValue(draft.renewed.count, forKey: scope)
    let renewed = draft.renewed[(emptied ?? 0)...]
    var all = Set(renewed.filter(fits))
    if emptied == nil { all.formUnion(known) }
    return topmostFirst(all.filter { item(at: $0) != nil }.sorted { $0.text < $1.text })
  }

  /// The bindings, the topmost element of each stack first. In this order, no end pops an item that is to end for its own reason.
  func topmostFirst(_ bindings: [BindingID]) -> [BindingID] {
    guard bindings.contains(where: { item(at: $0)?.position != nil }) else { return bindings }
    return bindings.enumerated().sorted { a, b in
      let (height, other) = (item(at: a.element)?.position?.index ?? 0, item(at: b.element)?.position?.index ?? 0)
      return height != other ? height > other : a.offset < b.offset
    }.map(\.element)
  }

  private mutating func select(
    _ group: BindingID, _ tag: String, _ binding: BindingID?, _ id: String?, _ given: ItemOptions
  ) throws(Refusal) -> BindingID {
    try machine.check(tag: tag)
    if let other = given.group, other != group {
      throw Refusal(
        .invalidArgument, "the option group is “\(other)”, but the request selects in “\(group)”; leave the option out")
    }
    if let other = given.tag, other != tag {
      throw Refusal(
        .invalidArgument,
        "the option tag is \(quoted(other)), but the request selects \(quoted(tag)); leave the option out")
    }
    let key = GroupTag(group: group, tag: tag)
    // An item that its user has closed is selected as if no member were (N3).
    if let selected = selected(in: group), selectedTag(in: group) == tag, isWithoutWindow(selected) {
      clear(selected, reason: .closed)
    }
    if let selected = selected(in: group), let item = item(at: selected), item.membership?.tag == tag {
      if let binding, binding != selected {
        throw Refusal(
          .invalidArgument,
          "binding is “\(binding)”, but the item at “\(selected)” already has the tag \(quoted(tag)); dismiss that first"
        )
      }
      try machine.check(given)
      // The group may come from the destination; naming it changes nothing.
      try set(selected, id: id ?? item.id, withGroup(given, group, tag), isChecked: true)
      return selected
    }
    let remembered = remembered(key)
    // What an earlier copy of the program was asked for names a destination that is gone.
    var memory = try served(group, tag) ?? remembered ?? declared(group, tag)
    if let queued = queue(of: group).binding(of: tag) {
      // The item is found by its tag even if the group no longer remembers the request for it.
      if remembered?.binding != queued {
        memory = TagMemory(binding: queued, id: item(at: queued)?.id ?? "", options: ItemOptions(), isTrusted: true)
      }
    }
    // A command gets no id and no value that may be from a client in a sandbox (L3).
    if given.command != nil, memory?.isTrusted == false { memory = declared(group, tag) }
    guard let target = binding ?? memory?.binding ?? group.appending(name: tag) else {
      throw Refusal(
        .unknownTag,
        "tag \(quoted(tag)) is unknown in the group “\(group)”, and \(quoted("\(group).\(tag)")) is not a binding; present "
          + "an item with this group and tag once, or give a binding")
    }
    let id = id ?? memory?.id ?? ""
    // The client that registered the destination may have left. An item that is there keeps it.
    if given.destination == nil, given.command == nil, let gone = memory?.options.destination,
      state.registry[gone] == nil, state.registry.mistake(in: gone) == nil, item(at: target)?.id != id
    {
      throw Refusal(
        .unknownDestination,
        "the tag \(quoted(tag)) was last presented by the destination \(quoted(gone)), which is gone; present it anew with "
          + "this group and tag, or forget the tag")
    }
    var options = withGroup((memory?.options ?? ItemOptions()).overridden(by: given), group, tag)
    if let memory {
      options = try permitted(options, of: memory, at: target, id: id, GroupTag(group: group, tag: tag))
    }
    // Options that the group remembers were checked when it stored them.
    try machine.check(given)
    try set(
      target, id: id, options, isTrusted: memory?.isTrusted ?? true, of: binding == nil ? key : nil, isChecked: true)
    return target
  }

  /// The refusal of a tag that nothing shows, in a request that needs a known name.
  func unknownTag(_ member: GroupTag) -> Refusal {
    let (group, tag) = (member.group, member.tag)
    // The tag's destination may declare it, but its file has a mistake.
    if state.registry.mistake(in: tag) != nil { return unknownDestination(tag) }
    if remembered(member) != nil {
      return Refusal(
        .unknownTag,
        "nothing shows the tag \(quoted(tag)) of the group “\(group)” now, neither a destination nor a command")
    }
    let tags = machine.tags(of: group)
    if tags.isEmpty {
      let groups = machine.groupNames.lazy.map(\.text)
      let hint = nearest(to: group.text, among: groups).map { "did you mean “\($0)”?" }
      let advice = "present an item with this group, or name the group in a destination's file"
      return Refusal(.unknownTag, "there is no group “\(group)”; \(hint ?? advice)")
    }
    let hint = nearest(to: tag, among: tags).map { "did you mean \(quoted($0))?" }
    return Refusal(
      .unknownTag,
      "the group “\(group)” has no tag \(quoted(tag)); \(hint ?? "present an item with this group and tag once")")
  }

  private func withGroup(_ options: ItemOptions, _ group: BindingID, _ tag: String) -> ItemOptions {
    var copy = options
    copy.group = group
    copy.tag = tag
    return copy
  }

  /// The last request for a tag, if it is remembered (G7).
  func remembered(_ key: GroupTag) -> TagMemory? {
    draft.learned[key] ?? (draft.forgotten.contains(key) ? nil : state.tagMemory[key])
  }

  /// The request that a destination declares for a tag (G7).
  func declared(_ group: BindingID, _ tag: String) -> TagMemory? {
    guard let declared = state.registry.declared[group]?[tag] else { return nil }
    var options = ItemOptions()
    options.destination = declared.destination
    return TagMemory(binding: declared.binding, id: "", options: options, isTrusted: true)
  }

  private mutating func deselect(_ group: BindingID, _ tag: String?) {
    guard let selected = selected(in: group), tag == nil || selectedTag(in: group) == tag else { return }
    clear(selected, reason: .deselected)
  }

  /// Replaces the path, except for the beginning that both paths have in common (S5).
  private mutating func setPath(_ stack: BindingID, _ elements: [RequestedElement]) throws(Refusal) -> [BindingID] {
    draft.pathElements += elements.count
    try state.limits.check("transaction", draft.pathElements, state.limits.transaction, of: "elements of paths")
    var bindings: [BindingID] = []
    bindings.reserveCapacity(elements.count)
    var seen: Set<BindingID> = []
    for (index, element) in elements.enumerated() {
      guard let binding = element.binding ?? stack.appending(index: index) else {
        throw Refusal(
          .invalidBinding, "element \(index): “\(stack)[\(index)]” is too long for a binding; name a shorter one")
      }
      guard seen.insert(binding).inserted else {
        throw Refusal(
          .alreadyInStack, "element \(index): “\(binding)” is in the path twice; use another binding")
      }
      bindings.append(binding)
    }
    var common = 0
    while common < min(height(of: stack), elements.count), binding(on: stack, at: common) == bindings[common],
      let held = item(at: bindings[common]),
      held.id == requestedID(elements[common].id, at: bindings[common], elements[common].options)
    {
      common += 1
    }
    cut(stack, to: common)
    for (index, element) in elements.enumerated() {
      let binding = bindings[index]
      if index >= common, let position = item(at: binding)?.position {
        throw Refusal(
          .alreadyInStack,
          "element \(index): “\(binding)” is already in the stack “\(position.stack)”; use another binding")
      }
      var options = element.options
      if let given = options.stack, given != stack {
        throw Refusal(
          .invalidArgument,
          "element \(index): the option stack is “\(given)”, but the path is of “\(stack)”; leave the option out")
      }
      options.stack = stack
      do throws(Refusal) {
        try set(binding, id: element.id, options)
      } catch {
        throw error.of("element \(index)")
      }
    }
    return bindings
  }
}

// MARK: Expectations

extension Planner {
  /// Refuses a request whose expectations do not hold after the requests before it (P10).
  func check(_ expectation: Expectation, of operation: Request.Operation) throws(Refusal) {
    guard expectation != Expectation() else { return }
    let slot = operation.slot
    if let id = expectation.id {
      let binding = try require(slot, "expected-id")
      let held = item(at: binding)?.id
      guard held == id else {
        throw Refusal(
          .stale,
          "expected-id is \(quoted(id)), but “\(binding)” shows "
            + (held.map { "the id \(quoted($0))" } ?? "nothing"))
      }
    }
    if expectation.content != nil {
      let expected = expectation.presentation
      let binding = try require(slot, "expected-presentation")
      let drafted = draft.slots[binding]
      let held = drafted == nil ? state.slots[binding]?.current : drafted?.item == nil ? nil : drafted?.before
      let isNew = if case .renewed? = drafted?.change { true } else { false }
      guard held == expected, !isNew else {
        throw Refusal(
          .stale,
          "expected-presentation is \(expected.map(\.description) ?? "none"), but “\(binding)” shows "
            + (held.map(\.description) ?? "none"))
      }
    }
  }

  private func require(_ slot: BindingID?, _ option: String) throws(Refusal) -> BindingID {
    guard let slot else {
      throw Refusal(.invalidArgument, "\(option) needs a binding, and this request names none; leave it out")
    }
    return slot
  }
}

extension Request.Operation {
  /// The slot that a request names; nil if it names none.
  fileprivate var slot: BindingID? {
    switch self {
    case .present(let binding, _, _), .toggle(let binding, _, _, _), .update(let binding, _, _, _, _),
      .dismiss(let binding), .push(_, let binding, _, _):
      binding
    case .select(_, _, let binding, _, _), .toggleSelection(_, _, let binding, _, _), .popTo(_, let binding): binding
    case .deselect, .forget, .pop, .setPath, .dismissAll: nil
    }
  }
}
