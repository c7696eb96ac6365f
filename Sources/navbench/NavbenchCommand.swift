import ArgumentParser
import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import Processes
import TextFormats

/// A part of the measurements, for `--only`.
enum Part: String, CaseIterable, ExpressibleByArgument {
  case start, memory, cost, scale, bus, library, panels, windows, process
}

@main
struct NavbenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "navbench",
    abstract: "Measures navd and navctl against their peers, on the session bus.",
    discussion: """
      It starts its own navd and dbus-test-tool's echo on the session bus, so run it on a private one:
      dbus-run-session -- navbench. Each round measures all subjects and peers in turn; the report shows the median, the
      least and the greatest of the rounds' ratios. With --summary it measures nothing, and makes one table of several
      reports, of runs on all processors and on one: a goal is reached if every run has reached it.

      With --soak it compares nothing: many clients use navd in all ways for so many seconds. It reports errors (then it
      exits with status 1), navd's memory and descriptors at the start and at the end, and how often navd wakes up
      afterwards, with a hundred presentations and without a request.
      """)

  @Option(help: "The number of rounds.")
  var rounds = 9

  @Option(help: "The number of calls of a subject in a round.")
  var calls = 1000

  @Option(help: "The number of processes of a subject in a round.")
  var processes = 20

  @Option(help: "The directory of the programs to measure, if not that of navbench.")
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

  @Option(help: ArgumentHelp("How long a watcher stops reading.", valueName: "seconds"))
  var stall = 60

  @Option(help: .hidden)
  var bareEcho: String?

  @Flag(help: .hidden)
  var bareWindows = false

  @Option(help: .hidden)
  var watchers: Int?

  @Option(help: ArgumentHelp("Run a mixed load for so many seconds instead.", valueName: "seconds"))
  var soak: Int?

  @Option(
    help: ArgumentHelp(
      "How long --soak then counts how often navd wakes up without a request.", valueName: "seconds"))
  var idle = 10

  @Option(help: "The number of clients with --soak.")
  var clients = 8

  mutating func validate() throws {
    guard rounds > 0, calls > 0, processes > 0, soak ?? 1 > 0, idle > 0, clients > 0, stall > 0, watchers ?? 1 > 0
    else {
      throw ValidationError(
        "--rounds, --calls, --processes, --stall, --soak, --idle and --clients must be greater than 0")
    }
    guard write == nil || !summary.isEmpty else { throw ValidationError("--write needs --summary") }
  }

  /// Runs on the main actor, as the library does.
  @MainActor
  func run() async throws {
    if let name = bareEcho.flatMap(BusName.init) { return try BareEcho.serve(as: name) }
    if bareWindows { return try BareWindows.serve() }
    if let watchers { return try Watchers.serve(watchers) }
    if !summary.isEmpty {
      let summary = try Summary(files: summary)
      if let write { try summary.write(to: write) }
      print(summary.text)
      return
    }
    if let soak {
      let harness = try Harness(programs: programs ?? Self.ownDirectory)
      defer { harness.stop() }
      _ = try harness.startNavd()
      let report = try Soak(harness, duration: .seconds(soak), idle: .seconds(idle), clients: clients).run()
      print(json ? report.json.text : report.text)
      if !report.tally.errors.isEmpty { throw ExitCode(1) }
      return
    }
    var report = Report(processors: Self.processors)
    let harness = try Harness(programs: programs ?? Self.ownDirectory)
    defer { harness.stop() }
    try await measure(harness, into: &report)
    print(try json ? report.json : Summary([report]).text)
  }

  private func measures(_ part: Part) -> Bool { only.isEmpty || only.contains(part) }

  @MainActor
  private func measure(_ harness: Harness, into report: inout Report) async throws {
    if measures(.start) { try StartBenchmark(harness: harness, rounds: rounds).run(into: &report) }
    if measures(.memory) {
      let navd = try harness.startNavd()
      try MemoryBenchmark(harness: harness).run(into: &report)
      harness.stop(navd)
    }
    if measures(.scale) { try ScaleBenchmark(harness: harness, rounds: min(rounds, 3)).run(into: &report) }
    // Without a desktop, this part runs only on request, and reports what is missing.
    if only.contains(.windows) || only.isEmpty && WindowEventSource.exists {
      try WindowBenchmark(harness: harness, rounds: rounds, switches: processes).run(into: &report)
    }
    if only == [.windows] { return }
    if measures(.cost) { try CostBenchmark(harness: harness).run(into: &report) }
    let navd = try harness.startNavd()
    if measures(.bus) {
      try harness.startEchoes()
      try BusBenchmark(harness: harness, rounds: rounds, calls: calls, stall: .seconds(stall)).run(into: &report)
    }
    if measures(.library) { try await LibraryBenchmark(rounds: min(rounds, 3)).run(into: &report) }
    if measures(.panels) {
      try SwitchBenchmark(harness: harness, rounds: rounds, switches: processes).run(into: &report)
    }
    if measures(.process) {
      let benchmark = ProcessBenchmark(harness: harness, rounds: rounds, processes: processes)
      try benchmark.run(into: &report)
      harness.stop(navd)
      try benchmark.runBare(into: &report)
    }
  }

  /// The number of processors on which this process and its children may run.
  private static var processors: Int {
    let status = String(decoding: ProcessTable.read("/proc/self/status") ?? [], as: UTF8.self)
    let prefix = "Cpus_allowed:"
    let mask = status.split(separator: "\n").first { $0.hasPrefix(prefix) }?.dropFirst(prefix.count)
    return mask?.compactMap(\.hexDigitValue).reduce(0) { $0 + $1.nonzeroBitCount } ?? 0
  }

  private static var ownDirectory: String {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let length = buffer.withUnsafeMutableBytes { bytes in
      readlink("/proc/self/exe", bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    let path = String(decoding: buffer.prefix(max(0, length)), as: UTF8.self)
    return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  }
}
