import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// The verbs of navctl that change the state: what they print, and their exit statuses.

private typealias Rows = CoordinatorInterface

extension Program {
  /// The output of the program, parsed as one JSON value.
  var json: JSON? { try? JSON.parse(outputText) }
}

@Test("navctl present prints nothing, the number with -v, and the whole result with --json")
func navctl_present_reportsItsResult() throws {
  let session = try Session()
  let first = try session.navctl(
    "present", "--state", "fact", "1", "--title", "T", "--value", "a=1", "--value", "b:=[1,2.5,true]")
  #expect(first.exitCode == 0)
  #expect(first.outputText == "" && first.errorText == "")
  let item = try session.call(Rows.get, "fact").1
  #expect(item["id"] == .string("1"))
  #expect(item["title"] == .string("T"))
  #expect(
    item["value"].flatMap { Properties(value: $0) }
      == ["a": .string("1"), "b": [Value.int64(1), .double(2.5), .boolean(true)].value])

  let again = try session.navctl("present", "--state", "fact", "1", "--json")
  #expect(again.exitCode == 0)
  #expect(again.outputText == "{\"changed\":false,\"presentation\":1,\"serial\":1}\n")
  let other = try session.navctl("--json", "present", "--state", "fact", "2")
  #expect(other.json == ["changed": true, "presentation": 2, "serial": 3])
  #expect(try session.navctl("present", "--state", "note", "-v").outputText == "3\n")
  #expect(try session.navctl("present", "--state", "note", "-q", "--json").outputText == "")
  #expect(try session.navctl("present", "--state", "note", "--style", "sheet", "--json").json?["changed"] == true)
}

@Test("navctl present -- COMMAND runs it with navctl's directory and the session's variables")
func navctl_presentCommand_runsItHere() throws {
  let session = try Session()
  session.environment["WAYLAND_DISPLAY"] = "wayland-7"
  let run = try session.navctl(
    "present", "fact", "--wait", "--", "sh", "-c", "echo \"$WAYLAND_DISPLAY\"; pwd; echo \"$@\"", "sh", "{id}", "a b")
  #expect(run.exitCode == 0)
  let lines = run.lines
  #expect(lines.first == "wayland-7")
  var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
  getcwd(&buffer, buffer.count)
  #expect(lines.dropFirst().first == buffer.withUnsafeBufferPointer { String(cString: $0.baseAddress!) })
  // Placeholders are not replaced in a command of a request.
  #expect(lines.last == "{id} a b")
}

@Test("navctl toggle, update, dismiss and closed change the state")
func navctl_changingVerbs_changeTheState() throws {
  let session = try Session()
  #expect(
    try session.navctl("toggle", "--state", "fact", "--json").json == [
      "changed": true, "presented": true, "presentation": 1, "serial": 1,
    ])
  #expect(
    try session.navctl("toggle", "--state", "fact", "--json").json == [
      "changed": true, "presented": false, "serial": 2,
    ])
  // Any item is dismissed without an id; another item is replaced with one.
  try session.present("fact", "x")
  #expect(try session.navctl("toggle", "--state", "fact", "y").exitCode == 0)
  #expect(try session.call(Rows.get, "fact").1["id"] == .string("y"))
  #expect(try session.navctl("toggle", "--state", "fact").exitCode == 0)
  #expect(try session.call(Rows.get, "fact").0 == .root)

  let path = try session.present("fact", "", ["value": ["a": Value.int64(1), "b": .int64(2)].value])
  #expect(try session.navctl("update", "fact", "b:=3", "c=x", "--remove", "a", "--json").json?["changed"] == true)
  #expect(
    try session.call(Rows.get, "fact").1["value"].flatMap { Properties(value: $0) } == [
      "b": .int64(3), "c": .string("x"),
    ])
  #expect(try session.navctl("update", "fact", "b:=3").exitCode == 0)

  let wait = session.begin(Rows.wait, (path, "gone"))
  #expect(try session.navctl("closed", path.text, "answer=yes", "--json").json?["changed"] == true)
  let (reason, result) = try session.answer(to: wait)
  #expect(reason == "closed")
  #expect(result == ["answer": .string("yes"), "status-known": .boolean(false)])
  #expect(try session.navctl("closed", "\(CoordinatorNames.number(of: path) ?? 0)", "--json").json?["changed"] == false)

  for binding in ["a", "b", "c", "r.x", "r.y"] { try session.present(binding) }
  #expect(try session.navctl("dismiss", "a", "b", "nothing", "--json").json?["changed"] == true)
  #expect(try session.navctl("dismiss", "a").exitCode == 0)
  #expect(try session.navctl("dismiss", "--root", "r", "--json").json?["count"] == 2)
  #expect(try session.navctl("dismiss", "--all", "-v").outputText == "1\n")
  #expect(try session.state()["presentations"]?.array == [])
}

