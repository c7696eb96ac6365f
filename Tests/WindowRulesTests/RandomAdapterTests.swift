import Glibc
import TestSupport
import Testing

/// A random adapter, beside random programs, users and ends of navd. Its laws: a window or process that navd did not start, or that its
/// user opened, is never closed, ended or left hidden; and what was asked for is shown, or refused within its time.
@Suite struct RandomAdapterTests {
  /// The number of steps; each world has 400.
  private static let steps = getenv("NAVD_TEST_ADAPTER_STEPS").flatMap { Int(String(cString: $0)) } ?? 24_000

  /// Always the same in `make test`; `make fuzz` takes others.
  private static let seed = getenv("NAVD_SEED") == nil ? 1 : SeededNumbers.chosenSeed

  @Test("N1, N2, N8: whatever an adapter tells, windows of the user stay, and what was asked for is shown or refused")
  func randomAdapter_leavesTheUsersWindows() {
    let seed = Self.seed
    var counts: [String: Int] = [:]
    for world in 0..<UInt64(max(1, Self.steps / 400)) {
      let desktop = RandomDesktop(seed: seed &+ world)
      for _ in 0..<400 {
        desktop.step()
        if !desktop.violations.isEmpty { break }
      }
      if desktop.violations.isEmpty { desktop.settle() }
      guard desktop.violations.isEmpty else {
        Issue.record(
          """
          \(desktop.violations.joined(separator: "; ")); repeat it with NAVD_SEED=\(seed &+ world) NAVD_TEST_ADAPTER_STEPS=400
          \(desktop.log.suffix(80).joined(separator: "\n"))
          """)
        return
      }
      counts.merge(desktop.counts, uniquingKeysWith: +)
    }
    // The worlds have everything that they are about.
    for kind in [
      "present", "presented", "close", "hide", "show", "terminate", "kill", "late", "again", "adapter", "navd", "ends",
      "opens", "tells", "tells-opening", "end-parked", "forget",
    ] {
      #expect(counts[kind, default: 0] > 0, "no world has “\(kind)”")
    }
  }
}
