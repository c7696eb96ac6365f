import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing

// The cost of requests in instructions and system calls, which do not depend on the load of the machine, as time does.

/// The time limit under a counting program, where everything takes up to fifty times as long.
private let timeout = Duration.seconds(120)

/// Runs navd under a counting program with a load.
/// - Parameter counter: the command line prefix; it writes to the path that it is given.
/// - Returns: the lines that the counting program wrote.
private func count(_ counter: (String) -> [String], _ load: (Session) throws -> Void) throws -> [String] {
  let session = try Session(starting: false)
  for panel in panels { try session.write("command = [\"sleep\", \"1000\"]\ngroup = \"panels\"", toDestination: panel) }
  // The test runs a copy without debug information, all of which Valgrind would read first.
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
  try load(session)
  kill(try #require(process), SIGTERM)
  try session.wait("the counting program has ended", within: timeout) { counting.hasEnded }
  return String(decoding: Files.contents(of: counts), as: UTF8.self).split(separator: "\n").map(String.init)
}

private let panels = ["panel0", "panel1"]

/// The cost of one request: the difference between a run with many and a run with few, divided by the difference in
/// number.
/// - Parameter number: finds the number in the lines of the counting program.
private func countForEach(
  few: Int, many: Int, _ counter: (String) -> [String], _ number: ([String]) -> Int?,
  _ load: (Session, Int) throws -> Void = present
) throws -> Double {
  let numbers = try [few, many].map { times in
    let lines = try count(counter) { try load($0, times) }
    return try #require(number(lines), "\(lines.suffix(5))")
  }
  return Double(numbers[1] - numbers[0]) / Double(many - few)
}

/// Calls Present, each time with another id.
private func present(_ session: Session, _ times: Int) throws {
  for id in 0..<times {
    _ = try session.client.callAndWait(
      CoordinatorInterface.present, on: CoordinatorNames.bus, at: CoordinatorNames.object, ("fact", String(id), .state))
  }
}

/// Replaces a panel by the other one, and waits until that runs.
private func switchPanels(_ session: Session, _ times: Int) throws {
  let watcher = try session.watch()
  for index in 0..<times {
    let panel = panels[index % 2]
    watcher.clear()
    _ = try session.client.callAndWait(
      CoordinatorInterface.present, on: CoordinatorNames.bus, at: CoordinatorNames.object, (panel, "", [:]))
    try session.wait("the panel runs", within: timeout) {
      watcher.lines(of: panel).contains { $0.hasPrefix("presented") }
    }
  }
  // The counting program ends with the last process of navd.
  _ = try session.call(CoordinatorInterface.dismissAll, ["all": .boolean(true)])
  try session.wait("the last panel has ended", within: timeout) {
    watcher.lines(of: panels[(times - 1) % 2]).contains { $0.hasPrefix("dismissed") }
  }
}

@Test("One Present with another id needs at most eight system calls")
func present_systemCalls_areFew() throws {
  let each = try countForEach(few: 100, many: 1100) {
    ["/usr/bin/strace", "-f", "-c", "-o", $0]
  } _: { lines in
    // The fourth column has the calls. The line has the count, the errors if there were any, and “total”.
    let words = lines.last { $0.hasSuffix("total") }?.split(separator: " ") ?? []
    return words.count > 3 ? Int(words[3]) : nil
  }
  // The calls are: waiting, reading until nothing is left, asking whether a file has changed (D15) and whether the journal is still
  // at its path, writing to the journal, and writing to the bus.
  #expect((4...8).contains(each), "\(each) system calls")
}

@Test("One Present with another id executes at most a fifth more instructions than at the last review")
func present_instructions_areNotMoreThanBefore() throws {
  let each = try countForEach(few: 10, many: 50) { path in
    ["/usr/bin/valgrind", "--tool=callgrind", "--callgrind-out-file=\(path)"]
  } _: { lines in
    lines.first { $0.hasPrefix("summary: ") }.flatMap { Int($0.dropFirst("summary: ".count)) }
  }
  // The limit is for a debug build with a checking libdbus-1; a release build needs a tenth.
  #expect((100_000...2_650_000).contains(each), "\(each) instructions")
}

@Test("Another panel needs at most 90 system calls of navd, and 25 of the new process before its program")
func panelSwitch_systemCalls_areFew() throws {
  let strace = { ["/usr/bin/strace", "-f", "-o", $0] }
  /// The number of calls of navd, or of its children before they are another program. A line begins with the process.
  func number(_ lines: [String], ofChildren: Bool) -> Int? {
    guard let navd = lines.first?.prefix(while: \.isNumber) else { return nil }
    var started: Set<Substring> = []
    return lines.count { line in
      let process = line.prefix(while: \.isNumber)
      let call = line.dropFirst(process.count).drop { $0 == " " }
      guard call.first?.isLetter == true || call.hasPrefix("_") else { return false }
      guard process != navd else { return !ofChildren }
      guard ofChildren, !started.contains(process) else { return false }
      if call.hasPrefix("execve(") { started.insert(process) }
      return true
    }
  }
  let own = try countForEach(few: 4, many: 24, strace, { number($0, ofChildren: false) }, switchPanels)
  // Between the end of the old panel and the new one, nothing is searched for twice.
  #expect((30...90).contains(own), "\(own) system calls")
  let ofChildren = try countForEach(few: 4, many: 24, strace, { number($0, ofChildren: true) }, switchPanels)
  #expect((10...25).contains(ofChildren), "\(ofChildren) system calls")
}
