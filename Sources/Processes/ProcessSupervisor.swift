import CLinux
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

/// Starts commands, watches all processes that descend from them, and ends those processes.
///
/// A process belongs to a command's tree if its parent does, if it is in the session that the command was started in,
/// if it was seen in the tree before, if it carries the command's ``DescentMark``, or if it is in the command's service. A
/// variable in its environment is no proof: other programs may pass it on to processes that descend from no command.
///
/// Of a command that is not a whole tree, only the first process belongs to it.
///
/// Nothing here waits. The end of a process, a request to send a signal and a request to adopt each schedule an
/// *inspection*. One inspection serves all of them, and reads the process table at most once. An inspection that
/// cannot decide yet is repeated by a timer.
public final class ProcessSupervisor {
  private let loop: EventLoop
  private let markerVariable: ByteString
  private let reader: ProcessReader
  private let ownProcess = getpid()
  /// Read once: the program sets its handlers before it starts its first command.
  private lazy var handledSignals = ProcessTable.handledSignals

  /// Whether the clock agrees with `/proc` on when a child was started, which saves reading that; nil before the first child.
  private var clockTellsStartTimes: Bool?

  /// This process's children, if orphans of the processes started here become its children; nil if not.
  private var ownChildren: OwnChildren?
  private var isReaper: Bool { ownChildren != nil }
  private var descriptorLimitOfCommands: DescriptorLimit?
  private var trees: [ByteString: ProcessTree] = [:]
  private var owners: [pid_t: ProcessTree] = [:]
  private var sessions: [pid_t: ProcessTree] = [:]
  private var marks: [DescentMark: ProcessTree] = [:]
  private var services: [ByteString: ProcessTree] = [:]
  /// Members found below the roots. They are recognized even after their parents have ended.
  private var remembered: [ProcessIdentity: ProcessTree] = [:]
  /// Children of this process that belong to no tree.
  private var strays: Set<ProcessIdentity> = []

  // The requests that the next inspection serves.
  private var inspection: Timer?
  /// Trees that have lost a root. What that root left behind has not been searched for yet.
  private var unsettled: [ByteString: ProcessTree] = [:]
  private var signalOrders: [SignalOrder] = []
  private var adoptions: [Adoption] = []
  /// Adoptions whose outcome is known and was not reported yet.
  private var decidedAdoptions: [Adoption] = []

  /// The time after which a command that was not found counts as ended, though a process could not be watched.
  private static let decisionTimeout = Duration.milliseconds(100)
  /// The delay between inspections while one cannot decide.
  private static let retryDelay = Duration.milliseconds(20)
  /// How many inspections in a row must find nothing. During one inspection a process can move from the part that has
  /// yet to be read to the part that was read; it does not do so twice in a row.
  private static let conclusiveInspections = 2
  /// A tree that forks without end is not chased without end. After SIGKILL, later members are killed as they are found.
  private static let maxInspectionsPerOrder = 32
  /// How many adoptions are reported per turn, so that a turn stays short.
  static let adoptionsPerTurn = 32
  /// How many orphans an inspection takes in or reaps, for the same reason: processes that fork without end leave new
  /// ones while it reads.
  static let orphansPerInspection = 256

  /// - Parameters:
  ///   - markerVariable: the environment variable that tells a command its marker. Markers have to differ from those of
  ///     every other supervisor of this user.
  ///   - reader: replaced by tests.
  package init(loop: EventLoop, markerVariable: ByteString, reader: ProcessReader = ProcessReader()) {
    self.loop = loop
    self.markerVariable = markerVariable
    self.reader = reader
  }

  /// Makes this process the reaper of all orphans that descend from it. Call this on the loop's thread (it blocks
  /// SIGCHLD there) before anything is spawned, in a program with one supervisor and no other children. Without it trees
  /// are still watched, but each end of a process takes a scan of the process table.
  public func reapOrphans() throws(SystemError) {
    guard !isReaper else { return }
    try check("prctl PR_SET_CHILD_SUBREAPER") { linux_set_child_subreaper(1) }
    // An ignored SIGCHLD is inherited, and then children leave no status.
    signal(SIGCHLD, SIG_DFL)
    try loop.onSignal([SIGCHLD]) { [weak self] _ in self?.scheduleInspection() }
    // The loop's thread spawns, and the first one gets the orphans. A kernel without such lists needs the scan.
    ownChildren = OwnChildren(of: [ownProcess, linux_thread()])
  }

