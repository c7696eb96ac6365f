import Glibc

/// A directory that is deleted with its contents when the last reference is released.
public final class TemporaryDirectory: Sendable {
  public let path: String

  public init() {
    var template = Array("/tmp/navd-test.XXXXXX\0".utf8CString)
    guard mkdtemp(&template) != nil else { fatalError("mkdtemp failed") }
    path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  public func path(of name: String) -> String { path + "/" + name }

  deinit { delete() }

  /// Deletes the directory before the last reference is released: the end of a process releases nothing.
  func delete() { Self.remove(path) }

  private static func remove(_ path: String) {
    for name in (try? Files.names(in: path)) ?? [] {
      let inner = path + "/" + name
      if unlink(inner) != 0 { remove(inner) }
    }
    rmdir(path)
  }
}
