import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import TestSupport
import Testing
import TextFormats

// Commands as services of a real user manager: starts, ends, restarts, and managers that are re-executed or killed (D3, R2).

private typealias Rows = CoordinatorInterface

private func shell(_ script: String) -> Properties { ["command": ["sh", "-c", script].value] }

extension Properties {
  fileprivate func text(_ name: String) -> String? { self[name].flatMap { String(value: $0) } }
  fileprivate var output: String? {
    guard case .bytes(let bytes)? = self["output"] else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension Session {
  fileprivate func unit(of binding: String) throws -> String? { try call(Rows.get, binding).1.text("unit") }

  /// The units that navd has started, as systemctl lists them.
  fileprivate func services() throws -> [String] {
    try systemctl("list-units", "--all", "--plain", "--no-legend", "app-navd-*").lines
      .compactMap { $0.split(separator: " ").first.map(String.init) }
  }
}

@Test("D3: with a user manager a command is a service, named after its presentation, with a journal")
func service_ofACommand_isNamedAndKeepsAJournal() throws {
  let session = try Session(managed: true)
  try session.wait("navd logs the manager") {
    session.navd?.errorText.contains("commands run as services of the user manager, systemd 2") == true
  }
  let path = try session.present(
    "notes[3].a-b", "1", shell("echo ready >>$NAVD_TEST_JOURNAL; while echo told >&2; do sleep 0.1; done"))
  try session.wait("it runs") { session.journalLines == ["ready"] }
  let number = try #require(CoordinatorNames.number(of: path))
  let unit = #"app-navd-notes\x5b3\x5d.a\x2db@\#(number).service"#
  #expect(try session.unit(of: "notes[3].a-b") == unit)
  try session.poll("the process is known") {
    let pids = session.processes().filter { $0.name == "sh" }.map { Int128($0.pid) }
    return try session.call(Rows.get, "notes[3].a-b").1["pid"]?.integer.map(pids.contains) == true
  }
  let shown = try session.navctl("show", "notes[3].a-b")
  #expect(shown.outputText.contains(unit), "\(shown.outputText)")
  let properties = try session.systemctl("show", "-p", "Slice,Description,KillMode,ExitType", unit).lines
  #expect(
    Set(properties) == [
      "Slice=app.slice", "Description=navd: notes[3].a-b 1", "KillMode=control-group", "ExitType=cgroup",
    ])
  try session.dismiss("notes[3].a-b")
  let (reason, result) = try session.ending(of: path)
  #expect(reason == "dismissed")
  #expect(result["signal"] == .string("SIGTERM"))
  try session.poll("the journal contains its errors") { try session.journal(of: unit).contains("told") }
  #expect(try session.services() == [])
}

@Test("D3, D6: a service receives its item and returns its output and status, as a process does")
func service_ofACommand_outputsTheItemItReceived() throws {
  let session = try Session(
    destinations: [
      "tell": """
      command = ["sh", "-c", 'cat; echo "$NAVD_BINDING $NAVD_ID $NAVD_PRESENTATION $MORE $0 $1 $2 $(pwd)"; exit 7', "{id}", "{binding}", "<{value.text}>"]
      """
    ], managed: true)
  let text = "$HOME ${HOME} %n %%\n\"x\" ; \\"
  let path = try session.present(
    "notes[3].body", "n 1",
    [
      "destination": .string("tell"), "directory": .string("/usr"),
      "environment": ["MORE": "$HOME %n\n\"more\""].value, "value": ["text": Value.string(text)].value,
    ])
  let (reason, result) = try session.ending(of: path)
  #expect(reason == "closed")
  #expect(result["status"] == .int32(7))
  let number = try #require(CoordinatorNames.number(of: path))
  let output = try #require(result.output)
  let line = try #require(output.firstIndex(of: "\n"))
  #expect(try JSON.parse(String(output[..<line]))["value"]?["text"]?.string == text)
  #expect(
    output[line...].dropFirst()
      == "notes[3].body n 1 \(number) $HOME %n\n\"more\" n 1 notes[3].body <\(text)> /usr\n")

