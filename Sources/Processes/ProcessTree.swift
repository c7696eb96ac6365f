import EventLoops
import Glibc

/// The outcome of a command, reported after its last process has ended.
public struct ProcessResult: Hashable, Sendable {
  /// The exit status of the first process, the spawned one; `unknown` for an adopted one.
  public var status: ProcessStatus
  /// The output; nil if it was not captured.
  public var output: CapturedOutput?

  public init(status: ProcessStatus, output: CapturedOutput?) {
    (self.status, self.output) = (status, output)
  }
}

/// A command's first process and, if the tree is whole, all its descendants, as far as they can be found (`docs/architecture.md`). A
/// ``ProcessSupervisor`` watches the tree until its last process has ended, whether or not a caller holds this object.
public final class ProcessTree {
  /// The value of the supervisor's variable in the environment of the first process.
  public let marker: ByteString
  let mark: DescentMark
  /// Whether all descendants of the first process belong to the tree.
  let isWhole: Bool
  /// The service that an adopted command may have run in.
  var service: ByteString?
  /// The spawned process; nil if it had ended when the tree was adopted.
  public internal(set) var first: ProcessIdentity?

  /// The first process, or else the oldest member whose parent is no member.
  public var main: ProcessIdentity? {
    first ?? roots.values.map(\.entry.identity).min { $0.startTime < $1.startTime }
  }

  /// Called once, from a turn of the loop, after the last process has ended. If it is set later than that, it is called when it is set.
  public var onExit: ((ProcessResult) -> Void)? {
    didSet {
      guard let onExit, let result = unreportedResult else { return }
      unreportedResult = nil
      self.onExit = nil
      onExit(result)
    }
  }

  weak var supervisor: ProcessSupervisor?
  /// The watched processes: the members whose parent is no member. When one ends, its children are searched for.
  var roots: [pid_t: Root] = [:]
  /// The other members that the supervisor has seen.
  var remembered: Set<ProcessIdentity> = []
  var status: ProcessStatus = .unknown
  var output: OutputReader?
  /// The result, until a handler for it is set.
  var unreportedResult: ProcessResult?
  /// Whether the orphans of the tree become children of another process, so that finding them takes a scan of the process table.
  let isScattered: Bool
  /// Whether the supervisor has yet to report the tree as found.
  var isBeingAdopted = false
  /// The number of inspections in a row that found no process of the tree.
  var emptyInspections = 0
  /// Whether each process found from now on is killed.
  var isCondemned = false

  struct Root {
    let entry: ProcessEntry
    let watch: ExitWatch
  }

  init(marker: ByteString, isWhole: Bool, isScattered: Bool, supervisor: ProcessSupervisor) {
    self.marker = marker
    mark = DescentMark(marker)
    self.isWhole = isWhole
    self.isScattered = isScattered
    self.supervisor = supervisor
  }

  /// Whether any process of the tree may be left.
  public var isLive: Bool { supervisor != nil }

  /// Searches for the processes of the tree. For an adopted tree this scans the process table.
  public func processes() -> [ProcessIdentity] { supervisor?.members(of: self).map(\.identity) ?? [] }

  /// Whether a process belongs to the tree.
  public func includes(_ process: ProcessOrigin) -> Bool {
    // A watched process keeps its number, so nothing is read for the first process of a command,
    // which owns most windows.
    if let root = roots[process.pid] {
      process.identity = root.entry.identity
      return true
    }
    return first?.pid == process.pid && process.identity == first || isWhole && process.mark == mark
  }

  /// Sends SIGTERM to every process of the tree, by the end of the next turn. SIGCONT follows, because a stopped process handles
  /// SIGTERM only after it continues.
  public func terminate() { supervisor?.terminate(self) }

  /// Sends SIGKILL to every process of the tree, by the end of the next turn, and to processes that are found later.
  public func kill() { supervisor?.kill(self) }

  /// Ends the supervision of a tree whose processes may be alive: not every process dies of SIGKILL. ``onExit`` is not called.
  /// - Returns: the result so far.
  public func abandon() -> ProcessResult {
    onExit = nil
    return supervisor?.abandon(self) ?? ProcessResult(status: status, output: nil)
  }
}
