// Why this file exists: `graph`, the state as a picture.

import ArgumentParser
import CoordinatorAPI
import TextFormats

struct Graph: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "graph", "Write what is presented as a graph, for Graphviz.",
    """
    Boxes are presentations, by their phase; arrows lead from parents to children, bold ones up a stack; a frame is a \
    group. “navctl graph | dot -Tsvg >state.svg” makes a picture of it.
    """)

  @OptionGroup var global: GlobalOptions
  @Option(help: "Only of this group.", completion: .groups) var group: String?
  @Option(help: "Only of this stack.", completion: .stacks) var stack: String?

  func validate() throws {
    if global.json { throw ValidationError("a graph is written for Graphviz; “navctl list --json” has all of it") }
  }

  func run() throws {
    let daemon = try Daemon(global, "graph")
    let state = StateFilter(group: group, stack: stack).apply(try daemon.state())
    global.write(json: .null, plain: GraphText.dot(state))
  }
}
