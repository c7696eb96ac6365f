// Why this file exists: /proc is how the kernel tells who descends from whom; here it is read, and nothing decided.

import CLinux
import Glibc

/// A process, told apart from a later one of the same number by when it started.
public struct ProcessIdentity: Hashable, Sendable {
  public let pid: pid_t
  /// In clock ticks since the machine started: the 22nd field of `/proc/PID/stat`.
  public let startTime: UInt64

  public init(pid: pid_t, startTime: UInt64) {
    self.pid = pid
    self.startTime = startTime
  }

  /// Changes at each start of the machine; an identity means nothing after that. Nil if the kernel does not say.
  public static func bootIdentifier() -> String? {
    ProcessTable.read("/proc/sys/kernel/random/boot_id").map { String(decoding: $0.prefix(36), as: UTF8.self) }
  }
}

/// How far a process that somebody else has started for us is.
public enum ExecutionState: Hashable, Sendable {
  /// It was forked, and has yet to become its program.
  case forked
  /// It is its program, or has been.
  case executed
  case gone

  /// - Parameters:
  ///   - variable: one that the program is given, and whoever starts it has not.
  public init(of pid: pid_t, _ variable: ByteString, is value: ByteString) {
    var found = ProcessTable.variable(variable, of: pid) == .value(value)
    if !found {
      // A program of another user's, or one that keeps to itself, is no longer whoever has started it. (What is about to
      // end cannot be read either, for other reasons.)
      let descriptor = open("/proc/\(pid)/environ", O_RDONLY | O_CLOEXEC)
      if descriptor < 0 { found = errno == EACCES || errno == EPERM } else { close(descriptor) }
    }
    guard let entry = ProcessTable.entry(of: pid), !entry.hasEnded else {
      self = .gone
      return
    }
    self = found ? .executed : .forked
  }
}

/// One line of the table.
struct ProcessEntry: Hashable {
  let identity: ProcessIdentity
  let parent: pid_t
  let session: pid_t
  /// Ended and not reaped. A process whose first thread has ended while others run is alive.
  let hasEnded: Bool

  var pid: pid_t { identity.pid }
  var startTime: UInt64 { identity.startTime }

  /// Reads what `/proc/PID/stat` says; nil where it does not hold that.
  init?(stat: [UInt8]) {
    // The name is in parentheses, and may hold anything, parentheses too.
    guard let open = stat.firstIndex(of: UInt8(ascii: "(")), let close = stat.lastIndex(of: UInt8(ascii: ")")),
      open < close, let pid = pid_t(ascii: stat[..<open].dropLast())
    else { return nil }
    let fields = stat[(close + 1)...].split(whereSeparator: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") })
    // The first of these is the third field of the line.
    guard fields.count > 19, let parent = pid_t(ascii: fields[1]), let session = pid_t(ascii: fields[3]),
      let threads = Int(ascii: fields[17]), let startTime = UInt64(ascii: fields[19])
    else { return nil }
    identity = ProcessIdentity(pid: pid, startTime: startTime)
    self.parent = parent
    self.session = session
    let state = fields[0].first
    hasEnded = (state == UInt8(ascii: "Z") || state == UInt8(ascii: "X")) && threads <= 1
  }
}

extension FixedWidthInteger {
  /// Reads decimal digits, and nothing else. (By way of a String it takes several times as long.)
  fileprivate init?(ascii digits: some Collection<UInt8>) {
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

package enum ProcessTable {
  /// Whether there is a descriptor free to read it by.
  static var isReadable: Bool { entry(of: getpid()) != nil }

  static func entry(of pid: pid_t) -> ProcessEntry? { read("/proc/\(pid)/stat").flatMap(ProcessEntry.init(stat:)) }

  /// The children of a process, of all its threads; nil if it is gone or the kernel keeps no such lists.
  static func children(of pid: pid_t) -> [pid_t]? {
    guard let threads = numbers(in: "/proc/\(pid)/task") else { return nil }
    var children: [pid_t] = []
    for thread in threads {
      guard let list = read("/proc/\(pid)/task/\(thread)/children") else {
        // A thread may end at any time; the first one's entry stays as long as the process.
        if thread == pid { return nil }
        continue
      }
      children += list.split(separator: UInt8(ascii: " ")).compactMap { pid_t(ascii: $0) }
    }
    return children
  }

  /// Every process that this one may see.
  static func all() -> [ProcessEntry] { (numbers(in: "/proc") ?? []).compactMap(entry(of:)) }

  enum Variable: Hashable {
    case value(ByteString)
    case absent
    /// There is no environment to be read: none was given, or the process is just being made.
    case empty
    /// It is another user's, or keeps itself private.
    case hidden
  }

  /// A variable as it was when the process's program was started.
  static func variable(_ name: ByteString, of pid: pid_t) -> Variable {
    guard let environment = read("/proc/\(pid)/environ") else { return .hidden }
    if environment.isEmpty { return .empty }
    let prefix = name.bytes + [UInt8(ascii: "=")]
    for entry in environment.split(separator: 0) where entry.starts(with: prefix) {
      return .value(ByteString(entry.dropFirst(prefix.count)))
    }
    return .absent
  }

  /// The whole of a file; nil if it cannot be read.
  package static func read(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var content: [UInt8] = []
    var capacity = 1024
    while true {
      let start = content.count
      var failed = false
      content += [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
        let length = Glibc.read(descriptor, buffer.baseAddress!, capacity)
        failed = length < 0
        count = max(0, length)
      }
      if failed { return nil }
      if content.count == start { return content }
      capacity = min(capacity * 4, 1 << 20)
    }
  }

  /// The entries of a directory that are numbers.
  private static func numbers(in path: String) -> [pid_t]? {
    guard let directory = opendir(path) else { return nil }
    defer { closedir(directory) }
    var numbers: [pid_t] = []
    while let entry = readdir(directory) {
      withUnsafeBytes(of: &entry.pointee.d_name) { name in
        if let number = pid_t(ascii: name.prefix { $0 != 0 }) { numbers.append(number) }
      }
    }
    return numbers
  }
}