  /// Raises this process's limit of open descriptors to the hard limit: each command takes up to three. Spawned
  /// processes get the former limit, since programs that use `select` cannot handle more.
  public func raiseDescriptorLimit() throws(SystemError) {
    guard descriptorLimitOfCommands == nil else { return }
    let limit = try DescriptorLimit.current()
    try limit.raise()
    descriptorLimitOfCommands = limit
  }

  // MARK: Starting

  /// Starts a command in a session of its own.
  /// - Parameters:
  ///   - marker: a value that no other tree of this supervisor has.
  ///   - output: where standard output is captured; earlier files there are removed. Nil sends it to standard error.
  ///   - isWholeTree: whether everything that descends from the command belongs to it. Otherwise its standard output is
  ///     its standard error: what it leaves behind may write after the capture has ended.
  /// - Throws: ``SpawnError``; then nothing was started.
  public func spawn(
    _ command: Command, marker: ByteString, output: OutputCapture? = nil, isWholeTree: Bool = true
  ) throws(SpawnError) -> ProcessTree {
    guard trees[marker] == nil else { throw .malformed("the marker \(marker) is in use") }
    var command = command
    command.environment[markerVariable] = marker
    let tree = ProcessTree(
      marker: marker, isWhole: isWholeTree, isScattered: isWholeTree && !isReaper, supervisor: self)
    do throws(SystemError) {
      if let output, isWholeTree { tree.output = try .create(output, loop: loop) } else { output?.remove() }
    } catch { throw .failed(error) }
    do throws(SpawnError) {
      try start(command, output: output, as: tree)
    } catch {
      output?.remove()
      throw error
    }
    trees[marker] = tree
    if isWholeTree { marks[tree.mark] = tree }
    return tree
  }

  private func start(_ command: Command, output: OutputCapture?, as tree: ProcessTree) throws(SpawnError) {
    let before = ProcessTable.time
    let (pid, pidfd) = try Processes.spawn(
      command, mark: tree.mark, output: tree.isWhole ? output?.fifo : nil,
      evidence: tree.isWhole ? nil : output?.evidence, handledSignals: handledSignals,
      descriptorLimit: descriptorLimitOfCommands?.limits)
    let startTime = before == ProcessTable.time ? before : nil
    do throws(SystemError) {
      guard let entry = entry(ofChild: pid, startTime) else {
        close(pidfd)
        throw SystemError(code: ESRCH, operation: "/proc/\(pid)/stat")
      }
      tree.first = entry.identity
      addRoot(entry, to: tree, try watch(entry, of: tree, pidfd))
      if tree.isWhole { sessions[pid] = tree }
    } catch {
      Glibc.kill(pid, SIGKILL)
      reap(pid)
      throw .failed(error)
    }
  }

  /// - Parameter startTime: nil if the clock does not tell it.
  private func entry(ofChild pid: pid_t, _ startTime: UInt64?) -> ProcessEntry? {
    if let startTime, clockTellsStartTimes == true {
      return ProcessEntry(ProcessIdentity(pid: pid, startTime: startTime), childOf: ownProcess)
    }
    let entry = ProcessTable.entry(of: pid)
    if let startTime, let entry, clockTellsStartTimes == nil { clockTellsStartTimes = entry.startTime == startTime }
    return entry
  }

  /// Takes the status of a child that was killed and has no watch. A reaper does so for every child, at SIGCHLD.
  private func reap(_ pid: pid_t) {
    guard !isReaper, waitpid(pid, nil, WNOHANG) == 0 else { return }
    loop.timer(after: Self.retryDelay) { [weak self] in self?.reap(pid) }
  }

  // MARK: Adopting

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

  private struct Adoption {
    let output: OutputCapture?
    let completion: (ProcessTree?) -> Void
    /// Nil if there is no process to adopt.
    var tree: ProcessTree?
    var emptyInspections = 0
    /// When the search ends; nil before the first inspection.
    var deadline: EventLoop.Instant?
  }

