import DBusValues
import PresentationModel
import PresentationRules

extension Shared<Item> {
  /// The item for signals and presenters.
  package func entry(parent: BindingID?) -> StateEntry {
    // Room for the usual number of keys: a dictionary that grows hashes every key again.
    var entry = StateEntry(Properties(minimumCapacity: 3))
    describe(in: &entry.properties)
    if let parent { entry.properties[StateEntry.keys.from] = parent.text }
    return entry
  }
}

extension StateMachine {
  /// The item of a presentation, for its presenter.
  package func itemEntry(of presentation: Presentation) -> StateEntry {
    presentation.item.entry(parent: parent(of: presentation.handle)?.binding)
  }

  /// The entry of a presentation in the state.
  /// - Parameter platform: the keys that only the presenter knows, such as the process.
  package func entry(_ presentation: Presentation, platform: Properties) -> StateEntry {
    let keys = StateEntry.keys
    var properties = Properties(minimumCapacity: 13 + platform.count)
    presentation.item.describe(in: &properties)
    properties[keys.binding] = presentation.binding.text
    properties[keys.id] = presentation.item.id
    properties[keys.presentation] = presentation.handle.number
    properties[keys.handle] = presentation.handle.path
    properties[keys.phase] = presentation.phase.name.rawValue
    if let question = presentation.question {
      properties[keys.asking] = true
      if !question.isEmpty { properties[keys.message] = question }
    }
    if let parent = presentation.parent { properties[keys.parent] = parent.number }
    if let since = presentation.since { properties[keys.since] = since }
    if let serial = presentation.presentedSerial { properties[keys.presentedSerial] = serial.number }
    if let owner = presentation.item.owner { properties[keys.owner] = owner.name }
    if let timeout = presentation.item.timeout { properties[keys.timeout] = timeout }
    let heldBy = heldBy(presentation)
    if !heldBy.isEmpty { properties[keys.heldBy] = heldBy }
    if let other = replaced(by: presentation) { properties[keys.replacing] = other.number }
    if let restarts = presentation.continuation?.restarts, restarts > 0 { properties[keys.restarts] = restarts }
    properties[keys.restartAt] = restartAt(presentation)
    properties[keys.queued] = queuedPlace(of: presentation)
    if presentation.item.priority != 0 { properties[keys.priority] = presentation.item.priority }
    if !platform.isEmpty { properties.merge(platform) { first, _ in first } }
    return StateEntry(properties)
  }

  /// When a presentation that waits for that is presented again, in milliseconds since 1970 (K3); nil if it does not wait for that.
  package func restartAt(_ presentation: Presentation) -> UInt64? {
    guard presentation.phase == .waiting, let due = presentation.continuation?.due, let lead = wallClockLead else {
      return nil
    }
    return due.moved(by: lead).nanoseconds / 1_000_000
  }

  /// Milliseconds until a presentation ends as `expired`; nil if no timeout runs (O2).
  package func timeLeft(of presentation: Presentation, at now: Instant) -> UInt64? {
    presentation.expires?.milliseconds(since: now)
  }

  /// The answer of `GetState`.
  package func snapshot(platform: (Handle) -> Properties) -> StateSnapshot {
    let entries = allPresentations.map {
      Value.properties(entry($0, platform: platform($0.handle)).properties)
    }
    var properties = snapshotWithoutPresentations
    properties[StateSnapshot.keys.presentations.name] = .array(element: Properties.valueType, entries)
    return StateSnapshot(properties)
  }

  /// The answer of `GetState` without the presentations.
  package var snapshotWithoutPresentations: Properties {
    let keys = StateSnapshot.keys
    var groups: Properties = [:]
    for name in groupNames {
      var group = GroupEntry([:])
      group.tags = tags(of: name)
      group.titles = titles(of: name)
      group.queue = queuedTags(of: name)
      group.selection = selection(of: name)
      groups[name.text] = group.properties.value
    }
    var stacks: Properties = [:]
    for name in stackNames { stacks[name.text] = path(of: name).map(\.properties).value }
    var rest: Properties = [
      keys.serial.name: .uint64(serial.number), keys.groups.name: groups.value, keys.stacks.name: stacks.value,
    ]
    let parked = parkedEntries
    if !parked.isEmpty { rest[keys.parked] = parked }
    if !holdsInForce.isEmpty { rest[keys.holds] = holdsInForce }
    return rest
  }

  /// The answer of `Holds`.
  package func holdEntries(at now: Instant) -> [HoldEntry] {
    let entries = holderEntries(at: now) + holding.map { HoldEntry(holding: $0, $1) }
    return entries.enumerated().sorted { ($0.element.name ?? "", $0.offset) < ($1.element.name ?? "", $1.offset) }
      .map(\.element)
  }

