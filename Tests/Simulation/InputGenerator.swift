import DBusValues
import PresentationModel
import PresentationRules

/// A binding that is known to be one.
func binding(_ text: String) -> BindingID {
  do { return try BindingID(text) } catch { preconditionFailure("“\(text)” is no binding: \(error)") }
}

/// The generator of the inputs of one world: its names, and how often each kind of input occurs. The names are few, since
/// collisions find mistakes, and each world leaves out something else.
struct InputGenerator {
  let bindings: [BindingID]
  let groups: [BindingID]
  let stacks: [BindingID]
  let ids = ["", "1", "2"]
  let tags = ["m", "n", "bus2", "two words", "viewer"]
  let titles = ["", "T"]
  let hasTransactions: Bool
  let hasNamedParents: Bool
  let hasDestinations: Bool
  let hasOwners: Bool
  let hasTimeouts: Bool
  let hasExpectations: Bool
  let hasMistakes: Bool
  /// Whether navd is killed sometimes.
  let isMortal: Bool
  let prefersQueues: Bool
  /// Whether most transactions are about ancestors and descendants of one item.
  let prefersFamilies: Bool
  /// The percentage of commands that a presenter answers twice, with an error, or never.
  let presenterFaults: Int
  /// The percentage of dismissals that a presenter declines, or asks its user about.
  let presenterWishes: Int
  /// Whether requests are forced sometimes.
  let hasForce: Bool
  /// The weight of presenters' reports.
  let attention: Int
  let limits: Limits
  /// Whether there are holds, and what they do with all items.
  let hasHolds: Bool
  let holdsOfAll: [String: HoldAction]
  /// Whether requests say how long items may wait.
  let hasPatience: Bool
  /// Whether a navd on a bus can have the same inputs. Then all presenters are on the bus, and no time passes.
  let isLive: Bool
  /// Whether programs serve bindings.
  let hasServing: Bool

  init(_ dice: inout SplitMix64, isLive: Bool = false) {
    self.isLive = isLive
    let all = ["a", "b", "c", "a.x", "a.x.y", "a[0]", "b.x", "c.x", "g.m", "g.n", "h.n", "s[0]", "s[1]", "bus2"]
    let families = ["a", "a.x", "a.x.y", "b", "b.x", "a.x.y[0]", "g.m", "g.m.x"]
    prefersFamilies = dice.chance(25)
    let names = prefersFamilies ? families : all
    let count = prefersFamilies ? dice.pick([3, 5, names.count]) : dice.pick([4, 6, 8, names.count])
    let shift = dice.below(prefersFamilies ? 1 : names.count)
    bindings = (0..<count).map { binding(names[($0 + shift) % names.count]) }
    prefersQueues = dice.chance(25)
    groups = prefersQueues ? [binding("g")] : dice.chance(75) ? ["g", "h"].map(binding) : []
    stacks = dice.chance(60) ? ["s", "t"].map(binding) : []
    hasTransactions = prefersFamilies || dice.chance(60)
    hasNamedParents = dice.chance(60)
    hasDestinations = dice.chance(85)
    hasOwners = dice.chance(50)
    hasTimeouts = dice.chance(50) && !isLive
    hasExpectations = dice.chance(40) && !isLive
    hasMistakes = dice.chance(40)
    presenterFaults = isLive ? 0 : dice.pick([0, 10, 40])
    presenterWishes = dice.pick([0, 20, 50])
    hasForce = dice.chance(50)
    attention = dice.pick([10, 30, 60])
    var limits = Limits()
    if !isLive, dice.chance(20) {
      limits.items = 2 + dice.below(6)
      limits.itemsPerClient = 1 + dice.below(5)
      limits.queue = 1 + dice.below(2)
    }
    if !isLive, dice.chance(25) { limits.remembered = 1 + dice.below(4) }
    self.limits = limits
    isMortal = dice.chance(40) && !isLive
    hasHolds = dice.chance(40) && !isLive
    hasPatience = dice.chance(30) && !isLive
    holdsOfAll =
      hasHolds
      ? ["dnd": dice.pick([.show, .postpone, .dismiss, .refuse]), "locked": dice.pick([.show, .postpone, .dismiss])]
      : [:]
    // The other worlds stay as they were.
    var other = dice
    hasServing = hasDestinations && other.chance(30)
  }

