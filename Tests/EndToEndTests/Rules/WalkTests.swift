import Glibc
import PresentationModel
import PresentationRules
import TestSupport
import Testing

@testable import Simulation

// The worlds of the simulation, with a navd on a bus. The naive model says what its state has to be after each step.

/// The number of steps of each world that the environment asks for; `make walk` takes many, and other seeds each time.
private let steps = getenv("NAVD_TEST_WALK_STEPS").flatMap { Int(String(cString: $0)) } ?? 50
private let seed = getenv("NAVD_SEED").flatMap { UInt64(String(cString: $0)) } ?? 7

@Test("navd on a bus agrees with the naive model after each step of a simulated world", arguments: [seed, seed + 1])
func walk_ofASimulatedWorld_agreesWithTheNaiveModel(_ seed: UInt64) throws {
  var world = World(seed: seed, isTracing: true, isLive: true)
  let destinations = world.files.map { file in
    let group = if case .named(let name)? = file.group { "group = \"\(name)\"\n" } else { "" }
    return (file.name, "state = true\n\(group)")
  }
  let session = try Session(destinations: Dictionary(uniqueKeysWithValues: destinations))
  let live = try LiveWorld(session)
  var failure: (any Error)?
  world.mirror = { input, refusal throws(Violation) in
    do { try live.happen(input, refusal) } catch {
      failure = error
      throw Violation("navd", "\(error)")
    }
  }
  for step in -1..<steps {
    do {
      if step < 0 { try world.start() } else { try world.step(step) }
      try live.compare(with: world)
    } catch {
      Issue.record("seed \(seed), step \(step): \(failure ?? error)\n\(world.trace.suffix(60).joined(separator: "\n"))")
      return
    }
  }
}
