import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

/// Late destinations, which appear after the items that they show: such an item is state only until then (D1).
struct LateDestinationTests {
  private let fixture = RulesFixture()

  private static func mixer(group: BindingID? = nil) -> Destination {
    Destination(
      name: "mixer", presenter: .command([Array("foot".utf8)]), group: group, source: RulesFixture.file("mixer"))
  }

  /// Sends a request as navctl does, which wants a known name.
  @discardableResult
  private func ask(_ operation: Request.Operation) throws -> Reply {
    try fixture.apply([Request(operation, needsKnownName: true)])[0]
  }

  /// Presents an item for a client that leaves the bus.
  private func presentAndLeave(_ options: ItemOptions = ItemOptions(), id: String = "") throws {
    try fixture.ask(.present("mixer", id: id, options), by: "script")
    fixture.leave("script")
    _ = fixture.taken()
  }

  @Test(
    "D1: toggling the name or the tag of an item that its destination shows ends it, also if the name has to be known",
    arguments: [
      .toggle("mixer", id: "", ItemOptions(), anyID: false),
      .toggleSelection("panels", tag: "mixer", binding: nil, id: nil, ItemOptions()),
    ] as [Request.Operation])
  func toggle_shownItem_ends(_ toggle: Request.Operation) throws {
    fixture.load([Self.mixer(group: "panels")])
    try ask(toggle)
    fixture.shows(1)
    try ask(toggle)
    #expect(fixture.shown == [])
    try fixture.clearAway()
  }

  // MARK: What nobody keeps

