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
    let directory = try peers.newDirectory()
    // Programs of their own names, so that pkill finds them and nothing else.
    let names = ["a", "b"].map { "nb\($0)\(getpid())" }
    for name in names { try link("/bin/sleep", "\(directory)/\(name)") }
    let panels = names.map { "\(directory)/\($0)" }
    let shell = try ShellPeer()
    defer { shell.end() }
    try shell.run("\(panels[1]) 1000 &")
    let results = try alternating(
      rounds,
      [
        { try medianNanoseconds(of: switches) { try select(panels[$0 % 2]) } },
        {
          try medianNanoseconds(of: switches) {
            try shell.run("pkill -x \(names[($0 + 1) % 2]); wait; \(panels[$0 % 2]) 1000 &")
          }
        },
      ])
    try shell.run("pkill -x '\(names[0])|\(names[1])'; wait")
    report.add(
      Comparison(
        subject: "another panel of a group, old gone and new running", peer: "pkill x; wait; y &",
        subjects: results[0], peers: results[1], target: .atMost(1.5)))
    _ = try call(CoordinatorInterface.dismissAll, ["all": .boolean(true)])
  }

  private static let group = "bench.panels"
  private static func binding(_ panel: String) -> String {
    "\(group).\(panel.split(separator: "/").last ?? "")"
  }
  private static func options(_ panel: String) -> Properties {
    ["group": .string(group), "command": [panel, "1000"].value]
  }

  /// Done when the new one runs; it starts when the old one is gone (G1).
  private func select(_ panel: String) throws {
    let (presentation, _, _) = try call(
      CoordinatorInterface.present, (Self.binding(panel), "", Self.options(panel)))
    _ = try call(CoordinatorInterface.wait, (presentation, "presented"))
  }

  private func link(_ program: String, _ path: String) throws {
    guard symlink(program, path) == 0 else {
      throw MeasuringFailure(description: "\(path): \(String(cString: strerror(errno)))")
    }
  }

  private func call<Input, Output>(_ method: Method<Input, Output>, _ input: Input) throws -> Output {
    try peers.connection.callAndWait(method, on: CoordinatorNames.bus, at: CoordinatorNames.object, input)
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