  private func holderEntries(at now: Instant) -> [HoldEntry] {
    holders.map { key, holder in
      var entry = HoldEntry([:])
      entry.name = key.name
      if key.cookie != 0 { entry.cookie = key.cookie }
      entry.client = holder.client?.name
      if holder.isOwned { entry.owned = true }
      if !holder.message.isEmpty { entry.message = holder.message }
      entry.since = holder.since
      entry.timeoutLeft = holder.expires?.milliseconds(since: now)
      return entry
    }
  }

  /// The parked programs in the state (N8).
  fileprivate var parkedEntries: [Properties] {
    parked.map { presentation in
      var entry = ParkedEntry([:])
      entry.binding = presentation.binding.text
      entry.id = presentation.item.id
      entry.destination = presentation.item.destinationName
      entry.presentation = presentation.handle.number
      entry.handle = presentation.handle.path
      if isOutdated(presentation.handle) { entry.isOutdated = true }
      entry.stays = reasonToStay(of: presentation.handle)
      return entry.properties
    }
  }

  /// The stored endings that match a filter, the latest first, without their results (D6).
  /// - Parameter count: the largest number of endings; 0 for all.
  /// - Throws: `Refusal` if the filter has an unknown key or a value of another type.
  package func history(_ count: UInt32, filter: Properties) throws(Refusal) -> [Properties] {
    try Options.ofHistory.check(filter)
    func fits(_ key: DictionaryKey<String>, _ text: String?) -> Bool { filter[key].map { $0 == text } ?? true }
    let fitting = endings(after: Serial(filter[Options.afterSerial] ?? 0)).lazy.filter { ending in
      fits(Options.binding, ending.binding.text) && fits(Options.destination, ending.destination)
        && fits(Options.group, ending.group?.text) && fits(Options.stack, ending.stack?.text)
        && fits(Options.reason, ending.reason.rawValue)
    }
    return fitting.prefix(count == 0 ? Int.max : Int(count)).map(\.entry.properties)
  }
}

extension Presentation {
  /// The question that the presenter asks its user before it ends the presentation (P16). Empty if the question is not known; nil if
  /// the presenter does not ask.
  package var question: String? {
    if case .asking(let message)? = self.phase.dismissal?.stage { message } else { nil }
  }
}

extension Ending {
  fileprivate var entry: EndingEntry {
    var entry = EndingEntry([:])
    entry.binding = binding.text
    entry.id = id
    entry.presentation = handle.number
    entry.handle = handle.path
    entry.reason = reason.rawValue
    entry.serial = serial.number
    entry.destination = destination
    entry.group = group?.text
    entry.stack = stack?.text
    entry.time = time
    entry.status = result[PresentationResult.keys.status]
    entry.signal = result[PresentationResult.keys.signal]
    entry.windowSeen = result[PresentationResult.keys.windowSeen]
    entry.by = by?.entry.properties
    entry.shownFor = presentedAt.map(endedAt.milliseconds(since:))
    return entry
  }
}

extension RestartRule {
  fileprivate var properties: Properties {
    [
      "when": .string(condition.rawValue), "delay": .uint64(delay), "delay-max": .uint64(maxDelay),
      "limit": .uint32(limit),
    ]
  }
}

extension Requester {
  fileprivate var entry: RequesterEntry {
    var entry = RequesterEntry([:])
    entry.client = client.name
    entry.pid = process.map { UInt64($0) }
    entry.program = program
    return entry
  }
}

extension Destination {
  /// The destination in the answer of `Destinations`.
  package var entry: DestinationEntry {
    var entry = DestinationEntry([:])
    entry.startTimeout = startTimeout
    entry.grace = grace
    entry.group = group?.text
    entry.style = style
    if isProtected { entry.protected = true }
    entry.window = window?.properties
    func texts(_ command: [[UInt8]]) -> [String] { command.map { String(decoding: $0, as: UTF8.self) } }
    if let settings = itemSettings?.content {
      entry.id = settings.id
      entry.desktop = settings.desktop
      entry.title = settings.options.title
      entry.value = settings.options.value
      entry.timeout = settings.options.timeout
      entry.directory = settings.options.directory
      entry.environment = settings.options.environment
      entry.onPresent = settings.onPresent.map(texts)
      entry.onDismiss = settings.onDismiss.map(texts)
      entry.check = settings.check.map { check in
        ["command": texts(check.command).value, "every": .uint64(check.interval), "failures": .uint32(check.failures)]
      }
      entry.restart = settings.restart?.properties
      if settings.restoresAtLogin { entry.restore = "login" }
      if settings.replacement != .sequential { entry.replacement = settings.replacement.rawValue }
      if settings.awaitsReady { entry.ready = "notify" }
      entry.hold = settings.hold
      if !settings.holds.isEmpty { entry.holds = settings.holds.mapValues(\.rawValue) }
      if !settings.inhibits.isEmpty { entry.inhibit = settings.inhibits.map(\.rawValue).sorted() }
    }
    switch presenter {
    case .command(let arguments, let scope):
      entry.command = texts(arguments)
      entry.scope = scope.rawValue
    case .unit(let unit): entry.unit = unit
    case .bus(let name, let path):
      entry.bus = name
      entry.path = path
    case .none: break
    }
    switch source {
    case .file(let path): entry.file = path
    case .client(let client): entry.client = client.name
    case .request: break
    }
    return entry
  }

