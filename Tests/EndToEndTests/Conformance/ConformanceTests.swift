import CoordinatorAPI
import PresentationModel
import TestSupport
import Testing

// Conformance of adapters: every adapter, ours or a stranger's, passes the same scenarios (docs/conformance.md).

@Test(
  "An adapter does what it claims, with the compositor as the judge",
  arguments: AdapterSetup.chosen.map { [$0] } ?? AdapterSetup.all)
private func conformance_ofAnAdapter_isWhatItClaims(_ setup: AdapterSetup) throws {
  let conformance = try Conformance(setup)
  let row = ConformanceRow(outcomes: conformance.run(), of: conformance)
  for (scenario, outcome) in row.outcomes {
    if case .failed(let why) = outcome { Issue.record("\(setup.testDescription): \(scenario.name): \(why)") }
  }
  if AdapterSetup.chosen != nil { print(try row.text()) }
  if ConformanceTable.isWritten { try ConformanceTable.write(row) }
}
