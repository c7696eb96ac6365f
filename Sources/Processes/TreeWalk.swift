import EventLoops
import Glibc

/// What a walk down a tree has found.
struct TreeWalk {
  var living: [ProcessEntry] = []
  /// Those that have ended and not been waited for. Their children may have become roots since the roots were known.
  var ended: Set<ProcessIdentity> = []
  /// Whether one has disappeared: so may its children have become roots.
  var hasLost = false
  /// Whether one was ending: its children may become roots.
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
}
