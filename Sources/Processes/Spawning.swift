import CLinux
import EventLoops
import Glibc

/// Starts the command in a session of its own, with an empty signal mask and default signal handling. Of this process's
/// descriptors the child gets only the one for standard error. Returns when the program was executed, or could not be.
/// - Parameters:
///   - mark: the number that the child and all its descendants carry.
///   - output: the FIFO for standard output; nil sends standard output to standard error. The child opens the FIFO for reading and
///     writing, so that the child and its output survive the end of this process. The FIFO loses its sticky bit just before the
///     program is executed.
///   - errors: the descriptor that becomes standard error; nil for this process's.
///   - evidence: the file into which the child writes its number just before it executes the program.
///   - handledSignals: the signals that this process handles or ignores, as in ``ProcessTable/handledSignals``.
///   - descriptorLimit: the child's limit of open descriptors; nil for this process's.
/// - Returns: the child, which the caller reaps, and its pidfd, which the caller closes.
func spawn(
  _ command: Command, mark: DescentMark, output: ByteString?, errors: Int32?, evidence: ByteString?,
  handledSignals: UInt64, descriptorLimit: rlimit?
) throws(SpawnError) -> (pid: pid_t, pidfd: Int32) {
  try validate(command)
  let program = try command.locate()
  let input: Int32
  do throws(SystemError) { input = try command.openInput() } catch { throw .failed(error) }
  defer { close(input) }
  // The descriptor of a FIFO was checked already. Without a FIFO only the pidfd stays open, with the number after the input's.
  if output == nil {
    do throws(SystemError) { try DescriptorLimit.checkNext(after: input, "start \(program)") } catch {
      throw .failed(error)
    }
  }

  var start = linux_command()
  start.input = input
  start.errors = errors ?? -1
  start.mark = rlimit(rlim_cur: rlim_t(mark.number), rlim_max: DescentMark.hardLimit)
  start.handled = handledSignals
  var pidfd: Int32 = -1
  var paths = CStrings()
  for path in [program, command.directory, output, evidence] { paths.append(path) }
  var arguments = CStrings()
  for argument in command.arguments { arguments.append(argument) }
  var environment = CStrings()
  for (name, value) in command.environment { environment.append(variable: name, value) }
  let (pid, failure) = paths.withPointers { paths in
    (start.program, start.directory) = (UnsafePointer(paths[0]!), UnsafePointer(paths[1]!))
    (start.output, start.evidence) = (paths[2].map { UnsafePointer($0) }, paths[3].map { UnsafePointer($0) })
    return arguments.withPointers { arguments in
      environment.withPointers { environment in
        withOptionalPointer(to: descriptorLimit) { limit in
          (start.arguments, start.environment, start.descriptors) = (arguments, environment, limit)
          return (linux_start(&start, &pidfd), start.failure)
        }
      }
    }
  }
  guard pid > 0 else {
    if start.has_bad_directory != 0 {
      throw .badDirectory(command.directory, reason: SystemError(code: failure, operation: "").reason)
    }
    throw explain(failure, program: command.absolute(program))
  }
  return (pid, pidfd)
}

private func withOptionalPointer<T, Result>(to value: T?, _ body: (UnsafePointer<T>?) -> Result) -> Result {
  guard let value else { return body(nil) }
  return withUnsafePointer(to: value) { body($0) }
}

private func validate(_ command: Command) throws(SpawnError) {
  guard let program = command.arguments.first, !program.bytes.isEmpty else {
    throw .malformed("the command is empty: it needs the name of a program")
  }
  for argument in command.arguments where argument.containsNul {
    throw .malformed("the argument '\(argument)' contains a NUL")
  }
  for (name, value) in command.environment {
    if name.bytes.isEmpty || name.containsNul || name.bytes.contains(UInt8(ascii: "=")) {
      throw .malformed("'\(name)' is not a valid name of an environment variable")
    }
    if value.containsNul { throw .malformed("the environment variable \(name) contains a NUL") }
  }
  if command.directory.bytes.first != UInt8(ascii: "/") {
    throw .badDirectory(command.directory, reason: "not an absolute path")
  }
  if command.directory.containsNul { throw .badDirectory(command.directory, reason: "contains a NUL") }
}

private func checkDirectory(_ path: ByteString) throws(SpawnError) {
  // The final `/.` makes the call fail if the last component is no directory.
  if (path + "/.").withCString({ access($0, X_OK) }) != 0 {
    throw .badDirectory(path, reason: SystemError("access").reason)
  }
}

