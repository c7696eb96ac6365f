// Why this file exists: rule L1, limit by limit, and what of L2 is the core's.

import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

@Suite struct LimitTests {
  /// A desk with small limits.
  private func desk(_ change: (inout Limits) -> Void) -> Desk {
    var limits = Limits()
    change(&limits)
    return Desk(limits: limits)
  }

  private func text(_ bytes: Int) -> String { String(repeating: "x", count: bytes) }

  /// Expects that what takes `most` is accepted and one more refused, naming the limit.
  private func expectLimit(
    _ name: String, _ most: Int, on desk: Desk, _ operation: (Int) -> Request.Operation,
    from sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try desk.ask(operation(most), from: sourceLocation)
    for count in [most + 1, 4 * most + 1000] {
      do throws(Refusal) {
        try desk.ask(operation(count), from: sourceLocation)
        Issue.record("\(count) was taken", sourceLocation: sourceLocation)
      } catch {
        #expect(error.code == .limitExceeded, sourceLocation: sourceLocation)
        #expect(error.message.contains("“\(name)”"), "\(error.message)", sourceLocation: sourceLocation)
        #expect(error.message.utf8.count < 1000, sourceLocation: sourceLocation)
      }
    }
  }

  @Test("L1: all limits are written down, and published by name")
  func byName_complete() {
    let limits = Limits()
    #expect(limits.byName.count == Mirror(reflecting: limits).children.count)
    #expect(limits.byName.values.allSatisfy { $0 > 0 })
    #expect(limits.byName["binding"] == 255)
  }

  @Test("L1: ids, styles and titles")
  func id_tooLong_refused() throws {
    let desk = desk { $0.id = 10 }
    try expectLimit("id", 10, on: desk) { .present("a", id: text($0), .with()) }
    try expectLimit("id", 10, on: desk) { .push("s", "b", id: text($0), .with()) }
    try expectLimit("id", 10, on: desk) { .setPath("t", .values(text($0))) }
    try expectLimit("id", 10, on: desk) { .select("g", tag: "t", binding: nil, id: text($0), .with()) }
    try expectLimit("id", 10, on: desk) { .present("c", id: "", .with(style: text($0))) }
    try expectLimit("id", 10, on: desk) { .present("c", id: "", .with(title: text($0))) }
    try desk.clearAway()
  }

  @Test("L1: tags and destinations")
  func tag_tooLong_refused() throws {
    let desk = desk { $0.tag = 10 }
    try expectLimit("tag", 10, on: desk) { .present("a", id: "\($0)", .with(group: "g", tag: text($0))) }
    try expectLimit("tag", 10, on: desk) { .select("h", tag: text($0), binding: "b", id: nil, .with()) }
    try desk.clearAway()
  }

  @Test("L1: the value, as it then is, and what else is given")
  func value_tooLarge_refused() throws {
    // A string takes a length of 4 and a NUL, a key of one letter 1, and an entry 8.
    let desk = desk { $0.value = 100 }
    let most = 100 - 14
    try expectLimit("value", most, on: desk) { .present("a", id: "", .with(value: ["v": .string(text($0))])) }
    try expectLimit("value", most, on: desk) { .present("a", id: "", .with(platformData: ["v": .string(text($0))])) }
    try desk.present("b", "", .with(value: ["v": .string(text(10))]))
    try expectLimit("value", most - 14 - 10, on: desk) {
      .update("b", value: ["w": .string(text($0))], remove: [], containerValues: nil, timeout: nil)
    }
    try desk.ask(.update("b", value: ["w": .string(text(most))], remove: ["v"], containerValues: nil, timeout: nil))
    try expectLimit("value", 99, on: desk) { .present("c", id: "", .with(command: [text($0)])) }
    try expectLimit("value", 97, on: desk) {
      .present("d", id: "", .with(command: ["x"], environment: ["A": text($0)]))
    }
    try expectLimit("value", 100, on: desk) { .present("e", id: "", .with(command: ["x"], directory: text($0))) }
    try desk.clearAway()
  }