  let short = try session.ending(of: session.present("a", "", shell("printf out; printf err >&2")))
  #expect(short.result.output == "out")
  let long = try session.ending(of: session.present("b", "", shell("yes | head -c 300000; exit 0")))
  #expect(long.result["output-truncated"] == .boolean(true))
  #expect(long.result["status"] == .int32(0))
  // The unit and its files are gone after the end.
  #expect(try session.services() == [])
  try session.poll("its output files are removed") {
    try session.run(program: "/bin/ls", [session.bus.directory + "/navd"]).lines
      .allSatisfy { $0.hasPrefix("record.") }
  }
}

@Test("D3: a service has the session's environment variables, but not those meant for navd alone")
func service_environment_isTheSessions() throws {
  let session = try Session(starting: false, managed: true)
  session.environment["FROM_NAVD"] = "yes"
  session.environment["BASH_FUNC_f%%"] = "() { :; }"
  session.environment["NOTIFY_SOCKET"] = "/nowhere"
  try session.start()
  let script = "env; ls /proc/self/fd | tr '\\n' ' '; echo; grep -E '^Sig(Blk|Ign)' /proc/self/status"
  let output = try #require(try session.ending(of: session.present("fact", "1", shell(script))).result.output)
  let lines = output.split(separator: "\n").map(String.init)
  #expect(lines.contains("FROM_NAVD=yes"))
  #expect(lines.contains("HOME=\(session.path(""))") || lines.contains("HOME=\(session.path("").dropLast())"))
  #expect(lines.contains("NAVD_BINDING=fact"))
  #expect(lines.contains { $0.hasPrefix("INVOCATION_ID=") })
  #expect(!lines.contains { $0.hasPrefix("NOTIFY_SOCKET=") || $0.hasPrefix("BASH_FUNC") })
  // Descriptor 3 is the directory that ls reads.
  #expect(lines.contains("0 1 2 3 "), "\(lines)")
  for name in ["SigBlk", "SigIgn"] {
    let line = try #require(lines.first { $0.hasPrefix(name) })
    let mask = try #require(line.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) })
    // The C library ignores its own two signals (32 and 33) in every process that it spawns.
    #expect(mask & ~0x1_8000_0000 == 0, "\(line)")
  }
}

@Test(
  "D3: a service that exits with 0 or 3 or ends by a signal ends its presentation once, with the right reason and status",
  arguments: [
    ("exit 0", "closed", 0, nil), ("exit 3", "closed", 3, nil), ("kill -SEGV $$", "failed", nil, "SIGSEGV"),
    ("kill -TERM $$", "failed", nil, "SIGTERM"), ("sleep 0.1; exit 203", "closed", 203, nil),
    ("exit 200", "closed", 200, nil), ("exit 203", "closed", 203, nil), ("exit 219", "closed", 219, nil),
  ] as [(String, String, Int32?, String?)])
func service_end_isAnnouncedOnce(script: String, reason: String, status: Int32?, signal: String?) throws {
  let session = try Session(managed: true)
  let watcher = try session.watch()
  let (said, result) = try session.ending(of: session.present("fact", "1", shell(script)))
  #expect(said == reason)
  #expect(result["status"].flatMap { Int32(value: $0) } == status)
  #expect(result.text("signal") == signal)
  #expect(watcher.lines == ["phase fact 1 presenting", "presented fact 1", "dismissed fact 1 \(reason)"])
  #expect(try session.call(Rows.get, "fact").0 == .root)
}

@Test("D3: a service whose program erases its environment, as Chromium does, is presented")
func service_thatErasesItsEnvironment_isPresented() throws {
  let session = try Session(managed: true)
  let path = try session.present("fact", "1", ["command": ["perl", "-e", "$0 = 'renamed'; sleep 1000"].value])
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
}

