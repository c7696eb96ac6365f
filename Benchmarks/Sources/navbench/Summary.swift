import Glibc
import TextFormats

/// Several runs of the measurements, on all processors and on one, in one table.
struct Summary {
  private let runs: [Report]

  init(_ runs: [Report]) { self.runs = runs }

  /// Reads reports printed with `--json`.
  init(files: [String]) throws {
    runs = try files.map { file in
      do { return try Report(json: read(file)) } catch is DecodingError {
        throw BenchmarkError("\(file): expected a report of navbench --json, found none")
      }
    }
  }

  private static let titles = [
    "what", "peer", "what", "peer", "ratio", "least–greatest", "one processor", "goal", "reached",
  ]

  /// A row for each line of the first run.
  private var rows: [[String]] {
    (runs.first?.lines ?? []).map { line in
      let all = runs.map { run in
        (isOnOne: run.processors == 1, lines: run.lines.filter { $0.subject == line.subject && $0.peer == line.peer })
      }
      let onOne = all.filter(\.isOnOne).flatMap(\.lines)
      let onMore = all.filter { !$0.isOnOne }.flatMap(\.lines)
      let main = onMore.isEmpty ? onOne : onMore
      let (subjects, peers) = (median(main.flatMap(\.subjects)), median(main.flatMap(\.peers)))
      let text = line.peer == nil ? line.unit.text : hundredths
      return [
        line.subject, line.peer ?? "", line.unit.text(subjects), line.peer == nil ? "" : line.unit.text(peers),
        line.peer == nil ? "" : middle(main, text), line.peer == nil ? "" : spread(main, text),
        onMore.isEmpty || onOne.isEmpty ? "" : "\(middle(onOne, text)) (\(spread(onOne, text)))",
        line.goal.map { goal($0, text) } ?? "", line.goal.map { verdict($0, onOne, onMore) } ?? "",
      ]
    }
  }

  private func middle(_ lines: [Line], _ text: (Double) -> String) -> String {
    text(median(lines.map { median($0.results) }))
  }

  private func spread(_ lines: [Line], _ text: (Double) -> String) -> String {
    let results = lines.flatMap(\.results)
    return "\(text(results.min() ?? .nan))–\(text(results.max() ?? .nan))"
  }

  private func goal(_ goal: Goal, _ text: (Double) -> String) -> String {
    "≤ \(text(goal.limit))\(goal.isForOneProcessor ? ", on one" : "")"
  }

  /// The result for a goal, which is reached if each run reaches it.
  private func verdict(_ goal: Goal, _ onOne: [Line], _ onMore: [Line]) -> String {
    let counted = goal.isForOneProcessor && !onOne.isEmpty ? onOne : onMore + onOne
    let count = counted.count { goal.isMet(by: $0.results) }
    return count == counted.count ? "yes" : "in \(count) of \(counted.count)"
  }

  /// The table for a terminal.
  var text: String {
    let rows = [Self.titles] + self.rows
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let line = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
      return String(line.reversed().drop { $0 == " " }.reversed())
    }.joined(separator: "\n")
  }

  /// The table and the place of the measurements, in Markdown.
  private var markdown: String {
    let line = { (cells: [String]) in "| \(cells.joined(separator: " | ")) |" }
    let table =
      [line(Self.titles), "|" + String(repeating: "---|", count: Self.titles.count)]
      + rows.map(line)
    let counts = Set(runs.map(\.processors)).sorted(by: >).map { count in
      "\(runs.count { $0.processors == count }) runs on \(count) processor\(count == 1 ? "" : "s")"
    }
    return "Measured on \(Self.date), with \(Self.system), in \(counts.joined(separator: " and ")).\n\n"
      + table.joined(separator: "\n")
  }

  private static var date: String {
    var (now, parts) = (time(nil), tm())
    localtime_r(&now, &parts)
    var text = [CChar](repeating: 0, count: 11)
    strftime(&text, text.count, "%Y-%m-%d", &parts)
    return text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  private static var system: String {
    var names = utsname()
    uname(&names)
    let text = { (field: UnsafeRawBufferPointer) in String(decoding: field.prefix { $0 != 0 }, as: UTF8.self) }
    return "\(withUnsafeBytes(of: &names.sysname, text)) \(withUnsafeBytes(of: &names.release, text))"
  }

  private static let marks = (start: "<!-- navbench writes this. -->\n", end: "<!-- The end of that. -->")

  /// Replaces the table in a document.
  func write(to document: String) throws {
    let text = try read(document)
    let (start, end) = (text.ranges(of: Self.marks.start).first, text.ranges(of: Self.marks.end).first)
    guard let start, let end else {
      throw BenchmarkError("\(document): expected the comments between which the table is, found none")
    }
    let (head, tail) = (text[..<start.upperBound], text[end.lowerBound...])
    try navbench.write("\(head)\(markdown)\n\(tail)", to: document)
  }
}
