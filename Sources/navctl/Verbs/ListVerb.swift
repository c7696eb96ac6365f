// Why this file exists: `list`, what is presented at the moment.

import ArgumentParser
import CoordinatorAPI
import TextFormats

struct List: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "list", "Write what is presented.",
    """
    For people what is presented stands below what it is presented from, and groups and stacks follow. For programs a \
    line each in the order of acceptance, with tabs between: presentation, binding, id, phase, destination, group, tag, \
    stack, title. With --json the whole state, with --format lines of another shape.
    """)

  @OptionGroup var global: GlobalOptions
  @Option(help: "Only of this group.", completion: .groups) var group: String?
  @Option(help: "Only of this stack.", completion: .stacks) var stack: String?
  @Option(
    help: "A line of this shape for each: {binding}, {title:markup}, {since:elapsed}, {value.KEY}, …",
    transform: Template.init)
  var format: Template?

  func validate() throws {
    try global.requireOneShape(format)
    try format?.require(.presentation)
  }

  func run() throws {
    let daemon = try Daemon(global, "list")
    let state = StateFilter(group: group, stack: stack).apply(try daemon.state())
    if state.presentations.isEmpty {
      if let group { try daemon.requireName("group", group) }
      if let stack { try daemon.requireName("stack", stack) }
    }
    global.write(json: state.json, plain: text(state))
  }

  private func text(_ state: StateView) -> String {
    let now = WallClock.now
    if let format { return state.presentations.map { format.line($0, at: now) + "\n" }.joined() }
    let style = global.style
    return style == .plain ? Self.table(state).text(style) : Overview.text(state, style, at: now)
  }

  /// For programs: a column for each thing, also where nothing stands in it.
  static func table(_ state: StateView) -> Table {
    var table = Table("NUMBER", "BINDING", "ID", "PHASE", "DESTINATION", "GROUP", "TAG", "STACK", "TITLE")
    for presentation in state.presentations {
      func cell(_ name: String) -> Table.Cell { Table.Cell(presentation[name]?.string ?? "") }
      table.add(
        Table.Cell(presentation["presentation"]?.text ?? ""), cell("binding"), cell("id"), cell("phase"),
        cell("destination"), cell("group"), cell("tag"), cell("stack"), cell("title"))
    }
    return table
  }
}

extension GlobalOptions {
  /// - Throws: `ValidationError` where a format and `--json` are both given.
  func requireOneShape(_ format: Template?) throws {
    if json, format != nil { throw ValidationError("either --format or --json") }
  }
}
