// Why this file exists: the first request after a login waits for navd to start, and one after a crash for what is on record
// to be read.

import CoordinatorAPI
import DBus
import DBusValues

/// From the start of a program until it owns its name.
struct StartBenchmark {
  private let peers: Peers
  private let rounds: Int

  /// - Parameter peers: without a navd that runs.
  init(_ peers: Peers, rounds: Int) {
    self.peers = peers
    self.rounds = rounds
  }

  func run(into report: inout Report) throws {
    let (empty, full) = (try peers.newDirectory(), try peers.newDirectory())
    try fill(full, with: 10_000)
    let results = try alternating(
      rounds,
      [
        { try start(peers.navd(stateDirectory: empty), CoordinatorNames.bus) },
        { try start(peers.navd(stateDirectory: full), CoordinatorNames.bus) },
        { try start(["dbus-test-tool", "echo", "--name=org.navd.Bench.Started"], "org.navd.Bench.Started") },
      ])
    report.add(
      Comparison(
        subject: "navd, until it has its name", peer: "dbus-test-tool echo", subjects: results[0], peers: results[2],
        target: .atMost(6)))
    report.add(
      "the same with 10⁴ presentations on record, more than without",
      median(zip(results[1], results[0]).map { $0 - $1 }), .nanoseconds, .atMost(100e6))
  }

  private func start(_ arguments: [String], _ name: BusName) throws -> Double {
    var tree: Peers.Running?
    let time = try nanoseconds { tree = try peers.start(arguments, until: name) }
    if let tree { peers.stop(tree) }
    return time
  }

  private func fill(_ directory: String, with count: Int) throws {
    let navd = try peers.start(peers.navd(stateDirectory: directory), until: CoordinatorNames.bus)
    for index in 0..<count {
      _ = try peers.call(CoordinatorInterface.present, ("bench.item[\(index)]", "", [:]))
    }
    peers.stop(navd)
  }
}
