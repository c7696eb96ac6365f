import PresentationModel
import Testing

@testable import PresentationRules

/// Requests that need a known name: of a destination, a tag, or an item that is shown (D2, G7).
struct KnownNameTests {
  private let fixture = RulesFixture(destinations: [
    Destination(
      name: "mixer", presenter: .command([Array("foot".utf8)]), group: "panels", source: RulesFixture.file("mixer"))
  ])

  /// The refusal of a request that needs a known name; nil if it is carried out.
  private func refusal(_ operation: Request.Operation) -> Refusal? {
    do throws(Refusal) {
      _ = try fixture.apply([Request(operation, needsKnownName: true)])
      return nil
    } catch {
      return error
    }
  }

  @Test("D2: a name without a destination is refused, with the nearest one")
  func known_unknownName_isRefused() throws {
    let refusal = refusal(.present("mixr", id: "", ItemOptions()))
    #expect(refusal?.code == .unknownDestination)
    #expect(
      refusal?.message == "there is no destination “mixr”; did you mean “mixer”? Otherwise write "
        + "“navd/destinations/mixr.toml” in ~/.config, or in $XDG_CONFIG_HOME if that is set")
    #expect(self.refusal(.toggle("mixr", id: "", ItemOptions(), anyID: true))?.code == .unknownDestination)
    #expect(self.refusal(.push("s", "mixr", id: "", ItemOptions()))?.code == .unknownDestination)
    #expect(
      self.refusal(.setPath("s", [RequestedElement(binding: "cmd", id: ""), RequestedElement(binding: "x", id: "")]))?
        .code == .unknownDestination)
    #expect(fixture.shown == [])
  }

  @Test("D2: a destination whose file has a mistake is refused with the mistake")
  func known_nameOfAFileWithAMistake_isRefusedWithIt() throws {
    let mixer = Destination(name: "mixer", presenter: .none, source: RulesFixture.file("mixer"))
    fixture.load(
      [mixer], mistakes: ["osd": "/osd.toml:1:1: expected a value", "mixer": "/mixer.toml:1:1: expected a value"])
    let message = "there is no destination “osd”, since its file has a mistake: /osd.toml:1:1: expected a value"
    #expect(refusal(.present("osd", id: "", ItemOptions()))?.message == message)
    #expect(refusal(.present("note", id: "", .with(to: "osd")))?.message == message)
    #expect(refusal(.select("panels", tag: "osd", binding: nil, id: nil, ItemOptions()))?.message == message)
    #expect(
      refusal(.present("x", id: "", .with(to: "osd.toml")))?.message
        == message.replacing("“osd”", with: "“osd.toml”"))
    // The destination is in effect from an earlier text of the file.
    #expect(refusal(.present("mixer", id: "", ItemOptions())) == nil)
    fixture.load([mixer], mistakes: [:])
    #expect(refusal(.present("osd", id: "", ItemOptions()))?.message.contains("mistake") == false)
  }

  @Test("D2: a destination, a command, and the name of an item that is open are known")
  func known_knownName_isPresented() throws {
    #expect(refusal(.present("mixer", id: "", ItemOptions())) == nil)
    #expect(refusal(.present("a", id: "", .with(to: "bare"))) == nil)
    #expect(refusal(.present("b", id: "", .with(command: ["sleep"]))) == nil)
    try fixture.present("note", "1")
    #expect(refusal(.present("note", id: "1", ItemOptions())) == nil)
    #expect(refusal(.present("note", id: "2", ItemOptions()))?.code == .unknownDestination)
    #expect(refusal(.toggle("note", id: "", ItemOptions(), anyID: true)) == nil)
    #expect(fixture.shown == ["a", "b", "mixer"])
  }

  @Test("G7: a tag is known if a destination declares it, its member is shown, or a request says how to show it")
  func known_tag_isSelectedIfItIsKnown() throws {
    func select(_ group: BindingID, _ tag: String, _ options: ItemOptions = ItemOptions()) -> Refusal? {
      refusal(.select(group, tag: tag, binding: nil, id: nil, options))
    }
    #expect(select("panels", "mixr")?.message == "the group “panels” has no tag “mixr”; did you mean “mixer”?")
    #expect(select("pannels", "mixer")?.message == "there is no group “pannels”; did you mean “panels”?")
    #expect(select("panels", "mixr")?.code == .unknownTag)
    #expect(select("panels", "mixer") == nil)
    #expect(select("panels", "other", .with(to: "bare")) == nil)
    try fixture.ask(.select("panels", tag: "drawn", binding: nil, id: nil, ItemOptions()))
    #expect(select("panels", "drawn") == nil)
    try fixture.ask(.deselect("panels", tag: nil))
    #expect(select("panels", "drawn")?.code == .unknownTag)
    try fixture.ask(.select("panels", tag: "run", binding: nil, id: nil, .with(command: ["sleep"])))
    try fixture.ask(.deselect("panels", tag: nil))
    #expect(select("panels", "run") == nil, "the group remembers the command")
  }

  @Test("G7: the tag of a shell that has left is refused, as its name is, and is none of the group's")
  func known_tagOfShellThatLeft_isRefused() throws {
    try fixture.register(RulesFixture.bus("calendar", group: "panels", source: .client("shell")), by: "shell")
    let toggle = Request.Operation.toggleSelection("panels", tag: "calendar", binding: nil, id: nil, ItemOptions())
    #expect(refusal(toggle) == nil)
    try fixture.ask(.deselect("panels", tag: nil))
    #expect(fixture.machine.tags(of: "panels") == ["calendar", "mixer"])
    fixture.leave("shell")
    #expect(fixture.machine.tags(of: "panels") == ["mixer"])
    #expect(refusal(toggle)?.code == .unknownDestination)
    #expect(refusal(toggle)?.message.hasPrefix("the tag “calendar” was last presented by") == true)
    #expect(refusal(.toggle("calendar", id: "", ItemOptions(), anyID: true))?.code == .unknownDestination)
    try fixture.ask(.forget("panels", tag: "calendar"))
    #expect(refusal(toggle)?.code == .unknownTag)
    try fixture.ask(toggle)
    #expect(fixture.machine.selection(of: "panels") == "calendar", "a request that needs no known name")
  }

  @Test("G7: a forgotten tag is unknown; a tag that a destination declares stays")
  func forget_tag_isUnknown() throws {
    try fixture.ask(.select("panels", tag: "mixr", binding: nil, id: nil, ItemOptions()))
    try fixture.ask(.select("panels", tag: "mixer", binding: nil, id: nil, ItemOptions()))
    _ = fixture.taken()
    #expect(try fixture.ask(.forget("panels", tag: "mixr")) == .changed(true))
    #expect(try fixture.ask(.forget("panels", tag: "mixr")) == .changed(false))
    #expect(try fixture.ask(.forget("panels", tag: "mixer")) == .changed(true))
    #expect(fixture.taken() == [])
    #expect(fixture.machine.selection(of: "panels") == "mixer")
    #expect(refusal(.select("panels", tag: "mixr", binding: nil, id: nil, ItemOptions()))?.code == .unknownTag)
  }

  @Test("T1: a tag that a transaction forgets and selects again is remembered anew")
  func forget_andSelect_isRemembered() throws {
    try fixture.ask(.select("g", tag: "x", binding: nil, id: "1", ItemOptions()))
    let select = Request.Operation.select("g", tag: "x", binding: nil, id: nil, ItemOptions())
    _ = try fixture.apply([.deselect("g", tag: nil), .forget("g", tag: "x"), select].map { Request($0) })
    #expect(fixture.shown == ["g.x"])
    let key = GroupTag(group: "g", tag: "x")
    #expect(fixture.machine.state.tagMemory[key] != nil)
    _ = try fixture.apply([.forget("g", tag: "x"), select, .forget("g", tag: "x")].map { Request($0) })
    #expect(fixture.machine.state.tagMemory[key] == nil)
  }
}
