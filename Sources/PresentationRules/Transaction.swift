import DBusValues

/// One or several requests, carried out as a whole or not at all (T1).
///
/// It owns the turn, and with it the state, which it reads but cannot change: it plans a draft, and `Turn.commit` makes
/// that the state. Requests are planned against what slots should show, never against phases (P11). The draft holds only
/// what requests touch, so the rest of the state costs nothing.
struct Transaction: ~Copyable {
  let turn: Turn
  var draft: Draft
  /// The author of the request that is being planned.
  var author = Author(client: nil, request: 0, animated: true)
  /// Bindings whose resolution has to be decided, or decided again.
  var unresolved: [BindingID] = []
  private var acceptances = 0

  var state: State { _read { yield turn.state } }

  /// - Parameter client: the client whose requests these are, or whose request causes them.
  init(in turn: consuming Turn, by client: Client?) {
    draft = Draft(lastQueueAge: turn.state.lastQueueAge, endedBy: client)
    self.turn = turn
  }

  /// Plans one request.
  /// - Throws: `Refusal`, with the index of the request.
  mutating func plan(_ request: Request, by author: Author) throws(Refusal) -> Answer {
    self.author = author
    do throws(Refusal) {
      try check(request.expectation, of: request.operation)
      return try plan(request.operation)
    } catch {
      throw error.about(author)
    }
  }

  /// Plans to empty the slots of presentations that are the current ones of theirs.
  mutating func clear(_ ends: [End]) {
    var reasons: [BindingID: Reason] = [:]
    var bindings: [BindingID] = []
    for end in ends {
      guard let binding = state.presentations[end.handle]?.binding else { continue }
      reasons[binding] = end.reason
      bindings.append(binding)
      if end.isOver { draft.over.insert(end.handle) }
    }
    for binding in topmostFirst(bindings) { clear(binding, reason: reasons[binding]!) }
  }
}

extension Refusal {
  /// Names the request of the transaction that was refused.
  func about(_ author: Author) -> Refusal {
    var copy = self
    copy.index = author.request
    return copy
  }
}

// MARK: What the draft says

extension Transaction {
  /// The item that a slot should show.
  func item(at binding: BindingID) -> Shared<Item>? {
    if let drafted = draft.slots[binding] { return drafted.item }
    guard let handle = state.slots[binding]?.current else { return nil }
    return state.presentations[handle]?.item
  }

  /// Whether a slot holds an item that something could be presented from (G9: a queued one is nobody's parent).
  func canBeParent(_ binding: BindingID) -> Bool { item(at: binding).map { !$0.isQueued } ?? false }

  func selected(in group: BindingID) -> BindingID? {
    if let drafted = draft.groups[group] { return drafted.selected }
    return state.groups[group]?.selected
  }

  func queue(of group: BindingID) -> [QueueEntry] {
    if let drafted = draft.groups[group] { return drafted.queue }
    return state.groups[group]?.queue ?? []
  }

  func height(of stack: BindingID) -> Int {
    if let drafted = draft.stacks[stack] { return drafted.count }
    return state.stacks[stack]?.path.count ?? 0
  }

  /// What stands on a stack at a position below its height.
  func binding(on stack: BindingID, at position: Int) -> BindingID {
    if let drafted = draft.stacks[stack], position >= drafted.kept { return drafted.rest[position - drafted.kept] }
    return state.stacks[stack]!.path[position]
  }

  /// The nearest binding that one derives from and that can be a parent (C1).
  func impliedParent(of binding: BindingID) -> BindingID? {
    var ancestor = binding.deriving
    while let candidate = ancestor {
      if canBeParent(candidate) { return candidate }
      ancestor = candidate.deriving
    }
    return nil
  }

  /// The binding whose item another binding's item is, or would be, presented from.
  func parent(of binding: BindingID) -> BindingID? {
    let before: Handle?
    if let drafted = draft.slots[binding] {
      switch drafted.from {
      case .named(let parent): return parent
      case .implied: return impliedParent(of: binding)
      case .asBefore: before = drafted.before
      }
    } else {
      before = state.slots[binding]?.current
    }
    return before.flatMap { turn.machine.parent(of: $0)?.binding }
  }
}

