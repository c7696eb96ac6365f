import CLinux
import EventLoops
import Glibc

/// Starts commands, watches all processes that descend from them, and ends those processes.
///
/// A process belongs to a command's tree if its parent does, if it is in the session that the command was started in, if it was
/// seen in the tree before, if it carries the command's ``DescentMark``, or if it is in the command's service. A variable in its
/// environment is no proof: other programs may pass it on to processes that descend from no command.
///
/// If a command is not a whole tree, only its first process belongs to it.
///
/// Nothing here waits. The end of a process, a request to send a signal and a request to adopt each schedule an
/// *inspection*. One inspection serves all of them, and reads the process table at most once. An inspection that
/// cannot decide yet is repeated by a timer.
public final class ProcessSupervisor {
  let loop: EventLoop
  let reader: ProcessReader
  private var starter: CommandStarter
  var trees = TreeIndex()

  /// The children of this process, if it reaps the orphans of its commands; otherwise nil.
  private(set) var ownChildren: OwnChildren?
  private var isReaper: Bool { ownChildren != nil }
  /// Children of this process that belong to no tree.
  var strays: Set<ProcessIdentity> = []

  // The requests that the next inspection serves.
  private var inspection: Timer?
  /// Trees that have lost a root, and whose orphans were not searched for yet.
  var unsettled: [ByteString: ProcessTree] = [:]
  var signalOrders: [SignalOrder] = []
  var adoptions: [Adoption] = []
  /// Adoptions with a known outcome that was not reported yet.
  var decidedAdoptions: [Adoption] = []

  /// The delay between inspections while an inspection cannot decide.
  static let retryDelay = Duration.milliseconds(20)
  /// The number of inspections in a row that must find nothing. During one inspection a process can move from the unread part of
  /// the table to the part already read; it does not do so twice in a row.
  static let conclusiveInspections = 2

  /// - Parameters:
  ///   - markerVariable: the environment variable with a command's marker. Markers have to differ from those of every other supervisor
  ///     of this user.
  ///   - reader: replaced by tests.
  package init(loop: EventLoop, markerVariable: ByteString, reader: ProcessReader = ProcessReader()) {
    self.loop = loop
    self.reader = reader
    starter = CommandStarter(markerVariable: markerVariable)
  }

  /// Makes this process the reaper of all orphans that descend from it. Call this on the loop's thread (it blocks SIGCHLD there)
  /// before anything is spawned, in a program with one supervisor and no other children. Without this call trees are still
  /// watched, but each end of a process requires a scan of the process table.
  public func reapOrphans() throws(SystemError) {
    guard !isReaper else { return }
    try check("prctl PR_SET_CHILD_SUBREAPER") { linux_set_child_subreaper(1) }
    // An ignored SIGCHLD is inherited, and then ended children leave no status.
    signal(SIGCHLD, SIG_DFL)
    try loop.onSignal([SIGCHLD]) { [weak self] _ in self?.scheduleInspection() }
    // The loop's thread spawns children, and the first thread gets the orphans. A kernel without lists of children requires the scan.
    ownChildren = OwnChildren(of: [getpid(), linux_thread()])
  }

  /// Raises this process's limit of open descriptors to the hard limit: each command takes up to three. Spawned processes get the
  /// former limit, because programs that use `select` cannot handle more.
  public func raiseDescriptorLimit() throws(SystemError) { try starter.raiseDescriptorLimit() }

  // MARK: Starting

  /// Starts a command in a session of its own.
  /// - Parameters:
  ///   - marker: a value that no other tree of this supervisor has.
  ///   - output: the files that capture standard output, replacing earlier ones; nil sends it to standard error.
  ///   - errors: the descriptor that becomes standard error; nil for this process's.
  ///   - isWholeTree: whether all descendants of the command belong to it. Otherwise its standard output is its standard error,
  ///     because processes that it leaves behind may write after the capture has ended.
  /// - Throws: ``SpawnError``; then nothing was started.
  public func spawn(
    _ command: Command, marker: ByteString, output: OutputCapture? = nil, errors: Int32? = nil, isWholeTree: Bool = true
  ) throws(SpawnError) -> ProcessTree {
    guard !trees.contains(marker) else { throw .malformed("the marker \(marker) is in use") }
    let tree = ProcessTree(
      marker: marker, isWhole: isWholeTree, isScattered: isWholeTree && !isReaper, supervisor: self)
    do throws(SystemError) {
      if let output, isWholeTree { tree.output = try .create(output, loop: loop) } else { output?.remove() }
    } catch { throw .failed(error) }
    do throws(SpawnError) {
      try start(command, output: output, errors: errors, as: tree)
    } catch {
      output?.remove()
      throw error
    }
    trees.insert(tree)
    return tree
  }

  private func start(
    _ command: Command, output: OutputCapture?, errors: Int32?, as tree: ProcessTree
  ) throws(SpawnError) {
    let (pid, pidfd, entry) = try starter.start(command, of: tree, output: output, errors: errors)
    do throws(SystemError) {
      guard let entry else {
        close(pidfd)
        throw SystemError(code: ESRCH, operation: "/proc/\(pid)/stat")
      }
      tree.first = entry.identity
      addRoot(entry, to: tree, try watch(entry, of: tree, pidfd))
      if tree.isWhole { trees.addSession(of: tree) }
    } catch {
      Glibc.kill(pid, SIGKILL)
      reap(pid)
      throw .failed(error)
    }
  }

  /// Reaps a killed child that has no watch. A reaper reaps every child at SIGCHLD.
  private func reap(_ pid: pid_t) {
    guard !isReaper, waitpid(pid, nil, WNOHANG) == 0 else { return }
    loop.timer(after: Self.retryDelay) { [weak self] in self?.reap(pid) }
  }

