import CoordinatorAPI
import DBusValues
import Glibc

/// `navctl` beside other programs that make one call: the time from the start of the process to its end, for which a key
/// binding or a script waits.
struct ProcessBenchmark {
  let harness: Harness
  let rounds: Int
  let processes: Int

  func run(into report: inout Report) throws {
    let navctl = ["\(harness.directory)/navctl", "is-presented", "bench.fact"]
    let (bus, object) = (CoordinatorNames.bus.text, CoordinatorNames.object.text)
    let others: [(name: String, arguments: [String], target: Double)] = [
      (
        "dbus-send",
        ["dbus-send", "--print-reply", "--dest=\(bus)", object, "org.navd.Coordinator1.Get", "string:bench.fact"], 1.6
      ),
      ("busctl", ["busctl", "--user", "call", bus, object, "org.navd.Coordinator1", "Get", "s", "bench.fact"], 0.9),
      (
        "gdbus",
        ["gdbus", "call", "--session", "-d", bus, "-o", object, "-m", "org.navd.Coordinator1.Get", "bench.fact"], 0.9
      ),
    ]
    for arguments in [navctl] + others.map(\.arguments) { try runToEnd(arguments) }
    var own: [Double] = []
    var theirs = [[Double]](repeating: [], count: others.count)
    for _ in 0..<rounds {
      own.append(try medianNanoseconds(of: processes) { _ in try runToEnd(navctl) })
      for (index, other) in others.enumerated() {
        theirs[index].append(try medianNanoseconds(of: processes) { _ in try runToEnd(other.arguments) })
      }
    }
    for (index, other) in others.enumerated() {
      report.compare(
        "navctl is-presented, a process", with: other.name, own, theirs[index], target: .atMost(other.target))
    }
  }
}

/// Runs a program to its end and discards its output.
private func runToEnd(_ arguments: [String]) throws {
  let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
  defer { close(nothing) }
  waitForExit(try spawn(arguments, reading: nothing, writing: nothing))
}
