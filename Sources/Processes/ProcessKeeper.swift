// Why this file exists: who belongs to which command can only be decided by one who sees all commands, all orphans
// and the whole process table. Nothing here polls: each end of a process is an event, and the moment to look again.

import CLinux
import EventLoops
import Glibc

/// A command that was started before this program was, as it was put on record.
public struct RememberedCommand: Hashable, Sendable {
  public var marker: ByteString
  /// The process that was spawned, if its number was put on record; else the marker finds it.
  public var first: ProcessIdentity?
  public var output: OutputCapture?

  public init(marker: ByteString, first: ProcessIdentity?, output: OutputCapture?) {
    self.marker = marker
    self.first = first
    self.output = output
  }
}

/// Starts commands, watches all that descends from them, and ends it.
///
/// A process belongs to a command's tree if its parent does, if it is in the session that the command was started in,
/// if it was seen in the tree before, or if its environment has the command's marker.
public final class ProcessKeeper {
  private let loop: EventLoop
  private let markerVariable: ByteString

  /// Orphans of what we start become our children.
  private var isReaper = false
  private var descriptorLimitOfCommands: rlimit?
  private var trees: [ByteString: ProcessTree] = [:]
  private var owners: [pid_t: ProcessTree] = [:]
  private var sessions: [pid_t: ProcessTree] = [:]
  /// Members that were found below the roots, to be known again should they be cut off from them.
  private var remembered: [ProcessIdentity: ProcessTree] = [:]
  /// Trees that have lost a root, and what that root left behind was not looked for yet.
  private var unsettled: [ByteString: ProcessTree] = [:]
  private var isSettlingScheduled = false
  private var orders: [Order] = []
  private var secondLook: Timer?
  /// Children of ours that belong to no tree.
  private var strays: Set<ProcessIdentity> = []
  /// How often a process was found without an environment. It may be in the midst of `execve`, so it is asked again.
  private var emptyEnvironments: [ProcessIdentity: Int] = [:]

  /// - Parameter markerVariable: the environment variable by which processes are known again. Its values have to be
  ///   unlike those of every other program of this user that uses the same variable.
  public init(loop: EventLoop, markerVariable: ByteString) {
    self.loop = loop
    self.markerVariable = markerVariable
  }

  /// Makes this process the reaper of all orphans that descend from it. For the one keeper of a program that has no
  /// other children, to be called on the loop's thread (SIGCHLD is blocked there) before anything is spawned. Without
  /// it trees are kept all the same, but it takes a search of the whole process table at each end of a process.
  public func reapOrphans() throws(SystemError) {
    guard !isReaper else { return }
    try check("prctl PR_SET_CHILD_SUBREAPER") { linux_set_child_subreaper(1) }
    // Were it ignored (that is inherited), children would leave no status.
    signal(SIGCHLD, SIG_DFL)
    try loop.onSignal([SIGCHLD]) { [weak self] _ in self?.scheduleSettling() }
    // A kernel without lists of children leaves the search of the whole table.
    isReaper = ProcessTable.children(of: getpid()) != nil
  }

