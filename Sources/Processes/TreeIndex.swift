import Glibc

/// The trees of a supervisor, and what shows that a process belongs to one of them (`docs/architecture.md`).
struct TreeIndex {
  private var trees: [ByteString: ProcessTree] = [:]
  /// The numbers of the watched processes of all trees.
  private var roots: Set<pid_t> = []
  private var sessions: [pid_t: ProcessTree] = [:]
  private var marks: [DescentMark: ProcessTree] = [:]
  private var services: [ByteString: ProcessTree] = [:]
  /// Members found below the roots. They are recognized even after their parents have ended.
  private var remembered: [ProcessIdentity: ProcessTree] = [:]

  func contains(_ marker: ByteString) -> Bool { trees[marker] != nil }

  /// The start of the oldest scattered tree, which none of its members precedes: 0 if it is unknown.
  var oldestStart: UInt64 { trees.values.lazy.filter(\.isScattered).map { $0.first?.startTime ?? 0 }.min() ?? .max }

  /// Adds a tree. If it is whole, its mark and its service identify members.
  mutating func insert(_ tree: ProcessTree) {
    trees[tree.marker] = tree
    guard tree.isWhole else { return }
    marks[tree.mark] = tree
    if let service = tree.service { services[service] = tree }
  }

  mutating func remove(_ tree: ProcessTree) {
    for pid in tree.roots.keys { roots.remove(pid) }
    tree.roots = [:]
    if let pid = tree.first?.pid, sessions[pid] === tree { sessions[pid] = nil }
    for member in tree.remembered { remembered[member] = nil }
    trees[tree.marker] = nil
    marks[tree.mark] = nil
    if let service = tree.service { services[service] = nil }
  }

  // MARK: Roots

  func isRoot(_ pid: pid_t) -> Bool { roots.contains(pid) }

  mutating func insert(_ root: ProcessTree.Root, of tree: ProcessTree) {
    tree.roots[root.entry.pid] = root
    roots.insert(root.entry.pid)
  }

  mutating func removeRoot(_ pid: pid_t, of tree: ProcessTree) {
    tree.roots[pid] = nil
    roots.remove(pid)
  }

  // MARK: Other members

  /// Lets the session of the first process identify members.
  mutating func addSession(of tree: ProcessTree) {
    if let first = tree.first { sessions[first.pid] = tree }
  }

  /// Forgets sessions without a process, because their numbers are reused. Other trees keep theirs as long as they last.
  mutating func forgetScatteredSessions(except live: Set<pid_t>) {
    for (session, tree) in sessions where tree.isScattered && !live.contains(session) { sessions[session] = nil }
  }

  mutating func remember(_ member: ProcessIdentity, of tree: ProcessTree) {
    remembered[member] = tree
    tree.remembered.insert(member)
  }

  /// Finds the tree of a process whose parent belongs to no tree.
  func owner(
    of entry: ProcessEntry, mark: @autoclosure () -> DescentMark?, controlGroups: @autoclosure () -> [ByteString]
  ) -> ProcessTree? {
    if let tree = sessions[entry.session] ?? remembered[entry.identity] { return tree }
    if let mark = mark() {
      // The process descends from that command, whatever the service's name: a service of another navd may have the same name.
      return marks[mark]
    }
    return services.isEmpty ? nil : controlGroups().lazy.compactMap { [services] in services[$0] }.first
  }
}
