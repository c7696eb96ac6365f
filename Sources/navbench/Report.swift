// Why this file exists: what was measured, as a table for people and as JSON for programs.

import CoordinatorAPI
import TextFormats

/// What a number counts.
enum Unit {
  case nanoseconds
  case bytes
  case perSecond
  case count

  func text(_ number: Double) -> String {
    switch self {
    case .nanoseconds: number < 1e6 ? "\(hundredths(number / 1e3)) µs" : "\(hundredths(number / 1e6)) ms"
    case .bytes: number < 1e5 ? "\(Int(number)) B" : "\(hundredths(number / Double(1 << 20))) MiB"
    case .perSecond: "\(Int(number)) /s"
    case .count: number < 1e3 ? hundredths(number) : "\(Int(number))"
    }
  }

  var word: String {
    switch self {
    case .nanoseconds: "ns"
    case .bytes: "bytes"
    case .perSecond: "1/s"
    case .count: "1"
    }
  }
}

/// What a ratio, or a difference, should be.
enum Target {
  case atMost(Double)
  case atLeast(Double)

  func isMet(by number: Double) -> Bool {
    switch self {
    case .atMost(let most): number <= most
    case .atLeast(let least): number >= least
    }
  }
}

/// One subject beside its peer.
struct Comparison {
  let subject: String
  let peer: String
  var unit = Unit.nanoseconds
  /// What each round came to.
  let subjects: [Double]
  let peers: [Double]
  /// What the ratio of a round is, by its median, meant to be; nil where nothing is promised.
  var target: Target?

  /// A ratio a round.
  var ratios: [Double] { zip(subjects, peers).map { $0 / $1 } }
}

/// All comparisons of a run.
struct Report {
  private(set) var comparisons: [Comparison] = []
  /// What stands for itself.
  private(set) var findings: [(subject: String, number: Double, unit: Unit, target: Target?)] = []

  mutating func add(_ comparison: Comparison) { comparisons.append(comparison) }

  mutating func add(_ subject: String, _ number: Double, _ unit: Unit, _ target: Target? = nil) {
    findings.append((subject, number, unit, target))
  }

  var table: String {
    var rows = [["subject", "peer", "subject", "peer", "ratio", "least–greatest", "target", ""]]
    for comparison in comparisons {
      let ratios = comparison.ratios
      let unit = comparison.unit
      rows.append([
        comparison.subject, comparison.peer, unit.text(median(comparison.subjects)),
        unit.text(median(comparison.peers)), hundredths(median(ratios)),
        "\(hundredths(ratios.min() ?? 0))–\(hundredths(ratios.max() ?? 0))",
        comparison.target.map { text($0, hundredths) } ?? "", verdict(comparison.target, median(ratios)),
      ])
    }
    for (subject, number, unit, target) in findings {
      rows.append([
        subject, "", unit.text(number), "", "", "", target.map { text($0, unit.text) } ?? "", verdict(target, number),
      ])
    }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let line = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
      return String(line.reversed().drop { $0 == " " }.reversed())
    }.joined(separator: "\n")
  }

  private func text(_ target: Target, _ text: (Double) -> String) -> String {
    switch target {
    case .atMost(let most): "≤ \(text(most))"
    case .atLeast(let least): "≥ \(text(least))"
    }
  }

  private func verdict(_ target: Target?, _ number: Double) -> String {
    target.map { $0.isMet(by: number) ? "" : "not reached" } ?? ""
  }

  var json: JSON {
    [
      "comparisons": .array(
        comparisons.map { comparison in
          [
            "subject": .string(comparison.subject), "peer": .string(comparison.peer),
            "unit": .string(comparison.unit.word), "subjects": .array(comparison.subjects.map(JSON.real)),
            "peers": .array(comparison.peers.map(JSON.real)), "ratio": .real(median(comparison.ratios)),
            "target": json(comparison.target),
          ]
        }),
      "findings": .array(
        findings.map { finding in
          [
            "subject": .string(finding.subject), "number": .real(finding.number), "unit": .string(finding.unit.word),
            "target": json(finding.target),
          ]
        }),
    ]
  }

  private func json(_ target: Target?) -> JSON {
    switch target {
    case .atMost(let most)?: ["at-most": .real(most)]
    case .atLeast(let least)?: ["at-least": .real(least)]
    case nil: .null
    }
  }
}

/// The middle of the values; of an even number the mean of the two in the middle.
func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  guard !sorted.isEmpty else { return .nan }
  return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
}

private func hundredths(_ number: Double) -> String {
  guard number.isFinite else { return "–" }
  let scaled = Int((number * 100).rounded())
  return "\(scaled / 100).\(scaled % 100 < 10 ? "0" : "")\(scaled % 100)"
}
