// Why this file exists: a request is worked out beside the state, against what should be shown and never against phases
// (P11), and only agreed to as a whole (T1). The state it leaves alone costs nothing.

import DBusValues
import PresentationModel

/// Who is asking, and how.
struct Author: Sendable {
  var client: Client?
  /// The place of the request in its transaction.
  var request: Int
  var animated: Bool
}

/// What a transaction would make of a slot.
struct SlotDraft: Sendable {
  /// How an item says what it is presented from (C1).
  enum From: Hashable, Sendable {
    /// As the presentation that is there.
    case asBefore
    /// The nearest binding that holds an item.
    case implied
    case named(BindingID)
  }

  /// What will become of the slot's presentation.
  enum Resolution: Sendable {
    case undecided
    /// It stays, with the item as it then is.
    case kept
    /// It goes, if there is one; what the item asks for is a new one, if there is an item.
    case replaced
  }

  /// The slot's presentation before the transaction.
  let before: Handle?
  var item: Shared<Item>?
  /// What was given since the slot was last nil or another; what a presentation that stays takes over (T1).
  var given = Shared(ItemOptions())
  /// Whether the item is no continuation of the one before.
  var isFresh = false
  /// Whether it cannot stay, since what it depends on goes.
  var mustBeNew = false
  /// Whether a request presents it, so that it comes back when what it was presented from is replaced.
  var isAsked = false
  /// Counts what requests present; members are listed in that order (V5).
  var accepted = 0
  var from = From.asBefore
  /// Whether the request gave a timeout (O2).
  var restartsTimeout = false
  /// The first cause of the end of what was there (P12).
  var reason: Reason?
  /// Whether that end is animated.
  var endsAnimated = true
  var author: Author
  var resolution = Resolution.undecided
  /// The parent of a new presentation, found when all is settled.
  var parent: BindingID?

  /// How what was there ends: a dismissal that something else follows is a replacement (T1), in one setting (T2).
  var end: (reason: Reason, animated: Bool) {
    let reason = reason ?? .replaced
    if let item, reason == .dismissed || reason == .replaced { return (.replaced, item.animated) }
    return (reason, endsAnimated)
  }

  /// The first cause of an end fixes its reason (P12), and whether it is animated.
  mutating func ends(_ reason: Reason, by author: Author) {
    guard before != nil, self.reason == nil else { return }
    self.reason = reason
    endsAnimated = author.animated
  }
}

/// What a transaction would make of a group.
struct GroupDraft: Sendable {
  var selected: BindingID?
  var queue: [QueueEntry]
  let selectedBefore: (binding: BindingID, tag: String)?
  let queueBefore: [QueueEntry]

  /// Whether others wait, or in another order.
  var hasOtherQueue: Bool { queue != queueBefore && queue.map(\.tag) != queueBefore.map(\.tag) }

  /// Puts an entry at its place: the highest priority first, then the oldest (G9).
  mutating func enqueue(_ entry: QueueEntry) {
    queue.insert(entry, at: queue.firstIndex { entry.comesBefore($0) } ?? queue.endIndex)
  }

  mutating func dequeue(_ binding: BindingID) { queue.removeAll { $0.binding == binding } }
}

/// What a transaction would make of a stack: the beginning that is left alone, and what comes after it.
struct StackDraft: Sendable {
  var kept: Int
  var rest: [BindingID] = []
  var count: Int { kept + rest.count }
}

/// All that a transaction would change.
struct Draft: Sendable {
  var slots: [BindingID: SlotDraft] = [:]
  /// The bindings of `slots`, in the order in which they were touched.
  var order: [BindingID] = []
  /// The bindings whose resolution has to be worked out (again).
  var open: [BindingID] = []
  var groups: [BindingID: GroupDraft] = [:]
  var stacks: [BindingID: StackDraft] = [:]
  /// What groups are to remember, and in which order they were told (G7).
  var learned: [GroupTag: TagMemory] = [:]
  var learnOrder: [GroupTag] = []
  var author = Author(client: nil, request: 0, animated: true)
  /// Whose request it is that what ends ends by.
  var ender: Client?
  /// What differs at the end, for the replies and for the serials of the subjects.
  var changed: Set<Subject> = []

  private var acceptances = 0

  var isEmpty: Bool { order.isEmpty && groups.isEmpty && stacks.isEmpty }

  mutating func countAcceptance() -> Int {
    acceptances += 1
    return acceptances
  }
}

// MARK: What the draft says

extension StateMachine {
  /// The item that a slot should show.
  func item(at binding: BindingID) -> Shared<Item>? {
    if let drafted = draft.slots[binding] { return drafted.item }
    guard let handle = slots[binding]?.current else { return nil }
    return presentations[handle]?.item
  }

  /// Whether a slot holds an item that something could be presented from (G9: a queued one is nobody's parent).
  func canBeParent(_ binding: BindingID) -> Bool { item(at: binding).map { !$0.isQueued } ?? false }

  func selected(in group: BindingID) -> BindingID? {
    if let drafted = draft.groups[group] { return drafted.selected }
    return groups[group]?.selected
  }

  func queue(of group: BindingID) -> [QueueEntry] {
    if let drafted = draft.groups[group] { return drafted.queue }
    return groups[group]?.queue ?? []
  }

  func height(of stack: BindingID) -> Int {
    if let drafted = draft.stacks[stack] { return drafted.count }
    return stacks[stack]?.path.count ?? 0
  }

