import EventLoops
import Glibc
import TestSupport
import Testing

@testable import Processes

/// Adoption: processes that run on while the daemon is away are found again, and no others are taken for them (R2, R6).
@Suite struct AdoptionTests {
  @Test("R2: A command that still runs is adopted, and its status is unknown")
  func adopt_runningCommand_isWatchedAndCanBeEnded() throws {
    let fixture = try ProcessFixture()
    let command = try fixture.shell("setsid sleep 1000 & exec sleep 1000")
    let remembered = RememberedCommand(marker: command.tree.marker, first: command.tree.first, output: nil)
    fixture.restart()
    let adopted = try #require(try fixture.adopt(remembered))
    try fixture.wait { adopted.tree.processes().count == 2 }
    adopted.tree.terminate()
    // This process is still the parent, so the status is known here; a restarted daemon does not know it.
    _ = try fixture.end(of: adopted)
    #expect(adopted.results.count == 1)
    #expect(adopted.tree.processes().isEmpty)
  }

  @Test("R6: A command whose process was not recorded is found by its mark")
  func adopt_byMarkAlone_findsTheFirstProcessToo() throws {
    let fixture = try ProcessFixture()
    let command = try fixture.shell("sleep 1000 & exec sleep 1000")
    let first = command.tree.first
    let remembered = RememberedCommand(marker: command.tree.marker, first: nil, output: nil)
    try fixture.wait { command.tree.processes().count == 2 }
    fixture.restart()
    let adopted = try #require(try fixture.adopt(remembered))
    #expect(adopted.tree.first == first)
    #expect(adopted.tree.processes().count == 2)
    adopted.tree.kill()
    _ = try fixture.end(of: adopted)
  }

  @Test("R6: A process whose session leader is outside the PID namespace is found, though its session is 0")
  func adopt_sessionLeaderOutsideTheNamespace_findsTheProcess() throws {
    let fixture = try ProcessFixture()
    let command = try fixture.shell("exec sleep 1000")
    let remembered = RememberedCommand(marker: command.tree.marker, first: nil, output: nil)
    fixture.restart()
    fixture.hidesSessions = true
    let adopted = try #require(try fixture.adopt(remembered))
    adopted.tree.kill()
    _ = try fixture.end(of: adopted)
  }

  @Test func adopt_firstProcessEndedAndDescendantsAlive_findsTheDescendants() throws {
    let fixture = try ProcessFixture()
    let command = try fixture.shell("sleep 1000 & echo $! > $DIR/pid; exit 0")
    let sleeper = try fixture.pid(in: "pid")
    let first = try #require(command.tree.first)
    try fixture.wait { ProcessTable.entry(of: first.pid) == nil }
    let remembered = RememberedCommand(marker: command.tree.marker, first: first, output: nil)
    fixture.restart()
    let adopted = try #require(try fixture.adopt(remembered))
    #expect(adopted.tree.processes().map(\.pid) == [sleeper])
    adopted.tree.terminate()
    #expect(try fixture.end(of: adopted).status == .unknown)
  }

  @Test func adopt_commandThatHasEnded_findsNothing() throws {
    let fixture = try ProcessFixture()
    let command = try fixture.shell("exit 0")
    let remembered = RememberedCommand(marker: command.tree.marker, first: command.tree.first, output: nil)
    _ = try fixture.end(of: command)
    fixture.restart()
    #expect(try fixture.adopt(remembered) == nil)
    // A second adoption finds nothing, either, since the marker is free.
    #expect(try fixture.adopt(remembered) == nil)
  }

  @Test func adopt_reusedProcessNumber_findsNothing() throws {
    let fixture = try ProcessFixture()
    let bystander = try fixture.shell("exec sleep 1000")
    let identity = try #require(bystander.tree.first)
    let reused = ProcessIdentity(pid: identity.pid, startTime: identity.startTime - 1)
    let remembered = RememberedCommand(marker: fixture.marker(), first: reused, output: nil)
    #expect(try fixture.adopt(remembered) == nil)
    bystander.tree.kill()
    _ = try fixture.end(of: bystander)
  }

