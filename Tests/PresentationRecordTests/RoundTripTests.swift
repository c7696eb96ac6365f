import DBusValues
import PresentationModel
import TestSupport
import Testing

@testable import PresentationRecord
@testable import PresentationRules

// The record of a full state: committed changes are read again, every field of them (R1).

private func binding(_ text: String) throws -> BindingID { try BindingID(text) }

/// A state that has something in every field.
func fullState() throws -> RecordedState {
  var state = RecordedState(
    numbers: .init(
      serial: Serial(.max), lastHandle: Handle(1 << 63), lastQueueAge: 7))
  let value: Properties = [
    "level": .int32(-4), "list": .array(element: .variant, [.variant(.string("x"))]),
    "empty": .array(element: .string, []),
    "ay": .bytes([0, 255]), "deep": .variant(.variant(.boolean(true))), "path": .objectPath("/a"),
    "dict": .dictionary(key: .uint16, value: .double, [.uint16(1): .double(.nan)]),
    "pair": .structure([.byte(1), .signature("a{sv}"), .uint64(.max)]),
    "reals": .array(element: .double, [.double(.infinity), .double(-.infinity), .double(0.1), .double(5)]),
    "keys": .dictionary(
      key: .double, value: .string, [.double(-.infinity): .string("é\u{2028}\u{7}"), .double(2): .string("")]),
    "lists": .array(element: .array(.byte), [.bytes([0, 1]), .bytes([])]), "text": .bytes(Array("é\0".utf8)),
  ]
  let presenters: [Destination.Presenter] = [
    .none, .command([[1, 255], []]), .unit("a@{id}.service"), .bus(name: ":1.4", path: "/p"),
  ]
  let phases: [Lifecycle] = [
    .waiting, .presenting, .presented, .dismissing(PendingDismissal(.asked, reason: .replaced, animated: false)),
    .dismissing(PendingDismissal(.killed, reason: .parent)),
    .dismissing(PendingDismissal(.asking(message: "Save?"), reason: .deselected, timeLeft: 1_500_000)),
    .dismissing(PendingDismissal(.held, reason: .owner, isForced: true, hasHandedOver: true)),
  ]
  for (index, phase) in phases.enumerated() {
    let handle = Handle(UInt64(index + 1))
    var item = Item(id: "id\(index)")
    item.destination = Shared(
      Destination(
        name: "d", presenter: presenters[index % presenters.count], group: index == 0 ? nil : try binding("g"),
        style: index == 1 ? nil : "sheet", startTimeout: 5, grace: .max,
        source: [.request, .file(path: "/x"), .client(Client(":1.2"))][index % 3]))
    if index > 0 {
      item.value = value
      item.containerValues = ["badge": .int32(1)]
      item.title = "é"
      item.style = ""
      item.timeout = .max
      item.owner = Client(":1.9")
      item.priority = -5
      item.membership = GroupTag(group: try binding("g"), tag: "two words")
      item.isQueued = true
      item.position = StackPosition(stack: try binding("s"), index: 3)
      item.placement = WindowPlacement(.anchor(.left), takesFocus: true)
      item.directory = "/"
      item.environment = ["A": "b"]
      item.platformData = ["output": .string("HDMI")]
      item.animated = false
    }
    var row = RecordedState.PresentationRow(
      Presentation(
        handle: handle, binding: try binding("a[\(index)]"), item: Shared(item), phase: phase))
    if index > 1 {
      row.presentation.parent = Handle(1)
      row.presentation.hasNamedParent = true
      row.presentation.creator = Client(":1.5")
      row.presentation.presentedAt = Instant(nanoseconds: 1)
      row.presentation.since = .max
      row.presentation.expires = Instant(nanoseconds: .max)
      row.presentation.answerDue = Instant(nanoseconds: 0)
      row.presentation.endedBy = Requester(Client(":1.7"), process: UInt32(index))
      row.presentation.updates =
        [.underWay, .underWayAndPending(author: nil), .underWayAndPending(author: Client(":1.1"))][index % 3]
      row.presentation.result = value
      row.presentation.item.queueAge = 9
      row.presentation.item.isInterrupted = index % 2 == 0
      row.presentation.item.isOwnFallback = index % 3 == 0
      row.presentation.continuation =
        [
          Continuation(restarts: 3, due: Instant(nanoseconds: 5), timeLeft: 7), Continuation(restarts: 1),
          Continuation(timeLeft: 0),
        ][index % 3]
    }
    state.presentations[handle] = row
  }
  var options = ItemOptions()
  state.tags[GroupTag(group: try binding("g"), tag: "bare")] = .init(
    binding: try binding("g.bare"), id: "", options: options, stamp: 1)
  options.destination = "d"
  options.value = value
  options.containerValues = [:]
  options.style = "s"
  options.title = "t"
  options.placement = WindowPlacement(.point(x: 1, y: 2), isSticky: false)
  options.from = try binding("f")
  options.group = try binding("g")
  options.tag = "tag"
  options.stack = try binding("s")
  options.timeout = 0
  options.owned = false
  options.ifBusy = .refuse
  options.priority = .min
  options.command = InlineCommand(arguments: [[0x66], [0xff, 0xfe]])
  options.directory = ""
  options.environment = [:]
  options.platformData = value
  state.tags[GroupTag(group: try binding("g"), tag: "full")] = .init(
    binding: try binding("x.y"), id: "1", options: options, isTrusted: true, stamp: 2)
  for (index, reason) in Reason.allCases.enumerated() {
    state.endings[Handle(UInt64(100 + index))] = Ending(
      handle: Handle(UInt64(100 + index)), binding: try binding("e"), id: "\(index)",
      destination: index == 0 ? nil : "d", group: index == 0 ? nil : try binding("g"),
      stack: index == 0 ? nil : try binding("s"), reason: reason, result: index == 0 ? [:] : value,
      serial: Serial(UInt64(index)), presentedAt: index == 0 ? nil : Instant(nanoseconds: 1),
      endedAt: Instant(nanoseconds: 2), time: index == 0 ? nil : .max,
      by: [nil, Requester(Client(":1.4")), Requester(Client(":1.5"), process: 77, program: "é x")][index % 3])
  }
  state.containerValues = ["badge": .int32(0), "names": .array(element: .string, [])]
  func registered(_ name: String, by client: String) -> Destination {
    Destination(name: name, presenter: .bus(name: client, path: "/p"), source: .client(Client(client)))
  }
  state.registrations = [
    "one": [registered("one", by: ":1.1")], "two": [registered("two", by: ":1.2"), registered("two", by: ":1.1")],
  ]
  return state
}

