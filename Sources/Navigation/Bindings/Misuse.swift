import Glibc
import Synchronization

/// Reports misuse of this library's API with the position in the program. The program continues. By default a report is
/// a line on standard error.
///
///     Misuse.report { message, file, line in print("\(file):\(line): \(message)") }
public enum Misuse {
  /// Called with a report and the position in the program.
  ///
  ///     let stop: Misuse.Handler = { message, file, line in fatalError("\(file):\(line): \(message)") }
  ///     Misuse.report(to: stop)
  public typealias Handler = @Sendable (_ message: String, _ file: String, _ line: UInt) -> Void

  private static let handler = Mutex<Handler?>(nil)
  @TaskLocal private static var ownHandler: Handler?

  /// Sends the reports of the whole program to a handler; nil restores standard error.
  ///
  ///     Misuse.report(to: { message, file, line in fatalError("\(file):\(line): \(message)") })
  public static func report(to handler: Handler?) { self.handler.withLock { $0 = handler } }

  /// Sends the reports of a body to a handler, and also the reports of tasks that begin in the body, such as those of its navigators.
  /// So tests that run at the same time get their own reports.
  ///
  ///     Misuse.reporting(to: { message, _, _ in print(message) }) { model.mixedPath.append(Double.nan) }
  public static func reporting<Result>(to handler: @escaping Handler, _ body: () throws -> Result) rethrows -> Result {
    try $ownHandler.withValue(handler, operation: body)
  }

  /// Sends the reports of an asynchronous body to a handler, and also the reports of tasks that begin in the body.
  ///
  ///     await Misuse.reporting(to: { message, _, _ in print(message) }) { await navigator.settle() }
  public static func reporting<Result>(
    to handler: @escaping Handler, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    try await $ownHandler.withValue(handler, operation: body, isolation: isolation)
  }

  fileprivate static func send(_ message: String, _ file: String, _ line: UInt) {
    if let handler = ownHandler ?? handler.withLock({ $0 }) { return handler(message, file, line) }
    log("\(file):\(line): Navigation: \(message)")
  }
}

/// Writes a line to standard error.
package func log(_ line: String) {
  let text = Array("\(line)\n".utf8)
  _ = write(STDERR_FILENO, text, text.count)
}

func reportMisuse(_ message: String, file: StaticString, line: UInt) { Misuse.send(message, "\(file)", line) }

/// Reports misuse of state, with the position in the program that names its root.
func reportMisuse(_ message: String, of root: BindingRoot) { reportMisuse(message, file: root.file, line: root.line) }

/// Reports repeated misuse of one kind only once.
@MainActor
final class OneReport {
  private var isSent = false

  func send(_ message: @autoclosure () -> String, of root: BindingRoot) {
    guard !isSent else { return }
    isSent = true
    reportMisuse(message(), of: root)
  }
}
