// Why this file exists: a program in a sandbox cannot be asked whether it is in one; what its process is, the kernel and
// the bus say (L3).

import CLinux
import DBus
import DBusValues
import EventLoops
import Glibc

/// What a program may be shut in by.
enum Sandbox: String, Sendable {
  case flatpak = "Flatpak"
  case snap = "Snap"

  /// Why it cannot be said of a process whether it is in a sandbox.
  struct Unknown: Error, Hashable {
    let why: String
  }

  /// What is around the process that made a connection to the bus. For a Flatpak that is the proxy through which its
  /// program talks; it stands in a root of its own, with the same mark.
  /// - Returns: nil outside of both.
  static func around(_ credentials: Credentials) throws(Unknown) -> Sandbox? {
    if let label = credentials.securityLabel, let found = named(bySecurityLabel: label) { return found }
    guard let pid = credentials.processID, pid > 0 else {
      throw Unknown(why: "the bus does not say which process it is")
    }
    let found: Sandbox?
    do throws(SystemError) {
      let named = named(byControlGroups: try content(of: "/proc/\(pid)/cgroup"))
      found = if let named { named } else { try marked(inRootOf: pid) }
    } catch {
      throw Unknown(why: "its process cannot be looked at: \(error)")
    }
    // While the process is there its number was no other's.
    if let process = credentials.process, hasEnded(process) { throw Unknown(why: "its process has ended") }
    return found
  }

  /// Snap's are `snap.NAME.APP`, with the mode behind it where AppArmor wrote them.
  static func named(bySecurityLabel label: [UInt8]) -> Sandbox? {
    label.starts(with: "snap.".utf8) ? .snap : nil
  }

  /// Both start each program in a cgroup that is called so: `snap.NAME.APP-….scope`, `app-flatpak-NAME-….scope`.
  /// - Parameter text: of `/proc/PID/cgroup`, whose lines are `number:controllers:path`.
  static func named(byControlGroups text: [UInt8]) -> Sandbox? {
    for line in text.split(separator: UInt8(ascii: "\n")) {
      let fields = line.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { continue }
      for name in fields[2].split(separator: UInt8(ascii: "/")) {
        if name.starts(with: "snap.".utf8) { return .snap }
        if name.starts(with: "app-flatpak-".utf8) { return .flatpak }
      }
    }
    return nil
  }

  /// Flatpak puts a description of the program into the root that it makes for it.
  private static func marked(inRootOf pid: UInt32) throws(SystemError) -> Sandbox? {
    let path = "/proc/\(pid)/root"
    let root = try check("open \(path)") { open(path, LINUX_O_PATH | O_DIRECTORY | O_CLOEXEC) }
    defer { close(root) }
    // Only looked up, so that no file system of somebody's making has to answer for the file.
    let mark = openat(root, ".flatpak-info", LINUX_O_PATH | O_NOFOLLOW | O_CLOEXEC)
    if mark >= 0 {
      close(mark)
      return .flatpak
    }
    if errno == ENOENT { return nil }
    let error = SystemError("look for \(path)/.flatpak-info")
    // The root of some containers (toolbox), into which only their own processes may look. Flatpak has no such roots.
    if error.code == EACCES, linux_file_system_type(path) == LINUX_FUSE_MAGIC { return nil }
    throw error
  }

  private static func content(of path: String) throws(SystemError) -> [UInt8] {
    let file = try check("open \(path)") { open(path, O_RDONLY | O_CLOEXEC) }
    defer { close(file) }
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = try check("read \(path)") { read(file, &buffer, buffer.count) }
      if count == 0 { return all }
      all += buffer[..<count]
    }
  }

  private static func hasEnded(_ process: Descriptor) -> Bool {
    var entry = pollfd(fd: process.number, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) != 0
  }
}