/// The changes that make all of a state.
func changes(to state: RecordedState) -> RecordChanges {
  var changes = RecordChanges()
  changes.numbers = state.numbers
  changes.presentations = state.presentations.map { ($0.key, $0.value) }
  changes.tags = state.tags.map { ($0.key, $0.value) }
  changes.endings = state.endings.map { ($0.key, Shared($0.value)) }
  changes.containerValues = state.containerValues.map { ($0.key, $0.value) }
  changes.registrations = state.registrations.map { ($0.key, $0.value) }
  changes.holders = state.holders.map { ($0.key, $0.value) }
  changes.environment = state.environment.map { ($0.key, $0.value) }
  changes.loginItems = state.loginItems.map { ($0.key, $0.value) }
  return changes
}

private func read(_ directory: TemporaryDirectory) throws -> Record.Content {
  try Record.open(in: directory.path, timeout: 0.1) { $0 }.restored
}

private func write(_ directory: TemporaryDirectory, _ body: (Record) throws -> Void) throws {
  let record = try Record.open(in: directory.path, timeout: 0.1) { _ in }.record
  try body(record)
  try record.commit()
}

/// The full state, with the fields that only some rows have.
private func stateOfThisRelease() throws -> RecordedState {
  var state = try fullState()
  state.presentations[Handle(2)]?.presentation.item.destination?.presenter = .command([[1]], scope: .process)
  state.presentations[Handle(3)]?.presentation.item.destination?.isProtected = true
  state.presentations[Handle(3)]?.presentation.item.destination?.window = WindowFollowing(
    WindowPattern(appID: "a*"), adopts: true, settle: 300, linger: 7, kills: true, endsUnfocused: true, comesHere: true,
    endsWithOutput: true,
    hides: true)
  state.presentations[Handle(2)]?.presentation.isReady = true
  state.presentations[Handle(4)]?.isParked = true
  state.presentations[Handle(4)]?.stays = "Save?"
  state.presentations[Handle(5)]?.presentation.program = Handle(4)
  state.presentations[Handle(3)]?.presentation.item.output = "DP-1"
  state.presentations[Handle(3)]?.presentation.item.destination?.group = .perOutput("panels-{output}")
  state.tags[GroupTag(group: try binding("g"), tag: "full")]?.options.output = ""
  state.environment = ["DISPLAY": ":0", "LANG": "é"]
  state.presentations[Handle(2)]?.presentation.item.destination?.itemSettings = Shared(ItemSettings())
  state.presentations[Handle(3)]?.presentation.item.destination?.itemSettings = Shared(settingsWithAllFields())
  state.presentations[Handle(1)]?.presentation.item.holds = ["dnd": .refuse]
  state.presentations[Handle(1)]?.presentation.startsBy = Instant(nanoseconds: 8)
  state.tags[GroupTag(group: try binding("g"), tag: "full")]?.options.within = 0
  var holder = Holder()
  state.holders[Holder.Key(.locked)] = holder
  holder.client = Client(":1.4")
  state.holders[Holder.Key(name: "dnd", cookie: 4)] = holder
  (holder.isOwned, holder.message, holder.since, holder.expires) = (true, "é", 5, Instant(nanoseconds: 6))
  state.holders[Holder.Key(name: "dnd", cookie: 5)] = holder
  return state
}