  /// What stands on a stack at a position below its height.
  func binding(on stack: BindingID, at position: Int) -> BindingID {
    if let drafted = draft.stacks[stack], position >= drafted.kept { return drafted.rest[position - drafted.kept] }
    return stacks[stack]!.path[position]
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
      before = slots[binding]?.current
    }
    return before.flatMap { parent(of: $0)?.binding }
  }
}

// MARK: What the draft is told

extension StateMachine {
  mutating func withSlot(_ binding: BindingID, _ body: (inout SlotDraft) -> Void) {
    if draft.slots[binding] == nil {
      let before = slots[binding]?.current
      draft.order.append(binding)
      draft.slots[binding] = SlotDraft(
        before: before, item: before.flatMap { presentations[$0]?.item }, author: draft.author)
    }
    body(&draft.slots[binding]!)
  }

  /// Asks for the resolution of a slot that changed in the draft.
  mutating func reopen(_ binding: BindingID) {
    draft.slots[binding]!.resolution = .undecided
    draft.open.append(binding)
  }

  mutating func withGroup(_ group: BindingID, _ body: (inout GroupDraft) -> Void) {
    if draft.groups[group] == nil {
      let state = groups[group]
      let before = state?.selected.flatMap { binding in
        slots[binding]?.current.flatMap { presentations[$0]?.item.membership?.tag }.map { (binding, $0) }
      }
      draft.groups[group] = GroupDraft(
        selected: state?.selected, queue: state?.queue ?? [], selectedBefore: before,
        queueBefore: state?.queue ?? [])
    }
    body(&draft.groups[group]!)
  }

  mutating func withStack(_ stack: BindingID, _ body: (inout StackDraft) -> Void) {
    if draft.stacks[stack] == nil { draft.stacks[stack] = StackDraft(kept: stacks[stack]?.path.count ?? 0) }
    body(&draft.stacks[stack]!)
  }

  /// Writes nil to a slot, after the slots of what stands above it in its stack (S2).
  mutating func clear(_ binding: BindingID, reason: Reason) {
    guard let item = item(at: binding) else { return }
    if let position = item.position { cut(position.stack, to: position.index + 1) }
    leave(item, at: binding)
    let author = draft.author
    withSlot(binding) { slot in
      slot.item = nil
      slot.isFresh = true
      slot.given = Shared(ItemOptions())
      slot.isAsked = false
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
    try check(options)
    try check(id: id)
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
    try check(options.ifBusy, with: options.stack)
    var item = current.content.applying(options, by: draft.author)
    if let membership = current.membership {
      try take(
        membership, for: binding, item: &item, policy: options.ifBusy ?? .replace,
        dependencies: [parent(of: binding)].compactMap(\.self))
    }
    let author = draft.author
    let accepted = draft.countAcceptance()
    withSlot(binding) { slot in
      slot.item = Shared(item)
      slot.isAsked = true
      slot.accepted = accepted
      slot.given = Shared(slot.given.content.overridden(by: options))
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
    try check(options.ifBusy, with: stack)
    if options.from == binding {
      throw Refusal(.invalidArgument, "from is “\(binding)” itself; another binding, or none, would do")
    }
    var item = Item(
      id: id, destination: destination, options: options, membership: membership, author: draft.author)
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
    let author = draft.author
    let accepted = draft.countAcceptance()
    withSlot(binding) { slot in
      slot.item = Shared(item)
      slot.isFresh = true
      slot.isAsked = true
      slot.accepted = accepted
      slot.given = Shared(options)
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
    guard let name = options.destination else { return registry[binding.text] }
    guard let destination = registry[name] else {
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
        try limits.check("queue", waiting.count + 1, limits.queue, of: "items in the queue of “\(group)”")
        lastQueueAge += 1
      }
      item.isQueued = true
      let entry = QueueEntry(
        priority: item.priority, age: earlier?.age ?? lastQueueAge, binding: binding, tag: membership.tag)
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
    if addingToEarlier, let earlier = draft.learned[key] ?? tagMemory[key], earlier.binding == binding, earlier.id == id
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
    guard var item = item(at: binding)?.content else { throw notPresented(binding) }
    func edit(_ held: Properties) throws(Refusal) -> Properties {
      var edited = held
      for key in remove { edited[key] = nil }
      edited.merge(value) { $1 }
      try check(value: edited)
      return edited
    }
    func editContainer(_ held: Properties) throws(Refusal) -> Properties {
      let edited = held.merging(containerValues ?? [:]) { $1 }
      try check(containerValues: edited)
      return edited
    }
    item.value = try edit(item.value)
    item.containerValues = try editContainer(item.containerValues)
    if let timeout { item.timeout = timeout == 0 ? nil : timeout }
    // Should the presentation before stay (T1), the edit is one of what it then shows.
    var given = draft.slots[binding].flatMap { $0.isFresh ? $0.given.content : nil }
    if let options = given {
      let before = draft.slots[binding]?.before.flatMap { presentations[$0]?.item }
      given?.value = try edit(options.value ?? before?.value ?? [:])
      given?.containerValues = try editContainer(options.containerValues ?? before?.containerValues ?? [:])
      given?.timeout = timeout ?? options.timeout
    }
    let author = draft.author
    withSlot(binding) { slot in
      slot.item = Shared(item)
      if let given { slot.given = Shared(given) }
      slot.restartsTimeout = slot.restartsTimeout || timeout != nil
      slot.author = author
    }
    reopen(binding)
  }

  func notPresented(_ binding: BindingID) -> Refusal {
    Refusal(.notPresented, "binding “\(binding)” holds no item; present it first")
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