extension Command {
  /// Creates the file for standard input: an unlinked file in memory, sealed against every change.
  /// - Returns: a descriptor that the caller closes.
  public func openInput() throws(SystemError) -> Int32 {
    if input.isEmpty { return try check("open /dev/null") { open("/dev/null", O_RDONLY | O_CLOEXEC) } }
    let file = try check("memfd_create") { memfd_create("input", LINUX_MFD_CLOEXEC | LINUX_MFD_ALLOW_SEALING) }
    do throws(SystemError) {
      var written = 0
      while written < input.count {
        // Writing at an explicit offset leaves the reader's offset at the start.
        written += try check("write to a memfd") {
          input.withUnsafeBytes { pwrite(file, $0.baseAddress! + written, $0.count - written, off_t(written)) }
        }
      }
      try check("seal a memfd") { fcntl(file, LINUX_F_ADD_SEALS, LINUX_F_SEAL_ALL) }
    } catch {
      close(file)
      throw error
    }
    return file
  }

  /// Finds the file to execute, for a command that another program starts.
  /// - Returns: an absolute path.
  /// - Throws: ``SpawnError`` if checks without running the command show that it cannot be run.
  public func program() throws(SpawnError) -> ByteString {
    try validate(self)
    try checkDirectory(directory)
    return absolute(try locate())
  }

  /// Finds the program as `execvp` does in the child, with the child's `PATH` and working directory.
  /// - Returns: a path, relative to the working directory.
  fileprivate func locate() throws(SpawnError) -> ByteString {
    do throws(SpawnError) {
      return try search()
    } catch {
      // A missing directory is reported first, because it keeps the program from being found.
      try checkDirectory(directory)
      throw error
    }
  }

  fileprivate func absolute(_ path: ByteString) -> ByteString {
    path.bytes.first == UInt8(ascii: "/") ? path : directory + "/" + path
  }

  private func search() throws(SpawnError) -> ByteString {
    let (name, slash) = (arguments[0], UInt8(ascii: "/"))
    if name.bytes.contains(slash) {
      switch executability(of: absolute(name)) {
      case 0: return name
      case ENOENT, ENOTDIR: throw .programNotFound(name, searchPath: nil)
      case let failure: throw .notExecutable(name, reason: SystemError(code: failure, operation: "").reason)
      }
    }
    // The C library uses this path if there is no `PATH`.
    let path = environment["PATH"] ?? "/bin:/usr/bin"
    var refused: SpawnError?
    for element in path.bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false) {
      // An empty element means the working directory.
      let candidate = ByteString((element.isEmpty ? [UInt8(ascii: ".")] : Array(element)) + [slash] + name.bytes)
      switch executability(of: absolute(candidate)) {
      case 0: return candidate
      case EACCES: refused = .notExecutable(candidate, reason: SystemError(code: EACCES, operation: "").reason)
      default: continue
      }
    }
    throw refused ?? .programNotFound(name, searchPath: path)
  }
}

/// - Returns: 0 if the file may be executed; otherwise the error number of `execve`.
private func executability(of path: ByteString) -> Int32 {
  path.withCString { path in
    var status = stat()
    if stat(path, &status) != 0 { return errno }
    guard status.st_mode & S_IFMT == S_IFREG else { return EACCES }
    return access(path, X_OK) == 0 ? 0 : errno
  }
}

/// Explains why the child could not execute the program. The descriptors were checked before.
/// - Parameter program: an absolute path.
private func explain(_ failure: Int32, program: ByteString) -> SpawnError {
  let error = SystemError(code: failure, operation: "execve \(program)")
  switch failure {
  case ENOENT where executability(of: program) == 0:
    return .notExecutable(program, reason: "the interpreter that it names is missing")
  case ENOENT, ENOTDIR: return .programNotFound(program, searchPath: nil)
  case EACCES, EPERM, ENOEXEC, ELOOP, ETXTBSY, EISDIR, ELIBBAD, EINVAL:
    return .notExecutable(program, reason: error.reason)
  case EAGAIN: return .tooManyProcesses(program)
  default: return .failed(error)
  }
}

/// C strings in one buffer, one after the other.
private struct CStrings {
  private var characters: [UInt8] = []
  /// The beginning of each string; nil for NULL.
  private var offsets: [Int?] = []

  mutating func append(_ string: ByteString?) {
    offsets.append(string == nil ? nil : characters.count)
    guard let string else { return }
    characters += string.bytes
    characters.append(0)
  }

  /// Appends a variable in the form `NAME=VALUE`.
  mutating func append(variable name: ByteString, _ value: ByteString) {
    offsets.append(characters.count)
    characters += name.bytes
    characters.append(UInt8(ascii: "="))
    characters += value.bytes
    characters.append(0)
  }

  /// Calls the body with a NULL-terminated array of pointers to the strings.
  mutating func withPointers<Result>(_ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result) -> Result {
    characters.withUnsafeMutableBytes { [offsets] bytes in
      let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      return withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<CChar>?.self, capacity: offsets.count + 1) {
        pointers in
        for (index, offset) in offsets.enumerated() {
          pointers.initializeElement(at: index, to: offset.map { start! + $0 })
        }
        pointers.initializeElement(at: offsets.count, to: nil)
        return body(UnsafePointer(pointers.baseAddress!))
      }
    }
  }
}
