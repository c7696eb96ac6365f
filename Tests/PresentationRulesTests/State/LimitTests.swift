import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules
@testable import Simulation

/// Limits of sizes and counts, each at its bound and beyond it (L1, L2).
@Suite struct LimitTests {
  /// A fixture with small limits.
  private func fixture(_ change: (inout Limits) -> Void) -> RulesFixture {
    var limits = Limits()
    change(&limits)
    return RulesFixture(limits: limits)
  }

  private func text(_ bytes: Int) -> String { String(repeating: "x", count: bytes) }

  /// Expects that the limit itself is accepted, and one more is refused with the name of the limit.
  private func expectLimit(
    _ name: String, _ most: Int, on fixture: RulesFixture, _ operation: (Int) -> Request.Operation,
    from sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try fixture.ask(operation(most), from: sourceLocation)
    for count in [most + 1, 4 * most + 1000] {
      do throws(Refusal) {
        try fixture.ask(operation(count), from: sourceLocation)
        Issue.record("\(count) was taken", sourceLocation: sourceLocation)
      } catch {
        #expect(error.code == .limitExceeded, sourceLocation: sourceLocation)
        #expect(error.message.contains("“\(name)”"), "\(error.message)", sourceLocation: sourceLocation)
        #expect(error.message.utf8.count < 1000, sourceLocation: sourceLocation)
      }
    }
  }

