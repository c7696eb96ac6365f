import CLinux
import Glibc

/// A number that a command's first process and all its descendants carry: their soft limit `RLIMIT_LOCKS`.
///
/// The kernel copies the limit at each fork, keeps it at each `execve`, and has not used it since Linux 2.4.25. So the mark
/// proves descent. Unlike a variable, it never reaches a process that another program has started, and a process keeps it after
/// leaving its session, its parents and its environment. Every user may read it.
public struct DescentMark: Hashable, Sendable {
  /// The value of the limit.
  public let number: UInt64

  /// The hard part of this process's limit, which its children keep.
  static let hardLimit: rlim_t = {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(UInt32(LINUX_RLIMIT_LOCKS)), &limit)
    return limit.rlim_max
  }()

  /// - Parameter marker: the text that identifies the command.
  public init(_ marker: ByteString) {
    // The hash is FNV-1a.
    let hash = marker.bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    // The number is large, unlike a limit that somebody has set, and positive as a signed number.
    number = hash >> 2 | 1 << 62
  }

  /// Whether a limit was made by this type.
  public static func isMark(_ number: UInt64) -> Bool { number >> 62 == 1 }

  /// Finds this user's processes that carry one of the marks and have not ended.
  public static func processes(carrying marks: Set<DescentMark>) -> [DescentMark: [ProcessOrigin]] {
    let numbers = Dictionary(uniqueKeysWithValues: marks.map { ($0.number, $0) })
    var found: [DescentMark: [ProcessOrigin]] = [:]
    for pid in ProcessTable.pids() {
      // One system call for each process is faster than reading its file in `/proc`.
      var limit = rlimit()
      guard linux_get_locks_limit(pid, &limit) == 0, let mark = numbers[UInt64(limit.rlim_cur)],
        ProcessTable.entry(of: pid)?.hasEnded == false
      else { continue }
      found[mark, default: []].append(ProcessOrigin(of: pid))
    }
    return found
  }

  /// Reads the content of `/proc/PID/limits`; nil if the limit was not made by this type.
  init?(limits: [UInt8]) {
    // The content is a line of titles, and one line for each limit, in the order of their numbers.
    let lines = limits.split(separator: UInt8(ascii: "\n"), maxSplits: 12)
    let name = "Max file locks"
    guard lines.count > 11, lines[11].starts(with: name.utf8) else { return nil }
    let rest = lines[11].dropFirst(name.utf8.count).drop { $0 == UInt8(ascii: " ") }
    guard let number = UInt64(ascii: rest.prefix { $0 != UInt8(ascii: " ") }), Self.isMark(number) else { return nil }
    self.number = number
  }
}