@Test("navctl: each kind of failure has its exit status and prints one line")
func navctl_failures_haveTheirExitStatuses() throws {
  let session = try Session(destinations: ["bad": "style = 3\n"])
  try session.present("fact", "1")
  try session.present("other", "", ["group": .string("g")])
  func check(_ code: Int32, _ word: String, _ arguments: String...) throws {
    let run = try session.run(program: Session.program("navctl"), arguments)
    #expect(run.exitCode == code, "\(arguments): \(run.errorText)")
    #expect(run.errorText.hasPrefix("navctl: "), "\(arguments): \(run.errorText)")
    #expect(run.errorText.contains(word), "\(arguments): \(run.errorText)")
    #expect(run.outputText == "", "\(arguments)")
  }
  try check(1, "bad.toml:1", "reload")
  try check(2, "notes[01]", "present", "notes[01]")
  try check(2, "nonsense", "nonsense")
  try check(2, "--valeu", "present", "fact", "--valeu", "a=1")
  try check(2, "binding", "present")
  try check(2, "dismiss it first", "present", "fact", "1", "--group", "g")
  try check(3, "note", "update", "note", "a=1")
  try check(3, "note", "show", "note")
  try check(3, "note", "wait", "note")
  try check(3, "nothing", "present", "--state", "note", "--from", "nothing")
  try check(4, "nowhere", "present", "note", "--to", "nowhere")
  try check(4, "99", "wait", "--presentation", "99")
  try check(4, "99", "closed", "99")
  try check(6, "expected-id", "dismiss", "fact", "--expected-id", "2")
  try check(6, "expected-presentation", "toggle", "fact", "--expected-presentation", "99")
  try check(6, "g", "present", "--state", "note", "--group", "g", "--if-busy", "refuse")
  try check(6, "limit", "present", "--state", "note", String(repeating: "x", count: 5000))
  #expect(try session.state()["serial"] == 4)

  session.navd?.send(SIGSTOP)
  try check(5, "navd did not answer in time", "present", "--state", "note", "-w", "0.2")
  try check(5, "in time", "list", "--within", "0.2")
  session.navd?.send(SIGCONT)

  try session.stop()
  try check(8, "navd is not running", "list")
  try check(8, "navd is not running", "present", "--state", "note")
  try check(8, "bus", "list", "--address", "unix:path=/nowhere")
  // Without navd, quit has nothing to do.
  #expect(try session.navctl("quit").exitCode == 0)
}

@Test("navctl: every verb that presents reports a program that cannot be started, with status 1")
func navctl_programThatCannotBeStarted_isReported() throws {
  let session = try Session(destinations: [
    "broken": "command = [\"no-such-program\"]\n", "sleeper": "command = [\"sleep\", \"60\"]\n",
  ])
  for arguments in [
    ["present", "fact", "--", "no-such-program"], ["present", "fact", "--to", "broken"], ["present", "broken"],
    ["toggle", "fact", "--to", "broken"], ["push", "main", "fact", "--to", "broken"],
    ["select", "g", "fact", "--to", "broken"], ["toggle-selection", "g", "fact", "--to", "broken"],
    ["toggle-selection", "g", "fact"],
  ] {
    let run = try session.run(program: Session.program("navctl"), arguments)
    #expect(run.exitCode == 1, "\(arguments)")
    let what = arguments.prefix(["present", "toggle"].contains(arguments[0]) ? 2 : 3).joined(separator: " ")
    #expect(
      run.errorText.hasPrefix("navctl: \(what): could not be started: no-such-program: not found in PATH ("),
      "\(arguments): \(run.errorText)"
    )
  }
  // The change itself is reported, too.
  let json = try session.navctl("present", "fact", "--json", "--", "/etc/passwd")
  #expect(json.exitCode == 1)
  #expect(json.json?["changed"] == true)
  #expect(
    json.errorText == "navctl: present fact: could not be started: /etc/passwd: cannot be executed: Permission denied\n"
  )

  // The history contains the failure.
  let last = try session.navctl("history", "-n", "1")
  let serial = try session.state()["serial"]?.text ?? ""
  #expect(last.outputText.contains("\tfailed\t\t\(serial)\titself\t\t"), "\(last.outputText)")
  #expect(last.outputText.hasSuffix("\tcould not be started: /etc/passwd: cannot be executed: Permission denied\n"))
  #expect(
    try session.navctl("history", "-n", "1", "--json").json?.array?.first?["error"]
      == "could not be started: /etc/passwd: cannot be executed: Permission denied")
  #expect(try session.navctl("history").lines.count == 9)

  // navctl does not wait for later failures, for starting programs and for queued items.
  #expect(try session.navctl("present", "fact", "--", "sh", "-c", "kill -KILL $$").exitCode == 0)
  let waiting = try session.navctl("present", "one", "--group", "h", "--to", "sleeper")
  #expect(waiting.exitCode == 0)
  #expect(try session.navctl("present", "two", "--group", "h", "--if-busy", "queue", "--to", "broken").exitCode == 0)
  let presenter = try BusPresenter(session, destination: "dialog")
  presenter.isAnswering = false
  #expect(try session.navctl("present", "three", "--to", "dialog").exitCode == 0)
}

