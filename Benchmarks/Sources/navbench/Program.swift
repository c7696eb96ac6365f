import Glibc

/// The failure of a measurement, with the reason.
struct BenchmarkError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// The failure of the last call of the C library.
  init(failed operation: String) { description = "\(operation): \(String(cString: strerror(errno)))" }
}

/// A running program, started as a shell does, with this process's environment.
final class Program {
  let pid: pid_t
  private let name: String
  /// The wait status, once the program has ended.
  private var status: Int32?

  /// - Parameters:
  ///   - arguments: the program, searched for in `PATH`, and its arguments.
  ///   - output: the descriptor for its standard output; nil to discard that.
  init(_ arguments: [String], output: Int32? = nil) throws {
    name = arguments[0]
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    if let output {
      posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    } else {
      posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    }
    // Swift's threads block signals, such as the one that ends the program.
    var (attributes, none) = (posix_spawnattr_t(), sigset_t())
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var words = arguments.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var pid: pid_t = 0
    errno = posix_spawnp(&pid, name, &actions, &attributes, &words, environ)
    guard errno == 0 else { throw BenchmarkError(failed: name) }
    self.pid = pid
  }

  /// Runs a program to its end.
  /// - Throws: `BenchmarkError` unless it exits with one of the statuses.
  static func run(_ arguments: [String], expecting statuses: [Int32] = [0]) throws {
    let status = try Program(arguments).wait()
    guard statuses.contains(where: { $0 << 8 == status }) else {
      throw BenchmarkError(
        "\(arguments.joined(separator: " ")): expected the exit status \(statuses), found the wait status \(status)")
    }
  }

  var hasEnded: Bool {
    if status == nil {
      var found: Int32 = 0
      if waitpid(pid, &found, WNOHANG) == pid { status = found }
    }
    return status != nil
  }

  /// - Returns: the status as by waitpid(2).
  @discardableResult
  func wait() -> Int32 {
    if let status { return status }
    var found: Int32 = 0
    while waitpid(pid, &found, 0) < 0, errno == EINTR {}
    status = found
    return found
  }

  func end() {
    if !hasEnded { kill(pid, SIGTERM) }
    wait()
  }
}
