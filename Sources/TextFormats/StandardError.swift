import Glibc

/// Writes to standard error without waiting: nobody may read the pipe, and a terminal may be stopped.
public enum StandardError {
  /// Writes a line, and a newline. It is left out if it cannot be written at once, and cut off after what a pipe takes at once.
  public static func write(_ line: some Sequence<UInt8>) {
    var own = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
    guard poll(&own, 1, 0) == 1, own.revents & Int16(POLLOUT) != 0 else { return }
    let bytes = line.prefix(atomicSize - 1) + [newline]
    _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }

  private static let newline = UInt8(ascii: "\n")
  /// PIPE_BUF: a pipe that can be written to has room for as much (`pipe(7)`).
  private static let atomicSize = 4096
}
