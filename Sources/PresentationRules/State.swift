import DBusValues
import HeapModule
import PresentationModel

/// A slot of the dictionary: the presentation that a binding should show, and the one that is still ending.
struct Slot: Sendable {
  /// The presentation of the item that the slot holds; nil for an empty slot.
  var current: Handle?
  /// The presentation before it, while that is being dismissed. There is at most one: the next one waits for its end.
  var dismissing: Handle?
  /// When the item last changed (P10).
  var changed = Serial(0)
}

/// The subject of an expected serial (P10).
public enum Subject: Hashable, Sendable {
  case slot(BindingID)
  case group(BindingID)
  case stack(BindingID)

  private var parts: (kind: Int, binding: BindingID) {
    switch self {
    case .slot(let binding): (1, binding)
    case .group(let group): (2, group)
    case .stack(let stack): (3, stack)
    }
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(parts.kind)
    hasher.combine(parts.binding)
  }

  /// The hash of a binding is random already; dictionaries need not hash it again.
  public func _rawHashValue(seed: Int) -> Int { parts.binding._rawHashValue(seed: seed &+ parts.kind) }
}

/// Everything that is known between two inputs. Work on an input is in `Transaction` and `Turn`.
///
/// It is only reached through `StateMachine`, which cannot be copied. Functions that read it belong to that: called on
/// the state itself, they may copy it.
struct State: Sendable {
  var limits: Limits
  var serial: Serial
  var lastHandle: Handle
  var lastQueueAge: UInt64 = 0

  var slots = NotedDictionary<BindingID, Slot>()
  var presentations = NotedDictionary<Handle, Presentation>()
  var groups = NotedDictionary<BindingID, Group>()
  var stacks = NotedDictionary<BindingID, Stack>()
  var registry = Registry()
  /// Programs whose windows are hidden, by the presentations for which they were started (N8).
  var parked = NotedDictionary<Handle, Parked>()
  /// Those of them that were announced last.
  var toldParked: [Handle] = []
  var containerValueDeclarations = NotedDictionary<String, ContainerValueDeclaration>()
  var tagMemory: RecencyMap<GroupTag, TagMemory>
  var endings: RecencyMap<Handle, Shared<Ending>>
  /// When slots, groups and stacks that no longer exist last changed.
  var changesOfAbsent: RecencyMap<Subject, Serial>
  /// The newest change dropped from `changesOfAbsent`. A subject that is not in there has not changed since.
  var changesForgotten = Serial(0)
  var requesters = Requesters()
  var deadlines = Heap<Deadline>()
  var holders = NotedDictionary<Holder.Key, Holder>()
  /// Variables for commands, by their names (K6).
  var environment = NotedDictionary<String, String>()
  /// Items that have ended by themselves shortly before, by the slots that they left empty (K4).
  var departed = NotedDictionary<BindingID, DepartedItem>()
  /// Kept items as last recorded (K4).
  var keptOnRecord: [BindingID: KeptItem] = [:]
  /// Presentations whose record has a bad text, until they end, and why.
  var unreadable: [Handle: String] = [:]
  /// Whether the next recording compares them all with the state.
  var comparesKeptItems = false
  var isShuttingDown = false
  /// Nanoseconds by which the wall clock is ahead of the clock of the inputs; nil if unknown. Only timestamps of
  /// endings and presentations use it: no rule depends on it.
  var wallClockLead: Int64?
  /// Counters as last recorded.
  var recordedNumbers: RecordedState.Numbers?

  /// In the order of their groups. Files say which there are, so they are not recorded (K1).
  var fallbacks: [Fallback] = []
  /// Whether files have said so since the last input with a time.
  var hasNewFallbacks = false

  // Facts of the window system, which a restart learns anew.

  /// The presentation whose window has the focus; nil if the focused window belongs to none.
  var focused: Handle?
  /// Whether its window has lost the focus since, and no other one has it yet.
  var hasLostFocus = false
  /// Presentations that have just ended because another window took the focus.
  var unfocused: [Unfocused] = []

