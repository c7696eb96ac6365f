import EventLoops
import Glibc
import TestSupport
import Testing

// The memory and the wake-ups that remain after many presentations with GTK.

private let rounds = getenv("NAVD_TEST_GTK_ROUNDS").flatMap { Int(String(cString: $0)) }

/// The test of `make check-gtk`, which takes minutes.
@Test(
  "Nothing is alive after many presentations of every kind, and nothing wakes up the main thread afterwards",
  .enabled(if: rounds != nil), arguments: [["--embedded"], ["--embedded", "--plain"], []])
func gtkRounds_manyPresentations_leaveNothing(_ arguments: [String]) throws {
  let program = try GTKProgram("gtk-screens", arguments)
  try program.wait(windows: "Main")
  let start = MonotonicInstant.now
  // The toolkit keeps objects that it makes once, so the first rounds do not count.
  _ = try program.ask("rounds 12")
  let said = try program.ask("rounds \(rounds ?? 0)", within: .seconds(600))
  let duration = MonotonicInstant.now - start
  try expectNothingIsLeft(of: program)
  let left = try program.ask("count")
  // The program sleeps when the toolkit's timers that run once have ended.
  try program.session.poll("the program sleeps", within: .seconds(60)) { try program.wakeUps(during: .seconds(5)) == 0 }
  let idle = try program.wakeUps(during: .seconds(20))
  print("check-gtk: \(arguments.joined(separator: " ")): \(said); then: \(left)")
  print("check-gtk: \(duration), and \(idle) wake-ups of the main thread in 20 seconds after that")
  #expect(idle == 0)
}
