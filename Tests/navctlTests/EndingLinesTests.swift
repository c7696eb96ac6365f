import DBusValues
import PresentationModel
import Testing

@testable import navctl

/// The lines of history --follow, which wait for the process of a client (K5).
@Suite struct EndingLinesTests {
  private func ending(_ reason: Reason, by client: String?, pid: UInt64? = nil) -> EndingEntry {
    var entry = EndingEntry([:])
    entry.reason = reason.rawValue
    guard let client else { return entry }
    var requester = RequesterEntry([:])
    requester.client = client
    requester.pid = pid
    entry.by = requester.properties
    return entry
  }

  @Test("K5: history --follow waits for the process of a client, and not for that of one that has left")
  func mayGetProcess_clientThatHasLeft_isNotWaitedFor() {
    let left = ending(.owner, by: ":1.5")
    #expect(EndingLines.mayGetProcess([ending(.dismissed, by: ":1.6"), left]))
    #expect(!EndingLines.mayGetProcess([ending(.dismissed, by: ":1.6", pid: 7), left]))
    // The process of a client that has left is not found for its earlier requests either.
    #expect(!EndingLines.mayGetProcess([ending(.dismissed, by: ":1.5"), left]))
    #expect(!EndingLines.mayGetProcess([ending(.closed, by: nil)]))
  }
}