@Test("D3: a service is presented until the last of its processes has ended, and a dismissal ends all of them")
func service_ofATree_isThatOfItsLast() throws {
  let session = try Session(managed: true)
  // Only their cgroup leads to these processes: they have another session, environment and parent.
  let leaving = "(env -i setsid sh -c 'echo $$; exec sleep 60' & ) ; (env -i setsid sleep 60 &); exit 5"
  let path = try session.present("fact", "", shell(leaving))
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  let unit = try #require(try session.unit(of: "fact"))
  func processes() throws -> [String] {
    try session.systemctl("show", "-p", "MainPID,TasksCurrent,ControlGroup,ExecMainStatus", unit).lines
  }
  try session.poll("its first process has ended") { try processes().contains("ExecMainStatus=5") }
  #expect(try session.call(Rows.get, "fact").0 == path)
  let group = try #require(try processes().first { $0.hasPrefix("ControlGroup=") }?.dropFirst("ControlGroup=".count))
  let listing = "cat /sys/fs/cgroup/*\(group)/cgroup.procs /sys/fs/cgroup\(group)/cgroup.procs 2>/dev/null | sort -u"
  let left = try session.run(program: "/bin/sh", ["-c", listing]).lines.compactMap { pid_t($0) }
  #expect(left.count == 2)

  try session.dismiss("fact")
  let (reason, result) = try session.ending(of: path)
  #expect(reason == "dismissed")
  #expect(result["status"] == .int32(5))
  #expect(left.allSatisfy { kill($0, 0) != 0 })

  // This also holds if the first process has ended before anybody waits for it.
  let other = try session.present("fact", "", shell("sleep 60 & exit 3"))
  #expect(try session.call(Rows.wait, (other, "presented")).0 == "")
  try session.poll("the sleeper is left") { session.processes().map(\.name) == ["sleep"] }
  for process in session.processes() { kill(process.pid, SIGKILL) }
  let (otherReason, otherResult) = try session.ending(of: other)
  #expect(otherReason == "closed")
  #expect(otherResult["status"] == .int32(3))
}

@Test("A command that is not valid UTF-8 cannot be sent over the bus, so navd starts it itself")
func service_ofBytesThatAreNoText_isAProcess() throws {
  let session = try Session(managed: true)
  let command: [[UInt8]] = [Array("sh".utf8), Array("-c".utf8), Array("printf %s \"$1\"".utf8), [0x78], [0xFF, 0x41]]
  let (reason, result) = try session.ending(of: session.present("fact", "1", ["command": command.value]))
  #expect(reason == "closed")
  #expect(result["output"] == .bytes([0xFF, 0x41]))
}

@Test(
  "A command in a directory whose name has a newline is started by navd itself, since the newline could add a setting to the service"
)
func service_ofADirectoryWithANewline_isAProcess() throws {
  let session = try Session(managed: true)
  let name = "a\nExecStopPost=none"
  try #require(mkdir(session.path(name), 0o755) == 0)
  let path = try session.present(
    "a", "", shell("pwd").merging(["directory": .string(session.path(name))]) { $1 })
  let (reason, result) = try session.ending(of: path)
  #expect(reason == "closed" && result["unit"] == nil)
  #expect(result["output"] == .bytes(Array("\(session.path(name))\n".utf8)))
  #expect(try session.services() == [])
}

@Test("D3: the manager reads a service's own settings back, so that a running service stays as it is")
func service_afterAReloadOfTheManager_isLoaded() throws {
  let session = try Session(managed: true)
  try session.write("[Service]\nTasksMax=99\n", toUnit: "app-navd-fact@.service.d/tasks.conf")
  let script = #"echo "$HOME \$\$ %n ; \"\\"; while echo told >&2; do sleep 0.1; done"#
  let path = try session.present("fact", "1", shell("true '\(script)'; exec sleep 60"))
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  let unit = try #require(try session.unit(of: "fact"))
  func settings() throws -> [String] {
    try session.systemctl("show", "-p", "LoadState,ActiveState,ExitType,KillMode,LimitLOCKSSoft,TasksMax", unit).lines
      .sorted()
  }
  let before = try settings()
  #expect(
    before.contains("LoadState=loaded") && before.contains("ActiveState=active") && before.contains("TasksMax=99"),
    "\(before)")
  #expect(try session.systemctl("daemon-reload").exitCode == 0)
  #expect(try settings() == before)
  try session.dismiss("fact")
  #expect(try session.ending(of: path).result["signal"] == .string("SIGTERM"))
}

