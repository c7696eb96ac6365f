import DBusValues
import PresentationModel
import TextFormats

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
  /// Whether the request that is being planned presents nothing by a name that nothing knows (D2).
  private(set) var needsKnownName = false
  /// Whether an item that the request at hand presents without a destination is to have none (D1).
  private var meansState = false
  /// Whether its items were accepted in an earlier session (K4).
  var isRestoring = false
  /// Whether the request that is being planned raises what is open already (N7).
  private(set) var raises = false
  /// Why the request that is being planned can have no windows moved (U1); nil if it can.
  private var whyNoMoving: String?
  /// Why the request that is being planned can have no windows hidden (N8); nil if it can.
  private var whyNoHiding: String?
  /// The indices of drafted slots whose resolution has to be decided, or decided again.
  var unresolved: [Int] = []
  private var acceptances = 0

  var state: State { @inline(__always) unsafeAddress { turn.machine.address } }

  /// - Parameter client: the client whose requests these are, or whose request causes them.
  init(in turn: consuming Turn, by client: Client?) {
    draft = Draft(lastQueueAge: turn.state.lastQueueAge, endedBy: client)
    self.turn = turn
  }

  /// Plans one request.
  /// - Throws: `Refusal`, with the index of the request.
  mutating func plan(_ request: Request, by author: Author) throws(Refusal) -> Answer {
    self.author = author
    needsKnownName = request.needsKnownName
    meansState = request.meansState
    raises = request.raises
    whyNoMoving = request.whyNoMoving
    whyNoHiding = request.whyNoHiding
    do throws(Refusal) {
      try check(request.expectation, of: request.operation)
      let answer = try plan(request.operation)
      if request.isForced { draft.forced.formUnion(try forced(by: request.operation)) }
      if raises, let binding = presented(by: answer) { draft.raised.append(binding) }
      return answer
    } catch {
      throw error.about(author)
    }
  }

  /// Plans to empty the slots of presentations that are the current ones of theirs.
  /// - Parameter continuations: of those whose items are presented again (K3).
  mutating func clear(_ ends: [End], _ continuations: [Handle: Continuation] = [:]) {
    var reasons: [BindingID: Reason] = [:]
    var again: [BindingID: Continuation] = [:]
    var bindings: [BindingID] = []
    for end in ends {
      guard let binding = state.presentations[end.handle]?.binding else { continue }
      reasons[binding] = end.reason
      bindings.append(binding)
      again[binding] = continuations[end.handle]
      if end.isOver { draft.over.insert(end.handle) }
    }
    for binding in topmostFirst(bindings) {
      if let continuation = again[binding] {
        present(again: binding, continuation, after: reasons[binding]!)
      } else {
        clear(binding, reason: reasons[binding]!)
      }
    }
  }
}

// MARK: Limits of work

