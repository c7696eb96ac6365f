import CLinux
import DBus
import DBusValues
import EventLoops
import Glibc
import Processes

/// A kind of sandbox, recognised by facts of the kernel and the bus about a process, never by the program's own word (L3).
enum Sandbox: String, Sendable {
  case flatpak = "Flatpak"
  case snap = "Snap"

  /// The reason why navd cannot tell whether a process is in a sandbox.
  struct Unknown: Error, Hashable {
    let why: String
  }

  /// The sandbox of the process behind a connection to the bus. A Flatpak's connection is made by its proxy, whose root has the
  /// same marker file.
  /// - Returns: nil outside of any sandbox.
  init?(of credentials: Credentials) throws(Unknown) {
    if let label = credentials.securityLabel, let found = Self.named(bySecurityLabel: label) {
      self = found
      return
    }
    guard let pid = credentials.processID, pid > 0 else {
      throw Unknown(why: "the bus does not name its process")
    }
    let found: Sandbox?
    do throws(SystemError) {
      let path = "/proc/\(pid)/cgroup"
      let groups: [UInt8]
      do { groups = try contents(ofFile: path) } catch {
        throw SystemError(code: error.code, operation: "read \(path)")
      }
      let named = Self.named(byControlGroups: groups)
      found = if let named { named } else { try Self.marked(inRootOf: pid) }
    } catch {
      throw Unknown(why: "its process cannot be inspected: \(error)")
    }
    // The process still runs, so its id was not reused.
    if let process = credentials.process, Self.hasEnded(process) { throw Unknown(why: "its process has ended") }
    guard let found else { return nil }
    self = found
  }

  /// A snap's label is `snap.NAME.APP`, followed by the mode if AppArmor is the security module.
  static func named(bySecurityLabel label: [UInt8]) -> Sandbox? {
    label.starts(with: "snap.".utf8) ? .snap : nil
  }

  /// Each program runs in a cgroup of its own: `snap.NAME.APP-….scope` or `app-flatpak-NAME-….scope`.
  /// - Parameter text: the content of `/proc/PID/cgroup`.
  static func named(byControlGroups text: [UInt8]) -> Sandbox? {
    for name in ProcessTable.controlGroups(in: text) {
      if name.starts(with: "snap.".utf8) { return .snap }
      if name.starts(with: "app-flatpak-".utf8) { return .flatpak }
    }
    return nil
  }

  /// Looks in the root of the sandbox for the file with which Flatpak describes the program.
  private static func marked(inRootOf pid: UInt32) throws(SystemError) -> Sandbox? {
    let path = "/proc/\(pid)/root"
    let root: CInt
    do { root = try check("open \(path)") { open(path, LINUX_O_PATH | O_DIRECTORY | O_CLOEXEC) } } catch {
      // Other groups keep other processes of the same user out, such as those that newgrp(1) gives.
      let status = try? contents(ofFile: "/proc/\(pid)/status")
      guard error.code == EACCES, status.map({ isFree(bySayingOf: $0, user: getuid()) }) == true else { throw error }
      return nil
    }
    defer { close(root) }
    // O_PATH does not open the file, so a hostile FUSE file system cannot block here.
    let mark = openat(root, ".flatpak-info", LINUX_O_PATH | O_NOFOLLOW | O_CLOEXEC)
    if mark >= 0 {
      close(mark)
      return .flatpak
    }
    if errno == ENOENT { return nil }
    let error = SystemError("look for \(path)/.flatpak-info")
    // Roots on FUSE belong to some containers (toolbox), and only their own processes can read them; Flatpak never has one.
    if error.code == EACCES, linux_file_system_type(path) == LINUX_FUSE_MAGIC { return nil }
    throw error
  }

  /// Whether the kernel says that a process of a user is in no sandbox of Flatpak's kind, which has a namespace for processes, no new
  /// privileges and a filter for system calls. A process cannot get rid of any of them.
  /// - Parameter status: the content of `/proc/PID/status`, which every process may read.
  static func isFree(bySayingOf status: [UInt8], user: uid_t) -> Bool {
    var fields: [String: [Substring]] = [:]
    for line in String(decoding: status, as: UTF8.self).split(separator: "\n") {
      let words = line.split(whereSeparator: { $0 == "\t" || $0 == " " })
      if let name = words.first { fields[String(name)] = Array(words.dropFirst()) }
    }
    return fields["Uid:"]?.allSatisfy { $0 == "\(user)" } == true && fields["NSpid:"]?.count == 1
      && fields["NoNewPrivs:"] == ["0"] && fields["Seccomp:"] == ["0"]
  }

  private static func hasEnded(_ process: Descriptor) -> Bool {
    var entry = pollfd(fd: process.number, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) != 0
  }
}
