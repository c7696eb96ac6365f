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
  private var input: Int32
  /// The number of lines that were read.
  private var read = 0

  /// - Parameter redirection: a redirection of standard output; none by default.
  init(_ session: Session, _ arguments: String, redirection: String = "") throws {
    self.session = session
    try #require(mkfifo(session.path("answers"), 0o600) == 0)
    // The FIFO is opened for both, so that it does not end while the test holds it.
    input = open(session.path("answers"), O_RDWR | O_CLOEXEC)
    let navctl = session.executable("navctl")
    program = try session.start(
      program: "/bin/sh", ["-c", "exec \(navctl) presenter \(arguments) <\"$HOME/answers\" \(redirection)"])
    let program = program
    try session.poll("it is registered; \(program.errorText)") {
      try session.call(CoordinatorInterface.destinations, ()).contains { $0.fields.0 == "calendar" }
    }
  }

  /// Ends the standard input of navctl.
  func end() {
    close(input)
    input = -1
  }

  deinit { if input >= 0 { close(input) } }

  func say(_ line: String) { _ = (line + "\n").withCString { write(input, $0, strlen($0)) } }

  /// The next call that navctl writes.
  func call() throws -> JSON {
    try session.wait("a line after \(program.lines); \(program.errorText)") { program.lines.count > read }
    read += 1
    return try JSON.parse(program.lines[read - 1])
  }

  /// Writes a short line if navctl takes one now.
  func tryToSay(_ line: String) -> Bool {
    let flags = fcntl(input, F_GETFL)
    _ = fcntl(input, F_SETFL, flags | O_NONBLOCK)
    defer { _ = fcntl(input, F_SETFL, flags) }
    return (line + "\n").withCString { write(input, $0, strlen($0)) } > 0
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
