// Why this file exists: speed is told as ratios to peers that were measured in the same run, since these machines have
// moods.

import ArgumentParser
import CoordinatorAPI
import DBus
import EventLoops
import Glibc
import TextFormats

/// What can be measured by itself.
enum Part: String, CaseIterable, ExpressibleByArgument {
  case core, start, memory, cost, bus, panels, process
}

@main
struct NavbenchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "navbench",
    abstract: "Measures navd and navctl against their peers, on the session bus.",
    discussion: """
      It starts a navd of its own and dbus-test-tool's echo on the bus that it finds, so run it on a private one:
      dbus-run-session -- navbench. Rounds of all subjects alternate; a ratio is taken within a round, and the median of
      the rounds' ratios is told, with the least and the greatest.

      With --soak it measures nothing beside anything: it has many clients use navd in all ways for that long, and tells
      what went wrong (then it ends with status 1), and what navd has more in memory at the end than at the start.
      """)

  @Option(help: "How many rounds.")
  var rounds = 9

  @Option(help: "How many calls a round and subject.")
  var calls = 1000

  @Option(help: "How many processes a round and subject.")
  var processes = 20

  @Option(help: "Where the programs are that are measured; else beside navbench.")
  var programs: String?

  @Flag(help: "One JSON value instead of a table.")
  var json = false

  @Option(help: "Only this part; may be given more than once.")
  var only: [Part] = []

  @Option(help: ArgumentHelp("For how long a watcher reads nothing.", valueName: "seconds"))
  var stall = 60

  @Flag(help: .hidden)
  var bareEcho = false

  @Option(help: .hidden)
  var watchers: Int?

  @Option(help: ArgumentHelp("A mixed load for so many seconds instead.", valueName: "seconds"))
  var soak: Int?

  @Option(help: "How many clients there are with --soak.")
  var clients = 8

  mutating func validate() throws {
    guard rounds > 0, calls > 0, processes > 0, soak ?? 1 > 0, clients > 0, stall > 0, watchers ?? 1 > 0 else {
      throw ValidationError("--rounds, --calls, --processes, --stall, --soak and --clients have to be greater than 0")
    }
  }

  mutating func run() throws {
    if bareEcho { return try BareEcho.serve() }
    if let watchers { return try Watchers.serve(watchers) }
    if let soak {
      let peers = try Peers(programs: programs ?? Self.ownDirectory)
      defer { peers.stop() }
      _ = try peers.startNavd()
      let report = try Soak(peers, duration: .seconds(soak), clients: clients).run()
      print(json ? report.json.text : report.text)
      if !report.tally.faults.isEmpty { throw ExitCode(1) }
      return
    }
    var report = Report()
    if measures(.core) { CoreBenchmark().run(into: &report) }
    if only != [.core] {
      let peers = try Peers(programs: programs ?? Self.ownDirectory)
      defer { peers.stop() }
      try measure(peers, into: &report)
    }
    print(json ? report.json.text : report.table)
  }

  private func measures(_ part: Part) -> Bool { only.isEmpty || only.contains(part) }

  private func measure(_ peers: Peers, into report: inout Report) throws {
    if measures(.start) { try StartBenchmark(peers, rounds: rounds).run(into: &report) }
    if measures(.memory) {
      let navd = try peers.startNavd()
      try MemoryBenchmark(peers).run(into: &report)
      peers.stop(navd)
    }
    if measures(.cost) { try CostBenchmark(peers).run(into: &report) }
    _ = try peers.startNavd()
    if measures(.bus) {
      try peers.startEchoes()
      try BusBenchmark(peers, rounds: rounds, calls: calls, stall: .seconds(stall)).run(into: &report)
    }
    if measures(.panels) {
      try SwitchBenchmark(peers, rounds: rounds, switches: processes).run(into: &report)
    }
    if measures(.process) {
      try ProcessBenchmark(peers, rounds: rounds, processes: processes).run(into: &report)
    }
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
