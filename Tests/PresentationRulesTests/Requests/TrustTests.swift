import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

/// Trust: a command, a directory or an environment belongs to the client that gave it, and a sandboxed client changes none (L3).
/// Here `anna` is outside of any sandbox, and `mallory` in one.
@Suite struct TrustTests {
  let fixture = RulesFixture()
  private let command = ItemOptions.with(value: ["x": .byte(1)], title: "T", command: ["foot"])
  private let evil: Properties = ["x": .byte(66)]

  /// Sends requests of a sandboxed client. A client that nobody has examined is refused wherever a sandboxed one is.
  @discardableResult
  private func ask(_ requests: Request.Operation...) throws -> [Reply] {
    let requests = requests.map { Request($0) }
    do throws(Refusal) {
      return try fixture.apply(requests, by: "mallory", trust: .confined)
    } catch {
      #expect(error.needsTrust && error.code == .accessDenied)
      let unknown = #expect(throws: Refusal.self) { try fixture.apply(requests, by: "mallory", trust: .unknown) }
      #expect(unknown?.needsTrust == true)
      throw error
    }
  }

  private func expectDenied(
    _ requests: Request.Operation..., from sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let refusal = #expect(throws: Refusal.self, sourceLocation: sourceLocation) {
      try fixture.apply(requests.map { Request($0) }, by: "mallory", trust: .confined)
    }
    #expect(refusal?.needsTrust == true && refusal?.code == .accessDenied, sourceLocation: sourceLocation)
    let unknown = #expect(throws: Refusal.self, sourceLocation: sourceLocation) {
      try fixture.apply(requests.map { Request($0) }, by: "mallory", trust: .unknown)
    }
    #expect(unknown?.needsTrust == true, sourceLocation: sourceLocation)
  }

  private func select(
    _ options: ItemOptions = .with(), at binding: BindingID? = nil, id: String? = nil
  ) -> Request.Operation { .select("g", tag: "t", binding: binding, id: id, options) }

  /// Has the group remember a request for the tag, and ends its item.
  private func remember(_ options: ItemOptions) throws {
    try fixture.ask(select(options, at: "x", id: "1"))
    fixture.shows(fixture.handle("x")!)
    let handle = fixture.handle("x")!
    try fixture.ask(.deselect("g", tag: nil))
    if fixture.phase(handle) != nil { fixture.goes(handle) }
  }

  // MARK: Toggles

  @Test(
    "L3: a sandboxed client that says how programs run may toggle only an item that is shown",
    arguments: [
      ItemOptions.with(command: ["foot"]), .with(to: "volume", directory: "/"),
      .with(to: "volume", environment: ["A": "1"]), .with(to: "volume", input: [1]),
    ])
  func toggle_withHowToRun_onlyEnds(options: ItemOptions) throws {
    let slot = Request.Operation.toggle("x", id: "", options, anyID: true)
    let member = Request.Operation.toggleSelection("g", tag: "t", binding: "y", id: "", options)
    for toggle in [slot, member] {
      expectDenied(toggle)
      expectDenied(toggle, toggle)
    }
    try fixture.ask(.present("x", id: "", .with()))
    try fixture.ask(.select("g", tag: "t", binding: "y", id: "", .with()))
    // Another id means another item.
    expectDenied(.toggle("x", id: "2", options, anyID: false))
    expectDenied(slot, slot)
    try ask(slot, member)
    #expect(fixture.item("x") == nil && fixture.item("y") == nil)
  }

  // MARK: Tags

  @Test("L3: a sandboxed client selects a tag that remembers a command only as it was")
  func select_rememberedCommand_onlyAsItWas() throws {
    try remember(command)
    expectDenied(select(.with(value: evil)))
    expectDenied(select(id: "2"))
    expectDenied(select(at: "y"))
    expectDenied(select(.with(title: "U")))
    expectDenied(select(.with(style: "sheet")))
    expectDenied(select(.with(timeout: 1)))
    expectDenied(select(.with(from: "z")))
    expectDenied(.toggleSelection("g", tag: "t", binding: nil, id: nil, .with(value: evil)))
    expectDenied(.toggleSelection("g", tag: "t", binding: nil, id: "2", .with()))

    expectDenied(select(), .update("x", value: evil, remove: [], containerValues: nil, timeout: nil))
    expectDenied(select(), .present("x", id: "1", .with(value: evil)))
    expectDenied(select(), .dismiss("x"), select(.with(value: evil)))

    try ask(select(.with(owned: true, priority: 3), at: "x", id: "1"))
    let item = try #require(fixture.item("x"))
    #expect(item.id == "1" && item.value == ["x": .byte(1)] && item.title == "T" && item.owner == "mallory")
    #expect(item.destination?.presenter == .command([Array("foot".utf8)]))
    try fixture.clearAway()
    // The memory is still the trusted client's.
    try fixture.ask(select(.with(command: ["bar"])))
    #expect(fixture.item("x")?.id == "1" && fixture.item("x")?.value == ["x": .byte(1)])
    try fixture.clearAway()
  }

  @Test(
    "L3: a sandboxed client selects a tag that remembers a directory or an environment only as it was",
    arguments: [ItemOptions.with(to: "cmd", directory: "/d"), .with(to: "cmd", environment: ["A": "b"])])
  func select_rememberedDirectoryOrEnvironment_onlyAsItWas(options: ItemOptions) throws {
    try remember(options)
    expectDenied(select(.with(value: evil)))
    // A destination with another program is no way around that.
    fixture.load([
      Destination(name: "other", presenter: .command([Array("x".utf8)]), source: RulesFixture.file("other")),
      Destination(name: "cmd", presenter: .command([Array("sleep".utf8)]), source: RulesFixture.file("cmd")),
      RulesFixture.bus("bus"),
    ])
    expectDenied(select(.with(to: "other")))
    // A program that gets no directory and no environment may be shown anything.
    try ask(select(.with(to: "bus", value: evil)))
    let item = try #require(fixture.item("x"))
    #expect(item.value == evil && item.directory == nil && item.environment == [:])
    try fixture.clearAway()
  }

  @Test("L3: every client may select a tag with other options if it remembers nothing about how programs run")
  func select_rememberedValue_isOpenToAll() throws {
    try remember(.with(to: "cmd", value: ["x": .byte(1)]))
    try fixture.apply([Request(select(.with(value: evil)))], by: "mallory", trust: .unknown)
    #expect(fixture.item("x")?.value == evil && fixture.item("x")?.destination?.name == "cmd")
    try fixture.clearAway()
  }

  @Test("L3: a trusted client's command is not given the options that a sandboxed client had remembered for the tag")
  func select_commandForATagOfASandboxedClient_repeatsNothing() throws {
    try ask(select(.with(value: evil), at: "evil", id: "666"))
    try ask(.deselect("g", tag: nil))
    // The trusted client may repeat the request as a whole, which has no command.
    try fixture.ask(select())
    #expect(fixture.item("evil")?.value == evil)
    try fixture.ask(.deselect("g", tag: nil))
    try fixture.ask(select(.with(command: ["foot"])))
    #expect(fixture.item("evil") == nil)
    #expect(fixture.item("g.t")?.id == "" && fixture.item("g.t")?.value == [:])
    try fixture.clearAway()
  }

  @Test("L3: a sandboxed client adds nothing to the memory of a tag with a trusted client's command")
  func refresh_ofASelectedTag_isNotRemembered() throws {
    try fixture.ask(select(.with(to: "cmd", value: ["x": .byte(1)], environment: ["A": "b"]), at: "x", id: "1"))
    fixture.shows(1)
    try ask(.present("x", id: "1", .with(value: evil)))
    #expect(fixture.item("x")?.value == evil)
    try fixture.dismiss("x")
    fixture.goes(1)
    try fixture.ask(select())
    #expect(fixture.item("x")?.value == ["x": .byte(1)] && fixture.item("x")?.environment == ["A": "b"])
    try fixture.clearAway()
  }

  @Test("L3: a client that nobody has examined may repeat a request without adding to what the tag remembers")
  func refresh_addingNothing_needsNoTrust() throws {
    try fixture.ask(select(command, at: "x", id: "1"))
    try fixture.apply([Request(.present("x", id: "1", .with(title: "T")))], by: "mallory", trust: .unknown)
    #expect(fixture.item("x")?.title == "T")
    try fixture.clearAway()
  }

  @Test("L3: a tag to which a sandboxed client has added is not repeated with the rights of a trusted one")
  func refresh_ofASandboxedClientsTag_isNotTrusted() throws {
    try fixture.ask(select(.with(value: ["x": .byte(1)]), at: "x", id: "1"))
    // An addition of the sandboxed client, and then one of the trusted client, which takes over neither.
    try ask(.present("x", id: "1", .with(value: evil)))
    try fixture.ask(.present("x", id: "1", .with(title: "X")))
    try fixture.ask(.deselect("g", tag: nil))
    try fixture.ask(select(.with(command: ["foot"])))
    #expect(fixture.item("g.t")?.value == [:] && fixture.item("x") == nil)
    try fixture.clearAway()
  }

  // MARK: Items

  /// The ways in which a command waits for its start: in its slot, in a queue, for its parent, and in a stack.
  private static let waits: [[Request.Operation]] = [
    [.present("x", id: "0", .with(to: "cmd"))],
    [.present("m", id: "", .with(group: "g")), .present("x", id: "0", .with(to: "cmd"))],
    [.present("p", id: "", .with(to: "cmd"))],
    [.push("s", "below", id: "", .with(to: "cmd"))],
  ]

  @Test("L3: a sandboxed client does not change an item that waits to run a command", arguments: 0..<4)
  func change_waitingCommand_isRefused(index: Int) throws {
    for request in Self.waits[index] { try fixture.ask(request) }
    var options = command
    switch index {
    case 1: (options.group, options.tag, options.ifBusy) = ("g", "t", .queue)
    case 2: options.from = "p"
    case 3: options.stack = "s"
    default: break
    }
    try fixture.ask(.present("x", id: "1", options))
    #expect(fixture.item("x")?.content.value == ["x": .byte(1)])

    let same = ItemOptions.with(group: options.group, tag: options.tag, stack: options.stack, ifBusy: options.ifBusy)
    let changed = same.overridden(by: .with(value: evil))
    let update = Request.Operation.update("x", value: evil, remove: [], containerValues: nil, timeout: nil)
    expectDenied(.present("x", id: "1", changed))
    expectDenied(.present("x", id: "1", .with(title: "U")))
    expectDenied(.present("x", id: "1", .with(style: "sheet")))
    expectDenied(update)
    expectDenied(.update("x", value: [:], remove: ["x"], containerValues: nil, timeout: nil))
    // The item of X→nil→X is the same presentation, with what was given.
    expectDenied(.dismiss("x"), .present("x", id: "1", changed))
    expectDenied(.dismiss("x"), .present("x", id: "1", same), update)
    if index == 1 { expectDenied(select(.with(value: evil))) }
    if index == 3 { expectDenied(.setPath("s", [.at("below"), .at("x", "1", changed)])) }
    if index == 3 { expectDenied(.push("s", "x", id: "1", changed)) }
    // These requests change nothing, or nothing that reaches the program.
    try ask(.present("x", id: "1", .with(value: ["x": .byte(1)], title: "T", timeout: 1000, priority: 7)))
    // This request puts another item in its place, which has no command.
    try ask(.present("x", id: "2", changed))
    #expect(fixture.item("x")?.destination == nil)
    try fixture.clearAway()
  }

  @Test("L3: a sandboxed client does not change a command that runs again in the same transaction")
  func present_againWithItsParent_isRefused() throws {
    try fixture.show("a", "1", .with(to: "cmd"))
    try fixture.show("a.b", "1", command)
    expectDenied(.present("a", id: "2", .with()), .present("a.b", id: "1", .with(value: evil)))
    try ask(.present("a", id: "2", .with()), .present("a.b", id: "1", .with()))
    #expect(fixture.item("a.b")?.value == ["x": .byte(1)])
    try fixture.clearAway()
  }

  @Test("L3, T1: the refusal of an item that came back names the last request that changed it")
  func change_afterItsReturn_namesTheRequest() throws {
    try fixture.present("x", "0", .with(to: "cmd"))
    try fixture.ask(.present("x", id: "1", command))
    let requests: [Request.Operation] = [
      .dismiss("x"), .present("x", id: "1", .with()),
      .update("x", value: evil, remove: [], containerValues: nil, timeout: nil),
    ]
    let refusal = #expect(throws: Refusal.self) {
      try fixture.apply(requests.map { Request($0) }, by: "mallory", trust: .confined)
    }
    #expect(refusal?.index == 2)
  }

  @Test("L3: a file's command gets no directory or environment once a sandboxed client has changed its item")
  func change_waitingCommandOfAFile_losesDirectoryAndEnvironment() throws {
    let given = ItemOptions.with(to: "cmd", value: ["x": .byte(1)], directory: "/d", environment: ["A": "b"])
    for change in [
      Request.Operation.present("x", id: "1", .with(value: evil)),
      .update("x", value: evil, remove: [], containerValues: nil, timeout: nil),
    ] {
      try fixture.present("x", "0", .with(to: "cmd"))
      try fixture.ask(.present("x", id: "1", given))
      try ask(.present("x", id: "1", .with(owned: true)))
      #expect(fixture.item("x")?.directory == "/d" && fixture.item("x")?.environment == ["A": "b"])
      let unknown = #expect(throws: Refusal.self) {
        try fixture.apply([Request(change)], by: "mallory", trust: .unknown)
      }
      #expect(unknown?.needsTrust == true)
      try ask(change)
      let item = try #require(fixture.item("x"))
      #expect(item.value == evil && item.directory == nil && item.environment == [:])
      try fixture.clearAway()
    }
  }

  @Test(
    "L3: the hooks of an item without a program get no directory or environment once a sandboxed client has changed the item"
  )
  func change_itemWithHooks_losesDirectoryAndEnvironment() throws {
    var settings = ItemSettings()
    settings.onDismiss = [Array("bye".utf8)]
    fixture.load([
      Destination(name: "osd", presenter: .none, source: RulesFixture.file("osd"), itemSettings: Shared(settings))
    ])
    try fixture.present("x", "1", .with(to: "osd", directory: "/d", environment: ["A": "b"]))
    let change = Request.Operation.update("x", value: evil, remove: [], containerValues: nil, timeout: nil)
    let unknown = #expect(throws: Refusal.self) {
      try fixture.apply([Request(change)], by: "mallory", trust: .unknown)
    }
    #expect(unknown?.needsTrust == true)
    try ask(change)
    #expect(fixture.item("x")?.directory == nil && fixture.item("x")?.environment == [:])
    try fixture.clearAway()
  }

  @Test(
    "L3: programs on the bus, units and items without a program can be changed by every client",
    arguments: ["bus", "unit", "bare"])
  func change_otherDestinations_isOpenToAll(destination: String) throws {
    try fixture.present("x", "1", .with(to: destination, directory: "/d", environment: ["A": "b"]))
    try fixture.apply(
      [Request(.update("x", value: evil, remove: [], containerValues: nil, timeout: nil))], by: "mallory",
      trust: .unknown)
    #expect(fixture.item("x")?.value == evil)
    try fixture.clearAway()
  }
}