  @Test("L1: all items together have a limit of bytes, and room comes back as they go")
  func items_tooManyBytes_refused() throws {
    var limits = Limits()
    limits.state = 1000
    let desk = Desk(limits: limits)
    let text: (Int) -> Properties = { ["v": .string(String(repeating: "x", count: $0))] }
    try desk.present("a", "", .with(value: text(500)))
    for operation: Request.Operation in [
      .present("b", id: "", .with(value: text(500))),
      .update(
        "a", value: ["w": .string(String(repeating: "x", count: 500))], remove: [], containerValues: nil, timeout: nil),
    ] {
      do throws(Refusal) {
        try desk.ask(operation)
        Issue.record("it was taken")
      } catch {
        #expect(error.code == .limitExceeded && error.message.contains("“state”"))
      }
    }
    try desk.ask(.dismiss("a"))
    try desk.present("b", "", .with(value: text(900)))
    try desk.clearAway()
  }

  @Test("L1: endings are remembered as far as their bytes go, the latest always")
  func endings_tooManyBytes_oldestDropped() {
    var map = RecencyMap<Int, String>(limit: 10, byteLimit: 100)
    #expect(map.set(1, "a", bytes: 60).isEmpty)
    #expect(map.set(2, "b", bytes: 60).map(\.key) == [1])
    #expect(map.set(3, "c", bytes: 1000).map(\.key) == [2])
    #expect(map[3] == "c" && map.count == 1)
  }

  @Test("L1: the depth of a value has a limit, since what is told of it stands deeper")
  func value_deep_refused() throws {
    let desk = Desk()
    func nested(_ depth: Int) -> Properties {
      ["v": (0..<depth).reduce(Value.byte(1)) { value, _ in .array(element: value.type, [value]) }]
    }
    try expectLimit("value-depth", Limits().valueDepth, on: desk) { .present("a", id: "", .with(value: nested($0))) }
    try desk.clearAway()
  }

