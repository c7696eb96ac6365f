import Glibc

/// The readings of `/proc` whose cost grows with the number of processes. Tests replace them.
package struct ProcessReader {
  /// Every process that this one may see.
  var processes: () -> [ProcessEntry] = ProcessTable.all
  /// A variable of a process, as it was when its program was started.
  var variable: (ByteString, pid_t) -> ProcessTable.Variable = ProcessTable.variable

  package init() {}
}

/// One reading of the process table. Environments are read when they are asked for, each at most once.
struct ProcessScan {
  /// The processes that have not ended.
  let processes: [pid_t: ProcessEntry]
  private let reader: ProcessReader
  private var variables: [pid_t: ProcessTable.Variable] = [:]

  init(_ reader: ProcessReader) {
    self.reader = reader
    var processes: [pid_t: ProcessEntry] = [:]
    for entry in reader.processes() where !entry.hasEnded { processes[entry.pid] = entry }
    self.processes = processes
  }

  /// - Parameter name: the same in every call.
  mutating func variable(_ name: ByteString, of pid: pid_t) -> ProcessTable.Variable {
    if let known = variables[pid] { return known }
    let variable = reader.variable(name, pid)
    variables[pid] = variable
    return variable
  }
}
