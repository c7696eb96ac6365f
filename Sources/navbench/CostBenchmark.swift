import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import Processes

/// The instructions and system calls of navd and the bare echo for one Present with another id. Unlike times, they do not vary with
/// the machine's speed.
struct CostBenchmark {
  let harness: Harness

  func run(into report: inout Report) throws {
    let services = [
      (name: CoordinatorNames.bus, command: try harness.navd(stateDirectory: harness.newDirectory())),
      (name: BareEcho.name, command: harness.bareEcho()),
    ]
    let counters:
      [(what: String, few: Int, many: Int, goal: Goal?, command: (String) -> [String], read: (String) -> Int?)] = [
        ("system calls", 100, 1100, nil, { ["strace", "-f", "-c", "-U", "calls,name", "-o", $0] }, Self.systemCalls),
        (
          "instructions", 100, 500, .atMost(165_000),
          { ["valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=\($0)"] }, Self.instructions
        ),
      ]
    for counter in counters {
      let each = try services.map { name, command in
        // The difference of two runs leaves out the start and the end of the program.
        let counts = try [counter.few, counter.many].map { calls in
          try count(calls, of: name, running: command, under: counter.command, counter.read)
        }
        return Double(counts[1] - counts[0]) / Double(counter.many - counter.few)
      }
      let subject = "\(counter.what) of one Present, another id each time"
      report.compare(subject, with: "the bare echo's", [each[0]], [each[1]], unit: .count)
      if let goal = counter.goal { report.add(subject, [each[0]], .count, goal) }
    }
  }

  /// Runs a service under a counting program from its start to its end, and makes `calls` calls.
  private func count(
    _ calls: Int, of name: BusName, running command: [String], under counter: (String) -> [String],
    _ read: (String) -> Int?
  ) throws -> Int {
    let directory = try harness.newDirectory()
    // Debug information is removed, because valgrind would read it at the start.
    let program = "\(directory)/program"
    try harness.run(["objcopy", "--strip-debug", command[0], program])
    let result = "\(directory)/counts"
    let tree = try harness.start(counter(result) + [program] + command.dropFirst(), until: name)
    for id in 0..<calls {
      _ = try harness.connection.callAndWait(
        CoordinatorInterface.present, on: name, at: CoordinatorNames.object, ("bench.fact", String(id), [:]))
    }
    // The counting program writes its result when the service has exited.
    kill(pid_t(try harness.process(of: name)), SIGTERM)
    harness.waitForEnd(of: tree)
    guard let text = ProcessTable.read(result), let count = read(String(decoding: text, as: UTF8.self)) else {
      throw BenchmarkError(description: "expected a count from \(counter(result)[0]), found none")
    }
    return count
  }

  /// The total is in the last line.
  private static func systemCalls(_ table: String) -> Int? {
    table.split(separator: "\n").last.flatMap { $0.split(separator: " ").first }.flatMap { Int($0) }
  }

  private static func instructions(_ profile: String) -> Int? {
    let prefix = "summary: "
    return profile.split(separator: "\n").first { $0.hasPrefix(prefix) }.flatMap { Int($0.dropFirst(prefix.count)) }
  }
}
