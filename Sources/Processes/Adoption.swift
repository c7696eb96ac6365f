import EventLoops
import Glibc

/// A recorded command that an earlier run of this program started.
public struct RememberedCommand: Hashable, Sendable {
  public var marker: ByteString
  /// The spawned process; nil if its number was not recorded. Its mark finds it then.
  public var first: ProcessIdentity?
  public var output: OutputCapture?
  /// The name of the command's cgroup, if a service manager may have started the command as a service.
  public var service: ByteString?
  /// Whether all descendants of the first process belong to the command.
  public var isWholeTree: Bool

  public init(
    marker: ByteString, first: ProcessIdentity?, output: OutputCapture?, service: ByteString? = nil,
    isWholeTree: Bool = true
  ) {
    (self.marker, self.first, self.output, self.service) = (marker, first, output, service)
    self.isWholeTree = isWholeTree
  }
}

struct Adoption {
  let output: OutputCapture?
  let completion: (ProcessTree?) -> Void
  /// The tree to adopt; nil if there is no process.
  var tree: ProcessTree?
  var emptyInspections = 0
  /// The end of the search; nil before the first inspection.
  var deadline: EventLoop.Instant?
}

extension ProcessSupervisor {
  /// The time after which a command that was not found counts as ended, though a process could not be watched.
  private static let decisionTimeout = Duration.milliseconds(100)
  /// Cap of the adoptions reported in one turn, which keeps a turn short.
  static let adoptionsPerTurn = 32

  /// Finds the processes of a command that an earlier run of this program started. One scan of the process table serves all calls
  /// of one turn. A command that the scan does not find is searched for once more.
  /// - Parameter completion: called once, from a turn of the loop; each turn calls a limited number of completions. It receives nil
  ///   if no process of the command is left. Output that can no longer be captured is missing in the tree's result;
  ///   ``OutputCapture/read()`` returns the captured part.
  public func adopt(_ command: RememberedCommand, _ completion: @escaping (ProcessTree?) -> Void) {
    var adoption = Adoption(output: command.output, completion: completion)
    if !trees.contains(command.marker) {
      let isWhole = command.isWholeTree
      let tree = ProcessTree(marker: command.marker, isWhole: isWhole, isScattered: isWhole, supervisor: self)
      tree.isBeingAdopted = true
      tree.first = command.first
      if isWhole { tree.service = command.service }
      trees.insert(tree)
      if isWhole, let first = command.first { trees.remember(first, of: tree) }
      adoption.tree = tree
      adoptions.append(adoption)
      scheduleInspection()
    } else {
      report([adoption])
    }
  }

  /// Decides which adoptions have found their processes, and which have no process left to find.
  func decideAdoptions(_ search: ProcessSearch, isConclusive: Bool) {
    var undecided: [Adoption] = []
    var decided: [Adoption] = []
    for var adoption in adoptions {
      guard let tree = adoption.tree, tree.supervisor === self else {
        adoption.tree = nil
        decided.append(adoption)
        continue
      }
      if !tree.roots.isEmpty || search.members[tree.marker] != nil {
        decided.append(adoption)
        continue
      }
      let deadline = adoption.deadline ?? loop.now + Self.decisionTimeout
      adoption.deadline = deadline
      if isConclusive { adoption.emptyInspections += 1 }
      if adoption.emptyInspections >= Self.conclusiveInspections || loop.now >= deadline {
        _ = release(tree)
        adoption.tree = nil
        decided.append(adoption)
      } else {
        undecided.append(adoption)
      }
    }
    adoptions = undecided
    report(decided)
  }

  private func report(_ decided: [Adoption]) {
    guard !decided.isEmpty else { return }
    if decidedAdoptions.isEmpty { loop.soon { [weak self] in self?.reportAdoptions() } }
    decidedAdoptions += decided
  }

  private func reportAdoptions() {
    let batch = decidedAdoptions.prefix(Self.adoptionsPerTurn)
    decidedAdoptions.removeFirst(batch.count)
    if !decidedAdoptions.isEmpty { loop.soon { [weak self] in self?.reportAdoptions() } }
    for adoption in batch {
      guard let tree = adoption.tree, tree.supervisor === self else {
        adoption.completion(nil)
        continue
      }
      tree.isBeingAdopted = false
      if let output = adoption.output, tree.isWhole { tree.output = try? .resume(output, loop: loop) }
      // The members have ended meanwhile, or could not be watched.
      if tree.roots.isEmpty { unsettle(tree) }
      adoption.completion(tree)
    }
  }
}
