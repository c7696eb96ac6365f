import DBusValues
import PresentationModel
import Testing
import TextFormats

@testable import navctl

// The state as text: trees, tables, the live view, graphs and the menu for rofi.

private func presentation(_ number: Int, _ binding: String, from parent: Int? = nil, since: Int? = nil)
  -> StateEntry
{
  var members: [String: JSON] = ["binding": .string(binding), "presentation": JSON(number), "phase": "presented"]
  members["parent"] = parent.map { JSON($0) }
  members["since"] = since.map { JSON($0) }
  return StateEntry(json: .object(members))
}

private func drawn(_ presentations: [StateEntry], limit: Int = .max) -> [String] {
  PresentationTree.lines(presentations, limit: limit).map { $0.branch + $0.entry.text(\.binding) }
}

@Test func presentationTree_children_areBelowTheirParents() {
  let presentations = [
    presentation(1, "a"), presentation(2, "b"), presentation(3, "a1", from: 1), presentation(4, "a2", from: 1),
    presentation(5, "a1x", from: 3), presentation(6, "a2x", from: 4), presentation(7, "b1", from: 2),
  ]
  #expect(drawn(presentations) == ["a", "├ a1", "│ └ a1x", "└ a2", "  └ a2x", "b", "└ b1"])
  #expect(drawn(presentations, limit: 3) == ["a", "├ a1", "│ └ a1x"])
}

@Test func presentationTree_missingParent_makesARoot() {
  #expect(drawn([presentation(5, "orphan", from: 1), presentation(6, "child", from: 5)]) == ["orphan", "└ child"])
  #expect(drawn([]) == [])
}

@Test func presentationTree_deepTree_isDrawnWithLimitedIndentation() {
  let presentations = (1...20_000).map { presentation($0, "b", from: $0 > 1 ? $0 - 1 : nil) }
  let lines = PresentationTree.lines(presentations)
  #expect(lines.count == 20_000)
  #expect(lines.allSatisfy { $0.branch.count <= 50 })
}

private let state = StateSnapshot(json: [
  "serial": 9,
  "presentations": [
    ["binding": "settings", "id": "", "presentation": 8, "phase": "presented", "stack": "main", "since": 1_000],
    [
      "binding": "settings.net", "id": "\u{1b}[2J", "presentation": 12, "phase": "presented", "stack": "main",
      "parent": 8, "since": 60_000,
    ],
    ["binding": "mixer", "id": "", "presentation": 13, "phase": "waiting", "group": "panels", "tag": "mixer"],
  ],
  "groups": [
    "panels": ["selection": "mixer", "tags": ["mixer", "wifi"], "queue": ["wifi"]],
    "none": ["tags": [], "queue": []],
  ],
  "stacks": ["main": [["binding": "settings", "id": ""], ["binding": "settings.net", "id": "\u{1b}[2J"]]],
])

@Test func stateTables_overview_isTreeGroupsAndStacks() {
  #expect(
    StateTables.overview(state, .aligned(colour: false), at: 126_000) == """
      NUMBER  BINDING         ID         PHASE      UP     GROUP   TAG    STACK
           8  settings                   presented  2m 5s                 main
          12  └ settings.net  \\u{1b}[2J  presented  1m 6s                 main
          13  mixer                      waiting           panels  mixer

      GROUP   SELECTED  QUEUE  TAGS
      none    –
      panels  mixer     wifi   mixer, wifi

      STACK  PATH
      main   settings › settings.net=\\u{1b}[2J

      """)
}

@Test func stateTables_emptyState_saysSoInTheLegend() {
  let nothing = StateSnapshot(json: ["presentations": [], "groups": [:], "stacks": [:]])
  #expect(StateTables.overview(nothing, .aligned(colour: true), at: 0) == "Nothing is open.\n")
  #expect(StateTables.overview(nothing, .aligned(colour: true, legend: false), at: 0) == "")
  #expect(!StateTables.overview(state, .aligned(colour: false, legend: false), at: 0).contains("NUMBER"))
}

