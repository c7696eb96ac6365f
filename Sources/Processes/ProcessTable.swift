import CLinux
import EventLoops
import Glibc

/// The identity of a process. The start time distinguishes it from a later process with the same number.
public struct ProcessIdentity: Hashable, Sendable {
  public let pid: pid_t
  /// The start time, in clock ticks since the machine started: the 22nd field of `/proc/PID/stat`.
  public let startTime: UInt64

  public init(pid: pid_t, startTime: UInt64) {
    (self.pid, self.startTime) = (pid, startTime)
  }

  /// The identity of a running process; nil if no process has this number.
  public init?(of pid: pid_t) {
    guard let entry = ProcessTable.entry(of: pid) else { return nil }
    self = entry.identity
  }

  /// The kernel's identifier of this start of the machine; nil if it cannot be read. Identities from another start are meaningless.
  public static func bootIdentifier() -> String? {
    ProcessTable.read("/proc/sys/kernel/random/boot_id").map { String(decoding: $0.prefix(36), as: UTF8.self) }
  }
}

/// A row of the process table.
struct ProcessEntry: Hashable {
  let identity: ProcessIdentity
  let parent: pid_t
  var session: pid_t
  /// Whether the process is a zombie. A process whose first thread has ended is alive while other threads run.
  let hasEnded: Bool
  let threads: Int
  /// Whether the process is a thread of the kernel. The session number 0 is no sign: a process also has it if its session leader
  /// is outside this PID namespace.
  let isKernelThread: Bool
  /// Whether the process is ending: its children may belong to another process already, though it is no zombie yet.
  let isEnding: Bool

  var pid: pid_t { identity.pid }
  var startTime: UInt64 { identity.startTime }

  /// Creates the entry of a process that has just executed a program in a session of its own.
  init(_ identity: ProcessIdentity, childOf parent: pid_t) {
    self.identity = identity
    self.parent = parent
    session = identity.pid
    (hasEnded, threads, isKernelThread, isEnding) = (false, 1, false, false)
  }

  /// Parses the content of `/proc/PID/stat`; nil if it is malformed.
  init?(stat: [UInt8]) {
    // The program's name is in parentheses, and may itself contain parentheses and spaces.
    guard let open = stat.firstIndex(of: UInt8(ascii: "(")), let close = stat.lastIndex(of: UInt8(ascii: ")")),
      open < close, let pid = pid_t(ascii: stat[..<open].dropLast())
    else { return nil }
    let fields = stat[(close + 1)...].split(whereSeparator: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") })
    // `fields[0]` is the third field of the line.
    guard fields.count > 19, let parent = pid_t(ascii: fields[1]), let session = pid_t(ascii: fields[3]),
      let flags = UInt32(ascii: fields[6]), let threads = Int(ascii: fields[17]),
      let startTime = UInt64(ascii: fields[19])
    else { return nil }
    identity = ProcessIdentity(pid: pid, startTime: startTime)
    self.parent = parent
    self.session = session
    self.threads = threads
    let state = fields[0].first
    let isZombie = state == UInt8(ascii: "Z") || state == UInt8(ascii: "X")
    hasEnded = isZombie && threads <= 1
    isKernelThread = flags & LINUX_PF_KTHREAD != 0
    // If only the first thread has ended, the other threads have the children.
    isEnding = flags & LINUX_PF_EXITING != 0 && !isZombie
  }
}

extension FixedWidthInteger {
  /// Parses decimal digits only, several times as fast as from a String.
  init?(ascii digits: some Collection<UInt8>) {
    guard !digits.isEmpty else { return nil }
    var number: Self = 0
    for digit in digits {
      guard let value = Self(exactly: Int(digit) - Int(UInt8(ascii: "0"))), (0...9).contains(value) else { return nil }
      let (tens, overflow) = number.multipliedReportingOverflow(by: 10)
      let (sum, carry) = tens.addingReportingOverflow(value)
      if overflow || carry { return nil }
      number = sum
    }
    self = number
  }
}

/// The kernel's table of processes, `/proc`.
package enum ProcessTable {
  static func entry(of pid: pid_t) -> ProcessEntry? {
    readAtOnce("/proc/\(pid)/stat").flatMap(ProcessEntry.init(stat:))
  }

  /// The children of a process's threads; nil if it has ended or the kernel has no lists of children.
  /// - Parameter threads: the threads that may have children; nil for all.
  static func children(of pid: pid_t, threads: Set<pid_t>? = nil) -> [pid_t]? {
    guard let threads = threads.map(Array.init) ?? numbers(in: "/proc/\(pid)/task") else { return nil }
    var children: [pid_t] = []
    for thread in threads {
      guard let list = readAtOnce("/proc/\(pid)/task/\(thread)/children") else {
        // Other threads may end at any time; the entry of the first one stays as long as the process.
        if thread == pid { return nil }
        continue
      }
      children += processes(inList: list)
    }
    return children
  }

  fileprivate static func processes(inList list: [UInt8]) -> [pid_t] {
    list.split(separator: UInt8(ascii: " ")).compactMap { pid_t(ascii: $0) }
  }

  /// The current time in the unit of start times. A process that was started between two equal times has this start time.
  static var time: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    let perSecond = sysconf(Int32(_SC_CLK_TCK))
    return UInt64(time.tv_sec * perSecond + time.tv_nsec / (1_000_000_000 / perSecond))
  }

