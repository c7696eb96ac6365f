// Why this file exists: everything that a child is to get is said in one value, because nothing else reaches it.

import CLinux
import Glibc

/// The variables of a process.
public typealias ProcessEnvironment = [ByteString: ByteString]

extension ProcessEnvironment {
  /// The variables of this process; of a name that stands there twice, the first.
  public static func ofThisProcess() -> ProcessEnvironment {
    var variables: ProcessEnvironment = [:]
    guard var entry = linux_environment() else { return variables }
    while let text = entry.pointee {
      let bytes = UnsafeBufferPointer(start: text, count: strlen(text)).map { UInt8(bitPattern: $0) }
      if let equals = bytes.firstIndex(of: UInt8(ascii: "=")) {
        let name = ByteString(bytes[..<equals])
        if variables[name] == nil { variables[name] = ByteString(bytes[(equals + 1)...]) }
      }
      entry += 1
    }
    return variables
  }
}

/// What to run, never through a shell.
public struct Command: Hashable, Sendable {
  /// The program and its arguments. A program without `/` is looked up in the `PATH` of ``environment``.
  public var arguments: [ByteString]
  /// All the variables that the process gets, but for the keeper's marker.
  public var environment: ProcessEnvironment
  /// Where it runs: an absolute path.
  public var directory: ByteString
  /// What it finds on standard input: a file of these bytes, which it reads when it likes, or not at all.
  public var input: [UInt8]

  public init(
    _ arguments: [ByteString], environment: ProcessEnvironment, directory: ByteString = "/", input: [UInt8] = []
  ) {
    self.arguments = arguments
    self.environment = environment
    self.directory = directory
    self.input = input
  }
}
