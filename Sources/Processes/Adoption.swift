import EventLoops
import Glibc

/// A command that an earlier run of this program started, as it was recorded.
public struct RememberedCommand: Hashable, Sendable {
  public var marker: ByteString
  /// The process that was spawned. Nil if its number was not recorded; its mark finds it then.
  public var first: ProcessIdentity?
  public var output: OutputCapture?
  /// The service that the command ran in, if a service manager may have started it: the name of a cgroup.
  public var service: ByteString?
  /// Whether everything that descends from the first process belongs to it.
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
  /// Nil if there is no process to adopt.
  var tree: ProcessTree?
  var emptyInspections = 0
  /// When the search ends; nil before the first inspection.
  var deadline: EventLoop.Instant?
}

extension ProcessSupervisor {
  /// The time after which a command that was not found counts as ended, though a process could not be watched.
  private static let decisionTimeout = Duration.milliseconds(100)
  /// How many adoptions are reported per turn, so that a turn stays short.
  static let adoptionsPerTurn = 32

  /// Finds the processes of a command that an earlier run of this program started. One scan of the process table serves
  /// all commands for which this is called in one turn; a command that it does not find is searched for once more.
  /// - Parameter completion: called once, from a turn of the loop; each turn calls a limited number of them. It gets nil
  ///   if no process of the command is left. Output that cannot be captured any longer is missing in the tree's result;
  ///   ``OutputCapture/read()`` returns the part that was captured.
  public func adopt(_ command: RememberedCommand, _ completion: @escaping (ProcessTree?) -> Void) {
    var adoption = Adoption(output: command.output, completion: completion)
    if trees[command.marker] == nil {
      let isWhole = command.isWholeTree
      let tree = ProcessTree(marker: command.marker, isWhole: isWhole, isScattered: isWhole, supervisor: self)
      tree.isBeingAdopted = true
      tree.first = command.first
      trees[command.marker] = tree
      if isWhole {
        if let first = command.first { remember(first, of: tree) }
        marks[tree.mark] = tree
        tree.service = command.service
        if let service = command.service { services[service] = tree }
      }
      adoption.tree = tree
      adoptions.append(adoption)
      scheduleInspection()
    } else {
      report([adoption])
    }
  }

  /// Decides which of the adoptions have found their processes, and which have none to find.
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
      // Its members have ended since, or could not be watched.
      if tree.roots.isEmpty { unsettle(tree) }
      adoption.completion(tree)
    }
  }
}