  /// What a program serves, or serves no longer.
  func served(_ dice: inout SplitMix64) -> [(BindingID, ServedEntry?)] {
    var found: [(BindingID, ServedEntry?)] = []
    for _ in 0...dice.below(3) {
      if !stacks.isEmpty, dice.chance(25) {
        var path = ServedEntry(["elements": .boolean(true)])
        path.id = dice.pick(["Int", "Int", "String", nil])
        path.value = dice.pick([nil, nil, "{k: Int}", "Any"])
        if dice.chance(30) { (path.from, path.waits) = (dice.pick(bindings).text, true) }
        found.append((dice.pick(stacks), path))
        continue
      }
      var entry = ServedEntry(["type": .string("T")])
      entry.id = dice.pick([nil, "Int", "String"])
      entry.value = dice.pick([nil, nil, "Any", "{k: Int}", "{j?: String, k?: Int}"])
      if entry.id == "Int", entry.value == "{k: Int}", dice.chance(60) { entry.identity = "k" }
      if dice.chance(5) { entry.own = true }
      if !groups.isEmpty, dice.chance(25) {
        entry.group = dice.pick(groups).text
      }
      if !stacks.isEmpty, dice.chance(8) { entry.stack = dice.pick(stacks).text }
      if dice.chance(8) { entry.from = dice.pick(bindings).text }
      if dice.chance(15) { (entry.from, entry.waits) = (dice.pick(bindings).text, true) }
      let binding = dice.pick(bindings)
      // The tags of a group that a program shows differ.
      if let group = entry.group, !binding.text.hasPrefix(group), dice.chance(30) { entry.tag = dice.pick(tags) }
      found.append((binding, dice.chance(15) ? nil : entry))
    }
    return found
  }

  static let holds = ["dnd", "dnd", "locked", "quiet"]

  /// The destinations from files.
  func files(_ dice: inout SplitMix64) -> [Destination] {
    guard hasDestinations else { return [] }
    let restart: RestartRule? =
      dice.chance(50)
      ? RestartRule(dice.chance(50) ? .always : .onFailure, delay: 5, maxDelay: 15, limit: 1 + UInt32(dice.below(3)))
      : nil
    let restores = dice.chance(50)
    let isStartTimeoutWritten = dice.chance(50)
    let replacement: Replacement = dice.chance(30) ? .overlap : .sequential
    // The other worlds stay as they were.
    var other = dice
    let awaitsReady = other.chance(20)
    func destination(
      _ name: String, _ presenter: Destination.Presenter, group: String? = nil, window: WindowFollowing? = nil,
      _ settings: ((inout ItemSettings) -> Void)? = nil
    ) -> Destination {
      var destination = Destination(
        name: name, presenter: presenter,
        group: groups.isEmpty ? nil : group.map { $0 == "g" ? groups[0] : groups[groups.count - 1] },
        style: name == "unit" ? "sheet" : nil, startTimeout: 20, grace: 10, source: .file(path: name),
        itemSettings: settings.map { change in
          var settings = ItemSettings()
          change(&settings)
          return Shared(settings)
        }, window: window)
      destination.isStartTimeoutWritten = isStartTimeoutWritten
      return destination
    }
    return [
      destination("command", .command([Array("foot".utf8)])) {
        $0.restart = restart
        $0.restoresAtLogin = restores
        $0.replacement = replacement
        $0.awaitsReady = awaitsReady
      },
      destination("hider", .command([Array("editor".utf8)]), window: WindowFollowing(hides: true)),
      destination(
        "viewer", .command([Array("mpv".utf8)]), group: dice.chance(50) ? "g" : nil, window: WindowFollowing()),
      destination("browser", .unit("browser.service"), window: WindowFollowing()) {
        $0.restart = restart
        $0.restoresAtLogin = restores
        $0.replacement = replacement
        $0.awaitsReady = awaitsReady
      },
      destination("unit", .unit("x.service")) {
        $0.options.title = "Unit"
        if hasHolds { $0.holds = ["dnd": .show, "locked": .dismiss, "quiet": .refuse] }
        $0.options.timeout = 30
      },
      destination("state", .none, group: "h"),
      // The destination is called like a binding, so that an item there uses it without naming it (D2).
      destination("b.x", .command([Array("b".utf8)]), group: dice.chance(50) ? "g" : nil) {
        $0.id = "1"
        if hasHolds { $0.holds = ["quiet": .postpone, "dnd": .dismiss] }
        $0.options.value = ["level": .int32(7)]
        $0.onDismiss = [Array("bye".utf8)]
        $0.restart = restart
        $0.restoresAtLogin = restores
        $0.replacement = replacement
      },
      destination("two words", .none, group: dice.chance(50) ? "h" : nil),
    ].filter { destination in
      !isLive || destination.presenter == .none
    }.filter { destination in
      // The reader of files has checked the names.
      destination.group.map { (try? BindingID($0.text + "." + destination.name)) != nil } ?? true
    }
  }

