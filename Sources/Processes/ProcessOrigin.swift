import Glibc

/// What tells to which command or service a running process belongs; each part is read at most once, when it is asked for, and
/// compared with many.
public final class ProcessOrigin {
  public let pid: pid_t
  /// Nil if it has ended.
  private(set) lazy var identity = ProcessIdentity(of: pid)
  /// The command that it descends from.
  private(set) lazy var mark = ProcessTable.mark(of: pid)
  /// The names of its cgroup and of all that contain it, such as a service's.
  public private(set) lazy var controlGroups = Set(readControlGroups(pid))
  /// When it started, in milliseconds since the machine has; nil if it has ended.
  public var started: UInt64? { identity.map { $0.startTime * 1000 / UInt64(sysconf(Int32(_SC_CLK_TCK))) } }
  private let readControlGroups: (pid_t) -> [ByteString]

  /// Whether it descends from the command with a marker.
  public func descends(from marker: ByteString) -> Bool { mark == DescentMark(marker) }

  public convenience init(of pid: pid_t) { self.init(of: pid, controlGroups: ProcessTable.controlGroups) }

  /// - Parameter controlGroups: replaced by tests.
  package init(of pid: pid_t, controlGroups: @escaping (pid_t) -> [ByteString]) {
    self.pid = pid
    readControlGroups = controlGroups
  }
}
