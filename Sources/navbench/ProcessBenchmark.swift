// Why this file exists: what a key binding or a script waits for is a whole process, from its start to its end.

import CLinux
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

/// Starts a program, which is found as a shell finds it.
func spawn(_ arguments: [String], reading input: Int32, writing output: Int32) throws -> pid_t {
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
  var words = arguments.map { strdup($0) } + [nil]
  defer { for word in words { free(word) } }
  var process: pid_t = 0
  let error = posix_spawnp(&process, arguments[0], &actions, nil, &words, linux_environment())
  guard error == 0 else { throw MeasuringFailure(description: "\(arguments[0]): \(String(cString: strerror(error)))") }
  return process
}

func waitToEnd(_ process: pid_t) {
  var status: Int32 = 0
  while waitpid(process, &status, 0) < 0, errno == EINTR {}
}
