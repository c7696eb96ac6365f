import Glibc
import Testing

/// Whether tests use the largest inputs and judge times (`NAVD_TEST_THOROUGH`, set by `make fuzz`).
///
/// A time measured beside many other tests says little, and a test that judges it fails now and then without a defect. So an ordinary
/// run only prints times, and its conditions have the limit of a call without an answer, 30 seconds.
public let isThorough = getenv("NAVD_TEST_THOROUGH") != nil

/// Requires that something was fast enough, in a thorough run only.
public func expectSpeed(
  _ isReached: Bool, _ comment: @autoclosure () -> String = "", at location: SourceLocation = #_sourceLocation
) {
  guard isThorough else { return }
  #expect(isReached, Comment(rawValue: comment()), sourceLocation: location)
}
