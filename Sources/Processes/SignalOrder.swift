import CLinux
import EventLoops
import Glibc

/// An order to send signals to every process of a tree, in this sequence.
struct SignalOrder {
  let tree: ProcessTree
  let signals: [Int32]
  /// The processes that have been sent the signals.
  var reached: Set<ProcessIdentity> = []
  /// The members that the last inspection found; nil before the first.
  var members: Set<ProcessIdentity>?
  /// Members that had ended at an earlier inspection; their orphans are known.
  var ended: Set<ProcessIdentity> = []
  /// Whether a member was ending at the last inspection. Its orphans are found once it has ended.
  var hasEnding = false
  var inspections = 0
  var emptyInspections = 0
  /// Whether the next inspection of a scattered tree has to read the whole table. Otherwise the lists of children show whether
  /// the tree has changed: while no member ends, no process can be orphaned.
  var needsScan = true
  var isDone = false
}

extension ProcessSupervisor {
  /// Cap of the inspections for one order, because a tree may fork without end. Members that appear
  /// after SIGKILL are killed when they are found.
  private static let maxInspectionsPerOrder = 32

  func terminate(_ tree: ProcessTree) {
    // A stopped process handles SIGTERM only after it continues.
    order([SIGTERM, SIGCONT], to: tree)
  }

  func kill(_ tree: ProcessTree) {
    tree.isCondemned = true
    order([SIGKILL], to: tree)
  }

  private func order(_ signals: [Int32], to tree: ProcessTree) {
    signalOrders.append(SignalOrder(tree: tree, signals: signals))
    scheduleInspection()
  }

  /// - Parameter isConclusive: whether each visible orphan is a root now.
  func carryOutSignalOrders(_ search: ProcessSearch?, isConclusive: Bool) {
    for index in signalOrders.indices {
      let tree = signalOrders[index].tree
      if tree.isScattered, let search {
        carryOut(&signalOrders[index], search.members[tree.marker] ?? [])
      } else {
        // A process handles the signals before it forks again, so the second walk finds the last
        // processes that were forked before the signals arrived.
        var ended: Set<ProcessIdentity> = []
        for _ in 0..<2 where !signalOrders[index].isDone {
          let walk = descendants(ofRootsOf: tree)
          // The next inspection finds processes that a member leaves behind by ending during this one.
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

  /// Sends the signals to the members that have not received them.
  /// - Parameters:
  ///   - isStill: whether no process can have left the members while they were searched for.
  ///   - includesOrphans: whether the members include orphans.
  func carryOut(
    _ order: inout SignalOrder, _ members: [ProcessEntry], isStill: Bool = true, includesOrphans: Bool = true
  ) {
    let new = members.filter { order.reached.insert($0.identity).inserted }
    for process in new {
      trees.remember(process.identity, of: order.tree)
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
    // Only an open pidfd keeps another process from getting the number. Without a pidfd, this check has to do.
    guard ProcessTable.entry(of: process.pid)?.identity == process.identity else { return }
    if pidfd >= 0 {
      pidfd_send_signal(pidfd, signal, nil, 0)
    } else if failure != ESRCH {
      Glibc.kill(process.pid, signal)
    }
  }
}