  /// Reads a client's registration (D1).
  /// - Throws: `Refusal` for an unknown option or another type, and for a group that is not a binding.
  package init(name: String, path: ObjectPath, options: Properties, client: Client) throws(Refusal) {
    try Options.ofRegisterPresenter.check(options)
    self.init(
      name: name, presenter: .bus(name: client.name, path: path),
      group: try BindingID(optional: options[Options.group], as: "group"), style: options[Options.style],
      startTimeout: options[Options.startTimeout] ?? Destination.defaultStartTimeout,
      grace: options[Options.grace] ?? Destination.defaultGrace, source: .client(client))
  }
}

extension WindowFollowing {
  fileprivate var properties: Properties {
    var all: Properties = ["adopt": .boolean(adopts), "kill": .boolean(kills)]
    all["windows"] = .string(takesAll ? "all" : "first")
    all["leftover"] = .string(endsLeftover ? "end" : "leave")
    if settle > 0 { all["settle"] = .uint64(settle) }
    if let linger { all["linger"] = .uint64(linger) }
    all["unfocus"] = .string(endsUnfocused ? "dismiss" : "keep")
    all["here"] = .boolean(comesHere)
    all["output-gone"] = .string(endsWithOutput ? "dismiss" : "keep")
    all["dismissal"] = .string(hides ? "hide" : "close")
    if let appID = pattern.appID { all["app-id"] = .string(appID) }
    if let title = pattern.title { all["title"] = .string(title) }
    all.merge(placement.options.properties) { $1 }
    return all
  }
}

extension StateEvent {
  /// The event for a change.
  /// - Parameter machine: the state after the input that made the change.
  package init(_ change: Change, in machine: borrowing StateMachine) {
    func subject(_ handle: Handle, _ binding: BindingID, _ id: String) -> Subject {
      Subject(binding: binding.text, id: id, presentation: handle)
    }
    func titled(_ handle: Handle, _ binding: BindingID, _ id: String) -> Subject {
      let title = machine.presentation(handle)?.item.title
      return Subject(binding: binding.text, id: id, presentation: handle, title: title)
    }
    let kind: Kind
    switch change.event {
    case .presented(let handle, let binding, let id, let item):
      let parent = machine.parent(of: handle)?.binding
      kind = .presented(subject(handle, binding, id), item: item.entry(parent: parent).properties)
    case .updated(let handle, let binding, let id, let item, _):
      let parent = machine.parent(of: handle)?.binding
      kind = .updated(subject(handle, binding, id), item: item.entry(parent: parent).properties)
    case .phase(let handle, let binding, let id, let phase): kind = .phase(titled(handle, binding, id), phase)
    case .dismissed(let handle, let binding, let id, let reason, _):
      kind = .dismissed(subject(handle, binding, id), reason)
    case .declined(let handle, let binding, let id, let message):
      kind = .declined(subject(handle, binding, id), message: message)
    case .asking(let handle, let binding, let id, let message):
      kind = .asking(titled(handle, binding, id), message: message)
    case .action(let handle, let binding, let id, let action, let parameters):
      kind = .action(subject(handle, binding, id), action, parameters: parameters)
    case .selection(let group, let tag): kind = .selection(group: group.text, tag: tag)
    case .hold(let name, let isInForce): kind = .hold(name, isInForce: isInForce)
    case .group(let group):
      kind = .group(group.text, tags: machine.tags(of: group), queue: machine.queuedTags(of: group))
    case .path(let stack): kind = .path(stack: stack.text, machine.path(of: stack))
    case .parked: kind = .parked(machine.parkedEntries.map(ParkedEntry.init))
    case .requested(let items):
      kind = .requested(
        items.map { RequestedEntry($0.binding.text, id: $0.id, destination: $0.destination, value: $0.value) })
    }
    self.init(kind, serial: change.serial.number)
  }
}

extension HoldEntry {
  /// Makes the entry of a presentation that holds (H8).
  fileprivate init(holding name: String, _ presentation: Presentation) {
    self.init([:])
    self.name = name
    self.presentation = presentation.handle.number
    self.handle = presentation.handle.path
    self.binding = presentation.binding.text
    if let title = presentation.item.title { self.message = title }
    self.since = presentation.since
  }
}
