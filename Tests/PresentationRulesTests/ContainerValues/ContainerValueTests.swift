import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

/// Container values: declarations, what items set, what readers get, and the members of containers (V1 to V5).
@Suite struct ContainerValueTests {
  let fixture = RulesFixture()

  init() throws(Refusal) {
    try fixture.machine.declareContainerValue("title", defaultValue: .string("Untitled"))
    try fixture.machine.declareContainerValue("badge", defaultValue: .int32(0))
  }

  private func declare(_ key: String, _ defaultValue: Value) -> ErrorCode? {
    let before = fixture.machine.state
    do throws(Refusal) {
      try fixture.machine.declareContainerValue(key, defaultValue: defaultValue)
      return nil
    } catch {
      #expect(
        picture(of: fixture.machine.state.containerValueDeclarations) == picture(of: before.containerValueDeclarations))
      return error.code
    }
  }

  private func value(_ key: String, at binding: BindingID?) -> Result<Value, Refusal> {
    do throws(Refusal) { return .success(try fixture.machine.containerValue(key, at: binding)) } catch {
      return .failure(error)
    }
  }

  private func code(_ result: Result<Value, Refusal>) -> ErrorCode? {
    if case .failure(let refusal) = result { refusal.code } else { nil }
  }

  @Test("V1: a key is declared once; again with the same type and default changes nothing, with another is refused")
  func declare_again() {
    #expect(declare("badge", .int32(0)) == nil)
    #expect(declare("badge", .int32(1)) == .containerValueType)
    #expect(declare("badge", .int64(0)) == .containerValueType)
    #expect(declare("badge", .string("0")) == .containerValueType)
    #expect(fixture.machine.containerValueDefaults == ["title": .string("Untitled"), "badge": .int32(0)])
    #expect(declare("nan", .double(.nan)) == nil && declare("nan", .double(.nan)) == nil)
  }

  private func redeclare(_ values: [(key: String, defaultValue: Value)]) -> [Int: ErrorCode] {
    fixture.machine.declareContainerValues(values, overridingRecord: true).mapValues(\.code)
  }

  @Test("V3: the refusal of an unknown key shows how to declare it, with the key unless that is long")
  func read_unknownKey_saysHowToDeclareIt() {
    for (count, shown) in [(64, String(repeating: "k", count: 64)), (65, "KEY")] {
      guard case .failure(let refusal) = value(String(repeating: "k", count: count), at: nil) else {
        Issue.record("it is declared")
        continue
      }
      #expect(refusal.message.contains("navctl value declare \(shown) SIGNATURE DEFAULT"), "\(refusal.message)")
    }
  }

  @Test("V1, L1: a key has at most 255 bytes")
  func declare_longKey_isRefused() {
    #expect(declare(String(repeating: "k", count: 255), .int32(0)) == nil)
    #expect(declare(String(repeating: "k", count: 256), .int32(0)) == .invalidArgument)
  }

  @Test("V1: several keys are declared together; with one mistake none is declared, and every mistake is reported")
  func declareSeveral_oneRefused_noneDeclared() {
    let before = fixture.machine.containerValueDefaults
    let refusals = fixture.machine.declareContainerValues([
      (key: "new", defaultValue: .byte(0)), (key: "badge", defaultValue: .string("")),
      (key: "9", defaultValue: .byte(0)),
    ])
    #expect(refusals.mapValues(\.code) == [1: .containerValueType, 2: .invalidArgument])
    #expect(fixture.machine.containerValueDefaults == before)
    #expect(fixture.machine.declareContainerValues([(key: "new", defaultValue: .byte(0))]).isEmpty)
    #expect(fixture.machine.containerValueDefaults["new"] == .byte(0))
  }

  @Test("V1: at a start, a declaration replaces the recorded default, and the type unless a value is held")
  func redeclare_key_otherUnlessHeld() throws {
    try fixture.machine.declareContainerValue("k", defaultValue: .byte(1))
    try fixture.present("a", "", .with(containerValues: ["k": .byte(5)]))
    #expect(redeclare([("k", .byte(2))]) == [:])
    #expect(fixture.machine.containerValueDefaults["k"] == .byte(2))
    func isRefused() -> Bool {
      redeclare([("new", .byte(0)), ("k", .string(""))]) == [1: .containerValueType]
        && fixture.machine.containerValueDefaults["k"] == .byte(2)
        && fixture.machine.containerValueDefaults["new"] == nil
    }
    #expect(isRefused())
    try fixture.dismiss("a")
    // A value that a group would present again counts as held, too.
    try fixture.present("b", "", .with(containerValues: ["k": .byte(6)], group: "g"))
    try fixture.dismiss("b")
    #expect(isRefused())
    try fixture.present("b", "2", .with(containerValues: [:], group: "g"))
    #expect(redeclare([("k", .string("x")), ("new", .byte(0))]) == [:])
    #expect(fixture.machine.containerValueDefaults["k"] == .string("x"))
    try fixture.clearAway()
  }

  @Test("V1: the type is the whole signature")
  func declare_containers_wholeSignature() {
    #expect(declare("list", .array(element: .string, [])) == nil)
    #expect(declare("list", .array(element: .int32, [])) == .containerValueType)
    #expect(declare("list", .array(element: .string, [])) == nil)
  }

  @Test("V2: an item may set values for declared keys; another type or an undeclared key is refused")
  func present_containerValues_checked() throws {
    try fixture.present("a", "", .with(containerValues: ["badge": .int32(3)]))
    for (values, code): (Properties, ErrorCode) in [
      (["badge": .int64(3)], .containerValueType), (["badge": .string("3")], .containerValueType),
      (["colour": .int32(3)], .unknownContainerValue),
      (["badge": .int32(4), "colour": .int32(3)], .unknownContainerValue),
    ] {
      #expect(fixture.refusal(.present("a", id: "", .with(containerValues: values))) == code)
      #expect(fixture.refusal(.present("b", id: "", .with(containerValues: values))) == code)
      #expect(fixture.refusal(.push("s", "b", id: "", .with(containerValues: values))) == code)
      #expect(fixture.refusal(.update("a", value: [:], remove: [], containerValues: values, timeout: nil)) == code)
    }
    #expect(fixture.item("a")?.containerValues == ["badge": .int32(3)])
    try fixture.clearAway()
  }

  @Test("V2: an update sets the given keys; a request for the same id replaces all of them (P2)")
  func update_containerValues_merged() throws {
    try fixture.present("a", "", .with(containerValues: ["badge": .int32(3)]))
    #expect(
      try fixture.ask(.update("a", value: [:], remove: [], containerValues: ["title": .string("T")], timeout: nil))
        == .changed(true))
    #expect(fixture.item("a")?.containerValues == ["badge": .int32(3), "title": .string("T")])
    try fixture.present("a", "", .with(containerValues: ["title": .string("U")]))
    #expect(fixture.item("a")?.containerValues == ["title": .string("U")])
    try fixture.clearAway()
  }

  @Test("V3: reading a key of an item gives the value set, or the default")
  func read_setOrDefault() throws {
    try fixture.present("a", "", .with(containerValues: ["badge": .int32(3)]))
    #expect(value("badge", at: "a") == .success(.int32(3)))
    #expect(value("title", at: "a") == .success(.string("Untitled")))
    #expect(value("title", at: nil) == .success(.string("Untitled")))
    try fixture.clearAway()
  }

  @Test("V3: reading an undeclared key, or from an empty slot, is an error")
  func read_undeclared_refused() throws {
    try fixture.present("a")
    #expect(code(value("colour", at: "a")) == .unknownContainerValue)
    #expect(code(value("colour", at: nil)) == .unknownContainerValue)
    #expect(code(value("badge", at: "b")) == .notPresented)
    try fixture.show("c")
    try fixture.dismiss("c")
    #expect(code(value("badge", at: "c")) == .notPresented)
    try fixture.clearAway()
  }

  @Test("V3: a key declared later has its default for items that were there before")
  func read_declaredLater_default() throws {
    try fixture.present("a")
    #expect(declare("colour", .string("blue")) == nil)
    #expect(value("colour", at: "a") == .success(.string("blue")))
    #expect(fixture.machine.members(of: .everything).first?.containerValues["colour"] == .string("blue"))
    try fixture.clearAway()
  }

  @Test("V4: container values belong to the item alone: neither children nor its replacement inherit them")
  func values_notInherited() throws {
    try fixture.present("a", "1", .with(containerValues: ["badge": .int32(3)]))
    try fixture.present("a.b")
    #expect(value("badge", at: "a.b") == .success(.int32(0)))
    try fixture.present("a", "2")
    #expect(value("badge", at: "a") == .success(.int32(0)))
    try fixture.clearAway()
  }

  private func members(_ container: Container<BindingID>) -> [String] {
    fixture.machine.members(of: container).map { member in
      guard case .int32(let badge)? = member.containerValues["badge"], member.containerValues["title"] != nil else {
        return "?"
      }
      return "\(member.presentation) \(member.binding)=\(member.id) \(badge)"
    }
  }

  @Test("V5: a stack lists its members in the order of its path, with all declared values resolved")
  func members_stack_pathOrder() throws {
    try fixture.ask(
      .setPath("s", [.at("z", "1", .with(containerValues: ["badge": .int32(1)])), .at("y", "2"), .at("x")]))
    #expect(members(.stack("s")) == ["1 z=1 1", "2 y=2 0", "3 x= 0"])
    try fixture.ask(.setPath("s", [.at("z", "1"), .at("x"), .at("y", "2")]))
    #expect(members(.stack("s")) == ["1 z=1 1", "4 x= 0", "5 y=2 0"])
    try fixture.ask(.pop("s", count: 2))
    #expect(members(.stack("s")) == ["1 z=1 1"])
    #expect(members(.stack("r")) == [])
    try fixture.clearAway()
  }

  @Test("V5: a group, a parent and the coordinator list theirs in the order of acceptance; a queued one is a member")
  func members_others_acceptanceOrder() throws {
    try fixture.present("p")
    try fixture.present("z", "", .with(from: "p", group: "g"))
    try fixture.present("y", "", .with(containerValues: ["badge": .int32(7)], from: "p", group: "g", ifBusy: .queue))
    try fixture.present("x", "", .with(group: "g", ifBusy: .queue, priority: 5))
    try fixture.present("a")
    #expect(members(.group("g")) == ["2 z= 0", "3 y= 7", "4 x= 0"])
    #expect(members(.parent("p")) == ["2 z= 0", "3 y= 7"])
    #expect(members(.everything) == ["1 p= 0", "2 z= 0", "3 y= 7", "4 x= 0", "5 a= 0"])
    #expect(members(.group("h")) == [] && members(.parent("q")) == [])
    try fixture.clearAway()
  }

  @Test("V5: a dismissed item is no longer a member; a waiting item is")
  func members_going_none() throws {
    try fixture.show("p", "1")
    try fixture.show("c", "", .with(to: "cmd", from: "p", group: "g", stack: "s"))
    try fixture.present("c", "2", .with(to: "cmd", from: "p", group: "g"))
    for container: Container<BindingID> in [.group("g"), .stack("s"), .parent("p")] {
      #expect(members(container) == ["3 c=2 0"])
    }
    try fixture.dismiss("p")
    for container: Container<BindingID> in [.group("g"), .stack("s"), .parent("p"), .everything] {
      #expect(members(container) == [])
    }
    try fixture.clearAway()
  }
}
