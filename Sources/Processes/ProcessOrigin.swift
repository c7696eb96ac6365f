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
  /// The words of the command lines of the process and of its ancestors.
  private lazy var commandLines = ProcessTable.lineage(of: pid).compactMap {
    ProcessTable.arguments(of: $0.pid).map(Self.words)
  }
  private let readControlGroups: (pid_t) -> [ByteString]

  /// Whether the process descends from the command with a marker.
  public func descends(from marker: ByteString) -> Bool { mark == DescentMark(marker) }

  /// The start time of the nearest process, this one or an ancestor, that the bus or a service manager has started since a time; nil if
  /// there is none. Both are in milliseconds since the machine started.
  public func activated(since time: UInt64) -> UInt64? {
    ProcessTable.activation(of: pid) { Self.milliseconds($0) >= time }.map(Self.milliseconds)
  }

  /// Whether the process or one of its ancestors has the name and the arguments of a command. A wrapper script may have added
  /// arguments before and after these.
  public func repeats(_ command: [ByteString]) -> Bool {
    let command = Self.words(of: command)
    guard let name = command.first.map(Self.fileName) else { return false }
    return commandLines.contains { line in
      // The name of a script comes after its interpreter and one argument of that.
      guard let position = line.prefix(3).firstIndex(where: { Self.fileName(of: $0) == name }) else { return false }
      return (position + 1...line.count).contains { line[$0...].starts(with: command.dropFirst()) }
    }
  }

  /// The words of a command line. Chromium, for one, joins its arguments with spaces when it runs.
  private static func words(of arguments: [ByteString]) -> [ArraySlice<UInt8>] {
    arguments.flatMap { $0.bytes.split(separator: UInt8(ascii: " ")) }
  }

  private static func fileName(of path: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    path.split(separator: UInt8(ascii: "/")).last
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
