// Counts instructions and system calls instead of time, because time depends on the load of the machine and these
// counts do not.

import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing

/// Under a counting program, everything takes up to fifty times as long.
private let timeout = Duration.seconds(120)

/// Runs navd under a counting program and makes `presents` calls of Present, each with another id.
/// - Parameters:
///   - counter: the command line prefix; it writes to the path that it is given.
///   - number: finds the number in the lines written.
private func count(
  _ presents: Int, _ counter: (String) -> [String], _ number: ([String]) -> Int?
) throws -> Int {
  let session = try Session(starting: false)
  // Valgrind reads all debug information first, so run a copy without it.
  let navd = session.path("navd")
  let copying = try session.run(program: "/usr/bin/objcopy", ["--strip-debug", session.executable("navd"), navd])
  try #require(copying.exitCode == 0, "\(copying.errorText)")
  let counts = session.path("counts")
  let command = counter(counts) + [navd, "--log-level", "error"]
  let counting = try session.start(program: command[0], Array(command.dropFirst()))
  var process: pid_t?
  try session.poll("navd owns its bus name", within: timeout) {
    try #require(!counting.hasEnded, "\(counting.errorText)")
    let credentials = try? session.client.callAndWait(
      Bus.getConnectionCredentials, on: Bus.name, at: Bus.path, CoordinatorNames.bus.text)
    process = credentials?["ProcessID"].flatMap { UInt32(value: $0) }.map { pid_t($0) }
    return process != nil
  }
  for id in 0..<presents {
    _ = try session.client.callAndWait(
      CoordinatorInterface.present, on: CoordinatorNames.bus, at: CoordinatorNames.object, ("fact", String(id), [:]))
  }
  kill(try #require(process), SIGTERM)
  try session.wait("the counting program has ended", within: timeout) { counting.hasEnded }
  let lines = String(decoding: Files.contents(of: counts), as: UTF8.self).split(separator: "\n").map(String.init)
  return try #require(number(lines), "\(counting.errorText)")
}

/// The cost of one request: the difference between a run with many and a run with few, divided by the difference in
/// number.
private func countForEach(
  few: Int, many: Int, _ counter: (String) -> [String], _ number: ([String]) -> Int?
) throws -> Double {
  Double(try count(many, counter, number) - count(few, counter, number)) / Double(many - few)
}

@Test("One Present with another id needs at most six system calls")
func present_systemCalls_areFew() throws {
  let each = try countForEach(few: 100, many: 1100) {
    ["/usr/bin/strace", "-f", "-c", "-o", $0]
  } _: { lines in
    // The calls are in the fourth column: count, errors if there were any, and “total”.
    let words = lines.last { $0.hasSuffix("total") }?.split(separator: " ") ?? []
    return words.count > 3 ? Int(words[3]) : nil
  }
  // Waiting, reading until nothing is left, writing to the journal, and writing to the bus.
  #expect((4...6).contains(each), "\(each) system calls")
}

@Test("One Present with another id executes at most a fifth more instructions than at the last review")
func present_instructions_areNotMoreThanBefore() throws {
  let each = try countForEach(few: 10, many: 50) { path in
    ["/usr/bin/valgrind", "--tool=callgrind", "--callgrind-out-file=\(path)"]
  } _: { lines in
    lines.first { $0.hasPrefix("summary: ") }.flatMap { Int($0.dropFirst("summary: ".count)) }
  }
  // For a debug build with a checking libdbus-1; a release build needs a sixth.
  #expect((100_000...1_660_000).contains(each), "\(each) instructions")
}
