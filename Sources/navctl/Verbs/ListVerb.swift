import ArgumentParser
import PresentationModel
import TextFormats

struct List: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "list", "List what is open.",
    """
    On a terminal: a table in which each item is below the one that it was opened from, then groups and stacks. In a pipe: \
    a line for each item, oldest request first, with tabs between number, binding, id, phase, destination, group, tag, \
    stack and title. With --json: the whole state. With --format: a line of that format for each item.
    """)

  @OptionGroup var global: GlobalOptions
  @Option(help: "List only members of this group.", completion: .groups) var group: String?
  @Option(help: "List only members of this stack.", completion: .stacks) var stack: String?
  @Option(
    help: "Print each as a line of this format: {binding}, {title:markup}, {since:elapsed}, {value.KEY}, …",
    transform: Template.init)
  var format: Template?

  func validate() throws {
    try global.requireOneFormat(format)
    try format?.require(.presentation)
  }

  func run() throws {
    let daemon = try DaemonClient(global, "list")
    let state = StateFilter(group: group, stack: stack).apply(try daemon.state())
    if state.entries.isEmpty {
      if let group { try daemon.requireName("group", group) }
      if let stack { try daemon.requireName("stack", stack) }
    }
    global.write(json: state.json, plain: text(state))
  }

  private func text(_ state: StateSnapshot) -> String {
    let now = WallClock.now
    if let format { return state.entries.map { format.line($0.json, at: now) + "\n" }.joined() }
    let style = global.tableStyle
    return style == .plain ? StateTables.list(state).text(style) : StateTables.overview(state, style, at: now)
  }
}