  /// The settings of groups: fallbacks (K1), and members that overlap (G10).
  func groupSettings(_ dice: inout SplitMix64) -> [BindingID: GroupSettings] {
    var settings: [BindingID: GroupSettings] = [:]
    if hasDestinations, let group = groups.first, limits.items > 100, !isLive, dice.chance(30) {
      settings[group] = GroupSettings(fallback: dice.pick(["command", "b.x", "bus2", "state", "viewer"]))
    }
    if !isLive, dice.chance(40) {
      for group in groups where dice.chance(70) { settings[group, default: GroupSettings()].replacement = .overlap }
    }
    for (group, own) in settings {
      guard let fallback = own.fallback, dice.chance(50) else { continue }
      settings[group]!.otherFallbacks = [
        dice.pick(["command", "b.x", "bus2", "state", "viewer"].filter { $0 != fallback })
      ]
    }
    return settings
  }

  /// The registration of a program on the bus.
  func registration(of name: String? = nil, by client: Client, _ dice: inout SplitMix64) -> Destination {
    let name = name ?? dice.pick(["bus", "bus", "bus2", "bus2", "command", "a"])
    let group = name == "bus2" ? "g" : dice.chance(10) ? "h" : nil
    return Destination(
      name: hasMistakes && name == "a" ? "no binding" : name,
      presenter: .bus(name: client.name, path: "/p"),
      group: groups.isEmpty ? nil : group.map { $0 == "g" ? groups[0] : groups[groups.count - 1] },
      startTimeout: dice.pick([5, 20]), grace: dice.pick([5, 10]), source: .client(client))
  }

  // MARK: Requests

  /// The knowledge of a client that reads the state: it is more likely to name existing things.
  struct View {
    var shown: [OrderChecker.Showing]
    var lastHandle: UInt64
    /// The slots that earlier requests of the transaction named.
    var named: [BindingID] = []
  }

