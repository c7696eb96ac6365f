import DBusValues
import PresentationModel
import PresentationRules

/// The plan of a transaction in the naive model: what its requests would leave, one after the other.
struct NaivePlan {
  /// The parent that a request asks for (C1).
  enum From: Equatable {
    case named(BindingID)
    case implied
  }

  /// The subject about which a request will be answered.
  enum Answer {
    case slot(BindingID)
    case slots([BindingID])
    case count(Int)
    case group(BindingID)
    case tag(BindingID, String)
    case forgotten(Bool)
  }

  let before: NaiveModel
  let client: Client?
  let now: UInt64
  var items: [BindingID: NaiveItem]
  var paths: [BindingID: [BindingID]]
  var memory: [NaiveModel.Memory]
  /// Whether the request at hand presents nothing by an unknown name (D2).
  private var needsKnownName = false
  /// Whether the request at hand names a tag, and no binding.
  private var namesTag = false
  /// The presentations of which no window is in view (N11).
  private var outOfView: Set<Token> = []
  /// Whether no part of the requests comes from a client that may be in a sandbox (L3).
  var isTrusted = true
  /// Whether the memory that the request at hand repeats is trusted.
  private var isMemoryTrusted = true
  /// The tags that the requests so far have had remembered.
  var learned: Set<GroupTag> = []
  /// The options that requests gave for a slot that was nil, or held another item, in between: those that an update would take over
  /// if the presentation of the slot can stay (T1, P2).
  var given: [BindingID: ItemOptions] = [:]
  /// The slots that a request presents, so that they come again when what they depend on is replaced.
  var asked: Set<BindingID> = []
  var from: [BindingID: From] = [:]
  var timeoutGiven: Set<BindingID> = []
  /// Whether nobody has asked for the transaction (K1).
  var isOwn = false
  /// The last time to wait that a request gave (H6).
  var within: [BindingID: UInt64] = [:]
  /// The first cause of the end of each earlier presentation (P12).
  var causes: [BindingID: Reason] = [:]
  var lastQueued: Int
  /// The subjects that requests force (P15).
  var forced: Set<NaiveSubject> = []
  /// Whether the request that is judged is forced (P15).
  private var isForced = false
  /// The groups that get their selection back (P15).
  var groupsOfKept: Set<BindingID> = []
  /// The items that get their slots back (P15).
  var itemsOfKept: [BindingID: NaiveItem] = [:]
  /// The presentations that stay, since what was to take their place does not come (G10).
  var kept: [NaiveModel.Going] = []
  /// The slots whose items are presented again, since they ended by themselves (K3).
  var again: [BindingID: NaiveModel.Again] = [:]
  /// The slots whose items gave way, and wait under a new handle unless a later request selects them (K2).
  var interrupted: [BindingID: NaiveModel.Again] = [:]
  /// The slots that a program serves, and for which another client has requested an item (D18).
  var asksProgram: Set<BindingID> = []
  /// The items whose parents are out of view, with their ids and values (D20).
  var requested: [(binding: BindingID, id: String, value: Properties)] = []
  /// Whether a fallback has given way (K1).
  var hasGivenWay = false
  // The results of settling follow. Its functions are in NaiveSettlement.swift.
  var stays: Set<BindingID> = []
  var parents: [BindingID: BindingID?] = [:]
  /// The slots whose parent a request named, in this transaction or before.
  var named: Set<BindingID>
  /// The answer to each request, once the final state is known (T1).
  var answers: [Answer] = []

  init(_ model: NaiveModel, by client: Client?, at now: UInt64 = 0) {
    before = model
    self.now = now
    self.client = client
    items = model.slots.mapValues(\.item)
    paths = model.paths
    memory = model.memory
    lastQueued = model.lastQueued
    named = Set(model.slots.filter(\.value.hasNamedParent).keys)
  }

  // MARK: What the requests so far would leave

  func selected(in group: BindingID) -> BindingID? {
    items.first { $0.value.group == group && $0.value.queuedAt == nil }?.key
  }

  /// Whether an item can be a parent. A queued item is nobody's parent (G9).
  func canBeParent(_ binding: BindingID) -> Bool {
    items[binding].map { $0.queuedAt == nil } ?? kept.contains { $0.binding == binding }
  }

  /// The implied parent: “the nearest binding it derives from that holds an item” (C1).
  func impliedParent(of binding: BindingID) -> BindingID? {
    (items.keys + kept.map(\.binding)).filter { derives(binding, from: $0) && canBeParent($0) }.max {
      $0.text.count < $1.text.count
    }
  }