  @Test("R2: A process with the marker's variable that no command has started is neither found nor signalled")
  func adopt_strangerWithTheMarker_isNotFound() throws {
    let fixture = try ProcessFixture()
    let command = try fixture.shell("sleep 1000 & exec sleep 1000")
    let marker = command.tree.marker
    try fixture.wait { command.tree.processes().count == 2 }
    // A service manager starts a process so after “import-environment”.
    var variables = fixture.environment
    variables[ProcessFixture.markerVariable] = marker
    let manager = ProcessSupervisor(loop: fixture.loop, markerVariable: "NAVD_TEST_OTHER")
    let stranger = try manager.spawn(Command(["sleep", "1000"], environment: variables), marker: fixture.marker())
    let pid = try #require(stranger.first?.pid)
    try fixture.wait { ProcessTable.variable(ProcessFixture.markerVariable, of: pid) == .value(marker) }

    fixture.restart()
    for first in [command.tree.first, nil] {
      let remembered = RememberedCommand(marker: marker, first: first, output: nil)
      let adopted = try #require(try fixture.adopt(remembered))
      #expect(!adopted.tree.processes().contains { $0.pid == pid })
      if first == nil {
        adopted.tree.kill()
        _ = try fixture.end(of: adopted)
      } else {
        fixture.restart()
      }
    }
    #expect(try fixture.adopt(RememberedCommand(marker: marker, first: nil, output: nil)) == nil)
    #expect(isAlive(pid))
    stranger.kill()
    try fixture.wait { !stranger.isLive }
  }

