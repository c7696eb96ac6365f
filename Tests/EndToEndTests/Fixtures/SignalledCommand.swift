import DBusValues
import Glibc
import TestSupport
import Testing

/// Commands that handle signals, and write output when a test says so.
extension Session {
  /// Presents the item `fact 1` with a command that runs until a signal ends it, and returns once its handlers are
  /// installed.
  /// - Parameter handlers: Perl code that installs signal handlers; it may write to `$journal`, the session's journal.
  @discardableResult
  func presentCommand(handlingSignals handlers: String) throws -> ObjectPath {
    let script = """
      \(handlers)
      open $journal, ">>", $ENV{NAVD_TEST_JOURNAL}; syswrite $journal, "ready\\n"; sleep 1 while 1;
      """
    let path = try present("fact", "1", ["command": ["perl", "-e", script].value])
    try wait("the command runs") { journalLines == ["ready"] }
    return path
  }

  /// Like ``presentCommand(handlingSignals:)``, with a command for ``writeOutput()``.
  @discardableResult
  func presentWritingCommand() throws -> ObjectPath {
    try presentCommand(
      handlingSignals: #"$SIG{USR1} = sub { syswrite STDOUT, "x" x 1000 for 1..10; syswrite $journal, "wrote\n"; };"#)
  }

  /// Makes the command write 10 000 bytes to its standard output.
  /// - Returns: the command's process ID.
  @discardableResult
  func writeOutput() throws -> pid_t {
    let pid = try #require(processes().first?.pid)
    kill(pid, SIGUSR1)
    try wait("the command has written") { journalLines == ["ready", "wrote"] }
    return pid
  }
}
