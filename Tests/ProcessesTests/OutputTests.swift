import EventLoops
import Glibc
import TestSupport
import Testing

@testable import Processes

/// Output of commands: it is kept up to its limit, never blocks the command, and survives the daemon (D6, D9).
@Suite struct OutputTests {
  @Test("D6: Output beyond the limit is truncated, and the result says so")
  func output_beyondTheLimit_isTruncatedAndDoesNotBlockTheWriter() throws {
    let fixture = try ProcessFixture()
    let capture = fixture.capture("out", limit: 1 << 16)
    let command = try fixture.shell(
      "head -c 10485760 /dev/zero | tr '\\0' x; echo $? > $DIR/status; exit 7", output: capture)
    let result = try fixture.end(of: command)
    #expect(result.status == .exited(code: 7))
    #expect(result.output?.isTruncated == true)
    #expect(result.output?.bytes == [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 16))
    #expect(try fixture.line(in: "status") == "0")
  }

  @Test("D6: Output of exactly the limit is not truncated", arguments: [0, 1, 99, 100, 101])
  func output_aroundTheLimit_isTruncatedOnlyBeyondIt(_ limit: Int) throws {
    let fixture = try ProcessFixture()
    let command = try fixture.shell("head -c 100 /dev/zero", output: fixture.capture("out", limit: limit))
    let output = try #require(try fixture.end(of: command).output)
    #expect(output.bytes.count == min(limit, 100))
    #expect(output.isTruncated == (limit < 100))
  }

  @Test func output_limitOfAnySize_doesNotTrap() throws {
    let fixture = try ProcessFixture()
    for limit in [Int.max, -1, .min] {
      let command = try fixture.shell("echo x", output: fixture.capture("out", limit: limit))
      #expect(try fixture.end(of: command).output?.bytes.count == (limit > 0 ? 2 : 0))
    }
  }

  @Test func output_ofDescendants_isCapturedUntilTheLastEnds() throws {
    let fixture = try ProcessFixture()
    let command = try fixture.shell(
      "echo first; (while [ ! -e $DIR/go ]; do sleep 0.01; done; echo last) & exit 0", output: fixture.capture("out"))
    let first = try #require(command.tree.first)
    try fixture.wait { !isAlive(first.pid) }
    #expect(command.result == nil)
    fixture.touch("go")
    #expect(try fixture.end(of: command).output?.bytes == Array("first\nlast\n".utf8))
  }

  @Test func output_closedByTheCommand_doesNotSpin() throws {
    let fixture = try ProcessFixture()
    let command = try fixture.shell(
      "echo before; exec > /dev/null; echo > $DIR/closed; exec sleep 1000", output: fixture.capture("out"))
    _ = try fixture.line(in: "closed")
    try fixture.wait { fixture.capture("out").read()?.bytes == Array("before\n".utf8) }
    // The end of the FIFO causes no event.
    var turns = 0
    while fixture.loop.turn(wait: .milliseconds(20)) {
      turns += 1
      try #require(turns < 20)
    }
    command.tree.kill()
    #expect(try fixture.end(of: command).output?.bytes == Array("before\n".utf8))
  }

  @Test("R2: Files show whether a command was started, whatever its scope", arguments: [false, true])
  func files_commandStarted_showIt(isWholeTree: Bool) throws {
    let fixture = try ProcessFixture()
    let capture = fixture.capture("out")
    _ = try OutputReader.create(capture, loop: fixture.loop)
    #expect(!capture.wasStarted)
    let command = Command(["true"], environment: fixture.environment)
    let tree = try fixture.supervisor.spawn(
      command, marker: fixture.marker(), output: capture, isWholeTree: isWholeTree)
    #expect(capture.wasStarted)
    _ = try fixture.end(of: fixture.keep(tree))
    #expect(capture.wasStarted)
    capture.remove()
    #expect(!capture.wasStarted)
  }

  @Test("R2: A command that changes the mode of its output was started all the same", arguments: ["600", "755"])
  func files_commandChangingTheModeOfItsOutput_showItsStart(mode: String) throws {
    let fixture = try ProcessFixture()
    let capture = fixture.capture("out")
    _ = try fixture.end(of: fixture.shell("chmod \(mode) /proc/self/fd/1", output: capture))
    #expect(capture.wasStarted)
  }

  @Test func output_none_isEmptyAndMakesNoFile() throws {
    let fixture = try ProcessFixture()
    let capture = fixture.capture("out")
    let command = try fixture.shell("exec > /dev/null; echo > $DIR/closed; exec sleep 1000", output: capture)
    _ = try fixture.line(in: "closed")
    var turns = 0
    while fixture.loop.turn(wait: .milliseconds(20)) {
      turns += 1
      try #require(turns < 20)
    }
    let empty = CapturedOutput(bytes: [], isTruncated: false)
    // A navd that finds the command ended knows its output only by the files.
    #expect(capture.read() == empty)
    command.tree.kill()
    #expect(try fixture.end(of: command).output == empty)
    #expect(ProcessTable.read(fixture.directory.path(of: "out.output")) == nil)
  }

  @Test func output_notCaptured_isNotInTheResult() throws {
    let fixture = try ProcessFixture()
    let command = try fixture.shell("exit 0")
    #expect(try fixture.end(of: command).output == nil)
  }

  @Test func output_afterTheEnd_isKeptUntilRemoved() throws {
    let fixture = try ProcessFixture()
    let capture = fixture.capture("out")
    let command = try fixture.shell("echo kept", output: capture)
    let result = try fixture.end(of: command)
    #expect(capture.read() == result.output)
    capture.remove()
    #expect(capture.read() == nil)
    #expect(ProcessTable.read(fixture.directory.path(of: "out.fifo")) == nil)
  }

  @Test("D9: A command outlives its reader, and none of its output is lost")
  func output_withoutAReaderForAWhile_isComplete() throws {
    let fixture = try ProcessFixture()
    let capture = fixture.capture("out")
    let script = """
      echo one; echo > $DIR/one
      while [ ! -e $DIR/go ]; do sleep 0.01; done
      echo two; echo > $DIR/two
      while [ ! -e $DIR/end ]; do sleep 0.01; done
      echo three; exit 5
      """
    let command = try fixture.shell(script, output: capture)
    let remembered = RememberedCommand(marker: command.tree.marker, first: command.tree.first, output: capture)
    _ = try fixture.line(in: "one")
    fixture.restart()
    fixture.touch("go")
    _ = try fixture.line(in: "two")
    let adopted = try #require(try fixture.adopt(remembered))
    #expect(adopted.tree.first == remembered.first)
    fixture.touch("end")
    let result = try fixture.end(of: adopted)
    #expect(result.output == CapturedOutput(bytes: Array("one\ntwo\nthree\n".utf8), isTruncated: false))
  }

  @Test("D9: A command that writes more than the FIFO holds waits for the next reader")
  func output_fillingTheFIFOWithoutAReader_writerWaitsAndContinues() throws {
    let fixture = try ProcessFixture()
    let capture = fixture.capture("out", limit: 1 << 20)
    let command = try fixture.shell(
      "while [ ! -e $DIR/go ]; do sleep 0.01; done; echo > $DIR/going; head -c 300000 /dev/zero", output: capture)
    let remembered = RememberedCommand(marker: command.tree.marker, first: command.tree.first, output: capture)
    fixture.restart()
    fixture.touch("go")
    _ = try fixture.line(in: "going")
    let adopted = try #require(try fixture.adopt(remembered))
    #expect(try fixture.end(of: adopted).output?.bytes.count == 300_000)
  }
}
