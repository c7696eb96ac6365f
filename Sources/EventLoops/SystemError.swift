import CLinux
import Glibc

/// A failed system call, with its name and reason. It does not need Foundation.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The value of `errno`.
  public let code: Int32
  /// The name of the call, with its object if that helps.
  public let operation: String

  public init(code: Int32, operation: String) {
    self.code = code
    self.operation = operation
  }

  /// Reads `errno`. Call this before anything that may change it.
  public init(_ operation: String) {
    self.init(code: errno, operation: operation)
  }

  /// The text for the code, for example `No such file or directory`.
  public var reason: String { strerrordesc_np(code).map { String(cString: $0) } ?? "error \(code)" }

  public var description: String { "\(operation): \(reason)" }
}

/// Returns the result of a system call.
/// - Throws: ``SystemError`` if the result is -1.
@discardableResult
@inline(__always)
public func check<Result: SignedInteger>(
  _ operation: @autoclosure () -> String, _ call: () -> Result
) throws(SystemError) -> Result {
  let result = call()
  if result == -1 { throw SystemError(code: errno, operation: operation()) }
  return result
}