  func parent(of binding: BindingID) -> BindingID? {
    switch from[binding] {
    case .named(let parent): parent
    case .implied: impliedParent(of: binding)
    case nil: before.slots[binding]?.parent.flatMap(before.binding)
    }
  }

  /// The parent of an item, and the element below it (C7).
  func dependencies(of binding: BindingID) -> [BindingID] {
    guard items[binding] != nil else { return [] }
    var found = [parents[binding] ?? parent(of: binding)].compactMap(\.self)
    if let place = place(of: binding, in: paths), place.index > 0 { found.append(paths[place.stack]![place.index - 1]) }
    return found
  }

  /// These bindings, and all on which they depend.
  func closure(_ bindings: [BindingID]) -> Set<BindingID> {
    var found: Set<BindingID> = []
    var open = bindings
    while let binding = open.popLast() {
      if found.insert(binding).inserted { open += dependencies(of: binding) }
    }
    return found
  }

  // MARK: Expectations

  mutating func judge(
    _ request: Request, tokens: (Handle) -> Token?
  ) throws(NaiveRefusal) {
    needsKnownName = request.needsKnownName
    isForced = request.isForced
    outOfView = Set((request.places?.ofPresentations ?? [:]).filter { $0.value.isOutOfView }.keys.compactMap(tokens))
    namesTag = false
    isMemoryTrusted = true
    let slot = request.operation.slot
    if let id = request.expectation.id {
      guard let slot else { throw NaiveRefusal(.invalidArgument) }
      guard items[slot]?.id == id else { throw NaiveRefusal(.stale) }
    }
    if let expected = request.expectation.content {
      guard let slot else { throw NaiveRefusal(.invalidArgument) }
      // An item that this transaction itself would present has no handle yet that anybody could expect.
      let isNew = given[slot] != nil && items[slot] != nil
      let held = items[slot] == nil ? nil : before.slots[slot]?.token
      let isTrue =
        switch expected {
        case .nothing: held == nil
        case .presentation(let handle): held != nil && tokens(handle) == held
        }
      guard !isNew, isTrue else { throw NaiveRefusal(.stale) }
    }
  }

  // MARK: Verbs

  mutating func carryOut(_ operation: Request.Operation) throws(NaiveRefusal) {
    switch operation {
    case .present(let binding, let id, let options):
      try present(binding, id, options)
      answers.append(.slot(binding))

    case .toggle(let binding, let id, let options, let anyID):
      if let item = items[binding], !isUnseen(binding), !isAway(binding),
        anyID || item.id == itsID(id, binding, options)
      {
        if !isLate(binding) { clear(binding, .dismissed) }
      } else {
        try present(binding, id, options)
      }
      answers.append(.slot(binding))

    case .update(let binding, let value, let remove, let containerValues, let timeout):
      try update(binding, value, remove, containerValues, timeout)
      answers.append(.slot(binding))

    case .dismiss(let binding):
      clear(binding, .dismissed)
      answers.append(.slot(binding))

    case .dismissAll(.parked): answers.append(.count(before.listedParked.count))

    case .dismissAll(let scope):
      let bindings = items.filter { binding, item in
        switch scope {
        case .everything: true
        case .parked: false
        case .root(let root): binding.text.prefix { $0 != "." && $0 != "[" } == root
        case .group(let group): item.group == group
        case .stack(let stack): paths[stack]?.contains(binding) == true
        }
      }
      clearEach(bindings.keys.sorted { $0.text < $1.text }, .dismissed)
      answers.append(.count(bindings.count))

    case .select(let group, let tag, let binding, let id, let options):
      answers.append(.slot(try select(group, tag, binding, id, options)))

    case .deselect(let group, let tag):
      deselect(group, tag)
      answers.append(.group(group))

    case .toggleSelection(let group, let tag, let binding, let id, let options):
      guard !tag.isEmpty, !tag.contains("\u{7}") else { throw NaiveRefusal(.invalidArgument) }
      if let selected = selected(in: group), items[selected]!.tag == tag,
        !isUnseen(selected), !isAway(selected)
      {
        if !isLate(selected) { deselect(group, tag) }
      } else if let held = items.first(where: {
        $0.value.group == group && $0.value.tag == tag && $0.value.queuedAt != nil && before.hold(on: $0.value) != .show
      }) {
        // A held member cannot be selected by any request (H4).
        clear(held.key, .deselected)
      } else {
        _ = try select(group, tag, binding, id, options)
      }
      answers.append(.tag(group, tag))

    case .forget(let group, let tag):
      guard !tag.isEmpty, !tag.contains("\u{7}") else { throw NaiveRefusal(.invalidArgument) }
      answers.append(.forgotten(memory.contains { $0.group == group && $0.tag == tag }))
      memory.removeAll { $0.group == group && $0.tag == tag }
      learned.remove(GroupTag(group: group, tag: tag))

    case .push(let stack, let binding, let id, let options):
      try push(stack, binding, id, options)
      answers.append(.slot(binding))

    case .pop(let stack, let count):
      let height = paths[stack]?.count ?? 0
      cut(stack, to: max(0, height - Int(count)))
      answers.append(.count(height - (paths[stack]?.count ?? 0)))

    case .popTo(let stack, let binding):
      var keep = 0
      if let binding {
        guard let index = paths[stack]?.firstIndex(of: binding) else { throw NaiveRefusal(.notPresented) }
        keep = index + 1
      }
      answers.append(.count((paths[stack]?.count ?? 0) - keep))
      cut(stack, to: keep)

    case .setPath(let stack, let elements):
      answers.append(.slots(try setPath(stack, elements)))
    }
  }