  @Test("L1: all limits are published by name, with the values that users know")
  func byName_ofDefaults_asDocumented() {
    #expect(Limits().byName.count == Mirror(reflecting: Limits()).children.count)
    #expect(
      Limits().byName == [
        "text": 4096, "value": 1_048_576, "state": 8_388_608, "defaults": 8192, "items": 2048,
        "items-per-client": 1024, "transaction": 1024, "stack": 1024, "queue": 1024, "entries": 1024,
        "remembered": 1024, "waits": 512, "parked": 64, "calls-per-presenter": 4096, "calls": 40_960,
      ])
  }

  @Test("L1: a presenter has an eighth of the calls that are left, and always 8 until there are a tenth more")
  func calls_ofPresenters_leaveSome() {
    #expect(Limits.shareOfCalls == 8 && Limits.guaranteedCalls == 8)
    #expect(Limits().allCalls == 40_960 + 4096)
  }

  @Test("L1: ids, styles and titles have a greatest length")
  func id_tooLong_refused() throws {
    let fixture = fixture { $0.text = 10 }
    try expectLimit("text", 10, on: fixture) { .present("a", id: text($0), .with()) }
    try expectLimit("text", 10, on: fixture) { .push("s", "b", id: text($0), .with()) }
    try expectLimit("text", 10, on: fixture) { .setPath("t", .values(text($0))) }
    try expectLimit("text", 10, on: fixture) { .select("g", tag: "t", binding: nil, id: text($0), .with()) }
    try expectLimit("text", 10, on: fixture) { .present("c", id: "", .with(style: text($0))) }
    try expectLimit("text", 10, on: fixture) { .present("c", id: "", .with(title: text($0))) }
    try fixture.clearAway()
  }

  @Test("L1: an item that replaces another one makes no place for a third", arguments: [false, true])
  func items_replaced_makeNoPlace(areOfOneClient: Bool) throws {
    let fixture = fixture { if areOfOneClient { $0.itemsPerClient = 2 } else { $0.items = 2 } }
    try fixture.apply(.present("a", id: "1", .with()), .present("b", id: "1", .with()))
    let refusal = fixture.refusal(of: .present("a", id: "2", .with()), .present("c", id: "", .with()))
    #expect(refusal?.code == .limitExceeded && refusal?.index == 1)
    try fixture.apply(.present("a", id: "2", .with()), .dismiss("b"), .present("c", id: "", .with()))
    #expect(fixture.shown == ["a=2", "c"])
    try fixture.clearAway()
  }

  @Test("L1: the message of a hold has a greatest length")
  func holdMessage_tooLong_refused() throws {
    let fixture = fixture { $0.text = 10 }
    func hold(_ bytes: Int) throws {
      _ = try fixture.machine.hold(HoldRequest("dnd", message: text(bytes)), by: "anna", at: fixture.now)
    }
    try hold(10)
    #expect(throws: Refusal.self) { try hold(11) }
  }

  @Test("L1: tags and names of destinations have a greatest length")
  func tag_tooLong_refused() throws {
    let fixture = RulesFixture()
    try fixture.present("a", "", .with(group: "g", tag: text(255)))
    try fixture.ask(.select("h", tag: text(255), binding: "b", id: nil, .with()))
    #expect(fixture.refusal(.present("c", id: "", .with(group: "g", tag: text(256)))) == .invalidArgument)
    #expect(fixture.refusal(.select("h", tag: text(256), binding: "c", id: nil, .with())) == .invalidArgument)
    try fixture.clearAway()
  }

  @Test("L1: the value after the request, and the other options, have a greatest size")
  func value_tooLarge_refused() throws {
    // A string takes a length of 4 and a NUL, a key of one letter 1, and an entry 8.
    let fixture = fixture { $0.value = 100 }
    let most = 100 - 14
    try expectLimit("value", most, on: fixture) { .present("a", id: "", .with(value: ["v": .string(text($0))])) }
    try expectLimit("value", most, on: fixture) { .present("a", id: "", .with(platformData: ["v": .string(text($0))])) }
    try fixture.present("b", "", .with(value: ["v": .string(text(10))]))
    try expectLimit("value", most - 14 - 10, on: fixture) {
      .update("b", value: ["w": .string(text($0))], remove: [], containerValues: nil, timeout: nil)
    }
    try fixture.ask(.update("b", value: ["w": .string(text(most))], remove: ["v"], containerValues: nil, timeout: nil))
    try expectLimit("value", 99, on: fixture) { .present("c", id: "", .with(command: [text($0)])) }
    try expectLimit("value", 97, on: fixture) {
      .present("d", id: "", .with(command: ["x"], environment: ["A": text($0)]))
    }
    try expectLimit("value", 100, on: fixture) { .present("e", id: "", .with(command: ["x"], directory: text($0))) }
    try fixture.clearAway()
  }

  @Test("L1: all items together have a limit of bytes, which ended items no longer count towards")
  func items_tooManyBytes_refused() throws {
    var limits = Limits()
    limits.state = 1000
    let fixture = RulesFixture(limits: limits)
    let text: (Int) -> Properties = { ["v": .string(String(repeating: "x", count: $0))] }
    try fixture.present("a", "", .with(value: text(500)))
    for operation: Request.Operation in [
      .present("b", id: "", .with(value: text(500))),
      .update(
        "a", value: ["w": .string(String(repeating: "x", count: 500))], remove: [], containerValues: nil, timeout: nil),
    ] {
      do throws(Refusal) {
        try fixture.ask(operation)
        Issue.record("it was taken")
      } catch {
        #expect(error.code == .limitExceeded && error.message.contains("“state”"))
      }
    }
    try fixture.ask(.dismiss("a"))
    try fixture.present("b", "", .with(value: text(900)))
    // A record of a navd with larger limits may have more. What does not grow is taken.
    fixture.machine.state.limits.state = 500
    try fixture.present("b", "", .with(value: text(900), title: ""))
    #expect(fixture.refusal(.present("b", id: "", .with(title: "T"))) == .limitExceeded, "it is a byte more")
    try fixture.clearAway()
  }

  @Test("L1: endings are remembered up to a limit of bytes, the latest always")
  func endings_tooManyBytes_oldestDropped() {
    var map = RecencyMap<Int, String>(limit: 10, byteLimit: 100)
    #expect(map.set(1, "a", bytes: 60).isEmpty)
    #expect(map.set(2, "b", bytes: 60).map(\.key) == [1])
    #expect(map.set(3, "c", bytes: 1000).map(\.key) == [2])
    #expect(map[3] == "c" && map.count == 1)
    var full = RecencyMap<Int, String>(limit: 10, byteLimit: 100)
    for key in [1, 2] { #expect(full.set(key, "a", bytes: 50).isEmpty) }
    full.remove(1)
    #expect(full.set(3, "c", bytes: 50).isEmpty, "what was removed makes place")
  }

  @Test("L1: what is remembered anew again and again leaves no pile of entries that are out of date")
  func recencyMap_setOften_noPile() {
    var map = RecencyMap<Int, Int>(limit: 10)
    for number in 0..<1000 { _ = map.set(number % 2, number) }
    #expect(map.inOrder.map(\.value) == [998, 999])
    let entries = Mirror(reflecting: map).descendant("order").map { Mirror(reflecting: $0).children.count }
    #expect(entries.map { $0 < 100 } == true)
  }

  @Test("L1: the depth of a value has a limit, since signals nest it deeper")
  func value_deep_refused() throws {
    let fixture = RulesFixture()
    func nested(_ depth: Int) -> Properties {
      ["v": (0..<depth).reduce(Value.byte(1)) { value, _ in .array(element: value.type, [value]) }]
    }
    try expectLimit("value", Limits.valueDepth, on: fixture) { .present("a", id: "", .with(value: nested($0))) }
    try fixture.clearAway()
  }

  @Test("L1: file descriptors are refused at any depth")
  func value_descriptor_refused() throws {
    let fixture = RulesFixture()
    let descriptor = Value.descriptor(Descriptor(owning: -1))
    for value: Value in [
      descriptor, .variant(descriptor), .array(element: .descriptor, [descriptor]), .structure([.byte(1), descriptor]),
      .dictionary(key: .string, value: .variant, [.string("k"): .variant(.variant(descriptor))]),
    ] {
      #expect(fixture.refusal(.present("a", id: "", .with(value: ["v": value]))) == .invalidArgument)
      #expect(fixture.refusal(.present("a", id: "", .with(platformData: ["v": value]))) == .invalidArgument)
      #expect(throws: Refusal.self) { try fixture.machine.declareContainerValue("k", defaultValue: value) }
    }
    try fixture.machine.declareContainerValue("k", defaultValue: .variant(.byte(1)))
    #expect(
      fixture.refusal(.present("a", id: "", .with(containerValues: ["k": .variant(descriptor)]))) == .invalidArgument)
  }

  @Test("L1: container values, their declarations and defaults have a greatest size")
  func containerValues_tooLarge_refused() throws {
    let fixture = fixture {
      $0.value = 100
      $0.defaults = 50
    }
    try fixture.machine.declareContainerValue("k", defaultValue: .string(""))
    try expectLimit("value", 100 - 14, on: fixture) {
      .present("a", id: "", .with(containerValues: ["k": .string(text($0))]))
    }
    try expectLimit("value", 100 - 14, on: fixture) {
      .update("a", value: [:], remove: [], containerValues: ["k": .string(text($0))], timeout: nil)
    }
    #expect(throws: Refusal.self) {
      try fixture.machine.declareContainerValue("l", defaultValue: .string(text(50 - 27)))
    }
    try fixture.machine.declareContainerValue("l", defaultValue: .string(text(50 - 28)))
    do throws(Refusal) {
      try fixture.machine.declareContainerValue("m", defaultValue: .string(""))
      Issue.record("a third was declared")
    } catch { #expect(error.code == .limitExceeded && error.message.contains("“defaults”")) }
    try fixture.machine.declareContainerValue("l", defaultValue: .string(text(50 - 28)))
    try fixture.clearAway()
  }

  @Test("L1: an end is never refused: a result too large is left out, with an error that says so")
  func result_tooLarge_leftOut() throws {
    let fixture = fixture { $0.value = 100 }
    for destination in ["bus", "cmd", "bare"] {
      let handle = try fixture.show("a", "1", .with(to: destination))
      #expect(try fixture.closed(handle, result: ["v": .string(text(1000))], byPresenter: destination == "bus"))
      fixture.goes(handle)
      #expect(fixture.ending(handle)?.reason == .closed)
      guard case .string(let error)? = fixture.ending(handle)?.result["error"] else {
        Issue.record("\(destination): \(String(describing: fixture.ending(handle)))")
        continue
      }
      #expect(error.contains("“value”") && fixture.ending(handle)?.result["v"] == nil)
    }
    let handle = try fixture.show("a", "1", .with(to: "bus"))
    try fixture.dismiss("a")
    fixture.goes(handle, result: ["v": .string(text(1000))])
    #expect(fixture.ending(handle)?.result.keys.sorted() == ["error"])
    let other = try fixture.show("a", "1", .with(to: "bus"))
    fixture.ends(other, result: ["v": .string(text(100 - 14))])
    #expect(fixture.ending(other)?.result.keys.sorted() == ["v"])
  }

  @Test("L1: actions and their parameters have a greatest size")
  func action_tooLarge_refused() throws {
    let fixture = fixture {
      $0.text = 10
      $0.value = 100
    }
    try fixture.present("a")
    try fixture.act(1, text(10), ["v": .string(text(100 - 14))])
    #expect(throws: Refusal.self) { try fixture.act(1, text(11)) }
    #expect(throws: Refusal.self) { try fixture.act(1, "x", ["v": .string(text(100 - 13))]) }
    try fixture.clearAway()
  }

  @Test("L1: the items of all clients together are limited")
  func items_tooMany_refused() throws {
    let fixture = fixture { $0.items = 3 }
    for binding: BindingID in ["a", "b", "c"] { try fixture.present(binding, "1") }
    #expect(fixture.refusal(.present("d", id: "", .with())) == .limitExceeded)
    #expect(fixture.refusal(.push("s", "d", id: "", .with())) == .limitExceeded)
    try fixture.present("c", "2")
    try fixture.present("c", "2", .with(title: "T"))
    try fixture.apply(.dismiss("a"), .present("d", id: "", .with()))
    let refusal = fixture.refusal(
      of: .present("d", id: "2", .with()), .present("e", id: "", .with()), .present("f", id: "", .with()))
    #expect(refusal?.code == .limitExceeded && refusal?.message.contains("“items”") == true)
    try fixture.dismiss("d")
    try fixture.present("e")
    try fixture.clearAway()
  }

  @Test("L1: an item that a transaction changes makes no place for another one")
  func items_changed_makeNoPlace() throws {
    for change: (inout Limits) -> Void in [{ $0.items = 1 }, { $0.itemsPerClient = 1 }] {
      let fixture = fixture(change)
      try fixture.present("a")
      let refusal = fixture.refusal(of: .present("a", id: "", .with(title: "A")), .present("b", id: "", .with()))
      #expect(refusal?.code == .limitExceeded)
    }
  }

  @Test("L1, G10: an item that goes on does not count with the one that was to be presented again in its place")
  func itemsPerClient_interruptedStays_countsOnce() throws {
    let fixture = fixture { $0.itemsPerClient = 2 }
    fixture.machine.load(groups: ["g": GroupSettings(replacement: .overlap)])
    let first = try fixture.show("a", "", .with(to: "cmd", group: "g"))
    try fixture.present("b", "1", .with(to: "cmd", group: "g", ifBusy: .interrupt), by: "berta")
    #expect(fixture.phase(first) == "dismissing")
    try fixture.present("b", "2", .with(to: "bare"))
    #expect(fixture.phase(first) == "presented")
    #expect(fixture.shown == ["a", "b=2"])
  }

  @Test("L1: an item counts for the client that requested the presentation")
  func itemsPerClient_tooMany_refused() throws {
    let fixture = fixture { $0.itemsPerClient = 2 }
    try fixture.present("a", "1", by: "anna")
    try fixture.present("b", "1", by: "anna")
    #expect(fixture.refusal(.present("c", id: "", .with()), by: "anna") == .limitExceeded)
    try fixture.present("c", "1", by: "bert")
    #expect(
      fixture.refusal(.present("c", id: "2", .with()), by: "anna") == .limitExceeded, "it would be a third of hers")
    try fixture.present("b", "2", by: "anna")
    try fixture.present("b", "2", .with(title: "T"), by: "bert")
    #expect(fixture.refusal(.present("d", id: "", .with()), by: "anna") == .limitExceeded)
    try fixture.present("b", "3", by: "bert")
    try fixture.present("d", "1", by: "anna")
    try fixture.apply(.dismiss("d"), .present("e", id: "", .with()), by: "anna")
    try fixture.present("f", "1", by: nil)
    try fixture.clearAway()
  }

  @Test("L1: with more items than the limits allow, as after an update of navd, items are replaced, and none is added")
  func items_moreThanAllowed_areReplaced() throws {
    let (now, value): (Instant, Properties) = (Instant(nanoseconds: 0), ["v": .string(text(100))])
    func present(_ binding: BindingID, _ id: String, on machine: inout StateMachine) throws(Refusal) {
      _ = try machine.perform(Request(.present(binding, id: id, .with(value: value))), by: "anna", at: now)
    }
    for limit: WritableKeyPath<Limits, Int> in [\.items, \.itemsPerClient, \.state] {
      var (record, limits) = (RecordedState(), Limits())
      var before = try StateMachine(restoring: record)
      for binding: BindingID in ["a", "b", "c"] { try present(binding, "1", on: &before) }
      record.apply(before.takeUnrecorded())
      limits[keyPath: limit] = limit == \.state ? 200 : 2
      var machine = try StateMachine(limits: limits, restoring: record)
      try present("a", "2", on: &machine)
      do throws(Refusal) {
        try present("d", "1", on: &machine)
        Issue.record("a fourth was taken")
      } catch { #expect(error.code == .limitExceeded) }
      let ids = machine.allPresentations.map(\.item.id)
      #expect(ids == ["1", "1", "2"])
    }
  }

  @Test("L1: the calls of Wait of one client, and of all, are limited")
  func waits_tooMany_refused() throws {
    var limits = Limits()
    limits.waits = 2
    try limits.checkWaits(2, all: 8)
    for (count, all) in [(3, 8), (2, 9)] {
      do throws(Refusal) {
        try limits.checkWaits(count, all: all)
        Issue.record("\(count) of \(all) were taken")
      } catch { #expect(error.code == .limitExceeded && error.message.contains("“waits”")) }
    }
  }

  @Test("L1: an item has the bytes of its texts, its input, its environment and its values, and no others")
  func bytes_ofItem_areThoseOfItsParts() {
    #expect(Shared(Item(id: "")).byteCount == 0)
    let value: Properties = ["v": .string(text(10))]
    let parts: [(Int, (inout Item) -> Void)] = [
      (1, { $0.id = "i" }), (2, { $0.style = "st" }), (3, { $0.title = "tit" }), (4, { $0.output = "DP-1" }),
      (5, { $0.membership = GroupTag(group: "g", tag: "ta-gg") }), (6, { $0.directory = "/tmp/x" }),
      (7, { $0.input = Array(repeating: 0, count: 7) }), (8, { $0.environment = ["A": "1234567"] }),
      (value.byteCount, { $0.value = value }), (value.byteCount, { $0.containerValues = value }),
      (value.byteCount, { $0.platformData = value }),
    ]
    var all = Item(id: "")
    for (count, give) in parts {
      var item = Item(id: "")
      give(&item)
      give(&all)
      #expect(Shared(item).byteCount == count)
    }
    #expect(Shared(all).byteCount == parts.reduce(0) { $0 + $1.0 })
  }

  @Test("L1, G7: a remembered tag has the bytes of its id, its command, its environment and its values, and no others")
  func bytes_ofTag_areThoseOfItsParts() {
    func bytes(_ id: String = "", _ options: ItemOptions = ItemOptions()) -> Int {
      TagMemory(binding: "a", id: id, options: options, isTrusted: true).byteCount
    }
    let value: Properties = ["v": .string(text(10))]
    #expect(bytes() == 0 && bytes("id") == 2)
    #expect(bytes("", .with(command: ["ls", "-l"])) == 4 && bytes("", .with(environment: ["A": "12"])) == 3)
    #expect(bytes("", .with(value: value)) == value.byteCount)
    #expect(bytes("", .with(containerValues: value)) == value.byteCount)
  }

  @Test("L1: the requests of a transaction, and the elements of a path, are limited")
  func transaction_tooLong_refused() throws {
    let fixture = fixture { $0.transaction = 3 }
    try fixture.apply(Array(repeating: Request(.dismiss("a")), count: 3))
    let refusal = fixture.refusal(of: Array(repeating: Request(.dismiss("a")), count: 4))
    #expect(refusal?.code == .limitExceeded && refusal?.message.contains("“transaction”") == true)
    try fixture.ask(.setPath("s", .values("1", "2", "3")))
    #expect(fixture.refusal(.setPath("s", .values("1", "2", "3", "4"))) == .limitExceeded)
    try fixture.clearAway()
  }

  @Test("L1: the queue of a group is limited")
  func queue_tooLong_refused() throws {
    let fixture = fixture { $0.queue = 2 }
    try fixture.present("m", "", .with(group: "g"))
    for binding: BindingID in ["a", "b"] { try fixture.present(binding, "", .with(group: "g", ifBusy: .queue)) }
    #expect(fixture.refusal(.present("c", id: "", .with(group: "g", ifBusy: .queue))) == .limitExceeded)
    try fixture.present("b", "", .with(ifBusy: .queue, priority: 1))
    try fixture.present("b", "2", .with(group: "g", ifBusy: .queue))
    try fixture.dismiss("a")
    try fixture.present("c", "", .with(group: "g", ifBusy: .queue))
    try fixture.clearAway()
  }

  @Test("L1: remembered tags drop the oldest")
  func tags_tooMany_oldestDropped() throws {
    let fixture = fixture { $0.remembered = 2 }
    for (binding, group): (BindingID, BindingID) in [("a", "g"), ("b", "g"), ("c", "h")] {
      try fixture.present(binding, "", .with(group: group))
    }
    func remembers(_ tags: String...) -> Bool {
      let all = ["g a", "g b", "h c", "h d", "i e"]
      return all.filter {
        let parts = $0.split(separator: " ").map(String.init)
        return fixture.machine.state.tagMemory[GroupTag(group: try! BindingID(parts[0]), tag: parts[1])] != nil
      } == tags
    }
    #expect(remembers("g b", "h c"))
    try fixture.clearAway()
    try fixture.present("b", "", .with(group: "g"))
    try fixture.present("d", "", .with(group: "h"))
    #expect(remembers("g b", "h d"), "used again is not the oldest")
    try fixture.present("e", "", .with(group: "i"))
    #expect(remembers("h d", "i e"))
    try fixture.clearAway()
    #expect(fixture.machine.groupNames == [])
  }

  @Test("L1: a tag that was dropped while its item is queued or selected still leads to that item")
  func tags_droppedWhileHeld_stillSelectable() throws {
    let fixture = fixture { $0.remembered = 1 }
    try fixture.present("a", "1", .with(group: "g", tag: "t"))
    try fixture.present("b", "2", .with(value: ["x": .byte(1)], group: "g", tag: "u", ifBusy: .queue))
    try fixture.present("z", "", .with(group: "h"))
    #expect(fixture.machine.tags(of: "g") == ["t", "u"])
    #expect(try fixture.ask(.select("g", tag: "t", binding: nil, id: nil, .with())) == .presentation(1, changed: false))
    #expect(try fixture.ask(.select("g", tag: "u", binding: nil, id: nil, .with())) == .presentation(2, changed: true))
    #expect(fixture.item("b")?.value == ["x": .byte(1)])
    try fixture.clearAway()
  }

  @Test("L1: remembered endings drop the oldest")
  func endings_tooMany_oldestDropped() throws {
    let fixture = fixture { $0.remembered = 2 }
    for binding: BindingID in ["a", "b", "c"] {
      try fixture.present(binding)
      try fixture.dismiss(binding)
    }
    #expect(fixture.machine.history.map(\.handle) == [2, 3])
    do throws(Refusal) {
      try fixture.machine.requireKnown(1)
      Issue.record("1 is still known")
    } catch { #expect(error.code == .unknownPresentation && error.message.contains("2 endings")) }
  }

  @Test("L1: the registrations of clients are limited")
  func registrations_tooMany_refused() throws {
    let fixture = fixture { $0.entries = 2 }
    try fixture.register(RulesFixture.bus("x", source: .client("bar")), by: "bar")
    try fixture.register(RulesFixture.bus("x", source: .client("baz")), by: "baz")
    do throws(Refusal) {
      try fixture.register(RulesFixture.bus("y", source: .client("bar")), by: "bar")
      Issue.record("a third was registered")
    } catch { #expect(error.code == .limitExceeded && error.message.contains("“entries”")) }
    try fixture.register(RulesFixture.bus("x", source: .client("bar")), by: "bar")
    fixture.leave("baz")
    try fixture.register(RulesFixture.bus("y", source: .client("bar")), by: "bar")
  }

  @Test("L2: a refusal is short, however long the given text")
  func refusals_longInput_short() throws {
    let fixture = RulesFixture()
    let long = text(100_000)
    let operations: [Request.Operation] = [
      .present("a", id: long, .with()), .present("a", id: "", .with(to: long)),
      .present("a", id: "", .with(to: "/" + long)),
      .present("a", id: "", .with(value: [long + " ": .byte(1)])),
      .present("a", id: "", .with(value: [long: (0..<40).reduce(.byte(1)) { value, _ in .variant(value) }])),
      .present("a", id: "", .with(value: [long: .descriptor(Descriptor(owning: -1))])),
      .present("a", id: "", .with(containerValues: [long: .byte(1)])),
      .present("a", id: "", .with(group: "g", tag: long)), .present("a", id: "", .with(tag: text(255))),
      .present("a", id: "", .with(command: ["x"], environment: ["=" + long: ""])),
      .select("g", tag: long + "\n", binding: nil, id: nil, .with()),
      .update("a", value: [:], remove: [long], containerValues: nil, timeout: nil),
    ]
    for operation in operations {
      do throws(Refusal) {
        try fixture.ask(operation)
        Issue.record("was taken")
      } catch { #expect(error.message.utf8.count < 1500, "\(error.message.prefix(80))") }
    }
  }
}
