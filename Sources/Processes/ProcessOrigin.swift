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
  private let readControlGroups: (pid_t) -> [ByteString]

  public convenience init(of pid: pid_t) { self.init(of: pid, controlGroups: ProcessTable.controlGroups) }

  /// - Parameter controlGroups: replaced by tests.
  package init(of pid: pid_t, controlGroups: @escaping (pid_t) -> [ByteString]) {
    self.pid = pid
    readControlGroups = controlGroups
  }
}
