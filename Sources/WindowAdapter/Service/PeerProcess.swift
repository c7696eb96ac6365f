import Glibc

/// The process at the other end of a socket; nil if it cannot be known.
func peerProcess(of socket: Int32) -> pid_t? {
  var credentials: (pid: pid_t, user: uid_t, group: gid_t) = (0, 0, 0)
  var size = socklen_t(MemoryLayout.size(ofValue: credentials))
  guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0, credentials.pid > 0 else { return nil }
  return credentials.pid
}
