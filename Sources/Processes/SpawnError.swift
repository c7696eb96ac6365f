import EventLoops

/// The reason why a command was not started.
public enum SpawnError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The command cannot be passed to the kernel.
  case malformed(String)
  /// The program does not exist; if `searchPath` is given, it is in none of those directories.
  case programNotFound(ByteString, searchPath: ByteString?)
  case notExecutable(ByteString, reason: String)
  case badDirectory(ByteString, reason: String)
  /// The kernel allows no more processes to the user or to the cgroup.
  case tooManyProcesses(ByteString)
  /// A system call failed, for example for lack of memory or descriptors.
  case failed(SystemError)

  public var description: String {
    switch self {
    case .malformed(let what): what
    case .programNotFound(let program, nil): "\(program): there is no such program"
    case .programNotFound(let program, let path?): "\(program): not found in PATH (\(path))"
    case .notExecutable(let program, let reason): "\(program): cannot be executed: \(reason)"
    case .badDirectory(let directory, let reason): "working directory \(directory): \(reason)"
    case .tooManyProcesses(let program):
      "\(program): cannot be started: the limit of processes is reached (that of the user, “ulimit -u”, or of a unit, TasksMax=)"
    case .failed(let error): error.description
    }
  }
}