extension Transaction {
  /// Counts steps of the requests, each of some 50 ns, so that no transaction takes long, whatever it says (L2).
  mutating func spend(_ steps: Int) throws(Refusal) {
    draft.work += steps
    try state.limits.check("work", draft.work, state.limits.work, of: "steps of the requests")
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

// MARK: Reading the draft

extension Transaction {
  /// The item that a slot should show.
  func item(at binding: BindingID) -> Shared<Item>? {
    if let drafted = draft.slots[binding] { return drafted.item }
    guard let handle = state.slots[binding]?.current else { return nil }
    return state.presentations[handle]?.item
  }

  /// Whether items can be presented from a slot: it has an item that is not queued (G9).
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

  func binding(on stack: BindingID, at position: Int) -> BindingID {
    if let drafted = draft.stacks[stack], position >= drafted.kept { return drafted.rest[position - drafted.kept] }
    return state.stacks[stack]!.path[position]
  }

  /// The nearest binding that the given one derives from and that can be a parent (C1).
  func impliedParent(of binding: BindingID) -> BindingID? {
    var ancestor = binding.deriving
    while let candidate = ancestor {
      if canBeParent(candidate) { return candidate }
      ancestor = candidate.deriving
    }
    return nil
  }

  /// The binding from which the item of another binding is, or would be, presented.
  func parent(of binding: BindingID) -> BindingID? {
    let before: Handle?
    if let drafted = draft.slots[binding] {
      switch drafted.from {
      case .named(let parent), .implied(let parent?): return parent
      case .implied(nil): return impliedParent(of: binding)
      case .asBefore: before = drafted.before
      }
    } else {
      before = state.slots[binding]?.current
    }
    return before.flatMap { turn.machine.parent(of: $0)?.binding }
  }
}

// MARK: Writing the draft

extension Transaction {
  mutating func withSlot(_ binding: BindingID, _ body: (inout SlotDraft) -> Void) {
    if let index = draft.slots.index(of: binding) { return body(&draft.slots[index].content) }
    let before = state.slots[binding]?.current
    let index = draft.slots.append(
      binding,
      Shared(SlotDraft(before: before, item: before.flatMap { state.presentations[$0]?.item }, author: author)))
    body(&draft.slots[index].content)
  }

  /// Marks a slot that changed in the draft, so that its resolution is decided again.
  mutating func reopen(_ binding: BindingID) {
    let index = draft.slots.index(of: binding)!
    draft.slots[index].resolution = .undecided
    unresolved.append(index)
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

  /// Empties a slot, after the slots above it in its stack (S2).
  mutating func clear(_ binding: BindingID, reason: Reason) {
    guard let item = item(at: binding) else { return }
    if let position = item.position { cut(position.stack, to: position.index + 1) }
    leave(item, at: binding)
    let author = author
    withSlot(binding) { slot in
      slot.item = nil
      slot.change = .cleared
      slot.continuation = nil
      slot.ends(reason, by: author)
    }
    reopen(binding)
  }

  /// Empties the slots of a stack at and above a position, from the top.
  mutating func cut(_ stack: BindingID, to position: Int) {
    while height(of: stack) > position {
      clear(binding(on: stack, at: height(of: stack) - 1), reason: .popped)
    }
  }

  /// Removes an item from its group and its stack. Nothing is above it in the stack any more.
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
      withStack(position.stack) { $0.removeTop() }
    }
  }

  /// Sets a slot to an item: the primitive of present, toggle, select, push and set path.
  /// - Parameters:
  ///   - isTrusted: whether nothing of the options is from a client that may be in a sandbox, beside the author.
  ///   - isKnown: whether the item may be state only, though the request needs a known name.
  mutating func set(
    _ binding: BindingID, id: String, _ options: ItemOptions, isTrusted: Bool = true, isKnown: Bool = false
  ) throws(Refusal) {
    try turn.machine.check(options)
    let id = requestedID(id, at: binding, options)
    try turn.machine.check(id: id)
    // The search for the nearest parent (C1).
    try spend(12 * binding.projections)
    let current = item(at: binding)
    var options = options
    let isOutdated = isOutdated(binding, options)
    if isOutdated { options.destination = binding.text }
    let isRefresh = current?.id == id && !isOutdated
    if let current, isRefresh {
      try refresh(binding, current, options)
    } else {
      try renew(binding, id: id, options, isKnown: isKnown || !needsKnownName)
    }
    if let whyNoMoving, options.namedOutput != nil, item(at: binding)?.destination?.window != nil {
      throw Refusal(.notSupported, whyNoMoving)
    }
    if let whyNoHiding, item(at: binding)?.destination?.window?.hides == true {
      throw Refusal(.notSupported, whyNoHiding)
    }
    if let membership = item(at: binding)?.membership {
      let isTrusted = isTrusted && author.trust == .trusted
      try learn(membership, binding, id: id, options, isTrusted: isTrusted, addingToEarlier: isRefresh)
    }
  }

  /// Updates the item with the same id: options that the request gives are replaced, the others stay (P2).
  private mutating func refresh(_ binding: BindingID, _ current: Shared<Item>, _ options: ItemOptions) throws(Refusal) {
    if let fault = difference(of: options, from: current, at: binding) { throw fault }
    try checkProtected(binding, current.destination, options)
    try turn.machine.check(options.ifBusy, with: options.stack)
    var item = Shared(current.content.applying(options, by: author))
    if meansState, item.destination == nil { item.isStateMeant = true }
    try requireTrust(of: author, toReplace: current.content, by: item.content, at: binding)
    if let membership = current.membership {
      try take(
        membership, for: binding, item: &item, in: nil, policy: options.ifBusy ?? .replace,
        dependencies: [parent(of: binding)].compactMap(\.self))
    }
    let author = author
    let accepted = countAcceptance()
    withSlot(binding) { [item] slot in
      slot.item = item
      if case .renewed(let given) = slot.change {
        slot.change = .renewed(given: given.overridden(by: options))
      } else if slot.continuation != nil, item.isQueued {
        slot.change = .recreated
      } else {
        slot.change = .refreshed
        slot.continuation = nil
      }
      slot.accepted = accepted
      slot.within = options.within ?? slot.within
      if let from = options.from { slot.from = .named(from) }
      slot.restartsTimeout = slot.restartsTimeout || options.content.givesTimeout(with: current.destination)
      slot.author = author
    }
    reopen(binding)
  }

  /// The refusal of a request with the same id that asks for more than an update (P2); nil if it asks for an update.
  func difference(of options: ItemOptions, from current: Shared<Item>, at binding: BindingID) -> Refusal? {
    func differs(_ what: String, _ asked: String, _ held: String?) -> Refusal {
      Refusal(
        .invalidArgument,
        "\(what) is \(quoted(asked)), but the item \(current.id.isEmpty ? "" : quoted(current.id) + " ")at “\(binding)” has "
          + (held.map(quoted) ?? "none") + "; dismiss it first, or leave \(what) out")
    }
    if let name = options.destination, name != current.destination?.givenName {
      return differs("destination", name, current.destination?.givenName)
    }
    if let command = options.command, .command(command.arguments) != current.destination?.inlinePresenter {
      return differs("command", command.shown, current.destination?.shownCommand)
    }
    if let from = options.from, from != parent(of: binding) {
      return differs("from", from.text, parent(of: binding)?.text)
    }
    if let group = options.group, group != current.membership?.group {
      return differs("group", group.text, current.membership?.group.text)
    }
    if options.output != nil, options.namedOutput != current.output, case .perOutput = current.destination?.group,
      let membership = current.membership,
      (try? current.destination?.group?.binding(on: current.output)) == membership.group
    {
      return differs("output", options.output ?? "", current.output)
    }
    if let tag = options.tag, tag != current.membership?.tag {
      return differs("tag", tag, current.membership?.tag)
    }
    if let stack = options.stack, stack != current.position?.stack {
      return differs("stack", stack.text, current.position?.stack.text)
    }
    return nil
  }

  /// Sets a slot to a new item, with another id or in an empty slot (P1, P3, S4).
  private mutating func renew(
    _ binding: BindingID, id: String, _ options: ItemOptions, isKnown: Bool
  ) throws(Refusal) {
    let destination = try destination(for: binding, options)
    if destination == nil, !isKnown { throw unknownDestination(binding.text) }
    try checkProtected(binding, destination, options)
    let membership = try membership(for: binding, options, destination)
    let current = item(at: binding)
    let stack = options.stack ?? current?.position?.stack
    if let position = current?.position, let stack, stack != position.stack {
      throw Refusal(
        .alreadyInStack, "“\(binding)” is already in the stack “\(position.stack)”; pop it there first")
    }
    try turn.machine.check(options.ifBusy, with: stack)
    if let stack {
      let index = current?.position?.index ?? height(of: stack)
      try state.limits.check("stack", index + 1, state.limits.stack, of: "items on the stack “\(stack)”")
    }
    if options.from == binding {
      throw Refusal(.invalidArgument, "from is “\(binding)” itself; use another binding, or leave from out")
    }
    var item = Shared(
      Item(
        id: id, destination: destination, options: options, membership: membership,
        holds: turn.machine.holds(for: destination), author: author))
    item.isStateMeant = meansState && destination == nil
    if let position = current?.position { cut(position.stack, to: position.index + 1) }
    if let current { leave(current, at: binding) }
    if let membership {
      let below = stack.flatMap { height(of: $0) > 0 ? self.binding(on: $0, at: height(of: $0) - 1) : nil }
      try take(
        membership, for: binding, item: &item, in: stack, policy: options.ifBusy ?? .replace,
        dependencies: [options.from, below].compactMap(\.self))
    }
    if let stack {
      item.position = StackPosition(stack: stack, index: height(of: stack))
      withStack(stack) { $0.rest.append(binding) }
    }
    let author = author
    let accepted = countAcceptance()
    draft.renewed.append(binding)
    withSlot(binding) { [item] slot in
      slot.item = item
      slot.change = .renewed(given: options)
      slot.continuation = nil
      slot.accepted = accepted
      slot.from = options.from.map(SlotDraft.From.named) ?? .implied(nil)
      slot.within = options.within
      slot.restartsTimeout = options.content.givesTimeout(with: destination)
      slot.ends(.replaced, by: author)
      slot.author = author
    }
    reopen(binding)
  }

  /// The destination of a request (D2).
  func destination(for binding: BindingID, _ options: ItemOptions) throws(Refusal) -> Shared<Destination>? {
    if let command = options.command {
      return Shared(Destination(name: "", presenter: .command(command.arguments), source: .request))
    }
    guard let name = options.destination else { return state.registry[binding.text] }
    guard let destination = state.registry[name] else { throw unknownDestination(name) }
    return destination
  }

  func unknownDestination(_ name: String) -> Refusal {
    if let mistake = state.registry.mistake(in: name) {
      return Refusal(
        .unknownDestination, "there is no destination \(quoted(name)), since its file has a mistake: \(mistake)")
    }
    let hint = nearest(to: name, among: state.registry.all.lazy.map(\.name)).map { "did you mean “\($0)”? Otherwise " }
    return Refusal(
      .unknownDestination,
      "there is no destination \(quoted(name)); \(hint ?? "")write "
        + "\(quoted("navd/destinations/\(name).toml")) in ~/.config, or in $XDG_CONFIG_HOME if that is set")
  }

  /// The group and tag of a request (G7).
  private func membership(
    for binding: BindingID, _ options: ItemOptions, _ destination: Shared<Destination>?
  ) throws(Refusal) -> GroupTag? {
    var group = options.group
    if group == nil { group = try destination?.group?.binding(on: options.namedOutput) }
    guard let group else {
      if let tag = options.tag {
        throw Refusal(.invalidArgument, "tag \(quoted(tag)) is given without a group; give a group, or leave tag out")
      }
      return nil
    }
    let own = binding.text.hasPrefix(group.text + ".") ? String(binding.text.dropFirst(group.text.count + 1)) : nil
    let membership = GroupTag(group: group, tag: options.tag ?? own ?? binding.text)
    if let holder = holder(of: membership), holder != binding {
      throw Refusal(
        .invalidArgument,
        "the item at “\(holder)” already has the tag \(quoted(membership.tag)) of the group “\(group)”; use another tag for "
          + "“\(binding)”")
    }
    return membership
  }

  /// The binding whose item has a tag, selected or queued.
  func holder(of membership: GroupTag) -> BindingID? {
    if let selected = selected(in: membership.group), item(at: selected)?.membership?.tag == membership.tag {
      return selected
    }
    return queue(of: membership.group).first { $0.tag == membership.tag }?.binding
  }

  /// Selects an item in its group, queues it, or refuses it (G6, G8, G9). One that is held displaces nobody (H4).
  ///
  /// - Parameter dependencies: the bindings on which the item would directly depend (C7).
  private mutating func take(
    _ membership: GroupTag, for binding: BindingID, item: inout Shared<Item>, in stack: BindingID?, policy: BusyPolicy,
    dependencies: [BindingID]
  ) throws(Refusal) {
    let group = membership.group
    let other = selected(in: group)
    // A fallback gives way (K1).
    let isIdle = other.map { turn.machine.isFallback(self.item(at: $0)?.membership) } ?? true
    try spend(queue(of: group).count / 2)
    if other == binding {
      if policy != .queue { (item.queueAge, item.isInterrupted) = (nil, false) }
      return
    }
    if let other, policy == .queue || policy == .interrupt, turn.machine.isFallback(membership) {
      throw Refusal(
        .invalidArgument,
        "“\(binding)” is the fallback of “\(group)”, which neither waits nor interrupts: it comes when nothing else is "
          + "selected, after \(quoted(self.item(at: other)?.membership?.tag ?? "")); leave if-busy out")
    }
    if let other, !isIdle, policy == .refuse {
      throw Refusal(
        .busy,
        "group “\(group)” has \(quoted(self.item(at: other)?.membership?.tag ?? "")) selected; deselect it, or use "
          + "if-busy “replace” or “queue”")
    }
    let isHeld = other != nil && item.isHeld(by: state.holdsInForce)
    if isHeld, stack != nil || turn.machine.isFallback(membership) {
      let cause = stack == nil ? "a fallback is never queued" : "what is in a stack cannot wait in a queue"
      throw held(
        item, at: binding, .postpone, ", another member of “\(group)” is selected, and \(cause)")
    }
    if isHeld || (!isIdle && policy == .queue) {
      let waiting = queue(of: group)
      let earlier = waiting.first { $0.binding == binding }
      if earlier == nil {
        try state.limits.check(
          "queue", waiting.count { !$0.isInterrupted } + 1, state.limits.queue, of: "items in the queue of “\(group)”")
        draft.lastQueueAge += 1
      }
      let age = earlier?.age ?? draft.lastQueueAge
      item.isQueued = true
      item.queueAge = age
      let entry = QueueEntry(
        priority: item.priority, age: age, binding: binding, tag: membership.tag,
        isInterrupted: earlier?.isInterrupted ?? false)
      item.isInterrupted = entry.isInterrupted
      if entry != earlier {
        withGroup(group) { draft in
          draft.dequeue(binding)
          draft.enqueue(entry)
        }
      }
      return
    }
    if let other {
      if try depends(dependencies, on: other) {
        throw Refusal(
          .invalidArgument,
          "“\(binding)” would depend on “\(other)”, a member of its own group “\(group)”; use another group, parent or "
            + "stack")
      }
      if policy == .interrupt, !isIdle { try interrupt(other) } else { clear(other, reason: .deselected) }
    }
    item.isQueued = false
    item.isInterrupted = false
    if policy != .queue || other != nil {
      item.queueAge = nil
    } else if item.queueAge == nil {
      draft.lastQueueAge += 1
      item.queueAge = draft.lastQueueAge
    }
    withGroup(group) { draft in
      draft.dequeue(binding)
      draft.selected = binding
    }
  }

  /// Whether `sought` is among `bindings` or their dependencies, at any depth (C7).
  mutating func depends(_ bindings: [BindingID], on sought: BindingID) throws(Refusal) -> Bool {
    var seen: Set<BindingID> = []
    var open = bindings
    while let binding = open.popLast() {
      if binding == sought { return true }
      guard seen.insert(binding).inserted else { continue }
      try spend(10)
      open.append(contentsOf: dependencies(of: binding))
    }
    return false
  }

  /// The direct dependencies of an item: its parent, and the item below it in its stack (C7).
  func dependencies(of binding: BindingID) -> [BindingID] {
    guard let item = item(at: binding) else { return [] }
    var found: [BindingID] = []
    if let parent = parent(of: binding) { found.append(parent) }
    if let position = item.position, position.index > 0 {
      found.append(self.binding(on: position.stack, at: position.index - 1))
    }
    return found
  }

  /// Has the group remember the last request for a tag (G7), merged with earlier requests for the same item (P2).
  private mutating func learn(
    _ membership: GroupTag, _ binding: BindingID, id: String, _ options: ItemOptions, isTrusted: Bool,
    addingToEarlier: Bool
  ) throws(Refusal) {
    let key = membership
    var memory = TagMemory(binding: binding, id: id, options: options.repeatable, isTrusted: isTrusted)
    memory.options.group = membership.group
    memory.options.tag = membership.tag
    if let earlier = remembered(key), earlier.binding == binding, earlier.id == id {
      if addingToEarlier {
        memory.options = earlier.options.overridden(by: memory.options)
        guard try mayAdd(to: earlier, memory.options) else { return }
      }
      if memory.options == earlier.options {
        memory.isTrusted = earlier.isTrusted
      } else if addingToEarlier {
        memory.isTrusted = isTrusted && earlier.isTrusted
      }
    }
    draft.learned[key] = memory
    draft.forgotten.remove(key)
    draft.learnOrder.append(key)
    withGroup(membership.group) { _ in }
  }

  /// Edits the value of an item (D8).
  mutating func edit(
    _ binding: BindingID, value: Properties, remove: [String], containerValues: Properties?, timeout: UInt64?
  ) throws(Refusal) {
    guard let before = item(at: binding)?.content else { throw Refusal.notPresented(binding) }
    var item = before
    // The edited value is copied and checked as a whole.
    try spend(2 * (item.value.nodes + item.containerValues.nodes))
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
    if let timeout {
      var options = ItemOptions()
      options.timeout = timeout
      try checkProtected(binding, item.destination, options)
    }
    item = item.keepingHowToRun(ifAs: before, by: author)
    try requireTrust(of: author, toReplace: before, by: item, at: binding)
    if let timeout { item.timeout = timeout == 0 ? nil : timeout }
    // If the presentation of before stays (T1), the edit applies to its item.
    var change: SlotDraft.Change?
    if let drafted = draft.slots[binding], case .renewed(let given) = drafted.change {
      var given = given
      let before = drafted.before.flatMap { state.presentations[$0]?.item }
      given.value = try edit(given.value ?? before?.value ?? [:])
      given.containerValues = try editContainer(given.containerValues ?? before?.containerValues ?? [:])
      given.timeout = timeout ?? given.timeout
      change = .renewed(given: given)
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

extension Destination {
  /// The name by which a request could ask for it; nil for a command given with a request.
  var givenName: String? { source == .request ? nil : name }
  fileprivate var inlinePresenter: Presenter? { source == .request ? presenter : nil }
  /// The command of a request, or the destination's name.
  fileprivate var shownCommand: String {
    if source == .request, case .command(let arguments, _) = presenter {
      InlineCommand(arguments: arguments).shown
    } else {
      "the destination \(name)"
    }
  }
}

extension ItemOptionFields {
  /// Whether a request starts the timeout again (O2): if it gives one, or the destination has one (D13).
  fileprivate func givesTimeout(with destination: Shared<Destination>?) -> Bool {
    timeout != nil || destination?.itemSettings?.options.timeout != nil
  }
}

extension InlineCommand {
  fileprivate var shown: String {
    arguments.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
  }
}
