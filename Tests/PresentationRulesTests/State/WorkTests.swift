import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

/// The work that a request makes for navd, counted and limited (L1, L2).
@Suite struct WorkTests {
  private func fixture(items: Int = 0, _ change: (inout Limits) -> Void) throws -> RulesFixture {
    var limits = Limits()
    change(&limits)
    let fixture = RulesFixture(limits: limits)
    if items > 0 { try fixture.apply((0..<items).map { Request(.present(BindingID(unchecked: $0), id: "", .with())) }) }
    return fixture
  }

  @Test("L2: emptying the same scope many times looks at each item once")
  func dismissAll_repeated_costsOnce() throws {
    let fixture = try fixture(items: 500) { $0.work = 12_000 }
    let all = Request(.dismissAll(.everything))
    var requests = Array(repeating: all, count: 1000)
    for number in 0..<500 {
      requests += [Request(.present(BindingID(unchecked: 1000 + number), id: "", .with())), all]
      requests += [Request(.dismissAll(.root("i")))]
    }
    try fixture.apply(requests)
    #expect(fixture.shown == [])
    try fixture.clearAway()
  }

  @Test(
    "L1, L2: emptying a scope, or forcing it, counts each of its items",
    arguments: [Scope<BindingID>.everything, .root("i")])
  func dismissAll_ofMany_isCounted(scope: Scope<BindingID>) throws {
    let fixture = try fixture { $0.work = 50 }
    for number in 0..<30 { try fixture.present(BindingID(unchecked: number)) }
    func dismissal(isForced: Bool) -> Request { Request(.dismissAll(scope), isForced: isForced) }
    #expect(fixture.refusal(of: [dismissal(isForced: true)])?.message.contains("“work”") == true)
    try fixture.apply([dismissal(isForced: false)])
    for number in 0..<51 { try fixture.present(BindingID(unchecked: number)) }
    #expect(fixture.refusal(of: [dismissal(isForced: false)])?.message.contains("“work”") == true)
    try fixture.dismiss("i[50]")
    try fixture.apply([dismissal(isForced: false)])
    #expect(fixture.shown == [])
  }

  @Test("T1: a scope is emptied of what the same transaction presents before")
  func dismissAll_afterPresent_emptiesAll() throws {
    let fixture = try fixture(items: 1) { _ in }
    try fixture.apply(.present("new", id: "", .with()), .dismissAll(.everything))
    #expect(fixture.shown == [])
    try fixture.clearAway()
  }

  @Test("T1: emptying a scope a second time also ends items that were presented again in between")
  func dismissAll_repeated_emptiesAll() throws {
    let fixture = try fixture(items: 2) { _ in }
    try fixture.apply(
      .dismissAll(.root("i")), .present("i[0]", id: "", .with()), .present("other", id: "", .with()),
      .dismissAll(.everything), .present("i[1]", id: "", .with()), .dismissAll(.root("i")),
      .present("other", id: "2", .with()), .dismissAll(.root("i")))
    #expect(fixture.shown == ["other=2"])
    try fixture.dismiss("other")
    try fixture.clearAway()
  }

