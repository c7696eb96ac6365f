import ArgumentParser
import CoordinatorAPI
import DBusValues
import Glibc
import PresentationModel
import TextFormats

struct History: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "history", "List what has closed, the latest first: why, when and by whom.",
    """
    BY is the program and process that closed it, “navd” if its time was over or a hold began, for example, or “itself” if no other \
    program did. SHOWN is how long it was open. \
    STATUS is the exit status of its program, or the signal that ended it.
    """)

  @OptionGroup var global: GlobalOptions
  @Option(
    name: .customShort("n", allowingJoined: true),
    help: ArgumentHelp("Maximum number of entries, 20 if not given; 0 for all that navd remembers.", valueName: "n"),
    transform: { try $0.number() })
  var limit: UInt32?
  @Option(help: "List only members of this group.", completion: .groups) var group: String?
  @Option(help: "List only this name.", completion: .bindings) var binding: String?
  @Option(help: ArgumentHelp("List only what closed for this reason; may be repeated.", valueName: "reason"))
  var reason: [Reason] = []
  @Option(
    help: ArgumentHelp(
      "List only what closed within this time, e.g. 10m; with --follow, what follows the line with this record and serial.",
      valueName: "duration|record:serial"))
  var since: String?
  @Flag(help: "Print what has closed, and each that closes later, once, the oldest first. With --json.")
  var follow = false
  @Flag(help: "With --follow: print a line also for each that is presented, with its title and value.")
  var starts = false
  @Option(
    help:
      "Print each as a line of this format: {binding}, {reason}, {time:time}, {by.program}, {shown-for:duration}, …",
    transform: OutputTemplate.init)
  var format: OutputTemplate?

  func validate() throws {
    try global.check(format, .history)
    guard follow else {
      if starts { throw ValidationError("--starts needs --follow") }
      do { _ = try since?.duration() } catch let mistake as ValidationError {
        throw ValidationError("--since: \(mistake.message)")
      }
      return
    }
    try global.requirePrinting()
    guard global.json, format == nil, limit == nil, group == nil, binding == nil, reason.isEmpty else {
      throw ValidationError("use --follow with --json, and without -n, --group, --binding, --reason and --format")
    }
    if let since, EndingLines.Position(since) == nil {
      throw ValidationError(
        "--since: with --follow expected the record and the serial of a line, such as 8f1c:48, found “\(since)”")
    }
  }

  func run() throws {
    let daemon = try DaemonClient(global, "history")
    if follow {
      let lines = EndingLines(since: since.flatMap(EndingLines.Position.init), withStarts: starts, daemon)
      return try daemon.follow(lines, LineWriter(STDOUT_FILENO, daemon.loop))
    }
    let limit = limit ?? 20
    var filter: Properties = [:]
    filter[Options.group] = group
    filter[Options.binding] = binding
    let isSelective = !reason.isEmpty || since != nil
    var entries = try daemon.history(isSelective ? 0 : limit, filter)
    if isSelective { entries = try selected(entries, limit) }
    // An impossible name has no endings either, but is a mistake.
    if entries.isEmpty, let group { try daemon.requireName("group", group) }
    if entries.isEmpty, let binding { try daemon.ask(CoordinatorInterface.get, binding) }
    try daemon.addErrors(to: &entries)
    global.write(json: .array(entries.map(\.json)), styled: text(entries))
    guard entries.isEmpty else { return }
    daemon.warnIfUnknown(group: group, stack: nil)
    if let binding { daemon.warnIfUnknown(binding: binding) }
  }

  private func selected(_ entries: [EndingEntry], _ limit: UInt32) throws -> [EndingEntry] {
    let (now, reasons) = (Timestamp.now, reason.map(\.rawValue))
    let earliest = try since.map { now - min(now, try $0.duration()) } ?? 0
    let selected = entries.lazy.filter { entry in
      (reasons.isEmpty || reasons.contains(entry.text(\.reason))) && (entry.time ?? 0) >= earliest
    }
    return Array(selected.prefix(limit == 0 ? .max : Int(limit)))
  }

  private func text(_ entries: [EndingEntry]) -> String {
    let now = Timestamp.now
    if let format { return entries.map { format.line($0.json, at: now) + "\n" }.joined() }
    let style = global.tableStyle
    guard entries.isEmpty else { return Self.table(entries).text(style) }
    let isEverything = group == nil && binding == nil && reason.isEmpty && since == nil
    return style.legend(isEverything ? "Nothing has closed yet." : "Nothing that has closed fits.")
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
        Table.Cell(entry.time.map { Timestamp.local($0) } ?? ""), Table.Cell(entry.error ?? ""))
    }
    return table
  }
}

extension DaemonClient {
  /// The last ending of each name that is not open, if it failed, with the reason.
  /// - Parameters:
  ///   - group: the group of those that are asked for; nil for all.
  ///   - stack: the stack, in the same way.
  func lastFailures(
    except state: StateSnapshot, group: String? = nil, stack: String? = nil
  ) throws(Failure) -> [EndingEntry] {
    var seen = Set(state.entries.compactMap(\.binding))
    var entries = try history(0, [:]).filter { seen.insert($0.text(\.binding)).inserted && $0.hasFailed }
      .filter { (group == nil || $0.group == group) && (stack == nil || $0.stack == stack) }
    // Failures of earlier sessions are left out.
    if !entries.isEmpty, let began = try diagnosis().sessionSince {
      entries.removeAll { ($0.time ?? .max) < began }
    }
    try addErrors(to: &entries)
    return entries
  }

  /// Adds the reasons of failures, as far as navd remembers them.
  func addErrors(to entries: inout [EndingEntry]) throws(Failure) {
    let known = try outcomes(of: entries.compactMap { $0.failedPresentation?.path })
    for (index, entry) in entries.enumerated() {
      if let error = entry.failedPresentation.flatMap({ known[$0.path]?.result.error }) { entries[index].error = error }
    }
  }
}