  func requests(_ count: Int, _ view: View, _ dice: inout SplitMix64) -> [Request] {
    var (view, count) = (view, count)
    var operations: [Request.Operation] = []
    if count > 1, !view.shown.isEmpty, dice.chance(prefersFamilies ? 80 : 5) {
      let family = family(of: dice.pick(view.shown), view)
      // Transactions of few requests are accepted more often than those of many.
      count = 2 + dice.below(count - 1)
      operations = (0..<count).map { _ in aboutFamily(family, view, &dice) }
    }
    while operations.count < count {
      if operations.count + 2 <= count, !view.shown.isEmpty, dice.chance(15) {
        let showing = dice.pick(view.shown)
        view.named.append(showing.binding)
        operations += thereAndBack(showing, &dice)
      } else {
        let slot = dice.chance(50) ? view.named.last ?? anySlot(view, &dice) : anySlot(view, &dice)
        view.named.append(slot)
        operations.append(operation(on: slot, view, &dice))
      }
    }
    return operations.map {
      let needsKnownName = dice.chance(12)
      var request = Request(
        $0, expecting: expectation(view, &dice), animated: dice.chance(10) ? false : nil,
        isForced: hasForce && dice.chance(10), needsKnownName: needsKnownName)
      if request.operation.isToggle, dice.chance(30) {
        let handles = view.shown.map(\.handle).filter { _ in dice.chance(50) }
        request.places = WindowPlaces(Dictionary(uniqueKeysWithValues: handles.map { ($0, .init(isOutOfView: true)) }))
      }
      return request
    }
  }

  private func expectation(_ view: View, _ dice: inout SplitMix64) -> Expectation {
    var expectation = Expectation()
    guard hasExpectations, dice.chance(20) else { return expectation }
    switch dice.below(2) {
    case 0: expectation.id = dice.pick(ids)
    default:
      let last = view.lastHandle
      expectation.content =
        dice.chance(20) ? .nothing : .presentation(Handle(last > 8 ? last - UInt64(dice.below(8)) : 1))
    }
    return expectation
  }

  /// Dismisses an item and presents it again (T1: X→nil→X).
  private func thereAndBack(_ showing: OrderChecker.Showing, _ dice: inout SplitMix64) -> [Request.Operation] {
    var options = ItemOptions()
    options.group = showing.group
    options.tag = showing.tag
    if dice.chance(50) { options.ifBusy = .queue }
    if dice.chance(20) { options.priority = Int32(dice.below(3)) }
    if dice.chance(20) { options.value = value(&dice) }
    options.timeout = timeout(&dice)
    let away: Request.Operation =
      switch (dice.below(3), showing.group, showing.stack) {
      case (0, let group?, _): .deselect(group, tag: nil)
      case (1, _, let stack?): .pop(stack, count: 1 + UInt32(dice.below(2)))
      default: .dismiss(showing.binding)
      }
    let back: Request.Operation =
      switch (dice.chance(70), showing.stack, showing.group, showing.tag) {
      case (true, let stack?, _, _): .push(stack, showing.binding, id: showing.id, options)
      case (false, _, let group?, let tag?): .select(group, tag: tag, binding: nil, id: nil, ItemOptions())
      default: .present(showing.binding, id: showing.id, options)
      }
    return [away, back]
  }

  /// An item, its ancestors and its descendants, whether or not they are shown.
  private func family(of showing: OrderChecker.Showing, _ view: View) -> [BindingID] {
    let member = showing.binding
    return Set(bindings + view.shown.map(\.binding)).filter {
      $0 == member || derives($0, from: member) || derives(member, from: $0)
    }.sorted { $0.text < $1.text }
  }

  /// Asks for a member of a family, mostly again under the same id, or ends what it depends on.
  private func aboutFamily(_ family: [BindingID], _ view: View, _ dice: inout SplitMix64) -> Request.Operation {
    let slot = dice.pick(family)
    let known = view.shown.filter { family.contains($0.binding) }
    let shown = known.first { $0.binding == slot }
    let light = dice.chance(80) ? ItemOptions() : options(view, &dice, isUpdate: true)
    switch (dice.below(12), known.compactMap(\.group).first, known.compactMap(\.stack).first) {
    case (0...1, _, _): return .present(slot, id: dice.pick(ids), light)
    case (2, _, _): return .dismiss(slot)
    case (3, let group?, _): return .deselect(group, tag: nil)
    case (4, let group?, _): return .select(group, tag: tag(&dice), binding: nil, id: nil, ItemOptions())
    case (5...6, _, let stack?): return .push(stack, anySlot(view, &dice), id: dice.pick(ids), ItemOptions())
    default: return .present(slot, id: shown?.id ?? dice.pick(ids), light)
    }
  }

