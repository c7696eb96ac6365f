// Why this file exists: an option of a unit that has no effect is worse than none, and one that breaks navd, too; so each
// is tried in a user manager, with what it forbids and with navd.

import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import TestSupport
import Testing

private typealias Rows = CoordinatorInterface

/// Does what navd's unit forbids, each at its line, and says what came of it.
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

@Test("The unit's hardening: what each of its options forbids is forbidden, and was not without it")
func hardening_options_haveEffect() throws {
  let session = try Session(starting: false, managed: true)
  try session.make("install")
  let installed = session.path(".local/share/systemd/user/navd.service.d/hardening.conf")
  let script = session.path("probe.py")
  let file = try #require(fopen(script, "w"))
  fputs(probe, file)
  fclose(file)
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
  // A user other than root may not do that anyway; nor may some machines' root.
  #expect(hardened["realtime"] == refused)
  #expect(hardened["unix"] == "done")
  #expect(free["umask"] == "0o644" || free["umask"] == "0o664" || free["umask"] == "0o666")
  #expect(hardened["umask"] == "0o600")
  // A machine may have less anyway.
  let files = try #require(free["files"]?.split(separator: " ").last?.dropLast()).description
  #expect(hardened["files"] == "(1024, \(min(65536, Int(files) ?? 0)))")
  #expect(free["0"] == "" && hardened["1"] == "")

  // Of these it takes a cgroup with the controllers to see more than that they are taken.
  let limits = try session.systemctl("show", "-p", "MemoryHigh,MemoryMax,TasksMax", "hardened.service").lines
  #expect(Set(limits) == ["MemoryHigh=1073741824", "MemoryMax=1610612736", "TasksMax=16"])
}

extension Session {
  /// A field of a process's `/proc/PID/status`.
  fileprivate func status(_ field: String, of pid: pid_t) throws -> String? {
    try run(program: "/bin/cat", ["/proc/\(pid)/status"]).lines.first { $0.hasPrefix(field + ":") }
      .flatMap { $0.split(separator: "\t").last.map(String.init) }
  }
}

@Test("The hardened navd does all its work, and what it starts is not hardened")
func hardening_navdAsInstalled_worksAndHandsNothingDown() throws {
  let session = try Session(
    destinations: ["unit": "unit = \"navd-test-sleeper.service\"\n"], starting: false, managed: true)
  try session.make("install")
  try session.write("[Service]\nExecStart=/bin/sleep 600\n", toUnit: "navd-test-sleeper.service")
  // A command, and what it is told and answers: its FIFO, its file in memory.
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

  // The clients' processes are looked at for L3, units are started, and all of it is adopted after a crash (R2).
  let present = try session.installedNavctl("present", "fact", "1", "--", "sleep", "600")
  #expect(present.exitCode == 0, "\(present.errorText)")
  try session.present("unit", "1")
  try session.poll("the unit runs") { try session.isActive("navd-test-sleeper.service") }
  try session.poll("the command runs") { session.processes().map(\.binding) == ["fact"] }
  let shown = session.processes()
  let handles = try ["fact", "unit"].map { try session.call(Rows.get, $0).0 }
  kill(navd, SIGKILL)
  try session.poll("it was started again") {
    let next = try session.navdProcess()
    return try next != nil && next != navd && session.isActive("navd.service")
  }
  #expect(try ["fact", "unit"].map { try session.call(Rows.get, $0).0 } == handles)
  #expect(session.processes() == shown)
  #expect(try session.installedNavctl("dismiss", "fact", "unit").exitCode == 0)
  try session.poll("both are gone") {
    try session.processes() == [] && !session.isActive("navd-test-sleeper.service")
  }

  // What navd itself would have to start would be hardened, too; that has failed, and says why.
  let unsayable = try session.present("bytes", "", ["command": [Array("echo".utf8), [0xFF]].value])
  let (failed, told) = try session.ending(of: unsayable)
  #expect(failed == "failed")
  let error = told["error"].flatMap { String(value: $0) } ?? ""
  #expect(error.hasPrefix("the user manager accepts only UTF-8"), "\(error)")
  #expect(error.contains("hardening.conf"), "\(error)")
}

@Test("A navd that hangs is ended by its manager and started again, and what was presented is there")
func watchdog_navdThatHangs_isStartedAgain() throws {
  let session = try Session(starting: false, managed: true)
  try session.make("install")
  // As installed, but for people who wait less long.
  try session.write("[Service]\nWatchdogSec=1\nTimeoutAbortSec=1\n", toUnit: "navd.service.d/test.conf")
  let path = try session.present("fact", "1", ["command": ["sleep", "600"].value])
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  let shown = session.processes()
  let navd = try #require(try session.navdProcess())
  try session.poll("its status is told") {
    try session.systemctl("status", "navd.service").outputText.contains("Status: \"1 presented or waiting, serial 2\"")
  }
  // It is not ended while it is well: after more than the watchdog's time it is the same.
  let end = session.loop.now + .milliseconds(1500)
  try session.poll("more than a second goes by") { session.loop.now > end }
  #expect(try session.navdProcess() == navd)

  kill(navd, SIGSTOP)
  try session.poll("it was started again") {
    let next = try session.navdProcess()
    return try next != nil && next != navd && session.isActive("navd.service")
  }
  #expect(try session.call(Rows.get, "fact").0 == path)
  #expect(session.processes() == shown)
  #expect(try session.systemctl("show", "-p", "NRestarts", "--value", "navd.service").lines == ["1"])
}

@Test("A navd that cannot run is not started for ever")
func restart_navdThatFallsAgainAndAgain_isLeftAlone() throws {
  let session = try Session(starting: false, managed: true)
  try session.make("install")
  let navd = session.path(".local/bin/navd")
  try session.write(
    "[Service]\nExecStart=\nExecStart=\(navd) --state-directory=/nowhere/at/all\n", toUnit: "navd.service.d/test.conf")
  #expect(try session.systemctl("start", "navd.service").exitCode != 0)
  try session.poll("it is left alone") {
    try session.systemctl("show", "-p", "SubState", "--value", "navd.service").lines == ["failed"]
  }
  let restarts = try session.systemctl("show", "-p", "NRestarts", "--value", "navd.service").lines.first
  #expect(restarts.flatMap { Int($0) } == 10)
  // Mended, and told so, it is there again.
  try session.write("", toUnit: "navd.service.d/test.conf")
  #expect(try session.systemctl("reset-failed", "navd.service").exitCode == 0)
  #expect(try session.systemctl("start", "navd.service").exitCode == 0)
  #expect(try session.installedNavctl("present", "fact").exitCode == 0)
}
