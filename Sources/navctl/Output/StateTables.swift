import PresentationModel

enum StateTables {
  /// The tables for people: presentations, groups and stacks, without empty tables.
  /// - Parameters:
  ///   - now: the time in milliseconds since 1970.
  ///   - limit: the maximum number of presentations.
  static func overview(_ state: StateSnapshot, _ style: Table.Style, at now: UInt64, limit: Int = .max) -> String {
    let presented = tree(state, at: now, limit: limit).text(style)
    let sections = [
      presented.isEmpty ? style.legend("Nothing is open.") : presented, groups(state).text(style),
      stacks(state).text(style), holds(state).text(style), parked(state).text(style),
    ]
    return sections.filter { !$0.isEmpty }.joined(separator: "\n")
  }

  /// The table for programs: one row for each presentation, with a fixed set of columns.
  static func list(_ state: StateSnapshot) -> Table {
    var table = Table("NUMBER", "BINDING", "ID", "PHASE", "DESTINATION", "GROUP", "TAG", "STACK", "TITLE")
    for entry in state.entries {
      table.add(
        entry.cell(\.presentation), entry.cell(\.binding), entry.cell(\.id), Table.Cell(entry.shownPhase),
        entry.cell(\.destination), entry.cell(\.group), entry.cell(\.tag), entry.cell(\.stack), entry.cell(\.title))
    }
    for entry in state.parkedEntries {
      table.add(
        entry.cell(\.presentation), entry.cell(\.binding), entry.cell(\.id),
        Table.Cell(entry.shownPhase), entry.cell(\.destination), "", "", "", "")
    }
    return table
  }

  /// The endings that failed, with the reasons.
  static func failures(_ entries: [EndingEntry]) -> Table {
    var table = Table(.number("NUMBER"), "BINDING", "ID", "ENDED", "ERROR")
    for entry in entries {
      table.add(
        entry.cell(\.presentation), entry.cell(\.binding), entry.cell(\.id),
        Table.Cell(entry.time.map { Timestamp.local($0) } ?? ""), Table.Cell(entry.failure, .bad))
    }
    return table
  }

  private static func tree(_ state: StateSnapshot, at now: UInt64, limit: Int) -> Table {
    var table = Table(
      .number("NUMBER"), "BINDING", "ID", "PHASE", "UP", "DESTINATION", "GROUP", "TAG", "STACK", "TITLE")
    for (entry, branch) in PresentationTree.lines(state.entries, limit: limit) {
      table.add(
        entry.cell(\.presentation), Table.Cell(branch + entry.text(\.binding)), entry.cell(\.id),
        Table.Cell(entry.shownPhase, Colour(entry.knownPhase)),
        Table.Cell(entry.since.map { Timestamp.elapsed(since: $0, at: now) } ?? ""),
        entry.cell(\.destination), entry.cell(\.group), entry.cell(\.tag), entry.cell(\.stack), entry.cell(\.title))
    }
    return table
  }

  private static func groups(_ state: StateSnapshot) -> Table {
    var table = Table("GROUP", "SELECTED", "QUEUE", "TAGS")
    for (name, group) in state.groupEntries.sorted(by: { $0.key < $1.key }) {
      table.add(
        Table.Cell(name), Table.Cell(group.selection ?? "–", group.selection == nil ? nil : .good),
        Table.Cell((group.queue ?? []).joined(separator: ", ")), Table.Cell((group.tags ?? []).joined(separator: ", ")))
    }
    return table
  }

  /// The holds in force, and the number of items that wait for the end of each.
  private static func holds(_ state: StateSnapshot) -> Table {
    var table = Table("HOLD", .number("WAITING"))
    for name in state.holds ?? [] {
      table.add(Table.Cell(name), Table.Cell(String(state.entries.count { $0.heldBy?.contains(name) == true })))
    }
    return table
  }

  private static func parked(_ state: StateSnapshot) -> Table {
    var table = Table(.number("HIDDEN"), "BINDING", "ID", "DESTINATION", "COMMAND", "STAYS")
    for entry in state.parkedEntries {
      table.add(
        entry.cell(\.presentation), entry.cell(\.binding), entry.cell(\.id), entry.cell(\.destination),
        entry.isOutdated == true ? Table.Cell("outdated", .pending) : "", entry.cell(\.stays))
    }
    return table
  }

  private static func stacks(_ state: StateSnapshot) -> Table {
    var table = Table("STACK", "PATH")
    for (name, path) in state.paths.sorted(by: { $0.key < $1.key }) {
      // `set-path` accepts this form.
      let elements = path.map { $0.id.isEmpty ? $0.binding : "\($0.binding)=\($0.id)" }
      table.add(Table.Cell(name), Table.Cell(elements.joined(separator: " › ")))
    }
    return table
  }
}
