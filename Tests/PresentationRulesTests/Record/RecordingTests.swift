import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

/// R1: what is recorded of a change.
@Suite struct RecordingTests {
  private let now = Instant(nanoseconds: 1_000_000_000)

  private func machine() throws -> StateMachine {
    var machine = try StateMachine(restoring: RecordedState())
    _ = machine.takeUnrecorded()
    return machine
  }

  @Test("R1: a change of each kind is recorded, once, and nothing else")
  func changes_ofEachKind_areRecordedOnce() throws {
    func expect(
      _ key: PartialKeyPath<RecordChanges>, _ change: (inout StateMachine) throws -> Void,
      from sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      var machine = try machine()
      #expect(machine.takeUnrecorded().isEmpty, sourceLocation: sourceLocation)
      try change(&machine)
      let changes = machine.takeUnrecorded()
      #expect(!changes.isEmpty, sourceLocation: sourceLocation)
      for rows in Mirror(reflecting: changes).children where rows.label != "numbers" {
        let isChanged = rows.label == String(describing: key).split(separator: ".").last.map(String.init)
        let count = Mirror(reflecting: rows.value).children.count
        #expect((count == 1) == isChanged && count < 2, "\(rows.label ?? "")", sourceLocation: sourceLocation)
      }
      #expect(machine.takeUnrecorded().isEmpty, sourceLocation: sourceLocation)
    }
    try expect(\.containerValues) { try $0.declareContainerValue("badge", defaultValue: .int32(0)) }
    try expect(\.holders) { _ = try $0.hold(HoldRequest("dnd"), by: "anna", at: now) }
    try expect(\.environment) { _ = try $0.importEnvironment(["DISPLAY": ":0"], at: now) }
    try expect(\.presentations) { _ = try $0.perform(Request(.present("a", id: "", .with())), by: nil, at: now) }
    try expect(\.registrations) {
      _ = try $0.register(RulesFixture.bus("x", source: .client("bar")), by: "bar", at: now)
    }
  }

  @Test("R1: ends are recorded")
  func changes_ofEnds_areRecorded() throws {
    var machine = try machine()
    let request = Request(.push("s", "a", id: "", .with(group: "g", tag: "t")))
    _ = try machine.perform(request, by: nil, at: now)
    let shown = machine.takeUnrecorded()
    #expect(shown.presentations.map(\.key) == [1] && shown.tags.map(\.key) == [GroupTag(group: "g", tag: "t")])
    _ = try machine.perform(Request(.dismiss("a")), by: nil, at: now)
    let ended = machine.takeUnrecorded()
    #expect(ended.presentations.map(\.key) == [1] && ended.presentations[0].row == nil)
    #expect(ended.endings.map(\.key) == [1] && ended.endings[0].row?.reason == .dismissed)
    #expect(ended.numbers?.lastHandle == 1)
  }

  @Test("R1, D1: of a destination that files and clients have registered, the registrations of clients are recorded")
  func registration_besideThatOfAFile_isRecordedAlone() throws {
    var machine = try machine()
    _ = machine.load([RulesFixture.bus("x")])
    let destination = RulesFixture.bus("x", source: .client("bar"))
    _ = try machine.register(destination, by: "bar", at: now)
    let rows = machine.takeUnrecorded().registrations
    #expect(rows.map(\.row) == [[destination]])
  }

  @Test("R1, L1: an ending that is no longer remembered leaves the record")
  func endings_tooMany_leaveTheRecord() throws {
    var limits = Limits()
    limits.remembered = 1
    var machine = try StateMachine(limits: limits, restoring: RecordedState())
    var changes = RecordChanges()
    for binding: BindingID in ["a", "b"] {
      _ = try machine.perform(Request(.present(binding, id: "", .with())), by: nil, at: now)
      _ = machine.takeUnrecorded()
      _ = try machine.perform(Request(.dismiss(binding)), by: nil, at: now)
      changes = machine.takeUnrecorded()
    }
    let isThere = Dictionary(uniqueKeysWithValues: changes.endings.map { ($0.key, $0.row != nil) })
    #expect(isThere == [1: false, 2: true])
  }

  @Test("R1: everything is recorded again if the record could not follow")
  func noteAll_recordsEverything() throws {
    var machine = try machine()
    for text in ["a", "b", "c"] {
      _ = try machine.perform(Request(.present(BindingID(text), id: "", .with())), by: nil, at: now)
    }
    _ = try machine.perform(Request(.dismiss("c")), by: nil, at: now)
    _ = machine.takeUnrecorded()
    #expect(machine.takeUnrecorded().isEmpty)
    machine.noteAll()
    let changes = machine.takeUnrecorded()
    #expect(Set(changes.presentations.map(\.key)) == [1, 2] && changes.endings.map(\.key) == [3])
    #expect(changes.numbers?.lastHandle == 3)
  }

  @Test("R1: after a start, nothing is to be recorded")
  func restored_unchanged_hasNothingToRecord() throws {
    var record = RecordedState()
    (record.numbers.serial, record.numbers.lastHandle, record.numbers.lastQueueAge) = (5, 3, 2)
    record.presentations[1] = RecordedState.PresentationRow(
      Presentation(handle: 1, binding: "a", item: Shared(Item(id: "")), phase: .presented))
    var machine = try StateMachine(restoring: record)
    let changes = machine.takeUnrecorded()
    #expect(changes.isEmpty)
  }

