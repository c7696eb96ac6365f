import PresentationModel
import Testing

@testable import PresentationRules

/// Bringing windows that are shown elsewhere to where their user is (N11).
@Suite struct HereTests {
  let fixture = RulesFixture(destinations: [
    HereTests.destination("plain"), HereTests.destination("pad", comesHere: true),
    HereTests.destination("member", group: "g"),
  ])

  private static func destination(_ name: String, comesHere: Bool = false, group: BindingID? = nil) -> Destination {
    Destination(
      name: name, presenter: .command([Array("x".utf8)]), group: group,
      source: RulesFixture.file(name), window: WindowFollowing(comesHere: comesHere))
  }

  private let toggle = Request.Operation.toggle("plain", id: "", ItemOptions(), anyID: false)
  private let away = WindowPlaces.Place(isOutOfView: true, outputs: ["one"])

  @discardableResult
  private func ask(
    _ operation: Request.Operation, _ places: [Handle: WindowPlaces.Place], focused: String? = "one",
    here: Bool? = nil, raises: Bool = false
  ) throws -> Reply {
    var request = Request(operation, raises: raises, bringsHere: here)
    request.places = WindowPlaces(focusedOutput: focused, places)
    return try fixture.apply([request])[0]
  }

  @Test("N11: a toggle brings an item that is out of view, and dismisses one in view")
  func toggle_outOfView_brings() throws {
    try fixture.show("plain", "", .with(to: "plain"))
    #expect(try ask(toggle, [1: away]) == .toggled(presented: true, 1))
    #expect(fixture.taken() == ["bring 1"])
    #expect(try ask(toggle, [1: .init(outputs: ["one"])]) == .toggled(presented: false, nil))
    #expect(fixture.taken() == ["dismissing plain", "dismiss 1 dismissed"])
  }

  @Test("N11: with raise, the user goes to where the item is; with raise and here, the item comes")
  func toggle_outOfViewWithRaise_raises() throws {
    try fixture.show("plain", "", .with(to: "plain"))
    try ask(toggle, [1: away], raises: true)
    #expect(fixture.taken() == ["raise 1"])
    try ask(toggle, [1: away], here: true, raises: true)
    #expect(fixture.taken() == ["bring 1"])
  }

  @Test("N7: an item out of view is raised, though nobody has told yet that it has lost the focus")
  func toggle_outOfViewWithFocus_raises() throws {
    try fixture.show("plain", "", .with(to: "plain"))
    fixture.report(.focused(1, isOwn: false))
    try ask(toggle, [1: away], raises: true)
    #expect(fixture.taken() == ["raise 1"])
    #expect(try ask(toggle, [1: .init()], raises: true) == .toggled(presented: false, nil))
  }

  @Test("N11: here brings an item that is in view on another output; without it, a toggle dismisses the item")
  func here_inViewOnOtherOutput_brings() throws {
    try fixture.show("plain", "", .with(to: "plain"))
    let there: [Handle: WindowPlaces.Place] = [1: .init(outputs: ["two"])]
    try ask(toggle, there, here: true)
    try ask(.present("plain", id: "", ItemOptions()), there, here: true)
    #expect(fixture.taken() == ["bring 1", "bring 1"])
    try ask(.present("plain", id: "", ItemOptions()), there)
    try ask(toggle, there, focused: nil, here: false)
    #expect(fixture.taken() == ["dismissing plain", "dismiss 1 dismissed"])
  }

  @Test("N11: a destination may say here for its requests; the request has the last word")
  func here_ofDestination_isForItsRequests() throws {
    try fixture.show("pad", "", .with(to: "pad"))
    let there: [Handle: WindowPlaces.Place] = [1: .init(outputs: ["two"])]
    try ask(.present("pad", id: "", ItemOptions()), there)
    #expect(fixture.taken() == ["bring 1"])
    try ask(.present("pad", id: "", ItemOptions()), there, here: false)
    #expect(fixture.taken() == [])
  }

  @Test("N11: windows come to the named output; where they are counts, and not what was asked for")
  func toggle_withOutput_bringsThere() throws {
    try fixture.show("plain", "", .with(to: "plain"))
    let to = Request.Operation.toggle("plain", id: "", .with(output: "two"), anyID: false)
    try ask(to, [1: .init(outputs: ["one"])])
    #expect(fixture.taken() == ["updated plain", "move 1", "bring 1 to two"])
    // The user has moved the window back.
    try ask(to, [1: .init(outputs: ["one"])], focused: "two")
    #expect(fixture.taken() == ["bring 1"])
    #expect(try ask(to, [1: .init(outputs: ["two"])]) == .toggled(presented: false, nil))
  }

  @Test("N11: a member that is out of view comes, and stays selected")
  func toggleSelection_outOfView_brings() throws {
    try fixture.show("member", "", .with(to: "member"))
    let toggle = Request.Operation.toggleSelection("g", tag: "member", binding: nil, id: nil, ItemOptions())
    #expect(try ask(toggle, [1: away]) == .selected(true))
    #expect(fixture.taken() == ["bring 1"])
    #expect(try ask(toggle, [:]) == .selected(false))
  }

  @Test("N11: an item that has no windows, has not opened, or ends, is brought nowhere")
  func here_withoutWindows_changesNothing() throws {
    try fixture.show("cmd")
    try ask(.present("cmd", id: "", ItemOptions()), [1: away], here: true)
    try fixture.present("plain", "", .with(to: "plain"))
    _ = fixture.taken()
    try ask(.present("plain", id: "", ItemOptions()), [2: away], here: true)
    #expect(fixture.taken() == [])
    #expect(try ask(toggle, [2: away]) == .toggled(presented: false, nil))
  }

  @Test("N11, T1: an item that the same transaction shows anew is not elsewhere")
  func toggle_ofWhatIsShownAnew_dismisses() throws {
    try fixture.show("plain", "", .with(to: "plain"))
    var again = Request(toggle)
    again.places = WindowPlaces([1: away])
    try fixture.apply([Request(.dismiss("plain")), Request(.present("plain", id: "b", .with(to: "plain"))), again])
    #expect(fixture.shown == ["plain"])
  }
}
