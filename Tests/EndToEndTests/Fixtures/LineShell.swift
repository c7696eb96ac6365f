import CoordinatorAPI
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

/// A shell that draws panels itself, through `navctl presenter`, and whose lines the test reads and writes.
final class LineShell {
  let session: Session
  let program: Program
  private let input: InputPipe
  /// The number of lines that were read.
  private var read = 0

  /// - Parameter redirection: a redirection of standard output; none by default.
  init(_ session: Session, _ arguments: String, redirection: String = "") throws {
    self.session = session
    input = try InputPipe(session, "answers")
    let navctl = session.executable("navctl")
    program = try session.start(
      program: "/bin/sh", ["-c", "exec \(navctl) presenter \(arguments) <\"$HOME/answers\" \(redirection)"])
    let program = program
    try session.poll("it is registered; \(program.errorText)") {
      try session.call(CoordinatorInterface.destinations, ()).contains { $0.fields.0 == "calendar" }
    }
  }

  /// Ends the standard input of navctl.
  func end() { input.close() }

  func say(_ line: String) { input.write(line) }

  /// The next call that navctl writes.
  func call() throws -> JSON {
    try session.wait("a line after \(program.lines); \(program.errorText)") { program.lines.count > read }
    read += 1
    return try JSON.parse(program.lines[read - 1])
  }

  /// Writes a short line if navctl takes one now.
  func tryToSay(_ line: String) -> Bool {
    let flags = fcntl(input.descriptor, F_GETFL)
    _ = fcntl(input.descriptor, F_SETFL, flags | O_NONBLOCK)
    defer { _ = fcntl(input.descriptor, F_SETFL, flags) }
    // A line that is shorter than PIPE_BUF is written whole, or not at all.
    return input.write(line)
  }

  /// Whether navctl waits for something.
  var isWaiting: Bool {
    let fields = String(decoding: Files.contents(of: "/proc/\(program.processID)/stat"), as: UTF8.self).split(
      separator: " ")
    return fields.count > 2 && fields[2] == "S"
  }

  func waitForError(_ text: String) throws {
    try session.wait("the error “\(text)”; found \(program.errorText)") { program.errorText.contains(text) }
  }
}
