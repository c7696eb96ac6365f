import Glibc

/// A private `systemd --user` with its own bus, journal and cgroup that exists while this object is held, for tests of units and
/// services. Its end kills every process that it has started.
///
/// The manager runs as the user of the tests. Its setup needs root: for a cgroup that the user owns, and for a private mount of
/// `/run` in which systemd is the system manager (`/run/systemd/system`) and writes its journal.
public final class UserManager: SessionBus {
  public let address: String
  /// The process ID of systemd.
  public let processID: pid_t
  public var directory: String { temporary.path }

  private let temporary = TemporaryDirectory()
  private let supervised: SupervisedScript

  /// - Parameter environment: the environment of the manager and of every program that it starts, in addition to a `PATH`.
  /// - Throws: `SetupFailure` with the reason if the manager cannot be set up.
  public init(environment: [String: String], limit: Duration = .seconds(30)) throws {
    // The cgroup has the name that a desktop's user manager has, because the journal finds units by it.
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
      # Not by process number: a run in another PID namespace may have the same one.
      name=navdtest$(basename "$directory" | tr -dc a-zA-Z0-9).slice
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
      while kill -0 "$manager" 2>/dev/null && ! [ -S "$directory/bus" ]; do sleep 0.02; done
      if kill -0 "$manager" 2>/dev/null; then echo "$manager" >&4; else cat "$directory/setup.log" >&4; fi
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
      supervised = try SupervisedScript(arguments, environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"])
      let said = try supervised.readLines(1, limit: limit)[0]
      guard let processID = pid_t(said) else { throw SetupFailure(description: said) }
      self.processID = processID
    } catch {
      throw SetupFailure(
        description: """
          a user manager for a test needs root, or sudo without a password, and cgroups that can be written to: \(error)
          """)
    }
    address = "unix:path=\(temporary.path)/bus"
    // The socket file exists shortly before systemd listens on it, and no event reports when it does.
    let end = ContinuousClock.now + limit
    while !Self.isListenedTo(temporary.path(of: "bus")) {
      guard ContinuousClock.now < end else { throw SetupFailure(description: "the manager's bus cannot be reached") }
      usleep(5000)
    }
  }

  private static func isListenedTo(_ path: String) -> Bool {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    return withUnixAddress(path) { connect(descriptor, $0, $1) } == 0
  }

  /// The command line prefix that runs a program as root in the manager's mount namespace, which has its `/run` and its journal.
  public var inside: [String] {
    (geteuid() == 0 ? [] : ["/usr/bin/sudo", "-n"]) + ["/usr/bin/nsenter", "--mount=/proc/\(processID)/ns/mnt", "--"]
  }

  deinit { supervised.end() }
}
