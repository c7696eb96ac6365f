import Glibc

/// Names of processes, for people.
package enum ProcessName {
  /// The name of a process's first thread, at most 15 bytes. It is the name of the program unless the process changed it. Arguments are
  /// left out, since they may be private.
  /// - Returns: nil if there is no such process.
  package static func of(_ pid: UInt32) -> String? {
    let file = open("/proc/\(pid)/comm", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = read(file, &buffer, buffer.count)
    let name = buffer.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }
    return name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
  }
}
