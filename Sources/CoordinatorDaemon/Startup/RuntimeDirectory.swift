// Why this file exists: what navd keeps beside itself, such as what commands have written, lies in one directory that
// only its user can enter, and is known as this run's.

import EventLoops
import Glibc
import PresentationRecord
import Processes

/// Where navd keeps files while it runs.
struct RuntimeDirectory {
  private let path: ByteString
  /// Whether it is to be removed with navd, since no later one would find it.
  let isTemporary: Bool

  /// - Parameter path: nil for `$XDG_RUNTIME_DIR/navd`, or where there is none, a new one in `/tmp`.
  /// - Throws: where it cannot be made, or others could write there.
  init(_ path: String? = nil) throws(SystemError) {
    if let path {
      self.path = ByteString(path)
      isTemporary = false
    } else if let session = getenv("XDG_RUNTIME_DIR"), session.pointee != 0 {
      self.path = ByteString(String(cString: session) + "/navd")
      isTemporary = false
    } else {
      self.path = ByteString("/tmp/navd-\(String(UInt64.random(in: .min ... .max), radix: 36))")
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

  /// The directory itself.
  var name: String { path.description }

  /// A file there.
  func path(_ name: ByteString) -> ByteString { ByteString(path.bytes + [UInt8(ascii: "/")] + name.bytes) }

  /// The names of the files there that begin so.
  func names(beginningWith beginning: String) -> [String] {
    guard let directory = opendir(name) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name.hasPrefix(beginning) { names.append(name) }
    }
    return names
  }

  /// Removes it, if it was made for this run only and nothing else is in it.
  func remove() {
    guard isTemporary else { return }
    for file in Record.files { unlink(path(ByteString(file)).description) }
    rmdir(path.description)
  }
}
