import PresentationModel

/// The author of a request, and the way in which the request is carried out.
struct Author: Sendable {
  var client: Client?
  var trust = Trust.trusted
  /// The index of the request in its transaction.
  var request: Int
  var animated: Bool
}

/// All planned changes of a transaction, a plain record. It cannot be copied: it is large, and moves from the planner to the
/// commit.
struct Draft: ~Copyable, Sendable {
  var slots = SlotDrafts()
  var groups: [BindingID: GroupDraft] = [:]
  var stacks: [BindingID: StackDraft] = [:]
  /// The requests that groups will remember (G7).
  var learned: [GroupTag: TagMemory] = [:]
  /// The keys of `learned`, in the order of the requests; a key may be there more than once.
  var learnOrder: [GroupTag] = []
  /// The requests that groups will forget, unless they learn them again.
  var forgotten: Set<GroupTag> = []
  var lastQueueAge: UInt64
  /// The client whose request ends presentations.
  let endedBy: Client?
  /// Presentations that their presenters have already ended.
  var over: Set<Handle> = []
  /// The subjects whose dismissals requests force, even without another change (P15).
  var forced: Set<Subject> = []
  /// The scopes whose slots are in `forced`.
  var forcedScopes: Set<Scope<BindingID>> = []
  /// Whether requests end parked programs, and whether without a question to their users (N8).
  var endsParked: (isAsked: Bool, isForced: Bool) = (false, false)
  /// Slots whose windows requests raise (N7).
  var raised: [BindingID] = []
  /// Slots whose windows requests bring to where their user is (N11).
  var brought: [Brought] = []
  /// The presentations that stay although they were being dismissed (P15, G10).
  var givenBack: [GivenBack] = []
  /// Slots with new items, in the order of the requests; a slot may be there more than once.
  var renewed: [BindingID] = []
  /// The count of `renewed` when all slots of a scope were emptied: only later entries can hold an item.
  var emptied: [Scope<BindingID>: Int] = [:]
  /// The slots that a program serves, and for which another client has requested an item (D18).
  var asksProgram: Set<BindingID> = []
  /// The items whose parents are out of view, in the order of the requests (D20).
  var requested: [RequestedItem] = []
  /// The heights of paths with such items as elements.
  var requestedHeights: [BindingID: Int] = [:]
  /// The number of steps of searches and edits so far (L2).
  var steps = 0
  /// The number of elements of all paths that requests have set.
  var pathElements = 0
}

/// Presentations that were being dismissed, and stay.
struct GivenBack: Sendable {
  /// The presentations, dependencies first.
  var handles: [Handle]
  /// The message of the last one: why it has declined, or why it is kept.
  var message: String
  /// The successor that has not come (G10); nil if the last one has declined (P15).
  var insteadOf: Handle?
}

/// The drafts of slots, in the order in which the transaction touched them.
///
/// They are in an array: a transaction that ends tens of thousands of presentations iterates over all of them a dozen times.
struct SlotDrafts: Sendable {
  /// Not a tuple: a part of a tuple that a subscript yields is never freed in programs that are not optimized (Swift 6.3).
  private struct Entry: Sendable {
    let binding: BindingID
    var draft: Shared<SlotDraft>
  }

  private var drafts: [Entry] = []
  /// The indices of drafts. Empty while there are few, since a search is then faster than a hash.
  private var places: [BindingID: Int] = [:]
  private static let maxUnhashed = 8

  var indices: Range<Int> { drafts.indices }
  var count: Int { drafts.count }

  func binding(at index: Int) -> BindingID { drafts[index].binding }

  func index(of binding: BindingID) -> Int? {
    drafts.count > Self.maxUnhashed ? places[binding] : drafts.firstIndex { $0.binding == binding }
  }

  subscript(index: Int) -> Shared<SlotDraft> {
    _read { yield drafts[index].draft }
    _modify { yield &drafts[index].draft }
  }

  subscript(binding: BindingID) -> Shared<SlotDraft>? { index(of: binding).map { drafts[$0].draft } }

  /// - Precondition: the slot is drafted already.
  subscript(existing binding: BindingID) -> Shared<SlotDraft> {
    _read { yield self[index(of: binding)!] }
    _modify { yield &self[index(of: binding)!] }
  }

  /// - Precondition: the slot is not drafted yet.
  /// - Returns: its index.
  mutating func append(_ binding: BindingID, _ draft: Shared<SlotDraft>) -> Int {
    drafts.append(Entry(binding: binding, draft: draft))
    if drafts.count > Self.maxUnhashed {
      for index in places.count..<drafts.count { places[drafts[index].binding] = index }
    }
    return drafts.count - 1
  }
}

