import EventLoops
import Glibc

/// The result of a scan of the process table.
struct ProcessSearch {
  /// The members of each scattered tree, by its marker.
  var members: [ByteString: [ProcessEntry]] = [:]
  /// Whether every root is watched.
  var isConclusive = true
}

extension ProcessSupervisor {
  /// Scans the process table for members of the scattered trees, and watches the roots among them.
  func searchTable() -> ProcessSearch {
    var scan = ProcessScan(reader)
    for adoption in adoptions where adoption.tree?.isWhole == true {
      // Session numbers are reused. A session belongs to the tree only while the recorded first process is alive.
      guard let tree = adoption.tree, let first = tree.first, let entry = scan.processes[first.pid] else { continue }
      if entry.identity == first, entry.session == entry.pid { trees.addSession(of: tree) }
    }
    var search = assignOwners(&scan)
    var hasNewSessions = false
    for case let tree? in adoptions.map(\.tree) where tree.isWhole && tree.first == nil {
      let leaders = tree.roots.values.map(\.entry).filter { $0.session == $0.pid }
      guard let first = leaders.map(\.identity).min(by: { $0.startTime < $1.startTime }) else { continue }
      tree.first = first
      trees.addSession(of: tree)
      hasNewSessions = true
    }
    // Assigns members that only their session identifies.
    if hasNewSessions { search = assignOwners(&scan) }
    for adoption in adoptions {
      guard let tree = adoption.tree, !tree.isWhole, tree.roots.isEmpty,
        let first = firstProcess(of: tree, adoption.output, in: &scan)
      else { continue }
      tree.first = first.identity
      if !watch(first, in: tree) { search.isConclusive = false }
    }
    trees.forgetScatteredSessions(except: Set(scan.processes.values.lazy.map(\.session)))
    return search
  }

  /// The first process of a command that is not a whole tree. An unrecorded process left its number when it started; its mark
  /// distinguishes it from a later process with the same number.
  private func firstProcess(of tree: ProcessTree, _ output: OutputCapture?, in scan: inout ProcessScan) -> ProcessEntry?
  {
    if let first = tree.first { return scan.processes[first.pid].flatMap { $0.identity == first ? $0 : nil } }
    guard let pid = output?.startedProcess, let entry = scan.processes[pid], scan.mark(of: pid) == tree.mark else {
      return nil
    }
    return entry
  }

  private func assignOwners(_ scan: inout ProcessScan) -> ProcessSearch {
    // No member is older than the oldest tree.
    let oldest = trees.oldestStart
    var search = ProcessSearch()
    // This process is not a member of any tree, and its descendants are not members only because they descend from it.
    var assigned: [pid_t: ProcessTree?] = [getpid(): ProcessTree?.none]
    for entry in scan.processes.values {
      // The loop goes up to the next assigned ancestor, and then down again.
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
          if let tree = trees.owner(
            of: process, mark: scan.mark(of: pid), controlGroups: scan.controlGroups(of: pid)), tree.isScattered
          {
            owner = tree
            if !trees.isRoot(pid), !watch(process, in: tree) { search.isConclusive = false }
          }
        }
        assigned[process.pid] = .some(owner)
        if let owner { search.members[owner.marker, default: []].append(process) }
      }
    }
    return search
  }
}