  /// The subjects that a request names, and those of the items that it presents (P15).
  func subjects(of operation: Request.Operation) -> Set<NaiveSubject> {
    func around(_ binding: BindingID?) -> Set<NaiveSubject> {
      guard let binding else { return [] }
      let containers = [
        items[binding]?.group.map(NaiveSubject.group), place(of: binding, in: paths).map { .stack($0.stack) },
      ]
      return Set(containers.compactMap(\.self) + [.slot(binding)])
    }
    switch operation {
    case .present(let binding, _, _), .toggle(let binding, _, _, _), .dismiss(let binding): return around(binding)
    case .update, .forget, .dismissAll(.parked): return []
    case .dismissAll(.everything): return [.everything]
    case .dismissAll(.root(let root)):
      let all = Array(items.keys) + before.going.values.map(\.binding) + Array(before.slots.keys)
      return Set(all.filter { $0.root == root }.map { .slot($0) })
    case .dismissAll(.group(let group)), .deselect(let group, _): return [.group(group)]
    case .select(let group, let tag, _, _, _), .toggleSelection(let group, let tag, _, _, _):
      return around(items.first { $0.value.group == group && $0.value.tag == tag }?.key).union([.group(group)])
    case .dismissAll(.stack(let stack)), .pop(let stack, _), .popTo(let stack, _): return [.stack(stack)]
    case .push(let stack, let binding, _, _): return around(binding).union([.stack(stack)])
    case .setPath(let stack, _):
      return paths[stack, default: []].reduce(into: [.stack(stack)]) { $0.formUnion(around($1)) }
    }
  }

  private mutating func present(
    _ binding: BindingID, _ id: String, _ options: ItemOptions
  ) throws(NaiveRefusal) {
    var (id, options) = (itsID(id, binding, options), options)
    do throws(NaiveRefusal) {
      guard let found = try accepted(binding, id, options) else { return }
      (id, options) = found
    } catch {
      let isUnknown = options.destination.map { before.destination($0) == nil } ?? false
      throw NaiveRefusal(error.codes.union(faults(of: options)).union(isUnknown ? [.unknownDestination] : []))
    }
    if let item = items[binding], item.id == id, !isUnseen(binding) {
      try presentAgain(binding, item, options)
    } else {
      try presentAnother(binding, id, options)
    }
  }

  /// Whether a slot still has an item that its user does not see any more (N3).
  private func isUnseen(_ binding: BindingID) -> Bool {
    guard given[binding] == nil, let slot = before.slots[binding] else { return false }
    return before.isUnseen(slot.token)
  }

  /// Whether the program of an item still starts although its start timeout is over: a toggle leaves it (N2).
  private func isLate(_ binding: BindingID) -> Bool {
    guard given[binding] == nil, let slot = before.slots[binding], !isForced else { return false }
    return before.late.contains(slot.token) && slot.item.destination?.window != nil
  }

  /// Whether its user does not see an item that is on the screen (N11).
  private func isAway(_ binding: BindingID) -> Bool {
    guard given[binding] == nil, items[binding] != nil, let slot = before.slots[binding] else { return false }
    return before.presented.contains(slot.token) && slot.item.destination?.window != nil
      && outOfView.contains(slot.token)
  }

