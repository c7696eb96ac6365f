import Glibc

/// A pipe with a name, into which a test writes what a program of its session reads, such as the program's standard input. It does not
/// end while this object is held and open.
public final class InputPipe {
  public let path: String
  /// The test's end; negative if it is closed.
  public private(set) var descriptor: Int32

  /// - Parameter name: the path of the pipe, relative to the session's home.
  /// - Throws: `Session.Failure`.
  public init(_ session: Session, _ name: String) throws {
    path = session.path(name)
    // Another user may own the desktop.
    guard mkfifo(path, 0o600) == 0, chmod(path, 0o666) == 0 else {
      throw Session.Failure("there can be no pipe \(path): errno \(errno)")
    }
    // The pipe is opened for both directions, since it would end with any other writer.
    descriptor = open(path, O_RDWR | O_CLOEXEC)
  }

  /// Writes a line, and waits while the pipe is full.
  /// - Returns: whether the whole line was written.
  @discardableResult
  public func write(_ line: String) -> Bool {
    let bytes = Array((line + "\n").utf8)
    return Glibc.write(descriptor, bytes, bytes.count) == bytes.count
  }

  /// Ends the program's input.
  public func close() {
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }

  deinit { close() }
}