  @Test("L1: descriptors cannot be kept, wherever they stand")
  func value_descriptor_refused() throws {
    let desk = Desk()
    let descriptor = Value.descriptor(Descriptor(owning: -1))
    for value: Value in [
      descriptor, .variant(descriptor), .array(element: .descriptor, [descriptor]), .structure([.byte(1), descriptor]),
      .dictionary(key: .string, value: .variant, [.string("k"): .variant(.variant(descriptor))]),
    ] {
      #expect(desk.refusal(.present("a", id: "", .with(value: ["v": value]))) == .invalidArgument)
      #expect(desk.refusal(.present("a", id: "", .with(platformData: ["v": value]))) == .invalidArgument)
      #expect(throws: Refusal.self) { try desk.machine.declareContainerValue("k", defaultValue: value) }
    }
    try desk.machine.declareContainerValue("k", defaultValue: .variant(.byte(1)))
    #expect(
      desk.refusal(.present("a", id: "", .with(containerValues: ["k": .variant(descriptor)]))) == .invalidArgument)
  }

  @Test("L1: container values, their declarations and defaults")
  func containerValues_tooLarge_refused() throws {
    let desk = desk {
      $0.containerValues = 100
      $0.declaredContainerValues = 2
    }
    try desk.machine.declareContainerValue("k", defaultValue: .string(""))
    try expectLimit("container-values", 100 - 14, on: desk) {
      .present("a", id: "", .with(containerValues: ["k": .string(text($0))]))
    }
    try expectLimit("container-values", 100 - 14, on: desk) {
      .update("a", value: [:], remove: [], containerValues: ["k": .string(text($0))], timeout: nil)
    }
    #expect(throws: Refusal.self) { try desk.machine.declareContainerValue("l", defaultValue: .string(text(100))) }
    try desk.machine.declareContainerValue("l", defaultValue: .string(""))
    do throws(Refusal) {
      try desk.machine.declareContainerValue("m", defaultValue: .string(""))
      Issue.record("a third was declared")
    } catch { #expect(error.code == .limitExceeded && error.message.contains("“declared-container-values”")) }
    try desk.machine.declareContainerValue("l", defaultValue: .string(""))
    try desk.clearAway()
  }

  @Test("L1: an end is never refused: a result too large is left out, with an error that says so")
  func result_tooLarge_leftOut() throws {
    let desk = desk {
      $0.result = 100
      $0.value = 100
    }
    for destination in ["bus", "cmd", "bare"] {
      let handle = try desk.show("a", "1", .with(to: destination))
      #expect(try desk.closed(handle, result: ["v": .string(text(1000))], byPresenter: destination == "bus"))
      desk.goes(handle)
      #expect(desk.ending(handle)?.reason == .closed)
      guard case .string(let error)? = desk.ending(handle)?.result["error"] else {
        Issue.record("\(destination): \(String(describing: desk.ending(handle)))")
        continue
      }
      #expect(error.contains("“result”") && desk.ending(handle)?.result["v"] == nil)
    }
    let handle = try desk.show("a", "1", .with(to: "bus"))
    try desk.dismiss("a")
    desk.goes(handle, result: ["v": .string(text(1000))])
    #expect(desk.ending(handle)?.result.keys.sorted() == ["error"])
    let other = try desk.show("a", "1", .with(to: "bus"))
    desk.ends(other, result: ["v": .string(text(100 - 14))])
    #expect(desk.ending(other)?.result.keys.sorted() == ["v"])
  }

  @Test("L1: actions and their parameters")
  func action_tooLarge_refused() throws {
    let desk = desk {
      $0.id = 10
      $0.value = 100
    }
    try desk.present("a")
    try desk.act(1, text(10), ["v": .string(text(100 - 14))])
    #expect(throws: Refusal.self) { try desk.act(1, text(11)) }
    #expect(throws: Refusal.self) { try desk.act(1, "x", ["v": .string(text(100 - 13))]) }
    try desk.clearAway()
  }

  @Test("L1: items in all")
  func items_tooMany_refused() throws {
    let desk = desk { $0.items = 3 }
    for binding: BindingID in ["a", "b", "c"] { try desk.present(binding, "1") }
    #expect(desk.refusal(.present("d", id: "", .with())) == .limitExceeded)
    #expect(desk.refusal(.push("s", "d", id: "", .with())) == .limitExceeded)
    try desk.present("c", "2")
    try desk.present("c", "2", .with(title: "T"))
    try desk.apply(.dismiss("a"), .present("d", id: "", .with()))
    let refusal = desk.refusal(
      of: .present("d", id: "2", .with()), .present("e", id: "", .with()), .present("f", id: "", .with()))
    #expect(refusal?.code == .limitExceeded && refusal?.message.contains("“items”") == true)
    try desk.dismiss("d")
    try desk.present("e")
    try desk.clearAway()
  }

  @Test("L1: items of one client: whoever asked for the new one has it")
  func itemsPerClient_tooMany_refused() throws {
    let desk = desk { $0.itemsPerClient = 2 }
    try desk.present("a", "1", by: "anna")
    try desk.present("b", "1", by: "anna")
    #expect(desk.refusal(.present("c", id: "", .with()), by: "anna") == .limitExceeded)
    try desk.present("c", "1", by: "bert")
    #expect(desk.refusal(.present("c", id: "2", .with()), by: "anna") == .limitExceeded, "it would be a third of hers")
    try desk.present("b", "2", by: "anna")
    try desk.present("b", "2", .with(title: "T"), by: "bert")
    #expect(desk.refusal(.present("d", id: "", .with()), by: "anna") == .limitExceeded)
    try desk.present("b", "3", by: "bert")
    try desk.present("d", "1", by: "anna")
    try desk.apply(.dismiss("d"), .present("e", id: "", .with()), by: "anna")
    try desk.present("f", "1", by: nil)
    try desk.clearAway()
  }

  @Test("L1: requests in a transaction, elements in a path")
  func transaction_tooLong_refused() throws {
    let desk = desk { $0.transaction = 3 }
    try desk.apply(Array(repeating: Request(.dismiss("a")), count: 3))
    let refusal = desk.refusal(of: Array(repeating: Request(.dismiss("a")), count: 4))
    #expect(refusal?.code == .limitExceeded && refusal?.message.contains("“transaction”") == true)
    try desk.ask(.setPath("s", .values("1", "2", "3")))
    #expect(desk.refusal(.setPath("s", .values("1", "2", "3", "4"))) == .limitExceeded)
    try desk.clearAway()
  }

  @Test("L1: the waiting queue")
  func queue_tooLong_refused() throws {
    let desk = desk { $0.queue = 2 }
    try desk.present("m", "", .with(group: "g"))
    for binding: BindingID in ["a", "b"] { try desk.present(binding, "", .with(group: "g", ifBusy: .queue)) }
    #expect(desk.refusal(.present("c", id: "", .with(group: "g", ifBusy: .queue))) == .limitExceeded)
    try desk.present("b", "", .with(ifBusy: .queue, priority: 1))
    try desk.present("b", "2", .with(group: "g", ifBusy: .queue))
    try desk.dismiss("a")
    try desk.present("c", "", .with(group: "g", ifBusy: .queue))
    try desk.clearAway()
  }

  @Test("L1: remembered tags drop the oldest")
  func tags_tooMany_oldestDropped() throws {
    let desk = desk { $0.tags = 2 }
    for (binding, group): (BindingID, BindingID) in [("a", "g"), ("b", "g"), ("c", "h")] {
      try desk.present(binding, "", .with(group: group))
    }
    #expect(desk.machine.tags(of: "g") == ["b"] && desk.machine.tags(of: "h") == ["c"])
    try desk.clearAway()
    try desk.present("b", "", .with(group: "g"))
    try desk.present("d", "", .with(group: "h"))
    #expect(desk.machine.tags(of: "g") == ["b"] && desk.machine.tags(of: "h") == ["d"], "used again is not the oldest")
    try desk.present("e", "", .with(group: "i"))
    #expect(desk.machine.tags(of: "g") == [])
    try desk.clearAway()
    #expect(desk.machine.groupNames == ["h", "i"])
  }

  @Test("L1: a tag that was dropped while its item is queued or selected still leads to that item")
  func tags_droppedWhileHeld_stillSelectable() throws {
    let desk = desk { $0.tags = 1 }
    try desk.present("a", "1", .with(group: "g", tag: "t"))
    try desk.present("b", "2", .with(value: ["x": .byte(1)], group: "g", tag: "u", ifBusy: .queue))
    try desk.present("z", "", .with(group: "h"))
    #expect(desk.machine.tags(of: "g") == [])
    #expect(try desk.ask(.select("g", tag: "t", binding: nil, id: nil, .with())) == .presentation(1, changed: false))
    #expect(try desk.ask(.select("g", tag: "u", binding: nil, id: nil, .with())) == .presentation(2, changed: true))
    #expect(desk.item("b")?.value == ["x": .byte(1)])
    try desk.clearAway()
  }

  @Test("L1: remembered endings drop the oldest")
  func endings_tooMany_oldestDropped() throws {
    let desk = desk { $0.endings = 2 }
    for binding: BindingID in ["a", "b", "c"] {
      try desk.present(binding)
      try desk.dismiss(binding)
    }
    #expect(desk.machine.history.map(\.handle) == [2, 3])
    do throws(Refusal) {
      try desk.machine.requireKnown(1)
      Issue.record("1 is still known")
    } catch { #expect(error.code == .unknownPresentation && error.message.contains("2 endings")) }
  }

  @Test("L1: registrations by clients")
  func registrations_tooMany_refused() throws {
    let desk = desk { $0.registrations = 2 }
    try desk.register(Desk.bus("x", source: .client("bar")), by: "bar")
    try desk.register(Desk.bus("x", source: .client("baz")), by: "baz")
    do throws(Refusal) {
      try desk.register(Desk.bus("y", source: .client("bar")), by: "bar")
      Issue.record("a third was registered")
    } catch { #expect(error.code == .limitExceeded && error.message.contains("“registrations”")) }
    try desk.register(Desk.bus("x", source: .client("bar")), by: "bar")
    desk.leave("baz")
    try desk.register(Desk.bus("y", source: .client("bar")), by: "bar")
  }

  @Test("L2: what is refused says so in few words, however long what was given")
  func refusals_longInput_short() throws {
    let desk = Desk()
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
        try desk.ask(operation)
        Issue.record("was taken")
      } catch { #expect(error.message.utf8.count < 1500, "\(error.message.prefix(80))") }
    }
  }
}
