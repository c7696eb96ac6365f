import EventLoops
import Glibc

extension ProcessSupervisor {
  /// How many orphans an inspection takes in or reaps, so that a turn stays short: processes that fork without end leave
  /// new ones while it reads.
  static let orphansPerInspection = 256

  /// Inspects unknown children of this process: orphans of trees. Reaps those that have ended.
  /// - Returns: false if one of them could not be watched; nil if they cannot be read.
  func takeInOrphans() -> Bool? {
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

  func watch(_ entry: ProcessEntry, in tree: ProcessTree) -> Bool {
    do throws(SystemError) {
      try addRoot(entry, to: tree)
      return true
    } catch {
      return false
    }
  }
}
