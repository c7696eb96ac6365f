// Why this file exists: `list` and the live view of `watch` show people the same: what is presented and from what, what
// is selected, and where one has drilled down to.

import CoordinatorAPI
import TextFormats

/// The state for people.
enum Overview {
  /// Tables of what is presented, of groups and of stacks; of those only that have something in them.
  /// - Parameters:
  ///   - now: milliseconds since 1970.
  ///   - most: no more presentations than these.
  static func text(_ state: StateView, _ style: Table.Style, at now: UInt64, most: Int = .max) -> String {
    let presented = presentations(state, at: now, most: most).text(style)
    let sections = [
      presented.isEmpty ? style.legend("Nothing is presented.") : presented, groups(state).text(style),
      stacks(state).text(style),
    ]
    return sections.filter { !$0.isEmpty }.joined(separator: "\n")
  }

  static func presentations(_ state: StateView, at now: UInt64, most: Int = .max) -> Table {
    var table = Table(
      .number("NUMBER"), "BINDING", "ID", "PHASE", "UP", "DESTINATION", "GROUP", "TAG", "STACK", "TITLE")
    for (presentation, branch) in Outline.lines(state.presentations, most: most) {
      func cell(_ name: String) -> Table.Cell { Table.Cell(presentation[name]?.string ?? "") }
      let phase = presentation["phase"]?.string ?? ""
      table.add(
        Table.Cell(presentation["presentation"]?.text ?? ""),
        Table.Cell(branch + (presentation["binding"]?.string ?? "")), cell("id"),
        Table.Cell(phase, Colour(phase: phase)),
        Table.Cell(presentation["since"]?.unsigned.map { WallClock.elapsed(since: $0, at: now) } ?? ""),
        cell("destination"), cell("group"), cell("tag"), cell("stack"), cell("title"))
    }
    return table
  }

  private static func groups(_ state: StateView) -> Table {
    var table = Table("GROUP", "SELECTED", "QUEUE", "TAGS")
    for (name, group) in (state.json["groups"]?.object ?? [:]).sorted(by: { $0.key < $1.key }) {
      func list(_ member: String) -> Table.Cell {
        Table.Cell((group[member]?.array ?? []).compactMap(\.string).joined(separator: ", "))
      }
      table.add(
        Table.Cell(name), Table.Cell(group["selection"]?.string ?? "–", group["selection"] == nil ? nil : .good),
        list("queue"), list("tags"))
    }
    return table
  }

  private static func stacks(_ state: StateView) -> Table {
    var table = Table("STACK", "PATH")
    for (name, path) in (state.json["stacks"]?.object ?? [:]).sorted(by: { $0.key < $1.key }) {
      // As `set-path` takes them.
      let elements = (path.array ?? []).map { element in
        let id = element["id"]?.string ?? ""
        return (element["binding"]?.string ?? "") + (id.isEmpty ? "" : "=\(id)")
      }
      table.add(Table.Cell(name), Table.Cell(elements.joined(separator: " › ")))
    }
    return table
  }
}