  /// Whether a process has one thread, as shown by the links of its directory of threads: two, and one for each thread.
  static func hasOneThread(_ pid: pid_t) -> Bool {
    var status = stat()
    return stat("/proc/\(pid)/task", &status) == 0 && status.st_nlink == 3
  }

  /// The numbers of all processes that this one may see.
  static func pids() -> [pid_t] { numbers(in: "/proc") ?? [] }

  /// Every process that this one may see.
  static func all() -> [ProcessEntry] { pids().compactMap(entry(of:)) }

  /// The mark of the command that a process descends from, as far as the kernel shows it.
  static func mark(of pid: pid_t) -> DescentMark? { read("/proc/\(pid)/limits").flatMap(DescentMark.init(limits:)) }

  /// The names of a process's cgroups and of all cgroups that contain them.
  static func controlGroups(of pid: pid_t) -> [ByteString] {
    read("/proc/\(pid)/cgroup").map { controlGroups(in: $0).map { ByteString($0) } } ?? []
  }

  /// - Parameter text: the content of `/proc/PID/cgroup`, with lines of the form `number:controllers:path`.
  package static func controlGroups(in text: [UInt8]) -> [ArraySlice<UInt8>] {
    text.split(separator: UInt8(ascii: "\n")).flatMap { line in
      let fields = line.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
      return fields.count == 3 ? fields[2].split(separator: UInt8(ascii: "/")) : []
    }
  }

  package enum Variable: Hashable {
    case value(ByteString)
    case absent
    /// The environment is empty: the process was started without one, or is in the middle of `execve`.
    case empty
    /// The program has overwritten its environment. Chromium and others put a title into the memory of their arguments, and erase what
    /// follows, which is this.
    case overwritten
    /// The environment cannot be read: the process belongs to another user, or is undumpable.
    case hidden
  }

  /// The value that a variable had when the process's program was started.
  package static func variable(_ name: ByteString, of pid: pid_t) -> Variable {
    guard let environment = read("/proc/\(pid)/environ") else { return .hidden }
    if environment.isEmpty { return .empty }
    let prefix = name.bytes + [UInt8(ascii: "=")]
    let entries = environment.split(separator: 0)
    for entry in entries where entry.starts(with: prefix) {
      return .value(ByteString(entry.dropFirst(prefix.count)))
    }
    return entries.first.map(isVariable) == true ? .absent : .overwritten
  }

  /// Whether a text is a variable with a value, and a name of ASCII letters, digits and `_`.
  private static func isVariable(_ text: ArraySlice<UInt8>) -> Bool {
    let name = text.prefix { $0 != UInt8(ascii: "=") }
    guard !name.isEmpty, name.count < text.count else { return false }
    return name.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
  }

  /// The arguments of the process's program, beginning with its name; nil if they cannot be read.
  static func arguments(of pid: pid_t) -> [ByteString]? {
    guard let line = read("/proc/\(pid)/cmdline"), !line.isEmpty else { return nil }
    return line.dropLast().split(separator: 0, omittingEmptySubsequences: false).map { ByteString(Array($0)) }
  }

  /// Cap of the ancestors that are looked at. A program of a sandbox has about five.
  private static let maxAncestors = 32

