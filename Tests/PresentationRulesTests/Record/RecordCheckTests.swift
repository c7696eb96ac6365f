import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules
@testable import Simulation

/// R4: records that no navd has written. Each test damages one part of a record that is accepted.
@Suite struct RecordCheckTests {
  /// A record of three presentations: `a`, its child `a.b`, and `c`, which a command shows.
  private let whole: RecordedState = {
    var record = RecordedState(numbers: .init(serial: Serial(9), lastHandle: Handle(9), lastQueueAge: 5))
    let command = Destination(name: "cmd", presenter: .command([Array("sleep".utf8)]), source: .file(path: "cmd"))
    var rows = [(1, "a"), (2, "a.b"), (3, "c")].map { number, text in
      Presentation(handle: Handle(number), binding: try! BindingID(text), item: Shared(Item(id: "")), phase: .presented)
    }
    rows[1].parent = Handle(1)
    rows[2].item.destination = Shared(command)
    for row in rows { record.presentations[row.handle] = .init(row) }
    return record
  }()

  /// Whose fault it is that a damaged record is refused; nil if it is restored.
  private func fault(limits: Limits = Limits(), _ damage: (inout RecordedState) -> Void) -> String? {
    var record = whole
    damage(&record)
    do {
      _ = try StateMachine(limits: limits, restoring: record)
      return nil
    } catch {
      return error.description
    }
  }

  private func fault(of handle: Handle, _ damage: (inout RecordedState.PresentationRow) -> Void) -> String? {
    fault { damage(&$0.presentations[handle]!) }
  }

  /// A value with so many containers in each other.
  private func nested(_ depth: Int) -> Value {
    depth == 0 ? .byte(1) : .structure([nested(depth - 1)])
  }

  // MARK: Numbers

  @Test("R4: a record without damage is restored, and so is one with the largest numbers")
  func record_whole_isRestored() {
    #expect(fault { _ in } == nil)
    let most = UInt64(Int64.max)
    #expect(fault { $0.numbers = .init(serial: Serial(most), lastHandle: Handle(most), lastQueueAge: most) } == nil)
  }

