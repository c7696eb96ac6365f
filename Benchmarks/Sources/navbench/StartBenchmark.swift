import CoordinatorAPI
import DBus

/// The time from the start of a program until it owns its bus name, for which the first request after a login or a crash waits.
struct StartBenchmark {
  let harness: Harness
  let rounds: Int
  /// The number of rounds for each round of the other measurements. A round is a single start of each program, because a program
  /// started several times in a row is in the processor's cache.
  private static let roundsForOne = 3

  func run(into report: inout Report) throws {
    let state = try harness.newDirectory()
    let results = try alternating(
      rounds * Self.roundsForOne,
      [
        { try start { try harness.start(harness.navd(stateDirectory: state), until: CoordinatorNames.bus) } },
        { try start(harness.startEcho) },
      ])
    report.compare(
      "navd, until it has its name", with: "dbus-test-tool echo", results[0], results[1], goal: .atMost(1.5))
  }

  private func start(_ start: () throws -> Program) throws -> Double {
    var program: Program?
    let time = try nanoseconds { program = try start() }
    if let program { harness.stop(program) }
    return time
  }
}
