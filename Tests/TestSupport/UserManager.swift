// Why this file exists: what navd does with a user's service manager is tested with systemd itself, and not with that of
// whoever runs the tests.

import Glibc

/// A `systemd --user` of its own with a bus, a journal and a cgroup of its own, for as long as this object is held. Of
/// what it has started nothing is left then.
///
/// It runs as the user of the tests. Setting it up takes root: for a cgroup that can be given to it, and for a `/run`
/// that only it sees, in which systemd is the system's (`/run/systemd/system`) and its journal is.
public final class UserManager: SessionBus {
  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }

  public let address: String
  /// Of systemd itself.
  public let processID: pid_t
  public var directory: String { temporary.path }

  private let temporary = TemporaryDirectory()
  private let guardian: Guardian

  /// - Parameter environment: for the manager and all that it starts, next to a `PATH`.
  /// - Throws: `Failure`, if it cannot be set up; it says why.
  public init(environment: [String: String], limit: Duration = .seconds(30)) throws {
    // The cgroup is named as a desktop's is, by which the journal knows the units.
    let script = """
      set -eu
      directory=$1 user=$2 group=$3
      shift 3
      exec 3<&0 </dev/null 4>&1 >"$directory/setup.log" 2>&1
      mount -t tmpfs -o mode=755 tmpfs /run
      mkdir -p /run/systemd/system /run/systemd/journald.conf.d /run/log/journal
      printf '[Journal]\\nStorage=volatile\\nReadKMsg=no\\nAudit=no\\nRateLimitBurst=0\\n' \\
        >/run/systemd/journald.conf.d/test.conf
      /lib/systemd/systemd-journald &
      journald=$!
      name=navdtest$$.slice
      groups=
      for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/systemd; do
        [ -e "$hierarchy/cgroup.procs" ] || continue
        mkdir -p "$hierarchy/$name/user@$user.service"
        chown -R "$user:$group" "$hierarchy/$name/user@$user.service"
        groups="$groups $hierarchy/$name"
      done
      members() { find $groups -name cgroup.procs -exec cat {} + 2>/dev/null | sort -u; }
      sh -c '
        for group in $1; do echo $$ >"$group/user@$2.service/cgroup.procs"; done
        user=$2 group=$3
        shift 3
        exec setpriv --reuid "$user" --regid "$group" --init-groups env -i "$@" /lib/systemd/systemd --user
      ' sh "$groups" "$user" "$group" "$@" &
      manager=$!
      while kill -0 "$manager" && ! [ -S "$directory/bus" ]; do sleep 0.02; done
      if kill -0 "$manager"; then echo "$manager" >&4; else cat "$directory/setup.log" >&4; fi
      exec 4>&-
      read -r _ <&3 || true
      set +e
      kill -KILL "$manager"
      while pids=$(members) && [ -n "$pids" ]; do kill -KILL $pids; sleep 0.01; done
      find $groups -depth -type d -exec rmdir {} +
      kill "$journald"
      wait
      """
    var variables = ["XDG_RUNTIME_DIR": temporary.path, "PATH": "/usr/local/bin:/usr/bin:/bin"]
    variables.merge(environment) { $1 }
    var arguments = [
      "/usr/bin/unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", script, "sh", temporary.path,
      String(getuid()), String(getgid()),
    ]
    arguments += variables.map { "\($0.key)=\($0.value)" }
    if geteuid() != 0 { arguments = ["/usr/bin/sudo", "-n"] + arguments }
    do {
      guardian = try Guardian(arguments, environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"])
      let said = try guardian.readLines(1, limit: limit)[0]
      guard let processID = pid_t(said) else { throw Failure(description: said) }
      self.processID = processID
    } catch {
      throw Failure(
        description: """
          a user manager for a test needs root, or sudo without a password, and cgroups that can be written to: \(error)
          """)
    }
    address = "unix:path=\(temporary.path)/bus"
    // There is a moment between the socket's being there and its being listened to.
    let end = ContinuousClock.now + limit
    while !Self.isListenedTo(temporary.path(of: "bus")) {
      guard ContinuousClock.now < end else { throw Failure(description: "the manager's bus cannot be reached") }
      usleep(5000)
    }
  }

  private static func isListenedTo(_ path: String) -> Bool {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
  }

  /// What comes before a program's path and arguments to run it as root where the manager's `/run` is, and the journal.
  public var inside: [String] {
    (geteuid() == 0 ? [] : ["/usr/bin/sudo", "-n"]) + ["/usr/bin/nsenter", "--mount=/proc/\(processID)/ns/mnt", "--"]
  }

  deinit { guardian.end() }
}
