import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing

/// The results of the scenarios for an adapter on a compositor.
struct ConformanceRow {
  let outcomes: [(scenario: Conformance.Scenario, outcome: Conformance.Outcome)]
  let backend: String
  /// The compositor and its release, such as `sway 1.7`.
  let compositor: String
  let claimed: Set<WindowCapability>

  init(outcomes: [(scenario: Conformance.Scenario, outcome: Conformance.Outcome)], of conformance: Conformance) {
    self.outcomes = outcomes
    claimed = conformance.claimed
    backend = String(value: conformance.adapter.properties["Backend"] ?? .string("")) ?? ""
    compositor = (try? conformance.compositor()) ?? "?"
  }

  /// The cell of the table for a capability.
  func cell(_ capability: WindowCapability) -> String {
    let seen = outcomes.filter { $0.scenario.capabilities.contains(capability) }.map(\.outcome)
    // An adapter that was started again may not yet claim an ability that it has not seen.
    guard claimed.contains(capability) || seen.contains(where: { $0 != .notClaimed }) else { return "no" }
    if seen.contains(where: { if case .failed = $0 { true } else { false } }) { return "fails" }
    return seen.contains(.passed) ? "yes" : "not judged"
  }

  /// A line for each scenario.
  func text() throws -> String {
    let lines = outcomes.map { scenario, outcome in
      let word =
        switch outcome {
        case .passed: "passed"
        case .notClaimed: "not claimed"
        case .notJudged: "not judged"
        case .failed: "FAILED"
        }
      return "  \(word)\(String(repeating: " ", count: max(0, 12 - word.count)))\(scenario.name)"
    }
    let cells = WindowCapability.allCases.map { cell($0) }.joined(separator: " | ")
    return "\(backend) on \(compositor)\n\(lines.joined(separator: "\n"))\n| `\(backend)` | \(compositor) | \(cells) |"
  }
}

extension Conformance {
  /// The name and the release of the compositor: the first two numbers of its version, and only the first for GNOME Shell and
  /// mutter.
  fileprivate func compositor() throws -> String {
    let text: String
    if setup.manager == .described {
      text = try DescribedWindows(session: session).version()
    } else {
      // The system's file of KWin may not be run here; the desktop has a copy.
      let name = setup.manager.rawValue
      let program = setup.manager == .kwin ? "\(session.bus.directory)/\(name)" : name
      // dwm has a shorter option, writes the version as an error, and fails.
      let option = setup.manager == .dwm ? "-v" : "--version"
      let run = try session.run(program: "/bin/sh", ["-c", "\"$@\" || true", "sh", program, option])
      text = run.lines.first ?? run.errorText
    }
    // The texts are, for example, “xfwm4 4.18.0”, “awesome v4.3” and “dwm-6.4”.
    let words = text.split { !$0.isLetter && !$0.isNumber && $0 != "." }.map { $0.drop { $0 == "v" } }
    let version = words.first { $0.first?.isNumber == true } ?? ""
    let isOneNumber = [.gnome, .mutter].contains(setup.manager)
    let numbers = version.split(separator: ".").prefix(isOneNumber ? 1 : 2).joined(separator: ".")
    let name = setup.manager == .described ? String(text.prefix { $0 != " " }) : setup.manager.rawValue
    return "\(name) \(numbers)"
  }
}

/// The table in docs/windows.md of backends and compositors, with the abilities that were found to work. `make check-desktops`
/// writes it.
enum ConformanceTable {
  static let isWritten = getenv("NAVD_TEST_DESKTOPS_WRITTEN") != nil

  private static let document = "docs/windows.md"
  private static let marks = (start: "<!-- make check-desktops writes this. -->\n", end: "<!-- The end of that. -->")

  /// Replaces the row of a compositor's release, or adds it.
  static func write(_ row: ConformanceRow) throws {
    let (before, lines, after) = try parts()
    let cells = WindowCapability.allCases.map { row.cell($0) }
    let table = adding("`\(row.backend)`", row.compositor, cells, to: lines).map { $0 + "\n" }.joined()
    try Files.write("\(before)\(table)\(after)", to: "\(Files.package)/\(document)")
  }

  /// The lines of the table, of which the first two are its head.
  static func lines() throws -> [String] { try parts().lines }

  /// The lines with a new row. It replaces the row of the same release, or stands beside those of other releases, the oldest first.
  /// Notes of other releases stand in this one, too.
  static func adding(_ backend: String, _ compositor: String, _ seen: [String], to lines: [String]) -> [String] {
    var lines = lines
    func isSame(_ line: String) -> Bool { cells(line).count > 2 && cells(line)[0] == backend }
    func isSibling(_ line: String) -> Bool {
      isSame(line) && cells(line)[1].split(separator: " ").first == compositor.split(separator: " ").first
    }
    let sibling = lines.first(where: isSibling).map(cells)
    let noted = seen.enumerated().map { index, seen in
      let before = sibling?[index + 2] ?? ""
      return seen == "yes" && before.hasPrefix("yes,") ? before : seen
    }
    let line = "| \(([backend, compositor] + noted).joined(separator: " | ")) |"
    if let known = lines.firstIndex(where: { isSame($0) && cells($0)[1] == compositor }) {
      lines[known] = line
    } else {
      let newer = lines.firstIndex { isSibling($0) && isOlder(compositor, than: cells($0)[1]) }
      let last = lines.lastIndex(where: isSibling) ?? lines.lastIndex(where: isSame) ?? lines.count - 1
      lines.insert(line, at: newer ?? last + 1)
    }
    return lines
  }

  static func cells(_ line: String) -> [String] {
    line.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") }
  }

  private static func isOlder(_ release: String, than other: String) -> Bool {
    func numbers(_ text: String) -> [Int] {
      text.split(separator: " ").last?.split(separator: ".").compactMap { Int($0) } ?? []
    }
    return numbers(release).lexicographicallyPrecedes(numbers(other))
  }

  private static func parts() throws -> (before: Substring, lines: [String], after: Substring) {
    let text = try Files.text(inPackage: document)
    let start = try #require(text.firstRange(of: marks.start)?.upperBound)
    let end = try #require(text[start...].firstRange(of: marks.end)?.lowerBound)
    return (text[..<start], text[start..<end].split(separator: "\n").map(String.init), text[end...])
  }
}