  /// Decides which of the adoptions have found their processes, and which have none to find.
  private func decideAdoptions(_ search: Search, isConclusive: Bool) {
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

  // MARK: Roots

  /// Watches a member whose parent is no member.
  /// - Throws: ``SystemError`` if the process is alive and cannot be watched.
  private func addRoot(_ entry: ProcessEntry, to tree: ProcessTree) throws(SystemError) {
    let pidfd = pidfd_open(entry.pid, 0)
    if pidfd < 0 {
      let error = SystemError("pidfd_open \(entry.pid)")
      if error.code == ESRCH { return }
      throw error
    }
    let watch = try watch(entry, of: tree, pidfd)
    // From here on the number cannot pass to another process.
    guard let current = ProcessTable.entry(of: entry.pid) else {
      let error = SystemError("/proc/\(entry.pid)/stat")
      watch.cancel()
      throw error
    }
    guard current.identity == entry.identity else { return watch.cancel() }
    addRoot(entry, to: tree, watch)
  }

  /// Watches a process for which the pidfd was opened.
  private func watch(_ entry: ProcessEntry, of tree: ProcessTree, _ pidfd: Int32) throws(SystemError) -> ExitWatch {
    try loop.onExit(pidfd: pidfd) { [weak self, weak tree] status in
      guard let self, let tree else { return }
      rootEnded(entry, of: tree, status)
    }
  }

  private func addRoot(_ entry: ProcessEntry, to tree: ProcessTree, _ watch: ExitWatch) {
    tree.roots[entry.pid] = ProcessTree.Root(entry: entry, watch: watch)
    owners[entry.pid] = tree
    if tree.isCondemned { watch.send(SIGKILL) }
  }

  private func rootEnded(_ entry: ProcessEntry, of tree: ProcessTree, _ status: ProcessStatus) {
    guard tree.supervisor === self else { return }
    tree.roots[entry.pid] = nil
    owners[entry.pid] = nil
    if entry.identity == tree.first { tree.status = status }
    unsettle(tree)
  }

  private func remember(_ member: ProcessIdentity, of tree: ProcessTree) {
    remembered[member] = tree
    tree.remembered.insert(member)
  }

  // MARK: Inspecting

  /// Schedules a search for what is left of the tree.
  private func unsettle(_ tree: ProcessTree) {
    tree.emptyInspections = 0
    unsettled[tree.marker] = tree
    scheduleInspection()
  }

  /// A timer comes after the descriptors of its turn, so all processes that have ended by then are inspected together.
  private func scheduleInspection(after delay: Duration = .zero) {
    let deadline = loop.now + delay
    if let inspection, inspection.isPending {
      if inspection.deadline <= deadline { return }
      inspection.cancel()
    }
    inspection = loop.timer(at: deadline) { [weak self] in self?.inspect() }
  }

  private func inspect() {
    // Without a free descriptor nothing can be read, and every tree would seem to be gone.
    guard var isConclusive = isReaper ? takeInOrphans() : ProcessTable.entry(of: ownProcess).map({ _ in true }) else {
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

    // Last, since a handler may spawn, send signals and abandon.
    for (tree, onExit, result) in finished {
      if let onExit { onExit(result) } else { tree.unreportedResult = result }
    }
  }

  /// - Returns: the trees of which nothing is left.
  private func settle(isConclusive: Bool) -> [ProcessTree] {
    var gone: [ProcessTree] = []
    for (marker, tree) in unsettled where !tree.isBeingAdopted {
      if !tree.roots.isEmpty {
        unsettled[marker] = nil
      } else if isConclusive {
        tree.emptyInspections += 1
        // Orphans of a tree that is not scattered are in one list, which shows all of them.
        if !tree.isScattered || tree.emptyInspections >= Self.conclusiveInspections { gone.append(tree) }
      }
    }
    return gone
  }

  /// Ends the supervision of a tree.
  private func release(_ tree: ProcessTree) -> ProcessResult {
    for (pid, root) in tree.roots {
      owners[pid] = nil
      // A child of this process still has to be reaped: as a stray by a reaper, or else by its watch.
      if isReaper || root.entry.parent != getpid() { root.watch.cancel() }
    }
    tree.roots = [:]
    if let pid = tree.first?.pid, sessions[pid] === tree { sessions[pid] = nil }
    for member in tree.remembered { remembered[member] = nil }
    trees[tree.marker] = nil
    marks[tree.mark] = nil
    if let service = tree.service { services[service] = nil }
    unsettled[tree.marker] = nil
    signalOrders.removeAll { $0.tree === tree }
    tree.supervisor = nil
    tree.onExit = nil
    let output = tree.output?.finish()
    tree.output = nil
    return ProcessResult(status: tree.status, output: output)
  }

  func abandon(_ tree: ProcessTree) -> ProcessResult {
    // Signals that were ordered in this turn are sent now.
    if signalOrders.contains(where: { $0.tree === tree }) {
      let members = members(of: tree)
      for index in signalOrders.indices where signalOrders[index].tree === tree {
        carryOut(&signalOrders[index], members)
      }
    }
    return release(tree)
  }

  // MARK: Finding

  /// Inspects unknown children of this process: orphans of trees. Reaps those that have ended.
  /// - Returns: false if one of them could not be watched; nil if they cannot be read.
  private func takeInOrphans() -> Bool? {
    var room = Self.orphansPerInspection
    while room > 0 {
      guard let (isConclusive, someHaveEnded) = inspectChildren(&room) else { return nil }
      // A child that has ended may have left its own children here since the list was read.
      if !someHaveEnded { return isConclusive }
    }
    return false
  }

  /// - Parameter room: how many children may be inspected that are not known; the others are left for another inspection.
  /// - Returns: nil if they cannot be read.
  private func inspectChildren(_ room: inout Int) -> (isConclusive: Bool, someHaveEnded: Bool)? {
    guard let children = ownChildren.flatMap(reader.ownChildren) else { return nil }
    var isConclusive = true
    var someHaveEnded = false
    var strays: Set<ProcessIdentity> = []
    for pid in children where owners[pid] == nil {
      guard room > 0 else {
        self.strays.formUnion(strays)
        return (false, someHaveEnded)
      }
      let entry = ProcessTable.entry(of: pid)
      guard let entry, !entry.hasEnded else {
        room -= 1
        // One without an entry that has not ended cannot be read, for want of a descriptor.
        if waitpid(pid, nil, WNOHANG) == 0, entry == nil { return nil }
        someHaveEnded = true
        continue
      }
      if self.strays.contains(entry.identity) {
        strays.insert(entry.identity)
        continue
      }
      room -= 1
      if let tree = owner(of: entry, mark: reader.mark(pid), controlGroups: reader.controlGroups(pid)) {
        if !watch(entry, in: tree) { isConclusive = false }
      } else {
        strays.insert(entry.identity)
      }
    }
    self.strays = strays
    return (isConclusive, someHaveEnded)
  }

  private func watch(_ entry: ProcessEntry, in tree: ProcessTree) -> Bool {
    do throws(SystemError) {
      try addRoot(entry, to: tree)
      return true
    } catch {
      return false
    }
  }

  /// Finds the tree of a process whose parent belongs to none.
  private func owner(
    of entry: ProcessEntry, mark: @autoclosure () -> DescentMark?, controlGroups: @autoclosure () -> [ByteString]
  ) -> ProcessTree? {
    if let tree = sessions[entry.session] ?? remembered[entry.identity] ?? mark().flatMap({ marks[$0] }) { return tree }
    return services.isEmpty ? nil : controlGroups().lazy.compactMap { self.services[$0] }.first
  }

  private struct Search {
    var members: [ByteString: [ProcessEntry]] = [:]
    /// Whether every root is watched.
    var isConclusive = true
  }

  /// Scans the process table for members of the scattered trees, and watches the roots among them.
  private func searchTable() -> Search {
    var scan = ProcessScan(reader)
    for adoption in adoptions where adoption.tree?.isWhole == true {
      // Session numbers are reused, so a session is the tree's only while the recorded first process is alive.
      guard let tree = adoption.tree, let first = tree.first, let entry = scan.processes[first.pid] else { continue }
      if entry.identity == first, entry.session == entry.pid { sessions[entry.pid] = tree }
    }
    var search = assignOwners(&scan)
    var hasNewSessions = false
    for case let tree? in adoptions.map(\.tree) where tree.isWhole && tree.first == nil {
      let leaders = tree.roots.values.map(\.entry).filter { $0.session == $0.pid }
      guard let first = leaders.map(\.identity).min(by: { $0.startTime < $1.startTime }) else { continue }
      tree.first = first
      sessions[first.pid] = tree
      hasNewSessions = true
    }
    // Members that only the session tells.
    if hasNewSessions { search = assignOwners(&scan) }
    for adoption in adoptions {
      guard let tree = adoption.tree, !tree.isWhole, tree.roots.isEmpty,
        let first = firstProcess(of: tree, adoption.output, in: &scan)
      else { continue }
      tree.first = first.identity
      if !watch(first, in: tree) { search.isConclusive = false }
    }
    let live = Set(scan.processes.values.lazy.map(\.session))
    for (session, tree) in sessions where tree.isScattered && !live.contains(session) { sessions[session] = nil }
    return search
  }

  /// The first process of a command that is not a whole tree. The start of an unrecorded one left its number; its mark
  /// distinguishes it from a process that has the number now.
  private func firstProcess(of tree: ProcessTree, _ output: OutputCapture?, in scan: inout ProcessScan) -> ProcessEntry?
  {
    if let first = tree.first { return scan.processes[first.pid].flatMap { $0.identity == first ? $0 : nil } }
    guard let pid = output?.startedProcess, let entry = scan.processes[pid], scan.mark(of: pid) == tree.mark else {
      return nil
    }
    return entry
  }

  private func assignOwners(_ scan: inout ProcessScan) -> Search {
    // No member is older than the oldest tree.
    let oldest = trees.values.lazy.filter(\.isScattered).map { $0.first?.startTime ?? 0 }.min() ?? .max
    var search = Search()
    // This process is no member of its trees, and descending from it makes no member.
    var assigned: [pid_t: ProcessTree?] = [getpid(): ProcessTree?.none]
    for entry in scan.processes.values {
      // Up to the next ancestor that is assigned, and down again.
      var unassigned: [ProcessEntry] = []
      var next: ProcessEntry? = entry
      while let process = next, assigned[process.pid] == nil {
        assigned[process.pid] = ProcessTree?.none
        unassigned.append(process)
        next = scan.processes[process.parent]
      }
      for process in unassigned.reversed() {
        var owner = assigned[process.parent] ?? nil
        if owner == nil, !process.isKernelThread, process.startTime >= oldest {
          let pid = process.pid
          if let tree = self.owner(
            of: process, mark: scan.mark(of: pid), controlGroups: scan.controlGroups(of: pid)), tree.isScattered
          {
            owner = tree
            if owners[pid] == nil, !watch(process, in: tree) { search.isConclusive = false }
          }
        }
        assigned[process.pid] = .some(owner)
        if let owner { search.members[owner.marker, default: []].append(process) }
      }
    }
    return search
  }

  /// The living processes of a tree. If it is not scattered, parents come before their children.
  func members(of tree: ProcessTree) -> [ProcessEntry] {
    if tree.isScattered { return searchTable().members[tree.marker] ?? [] }
    _ = takeInOrphans()
    return descendants(ofRootsOf: tree).living
  }

  /// What a walk down a tree has found.
  private struct Walk {
    var living: [ProcessEntry] = []
    /// Those that have ended and not been waited for. Their children may have become roots since the roots were known.
    var ended: Set<ProcessIdentity> = []
    /// Whether one has disappeared: so may its children have become roots.
    var hasLost = false
    /// Whether one was ending: its children may become roots.
    var hasEnding = false
  }

  /// The living roots of a tree and, if it is whole, all processes below them.
  private func descendants(ofRootsOf tree: ProcessTree) -> Walk {
    var walk = Walk()
    var pids = Array(tree.roots.keys)
    var known = Set(pids)
    var index = 0
    while index < pids.count {
      let pid = pids[index]
      index += 1
      // Before its entry: while a process is not ending, its children are all in its lists.
      var children = tree.isWhole ? reader.children(pid, [pid]) : []
      let root = tree.roots[pid]
      // A watched process keeps its number and, if it has one thread, its children until it has ended.
      let watched = root.flatMap { ProcessTable.hasOneThread(pid) ? $0 : nil }
      guard let entry = watched?.entry ?? ProcessTable.entry(of: pid),
        root?.entry.identity ?? entry.identity == entry.identity
      else {
        walk.hasLost = true
        continue
      }
      if watched?.watch.hasEnded ?? entry.hasEnded {
        walk.ended.insert(entry.identity)
        continue
      }
      if entry.isEnding { walk.hasEnding = true }
      if tree.isWhole, entry.threads > 1 { children = reader.children(pid, nil) }
      walk.living.append(entry)
      pids += (children ?? []).filter { known.insert($0).inserted }
    }
    return walk
  }

  // MARK: Ending

  func terminate(_ tree: ProcessTree) {
    // A stopped process handles SIGTERM only after it continues.
    order([SIGTERM, SIGCONT], to: tree)
  }

  func kill(_ tree: ProcessTree) {
    tree.isCondemned = true
    order([SIGKILL], to: tree)
  }

  /// Signals for every process of a tree, in this order.
  private struct SignalOrder {
    let tree: ProcessTree
    let signals: [Int32]
    /// The processes that the signals were sent to.
    var reached: Set<ProcessIdentity> = []
    /// The members that the last inspection found; nil before the first.
    var members: Set<ProcessIdentity>?
    /// Members that had ended at an earlier inspection: what they left has been taken in since.
    var ended: Set<ProcessIdentity> = []
    /// Whether the last inspection saw a member that was ending. What it leaves is found when it has ended.
    var hasEnding = false
    var inspections = 0
    var emptyInspections = 0
    /// Whether the next inspection of a scattered tree has to read the whole table. Otherwise the lists of children
    /// show whether the tree has changed: while no member ends, no process can be orphaned.
    var needsScan = true
    var isDone = false
  }

  private func order(_ signals: [Int32], to tree: ProcessTree) {
    signalOrders.append(SignalOrder(tree: tree, signals: signals))
    scheduleInspection()
  }

  /// - Parameter isConclusive: whether each orphan that could be seen is a root now.
  private func carryOutSignalOrders(_ search: Search?, isConclusive: Bool) {
    for index in signalOrders.indices {
      let tree = signalOrders[index].tree
      if tree.isScattered, let search {
        carryOut(&signalOrders[index], search.members[tree.marker] ?? [])
      } else {
        // What has got the signals does not fork before it has handled them. So the second look finds the last processes
        // that were forked before.
        var ended: Set<ProcessIdentity> = []
        for _ in 0..<2 where !signalOrders[index].isDone {
          let walk = descendants(ofRootsOf: tree)
          // What a member left that has ended during this inspection is found by the next one.
          let isStill =
            isConclusive && !walk.hasLost && !walk.hasEnding && walk.ended.isSubset(of: signalOrders[index].ended)
          carryOut(&signalOrders[index], walk.living, isStill: isStill, includesOrphans: !tree.isScattered)
          signalOrders[index].hasEnding = walk.hasEnding
          ended.formUnion(walk.ended)
        }
        signalOrders[index].ended = ended
      }
    }
    signalOrders.removeAll(where: \.isDone)
  }

  /// Sends the signals to the members that they have not reached.
  /// - Parameters:
  ///   - isStill: whether no process can have left the members while they were found.
  ///   - includesOrphans: whether the members include those that have lost their parents.
  private func carryOut(
    _ order: inout SignalOrder, _ members: [ProcessEntry], isStill: Bool = true, includesOrphans: Bool = true
  ) {
    let new = members.filter { order.reached.insert($0.identity).inserted }
    for process in new {
      remember(process.identity, of: order.tree)
      for signal in order.signals { send(signal, to: process, of: order.tree) }
    }
    let current = Set(members.map(\.identity))
    let isUnchanged = isStill && !current.isEmpty && current == order.members
    order.members = current
    order.inspections += 1
    if !new.isEmpty {
      order.emptyInspections = 0
    } else if isStill, includesOrphans {
      order.emptyInspections += 1
    }
    order.needsScan = new.isEmpty
    order.isDone =
      isUnchanged || order.emptyInspections >= Self.conclusiveInspections
      || order.inspections >= Self.maxInspectionsPerOrder
  }

  private func send(_ signal: Int32, to process: ProcessEntry, of tree: ProcessTree) {
    if let root = tree.roots[process.pid], root.entry.identity == process.identity {
      root.watch.send(signal)
      return
    }
    let pidfd = pidfd_open(process.pid, 0)
    let failure = errno
    defer { if pidfd >= 0 { close(pidfd) } }
    // Only an open pidfd keeps the number from passing to another process. Without one, this check has to do.
    guard ProcessTable.entry(of: process.pid)?.identity == process.identity else { return }
    if pidfd >= 0 {
      pidfd_send_signal(pidfd, signal, nil, 0)
    } else if failure != ESRCH {
      Glibc.kill(process.pid, signal)
    }
  }
}