  /// Lets this process have as many descriptors as it may: each command takes up to three. What is spawned gets the
  /// limit that there was before, since programs that use `select` cannot deal with more.
  public func raiseDescriptorLimit() throws(SystemError) {
    guard descriptorLimitOfCommands == nil else { return }
    var limit = rlimit()
    try check("getrlimit") { getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) }
    var raised = limit
    raised.rlim_cur = limit.rlim_max
    try check("setrlimit") { setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) }
    descriptorLimitOfCommands = limit
  }

  // MARK: Starting

  /// Starts a command in a session of its own.
  /// - Parameters:
  ///   - marker: of no other tree that this keeper has.
  ///   - output: where standard output is kept; what was there is removed first. Nil: it goes to standard error.
  /// - Throws: ``SpawnError``, and then nothing has been started.
  public func spawn(
    _ command: Command, marker: ByteString, output: OutputCapture? = nil
  ) throws(SpawnError) -> ProcessTree {
    guard trees[marker] == nil else { throw .malformed("the marker \(marker) is in use") }
    var command = command
    command.environment[markerVariable] = marker
    let tree = ProcessTree(marker: marker, isScattered: !isReaper, keeper: self)
    do throws(SystemError) {
      if let output { tree.output = try .create(output, loop: loop) }
    } catch { throw .failed(error) }
    do throws(SpawnError) {
      try start(command, output: output, as: tree)
    } catch {
      output?.remove()
      throw error
    }
    trees[marker] = tree
    return tree
  }

  private func start(_ command: Command, output: OutputCapture?, as tree: ProcessTree) throws(SpawnError) {
    let pid = try Processes.spawn(command, output: output, descriptorLimit: descriptorLimitOfCommands)
    do throws(SystemError) {
      guard let entry = ProcessTable.entry(of: pid) else {
        throw SystemError(code: ESRCH, operation: "/proc/\(pid)/stat")
      }
      tree.first = entry.identity
      try addRoot(entry, to: tree)
      sessions[pid] = tree
    } catch {
      Glibc.kill(pid, SIGKILL)
      waitpid(pid, nil, 0)
      throw .failed(error)
    }
  }

  // MARK: Adopting

  /// Finds what is left of commands that an earlier run of this program has started. It takes a few milliseconds for
  /// all of them together, or 100 where a process is just being made.
  /// What cannot be captured any longer is missing in the result; ``OutputCapture/read()`` tells what was kept.
  /// - Returns: for each a tree, or nil if nothing is left of it.
  public func adopt(_ commands: [RememberedCommand]) -> [ProcessTree?] {
    let adopted = commands.map { command -> ProcessTree? in
      guard trees[command.marker] == nil else { return nil }
      let tree = ProcessTree(marker: command.marker, isScattered: true, keeper: self)
      tree.first = command.first
      if let first = command.first { remember(first, of: tree) }
      trees[command.marker] = tree
      return tree
    }
    if !adopted.isEmpty { searchUntilConclusive() }
    // The numbers of sessions are given out again, so only a first process that lives tells which one is the tree's.
    for case let tree? in adopted {
      let leaders = tree.roots.values.map(\.entry).filter { $0.session == $0.pid }
      if tree.first == nil { tree.first = leaders.map(\.identity).min { $0.startTime < $1.startTime } }
      if let leader = leaders.first(where: { $0.identity == tree.first }) { sessions[leader.pid] = tree }
    }
    // What only the session tells is found in a second search.
    let found = sessions.isEmpty ? Search() : searchTable()
    return zip(commands, adopted).map { command, tree in
      guard let tree else { return nil }
      guard !tree.roots.isEmpty || found.members[tree.marker] != nil else {
        _ = release(tree)
        return nil
      }
      // Members that could not be watched are looked for again.
      if tree.roots.isEmpty { unsettle(tree) }
      if let output = command.output { tree.output = try? .resume(output, loop: loop) }
      return tree
    }
  }

  private func searchUntilConclusive() {
    for _ in 0..<Self.mostLooks {
      if searchTable().isConclusive { return }
      usleep(20_000)
    }
  }

  // MARK: Roots

  /// Begins to watch a member whose parent is none.
  /// - Throws: if it cannot be watched though it is alive.
  private func addRoot(_ entry: ProcessEntry, to tree: ProcessTree) throws(SystemError) {
    let watch: ExitWatch
    do throws(SystemError) {
      watch = try loop.onExit(of: entry.pid) { [weak self, weak tree] status in
        guard let self, let tree else { return }
        rootEnded(entry, of: tree, status)
      }
    } catch {
      if error.code == ESRCH { return }
      throw error
    }
    // Only now is the number sure to stay that process's.
    guard let current = ProcessTable.entry(of: entry.pid) else {
      let error = SystemError("/proc/\(entry.pid)/stat")
      watch.cancel()
      throw error
    }
    guard current.identity == entry.identity else { return watch.cancel() }
    tree.roots[entry.pid] = ProcessTree.Root(entry: entry, watch: watch)
    owners[entry.pid] = tree
    if tree.isCondemned { watch.send(SIGKILL) }
  }

  private func rootEnded(_ entry: ProcessEntry, of tree: ProcessTree, _ status: ProcessStatus) {
    guard tree.keeper === self else { return }
    tree.roots[entry.pid] = nil
    owners[entry.pid] = nil
    if entry.identity == tree.first { tree.status = status }
    unsettle(tree)
  }

  private func remember(_ member: ProcessIdentity, of tree: ProcessTree) {
    remembered[member] = tree
    tree.remembered.insert(member)
  }

  // MARK: Settling

  /// Has it found out whether anything of the tree is left.
  private func unsettle(_ tree: ProcessTree) {
    tree.emptySearches = 0
    unsettled[tree.marker] = tree
    scheduleSettling()
  }

  /// Many ends in one turn are looked into together, in the next.
  private func scheduleSettling() {
    guard !isSettlingScheduled else { return }
    isSettlingScheduled = true
    loop.soon { [weak self] in self?.settle() }
  }

  /// Finds what the ended processes left behind; trees of which nothing is left are gone.
  private func settle() {
    isSettlingScheduled = false
    // Without a free descriptor nothing can be read, and all would seem gone.
    var isConclusive = ProcessTable.isReadable
    if isConclusive, isReaper, !takeInOrphans() { isConclusive = false }
    if unsettled.values.contains(where: \.isScattered), !searchTable().isConclusive { isConclusive = false }
    if isConclusive, !emptyEnvironments.isEmpty {
      emptyEnvironments = emptyEnvironments.filter { ProcessTable.entry(of: $0.key.pid)?.identity == $0.key }
    }

    var gone: [ProcessTree] = []
    for (marker, tree) in unsettled {
      if !tree.roots.isEmpty {
        unsettled[marker] = nil
      } else if isConclusive {
        tree.emptySearches += 1
        // The orphans of one that is not scattered stay in one list, which shows them all.
        if !tree.isScattered || tree.emptySearches == Self.searchesToBeSure { gone.append(tree) }
      }
    }
    let finished = gone.map { tree in (tree.onExit, release(tree)) }
    if isConclusive {
      if !unsettled.isEmpty { scheduleSettling() }
    } else if secondLook?.isPending != true {
      secondLook = loop.timer(after: .milliseconds(20)) { [weak self] in self?.scheduleSettling() }
    }
    // Last, since whoever is told may spawn, signal and abandon.
    for (onExit, result) in finished { onExit?(result) }
  }

  /// Lets go of a tree.
  func release(_ tree: ProcessTree) -> ProcessResult {
    for (pid, root) in tree.roots {
      owners[pid] = nil
      // A child of ours is still to be reaped when it ends: as one of the strays, or else by its watch.
      if isReaper || root.entry.parent != getpid() { root.watch.cancel() }
    }
    tree.roots = [:]
    if let pid = tree.first?.pid, sessions[pid] === tree { sessions[pid] = nil }
    for member in tree.remembered { remembered[member] = nil }
    trees[tree.marker] = nil
    unsettled[tree.marker] = nil
    tree.keeper = nil
    tree.onExit = nil
    let output = tree.output?.finish()
    tree.output = nil
    return ProcessResult(status: tree.status, output: output)
  }

  // MARK: Finding

  /// How often one looks at something that may be about to change by itself, before it is taken for what it seems.
  private static let mostLooks = 5

  /// Looks at our children that are not known: orphans that have come to us. The ended ones are reaped.
  /// - Returns: false if it could not be decided about one of them, or it could not be watched.
  private func takeInOrphans() -> Bool {
    for _ in 0..<16 {
      let (isConclusive, someHaveEnded) = lookAtChildren()
      // Whatever has ended may have left us its own children since the list was read.
      if !someHaveEnded { return isConclusive }
    }
    return false
  }

  private func lookAtChildren() -> (isConclusive: Bool, someHaveEnded: Bool) {
    var isConclusive = true
    var someHaveEnded = false
    var strays: Set<ProcessIdentity> = []
    for pid in ProcessTable.children(of: getpid()) ?? [] where owners[pid] == nil {
      guard let entry = ProcessTable.entry(of: pid), !entry.hasEnded else {
        waitpid(pid, nil, WNOHANG)
        someHaveEnded = true
        continue
      }
      if self.strays.contains(entry.identity) {
        strays.insert(entry.identity)
        continue
      }
      switch ownership(of: entry) {
      case .tree(let tree): if !watch(entry, in: tree) { isConclusive = false }
      case .none: strays.insert(entry.identity)
      case .unclear: isConclusive = false
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

  private enum Ownership {
    case tree(ProcessTree)
    case none
    case unclear
  }

  /// To which tree a process belongs whose parent belongs to none.
  private func ownership(of entry: ProcessEntry) -> Ownership {
    if let tree = sessions[entry.session] ?? remembered[entry.identity] { return .tree(tree) }
    switch ProcessTable.variable(markerVariable, of: entry.pid) {
    case .value(let marker): return trees[marker].map(Ownership.tree) ?? .none
    case .absent, .hidden: return .none
    case .empty:
      // In the midst of execve there is no environment.
      let looks = emptyEnvironments[entry.identity, default: 0] + 1
      emptyEnvironments[entry.identity] = looks
      return looks >= Self.mostLooks ? .none : .unclear
    }
  }

  private struct Search {
    var members: [ByteString: [ProcessEntry]] = [:]
    /// It was decided about every process, and every root is watched.
    var isConclusive = true
  }

  /// Looks through all processes for members of the scattered trees, and watches the roots among them.
  private func searchTable() -> Search {
    var table: [pid_t: ProcessEntry] = [:]
    for entry in ProcessTable.all() where !entry.hasEnded { table[entry.pid] = entry }
    // None is older than the oldest tree.
    let oldest = trees.values.lazy.filter(\.isScattered).map { $0.first?.startTime ?? 0 }.min() ?? .max

    var search = Search()
    // We are no member of our trees, nor is anything because it descends from us.
    var decided: [pid_t: ProcessTree?] = [getpid(): ProcessTree?.none]
    for entry in table.values {
      // Up to the next ancestor that is decided about, and down again.
      var undecided: [ProcessEntry] = []
      var next: ProcessEntry? = entry
      while let process = next, decided[process.pid] == nil {
        decided[process.pid] = ProcessTree?.none
        undecided.append(process)
        next = table[process.parent]
      }
      for process in undecided.reversed() {
        var owner = decided[process.parent] ?? nil
        // Session 0 is that of the kernel's own threads.
        if owner == nil, process.session != 0, process.startTime >= oldest {
          switch ownership(of: process) {
          case .tree(let tree) where tree.isScattered:
            owner = tree
            if owners[process.pid] == nil, !watch(process, in: tree) { search.isConclusive = false }
          case .tree, .none: break
          case .unclear: search.isConclusive = false
          }
        }
        decided[process.pid] = .some(owner)
        if let owner { search.members[owner.marker, default: []].append(process) }
      }
    }
    forgetSessions(allBut: table)
    return search
  }

  /// Drops what was noted about sessions that are no more, whose numbers may come back.
  private func forgetSessions(allBut table: [pid_t: ProcessEntry]) {
    let live = Set(table.values.lazy.map(\.session))
    for (session, tree) in sessions where tree.isScattered && !live.contains(session) { sessions[session] = nil }
  }

  /// The living processes of trees, by marker. Of trees that are not scattered, parents come before their children.
  func members(of trees: [ProcessTree]) -> [ByteString: [ProcessEntry]] {
    var members = trees.contains(where: \.isScattered) ? searchTable().members : [:]
    let gathered = trees.filter { !$0.isScattered }
    if !gathered.isEmpty { _ = takeInOrphans() }
    for tree in gathered { members[tree.marker] = descendants(of: tree.roots.values.map(\.entry)) }
    return members
  }

  /// These processes and all below them.
  private func descendants(of processes: [ProcessEntry]) -> [ProcessEntry] {
    var found = processes
    var pids = Set(found.map(\.pid))
    var index = 0
    while index < found.count {
      for pid in ProcessTable.children(of: found[index].pid) ?? [] {
        guard let entry = ProcessTable.entry(of: pid), !entry.hasEnded, pids.insert(pid).inserted else { continue }
        found.append(entry)
      }
      index += 1
    }
    return found
  }

  // MARK: Ending

  func terminate(_ tree: ProcessTree) {
    // What is stopped can only obey once it goes on.
    order([SIGTERM, SIGCONT], to: tree)
  }

  func kill(_ tree: ProcessTree) {
    tree.isCondemned = true
    order([SIGKILL], to: tree)
  }

  /// Signals that every process of a tree is to get, in this order.
  private struct Order {
    let tree: ProcessTree
    let signals: [Int32]
    var reached: Set<ProcessIdentity> = []
    var emptySearches = 0
  }

  /// While one searches, a process can get from where one is still to look to where one has looked already. It does
  /// not do so twice running.
  private static let searchesToBeSure = 2

  /// Orders of one turn are carried out together in the next, so that one search serves them all.
  private func order(_ signals: [Int32], to tree: ProcessTree) {
    if orders.isEmpty { loop.soon { [weak self] in self?.carryOutOrders() } }
    orders.append(Order(tree: tree, signals: signals))
  }

  func carryOutOrders() {
    var open = orders
    orders = []
    // A tree that grows for ever is not to keep us here: what is left of a condemned one is killed as it is found.
    for _ in 0..<32 where !open.isEmpty {
      let members = members(of: open.map(\.tree).filter { $0.keeper === self })
      for index in open.indices {
        let tree = open[index].tree
        let new = (members[tree.marker] ?? []).filter { open[index].reached.insert($0.identity).inserted }
        for process in new {
          remember(process.identity, of: tree)
          for signal in open[index].signals { send(signal, to: process, of: tree) }
        }
        open[index].emptySearches = new.isEmpty ? open[index].emptySearches + 1 : 0
      }
      open.removeAll { $0.emptySearches == Self.searchesToBeSure }
    }
  }

  private func send(_ signal: Int32, to process: ProcessEntry, of tree: ProcessTree) {
    if let root = tree.roots[process.pid], root.entry.identity == process.identity {
      root.watch.send(signal)
      return
    }
    let pidfd = pidfd_open(process.pid, 0)
    defer { if pidfd >= 0 { close(pidfd) } }
    // Only while a pidfd holds it is the number sure to be that process's; without one this is as near as one gets.
    guard ProcessTable.entry(of: process.pid)?.identity == process.identity else { return }
    if pidfd >= 0 {
      pidfd_send_signal(pidfd, signal, nil, 0)
    } else if errno != ESRCH {
      Glibc.kill(process.pid, signal)
    }
  }
}