@Test(
  "R2: a service with the name of a command is neither adopted nor ended if a navd with another record has started it")
func service_ofAnotherRecord_isLeftAlone() throws {
  let session = try Session(managed: true)
  func present() throws -> ObjectPath {
    let path = try session.present("fact", "1", shell("exec sleep 60"))
    #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
    return path
  }
  _ = try present()
  let unit = try #require(try session.unit(of: "fact"))
  #expect(try session.stop(SIGKILL) == .signaled(signal: SIGKILL))
  // The navd of the other record uses the number again, and starts the command itself, since the unit exists.
  let other = ["--state-directory", session.path("other")]
  try session.start(other)
  let path = try present()
  #expect(try session.unit(of: "fact") == nil)
  #expect(try session.stop(SIGKILL) == .signaled(signal: SIGKILL))
  try session.start(other)
  #expect(try session.call(Rows.get, "fact").0 == path)
  #expect(try session.unit(of: "fact") == nil)
  try session.dismiss("fact")
  #expect(try session.ending(of: path).reason == "dismissed")
  #expect(try session.isActive(unit))
}

@Test("D3: a process that moves to a scope of its own still belongs to its command, by descent")
func service_whoseProcessesMoveToAScope_isAlsoTheseProcesses() throws {
  let session = try Session(managed: true)
  let move = "systemd-run --user --scope -q --unit navd-test-moved.scope sleep 60"
  // The service itself has ended, and the item goes on.
  let path = try session.present("fact", "1", shell("\(move) & wait; exit 5"))
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  try session.poll("the sleeper has moved, and runs") {
    try session.isActive("navd-test-moved.scope") && session.processes().contains { $0.name == "sleep" }
  }
  let unit = try #require(try session.unit(of: "fact"))
  #expect(try session.systemctl("kill", "--signal=KILL", unit).exitCode == 0)
  try session.poll("the service has ended") { try !session.isActive(unit) }
  #expect(try session.call(Rows.get, "fact").0 == path)
  let sleeper = try #require(session.processes().first { $0.name == "sleep" })
  kill(sleeper.pid, SIGKILL)
  let (reason, result) = try session.ending(of: path)
  #expect(reason == "failed")
  #expect(result["signal"] == .string("SIGKILL"))

  // A dismissal ends these processes, whether or not the service still runs.
  for script in ["\(move) & exec sleep 50", "exec \(move)"] {
    let path = try session.present("fact", "", shell(script))
    #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
    try session.poll("the sleeper has moved, and runs") {
      try session.isActive("navd-test-moved.scope") && session.processes().contains { $0.name == "sleep" }
    }
    try session.dismiss("fact")
    #expect(try session.ending(of: path).reason == "dismissed")
    try session.poll("the scope has ended") { try !session.isActive("navd-test-moved.scope") }
    #expect(session.processes() == [])
  }
}

@Test("Services survive a re-execution of the user manager, and their ends are noticed")
func service_duringReexecutionOfTheManager_continues() throws {
  let session = try Session(destinations: ["fact": JournaledCommand.destination(endingAfter: 0)], managed: true)
  let path = try session.present("fact", "1")
  let other = try session.present("other", "1", ["destination": .string("fact")])
  try session.wait(for: "start 1", of: "fact")
  try session.wait(for: "start 1", of: "other")
  #expect(try session.systemctl("daemon-reexec").exitCode == 0)
  try session.poll("the manager is back") { try session.systemctl("is-active", "dbus.service").exitCode == 0 }
  try session.dismiss("fact")
  #expect(try session.ending(of: path).reason == "dismissed")
  try session.wait(for: "end 1", of: "fact")
  let process = try #require(session.processes().first { $0.binding == "other" })
  kill(process.pid, SIGKILL)
  #expect(["failed", "closed"].contains(try session.ending(of: other).reason))
  let next = try session.present("fact", "2")
  try session.wait(for: "start 2", of: "fact")
  try session.dismiss("fact")
  #expect(try session.ending(of: next).reason == "dismissed")
}

