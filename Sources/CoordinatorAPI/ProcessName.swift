// Why this file exists: people know programs by their names and not by numbers.

import Glibc

package enum ProcessName {
  /// The name of a process's program, or the one that the process gave itself: of its first thread, at most 15 bytes. Not
  /// its arguments, which are its own affair.
  /// - Returns: nil where there is no such process any more.
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
