import CLinux
import Glibc

/// Starts a program as a shell does, with this process's environment.
/// - Parameter arguments: the program, searched for in `PATH`, and its arguments.
package func spawn(
  _ arguments: [String], reading input: Int32, writing output: Int32
) throws(SystemError) -> pid_t {
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
  var words = arguments.map { strdup($0) } + [nil]
  defer { for word in words { free(word) } }
  var process: pid_t = 0
  let error = posix_spawnp(&process, arguments[0], &actions, nil, &words, linux_environment())
  guard error == 0 else { throw SystemError(code: error, operation: arguments[0]) }
  return process
}

/// - Returns: the status as by waitpid(2).
@discardableResult
package func waitForExit(_ process: pid_t) -> Int32 {
  var status: Int32 = 0
  while waitpid(process, &status, 0) < 0, errno == EINTR {}
  return status
}
