import EventLoops
import Glibc
import TestSupport
import Testing

@testable import Processes

/// Commands with the scope process: only their first process belongs to the item (D3).
@Suite struct ScopeTests {
  private let script: String = "setsid sleep 1000 & echo $! > $DIR/child; exec sleep 1000"

  private func start(_ script: String, _ fixture: ProcessFixture, output: OutputCapture? = nil) throws -> Running {
    var variables = fixture.environment
    variables["DIR"] = ByteString(fixture.directory.path)
    let command = Command(["sh", "-c", ByteString(script)], environment: variables)
    return fixture.keep(
      try fixture.supervisor.spawn(command, marker: fixture.marker(), output: output, isWholeTree: false))
  }

  private func remember(_ command: Running, first: ProcessIdentity?, output: OutputCapture? = nil) -> RememberedCommand
  {
    RememberedCommand(marker: command.tree.marker, first: first, output: output, isWholeTree: false)
  }

  /// Ends a process that outlives its command. Nobody else would, and a zombie would keep exit tests from their end.
  private func end(_ process: pid_t) {
    kill(process, SIGKILL)
    waitpid(process, nil, 0)
  }

  @Test("D3: SIGTERM and SIGKILL reach the first process alone", arguments: [false, true])
  func scope_process_isTheOnlyOneSignalled(kills: Bool) throws {
    let fixture = try ProcessFixture()
    let command = try start(script, fixture)
    let child = try fixture.pid(in: "child")
    defer { end(child) }
    #expect(command.tree.processes().map(\.pid) == [command.tree.first?.pid])
    if kills { command.tree.kill() } else { command.tree.terminate() }
    #expect(try fixture.end(of: command).status == .signaled(signal: kills ? SIGKILL : SIGTERM))
    #expect(isAlive(child))
  }

  @Test("D3: a command ends with its first process, while the processes that it has started live on and write")
  func scope_firstProcessEnds_endsTheCommand() throws {
    let fixture = try ProcessFixture()
    let capture = fixture.capture("out")
    let command = try start(
      "(while [ ! -e $DIR/go ]; do sleep 0.01; done; head -c 300000 /dev/zero; echo done > $DIR/line; exec sleep 1000) & "
        + "echo $! > $DIR/child; exit 3", fixture, output: capture)
    let result = try fixture.end(of: command)
    #expect(result.status == .exited(code: 3))
    #expect(result.output == nil)
    fixture.touch("go")
    // The child writes more than a FIFO takes that is not read.
    #expect(try fixture.line(in: "line") == "done")
    let child = try fixture.pid(in: "child")
    defer { end(child) }
    #expect(isAlive(child))
  }

  @Test("R2, R6: only the first process is adopted, whether or not it was recorded", arguments: [false, true])
  func scope_process_isAdoptedAlone(isRecorded: Bool) throws {
    let fixture = try ProcessFixture()
    let capture = fixture.capture("out")
    let command = try start(script, fixture, output: capture)
    let (first, child) = (try #require(command.tree.first), try fixture.pid(in: "child"))
    defer { end(child) }
    fixture.restart()
    let adopted = try #require(try fixture.adopt(remember(command, first: isRecorded ? first : nil, output: capture)))
    #expect(adopted.tree.first == first)
    #expect(adopted.tree.processes() == [first])
    adopted.tree.terminate()
    _ = try fixture.end(of: adopted)
    #expect(isAlive(child))
  }

  @Test("R2: the processes that an ended first process has left are not adopted", arguments: [false, true])
  func scope_firstProcessHasEnded_isNotAdopted(isRecorded: Bool) throws {
    let fixture = try ProcessFixture()
    let capture = fixture.capture("out")
    let command = try start("setsid sleep 1000 & echo $! > $DIR/child", fixture, output: capture)
    let (first, child) = (try #require(command.tree.first), try fixture.pid(in: "child"))
    defer { end(child) }
    _ = try fixture.end(of: command)
    fixture.restart()
    #expect(try fixture.adopt(remember(command, first: isRecorded ? first : nil, output: capture)) == nil)
    #expect(capture.wasStarted)
    #expect(isAlive(child))
  }
}
