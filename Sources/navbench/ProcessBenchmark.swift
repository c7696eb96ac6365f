import CoordinatorAPI
import DBusValues
import EventLoops
import Glibc
import PresentationModel

/// `navctl` beside other programs that make one call. Measured is the time from the start of the process to its end, for which a key
/// binding or a script waits.
struct ProcessBenchmark {
  let harness: Harness
  let rounds: Int
  let processes: Int

  func run(into report: inout Report) throws {
    let (bus, object) = (CoordinatorNames.bus.text, CoordinatorNames.object.text)
    let others: [(name: String, arguments: [String], target: Double)] = [
      (
        "dbus-send",
        ["dbus-send", "--print-reply", "--dest=\(bus)", object, "org.navd.Coordinator1.Get", "string:bench.fact"], 1.4
      ),
      ("busctl", ["busctl", "--user", "call", bus, object, "org.navd.Coordinator1", "Get", "s", "bench.fact"], 0.6),
      (
        "gdbus",
        ["gdbus", "call", "--session", "-d", bus, "-o", object, "-m", "org.navd.Coordinator1.Get", "bench.fact"], 0.9
      ),
    ]
    for arguments in [query] + others.map(\.arguments) { try runToEnd(arguments) }
    var own: [Double] = []
    var keyPresses = KeyPresses()
    var theirs = [[Double]](repeating: [], count: others.count)
    for _ in 0..<rounds {
      own.append(try medianNanoseconds(of: processes) { _ in try runToEnd(query) })
      try press(settle, &keyPresses)
      for (index, other) in others.enumerated() {
        theirs[index].append(try medianNanoseconds(of: processes) { _ in try runToEnd(other.arguments) })
      }
    }
    for (index, other) in others.enumerated() {
      report.compare(
        "navctl is-presented, a process", with: other.name, own, theirs[index], goal: .atMost(other.target))
    }
    report.compare(
      "navctl toggle of a destination, a process", with: "navctl is-presented", keyPresses.toggles, keyPresses.queries,
      goal: .atMost(1.1))
  }

  /// Measures the same key press with a service that only starts or ends the program: the least possible time.
  func runBare(into report: inout Report) throws {
    let service = try harness.startBareEcho(as: CoordinatorNames.bus)
    var keyPresses = KeyPresses()
    for _ in 0..<rounds { try press({}, &keyPresses) }
    harness.stop(service)
    report.compare(
      "the same of the bare echo, which starts or ends the program", with: "navctl is-presented", keyPresses.toggles,
      keyPresses.queries)
  }

  /// The medians of the rounds.
  private struct KeyPresses {
    var toggles: [Double] = []
    var queries: [Double] = []
  }

  private var query: [String] { ["\(harness.directory)/navctl", "is-presented", "bench.fact"] }
  private var toggle: [String] { ["\(harness.directory)/navctl", "toggle", Harness.destination] }

  /// Measures a round of key presses and queries in turn, because a panel that starts or ends between two processes removes navctl
  /// from the processor's caches.
  private func press(_ settle: () throws -> Void, _ results: inout KeyPresses) throws {
    let pairs = try (0..<processes).map { _ in
      try [toggle, query].map { arguments in
        let time = try nanoseconds { try runToEnd(arguments) }
        try settle()
        return time
      }
    }
    results.toggles.append(median(pairs.map { $0[0] }))
    results.queries.append(median(pairs.map { $0[1] }))
  }

  /// Waits until the panel has started or ended, so that it does not use the processor of the next measurement.
  private func settle() throws {
    let (_, entries, _) = try harness.call(CoordinatorInterface.get, Harness.destination)
    guard let number = entries[StateEntry.keys.presentation] else { return }
    let phase: WaitPhase = entries[StateEntry.keys.phase] == "dismissing" ? .gone : .presented
    _ = try harness.call(CoordinatorInterface.wait, (CoordinatorNames.presentation(number), phase.rawValue))
  }
}

/// Runs a program to its end and discards its output.
private func runToEnd(_ arguments: [String]) throws {
  let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
  defer { close(nothing) }
  let status = waitForExit(try spawn(arguments, reading: nothing, writing: nothing))
  // navctl is-presented exits with 3 if the answer is no.
  guard [0, 3 << 8].contains(status) else {
    throw BenchmarkError(
      description:
        "\(arguments.joined(separator: " ")): expected the exit status 0 or 3, found the wait status \(status)")
  }
}
