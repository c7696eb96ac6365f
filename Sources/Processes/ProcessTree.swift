// Why this file exists: a command is gone when the last of what it started is, so this is what can be held and ended.

import EventLoops
import Glibc

/// What is told of a command when all of it is gone.
public struct ProcessResult: Hashable, Sendable {
  /// How the first process ended: the one that was spawned. Of an adopted one it cannot be known.
  public var status: ProcessStatus
  /// Nil if it was not captured.
  public var output: CapturedOutput?

  public init(status: ProcessStatus, output: CapturedOutput?) {
    self.status = status
    self.output = output
  }
}

/// A command's first process and everything that descends from it, as far as it can be found (`docs/processes.md`).
/// A ``ProcessKeeper`` keeps it until it is gone, whether or not anybody holds this object.
public final class ProcessTree {
  /// The value of the keeper's variable in the environment of every process here.
  public let marker: ByteString
  /// The process that was spawned; nil if it was gone already when the tree was adopted.
  public internal(set) var first: ProcessIdentity?

  /// Called once, from a turn of the loop, when nothing of the tree is left.
  public var onExit: ((ProcessResult) -> Void)?

  weak var keeper: ProcessKeeper?
  /// What is watched: the members whose parent is no member. When one ends, its children are among them.
  var roots: [pid_t: Root] = [:]
  /// What the keeper has noted of it beyond the roots.
  var remembered: Set<ProcessIdentity> = []
  var status: ProcessStatus = .unknown
  var output: OutputReader?
  /// Its orphans do not come to us, so they have to be looked for among all processes.
  let isScattered: Bool
  /// How often in a row nothing was found of it.
  var emptySearches = 0
  /// Whatever is still found of it is to be killed.
  var isCondemned = false

  struct Root {
    let entry: ProcessEntry
    let watch: ExitWatch
  }

  init(marker: ByteString, isScattered: Bool, keeper: ProcessKeeper) {
    self.marker = marker
    self.isScattered = isScattered
    self.keeper = keeper
  }

  /// Whether anything of it may be left.
  public var isLive: Bool { keeper != nil }

  /// The processes of the tree that can be found now.
  public func processes() -> [ProcessIdentity] {
    keeper?.members(of: [self])[marker]?.map(\.identity) ?? []
  }

  /// In the next turn, sends SIGTERM to every process of the tree, and wakes those that are stopped, so that they can
  /// obey.
  public func terminate() { keeper?.terminate(self) }

  /// In the next turn, sends SIGKILL to every process of the tree; and then to what is found of it later.
  public func kill() { keeper?.kill(self) }

  /// Takes the tree as gone although it is not (what was killed does not always die): it is watched no longer, and
  /// ``onExit`` is not called.
  /// - Returns: what is known of it so far.
  public func abandon() -> ProcessResult {
    onExit = nil
    guard let keeper else { return ProcessResult(status: status, output: nil) }
    keeper.carryOutOrders()
    return keeper.release(self)
  }
}
