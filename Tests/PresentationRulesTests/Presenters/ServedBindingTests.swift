import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

/// Bindings that a program serves: requests of others are completed, or refused with what was expected (D18).
@Suite struct ServedBindingTests {
  private let fixture = RulesFixture()

  init() throws {
    try fixture.register(
      Destination(name: "app", presenter: .bus(name: ":1.7", path: "/app"), source: .client("app")), by: "app")
    try serve([
      "shop.isOpen": [:],
      "shop.where.edit": [
        "type": .string("Item"), "id": .string("Int"), "identity": .string("id"),
        "value": .string("{count: Int, id: Int, name: String, note?: String}"),
        "group": .string("shop.where"),
      ],
      "shop.where.help": ["group": .string("shop.where")],
      "shop.tab.list": ["group": .string("shop.tab"), "tag": .string("list")],
      "shop.path": ["elements": .boolean(true), "id": .string("Int")],
      "shop.mixed": [
        "elements": .boolean(true),
        "types": .dictionary(
          key: .string, value: .string,
          [.string("App.Note"): .string("{text: String}"), .string("Swift.Int"): .string("Int")]),
      ],
      "shop.model": ["own": .boolean(true), "id": .string("Int")],
    ])
  }

  @discardableResult
  private func serve(
    _ bindings: [String: Properties], as destination: String = "app", by client: Client = "app"
  ) throws -> [BindingID] {
    let served = try bindings.sorted { $0.key < $1.key }.map { binding, entry in
      // An empty dictionary is of the contract, and ends a declaration.
      (try BindingID(binding), Optional(try ServedBinding(ServedEntry(entry))))
    }
    let (elsewhere, outcome) = try fixture.machine.serve(destination, served, by: client)
    fixture.take(outcome)
    return elsewhere
  }

  private func message(_ operation: Request.Operation) -> String? { fixture.refusal(of: operation)?.message }

