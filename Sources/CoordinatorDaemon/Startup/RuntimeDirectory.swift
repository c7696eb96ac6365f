import EventLoops
import Glibc
import PresentationRecord
import Processes

/// The directory of navd's record and of the output of commands. Only its user can write there.
struct RuntimeDirectory {
  private let path: ByteString
  /// Whether navd removes it at its end, since no later navd can find it.
  let isTemporary: Bool

  /// - Parameter path: nil for `$XDG_RUNTIME_DIR/navd`; without that variable, for a new directory in `/tmp`.
  /// - Throws: `SystemError` if it cannot be made, or other users can write there.
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
    if mkdir(name, 0o700) != 0, errno != EEXIST {
      let error = SystemError("mkdir \(name)")
      guard error.isPassing else { throw error }
      // The record makes it when there is room.
      return
    }
    var status = stat()
    try check("stat \(name)") { lstat(name, &status) }
    guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == getuid(), status.st_mode & 0o022 == 0 else {
      throw SystemError(code: EPERM, operation: "use \(name), where other users can write, as a state directory")
    }
  }

  var name: String { path.description }

  /// The path of a file in the directory.
  func path(_ name: ByteString) -> ByteString { ByteString(path.bytes + [UInt8(ascii: "/")] + name.bytes) }

  /// The names of the files that begin so.
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

  /// Removes a temporary directory, unless it contains other files than the record.
  func remove() {
    guard isTemporary else { return }
    for file in Record.files { unlink(path(ByteString(file)).description) }
    rmdir(path.description)
  }
}
