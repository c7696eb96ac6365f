import Glibc

/// Writes to standard error without waiting: a pipe may have no reader, and a terminal may be stopped.
public enum StandardError {
  /// Writes a line with a newline. A line that cannot be written at once is left out; a line that is longer than a pipe takes at once
  /// is cut off.
  public static func write(_ line: some Sequence<UInt8>) {
    var own = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
    guard poll(&own, 1, 0) == 1, own.revents & Int16(POLLOUT) != 0 else { return }
    let bytes = line.prefix(atomicSize - 1) + [newline]
    _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }

  private static let newline = UInt8(ascii: "\n")
  /// PIPE_BUF: a pipe that is ready for writing has room for this many bytes (`pipe(7)`).
  private static let atomicSize = 4096
}
