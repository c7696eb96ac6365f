import EventLoops
import Glibc

/// Starts the first processes of commands, each with its marker in the environment, and with the limit of descriptors that this
/// process itself was started with.
struct CommandStarter {
  private let markerVariable: ByteString
  private let ownProcess = getpid()
  /// The signals are read once: the program sets its handlers before it starts its first command.
  private lazy var handledSignals = ProcessTable.handledSignals
  /// The limit of commands; nil for this process's.
  private var descriptorLimit: DescriptorLimit?
  /// Whether the clock gives the same start time for a child as `/proc`, which then need not be read; nil before the first child.
  private var clockTellsStartTimes: Bool?

  init(markerVariable: ByteString) { self.markerVariable = markerVariable }

  /// Raises this process's limit of open descriptors to the hard limit, but not that of commands.
  mutating func raiseDescriptorLimit() throws(SystemError) {
    guard descriptorLimit == nil else { return }
    let limit = try DescriptorLimit.current()
    try limit.raise()
    descriptorLimit = limit
  }

  /// Starts the first process of a tree.
  /// - Returns: the process, which the caller reaps; its pidfd, which the caller closes; and its entry, nil if it cannot be read.
  mutating func start(
    _ command: Command, of tree: ProcessTree, output: OutputCapture?, errors: Int32?
  ) throws(SpawnError) -> (pid: pid_t, pidfd: Int32, entry: ProcessEntry?) {
    var command = command
    command.environment[markerVariable] = tree.marker
    let before = ProcessTable.time
    let (pid, pidfd) = try spawn(
      command, mark: tree.mark, output: tree.isWhole ? output?.fifo : nil, errors: errors,
      evidence: tree.isWhole ? nil : output?.evidence, handledSignals: handledSignals,
      descriptorLimit: descriptorLimit?.limits)
    return (pid, pidfd, entry(of: pid, before == ProcessTable.time ? before : nil))
  }

  /// - Parameter startTime: nil if the clock does not give it.
  private mutating func entry(of child: pid_t, _ startTime: UInt64?) -> ProcessEntry? {
    if let startTime, clockTellsStartTimes == true {
      return ProcessEntry(ProcessIdentity(pid: child, startTime: startTime), childOf: ownProcess)
    }
    let entry = ProcessTable.entry(of: child)
    if let startTime, let entry, clockTellsStartTimes == nil { clockTellsStartTimes = entry.startTime == startTime }
    return entry
  }
}
