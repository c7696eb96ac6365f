import EventLoops
import Glibc
import TestSupport
import Testing

@testable import Processes

/// A command under test, with every result that was reported for it.
final class Running {
  let tree: ProcessTree
  private(set) var results: [ProcessResult] = []
  var result: ProcessResult? { results.first }

  init(_ tree: ProcessTree) {
    self.tree = tree
    tree.onExit = { [unowned self] in results.append($0) }
  }
}

/// A loop, a supervisor and a directory for one test of processes. Its end kills all processes of the test.
final class ProcessFixture {
  let loop: EventLoop
  private(set) var supervisor: ProcessSupervisor
  let directory = TemporaryDirectory()
  private var running: [Running] = []
  private var markers = 0
  /// The number of times that the supervisor has scanned the process table.
  private(set) var scans = 0
  /// Whether every session has its leader outside the PID namespace, as in a container's shell.
  var hidesSessions = false
  /// The services in which processes seem to be.
  var services: [pid_t: ByteString] = [:]
  /// The processes that seem to have dropped their mark.
  var unmarked: Set<pid_t> = []

  /// A function that is called with each process whose children the supervisor has just read.
  var onChildrenRead: ((pid_t) -> Void)?

  static let markerVariable: ByteString = "NAVD_TEST_TREE"

  var environment: ProcessEnvironment = ["PATH": "/usr/local/bin:/usr/bin:/bin"]

  init() throws {
    loop = try EventLoop()
    supervisor = ProcessSupervisor(loop: loop, markerVariable: Self.markerVariable)
    restart()
  }

  /// Replaces the supervisor as a restart of the daemon does: the processes and the files stay.
  func restart() {
    for command in running { _ = command.tree.abandon() }
    running = []
    var reader = ProcessReader()
    // The reference is weak, since `deinit` ends the commands that a test has left.
    reader.processes = { [weak self] in
      var processes = ProcessTable.all()
      guard let self else { return processes }
      scans += 1
      if hidesSessions { for index in processes.indices { processes[index].session = 0 } }
      return processes
    }
    reader.children = { [weak self] pid, threads in
      let children = ProcessTable.children(of: pid, threads: threads)
      self?.onChildrenRead?(pid)
      return children
    }
    reader.ownChildren = { [weak self] lists in
      let children = lists.read()
      self?.onChildrenRead?(getpid())
      return children
    }
    reader.mark = { [weak self] in self?.unmarked.contains($0) == true ? nil : ProcessTable.mark(of: $0) }
    reader.controlGroups = { [weak self] in self?.services[$0].map { ["app.slice", $0] } ?? [] }
    supervisor = ProcessSupervisor(loop: loop, markerVariable: Self.markerVariable, reader: reader)
  }

  /// Adopts commands. The fixture ends them.
  func adopt(_ commands: [RememberedCommand]) throws -> [Running?] {
    var trees: [Int: ProcessTree?] = [:]
    for (index, command) in commands.enumerated() { supervisor.adopt(command) { trees[index] = .some($0) } }
    try wait { trees.count == commands.count }
    return commands.indices.map { trees[$0]!.map { keep($0) } }
  }

  func adopt(_ command: RememberedCommand) throws -> Running? { try adopt([command])[0] }

  func capture(_ name: String, limit: Int = 1 << 16) -> OutputCapture {
    OutputCapture(path: ByteString(directory.path(of: name)), limit: limit)
  }

  func marker() -> ByteString {
    markers += 1
    return ByteString("\(getpid()) \(directory.path) \(markers)")
  }

  @discardableResult
  func start(_ command: Command, output: OutputCapture? = nil) throws -> Running {
    keep(try supervisor.spawn(command, marker: marker(), output: output))
  }

  func keep(_ tree: ProcessTree) -> Running {
    let command = Running(tree)
    running.append(command)
    return command
  }

  /// Runs a script of the shell, with `$DIR` set to the fixture's directory.
  func shell(_ script: String, input: [UInt8] = [], output: OutputCapture? = nil) throws -> Running {
    var variables = environment
    variables["DIR"] = ByteString(directory.path)
    return try start(Command(["sh", "-c", ByteString(script)], environment: variables, input: input), output: output)
  }

  /// Runs a program to its end.
  /// - Returns: its standard output.
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

  /// Turns the loop until a condition holds. For conditions without an event.
  func wait(until condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let holds = loop.turn(until: condition, lookingEvery: .milliseconds(5))
    try #require(holds, "the condition did not hold within 30 s", sourceLocation: sourceLocation)
  }

  /// Waits for a script to write a line into a file of the fixture's directory.
  /// - Returns: the line.
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

  /// Kills processes that a failed test has left: those that name the fixture's directory, and all processes of their sessions.
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

/// Whether a process exists and is not a zombie.
func isAlive(_ pid: pid_t) -> Bool { ProcessTable.entry(of: pid).map { !$0.hasEnded } ?? false }

/// Runs the body as the daemon runs: on the only thread of a process. Reaping orphans and handling SIGCHLD concern the whole
/// process, and the process of an exit test has other threads.
func inOneThread(_ body: () throws -> Void) throws {
  let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)
  let pid = fork()
  if pid == 0 {
    // Another thread may have held a lock of the runtime at the fork, which is never released in the child. The signal ends a child
    // that waits for it.
    alarm(120)
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
