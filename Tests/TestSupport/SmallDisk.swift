import EventLoops
import Glibc

/// A small file system in memory, in a mount namespace of its own, that exists while this object is held. For tests of full and
/// read-only disks.
public final class SmallDisk {
  /// The file system's directory outside of the namespace.
  public let path: String
  /// The file system's directory in the namespace.
  public let inner: String
  private let processID: String
  private let temporary = TemporaryDirectory()
  private let supervised: SupervisedScript
  private static let namespaces = geteuid() == 0 ? [] : ["--user"]

  /// - Throws: `SetupFailure` or `SystemError` if there is neither root nor a user namespace.
  public init(megabytes: Int) throws {
    let script = """
      set -eu
      mount -t tmpfs -o "mode=700,size=$2m,nr_inodes=100" tmpfs "$1"
      echo $$
      read -r _ || true
      """
    let user = geteuid() == 0 ? [] : ["--map-current-user", "--keep-caps"]
    supervised = try SupervisedScript(
      ["/usr/bin/unshare", "--mount", "--propagation", "private"] + Self.namespaces + user
        + ["/bin/sh", "-c", script, "sh", temporary.path, String(megabytes)],
      environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"])
    processID = try supervised.readLines(1, limit: .seconds(30))[0]
    inner = temporary.path
    path = "/proc/\(processID)/root\(inner)"
  }

  /// Fills the file system until a number of bytes is left.
  public func fill(leaving bytes: Int) throws {
    var status = statvfs()
    try check("statvfs \(path)") { statvfs(path, &status) }
    let file = try check("open") { open("\(path)/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600) }
    defer { close(file) }
    let length = off_t(status.f_bavail * status.f_frsize) - off_t(bytes)
    if posix_fallocate(file, 0, length) == 0 { return }
    // Each processor counts the pages that it uses, so the sum may be a little wrong.
    guard bytes == 0 else { throw SystemError(code: ENOSPC, operation: "posix_fallocate") }
    let page = [UInt8](repeating: 0, count: 4096)
    while write(file, page, page.count) == page.count {}
  }

  /// Fills the file system until it has no room for another file.
  public func fillWithFiles() throws {
    for number in 0... {
      let file = open("\(path)/filler\(number)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      guard file >= 0 else { return }
      close(file)
    }
  }

  /// Removes the files that filled the file system.
  public func clear() throws {
    for name in try Files.names(in: path) where name.hasPrefix("filler") { unlink("\(path)/\(name)") }
  }

  /// The beginning of a command line that is executed in the namespace.
  public var prefix: [String] {
    let user = Self.namespaces.flatMap { ["\($0)=/proc/\(processID)/ns/user", "--preserve-credentials"] }
    return ["/usr/bin/nsenter", "--mount=/proc/\(processID)/ns/mnt"] + user + ["--"]
  }

  /// The command line that runs a shell script in the namespace; `$1` is the directory.
  public func inside(_ script: String) -> [String] { prefix + ["/bin/sh", "-ec", script, "sh", inner] }

  deinit { supervised.end() }
}
