import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import TestSupport
import Testing

// The hardening of navd's unit, since an option without effect is worse than none: each option is tried in a user manager with an
// action that it forbids, and with navd.

private typealias Rows = CoordinatorInterface

/// A program that tries every action that navd's unit forbids, one on each line, and prints the outcome.
private let probe = #"""
  import ctypes, mmap, os, resource, socket, sys, tempfile
  libc = ctypes.CDLL(None, use_errno=True)
  def attempt(name, body):
      try:
          body()
          print(name, "done", flush=True)
      except OSError as error:
          print(name, os.strerror(error.errno), flush=True)
  def call(result):
      if result == -1:
          raise OSError(ctypes.get_errno(), "")
  directory = tempfile.mkdtemp()
  path = directory + "/file"
  os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o666))
  print("umask", oct(os.stat(path).st_mode & 0o777), flush=True)
  print("files", resource.getrlimit(resource.RLIMIT_NOFILE), flush=True)
  with open("/proc/self/status") as status:
      print(*[line.split()[1] for line in status if line.startswith("NoNewPrivs")], flush=True)
  attempt("unix", lambda: socket.socket(socket.AF_UNIX).close())
  attempt("inet", lambda: socket.socket(socket.AF_INET).close())
  attempt("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close())
  attempt("code", lambda: mmap.mmap(-1, 4096, prot=7).close())
  attempt("personality", lambda: call(libc.personality(0x0040000)))
  attempt("realtime", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
  attempt("set-user-id", lambda: os.chmod(path, 0o4755))
  attempt("change-owner", lambda: os.chown(path, os.getuid(), os.getgid()))
  attempt("trace", lambda: call(libc.ptrace(0, 0, 0, 0)))
  attempt("namespace", lambda: call(libc.unshare(0x10000000)))
  os.unlink(path)
  os.rmdir(directory)
  """#

@Test(
  "Each hardening option of the unit forbids the action that it should forbid, and the same action works without it")
func hardening_options_haveEffect() throws {
  let session = try Session(starting: false, managed: true)
  try session.make("install", Session.noTexts)
  let installed = session.path(".local/share/systemd/user/navd.service.d/hardening.conf")
  let script = session.path("probe.py")
  try session.write(probe, to: "probe.py")
  func run(_ unit: String) throws -> [String: String] {
    let output = session.path(unit)
    try session.write(
      "[Service]\nType=oneshot\nExecStart=/usr/bin/python3 \(script)\nStandardOutput=file:\(output)\n", toUnit: unit)
    let start = try session.systemctl("start", unit)
    let journal = try session.journal(of: unit)
    #expect(start.exitCode == 0, "\(journal)")
    let lines = try session.run(program: "/bin/cat", [output]).lines
    return Dictionary(
      lines.map {
        let words = $0.split(separator: " ", maxSplits: 1).map(String.init)
        return (words[0], words.count > 1 ? words[1] : "")
      }, uniquingKeysWith: { $1 })
  }
  let free = try run("free.service")
  try session.write(
    try session.run(program: "/bin/cat", [installed]).outputText, toUnit: "hardened.service.d/hardening.conf")
  let hardened = try run("hardened.service")

  let refused = "Operation not permitted"
  for name in ["code", "namespace", "personality", "set-user-id", "change-owner", "trace"] {
    #expect(free[name] == "done", "\(name)")
    #expect(hardened[name] == refused, "\(name)")
  }
  for name in ["inet", "netlink"] {
    #expect(free[name] == "done", "\(name)")
    #expect(hardened[name] == "Address family not supported by protocol", "\(name)")
  }
  // Only root may do this, and on some machines not even root.
  #expect(hardened["realtime"] == refused)
  #expect(hardened["unix"] == "done")
  #expect(free["umask"] == "0o644" || free["umask"] == "0o664" || free["umask"] == "0o666")
  #expect(hardened["umask"] == "0o600")
  // This option is not available on every machine.
  let files = try #require(free["files"]?.split(separator: " ").last?.dropLast()).description
  #expect(hardened["files"] == "(1024, \(min(65536, Int(files) ?? 0)))")
  #expect(free["0"] == "" && hardened["1"] == "")

  // Without a cgroup with these controllers, the test only checks that systemd accepted the options.
  let limits = try session.systemctl("show", "-p", "MemoryHigh,MemoryMax,TasksMax", "hardened.service").lines
  #expect(Set(limits) == ["MemoryHigh=1073741824", "MemoryMax=1610612736", "TasksMax=16"])
}

extension Session {
  /// A field in `/proc/PID/status` of a process.
  fileprivate func status(_ field: String, of pid: pid_t) throws -> String? {
    try run(program: "/bin/cat", ["/proc/\(pid)/status"]).lines.first { $0.hasPrefix(field + ":") }
      .flatMap { $0.split(separator: "\t").last.map(String.init) }
  }
}

@Test("The hardened navd works, and the commands that it starts are not hardened")
func hardening_navdAsInstalled_worksAndDoesNotPassItOn() throws {
  let session = try Session(
    destinations: ["unit": "unit = \"navd-test-sleeper.service\"\n"], starting: false, managed: true)
  try session.make("install", Session.noTexts)
  try session.write("[Service]\nExecStart=/bin/sleep 600\n", toUnit: "navd-test-sleeper.service")
  // The command has an input and a result, which both use files of navd.
  let tell = "cat; grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status; ulimit -Hn; umask; exit 7"
  let (reason, result) = try session.ending(of: session.present("tell", "1", ["command": ["sh", "-c", tell].value]))
  #expect(reason == "closed")
  #expect(result["status"] == .int32(7))
  guard case .bytes(let bytes)? = result["output"] else {
    Issue.record("there is no output")
    return
  }
  let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  #expect(lines.first?.contains("\"binding\":\"tell\"") == true)
  #expect(lines.contains("NoNewPrivs:\t0") && lines.contains("Seccomp:\t0"), "\(lines)")
  #expect(!lines.contains("65536") && lines.last != "0077", "\(lines)")

  let navd = try #require(try session.navdProcess())
  #expect(try session.status("NoNewPrivs", of: navd) == "1")
  #expect(try session.status("Seccomp", of: navd) == "2")

  // navd reads the processes of clients (L3), starts units, and adopts everything after a crash (R2).
  let present = try session.installedNavctl("present", "fact", "1", "--", "sleep", "600")
  #expect(present.exitCode == 0, "\(present.errorText)")
  try session.present("unit", "1")
  try session.poll("the unit runs") { try session.isActive("navd-test-sleeper.service") }
  try session.poll("the command runs") { session.processes().map(\.binding) == ["fact"] }
  let shown = session.processes()
  let handles = try ["fact", "unit"].map { try session.call(Rows.get, $0).0 }
  kill(navd, SIGKILL)
  try session.poll("navd was started again") {
    let next = try session.navdProcess()
    return try next != nil && next != navd && session.isActive("navd.service")
  }
  #expect(try ["fact", "unit"].map { try session.call(Rows.get, $0).0 } == handles)
  #expect(session.processes() == shown)
  #expect(try session.installedNavctl("dismiss", "fact", "unit").exitCode == 0)
  try session.poll("both have ended") {
    try session.processes() == [] && !session.isActive("navd-test-sleeper.service")
  }

  // A command that navd itself has to start would be hardened, too, so it fails with an error.
  let unsayable = try session.present("bytes", "", ["command": [Array("echo".utf8), [0xFF]].value])
  let (failed, told) = try session.ending(of: unsayable)
  #expect(failed == "failed")
  let error = told["error"].flatMap { String(value: $0) } ?? ""
  #expect(error.hasPrefix("could not be started: the user manager accepts only UTF-8"), "\(error)")
  #expect(error.contains("hardening.conf"), "\(error)")
}

@Test("A navd that hangs is killed by its manager and started again, and its presentations are still there")
func watchdog_navdThatHangs_isStartedAgain() throws {
  let session = try Session(starting: false, managed: true)
  try session.make("install", Session.noTexts)
  // The unit is as installed, but with shorter timeouts.
  try session.write("[Service]\nWatchdogSec=1\nTimeoutAbortSec=1\n", toUnit: "navd.service.d/test.conf")
  let path = try session.present("fact", "1", ["command": ["sleep", "600"].value])
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  let shown = session.processes()
  let navd = try #require(try session.navdProcess())
  try session.poll("the status is reported") {
    try session.systemctl("status", "navd.service").outputText.contains("Status: \"1 presented or waiting, serial 2\"")
  }
  // The keep-alives go on for longer than the time of the watchdog, and navd is not restarted.
  func lastKeepAlive() throws -> UInt64? {
    try session.systemctl("show", "-p", "WatchdogTimestampMonotonic", "--value", "navd.service").lines.first.flatMap {
      UInt64($0)
    }
  }
  let first = try #require(try lastKeepAlive())
  try session.poll("navd has sent keep-alives for 1.5 seconds") { try lastKeepAlive() ?? 0 > first + 1_500_000 }
  #expect(try session.navdProcess() == navd)

  kill(navd, SIGSTOP)
  try session.poll("navd was started again") {
    let next = try session.navdProcess()
    return try next != nil && next != navd && session.isActive("navd.service")
  }
  #expect(try session.call(Rows.get, "fact").0 == path)
  #expect(session.processes() == shown)
  #expect(try session.systemctl("show", "-p", "NRestarts", "--value", "navd.service").lines == ["1"])
}

@Test("A navd that cannot run is not restarted forever")
func restart_navdThatFailsRepeatedly_isGivenUp() throws {
  let session = try Session(starting: false, managed: true)
  try session.make("install", Session.noTexts)
  let navd = session.path(".local/bin/navd")
  try session.write(
    "[Service]\nExecStart=\nExecStart=\(navd) --state-directory=/nowhere/at/all\n", toUnit: "navd.service.d/test.conf")
  #expect(try session.systemctl("start", "navd.service").exitCode != 0)
  try session.poll("systemd gives up") {
    try session.systemctl("show", "-p", "SubState", "--value", "navd.service").lines == ["failed"]
  }
  let restarts = try session.systemctl("show", "-p", "NRestarts", "--value", "navd.service").lines.first
  #expect(restarts.flatMap { Int($0) } == 10)
  // If navctl did not look at systemd's state, it would wait for the bus for half a minute.
  let remedy = "run: systemctl --user reset-failed navd"
  let present = try session.installedNavctl("present", "--state", "fact", "--within", "10")
  #expect(present.exitCode == 8 && present.errorText.contains(remedy), "\(present.errorText)")
  let doctor = try session.installedNavctl("doctor")
  #expect(doctor.outputText.contains(remedy), "\(doctor.outputText)")
  // navd can be started again after the mistake is corrected.
  try session.write("", toUnit: "navd.service.d/test.conf")
  #expect(try session.systemctl("reset-failed", "navd.service").exitCode == 0)
  #expect(try session.systemctl("start", "navd.service").exitCode == 0)
  #expect(try session.installedNavctl("present", "--state", "fact").exitCode == 0)
}
