import PresentationModel
import Testing

@testable import PresentationRules

/// Places and sizes of windows that a request gives (N15).
struct PlacementTests {
  private static let written = WindowPlacement(.anchor(.left), margin: 20, takesFocus: false)
  private let fixture = RulesFixture(destinations: [
    Destination(
      name: "mixer", presenter: .command([[1]]), source: RulesFixture.file("mixer"),
      window: WindowFollowing(placement: PlacementTests.written)),
    Destination(name: "plain", presenter: .command([[1]]), source: RulesFixture.file("plain")),
  ])

  private func options(_ placement: WindowPlacement, command: InlineCommand? = nil) -> ItemOptions {
    var options = ItemOptions()
    options.placement = placement
    options.command = command
    return options
  }

  private func placement(of handle: Handle) -> WindowPlacement? {
    fixture.machine.presentation(handle)?.item.content.following?.placement
  }

  @Test("N15: each key of the request takes precedence over that of the file, and the others stay")
  func placement_ofRequest_overridesTheFile() throws {
    let handle = try fixture.show("mixer", "", options(WindowPlacement(.anchor(.right), takesFocus: true)))
    #expect(placement(of: handle) == WindowPlacement(.anchor(.right), margin: 20, takesFocus: true))
  }

  @Test("P2, N15: the same id with another placement moves the windows; the same one does nothing")
  func placement_ofTheSameID_isAnUpdate() throws {
    let handle = try fixture.show("mixer", "", ItemOptions())
    _ = fixture.taken()
    try fixture.present("mixer", "", options(WindowPlacement(.pointer)))
    #expect(fixture.taken() == ["updated mixer", "move 1"])
    #expect(placement(of: handle)?.place == .pointer)
    try fixture.present("mixer", "", options(WindowPlacement(.pointer)))
    try fixture.present("mixer", "", ItemOptions())
    #expect(fixture.taken() == [])
  }

  @Test("N15: a command of a request that is placed is followed by its windows")
  func placement_ofACommand_followsItsWindows() throws {
    let command = InlineCommand(arguments: [[1]])
    let handle = try fixture.show("clock", "", options(WindowPlacement(.pointer), command: command))
    #expect(placement(of: handle) == WindowPlacement(.pointer))
    var plain = ItemOptions()
    plain.command = command
    try fixture.present("clock", "", plain)
    #expect(placement(of: handle) == WindowPlacement(.pointer))
  }

  @Test("N15: a margin without a place, of the request or of the file, is refused")
  func placement_marginWithoutPlace_isRefused() throws {
    let margin = WindowPlacement(margin: 5)
    let command = InlineCommand(arguments: [[1]])
    #expect(fixture.refusal(.present("clock", id: "", options(margin, command: command))) == .invalidArgument)
    try fixture.present("clock", "", options(margin.overridden(by: WindowPlacement(.anchor(.top))), command: command))
    let handle = try fixture.show("mixer", "", options(margin))
    #expect(placement(of: handle)?.margin == 5)
  }

  @Test("N15: a placement of an item without windows is refused")
  func placement_withoutWindows_isRefused() throws {
    for options in [options(Self.written), .with(to: "plain")] {
      var options = options
      options.placement = Self.written
      #expect(fixture.refusal(.present("note", id: "", options)) == .invalidArgument)
    }
    try fixture.present("note", "", ItemOptions())
    #expect(fixture.refusal(.present("note", id: "", options(Self.written))) == .invalidArgument)
  }
}
