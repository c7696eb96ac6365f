import Glibc

/// The progress of a process that another program forked to run a command for this one.
public enum ExecutionState: Hashable, Sendable {
  /// The process was forked, and has not executed its program yet.
  case forked
  case executed
  case ended

  /// Reads the state of a process.
  /// - Parameters:
  ///   - variable: a variable of the command that the forking program does not have.
  ///   - value: the variable's value for this command.
  ///   - placeholder: the arguments of a program that may be run instead of this command.
  public init(of pid: pid_t, _ variable: ByteString, is value: ByteString, placeholder: [ByteString] = []) {
    let found = ProcessTable.variable(variable, of: pid)
    // The program that forks the command keeps its own environment.
    var isExecuted = found == .value(value) || found == .overwritten
    if isExecuted {
      isExecuted = ProcessTable.arguments(of: pid).map { $0 != placeholder } ?? false
    } else {
      // An unreadable environment belongs to another user's program or to an undumpable one, and so not to the program that forked
      // it. (Reading the environment of a process that is ending fails for other reasons.)
      let descriptor = open("/proc/\(pid)/environ", O_RDONLY | O_CLOEXEC)
      if descriptor < 0 { isExecuted = errno == EACCES || errno == EPERM } else { close(descriptor) }
    }
    guard let entry = ProcessTable.entry(of: pid), !entry.hasEnded else {
      self = .ended
      return
    }
    self = isExecuted ? .executed : .forked
  }
}
