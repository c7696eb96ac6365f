import Glibc

/// What tells to which command or service a running process belongs; each part is read at most once, when it is asked for, and
/// compared with many.
public final class ProcessOrigin {
  public let identity: ProcessIdentity
  /// The command that it descends from.
  private(set) lazy var mark = ProcessTable.mark(of: identity.pid)
  /// The names of its cgroup and of all that contain it, such as a service's.
  public private(set) lazy var controlGroups = Set(ProcessTable.controlGroups(of: identity.pid))

  /// Reads a process; nil if it has ended.
  public init?(of pid: pid_t) {
    guard let identity = ProcessIdentity(of: pid) else { return nil }
    self.identity = identity
  }
}
