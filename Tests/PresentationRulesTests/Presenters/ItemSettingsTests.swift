import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

/// Settings of a destination for its items: id, title, value and timeout (D13).
struct ItemSettingsTests {
  private let fixture = RulesFixture(destinations: [Self.destination("osd"), Self.destination("other", id: "o")])

  private static func destination(_ name: String, id: String = "main") -> Destination {
    var settings = ItemSettings()
    settings.id = id
    settings.options.title = "Volume"
    settings.options.value = ["level": .int64(40)]
    settings.options.timeout = 2000
    return Destination(
      name: name, presenter: .command([Array("osd".utf8)]), source: RulesFixture.file(name),
      itemSettings: Shared(settings))
  }

  @Test("D13: an item has the id, title, value and timeout of its destination, if its request gives none")
  func present_bare_hasThoseOfTheDestination() throws {
    try fixture.show("osd", "", ItemOptions())
    let item = try #require(fixture.item("osd"))
    #expect(item.id == "main")
    #expect(item.title == "Volume")
    #expect(item.value == ["level": .int64(40)])
    fixture.pass(2000)
    fixture.goes(1)
    #expect(fixture.ending(1)?.reason == .expired)
  }

  @Test("D13: the settings that a request gives count, also an empty value and no timeout")
  func present_given_counts() throws {
    try fixture.show("osd", "7", .with(value: [:], title: "T", timeout: 0))
    let item = try #require(fixture.item("osd"))
    #expect(item.id == "7" && item.title == "T" && item.value == [:] && item.timeout == nil)
    try fixture.clearAway()
  }

  @Test("D13: a repeated request keeps the settings that an earlier one gave, and starts the timeout again")
  func present_again_startsTheTimeoutAgain() throws {
    try fixture.show("osd", "", .with(title: "T"))
    fixture.pass(1500)
    #expect(try fixture.present("osd") == .presentation(1, changed: false))
    fixture.pass(1500)
    #expect(fixture.shown == ["osd=main"])
    #expect(fixture.item("osd")?.title == "T")
    fixture.pass(500)
    fixture.goes(1)
    #expect(fixture.ending(1)?.reason == .expired)
    // No timeout starts where a request has removed it.
    try fixture.show("osd", "", .with(timeout: 0))
    try fixture.present("osd")
    fixture.pass(10_000)
    #expect(fixture.shown == ["osd=main"])
    try fixture.clearAway()
  }

  @Test("D13: an item has the id of the destination that it began with")
  func present_idOfTheDestination_isTheSameItem() throws {
    try fixture.show("a", "", .with(to: "other"))
    #expect(try fixture.present("a") == .presentation(1, changed: false))
    #expect(try fixture.present("a", "o") == .presentation(1, changed: false))
    #expect(try fixture.present("a", "", .with(to: "other")) == .presentation(1, changed: false))
    fixture.load([Self.destination("osd"), Self.destination("other", id: "new")])
    #expect(try fixture.present("a", "", .with(to: "other")) == .presentation(1, changed: false))
    try fixture.clearAway()
  }

  @Test("D13: toggling and setting a path compare with the id of the destination")
  func toggle_bare_closesIt() throws {
    try fixture.show("osd", "", ItemOptions())
    #expect(try fixture.ask(.toggle("osd", id: "", ItemOptions(), anyID: false)) == .toggled(presented: false, nil))
    try fixture.clearAway()
    let path = Request.Operation.setPath(
      "s", [RequestedElement(binding: "osd", id: "", options: ItemOptions())])
    #expect(try fixture.ask(path) == .path([2]))
    #expect(try fixture.ask(path) == .path([2]))
    try fixture.clearAway()
  }

  @Test("D13: a setting that a request could not give is a mistake in a destination, too")
  func settings_beyondLimits_areRefused() throws {
    var settings = ItemSettings()
    settings.options.value = ["a b": .int64(1)]
    #expect(throws: Refusal.self) { try fixture.machine.check(settings) }
    settings.options.value = nil
    settings.id = String(repeating: "x", count: 5000)
    #expect(throws: Refusal.self) { try fixture.machine.check(settings) }
  }
}
