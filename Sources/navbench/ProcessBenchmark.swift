// Why this file exists: what a key binding or a script waits for is a whole process, from its start to its end.

import CoordinatorAPI
import DBusValues
import Glibc

/// `navctl` beside other programs that make one call.
struct ProcessBenchmark {
  private let peers: Peers
  private let rounds: Int
  private let processes: Int

  init(_ peers: Peers, rounds: Int, processes: Int) {
    self.peers = peers
    self.rounds = rounds
    self.processes = processes
  }

  func run(into report: inout Report) throws {
    let navctl = ["\(peers.directory)/navctl", "is-presented", "bench.fact"]
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
      report.add(
        Comparison(
          subject: "navctl is-presented, a process", peer: other.name, subjects: own, peers: theirs[index],
          target: .atMost(other.target)))
    }
  }
}

/// Runs a program and throws away what it writes. Nothing is done about it but what the kernel does: what keeping it
/// would cost is not its own.
private func runToEnd(_ arguments: [String]) throws {
  let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
  defer { close(nothing) }
  waitToEnd(try spawn(arguments, reading: nothing, writing: nothing))
}