  private func anySlot(_ view: View, _ dice: inout SplitMix64) -> BindingID {
    view.shown.isEmpty || dice.chance(prefersQueues ? 70 : 50) ? dice.pick(bindings) : dice.pick(view.shown).binding
  }

  /// The current id, or another one.
  private func id(at slot: BindingID, _ view: View, _ dice: inout SplitMix64) -> String {
    guard dice.chance(50), let shown = view.shown.first(where: { $0.binding == slot }) else { return dice.pick(ids) }
    return shown.id
  }

  private enum Verb {
    case present, toggle, update, dismiss, dismissAll, select, deselect, toggleSelection, forget, push, pop, popTo,
      setPath
  }

  private func operation(on slot: BindingID, _ view: View, _ dice: inout SplitMix64) -> Request.Operation {
    var verbs: [(Int, Verb)] = [
      (prefersQueues ? 80 : 34, .present), (6, .toggle), (6, .update), (prefersQueues ? 6 : 12, .dismiss),
      (prefersQueues ? 1 : 2, .dismissAll),
    ]
    if !groups.isEmpty { verbs += [(8, .select), (3, .deselect), (5, .toggleSelection), (2, .forget)] }
    if !stacks.isEmpty { verbs += [(16, .push), (4, .pop), (2, .popTo), (6, .setPath)] }
    let id = id(at: slot, view, &dice)
    switch dice.pick(weighted: verbs) {
    case .present:
      // A request with the same id is an update (P2) mostly if it does not say where or how to show the item.
      let isShown = view.shown.contains { $0.binding == slot && $0.id == id }
      return .present(slot, id: id, options(view, &dice, isUpdate: isShown))
    case .toggle: return .toggle(slot, id: id, options(view, &dice), anyID: dice.chance(30))
    case .update:
      return .update(
        slot, value: value(&dice), remove: dice.chance(20) ? ["k"] : [],
        containerValues: dice.chance(20) ? containerValues(&dice) : nil, timeout: timeout(&dice))
    case .dismiss: return .dismiss(slot)
    case .dismissAll:
      switch dice.below(5) {
      case 4: return .dismissAll(.parked)
      case 0: return .dismissAll(.everything)
      case 1: return .dismissAll(.root(slot.root))
      case 2 where !groups.isEmpty: return .dismissAll(.group(dice.pick(groups)))
      default: return .dismissAll(stacks.isEmpty ? .root(slot.root) : .stack(dice.pick(stacks)))
      }
    case .select:
      return .select(
        dice.pick(groups), tag: tag(&dice), binding: dice.chance(20) ? slot : nil, id: dice.chance(20) ? id : nil,
        dice.chance(50) ? ItemOptions() : options(view, &dice))
    case .forget: return .forget(dice.pick(groups), tag: dice.pick(tags))
    case .deselect: return .deselect(dice.pick(groups), tag: dice.chance(50) ? dice.pick(tags) : nil)
    case .toggleSelection:
      return .toggleSelection(
        dice.pick(groups), tag: tag(&dice), binding: dice.chance(10) ? slot : nil, id: dice.chance(10) ? id : nil,
        dice.chance(60) ? ItemOptions() : options(view, &dice))
    case .push: return .push(dice.pick(stacks), slot, id: id, options(view, &dice, isElement: true))
    case .pop: return .pop(dice.pick(stacks), count: dice.pick([0, 1, 1, 1, 2, .max]))
    case .popTo: return .popTo(dice.pick(stacks), dice.chance(50) ? slot : nil)
    case .setPath:
      let elements = (0..<dice.below(5)).map { _ in
        let slot = anySlot(view, &dice)
        return RequestedElement(
          binding: dice.chance(60) ? slot : nil, id: self.id(at: slot, view, &dice),
          options: dice.chance(70) ? ItemOptions() : options(view, &dice, isElement: true))
      }
      return .setPath(dice.pick(stacks), elements)
    }
  }

