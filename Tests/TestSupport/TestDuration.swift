import Glibc

/// The duration of a test, which is appended to the file that `NAVD_TEST_DURATIONS` names; `.ci/tests` reads it. The durations that
/// Swift Testing reports include the time in which a test waits for its turn.
struct TestDuration {
  private let test: String
  private let start = ContinuousClock.now

  /// - Parameter file: the file, as in `#fileID`.
  init(_ file: String, _ function: String) { test = "\(file) \(function)" }

  func record() {
    guard let path = getenv("NAVD_TEST_DURATIONS") else { return }
    let file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
    guard file >= 0 else { return }
    defer { close(file) }
    let line = "\((ContinuousClock.now - start) / .seconds(1)) \(test)\n"
    _ = line.withCString { write(file, $0, strlen($0)) }
  }
}
