import Glibc

/// The readings of `/proc` whose cost grows with the number of processes, or between which processes may move. Tests replace them.
package struct ProcessReader {
  /// Reads every process that this one may see.
  var processes: () -> [ProcessEntry] = ProcessTable.all
  /// Reads the children of some threads of a process, or of all threads if the set is nil; nil as for
  /// ``ProcessTable/children(of:threads:)``.
  var children: (pid_t, Set<pid_t>?) -> [pid_t]? = ProcessTable.children
  var ownChildren: (OwnChildren) -> [pid_t]? = { $0.read() }
  var mark: (pid_t) -> DescentMark? = ProcessTable.mark
  /// Reads the names of a process's cgroups and of all cgroups that contain them.
  package var controlGroups: (pid_t) -> [ByteString] = ProcessTable.controlGroups

  package init() {}
}

/// One reading of the process table. Marks and cgroups are read on request, each at most once.
struct ProcessScan {
  /// The processes that have not ended.
  let processes: [pid_t: ProcessEntry]
  private let reader: ProcessReader
  private var marks: [pid_t: DescentMark?] = [:]
  private var controlGroups: [pid_t: [ByteString]] = [:]

  init(_ reader: ProcessReader) {
    self.reader = reader
    var processes: [pid_t: ProcessEntry] = [:]
    for entry in reader.processes() where !entry.hasEnded { processes[entry.pid] = entry }
    self.processes = processes
  }

  mutating func mark(of pid: pid_t) -> DescentMark? {
    if let known = marks[pid] { return known }
    let mark = reader.mark(pid)
    marks[pid] = .some(mark)
    return mark
  }

  mutating func controlGroups(of pid: pid_t) -> [ByteString] {
    if let known = controlGroups[pid] { return known }
    let groups = reader.controlGroups(pid)
    controlGroups[pid] = groups
    return groups
  }
}
