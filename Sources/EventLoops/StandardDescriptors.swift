import Glibc

/// The descriptors of standard input, standard output and standard error.
public enum StandardDescriptors {
  /// Opens the standard descriptors that are closed, so that no file of the program gets their numbers: a message on standard error
  /// would be written to that file. Reading from them and writing to them still fails.
  ///
  /// Call this before the program opens anything.
  public static func reserve() {
    var polled = [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].map { pollfd(fd: $0, events: 0, revents: 0) }
    guard poll(&polled, nfds_t(polled.count), 0) > 0 else { return }
    for standard in polled where standard.revents & Int16(POLLNVAL) != 0 {
      // The lowest free number is this one. It is opened for the direction that nobody uses.
      _ = open("/dev/null", standard.fd == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
