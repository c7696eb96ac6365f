import EventLoops
import Glibc

/// The outcome of a command, reported after its last process has ended.
public struct ProcessResult: Hashable, Sendable {
  /// How the first process ended, the one that was spawned; `unknown` for an adopted one.
  public var status: ProcessStatus
  /// Nil if it was not captured.
  public var output: CapturedOutput?

  public init(status: ProcessStatus, output: CapturedOutput?) {
    (self.status, self.output) = (status, output)
  }
}

/// A command's first process and, if it is whole, everything that descends from it, as far as it can be found
/// (`docs/processes.md`).
/// A ``ProcessSupervisor`` watches it until its last process has ended, whether or not anybody holds this object.
public final class ProcessTree {
  /// The value of the supervisor's variable in the environment of its first process.
  public let marker: ByteString
  let mark: DescentMark
  /// Whether everything that descends from the first process belongs to it.
  let isWhole: Bool
  /// The service that an adopted command may have run in.
  var service: ByteString?
  /// The process that was spawned; nil if it had ended when the tree was adopted.
  public internal(set) var first: ProcessIdentity?

  /// The first process, or else the oldest whose parent is no member.
  public var main: ProcessIdentity? {
    first ?? roots.values.map(\.entry.identity).min { $0.startTime < $1.startTime }
  }

  /// Called once, from a turn of the loop, after the last process has ended. If that was before this was set, it is
  /// called when it is set.
  public var onExit: ((ProcessResult) -> Void)? {
    didSet {
      guard let onExit, let result = unreportedResult else { return }
      unreportedResult = nil
      self.onExit = nil
      onExit(result)
    }
  }

  weak var supervisor: ProcessSupervisor?
  /// The watched processes: the members whose parent is no member. Children of one that ends are looked for.
  var roots: [pid_t: Root] = [:]
  /// The other members that the supervisor has seen.
  var remembered: Set<ProcessIdentity> = []
  var status: ProcessStatus = .unknown
  var output: OutputReader?
  /// The result, while there is no handler for it.
  var unreportedResult: ProcessResult?
  /// Whether its orphans become children of another process, so that finding them takes a scan of the process table.
  let isScattered: Bool
  /// Whether the supervisor has yet to report that it found the tree.
  var isBeingAdopted = false
  /// How many inspections in a row found no process of it.
  var emptyInspections = 0
  /// Whether each process that is found from now on is killed.
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

  /// Whether a process of it may be left.
  public var isLive: Bool { supervisor != nil }

  /// Searches for the processes of the tree. For an adopted tree this scans the process table.
  public func processes() -> [ProcessIdentity] { supervisor?.members(of: self).map(\.identity) ?? [] }

  /// Whether a process belongs to the tree.
  public func includes(_ process: ProcessOrigin) -> Bool {
    // A watched process still has its number, so nothing is read for the first one of a command, which most windows are of.
    roots[process.pid] != nil || first?.pid == process.pid && process.identity == first
      || isWhole && process.mark == mark
  }

  /// Sends SIGTERM to every process of the tree, by the end of the next turn, and SIGCONT, since a stopped process
  /// handles SIGTERM only after it continues.
  public func terminate() { supervisor?.terminate(self) }

  /// Sends SIGKILL to every process of the tree, by the end of the next turn, and to those that are found later.
  public func kill() { supervisor?.kill(self) }

  /// Ends the supervision of a tree whose processes may be alive: not every process dies of SIGKILL. ``onExit`` is not
  /// called.
  /// - Returns: the result so far.
  public func abandon() -> ProcessResult {
    onExit = nil
    return supervisor?.abandon(self) ?? ProcessResult(status: status, output: nil)
  }
}
