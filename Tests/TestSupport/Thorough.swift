import Glibc
import Testing

/// Whether tests use the largest inputs and judge times (`NAVD_TEST_THOROUGH`, set by `make fuzz`).
///
/// Beside many other tests a time says little, and a test that judges it fails now and then without a defect. So the usual
/// run prints times, and what must hold in it has the limit of a call without an answer, 30 seconds.
public let isThorough = getenv("NAVD_TEST_THOROUGH") != nil

/// Requires in a thorough run that something was fast enough.
public func expectSpeed(
  _ isReached: Bool, _ comment: @autoclosure () -> String = "", at location: SourceLocation = #_sourceLocation
) {
  guard isThorough else { return }
  #expect(isReached, Comment(rawValue: comment()), sourceLocation: location)
}
