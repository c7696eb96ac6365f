import EventLoops
import Glibc

/// Keeps other processes from a directory for as long as the lock exists. The kernel releases the lock when the process ends.
final class DirectoryLock {
  private let directory: String
  private let descriptor: Int32

  /// - Parameter timeout: the seconds to wait for another process.
  /// - Throws: `SystemError`; its code is `EWOULDBLOCK` if another process keeps the lock for longer.
  init(_ directory: String, timeout: Double) throws(SystemError) {
    self.directory = directory
    descriptor = try openFile(directory, O_RDONLY | O_DIRECTORY)
    var left = timeout
    while flock(descriptor, LOCK_EX | LOCK_NB) < 0 {
      guard errno == EWOULDBLOCK || errno == EINTR, left > 0 else { throw SystemError("flock \(directory)") }
      usleep(10_000)
      left -= 0.01
    }
  }

  /// Whether the directory is no longer at its path.
  var isLost: Bool { leadsElsewhere(directory, than: descriptor) }

  deinit { close(descriptor) }
}
