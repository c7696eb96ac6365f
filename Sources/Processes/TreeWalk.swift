import EventLoops
import Glibc

/// The result of a walk down a tree.
struct TreeWalk {
  var living: [ProcessEntry] = []
  /// Ended processes that were not waited for. Their children may have become roots meanwhile.
  var ended: Set<ProcessIdentity> = []
  /// Whether a process has disappeared, so that its children may have become roots.
  var hasLost = false
  /// Whether a process was ending, so that its children may become roots.
  var hasEnding = false
}

extension ProcessSupervisor {
  /// The living processes of a tree. If it is not scattered, parents come before their children.
  func members(of tree: ProcessTree) -> [ProcessEntry] {
    if tree.isScattered { return searchTable().members[tree.marker] ?? [] }
    _ = takeInOrphans()
    return descendants(ofRootsOf: tree).living
  }

  /// The living roots of a tree and, if it is whole, all processes below them.
  func descendants(ofRootsOf tree: ProcessTree) -> TreeWalk {
    var walk = TreeWalk()
    var pids = Array(tree.roots.keys)
    var known = Set(pids)
    var index = 0
    while index < pids.count {
      let pid = pids[index]
      index += 1
      // The lists of children are read before the entry: while a process is not ending, they contain all its children.
      var children = tree.isWhole ? reader.children(pid, [pid]) : []
      let root = tree.roots[pid]
      // A watched process keeps its number until it has ended. If it has one thread, it also keeps its children until then.
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
}
