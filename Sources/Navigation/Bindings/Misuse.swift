import Glibc
import Synchronization

/// Reports misuse of this library's API with the position in the program. The program continues. By default a report is
/// a line on standard error.
public enum Misuse {
  private static let handler = Mutex<(@Sendable (_ message: String, _ file: String, _ line: UInt) -> Void)?>(nil)

  /// Sends reports to a handler, for example to fail a test; nil: to standard error again.
  public static func report(to handler: (@Sendable (_ message: String, _ file: String, _ line: UInt) -> Void)?) {
    self.handler.withLock { $0 = handler }
  }

  fileprivate static func send(_ message: String, _ file: String, _ line: UInt) {
    if let handler = handler.withLock({ $0 }) { return handler(message, file, line) }
    log("\(file):\(line): Navigation: \(message)")
  }
}

/// Writes a line to standard error.
func log(_ line: String) {
  let text = Array("\(line)\n".utf8)
  _ = write(STDERR_FILENO, text, text.count)
}

func reportMisuse(_ message: String, file: StaticString, line: UInt) { Misuse.send(message, "\(file)", line) }

/// Reports misuse of state, with the position in the program that names its root.
func reportMisuse(_ message: String, of root: BindingRoot) { reportMisuse(message, file: root.file, line: root.line) }

/// Reports misuse that is seen again and again, once.
@MainActor
final class OneReport {
  private var isSent = false

  func send(_ message: @autoclosure () -> String, of root: BindingRoot) {
    guard !isSent else { return }
    isSent = true
    reportMisuse(message(), of: root)
  }
}
