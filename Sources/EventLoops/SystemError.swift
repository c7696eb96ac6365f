// Why this file exists: a system call that fails has to say which one it was and why, without Foundation.

import CLinux
import Glibc

/// A failed system call.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The value of `errno`.
  public let code: Int32
  /// What was tried, as a person would look it up: the call's name, and on what where that helps.
  public let operation: String

  public init(code: Int32, operation: String) {
    self.code = code
    self.operation = operation
  }

  /// Reads `errno`, so it must be the first thing after the call.
  public init(_ operation: String) {
    self.init(code: errno, operation: operation)
  }

  /// The text for the code alone, as in `No such file or directory`.
  public var reason: String { strerrordesc_np(code).map { String(cString: $0) } ?? "error \(code)" }

  public var description: String { "\(operation): \(reason)" }
}

/// Hands on what a system call returned, unless that is -1.
@discardableResult
@inline(__always)
public func check<Result: SignedInteger>(
  _ operation: @autoclosure () -> String, _ call: () -> Result
) throws(SystemError) -> Result {
  let result = call()
  if result == -1 { throw SystemError(code: errno, operation: operation()) }
  return result
}
