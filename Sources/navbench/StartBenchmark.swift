import CoordinatorAPI
import DBus
import DBusValues
import Processes

/// The time from the start of a program until it owns its bus name, for which the first request after a login or a crash waits. It
/// needs a harness without a running navd.
struct StartBenchmark {
  let harness: Harness
  let rounds: Int
  /// The number of rounds for each round of the other measurements. A round is a single start of each program, because a program
  /// started several times in a row is in the processor's cache.
  private static let roundsForOne = 3

  func run(into report: inout Report) throws {
    let (empty, full) = (try harness.newDirectory(), try harness.newDirectory())
    try fill(full, with: 10_000)
    let results = try alternating(
      rounds * Self.roundsForOne,
      [
        { try start(harness.navd(stateDirectory: empty), CoordinatorNames.bus) },
        { try start(harness.navd(stateDirectory: full), CoordinatorNames.bus) },
        { try start(["dbus-test-tool", "echo", "--name=org.navd.Bench.Started"], "org.navd.Bench.Started") },
      ])
    report.compare(
      "navd, until it has its name", with: "dbus-test-tool echo", results[0], results[2], goal: .atMost(1.5))
    report.add(
      "the same with 10⁴ presentations on record, more than without",
      zip(results[1], results[0]).map { $0 - $1 }, .nanoseconds, .atMost(100e6))
  }

  private func start(_ arguments: [String], _ name: BusName) throws -> Double {
    var tree: ProcessTree?
    let time = try nanoseconds { tree = try harness.start(arguments, until: name) }
    if let tree { harness.stop(tree) }
    return time
  }

  private func fill(_ directory: String, with count: Int) throws {
    let navd = try harness.start(harness.navd(stateDirectory: directory), until: CoordinatorNames.bus)
    for index in 0..<count {
      _ = try harness.call(CoordinatorInterface.present, ("bench.item[\(index)]", "", [:]))
    }
    harness.stop(navd)
  }
}