  /// The id of an item: “in a destination with `id`, a request without an id means the item with that id” (D13).
  private func itsID(_ id: String, _ binding: BindingID, _ options: ItemOptions) -> String {
    if id != "" || options.command != nil { return id }
    var destination = before.destination(options.destination ?? binding.text)
    if let held = items[binding]?.destination {
      let name = held.source == .request ? nil : held.name
      if options.destination == nil || options.destination == name { destination = held }
    }
    return destination?.itemSettings?.id ?? ""
  }

  /// Presents the same id again (P2).
  private mutating func presentAgain(
    _ binding: BindingID, _ held: NaiveItem, _ options: ItemOptions
  ) throws(NaiveRefusal) {
    var faults = faults(of: options)
    let holder = place(of: binding, in: paths)?.stack
    if !isUpdate(options, of: held, from: parent(of: binding), in: holder) {
      faults.insert(.invalidArgument)
      if let name = options.destination, before.destination(name) == nil { faults.insert(.unknownDestination) }
    }
    if options.ifBusy == .queue, options.stack != nil { faults.insert(.invalidArgument) }
    guard faults.isEmpty else { throw NaiveRefusal(faults) }

    var item = held.taking(options, from: client)
    if let group = item.group, item.queuedAt != nil {
      try judgeGroup(
        group, binding, &item, options, dependingOn: closure([parent(of: binding)].compactMap(\.self)))
    } else if options.ifBusy != .queue {
      item.mayQueueAt = nil
    }
    // A member that gave way in the same transaction is as it was before.
    if item.queuedAt == nil { interrupted[binding] = nil }
    items[binding] = item
    asked.insert(binding)
    given[binding] = given[binding].map { merged($0, options) }
    if let parent = options.from { from[binding] = .named(parent) }
    let hasTimeout = held.destination?.itemSettings?.options.timeout != nil
    if options.timeout != nil || hasTimeout { timeoutGiven.insert(binding) }
    if let given = options.within { within[binding] = given }
    // Asked for, a former fallback that is held does not stay selected any more (H4, K7).
    if held.isOwnFallback { try queueIfHeld(binding) }
    remember(binding, options, isAgain: true)
  }

  /// Presents another item (P1, P3, S4).
  private mutating func presentAnother(
    _ binding: BindingID, _ id: String, _ options: ItemOptions
  ) throws(NaiveRefusal) {
    var faults = faults(of: options)
    var destination = before.destination(binding.text)
    if let command = options.command {
      destination = Destination(name: "", presenter: .command(command.arguments), source: .request)
    } else if let name = options.destination {
      destination = before.destination(name)
      if destination == nil { faults.insert(.unknownDestination) }
    }
    if needsKnownName, destination == nil, options.command == nil {
      faults.insert(namesTag ? .unknownTag : .unknownDestination)
    }
    if options.input != nil, !readsInput(destination) { faults.insert(.invalidArgument) }
    let group = options.group ?? destination?.group.flatMap { if case .named(let group) = $0 { group } else { nil } }
    let tag = group.map { options.tag ?? standardTag(of: binding, in: $0) }
    if group == nil, options.tag != nil { faults.insert(.invalidArgument) }
    if items.contains(where: { $0.key != binding && $0.value.group == group && group != nil && $0.value.tag == tag }) {
      faults.insert(.invalidArgument)
    }
    if let group, let tag, !checkServedTag(group, tag, binding, destination?.name) {
      faults.insert(before.servedTags(of: group)[tag] == nil ? .unknownTag : .invalidArgument)
    }
    let place = place(of: binding, in: paths)
    if let given = options.stack, let place, place.stack != given { faults.insert(.alreadyInStack) }
    let stack = options.stack ?? place?.stack
    if options.from == binding { faults.insert(.invalidArgument) }
    if options.ifBusy == .queue, stack != nil { faults.insert(.invalidArgument) }
    guard faults.isEmpty else { throw NaiveRefusal(faults) }

    // The parent may be presented from the item that goes (C7).
    let dependencies = closure([options.from].compactMap(\.self))
    clear(binding, items[binding]?.id == id && isUnseen(binding) ? .closed : .replaced)
    var item = NaiveItem(id: id, destination: destination)
    let settings = destination?.itemSettings?.options
    // The settings of the file count first, then those that the request gives (D13).
    if let settings { item = item.taking(settings, from: nil) }
    item = item.taking(options, from: client)
    item.style = options.style ?? destination?.style
    item.input = options.input
    item.group = group
    item.tag = tag
    // The word of the destination counts before the word for all (H3).
    for (name, action) in before.holdsOfAll { item.holds[name] = action }
    for (name, action) in destination?.itemSettings?.holds ?? [:] { item.holds[name] = action }
    if let group {
      try judgeGroup(
        group, binding, &item, options, isInStack: stack != nil,
        dependingOn: dependencies.union(closure([stack.flatMap { paths[$0]?.last }].compactMap(\.self))))
    }
    items[binding] = item
    if let stack { paths[stack, default: []].append(binding) }
    asked.insert(binding)
    given[binding] = options
    within[binding] = options.within
    from[binding] = options.from.map(From.named) ?? .implied
    if options.timeout == nil, settings?.timeout == nil {
      timeoutGiven.remove(binding)
    } else {
      timeoutGiven.insert(binding)
    }
    try queueIfHeld(binding)
    remember(binding, options, isAgain: false)
  }

