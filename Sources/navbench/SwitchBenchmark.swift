// Why this file exists: what people had before navd to switch panels is a line of shell, so a switch is measured beside it,
// from the request until the old panel is gone and the new one runs.

import CoordinatorAPI
import DBus
import DBusValues
import Glibc

/// One of two panels for the other, each a real process.
struct SwitchBenchmark {
  private let peers: Peers
  private let rounds: Int
  private let switches: Int

  init(_ peers: Peers, rounds: Int, switches: Int) {
    self.peers = peers
    self.rounds = rounds
    self.switches = switches
  }

  func run(into report: inout Report) throws {
    var panels = Turns()
    let shell = try ShellPeer()
    defer { shell.end() }
    try shell.run("sleep 1000 &")
    let results = try alternating(
      rounds,
      [
        { try medianNanoseconds(of: switches) { _ in try select(panels.next()) } },
        {
          try medianNanoseconds(of: switches) { _ in
            // By its number, since pkill does not find by its name what was forked just now.
            try shell.run("kill $!; wait; sleep 1000 &")
          }
        },
      ])
    try shell.run("kill $!; wait")
    try measureSystemd(into: &report)
    report.add(
      Comparison(
        subject: "another panel of a group, old gone and new running", peer: "kill $!; wait; y &",
        subjects: results[0], peers: results[1], target: .atMost(1.5)))
    _ = try peers.call(CoordinatorInterface.dismissAll, ["all": .boolean(true)])
  }

  /// The same of two units that conflict; left out, and said so, where no user manager can be had.
  private func measureSystemd(into report: inout Report) throws {
    let systemd: SystemdPeer
    do {
      systemd = try SystemdPeer(directory: peers.newDirectory())
    } catch let failure as MeasuringFailure {
      let line = "navbench: not beside systemd: \(failure)\n"
      write(STDERR_FILENO, line, line.utf8.count)
      return
    }
    defer { systemd.end() }
    var (panels, units) = (Turns(), Turns())
    let results = try alternating(
      rounds,
      [
        { try medianNanoseconds(of: switches) { _ in try select(panels.next()) } },
        { try medianNanoseconds(of: switches) { _ in try systemd.start(units.next()) } },
      ])
    report.add(
      Comparison(
        subject: "another panel of a group, old gone and new running", peer: "two systemd units with Conflicts=",
        subjects: results[0], peers: results[1], target: .atMost(1)))
  }

  private static let group = "bench.panels"

  /// Done when the new one runs; it starts when the old one is gone (G1).
  private func select(_ panel: Int) throws {
    let (presentation, _, _) = try peers.call(
      CoordinatorInterface.present,
      ("\(Self.group).panel\(panel)", "", ["group": .string(Self.group), "command": ["sleep", "1000"].value]))
    _ = try peers.call(CoordinatorInterface.wait, (presentation, "presented"))
  }
}

/// One of two, then the other, in whatever rounds: what is there already is no switch.
private struct Turns {
  private var last = 0
  mutating func next() -> Int {
    last = 1 - last
    return last
  }
}

/// A shell that waits for lines, as that of a session does from which panels are started.
private final class ShellPeer {
  private let process: pid_t
  private let input: UnsafeMutablePointer<FILE>
  private let output: UnsafeMutablePointer<FILE>

  init() throws {
    var (toShell, fromShell): ([Int32], [Int32]) = ([0, 0], [0, 0])
    guard pipe(&toShell) == 0, pipe(&fromShell) == 0 else {
      throw MeasuringFailure(description: "no pipe: \(String(cString: strerror(errno)))")
    }
    for end in toShell + fromShell { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    process = try spawn(["sh"], reading: toShell[0], writing: fromShell[1])
    close(toShell[0])
    close(fromShell[1])
    input = fdopen(toShell[1], "w")
    output = fdopen(fromShell[0], "r")
  }

  /// Returns when the shell has come to the end of the line.
  func run(_ line: String) throws {
    fputs("\(line)\necho\n", input)
    fflush(input)
    guard getc(output) != EOF else { throw MeasuringFailure(description: "the shell ended at: \(line)") }
  }

  func end() {
    fclose(input)
    fclose(output)
    waitToEnd(process)
  }
}
