// Why this file exists: what a request executes and asks of the kernel does not depend on the machine's mood, as its time does.

import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import Processes

/// Instructions and system calls of one Present with another id, of navd and of the bare echo.
struct CostBenchmark {
  private let peers: Peers

  init(_ peers: Peers) { self.peers = peers }

  func run(into report: inout Report) throws {
    let services = [
      (name: CoordinatorNames.bus, command: try peers.navd(stateDirectory: peers.newDirectory())),
      (name: BareEcho.name, command: ["\(peers.directory)/navbench", "--bare-echo"]),
    ]
    let counters: [(what: String, few: Int, many: Int, command: (String) -> [String], read: (String) -> Int?)] = [
      ("system calls", 100, 1100, { ["strace", "-f", "-c", "-U", "calls,name", "-o", $0] }, Self.systemCalls),
      (
        "instructions", 100, 500, { ["valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=\($0)"] },
        Self.instructions
      ),
    ]
    for counter in counters {
      let each = try services.map { name, command in
        // What is done once, at the start and at the end, is in both.
        let counts = try [counter.few, counter.many].map { calls in
          try count(calls, of: name, running: command, under: counter.command, counter.read)
        }
        return Double(counts[1] - counts[0]) / Double(counter.many - counter.few)
      }
      report.add(
        Comparison(
          subject: "\(counter.what) of one Present, another id each time", peer: "the bare echo's", unit: .count,
          subjects: [each[0]], peers: [each[1]]))
    }
  }

  /// Runs a service under a program that counts, from its start to its end, with so many calls.
  private func count(
    _ calls: Int, of name: BusName, running command: [String], under counter: (String) -> [String],
    _ read: (String) -> Int?
  ) throws -> Int {
    let directory = try peers.newDirectory()
    // What counts reads all that there is for debuggers first, which is most of the file.
    let program = "\(directory)/program"
    try peers.run(["objcopy", "--strip-debug", command[0], program])
    let result = "\(directory)/counts"
    let tree = try peers.start(counter(result) + [program] + command.dropFirst(), until: name)
    for id in 0..<calls {
      _ = try peers.connection.callAndWait(
        CoordinatorInterface.present, on: name, at: CoordinatorNames.object, ("bench.fact", String(id), [:]))
    }
    // It ends by itself then, and what counts tells.
    kill(pid_t(try peers.process(of: name)), SIGTERM)
    peers.waitForEnd(of: tree)
    guard let text = ProcessTable.read(result), let count = read(String(decoding: text, as: UTF8.self)) else {
      throw MeasuringFailure(description: "\(counter(result)[0]) has counted nothing")
    }
    return count
  }

  /// The last line is the sum.
  private static func systemCalls(_ table: String) -> Int? {
    table.split(separator: "\n").last.flatMap { $0.split(separator: " ").first }.flatMap { Int($0) }
  }

  private static func instructions(_ profile: String) -> Int? {
    let prefix = "summary: "
    return profile.split(separator: "\n").first { $0.hasPrefix(prefix) }.flatMap { Int($0.dropFirst(prefix.count)) }
  }
}