  /// A process and its ancestors, the nearest first. Each is read when it is asked for.
  static func lineage(of pid: pid_t) -> some Sequence<ProcessEntry> {
    sequence(state: pid) { pid in
      let entry = entry(of: pid)
      pid = entry?.parent ?? 0
      return entry
    }
    .prefix(maxAncestors)
  }

  /// The nearest process, the given one or an ancestor, that a bus or a service manager has started.
  /// - Parameter isRecent: whether a process counts. The ancestors of one that does not are older, and are not read.
  static func activation(of pid: pid_t, isRecent: (ProcessIdentity) -> Bool) -> ProcessIdentity? {
    for entry in lineage(of: pid) {
      guard entry.parent > 0, isRecent(entry.identity) else { return nil }
      // systemd tells each process that it starts its own number, which other processes inherit.
      if variable("SYSTEMD_EXEC_PID", of: entry.pid) == .value(ByteString(String(entry.pid))) { return entry.identity }
      if isBus(entry.parent) ? !isBus(entry.pid) : isReleasedByBus(entry) { return entry.identity }
    }
    return nil
  }

  /// Whether a process is one that a bus has started, and that has no parent there any more: dbus-daemon ends the process between them
  /// when the new one has its name. Others inherit the variable from their parents; those of terminals are in sessions of their own.
  private static func isReleasedByBus(_ entry: ProcessEntry) -> Bool {
    func isStarted(_ pid: pid_t) -> Bool {
      if case .value = variable("DBUS_STARTER_ADDRESS", of: pid) { true } else { false }
    }
    guard isStarted(entry.pid), !isStarted(entry.parent) else { return false }
    return all().contains { $0.session == entry.session && isBus($0.pid) }
  }

  private static func isBus(_ pid: pid_t) -> Bool {
    read("/proc/\(pid)/comm").map { $0.starts(with: "dbus-daemon".utf8) } == true
  }

  /// The signals that this process handles or ignores: one bit for each, the lowest for signal 1. All bits if they cannot be read.
  static var handledSignals: UInt64 {
    guard let status = readAtOnce("/proc/self/status") else { return .max }
    var all: UInt64 = 0
    for line in status.split(separator: UInt8(ascii: "\n")) {
      guard line.starts(with: "SigIgn:\t".utf8) || line.starts(with: "SigCgt:\t".utf8) else { continue }
      guard let set = UInt64(String(decoding: line.dropFirst(8), as: UTF8.self), radix: 16) else { return .max }
      all |= set
    }
    return all
  }

  private static func readAtOnce(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return readAtOnce(descriptor)
  }

  /// The content of a kernel file of short records, from its beginning. The kernel returns as many records at once as fit, so
  /// short content needs no second read to find its end.
  fileprivate static func readAtOnce(_ descriptor: Int32) -> [UInt8]? {
    let size = 4096
    var content: [UInt8] = []
    while true {
      var length = 0
      content += [UInt8](unsafeUninitializedCapacity: size) { [start = content.count] buffer, count in
        length = pread(descriptor, buffer.baseAddress!, size, off_t(start))
        count = max(0, length)
      }
      if length < 0 { return nil }
      if length < size / 2 { return content }
    }
  }

  /// The content of a file; nil if it cannot be read.
  package static func read(_ path: String) -> [UInt8]? { try? contents(ofFile: path) }

  /// The entries of a directory whose names are numbers.
  private static func numbers(in path: String) -> [pid_t]? {
    (try? directoryEntries(path.utf8))?.compactMap { pid_t(ascii: $0) }
  }
}

/// The lists of the children of this process's threads. The files stay open, because they are read each time a process ends.
final class OwnChildren {
  private let lists: [Int32]

  /// - Parameter threads: the threads that may have children.
  /// - Returns: nil if the kernel has no such lists, or the lists cannot be opened.
  init?(of threads: Set<pid_t>) {
    lists = threads.map { open("/proc/self/task/\($0)/children", O_RDONLY | O_CLOEXEC) }
    if lists.contains(where: { $0 < 0 }) { return nil }
  }

  deinit { for list in lists where list >= 0 { close(list) } }

  /// - Returns: nil if the lists cannot be read.
  func read() -> [pid_t]? {
    var children: [pid_t] = []
    for list in lists {
      guard let content = ProcessTable.readAtOnce(list) else { return nil }
      children += ProcessTable.processes(inList: content)
    }
    return children
  }
}