  @Test("L1: a transaction is refused that searches, or edits, more than the limit")
  func work_tooMuch_refused() throws {
    let fixture = try fixture { $0.work = 2500 }
    try fixture.present("m", "", .with(group: "g"))
    try fixture.ask(.setPath("s", .values(count: 100)))
    func select(_ count: Int) -> [Request] {
      (0..<count).map { Request(.present(BindingID(unchecked: $0), id: "", .with(from: "s[99]", group: "g"))) }
    }
    func expectRefusal(_ requests: [Request]) {
      let refusal = fixture.refusal(of: requests)
      #expect(
        refusal?.code == .limitExceeded && refusal?.message.contains("“work”") == true, "\(String(describing: refusal))"
      )
    }
    expectRefusal(select(3))
    try fixture.apply(select(1))
    try fixture.present("v", "", .with(value: ["a": .array(element: .int32, Array(repeating: .int32(1), count: 750))]))
    let update = Request(.update("v", value: [:], remove: ["x"], containerValues: nil, timeout: nil))
    expectRefusal(Array(repeating: update, count: 4))
    try fixture.apply([update])
    expectRefusal((0..<250).map { Request(.present(BindingID(unchecked: $0, below: "a.b.c.d"), id: "", .with())) })
    try fixture.ask(.dismissAll(.everything))
    try fixture.clearAway()
  }

  @Test(
    "L2: edits of a value of many keys count for more than those of a long one")
  func work_editsOfManyKeys_countForEach() throws {
    let fixture = try fixture { $0.work = 14_000 }
    let keys: Properties = Dictionary(uniqueKeysWithValues: (0..<500).map { ("k\($0)", .int32(1)) })
    try fixture.present("keys", "", .with(value: keys))
    let list = Value.array(element: .int32, Array(repeating: .int32(1), count: 1000))
    try fixture.present("list", "", .with(value: ["k": list]))
    func updates(_ binding: BindingID, _ count: Int) -> [Request] {
      let update = Request(.update(binding, value: [:], remove: ["x"], containerValues: nil, timeout: nil))
      return Array(repeating: update, count: count)
    }
    #expect(fixture.refusal(of: updates("keys", 3))?.message.contains("“work”") == true)
    try fixture.apply(updates("keys", 2))
    try fixture.apply(updates("list", 13))
    // An item that is presented again without a value has its earlier value edited.
    let again = Request(.present("keys", id: "", .with()))
    #expect(fixture.refusal(of: [again] + updates("keys", 3))?.message.contains("“work”") == true)
    try fixture.ask(.dismissAll(.everything))
    try fixture.clearAway()
  }

  @Test("L2: edits of many container values count, too")
  func work_editsOfContainerValues_count() throws {
    let fixture = try fixture { $0.work = 2500 }
    let values: Properties = Dictionary(uniqueKeysWithValues: (0..<100).map { ("k\($0)", .int32(1)) })
    for (key, value) in values { try fixture.machine.declareContainerValue(key, defaultValue: value) }
    try fixture.present("a", "", .with(containerValues: values))
    let update = Request(.update("a", value: [:], remove: [], containerValues: ["k0": .int32(2)], timeout: nil))
    try fixture.apply([update])
    #expect(fixture.refusal(of: [update, update])?.message.contains("“work”") == true)
    try fixture.clearAway()
  }

  @Test("L2: each part of a value counts as one step of a copy, and its key as another")
  func nodes_ofValue_areItsParts() {
    let (list, text): (Value, Value) = (.array(element: .int32, [.int32(1), .int32(2)]), .string("x"))
    let parts: [(Value, Int)] = [
      (text, 1), (.variant(text), 2), (list, 3), (.structure([list, text]), 5),
      (.dictionary(key: .string, value: .string, [text: text]), 3), (.properties([:]), 1),
      (.properties(["a": text, "b": list]), 7),
    ]
    for (value, count) in parts { #expect((["k": value] as Properties).nodes == count + 1, "\(value)") }
  }

  @Test("C7, L2: an item on which several others depend is looked at once")
  func dependencies_shared_costOnce() throws {
    let fixture = try fixture { $0.work = 1500 }
    for number in 0..<20 {
      let binding = BindingID(unchecked: number)
      // The parent is also the element below.
      let from = number == 0 ? nil : BindingID(unchecked: number - 1)
      try fixture.ask(.push("s", binding, id: "", .with(from: from)))
    }
    try fixture.present("m", "", .with(group: "g"))
    try fixture.present("n", "", .with(from: "i[19]", group: "g"))
    #expect(fixture.parent("n") == fixture.handle("i[19]"))
    try fixture.ask(.dismissAll(.everything))
    try fixture.clearAway()
  }

  @Test("L1: a stack has a greatest height")
  func stack_tooHigh_refused() throws {
    let fixture = try fixture { $0.stack = 3 }
    try fixture.ask(.setPath("s", .values("1", "2", "3")))
    #expect(fixture.refusal(.push("s", "x", id: "", .with())) == .limitExceeded)
    #expect(fixture.refusal(.setPath("s", .values("1", "2", "3", "4"))) == .limitExceeded)
    try fixture.ask(.push("s", "s[2]", id: "4", .with()))
    try fixture.apply(.pop("s", count: 1), .push("s", "x", id: "", .with()))
    #expect(fixture.refusal(.present("y", id: "", .with(stack: "s"))) == .limitExceeded)
    try fixture.ask(.dismissAll(.everything))
    try fixture.clearAway()
  }

  @Test("L1: a path of as many elements as a stack may have replaces another one, and is replaced")
  func path_longest_accepted() throws {
    // A machine stands here in place of a fixture, which checks every item against every other one.
    var machine = StateMachine(limits: Limits())
    let count = machine.limits.stack
    for first in [0, 1] {
      let request = Request(.setPath("s", .values(count: count, from: first)))
      _ = try machine.perform(request, by: "anna", at: Instant(nanoseconds: 0))
    }
    #expect(machine.path(of: "s").map(\.id) == (1...count).map { "\($0)" })
    #expect(throws: Refusal.self) {
      _ = try machine.perform(Request(.push("s", "x", id: "", .with())), by: "anna", at: Instant(nanoseconds: 0))
    }
  }

  @Test("L1: the paths of a transaction have as many elements together as one may have")
  func transaction_ofManyPaths_refused() throws {
    let fixture = try fixture { $0.transaction = 4 }
    try fixture.apply(.setPath("s", .values("1", "2")), .setPath("t", .values("1", "2")))
    let refusal = fixture.refusal(of: .setPath("s", .values("1", "2", "3")), .setPath("t", .values("1", "2")))
    #expect(refusal?.code == .limitExceeded)
    try fixture.ask(.dismissAll(.everything))
    try fixture.clearAway()
  }

  @Test("L1, G7: a group forgets its oldest tag when it remembers too many; other groups keep theirs")
  func tagsPerGroup_tooMany_oldestForgotten() throws {
    let fixture = try fixture { $0.tagsPerGroup = 2 }
    try fixture.present("h", "", .with(group: "h", tag: "old"))
    for tag in ["1", "2", "1", "3"] { try fixture.ask(.select("g", tag: tag, binding: "a", id: tag, .with())) }
    #expect(fixture.machine.tags(of: "g") == ["1", "3"] && fixture.machine.tags(of: "h") == ["old"])
    try fixture.ask(.dismissAll(.everything))
  }

  @Test("L1, L2: a transaction that makes a group learn and forget very many tags looks at each of them once")
  func tagsPerGroup_manyLearned_takeProportionateTime() throws {
    var limits = Limits()
    limits.tagsPerGroup = limits.transaction
    var machine = StateMachine(limits: limits)
    let (count, now) = (limits.transaction, Instant(nanoseconds: 0))
    let start = ContinuousClock.now
    for tags in [0..<count, count..<2 * count] {
      let requests = tags.map { Request(.select("g", tag: "t\($0)", binding: "a", id: "\($0)", .with())) }
      _ = try machine.perform(requests, by: "anna", at: now)
    }
    #expect(ContinuousClock.now - start < .seconds(10))
    let tags = Set(machine.tags(of: "g"))
    #expect(tags == Set((count..<2 * count).map { "t\($0)" }))
  }

  @Test("L1: a group has a greatest number of declared tags")
  func tagsPerGroup_declared_refused() throws {
    let fixture = try fixture { $0.tagsPerGroup = 2 }
    for name in ["x", "y", "y"] {
      try fixture.register(RulesFixture.bus(name, group: "g", source: .client("bar")), by: "bar")
    }
    #expect(throws: Refusal.self) {
      try fixture.register(RulesFixture.bus("z", group: "g", source: .client("bar")), by: "bar")
    }
    try fixture.register(RulesFixture.bus("z", group: "h", source: .client("bar")), by: "bar")
    var styled = RulesFixture.bus("w", source: .client("bar"))
    styled.style = String(repeating: "x", count: 5000)
    #expect(throws: Refusal.self) { try fixture.register(styled, by: "bar") }
    styled.style = nil
    let path = try #require(ObjectPath("/" + String(repeating: "x", count: 4096)))
    styled.presenter = .bus(name: "org.example.Bar", path: path)
    #expect(throws: Refusal.self) { try fixture.register(styled, by: "bar") }
    fixture.leave("bar")
  }

  @Test("L1: the members of a container have a greatest size, with the defaults of all declared values")
  func members_tooLarge_refused() throws {
    let fixture = try fixture(items: 10) { $0.members = 5000 }
    #expect(try fixture.machine.members(of: .everything).count == 10)
    try fixture.machine.declareContainerValue("k", defaultValue: .string(String(repeating: "x", count: 500)))
    #expect(throws: Refusal.self) { try fixture.machine.members(of: .everything) }
    #expect(try fixture.machine.members(of: .parent("i[0]")).isEmpty)
    try fixture.ask(.dismissAll(.everything))
  }

  @Test("P5, L2: a late report about a waiting item ends nothing in advance, since the report itself ends nothing")
  func ends_ofLateReport_areNone() throws {
    let fixture = try fixture(items: 2) { $0.ends = 1 }
    try fixture.hold("dnd")
    fixture.machine.setHolds(["dnd": .postpone])
    try fixture.present("late", "", .with(to: "cmd"))
    for number in 0..<3 { try fixture.present(BindingID("late[\(number)]"), "", .with(from: "late")) }
    let late = try #require(fixture.handle("late"))
    #expect(fixture.phase(late) == "waiting")
    #expect(fixture.machine.massEnds(of: .ended(late, failed: true, result: [:]), at: fixture.now).isEmpty)
  }

  @Test("L2, R5: nothing ends in advance for a request that Quit has refused, or for a report without effect")
  func ends_ofNoEffect_areNone() throws {
    let fixture = try fixture { $0.ends = 1 }
    let shown = try fixture.show("a", "", .with(to: "cmd"))
    for number in 0..<3 { try fixture.present(BindingID(unchecked: number, below: "a")) }
    let report = Report.windowsGone(shown, isFinal: true)
    #expect(fixture.machine.massEnds(of: report, at: fixture.now).isEmpty, "it does not follow windows")
    #expect(fixture.machine.massEnds(of: Request(.dismiss("a")), by: "anna", at: fixture.now).ends.count == 3)
    _ = fixture.machine.beginShutDown()
    #expect(fixture.machine.massEnds(of: Request(.dismiss("a")), by: "anna", at: fixture.now).isEmpty)
  }

  @Test("H3, L2: nothing ends in advance for a request that a hold refuses")
  func ends_ofRefusedItem_areNone() throws {
    let fixture = try fixture(items: 1) { $0.ends = 1 }
    for number in 1..<3 { try fixture.present(BindingID(unchecked: number), "", .with(from: "i[0]")) }
    fixture.machine.setHolds(["dnd": .refuse])
    let request = Request(.present("i[0]", id: "2", .with()))
    #expect(fixture.machine.massEnds(of: request, by: "anna", at: fixture.now).ends.count == 2)
    try fixture.hold("dnd")
    #expect(fixture.machine.massEnds(of: request, by: "anna", at: fixture.now).isEmpty)
  }

  @Test("P15, L2: emptying a scope by force ends in advance what still ends there, too, by force")
  func ends_ofForcedScope_forceWhatStillEnds() throws {
    let fixture = try fixture { $0.ends = 2 }
    try fixture.show("going", "", .with(to: "bus"))
    try fixture.dismiss("going")
    for number in 0..<3 { try fixture.present(BindingID(unchecked: number)) }
    func ends(_ operation: Request.Operation, isForced: Bool) -> [End] {
      fixture.machine.massEnds(of: Request(operation, isForced: isForced), by: "anna", at: fixture.now).ends
    }
    let forced = ends(.dismissAll(.everything), isForced: true)
    #expect(forced.map(\.handle) == [1, 2, 3, 4] && forced.allSatisfy { $0.isForced })
    #expect(ends(.dismissAll(.everything), isForced: false).map(\.handle) == [2, 3, 4])
  }

  @Test("P15, L2: a presenter that declines gets its slot back after the many children of the item that waits there")
  func ends_ofDeclining_areKnown() throws {
    let fixture = try fixture { $0.ends = 3 }
    let shown = try fixture.show("a", "1", .with(to: "bus"))
    try fixture.present("a", "2", .with(to: "bus"))
    for number in 0..<4 { try fixture.present(BindingID(unchecked: number, below: "a")) }
    func ends(_ handle: Handle) -> [Handle] {
      fixture.machine.massEnds(of: .declined(handle, message: ""), at: fixture.now).ends.map(\.handle)
    }
    #expect(ends(shown) == [3, 4, 5, 6])
    #expect(ends(2) == [], "it waits, so it has nothing to decline")
    for end in ends(shown).reversed() {
      fixture.take(fixture.machine.end([End(handle: end, reason: .parent)], by: nil, at: fixture.now))
    }
    #expect(ends(shown) == [])
    fixture.declines(shown)
    #expect(fixture.shown == ["a=1"])
    try fixture.clearAway()
  }

  @Test("L2: a transaction that ends too many is refused; a single request ends them in turns before it is carried out")
  func ends_tooMany_endedBefore() throws {
    let fixture = try fixture(items: 8) { $0.ends = 6 }
    let refusal = fixture.refusal(of: (0..<8).map { Request(.dismiss(BindingID(unchecked: $0))) })
    #expect(refusal?.code == .limitExceeded && refusal?.message.contains("“ends”") == true)
    let all = fixture.machine.massEnds(of: Request(.dismissAll(.everything)), by: "anna", at: fixture.now)
    #expect(all.ends.map(\.handle.number) == Array(1...8) && all.countOfNamed == 8)
    // The others end because of this item, which the request itself ends.
    for number in 1..<8 { try fixture.dismiss(BindingID(unchecked: number)) }
    try fixture.apply((1..<8).map { Request(.present(BindingID(unchecked: $0), id: "", .with(from: "i[0]"))) })
    for operation: Request.Operation in [.dismiss("i[0]"), .present("i[0]", id: "2", .with())] {
      let mass = fixture.machine.massEnds(of: Request(operation), by: "anna", at: fixture.now)
      #expect(mass.ends.count == 7 && mass.countOfNamed == 0 && mass.ends.allSatisfy { $0.reason == .parent })
    }
    #expect(fixture.machine.massEnds(of: [End(handle: 1, reason: .closed)]).ends.count == 7)
    #expect(fixture.machine.massEnds(of: Request(.dismiss("i[1]")), by: "anna", at: fixture.now).isEmpty)
    for operation: Request.Operation in [
      .present("i[0]", id: "", .with()), .toggle("new", id: "", .with(), anyID: false),
    ] {
      #expect(fixture.machine.massEnds(of: Request(operation), by: "anna", at: fixture.now).isEmpty)
    }
    try fixture.dismiss("i[7]")
    try fixture.dismiss("i[6]")
    try fixture.present("other")
    let most = fixture.machine.massEnds(of: Request(.dismiss("i[0]")), by: "anna", at: fixture.now)
    #expect(most.isEmpty, "6 end, as many as one turn may")
    try fixture.dismiss("i[0]")
    try fixture.clearAway()
  }

  @Test(
    "H4, L2: a held item waits in the queue, even if its request ends the selected member with many others",
    arguments: [2, 6])
  func heldItem_endsManyAndTheSelectedMember_isQueued(mostEnds: Int) throws {
    let fixture = try fixture(items: 8) { $0.ends = mostEnds }
    for number in 1..<8 { try fixture.dismiss(BindingID(unchecked: number)) }
    try fixture.apply(
      (1..<8).map { number in
        Request(.present(BindingID(unchecked: number), id: "", .with(from: "i[0]", group: number == 1 ? "g" : nil)))
      })
    fixture.machine.setHolds(["dnd": .postpone])
    let cookie = try fixture.hold("dnd")
    let request = Request(.present("i[0]", id: "2", .with(group: "g")))
    let mass = fixture.machine.massEnds(of: request, by: "anna", at: fixture.now)
    #expect(mass.ends.count == 6)
    for end in mass.ends.reversed() { fixture.take(fixture.machine.end([end], by: "anna", at: fixture.now)) }
    try fixture.apply([request])
    #expect(fixture.machine.selection(of: "g") == nil)
    #expect(fixture.machine.queuedTags(of: "g") == ["i[0]"])
    try fixture.release(cookie)
    #expect(fixture.machine.selection(of: "g") == "i[0]")
    try fixture.dismiss("i[0]")
    try fixture.clearAway()
  }
}

extension BindingID {
  /// A binding of a series.
  fileprivate init(unchecked number: Int, below root: String = "i") {
    self = try! BindingID("\(root)[\(number)]")
  }
}

extension [RequestedElement] {
  fileprivate static func values(count: Int, from first: Int = 0) -> [RequestedElement] {
    (first..<first + count).map { RequestedElement(binding: nil, id: "\($0)") }
  }
}
