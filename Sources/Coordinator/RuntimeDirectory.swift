// Why this file exists: what navd keeps beside itself, such as what commands have written, lies in one directory that
// only its user can enter, and is known as this run's.

import EventLoop
import Glibc
import Processes

/// Where navd keeps files while it runs.
struct RuntimeDirectory {
  /// Told apart from every other navd of this user.
  let token: String
  private let path: ByteString
  /// Whether it is to be removed with navd.
  private let isTemporary: Bool

  /// - Parameter path: nil for `$XDG_RUNTIME_DIR/navd`, or where there is none, a new one in `/tmp`.
  /// - Throws: where it cannot be made, or others could write there.
  init(_ path: String? = nil) throws(SystemError) {
    token = String(UInt64.random(in: .min ... .max), radix: 36)
    if let path {
      self.path = ByteString(path)
      isTemporary = false
    } else if let session = getenv("XDG_RUNTIME_DIR"), session.pointee != 0 {
      self.path = ByteString(String(cString: session) + "/navd")
      isTemporary = false
    } else {
      self.path = ByteString("/tmp/navd-\(token)")
      isTemporary = true
    }
    let name = self.path.description
    if mkdir(name, 0o700) != 0, errno != EEXIST { throw SystemError("mkdir \(name)") }
    var status = stat()
    try check("stat \(name)") { lstat(name, &status) }
    guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == getuid(), status.st_mode & 0o022 == 0 else {
      throw SystemError(code: EPERM, operation: "\(name), where others could write, as a state directory")
    }
  }

  /// Whether no navd has used the directory before. From now on one has.
  func claimFirstUse() -> Bool {
    let descriptor = open(path("used").description, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return false }
    close(descriptor)
    return true
  }

  /// A file there.
  func path(_ name: ByteString) -> ByteString { ByteString(path.bytes + [UInt8(ascii: "/")] + name.bytes) }

  /// Removes it, if it was made for this run only and nothing else is in it.
  func remove() {
    guard isTemporary else { return }
    unlink(path("used").description)
    rmdir(path.description)
  }
}