/// Commands that are presented and dismissed without a pause, one after the other at each of some bindings.
private final class CommandLoad {
  private let session: Session
  private var isStopped = false
  /// The number of commands that are under way.
  private var open = 0
  /// The number of commands that were on the screen.
  private(set) var shown = 0
  private(set) var faults: [String] = []

  private static let command = shell("echo $NAVD_BINDING $NAVD_ID >>$NAVD_TEST_JOURNAL; exec sleep 600")

  init(_ session: Session, bindings: Int) {
    self.session = session
    for number in 0..<bindings { start("load[\(number)]", 0) }
  }

  /// Presents a command, dismisses it when it is on the screen, and starts the next one when it has ended.
  private func start(_ binding: String, _ id: Int) {
    guard !isStopped else { return }
    open += 1
    let name = "\(binding) \(id)"
    call(Rows.present, (binding, "\(id)", Self.command), for: name) { [unowned self] path, _, _, _ in
      call(Rows.wait, (path, "presented"), for: name) { [unowned self] reason, result in
        if reason.isEmpty { shown += 1 } else { faults.append("\(name) ended: \(reason) \(result)") }
        call(Rows.dismiss, (binding, [:]), for: name) { [unowned self] _, _ in
          call(Rows.wait, (path, "gone"), for: name) { [unowned self] reason, result in
            if reason != "dismissed" { faults.append("\(name) ended: \(reason) \(result)") }
            open -= 1
            start(binding, id + 1)
          }
        }
      }
    }
  }

  private func call<Input, Output>(
    _ method: Method<Input, Output>, _ input: Input, for command: String, then: @escaping (Output) -> Void
  ) {
    session.client.call(
      method, on: CoordinatorNames.bus, at: CoordinatorNames.object, input, timeout: nil
    ) { [unowned self] result in
      switch result {
      case .success(let output): then(output)
      case .failure(let error):
        faults.append("\(method.name) \(command): \(error)")
        open -= 1
      }
    }
  }

  /// Waits until a number of commands were on the screen, or a fault was found.
  func wait(for count: Int) throws {
    try session.wait("the load runs") { shown >= count || !faults.isEmpty }
  }

  /// Starts no more commands, and waits until all have ended.
  func stop() throws {
    isStopped = true
    try session.wait("the load has ended") { open == 0 }
  }
}

@Test(
  "Commands that start and end while the user manager reads its units again run unchanged, and once",
  arguments: ["daemon-reexec", "daemon-reload"])
func services_duringReloadsUnderLoad_startAndEndOnce(_ verb: String) throws {
  let session = try Session(managed: true)
  let load = CommandLoad(session, bindings: 8)
  for round in 1...reexecutions {
    try load.wait(for: 20 * round)
    let reexecution = try session.start(program: "/usr/bin/systemctl", ["--user", verb])
    try session.wait("the manager has read its units") { reexecution.hasEnded }
    #expect(reexecution.exitCode == 0, "\(reexecution.errorText)")
  }
  try load.stop()
  // A start that the manager accepted just before may be lost with it; its item ends as failed, and says so.
  #expect(load.faults.filter { !$0.contains("could not be started (success)") } == [])
  let starts = session.journalLines
  #expect(Set(starts).count == starts.count)
  #expect(try session.state()["presentations"]?.array == [])
  try session.poll("no process is left") { session.processes().isEmpty }
  #expect(try session.services() == [])
  print("\(load.shown) commands were shown during \(reexecutions) times \(verb)")
}

