import ArgumentParser
import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

struct History: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "history", "List what has closed, the latest first: why, when and by whom.",
    """
    BY is the program and process that closed it, or “itself” if no other program did. SHOWN is how long it was open.
    """)

  @OptionGroup var global: GlobalOptions
  @Option(
    name: .customShort("n"),
    help: ArgumentHelp("Maximum number of entries; 0 for all that navd remembers.", valueName: "n"))
  var limit: UInt32 = 20
  @Option(help: "List only members of this group.", completion: .groups) var group: String?
  @Option(help: "List only this name.", completion: .bindings) var binding: String?
  @Option(
    help:
      "Print each as a line of this format: {binding}, {reason}, {time:time}, {by.program}, {shown-for:duration}, …",
    transform: Template.init)
  var format: Template?

  func validate() throws {
    try global.requireOneFormat(format)
    try format?.require(.history)
  }

  func run() throws {
    let daemon = try DaemonClient(global, "history")
    var filter: Properties = [:]
    filter[Options.group] = group
    filter[Options.binding] = binding
    var entries = try daemon.history(limit, filter)
    try addErrors(to: &entries, daemon)
    global.write(json: .array(entries.map(\.json)), plain: text(entries))
  }

  private func text(_ entries: [HistoryEntry]) -> String {
    let now = WallClock.now
    if let format { return entries.map { format.line($0.json, at: now) + "\n" }.joined() }
    let style = global.tableStyle
    return entries.isEmpty ? style.legend("Nothing has closed yet.") : Self.table(entries).text(style)
  }

  private static func table(_ entries: [HistoryEntry]) -> Table {
    var table = Table(
      .number("NUMBER"), "BINDING", "ID", "REASON", .number("SERIAL"), "BY", "SHOWN", "ENDED", "ERROR")
    for entry in entries {
      func cell(_ member: HistoryEntry.Member) -> Table.Cell { Table.Cell(entry.text(member)) }
      table.add(
        cell(.presentation), cell(.binding), cell(.id), Table.Cell(entry.reason, entry.hasFailed ? .bad : nil),
        cell(.serial), Table.Cell(entry.requester),
        Table.Cell(entry.shownFor.map { DurationText.text($0) } ?? ""),
        Table.Cell(entry.time.map { WallClock.local($0) } ?? ""), cell(.error))
    }
    return table
  }

  private func addErrors(to entries: inout [HistoryEntry], _ daemon: DaemonClient) throws(Failure) {
    func presentation(_ entry: HistoryEntry) -> ObjectPath? {
      entry.hasFailed ? entry.number.map { CoordinatorNames.presentation($0) } : nil
    }
    let known = try daemon.outcomes(of: entries.compactMap(presentation))
    for (index, entry) in entries.enumerated() {
      if let error = presentation(entry).flatMap({ known[$0]?.error }) { entries[index].error = error }
    }
  }
}
