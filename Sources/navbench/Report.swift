import CoordinatorAPI
import TextFormats

/// The raw value is the unit's name in JSON.
enum Unit: String {
  case nanoseconds = "ns"
  case bytes
  case perSecond = "1/s"
  case count = "1"

  func text(_ number: Double) -> String {
    switch self {
    case .nanoseconds: number < 1e6 ? "\(hundredths(number / 1e3)) µs" : "\(hundredths(number / 1e6)) ms"
    case .bytes: number < 1e5 ? "\(Int(number)) B" : "\(hundredths(number / Double(1 << 20))) MiB"
    case .perSecond: "\(Int(number)) /s"
    case .count: number < 1e3 ? hundredths(number) : "\(Int(number))"
    }
  }
}

/// The limit that a ratio or a number is meant to meet.
struct Target {
  let limit: Double
  let isUpperLimit: Bool

  static func atMost(_ limit: Double) -> Target { Target(limit: limit, isUpperLimit: true) }
  static func atLeast(_ limit: Double) -> Target { Target(limit: limit, isUpperLimit: false) }

  func isMet(by number: Double) -> Bool { isUpperLimit ? number <= limit : number >= limit }
}

/// A subject measured beside a peer in the same rounds. Only their ratio is meaningful: the speed of a machine varies.
struct Comparison {
  let subject: String
  let peer: String
  let unit: Unit
  /// The results of the rounds.
  let subjects: [Double]
  let peers: [Double]
  /// The target for the median of the ratios; nil if there is none.
  let target: Target?

  var ratios: [Double] { zip(subjects, peers).map { $0 / $1 } }
}

/// The results of a run, as a table for people and as JSON for programs.
struct Report {
  private(set) var comparisons: [Comparison] = []
  /// Results without a peer.
  private(set) var findings: [(subject: String, number: Double, unit: Unit, target: Target?)] = []

  mutating func compare(
    _ subject: String, with peer: String, _ subjects: [Double], _ peers: [Double], unit: Unit = .nanoseconds,
    target: Target? = nil
  ) {
    comparisons.append(
      Comparison(subject: subject, peer: peer, unit: unit, subjects: subjects, peers: peers, target: target))
  }

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
    "\(target.isUpperLimit ? "≤" : "≥") \(text(target.limit))"
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
            "unit": .string(comparison.unit.rawValue), "subjects": .array(comparison.subjects.map(JSON.real)),
            "peers": .array(comparison.peers.map(JSON.real)), "ratio": .real(median(comparison.ratios)),
            "target": json(comparison.target),
          ]
        }),
      "findings": .array(
        findings.map { finding in
          [
            "subject": .string(finding.subject), "number": .real(finding.number),
            "unit": .string(finding.unit.rawValue),
            "target": json(finding.target),
          ]
        }),
    ]
  }

  private func json(_ target: Target?) -> JSON {
    target.map { [$0.isUpperLimit ? "at-most" : "at-least": .real($0.limit)] } ?? .null
  }
}

/// The median of the values; NaN if there are none.
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
