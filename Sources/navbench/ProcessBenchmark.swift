// Why this file exists: what a key binding or a script waits for is a whole process, from its start to its end.

import CoordinatorAPI
import DBusValues

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
    let others: [(name: String, arguments: [String], target: Double?)] = [
      (
        "dbus-send",
        ["dbus-send", "--print-reply", "--dest=\(bus)", object, "org.navd.Coordinator1.Get", "string:bench.fact"], 2.2
      ),
      ("busctl", ["busctl", "--user", "call", bus, object, "org.navd.Coordinator1", "Get", "s", "bench.fact"], nil),
      (
        "gdbus",
        ["gdbus", "call", "--session", "-d", bus, "-o", object, "-m", "org.navd.Coordinator1.Get", "bench.fact"], nil
      ),
    ]
    for arguments in [navctl] + others.map(\.arguments) { try peers.run(arguments) }
    var own: [Double] = []
    var theirs = [[Double]](repeating: [], count: others.count)
    for _ in 0..<rounds {
      own.append(try medianNanoseconds(of: processes) { _ in try peers.run(navctl) })
      for (index, other) in others.enumerated() {
        theirs[index].append(try medianNanoseconds(of: processes) { _ in try peers.run(other.arguments) })
      }
    }
    for (index, other) in others.enumerated() {
      report.comparisons.append(
        Comparison(
          subject: "navctl is-presented, a process", peer: other.name, subjectMedians: own, peerMedians: theirs[index],
          target: other.target))
    }
  }
}
