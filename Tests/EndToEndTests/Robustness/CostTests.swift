// Why this file exists: how fast a request is depends on the machine's mood, what it takes does not; so a loss of speed is
// seen here, by what navd executes for one, and by what it asks of the kernel.

import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing

/// Under a program that counts all takes up to fifty times as long.
private let patience = Duration.seconds(120)

/// Runs navd under a program that counts, from its start to its end, with so many Present, each with another id.
/// - Parameters:
///   - counter: the command line before navd's; it writes to the path that it is given.
///   - number: finds the number in what it wrote.
private func count(
  _ presents: Int, _ counter: (String) -> [String], _ number: ([String]) -> Int?
) throws -> Int {
  let session = try Session(starting: false)
  // What counts reads all that there is for debuggers first.
  let navd = session.path("navd")
  let copying = try session.run(program: "/usr/bin/objcopy", ["--strip-debug", session.executable("navd"), navd])
  try #require(copying.exitCode == 0, "\(copying.errorText)")
  let counts = session.path("counts")
  let command = counter(counts) + [navd, "--log-level", "error"]
  let counting = try session.start(program: command[0], Array(command.dropFirst()))
  var process: pid_t?
  try session.poll("navd has its name", within: patience) {
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
  try session.wait("what counts has ended", within: patience) { counting.hasEnded }
  let lines = String(decoding: Session.contents(of: counts), as: UTF8.self).split(separator: "\n").map(String.init)
  return try #require(number(lines), "\(counting.errorText)")
}

/// The difference between many and few, for each of those that there are more.
private func countForEach(
  few: Int, many: Int, _ counter: (String) -> [String], _ number: ([String]) -> Int?
) throws -> Double {
  Double(try count(many, counter, number) - count(few, counter, number)) / Double(many - few)
}

@Test("One Present with another id is told, put on record and answered with at most six system calls")
func present_systemCalls_areFew() throws {
  let each = try countForEach(few: 100, many: 1100) {
    ["/usr/bin/strace", "-f", "-c", "-o", $0]
  } _: { lines in
    // Calls, errors if there were any, and “total”; the calls are in the fourth column.
    let words = lines.last { $0.hasSuffix("total") }?.split(separator: " ") ?? []
    return words.count > 3 ? Int(words[3]) : nil
  }
  // To wait, to read until nothing is left, to write to the journal, and to the bus.
  #expect((4...6).contains(each), "\(each) system calls")
}

@Test("One Present with another id takes a fifth more instructions at most than when it was last looked at")
func present_instructions_areNoMoreThanTheyWere() throws {
  let each = try countForEach(few: 10, many: 50) { path in
    ["/usr/bin/valgrind", "--tool=callgrind", "--callgrind-out-file=\(path)"]
  } _: { lines in
    lines.first { $0.hasPrefix("summary: ") }.flatMap { Int($0.dropFirst("summary: ".count)) }
  }
  // Of a build for debugging, which checks what it writes by libdbus-1; one for release has a sixth of it.
  #expect((100_000...1_660_000).contains(each), "\(each) instructions")
}
