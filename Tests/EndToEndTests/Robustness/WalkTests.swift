import Glibc
import TestSupport
import Testing

// A random walk through the rules with a real navd. `Tests/Walk` has the model, which shares no code with the rules.

/// The number of steps that the environment asks for; `make walk` takes many, and another seed each time.
private let asked = getenv("NAVD_TEST_WALK_STEPS").flatMap { Int(String(cString: $0)) }
private let seed = getenv("NAVD_SEED").flatMap { UInt64(String(cString: $0)) } ?? 7

@Test(
  "A random walk through the rules, with kills of navd, agrees with a model after each step", .serialized,
  arguments: BusProgram.named(by: "NAVD_TEST_WALK_BUS") ?? (asked == nil ? [.daemon] : BusProgram.allCases))
func walk_throughAllRules_agreesWithTheModel(on program: BusProgram) throws {
  let steps = asked ?? 100
  let session = try Session(starting: false, program: program)
  let walk = try session.start(
    program: "/usr/bin/python3",
    [
      "-B", "\(Files.package)/Tests/Walk/walk.py", Session.program("navd"), session.path("walk"), "\(steps)",
      "\(seed)",
    ], mayFail: true)
  try session.wait("the walk ends", within: Session.limit + .milliseconds(100 * steps)) { walk.hasEnded }
  if walk.exitCode == 0, asked != nil { print("walk on \(program.rawValue): \(walk.outputText)") }
  #expect(walk.exitCode == 0, "\(walk.outputText)\(walk.errorText)")
}
