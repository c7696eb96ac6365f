import CoordinatorAPI
import DBus
import DBusValues
import Glibc

/// The time to replace one of two panels, each a process, by the other: from the request until the old panel has ended and
/// the new one runs.
struct SwitchBenchmark {
  let harness: Harness
  let rounds: Int
  let switches: Int

  func run(into report: inout Report) throws {
    var panels = Alternator()
    let shell = try ShellPeer()
    defer { shell.end() }
    try shell.run("sleep 1000 &")
    let results = try alternating(
      rounds,
      [
        { try medianNanoseconds(of: switches) { _ in try select(panels.next()) } },
        {
          try medianNanoseconds(of: switches) { _ in
            // By its process ID: pkill may not find a process by name right after its fork.
            try shell.run("kill $!; wait; sleep 1000 &")
          }
        },
      ])
    try shell.run("kill $!; wait")
    try measureSystemd(into: &report)
    report.compare(
      "another panel of a group, old gone and new running", with: "kill $!; wait; y &", results[0], results[1],
      goal: .atMost(1.5, inEachRound: 2, onOneProcessor: true))
    _ = try harness.call(CoordinatorInterface.dismissAll, ["all": .boolean(true)])
  }

  /// The same with two systemd units that conflict; skipped with a message if no user manager can be started.
  private func measureSystemd(into report: inout Report) throws {
    let systemd: SystemdPeer
    do {
      systemd = try SystemdPeer(directory: harness.newDirectory())
    } catch let failure as BenchmarkError {
      let line = "navbench: skipped the comparison with systemd: \(failure)\n"
      write(STDERR_FILENO, line, line.utf8.count)
      return
    }
    defer { systemd.end() }
    var (panels, units) = (Alternator(), Alternator())
    let results = try alternating(
      rounds,
      [
        { try medianNanoseconds(of: switches) { _ in try select(panels.next()) } },
        { try medianNanoseconds(of: switches) { _ in try systemd.start(units.next()) } },
      ])
    report.compare(
      "another panel of a group, old gone and new running", with: "two systemd units with Conflicts=", results[0],
      results[1], goal: .atMost(0.25))
  }

  private static let group = "bench.panels"

  /// Returns when the new panel runs, which starts after the old one has ended (G1).
  private func select(_ panel: Int) throws {
    let (presentation, _, _) = try harness.call(
      CoordinatorInterface.present,
      ("\(Self.group).panel\(panel)", "", ["group": .string(Self.group), "command": ["sleep", "1000"].value]))
    _ = try harness.call(CoordinatorInterface.wait, (presentation, "presented"))
  }
}

/// Gives 0 and 1 in turn, across rounds: selecting the present panel again would replace nothing.
private struct Alternator {
  private var last = 0
  mutating func next() -> Int {
    last = 1 - last
    return last
  }
}

/// A running shell that executes lines, like the one of a session that starts panels.
private final class ShellPeer {
  private let process: pid_t
  private let input: UnsafeMutablePointer<FILE>
  private let output: UnsafeMutablePointer<FILE>

  init() throws {
    var (toShell, fromShell): ([Int32], [Int32]) = ([0, 0], [0, 0])
    guard pipe(&toShell) == 0, pipe(&fromShell) == 0 else {
      throw BenchmarkError(description: "pipe: \(String(cString: strerror(errno)))")
    }
    for end in toShell + fromShell { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    process = try spawn(["sh"], reading: toShell[0], writing: fromShell[1])
    close(toShell[0])
    close(fromShell[1])
    input = fdopen(toShell[1], "w")
    output = fdopen(fromShell[0], "r")
  }

  /// Returns when the shell has executed the line.
  func run(_ line: String) throws {
    fputs("\(line)\necho\n", input)
    fflush(input)
    guard getc(output) != EOF else { throw BenchmarkError(description: "the shell exited while it ran: \(line)") }
  }

  func end() {
    fclose(input)
    fclose(output)
    waitForExit(process)
  }
}
