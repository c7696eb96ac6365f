import EventLoops
import Glibc
import TestSupport
import Testing

@testable import Processes

/// Delegated starts: a command that another program starts has the same program, input and output as one that the supervisor
/// starts.
@Suite(.timeLimit(.minutes(3))) struct DelegatedStartTests {
  @Test func program_lookedUp_isTheFileToExecute() throws {
    let fixture = try ProcessFixture()
    let script = fixture.directory.path(of: "script")
    try Files.write("", to: script)
    chmod(script, 0o700)
    func program(_ name: String, path: String) throws(SpawnError) -> ByteString {
      try Command(
        [ByteString(name)], environment: ["PATH": ByteString(path)], directory: ByteString(fixture.directory.path)
      ).program()
    }
    #expect(try program("script", path: "/nowhere:\(fixture.directory.path)") == ByteString(script))
    // Relative paths are relative to the command's directory.
    #expect(try program("./script", path: "/nowhere") == ByteString("\(fixture.directory.path)/./script"))
    #expect(try program("script", path: ":/nowhere") == ByteString("\(fixture.directory.path)/./script"))
    #expect(try program("/bin/sh", path: "") == "/bin/sh")
    #expect(throws: SpawnError.programNotFound("script", searchPath: "/nowhere")) {
      try program("script", path: "/nowhere")
    }
    #expect(throws: SpawnError.programNotFound("./other", searchPath: nil)) { try program("./other", path: "/bin") }
    #expect(throws: SpawnError.self) { try Command([], environment: [:]).program() }
    #expect(throws: SpawnError.self) { try Command(["sh"], environment: [:], directory: "nowhere").program() }
  }

  @Test func input_opened_canBeReadAndNotWritten() throws {
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

  @Test func output_ofADelegatedStart_isCaptured() throws {
    let fixture = try ProcessFixture()
    let capture = fixture.capture("delegated", limit: 8)
    var reader: OutputReader? = try .create(capture, loop: fixture.loop)
    let descriptor = try capture.openForCommand()
    defer { close(descriptor) }
    #expect(write(descriptor, "before ", 7) == 7)
    fixture.loop.turn(wait: .zero)
    // The writer goes on during a time without a reader.
    reader = nil
    #expect(write(descriptor, "and after", 9) == 9)
    reader = try .resume(capture, loop: fixture.loop)
    #expect(reader?.finish() == CapturedOutput(bytes: Array("before a".utf8), isTruncated: true))
    capture.remove()
    #expect(throws: SystemError.self) { try capture.openForCommand() }
  }

  @Test func executionState_ofAProcess_followsFromItsEnvironment() throws {
    let fixture = try ProcessFixture()
    var command = Command(["sleep", "60"], environment: fixture.environment)
    command.environment["DELEGATED"] = "yes"
    let running = try fixture.start(command)
    let pid = try #require(running.tree.first?.pid)
    // For a moment in execve, there is no environment to read.
    try fixture.wait { ExecutionState(of: pid, "DELEGATED", is: "yes") != .forked }
    #expect(ExecutionState(of: pid, "DELEGATED", is: "yes") == .executed)
    // In the program that forks the command, the variable has another value or is missing.
    #expect(ExecutionState(of: pid, "DELEGATED", is: "no") == .forked)
    #expect(ExecutionState(of: pid, "OTHER", is: "yes") == .forked)
    #expect(ExecutionState(of: pid, "DELEGATED", is: "yes", placeholder: ["sleep", "6"]) == .executed)
    #expect(ExecutionState(of: pid, "DELEGATED", is: "yes", placeholder: ["sleep", "60"]) == .forked)
    running.tree.kill()
    try #require(fixture.loop.turn(until: { running.result != nil }))
    #expect(ExecutionState(of: pid, "DELEGATED", is: "yes") == .ended)
  }

  @Test(arguments: ["", "a title that is longer than its arguments, and goes on in its environment: a=b"])
  func executionState_ofAProcessThatErasesItsEnvironment_isExecuted(title: String) throws {
    let fixture = try ProcessFixture()
    // Assigning to `$0` overwrites both, as programs do that show what they are about, and Chromium.
    var command = Command(
      ["perl", "-e", "$0 = shift; sleep 60", ByteString(title)], environment: fixture.environment)
    command.environment["DELEGATED"] = "yes"
    let running = try fixture.start(command)
    let pid = try #require(running.tree.first?.pid)
    try fixture.wait { ProcessTable.variable("DELEGATED", of: pid) != .value("yes") }
    try fixture.wait { ProcessTable.variable("DELEGATED", of: pid) != .empty }
    #expect(ExecutionState(of: pid, "DELEGATED", is: "yes") == .executed)
  }
}