  @Test("R1: changes of any one kind are something to record")
  func changes_ofOneKind_areNotEmpty() {
    let kinds: [(inout RecordChanges) -> Void] = [
      { $0.numbers = RecordedState.Numbers() }, { $0.presentations = [(1, nil)] },
      { $0.tags = [(GroupTag(group: "g", tag: "t"), nil)] }, { $0.endings = [(1, nil)] },
      { $0.containerValues = [("k", nil)] }, { $0.registrations = [("x", nil)] },
      { $0.holders = [(Holder.Key(name: "dnd", cookie: 1), nil)] }, { $0.environment = [("A", nil)] },
      { $0.loginItems = [("a", nil)] }, { $0.loginHolds = [("night", nil)] },
    ]
    for change in kinds {
      var changes = RecordChanges()
      #expect(changes.isEmpty)
      change(&changes)
      #expect(!changes.isEmpty)
    }
  }

  /// A machine with one parked program, whose last presentation was 1, and nothing to be recorded.
  private func machineWithParkedProgram() throws -> StateMachine {
    var record = RecordedState()
    (record.numbers.serial, record.numbers.lastHandle) = (1, 1)
    let program = Presentation(handle: 1, binding: "a", item: Shared(Item(id: "")), phase: .presented)
    record.presentations[1] = RecordedState.PresentationRow(parked: program, stays: nil)
    var machine = try StateMachine(restoring: record)
    _ = machine.takeUnrecorded()
    return machine
  }

  @Test("R1, N8: the end of a parked program is recorded")
  func parkedEnded_alone_isRecorded() throws {
    var machine = try machineWithParkedProgram()
    _ = machine.report(.parkedEnded(1), at: now)
    let rows = machine.takeUnrecorded().presentations
    #expect(rows.map(\.key) == [1] && rows.allSatisfy { $0.row == nil })
  }

  @Test("R1, N8: a parked program, too, is recorded again if the record could not follow")
  func noteAll_parkedProgram_isRecorded() throws {
    var machine = try machineWithParkedProgram()
    machine.noteAll()
    let rows = machine.takeUnrecorded().presentations
    #expect(rows.map(\.key) == [1] && rows.first?.row?.isParked == true)
  }

  @Test("R3, O2, H1: every instant of a record is moved to a clock that has begun anew, except the end of time")
  func instants_moved_byTheSameTime() {
    func at(_ nanoseconds: UInt64) -> Instant { Instant(nanoseconds: nanoseconds) }
    var presentation = Presentation(handle: 1, binding: "a", item: Shared(Item(id: "")), phase: .presented)
    presentation.presentedAt = at(1000)
    presentation.expires = at(2000)
    presentation.answerDue = at(3000)
    presentation.startsBy = at(.max)
    presentation.continuation = Continuation(restarts: 2, due: at(4000), timeLeft: 7)
    var ending = Ending(2, "b", id: "", reason: .closed, serial: 1)
    (ending.presentedAt, ending.endedAt) = (at(5000), at(6000))
    var holder = Holder()
    holder.expires = at(7000)
    var record = RecordedState()
    record.presentations[1] = .init(presentation)
    record.endings[2] = ending
    record.holders[.init(name: "dnd", cookie: 1)] = holder
    let moved = record.moved(from: 1000, to: 400)
    let after = moved.presentations[1]?.presentation
    #expect(after?.presentedAt == at(1600) && after?.expires == at(2600) && after?.answerDue == at(3600))
    #expect(after?.startsBy == at(.max))
    #expect(after?.continuation == Continuation(restarts: 2, due: at(4600), timeLeft: 7))
    #expect(moved.endings[2]?.presentedAt == at(5600) && moved.endings[2]?.endedAt == at(6600))
    #expect(moved.holders.values.first?.expires == at(7600))
    record.presentations[1]!.presentation.startsBy = at(4500)
    #expect(record.moved(from: 1000, to: 400).presentations[1]?.presentation.startsBy == at(5100))
    #expect(RecordedState.Numbers() == RecordedState.Numbers(serial: Serial(0), lastHandle: Handle(0)))
  }

  @Test("Times are added and subtracted within the bounds of the clock")
  func instants_beyondBounds_areAtThem() {
    let (start, end) = (Instant(nanoseconds: 0), Instant(nanoseconds: .max))
    #expect(start.after(milliseconds: 3) == Instant(nanoseconds: 3_000_000))
    #expect(start.after(milliseconds: .max) == end && start.after(milliseconds: .max / 1_000_000 + 1) == end)
    #expect(end.after(nanoseconds: 1) == end && start.after(nanoseconds: .max) == end)
    #expect(end.nanoseconds(since: start) == .max && start.nanoseconds(since: end) == 0)
    #expect(Instant(nanoseconds: 5_999_999).milliseconds(since: Instant(nanoseconds: 1_000_000)) == 4)
    #expect(Instant(nanoseconds: 6_000_000).milliseconds(since: Instant(nanoseconds: 1_000_000)) == 5)
    #expect(start.moved(by: -1) == start && end.moved(by: 1) == end)
    #expect(start.moved(by: 5) == Instant(nanoseconds: 5))
    #expect(Instant(nanoseconds: 7000).lead(ofWallClock: 10) == 3000)
    #expect(start < end && !(end < start) && !(start < start))
  }
}
