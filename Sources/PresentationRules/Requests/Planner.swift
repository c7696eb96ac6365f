import PresentationModel

/// Plans what one or several requests change, as a whole or not at all (T1).
///
/// A planner reads the state and writes a draft, which `Transition.commit` makes the state. A refused plan is dropped, so it changes
/// nothing. Requests are planned against the items that slots should show, never against phases (P11). The draft has only what requests
/// touch, so the rest of the state costs nothing.
struct Planner: ~Copyable {
  /// A constant, so that the compiler refuses a change of the state.
  let machine: StateMachine
  let now: Instant
  var draft: Draft
  /// The author of the request that is being planned.
  var author = Author(client: nil, request: 0, animated: true)
  /// Whether the request that is being planned is refused if it would present an item that nothing shows (D2).
  private(set) var needsKnownName = false
  /// Whether the items were accepted in an earlier session (K4).
  var isRestoring = false
  /// Whether the request that is being planned raises windows of open items (N7).
  private(set) var raises = false
  /// Whether the request that is being planned forces dismissals (P15).
  private(set) var isForced = false
  /// Whether the request brings windows from elsewhere to the place in use; nil leaves that to the destination (N11).
  private(set) var bringsHere: Bool?
  /// The places of windows; nil if they are not known.
  private(set) var places: WindowPlaces?
  /// The reason why the request that is being planned cannot have windows moved; nil if it can
  /// (U1).
  private(set) var whyNoMoving: String?
  /// The reason why the request that is being planned cannot have windows hidden; nil if it can
  /// (N8).
  private(set) var whyNoHiding: String?
  /// The indices of drafted slots whose resolution has to be decided, perhaps again.
  var unresolved: [Int] = []
  private var acceptances = 0

  var state: State { @inline(__always) _read { yield machine.state } }

  /// - Parameter client: the client that sent the requests or caused them.
  init(of machine: borrowing StateMachine, at now: Instant, by client: Client?) {
    self.machine = machine.lent()
    self.now = now
    draft = Draft(lastQueueAge: machine.state.lastQueueAge, endedBy: client)
  }

  /// Plans one request.
  /// - Throws: `Refusal`, with the index of the request.
  mutating func plan(_ request: Request, by author: Author) throws(Refusal) -> Answer {
    self.author = author
    needsKnownName = request.needsKnownName
    raises = request.raises
    isForced = request.isForced
    bringsHere = request.bringsHere
    places = request.places
    whyNoMoving = request.whyNoMoving
    whyNoHiding = request.whyNoHiding
    do throws(Refusal) {
      try check(request.expectation, of: request.operation)
      let answer = try plan(request.operation)
      if request.isForced { draft.forced.formUnion(forced(by: request.operation)) }
      if let binding = presented(by: answer), let options = request.operation.items.first {
        if raisesWindows(of: binding) { draft.raised.append(binding) }
        noteBringing(binding, options, isToggle: request.operation.isToggle)
        if let index = draft.slots.index(of: binding) {
          draft.slots[index].bringsHere = bringsHere
          if raises || request.operation.isToggle { draft.slots[index].mustBeSeen = true }
        }
      }
      return answer
    } catch {
      throw error.about(author)
    }
  }

  /// Plans to empty the slots of presentations. Each has to be the current one of its slot.
  /// - Parameter continuations: the continuations of items that are presented again (K3).
  mutating func clear(_ ends: [PlannedEnd], _ continuations: [Handle: Continuation] = [:]) {
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

extension Refusal {
  /// Adds the index of the refused request in its transaction.
  func about(_ author: Author) -> Refusal {
    var copy = self
    copy.index = author.request
    return copy
  }
}

// MARK: Reading the draft

extension Planner {
  /// The item that a slot should show.
  func item(at binding: BindingID) -> Shared<Item>? {
    if let drafted = draft.slots[binding] { return drafted.item }
    guard let handle = state.slots[binding]?.current else { return nil }
    return state.presentations[handle]?.item
  }

  func selected(in group: BindingID) -> BindingID? {
    if let drafted = draft.groups[group] { return drafted.selected }
    return state.groups[group]?.selected
  }

  func queue(of group: BindingID) -> Queue {
    if let drafted = draft.groups[group] { return drafted.queue }
    return state.groups[group]?.queue ?? Queue()
  }

  func height(of stack: BindingID) -> Int {
    if let drafted = draft.stacks[stack] { return drafted.count }
    return state.stacks[stack]?.path.count ?? 0
  }

  func binding(on stack: BindingID, at position: Int) -> BindingID {
    if let drafted = draft.stacks[stack], position >= drafted.unchanged {
      return drafted.added[position - drafted.unchanged]
    }
    return state.stacks[stack]!.path[position]
  }
}

// MARK: Writing the draft

extension Planner {
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

  /// The number of the next acceptance, from 1.
  mutating func countAcceptance() -> Int {
    acceptances += 1
    return acceptances
  }

  mutating func withGroup(_ group: BindingID, _ body: (inout GroupDraft) -> Void) {
    if draft.groups[group] == nil {
      let before = state.groups[group]
      draft.groups[group] = GroupDraft(
        selected: before?.selected, queue: before?.queue ?? Queue(), tagBefore: machine.selection(of: group),
        queueBefore: before?.queue ?? Queue())
    }
    body(&draft.groups[group]!)
  }

  mutating func withStack(_ stack: BindingID, _ body: (inout StackDraft) -> Void) {
    if draft.stacks[stack] == nil { draft.stacks[stack] = StackDraft(unchanged: state.stacks[stack]?.path.count ?? 0) }
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

  /// Removes an item from its group and its stack. In the stack, no item may be above it.
  mutating func leave(_ item: Shared<Item>, at binding: BindingID) {
    if let membership = item.membership {
      withGroup(membership.group) { group in
        if item.isQueued {
          group.queue.remove(binding)
        } else {
          group.selected = nil
        }
      }
    }
    if let position = item.position {
      withStack(position.stack) { $0.removeTop() }
    }
  }
}