/// The plan for one slot.
struct SlotDraft: Sendable {
  /// The change of the item so far.
  enum Change: Sendable {
    /// No request presents the item; it is the earlier item, perhaps edited.
    case edited
    /// The item is presented again with the same id.
    case refreshed
    /// The item is new. If the earlier presentation can show it, its item takes over what requests
    /// have given (P2, T1).
    case renewed(given: ItemOptions)
    /// The item is presented again without a request, since its presentation gave way or ended by
    /// itself (K2, K3).
    case continued
    /// The item is presented by a request. It needs a new presentation, since something that it depends on ends.
    case recreated
    /// The slot is empty.
    case cleared
    /// A presentation that was being dismissed gets the slot back (P15).
    case givenBack
  }

  /// The parent from which an item is presented (C1).
  enum From: Hashable, Sendable {
    /// The parent of the earlier presentation.
    case asBefore
    /// The nearest binding that holds an item, which is known when the transaction is settled.
    case implied(BindingID?)
    case named(BindingID)

    /// The binding of the parent; nil if there is none, or if it is not known yet.
    var binding: BindingID? {
      switch self {
      case .asBefore: nil
      case .implied(let parent): parent
      case .named(let parent): parent
      }
    }

    var isNamed: Bool { if case .named = self { true } else { false } }
  }

  /// The decision about the slot's presentation.
  enum Resolution: Sendable {
    case undecided
    /// The presentation stays, with the drafted item.
    case stays
    /// The presentation ends, if there is one, and a drafted item gets a new one.
    case replaced
  }

  /// The reason for which a presentation ends, and whether the end is animated.
  struct Cause: Sendable {
    var reason: Reason
    var animated: Bool
  }

  /// The slot's presentation before the transaction.
  let before: Handle?
  var item: Shared<Item>?
  var change = Change.edited
  /// The state that the new presentation takes over from the one before (K2, K3).
  var continuation: Continuation?
  /// The number of the request that presents the item, in the order of acceptance; members are listed in that order (V5).
  var accepted = 0
  var from = From.asBefore
  /// The time that the item may wait; from the last request that gave one (H6).
  var within: UInt64?
  /// Whether a request gave a timeout (O2).
  var restartsTimeout = false
  /// Whether a key has asked for the item (N7).
  var mustBeSeen = false
  /// Whether the last request that presents the item says that windows come to where their user is (N11).
  var bringsHere: Bool?
  /// The sizes of the drafted item; nil before the first edit of it.
  var sizes: EditedSizes?
  /// The edits since the item was renewed. They apply to the earlier item, if that stays (T1).
  var edits = ItemEdits()
  /// The first cause of the end of the earlier presentation (P12).
  var cause: Cause?
  var author: Author
  var resolution = Resolution.undecided

  /// Whether a request presents the item, so that it is presented again if its parent is replaced.
  var isRequested: Bool {
    switch change {
    case .refreshed, .renewed, .recreated: true
    case .edited, .continued, .cleared, .givenBack: false
    }
  }

  /// Notes the cause of an end; only the first one counts (P12).
  mutating func ends(_ reason: Reason, by author: Author) {
    guard before != nil, cause == nil else { return }
    cause = Cause(reason: reason, animated: author.animated)
  }
}

/// An extension of the shared draft: an extension of its content would copy the content.
extension Shared<SlotDraft> {
  /// Whether the item gets a new presentation.
  var isNew: Bool {
    if case .givenBack = self.change { return false }
    return self.item != nil && self.resolution == .replaced
  }

  /// The cause of the end of the earlier presentation. A dismissal followed by another item is a
  /// replacement, and is animated as one (T1, T2).
  var effectiveCause: SlotDraft.Cause {
    let cause = self.cause ?? SlotDraft.Cause(reason: .replaced, animated: true)
    if let item = self.item, cause.reason == .dismissed || cause.reason == .replaced {
      return SlotDraft.Cause(reason: .replaced, animated: item.animated)
    }
    return cause
  }

  /// The new item of a presentation that stays.
  func updated(_ before: Shared<Item>) -> Shared<Item> {
    guard let item = self.item, case .renewed(var given) = self.change else { return self.item ?? before }
    let edits = self.edits
    if !edits.value.isEmpty { given.value = edits.value.applied(to: given.value ?? before.value) }
    if !edits.containerValues.isEmpty {
      given.containerValues = edits.containerValues.applied(to: given.containerValues ?? before.containerValues)
    }
    var updated = Shared<Item>(before.content.applying(given, by: self.author))
    updated.isQueued = item.isQueued
    updated.isInterrupted = item.isInterrupted
    updated.queueAge = item.queueAge == nil ? nil : before.queueAge ?? item.queueAge
    return updated
  }
}

/// The plan for one stack: the number of unchanged elements at the bottom, and the elements added above them.
struct StackDraft: Sendable {
  var unchanged: Int
  var added: [BindingID] = []
  var count: Int { unchanged + added.count }

  mutating func removeTop() {
    if added.isEmpty { unchanged -= 1 } else { added.removeLast() }
  }
}
