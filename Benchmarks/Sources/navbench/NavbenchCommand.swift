import ArgumentParser
import DBusValues
import Glibc

/// A part of the measurements, for `--only`.
enum Part: String, CaseIterable, ExpressibleByArgument {
  case start, idle, bus, library, windows, placement, process
}

@main
struct NavbenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "navbench",
    abstract: "Measures navd and navctl against their peers, on the session bus.",
    discussion: """
      It starts its own navd and its peers on the session bus, so run it on a private one: dbus-run-session -- navbench. \
      Each round measures all subjects and peers in turn; the report shows the median, the least and the greatest of the \
      rounds' ratios. With --summary it measures nothing, and makes one table of several reports, of runs on all \
      processors and on one: a goal is reached if every run has reached it.
      """)

  @Option(help: "The number of rounds.")
  var rounds = 9

  @Option(help: "The number of calls of a subject in a round.")
  var calls = 1000

  @Option(help: "The number of processes of a subject in a round.")
  var processes = 20

  @Option(help: "The directory of navd, navctl and navd-windows, if not that of navbench.")
  var programs: String?

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Make a table of the reports that earlier runs have printed with --json.", valueName: "file"))
  var summary: [String] = []

  @Option(help: ArgumentHelp("With --summary: write the table into this Markdown file.", valueName: "file"))
  var write: String?

  @Flag(help: "Print one JSON value instead of a table.")
  var json = false

  @Option(help: "Measure only this part; may be given more than once.")
  var only: [Part] = []

  @Option(help: .hidden)
  var bareEcho: String?

  mutating func validate() throws {
    guard rounds > 0, calls > 0, processes > 0 else {
      throw ValidationError("--rounds, --calls and --processes must be greater than 0")
    }
    guard write == nil || !summary.isEmpty else { throw ValidationError("--write needs --summary") }
  }

  /// Runs on the main actor, as the library does.
  @MainActor
  func run() async throws {
    if let name = bareEcho.flatMap(BusName.init) { return try BareEcho.serve(as: name) }
    if !summary.isEmpty {
      let summary = try Summary(files: summary)
      if let write { try summary.write(to: write) }
      return print(summary.text)
    }
    var report = Report(processors: Self.processors)
    let harness = try Harness(programs: programs ?? Self.ownDirectory)
    defer { harness.stop() }
    try await measure(harness, into: &report)
    print(try json ? report.json : Summary([report]).text)
  }

  @MainActor
  private func measure(_ harness: Harness, into report: inout Report) async throws {
    let measures = { (part: Part) in only.isEmpty || only.contains(part) }
    if measures(.start) { try StartBenchmark(harness: harness, rounds: rounds).run(into: &report) }
    if measures(.idle) { try IdleBenchmark(harness: harness).run(into: &report) }
    if measures(.bus) { try BusBenchmark(harness: harness, rounds: rounds, calls: calls).run(into: &report) }
    if measures(.library) {
      let navd = try harness.startNavd()
      try await LibraryBenchmark(rounds: min(rounds, 3)).run(into: &report)
      harness.stop(navd)
    }
    if measures(.process) {
      try ProcessBenchmark(harness: harness, rounds: rounds, processes: processes).run(into: &report)
    }
    if measures(.windows) {
      try WindowBenchmark(harness: harness, rounds: rounds, switches: processes).run(into: &report)
    }
    if measures(.placement) {
      try PlacementBenchmark(harness: harness, rounds: rounds, windows: processes).run(into: &report)
    }
  }

  /// The number of processors on which this process and its children may run.
  private static var processors: Int {
    let mask = (try? read("/proc/self/status"))?.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed:") }
    return mask?.drop { $0 != ":" }.compactMap(\.hexDigitValue).reduce(0) { $0 + $1.nonzeroBitCount } ?? 0
  }

  private static var ownDirectory: String {
    let path = realpath("/proc/self/exe", nil)
    defer { free(path) }
    let program = path.map { String(cString: $0) } ?? ""
    return String(program[..<(program.lastIndex(of: "/") ?? program.startIndex)])
  }
}
