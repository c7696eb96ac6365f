import DBusValues
import HeapModule
import PresentationModel

/// A slot of the dictionary: the presentation that a binding should show, and the one that is still ending.
struct Slot: Sendable {
  /// The presentation of the item that the slot holds; nil for an empty slot.
  var current: Handle?
  /// The previous presentations that are being dismissed. There is at most one, since the next one waits for its end; with a replacement
  /// that overlaps, there may be two (G10).
  var dismissing: [Handle] = []
}

/// A slot, group or stack that an input changes, or whose dismissals a request forces (P15).
enum Subject: Hashable, Sendable {
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

  func hash(into hasher: inout Hasher) {
    hasher.combine(parts.kind)
    hasher.combine(parts.binding)
  }

  /// The hash of a binding is random already, so dictionaries need not hash it again.
  func _rawHashValue(seed: Int) -> Int { parts.binding._rawHashValue(seed: seed &+ parts.kind) }
}

/// The whole state between two inputs. An input is processed in `Planner` and `Transition`.
///
/// The state is only reached through `StateMachine`, which cannot be copied. Functions that read the state belong to the machine: if
/// they were called on the state itself, they might copy it. It is a plain record: each part of the rules has its tables here, since one
/// commit changes several of them.
struct State: Sendable {
  var limits: Limits
  var serial: Serial
  var lastHandle: Handle
  var lastQueueAge: UInt64 = 0

  var slots = NotedDictionary<BindingID, Slot>()
  var presentations = NotedDictionary<Handle, Presentation>()
  var groups: [BindingID: Group] = [:]
  var stacks: [BindingID: Stack] = [:]
  var registry = Registry()
  /// Programs whose windows are hidden, by the presentations for which they were started (N8).
  var parked = NotedDictionary<Handle, Parked>()
  /// The parked programs that were announced last.
  var toldParked: [ShownParked] = []
  var containerValueDeclarations = NotedDictionary<String, ContainerValueDeclaration>()
  var tagMemory: RecencyMap<GroupTag, TagMemory>
  var endings: RecencyMap<Handle, Shared<Ending>>
  var requesters = Requesters()
  var deadlines = Heap<Deadline>()
  var holders = NotedDictionary<Holder.Key, Holder>()
  /// Variables for commands, by their names (K6).
  var environment = NotedDictionary<String, String>()
  /// Items that have just ended by themselves, by the slots that they left empty (K4).
  var departed = NotedDictionary<BindingID, DepartedItem>()
  /// The kept items as last recorded (K4).
  var loginItemsOnRecord: [BindingID: LoginItem] = [:]
  /// The kept holds as last recorded, by their names (K4).
  var loginHoldsOnRecord: [String: LoginHold] = [:]
  /// Whether the next recording compares the kept holds with the state.
  var comparesLoginHolds = false
  /// Whether the next recording compares all kept items with the state.
  var comparesLoginItems = false
  var isShuttingDown = false
  /// Nanoseconds by which the wall clock is ahead of the clock of the inputs; nil if unknown. Only timestamps of endings and
  /// presentations use them: no rule depends on them.
  var wallClockLead: Int64?
  /// The counters as last recorded.
  var recordedNumbers: RecordedState.Numbers?

  /// The fallbacks, in the order of their groups. They come from files, so they are not recorded (K1).
  var fallbacks: [Fallback] = []
  /// The groups whose next member is presented before the one before it is gone (G10). They come from files, so they are not recorded.
  var overlapping: Set<BindingID> = []
  /// Whether files have set fallbacks or overlapping groups since the last input with a time.
  var hasNewGroupSettings = false
  /// Whether files were read since the last input with a time, so that holds may have other effects (H3).
  var hasNewHoldSettings = false

  // Facts of the window system. They are learned anew after a restart.

  /// The presentation whose window has the focus; nil if the focused window belongs to none.
  var focused: Handle?
  /// Whether the window of `focused` has lost the focus, and no other window has it yet.
  var hasLostFocus = false
  /// The presentations that have just ended because another window took the focus.
  var unfocused = UnfocusedItems()

  /// The effects of holds on items whose destinations do not define them (H3). They come from the
  /// settings file at each start.
  var holdsOfAll: [String: HoldAction] = [:]

  /// The work that the current input still has to do.
  var lists = Worklists()

  // Derived from the above, for fast look-ups.

  var bindingsOfRoot: [String: Set<BindingID>] = [:]
  var ownedBy: [Client: Set<Handle>] = [:]
  var countsOfClients: [Client: Int] = [:]
  /// The presentations whose presenters have left the bus, and may come back (D4).
  var abandoned: Set<Handle> = []
  /// Bytes of the items of all presentations (L1).
  var bytesOfItems = 0
  /// The names of the holds in force, by holders or by presentations.
  var holdsInForce: Set<String> = []
  /// The live presentations that hold, by the names of their holds (H8).
  var holding: [String: Set<Handle>] = [:]
  /// The numbers of holders of each hold.
  var countsOfHolders: [String: Int] = [:]
  /// The presentations on whose items a hold has an effect, by the names of the holds.
  var concerned: [String: Set<Handle>] = [:]

  init(limits: Limits, serial: Serial = Serial(0), lastHandle: Handle = Handle(0)) {
    self.limits = limits
    self.serial = serial
    self.lastHandle = lastHandle
    tagMemory = RecencyMap(limit: limits.remembered, byteLimit: limits.state)
    endings = RecencyMap(limit: limits.remembered, byteLimit: limits.state)
  }
}

// MARK: Keeping the parts consistent

extension State {
  /// Removes a slot that neither shows nor dismisses a presentation.
  mutating func dropIfUnused(slot binding: BindingID) {
    guard let slot = slots[binding], slot.current == nil, slot.dismissing.isEmpty else { return }
    _ = slots.removeValue(forKey: binding)
    let root = binding.root
    bindingsOfRoot[root]?.remove(binding)
    if bindingsOfRoot[root]?.isEmpty == true { bindingsOfRoot[root] = nil }
  }

  /// Removes a group without a selection, a queue and a presentation being dismissed.
  mutating func dropIfUnused(group name: BindingID) {
    guard let group = groups[name], group.selected == nil, group.live.isEmpty, group.queue.isEmpty else { return }
    groups[name] = nil
  }

  /// Removes a stack with an empty path from which no presentation is being dismissed (S7).
  mutating func dropIfUnused(stack name: BindingID) {
    guard let stack = stacks[name], stack.path.isEmpty, stack.dismissing.isEmpty else { return }
    stacks[name] = nil
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