  // MARK: Roots

  /// Watches a member whose parent is no member.
  /// - Throws: ``SystemError`` if the process is alive and cannot be watched.
  func addRoot(_ entry: ProcessEntry, to tree: ProcessTree) throws(SystemError) {
    let pidfd = pidfd_open(entry.pid, 0)
    if pidfd < 0 {
      let error = SystemError("pidfd_open \(entry.pid)")
      if error.code == ESRCH { return }
      throw error
    }
    let watch = try watch(entry, of: tree, pidfd)
    // No other process can get the number from here on.
    guard let current = ProcessTable.entry(of: entry.pid) else {
      let error = SystemError("/proc/\(entry.pid)/stat")
      watch.cancel()
      throw error
    }
    guard current.identity == entry.identity else { return watch.cancel() }
    addRoot(entry, to: tree, watch)
  }

  /// Watches the process of an open pidfd.
  private func watch(_ entry: ProcessEntry, of tree: ProcessTree, _ pidfd: Int32) throws(SystemError) -> ExitWatch {
    try loop.onExit(pidfd: pidfd) { [weak self, weak tree] status in
      guard let self, let tree else { return }
      rootEnded(entry, of: tree, status)
    }
  }

  private func addRoot(_ entry: ProcessEntry, to tree: ProcessTree, _ watch: ExitWatch) {
    trees.insert(ProcessTree.Root(entry: entry, watch: watch), of: tree)
    if tree.isCondemned { watch.send(SIGKILL) }
  }

  private func rootEnded(_ entry: ProcessEntry, of tree: ProcessTree, _ status: ProcessStatus) {
    guard tree.supervisor === self else { return }
    trees.removeRoot(entry.pid, of: tree)
    if entry.identity == tree.first { tree.status = status }
    unsettle(tree)
  }

  // MARK: Inspecting

  /// Schedules a search for the remaining processes of the tree.
  func unsettle(_ tree: ProcessTree) {
    tree.emptyInspections = 0
    unsettled[tree.marker] = tree
    scheduleInspection()
  }

  /// Schedules an inspection. A timer comes after the descriptors of its turn, so one inspection covers all processes that have
  /// ended by then.
  func scheduleInspection(after delay: Duration = .zero) {
    let deadline = loop.now + delay
    if let inspection, inspection.isPending {
      if inspection.deadline <= deadline { return }
      inspection.cancel()
    }
    inspection = loop.timer(at: deadline) { [weak self] in self?.inspect() }
  }

  private func inspect() {
    // Nothing can be read without a free descriptor, and every tree would seem to have ended.
    guard var isConclusive = isReaper ? takeInOrphans() : ProcessTable.entry(of: getpid()).map({ _ in true }) else {
      return scheduleInspection(after: Self.retryDelay)
    }
    let needsScan =
      !adoptions.isEmpty || unsettled.values.contains(where: \.isScattered)
      || signalOrders.contains { $0.tree.isScattered && $0.needsScan }
    let search = needsScan ? searchTable() : nil
    if search?.isConclusive == false { isConclusive = false }

    carryOutSignalOrders(search, isConclusive: isConclusive)
    if let search { decideAdoptions(search, isConclusive: isConclusive) }
    let gone = settle(isConclusive: isConclusive)
    let finished = gone.map { tree in (tree, tree.onExit, release(tree)) }
    if !isConclusive { scheduleInspection(after: Self.retryDelay) }
    let isWaiting = unsettled.values.contains { !$0.isBeingAdopted } || !adoptions.isEmpty
    if (isConclusive && isWaiting) || signalOrders.contains(where: { !$0.hasEnding }) { scheduleInspection() }
    if !signalOrders.isEmpty { scheduleInspection(after: Self.retryDelay) }

    // Handlers are called last, because they may spawn, send signals and abandon trees.
    for (tree, onExit, result) in finished {
      if let onExit { onExit(result) } else { tree.unreportedResult = result }
    }
  }

  /// - Returns: the trees without any process left.
  private func settle(isConclusive: Bool) -> [ProcessTree] {
    var gone: [ProcessTree] = []
    for (marker, tree) in unsettled where !tree.isBeingAdopted {
      if !tree.roots.isEmpty {
        unsettled[marker] = nil
      } else if isConclusive {
        tree.emptyInspections += 1
        // All orphans of a tree that is not scattered are in one list.
        if !tree.isScattered || tree.emptyInspections >= Self.conclusiveInspections { gone.append(tree) }
      }
    }
    return gone
  }

  /// Ends the supervision of a tree.
  func release(_ tree: ProcessTree) -> ProcessResult {
    for root in tree.roots.values where isReaper || root.entry.parent != getpid() {
      // A child of this process still has to be reaped: by a reaper as a stray, otherwise by its watch.
      root.watch.cancel()
    }
    trees.remove(tree)
    unsettled[tree.marker] = nil
    signalOrders.removeAll { $0.tree === tree }
    tree.supervisor = nil
    tree.onExit = nil
    let output = tree.output?.finish()
    tree.output = nil
    return ProcessResult(status: tree.status, output: output)
  }

  func abandon(_ tree: ProcessTree) -> ProcessResult {
    // Signals ordered in this turn are sent now.
    if signalOrders.contains(where: { $0.tree === tree }) {
      let members = members(of: tree)
      for index in signalOrders.indices where signalOrders[index].tree === tree {
        carryOut(&signalOrders[index], members)
      }
    }
    return release(tree)
  }
}
