import EventLoops
import Glibc

extension ProcessSupervisor {
  /// Cap of the orphans that one inspection adopts or reaps, which keeps a turn short: processes
  /// that fork without end leave new ones during the inspection.
  static let orphansPerInspection = 256

  /// Inspects unknown children of this process, which are orphans of trees, and reaps those that have ended.
  /// - Returns: false if one child could not be watched; nil if the children cannot be read.
  func takeInOrphans() -> Bool? {
    var room = Self.orphansPerInspection
    while room > 0 {
      guard let (isConclusive, someHaveEnded) = inspectChildren(&room) else { return nil }
      // An ended child may have left its own children to this process since the list was read.
      if !someHaveEnded { return isConclusive }
    }
    return false
  }

  /// - Parameter room: the number of unknown children that may be inspected; the others are left to another inspection.
  /// - Returns: nil if the children cannot be read.
  private func inspectChildren(_ room: inout Int) -> (isConclusive: Bool, someHaveEnded: Bool)? {
    guard let children = ownChildren.flatMap(reader.ownChildren) else { return nil }
    var isConclusive = true
    var someHaveEnded = false
    var strays: Set<ProcessIdentity> = []
    for pid in children where !trees.isRoot(pid) {
      guard room > 0 else {
        self.strays.formUnion(strays)
        return (false, someHaveEnded)
      }
      let entry = ProcessTable.entry(of: pid)
      guard let entry, !entry.hasEnded else {
        room -= 1
        // A child without an entry that has not ended cannot be read, for lack of a descriptor.
        if waitpid(pid, nil, WNOHANG) == 0, entry == nil { return nil }
        someHaveEnded = true
        continue
      }
      if self.strays.contains(entry.identity) {
        strays.insert(entry.identity)
        continue
      }
      room -= 1
      if let tree = trees.owner(of: entry, mark: reader.mark(pid), controlGroups: reader.controlGroups(pid)) {
        if !watch(entry, in: tree) { isConclusive = false }
      } else {
        strays.insert(entry.identity)
      }
    }
    self.strays = strays
    return (isConclusive, someHaveEnded)
  }

  func watch(_ entry: ProcessEntry, in tree: ProcessTree) -> Bool {
    do throws(SystemError) {
      try addRoot(entry, to: tree)
      return true
    } catch {
      return false
    }
  }
}