  @Test("R4: numbers too large to count on from are refused")
  func numbers_tooLarge_areRefused() {
    let (tooLarge, range) = (UInt64(Int64.max) + 1, "expected 0 to 9223372036854775807, found 9223372036854775808")
    #expect(fault { $0.numbers.serial = Serial(tooLarge) } == "the serial: \(range)")
    #expect(fault { $0.numbers.lastHandle = Handle(tooLarge) } == "the last handle: \(range)")
    #expect(fault { $0.numbers.lastQueueAge = tooLarge } == "the last age in a queue: \(range)")
    #expect(
      fault {
        $0.tags[GroupTag(group: "g", tag: "t")] = .init(binding: "x", id: "", options: .with(), stamp: tooLarge)
      } == "a stamp: \(range)")
    #expect(
      fault {
        $0.holders[.init(name: "dnd", cookie: tooLarge)] = holder(of: "anna")
      } == "a holder: \(range)")
  }

  @Test("R4: serials and handles later than the last ones are refused, and handles of nothing")
  func numbers_ofLater_areRefused() {
    let (serial, handle) = ("expected 0 to 9, found 10", "expected 1 to 9, found")
    func end(_ handle: Handle, _ serial: Serial) -> String? {
      fault { $0.endings[handle] = Ending(handle, "x", id: "", reason: .closed, serial: serial) }
    }
    #expect(end(9, 9) == nil)
    #expect(end(9, 10) == "the serial of the ending of 9: \(serial)")
    #expect(end(10, 9) == "the handle of an ending: \(handle) 10")
    #expect(end(0, 9) == "the handle of an ending: \(handle) 0")
    #expect(fault { $0.numbers.lastHandle = Handle(2) } == "the handle of a presentation: expected 1 to 2, found 3")
    #expect(fault(of: 3) { $0.presentation.program = 9 } == nil)
    #expect(fault(of: 3) { $0.presentation.program = 10 } == "the handle of the program of 3: \(handle) 10")
  }

  @Test("R4, L1: a record may have four times as many entries as the limits allow, and no more")
  func entries_tooMany_areRefused() {
    var limits = Limits()
    (limits.items, limits.entries) = (1, 1)
    func add(_ count: Int, to record: inout RecordedState) {
      for number in 0..<count {
        let handle = Handle(UInt64(4 + number))
        let binding = try! BindingID("more[\(number)]")
        record.presentations[handle] = .init(
          Presentation(handle: handle, binding: binding, item: Shared(Item(id: "")), phase: .presented))
      }
    }
    #expect(fault(limits: limits) { add(1, to: &$0) } == nil)
    #expect(fault(limits: limits) { add(2, to: &$0) } == "the number of items: expected 0 to 4, found 5")
    func set(_ count: Int, in record: inout RecordedState) {
      for number in 0..<count { record.environment["V\(number)"] = "" }
    }
    #expect(fault(limits: limits) { set(4, in: &$0) } == nil)
    #expect(fault(limits: limits) { set(5, in: &$0) } == "the number of variables: expected 0 to 4, found 5")
    limits = Limits()
    limits.state = 2
    func fill(_ bytes: Int, in record: inout RecordedState) {
      record.presentations[1]!.presentation.item.title = String(repeating: "x", count: bytes)
    }
    #expect(fault(limits: limits) { fill(8, in: &$0) } == nil)
    #expect(fault(limits: limits) { fill(9, in: &$0) } == "the bytes of all items: expected 0 to 8, found 9")
  }

  @Test("R4, L1: values that are nested too deep for a signal are refused")
  func values_tooDeep_areRefused() {
    let (deepest, tooDeep): (Properties, Properties) = (["k": nested(32)], ["k": nested(33)])
    let message = "nested containers in a value: expected 0 to 32, found 33"
    for key in [\Item.value, \Item.containerValues, \Item.platformData] {
      #expect(fault(of: 1) { $0.presentation.item.content[keyPath: key] = deepest } == nil)
      #expect(fault(of: 1) { $0.presentation.item.content[keyPath: key] = tooDeep } == message)
    }
    for options: ItemOptions in [.with(value: tooDeep), .with(containerValues: tooDeep), .with(platformData: tooDeep)] {
      #expect(
        fault { $0.tags[GroupTag(group: "g", tag: "t")] = .init(binding: "x", id: "", options: options, stamp: 1) }
          == message)
    }
    #expect(fault { $0.containerValues = deepest } == nil)
    #expect(fault { $0.containerValues = tooDeep } == message)
    // A dictionary with a variant of a structure is three containers and more.
    let (result, tooMuch): (Properties, Properties) = (["k": nested(61)], ["k": nested(62)])
    #expect(fault(of: 1) { $0.presentation.result = result } == nil)
    #expect(
      fault(of: 1) { $0.presentation.result = tooMuch } == "nested containers in a result: expected 0 to 64, found 65")
    var ending = Ending(4, "x", id: "", reason: .closed, serial: 9)
    ending.result = tooMuch
    let refusal = fault { $0.endings[4] = ending }
    #expect(refusal == "nested containers in a result: expected 0 to 64, found 65")
  }

  // MARK: Relations

  @Test("R4: a presentation that has ended is not there, unless its program is parked")
  func ending_ofWhatIsThere_isRefused() {
    let ending = Ending(3, "c", id: "", reason: .dismissed, serial: 9)
    #expect(fault { $0.endings[3] = ending } == "presentation 3 has ended, and is there")
    #expect(
      fault {
        $0.endings[3] = ending
        $0.presentations[3]!.isParked = true
      } == nil)
  }

  @Test("R4: a parked program is in no group and no stack, and is not dismissed")
  func parked_related_isRefused() {
    let message = "presentation 3 is parked, and is dismissed, in a stack or in a group"
    func fault(_ damage: (inout Presentation) -> Void) -> String? {
      self.fault(of: 3) {
        $0.isParked = true
        damage(&$0.presentation)
      }
    }
    #expect(fault { _ in } == nil)
    #expect(self.fault(of: 3) { $0.stays = "Save?" } == "presentation 3 stays parked, and is not parked")
    #expect(fault { $0.item.membership = GroupTag(group: "g", tag: "t") } == message)
    #expect(fault { $0.item.position = StackPosition(stack: "s", index: 0) } == message)
    #expect(fault { $0.phase = .presenting } == message)
  }

  @Test("R4: only a waiting member of a group, in no stack, is queued or has an age in a queue")
  func queued_elsewhere_isRefused() {
    let queued = "presentation 1 is queued, and is shown, in a stack or in no group"
    let aged = "presentation 1 has an age in a queue, and is in a stack or in no group"
    func fault(isQueued: Bool, age: UInt64?, _ damage: (inout Presentation) -> Void) -> String? {
      self.fault { record in
        record.presentations[2] = nil
        record.presentations[1]!.presentation.phase = .waiting
        record.presentations[1]!.presentation.item.membership = GroupTag(group: "g", tag: "t")
        record.presentations[1]!.presentation.item.isQueued = isQueued
        record.presentations[1]!.presentation.item.queueAge = age
        damage(&record.presentations[1]!.presentation)
      }
    }
    #expect(fault(isQueued: true, age: 5) { _ in } == nil)
    #expect(fault(isQueued: true, age: 6) { _ in } == "the age of 1 in its queue: expected 0 to 5, found 6")
    #expect(fault(isQueued: true, age: 5) { $0.item.membership = nil } == queued)
    #expect(fault(isQueued: true, age: 5) { $0.item.position = StackPosition(stack: "s", index: 0) } == queued)
    #expect(fault(isQueued: true, age: 5) { $0.phase = .presented } == queued)
    #expect(fault(isQueued: false, age: 5) { $0.phase = .presented } == nil)
    #expect(fault(isQueued: false, age: 5) { $0.item.membership = nil } == aged)
    #expect(fault(isQueued: false, age: 5) { $0.item.position = StackPosition(stack: "s", index: 0) } == aged)
  }

  @Test("R4: a presentation that is asked to appear or to end has a presenter, and one that was never shown is gone")
  func phase_withoutPresenter_isRefused() {
    let message = "presentation 1 waits for a presenter, and has none"
    func fault(_ phase: Lifecycle) -> String? {
      self.fault { record in
        record.presentations[2] = nil
        record.presentations[1]!.presentation.phase = phase
      }
    }
    func dismissing(_ stage: PendingDismissal.Stage) -> Lifecycle {
      .dismissing(PendingDismissal(stage, reason: .dismissed))
    }
    #expect(fault(.presenting) == message)
    for stage: PendingDismissal.Stage in [.asked, .asking(message: ""), .settling, .killed] {
      #expect(fault(dismissing(stage)) == message)
      #expect(self.fault(of: 3) { $0.presentation.phase = dismissing(stage) } == nil)
    }
    #expect(self.fault(of: 3) { $0.presentation.phase = .presenting } == nil)
    for stage: PendingDismissal.Stage in [.held, .departed] { #expect(fault(dismissing(stage)) == nil) }
    #expect(fault(dismissing(.overtaken)) == "presentation 1 was never shown, and is not gone")
    var bare = Destination(name: "bare", presenter: .none, source: .file(path: "bare"))
    #expect(
      self.fault(of: 3) {
        $0.presentation.item.destination = Shared(bare)
        $0.presentation.phase = .presenting
      } == "presentation 3 waits for a presenter, and has none")
    bare.name = "a/b"
    #expect(
      self.fault(of: 3) { $0.presentation.item.destination = Shared(bare) } == "“a/b” is not the name of a destination")
  }

  @Test("R4: deadlines of other phases are no deadlines")
  func deadlines_ofOtherPhases_areIgnored() throws {
    func deadline(of handle: Handle, _ phase: Lifecycle) throws -> UInt64? {
      var record = whole
      for other in [Handle(1), 2, 3] where other != handle { record.presentations[other] = nil }
      record.presentations[handle]!.presentation.phase = phase
      record.presentations[handle]!.presentation.answerDue = Instant(nanoseconds: 3)
      record.presentations[handle]!.presentation.expires = Instant(nanoseconds: 2)
      record.presentations[handle]!.presentation.startsBy = Instant(nanoseconds: 1)
      return try StateMachine(restoring: record).nextDeadline?.nanoseconds
    }
    func dismissing(_ stage: PendingDismissal.Stage) -> Lifecycle {
      .dismissing(PendingDismissal(stage, reason: .dismissed))
    }
    #expect(try deadline(of: 1, .waiting) == 1)
    #expect(try deadline(of: 1, .presented) == 2)
    #expect(try deadline(of: 3, .presented) == 2)
    #expect(try deadline(of: 3, .presenting) == 3)
    for stage: PendingDismissal.Stage in [.asked, .settling, .killed] {
      #expect(try deadline(of: 3, dismissing(stage)) == 3)
    }
    for stage: PendingDismissal.Stage in [.held, .asking(message: "")] {
      #expect(try deadline(of: 3, dismissing(stage)) == nil)
    }
    // Nobody has to answer for an item that is state only.
    var record = whole
    record.presentations[1]!.presentation.answerDue = Instant(nanoseconds: 3)
    #expect(try StateMachine(restoring: record).nextDeadline == nil)
    // An item on the screen does not wait for its start, even if no other time is on record.
    record = whole
    record.presentations[1]!.presentation.startsBy = Instant(nanoseconds: 1)
    #expect(try StateMachine(restoring: record).nextDeadline == nil)
  }

  @Test("R4, D4: only an item that a presenter shows, with a deadline, awaits the return of the presenter")
  func absence_ofOtherPhases_isIgnored() throws {
    func awaits(_ handle: Handle, _ phase: Lifecycle = .presented, due: UInt64? = 5) throws -> Bool {
      var record = whole
      for other in [Handle(1), 2, 3] where other != handle { record.presentations[other] = nil }
      record.presentations[handle]!.presentation.phase = phase
      record.presentations[handle]!.presentation.awaitsPresenter = true
      record.presentations[handle]!.presentation.answerDue = due.map(Instant.init(nanoseconds:))
      let machine = try StateMachine(restoring: record)
      let isAwaited = machine.state.abandoned == [handle]
      #expect(machine.presentation(handle)?.awaitsPresenter == isAwaited)
      return isAwaited
    }
    #expect(try awaits(3))
    #expect(try !awaits(3, due: nil) && !awaits(3, .presenting) && !awaits(1))
  }

  @Test("R4: a parent is there, and stays as long as its child")
  func parent_ofDamage_isRefused() {
    let ends = "presentation 2 stays while its parent 1 ends or is queued"
    #expect(fault { $0.presentations[1] = nil } == "presentation 2 has the parent 1, which does not exist")
    #expect(
      fault {
        $0.presentations[1]!.isParked = true
      } == "presentation 2 has the parent 1, which does not exist")
    let going = Lifecycle.dismissing(PendingDismissal(.held, reason: .dismissed))
    #expect(fault(of: 1) { $0.presentation.phase = going } == ends)
    #expect(
      fault {
        for handle in [Handle(1), 2] { $0.presentations[handle]!.presentation.phase = going }
      } == nil)
    #expect(
      fault {
        $0.presentations[1]!.presentation.phase = .waiting
        $0.presentations[1]!.presentation.item.membership = GroupTag(group: "g", tag: "t")
        $0.presentations[1]!.presentation.item.isQueued = true
        $0.presentations[2]!.presentation.phase = .waiting
      } == ends)
    #expect(
      fault(of: 3) { $0.presentation.hasNamedParent = true }
        == "presentation 3 has no parent, though a request named one")
  }

  @Test("R4, C7: presentations that depend on themselves are refused")
  func dependencies_circular_areRefused() {
    func namedParent(_ parent: Handle) -> String? {
      fault(of: 1) { ($0.presentation.parent, $0.presentation.hasNamedParent) = (parent, true) }
    }
    #expect(namedParent(1) == "presentation 1 depends on itself")
    #expect(namedParent(2)?.hasSuffix("depends on itself") == true)
    // Above its own child in a stack.
    #expect(
      fault {
        $0.presentations[2]!.presentation.item.position = StackPosition(stack: "s", index: 0)
        $0.presentations[1]!.presentation.item.position = StackPosition(stack: "s", index: 1)
      }?.hasSuffix("depends on itself") == true)
    #expect(
      fault {
        $0.presentations[1]!.presentation.item.position = StackPosition(stack: "s", index: 0)
        $0.presentations[2]!.presentation.item.position = StackPosition(stack: "s", index: 1)
      } == nil)
  }

  // MARK: Holds and texts

  private func holder(of client: Client?) -> Holder {
    var holder = Holder()
    holder.client = client
    return holder
  }

  @Test("R4, H1, H2: a holder is a client with a number, or a fact of the session with none")
  func holder_ofNobody_isRefused() {
    func fault(_ name: String, _ cookie: UInt64, _ client: Client?) -> String? {
      self.fault { $0.holders[.init(name: name, cookie: cookie)] = holder(of: client) }
    }
    #expect(fault("dnd", 1, "anna") == nil)
    #expect(fault("locked", 1, "anna") == nil)
    #expect(fault("locked", 0, nil) == nil)
    for (name, cookie, client) in [
      ("a.b", 1, "anna" as Client?), ("", 1, "anna"), ("dnd", 0, nil), ("dnd", 1, nil), ("locked", 0, "anna"),
    ] as [(String, UInt64, Client?)] {
      #expect(
        fault(name, cookie, client)?.hasSuffix("is no hold of a client, and no fact of a session") == true, "\(name)")
    }
  }

  /// Texts that neither the bus nor a process accepts, in every part of a record that has some.
  private static let badTexts: [(fault: String, damage: @Sendable (inout RecordedState) -> Void)] = {
    func item(_ fault: String, _ change: @escaping @Sendable (inout Shared<Item>) -> Void)
      -> (String, @Sendable (inout RecordedState) -> Void)
    { (fault, { change(&$0.presentations[3]!.presentation.item) }) }
    func tag(_ fault: String, _ tag: String = "t", _ options: ItemOptions = .with())
      -> (String, @Sendable (inout RecordedState) -> Void)
    {
      (
        fault,
        { $0.tags[GroupTag(group: "g", tag: tag)] = .init(binding: "x", id: "", options: options, stamp: 1) }
      )
    }
    func registration(_ fault: String, _ name: String) -> (String, @Sendable (inout RecordedState) -> Void) {
      (
        fault,
        { $0.registrations[name] = [Destination(name: name, presenter: .none, source: .client("bar"))] }
      )
    }
    @Sendable func command(_ arguments: [String]) -> Shared<Destination> {
      Shared(Destination(name: "", presenter: .command(arguments.map { Array($0.utf8) }), source: .request))
    }
    return [
      item("the tag “” is empty or has a control character") { $0.membership = GroupTag(group: "g", tag: "") },
      item("“a/b” is not the name of a destination") { $0.destination!.name = "a/b" },
      item("a command is empty") { $0.destination = command([]) },
      item("a command is empty") { $0.destination = command(["", "x"]) },
      item("a command has a NUL byte in an argument") { $0.destination = command(["x", "a\0b"]) },
      item("“” is not the name of a variable") { $0.environment = ["": "x"] },
      item("“A=B” is not the name of a variable") { $0.environment = ["A=B": "x"] },
      tag("the tag “a\\x07” is empty or has a control character", "a\u{7}"),
      tag("the tag “” is empty or has a control character", "t", .with(tag: "")),
      tag("a command is empty", "t", .with(command: [])),
      tag("“.x” is not the name of a destination", "t", .with(to: ".x")),
      tag("“” is not the name of a variable", "t", .with(environment: ["": "x"])),
      registration("“a/b” is not the name of a destination", "a/b"),
      (
        "variables: “NAVD_X” is set by navd for each command; leave it out",
        { $0.environment["NAVD_X"] = "y" }
      ),
    ]
  }()

  @Test("R4: a bad text is refused", arguments: badTexts.indices)
  func text_bad_isRefused(index: Int) {
    let (message, damage) = Self.badTexts[index]
    #expect(fault(damage) == message)
  }

  @Test("R4, D1: a registration is recorded under its own name")
  func registration_ofOtherName_isRefused() {
    let destination = Destination(name: "x", presenter: .none, source: .client("bar"))
    #expect(fault { $0.registrations["x"] = [destination] } == nil)
    #expect(fault { $0.registrations["y"] = [destination] } == "the destination “x” is recorded as “y”")
  }
}