  /// Queues a member that a hold postpones, unless it is on the screen and stays there (H4).
  private mutating func queueIfHeld(_ binding: BindingID) throws(NaiveRefusal) {
    var item = items[binding]!
    guard let group = item.group, item.queuedAt == nil, before.hold(on: item) != .show, !before.isFallback(item) else {
      return
    }
    if let old = before.slots[binding], before.live.contains(old.token), isSameAsBefore(binding) { return }
    if place(of: binding, in: paths) != nil { throw NaiveRefusal(.held) }
    try queue(&item, in: group)
    items[binding] = item
  }

  /// Puts an item into the queue of its group (G9, L1).
  private mutating func queue(_ item: inout NaiveItem, in group: BindingID) throws(NaiveRefusal) {
    let waiting = items.values.count { $0.group == group && $0.queuedAt != nil && !$0.isInterrupted }
    guard waiting < before.limits.queue else { throw NaiveRefusal(.limitExceeded) }
    lastQueued += 1
    item.queuedAt = lastQueued
    item.mayQueueAt = lastQueued
  }

  /// Makes an item the selected member, or has it wait, or refuses it (G6, G8, G9).
  private mutating func judgeGroup(
    _ group: BindingID, _ binding: BindingID, _ item: inout NaiveItem, _ options: ItemOptions, isInStack: Bool = false,
    dependingOn dependencies: Set<BindingID>
  ) throws(NaiveRefusal) {
    guard let other = selected(in: group) else {
      // A held member goes on waiting (H4).
      if item.queuedAt != nil, before.hold(on: item) != .show, !before.isFallback(item) { return }
      item.queuedAt = nil
      item.isInterrupted = false
      if options.ifBusy != .queue {
        item.mayQueueAt = nil
      } else if item.mayQueueAt == nil {
        lastQueued += 1
        item.mayQueueAt = lastQueued
      }
      return
    }
    let isIdle = before.isFallback(items[other]!) || isUnseen(other)
    if options.ifBusy == .queue || options.ifBusy == .interrupt, before.isFallback(item) {
      throw NaiveRefusal(.invalidArgument)
    }
    var policy = isIdle ? .replace : options.ifBusy ?? .replace
    // A held member displaces no other (H4).
    if policy != .refuse, before.hold(on: item) != .show {
      if isInStack || before.isFallback(item) { throw NaiveRefusal(.held) }
      policy = .queue
    }
    switch policy {
    case .refuse:
      throw NaiveRefusal(.busy)
    case .queue:
      guard item.queuedAt == nil else { return }
      try queue(&item, in: group)
    case .replace, .interrupt:
      // The member that would go is one on which the new item would depend (C7).
      guard !dependencies.contains(other) else { throw NaiveRefusal(.invalidArgument) }
      if options.ifBusy == .interrupt, !isIdle {
        guard place(of: other, in: paths) == nil else { throw NaiveRefusal(.invalidArgument) }
        interrupt(other)
      } else {
        clear(other, .deselected)
      }
      item.queuedAt = nil
      item.mayQueueAt = nil
      item.isInterrupted = false
    }
  }

