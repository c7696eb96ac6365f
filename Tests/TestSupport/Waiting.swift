// Why this file exists: tests wait for what they expect, with a limit that only a failure reaches, and leave nothing
// behind in the file system.

public import EventLoops
import Glibc

extension EventLoop {
  /// Turns the loop until the condition holds.
  /// - Returns: whether it did within the limit, to be required by the test.
  public func turn(until condition: () -> Bool, within limit: Duration = .seconds(30)) -> Bool {
    let end = MonotonicInstant.now + limit
    while !condition() {
      let left = end - MonotonicInstant.now
      guard left > .zero else { return false }
      turn(wait: left)
    }
    return true
  }
}

/// A directory of the test's own, removed with all that is in it when the last reference goes.
public final class TemporaryDirectory: Sendable {
  public let path: String

  public init() {
    var template = Array("/tmp/navd-test.XXXXXX\0".utf8CString)
    guard mkdtemp(&template) != nil else { fatalError("mkdtemp failed") }
    path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  public func path(of name: String) -> String { path + "/" + name }

  deinit { Self.remove(path) }

  private static func remove(_ path: String) {
    if let directory = opendir(path) {
      while let entry = readdir(directory) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        guard name != ".", name != ".." else { continue }
        let inner = path + "/" + name
        if unlink(inner) != 0 { remove(inner) }
      }
      closedir(directory)
    }
    rmdir(path)
  }
}
