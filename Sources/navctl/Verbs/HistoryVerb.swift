// Why this file exists: `history`, which answers why something has closed.

import ArgumentParser
import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

struct History: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "history", "Write the presentations that have ended, the latest first: why, when and by whom.",
    """
    BY is the program and process whose request ended it, or “itself” where nobody asked for it; SHOWN is how long it \
    was on screen.
    """)

  @OptionGroup var global: GlobalOptions
  @Option(
    name: .customShort("n"), help: ArgumentHelp("At most so many; 0 for all that are remembered.", valueName: "n"))
  var most: UInt32 = 20
  @Option(help: "Only of this group.", completion: .groups) var group: String?
  @Option(help: "Only of this binding.", completion: .bindings) var binding: String?
  @Option(
    help: "A line of this shape for each: {binding}, {reason}, {time:time}, {by.program}, {shown-for:duration}, …",
    transform: Template.init)
  var format: Template?

  func validate() throws {
    try global.requireOneShape(format)
    try format?.require(.ending)
  }

  func run() throws {
    let daemon = try Daemon(global, "history")
    var filter: Properties = [:]
    filter[Options.group] = group
    filter[Options.binding] = binding
    var endings = try daemon.ask(CoordinatorInterface.history, (most, filter)).map { JSON($0) }
    try addErrors(to: &endings, daemon)
    global.write(json: .array(endings), plain: text(endings))
  }

  private func text(_ endings: [JSON]) -> String {
    let now = WallClock.now
    if let format { return endings.map { format.line($0, at: now) + "\n" }.joined() }
    let style = global.style
    return endings.isEmpty ? style.legend("Nothing has ended.") : Self.table(endings).text(style)
  }

  static func table(_ endings: [JSON]) -> Table {
    var table = Table(
      .number("NUMBER"), "BINDING", "ID", "REASON", .number("SERIAL"), "BY", "SHOWN", "ENDED", "ERROR")
    for ending in endings {
      func cell(_ name: String) -> Table.Cell { Table.Cell(ending[name]?.string ?? ending[name]?.text ?? "") }
      let reason = ending["reason"]?.string ?? ""
      table.add(
        cell("presentation"), cell("binding"), cell("id"), Table.Cell(reason, reason == "failed" ? .bad : nil),
        cell("serial"), Table.Cell(Self.by(ending)),
        Table.Cell(ending["shown-for"]?.unsigned.map { DurationText.text($0) } ?? ""),
        Table.Cell(ending["time"]?.unsigned.map { WallClock.local($0) } ?? ""), cell("error"))
    }
    return table
  }

  /// Who ended it: a program and its number, or that it was none but itself.
  private static func by(_ ending: JSON) -> String {
    guard let requester = ending["by"] else {
      return ["closed", "failed"].contains(ending["reason"]?.string) ? "itself" : ""
    }
    guard let pid = requester["pid"]?.unsigned else { return requester["client"]?.string ?? "" }
    return "\(requester["program"]?.string ?? requester["client"]?.string ?? "")[\(pid)]"
  }

  /// Why something failed is a part of its result, which is for those who wait for it and not in the history (D6).
  private func addErrors(to endings: inout [JSON], _ daemon: Daemon) throws(Failure) {
    func presentation(_ ending: JSON) -> ObjectPath? {
      guard ending["reason"] == "failed" else { return nil }
      return ending["presentation"]?.unsigned.map { CoordinatorNames.presentation($0) }
    }
    let known = try daemon.endings(of: endings.compactMap(presentation))
    for (index, ending) in endings.enumerated() {
      guard case .object(var members) = ending, let error = presentation(ending).flatMap({ known[$0]?.error }) else {
        continue
      }
      members["error"] = .string(error)
      endings[index] = .object(members)
    }
  }
}