  /// What holds do with items whose destinations do not say it (H3); from the settings file, at each start.
  var holdsOfAll: [String: HoldAction] = [:]

  // Derived from the above, to find things fast.

  var bindingsOfRoot: [String: Set<BindingID>] = [:]
  var ownedBy: [Client: Set<Handle>] = [:]
  var countsOfClients: [Client: Int] = [:]
  /// The presentations whose presenters have left the bus, and may come back (D4).
  var abandoned: Set<Handle> = []
  /// Bytes of the items of all presentations (L1).
  var bytesOfItems = 0
  /// The names of the holders, and of what presentations hold.
  var holdsInForce: Set<String> = []
  /// The live presentations that hold, by the names of their holds (H8).
  var holding: [String: Set<Handle>] = [:]

  init(limits: Limits, serial: Serial = Serial(0), lastHandle: Handle = Handle(0)) {
    self.limits = limits
    self.serial = serial
    self.lastHandle = lastHandle
    tagMemory = RecencyMap(limit: limits.tags, byteLimit: limits.remembered)
    endings = RecencyMap(limit: limits.endings, byteLimit: limits.remembered)
    changesOfAbsent = RecencyMap(limit: 4 * limits.endings)
  }
}

// MARK: Keeping the parts consistent

extension State {
  /// Notes the current serial on what has changed in an input, for later expectations (P10).
  mutating func stamp(_ changed: Set<Subject>) {
    for subject in changed {
      switch subject {
      case .slot(let binding) where slots[binding] != nil: slots[binding]!.changed = serial
      case .group(let group) where groups[group] != nil: groups[group]!.changed = serial
      case .stack(let stack) where stacks[stack] != nil: stacks[stack]!.changed = serial
      default: rememberChange(of: subject, at: serial)
      }
    }
  }

  private mutating func rememberChange(of subject: Subject, at serial: Serial) {
    let serial = max(serial, changesOfAbsent[subject] ?? serial)
    for (_, dropped) in changesOfAbsent.set(subject, serial) { changesForgotten = max(changesForgotten, dropped) }
  }

  /// Removes a slot that neither shows nor dismisses a presentation.
  mutating func dropIfUnused(slot binding: BindingID) {
    guard let slot = slots[binding], slot.current == nil, slot.dismissing == nil else { return }
    _ = slots.removeValue(forKey: binding)
    rememberChange(of: .slot(binding), at: slot.changed)
    let root = binding.root
    bindingsOfRoot[root]?.remove(binding)
    if bindingsOfRoot[root]?.isEmpty == true { bindingsOfRoot[root] = nil }
  }

  /// Removes a group that has no selection, no queue, no presentation being dismissed and no remembered tags.
  mutating func dropIfUnused(group name: BindingID) {
    guard let group = groups[name], group.selected == nil, group.live == nil, group.queue.isEmpty,
      group.remembered.isEmpty
    else { return }
    groups[name] = nil
    rememberChange(of: .group(name), at: group.changed)
  }

  /// Removes a stack with an empty path from which no presentation is being dismissed (S7).
  mutating func dropIfUnused(stack name: BindingID) {
    guard let stack = stacks[name], stack.path.isEmpty, stack.dismissing.isEmpty else { return }
    stacks[name] = nil
    rememberChange(of: .stack(name), at: stack.changed)
  }

  /// - Returns: whether the owner owned nothing before.
  mutating func own(_ handle: Handle, _ owner: Client) -> Bool {
    let isFirst = ownedBy[owner] == nil
    ownedBy[owner, default: []].insert(handle)
    return isFirst
  }

  mutating func disown(_ handle: Handle, _ owner: Client) {
    ownedBy[owner]?.remove(handle)
    if ownedBy[owner]?.isEmpty == true { ownedBy[owner] = nil }
  }

  mutating func uncount(_ creator: Client) {
    guard let index = countsOfClients.index(forKey: creator) else { return }
    countsOfClients.values[index] -= 1
    if countsOfClients.values[index] == 0 { countsOfClients.remove(at: index) }
  }
}
