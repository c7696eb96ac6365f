// Why this file exists: D6 and D9, what a command writes is kept to its limit, never holds it up, and outlives us.

import EventLoops
import Glibc
import TestSupport
import Testing

@testable import Processes

@Suite struct OutputTests {
  @Test("D6: output up to a limit, and said if cut")
  func output_beyondTheLimit_isCutAndTheWriterNotHeldUp() throws {
    let stage = try Stage()
    let capture = stage.capture("out", limit: 1 << 16)
    let command = try stage.shell(
      "head -c 10485760 /dev/zero | tr '\\0' x; echo $? > $DIR/status; exit 7", output: capture)
    let result = try stage.end(of: command)
    #expect(result.status == .exited(code: 7))
    #expect(result.output?.isTruncated == true)
    #expect(result.output?.bytes == [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 16))
    #expect(try stage.line(in: "status") == "0")
  }

  @Test("D6: exactly as much as the limit is not cut", arguments: [0, 1, 99, 100, 101])
  func output_aroundTheLimit_isCutOnlyBeyondIt(_ limit: Int) throws {
    let stage = try Stage()
    let command = try stage.shell("head -c 100 /dev/zero", output: stage.capture("out", limit: limit))
    let output = try #require(try stage.end(of: command).output)
    #expect(output.bytes.count == min(limit, 100))
    #expect(output.isTruncated == (limit < 100))
  }

  @Test func output_limitOfAnySize_doesNotTrap() throws {
    let stage = try Stage()
    for limit in [Int.max, -1, .min] {
      let command = try stage.shell("echo x", output: stage.capture("out", limit: limit))
      #expect(try stage.end(of: command).output?.bytes.count == (limit > 0 ? 2 : 0))
    }
  }

  @Test func output_ofDescendants_isTakenToTheLast() throws {
    let stage = try Stage()
    let command = try stage.shell(
      "echo first; (while [ ! -e $DIR/go ]; do sleep 0.01; done; echo last) & exit 0", output: stage.capture("out"))
    let first = try #require(command.tree.first)
    try stage.wait { !isAlive(first.pid) }
    #expect(command.result == nil)
    stage.touch("go")
    #expect(try stage.end(of: command).output?.bytes == Array("first\nlast\n".utf8))
  }

  @Test func output_closedByTheCommand_doesNotSpin() throws {
    let stage = try Stage()
    let command = try stage.shell(
      "echo before; exec > /dev/null; echo > $DIR/closed; exec sleep 1000", output: stage.capture("out"))
    _ = try stage.line(in: "closed")
    try stage.wait { stage.capture("out").read()?.bytes == Array("before\n".utf8) }
    // The end of what can be read is told at most once; after that there is nothing to do.
    var turns = 0
    while stage.loop.turn(wait: .milliseconds(20)) {
      turns += 1
      try #require(turns < 20)
    }
    command.tree.kill()
    #expect(try stage.end(of: command).output?.bytes == Array("before\n".utf8))
  }

  @Test func output_notCaptured_isNotInTheResult() throws {
    let stage = try Stage()
    let command = try stage.shell("exit 0")
    #expect(try stage.end(of: command).output == nil)
  }

  @Test func output_remainsOnRecordUntilRemoved() throws {
    let stage = try Stage()
    let capture = stage.capture("out")
    let command = try stage.shell("echo kept", output: capture)
    let result = try stage.end(of: command)
    #expect(capture.read() == result.output)
    capture.remove()
    #expect(capture.read() == nil)
    #expect(ProcessTable.read(stage.directory.path(of: "out.fifo")) == nil)
  }

  @Test("D9: a command outlives its reader, and nothing that it wrote is lost")
  func output_readerGoneForAWhile_writerLivesAndAllIsThere() throws {
    let stage = try Stage()
    let capture = stage.capture("out")
    let script = """
      echo one; echo > $DIR/one
      while [ ! -e $DIR/go ]; do sleep 0.01; done
      echo two; echo > $DIR/two
      while [ ! -e $DIR/end ]; do sleep 0.01; done
      echo three; exit 5
      """
    let command = try stage.shell(script, output: capture)
    let remembered = RememberedCommand(marker: command.tree.marker, first: command.tree.first, output: capture)
    _ = try stage.line(in: "one")
    stage.restart()
    stage.touch("go")
    _ = try stage.line(in: "two")
    let adopted = stage.keep(try #require(stage.keeper.adopt([remembered])[0]))
    #expect(adopted.tree.first == remembered.first)
    stage.touch("end")
    let result = try stage.end(of: adopted)
    #expect(result.output == CapturedOutput(bytes: Array("one\ntwo\nthree\n".utf8), isTruncated: false))
  }

  @Test("D9: more than the FIFO holds is written while nobody reads")
  func output_readerGoneAndFIFOFull_writerWaitsAndGoesOn() throws {
    let stage = try Stage()
    let capture = stage.capture("out", limit: 1 << 20)
    let command = try stage.shell(
      "while [ ! -e $DIR/go ]; do sleep 0.01; done; echo > $DIR/going; head -c 300000 /dev/zero", output: capture)
    let remembered = RememberedCommand(marker: command.tree.marker, first: command.tree.first, output: capture)
    stage.restart()
    stage.touch("go")
    _ = try stage.line(in: "going")
    let adopted = stage.keep(try #require(stage.keeper.adopt([remembered])[0]))
    #expect(try stage.end(of: adopted).output?.bytes.count == 300_000)
  }
}