@Test(
  "navctl: of several items, the one whose program cannot be started is named, with status 1",
  arguments: [
    (["set-path", "main", "sleeper", "broken"], ""), (["apply", "-"], #"[["Present", "broken", "", {}]]"#),
    (["apply", "-"], #"[["Present", "fact", "", {"state": true}], ["SetPath", "main", [["broken", "", {}]], {}]]"#),
    (["apply", "-"], #"[["ToggleSelection", "g", "t", {"binding": "broken"}]]"#),
  ])
func navctl_oneOfSeveralCannotBeStarted_isNamed(_ arguments: [String], _ input: String) throws {
  let session = try Session(destinations: [
    "broken": "command = [\"no-such-program\"]\n", "sleeper": "command = [\"sleep\", \"60\"]\n",
  ])
  let run = try session.run(program: session.executable("navctl"), arguments, input: input)
  #expect(run.exitCode == 1)
  let operation = arguments.prefix(2).joined(separator: " ")
  #expect(
    run.errorText.hasPrefix("navctl: \(operation): “broken” could not be started: no-such-program: not found in PATH"),
    "\(run.errorText)")
}

@Test("navctl: verbs that change something have the bus start navd, queries do not")
func navctl_navdNotRunning_isStartedOnlyForChanges() throws {
  let session = try Session(starting: false, activatable: true)
  #expect(try session.navctl("list").exitCode == 8)
  #expect(try session.navctl("is-presented", "fact").exitCode == 3)
  #expect(try session.navctl("present", "--state", "fact").exitCode == 0)
  #expect(try session.navctl("is-presented", "fact").exitCode == 0)
  #expect(try session.navctl("quit").exitCode == 0)
}

@Test("R9: navctl quit asks first: what stays keeps navd, and with --force it is not asked")
func navctl_quit_asksFirst() throws {
  let session = try Session()
  let presenter = try BusPresenter(session, destination: "editor")
  presenter.refusedEnd = DBusError(name: CoordinatorError.Name.declined.errorName, message: "the text is not saved")
  #expect(try session.navctl("present", "note", "letter", "--to", "editor").exitCode == 0)
  #expect(try session.navctl("present", "note.find", "--from", "note", "--to", "editor").exitCode == 0)
  #expect(try session.navctl("wait", "note.find", "--for", "presented").exitCode == 0)
  let run = try session.run(program: session.executable("navctl"), ["quit"])
  #expect(run.exitCode == 1)
  #expect(
    run.errorText
      == "navctl: quit: “note.find” stays: the text is not saved; “navctl quit --force” closes it without asking\n",
    "\(run.errorText)")
  #expect(try session.navctl("is-presented", "note").exitCode == 0)
  #expect(try session.navctl("quit", "--force").exitCode == 0)
  #expect(try session.waitForEnd() == .exited(code: 0))
}

@Test("R9: navctl quit waits for those that ask, and then stops navd")
func navctl_quit_waitsForAnswers() throws {
  let session = try Session()
  let presenter = try BusPresenter(session, destination: "editor")
  #expect(try session.navctl("present", "note", "letter", "--to", "editor").exitCode == 0)
  #expect(try session.navctl("wait", "note", "--for", "presented").exitCode == 0)
  presenter.isAnswering = false
  let quit = try session.startNavctl("quit")
  try session.wait("it is asked") { presenter.log.contains("dismiss dismissed") }
  #expect(!quit.hasEnded)
  presenter.isAnswering = true
  try session.wait("navctl has ended") { quit.hasEnded }
  #expect(quit.exitCode == 0)
  #expect(try session.waitForEnd() == .exited(code: 0))
}

@Test("R9, D12: navctl quit dismisses nothing while a protected item is shown")
func navctl_quit_protectedItem_dismissesNothing() throws {
  let session = try Session(destinations: ["lock": "command = ['sleep', '1000']\nprotected = true\n"])
  let presenter = try BusPresenter(session, destination: "editor")
  #expect(try session.navctl("present", "note", "letter", "--to", "editor").exitCode == 0)
  #expect(try session.navctl("wait", "note", "--for", "presented").exitCode == 0)
  #expect(try session.navctl("present", "lock").exitCode == 0)
  #expect(try session.navctl("wait", "lock", "--for", "presented").exitCode == 0)
  #expect(try session.navctl("quit").exitCode == 6)
  #expect(try session.navctl("is-presented", "note").exitCode == 0)
  #expect(!presenter.log.contains { $0.hasPrefix("dismiss") })
  let process = try #require(session.processes().first { $0.binding == "lock" })
  kill(process.pid, SIGTERM)
  try session.poll("the lock is gone") { try session.navctl("is-presented", "lock").exitCode != 0 }
  #expect(try session.navctl("quit").exitCode == 0)
}

@Test("R9: navctl quit closes everything, then stops navd")
func navctl_quit_stopsNavd() throws {
  let session = try Session(destinations: ["fact": JournaledCommand.destination(endingAfter: 20)])
  try session.present("fact", "1")
  try session.wait(for: "start 1", of: "fact")
  #expect(try session.navctl("quit").exitCode == 0)
  #expect(try session.waitForEnd() == .exited(code: 0))
  #expect(session.commandLog(of: "fact") == ["start 1", "term 1", "end 1"])
}
