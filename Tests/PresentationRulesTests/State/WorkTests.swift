import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

/// Requests of much work: repeated scopes, long paths, edits and searches (L1, L2).
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
    let fixture = try fixture(items: 300) { $0.transaction = 3000 }
    let all = Request(.dismissAll(.everything))
    var requests = Array(repeating: all, count: 1000)
    for number in 0..<300 {
      requests += [Request(.present(BindingID(unchecked: 1000 + number), id: "", .with())), all]
      requests += [Request(.dismissAll(.root("i")))]
    }
    try fixture.apply(requests)
    #expect(fixture.shown == [])
    try fixture.clearAway()
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

  @Test("L2: a transaction is refused that searches very often and very deep for what its items depend on")
  func search_tooDeep_refused() throws {
    // A machine stands here in place of a fixture, which checks every item against every other one.
    var machine = StateMachine()
    let now = Instant(nanoseconds: 0)
    _ = try machine.perform(Request(.setPath("s", .values(count: 600))), by: "anna", at: now)
    let members = (0..<440).map {
      Request(.present(BindingID(unchecked: $0), id: "", .with(group: BindingID(unchecked: $0, below: "g"))))
    }
    _ = try machine.perform(members, by: "bert", at: now)
    func select(_ count: Int) -> [Request] {
      (0..<count).map { number in
        let group = BindingID(unchecked: number, below: "g")
        return Request(.present(BindingID(unchecked: number, below: "n"), id: "", .with(from: "s[599]", group: group)))
      }
    }
    let refusal = #expect(throws: Refusal.self) { try machine.perform(select(440), by: "clara", at: now) }
    #expect(refusal?.code == .limitExceeded && refusal?.message.contains("“transaction”") == true)
    _ = try machine.perform(select(430), by: "clara", at: now)
  }

  @Test("L2: many edits of one large value copy it once")
  func edits_many_ofOneValue_areAccepted() throws {
    var machine = StateMachine()
    let now = Instant(nanoseconds: 0)
    let keys: Properties = Dictionary(uniqueKeysWithValues: (0..<40_000).map { ("k\($0)", .int32(1)) })
    _ = try machine.perform(Request(.present("keys", id: "", .with(value: keys))), by: "anna", at: now)
    func update(_ set: Properties, _ remove: [String] = []) -> Request {
      Request(.update("keys", value: set, remove: remove, containerValues: nil, timeout: nil))
    }
    _ = try machine.perform((0..<1024).map { update(["n": .int32($0)], ["k\($0)"]) }, by: "anna", at: now)
    let value = try #require(machine.current(at: "keys")?.item.value)
    #expect(value["n"] == .int32(1023) && value.count == 40_000 - 1023)
    // An edit after each of many presentations would copy it each time.
    let again = Request(.present("keys", id: "", .with(value: value)))
    let refusal = #expect(throws: Refusal.self) {
      try machine.perform((0..<500).flatMap { [again, update(["n": .int32($0)])] }, by: "anna", at: now)
    }
    #expect(refusal?.message.contains("“transaction”") == true)
    _ = try machine.perform((0..<5).flatMap { [again, update(["n": .int32($0)])] }, by: "anna", at: now)
  }

  @Test("D8, T1: edits of an item that is presented again in a transaction apply to the item that stays")
  func edits_ofItemThatCameBack_applyToIt() throws {
    var limits = Limits()
    limits.value = 100
    let fixture = RulesFixture(limits: limits)
    try fixture.present("a", "", .with(value: ["x": .byte(1), "y": .byte(2)]))
    func update(_ set: Properties, _ remove: [String]) -> Request {
      Request(.update("a", value: set, remove: remove, containerValues: nil, timeout: nil))
    }
    let back = [Request(.dismiss("a")), Request(.present("a", id: "", .with()))]
    try fixture.apply(back + [update(["z": .byte(3)], ["x"]), update(["x": .byte(4)], ["y"])])
    #expect(fixture.item("a")?.value == ["z": .byte(3), "x": .byte(4)] && fixture.handle("a") == 1)
    let long = String(repeating: "x", count: 70)
    #expect(fixture.refusal(of: back + [update(["v": .string(long)], [])])?.code == .limitExceeded)
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

  @Test("L1: the texts of a registration have a greatest length")
  func registration_longText_refused() throws {
    let fixture = RulesFixture()
    var styled = RulesFixture.bus("w", source: .client("bar"))
    styled.style = String(repeating: "x", count: 5000)
    #expect(throws: Refusal.self) { try fixture.register(styled, by: "bar") }
    styled.style = nil
    let path = try #require(ObjectPath("/" + String(repeating: "x", count: 4096)))
    styled.presenter = .bus(name: "org.example.Bar", path: path)
    #expect(throws: Refusal.self) { try fixture.register(styled, by: "bar") }
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
