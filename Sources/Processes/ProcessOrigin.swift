import Glibc

/// What tells to which command or service a running process belongs; read once, to be compared with many.
public struct ProcessOrigin: Hashable, Sendable {
  public let identity: ProcessIdentity
  /// The command that it descends from.
  let mark: DescentMark?
  /// The names of its cgroup and of all that contain it, such as a service's.
  public let controlGroups: Set<ByteString>

  /// Reads a process; nil if it has ended.
  public init?(of pid: pid_t) {
    guard let identity = ProcessIdentity(of: pid) else { return nil }
    self.identity = identity
    mark = ProcessTable.mark(of: pid)
    controlGroups = Set(ProcessTable.controlGroups(of: pid))
  }
}
