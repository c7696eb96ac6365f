import Glibc
import TestSupport
import Testing

/// A headless tmux terminal that exists while this object is held.
final class Terminal {
  private let session: Session
  private let socket: String
  private let server: Program

  /// - Parameters:
  ///   - name: the name that distinguishes several terminals of a session.
  ///   - command: a shell command to run in the terminal.
  init(_ session: Session, _ name: String = "tmux", columns: Int, rows: Int, _ command: String) throws {
    self.session = session
    socket = session.path(name)
    // The server stays in the foreground, as a child of the test.
    server = try session.start(program: "/usr/bin/tmux", ["-D", "-S", socket, "-f", "/dev/null"])
    try session.poll("the terminal is ready") {
      try #require(server.status == nil, "\(server.errorText)")
      return try ask(["new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", command]).exitCode == 0
    }
  }

  private func ask(_ arguments: [String]) throws -> Program {
    try session.run(program: "/usr/bin/tmux", ["-N", "-S", socket] + arguments)
  }

  /// The lines on the terminal, without empty lines at the end.
  func lines() throws -> [String] {
    var lines = try ask(["capture-pane", "-p"]).lines
    while lines.last == "" { lines.removeLast() }
    return lines
  }

  /// Waits until the lines on the terminal meet a condition.
  @discardableResult
  func wait(_ what: String, until condition: ([String]) -> Bool) throws -> [String] {
    var seen: [String] = []
    do {
      try session.poll(what) {
        seen = try lines()
        return condition(seen)
      }
    } catch {
      throw Session.Failure("\(error)\non the terminal:\n\(seen.joined(separator: "\n"))")
    }
    return seen
  }

  /// Presses keys, given by tmux's names.
  func press(_ keys: String...) throws { _ = try ask(["send-keys"] + keys) }

  /// Types a line and presses Enter.
  func type(_ line: String) throws { _ = try ask(["send-keys", "-l", line + "\r"]) }

  /// Closes the terminal as its user does.
  func close() throws { _ = try ask(["kill-session"]) }

  func resize(columns: Int, rows: Int) throws {
    _ = try ask(["resize-window", "-x", "\(columns)", "-y", "\(rows)"])
  }

  /// Whether a program uses the alternate screen, with the cursor hidden and without line wrapping.
  func isTaken() throws -> Bool {
    let flags = try ask(["display-message", "-p", "#{alternate_on}#{cursor_flag}#{wrap_flag}"]).lines.first
    try #require(["100", "011"].contains(flags), "alternate screen, cursor and wrapping disagree: \(flags ?? "")")
    return flags == "100"
  }
}