  @Test("R2: A daemon of a command that has dropped its environment is found by its mark")
  func adopt_orphanWithoutSessionOrEnvironment_isFound() throws {
    let fixture = try ProcessFixture()
    let command = try fixture.shell("(env -i setsid sh -c 'echo $$ > '$DIR'/pid; exec sleep 1000' &) ; exec sleep 1000")
    let orphan = try fixture.pid(in: "pid")
    let first = try #require(command.tree.first)
    fixture.restart()
    kill(first.pid, SIGKILL)
    try fixture.wait { !isAlive(first.pid) }
    let adopted = try #require(
      try fixture.adopt(RememberedCommand(marker: command.tree.marker, first: first, output: nil)))
    #expect(adopted.tree.processes().map(\.pid) == [orphan])
    adopted.tree.terminate()
    _ = try fixture.end(of: adopted)
    #expect(!isAlive(orphan))
  }

  @Test(
    "R2: A process in a command's service is found by the service; one in another service, or below a command of another navd, is not"
  )
  func adopt_service_findsItsProcesses() throws {
    let fixture = try ProcessFixture()
    let manager = ProcessSupervisor(loop: fixture.loop, markerVariable: "NAVD_TEST_OTHER")
    let processes = try (0..<3).map { _ in
      try manager.spawn(Command(["sleep", "1000"], environment: fixture.environment), marker: fixture.marker())
    }
    let (own, other) = (try #require(processes[0].first?.pid), try #require(processes[1].first?.pid))
    let marked = try #require(processes[2].first?.pid)
    fixture.services = [own: "navd-a-1.service", other: "navd-a-2.service", marked: "navd-a-1.service"]
    fixture.unmarked = [own, other]
    let adopted = try #require(
      try fixture.adopt(
        RememberedCommand(marker: fixture.marker(), first: nil, output: nil, service: "navd-a-1.service")))
    #expect(adopted.tree.processes().map(\.pid) == [own])
    adopted.tree.kill()
    _ = try fixture.end(of: adopted)
    #expect(isAlive(other) && isAlive(marked))
    for process in processes[1...] { process.kill() }
    try fixture.wait { processes.allSatisfy { !$0.isLive } }
  }

  @Test func adopt_severalCommands_eachHasItsOwnProcesses() throws {
    let fixture = try ProcessFixture()
    let commands = try (0..<5).map { _ in try fixture.shell("setsid sleep 1000 & exec sleep 1000") }
    let remembered = commands.map {
      RememberedCommand(marker: $0.tree.marker, first: $0.tree.first, output: nil)
    }
    try fixture.wait { commands.allSatisfy { $0.tree.processes().count == 2 } }
    fixture.restart()
    let adopted = try fixture.adopt(remembered).map { command in try #require(command) }
    for (index, command) in adopted.enumerated() {
      #expect(command.tree.first == remembered[index].first)
      #expect(command.tree.processes().count == 2)
      command.tree.kill()
      _ = try fixture.end(of: command)
      for other in adopted[(index + 1)...] { #expect(other.result == nil) }
    }
  }

  @Test("R2: One scan of the process table serves all commands that still run")
  func adopt_manyRunningCommands_scansOnce() throws {
    let fixture = try ProcessFixture()
    let commands = try (0..<40).map { _ in try fixture.shell("exec sleep 1000") }
    let remembered = commands.map {
      RememberedCommand(marker: $0.tree.marker, first: $0.tree.first, output: nil)
    }
    fixture.restart()
    let adopted = try fixture.adopt(remembered).map { command in try #require(command) }
    #expect(fixture.scans == 1)
    for command in adopted { command.tree.kill() }
    for command in adopted { _ = try fixture.end(of: command) }
  }

  @Test("R2: One more scan confirms that nothing is left of the other commands")
  func adopt_manyEndedCommands_scansOnceMore() throws {
    let fixture = try ProcessFixture()
    let remembered = (0..<40).map { _ in
      RememberedCommand(marker: fixture.marker(), first: nil, output: nil)
    }
    #expect(try fixture.adopt(remembered).allSatisfy { $0 == nil })
    #expect(fixture.scans == 2)
  }

  @Test func adopt_manyCommands_areReportedOverSeveralTurns() throws {
    let fixture = try ProcessFixture()
    var answers = 0
    let count = ProcessSupervisor.adoptionsPerTurn * 3
    for _ in 0..<count {
      fixture.supervisor.adopt(RememberedCommand(marker: fixture.marker(), first: nil, output: nil)) { _ in answers += 1
      }
    }
    var most = 0
    while answers < count {
      let before = answers
      fixture.loop.turn(wait: nil)
      most = max(most, answers - before)
    }
    #expect(most == ProcessSupervisor.adoptionsPerTurn)
  }

  @Test func adopt_commandThatEndsBeforeItIsReported_reportsTheTreeThenItsEnd() throws {
    let fixture = try ProcessFixture()
    let capture = fixture.capture("out")
    let command = try fixture.shell("echo kept; exec sleep 1000", output: capture)
    let first = try #require(command.tree.first)
    try fixture.wait { capture.read()?.bytes == Array("kept\n".utf8) }
    fixture.restart()
    var found: ProcessTree?
    fixture.supervisor.adopt(RememberedCommand(marker: command.tree.marker, first: first, output: capture)) {
      found = $0
    }
    // The inspection of this turn finds the process, whose end is known before the next turn reports it.
    fixture.loop.turn(wait: nil)
    #expect(fixture.scans == 1)
    kill(first.pid, SIGKILL)
    try fixture.wait { found?.isLive == false }
    // A handler that is set later still gets the result.
    var results: [ProcessResult] = []
    found?.onExit = { results.append($0) }
    #expect(results.map(\.output?.bytes) == [Array("kept\n".utf8)])
  }

  @Test func bootIdentifier_readTwice_isTheKernels() throws {
    let identifier = try #require(ProcessIdentity.bootIdentifier())
    #expect(identifier.count == 36)
    #expect(identifier == ProcessIdentity.bootIdentifier())
  }
}
