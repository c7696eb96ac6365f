import PresentationModel

/// The author of a request, and how the request is carried out.
struct Author: Sendable {
  var client: Client?
  var trust = Trust.trusted
  /// The index of the request in its transaction.
  var request: Int
  var animated: Bool
}

/// All that a transaction would change. It cannot be copied: it is large, and moves from the transaction to the commit.
struct Draft: ~Copyable, Sendable {
  var slots = SlotDrafts()
  var groups: [BindingID: GroupDraft] = [:]
  var stacks: [BindingID: StackDraft] = [:]
  /// The requests that groups are to remember (G7).
  var learned: [GroupTag: TagMemory] = [:]
  /// The keys of `learned`, in the order of the requests; a key may be there more than once.
  var learnOrder: [GroupTag] = []
  /// The requests that groups are to forget, unless they learn them again.
  var forgotten: Set<GroupTag> = []
  var lastQueueAge: UInt64
  /// The client whose request ends presentations.
  let endedBy: Client?
  /// Presentations that their presenters have ended already.
  var over: Set<Handle> = []
  /// What requests force, whether or not they change it (P15).
  var forced: Set<Subject> = []
  /// Whether requests end what is parked, and whether without a question (N8).
  var endsParked: (isAsked: Bool, isForced: Bool) = (false, false)
  /// Slots whose windows requests raise (N7).
  var raised: [BindingID] = []
  /// Slots whose windows requests bring to where their user is (N11).
  var brought: [Brought] = []
  /// Presentations that are presented again, what they depend on first, and why the last one of them is (P15).
  var kept: (handles: [Handle], message: String) = ([], "")
  /// Slots with new items, in the order of the requests; a slot may be there more than once.
  var renewed: [BindingID] = []
  /// How many of `renewed` there were when all slots of a scope were emptied: only later ones can hold an item.
  var emptied: [Scope<BindingID>: Int] = [:]
  /// The steps of the requests so far (L1).
  var work = 0
  /// The number of elements of all paths that requests have set.
  var pathElements = 0
}

/// What a transaction would make of slots, in the order in which it touched them.
///
/// They are in an array: a transaction that ends tens of thousands of presentations walks through all of them a dozen times.
struct SlotDrafts: Sendable {
  /// Not a tuple: where a subscript yields a part of that, programs that are not optimized never free it (Swift 6.3).
  private struct Entry: Sendable {
    let binding: BindingID
    var draft: Shared<SlotDraft>
  }

  private var drafts: [Entry] = []
  /// The indices of drafts; empty while these are few, which takes less time to search than to hash.
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

/// What a transaction would make of a slot.
struct SlotDraft: Sendable {
  /// What the transaction has done with the item so far.
  enum Change: Sendable {
    /// No request presents it; it is the item of before, perhaps edited.
    case edited
    /// Presented again with the same id.
    case refreshed
    /// A new item. If the presentation of before can show it (P2, T1), that takes over what requests have given.
    case renewed(given: ItemOptions)
    /// Presented again without a request, since its presentation ended by itself (K3) or gave way (K2).
    case continued
    /// Presented by a request, and certainly by a new presentation, since something it depends on ends.
    case recreated
    /// The slot is empty.
    case cleared
    /// A presentation that was being dismissed gets the slot back (P15).
    case givenBack
  }

  /// How an item says from what it is presented (C1).
  enum From: Hashable, Sendable {
    /// As the presentation of before.
    case asBefore
    /// From the nearest binding that holds an item, which is known when the transaction is settled.
    case implied(BindingID?)
    case named(BindingID)

    /// The parent; nil if there is none, or if it is not known yet.
    var binding: BindingID? {
      switch self {
      case .asBefore: nil
      case .implied(let parent): parent
      case .named(let parent): parent
      }
    }

    var isNamed: Bool { if case .named = self { true } else { false } }
  }

  /// What happens to the slot's presentation.
  enum Resolution: Sendable {
    case undecided
    /// It stays, with the drafted item.
    case kept
    /// It ends, if there is one; a drafted item gets a new presentation.
    case replaced
  }

  /// Why and how a presentation ends.
  struct Cause: Sendable {
    var reason: Reason
    var animated: Bool
  }

  /// The slot's presentation before the transaction.
  let before: Handle?
  var item: Shared<Item>?
  var change = Change.edited
  /// What its new presentation has of the one before (K2, K3).
  var continuation: Continuation?
  /// Counts requests that present something; members are listed in that order (V5).
  var accepted = 0
  var from = From.asBefore
  /// What the last request gave that gave one (H6).
  var within: UInt64?
  /// Whether a request gave a timeout (O2).
  var restartsTimeout = false
  /// The first cause of the end of the presentation before (P12).
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

  /// Notes the cause of an end; the first one counts (P12).
  mutating func ends(_ reason: Reason, by author: Author) {
    guard before != nil, cause == nil else { return }
    cause = Cause(reason: reason, animated: author.animated)
  }
}

/// Of the shared draft, since the same of its content would copy all of that.
extension Shared<SlotDraft> {
  /// Whether the item gets a new presentation.
  var isNew: Bool {
    if case .givenBack = self.change { return false }
    return self.item != nil && self.resolution == .replaced
  }

  /// How the presentation before ends: a dismissal followed by another item is a replacement (T1), animated as that (T2).
  var effectiveCause: SlotDraft.Cause {
    let cause = self.cause ?? SlotDraft.Cause(reason: .replaced, animated: true)
    if let item = self.item, cause.reason == .dismissed || cause.reason == .replaced {
      return SlotDraft.Cause(reason: .replaced, animated: item.animated)
    }
    return cause
  }

  /// The item of a presentation that stays.
  func updated(_ before: Shared<Item>) -> Shared<Item> {
    guard let item = self.item, case .renewed(let given) = self.change else { return self.item ?? before }
    var updated = Shared<Item>(before.content.applying(given, by: self.author))
    updated.isQueued = item.isQueued
    updated.isInterrupted = item.isInterrupted
    updated.isStateMeant = item.isStateMeant
    updated.queueAge = item.queueAge == nil ? nil : before.queueAge ?? item.queueAge
    return updated
  }
}

/// What a transaction would make of a group.
struct GroupDraft: Sendable {
  var selected: BindingID?
  var queue: [QueueEntry]
  let tagBefore: String?
  let queueBefore: [QueueEntry]

  /// Whether other items are queued, or in another order.
  var hasOtherQueue: Bool { queue != queueBefore && queue.map(\.tag) != queueBefore.map(\.tag) }

  /// Inserts an entry: the highest priority first, then the oldest (G9).
  mutating func enqueue(_ entry: QueueEntry) {
    queue.insert(entry, at: queue.firstIndex { entry.comesBefore($0) } ?? queue.endIndex)
  }

  mutating func dequeue(_ binding: BindingID) { queue.removeAll { $0.binding == binding } }
}

/// What a transaction would make of a stack: the beginning of its path that is left alone, and what follows it.
struct StackDraft: Sendable {
  var kept: Int
  var rest: [BindingID] = []
  var count: Int { kept + rest.count }

  mutating func removeTop() {
    if rest.isEmpty { kept -= 1 } else { rest.removeLast() }
  }
}
