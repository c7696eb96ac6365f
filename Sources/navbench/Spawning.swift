// Why this file exists: a program that is measured as a process is started as a shell starts it, and nothing is done about it
// but what the kernel does.

import CLinux
import Glibc

/// Starts a program, which is found as a shell finds it.
func spawn(_ arguments: [String], reading input: Int32, writing output: Int32) throws -> pid_t {
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
  var words = arguments.map { strdup($0) } + [nil]
  defer { for word in words { free(word) } }
  var process: pid_t = 0
  let error = posix_spawnp(&process, arguments[0], &actions, nil, &words, linux_environment())
  guard error == 0 else { throw MeasuringFailure(description: "\(arguments[0]): \(String(cString: strerror(error)))") }
  return process
}

func waitToEnd(_ process: pid_t) {
  var status: Int32 = 0
  while waitpid(process, &status, 0) < 0, errno == EINTR {}
}