// MARK: The live view

@Test func liveView_lines_fitTheScreen() {
  func lines(_ rows: Int, _ legend: Bool = true) -> [String] {
    LiveView.lines(
      .state(state), .aligned(colour: false, legend: legend, columns: 90), readsKeys: true, rows: rows, at: 126_000)
  }
  let all = lines(40)
  #expect(all.count == 13)
  #expect(all.prefix(2) == ["navd · serial 9 · 2 of 3 presented · press q to quit", ""])
  #expect(lines(13) == all)
  #expect(lines(12) == all.prefix(11) + ["… 2 more lines"])
  // Presentations beyond the limit count, too.
  #expect(lines(2) == all.prefix(1) + ["… 12 more lines"])
  #expect(lines(40, false).first == " 8  settings                   presented  2m 5s                 main")
}

@Test func liveView_withoutKeys_saysHowToEndIt() {
  let style = Table.Style.aligned(colour: false, columns: 90)
  for content in [LiveView.Content.state(state), .notRunning] {
    let first = LiveView.lines(content, style, readsKeys: false, rows: 40, at: 0).first
    #expect(first?.hasSuffix(" · press Ctrl-C to quit") == true, "\(first ?? "")")
  }
}

@Test func liveView_daemonNotRunning_saysSo() {
  let lines = LiveView.lines(.notRunning, .aligned(colour: false, columns: 20), readsKeys: true, rows: 24, at: 0)
  #expect(lines == ["navd is not running…"])
}

// MARK: The graph

@Test(arguments: [("a\"b", "a\\\"b"), ("\\N", "\\\\N"), ("&lt;", "&amp;lt;"), ("a\nb", "a\\\\nb"), ("<b>", "<b>")])
func escapedForGraphviz_specialCharacters_areEscaped(text: String, escaped: String) {
  #expect(text.escapedForGraphviz == escaped)
}

@Test func graph_state_isBoxesFramesAndArrows() {
  let text = GraphText.dot(state)
  #expect(text.contains("p12 [label=\"settings.net \\\\u{1b}[2J\", fillcolor=palegreen];"))
  #expect(text.contains("  p8 -> p12;\n"))
  #expect(text.contains("p13 [label=\"mixer\\nwaiting\", style=\"rounded,dashed\""))
  #expect(text.contains("subgraph cluster_group1 {\n    label=\"panels\""))
  #expect(text.contains("stack0 -> p8 [style=bold") && text.contains("p8 -> p12 [style=bold"))
}

// MARK: rofi

@Test func rofi_choice_isReadBackFromItsInfo() {
  let choices: [RofiMenu.Choice] = [
    .tag(group: "panels", "a \"tag\"\u{1F}"), .dismissal("notes[3].body", presentation: .max), .destination("mixer"),
  ]
  for choice in choices {
    #expect(RofiMenu.Choice(info: choice.info) == choice)
    #expect(choice.info.utf8.allSatisfy { $0 >= 0x20 })
  }
}

@Test(arguments: [
  "", "[", "[]", "[\"tag\",\"g\"]", "[\"dismiss\",\"a\",\"b\"]", "[\"present\",1]", "{}", "[\"quit\",\"a\"]",
])
func rofi_invalidInfo_isNoChoice(info: String) {
  #expect(RofiMenu.Choice(info: info) == nil)
}

@Test func window_inStatus_isALineOfWords() {
  func shown(_ properties: Properties) -> String { WindowProperties(reading: properties).shown }
  let window: Properties = [
    "app-id": .string("mixer"), "title": .string("pulsemixer"), "output": .string("HEADLESS-1"),
    "focused": .boolean(true),
    "floating": .boolean(true), "in-view": .boolean(true), "id": .string("7"),
  ]
  #expect(shown(window) == "mixer “pulsemixer”, on HEADLESS-1, focused floating")
  #expect(shown(["app-id": .string("mixer"), "in-view": .boolean(false)]) == "mixer, elsewhere")
}