  @Test("D18: an item that is only on or off is presented by its binding alone")
  func present_servedBoolean_getsTheDestination() throws {
    try fixture.apply([Request(.present("shop.isOpen", id: "", ItemOptions()), needsKnownName: true)])
    #expect(fixture.item("shop.isOpen")?.destination?.name == "app")
    #expect(message(.present("shop.isOpen", id: "3", ItemOptions())) == "“shop.isOpen”: expected no id, found “3”")
    #expect(
      message(.present("shop.isOpen", id: "", .with(value: ["a": .int64(1)])))
        == "“shop.isOpen”: expected no value, found {\"a\":1}")
    #expect(
      message(.present("shop.isOpen", id: "", .with(to: "cmd")))
        == "destination “cmd” is given, but a program shows “shop.isOpen” itself; leave it out, or use another binding")
  }

  @Test("D18: an item gets its group, its destination, and its id from the value or the other way round")
  func present_servedItem_isCompleted() throws {
    try fixture.ask(
      .present("shop.where.edit", id: "", .with(value: ["id": .int64(3), "name": .string("Saw"), "count": .int64(1)])))
    #expect(fixture.shown == ["shop.where.edit=3"])
    let item = fixture.item("shop.where.edit")
    #expect(item?.membership == GroupTag(group: "shop.where", tag: "edit"))
    #expect(item?.destination?.name == "app")
    try fixture.ask(.present("shop.where.edit", id: "4", .with(value: ["name": .string("Axe"), "count": .int64(1)])))
    #expect(fixture.item("shop.where.edit")?.value["id"] == .int64(4))
    // The same item with nothing new stays.
    try fixture.ask(.present("shop.where.edit", id: "4", ItemOptions()))
    #expect(fixture.item("shop.where.edit")?.value["name"] == .string("Axe"))
  }

  @Test(
    "D18: a value that is not of the declared type is refused, with what was expected",
    arguments: [
      (["id": .int64(3), "name": .string("Saw"), "count": .string("many")], "expected count: Int, found “many”"),
      (["id": .int64(3), "name": .string("Saw")], "expected count: Int, found nothing"),
      (["id": .int64(3), "name": .int64(7), "count": .int64(1)], "expected name: String, found 7"),
      (
        ["id": .int64(3), "name": .string("Saw"), "count": .int64(1), "colour": .string("red")],
        "expected {count: Int, id: Int, name: String, note?: String}, found the key “colour”"
      ),
      (["id": .string("x"), "name": .string("Saw"), "count": .int64(1)], "expected an id: Int, found “x”"),
    ] as [(Properties, String)])
  func present_illTyped_isRefusedWithWhatWasExpected(value: Properties, expected: String) throws {
    #expect(message(.present("shop.where.edit", id: "", .with(value: value))) == "“shop.where.edit”: " + expected)
    #expect(fixture.shown == [])
  }

  @Test("D18: an id and a value that belong to two items are refused")
  func present_idOfAnother_isRefused() throws {
    #expect(
      message(
        .present(
          "shop.where.edit", id: "4", .with(value: ["id": .int64(3), "name": .string("Saw"), "count": .int64(1)])))
        == "id is “4”, but id of the value is 3; give the same, or only one")
    #expect(
      message(.present("shop.where.edit", id: "", ItemOptions()))
        == "“shop.where.edit”: expected an id: Int, found “”")
    #expect(
      message(.present("shop.where.edit", id: "03", .with(value: ["name": .string("Saw"), "count": .int64(1)])))
        == "“shop.where.edit”: expected an id: Int, found “03”")
  }

  @Test("D18: an edit after which the value is not of the type is refused")
  func update_illTyped_isRefused() throws {
    try fixture.ask(.present("shop.where.edit", id: "3", .with(value: ["name": .string("Saw"), "count": .int64(1)])))
    func update(_ value: Properties, remove: [String] = []) -> Request.Operation {
      .update("shop.where.edit", value: value, remove: remove, containerValues: nil, timeout: nil)
    }
    #expect(message(update(["count": .string("many")])) == "“shop.where.edit”: expected count: Int, found “many”")
    #expect(message(update([:], remove: ["name"])) == "“shop.where.edit”: expected name: String, found nothing")
    #expect(
      message(update(["id": .int64(4)])) == "“shop.where.edit”: id is the id, “3”, which stays; leave id out")
    try fixture.ask(update(["count": .int64(2), "note": .string("sharp")]))
    try fixture.ask(update([:], remove: ["note"]))
    #expect(fixture.item("shop.where.edit")?.value == ["id": .int64(3), "name": .string("Saw"), "count": .int64(2)])
  }

  @Test("D18: a tag that the program does not have is refused, even without a destination")
  func select_servedGroup_onlyItsTags() throws {
    try fixture.ask(.select("shop.tab", tag: "list", binding: nil, id: nil, ItemOptions()))
    #expect(fixture.shown == ["shop.tab.list"])
    #expect(fixture.item("shop.tab.list")?.destination?.name == "app")
    let refusal = fixture.refusal(of: .select("shop.tab", tag: "nothing", binding: nil, id: nil, ItemOptions()))
    #expect(refusal?.code == .unknownTag)
    #expect(
      refusal?.message == "a program shows the group “shop.tab”, which has no tag “nothing”; expected “list”")
    #expect(fixture.refusal(.present("other", id: "", .with(group: "shop.tab"))) == .unknownTag)
    #expect(fixture.refusal(.present("other", id: "", .with(group: "shop.tab", tag: "list"))) == .invalidArgument)
    #expect(fixture.shown == ["shop.tab.list"])
  }

  @Test("D18: the elements of a path are presented in their order, each from the one below")
  func push_servedPath_nextElementOnly() throws {
    try fixture.ask(.push("shop.path", "shop.path[0]", id: "7", ItemOptions()))
    #expect(fixture.path("shop.path") == ["shop.path[0]=7"])
    #expect(fixture.item("shop.path[0]")?.destination?.name == "app")
    #expect(
      message(.push("shop.path", "shop.path[2]", id: "8", ItemOptions()))
        == "“shop.path[2]” is not the next element of “shop.path”; expected “shop.path[1]”")
    #expect(
      message(.push("shop.path", "elsewhere", id: "8", ItemOptions()))
        == "“elsewhere” is no element of “shop.path”, which a program shows; expected “shop.path[1]”")
    #expect(
      message(.push("shop.path", "shop.path[1]", id: "x", ItemOptions()))
        == "“shop.path[1]”: expected an id: Int, found “x”")
    try fixture.ask(
      .setPath("shop.path", [RequestedElement(binding: nil, id: "7"), RequestedElement(binding: nil, id: "9")]))
    fixture.shows(1)
    #expect(fixture.path("shop.path") == ["shop.path[0]=7", "shop.path[1]=9"])
    #expect(fixture.parent("shop.path[1]") == 1)
    // Elements with destinations of their own are others' (S8).
    try fixture.ask(.push("shop.path", "elsewhere", id: "", .with(to: "cmd")))
  }

  @Test("D18: an element of a path of several types is named with its type")
  func push_servedMixedPath_typeAndValue() throws {
    try fixture.ask(.push("shop.mixed", "shop.mixed[0]", id: "App.Note {\"text\":\"x\"}", ItemOptions()))
    #expect(
      message(.push("shop.mixed", "shop.mixed[1]", id: "App.Note {\"text\":3}", ItemOptions()))
        == "“shop.mixed[1]”: expected text: String, found 3")
    #expect(
      message(.push("shop.mixed", "shop.mixed[1]", id: "App.Page {}", ItemOptions()))
        == "“shop.mixed[1]”: expected the name of a type (App.Note, Swift.Int), a space and a value as JSON as the id, "
        + "found “App.Page {}”")
    #expect(fixture.path("shop.mixed").count == 1)
  }

  @Test("D18: what only the program can make is only dismissed by others")
  func present_own_isRefused() throws {
    #expect(fixture.refusal(.present("shop.model", id: "1", ItemOptions())) == .invalidArgument)
    try fixture.ask(.present("shop.model", id: "1", .with(to: "app")), by: "app")
    try fixture.ask(.present("shop.model", id: "1", .with(title: "One")))
    try fixture.ask(.dismiss("shop.model"))
  }

  @Test("D18: the first program that serves a binding counts, until it leaves")
  func serve_byTwo_firstCounts() throws {
    try fixture.register(
      Destination(name: "app", presenter: .bus(name: ":1.8", path: "/app"), source: .client("second")), by: "second")
    #expect(try serve(["shop.isOpen": [:], "shop.more": [:]], by: "second") == ["shop.isOpen"])
    fixture.leave("app")
    #expect(try serve(["shop.isOpen": [:]], by: "second") == [])
    fixture.leave("second")
    #expect(fixture.machine.state.registry.served.isEmpty)
    #expect(fixture.machine.state.registry.served.count == 0)
    #expect(fixture.machine.state.registry.served.tags(of: "shop.tab") == nil)
  }

  @Test("D18: a second program with the same bindings neither ends nor changes what the first one shows there")
  func present_byTheSecond_isRefused() throws {
    try registerSecond()
    try serve(["shop.where.edit": ["id": .string("Int"), "group": .string("shop.where")]], as: "app2", by: "second")
    #expect(try serve(["shop.path": ["elements": .boolean(true)]], as: "app2", by: "second") == ["shop.path"])
    func present(_ id: String) -> Request.Operation { .present("shop.where.edit", id: id, .with(to: "app2")) }
    let busy = "another program shows “shop.where.edit” already"
    #expect(fixture.refusal(of: present("4"), by: "second")?.message == busy)
    try fixture.ask(.present("shop.where.edit", id: "3", .with(to: "app")), by: "app")
    #expect(fixture.refusal(of: present("4"), by: "second")?.message == busy)
    #expect(fixture.refusal(of: present("3"), by: "second")?.code == .busy)
    #expect(
      fixture.refusal(of: .push("shop.path", "shop.path[0]", id: "7", .with(to: "app2")), by: "second")?.message
        == "another program shows “shop.path” already")
    #expect(fixture.shown == ["shop.where.edit=3"])
    // The second one hands over what it would show.
    try fixture.ask(.push("shop.path", "shop.path[0]", id: "7", ItemOptions()), by: "second")
    #expect(fixture.item("shop.path[0]")?.destination?.name == "app")
    fixture.leave("app")
    try fixture.ask(.dismiss("shop.where.edit"))
    try fixture.ask(present("4"), by: "second")
    #expect(fixture.shown.contains("shop.where.edit=4"))
  }

  @Test("D18: the binding is that of the program whose item is there, whichever serves it first")
  func serve_withItsItem_counts() throws {
    fixture.leave("app")
    try registerSecond()
    try serve(["shop.isOpen": ["type": .string("Bool")]], as: "app2", by: "second")
    try fixture.ask(.present("shop.isOpen", id: "", .with(to: "app2")), by: "second")
    // A restarted navd keeps the item, and the other program is the first that declares the binding.
    fixture.take(try fixture.machine.serve("app2", [("shop.isOpen", nil)], by: "second").outcome)
    try fixture.register(
      Destination(name: "app", presenter: .bus(name: ":1.7", path: "/app"), source: .client("app")), by: "app")
    #expect(try serve(["shop.isOpen": [:]]) == [])
    let busy = "another program shows “shop.isOpen” already"
    #expect(
      fixture.refusal(of: .present("shop.isOpen", id: "", .with(to: "app")), by: "app")?.message == busy)
    #expect(try serve(["shop.isOpen": ["type": .string("Bool")]], as: "app2", by: "second") == [])
    try fixture.ask(.present("shop.isOpen", id: "", .with(title: "Shop")))
    #expect(try serve(["shop.isOpen": [:]]) == ["shop.isOpen"])
    #expect(fixture.machine.servedByDestination["app2"]?["shop.isOpen"] != nil)
    try fixture.ask(.dismiss("shop.isOpen"))
    #expect(try serve(["shop.isOpen": [:]]) == [])
  }

  private func registerSecond() throws {
    try fixture.register(
      Destination(name: "app2", presenter: .bus(name: ":1.8", path: "/app"), source: .client("second")), by: "second")
  }

  @Test("D18: another parent than the declared one is refused")
  func present_servedFromAnother_isRefused() throws {
    try serve(["shop.hint": ["from": .string("shop.isOpen")]])
    try fixture.apply([Request(.present("shop.isOpen", id: "", ItemOptions()))])
    var options = ItemOptions()
    options.from = "shop.path"
    #expect(
      message(.present("shop.hint", id: "", options))
        == "from is given, but “shop.hint” has “shop.isOpen”; leave from out")
    options.from = "shop.isOpen"
    try fixture.ask(.present("shop.hint", id: "", options))
  }

  @Test("D18: only the client of a destination serves bindings by it, and not too many")
  func serve_refused() throws {
    #expect(throws: Refusal.self) { try serve(["a": [:]], by: "carl") }
    #expect(throws: Refusal.self) { try ServedBinding(ServedEntry(["value": .string("{count: Integer}")])) }
    #expect(throws: Refusal.self) { try ServedBinding(ServedEntry(["tag": .string("x")])) }
    let many = (0..<Int(fixture.machine.limits.entries)).map { ("many[\($0)]", [:] as Properties) }
    #expect(throws: Refusal.self) { try serve(Dictionary(uniqueKeysWithValues: many)) }
  }

  @Test(
    "D18: the text of a type is read as it was written",
    arguments: [
      "Bool", "UInt8", "Double", "String", "Any", "[Int]", "[String: [Double]]", "\"small\" | \"very large\"", "{}",
      "{a: {b: Int}, c?: [String]}",
    ])
  func schema_textOfText_isTheSame(text: String) throws {
    #expect(try ValueSchema(text).text == text)
  }

  @Test(
    "D18: a text that is no type is refused with the place of the mistake",
    arguments: [
      ("{a: }", "the type “{a: }”: expected a name at byte 4"), ("[Int", "the type “[Int”: expected “]” at byte 4"),
      ("{a: Int, a: Int}", "the type “{a: Int, a: Int}”: expected each field once, after “a” at byte 10"),
      ("\"a", "the type “\"a”: expected “\"” at byte 2"), ("Int Int", "the type “Int Int”: expected the end at byte 4"),
    ])
  func schema_noType_isRefused(text: String, message: String) {
    let refusal = #expect(throws: Refusal.self) { try ValueSchema(text) }
    #expect(refusal?.message == message)
  }
}