  /// Has a member give way (K2).
  private mutating func interrupt(_ other: BindingID) {
    queueFirst(other)
    guard let slot = before.slots[other], given[other] == nil else { return }
    let isLive = before.live.contains(slot.token)
    let hasChildren = (before.slots.values + before.going.values.map(\.showing)).contains { $0.parent == slot.token }
    guard isLive || hasChildren else { return }
    interrupted[other] = NaiveModel.Again(
      restarts: slot.again?.restarts ?? 0, due: isLive ? nil : slot.again?.due,
      timeLeft: before.expiries[slot.token].map { $0 > now ? $0 - now : 0 } ?? slot.again?.timeLeft)
    if causes[other] == nil { causes[other] = .deselected }
  }

  /// Edits an item (D8).
  private mutating func update(
    _ binding: BindingID, _ value: Properties, _ remove: [String], _ containerValues: Properties?, _ timeout: UInt64?
  ) throws(NaiveRefusal) {
    guard var item = items[binding] else { throw NaiveRefusal(.notPresented) }
    var checked = ItemOptions()
    checked.containerValues = containerValues
    let faults = faults(of: checked)
    guard faults.isEmpty else { throw NaiveRefusal(faults) }
    func edited(_ old: Properties) -> Properties {
      old.filter { !remove.contains($0.key) }.merging(value) { $1 }
    }
    guard acceptsEdit(binding, value, edited(item.value), removes: !remove.isEmpty) else {
      throw NaiveRefusal(.invalidArgument)
    }
    item.value = edited(item.value)
    item.containerValues.merge(containerValues ?? [:]) { $1 }
    if let timeout {
      item.timeout = timeout == 0 ? nil : timeout
      timeoutGiven.insert(binding)
    }
    items[binding] = item
    // The edit counts for the presentation, too, if that stays.
    if var options = given[binding] {
      let old = before.slots[binding]?.item
      options.value = edited(options.value ?? old?.value ?? [:])
      options.containerValues = (options.containerValues ?? old?.containerValues ?? [:])
        .merging(containerValues ?? [:]) { $1 }
      options.timeout = timeout ?? options.timeout
      given[binding] = options
    }
  }

  /// Selects a tag (G2, G7).
  private mutating func select(
    _ group: BindingID, _ tag: String, _ binding: BindingID?, _ id: String?, _ options: ItemOptions
  ) throws(NaiveRefusal) -> BindingID {
    guard !tag.isEmpty, !tag.contains("\u{7}"), options.group ?? group == group, options.tag ?? tag == tag else {
      throw NaiveRefusal(.invalidArgument)
    }
    var options = options
    options.group = group
    options.tag = tag
    // A selected item that its user does not see counts as closed (N3).
    if let selected = selected(in: group), items[selected]!.tag == tag, isUnseen(selected) { clear(selected, .closed) }
    if let selected = selected(in: group), items[selected]!.tag == tag {
      guard binding ?? selected == selected else { throw NaiveRefusal(.invalidArgument) }
      try present(selected, id ?? items[selected]!.id, options)
      return selected
    }
    var target = binding ?? (try? BindingID(group.text + "." + tag))
    var standard = ItemOptions()
    var standardID = ""
    let waiting = items.first { $0.value.group == group && $0.value.tag == tag }
    var known = memory.last { $0.group == group && $0.tag == tag }
    let remembered = known?.binding
    let tags = before.servedTags(of: group)
    if !tags.isEmpty {
      guard let binding = tags[tag] else { throw NaiveRefusal(.unknownTag) }
      known = NaiveModel.Memory(
        group: group, tag: tag, binding: binding, id: "", options: ItemOptions(), isTrusted: true)
    }
    if options.command != nil, known?.isTrusted == false { known = nil }
    isMemoryTrusted = known?.isTrusted ?? true
    if let waiting, (tags.isEmpty ? known?.binding : remembered) != waiting.key {
      // The request is remembered no more, but the tag leads to the item all the same (G9).
      target = binding ?? waiting.key
      standardID = waiting.value.id
    } else if let known {
      target = binding ?? known.binding
      standard = known.options
      standardID = known.id
    } else if let declared = before.declaredTags(of: group)[tag] {
      target = binding ?? declared.binding
      standard.destination = declared.destination
    }
    guard let target else { throw NaiveRefusal(.unknownTag) }
    namesTag = binding == nil
    try present(target, id ?? standardID, merged(standard, options))
    return target
  }

  /// Deselects a group, or a tag of it (G3).
  private mutating func deselect(_ group: BindingID, _ tag: String?) {
    guard let selected = selected(in: group), tag ?? items[selected]!.tag == items[selected]!.tag else { return }
    clear(selected, .deselected)
  }