// MARK: What the draft is told

extension Transaction {
  mutating func withSlot(_ binding: BindingID, _ body: (inout SlotDraft) -> Void) {
    if draft.slots[binding] == nil {
      let before = state.slots[binding]?.current
      draft.order.append(binding)
      draft.slots[binding] = SlotDraft(
        before: before, item: before.flatMap { state.presentations[$0]?.item }, author: author)
    }
    body(&draft.slots[binding]!)
  }

  /// Asks for the resolution of a slot that changed in the draft.
  mutating func reopen(_ binding: BindingID) {
    draft.slots[binding]!.resolution = .undecided
    unresolved.append(binding)
  }

  mutating func withGroup(_ group: BindingID, _ body: (inout GroupDraft) -> Void) {
    if draft.groups[group] == nil {
      let before = state.groups[group]
      draft.groups[group] = GroupDraft(
        selected: before?.selected, queue: before?.queue ?? [], tagBefore: turn.machine.selection(of: group),
        queueBefore: before?.queue ?? [])
    }
    body(&draft.groups[group]!)
  }

  mutating func withStack(_ stack: BindingID, _ body: (inout StackDraft) -> Void) {
    if draft.stacks[stack] == nil { draft.stacks[stack] = StackDraft(kept: state.stacks[stack]?.path.count ?? 0) }
    body(&draft.stacks[stack]!)
  }

  /// Writes nil to a slot, after the slots of what stands above it in its stack (S2).
  mutating func clear(_ binding: BindingID, reason: Reason) {
    guard let item = item(at: binding) else { return }
    if let position = item.position { cut(position.stack, to: position.index + 1) }
    leave(item, at: binding)
    let author = author
    withSlot(binding) { slot in
      slot.item = nil
      slot.change = .cleared
      slot.ends(reason, by: author)
    }
    reopen(binding)
  }

  /// Takes from a stack all that stands at or above a position, from the top.
  mutating func cut(_ stack: BindingID, to position: Int) {
    while height(of: stack) > position {
      clear(binding(on: stack, at: height(of: stack) - 1), reason: .popped)
    }
  }

  /// Takes an item out of its group and its stack; what stood above it is gone already.
  private mutating func leave(_ item: Shared<Item>, at binding: BindingID) {
    if let membership = item.membership {
      withGroup(membership.group) { group in
        if item.isQueued {
          group.dequeue(binding)
        } else {
          group.selected = nil
        }
      }
    }
    if let position = item.position {
      withStack(position.stack) { stack in
        if stack.rest.isEmpty { stack.kept -= 1 } else { stack.rest.removeLast() }
      }
    }
  }

  /// Sets a slot to an item: the one primitive behind present, toggle, select, push and set path.
  mutating func set(_ binding: BindingID, id: String, _ options: ItemOptions) throws(Refusal) {
    try turn.machine.check(options)
    try turn.machine.check(id: id)
    let current = item(at: binding)
    let isRefresh = current?.id == id
    if let current, isRefresh {
      try refresh(binding, current, options)
    } else {
      try renew(binding, id: id, options)
    }
    if let membership = item(at: binding)?.membership {
      learn(membership, binding, id: id, options, addingToEarlier: isRefresh)
    }
  }

  /// The same id again: what the request gives is replaced whole, what it does not give stays (P2).
  private mutating func refresh(_ binding: BindingID, _ current: Shared<Item>, _ options: ItemOptions) throws(Refusal) {
    if let fault = difference(of: options, from: current, at: binding) { throw fault }
    try turn.machine.check(options.ifBusy, with: options.stack)
    var item = current.content.applying(options, by: author)
    if let membership = current.membership {
      try take(
        membership, for: binding, item: &item, policy: options.ifBusy ?? .replace,
        dependencies: [parent(of: binding)].compactMap(\.self))
    }
    let author = author
    let accepted = countAcceptance()
    withSlot(binding) { slot in
      slot.item = Shared(item)
      if case .renewed(let given) = slot.change {
        slot.change = .renewed(given: Shared(given.content.overridden(by: options)))
      } else {
        slot.change = .refreshed
      }
      slot.accepted = accepted
      if let from = options.from { slot.from = .named(from) }
      slot.restartsTimeout = slot.restartsTimeout || options.timeout != nil
      slot.author = author
    }
    reopen(binding)
  }

