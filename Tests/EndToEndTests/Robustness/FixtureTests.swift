import EventLoops
import Glibc
import TestSupport
import Testing

// The fixture of sessions itself: a test ends when one of its programs fails.

@Test("A test whose program has failed reports it at once, with its standard error, and does not wait")
func session_programFails_endsTheWait() throws {
  let session = try Session(starting: false)
  let start = MonotonicInstant.now
  let program = try session.start(program: "/bin/sh", ["-c", "echo 'no such library' >&2; exit 3"])
  let failure = #expect(throws: Session.Failure.self) { try session.wait("its window is there") { false } }
  #expect(MonotonicInstant.now - start < Session.limit)
  #expect(failure?.description.contains("no such library") == true, "\(failure?.description ?? "")")
  // The test has seen the failure now.
  #expect(program.exitCode == 3)
  #expect(throws: Session.Failure.self) { try session.wait("time is over", within: .zero) { false } }
  // A test that waits for the end of a program sees the failure, too. A failure ends no wait if the program was told to end, or may
  // fail.
  let seen = try session.start(program: "/bin/sh", ["-c", "exit 3"])
  try session.wait("it ends") { seen.hasEnded }
  let told = try session.start(
    program: "/bin/sh", ["-c", "trap 'exit 3' TERM; echo ready; while :; do sleep 0.01; done"])
  try session.wait("it runs") { told.lines == ["ready"] }
  told.send(SIGTERM)
  let free = try session.start(program: "/bin/sh", ["-c", "exit 3"], mayFail: true)
  let last = try session.start(program: "/bin/sh", ["-c", "sleep 0.5"])
  try session.wait("the last one ends") { last.hasEnded }
  #expect(told.exitCode == 3 && free.exitCode == 3)
}
