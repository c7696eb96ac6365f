import PresentationModel
import Testing

@testable import PresentationRules

/// Outputs on which items appear, and groups for each output (U1 to U3).
struct OutputTests {
  private let fixture = RulesFixture(destinations: [
    OutputTests.destination("files", window: WindowFollowing()),
    OutputTests.destination("panel", window: WindowFollowing(endsWithOutput: true)),
    OutputTests.destination("volume", group: "panels-{output}"),
    OutputTests.destination("wifi", group: "panels-{output}"),
  ])

  private static func destination(
    _ name: String, group: String? = nil, window: WindowFollowing? = nil
  ) -> Destination {
    var destination = Destination(
      name: name, presenter: .command([[1]]), source: RulesFixture.file(name), window: window)
    destination.group = group.map(DestinationGroup.perOutput)
    return destination
  }

  @Test("U3, G7: a group without a place for the output's name is one group, in which the destination declares its tag")
  func group_withoutPlaceForOutput_isOne() throws {
    var destination = Self.destination("volume")
    destination.group = try DestinationGroup("panels")
    #expect(try destination.declaredTag()?.group == "panels")
    destination.group = try DestinationGroup("panels-{output}")
    #expect(try destination.declaredTag() == nil)
    #expect(throws: Refusal.self) { try DestinationGroup("panels {output}") }
  }

  // MARK: The option

  @Test("U1, U2: the same id with another output, or with none in particular, is an update, which moves the windows")
  func output_changed_movesWindows() throws {
    try fixture.show("files", "", .with(output: "DP-1"))
    #expect(fixture.item("files")?.output == "DP-1")
    try fixture.present("files", "", .with(output: "DP-2"))
    #expect(fixture.taken() == ["updated files", "move 1"])
    try fixture.present("files", "", .with(output: "DP-2"))
    try fixture.present("files", "", .with(title: nil))
    #expect(fixture.taken() == [])
    try fixture.present("files", "", .with(output: ""))
    #expect(fixture.item("files")?.output == nil)
    #expect(fixture.taken() == ["updated files", "move 1"])
  }

  @Test(
    "U2: an item without a window is moved when it has one; a waiting item begins on its output; others are only told")
  func output_changedBeforeWindow_isNotLost() throws {
    try fixture.present("files", "", .with(output: "DP-1"))
    try fixture.present("files", "", .with(output: "DP-2"))
    #expect(fixture.taken() == ["presenting files", "present 1 files", "updated files", "move 1"])
    try fixture.show("other", "", .with(to: "cmd", output: "DP-1"))
    try fixture.present("other", "", .with(output: "DP-2"))
    #expect(fixture.taken() == ["updated other"])
    try fixture.present("files.child", "", .with(to: "files", output: "DP-1"))
    try fixture.present("files.child", "", .with(output: "DP-2"))
    #expect(fixture.taken() == ["waiting files.child", "updated files.child"])
  }

  @Test("U1: where windows cannot be moved, an output is refused for items that follow windows, and for no others")
  func output_whereNothingMoves_isRefused() throws {
    func ask(_ operation: Request.Operation) throws(Refusal) {
      var request = Request(operation)
      request.whyNoMoving = "moving needs …"
      _ = try fixture.apply([request])
    }
    let refusal = #expect(throws: Refusal.self) { try ask(.present("files", id: "", .with(output: "DP-1"))) }
    #expect(refusal?.code == .notSupported)
    #expect(refusal?.message == "moving needs …")
    #expect(fixture.shown == [])
    try ask(.present("files", id: "", ItemOptions()))
    try ask(.present("files", id: "", .with(output: "")))
    try ask(.present("other", id: "", .with(to: "cmd", output: "DP-1")))
    #expect(fixture.shown == ["files", "other"])
  }

  @Test("L1: an output is as long as an id at most")
  func output_tooLong_isRefused() {
    let text = String(repeating: "o", count: Limits().text + 1)
    #expect(fixture.refusal(.present("files", id: "", .with(output: text))) == .limitExceeded)
  }

  // MARK: A group for each output

  @Test("U3: a group for each output has one member open on each")
  func group_perOutput_isExclusiveOnEach() throws {
    try fixture.show("volume", "", .with(output: "DP-1"))
    #expect(fixture.item("volume")?.membership == GroupTag(group: "panels-DP-1", tag: "volume"))
    try fixture.show("wifi", "", .with(output: "DP-2"))
    #expect(fixture.shown == ["volume", "wifi"])
    try fixture.present("panels.second", "", .with(to: "wifi", output: "DP-1"))
    #expect(fixture.ending(1)?.reason ?? fixture.machine.presentation(1)?.phase.dismissal?.reason == .deselected)
    #expect(fixture.shown == ["panels.second", "wifi"])
    #expect(fixture.machine.selection(of: "panels-DP-1") == "panels.second")
  }