@Test("When the user manager is killed, navd continues and manages its running services itself")
func service_afterTheManagerWasKilled_isManagedByNavd() throws {
  let session = try Session(destinations: ["fact": JournaledCommand.destination(endingAfter: 0)], managed: true)
  let manager = try #require(session.manager)
  let path = try session.present("fact", "1")
  let other = try session.present("other", "1", ["destination": .string("fact")])
  try session.wait(for: "start 1", of: "fact")
  try session.wait(for: "start 1", of: "other")
  kill(manager.processID, SIGKILL)
  try session.wait("navd has noticed") {
    session.navd?.errorText.contains("commands run as processes of navd's own") == true
  }
  try session.dismiss("fact")
  #expect(try session.ending(of: path).reason == "dismissed")
  #expect(session.commandLog(of: "fact") == ["start 1", "term 1", "end 1"])
  // The end of a service by itself is noticed, too.
  let process = try #require(session.processes().first { $0.binding == "other" })
  kill(process.pid, SIGTERM)
  #expect(try session.ending(of: other).reason == "closed")
  let next = try session.present("fact", "2")
  try session.wait(for: "start 2", of: "fact")
  try session.dismiss("fact")
  #expect(try session.ending(of: next).reason == "dismissed")
}

/// The number of times that the manager is re-executed under load.
private var reexecutions: Int { getenv("NAVD_TEST_REEXECUTIONS").flatMap { Int(String(cString: $0)) } ?? 3 }

/// The number of services that run when the manager is killed; `NAVD_TEST_SERVICES=300` measures a large session.
private var services: Int { getenv("NAVD_TEST_SERVICES").flatMap { Int(String(cString: $0)) } ?? 20 }

@Test("The user manager is killed while many services run: navd keeps all of them, and answers meanwhile")
func services_afterTheManagerWasKilled_areKeptTogether() throws {
  let session = try Session(managed: true)
  let manager = try #require(session.manager)
  var paths: [ObjectPath] = []
  // The services start in portions, since the manager may need longer than the start timeout for hundreds.
  while paths.count < services {
    let more = try (paths.count..<min(paths.count + 50, services)).map {
      try session.present("fact[\($0)]", "", ["command": ["sleep", "600"].value])
    }
    for path in more { #expect(try session.call(Rows.wait, (path, "presented")).0 == "") }
    paths += more
  }
  kill(manager.processID, SIGKILL)
  // navd takes over the services when the manager has been away for 5 s.
  var longest = Duration.zero
  let end = session.loop.now + .seconds(300)
  var isService = true
  while isService {
    let start = session.loop.now
    try #require(start < end)
    isService = try session.unit(of: "fact[0]") != nil
    longest = max(longest, session.loop.now - start)
  }
  print("\(services) services handed over; the longest wait for an answer was \(longest / .milliseconds(1)) ms")
  #expect(try (0..<services).allSatisfy { try session.call(Rows.get, "fact[\($0)]").0 == paths[$0] })
  let pids = try session.state()["presentations"]?.array?.compactMap { $0["pid"]?.unsigned }
  #expect(Set(pids ?? []) == Set(session.processes().map { UInt64($0.pid) }))
  let honest = try HonestClient(session)
  let start = session.loop.now
  let dismissing = try honest.times {
    let (count, _) = try session.call(Rows.dismissAll, ["all": .boolean(true)])
    #expect(count >= services)
    for path in paths { #expect(try session.ending(of: path).reason == "dismissed") }
  }
  print("dismissed in \(session.loop.now - start); the longest wait for an answer was \(dismissing.longest)")
  try honest.stop(session)
  #expect(session.processes() == [])
}

@Test("Without a user manager, navd logs it and starts commands as processes")
func service_withoutAManager_isAProcess() throws {
  let session = try Session()
  try session.wait("navd logs that there is no manager") {
    session.navd?.errorText.contains("commands run as processes of navd's own; the bus has no user manager") == true
  }
  try session.present("fact", "1", shell("exec sleep 60"))
  #expect(try session.call(Rows.get, "fact").1["unit"] == nil)
}
