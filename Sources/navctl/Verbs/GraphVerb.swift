import ArgumentParser
import TextFormats

struct Graph: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "graph", "Draw what is open as a graph, for Graphviz.",
    """
    Boxes are what is open, coloured by phase. Arrows lead from parents to children, bold ones up a stack. A frame is a \
    group. To make a picture: navctl graph | dot -Tsvg >state.svg
    """)

  @OptionGroup var global: GlobalOptions
  @Option(help: "Draw only members of this group.", completion: .groups) var group: String?
  @Option(help: "Draw only members of this stack.", completion: .stacks) var stack: String?

  func validate() throws {
    if global.json { throw ValidationError("--json is not supported; use “navctl list --json”") }
  }

  func run() throws {
    let daemon = try DaemonClient(global, "graph")
    let state = StateFilter(group: group, stack: stack).apply(try daemon.state())
    global.write(json: .null, plain: GraphText.dot(state))
  }
}
