import CoordinatorAPI
import EventLoops
import Glibc
import TextFormats

/// Text as written to a terminal: text of other programs cannot move the cursor or change the direction of text. Other readers get
/// the text unchanged.
private func shown(_ text: String, on descriptor: Int32, keepingColours: Bool = false) -> String {
  guard isatty(descriptor) == 1 else { return text }
  return text.escapingControls { $0 == "\n" || $0 == "\t" || keepingColours && $0 == "\u{1b}" }
}

/// Standard output of every verb except `watch`: each write is complete, or navctl ends with an error.
enum StandardOutput {
  static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

  /// Whether standard output is a terminal that understands control sequences.
  static var hasControlSequences: Bool { isTerminal && !["", "dumb"].contains(variable("TERM")) }

  /// The style for people on a terminal, otherwise the style for programs.
  static func tableStyle(legend: Bool) -> Table.Style {
    guard isTerminal else { return .plain }
    return .aligned(colour: hasColour, legend: legend, columns: size?.columns)
  }

  /// Whether the terminal has colours and the user wants them (no-color.org).
  static var hasColour: Bool { hasControlSequences && variable("NO_COLOR").isEmpty }

  /// The size of the terminal; nil if there is no terminal, or its size is unknown.
  static var size: (rows: Int, columns: Int)? {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return (size.ws_row > 0 ? Int(size.ws_row) : 24, Int(size.ws_col))
  }

  /// The value of a variable; empty if it is not set.
  private static func variable(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }

  /// - Parameter isStyled: whether escape characters belong to navctl's own colours; those of other programs are escaped already.
  static func write(_ text: String, isStyled: Bool = false) {
    write(raw: Array(shown(text, on: STDOUT_FILENO, keepingColours: isStyled).utf8))
  }

  static func write(_ json: JSON) {
    write(raw: Array(((isTerminal ? json.text.escapingControlsInJSON : json.text) + "\n").utf8))
  }

  /// Writes the output of a program.
  static func write(output: [UInt8]) {
    if isTerminal { write(String(decoding: output, as: UTF8.self)) } else { write(raw: output) }
  }

  /// Writes the text, and ignores errors.
  static func attempt(_ text: String) { _ = writeAll(STDOUT_FILENO, Array(text.utf8)) }

  /// Writes the bytes, and ends navctl on an error; a closed pipe ends it by SIGPIPE.
  private static func write(raw bytes: [UInt8]) {
    guard let error = writeAll(STDOUT_FILENO, bytes) else { return }
    ErrorOutput.write(SystemError(code: error, operation: "navctl: standard output").description)
    exit(CommandStatus.failed.rawValue)
  }
}

enum ErrorOutput {
  /// Writes one line, and ignores errors.
  static func write(_ line: String) {
    guard !line.isEmpty else { return }
    let text = Typography.inLocale(line.hasSuffix("\n") ? line : line + "\n")
    _ = writeAll(STDERR_FILENO, Array(shown(text, on: STDERR_FILENO).utf8))
  }

  /// Text of another program for a part of a line.
  static func part(_ text: String) -> String { isatty(STDERR_FILENO) == 1 ? text.escapingControls() : text }
}

/// - Returns: `errno`, or nil if everything was written.
private func writeAll(_ descriptor: Int32, _ bytes: [UInt8]) -> Int32? {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    if count > 0 {
      rest = rest.dropFirst(count)
    } else if errno == EAGAIN {
      // Another program has made the shared descriptor non-blocking.
      var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      Glibc.poll(&poll, 1, -1)
    } else if errno != EINTR {
      return errno
    }
  }
  return nil
}
