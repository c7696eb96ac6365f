// Why this file exists: what was measured, as a table for people and as JSON for programs.

import CoordinatorAPI

/// One subject beside its peer.
struct Comparison {
  let subject: String
  let peer: String
  /// A median of each round, in nanoseconds.
  let subjectMedians: [Double]
  let peerMedians: [Double]
  /// What the ratio should be at most; nil where nothing is promised.
  let target: Double?

  /// A ratio a round.
  var ratios: [Double] { zip(subjectMedians, peerMedians).map { $0 / $1 } }
}

/// All comparisons of a run.
struct Report {
  var comparisons: [Comparison] = []

  var table: String {
    var rows = [["subject", "peer", "subject", "peer", "ratio", "least–greatest", "target"]]
    for comparison in comparisons {
      let ratios = comparison.ratios
      rows.append([
        comparison.subject, comparison.peer, microseconds(median(comparison.subjectMedians)),
        microseconds(median(comparison.peerMedians)), hundredths(median(ratios)),
        "\(hundredths(ratios.min() ?? 0))–\(hundredths(ratios.max() ?? 0))",
        comparison.target.map { "≤ \(hundredths($0))" } ?? "",
      ])
    }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
    }.joined(separator: "\n")
  }

  var json: JSON {
    .array(
      comparisons.map { comparison in
        [
          "subject": .string(comparison.subject), "peer": .string(comparison.peer),
          "subject-ns": .array(comparison.subjectMedians.map(JSON.real)),
          "peer-ns": .array(comparison.peerMedians.map(JSON.real)), "ratio": .real(median(comparison.ratios)),
          "target": comparison.target.map(JSON.real) ?? .null,
        ]
      })
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

private func microseconds(_ nanoseconds: Double) -> String { hundredths(nanoseconds / 1000) + " µs" }
