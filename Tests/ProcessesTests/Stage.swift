// Why this file exists: each test has a loop, a keeper and a directory of its own, and leaves no process behind.

import EventLoops
import Glibc
import TestSupport
import Testing

@testable import Processes

/// A command under test, with all that was told of it.
final class Running {
  let tree: ProcessTree
  private(set) var results: [ProcessResult] = []
  var result: ProcessResult? { results.first }

  init(_ tree: ProcessTree) {
    self.tree = tree
    tree.onExit = { [unowned self] in results.append($0) }
  }
}

final class Stage {
  let loop: EventLoop
  private(set) var keeper: ProcessKeeper
  let directory = TemporaryDirectory()
  private var running: [Running] = []
  private var markers = 0

  var environment: ProcessEnvironment = ["PATH": "/usr/local/bin:/usr/bin:/bin"]

  init() throws {
    loop = try EventLoop()
    keeper = ProcessKeeper(loop: loop, markerVariable: "NAVD_TEST_TREE")
  }

  /// What a restart of the daemon leaves: the processes and the files.
  func restart() {
    for command in running { _ = command.tree.abandon() }
    running = []
    keeper = ProcessKeeper(loop: loop, markerVariable: "NAVD_TEST_TREE")
  }

  func capture(_ name: String, limit: Int = 1 << 16) -> OutputCapture {
    OutputCapture(path: ByteString(directory.path(of: name)), limit: limit)
  }

  func marker() -> ByteString {
    markers += 1
    return ByteString("\(getpid()) \(directory.path) \(markers)")
  }

  @discardableResult
  func start(_ command: Command, output: OutputCapture? = nil) throws -> Running {
    keep(try keeper.spawn(command, marker: marker(), output: output))
  }

  func keep(_ tree: ProcessTree) -> Running {
    let command = Running(tree)
    running.append(command)
    return command
  }

  /// Runs a script of the shell, in which `$DIR` is the stage's directory.
  func shell(_ script: String, input: [UInt8] = [], output: OutputCapture? = nil) throws -> Running {
    var variables = environment
    variables["DIR"] = ByteString(directory.path)
    return try start(Command(["sh", "-c", ByteString(script)], environment: variables, input: input), output: output)
  }

  /// Runs a program to its end and tells what it wrote.
  func output(_ arguments: [ByteString], input: [UInt8] = [], directory: ByteString = "/") throws -> String {
    let capture = capture("out\(markers)")
    let command = try start(
      Command(arguments, environment: environment, directory: directory, input: input), output: capture)
    let result = try end(of: command)
    #expect(result.status == .exited(code: 0))
    capture.remove()
    return String(decoding: result.output?.bytes ?? [], as: UTF8.self)
  }

  func end(of command: Running) throws -> ProcessResult {
    try wait { command.result != nil }
    return try #require(command.result)
  }

  /// Turns the loop until something is so that no event tells of.
  func wait(until condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let end = loop.now + .seconds(30)
    while !condition() {
      try #require(loop.now < end, "it did not come to that", sourceLocation: sourceLocation)
      loop.turn(wait: .milliseconds(5))
    }
  }

  /// What a script wrote into a file of the stage's directory, once it is a whole line.
  func line(in name: String) throws -> String {
    var text = ""
    try wait {
      text = String(decoding: ProcessTable.read(directory.path(of: name)) ?? [], as: UTF8.self)
      return text.hasSuffix("\n")
    }
    return String(text.dropLast())
  }

  func pid(in name: String) throws -> pid_t { try #require(pid_t(try line(in: name))) }

  func touch(_ name: String) {
    close(open(directory.path(of: name), O_CREAT | O_WRONLY, 0o600))
  }

  deinit {
    for command in running where command.tree.isLive { command.tree.kill() }
    _ = loop.turn(until: { running.allSatisfy { !$0.tree.isLive } })
    sweep()
  }

  /// Kills what a failure has left: whatever knows of the stage's directory, and the sessions of those.
  private func sweep() {
    let name = Array(directory.path.utf8)
    let left = ProcessTable.all().filter { entry in
      guard entry.pid != getpid(), entry.session != getsid(0) else { return false }
      return ["cmdline", "environ"].contains { file in
        ProcessTable.read("/proc/\(entry.pid)/\(file)")?.firstRange(of: name) != nil
      }
    }
    let sessions = Set(left.map(\.session))
    for entry in ProcessTable.all() where sessions.contains(entry.session) { Glibc.kill(entry.pid, SIGKILL) }
  }
}

/// Whether a process is there and has not ended.
func isAlive(_ pid: pid_t) -> Bool { ProcessTable.entry(of: pid).map { !$0.hasEnded } ?? false }

/// Runs the body as the daemon runs: on the only thread of a process. Which process reaps orphans, and which thread is
/// told of their ends, is the whole process's affair; the one in which an exit test runs has threads of its runtime.
func inOneThread(_ body: () throws -> Void) throws {
  let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)
  let pid = fork()
  if pid == 0 {
    do {
      try body()
      _exit(0)
    } catch {
      perror("\(error)")
      _exit(1)
    }
  }
  var status: Int32 = -1
  waitpid(pid, &status, 0)
  try #require(status == 0)
}
