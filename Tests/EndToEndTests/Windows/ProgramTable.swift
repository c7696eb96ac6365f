import Glibc
import Synchronization
import TestSupport
import Testing

/// The table in docs/windows.md of programs and window managers. `make check-programs` writes into it what it has seen; other runs
/// compare theirs with it.
enum ProgramTable {
  static let managers: [Desktop.Manager] = [.sway, .i3, .openbox, .gnome, .kwin]
  /// The names of the programs that have tests of their own.
  static let splash = "a GTK program with splash screen and dialog"
  static let unsaved = "mousepad, unsaved text"
  static let failed = "failed"

  static let isWritten = getenv("NAVD_TEST_PROGRAMS") != nil

  /// The window managers of this run. An ordinary run has one with Wayland and one with X11, which is what programs differ in.
  static let tried = isWritten || AdapterSetup.isEverywhere ? managers : [.sway, .openbox]

  static var rows: [(name: String, note: String)] {
    WindowedProgram.all.map { ($0.name, $0.note) } + [
      (unsaved, "cancelled, the item stays; discarded, it ends; `--force` does not ask"),
      (splash, "`linger`; nothing is closed through its dialog"),
    ]
  }

  private static let document = "docs/windows.md"
  private static let marks = (start: "<!-- make check-programs writes this. -->\n", end: "<!-- The end of that. -->")
  /// A lock for the file, since tests run beside each other.
  private static let file = Mutex(())

  /// Runs a program and notes the result, or compares it with the note.
  static func note(_ program: String, on manager: Desktop.Manager, _ run: () throws -> String) throws {
    guard isWritten else {
      let column = managers.firstIndex(of: manager)!
      let noted = try cells()[program]?[column]
      let seen = try run()
      #expect(seen == noted, "of \(program) on \(manager), docs/windows.md says otherwise; run: make check-programs")
      return
    }
    try write(failed, program, manager)
    try write(try run(), program, manager)
  }

  /// The cells of each program, in the order of ``managers``.
  static func cells() throws -> [String: [String]] {
    let table = try parts().table.split(separator: "\n").dropFirst(2)
    return Dictionary(
      table.map { line in
        let cells = line.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") }
        return (cells[0], Array(cells[1...managers.count]))
      }
    ) { $1 }
  }

  private static func parts() throws -> (before: Substring, table: Substring, after: Substring) {
    let text = try Files.text(inPackage: document)
    let start = try #require(text.firstRange(of: marks.start)?.upperBound)
    let end = try #require(text[start...].firstRange(of: marks.end)?.lowerBound)
    return (text[..<start], text[start..<end], text[end...])
  }

  private static func write(_ cell: String, _ program: String, _ manager: Desktop.Manager) throws {
    try file.withLock { _ in
      var cells = try cells()
      let column = managers.firstIndex(of: manager)!
      cells[program, default: Array(repeating: "", count: managers.count)][column] = cell
      let (before, _, after) = try parts()
      var table = """
        | program | sway 1.7 | i3 4.22 | openbox 3.6 | GNOME 43 | KWin 5.27 | what is special |
        |---|---|---|---|---|---|---|

        """
      for row in rows {
        let seen = cells[row.name] ?? Array(repeating: "", count: managers.count)
        table += "| \(row.name) |\(seen.map { $0.isEmpty ? " " : " \($0) " }.joined(separator: "|"))| \(row.note) |\n"
      }
      try Files.write("\(before)\(table)\(after)", to: "\(Files.package)/\(document)")
    }
  }
}