  /// Pushes an item (S1, S7).
  private mutating func push(
    _ stack: BindingID, _ binding: BindingID, _ id: String, _ options: ItemOptions
  ) throws(NaiveRefusal) {
    var options = options
    if let place = place(of: binding, in: paths), place.stack != stack || paths[stack]!.last != binding {
      // The rule P2 speaks of the same id, S7 of any id.
      throw NaiveRefusal(items[binding]!.id == id ? [.alreadyInStack, .invalidArgument] : [.alreadyInStack])
    }
    guard options.stack ?? stack == stack else { throw NaiveRefusal(.invalidArgument) }
    options.stack = stack
    try present(binding, id, options)
  }

  /// Sets the path of a stack (S5, S6).
  private mutating func setPath(_ stack: BindingID, _ elements: [RequestedElement]) throws(NaiveRefusal) -> [BindingID]
  {
    var bindings: [BindingID] = []
    for (index, element) in elements.enumerated() {
      guard let binding = element.binding ?? (try? BindingID("\(stack)[\(index)]")) else {
        throw NaiveRefusal(.invalidBinding)
      }
      guard !bindings.contains(binding) else { throw NaiveRefusal(.alreadyInStack) }
      bindings.append(binding)
    }
    var common = 0
    while common < elements.count, common < paths[stack]?.count ?? 0, paths[stack]![common] == bindings[common],
      items[bindings[common]]!.id == itsID(elements[common].id, bindings[common], elements[common].options)
    {
      common += 1
    }
    cut(stack, to: common)
    for (index, element) in elements.enumerated() {
      var options = element.options
      guard options.stack ?? stack == stack else { throw NaiveRefusal([.invalidArgument, .alreadyInStack]) }
      options.stack = stack
      if index >= common, place(of: bindings[index], in: paths) != nil { throw NaiveRefusal(.alreadyInStack) }
      try present(bindings[index], element.id, options)
    }
    return bindings
  }

  // MARK: The parts of them

  /// Writes nil to a slot; the elements above it go first (S2).
  mutating func clear(_ binding: BindingID, _ reason: Reason) {
    guard items[binding] != nil else { return }
    if let place = place(of: binding, in: paths) {
      cut(place.stack, to: place.index + 1)
      paths[place.stack]!.removeLast()
    }
    remove(binding, reason)
  }

  /// Writes nil to a slot that is in no stack any more.
  mutating func remove(_ binding: BindingID, _ reason: Reason) {
    items[binding] = nil
    asked.remove(binding)
    stays.remove(binding)
    again[binding] = nil
    interrupted[binding] = nil
    given[binding] = ItemOptions()
    if before.slots[binding] != nil, causes[binding] == nil { causes[binding] = reason }
  }

  /// Writes nil to slots, each for the reason given. The elements of a stack go from the top, so that none is popped.
  mutating func clearEach(_ bindings: [BindingID], _ reason: Reason) { clearEach(bindings.map { ($0, reason, nil) }) }

  mutating func clearEach(_ ends: [(binding: BindingID, reason: Reason, again: NaiveModel.Again?)]) {
    let heights = ends.map { place(of: $0.binding, in: paths)?.index ?? 0 }
    for (end, _) in zip(ends, heights).sorted(by: { $0.1 > $1.1 }) {
      if let again = end.again, items[end.binding] != nil {
        if let place = place(of: end.binding, in: paths) { cut(place.stack, to: place.index + 1) }
        self.again[end.binding] = again
        items[end.binding]!.mayQueueAt = nil
        causes[end.binding] = end.reason
      } else {
        clear(end.binding, end.reason)
      }
    }
  }

  mutating func cut(_ stack: BindingID, to height: Int) {
    while let top = paths[stack]?.last, paths[stack]!.count > height { clear(top, .popped) }
  }

  /// Remembers a request for a tag, never with `owned`, `if-busy`, `priority`, `input` or `platform-data` (G7).
  private mutating func remember(_ binding: BindingID, _ options: ItemOptions, isAgain: Bool) {
    guard let item = items[binding], let group = item.group, let tag = item.tag else { return }
    var kept = options
    kept.owned = nil
    kept.ifBusy = nil
    kept.priority = nil
    kept.input = nil
    kept.platformData = nil
    kept.group = group
    kept.tag = tag
    let known = memory.last { $0.group == group && $0.tag == tag }
    var isTrusted = isTrusted && isMemoryTrusted
    if let known, known.binding == binding, known.id == item.id {
      if isAgain { kept = merged(known.options, kept) }
      if kept == known.options {
        isTrusted = known.isTrusted
      } else if isAgain {
        isTrusted = isTrusted && known.isTrusted
      }
    }
    memory.removeAll { $0.group == group && $0.tag == tag }
    memory.append(
      NaiveModel.Memory(group: group, tag: tag, binding: binding, id: item.id, options: kept, isTrusted: isTrusted))
    learned.insert(GroupTag(group: group, tag: tag))
  }

