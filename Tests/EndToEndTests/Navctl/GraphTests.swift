import CoordinatorAPI
import DBusValues
import TestSupport
import Testing

// navctl graph, as Graphviz draws it.

private typealias Rows = CoordinatorInterface

@Test("navctl graph: Graphviz draws parents, groups, stacks and phases, and special characters unchanged")
func navctl_graph_isDrawnByGraphviz() throws {
  let session = try Session(destinations: [
    "slow":
      "command = [\"sh\", \"-c\", \"trap '' TERM; echo >>$NAVD_TEST_JOURNAL; sleep 60 & wait\"]\ngrace = \"1h\"\n",
    "wifi": "group = \"panels\"\n",
  ])
  // The graph of an empty state is drawn first.
  let nothing = try session.graph()
  #expect(nothing.nodes == ["wifi"])

  let hostile = [
    "\"quoted\" \\", "\\N \\G \\l \\\\", "&lt;b&gt; <b>", "a\nb\t\u{1b}[2J", "]; evil [label=\"x\"", "<<i>x</i>>",
  ]
  try session.present("settings", "", ["stack": .string("main")])
  try session.present("settings.net", "", ["stack": .string("main")])
  for (index, id) in hostile.enumerated() {
    try session.present("hostile[\(index)]", id, ["from": .string("settings"), "title": .string(id)])
  }
  try session.call(Rows.select, ("panels", "wifi", [:]))
  try session.present(
    "mixer", "", ["group": .string("panels"), "tag": .string("a \"tag\" \\"), "if-busy": .string("queue")])
  let slow = try session.present("slow")
  try session.call(Rows.wait, (slow, "presented"))
  try session.wait("it ignores SIGTERM") { !session.journalLines.isEmpty }
  try session.dismiss("slow")
  try session.present("child", "", ["from": .string("settings.net")])

  let graph = try session.graph()
  for (index, id) in hostile.enumerated() {
    let text = id.replacing("\n", with: "\\n").replacing("\t", with: "\\t").replacing("\u{1b}", with: "\\u{1b}")
    #expect(graph.nodes.contains("hostile[\(index)] \(text)\n\(text)"), "\(id)")
  }
  #expect(graph.nodes.contains("slow\ndismissing"))
  #expect(graph.nodes.contains("mixer\nwaiting"))
  #expect(graph.nodes.contains("next: a \"tag\" \\"))
  #expect(graph.edges.contains(["settings", "settings.net"]))
  #expect(graph.edges.contains(["settings.net", "child"]))
  #expect(graph.edges.contains(["main", "settings"]))
  #expect(graph.edges.filter { $0.first == "settings" }.count == hostile.count + 2)
  #expect(graph.frames == ["panels"])
  #expect(try session.graph("--group", "panels").nodes == ["wifi", "mixer\nwaiting", "next: a \"tag\" \\"])
  #expect(
    try session.graph("--stack", "main").edges.sorted { $0[0] < $1[0] } == [
      ["main", "settings"], ["settings", "settings.net"], ["settings", "settings.net"],
    ])
  #expect(try session.navctl("graph", "--json").exitCode == 2)
}

/// The texts in a drawing by Graphviz.
private struct Drawing {
  var nodes: [String] = []
  var edges: [[String]] = []
  var frames: [String] = []

  /// - Parameter svg: the output of Graphviz: a `g` with a class for each node, edge and frame.
  init(_ svg: String) throws {
    var names: [String: String] = [:]
    for part in svg.split(separator: "<g id=") {
      func texts(_ pattern: Regex<(Substring, Substring)>) -> [String] {
        part.matches(of: pattern).map { Self.unescaped(String($0.output.1)) }
      }
      let title = texts(#/<title>([^<]*)</title>/#).first ?? ""
      let lines = texts(#/<text [^>]*>([^<]*)</text>/#).joined(separator: "\n")
      if part.contains("class=\"node\"") {
        nodes.append(lines)
        names[title] = lines.split(separator: "\n").first.map(String.init)
      } else if part.contains("class=\"cluster\"") {
        frames.append(lines)
      } else if part.contains("class=\"edge\"") {
        edges.append(title.split(separator: "->").map(String.init))
      }
    }
    edges = edges.map { $0.map { names[$0] ?? $0 } }
  }

  private static func unescaped(_ text: String) -> String {
    var text = text
    for (name, character) in [
      ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#45;", "-"), ("&#160;", "\u{A0}"),
    ] {
      text = text.replacing(name, with: character)
    }
    return text.replacing("&amp;", with: "&")
  }
}

extension Session {
  /// The drawing of `navctl graph`, made by `dot`.
  fileprivate func graph(_ options: String...) throws -> Drawing {
    let run = try run(program: Self.program("navctl"), ["graph"] + options)
    try #require(run.exitCode == 0, "\(run.errorText)")
    let dot = try self.run(program: "/usr/bin/dot", ["-Tsvg"], input: run.outputText)
    #expect(dot.exitCode == 0 && dot.errorText == "", "\(dot.errorText)\n\(run.outputText)")
    return try Drawing(dot.outputText)
  }
}
