import CoordinatorAPI
import DBusValues
import EventLoops
import PresentationModel

/// `navctl` beside other programs that make one call. Measured is the time from the start of the process to its end, for which a key
/// binding or a script waits.
struct ProcessBenchmark {
  let harness: Harness
  let rounds: Int
  let processes: Int

  func run(into report: inout Report) throws {
    let navd = try harness.startNavd()
    let (bus, object) = (CoordinatorNames.bus.text, CoordinatorNames.object.text)
    let get = "org.navd.Coordinator1.Get"
    let others: [(name: String, arguments: [String], limit: Double)] = [
      ("dbus-send", ["dbus-send", "--print-reply", "--dest=\(bus)", object, get, "string:bench.fact"], 1.3),
      ("busctl", ["busctl", "--user", "call", bus, object, "org.navd.Coordinator1", "Get", "s", "bench.fact"], 0.55),
      ("gdbus", ["gdbus", "call", "--session", "-d", bus, "-o", object, "-m", get, "bench.fact"], 0.9),
    ]
    for arguments in [query] + others.map(\.arguments) { try run(arguments) }
    var own: [Double] = []
    var keyPresses = KeyPresses()
    var theirs = [[Double]](repeating: [], count: others.count)
    for _ in 0..<rounds {
      own.append(try medianNanoseconds(of: processes) { _ in try run(query) })
      try press(settle, &keyPresses)
      for (index, other) in others.enumerated() {
        theirs[index].append(try medianNanoseconds(of: processes) { _ in try run(other.arguments) })
      }
    }
    harness.stop(navd)
    for (index, other) in others.enumerated() {
      report.compare(
        "navctl is-presented, a process", with: other.name, own, theirs[index], goal: .atMost(other.limit))
    }
    report.compare(
      "navctl toggle of a destination, a process", with: "navctl is-presented", keyPresses.toggles, keyPresses.queries,
      goal: .atMost(1.1))
    try measureBare(into: &report)
  }

  /// Measures the same key press with a service that only starts or ends the program: the least possible time.
  private func measureBare(into report: inout Report) throws {
    let service = try harness.startBareEcho(as: CoordinatorNames.bus)
    defer { harness.stop(service) }
    var keyPresses = KeyPresses()
    for _ in 0..<rounds { try press({}, &keyPresses) }
    report.compare(
      "the same of the bare echo, which starts or ends the program", with: "navctl is-presented", keyPresses.toggles,
      keyPresses.queries)
  }

  /// The medians of the rounds.
  private struct KeyPresses {
    var toggles: [Double] = []
    var queries: [Double] = []
  }

  private var query: [String] { ["\(harness.programs)/navctl", "is-presented", "bench.fact"] }
  private var toggle: [String] { ["\(harness.programs)/navctl", "toggle", Harness.destination] }

  /// `navctl is-presented` exits with 3 if the answer is no.
  private func run(_ arguments: [String]) throws { try Program.run(arguments, expecting: [0, 3]) }

  /// Measures a round of key presses and queries in turn, because a panel that starts or ends between two processes removes navctl
  /// from the processor's caches.
  private func press(_ settle: () throws -> Void, _ results: inout KeyPresses) throws {
    let pairs = try (0..<processes).map { _ in
      try [toggle, query].map { arguments in
        let time = try nanoseconds { try run(arguments) }
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
