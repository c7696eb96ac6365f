// Why this file exists: where somebody else starts a command for us, what it gets and what is known of it has to be what it
// is where we do.

import EventLoops
import Glibc
import TestSupport
import Testing

@testable import Processes

@Suite(.timeLimit(.minutes(3))) struct LendingTests {
  @Test func command_program_isTheFileToExecute() throws {
    let stage = try Stage()
    let script = stage.directory.path(of: "script")
    let file = try #require(fopen(script, "w"))
    fclose(file)
    chmod(script, 0o700)
    func program(_ name: String, path: String) throws(SpawnError) -> ByteString {
      try Command(
        [ByteString(name)], environment: ["PATH": ByteString(path)], directory: ByteString(stage.directory.path)
      ).program()
    }
    #expect(try program("script", path: "/nowhere:\(stage.directory.path)") == ByteString(script))
    // What is relative is so to the command's directory.
    #expect(try program("./script", path: "/nowhere") == ByteString("\(stage.directory.path)/./script"))
    #expect(try program("script", path: ":/nowhere") == ByteString("\(stage.directory.path)/./script"))
    #expect(try program("/bin/sh", path: "") == "/bin/sh")
    #expect(throws: SpawnError.programNotFound("script", searchPath: "/nowhere")) {
      try program("script", path: "/nowhere")
    }
    #expect(throws: SpawnError.programNotFound("./other", searchPath: nil)) { try program("./other", path: "/bin") }
    #expect(throws: SpawnError.self) { try Command([], environment: [:]).program() }
    #expect(throws: SpawnError.self) { try Command(["sh"], environment: [:], directory: "nowhere").program() }
  }

  @Test func command_input_isReadAndNotWritten() throws {
    let command = Command(["cat"], environment: [:], input: Array("item\n".utf8))
    let descriptor = try command.openInput()
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 16)
    #expect(read(descriptor, &buffer, buffer.count) == 5)
    #expect(buffer.prefix(5) == Array("item\n".utf8)[...])
    #expect(write(descriptor, buffer, 1) == -1)
    let empty = try Command(["cat"], environment: [:]).openInput()
    defer { close(empty) }
    #expect(read(empty, &buffer, buffer.count) == 0)
  }

  @Test func output_ofOneThatOthersStart_isCaptured() throws {
    let stage = try Stage()
    let capture = stage.capture("lent", limit: 8)
    var reader: OutputReader? = try .create(capture, loop: stage.loop)
    let descriptor = try capture.openForCommand()
    defer { close(descriptor) }
    #expect(write(descriptor, "before ", 7) == 7)
    stage.loop.turn(wait: .zero)
    // A time without a reader costs the writer nothing.
    reader = nil
    #expect(write(descriptor, "and after", 9) == 9)
    reader = try .resume(capture, loop: stage.loop)
    #expect(reader?.finish() == CapturedOutput(bytes: Array("before a".utf8), isTruncated: true))
    capture.remove()
    #expect(throws: SystemError.self) { try capture.openForCommand() }
  }

  @Test func process_execution_isToldByItsEnvironment() throws {
    let stage = try Stage()
    var command = Command(["sleep", "60"], environment: stage.environment)
    command.environment["LENT"] = "yes"
    let running = try stage.start(command)
    let pid = try #require(running.tree.first?.pid)
    // For a moment in execve there is no environment to be read.
    let end = stage.loop.now + .seconds(30)
    while ExecutionState(of: pid, "LENT", is: "yes") == .forked, stage.loop.now < end {
      stage.loop.turn(wait: .milliseconds(2))
    }
    #expect(ExecutionState(of: pid, "LENT", is: "yes") == .executed)
    // With whoever starts it the variable is another's, or is not there.
    #expect(ExecutionState(of: pid, "LENT", is: "no") == .forked)
    #expect(ExecutionState(of: pid, "OTHER", is: "yes") == .forked)
    running.tree.kill()
    try #require(stage.loop.turn(until: { running.result != nil }))
    #expect(ExecutionState(of: pid, "LENT", is: "yes") == .gone)
  }
}