  /// What would make a request with the same id ask for something else than an update (P2).
  func difference(of options: ItemOptions, from current: Shared<Item>, at binding: BindingID) -> Refusal? {
    func differs(_ what: String, _ asked: String, _ held: String?) -> Refusal {
      Refusal(
        .invalidArgument,
        "\(what) is “\(abridged(asked))”, but “\(binding)” shows the id “\(abridged(current.id))” with "
          + (held.map { "“\(abridged($0))”" } ?? "none") + "; dismiss it first, or leave \(what) out")
    }
    if let name = options.destination, name != current.destination?.givenName {
      return differs("destination", name, current.destination?.givenName)
    }
    if let command = options.command, .command(command.arguments) != current.destination?.inlinePresenter {
      return differs("command", command.shown, current.destination?.givenName)
    }
    if let from = options.from, from != parent(of: binding) {
      return differs("from", from.text, parent(of: binding)?.text)
    }
    if let group = options.group, group != current.membership?.group {
      return differs("group", group.text, current.membership?.group.text)
    }
    if let tag = options.tag, tag != current.membership?.tag {
      return differs("tag", tag, current.membership?.tag)
    }
    if let stack = options.stack, stack != current.position?.stack {
      return differs("stack", stack.text, current.position?.stack.text)
    }
    return nil
  }

  /// Another id, or the first: a new item (P1, P3, S4).
  private mutating func renew(_ binding: BindingID, id: String, _ options: ItemOptions) throws(Refusal) {
    let destination = try destination(for: binding, options)
    let membership = try membership(for: binding, options, destination)
    let current = item(at: binding)
    let stack = options.stack ?? current?.position?.stack
    if let position = current?.position, let stack, stack != position.stack {
      throw Refusal(
        .alreadyInStack, "binding “\(binding)” stands in the stack “\(position.stack)”; pop it there before “\(stack)”")
    }
    try turn.machine.check(options.ifBusy, with: stack)
    if options.from == binding {
      throw Refusal(.invalidArgument, "from is “\(binding)” itself; another binding, or none, would do")
    }
    var item = Item(
      id: id, destination: destination, options: options, membership: membership, author: author)
    if let position = current?.position { cut(position.stack, to: position.index + 1) }
    if let current { leave(current, at: binding) }
    if let membership {
      let below = stack.flatMap { height(of: $0) > 0 ? self.binding(on: $0, at: height(of: $0) - 1) : nil }
      try take(
        membership, for: binding, item: &item, policy: options.ifBusy ?? .replace,
        dependencies: [options.from, below].compactMap(\.self))
    }
    if let stack {
      item.position = StackPosition(stack: stack, index: height(of: stack))
      withStack(stack) { $0.rest.append(binding) }
    }
    let author = author
    let accepted = countAcceptance()
    withSlot(binding) { slot in
      slot.item = Shared(item)
      slot.change = .renewed(given: Shared(options))
      slot.accepted = accepted
      slot.from = options.from.map(SlotDraft.From.named) ?? .implied
      slot.restartsTimeout = options.timeout != nil
      slot.ends(.replaced, by: author)
      slot.author = author
    }
    reopen(binding)
  }

  /// Which destination a request means (D2).
  private func destination(for binding: BindingID, _ options: ItemOptions) throws(Refusal) -> Destination? {
    if let command = options.command {
      return Destination(name: "", presenter: .command(command.arguments), source: .request)
    }
    guard let name = options.destination else { return state.registry[binding.text] }
    guard let destination = state.registry[name] else {
      throw Refusal(
        .unknownDestination,
        "destination “\(abridged(name))” is not registered; a file destinations/\(abridged(name)).toml and "
          + "Reload, or RegisterPresenter, would register it")
    }
    return destination
  }

