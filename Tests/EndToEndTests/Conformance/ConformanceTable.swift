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
    // An adapter that was started again may not yet claim what it has not seen.
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
  /// The compositor and its release: a name and the first two numbers of its version, of GNOME Shell the first.
  fileprivate func compositor() throws -> String {
    let text: String
    if setup.manager == .described {
      text = try DescribedWindows(session: session).version()
    } else {
      // The file of KWin may not be run here; the desktop has a copy.
      let name = setup.manager.rawValue
      let program = setup.manager == .kwin ? "\(session.bus.directory)/\(name)" : name
      text = try session.run(program: "/usr/bin/env", [program, "--version"]).lines.first ?? ""
    }
    let version = text.split { !$0.isLetter && !$0.isNumber && $0 != "." }.first { $0.first?.isNumber == true } ?? ""
    let numbers = version.split(separator: ".").prefix(setup.manager == .gnome ? 1 : 2).joined(separator: ".")
    let name = setup.manager == .described ? String(text.prefix { $0 != " " }) : setup.manager.rawValue
    return "\(name) \(numbers)"
  }
}

/// The table in docs/windows.md of backends and compositors: what was found to work. `make check-desktops` writes it.
enum ConformanceTable {
  static let isWritten = getenv("NAVD_TEST_DESKTOPS_WRITTEN") != nil

  private static let document = "docs/windows.md"
  private static let marks = (start: "<!-- make check-desktops writes this. -->\n", end: "<!-- The end of that. -->")

  /// Replaces the row of a compositor's release, or adds one after that of another release.
  static func write(_ row: ConformanceRow) throws {
    let text = try Files.text(inPackage: document)
    let start = try #require(text.firstRange(of: marks.start)?.upperBound)
    let end = try #require(text[start...].firstRange(of: marks.end)?.lowerBound)
    var lines = text[start..<end].split(separator: "\n").map(String.init)
    let rows = lines.map { $0.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") } }
    func isSame(_ cells: [String]) -> Bool { cells.count > 2 && cells[0] == "`\(row.backend)`" }
    func isSibling(_ cells: [String]) -> Bool {
      isSame(cells) && cells[1].split(separator: " ").first == row.compositor.split(separator: " ").first
    }
    // A note stands for all releases.
    let sibling = rows.first(where: isSibling)
    let cells = WindowCapability.allCases.enumerated().map { index, capability in
      let (seen, before) = (row.cell(capability), sibling?[index + 2] ?? "")
      return seen == "yes" && before.hasPrefix("yes,") ? before : seen
    }
    let line = "| `\(row.backend)` | \(row.compositor) | \(cells.joined(separator: " | ")) |"
    if let known = rows.firstIndex(where: { isSame($0) && $0[1] == row.compositor }) {
      lines[known] = line
    } else {
      let last = rows.lastIndex(where: isSibling) ?? rows.lastIndex(where: isSame) ?? rows.count - 1
      lines.insert(line, at: last + 1)
    }
    try Files.write(
      "\(text[..<start])\(lines.map { $0 + "\n" }.joined())\(text[end...])", to: "\(Files.package)/\(document)")
  }
}