  private func tag(_ dice: inout SplitMix64) -> String {
    if hasMistakes, dice.chance(5) { return dice.pick(["", "\u{7}"]) }
    return dice.chance(15) ? dice.pick(bindings).text : dice.pick(tags)
  }

  private func value(_ dice: inout SplitMix64) -> Properties {
    dice.pick([[:], ["k": .int32(1)], ["k": .int64(2)], ["j": .string("x")]])
  }

  private func containerValues(_ dice: inout SplitMix64) -> Properties {
    if hasMistakes, dice.chance(20) { return dice.pick([["unknown": .int32(1)], ["badge": .string("1")]]) }
    return dice.pick([[:], ["badge": .int32(1)], ["badge": .int32(2)]])
  }

  private func timeout(_ dice: inout SplitMix64) -> UInt64? {
    hasTimeouts && dice.chance(20) ? dice.pick([0, 1, 10, 30, 100, .max]) : nil
  }

  private func options(_ view: View, _ dice: inout SplitMix64, isElement: Bool = false, isUpdate: Bool = false)
    -> ItemOptions
  {
    var options = ItemOptions()
    let isLight = isUpdate && dice.chance(70)
    if hasDestinations, !isLight, dice.chance(60) {
      let onBus = ["bus", "bus", "bus2", "state"]
      let all = [
        "command", "command", "unit", "state", "bus", "bus", "bus2", "b.x", "hider", "hider", "viewer", "viewer",
        "viewer", "browser",
      ]
      options.destination = dice.pick(isLive ? onBus : all)
    }
    if hasDestinations, !isLive, !isLight, options.destination == nil, dice.chance(5) {
      options.command = InlineCommand(arguments: [Array("sh".utf8)])
    }
    if hasDestinations, !isLive, dice.chance(options.command != nil || options.destination == "command" ? 30 : 1) {
      options.input = dice.pick([[], [1], [2]])
    }
    if dice.chance(20) { options.value = value(&dice) }
    if dice.chance(8) { options.containerValues = containerValues(&dice) }
    if dice.chance(8) { options.title = dice.pick(titles) }
    if dice.chance(4) { options.style = dice.pick(["sheet", "alert"]) }
    if hasNamedParents, !isLight, dice.chance(25) { options.from = anySlot(view, &dice) }
    if !groups.isEmpty, !isLight, dice.chance(prefersQueues ? 85 : 35) {
      options.group = dice.pick(groups)
      if dice.chance(prefersQueues ? 5 : 30) { options.tag = tag(&dice) }
    }
    if !stacks.isEmpty, !isElement, !isLight, dice.chance(prefersQueues ? 5 : 12) { options.stack = dice.pick(stacks) }
    options.timeout = timeout(&dice)
    if hasPatience, dice.chance(30) { options.within = dice.pick([0, 1, 5, 20, .max]) }
    if hasOwners, dice.chance(40) { options.owned = dice.chance(80) }
    if dice.chance(prefersQueues ? 50 : 10) {
      options.ifBusy = dice.pick([.queue, .queue, .queue, .queue, .refuse, .replace, .interrupt, .interrupt])
    }
    if dice.chance(prefersQueues ? 30 : 10) { options.priority = Int32(dice.below(3)) }
    if hasMistakes {
      if dice.chance(4) { options.destination = "nowhere" }
      if !isLive, dice.chance(2) { options.command = InlineCommand(arguments: [Array("sh".utf8)]) }
      if dice.chance(2) { options.tag = tag(&dice) }
      if dice.chance(2), !stacks.isEmpty { options.stack = dice.pick(stacks) }
    }
    return options
  }
}
