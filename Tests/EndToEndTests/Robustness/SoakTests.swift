import CoordinatorAPI
import DBus
import TestSupport
import Testing
import TextFormats

// The soak, which takes minutes and runs rarely (`make soak`). This test checks in seconds that it still works.

@Test("A soak reports its counts, finds no errors and leaves no processes")
func soak_ofSomeSeconds_findsNothing() throws {
  let session = try Session(starting: false)
  let soak = try session.run(
    program: Session.program("navbench"), ["--soak", "2", "--idle", "2", "--clients", "4", "--json"])
  let report = try JSON.parse(soak.outputText)
  #expect(report["errors"]?.array == [], "\(soak.outputText) \(soak.errorText)")
  #expect(soak.exitCode == 0)
  #expect(report["operations"]?.unsigned ?? 0 > 100)
  #expect(report["events"]?.unsigned ?? 0 > 100)
  for name in ["memory-at-start", "memory-at-end", "descriptors-at-start", "descriptors-at-end", "worst-answer-us"] {
    #expect(report[name]?.unsigned ?? 0 > 0, "\(name)")
  }
  #expect(report["wake-ups"]?.unsigned ?? 9 <= 1)
  #expect(session.processes() == [])
}
