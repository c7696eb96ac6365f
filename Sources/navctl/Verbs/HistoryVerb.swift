import ArgumentParser
import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

struct History: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "history", "List what has closed, the latest first: why, when and by whom.",
    """
    BY is the program and process that closed it, or “itself” if no other program did. SHOWN is how long it was open. \
    STATUS is the exit status of its program, or the signal that ended it.
    """)

  @OptionGroup var global: GlobalOptions
  @Option(
    name: .customShort("n", allowingJoined: true),
    help: ArgumentHelp("Maximum number of entries; 0 for all that navd remembers.", valueName: "n"))
  var limit: UInt32 = 20
  @Option(help: "List only members of this group.", completion: .groups) var group: String?
  @Option(help: "List only this name.", completion: .bindings) var binding: String?
  @Option(help: ArgumentHelp("List only what closed for this reason; may be repeated.", valueName: "reason"))
  var reason: [Reason] = []
  @Option(
    help: ArgumentHelp("List only what closed within this time, e.g. 10m.", valueName: "duration"),
    transform: { try $0.duration() })
  var since: UInt64?
  @Option(
    help:
      "Print each as a line of this format: {binding}, {reason}, {time:time}, {by.program}, {shown-for:duration}, …",
    transform: Template.init)
  var format: Template?

  func validate() throws { try global.check(format, .history) }

  func run() throws {
    let daemon = try DaemonClient(global, "history")
    var filter: Properties = [:]
    filter[Options.group] = group
    filter[Options.binding] = binding
    let isSelective = !reason.isEmpty || since != nil
    var entries = try daemon.history(isSelective ? 0 : limit, filter)
    if isSelective { entries = selected(entries) }
    try addErrors(to: &entries, daemon)
    global.write(json: .array(entries.map(\.json)), styled: text(entries))
  }

  private func selected(_ entries: [EndingEntry]) -> [EndingEntry] {
    let (now, reasons) = (WallClock.now, reason.map(\.rawValue))
    let earliest = since.map { now - min(now, $0) } ?? 0
    let selected = entries.lazy.filter { entry in
      (reasons.isEmpty || reasons.contains(entry.text(\.reason))) && (entry.time ?? 0) >= earliest
    }
    return Array(selected.prefix(limit == 0 ? .max : Int(limit)))
  }

  private func text(_ entries: [EndingEntry]) -> String {
    let now = WallClock.now
    if let format { return entries.map { format.line($0.json, at: now) + "\n" }.joined() }
    let style = global.tableStyle
    return entries.isEmpty ? style.legend("Nothing has closed yet.") : Self.table(entries).text(style)
  }

  private static func table(_ entries: [EndingEntry]) -> Table {
    var table = Table(
      .number("NUMBER"), "BINDING", "ID", "REASON", "STATUS", .number("SERIAL"), "BY", "SHOWN", "ENDED", "ERROR")
    for entry in entries {
      table.add(
        entry.cell(\.presentation), entry.cell(\.binding), entry.cell(\.id),
        Table.Cell(entry.text(\.reason), entry.hasFailed ? .bad : nil), Table.Cell(entry.shownStatus),
        entry.cell(\.serial), Table.Cell(entry.endedBy),
        Table.Cell(entry.shownFor.map { DurationText.text($0) } ?? ""),
        Table.Cell(entry.time.map { WallClock.local($0) } ?? ""), Table.Cell(entry.error ?? ""))
    }
    return table
  }

  private func addErrors(to entries: inout [EndingEntry], _ daemon: DaemonClient) throws(Failure) {
    func presentation(_ entry: EndingEntry) -> ObjectPath? {
      entry.hasFailed ? entry.presentation.map { CoordinatorNames.presentation($0) } : nil
    }
    let known = try daemon.outcomes(of: entries.compactMap(presentation))
    for (index, entry) in entries.enumerated() {
      if let error = presentation(entry).flatMap({ known[$0]?.result.error }) { entries[index].error = error }
    }
  }
}