  /// Which tag of which group a request means (G7).
  private func membership(
    for binding: BindingID, _ options: ItemOptions, _ destination: Destination?
  ) throws(Refusal) -> Membership? {
    guard let group = options.group ?? destination?.group else {
      if let tag = options.tag {
        throw Refusal(.invalidArgument, "tag “\(abridged(tag))” is given without a group; give one, or leave tag out")
      }
      return nil
    }
    let own = binding.text.hasPrefix(group.text + ".") ? String(binding.text.dropFirst(group.text.count + 1)) : nil
    let membership = Membership(group: group, tag: options.tag ?? own ?? binding.text)
    if let holder = holder(of: membership), holder != binding {
      throw Refusal(
        .invalidArgument,
        "tag “\(abridged(membership.tag))” of the group “\(group)” is held by the item at “\(holder)”, not “\(binding)”; "
          + "another tag would do")
    }
    return membership
  }

  /// The binding whose item holds a tag.
  func holder(of membership: Membership) -> BindingID? {
    if let selected = selected(in: membership.group), item(at: selected)?.membership?.tag == membership.tag {
      return selected
    }
    return queue(of: membership.group).first { $0.tag == membership.tag }?.binding
  }

  /// Makes an item the selected one of its group, or queues it, or refuses it (G6, G8, G9).
  ///
  /// - Parameter dependencies: what the item would directly depend on (C7).
  private mutating func take(
    _ membership: Membership, for binding: BindingID, item: inout Item, policy: BusyPolicy, dependencies: [BindingID]
  ) throws(Refusal) {
    let group = membership.group
    let other = selected(in: group)
    if other == binding { return }
    if let other, policy == .refuse {
      throw Refusal(
        .busy,
        "group “\(group)” has “\(self.item(at: other)?.membership?.tag ?? "")” selected; deselect it, or ask with "
          + "if-busy “replace” or “queue”")
    }
    if other != nil, policy == .queue {
      let waiting = queue(of: group)
      let earlier = waiting.first { $0.binding == binding }
      if earlier == nil {
        try state.limits.check("queue", waiting.count + 1, state.limits.queue, of: "items in the queue of “\(group)”")
        draft.lastQueueAge += 1
      }
      item.isQueued = true
      let entry = QueueEntry(
        priority: item.priority, age: earlier?.age ?? draft.lastQueueAge, binding: binding, tag: membership.tag)
      if entry != earlier {
        withGroup(group) { draft in
          draft.dequeue(binding)
          draft.enqueue(entry)
        }
      }
      return
    }
    if let other {
      if depends(dependencies, on: other) {
        throw Refusal(
          .invalidArgument,
          "“\(binding)” would depend on “\(other)”, a member of its own group “\(group)”; another group, parent or stack "
            + "would do")
      }
      clear(other, reason: .deselected)
    }
    item.isQueued = false
    withGroup(group) { draft in
      draft.dequeue(binding)
      draft.selected = binding
    }
  }

  /// Whether something among `bindings`, or what it depends on, is `sought` (C7).
  func depends(_ bindings: [BindingID], on sought: BindingID) -> Bool {
    var seen: Set<BindingID> = []
    var open = bindings
    while let binding = open.popLast() {
      if binding == sought { return true }
      guard seen.insert(binding).inserted else { continue }
      open.append(contentsOf: dependencies(of: binding))
    }
    return false
  }

  /// What a binding's item directly depends on: its parent, and what stands below it (C7).
  func dependencies(of binding: BindingID) -> [BindingID] {
    guard let item = item(at: binding) else { return [] }
    var found: [BindingID] = []
    if let parent = parent(of: binding) { found.append(parent) }
    if let position = item.position, position.index > 0 {
      found.append(self.binding(on: position.stack, at: position.index - 1))
    }
    return found
  }

