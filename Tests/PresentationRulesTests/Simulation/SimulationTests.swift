// Why this file exists: the simulator is run from seeds; a failing one is printed with the command that replays it, and
// with the few of its steps that matter.

import Glibc
import PresentationRules
import Testing

/// How much to simulate; by the environment, so that a failing world is one command away:
/// `NAVD_SEED=7 swift test --filter Simulation`. A long run is a release build:
/// `NAVD_SEED=1 NAVD_WORLDS=50000 swift test -c release -Xswiftc -enable-testing --filter Simulation`.
private enum Settings {
  static func number(_ name: String) -> UInt64? { getenv(name).flatMap { UInt64(String(cString: $0)) } }
  /// The first world's seed; each world has one more than the world before.
  static let seed = number("NAVD_SEED")
  static let worlds = Int(number("NAVD_WORLDS") ?? (seed == nil ? 5000 : 1))
  static let steps = Int(number("NAVD_STEPS") ?? 200)
  /// Prints all that happens.
  static let isTracing = number("NAVD_TRACE") == 1
  /// Prints each world's seed before it starts: what to look at after a trap.
  static let isNaming = number("NAVD_NAMES") == 1
}

/// Runs a world, without some of its steps.
/// - Returns: what did not hold, and in which step; nil where all did.
private func run(_ world: inout World, steps: Int, without: Set<Int> = []) -> (step: Int, violation: Violation)? {
  var step = 0
  do throws(Violation) {
    try world.start()
    while step < steps {
      if !without.contains(step) { try world.step(step) }
      step += 1
    }
    try world.finish()
    return nil
  } catch {
    return (step, error)
  }
}

/// Leaves out what does not matter for the failure: the dice of each step are its own.
private func shrunk(_ seed: UInt64, steps: Int, rule: String) -> Set<Int> {
  var without: Set<Int> = []
  var size = max(1, steps / 2)
  while size >= 1 {
    var start = 0
    while start < steps {
      let less = without.union(start..<min(steps, start + size))
      if less.count > without.count {
        var world = World(seed: seed)
        if run(&world, steps: steps, without: less)?.violation.rule == rule { without = less }
      }
      start += size
    }
    size /= 2
  }
  return without
}

/// What to print for a world that failed.
private func report(_ seed: UInt64, _ failure: (step: Int, violation: Violation)) -> String {
  let steps = min(Settings.steps, failure.step + 1)
  let without = shrunk(seed, steps: steps, rule: failure.violation.rule)
  var world = World(seed: seed, isTracing: true)
  let small = run(&world, steps: steps, without: without)
  return """
    \(failure.violation) (step \(failure.step))
    replay: NAVD_SEED=\(seed) NAVD_STEPS=\(Settings.steps) swift test --filter Simulation
    \(steps - without.count) steps of it do, to \(small?.violation.description ?? "nothing any more"):
    \(world.trace.joined(separator: "\n"))
    """
}

@Suite struct Simulation {
  /// How many parts the worlds are run in, at the same time.
  private static let parts = 8

  @Test("Simulated worlds keep the rules and agree with the naive model", arguments: 0..<parts)
  func machine_simulated_keepsTheRules(part: Int) {
    let first = Settings.seed ?? 1
    for number in stride(from: part, to: Settings.worlds, by: Self.parts) {
      let seed = first &+ UInt64(number)
      if Settings.isNaming { print("world \(seed)") }
      var world = World(seed: seed, isTracing: Settings.isTracing)
      let failure = run(&world, steps: Settings.steps)
      if Settings.isTracing { print(world.trace.joined(separator: "\n")) }
      if let failure {
        Issue.record(Comment(rawValue: report(seed, failure)))
        return
      }
    }
  }
}
