import Glibc

/// The facts that show to which command or service a running process belongs. Each is read at most once, on the first request,
/// and compared with many commands.
public final class ProcessOrigin {
  public let pid: pid_t
  /// The identity; nil if the process has ended. A tree that watches the process sets it, so that nothing is read.
  lazy var identity = ProcessIdentity(of: pid)
  /// The mark of the command that the process descends from.
  private(set) lazy var mark = ProcessTable.mark(of: pid)
  /// The names of the process's cgroup and of all cgroups that contain it, such as a service's.
  public private(set) lazy var controlGroups = Set(readControlGroups(pid))
  /// The start time, in milliseconds since the machine started; nil if the process has ended.
  public var started: UInt64? { identity.map { $0.startTime * 1000 / UInt64(sysconf(Int32(_SC_CLK_TCK))) } }
  private let readControlGroups: (pid_t) -> [ByteString]

  /// Whether the process descends from the command with a marker.
  public func descends(from marker: ByteString) -> Bool { mark == DescentMark(marker) }

  public convenience init(of pid: pid_t) { self.init(of: pid, controlGroups: ProcessTable.controlGroups) }

  /// - Parameter controlGroups: replaced by tests.
  package init(of pid: pid_t, controlGroups: @escaping (pid_t) -> [ByteString]) {
    self.pid = pid
    readControlGroups = controlGroups
  }
}