  @Test("D1: an item that nobody keeps is presented by a destination of its name that appears")
  func load_nobodysItem_isPresented() throws {
    try presentAndLeave(.with(value: ["level": .int32(4)], title: "Mixer", timeout: 50), id: "7")
    fixture.load([Self.mixer()])
    #expect(
      fixture.taken() == ["dismissed mixer 7 replaced", "presenting mixer 7", "present 2 mixer"])
    #expect(fixture.item("mixer")?.value == ["level": .int32(4)])
    #expect(fixture.item("mixer")?.title == "Mixer" && fixture.item("mixer")?.timeout == 50)
    fixture.shows(2)
    #expect(fixture.taken() == ["presented mixer 7"])
    fixture.load([Self.mixer()])
    #expect(fixture.taken() == [])
    try fixture.clearAway()
  }

  @Test("D1: an item that nobody keeps is also presented by a destination that a program registers")
  func register_nobodysItem_isPresented() throws {
    try presentAndLeave()
    try fixture.register(
      Destination(name: "mixer", presenter: .bus(name: "bar", path: "/"), source: .client("bar")), by: "bar")
    #expect(fixture.taken() == ["dismissed mixer replaced", "presenting mixer", "present 2 mixer"])
    try fixture.clearAway()
  }

  @Test("D1: an item of a program on the bus stays state only, until the program leaves and files are read again")
  func load_programsItem_stays() throws {
    try fixture.ask(.present("mixer", id: "", ItemOptions()), by: "bar")
    _ = fixture.taken()
    fixture.load([Self.mixer()])
    #expect(fixture.taken() == [])
    fixture.leave("bar")
    #expect(fixture.taken() == [])
    fixture.load([Self.mixer()])
    #expect(fixture.taken() == ["dismissed mixer replaced", "presenting mixer", "present 2 mixer"])
    try fixture.clearAway()
  }

  @Test("D1: an item that is meant as state, has an owner, or has a destination stays as it is")
  func load_keptItem_stays() throws {
    _ = try fixture.apply([Request(.present("mixer", id: "", ItemOptions()), meansState: true)], by: "script")
    fixture.leave("script")
    try fixture.ask(.present("osd", id: "", .with(owned: true)), by: "bar")
    try fixture.ask(.present("dock", id: "", .with(to: "bare")), by: "other")
    fixture.leave("other")
    _ = fixture.taken()
    fixture.load(
      [Self.mixer()]
        + ["osd", "dock", "bare"].map { Destination(name: $0, presenter: .none, source: RulesFixture.file($0)) })
    #expect(fixture.taken() == [])
    #expect(fixture.shown == ["dock", "mixer", "osd"])
    try fixture.clearAway()
  }

  @Test("D1: an item stays state only for the client that owns it, after the client that asked for it has left")
  func load_itemOwnedByAnother_stays() throws {
    try fixture.ask(.present("mixer", id: "", ItemOptions()), by: "script")
    let handle = try #require(fixture.handle("mixer"))
    let before = fixture.machine.keeper(of: handle)
    try fixture.ask(.present("mixer", id: "", .with(owned: true)), by: "bar")
    let after = fixture.machine.keeper(of: handle)
    #expect(before == "script" && after == nil)
    try fixture.ask(.present("dock", id: "", .with(to: "bare")), by: "script")
    let ofShown = fixture.machine.keeper(of: fixture.machine.lastHandle)
    #expect(ofShown == nil)
    fixture.leave("script")
    _ = fixture.taken()
    fixture.load([Self.mixer()])
    #expect(fixture.taken() == [])
    try fixture.clearAway()
  }

  @Test("D1: a later request may say that state is meant")
  func present_againMeaningState_stays() throws {
    try fixture.ask(.present("mixer", id: "", ItemOptions()), by: "script")
    _ = try fixture.apply([Request(.present("mixer", id: "", ItemOptions()), meansState: true)], by: "script")
    fixture.leave("script")
    _ = fixture.taken()
    fixture.load([Self.mixer()])
    #expect(fixture.taken() == [])
    try fixture.clearAway()
  }

  @Test("D1, T1: a request may say that state is meant, also if its transaction dismisses the item before")
  func apply_dismissedAndPresentedMeaningState_stays() throws {
    try fixture.ask(.present("mixer", id: "", ItemOptions()), by: "script")
    let again = Request(.present("mixer", id: "", ItemOptions()), meansState: true)
    _ = try fixture.apply([Request(.dismiss("mixer")), again], by: "script")
    fixture.leave("script")
    _ = fixture.taken()
    fixture.load([Self.mixer()])
    #expect(fixture.taken() == [])
    try fixture.clearAway()
  }

  @Test("D1, G7: a remembered command of a tag is repeated, though a destination declares the tag meanwhile")
  func select_tagOfCommand_repeatsIt() throws {
    try fixture.show("x", "", .with(group: "panels", tag: "mixer", command: ["foot"]))
    try fixture.dismiss("x")
    fixture.goes(1)
    fixture.load([Self.mixer(group: "panels")])
    try ask(.select("panels", tag: "mixer", binding: nil, id: nil, ItemOptions()))
    #expect(fixture.shown == ["x"])
    try fixture.clearAway()
  }

  @Test("D1: a late item that is dismissed before its turn is not presented")
  func present_lateItemDismissed_endsForGood() throws {
    try presentAndLeave()
    try fixture.show("mixer.menu")
    fixture.take(fixture.machine.load([Self.mixer()]))
    let late = fixture.machine.lateItems(of: ["mixer"])
    #expect(late.map(\.handle) == [1])
    try fixture.dismiss("mixer")
    _ = fixture.taken()
    for item in late { fixture.take(fixture.machine.present(item, at: fixture.now)) }
    #expect(fixture.taken() == [])
    try fixture.clearAway()
  }

  @Test("D1, K4: an item that no client has asked for is kept by nobody")
  func load_itemOfNoClient_isPresented() throws {
    try fixture.present("mixer", by: nil)
    _ = fixture.taken()
    fixture.load([Self.mixer()])
    #expect(fixture.taken() == ["dismissed mixer replaced", "presenting mixer", "present 2 mixer"])
    try fixture.clearAway()
  }

  @Test("D1: an item ends if its destination, which appears late, would displace another member of a group")
  func load_groupIsBusy_ends() throws {
    try fixture.show("wifi", "", .with(group: "panels"))
    try presentAndLeave()
    fixture.load([Self.mixer(group: "panels")])
    #expect(fixture.taken().filter { !$0.hasPrefix("group") } == ["dismissed mixer replaced"])
    #expect(fixture.shown == ["wifi"])
    try fixture.clearAway()
  }

  @Test("D1: an item ends if its destination, which appears late, refuses it")
  func load_destinationRefuses_ends() throws {
    try presentAndLeave(.with(timeout: 50))
    var destination = Self.mixer()
    destination.isProtected = true
    fixture.load([destination])
    #expect(fixture.taken() == ["dismissed mixer replaced"])
    #expect(fixture.leftovers == [])
  }

  @Test("D1: the item of a tag is presented where the destination declares the tag")
  func load_nobodysTag_isPresented() throws {
    try fixture.ask(.select("panels", tag: "mixer", binding: nil, id: nil, ItemOptions()), by: "script")
    fixture.leave("script")
    _ = fixture.taken()
    fixture.load([Self.mixer(group: "panels")])
    #expect(
      fixture.taken().filter { !$0.hasPrefix("group") && !$0.hasPrefix("selection") }
        == ["dismissed panels.mixer dismissed", "presenting mixer", "present 2 mixer"])
    #expect(fixture.machine.selection(of: "panels") == "mixer")
    try fixture.clearAway()
  }

  @Test("D1: an item without a value, a title or a timeout gets that of its late destination")
  func load_itemSaysNothing_destinationDoes() throws {
    try presentAndLeave()
    var settings = ItemSettings()
    settings.options.value = ["level": .int32(7)]
    settings.options.title = "Volume"
    settings.options.timeout = 30
    var destination = Self.mixer()
    destination.itemSettings = Shared(settings)
    fixture.load([destination])
    let item = fixture.item("mixer")
    #expect(item?.value == ["level": .int32(7)] && item?.title == "Volume" && item?.timeout == 30)
    try fixture.clearAway()
  }

  @Test("D1, L3: a directory and an environment are not taken over, since others may have changed the item")
  func load_itemHasEnvironment_isLeftOut() throws {
    try presentAndLeave(.with(directory: "/tmp", environment: ["A": "b"]))
    fixture.load([Self.mixer()])
    #expect(fixture.item("mixer")?.environment == [:] && fixture.item("mixer")?.directory == nil)
    try fixture.clearAway()
  }

  // MARK: Requests for people

  @Test("D1: a request for a person presents an item that nothing shows by the destination that is there now")
  func known_itemWithoutDestination_isPresented() throws {
    let requests: [Request.Operation] = [
      .present("mixer", id: "", ItemOptions()), .toggle("mixer", id: "", ItemOptions(), anyID: false),
      .toggle("mixer", id: "", ItemOptions(), anyID: true), .present("mixer", id: "", .with(to: "mixer")),
      .push("s", "mixer", id: "", ItemOptions()), .setPath("s", [RequestedElement(binding: "mixer", id: "")]),
    ]
    for request in requests {
      let fixture = RulesFixture()
      let stack: BindingID? = if case .setPath = request { "s" } else { nil }
      try fixture.ask(.present("mixer", id: "", .with(stack: stack)), by: "bar")
      fixture.load([Self.mixer()])
      _ = fixture.taken()
      _ = try fixture.apply([Request(request, needsKnownName: true)])
      #expect(
        fixture.taken().filter { !$0.hasPrefix("path") }
          == ["dismissed mixer replaced", "presenting mixer", "present 2 mixer"], "\(request)")
      #expect(fixture.item("mixer")?.destination?.name == "mixer")
      try fixture.clearAway()
    }
  }

  @Test("D1: a program's request leaves an item that nothing shows as it is")
  func present_byProgram_isUpdated() throws {
    try fixture.present("mixer")
    fixture.load([Self.mixer()])
    _ = fixture.taken()
    #expect(try fixture.present("mixer", "", .with(title: "T")) == .presentation(1, changed: true))
    #expect(fixture.taken() == ["updated mixer"])
    #expect(fixture.refusal(.present("mixer", id: "", .with(to: "bare"))) == .invalidArgument)
    try fixture.clearAway()
  }

  @Test(
    "D1: selecting or toggling a tag presents its item where the destination declares the tag",
    arguments: [false, true])
  func known_tagWithoutDestination_isPresented(isToggled: Bool) throws {
    try fixture.ask(.select("panels", tag: "mixer", binding: nil, id: nil, ItemOptions()), by: "bar")
    fixture.load([Self.mixer(group: "panels")])
    _ = fixture.taken()
    try ask(
      isToggled
        ? .toggleSelection("panels", tag: "mixer", binding: nil, id: nil, ItemOptions())
        : .select("panels", tag: "mixer", binding: nil, id: nil, ItemOptions()))
    #expect(fixture.taken() == ["dismissed panels.mixer replaced", "presenting mixer", "present 2 mixer"])
    #expect(fixture.machine.selection(of: "panels") == "mixer")
    try fixture.clearAway()
  }

  @Test("D1: toggling the tag of an item that nothing shows presents it by the destination of its binding's name")
  func known_tagOfItemWithoutDestination_isPresented() throws {
    try fixture.ask(.select("panels", tag: "sound", binding: "mixer", id: nil, ItemOptions()), by: "bar")
    fixture.load([Self.mixer()])
    _ = fixture.taken()
    try ask(.toggleSelection("panels", tag: "sound", binding: nil, id: nil, ItemOptions()))
    #expect(fixture.taken() == ["dismissed mixer replaced", "presenting mixer", "present 2 mixer"])
    try fixture.clearAway()
  }

  @Test("D1: a toggle that has a command of its own ends an item that nothing shows")
  func known_toggleWithCommand_ends() throws {
    try fixture.ask(.select("panels", tag: "mixer", binding: nil, id: nil, ItemOptions()), by: "bar")
    fixture.load([Self.mixer(group: "panels")])
    try ask(.toggleSelection("panels", tag: "mixer", binding: nil, id: nil, .with(command: ["foot"])))
    #expect(fixture.shown == [])
    try fixture.clearAway()
  }

  @Test("D1, R5: while navd quits, no item is presented by a late destination")
  func load_duringQuit_isNoLateDestination() throws {
    try presentAndLeave()
    fixture.take(fixture.machine.load([Self.mixer()]))
    #expect(fixture.machine.lateItems(of: ["mixer"]).map(\.handle) == [1])
    // Items are still there while Quit takes several turns (L2).
    _ = fixture.machine.beginShutDown()
    #expect(fixture.machine.lateItems(of: ["mixer"]).isEmpty)
  }

  @Test("D1: the memory of a tag without a destination does not hide a late one")
  func known_rememberedTag_isPresented() throws {
    try fixture.ask(.select("panels", tag: "mixer", binding: nil, id: nil, ItemOptions()), by: "bar")
    try fixture.ask(.deselect("panels", tag: nil))
    fixture.load([Self.mixer(group: "panels")])
    _ = fixture.taken()
    try ask(.select("panels", tag: "mixer", binding: nil, id: nil, ItemOptions()))
    #expect(fixture.taken() == ["selection panels mixer", "presenting mixer", "present 2 mixer"])
    try fixture.clearAway()
  }

  @Test("D1, G9: a queued item without a destination is found by its tag, even where a destination declares the tag")
  func known_queuedTag_isSelected() throws {
    try fixture.ask(.present("note", id: "", .with(group: "panels")), by: "bar")
    try fixture.ask(.present("other", id: "", .with(group: "panels", tag: "mixer", ifBusy: .queue)), by: "bar")
    fixture.load([Self.mixer(group: "panels")])
    _ = fixture.taken()
    try ask(.select("panels", tag: "mixer", binding: nil, id: nil, ItemOptions()))
    #expect(fixture.machine.selection(of: "panels") == "mixer" && fixture.shown == ["other"])
    try fixture.clearAway()
  }

  // MARK: G7

  @Test("G7: the tag of an item that nobody keeps is forgotten when the item ends")
  func end_nobodysTag_isForgotten() throws {
    try fixture.ask(.select("panels", tag: "mixr", binding: nil, id: nil, ItemOptions()), by: "script")
    fixture.leave("script")
    _ = fixture.taken()
    #expect(fixture.machine.tags(of: "panels") == ["mixr"])
    try fixture.ask(.deselect("panels", tag: nil))
    #expect(fixture.taken() == ["selection panels -", "group panels ·", "dismissed panels.mixr deselected"])
    #expect(fixture.machine.groupNames.isEmpty)
  }

  @Test("G7: the tag is also forgotten when another member is selected, with one event for the group")
  func select_another_nobodysTagIsForgotten() throws {
    try fixture.ask(.select("panels", tag: "mixr", binding: nil, id: nil, ItemOptions()), by: "script")
    fixture.leave("script")
    _ = fixture.taken()
    try fixture.ask(.select("panels", tag: "wifi", binding: nil, id: nil, ItemOptions()))
    #expect(
      fixture.taken() == [
        "selection panels wifi", "group panels wifi ·", "dismissed panels.mixr deselected", "presented panels.wifi",
      ])
    try fixture.clearAway()
  }

  @Test("G7: a tag is remembered if a program has selected it, or a request that means state")
  func end_keptTag_isRemembered() throws {
    try fixture.ask(.select("panels", tag: "volume", binding: nil, id: nil, ItemOptions()), by: "bar")
    _ = try fixture.apply(
      [Request(.select("panels", tag: "wifi", binding: nil, id: nil, ItemOptions()), meansState: true)], by: "script")
    fixture.leave("script")
    try fixture.ask(.deselect("panels", tag: nil))
    #expect(fixture.machine.tags(of: "panels") == ["volume", "wifi"])
    try fixture.clearAway()
  }

  @Test(
    "G7: a tag is remembered with everything that selecting it would not have otherwise",
    arguments: [
      .with(value: ["x": .byte(1)]), .with(title: "T"), .with(to: "bare"), .with(command: ["sleep"]), .with(style: "s"),
      .with(timeout: 5),
    ] as [ItemOptions])
  func end_tagSaysSomething_isRemembered(options: ItemOptions) throws {
    try fixture.ask(.select("panels", tag: "volume", binding: nil, id: nil, options), by: "script")
    try fixture.ask(.deselect("panels", tag: nil))
    fixture.goes(1)
    fixture.leave("script")
    #expect(fixture.machine.tags(of: "panels") == ["volume"])
    try fixture.clearAway()
  }

  @Test("G7: a tag is remembered with an id, and with a binding of its own")
  func end_tagOfOtherItem_isRemembered() throws {
    for (binding, id) in [(nil, "7"), ("mixer", nil)] as [(BindingID?, String?)] {
      try fixture.ask(.select("panels", tag: "volume", binding: binding, id: id, ItemOptions()), by: "script")
      fixture.leave("script")
      try fixture.ask(.deselect("panels", tag: nil))
      #expect(fixture.machine.tags(of: "panels") == ["volume"])
      try fixture.ask(.forget("panels", tag: "volume"))
    }
  }
}