  @Test("U3: the group remembers the output with the request, and the destination declares no tag")
  func group_perOutput_remembersOutput() throws {
    #expect(fixture.machine.groupNames.isEmpty)
    try fixture.show("volume", "", .with(output: "DP-1"))
    fixture.goes(1)
    try fixture.dismiss("volume")
    try fixture.ask(.select("panels-DP-1", tag: "volume", binding: nil, id: nil, ItemOptions()))
    #expect(fixture.item("volume")?.output == "DP-1")
    #expect(fixture.item("volume")?.destination?.name == "volume")
  }

  @Test("U3: without an output there is no group, and the request is refused; a group in the request needs none")
  func group_perOutputWithoutOutput_isRefused() throws {
    let refusal = #expect(throws: Refusal.self) { try fixture.present("volume") }
    #expect(refusal?.code == .invalidArgument)
    #expect(
      refusal?.message
        == "the destination has the group “panels-{output}”, so its items need an output; give one, or “focused” for the one "
        + "with the focus (navctl: --output focused)")
    try fixture.present("volume", "", .with(group: "g"))
    #expect(fixture.item("volume")?.membership?.group == "g")
    try fixture.present("volume", "", .with(output: "DP-1"))
    #expect(fixture.item("volume")?.membership?.group == "g")
  }

  @Test("U3, P3: in a group for each output, the same id on another output replaces the item")
  func group_perOutput_otherOutputReplaces() throws {
    try fixture.show("volume", "", .with(output: "DP-1"))
    try fixture.show("wifi", "", .with(output: "DP-2"))
    try fixture.present("volume", "", .with(output: "DP-2"))
    #expect(fixture.item("volume")?.membership?.group == "panels-DP-2")
    #expect(fixture.machine.presentation(1)?.phase.dismissal?.reason == .replaced)
    #expect(fixture.machine.presentation(2)?.phase.dismissal?.reason == .deselected)
    #expect(fixture.handle("volume") == 3)
    #expect(fixture.machine.selection(of: "panels-DP-1") == nil)
    // A request that names no other output is an update.
    try fixture.present("volume", "", .with(title: "Volume"))
    #expect(fixture.handle("volume") == 3)
  }

  @Test("N11: a toggle that names another output than the item's shows it there")
  func toggle_ofOtherOutput_showsItThere() throws {
    try fixture.show("volume", "", .with(output: "DP-1"))
    #expect(
      try fixture.ask(.toggle("volume", id: "", .with(output: "DP-2"), anyID: false)) == .toggled(presented: true, 2))
    try fixture.show("files", "", .with(output: "DP-1"))
    #expect(
      try fixture.ask(.toggle("files", id: "", .with(output: "DP-2"), anyID: false)) == .toggled(presented: true, 3))
    #expect(fixture.item("files")?.output == "DP-2")
    #expect(
      try fixture.ask(.toggle("files", id: "", .with(output: "DP-2"), anyID: false)) == .toggled(presented: false, nil))
  }

  @Test(
    "U3: characters that a binding cannot have are replaced",
    arguments: [("DP-1", "p-DP-1"), ("DP-0.8", "p-DP-0_8"), ("é {output}", "p-___output_")])
  func group_ofStrangeOutput_isBinding(_ output: String, _ group: String) throws {
    #expect(try DestinationGroup("p-{output}").binding(on: output).text == group)
  }

  @Test("U3: a text that gives no binding is no group", arguments: ["{output", "a.{output}.", "{id}", "a {output}"])
  func group_withoutBinding_isRefused(_ text: String) {
    #expect(throws: Refusal.self) { try DestinationGroup(text) }
  }

  @Test("U3: with output-gone, an item on an output that is unplugged ends, and may decline")
  func outputGone_endsItem() throws {
    try fixture.present("panel")
    fixture.report(.outputGone(1))
    #expect(fixture.phase(1) == "presenting", "no window of it has been on the output")
    try fixture.clearAway()
    let files = try fixture.show("files", "", ItemOptions())
    let panel = try fixture.show("panel", "", ItemOptions())
    fixture.report(.outputGone(files))
    #expect(fixture.taken() == [])
    fixture.report(.outputGone(panel))
    #expect(fixture.taken() == ["dismissing panel", "dismiss \(panel) output-gone"])
    fixture.declines(panel)
    #expect(fixture.shown == ["files", "panel"])
    fixture.report(.outputGone(panel))
    fixture.goes(panel)
    #expect(fixture.ending(panel)?.reason == .outputGone)
  }
}
