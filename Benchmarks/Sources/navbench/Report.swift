import FoundationEssentials

/// A unit. The raw value is its name in JSON.
enum Unit: String, Codable {
  case nanoseconds = "ns"
  case bytes
  case count = "1"

  func text(_ number: Double) -> String {
    switch self {
    case .nanoseconds: number < 1e6 ? "\(hundredths(number / 1e3)) µs" : "\(hundredths(number / 1e6)) ms"
    case .bytes: number < 1e5 ? "\(Int(number)) B" : "\(hundredths(number / Double(1 << 20))) MiB"
    case .count: number < 1e3 ? hundredths(number) : "\(Int(number))"
    }
  }
}

/// The upper limit for a line's ratio, or for its number.
struct Goal: Codable {
  let limit: Double
  /// Whether the goal applies only to programs that share one processor.
  let isForOneProcessor: Bool

  static func atMost(_ limit: Double, onOneProcessor: Bool = false) -> Goal {
    Goal(limit: limit, isForOneProcessor: onOneProcessor)
  }

  func isMet(by results: [Double]) -> Bool { median(results) <= limit }
}

/// A subject measured in rounds, with a peer in the same rounds if possible. With a peer, only the ratio is meaningful: the speed of
/// a machine varies.
struct Line: Codable {
  let subject: String
  let peer: String?
  let unit: Unit
  /// The results of the rounds.
  let subjects: [Double]
  let peers: [Double]
  let goal: Goal?

  /// The values for the goal: the ratios, or the numbers of a subject without a peer.
  var results: [Double] { peer == nil ? subjects : zip(subjects, peers).map { $0 / $1 } }
}

/// The results of a run.
struct Report: Codable {
  /// The number of processors that the programs share.
  let processors: Int
  private(set) var lines: [Line] = []

  init(processors: Int) { self.processors = processors }

  mutating func compare(
    _ subject: String, with peer: String, _ subjects: [Double], _ peers: [Double], unit: Unit = .nanoseconds,
    goal: Goal? = nil
  ) {
    lines.append(Line(subject: subject, peer: peer, unit: unit, subjects: subjects, peers: peers, goal: goal))
  }

  mutating func add(_ subject: String, _ numbers: [Double], _ unit: Unit, _ goal: Goal) {
    lines.append(Line(subject: subject, peer: nil, unit: unit, subjects: numbers, peers: [], goal: goal))
  }
}

extension Report {
  /// The report as one JSON value, from which another run of this program makes a table.
  var json: String {
    get throws {
      let encoder = JSONEncoder()
      // A number that could not be measured must not lose the others of a long run.
      encoder.nonConformingFloatEncodingStrategy = .convertToString(
        positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }

  /// - Throws: a `DecodingError` unless the JSON was written by this program.
  init(json: String) throws {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    self = try decoder.decode(Report.self, from: Data(json.utf8))
  }
}

/// The median of the values; NaN if there are none.
func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  guard !sorted.isEmpty else { return .nan }
  return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
}

func hundredths(_ number: Double) -> String {
  guard number.isFinite else { return "–" }
  let scaled = Int((number * 100).rounded())
  return "\(scaled / 100).\(scaled % 100 < 10 ? "0" : "")\(scaled % 100)"
}
