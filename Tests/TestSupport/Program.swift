import CLinux
public import EventLoops
import Glibc

/// A program started by a test. It is killed when the last reference is released.
public final class Program {
  public let processID: pid_t
  private let commandLine: String
  private var end: (status: ProcessStatus, time: MonotonicInstant)?
  /// Whether a failure is expected: the test has seen the program's end, has sent it a signal, or goes on without it. See
  /// ``unseenFailure``.
  public var mayFail = false
  /// Standard output and standard error so far.
  public private(set) var output: [UInt8] = []
  public private(set) var errors: [UInt8] = []

  private var outputLines = Lines()
  private let loop: EventLoop
  private var outputReader: Reader?
  private var errorReader: Reader?
  private var exit: ExitWatch?

  /// Starts a program with a given environment and no other variables, and with only the three standard descriptors.
  /// - Parameters:
  ///   - arguments: the program's path and its arguments.
  ///   - input: the contents of the program's standard input.
  /// - Throws: `SystemError`.
  public init(_ loop: EventLoop, _ arguments: [String], environment: [String: String], input: [UInt8] = []) throws {
    self.loop = loop
    commandLine = arguments.joined(separator: " ")
    let standardInput = try Self.file(of: input)
    defer { close(standardInput) }
    let (outputEnd, output) = try Self.pipe()
    defer { close(output) }
    let (errorEnd, error) = try Self.pipe()
    defer { close(error) }
    processID = try spawn(
      arguments, environment: environment.map { "\($0.key)=\($0.value)" }, descriptors: [standardInput, output, error])
    outputReader = try Reader(outputEnd, loop) { [unowned self] in
      self.output.append(contentsOf: $0)
      outputLines.take($0)
    }
    errorReader = try Reader(errorEnd, loop) { [unowned self] in self.errors.append(contentsOf: $0) }
    exit = try loop.onExit(of: processID) { [unowned self] in end = ($0, .now) }
  }

  /// The exit status; nil while the program runs.
  public var status: ProcessStatus? {
    if end != nil { mayFail = true }
    return end?.status
  }

  /// Whether the program has ended and all of its output was read.
  public var hasEnded: Bool { isReadToTheEnd && status != nil }

  private var isReadToTheEnd: Bool {
    end != nil && outputReader?.isAtEnd != false && errorReader?.isAtEnd != false
  }

  /// A failure of the program that the test has not seen, with the program's standard error. The test then stops waiting.
  var unseenFailure: String? {
    guard let end, !mayFail else { return nil }
    switch end.status {
    case .exited(code: 0), .unknown: return nil
    // Tests kill programs with these signals.
    case .signaled(signal: SIGKILL), .signaled(signal: SIGTERM), .signaled(signal: SIGINT), .signaled(signal: SIGHUP):
      return nil
    case .exited, .signaled: break
    }
    // Programs that it has started may keep its standard error open.
    guard isReadToTheEnd || end.time + .seconds(1) < .now else { return nil }
    return "\(commandLine.prefix(200)): ended: \(end.status), and said:\n\(errorText)"
  }

  /// The exit code; nil while the program runs, or if a signal ended it.
  public var exitCode: Int32? { if case .exited(let code)? = status { code } else { nil } }

  public var outputText: String { String(decoding: output, as: UTF8.self) }
  public var errorText: String { String(decoding: errors, as: UTF8.self) }
  /// The complete lines of the program's standard output.
  public var lines: [String] { outputLines.lines }

  /// Sends the program a signal if it is still running.
  public func send(_ signal: Int32) {
    mayFail = true
    guard end == nil else { return }
    exit?.send(signal)
    if signal == SIGSTOP {
      // A signal is delivered a moment later, in which the program would go on.
      var stopped = siginfo_t()
      waitid(P_PID, id_t(processID), &stopped, WSTOPPED | WEXITED | WNOWAIT)
    }
  }

  /// Whether the program's standard output is read; if not, the pipe fills.
  public var isRead: Bool {
    get { outputReader?.isReading ?? false }
    set { outputReader?.isReading = newValue }
  }

  /// Closes the reading end of the program's standard output.
  public func closeOutput() { outputReader = nil }

  deinit {
    exit?.cancel()
    guard end == nil else { return }
    kill(processID, SIGKILL)
    waitpid(processID, nil, 0)
  }

  private static func pipe() throws(SystemError) -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    try check("pipe") { Glibc.pipe(&ends) }
    // Another thread may start a program in between, but `spawn` closes all descriptors that are not passed on.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  private static func file(of bytes: [UInt8]) throws(SystemError) -> Int32 {
    let file = try check("memfd_create") { memfd_create("input", LINUX_MFD_CLOEXEC) }
    _ = bytes.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 0) }
    return file
  }
}

/// Splits a stream of bytes into lines.
struct Lines {
  private(set) var lines: [String] = []
  private var rest: [UInt8] = []

  mutating func take(_ bytes: UnsafeRawBufferPointer) {
    var bytes = bytes
    while let start = bytes.baseAddress, let end = memchr(start, Int32(UInt8(ascii: "\n")), bytes.count) {
      let count = UnsafeRawPointer(end) - start
      rest.append(contentsOf: bytes[..<count])
      lines.append(String(decoding: rest, as: UTF8.self))
      rest = []
      bytes = UnsafeRawBufferPointer(rebasing: bytes[(count + 1)...])
    }
    rest.append(contentsOf: bytes)
  }
}

/// Reads one end of a pipe as data arrives.
private final class Reader {
  private(set) var isAtEnd = false
  private let descriptor: Int32
  private var watch: Watch?

  init(_ descriptor: Int32, _ loop: EventLoop, _ take: @escaping (UnsafeRawBufferPointer) -> Void) throws(SystemError) {
    self.descriptor = descriptor
    var buffer = [UInt8](repeating: 0, count: 65536)
    watch = try loop.watch(descriptor, .read) { [unowned self] _ in
      let count = read(descriptor, &buffer, buffer.count)
      if count > 0 {
        buffer.withUnsafeBytes { take(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      } else if count == 0 || errno != EINTR {
        isAtEnd = true
        watch?.cancel()
      }
    }
  }

  var isReading = true {
    didSet { watch?.interest = isReading ? .read : [] }
  }

  deinit {
    watch?.cancel()
    close(descriptor)
  }
}

/// Starts a program with the given descriptors from 0 on, and no others.
func spawn(_ arguments: [String], environment: [String], descriptors: [Int32]) throws(SystemError) -> pid_t {
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  for (number, descriptor) in descriptors.enumerated() {
    posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
  }
  posix_spawn_file_actions_addclosefrom_np(&actions, Int32(max(3, descriptors.count)))

  // Threads that run tests block most signals; a child would inherit the mask and ignore SIGTERM.
  var attributes = posix_spawnattr_t()
  posix_spawnattr_init(&attributes)
  defer { posix_spawnattr_destroy(&attributes) }
  var signals = sigset_t()
  sigemptyset(&signals)
  posix_spawnattr_setsigmask(&attributes, &signals)
  sigfillset(&signals)
  posix_spawnattr_setsigdefault(&attributes, &signals)
  posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

  let argv = arguments.map { strdup($0) } + [nil]
  let envp = environment.map { strdup($0) } + [nil]
  defer { for text in argv + envp { free(text) } }
  var pid: pid_t = 0
  let failure = posix_spawn(&pid, arguments[0], &actions, &attributes, argv, envp)
  guard failure == 0 else { throw SystemError(code: failure, operation: "posix_spawn \(arguments[0])") }
  return pid
}
