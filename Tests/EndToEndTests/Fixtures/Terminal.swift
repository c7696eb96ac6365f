// Why this file exists: what people see on a terminal is asked of a terminal, which obeys what is written to it.

import Glibc
import TestSupport
import Testing

/// A terminal of tmux's, without a screen, for as long as this object is held.
final class Terminal {
  private let session: Session
  private let socket: String
  private let server: Program

  /// - Parameters:
  ///   - name: where a session has several.
  ///   - command: what runs in it, by a shell.
  init(_ session: Session, _ name: String = "tmux", columns: Int, rows: Int, _ command: String) throws {
    self.session = session
    socket = session.path(name)
    // In the foreground it is the test's to end.
    server = try session.start(program: "/usr/bin/tmux", ["-D", "-S", socket, "-f", "/dev/null"])
    try session.poll("there is a terminal") {
      try #require(server.status == nil, "\(server.errorText)")
      return try ask(["new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", command]).exitCode == 0
    }
  }

  private func ask(_ arguments: [String]) throws -> Program {
    try session.run(program: "/usr/bin/tmux", ["-N", "-S", socket] + arguments)
  }

  /// What stands there, line by line, without what is empty at the end.
  func lines() throws -> [String] {
    var lines = try ask(["capture-pane", "-p"]).lines
    while lines.last == "" { lines.removeLast() }
    return lines
  }

  /// Waits until what stands there is as it should be.
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

  /// Presses keys, by tmux's names.
  func press(_ keys: String...) throws { _ = try ask(["send-keys"] + keys) }

  /// Types a line.
  func type(_ line: String) throws { _ = try ask(["send-keys", "-l", line + "\r"]) }

  /// Closes it, as its window's user does.
  func close() throws { _ = try ask(["kill-session"]) }

  func resize(columns: Int, rows: Int) throws {
    _ = try ask(["resize-window", "-x", "\(columns)", "-y", "\(rows)"])
  }

  /// Whether a program has the other screen, the cursor is hidden, and lines do not go on in the next one.
  func isTaken() throws -> Bool {
    let flags = try ask(["display-message", "-p", "#{alternate_on}#{cursor_flag}#{wrap_flag}"]).lines.first
    try #require(["100", "011"].contains(flags), "the terminal is half taken: \(flags ?? "")")
    return flags == "100"
  }
}