private func settingsWithAllFields() -> ItemSettings {
  var settings = ItemSettings()
  settings.id = "main"
  settings.options.title = "Volume"
  settings.options.timeout = 2000
  settings.options.value = ["level": .int64(3)]
  settings.options.environment = ["A": "b"]
  settings.options.directory = "~/src"
  settings.onPresent = [Array("a".utf8), [0xff]]
  settings.check = ProgramCheck([Array("curl".utf8), [0xff]], every: 1, failures: 2)
  settings.onDismiss = [Array("b".utf8)]
  settings.holds = ["dnd": .postpone, "locked": .dismiss]
  settings.hold = "quiet"
  settings.options.within = 5000
  settings.inhibits = [.idle, .lidSwitch]
  settings.awaitsReady = true
  return settings
}

@Test("R1: committed changes are there when the record is opened again, with every field")
func record_committed_isReadAgain() throws {
  let directory = TemporaryDirectory()
  let state = try stateOfThisRelease()
  let session = Record.Session(
    bus: "b", boot: "c", clock: -5, token: "t", hadAdapter: true,
    windowsToShow: ["a": ["w1": ["title": .string("Home")]]])
  try write(directory) { record in
    record.note(changes(to: state))
    record.note(memory: ["pid": .int32(5)], of: Handle(2))
    record.note(session)
  }
  let content = try read(directory)
  #expect(content.state == state)
  let values = content.state.presentations[Handle(2)]?.presentation.item.value ?? [:]
  for (key, value) in values {
    #expect(value.type == state.presentations[Handle(2)]?.presentation.item.value[key]?.type, "\(key)")
  }
  #expect(content.session == session)
  #expect(content.memories == [Handle(2): ["pid": .int32(5)]])
  #expect(content.setAside == nil)
}

@Test("R1: changed rows are changed, removed rows are gone, and a presenter's memory goes with its presentation")
func record_changed_isReadAsItStands() throws {
  let directory = TemporaryDirectory()
  var state = try fullState()
  try write(directory) { record in
    record.note(changes(to: state))
    record.note(memory: ["pid": .int32(5)], of: Handle(2))
    record.note(memory: ["pid": .int32(6)], of: Handle(3))
  }
  var less = RecordChanges()
  less.numbers = .init(serial: Serial(5))
  less.presentations = [(Handle(2), nil)]
  var third = try #require(state.presentations[Handle(3)])
  third.presentation.phase = .presented
  third.presentation.item.value = [:]
  less.presentations.append((Handle(3), third))
  less.tags = [(GroupTag(group: try binding("g"), tag: "bare"), nil)]
  less.endings = [(Handle(100), nil)]
  less.registrations = [("one", nil), ("two", state.registrations["two"]?.reversed())]
  state.numbers = .init(serial: Serial(5))
  state.presentations[Handle(2)] = nil
  state.presentations[Handle(3)] = third
  state.tags[GroupTag(group: try binding("g"), tag: "bare")] = nil
  state.endings[Handle(100)] = nil
  state.registrations["one"] = nil
  state.registrations["two"]?.reverse()
  try write(directory) { $0.note(less) }
  let content = try read(directory)
  #expect(content.state == state)
  #expect(content.memories == [Handle(3): ["pid": .int32(6)]])
}

@Test("R1: changes that were not committed are not there")
func record_notCommitted_isNotThere() throws {
  let directory = TemporaryDirectory()
  do {
    let record = try Record.open(in: directory.path) { _ in }.record
    record.note(changes(to: try fullState()))
  }
  #expect(try read(directory).state == RecordedState())
}