  /// The faults of options, whatever the options are for.
  func faults(of options: ItemOptions) -> Set<ErrorCode> {
    var faults: Set<ErrorCode> = []
    for (key, value) in options.containerValues ?? [:] {
      if let standard = before.containerValueDefaults[key] {
        if standard.type != value.type { faults.insert(.containerValueType) }
      } else {
        faults.insert(.unknownContainerValue)
      }
    }
    if options.destination != nil, options.command != nil { faults.insert(.invalidArgument) }
    if let tag = options.tag, tag.isEmpty || tag.contains("\u{7}") { faults.insert(.invalidArgument) }
    return faults
  }
}

// MARK: What several places need to say

/// Whether a request with the same id asks for nothing that would make it another presentation (P2).
func isUpdate(
  _ options: ItemOptions, of item: NaiveItem, from parent: BindingID?, in stack: BindingID?
) -> Bool {
  let isInline = item.destination?.source == .request
  if let name = options.destination, isInline || name != item.destination?.name { return false }
  if let command = options.command {
    guard isInline, item.destination?.presenter == .command(command.arguments) else { return false }
  }
  if let from = options.from, from != parent { return false }
  if let group = options.group, group != item.group { return false }
  if let tag = options.tag, tag != item.tag { return false }
  if let given = options.stack, given != stack { return false }
  if let input = options.input, input != item.input { return false }
  return true
}

/// Whether the items of a destination may have an input: a command reads it, and ends when it is dismissed (D16).
private func readsInput(_ destination: Destination?) -> Bool {
  guard case .command? = destination?.presenter else { return false }
  return destination?.window?.hides != true
}

extension NaiveItem {
  /// The item with the given options replaced as a whole; the others stay (P2).
  func taking(_ options: ItemOptions, from client: Client?) -> NaiveItem {
    var copy = self
    // Somebody has asked for it (K7).
    copy.isOwnFallback = false
    if let value = options.value { copy.value = value }
    if let values = options.containerValues { copy.containerValues = values }
    if let style = options.style { copy.style = style }
    if let title = options.title { copy.title = title }
    if let timeout = options.timeout { copy.timeout = timeout == 0 ? nil : timeout }
    if let owned = options.owned { copy.owner = owned ? client : nil }
    if let priority = options.priority { copy.priority = priority }
    return copy
  }
}

/// Whether a binding derives from another (B3).
func derives(_ binding: BindingID, from other: BindingID) -> Bool {
  guard binding.text.hasPrefix(other.text), let next = binding.text.dropFirst(other.text.count).first else {
    return false
  }
  return next == "." || next == "["
}

/// The tag of a binding without another: “the text of its binding less a leading `group.`” (G7).
func standardTag(of binding: BindingID, in group: BindingID) -> String {
  binding.text.hasPrefix(group.text + ".") ? String(binding.text.dropFirst(group.text.count + 1)) : binding.text
}

/// The options of a selection: “what the selecting request gives wins”. A destination and a command stand for each other (G7).
func merged(_ old: ItemOptions, _ new: ItemOptions) -> ItemOptions {
  var both = new
  if new.destination == nil, new.command == nil {
    both.destination = old.destination
    both.command = old.command
  }
  both.value = new.value ?? old.value
  both.containerValues = new.containerValues ?? old.containerValues
  both.style = new.style ?? old.style
  both.title = new.title ?? old.title
  both.from = new.from ?? old.from
  both.group = new.group ?? old.group
  both.tag = new.tag ?? old.tag
  both.stack = new.stack ?? old.stack
  both.timeout = new.timeout ?? old.timeout
  both.within = new.within ?? old.within
  both.owned = new.owned ?? old.owned
  both.ifBusy = new.ifBusy ?? old.ifBusy
  both.priority = new.priority ?? old.priority
  both.directory = new.directory ?? old.directory
  both.environment = new.environment ?? old.environment
  both.input = new.input ?? old.input
  both.platformData = new.platformData ?? old.platformData
  return both
}

extension Request.Operation {
  /// The slot that the request names (P10).
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
