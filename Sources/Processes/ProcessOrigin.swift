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
  public var started: UInt64? { identity.map(Self.milliseconds) }
  private lazy var arguments = ProcessTable.arguments(of: pid) ?? []
  private let readControlGroups: (pid_t) -> [ByteString]

  /// Whether the process descends from the command with a marker.
  public func descends(from marker: ByteString) -> Bool { mark == DescentMark(marker) }

  /// The start time of the nearest process, this one or an ancestor, that the bus or a service manager has started since a time; nil if
  /// there is none. Both are in milliseconds since the machine started.
  public func activated(since time: UInt64) -> UInt64? {
    ProcessTable.activation(of: pid) { Self.milliseconds($0) >= time }.map(Self.milliseconds)
  }

  /// Whether the process has the command line of a command, wherever its program was found. The interpreter of a script comes before
  /// that.
  public func repeats(_ command: [ByteString]) -> Bool {
    func isSame(_ arguments: ArraySlice<ByteString>) -> Bool {
      guard let own = arguments.first, let other = command.first else { return false }
      let slash = UInt8(ascii: "/")
      return own.bytes.split(separator: slash).last == other.bytes.split(separator: slash).last
        && arguments.dropFirst() == command.dropFirst()
    }
    return isSame(arguments[...]) || isSame(arguments.dropFirst())
  }

  private static func milliseconds(_ identity: ProcessIdentity) -> UInt64 {
    identity.startTime * 1000 / UInt64(sysconf(Int32(_SC_CLK_TCK)))
  }

  public convenience init(of pid: pid_t) { self.init(of: pid, controlGroups: ProcessTable.controlGroups) }

  /// - Parameter controlGroups: replaced by tests.
  package init(of pid: pid_t, controlGroups: @escaping (pid_t) -> [ByteString]) {
    self.pid = pid
    readControlGroups = controlGroups
  }
}
