// Why this file exists: what a programmer got wrong is told where it was done, and ends nothing.

import Glibc
import Synchronization

/// Who is told of misuse: that of this library's API, at a place in the program. Without one it is a line on standard error.
public enum Misuse {
  private static let handler = Mutex<(@Sendable (_ message: String, _ file: String, _ line: UInt) -> Void)?>(nil)

  /// Tells somebody else, a test for example; nil: standard error again.
  public static func report(to handler: (@Sendable (_ message: String, _ file: String, _ line: UInt) -> Void)?) {
    self.handler.withLock { $0 = handler }
  }

  static func tell(_ message: String, _ file: String, _ line: UInt) {
    if let handler = handler.withLock({ $0 }) { return handler(message, file, line) }
    let text = Array("\(file):\(line): Navigation: \(message)\n".utf8)
    _ = write(STDERR_FILENO, text, text.count)
  }
}

func reportMisuse(_ message: String, file: StaticString, line: UInt) { Misuse.tell(message, "\(file)", line) }