  /// The group remembers the last request for a tag (G7), with what requests before it gave for the same item (P2).
  private mutating func learn(
    _ membership: Membership, _ binding: BindingID, id: String, _ options: ItemOptions, addingToEarlier: Bool
  ) {
    let key = GroupTag(group: membership.group, tag: membership.tag)
    var given = options.repeatable
    given.group = membership.group
    given.tag = membership.tag
    if addingToEarlier, let earlier = draft.learned[key] ?? state.tagMemory[key], earlier.binding == binding,
      earlier.id == id
    {
      given = earlier.options.overridden(by: given)
    }
    draft.learned[key] = TagMemory(binding: binding, id: id, options: given)
    draft.learnOrder.append(key)
    withGroup(membership.group) { _ in }
  }

  /// Edits the value of an item through its binding (D8).
  mutating func edit(
    _ binding: BindingID, value: Properties, remove: [String], containerValues: Properties?, timeout: UInt64?
  ) throws(Refusal) {
    guard var item = item(at: binding)?.content else { throw Refusal.notPresented(binding) }
    func edit(_ held: Properties) throws(Refusal) -> Properties {
      var edited = held
      for key in remove { edited[key] = nil }
      edited.merge(value) { $1 }
      try turn.machine.check(value: edited)
      return edited
    }
    func editContainer(_ held: Properties) throws(Refusal) -> Properties {
      let edited = held.merging(containerValues ?? [:]) { $1 }
      try turn.machine.check(containerValues: edited)
      return edited
    }
    item.value = try edit(item.value)
    item.containerValues = try editContainer(item.containerValues)
    if let timeout { item.timeout = timeout == 0 ? nil : timeout }
    // Should the presentation before stay (T1), the edit is one of what it then shows.
    var change: SlotDraft.Change?
    if let drafted = draft.slots[binding], case .renewed(let given) = drafted.change {
      var given = given.content
      let before = drafted.before.flatMap { state.presentations[$0]?.item }
      given.value = try edit(given.value ?? before?.value ?? [:])
      given.containerValues = try editContainer(given.containerValues ?? before?.containerValues ?? [:])
      given.timeout = timeout ?? given.timeout
      change = .renewed(given: Shared(given))
    }
    let author = author
    withSlot(binding) { slot in
      slot.item = Shared(item)
      if let change { slot.change = change }
      slot.restartsTimeout = slot.restartsTimeout || timeout != nil
      slot.author = author
    }
    reopen(binding)
  }

  private mutating func countAcceptance() -> Int {
    acceptances += 1
    return acceptances
  }
}

extension Item {
  /// A new item from what a request gives.
  fileprivate init(
    id: String, destination: Destination?, options: ItemOptions, membership: Membership?, author: Author
  ) {
    self.init(
      id: id, destination: destination, value: options.value ?? [:], containerValues: options.containerValues ?? [:],
      style: options.style ?? destination?.style, title: options.title,
      timeout: options.timeout == 0 ? nil : options.timeout, owner: options.owned == true ? author.client : nil,
      priority: options.priority ?? 0, membership: membership, isQueued: false, position: nil,
      directory: options.directory, environment: options.environment ?? [:],
      platformData: options.platformData ?? [:], animated: author.animated)
  }

  /// The item with what a request with the same id gives (P2).
  func applying(_ options: ItemOptions, by author: Author) -> Item {
    var copy = self
    copy.value = options.value ?? value
    copy.containerValues = options.containerValues ?? containerValues
    copy.style = options.style ?? style
    copy.title = options.title ?? title
    if let timeout = options.timeout { copy.timeout = timeout == 0 ? nil : timeout }
    if let owned = options.owned { copy.owner = owned ? author.client : nil }
    copy.priority = options.priority ?? priority
    return copy
  }
}

extension Destination {
  /// The name under which a request could ask for it; nil for one that came with the request.
  fileprivate var givenName: String? { source == .request ? nil : name }
  fileprivate var inlinePresenter: Presenter? { source == .request ? presenter : nil }
}

extension InlineCommand {
  fileprivate var shown: String {
    arguments.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
  }
}
