import CLinux
import Glibc

public typealias ProcessEnvironment = [ByteString: ByteString]

extension ProcessEnvironment {
  /// The variables of this process. If several have one name, the first counts.
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

/// A program to run without a shell, with its environment, directory and input.
public struct Command: Hashable, Sendable {
  /// The program and its arguments. A program without `/` is looked up in the `PATH` of ``environment``.
  public var arguments: [ByteString]
  /// All variables of the process, except the supervisor's marker.
  public var environment: ProcessEnvironment
  /// The working directory: an absolute path.
  public var directory: ByteString
  /// The content of standard input. It is passed as a file: the process may read it at any time, or not at all.
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
