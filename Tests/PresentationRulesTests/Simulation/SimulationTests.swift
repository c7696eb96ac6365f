import Glibc
import PresentationRules
import Testing

@testable import Simulation

/// The size of the simulation, from the environment. Repeat a failing world with:
/// `NAVD_SEED=7 swift test --filter Simulation`. A long run is a release build:
/// `NAVD_SEED=1 NAVD_WORLDS=50000 swift test -c release -Xswiftc -enable-testing --filter Simulation`.
private enum Settings {
  static func number(_ name: String) -> UInt64? { getenv(name).flatMap { UInt64(String(cString: $0)) } }
  /// The first world's seed; each world has one more than the world before.
  static let seed = number("NAVD_SEED")
  static let worlds = Int(number("NAVD_WORLDS") ?? (seed == nil ? 60 : 1))
  static let steps = Int(number("NAVD_STEPS") ?? 200)
  /// Prints all that happens.
  static let isTracing = number("NAVD_TRACE") == 1
  /// Prints each world's seed before it starts, to find the one that traps.
  static let isNaming = number("NAVD_NAMES") == 1
}

/// Runs a world, without some of its steps.
/// - Returns: the broken rule, and the step; nil if none was broken.
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

/// Leaves out the steps that do not matter for the failure, which is possible since each step has its own dice.
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

/// The report of a failed world.
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

/// The simulation: random worlds, in which the machine has to keep the rules and to agree with the naive model.
@Suite struct Simulation {
  /// The number of parts in which worlds run at the same time.
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
