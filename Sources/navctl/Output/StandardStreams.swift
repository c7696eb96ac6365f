// Why this file exists: what navctl writes is written at once and whole, or navctl says why not.

import CoordinatorAPI
import Glibc

/// Standard output, for everything but `watch`.
enum StandardOutput {
  /// Whether people read it, not a program.
  static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

  /// Whether it is a terminal that does more than to write one line after the other.
  static var isCapable: Bool { isTerminal && !["", "dumb"].contains(variable("TERM")) }

  /// How tables are written here.
  static func style(legend: Bool) -> Table.Style {
    guard isTerminal else { return .plain }
    return .aligned(colour: hasColour, legend: legend, columns: size?.columns)
  }

  /// Whether people want colours (no-color.org), and the terminal has them.
  static var hasColour: Bool { isCapable && variable("NO_COLOR").isEmpty }

  /// How much there is room for; nil where that is no terminal, or one that does not say.
  static var size: (rows: Int, columns: Int)? {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return (size.ws_row > 0 ? Int(size.ws_row) : 24, Int(size.ws_col))
  }

  /// Empty where it is not set.
  private static func variable(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }

  static func write(_ text: String) { write(Array(text.utf8)) }

  /// Writes what need not arrive.
  static func attempt(_ text: String) { _ = writeAll(STDOUT_FILENO, Array(text.utf8)) }

  /// Ends navctl where nothing can be written; a closed pipe does that by SIGPIPE.
  static func write(_ bytes: [UInt8]) {
    guard let error = writeAll(STDOUT_FILENO, bytes) else { return }
    StandardError.write("navctl: standard output: \(String(cString: strerror(error)))")
    exit(CommandStatus.failed.rawValue)
  }
}

/// Standard error.
enum StandardError {
  /// One line; whether it can be written is nobody's concern.
  static func write(_ line: String) {
    guard !line.isEmpty else { return }
    _ = writeAll(STDERR_FILENO, Array((line.hasSuffix("\n") ? line : line + "\n").utf8))
  }
}

/// - Returns: the error, nil where all was written.
private func writeAll(_ descriptor: Int32, _ bytes: [UInt8]) -> Int32? {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    if count > 0 {
      rest = rest.dropFirst(count)
    } else if errno == EAGAIN {
      // Somebody else made the descriptor non-blocking.
      var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      Glibc.poll(&poll, 1, -1)
    } else if errno != EINTR {
      return errno
    }
  }
  return nil
}
