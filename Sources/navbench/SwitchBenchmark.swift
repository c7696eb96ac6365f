import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc

/// The time to replace one of two panels, each a process, by the other: from the request until the old panel has ended and the new
/// one has reported that it runs (``Panels``).
struct SwitchBenchmark {
  let harness: Harness
  let rounds: Int
  let switches: Int

  func run(into report: inout Report) throws {
    let (panels, shells) = (try Panels(harness), try Panels(harness))
    let shell = try ShellPeer()
    defer { shell.end() }
    try shells.replace { _, command in try shell.run("\(command.joined(separator: " ")) &") }
    let results = try alternating(
      rounds,
      [
        { try medianNanoseconds(of: switches) { _ in try panels.replace(select) } },
        {
          try medianNanoseconds(of: switches) { _ in
            // The process is killed by its ID, because pkill may not find it by name right after its fork.
            try shells.replace { _, command in try shell.run("kill $!; wait; \(command.joined(separator: " ")) &") }
          }
        },
      ])
    try shell.run("kill $!; wait")
    report.compare(
      "another panel of a group, old gone and new running", with: "kill $!; wait; y &", results[0], results[1],
      goal: .atMost(1.5, inEachRound: 2, onOneProcessor: true))
    _ = try harness.call(CoordinatorInterface.dismissAll, ["all": .boolean(true)])
  }

  private static let group = "bench.panels"

  /// The new panel starts after the old one has ended (G1).
  private func select(_ panel: Int, _ command: [String]) throws {
    _ = try harness.call(
      CoordinatorInterface.present,
      ("\(Self.group).panel\(panel)", "", ["group": .string(Self.group), "command": command.value]))
  }
}

/// Two programs that replace each other. Each runs `cat`, which opens its FIFO when it begins to run; a shell that forks has finished
/// before that.
private final class Panels {
  let commands: [[String]]
  private var current = 0
  /// The writing end of the FIFO, while the panel runs.
  private var descriptor: Int32 = -1

  init(_ harness: Harness) throws {
    let directory = try harness.newDirectory()
    commands = ["\(directory)/0", "\(directory)/1"].map { ["cat", $0] }
    for command in commands where mkfifo(command[1], 0o600) != 0 {
      throw BenchmarkError(description: SystemError(command[1]).description)
    }
  }

  deinit { close(descriptor) }

  /// - Parameter start: ends the present panel, and starts the one with the given number and command.
  func replace(_ start: (Int, [String]) throws -> Void) throws {
    current = 1 - current
    try start(current, commands[current])
    // This blocks until the program opens the FIFO for reading.
    let opened = open(commands[current][1], O_WRONLY | O_CLOEXEC)
    guard opened >= 0 else { throw BenchmarkError(description: SystemError("open").description) }
    close(descriptor)
    descriptor = opened
  }
}

/// A running shell that executes lines, as in a session that starts panels from a shell.
private final class ShellPeer {
  private let process: pid_t
  private let input: UnsafeMutablePointer<FILE>
  private let output: UnsafeMutablePointer<FILE>

  init() throws {
    var (toShell, fromShell): ([Int32], [Int32]) = ([0, 0], [0, 0])
    guard pipe(&toShell) == 0, pipe(&fromShell) == 0 else {
      throw BenchmarkError(description: SystemError("pipe").description)
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
